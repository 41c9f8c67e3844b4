"""Vectors out of the suites of the GFX12 instructions: as recorded.py, from what tests/gfx12/record.c writes. A check belongs to the
instruction before it, or to several of them when it compares."""
import os

import recorded
from gfx12_case import Case

FILES = "gfx12_examples gfx12_intersect".split()
MOST = 3   # of the same case with the same rows


def number(text):
    return f"{int(text, 16):#010x}"


def vector(name, call, result):
    kind, profile, sense, base, mask, *rest = call
    r, (pointer, second, extent), ray, node = rest[:4], rest[4:7], rest[7:13], rest[13:]
    v = {"name": name, "node": [number(w) for w in node]}
    if kind == "dual":
        v |= {"instruction": "image_bvh_dual_intersect_ray", "node_pointers": [number(pointer), number(second)]}
    else:
        v |= {"node_pointer": int(pointer, 16)}
    v |= {"resource": [number(w) for w in r], "ray_extent": number(extent), "instance_mask": int(mask, 16),
          "origin": [number(w) for w in ray[:3]], "direction": [number(w) for w in ray[3:]]}
    if int(base, 16):
        v["bvh_base"] = f"{int(base, 16):#x}"
    if profile != "silicon":
        v["profile"] = profile
    if sense != "hw":
        v["opaque_sense"] = sense
    v["expected"] = [number(w) for w in result[:10]]
    v["expected_origin"] = [number(w) for w in result[10:13]]
    v["expected_direction"] = [number(w) for w in result[13:16]]
    return v


def parse(path):
    """(case, n, rows, call, result)"""
    name, ids, calls, found = "", "", [], []
    with open(path) as f:
        for line in f:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "case":
                name, _, ids = rest.partition("\t")
                calls = []
            elif word == "vector":
                calls.append([rest.split(), None, set()])
            elif word == "result":
                calls[-1][1] = rest.split()
            elif word.startswith("check"):
                rows, _, text = line.rstrip("\n").partition("\t")
                if not recorded.HOST.search(text):
                    for call in calls[-1:]:
                        call[2].update(rows.split()[1:] or ids.split())
            elif word == "end" and rest == "pass":
                found += [(name, n, c[2], c[0], c[1]) for n, c in enumerate(calls, 1) if c[1] is not None and c[2]]
    return found


def add(suite, folder):
    for name in FILES:
        path = os.path.join(folder, f"test_{name}.log")
        used = {}
        for case, n, rows, call, result in parse(path) if os.path.exists(path) else []:
            key = (case, tuple(sorted(rows)))
            used[key] = used.get(key, 0) + 1
            if used[key] <= MOST:
                full = f"gfx12/recorded/{name[6:]}/{case}-{n}"
                suite.add(Case(full, sorted(rows), "reference-run", vector(f"{case}-{n}", call, result)))
