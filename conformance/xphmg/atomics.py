"""Atomics of the base hart: every AMO over random operands, LR and SC that succeed and fail."""
from hart import Case
from hart_numbers import seeded
from xphmg.base import signed

NAMES = ("xphmg/atomics",)
ACTS = {"swap": lambda a, b: b, "add": lambda a, b: a + b, "xor": lambda a, b: a ^ b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
        "min": min, "max": max, "minu": None, "maxu": None}
SIZES = {"w": 4, "d": 8}


def value(rng):
    return rng.choice((rng.getrandbits(64), rng.getrandbits(32), 0, 1, 1 << 31, 1 << 63, (1 << 64) - 1, 0x7FFFFFFF, 0xFFFFFFFF80000000))


def after(name, a, b, size):
    bits = 8 * size
    if name in ("minu", "maxu"):
        return (min if name == "minu" else max)(a & (1 << bits) - 1, b & (1 << bits) - 1)
    return ACTS[name](signed(a, bits), signed(b, bits)) & (1 << bits) - 1


def exchange(suite):
    for letter, size in SIZES.items():
        c, rng = Case(f"xphmg/atomics/amo-{letter}", "CAP-530"), seeded("amo", letter)
        for name in ACTS:
            for n in range(10):
                held, operand, at = value(rng), value(rng), rng.choice((0, 8, 4) if size == 4 else (0, 8))
                order = ("", ".aq", ".rl", ".aqrl")[n % 4]
                word = held & (1 << 8 * size) - 1
                c.asm(f"la a0, data + 64\n li t0, {held:#x}\n sd t0, 0(a0)\n sd t0, 8(a0)\n li a1, {held >> 32 * (at == 4) & (1 << 64) - 1:#x}\n addi a0, a0, {at}\n li a2, {operand:#x}\n li a3, 7")
                same = n % 5 == 4  # into the operand's own register
                old = word if at != 4 else held >> 32
                c.asm(f"amo{name}.{letter}{order} {'a2' if same else 'a3'}, a2, (a0)\n la a0, data + 64\n ld a4, 0(a0)\n ld a5, 8(a0)")
                image = bytearray(held.to_bytes(8, "little") * 2)
                image[at:at + size] = after(name, old, operand, size).to_bytes(size, "little")
                what = f"amo{name}.{letter}{order} of {operand:#x} at {at}, where {old:#x} is"
                c.observe("a2" if same else "a3", signed(old, 8 * size), f"what {what} returns")
                for k, register in enumerate(("a4", "a5")):
                    c.observe(register, int.from_bytes(image[8 * k:8 * k + 8], "little"), f"bytes {8 * k} to {8 * k + 7} after {what}")
        for at in range(1, size):
            c.trap(f"la a0, data + {64 + at}\n amoadd.{letter} a3, a2, (a0)", 6, f"an AMO at {at}", tval=f"data + {64 + at}")
            c.trap(f"la a0, data + {64 + at}\n lr.{letter} a3, (a0)", 4, f"LR at {at}", tval=f"data + {64 + at}")
            c.trap(f"la a0, data + {64 + at}\n sc.{letter} a3, a2, (a0)", 6, f"SC at {at}", tval=f"data + {64 + at}")
        suite.add(c)


def reserved(suite):
    """A loop retries until SC succeeds, as software does; other SCs must fail."""
    for letter, size in SIZES.items():
        c, rng = Case(f"xphmg/atomics/reserved-{letter}", "CAP-530"), seeded("lr", letter)
        for _ in range(8):
            held, new = value(rng), value(rng)
            n = len(c.body)
            c.asm(f"la a0, data + 64\n li t0, {held:#x}\n sd t0, 0(a0)\n li a2, {new:#x}\nretry_{n}:\n lr.{letter} a3, (a0)\n li a4, 5\n sc.{letter} a4, a2, (a0)\n bnez a4, retry_{n}\n ld a5, 0(a0)")
            c.observe("a3", signed(held, 8 * size), f"lr.{letter} of {held:#x}")
            c.observe("a4", 0, f"sc.{letter} after it")
            c.observe("a5", held & ~((1 << 8 * size) - 1) & (1 << 64) - 1 | new & (1 << 8 * size) - 1, "memory after both")
            # the reservation is used up
            c.asm(f"li a4, 0\n li a2, {new ^ 0x55:#x}\n sc.{letter} a4, a2, (a0)\n snez a4, a4\n ld a6, 0(a0)\n sub a6, a6, a5")
            c.observe("a4", 1, f"a second sc.{letter} fails")
            c.observe("a6", 0, "and writes nothing")
        # without a store between, and at another place
        c.asm(f"la a0, data + 64\n lr.{letter} a3, (a0)\n addi a1, a0, 1024\n addi a1, a1, 1024\n ld a5, 0(a1)\n li a2, -1\n li a4, 0\n sc.{letter} a4, a2, (a1)\n snez a4, a4\n ld a6, 0(a1)\n sub a6, a6, a5")
        c.observe("a4", 1, "an SC two kilobytes away fails")
        c.observe("a6", 0, "and writes nothing")
        suite.add(c)


def add(suite):
    for part in (exchange, reserved):
        part(suite)
