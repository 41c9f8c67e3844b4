"""What came out, as text and as JSON, and the survivors that somebody has judged."""
import json
import os

VERDICTS = ("equivalent", "speed", "sanitizer")


def squeezed(text):
    return " ".join(text.split())


def key_of(c):
    """Names a change by its code, so that it is found again after lines moved."""
    return c["file"], c["function"], squeezed(c["old"]), squeezed(c["new"])


def read_rows(path, columns):
    """The rows of a table with tabs; `#` begins a comment."""
    rows = []
    if not os.path.exists(path):
        return rows
    with open(path) as f:
        for n, line in enumerate(f, 1):
            if line.strip() and not line.startswith("#"):
                fields = line.rstrip("\n").split("\t")
                if len(fields) != columns:
                    raise SystemExit(f"{path}:{n}: {len(fields)} columns; expected {columns}, separated by tabs")
                rows.append((n, fields))
    return rows


def read_judged(path):
    """{key: (verdict, reason)}"""
    judged = {}
    for n, (file, function, old, new, verdict, reason) in read_rows(path, 6):
        if verdict not in VERDICTS or not reason:
            raise SystemExit(f"{path}:{n}: verdict '{verdict}'; expected one of {', '.join(VERDICTS)}, and a reason")
        judged[file, function, squeezed(old), squeezed(new)] = verdict, reason
    return judged


def outcome_of(c, result, judged):
    if result is None:
        return "open"
    if result["killer"]:
        return "killed"
    return judged.get(key_of(c), ("survived", ""))[0]


def table(mutants, results, judged):
    """{room: {outcome: count}}, with `all` as the last."""
    rooms = {}
    for k, c in mutants.items():
        if not c.get("dropped"):
            outcome = outcome_of(c, results.get(k), judged)
            for room in (c["room"], "all"):
                row = rooms.setdefault(room, dict.fromkeys(("killed", "survived", *VERDICTS, "open"), 0))
                row[outcome] += 1
    rooms["all"] = rooms.pop("all", {})
    return rooms


def score_of(row):
    judged = row["killed"] + row["survived"]
    return 100 * row["killed"] / judged if judged else None


def write(folder, settings, mutants, results, reach, judged):
    rooms = table(mutants, results, judged)
    head = "room killed survived equivalent speed sanitizer open score".split()
    lines = ["{:12}".format(head[0]) + "".join(f"{h:>12}" for h in head[1:])]
    for room, row in rooms.items():
        if row:
            score = score_of(row)
            lines.append(f"{room:12}" + "".join(f"{row[h]:12}" for h in head[1:-1])
                         + f"{'-' if score is None else f'{score:.1f} %':>12}")
    left_out = sorted(name for name, r in reach.items() if not r["passed"])
    lines += ["", f"{sum(bool(c.get('dropped')) for c in mutants.values())} changes did not compile; "
              f"{len(reach) - len(left_out)} suites judge, left out (too long, or failing without a change): "
              f"{' '.join(left_out) or 'none'}", ""]
    survivors = []
    for k, c in mutants.items():
        if not c.get("dropped") and outcome_of(c, results.get(k), judged) == "survived":
            reached = [name for name, r in reach.items() if int(k) in r["reached"]]
            survivors.append({**{f: c[f] for f in ("room", "file", "line", "function", "kind", "old", "new")},
                              "id": int(k), "reached_by": reached})
            change = f"- {squeezed(c['old'])}\n    + {squeezed(c['new']) or '(nothing)'}"
            lines.append(f"{c['file']}:{c['line']}: {c['function']}: {c['kind']} (change {k}, "
                         f"reached by {len(reached)} suites)\n    {change}")
    text = "\n".join(lines) + "\n"
    with open(os.path.join(folder, "report.txt"), "w") as f:
        f.write(text)
    whole = {"settings": settings, "rooms": {r: {**row, "score": score_of(row)} for r, row in rooms.items() if row},
             "left_out": left_out, "survivors": survivors,
             "killed": {k: r["killer"] for k, r in results.items() if r["killer"]}}
    with open(os.path.join(folder, "report.json"), "w") as f:
        json.dump(whole, f, indent=1)
    return text
