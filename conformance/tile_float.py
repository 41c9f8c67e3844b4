"""Floating point of the tile machine's instructions (tile-semantics.md 5): FP32, FP16 and FP8 with five roundings, flush to zero,
saturation and flags. Numbers are exact fractions until they are rounded once."""
import math
from fractions import Fraction

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16


class Format:
    def __init__(self, width, fraction, bias, largest, canonical):
        self.width, self.p, self.bias, self.canonical = width, fraction, bias, canonical
        self.sign = 1 << width - 1
        self.emin = 1 - bias
        self.top = (1 << width - 1 - fraction) - 1  # all ones in the exponent
        self.has_infinity = width > 8
        self.largest_bits = largest
        self.infinity = self.top << fraction
        self.largest = self.value(largest)

    def value(self, bits):
        exponent, fraction = bits >> self.p & self.top, bits & (1 << self.p) - 1
        size = Fraction((fraction | (1 << self.p if exponent else 0)) << max(exponent, 1)) / (1 << self.bias + self.p)
        return -size if bits & self.sign else size

    def is_nan(self, bits):
        size = bits & self.sign - 1
        return size > self.infinity if self.has_infinity else size == 0x7F

    def is_signaling(self, bits):
        return self.has_infinity and self.is_nan(bits) and not bits >> self.p - 1 & 1

    def quiet(self, bits):
        return bits | 1 << self.p - 1 if self.has_infinity else bits

    def is_infinite(self, bits):
        return self.has_infinity and bits & self.sign - 1 == self.infinity

    def is_zero(self, bits):
        return bits & self.sign - 1 == 0


F32 = Format(32, 23, 127, 0x7F7FFFFF, 0x7FC00000)
F16 = Format(16, 10, 15, 0x7BFF, 0x7E00)
F8 = Format(8, 3, 7, 0x7E, 0x7F)


