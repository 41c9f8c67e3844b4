"""`facet tile test`, `facet tile run` and `facet gdb --machine tile` from outside: the project's own case
folders, folders that must be refused, reports, files in and out, a debugger's view of four cores."""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

from harness import add_case, case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
CASES = os.path.join(SOURCE, "tests", "tile", "cases")
FILL = os.path.join(SOURCE, "examples", "tile", "fill.s")
FOLDER = tempfile.mkdtemp()


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=600)


def path(*names):
    return os.path.join(FOLDER, *names)


# ---- the project's own cases ----

def own_case(folder):
    def run():
        for extra in ([], ["--plain"], ["--threads", "2"]):
            done = facet("tile", "test", folder, *extra)
            check_eq((done.returncode, done.stdout.splitlines()[0][:4]), (0, "pass"), done.stdout + done.stderr)
        with open(os.path.join(folder, "case.json")) as file:
            address = json.load(file)["kernel_address"]
        out = path("kernel.bin")
        done = facet("as", "--isa", "tile", os.path.join(folder, "kernel.s"), "-o", out, "--format", "bin",
                     "--base", address)
        check_eq(done.returncode, 0, done.stderr)
        with open(out, "rb") as got, open(os.path.join(folder, "kernel.bin"), "rb") as expected:
            check_eq(got.read(), expected.read(), "kernel.s and kernel.bin are the same program")
    return run


OWN = [os.path.join(CASES, name) for name in sorted(os.listdir(CASES))]
for folder in OWN + [os.path.join(SOURCE, "examples", "tile", "k1")]:
    with open(os.path.join(folder, "case.json")) as file:
        add_case("case_" + os.path.basename(folder).replace("-", "_"), own_case(folder),
                 " ".join(json.load(file)["requirement_ids"]))


@case()
def all_cases_in_one_run():
    done = facet("tile", "test", CASES, "--json")
    check_eq(done.returncode, 0, done.stderr)
    report = json.loads(done.stdout)
    check_eq(report["passed"], len(os.listdir(CASES)))
    check_eq((report["failed"], report["bad"]), (0, 0))


# ---- cases that fail, cases that are wrong ----

GOOD = {"name": "good", "kernel_address": "0x80000000", "grid": [1, 1],
        "args": [7], "arg_address": "0x80001000",
        "outputs": [{"address": "0x80002000", "length": 4, "file": "out.bin"}],
        "expected": {"result": "ok", "rounds": 5, "instret": [5, 0, 0, 0], "faults": []}}
KERNEL = "CSRR s1, arg_base\nLW s2, 0(s1)\nLUI s3, 0x80002\nSW s2, 0(s3)\nEXIT\n"


def write_case(change=None, out=b"\7\0\0\0", kernel=KERNEL, text=None):
    folder = path("case")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    description = json.loads(json.dumps(GOOD))
    if change is not None:
        change(description)
    with open(os.path.join(folder, "case.json"), "w") as file:
        file.write(json.dumps(description) if text is None else text)
    with open(os.path.join(folder, "out.bin"), "wb") as file:
        file.write(out)
    if kernel is not None:
        with open(os.path.join(folder, "kernel.s"), "w") as file:
            file.write(kernel)
    return folder


@case("TILE-523")
def a_case_of_text_alone_passes():
    check_eq(facet("tile", "test", write_case()).returncode, 0)


DIFFERENCES = {
    "byte": (lambda d: None, b"\7\0\1\0", "byte 2 (address 0x80002002) is 0x00, expected 0x01"),
    "rounds": (lambda d: d["expected"].update(rounds=6), b"\7\0\0\0", "rounds: 5, expected 6"),
    "instret": (lambda d: d["expected"].update(instret=[5, 0, 0, 1]), b"\7\0\0\0",
                "instret of core 3: 0, expected 1"),
    "result": (lambda d: d["expected"].update(result="fault"), b"\7\0\0\0", "result: ok, expected fault"),
    "fault": (lambda d: d.update(watchdog=3), b"\7\0\0\0", "watchdog, cause 9"),
    "cause": (lambda d: d["expected"].update(faults=[{"core": 1, "cause": 4}]), b"\7\0\0\0",
              "fault of core 1: cause 0x0, expected 0x4"),
    "packet": (lambda d: d.update(shared_size=40000), b"\7\0\0\0", "packet is refused"),
}


def different(change, out, expected):
    def run():
        done = facet("tile", "test", write_case(change, out))
        check_eq(done.returncode, 1, done.stdout)
        check(expected in done.stdout, f"{done.stdout!r} does not say {expected!r}")
    return run


for name, row in DIFFERENCES.items():
    add_case("difference_" + name, different(*row))

