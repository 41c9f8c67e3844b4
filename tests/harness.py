"""The harness of tests that are scripts: the twin of harness.h.

    from harness import case, check_eq, main

    @case("CAP-001 CAP-002")          # the requirement rows that the case proves; may be empty
    def unknown_command_is_refused():
        check_eq(run("facet", "nonsense").code, 2)

    @case()
    def every_setting():
        for setting, id in TABLE:
            with row(id):             # these checks belong to this row, as with harness_row() in C
                check_eq(value(setting), 1)

    main("cli")

Every case runs; a failed check ends its case, within `with row(...)` only the row. Results go to
FACET_TEST_RESULTS/test_SUITE.tsv, as the C harness writes them. Arguments: substrings of the cases to run.
"""
import contextlib
import os
import signal
import sys
import traceback

# A run in the background (nohup, `&` of a script) may ignore signals that the tests send to programs they start.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

MAX_CASE_IDS = 20  # as in harness.c

_cases = []
_checks = 0
_rows = {}  # ID -> outcome, of the running case


class Skip(Exception):
    """Raised by skip()."""


def case(ids=""):
    def add(function):
        _cases.append((function.__name__, ids, function))
        return function
    return add


def add_case(name, function, ids=""):
    """A case made in a loop: one per command, one per file."""
    _cases.append((name, ids, function))


def skip(why):
    raise Skip(why)


def check(condition, message):
    _count_check()
    if not condition:
        raise AssertionError(message)


def check_eq(got, expected, what="value"):
    _count_check()
    if got != expected:
        raise AssertionError(f"{what} is {got!r}, expected {expected!r}")


def _count_check():
    global _checks
    _checks += 1


@contextlib.contextmanager
def row(ids):
    """What is checked in here belongs to the requirement rows `ids` (space separated): each passes
    when something was checked and nothing failed. A failed row fails its case, which goes on."""
    before, outcome = _checks, "fail"
    try:
        yield
        if _checks > before:
            outcome = "pass"
        else:
            print(f"{ids}: nothing is checked")
    except AssertionError as failure:
        print(f"{ids}: {failure}")
    except Skip:
        outcome = "skip"
        raise
    finally:
        for name in ids.split():
            _rows[name] = "fail" if _rows.get(name) == "fail" else outcome


def _run(name, ids, function):
    _rows.clear()
    try:
        check(len(ids.split()) <= MAX_CASE_IDS,
              f"{len(ids.split())} requirement rows in one case, at most {MAX_CASE_IDS}: see row()")
        function()
        failed = [name for name in _rows if _rows[name] == "fail"]
        check(not failed, "rows " + " ".join(failed))
    except Skip as why:
        print(f"skipped: {name}: {why}")
        return "skip"
    except AssertionError as failure:
        print(f"FAIL {name}: {failure}")
        return "fail"
    except Exception:  # a broken test is a failed test, and the others still run
        print(f"FAIL {name}:\n{traceback.format_exc()}")
        return "fail"
    return "pass"


def main(suite):
    folder = os.environ.get("FACET_TEST_RESULTS")
    wanted = sys.argv[1:]
    for word in wanted:  # a case was renamed, and nothing would run
        if not any(word in name for name, _, _ in _cases):
            print(f"no case has {word} in its name")
            sys.exit(2)
    count = {"pass": 0, "fail": 0, "skip": 0}
    results = open(os.path.join(folder, f"test_{suite}.tsv"), "w") if folder else None
    for name, ids, function in _cases:
        if wanted and not any(word in name for word in wanted):
            continue
        outcome = _run(name, ids, function)
        count[outcome] += 1
        if results:
            results.write(f"test_{suite}\t{name}\t{outcome}\t{ids}\n")
            for row_id in _rows:
                results.write(f"test_{suite}\t{name}[{row_id}]\t{_rows[row_id]}\t{row_id}\n")
            results.flush()
        sys.stdout.flush()
    if results:
        results.close()
    print(f"{suite}: {count['pass']} passed, {count['fail']} failed, {count['skip']} skipped")
    sys.exit(1 if count["fail"] else 0)
