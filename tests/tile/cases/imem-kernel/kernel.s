        LUI     s1, 0x30000
        LW      s2, 0(s1)
        LUI     s3, 0x80010
        SW      s2, 0(s3)
        SW      s2, 4(s1)
        EXIT
