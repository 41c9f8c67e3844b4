"""What moves bytes: XLDS.CPY, XMEM.DSTOREC and DLOADC, XSWZ, over one stretch of memory that is seen after each of them, with the cause of a
trap and EVENTS. Ranges overlap, streams are damaged, addresses lead nowhere (R-XM-20, 22, 25, 44, 49, 50)."""
from hart import Case
from hart_numbers import seeded

NAMES = ("xphmg/copies",)
SIZE = 1024
INV_MISS, DMA_ERR, COMP_ERR = 1, 8, 16
MAGIC = 0x3143565A
NOWHERE = 0x20000000  # no memory or device is there
LOAD, STORE = 5, 7


def overlap(a, a_size, b, b_size):
    return a_size and b_size and a < b + b_size and b < a + a_size


# ---- what the instructions do: (memory after, cause, events) ----

def copy(memory, to, source, size):
    out = bytearray(memory)
    out[to:to + size] = memory[source:source + size]
    return out


def packed(raw):
    out = b""
    for i in range(0, len(raw), 8):
        group = raw[i:i + 8]
        out += bytes([sum(1 << k for k, b in enumerate(group) if b)]) + bytes(b for b in group if b)
    header = b"".join(x.to_bytes(4, "little") for x in (MAGIC, len(raw), len(out), 0))
    return header + out


def unpacked(payload, size):
    """None: it does not give exactly so many bytes."""
    out, at = b"", 0
    for i in range(0, size, 8):
        if at >= len(payload):
            return None
        mask, at = payload[at], at + 1
        count = min(8, size - i)
        if mask >> count or at + bin(mask).count("1") > len(payload):
            return None
        for k in range(count):
            if mask >> k & 1:
                out, at = out + payload[at:at + 1], at + 1
            else:
                out += b"\0"
    return out if at == len(payload) else None


def compress(memory, to, source, size):
    stream = packed(bytes(memory[source:source + size]))
    if overlap(to, len(stream), source, size):
        return memory, COMP_ERR
    out = bytearray(memory)
    out[to:to + len(stream)] = stream
    return out, 0


def expand(memory, to, source, size):
    head = [int.from_bytes(memory[source + 4 * k:source + 4 * k + 4], "little") for k in range(4)]
    if head[0] != MAGIC or head[1] != size or head[3] or overlap(to, size, source, 16 + head[2]):
        return memory, COMP_ERR
    raw = unpacked(bytes(memory[source + 16:source + 16 + head[2]]), size)
    if raw is None:
        return memory, COMP_ERR
    out = bytearray(memory)
    out[to:to + size] = raw
    return out, 0


def spread(x):
    return sum((x >> k & 1) << 2 * k for k in range(12))


