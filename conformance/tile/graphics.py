"""Raster and geometry instructions in kernels: their words, tokens and slots, error reports, and which memory they see."""
import struct

from tile_case import Case
from tile_graphics import Context
from tile_isa import Program, word
from tile_raster import BAD_ALIGN, BAD_DESC, BAD_FORMAT, BAD_MEM, BAD_STATE, RANGE, Memory
from tile_scene import encode, vertex

BASE, AT, FRAME, OUT = 0x80000000, 0x80010000, 0x80014000, 0x80018000
SIDE = 12
WORDS = {"RSTATE": (0x00000014, 360), "RSETUP": (0x00001014, 361), "RDRAW": (0x00002014, 362), "RRECT": (0x00003014, 364),
         "GSTATE": (0x00004014, 414), "GPARAM": (0x00005014, 416), "GDRAW": (0x00006014, 417)}


class Kernel:
    """Descriptors in memory, a kernel that uses them, and the picture by the model of tile_graphics.py."""

    def __init__(self, name, rows):
        self.c = Case(f"tile/graphics/{name}", rows, title=name)
        self.p = Program()
        self.data = bytearray()
        self.memory = Memory(0x20000)
        self.context = Context(self.memory, [0] * 256)
        self.results, self.labels, self.after = [], [], []
        self.p.li(30, OUT)

    def put(self, data, align=64):
        self.data += bytes(-len(self.data) % align) + data
        return AT + len(self.data) - len(data)

    def keep(self, register, expected, label):
        self.p.st(register, 30, 4 * len(self.results))
        self.results.append(expected & 0xFFFFFFFF)
        self.labels.append(label)

    def do(self, mnemonic, address, expected, rd=19, uimm=0):
        """The instruction at the address; its result is kept, and the model follows."""
        self.p.li(17, address - uimm)
        self.p.raw(WORDS[mnemonic][0] | rd << 7 | 17 << 15 | uimm << 20, f"{mnemonic} s{rd}, {uimm}(s17)")
        self.keep(rd, expected, f"rd of {mnemonic}")
        if expected != 0xFFFFFFFF:
            self.after.append((mnemonic, address, expected))

    def csr(self, name, expected):
        self.p.csrr(28, name)
        self.keep(28, expected, name)

    def finish(self, suite, picture=True):
        self.p("EXIT")
        at = AT - BASE
        self.memory.bytes[at:at + len(self.data)] = self.data
        for mnemonic, address, expected in self.after:
            c = self.context
            if mnemonic in ("RSTATE", "GSTATE", "GPARAM"):
                c.load(mnemonic, expected, address)
            elif mnemonic == "RSETUP":
                c.setup = c.block(address)
            else:
                getattr(c, mnemonic.lower())(address)
        c = self.c
        c.code, c.asm = self.p.code(), self.p.source()
        c.input(AT, self.data)
        c.output(OUT, struct.pack(f"<{len(self.results)}I", *self.results), self.labels)
        if picture:
            size = 4 * SIDE * SIDE
            c.output(FRAME, self.memory.bytes[FRAME - BASE:FRAME - BASE + size], [f"pixel {k % SIDE}, {k // SIDE}" for k in range(SIDE * SIDE)])
        suite.add(c)


def state(**fields):
    return encode("RSTATE", **(dict(fb_base=FRAME, fb_stride=4 * SIDE, fb_format=1, fb_wh=(SIDE, SIDE)) | fields))


def block(*points, color=0xFF00FF00):
    return b"".join(vertex(x=float(x), y=float(y), color=color + 0x1234 * k) for k, (x, y) in enumerate(points))


def geometry(k, **fields):
    data = b"".join(struct.pack("<4fI", x, y, 0.0, 1.0, 0xFF2040C0 + n) for n, (x, y) in enumerate(((-1.0, 1.0), (1.0, 0.0), (-1.0, -1.0), (.5, -1.0))))
    mvp = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return encode("GSTATE", **(dict(vbo_base=k.put(data), stride=20, attributes="COLOR", mvp=mvp) | fields))


