"""Every CSR of the window and of the units, by the columns of its rows: its value after reset, and what writes of
zeros, ones and patterns leave."""
import tables
from hart import Case

MASK64 = tables.MASK64
PATTERNS = (MASK64, 0, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, *(1 << n for n in range(64)))
STAGED = (0x7D0, 0x7D1)  # have cases of their own
TRAPS = (0x7FC, 0x7FD)
SHOWS_OTHERS = (0x841,)  # XIREG

# first, last, rows: what the reset value of a register says about the contract.
RESET = [
    (0x7C0, 0x7FF, "CAP-086 CAP-093 CAP-085"), (0x7C0, 0x7CF, "CAP-095"), (0x7D0, 0x7D7, "CAP-096"),
    (0x7D8, 0x7DF, "CAP-097"), (0x7E0, 0x7EF, "CAP-098"), (0x7F0, 0x7F7, "CAP-099"), (0x7F8, 0x7FF, "CAP-100"),
    (0x7C0, 0x7C0, "CAP-110 CAP-114"), (0x7C1, 0x7C1, "CAP-111 CAP-115"), (0x7C2, 0x7C2, "CAP-113 CAP-116"),
    (0x7C3, 0x7C3, "CAP-117 CAP-123"), (0x7C4, 0x7C4, "CAP-118 CAP-123"),
    (0x7C5, 0x7C5, "CAP-130 CAP-135 CAP-136 CAP-137 CAP-138 CAP-139 CAP-140 CAP-141 CAP-142 CAP-143 CAP-144"),
    (0x7C6, 0x7C6, "CAP-131"), (0x7C7, 0x7C7, "CAP-132 CAP-149 CAP-150 CAP-151 CAP-152 PM-019"),
    (0x7C5, 0x7CF, "CAP-485"), (0x7C8, 0x7C8, "CAP-156"), (0x7C9, 0x7C9, "CAP-157"),
    (0x7CA, 0x7CA, "CAP-158 CAP-052 CAP-053 CAP-055 CAP-056 CAP-057"), (0x7CB, 0x7CB, "CAP-159"),
    (0x7CC, 0x7CC, "CAP-160"), (0x7CD, 0x7CD, "CAP-161"), (0x7CE, 0x7CE, "CAP-162"), (0x7CF, 0x7CF, "CAP-163 CAP-065"),
    (0x7D8, 0x7DF, "CAP-485"), (0x7D0, 0x7D0, "CAP-189 CAP-480"), (0x7D1, 0x7D1, "CAP-190 CAP-481"),
    (0x7D2, 0x7D2, "CAP-191"), (0x7D3, 0x7D3, "CAP-192 CAP-482"), (0x7D4, 0x7D4, "CAP-193 CAP-482"),
    (0x7D5, 0x7D5, "CAP-194"), (0x7D6, 0x7D7, "CAP-087"),
    (0x7D8, 0x7D8, "CAP-316 CAP-324 CAP-325 CAP-326 CAP-327 CAP-328 CAP-329 CAP-330"),
    (0x7D9, 0x7D9, "CAP-317 CAP-331 CAP-332 CAP-333 CAP-334 CAP-335 CAP-336 CAP-337 CAP-338"),
    (0x7DA, 0x7DA, "CAP-318 CAP-339 CAP-340 CAP-341 CAP-342"),
    (0x7DB, 0x7DB, "CAP-319 CAP-343 CAP-344 CAP-345 CAP-346"), (0x7DC, 0x7DC, "CAP-320"), (0x7DD, 0x7DD, "CAP-321"),
    (0x7DE, 0x7DE, "CAP-322"), (0x7DF, 0x7DF, "CAP-323"),
    (0x7E0, 0x7E0, "CAP-354 CAP-355 CAP-356 CAP-357 CAP-358 CAP-359 CAP-360 CAP-361 CAP-362 CAP-363 CAP-364 CAP-365 "
                   "CAP-366 CAP-367"),
    (0x7E1, 0x7E1, "CAP-368 CAP-369 CAP-370 CAP-371"),
    (0x7E2, 0x7ED, "CAP-483"), (0x7E2, 0x7E2, "CAP-484"), (0x7EF, 0x7EF, "CAP-087"), (0x7F0, 0x7F5, "CAP-483"),
    (0x7F6, 0x7F7, "CAP-087"),
]

# Rows of the registers of GFX, from 0x800 on; plane and border registers have cases of their own.
GFX = [(0, 14), (1, 22), (2, 27), (3, 29), (0xA, 39), (0xB, 41), (0xD, 49), (0xE, 51), (0xF, 52), (0x10, 54), (0x11, 56), (0x12, 58), (0x13, 59), (0x14, 61),
       (0x15, 62), (0x16, 64), (0x17, 65)]

