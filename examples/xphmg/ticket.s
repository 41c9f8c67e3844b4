# A job of XSUBMIT.MTX: [1 2; 3 4] * [5 6] = [17 39]. Ends with the sum of the results, 56.
#
#     facet as --isa xphmg examples/xphmg/ticket.s -o ticket.elf
#     facet run ticket.elf; echo $?
#
# The program must wait for its ticket before it reads the results. Assembled with -D FORGET it does
# not, which works on a machine that runs the job at once and fails on one that takes its time:
#
#     facet run forget.elf --jobs late; echo $?

        .text
_start: li      t0, 0x8000000000300000  # FP32: APPLY0, PET 1, EW 32
        csrw    CAP.PREC.MODE, t0
        la      a0, job
        xsubmit.mtx a1, a0              # a1 = ticket
.ifndef FORGET
        xfence.wait a1
.endif
        la      a2, results
        lw      t1, 0(a2)               # binary32
        lw      t2, 4(a2)

        li      t0, 0x2000              # mstatus.FS: the hart's own FPU adds
        csrs    mstatus, t0
        fmv.w.x ft1, t1
        fmv.w.x ft2, t2
        fadd.s  ft1, ft1, ft2
        fcvt.w.s a0, ft1
        slli    a0, a0, 16
        li      t1, 0x3333
        add     a0, a0, t1
        li      t0, 0x100000            # the finisher: exit with a0 >> 16
        sw      a0, 0(t0)
stop:   j       stop

        .data
        .align  3
job:    .dword  matrix, vector, results
        .word   5 + 32                  # ld_imm: 2x2, row-major
        .word   5                       # mul_imm: 2x2
        .word   1, 0                    # one vector, MTX.MUL
        .zero   24                      # XPHMG_MEMCTL: the defaults
matrix: .float  1, 2, 3, 4
vector: .float  5, 6
results: .word  0, 0
