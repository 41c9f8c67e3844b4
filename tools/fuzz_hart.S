/* The harness around the random programs of fuzz_hart.py: flat, at 0x80000000, the same bytes on every
 * machine. For each slot it loads fcsr, f and x registers, enters the program with MRET, and takes
 * whatever trap ends it; a program ends with ECALL and may ask for several passes, each continuing with
 * the state that the one before left. When all slots are done they are written to the console by
 * semihosting, and the machine stops.
 *
 * Slot (4096 bytes): 0 x0..x31, 256 f0..f31, 512 fcsr, 520 mcause, 528 mepc, 536 mtval, 544 passes left,
 * 552 program; 1024 data that programs write (2048 bytes), 3072 operands that they only read. */
    .option norvc
    .section .text
    .globl _start
_start:
    j begin
    .balign 8
count: .dword 0 /* filled in by fuzz_hart.py */
slots: .dword 0
    .dword finish

begin:
    la t0, handler
    csrw mtvec, t0
    li t0, 0x7800 /* FS = dirty, MPP = M */
    csrs mstatus, t0
    ld t6, slots
    csrw mscratch, t6

enter: /* t6 = slot */
    ld x1, 512(t6)
    fscsr x1
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld f\n, 256+8*\n(t6)
    .endr
    ld x1, 552(t6)
    csrw mepc, x1
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld x\n, 8*\n(t6)
    .endr
    mret

    .balign 4
handler:
    csrrw t6, mscratch, t6
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    sd x\n, 8*\n(t6)
    .endr
    csrr x1, mscratch
    sd x1, 248(t6)
    csrw mscratch, t6
    frcsr x1
    sd x1, 512(t6)
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fsd f\n, 256+8*\n(t6)
    .endr
    csrr x1, mcause
    sd x1, 520(t6)
    csrr x2, mepc
    sd x2, 528(t6)
    csrr x2, mtval
    sd x2, 536(t6)
    ld x2, 544(t6)
    addi x2, x2, -1
    sd x2, 544(t6)
    addi x1, x1, -11 /* anything but ECALL ends the program at once */
    bnez x1, next
    bnez x2, enter
next:
    ld x1, count
    addi x1, x1, -1
    sd x1, count, x2
    li x2, 4096
    add t6, t6, x2
    csrw mscratch, t6
    bnez x1, enter

finish: /* a system instruction: every executor stops before it */
    csrr t0, mhartid
    ld t1, slots
    sub s1, t6, t1
    la a1, open_block
    li a0, 1 /* SYS_OPEN */
    call semihost
    la a1, write_block
    sd a0, 0(a1)
    sd t1, 8(a1)
    sd s1, 16(a1)
    li a0, 5 /* SYS_WRITE */
    call semihost
    la a1, exit_block
    li a0, 0x18 /* SYS_EXIT */
    call semihost
    j .

    .balign 16
semihost:
    slli zero, zero, 0x1f
    ebreak
    srai zero, zero, 7
    ret

    .balign 8
open_block: .dword console, 4, 3
write_block: .dword 0, 0, 0
exit_block: .dword 0x20026, 0
console: .asciz ":tt"
