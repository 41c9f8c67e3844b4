"""The Debian packages that `make deb` has built: what is in them, what lintian says, and that they work once unpacked.

Usage: test_deb.py FOLDER [cases]"""
import glob
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main

DEBS = sys.argv.pop(1)
SOURCE = pathlib.Path(os.environ["FACET_SOURCE"])
VERSION = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text())[1]
ROOT = pathlib.Path(tempfile.mkdtemp())
PACKAGES = ("facet", "facet-doc", "libfacet-dev", "libfacet1", "python3-facet")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **more)
    check_eq(done.returncode, 0, f"exit code of {' '.join(map(str, command))}, which said\n{done.stdout}\nand")
    return done.stdout


def deb(package):
    found = glob.glob(f"{DEBS}/{package}_{VERSION}_*.deb")
    check_eq(len(found), 1, f"packages {package} of version {VERSION}")
    return found[0]


def field(package, name):
    return run("dpkg-deb", "-f", deb(package), name).strip()


def one(pattern):
    found = list(ROOT.glob(pattern))
    check_eq(len(found), 1, f"files {pattern}")
    return found[0]


def with_library(**more):
    """An environment where the unpacked library is found, and nothing of the tree."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("FACET", "PYTHON"))}
    return {**clean, "LD_LIBRARY_PATH": str(one("usr/lib/*/libfacet.so.1").parent), **more}


@case()
def there_are_the_five():
    check_eq(sorted(os.path.basename(path).split("_")[0] for path in glob.glob(DEBS + "/*.deb")), sorted(PACKAGES))
    for package in PACKAGES:
        check_eq(field(package, "Version"), VERSION)


@case()
def lintian_has_nothing_to_say():
    said = run("lintian", "--fail-on", "error,warning,info", "--display-info", "--tag-display-limit", "0", "--allow-root",
               *glob.glob(DEBS + "/*.deb"))
    check_eq(said, "", "what lintian says")


@case()
def only_the_libraries_that_are_needed():
    names = {package: sorted(re.findall(r"[a-z0-9.+-]+(?=[ ,(]|$)(?! *[0-9])", re.sub(r"\([^)]*\)", "", field(package, "Depends"))))
             for package in PACKAGES}
    check_eq(names["libfacet1"], ["libc6"])
    check_eq(names["facet"], ["libc6", "libjansson4", "libjpeg62-turbo", "libpng16-16", "zlib1g"])
    check("python3-numpy" in names["python3-facet"] and "libfacet1" in names["python3-facet"], str(names["python3-facet"]))


@case()
def the_symbols_are_those_of_the_list():
    with tempfile.TemporaryDirectory() as folder:
        run("dpkg-deb", "-e", deb("libfacet1"), folder)
        packaged = pathlib.Path(folder, "symbols").read_text().splitlines()[1:]
    listed = re.findall(r"(?m)^(facet_\w+)@@(\w+)$", (SOURCE / "tests/public/facet.symbols").read_text())
    symbols = sorted([f" FACET_1@FACET_1 {VERSION}", *(f" {name}@{of} {VERSION}" for name, of in listed)])
    check_eq(packaged, ["* Build-Depends-Package: libfacet-dev", *symbols])


@case()
def files_lie_where_debian_looks():
    for place in ("usr/share/bash-completion/completions/facet.bash", "usr/share/zsh/vendor-completions/_facet",
                  "usr/share/fish/vendor_completions.d/facet.fish", "usr/share/facet/guest/crt0.S",
                  "usr/share/doc/facet/docs/tour.md", "usr/share/doc/facet/NOTICE"):
        check((ROOT / place).is_file(), place)
    for package in PACKAGES:
        check((ROOT / f"usr/share/doc/{package}/copyright").is_file(), f"copyright of {package}")


@case()
def every_command_has_a_page_that_man_shows():
    commands = re.findall(r"(?m)^COMMAND\((\w+)\)", (SOURCE / "cli/commands.def").read_text())
    for page in ["facet", *("facet-" + name.replace("_", "-") for name in commands)]:
        with gzip.open(ROOT / f"usr/share/man/man1/{page}.1.gz", "rt") as file:
            check(file.readline().startswith((".TH", ".\\\"", "'")), page)
    shown = run("man", "-l", ROOT / "usr/share/man/man1/facet-run.1.gz", env={**os.environ, "MANWIDTH": "80", "MANPAGER": "cat"})
    check("facet run" in shown, shown[:200])


@case()
def links_between_the_pages_hold():
    top = ROOT / "usr/share/doc/facet"
    for page in [top / "README.md", *top.glob("docs/*.md"), *top.glob("spec/*.md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", page.read_text()):
            place = os.path.normpath(page.parent / target)  # LICENSE is a link out of here
            check(os.path.lexists(place), f"{page.relative_to(top)} links to {target}")


@case()
def the_program_runs():
    facet = ROOT / "usr/bin/facet"
    check(f"facet {VERSION}" in run(facet, "--version").lower(), "facet --version")
    with tempfile.TemporaryDirectory() as folder:
        run(facet, "as", "--isa", "xphmg", ROOT / "usr/share/doc/facet/examples/xphmg/hello.s", "-o", "hello.elf", cwd=folder)
        check_eq(run(facet, "run", "hello.elf", cwd=folder), "hello from xphmg\n")
        for machine in ("xphmg-rt", "tile", "gfx12"):
            run(facet, "render", ROOT / "usr/share/doc/facet/assets/boxes.glb", "--machine", machine, "--size", "32x32", "-o", "out.png",
                cwd=folder)


@case()
def programs_build_with_what_is_installed():
    """The cases of the test of `make install`, on the unpacked packages."""
    said = run(sys.executable, SOURCE / "tests/machine/test_install.py", ROOT, VERSION, env={**os.environ, "FACET_TEST_RESULTS": ""})
    check(re.search(r"passed, 0 failed, 0 skipped", said), said)


@case()
def python_imports_it():
    environment = with_library(PYTHONPATH=str(ROOT / "usr/lib/python3/dist-packages"))
    check_eq(run("/usr/bin/python3", "-c", "import facet; print(facet.__version__)", env=environment).strip(), VERSION)
    examples = sorted((ROOT / "usr/share/doc/facet/python/examples").glob("*.py"))
    check(len(examples) >= 3, "the examples are there")
    for example in examples:
        run("/usr/bin/python3", example, env=environment)


try:
    for package in PACKAGES:
        run("dpkg", "-x", deb(package), ROOT)
    main("deb")
finally:
    shutil.rmtree(ROOT)
