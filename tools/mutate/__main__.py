"""How much the tests notice: makes small changes to the code and counts those that no suite fails on.

All changes sit behind switches in one build of a copied tree (FOLDER/tree); the work tree is never touched. One pass
without a change records which suite reaches which change; then each change runs the suites that reach it,
shortest first, until one fails, and so with the portable cases of conformance/ by themselves. Ends with both scores of
each room in FOLDER/report.txt and report.json.
"""
import argparse
import json
import os
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

import changes
import report
import suites
import tree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOMS = {"num": ["num"], "rt": ["rt"], "gfx": ["gfx"], "raster": ["raster"], "xphmg": ["xphmg"], "tile": ["tile"],
         "gfx12": ["gfx12"], "bvh": ["bvh"], "isa": ["isa", "assembler", "object"], "mem": ["mem", "machine"]}


def arguments():
    p = argparse.ArgumentParser(prog="mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=300, help="how many changes to draw that compile (default 300)")
    p.add_argument("--seed", type=int, default=1, help="which ones (default 1)")
    p.add_argument("--rooms", help=f"rooms to draw from, or with --resume to go on with: {', '.join(ROOMS)} (default all), named")
    p.add_argument("--suites", default="", help="only suites whose name matches this pattern judge")
    p.add_argument("--cases", help="only the portable cases in this folder judge (one that make conformance wrote), and only the "
                                   "program is built")
    p.add_argument("--only", default="", help="go on only with changes whose 'file:line: function' matches this pattern")
    p.add_argument("--longest", type=float, default=20, help="suites that take longer, in seconds, do not judge (default 20)")
    p.add_argument("--limit", type=float, default=10,
                   help="seconds that a suite gets besides eight times what it took; a hang is noticed (default 10)")
    p.add_argument("--named", default=os.path.join(HERE, "named.tsv"), help="table of changes that are always made")
    p.add_argument("--judged", default=os.path.join(HERE, "judged.tsv"), help="table of survivors that somebody has judged")
    p.add_argument("--unseen", default=os.path.join(HERE, "unseen.tsv"),
                   help="table of code that no program of a machine can see: conformance/ need not notice its changes")
    p.add_argument("-j", "--jobs", type=int, default=2)
    p.add_argument("--resume", action="store_true",
                   help="go on: what was killed stays so; survivors meet only tests that are new or changed")
    p.add_argument("--source", default=os.path.join(HERE, "../.."), help="the source tree")
    p.add_argument("--folder", default="build-mutate", help="where all is made (default build-mutate)")
    return p.parse_args()


def files_of(source, rooms):
    """{room: files}. What guest programs are made of too is left alone: the switch is no part of a guest."""
    tracked = tree.source_files(source)
    guest = ""
    for name in tracked:
        if name.startswith("guest/"):
            with open(os.path.join(source, name), errors="replace") as f:
                guest += f.read()
    found = {}
    for room in rooms:
        inside = re.compile(rf"src/({'|'.join(ROOMS.get(room, [room]))})/.*\.(c|h|inc)$")
        found[room] = [n for n in tracked if inside.match(n) and n.removeprefix("src/") not in guest]
    return found


class Draw:
    """The plan, {k: change}: the named ones first, then of each room as many as asked for, and as many of each kind within it."""

    def __init__(self, source, options):
        self.source, self.texts, self.plan, self.taken = source, {}, {}, {}
        for n, (file, function, old, new) in report.read_rows(options.named, 4):
            c = os.path.exists(os.path.join(source, file)) and changes.named_change(file, self.text_of(file), function, old, new)
            if not c:
                print(f"{options.named}:{n}: {function} in {file} does not hold this code once: {old}", file=sys.stderr)
            elif self.is_free(file, c):
                self.add("named", file, c)
        rooms = options.rooms.split(",") if options.rooms else list(ROOMS)
        self.wanted, self.kinds = {}, {}
        for at, (room, files) in enumerate(files_of(source, rooms).items()):
            self.wanted[room] = options.count * (at + 1) // len(rooms) - options.count * at // len(rooms)
            rng, kinds = random.Random(f"{options.seed} {room}"), {}
            for file in files:
                for c in changes.changes_of(file, self.text_of(file)):
                    kinds.setdefault(c.kind, []).append((file, c))
            for each in kinds.values():
                rng.shuffle(each)
            self.kinds[room] = kinds

    def text_of(self, file):
        if file not in self.texts:
            with open(os.path.join(self.source, file)) as f:
                self.texts[file] = f.read()
        return self.texts[file]

    def is_free(self, file, c):
        return all(c.last <= a or b <= c.first for a, b in self.taken.get(file, []))

    def add(self, room, file, c):
        self.taken.setdefault(file, []).append((c.first, c.last))
        self.plan[str(len(self.plan) + 1)] = {"room": room, "file": file, **c._asdict(),
                                              "from_line": self.text_of(file).count("\n", 0, c.first) + 1}

    def fill(self):
        """Draws until each room has as many that were not dropped as it should, or nothing is left."""
        for room, kinds in self.kinds.items():
            want = self.wanted[room] - sum(c["room"] == room and not c.get("dropped") for c in self.plan.values())
            while want > 0 and any(kinds.values()):
                for each in kinds.values():
                    while want and each:
                        file, c = each.pop()
                        if self.is_free(file, c):
                            self.add(room, file, c)
                            want -= 1
                            break


def save(path, value):
    with open(path + ".new", "w") as f:
        json.dump(value, f)
    os.replace(path + ".new", path)


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return json.load(f)


def build(source, copy, plan, options, log):
    """Builds; False when changes that do not compile were dropped instead."""
    tree.write_mutants(source, copy, plan)
    targets = ["facet"] if options.cases else []
    done, refused = tree.compile_tree(copy, os.path.join(copy, "build"), targets, options.jobs, log)
    if not done and not tree.drop_refused(plan, refused):
        raise SystemExit(f"the tree does not build, and no change is to blame: {log.name}")
    return done


def main():
    options = arguments()
    source, folder = os.path.abspath(options.source), os.path.abspath(options.folder)
    copy, plan_path, reach_path, results_path = (os.path.join(folder, n) for n in
                                                 ("tree", "plan.json", "reach.json", "results.json"))
    judged, unseen = report.read_judged(options.judged), report.read_unseen(options.unseen)
    settings = {"count": options.count, "seed": options.seed, "rooms": options.rooms}
    os.makedirs(copy, exist_ok=True)
    results, reach, drawn = {}, {}, None
    if options.resume and os.path.exists(plan_path):
        plan, results, reach = load(plan_path), load(results_path), load(reach_path)
        settings, plan = plan["settings"], plan["changes"]
        names = tree.source_files(source)
        changed = {c["file"] for c in plan.values()} | {"src/base/meson.build"}
        old = tree.first_difference(source, os.path.join(folder, "source"), sorted(changed))
        if old:
            raise SystemExit(f"{old} has changed since these changes were drawn; start anew, without --resume")
        tree.copy_files(source, copy, [n for n in names if n not in changed])
    else:
        drawn = Draw(source, options)
        drawn.fill()
        plan, names = drawn.plan, tree.source_files(source)
        tree.copy_files(source, os.path.join(folder, "source"), [n for n in names if n.startswith("src/")])
        changed = {c["file"] for c in plan.values()} | {"src/base/meson.build"}
        tree.copy_files(source, copy, [n for n in names if n not in changed])
    tree.remove_others(copy, names)
    with open(os.path.join(folder, "build.log"), "w") as log:  # from the copy: the tree may change meanwhile
        while not build(os.path.join(folder, "source"), copy, plan, options, log):
            if drawn:
                drawn.fill()  # others in place of those that were dropped
    save(plan_path, {"settings": settings, "changes": plan})
    living = [k for k, c in plan.items() if not c.get("dropped")]
    print(f"{len(living)} changes in one build, {len(plan) - len(living)} did not compile", flush=True)

    usual, cases = {}, options.cases
    if not cases:
        with open(os.path.join(folder, "conformance.log"), "w") as log:
            cases = suites.write_cases(copy, os.path.join(copy, "build"), log)
        usual = suites.all_suites(os.path.join(copy, "build"))
    portable = suites.portable_suites(os.path.abspath(cases), os.path.join(copy, "build")) if cases else {}
    usual, portable = ({name: s for name, s in each.items() if re.search(options.suites, name)} for each in (usual, portable))
    there = {**usual, **portable}
    with ThreadPoolExecutor(options.jobs) as pool:
        new = [s for s in there.values() if not suites.is_recorded(s, reach.get(s.name), options.longest)]
        waiting = {pool.submit(suites.record_reach, s, options.longest): s.name for s in new}
        for done in as_completed(waiting):
            reach[waiting[done]] = done.result()
            save(reach_path, reach)
        reach_here = {name: {**r, "passed": r["passed"] and r["seconds"] <= options.longest}
                      for name, r in reach.items() if name in there}
        print(f"{len(new)} suites recorded, {sum(r['passed'] for r in reach_here.values())} judge", flush=True)
        for key, judges in (("killer", usual), ("portable", portable)):
            order = [k for k in living if report.is_open(plan[k], results.get(k), key, judged, unseen)
                     and (not options.resume or not options.rooms or plan[k]["room"] in options.rooms.split(","))
                     and re.search(options.only, "{file}:{line}: {function}".format(**plan[k]))]
            random.Random(options.seed).shuffle(order)  # stopped early, it has still seen all rooms
            order.sort(key=lambda k: (plan[k]["kind"] != "named", key in results.get(k, {})))
            waiting = {pool.submit(suites.judge, int(k), judges, reach_here, results.get(k, {}).get("passed", {}),
                                   options.limit): k for k in order if judges}
            for n, done in enumerate(as_completed(waiting), 1):
                k = waiting[done]
                killer, passed = done.result()
                results.setdefault(k, {}).update({key: killer, "passed": passed})
                save(results_path, results)
                c = plan[k]
                print(f"[{n}/{len(order)}] {c['file']}:{c['line']}: {c['kind']}: {killer or 'SURVIVED'}", flush=True)
    print(report.write(folder, settings, plan, results, {**reach, **reach_here}, judged, unseen), end="")


if __name__ == "__main__":
    main()
