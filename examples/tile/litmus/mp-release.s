# litmus: message passing, release alone
#
# Core 0 publishes, but core 1 continues with its old copy.
# Results: the flag that core 1 loads from Y, then the data that it loads from X. Core 1 has an old
# copy of X in its cache.
#
# allowed: 00 01 10 11
# weak:    00 10
# strong:  00 01 11

        CSRR    s20, core_id
        CSRR    s1, arg_base
        LW      s22, 0(s1)              # results, two bytes per row of tiles
        CSRR    s1, tile_offset
        LSRI    s1, s1, 20              # row: an experiment of its own
        SHLI    s2, s1, 1
        ADD     s22, s22, s2
        SHLI    s2, s1, 8
        LUI     s21, 0x80100
        ADD     s21, s21, s2            # X; Y is 64 bytes further, in a line of its own
        ADDI    s23, s21, 64            # Y
        ADDI    s24, s21, 128
        ADDI    s9, s0, 1
        ADDI    s10, s0, 2
        LW      s1, 0(s21)              # an old copy of X in the cache of both cores
        AADD    s0, s9, (s24), rlx      # both cores are here: a counter, which publishes nothing
wait:   AOR     s1, s0, (s24), rlx
        BLT     s1, s10, wait
        BNE     s20, s0, second

# core 0
        SW      s9, 0(s21)
        AXCHG   s1, s9, (s23), rl
        EXIT

# core 1
second:
        AOR     s3, s0, (s23), rlx
        LW      s4, 0(s21)
        SB      s3, 0(s22)
        SB      s4, 1(s22)
        EXIT
