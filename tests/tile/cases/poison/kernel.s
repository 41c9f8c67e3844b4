        LUI     s31, 0x80010
        SW      s5, 0(s31)
        FMV.F2S s6, f3
        SW      s6, 4(s31)
        VST.V   v7, 16(s31)
        CSRR    s7, config
        SW      s7, 8(s31)
        SW      s0, 12(s31)
        EXIT
