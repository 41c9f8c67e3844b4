"""The effective numeric state of the hart and what it does to numbers: numeric.md 5, 7, 8, 9 and 10, and the primitives with real
coefficients of gfx-semantics.md 4. Elements are bits, FP accumulators bits of FP32 or FP16, integer accumulators whole numbers."""
import copy
from fractions import Fraction

import exact
from exact import (BF16, DOWNCAST, DZ, E4M3, E5M2, FP16, FP32, FTZ_HIT, INF, LITE, NUM, NV, NX, OF, QNAN, QUIET, SAT_HIT, SIGNALING,
                   SNAN, ZERO, Arith, decode, is_subnormal, round_integer, round_to)
from xphmg.prec import ALT_FIELDS, FORMATS, MODE_FIELDS, NATIVE, image, legal, stat

APPLY = 1 << 63
INTEGERS = {3: 8, 4: 16, 5: 32, 10: 4, 11: 2}
WIDE = {0: FP32, 1: FP16, 2: 32, 3: 16}  # EFF_ACCW
# What does not set DOWNCAST_TAKEN (numeric.md 9), by accumulator; names of elements.
KEEPS_ON_WIDEN = {0: "FP32 FP16 BF16 BF16_LITE FP8_E4M3 FP8_E5M2 16 8 4 2", 1: "FP16 FP8_E4M3 FP8_E5M2 8 4 2", 2: "32 16 8 4 2", 3: "16 8 4 2"}
KEEPS_ON_NARROW = {0: "FP32", 1: "FP16 FP32", 2: "32", 3: "16 32 FP32"}
STICKY = ((SAT_HIT, 13), (FTZ_HIT, 12), (DOWNCAST, 14), (exact.UNSUP, 15))


