"""facet_dpi.sv with a simulator: the core of examples/rtl is built by Verilator and runs against the library."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main, skip

VERILATOR, ARCHIVE = sys.argv.pop(1), sys.argv.pop(1)
FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, timeout=300, **options)


def text(*parts):
    with open(os.path.join(SOURCE, *parts), encoding="utf-8") as file:
        return file.read()


@case()
def imports_are_the_functions_of_the_header():
    header = set(re.findall(r"\b(facet_dpi_\w+)\(", re.sub(r"/\*.*?\*/", "", text("include", "facet", "dpi.h"), flags=re.S)))
    imports = re.findall(r"import \"DPI-C\" function .*?\b(facet_dpi_\w+)\(", text("include", "facet", "facet_dpi.sv"))
    check_eq(set(imports), header, "imports")
    check_eq(len(imports), len(set(imports)), "each once")


def simulator():
    program = os.path.join(FOLDER, "obj", "tiny")
    if not VERILATOR:
        skip("Verilator 5 is not installed, or the library has sanitizers")
    if os.path.exists(program):
        return program
    sources = [os.path.join(SOURCE, *name.split("/")) for name in
               ("include/facet/facet_dpi.sv", "examples/rtl/tiny.sv", "examples/rtl/top.sv")]
    done = run(VERILATOR, "--binary", "--timing", "-Wall", "-Wno-UNUSEDPARAM", "--top-module", "top", "-Mdir", "obj", "-o",
               "tiny", *sources, "-CFLAGS", "-O0", "-LDFLAGS", f"{ARCHIVE} -lpthread -lm")
    check_eq(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
    for form, name in (("elf", "program.elf"), ("hex", "program.hex")):
        check_eq(run(FACET, "as", "--isa", "xphmg", os.path.join(SOURCE, "examples", "rtl", "program.s"), "--format", form, "-o",
                     name).returncode, 0, "assembling")
    return program


@case()
def a_core_with_interrupts_and_a_device_stays_in_step():
    for irq, steps in ((37, 3716), (0, 3216), (13, None)):
        done = run(simulator(), "+elf=program.elf", "+memory=program.hex", f"+irq={irq}")
        found = re.match(r"no difference in (\d+) steps\n", done.stdout)
        check(found is not None, done.stdout + done.stderr)
        check(steps is None or int(found.group(1)) == steps, done.stdout)


@case()
def a_broken_core_is_found_and_can_be_replayed():
    done = run(simulator(), "+elf=program.elf", "+memory=program.hex", "+bug=1", "+save=before.state")
    check(done.stdout.startswith("step 4 differs: both did something else\n"
                                 "hart0 at 0x80000010 <_start+0x10>: addi x5, x5, -2048\n"
                                 "  reference  hart0: x5 0x1000 -> 0x800\n"
                                 "  design     hart0: x5 -> 0xffffffff00000800\n"), done.stdout)
    again = run(FACET, "run", "--resume", "before.state", "--max-instructions", "5", "--dump-state")
    check_eq(again.returncode, 124, again.stderr)
    check("0x0000000000000800" in again.stderr, again.stderr)


@case()
def a_missing_program_is_told():
    done = run(simulator(), "+elf=nothing.elf", "+memory=program.hex")
    check("nothing.elf" in done.stdout + done.stderr and done.returncode != 0, done.stdout + done.stderr)


try:
    main("dpi")
finally:
    shutil.rmtree(FOLDER)
