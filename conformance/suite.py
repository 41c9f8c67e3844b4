"""The tree of a suite: cases are collected here and written in one go, in the order of their names.

A case is a folder entry `NAME` below its machine, a list of requirement rows, a source for its expectation and the
words that it must leave (docs/conformance.md). What a kind of case consists of is in hart.py, tile_case.py and gfx12_case.py.
"""
import json
import os
import shutil

SOURCES = ("exact", "silicon", "worked-example", "reference-run")


def write_contents(folder, entries):
    with open(os.path.join(folder, "suite.json"), "w") as f:
        f.write('{"format": 1, "cases": [\n')
        f.write(",\n".join(json.dumps(e) for e in entries))
        f.write("\n]}\n")


class Suite:
    def __init__(self):
        self.cases = []
        self.names = set()

    def add(self, case):
        if case.name in self.names:
            raise ValueError(f"two cases are called {case.name}")
        if case.source not in SOURCES:
            raise ValueError(f"{case.name}: source {case.source}")
        if not case.rows:
            raise ValueError(f"{case.name} names no row")
        self.names.add(case.name)
        self.cases.append(case)

    def write(self, folder, tools, rows_file):
        entries = []
        for case in sorted(self.cases, key=lambda c: c.name):
            path = os.path.join(folder, case.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = case.write(path, tools)
            signature = case.name + ".signature"
            with open(os.path.join(folder, signature), "w") as f:
                words, labels = case.words(), case.labels()
                labels = (labels + [""] * len(words))[:len(words)]
                f.write("".join(f"{word:08x} // {label}\n" if label else f"{word:08x}\n" for word, label in zip(words, labels)))
            entry = {"name": case.name, "kind": case.kind, "source": case.source, "rows": sorted(set(case.rows))}
            if case.config != "full":
                entry["config"] = case.config
            entry["file"] = case.name + file
            entry["signature"] = signature
            entries.append(entry)
        shutil.copyfile(rows_file, os.path.join(folder, "rows.tsv"))
        write_contents(folder, entries)
        return entries
