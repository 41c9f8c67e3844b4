# The sum of 1 to 10, kept in memory after each addition; ends with exit code 0. For examples/lockstep.c
# and for a first session with `facet gdb`.
_start:
        li      t0, 0                   # sum
        li      t1, 1                   # what comes next
        li      t2, 11
        la      s0, sum
add:    add     t0, t0, t1
        sd      t0, 0(s0)
        addi    t1, t1, 1
        bne     t1, t2, add
done:   li      a0, 0x20                # SYS_EXIT_EXTENDED
        la      a1, ending
        .align  4                       # the three words of a call are in one page
        .word   0x01f01013              # slli x0, x0, 0x1f
        .word   0x00100073              # ebreak
        .word   0x40705013              # srai x0, x0, 7
        j       .

        .data
        .align  3
ending: .dword  0x20026, 0              # ADP_Stopped_ApplicationExit, code 0
sum:    .dword  0
