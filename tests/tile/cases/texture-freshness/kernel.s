# A 1x1 ARGB8888 texture in sampler 3: sample, overwrite, sample, MEMBAR, sample.
        LUI     s1, 0x80010
        CSRW    0x418, s1               # base
        ADDI    s2, s0, 4
        CSRW    0x419, s2               # stride
        ADDI    s3, s0, 1
        CSRW    0x41A, s3               # width
        CSRW    0x41B, s3               # height
        CSRW    0x41C, s3               # ARGB8888
        ADDI    s4, s0, 3
        TEX2D.N.I8 v1, v0, s4
        MOVI    s5, 0x11223344
        SW      s5, 0(s1)
        TEX2D.N.I8 v2, v0, s4
        MEMBAR
        TEX2D.N.I8 v3, v0, s4
        VEXTR.I32 s6, v1, 0
        VEXTR.I32 s7, v2, 0
        VEXTR.I32 s8, v3, 0
        LUI     s9, 0x80020
        SW      s6, 0(s9)
        SW      s7, 4(s9)
        SW      s8, 8(s9)
        EXIT
