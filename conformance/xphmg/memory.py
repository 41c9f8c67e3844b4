"""XMEM: loads and stores with hints, gathers and scatters by the rule of R-XM-16, atomics by a table of functions, tokens, fences and jobs.
Regions are allocated: no address is taken for granted but that of RAM and of what xlds.alloc gives."""
from effective import APPLY
from exact import FP32, Arith
from hart import Case, MASK64
from hart_numbers import seeded

NOWHERE = 0x20000000  # no memory there (docs/conformance.md)


def sext(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


# ---- loads, stores, atomics ----

LOADS = {"b": (1, True), "h": (2, True), "w": (4, True), "d": (8, True), "bu": (1, False), "hu": (2, False), "wu": (4, False)}


def plain(suite):
    c = Case("xphmg/memory/ldg", "XM-103 XM-024 XM-080 XM-105 XM-106 XM-107 XM-108 XM-109 XM-110")
    value = 0x8182838485868788
    c.store(0, 8, value)
    c.asm("la a0, data")
    for kind, (size, signed) in LOADS.items():
        for hint in (0, 1, 2, 4, 8, 16, 32, 63):
            for at in range(0, 8, size):
                part = value >> 8 * at & (1 << 8 * size) - 1
                c.asm(f"addi a1, a0, {at}\n xmem.ldg.{kind} a2, (a1), hint={hint}")
                c.observe("a2", sext(part, 8 * size) if signed else part, f"ldg.{kind} at {at}, hint {hint}")
    for kind, (size, _) in LOADS.items():
        if size > 1:
            c.trap(f"la a1, data + 1\n xmem.ldg.{kind} a2, (a1)", 4, f"ldg.{kind} off its alignment", tval="data + 1")
    suite.add(c)
    c = Case("xphmg/memory/stg", "XM-104 XM-024 XM-080")
    c.asm("la a0, data\n li a3, 0x8182838485868788")
    for kind, size in (("b", 1), ("h", 2), ("w", 4), ("d", 8)):
        for hint in (0, 1, 2, 4, 8, 16, 32, 63):
            at = 8 - size
            c.asm(f"li t0, 0x1122334455667788\n sd t0, 0(a0)\n addi a1, a0, {at}\n xmem.stg.{kind} a3, (a1), hint={hint}\n ld a2, 0(a0)")
            keep = (1 << 8 * at) - 1
            c.observe("a2", 0x1122334455667788 & keep | (0x8182838485868788 & (1 << 8 * size) - 1) << 8 * at, f"memory after stg.{kind}, hint {hint}")
        if size > 1:
            c.trap(f"la a1, data + 1\n xmem.stg.{kind} a3, (a1)", 6, f"stg.{kind} off its alignment", tval="data + 1")
    suite.add(c)
    c = Case("xphmg/memory/masked", "XM-056 XM-057 XM-054 XM-060 XM-053 XM-055")
    for zmode in (0, 1):
        for bank in (1, 2, 3):
            c.asm(f"li t0, {APPLY | 1 << 19 | zmode << 3:#x}\n csrw 0x7d0, t0\n li t0, 0b0101\n pmlow.wr {bank}, t0\n la a0, data\n li a1, {NOWHERE:#x}\n addi a2, a0, 8\n li a3, {NOWHERE:#x}\n li t0, 77\n sd t0, 0(a0)\n "
                  f"li t0, 88\n sd t0, 8(a0)\n li a4, 1\n li a5, 2\n li a6, 3\n li a7, 4\n svsetvl x0, 4")
            c.trap(f"svon.one\n xmem.ldg.d a4, (a0), pbank={bank}", None, "a load whose masked lanes point nowhere")
            for r, value in (("a4", 77), ("a5", 0 if zmode else 2), ("a6", 88), ("a7", 0 if zmode else 4)):
                c.observe(r, value, f"a lane of it, ZMODE {zmode}")
            c.asm("li a4, 5\n li a6, 6")
            c.trap(f"svon.one\n xmem.stg.d a4, (a0), pbank={bank}", None, "a store whose masked lanes point nowhere")
            c.load(0, 8, 5, "what lane 0 stored")
            c.load(8, 8, 6, "what lane 2 stored")
    suite.add(c)


ATOMS = {"add": (88, lambda o, v, u, n: o + v), "swap": (89, lambda o, v, u, n: v), "and": (90, lambda o, v, u, n: o & v), "or": (91, lambda o, v, u, n: o | v),
         "xor": (92, lambda o, v, u, n: o ^ v), "min": (93, lambda o, v, u, n: min(sext(o, n), sext(v, n))), "max": (94, lambda o, v, u, n: max(sext(o, n), sext(v, n))),
         "minu": (95, lambda o, v, u, n: min(o, v)), "maxu": (96, lambda o, v, u, n: max(o, v)), "cas": (97, lambda o, v, u, n: v if o == u else o)}
VALUES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x8000000000000000, MASK64, 0x0123456789ABCDEF)


