"""`facet conform` and the suite that conformance/generate.py writes: Facet passes all of it, an implementation that is wrong in
one bit is found with its rows, and what is not an answer is told apart from a wrong one."""
import contextlib
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
EXAMPLE = os.path.join(SOURCE, "examples/conform")
folder = tempfile.mkdtemp()
SUITE = os.path.join(folder, "suite")
# The whole suite takes a minute to write: without FACET_TEST_LONG it is these parts.
PARTS = [] if os.environ.get("FACET_TEST_LONG") else \
    "xphmg/csr xphmg/pmask xphmg/prec xphmg/policies xphmg/lanes xphmg/memory xphmg/forms xphmg/packets xphmg/protection tile/scalar tile/raster tile/geometry gfx12/silicon gfx12/examples gfx12/instance".split()


def generate(out, *words, parts=()):
    only = [word for part in parts for word in ("--only", part)]
    subprocess.run([sys.executable, os.path.join(SOURCE, "conformance/generate.py"), "--facet", FACET, "--out", out, *words, *only],
                   check=True, stdout=subprocess.DEVNULL)


def conform(*words, suite=None, code=0):
    run = subprocess.run([FACET, "conform", "--suite", suite or SUITE, *words], capture_output=True, text=True)
    check_eq(run.returncode, code, f"exit code of {words}: {run.stdout[-400:]}{run.stderr}")
    return run


def results(*words, suite=None, code=0):
    return json.loads(conform(*words, "--json", suite=suite, code=code).stdout)


def adapter(name, body):
    """A program that is given case, its name and where its signature goes, and that may ask Facet: ask(name) -> words."""
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(f"#!{sys.executable}\n" + textwrap.dedent(f'''\
            import json, os, subprocess, sys, tempfile, time
            def ask(name):
                with tempfile.TemporaryDirectory() as out:
                    subprocess.run([{FACET!r}, "conform", "--suite", {SUITE!r}, "--case", name, "--signatures", out, "--threads", "1"],
                                   stdout=subprocess.DEVNULL)
                    return open(os.path.join(out, name + ".signature")).read().split()
            def answer(words):
                open(sys.argv[2], "w").write("\\n".join(words) + "\\n")
            ''') + textwrap.dedent(body))
    os.chmod(path, 0o755)
    return path


@case()
def facet_passes_the_suite():
    found = results()
    check_eq((found["passed"], found["failed"], found["errors"], found["timeouts"], found["unsupported"]),
             (found["total"], 0, 0, 0, 0))
    check(found["total"] > 150, "there are cases")
    check_eq({c["source"] for c in found["cases"]} - {"exact", "silicon", "worked-example", "reference-run"}, set())


@case()
def the_generator_is_deterministic():
    parts = PARTS and ("xphmg/pmask", "gfx12/instance")
    once, again = (os.path.join(folder, name) for name in ("once", "again"))
    for out in (once, again):
        generate(out, parts=parts)

    def same(a, b):
        compared = filecmp.dircmp(a, b)
        check_eq((compared.left_only, compared.right_only), ([], []), a)
        _, different, odd = filecmp.cmpfiles(a, b, compared.common_files, shallow=False)
        check_eq((different, odd), ([], []), a)
        for name in compared.common_dirs:
            same(os.path.join(a, name), os.path.join(b, name))
    same(once, again)


@case()
def programs_can_lie_elsewhere():
    moved = os.path.join(folder, "moved")
    generate(moved, "--base", "0x80020000", parts=("xphmg/pmask", "xphmg/policies", "xphmg/lanes", "xphmg/memory", "xphmg/forms", "xphmg/matrix"))
    found = results(suite=moved)
    check_eq(found["passed"], found["total"])


@case()
def programs_check_themselves():
    """A program whose expectation is changed says so in tohost: facet run ends with the number of the observation."""
    with open(os.path.join(SUITE, "xphmg/pmask/psel.s")) as f:
        text = f.read()
    elf = os.path.join(folder, "psel.elf")

    def run(source):
        subprocess.run([FACET, "as", "-", "--isa", "xphmg", "-o", elf], input=source, text=True, check=True)
        return subprocess.run([FACET, "run", elf], capture_output=True).returncode
    check_eq(run(text), 0)
    check_eq(run(re.sub(r"(expected:\n\.dword 0x6f\n)\.dword 0x6f\n", r"\1.dword 0x70\n", text)), 2)


@case()
def one_wrong_bit_is_found_with_its_rows():
    broken = adapter("broken", '''
        words = ask(sys.argv[1])
        if sys.argv[1] == "xphmg/pmask/pmnot":
            words[2] = f"{int(words[2], 16) ^ 0x80:08x}"
        answer(words)
        ''')
    words = ("--against", f"{broken} {{name}} {{signature}} {{elf}}", "--case", "xphmg/pmask/pm")
    found = results(*words, code=1)
    bad = [c for c in found["cases"] if c["verdict"] != "pass"]
    check_eq([(c["case"], c["verdict"], c["rows"]) for c in bad], [("xphmg/pmask/pmnot", "fail", ["PM-043", "PM-044"])])
    check("word 2 (bank 1, bits 63:32, after pmnot of 0x0)" in bad[0]["text"], bad[0]["text"])
    text = conform(*words, code=1).stdout
    check("FAIL  xphmg/pmask/pmnot  PM-043 PM-044: word 2" in text, text)