def sext(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


class Zero(Fraction):
    """Zero with a sign."""

    def __new__(cls, sign):
        self = super().__new__(cls, 0)
        self.negative = sign
        return self


def fraction(kind, sign, m, e):
    """A number of decode()"""
    return Fraction((-m if sign else m) << e) if e >= 0 and m else Fraction(-m if sign else m, 1 << -e) if m else Zero(sign)


class Eff:
    """From the fields of CAP.PREC.MODE and ALT, as they are written."""

    def __init__(self, mode=None, alt=None, zptab=None):
        self.mode_written, self.alt_written, self.zptab = dict(mode or {"EW": 1}), dict(alt or {}), zptab or [0] * 256
        m, a = legal(MODE_FIELDS, self.mode_written), legal(ALT_FIELDS, self.alt_written)
        s = stat(self.mode_written, self.alt_written)
        self.pet, self.ew, self.accw, self.alt, self.sat = s >> 28, s >> 26 & 3, s >> 24 & 3, s >> 23 & 1, s >> 22 & 1
        self.rm, self.q, self.pack, self.zmode, self.nan_pol = s >> 19 & 7, s >> 18 & 1, s >> 16 & 3, s >> 11 & 1, s >> 8 & 3
        self.ftz, self.uns, self.sat_mode, self.zp_en = m["DENORM_FTZ"], m["UNS"], m["SAT_MODE"], m["ZP_EN"]
        self.mixed = a["MIXED"] if self.alt else 1
        self.zp, self.offset, shift = (a["ZP"], a["ZP_OFFS"], a["SCALE_SH"]) if self.alt else (m["ZP"], 0, m["SCALE_SH"])
        self.shift = sext(shift, 8) if self.q else 0
        self.flags = 0
        self.settle()

    def settle(self):
        """What follows from element and accumulator."""
        self.element = LITE if self.pet == 2 and self.alt else {0: FP16, 1: FP32, 2: BF16, 8: E4M3, 9: E5M2}.get(self.pet)
        self.integer, self.native, self.wide = INTEGERS.get(self.pet), NATIVE[self.pet], WIDE[self.accw]
        self.title = str(self.integer) if self.integer else self.element.name
        self.widen_loses = self.title not in KEEPS_ON_WIDEN[self.accw].split()
        self.narrow_loses = self.title not in KEEPS_ON_NARROW[self.accw].split()
        self.signed = not (self.q and self.uns)
        return self

    def but(self, **changes):
        other = copy.copy(self)
        other.__dict__.update(changes)
        return other if set(changes) == {"flags"} else other.settle()

    # ---- the program's side ----

    def setup(self):
        """Statements that put this state into force; t0 is used."""
        lines = [f"li t0, {image(MODE_FIELDS, self.mode_written) | APPLY:#x}\n csrw 0x7d0, t0",
                 f"li t0, {image(ALT_FIELDS, self.alt_written) | APPLY:#x}\n csrw 0x7d1, t0"]
        return "\n ".join(lines)

    def stat(self, flags, enabled=0):
        s = stat(self.mode_written, self.alt_written, enabled)
        for flag, bit in STICKY:
            if flags & flag:
                s |= 1 << bit
        return s

    # ---- containers (5) ----

    def container(self):
        return 8 << self.ew

    def array(self, elements):
        """The bytes of an array of elements."""
        size, mask = self.container() // 8, (1 << self.container()) - 1
        if self.pack == 0:
            if self.integer and self.signed:
                elements = [sext(v, self.native) & mask for v in elements]
            return b"".join(v.to_bytes(size, "little") for v in elements)
        n, out = 1 << self.pack, b""
        for i in range(0, len(elements), n):
            out += sum(v << k * self.native for k, v in enumerate(elements[i:i + n])).to_bytes(size, "little")
        return out

    def elements(self, data, count):
        size, n = self.container() // 8, 1 << self.pack
        return [int.from_bytes(data[i // n * size:i // n * size + size], "little") >> i % n * self.native & (1 << self.native) - 1
                for i in range(count)]

    def register(self, element):
        """Single-element image in an x register."""
        if self.pack == 0 and self.integer and self.signed:
            return sext(element, self.native) & (1 << 64) - 1
        return element

    # ---- 8 ----

    def zero_point(self, channel):
        if not self.q or self.zp_en == 0:
            return 0

        def ext(x):
            return x & 255 if self.uns else sext(x, 8)
        if self.zp_en == 1:
            return ext(self.zp) + sext(self.offset, 8)
        return ext(self.zptab[(self.zp + self.offset + channel) % 256])

    # ---- 9: widen and narrow ----

    def name(self):
        return self.title

    def read(self, bits):
        """(kind, sign, m, e) of an FP element after the rules for subnormals and NaNs."""
        k, s, m, e = decode(self.element, bits)
        if is_subnormal(self.element, bits) and (self.ftz or self.element is LITE):
            self.flags |= FTZ_HIT
            k, m, e = ZERO, 0, 0
        if k == SIGNALING:
            self.flags |= SNAN | NV
        if k == QUIET:
            self.flags |= QNAN
        return k, s, m, e

    def code(self, bits):
        """An integer element as it is stored."""
        bits &= (1 << self.integer) - 1
        return bits if self.q and self.uns else sext(bits, self.integer)

    def put_wide(self, sign, m, e):
        if m == 0:
            return sign << self.wide.bits - 1
        bits, flags = round_to(self.wide, sign, m, e, self.rm, self.ftz)
        self.flags |= flags
        return bits

    def to_integer(self, kind, sign, m, e, bits):
        """An FP number for an integer accumulator of so many bits."""
        high, low = (1 << bits - 1) - 1, -(1 << bits - 1)
        if kind >= QUIET or kind == INF:
            self.flags |= NV
            return low if kind == INF and sign else high
        value, inexact = round_integer(sign, m, e, self.rm)
        if not low <= value <= high:
            self.flags |= NV
            return max(low, min(high, value))
        if inexact:
            self.flags |= NX
        return value

    def wrap(self, value, bits):
        wrapped = sext(value, bits)
        if wrapped != value:
            self.flags |= OF
        return wrapped

    def widen(self, bits, channel=0):
        if self.widen_loses:
            self.flags |= DOWNCAST
        if self.integer:
            value = self.code(bits) - self.zero_point(channel)
            if self.accw >= 2:
                return self.wrap(value, self.wide)
            return self.put_wide(int(value < 0), abs(value), self.shift)
        k, s, m, e = self.read(bits)
        if self.accw >= 2:
            return self.to_integer(k, s, m, e, self.wide)
        if k >= QUIET:
            return self.wide.nan
        if k == INF:
            return s << self.wide.bits - 1 | self.wide.inf
        return self.put_wide(s, m, e + self.shift)

    def narrow(self, acc, channel=0):
        if self.narrow_loses:
            self.flags |= DOWNCAST
        if self.integer:
            return self.narrow_integer(acc, channel) & (1 << self.integer) - 1
        f = self.element
        if self.accw >= 2:
            return self.put_element(int(acc < 0), abs(acc), 0)
        k, s, m, e = decode(self.wide, acc)
        if k >= QUIET:
            self.flags |= QNAN
            return {0: f.nan, 1: 0, 2: f.largest if f.inf is None else f.inf}[self.nan_pol]
        if k == INF:
            if self.sat and not self.sat_mode:
                self.flags |= SAT_HIT
                return s << f.bits - 1 | f.largest
            if f.inf is None:
                self.flags |= QNAN
                return f.nan
            return s << f.bits - 1 | f.inf
        return self.put_element(s, m, e - self.shift)

    def put_element(self, sign, m, e):
        f = self.element
        if m == 0:
            return sign << f.bits - 1
        bits, flags = round_to(f, sign, m, e, self.rm, self.ftz, self.sat)
        self.flags |= flags
        return bits

    def narrow_integer(self, acc, channel):
        n, zp, unsigned = self.integer, self.zero_point(channel), self.q and self.uns
        high, low = ((1 << n) - 1, 0) if unsigned else ((1 << n - 1) - 1, -(1 << n - 1))
        if self.sat and self.sat_mode and not unsigned:
            low = -high
        if self.accw >= 2:
            k = acc + zp
            if not low <= k <= high:
                self.flags |= SAT_HIT if self.sat else OF
                k = max(low, min(high, k)) if self.sat else k
            return k
        kind, s, m, e = decode(self.wide, acc)
        if kind >= QUIET:
            self.flags |= QNAN | (NV if self.nan_pol == 0 else 0)
            return max(low, min(high, zp)) if self.nan_pol == 1 else high
        inexact = False
        if kind == INF:
            k = low - 1 if s else high + 1
        else:
            k, inexact = round_integer(s, m, e - self.shift, self.rm)
            k += zp
        if not low <= k <= high:
            self.flags |= SAT_HIT if self.sat else NV
            return max(low, min(high, k))
        if inexact:
            self.flags |= NX
        return k

    # ---- 10 and gfx-semantics.md 4.3 ----

    def after(self, acc, channel):
        """The MIXED step."""
        return acc if self.mixed else self.widen(self.narrow(acc, channel), channel)

    def fp(self, name, *operands):
        f = Arith(self.wide, self.rm, self.ftz)
        result = getattr(f, name)(*operands)
        self.flags |= f.flags
        return result

    def rational(self, value):
        """An exact rational rounded to an integer accumulator."""
        n, d = abs(value.numerator), value.denominator
        q, e = exact.quotient(n, d) if n else (0, 0)
        whole, inexact = round_integer(int(value < 0), q, e, self.rm)
        if inexact:
            self.flags |= NX
        return self.wrap(whole, self.wide)

    def scale(self):
        return Fraction(2) ** self.shift

    def primitive(self, name, *operands, channel=0):
        if self.accw < 2:
            return self.after(self.fp(name, *operands), channel)
        a, b, c = (list(operands) + [0, 0])[:3]
        if name in ("add", "sub"):
            out = self.wrap(a + b if name == "add" else a - b, self.wide)
        elif name == "mul":
            out = self.rational(a * b * self.scale())
        elif name == "fma":
            out = self.rational(a * b * self.scale() + c)
        elif name == "div":
            if b == 0:
                self.flags |= DZ if a else NV
                out = 0 if a == 0 else -(1 << self.wide - 1) if a < 0 else (1 << self.wide - 1) - 1
            else:
                out = self.rational(Fraction(a, b) / self.scale())
        elif name == "sqrt":
            if a < 0:
                self.flags |= NV
                out = 0
            else:
                m, e = exact.root(a << 400, -400 - self.shift) if a else (0, 0)
                out, inexact = round_integer(0, m, e, self.rm)
                if inexact:
                    self.flags |= NX
                out = self.wrap(out, self.wide)
        else:
            raise ValueError(name)
        return self.after(out, channel)

    def add(self, a, b, channel=0):
        return self.primitive("add", a, b, channel=channel)

    def sub(self, a, b, channel=0):
        return self.primitive("sub", a, b, channel=channel)

    def mul(self, a, b, channel=0):
        return self.primitive("mul", a, b, channel=channel)

    def fma(self, a, b, c, channel=0):
        return self.primitive("fma", a, b, c, channel=channel)

    def div(self, a, b, channel=0):
        return self.primitive("div", a, b, channel=channel)

    def sqrt(self, a, channel=0):
        return self.primitive("sqrt", a, channel=channel)

    def dot(self, a, b, channel=0):
        acc = self.mul(a[0], b[0], channel)
        for x, y in zip(a[1:], b[1:]):
            acc = self.fma(x, y, acc, channel)
        return acc

    def lt(self, a, b):
        return self.fp("lt", a, b) if self.accw < 2 else a < b

    def le(self, a, b):
        return self.fp("le", a, b) if self.accw < 2 else a <= b

    def is_nan(self, a):
        return self.accw < 2 and decode(self.wide, a)[0] >= QUIET

    def value(self, a):
        """The exact value of an accumulator that is a number."""
        return a * self.scale() if self.accw >= 2 else fraction(*decode(self.wide, a))

    def cv(self, value):
        """A real number into the accumulator; None is NaN, +-inf as floats."""
        if value is None or value in (float("inf"), float("-inf")):
            kind, s = (QUIET, 0) if value is None else (INF, int(value < 0))
            if self.accw >= 2:
                return self.to_integer(kind, s, 0, 0, self.wide)
            return self.wide.nan if kind == QUIET else s << self.wide.bits - 1 | self.wide.inf
        if isinstance(value, Zero):
            return 0 if self.accw >= 2 else value.negative << self.wide.bits - 1
        value = Fraction(value)
        if self.accw >= 2:
            value /= self.scale()
        n, d = abs(value.numerator), value.denominator
        m, e = (0, 0) if n == 0 else exact.quotient(n, d) if d & d - 1 else (n, 1 - d.bit_length())
        if self.accw >= 2:
            return self.to_integer(NUM, int(value < 0), m, e, self.wide)
        return self.put_wide(int(value < 0), m, e)

    def coordinate(self, bits):
        """Coordinate class of gfx-semantics.md 4.2: a Fraction, None for NaN, +-inf."""
        if self.integer:
            return Fraction(self.code(bits), 1 << self.native // 2)
        k, s, m, e = self.read(bits)
        if k >= QUIET:
            return None
        return float("-inf" if s else "inf") if k == INF else fraction(k, s, m, e)


def describe(eff):
    names = {"FP32": "fp32", "FP16": "fp16"}
    return names.get(eff.name(), f"int{eff.name()}" if eff.integer else eff.name().lower().replace("_", "-"))


# A state for each element format: MODE and ALT fields.
ELEMENTS = {"fp32": ({"PET": 1, "EW": 2}, {}), "fp16": ({"PET": 0, "EW": 1}, {}), "bf16": ({"PET": 2, "EW": 1}, {}), "int8": ({"PET": 3, "EW": 0}, {}),
            "int16": ({"PET": 4, "EW": 1}, {}), "int32": ({"PET": 5, "EW": 2}, {})} | \
    {name: ({"PET": 1, "EW": 2}, {"ALT_EN": 1, "ALT_FMT": fmt, "MIXED": 1}) for name, fmt in
     (("bf16-lite", 1), ("e4m3", 2), ("e5m2", 3), ("int4", 4), ("int2", 5))}
assert len(FORMATS) == 5


def state(name, mixed=None, **mode):
    m, a = ELEMENTS[name]
    a = dict(a)
    if a and mixed is not None:
        a["MIXED"] = mixed
    for key in ("ALT_ACCW", "ALT_SAT", "ALT_ZP", "ALT_SHIFT", "ALT_OFFS"):
        if key in mode:
            value = mode.pop(key)
            if a:
                a[{"ALT_ACCW": "ALT_ACCW", "ALT_SAT": "SAT", "ALT_ZP": "ZP", "ALT_SHIFT": "SCALE_SH", "ALT_OFFS": "ZP_OFFS"}[key]] = value
    return Eff(m | mode, a)
