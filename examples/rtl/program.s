# For the tiny core of this folder: sums what a device gives, counts interrupts, ends with the finisher.
        .text
_start: la      t0, handler
        csrrw   zero, mtvec, t0
        lui     t0, 1
        addi    t0, t0, -2048           # 0x800: external
        csrrw   zero, mie, t0
        addi    t0, zero, 8
        csrrs   zero, mstatus, t0       # MIE
        lui     s0, 0x30000             # the device
        la      s1, sum
        addi    s2, zero, 400
loop:   ld      t0, 0(s0)
        ld      t1, 0(s1)
        add     t1, t1, t0
        sd      t1, 0(s1)
        xor     t2, t1, t0
        andi    t2, t2, 255
        addi    s2, s2, -1
        bne     s2, zero, loop
        lui     t0, 0x100               # the finisher
        lui     t1, 5
        addi    t1, t1, 0x555
        sw      t1, 0(t0)
stop:   jal     zero, stop

        .align  3
handler: addi   s3, s3, 1
        csrrs   s4, mcause, zero
        csrrs   s5, mip, zero
        mret

        .align  3
sum:    .dword  0
