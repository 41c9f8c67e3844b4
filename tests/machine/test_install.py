"""What `make install` leaves is complete: programs that know only the installed headers and libraries
compile with the flags of pkg-config, as C11 and as C++17, link with the shared library or the archive, and say what
they should, the small ones of examples/library among them; CMake finds both libraries; the installed
command, manual page and completion know `run`; the installed guest folder builds a program. The first argument is a build folder, or
the root of an installation that is there already, such as packages that were unpacked."""
import glob
import gzip
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
VERSION = sys.argv.pop(1)

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


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            skip(f"no {program} here")
    if os.path.exists(os.path.join(BUILD, "build.ninja")) and (
            build_option("b_sanitize") != "none" or build_option("b_coverage") or build_option("fuzz")):
        skip("a library with sanitizers needs a program with them")


def pkg_config(*words):
    place = os.path.dirname(installed("facet.pc"))
    path = ":".join(filter(None, [place, os.environ.get("PKG_CONFIG_PATH")]))
    return run(["pkg-config", *words], env=dict(
        os.environ, PKG_CONFIG_PATH=path, PKG_CONFIG_SYSROOT_DIR=FOLDER, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
        PKG_CONFIG_ALLOW_SYSTEM_LIBS="1"))


def run_installed(*command):
    return run(list(command), env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(installed("libfacet.so.1"))))


def example(name):
    """The program as C and as C++ with the shared library; its output is that of the text beside it."""
    need("cc", "c++", "pkg-config")
    source = os.path.join(SOURCE, "examples", "library", name + ".c")
    with open(source[:-2] + ".txt", encoding="utf-8") as file:
        expected = file.read()
    with open(source, encoding="utf-8") as file:
        check(len(file.readlines()) < 60, f"{name}.c: less than 60 lines")
    for compiler, language, standard in (("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")):
        binary = os.path.join(FOLDER, f"{name}_{language}")
        run([compiler, "-x", language, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
             "-Wno-missing-field-initializers", source, "-x", "none", "-o", binary,
             *pkg_config("--cflags", "--libs", "facet-scene" if name == "scene" else "facet").split()])
        said = run_installed(binary).replace(f"Facet {VERSION}\n", "Facet VERSION\n")
        check_eq(said, expected, f"what {name} says as {language}")


@case()
def pkg_config_asks_for_third_parties_only_with_scenes():
    need("pkg-config")
    libs = pkg_config("--libs", "facet").split()
    check_eq([word for word in libs if word.startswith("-l")], ["-lfacet"], "libraries of facet")
    check_eq(pkg_config("--print-requires", "facet") + pkg_config("--print-requires-private", "facet"), "",
             "packages that facet requires")
    check("-lfacet-scene" in pkg_config("--libs", "facet-scene"), "libraries of facet-scene")
    check("jansson" in pkg_config("--print-requires", "facet-scene"), "packages of facet-scene")
    check_eq(pkg_config("--modversion", "facet").strip(), VERSION, "version of facet.pc")


@case()
def cmake_finds_both_libraries():
    need("cmake", "cc", "pkg-config")
    folder = os.path.join(FOLDER, "cmake")
    os.makedirs(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
        file.write(f"""cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(Facet {VERSION} REQUIRED COMPONENTS scene)
add_executable(shared "{SOURCE}/examples/library/rt.c")
target_link_libraries(shared Facet::facet)
add_executable(static "{SOURCE}/examples/library/rt.c")
target_link_libraries(static Facet::facet_static)
if(NOT TARGET Facet::scene)
  message(FATAL_ERROR "no Facet::scene")
endif()
""")
    place = os.path.dirname(installed("FacetConfig.cmake"))
    build = os.path.join(folder, "build")
    run(["cmake", "-S", folder, "-B", build, f"-DFacet_DIR={place}"])
    run(["cmake", "--build", build])
    with open(os.path.join(SOURCE, "examples/library/rt.txt"), encoding="utf-8") as file:
        expected = file.read()
    for name in ("shared", "static"):
        check_eq(run([os.path.join(build, name)]), expected, f"output of the {name} program")


def links(compiler, language, standard):
    need(compiler, "pkg-config")
    flags = pkg_config("--cflags", "--libs", "--static", "facet").replace("-lfacet", "-l:libfacet.a")
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
    for pattern, words in (("facet.1*", ("facet\\-run", "EXIT STATUS")), ("facet-run.1*", ("facet run", "max\\-instructions")),
                           ("facet.bash", ("--max-instructions", "--config")), ("_facet", ("--max-instructions", "--config")),
                           ("facet.fish", ("-l max-instructions", "-l config"))):
        path = installed(pattern)
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            text = file.read()
        for word in words:
            check(word in text, f"{pattern} does not have {word}")
    if shutil.which("riscv64-unknown-elf-gcc") is None or not os.path.isdir("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf are not installed")
    guest = os.path.dirname(installed("share/facet/guest/crt0.S"))
    out = os.path.join(FOLDER, "out")
    run(["make", "-C", guest, f"OUT={out}", f"FACET={installed('bin/facet')}", "run-masked_copy"])


for _name in sorted(glob.glob(os.path.join(SOURCE, "examples", "library", "*.c"))):
    _name = os.path.basename(_name)[:-2]
    add_case("the_example_" + _name, lambda name=_name: example(name))
for _compiler, _language, _standard in (("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")):
    add_case("a_program_links_with_" + ("c" if _language == "c" else "cpp"),
             lambda c=_compiler, l=_language, s=_standard: links(c, l, s))

try:
    if os.path.exists(os.path.join(BUILD, "build.ninja")):
        run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", FOLDER])
    else:
        shutil.copytree(BUILD, FOLDER, symlinks=True, dirs_exist_ok=True)
    main("install")
finally:
    shutil.rmtree(FOLDER)
