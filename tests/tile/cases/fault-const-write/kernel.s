# VLD.C and LW read the region; the store that touches its first byte faults.
        CSRR    s1, const_base
        VLD.C   v1, c1(s0)
        LW      s2, 4(s1)
        LUI     s3, 0x80020
        VST.V   v1, 0(s3)
        SW      s2, 16(s3)
        SH      s2, -1(s1)
        EXIT
