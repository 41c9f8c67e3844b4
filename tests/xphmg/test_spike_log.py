"""Spike's commit log against lines typed in from the format of Spike's own sources: commit_log_print_insn and take_trap
of riscv-isa-sim. The addresses are those of the labels of the program."""
import json
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.mkdtemp()
# (instruction, word, what follows after the word; or a trap: None, name, tval)
STEPS = [
    ("fscsr t2, t1", "003313f3", "c1_fflags 0x000000000000001f c2_frm 0x0000000000000003 x7  0x0000000000000000"),
    ("fscsr zero, zero", "00301073", "c1_fflags 0x0000000000000000 c2_frm 0x0000000000000000"),
    ("fsflagsi x0, 3", "0011d073", "c1_fflags 0x0000000000000003"),
    ("fsrm t1", "00231073", "c2_frm 0x0000000000000007"),
    ("csrw CAP.PREC.EXC.EN, t2", "7d339073", "c2003_CAP_PREC_EXC_EN 0x0000000000000000"),
    ("csrw minstret, x0", "b0201073", "c2818_minstret 0x0000000000000000"),
    ("csrwi mcycle, 7", "b003d073", "c2816_mcycle 0x0000000000000007"),
    ("sh t1, 2(s0)", "00641123", "mem 0x{data+2} 0x007f"),
    ("amoadd.w t3, t1, (s0)", "00642e2f", "x28 0x00000000007f0001 mem 0x{data} mem 0x{data} 0x007f0080"),
    ("lr.d t3, (s0)", "10043e2f", "x28 0x00000000007f0080 mem 0x{data}"),
    ("sc.d t3, t1, (s0)", "18643e2f", "x28 0x0000000000000000 mem 0x{data} 0x000000000000007f"),
    ("sc.d t3, t1, (s0)", "18643e2f", "x28 0x0000000000000001"),
    ("flw fa0, 8(s0)", "00842507", "f10 0xffffffff3f800000 mem 0x{data+8}"),
    ("fdiv.s f10, f10, f10, rtz", "18a51553", "f10 0xffffffff3f800000"),
    ("nop", "00000013", ""),
    (".half 0x0505", "0505", "x10 0x0000000000000001"),
    (".half 0x0001", "0001", ""),
    (".word 0", None, "trap_illegal_instruction", "0000000000000000"),
    ("csrr t3, 0x180", None, "trap_illegal_instruction", "0000000018002e73"),
    ("ecall", None, "trap_machine_ecall", None),
    ("ebreak", None, "trap_breakpoint", "{pc}"),
    ("lw t3, 8(zero)", None, "trap_load_access_fault", "0000000000000008"),
    ("sw t3, 4(zero)", None, "trap_store_access_fault", "0000000000000004"),
    ("lr.w t3, (t1)", None, "trap_load_address_misaligned", "000000000000007f"),
    ("amoadd.w t3, t1, (t1)", None, "trap_store_address_misaligned", "000000000000007f"),
    ("xsubmit.rt t3, s0", None, "trap #25", "0000000000047e7b"),
]
PROGRAM = """
_start: la   t0, handler
        csrw mtvec, t0
        li   t0, 0x6000
        csrs mstatus, t0
        la   s0, data
        li   t1, 0x7f
first:  %s
        li   t0, 8
        csrw mie, t0
        csrs mstatus, t0
        li   t0, 0x02000000
        li   t1, 1
raise:  sw   t1, 0(t0)
        li   t0, 0x100000
        li   t1, 0x5555
        sw   t1, 0(t0)
        j    .
        .align 2
handler: csrr t4, mcause
        blt  t4, zero, soft
        csrr t4, mepc
        addi t4, t4, 4
        csrw mepc, t4
        mret
soft:   li   t4, 0x02000000
        sw   zero, 0(t4)
        mret
        .data
        .align 4
data:   .dword 1, 0x3f800000
"""


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words):
    done = subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    check_eq(done.returncode, 0, f"exit code of {words}, which said {done.stderr}")
    return done.stdout


def log(form):
    with open(path("log.s"), "w") as file:
        file.write(PROGRAM % "\n".join(step[0] for step in STEPS))
    facet("as", "--isa", "xphmg", path("log.s"), "-o", path("log.elf"))
    return facet("run", path("log.elf"), "--no-semihosting", "--config", "full,rt_descq=0", "--trace", "-",
                 "--trace-format", form).splitlines()


def expected():
    """The lines of STEPS with traps."""
    steps = [json.loads(line) for line in log("jsonl")[1:]]
    data = next(int(c["new"], 16) for s in steps for c in s["changes"] if c.get("reg") == "x8" and s["insn"].startswith("addi"))
    pc = next(int(s["pc"], 16) for s in steps if s.get("word") == "0x003313f3")
    lines = []
    for step in STEPS:
        if step[1] is not None:
            text = f"core   0: 3 0x{pc:016x} (0x{step[1]})" + (" " if step[2] else "") + step[2]
            lines.append(text.replace("{data}", "%016x" % data).replace("{data+2}", "%016x" % (data + 2))
                         .replace("{data+8}", "%016x" % (data + 8)))
            pc += len(step[1]) // 2
        else:
            lines.append(f"core   0: exception {step[2]}, epc 0x{pc:016x}")
            if step[3] is not None:
                lines.append("core   0:           tval 0x" + step[3].replace("{pc}", "%016x" % pc))
            pc += 4
    return lines


@case()
def lines_are_those_of_spike():
    lines = log("spike-traps")
    # What handlers do between the steps is left out by their addresses.
    first = next(i for i, line in enumerate(lines) if "(0x003313f3)" in line)
    entry = int(next(line.split()[-1] for line in lines if "c773_mtvec" in line), 16)
    kept = [line for line in lines[first:] if "exception" in line or "tval" in line or int(line.split()[3], 16) < entry]
    want = expected()
    for got, line in zip(kept, want):
        check_eq(got, line, "line")
    check(len(kept) > len(want), "fewer lines than expected")
    check(any(line == f"core   0: exception interrupt #3, epc 0x{int(kept[i - 1].split()[3], 16) + 4:016x}"
              for i, line in enumerate(kept) if i > 0 and "interrupt" in line), "the interrupt is not told")


@case()
def without_traps_it_is_the_commit_log_alone():
    lines = log("spike-traps")
    check_eq([line for line in lines if "exception" not in line and " tval " not in line], log("spike"), "lines")
    check(len(lines) - len(log("spike")) >= 18, "no traps")


try:
    main("spike_log")
finally:
    shutil.rmtree(FOLDER)