REFUSED = {
    "unknown_key": (lambda d: d.update(colour=1), "colour"),
    "unknown_option": (lambda d: d.update(options={"speed": 1}), "options.speed"),
    "unknown_expectation": (lambda d: d["expected"].update(time=1), "expected.time"),
    "bad_schedule": (lambda d: d.update(options={"sched": "rr:0"}), "rr:Q"),
    "bad_regs": (lambda d: d.update(options={"regs": 20}), "16 or 32"),
    "no_grid": (lambda d: d.pop("grid"), "grid"),
    "grid_of_one": (lambda d: d.update(grid=[1]), "grid"),
    "big_grid": (lambda d: d.update(grid=[1, 65536]), "65535"),
    "no_expected": (lambda d: d.pop("expected"), "expected"),
    "negative_address": (lambda d: d.update(kernel_address=-4), "kernel_address"),
    "no_arg_address": (lambda d: d.pop("arg_address"), "arg_address"),
    "text_argument": (lambda d: d.update(args=["seven"]), "args"),
    "missing_file": (lambda d: d["outputs"][0].update(file="none.bin"), "none.bin"),
    "file_outside": (lambda d: d["outputs"][0].update(file="../out.bin"), "case/../out.bin: only plain files in the same folder or below it"),
    "wrong_length": (lambda d: d["outputs"][0].update(length=5), "4 bytes, expected 5"),
    "core_four": (lambda d: d["expected"].update(faults=[{"core": 4, "cause": 1}]), "core 0..3"),
    "mask": (lambda d: d.update(core_mask=16), "core_mask"),
}


def refused(change, expected):
    def run():
        done = facet("tile", "test", write_case(change))
        check_eq(done.returncode, 2, done.stdout + done.stderr)
        check(expected in done.stderr, f"{done.stderr!r} does not say {expected!r}")
        check("case.json" in done.stderr or "bin" in done.stderr, done.stderr)
    return run


for name, row in REFUSED.items():
    add_case("refused_" + name, refused(*row))


@case()
def case_folders_keep_to_themselves():
    """No file of a case, case.json itself included, is read through a link or from a pipe."""
    folder = write_case(lambda d: None)
    rule = "only plain files in the same folder or below it are read"
    for name in sorted(os.listdir(folder)):
        whole = os.path.join(folder, name)
        os.rename(whole, whole + ".away")
        os.symlink(name + ".away", whole)
        done = facet("tile", "test", folder)
        check_eq(done.returncode, 2, name)
        check(f"{whole}: {rule}" in done.stderr, done.stderr)
        os.remove(whole)
        os.mkfifo(whole)
        done = facet("tile", "test", folder)
        check_eq(done.returncode, 2, name)
        check(f"{whole}: not a regular file" in done.stderr, done.stderr)
        os.remove(whole)
        os.rename(whole + ".away", whole)
    check_eq(facet("tile", "test", folder).returncode, 0)


@case()
def refused_with_the_line():
    """The line of a key where that is certain: not where the key is missing, and not that of a text or of
    another key of the same name."""
    text = json.dumps(GOOD, indent=1)
    for wrong, right, line in (('"grid"', '"gird"', "gird"), ('"rounds": 5', '"rounds": -5', "rounds"),
                               ('"result": "ok"', '"result": "grid"', "result"),
                               ('"grid": [', '"comment": "grid", "gri": [', "gri")):
        check(wrong in text, f"{wrong} in {text}")
        changed = text.replace(wrong, right)
        number = [i for i, words in enumerate(changed.split("\n"), 1) if f'"{line}"' in words][-1]
        done = facet("tile", "test", write_case(text=changed))
        check_eq(done.returncode, 2, done.stderr)
        check(f"/case.json:{number}: " in done.stderr, f"line {number} in {done.stderr}")
    for lost in ('"grid": [\n  1,\n  1\n ],\n', '"name": "good",\n'):
        check(lost in text, f"{lost} in {text}")
        done = facet("tile", "test", write_case(text=text.replace(lost, '"comment": "grid, name",\n')))
        check_eq(done.returncode, 2, done.stderr)
        check("/case.json: " in done.stderr, done.stderr)


@case()
def what_cannot_be_read_does_not_stop_the_rest():
    """Exit 2 outweighs 1: a runner that asks for failures alone must not take a broken folder for one."""
    good = os.path.join(SOURCE, "examples/tile/k1")
    bad = write_case(text="{")
    done = facet("tile", "test", bad, good, path("none"))
    check_eq(done.returncode, 2)
    check_eq(done.stdout.splitlines()[-1], "3 cases: 1 passed, 0 failed, 2 cannot be read")
    check_eq(len(done.stderr.splitlines()), 2, done.stderr)
    failing = write_case(lambda d: d["expected"].update(rounds=6))
    done = facet("tile", "test", failing, good, path("none"))
    check_eq(done.returncode, 2)
    check_eq(done.stdout.splitlines()[-1], "3 cases: 1 passed, 1 failed, 1 cannot be read")
    check_eq(facet("tile", "test", failing, good).returncode, 1)
    report = json.loads(facet("tile", "test", failing, good, path("none"), "--json").stdout)
    check_eq([c["result"] for c in report["cases"]], ["FAIL", "pass", "bad"])


