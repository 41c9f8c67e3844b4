"""Sums that lie next to the middle between two numbers: rounded to a wider format first they would land in the middle, and then
perhaps on the wrong side. Triangles by RT.TRI over lanes and by jobs.

A wrong model, which rounds each fma and each dp2 to 53 digits before it rounds to 24, chooses the triangles: those where it errs. What is
expected comes from the right one.
"""
import rt_model
from effective import state
from exact import FP32, Arith, Format, decode, round_to
from hart import Case
from hart_numbers import seeded
from rt_job_model import LEAF, Scene
from xphmg.packets import Packet
from xphmg.trees import INF, Program

NAMES = ("xphmg/halves",)
WIDER = Format("53 digits", 64, 53, -1022, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000)


class Twice(Arith):
    """Sums are rounded twice; everything else once."""

    def sum(self, x, y):
        (s, m, e), (t, n, g) = x, y
        low = min(e, g)
        total = (-1) ** s * (m << e - low) + (-1) ** t * (n << g - low)
        if total == 0:
            return super().sum(x, y)
        bits, _ = round_to(WIDER, int(total < 0), abs(total), low)
        _, sign, first, exponent = decode(WIDER, bits)
        return self.put(sign, first, exponent)


def number(sign, m, e):
    return round_to(FP32, sign, m, e)[0]


def near_one(rng):
    """1 and some bits below 2^-12, so that a product of two ends with 2^-24."""
    return number(0, (1 << 12) + 2 * rng.getrandbits(8) + 1, -12)


def crossing(rng):
    """Edge values in the middle: a product that is, less one that is tiny. A ray along z."""
    def tiny():
        return number(rng.getrandbits(1), 1 + rng.getrandbits(6), -rng.randint(30, 50))
    x = [number(1, decode(FP32, near_one(rng))[2], -23), tiny(), near_one(rng)]
    y = [number(1, decode(FP32, near_one(rng))[2], -23), near_one(rng), tiny()]
    z = [number(0, 8 + rng.getrandbits(3), -2) for _ in range(3)]
    return [0, 0, 0, 0, 0, 0x3F800000], [v for j in range(3) for v in (x[j], y[j], z[j])]


def sheared(rng):
    """X and Y of a corner in the middle: an odd number less half of its last digit, nearly."""
    k = rng.randint(15, 22)
    d = number(rng.getrandbits(1), (1 << k) + 1, -12 - k)
    z = [number(0, (1 << k) - 1, -12 - k) for _ in range(3)]

    def odd(sign):
        return number(sign, (1 << 23) + 2 * rng.getrandbits(20) + 1, -23)
    x, y = [odd(1), odd(0), odd(0)], [odd(1), odd(1), odd(0)]
    return [0, 0, 0, d, d if rng.getrandbits(1) else d ^ 1 << 31, 0x3F800000], [v for j in range(3) for v in (x[j], y[j], z[j])]


def turned(values, axis):
    """x, y, z moved on, so that the longest axis of the ray is another one."""
    return [values[3 * (n // 3) + (n + axis) % 3] for n in range(len(values))]


def chosen(eff, rng, make, count):
    """Rays with triangles that they hit, where rounding twice gives other bits."""
    found = []
    while len(found) < count:
        axis = rng.randrange(3)
        ray, corners = (turned(v, axis) for v in make(rng))
        if rng.getrandbits(1):
            corners = corners[3:6] + corners[:3] + corners[6:]
        ray += [0, INF]
        right, wrong = rt_model.Lane(eff), rt_model.Lane(eff)
        wrong.f = Twice(FP32)
        verdict = right.triangle(ray, corners, 0, 0)
        if verdict[0] == rt_model.HIT and verdict != wrong.triangle(ray, corners, 0, 0):
            found.append((ray, corners))
    return found


def add(suite):
    eff = state("fp32")
    for name, make in (("crossing", crossing), ("sheared", sheared)):
        rng = seeded("halves", name)
        tests = chosen(eff, rng, make, 24)
        packet = Packet(Case(f"xphmg/halves/{name}-lanes", "RT-162 RT-163 RT-164 RT-172 RT-240"), eff, rng)
        for k in range(8):
            packet.three(tests[3 * k:3 * k + 3])
        suite.add(packet.c)
        p = Program(f"xphmg/halves/{name}-job", "RT-162 RT-163 RT-164 RT-170 RT-240", eff)
        for inexact in (False, True):
            for ray, corners in tests[:8]:  # each by itself, with others beside it
                scene = Scene(eff)
                scene.buffers["triangles"] = [tests[-1][1], corners, tests[-2][1]]
                root = scene.new_node()
                big = [0xC1000000] * 3 + [0x41000000] * 3
                scene.put_child(root, 1, LEAF, scene.new_leaf(1, 1), big)
                scene.put_child(root, 3, LEAF, scene.new_leaf(0, 3), big)
                p.job(scene, [(ray, 7), (tests[0][0], 8)], inexact=inexact)
        suite.add(p.c)
