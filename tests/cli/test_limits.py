"""What ends a command from outside: --max-seconds and Ctrl-C, wherever it is; nothing stays behind."""
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from harness import add_case, case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
PATIENCE = 60  # seconds; each of these would take much longer, or for ever


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, cwd=FOLDER)


def put(name, data):
    with open(path(name), "wb" if isinstance(data, bytes) else "w") as file:
        file.write(data)
    return path(name)


def start(*words):
    return subprocess.Popen([FACET, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=FOLDER)


# ---- every command ----

def commands():
    text = facet("help").stdout
    listed = text[text.index("Commands:\n"):text.index("\n\nExit codes")]
    return [re.sub(" {2,}.*", "", line.strip()) for line in listed.splitlines()[1:]]


@case()
def every_command_has_a_time_limit():
    check(len(commands()) > 25, "the list of commands")
    for name in commands():
        help_text = facet(*name.split(), "--help").stdout
        check_eq(len(re.findall(r"^ +--max-seconds SECONDS", help_text, re.M)), 1, f"--max-seconds in the help of {name}")
        done = facet(*name.split(), "--max-seconds")
        check(done.returncode == 2 and "needs a value" in done.stderr, f"{name} --max-seconds: {done.stderr}")


@case()
def limits_that_are_none():
    for value in ("x", "-1", "nan", "inf", "1e10", ""):
        done = facet("spec", "insn", f"--max-seconds={value}")
        check_eq((done.returncode, done.stdout), (2, ""), f"{value!r}")
        check("expected a number from 0 to 1e+09" in done.stderr, done.stderr)
    check_eq(facet("spec", "csr", "--max-seconds=1000").returncode, 0)


def blocked(name, words):
    """A pipe that nobody writes to: without a limit the command waits for ever."""
    if not os.path.exists(path("pipe")):
        os.mkfifo(path("pipe"))
    done = facet(*name.split(), *words, "--max-seconds", "0.2")
    check_eq((done.returncode, done.stdout), (124, ""), f"{name}: {done.stderr}")
    check_eq(done.stderr, f"facet {name}: the time limit of 0.2 s is reached\n")
    check(not [file for file in os.listdir(FOLDER) if "out" in file], "an output")


for NAME, WORDS in {"as": ["pipe", "--isa", "xphmg", "-o", "out"], "dis": ["pipe"], "render": ["pipe", "-o", "out.png"],
                    "bvh build": ["pipe", "-o", "out"], "bvh info": ["pipe"], "bvh check": ["pipe"], "bvh dump": ["pipe"],
                    "bvh encode": ["pipe", "-o", "out"], "bvh diff": ["pipe", "pipe"], "scene info": ["pipe"],
                    "image compare": ["pipe", "pipe"], "gdb": ["pipe"], "tile draw": ["pipe", "-o", "out.png"]}.items():
    add_case("blocked_" + NAME.replace(" ", "_"), lambda name=NAME, words=WORDS: blocked(name, words))


# ---- a reader that reads nothing ----

CHATTER = """
_start: li t0, 0x10000000
        li t1, 'A'
1:      sb t1, 0(t0)
        j 1b
"""


def unread(words, act, code):
    """Standard output is a full pipe: the write itself must end."""
    check_eq(facet("as", put("chatter.s", CHATTER), "--isa", "xphmg", "-o", "chatter.elf").returncode, 0)
    reading, writing = os.pipe()
    process = subprocess.Popen([FACET, "run", "chatter.elf", *words], stdin=subprocess.DEVNULL, stdout=writing,
                               stderr=subprocess.PIPE, text=True, cwd=FOLDER)
    os.close(writing)
    act(process)
    _, text = process.communicate(timeout=PATIENCE)
    check_eq((process.returncode, text), (code, "facet: cannot write to standard output: it is not being read\n"))
    os.close(reading)


@case()
def nobody_reads_until_the_limit():
    unread(["--max-seconds", "0.5"], lambda process: None, 124)


@case()
def nobody_reads_until_an_interrupt():
    def interrupt_when_full(process):
        sleeping = 0
        for _ in range(PATIENCE * 50):  # it sleeps for long only in a write
            with open(f"/proc/{process.pid}/stat") as file:
                sleeping = sleeping + 1 if file.read().rsplit(")", 1)[1].split()[0] == "S" else 0
            if sleeping > 20:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)

    unread([], interrupt_when_full, 130)


# ---- children ----

