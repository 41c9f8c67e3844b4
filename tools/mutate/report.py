"""What came out, as text and as JSON, the survivors that somebody has judged, and what no program of a machine can see."""
import fnmatch
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


def read_unseen(path):
    """[(pattern of files, pattern of functions)]; the reason is for readers."""
    return [(file, function) for _, (file, function, _) in read_rows(path, 3)]


def is_unseen(c, unseen):
    return any(fnmatch.fnmatchcase(c["file"], file) and fnmatch.fnmatchcase(c["function"] or "", function)
               for file, function in unseen)


def outcome_of(c, result, judged):
    if result and (result.get("killer") or result.get("portable")):
        return "killed"
    if not result or "killer" not in result:
        return "open"
    return judged.get(key_of(c), ("survived", ""))[0]


def is_portable(c, judged, unseen):
    """Whether conformance/ alone should notice the change."""
    return key_of(c) not in judged and not is_unseen(c, unseen)


def is_open(c, result, key, judged, unseen):
    """Whether suites (key `killer`) or portable cases (`portable`) have still to look at the change."""
    if key == "portable":
        return is_portable(c, judged, unseen) and not (result or {}).get("portable")
    return outcome_of(c, result, judged) in ("open", "survived")


COUNTED = ("killed", "survived", *VERDICTS, "open", "seen", "portable")


def table(mutants, results, judged, unseen):
    """{room: {outcome: count}}; `all` is what was drawn, without the named ones. `seen`: what portable cases were asked for."""
    rooms = {}
    for k, c in mutants.items():
        if not c.get("dropped"):
            result = results.get(k)
            for room in (c["room"], "all")[:1 if c["room"] == "named" else 2]:
                row = rooms.setdefault(room, dict.fromkeys(COUNTED, 0))
                row[outcome_of(c, result, judged)] += 1
                if is_portable(c, judged, unseen) and "portable" in (result or {}):
                    row["seen"] += 1
                    row["portable"] += bool(result["portable"])
    return {room: rooms[room] for room in sorted(rooms, key=lambda r: (r == "all", r == "named"))}


def share(part, whole):
    return 100 * part / whole if whole else None


def score_of(row):
    return share(row["killed"], row["killed"] + row["survived"])


def percent(value):
    return "-" if value is None else f"{value:.1f} %"


def shown(k, c, more):
    return (f"{c['file']}:{c['line']}: {c['function']}: {c['kind']} (change {k}, {more})\n"
            f"    - {squeezed(c['old'])}\n    + {squeezed(c['new']) or '(nothing)'}")


def record(k, c, **more):
    return {**{f: c[f] for f in ("room", "file", "line", "function", "kind", "old", "new")}, "id": int(k), **more}


def write(folder, settings, mutants, results, reach, judged, unseen):
    rooms = table(mutants, results, judged, unseen)
    lines = ["{:8}".format("room") + "".join(f"{h:>11}" for h in (*COUNTED[:6], "score", *COUNTED[6:], "score"))]
    for room, row in rooms.items():
        lines.append(f"{room:8}" + "".join(f"{row[h]:11}" for h in COUNTED[:6]) + f"{percent(score_of(row)):>11}"
                     + "".join(f"{row[h]:11}" for h in COUNTED[6:]) + f"{percent(share(row['portable'], row['seen'])):>11}")
    left_out = sorted(name for name, r in reach.items() if not r["passed"])
    lines += ["", f"{sum(bool(c.get('dropped')) for c in mutants.values())} changes did not compile; "
              f"{len(reach) - len(left_out)} suites judge, left out (too long, or failing without a change): "
              f"{' '.join(left_out) or 'none'}", ""]
    survivors, missed, excused = [], [], []
    for k, c in mutants.items():
        result = results.get(k, {})
        if not c.get("dropped") and outcome_of(c, result, judged) == "survived":
            reached = [name for name, r in reach.items() if int(k) in r["reached"]]
            survivors.append(record(k, c, reached_by=reached))
            lines.append(shown(k, c, f"reached by {len(reached)} suites"))
        elif not c.get("dropped") and outcome_of(c, result, judged) in VERDICTS:
            verdict, reason = judged[key_of(c)]
            excused.append(record(k, c, verdict=verdict, reason=reason))
        elif (not c.get("dropped") and result.get("killer") and "portable" in result and not result["portable"]
              and is_portable(c, judged, unseen)):
            missed.append(record(k, c, killer=result["killer"]))
    if excused:
        lines += ["", f"{len(excused)} that no test can or should notice:"]
        lines += [shown(c["id"], c, f"{c['verdict']}: {c['reason']}") for c in excused]
    if missed:
        lines += ["", f"{len(missed)} that suites notice and portable cases do not:"]
        lines += [shown(c["id"], c, f"{c['killer']} does") for c in missed]
    text = "\n".join(lines) + "\n"
    with open(os.path.join(folder, "report.txt"), "w") as f:
        f.write(text)
    whole = {"settings": settings,
             "rooms": {r: {**row, "score": score_of(row), "portable_score": share(row["portable"], row["seen"])}
                       for r, row in rooms.items()},
             "left_out": left_out, "survivors": survivors, "judged": excused, "portable_survivors": missed,
             "killed": {k: r.get("killer") or r.get("portable") for k, r in results.items()
                        if r.get("killer") or r.get("portable")}}
    with open(os.path.join(folder, "report.json"), "w") as f:
        json.dump(whole, f, indent=1)
    return text
