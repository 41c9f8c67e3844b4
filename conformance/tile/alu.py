"""Every instruction that computes from registers, by its word, over tables of operands: result, status, fstatus and vstatus of
each. Results come from integers and fractions (tile-semantics.md 4, 5 and 10)."""
import random

from tile_case import Case
from tile_float import F8, F16, F32, NV, OF, Mode
from tile_isa import ROWS, Program

IN, WORDS, VECTORS = 0x80010000, 0x80020000, 0x80030000
D, A, B, C = 19, 17, 26, 29  # destination, rs1, rs2, fs3
SAT, PINV, FSAT, FTZ, VSAT = 1 << 4, 1 << 5, 1 << 6, 1 << 3, 1 << 24
FLOATS = {"F32": F32, "F16": F16, "F8": F8}
WIDTH = {"I32": 32, "I16": 16, "I8": 8, "F32": 32, "F16": 16, "F8": 8}
FLOAT_CONFIGS = [0, 1, 2, 3, 4, FTZ, FSAT, FTZ | FSAT, FSAT | 1, FTZ | 2, FTZ | 3, FSAT | 4]
WHOLE = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x12345678, 0x7FFFFFFF,
         0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFF0000, 0x55555555, 0xFFFFFF80, 0xFFFF8000)


def signed(x, width=32):
    x &= (1 << width) - 1
    return x - (x >> width - 1 << width)


def lanes(value, width):
    return [value >> k & (1 << width) - 1 for k in range(0, 128, width)]


def joined(values, width):
    return sum((v & (1 << width) - 1) << k * width for k, v in enumerate(values))


class State:
    """Operands of one line of a table, and what the instruction leaves."""

    def __init__(self, config, s1, s2, s3, v1=0, v2=0, v3=0):
        self.config, self.s1, self.s2, self.s3, self.v1, self.v2, self.v3 = config, s1, s2, s3, v1, v2, v3

    def begin(self):
        self.status, self.vstatus, self.mode = 0, self.config >> 16 & 0x107, Mode(self.config)
        self.f1, self.f2, self.f3 = self.s1 & 0xFFFF, self.s1 >> 16, self.s3 & 0xFFFF

    def end(self, vector):
        flags = self.mode.flags
        if flags & NV:
            self.status |= 4 if vector else 1
            self.vstatus |= vector
        if flags & OF:
            self.status |= 8 if vector else 2
            self.vstatus |= 2 * vector

    def sat_scalar(self, x):
        clamped = min(max(x, -2**31), 2**31 - 1)
        if self.config & SAT and clamped != x:
            self.status |= 1 << 5
            return clamped
        return x

    def sat_lane(self, x, width):
        clamped = min(max(x, -(1 << width - 1)), (1 << width - 1) - 1)
        if clamped == x:
            return x
        self.status |= 8
        if self.config & SAT or self.vstatus & 0x100:
            self.vstatus |= 4
            return clamped
        self.vstatus |= 2
        return x

    def compared(self):
        a, b = self.s1, self.s2
        d = a - b & 0xFFFFFFFF
        overflow = signed(a) - signed(b) != signed(d)
        self.status |= (d >> 31) << 31 | (d == 0) << 30 | (a >= b) << 29 | overflow << 28


# ---- the scalar side: s3, or f3, of a State ----

