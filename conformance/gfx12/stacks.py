"""The stack instructions: walks of random steps, each a vector that goes on from the state of the one before."""
import random

from gfx12_model import INVALID, answer
from gfx12_case import Case

POP1, POP2 = "ds_bvh_stack_push8_pop1_rtn_b32", "ds_bvh_stack_push8_pop2_rtn_b64"


def step(name, instruction, size, offset1, address, last, data, lds):
    return answer({"name": name, "instruction": instruction, "offset0": size, "offset1": offset1, "address": address, "last": last, "data": data,
                   "lds": lds})


def some_node(rng):
    return rng.choice((rng.randrange(16, 4096) << 4 | rng.choice((5, 5, 0, 1, 2, 3, 6, 8, 9, 11)), rng.randrange(16, 4096) << 4 | 5, INVALID))


def walk(rng, instruction, size, offset1, steps, base=0):
    address, lds, out, popped = base << 15, [0] * (32 * size), [], []
    for n in range(steps):
        if n % 11 == 10:
            address, popped = base << 15, []
        data = [some_node(rng) for _ in range(8)]
        if rng.random() < 0.5:
            data[rng.randrange(1, 8):] = [INVALID] * 8
            data = (data + [INVALID] * 8)[:8]
        for slot in (6, 7, 3):
            if rng.random() < 0.25:
                data[slot] = rng.choice((0xFFFFFFF9, 0xFFFFFFFB, 0xFFFFFFFD, INVALID))
        last = INVALID
        roll = rng.random()
        if roll < 0.3:
            last = 0xFFFFFFF8 | rng.choice((0, 1, 3))
            data[7] = rng.randrange(16, 4096) << 4 | rng.choice((0, 1, 2, 3, 8, 9, 10, 11))
        elif roll < 0.45:
            last = rng.choice([x for x in data if x < 0xFFFFFFF8] + popped[-3:] + [0x15])
        if rng.random() < 0.15:
            data = [INVALID] * 8
        v = step(f"step {n}", instruction, size, offset1, address, last, data, lds)
        out.append(v)
        address, lds = v["expected_address"], v["expected_lds"]
        popped.append(v["expected"][-1])
    return out


def add(suite):
    rng = random.Random(249)
    for size in (8, 9, 16, 31):
        case = Case(f"gfx12/stack/pop1-{size}", "G12-249 G12-250 G12-251 G12-248", "exact", walk(rng, POP1, size, 2, 70, size % 5))
        suite.add(case)
        suite.add(Case(f"gfx12/stack/pop1-plain-{size}", "G12-249 G12-250 G12-251", "exact", walk(rng, POP1, size, rng.choice((0, 1, 0xFD)), 40, size % 7)))
        suite.add(Case(f"gfx12/stack/pop2-{size}", "G12-249 G12-251", "exact", walk(rng, POP2, size, 2 * (size & 1), 60, size % 3)))
    vectors = []
    for nav in range(8):
        for x in [7 << 4 | t for t in range(16)] + [0xFFFFFF00, 0xFFFFFFF3]:
            vectors.append(step(f"nav {nav}, node {x:#x}", POP1, 16, 2, 0, 0xFFFFFFF8 | nav, [INVALID] * 7 + [x], [0] * 512))
    suite.add(Case("gfx12/stack/next-pair", "G12-248 G12-249", "exact", vectors))
    vectors = []
    for bit in range(32):  # every field of the address
        address = 5 << 10 | 3 << 5 | 5 | 2 << 15
        lds = [0x115 + 16 * (i // 32) for i in range(32 * 17)]
        vectors.append(step(f"address bit {bit}", POP1, 16, 2, address ^ 1 << bit, INVALID, [0x205, 0x216] + [INVALID] * 6, lds))
        vectors.append(step(f"address bit {bit}, nothing pushed", POP1, 16, 2, address ^ 1 << bit, INVALID, [INVALID] * 8, lds))
        vectors.append(step(f"address bit {bit}, two", POP2, 16, 0, address ^ 1 << bit, INVALID, [0x205] + [INVALID] * 7, lds))
    suite.add(Case("gfx12/stack/address", "G12-249 G12-251", "exact", vectors))
    vectors = []
    for tlas in (0, 1):
        for to in (0, 1, 2):
            for valid in (0, 1, 2):
                for overflow in (0, 1):
                    for kind in (5, 6, 1):
                        lds = [0x115 + 16 * (i // 32) for i in range(256)]
                        lds[32] = 0x330 | kind
                        address = overflow << 30 | tlas << 29 | 2 << 10 | to << 5 | valid
                        for instruction in (POP1, POP2):
                            vectors.append(step(f"tlas {tlas}, to {to}, valid {valid}, overflow {overflow}, type {kind}", instruction, 8, 2, address, INVALID,
                                                [INVALID] * 8, lds))
    suite.add(Case("gfx12/stack/pop", "G12-250 G12-251 G12-249", "exact", vectors))
