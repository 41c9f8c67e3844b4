# deferred.s: tile-based deferred shading of domes (bumps seen from above) under coloured lights.
#
# Each tile of 16x16 pixels works in its scratch memory (--shared 2048):
#   1. visibility: every dome that touches the tile writes depth and number with VATOM.MIN;
#   2. culling: a list of the lights that reach the tile;
#   3. shading: each pixel once, with the dome that won and the lights of the list.
#
# Arguments, words at arg_base:
#   0  target   framebuffer, a multiple of 16        4  stride   bytes per row, a multiple of 16
#   8  domes    32 bytes each: x, y, radius (1..63), depth (0..32767), color 0x00RRGGBB, 3 unused
#  12  count    0..255
#  16  lights   16 bytes each: x, y, radius^2, color 0x00RRGGBB
#  20  scales   a word per light: 255 * 65536 / radius^2
#  24  number   of lights, 0..255
# Background stays as it is. Integers only.

        .globl  deferred
        .equ    NOTHING, 0x7fffffff
        .equ    LIST, 1024              # offset of the light list: 4 bytes per light that counts

deferred:
        CSRR    s5, arg_base
        LW      s6, 0(s5)               # target
        LW      s7, 4(s5)               # stride
        CSRR    s20, sm_base
        CSRR    s8, tile_offset
        LSRI    s9, s8, 16              # y of the tile
        SHLI    s8, s8, 16
        LSRI    s8, s8, 16              # x of the tile
        MUL     s1, s9, s7
        ADD     s6, s6, s1
        SHLI    s1, s8, 2
        ADD     s6, s6, s1              # its first pixel

        VLD.V.PL v20, lanes
        ADDI    s1, s0, 255
        VBCAST.I32 v21, s1
        ADDI    s1, s0, 8
        VBCAST.I32 v22, s1
        ADDI    s1, s0, 16
        VBCAST.I32 v23, s1
        ADDI    s1, s0, 4
        VBCAST.I32 v24, s1
        ADDI    s1, s0, 1
        VBCAST.I32 v25, s1
        MOVI    s2, NOTHING
        VBCAST.I32 v26, s2

# ---- 1. visibility ----
        ADDI    s10, s20, 1024
        MOV     s11, s20
clear:  VST.V   v26, 0(s11)
        ADDI    s11, s11, 16
        BNE     s11, s10, clear

        LW      s12, 8(s5)              # dome
        LW      s13, 12(s5)             # how many
        ADDI    s14, s0, 0              # its number
dome:   BEQ     s14, s13, domes_done
        LW      s15, 0(s12)             # x
        LW      s16, 4(s12)             # y
        LW      s17, 8(s12)             # radius
        MUL     s17, s17, s17
        CALL    distance                # s3 = squared distance of (s15, s16) from the tile
        BLT     s17, s3, dome_next      # out of reach
        LW      s18, 12(s12)            # depth
        SHLI    s18, s18, 8
        VBCAST.I32 v4, s18
        VBCAST.I32 v5, s14
        VBCAST.I32 v6, s17
        MOV     s19, s20                # word of the visibility buffer
        SUB     s21, s9, s16            # y distance of the first row
        ADDI    s22, s0, 16             # rows left
d_row:  MUL     s23, s21, s21
        VBCAST.I32 v1, s23
        SUB     s24, s8, s15
        VBCAST.I32 v2, s24
        VADD.I32 v2, v2, v20            # x distances of four pixels
        ADDI    s25, s0, 4              # quads left
d_quad: VMOV    v3, v1
        VMAC.I32 v3, v2, v2             # squared distance from the centre
        VCMP.GT.I32 s4, v3, v6          # outside of the dome
        VSHR.I32 v7, v3, v24            # a dome falls off by distance^2 / 16
        VADD.I32 v7, v7, v4
        VSHL.I32 v7, v7, v22
        VOR     v7, v7, v5              # depth * 256 + number
        VSELD.I32 v7, v26, s4
        VATOM.MIN v0, v7, 0(s19)
        VADD.I32 v2, v2, v24
        ADDI    s19, s19, 16
        ADDI    s25, s25, -1
        BNE     s25, s0, d_quad
        ADDI    s21, s21, 1
        ADDI    s22, s22, -1
        BNE     s22, s0, d_row
dome_next:
        ADDI    s12, s12, 32
        ADDI    s14, s14, 1
        J       dome
domes_done:

# ---- 2. lights that reach the tile: their addresses go to the list ----
        LW      s12, 16(s5)             # light
        LW      s13, 24(s5)             # lights left
        ADDI    s26, s20, LIST          # end of the list
light:  BEQ     s13, s0, lights_done
        LW      s15, 0(s12)
        LW      s16, 4(s12)
        LW      s17, 8(s12)
        CALL    distance
        BGE     s3, s17, light_next
        SW      s12, 0(s26)
        ADDI    s26, s26, 4
light_next:
        ADDI    s12, s12, 16
        ADDI    s13, s13, -1
        J       light
lights_done:

# ---- 3. shading: four pixels at a time, one vector per channel ----
        LW      s12, 8(s5)
        ADDI    s12, s12, 16            # colour of dome 0
        LW      s10, 16(s5)             # light 0
        LW      s11, 20(s5)             # scale 0
        MOV     s19, s20
        ADDI    s22, s0, 16             # rows left
