# Each tile adds 1 to one word. Argument: the address of the word.

count:  CSRR    s5, arg_base
        LW      s6, 0(s5)
        ADDI    s1, s0, 1
        LW      s2, 0(s6)
        ADD     s2, s2, s1
        SW      s2, 0(s6)
        EXIT
