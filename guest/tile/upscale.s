# upscale.s: bilinear scaling of an ARGB8888 picture with plain loads: what TEX2D.B does, by hand.
#
# Positions are in 1/256 source pixel, borders are clamped, four channels of a pixel are the lanes of
# a vector. Arguments, words at arg_base:
#   0  source   4  width   8  height  12  pitch (bytes per row)
#  16  target  20  stride (bytes per row)
#  24  step_x  28  step_y  source pixels per target pixel, 16 fraction bits

        .globl  upscale
upscale:
        CSRR    s5, arg_base
        LW      s6, 16(s5)
        LW      s7, 20(s5)
        LW      s10, 0(s5)              # source
        LW      s11, 4(s5)
        ADDI    s11, s11, -1            # last column
        LW      s12, 8(s5)
        ADDI    s12, s12, -1            # last row
        LW      s13, 12(s5)             # pitch
        LW      s14, 24(s5)             # step_x
        LW      s15, 28(s5)             # step_y

        CSRR    s8, tile_offset
        LSRI    s9, s8, 16              # y
        SHLI    s8, s8, 16
        LSRI    s8, s8, 16              # x
        MUL     s1, s9, s7
        ADD     s6, s6, s1
        SHLI    s1, s8, 2
        ADD     s6, s6, s1

        VLD.V.PL v10, shifts
        VLD.V.PL v11, places
        ADDI    s1, s0, 255
        VBCAST.I32 v12, s1
        LUI     s1, 8
        VBCAST.I32 v13, s1              # 32768: half of the last bit
        ADDI    s1, s0, 16
        VBCAST.I32 v14, s1

        ADDI    s16, s9, 16
# Row: Y = centre of the target pixel = (2y+1) * step / 2, in 1/256, minus half a source pixel.
row:    SHLI    s1, s9, 1
        ADDI    s1, s1, 1
        MUL     s1, s1, s15
        ASRI    s1, s1, 9
        ADDI    s1, s1, -128
        ANDI    s2, s1, 255             # fy
        VBCAST.I32 v7, s2
        ADDI    s3, s0, 256
        SUB     s2, s3, s2
        VBCAST.I32 v6, s2               # 256 - fy
        ASRI    s1, s1, 8               # upper row
        ADDI    s2, s1, 1               # lower row
        MAX     s1, s1, s0
        MIN     s1, s1, s12
        MAX     s2, s2, s0
        MIN     s2, s2, s12
        MUL     s1, s1, s13
        MUL     s2, s2, s13
        ADD     s20, s10, s1
        ADD     s21, s10, s2

        MOV     s17, s8                 # x
        MOV     s18, s6
        ADDI    s19, s6, 64
pixel:  SHLI    s1, s17, 1
        ADDI    s1, s1, 1
        MUL     s1, s1, s14
        ASRI    s1, s1, 9
        ADDI    s1, s1, -128
        ANDI    s2, s1, 255
        VBCAST.I32 v5, s2               # fx
        SUB     s2, s3, s2
        VBCAST.I32 v4, s2               # 256 - fx
        ASRI    s1, s1, 8               # left column
        ADDI    s2, s1, 1               # right column
        MAX     s1, s1, s0
        MIN     s1, s1, s11
        MAX     s2, s2, s0
        MIN     s2, s2, s11
        SHLI    s1, s1, 2
        SHLI    s2, s2, 2
        LW.R    s22, s1(s20)
        LW.R    s23, s2(s20)
        LW.R    s24, s1(s21)
        LW.R    s25, s2(s21)

        VBCAST.I32 v1, s22              # upper row: left * (256 - fx) + right * fx
        VSHR.I32 v1, v1, v10
        VAND    v1, v1, v12
        VMUL.I32 v1, v1, v4
        VBCAST.I32 v2, s23
        VSHR.I32 v2, v2, v10
        VAND    v2, v2, v12
        VMAC.I32 v1, v2, v5
        VBCAST.I32 v3, s24              # lower row
        VSHR.I32 v3, v3, v10
        VAND    v3, v3, v12
        VMUL.I32 v3, v3, v4
        VBCAST.I32 v2, s25
        VSHR.I32 v2, v2, v10
        VAND    v2, v2, v12
        VMAC.I32 v3, v2, v5
        VMUL.I32 v1, v1, v6
        VMAC.I32 v1, v3, v7
        VADD.I32 v1, v1, v13
        VSHR.I32 v1, v1, v14            # R, G, B, A
        VDOT.I32 s1, v1, v11            # packed; the sum wraps at 32 bits, as it should
        SW      s1, 0(s18)
        ADDI    s17, s17, 1
        ADDI    s18, s18, 4
        BNE     s18, s19, pixel
        ADD     s6, s6, s7
        ADDI    s9, s9, 1
        BNE     s9, s16, row
        EXIT

        .balign 16
shifts: .word   16, 8, 0, 24
places: .word   65536, 256, 1, 0x1000000
