"""Nothing that Python can pass crashes the process: it is an exception that says what was expected."""
import copy
import gc
import pickle
import subprocess
import sys
import threading

import facet
import numpy as np
from harness import case, check, check_eq, main

LOOP = "_start: j _start\n"
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
GARBAGE = [None, -1, 1 << 200, 1.5, "x", "a\0b", b"\xff" * 9, [], {}, object(), np.zeros(3), float("nan"), len]


def refused(function, *arguments, **options):
    """The message of the exception, which is one of those that a caller expects."""
    try:
        function(*arguments, **options)
    except (facet.Error, TypeError, ValueError) as error:
        check(str(error) != "", f"{function} says why")
        return str(error)
    check(False, f"{function} takes {arguments} {options}")


@case()
def a_closed_machine_says_so():
    hart, bvh = facet.Xphmg(LOOP), facet.Bvh.build(TRIANGLE)
    hart.close(), hart.close(), bvh.close(), bvh.close()
    for use in (lambda: hart["x1"], lambda: hart.run(1), hart.step, hart.snapshot, hart.interrupt, hart.reset, hart.step_changes,
                hart.observe, lambda: hart.read(0, 1), lambda: hart.steps, lambda: facet.lockstep(hart, facet.Tile(), 1)):
        check_eq(refused(use), "the machine is closed")
    for use in (bvh.check, bvh.dump, lambda: bvh.image, lambda: bvh.trace(TRIANGLE, TRIANGLE)):
        check_eq(refused(use), "the hierarchy is closed")


@case()
def garbage_of_every_type():
    hart, gpu, bvh = facet.Xphmg(LOOP), facet.Tile(), facet.Bvh.build(TRIANGLE)
    takes_one = [hart.get, hart.load, hart.add_break, hart.remove_point, hart.restore, hart.add_watch, gpu.load,
                 gpu.report, gpu.dispatch, facet.assemble, facet.disassemble, facet.decode, facet.Bvh.open, facet.Bvh,
                 facet.Bvh.build, bvh.refit, facet.Xphmg]
    takes_two = [hart.set, hart.read, hart.write, hart.get, gpu.kernel, facet.why_box, facet.why_triangle, bvh.trace,
                 facet.assemble, facet.decode]
    by_name = [(facet.Xphmg, "harts"), (facet.Xphmg, "ram_bytes"), (facet.Xphmg, "configuration"),
               (facet.Xphmg, "output"), (facet.Tile, "vram"), (facet.Tile, "registers"), (hart.observe, "retire"), (hart.run, "budget")]
    allowed = (facet.Error, TypeError, ValueError, MemoryError)
    for one in GARBAGE:
        for function in takes_one:
            attempt(function, allowed, one)
        for other in GARBAGE:
            for function in takes_two:
                attempt(function, allowed, one, other)
        for function, name in by_name:
            if name != "budget" or one is not None:
                attempt(function, allowed, **{name: one})
    check(hart.run(3).steps == 3, "the machine still works")


def attempt(function, allowed, *arguments, **options):
    try:
        function(*arguments, **options)
    except allowed as error:
        check(str(error) != "", f"{function} says why")


@case()
def numbers_are_not_cut():
    hart = facet.Xphmg(LOOP)
    check_eq(refused(hart.get, "x1", 1 << 32), "core is 4294967296, expected 0 to 2^32 - 1")
    check_eq(refused(hart.get, "x1", 1), "no core 1; the machine has 1")
    check_eq(refused(hart.get, "x99"), "core 0 has no register, CSR or field 'x99'")
    check_eq(refused(hart.get, "x1\0y"), "name has a zero character")
    refused(hart.set, "x1", 1 << 64)
    check_eq(hart["x1"], 0)
    refused(hart.read, 4, 8)
    refused(hart.read, 0x80000000, 1 << 47)
    check_eq(refused(iter, hart), "a machine is not iterable; see names()")


