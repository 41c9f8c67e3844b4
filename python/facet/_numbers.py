"""The numbers of the machines: bit patterns in, bit patterns and flags out. The host's floating point plays no part."""
from __future__ import annotations

import ctypes
import dataclasses
import enum
import operator
from typing import Any, NamedTuple, Union

from . import _library as c
from ._library import lib

ROUNDINGS = ("RNE", "RTZ", "RDN", "RUP", "RMM")
FLUSHES = ("none", "tiny", "subnormal")
SATURATIONS = ("none", "quiet", "flagged")
NAN_RULES = ("canonical", "first")
NAN_POLICIES = ("propagate", "zero", "inf")
ACCUMULATORS = ("FP32", "FP16", "INT32", "INT16", "BF16")
CLASSES = ("-inf", "-normal", "-subnormal", "-0", "+0", "+subnormal", "+normal", "+inf", "signaling nan", "nan")
NAMES: tuple[str, ...] = tuple(lib.facet_format_name(number).decode() for number in range(12))
FLOATS = NAMES[:7]


class Flag(enum.IntFlag):
    """What an operation raised: the bits of fcsr, EXC.ST and STAT (facet/num.h)."""

    NX, UF, OF, DZ, NV, QNAN, SNAN = (1 << bit for bit in range(7))
    FTZ, SAT, DOWN, UNSUP = (1 << bit for bit in range(12, 16))


class Rounded(NamedTuple):
    """A result: its bits, and what was raised on the way."""

    bits: int
    flags: Flag


class Compared(NamedTuple):
    """Whether it holds, and what was raised."""

    holds: bool
    flags: Flag


class Format:
    """Arithmetic of a floating-point format: "FP16", "FP32", "BF16", "FP8_E4M3", "FP8_E5M2", "BF16_LITE" or "FP64".

    Operands are bits of the format; every result is the exact one, rounded once. The rules are those of RISC-V unless given:
    `rounding` RNE, RTZ, RDN, RUP or RMM; `flush` none, tiny (CAP) or subnormal (tile); `saturate` none, quiet (CAP) or flagged
    (tile); `nan` canonical or first (tile); `flush_operands` for subnormal operands that read as zero."""

    def __init__(self, name: str, *, rounding: str = "RNE", flush: str = "none", saturate: str = "none",
                 nan: str = "canonical", flush_operands: bool = False) -> None:
        self._code = c.one_of(name, FLOATS, "format")
        self.name = name
        self.width = int(lib.facet_format_bits(self._code))
        self._policy = c.Policy(c.one_of(rounding, ROUNDINGS, "rounding"), c.one_of(flush, FLUSHES, "flush"),
                                c.one_of(saturate, SATURATIONS, "saturate"), c.one_of(nan, NAN_RULES, "nan"),
                                bool(flush_operands))

    def __repr__(self) -> str:
        return f"facet.Format({self.name!r})"

    def add(self, a: int, b: int) -> Rounded:
        """a + b"""
        return self._rounded("add", a, b)

    def sub(self, a: int, b: int) -> Rounded:
        """a - b"""
        return self._rounded("sub", a, b)

    def mul(self, a: int, b: int) -> Rounded:
        """a * b"""
        return self._rounded("mul", a, b)

    def div(self, a: int, b: int) -> Rounded:
        """a / b"""
        return self._rounded("div", a, b)

    def sqrt(self, a: int) -> Rounded:
        """The square root."""
        return self._rounded("sqrt", a)

    def min(self, a: int, b: int) -> Rounded:
        """FMIN of RISC-V: a number wins against a NaN, -0 < +0."""
        return self._rounded("min", a, b)

    def max(self, a: int, b: int) -> Rounded:
        """FMAX of RISC-V."""
        return self._rounded("max", a, b)

    def fma(self, a: int, b: int, addend: int, *, negate_product: bool = False, negate_addend: bool = False) -> Rounded:
        """a * b + addend, rounded once."""
        return self._call("fma", self._code, *self._bits(a, b, addend), bool(negate_product), bool(negate_addend))

    def dp2(self, a: int, b: int, x: int, y: int) -> Rounded:
        """a * b - x * y, rounded once; not of FP64."""
        return self._short("dp2", a, b, x, y)

    def rcp(self, a: int) -> Rounded:
        """1 / a, as the tile machine has it; not of FP64."""
        return self._short("rcp", a)

    def rsqrt(self, a: int) -> Rounded:
        """1 / sqrt(a), as the tile machine has it; not of FP64."""
        return self._short("rsqrt", a)

    def eq(self, a: int, b: int) -> Compared:
        """a = b; only a signaling NaN raises NV."""
        return self._compared("eq", a, b)

    def lt(self, a: int, b: int) -> Compared:
        """a < b; any NaN raises NV."""
        return self._compared("lt", a, b)

    def le(self, a: int, b: int) -> Compared:
        """a <= b; any NaN raises NV."""
        return self._compared("le", a, b)

    def classify(self, a: int) -> str:
        """The class of FCLASS: "-inf", "-normal", ..., "+inf", "signaling nan" or "nan"."""
        return CLASSES[int(lib.facet_num_fclass(self._code, *self._bits(a))).bit_length() - 1]

    def convert(self, bits: int, source: str) -> Rounded:
        """From bits of another floating-point format into this one."""
        other = Format(source)
        return self._call("convert", self._code, other._code, *other._bits(bits))

    def to_int(self, a: int, width: int = 32, *, signed: bool = True) -> tuple[int, Flag]:
        """Rounded to an integer of 1 to 64 bits; what does not fit is the nearest end, with NV."""
        if not 1 <= c.number(width, 8, "width") <= 64:
            raise ValueError(f"width is {width}, expected 1 to 64")
        whole, flags = self._call("to_int", self._code, *self._bits(a), width, bool(signed))
        return whole - (1 << 64) if signed and whole >> 63 else whole, flags

    def from_int(self, value: int) -> Rounded:
        """An integer of 64 bits, signed or not."""
        whole = operator.index(value)
        if not -1 << 63 <= whole < 1 << 64:
            raise ValueError(f"{whole} has more than 64 bits")
        return self._call("from_i64" if whole < 0 else "from_u64", self._code, whole)

    def bits(self, value: Union[float, str]) -> Rounded:
        """A number, or a text such as "0x1.8p3", "2.5e-3" or "inf", rounded once: a text by RNE and without the other rules."""
        if not isinstance(value, str):
            return self._call("from_double", self._code, float(value))
        text, length, flags = c.text(value.strip(), "value"), ctypes.c_size_t(), ctypes.c_uint()
        out = int(lib.facet_num_from_text(self._code, text, length, flags))
        if not length.value or length.value != len(text):
            raise ValueError(f"{value!r} is not a number")
        return Rounded(out, Flag(flags.value))

    def number(self, bits: int) -> float:
        """The value of the bits, exactly."""
        return float(lib.facet_num_to_double(self._code, *self._bits(bits)))

    def _bits(self, *operands: int) -> list[int]:
        return [c.number(one, self.width, f"{self.name} operand") for one in operands]

    def _rounded(self, name: str, *operands: int) -> Rounded:
        return self._call(name, self._code, *self._bits(*operands))

    def _short(self, name: str, *operands: int) -> Rounded:
        if self.width > 32:
            raise ValueError(f"{name} is not defined for {self.name}")
        return self._rounded(name, *operands)

    def _compared(self, name: str, *operands: int) -> Compared:
        holds, flags = self._call(name, self._code, *self._bits(*operands))
        return Compared(bool(holds), flags)

    def _call(self, name: str, *arguments: Any) -> Rounded:
        flags = ctypes.c_uint()
        out = getattr(lib, "facet_num_" + name)(*arguments, self._policy, flags)
        return Rounded(int(out), Flag(flags.value))


