"""`--profile-calls`: programs whose call paths are known by hand, with instructions counted by hand; then sums against the profile's own
counts, which another part of the machine makes."""
import collections
import json
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
FOLDER = tempfile.mkdtemp()

# leaf is called twice by twice, which saves ra in s1; down calls itself until a0 is 0; an ecall is handled in the middle of leaf's caller.
HART = """
_start: la      sp, top
        la      t0, handler
        csrw    mtvec, t0
        call    main
        li      t1, 0x5555
        li      t0, 0x100000
        sw      t1, 0(t0)
        j       .
main:   mv      s2, ra
        li      s0, 3
1:      call    twice
        addi    s0, s0, -1
        bnez    s0, 1b
        li      a0, 4
        call    down
        jr      s2
twice:  mv      s1, ra
        call    leaf
        ecall
        call    leaf
        jr      s1
leaf:   beqz    zero, 1f
        nop
1:      tail    other
other:  nop
        ret
down:   beqz    a0, 2f
        addi    sp, sp, -16
        sd      ra, 0(sp)
        addi    a0, a0, -1
        call    down
        ld      ra, 0(sp)
        addi    sp, sp, 16
2:      ret
        .balign 4
handler: csrr   t0, mepc
        addi    t0, t0, 4
        csrw    mepc, t0
        mret
        .bss
        .space  256
top:
"""
# Instructions: la, call, tail and li 0x5555 are two each. An ecall traps and does not retire.
DOWN = {"_start;main" + ";down" * n: 9 for n in range(1, 5)} | {"_start;main" + ";down" * 5: 2}
HART_PATHS = {"_start": 11, "_start;main": 2 + 3 * 4 + 4, "_start;main;twice": 3 * 6, "_start;main;twice;leaf": 6 * 3,
              "_start;main;twice;other": 6 * 2, "_start;main;twice;handler": 3 * 4, **DOWN}

TILE = """start: CALL  outer
        EXIT
outer:  MOV     s20, s1
        ADDI    s3, s0, 2
loop:   CALL    inner
        ADDI    s3, s3, -1
        BNE     s3, s0, loop
        JALR    s0, 0(s20)
inner:  ADDI    s4, s0, 1
        ADDI    s5, s0, 1
        RET
"""
# odd and even call one another, and work on when the other has returned.
COMPILED = """
volatile long n;
long odd(long k);
__attribute__((noinline)) long even(long k) { long r = k == 0 ? 1 : odd(k - 1); n++; return r; }
__attribute__((noinline)) long odd(long k) { long r = k == 0 ? 0 : even(k - 1); n++; return r; }
__attribute__((noinline)) long fib(long k) { long r = k < 2 ? k : fib(k - 1) + fib(k - 2); n++; return r; }
__attribute__((noinline)) int main(void) { int r = fib(4) + even(3); n++; return r; }
__asm__(".globl _start\\n_start: la sp, _start + 65536\\n call main\\n li t1, 0x5555\\n li t0, 0x100000\\n sw t1, 0(t0)\\n j .");
"""
COMPILED_PATHS = {"_start", *("_start;main" + ";fib" * n for n in range(5)),
                  "_start;main;even", "_start;main;even;odd", "_start;main;even;odd;even", "_start;main;even;odd;even;odd"}

def facet(*words, code=0):
    done = subprocess.run([FACET, *words], capture_output=True, text=True, cwd=FOLDER, stdin=subprocess.DEVNULL, timeout=600)
    check_eq(done.returncode, code, done.stderr)
    return done


def write(name, text):
    with open(os.path.join(FOLDER, name), "w") as file:
        file.write(text)


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return json.load(file)


def folded(name, frames):
    """Counts by the named frames alone: lines and the kernel are left out."""
    sums = collections.Counter()
    for line in facet("profile", "show", name, "--folded").stdout.splitlines():
        path, count = line.rsplit(" ", 1)
        sums[";".join(f for f in path.split(";") if f in frames)] += int(count)
    return dict(sums)


