"""FP32 as the raster and geometry units compute (tile-semantics.md 16.1): nearest even, subnormals kept, one rounding each.

Values are Python floats that FP32 can hold. Sums, products, quotients and roots of such values, computed in FP64 and rounded
again, are those of FP32 (53 bits are more than twice 24 and two); a fused sum is made of integers and rounded once.
"""
import math
import struct

INF = math.inf
NAN = math.nan
_PACK, _UNPACK = struct.Struct("<f").pack, struct.Struct("<f").unpack
_WORD = struct.Struct("<I")


def f32(x):
    """The nearest FP32 value."""
    try:
        return _UNPACK(_PACK(x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def bits(x):
    return _WORD.unpack(_PACK(x))[0]


def of_bits(word):
    return _UNPACK(_WORD.pack(word))[0]


def add(a, b):
    return f32(a + b)


def sub(a, b):
    return f32(a - b)


def mul(a, b):
    return f32(a * b)


def div(a, b):
    if b == 0:
        if a == 0 or a != a:
            return NAN
        return math.copysign(INF, a) * math.copysign(1, b)
    return f32(a / b)


def sqrt(a):
    return f32(math.sqrt(a))


def fma(a, b, c):
    product = a * b  # exact: 48 bits, and far from the limits of FP64
    if not (math.isfinite(product) and math.isfinite(c)):
        return product + c
    pn, pd = product.as_integer_ratio()
    cn, cd = c.as_integer_ratio()
    total = pn * cd + cn * pd if pd != cd else pn + cn
    if total == 0:
        return product + c  # a zero with the sign that a sum of zeros has
    exponent = 1 - (max(pd, cd) if pd == cd else pd * cd).bit_length()
    size = abs(total)
    spare = size.bit_length() - 50
    if spare > 0:  # what is below 50 bits counts as one bit
        size = size >> spare | (size & (1 << spare) - 1 != 0)
        exponent += spare
    return f32(math.ldexp(size if total > 0 else -size, exponent))


def floor_i(x):
    """The largest integer <= x, within i32; 0 for NaN."""
    if x != x:
        return 0
    if x >= 2147483647:
        return 2147483647
    if x <= -2147483648:
        return -2147483648
    return math.floor(x)


def u8(x):
    return min(max(floor_i(add(x, 0.5)), 0), 255)


def mul8(a, b):
    return (a * b + 127) // 255