@case()
def what_is_no_answer_is_told_apart():
    odd = adapter("odd", '''
        name = sys.argv[1].split("/")[-1]
        if name == "pmnot":
            time.sleep(60)
        elif name == "psel":
            os.kill(os.getpid(), 11)
        elif name == "pmset":
            sys.exit("no such instruction")
        elif name == "pmclr":
            open(sys.argv[2], "w").write("0123\\n")
        else:
            answer(ask(sys.argv[1])[:-1] if name == "ptestnz" else ask(sys.argv[1]))
        ''')
    found = results("--against", f"{odd} {{name}} {{out}}/signature {{case}}", "--timeout", "5", "--area", "PM",
                    "--case", "pmask/p", code=1)
    verdicts = {c["case"].split("/")[-1]: (c["verdict"], c.get("text", "")) for c in found["cases"]}
    check_eq(verdicts["pmnot"], ("timeout", "no end after 5 seconds"))
    check_eq(verdicts["psel"], ("error", "signal 11"))
    check_eq(verdicts["pmset"], ("error", "no signature, exit code 1: no such instruction"))
    check_eq(verdicts["pmclr"][0], "error")
    check("expected words of 8, 16 or 32 hexadecimal digits" in verdicts["pmclr"][1], verdicts["pmclr"][1])
    check_eq(verdicts["ptestnz"][0], "fail")
    check_eq(verdicts["pmand"][0], "pass")


@case()
def what_is_no_file_is_not_opened():
    """A pipe under the name of the signature: nobody writes to it, and nothing waits."""
    pipe = adapter("pipe", "os.mkfifo(sys.argv[2])")
    run = subprocess.run([FACET, "conform", "--suite", SUITE, "--case", "pmnot", "--against", f"{pipe} {{elf}} {{signature}}"],
                         capture_output=True, text=True, timeout=60)
    check_eq((run.returncode, "not a regular file" in run.stdout), (1, True), run.stdout + run.stderr)


@case()
def a_program_may_answer_lines():
    lines = adapter("lines", '''
        for line in sys.stdin:
            request = json.loads(line)
            answer = {"case": request["case"]}
            if request["kind"] != "elf":
                answer["unsupported"] = "no such machine"
            elif request["case"].endswith("psel"):
                sys.exit()
            else:
                words = ask(request["case"])
                answer["signature"] = ["".join(reversed(words[i:i + 2])) for i in range(0, len(words), 2)]
            print(json.dumps(answer), flush=True)
        ''')
    found = results("--against", f"stdio:{lines}", "--case", "p", "--area", "PM", code=1)
    verdicts = {c["case"]: c["verdict"] for c in found["cases"]}
    check_eq([name for name, verdict in verdicts.items() if verdict != "pass"], ["xphmg/pmask/psel"])
    other = results("--against", f"stdio:{lines}", "--area", "G12")
    check_eq(other["unsupported"], other["total"])
    check("not run" in conform("--against", f"stdio:{lines}", "--area", "G12").stdout, "they are counted")


@case()
def a_command_without_case_runs_programs_only():
    true = adapter("true", "answer(['00000000'])")
    found = results("--against", f"{true} {{elf}} {{signature}}", "--area", "G12")
    check_eq(found["unsupported"], found["total"])


@case()
def a_run_can_be_resumed():
    path = os.path.join(folder, "state")
    first = results("--resume", path, "--area", "PM")
    whole = os.path.getsize(path)
    os.truncate(path, whole - 40)
    check_eq(results("--resume", path, "--area", "PM"), first)
    check_eq(os.path.getsize(path), whole)
    never = adapter("never", "sys.exit('a case that is done is not run again')")
    refused = conform("--resume", path, "--area", "PM", "--against", f"{never} {{elf}} {{signature}}", code=2)
    check("does not belong to this run: it was made without --against" in refused.stderr, refused.stderr)


@case()
def reports_can_be_read_by_others():
    junit, html = os.path.join(folder, "r.xml"), os.path.join(folder, "r.html")
    broken = adapter("wrong", "words = ask(sys.argv[1]); words[0] = 'ffffffff'; answer(words)")
    conform("--against", f"{broken} {{name}} {{signature}} {{elf}}", "--row", "PM-070", "--junit", junit, "--html", html, code=1)
    tree = xml.etree.ElementTree.parse(junit)
    check_eq([c.get("name") for c in tree.iter("testcase")], ["psel"])
    check("PM-070" in tree.find(".//failure").get("message"), "the failure names its row")
    with open(html) as f:
        page = f.read()
    check("<b>PM-070</b>" in page and "ffffffff" in page and "psel writes rs1 if P0 is 1" in page, "row, difference, text")
    check("http" not in page and "src=" not in page, "the page needs nothing else")
    check(re.search(r"<details open><summary><span class=\"fail\">fail</span> <b>PM-070", page) is not None, "failed rows are open")


@case()
def rows_are_counted():
    counted = json.loads(conform("--rows", "--json").stdout)
    named = {row for c in results()["cases"] for row in c["rows"]}
    check_eq(counted["cases"], len(named))
    with open(os.path.join(SOURCE, "conformance/rows.tsv")) as f:
        reasons = [line.split("\t") for line in f.read().splitlines()[1:]]
    check(all(len(r) == 2 and len(r[1]) > 10 for r in reasons), "every reason is a sentence")
    check_eq(counted["reasons"], len({r[0] for r in reasons} - named))
    missing = json.loads(conform("--rows", "--missing", "--json").stdout)["missing"]
    check_eq(len(missing), counted["rows"] - counted["cases"] - counted["reasons"])
    check("PM " in conform("--rows", "--area", "PM").stdout, "an area by itself")


