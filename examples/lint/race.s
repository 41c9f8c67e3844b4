# race.s: a kernel for two cores (--grid 2x1 --cores 3 --shared 64) with five mistakes.
# `facet tile run race.s --lint` names them (docs/lint.md).

        .globl  race
race:   CSRR    s5, arg_base
        LW      s2, 0(s5)               # buffer
        LW      s6, 4(s5)               # there is no second argument
        CSRR    s7, sm_base
        LW      s8, 0(s7)               # scratch holds anything when a tile starts
        CSRR    s1, core_id
        BNE     s1, s0, reader

        ADDI    s3, s0, 42
        SW      s3, 0(s2)               # no MEMBAR: stays with this core
        RSTATE  s4, 0(s2)               # and the graphics unit does not see it
        ADDI    s4, s0, 300
1:      ADDI    s4, s4, -1
        BNE     s4, s0, 1b
        EXIT

reader: ADDI    s4, s0, 100
1:      ADDI    s4, s4, -1
        BNE     s4, s0, 1b
        LW      s3, 0(s2)               # 0, not 42
        ADDI    s3, s3, 1               # and no EXIT