def atomics(suite):
    for op, (row, rule) in ATOMS.items():
        c = Case(f"xphmg/memory/atoms-{op}", f"XM-{row:03d} XM-078 XM-098 XM-099")
        c.asm("li a0, 64\n xlds.alloc s3, a0")
        for width, n in (("w", 32), ("d", 64)):
            mask = (1 << n) - 1
            for k, o in enumerate(VALUES):
                for v in VALUES[k % 2::2]:
                    u = o if v & 1 else v
                    c.asm(f"li a0, {o:#x}\n sd a0, 0(s3)\n li a1, {v:#x}\n li a2, {u:#x}\n xlds.atoms.{op}.{width} a2, (s3), a1\n ld a3, 0(s3)")
                    new = rule(o & mask, v & mask, u & mask, n) & mask
                    c.observe("a2", sext(o, n), f"what {op}.{width} of {o:#x} and {v:#x} returns")
                    c.observe("a3", o & ~mask & MASK64 | new, "memory after it")
            c.trap(f"addi a0, s3, 1\n xlds.atoms.{op}.{width} a2, (a0), a1", 6, f"{op}.{width} off its alignment")
            c.trap(f"la a0, data\n xlds.atoms.{op}.{width} a2, (a0), a1", 7, f"{op}.{width} outside LDS", tval="data")
        suite.add(c)


# ---- gathers and scatters ----

