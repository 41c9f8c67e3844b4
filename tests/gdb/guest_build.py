"""The guest program of the debugger and snapshot tests, built once per test run."""
import os
import shutil
import subprocess
import tempfile

from harness import skip

SOURCE = os.environ["FACET_SOURCE"]
CC = shutil.which("riscv64-unknown-elf-gcc")
FOLDER = tempfile.TemporaryDirectory()
PROGRAM = os.path.join(FOLDER.name, "guest.elf")


def build():
    """The path of the program; skips the case where there is no compiler."""
    if CC is None:
        skip("riscv64-unknown-elf-gcc is not installed")
    if not os.path.exists(PROGRAM):
        subprocess.run(
            [CC, "-g", "-O1", "-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany", "-nostdlib",
             "-nostartfiles", "-ffreestanding", "-Wall", "-Werror", "-Wl,-n", "-Wl,--no-relax",
             "-Wl,--no-warn-rwx-segments", "-Wl,-Ttext=0x80000000", "-o", PROGRAM,
             os.path.join(SOURCE, "tests/gdb/guest.c")], check=True)
    return PROGRAM
