# litmus: atomics: a lock with acquire and release
#
# Each core takes a lock (X: 0 free, 1 taken), adds 1 to Y with plain accesses, and gives the lock back.
# Results: Y as each core found it.
#
# allowed: 01 10
# weak:    01 10
# strong:  01 10

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
        AADD    s0, s9, (s24), rlx      # both cores are here: a counter, which publishes nothing
wait:   AOR     s1, s0, (s24), rlx
        BLT     s1, s10, wait
        BNE     s20, s0, second

# core 0
take0:  AXCHG   s1, s9, (s21), aq
        BNE     s1, s0, take0
        LW      s3, 0(s23)
        ADDI    s1, s3, 1
        SW      s1, 0(s23)
        AXCHG   s1, s0, (s21), rl
        SB      s3, 0(s22)
        EXIT

# core 1
second:
take1:  AXCHG   s1, s9, (s21), aq
        BNE     s1, s0, take1
        LW      s4, 0(s23)
        ADDI    s1, s4, 1
        SW      s1, 0(s23)
        AXCHG   s1, s0, (s21), rl
        SB      s4, 1(s22)
        EXIT
