"""The program from outside: every command's help, exit codes, refusals, standard output that cannot
be written, the completion script and the manual page."""
import glob
import html.parser
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]


def facet(*words, **more):
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([FACET, *words], stderr=subprocess.PIPE, text=True, timeout=60, **more)


def command_list():
    """Names in the list that `facet --help` prints."""
    text = facet("--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return [re.match(r"  (\S+(?: \S+)*?)  ", line).group(1) for line in text.splitlines()]


def option_groups(command):
    """{heading: text} of the options in a command's help."""
    text = facet(*command.split(), "--help").stdout.split("\nExit codes:\n")[0]
    return dict(re.findall(r"^((?:[^\n]* o|O)ptions):\n(.*?)\n(?=\n|\Z)", text, re.M | re.S))


def option_text(command):
    return "\n".join(option_groups(command).values())


def option_list(command):
    """(long name, letter or None, argument or None) from a command's help."""
    text = option_text(command)
    text = re.sub(r"\|\n +", "|", text)  # a long list of words goes on in the next line
    found = []
    for line in text.splitlines():
        match = re.match(r"  (?:-(.), |    )--(\S+)(?: (\S+))?(?:  |$)", line)
        if match:
            found.append((match.group(2), match.group(1), match.group(3)))
        else:
            check(line.startswith(" " * 12), f"{command}: option line {line!r}")
    return found


COMMANDS = command_list()


def check_refused(result, *words):
    check_eq(result.returncode, 2, "exit code")
    check_eq(result.stdout, "", "standard output")
    check(result.stderr.startswith("facet"), f"complaint {result.stderr!r} does not name facet")
    for word in words:
        check(word in result.stderr, f"{word!r} is not in {result.stderr!r}")


@case()
def overview_is_printed_three_ways():
    text = facet("--help").stdout
    check("Exit codes:" in text and "Commands:" in text, "overview lacks its parts")
    for words in ([], ["-h"], ["help"]):
        result = facet(*words)
        check_eq(result.returncode, 0, "exit code")
        check_eq(result.stdout, text, f"output of facet {words}")


@case()
def version_is_the_project_s():
    with open(os.path.join(SOURCE, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '([^']*)'", file.read()).group(1)
    check_eq(facet("--version").stdout, f"facet {version}\n")
    check_eq(facet("-V").stdout, f"facet {version}\n")
    facts = json.loads(facet("version", "--json").stdout)
    check_eq(facts["facet"], version, "facet version")
    check_eq([line.split(None, 1) for line in facet("version").stdout.splitlines()],
             [[name, value] for name, value in facts.items()], "facet version as text")
    check(re.fullmatch(r"jansson \d.*, libpng \d.*, libjpeg\S* \d.*, zlib \d.*", facts["libraries"]), facts["libraries"])
    check(re.search(r"(GCC|Clang) .*\d", facts["compiler"]), facts["compiler"])
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = set(re.sub(r"bmi1", "bmi", file.read()).split())
    if os.uname().machine == "x86_64":
        expected = [name for name in ("avx2", "bmi", "bmi2", "fma", "popcnt") if name in flags]
        check_eq(facts["features"].split(), expected or ["none"], "features")
    check_eq(facts["host_code"], "x86-64" if os.uname().machine == "x86_64" else "none", "host code")


def every_command(command):
    words = command.split()
    helped = facet(*words, "--help")
    check_eq(helped.returncode, 0, "exit code of --help")
    check_eq(helped.stderr, "", "standard error of --help")
    check(helped.stdout.startswith(f"facet {command}: "), "help does not start with the name")
    for part in ("Usage:\n", "ptions:\n", "--help", "--quiet"):
        check(part in helped.stdout, f"help lacks {part!r}")
    check_eq("Exit codes:" in helped.stdout, command == "run", "only what differs is said again")
    groups = option_groups(command)
    check_eq(len(groups) > 1, len(option_list(command)) > 8, f"groups {list(groups)}")
    check("--help" in (groups.get("General options") or groups["Options"]), f"groups {list(groups)}")
    for line in helped.stdout.splitlines():
        check(len(line) <= 80 or line.startswith("  facet") or line.startswith("  $ "), f"line of {len(line)} columns: {line!r}")
    check_eq(facet("help", *words).stdout, helped.stdout, "facet help")
    check_eq(facet(*words, "-h").stdout, helped.stdout, "-h")
    usage = helped.stdout.split("Usage:\n")[1].split("\n\n")[0].splitlines()
    check(usage[0].startswith(f"  facet {command}"), f"usage line {usage[0]!r}")
    for line in usage: # a form that does not fit goes on in a line indented further
        check(line.startswith((f"  facet {command}", "      ")), f"usage line {line!r}")
    check_refused(facet(*words, "--no-such-option"), "--no-such-option")
    check_refused(facet(*words, "--quiet=yes"), "takes no value")
    for name, letter, argument in option_list(command):
        if argument is None:
            continue
        check_refused(facet(*words, f"--{name}"), f"--{name} needs a value")
        if letter:
            check_refused(facet(*words, f"-{letter}"), f"-{letter} needs a value")
        if "|" in argument and argument == argument.lower():
            check_refused(facet(*words, f"--{name}", "!"), f"one of {argument}")


for _name in COMMANDS:
    add_case("help_and_options_of_" + _name.replace(" ", "_"), lambda n=_name: every_command(n))


@case()
def options_that_belong_together_stand_together():
    groups = option_groups("run")
    check_eq([name for name, text in groups.items() if "--trace" in text], ["Trace options"], "options of the trace")
    check_eq(list(groups)[-1], "General options", "the last group")
    page = facet("man", "run").stdout
    for name in groups:
        check(f"\n.SS {name}\n" in page, f"the manual page lacks {name}")
    check("EXIT STATUS" in page and "EXIT STATUS" not in facet("man", "as").stdout, "exit codes are said once")
    check(list(option_groups("gdb")).count("tile machine options") == 1, "the groups of facet gdb")
    check_eq(list(option_groups("bvh encode")), ["Options"], "few options need no groups")


def on_terminal(*words, **variables):
    """What a command writes to a terminal, both streams together, and how it ended."""
    master, slave = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR")}
    env.update({"TERM": "xterm"}, **variables)
    child = subprocess.Popen([FACET, *words], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # the other side is closed
        pass
    os.close(master)
    return shown.decode().replace("\r\n", "\n"), child.wait(timeout=60)


@case()
def a_terminal_shows_headings_and_errors_in_colour():
    bold, red, normal = "\x1b[1m", "\x1b[1;31m", "\x1b[0m"
    text, code = on_terminal("help", "as")
    check_eq(code, 0, "exit code")
    check(text.startswith(f"{bold}facet as:{normal} "), text[:80])
    check(f"\n{bold}Usage:{normal}\n" in text and f"\n{bold}Examples:{normal}\n" in text, text)
    check_eq(text.replace(bold, "").replace(normal, ""), facet("help", "as").stdout, "the text itself")
    check(f"\n{bold}Commands:{normal}\n" in on_terminal("--help")[0], "headings of the overview")
    for words in (["as", "none.s"], ["coverge"], ["bvh"], ["as", "--isa", "x"]):
        text, code = on_terminal(*words)
        check_eq(code, 2, "exit code")
        check(re.match(r"\x1b\[1;31mfacet( as| bvh)?:\x1b\[0m \S[^\x1b]*\n$", text), repr(text))
        check_eq(text.replace(red, "").replace(normal, ""), facet(*words).stderr, "the message itself")
    named, _ = on_terminal("as", "\x1b[31mred.s", "--isa", "tile", "-o", "x.elf")
    check("\\u001b[31mred.s" in named and named.count("\x1b") == 2, repr(named))


@case()
def errors_of_the_assembler_stand_out():
    with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
        file.write("addi x1, x2\n")
        file.flush()
        shown, _ = on_terminal("as", file.name, "--isa", "xphmg", "-o", "/dev/null")
        check(re.search(r"\x1b\[[0-9;]+m" + re.escape(file.name) + r":1:\d+: \x1b\[[0-9;]+merror:\x1b\[0?m ", shown), repr(shown))


@case()
def colour_can_be_refused():
    plain = facet("help", "as").stdout
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "dumb", "CLICOLOR": "1"}, {"CLICOLOR": "0"}):
        check_eq(on_terminal("help", "as", **variables)[0], plain, f"help with {variables}")
        check("\x1b" not in on_terminal("coverge", **variables)[0], f"a message with {variables}")
    check("\x1b" in on_terminal("help", "as", NO_COLOR="", CLICOLOR="1")[0], "an empty NO_COLOR refuses nothing")
    colours = dict(os.environ, TERM="xterm", CLICOLOR="1")
    check("\x1b" not in facet("help", env=colours).stdout + facet("coverge", env=colours).stderr, "colour in a pipe")


