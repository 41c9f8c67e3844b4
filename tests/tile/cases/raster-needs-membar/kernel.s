# The state and the rectangle are input data; the core holds the pixel's line before it draws.
        LUI     s1, 0x80010             # RSTATE, RRECT at +64
        LUI     s2, 0x80020             # framebuffer 4x4 ARGB8888
        LW      s3, 20(s2)              # pixel (1,1): 0
        RSTATE  s4, 0(s1)               # slot 0
        ADDI    s5, s1, 64
        RRECT   s6, 0(s5)               # token 1
        LW      s7, 20(s2)              # still the old line
        MEMBAR
        LW      s8, 20(s2)
        LUI     s9, 0x80030
        SW      s3, 0(s9)
        SW      s4, 4(s9)
        SW      s6, 8(s9)
        SW      s7, 12(s9)
        SW      s8, 16(s9)
        EXIT
