# Coherence: stores of one core to one word are seen in order; what a core has stored it reads back.
        CSRR    s20, core_id
        LUI     s21, 0x80010
        ADDI    s1, s0, 1
        BNE     s20, s0, other
        SW      s1, 0(s21)
        ADDI    s1, s0, 2
        SW      s1, 0(s21)
        LW      s2, 0(s21)              # 2: program order
        SW      s2, 64(s21)
        MEMBAR
        EXIT
other:  BNE     s20, s1, end
        ADDI    s9, s0, 20
wait:   ADDI    s9, s9, -1
        BNE     s9, s0, wait
        LW      s2, 0(s21)              # first touch, after the other's MEMBAR: 2, never 1
        SW      s2, 128(s21)
end:    EXIT
