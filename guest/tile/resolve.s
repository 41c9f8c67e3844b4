# resolve.s: second half of blend.s: sums over a background.
#
# For each channel: color = (sum + max(0, 255 - sum of A) * background + 127) / 255, sums above
# 255*255 count as 255*255, alpha of the result is 255. Arguments, words at arg_base:
#   0  accum    16 bytes per pixel, as blend.s leaves them
#   4  target   framebuffer: background before, picture afterwards
#   8  width    pixels per row of both; the grid covers the picture in tiles of 16x16

        .globl  resolve
resolve:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s8, 8(s5)
        CSRR    s9, tile_offset
        LSRI    s10, s9, 16             # y
        SHLI    s9, s9, 16
        LSRI    s9, s9, 16              # x
        MUL     s10, s10, s8
        ADD     s10, s10, s9            # number of the tile's first pixel

        VLD.V.PL v10, shifts
        VLD.V.PL v11, places
        ADDI    s1, s0, 255
        VBCAST.I32 v12, s1
        MOVI    s2, 65025
        VBCAST.I32 v13, s2
        ADDI    s2, s0, 127
        VBCAST.I32 v14, s2
        ADDI    s2, s0, 1
        VBCAST.I32 v15, s2
        ADDI    s2, s0, 8
        VBCAST.I32 v16, s2
        LUI     s20, 0xff000

        ADDI    s11, s0, 16             # rows left
row:    SHLI    s12, s10, 4
        ADD     s12, s12, s6            # sums of the row's first pixel
        SHLI    s13, s10, 2
        ADD     s13, s13, s7            # its colour
        ADDI    s14, s13, 64
pixel:  VLD.V   v1, 0(s12)
        LW      s15, 0(s13)
        VBCAST.I32 v2, s15
        VSHR.I32 v2, v2, v10
        VAND    v2, v2, v12             # background as (R, G, B, A)
        VEXTR.I32 s16, v1, 3            # sum of A
        SUB     s16, s1, s16
        MAX     s16, s16, s0
        VBCAST.I32 v3, s16
        VMIN.I32 v1, v1, v13
        VMAC.I32 v1, v2, v3             # + background * what is left of 255
        VADD.I32 v1, v1, v14
# x / 255 = (x + 1 + (x >> 8)) >> 8 for 0 <= x < 65535; the machine has no integer division.
        VSHR.I32 v4, v1, v16
        VADD.I32 v1, v1, v4
        VADD.I32 v1, v1, v15
        VSHR.I32 v1, v1, v16
        VMIN.I32 v1, v1, v12
        VDOT.I32 s17, v1, v11           # R*65536 + G*256 + B
        OR      s17, s17, s20
        SW      s17, 0(s13)
        ADDI    s12, s12, 16
        ADDI    s13, s13, 4
        BNE     s13, s14, pixel
        ADD     s10, s10, s8
        ADDI    s11, s11, -1
        BNE     s11, s0, row
        EXIT

        .balign 16
shifts: .word   16, 8, 0, 24
places: .word   65536, 256, 1, 0