@case()
def what_is_wrong_is_refused():
    for words, told in (
            (["--against", "sim {elf}"], "{signature}"), (["--against", "sim {signature}"], "{elf} or {case}"),
            (["--against", "stdio:"], "expected a program"), (["--against", "/no/such {elf} {signature}"], "cannot run"),
            (["--area", "NOPE"], "no case is as asked for"), (["--rows", "--area", "NOPE"], "NOPE"),
            (["--timeout", "0"], "--timeout"), (["--junit", "/no/such/place"], "/no/such")):
        run = conform(*words, suite=EXAMPLE if "/no/such {" not in words[-1] else SUITE, code=2)
        check(told in run.stderr, f"{words}: {run.stderr}")
    check("suite.json" in conform(suite="/no/such", code=2).stderr, "a folder that is none")
    for change, told in (
            (lambda s: s.replace('"tile/k1"', '"gfx12/tri-first-hit"'), "two cases are called"),
            (lambda s: s.replace('"kind": "tile"', '"kind": "tiles"'), "expected elf, tile, list or vector"),
            (lambda s: s.replace("TILE-034", "TILE-934"), "expected the ID of a requirement row"),
            (lambda s: s.replace('"file": "tile-k1"', '"file": "../tile-k1"'), "inside the folder"),
            (lambda s: s.replace('"format": 1', '"format": 2'), "format"),
            (lambda s: s.replace('"source"', '"sauce"', 1), "sauce")):
        bad = tempfile.mkdtemp(dir=folder)
        shutil.copytree(EXAMPLE, bad, dirs_exist_ok=True)
        with open(os.path.join(bad, "suite.json")) as f:
            text = change(f.read())
        with open(os.path.join(bad, "suite.json"), "w") as f:
            f.write(text)
        run = conform(suite=bad, code=2)
        check(told in run.stderr and "suite.json" in run.stderr, run.stderr)
    with open(os.path.join(bad, "suite.json"), "w") as f:
        f.write(text.replace('"sauce"', '"source"'))
    with open(os.path.join(bad, "rows.tsv"), "a") as f:
        f.write("TILE-999\tno such row\n")
    check("rows.tsv:3" in conform(suite=bad, code=2).stderr, "a row that is none")


@case()
def command_lists_leave_their_frame():
    """The frame as words: as `facet tile draw` shows it, and found when a pixel differs."""
    place = os.path.join(folder, "list")
    os.makedirs(os.path.join(place, "triangle"))
    shutil.copy(os.path.join(SOURCE, "examples/tile/triangle.json"), os.path.join(place, "triangle/list.json"))
    shutil.copy(os.path.join(EXAMPLE, "rows.tsv"), place)
    with open(os.path.join(place, "suite.json"), "w") as f:
        json.dump({"format": 1, "cases": [{"name": "triangle", "kind": "list", "source": "reference-run", "rows": ["TILE-365"],
                                           "file": "triangle", "signature": "triangle.signature"}]}, f)
    with open(os.path.join(place, "triangle.signature"), "w") as f:
        f.write("00000000\n")
    conform("--signatures", place, suite=place, code=1)
    check_eq(results(suite=place)["passed"], 1)
    drawn = json.loads(subprocess.run([FACET, "tile", "draw", os.path.join(place, "triangle/list.json"), "-o",
                                       os.path.join(place, "out.png"), "--json"], capture_output=True, text=True).stdout)
    with open(os.path.join(place, "triangle.signature")) as f:
        words = f.read().split()
    check_eq(len(words), drawn["width"] * drawn["height"])
    check(len(set(words)) > 1, "something is drawn")


def list_suite(place, text, words=("00000000",)):
    """A suite of one list; its folder."""
    os.makedirs(os.path.join(place, "one"))
    shutil.copy(os.path.join(EXAMPLE, "rows.tsv"), place)
    with open(os.path.join(place, "one/list.json"), "w") as f:
        json.dump(text, f)
    with open(os.path.join(place, "suite.json"), "w") as f:
        json.dump({"format": 1, "cases": [{"name": "one", "kind": "list", "source": "exact", "rows": ["TILE-397"], "file": "one",
                                           "signature": "one.signature"}]}, f)
    with open(os.path.join(place, "one.signature"), "w") as f:
        f.write("\n".join(words) + "\n")
    return place


@case()
def command_lists_show_what_they_observe():
    """Registers after every step, answers, cores, slots and buffers follow the frame, in the order of `observe`."""
    text = {"machine": {"vram": 65536}, "buffers": {"frame": {"u32": [1, 2, 3, 4]}, "more": {"u8": [9, 8, 7]}},
            "frame": {"base": "frame", "width": 2, "height": 2},
            "commands": [{"command": "NOP", "flags": ["EMIT"], "fence": 2}, {"command": "RAW", "opcode": 153, "args": [1, 2], "words": [7]},
                         {"command": "READ_MEM", "address": "more", "count": 1},
                         {"command": "WRITE_MEM", "address": "frame", "words": [5], "flags": ["WAIT"], "fence": 9},
                         {"command": "REGISTER", "offset": 20, "value": 0}, {"command": "SIGNAL", "slot": 9}],
            "observe": ["more", "status", "answers", "cores"]}
    registers = [(0, 0, 0, 1, 16), (0x30, 0x30, 0, 1, 36), (0, 0x30, 0, 1, 52), (0, 0x30, 4, 1, 52), (0, 0, 4, 1, 52), (0, 0, 4, 1, 72)]
    words = [5, 2, 3, 4, 0x070809, *(r for step in registers for r in step), 1, 0x070809, *[0] * 16]
    place = list_suite(os.path.join(folder, "observed"), text, [f"{w:08x}" for w in words])
    check_eq(results(suite=place)["passed"], 1)
    wrong = list_suite(os.path.join(folder, "observed-wrong"), text, [f"{w:08x}" for w in words[:9] + [2] + words[10:]])
    check("word 9" in results(suite=wrong, code=1)["cases"][0]["text"], "another register")
    text["observe"] = ["nothing"]
    refused = list_suite(os.path.join(folder, "observed-badly"), text)
    run = conform(suite=refused, code=2)
    check("observe[0]: expected the name of a buffer, or one of: status answers cores slots" in run.stderr, run.stderr)


