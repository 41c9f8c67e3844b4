"""The documentation against the program: every command that README, docs/, guest/tile/README and the commands'
own help show is run, and the output shown below it is compared; the architecture page's include graph is
compared with the #include lines; links between pages lead somewhere.

A page shows commands in blocks fenced with ```sh: a line that starts with `$ ` is run by bash, the
lines below it are its output. A line of three dots alone stands for any lines. The commands of a
page run one after the other in one folder that holds only links to `assets`, `conformance`, `examples`, `guest` and `spec`;
they must exit with 0, or with N where a comment `# exit N` follows the command.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import textwrap

from harness import add_case, case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]

# Commands that a page shows and that this test does not run: they build, install or test Facet
# itself, or take the time of a whole run.
# What a command says of its progress after some seconds, on a host that is busy.
PROGRESS = re.compile(r"[a-z]+: +(\d+ % \(\d+/\d+ \w+\)|\d+ \w+ in \d+ s$)")
NOT_RUN = {
    "make", "make demo", "make test", "make test-long", "make bench", "make clean", "make format",
    "make tidy", "make pictures", "make fuzz", "make fuzz FUZZ_SECONDS=60", "make install PREFIX=$HOME/.local",
    ".ci/run", "sudo make install", "make help", "make web", "make site", "make test-web",
    "facet view assets/room.glb",  # serves until Ctrl-C; tests/view does
}


def pages():
    return [os.path.join(SOURCE, name) for name in ("README.md", "guest/tile/README.md")] + \
        sorted(glob.glob(os.path.join(SOURCE, "docs/*.md")))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(text, kind):
    """(line number, lines) of every block fenced with that kind."""
    found, current, start = [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if current is None and line.strip() == "```" + kind:
            current, start = [], number
        elif current is not None and line.strip() == "```":
            found.append((start, textwrap.dedent("\n".join(current)).split("\n")))
            current = None
        elif current is not None:
            current.append(line)
    return found


def commands(text):
    """(line number, command, expected output lines) of the page."""
    found = []
    for start, lines in blocks(text, "sh"):
        for offset, line in enumerate(lines, 1):
            if line.startswith("$ "):
                found.append((start + offset, line[2:], []))
            elif found and lines[0].startswith("$ "):
                found[-1][2].append(line.rstrip())
    return found


def matches(got, shown):
    """Whether the lines got are the lines shown, where `...` stands for any number of lines."""
    parts = [[]]
    for line in shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return got == parts[0]
    first, last = parts[0], parts[-1]
    if len(got) < len(first) + len(last) or got[:len(first)] != first:
        return False
    at, end = len(first), len(got) - len(last)
    for part in parts[1:-1]:
        while at + len(part) <= end and got[at:at + len(part)] != part:
            at += 1
        at += len(part)
    return at <= end and got[end:] == last


def run_in(folder, command):
    build = os.path.dirname(FACET)
    environment = dict(os.environ, PATH=f"{build}:{build}/examples:{os.environ['PATH']}",
                       INCLUDE=f"{build}/guest/include",  # of the guest folder's Makefile
                       FACET_PAGE=os.path.join(SOURCE, "tests/view/page.html"))  # facet view, also where there is no node
    environment.pop("FACET_TEST_RESULTS", None)
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", stdin=subprocess.DEVNULL)


def make_folder(folder):
    for name in ("assets", "conformance", "examples", "guest", "spec"):
        if os.path.isdir(os.path.join(SOURCE, name)):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))


def check_commands(shown):
    """Runs (where, command, expected) one after the other in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder)
        for where, command, expected in shown:
            if command in NOT_RUN:
                continue
            code = re.search(r"# exit (\d+)$", command)
            result = run_in(folder, command)
            got = [line.rstrip() for line in result.stdout.splitlines() if not PROGRESS.match(line)]
            check_eq(result.returncode, int(code.group(1)) if code else 0,
                     f"{where}: exit code of '{command}', which printed:\n{result.stdout}\nand")
            if expected:
                check(matches(got, expected), f"{where}: '{command}' printed\n{result.stdout}\n"
                      "where the page shows\n" + "\n".join(expected))


