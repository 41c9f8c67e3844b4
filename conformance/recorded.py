"""Portable cases out of the suites of the hart.

The suites in tests/xphmg drive a hart from outside: they put values into registers and memory, run some instructions and look at
what came of it. tests/xphmg/record.c writes that down while a suite runs; here each recorded hart becomes a program that
does the same to itself. Its expectation is what the suite saw, so it was judged by the suite's own checks (worked
examples, exact arithmetic, second formulations), but it is still the answer of a run: `reference-run`.

A case names the rows whose checks look at something that the program observes too. A program that does not show on
the whole machine what the suite saw (it relied on the bench, or on an address that has a device) is left out: see
generate.py.
"""
import os
import re

CODE = 0x80000000   # where the suites put their instructions: tests/xphmg/guest.h
FRAME = 0x80100000  # behind the memory of the suites
SVSTATE, EN, FPC_V, PEN, PFPC = 0x7F8, 1 << 8, 1 << 21, 1 << 34, 1 << 35
ECALL = 0x00000073
# What tests/xphmg/record.c tells of the state beside the registers, in its order.
STATE = "svstate svsrca svsrcb svdst svfaulti p0 bank1 bank2 bank3 priv fs frm fflags exc_st".split()
RESET = dict.fromkeys(STATE, 0) | {"priv": 3, "fs": 1}
CSRS = {"svsrca": 0x7F9, "svsrcb": 0x7FA, "svdst": 0x7FB, "svfaulti": 0x7FF, "frm": 2, "fflags": 1}
FILES = "cap_csr cap_prec cap_units cap_domains cap_memory pmask rsv rsv_fp rsv_units xmem_lds xmem_access xmem_svm " \
        "xmem_copy xmem_policy xmem_sync mtx mtx_lanes mtx_job rt_insn rt_job rt_gfx gfx_examples gfx_csr gfx_insn_sample " \
        "gfx_bilinear gfx_color gfx_depth gfx_cull gfx_frame gfx_bulk gfx_insn_lanes gfx_memory gfx_seams gfx_oracle undefined".split()

# A check that looks at the host's tables, logs and counters and not at the machine shows nothing about another machine.
HOST = re.compile(r"facet_(isa|csr_row|csr_at|asm|assemble|layout|cap_config)|\brow->|\blog\b|log_|event->|->steps|mnemonic|"
                  r"operand_count|observer|facet_mem_(create|add|poke|peek)|vsnprintf|^base is|^line \d+: |^the text |does not assemble")

TEXT = """# {title}
# {rows}
# recorded from {suite}: {case}
.text
    j returned                  # a run that fell off its end jumps here
.balign 4
trapped:                        # mtvec
    csrrw x31, mscratch, x31
    la x31, save
    sd x1, 8(x31)
    li x1, 1
    sd x1, 0(x31)
    ld x1, 8(x31)
    j keep
returned:
    csrrw x31, mscratch, x31
    la x31, save
    sd x0, 0(x31)
keep:
{stores}
    csrr x1, mscratch
    sd x1, {x31_at}(x31)
    csrr x1, mcause
    sd x1, 8(x31)
    csrr x1, mtval
    sd x1, 16(x31)
    csrr x1, mepc
    sd x1, 24(x31)
    la s11, where
    ld s11, 0(s11)
    la t0, next
    ld t0, 0(t0)
    jr t0

# t0: a list of address, length, bytes filled up to 8, which ends with address 0
put_memory:
    ld t1, 0(t0)
    beqz t1, 2f
    ld t2, 8(t0)
    addi t0, t0, 16
1:  lbu t3, 0(t0)
    sb t3, 0(t1)
    addi t0, t0, 1
    addi t1, t1, 1
    addi t2, t2, -1
    bnez t2, 1b
    addi t0, t0, 7
    andi t0, t0, -8
    j put_memory
2:  fence.i
    ret

# t0: from, t1: doublewords; to the signature
show:
    ld t2, 0(t0)
    sd t2, 0(s11)
    addi t0, t0, 8
    addi s11, s11, 8
    addi t1, t1, -1
    bnez t1, show
    ret

# s11: where the next words of the signature go; t0: what comes after the run; t1: registers
begin:
    call prepare
{loads}
    mret

prepare:
    li t3, 0x1800               # t2: the privilege mode, as MPP has it
    csrc mstatus, t3
    csrs mstatus, t2
    la t2, where
    sd s11, 0(t2)
    la t2, next
    sd t0, 0(t2)
    li t2, {code:#x}
    csrw mepc, t2
    mv x31, t1
    ret

_start:
    li t0, 0x2000
    csrs mstatus, t0
    la s11, begin_signature
{body}
    la t0, begin_signature
    la t1, expected
    li t2, {count}
    li t3, 0
1:  beq t3, t2, 2f
    ld t4, 0(t0)
    ld t5, 0(t1)
    addi t0, t0, 8
    addi t1, t1, 8
    addi t3, t3, 1
    beq t4, t5, 1b
    slli t3, t3, 1
    ori t3, t3, 1
    j 3f
2:  li t3, 1
3:  la t0, tohost
    sd t3, 0(t0)
4:  j 4b

.data
.balign 64
tohost: .dword 0
.balign 64
fromhost: .dword 0
.balign 64
where: .dword 0
next: .dword 0
save: .fill 68, 8, 0
{data}
expected:
{expected}
.bss
.balign 64
begin_signature:
.zero {bytes}
end_signature:
.balign 64
"""
SAVE_X, SAVE_F = 32, 32 + 31 * 8


