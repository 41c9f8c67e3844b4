"""Work that several processes share: parts and `facet join`, journals, threads, the ranks of mpirun. Whatever way a result
came together, its bytes are those of a single run.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
folder = tempfile.mkdtemp(prefix="facet-share-")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PRTE_"))}


def path(name):
    return os.path.join(folder, name)


def run(words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, timeout=120)
    check_eq(done.returncode, code, f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done


def facet(*words, code=0):
    return run([FACET, *words], code)


def mpirun(ranks, *words, recover=False, code=0):
    """mpirun refuses root and more ranks than processors, unless told otherwise."""
    if shutil.which("mpirun") is None:
        skip("mpirun is not installed (Debian's openmpi-bin)")
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    return run(["mpirun", "--oversubscribe", *root, *(["--enable-recovery"] if recover else []), "-n", str(ranks), FACET, *words], code)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)


# ---- the four commands ----

def make_suite():
    """Twelve cases whose answers an adapter looks up: those with an odd number are wrong."""
    os.mkdir(path("suite"))
    shutil.copy(os.path.join(SOURCE, "examples/conform/rows.tsv"), path("suite"))
    cases = []
    for i in range(12):
        shutil.copy(os.path.join(SOURCE, "examples/conform/tri-first-hit.json"), path(f"suite/{i}.json"))
        shutil.copy(os.path.join(SOURCE, "examples/conform/tri-first-hit.signature"), path(f"suite/{i}.signature"))
        cases.append({"name": f"gfx12/case-{i:02}", "kind": "vector", "source": "silicon", "rows": ["G12-232"], "file": f"{i}.json",
                      "signature": f"{i}.signature"})
    with open(path("suite/suite.json"), "w") as file:
        json.dump({"format": 1, "cases": cases}, file)
    # With a third word the process that asks dies once, at case 7; with a fourth, later cases wait for a file of that name.
    write("adapter", f"""#!{sys.executable}
import os, shutil, signal, sys, time
case, signature = sys.argv[1:3]
number = int(os.path.basename(case).split(".")[0])
if len(sys.argv) > 3 and number == 7:
    try:
        os.close(os.open(sys.argv[3], os.O_CREAT | os.O_EXCL))
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
    except FileExistsError:
        pass
while len(sys.argv) > 4 and number > 7 and not os.path.exists(sys.argv[4]):
    time.sleep(0.02)
shutil.copy(case.replace(".json", ".signature"), signature)
if number % 2:
    open(signature, "w").write("deadbeef\\n")
