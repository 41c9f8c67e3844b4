"""The programs of guest/: built by its Makefile, run by `facet run` with both executors; they check
themselves and end with PASS. Programs that use no extension must print the same on qemu. Start-up code:
traps are reported, other harts wait or do what the program says."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HEADER = os.path.abspath(sys.argv.pop(1))
from harness import add_case, case, check, check_eq, main, skip

SOURCE, FACET = os.environ["FACET_SOURCE"], os.environ["FACET"]
GUEST = os.path.join(SOURCE, "guest")
QEMU = "qemu-system-riscv64"
scratch = tempfile.TemporaryDirectory()


def build(*programs, folder=GUEST):
    """The ELF files, by name."""
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("gcc-riscv64-unknown-elf is not installed")
    if not os.path.exists("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("picolibc-riscv64-unknown-elf is not installed")
    done = subprocess.run(["make", "-s", "-C", folder, "OUT=" + scratch.name, "INCLUDE=" + os.path.dirname(HEADER),
                           "WARNINGS=-Wall -Wextra -Werror", "PROGRAMS=" + " ".join(programs)],
                          capture_output=True, text=True)
    check_eq(done.returncode, 0, "exit code of make\n%s%s" % (done.stdout, done.stderr))
    return [os.path.join(scratch.name, os.path.basename(p)[:-2] + ".elf") for p in programs]


def run(elf, *options):
    return subprocess.run([FACET, "run", *options, elf], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL)


def example(path):
    def check_example():
        elf, = build(path)
        name = os.path.basename(path)[:-2]
        fast = run(elf)
        check_eq(fast.returncode, 0, "exit code of\n%s%s" % (fast.stdout, fast.stderr))
        check_eq(fast.stdout.splitlines()[-1], name + ": PASS", "last line")
        check(len(fast.stdout.splitlines()) > 1, "an example shows a result")
        plain = run(elf, "--plain")
        check_eq(plain.stdout, fast.stdout, "output of the plain executor")
        check_eq(plain.returncode, 0, "exit code of the plain executor")
        for jobs in ("late", "late:1", "late:2", "late:3"):  # every example waits as it must
            late = run(elf, "--jobs", jobs)
            check_eq((late.stdout, late.returncode), (fast.stdout, 0), "output and exit code with --jobs " + jobs)
    return check_example


for source in sorted(glob.glob(os.path.join(GUEST, "examples", "*.[cS]"))):
    add_case("example_" + os.path.basename(source)[:-2], example(source))


def program(name, text):
    path = os.path.join(scratch.name, name + ".c")
    with open(path, "w") as f:
        f.write(text)
    return build(path)[0]


@case("CAP-528")
def discovery_is_obeyed():
    """What the configuration lacks is left out, never executed."""
    elf, = build(os.path.join(GUEST, "examples", "precision.c"))
    for config, said, lacks in (("min", "no FP8 E4M3", "FP8 E4M3 "), ("min,feat0=0x1008", "no MTX, no products", "FP32")):
        done = run(elf, "--config", config)
        check_eq((done.returncode, done.stdout.splitlines()[-1]), (0, "precision: PASS"), config)
        check(said in done.stdout, done.stdout)
        check(lacks not in done.stdout.replace(said, ""), done.stdout)


@case()
def missing_ray_tests_are_done_in_software():
    elf, = build(os.path.join(GUEST, "examples", "rt_fallback.c"))
    seen = {}
    for config in ("full", "full,rt_node4=0", "full,rt_watertight=0", "full,rt_descq=0", "full,rt_node4=0,rt_watertight=0"):
        done = run(elf, "--config", config)
        check_eq(done.returncode, 0, config + "\n" + done.stdout)
        how, seen[config] = done.stdout.splitlines()[:2]
        check_eq("boxes by software" in how, "node4=0" in config, config + ": " + how)
        check_eq("triangles by software" in how, "watertight=0" in config, config + ": " + how)
        check_eq("rays by jobs" in how, config == "full", config + ": " + how)
    check_eq(len(set(seen.values())), 1, "the same hits everywhere: %s" % seen)


@case()
def hello_prints_the_same_on_qemu():
    if shutil.which(QEMU) is None:
        skip("qemu-system-misc is not installed")
    elf, = build(os.path.join(GUEST, "examples", "hello.c"))
    done = subprocess.run([QEMU, "-machine", "virt", "-bios", "none", "-kernel", elf, "-display", "none", "-serial",
                           "none", "-monitor", "none", "-semihosting"], capture_output=True, text=True, timeout=120)
    check_eq(done.stdout + done.stderr, run(elf).stdout, "output")  # qemu's console is standard error
    check_eq(done.returncode, 0, "exit code")


@case()
def an_example_that_is_wrong_fails():
    with open(os.path.join(GUEST, "examples", "saxpy.c")) as f:
        text = f.read().replace("fmadd.s f8", "fmsub.s f8").replace('"check.h"', '"%s/examples/check.h"' % GUEST)
    done = run(program("wrong", text))
    check_eq(done.returncode, 1, "exit code")
    check_eq(done.stdout.splitlines()[-1], "saxpy: FAIL", "last line")


@case()
def an_unexpected_trap_is_reported():
    done = run(program("trap", "int main(void) { __asm__ volatile(\".word 0xffffffff\"); return 0; }\n"))
    check_eq(done.returncode, 125, "exit code")
    check(done.stdout.startswith("trap: illegal instruction (cause 2) at pc 0x80"), done.stdout)
    check(done.stdout.endswith("value 0xffffffff\n"), done.stdout)
    done = run(program("trap2", "int main(void) { __asm__ volatile(\"ld a0, 8(zero)\"); return 0; }\n"))
    check_eq(done.returncode, 125, "exit code")
    check("load access fault (cause 5)" in done.stdout and done.stdout.endswith("value 0x8\n"), done.stdout)


@case()
def a_program_may_replace_the_trap_report():
    done = run(program("own", """#include <stdint.h>