def places(shape):
    """(x, y, offset in the texture or None for padding, offset in the tensor), in their order"""
    morton, dense, log, width, height, pitch = shape
    size = 1 << log
    pitch = pitch or width * size
    wide, high = (width, height) if dense else ((width + 3) // 4 * 4, (height + 3) // 4 * 4)
    for y in range(high):
        for x in range(wide):
            inside = x < width and y < height
            texture = (spread(x) | spread(y) << 1) * size if morton else y * pitch + x * size
            tensor = y * width + x if dense else 16 * (y // 4 * (wide // 4) + x // 4) + 4 * (y % 4) + x % 4
            yield texture if inside else None, tensor * size


def swizzle(memory, to, source, shape, to_tensor):
    """None where it leaves the stretch."""
    out, size = bytearray(memory), 1 << shape[2]
    for texture, tensor in places(shape):
        if texture is None and not to_tensor:
            continue
        a, b = (source + (texture or 0), to + tensor) if to_tensor else (source + tensor, to + texture)
        if a + size > len(out) or b + size > len(out):
            return None
        out[b:b + size] = bytes(size) if texture is None else out[a:a + size]
    return out


# ---- programs ----

class Stretch:
    def __init__(self, name, rows):
        self.c, self.random = Case("xphmg/copies/" + name, rows), seeded("copies", name)
        # half of the bytes are zero
        self.start = bytes(self.random.getrandbits(8) * self.random.getrandbits(1) for _ in range(SIZE))
        self.c.table("start", self.start)
        self.c.table("stretch", bytes(SIZE))

    def run(self, text, operands, memory, events, cause=None, tval=0, patch=(), what=""):
        """`operands`: (register, offset or number, whether it is an offset). The stretch is as at the start, but for `patch`, a list of
        (offset, bytes)."""
        c, n = self.c, len(self.c.body)
        c.asm(f"la t0, start\n la t1, stretch\n li t2, {SIZE // 8}\nfill_{n}:\n ld t3, 0(t0)\n sd t3, 0(t1)\n addi t0, t0, 8\n addi t1, t1, 8\n addi t2, t2, -1\n bnez t2, fill_{n}")
        for at, data in patch:
            for k, byte in enumerate(data):
                c.asm(f"la t0, stretch + {at + k}\n li t1, {byte}\n sb t1, 0(t0)")
        c.csrw("0x7ee", 0xFF)
        for register, value, is_offset in operands:
            c.asm(f"la {register}, stretch\n li t0, {value}\n add {register}, {register}, t0" if is_offset else f"li {register}, {value:#x}")
        c.trap(text, cause, what)
        if cause is not None:
            c.asm("ld s5, -16(t6)")
            c.observe("s5", tval, f"value of the trap of {what}")
        c.csrr("0x7ee", events, f"EVENTS after {what}")
        at, label = 8 * len(c.seen), f"look_{n}"
        c.asm(f"la t0, stretch\n li t1, {at}\n add t1, t1, t6\n li t2, {SIZE // 8}\n{label}:\n ld t3, 0(t0)\n sd t3, 0(t1)\n addi t0, t0, 8\n addi t1, t1, 8\n addi t2, t2, -1\n bnez t2, {label}")
        c.seen += [(f"byte {k} after {what}", int.from_bytes(memory[k:k + 8], "little")) for k in range(0, SIZE, 8)]

    def patched(self, patch):
        out = bytearray(self.start)
        for at, data in patch:
            out[at:at + len(data)] = data
        return out

    def three(self, text, to, source, size, memory, events, patch=(), what=""):
        self.run(text, (("a0", to, True), ("a1", source, True), ("a2", size, False)), memory, events, patch=patch, what=f"{what or text} of {size} bytes, {source} to {to}")

    def nowhere(self, text, operand):
        """Bad places: the source is told first."""
        for to, source in ((NOWHERE, 64), (64, NOWHERE), (NOWHERE + 8, NOWHERE)):
            bad_source = source >= NOWHERE
            self.run(text, (("a0", to, to < NOWHERE), ("a1", source, not bad_source), ("a2", operand, False)), self.start, INV_MISS, LOAD if bad_source else STORE,
                     source if bad_source else to, what=f"{text.split()[0]} from {source:#x} to {to:#x}")


def lds_copy(suite):
    s = Stretch("move", "XM-079 XM-100 XM-101 XM-102")
    for n in range(24):
        size, swz = s.random.choice((0, 1, 7, 8, 15, 64, 100, 333)), n & 1
        source = s.random.randrange(0, SIZE - size)
        to = max(0, min(SIZE - size, source + s.random.choice((-9, -1, 0, 1, 5, 64, 300, -200))))
        s.three(f"xlds.cpy a0, a1, a2, swz={swz}", to, source, size, copy(s.start, to, source, size), 0)
    s.nowhere("xlds.cpy a0, a1, a2", 24)
    s.run("xlds.cpy a0, a1, a2, async=1\n xfence.pipe all,4,1", (("a0", 8, True), ("a1", NOWHERE, False), ("a2", 16, False)), s.start, DMA_ERR, what="an asynchronous copy from nowhere")
    suite.add(s.c)


def streams(suite):
    s = Stretch("compress", "XM-121 XM-122")
    for n in range(22):
        size = s.random.choice((0, 1, 7, 8, 9, 16, 63, 64, 65, 200))
        source, to = s.random.randrange(0, 300), s.random.choice((s.random.randrange(560, 700), s.random.randrange(0, 400)))
        if n % 5 == 4:  # the stream begins or ends where the raw bytes do
            length = len(packed(s.start[source:source + size]))
            source = source + 260
            to = source + s.random.choice((size, size - 1, -length, 1 - length))
        memory, events = compress(s.start, to, source, size)
        s.three("xmem.dstorec (a0), a1, a2, mode=1", to, source, size, memory, events)
    for mode, events in ((0, 0), (2, COMP_ERR), (3, COMP_ERR)):
        s.three(f"xmem.dstorec (a0), a1, a2, mode={mode}", 40, 37, 50, copy(s.start, 40, 37, 50), events)
        s.three(f"xmem.dloadc a0, (a1), a2, mode={mode}", 35, 37, 50, copy(s.start, 35, 37, 50), events)
    s.nowhere("xmem.dstorec (a0), a1, a2, mode=1", 30)
    suite.add(s.c)
    s = Stretch("expand", "XM-121 XM-122")
    for n in range(40):
        size = s.random.choice((0, 1, 7, 8, 9, 16, 63, 64, 65, 130))
        raw = bytes(s.random.getrandbits(8) * (s.random.random() < 0.6) for _ in range(size))
        stream, at = bytearray(packed(raw)), s.random.randrange(0, 200)
        wanted, what = size, "a good stream"
        if n % 2:
            what = ("magic", "raw length", "longer payload", "shorter payload", "fourth word", "mask", "last mask", "length asked")[n // 2 % 8]
            if what in ("magic", "raw length", "fourth word"):
                k = {"magic": 0, "raw length": 4, "fourth word": 12}[what] + s.random.randrange(4)
                stream[k] ^= 1 << s.random.randrange(8)
            elif what.endswith("payload"):
                stream[8:12] = max(0, len(stream) - 16 + (1 if what[0] == "l" else -1)).to_bytes(4, "little")
            elif what == "length asked":
                wanted = size + s.random.choice((1, 8))
            elif size:
                k = 16 if what == "mask" else len(stream) - 1 - bin(int.from_bytes(bytes(bool(b) for b in raw[(size - 1) // 8 * 8:]), "little")).count("1")
                stream[k] ^= 1 << s.random.randrange(8)
        to = s.random.choice((s.random.randrange(500, 800), at + 16 + len(stream) - 16, at - wanted if at > wanted else 600, at + s.random.randrange(-8, 20) if at > 8 else 700))
        patch = ((at, bytes(stream)),)
        memory, events = expand(s.patched(patch), to, at, wanted)
        s.three("xmem.dloadc a0, (a1), a2, mode=1", to, at, wanted, memory, events, patch, f"dloadc, {what},")
    suite.add(s.c)


def layouts(suite):
    for to_tensor in (True, False):
        s, count = Stretch("to-tensor" if to_tensor else "to-texture", f"XM-{119 if to_tensor else 120}"), 0
        word = "xswz.tex2ten" if to_tensor else "xswz.ten2tex"
        while count < 30:
            morton, dense, log = s.random.randrange(2), s.random.randrange(2), s.random.randrange(4)
            width, height = s.random.randrange(1, 10), s.random.randrange(1, 10)
            pitch = s.random.choice((0, 0, width << log, (width << log) + s.random.randrange(9), s.random.randrange(1, 20)))
            source = s.random.randrange(0, 500)
            to = s.random.choice((s.random.randrange(0, 600), max(0, source + s.random.randrange(-40, 40))))
            shape = (morton, dense, log, width, height, pitch)
            memory = swizzle(s.start, to, source, shape, to_tensor)
            if memory is None:
                continue
            count += 1
            number = morton | dense << 4 | log << 8 | width << 16 | height << 32 | pitch << 48
            s.run(f"{word} a0, a1, a2", (("a0", to, True), ("a1", source, True), ("a2", number, False)), memory, 0, what=f"{word} of {shape}, {source} to {to}")
        good = 1 << 4 | 4 << 16 | 4 << 32
        for flip in (2, 8, 2 << 4, 1 << 10, 1 << 11, 1 << 12, 1 << 28, 1 << 31, 1 << 44, 1 << 47):
            s.run(f"{word} a0, a1, a2", (("a0", 8, True), ("a1", 300, True), ("a2", good ^ flip, False)), s.start, INV_MISS, what=f"{word} of shape {good ^ flip:#x}")
        for number in (good & ~(15 << 16), good & ~(15 << 32)):
            s.run(f"{word} a0, a1, a2", (("a0", 8, True), ("a1", 300, True), ("a2", number, False)), s.start, INV_MISS, what=f"{word} without elements")
        s.nowhere(f"{word} a0, a1, a2", good)
        suite.add(s.c)


def add(suite):
    for part in (lds_copy, streams, layouts):
        part(suite)
