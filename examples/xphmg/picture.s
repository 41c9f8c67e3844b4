# picture.s: shows a picture of 64x48 pixels by the registers of the framebuffer, and says so on the UART. The further right the
# bluer, the further down the greener; a red frame.
#
#     facet as --isa xphmg examples/xphmg/picture.s -o picture.elf
#     facet run picture.elf --framebuffer picture.png
#
# The registers are those of docs/run.md: FORMAT 1 is bytes red, green, blue, ignored.

_start: li      s0, 0x11000000          # the framebuffer
        li      t0, 64
        sw      t0, 0x08(s0)            # WIDTH
        li      t0, 48
        sw      t0, 0x0c(s0)            # HEIGHT
        li      t0, 1
        sw      t0, 0x10(s0)            # FORMAT
        la      a0, pixels
        sd      a0, 0x18(s0)            # BASE

        li      a2, 0                   # y
row:    li      a1, 0                   # x
pixel:  slli    t1, a1, 2               # 4 x
        slli    t2, a2, 2               # 4 y
        li      t0, 0
        beqz    a1, frame
        beqz    a2, frame
        li      t3, 63
        beq     a1, t3, frame
        li      t3, 47
        bne     a2, t3, inside
frame:  li      t0, 0xe0
inside: sb      t0, 0(a0)
        sb      t2, 1(a0)
        sb      t1, 2(a0)
        addi    a0, a0, 4
        addi    a1, a1, 1
        li      t3, 64
        bne     a1, t3, pixel
        addi    a2, a2, 1
        li      t3, 48
        bne     a2, t3, row

        li      s1, 0x10000000          # the UART
        la      a0, text
letter: lbu     t0, 0(a0)
        beqz    t0, end
        sb      t0, 0(s1)               # THR
        addi    a0, a0, 1
        j       letter

end:    li      t0, 0x100000            # the finisher
        li      t1, 0x5555
        sw      t1, 0(t0)
stop:   j       stop

        .data
text:   .string "64 x 48 pixels\n"
        .bss
        .balign 64
pixels: .zero   12288                   # 4 * 64 * 48
