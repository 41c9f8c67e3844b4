"""The two harnesses: what a suite leaves in its result file, row by row, and what makes it fail. The
suites that are run here fail on purpose."""
import os
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main

TESTS = os.path.join(os.environ["FACET_SOURCE"], "tests")
TOO_MANY = " ".join(f"RT-{n:03}" for n in range(1, 22))

C_SUITE = """
#include "harness.h"
TEST(good, "RT-001 RT-002") { CHECK(1 == 1); }
TEST(table, "RT-003")
{
    static const struct { const char *ids; int value; } rows[] = {
        {"RT-010", 1}, {"RT-011 RT-012", 2}, {"RT-012", 1}, {"RT-013", 1}};

    for (unsigned i = 0; i < 4; i++) {
        harness_row(rows[i].ids);
        CHECK(rows[i].value == 1);
    }
    CHECK_ID("RT-014", true);
    CHECK_ID("RT-015", false);
    CHECK(true);
}
TEST(good_rows, "") { harness_row("RT-020"); CHECK(true); harness_row(""); CHECK(true); }
TEST(empty_row, "") { harness_row("RT-021"); harness_row("RT-022"); CHECK(true); }
TEST(skipped, "") { harness_row("RT-023"); CHECK(true); harness_skip("no reason"); }
TEST(many, "TOO_MANY") { CHECK(true); }
""".replace("TOO_MANY", TOO_MANY)

PY_SUITE = """
from harness import case, check, check_eq, main, row, skip

@case("RT-001 RT-002")
def good():
    check(True, "")

@case("RT-003")
def table():
    for ids, value in (("RT-010", 1), ("RT-011 RT-012", 2), ("RT-012", 1), ("RT-013", 1),
                       ("RT-014", 1), ("RT-015", 2)):
        with row(ids):
            check_eq(value, 1)
    check(True, "")

@case()
def good_rows():
    with row("RT-020"):
        check(True, "")

@case()
def empty_row():
    with row("RT-021"):
        pass
    with row("RT-022"):
        check(True, "")

@case()
def skipped():
    with row("RT-023"):
        skip("no reason")

@case("TOO_MANY")
def many():
    check(True, "")

main("sample")
""".replace("TOO_MANY", TOO_MANY)

EXPECTED = """
good pass RT-001 RT-002
table fail RT-003
table[RT-010] pass RT-010
table[RT-011] fail RT-011
table[RT-012] fail RT-012
table[RT-013] pass RT-013
table[RT-014] pass RT-014
table[RT-015] fail RT-015
good_rows pass
good_rows[RT-020] pass RT-020
empty_row fail
empty_row[RT-021] fail RT-021
empty_row[RT-022] pass RT-022
skipped skip
skipped[RT-023] skip RT-023
""".split("\n")[1:-1] + ["many fail " + TOO_MANY]


def results(folder, command):
    """The lines of the result file without the suite, and the exit code."""
    env = dict(os.environ, FACET_TEST_RESULTS=folder)
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    with open(os.path.join(folder, "test_sample.tsv"), encoding="utf-8") as file:
        lines = [line.split("\t") for line in file.read().splitlines()]
    check(all(fields[0] == "test_sample" and len(fields) == 4 for fields in lines), f"{lines}")
    check("2 passed, 3 failed, 1 skipped" in run.stdout, run.stdout)
    return run.returncode, [" ".join(fields[1:]).strip() for fields in lines]


def check_names(command):
    """A part of a name chooses cases; a name that no case has is an error, not a run of nothing."""
    for names, code, said in ((["good_", "skip"], 0, "1 passed, 0 failed, 1 skipped"),
                              (["good", "renamed"], 2, "no case has renamed in its name")):
        run = subprocess.run([*command, *names], stdout=subprocess.PIPE, text=True)
        check_eq(run.returncode, code, f"exit code of {names}")
        check(said in run.stdout, run.stdout)


@case()
def the_c_harness_tells_each_row():
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "sample.c"), os.path.join(folder, "test_sample")
        with open(source, "w", encoding="utf-8") as file:
            file.write(C_SUITE)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-I", TESTS, source,
                        os.path.join(TESTS, "harness.c"), "-o", program], check=True)
        check_eq(results(folder, [program]), (1, EXPECTED))
        check_names([program])


@case()
def the_python_harness_tells_each_row():
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "sample.py")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PY_SUITE)
        check_eq(results(folder, [sys.executable, source]), (1, EXPECTED))
        check_names([sys.executable, source])


main("harness")
