# mandelbrot.s: escape times of the Mandelbrot set in FP32, four pixels at a time.
#
# Arguments, words at arg_base:
#   0  target   framebuffer, a multiple of 16        4  stride   bytes per row, a multiple of 16
#   8  x0      12  y0      16  step                  FP32: corner of the picture, distance of pixels
#  20  limit    iterations
# Colour: number of iterations * 0x050b13, opaque; black where the limit is reached.

        .globl  mandelbrot
mandelbrot:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s10, 8(s5)
        VBCAST.I32 v10, s10             # x0
        LW      s10, 12(s5)
        VBCAST.I32 v11, s10             # y0
        LW      s10, 16(s5)
        VBCAST.I32 v12, s10             # step
        LW      s11, 20(s5)             # limit
        VBCAST.I32 v13, s11
        LUI     s10, 0x40800
        VBCAST.I32 v14, s10             # 4.0
        ADDI    s10, s0, 1
        VBCAST.I32 v15, s10
        MOVI    s10, 0x00050b13
        VBCAST.I32 v16, s10
        MOVI    s10, 0x00ffffff
        VBCAST.I32 v17, s10
        LUI     s10, 0xff000
        VBCAST.I32 v18, s10             # opaque black

        CSRR    s8, tile_offset
        LSRI    s9, s8, 16              # y
        SHLI    s8, s8, 16
        LSRI    s8, s8, 16              # x
        MUL     s12, s9, s7
        ADD     s6, s6, s12
        SHLI    s12, s8, 2
        ADD     s6, s6, s12

        ADDI    s13, s9, 16
row:    VBCAST.I32 v2, s9
        VCVT.F32.I32 v2, v2
        VMUL.F32 v2, v2, v12
        VADD.F32 v2, v2, v11            # v2 = imaginary part of c
        MOV     s14, s8
        MOV     s15, s6
        ADDI    s16, s6, 64
quad:   VBCAST.I32 v1, s14
        VLD.V.PL v3, lanes
        VADD.I32 v1, v1, v3
        VCVT.F32.I32 v1, v1
        VMUL.F32 v1, v1, v12
        VADD.F32 v1, v1, v10            # v1 = real parts
        VCLR    v3                      # z
        VCLR    v4
        VCLR    v5                      # iterations
        ADDI    s17, s0, 15             # lanes that still run
        MOV     s18, s11
step:   BEQ     s18, s0, paint
        VMUL.F32 v6, v3, v3
        VMUL.F32 v7, v4, v4
        VADD.F32 v8, v6, v7
        VCMP.GT.F32 s1, v8, v14         # |z|^2 > 4
        NOT     s1, s1
        AND     s17, s17, s1            # once out, out: later a lane may hold a NaN, which is not > 4
        BEQ     s17, s0, paint
        VADD.I32 v8, v5, v15
        VSELD.I32 v5, v8, s17
        VMUL.F32 v8, v3, v4
        VADD.F32 v8, v8, v8
        VADD.F32 v4, v8, v2             # imaginary part: 2 x y + c
        VSUB.F32 v6, v6, v7
        VADD.F32 v3, v6, v1             # real part: x^2 - y^2 + c
        ADDI    s18, s18, -1
        J       step

paint:  VMUL.I32 v6, v5, v16
        VAND    v6, v6, v17
        VOR     v6, v6, v18
        VCMP.EQ.I32 s1, v5, v13
        VSELD.I32 v6, v18, s1
        VST.V   v6, 0(s15)
        ADDI    s14, s14, 4
        ADDI    s15, s15, 16
        BNE     s15, s16, quad
        ADD     s6, s6, s7
        ADDI    s9, s9, 1
        BNE     s9, s13, row
        EXIT

        .balign 16
lanes:  .word   0, 1, 2, 3
