"""The command queue: memory commands, fences, the ring, indirect draws, dispatches, and the registers that the host sees."""
import struct

from tile_graphics import BAD_ARG
from tile_isa import Program
from tile_list import List, words
from tile_scene import Scene, encode, vertex

END = 0x80020000  # of the VRAM of these lists
LAST_ERROR, INT_STATUS = 0x014, 0x008
CMDQ_BASE, CMDQ_SIZE, CMDQ_PROD, COMPLETION_BASE, ABORT, WDOG, DOORBELL = 0x100, 0x104, 0x108, 0x12C, 0x130, 0x138, 0x140


def plain(name, rows, size=256):
    """A list whose frame is a block of words that commands change."""
    s = List(name, rows)
    s.base = s.buffer("memory", bytes((7 * k + 3) & 255 for k in range(size)))
    s.frame(s.base, size // 16, 4)
    s.observe("status", "answers", "slots")
    return s


def memory(suite):
    s = plain("tile/queue/memory", "TILE-532")
    s.command("WRITE_MEM", s.base + 8, payload=[0x11111111, 0x22222222, 0xFFFFFFFF])
    s.command("READ_MEM", s.base, count=6)
    s.command("COPY_BUFFER", s.base + 64, s.base, count=5)
    s.command("COPY_BUFFER", s.base + 100, s.base + 96, count=8)   # ascending: the overlap repeats
    s.command("COPY_BUFFER", s.base + 160, s.base + 168, count=6)
    s.command("READ_MEM", s.base + 252, count=1)
    s.command("READ_MEM", s.base, count=0)
    s.command("WRITE_MEM", s.base, payload=[])
    s.command("COPY_BUFFER", s.base, s.base + 4, count=0)
    s.command("BARRIER")
    s.command("NOP", 1, 2, 3)
    s.command("WRITE_MEM", 0x10002000 + 32 * 5, payload=[1, 2, 3, 4, 5, 6, 7, 8])
    s.command("READ_MEM", 0x10002000 + 32 * 5 + 4, count=3)
    s.command("COPY_BUFFER", s.base + 200, 0x10002000 + 32 * 5, count=8)
    suite.add(s)

    s = plain("tile/queue/many-answers", "TILE-532", 8192)
    for k in range(66):  # more than there is room for: the queue waits for the host, which takes nothing
        s.command("READ_MEM", s.base + 64 * k, count=255)
    suite.add(s)

    s = plain("tile/queue/memory-refused", "TILE-532 TILE-541")
    for at in (s.base + 1, s.base + 2, END, END - 4, 0x7FFFFFFC, 0x20000000, 0, 0x100023FC, 0x3000FFFC):
        s.command("WRITE_MEM", at, payload=[1, 2])
        s.command("READ_MEM", at, count=2)
        s.command("COPY_BUFFER", at, s.base, count=2)
        s.command("COPY_BUFFER", s.base, at, count=2)
    s.command("READ_MEM", END - 4, count=1)
    s.command("READ_MEM", s.base + 2, count=0)
    suite.add(s)


def fences(suite):
    s = plain("tile/queue/emit", "TILE-397")
    s.command("NOP", flags=["EMIT"], fence=3)
    s.command("NOP", flags=["EMIT", "IRQ"], fence=255)
    s.command("WRITE_MEM", s.base, flags=["EMIT"], fence=3, payload=[9])
    s.command("WRITE_MEM", 2, flags=["EMIT", "IRQ"], fence=4, payload=[9])  # after a failure too
    s.command(0x99, flags=["EMIT"], fence=5)
    s.command("NOP", flags=["WAIT"], fence=3)
    s.command("NOP", flags=["WAIT", "EMIT"], fence=3)
    s.host("REGISTER", offset=LAST_ERROR, value=0)
    s.host("REGISTER", offset=INT_STATUS, value=2)
    s.command("NOP")
    suite.add(s)

    s = plain("tile/queue/wait", "TILE-396")
    s.command("WRITE_MEM", s.base, flags=["WAIT"], fence=7, payload=[0x77])  # nobody has emitted into it
    s.command("WRITE_MEM", s.base + 4, payload=[0x78])
    s.host("REGISTER", offset=INT_STATUS, value=4)
    s.host("SIGNAL", slot=8, value=1)
    s.host("SIGNAL", slot=7, value=0x80000000)
    s.host("SIGNAL", slot=7, value=1)
    s.command("NOP", flags=["EMIT"], fence=9)
    s.command("NOP", flags=["EMIT"], fence=9)
    s.host("SIGNAL", slot=9, value=1)
    s.command("WRITE_MEM", s.base + 8, flags=["WAIT", "EMIT"], fence=9, payload=[0x79])  # slot below its last fence
    s.host("SIGNAL", slot=9, value=2)
    s.command("NOP", flags=["WAIT"], fence=9)
    suite.add(s)

    s = plain("tile/queue/wait-fence", "TILE-396 TILE-397")
    s.command("NOP", flags=["EMIT"], fence=1)
    s.command("WAIT_FENCE", 1, 1)
    s.command("WAIT_FENCE", 1, 0)
    s.command("WAIT_FENCE", 1, 0x90000000)
    s.command("WAIT_FENCE", 256, 1)
    s.command("WAIT_FENCE", 1, 3)
    s.command("WRITE_MEM", s.base, payload=[5])
    s.host("SIGNAL", slot=1, value=2)
    s.host("SIGNAL", slot=1, value=3)
    s.command("WAIT_FENCE", 1, 2)
    suite.add(s)

    s = plain("tile/queue/no-slots", "TILE-397")
    s.host("REGISTER", offset=COMPLETION_BASE, value=0)
    s.command("NOP", flags=["EMIT"], fence=1)
    s.command("NOP", flags=["WAIT"], fence=200)
    s.command("WAIT_FENCE", 0, 1)
    s.command("NOP", flags=["EMIT"], fence=2)
    s.command("WAIT_FENCE", 0, 2)
    for bad in (END - 8, 0x20000000, s.base + 2):
        s.host("REGISTER", offset=COMPLETION_BASE, value=bad)
        s.command("NOP", flags=["EMIT"], fence=1)
        s.command("NOP", flags=["EMIT"], fence=2)
        s.command("WRITE_MEM", s.base + 12, flags=["WAIT"], fence=2, payload=[1])
        s.command("WAIT_FENCE", 2, 0)
    s.host("REGISTER", offset=COMPLETION_BASE, value=s.base + 64)
    s.command("NOP", flags=["EMIT"], fence=3)
    suite.add(s)


def ring(suite):
    s = plain("tile/queue/opcodes", "TILE-492 TILE-532")
    for opcode in (3, 0x21, 0x25, 0x27, 0x29, 0x31, 0x33, 0x3F, 0x46, 0x80, 0xFF):
        s.command(opcode, 0x80000000, 1, 2, payload=[0x28, 0, 0, 0] if opcode & 1 else None)
    s.command("WRITE_MEM", s.base, payload=[0xAA])
    s.host("REGISTER", offset=LAST_ERROR, value=0xFFFFFFFF)
    s.command(0x46, count=200)
    s.command("NOP", payload=[1, 2, 3])
    s.command("WRITE_MEM", s.base, count=4)  # a length without a payload writes nothing
    suite.add(s)

    s = plain("tile/queue/wrap", "TILE-532 TILE-397")
    for k in range(12):  # 4 KiB hold four of these: words wrap at the end of the ring
        s.command("WRITE_MEM", s.base, payload=[0x1000 * k + n for n in range(60 + 11 * k)][:64])
        s.command("WRITE_MEM", END - 1024, flags=["EMIT"], fence=k, payload=[k] * 251)
        s.command("READ_MEM", s.base + 4 * k, count=3)
    suite.add(s)

    s = plain("tile/queue/incomplete", "TILE-532")
    own = s.buffer("ring", words(0x03000901, s.base, 0, 0, 0x21, 0x22, 0x23, 0x00010200, 0, 0, 0, *[0] * 5), size=64)
    s.host("REGISTER", offset=CMDQ_SIZE, value=64)
    s.host("REGISTER", offset=CMDQ_BASE, value=own)
    for prod in (8, 12):  # within a header
        s.host("REGISTER", offset=CMDQ_PROD, value=prod)
    s.host("REGISTER", offset=CMDQ_BASE, value=own)
    s.host("REGISTER", offset=CMDQ_PROD, value=24)   # within a payload
    s.host("REGISTER", offset=CMDQ_BASE, value=own)
    s.host("REGISTER", offset=CMDQ_PROD, value=28 + 16 + 64)   # two commands, modulo the size
    s.host("REGISTER", offset=LAST_ERROR, value=0)
    for base, size in ((own + 16, 64), (own, 96), (own, 32), (0x20000000, 64), (END - 32, 64)):
        s.host("REGISTER", offset=CMDQ_BASE, value=base)
        s.host("REGISTER", offset=CMDQ_SIZE, value=size)
    s.host("REGISTER", offset=0x40, value=7)  # no register
    suite.add(s)


def draws(suite):
    s = Scene("tile/queue/indirect", "TILE-438 TILE-457", 16, 16, fill=0)
    data = b"".join(struct.pack("<4fI", x, y, 0.0, 1.0, c) for x, y, c in
                    ((-1.0, 1.0, 0x01010000), (1.0, 1.0, 0x01000100), (-1.0, -1.0, 0x01000001), (1.0, -1.0, 0x10101010), (0.0, 0.0, 0x20000000)))
    s.rstate(blend="additive")
    s.gstate(vbo_base=s.buffer("vertices", data), stride=20, attributes="COLOR")
    array = [encode("GDRAW", count=3, vtx_base=k, topology="list" if k != 1 else "strip") + bytes(8) for k in range(3)]
    at = s.put(b"".join(array), 32)
    counts = [s.put(words(n), 4) for n in (0, 1, 3, 2)]
    for k, count in enumerate(counts):
        s.command("GDRAW", at + (32 if k == 3 else 0), count)
    s.command("GDRAW", at, counts[2], 2)     # all of them strips
    bad = s.put(array[0][:12] + words(7) + array[0][16:] + array[1], 32)
    s.command("GDRAW", bad, counts[3])       # the first fails, the second is drawn
    s.command("GDRAW", at, counts[1] + 2)
    s.command("GDRAW", at, 0x20000000)
    s.command("GDRAW", END - 32, counts[3])
    s.command("GDRAW", END - 16, counts[0])
    s.command("GDRAW", 3, counts[0])
    s.command("GDRAW", at + 8, counts[2])
    s.command("WRITE_MEM", counts[0], payload=[0x10000000])
    s.command("GDRAW", at, counts[0])
    suite.add(s)

    s = Scene("tile/queue/fenced-draws", "TILE-396 TILE-397 TILE-463 TILE-393", 8, 8)
    s.observe("slots")
    s.rstate()
    block = s.put(b"".join(vertex(x=x, y=y, color=0xFF00FF00) for x, y in ((0.0, 0.0), (8.0, 0.0), (0.0, 8.0))), 32)
    rect, tri = s.put(encode("RRECT", xy=(1, 1), wh=(3, 3), color=0xFF0000FF), 16), s.put(encode("RDRAW"), 16)
    s.gstate(vbo_base=s.put(struct.pack("<12f", -1, 1, 0, 1, 1, 1, 0, 1, 1, -1, 0, 1), 16), stride=16)
    draw = s.put(encode("GDRAW", count=3), 16)
    s.command("RDRAW", tri, block, flags=["EMIT"], fence=1)
    s.command("RRECT", rect, 0xFFFFFFFF, flags=["WAIT", "EMIT"], fence=1)
    s.command("GDRAW", draw, flags=["WAIT", "EMIT", "IRQ"], fence=1)
    s.command("GDRAW", draw + 4, flags=["EMIT"], fence=2)
    s.command("RRECT", rect, 0xFFFFFFFF, flags=["WAIT"], fence=9)
    s.command("READ_MEM", s.base, count=1)
    s.host("SIGNAL", slot=9, value=1)
    s.command("GDRAW", draw, flags=["WAIT", "EMIT"], fence=11)  # nobody has emitted into it
    s.command("RRECT", rect, 0xFFFFFFFF)
    s.host("SIGNAL", slot=11, value=1)
    suite.add(s)

    s = Scene("tile/queue/load-sampler", "TILE-348 TILE-345", 8, 8)
    image = s.texture("texture", 4, 4)
    good = s.put(encode("SAMPLER", **image), 32)
    for index, at in ((32, good), (0xFFFFFFFF, good), (5, good + 16), (5, 0x20000000), (5, END - 16), (31, good), (0, good)):
        s.command("LOAD_SAMPLER", index, at)
        s.command("READ_MEM", 0x10002000 + 32 * (index & 31), count=8)
    s.command("WRITE_MEM", good, payload=[0] * 8)  # it was copied
    s.rstate(flags="TEXTURE", sampler=31)
    s.rectangle(0, 0, 8, 8, flags="TEXTURED", uv=(0, 0))
    s.observe("answers")
    suite.add(s)


# ---- dispatches ----

def machine(name, rows, program, size=64):
    s = List(name, rows)
    s.base = s.buffer("memory", bytes((5 * k + 1) & 255 for k in range(size)))
    s.frame(s.base, size // 16, 4)
    s.kernel = s.place()
    p = Program(s.kernel)
    program(s, p)
    s.buffer("kernel", p.code())
    s.observe("status", "answers", "cores")
    return s


def packet(s, name="packet", effect=None, flags=(), fence=0, **fields):
    at = s.buffer(name, encode("PACKET", **({"pc": s.kernel, "grid": (1, 1)} | fields)))
    s.command("DISPATCH", at, effect=effect, flags=flags, fence=fence)
    return at


def adds(s, p):
    """memory[0] += memory[1], plainly."""
    p.li(5, s.base)
    p.lf(6, 5, 0)
    p.lf(7, 5, 4)
    p("ADD", rd=6, rs1=6, rs2=7)
    p.st(6, 5, 0)
    p("EXIT")


def dispatches(suite):
    s = machine("tile/queue/dispatch", "TILE-041 TILE-042 TILE-532 TILE-541 TILE-039 TILE-492", adds)

    def add_words(q, s=s):
        q.memory.write(s.base, q.memory.read(s.base, 4) + q.memory.read(s.base + 4, 4) & 0xFFFFFFFF, 4)
        return 0
        yield  # a generator, as kernels that wait are
    s.command("WRITE_MEM", s.base, payload=[1000, 7])
    s.command("BARRIER")
    at = packet(s, effect=add_words)
    s.command("BARRIER")
    s.command("READ_MEM", s.base, count=1)
    s.command("WRITE_MEM", s.base + 4, payload=[30])
    s.command("DISPATCH", at, effect=add_words, flags=["EMIT", "IRQ"], fence=1)
    s.command("DISPATCH", at, effect=add_words, flags=["WAIT"], fence=1)
    s.command("READ_MEM", s.base, count=2)
    packet(s, "empty", effect=lambda q: iter(()), grid=(0, 3))
    packet(s, "also_empty", effect=lambda q: iter(()), grid=(3, 0))
    suite.add(s)

    s = machine("tile/queue/packets-refused", "TILE-512 TILE-526 TILE-529", adds)
    for k, fields in enumerate((dict(pc=s.kernel + 2), dict(pc=0x20000000), dict(pc=END), dict(shared_size=32769), dict(const_base=s.base, const_size=END - s.base + 1),
                                dict(const_base=0x20000000, const_size=16), dict(const_base=s.base + 8, const_size=16), dict(grid=(2, 1), tile=(65535, 0), shared_size=40000),
                                dict(grid=(4097 + 1, 1)), dict(grid=(1, 4098)), dict(grid=(3, 1), tile=(40000, 1)))):
        packet(s, f"packet{k}", effect=BAD_ARG, **fields)
    good = s.buffer("good", encode("PACKET", pc=s.kernel, grid=(1, 1)) * 2)
    s.command("DISPATCH", good + 16, effect=BAD_ARG)
    s.command("DISPATCH", 0x20000000, effect=BAD_ARG)
    s.command("DISPATCH", END - 32, effect=BAD_ARG)
    suite.add(s)

    def breaks(s, p):
        p.li(5, s.base)
        p("ADDI", rd=6, rs1=0, simm=77)
        p.st(6, 5, 4)
        p("CSRRS", rd=7, csr=0xC00, rs1=0)
        p("BNE", rs1=7, rs2=0, bimm=8)
        s.bad = p.raw(0)
        p("JAL", rd=0, jimm=0)
    s = machine("tile/queue/dispatch-fault", "TILE-532 TILE-538", breaks)

    def broken(q, s=s):
        q.memory.write(s.base + 4, 77, 4)
        q.cores[0:4] = [1, 0, s.bad, 1 << 9]
        return 0x21
        yield  # a generator, as kernels that wait are
    packet(s, effect=broken, flags=["EMIT"], fence=4)
    s.command("READ_MEM", s.base, count=2)
    s.host("REGISTER", offset=INT_STATUS, value=1)
    suite.add(s)

    def endless(s, p):
        s.loop = p("JAL", rd=0, jimm=0)
    s = machine("tile/queue/watchdog", "TILE-530", endless)

    def barked(cores, s=s):
        def effect(q, s=s):
            q.cores[:] = [x if k % 4 == 3 else 0 for k, x in enumerate(q.cores)]  # status stays where no tile starts
            for core in cores:
                q.cores[4 * core:4 * core + 4] = [9, s.loop, s.loop, 1 << 11]
            return 0x29
            yield  # a generator, as kernels that wait are
        return effect
    packet(s, "all", effect=barked((0, 1, 2, 3)), grid=(4, 1), wdog=50)
    packet(s, "two", effect=barked((1, 3)), grid=(4, 1), wdog=9, core_mask=0xA, priority=255)
    s.host("REGISTER", offset=WDOG, value=20)
    packet(s, "default", effect=barked((0, 1)), grid=(2, 1))
    suite.add(s)

    def stores(s, p):
        p.csrr(7, "core_id")
        p.li(5, s.base)
        p("SHLI", rd=6, rs1=7, uimm=2)
        p("ADD", rd=5, rs1=5, rs2=6)
        p("ADDI", rd=7, rs1=7, simm=0x41)
        p.st(7, 5, 0)
        endless(s, p)
    s = machine("tile/queue/watchdog-publishes", "TILE-530", stores)

    def stored(q, s=s):
        for core in range(4):
            q.cores[4 * core:4 * core + 4] = [9, s.loop, s.loop, 1 << 11]
            q.memory.write(s.base + 4 * core, 0x41 + core, 4)
        return 0x29
        yield
    packet(s, "all", effect=stored, grid=(4, 1), wdog=50)
    s.command("READ_MEM", s.base, count=4)
    suite.add(s)

    def waits(s, p):
        p.li(5, s.base)
        p("ADDI", rd=6, rs1=0, simm=1)
        p("CSRRW", rd=0, csr=8, rs1=6)
        p("WFI")
        p("CSRRS", rd=7, csr=9, rs1=0)
        p.st(7, 5, 0)
        p("CSRRW", rd=0, csr=9, rs1=6)
        p("CSRRS", rd=7, csr=9, rs1=0)
        p.st(7, 5, 4)
        s.second = p("WFI")
        p.st(6, 5, 8)
        p("EXIT")
    s = machine("tile/queue/doorbell", "TILE-491 TILE-485 TILE-102", waits)

    def woken(q, s=s):
        yield 1
        q.memory.write(s.base, 1, 4)
        q.memory.write(s.base + 4, 0, 4)
        q.rung = 0
        yield 1
        q.memory.write(s.base + 8, 1, 4)
        return 0
    packet(s, effect=woken)
    s.command("READ_MEM", s.base, count=3)
    s.host("DOORBELL", cores=14)
    s.host("REGISTER", offset=DOORBELL, value=1)
    s.host("DOORBELL", cores=1)
    suite.add(s)

    s = machine("tile/queue/abort", "TILE-491", waits)

    def given_up(q, s=s):
        yield 1
        q.cores[0:4] = [10, s.kernel + 20, s.kernel + 20, 0]
        return 0x2A
    packet(s, effect=given_up, flags=["EMIT", "IRQ"], fence=6)
    s.host("DOORBELL", cores=8)
    s.host("REGISTER", offset=ABORT, value=1)
    s.command("READ_MEM", s.base, count=2)
    suite.add(s)


def add(suite):
    for part in (memory, fences, ring, draws, dispatches):
        part(suite)