@case()
def pictures_are_judged_pixel_by_pixel():
    """Most cases of the raster and geometry units are command lists; they draw, and one wrong pixel is found with its place."""
    found = [c for c in results()["cases"] if c["case"].startswith(("tile/raster/", "tile/geometry/"))]
    check(len(found) > 100 and all(c["source"] == "exact" for c in found), "pictures with expectations of their own")
    changed = os.path.join(folder, "pixel")
    for name in ("tile/raster/example-g1", "tile/geometry/example-g4"):
        os.makedirs(os.path.dirname(os.path.join(changed, name)))
        shutil.copytree(os.path.join(SUITE, name), os.path.join(changed, name))
        with open(os.path.join(SUITE, name + ".signature")) as f:
            lines = f.readlines()
        at = next(k for k, line in enumerate(lines) if line.startswith("ff") and "pixel" in line)
        lines[at] = f"{int(lines[at][:8], 16) ^ 1:08x}{lines[at][8:]}"
        with open(os.path.join(changed, name + ".signature"), "w") as f:
            f.writelines(lines)
        with open(os.path.join(SUITE, "suite.json")) as f:
            entry = next(c for c in json.load(f)["cases"] if c["name"] == name)
        with open(os.path.join(changed, "suite.json"), "w") as f:
            json.dump({"format": 1, "cases": [entry]}, f)
        shutil.copy(os.path.join(SUITE, "rows.tsv"), changed)
        bad = results(suite=changed, code=1)["cases"][0]
        check(f"word {at} (pixel " in bad["text"] and bad["rows"] == entry["rows"], bad["text"])


@case()
def the_model_agrees_with_the_worked_examples():
    """Numbers of tile-semantics.md 20.3 and 20.7 as the pictures have them, without asking Facet."""
    for name, place, color in (("tile/raster/example-g1", "pixel 3, 3", "ff4d6250"), ("tile/raster/example-g1", "pixel 2, 5", "ff3a20a5"),
                               ("tile/raster/example-g5", "pixel 3, 1", "ff2a2a2a"), ("tile/raster/affine", "pixel 3, 1", "ff707070")):
        with open(os.path.join(SUITE, name + ".signature")) as f:
            check_eq([line.split()[0] for line in f if line.rstrip().endswith("// " + place)], [color], f"{name}, {place}")


@case()
def random_programs_run_on_other_implementations():
    """One that takes xnor for something else: each program that shows it shrinks to that instruction, as a suite to replay."""
    wrong = adapter("wrong_xnor", f"""
        subprocess.run([{FACET!r}, "run", sys.argv[1], "--signature", sys.argv[2], "--no-semihosting"], stdout=subprocess.DEVNULL)
        text = subprocess.run([{FACET!r}, "dis", sys.argv[1]], capture_output=True, text=True).stdout
        if "xnor" in text:
            words = open(sys.argv[2]).read().split()
            answer(words[:8] + ["deadbeef"] + words[9:])
        """)
    right = f"{FACET} run {{elf}} --signature {{signature}} --no-semihosting"
    out = os.path.join(folder, "found")
    run = subprocess.run([FACET, "fuzz", "xphmg", "--seed", "3", "--count", "6", "--against", right], capture_output=True, text=True)
    check_eq((run.returncode, run.stdout.splitlines()[-1]),
             (0, "6 cases, 0 with a difference (the plain way, and that of --against)"), run.stderr)
    run = subprocess.run([FACET, "fuzz", "xphmg", "--seed", "3", "--count", "6", "--against", f"{wrong} {{elf}} {{signature}}", "-o", out, "--json"],
                         capture_output=True, text=True)
    check_eq(run.returncode, 1, run.stderr)
    findings = json.loads(run.stdout)["findings"]
    check(findings, "no program of these has xnor")
    for finding in findings:
        check_eq(finding["left"], 1, "instructions left")
        with open(finding["file"] + ".s") as f:
            check("xnor" in f.read(), finding["file"])
    check_eq(results(suite=out)["passed"], len(findings), "passed by Facet")
    conform("--against", f"{wrong} {{elf}} {{signature}}", suite=out, code=1)
    run = subprocess.run([FACET, "fuzz", "tile", "--against", right, "--count", "2"], capture_output=True, text=True)
    check_eq((run.returncode, "has no {case}, which a tile needs" in run.stderr), (2, True), run.stderr)
    for words in (["xphmg", "--timeout", "3"], ["xphmg", "--emit", "-o", out, "--against", right]):
        run = subprocess.run([FACET, "fuzz", *words, "--count", "2"], capture_output=True, text=True)
        check_eq((run.returncode, "--against" in run.stderr), (2, True), str(words))


@case()
def kernels_draws_and_rays_run_on_other_implementations():
    """Of each kind one that is wrong whenever it meets some instruction, command or node: what is left shows just that."""
    for kind, conform_kind, file, culprit in (("tile", "tile", "kernel.s", "# (VXOR|VADD|VSUB|FADD|ADD|XOR|MUL)"), ("draw", "list", "list.json", '"GDRAW"'),
                                              ("gfx12", "vector", "", "expected_origin")):
        program = adapter("wrong_" + kind, f"""
            import re, shutil
            with tempfile.TemporaryDirectory() as place:
                (shutil.copytree if os.path.isdir(sys.argv[1]) else shutil.copy)(sys.argv[1], os.path.join(place, "it"))
                open(os.path.join(place, "it.signature"), "w").write("00000000\\n")
                open(os.path.join(place, "rows.tsv"), "w").write("id\\treason\\n")
                json.dump({{"format": 1, "cases": [{{"name": "it", "kind": {conform_kind!r}, "source": "reference-run", "rows": [], "file": "it",
                                                    "signature": "it.signature"}}]}}, open(os.path.join(place, "suite.json"), "w"))
                subprocess.run([{FACET!r}, "conform", "--suite", place, "--signatures", place], stdout=subprocess.DEVNULL)
                words = open(os.path.join(place, "it.signature")).read().split()
            if "right" not in sys.argv and re.search({culprit!r}, open(os.path.join(sys.argv[1], {file!r}).rstrip("/")).read()):
                words[-1] = "%08x" % (int(words[-1], 16) ^ 1)
            answer(words)
            """)
        out = os.path.join(folder, "found_" + kind)
        command = [FACET, "fuzz", kind, "--seed", "2", "--count", "3", "--length", "6", "--json"]
        run = subprocess.run([*command, "--against", f"{program} {{case}} {{signature}} right"], capture_output=True, text=True)
        check_eq((run.returncode, json.loads(run.stdout)["different"]), (0, 0), f"{kind}: {run.stdout}{run.stderr}")
        run = subprocess.run([*command, "--against", f"{program} {{case}} {{signature}}", "-o", out], capture_output=True, text=True)
        check_eq(run.returncode, 1, f"{kind}: {run.stdout}{run.stderr}")
        findings = json.loads(run.stdout)["findings"]
        check(findings, f"{kind}: nothing was found")
        check_eq([f["left"] for f in findings], [1] * len(findings), f"{kind}: what is left")
        check_eq(results(suite=out)["passed"], len(findings), f"{kind}: passed by Facet")
        conform("--against", f"{program} {{case}} {{signature}}", suite=out, code=1)
        if kind == "tile":
            run = subprocess.run([FACET, "tile", "test", *(f["file"] for f in findings)], capture_output=True, text=True)
            check_eq(run.returncode, 0, run.stdout)
        if kind == "gfx12":
            for finding in findings:
                run = subprocess.run([FACET, "gfx12", "intersect", "--vectors", finding["file"] + ".json"], capture_output=True, text=True)
                check_eq(run.returncode, 0, run.stdout + run.stderr)


