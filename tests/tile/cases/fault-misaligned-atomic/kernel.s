        ADDI    s1, s0, 2
        AADD    s2, s1, (s1)
        EXIT
