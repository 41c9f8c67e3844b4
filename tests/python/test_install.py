"""`pip install .` without a network into an environment of its own; the examples; the page; the types."""
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import add_case, case, check, check_eq, main, skip

ROOT = pathlib.Path(os.environ["FACET_SOURCE"])
EXAMPLES = {
    "hart": "exit after 36 steps, t0 = 55",
    "rays": "8192 triangles, 300416 bytes, 0 findings",
    "kernel": "the kernel is not done (faulted, stopped by fault); core 0: store fault at pc 0x80000000, address 0x3",
    "scoreboard": "step 3, sub x28, x5, x7: x28 = 0x24, expected hart0: x28 0x0 -> 0xffffffffffffffdc",
}


def run(*command, env=None, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, cwd=cwd)
    check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


@case()
def pip_installs_a_wheel_with_the_library():
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FACET", "PIP"))}
    with tempfile.TemporaryDirectory() as folder:
        tree, home = pathlib.Path(folder, "tree"), pathlib.Path(folder, "home")
        shutil.copytree(ROOT / "python", tree / "python", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        for name in ("pyproject.toml", "setup.py", "meson.build", "README.md"):
            shutil.copy(ROOT / name, tree)
        run(sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps", "--target", home,
            "--disable-pip-version-check", tree, cwd=folder,
            env={**clean, "FACET_LIBRARY": str(pathlib.Path(os.environ["FACET_LIBRARY"]).resolve())})
        shutil.rmtree(tree)
        clean["PYTHONPATH"] = str(home)
        told = run(sys.executable, "-c", "import facet; print(facet.__file__); print(facet.__version__)", env=clean, cwd=folder)
        place, version = told.split("\n")[:2]
        check(place.startswith(str(home)), f"the installed package is found: {place}")
        check_eq(f"version: '{version}'" in (ROOT / "meson.build").read_text(), True)
        for file in ("libfacet.so.1", "py.typed"):
            check(pathlib.Path(place).with_name(file).exists(), f"{file} is in the wheel")
        check(EXAMPLES["hart"] in run(sys.executable, ROOT / "python/examples/hart.py", env=clean, cwd=folder), "it runs")


def example(name, line):
    def one():
        check(line in run(sys.executable, ROOT / "python/examples" / (name + ".py")).splitlines(), f"{name} prints {line}")
    add_case(f"example_{name}", one)


for name, line in EXAMPLES.items():
    example(name, line)


@case()
def every_example_is_run_and_the_scoreboard_is_short():
    files = list((ROOT / "python/examples").glob("*.py"))
    check_eq(sorted(file.stem for file in files), sorted(EXAMPLES))
    for file in files:
        check("\n# %% " in file.read_text(), f"{file.name} has cells")
    code = (ROOT / "python/examples/scoreboard.py").read_text().split('"""')[2].splitlines()
    check(len([line for line in code if line.strip() and not line.startswith("#")]) <= 20, "20 lines")


@case()
def the_page_is_true():
    """Every block of Python prints the block of text right behind it; all share their names."""
    page, names = (ROOT / "docs/python.md").read_text(), {}
    shown = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", page, re.S)
    check_eq(len(shown), page.count("```python"), "blocks with their output")
    for code, expected in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        check_eq(printed.getvalue(), expected, code)


@case()
def types_hold():
    if importlib.util.find_spec("mypy") is None:
        skip("mypy is not installed")
    with tempfile.TemporaryDirectory() as cache:
        run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, ROOT / "python/facet")


main("python_install")
