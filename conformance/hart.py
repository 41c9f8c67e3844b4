"""Programs for the hart: a list of statements becomes an ELF file that needs nothing but RAM.

The program writes what it observes, 64 bits at a time, from `begin_signature` on, compares it with what it expects
and writes 1 to `tohost` when all is equal, else (2 * n + 1) with n the number of the first observation that differs,
counted from 1. It uses no device but `tohost`. t5 and t6 belong to the frame; t6 points to the signature.

    c = Case("xphmg/pmask/pmclr", "PM-028")
    c.asm("pmset 1\\n pmclr 1\\n pmlow.rd 1, a0")
    c.observe("a0", 0, "bank 1 after pmclr")
"""
MASK64 = (1 << 64) - 1
DATA_BYTES = 4096  # of `data`, free for a case

FRAME = """# {title}
# {rows}
.text
_start:
    la t6, begin_signature
    la t5, handler
    csrw mtvec, t5
    li t5, 0x6000
    csrs mstatus, t5
{body}
finish:
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

# A trap leaves its cause, value and place before the signature and goes on where mscratch says, in M-mode.
.balign 4
handler:
    csrr t5, mcause
    sd t5, -8(t6)
    csrr t5, mtval
    sd t5, -16(t6)
    csrr t5, mepc
    sd t5, -24(t6)
    csrr t5, mscratch
    csrw mepc, t5
    li t5, 0x1800
    csrs mstatus, t5
    mret

.data
.balign 64
tohost: .dword 0
.balign 64
fromhost: .dword 0
.balign 64
.dword 0, 0, 0, 0, 0, 0, 0, 0
begin_signature:
{blank}
end_signature:
expected:
{expected}
.balign 64
data:
{data}
{tables}
"""


class Case:
    kind = "elf"

    def __init__(self, name, rows, source="exact", config="full", title=""):
        self.name, self.rows, self.source, self.config = name, rows.split(), source, config
        self.title = title or name
        self.body, self.seen, self.memory, self.tables = [], [], {}, []

    # ---- statements ----

    def asm(self, text):
        self.body.append(text)

    def observe(self, register, value, label):
        """The register goes into the signature, where `value` is expected."""
        at = 8 * len(self.seen)
        if at < 2048:
            self.asm(f"sd {register}, {at}(t6)")
        else:
            place = "t4" if register == "t5" else "t5"
            self.asm(f"li {place}, {at}\n add {place}, {place}, t6\n sd {register}, 0({place})")
        self.seen.append((label, value & MASK64))

    def csrw(self, csr, value):
        self.asm(f"li t0, {value & MASK64:#x}\n csrw {csr}, t0")

    def csrr(self, csr, value, label=None):
        self.asm(f"csrr t0, {csr}")
        self.observe("t0", value, label or f"csrr {csr}")

    def store(self, offset, size, value):
        """Puts a value into `data` before the program starts."""
        for i, byte in enumerate((value & (1 << 8 * size) - 1).to_bytes(size, "little")):
            self.memory[offset + i] = byte

    def load(self, offset, size, value, label):
        kind = {1: "lbu", 2: "lhu", 4: "lwu", 8: "ld"}[size]
        self.asm(f"la t5, data\n {kind} t0, {offset}(t5)")
        self.observe("t0", value, label)

    def trap(self, text, cause, label, tval=None):
        """The instruction must trap with this cause; None: it must not. `tval` is an expression with symbols."""
        self.asm(f"li t5, -1\n sd t5, -8(t6)\n la t5, 1f\n csrw mscratch, t5\n {text}\n1:  ld t5, -8(t6)")
        self.observe("t5", MASK64 if cause is None else cause, f"cause of {label}")
        if tval is not None:
            self.asm(f"ld t0, -16(t6)\n li t1, {tval}\n sub t0, t0, t1" if isinstance(tval, int)
                     else f"ld t0, -16(t6)\n la t1, {tval}\n sub t0, t0, t1")
            self.observe("t0", 0, f"value of the trap of {label}, less what is expected")

    def table(self, label, data):
        """Bytes behind `data`, aligned to 64."""
        data += bytes(-len(data) % 8)
        words = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]
        lines = [".dword " + ", ".join(f"{w:#x}" for w in words[i:i + 8]) for i in range(0, len(words), 8)]
        self.tables.append("\n".join([".balign 64", label + ":"] + lines))

    def sweep(self, text, registers, records, expected, labels):
        """Runs the text once for each record, to which s0 points, and observes the registers after it: `expected` has a list for
        each record, `labels` a name. s0, s1, s2 and t5 belong to the loop."""
        n, size = len(self.tables), len(records[0])
        self.table(f"records_{n}", b"".join(records))
        self.asm(f"la s0, records_{n}\n li s1, {8 * len(self.seen)}\n add s1, s1, t6\n li s2, {len(records)}\nsweep_{n}:\n {text}")
        for k, register in enumerate(registers):
            self.asm(f"sd {register}, {8 * k}(s1)")
        self.asm(f"addi s1, s1, {8 * len(registers)}\n li t5, {size}\n add s0, s0, t5\n addi s2, s2, -1\n beqz s2, sweep_end_{n}\n j sweep_{n}\nsweep_end_{n}:")
        for values, label in zip(expected, labels):
            self.seen += [(f"{register} of {label}", value & MASK64) for register, value in zip(registers, values)]

    # ---- what comes of it ----

    def words(self):
        return [word for _, value in self.seen for word in (value & 0xFFFFFFFF, value >> 32)]

    def labels(self):
        return [text for label, _ in self.seen for text in (label, "upper half")]

    def text(self):
        size = max(self.memory) + 1 if self.memory else 0
        data = bytes(self.memory.get(i, 0) for i in range(size))
        lines = [".byte " + ", ".join(str(b) for b in data[i:i + 16]) for i in range(0, len(data), 16)]
        return FRAME.format(
            title=self.title, rows=" ".join(self.rows), count=len(self.seen),
            body="\n".join("    " + line.strip() if not line.strip().endswith(":") else line.strip()
                           for text in self.body for line in text.split("\n")),
            blank=f".fill {len(self.seen)}, 8, 0xdeadbeefdeadbeef",
            expected="\n".join(f".dword {value:#x}" for _, value in self.seen),
            data="\n".join(lines + [f".zero {DATA_BYTES - size}"]), tables="\n".join(self.tables))

    def write(self, path, tools):
        with open(path + ".s", "w") as f:
            f.write(self.text())
        tools.assemble(path + ".s", path + ".elf", "xphmg")
        return ".elf"