@case()
def the_options_that_may_be_repeated_are_named():
    """Those of the page and those whose help says so are the same; the last value of any other counts."""
    with open(os.path.join(SOURCE, "docs/commands.md"), encoding="utf-8") as file:
        page = set(re.findall(r"`(--?[\w-]+)`", re.search(r"\*repeatable\* \((.*?)\)", file.read(), re.S).group(1)))
    named = set()
    for command in COMMANDS:
        text = option_text(command)
        for option in re.split(r"\n(?=  (?:-|    --))", text):
            if "repeatable" in option.replace("\n", " "):
                letter = re.match(r"\s*(-\w), ", option)
                long = re.search(r"--[\w-]+", option).group(0)
                check(page & {long, letter.group(1) if letter else long}, f"docs/commands.md lacks {command} {long}")
                named |= {long, letter.group(1) if letter else long}
    check(page <= named, f"no help calls {page - named} repeatable")
    twice = facet("dis", "--isa", "xphmg", "--isa", "tile", "--hex", "0x0073030b")
    check_eq(twice.stdout, "ADD s6, s6, s7\n", "the last --isa")


@case()
def zero_threads_are_all_processors():
    found = 0
    for command in COMMANDS:
        text = option_text(command)
        for option in re.split(r"\n(?=  (?:-|    --))", text):
            if "threads N" in option:
                found += 1
                check("0: all processors" in re.sub(r"\s+", " ", option), f"facet {command}: {option}")
    check(found >= 8, f"only {found} commands take threads")
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "cube.gfx12")
        cube = os.path.join(SOURCE, "examples/gfx12/cube.obj")
        check_eq(facet("bvh", "build", cube, "-o", image, "--threads", "0").returncode, 0, "exit code")
        check_refused(facet("bvh", "build", cube, "-o", image, "--threads", "1025"), "from 0 to 1024")