@case()
def broken_folders():
    for done in (facet("tile", "test", write_case(text="{")),
                 facet("tile", "test", write_case(text="[]")),
                 facet("tile", "test", write_case(kernel="FLY s1\n")),
                 facet("tile", "test", write_case(kernel=None)),
                 facet("tile", "test", path("nothing")),
                 facet("tile", "test")):
        check_eq(done.returncode, 2, done.stdout)
        check(done.stderr.startswith("facet tile test:"), done.stderr)
    os.makedirs(path("group", "good"), exist_ok=True)
    done = facet("tile", "test", write_case(lambda d: d.update(x=1)), CASES, "--json")
    check_eq(done.returncode, 2)
    check_eq(json.loads(done.stdout)["bad"], 1)


# ---- tile run ----

@case("TILE-526 TILE-464")
def run_reports_and_writes_files():
    out = path("pixels.raw")
    done = facet("tile", "run", FILL, "--grid", "4x3", "--arg", "target=0x80100000", "--arg", "stride=256",
                 "--arg", "color=0xff336699", "--out", f"target,12288={out}", "--json")
    check_eq(done.returncode, 0, done.stderr)
    report = json.loads(done.stdout)
    check_eq((report["result"], report["rounds"]), ("done", 378))
    check_eq([c["instructions"] for c in report["cores"]], [378] * 4)
    check_eq(report["cores"][0]["by_class"]["store"], 192)
    with open(out, "rb") as file:
        check_eq(file.read(), struct.pack("<I", 0xFF336699) * 3072)


@case()
def files_as_arguments():
    kernel = path("sum.s")
    with open(kernel, "w") as file:
        file.write("CSRR s1, arg_base\nLW s2, 0(s1)\nLW s3, 4(s1)\nLW s4, 8(s1)\nLW s5, 0(s2)\n"
                   "ADD s5, s5, s3\nresult: SW s5, 16(s2)\nLW s6, 12(s1)\nSW s6, 20(s2)\nEXIT\n")
    with open(path("data"), "wb") as file:
        file.write(struct.pack("<8I", 40, *[0] * 7))
    with open(path("more"), "wb") as file:
        file.write(struct.pack("<I", 99))
    out = path("out")
    for program in (kernel, path("sum.elf")):
        done = facet("tile", "run", program, "--arg", f"data=@{path('data')}", "--arg", "n=-38", "--arg", "f=1.5",
                     "--arg", f"@{path('more')}", "--out", f"data,32={out}", "--json")
        check_eq(done.returncode, 0, done.stderr)
        with open(out, "rb") as file:
            check_eq(struct.unpack("<8I", file.read())[4:6], (2, 99))
        check_eq(json.loads(done.stdout)["args"][2]["value"], "0x3fc00000")
        check_eq(facet("as", "--isa", "tile", kernel, "-o", path("sum.elf")).returncode, 0)
    done = facet("tile", "run", kernel, "--break", "result", "--arg", f"data=@{path('data')}")
    check("breakpoint 0x80000018" in done.stdout, done.stdout)


@case()
def faults_and_limits():
    kernel = path("bad.s")
    with open(kernel, "w") as file:
        file.write("LW s1, 0(s0)\n")
    done = facet("tile", "run", kernel)
    check_eq(done.returncode, 1)
    check("load fault (cause 4) at pc 0x80000000 bad.s:1, address 0x00000000: LW s1, 0(s0)" in done.stdout, done.stdout)
    with open(kernel, "w") as file:
        file.write("loop: J loop\n")
    done = facet("tile", "run", kernel, "--watchdog", "1000")
    check("watchdog (cause 9)" in done.stdout and "after 1000 rounds" in done.stdout, done.stdout)
    with open(kernel, "w") as file:
        file.write("ADDI s1, s0, 1\nCSRW int_mask, s1\nWFI\n")
    check("waiting" in facet("tile", "run", kernel).stdout, "a parked core waits")


@case()
def reports_speak():
    """Names of status bits, and what a kernel without EXIT ran into."""
    kernel = path("speak.s")
    with open(kernel, "w") as file:
        file.write("CSRRW s1, core_id, s0\nADDI s1, s0, 1\n")
    done = facet("tile", "run", kernel, "--cores", "1")
    check_eq(done.returncode, 1)
    check("  0x00000300 CSRERR ILL\n" in done.stdout, done.stdout)
    check("core 0 ran past the end of the code: is EXIT missing?\n" in done.stdout, done.stdout)
    with open(kernel, "w") as file:
        file.write(".word 0\nEXIT\n")
    check("EXIT missing" not in facet("tile", "run", kernel).stdout, "an illegal word inside is no missing EXIT")