@dataclasses.dataclass(frozen=True)
class Elements:
    """How elements become accumulators and back: the settings of CAP.PREC (spec/numeric.md 9).

    `element` is a format of at most 32 bits, integers ("INT32" to "INT2") included; `accumulator` FP32, FP16, INT32, INT16 or
    BF16; `nan` propagate, zero or inf. `scale` and `zero_point` are those of quantized integers."""

    element: str = "FP32"
    accumulator: str = "FP32"
    rounding: str = "RNE"
    nan: str = "propagate"
    flush: bool = False
    saturate: bool = False
    saturate_symmetric: bool = False
    unsigned: bool = False
    mixed_step: bool = False
    scale: int = 0
    zero_point: int = 0

    def __post_init__(self) -> None:
        self._conv()

    @property
    def width(self) -> int:
        """Bits of an element."""
        return int(lib.facet_format_bits(NAMES.index(self.element)))

    def widen(self, element: int) -> Rounded:
        """The accumulator of an element."""
        flags = ctypes.c_uint()
        out = lib.facet_widen(self._conv(), c.number(element, self.width, "element"), flags)
        return Rounded(int(out), Flag(flags.value))

    def narrow(self, accumulator: int) -> Rounded:
        """The element of an accumulator."""
        flags = ctypes.c_uint()
        out = lib.facet_narrow(self._conv(), c.number(accumulator, 32, "accumulator"), flags)
        return Rounded(int(out), Flag(flags.value))

    def _conv(self) -> Any:
        if self.element == "FP64" or not -128 <= operator.index(self.scale) <= 127:
            raise ValueError(f"element {self.element} with scale {self.scale}, expected at most 32 bits and -128 to 127")
        if not -32768 <= operator.index(self.zero_point) <= 32767:
            raise ValueError(f"zero_point is {self.zero_point}, expected -32768 to 32767")
        c.one_of(self.accumulator, ACCUMULATORS, "accumulator")
        return c.Conv(elem=c.one_of(self.element, NAMES, "element"), acc=NAMES.index(self.accumulator),
                      rm=c.one_of(self.rounding, ROUNDINGS, "rounding"), nan_pol=c.one_of(self.nan, NAN_POLICIES, "nan"),
                      ftz=bool(self.flush), sat=bool(self.saturate), sat_mode=bool(self.saturate_symmetric),
                      uns=bool(self.unsigned), mixed_step=bool(self.mixed_step), scale=self.scale, zp=self.zero_point)
