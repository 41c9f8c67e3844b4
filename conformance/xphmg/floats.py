"""Floating point of the base hart, F, D and Zfh: every instruction over numbers of all kinds, in all rounding modes, by exact.py.

Operands are ordinary, special, next to each other, products that nearly cancel the addend or lie in the middle of its digits, registers that
are not NaN-boxed. Flags are seen for some instructions together: cleared before the first, or with NX up from the start, because a machine may
compute otherwise once nothing but NX can come.
"""
from exact import DZ, FP16, FP32, INF, NV, NX, OF, QUIET, SIGNALING, UF, ZERO, Arith, decode, is_subnormal, round_integer, round_to
from hart import Case
from hart_numbers import seeded
from xphmg.base import FP64, MASK64, signed

NAMES = ("xphmg/floats",)
FORMATS = {"h": FP16, "s": FP32, "d": FP64}
FLAGS = NX | UF | OF | DZ | NV
ROWS = "CAP-530"
COUNT, GROUP = 80, 8  # records of a sweep, instructions of one


def boxed(f, bits):
    return bits | MASK64 >> f.bits << f.bits


def unboxed(f, register):
    return register & (1 << f.bits) - 1 if register >> f.bits == MASK64 >> f.bits else f.nan


def kind(f, bits):
    """decode() with the NaNs of FP64, whose format has them where the others do."""
    return decode(f, bits)[0]


# ---- operands ----

def special(f):
    least = 1 << f.p - 1
    out = [0, 1, 2, least - 1, least, least + 1, f.largest, f.largest - 1, f.inf, f.nan, f.inf + 1, f.inf | least >> 1 | 5]
    return out + [x | f.sign for x in out]


def near(f, rng, spread):
    middle = f.sign // 2 - (1 << f.p - 1)
    return (middle + rng.randrange(-spread, spread) * (1 << f.p - 1) + rng.getrandbits(f.p - 1)) % f.inf | rng.getrandbits(1) * f.sign


def number(f, value_sign, m, e):
    return round_to(f, value_sign, m, e)[0] if m else 0