class Guest:
    """A recorded hart from its reset on."""

    def __init__(self, suite, case, config):
        self.suite, self.case, self.config = suite, case, config
        self.memory, self.steps, self.rows, self.lost = [], [], set(), False


def parse(path, suite):
    """The recorded harts of a suite, with their rows."""
    guests, users = [], {}
    name, ids, current, mine = "", "", None, []
    with open(path) as f:
        for line in f:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "case":
                name, _, ids = rest.partition("\t")
                current, users, mine = None, {}, []
            elif word == "guest":
                number, config = rest.split()
                current = users[number] = Guest(suite, name, config)
                mine.append(current)
            elif word == "use":
                current = users.get(rest)
            elif word.startswith("check"):
                rows, _, text = line.rstrip("\n").partition("\t")
                looked = rows.split()[1:]
                if current is not None and not HOST.search(text):
                    current.rows.update(looked or ids.split())
            elif word == "end":
                if rest == "pass":
                    guests += mine
            elif current is None or current.lost:
                continue
            elif word == "lost":
                current.lost = True
                if current.steps and current.steps[-1][0] == "run":
                    current.steps.pop()
            elif word == "memory":
                address, data = rest.split()
                current.memory.append((int(address, 16), bytes.fromhex(data)))
            elif word in ("run", "ran"):
                left, _, right = rest.partition(" float ")
                fields = left.split()
                f = [int(v, 16) for v in right.split()]
                head = fields[:1] if word == "run" else fields[:4]
                numbers = [int(v, 16) for v in fields[len(head):]]
                state, x = dict(zip(STATE, numbers)), numbers[len(STATE):]
                if word == "run":
                    current.steps.append(["run", int(head[0], 16), state, x, f, current.memory])
                    current.memory = []
                else:
                    current.steps.append(["ran", head[0], [int(v, 16) for v in head[1:]], state, x, f])
            elif word in ("csr", "load"):
                current.steps.append([word] + [int(v, 16) for v in rest.split()])
    return guests


def trapped(svstate):
    """SVSTATE as a trap leaves it, and as mret needs it to bring it back."""
    return svstate & ~(EN | FPC_V | PEN | PFPC) | (PEN if svstate & EN else 0) | (PFPC if svstate & FPC_V else 0)


def jump_back(size):
    """jal x0 from the end of the code to the frame."""
    offset = FRAME - (CODE + size)
    return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12 | 0x6F


