/* RSV in assembly: reverse eight numbers with one instruction.
 *
 * Windows come from the SV CSRs when V is set: SVDST = {V, STRIDE -1, BASE x17} makes lane i write
 * x[17-i], while the source window (V clear) starts at the register that the instruction names. */
#include <xphmg.h>

    .section .rodata
numbers: .dword 10, 20, 30, 40, 50, 60, 70, 80
line:   .asciz "%ld %ld %ld %ld %ld %ld %ld\n"
pass:   .asciz "reverse: PASS"
fail:   .asciz "reverse: FAIL"

    .section .text
    .globl main
main:
    addi sp, sp, -80
    sd ra, 72(sp)
    .irp r, 18,19,20,21,22,23,24,25
    sd x\r, 8*(\r-18)(sp)
    .endr

    la t0, numbers
    .irp r, 18,19,20,21,22,23,24,25
    ld x\r, 8*(\r-18)(t0)
    .endr
    li t0, XPHMG_SVDST_V | (0xff << XPHMG_SVDST_STRIDE_LSB) | (17 << XPHMG_SVDST_BASE_LSB)
    csrw XPHMG_CSR_SVDST, t0
    svsetvl zero, 8
    svon.one
    addi x10, x18, 1 /* lane i: x[17-i] = x[18+i] + 1 */
    csrw XPHMG_CSR_SVDST, zero

    /* x10..x17 are now 81, 71, ... 11 */
    li t1, 81
    mv t2, a0
    sub t2, t2, t1
    addi t3, a7, -11
    or s2, t2, t3 /* 0 when both ends are right */
    mv t4, a0     /* printf: format, then seven of the eight */
    mv a7, a6
    mv a6, a5
    mv a5, a4
    mv a4, a3
    mv a3, a2
    mv a2, a1
    mv a1, t4
    la a0, line
    call printf

    la a0, pass
    beqz s2, 1f
    la a0, fail
1:  call puts
    snez a0, s2
    .irp r, 18,19,20,21,22,23,24,25
    ld x\r, 8*(\r-18)(sp)
    .endr
    ld ra, 72(sp)
    addi sp, sp, 80
    ret
