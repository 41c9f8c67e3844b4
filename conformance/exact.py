"""Numbers as numeric.md 3, 9 and 10 define them, in whole numbers: a finite value is (sign, m, e) = +-m * 2^e, and every operation
forms the exact result, or enough of its digits and one bit for the rest, and rounds once. Nothing here is a float of Python.

    f = Arith(FP32, RUP)
    f.add(0x3F800000, 0x33800000)      bits of the sum; f.flags collects what was raised
"""
from math import isqrt

RNE, RTZ, RDN, RUP, RMM = range(5)
MODES = {"rne": RNE, "rtz": RTZ, "rdn": RDN, "rup": RUP, "rmm": RMM}
# CAP.PREC.EXC.ST as it is, then what CAP.PREC.STAT keeps.
NX, UF, OF, DZ, NV, QNAN, SNAN, SAT_HIT, FTZ_HIT, DOWNCAST, UNSUP = (1 << n for n in range(11))
ZERO, NUM, INF, QUIET, SIGNALING = range(5)


class Format:
    def __init__(self, name, bits, p, emin, emax, largest, inf, nan, subnormals=True):
        self.name, self.bits, self.p, self.emin, self.emax = name, bits, p, emin, emax
        self.largest, self.inf, self.nan, self.subnormals = largest, inf, nan, subnormals
        self.sign = 1 << bits - 1


FP32 = Format("FP32", 32, 24, -126, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000)
FP16 = Format("FP16", 16, 11, -14, 15, 0x7BFF, 0x7C00, 0x7E00)
BF16 = Format("BF16", 16, 8, -126, 127, 0x7F7F, 0x7F80, 0x7FC0)
LITE = Format("BF16_LITE", 16, 5, -62, 63, 0x5F78, 0x7F80, 0x7FC0, subnormals=False)
E4M3 = Format("FP8_E4M3", 8, 4, -6, 8, 0x7E, None, 0x7F)
E5M2 = Format("FP8_E5M2", 8, 3, -14, 15, 0x7B, 0x7C, 0x7F)
FLOATS = (FP32, FP16, BF16, LITE, E4M3, E5M2)


def decode(f, bits):
    """(kind, sign, m, e) of an element"""
    sign, a = bits >> f.bits - 1 & 1, bits & f.sign - 1
    if f is LITE:
        exponent, fraction = a >> 7, a >> 3 & 15
        if exponent == 255 and fraction:
            return (QUIET if fraction & 8 else SIGNALING), sign, 0, 0
        if exponent > 190:
            return INF, sign, 0, 0
        return (ZERO, sign, 0, 0) if exponent < 65 else (NUM, sign, 16 + fraction, exponent - 127 - 4)
    if a == 0:
        return ZERO, sign, 0, 0
    if f is E4M3:
        if a == 0x7F:
            return QUIET, sign, 0, 0
    elif a == f.inf:
        return INF, sign, 0, 0
    elif a > f.inf:
        return (QUIET if f is E5M2 or a >> f.p - 2 & 1 else SIGNALING), sign, 0, 0
    exponent, fraction = a >> f.p - 1, a & (1 << f.p - 1) - 1
    return NUM, sign, fraction + (1 << f.p - 1 if exponent else 0), f.emin + max(exponent, 1) - 1 - (f.p - 1)


def is_subnormal(f, bits):
    a = bits & f.sign - 1
    return a != 0 and (a >> 7 < 65 if f is LITE else a >> f.p - 1 == 0)


def cut(m, n, sign, mode):
    """m >> n rounded; n may be negative. (quotient, inexact)"""
    if n <= 0:
        return m << -n, False
    q, rest, half = m >> n, m & (1 << n) - 1, 1 << n - 1
    up = {RNE: rest > half or rest == half and q & 1, RMM: rest >= half, RDN: sign and rest, RUP: not sign and rest,
          RTZ: False}[mode]
    return q + bool(up), rest != 0


