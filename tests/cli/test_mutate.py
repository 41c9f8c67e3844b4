"""`make mutate` on a toy: changes are made, the one that does not compile is dropped, a hang and a difference are noticed,
survivors are told, a new test is all that a survivor meets when the run goes on, and portable cases have a score of their own."""
import json
import os
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main

TOOL = os.path.join(os.environ["FACET_SOURCE"], "tools/mutate")
FILES = {
    "meson.build": """project('toy', 'c')
facet_sources = []
subdir('src/base')
facet_sources += files('src/num/toy.c')
toy = static_library('toy', facet_sources, include_directories: include_directories('src'))
test('toy', executable('toy', 'tests/toy.c', link_with: toy))
""",
    "src/base/meson.build": "\n",
    "src/num/toy.c": """int clamp(int x, int top);
int count(int n);
int next(int x);

int clamp(int x, int top)
{
    if (x > top) { /* x > top */
        x = top;
    }
    return x;
}

int count(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += (i << 1) + 1;
    }
    return sum;
}

int next(int x)
{
    return x + 1;
}
""",
    "tests/toy.c": """int clamp(int x, int top);
int count(int n);
int next(int x);
int main(void)
{
    return clamp(5, 3) == 3 && clamp(2, 3) == 2 && count(4) == 16 ? 0 : 1;
}
""",
    "named.tsv": "# file, function, code, changed code\n"
                 "src/num/toy.c\tclamp\tx > top\tx >= top\n"
                 "src/num/toy.c\tclamp\tx = top;\t\n"
                 "src/num/toy.c\tcount\ti < n\ti >= 0 || i < n\n"
                 "src/num/toy.c\tcount\treturn sum;\treturn nothing;\n"
                 "src/num/toy.c\tnext\tx + 1\tx - 1\n",
    "judged.tsv": "",
}


# Portable cases: the program judges those of a folder (`--case xphmg/clamp/`), the script writes them.
PORTABLE = {
    "meson.build": FILES["meson.build"] + "executable('facet', 'tests/conform.c', link_with: toy)\n",
    "tests/conform.c": """#include <string.h>
int clamp(int x, int top);
int count(int n);
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "xphmg/clamp/") == 0) {
            return clamp(5, 3) == 3 ? 0 : 1;
        }
        if (strcmp(argv[i], "tile/") == 0) {
            return count(0) == 0 ? 0 : 1;
        }
    }
    return 2;
}
""",
    "tools/conformance.sh": """#!/bin/sh
mkdir -p "$1/conformance/xphmg/clamp" "$1/conformance/tile"
cd "$1/conformance" && touch xphmg/clamp/a.elf xphmg/clamp/a.signature tile/b.signature
mkdir -p tile/b && touch tile/b/kernel.hex
echo '{"cases": [{"name": "xphmg/clamp/a", "file": "xphmg/clamp/a.elf", "signature": "xphmg/clamp/a.signature"},
                 {"name": "tile/b", "file": "tile/b", "signature": "tile/b.signature"}]}' > suite.json
""",
    "unseen.tsv": "src/num/*\tne?t\tno program sees it\n",
}


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if name.endswith(".sh"):
        os.chmod(path, 0o755)