SCALAR = {
    "ADD": lambda t: t.sat_scalar(signed(t.s1) + signed(t.s2)), "SUB": lambda t: t.sat_scalar(signed(t.s1) - signed(t.s2)),
    "MUL": lambda t: t.sat_scalar(signed(t.s1) * signed(t.s2)), "MAC": lambda t: t.sat_scalar(signed(t.s3) + signed(t.s1) * signed(t.s2)),
    "MULH": lambda t: signed(t.s1) * signed(t.s2) >> 32, "MULHU": lambda t: t.s1 * t.s2 >> 32,
    "AND": lambda t: t.s1 & t.s2, "OR": lambda t: t.s1 | t.s2, "XOR": lambda t: t.s1 ^ t.s2,
    "SHL": lambda t: t.s1 << (t.s2 & 31), "LSR": lambda t: t.s1 >> (t.s2 & 31), "ASR": lambda t: signed(t.s1) >> (t.s2 & 31),
    "MIN": lambda t: min(signed(t.s1), signed(t.s2)), "MAX": lambda t: max(signed(t.s1), signed(t.s2)),
    "ABS": lambda t: t.sat_scalar(abs(signed(t.s1))), "CLZ": lambda t: 32 - t.s1.bit_length(),
    "CTZ": lambda t: (t.s1 & -t.s1).bit_length() - 1 if t.s1 else 32,
    "CMP": lambda t: t.compared() or signed(t.s1) < signed(t.s2), "CMPU": lambda t: t.compared() or t.s1 < t.s2,
    "CMPEQ": lambda t: t.compared() or t.s1 == t.s2,
    "FMV.F2S": lambda t: t.f1, "FCVT.F2I": lambda t: t.mode.to_integer(F16, t.f1, 32),
    "FCMP.EQ": lambda t: t.mode.compare(F16, "EQ", t.f1, t.f2), "FCMP.LT": lambda t: t.mode.compare(F16, "LT", t.f1, t.f2),
    "FCMP.LE": lambda t: t.mode.compare(F16, "LE", t.f1, t.f2),
}
IMMEDIATE = {
    "ADDI": lambda t, n: t.sat_scalar(signed(t.s1) + n), "ANDI": lambda t, n: t.s1 & n, "ORI": lambda t, n: t.s1 | n,
    "XORI": lambda t, n: t.s1 ^ n, "MINI": lambda t, n: min(signed(t.s1), n), "MAXI": lambda t, n: max(signed(t.s1), n),
    "SHLI": lambda t, n: t.s1 << n, "LSRI": lambda t, n: t.s1 >> n, "ASRI": lambda t, n: signed(t.s1) >> n, "LUI": lambda t, n: n << 12,
}
HALF = {
    "FADD": lambda t: t.mode.add(F16, t.f1, t.f2), "FSUB": lambda t: t.mode.add(F16, t.f1, t.f2, True),
    "FMUL": lambda t: t.mode.mul(F16, t.f1, t.f2), "FMA": lambda t: t.mode.fma(F16, t.f1, t.f2, t.s2 & 0xFFFF),
    "FMADD": lambda t: t.mode.fma(F16, t.f1, t.f2, t.f3), "FMSUB": lambda t: t.mode.fma(F16, t.f1, t.f2, t.f3, negate_c=True),
    "FNMSUB": lambda t: t.mode.fma(F16, t.f1, t.f2, t.f3, negate_product=True),
    "FNMADD": lambda t: t.mode.fma(F16, t.f1, t.f2, t.f3, True, True),
    "FMIN": lambda t: t.mode.least(F16, t.f1, t.f2), "FMAX": lambda t: t.mode.least(F16, t.f1, t.f2, True),
    "FABS": lambda t: t.f1 & 0x7FFF, "FNEG": lambda t: t.f1 ^ 0x8000, "FMV.S2F": lambda t: t.s1 & 0xFFFF,
    "FCVT.I2F": lambda t: t.mode.from_integer(F16, signed(t.s1)), "FRECIP": lambda t: t.mode.reciprocal(F16, t.f1),
    "FRSQRT": lambda t: t.mode.reciprocal(F16, t.f1, True),
}


# ---- the vector side ----

def whole_lane(t, op, a, b, c, width):
    """An operation on one lane of integers."""
    x, y, z = signed(a, width), signed(b, width), signed(c, width)
    shift = b & width - 1
    if op in ("ADD", "SUB", "MUL", "MAC", "ABS"):
        return t.sat_lane({"ADD": x + y, "SUB": x - y, "MUL": x * y, "MAC": z + x * y, "ABS": abs(x)}[op], width)
    return {"MIN": min(x, y), "MAX": max(x, y), "SHL": a << shift, "SHR": a >> shift, "SAR": x >> shift}[op]


