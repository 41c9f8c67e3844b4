"""`facet snapshot` and --resume: a machine saved and continued elsewhere is, bit for bit, the machine
that never stopped; damaged files are refused."""
import json
import os
import shutil
import subprocess
import tempfile

from guest_build import FOLDER, build
from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]

# A program that uses floating point, the timer interrupt, a predicate bank, LDS and every hart.
BUSY = """
_start: csrr    s0, mhartid
        la      t0, handler
        csrw    mtvec, t0
        li      t0, 0x2080
        csrs    mstatus, t0             # FS, MPIE
        li      t1, 0x2004000           # mtimecmp of this hart
        slli    t2, s0, 3
        add     t1, t1, t2
        li      t3, 3
        sd      t3, 0(t1)
        li      t0, 0x80
        csrs    mie, t0
        csrsi   mstatus, 8
        li      t4, 0x40000000          # LDS
        add     t4, t4, t2
loop:   addi    s1, s1, 1
        fcvt.d.l f1, s1
        fdiv.d  f2, f2, f1
        fadd.d  f2, f2, f1
        fsd     f2, 0(t4)
        la      t5, count
        amoadd.d x0, s1, (t5)
        j       loop
        .align  2
handler: addi   s2, s2, 1
        ld      t3, 0(t1)
        addi    t3, t3, 7
        sd      t3, 0(t1)
        mret
        .data
        .align  3
count:  .dword  0
"""


