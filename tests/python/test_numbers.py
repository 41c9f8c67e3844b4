"""Numbers of the machines from Python: formats, flags, elements."""
import math
import struct

import facet
from facet import Flag
from harness import case, check, check_eq, main


def refused(kind, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        return str(error)
    check(False, f"{call} {arguments} {options} is a {kind.__name__}")


@case()
def arithmetic_with_flags():
    half = facet.Format("FP16")
    one, third = half.bits(1).bits, half.bits(1 / 3)
    check_eq((one, half.width, third.flags), (0x3C00, 16, Flag.NX))
    check_eq(half.add(one, one), (0x4000, Flag(0)))
    check_eq(half.sub(one, one), (0, Flag(0)))
    check_eq(half.div(one, 0), (0x7C00, Flag.DZ))
    check_eq(half.mul(0x7BFF, 0x4000), (0x7C00, Flag.OF | Flag.NX))
    check_eq(half.sqrt(half.bits(-1).bits), (0x7E00, Flag.NV))
    check_eq(half.number(half.fma(one, one, one, negate_product=True).bits), 0.0)
    check_eq(half.number(half.dp2(0x4000, 0x4000, one, one).bits), 3.0)
    check_eq([half.number(half.rcp(0x4000).bits), half.number(half.rsqrt(0x4400).bits)], [0.5, 0.5])
    check_eq([half.min(0, 0x8000).bits, half.max(0, 0x8000).bits], [0x8000, 0])
    check_eq([half.lt(0, one), half.le(one, 0), half.eq(0, 0x8000)], [(True, 0), (False, 0), (True, 0)])
    check_eq(half.lt(0x7E00, one), (False, Flag.NV))
    check_eq([half.classify(bits) for bits in (0xFC00, 0x8001, 0, 0x3C00, 0x7C01, 0x7E00)],
             ["-inf", "-subnormal", "+0", "+normal", "signaling nan", "nan"])


@case()
def rules_of_the_machines():
    huge = facet.Format("FP32").bits(1e9).bits
    check_eq(facet.Format("FP8_E4M3").convert(huge, "FP32").bits, 0x7F)
    check_eq(facet.Format("FP8_E4M3", saturate="quiet").convert(huge, "FP32"), (0x7E, Flag.SAT))
    third = facet.Format("FP32").div(0x3F800000, 0x40400000).bits
    check_eq(facet.Format("FP32", rounding="RUP").div(0x3F800000, 0x40400000).bits - third, 0)
    check_eq(third - facet.Format("FP32", rounding="RTZ").div(0x3F800000, 0x40400000).bits, 1)
    tiny = facet.Format("FP32", flush="subnormal").mul(0x00800000, 0x3F000000)
    check_eq(tiny, (0, Flag.UF | Flag.NX | Flag.FTZ))
    check_eq(facet.Format("FP32", nan="first").add(0x7FC00123, 0).bits, 0x7FC00123)
    check_eq(facet.Format("FP32", flush_operands=True).add(1, 0).bits, 0)


@case()
def integers_texts_and_doubles():
    double = facet.Format("FP64")
    check_eq(double.bits(0.1).bits, struct.unpack("<Q", struct.pack("<d", 0.1))[0])
    check_eq([double.number(double.bits(text).bits) for text in ("0x1.8p3", " 2.5e-3 ", "-inf")], [12, 0.0025, -math.inf])
    check(math.isnan(double.number(double.bits(math.nan).bits)), "a NaN is a NaN")
    check_eq([double.number(double.from_int(n).bits) for n in (-5, 2**63, -2**63)], [-5, 2.0**63, -2.0**63])
    check_eq(double.to_int(double.bits(-2.5).bits, 8), (-2, Flag.NX))
    check_eq(double.to_int(double.bits(300).bits, 8), (127, Flag.NV))
    check_eq(double.to_int(double.bits(2**64).bits, 64, signed=False), (2**64 - 1, Flag.NV))


@case()
def elements():
    quantized = facet.Elements("INT8", "FP32", scale=-3, zero_point=10)
    wide = quantized.widen(26)
    check_eq(facet.Format("FP32").number(wide.bits), 2.0)
    check_eq(quantized.narrow(wide.bits), (26, Flag.DOWN))
    check_eq(facet.Elements("INT8", saturate=True).narrow(facet.Format("FP32").bits(1000).bits).bits, 127)
    check_eq(facet.Elements("FP16").widen(0x3C00).bits, 0x3F800000)


@case()
def misuse():
    check("FP7" in refused(ValueError, facet.Format, "FP7"), "the name is in the message")
    refused(ValueError, facet.Format, "INT8")
    refused(ValueError, facet.Format, "FP16", rounding="up")
    half, double = facet.Format("FP16"), facet.Format("FP64")
    refused(ValueError, half.add, 0x10000, 0)
    refused(TypeError, half.add, 1.0, 0)
    for name, count in (("dp2", 4), ("rcp", 1), ("rsqrt", 1)):
        refused(ValueError, getattr(double, name), *[0] * count)
    for text in ("", "1x", "one", "1\0"):
        refused(ValueError, half.bits, text)
    refused(ValueError, half.to_int, 0, 65)
    refused(ValueError, half.to_int, 0, 0)
    refused(ValueError, half.from_int, 2**64)
    refused(ValueError, facet.Elements, "FP64")
    refused(ValueError, facet.Elements, accumulator="INT8")
    refused(ValueError, facet.Elements, scale=128)
    refused(ValueError, facet.Elements, zero_point=40000)
    refused(ValueError, facet.Elements("INT4").widen, 16)


main("python_numbers")