@case()
def unknown_commands_are_refused_with_the_nearest():
    check_refused(facet("coverge"), "'coverge'", "did you mean 'coverage'?")
    check_refused(facet("hlep"), "did you mean 'help'?")
    check_refused(facet("qqqqqq"), "'qqqqqq'", "see 'facet --help'")
    check_refused(facet("help", "qqqqqq"), "'qqqqqq'")
    check_refused(facet("--nonsense"), "--nonsense")
    check_refused(facet(""), "''")
    check_refused(facet("x" * 5000))


@case()
def a_wrong_choice_is_refused_with_the_nearest():
    check_refused(facet("render", "scene.glb", "-o", "x.png", "--machine", "gfx13"), "|all; did you mean 'gfx12'?")
    check_refused(facet("render", "scene.glb", "-o", "x.png", "--tone=clmp"), "soft|clamp; did you mean 'clamp'?")
    check_refused(facet("scene", "make", "knt", "-o", "x.glb"), "did you mean 'knot'?")
    check_refused(facet("bench", "hartt"), "did you mean 'hart'?")
    far = facet("render", "scene.glb", "-o", "x.png", "--machine", "zzzzzzzz")
    check_refused(far, "expected one of gfx12|")
    check("did you mean" not in far.stderr, far.stderr)


@case()
def groups_of_commands_explain_themselves():
    check_eq(facet("--help", "man").stdout, facet("man", "--help").stdout, "facet --help man")
    groups = {name.split()[0] for name in COMMANDS if " " in name} - set(COMMANDS)
    for group in groups:
        members = [name for name in COMMANDS if name.startswith(group + " ")]
        shown = facet(group, "--help")
        check_eq(shown.returncode, 0, f"exit code of facet {group} --help")
        for name in members:
            check(f"  {name} " in shown.stdout, f"facet {group} --help does not list {name}")
        check_eq(facet("help", group).stdout, shown.stdout, f"facet help {group}")
        check_refused(facet(group), group, "--help")
        check_refused(facet(group, members[0].split()[1] + "x"), f"did you mean '{members[0]}'?")


