"""The litmus kernels of examples/tile/litmus under many schedules. The head of each says which outcomes the
contract allows and which ones the two memory models show; the runs must show these and no others. The kernels
repeat the experiment in every row of the grid."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
LITMUS = os.path.join(SOURCE, "examples", "tile", "litmus")
FOLDER = tempfile.mkdtemp()
ROWS = 128
IDS = {"mp-plain": "TILE-037", "mp-relaxed": "TILE-044 TILE-203", "mp-release": "TILE-508",
       "mp-acquire": "TILE-508", "mp-release-acquire": "TILE-508", "mp-membar": "TILE-038 TILE-540",
       "sb-plain": "TILE-037", "sb-membar": "TILE-540", "lb-plain": "TILE-539", "coww-plain": "TILE-539",
       "corr-plain": "TILE-037", "corr-membar": "TILE-038", "atomic-add": "TILE-043", "atomic-cas": "TILE-043",
       "atomic-order": "TILE-043", "lock": "TILE-508"}


def outcomes(path, *options):
    """The set of outcomes, two digits each, of all rows of one dispatch."""
    out = os.path.join(FOLDER, "results")
    done = subprocess.run([FACET, "tile", "run", path, "--grid", f"2x{ROWS}", "--cores", "3",
                           "--arg", "results=0x80200000", "--out", f"results,{2 * ROWS}={out}", *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600)
    check_eq(done.returncode, 0, done.stdout)
    with open(out, "rb") as file:
        data = file.read()
    return {f"{data[i]}{data[i + 1]}" for i in range(0, len(data), 2)}


def promised(path):
    """{"allowed": set, "weak": set, "strong": set} from the head of a kernel."""
    with open(path) as file:
        found = re.findall(r"^# (allowed|weak|strong): +([0-9 ]+)$", file.read(), re.M)
    return {name: set(text.split()) for name, text in found}


def litmus(path):
    def run():
        head = promised(path)
        check_eq(sorted(head), ["allowed", "strong", "weak"], "lines in the head of the kernel")
        for model in ("weak", "strong"):
            check(head[model] <= head["allowed"], f"{model} shows only what is allowed")
            seen = set()
            for seed in (1, 2, 3):
                seen |= outcomes(path, "--mem", model, "--schedule", str(seed))
            check_eq(sorted(seen), sorted(head[model]), f"outcomes of the {model} model")
            for order in ("rr:1", "rr:3"):
                seen = outcomes(path, "--mem", model, "--sched", order)
                check(seen <= head[model], f"{model}, {order}: {sorted(seen)} of {sorted(head[model])}")
    return run


for _path in sorted(glob.glob(os.path.join(LITMUS, "*.s"))):
    _name = os.path.basename(_path)[:-2]
    add_case(_name.replace("-", "_"), litmus(_path), IDS[_name])


@case()
def a_missing_barrier_is_seen():
    for name, pattern, wrong in (("mp-membar", r"^ +MEMBAR\n", "10"), ("sb-membar", r"^ +MEMBAR\n", "00"),
                                 ("mp-release-acquire", r", (rl|aq)$", "10"), ("lock", r", (rl|aq)$", "00")):
        with open(os.path.join(LITMUS, name + ".s")) as file:
            text, changes = re.subn(pattern, "", file.read(), flags=re.M)
        check(changes >= 2, f"{name} has barriers on both sides")
        broken = os.path.join(FOLDER, name + ".s")
        with open(broken, "w") as file:
            file.write(text)
        check(wrong in outcomes(broken, "--schedule", "1"), f"{name} without barriers never gives {wrong}")
        check(wrong not in promised(broken)["allowed"], f"{name} forbids {wrong}")


try:
    main("tile_litmus")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
