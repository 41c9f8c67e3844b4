# points.s: a depth test without a depth unit: VATOM.MIN.X on words that hold depth and colour.
#
# A word of the buffer is depth << 16 | colour (RGB565), so the smaller word is the nearer point and
# brings its colour along: one atomic does test, depth write and colour write, whatever the order of
# points and cores. Each tile of the dispatch draws 16 points, four at a time.
#
# Arguments, words at arg_base:
#   0  points   16 bytes each: x, y, depth 0..32767, colour 0..65535
#   4  count    a multiple of 4
#   8  buffer   words; 0x7fffffff where there is nothing yet
#  12  width    words per row

        .globl  points
points:
        CSRR    s5, arg_base
        LW      s6, 0(s5)
        LW      s7, 4(s5)
        LW      s8, 8(s5)
        LW      s9, 12(s5)
        CSRR    s10, tile_offset        # first point of the tile: tiles are 16 wide
        ADDI    s11, s10, 16
        MIN     s11, s11, s7            # first point that is not drawn here
        SHLI    s12, s10, 4
        ADD     s6, s6, s12

        VBCAST.I32 v5, s9
        ADDI    s1, s0, 2
        VBCAST.I32 v6, s1
        ADDI    s1, s0, 16
        VBCAST.I32 v7, s1               # as a shift count; s1 also is the stride of the records
four:   BGE     s10, s11, end
        ADDI    s2, s6, 4
        ADDI    s3, s6, 8
        ADDI    s4, s6, 12
        VLD.S   v1, (s6), s1            # x of four points
        VLD.S   v2, (s2), s1            # y
        VLD.S   v3, (s3), s1            # depth
        VLD.S   v4, (s4), s1            # colour
        VMAC.I32 v1, v2, v5             # y * width + x
        VSHL.I32 v1, v1, v6
        VSHL.I32 v3, v3, v7
        VOR     v3, v3, v4
        VATOM.MIN.X v0, v3, (s8), v1    # lanes act one after the other: equal pixels are no problem
        ADDI    s6, s6, 64
        ADDI    s10, s10, 4
        J       four
end:    EXIT
