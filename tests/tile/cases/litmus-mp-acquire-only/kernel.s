# Message passing (tile-semantics.md 20.2): core 0 stores X and raises the flag Y; core 1, which
# holds an old copy of X, waits for the flag and loads X again. Result: the second load.
        CSRR    s20, core_id
        LUI     s21, 0x80010            # X; Y and Z are in lines of their own
        ADDI    s1, s0, 1
        ADDI    s2, s21, 64             # Y
        ADDI    s3, s21, 128            # Z
        BEQ     s20, s0, writer
        BNE     s20, s1, end
        LW      s9, 0(s21)              # an old copy
spin:   AOR     s5, s0, (s2), aq
        BNE     s5, s1, spin
        LW      s6, 0(s21)
        AXCHG   s5, s1, (s3), rlx
        SW      s6, 256(s21)
        J       end
writer: NOP                             # core 1 has loaded X before it changes
        NOP
        NOP
        NOP
        SW      s1, 0(s21)
        AXCHG   s5, s1, (s2), rlx
hold:   AOR     s5, s0, (s3), rlx       # no EXIT, which publishes, before core 1 has read
        BNE     s5, s1, hold
end:    EXIT
