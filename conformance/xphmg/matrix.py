"""MTX.MAD, MTX.EPI and MTX.RED over all element formats, accumulators and policies of CAP.PREC, by exact sums. The same sweeps are
the portable cases of numeric.md: what a code of MODE or ALT means is seen in the numbers."""
from effective import ELEMENTS, Eff, state
from exact import LITE, QNAN, QUIET, Arith, is_subnormal
from hart import Case
from hart_numbers import CLEAR, LOOK, seen_flags, seeded, some

NAMES = ("xphmg/numbers", "xphmg/matrix")
SIZE, VECTOR, OUTPUT = 80, 48, 64  # a record: matrix and bias, vector, what is written


def mad(eff, matrix, bias, vector):
    """A 2 x 2 matrix, row-major: the two results, with the channels of gfx-semantics.md 16.4."""
    out = []
    m = [eff.widen(x, i // 2) for i, x in enumerate(matrix)]
    v = [eff.widen(x, j) for j, x in enumerate(vector)]
    b = [eff.widen(x, i) for i, x in enumerate(bias)]
    for i in range(2):
        out.append(eff.narrow(eff.add(eff.dot(m[2 * i:2 * i + 2], v, i), b[i], i), i))
    return out


def placed(*pieces):
    """Bytes at offsets in a record."""
    data = bytearray(SIZE)
    for at, piece in pieces:
        data[at:at + len(piece)] = piece
    return bytes(data)


def mad_sweep(case, eff, rng, count=12, strange=0.3):
    records, expected, labels = [], [], []
    for _ in range(count):
        values = [some(eff, rng, strange) for _ in range(8)]
        matrix, bias, vector = values[:4], values[4:6], values[6:]
        one = eff.but(flags=0)
        result = mad(one, matrix, bias, vector)
        # MTX.LD reads matrix and bias as one array
        records.append(placed((0, eff.array(matrix + bias)), (VECTOR, eff.array(vector))))
        out = (eff.array(result) + bytes(16))[:16]
        expected.append([int.from_bytes(out[:8], "little"), int.from_bytes(out[8:], "little"), *seen_flags(eff, one.flags)])
        labels.append(f"matrix {' '.join(f'{x:x}' for x in matrix)}, bias {' '.join(f'{x:x}' for x in bias)}, vector {' '.join(f'{x:x}' for x in vector)}")
    case.asm(eff.setup())
    case.sweep(f"{CLEAR}\n mtx.ld s0, shape=5, rowmajor=1, with_bias=1\n addi a1, s0, {VECTOR}\n addi a2, s0, {OUTPUT}\n "
               f"mtx.mad a2, a1, shape=5\n ld a3, {OUTPUT}(s0)\n ld a4, {OUTPUT + 8}(s0)\n {LOOK}", ("a3", "a4", "a6", "a7"), records, expected, labels)


def zptab(case, table):
    for n in range(32):
        case.asm(f"li t0, {0x7D80 + n:#x}\n csrw 0x840, t0\n li t0, {sum(b << 8 * k for k, b in enumerate(table[8 * n:8 * n + 8])):#x}\n csrw 0x841, t0")


def numbers(suite, name, rows, states, count=12, strange=0.3):
    c = Case("xphmg/numbers/" + name, rows)
    rng = seeded(name)
    for eff in states:
        if any(eff.zptab):
            zptab(c, eff.zptab)
        mad_sweep(c, eff, rng, count, strange)
    suite.add(c)


def formats(suite):
    rows = {"fp16": "CAP-214", "fp32": "CAP-215", "bf16": "CAP-216", "int8": "CAP-217", "int16": "CAP-218", "int32": "CAP-219", "bf16-lite": "CAP-252 CAP-253",
            "e4m3": "CAP-254", "e5m2": "CAP-255", "int4": "CAP-256", "int2": "CAP-257"}
    for name in ELEMENTS:
        numbers(suite, name, rows[name] + " MTX-051 MTX-052 MTX-108 MTX-111 CAP-183", [state(name, ACCW=a, SAT=s) for a in range(4) for s in (0, 1)], 14)
    for code, name in enumerate(("fp32", "fp16", "int32", "int16")):
        numbers(suite, f"accumulator-{name}", f"CAP-{209 + code} MTX-058", [state(e, ACCW=code) for e in ELEMENTS], 8)
    for code, name in enumerate(("rne", "rtz", "rdn", "rup", "rmm")):
        row = f"CAP-{203 + code}"
        modes = {"FP_RMODE": code & 3, "FP_RMODE2": code >> 2}
        numbers(suite, f"rounding-{name}", f"{row} CAP-202 CAP-262", [state(e, ACCW=a, **modes) for e in ("fp32", "fp16", "bf16", "e4m3", "int16") for a in range(3)] +
                [state("int16", ACCW=2, Q=1, SCALE_SH=n, **modes) for n in (0xFF, 0xFE, 0xFB)] + [state("int8", ACCW=3, Q=1, SCALE_SH=0xFF, **modes), state("int32", ACCW=0, **modes)], 12)


def policies(suite):
    every = ("fp16", "bf16", "e4m3", "e5m2", "bf16-lite", "int8", "int4", "int16")
    numbers(suite, "saturation", "CAP-198 CAP-199 CAP-288 CAP-201 MTX-064 MTX-069", [state(e, SAT=s, ACCW=a) for e in every for s in (0, 1) for a in (0, 2)], 10, 0.5)
    numbers(suite, "sat-mode", "CAP-230", [state(e, SAT=1, SAT_MODE=1, ACCW=a, **q) for e in every for a in (0, 2) for q in ({}, {"Q": 1, "UNS": 1})], 10, 0.5)
    numbers(suite, "alt-saturation", "CAP-247 CAP-261", [state(e, SAT=0, ALT_SAT=s) for e in ("e4m3", "e5m2", "bf16-lite", "int4", "int2") for s in (0, 1)], 12, 0.5)
    numbers(suite, "flush-to-zero", "CAP-265 CAP-289 MTX-065 MTX-070", [state(e, DENORM_FTZ=f, ACCW=a) for e in ("fp32", "fp16", "bf16", "e4m3", "e5m2", "bf16-lite") for f in (1, 0)
                                                                  for a in (0, 1)], 12, 0.7)
    for pol in range(3):
        numbers(suite, f"nan-policy-{pol}", "CAP-507 CAP-292 MTX-072 MTX-073 MTX-068", [state(e, NAN_POL=pol, ACCW=a, **q) for e in ("fp32", "fp16", "bf16", "e4m3", "e5m2", "bf16-lite") for a in (0, 1, 2)
                                                                               for q in ({}, {"SAT": 1})], 8, 0.8)
    nans = [state("int16", ACCW=0, NAN_POL=p, Q=1, SCALE_SH=120, ZP_EN=1, ZP=z) for p in range(3) for z in (0, 5, 0x80)]
    numbers(suite, "nan-policy-integers", "CAP-507 CAP-232 CAP-233", nans, 12, 0.5)
    shifts = (0, 3, 0xFD, 10, 0xF0, 0x7F, 0x80)
    numbers(suite, "scale", "CAP-505 CAP-236 CAP-267", [state(e, Q=q, SCALE_SH=s, ACCW=a) for e in ("int8", "int16", "fp16", "fp32") for s in shifts for q, a in ((1, 0), (1, 2), (0, 0))], 6)
    numbers(suite, "alt-scale", "CAP-506 CAP-262", [state(e, Q=q, SCALE_SH=5, ALT_SHIFT=s) for e in ("int4", "e4m3", "e5m2", "bf16-lite") for s in (0, 2, 0xFC) for q in (1, 0)], 8)
    numbers(suite, "unsigned", "CAP-237 CAP-263", [state(e, Q=q, UNS=u, ACCW=a, SAT=s) for e in ("int8", "int16", "int32", "int4", "int2") for q, u in ((1, 1), (1, 0), (0, 1)) for a in (0, 2)
                                               for s in (0, 1)], 5, 0.5)
    numbers(suite, "zero-point", "CAP-232 CAP-233 CAP-235 CAP-267", [state(e, Q=q, ZP_EN=z, ZP=p, ACCW=a, UNS=u) for e in ("int8", "int16") for p in (3, 0x80, 0xFF, 0x55) for z in (0, 1)
                                                                 for q, a, u in ((1, 2, 0), (1, 0, 1), (0, 2, 0))], 4)
    numbers(suite, "alt-zero-point", "CAP-248 CAP-249", [state(e, Q=1, ZP_EN=1, ZP=77, ALT_ZP=p, ALT_OFFS=o, UNS=u) for e in ("int4", "int2") for p in (0, 1, 0x2A, 0x80, 0xFF)
                                                     for o in (0, 3, 0xFE, 0x80) for u in (0, 1)], 3)
    table = [(37 * n + 11) & 255 for n in range(256)]
    channels = []
    for e in ("int8", "int16", "int4"):
        for p in (0, 7, 254, 255):
            for u in (0, 1):
                eff = state(e, Q=1, ZP_EN=2, ZP=p, ALT_ZP=p, ALT_OFFS=9, UNS=u, ACCW=2)
                eff.zptab = table
                channels.append(eff)
    c = Case("xphmg/numbers/zero-point-table", "CAP-234 CAP-235")
    zptab(c, table)
    for eff in channels:
        mad_sweep(c, eff, seeded("table"), 4)
    suite.add(c)
    numbers(suite, "mixed", "CAP-246 MTX-053", [state(e, mixed=m, ALT_ACCW=a, FP_RMODE=r) for e in ("bf16-lite", "e4m3", "e5m2", "int4", "int2") for m in (0, 1) for a in range(4) for r in (0, 3)], 4, 0.4)
    numbers(suite, "pack", "CAP-227 CAP-228 CAP-229 MTX-078", [Eff({"PET": p, "EW": w, "PACK": k}) for p in range(6) for w in range(4) for k in range(3)], 3)
    numbers(suite, "containers", "CAP-222 CAP-223 CAP-224 CAP-225", [Eff({"PET": 3, "EW": w, "SAT": s}) for w in range(4) for s in (0, 1)] + [Eff({"PET": p, "EW": 3}) for p in range(6)], 6)


def dwords(data):
    return [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]


def epilogues(suite):
    """MTX.EPI of one 4 x 4 tile."""
    variants = ((0, 0, {}), (1, 1, {}), (2, 2, {"ACCW": 2}), (3, 3, {"FP_RMODE": 2}), (4, 1, {"SAT": 1}), (4, 3, {"ACCW": 1}), (0, 2, {"NAN_POL": 1}),
                (2, 0, {"Q": 1, "SCALE_SH": 0xFE, "ZP_EN": 1, "ZP": 3}))
    seen = "a0 a1 a2 a3 a4 a5 s4 s5".split()
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/matrix/epilogue-{name}", "MTX-086 MTX-087 MTX-088 MTX-089"), seeded("epilogue", name)
        for bm, cl, policy in variants:
            eff = state(name, **policy)
            bank = {"matrix": [some(eff, rng) for _ in range(16)], "bias": [some(eff, rng) for _ in range(4)], "bounds": [some(eff, rng, 0.1) for _ in range(4)]}
            n = len(c.tables)
            c.table(f"bank_{n}", eff.array(bank["matrix"] + bank["bias"]))
            c.table(f"bounds_{n}", eff.array(bank["bounds"]))
            c.asm(f"{eff.setup()}\n la a0, bank_{n}\n mtx.ld a0, shape=15, rowmajor=1, with_bias=1\n la a0, bounds_{n}\n mtx.ld a0, shape=5, rowmajor=1")
            records, expected = [], []
            for _ in range(4):
                tile, e = [some(eff, rng) for _ in range(16)], eff.but(flags=0)
                records.append((eff.array(tile) + bytes(64))[:64] + bytes(64))
                expected.append(dwords((eff.array(epilogue(e, tile, bank, bm, cl)) + bytes(64))[:64]) + seen_flags(eff, e.flags))
            loads = "\n ".join(f"ld {r}, {64 + 8 * i}(s0)" for i, r in enumerate(seen))
            c.sweep(f"{CLEAR}\n addi a2, s0, 64\n mtx.epi a2, s0, bm={bm}, cl={cl}\n {loads}\n {LOOK}", seen + ["a6", "a7"], records, expected,
                    [f"bm {bm}, cl {cl}, tile {k}" for k in range(4)])
        suite.add(c)


def reduced(e, tile, op, dim):
    """MTX.RED of a 4 x 4 tile: the elements that it gives."""
    lines = {0: [list(range(16))], 1: [[4 * i + j for j in range(4)] for i in range(4)], 2: [[4 * i + j for i in range(4)] for j in range(4)]}[dim]
    out = []
    for at, line in enumerate(lines):
        channel = at if dim else 0
        if op == 0:
            acc = e.widen(tile[line[0]], line[0] // 4)
            for k in line[1:]:
                acc = e.add(acc, e.widen(tile[k], k // 4), channel)
            out.append(e.narrow(acc, channel))
        else:
            out.append(extreme(e, [(tile[k], k // 4) for k in line], op == 1, channel))
    return out


def extreme(e, items, largest, channel):
    """max and min on element values (gfx-semantics.md 13): the bits of the chosen one."""
    if e.integer:
        keyed = [(e.code(x) - e.zero_point(c), x) for x, c in items]
        best = max(k for k, _ in keyed) if largest else min(k for k, _ in keyed)
        return next(x for k, x in keyed if k == best)
    f, best = Arith(e.element), None
    for x, _ in items:
        kind, sign, _, _ = e.read(x)
        if kind >= QUIET:
            continue
        if is_subnormal(e.element, x) and (e.ftz or e.element is LITE):
            x = sign << e.element.bits - 1
        if best is None or (f.key(x) > f.key(best) if largest else f.key(x) < f.key(best)):
            best = x
    if best is None:
        e.flags |= QNAN
        return {0: e.element.nan, 1: 0, 2: e.element.largest if e.element.inf is None else e.element.inf}[e.nan_pol]
    return best


def reductions(suite):
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/matrix/reduction-{name}", "MTX-090 MTX-091 MTX-092 MTX-093"), seeded("reduction", name)
        for op, dim, policy in [(op, dim, {}) for op in range(3) for dim in range(3)] + [(0, 0, {"ACCW": 1, "SAT": 1}), (0, 1, {"ACCW": 2}), (0, 2, {"FP_RMODE": 3}),
                                                                                         (1, 0, {"DENORM_FTZ": 1, "NAN_POL": 1})]:
            eff = state(name, **policy)
            records, expected = [], []
            for k in range(4):
                tile, e = [some(eff, rng, (0.3, 0.02, 0.9, 0.1)[k]) for _ in range(16)], eff.but(flags=0)
                out = reduced(e, tile, op, dim)
                records.append((eff.array(tile) + bytes(64))[:64] + bytes(64))
                memory = (eff.array(out) + bytes(32))[:32] if dim else bytes(32)
                expected.append([eff.register(out[0]) if dim == 0 else 0] + dwords(memory) + seen_flags(eff, e.flags))
            after = "mv a5, a2" if dim == 0 else "li a5, 0"
            c.asm(eff.setup())
            c.sweep(f"{CLEAR}\n addi a2, s0, 64\n mtx.red a2, s0, op={op}, dim={dim}\n {after}\n ld a0, 64(s0)\n ld a1, 72(s0)\n ld a2, 80(s0)\n ld a3, 88(s0)\n {LOOK}",
                    "a5 a0 a1 a2 a3 a6 a7".split(), records, expected, [f"op {op}, dim {dim}, tile {k}" for k in range(4)])
        suite.add(c)


def epilogue(e, tile, bank, bm, cl):
    out = []
    for k, x in enumerate(tile):
        i, j = k // 4, k % 4
        v = e.widen(x, i)
        if bm == 1:
            v = e.add(v, e.widen(bank["bias"][0], 0), i)
        elif bm == 2:
            v = e.add(v, e.widen(bank["bias"][i], i), i)
        elif bm == 3:
            v = e.add(v, e.widen(bank["bias"][j], j), i)
        elif bm == 4:
            v = e.add(v, e.widen(bank["matrix"][k], i), i)
        low = high = None
        if cl in (1, 2):
            low = e.cv(0)
        if cl == 2:
            high = e.cv(1)
        if cl == 3:
            low, high = e.widen(bank["bounds"][0], 0), e.widen(bank["bounds"][1], 0)
        if low is not None and e.lt(v, low):
            v = low
        if high is not None and e.lt(high, v):
            v = high
        out.append(e.narrow(v, i))
    return out


def add(suite):
    formats(suite)
    policies(suite)
    epilogues(suite)
    reductions(suite)
