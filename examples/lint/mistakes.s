# mistakes.s: every line assembles, the program ends with 0, and nine things are wrong.
# `facet run mistakes.elf --lint` names them (docs/lint.md).

        .globl  _start
_start:
        gfx.shade x20, x10, OO=0        # GFXCFG.EN is 0: does nothing
        li      t0, 0x80300000          # FP32 with APPLY in bit 31, as the documents write it
        csrw    CAP.PREC.MODE, t0       # APPLY is bit 63: the write is only staged
        csrwi   RTCFG, 1
        la      t1, node
        csrw    RTNODE, t1
        la      a0, ray
        rt.bbox a1, a0                  # computes in FP16
        li      t0, 0x8000000000000008
        csrs    CAP.PREC.MODE, t0       # wants ZMODE, and applies the staged image too
        la      a0, job
        xsubmit.mtx t3, a0              # nothing waits for t3
        la      a1, out
        lw      a2, 0(a1)               # the result may not be there yet
        li      t0, 4
        csrs    CAP.PREC.EXC.ST, t0     # wants to clear OF, clears everything
        li      t0, -1
        csrw    CAP.ID, t0              # read-only
        csrwi   GFXCFG, 1
        gfx.hz.build a3, a1, hh=1       # GFXHIZCFG.LEVELS is 0: builds nothing

        li      t0, 0x100000            # the finisher: exit code 0
        li      t1, 0x5555
        sw      t1, 0(t0)
        j       .

        .data
        .balign 64
node:   .zero   128
ray:    .zero   64
matrix: .zero   64
in:     .zero   64
out:    .zero   64
job:    .dword  matrix, in, out
        .word   0x25, 5, 2, 0           # 2x2, row-major; two vectors
        .zero   24
