# fill.s: paints one 16x16 tile of a 32-bit framebuffer in one colour.
#
# The dispatch starts this kernel once per tile. Arguments, three words at arg_base:
#   0  address of the framebuffer, a multiple of 16
#   1  bytes per row, a multiple of 16
#   2  colour, 0xAARRGGBB
#
# Semantics: spec/tile-semantics.md, sections 7 (addresses), 10 (vectors), 13 (kernel ABI).

        .globl  fill
fill:
        CSRR    s5, arg_base            # address of the arguments
        LW      s6, 0(s5)               # framebuffer
        LW      s7, 4(s5)               # bytes per row
        LW      s8, 8(s5)               # colour

# First pixel of this tile = framebuffer + y * bytes per row + 4 * x.
        CSRR    s9, tile_offset         # y in bits 31:16, x in bits 15:0
        LSRI    s10, s9, 16
        MUL     s10, s10, s7
        ADD     s6, s6, s10
        SHLI    s9, s9, 16              # drops y ...
        LSRI    s9, s9, 14              # ... and leaves 4 * x
        ADD     s6, s6, s9

# A vector holds four pixels: four stores paint a row of the tile.
        VBCAST.I32 v1, s8
        ADDI    s11, s0, 16             # rows left
row:
        VST.V   v1, 0(s6)
        VST.V   v1, 16(s6)
        VST.V   v1, 32(s6)              # beyond 31: the assembler takes the long form, VST.V.L
        VST.V   v1, 48(s6)
        ADD     s6, s6, s7
        ADDI    s11, s11, -1
        BNE     s11, s0, row
        EXIT
