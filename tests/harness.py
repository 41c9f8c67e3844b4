"""The harness of tests that are scripts: the twin of harness.h.

    from harness import case, check_eq, main

    @case("CAP-001 CAP-002")          # the requirement rows that the case proves; may be empty
    def unknown_command_is_refused():
        check_eq(run("facet", "nonsense").code, 2)

    main("cli")

Every case runs; a failed check ends its case. Results go to FACET_TEST_RESULTS/test_SUITE.tsv, as
the C harness writes them. Arguments: substrings of the cases to run.
"""
import os
import sys
import traceback

_cases = []


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
    if not condition:
        raise AssertionError(message)


def check_eq(got, expected, what="value"):
    if got != expected:
        raise AssertionError(f"{what} is {got!r}, expected {expected!r}")


def _run(name, function):
    try:
        function()
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
    count = {"pass": 0, "fail": 0, "skip": 0}
    results = open(os.path.join(folder, f"test_{suite}.tsv"), "w") if folder else None
    for name, ids, function in _cases:
        if wanted and not any(word in name for word in wanted):
            continue
        outcome = _run(name, function)
        count[outcome] += 1
        if results:
            results.write(f"test_{suite}\t{name}\t{outcome}\t{ids}\n")
            results.flush()
        sys.stdout.flush()
    if results:
        results.close()
    print(f"{suite}: {count['pass']} passed, {count['fail']} failed, {count['skip']} skipped")
    sys.exit(1 if count["fail"] else 0)
