"""The riscof plugin of examples/riscof without riscof: a stand-in for its base class, a YAML file, and a test of the form
that riscv-arch-test has, whose signature is typed in here."""
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import types

from harness import case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
PLUGIN = os.path.join(SOURCE, "examples/riscof")
FOLDER = tempfile.mkdtemp()
TEST = r"""
#include "model_test.h"
        .section .text.init
        .globl rvtest_entry_point
rvtest_entry_point:
        RVMODEL_BOOT
        la   x5, begin_signature
        li   x6, -7
        li   x7, DIVISOR
        div  x8, x6, x7
        sd   x8, 0(x5)
        rem  x8, x6, x7
        sw   x8, 8(x5)
        RVMODEL_HALT
        .data
RVMODEL_DATA_BEGIN
        .word 0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0x01234567
RVMODEL_DATA_END
"""


class Base:
    """As riscof.pluginTemplate: the name is role and model with a colon."""

    def __init__(self, *args, **kwargs):
        self.name = kwargs["name"]

    name = property(lambda self: self._role + "-" + self.__model__ + ":", lambda self, role: setattr(self, "_role", role))


def plugin(**more):
    stub = types.ModuleType("riscof.pluginTemplate")
    stub.pluginTemplate = Base
    sys.modules["riscof"], sys.modules["riscof.pluginTemplate"] = types.ModuleType("riscof"), stub
    spec = importlib.util.spec_from_file_location("riscof_facet", os.path.join(PLUGIN, "riscof_facet.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.facet(name="DUT", config={
        "pluginpath": PLUGIN, "ispec": os.path.join(PLUGIN, "facet_isa.yaml"),
        "pspec": os.path.join(PLUGIN, "facet_platform.yaml"), "PATH": os.path.dirname(FACET), "jobs": "2", **more})
    made.initialise("suite", FOLDER, FOLDER)
    made.build(made.isa_spec, made.platform_spec)
    return made


def entry(name, macros):
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(FOLDER, "div.S"), "w") as file:
        file.write(TEST)
    return {"test_path": os.path.join(FOLDER, "div.S"), "work_dir": folder, "isa": "RV64IM", "macros": macros}


@case()
def the_isa_comes_from_the_yaml():
    made = plugin(config="rv64,isa={isa}")
    check_eq(made.isa, "rv64imafdczicsr_zifencei", "ISA")
    check_eq(made.commands(entry("one", ["A=1", "B"]))[1][-2:], ["--config", "rv64,isa=rv64imafdczicsr_zifencei"], "--config")
    make, run = plugin().commands(entry("one", ["A=1", "B"]))
    check("--config" not in run and {"-march=rv64im", "-DA=1", "-DB"} <= set(make), f"{make} {run}")


@case()
def tests_leave_their_signatures():
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("gcc-riscv64-unknown-elf is not installed")
    tests = {"a": entry("a", ["DIVISOR=2"]), "b": entry("b", ["DIVISOR=0"])}
    plugin().runTests(tests)
    for name, lines in (("a", ["fffffffd", "ffffffff", "ffffffff", "01234567"]),
                        ("b", ["ffffffff", "ffffffff", "fffffff9", "01234567"])):
        with open(os.path.join(FOLDER, name, "DUT-facet.signature"), encoding="utf-8") as file:
            check_eq(file.read().split(), lines, f"signature of {name}")


@case()
def the_files_name_each_other():
    with open(os.path.join(PLUGIN, "config.ini"), encoding="utf-8") as file:
        text = file.read()
    for name in re.findall(r"spec=(\S+)", text):
        check(os.path.exists(os.path.join(PLUGIN, name)), f"{name} is missing")


try:
    main("riscof")
finally:
    shutil.rmtree(FOLDER)
