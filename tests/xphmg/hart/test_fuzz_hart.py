"""The short run of the differential fuzzer against qemu, and the fuzzer against a planted mistake.

`make fuzz-hart` runs 2,000 programs; here a few programs show that the hart agrees with qemu and that
its executors agree, and a runner that falsifies one instruction's result must be found out and the
instruction named. The programs hold every row of spec/rv64.insn.tsv but those that trap, leave M mode or wait."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

RUNNER = os.path.abspath(sys.argv.pop(1))
from harness import case, check, check_eq, main, skip

SOURCE, FACET = os.environ["FACET_SOURCE"], os.environ["FACET"]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
import fuzz_hart
import fuzz_hart_program as make

PROGRAMS = 400 if os.environ.get("FACET_TEST_LONG") == "1" else 50


def need_tools():
    for tool, package in ((fuzz_hart.QEMU, "qemu-system-misc"), (fuzz_hart.GCC, "gcc-riscv64-unknown-elf")):
        if shutil.which(tool) is None:
            skip("%s is not installed" % package)


def fuzz(*options, runner=RUNNER):
    return subprocess.run([sys.executable, os.path.join(SOURCE, "tools/fuzz_hart.py"), "--runner", runner,
                           "--facet", FACET, *options], capture_output=True, text=True)


@case()
def random_programs_end_as_on_qemu():
    need_tools()
    done = fuzz("--programs", str(PROGRAMS), "--seed", "short")
    check_eq(done.returncode, 0, "exit code of\n%s%s" % (done.stdout, done.stderr))
    words = done.stdout.split()
    check_eq(words[0], str(PROGRAMS), "programs")
    check(int(words[2]) >= 500 * PROGRAMS, "only %s instructions retired" % words[2])


PLANT = """#!%s
import struct, subprocess, sys
mode, image, out = sys.argv[1:]
done = subprocess.run([%r, mode, image, out], capture_output=True)
sys.stdout.buffer.write(done.stdout)
data, slots = open(image, "rb").read(), bytearray(open(out, "rb").read())
for i in range(len(slots) // 4096):
    at = struct.unpack_from("<Q", slots, 4096 * i + 552)[0] - 0x80000000
    while mode == %r and data[at:at + 4] != b"\\x73\\0\\0\\0":  # up to its ECALL
        word = int.from_bytes(data[at:at + 4], "little")
        if word & 0xfe00707f == 0x02002033:  # mulhsu
            slots[4096 * i + 80] ^= 1
        at += 4 if word & 3 == 3 else 2
open(out, "wb").write(slots)
sys.exit(done.returncode)
"""


@case()
def a_planted_mistake_is_found_and_narrowed_down():
    need_tools()
    with tempfile.TemporaryDirectory() as folder:
        liar = os.path.join(folder, "liar")
        for mode in ("plain", "blocks", "host"):
            with open(liar, "w") as f:
                f.write(PLANT % (sys.executable, RUNNER, mode))
            os.chmod(liar, 0o755)
            done = fuzz("--programs", "6", "--items", "80", "--seed", "plant", runner=liar)
            check_eq(done.returncode, 1, "exit code of\n%s%s" % (done.stdout, done.stderr))
            check("alone, %s executor" % mode in done.stdout, "not narrowed down:\n" + done.stdout)
            check("\n    mulhsu x" in done.stdout, "mulhsu is not named:\n" + done.stdout)
            check("--seed plant --first " in done.stdout, "no seed:\n" + done.stdout)


@case()
def every_row_of_the_base_hart_occurs():
    rows = make.load_rows(os.path.join(SOURCE, "spec"))
    maker = make.Maker(rows, random.Random(1))
    seen = set()
    plain = make.pack

    def note(row, word):
        seen.add(row.name)
        return plain(row, word)
    make.pack = note
    try:
        make.assemble(maker.program(60000), rows)
    finally:
        make.pack = plain
    check_eq(sorted(set(rows) - seen), [], "rows that never occur")


@case()
def ctzw_of_a_zero_word_is_32():
    """What the fuzzer leaves out because qemu 7.2 has it wrong, on every executor."""
    if shutil.which(fuzz_hart.GCC) is None:
        skip("gcc-riscv64-unknown-elf is not installed")
    rows = make.load_rows(os.path.join(SOURCE, "spec"))
    rng = random.Random(2)
    maker = make.Maker(rows, rng)
    item = maker.fixed(maker.encode("ctzw", rd=10, rs1=11))
    with tempfile.TemporaryDirectory() as folder:
        bench = fuzz_hart.Bench(rows, RUNNER, folder)
        state = bytearray(make.slot(rng, 0, 0, 1))
        state[88:96] = struct.pack("<Q", 0x7400000000000000)
        with open(os.path.join(folder, "image"), "wb") as f:
            f.write(bench.image([fuzz_hart.Case([item], 1, bytes(state))]))
        for mode in ("plain", "blocks", "host"):
            out = os.path.join(folder, "out")
            subprocess.run([RUNNER, mode, os.path.join(folder, "image"), out], check=True, capture_output=True)
            with open(out, "rb") as f:
                check_eq(struct.unpack_from("<Q", f.read(), 80)[0], 32, "ctzw on the %s executor" % mode)


@case()
def bad_arguments_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        short = os.path.join(folder, "short")
        with open(short, "wb") as f:
            f.write(b"\0" * 16)
        for words in ([], ["fast", short, short], ["plain", short + "x", short], ["plain", short, short]):
            done = subprocess.run([RUNNER, *words], capture_output=True, text=True)
            check_eq(done.returncode, 2, "exit code of %s" % words)
            check(done.stderr.startswith(("usage: ", "fuzz_hart_run: ")), done.stderr)
    done = fuzz("--programs", "1", runner="/no/such/runner")
    check_eq(done.returncode, 2, "exit code without a runner")
    check("not found" in done.stderr, done.stderr)


main("fuzz_hart")