def agrees(name):
    """Each instruction has one symbol and one line: sums over all paths are those of the counts."""
    file = read(name)
    by_place, by_stack = collections.Counter(), collections.Counter()
    for row in file["instructions"]:
        by_place[row.get("kernel"), row.get("symbol", "?"), row.get("line")] += row["count"]
    for row in file["stacks"]:
        by_stack[row.get("kernel"), row["frames"][-1], row.get("line")] += row["count"]
    check_eq(by_stack, by_place, name)


@case()
def paths_of_a_program():
    write("paths.s", HART)
    facet("as", "-g", "--isa", "xphmg", "paths.s", "-o", "paths.elf")
    facet("run", "paths.elf", "--profile-out", "paths.json", "--profile-calls")
    check_eq(folded("paths.json", {"_start", "main", "twice", "leaf", "other", "handler", "down"}), HART_PATHS)
    agrees("paths.json")
    plain = read("paths.json")
    del plain["stacks"]
    facet("run", "paths.elf", "--profile-out", "plain.json")
    check_eq(read("plain.json"), plain, "all else is the same")


@case()
def paths_of_a_kernel():
    """Four tiles on each of two cores: a tile begins without callers, whatever the one before did."""
    write("paths-tile.s", TILE)
    facet("tile", "run", "paths-tile.s", "--grid", "8x1", "--cores", "3", "--profile-out", "tile.json", "--profile-calls")
    symbols = {"start", "outer", "loop", "inner"}
    check_eq(folded("tile.json", symbols),
             {"start": 8 * 2, "start;outer": 8 * 2, "start;loop": 8 * (2 * 3 + 1), "start;loop;inner": 8 * 2 * 3})
    agrees("tile.json")
    write("list.json", json.dumps({"buffers": {"f": {"size": 1024}, "k": {"assembly": "paths-tile.s"}}, "frame": {"base": "f", "width": 16, "height": 16},
                                   "commands": [{"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [2, 1]}}] * 2}))
    facet("tile", "draw", "list.json", "-o", "f.png", "--profile-out", "draw.json", "--profile-calls", "--lint", "--timing", "default")
    check_eq(folded("draw.json", symbols), {path: n // 2 for path, n in folded("tile.json", symbols).items()})
    agrees("draw.json")


@case()
def a_program_of_a_compiler():
    compiler = shutil.which("riscv64-unknown-elf-gcc")
    if compiler is None:
        skip("riscv64-unknown-elf-gcc is not installed")
    write("c.c", COMPILED)
    subprocess.run([compiler, "-g", "-O1", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-nostdlib", "-nostartfiles", "-ffreestanding",
                    "-Wl,-n", "-Wl,--no-warn-rwx-segments", "-Wl,-Ttext=0x80000000", "-o", "c.elf", "c.c"], check=True, cwd=FOLDER)
    facet("run", "c.elf", "--profile-out", "c.json", "--profile-calls")
    check_eq(set(folded("c.json", {"_start", "main", "fib", "even", "odd"})), COMPILED_PATHS)
    agrees("c.json")


@case()
def what_is_refused():
    write("k.s", "EXIT\n")
    done = facet("tile", "run", "k.s", "--profile-calls", code=2)
    check("--profile-calls needs --profile-out" in done.stderr, done.stderr)
    facet("tile", "run", "k.s", "--profile-out", "good.json", "--profile-calls")
    good = read("good.json")
    for wrong in (3, [3], [{"frames": [], "count": 1}], [{"frames": ["a"]}], [{"frames": ["a"], "count": -1}], [{"frames": [1], "count": 1}],
                  [{"frames": ["a"], "count": 1, "line": 2}]):
        write("wrong.json", json.dumps({**good, "stacks": wrong}))
        done = facet("profile", "show", "wrong.json", code=2)
        check("wrong.json: stacks: expected" in done.stderr, done.stderr)


try:
    main("profile_calls")
finally:
    shutil.rmtree(FOLDER)
