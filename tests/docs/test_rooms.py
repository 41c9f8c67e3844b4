"""The rooms of the house, read from the sources: a function's name says which folder of src/ it lives in, headers can be
included twice, and no folder grows beyond what a newcomer reads in a few days.
"""
import glob
import os
import re

from harness import case, check, check_eq, main

SOURCE = os.environ["FACET_SOURCE"]
MOST_LINES = 8000
CODE = (".c", ".h", ".inc", ".def", ".py", ".S", ".s")

# A definition at the start of a line; what stands before the name may go over several lines.
FUNCTION = re.compile(r"^((?:[A-Za-z_]\w*[ \n*]+)+)(\w+)\([^;{}]*\)\s*\{", re.M)


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def code_of(name):
    return re.sub(r"/\*.*?\*/", "", read(name), flags=re.S)


def files(endings, *folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(SOURCE, folder, "**", "*.*"), recursive=True)):
            if path.endswith(endings):
                yield os.path.relpath(path, SOURCE)


def shared_functions():
    """(file, name) of every function that other files can call: not static, or static and named facet_*, as in headers."""
    for name in files((".c", ".h", ".inc"), "src", "guest/gfx"):
        for before, function in FUNCTION.findall(code_of(name)):
            words = before.split()
            made_by_macro = words[0].isupper() and not function.startswith("facet_")
            if function != "main" and not made_by_macro and ("static" not in words or function.startswith("facet_")):
                yield name, function


def prefixes():
    """Prefix -> folder, from the block of docs/architecture.md."""
    block = re.search(r"^```prefixes\n(.*?)^```", read("docs/architecture.md"), re.M | re.S)
    check(block, "docs/architecture.md has no block of prefixes")
    owner = {}
    for line in block.group(1).splitlines():
        folder, names = line.split(":")
        for prefix in names.split():
            prefix = prefix[:-1] if prefix.endswith("_") else "facet_" + prefix
            check(prefix not in owner, f"docs/architecture.md: {prefix} belongs to {owner.get(prefix)} and to {folder}")
            owner[prefix] = folder
    return owner


def longest_prefix(function, owner):
    words = function.split("_")
    for n in range(len(words), 0, -1):
        if "_".join(words[:n]) in owner:
            return "_".join(words[:n])
    return None


@case()
def a_functions_name_says_where_it_lives():
    owner = prefixes()
    public = set()
    for name in files((".h", ".h.in"), "include/facet"):
        public |= set(re.findall(r"\b(facet_\w+)\(", read(name)))
    bad, used, count = [], set(), 0
    for name, function in shared_functions():
        if function in public:
            continue
        count += 1
        folder = name.removeprefix("src/").split("/")[0]
        prefix = longest_prefix(function, owner)
        if prefix is None or owner[prefix] != folder:
            bad.append(f"{name}: {function} has the prefix of {owner.get(prefix, 'no folder')}, not of {folder}")
        used.add(prefix)
    check(count > 1000, f"only {count} functions were found")
    check(not bad, "\n".join(bad))
    check_eq(set(owner) - used, set(), "set of prefixes in docs/architecture.md that no function has")


@case()
def every_header_has_a_guard_with_its_own_name():
    seen, bad = {}, []
    for name in files((".h",), "src", "cli", "bench", "guest", "include", "tests", "examples"):
        guard = re.match(r"\s*#ifndef (\w+)\n#define \1\n", code_of(name))
        if not guard:
            bad.append(f"{name} has no guard; a file that is meant to be included several times ends in .inc")
        elif seen.setdefault(guard.group(1), name) != name:
            bad.append(f"{name} has the guard of {seen[guard.group(1)]}")
    check(len(seen) > 200, f"only {len(seen)} headers were found")
    check(not bad, "\n".join(bad))


@case()
def no_folder_is_too_large():
    lines = {}
    for name in files(CODE, "src", "cli", "bench", "guest", "tools", "include"):
        folder = os.path.dirname(name)
        lines[folder] = lines.get(folder, 0) + read(name).count("\n")
    check(len(lines) > 40, f"only {sorted(lines)} were found")
    large = [f"{folder} has {n} lines; expected at most {MOST_LINES}" for folder, n in sorted(lines.items()) if n > MOST_LINES]
    check(not large, "\n".join(large))


@case()
def the_command_line_stays_thin():
    lines = sum(read(name).count("\n") for name in files((".c", ".h"), "cli"))
    check(1000 < lines < 10000, f"cli/ has {lines} lines; expected less than 10000: options in, library call, printing out")


main("rooms")