class Recorded:
    kind, source = "elf", "reference-run"

    def __init__(self, name, guest):
        self.name, self.guest, self.rows, self.config = name, guest, sorted(guest.rows), guest.config
        self.body, self.data, self.seen = [], [], []
        self.image, self.replaced, self.code_end, self.by_ecall = {}, set(), CODE, False
        self.predicates = guest.config in ("full", "prof")  # all banks and the level that reads them
        self.build()

    def see(self, value, label):
        self.seen.append((label, value))

    # ---- the program ----

    def build(self):
        at, f_now, state, steps = 0, [0] * 32, dict(RESET), self.guest.steps
        for k, step in enumerate(steps):
            if step[0] == "run":
                if k + 1 == len(steps) or steps[k + 1][0] != "ran" or step[1] == 0:
                    break
                at += 1
                _, size, wanted, x, f, memory = step
                if wanted["exc_st"] & ~state["exc_st"]:
                    break  # a program can only clear these flags
                f_now = f or f_now
                self.begin(at, size, x, f_now, memory, state, wanted, steps[k + 1][3]["svstate"] & EN != 0)
            elif step[0] == "ran":
                _, end, trap, after, x, f = step
                self.end(at, end, trap, x, f or f_now, bool(f), wanted["priv"], after)
                f_now, state = f or f_now, after
            elif at and step[0] == "csr":
                direct = step[1] <= 0xFFF  # others are reached through XISEL and XIREG
                self.body.append((f"csrr t0, {step[1]:#x}" if direct else
                                  f"csrr t1, 0x840\n li t2, {step[1]:#x}\n csrw 0x840, t2\n csrr t0, 0x841\n csrw 0x840, t1") +
                                 "\n sd t0, 0(s11)\n addi s11, s11, 8")
                seen = trapped(step[2]) if step[1] == SVSTATE and self.by_ecall else step[2]
                self.see(seen, f"CSR {step[1]:#x} after run {at}")
            elif at:
                kind = {1: "lbu", 2: "lhu", 4: "lwu", 8: "ld"}[step[2]]
                self.body.append(f"li t1, {step[1]:#x}\n {kind} t0, 0(t1)\n sd t0, 0(s11)\n addi s11, s11, 8")
                self.see(step[3], f"{step[2]} bytes at {step[1]:#x} after run {at}")

    def code(self, size, memory):
        """All of the code, and what the last jump back had replaced."""
        for address, data in memory:
            for i, byte in enumerate(data):
                self.image[address + i] = byte
        spots = set(range(CODE, CODE + size)) | self.replaced
        self.code_end = CODE + size
        self.replaced = set(range(self.code_end, self.code_end + 4))
        first, last = min(spots), max(spots)
        return [(first, bytes(self.image.get(a, 0) for a in range(first, last + 1)))]

    def set_state(self, state, wanted):
        """What the test had changed since the last run."""
        for name in STATE:
            if state[name] == wanted[name] or name in ("svstate", "priv"):
                continue
            if name in CSRS:
                self.body.append(f"li t0, {wanted[name]:#x}\n csrw {CSRS[name]:#x}, t0")
            elif name.startswith("bank"):
                self.body.append(f"li t0, {wanted[name]:#x}\n pmlow.wr {name[-1]}, t0\n srli t0, t0, 32\n pmhigh.wr {name[-1]}, t0")
            elif name == "exc_st":
                self.body.append(f"li t0, {state[name] & ~wanted[name]:#x}\n csrw 0x7d4, t0")
            elif name == "p0":
                self.body.append(f"li t0, {wanted[name]}\n pmmov.to_p0 t0")
            elif name == "fs":
                self.body.append(f"li t0, 0x6000\n csrc mstatus, t0\n li t0, {wanted[name] << 13:#x}\n csrs mstatus, t0")

    def begin(self, at, size, x, f, memory, state, wanted, repeats):
        """A run comes back by a jump, or by ecall where it ends in U-mode or with SVSTATE.EN set: then a jump is illegal."""
        user = wanted["priv"] == 0
        self.by_ecall = user or repeats
        back = ECALL if self.by_ecall else jump_back(size)
        words = []
        for address, data in memory + self.code(size, memory) + [(CODE + size, back.to_bytes(4, "little"))]:
            padded = data + bytes(-len(data) % 8)
            words += [address, len(data)] + [int.from_bytes(padded[i:i + 8], "little") for i in range(0, len(padded), 8)]
        self.table(f"memory_{at}", words + [0])
        self.table(f"registers_{at}", x + (f if any(f) else []))
        self.body.append(f"# run {at}\n la t0, memory_{at}\n call put_memory")
        if any(f):
            self.body.append("li t0, 0x2000\n csrs mstatus, t0\n" if wanted["fs"] == 0 else "")
            self.body.append(f"la t1, registers_{at}\n" + "\n".join(f"fld f{i}, {248 + 8 * i}(t1)" for i in range(32)))
            state = state | {"fs": -1}
        self.set_state(state, wanted)
        if wanted["svstate"] or state["svstate"]:
            self.body.append(f"li t0, {trapped(wanted['svstate']):#x}\n csrw {SVSTATE:#x}, t0")
        self.body.append(f"la t0, trapped\n csrw mtvec, t0\n li t2, {0 if user else 0x1800:#x}")
        self.body.append(f"la t0, after_{at}\n la t1, registers_{at}\n j begin\nafter_{at}:")

    def end(self, at, end, trap_words, x, f, with_f, priv, after):
        (cause, tval, epc), trap = trap_words, end == "trap"
        if self.by_ecall and not trap:
            trap, cause, tval, epc = True, 8 if priv == 0 else 11, 0, self.code_end
        self.see(int(trap), f"run {at} traps")
        self.body.append("la t0, save\n li t1, 1\n call show")
        if trap:
            for value, label in ((cause, "cause"), (tval, "value"), (epc, "place")):
                self.see(value, f"{label} of the trap of run {at}")
            self.body.append("li t1, 3\n call show")
        self.body.append(f"la t0, save + {SAVE_X}\n li t1, 31\n call show")
        for i, value in enumerate(x):
            self.see(value, f"x{i + 1} after run {at}")
        if self.predicates:
            self.body.append("pmmov.p0 t0\n sd t0, 0(s11)\n addi s11, s11, 8")
            self.see(after["p0"], f"P0 after run {at}")
            for bank in (1, 2, 3):
                self.body.append(f"pmlow.rd {bank}, t0\n pmhigh.rd {bank}, t1\n slli t1, t1, 32\n or t0, t0, t1\n "
                                 "sd t0, 0(s11)\n addi s11, s11, 8")
                self.see(after[f"bank{bank}"], f"bank {bank} after run {at}")
        if with_f:
            self.body.append("\n".join(f"fsd f{i}, {8 * i}(s11)" for i in range(32)) + "\n addi s11, s11, 256")
            for i, value in enumerate(f):
                self.see(value, f"f{i} after run {at}")

    def table(self, label, values):
        lines = [".dword " + ", ".join(f"{v:#x}" for v in values[i:i + 8]) for i in range(0, len(values), 8)]
        self.data.append(f"{label}:\n" + "\n".join(lines))

    # ---- what comes of it ----

    def words(self):
        return [word for _, value in self.seen for word in (value & 0xFFFFFFFF, value >> 32)]

    def labels(self):
        return [text for label, _ in self.seen for text in (label, "upper half")]

    def text(self):
        return TEXT.format(
            title=self.name, rows=" ".join(self.rows), suite=self.guest.suite, case=self.guest.case,
            code=CODE, x31_at=SAVE_X + 30 * 8,
            stores="\n".join(f"    sd x{i}, {SAVE_X + 8 * (i - 1)}(x31)" for i in range(1, 31)),
            loads="\n".join(f"    ld x{i}, {8 * (i - 1)}(x31)" for i in range(1, 32)),
            body="\n".join(self.body), data="\n".join(self.data), count=len(self.seen), bytes=8 * len(self.seen),
            expected="\n".join(".dword " + ", ".join(f"{v:#x}" for _, v in self.seen[i:i + 8])
                               for i in range(0, len(self.seen), 8)))

    def write(self, path, tools):
        with open(path + ".s", "w") as f:
            f.write(self.text())
        tools.assemble(path + ".s", path + ".elf", "xphmg", base=FRAME)
        return ".elf"


def add(suite, folder):
    for name in FILES:
        path = os.path.join(folder, f"test_{name}.log")
        if not os.path.exists(path):
            continue
        numbers = {}
        for guest in parse(path, f"test_{name}"):
            n = numbers[guest.case] = numbers.get(guest.case, 0) + 1
            if guest.rows and any(step[0] == "ran" for step in guest.steps):
                suite.add(Recorded(f"xphmg/recorded/{name}/{guest.case}-{n}", guest))