@case()
def kernels_in_files_of_all_kinds():
    """.include beside the source and below -I, -D, words of $readmemh; what is no program is refused."""
    os.makedirs(path("inc"), exist_ok=True)
    with open(path("inc.s"), "w") as file:
        file.write('.include "beside.inc"\n.include "elsewhere.inc"\nSW s2, 0(s1)\nMEMBAR\nEXIT\n')
    with open(path("beside.inc"), "w") as file:
        file.write("LI s1, 0x80100000\n")
    with open(path("inc", "elsewhere.inc"), "w") as file:
        file.write("LI s2, N\n")
    words = ["-I", path("inc"), "-D", "N=77"]
    check_eq(facet("as", path("inc.s"), "--isa", "tile", *words, "--format", "hex", "-o", path("inc.hex")).returncode, 0)
    for program, extra in ((path("inc.s"), words), (path("inc.hex"), [])):
        done = facet("tile", "run", program, *extra, "--cores", "1", "--out", f"0x80100000,4={path('word')}")
        check_eq(done.returncode, 0, done.stderr)
        with open(path("word"), "rb") as file:
            check_eq(file.read(), b"\x4d\0\0\0")
    check_eq(facet("tile", "run", path("inc.s"), "-D", "N").returncode, 2)
    with open(path("x.json"), "w") as file:
        file.write("\n{}\n")
    with open(path("x.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
    with open(path("x.txt"), "w") as file:
        file.write("Dear machine, run this.\n")
    with open(path("x.glb"), "wb") as file:
        file.write(b"glTF\2\0\0\0")
    for name, kind in (("x.json", "JSON"), ("x.png", "a PNG picture"), ("x.txt", "text"), ("x.glb", "a glTF scene (GLB)")):
        for command in (["tile", "run"], ["gdb", "--machine", "tile", "--stdio"]):
            done = facet(*command, path(name))
            check_eq(done.returncode, 2)
            wanted = "expected an object that says which buffer" if (name, command[0]) == ("x.json", "gdb") else \
                f"this is {kind}; expected assembly text"  # gdb takes command lists
            check(f"{name}: " in done.stderr and wanted in done.stderr, done.stderr)


@case()
def a_jump_to_nowhere_is_told_by_who_jumped():
    with open(path("nowhere.s"), "w") as file:
        file.write("LI s1, 0x50000000\nJALR s0, 0(s1)\nEXIT\n")
    done = facet("tile", "run", path("nowhere.s"))
    check_eq(done.returncode, 1)
    check("at pc 0x50000000, address 0x50000000\n  reached from 0x80000008 nowhere.s:2: JALR s0, 0(s1)\n"
          "  s1 = 0x50000000, written at 0x80000004 nowhere.s:1: ADDI s1, s1, 0\n" in done.stdout, done.stdout)
    with open(path("end.s"), "w") as file:
        file.write("NOP\n")
    done = facet("tile", "run", path("end.s"))
    check("ran past the end" in done.stdout and "reached from" not in done.stdout, done.stdout)


@case()
def bad_command_lines():
    for words in (["none.s"], [FILL, "--grid", "4"], [FILL, "--grid", "70000x1"], [FILL, "--arg", "x"],
                  [FILL, "--arg", "x=blue"], [FILL, "--arg", "x=@none"], [FILL, "--in", "0=none"],
                  [FILL, "--in", f"0x100={FILL}"], [FILL, "--out", "5=x"], [FILL, "--sched", "rr:0"],
                  [FILL, "--vram", "100"], [FILL, "--regs", "17"], [FILL, "--break", "nowhere"],
                  [FILL, "--base", "0x1000"], [FILL, "--const", "0x80000004,16"], [FILL, "--out", "0x100,4=/tmp/x"],
                  [FILL, "--trace-format", "spike", "--trace", "-"], [FILL, "--sched", "rr:1", "--schedule", "4"]):
        done = facet("tile", "run", *words)
        check_eq(done.returncode, 2, f"{words}: {done.stdout}")
        check(done.stderr.startswith("facet tile run:"), done.stderr)


@case("TILE-392")
def schedules_and_traces():
    words = ["--grid", "4x1", "--arg", "t=0x80100000", "--arg", "s=256", "--arg", "c=5"]
    outs = []
    for extra in ([], ["--schedule", "7"], ["--sched", "rnd:7"], ["--mem", "strong"], ["--sched", "rr:50"],
                  ["--threads", "3"], ["--plain"]):
        out = path("frame")
        done = facet("tile", "run", FILL, *words, *extra, "--out", f"t,4096={out}")
        check_eq(done.returncode, 0, done.stderr)
        with open(out, "rb") as file:
            outs.append(file.read())
    check(all(o == outs[0] for o in outs), "a synchronised program gives one result")
    trace = path("trace")
    check_eq(facet("tile", "run", FILL, *words, "--trace", trace, "--trace-insn", "vst.*").returncode, 0)
    with open(trace) as file:
        lines = [json.loads(line) for line in file]
    check_eq(len(lines), 1 + 4 * 64)
    check_eq([line["core"] for line in lines[1:5]], [0, 1, 2, 3])
    check_eq(lines[1]["changes"][0]["store"], "0x80100000")


# ---- the debugger ----

@case()
def gdb_sees_four_cores():
    if shutil.which("gdb-multiarch") is None:
        skip("gdb-multiarch is not installed")
    command = (f"target remote | {FACET} gdb --machine tile {FILL} --grid 4x1 --arg t=0x80100000 --arg s=256 "
               "--arg c=7 --stdio")
    script = ["break *0x80000034", "continue", "info threads", "printf \"s6 %x\\n\", $s6", "thread 3",
              "printf \"core %d offset %x s9 %d\\n\", $core_id, $tile_offset, $s9", "set $s20 = 5",
              "printf \"s20 %d\\n\", $s20", "print/x $v1", "printf \"config %d\\n\", $config", "reverse-stepi",
              "delete", "continue"]
    words = ["gdb-multiarch", "-nx", "-batch", "-ex", command]
    for line in script:
        words += ["-ex", line]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600)
    for expected in ("Thread 4 (core3)", "s6 80100000", "core 2 offset 20 s9 128", "s20 5",
                     "0x7000000070000000700000007", "config 0", "exited normally"):
        check(expected in done.stdout, f"{expected!r} is missing in {done.stdout}")
    done = facet("gdb", "--machine", "tile", FILL, "--harts", "2", "--stdio")
    check_eq(done.returncode, 2)
    check("--harts is for the xphmg machine" in done.stderr, done.stderr)


@case()
def gdb_shows_tile_instructions():
    """After the line that Facet asks for, x/i shows what `facet dis` shows, for every kind of word; and
    memory that is not there stays an error."""
    if shutil.which("gdb-multiarch") is None:
        skip("gdb-multiarch is not installed")
    kernel = path("words.s")
    with open(kernel, "w") as file:
        file.write("ADDI s1, s0, -2048\nLW s1, 4(s2)\nSW.R s1, s3(s2)\nBNE s1, s2, -8\nVADD.F32 v3, v1, v2\n"
                   "AADD s1, s2, (s3), rlx\nTEX2D.N.F32 v3, v1, s2\nRSTATE s1, 0(s3)\n.word 0\n.word 0x00008067\nEXIT\n")
    teach = re.search(r"^  (python .*)$", facet("gdb", "--machine", "tile", kernel, "--stdio").stderr, re.M)
    check(teach, "the line for GDB")
    words = ["gdb-multiarch", "-nx", "-batch", "-ex", f"target remote | {FACET} gdb --machine tile {kernel} --stdio",
             "-ex", teach.group(1), "-ex", "x/11i $pc", "-ex", "monitor disassemble 0x80000000 11",
             "-ex", "x/i 0x12340000"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600)
    shown = re.findall(r"^(?:=>|  ) 0x([0-9a-f]{8}):\t(.*)$", done.stdout, re.M)
    told = re.findall(r"^0x([0-9a-f]{8}): (.*)$", done.stdout, re.M)
    check_eq(shown.pop(), ("12340000", "Cannot access memory at address 0x12340000"), done.stdout)
    check_eq(len(shown), 11, done.stdout)
    check_eq(shown, told, "x/i and monitor disassemble")
    check_eq(shown[0], ("80000000", "ADDI s1, s0, -2048"))
    check_eq(shown[6], ("80000018", "TEX2D.N.F32 v3, v1, s2"))
    check_eq(shown[10], ("80000028", "EXIT"))
    check("ret" not in [text for _, text in shown], "0x00008067 is RISC-V's ret, and no tile instruction")


@case()
def outputs_come_together_or_not_at_all():
    """A device that fails when it is written shows only then: the other files are as they were."""
    if not os.path.exists("/dev/full"):
        skip("no /dev/full")
    first, state = path("together.bin"), path("together.state")
    with open(first, "wb") as file:
        file.write(b"old")
    for words in (["--out", f"0x80001000,4={first}", "--out", "0x80001000,4=/dev/full", "--save", state],
                  ["--out", f"0x80001000,4={first}", "--save", "/dev/full"]):
        done = facet("tile", "run", FILL, "--arg", "t=0x80100000", *words)
        check_eq(done.returncode, 2, done.stdout)
        check_eq(done.stderr, "facet tile run: /dev/full: cannot write: No space left on device\n")
        check_eq(done.stdout, "")
        with open(first, "rb") as file:
            check_eq(file.read(), b"old")
        check(not os.path.exists(state), "a state of a run that failed")
    check(not [name for name in os.listdir(FOLDER) if name.endswith(".tmp")], "a temporary file is left")


@case()
def an_interrupt_ends_a_draw():
    """One rectangle of 2^32 pixels is one instruction, of hours here: Ctrl-C ends it, and memory is written as it is then."""
    kernel, out = path("huge.s"), path("huge.bin")
    with open(kernel, "w") as file:
        file.write("""LA s1, state
RSTATE s2, 0(s1)
LA s1, rect
again: RRECT s2, 0(s1)
J again
.balign 64
state: .word 0x80010000, 0, 1, 0xffffffff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
rect: .word 0x0001ffff, 0, 0xffffffff, 0x01020304
""")
    process = subprocess.Popen([FACET, "tile", "run", kernel, "--plain", "--out", f"0x80010000,4={out}"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    ticks = 0
    while ticks < 20 and process.poll() is None:  # of processor time: it draws
        with open(f"/proc/{process.pid}/stat") as file:
            ticks = int(file.read().rsplit(")", 1)[1].split()[11])
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    check_eq(process.wait(timeout=600), 128 + signal.SIGINT, "the exit code")
    check_eq(os.path.getsize(out), 4, "the output")


@case()
def outputs_are_checked_before_the_dispatch():
    """No --out replaces an input, the kernel or another output, and a bad one leaves nothing behind."""
    kernel, data, first = path("endless.s"), path("data.bin"), path("first.bin")
    with open(kernel, "w") as file:
        file.write("again: J again\n")       # a dispatch that began would run into the watchdog
    with open(data, "wb") as file:
        file.write(bytes(4))
    for words, complaint in (
            (["--out", "0x80001000,4=" + kernel], "is the kernel"),
            (["--trace", kernel], "is the kernel"),
            (["--in", "0x80001000=" + data, "--out", "0x80001000,4=" + data], "is an input"),
            (["--arg", "d=@" + data, "--out", "0x80001000,4=" + data], "is an input"),
            (["--arg", "@" + data, "--trace", data], "is an input"),
            (["--out", "0x80001000,4=" + first, "--out", "0x80001004,4=" + first], "same file"),
            (["--trace", first, "--out", "0x80001004,4=" + first], "same file"),
            (["--out", "0x80001000,4=" + first, "--out", "0x80001000,4=" + path("none", "x.bin")], "cannot create"),
            (["--out", "0x80001000,4=" + first, "--out", "0x80001000,4=" + FOLDER], "cannot create"),
            (["--out", "0x80001000,4=" + first, "--out", "0x90000000,4=" + path("x.bin")], "no memory"),
            (["--out", "nowhere,4=" + first], "'nowhere' is neither"),
            (["--in", "nowhere=" + data], "the address is neither"),
            (["--arg", "a=1", "--arg", "a=2"], "two arguments"),
            (["--json", "--trace", "-"], "standard output"),
            (["--json", "--out", "0x80001000,4=-"], "standard output"),
            (["--trace", "-", "--out", "0x80001000,4=-"], "standard output"),
            (["--grid", "4xx3"], "expected WxH"),
            (["--grid", "4x 3"], "expected WxH")):
        done = facet("tile", "run", kernel, "--watchdog", "1000", *words)
        check_eq(done.returncode, 2, str(words) + done.stdout + done.stderr)
        check(complaint in done.stderr, str(words) + done.stderr)
        check(not os.path.exists(first), str(words))
    with open(kernel) as file:
        check_eq(file.read(), "again: J again\n")
    done = facet("tile", "run", kernel, "--watchdog", "10", "--out", "0x80001000,4=-")
    check_eq((done.returncode, done.stdout), (1, "\0\0\0\0"), "bytes alone on standard output")
    check("after 10 rounds" in done.stderr, done.stderr)


@case()
def addresses_of_cases_are_not_decimal_strings():
    folder = write_case(lambda c: c.update(kernel_address="80000000"))
    done = facet("tile", "test", folder)
    check_eq(done.returncode, 2, done.stdout)
    check("kernel_address" in done.stderr, done.stderr)


@case()
def numbers_and_switches_of_cases_have_several_spellings():
    folder = write_case(lambda c: c.update(comment="as a script may write it",
                                           options={"poison": 1, "regs": "32", "wdog": "0X1000"}))
    done = facet("tile", "test", folder)
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    folder = write_case(lambda c: c.update(options={"poison": 2}))
    done = facet("tile", "test", folder)
    check_eq(done.returncode, 2, done.stdout)
    check("options.poison" in done.stderr, done.stderr)


@case()
def a_saved_run_goes_on_as_if_it_had_never_stopped():
    words = ["tile", "run", FILL, "--grid", "4x3", "--arg", "target=0x80100000", "--arg", "stride=256",
             "--arg", "color=0xff336699"]
    whole, parts, state = path("whole.raw"), path("parts.raw"), path("tile.state")
    done = facet(*words, "--json", "--out", "target,12288=" + whole)
    check_eq(done.returncode, 0, done.stderr)
    half = facet(*words, "--json", "--steps", "777", "--save", state)
    check_eq((half.returncode, json.loads(half.stdout)["result"]), (0, "paused"), half.stderr)
    check_eq(sum(c["instructions"] for c in json.loads(half.stdout)["cores"]), 777, "steps")
    stand = facet(*words, "--json", "--steps", "0", "--resume", state)
    places = [json.loads(done.stdout) for done in (stand, half)]
    for place in places:
        check_eq(place["stopped"]["file"], "fill.s", "the place")
        for register in place["stopped"]["registers"]:  # who wrote it is not in the file
            register.pop("written", None)
    check_eq(places[0], places[1], "the machine where it stopped")
    rest = facet(*words, "--json", "--resume", state, "--out", "target,12288=" + parts)
    check_eq(json.loads(rest.stdout), json.loads(done.stdout), "the two reports")
    with open(whole, "rb") as a, open(parts, "rb") as b:
        check(a.read() == b.read(), "the memories differ")
    for change, told in ((["--vram", "1M"], "offset"), (["--resume", FILL], "offset"),
                         (["--resume", path("none")], "none"), (["--save", state], "--resume"),
                         (["--save", FILL], "the kernel"), (["--steps", "x"], "--steps")):
        bad = facet(*words, "--resume", state, *change)
        check_eq(bad.returncode, 2, f"{change}: {bad.stdout}")
        check(told in bad.stderr, f"{change}: {bad.stderr}")


INVERT = """    CSRR s1, arg_base        # inverts the colours of every texel, one row of the grid after the other
    LW s2, 0(s1)
    LW s3, 4(s1)
    LW s4, 8(s1)
    MUL s5, s3, s4
loop:
    LW s6, 0(s2)
    XORI s6, s6, -1
    SW s6, 0(s2)
    ADDI s2, s2, 4
    ADDI s5, s5, -1
    BNE s5, s0, loop
    EXIT
"""


def png_pixels(name):
    """(width, height, rows of (r, g, b, a)) of an 8-bit PNG, by the format's own rules."""
    with open(name, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    channels = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(packed), [], bytes(width * channels)
    for y in range(height):
        line = bytearray(raw[y * (width * channels + 1):(y + 1) * (width * channels + 1)])
        how, line = line[0], line[1:]
        for i in range(len(line)):
            a = line[i - channels] if i >= channels else 0
            b, c = before[i], before[i - channels] if i >= channels else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), channels)])
        before = bytes(line)
    return width, height, rows


