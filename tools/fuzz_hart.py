#!/usr/bin/env python3
"""Differential fuzzer of the hart: the same random programs on Facet and on qemu-system-riscv64.

usage: fuzz_hart.py --runner BUILD/tests/xphmg/hart/fuzz_hart_run [--facet BUILD/facet] [--programs N] [--items N]
                    [--seed S] [--first N] [--batch N] [--keep FOLDER]

Programs are packed into images (fuzz_hart.S is the code around them); each image runs in qemu, in the
hart's plain executor, in its block executor and, with --facet, in `facet run`. All x and f registers, fcsr, the
trap that ended the program and 2 KiB of memory must be equal bit for bit. A difference is narrowed
down to the shortest prefix of the program that shows it, and from there to one instruction with its
operands, printed as assembly. Program N of seed S is always the same: --seed S --first N --programs 1
runs it alone.

Exit codes: 0 no difference; 1 a difference; 2 bad usage or missing tools."""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fuzz_hart_program as make

BASE = 0x80000000
HEAD_BYTES = 4096
QEMU = "qemu-system-riscv64"
CPU = "rv64,Zfh=on,zba=on,zbb=on,zbs=on,v=off"
GCC, OBJCOPY = "riscv64-unknown-elf-gcc", "riscv64-unknown-elf-objcopy"
NAMES = (["x%d" % i for i in range(32)] + ["f%d" % i for i in range(32)]
         + ["fcsr", "mcause", "mepc", "mtval", "passes", "program"])


class Failure(Exception):
    """Something besides a difference went wrong."""


