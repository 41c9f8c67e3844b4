"""System instructions by their words: CSRs, SETMISC, counters, barriers, what a kernel finds at its entry, and tiles over cores."""
import random
import struct

import tables
from tile_case import Case
from tile_isa import Program, word
from tile_list import List
from tile_scene import encode

OUT = 0x80020000
CSRRW, CSRRS = 0x0000100F, 0x0000200F


class Kernel:
    """A kernel that stores one word after the other."""

    def __init__(self, name, rows):
        self.c = Case(f"tile/system/{name}", rows, title=name)
        self.p = Program()
        self.values, self.labels = [], []
        self.p.li(30, OUT)

    def keep(self, register, expected, label):
        self.p.st(register, 30, 0)
        self.p("ADDI", rd=30, rs1=30, simm=4)
        self.values.append(expected & 0xFFFFFFFF)
        self.labels.append(label)

    def access(self, match, csr, rd, rs1):
        self.p.raw(match | csr << 20 | rs1 << 15 | rd << 7, f"{'CSRRW' if match == CSRRW else 'CSRRS'} s{rd}, {csr:#x}, s{rs1}")

    def finish(self, suite):
        self.p("EXIT")
        self.c.code, self.c.asm = self.p.code(), self.p.source()
        self.c.output(OUT, struct.pack(f"<{len(self.values)}I", *self.values), self.labels)
        suite.add(self.c)


def registers(suite):
    """Reset values, writes by CSRRW and CSRRS, and what cannot be written."""
    r = random.Random("csr")
    legal_rm = (0, 1, 2, 3, 4, 0, 0, 0)

    def kept(name, old, value):
        if name == "status":
            return value & 0xF0000FFF
        if name == "fstatus":
            return value & 0x1F | legal_rm[value >> 5 & 7] << 5
        if name == "vstatus":
            return value & 0x107
        if name == "config":
            return value & 0x3F8 | legal_rm[value & 7]
        if name == "int_mask":
            return value & 7
        return value
    k = Kernel("csr", "TILE-097 TILE-099 TILE-100 TILE-480 TILE-481 TILE-565 TILE-509 TILE-485")
    shared = 0
    for name, number in (("status", 0), ("vstatus", 2), ("vstride", 5), ("int_mask", 8), ("config", 3), ("fstatus", 1)):
        now = 0 if name != "fstatus" else shared << 5
        k.access(CSRRS, number, 19, 0)
        k.keep(19, now, f"{name} at the start")
        for value in (0xFFFFFFFF, 0, 0x55555555, 0xAAAAAAAA, *(r.getrandbits(32) for _ in range(6)), 0x87, 0x64, 3):
            if name == "config":
                value &= ~0x200  # misaligned accesses stay allowed
            k.p.li(17, value)
            k.access(CSRRW, number, 19, 17)
            k.keep(19, now, f"{name} before CSRRW of {value:#x}")
            now = kept(name, now, value)
            k.access(CSRRS, number, 20, 0)
            k.keep(20, now, f"{name} after CSRRW of {value:#x}")
            more = r.getrandbits(32) & ~(0x200 if name == "config" else 0)
            k.p.li(17, more)
            k.access(CSRRS, number, 19, 17)
            k.keep(19, now, f"{name} before CSRRS of {more:#x}")
            now = kept(name, now, now | more)
            k.access(CSRRW, number, 20, 0)
            k.keep(20, now, f"{name} after CSRRS of {more:#x}")
            k.access(CSRRW, number, 0, 17)
            now = kept(name, 0, more)
        if name == "config":
            shared = now & 7
            k.access(CSRRS, 1, 20, 0)
            k.keep(20, shared << 5, "RM as fstatus shows it")
    k.p.li(17, 0x33)
    k.access(CSRRW, 10, 0, 17)
    k.p("RSTATE", rd=0, rs1=0, uimm=4)  # reports BAD_ALIGN
    for label in ("gerror", "gerror again: CSRRS with s0 writes nothing"):
        k.access(CSRRS, 10, 19, 0)
        k.keep(19, 0x101, label)
    k.finish(suite)

    k = Kernel("csr-errors", "TILE-521 TILE-567 TILE-027")
    named = {int(row["addr"], 0) for row in tables.rows("tile.csr.tsv") if row["addr"].startswith("0x") and "+" not in row["addr"]}
    named |= set(range(0x400, 0x500))
    read_only = [n for n in sorted(named) if n >= 0xC00]
    for number in read_only + [4, 6, 7, 0xB, 0x3FF, 0x500, 0xC0B, 0xC0F, 0xC18, 0xC1F, 0xC24, 0xFFF]:
        k.access(CSRRW, 0, 0, 0)
        k.access(CSRRS, number, 19, 0)
        k.access(CSRRS, 0, 20, 0)
        k.keep(20, 0 if number in named else 0x100, f"status after reading CSR {number:#x}")
        k.access(CSRRW, 0, 0, 0)
        k.access(CSRRS, number, 19, 30)
        k.access(CSRRS, 0, 20, 0)
        k.keep(20, 0x100, f"status after setting bits of CSR {number:#x}")
        k.access(CSRRW, 0, 0, 0)
        k.access(CSRRW, number, 19, 0)
        k.access(CSRRS, 0, 20, 0)
        k.keep(20, 0x100, f"status after writing CSR {number:#x}")
    for number in (4, 0xB, 0xFFF):
        k.p.li(19, 0x12345678)
        k.access(CSRRW, number, 19, 30)
        k.keep(19, 0, f"CSR {number:#x} reads as zero")
    k.finish(suite)

    k = Kernel("setmisc", "TILE-101 TILE-486 TILE-487 TILE-489 TILE-488")
    now = 0
    for wen, val in ((7, 1), (0x10, 0x10), (8, 0x3F), (0x20, 0x20), (0, 0x3F), (7, 5), (0x18, 8), (0x3F, 0x2C), (3, 3), (4, 4), (0x3F, 0)):
        k.p.raw(0x0000300F | 19 << 7 | wen << 26 | val << 20, f"SETMISC s19, {wen:#x}, {val:#x}")
        k.keep(19, now, f"config before SETMISC {wen:#x}, {val:#x}")
        new = now & ~wen | val & wen
        now = new & ~7 | legal_rm[new & 7]
        k.access(CSRRS, 3, 20, 0)
        k.keep(20, now, f"config after SETMISC {wen:#x}, {val:#x}")
    k.finish(suite)


