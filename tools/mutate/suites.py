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
MEMORY = 64 << 30  # of addresses: a changed loop may ask for all there is; a suite makes memories of 16 GiB


class Suite:
    def __init__(self, name, command, env, folder, files=()):
        self.name, self.command, self.env, self.folder = name, command, env, folder
        # What a suite is made of: its program or script, and the files that it is given.
        self.parts = files or [part for part in command if os.path.isfile(part) and not part.endswith("/python3")]

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
    return {test["name"]: Suite(test["name"], test["cmd"], test["env"], test["workdir"] or build) for test in tests}


def write_cases(source, build, log):
    """Writes the cases of conformance/ anew; their folder, None in a tree without cases."""
    script = os.path.join(source, "tools/conformance.sh")
    if not os.path.exists(script):
        return None
    subprocess.run([script, build], check=True, stdout=log, stderr=log, preexec_fn=set_limits)
    return os.path.join(build, "conformance")


def portable_suites(folder, build):
    """The portable cases of a folder, run on the changed program, as a suite for each of their folders."""
    with open(os.path.join(folder, "suite.json")) as f:
        cases = json.load(f)["cases"]
    files = {}
    for case in cases:
        path = os.path.join(folder, case["file"])
        inside = [os.path.join(path, name) for name in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
        files.setdefault(os.path.dirname(case["name"]), []).extend(
            [os.path.join(folder, case["signature"])] + [name for name in inside if os.path.isfile(name)])
    return {f"conformance/{part}": Suite(f"conformance/{part}", [os.path.join(build, "facet"), "conform", "--suite", folder,
                                                                 "--case", part + "/", "--threads", "1"], {}, build, each)
            for part, each in files.items()}


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
    able = [name for name in suites if reach[name]["passed"] and k in reach[name]["reached"]]
    for name in sorted(able, key=lambda each: reach[each]["seconds"]):
        if passed.get(name) == reach[name]["stamp"]:
            continue
        if not suites[name].run(limit + 8 * reach[name]["seconds"], FACET_MUTANT=str(k))[0]:
            return name, passed
        passed[name] = reach[name]["stamp"]
    return None, passed