def instructions(suite):
    for mnemonic, (match, _) in WORDS.items():
        assert word(mnemonic, rd=1, rs1=3) == match | 1 << 7 | 3 << 15
    k = Kernel("raster", "TILE-355 TILE-356 TILE-357 TILE-358 TILE-360 TILE-361 TILE-362 TILE-364 TILE-574 TILE-386")
    first, second = k.put(state(), 32), k.put(state(const_color=0xFF556677), 32)
    k.do("RSTATE", first, 0)
    k.do("RSTATE", second, 1, uimm=0)
    k.do("RSETUP", k.put(block((0, 0), (9, 0), (0, 9)), 32), 1)
    k.csr("gfx_token", 1)
    k.do("RSETUP", k.put(block((12, 12), (5, 12), (12, 4)), 32), 2)
    k.do("RDRAW", k.put(bytes(16) + encode("RDRAW"), 16) + 16, 3, uimm=16)
    k.do("RDRAW", k.put(encode("RDRAW", state_id=1, flags="STATE_COLOR", vtx_ptr=k.put(block((1, 6), (4, 6), (1, 11)), 32)), 16), 4)
    k.do("RRECT", k.put(encode("RRECT", xy=(5, 1), wh=(3, 2), color=0xFF112233), 16), 5)
    k.do("RRECT", k.put(encode("RRECT", state_id=0, xy=(9, 0), wh=(3, 2), color=0xFF332211), 16), 6)
    k.csr("gfx_token", 6)
    k.csr("gerror", 0)
    k.finish(suite)

    k = Kernel("geometry", "TILE-398 TILE-414 TILE-415 TILE-416 TILE-417 TILE-439 TILE-440 TILE-404")
    k.do("RSTATE", k.put(state(), 32), 0)
    indices = k.put(struct.pack("<6H", 0, 1, 2, 1, 3, 2))
    k.do("GSTATE", k.put(geometry(k, index_base=indices), 64), 0)
    k.do("GSTATE", k.put(geometry(k, index_base=indices, cull="CCW"), 64), 1)
    k.do("GPARAM", k.put(encode("GPARAM", material=0xFF80FF40, flags="MATERIAL"), 32), 0)
    k.do("GPARAM", k.put(encode("GPARAM", material=0xFFFF8040, flags="MATERIAL"), 32), 1)
    k.do("GDRAW", k.put(encode("GDRAW", count=6, flags="INDEXED", gstate=0, gparam=0), 16), 1)
    k.do("GDRAW", k.put(encode("GDRAW", count=3, flags="INDEXED", idx_base=3), 16), 2)
    k.csr("gfx_token", 2)
    k.finish(suite)

    k = Kernel("slots", "TILE-358 TILE-387 TILE-415")
    states = [k.put(state(fb_wh=(n % 12 + 1, 12), blend="additive"), 32) for n in range(18)]
    for n, at in enumerate(states):
        k.do("RSTATE", at, n % 16)  # the 17th takes the place of the first
    g = k.put(geometry(k), 64)
    for n in range(17):
        k.do("GSTATE", g, n % 16)
    for n in (0, 1, 2, 15):
        k.do("RRECT", k.put(encode("RRECT", state_id=n, xy=(0, n % 12), wh=(12, 1), color=0x01020304), 16), (0, 1, 2, 15).index(n) + 1)
    k.do("RRECT", k.put(encode("RRECT", xy=(0, 5), wh=(12, 1), color=0x01020304), 16), 5)
    k.finish(suite)


