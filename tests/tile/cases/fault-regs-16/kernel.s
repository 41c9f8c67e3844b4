        ADDI    s15, s0, 7
        LUI     s14, 0x80010
        SW      s15, 0(s14)
        ADD     s1, s2, s16
        EXIT