@case()
def random_programs_step_beside_a_library():
    if not os.path.exists(DESIGN):
        skip("no shared libraries in this build")
    for kind, place in (("xphmg", "hart0 at 0x80"), ("tile", "core0 at 0x80")):
        run = subprocess.run([FACET, "fuzz", kind, "--count", "20", "--against", DESIGN, "--json"], capture_output=True, text=True)
        check_eq((run.returncode, json.loads(run.stdout)["different"]), (0, 0), f"{kind}: {run.stdout}{run.stderr}")
        run = subprocess.run([FACET, "fuzz", kind, "--count", "2", "--length", "4", "--against", DESIGN, "--json"], capture_output=True, text=True,
                             env={**os.environ, "DESIGN_BUG": "30"})
        found = json.loads(run.stdout)
        check_eq((run.returncode, found["different"], [f["left"] for f in found["findings"]]), (1, 2, [0, 0]))
        check("FAIL: step 2" in found["findings"][0]["difference"] and place in found["findings"][0]["difference"], run.stdout)
    run = subprocess.run([FACET, "fuzz", "gfx12", "--count", "2", "--against", DESIGN], capture_output=True, text=True)
    check_eq((run.returncode, "programs and kernels only" in run.stderr), (2, True), run.stderr)


DESIGN = os.path.join(os.path.dirname(os.path.abspath(FACET)), "examples/design.so")


def design(*words, bug=None, suite=None, code=0):
    """The library of examples/design.c, broken or not: what it answers to the suite."""
    if not os.path.exists(DESIGN):
        skip("no shared libraries in this build")
    env = {**os.environ, "DESIGN_BUG": bug} if bug else os.environ
    run = subprocess.run([FACET, "conform", "--suite", suite or SUITE, "--against", DESIGN, "--json", *words],
                         capture_output=True, text=True, env=env)
    check_eq(run.returncode, code, f"exit code of {words} with bug {bug}: {run.stdout[-300:]}{run.stderr}")
    return json.loads(run.stdout)


@case()
def libraries_are_compared_in_lockstep():
    """The same machine in a library passes every program and kernel; one wrong bit of a register is found in the very step."""
    found = design()
    with open(os.path.join(SUITE, "suite.json")) as f:
        kinds = {c["name"]: c["kind"] for c in json.load(f)["cases"]}
    odd = [c["case"] for c in found["cases"] if (c["verdict"] == "unsupported") != (kinds[c["case"]] in ("list", "vector"))]
    check_eq(odd, [])
    check_eq((found["passed"] > 150, found["failed"], found["errors"]), (True, 0, 0))
    check("programs and kernels only" in [c for c in found["cases"] if c["verdict"] == "unsupported"][0]["text"], "its own words")
    kept = os.path.join(folder, "kept")
    text = design("--case", "pmask/pmnot", "--signatures", kept, bug="40", code=1)["cases"][0]["text"]
    m = re.match(r"step (\d+) differs: both did something else; hart0 at (0x[0-9a-f]+) <_start\+0x[0-9a-f]+>: ([^;]+); "
                 r"reference hart0: (\w+) 0x\w+ -> (0x\w+); design hart0: (\w+) -> (0x\w+)$", text)
    check(m is not None, text)
    check_eq((m[1], m[4], int(m[5], 16) ^ 1), ("39", m[6], int(m[7], 16)))
    with open(os.path.join(kept, "xphmg/pmask/pmnot.report")) as f:
        report = f.read()
    check(report.startswith("step 39 differs") and "steps of the reference" in report and m[3] in report, report)
    run = subprocess.run([FACET, "run", "--resume", os.path.join(kept, "xphmg/pmask/pmnot.state"), "--trace", "-", "--trace-count", "1"],
                         capture_output=True, text=True)
    shown = json.loads(run.stdout.splitlines()[1])
    check_eq((shown["pc"], shown["insn"], shown["changes"][0]["reg"], shown["changes"][0]["new"]), (m[2], m[3], m[4], m[5]),
             "the state just before: its next step is what the reference did")
    text = design("--case", "tile/k1", suite=EXAMPLE, bug="9", code=1)["cases"][0]["text"]
    check(re.match(r"step 8 differs: .*core\d at 0x\w+: .*; reference core\d: s7 0x0 -> 0x3; design core\d: s7 -> 0x2$", text), text)