@case()
def wrong_arrays_never_reach_the_library():
    bvh, three = facet.Bvh.build(TRIANGLE), np.zeros((4, 3), np.float32)
    check_eq(refused(bvh.trace, three.astype(float), three), "origins is float64 (4, 3), expected float32 (n, 3)")
    check_eq(refused(bvh.trace, three, three[:3]), "directions is float32 (3, 3), expected float32 (4, 3)")
    check_eq(refused(bvh.trace, three.tolist(), three), "origins is list, expected a NumPy array float32 (n, 3)")
    refused(bvh.trace, three.astype(">f4"), three)
    refused(bvh.trace, three, three, t_max=three[:, 0].astype(float))
    refused(bvh.trace, three, three, out=np.zeros(3, facet.HIT))
    refused(bvh.trace, three, three, out=np.zeros(8, facet.HIT)[::2])
    refused(bvh.trace, three, three, out=np.broadcast_to(np.zeros(1, facet.HIT), 4))
    refused(bvh.trace, three, three, mask=0)
    indices = np.array([[0, 1, 3]], np.uint32)
    check("3" in refused(facet.Bvh.build, facet.Mesh(TRIANGLE, indices)), "the index is named")
    refused(facet.Bvh.build, facet.Mesh(TRIANGLE, indices.astype(np.int32)))
    refused(facet.Bvh.build, facet.Mesh(TRIANGLE[:2]))
    refused(facet.Bvh.build, facet.Mesh(TRIANGLE), [facet.Placement(1, np.eye(3, 4, dtype=np.float32))])
    refused(facet.Bvh.build, TRIANGLE, format="obj")
    gpu = facet.Tile()
    refused(gpu.kernel, "EXIT\n", (1, 1), np.array([object()]))
    refused(gpu.kernel, "EXIT\n", (1, 1), np.zeros(1 << 25, np.uint8))
    refused(gpu.kernel, "EXIT\n", 3)
    refused(gpu.dispatch, 0x80000000, nonsense=1)


@case()
def callbacks_may_not_change_what_runs():
    hart, said = facet.Xphmg(LOOP), []

    def meddle(event):
        for change in (hart.run, hart.step, hart.reset, hart.close, hart.observe, lambda: hart.set("x1", 1),
                       lambda: hart.restore(b""), hart.step_changes):
            said.append(refused(change))
        said.append(hart["pc"])

    hart.observe(retire=meddle)
    hart.run(1)
    check_eq(said, ["the machine is running: a callback may read it, not change it"] * 8 + [0x80000000])


@case()
def two_threads_do_not_meet_inside():
    hart, started, said = facet.Xphmg(LOOP), threading.Event(), []

    def watch(event):
        started.set()

    hart.observe(retire=watch)
    runner = threading.Thread(target=lambda: said.append(hart.run().reason))
    runner.start()
    check(started.wait(20), "it runs")
    for use in (lambda: hart["x1"], lambda: hart.run(1), hart.close, hart.snapshot):
        check_eq(refused(use), "the machine is in use by another thread")
    hart.interrupt()
    runner.join(20)
    check_eq(said, ["request"])
    hart.close()


@case()
def copies_and_second_lives_are_refused():
    hart = facet.Xphmg(LOOP)
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        check("cannot be copied" in refused(make, hart), "said")
    refused(hart.__init__)
    talks = facet.Xphmg("_start: li t0, 0x10000000\n li t1, 65\n sb t1, (t0)\n1: j 1b\n")
    console = talks.console
    refused(talks.__init__)
    gc.collect()
    talks.run(10)
    check_eq((bytes(console), talks.console is console), (b"A", True))
    refused(facet.lockstep, hart, hart, 5)
    refused(facet.lockstep, hart, 3, 5)
    check_eq(hart.run(2).steps, 2)
    object.__new__(facet.Xphmg)
    object.__new__(facet.Bvh)
    hart.observe(retire=lambda event: hart)
    del hart  # a cycle through the callback
    gc.collect()


@case()
def a_library_that_is_not_there_is_an_import_error():
    for name in ("/nonsense/libfacet.so.1", "libm.so.6"):
        done = subprocess.run([sys.executable, "-c", "import facet"], capture_output=True, text=True,
                              env={"FACET_LIBRARY": name, "PYTHONPATH": ":".join(sys.path)})
        check("ImportError: no library of Facet:" in done.stderr, done.stderr)


main("python_misuse")