class Mode:
    """config as the FP instructions see it, and the flags that they raise."""

    def __init__(self, config=0):
        self.rm, self.ftz, self.fsat = config & 7, bool(config & 8), bool(config & 64)
        self.flags = 0

    def whole(self, x, negative):
        """A positive fraction as an integer, by the rounding mode."""
        n, rest = divmod(x.numerator, x.denominator)
        twice = 2 * rest - x.denominator
        up = {0: twice > 0 or (twice == 0 and n & 1), 1: False, 2: rest and negative, 3: rest and not negative, 4: twice >= 0}[self.rm]
        return n + bool(up)

    def operand(self, fmt, bits):
        if self.ftz and bits >> fmt.p & fmt.top == 0:
            return bits & fmt.sign
        return bits

    def overflow(self, fmt, sign):
        """Result of 5.4 (b) without flags."""
        if self.fsat or self.rm == 1 or (self.rm == 2 and not sign) or (self.rm == 3 and sign):
            return sign | fmt.largest_bits
        return sign | (fmt.infinity if fmt.has_infinity else 0x7F)

    def rounded(self, fmt, x):
        """A fraction other than 0 in the format."""
        sign = fmt.sign if x < 0 else 0
        x = abs(x)
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** e > x:
            e -= 1
        n = self.whole(x / Fraction(2) ** (e - fmt.p), sign)
        xr = n * Fraction(2) ** (e - fmt.p)
        if xr > fmt.largest:
            self.flags |= OF | NX
            return self.overflow(fmt, sign)
        if e >= fmt.emin:
            self.flags |= NX if xr != x else 0
            if n >> fmt.p + 1:
                n, e = n >> 1, e + 1
            return sign | (e + fmt.bias) << fmt.p | n & (1 << fmt.p) - 1
        n = self.whole(x / Fraction(2) ** (fmt.emin - fmt.p), sign)
        if n * Fraction(2) ** (fmt.emin - fmt.p) != x:
            self.flags |= NX | (UF if xr < Fraction(2) ** fmt.emin else 0)
        if self.ftz and 0 < n < 1 << fmt.p:
            self.flags |= UF | NX
            return sign
        return sign | n

    def nan(self, fmt, *operands):
        """The first NaN, quieted; None when there is none."""
        found = None
        for bits in operands:
            if fmt.is_signaling(bits):
                self.flags |= NV
            if found is None and fmt.is_nan(bits):
                found = fmt.quiet(bits)
        return found

    def invalid(self, fmt):
        self.flags |= NV
        return fmt.canonical

    def fma(self, fmt, a, b, c, negate_product=False, negate_c=False, only_product=False):
        """a * b + c; without c, a * b."""
        a, b, c = (self.operand(fmt, x) for x in (a, b, c))
        wild = (fmt.is_zero(a) and fmt.is_infinite(b)) or (fmt.is_infinite(a) and fmt.is_zero(b))
        found = self.nan(fmt, a, b, *([] if only_product else [c]))
        if found is not None:
            if wild:
                self.flags |= NV
            return found
        if wild:
            return self.invalid(fmt)
        sign = (a ^ b) & fmt.sign ^ (fmt.sign if negate_product else 0)
        if negate_c:
            c ^= fmt.sign
        if fmt.is_infinite(a) or fmt.is_infinite(b):
            if not only_product and fmt.is_infinite(c) and c & fmt.sign != sign:
                return self.invalid(fmt)
            return sign | fmt.infinity
        if not only_product and fmt.is_infinite(c):
            return c
        product = fmt.value(a) * fmt.value(b) * (-1 if negate_product else 1)
        if only_product:
            return self.rounded(fmt, product) if product else sign
        total = product + fmt.value(c)
        if total:
            return self.rounded(fmt, total)
        if product == 0 and sign == c & fmt.sign:
            return sign
        return fmt.sign if self.rm == 2 else 0

    def mul(self, fmt, a, b):
        return self.fma(fmt, a, b, 0, only_product=True)

    def add(self, fmt, a, b, negate=False):
        a, b = self.operand(fmt, a), self.operand(fmt, b)
        found = self.nan(fmt, a, b)
        if found is not None:
            return found
        if negate:
            b ^= fmt.sign
        if fmt.is_infinite(a) and fmt.is_infinite(b) and a != b:
            return self.invalid(fmt)
        if fmt.is_infinite(a) or fmt.is_infinite(b):
            return a if fmt.is_infinite(a) else b
        total = fmt.value(a) + fmt.value(b)
        if total:
            return self.rounded(fmt, total)
        if a & fmt.sign == b & fmt.sign:
            return a & fmt.sign
        return fmt.sign if self.rm == 2 else 0

    def reciprocal(self, fmt, a, root=False):
        a = self.operand(fmt, a)
        found = self.nan(fmt, a)
        if found is not None:
            return found
        sign = a & fmt.sign
        if fmt.is_zero(a):
            self.flags |= DZ
            if self.fsat:
                return sign | fmt.largest_bits
            return sign | (fmt.infinity if fmt.has_infinity else 0x7F)
        if root and sign:
            return self.invalid(fmt)
        if fmt.is_infinite(a):
            return sign
        if not root:
            return self.rounded(fmt, 1 / fmt.value(a))
        x = 1 / fmt.value(a)  # sqrt of it: 60 bits, and a last one that says whether there is more
        shift = 120 + 2 * (x.denominator.bit_length() // 2)
        scaled = x.numerator * (1 << 2 * shift) // x.denominator
        n = math.isqrt(scaled)
        exact = n * n == scaled and scaled * x.denominator == x.numerator << 2 * shift
        return self.rounded(fmt, Fraction(2 * n + (not exact), 2 << shift))

    def least(self, fmt, a, b, greatest=False):
        a, b = self.operand(fmt, a), self.operand(fmt, b)
        found = self.nan(fmt, a, b)
        if found is not None:
            return found if fmt.is_nan(a) and fmt.is_nan(b) else b if fmt.is_nan(a) else a

        def order(x):
            size = x & fmt.sign - 1
            return -size - 1 if x & fmt.sign else size
        return (max if greatest else min)(a, b, key=order)

    def compare(self, fmt, relation, a, b):
        a, b = self.operand(fmt, a), self.operand(fmt, b)
        if fmt.is_nan(a) or fmt.is_nan(b):
            if relation != "EQ" or fmt.is_signaling(a) or fmt.is_signaling(b):
                self.flags |= NV
            return False

        def order(x):
            size = x & fmt.sign - 1
            return -size if x & fmt.sign else size
        x, y = order(a), order(b)
        return {"EQ": x == y, "LT": x < y, "LE": x <= y, "GT": x > y}[relation]

    def to_integer(self, fmt, a, width):
        a = self.operand(fmt, a)
        high, low = (1 << width - 1) - 1, -(1 << width - 1)
        if fmt.is_nan(a):
            self.flags |= NV
            return high
        negative = bool(a & fmt.sign)
        if fmt.is_infinite(a):
            self.flags |= NV
            return low if negative else high
        x = abs(fmt.value(a))
        n = self.whole(x, negative) * (-1 if negative else 1)
        if not low <= n <= high:
            self.flags |= NV
            return low if n < 0 else high
        self.flags |= NX if abs(n) != x else 0
        return n

    def from_integer(self, fmt, n):
        return self.rounded(fmt, Fraction(n)) if n else 0

    def convert(self, source, target, a):
        a = self.operand(source, a)
        sign = target.sign if a & source.sign else 0
        if source.is_nan(a):
            if source.is_signaling(a):
                self.flags |= NV
            if 8 in (source.width, target.width):
                return sign | target.canonical
            payload = a & (1 << source.p) - 1
            shift = target.p - source.p
            payload = payload << shift if shift > 0 else payload >> -shift
            return target.quiet(sign | target.infinity | payload)
        if source.is_infinite(a):
            if target.has_infinity:
                return sign | target.infinity
            self.flags |= OF | NX
            return sign | (target.largest_bits if self.fsat else 0x7F)
        value = source.value(a)
        return self.rounded(target, value) if value else sign
