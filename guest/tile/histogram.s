# histogram.s: 256 brightness bins of an ARGB8888 picture, counted with atomics.
#
# Each tile counts into its own scratch memory (--shared 1024), which no other tile uses, and adds the
# bins to the common ones at the end: 64 atomics on memory instead of 256. Scratch is undefined when a
# tile starts, so the bins are cleared first. Pixels of equal brightness in one VATOM.ADD.X accumulate,
# since lanes act one after the other.
#
# Arguments, words at arg_base:
#   0  picture  4  stride (bytes per row)
#   8  bins     256 words; counts are added
# Brightness = (77 R + 150 G + 29 B) / 256.

        .globl  histogram
histogram:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s8, 8(s5)
        CSRR    s9, sm_base
        CSRR    s10, tile_offset
        LSRI    s11, s10, 16
        MUL     s11, s11, s7
        ADD     s6, s6, s11
        SHLI    s10, s10, 16
        LSRI    s10, s10, 14
        ADD     s6, s6, s10             # first pixel of the tile

        VLD.V.PL v10, shifts
        VLD.V.PL v11, weights
        ADDI    s1, s0, 255
        VBCAST.I32 v12, s1
        ADDI    s1, s0, 1
        VBCAST.I32 v13, s1

        ADDI    s12, s9, 1024
clear:  ADDI    s12, s12, -16
        VST.V   v0, 0(s12)
        BNE     s12, s9, clear

        ADDI    s12, s0, 16             # rows left
row:    MOV     s13, s6
        ADDI    s14, s6, 64
quad:   ADDI    s15, s0, 4
one:    LW      s16, 0(s13)
        VBCAST.I32 v1, s16
        VSHR.I32 v1, v1, v10
        VAND    v1, v1, v12
        VDOT.I32 s16, v1, v11
        LSRI    s16, s16, 8
        SHLI    s16, s16, 2             # offset of the bin
        VINS.I32 v2, s16, 0             # put it in front ...
        ADDI    s17, s0, 3
        VPERM.ROT v2, v2, s17           # ... and turn the vector: after four pixels it is full
        ADDI    s13, s13, 4
        ADDI    s15, s15, -1
        BNE     s15, s0, one
        VATOM.ADD.X v0, v13, (s9), v2
        BNE     s13, s14, quad
        ADD     s6, s6, s7
        ADDI    s12, s12, -1
        BNE     s12, s0, row

        ADDI    s12, s0, 64             # 64 times four bins
flush:  VLD.V   v1, 0(s9)
        VATOM.ADD v0, v1, 0(s8)
        ADDI    s9, s9, 16
        ADDI    s8, s8, 16
        ADDI    s12, s12, -1
        BNE     s12, s0, flush
        EXIT

        .balign 16
shifts: .word   16, 8, 0, 24
weights: .word  77, 150, 29, 0
