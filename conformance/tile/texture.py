"""TEX2D: formats, wrap modes, swizzles, filters, coordinates and result types, over samplers in the table and in memory."""
import random
import struct
from fractions import Fraction

from tile_case import Case
from tile_float import F8, F16, F32, Mode
from tile_isa import ROWS, Program
from tile_raster import Memory, Sampler, filtered, signed, texel
from tile_scene import encode

IN, OUT, RESULTS = 0x80010000, 0x80020000, 0x80028000
TEXTURES, PALETTE, SAMPLERS = 0x80001000, 0x80002000, 0x80004000
WINDOW = 0x10002000
TEX_NORM, TEX_PTR = 1 << 7, 1 << 8
VRAM_BYTES = 64 << 20


class Vram(Memory):
    """64 MiB of which the first 256 KiB hold something."""

    def __init__(self):
        super().__init__(256 << 10)

    def has(self, address, size):
        at = (address & 0xFFFFFFFF) - 0x80000000
        return 0 <= at and at + size <= VRAM_BYTES

    def read(self, address, size):
        at = (address & 0xFFFFFFFF) - 0x80000000
        if not self.has(address, size):
            return None
        return int.from_bytes(self.bytes[at:at + size], "little")


def result(kind, c):
    """A colour as the bits of the result register (11.4)."""
    if kind == "I8":
        return c[3] << 24 | c[0] << 16 | c[1] << 8 | c[2]
    if kind[0] == "I":
        return sum(x << int(kind[1:]) * k for k, x in enumerate(c))
    fmt = {"F32": F32, "F16": F16, "F8": F8}[kind]
    return sum((Mode().rounded(fmt, Fraction(x, 255)) if x else 0) << fmt.width * k for k, x in enumerate(c))


class Bench:
    """Samplers in the table, lines of coordinates, handle and config; the result and status of each."""

    def __init__(self, name, rows):
        self.name, self.rows = name, rows
        self.random = random.Random(name)
        self.memory = Vram()
        self.memory.bytes[0x1000:0x3000] = bytes(self.random.getrandbits(8) for _ in range(0x2000))
        self.samplers, self.lines, self.pointed = {}, [], {}

    def sampler(self, index, **fields):
        data = {"base": TEXTURES + 64 * index, "stride": 40, "width": 5, "height": 4, "palette_base": PALETTE} | fields
        self.samplers[index] = encode("SAMPLER", **data)

    def line(self, handle, u, v, config=0):
        self.lines.append((u & 0xFFFFFFFF, v & 0xFFFFFFFF, handle, config))

    def expected(self, mnemonic, u, v, handle, config):
        if config & TEX_PTR:
            data = self.pointed.get(handle)
        else:
            data = self.samplers.get(handle, bytes(32)) if handle < 32 else None
        s = Sampler(struct.unpack("<8I", data)) if data else None
        if s is None or not s.good():
            return 0, 64
        u, v, errors = signed(u), signed(v), []
        if mnemonic.startswith("TEX2D.N"):
            if config & TEX_NORM:
                u, v = u * s.width >> 16, v * s.height >> 16
            c = texel(self.memory, s, u, v, errors)
        else:
            if config & TEX_NORM:
                u, v = u * s.width >> 8, v * s.height >> 8
            c = filtered(self.memory, s, u, v, errors)
        return result(mnemonic.split(".")[2], c), 64 if errors else 0

    def finish(self, suite, mnemonic):
        p = Program()
        p.li(5, IN)
        p.li(6, RESULTS)
        p.li(7, OUT)
        p.li(8, len(self.lines))
        start = p.at
        p.lf(26, 5, 16)
        p.lf(9, 5, 20)
        p.csrw("status", 0)
        p.csrw("config", 9)
        p.lf(17, 5, 0, "VLD.V")
        p(mnemonic, vd=19, vs1=17, rs2=26)
        p("VADD.I32", vd=20, vs1=19, vs2=0)  # used at once
        p.csrr(9, "status")
        p.st(9, 7, 0)
        p.csrw("config", 0)
        p.st(20, 6, 0, "VST.V")
        p("ADDI", rd=5, rs1=5, simm=32)
        p("ADDI", rd=6, rs1=6, simm=16)
        p("ADDI", rd=7, rs1=7, simm=4)
        p("ADDI", rd=8, rs1=8, simm=-1)
        p("BNE", rs1=8, rs2=0, bimm=start - p.at)
        p("EXIT")
        c = Case(self.name, self.rows, code=p.code(), text=p.source(), title=mnemonic)
        c.input(TEXTURES, self.memory.bytes[0x1000:0x3000])
        for index, data in self.samplers.items():
            c.input(WINDOW + 32 * index, data)
        for at, data in self.pointed.items():
            if at % 32 == 0 and 0x80000000 <= at:
                c.input(at, data)
        junk = 0x7F00FF0033005500
        c.input(IN, b"".join(struct.pack("<IIQIIQ", u, v, junk, h, config, 0) for u, v, h, config in self.lines))
        found = [self.expected(mnemonic, *line) for line in self.lines]
        c.output(OUT, b"".join(struct.pack("<I", status) for _, status in found),
                 [f"status, sampler {h:#x} at {signed(u)}, {signed(v)}" for u, v, h, _ in self.lines])
        c.output(RESULTS, b"".join(value.to_bytes(16, "little") for value, _ in found),
                 [f"lane {k}, sampler {h:#x} at {signed(u)}, {signed(v)}" for u, v, h, _ in self.lines for k in range(4)])
        suite.add(c)


