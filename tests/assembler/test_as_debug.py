"""`facet as -g`: the line of every instruction as binutils and GDB read it from the executable, beside what GNU as says
about the same text and beside where the text really stands."""
import os
import re
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]

# What both assemblers take, on the hart. Each instruction's number is its line.
PLAIN = """        .globl _start
_start: addi x0, x0, 2
        .include "part.inc"
        .rept 3
        addi x0, x0, 5
        addi x0, x0, 6
        .endr
        .irp n, 8, 8
        addi x0, x0, \\n + 1
        .endr
        li a0, 0x12345678
        .section .far, "ax"
        addi x0, x0, 13

        addi x0, x0, 15
        .text
        addi x0, x0, 17
""" + "\n" * 300 + "        addi x0, x0, 18\n"
PART = "        addi x0, x0, 101\n        .rept 2\n        addi x0, x0, 103\n        .endr\n"


def run(*words, cwd):
    done = subprocess.run(list(words), capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def rows(path, cwd):
    """(address, file, line) of every row of readelf's table."""
    code, out, err = run("readelf", "--debug-dump=decodedline", path, cwd=cwd)
    check_eq((code, err), (0, ""), "readelf")
    found = re.findall(r"^(\S+)\s+(\d+)\s+(0x[0-9a-f]+)\s+(?:\d+\s+)?x", out, re.M)
    return [(int(address, 16), os.path.basename(name), int(line)) for name, line, address in found]


def write(folder, **files):
    for name, text in files.items():
        with open(os.path.join(folder, name.replace("_", ".")), "w") as f:
            f.write(text)


@case()
def lines_of_gnu_as():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, k_s=PLAIN, part_inc=PART)
        check_eq(run(FACET, "as", "-g", "k.s", "--isa", "xphmg", "-o", "k.elf", cwd=folder), (0, "", ""))
        code, out, err = run("sh", "-c", "riscv64-unknown-elf-as -march=rv64g -g -o k.o k.s && riscv64-unknown-elf-ld -Ttext=0x80000000 "
                             "--section-start=.far=0x80001000 -o gnu.elf k.o", cwd=folder)
        if code != 0:
            skip("no GNU assembler for RISC-V")
        ours, theirs = rows("k.elf", folder), rows("gnu.elf", folder)
        check(len(ours) > 14, f"{len(ours)} rows")
        # Sections lie elsewhere, so places are counted in rows.
        check_eq([row[1:] for row in ours], [row[1:] for row in theirs])


@case()
def addresses_of_every_row():
    """The immediate of an instruction is the line on which it stands."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, k_s=PLAIN.replace("li a0, 0x12345678", "addi x0, x0, 11").replace("18\n", "318\n"), part_inc=PART.replace("10", ""))
        check_eq(run(FACET, "as", "-g", "k.s", "--isa", "xphmg", "-o", "k.elf", cwd=folder)[0], 0)
        table = {address: (name, line) for address, name, line in rows("k.elf", folder)}
        code, out, _ = run("riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases,numeric", "k.elf", cwd=folder)
        if code != 0:
            skip("no objdump for RISC-V")
        seen = re.findall(r"^\s*([0-9a-f]+):.*addi\s+x0,x0,(\d+)", out, re.M)
        check(len(seen) > 15, f"{len(seen)} instructions")
        for address, line in seen:
            start = max(row for row in table if row <= int(address, 16))
            check_eq(table[start][1], int(line), f"the line of 0x{address}")


@case()
def macros_are_stepped_into():
    text = (".macro pair a\nADDI s1, s0, \\a\nADDI s2, s0, \\a\n.endm\n.macro outer\npair 1\nNOP\n.endm\n"
            "pair 4\nouter\n.include \"more.inc\"\nEXIT\n")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "lib"))
        write(folder, k_s=text)
        write(os.path.join(folder, "lib"), more_inc="\n.macro inner\nNOP\n.endm\ninner\npair 7\n")
        check_eq(run(FACET, "as", "-g", "k.s", "-I", "lib", "--isa", "tile", "-o", "k.elf", cwd=folder), (0, "", ""))
        got = rows("k.elf", folder)
        check_eq([row[1:] for row in got],
                 [("k.s", 2), ("k.s", 3), ("k.s", 2), ("k.s", 3), ("k.s", 7), ("more.inc", 3), ("k.s", 2), ("k.s", 3), ("k.s", 12)])
        check_eq([row[0] for row in got], list(range(0x80000000, 0x80000024, 4)))
        check_eq(run("addr2line", "-e", "k.elf", "0x80000014", cwd=folder)[1], "lib/more.inc:3\n")
        code, out, err = run("gdb-multiarch", "-batch", "-nx", "-ex", "info line lib/more.inc:3", "-ex", "list k.s:2,2", "k.elf", cwd=folder)
        check('Line 3 of "lib/more.inc" starts at address 0x80000014' in out and "ADDI s1, s0, \\a" in out, out + err)


@case()
def many_lines_and_long_data():
    """Steps of address and line that no single opcode of the table can make."""
    lines = ["NOP"]
    for i in range(200):
        lines += [""] * (i * 7 % 40) + [".space %d" % (4 * (i * 13 % 60 + 1)), "NOP"]
    with tempfile.TemporaryDirectory() as folder:
        write(folder, k_s="\n".join(lines) + "\n")
        check_eq(run(FACET, "as", "-g", "k.s", "--isa", "tile", "-o", "k.elf", cwd=folder)[0], 0)
        address, expected = 0x80000000, []
        for number, line in enumerate(lines, 1):
            if line:
                expected.append((address, "k.s", number))
                address += int(line[7:]) if line.startswith(".space") else 4
        check_eq(rows("k.elf", folder), expected)


@case()
def where_there_are_none():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, k_s="EXIT\n", data_s=".data\n.word 1\n", own_s='EXIT\n.section .debug_line, ""\n.word 0\n')
        check_eq(run(FACET, "as", "k.s", "--isa", "tile", "-o", "k.elf", cwd=folder)[0], 0)
        check("debug" not in run("readelf", "-SW", "k.elf", cwd=folder)[1], "tables without -g")
        for name in ("data.s", "own.s"):
            check_eq(run(FACET, "as", "-g", name, "--isa", "tile", "-o", "k.elf", cwd=folder), (0, "", ""))
            check("debug_info" not in run("readelf", "-SW", "k.elf", cwd=folder)[1], f"tables of {name}")
        for more in (["--isa", "tile", "--format", "bin"], ["--isa", "xphmg", "--format", "hex"], ["--isa", "gfx12"]):
            code, out, err = run(FACET, "as", "-g", "k.s", *more, "-o", "x", cwd=folder)
            check(code == 2 and ("-g" in err or "--debug" in err), err)
            check(not os.path.exists(os.path.join(folder, "x")), "nothing is written")


main("as_debug")
