"""The copied source tree in which every change sits behind a switch, and its build."""
import filecmp
import os
import re
import shutil
import subprocess

HEADER = """#ifndef FACET_BASE_MUTANT_H
#define FACET_BASE_MUTANT_H
extern int facet_mutant; /* the change that is on; below zero: none, and what is reached is recorded */
int facet_mutant_reached(int k);
#define FACET_MUT(k) (__builtin_expect(facet_mutant < 0, 0) ? facet_mutant_reached(k) : facet_mutant == (k))
#endif
"""
# The record is a mapped file: children, crashes and processes that may open nothing any more are in it too.
RUNTIME = """#include "base/mutant.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int facet_mutant;
static unsigned char *reached;
int facet_mutant_reached(int k)
{
    reached[k] = 1;
    return 0;
}
__attribute__((constructor)) static void choose(void)
{
    const char *record = getenv("FACET_MUTANT_RECORD");
    const char *k = getenv("FACET_MUTANT");
    int file = record != NULL ? open(record, O_RDWR) : -1;
    facet_mutant = k != NULL ? atoi(k) : 0;
    if (file >= 0) {
        reached = mmap(NULL, RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        facet_mutant = reached != MAP_FAILED ? -1 : 0;
    }
}
"""
RECORD_BYTES = 1 << 16  # more changes than one build will ever hold


def source_files(source):
    """All files but those of builds; a tree that is no repository has no ignored files."""
    try:
        names = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard"], check=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split("\n")
    except (subprocess.CalledProcessError, FileNotFoundError):
        names = [os.path.relpath(os.path.join(folder, name), source) for folder, _, inside in os.walk(source)
                 for name in inside if not os.path.relpath(folder, source).startswith("build")]
    return sorted(name for name in names if name and os.path.isfile(os.path.join(source, name)))


def copy_files(source, tree, names):
    """Copies what differs: an untouched file keeps its time, and what is built from it."""
    for name in names:
        with open(os.path.join(source, name), "rb") as f:
            data = f.read()
        to = os.path.join(tree, name)
        if os.path.exists(to):
            with open(to, "rb") as f:
                if f.read() == data:
                    continue
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(data)
        shutil.copymode(os.path.join(source, name), to)


def remove_others(tree, names):
    """Removes what an earlier run left and the source no longer has; what was built stays."""
    keep = set(names)
    for folder, folders, files in os.walk(tree):
        if folder == tree and "build" in folders:
            folders.remove("build")
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, tree) not in keep:
                os.remove(path)


def first_difference(source, other, names):
    """The first of the files that the other tree has not, or has otherwise; None when there is none."""
    for name in names:
        there = os.path.join(other, name)
        if not os.path.exists(there) or not filecmp.cmp(os.path.join(source, name), there, shallow=False):
            return name
    return None


def apply(text, changes):
    """The text with all (k, change) behind their switches; ranges must not overlap."""
    for k, c in sorted(changes, key=lambda each: -each[1]["first"]):
        new = c["new"].replace("\n", " ")  # the compiler's line numbers stay those of the source
        if c["form"] == "drop":
            both = f"if (!FACET_MUT({k})) {c['old']}"
        elif c["form"] == "either":
            both = f"if (FACET_MUT({k})) {new} else {c['old']}"
        elif c["kind"] == "condition" and new.startswith("!("):
            both = f"(({c['old']}) ? !FACET_MUT({k}) : FACET_MUT({k}))"
        else:
            both = f"(FACET_MUT({k}) ? ({new}) : ({c['old']}))"
        text = text[:c["first"]] + both + text[c["last"]:]
    return '#include "base/mutant.h"\n#line 1\n' + text


def write_file(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path) as f:
            if f.read() == text:
                return
    with open(path, "w") as f:
        f.write(text)


def write_mutants(source, tree, mutants):
    """Writes every file that has living changes; `mutants` maps k to its dictionary."""
    by_file = {}
    for k, c in mutants.items():
        by_file.setdefault(c["file"], []).append((int(k), c))
    for name, changes in by_file.items():
        with open(os.path.join(source, name)) as f:
            text = f.read()
        living = [each for each in changes if not each[1].get("dropped")]
        write_file(os.path.join(tree, name), apply(text, living) if living else text)
    write_file(os.path.join(tree, "src/base/mutant.h"), HEADER)
    write_file(os.path.join(tree, "src/base/mutant.c"), RUNTIME.replace("RECORD_BYTES", str(RECORD_BYTES)))
    with open(os.path.join(source, "src/base/meson.build")) as f:
        rows = f.read()
    write_file(os.path.join(tree, "src/base/meson.build"), rows + "facet_sources += files('mutant.c')\n")


def compile_tree(tree, build, targets, jobs, log):
    """Builds the targets (none: everything); the lines (file, line) that the compiler refuses."""
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, "-Dc_args=-Werror=int-conversion -Werror=incompatible-pointer-types"],
                       cwd=tree, check=True, stdout=log, stderr=log)
    done = subprocess.run(["nice", "ninja", "-C", build, f"-j{jobs}", "-k0", *targets], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    log.write(done.stdout)
    log.flush()
    return done.returncode == 0, refused_lines(tree, build, done.stdout)


SAID = re.compile(r"^(?:In file included from )?([^\s:]+):(\d+):(?:\d+:)? (?:fatal )?error:"
                  r"|^ +inlined from .* at ([^\s:]+):(\d+):"
                  r"|^([^\s:]+):(\d+):(?:\d+:)? note: in expansion of macro"
                  r"|^[^\s:]+:\d+:(?:\d+:)? (warning):|^In function", re.M)


def refused_lines(tree, build, said):
    """{(file, line)} of the compiler's errors; of one in a macro also the lines that use it, of one in a header of the system the
    lines that this was inlined at."""
    refused, inlined, in_error = set(), set(), False
    for m in SAID.finditer(said):
        file, line = m[1] or m[3] or m[5], m[2] or m[4] or m[6]
        if not file:
            in_error = in_error and not m[7]
            inlined = inlined if m[7] else set()
            continue
        place = os.path.relpath(os.path.normpath(os.path.join(build, file)), tree), int(line)
        if m[3]:
            inlined.add(place)
        elif m[1]:
            in_error = True
            refused |= inlined if place[0].startswith("..") and inlined else {place}
        elif in_error:
            refused.add(place)
    return refused


def drop_refused(mutants, refused):
    """Marks the changes on refused lines; how many there were."""
    count = 0
    for c in mutants.values():
        last = c["line"] + c["old"].count("\n")
        if not c.get("dropped") and any(f == c["file"] and c["from_line"] <= n <= last for f, n in refused):
            c["dropped"] = True
            count += 1
    return count