def float_lane(t, op, a, b, c, fmt):
    m = t.mode
    if op in ("ADD", "SUB"):
        return m.add(fmt, a, b, op == "SUB")
    if op in ("MIN", "MAX"):
        return m.least(fmt, a, b, op == "MAX")
    if op in ("RCP", "RSQRT"):
        return m.reciprocal(fmt, a, op == "RSQRT")
    if op == "ABS":
        return a & fmt.sign - 1
    return m.mul(fmt, a, b) if op == "MUL" else m.fma(fmt, a, b, c)


def relation(t, op, a, b, kind):
    if kind in FLOATS:
        return t.mode.compare(FLOATS[kind], op, a, b)
    x, y = signed(a, WIDTH[kind]), signed(b, WIDTH[kind])
    return {"EQ": x == y, "LT": x < y, "GT": x > y}[op]


def dot(t, kind):
    width = WIDTH[kind]
    a, b = lanes(t.v1, width), lanes(t.v2, width)
    if kind not in FLOATS:
        return t.sat_lane(sum(signed(x, width) * signed(y, width) for x, y in zip(a, b)), 32)
    m = t.mode
    if kind != "F32":
        a, b = ([m.convert(FLOATS[kind], F32, x) for x in list_] for list_ in (a, b))
    total = m.mul(F32, a[0], b[0])
    for x, y in zip(a[1:], b[1:]):
        total = m.fma(F32, x, y, total)
    return total


def cross(t, kind):
    width = WIDTH[kind]
    a, b = lanes(t.v1, width)[:3], lanes(t.v2, width)[:3]
    order = ((1, 2), (2, 0), (0, 1))
    if kind not in FLOATS:
        a, b = ([signed(x, width) for x in list_] for list_ in (a, b))
        return joined([t.sat_lane(a[i] * b[j] - a[j] * b[i], width) for i, j in order], width)
    m = t.mode
    if kind != "F32":
        a, b = ([m.convert(FLOATS[kind], F32, x) for x in list_] for list_ in (a, b))
    out = []
    for i, j in order:
        c = m.fma(F32, a[i], b[j], m.mul(F32, a[j], b[i]), negate_c=True)
        out.append(c if kind == "F32" else m.convert(F32, FLOATS[kind], c))
    return joined(out, width)