def png_bytes(width, height, rows):
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


@case()
def pictures_in_and_out():
    kernel, picture, out = path("invert.s"), path("in.png"), path("out.png")
    rows = [[(x * 40, y * 50, 7 * x + y) for x in range(5)] for y in range(3)]
    with open(kernel, "w") as file:
        file.write(INVERT)
    with open(picture, "wb") as file:
        file.write(png_bytes(5, 3, rows))
    words = ["tile", "run", kernel, "--cores", "1", "--arg", "pic=@" + picture, "--arg", "w=pic.width", "--arg", "h=pic.height",
             "--out", "pic,pic.widthxpic.height=" + out]
    done = facet(*words)
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    check_eq(png_pixels(out), (5, 3, [[tuple(255 - v for v in pixel) for pixel in row] for row in rows]))
    done = facet(*words, "--expect", "0")
    check_eq(done.returncode, 1)
    hash = re.search(r"the hash is (0x[0-9a-f]{16}), expected 0x0{16}", done.stderr)
    check(hash, done.stderr)
    check_eq(facet(*words, "--expect", hash.group(1)).returncode, 0)
    check_eq(facet(*words[:-1], "pic,5x3=" + out, "--expect", hash.group(1)).returncode, 0)
    for bad in ("pic,60=" + out, "pic,0x3=" + out, "pic,9000x1=" + out, "pic,5x=" + out):
        done = facet(*words[:-1], bad)
        check(done.returncode == 2 and "ADDR,WxH=FILE.png" in done.stderr, done.stderr)
    with open(picture, "wb") as file:
        file.write(b"\x89PNG, but not really")
    done = facet(*words)
    check(done.returncode == 2 and picture in done.stderr, done.stderr)