def check_page(path):
    name = os.path.relpath(path, SOURCE)
    check_commands([(f"{name}:{line}", command, expected)
                    for line, command, expected in commands(read(path))])


def check_examples(command):
    help_text = subprocess.run([FACET, *command.split(), "--help"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
    check("\nExamples:\n" in help_text, f"facet {command} --help shows no example")
    lines = help_text.split("\nExamples:\n")[1].split("\n\n")[0].splitlines()
    check_commands([(f"facet {command} --help", line.strip()[2:], []) for line in lines])


def command_names():
    text = subprocess.run([FACET, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = text.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [re.match(r"  (\S+(?: \S+)*?)  ", line).group(1) for line in lines]


for _path in pages():
    _name = os.path.relpath(_path, SOURCE).replace("/", "_").replace(".md", "").replace("-", "_")
    add_case("commands_of_" + _name, lambda p=_path: check_page(p))
for _command in command_names():
    add_case("examples_of_" + _command.replace(" ", "_"), lambda c=_command: check_examples(c))


@case()
def every_command_is_documented():
    text = read(os.path.join(SOURCE, "docs/commands.md"))
    for name in command_names():
        check(f"`facet {name}`" in text, f"docs/commands.md does not speak of `facet {name}`")


@case()
def the_errata_are_those_of_the_resolutions():
    """docs/errata.md is what spec/ makes; and an independent look: every document, every resolution that speaks of one."""
    tool = os.path.join(SOURCE, "tools/gen_errata.py")
    page = os.path.join(SOURCE, "docs/errata.md")
    made = subprocess.run(["python3", tool, "--check", os.path.join(SOURCE, "spec"), page], capture_output=True, text=True)
    check_eq((made.returncode, made.stderr), (0, ""), "gen_errata.py --check")
    text = read(page)
    ids = []
    for path in glob.glob(os.path.join(SOURCE, "spec/resolutions-*.md")):
        ids += re.findall(r"^### (R-[A-Z0-9]+-\d+) ", read(path), re.M)
    own = re.findall(r"^(R-\S+)\town\t", read(os.path.join(SOURCE, "spec/errata.tsv")), re.M)
    check_eq(sorted(re.findall(r"^### .*\((R-[A-Z0-9]+-\d+)\)$", text, re.M)), sorted(set(ids) - set(own)), "entries")
    for line in read(os.path.join(SOURCE, "spec/documents.tsv")).splitlines()[1:]:
        _, title, _, kind = line.split("\t")
        check(kind not in ("source", "sibling") or f"\n## {title}\n" in text, f"{title} has no part")
    check(not re.search(r"\b[Ss]eeds?\b", text), "the page speaks of seeds")
    for line in text.splitlines():  # an author can paste these, without Facet's pages, options and other entries
        found = re.search(r"(numeric\.md|-semantics\b|\.tsv\b|\bR-[A-Z0-9]+-\d+|--[a-z]|\b[Ff]acet\b)", line)
        check(not (line.startswith("- *Suggested:*") and found), f"not worded for the document: {line}")
    for early, late in (("R-CAP-14", "R-CAP-65"), ("R-TILE-02", "R-TILE-129"), ("R-XM-30", "R-XM-52"), ("R-PM-11", "R-PM-16")):
        mark = re.search(rf"^### .*\({early}\)\n\n- \*Later:\* revised by (.*)$", text, re.M)
        check(mark and late in mark.group(1), f"{early} does not lead to {late}")


@case()
def links_lead_somewhere():
    for path in pages():
        text = read(path)
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text) + re.findall(r'src="([^"]+)"', text):
            if not re.match(r"[a-z]+:", target):
                where = os.path.join(os.path.dirname(path), target)
                check(os.path.exists(where), f"{os.path.relpath(path, SOURCE)}: {target} is not there")


@case()
def the_pictures_are_those_that_facet_draws():
    committed = os.path.join(SOURCE, "docs/pictures")
    with tempfile.TemporaryDirectory() as folder:
        drawn = run_in(folder, f"{SOURCE}/tools/pictures.sh .")
        check_eq(drawn.returncode, 0, f"tools/pictures.sh, which printed:\n{drawn.stdout}\nand")
        if "no guest program" in drawn.stdout:
            skip("there is no compiler for guest programs")
        check_eq(sorted(os.listdir(folder)), sorted(os.listdir(committed)), "pictures")
        for name in os.listdir(folder):
            check(os.path.getsize(os.path.join(committed, name)) < 100_000, f"docs/pictures/{name} is large")
            result = run_in(folder, f"facet image compare {name} {committed}/{name}")
            check_eq(result.returncode, 0, f"docs/pictures/{name} is not what `make pictures` draws:\n{result.stdout}\n")


@case()
def public_headers_compile_alone():
    for header in glob.glob(os.path.join(SOURCE, "include/facet/*.h")):
        for compiler, language in (("gcc", "c"), ("clang", "c"), ("clang++", "c++")):
            if shutil.which(compiler) is None:
                continue
            standard = "c11" if language == "c" else "c++11"
            result = subprocess.run(
                [compiler, "-x", language, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic",
                 "-Werror", "-fsyntax-only", "-I" + os.path.join(SOURCE, "include"),
                 "-I" + os.path.join(os.path.dirname(os.environ["FACET"]), "include"), "-include", header,
                 "/dev/null"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            check(result.returncode == 0, f"{header}, {compiler}:\n{result.stdout}")


def allowed_edges():
    """{folder: set of folders that it may include} from the page's include-graph block."""
    text = read(os.path.join(SOURCE, "docs/architecture.md"))
    found = blocks(text, "include-graph")
    check_eq(len(found), 1, "number of include-graph blocks in docs/architecture.md")
    edges = {}
    for line in found[0][1]:
        match = re.fullmatch(r"(\S+) ->((?: \S+)*)", line.strip())
        check(match, f"docs/architecture.md: {line!r} is not `folder -> folder folder`")
        edges[match.group(1)] = set(match.group(2).split())
    return edges


def room_of(name, rooms):
    """The innermost of the rooms around the file; the outermost folder when there is none."""
    folder = os.path.dirname(name)
    while folder not in rooms and "/" in folder:
        folder = os.path.dirname(folder)
    return folder


def actual_includes(rooms):
    """(file, its room, included room) for every #include "folder/..." of the C files."""
    for root in ("src", "cli", "bench", "guest", "include"):
        for path in glob.glob(os.path.join(SOURCE, root, "**", "*.*"), recursive=True):
            if not path.endswith((".c", ".h", ".inc", ".def")):
                continue
            name = os.path.relpath(path, SOURCE)
            room = room_of(name.removeprefix("src/"), rooms)
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', read(path), re.M):
                yield name, room, room_of(header, rooms) or room


@case()
def the_folder_table_is_complete():
    text = read(os.path.join(SOURCE, "docs/architecture.md")).split("## Folders")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `([^`]*)/` \|", text, re.M))
    tracked = subprocess.run(["git", "-C", SOURCE, "ls-files"], stdout=subprocess.PIPE, text=True)
    if tracked.returncode != 0:
        skip("the sources are in no git checkout")
    there = set()
    for name in tracked.stdout.splitlines():
        parts = name.split("/")
        if len(parts) > 1 and not parts[0].startswith("."):
            there.add("/".join(parts[:2]) if parts[0] in ("src", "include") and len(parts) > 2 else parts[0])
    there |= {"src/" + room for room in allowed_edges() if "/" in room}
    check_eq(listed, there - {"src", "include"}, "set of folders in docs/architecture.md")


@case()
def the_table_of_plain_and_fast_ways_is_that_of_the_code():
    """Each row is a way of src/base/ways.h; its functions are in the files beside them, its test is there and is run."""
    text = read(os.path.join(SOURCE, "docs/architecture.md")).split("## The plain way and the fast way")[1].split("\n## ")[0]
    names = re.findall(r"^    WAY\((\w+)\)", read(os.path.join(SOURCE, "src/base/ways.h")), re.M)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    check_eq([row[0].strip("`") for row in rows], names, "ways of docs/architecture.md")
    for way, plain, fast, test in rows:
        for cell in (plain, fast):
            place = re.match(r"`([\w/.]+)` `(\w+)`", cell)
            check(place, f"{way}: {cell!r} is not `FILE` `function`")
            check(re.search(rf"\b{place.group(2)}\b", read(os.path.join(SOURCE, place.group(1)))), f"{way}: no {place.group(2)} in {place.group(1)}")
        folder, file = os.path.split(test.strip("`"))
        check(os.path.exists(os.path.join(SOURCE, folder, file)), f"{way}: there is no {test}")
        listed = [m for m in glob.glob(os.path.join(SOURCE, "tests/**/meson.build"), recursive=True) if f"'{file}'" in read(m)]
        check(listed, f"{way}: no meson.build of tests/ has {file}")
        marks = subprocess.run(["grep", "-rl", "FACET_FAST_WAY(" + way.strip("`") + ")", os.path.join(SOURCE, "src")],
                               capture_output=True, text=True).stdout
        check(marks, f"no function says FACET_FAST_WAY({way.strip('`')})")


@case()
def the_trace_page_names_every_unit():
    page = read(os.path.join(SOURCE, "docs/trace.md"))
    named, unit = set(), None
    for line in page.splitlines():
        row = re.match(r"\| (?:`(\w+)`)? ?\| (`.*?) \|", line)
        if row and "`" in row.group(2):
            unit = row.group(1) or unit
            named |= {(unit, what) for what in re.findall(r"`([\w.]+)`", row.group(2))}
    found = set()
    for path in glob.glob(os.path.join(SOURCE, "src/xphmg/**/*.c"), recursive=True):
        for call in re.findall(r'facet_hart_unit\(\s*\S+\s*"(\w+)",\s*"([\w.]+)"', read(path)):
            found.add(call)
    check(len(found) > 10, f"only {found} are in the sources")
    check(found <= named, f"docs/trace.md lacks {sorted(found - named)}")


@case()
def includes_follow_the_architecture_page():
    edges = allowed_edges()
    bad = []
    for name, folder, target in actual_includes(edges):
        if folder not in edges:
            bad.append(f"{name}: docs/architecture.md has no line for the folder {folder}")
        elif target != folder and target not in edges[folder]:
            bad.append(f"{name} includes {target}, which docs/architecture.md forbids to {folder}")
    check(not bad, "\n".join(sorted(set(bad))))


@case()
def the_include_graph_is_current_and_has_no_cycle():
    edges = allowed_edges()
    source = os.path.join(SOURCE, "src")
    folders = {name for name in os.listdir(source) if os.path.isdir(os.path.join(source, name))}
    folders |= {"cli", "bench", "guest", "include"}
    folders |= {room for room in edges if "/" in room and os.path.isdir(os.path.join(source, room))}
    check_eq(set(edges), folders, "set of folders in the include graph")
    done = set()

    def visit(folder, path):
        check(folder not in path, "cycle: " + " -> ".join(path + [folder]))
        if folder not in done:
            for target in edges.get(folder, set()):
                check(target in edges, f"{folder} -> {target}: there is no such folder")
                visit(target, path + [folder])
            done.add(folder)

    for folder in edges:
        visit(folder, [])


main("docs")