def family(marker):
    """Processes that have the marker in their command line."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                line = file.read()
            with open(f"/proc/{number}/stat") as file:
                dead = file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            continue
        if marker.encode() in line and int(number) != os.getpid() and not dead:
            found.append(int(number))
    return found


def gone(marker):
    for _ in range(PATIENCE * 20):
        if not family(marker):
            return True
        time.sleep(0.05)
    return False


@case()
def no_child_survives_an_interrupt():
    scene = path("left-behind.glb")
    check_eq(facet("scene", "make", "knot", "-o", scene).returncode, 0, "scene make")
    seeds = random.Random(5)
    for words in (["render", scene, "-o", path("out.png"), "--threads", "3"], ["bvh", "build", scene, "-o", path("out")]):
        for _ in range(8):
            with start(*words) as process:
                time.sleep(seeds.uniform(0, 0.15))
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=PATIENCE)
            check(process.returncode in (-signal.SIGINT, 0), f"exit code {process.returncode}")
            check(gone(scene), f"a process of {words[0]} is left")
            check(not [file for file in os.listdir(FOLDER) if "tmp" in file], "a temporary file")
            for file in ("out.png", "out"):
                if os.path.exists(path(file)):
                    os.remove(path(file))


@case()
def no_peer_survives_an_interrupt():
    if shutil.which("qemu-system-riscv64") is None or shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("there is no peer")
    with start("bench", "hart") as process:
        children = []
        while not children and process.poll() is None:
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                children = file.read().split()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    check_eq(process.returncode, -signal.SIGINT, "exit code")
    check(children, "a peer was running")
    for _ in range(PATIENCE * 20):
        if not os.path.exists(f"/proc/{children[0]}"):
            break
        time.sleep(0.05)
    check(not os.path.exists(f"/proc/{children[0]}"), "the peer is left")


# ---- the tile machine: draws of any length ----

PICTURE = 0x80100000


def rstate(width, height, blend):
    return struct.pack("<16I", PICTURE, 0, 1, width | height << 16, 0, 0, 0, blend, *([0] * 8))


def rrect(width, height):
    return struct.pack("<4I", 0x1FFFF, 0, width | height << 16, 0x10203040)


KERNEL = """CSRR s1, arg_base
LW s2, 0(s1)
LW s3, 4(s1)
RSTATE s4, 0(s2)
RRECT s5, 0(s3)
EXIT
"""


def kernel_words(width, height):
    """All rows upon each other, blended: no row may be drawn twice or not at all."""
    return [put("draw.s", KERNEL), "--grid", "1x1", "--arg", "state=0x80010000", "--arg", "rect=0x80020000",
            "--in", "state=" + put("state.raw", rstate(width, height, 1)),
            "--in", "rect=" + put("rect.raw", rrect(width, height))]


def huge_list():
    return put("huge.json", json.dumps({
        "buffers": {"f": {"size": 262144}}, "frame": {"base": "f", "width": 8, "height": 8},
        "commands": [{"command": "LOAD_RSTATE", "slot": 0,
                      "descriptor": {"fb_base": "f", "fb_stride": 0, "fb_wh": [65535, 65535], "blend": "additive"}},
                     {"command": "RRECT", "descriptor": {"wh": [65535, 65535], "color": 1}}]}))


@case()
def a_draw_is_left_and_gone_on_with():
    words = kernel_words(3000, 3000)
    outputs = ["--out", f"0x{PICTURE:x},12000=" + path("whole.raw")]
    check_eq(facet("tile", "run", *words, *outputs).returncode, 0, "the whole run")
    outputs = ["--out", f"0x{PICTURE:x},12000=" + path("parts.raw"), "--save"]
    done = facet("tile", "run", *words, *outputs, path("0.snap"), "--max-seconds", "0.005")
    stops, seconds = 0, 0.005
    while done.returncode == 124:
        stops += 1
        middle = "core 0 is in the middle of 0x80000010: RRECT s5, 0(s3)" in done.stderr
        check(middle or "core 0 is at 0x800000" in done.stderr, done.stderr)
        check("time limit after" in done.stdout, done.stdout)
        if stops == 4:
            seconds = 1000
        elif not middle:  # a busy host: it had no time to come to the draw
            seconds *= 2
        done = facet("tile", "run", *words, *outputs, path(f"{stops}.snap"), "--resume", path(f"{stops - 1}.snap"),
                     "--max-seconds", str(seconds))
    check_eq(done.returncode, 0, done.stderr)
    check(stops > 0, "it was stopped")
    with open(path("whole.raw"), "rb") as whole, open(path("parts.raw"), "rb") as parts:
        check(whole.read() == parts.read(), "other pixels")


def stopped(words, message):
    for how, code in (("limit", 124), ("interrupt", 130), ("terminate", 143)):
        expected = message.replace("WHY", "the time limit is reached" if how == "limit" else "interrupted")
        for seconds in (0.3, 3, 30):  # a busy host may not have come to the draw
            with start(*words, *(["--max-seconds", str(seconds)] if how == "limit" else [])) as process:
                if how != "limit":
                    time.sleep(seconds)
                    process.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGTERM)
                _, err = process.communicate(timeout=PATIENCE)
            if (process.returncode, err) == (code, expected):
                break
        check_eq((process.returncode, err), (code, expected), how)


@case()
def a_list_is_stopped_inside_a_draw():
    stopped(["tile", "draw", huge_list(), "-o", path("out.png")],
            "facet tile draw: WHY in commands[1] (RRECT); there is no picture\n")
    check(not os.path.exists(path("out.png")), "a picture")


@case()
def a_kernel_is_stopped_inside_a_draw():
    stopped(["tile", "run", *kernel_words(65535, 65535)],
            "facet tile run: WHY: core 0 is in the middle of 0x80000010: RRECT s5, 0(s3)\n")


@case()
def cases_are_stopped_inside_a_draw():
    folder = path("cases")
    os.makedirs(os.path.join(folder, "b"), exist_ok=True)
    shutil.copytree(os.path.join(SOURCE, "examples/tile/k1"), os.path.join(folder, "a"), dirs_exist_ok=True)
    kernel_words(65535, 65535)
    check_eq(facet("as", path("draw.s"), "--isa", "tile", "--format", "bin", "-o", os.path.join(folder, "b/kernel.bin")).returncode,
             0, "as")
    put("cases/b/state.raw", rstate(65535, 65535, 1))
    put("cases/b/rect.raw", rrect(65535, 65535))
    put("cases/b/case.json", json.dumps({
        "name": "huge", "requirement_ids": [], "kernel_address": "0x80000000", "grid": [1, 1], "tile": [16, 16],
        "args": ["0x80010000", "0x80020000"], "arg_address": "0x80001000",
        "inputs": [{"address": "0x80010000", "file": "state.raw"}, {"address": "0x80020000", "file": "rect.raw"}],
        "outputs": [], "expected": {"result": "ok"}}))
    stopped(["tile", "test", folder], f"facet tile test: WHY in {folder}/b, huge\n")


main("limits")
