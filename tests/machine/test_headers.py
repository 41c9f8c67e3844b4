"""Each public header compiles alone, as C11 and as C++17, with every warning an error."""
import glob
import os
import shutil
import subprocess

from harness import add_case, check, main, skip

SOURCE = os.environ["FACET_SOURCE"]
FOLDERS = [os.path.join(SOURCE, "include"), os.path.join(os.path.dirname(os.environ["FACET"]), "include")]


def compiles(header, language, compilers):
    command = next((shutil.which(name) for name in compilers if shutil.which(name)), None)
    if command is None:
        skip(f"no {' or '.join(compilers)} here")
    standard = "-std=c11" if language == "c" else "-std=c++17"
    # Included twice: the guard is part of the promise.
    text = f"#include <{header}>\n#include <{header}>\n"
    done = subprocess.run(
        [command, "-x", language, standard, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
         "-Werror", "-I", FOLDERS[0], "-I", FOLDERS[1], "-"],
        input=text, capture_output=True, text=True)
    check(done.returncode == 0, f"{header} as {language}:\n{done.stderr}")


headers = sorted(path for folder in FOLDERS for path in glob.glob(os.path.join(folder, "facet", "*.h")))
check(headers, "no public headers found")
for path in headers:
    name = "facet/" + os.path.basename(path)
    stem = os.path.basename(path)[:-2]
    add_case(f"{stem}_as_c11", lambda name=name: compiles(name, "c", ["gcc", "clang"]))
    add_case(f"{stem}_as_cpp17", lambda name=name: compiles(name, "c++", ["g++", "clang++"]))

main("headers")