@case()
def output_that_cannot_be_written_is_an_error():
    with open("/dev/full", "w", encoding="utf-8") as full:
        for words in (["man"], ["--help"], ["--version"]):
            result = facet(*words, stdout=full)
            check_eq(result.returncode, 2, f"exit code of {words} on a full disk")
            check("standard output" in result.stderr, f"complaint {result.stderr!r}")
    result = subprocess.run(["/bin/sh", "-c", '"$0" man >&-', FACET], stderr=subprocess.PIPE,
                            text=True, timeout=60)
    check_eq(result.returncode, 2, "exit code with a closed standard output")


@case()
def a_reader_that_went_away_is_no_crash():
    read, write = os.pipe()
    os.close(read)
    result = facet("man", stdout=write)
    os.close(write)
    check_eq(result.returncode, -signal.SIGPIPE, "exit code")
    check_eq(result.stderr, "", "standard error")


def requirement_ids():
    """Every ID of the contract, read from the tables themselves."""
    ids = []
    for name in sorted(os.listdir(os.path.join(SOURCE, "spec"))):
        if name.endswith(".requirements.tsv"):
            with open(os.path.join(SOURCE, "spec", name), encoding="utf-8") as file:
                ids += [line.split("\t")[0] for line in file.read().splitlines()[1:] if line]
    return ids


def coverage(lines, *words):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "test_x.tsv"), "w", encoding="utf-8") as file:
            file.write(lines)
        return facet("coverage", "--results", folder, *words)


@case()
def coverage_counts_every_row_of_the_contract():
    expected = {}
    for name in requirement_ids():
        expected[name.split("-")[0]] = expected.get(name.split("-")[0], 0) + 1
    result = json.loads(coverage("", "--json").stdout)
    check_eq({area["area"]: area["rows"] for area in result["areas"]}, expected, "rows per area")
    check_eq(result["rows"], sum(expected.values()), "rows")
    check_eq(result["named"], 0, "named rows without any result")


@case()
def coverage_counts_rows_that_passing_tests_name():
    lines = ("test_x\ta\tpass\tRT-001 RT-002\n" "test_x\tb\tpass\tRT-002 TILE-581\n"
             "test_x\tc\tfail\tRT-003\n" "test_x\td\tskip\tRT-004\n" "test_x\te\tpass\t\n")
    result = coverage(lines, "--json")
    check_eq(result.returncode, 0, "exit code")
    areas = {area["area"]: area["named"] for area in json.loads(result.stdout)["areas"]}
    check_eq((areas["RT"], areas["TILE"], areas["CAP"]), (2, 1, 0), "named rows")
    check_eq(json.loads(result.stdout)["named"], 3, "sum of named rows")
    only = json.loads(coverage(lines, "--json", "--area", "rt", "--missing").stdout)
    check_eq([area["area"] for area in only["areas"]], ["RT"], "areas")
    missing = [name for name in requirement_ids() if name.startswith("RT-")]
    check_eq(sorted(only["missing"]), sorted(set(missing) - {"RT-001", "RT-002"}), "missing rows")
    text = coverage(lines, "--area", "RT", "--missing").stdout.splitlines()
    check(text[1].split()[:3] == ["RT", str(len(missing)), "2"], f"table line {text[1]!r}")
    check_eq(sum(line.startswith("RT-") for line in text), len(missing) - 2, "listed rows")


@case()
def coverage_reports_what_no_row_has():
    result = coverage("test_x\tsome_case\tpass\tRT-001 RT-99999\n")
    check_eq(result.returncode, 1, "exit code")
    check("RT-99999 in test_x: some_case" in result.stdout, result.stdout)
    result = coverage("test_x\tsome_case\tpass\tRT-99999\n", "--json")
    check_eq((result.returncode, json.loads(result.stdout)["unknown"]),
             (1, {"RT-99999": "test_x: some_case"}), "exit code and unknown IDs")


@case()
def coverage_refuses_what_it_cannot_read():
    for lines in ("nonsense\n", "a\tb\tpass\n", "a\tb\tmaybe\tRT-001\n", "\n"):
        check_refused(coverage("test_x\ta\tpass\tRT-001\n" + lines), "test_x.tsv: line 2")
    check_refused(facet("coverage", "--results", "/nonexistent"), "/nonexistent")
    check_refused(coverage("", "--area", "NOPE"), "NOPE")
    check_refused(coverage("", "extra"), "'extra'")
    check_refused(coverage("", "--rows", "RT-001", "RT-999"), "'RT-999'")
    check_refused(coverage("", "--rows", "NOPE*"), "'NOPE*'")
    check_refused(coverage("", "--rows", "--area", "RT", "GFX-001"), "area 'RT'")
    some = coverage("test_x\ta\tpass\tRT-001\n", "--rows", "--missing", "RT-001", "RT-002")
    check_eq(some.stdout, "RT-002     none\n", "rows that are missing")
    none = coverage("test_x\ta\tpass\tRT-001\n", "--rows", "--missing", "RT-001")
    check_eq((none.returncode, none.stdout), (0, "a passing test names each of the 1 rows\n"), "nothing is missing")


