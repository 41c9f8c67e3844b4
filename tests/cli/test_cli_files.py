"""Every command against every way in which a file can be wrong. A row of FORMS is a command line that works, with its
input and output files marked; each mark is replaced in turn by a file that is not there, a folder, a file whose bytes
cannot be read or are none, and, for outputs, by places that cannot be written. The answer must be the same everywhere:
exit code 2, a message that names the file, nothing on standard output, and a folder that looks as before. So it must
be for an operand too many and for standard output on a full disk.

Words of a row: `<NAME` is an input, `>NAME` an output; `PREFIX<NAME` has other text before the file (`at=<NAME`),
`<NAME@0x1000` an address behind it.
"""
import os
import re
import shutil
import struct
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
os.environ["FACET_PAGE"] = os.path.join(SOURCE, "tests/view/page.html")
# Shows one pixel of its own code in the framebuffer and ends through the finisher (docs/run.md).
FRAME = """_start: li t0, 0x11000000
li t1, 1
sw t1, 8(t0)
sw t1, 12(t0)
sw t1, 16(t0)
la t1, _start
sd t1, 24(t0)
li t0, 0x100000
li t1, 0x5555
sw t1, 0(t0)
j .
"""
RAY = "-1 0.25 0.5 1 0.25 0.125"

# (command line, kind: "fixed" when one more operand is refused, "free" when the command takes any number; "+prints"
# when something may stand on standard output before the failure is known: a program's console, a report; "+trace" when
# a trace, which is complete before the others are written, may stay; "+journal" likewise. Other outputs of a row appear together or not at
# all.)
FORMS = [
    ("as <fill.s --isa tile -o >out.elf --listing >out.lst", "fixed"),
    ("as <include.s --isa tile -I <folder -o >out.elf", "fixed"),
    ("dis <fill.elf -o >out.s", "fixed"),
    ("bench num f32_add --runs 1 --seconds 0.001 --html >out.html", "fixed+prints"),
    ("run <hello.elf --trace >out.jsonl", "free+prints"),
    ("run <hello.elf --trace >out.jsonl.gz", "free+prints"),
    ("run <hello.elf --trace >out.jsonl --trace-format perfetto", "free+prints"),
    ("run <hello.elf --trace >out.jsonl --trace-format vcd", "free+prints"),
    ("run <frame.elf --framebuffer >out.png", "free+prints"),
    ("run <signature.elf --signature >out.sig --dump-memory _start.._start+8=>out.bin", "free+prints"),
    ("run <hello.elf --cover >out.json --dump-memory _start.._start+4=>out.bin", "free+prints"),
    ("run <hello.elf --files <folder", "free"),
    ("run <hello.elf --files-ro <folder", "free"),
    ("run --resume <hello.snap --trace >out.jsonl", "fixed+prints"),
    ("snapshot <hello.elf --steps 2 -o >out.snap --files <folder", "free"),
    ("snapshot --resume <hello.snap --steps 2 -o >out.snap", "fixed"),
    ("snapshot --info <hello.snap", "fixed"),
    ("snapshot <hello.elf --steps 2 -o >out.snap --files-ro <folder", "free"),
    ("gdb <hello.elf --stdio --files <folder", "free"),
    ("gdb <hello.elf --stdio --files-ro <folder", "free"),
    ("gdb --resume <hello.snap --stdio", "fixed"),
    ("gdb --machine tile <fill.elf --grid 1x1 --stdio", "fixed"),
    ("gdb --machine tile <include.s -I <folder --stdio", "fixed"),
    (["gdb", "--machine", "gfx12", "<cube.gfx12", "--ray", RAY, "--program", "<node.s", "--stdio"], "fixed"),
    ("scene make knot --size 16 -o >out.glb", "fixed"),
    ("scene info <cube.obj", "fixed"),
    ("render <cube.obj --size 8x8 -o >out.png --stats >out.json", "fixed"),
    ("render <cube.obj --size 8x8 --resume >out.part -o >out.png", "fixed+journal"),
    ("render <cube.obj --size 8x8 --machine all -o >out.png", "fixed+prints"),
    ("why <cube.obj --pixel 3,3 --size 8x8", "fixed"),
    ("render <cube.gfx12 --size 8x8 -o >out.png", "fixed"),
    ("bvh render <cube.gfx12 --size 8x8 -o >out.png", "fixed"),
    ("bvh render <cube.gfx12 --segment <part.gfx12@0x1000 --size 8x8 -o >out.png", "fixed"),
    ("render <cube.gfx12 --segment <part.gfx12@0x1000 --size 8x8 -o >out.png", "fixed"),
    ("bvh why <cube.gfx12 --pixel 1,1 --size 8x8 --scene <cube.obj --brief", "fixed"),
    ("image compare <crate.png <crate2.png --heatmap >out.png", "fixed"),
    ("bvh build <cube.obj -o >out.gfx12", "fixed"),
    ("bvh build <cube.obj --format xphmg8 -o >out.tiles", "fixed"),
    ("bvh build --aabbs <boxes.json -o >out.gfx12", "fixed"),
    ("bvh update <cube.gfx12 --scene <moved.obj -o >out.gfx12", "fixed"),
    ("bvh update <cube.tiles --scene <moved.obj -o >out.tiles", "fixed"),
    ("bvh update <boxes.gfx12 --aabbs <boxes.json -o >out.gfx12", "fixed"),
    ("bvh info <cube.gfx12", "fixed"),
    ("bvh info <cube.gfx12 --segment <part.gfx12@0x1000", "fixed"),
    ("bvh check <cube.gfx12 --segment <part.gfx12@0x1000", "fixed"),
    ("bvh dump <cube.gfx12 --segment <part.gfx12@0x1000", "fixed"),
    ("bvh diff <cube.gfx12 <moved.gfx12 --segment <part.gfx12@0x1000", "fixed"),
    ("bvh trace <cube.gfx12 --segment <part.gfx12@0x1000 --rays <rays.bin -o >out.bin", "fixed"),
    ("bvh update <cube.gfx12 --segment <part.gfx12@0x1000 --scene <moved.obj -o >out.gfx12", "fixed"),
    (["bvh", "why", "<cube.gfx12", "--segment", "<part.gfx12@0x1000", "--ray", RAY], "fixed"),
    ("bvh check <cube.gfx12", "fixed"),
    ("bvh check <cube.gfx12 --scene <cube.obj", "fixed"),
    ("bvh check <boxes.gfx12 --aabbs <boxes.json", "fixed"),
    ("bvh dump <cube.gfx12", "fixed"),
    ("bvh encode <cube.json -o >out.gfx12", "fixed"),
    ("bvh diff <cube.gfx12 <moved.gfx12", "fixed"),
    ("bvh diff <cube.gfx12 --segment-b <moved.gfx12@0x0", "fixed"),
    ("bvh export <cube.gfx12 -o >out.glb", "fixed+prints"),
    ("bvh export <cube.gfx12 --segment <part.gfx12@0x1000 -o >out.glb", "fixed+prints"),
    ("bvh diff <cube.gfx12 <cube.gfx12 --builders --rays <rays.bin", "fixed"),
    ("bvh trace <cube.gfx12 --rays <rays.bin -o >out.bin", "fixed"),
    ("bvh trace <cube.gfx12 --rays <rays.bin --resume >out.part -o >out.bin", "fixed+journal"),
    ("bvh trace <boxes.gfx12 --rays <rays.bin -o >out.bin --procedural candidates --candidates >out.jsonl", "fixed"),
    ("view <cube.gfx12 -o >out.html", "fixed"),
    ("view <cube.gfx12 --segment <part.gfx12@0x1000 -o >out.html", "fixed"),
    ("view <cube.obj -o >out.html", "fixed"),
    ("view <hello.s -o >out.html", "fixed"),
    (["bvh", "why", "<cube.gfx12", "--ray", RAY], "fixed"),
    (["bvh", "why", "<cube.gfx12", "--ray", RAY, "--expect", "8"], "fixed"),
    (["bvh", "why", "<cube.gfx12", "--ray", RAY, "--brief"], "fixed"),
    (["rt", "why", "--tiles", "<cube.tiles", "--ray", RAY], "fixed"),
    ("gfx why --image <crate.png --u 0.5 --v 0.5", "fixed"),
    ("gfx why --raw <raw.bin --format UNORM8_RGBA --width 2 --height 2 --u 0.5 --v 0.5", "fixed"),
    ("gfx12 intersect --vectors <cases.json", "fixed"),
    (["gfx12", "run", "<cube.gfx12", "--ray", RAY, "--save", ">out.ray", "--trace", ">out.jsonl"], "fixed+trace"),
    (["gfx12", "run", "<cube.gfx12", "--ray", RAY, "--resume", "<ray.state"], "fixed"),
    (["gfx12", "run", "<cube.gfx12", "--ray", RAY, "--program", "<node.s"], "fixed"),
    ("tile run <fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --in 0x80200000=<raw.bin "
     "--out target,64=>out.raw --save >out.tile --trace >out.jsonl", "fixed+trace"),
    ("tile run <fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --resume <fill.tile", "fixed"),
    ("tile run <include.s -I <folder --cover >out.json", "fixed"),
    ("tile run <fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --out target,64=>out.raw "
     "--save >out.tile --cover >out.json", "fixed"),
    ("tile test <k1", "free+prints"),
    ("tile draw <triangle.json -o >out.png --trace >out.jsonl", "fixed+trace"),
    ("tile why 3,3 <triangle.json", "fixed"),
    ("run <hello.elf --profile-out >out.json", "free+prints"),
    ("tile draw <triangle.json -o >out.png --profile-out >out.json", "fixed"),
    ("tile run <fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --out target,64=>out.raw "
     "--profile-out >out.json", "fixed"),
    ("render <cube.obj --machine tile --size 16x8 --spp 1 -o >out.png --profile-out >out.json", "fixed"),
    ("profile show <profile.json", "free"),
    ("run <hello.elf --timing <model.timing", "free+prints"),
    ("tile run <fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --out target,64=>out.raw "
     "--save >out.tile --timing <model.timing", "fixed"),
    ("tile draw <triangle.json -o >out.png --timing <model.timing", "fixed"),
    ("timing show <model.timing", "fixed"),
    ("cover merge <hello.json <hello2.json -o >out.json", "free"),
    ("cover report <hello.json --html >out.html", "free"),
    ("conform --suite <suite --junit >out.xml --html >out.html", "fixed"),
    ("conform --suite <suite --resume >out.json", "fixed"),
    ("conform --suite <suite --signatures >cases", "fixed"),
    ("conform --suite <suite --part 1/2 -o >out.part", "fixed"),
    ("conform --suite <suite -o >out.txt", "fixed"),
    ("join <suite.part --html >out.html --junit >out.xml -o >out.txt", "free"),
    ("join <cube.part -o >out.png --stats >out.json", "free"),
    ("join <boxes.part -o >out.bin --candidates >out.jsonl", "free"),
    ("fuzz gfx12 --count 2 --part 1/2 -o >out.part", "fixed"),
    ("fuzz gfx12 --count 2 --resume >out.part", "fixed+journal"),
    ("fuzz tile --count 2 --emit -o >cases", "fixed"),
    ("fuzz gfx12 --count 2 -o >cases", "fixed"),
    ("coverage --results <results", "fixed"),
    ("coverage --rows RT-001 --results <results", "free"),
    ("spec RT-001 --results <results", "free"),
]
# Inputs and outputs that are folders, and inputs for which a file without any byte is a legal one.
FOLDERS = {"folder", "k1", "results", "suite", "cases"}
MAY_BE_EMPTY = {("as", "fill.s"), ("as", "include.s"), ("tile", "include.s"), ("tile", "fill.s"), ("tile", "raw.bin"),
                ("run", "model.timing"), ("tile", "model.timing"), ("timing", "model.timing"), ("bvh trace", "rays.bin"),
                ("bvh check", "cube.gfx12"), ("bvh check", "boxes.gfx12"), ("bvh dump", "cube.gfx12"), ("bvh diff", "cube.gfx12"),
                ("bvh diff", "moved.gfx12"), ("bvh diff", "rays.bin"), ("view", "hello.s")}