def counters(suite):
    k = Kernel("counters", "TILE-484 TILE-522 TILE-567")
    p = k.p
    p.li(17, OUT + 0x1000)
    kinds = {"perf_load": 0xC12, "perf_store": 0xC13, "perf_atomic": 0xC14, "perf_tex": 0xC15, "perf_gfx": 0xC16, "perf_branch": 0xC17}
    p.lf(19, 17, 0)
    p.lf(19, 17, 16, "VLD.V")
    p("LBU.R", rd=19, rs1=17, rs2=0)
    p.st(0, 17, 4)
    p("AADD", rd=0, rs2=0, rs1=17)
    p("VATOM.OR", vd=0, vs3=0, rs1=17, uimm=16)
    p("TEX2D.N.I32", vd=1, vs1=0, rs2=0)  # a bad sampler counts too
    p("RSTATE", rd=0, rs1=0, uimm=0)      # and a descriptor outside memory
    p("JAL", rd=0, jimm=4)
    p("BEQ", rs1=0, rs2=0, bimm=4)
    p("BNE", rs1=0, rs2=0, bimm=4)        # not taken
    expected = {"perf_load": 3, "perf_store": 1, "perf_atomic": 2, "perf_tex": 1, "perf_gfx": 1, "perf_branch": 2}
    registers = 20
    for n, number in enumerate(kinds.values()):
        p("CSRRS", rd=registers + n, csr=number, rs1=0)
    here = len(p.words)
    p("CSRRS", rd=28, csr=0xC10, rs1=0)
    p("CSRRS", rd=29, csr=0xC08, rs1=0)
    for n, name in enumerate(kinds):
        k.keep(registers + n, expected[name], name)
    k.keep(28, here, "instret_lo")
    k.keep(29, here + 1, "time_lo: one instruction in a round")
    p("CSRRS", rd=28, csr=0xC11, rs1=0)
    k.keep(28, 0, "instret_hi")
    p("CSRRS", rd=28, csr=0xC09, rs1=0)
    k.keep(28, 0, "time_hi")
    k.finish(suite)


