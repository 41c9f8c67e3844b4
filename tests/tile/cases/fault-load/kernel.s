# Core 2 loads address 0x100 in round 5, after cores 0 and 1 have had their slots.
        CSRR    s20, core_id
        ADDI    s1, s0, 2
        LUI     s21, 0x80010
        BNE     s20, s1, loop
        LW      s2, 256(s0)
loop:   SW      s1, 0(s21)
        J       loop