# Inputs that their own successor may replace.
MAY_BE_REPLACED = {("bvh", "cube.gfx12"), ("bvh", "boxes.gfx12"), ("bvh", "cube.tiles"), ("snapshot", "hello.snap")}


def facet(words, folder, stdout=subprocess.PIPE):
    return subprocess.run([FACET, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, timeout=120)


def make_inputs(folder):
    def source(name, new):
        shutil.copy(os.path.join(SOURCE, name), os.path.join(folder, new))

    def run(line):
        result = facet(line if isinstance(line, list) else line.split(), folder)
        check(result.returncode in (0, 1), f"{line}: {result.stderr.decode()}")
        return result.stdout

    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    source("examples/tile/fill.s", "fill.s")
    source("examples/tile/triangle.json", "triangle.json")
    source("examples/xphmg/hello.s", "hello.s")
    source("examples/xphmg/signature.s", "signature.s")
    source("examples/gfx12/cube.obj", "cube.obj")
    source("examples/gfx12/cube-moved.obj", "moved.obj")
    source("examples/gfx12/one-node.s", "node.s")
    source("assets/crate.png", "crate.png")
    source("assets/crate.png", "crate2.png")
    source("spec/gfx12-silicon.json", "cases.json")
    shutil.copytree(os.path.join(SOURCE, "examples/tile/k1"), os.path.join(folder, "k1"))
    shutil.copytree(os.path.join(SOURCE, "examples/conform"), os.path.join(folder, "suite"))
    os.mkdir(os.path.join(folder, "folder"))
    write("folder/part.s", b"EXIT\n")
    write("include.s", b'.include "part.s"\n')
    os.mkdir(os.path.join(folder, "results"))
    write("results/test_x.tsv", b"test_x\ta\tpass\tRT-001\n")
    write("boxes.json", b'{"aabbs": [{"min": [0, 0, 0], "max": [1, 1, 1]}]}')
    write("raw.bin", bytes(16))
    write("rays.bin", struct.pack("<8f", 0.5, 0.5, 9, 0, 0.01, 0.01, -1, 99))
    write("frame.s", FRAME.encode())
    run("as fill.s --isa tile -o fill.elf")
    run("as frame.s --isa xphmg -o frame.elf")
    run("as hello.s --isa xphmg -o hello.elf")
    run("as signature.s --isa xphmg -o signature.elf")
    run("snapshot hello.elf --steps 1 -o hello.snap -q")
    run("run hello.elf --cover hello.json")
    run("conform --suite suite --part 1/1 -o suite.part")
    run("run hello.elf --cover hello2.json")
    run("run hello.elf --profile-out profile.json")
    write("model.timing", b"tile.issue = 2\nxphmg.issue = 2\n")
    run("tile run fill.s --grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1 --steps 3 --save fill.tile")
    run("bvh build cube.obj -o cube.gfx12")
    run("bvh build cube.obj -o part.gfx12 --base 0x1000")
    run(["gfx12", "run", "cube.gfx12", "--ray", RAY, "--steps", "3", "--save", "ray.state"])
    run("bvh build --aabbs boxes.json -o boxes.gfx12")
    run("bvh build moved.obj -o moved.gfx12")
    run("bvh build cube.obj --format xphmg8 -o cube.tiles")
    write("cube.json", run("bvh dump cube.gfx12 --json"))
    run("render cube.obj --size 8x8 --part 1/1 -o cube.part")
    run("bvh trace boxes.gfx12 --rays rays.bin --procedural candidates --part 1/1 -o boxes.part")


def tree(folder):
    """Every name below the folder, and what the files hold."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.join(root, name)] = None
        for name in files:
            with open(os.path.join(root, name), "rb") as file:
                found[os.path.join(root, name)] = file.read()
    return found


def split(word):
    """(text before the file, `<` or `>`, name) of a word; (word, "", "") when it is none of them."""
    match = re.fullmatch(r"(|.*=)([<>])([a-z0-9]+[.a-z0-9]*)(|@0x[0-9a-f]+)", word)
    return match.groups()[:3] if match else (word, "", "")


def behind(word):
    """The address after the file of a word."""
    return re.search(r"(|@0x[0-9a-f]+)$", word).group(1) if split(word)[1] else ""


def plain(words, replaced=None, by=None):
    """The words without marks; the word at `replaced` names the file `by`."""
    return [split(word)[0] + (by if at == replaced else split(word)[2]) + behind(word) for at, word in enumerate(words)]


class Folder:
    """A copy of the inputs that must look the same after each refusal."""

    def __init__(self, path):
        self.path = os.path.join(path, "work")
        shutil.copytree(INPUTS, self.path)
        self.before = tree(self.path)

    def refuses(self, words, name, prints=False, others=()):
        """The command line is refused, and the message names the file. `others`: files that may be there, whole."""
        result = facet(words, self.path)
        said = result.stderr.decode(errors="replace")
        where = f"'facet {' '.join(words)}'"
        check_eq(result.returncode, 2, f"exit code of {where}, which said {said!r} and")
        check(prints or result.stdout == b"", f"{where} printed {result.stdout!r}")
        check(name in said, f"{where} said {said!r}, which does not name {name!r}")
        check(re.search(r"\w", said.replace(name, "", 1)), f"{where} said only {said!r}")
        after = tree(self.path)
        for other in others:
            path = os.path.join(self.path, other)
            if path in after:
                check(after.pop(path), f"{where} left {other} without any byte")
                os.remove(path)
        check(after == self.before, f"{where} left {sorted(set(after) ^ set(self.before))} or changed a file")


def check_input(folder, words, at, prints):
    name = split(words[at])[2]
    may_be_empty = {(words[0], name), (" ".join(words[:2]), name)} & MAY_BE_EMPTY
    os.mkdir(os.path.join(folder.path, "../folder.d"))
    with open(os.path.join(folder.path, "../empty.bin"), "wb"):
        pass
    wrong = ["missing.x"]
    if name in FOLDERS:
        wrong += ["cube.obj"]
    else:
        wrong += ["../folder.d", "/proc/self/mem"] + ([] if may_be_empty else ["../empty.bin"])
    for path in wrong:
        folder.refuses(plain(words, at, path), path, prints)
    os.remove(os.path.join(folder.path, "../empty.bin"))
    os.rmdir(os.path.join(folder.path, "../folder.d"))


def check_output(folder, words, at, prints, stays):
    name = split(words[at])[2]
    if name in FOLDERS:
        for path in ("missing.d/x", "cube.obj", "cube.obj/x", "/dev/full"):
            folder.refuses(plain(words, at, path), path)
        return
    marks = [split(word) for word in words]
    others = [other for other in stays if other != name]
    ending = os.path.splitext(name)[1]  # it may say what is written
    os.mkdir(os.path.join(folder.path, f"../folder{ending}"))
    os.symlink("/dev/full", os.path.join(folder.path, f"../full{ending}"))
    folder.refuses(plain(words, at, f"missing.d/x{ending}"), f"missing.d/x{ending}")
    folder.refuses(plain(words, at, f"../folder{ending}"), f"folder{ending}")
    folder.refuses(plain(words, at, f"../full{ending}"), f"full{ending}", prints, others)
    for _, mark, other in marks:
        if mark == "<" and other not in FOLDERS and (words[0], other) not in MAY_BE_REPLACED:
            folder.refuses(plain(words, at, other), other)
    os.rmdir(os.path.join(folder.path, f"../folder{ending}"))
    os.remove(os.path.join(folder.path, f"../full{ending}"))


def check_form(words, kind):
    stays = ["out.jsonl"] * ("+trace" in kind) + ["out.part"] * ("+journal" in kind)
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        for at, word in enumerate(words):
            if split(word)[1] == "<":
                check_input(folder, words, at, "+prints" in kind)
            elif split(word)[1] == ">":
                check_output(folder, words, at, "+prints" in kind, stays)
        if "fixed" in kind:
            folder.refuses(plain(words) + ["one.more"], "one.more")
        result = facet(plain(words), folder.path)
        check(result.returncode in (0, 1), f"the row itself fails: {result.stderr.decode()}")
        for word in words:
            _, mark, name = split(word)
            check(mark != ">" or os.path.exists(os.path.join(folder.path, name)), f"{name} was not written")
        if result.stdout:
            with open("/dev/full", "wb") as full:
                again = facet(plain(words), folder.path, stdout=full)
            check_eq(again.returncode, 2, "exit code where standard output is full")
            check(b"standard output" in again.stderr, f"said {again.stderr!r} where standard output is full")


_base = tempfile.TemporaryDirectory()
INPUTS = os.path.join(_base.name, "inputs")
os.mkdir(INPUTS)
make_inputs(INPUTS)
for _number, (_line, _kind) in enumerate(FORMS):
    _words = _line if isinstance(_line, list) else _line.split()
    _name = re.sub(r"[^a-z0-9]+", "_", " ".join(_words[:4]).lower()).strip("_")
    add_case(f"files_of_{_number}_{_name}", lambda w=_words, k=_kind: check_form(w, k))


@case()
def every_command_with_files_has_a_row():
    rows = [line if isinstance(line, list) else line.split() for line, _ in FORMS]
    text = facet(["--help"], ".").stdout.decode().split("Commands:\n")[1].split("\n\n")[0]
    for line in text.splitlines():
        name = re.match(r"  (\S+(?: \S+)*?)  ", line).group(1)
        shown = facet([*name.split(), "--help"], ".").stdout.decode()
        words = [words for words in rows if words[:len(name.split())] == name.split()]
        for option in re.findall(r"^  (?:-., |    )--(\S+) (?:FILE|OUT|DIR)\b", shown, re.M):
            letter = re.search(rf"^  (-.), --{option} ", shown, re.M)
            spellings = {f"--{option}", letter.group(1) if letter else f"--{option}"}
            check(any(spellings & set(row) for row in words), f"no row of FORMS has facet {name} --{option}")


main("cli_files")
