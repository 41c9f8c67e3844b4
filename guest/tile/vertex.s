# vertex.s: CU-assist vertex kernel: transforms and lights vertices for a GDRAW with CU_ASSIST.
#
# Each tile of the dispatch does 16 vertices (--grid (count+15)/16 x 1). The argument block is that of
# spec/tile-semantics.md 15.8:
#   0  in_vbo     4  out_vbo   8  count   12  stride     same layout and stride for both buffers
#  16  mvp_ptr    4x4 FP32, row-major
#  20  normal_ptr 3x3 FP32 for normals, 0: normals are copied
#  24  param_ptr  a GPARAM descriptor: model matrix and material
#  28  flags      bit 0 has_normals, bit 1 apply_light0
# A vertex is position (4 FP32), normal (3 FP32, if has_normals), uv (2 FP32), colour ARGB8888.
#
# Out: position = mvp * model * position; normal = matrix * normal; uv as it is; colour as it is or,
# with apply_light0, colour * material * (ambient + light * max(0, n . direction)). The light is
# `light0`, at the end of this file. Without normals the light has no effect.

        .globl  vertex
        .globl  light0
vertex:
        CSRR    s5, arg_base
        LW      s6, 0(s5)               # in_vbo
        LW      s7, 4(s5)               # out_vbo
        LW      s8, 8(s5)               # count
        LW      s9, 12(s5)              # stride
        LW      s10, 16(s5)             # mvp_ptr
        LW      s11, 20(s5)             # normal_ptr
        LW      s12, 24(s5)             # param_ptr
        LW      s13, 28(s5)             # flags
        LW      s14, 60(s12)            # flags of the parameters: bit 0 model, bit 1 material
        ADDI    s15, s0, 4              # stride of the floats of a vertex

# What is the same for all vertices: the rows of the matrices.
        VLD.V   v1, 0(s10)
        VLD.V   v2, 16(s10)
        VLD.V   v3, 32(s10)
        VLD.V   v4, 48(s10)
        VLD.V   v5, 0(s12)              # model; used only with bit 0
        VLD.V   v6, 16(s12)
        VLD.V   v7, 32(s12)
        BEQ     s11, s0, no_matrix
        ADDI    s1, s11, 12
        ADDI    s2, s11, 20
        VLD.S   v8, (s11), s15          # rows of three floats: lane 3 belongs to the next row
        VLD.S   v9, (s1), s15
        VLD.S   v10, (s2), s15          # the last row from one float before: nothing is read behind
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
        LW      s1, 48(s12)             # material, as (R, G, B, A)
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
        ANDI    s1, s14, 1
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

        ANDI    s20, s13, 1
        BEQ     s20, s0, uv
        VLD.S   v21, (s18), s15         # the fourth float is the uv behind the normal
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
        ANDI    s1, s13, 2
        BEQ     s1, s0, store
        VBCAST.I32 v22, s21
        VSHR.I32 v22, v22, v14
        VAND    v22, v22, v16           # (R, G, B, A)
        ANDI    s1, s14, 2
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