def facet(*words, **more):
    more.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([FACET, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, **more)


def good(*words, **more):
    result = facet(*words, **more)
    check_eq(result.returncode, 0, f"exit code of facet {words}, which said {result.stderr!r},")
    return result.stdout


def path(name):
    return os.path.join(FOLDER.name, name)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def busy():
    if not os.path.exists(path("busy.elf")):
        with open(path("busy.s"), "w", encoding="utf-8") as file:
            file.write(BUSY)
        good("as", "--isa", "xphmg", path("busy.s"), "-o", path("busy.elf"))
    return path("busy.elf")


def check_pieces(program, pieces, *options):
    """Saved and resumed after every piece, against one straight run."""
    good("snapshot", program, "--steps", str(pieces[0]), "-o", path("piece.snap"), *options)
    for piece in pieces[1:]:
        good("snapshot", "--resume", path("piece.snap"), "--steps", str(piece), "-o",
             path("next.snap"))
        os.replace(path("next.snap"), path("piece.snap"))
    good("snapshot", program, "--steps", str(sum(pieces)), "-o", path("whole.snap"), *options)
    check(read("piece.snap") == read("whole.snap"), f"pieces of {pieces} with {options} differ")


@case()
def pieces_make_the_whole():
    check_pieces(busy(), [1, 2, 3, 500, 1023, 4000])
    check_pieces(busy(), [0, 70000, 1, 40000])
    check_pieces(busy(), [700, 10001, 5], "--harts", "3", "--ram", "64k")
    check_pieces(busy(), [700, 10001, 5], "--harts", "2", "--config", "min,pmask_banks=4")
    check_pieces(busy(), [12345, 54321], "--plain")


@case()
def output_and_end_are_those_of_a_straight_run():
    program = build()
    whole = facet("run", program)
    check_eq((whole.returncode, whole.stdout), (55, "start\nsum done\n"), "the straight run")
    for steps in range(1, 150, 11):
        first = good("snapshot", program, "--steps", str(steps), "-o", path("a.snap"))
        rest = facet("run", "--resume", path("a.snap"))
        check_eq((rest.returncode, first + rest.stdout), (55, whole.stdout), f"run cut at {steps}")


@case()
def the_last_state_is_the_same():
    program = build()
    good("snapshot", program, "--steps", "60", "-o", path("a.snap"))
    for options in ([], ["--plain"]):
        words = ["--json", "--dump-state", *options]
        whole = json.loads(facet("run", program, *words).stdout)
        rest = json.loads(facet("run", "--resume", path("a.snap"), *words).stdout)
        check_eq(rest["harts"], whole["harts"], "registers and CSRs")
        for count in ("instructions", "steps"):  # of the run shown; no trap comes before
            check_eq(rest[count], whole[count] - 60, count)


@case()
def the_file_is_enough():
    """In another folder, without the program."""
    shutil.copy(build(), path("copy.elf"))
    good("snapshot", path("copy.elf"), "one", "two", "--steps", "60", "-o", path("a.snap"))
    os.remove(path("copy.elf"))
    with tempfile.TemporaryDirectory() as folder:
        shutil.move(path("a.snap"), os.path.join(folder, "b.snap"))
        check_eq(facet("run", "--resume", "b.snap", cwd=folder).returncode, 55, "exit code")
        info = json.loads(good("snapshot", "--info", "b.snap", "--json", cwd=folder))
    check_eq(info["command_line"], path("copy.elf") + " one two", "command line")
    check_eq((info["steps"], info["ram_bytes"], info["harts"][0]["retired"]), (60, 128 << 20, 60),
             "steps, RAM, instructions")


@case()
def unread_input_is_saved():
    with open(path("echo.s"), "w", encoding="utf-8") as file:
        file.write("""
_start: li      s0, 0x10000000          # UART
next:   li      a0, 7                   # SYS_READC
        call    semihost
        sb      a0, 0(s0)
        addi    s1, s1, 1
        li      t2, 6
        bne     s1, t2, next
        li      t0, 0x100000
        li      t1, 0x5555
        sw      t1, 0(t0)
        j       .
        .align  4
semihost: .word 0x01f01013, 0x00100073, 0x40705013
        ret
""")
    good("as", "--isa", "xphmg", path("echo.s"), "-o", path("echo.elf"))
    first = good("snapshot", path("echo.elf"), "--steps", "20", "-o", path("a.snap"), stdin=None,
                 input="hallo\n")
    check(0 < len(first) < 6, f"printed {first!r} so far")
    check_eq(first + good("run", "--resume", path("a.snap")), "hallo\n", "output")


@case()
def damaged_files_are_refused():
    good("snapshot", busy(), "--steps", "100", "--ram", "64k", "-o", path("a.snap"))
    whole = read("a.snap")
    bad = [whole[:n] for n in (0, 7, 8, 51, 52, 60, 200, len(whole) // 2, len(whole) - 1)]
    bad += [whole + b"\\0", b"\\x7fELF" + bytes(100), bytes(len(whole))]
    for at in list(range(0, 120)) + list(range(120, len(whole), 97)) + [len(whole) - 1]:
        bad.append(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:])
    for number, data in enumerate(bad):
        with open(path("bad.snap"), "wb") as file:
            file.write(data)
        words = (["snapshot", "--info", path("bad.snap")], ["run", "--resume", path("bad.snap")])[
            number % 2]
        result = facet(*words)
        check_eq(result.returncode, 2, f"exit code for damage {number} of {words}")
        check_eq(result.stdout, "", "output")
        check("bad.snap: " in result.stderr and "offset" in result.stderr, result.stderr)
    result = facet("snapshot", "--resume", path("bad.snap"), "--steps", "1", "-o", path("no.snap"))
    check_eq(result.returncode, 2, "exit code")
    check(not os.path.exists(path("no.snap")), "a file was written")


@case()
def what_cannot_be_done_is_said():
    program = build()
    for words, expected in (
            (["snapshot", program, "--steps", "1000", "-o", path("no.snap")], "nothing written"),
            (["snapshot", program, "--steps", "1"], "-o FILE"),
            (["snapshot", program, "-o", path("no.snap")], "--steps"),
            (["snapshot", "--steps", "1", "-o", path("no.snap")], "PROGRAM"),
            (["snapshot", path("none"), "--steps", "1", "-o", path("no.snap")], "none"),
            (["snapshot", program, "--steps", "1", "-o", "/no/such/folder/x"], "/no/such/folder"),
            (["snapshot", "--resume", path("none"), "--steps", "1", "-o", path("no.snap")], "none"),
            (["run", "--resume", path("none")], "none"),
            (["run", "--resume", path("a"), program], "no program"),
            (["run", "--resume", path("a"), "--ram", "1M"], "--ram"),
            (["run"], "PROGRAM")):
        result = facet(*words)
        check_eq(result.returncode, 2, f"exit code of {words}")
        check(expected in result.stderr, f"{words}: {result.stderr!r}")
        check(not os.path.exists(path("no.snap")), f"{words} wrote a file")


@case()
def a_snapshot_can_be_debugged():
    program = build()
    if shutil.which("gdb-multiarch") is None:
        skip("gdb-multiarch is not installed")
    good("snapshot", program, "--steps", "60", "-o", path("a.snap"))
    text = subprocess.run(
        ["gdb-multiarch", "-batch", "-nx", "-ex",
         f"target remote | {FACET} gdb --resume {path('a.snap')} --stdio", "-ex", "print counter",
         "-ex", "monitor steps", "-ex", "continue", program], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout
    for part in ("$1 = 6", "steps 60", "exited with code 067"):
        check(part in text, text)


@case()
def the_seeds_of_the_fuzzer_are_snapshots_of_today():
    seeds = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus", "snapshot")
    for name in sorted(os.listdir(seeds)):
        good("snapshot", "--info", os.path.join(seeds, name))


main("snapshot")
