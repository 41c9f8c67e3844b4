"""Sweeps over numbers on the hart: a state, one instruction, many operands; what comes out and every flag it raises are seen."""
import random

from effective import APPLY
from exact import FP16, FP32

FLAGS = 0x7F
CLEAR = f"li t0, 0x7f\n csrw 0x7d4, t0\n li t0, {APPLY:#x}\n csrs 0x7d0, t0"
LOOK = "csrr a6, 0x7d4\n csrr a7, 0x7d2"


def seen_flags(eff, flags):
    """EXC.ST and STAT after an instruction that raised these."""
    return [flags & FLAGS, eff.stat(flags)]


def special(eff):
    """Element bits that rules speak of."""
    if eff.integer:
        n = eff.integer
        return [0, 1, (1 << n) - 1, 1 << n - 1, (1 << n - 1) - 1, (1 << n - 1) + 1 & (1 << n) - 1]
    f = eff.element
    least = 1 << f.p - 1
    out = [0, f.sign, 1, f.sign | 1, least - 1, least, least + 1, f.largest, f.sign | f.largest, f.nan]
    if f.inf is not None:
        out += [f.inf, f.sign | f.inf]
    if f in (FP32, FP16) or f.name.startswith("BF16"):
        out += [f.inf + (8 if f.name == "BF16_LITE" else 1), f.nan | f.sign | 8]
    return out


def one(eff):
    """Bits of 1.0, or the integer 1."""
    if eff.integer:
        return 1
    return {"FP32": 0x3F800000, "FP16": 0x3C00, "BF16": 0x3F80, "BF16_LITE": 0x3F80, "FP8_E4M3": 0x38, "FP8_E5M2": 0x3C}[eff.element.name]


def ordinary(eff, rng, spread=2):
    """A number not far from 1 in size."""
    if eff.integer:
        return rng.getrandbits(min(eff.integer, 9)) if rng.random() < 0.6 else rng.getrandbits(eff.integer)
    f = eff.element
    width = f.bits - 1
    step = 1 << (7 if f.name == "BF16_LITE" else f.p - 1)
    value = one(eff) + rng.randrange(-spread * step, spread * step) & (1 << width) - 1
    return value | (f.sign if rng.random() < 0.5 else 0)


def some(eff, rng, strange=0.3):
    """Any element: often an ordinary one, sometimes a special one or any bits."""
    roll = rng.random()
    if roll < strange / 2:
        return rng.choice(special(eff))
    return rng.getrandbits(eff.native) if roll < strange else ordinary(eff, rng)


def seeded(*parts):
    return random.Random(repr(parts))