@case()
def a_library_that_falls_over_costs_one_case():
    for bug, verdict, told in (("crash", "error", "by signal 6"), ("leave", "error", "without an answer"),
                               ("hang", "timeout", "no answer after 0.4 seconds")):
        found = design("--case", "pmask/pm", "--timeout", "0.4" if bug == "hang" else "60", "--row", "PM-043", bug=bug, code=1)
        check(len(found["cases"]) > 0, "cases")
        check_eq({c["verdict"] for c in found["cases"]}, {verdict}, bug)
        check(told in found["cases"][0]["text"], found["cases"][0]["text"])


@case()
def libraries_that_are_none_are_refused():
    compiler = shutil.which("cc")
    design("--case", "pmask/pmnot")
    text = os.path.join(folder, "text.so")
    with open(text, "w") as f:
        f.write("no library")
    refused = [("/no/such.so", "such.so"), (text, "text.so")]
    for name, body, told in (("empty", "int x;", "expected the function facet_design"),
                             ("newer", "static struct facet_design t = {.abi = 99, .size = sizeof t};"
                              "const struct facet_design *facet_design(void) { return &t; }", "number 99, expected 1"),
                             ("lame", "static struct facet_design t = {.abi = 1, .size = sizeof t};"
                              "const struct facet_design *facet_design(void) { return &t; }", "expected begin"),
                             ("early", "__attribute__((constructor)) static void f(void) { __builtin_trap(); }", "crashes when it is loaded")):
        if compiler is None:
            continue
        path = os.path.join(folder, name + ".so")
        subprocess.run([compiler, "-shared", "-fPIC", "-I", os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", path],
                       input="#include <facet/design.h>\n" + body, text=True, check=True)
        refused.append((path, told))
    for path, told in refused:
        run = conform("--against", path, suite=EXAMPLE, code=2)
        check(told in run.stderr and run.stdout == "", f"{path}: {run.stderr}")
    check("does nothing with --serve" in conform("--serve", DESIGN, code=2).stderr, "options of runs")


@case()
def what_came_from_outside_is_told_with_the_step():
    """A counter, a device and an external interrupt that only the design has: told, all is the same; kept back, each is a difference."""
    compiler = shutil.which("cc")
    if compiler is None or not os.path.exists(DESIGN):
        skip("no compiler, or no shared libraries")
    place = os.path.join(folder, "outside")
    os.mkdir(place)
    shutil.copy(os.path.join(EXAMPLE, "rows.tsv"), place)
    with open(os.path.join(place, "suite.json"), "w") as f:
        json.dump({"format": 1, "cases": [{"name": "outside", "kind": "elf", "source": "exact", "rows": [], "file": "outside.elf",
                                           "signature": "outside.signature"}]}, f)
    with open(os.path.join(place, "outside.signature"), "w") as f:
        f.write("0000002a\n00000000\n00000000\n00000000\n")
    with open(os.path.join(place, "outside.s"), "w") as f:
        f.write("""    .globl _start, begin_signature, end_signature, tohost, fromhost
_start: csrr x5, mcycle
    lui x6, 0x30000
    ld x7, 0(x6)
    auipc x8, 0
    addi x8, x8, 0x34
    csrw mtvec, x8
    lui x9, 1
    addi x9, x9, -2048
    csrw mie, x9
    csrsi mstatus, 8
    nop
    .org 0x40
    auipc x10, 0
    addi x10, x10, 0x40
    sd x7, 0(x10)
    addi x11, x0, 1
    sd x11, 16(x10)
    j .
    .org 0x80
begin_signature: .dword 0, 0
end_signature:
tohost: .dword 0
fromhost: .dword 0
""")
    subprocess.run([FACET, "as", "--isa", "xphmg", os.path.join(place, "outside.s"), "-o", os.path.join(place, "outside.elf")], check=True)
    path = os.path.join(folder, "outside.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-I", os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", path], text=True,
                   check=True, input=r"""
        #include <facet/design.h>
        #include <stdlib.h>
        #include <string.h>
        enum { READ = 1, LOADED, LINE, STORED };
        static const struct { uint32_t offset, told; const char *name; uint64_t value; } steps[] = {
            {0x00, READ, "x5", 777}, {0x04, 0, "x6", 0x30000000}, {0x08, LOADED, "x7", 42}, {0x0c, 0, "x8", 0x8000000c},
            {0x10, 0, "x8", 0x80000040}, {0x14}, {0x18, 0, "x9", 0x1000}, {0x1c, 0, "x9", 0x800}, {0x20}, {0x24},
            {0x28, LINE}, {0x40, 0, "x10", 0x80000040}, {0x44, 0, "x10", 0x80000080}, {0x48, STORED, 0, 42},
            {0x4c, 0, "x11", 1}, {0x50, STORED, 0, 1}};
        static unsigned at;
        static struct facet_design_event events[2];
        static int begin(const struct facet_design_case *c, const char **why)
        {
            *why = "the program is not the one that I know";
            at = 0;
            return c->entry == 0x80000000 && c->begin_signature == 0x80000080 && c->tohost == 0x80000090 && c->piece_count != 0
                ? FACET_DESIGN_OK : FACET_DESIGN_FAILED;
        }
        static int step(struct facet_design_step *s, const char **why)
        {
            const char *kept = getenv("KEPT_BACK");
            (void)why;
            if (at == sizeof steps / sizeof steps[0]) {
                return FACET_DESIGN_ENDED;
            }
            memset(events, 0, sizeof events);
            s->pc = 0x80000000 + steps[at].offset;
            s->events = events;
            events[0].value = steps[at].value;
            events[0].name = steps[at].name;
            s->event_count = steps[at].name != 0 || steps[at].told == STORED;
            if (steps[at].told == STORED) {
                events[0].kind = FACET_DESIGN_STORED;
                events[0].address = steps[at].value == 42 ? 0x80000080 : 0x80000090;
                events[0].size = 8;
            } else if (steps[at].told != 0 && (kept == 0 || (uint32_t)atoi(kept) != steps[at].told)) {
                struct facet_design_event *e = &events[s->event_count++];
                e->kind = steps[at].told == READ ? FACET_DESIGN_READ : steps[at].told == LOADED ? FACET_DESIGN_LOADED : FACET_DESIGN_LINE;
                e->name = "mcycle";
                e->address = 0x30000000;
                e->size = 11;
                e->value = steps[at].told == LINE ? 1 : steps[at].value;
            }
            if (steps[at].told == LINE) {
                s->trapped = 1;
                s->cause = 0x800000000000000b;
            }
            at++;
            return FACET_DESIGN_OK;
        }
        static int read_memory(uint64_t address, void *bytes, size_t size)
        {
            memset(bytes, 0, size);
            *(char *)bytes = 42;
            return address == 0x80000080 && size == 16 ? FACET_DESIGN_OK : FACET_DESIGN_FAILED;
        }
        static const struct facet_design table = {.abi = FACET_DESIGN_ABI, .size = sizeof table, .ignores = " csr  priv ", .begin = begin, .step = step,
                                                  .read = read_memory};
        const struct facet_design *facet_design(void) { return &table; }""")
    check_eq(results("--against", path, suite=place)["passed"], 1)
    for kept, told in (("1", "step 0 differs"), ("2", "step 2 differs"), ("3", "the external interrupt is not pending")):
        run = subprocess.run([FACET, "conform", "--suite", place, "--against", path], capture_output=True, text=True,
                             env={**os.environ, "KEPT_BACK": kept})
        check_eq((run.returncode, told in run.stdout), (1, True), f"{kept}: {run.stdout}{run.stderr}")


@case()
def questions_that_are_none_end_a_server():
    if not os.path.exists(DESIGN):
        skip("no shared libraries in this build")
    for line, told in (("nonsense", "standard input"), ("{}", "case"), ('{"case": "a", "kind": "elves", "file": "f", "config": ""}', "expected elf, tile"),
                       ('{"case": "a", "kind": "elf"}', "file")):
        run = subprocess.run([FACET, "conform", "--serve", DESIGN], input=line + "\n", capture_output=True, text=True)
        check_eq((run.returncode, told in run.stderr, run.stdout), (2, True, ""), f"{line}: {run.stderr}")
    run = subprocess.run([FACET, "conform", "--serve", DESIGN], input='{"case": "a", "kind": "elf", "file": "/no/such", "config": ""}\n',
                         capture_output=True, text=True)
    check_eq((run.returncode, json.loads(run.stdout)["case"], "/no/such" in json.loads(run.stdout)["error"]), (0, "a", True), run.stdout)


@case()
def whole_designs_answer_with_words():
    """A library without steps: C of a few lines that knows one signature and prints to standard output."""
    compiler = shutil.which("cc")
    if compiler is None or not os.path.exists(DESIGN):
        skip("no compiler, or no shared libraries")
    with open(os.path.join(EXAMPLE, "tri-first-hit.signature")) as f:
        words = re.sub(r"//.*", "", f.read()).split()
    path = os.path.join(folder, "whole.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-I", os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", path], text=True,
                   check=True, input=f"""
        #include <facet/design.h>
        #include <stdio.h>
        #include <string.h>
        static uint32_t words[] = {{{", ".join("0x" + word for word in words)}}};
        static int begin(const struct facet_design_case *c, const char **why)
        {{
            puts("not an answer");
            *why = "vectors only";
            return strcmp(c->kind, "vector") == 0 ? FACET_DESIGN_OK : FACET_DESIGN_FAILED;
        }}
        static int signature(const uint32_t **out, size_t *count, const char **why)
        {{
            (void)why, *out = words, *count = sizeof words / 4;
            return FACET_DESIGN_OK;
        }}
        static const struct facet_design table = {{.abi = FACET_DESIGN_ABI, .size = sizeof table, .begin = begin, .signature = signature}};
        const struct facet_design *facet_design(void) {{ return &table; }}""")
    found = results("--against", path, suite=EXAMPLE, code=1)
    check_eq({c["case"]: (c["verdict"], c.get("text", "")) for c in found["cases"]},
             {"gfx12/tri-first-hit": ("pass", ""), "tile/k1": ("error", "begin: vectors only")})


def example(change=lambda text: text):
    """A copy of the example with another suite.json."""
    place = tempfile.mkdtemp(dir=folder)
    shutil.copytree(EXAMPLE, place, dirs_exist_ok=True)
    with open(os.path.join(place, "suite.json")) as f:
        text = change(f.read())
    with open(os.path.join(place, "suite.json"), "w") as f:
        f.write(text)
    return place


@case()
def names_and_files_stay_inside():
    """A name becomes a path below the folder of --signatures, and stands in pages as it is."""
    for name in ("../k1", "/k1", "tile/../../k1", "tile/..", "tile//k1", "tile/", "", "<b>/k1", "k1 k2", "k1\\u001b[2J"):
        place = example(lambda s: s.replace('"tile/k1"', f'"{name}"'))
        run = conform("--signatures", os.path.join(place, "out"), suite=place, code=2)
        check("name" in run.stderr and "suite.json" in run.stderr, f"{name}: {run.stderr}")
    for name in ("./..", "tile/..", "tile-k1/../tile-k1", "tile//k1"):
        run = conform(suite=example(lambda s: s.replace('"file": "tile-k1"', f'"file": "{name}"')), code=2)
        check("inside the folder" in run.stderr, f"{name}: {run.stderr}")


@case()
def what_others_write_is_shown_plainly():
    """Bytes that are no text, and commands for a terminal, as the last line of standard error."""
    odd = adapter("bytes", 'os.write(2, b"\\xff\\x1b[2J<&" + "\\u00e4".encode() * 200)')
    junit = os.path.join(folder, "bytes.xml")
    run = conform("--against", f"{odd} {{case}} {{out}}", "--junit", junit, suite=EXAMPLE, code=1)
    check("\x1b" not in run.stdout and "\\xff\\u001b[2J<&" in run.stdout, ascii(run.stdout))
    message = xml.etree.ElementTree.parse(junit).find(".//error").get("message")
    check("\\xff\\u001b[2J<&" in message, ascii(message))


@case()
def a_program_that_loses_its_place_starts_again():
    """Twice an answer to the first case: the cases behind it are none the worse. One that reads nothing is out of time."""
    lines = adapter("twice", '''
        for line in sys.stdin:
            request = json.loads(line)
            if request["case"] == "gfx12/tri-first-hit":
                print(json.dumps({"case": "another"}), flush=True)
                time.sleep(.3)
            print(json.dumps({"case": request["case"], "unsupported": "so"}), flush=True)
        ''')
    found = results("--against", f"stdio:{lines}", "--threads", "1", suite=EXAMPLE, code=1)
    check_eq([(c["case"], c["verdict"]) for c in found["cases"]],
             [("gfx12/tri-first-hit", "error"), ("tile/k1", "unsupported")])
    deaf = adapter("deaf", "time.sleep(60)")
    place = example(lambda s: s.replace('"kind"', '"config": "' + "x" * 100000 + '", "kind"'))
    run = subprocess.run([FACET, "conform", "--suite", place, "--against", f"stdio:{deaf}", "--timeout", "0.5", "--json"],
                         capture_output=True, text=True, timeout=30)
    check_eq((run.returncode, json.loads(run.stdout)["timeouts"]), (1, 2))


@case()
def a_torn_line_is_no_end_of_resuming():
    path = os.path.join(folder, "torn")
    open(path, "w").close()
    first = results("--resume", path, suite=EXAMPLE)
    whole = os.path.getsize(path)
    os.truncate(path, whole - 10)
    check_eq(results("--resume", path, suite=EXAMPLE), first)
    check_eq(os.path.getsize(path), whole)
    with open(path, "w") as f:
        f.write("another file")
    check("no file of --part or --resume" in conform("--resume", path, suite=EXAMPLE, code=2).stderr, "nothing of ours")
    with open(path) as f:
        check_eq(f.read(), "another file", "what is not ours stays")


@case()
def links_of_a_command_are_not_followed():
    """A folder that may not be written to, with a link in it: neither is left, and what the link leads to is."""
    with tempfile.TemporaryDirectory() as place:
        precious = os.path.join(place, "precious")
        os.mkdir(precious)
        with open(os.path.join(precious, "data"), "w") as f:
            f.write("kept")
        temporary = os.path.join(place, "tmp")
        os.mkdir(temporary)
        program = os.path.join(place, "links")
        with open(program, "w") as f:
            f.write(f'#!/bin/sh\nmkdir $2/sub && ln -s {precious} $2/sub/link && chmod 555 $2/sub\n')
        suite = os.path.join(place, "suite")
        shutil.copytree(EXAMPLE, suite)
        for path in (place, precious, temporary, program):
            os.chmod(path, 0o777)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}  # root may write anywhere
        try:
            run = subprocess.run([FACET, "conform", "--suite", suite, "--against", f"{program} {{case}} {{out}}"],
                                 capture_output=True, text=True, env={**os.environ, "TMPDIR": temporary}, **nobody)
        except PermissionError:
            skip("another user cannot run the program")
        check_eq(run.returncode, 1, run.stderr)
        check_eq((os.listdir(precious), os.listdir(temporary)), (["data"], []))