def gathers(suite):
    widths = {0: 64, 1: 8, 2: 16, 3: 32}
    rows = {0: "", 1: " CAP-428", 2: " CAP-429", 3: " CAP-430", 4: " CAP-431"}
    for scale in range(5):
        c, rng = Case(f"xphmg/memory/svm-scale-{scale}", "XM-061 XM-062 XM-063 XM-064 XM-065 XM-071 XM-022" + rows[scale]), seeded("svm", scale)
        table = bytes((37 * i + scale) & 255 for i in range(2048))
        c.table("source", table)
        for n in range(14):
            signed, idx_ew, from_memory, length, ew = rng.randrange(2), rng.randrange(4), rng.randrange(2), rng.choice((0, 1, 2, 4, 8)), rng.randrange(4)
            size, middle, pet = length or 1 << ew, 1024, rng.choice((0, 3))
            if pet == 0 and ew == 0:
                continue
            idx = []
            for _ in range(4):
                low = rng.randrange(min(8, 1 << 5 - scale) if scale < 4 else 2) * max(1, size >> scale)
                value = -low - (size >> scale or 1) if signed and rng.random() < 0.5 else low
                idx.append(value & MASK64)
            bits = widths[idx_ew]
            expected = []
            for x in idx:
                x &= (1 << bits) - 1
                off = (sext(x, bits) if signed else x) << scale
                expected.append((off, int.from_bytes(table[middle + off:middle + off + size], "little") if 0 <= middle + off <= 2048 - size else None))
            if any(v is None or off % size for off, v in expected):
                continue
            c.asm(f"li t0, {APPLY | pet << 21 | ew << 19:#x}\n csrw 0x7d0, t0\n la t0, source + {middle}\n csrw 0x7f0, t0\n li t0, {scale | signed << 3:#x}\n csrw 0x7f2, t0\n li t0, {length}\n csrw 0x7f3, t0\n "
                  f"li t0, {from_memory << 4 | idx_ew << 5:#x}\n csrw 0x7f4, t0\n svsetvl x0, 4")
            if from_memory:
                label = f"indices_{len(c.tables)}"
                c.table(label, b"".join((x & (1 << bits) - 1).to_bytes(bits // 8, "little") for x in idx))
                c.asm(f"la t0, {label}\n csrw 0x7f1, t0")
            else:
                c.asm("li t0, 20\n csrw 0x7f1, t0")
            c.asm("\n ".join(f"li x{20 + i}, {x:#x}" for i, x in enumerate(idx)) + "\n li a4, -1\n li a5, -1\n li a6, -1\n li a7, -1\n svon.one\n xmem.svm a4, x0, pbank=0")
            for i, (r, (off, v)) in enumerate(zip(("a4", "a5", "a6", "a7"), expected)):
                c.observe(r, sext(v, 8 * size) if pet == 3 else v, f"lane {i}: index {idx[i]:#x}, scale {1 << scale}, {size} bytes, {bits} index bits, signed {signed}")
        suite.add(c)
    c = Case("xphmg/memory/svm-masked", "XM-059 XM-070 XM-143")
    for zmode in (0, 1):
        c.asm(f"li t0, {APPLY | 1 << 19 | zmode << 3:#x}\n csrw 0x7d0, t0\n csrw 0x7f0, x0\n csrw 0x7f2, x0\n li t0, 8\n csrw 0x7f3, t0\n csrw 0x7f4, x0\n li t0, 20\n csrw 0x7f1, t0\n la x20, data\n li x21, {NOWHERE:#x}\n "
              f"addi x22, x20, 16\n li x23, {NOWHERE:#x}\n li t0, 55\n sd t0, 0(x20)\n li t0, 66\n sd t0, 16(x20)\n li t0, 0b0101\n pmlow.wr 2, t0\n svsetvl x0, 4\n li a4, 1\n li a5, 2\n li a6, 3\n li a7, 4")
        c.trap("svon.one\n xmem.svm a4, x0, pbank=2", None, "a gather whose masked lanes point nowhere")
        for r, value in (("a4", 55), ("a5", 0 if zmode else 2), ("a6", 66), ("a7", 0 if zmode else 4)):
            c.observe(r, value, f"a lane of it, ZMODE {zmode}")
        c.asm("li t0, 16\n csrw 0x7f2, t0\n li a4, 7\n li a6, 8")
        c.trap("svon.one\n xmem.svm x0, a4, pbank=2", None, "a scatter whose masked lanes point nowhere")
        c.load(0, 8, 7, "what lane 0 stored")
        c.load(16, 8, 8, "what lane 2 stored")
    suite.add(c)


# ---- fences, tokens, jobs ----

def token(c, n, value, label):
    c.asm(f"li t0, {0x7E80 + n:#x}\n csrw 0x840, t0\n csrr a0, 0x841")
    c.observe("a0", value, label)


def fences(suite):
    c = Case("xphmg/memory/scopes", "XM-005 XM-087")
    for scope in range(32):
        c.trap(f"xlds.bar {scope}", None if scope < 5 else 2, f"xlds.bar {scope}")
    suite.add(c)
    c = Case("xphmg/memory/tokens", "XM-125")
    for n in (0, 1, 7, 31):
        token(c, n, 0, f"token {n} before")
        c.asm(f"xfence.signal {n}\n xfence.signal {n}")
        token(c, n, 2, f"token {n} after two signals")
        c.asm(f"xfence.waiti {n}")
        token(c, n, 1, f"token {n} after a wait")
        c.asm(f"xfence.waiti {n}")
        token(c, n, 0, f"token {n} after another")
    suite.add(c)
    c = Case("xphmg/memory/copies", "XM-128 XM-100 XM-102 XM-158")
    c.asm("li a0, 4096\n xlds.alloc s3, a0\n la a0, data\n li a1, 0x1122334455667788\n sd a1, 0(a0)\n sd a1, 8(a0)\n li a2, 16\n mv a3, s3\n xlds.cpy a3, a0, a2, async=1\n xfence.pipe 15, scope=4, ff=1\n ld a4, 8(s3)")
    c.observe("a4", 0x1122334455667788, "what an asynchronous copy has put there, after the fence")
    c.asm("li s4, 40\n mv a3, s3\n li a2, 8\n1: sd s4, 0(a0)\n xlds.cpy a3, a0, a2\n xlds.cpy a3, a3, a2, async=1\n addi a3, a3, 8\n addi s4, s4, -1\n bnez s4, 1b\n xfence.pipe 15, scope=4, ff=1\n li s5, 0\n li s4, 40\n mv a3, s3\n"
          "1: ld a4, 0(a3)\n sub a4, a4, s4\n or s5, s5, a4\n addi a3, a3, 8\n addi s4, s4, -1\n bnez s4, 1b")
    c.observe("s5", 0, "forty copies: none is lost")
    for dom in range(16):
        for scope in (0, 4, 5, 7):
            good = dom in (2, 3, 15) and scope < 5
            c.trap(f"xfence.pipe {dom}, scope={scope}", None if good else 2, f"xfence.pipe {dom}, scope={scope}")
    suite.add(c)


def mtx_job(c, where, matrix, vectors, outputs, count=1, bias=False, memctl=bytes(24)):
    """An XPHMG_MTX_DESC at `where` bytes of data: a 2 x 2 FP32 matrix. Addresses are put in by the program."""
    c.asm(f"la s3, data\n addi s4, s3, {where}\n addi t0, s3, {matrix}\n sd t0, 0(s4)\n addi t0, s3, {vectors}\n sd t0, 8(s4)\n addi t0, s3, {outputs}\n sd t0, 16(s4)\n li t0, 0x25\n sw t0, 24(s4)\n li t0, 5\n sw t0, 28(s4)\n "
          f"li t0, {count}\n sw t0, 32(s4)\n sw x0, 36(s4)")
    for i in range(0, 24, 8):
        c.asm(f"li t0, {int.from_bytes(memctl[i:i + 8], 'little'):#x}\n sd t0, {40 + i}(s4)")


FP32_STATE = f"li t0, {APPLY | 1 << 21 | 2 << 19:#x}\n csrw 0x7d0, t0"
WAITS = {"wait": "xfence.wait s5", "pipe-mtx": "xfence.pipe 3, scope=4", "pipe-all": "xfence.pipe 15, scope=4", "gfx-fence": "gfx.fence 3, 3"}


def jobs(suite):
    for name, wait in WAITS.items():
        c = Case(f"xphmg/memory/job-{name}", "XM-153 XM-155 XM-124 XM-127" if name == "wait" else "XM-153")
        for i, value in enumerate((0x40000000, 0, 0, 0x40400000)):
            c.store(256 + 4 * i, 4, value)  # diag(2, 3)
        for i in range(8):
            c.store(320 + 4 * i, 4, 0x3F800000 + (i << 20))
        c.asm(FP32_STATE + ("\n csrr t0, 0x800\n ori t0, t0, 1\n csrw 0x800, t0" if name == "gfx-fence" else ""))
        mtx_job(c, 0, 256, 320, 384, 4)
        c.asm("xsubmit.mtx s5, s4")
        c.observe("s5", 2 << 56 | 1, "ticket")
        if name == "wait":  # a job has its own descriptor and state from its submission on
            c.asm("sd x0, 0(s4)\n sd x0, 16(s4)\n sw x0, 32(s4)\n li t0, -1\n sw t0, 36(s4)\n li t0, 0x8000000000080000\n csrw 0x7d0, t0\n li t0, 1\n csrw 0x830, t0")
        c.asm(wait)
        for i in range(8):
            x = 0x3F800000 + (i << 20)
            product = Arith(FP32).mul(x, 0x40400000 if i % 2 else 0x40000000)
            c.load(384 + 4 * i, 4, product, f"result {i} behind {wait}")
        suite.add(c)
    c = Case("xphmg/memory/job-hints", "MTX-079 XM-052 XM-036 XM-037 XM-038 XM-039 XM-040 RSV-134")
    for i, value in enumerate((0x40000000, 0, 0, 0x40400000, 0x3F800000, 0x3F800000)):
        c.store(256 + 4 * i if i < 4 else 320 + 4 * (i - 4), 4, value)
    c.asm(FP32_STATE)
    for byte in (1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23):
        memctl = bytearray(24)
        memctl[byte] = 0xFF
        c.asm("la s3, data\n sd x0, 384(s3)")
        mtx_job(c, 0, 256, 320, 384, 1, memctl=bytes(memctl))
        c.asm("xsubmit.mtx s5, s4\n xfence.wait s5\n la s3, data\n ld s6, 384(s3)")
        c.observe("s6", 0x4040000040000000, f"the result with byte {byte} of memctl set")
    suite.add(c)
    c = Case("xphmg/memory/job-order", "XM-148 XM-157 XM-147 XM-149 XM-156")
    for i, value in enumerate((0x40000000, 0, 0, 0x40000000, 0x3F800000, 0x3F800000)):
        c.store(256 + 4 * i if i < 4 else 320 + 4 * (i - 4), 4, value)
    c.asm(FP32_STATE)
    for n in range(5):  # each doubles what the one before has written
        mtx_job(c, 64 * (n % 3), 256, 320 + 8 * n, 328 + 8 * n)
        c.asm("xsubmit.mtx s5, s4")
        c.observe("s5", 2 << 56 | n + 1, f"ticket {n + 1}")
        if n % 3 == 2:
            c.asm("xfence.wait s5")
    c.asm("xfence.wait s5\n xfence.wait x0\n li t0, 0x200000000000001\n xfence.wait t0")
    for n in range(5):
        c.load(328 + 8 * n, 4, 0x40000000 + (n << 23), f"after job {n + 1}")
    # a job that cannot run: an illegal shape
    mtx_job(c, 0, 256, 320, 392)
    c.asm("li t0, 0\n sw t0, 28(s4)\n xsubmit.mtx s5, s4\n xfence.wait s5\n csrr t0, 0x836\n srli t0, t0, 56")
    c.observe("t0", 2, "MTXSTAT.JOB_ERR")
    suite.add(c)


def add(suite):
    for part in (plain, atomics, gathers, fences, jobs):
        part(suite)
