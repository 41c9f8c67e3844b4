"""What `make install` leaves is complete: a program that knows only the installed headers and library
compiles with the flags of pkg-config, as C11 and as C++17, links and runs a guest; the installed
command, manual page and completion know `run`; the installed guest folder builds a program."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import add_case, case, check, check_eq, main, skip

BUILD = sys.argv.pop(1)
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()

PROGRAM = r"""
#include <facet/lockstep.h>
#include <facet/observer.h>
#include <facet/xphmg.h>
#include <stdio.h>

static void output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    (void)context;
    (void)stream;
    (void)fwrite(data, 1, size, stdout);
}

static void retired(void *context, const struct facet_retire_event *event)
{
    (void)event;
    ++*(unsigned long *)context;
}

int main(int argc, char **argv)
{
    static unsigned char file[1 << 16];
    struct facet_xphmg_config config = {0};
    struct facet_observer observer = {0};
    struct facet_error err = {FACET_OK};
    struct facet_run run = {0};
    struct facet_stop stop;
    struct facet_change changes[8];
    facet_machine *machine = NULL;
    unsigned long count = 0;
    size_t size, told;
    FILE *in = fopen(argv[argc - 1], "rb");

    config.host.output = output;
    observer.context = &count;
    observer.retire = retired;
    run.budget = 1000;
    size = in != NULL ? fread(file, 1, sizeof file, in) : 0;
    if (facet_xphmg_create(&config, &machine, &err) != FACET_OK ||
        facet_xphmg_load_elf(machine, file, size, &err) != FACET_OK ||
        facet_machine_step_changes(machine, changes, 8, &told, &stop, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    facet_machine_observe(machine, &observer);
    facet_machine_run(machine, &run, &stop);
    printf("%s, %lu retired after the first, which told %lu changes\n", facet_stop_name(stop.reason), count,
           (unsigned long)told);
    facet_machine_destroy(machine);
    return 0;
}
"""


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=600, **more)
    check_eq(done.returncode, 0, f"exit code of {' '.join(command)}, which said\n{done.stdout}\nand")
    return done.stdout


def installed(pattern):
    found = glob.glob(os.path.join(FOLDER, "**", pattern), recursive=True)
    check_eq(len(found), 1, f"number of installed files that are {pattern}")
    return found[0]


def build_option(name):
    options = json.loads(run(["meson", "introspect", "--buildoptions", BUILD]))
    return next(option["value"] for option in options if option["name"] == name)


def links(compiler, language, standard):
    if shutil.which(compiler) is None or shutil.which("pkg-config") is None:
        skip(f"no {compiler} or no pkg-config here")
    if build_option("b_sanitize") != "none" or build_option("b_coverage"):
        skip("a library with sanitizers needs a program with them")
    place = installed("facet.pc")
    flags = run(["pkg-config", "--cflags", "--libs", "--static", "facet"],
                env=dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(place), PKG_CONFIG_SYSROOT_DIR=FOLDER))
    with open(os.path.join(FOLDER, "user.c"), "w") as file:
        file.write(PROGRAM)
    binary = os.path.join(FOLDER, "user_" + language)
    run([compiler, "-x", language, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-Wno-missing-field-initializers", os.path.join(FOLDER, "user.c"), "-x", "none", "-o", binary, *flags.split()])
    guest = os.path.join(FOLDER, "hello.elf")
    run([installed("bin/facet"), "as", "--isa", "xphmg", os.path.join(SOURCE, "examples/xphmg/hello.s"), "-o", guest])
    if language == "c":
        driver = os.path.join(FOLDER, "tile_host")
        run([compiler, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-missing-field-initializers",
             os.path.join(SOURCE, "examples/tile_host.c"), "-o", driver, *flags.split()])
        check("queue empty after 4 commands, last error: ok" in run([driver]), "output of tile_host")
    check_eq(run([binary, guest]), "hello from xphmg\nexit, 15 retired after the first, which told 2 changes\n", "output")


@case()
def command_pages_and_guest_folder_are_there():
    check("run a bare-metal RISC-V program" in run([installed("bin/facet"), "--help"]), "facet --help")
    for pattern, words in (("facet.1", ("facet run", "max")), ("facet.bash", ("--max-instructions", "--config"))):
        with open(installed(pattern), encoding="utf-8") as file:
            text = file.read()
        for word in words:
            check(word in text, f"{pattern} does not have {word}")
    if shutil.which("riscv64-unknown-elf-gcc") is None or not os.path.isdir("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf are not installed")
    guest = os.path.dirname(installed("guest/crt0.S"))
    out = os.path.join(FOLDER, "out")
    run(["make", "-C", guest, f"OUT={out}", f"FACET={installed('bin/facet')}", "run-masked_copy"])


for _compiler, _language, _standard in (("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")):
    add_case("a_program_links_with_" + ("c" if _language == "c" else "cpp"),
             lambda c=_compiler, l=_language, s=_standard: links(c, l, s))

try:
    run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", FOLDER])
    main("install")
finally:
    shutil.rmtree(FOLDER)