@case()
def coverage_lists_rows_with_their_tests():
    lines = ("test_x\ta\tpass\tRT-001 RT-002\n" "test_y\tb[3]\tfail\tRT-002\n" "test_y\tc\tskip\tRT-004\n")
    check_eq(coverage(lines, "--rows", "RT-002", "rt-001").stdout,
             "RT-001     pass  test_x:a\nRT-002     pass  test_x:a\n           fail  test_y:b[3]\n", "rows")
    rows = json.loads(coverage(lines, "--rows", "RT-00?", "--json").stdout)["rows"]
    check_eq({row["id"]: row["result"] for row in rows},
             {"RT-001": "pass", "RT-002": "fail", "RT-003": "none", "RT-004": "skip", "RT-005": "none", "RT-006": "none",
              "RT-007": "none", "RT-008": "none", "RT-009": "none"}, "results")
    check_eq(rows[1]["tests"], [{"suite": "test_x", "case": "a", "result": "pass"},
                                {"suite": "test_y", "case": "b[3]", "result": "fail"}], "tests")
    area = coverage(lines, "--rows", "rt").stdout
    check_eq([line.split()[0] for line in area.splitlines() if line.startswith("RT-")],
             [name for name in requirement_ids() if name.startswith("RT-")], "rows of an area")
    everything = json.loads(coverage(lines, "--rows", "--json").stdout)["rows"]
    check_eq(sorted(row["id"] for row in everything), sorted(requirement_ids()), "all rows")
    with tempfile.TemporaryDirectory() as folder:
        alone = os.path.join(folder, "facet")
        shutil.copy(FACET, alone)
        result = subprocess.run([alone, "coverage", "--rows", "RT-001"], capture_output=True, text=True)
        check_eq((result.returncode, result.stdout), (0, "RT-001     none\n"), "a program without results")
        check("make test" in result.stderr and result.stderr.count("\n") == 1, result.stderr)


@case()
def bench_lists_measures_and_refuses():
    areas = json.loads(facet("bench", "--list", "--json").stdout)["areas"]
    check_eq(facet("bench").stdout, facet("bench", "--list").stdout, "list of areas")
    check_eq([line.split()[0] for line in facet("bench").stdout.splitlines()[::2]],
             [area["area"] for area in areas], "names of areas")
    check_eq([line.strip().split(", ") for line in facet("bench").stdout.splitlines()[1::2]],
             [area["results"] for area in areas], "names of results")
    for area in areas:
        result = facet("bench", area["area"], "--json", "--runs", "1", "--seconds", "0.001")
        if area["area"] == "gpu" and facet("devices").stdout.startswith("no devices"):
            check_refused(result, "no device")
            continue
        check_eq(result.returncode, 0, f"exit code of {area['area']}: {result.stderr}")
        report, = json.loads(result.stdout)["areas"]  # the shape of `bench all`
        check_eq(report["area"], area["area"], "area")
        check_eq([row["name"] for row in report["results"]], area["results"], f"results of {area['area']}")
        for row in report["results"]:
            check_eq(list(row), ["name", "unit", "facet", "peer", "peer_value", "ratio", "ratio_range"], "keys")
            check(row["facet"] > 0, f"{row} has no rate")
            if row["peer"] is None:
                check_eq((row["peer_value"], row["ratio"], row["ratio_range"]), (None, None, None), "absent peer")
            else:
                check(0 < row["ratio_range"][0] <= row["ratio_range"][1], f"{row}: range")
                got = row["ratio"] * row["peer_value"] / row["facet"]
                check(0.99 < got < 1.01, f"{row}: ratio is not facet / peer")
    check_refused(facet("bench", "nonsense"), "'nonsense'", "--list")
    check_refused(facet("bench", "num", "f64_ad"), "did you mean 'f64_add'?")
    check_refused(facet("bench", "all", "f64_add"), "'f64_add' after 'all'")
    check_refused(facet("bench", "--runs", "0"), "from 1 to 999")
    check_refused(facet("bench", "--runs", "-1"), "--runs is '-1'")
    check_refused(facet("bench", "--runs", "5x"), "--runs is '5x'")
    check_refused(facet("bench", "--seconds", "nan"), "--seconds is 'nan'")


