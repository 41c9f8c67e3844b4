# Four cores add 1 to one word a hundred times each: no update is lost under any schedule.
        LUI     s21, 0x80010
        ADDI    s1, s0, 1
        ADDI    s2, s0, 100
again:  AADD    s0, s1, (s21), aq
        ADDI    s2, s2, -1
        BNE     s2, s0, again
        EXIT