def round_to(f, sign, m, e, mode=RNE, ftz=False, sat=False):
    """(bits, flags) of +-m * 2^e, m > 0"""
    top = m.bit_length() - 1 + e
    q, _ = cut(m, top - f.p + 1 - e, sign, mode)
    tiny = top + (q >> f.p) < f.emin
    if tiny and (ftz or not f.subnormals):
        return sign << f.bits - 1, FTZ_HIT | UF | NX
    low = max(top, f.emin) - f.p + 1  # exponent of the last place
    q, inexact = cut(m, low - e, sign, mode)
    if q >> f.p:
        q, low = q >> 1, low + 1
    _, _, most, place = decode(f, f.largest)
    over = low >= place and q << low - place > most
    if not over:
        if q == 0:
            bits = 0
        elif f is LITE:
            bits = low + 4 + 127 << 7 | (q & 15) << 3
        else:
            bits = (low - (f.emin - f.p + 1) << f.p - 1) + q
        return sign << f.bits - 1 | bits, (NX | (UF if tiny else 0)) if inexact else 0
    if sat:
        return sign << f.bits - 1 | f.largest, SAT_HIT
    if mode == RTZ or mode == RDN and not sign or mode == RUP and sign:
        return sign << f.bits - 1 | f.largest, OF | NX
    if f.inf is None:
        return f.nan, OF | NX | QNAN
    return sign << f.bits - 1 | f.inf, OF | NX


def round_integer(sign, m, e, mode):
    """(integer, inexact)"""
    q, inexact = cut(m, -e, sign, mode)
    return -q if sign else q, inexact


def quotient(n, d):
    """(m, e) of n / d with 80 digits and a last bit for what is left"""
    k = max(0, 80 - n.bit_length() + d.bit_length())
    q, r = divmod(n << k, d)
    return q << 1 | (r != 0), -k - 1


def root(m, e):
    """(m, e) of the square root of m * 2^e"""
    k = 160 + (e & 1)
    q = isqrt(m << k)
    return q << 1 | (q * q != m << k), (e - k >> 1) - 1


