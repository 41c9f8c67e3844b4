"""libfacet.so exports the functions that include/facet declares, and no others; facet.symbols is the list
of what programs may have been linked with, so it only grows within a soname."""
import glob
import os
import re
import subprocess
import sys

from harness import case, check, check_eq, main, skip

LIBRARY = sys.argv.pop(1)
SOURCE = os.environ["FACET_SOURCE"]
LIST = os.path.join(SOURCE, "tests", "public", "facet.symbols")
SCENE = ("scene.h", "design.h")  # of the other library, of libraries of others


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    check_eq(done.returncode, 0, f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def exported():
    if not LIBRARY or not os.path.exists(LIBRARY):
        skip("no shared library in this build")
    rows = [line.split() for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
    return {row[2]: row[1] for row in rows if row[1] != "A"}


def declared():
    names = set()
    headers = glob.glob(os.path.join(SOURCE, "include", "facet", "*.h*"))
    for path in headers:
        if os.path.basename(path) in SCENE:
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        text = re.sub(r"(?m)^\s*#.*(?:\\\n.*)*$", " ", text)
        text = re.sub(r"static inline[^{;]*\{.*?\n\}", " ", text, flags=re.S)
        text = re.sub(r"typedef[^;]*;", " ", text)
        names |= set(re.findall(r"\b(facet_\w+)\s*\((?!\*)[^;{}]*\)\s*;", text))
    return names


@case()
def the_library_exports_what_the_headers_declare():
    names = {name.split("@")[0] for name in exported()}
    check_eq(sorted(names - declared()), [], "exported but not declared")
    check_eq(sorted(declared() - names), [], "declared but not exported")


@case()
def the_list_of_symbols_is_up_to_date():
    symbols = exported()
    check_eq(sorted(name for name, kind in symbols.items() if kind not in "TD"), [], "symbols of an odd kind")
    with open(LIST, encoding="utf-8") as file:
        listed = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    check_eq(sorted(set(listed) - set(symbols)), [], "symbols that facet.symbols has and the library lost, "
             "which needs another soname,")
    check_eq(sorted(set(symbols) - set(listed)), [], "new symbols that facet.symbols does not list")
    check_eq(listed, sorted(listed), "order of facet.symbols")


@case()
def the_library_needs_only_the_c_library():
    exported()
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY))
    check_eq(sorted(set(needed) - {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2",
                                   "ld-linux-aarch64.so.1", "libgcc_s.so.1"}), [], "libraries it needs")
    check(re.search(r"\(SONAME\).*\[libfacet\.so\.1\]", output("readelf", "-d", LIBRARY)), "its soname")


@case()
def memory_comes_from_the_allocator_alone():
    """A name of the C library's in an object file goes round facet_set_allocator (base/alloc.h)."""
    if not LIBRARY or not os.path.exists(LIBRARY):
        skip("no shared library in this build")
    found = set()
    for archive in ("libfacet.a", "libfacet-scene.a"):
        for line in output("nm", "-A", "--undefined-only", os.path.join(os.path.dirname(LIBRARY), archive)).splitlines():
            member, name = line.split(":")[-2], line.split()[-1]
            if name in ("malloc", "calloc", "realloc", "free"):
                found.add((member, name))
    allowed = {("base_alloc.c.o", name) for name in ("malloc", "calloc", "realloc", "free")}
    allowed |= {("base_new_file.c.o", "free")}  # what asprintf made
    check_eq(sorted(found), sorted(allowed), "objects that call the C library's allocator")


main("symbols")
