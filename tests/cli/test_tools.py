"""The scripts behind `make`: the counting of test results must not let anything that went wrong pass
as a success, the package installer must do nothing when nothing is missing and say what is wrong
when it cannot help, and a build folder must build the tree that it lies in."""
import json
import os
import shutil
import stat
import subprocess
import tempfile

from harness import case, check, check_eq, main

SOURCE = os.environ["FACET_SOURCE"]


def summary(suites, results, log=True):
    """Runs tools/test_summary on made-up runs: suites = {name: (result, returncode)}."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "meson-logs"))
        os.makedirs(os.path.join(folder, "results"))
        if log:
            with open(os.path.join(folder, "meson-logs/testlog.json"), "w", encoding="utf-8") as file:
                for name, (result, code) in suites.items():
                    entry = {"name": f"facet:unit / {name}", "result": result, "returncode": code}
                    file.write(json.dumps(entry) + "\n")
        for name, lines in results.items():
            with open(os.path.join(folder, "results", f"test_{name}.tsv"), "w",
                      encoding="utf-8") as file:
                file.write(lines)
        run = subprocess.run([os.path.join(SOURCE, "tools/test_summary"), folder,
                              os.path.join(folder, "results")], stdout=subprocess.PIPE, text=True)
    return run.returncode, run.stdout.splitlines()


@case()
def cases_are_counted():
    code, lines = summary({"a": ("OK", 0), "b": ("OK", 0)},
                          {"a": "test_a\tx\tpass\tRT-001\ntest_a\ty\tpass\t\n",
                           "b": "test_b\tz\tskip\t\n"})
    check_eq((code, lines[-1]), (0, "2 passed, 0 failed"))
    check("1 skipped" in lines, f"{lines} does not tell the skipped case")


@case()
def a_failing_case_fails_the_run():
    code, lines = summary({"a": ("FAIL", 1)},
                          {"a": "test_a\tx\tpass\t\ntest_a\ty\tfail\t\n"})
    check_eq((code, lines), (1, ["FAIL a: y", "1 passed, 1 failed"]))


@case()
def the_rows_of_a_case_are_not_counted_again():
    code, lines = summary({"a": ("FAIL", 1)},
                          {"a": "test_a\tx\tfail\t\ntest_a\tx[RT-001]\tpass\tRT-001\n"
                                "test_a\tx[RT-002]\tfail\tRT-002\n"})
    check_eq((code, lines), (1, ["FAIL a: x", "0 passed, 1 failed"]))


@case()
def a_crash_is_a_failure_of_its_own():
    crashed = "test_a\tx\tpass\t\ntest_a\ty\tfail\t\n"
    code, lines = summary({"a": ("FAIL", -11)}, {"a": crashed})
    check_eq((code, lines[-1]), (1, "1 passed, 2 failed"))
    code, lines = summary({"a": ("FAIL", 1)}, {"a": "test_a\tx\tpass\t\n"})
    check_eq((code, lines[-1]), (1, "1 passed, 1 failed"))
    code, lines = summary({"a": ("TIMEOUT", -15)}, {"a": "test_a\tx\tpass\t\n"})
    check_eq((code, lines[-1]), (1, "1 passed, 1 failed"))
    code, lines = summary({"a": ("ERROR", 99)}, {})
    check_eq((code, lines[-1]), (1, "0 passed, 1 failed"))


@case()
def a_torn_result_line_is_a_failure():
    code, lines = summary({"a": ("OK", 0)}, {"a": "test_a\tx\tpass\t\ntest_a\ty"})
    check_eq((code, lines[-1]), (1, "1 passed, 1 failed"))


@case()
def a_suite_without_cases_counts_once():
    code, lines = summary({"fuzz_as": ("OK", 0)}, {})
    check_eq((code, lines[-1]), (0, "1 passed, 0 failed"))


@case()
def no_run_is_a_failure():
    code, lines = summary({}, {}, log=False)
    check_eq((code, lines[-1]), (1, "0 passed, 1 failed"))


class Machine:
    """A made-up machine for install_packages.sh: its PATH holds only what is put there."""

    def __init__(self, folder, installed, uid=0, sudo=False, apt_works=True, tools=()):
        self.folder, self.bin = folder, os.path.join(folder, "bin")
        os.mkdir(self.bin)
        for name in ("sh", "sed", "tr", "mktemp", "tail", "env", "rm", "cat"):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        self.installed = os.path.join(folder, "installed")
        self.log = os.path.join(folder, "log")
        for path, text in ((self.installed, "\n".join(installed) + "\n"), (self.log, ""),
                           (os.path.join(folder, "packages.txt"),
                            "# build\nalpha\n\nbeta # why\n")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.add("dpkg-query", f'for name; do :; done; while read -r line; do [ "$line" = "$name" ] '
                               f'&& printf installed && exit 0; done <"{self.installed}"; exit 1')
        install = f'case "$*" in *install*) echo beta >>"{self.installed}" ;; esac'
        self.add("apt-get", f'echo "apt-get $*" >>"{self.log}"; '
                 + (install if apt_works else "echo E: no network; exit 100"))
        self.add("id", f"echo {uid}")
        if sudo:
            self.add("sudo", f'echo "sudo $1" >>"{self.log}"; [ "$1" = -n ] && shift; exec "$@"')
        for name in tools:
            self.add(name, "exit 0")

    def add(self, name, body):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{self.bin}/sh\n{body}\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def run(self):
        result = subprocess.run([os.path.join(self.bin, "sh"),
                                 os.path.join(SOURCE, "tools/install_packages.sh"),
                                 os.path.join(self.folder, "packages.txt")],
                                env={"PATH": self.bin}, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        with open(self.log, encoding="utf-8") as file:
            return result, file.read().splitlines()


def machine(*arguments, **named):
    with tempfile.TemporaryDirectory() as folder:
        return Machine(folder, *arguments, **named).run()


BUILD_TOOLS = ("meson", "ninja", "pkg-config", "python3", "gcc")


@case()
def nothing_missing_does_nothing():
    result, log = machine(["alpha", "beta"])
    check_eq((result.returncode, result.stdout, result.stderr, log), (0, "", "", []))


@case()
def only_the_missing_package_is_installed():
    result, log = machine(["alpha"])
    check_eq(result.returncode, 0, "exit code")
    check_eq(log, ["apt-get -q update", "apt-get -q install -y --no-install-recommends beta"])


@case()
def without_root_sudo_is_used_without_asking():
    result, log = machine(["alpha"], uid=1000, sudo=True)
    check_eq(result.returncode, 0, "exit code")
    check_eq([line for line in log if line.startswith("sudo")], ["sudo -n", "sudo -n"])


@case()
def without_rights_or_network_the_reason_is_told():
    for named in ({"uid": 1000}, {"apt_works": False}):
        result, _ = machine(["alpha"], **named)
        check_eq(result.returncode, 1, f"exit code with {named}")
        check("still missing: beta" in result.stderr, result.stderr)
    result, _ = machine(["alpha"], apt_works=False)
    check("E: no network" in result.stderr, result.stderr)


@case()
def a_machine_that_can_build_goes_on():
    result, _ = machine(["alpha"], apt_works=False, tools=BUILD_TOOLS)
    check_eq(result.returncode, 0, "exit code")
    check("still missing: beta" in result.stderr and "continuing without" in result.stderr, result.stderr)


def fuzz(targets, *words):
    """tools/fuzz.sh on made-up targets: {name: shell text}."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "tests"))
        for name, text in targets.items():
            path = os.path.join(folder, "tests", "fuzz_" + name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(path, 0o755)
        run = subprocess.run([os.path.join(SOURCE, "tools/fuzz.sh"), folder, "1", *words], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, cwd=SOURCE)
    return run.returncode, run.stdout


GOOD = "echo stat::number_of_executed_units: 77; echo stat::average_exec_per_sec: 7\n"


@case()
def every_fuzz_target_runs():
    code, text = fuzz({"one": GOOD, "two": GOOD})
    check_eq(code, 0, "exit code: " + text)
    for name in ("one", "two"):
        check(f"fuzz_{name}: 77 inputs, 7/s, " in text, text)


@case()
def one_finding_fails_the_fuzzing():
    code, text = fuzz({"one": GOOD, "two": "echo the report; exit 77\n"})
    check_eq(code, 1, "exit code: " + text)
    check("the report\nfuzz_two: FAILED" in text and "fuzz_one: 77 inputs" in text, text)


@case()
def fuzz_targets_are_chosen():
    code, text = fuzz({"one": GOOD, "two": "exit 77\n"}, "one")
    check_eq(code, 0, "exit code: " + text)
    check("fuzz_two" not in text, text)
    check_eq(fuzz({"one": GOOD}, "three")[0], 2, "exit code for an unknown target")
    check_eq(fuzz({})[0], 2, "exit code without targets")


def configure(made_for, project="facet", code=0):
    """tools/configure.sh in a tree whose build folder was made for the tree `made_for` ("" for none, "." for this
    one): what it says, what it asks of meson, and whether the old folder is still there."""
    with tempfile.TemporaryDirectory() as tree:
        log, old, build = (os.path.join(tree, name) for name in ("log", "build/old", "build"))
        path = os.path.join(tree, "meson")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\necho "$*" >>{log}\n')
        os.chmod(path, 0o755)
        if made_for:
            os.makedirs(os.path.join(build, "meson-info"))
            for name in (old, os.path.join(build, "build.ninja"), log):
                open(name, "w", encoding="utf-8").close()
            with open(os.path.join(build, "meson-info/meson-info.json"), "w", encoding="utf-8") as file:
                json.dump({"directories": {"source": os.path.realpath(os.path.join(tree, made_for))}}, file)
            with open(os.path.join(build, "meson-info/intro-projectinfo.json"), "w", encoding="utf-8") as file:
                json.dump({"version": "1", "descriptive_name": project}, file)
        run = subprocess.run([os.path.join(SOURCE, "tools/configure.sh"), "build", "-Dx=y"], cwd=tree, text=True,
                             env=dict(os.environ, PATH=tree + ":" + os.environ["PATH"]), capture_output=True)
        check_eq((run.returncode, run.stderr == ""), (code, code == 0), "exit code and absence of errors")
        with open(log, encoding="utf-8") as file:
            return run.stdout, file.read(), os.path.exists(old)


@case()
def a_build_folder_of_another_tree_is_made_anew():
    check_eq(configure(""), ("", "setup build -Dx=y\n", False))
    check_eq(configure("."), ("", "", True))
    text, asked, old = configure("/elsewhere/facet")
    check("build was made for /elsewhere/facet, not for " in text and "making it again" in text, text)
    check_eq((asked, old), ("setup build -Dx=y\n", False))
    check_eq(configure("/elsewhere/other", "other", 2), ("", "", True))


@case()
def make_builds_all_that_is_installed():
    build = os.path.dirname(os.environ["FACET"])
    installed = json.loads(subprocess.run(["meson", "introspect", build, "--installed"], check=True, text=True,
                                          stdout=subprocess.PIPE).stdout)
    built = " ".join(subprocess.run(["ninja", "-C", build, "-t", tool, "program"], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout for tool in ("query", "inputs")).split()
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    made = {line.split(": ")[0] for line in targets.splitlines()}  # the others are there when it is configured
    missing = [name for name in (os.path.relpath(path, build) for path in installed) if name in made - set(built)]
    check_eq(missing, [], "installed but not built by `make` (meson.build, `program`)")
    check(not any(name.startswith("tests/") for name in built), "`make` builds tests")


main("tools")
