# litmus: atomics: one winner
#
# Both cores try to change X from 0 to their own number, 1 and 2. Results: the old value that each one
# gets: 0 for the winner, the number of the winner for the other.
#
# allowed: 01 20
# weak:    01 20
# strong:  01 20

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
        ADDI    s3, s0, 1
        ACAS    s3, s0, (s21), rlx
        SB      s3, 0(s22)
        EXIT

# core 1
second:
        ADDI    s4, s0, 2
        ACAS    s4, s0, (s21), rlx
        SB      s4, 1(s22)
        EXIT
