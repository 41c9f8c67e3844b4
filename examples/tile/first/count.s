# count.s: each tile adds 1 to a word. With -D FIXED it does so by an atomic.
# Argument: address of the word.

count:  CSRR    s5, arg_base
        LW      s6, 0(s5)
        ADDI    s1, s0, 1
.ifdef FIXED
        AADD    s0, s1, (s6)
.else
        LW      s2, 0(s6)
        ADD     s2, s2, s1
        SW      s2, 0(s6)
.endif
        EXIT
