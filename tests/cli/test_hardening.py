"""What the program's file says about the checks it was built with. Arguments: the library's file, then `hardened`
and `fortified` where this build asked for them (meson.build); debug and sanitizer builds ask for fewer."""
import os
import re
import subprocess
import sys

from harness import case, check, main, skip

LIBRARY, BUILD = sys.argv[1], sys.argv[2:]
sys.argv[1:] = []


def readelf(option, path=os.environ["FACET"]):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def needs(what):
    if what not in BUILD:
        skip("this build is not " + what)


def symbols():
    return set(re.findall(r"(__\w+)@", readelf("--dyn-syms")))


@case()
def position_independent():
    needs("hardened")
    check(re.search(r"Type:\s+DYN", readelf("-h")), "the program is not of type DYN")
    check(re.search(r"FLAGS_1.*\bPIE\b", readelf("-d")), "the dynamic section does not say PIE")


@case()
def tables_are_read_only_after_the_start():
    needs("hardened")
    check("GNU_RELRO" in readelf("-l"), "no GNU_RELRO segment")
    check(re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b", readelf("-d")), "functions are not bound at the start")


@case()
def no_segment_is_writable_and_executable():
    stack = re.search(r"GNU_STACK\s.*", readelf("-l"))
    check(stack and re.search(r"\sRW\s", stack.group()), "the stack is not RW: %s" % stack)
    for line in re.findall(r"^\s+LOAD\s.*", readelf("-l"), re.M):
        check(not re.search(r"\sRWE\s", line), "writable and executable: " + line)


@case()
def jumps_can_be_checked_by_the_processor():
    """The linker drops the note from the program when the C library's start files have none (Debian's do not), so
    each object of the library is asked."""
    needs("hardened")
    notes = readelf("-n", LIBRARY).split("\nFile: ")[1:]
    check(len(notes) > 100, "%d objects in %s" % (len(notes), LIBRARY))
    for note in notes:
        check(re.search(r"x86 feature: IBT, SHSTK", note), "no note of IBT and SHSTK in " + note.split("\n")[0])


@case()
def the_stack_is_guarded():
    needs("hardened")
    check("__stack_chk_fail" in symbols(), "__stack_chk_fail is not used")


@case()
def library_calls_are_checked():
    needs("fortified")
    checked = sorted(s for s in symbols() if s.endswith("_chk"))
    for name in ("__memcpy_chk", "__snprintf_chk"):
        check(name in checked, "%s is not used; %s are" % (name, ", ".join(checked) or "none"))


main("hardening")