class Page(html.parser.HTMLParser):
    """The words of a page between its tags; complains about tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], []
        self.feed(text)
        check_eq(self.open, [], "tags that are left open")

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        check_eq(self.open.pop(), tag, "the tag that is closed")

    def handle_data(self, data):
        self.words.append(data.strip())


@case()
def bench_makes_a_page():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "speed.html")
        result = facet("bench", "num", "f64_add", "f32_mul", "--seconds", "0.001", "--json", "--html", path)
        check_eq(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        with open(path, encoding="utf-8") as file:
            words = Page(file.read()).words
        rows, = report["areas"]
        check_eq([row["name"] for row in rows["results"]], ["f32_mul", "f64_add"], "results in the order of the list")
        for row in rows["results"]:
            check(row["name"] in words and f"{row['ratio']:.2f} ×" in words, f"{row['name']} in {words}")
            check(any(row["peer"] in word for word in words), f"{row['peer']} in {words}")
        check("f64_mul" not in words, "a result that was not asked for")
        for name, value in report["about"].items():
            check(name in words and value in words, f"{name} in {words}")
        check_refused(facet("bench", "num", "f64_add", "--seconds", "0.001", "-q", "--html", folder), folder)


def complete(*words):
    """What the completion script offers for the last word of the line."""
    script = ('source <("$FACET" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              '_facet; printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "-c", script, "bash", "facet", *words], timeout=60,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check_eq(result.stderr, "", "standard error of the completion")
    return result.stdout.split()


@case()
def completion_is_valid_bash():
    script = facet("completion", "bash")
    check_eq(script.returncode, 0, "exit code")
    result = subprocess.run(["bash", "-n"], input=script.stdout, text=True, stderr=subprocess.PIPE)
    check_eq((result.returncode, result.stderr), (0, ""), "bash -n")
    check_refused(facet("completion", "tcsh"), "bash|zsh|fish")


@case()
def completion_offers_commands_options_and_choices():
    check_eq(complete("cove"), ["cover", "coverage"])
    check_eq(complete("completion", ""), ["bash", "zsh", "fish"])
    check(set(name.split()[0] for name in COMMANDS) <= set(complete("")), "a command is not offered")
    check("man" in complete("help", "m"), "facet help does not complete commands")
    for command in COMMANDS:
        words = command.split()
        offered = complete(*words, "--")
        for name, letter, argument in option_list(command):
            check("--" + name in offered, f"{command}: --{name} is not offered")
            if argument and "|" in argument and argument == argument.lower():
                check_eq(complete(*words, "--" + name, ""), argument.split("|"), f"--{name}")
                check_eq(complete(*words, "--" + name, "=", ""), argument.split("|"))
                if letter:
                    check_eq(complete(*words, "-" + letter, ""), argument.split("|"))


@case()
def completion_offers_files_and_folders():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "sub"))
        check_eq(complete("render", folder + "/"), [folder + "/sub"], "facet render SCENE")
        check_eq(complete("bvh", "info", folder + "/"), [folder + "/sub"], "facet bvh info IMAGE")
        for command in COMMANDS:
            for name, _, argument in option_list(command):
                if argument == "DIR":
                    check_eq(complete(*command.split(), "--" + name, folder + "/"), [folder + "/sub"])


def offered_by_fish(line):
    """What fish offers after the line: {word: description}."""
    result = subprocess.run(["fish", "--no-config", "-c", '"$FACET" completion fish | source; complete -C $argv[1]', line],
                            timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check_eq(result.stderr, "", "standard error of fish")
    return dict(row.partition("\t")[::2] for row in result.stdout.splitlines())


def offered_by_zsh(*words):
    """What the script hands to zsh's completion system: the arguments of compadd or _arguments."""
    script = ('compdef() { :; }; compadd() { print -rl -- "$@"; }; _arguments() { print -rl -- "$@"; }; '
              'source <("$FACET" completion zsh); words=("$@"); CURRENT=$#; _facet')
    result = subprocess.run(["zsh", "-f", "-c", script, "zsh", "facet", *words], timeout=60,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check_eq(result.stderr, "", "standard error of zsh")
    return result.stdout.splitlines()


@case()
def every_shell_s_script_has_every_command_and_option():
    zsh, fish = facet("completion", "zsh").stdout, facet("completion", "fish").stdout
    for command in COMMANDS:
        part = zsh.split(f"    '{command}')\n")[1].split(";;")[0]
        for name, letter, _ in option_list(command):
            check(f"'*--{name}[" in part and (not letter or f"'*-{letter}[" in part), f"zsh: facet {command} --{name}")
            check(f"-n '__facet_starts {command}' -l {name} " in fish, f"fish: facet {command} --{name}")


@case()
def completion_works_in_fish():
    if shutil.which("fish") is None:
        skip("fish is not installed")
    check("bvh" in offered_by_fish("facet ") and "render" in offered_by_fish("facet re"), "commands")
    check_eq(list(offered_by_fish("facet bvh bu")), ["build"], "commands of a group")
    check_eq(list(offered_by_fish("facet scene make kn")), ["knot"], "choices of an operand")
    check_eq(list(offered_by_fish("facet render --tone ")), ["clamp", "soft"], "choices of an option")
    check("man" in offered_by_fish("facet help m"), "commands of help")
    check_eq(list(offered_by_fish("facet render --heat-")), ["--heat-max"], "options")
    check_eq(list(offered_by_fish("facet as --heat-")), [], "options of another command")


@case()
def completion_works_in_zsh():
    if shutil.which("zsh") is None:
        skip("zsh is not installed")
    check({"bvh", "render", "--help"} <= set(offered_by_zsh("")), "commands")
    check({"build", "check"} <= set(offered_by_zsh("bvh", "")), "commands of a group")
    rows = offered_by_zsh("render", "")
    check(any(row.startswith("*--tone[") and row.endswith(":value:(soft clamp)") for row in rows), f"{rows}")
    check(any(row.startswith("*-o[") and row.endswith(":FILE:_files") for row in rows), f"{rows}")
    check(any(row.startswith("*--format[") for row in offered_by_zsh("bvh", "build", "")), "options in a group")
    check(any("(room knot " in row for row in offered_by_zsh("scene", "make", "")), "choices of an operand")


def rendered(page):
    """The page as groff prints it, in one line; its source when there is no groff."""
    check_eq((page.returncode, page.stderr), (0, ""), "facet man")
    check("--" not in page.stdout, "a hyphen is not written as a minus sign")
    if shutil.which("groff") is None:
        return re.sub(r"\s+", " ", page.stdout.replace("\\-", "-"))
    result = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou"], input=page.stdout, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check_eq(result.stderr, "", "warnings of groff")
    return re.sub(r"\s+", " ", result.stdout)


@case()
def the_manual_page_leads_to_that_of_every_command():
    overview = rendered(facet("man"))
    for command in COMMANDS:
        check(f"facet-{command.replace(' ', '-')}" in overview, f"{command} is not in the page")
    check("EXIT STATUS" in overview and "bad input" in overview, "the exit codes are not in the page")


@case()
def every_command_has_a_manual_page_that_the_build_makes():
    built = {}
    for path in glob.glob(os.path.join(os.path.dirname(FACET), "docs", "facet-*.1")):
        with open(path, encoding="utf-8") as file:
            built[os.path.basename(path)] = file.read()
    for command in COMMANDS:
        page = facet("man", *command.split())
        text = rendered(page)
        for name, _, _ in option_list(command):
            check(f"--{name}" in text, f"{command}: --{name} is not in the page")
        check("SYNOPSIS" in text and "OPTIONS" in text, f"{command}: sections are missing")
        check_eq(built.pop(f"facet-{command.replace(' ', '-')}.1", None), page.stdout, f"built page of {command}")
    check_eq(list(built), [], "built pages of no command")
    check_refused(facet("man", "rendr"), "did you mean 'render'?")
    check_refused(facet("man", "bvh"), "facet bvh --help")
    check_refused(facet("man", "render", "more"), "unexpected argument 'more'")
    check_refused(facet("help", "render", "more"), "unexpected argument 'more'")


main("cli")
