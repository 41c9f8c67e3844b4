# blend.s: alpha blending with VATOM.ADD. One sprite per tile of the dispatch.
#
# Sprites of all four cores overlap in the same pixels at the same time. Each adds its premultiplied
# colour to an accumulation buffer with one vector atomic per pixel, so no core needs to wait and the
# sums do not depend on the order. resolve.s turns the sums into colours.
#
# Arguments, words at arg_base:
#   0  sprites  16 bytes each: x, y, size (a square), color 0xAARRGGBB; x and y may be negative
#   4  accum    16 bytes per pixel: sum of R*A, sum of G*A, sum of B*A, sum of A
#   8  width   12  height   pixels of the accumulation buffer
# Dispatch: --grid Nx1 for N sprites.

        .globl  blend
blend:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s8, 8(s5)               # width
        LW      s9, 12(s5)              # height
        CSRR    s10, tile_offset        # 16 * number of the sprite = offset of its record
        ADD     s6, s6, s10
        LW      s11, 0(s6)              # x
        LW      s12, 4(s6)              # y
        LW      s13, 8(s6)              # size
        LBU     s15, 15(s6)             # A
        LW      s14, 12(s6)             # color

# v1 = (R*A, G*A, B*A, A): every lane gets its byte of the colour, then its factor.
        VBCAST.I32 v1, s14
        VLD.V.PL v2, shifts
        VSHR.I32 v1, v1, v2
        ADDI    s1, s0, 255
        VBCAST.I32 v2, s1
        VAND    v1, v1, v2
        VBCAST.I32 v2, s15
        ADDI    s1, s0, 1
        VINS.I32 v2, s1, 3
        VMUL.I32 v1, v1, v2

# The part of the square inside the buffer: columns s11..s16-1, rows s12..s17-1.
        ADD     s16, s11, s13
        MIN     s16, s16, s8
        ADD     s17, s12, s13
        MIN     s17, s17, s9
        MAX     s11, s11, s0
        MAX     s12, s12, s0
        BGE     s11, s16, end
row:    BGE     s12, s17, end
        MUL     s18, s12, s8
        ADD     s18, s18, s11
        SHLI    s18, s18, 4
        ADD     s18, s18, s7            # first pixel of the row
        SUB     s19, s16, s11           # pixels left
pixel:  VATOM.ADD v0, v1, 0(s18)        # four sums in one instruction; the old values are not wanted
        ADDI    s18, s18, 16
        ADDI    s19, s19, -1
        BNE     s19, s0, pixel
        ADDI    s12, s12, 1
        J       row
end:    EXIT

        .balign 16
shifts: .word   16, 8, 0, 24            # shifts of R, G, B, A in a colour