def triple(f, rng):
    """Three operands that belong together."""
    pick = rng.randrange(8)
    a, b, c = (near(f, rng, rng.choice((1, 2, 6, f.emax))) for _ in range(3))
    if pick == 0:
        a, b, c = (rng.choice(special(f)) if rng.random() < 0.6 else x for x in (a, b, c))
    elif pick == 1:
        a, b, c = (rng.getrandbits(f.bits) for _ in range(3))
    elif pick in (2, 3) and kind(f, a) < INF and kind(f, b) < INF:
        (_, s, m, e), (_, t, n, g) = decode(f, a), decode(f, b)
        if m and n and pick == 2:  # the addend takes away all but a few digits of the product
            c = number(f, s ^ t ^ 1, m * n + rng.randrange(-2, 3), e + g)
        elif m and n:  # the product lies near the middle of the addend's last digit
            k = rng.randint(f.p // 2 + 1, f.p - 2)
            a, b = number(f, s, (1 << k) + 1, -k), number(f, t, (1 << k) - rng.choice((1, 1, 0)), -k)
            c = number(f, rng.getrandbits(1), (1 << f.p - 1) + 2 * rng.getrandbits(f.p - 3) + 1, 1)
    elif pick == 4:
        b = a + rng.choice((0, 1, -1)) & f.sign * 2 - 1 if a else 0
        b ^= rng.choice((0, f.sign))
    elif pick == 5:  # results about the least normal number, and about the largest
        a, b = near(f, rng, 1), (1 << f.p - 1) * rng.choice((1, 2, 3)) + rng.getrandbits(f.p - 1)
        c = rng.getrandbits(f.p + 1) | rng.choice((0, f.sign))
    elif pick == 6:
        a, b, c = near(f, rng, 1), f.largest - rng.getrandbits(f.p + 1), f.largest - rng.getrandbits(f.p) | rng.choice((0, f.sign))
    return a, b, c


def whole(rng):
    """An integer for conversions."""
    x = rng.getrandbits(64) >> rng.choice((0, 0, 1, 8, 11, 31, 33, 40, 52, 63))
    return rng.choice((x, -x, 1 << rng.randrange(64), (1 << rng.randrange(64)) - 1)) & MASK64


def near_whole(f, rng):
    """A number near the ends of an integer type, or with a half."""
    width = rng.choice((0, 3, 31, 32, 63, 64))
    return number(f, rng.getrandbits(1), max(0, (1 << width + 2) + rng.randrange(-9, 10)), -2)


# ---- instructions: (text, what it leaves) ----

def quiet(unit, *operands):
    if any(kind(unit.f, x) == SIGNALING for x in operands):
        unit.flags |= NV


def arithmetic(name, unit, x):
    f = unit.f
    if name in ("madd", "msub", "nmsub", "nmadd"):
        a, b, c = x
        quiet(unit, a, b, c)
        a = a ^ f.sign if name[0] == "n" and kind(f, a) < QUIET else a
        c = c ^ f.sign if name in ("msub", "nmadd") and kind(f, c) < QUIET else c
        return unit.fma(a, b, c)
    operands = x[:1] if name == "sqrt" else x[:2]
    quiet(unit, *operands)
    return getattr(unit, name)(*operands)


def compared(name, unit, x):
    quiet(unit, *x[:2])
    return int(getattr(unit, name)(*x[:2]))


def signs(name, f, x):
    other = {"sgnj": x[1], "sgnjn": x[1] ^ f.sign, "sgnjx": x[0] ^ x[1]}[name]
    return x[0] & ~f.sign | other & f.sign


def classified(f, bits):
    k, s = kind(f, bits), bits >> f.bits - 1
    if k >= QUIET:
        return 1 << (8 if k == SIGNALING else 9)
    place = 0 if k == INF else 3 if k == ZERO else 2 if is_subnormal(f, bits) else 1
    return 1 << (7 - place if not s else place)


def to_integer(unit, bits, width, is_signed):
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    k, s, m, e = decode(unit.f, bits)
    if k >= INF:
        unit.flags |= NV
        return signed(low if k == INF and s else high, width)
    value, inexact = round_integer(s, m, e, unit.mode) if m else (0, False)
    if not low <= value <= high:
        unit.flags |= NV
        return signed(max(low, min(high, value)), width)
    unit.flags |= NX * inexact
    return signed(value, width)


def from_integer(unit, x, width, is_signed):
    value = signed(x, width) if is_signed else x & (1 << width) - 1
    return unit.put(int(value < 0), abs(value), 0, 0)


def converted(unit, source, bits):
    """To the unit's format."""
    k, s, m, e = decode(source, bits)
    if k >= QUIET:
        unit.flags |= NV if k == SIGNALING else 0
        return unit.f.nan
    return s << unit.f.bits - 1 | unit.f.inf if k == INF else unit.put(s, m, e, s)


def instructions(letter, f):
    """(text, act): act(unit, floats, integer) gives what goes to x10."""
    def real(name, act, fields):
        return f"f{name}.{letter} f3, {fields}{{rm}}\n fmv.x.d {{to}}, f3", lambda unit, x, n: boxed(f, act(unit, x))
    out = [real(name, lambda u, x, name=name: arithmetic(name, u, x), "f0, f1, f2") for name in ("madd", "msub", "nmsub", "nmadd")]
    out += [real(name, lambda u, x, name=name: arithmetic(name, u, x), "f0, f1") for name in ("add", "sub", "mul", "div")]
    out.append(real("sqrt", lambda u, x: arithmetic("sqrt", u, x), "f0"))
    plain = [real(name, lambda u, x, name=name: arithmetic(name, u, x), "f0, f1") for name in ("min", "max")]
    plain += [real(name, lambda u, x, name=name: signs(name, u.f, x), "f0, f1") for name in ("sgnj", "sgnjn", "sgnjx")]
    plain += [(f"f{name}.{letter} {{to}}, f0, f1", lambda u, x, n, name=name: compared(name, u, x)) for name in ("eq", "lt", "le")]
    plain.append((f"fclass.{letter} {{to}}, f0", lambda u, x, n: classified(u.f, x[0])))
    out += [(text.replace("{rm}", ""), act) for text, act in plain]
    for suffix, width, is_signed in (("w", 32, True), ("wu", 32, False), ("l", 64, True), ("lu", 64, False)):
        out.append((f"fcvt.{suffix}.{letter} {{to}}, f0{{rm}}", lambda u, x, n, w=width, s=is_signed: to_integer(u, x[0], w, s)))
        exact = letter == "d" and width == 32
        out.append((f"fcvt.{letter}.{suffix} f3, x9{'' if exact else '{rm}'}\n fmv.x.d {{to}}, f3",
                    lambda u, x, n, w=width, s=is_signed: boxed(u.f, from_integer(u, n, w, s))))
    for other, g in FORMATS.items():
        if g.bits > f.bits:  # there and back
            out.append((f"fcvt.{other}.{letter} f3, f0\n fmv.x.d {{to}}, f3", lambda u, x, n, f=f, g=g: boxed(g, widened(u, f, g, x[0]))))
        elif g.bits < f.bits:
            out.append((f"fcvt.{other}.{letter} f3, f0{{rm}}\n fmv.x.d {{to}}, f3", lambda u, x, n, f=f, g=g: boxed(g, widened(u, f, g, x[0]))))
    return out


def widened(unit, f, g, bits):
    other = Arith(g, unit.mode)
    result = converted(other, f, bits)
    unit.flags |= other.flags
    return result


def sweep(c, f, group, rng, mode, static, raised):
    """`static`: the mode stands in the instruction and frm names another one."""
    records, expected, labels = [], [], []
    for n in range(COUNT):
        x = list(triple(f, rng)) if n % 4 else [near_whole(f, rng), *triple(f, rng)[:2]]
        registers = [boxed(f, v) for v in x]
        if f.bits < 64 and n % 16 == 5:
            registers[rng.randrange(3)] = rng.getrandbits(64)
        integer = whole(rng)
        records.append(b"".join(v.to_bytes(8, "little") for v in (*registers, integer)))
        values, flags = [], raised
        for _, act in group:
            unit = Arith(f, mode)
            values.append(act(unit, [unboxed(f, v) for v in registers], integer) & MASK64)
            flags |= unit.flags & FLAGS
        expected.append(values + [flags])
        labels.append(" ".join(f"{v:x}" for v in (*registers, integer)))
    places = [f"a{k}" for k in range(len(group))]
    word = f", {('rne', 'rtz', 'rdn', 'rup', 'rmm')[mode]}" if static else ""
    text = f"fsflags {'x0' if not raised else 's4'}\n fld f0, 0(s0)\n fld f1, 8(s0)\n fld f2, 16(s0)\n ld x19, 24(s0)\n "
    text += "\n ".join(t.format(to=to, rm=word).replace("x9,", "x19,").replace("x9\n", "x19\n") for (t, _), to in zip(group, places))
    c.asm(f"li s4, {raised}\n li t0, {(mode + 2) % 5 if static else mode}\n fsrm t0")
    c.sweep(text + "\n csrr s5, fflags", places + ["s5"], records, expected, labels)


def add(suite):
    for letter, f in FORMATS.items():
        rng = seeded("floats", letter)
        every = instructions(letter, f)
        for part, at in enumerate(range(0, len(every), GROUP)):
            c = Case(f"xphmg/floats/{letter}-{part}", ROWS)
            for mode in range(5):
                for static, raised in ((False, 0), (mode == 0, NX)):
                    sweep(c, f, every[at:at + GROUP], rng, mode, static, raised)
            suite.add(c)
