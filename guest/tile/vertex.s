# vertex.s: CU-assist vertex kernel: transforms and lights vertices for a GDRAW with CU_ASSIST.
#
# Each tile of the dispatch does 16 vertices (--grid (count+15)/16 x 1). The argument block is CU_ASSIST
# (spec/tile.layout.tsv); in_vbo and out_vbo have the same layout and stride, normal_ptr 0 copies normals.
# A vertex is a GVERTEX: position, normal (with NORMALS), uv (2 FP32), colour.
#
# Out: position = mvp * model * position; normal = matrix * normal; uv as it is; colour as it is or,
# with LIGHT0, colour * material * (ambient + light * max(0, n . direction)). The light is
# `light0`, at the end of this file. Without normals the light has no effect.

        .globl  vertex
        .globl  light0
vertex:
        CSRR    s5, arg_base
        LW      s6, CU_ASSIST.in_vbo(s5)
        LW      s7, CU_ASSIST.out_vbo(s5)
        LW      s8, CU_ASSIST.count(s5)
        LW      s9, CU_ASSIST.stride(s5)
        LW      s10, CU_ASSIST.mvp_ptr(s5)
        LW      s11, CU_ASSIST.normal_ptr(s5)
        LW      s12, CU_ASSIST.param_ptr(s5)
        LW      s13, CU_ASSIST.flags(s5)
        LW      s14, GPARAM.flags(s12)
        ADDI    s15, s0, 4              # stride of the floats of a vertex

# What is the same for all vertices: the rows of the matrices.
        VLD.V   v1, 0(s10)
        VLD.V   v2, 16(s10)
        VLD.V   v3, 32(s10)
        VLD.V   v4, 48(s10)
        VLD.V   v5, GPARAM.model(s12)   # used only with MODEL
        VLD.V   v6, GPARAM.model + 16(s12)
        VLD.V   v7, GPARAM.model + 32(s12)
        BEQ     s11, s0, no_matrix
        ADDI    s1, s11, 12
        ADDI    s2, s11, 20
        VLD.S   v8, (s11), s15          # rows of three floats: lane 3 belongs to the next row
        VLD.S   v9, (s1), s15
        VLD.S   v10, (s2), s15          # the last row from one float before: nothing is read past the end
        VSHUF   v10, v10, 0x39          # lanes 1, 2, 3, 0
        VINS.I32 v8, s0, 3
        VINS.I32 v9, s0, 3
        VINS.I32 v10, s0, 3
no_matrix:
        VLD.V.PL v11, light0            # direction
        VLD.V.PL v12, light0 + 16       # light colour
        VLD.V.PL v13, light0 + 32       # ambient
        VLD.V.PL v14, shifts
        VLD.V.PL v15, places
        ADDI    s1, s0, 255
        VBCAST.I32 v16, s1
        LW      s1, GPARAM.material(s12) # as (R, G, B, A)
        VBCAST.I32 v17, s1
        VSHR.I32 v17, v17, v14
        VAND    v17, v17, v16

        CSRR    s16, tile_offset        # first vertex of this tile
        ADDI    s17, s16, 16
        MIN     s17, s17, s8
        MUL     s1, s16, s9
        ADD     s6, s6, s1
        ADD     s7, s7, s1

next:   BGE     s16, s17, end
# Position. Strided loads: a vertex need not lie at a multiple of 16.
        VLD.S   v20, (s6), s15
        ANDI    s1, s14, GPARAM.flags.MODEL
        BEQ     s1, s0, clip
        VDOT.F32 s1, v5, v20
        VDOT.F32 s2, v6, v20
        VDOT.F32 s3, v7, v20
        VINS.I32 v20, s1, 0
        VINS.I32 v20, s2, 1
        VINS.I32 v20, s3, 2