def command(*words, limit=600):
    try:
        done = subprocess.run(words, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Failure("%s: still running after %d s" % (words[0], limit)) from None
    if done.returncode != 0:
        raise Failure("%s: exit code %d: %s" % (" ".join(words), done.returncode,
                                               done.stderr.decode(errors="replace")[-500:]))
    return done.stdout


def build_harness(folder):
    elf, flat = os.path.join(folder, "harness.elf"), os.path.join(folder, "harness.bin")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz_hart.S")
    command(GCC, "-march=rv64imafdc_zicsr", "-mabi=lp64d", "-nostdlib", "-static",
            "-Wl,-Ttext=0x%x,--build-id=none" % BASE, source, "-o", elf)
    command(OBJCOPY, "-O", "binary", elf, flat)
    with open(flat, "rb") as f:
        code = f.read()
    if len(code) > HEAD_BYTES:
        raise Failure("the harness is larger than %d bytes" % HEAD_BYTES)
    return code.ljust(HEAD_BYTES, b"\0")


class Case:
    """A program and the state that it starts from."""

    def __init__(self, items, passes, state=None, rng=None):
        self.items, self.passes, self.state, self.rng = items, passes, state, rng


def elf_of(data):
    """An ELF file with the flat image as its only segment."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 243, 1, BASE, 64, 0, 5, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 7, 4096, BASE, BASE, len(data), len(data), 4096)
    return (head + segment).ljust(4096, b"\0") + data


class Bench:
    def __init__(self, rows, runner, folder, facet=None):
        self.rows, self.runner, self.folder, self.facet = rows, runner, folder, facet
        self.harness = build_harness(folder)
        self.retired = 0

    def image(self, cases):
        """The flat image; code follows the slots."""
        slots = BASE + HEAD_BYTES
        at = slots + make.SLOT_BYTES * len(cases)
        code, parts = bytearray(), []
        for i, case in enumerate(cases):
            text, _ = make.assemble(case.items, self.rows)
            address = slots + make.SLOT_BYTES * i
            program = at + len(code)
            if case.state is None:
                part = make.slot(case.rng, address, program, case.passes)
            else:
                part = self.move(case, address, program)
            parts.append(part)
            code += text + b"\0" * (-len(text) % 8)
        head = bytearray(self.harness)
        head[8:24] = struct.pack("<QQ", len(cases), slots)
        return bytes(head) + b"".join(parts) + bytes(code)

    @staticmethod
    def move(case, address, program):
        """A slot that was taken from a run, at a new place."""
        part = bytearray(case.state)
        for register, offset in make.POINTERS.items():
            part[8 * register:8 * register + 8] = struct.pack("<Q", address + offset)
        part[520:560] = struct.pack("<5Q", 0, 0, 0, case.passes, program)
        return bytes(part)

    def run(self, cases):
        """{machine: [slot bytes]} of all cases."""
        path = os.path.join(self.folder, "image.bin")
        data = self.image(cases)
        with open(path, "wb") as f:
            f.write(data)
        out = {}
        peer = command(QEMU, "-machine", "virt", "-cpu", CPU, "-bios", path, "-display", "none", "-serial",
                       "none", "-monitor", "none", "-semihosting-config", "enable=on,target=native")
        out["qemu"] = peer
        for mode in ("plain", "blocks", "host"):
            result = os.path.join(self.folder, mode + ".bin")
            count = command(self.runner, mode, path, result)
            self.retired += int(count) if mode == "plain" else 0
            with open(result, "rb") as f:
                out[mode] = f.read()
        if self.facet is not None:
            with open(path + ".elf", "wb") as f:
                f.write(elf_of(data))
            out["run"] = command(self.facet, "run", path + ".elf")
        size = make.SLOT_BYTES
        for name, whole in out.items():
            if len(whole) != size * len(cases):
                raise Failure("%s gave %d bytes, expected %d" % (name, len(whole), size * len(cases)))
        return {n: [w[i:i + size] for i in range(0, len(w), size)] for n, w in out.items()}


def differs(results, i):
    """The first way through Facet whose slot i is not qemu's, or None."""
    return next((m for m in results if results[m][i] != results["qemu"][i]), None)


def listing(items, rows, facet, address):
    text, _ = make.assemble(items, rows)
    if facet is None:
        return "    .byte " + text.hex(" ")
    with tempfile.NamedTemporaryFile(suffix=".bin") as f:
        f.write(text)
        f.flush()
        return command(facet, "dis", "--isa", "xphmg", "--format", "bin", "--base", hex(address), f.name).decode()


def differences(mine, peer):
    """Lines: where two slots differ."""
    a, b = struct.unpack("<70Q", mine[:560]), struct.unpack("<70Q", peer[:560])
    lines = ["  %-7s facet %016x  qemu %016x" % (n, x, y) for n, x, y in zip(NAMES, a, b) if x != y]
    for at in range(make.DATA, make.SLOT_BYTES, 8):
        if mine[at:at + 8] != peer[at:at + 8]:
            lines.append("  mem+%-3d facet %016x  qemu %016x" % (
                at - make.DATA, *struct.unpack("<Q", mine[at:at + 8]), *struct.unpack("<Q", peer[at:at + 8])))
    return lines


def minimise(bench, case, start, facet):
    """Prints what is left of a differing program. `start` is the slot before the run."""
    items = case.items
    # The first pass that differs, from the state that all agree on before it.
    results = bench.run([Case(items, n, start) for n in range(1, case.passes + 1)])
    late = next((n for n in range(case.passes) if differs(results, n)), None)
    if late is None:
        print("  the difference is gone in a run of its own")
        return
    if late > 0:
        print("  in pass %d, after %d that agree" % (late + 1, late))
        start = results["qemu"][late - 1]
    # The shortest prefix of that pass.
    results = bench.run([Case(items[:n], 1, start) for n in range(len(items) + 1)])
    bad = next((n for n in range(len(items) + 1) if differs(results, n)), None)
    if not bad:
        print("  no prefix of the pass shows it; the whole program:")
        print(listing(items, bench.rows, facet, BASE))
        return
    mode = differs(results, bad)
    # One instruction, from the state that both still agree on.
    last = Case(items[bad - 1:bad], 1, results["qemu"][bad - 1])
    alone = bench.run([last])
    if differs(alone, 0):
        print("  item %d of %d, alone, %s executor:" % (bad, len(items), differs(alone, 0)))
        text = listing(last.items, bench.rows, facet, BASE)
        print(text.rstrip())
        state = struct.unpack("<70Q", last.state[:560])
        used = sorted(set(re.findall(r"\b[xf]\d+\b", text)), key=lambda r: (r[0], int(r[1:])))
        print("  before: " + " ".join("%s=%x" % (r, state[NAMES.index(r)]) for r in used)
              + " fcsr=%x" % state[64])
        print("\n".join(differences(alone[differs(alone, 0)][0], alone["qemu"][0])))
    else:
        print("  first %d items, %s executor:" % (bad, mode))
        print(listing(items[:bad], bench.rows, facet, BASE))
        print("\n".join(differences(results[mode][bad], results["qemu"][bad])))


def program(rows, seed, number, items):
    """Most programs run twice; some often, for executors that treat hot code differently."""
    rng = random.Random("%s:%d" % (seed, number))
    return Case(make.Maker(rows, rng).program(items), 40 if number % 16 == 15 else 2, None, rng)


def start_slot(rows, seed, number, items, address=BASE + HEAD_BYTES):
    """The slot of the program before it runs; moving changes pointers only."""
    case = program(rows, seed, number, items)
    return make.slot(case.rng, address, 0, case.passes)


def parse(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--runner", required=True)
    p.add_argument("--facet")
    p.add_argument("--programs", type=int, default=2000)
    p.add_argument("--items", type=int, default=620)
    p.add_argument("--seed", default="1")
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--batch", type=int, default=500)
    p.add_argument("--keep")
    return p.parse_args(argv)


def main(argv):
    options = parse(argv)
    missing = [t for t in (QEMU, GCC, OBJCOPY, options.runner) if shutil.which(t) is None]
    if missing:
        sys.stderr.write("fuzz_hart: not found: %s\n" % ", ".join(missing))
        return 2
    rows = make.load_rows(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "spec"))
    found = instructions = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        try:
            bench = Bench(rows, options.runner, folder, options.facet)
            numbers = range(options.first, options.first + options.programs)
            for at in range(0, len(numbers), options.batch):
                some = numbers[at:at + options.batch]
                cases = [program(rows, options.seed, n, options.items) for n in some]
                results = bench.run(cases)
                instructions = bench.retired
                bad = [i for i in range(len(some)) if differs(results, i)]
                found += len(bad)
                print("%d programs, %d instructions retired, %d differ"
                      % (at + len(some), instructions, found), flush=True)
                for i in bad[:5]:
                    print("program --seed %s --first %d --items %d:" % (options.seed, some[i], options.items))
                    case = program(rows, options.seed, some[i], options.items)
                    minimise(bench, case, start_slot(rows, options.seed, some[i], options.items), options.facet)
                    sys.stdout.flush()
                if bad:
                    break
        except Failure as why:
            sys.stderr.write("fuzz_hart: %s\n" % why)
            return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
