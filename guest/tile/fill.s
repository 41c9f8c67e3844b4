# fill.s: paints a rectangle of any size and position into a 32-bit framebuffer.
#
# Every tile paints its own part, four pixels per instruction; a mask keeps the pixels of a vector
# that lie outside. Arguments, words at arg_base:
#   0  target   framebuffer, a multiple of 16        4  stride   bytes per row, a multiple of 16
#   8  x0      12  y0      16  x1      20  y1        the rectangle [x0,x1) x [y0,y1)
#  24  color    0xAARRGGBB

        .globl  fill
fill:
        CSRR    s5, arg_base
        LW      s6, 0(s5)               # target
        LW      s7, 4(s5)               # stride
        LW      s10, 8(s5)              # x0
        LW      s11, 12(s5)             # y0
        LW      s12, 16(s5)             # x1
        LW      s13, 20(s5)             # y1
        LW      s14, 24(s5)             # color

# This tile: s8 = x, s9 = y, s6 = address of its first pixel.
        CSRR    s8, tile_offset
        LSRI    s9, s8, 16
        SHLI    s8, s8, 16
        LSRI    s8, s8, 16
        MUL     s15, s9, s7
        ADD     s6, s6, s15
        SHLI    s15, s8, 2
        ADD     s6, s6, s15

        VBCAST.I32 v1, s14
        ADDI    s10, s10, -1
        VBCAST.I32 v2, s10              # x0 - 1: there is a greater-than, no greater-or-equal
        VBCAST.I32 v3, s12
        VLD.V.PL v4, lanes
        VBCAST.I32 v5, s8
        VADD.I32 v4, v4, v5             # x of the first four pixels
        ADDI    s15, s0, 4
        VBCAST.I32 v5, s15

        ADDI    s16, s9, 16             # first row below the tile
row:    BLT     s9, s11, next           # above the rectangle
        BGE     s9, s13, end            # below: nothing more to do
        VMOV    v6, v4
        MOV     s17, s6
        ADDI    s18, s6, 64             # end of the tile's row
quad:   VCMP.GT.I32 s1, v6, v2
        VCMP.LT.I32 s2, v6, v3
        AND     s1, s1, s2              # bit i: pixel i is inside
        BEQ     s1, s0, skip
        VLD.V   v7, 0(s17)
        VSELD.I32 v7, v1, s1            # colour where the mask is set, the old pixel elsewhere
        VST.V   v7, 0(s17)
skip:   VADD.I32 v6, v6, v5
        ADDI    s17, s17, 16
        BNE     s17, s18, quad
next:   ADD     s6, s6, s7
        ADDI    s9, s9, 1
        BNE     s9, s16, row
end:    EXIT

        .balign 16
lanes:  .word   0, 1, 2, 3
