"""The public headers: every declaration has words, and every struct the layout that programs were compiled with."""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.environ["FACET_SOURCE"], "tests", "public"))
import layouts
from harness import case, check, check_eq, main, skip

BUILD = os.path.dirname(os.path.abspath(os.environ["FACET"]))
LIST = os.path.join(layouts.SOURCE, "tests", "public", "facet.layouts")


def measured():
    if not shutil.which("cc") or sys.maxsize < 2**32:
        skip("needs a compiler for 64 bits")
    folders = [os.path.join(layouts.SOURCE, "include"), os.path.join(BUILD, "include")]
    return layouts.measure(["cc"] + ["-I" + folder for folder in folders])


@case()
def every_declaration_is_documented():
    """A comment stands in the paragraph of each function and type."""
    found = 0
    for path in layouts.headers():
        with open(path, encoding="utf-8") as file:
            paragraphs = re.split(r"\n\s*\n", file.read())
        for paragraph in paragraphs:
            code = re.sub(r"(?m)^\s*#.*(?:\\\n.*)*$", " ", re.sub(r"/\*.*?\*/", " ", paragraph, flags=re.S))
            declared = re.findall(r"\b(facet_\w+)\s*\([^;{}]*\)\s*[;{]|\b(?:struct|enum) (facet_\w+) \{", code)
            found += len(declared)
            check(not declared or "/*" in paragraph, "%s: nothing says what %s is" % (os.path.basename(path), declared))
    check(found > 300, "%d declarations" % found)


@case()
def layouts_are_those_of_the_list():
    """A struct that is passed with its size may grow at its end, and the list with it; others have another number."""
    got = layouts.text(measured())
    with open(LIST, encoding="utf-8") as file:
        listed = [line.rstrip("\n") for line in file if not line.startswith("#")]
    check(len(got) > 60, "%d structs" % len(got))
    check_eq(sorted(set(listed) - set(got)), [], "layouts that facet.layouts has and the headers do not, which needs another soname "
             "unless the struct is passed with its size and only grew,")
    check_eq(sorted(set(got) - set(listed)), [], "layouts that facet.layouts does not list (tests/public/layouts.py prints them)")


@case()
def structs_that_may_grow_have_no_hole_at_their_end():
    """A member that is added later would lie where programs of today leave whatever was there."""
    whole = measured()
    grow = set()
    for path in layouts.headers():
        grow |= set(re.findall(r"\bconst struct (facet_\w+) \*\w+,\s*size_t \w+_size\b", layouts.bare(path)))
    check(len(grow) >= 8, "structs that programs fill: %s" % sorted(grow))
    for name in sorted(grow):
        size, parts = whole[name]
        at, last = max(parts.values())
        check_eq(size, at + last, "size of %s and the end of its last member" % name)


main("headers")