#include <stdlib.h>
void guest_trap(uint64_t cause, uint64_t pc, uint64_t value);
void guest_trap(uint64_t cause, uint64_t pc, uint64_t value) { (void)pc; (void)value; exit(40 + (int)cause); }
int main(void) { __asm__ volatile("ecall"); return 0; }
"""))
    check_eq(done.returncode, 51, "exit code")


@case()
def memory_is_ready_for_c():
    """Zeroed and initialised data, thread-local data, constructors, heap, stack, exit code."""
    done = run(program("memory", """#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int zero[5000], set = 5;
static _Thread_local int local = 9, local_zero;
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = zero[7] == 0 ? 1 : 2; }
int main(void)
{
    char *heap = malloc(1 << 20), stack[100000];
    memset(heap, 1, 1 << 20);
    memset(stack, 2, sizeof stack);
    errno = 3;
    printf("%d %d %d %d %d %d %d\\n", zero[0] + zero[4999], set, local, local_zero, constructed, errno,
           heap[1000] + stack[99999]);
    return 17;
}
"""))
    check_eq(done.stdout, "0 5 9 0 1 3 3\n", "output")
    check_eq(done.returncode, 17, "exit code")


@case()
def other_harts_run_what_the_program_says():
    done = run(program("harts", """#include <stdint.h>
#include <stdio.h>
static volatile uint64_t sum, seen;
void guest_hart(uint64_t hart);
void guest_hart(uint64_t hart)
{
    volatile uint64_t mine[64];
    mine[hart] = hart;
    __atomic_fetch_add(&sum, mine[hart], __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&seen, 1, __ATOMIC_SEQ_CST);
    for (;;) { __asm__ volatile("wfi"); }
}
int main(void)
{
    while (seen != 3) { }
    printf("%d\\n", (int)sum);
    return 0;
}
"""), "--harts", "4")
    check_eq(done.stdout, "6\n", "output of\n" + done.stderr)


main("guest_examples")