clip:   VDOT.F32 s1, v1, v20
        VDOT.F32 s2, v2, v20
        VDOT.F32 s3, v3, v20
        VDOT.F32 s4, v4, v20
        SW      s1, 0(s7)
        SW      s2, 4(s7)
        SW      s3, 8(s7)
        SW      s4, 12(s7)
        ADDI    s18, s6, 16             # next attribute, in and out
        ADDI    s19, s7, 16

        ANDI    s20, s13, CU_ASSIST.flags.NORMALS
        BEQ     s20, s0, uv
        VLD.S   v21, (s18), s15         # the fourth float is the uv after the normal
        VINS.I32 v21, s0, 3
        BEQ     s11, s0, normal
        VDOT.F32 s1, v8, v21
        VDOT.F32 s2, v9, v21
        VDOT.F32 s3, v10, v21
        VINS.I32 v21, s1, 0
        VINS.I32 v21, s2, 1
        VINS.I32 v21, s3, 2
normal: VEXTR.I32 s1, v21, 0
        VEXTR.I32 s2, v21, 1
        VEXTR.I32 s3, v21, 2
        SW      s1, 0(s19)
        SW      s2, 4(s19)
        SW      s3, 8(s19)
        ADDI    s18, s18, 12
        ADDI    s19, s19, 12

uv:     LW      s1, 0(s18)
        LW      s2, 4(s18)
        SW      s1, 0(s19)
        SW      s2, 4(s19)

        LW      s21, 8(s18)             # colour
        ANDI    s1, s13, CU_ASSIST.flags.LIGHT0
        BEQ     s1, s0, store
        VBCAST.I32 v22, s21
        VSHR.I32 v22, v22, v14
        VAND    v22, v22, v16           # (R, G, B, A)
        ANDI    s1, s14, GPARAM.flags.MATERIAL
        BEQ     s1, s0, lit
# Material: (a*b + 127) / 255 with x / 255 = (x + 1 + (x >> 8)) >> 8.
        VMUL.I32 v22, v22, v17
        ADDI    s1, s0, 127
        VBCAST.I32 v23, s1
        VADD.I32 v22, v22, v23
        ADDI    s1, s0, 8
        VBCAST.I32 v24, s1
        VSHR.I32 v23, v22, v24
        VADD.I32 v22, v22, v23
        ADDI    s1, s0, 1
        VBCAST.I32 v23, s1
        VADD.I32 v22, v22, v23
        VSHR.I32 v22, v22, v24
lit:    BEQ     s20, s0, pack
# n . direction with n brought to length 1; a normal of length 0 gives NaN, which VMAX turns into 0.
        VDOT.F32 s1, v21, v21
        VBCAST.I32 v23, s1
        VRSQRT.F32 v23, v23
        VMUL.F32 v23, v21, v23
        VDOT.F32 s1, v23, v11
        VBCAST.I32 v23, s1
        VMAX.F32 v23, v23, v0
        VMOV    v24, v13
        VFMA.F32 v24, v12, v23          # ambient + light * that; lane A: 1
        VCVT.F32.I32 v22, v22
        VMUL.F32 v22, v22, v24
        LUI     s1, 0x3f000
        VBCAST.I32 v23, s1
        VADD.F32 v22, v22, v23          # + 0.5 ...
        SETMISC s0, 7, 1                # ... and toward zero
        VCVT.I32.F32 v22, v22
        SETMISC s0, 7, 0
        VMIN.I32 v22, v22, v16
pack:   VDOT.I32 s21, v22, v15
store:  SW      s21, 8(s19)

        ADD     s6, s6, s9
        ADD     s7, s7, s9
        ADDI    s16, s16, 1
        J       next
end:    MEMBAR                          # the geometry unit reads what is published
        EXIT

        .balign 16
shifts: .word   16, 8, 0, 24
places: .word   65536, 256, 1, 0x1000000
# Light 0: direction (towards the light), colour, ambient; lane 3 is alpha, which stays.
light0: .float  0.0, 0.6, 0.8, 0.0
        .float  1.0, 1.0, 0.8, 0.0
        .float  0.2, 0.2, 0.2, 1.0
