#!/usr/bin/env python3
"""Runs the program on a host that fails (faults.c): one call after the other is refused, and each time the program must
either say so and end with exit code 2, or do its whole job as if nothing had happened. Never a crash, a hang, an answer
with something missing, half a file or a file that nobody asked for.

    tests/faults/run.py --facet build/facet --command "bvh why" --function malloc --all
    tests/faults/run.py --facet build/facet --samples 5 --seed 7

The suite (test_faults.py) uses the same functions; what it prints about a failure is a line to run here.
"""
import argparse
import concurrent.futures
import os
import queue
import random
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import rows

SITES = ["malloc", "mmap", "open", "read", "write", "fsync", "rename", "close", "fork", "pthread_create", "ftruncate",
         "mkdir", "socket", "pipe", "poll", "stat", "lseek", "dup", "confine", "chmod", "unlink", "wait"]  # as in faults.c
PROCESSES = ["main", "child"]
TRANSPARENT = ["short", "interrupted"]  # modes in which nothing fails, if one asks again
# What refuses once may be asked again; a host that says EINTR for ever does not exist.
NOT_FOR_EVER = {"wait"}
SECONDS = 120  # far more than any row needs on a busy host


class Fault:
    """What goes wrong: the `at`-th call of `site` in `process`."""

    def __init__(self, site, at, mode="once", process="main"):
        self.site, self.at, self.mode, self.process = site, at, mode, process

    def __str__(self):
        return f"{self.site}:{self.at}:{self.mode}:{self.process}"


class Result:
    """How a run ended: exit code (None after SECONDS), output, the files that were changed, and what was counted."""

    def __init__(self, code, out, err, files, calls, failed):
        self.code, self.out, self.err, self.files = code, out, err, files
        self.calls, self.failed = calls, failed


class Bench:
    """A program, the library that fails, and folders with the rows' inputs, one for each run at a time."""

    def __init__(self, facet, library, source, jobs):
        self.facet, self.library = os.path.abspath(facet), os.path.abspath(library)
        self.base = tempfile.TemporaryDirectory(prefix="faults")
        self.page = os.path.join(source, "tests/view/page.html")
        self.inputs = os.path.join(self.base.name, "inputs")
        os.mkdir(self.inputs)
        rows.make_inputs(self.facet, source, self.inputs)
        self.folders = queue.Queue()
        for job in range(jobs):
            self.folders.put(os.path.join(self.base.name, f"work{job}"))

    def run(self, row, fault, stack=None):
        """`stack` is a soft limit in KiB."""
        folder = self.folders.get()
        try:
            if not os.path.exists(folder):
                shutil.copytree(self.inputs, folder)
            before = marks(folder)
            result = self.run_in(folder, row, fault, stack)
            result.files = changes(folder, before)
            if result.files:
                shutil.rmtree(folder)
            return result
        finally:
            self.folders.put(folder)

    def run_in(self, folder, row, fault, stack):
        line, options = row
        board = folder + ".board"
        environment = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": self.library, "FACET_FAULT": str(fault),
                       "FACET_FAULT_BOARD": board, "FACET_PAGE": self.page, "TMPDIR": folder, "MALLOC_PERTURB_": "165",
                       # glibc ends a process that has no memory for the thread-local data of a loaded library.
                       "LD_LIBRARY_PATH": os.path.join(folder, "no-opencl")}
        if os.path.exists(board):
            os.remove(board)
        limited = [] if stack is None else ["/bin/sh", "-c", f'ulimit -S -s {stack} && exec "$@"', "sh"]
        process = subprocess.Popen([*limited, self.facet, *shlex.split(line)], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, start_new_session=True)
        try:
            if options.get("port"):
                out, err = debugger(process, options["stdin"])
            else:
                out, err = process.communicate(options.get("stdin", b""), SECONDS)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = None
        with open(board, "rb") as file:
            numbers = struct.unpack(f"={2 * len(SITES) + 1}I", file.read())
        calls = {(where, site): numbers[p * len(SITES) + s]
                 for p, where in enumerate(PROCESSES) for s, site in enumerate(SITES)}
        return Result(code, out, err, {}, calls, numbers[-1])


