"""The structs that the Python package declares are those of the headers: a C program prints their sizes and offsets."""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

from facet import _library, _why  # noqa: F401: _why declares structs too
from harness import case, check, check_eq, main

COMPILER, *INCLUDES = sys.argv[1:]
sys.argv[1:] = []
HEADERS = ("bvh", "cosim", "gfx", "gfx12", "isa", "lockstep", "machine", "memory", "num", "observer", "rt", "tile", "xphmg")


def program(structs):
    """Prints name, member, offset and size. A member that Python does not know is a missing initializer."""
    lines = [f"#include <facet/{name}.h>" for name in HEADERS] + ["#include <stddef.h>", "#include <stdio.h>"]
    body = []
    for name, struct in structs.items():
        members = [member for member, *_ in struct._fields_]
        zeros = ["{0}" if issubclass(kind, (ctypes.Structure, ctypes.Array)) else "0" for _, kind in struct._fields_]
        lines.append(f"static const struct {name} all_{name} = {{{', '.join(zeros)}}};")
        body.append(f'printf("{name} - 0 %zu\\n", sizeof all_{name});')
        body += [f'printf("{name} {member} %zu %zu\\n", offsetof(struct {name}, {member}), sizeof all_{name}.{member});'
                 for member in members]
    return "\n".join([*lines, "int main(void)", "{", *body, "return 0;", "}", ""])


def told_by_c(structs):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder, "layouts.c"), pathlib.Path(folder, "layouts")
        source.write_text(program(structs))
        done = subprocess.run([COMPILER, "-std=c11", "-Wextra", "-Werror", *("-I" + path for path in INCLUDES), source, "-o",
                               binary], capture_output=True, text=True)
        check(done.returncode == 0, done.stderr)
        return subprocess.run([binary], capture_output=True, text=True, check=True).stdout.splitlines()


def told_by_python(structs):
    rows = []
    for name, struct in structs.items():
        rows.append(f"{name} - 0 {ctypes.sizeof(struct)}")
        rows += [f"{name} {member} {getattr(struct, member).offset} {getattr(struct, member).size}"
                 for member, *_ in struct._fields_]
    return rows


@case()
def every_struct_is_that_of_the_headers():
    check(len(_library.STRUCTS) > 50, "the structs are listed")
    check_eq(told_by_python(_library.STRUCTS), told_by_c(_library.STRUCTS))


@case()
def a_difference_is_found():
    """Of struct facet_watch: a member less, whose byte would be padding; one of another size; one more."""
    watch = _library.STRUCTS["facet_watch"]._fields_
    for fields, why in ((watch[:-1], "missing"), ([("core", ctypes.c_uint64), *watch[1:]], "rows"),
                        ([*watch, ("more", ctypes.c_bool)], "more")):
        wrong = {"facet_watch": type("Wrong", (ctypes.Structure,), {"_fields_": fields})}
        try:
            found = None if told_by_python(wrong) == told_by_c(wrong) else "rows"
        except AssertionError as error:
            found = str(error)
        check(why in str(found), f"{fields}: {found}")


@case()
def the_columns_of_a_hit_are_those_of_the_header():
    import facet
    columns = facet.HIT.fields
    hit = type("Hit", (ctypes.Structure,), {"_fields_": [
        (name, ctypes.c_float if columns[name][0].kind == "f" else ctypes.c_uint32) for name in facet.HIT.names]})
    check_eq(told_by_c({"facet_bvh_hit": hit}),
             [f"facet_bvh_hit - 0 {facet.HIT.itemsize}",
              *(f"facet_bvh_hit {name} {columns[name][1]} {columns[name][0].itemsize}" for name in facet.HIT.names)])


main("python_layouts")
