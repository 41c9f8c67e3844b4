/* Start of the programs of `facet bench hart`: floating point on, a stack, main, and a semihosting
 * exit whose code is main's result, which every machine with semihosting understands. The number
 * at `rounds` is unique in the file, so that it can be found and replaced there. */
    .section .text.start, "ax"
    .globl _start
_start:
    li t0, 0x2000
    csrs mstatus, t0
    la t0, trap
    csrw mtvec, t0
    la sp, stack_top
    call main
exit:
    la a1, reason
    sd a0, 8(a1)
    li a0, 0x18 /* SYS_EXIT: a1 points at reason and code */
    .balign 16
    .option push
    .option norvc
    slli zero, zero, 0x1f
    ebreak
    srai zero, zero, 7
    .option pop
    j .
    .balign 4
trap: /* nothing here traps on purpose */
    li a0, 1
    j exit

    .data
    .balign 16
    .globl rounds
rounds:
    .dword 0xFACE7B0A7D5EED01
reason:
    .dword 0x20026, 0 /* ADP_Stopped_ApplicationExit */