def errors(suite):
    bad = 0xFFFFFFFF
    k = Kernel("errors", "TILE-448 TILE-450 TILE-452 TILE-454 TILE-456 TILE-458")
    plain = k.put(state(), 64)
    tri, rect = k.put(encode("RDRAW"), 16), k.put(encode("RRECT", wh=(3, 3), color=0xFF00FF00), 16)
    g, gp, draw = k.put(geometry(k), 64), k.put(encode("GPARAM"), 64), k.put(encode("GDRAW", count=3), 16)
    setup = k.put(block((0, 0), (5, 0), (0, 5)), 64)
    steps = [("RDRAW", tri, BAD_STATE), ("RRECT", rect, BAD_STATE), ("GDRAW", draw, BAD_STATE), ("RSTATE", plain + 16, BAD_ALIGN), ("RSTATE", 0x20000000, BAD_MEM),
             ("RSTATE", k.put(state(fb_format=2), 32), BAD_FORMAT), ("RSETUP", setup + 16, BAD_ALIGN), ("RSETUP", 0x83FFFFC0, BAD_MEM), ("GSTATE", g + 32, BAD_ALIGN),
             ("GSTATE", 0x83FFFFC0, BAD_MEM), ("GPARAM", gp + 16, BAD_ALIGN), ("GPARAM", 0x7FFFFFE0, BAD_MEM), ("RSTATE", plain, 0), ("RDRAW", tri, BAD_STATE),
             ("RDRAW", rect, BAD_DESC), ("RRECT", tri, BAD_DESC), ("RDRAW", tri + 8, BAD_ALIGN), ("RRECT", rect + 4, BAD_ALIGN), ("GSTATE", g, 0),
             ("GDRAW", draw + 8, BAD_ALIGN), ("GDRAW", k.put(encode("GDRAW", count=3, topology=2), 16), BAD_FORMAT), ("GDRAW", 0x83FFFFF0, BAD_MEM),
             ("GDRAW", k.put(encode("GDRAW", count=3, gparam=3), 16), BAD_STATE),
             ("RDRAW", k.put(encode("RDRAW", vtx_ptr=setup + 8), 16), BAD_ALIGN), ("RDRAW", k.put(encode("RDRAW", vtx_ptr=0x20000000), 16), BAD_MEM)]
    for mnemonic, at, code in steps:
        k.do(mnemonic, at, 0 if code == 0 else bad)
        k.csr("gerror", code | 0x100 if code else 0)
        k.csr("status", 0x80 if code else 0)
        k.csr("int_status", 4 if code else 0)
        k.p("ADDI", rd=28, rs1=0, simm=-1)
        k.p.csrw("gerror", 28)  # any write clears it
        k.p.csrw("int_status", 28)
        k.p.csrw("status", 0)
    k.csr("gfx_token", 0)
    k.finish(suite)

    k = Kernel("error-count", "TILE-450 TILE-361")
    k.do("RSTATE", k.put(state(), 32), 0)
    far = k.put(b"".join(vertex(x=x, y=0.0) for x in (1e9, 0.0, 5.0)), 32)
    k.do("RSETUP", far, 1)
    draw = k.put(encode("RDRAW"), 16)
    k.do("RDRAW", draw, 2)  # RANGE is reported, the draw does not fail
    k.csr("gerror", 0x100 | RANGE)
    k.do("RSETUP", far + 4, bad)
    k.csr("gerror", 0x200 | RANGE)  # the first code stays
    k.do("RDRAW", draw, 3)
    k.csr("gerror", 0x300 | RANGE)
    k.csr("gfx_token", 3)
    k.do("GSTATE", k.put(geometry(k, vbo_base=0x20000000), 64), 0)
    k.do("GDRAW", k.put(encode("GDRAW", count=32), 16), 4)  # ten triangles, each reported
    k.csr("gerror", 0xD00 | RANGE)
    k.do("GDRAW", k.put(encode("GDRAW", count=32, topology="strip"), 16), 5)
    k.csr("gerror", 0x2B00 | RANGE)
    k.finish(suite)


def ordering(suite):
    """Plain stores reach the unit after MEMBAR; its pixels reach a core that has cached them after MEMBAR."""
    k = Kernel("membar", "TILE-393 TILE-394 TILE-395 TILE-566 TILE-460 TILE-462 TILE-098")
    k.p.li(20, FRAME)
    rect = k.put(encode("RRECT", xy=(0, 0), wh=(2, 2), color=0xFF111111), 16)
    k.do("RSTATE", k.put(state(), 32), 0)
    k.p.lf(21, 20, 0)
    k.keep(21, 0, "pixel before")
    k.p.li(22, 0xFF222222)
    k.p.li(23, rect)
    k.p.st(22, 23, 12)          # another colour, not published
    k.do("RRECT", rect, 1)
    k.p.lf(21, 20, 0)
    k.keep(21, 0, "pixel from the core's own copy")
    k.p("MEMBAR")
    k.p.lf(21, 20, 0)
    k.keep(21, 0xFF111111, "pixel after MEMBAR, drawn with the old colour")
    k.do("RRECT", rect, 2)
    k.p("MEMBAR")
    k.p.lf(21, 20, 0)
    k.keep(21, 0xFF222222, "pixel drawn after MEMBAR, with the new colour")
    k.do("GSTATE", k.put(geometry(k), 64), 0)
    k.do("GDRAW", k.put(encode("GDRAW", count=3), 16), 3)
    k.p.lf(21, 20, 4 * SIDE * 5)
    k.p("MEMBAR")
    k.p.lf(22, 20, 4 * SIDE * 5)
    k.p("SUB", rd=21, rs1=22, rs2=21)
    k.keep(21, 0, "the line was not cached: no difference")
    k.after = []
    k.finish(suite, picture=False)


def add(suite):
    instructions(suite)
    errors(suite)
    ordering(suite)
