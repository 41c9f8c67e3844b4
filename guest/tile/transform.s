# transform.s: a 4x4 matrix times an array of vectors (x, y, z, w) in FP32.
#
# The matrix, row-major, is the constant region: four VLD.C bring the rows. Each tile of the dispatch
# does 16 vectors. Arguments, words at arg_base:
#   0  in    4  out    16 bytes per vector, multiples of 16; may be the same
#   8  count

        .globl  transform
transform:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s8, 8(s5)
        VLD.C   v1, c0(s0)
        VLD.C   v2, c1(s0)
        VLD.C   v3, c2(s0)
        VLD.C   v4, c3(s0)
        CSRR    s9, tile_offset         # first vector of the tile
        ADDI    s10, s9, 16
        MIN     s10, s10, s8
        SHLI    s11, s9, 4
        ADD     s6, s6, s11
        ADD     s7, s7, s11
next:   BGE     s9, s10, end
        VLD.V   v5, 0(s6)
        VDOT.F32 s1, v1, v5             # m0*x, then fused: + m1*y, + m2*z, + m3*w
        VDOT.F32 s2, v2, v5
        VDOT.F32 s3, v3, v5
        VDOT.F32 s4, v4, v5
        VINS.I32 v6, s1, 0
        VINS.I32 v6, s2, 1
        VINS.I32 v6, s3, 2
        VINS.I32 v6, s4, 3
        VST.V   v6, 0(s7)
        ADDI    s6, s6, 16
        ADDI    s7, s7, 16
        ADDI    s9, s9, 1
        J       next
end:    EXIT
