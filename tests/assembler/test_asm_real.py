"""Floating-point constants of the assembler against exact fractions, and the page of directives against the table.

The oracle rounds a Fraction to p bits by integers alone; it shares nothing with src/num. Texts are chosen where a
detour over a host's double would go wrong: a hair beside the middle between two numbers.
"""
import os
import random
import re
import subprocess
from fractions import Fraction

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]

# directive: bits, precision, smallest and largest exponent, has infinities, canonical NaN
FORMATS = {
    ".float8_e4m3": (8, 4, -6, 8, False, 0x7F),
    ".float8_e5m2": (8, 3, -14, 15, True, 0x7F),
    ".float16": (16, 11, -14, 15, True, 0x7E00),
    ".bfloat16": (16, 8, -126, 127, True, 0x7FC0),
    ".float": (32, 24, -126, 127, True, 0x7FC00000),
    ".double": (64, 53, -1022, 1023, True, 0x7FF8 << 48),
}


def rounded(x, name):
    """The bits of the positive fraction x, or None when it is too large."""
    _, p, emin, emax, has_inf, _ = FORMATS[name]
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e = max(emin, e if x >= Fraction(2) ** e else e - 1)
    if e > emax:
        return None
    unit = Fraction(2) ** (e - p + 1)
    n, rest = divmod(x, unit)
    n += rest * 2 > unit or (rest * 2 == unit and n % 2 == 1)
    code = int(n) + ((e - emin) << (p - 1))
    # E4M3 has one binade more, whose last code is the NaN.
    largest = (emax - emin + 2) * 2 ** (p - 1) - (1 if has_inf else 2)
    return code if code <= largest else None


def assemble(lines):
    done = subprocess.run([FACET, "as", "-", "--isa", "xphmg", "--format", "bin", "-o", "-"], capture_output=True,
                          input="".join(".balign 8\n%s\n" % line for line in lines).encode())
    return done.returncode, done.stdout, done.stderr.decode()


def check_all(name, texts):
    size = FORMATS[name][0] // 8
    wanted = [(t, rounded(value, name)) for t, value in texts]
    good = [(t, w) for t, w in wanted if w is not None]
    code, out, err = assemble(["%s %s" % (name, t) for t, _ in good])
    check_eq((code, err), (0, ""))
    for i, (text, want) in enumerate(good):
        check_eq(int.from_bytes(out[8 * i:8 * i + size], "little"), want, "%s %s" % (name, text[:60]))
    bad = [t for t, w in wanted if w is None][:15]
    if bad:
        code, _, err = assemble(["%s %s" % (name, t) for t in bad])
        check_eq((code, err.count("the number does not fit")), (2, len(bad)), name)


def decimal(x):
    """The text of a fraction whose denominator is a power of two: exact."""
    shift = x.denominator.bit_length() - 1
    digits = str(x.numerator * 5 ** shift)
    return digits + "e-%d" % shift


@case("TILE-584")
def middles_and_a_hair_beside_them():
    rng = random.Random(5)
    for name, (_, p, emin, emax, _, _) in FORMATS.items():
        texts = []
        for _ in range(60):
            e = rng.choice([emin, emin, rng.randint(emin, emax), emax])
            n = rng.randrange(0 if e == emin else 2 ** (p - 1), 2 ** p)
            middle = (Fraction(n) + Fraction(1, 2)) * Fraction(2) ** (e - p + 1)
            text = decimal(middle)
            head, tail = text.split("e-")
            for more in ("0", "0000000000000000000000000000000001", "9" * 30):
                grown = int(head + more)
                texts.append(("%de-%d" % (grown, int(tail) + len(more)), Fraction(grown) / 10 ** (int(tail) + len(more))))
            less = int(head + "0" * 30) - 1
            texts.append(("%de-%d" % (less, int(tail) + 30), Fraction(less) / 10 ** (int(tail) + 30)))
        check_all(name, [(t, v) for t, v in texts if v > 0])


@case("TILE-584")
def many_ways_to_write():
    rng = random.Random(6)
    for name in FORMATS:
        texts = [("1.5", Fraction(3, 2)), (".5", Fraction(1, 2)), ("2.", Fraction(2)), ("0x1.8p3", Fraction(12)), ("0X10", Fraction(16)),
                 ("1e1", Fraction(10)), ("1E+1", Fraction(10)), ("0x.8P-2", Fraction(1, 8)), ("0." + "0" * 500 + "1e501", Fraction(1)),
                 ("1" + "0" * 500 + "e-500", Fraction(1)), ("1." + "0" * 900 + "1", Fraction(1) + Fraction(1, 10 ** 901)),
                 ("0x1." + "0" * 300 + "1", Fraction(1) + Fraction(1, 16 ** 301)), ("1e-5000", Fraction(1, 10 ** 5000)),
                 ("2" + "0" * 500, Fraction(2 * 10 ** 500)), ("7" * 1200 + "e-1199", Fraction(int("7" * 1200), 10 ** 1199))]
        for _ in range(200):
            digits, exponent = rng.randrange(1, 10 ** rng.randint(1, 30)), rng.randint(-60, 20)
            texts.append(("%de%d" % (digits, exponent), Fraction(digits) * Fraction(10) ** exponent))
        check_all(name, texts)


@case("TILE-584")
def signs_and_words():
    for name, (bits, p, emin, emax, has_inf, nan) in FORMATS.items():
        sign, one = 1 << (bits - 1), -emin + 1 << (p - 1)
        infinity = (emax - emin + 2) << (p - 1)
        lines = [("-1", sign | one), ("+1", one), ("-0", sign), ("0.0e9", 0), ("nan", nan), ("-NaN", sign | nan)]
        lines += [("inf", infinity), ("-Infinity", sign | infinity)] if has_inf else []
        code, out, err = assemble(["%s %s" % (name, t) for t, _ in lines])
        check_eq((code, err), (0, ""))
        for i, (text, want) in enumerate(lines):
            check_eq(int.from_bytes(out[8 * i:8 * i + bits // 8], "little"), want, "%s %s" % (name, text))
    for line, message in ((".float8_e4m3 inf", "2:14: error: the number does not fit FP8_E4M3"), (".float16 x", "2:10: error: expected a floating-point"),
                          (".float16 1e99999999999", "does not fit FP16"), (".float 1.5.2", "2:11: error"), (".bfloat16", "floating-point")):
        code, _, err = assemble([line])
        check_eq(code, 2, line)
        check(message in err, err)


@case()
def every_directive_is_on_the_page():
    with open(os.path.join(SOURCE, "src/assembler/directive.c")) as file:
        table = file.read().split("directives[] = {")[1].split("};")[0]
    known = set(re.findall(r'\{"(\w+)"', table))
    with open(os.path.join(SOURCE, "docs/assembly.md")) as file:
        page = file.read().split("## Directives")[1].split("\n## ")[0]
    listed = set(re.findall(r"`\.(\w+)[` ]", page)) - {"cfi_"}
    check(len(known) > 60, known)
    check_eq(sorted(listed - {"cfi_"}), sorted(known), "directives of docs/assembly.md")


main("asm_real")
