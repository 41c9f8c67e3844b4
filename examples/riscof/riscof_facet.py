"""Facet under riscof: the machine to be tested, or the reference for another one (docs/run.md).

config.ini names this folder; its section [facet] may have
    PATH    folder of the program facet (default: where the shell finds it)
    gcc     the cross compiler (default riscv64-unknown-elf-gcc)
    jobs    tests at a time (default 1)
    config  the argument of facet run --config; {isa} stands for the ISA of the YAML file
"""
import logging
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from riscof.pluginTemplate import pluginTemplate

LIMIT = "100000000"  # instructions: a test that runs wild ends, with a signature that differs


class facet(pluginTemplate):
    __model__ = "facet"
    __version__ = "1"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        config = kwargs.get("config")
        if config is None:
            raise SystemExit("config.ini has no section [facet]")
        self.folder = os.path.abspath(config["pluginpath"])
        self.isa_spec, self.platform_spec = os.path.abspath(config["ispec"]), os.path.abspath(config["pspec"])
        self.program = os.path.join(config["PATH"], "facet") if "PATH" in config else "facet"
        self.gcc = config["gcc"] if "gcc" in config else "riscv64-unknown-elf-gcc"
        self.jobs = int(config["jobs"]) if "jobs" in config else 1
        self.config = config["config"] if "config" in config else ""

    def initialise(self, suite, workdir, env):
        self.include = env

    def build(self, isa_yaml, platform_yaml):
        """Extensions in small letters; privilege modes (S, U, N, H) are no extensions of a program."""
        with open(isa_yaml, encoding="utf-8") as file:
            isa = re.search(r"^\s*ISA:\s*['\"]?(\w+)", file.read(), re.M).group(1)
        letters, rest = re.match(r"RV64([A-Y]*)(\w*)", isa).groups()
        self.isa = "rv64" + re.sub("[SUNH]", "", letters).lower() + rest.lower()

    def commands(self, test):
        """What makes a program of the test, and what runs it."""
        elf = os.path.join(test["work_dir"], self.name[:-1] + ".elf")
        make = [self.gcc, "-march=" + test["isa"].lower(), "-mabi=lp64", "-mcmodel=medany", "-static", "-nostdlib",
                "-nostartfiles", "-T", os.path.join(self.folder, "env/link.ld"), "-I", os.path.join(self.folder, "env"),
                "-I", self.include, *("-D" + macro for macro in test["macros"]), test["test_path"], "-o", elf]
        run = [self.program, "run", elf, "--signature", os.path.join(test["work_dir"], self.name[:-1] + ".signature"),
               "--signature-granularity", "4", "--max-instructions", LIMIT]
        return make, run + (["--config", self.config.format(isa=self.isa)] if self.config else [])

    def run(self, test):
        for command in self.commands(test):
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  cwd=test["work_dir"], text=True, errors="replace")
            if done.returncode != 0:  # riscof compares the signature all the same, or misses it
                logging.getLogger().error("%s: exit code %d\n%s", " ".join(command), done.returncode, done.stdout)
                return

    def runTests(self, testlist):
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self.run, testlist.values()))