PLACES = ((0, 0), (2, 1), (4, 3), (-1, -1), (5, 4), (-5, 9), (8, -7), (1000000, -1000000), (0x7FFFFFFF, -0x80000000), (3, 2))


def formats(suite):
    rows = {"RGB565": "TILE-323", "ARGB8888": "TILE-324", "PAL8": "TILE-325"}
    for form, row in rows.items():
        b = Bench(f"tile/texture/{form.lower()}", f"{row} TILE-334 TILE-317 TILE-351 TILE-318 TILE-319 TILE-330 TILE-331 TILE-544")
        b.sampler(3, format=form)
        b.sampler(4, format=form, base=TEXTURES + 1, stride=37)
        b.sampler(5, format=form, base=TEXTURES + 0x700, stride=-20 & 0xFFFFFFFF)
        for k in range(40):
            b.line(3 + k % 3, k % 5, k // 5 % 4)
        b.finish(suite, "TEX2D.N.I32")
    b = Bench("tile/texture/palettes", "TILE-335 TILE-343 TILE-325")
    for k in range(4):
        b.sampler(k, format="PAL8", palette=k)
        b.sampler(8 + k, format="PAL8", palette=k, palette_base=PALETTE - 1020 + 4 * k, base=TEXTURES)
    for k in range(48):
        b.line((0, 1, 2, 3, 8, 9, 10, 11)[k % 8], k % 5, k // 5)
    b.finish(suite, "TEX2D.N.I8")


def wrapping(suite):
    b = Bench("tile/texture/wrap", "TILE-338 TILE-339 TILE-353 TILE-354 TILE-332 TILE-333")
    for k, (u, v) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (3, 2))):
        b.sampler(k, format="ARGB8888", wrap_u=u, wrap_v=v, width=5, height=3)
        b.sampler(k + 8, format="RGB565", wrap_u=u, wrap_v=v, width=1, height=7)
        for place in PLACES:
            b.line(k, *place)
            b.line(k + 8, *place)
    b.finish(suite, "TEX2D.N.I32")
    b = Bench("tile/texture/swizzle", "TILE-336")
    for k in range(4):
        b.sampler(k, format="ARGB8888", swizzle=k)
        b.sampler(k + 4, format="RGB565", swizzle=k)
        for n in range(6):
            b.line(k + 4 * (n % 2), n, n // 2)
    b.finish(suite, "TEX2D.N.I32")
    b = Bench("tile/texture/reserved-bits", "TILE-337 TILE-340 TILE-342 TILE-321 TILE-581")
    b.sampler(0, format="ARGB8888")
    words = list(struct.unpack("<8I", b.samplers[0]))
    for k, (word, more) in enumerate(((4, 0xFFFFFFC0), (5, 0xFFFFFFF0), (6, 0xFFFFFFFF), (6, 1), (2, 0xFFFF0000), (3, 0xFFFF0000), (7, 0xFFFFFFFF), (4, 0x100)), 1):
        changed = list(words)
        changed[word] |= more
        b.samplers[k] = struct.pack("<8I", *changed)
        for place in PLACES[:6]:
            b.line(k, *place)
    b.finish(suite, "TEX2D.N.I32")


def types(suite):
    for how, numbers in (("N", "TILE-317 TILE-326"), ("B", "TILE-322 TILE-569 TILE-326")):
        for kind in ("I32", "I16", "I8", "F32", "F16", "F8"):
            mnemonic = f"TEX2D.{how}.{kind}"
            assert int(ROWS[mnemonic]["match"], 0) >> 12 & 7 == (how == "B")
            b = Bench(f"tile/texture/{mnemonic.lower()}", numbers + " TILE-025 TILE-327")
            b.sampler(0, format="ARGB8888", width=16, height=16, stride=64, base=TEXTURES)
            b.sampler(1, format="RGB565", wrap_u="repeat", wrap_v="repeat", swizzle="BGRA", filter="bilinear")
            for k in range(64 if how == "N" else 24):
                b.line(0, k % 16, k // 16) if how == "N" else b.line(k % 2, b.random.randrange(-800, 2000), b.random.randrange(-800, 2000))
            b.finish(suite, mnemonic)


def coordinates(suite):
    b = Bench("tile/texture/normalised", "TILE-352 TILE-351")
    b.sampler(0, format="ARGB8888", wrap_u="repeat", wrap_v="repeat")
    b.sampler(1, format="ARGB8888")
    b.sampler(2, format="RGB565", width=65535, height=65535, stride=0, wrap_u="clamp", wrap_v="repeat")
    for u in (0, 1, 0x8000, 0xFFFF, 0x10000, -1, -0x4000, 0x3333, 0x3334, 0x7FFFFFFF, -0x80000000):
        for v in (0x6666, -0x8001, 0xFFFF):
            b.line(0, u, v, TEX_NORM)
            b.line(1, u, v, TEX_NORM)
            b.line(1, v, u)
    b.finish(suite, "TEX2D.N.I32")
    b = Bench("tile/texture/bilinear", "TILE-569 TILE-322 TILE-352 TILE-353 TILE-354")
    b.sampler(0, format="ARGB8888", wrap_u="repeat", wrap_v="clamp")
    b.sampler(1, format="RGB565", wrap_v="repeat")
    b.sampler(2, format="PAL8", width=1, height=1, palette=3)
    for u in (0, 127, 128, 129, 256, 384, 640, -1, -128, -129, -1000, 5 * 256, 5 * 256 - 128, 0x7FFFFFFF, -0x80000000):
        for v in (128, 192, 1000, -77):
            b.line(u % 3, u, v)
    for u in (0, 0x8000, 0xFFFF, -1, 0x1234, 0x7FFFFFFF):
        b.line(0, u, 0x2345, TEX_NORM)
        b.line(1, 0x4321, u, TEX_NORM)
    b.finish(suite, "TEX2D.B.I32")


def handles(suite):
    b = Bench("tile/texture/handles", "TILE-319 TILE-349")
    for k in range(32):
        b.sampler(k, format="ARGB8888", base=TEXTURES + 20 * k)
    b.sampler(30, format=3)
    b.sampler(29, format=1, width=0)
    b.sampler(28, format=1, height=0)
    for k in range(36):
        b.line(k, 1, 1)
    b.line(0xFFFFFFFF, 0, 0)
    b.line(0x80000000, 0, 0)
    b.finish(suite, "TEX2D.N.I32")
    for how in "NB":
        b = Bench(f"tile/texture/pointers-{how.lower()}", "TILE-320 TILE-329 TILE-545 TILE-330")
        for k in range(4):
            b.pointed[SAMPLERS + 32 * k] = encode("SAMPLER", base=TEXTURES + 128 * k, stride=40, width=4, height=4, format=("ARGB8888", "RGB565", 3, "PAL8")[k],
                                                  palette_base=PALETTE)
            b.line(SAMPLERS + 32 * k, 300, 2, TEX_PTR)
            b.line(SAMPLERS + 32 * k, 1, 400, TEX_PTR)
            b.line(SAMPLERS + 32 * k + 16, 1, 1, TEX_PTR)
            b.line(SAMPLERS + 32 * k + 4, 1, 1, TEX_PTR)
        b.line(0x20000000, 0, 0, TEX_PTR)
        b.line(0x84000000, 0, 0, TEX_PTR)
        b.line(3, 0, 0, TEX_PTR)
        b.finish(suite, f"TEX2D.{how}.I8")
    b = Bench("tile/texture/outside", "TILE-330 TILE-343 TILE-531")
    end = 0x80000000 + VRAM_BYTES
    b.sampler(0, format="ARGB8888", base=end - 6, stride=4)
    b.sampler(1, format="RGB565", base=end - 3, stride=1)
    b.sampler(2, format="PAL8", palette_base=end - 512)
    b.sampler(3, format="ARGB8888", base=WINDOW)
    b.sampler(4, format="PAL8", base=0x7FFFFF00)
    for k in range(16):
        b.line(k % 5, k // 4 % 3, k // 8)
    b.finish(suite, "TEX2D.N.I32")


def preload(suite):
    """Four ways into the table, and texels that are seen only after MEMBAR."""
    p = Program()
    p.li(5, IN)
    p.li(6, OUT)
    p.li(7, WINDOW)
    for k in range(8):
        p.lf(9, 5, 4 * k)
        p("CSRRW", rd=0, csr=0x400 + 8 * 3 + k, rs1=9)       # sampler 3 by CSRRW
        p.st(9, 7, 32 * 4 + 4 * k)                            # sampler 4 by SW
    p.lf(17, 5, 0, "VLD.V")
    p.st(17, 7, 32 * 31, "VST.V")                             # sampler 31 by VST
    p.lf(17, 5, 16, "VLD.V")
    p.st(17, 7, 32 * 31 + 16, "VST.V")
    for k in range(8):
        p.st(0, 5, 4 * k)                                     # the source in memory does not matter any more
    p("MEMBAR")
    for k, handle in enumerate((3, 4, 31)):
        p("ADDI", rd=26, rs1=0, simm=handle)
        p("TEX2D.N.I32", vd=19 + k, vs1=0, rs2=26)
    for k in range(3):
        p.st(19 + k, 6, 16 * k, "VST.V")
    p("CSRRS", rd=9, csr=0x400 + 8 * 4 + 2, rs1=0)
    p.st(9, 6, 48)
    p.lf(9, 7, 32 * 3 + 12)
    p.st(9, 6, 52)
    p("EXIT")
    sampler = encode("SAMPLER", base=TEXTURES, stride=16, width=3, height=2, format="ARGB8888")
    c = Case("tile/texture/preload", "TILE-346 TILE-347 TILE-349 TILE-350 TILE-345", code=p.code(), text=p.source(), title="sampler preload")
    c.input(IN, sampler)
    c.input(TEXTURES, struct.pack("<I", 0x11223344))
    c.output(OUT, struct.pack("<4I", 0x22, 0x33, 0x44, 0x11) * 3 + struct.pack("<2I", 3, 2),
             [f"component {k}, sampler {h}" for h in (3, 4, 31) for k in "RGBA"] + ["CSR of the width", "height in the window"])
    suite.add(c)

    p = Program()
    p.li(5, TEXTURES)
    p.li(6, OUT)
    p.li(9, 0x55667788)
    p("TEX2D.N.I8", vd=1, vs1=0, rs2=0)
    p.st(9, 5, 0)
    p("TEX2D.N.I8", vd=2, vs1=0, rs2=0)
    p("BARR.SYNC")
    p("TEX2D.N.I8", vd=3, vs1=0, rs2=0)
    p("MEMBAR")
    p("TEX2D.N.I8", vd=4, vs1=0, rs2=0)
    for k in range(4):
        p("VEXTR.I32", rd=9, vs1=k + 1, lane=0)
        p.st(9, 6, 4 * k)
    p("EXIT")
    c = Case("tile/texture/membar", "TILE-045 TILE-328 TILE-537 TILE-098", code=p.code(), text=p.source(), title="texels after a store")
    c.input(WINDOW, sampler)
    c.input(TEXTURES, struct.pack("<I", 0x11223344))
    c.output(OUT, struct.pack("<4I", 0x11223344, 0x11223344, 0x11223344, 0x55667788), ["before", "after the store", "after BARR.SYNC", "after MEMBAR"])
    suite.add(c)


def add(suite):
    for part in (formats, wrapping, types, coordinates, handles, preload):
        part(suite)
