# ramp.s: the further right the bluer, the further down the greener. Runs once for each tile of 16x16 pixels.
# Arguments: address of the picture, bytes of a row.

ramp:   CSRR    s5, arg_base
        LW      s6, 0(s5)               # the picture
        LW      s7, 4(s5)               # bytes of a row
        CSRR    s8, tile_offset         # y << 16 | x of the tile's first pixel
        LSRI    s9, s8, 16              # y
        SHLI    s8, s8, 16
        LSRI    s8, s8, 16              # x

        MUL     s10, s9, s7
        ADD     s6, s6, s10
        SHLI    s10, s8, 2
        ADD     s6, s6, s10             # address of pixel x, y
        LI      s15, 0xff000000         # alpha, red, green, blue
        SHLI    s10, s9, 10
        ADD     s15, s15, s10           # 4 y in green
        SHLI    s10, s8, 2
        ADD     s15, s15, s10           # 4 x in blue

        ADDI    s11, s0, 16             # rows left
row:    ADDI    s12, s0, 16             # pixels left
        MOV     s13, s6
        MOV     s14, s15
pixel:  SW      s14, 0(s13)
        ADDI    s13, s13, 4
        ADDI    s14, s14, 4
        ADDI    s12, s12, -1
        BNE     s12, s0, pixel
        ADD     s6, s6, s7
        ADDI    s15, s15, 0x400
        ADDI    s11, s11, -1
        BNE     s11, s0, row
        EXIT
