/* Start-up of a guest program: hart 0 gets a stack, zeroed .bss, thread-local storage, floating point
 * and a trap vector, runs the constructors and main(), and exits with what main returns. Every other
 * hart runs guest_hart(hartid) on a stack of 16 KiB; the one here waits forever.
 *
 * Unexpected traps go to guest_trap(cause, pc, value), which reports and exits: trap.c has one
 * that a program may replace. A handler of the program's own is simply another mtvec. */
    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, guest_trap_entry
    csrw mtvec, t0
    li t0, 0x2000 /* mstatus.FS = Initial */
    csrs mstatus, t0
    csrw fcsr, zero
    csrr a0, mhartid
    bnez a0, other_hart

    la sp, __stack
    la tp, __tls_base
    la t0, __bss_start
    la t1, __bss_end
    addi t2, t1, -48 /* whole steps of 64 bytes begin before here */
    bgeu t0, t2, 2f
1:  sd zero, 0(t0)
    sd zero, 8(t0)
    sd zero, 16(t0)
    sd zero, 24(t0)
    sd zero, 32(t0)
    sd zero, 40(t0)
    sd zero, 48(t0)
    sd zero, 56(t0)
    addi t0, t0, 64
    bltu t0, t2, 1b
2:  bgeu t0, t1, 3f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 2b
3:  call __libc_init_array
    li a0, 0
    li a1, 0
    call main
    call exit

other_hart:
    la sp, __heap_end
    slli t0, a0, 14
    sub sp, sp, t0 /* below the heap's end: programs with many harts leave it to them */
    la tp, __tls_base
    call guest_hart
park:
    wfi
    j park

    .weak guest_hart
guest_hart:
    wfi
    j guest_hart

/* Registers that the report does not need are lost: it never returns. */
    .balign 4
guest_trap_entry:
    la t0, guest_trap_entry_again
    csrw mtvec, t0
    csrr a0, mcause
    csrr a1, mepc
    csrr a2, mtval
    la sp, __stack
    andi sp, sp, -16
    call guest_trap
    li a0, 125
    call _exit

/* A trap inside the report: nothing to say any more. */
    .balign 4
guest_trap_entry_again:
    li a0, 125
    call _exit