class Arith:
    """The primitives of numeric.md 10 on bits of one format. NaN operands are quiet."""

    def __init__(self, f, mode=RNE, ftz=False):
        self.f, self.mode, self.ftz, self.flags = f, mode, ftz, 0

    def put(self, sign, m, e, zero_sign=None):
        """Rounds; an exact zero has the sign of a sum unless it is given."""
        if m == 0:
            sign = zero_sign if zero_sign is not None else int(self.mode == RDN)
            return sign << self.f.bits - 1
        bits, flags = round_to(self.f, sign, m, e, self.mode, self.ftz)
        self.flags |= flags
        return bits

    def invalid(self):
        self.flags |= NV
        return self.f.nan

    def infinity(self, sign):
        return sign << self.f.bits - 1 | self.f.inf

    def nan(self, *operands):
        return any(decode(self.f, x)[0] >= QUIET for x in operands)

    def number(self, a):
        """(sign, m, e); zero has m = 0"""
        _, s, m, e = decode(self.f, a)
        return s, m, e

    def sum(self, x, y):
        """Of two exact numbers (sign, m, e); zeros of equal sign keep it."""
        (s, m, e), (t, n, g) = x, y
        low = min(e, g)
        total = (-1) ** s * (m << e - low) + (-1) ** t * (n << g - low)
        if m == n == 0 and s == t:
            return self.put(0, 0, 0, s)
        return self.put(int(total < 0), abs(total), low)

    def neg(self, a):
        return self.f.nan if self.nan(a) else a ^ self.f.sign

    def abs(self, a):
        return self.f.nan if self.nan(a) else a & ~self.f.sign

    def add(self, a, b):
        if self.nan(a, b):
            return self.f.nan
        (k, s, m, e), (h, t, n, g) = decode(self.f, a), decode(self.f, b)
        if k == INF or h == INF:
            if k == h and s != t:
                return self.invalid()
            return self.infinity(s if k == INF else t)
        return self.sum((s, m, e), (t, n, g))

    def sub(self, a, b):
        return self.f.nan if self.nan(a, b) else self.add(a, b ^ self.f.sign)

    def mul(self, a, b):
        if self.nan(a, b):
            return self.f.nan
        (k, s, m, e), (h, t, n, g) = decode(self.f, a), decode(self.f, b)
        if INF in (k, h):
            return self.invalid() if ZERO in (k, h) else self.infinity(s ^ t)
        return self.put(s ^ t, m * n, e + g, s ^ t)

    def fma(self, a, b, c):
        kinds = decode(self.f, a)[0], decode(self.f, b)[0]
        if not self.nan(a, b) and INF in kinds and ZERO in kinds:
            return self.invalid()
        if self.nan(a, b, c):
            return self.f.nan
        (k, s, m, e), (h, t, n, g), (i, u, o, x) = (decode(self.f, v) for v in (a, b, c))
        if INF in (k, h):
            if i == INF and u != s ^ t:
                return self.invalid()
            return self.infinity(s ^ t)
        if i == INF:
            return c
        return self.sum((s ^ t, m * n, e + g), (u, o, x))

    def dp2(self, a, b, c, d):
        """a*b - c*d, rounded once (rt-semantics.md 4)"""
        if self.nan(a, b, c, d):
            return self.f.nan
        (k, s, m, e), (h, t, n, g), (i, u, o, x), (j, w, q, y) = (decode(self.f, v) for v in (a, b, c, d))
        left, right = INF in (k, h), INF in (i, j)
        if left and ZERO in (k, h) or right and ZERO in (i, j):
            return self.invalid()
        first, second = s ^ t, u ^ w ^ 1
        if left or right:
            if left and right and first != second:
                return self.invalid()
            return self.infinity(first if left else second)
        return self.sum((first, m * n, e + g), (second, o * q, x + y))

    def div(self, a, b):
        if self.nan(a, b):
            return self.f.nan
        (k, s, m, e), (h, t, n, g) = decode(self.f, a), decode(self.f, b)
        if k == h and k in (ZERO, INF):
            return self.invalid()
        if k == INF or h == ZERO:
            if k != INF:
                self.flags |= DZ
            return self.infinity(s ^ t)
        if h == INF or k == ZERO:
            return (s ^ t) << self.f.bits - 1
        q, r = quotient(m, n)
        return self.put(s ^ t, q, r + e - g)

    def sqrt(self, a):
        k, s, m, e = decode(self.f, a)
        if k >= QUIET:
            return self.f.nan
        if k == ZERO:
            return a
        if s:
            return self.invalid()
        return a if k == INF else self.put(0, *root(m, e))

    def key(self, a):
        """An order of numbers in which -0 is below +0."""
        k, s, m, e = decode(self.f, a)
        low = self.f.emin - self.f.p
        size = 1 << self.f.emax - low + 2 if k == INF else m << e - low if m else 0
        return (-size, -1) if s else (size, 0)

    def less(self, a, b):
        return self.key(a)[0] < self.key(b)[0]

    def min(self, a, b):
        return self.pick(a, b, lambda x, y: x <= y)

    def max(self, a, b):
        return self.pick(a, b, lambda x, y: x >= y)

    def pick(self, a, b, first):
        if self.nan(a):
            return self.f.nan if self.nan(b) else b
        return a if self.nan(b) or first(self.key(a), self.key(b)) else b

    def eq(self, a, b):
        return not self.nan(a, b) and self.key(a)[0] == self.key(b)[0]

    def lt(self, a, b):
        if self.nan(a, b):
            self.flags |= NV
            return False
        return self.less(a, b)

    def le(self, a, b):
        if self.nan(a, b):
            self.flags |= NV
            return False
        return not self.less(b, a)
