#!/usr/bin/env python3
"""Writes the conformance suite: generate.py --facet build/facet --out build/conformance [--base ADDRESS]

The cases are described by the modules below xphmg/, tile/ and gfx12/; the same sources give the same bytes. Facet is used as
an assembler only, but for the cases whose source is `reference-run`.
"""
import argparse
import contextlib
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import recorded  # noqa: E402
import recorded_gfx12  # noqa: E402
import recorded_tile  # noqa: E402
from suite import Suite, write_contents  # noqa: E402
from tables import SPEC  # noqa: E402


class Tools:
    """What writers of cases need: the assembler, run beside them and waited for at the end."""

    def __init__(self, facet, base):
        self.facet, self.base = facet, base
        self.pool = ThreadPoolExecutor(os.cpu_count())
        self.work = []

    def assemble(self, source, output, isa, form="elf", base=None):
        words = [self.facet, "as", source, "--isa", isa, "--format", form, "-o", output, "--quiet",
                 "--base", str(base if base is not None else self.base)]
        self.work.append(self.pool.submit(subprocess.run, words, capture_output=True, text=True))

    def finish(self):
        for job in self.work:
            done = job.result()
            if done.returncode != 0:
                sys.exit(f"generate.py: {' '.join(done.args)}\n{done.stderr}")


def meet(a, b):
    return a.startswith(b) or b.startswith(a)


def leave_out(folder, entries, facet):
    """Recorded cases that Facet itself does not pass as a whole machine depend on their test bench: they go."""
    run = subprocess.run([facet, "conform", "--suite", folder, "--case", "/recorded/", "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"generate.py: {run.stderr}")
    bad = {c["case"] for c in json.loads(run.stdout)["cases"] if c["verdict"] != "pass"}
    for name in bad:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        for ending in (".s", ".elf", ".json", ".signature"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name + ending))
    write_contents(folder, [e for e in entries if e["name"] not in bad])
    with open(os.path.join(folder, "left-out.txt"), "w") as f:
        f.writelines(name + "\n" for name in sorted(bad))
    return sorted(bad)


def main():
    parser = argparse.ArgumentParser(description="write the conformance suite")
    parser.add_argument("--facet", help="the program, for its assembler")
    parser.add_argument("--out", help="the folder of the suite; what is in it is replaced")
    parser.add_argument("--recorded", help="folder of recorded suites (FACET_TEST_RECORD)")
    parser.add_argument("--only", action="append", metavar="PREFIX", help="cases whose names begin so, such as xphmg/pmask; may be repeated")
    parser.add_argument("--base", default="0x80000000", help="where RAM begins, for programs of the hart")
    parser.add_argument("--list-recorded", action="store_true", help="only print the suites that can be recorded")
    args = parser.parse_args()
    if args.list_recorded:
        print("\n".join(recorded.FILES + recorded_tile.FILES + recorded_gfx12.FILES))
        return
    if not args.facet or not args.out:
        parser.error("expected --facet and --out")
    if not os.path.isdir(SPEC):
        parser.exit(2, f"generate.py: {SPEC}: no such folder; expected the tables of the contract, which expected results are made from\n")
    args.only = args.only or [""]
    suite, tools = Suite(), Tools(os.path.abspath(args.facet), int(args.base, 0))
    for machine in ("xphmg", "tile", "gfx12"):
        for module in sorted(m.name for m in pkgutil.iter_modules([os.path.join(HERE, machine)])):
            part = importlib.import_module(f"{machine}.{module}")
            # a module that is slow says what its cases are called
            if any(meet(name, prefix) for name in getattr(part, "NAMES", [machine]) for prefix in args.only):
                part.add(suite)
    if args.recorded:
        recorded.add(suite, args.recorded)
        recorded_tile.add(suite, args.recorded)
        recorded_gfx12.add(suite, args.recorded)
    suite.cases = [c for c in suite.cases if c.name.startswith(tuple(args.only))]
    making = args.out.rstrip("/") + ".new"
    shutil.rmtree(making, ignore_errors=True)
    os.makedirs(making)
    entries = suite.write(making, tools, os.path.join(HERE, "rows.tsv"))
    tools.finish()
    left = leave_out(making, entries, tools.facet) if args.recorded else []
    shutil.rmtree(args.out, ignore_errors=True)
    os.rename(making, args.out)
    print(f"{len(entries) - len(left)} cases in {args.out}, {len(left)} recorded ones left out")


if __name__ == "__main__":
    main()