def debugger(process, session):
    """Plays the debugger: everything that the program answers is its output."""
    process.stdin.close()
    process.stdin = None
    first = process.stderr.readline()
    heard = b""
    match = re.search(rb":(\d+)$", first.strip())
    if match:
        try:
            with socket.create_connection(("127.0.0.1", int(match.group(1))), SECONDS) as line:
                line.sendall(session)
                while piece := line.recv(65536):
                    heard += piece
        except ConnectionError:
            pass  # the program gave up; it must say why
        except TimeoutError:
            raise subprocess.TimeoutExpired("facet gdb", SECONDS) from None
        first = b""  # the port is another one each time
    out, err = process.communicate(timeout=SECONDS)
    return heard + out, first + err


def marks(folder):
    """Path -> what changes when somebody writes there, for everything below the folder."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            info = os.lstat(path)
            found[os.path.relpath(path, folder)] = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode)
            if name in folders:
                found[os.path.relpath(path, folder)] = info.st_mode
    return found


def changes(folder, before):
    """Path -> bytes of what was written since then; None for what has gone."""
    after = marks(folder)
    found = {path: None for path in before if path not in after}
    for path in after:
        if after[path] != before.get(path):
            whole = os.path.join(folder, path)
            found[path] = b"folder" if os.path.isdir(whole) else open(whole, "rb").read()
    return found


def same_file(row, path, good, got):
    """Pictures that show times, and numbers in reports, differ from run to run."""
    if not row[1].get("times") or good == got:
        return good == got
    if path.endswith(".png"):
        return "--machine all" in row[0] and good[:24] == got[:24] and got.endswith(b"IEND\xaeB`\x82")
    return path.endswith(".json") and without_numbers(good) == without_numbers(got)


def without_numbers(text):
    return re.sub(rb" *-?[0-9][-+.0-9e]*", b" #", text).replace(b"threads", b"thread")


def same_text(row, good, got):
    return good == got or (row[1].get("times") and without_numbers(good) == without_numbers(got))


def is_answer(row, good, got):
    """The client of the command was told."""
    answer = row[1].get("answer")
    return answer is not None and got.count(answer) > good.count(answer)


def complaint(row, good, got, must_succeed=False):
    """What is wrong with a run, or None. `good` is the run without faults."""
    if got.code is None:
        return f"still runs after {SECONDS} s"
    if got.code < 0:
        return f"killed by signal {-got.code}"
    for path, data in got.files.items():
        if path in row[1].get("loose", []):
            continue
        if path not in good.files:
            return f"{'removed' if data is None else 'left'} {path}"
        if not same_file(row, path, good.files[path], data):
            return f"left {path} with {len(data)} bytes that differ from the {len(good.files[path])} right ones"
    if got.code == row[1].get("told") and not must_succeed:
        return None
    if got.code == 2 and not must_succeed:
        return None if got.err.strip() or b'"error' in got.out else "exit code 2 without a message"
    if got.code != good.code:
        return f"exit code {got.code} in place of {good.code}"
    if not must_succeed and is_answer(row, good.out, got.out):
        return None
    if not same_text(row, good.out, got.out):
        return f"other output ({len(got.out)} bytes, {len(good.out)} are right), exit code {got.code}"
    if not set(without_numbers(good.err).splitlines()) <= set(without_numbers(got.err).splitlines()):
        return f"other messages, exit code {got.code}"
    missing = sorted(set(good.files) - set(got.files))
    return f"{missing[0]} is missing, exit code {got.code}" if missing else None


def faults_of(good, choose, functions=None, modes=("once", "ever"), processes=None):
    """The faults to try for a row whose fault-free run is `good`; choose(n, mode) gives some of 1 to n."""
    for process in processes or PROCESSES:
        for site in functions or SITES:
            for mode in modes:
                if mode == "ever" and site in NOT_FOR_EVER:
                    continue
                for at in choose(good.calls[process, site], mode):
                    yield Fault(site, at, mode, process)


def try_rows(bench, wanted, choose, jobs, functions=None, modes=("once", "ever"), transparent=True, report=print,
             processes=None):
    """Tries every fault on every row; the number of runs and the list of (row, fault, complaint)."""
    count, bad = 0, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        goods = list(pool.map(lambda row: bench.run(row, Fault("malloc", 0)), wanted))
        work = []
        for row, good in zip(wanted, goods):
            if good.code not in (0, 1):
                bad.append((row, None, f"fails without any fault: {good.err.decode(errors='replace')}"))
                report(bad[-1])
                continue
            work += [(row, good, fault, False)
                     for fault in faults_of(good, lambda n, mode, r=row: choose(r, n, mode), functions, modes, processes)]
            if transparent:
                work += [(row, good, Fault("read", 0, mode, process), True)
                         for mode in TRANSPARENT for process in processes or PROCESSES
                         if process == "main" or good.calls["child", "malloc"]]
        def attempt(item):
            row, good, fault, must_succeed = item
            got = bench.run(row, fault)
            return row, fault, complaint(row, good, got, must_succeed), got
        for row, fault, why, got in pool.map(attempt, work):
            count += 1
            if why:
                bad.append((row, fault, why))
                report((row, fault, why), got)
    return count, bad


def reproduction(row, fault):
    return (f"tests/faults/run.py --facet build/facet --command {shlex.quote(row[0])} "
            + (f"--fault {fault}" if fault else ""))


def sampler(samples, seed):
    """A choose() for try_rows: at most `samples` of the calls, drawn anew for each row and site from the seed."""
    def choose(row, count, mode):
        if count <= samples:
            return range(1, count + 1)
        return sorted(random.Random(f"{seed} {row[0]} {count} {mode}").sample(range(1, count + 1), samples))
    return choose


def library_of(facet):
    return os.path.join(os.path.dirname(os.path.abspath(facet)), "tests", "faults", "faults.so")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="Sites: " + " ".join(SITES))
    parser.add_argument("--facet", required=True, help="the program, with tests/faults/faults.so beside it")
    parser.add_argument("--library", help="where faults.so is, if not there")
    parser.add_argument("--command", default="", help="only rows that begin with this")
    parser.add_argument("--function", action="append", choices=SITES, help="only this site; repeatable")
    parser.add_argument("--mode", action="append", choices=["once", "ever"], help="only this mode")
    parser.add_argument("--process", action="append", choices=PROCESSES, help="only calls of this process")
    parser.add_argument("--all", action="store_true", help="every call")
    parser.add_argument("--samples", type=int, default=10, help="calls per row, site and mode (default 10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--fault", help="one fault SITE:N:MODE:PROCESS; shows what the run printed")
    parser.add_argument("--count", action="store_true", help="only say how often each row calls what")
    args = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    bench = Bench(args.facet, args.library or library_of(args.facet), source, args.jobs)
    wanted = [row for row in rows.ROWS if row[0] == args.command] or [r for r in rows.ROWS if r[0].startswith(args.command)]
    if args.count or args.fault:
        for row in wanted:
            got = bench.run(row, args.fault or Fault("malloc", 0))
            if args.count:
                print(row[0], {f"{p}:{s}": n for (p, s), n in got.calls.items() if n})
            else:
                why = complaint(row, bench.run(row, Fault("malloc", 0)), got, args.fault.split(":")[2] in TRANSPARENT)
                print(f"facet {row[0]}\nexit code {got.code}, {got.failed} calls failed\n{got.out.decode(errors='replace')}"
                      f"{got.err.decode(errors='replace')}verdict: {why or 'good'}")
        return
    sample = sampler(1 << 40 if args.all else args.samples, args.seed)
    count, bad = try_rows(bench, wanted, sample, args.jobs, args.function, args.mode or ("once", "ever"),
                          not args.function and not args.mode, processes=args.process,
                          report=lambda finding, _=None: print(f"{reproduction(*finding[:2])}\n    {finding[2]}", flush=True))
    print(f"{count} faults, {len(bad)} ended badly (seed {args.seed})")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