# The same for what writes leave.
WRITES = [
    (0x7C0, 0x7CF, "CAP-003 CAP-101"), (0x7D8, 0x7DF, "CAP-003 CAP-313 CAP-101"), (0x7E0, 0x7E1, "CAP-003 CAP-348 CAP-101"),
    (0x7C0, 0x7C4, "CAP-109"), (0x7C2, 0x7C2, "CAP-125"), (0x7C3, 0x7C4, "CAP-168 CAP-177"), (0x7C5, 0x7C7, "CAP-127"),
    (0x7C8, 0x7CF, "CAP-153 CAP-155"), (0x7D2, 0x7D2, "CAP-180"), (0x7D5, 0x7D5, "CAP-180 CAP-188"),
    (0x7D6, 0x7D7, "CAP-087 CAP-088"), (0x7EF, 0x7EF, "CAP-087 CAP-088"), (0x7F6, 0x7F7, "CAP-087 CAP-088"),
    (0x7D3, 0x7D3, "CAP-182"), (0x7F0, 0x7F0, "CAP-092"), (0x7E2, 0x7ED, "CAP-102"), (0x7F0, 0x7F5, "CAP-102"),
    (0x7F8, 0x7FB, "RSV-005"), (0x7FE, 0x7FF, "RSV-005"), (0x7FB, 0x7FB, "RSV-040"),
    (0x7C5, 0x7CF, "CAP-020"), (0x7C8, 0x7CC, "CAP-058"), (0x7C5, 0x7C5, "CAP-133"), (0x7D8, 0x7DF, "CAP-314"), (0x7E0, 0x7F5, "CAP-352"),
    (0x7E4, 0x7E4, "CAP-375"), (0x7E5, 0x7E5, "CAP-376 CAP-394 CAP-395 CAP-396 CAP-397"), (0x7E6, 0x7E6, "CAP-377"),
    (0x7E8, 0x7E8, "CAP-379"), (0x7E9, 0x7E9, "CAP-380"), (0x7EA, 0x7EA, "CAP-381"), (0x7EB, 0x7EB, "CAP-382"),
    (0x7EC, 0x7EC, "CAP-383"), (0x7ED, 0x7ED, "CAP-384 CAP-405 CAP-406 CAP-407 CAP-408"),
    (0x7E2, 0x7E2, "CAP-387 CAP-388 CAP-389 CAP-390"), (0x7E7, 0x7E7, "CAP-402"),
    (0x820, 0x82B, "RT-027 RT-028 RT-029"), (0x822, 0x822, "RT-050 RT-069 RT-070 RT-105"), (0x827, 0x827, "RT-058 RT-060"),
    *((0x800 + n, 0x800 + n, f"GFX-{row:03d}") for n, row in GFX), (0x830, 0x831, "MTX-012 MTX-013"), (0x836, 0x836, "MTX-018"), (0x837, 0x837, "MTX-019 MTX-034 MTX-035"),
]


def of(spans, number):
    return " ".join(ids for first, last, ids in spans if first <= number <= last)


def has_of(regs):
    by_name = {r.name: r for r in regs.values()}

    def has(name):
        register, _, field = name.rpartition(".")
        return all(f.reset == 1 for f in by_name[register].fields if f.name == field)
    return has


def add(suite):
    regs = tables.registers("cap.csr.tsv", "rt.csr.tsv", "gfx.csr.tsv")
    has = has_of(regs)
    for number, register in sorted(regs.items()):
        if number in TRAPS or number > 0xFFF:
            continue
        name = register.name.lower().replace(".", "-")
        if of(RESET, number):
            c = Case(f"xphmg/csr/reset-{name}", of(RESET, number), title=f"{register.name} after reset")
            c.csrr(f"{number:#x}", register.reset(), register.name)
            suite.add(c)
        if number in STAGED or number in SHOWS_OTHERS or not of(WRITES, number) or \
                register.place().startswith(("code", "window", "xisel", "none")) and number not in (0x7C9,):
            continue
        c = Case(f"xphmg/csr/write-{name}", of(WRITES, number), title=f"what writes to {register.name} leave")
        old = register.reset()
        for pattern in PATTERNS:
            new = tables.after_write(register, old, pattern, has)
            if new is None:
                continue
            c.csrw(f"{number:#x}", pattern)
            c.csrr(f"{number:#x}", new, f"{register.name} after {pattern:#x}")
            old = new
        for op in ("csrrs", "csrrc"):
            pattern = 0xF0F0F0F0F0F0F0F0
            written = old | pattern if op == "csrrs" else old & ~pattern & MASK64
            new = tables.after_write(register, old, written, has)
            if new is not None and all(f.access not in ("W1C", "WC") for f in register.fields):
                c.asm(f"li t0, {pattern:#x}\n {op} t1, {number:#x}, t0")
                c.observe("t1", old, f"old value that {op} returns")
                c.csrr(f"{number:#x}", new, f"{register.name} after {op}")
                old = new
        suite.add(c)
    for number in TRAPS:
        c = Case(f"xphmg/csr/absent-{number:x}", "RSV-006 CAP-090")
        c.trap(f"csrr t0, {number:#x}", 2, f"csrr {number:#x}")
        c.trap(f"csrw {number:#x}, t0", 2, f"csrw {number:#x}")
        suite.add(c)
