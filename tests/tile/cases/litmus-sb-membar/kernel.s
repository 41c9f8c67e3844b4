# Store buffering: each of two cores stores its own word and loads the other's. Without MEMBAR both
# may read 0 (and do); with MEMBAR between them at least one reads 1.
        CSRR    s20, core_id
        LUI     s21, 0x80010
        ADDI    s1, s0, 1
        SHLI    s2, s20, 6              # own word: X or Y, a line each
        XORI    s3, s2, 64              # the other's
        BLT     s1, s20, end
        SW.R    s1, s2(s21)
        MEMBAR
        LW.R    s4, s3(s21)
        ADDI    s5, s21, 512
        SW.R    s4, s2(s5)
end:    EXIT
