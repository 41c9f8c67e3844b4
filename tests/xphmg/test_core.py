"""The core at hand (docs/run.md): configurations from files, snapshots that carry them, and the same programs on
qemu-system-riscv64 with the same choices."""
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
QEMU = "qemu-system-riscv64"
FOLDER = tempfile.mkdtemp()
PROGRAM = """
_start: csrr s2, misa
        csrr s3, marchid
        csrr s4, mhartid
        li t5, 0x100000
        li t6, 0x5555
        sw t6, 0(t5)
        j .
"""


def path(name):
    return os.path.join(FOLDER, name)


def write(name, text):
    with open(path(name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path(name)


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=600, cwd=FOLDER)


def assemble(name, text):
    done = facet("as", "--isa", "xphmg", write(name + ".s", text), "-o", path(name))
    check_eq(done.returncode, 0, f"exit code of the assembler, which said {done.stderr}")
    return path(name)


def state(config):
    done = facet("run", assemble("program.elf", PROGRAM), "--config", config, "--dump-state")
    check_eq(done.returncode, 0, f"exit code with {config}, which said {done.stderr[-300:]}")
    return done.stdout + done.stderr


@case()
def a_list_and_both_kinds_of_files_are_the_same():
    want = state("rv64,isa=rv64imac_zicntr,misaligned=trap,pmp=4,marchid=0xbeef,hartid=3")
    check("misa                 0x8000000000101105" in want, "misa of the list")
    write("core.toml", b"# a core\n\n  configuration = \"rv64\"\r\nisa='rv64imac_zicntr'# text\n"
          b"misaligned\t=\t\"trap\"\npmp = 4\nmarchid = 0xbe_ef\nhartid = 3")
    check_eq(state("core.toml"), want, "state with a .toml file")
    write("core.json", '{"isa": "rv64imac_zicntr", "misaligned": "trap", "pmp": 4, "marchid": "0xbeef", "hartid": 3,\n'
          '"configuration": "rv64"}')
    check_eq(state("core.json"), want, "state with a .json file")
    write("empty.toml", "")
    write("empty.json", "{}")
    check_eq(state("empty.toml"), state("full"), "state with an empty .toml file")
    check_eq(state("empty.json"), state("full"), "state with an empty .json file")


@case()
def bad_files_are_refused_with_their_line():
    program = assemble("program.elf", PROGRAM)
    for name, text, complaint in (
            ("a.toml", "isa = \"rv64i\"\n\ncolour = 3\n", "a.toml: line 3: unknown configuration key colour"),
            ("a.toml", "\nisa = \"rv64v\"\n", "a.toml: line 2: isa=rv64v: expected rv64i or rv64g"),
            ("a.toml", "isa = rv64i\n", "a.toml: line 1: expected a number, or a text in quotation marks"),
            ("a.toml", "isa = \"rv64i\n", "a.toml: line 1: expected a number, or a text in quotation marks"),
            ("a.toml", "isa = \"rv64\\u0069\"\n", "a.toml: line 1: expected a number, or a text in quotation marks"),
            ("a.toml", "pmp = 4 5\n", "a.toml: line 1: expected the end of the line behind the value"),
            ("a.toml", "pmp = 4_\n", "a.toml: line 1: expected a number, or a text in quotation marks"),
            ("a.toml", "pmp 4\n", "a.toml: line 1: expected = behind the key"),
            ("a.toml", "= 4\n", "a.toml: line 1: expected key = value"),
            ("a.toml", "[core]\npmp = 4\n", "a.toml: line 1: expected key = value, tables are not read"),
            ("a.toml", "pmp = 4\npmp = 5\n", "a.toml: line 2: a key that stands above already"),
            ("a.toml", "pmp = 4\nconfiguration = \"rv64\"\n", "a.toml: line 2: expected configuration once"),
            ("a.toml", "configuration = \"large\"\n", "a.toml: line 1: unknown configuration 'large'"),
            ("a.toml", "isa = \"rv64i,pmp=4\"\n", "a.toml: line 1: expected a key and one value without , and ="),
            ("a.toml", b"pmp = 4\n\0\n", "a.toml: line 2: expected a line of text"),
            ("a.toml", "x" * 600, "a.toml: line 1: expected a line of text of at most 511 bytes"),
            ("a.toml", "isa = \"rv64i\"\nreset_pc = 2\n", "a.toml: line 2: reset_pc=0x2: expected a multiple of 4"),
            ("a.json", "[]", "a.json: expected an object of keys"),
            ("a.json", "{\"pmp\": 4,\n\"pmp\": 5}", "a.json:2:5: duplicate object key"),
            ("a.json", "{\"pmp\": 4.5}", "a.json: pmp: expected a text or a whole number"),
            ("a.json", "{\"pmp\": -1}", "a.json: pmp=-1: expected ignored, 0 or a number of entries up to 16"),
            ("a.json", "{\"configuration\": 3}", "a.json: configuration: expected a text"),
            ("a.json", "{\"isa\": \"\"}", "a.json: expected a key and one value")):
        write(name, text)
        done = facet("run", program, "--config", name)
        check_eq((done.returncode, done.stdout), (2, ""), f"exit code and output with {text!r}")
        check(complaint in done.stderr, f"{text!r}: said {done.stderr!r}, expected {complaint!r}")


@case()
def files_that_cannot_be_read_are_named():
    program = assemble("program.elf", PROGRAM)
    os.makedirs(path("folder.toml"), exist_ok=True)
    write("long.json", b" " * 70000)
    for name in ("missing.toml", "folder.toml", "missing.json", "long.json"):
        done = facet("run", program, "--config", name)
        check_eq((done.returncode, done.stdout), (2, ""), f"exit code and output with {name}")
        check(name in done.stderr, f"{name}: said {done.stderr!r}")


@case()
def ram_has_one_size():
    program = assemble("program.elf", PROGRAM)
    check_eq(facet("run", program, "--config", "ram=0x80000000", "--ram", "1M").returncode, 0, "exit code")
    done = facet("run", program, "--config", "ram=0x80000000+1M", "--ram", "1M")
    check_eq((done.returncode, done.stderr), (2, "facet run: --ram: the configuration has ram= with a size already\n"),
             "answer to two sizes")


@case()
def a_snapshot_carries_the_configuration():
    program = assemble("program.elf", PROGRAM)
    write("core.toml", 'configuration = "rv64"\nisa = "rv64ima"\npmp = 8\nram = "0x80000000+64k"\nhartid = 9\n')
    done = facet("snapshot", program, "--config", "core.toml", "--steps", "1", "-o", "state")
    check_eq(done.returncode, 0, f"exit code of facet snapshot, which said {done.stderr}")
    check("configuration  rv64,isa=rv64ima,pmp=8,ram=0x80000000+64k,hartid=9\n" in facet("snapshot", "--info", "state").stdout,
          "configuration of --info")
    done = facet("run", "--resume", "state", "--dump-state")
    check_eq(done.returncode, 0, f"exit code of facet run --resume, which said {done.stderr[-300:]}")
    for line in ("misa                 0x8000000000101101", "mhartid              0x0000000000000009"):
        check(line in done.stdout + done.stderr, f"{line} after --resume")
    done = facet("run", "--resume", "state", "--config", "full")
    check_eq(done.returncode, 2, "exit code with --config beside --resume")


# A program for both machines: every trap is a line of the report, causes and values as characters of the UART.
COMMON = """
        .option norvc
        .globl _start
_start: la t0, handler
        csrw mtvec, t0
        la sp, stack
        j main
        .balign 4
handler: csrr t0, mcause
        call hex
        csrr t0, mtval
        call hex
        csrr t0, mepc
        call hex
        li t0, 10
        li t1, 0x10000000
        sb t0, 0(t1)
        csrr t0, mcause
        li t1, 8
        beq t0, t1, system
        li t1, 2
        bltu t0, t1, jumped
        csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        mret
jumped: csrw mepc, s10
        mret
system: csrr t0, mepc
        addi t0, t0, 4
        bnez a0, done
        csrw mepc, t0
        mret
done:   li t5, 0x100000
        li t6, 0x5555
        sw t6, 0(t5)
        j .
hex:    li t2, 64
1:      addi t2, t2, -4
        srl t3, t0, t2
        andi t3, t3, 15
        addi t3, t3, 48
        li t4, 58
        blt t3, t4, 2f
        addi t3, t3, 39
2:      li t4, 0x10000000
        sb t3, 0(t4)
        bnez t2, 1b
        li t3, 32
        sb t3, 0(t4)
        ret
        .balign 4096
page:   .zero 64
        jr s10
        .zero 4028
        .balign 16
        .zero 64
stack:
main:
"""

PMP = COMMON + """
        la s0, page
        srli t0, s0, 2
        ori t1, t0, 511            # the page: NAPOT
        csrw pmpaddr1, t1
        addi t1, t0, 2             # its bytes 8 to 11: NA4
        csrw pmpaddr0, t1
        addi t1, t0, 256           # up to its middle: TOR, from pmpaddr1
        csrw pmpaddr2, t1
        li t0, -1
        csrw pmpaddr7, t0          # all the rest
        li t0, {cfg}
        csrw pmpcfg0, t0
        la t0, user
        csrw mepc, t0
        li t0, 0x1800
        csrc mstatus, t0
        mret
user:   lw t0, 0(s0)
        sw t0, 0(s0)
        lw t0, 8(s0)
        sw t0, 8(s0)
        ld t0, 16(s0)
        sd t0, 24(s0)
        li t1, 2048
        add t1, t1, s0
        lw t0, 0(t1)
        sw t0, 4(t1)
        la s10, on
        jr 64(s0)
on:     li a0, 1
        ecall
"""

JUMPS = COMMON + """
        la s10, a
        la s0, b + 2
        jr s0
a:      la s10, b
        jalr s1, 4(s0)
b:      .word 0x00001163           # bne x0, x0, . + 2; of taken branches qemu 7.2 has another mtval
        .word 0x00010001           # two c.nop
        csrr t0, misa
        srli t0, t0, 2
        andi t0, t0, 1
        call hex
        li a0, 1
        li t0, 0x100000
        li t1, 0x5555
        sw t1, 0(t0)
        j .
"""


def on_both(name, text, config, cpu):
    if shutil.which(QEMU) is None or shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("qemu-system-misc or gcc-riscv64-unknown-elf is not installed")
    source = write(name + ".S", text)
    done = subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv64ima_zicsr", "-mabi=lp64", "-mcmodel=medany", "-nostdlib",
                           "-static", "-Wl,-N,-Ttext=0x80000000", source, "-o", path(name)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check_eq(done.returncode, 0, f"exit code of the compiler, which said {done.stdout}")
    other = subprocess.run([QEMU, "-machine", "virt", "-cpu", cpu, "-bios", "none", "-display", "none", "-monitor",
                            "none", "-serial", "stdio", "-kernel", path(name)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)
    for extra in ([], ["--plain"], ["--host-code", "1"]):
        mine = facet("run", path(name), "--config", config, "--max-instructions", "1000000", *extra)
        check_eq(mine.returncode, 0, f"exit code of facet, which said {mine.stderr}")
        check_eq(mine.stdout, other.stdout, f"{name}: what facet prints ({extra}), against qemu")
    return other.stdout


@case()
def pmp_is_that_of_qemu():
    # X alone for the rest would stop the loads; entries 0, 1, 2 in turn closed, read-only, open
    for cfg in (0x1F00000000000000, 0x1F00000000001810, 0x1F00000000001910, 0x1F0000000000190F | 0x10,
                0x1F00000000001B10, 0x1F000000000F0000, 0x1F00000000091F00, 0x1F00000000001C11):
        said = on_both("pmp.elf", PMP.format(cfg=hex(cfg)), "rv64,pmp=16", "rv64")
        check(said.strip() != "", "the program says nothing")


@case()
def jumps_without_c_are_those_of_qemu():
    said = on_both("jumps.elf", JUMPS, "rv64,isa=rv64ima", "rv64,c=false,f=false,d=false")
    check_eq(said.count("\n"), 3, "traps")


if __name__ == "__main__":
    main("core")
