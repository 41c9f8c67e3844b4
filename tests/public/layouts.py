"""Sizes and offsets of the structs of include/facet/, as the compiler lays them out, one line each:

    struct facet_stop 40: reason 0, code 8, ...

usage: layouts.py COMPILER [ARGUMENTS]     prints them; tests/public/facet.layouts is what it printed on a 64-bit host"""
import glob
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("FACET_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def headers():
    return sorted(glob.glob(os.path.join(SOURCE, "include", "facet", "*.h")))


def bare(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)


def members(body):
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            for part in declaration.split(","):
                yield re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part).group(1)


def structs():
    for path in headers():
        for name, body in re.findall(r"\bstruct (facet_\w+) \{([^{}]*)\};", bare(path)):
            yield name, list(members(body))


def measure(compiler):
    """{struct: (size, {member: (offset, size)})}"""
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += ["#include <facet/%s>" % os.path.basename(path) for path in headers()] + ["int main(void) {"]
    for name, names in structs():
        lines.append('printf("%s %%zu", sizeof(struct %s));' % (name, name))
        for member in names:
            lines.append('printf(" %s %%zu %%zu", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));'
                         % (member, name, member, name, member))
        lines.append('printf("\\n");')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layouts")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "return 0; }\n")
        done = subprocess.run(compiler + [path + ".c", "-o", path], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        rows = subprocess.run([path], capture_output=True, text=True, check=True).stdout.splitlines()
    out = {}
    for row in rows:
        words = row.split()
        out[words[0]] = int(words[1]), {words[i]: (int(words[i + 1]), int(words[i + 2])) for i in range(2, len(words), 3)}
    return out


def text(layouts):
    return ["struct %s %d: %s" % (name, size, ", ".join("%s %d" % (m, at) for m, (at, _) in parts.items()))
            for name, (size, parts) in sorted(layouts.items())]


if __name__ == "__main__":
    print("\n".join(text(measure(sys.argv[1:]))))