def converted(t, target, source):
    out = []
    for x in lanes(t.v1, WIDTH[source])[:128 // WIDTH[target]]:
        if source in FLOATS and target in FLOATS:
            out.append(t.mode.convert(FLOATS[source], FLOATS[target], x))
        elif source in FLOATS:
            out.append(t.mode.to_integer(FLOATS[source], x, WIDTH[target]))
        elif target in FLOATS:
            out.append(t.mode.from_integer(FLOATS[target], signed(x, WIDTH[source])))
        elif WIDTH[target] < WIDTH[source]:
            out.append(t.sat_lane(signed(x, WIDTH[source]), WIDTH[target]))
        else:
            out.append(signed(x, WIDTH[source]))
    return joined(out, WIDTH[target])


def chosen(t, kind, other):
    mask = t.s2 ^ (0xFFFFFFFF if t.config & PINV else 0)
    width = WIDTH[kind]
    return joined([x if mask >> k & 1 else y for k, (x, y) in enumerate(zip(lanes(t.v1, width), lanes(other, width)))], width)


def shuffled(value, width, pattern):
    x = lanes(value, width)
    return joined([x[(k & ~3) + (pattern >> 2 * (k & 3) & 3)] for k in range(len(x))], width)


def permuted(t, how):
    a, b = lanes(t.v1, 32), lanes(t.v2, 32)
    if how == "B":
        return joined([joined([x >> 8 * (y >> 2 * k & 3) for k in range(4)], 8) for x, y in zip(a, b)], 32)
    return joined({"ROT": [a[(k + t.s2) & 3] for k in range(4)], "HALF": [a[2], a[3], b[0], b[1]], "BC0": [a[0]] * 4,
                   "EVEN": [a[0], a[2], b[0], b[2]], "ODD": [a[1], a[3], b[1], b[3]], "ZIP": [a[0], a[2], a[1], a[3]]}[how], 32)


def execute(t, mnemonic, operands):
    """What the instruction leaves: (s3 or f3, v3), None for what it does not write."""
    name, _, rest = mnemonic.partition(".")
    if mnemonic in SCALAR:
        return int(SCALAR[mnemonic](t)), None
    if mnemonic in IMMEDIATE:
        return IMMEDIATE[mnemonic](t, operands.get("simm", operands.get("uimm"))), None
    if mnemonic in HALF:
        return HALF[mnemonic](t), None
    if name == "VDOT":
        return dot(t, rest), None
    if name == "VCROSS":
        return None, cross(t, rest)
    if name == "VCVT":
        return None, converted(t, *rest.split("."))
    if name in ("VSEL", "VSELD"):
        return None, chosen(t, rest, t.v2 if name == "VSEL" else t.v3)
    if name == "VSWIZ":
        return None, shuffled(t.v1, WIDTH[rest], t.s2)
    if name == "VSHUF":
        return None, shuffled(t.v1, 32, operands["imm8"])
    if name == "VPERM":
        return None, permuted(t, rest)
    if name in ("VAND", "VOR", "VXOR"):
        return None, {"VAND": t.v1 & t.v2, "VOR": t.v1 | t.v2, "VXOR": t.v1 ^ t.v2}[name]
    if name in ("VCMP", "VCMPV"):
        op, kind = rest.split(".")
        width = WIDTH[kind]
        found = [relation(t, op, a, b, kind) for a, b in zip(lanes(t.v1, width), lanes(t.v2, width))]
        return (joined(found, 1), None) if name == "VCMP" else (None, joined([-x for x in found], width))
    if name == "VBCAST":
        return None, joined([t.f1 if rest == "F16" else t.s1] * (128 // WIDTH[rest]), WIDTH[rest])
    if name == "VINS":
        x = lanes(t.v3, WIDTH[rest])
        x[operands["lane"]] = t.f1 if rest == "F16" else t.s1
        return None, joined(x, WIDTH[rest])
    if name == "VEXTR":
        x = lanes(t.v1, WIDTH[rest])[operands["lane"]]
        return (x if rest == "F16" else signed(x, WIDTH[rest])), None
    op, width = {"FMA": "FMA"}.get(name[1:], name[1:]), WIDTH[rest]
    lane = whole_lane if rest not in FLOATS else float_lane
    return None, joined([lane(t, op, a, b, c, FLOATS.get(rest, width)) for a, b, c in
                         zip(lanes(t.v1, width), lanes(t.v2, width), lanes(t.v3, width))], width)


# ---- tables of operands ----

def odd_floats(fmt):
    """Zeros, subnormals, the ends of the range, ties, infinities and NaNs."""
    one = fmt.bias << fmt.p
    sizes = [0, 1, 2, 3, (1 << fmt.p) - 1, 1 << fmt.p, (1 << fmt.p) + 1, one, one + 1, one - 1, one + (1 << fmt.p), one | 1 << fmt.p - 1,
             fmt.largest_bits, fmt.largest_bits - 1, one + (fmt.p << fmt.p), one + (fmt.p + 1 << fmt.p), one - (fmt.p + 1 << fmt.p)]
    sizes += [fmt.infinity, fmt.canonical, fmt.infinity | 1, fmt.canonical | 3] if fmt.has_infinity else [0x7F]
    return [x | s for x in sizes for s in (0, fmt.sign)]


def random_lane(r, kind):
    if kind not in FLOATS:
        return r.choice(WHOLE) if r.random() < .7 else r.getrandbits(32)
    fmt = FLOATS[kind]
    pick = r.random()
    if pick < .45:
        return r.choice(odd_floats(fmt))
    if pick < .6:
        return r.getrandbits(fmt.width)
    near = fmt.bias + r.randint(-3, 3) if pick < .9 else r.choice((1, 2, fmt.top - 1, fmt.top - 2))
    return r.getrandbits(1) << fmt.width - 1 | near << fmt.p | r.getrandbits(fmt.p)


def random_vector(r, kind):
    width = WIDTH[kind]
    return joined([random_lane(r, kind) for _ in range(128 // width)], width)


def entries(name, count, kind=None, half=False):
    r = random.Random(name)
    configs = FLOAT_CONFIGS if half or (kind and kind[0] == "F") else [0, SAT, VSAT, SAT | VSAT]
    if "SEL" in name:
        configs = [0, PINV]
    out = []
    for k in range(count):
        s = [random_lane(r, "F16") | random_lane(r, "F16") << 16 if half else r.choice(WHOLE) if r.random() < .8 else r.getrandbits(32)
             for _ in range(3)]
        if half and "I2F" in name:
            s[0] = r.choice(WHOLE) >> r.randint(0, 17) if r.random() < .5 else signed(r.getrandbits(32)) >> r.randint(8, 20) & 0xFFFFFFFF
        v = [random_vector(r, kind) if kind else 0 for _ in range(3)]
        out.append(State(configs[k % len(configs)], *s, *v))
    return out


# ---- cases ----

def table(suite, name, rows, mnemonic, states, variants=({},)):
    """One case: each variant of the instruction over each line of the table."""
    fields = ROWS[mnemonic]["fields"]
    registers = {}
    for field, number in (("rd", D), ("fd", D), ("vd", D), ("rs1", A), ("fs1", A), ("vs1", A), ("rs2", B), ("fs2", B), ("vs2", B), ("fs3", C)):
        if field + "[" in fields:
            registers[field] = number
    vector = "vd" in registers
    p = Program()
    p.li(6, WORDS)
    p.li(7, VECTORS)
    for operands in variants:
        p.li(5, IN)
        p.li(8, len(states))
        start = p.at
        p.lf(9, 5, 0)
        p.csrw("status", 0)
        p.csrw("fstatus", 0)
        p.csrw("config", 9)
        p("LSRI", rd=9, rs1=9, uimm=16)
        p.csrw("vstatus", 9)
        p.lf(A, 5, 4)
        p("LSRI", rd=9, rs1=A, uimm=16)
        p("FMV.S2F", fd=A, rs1=A)
        p("FMV.S2F", fd=B, rs1=9)
        p.lf(D, 5, 12)
        p("FMV.S2F", fd=C, rs1=D)
        p("FMV.S2F", fd=D, rs1=D)
        p.lf(B, 5, 8)
        if "v" in fields:
            p.lf(A, 5, 16, "VLD.V")
            p.lf(B, 5, 32, "VLD.V")
            p.lf(D, 5, 48, "VLD.V")
        p(mnemonic, **registers, **operands)
        for k, csr in enumerate(("status", "fstatus", "vstatus")):
            p.csrr(9, csr)
            p.st(9, 6, 4 + 4 * k)
        if "fd" in registers:
            p("FMV.F2S", rd=D, fs1=D)
        p.csrw("config", 0)
        p.st(D, 6, 0)
        if vector:
            p.st(D, 7, 0, "VST.V")
            p("ADDI", rd=7, rs1=7, simm=16)
        p("ADDI", rd=6, rs1=6, simm=16)
        p("ADDI", rd=5, rs1=5, simm=64)
        p("ADDI", rd=8, rs1=8, simm=-1)
        p("BNE", rs1=8, rs2=0, bimm=start - p.at)
    p("EXIT")
    c = Case(f"tile/alu/{name}", rows, code=p.code(), text=p.source(), title=mnemonic)
    c.input(IN, b"".join(b"".join(x.to_bytes(4, "little") for x in (t.config, t.s1, t.s2, t.s3)) +
                         b"".join(v.to_bytes(16, "little") for v in (t.v1, t.v2, t.v3)) for t in states))
    out, wide, labels, wide_labels = [], [], [], []
    for operands in variants:
        how = "".join(f" {k} {v}" for k, v in operands.items())
        for n, t in enumerate(states):
            t.begin()
            s, v = execute(t, mnemonic, operands)
            t.end(mnemonic[0] == "V")
            word = t.s3 if s is None and "fd" not in registers else s
            out += [word & (0xFFFF if "fd" in registers else 0xFFFFFFFF), t.status & 0xFFFFFFFF,
                    t.mode.flags | (t.config & 7) << 5, t.vstatus]
            labels += [f"{what}, {mnemonic}{how}, line {n}" for what in ("result" if s is not None else "s19", "status", "fstatus", "vstatus")]
            if vector:
                wide.append(t.v3 if v is None else v)
                wide_labels += [f"result {32 * k + 31}:{32 * k}, {mnemonic}{how}, line {n}" for k in range(4)]
    c.output(WORDS, b"".join(x.to_bytes(4, "little") for x in out), labels)
    if vector:
        c.output(VECTORS, b"".join(v.to_bytes(16, "little") for v in wide), wide_labels)
    suite.add(c)


def rows(*numbers):
    return [f"TILE-{n:03}" for n in numbers]


SCALAR_ROWS = {
    "ADD": (55, 103, 54, 21, 505, 506), "SUB": (57, 104), "MUL": (76, 113), "MAC": (79, 116), "MULH": (77, 114), "MULHU": (78, 115),
    "AND": (58, 105), "OR": (60, 106), "XOR": (62, 107), "SHL": (64, 67, 108), "LSR": (65, 67, 109), "ASR": (66, 67, 110), "MIN": (69, 111),
    "MAX": (70, 112), "ABS": (71, 72, 73, 122), "CLZ": (74, 120), "CTZ": (75, 121), "CMP": (80, 81, 82, 117), "CMPU": (80, 81, 118),
    "CMPEQ": (80, 81, 119), "FMV.F2S": (138,), "FCVT.F2I": (146, 157, 138, 507), "FCMP.EQ": (137,), "FCMP.LT": (137,), "FCMP.LE": (137,),
    "ADDI": (56, 123, 13, 21), "ANDI": (59, 124), "ORI": (61, 125), "XORI": (63, 126), "MINI": (13,), "MAXI": (13,), "SHLI": (68,),
    "LSRI": (68,), "ASRI": (68,), "LUI": (84, 15, 127, 21), "FADD": (139, 150, 137, 149, 496, 498, 500, 502, 503),
    "FSUB": (140, 151, 149), "FMUL": (141, 152, 149, 499), "FMA": (142, 153, 158), "FMADD": (142, 149), "FMSUB": (142, 149), "FNMSUB": (142, 149),
    "FNMADD": (142, 149), "FMIN": (143, 154, 504), "FMAX": (144, 155, 504), "FABS": (147, 159), "FNEG": (147, 159), "FMV.S2F": (138,),
    "FCVT.I2F": (145, 156, 138), "FRECIP": (148, 160, 497), "FRSQRT": (148, 161, 497),
}
# Rows of the vector instructions: by name without the type, by type, and by both.
VECTOR_ROWS = {
    "VADD": (252, 253), "VSUB": (32, 240, 252, 253), "VMIN": (252,), "VMAX": (252,), "VABS": (252,), "VAND": (239, 252, 258), "VOR": (239, 252, 258),
    "VXOR": (239, 252, 258), "VSHL": (252,), "VSHR": (252,), "VSAR": (252,), "VMUL": (253,), "VFMA": (253, 254), "VMAC": (573,),
    "VCMP": (244, 256), "VCMPV": (243, 263), "VDOT": (245, 255), "VCROSS": (246,), "VSEL": (247, 248), "VSELD": (), "VSWIZ": (249, 250, 251),
    "VSHUF": (249, 250, 267), "VCVT": (), "VPERM": (553,), "VBCAST": (270, 271), "VINS": (270, 272, 273), "VEXTR": (270, 274), "VRCP": (), "VRSQRT": (),
}
TYPE_ROWS = {"I32": (233,), "I16": (234,), "I8": (235,), "F16": (236,), "F8": (237,), "F32": (238,)}
EXACT_ROWS = {
    "VADD.I32": (22, 28, 30, 232, 239, 258), "VSUB.I32": (259,), "VMIN.I32": (241, 260), "VMAX.I32": (241, 261), "VCMP.EQ.I32": (242, 262),
    "VCMP.LT.I32": (242, 262), "VCMP.GT.I32": (242, 262), "VDOT.F32": (264,), "VCROSS.F32": (265,), "VSEL.I32": (266,), "VSWIZ.I32": (267,),
    "VMUL.F32": (28, 22), "VSHL.I32": (239, 258), "VSHR.I32": (239, 258), "VSAR.I32": (239, 258), "VPERM.B": (554,), "VPERM.ROT": (555,),
    "VPERM.HALF": (556,), "VPERM.BC0": (557,), "VPERM.EVEN": (558,), "VPERM.ODD": (559,), "VPERM.ZIP": (560,), "VCVT.I8.I32": (507, 563),
    "VCVT.I16.I32": (563,), "VADD.I8": (573,), "VADD.I16": (573,), "VDOT.F16": (254,), "VADD.F32": (4, 49),
}


def vector_rows(mnemonic):
    name, *types = mnemonic.split(".")
    found = VECTOR_ROWS[name] + EXACT_ROWS.get(mnemonic, ())
    if name == "VSUB":
        found += TYPE_ROWS[types[-1]]
    if name in ("VADD", "VSUB", "VMUL", "VMAC") and types[-1][0] == "I":
        found += (562, 573)
    if types and types[-1][0] == "F" and name in ("VADD", "VSUB", "VMUL", "VFMA"):
        found += (564, 565)
    if name in ("VCMP", "VCMPV", "VSEL"):
        found += (33, 31) if name != "VCMPV" else (33,)
    if name in ("VRCP", "VRSQRT"):
        found += (497, 564)
    if name == "VCVT":
        found += (565,) if "F" in types[0] + types[1] else (562,)
    if name == "VSELD":
        found += (488,)
    return rows(*found)


def add(suite):
    for mnemonic, numbers in SCALAR_ROWS.items():
        half = mnemonic[0] == "F"
        variants = ({},)
        if mnemonic in IMMEDIATE:
            low = {"LUI": (0, 1, 0x80000, 0xABCDE, 0xFFFFF), "SHLI": (0, 1, 15, 16, 31), "LSRI": (0, 1, 15, 16, 31), "ASRI": (0, 1, 15, 16, 31)}
            values = low.get(mnemonic, (-2048, -1, 0, 1, 2047, -16, 0x555))
            variants = [{"uimm" if mnemonic in low else "simm": v} for v in values]
        table(suite, mnemonic.lower(), rows(*numbers), mnemonic, entries(mnemonic, 24 if len(variants) > 1 else 120, half=half), variants)
    for mnemonic, row in ROWS.items():
        name, *types = mnemonic.split(".")
        if name not in VECTOR_ROWS:
            continue
        kind = types[-1] if types and types[-1] in WIDTH else "I32"
        variants = ({},)
        count = 36 if kind != "F32" else 60
        if name == "VSHUF":
            variants = [{"imm8": v} for v in (0x1B, 0x39, 0xE4, 0, 0xFF, 0x4E, 0x93)]
        elif "lane[" in row["fields"]:
            variants = [{"lane": v} for v in range(128 // WIDTH[kind])]
        if len(variants) > 1 or name in ("VPERM", "VSWIZ", "VSEL", "VSELD", "VBCAST", "VAND", "VOR", "VXOR"):
            count = 6
        table(suite, mnemonic.lower(), vector_rows(mnemonic), mnemonic, entries(mnemonic, count, kind, half=kind == "F16" and len(variants) > 1),
              variants)


