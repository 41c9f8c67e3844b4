"""Every command on a host that fails: see run.py. `make test` tries a sample, `make test-long` every call of small jobs."""
import concurrent.futures
import os
import subprocess
import sys

import rows
import run
from harness import add_case, case, check, check_eq, main, skip

FACET = os.environ["FACET"]
LONG = bool(os.environ.get("FACET_TEST_LONG"))
SEED = int(os.environ.get("FACET_TEST_SEED", "1"))
SAMPLES = 400 if LONG else 1  # calls per row, site and mode
JOBS = os.cpu_count() or 1
SANITIZED = sys.argv.pop(1) != "none" if len(sys.argv) > 1 else False
_bench = None


def bench():
    global _bench
    if SANITIZED:
        skip("a sanitizer wants to be the first library")
    if _bench is None:
        _bench = run.Bench(FACET, run.library_of(FACET), os.environ["FACET_SOURCE"], JOBS)
        print(f"seed {SEED} (FACET_TEST_SEED)")
    return _bench


def check_command(wanted):
    found = []
    count, bad = run.try_rows(bench(), wanted, run.sampler(SAMPLES, SEED), JOBS,
                              report=lambda finding, _=None: found.append(finding))
    check(count > 0, "nothing was tried")
    check(not bad, "\n".join(f"{why}\n    {run.reproduction(row, fault)}" for row, fault, why in found))


COMMANDS = rows.commands_of(FACET)


def command_of(line):
    """The command of a row; the longest name counts."""
    return max((name for name in COMMANDS if f"{line} ".startswith(f"{name} ")), key=len, default=line.split()[0])


for _command in sorted({command_of(line) for line, _ in rows.ROWS}):
    add_case(f"faults_of_{_command.replace(' ', '_').strip('-')}",
             lambda c=_command: check_command([row for row in rows.ROWS if command_of(row[0]) == c]))


@case()
def every_command_has_a_row():
    tried = {command_of(line) for line, _ in rows.ROWS}
    for name in COMMANDS:
        check(name in tried, f"no row of rows.py has the command {name}")


@case()
def the_host_fails_as_it_is_told():
    """The verdicts are worth something only if the calls really fail."""
    row = next(row for row in rows.ROWS if row[0].startswith("as fill.s"))
    good = bench().run(row, run.Fault("malloc", 0))
    for site in ("malloc", "open", "read", "write", "rename"):
        check(good.calls["main", site] > 0, f"{site} is not counted")
        got = bench().run(row, run.Fault(site, 1))
        check(got.failed == 1, f"{got.failed} calls of {site} failed")
    importer = next(row for row in rows.ROWS if row[0].startswith("scene info"))
    got = bench().run(importer, run.Fault("malloc", 1, "ever", "child"))
    check(got.failed > 0 and got.code == 2, f"the importer went on: exit code {got.code}")


@case()
def messages_that_are_lost_change_the_exit_code():
    folder = bench().inputs  # nothing is written there
    for words, code in ((["run", "hello.elf", "--json"], 2), (["run", "mistakes.elf", "--lint"], 2), (["run", "hello.elf"], 0)):
        with open("/dev/full", "wb") as full:
            got = subprocess.run([FACET, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=full)
        check_eq(got.returncode, code, f"exit code of {words} where standard error is full")
    closed = subprocess.run(["/bin/sh", "-c", '"$0" run mistakes.elf --lint 2>&-', FACET], cwd=folder)
    check_eq(closed.returncode, 0, "exit code where standard error is closed")


@case()
def a_stack_of_256_kib_is_enough():
    """Of the first thread and, as the C library has it, of all others."""
    def codes(row):
        return [bench().run(row, run.Fault("malloc", 0), stack).code for stack in (None, 256)]

    bench()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for row, (usual, small) in zip(rows.ROWS, pool.map(codes, rows.ROWS)):
            check_eq(small, usual, f"exit code of {row[0]}")


main("faults")