def entry(suite):
    k = Kernel("entry", "TILE-509 TILE-515 TILE-516 TILE-517 TILE-518 TILE-519 TILE-520 TILE-527 TILE-528 TILE-523 TILE-007")
    c = k.c
    c.packet = {"args": [0x11, 0x22, 0x33], "arg_address": "0x80011000", "shared_size": 0x1234, "const_address": "0x80012000", "const_size": 0x40}
    for number, value, label in ((0, 0, "status"), (1, 0, "fstatus"), (2, 0, "vstatus"), (3, 0, "config"), (5, 0, "vstride"), (8, 0, "int_mask"), (10, 0, "gerror"),
                                 (0xC00, 0, "core_id"), (0xC01, 0, "tile_offset"), (0xC02, 0x80011000, "arg_base"), (0xC03, 12, "arg_size"), (0xC04, 0x8000, "sm_base"),
                                 (0xC05, 0x1234, "sm_size"), (0xC06, 0x80012000, "const_base"), (0xC07, 0x40, "const_size"), (0xC23, 0, "gfx_token"),
                                 (0xC20, 0, "fault_cause")):
        k.p("CSRRS", rd=19, csr=number, rs1=0)
        k.keep(19, value, label)
    k.p("CSRRS", rd=19, csr=0xC0A, rs1=0)
    k.keep(19, 32 | 4 << 8 | 0xF << 12 | 1 << 16, "hwinfo")
    k.p("CSRRS", rd=17, csr=0xC02, rs1=0)
    k.p.lf(19, 17, 8)
    k.keep(19, 0x33, "the third argument")
    k.finish(suite)

    k = Kernel("sixteen-registers", "TILE-006")
    k.p = Program()
    k.p.li(10, OUT)
    k.p("CSRRS", rd=9, csr=0xC0A, rs1=0)
    k.p("ANDI", rd=9, rs1=9, simm=0xFF)
    k.p.st(9, 10, 0)
    at = k.p("ADDI", rd=16, rs1=0, simm=1)
    k.p.st(10, 10, 4)
    k.c.options = {"regs": 16}
    k.c.fault(0, 1, at, word("ADDI", rd=16, rs1=0, simm=1))
    k.values, k.labels = [16, 0], ["hwinfo.NREGS", "not reached"]
    k.finish(suite)


def tiles(suite):
    """Each tile notes its core and its place."""
    for name, columns, lines, size, mask, rows in (("tiles", 3, 2, (0, 0), 0, "TILE-034 TILE-052 TILE-053 TILE-513 TILE-514 TILE-526"),
                                                   ("tiles-masked", 5, 3, (8, 24), 0xA, "TILE-053 TILE-514 TILE-526"),
                                                   ("tiles-one-core", 2, 4, (100, 1), 4, "TILE-053 TILE-514")):
        p = Program()
        width, height = size[0] or 16, size[1] or 16
        p.li(6, OUT)
        p("CSRRS", rd=8, csr=0xC01, rs1=0)
        p("LSRI", rd=9, rs1=8, uimm=16)
        p("SHLI", rd=10, rs1=8, uimm=16)
        p("LSRI", rd=10, rs1=10, uimm=16)
        p.li(12, 37)                       # a place of its own for each pair
        p("MUL", rd=11, rs1=9, rs2=12)
        p("ADD", rd=11, rs1=11, rs2=10)
        p("SHLI", rd=11, rs1=11, uimm=3)
        p("ADD", rd=6, rs1=6, rs2=11)
        p("CSRRS", rd=13, csr=0xC00, rs1=0)
        p("ADDI", rd=13, rs1=13, simm=1)
        p.st(8, 6, 0)
        p.st(13, 6, 4)
        p("EXIT")
        c = Case(f"tile/system/{name}", rows, code=p.code(), text=p.source(), title=name)
        c.grid, c.tile = (columns, lines), size
        if mask:
            c.packet = {"core_mask": mask}
        cores = [k for k in range(4) if not mask or mask >> k & 1]
        for t in range(columns * lines):
            x, y = t % columns * width, t // columns * height
            c.output(OUT + 8 * (37 * y + x), struct.pack("<2I", y << 16 | x, cores[t % len(cores)] + 1),
                     [f"tile_offset of tile {t}", f"core of tile {t}, and one"])
        suite.add(c)


def visibility(suite):
    """A kernel that waits: the host sees what was published, and nothing else."""
    s = List("tile/system/host-while-waiting", "TILE-040 TILE-541 TILE-491")
    base = s.buffer("memory", bytes(range(192)))
    s.frame(base, 16, 3)
    s.observe("status")
    p = Program(s.place())
    p.li(5, base)
    p.li(6, 0x77777777)
    p.st(6, 5, 0)
    p("MEMBAR")                                # publishes it
    p.st(6, 5, 4)
    p.li(8, base + 64)
    p.st(6, 8, 4)
    p("AXCHG", rd=7, rs2=6, rs1=8, ord=0)      # publishes its line
    p.li(8, base + 128)
    p.st(6, 8, 12)
    p("ADDI", rd=9, rs1=0, simm=1)
    p("CSRRW", rd=0, csr=8, rs1=9)
    p("WFI")
    p("EXIT")
    kernel = s.buffer("kernel", p.code())
    packet = s.buffer("packet", encode("PACKET", pc=kernel, grid=(1, 1)))

    def waits(q):
        for at in (0, 64, 68):
            q.memory.write(base + at, 0x77777777, 4)
        yield 1
    s.command("DISPATCH", packet, effect=waits)
    suite.add(s)


def add(suite):
    for part in (registers, counters, entry, tiles, visibility):
        part(suite)