@case()
def an_interrupted_run_leaves_nothing():
    """Neither what a command had started, nor its folder; of a program that is asked, nothing either."""
    script = os.path.join(folder, "slow")
    with open(script, "w") as f:
        f.write('#!/bin/sh\nsleep 50 &\necho $! > "$1"\nwait\n')
    os.chmod(script, 0o755)
    for number, words in enumerate((["conform", "--suite", EXAMPLE, "--case", "k1", "--against", f"{script} PID {{case}} {{out}}"],
                                    ["conform", "--suite", EXAMPLE, "--case", "k1", "--against", f"stdio:{script} PID"],
                                    ["fuzz", "xphmg", "--count", "1", "--against", f"{script} PID {{elf}} {{signature}}"])):
        pid, temporary = os.path.join(folder, f"pid{number}"), os.path.join(folder, f"tmp{number}")
        os.mkdir(temporary)
        run = subprocess.Popen([FACET, *(word.replace("PID", pid) for word in words)], env={**os.environ, "TMPDIR": temporary},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(pid) or os.path.getsize(pid) == 0:
            time.sleep(.02)
        run.send_signal(signal.SIGTERM)
        check_eq(run.wait(timeout=10), 128 + signal.SIGTERM, f"{words[0]}: exit code")
        with open(pid) as f:
            started = f"/proc/{f.read().strip()}/stat"
        for _ in range(100):
            if not os.path.exists(started):
                break
            with contextlib.suppress(OSError), open(started) as f:
                if f.read().split()[2] == "Z":  # nobody may collect it here
                    break
            time.sleep(.02)
        else:
            check(False, f"{words[0]}: what the command had started is still there")
        check_eq(os.listdir(temporary), [], f"{words[0]}: its folder")


@case()
def options_that_would_do_nothing_are_refused():
    for words, told in ((["--missing"], "--missing needs --rows"), (["--timeout", "3"], "--timeout needs --against"),
                        (["--rows", "--html", "page"], "--html"), (["--rows", "--case", "k1"], "--case"),
                        (["--rows", "--json", "--area", "NOPE"], "NOPE")):
        run = conform(*words, suite=EXAMPLE, code=2)
        check(told in run.stderr, f"{words}: {run.stderr}")


generate(SUITE, parts=PARTS)
try:
    main("conform")
finally:
    shutil.rmtree(folder)
