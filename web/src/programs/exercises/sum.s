# Add the eight numbers at `numbers` and leave the sum in a0.

_start: la      a1, numbers
        li      t0, 8                   # numbers left
        li      a0, 0                   # the sum

# Your turn: a loop that loads a number with lw, adds it to a0, and goes on to the next.

done:   mv      s2, a0
        slli    a0, a0, 16              # the finisher ends with the number above bit 16
        li      t1, 0x3333
        or      a0, a0, t1
        li      t2, 0x100000
        sw      a0, 0(t2)
stop:   j       stop

        .data
        .balign 8
numbers:
        .word   3, 14, 15, 9, 26, 5, 25, 3