@case()
def stops_say_why():
    """Place, line, registers and who wrote them, at a breakpoint, after --steps, by the watchdog and at a fault."""
    kernel = path("why.s")
    with open(kernel, "w") as file:
        file.write("start: ADDI s1, s0, 40\nADDI s2, s0, 2\nMAC s1, s2, s2\nloop: ADD s3, s1, s2\nSW s3, 0(s3)\nJ loop\n")
    done = facet("tile", "run", kernel, "--cores", "1")
    check_eq(done.returncode, 1)
    check("core 0: store fault (cause 5) at pc 0x80000010 <loop+4> why.s:5, address 0x0000002e: SW s3, 0(s3)\n"
          "  s3 = 0x0000002e, written at 0x8000000c <loop> why.s:4: ADD s3, s1, s2\n  status = 0x00000400 MEMF\n" in done.stdout, done.stdout)
    done = facet("tile", "run", kernel, "--cores", "1", "--break", "start+8")
    check("core 0 stopped at the breakpoint 0x80000008 <start+8> why.s:3: MAC s1, s2, s2\n" in done.stdout, done.stdout)
    for line in ("  s1 = 0x00000028, written at 0x80000000 <start> why.s:1: ADDI s1, s0, 40\n",
                 "  s2 = 0x00000002, written at 0x80000004 <start+4> why.s:2: ADDI s2, s0, 2\n"):
        check(line in done.stdout, "MAC reads its destination, too: " + done.stdout)
    done = facet("tile", "run", kernel, "--cores", "1", "--steps", "3")
    check("core 0 comes next, at 0x8000000c <loop> why.s:4: ADD s3, s1, s2\n" in done.stdout and "  s3" not in done.stdout, done.stdout)
    stopped = json.loads(facet("tile", "run", kernel, "--cores", "1", "--steps", "3", "--json").stdout)["stopped"]
    check_eq({r["name"]: (r["value"], r["written"]["line"], r["written"]["steps_ago"]) for r in stopped["registers"]},
             {"s1": ("0x0000002c", 3, 0), "s2": ("0x00000002", 2, 1)})
    with open(kernel, "w") as file:
        file.write("ADDI s5, s0, 1\nloop: BNE s5, s0, loop\n")
    done = facet("tile", "run", kernel, "--cores", "1", "--watchdog", "500000")
    check("watchdog (cause 9)" in done.stdout and "  s5 = 0x00000001, not written in the last 262144 steps\n" in done.stdout, done.stdout)