def mutate(folder, *words):
    """(exit code, what it printed, the report)"""
    run = subprocess.run([sys.executable, TOOL, "--source", folder, "--folder", f"{folder}/build-mutate", "--named",
                          f"{folder}/named.tsv", "--judged", f"{folder}/judged.tsv", "--unseen",
                          f"{folder}/unseen.tsv", "--limit", "1", *words],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    report = os.path.join(folder, "build-mutate/report.json")
    if not os.path.exists(report):
        return run.returncode, run.stdout, {}
    with open(report, encoding="utf-8") as file:
        return run.returncode, run.stdout, json.load(file)


def survivors(report, room):
    return sorted((s["function"], s["old"], s["new"]) for s in report["survivors"] if s["room"] == room)


@case()
def a_toy_from_the_first_run_to_the_last():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            write(folder, name, text)
        code, text, report = mutate(folder, "--rooms", "num", "--count", "20")
        check_eq(code, 0, text)
        check("1 changes did not compile" in text, text)
        named = report["rooms"]["named"]
        check_eq(survivors(report, "named"), [("clamp", "x > top", "x >= top"), ("next", "x + 1", "x - 1")], text)
        check_eq(report["rooms"]["named"]["score"], 50, text)
        drawn = report["rooms"]["num"]
        check(drawn["killed"] > 2 and drawn["killed"] + drawn["survived"] + drawn["open"] <= 20, text)
        check(all(s["function"] in ("next", "clamp") for s in report["survivors"]), text)

        # A judgement and a new case: what is judged is no survivor, and what is left meets the new suite.
        write(folder, "tests/toy.c", FILES["tests/toy.c"].replace("count(4) == 16", "count(4) == 16 && next(5) == 6"))
        write(folder, "judged.tsv", "src/num/toy.c\tclamp\tx > top\tx >= top\tequivalent\ttop replaces top\n")
        code, text, report = mutate(folder, "--resume")
        check_eq((code, report["rooms"]["named"]["killed"]), (0, named["killed"] + 1), text)
        check_eq(survivors(report, "named"), [], text)
        check_eq((report["rooms"]["named"]["equivalent"], report["rooms"]["named"]["score"]), (1, 100), text)

        # In the same folder with other code: refused, or from the start, without what is no longer there.
        write(folder, "build-mutate/tree/src/base/gone.h", "#error gone\n")
        # The first that is drawn of it does not compile, an int for a pointer; others take its place.
        write(folder, "src/num/toy.c", """int at(const int *list, int n);
int pick(const int *list, int n);

int at(const int *list, int n)
{
    return list[n];
}

int pick(const int *list, int n)
{
    return at(list, n);
}

""" + FILES["src/num/toy.c"])
        code, text, report = mutate(folder, "--resume")
        check(code != 0 and "src/num/toy.c has changed since" in text, f"{code}: {text}")
        code, text, report = mutate(folder, "--rooms", "num", "--count", "2")
        check_eq((code, sum(report["rooms"]["num"][o] for o in ("killed", "survived"))), (0, 2), text)
        check("2 changes did not compile" in text, text)
        check(not os.path.exists(os.path.join(folder, "build-mutate/tree/src/base/gone.h")), "a file that is gone")


@case()
def lines_keep_their_numbers():
    """A compiler's message leads to the change on its line, also behind a change of several lines."""
    sys.path.insert(0, TOOL)
    import changes  # pylint: disable=import-outside-toplevel,import-error
    import tree  # pylint: disable=import-outside-toplevel,import-error
    text = "int both(int a,\n         int b)\n{\n    if (a == 0 &&\n        b == 0) {\n        a =\n            b;\n    }\n    return a;\n}\n"
    found = list(changes.changes_of("src/both.c", text))
    check(any("\n" in c.new for c in found), str(found))
    for c in found:
        with_switch = tree.apply(text, [(1, c._asdict())])
        check_eq(with_switch.count("\n"), text.count("\n") + 2, with_switch)  # and two in front, with #line


@case()
def an_error_in_a_macro_leads_to_its_use():
    """The compiler names the macro, and below it the line where it is used: the change is there. Warnings drop nothing."""
    sys.path.insert(0, TOOL)
    import tree  # pylint: disable=import-outside-toplevel,import-error
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.c", "#define SURE(x) __builtin_choose_expr(x, 1, 2)\n#define SIGNED(x, y) ((x) < (y))\n"
                             "int f(int a, unsigned b)\n{\n    if (SIGNED(a, b))\n        return 1;\n    return\n        SURE(a);\n}\n")
        run = subprocess.run(["cc", "-c", "-Wall", "-Wextra", "a.c"], cwd=folder, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "LC_ALL": "C"})
        check("warning:" in run.stderr and run.stderr.count("in expansion of macro") >= 2, run.stderr)
        check_eq(tree.refused_lines(folder, folder, run.stderr), {("a.c", 1), ("a.c", 8)}, run.stderr)


@case()
def portable_cases_have_a_score_of_their_own():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**FILES, **PORTABLE}.items():
            write(folder, name, text)
        # Of the named ones `x = top` and the endless loop are noticed, `x >= top` is not, `next` is not seen.
        code, text, report = mutate(folder, "--rooms", "num", "--count", "0")
        row = report["rooms"]["named"]
        check_eq((code, row["killed"], row["survived"], row["seen"], row["portable"]), (0, 2, 2, 3, 2), text)
        check_eq(report["portable_survivors"], [], text)

        # Cases that are there already judge alone, here the changes of one function: no suite is built or run.
        cases, other = f"{folder}/build-mutate/tree/build/conformance", f"{folder}/other"
        code, text, _ = mutate(folder, "--rooms", "num", "--count", "0", "--folder", other, "--cases", cases, "--only", ": clamp$")
        with open(f"{other}/report.json", encoding="utf-8") as file:
            row = json.load(file)["rooms"]["named"]
        check_eq((code, row["killed"], row["open"], row["seen"], row["portable"]), (0, 1, 3, 2, 1), text)
        check(not os.path.exists(f"{other}/tree/build/tests/test_toy"), "a suite was built")

        # What only the suite sees is told apart; the score of the portable cases alone stays.
        write(folder, "tests/toy.c", FILES["tests/toy.c"].replace("count(4) == 16", "count(4) == 16 && next(5) == 6"))
        write(folder, "unseen.tsv", "")
        code, text, report = mutate(folder, "--resume")
        row = report["rooms"]["named"]
        check_eq((code, row["killed"], row["survived"], row["seen"], row["portable"]), (0, 3, 1, 4, 2), text)
        check_eq([(s["function"], s["killer"]) for s in report["portable_survivors"]], [("next", "toy")], text)
        check_eq(row["portable_score"], 50, text)

        # A portable case notices what no suite does, and counts.
        write(folder, "tests/toy.c", "int main(void)\n{\n    return 0;\n}\n")
        code, text, report = mutate(folder, "--rooms", "num", "--count", "0")
        row = report["rooms"]["named"]
        check_eq((code, row["killed"], row["survived"], row["portable"]), (0, 2, 2, 2), text)


@case()
def tables_that_are_wrong_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            write(folder, name, text)
        write(folder, "named.tsv", "src/num/toy.c\tclamp\tx > top\n")
        code, text, _ = mutate(folder)
        check(code != 0 and "named.tsv:1: 3 columns; expected 4" in text, f"{code}: {text}")
        write(folder, "named.tsv", "")
        write(folder, "judged.tsv", "src/num/toy.c\tclamp\tx > top\tx >= top\tharmless\twhy not\n")
        code, text, _ = mutate(folder, "--rooms", "num", "--count", "1")
        check(code != 0 and "judged.tsv:1: verdict 'harmless'; expected one of equivalent" in text, f"{code}: {text}")


main("mutate")