s_row:  MOV     s21, s8                 # x
        MOV     s18, s6
        ADDI    s23, s6, 64
s_quad: VLD.V   v1, 0(s19)
        VCMP.LT.I32 s14, v1, v26        # lanes with a dome
        BEQ     s14, s0, s_skip
        VAND    v1, v1, v21             # number of the dome ...
        VCLR    v2
        VSELD.I32 v2, v1, s14           # ... or 0, whose colour is then not used
        ADDI    s1, s0, 5
        VBCAST.I32 v1, s1
        VSHL.I32 v2, v2, v1
        VLDX    v2, (s12), v2           # colours
        ADDI    s1, s0, 32
        VBCAST.I32 v3, s1               # light so far: R, G, B; a little is everywhere
        VMOV    v4, v3
        VMOV    v5, v3
        ADDI    s13, s20, LIST
s_light:
        BEQ     s13, s26, s_lit
        LW      s15, 0(s13)             # the light
        LW      s16, 0(s15)
        SUB     s16, s21, s16
        VBCAST.I32 v6, s16
        VADD.I32 v6, v6, v20
        VMUL.I32 v6, v6, v6
        LW      s16, 4(s15)
        SUB     s16, s9, s16
        MUL     s16, s16, s16
        VBCAST.I32 v7, s16
        VADD.I32 v6, v6, v7             # squared distance
        LW      s16, 8(s15)
        VBCAST.I32 v7, s16
        VMIN.I32 v6, v6, v7
        SUB     s16, s15, s10           # 16 * number: a quarter is the offset of its scale
        LSRI    s16, s16, 2
        LW.R    s16, s16(s11)
        VBCAST.I32 v7, s16
        VMUL.I32 v6, v6, v7
        VSHR.I32 v6, v6, v23
        VSUB.I32 v6, v21, v6            # 255 at the light, 0 at its radius
        LBU     s16, 14(s15)            # R
        VBCAST.I32 v7, s16
        VMUL.I32 v7, v7, v6
        VSHR.I32 v7, v7, v22
        VADD.I32 v3, v3, v7
        LBU     s16, 13(s15)            # G
        VBCAST.I32 v7, s16
        VMUL.I32 v7, v7, v6
        VSHR.I32 v7, v7, v22
        VADD.I32 v4, v4, v7
        LBU     s16, 12(s15)            # B
        VBCAST.I32 v7, s16
        VMUL.I32 v7, v7, v6
        VSHR.I32 v7, v7, v22
        VADD.I32 v5, v5, v7
        ADDI    s13, s13, 4
        J       s_light
s_lit:  VMIN.I32 v3, v3, v21
        VMIN.I32 v4, v4, v21
        VMIN.I32 v5, v5, v21
# Channel = colour * light / 255, rounded down: (x + 1 + (x >> 8)) >> 8.
        VSHR.I32 v6, v2, v23            # R
        VAND    v6, v6, v21
        VMUL.I32 v6, v6, v3
        VSHR.I32 v7, v6, v22
        VADD.I32 v6, v6, v7
        VADD.I32 v6, v6, v25
        VSHR.I32 v6, v6, v22
        VSHL.I32 v10, v6, v23
        VSHR.I32 v6, v2, v22            # G
        VAND    v6, v6, v21
        VMUL.I32 v6, v6, v4
        VSHR.I32 v7, v6, v22
        VADD.I32 v6, v6, v7
        VADD.I32 v6, v6, v25
        VSHR.I32 v6, v6, v22
        VSHL.I32 v6, v6, v22
        VOR     v10, v10, v6
        VAND    v6, v2, v21             # B
        VMUL.I32 v6, v6, v5
        VSHR.I32 v7, v6, v22
        VADD.I32 v6, v6, v7
        VADD.I32 v6, v6, v25
        VSHR.I32 v6, v6, v22
        VOR     v10, v10, v6
        LUI     s1, 0xff000
        VBCAST.I32 v6, s1
        VOR     v10, v10, v6
        VLD.V   v11, 0(s18)
        VSELD.I32 v11, v10, s14
        VST.V   v11, 0(s18)
s_skip: ADDI    s19, s19, 16
        ADDI    s18, s18, 16
        ADDI    s21, s21, 4
        BNE     s18, s23, s_quad
        ADD     s6, s6, s7
        ADDI    s9, s9, 1
        ADDI    s22, s22, -1
        BNE     s22, s0, s_row
        EXIT

# s3 = squared distance of the point (s15, s16) from the tile at (s8, s9); uses s2.
distance:
        SUB     s2, s8, s15             # left of the tile?
        SUB     s3, s15, s8
        ADDI    s3, s3, -15             # right of its last column?
        MAX     s3, s3, s2
        MAX     s3, s3, s0
        MUL     s3, s3, s3
        SUB     s2, s9, s16
        SUB     s4, s16, s9
        ADDI    s4, s4, -15
        MAX     s4, s4, s2
        MAX     s4, s4, s0
        MAC     s3, s4, s4
        RET

        .balign 16
lanes:  .word   0, 1, 2, 3