@case()
def cases_with_command_lists():
    folder = path("drawn")
    shutil.copytree(os.path.join(SOURCE, "examples/gdb/list"), folder)

    def case_json(**changes):
        data = {"name": "drawn", "list": "list.json", "expected": {"picture": "expected.png"}}
        data.update(changes)
        with open(os.path.join(folder, "case.json"), "w") as file:
            json.dump(data, file)
        return facet("tile", "test", folder)

    check_eq(case_json().returncode, 0)
    for expected, told in (({"hash": "0x0000000000000001"}, "expected 0x0000000000000001"),
                           ({"picture": "expected.png", "statuses": [0, 36, 0]}, "commands[1] (DISPATCH): status 0, expected 36")):
        done = case_json(expected=expected)
        check(done.returncode == 1 and told in done.stdout, done.stdout + done.stderr)
    for changes, told in (({"expected": {}}, "expected"), ({"list": 5}, "list"), ({"list": "none.json"}, "none.json"), ({"grid": [1, 1]}, "grid"),
                          ({"expected": {"picture": "none.png"}}, "none.png"), ({"expected": {"picture": "../expected.png"}}, "expected.png"),
                          ({"expected": {"picture": "expected.png", "statuses": [0]}}, "statuses"), ({"expected": {"picture": 1}}, "picture")):
        done = case_json(**changes)
        check(done.returncode == 2 and told in done.stderr, f"{changes}: {done.stdout}{done.stderr}")
    rows = [[(0, 0, 0)] * 16 for _ in range(16)]
    with open(os.path.join(folder, "expected.png"), "wb") as file:
        file.write(png_bytes(16, 16, rows))
    done = case_json()
    check(done.returncode == 1 and "pixel 0,0 is #00000a, expected #000000" in done.stdout, done.stdout)


@case()
def things_that_are_no_folders():
    for name in (path("none"), FILL):
        done = facet("tile", "test", name)
        check_eq(done.returncode, 2, done.stdout)
        check("expected a folder" in done.stderr, done.stderr)


try:
    main("tile_cli")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
