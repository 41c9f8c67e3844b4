"""`facet run --lint` and `facet tile run --lint`: for each rule programs that break it, at the place `bad`, and
the same programs put right. A program that breaks one rule must be told of that rule and no other."""
import json
import os
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory()


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def put(name, text):
    path = os.path.join(FOLDER.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


# ---- the hart ----

HEAD = """
_start: la      t0, ignore
        csrw    mtvec, t0
"""
TAIL = """
        li      t1, 0x5555
        li      t0, 0x100000
        sw      t1, 0(t0)
        j       .
        .balign 4
ignore: csrr    t6, mepc
        addi    t6, t6, 4
        csrw    mepc, t6
        mret
        .data
        .balign 64
node:   .zero   256
ray:    .zero   128
depth:  .zero   1024
texture: .zero  256
matrix: .zero   64
vectors: .zero  64
results: .zero  64
job:    .dword  matrix, vectors, results
        .word   0x25, 5, 2, 0           # 2x2 row-major, two vectors
        .zero   24
rays:   .word   0, 1, 4, 0
        .dword  entries
misses: .word   0, 0, 4, 0
        .dword  missed
        .balign 16
entries: .zero  128
missed: .zero   64
rtjob:  .dword  node, rays, 0, misses, 0, 0
        .zero   24
"""
FP32 = "li t0, 0x8000000000300000\n csrw CAP.PREC.MODE, t0\n"
STAGE = "li t0, 0x300000\n csrw CAP.PREC.MODE, t0\n"
APPLY = "li t0, 1\n slli t0, t0, 63\n csrs CAP.PREC.MODE, t0\n"
GFX = "csrwi GFXCFG, 1\n"
RT = "csrsi RTCFG, 1\n la a0, ray\n la t0, node\n csrw RTNODE, t0\n"
SUBMIT = "la a0, job\n xsubmit.mtx t3, a0\n la a1, results\n la a2, vectors\n"
SUBMIT_RT = "csrsi RTCFG, 1\n la a0, rtjob\n xsubmit.rt t3, a0\n la a1, misses\n la a2, entries\n"
COPY = "la a0, results\n la a1, vectors\n li a2, 64\n xlds.cpy a0, a1, a2, async=1\n"
LDS_COPY = COPY.replace("la a0, results", "li a0, 0x40000000")
ALL = "xfence.pipe all, 4, 1\n"
# An li would be repeated under RSV: t1 is EN.
RSV, NO_RSV = "li t1, 0x100\n csrs SVSTATE, t1\n", "csrc SVSTATE, t1\n"
HANDLER_RSV = "la t0, 1f\n csrw mtvec, t0\n li t4, 1\n slli t4, t4, 63\n" + STAGE + " ecall\n" + NO_RSV + """{1}
 j 2f
.balign 4
1: csrr t6, mepc
 addi t6, t6, 4
 csrw mepc, t6
 {0}
""" + RSV + "mret\n2:"
# The worked example of R-CAP-65: what the program has staged outlives a handler with numbers of its own. {reg} is MODE or
# ALT, {image} what is staged, {number} its XISEL; {save} and {restore} are the two halves of the protocol.
HANDLER = """la t0, 1f
 csrw mtvec, t0
 li t0, {image}
 csrw CAP.PREC.{reg}, t0
 ecall
 j 2f
.balign 4
1: csrr s0, XISEL
 csrr s1, CAP.PREC.{reg}
 li t0, {number}
 csrw XISEL, t0
 {save}
 li t0, 0x8000000000000000
bad: csrw CAP.PREC.{reg}, t0
 or t0, t0, s1
 csrw CAP.PREC.{reg}, t0
 {restore}
 csrw XISEL, s0
 csrr t6, mepc
 addi t6, t6, 4
 csrw mepc, t6
 mret
2: li t0, 1
 slli t0, t0, 63
 csrs CAP.PREC.{reg}, t0
"""


def handler(reg, image, number, save="csrr s2, XIREG", restore="csrw XIREG, s2"):
    return HANDLER.format(reg=reg, image=image, number=number, save=save, restore=restore)


HIZ = GFX + """la t0, depth
 csrw GFXZBASE, t0
 li t0, 16
 csrw GFXZPITCH, t0
 li t0, 0x400000004
 csrw GFXZWH, t0
 la a0, depth
"""

# rule, name of the pair, wrong, right
HART = [
    ("rt-off", "bbox", "la a0, ray\n la t0, node\n csrw RTNODE, t0\nbad: rt.bbox a1, a0", RT + "rt.bbox a1, a0"),
    ("rt-off", "submit", "la a0, rtjob\nbad: xsubmit.rt t3, a0\n xfence.wait t3",
     "csrsi RTCFG, 1\n la a0, rtjob\n xsubmit.rt t3, a0\n xfence.wait t3"),
    ("gfx-off", "shade", "bad: gfx.shade x20, x10, OO=0", GFX + "gfx.shade x20, x10, OO=0"),
    ("gfx-off", "fence", "bad: gfx.fence 3, 2", GFX + "gfx.fence 3, 2"),
    ("gfx-filter", "bilinear", "li t0, 0x41\n csrw GFXCFG, t0\nbad: gfx.sample x20, x10, m=1",
     "li t0, 0x43\n csrw GFXCFG, t0\n gfx.sample x20, x10, m=1"),
    ("gfx-filter", "nearest", "csrwi GFXCFG, 1\nbad: gfx.sample x20, x10, m=1",
     "csrwi GFXCFG, 1\n gfx.sample x20, x10"),
    ("gfx-hiz", "off", HIZ + "bad: gfx.hz.build a1, a0, hh=1", HIZ + "li t0, 0x100\n csrw GFXHIZCFG, t0\n"
     "gfx.hz.build a1, a0, hh=1"),
    ("gfx-hiz", "level", HIZ + "li t0, 0x100\n csrw GFXHIZCFG, t0\nbad: gfx.hz.build a1, a0, ll=1, hh=1",
     HIZ + "li t0, 0x200\n csrw GFXHIZCFG, t0\n gfx.hz.build a1, a0, ll=1, hh=1"),
    ("prec-staged", "rt", RT + STAGE + "bad: rt.bbox a1, a0", RT + STAGE + APPLY + "rt.bbox a1, a0"),
    ("prec-staged", "gfx", GFX + STAGE + "bad: gfx.shade x20, x10, OO=0", GFX + FP32 + "gfx.shade x20, x10, OO=0"),
    ("prec-staged", "mtx", STAGE + "la a0, matrix\nbad: mtx.ld a0, shape=5",
     "la a0, matrix\n mtx.ld a0, shape=5\n" + STAGE),
    ("prec-staged", "alt", RT + "li t0, 0x48000000\n csrw CAP.PREC.ALT, t0\nbad: rt.bbox a1, a0",
     RT + "li t0, 0x8000000048000000\n csrw CAP.PREC.ALT, t0\n rt.bbox a1, a0"),
    ("prec-staged", "job", STAGE + "la a0, job\nbad: xsubmit.mtx t3, a0\n xfence.wait t3",
     FP32 + "la a0, job\n xsubmit.mtx t3, a0\n xfence.wait t3"),
    ("prec-staged", "unchanged", RT + STAGE + "bad: rt.bbox a1, a0", # the value that is there already
     RT + "csrr t0, CAP.PREC.MODE\n csrw CAP.PREC.MODE, t0\n rt.bbox a1, a0"),
    ("prec-bit31", "mode", "li t0, 0x80300000\nbad: csrw CAP.PREC.MODE, t0", FP32),
    ("prec-bit31", "alt", "li t0, 0xc8000000\nbad: csrw CAP.PREC.ALT, t0",
     "li t0, 0x8000000048000000\n csrw CAP.PREC.ALT, t0"),
    # An interrupt between stage and apply: the handler's restore takes the image away.
    ("prec-lost", "handler", "la t0, 1f\n csrw mtvec, t0\n" + STAGE + " ecall\n j 2f\n.balign 4\n"
     "1: csrr t5, CAP.PREC.MODE\n li t4, 1\n slli t4, t4, 63\n or t5, t5, t4\nbad: csrw CAP.PREC.MODE, t5\n"
     " csrr t6, mepc\n addi t6, t6, 4\n csrw mepc, t6\n mret\n2:",
     "la t0, 1f\n csrw mtvec, t0\n" + FP32 + " ecall\n j 2f\n.balign 4\n"
     "1: csrr t5, CAP.PREC.MODE\n li t4, 1\n slli t4, t4, 63\n or t5, t5, t4\n csrw CAP.PREC.MODE, t5\n"
     " csrr t6, mepc\n addi t6, t6, 4\n csrw mepc, t6\n mret\n2:"),
    ("prec-lost", "second_thoughts", "la t0, 1f\n csrw mtvec, t0\n" + STAGE + " ecall\n j 2f\n.balign 4\n"
     "1: li t5, 0x8000000000080000\nbad: csrw CAP.PREC.MODE, t5\n csrr t6, mepc\n addi t6, t6, 4\n csrw mepc, t6\n mret\n2:",
     STAGE + "li t5, 0x8000000000080000\n csrw CAP.PREC.MODE, t5"),
    ("prec-lost", "saved_mode", handler("MODE", "0x300000", "0x7DA0", "nop", "nop"),
     handler("MODE", "0x300000", "0x7DA0")),
    ("prec-lost", "saved_alt", handler("ALT", "0x48000000", "0x7DA1", "nop", "nop"),
     handler("ALT", "0x48000000", "0x7DA1")),
    ("prec-lost", "saved_another", handler("MODE", "0x300000", "0x7DA1", restore="nop"), # SALT, not SMODE
     handler("MODE", "0x300000", "0x7DA0", "csrrw s2, XIREG, zero")),
    # Staged by the program, committed by a handler that only means to set a bit.
    ("prec-commit", "handler", "la t0, 1f\n csrw mtvec, t0\n" + STAGE + " ecall\n j 2f\n.balign 4\n"
     "1: li t4, 1\n slli t4, t4, 63\n ori t4, t4, 8\nbad: csrs CAP.PREC.MODE, t4\n"
     " csrr t6, mepc\n addi t6, t6, 4\n csrw mepc, t6\n mret\n2:",
     "la t0, 1f\n csrw mtvec, t0\n" + FP32 + " ecall\n j 2f\n.balign 4\n"
     "1: li t4, 1\n slli t4, t4, 63\n ori t4, t4, 8\n csrs CAP.PREC.MODE, t4\n"
     " csrr t6, mepc\n addi t6, t6, 4\n csrw mepc, t6\n mret\n2:"),
    ("csr-w1c", "one_bit", "li t0, 4\nbad: csrs CAP.PREC.EXC.ST, t0", "li t0, 4\n csrw CAP.PREC.EXC.ST, t0"),
    ("csr-w1c", "clear", "bad: csrci CAP.XMEM.EVENTS, 1", "csrwi CAP.XMEM.EVENTS, 1"),
    ("csr-w1c", "all", "bad: csrsi CAP.PREC.EXC.ST, 1", "li t0, 0x7f\n csrs CAP.PREC.EXC.ST, t0"),
    ("csr-w1c", "reading", "bad: csrsi CAP.PREC.EXC.ST, 1", "csrr t0, CAP.PREC.EXC.ST"),
    ("csr-read-only", "register", "li t0, -1\nbad: csrw CAP.ID, t0", "csrr t0, CAP.ID\n csrw CAP.ID, t0"),
    ("csr-read-only", "clear", "csrr t0, CAP.FEAT0\nbad: csrc CAP.FEAT0, t0", "csrr t0, CAP.FEAT0"),
    ("csr-read-only", "field", "li t0, 0x100\nbad: csrs RTSTAT, t0", "csrr t0, RTSTAT"),
    ("csr-read-only", "indirect", "li t0, 0x7FA2\n csrw XISEL, t0\nbad: csrwi XIREG, 0",
     "li t0, 0x7FA2\n csrw XISEL, t0\n csrr t0, XIREG"),
    ("csr-read-only", "riscv", "li t0, 0x1f\nbad: csrw CAP.VERS, t0", "li t0, 0x1f\n csrw pmpcfg0, t0"),
    ("csr-reserved", "bits", "li t0, 0x1000000000000\nbad: csrs GFXCFG, t0", "li t0, -1\n csrw GFXCFG, t0"),
    ("csr-reserved", "staged", "li t0, 0x8000000000300003\nbad: csrw CAP.PREC.MODE, t0", FP32),
    ("csr-illegal", "pack", "li t0, 0x8000000000360000\nbad: csrw CAP.PREC.MODE, t0", FP32),
    ("csr-illegal", "apply", "li t0, 0x360000\n csrw CAP.PREC.MODE, t0\n li t0, 1\n slli t0, t0, 63\n"
     "bad: csrs CAP.PREC.MODE, t0", STAGE + APPLY),
    ("csr-illegal", "step", "li t0, 0x40000000\nbad: csrs SVSTATE, t0", "li t0, 0x30000000\n csrs SVSTATE, t0"),
    ("csr-illegal", "probe", "li t0, 0xff\nbad: csrw CAP.XMEM.SVMLEN, t0", "li t0, -1\n csrw CAP.XMEM.SVMLEN, t0"),
    ("job-result", "mtx", SUBMIT + "bad: lw a3, 0(a1)\n xfence.wait t3", SUBMIT + "xfence.wait t3\n lw a3, 0(a1)"),
    ("job-result", "pipe", SUBMIT + "xfence.pipe rt\nbad: lw a3, 0(a1)\n xfence.wait t3",
     SUBMIT + "xfence.pipe mtx\n lw a3, 0(a1)"),
    ("job-result", "beside", SUBMIT + "bad: lb a3, 7(a1)\n xfence.wait t3", SUBMIT + "lb a3, 8(a1)\n xfence.wait t3"),
    ("job-result", "input", SUBMIT + "bad: lw a3, 0(a1)\n xfence.wait t3", SUBMIT + "lw a3, 0(a2)\n xfence.wait t3"),
    ("job-result", "rt", SUBMIT_RT + "bad: lw a3, 4(a1)\n xfence.wait t3",
     SUBMIT_RT + "xfence.wait t3\n lw a3, 4(a1)"),
    ("job-result", "busy", SUBMIT_RT + "bad: lw a3, 4(a1)\n xfence.wait t3",
     SUBMIT_RT + "csrr t0, RTSTAT\n lw a3, 4(a1)\n xfence.wait t3"),
    ("job-result", "second", SUBMIT + "mv s1, t3\n xsubmit.mtx t3, a0\n xfence.wait s1\nbad: lw a3, 0(a1)\n"
     "xfence.wait t3", SUBMIT + "xsubmit.mtx t3, a0\n xfence.wait t3\n lw a3, 0(a1)"),
    ("job-result", "copy", COPY + "bad: lw a3, 0(a0)\n" + ALL, COPY + "xfence.pipe all, 4, 1\n lw a3, 0(a0)"),
    ("job-result", "sync_copy", COPY + "bad: lw a3, 0(a0)\n" + ALL, COPY.replace(", async=1", "") + "lw a3, 0(a0)"),
    # Who waits for what: R-XM-34, R-XM-52.
    ("job-result", "copy_bar", COPY + "xlds.bar 0\nbad: lw a3, 0(a0)\n" + ALL, LDS_COPY + "xlds.bar 0\n lw a3, 0(a0)"),
    ("job-result", "copy_pipe", COPY + "xfence.pipe all\nbad: lw a3, 0(a0)\n" + ALL, COPY + ALL + "lw a3, 0(a0)"),
    ("job-result", "copy_gfx_0", GFX + COPY + "gfx.fence 3, 0\nbad: lw a3, 0(a0)\n" + ALL,
     GFX + COPY + "gfx.fence 3, 2\n lw a3, 0(a0)"),
    ("job-result", "copy_gfx_1", GFX + COPY + "gfx.fence 3, 1\nbad: lw a3, 0(a0)\n" + ALL,
     GFX + COPY + "gfx.fence 3, 3\n lw a3, 0(a0)"),
    ("job-result", "mtx_gfx", GFX + SUBMIT + "gfx.fence 3, 2\nbad: lw a3, 0(a1)\n xfence.wait t3",
     GFX + SUBMIT + "gfx.fence 3, 3\n lw a3, 0(a1)"),
    ("job-result", "rt_gfx", GFX + SUBMIT_RT + "gfx.fence 3, 2\nbad: lw a3, 4(a1)\n xfence.wait t3",
     GFX + SUBMIT_RT + "gfx.fence 3, 3\n lw a3, 4(a1)"),
    ("job-result", "order_of_copies", COPY + LDS_COPY + "la a0, results\nbad: lw a3, 0(a0)\n xlds.bar 0",
     COPY + LDS_COPY + "xlds.bar 0\n la a0, results\n lw a3, 0(a0)"), # the first copy is complete before the second
    ("job-data", "input", SUBMIT + "bad: sw zero, 0(a2)\n xfence.wait t3", SUBMIT + "xfence.wait t3\n sw zero, 0(a2)"),
    ("job-data", "output", SUBMIT + "bad: sw zero, 4(a1)\n xfence.wait t3", SUBMIT + "sw zero, 32(a1)\n xfence.wait t3"),
    ("job-data", "descriptor", SUBMIT + "bad: sw zero, 0(a2)\n xfence.wait t3", # latched, may be changed
     SUBMIT + "sd zero, 0(a0)\n xfence.wait t3"),
    ("job-data", "ray", SUBMIT_RT + "bad: sd zero, 0(a2)\n xfence.wait t3",
     SUBMIT_RT + "xfence.wait t3\n sd zero, 0(a2)"),
    ("job-unwaited", "end", "la a0, job\nbad: xsubmit.mtx t3, a0", "la a0, job\n xsubmit.mtx t3, a0\n xfence.wait t3"),
    ("job-unwaited", "copy", COPY.replace("xlds.cpy", "bad: xlds.cpy"), COPY + ALL),
    ("job-unwaited", "barrier", COPY.replace("xlds.cpy", "bad: xlds.cpy") + "xlds.bar 0", LDS_COPY + "xlds.bar 0"),
    # SYSTEM rows run unchanged under RSV.
    ("csr-read-only", "rsv", "li t0, -1\n" + RSV + "bad: csrw CAP.ID, t0\n" + NO_RSV,
     "csrr t0, CAP.ID\n" + RSV + "csrw CAP.ID, t0\n" + NO_RSV),
    ("job-result", "busy_rsv", SUBMIT_RT + RSV + NO_RSV + "bad: lw a3, 4(a1)\n xfence.wait t3",
     SUBMIT_RT + RSV + "csrr t0, RTSTAT\n" + NO_RSV + "lw a3, 4(a1)"),
    ("prec-commit", "mret_rsv", HANDLER_RSV.format("bad: csrs CAP.PREC.MODE, t4", "nop"),
     HANDLER_RSV.format("nop", "csrs CAP.PREC.MODE, t4")),
    ("wait-ticket", "sequence", "li t0, 1\n slli t0, t0, 56\n ori t0, t0, 1\nbad: xfence.wait t0",
     "la a0, rtjob\n csrsi RTCFG, 1\n xsubmit.rt x0, a0\n li t0, 1\n slli t0, t0, 56\n ori t0, t0, 1\n xfence.wait t0"),
    ("wait-ticket", "queue", "li t0, 9\n slli t0, t0, 56\n ori t0, t0, 1\nbad: xfence.wait t0",
     "li t0, 9\n slli t0, t0, 56\n xfence.wait t0"),
]

# ---- the tile machine ----

RASTER = """
        MOVI    s1, 0x80010000          # RSTATE, then the rectangle
        MOVI    s2, 0x80020000          # framebuffer 4x4 ARGB8888
        SW      s2, 0(s1)
        ADDI    s3, s0, 16
        SW      s3, 4(s1)
        ADDI    s3, s0, 1
        SW      s3, 8(s1)
        MOVI    s3, 0x00040004
        SW      s3, 12(s1)
"""
SAMPLER = """
        MOVI    s1, 0x80010000
        CSRW    0x418, s1
        ADDI    s2, s0, 4
        CSRW    0x419, s2
        ADDI    s3, s0, 1
        CSRW    0x41A, s3
        CSRW    0x41B, s3
        CSRW    0x41C, s3
        ADDI    s4, s0, 3
        MOVI    s5, 0x11223344
"""
# Core 0 does the first half, core 1 the second, about a hundred rounds later.
TWO = """
        MOVI    s2, 0x80200000
        CSRR    s1, core_id
        BNE     s1, s0, reader
        {first}
        ADDI    s4, s0, 300
1:      ADDI    s4, s4, -1
        BNE     s4, s0, 1b
        EXIT
reader: {before}
        ADDI    s4, s0, 100
1:      ADDI    s4, s4, -1
        BNE     s4, s0, 1b
        {second}
        EXIT
"""


def two(first, second, before="NOP"):
    return TWO.format(first=first, second=second, before=before)


TILE = [
    ("csr-read-only", "tile", "ADDI s1, s0, 1\nbad: CSRW arg_size, s1\n EXIT", "CSRR s1, arg_size\n EXIT", []),
    ("csr-reserved", "tile", "MOVI s1, 0x10000\nbad: CSRW config, s1\n EXIT", "ADDI s1, s0, 0x3f8\n CSRW config, s1\n EXIT", []),
    ("csr-illegal", "tile", "ADDI s1, s0, 5\nbad: CSRW config, s1\n EXIT", "ADDI s1, s0, 4\n CSRW config, s1\n EXIT", []),
    ("csr-absent", "tile", "bad: CSRR s1, 0x123\n EXIT", "CSRR s1, int_mask\n EXIT", []),
    ("csr-read-only", "w1c", "ADDI s1, s0, 1\nbad: CSRW core_id, s1\n EXIT",
     "ADDI s1, s0, 1\n CSRW int_status, s1\n CSRRS s0, int_status, s1\n EXIT", []),
    ("arg-size", "word", "CSRR s5, arg_base\n LW s6, 0(s5)\nbad: LW s7, 4(s5)\n EXIT",
     "CSRR s5, arg_base\n LW s6, 0(s5)\n EXIT", ["--arg", "a=1"]),
    ("arg-size", "straddle", "CSRR s5, arg_base\nbad: LH s6, 3(s5)\n EXIT",
     "CSRR s5, arg_base\n LH s6, 2(s5)\n LB s6, 3(s5)\n EXIT", ["--arg", "a=1"]),
    ("arg-size", "moved", "CSRR s5, arg_base\n ADDI s5, s5, 8\nbad: LW s7, 0(s5)\n EXIT",
     "CSRR s5, arg_base\n ADDI s5, s5, 4\n LW s7, 0(s5)\n EXIT", ["--arg", "a=1", "--arg", "b=2"]),
    ("arg-size", "vector", "CSRR s5, arg_base\nbad: VLD.V v1, 16(s5)\n EXIT",
     "CSRR s5, arg_base\n VLD.V v1, 0(s5)\n EXIT", ["--arg", "a=1"]),
    ("arg-size", "other", "CSRR s5, arg_base\nbad: LW s7, 8(s5)\n EXIT",
     "CSRR s5, arg_base\n MOVI s5, 0x80300000\n LW s7, 8(s5)\n EXIT", ["--arg", "a=1"]),
    ("unpublished", "load", two("SW s1, 0(s2)", "bad: LW s3, 0(s2)"),
     two("SW s1, 0(s2)\n MEMBAR", "LW s3, 0(s2)"), ["--grid", "2x1"]),
    ("unpublished", "beside", two("SB s1, 4(s2)", "bad: LW s3, 4(s2)"), two("SB s1, 4(s2)", "LW s3, 0(s2)"),
     ["--grid", "2x1"]),
    ("unpublished", "waiting", two("SW s1, 0(s2)", "bad: LW s3, 0(s2)"), # reads until it is there
     two("ADDI s3, s0, 1\n SW s3, 0(s2)\n ADDI s4, s0, 200\n2: ADDI s4, s4, -1\n BNE s4, s0, 2b\n MEMBAR",
         "2: MEMBAR\n LW s3, 0(s2)\n BEQ s3, s0, 2b"), ["--grid", "2x1"]),
    ("stale", "load", two("ADDI s3, s0, 1\n SW s3, 0(s2)\n MEMBAR", "bad: LW s3, 0(s2)", before="LW s3, 0(s2)"),
     two("ADDI s3, s0, 1\n SW s3, 0(s2)\n MEMBAR", "MEMBAR\n LW s3, 0(s2)", before="LW s3, 0(s2)"), ["--grid", "2x1"]),
    ("unit-data", "state", RASTER + "bad: RSTATE s4, 0(s1)\n EXIT", RASTER + "MEMBAR\n RSTATE s4, 0(s1)\n EXIT", []),
    ("unit-data", "vertices", RASTER + "MEMBAR\n RSTATE s4, 0(s1)\n ADDI s5, s1, 64\n SW s3, 0(s5)\nbad: RSETUP s4, 0(s5)\n EXIT",
     RASTER + "MEMBAR\n RSTATE s4, 0(s1)\n ADDI s5, s1, 64\n SW s3, 0(s5)\n MEMBAR\n RSETUP s4, 0(s5)\n EXIT", []),
    ("unit-data", "pixels", RASTER + "ADDI s5, s1, 64\n MOVI s6, 0x1ffff\n SW s6, 0(s5)\n SW s3, 8(s5)\n MEMBAR\n RSTATE s4, 0(s1)\n"
     "SW s3, 16(s2)\nbad: RRECT s6, 0(s5)\n EXIT",
     RASTER + "ADDI s5, s1, 64\n MOVI s6, 0x1ffff\n SW s6, 0(s5)\n SW s3, 8(s5)\n MEMBAR\n RSTATE s4, 0(s1)\n"
     "MOVI s2, 0x80020040\n SW s3, 0(s2)\n RRECT s6, 0(s5)\n EXIT", []),
    ("texels", "own", SAMPLER + "SW s5, 0(s1)\nbad: TEX2D.N.I8 v1, v0, s4\n EXIT",
     SAMPLER + "SW s5, 0(s1)\n MEMBAR\n TEX2D.N.I8 v1, v0, s4\n EXIT", []),
    ("texels", "kept", SAMPLER + "TEX2D.N.I8 v1, v0, s4\n AXCHG s5, s5, (s1)\nbad: TEX2D.N.I8 v1, v0, s4\n EXIT",
     SAMPLER + "TEX2D.N.I8 v1, v0, s4\n AXCHG s5, s5, (s1)\n MEMBAR\n TEX2D.N.I8 v1, v0, s4\n EXIT", []),
    ("scratch", "word", "CSRR s1, sm_base\nbad: LW s2, 0(s1)\n EXIT",
     "CSRR s1, sm_base\n SW s0, 0(s1)\n LW s2, 0(s1)\n EXIT", ["--shared", "64"]),
    ("scratch", "vector", "CSRR s1, sm_base\nbad: VLD.V v1, 0(s1)\n EXIT",
     "CSRR s1, sm_base\n SW s0, 4(s1)\n VLD.V v1, 0(s1)\n EXIT", ["--shared", "64"]),
    ("scratch", "next_tile", "CSRR s1, sm_base\n CSRR s2, tile_offset\n BNE s2, s0, bad\n SW s0, 0(s1)\n"
     "bad: LW s2, 0(s1)\n EXIT", "CSRR s1, sm_base\n SW s0, 0(s1)\n LW s2, 0(s1)\n EXIT",
     ["--shared", "64", "--grid", "2x1", "--cores", "1"]),
    ("scratch", "atomic", "CSRR s1, sm_base\nbad: AADD s2, s1, (s1)\n EXIT",
     "CSRR s1, sm_base\n SW s0, 0(s1)\n AADD s2, s1, (s1)\n EXIT", ["--shared", "64"]),
    ("no-exit", "end", "ADDI s1, s0, 1\nbad: ADDI s1, s0, 2", "ADDI s1, s0, 1\n EXIT", []),
]


def found_in(done, what):
    check(done.stdout.startswith("{"), f"{what}: {done.stdout}{done.stderr}")
    return [(f["rule"], f["symbol"]) for f in json.loads(done.stdout)["lint"]]


def on_hart(rule, wrong, right):
    def run():
        for text, expected in ((wrong, [(rule, "bad")]), (right, [])):
            path = put("program.s", HEAD + text + TAIL)
            elf = path[:-2] + ".elf"
            made = facet("as", "--isa", "xphmg", path, "-o", elf)
            check_eq(made.returncode, 0, made.stderr)
            check_eq(found_in(facet("run", elf, "--lint", "--json", "--config", "full"), text), expected, text)
    return run


def on_tile(rule, wrong, right, options):
    def run():
        for text, expected in ((wrong, [(rule, "bad")]), (right, [])):
            path = put("kernel.s", text + "\n")
            done = facet("tile", "run", path, "--lint", "--json", *options)
            check_eq(found_in(done, text), expected, text)
            line = [i for i, t in enumerate(text.split("\n"), 1) if "bad:" in t]
            check_eq([f["line"] for f in json.loads(done.stdout)["lint"]], line if expected else [], "lines")
    return run


def rows_of(machine):
    done = facet(*machine, "--lint-rules", "--json")
    check_eq(done.returncode, 0, done.stderr)
    return {row["rule"]: row["requirement"] for row in json.loads(done.stdout)}


for _rule, _name, _wrong, _right in HART:
    add_case(f"{_rule}_{_name}".replace("-", "_"), on_hart(_rule, _wrong, _right))
for _rule, _name, _wrong, _right, _options in TILE:
    add_case(f"{_rule}_{_name}".replace("-", "_"), on_tile(_rule, _wrong, _right, _options))


@case("RT-034")
def the_report_says_where_what_and_why():
    text = HEAD + "la a0, ray\n la t0, node\n csrw RTNODE, t0\n li s1, 100\nthere: nop\n rt.bbox a1, a0\n"
    path = put("report.s", text + "addi s1, s1, -1\n bnez s1, there" + TAIL)
    elf = path[:-2] + ".elf"
    facet("as", "--isa", "xphmg", path, "-o", elf)
    done = facet("run", elf, "--lint")
    check_eq(done.returncode, 0, "exit code of --lint")
    check_eq(done.stderr.count("\n"), 1, done.stderr)
    for part in ("facet run: lint: 0x800000", "<there+4>", "rt.bbox x11, x10", "RTCFG.EN is 0", "100 times", "RT-034"):
        check(part in done.stderr, f"{part} in {done.stderr}")
    found, = json.loads(facet("run", elf, "--lint", "--json").stdout)["lint"]
    check_eq((found["rule"], found["symbol"], found["hart"], found["count"], found["requirement"]),
             ("rt-off", "there+4", 0, 100, "RT-034"))
    check_eq(facet("run", elf).stderr, "", "without --lint")
    check("lint" not in json.loads(facet("run", elf, "--json").stdout), "no list without --lint")


@case()
def findings_change_the_exit_code_when_asked():
    for end, code, with_error in (("0x5555", 0, 1), ("0x73333", 7, 7)):
        path = put("error.s", HEAD + "gfx.fence 3, 2" + TAIL.replace("0x5555", end))
        elf = path[:-2] + ".elf"
        facet("as", "--isa", "xphmg", path, "-o", elf)
        check_eq(facet("run", elf, "--lint").returncode, code, "with --lint")
        done = facet("run", elf, "--lint-error")
        check_eq(done.returncode, with_error, "with --lint-error")
        check("gfx-off" in done.stderr, done.stderr)
    kernel = put("error_kernel.s", "CSRR s1, 0x123\nEXIT\n")
    check_eq(facet("tile", "run", kernel, "--lint").returncode, 0)
    check_eq(facet("tile", "run", kernel, "--lint-error").returncode, 1)
    check_eq(facet("tile", "run", put("fine.s", "EXIT\n"), "--lint-error").returncode, 0)


@case()
def lint_and_trace_go_together():
    path = put("both.s", HEAD + "gfx.fence 3, 2" + TAIL)
    elf = path[:-2] + ".elf"
    facet("as", "--isa", "xphmg", path, "-o", elf)
    alone = facet("run", elf, "--trace", "-").stdout
    done = facet("run", elf, "--lint", "--trace", "-")
    check_eq(done.stdout, alone, "the trace")
    check("gfx-off" in done.stderr, done.stderr)
    # The trace ends early and begins late; the linter listens all the time.
    for options in (("--trace-count", "1"), ("--trace-from", "8")):
        done = facet("run", elf, "--lint", "--trace", "-", *options)
        check("gfx-off" in done.stderr, done.stderr)
    done = facet("tile", "run", put("both_kernel.s", "CSRR s1, 0x123\nEXIT\n"), "--lint", "--trace",
                 os.path.join(FOLDER.name, "trace"))
    check("csr-absent" in done.stderr, done.stderr)


@case()
def the_six_mistakes_of_twenty_lines():
    text = """
_start: gfx.shade x20, x10, OO=0
        li      t0, 0x300000
        csrw    CAP.PREC.MODE, t0
        csrwi   RTCFG, 1
        la      t1, node
        csrw    RTNODE, t1
        la      a0, ray
        rt.bbox a1, a0
        li      t0, 1
        slli    t0, t0, 63
        csrs    CAP.PREC.MODE, t0
        la      a0, rtjob
        xsubmit.rt t3, a0
        la      a1, misses
        ld      a2, 0(a1)
        li      t0, 4
        csrs    CAP.PREC.EXC.ST, t0
        li      t0, -1
        csrw    CAP.ID, t0
"""
    path = put("six.s", text + TAIL)
    elf = path[:-2] + ".elf"
    facet("as", "--isa", "xphmg", path, "-o", elf)
    found = json.loads(facet("run", elf, "--lint", "--json").stdout)["lint"]
    check_eq([f["rule"] for f in found],
             ["gfx-off", "prec-staged", "prec-commit", "job-unwaited", "job-result", "csr-w1c", "csr-read-only"])


@case()
def a_command_list_is_looked_at_too():
    kernel = put("list.s", "CSRR s1, sm_base\nLW s2, 0(s1)\nEXIT\n")
    path = put("list.json", json.dumps({
        "buffers": {"frame": {"size": 64}, "code": {"assembly": os.path.basename(kernel)}},
        "frame": {"base": "frame", "width": 4, "height": 4},
        "commands": [{"command": "DISPATCH", "descriptor": {"pc": "code", "grid": [1, 1], "shared_size": 64}}]}))
    done = facet("tile", "draw", path, "-o", os.path.join(FOLDER.name, "list.png"), "--lint", "--json")
    check_eq(found_in(done, done.stderr), [("scratch", "")])


@case()
def a_case_folder_is_looked_at_too():
    folder = os.path.join(os.environ["FACET_SOURCE"], "tests", "tile", "cases", "texture-freshness")
    done = facet("tile", "test", folder, "--lint", "--json")
    check_eq(done.returncode, 0, done.stderr)
    tried, = json.loads(done.stdout)["cases"]
    check_eq([f["rule"] for f in tried["lint"]], ["texels"])
    check("texture-freshness: 0x8000" in done.stderr, done.stderr)
    check_eq(facet("tile", "test", folder, "--lint-error").returncode, 1)
    check_eq(facet("tile", "test", folder).stderr, "")
    fine = os.path.join(os.environ["FACET_SOURCE"], "examples", "tile", "k1")
    check_eq(facet("tile", "test", fine, "--lint-error").returncode, 0)


@case()
def jobs_that_complete_late():
    """The bytes of a late job are its own: no instruction is blamed for them, and they count until the wait."""
    late = SUBMIT + "nop\n" * 8 + " li t0, 300\n1: addi t0, t0, -1\n bnez t0, 1b\n"
    for text, expected in ((SUBMIT + "xfence.wait t3\n lw a3, 0(a1)", []), (SUBMIT_RT + "xfence.wait t3\n lw a3, 4(a1)", []),
                           (late * 3 + "xfence.wait t3\n sw zero, 0(a2)", []),
                           (SUBMIT + SUBMIT_RT.replace("t3", "t4") + "xfence.wait t3\n xfence.wait t4", [])):
        path = put("late.s", HEAD + text.replace("1:", "88:").replace("1b", "88b") + TAIL)
        elf = path[:-2] + ".elf"
        made = facet("as", "--isa", "xphmg", path, "-o", elf)
        check_eq(made.returncode, 0, made.stderr)
        for seed in ("late", "late:1", "late:2", "late:3"):
            check_eq(found_in(facet("run", elf, "--lint", "--json", "--jobs", seed), text), expected, text)


def report(text, *options):
    """(rule, symbol, hart) of each finding, and the details."""
    path = put("report.s", HEAD + text + TAIL)
    elf = path[:-2] + ".elf"
    made = facet("as", "--isa", "xphmg", path, "-o", elf)
    check_eq(made.returncode, 0, made.stderr)
    done = facet("run", elf, "--lint", "--json", *options)
    check(done.stdout.startswith("{"), f"{text}: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout)["lint"]
    return [(f["rule"], f["symbol"], f["hart"]) for f in found], found


@case()
def copies_that_complete_late():
    """They are jobs from their submission on, in a machine that completes them late too, and show in the status."""
    loop = "li t0, 40000\n88: addi t0, t0, -1\n bnez t0, 88b\n"
    unwaited = COPY.replace("xlds.cpy", "bad: xlds.cpy")
    lost = COPY.replace("la a1, vectors", "li a1, 0x10")
    for seed in ("late:1", "late:2", "late:3"):
        for text, expected in ((unwaited, [("job-unwaited", "bad", 0)]), (unwaited + loop, [("job-unwaited", "bad", 0)]),
                               (COPY + COPY + loop + "bad: lw a3, 0(a0)\n" + ALL, [("job-result", "bad", 0)]),
                               (COPY + loop + ALL + "lw a3, 0(a0)", []), (LDS_COPY + loop + "xlds.bar 0\n lw a3, 0(a0)", [])):
            check_eq(report(text, "--jobs", seed)[0], expected, text)
        places, found = report(lost + loop + "bad: csrsi CAP.XMEM.EVENTS, 1\n" + ALL, "--jobs", seed)
        check_eq(places, [("csr-w1c", "bad", 0)])
        check("held 0x8 " in found[0]["detail"], found[0]["detail"]) # DMA_ERR, of the job


@case("XM-153")
def a_fence_is_of_its_hart():
    """Hart 1 knows the ticket of hart 0: only XFENCE.WAIT with it waits for that job."""
    text = ("csrr s0, mhartid\n bnez s0, 8f\n" + SUBMIT + "la s1, depth\n sd t3, 0(s1)\n li s3, 2000\n9: addi s3, s3, -1\n"
            "bnez s3, 9b\n xfence.wait t3\n j 10f\n8: la s1, depth\n7: ld s2, 0(s1)\n beqz s2, 7b\n la a1, results\n"
            "{}\nbad: lw a3, 0(a1)\n wfi\n j .\n10:")
    for wait, expected in (("xfence.wait s2", []), ("xfence.pipe all, 4, 1", [("job-result", "bad", 1)]),
                           ("csrr t0, RTSTAT", [("job-result", "bad", 1)])):
        check_eq(report(text.format(wait), "--harts", "2")[0], expected, wait)
    text = ("csrr s0, mhartid\n beqz s0, 8f\n la a0, job\nbad: xsubmit.mtx t3, a0\n{}\n wfi\n j .\n8: li s3, 2000\n"
            "9: addi s3, s3, -1\n bnez s3, 9b\n xfence.pipe all, 4, 1\n")
    check_eq(report(text.format("nop"), "--harts", "2")[0], [("job-unwaited", "bad", 1)])
    check_eq(report(text.format("xfence.pipe mtx"), "--harts", "2")[0], [])


@case("XM-153")
def a_fence_that_is_off_waits_for_nothing():
    found = report(COPY + "off: gfx.fence 3, 3\nbad: lw a3, 0(a0)\n" + ALL)[0]
    check_eq(found, [("gfx-off", "off", 0), ("job-result", "bad", 0)])


@case()
def an_image_staged_through_xireg_has_its_place():
    places, found = report(RT + "li t0, 0x7DA0\n csrw XISEL, t0\n li t0, 0x8000000000300000\n csrw XIREG, t0\n"
                           "bad: rt.bbox a1, a0")
    check_eq(places, [("prec-staged", "bad", 0)])
    before = int(str(found[0]["pc"]), 0) - 4
    check(found[0]["detail"].endswith(f"staged at {before:#x}"), found[0]["detail"])


@case()
def every_rule_is_tried():
    order = {"race", "tile-race", "out-of-tile", "lr-sc", "barrier", "register"}  # of --check-order alone: test_order.py
    check_eq(sorted(set(rows_of(("run",))) - order), sorted({row[0] for row in HART}), "rules of the hart")
    check_eq(sorted(set(rows_of(("tile", "run"))) - order), sorted({row[0] for row in TILE}), "rules of the tile machine")


main("lint_rules")