""".encode())
    os.chmod(path("adapter"), 0o755)


def prepare():
    make_suite()
    facet("bvh", "build", os.path.join(SOURCE, "assets/room.glb"), "-o", "room.gfx12", "--quiet")
    rays = b"".join(struct.pack("<8f", (i * 37 % 101) / 25 - 2, (i * 53 % 97) / 40, (i * 11 % 89) / 22 - 2, 0.0,
                                (i * 7 % 83) / 41 - 1, (i * 29 % 79) / 39 - 1, (i * 13 % 73) / 36 - 1, 1e30) for i in range(70000))
    write("rays.bin", rays)


ROOM = os.path.join(SOURCE, "assets/room.glb")
AGAINST = "./adapter {case} {signature}"
# Name: the words, what the result is written to and options of the result; exit code. Text counts without the times.
WORK = {
    "conform": (["conform", "--suite", "suite", "--against", AGAINST], ["--junit", "{}.xml", "--html", "{}.html", "--all"], 1),
    "conform-json": (["conform", "--suite", "suite"], ["--json", "-o", "{}.json"], 0),
    "fuzz": (["fuzz", "tile", "--count", "70", "--length", "4"], ["--json"], 0),
    "trace": (["bvh", "trace", "room.gfx12", "--rays", "rays.bin", "--stats"], ["-o", "{}.bin"], 0),
    "trace-lost": (["bvh", "trace", "room.gfx12", "--rays", "rays.bin", "--base", "0x40"], ["-o", "{}.bin", "--json"], 1),
    "render": (["render", ROOM, "--size", "150x90", "--spp", "1"], ["-o", "{}.png"], 0),
    "render-hart": (["render", ROOM, "--size", "70x40", "--spp", "1", "-m", "xphmg-rt"], ["-o", "{}.exr"], 0),
    "render-tile": (["render", ROOM, "--size", "70x40", "--spp", "1", "-m", "tile"], ["-o", "{}.png"], 0),
}
LONG = "FACET_TEST_LONG" in os.environ
MAIN = list(WORK) if LONG else ["conform", "fuzz", "trace", "render"]
ENDINGS = ("xml", "html", "json", "bin", "png", "exr")


def result(name, label, words, out, code, runner=facet):
    """What a run leaves: its files and its text, without times and its own names."""
    done = runner(*words, *(o.format(label) for o in out), "--quiet", code=code)
    text = "\n".join(line for line in done.stdout.replace(label, "*").splitlines() if not line.startswith("import "))
    files = {e: read(f"{label}.{e}") for e in ENDINGS if os.path.exists(path(f"{label}.{e}"))}
    check(files or text, f"{name} leaves something")
    return text, files


SINGLE = {}


def single(name):
    if name not in SINGLE:
        words, out, code = WORK[name]
        SINGLE[name] = result(name, f"{name}-single", [*words, "--threads", "1"], out, code)
    return SINGLE[name]


def same(name, label, words, runner=facet, code=None):
    expected_text, expected = single(name)
    text, files = result(name, label, words, WORK[name][1], WORK[name][2] if code is None else code, runner)
    check_eq(sorted(files), sorted(expected), f"{name}: files")
    for ending, data in expected.items():
        check(files[ending] == data, f"{name}: {label}.{ending} has other bytes")
    check_eq(text, expected_text, name)


def parts(name, count, label="p"):
    names = []
    for k in range(1, count + 1):
        file = f"{name}-{label}{k}.part"
        facet(*WORK[name][0], "--part", f"{k}/{count}", "-o", file, "--threads", str(1 + k % 2), "--quiet")
        names.append(file)
    return names


@case()
def threads_do_not_show():
    for name in MAIN:
        for threads in ("2", "7"):
            same(name, f"{name}-t{threads}", [*WORK[name][0], "--threads", threads])


@case()
def parts_join_to_the_bytes_of_one_run():
    for name in WORK:
        names = parts(name, 3)
        same(name, f"{name}-joined", ["join", names[2], names[0], names[1]])


@case()
def more_parts_than_units_join_too():
    same("render-tile", "many", ["join", *parts("render-tile", 4, "m")])


# ---- parts that do not belong together ----

@case()
def bad_parts_are_refused_by_name():
    a, b, c = parts("conform-json", 3, "bad")
    whole = read(b)
    head = struct.unpack_from("<I", whole, 12)[0] + 24

    def refused(words, *texts):
        done = facet("join", *words, "-o", "never.json", code=2)
        for text in texts:
            check(text in done.stderr, f"{text!r} is in {done.stderr!r}")
        check(not os.path.exists(path("never.json")) and done.stdout == "", "nothing is written")

    refused([a, c], "part 2 of 3 is missing")
    refused([a, b, b, c], b, "is part 2 of 3")
    for size in (0, 20, head - 1):
        write("cut.part", whole[:size])
        refused([a, "cut.part", c], "cut.part")
    for size in range(head, len(whole), 1 if LONG else 31):
        write("cut.part", whole[:size])
        refused([a, "cut.part", c], "cut.part", "units" if size == head else "")
    for at in range(3, len(whole), 1 if LONG else 61):
        write("bent.part", whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
        refused([a, "bent.part", c], "bent.part")
    write("long.part", whole + b"x")
    refused([a, "long.part", c], "long.part", f"offset {len(whole)}")
    write("twice.part", whole + whole[head:])
    refused([a, "twice.part", c], "twice.part", "twice")
    write("swapped.part", whole[:head] + read(c)[head:])
    refused([a, "swapped.part", c], "swapped.part", "damaged")
    facet("conform", "--suite", "suite", "--part", "2/4", "-o", "other.part")
    refused([a, "other.part", c], "other.part", "is one of 4 parts, not of 3")
    facet("conform", "--suite", "suite", "--case", "case", "--part", "2/3", "-o", "other.part")
    refused([a, "other.part", c], "other.part", "was made with --case=case")
    refused(["other.part", a, c], a, "was made without --case=case")
    facet("render", ROOM, "--size", "9x9", "--spp", "1", "--part", "2/3", "-o", "other.part", "--quiet")
    refused([a, "other.part", c], "other.part", "is of facet render, not of facet conform")
    shutil.copytree(path("suite"), path("suite2"))
    with open(path("suite2/3.json"), "a") as file:
        file.write("\n")
    facet("conform", "--suite", "suite2", "--part", "2/3", "-o", "other.part")
    refused([a, "other.part", c], "other.part", "is of another input: suite")
    shutil.copytree(path("suite"), path("elsewhere"))
    facet("conform", "--suite", "elsewhere", "--part", "2/3", "-o", "moved.part")
    facet("join", a, "moved.part", c, "-o", "moved.json", "--json")
    check_eq(read("moved.json"), single("conform-json")[1]["json"], "the place of the suite does not matter")


@case()
def options_that_do_not_fit_are_refused():
    for words, text in ((["--part", "0/3", "-o", "x"], "expected K/N"), (["--part", "4/3", "-o", "x"], "expected K/N"),
                        (["--part", "1", "-o", "x"], "expected K/N"), (["--part", "1/2/3", "-o", "x"], "expected K/N"),
                        (["--part", "1/2"], "needs -o FILE"), (["--part", "1/2", "-o", "x", "--html", "y"], "is for facet join"),
                        (["--resume", "-"], "expected a file")):
        done = facet("conform", "--suite", "suite", *words, code=2)
        check(text in done.stderr, done.stderr)
    one = parts("trace", 1, "o")
    for words, text in (([], "need -o FILE"), (["-o", one[0]], "is a part"), (["-o", "x", "--html", "y"], "not for parts of facet bvh trace"),
                        (["-o", "x", "--candidates", "y"], "belong together")):
        check(text in facet("join", *one, *words, code=2).stderr, text)
    check("all of them" in facet("render", ROOM, "-m", "all", "-o", "x.png", "--resume", "j", code=2).stderr, "--machine all")


@case()
def joining_runs_nothing():
    names = []
    for k in (1, 2):
        facet("conform", "--suite", "suite", "--against", "./adapter {case} {signature}", "--part", f"{k}/2", "-o", f"run{k}.part")
        names.append(f"run{k}.part")
    os.rename(path("adapter"), path("away"))
    try:
        check("6 passed, 6 failed" in facet("join", *names, code=1).stdout, "without the adapter")
    finally:
        os.rename(path("away"), path("adapter"))


# ---- journals ----

@case()
def a_run_goes_on_where_another_was_killed():
    for name in MAIN:
        words = [*WORK[name][0], "--resume", f"{name}.units"]
        same(name, f"{name}-begun", words)
        whole = read(f"{name}.units")
        head = struct.unpack_from("<I", whole, 12)[0] + 24
        for size in {0, 5, head - 1, head, (head + len(whole)) // 2, len(whole) - 1} if LONG else {head - 1, (head + len(whole)) // 2}:  # killed while it wrote this byte
            write(f"{name}.units", whole[:size])
            same(name, f"{name}-cut", words)
        if name == "conform":  # more than the rest of the work takes: it must be cut off
            write(f"{name}.units", whole[:head] + 4000 * b"?")
            same(name, f"{name}-torn", words)
        same(name, f"{name}-done", ["join", f"{name}.units"])  # a journal of all units is a part, too


@case()
def a_killed_process_leaves_its_units_to_the_next():
    command = ["conform", "--suite", "suite", "--against", f"{AGAINST} killed1", "--threads", "1", "--resume", "killed.units"]
    facet(*command, code=-9)
    begun = len(read("killed.units"))
    done = facet(*command, code=1)
    check("12 cases: 6 passed, 6 failed" in done.stdout, done.stdout)
    check(0 < begun < len(read("killed.units")), "some units were done before")


@case()
def a_journal_of_other_work_is_refused():
    facet("conform", "--suite", "suite", "--resume", "other.units")
    before = read("other.units")
    done = facet("conform", "--suite", "suite", "--area", "G12", "--resume", "other.units", code=2)
    check("other.units: does not belong to this run: it was made without --area=G12" in done.stderr, done.stderr)
    write("text.units", b"a text")
    check("is no file of" in facet("conform", "--suite", "suite", "--resume", "text.units", code=2).stderr, "no journal")
    check_eq((read("other.units"), read("text.units")), (before, b"a text"), "what is not ours stays")


# ---- ranks ----

@case()
def ranks_do_not_show():
    for name in MAIN:
        for ranks in (1, 3) if LONG or name == "render" else (3,):
            def start(*words, code):
                return mpirun(ranks, *words, "--threads", "2", code=code)
            same(name, f"{name}-r{ranks}", WORK[name][0], runner=start)


@case()
def the_units_of_a_dead_rank_are_done_by_others():
    done = mpirun(3, "conform", "--suite", "suite", "--against", f"{AGAINST} killed3", "--threads", "1", "-o", "ranks.txt", recover=True)
    # mpirun ends with 0 then, whatever the ranks return.
    check(b"12 cases: 6 passed, 6 failed" in read("ranks.txt"), done.stdout)
    check(os.path.exists(path("killed3")), "a rank was killed")


@case()
def a_job_that_was_aborted_is_resumed():
    command = ["conform", "--suite", "suite", "--against", f"{AGAINST} killed4 go", "--threads", "1", "--resume", "ranks.units", "-o", "ranks2.txt"]
    mpirun(3, *command, code=137)  # without --enable-recovery mpirun ends the other ranks as well
    check(not os.path.exists(path("ranks2.txt")), "nothing is half-written")
    write("go", b"")
    mpirun(3, *command, code=1)
    facet(*[w if w != "ranks2.txt" else "alone.txt" for w in command if w not in ("--resume", "ranks.units")], code=1)
    check_eq(read("ranks2.txt"), read("alone.txt"))


try:
    prepare()
    main("share")
finally:
    shutil.rmtree(folder)
