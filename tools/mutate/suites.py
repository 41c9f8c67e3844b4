"""Running the suites of the instrumented build: which reach a change, and whether one of them notices it."""
import ctypes
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

from tree import RECORD_BYTES

LIBC = ctypes.CDLL(None)
MEMORY = 40 << 30  # of addresses: a changed loop may ask for all there is


class Suite:
    def __init__(self, test, build):
        self.name, self.command, self.env = test["name"], test["cmd"], test["env"]
        self.folder = test["workdir"] or build
        # What a suite is made of: its program or script, and the files that it is given.
        self.parts = [part for part in self.command if os.path.isfile(part) and not part.endswith("/python3")]

    def stamp(self):
        """Changes when the suite does: earlier answers of another stamp do not count."""
        h = hashlib.sha256()
        for part in self.parts:
            with open(part, "rb") as f:
                h.update(f.read())
        return h.hexdigest()[:16]

    def run(self, limit, **variables):
        """(passed, seconds); what runs longer than the limit has failed. Meson counts 77 as skipped."""
        folder = tempfile.mkdtemp(prefix="mutate-")
        env = {**os.environ, **self.env, "TMPDIR": folder, **variables}
        env.pop("FACET_TEST_RESULTS", None)
        begin = time.monotonic()
        child = subprocess.Popen(self.command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                 preexec_fn=set_limits)
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            shutil.rmtree(folder, ignore_errors=True)
        return code in (0, 77), time.monotonic() - begin


def set_limits():
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a changed loop may never end, so no suite outlives the tool
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.nice(10)


def all_suites(build):
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout)
    return {test["name"]: Suite(test, build) for test in tests}


def record_reach(suite, longest):
    """What the suite reaches without a change, how long it takes, and whether it can judge at all."""
    with tempfile.NamedTemporaryFile(prefix="mutate-") as record:
        record.truncate(RECORD_BYTES)
        passed, seconds = suite.run(longest, FACET_MUTANT_RECORD=record.name)
        record.seek(0)
        reached = [k for k, seen in enumerate(record.read()) if seen]
    return {"stamp": suite.stamp(), "passed": passed, "seconds": round(seconds, 2), "reached": reached}


def is_recorded(suite, record, longest):
    """Whether the record is of this suite, and not of one that was cut where it may now go on."""
    return record and record["stamp"] == suite.stamp() and (record["passed"] or record["seconds"] >= longest)


def judge(k, suites, reach, known, limit):
    """The suite that notices change k (None: none does) and the stamps of those that did not."""
    passed = dict(known)
    able = [name for name, r in reach.items() if r["passed"] and k in r["reached"]]
    for name in sorted(able, key=lambda each: reach[each]["seconds"]):
        if passed.get(name) == reach[name]["stamp"]:
            continue
        if not suites[name].run(limit + 8 * reach[name]["seconds"], FACET_MUTANT=str(k))[0]:
            return name, passed
        passed[name] = reach[name]["stamp"]
    return None, passed
