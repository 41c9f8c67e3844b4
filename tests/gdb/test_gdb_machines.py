"""A scripted session of a real GDB on each machine: stop by file and line, look at what GDB has no word for, go back, save
and resume. The debugger gets no file: names and lines come from the stub."""
import os
import re
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
GDB = shutil.which("gdb-multiarch")

KERNEL = """start:                       # 1
    ADDI s1, s0, 77          # 2: no return address
    CSRR s2, core_id
    CSRR s3, sm_base
    CSRR s4, arg_base
    LW s4, 0(s4)             # 6
    JAL s1, twice
    SW s2, 4(s3)             # 8
    SHLI s6, s2, 2
    ADD s4, s4, s6
    SW s2, 0(s4)             # 11: not published before EXIT
    VBCAST.I32 v3, s2        # 12
end:
    EXIT
twice:
    ADD s2, s2, s2           # 16
    ADDI s2, s2, 3
    JALR s0, 0(s1)
"""


def gdb(words, *commands, program=None, cwd=None):
    if GDB is None:
        skip("gdb-multiarch is not installed")
    line = [GDB, "-batch", "-nx", "-ex", "set width 0", "-ex", "set style enabled off", "-ex", "set remotetimeout 200", "-ex",
            f"target remote | {FACET} gdb {words} --quiet --stdio"]
    for command in commands:
        line += ["-ex", command]
    done = subprocess.run(line + ([program] if program else []), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=300, cwd=cwd or SOURCE)
    for bad in ("Cannot", "Invalid cast", "Remote failure", "Traceback", "unknown command"):
        check(bad not in done.stdout, f"GDB complains:\n{done.stdout}")
    return done.stdout


def values(text):
    return re.findall(r"^\$\d+ = (.*)$", text, re.M)


def in_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        check(found >= 0, f"{part!r} does not come in its place in\n{text}")
        at = found + len(part)


class Folder:
    def __enter__(self):
        self.path = tempfile.mkdtemp()
        with open(os.path.join(self.path, "k.s"), "w") as f:
            f.write(KERNEL)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


@case()
def a_kernel_of_a_command_list():
    with Folder() as folder:
        state = os.path.join(folder, "list.state")
        words = "--machine tile examples/gdb/list/list.json"
        text = gdb(words, "monitor commands", "monitor break-command 1", "continue", "break shade.s:5", "continue", "list 5,5",
                   "watch *(int *)0x8000", "continue", "print *(int *)0x8000", "continue", "print *(int *)0x8000",
                   "reverse-stepi", "print *(int *)0x8000", "delete", "break shade.s:12", "continue", "print $v1.i32", "bt",
                   f"monitor save {state}", "delete", "monitor break-command 2", "continue", "continue")
        in_order(text, ">  commands[0] WRITE_MEM", "commands[2] READ_MEM", "stops before commands[1] (DISPATCH)", "commands[1] (DISPATCH) comes next",
                 "Breakpoint 1, start () at examples/gdb/list/shade.s:5", "5\t    SW s3, 0(s1)",
                 "Old value = 0", "New value = 5", "Old value = 5", "New value = 10", "done () at examples/gdb/list/shade.s:", "saved in",
                 "commands[2] (READ_MEM) comes next", "exited normally")
        check_eq(values(text), ["5", "10", "5", "{10, 10, 10, 10}"], text)
        check_eq(len(re.findall(r"^#\d", text, re.M)), 1, "frames in\n" + text)
        text = gdb(words + " --resume " + state, "print $v1.i32", "print $s3", "monitor commands", "stepi", "monitor view core", "print *(int *)$s4",
                   "monitor view host", "print/x *(int *)$s4", "continue")
        check_eq(values(text), ["{10, 10, 10, 10}", "10", "10", "0xff203050"], text)
        in_order(text, "done () at examples/gdb/list/shade.s:", ">  commands[2] READ_MEM", "exited normally")


@case()
def faults_of_a_list_stop_the_debugger():
    with Folder() as folder:
        with open(os.path.join(folder, "bad.json"), "w") as f:
            f.write('{"buffers": {"f": {"size": 64}, "k": {"code": ["MOVI s1, 0x1234", "LW s2, 0(s1)", "EXIT"]}, "ok": {"code": ["EXIT"]}},'
                    '"frame": {"base": "f", "width": 4, "height": 4}, "commands": ['
                    '{"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [1, 1], "core_mask": 1}},'
                    '{"command": "DISPATCH", "descriptor": {"pc": "ok", "grid": [1, 1]}}]}')
        text = gdb("--machine tile bad.json", "continue", "print/x $s1", "reverse-stepi", "continue", cwd=folder)
        in_order(text, "core 0: load fault (cause 4) at pc 0x", "buffers.k.code:2, address 0x00001234: LW s2, 0(s1)", "s1 = 0x00001234",
                 "SIGSEGV", "$1 = 0x1234")
        text = gdb("--machine tile bad.json", "continue", "continue", cwd=folder)
        in_order(text, "SIGSEGV", "exited normally")


@case()
def scratch_and_views_of_each_core():
    with Folder() as folder:
        words = "--machine tile k.s --grid 4x1 --shared 64 --arg out=0x80100000"
        # Core n stores 2 n + 3 at byte 4 of its scratch and at that word of the buffer.
        text = gdb(words, "break k.s:12", "continue", "continue", "continue", "continue",
                   *[c for n in range(1, 5) for c in (f"thread {n}", "print *(int *)0x8004")],
                   "x/4xw 0x80100010", "monitor view core", "thread 3", "x/4xw 0x80100010", cwd=folder)
        check_eq(values(text), ["3", "5", "7", "9"], text)
        views = re.findall(r"^0x80100010:\t(.*)$", text, re.M)
        check_eq(views, ["\t".join(["0x00000000"] * 4), "\t".join(["0x00000000"] * 3 + ["0x00000007"])], text)
        # The same place as a watchpoint: without the view nothing changes, with it the store shows.
        text = gdb(words + " --cores 1", "break k.s:11", "continue", "monitor view core", "watch *(int *)0x8010000c", "continue", cwd=folder)
        in_order(text, "Old value = 0", "New value = 3", "start () at k.s:12")
        text = gdb(words + " --cores 1", "set var *(int *)0x8010 = 7", "print *(int *)0x8010", "set $v2.i32[1] = -2", "print $v2.i32",
                   "print/x $v2.u128", "print $v2.i8[4]", cwd=folder)
        check_eq(values(text), ["7", "{0, -2, 0, 0}", "0xfffffffe00000000", "-2"], text)


@case()
def watchpoints_stop_where_a_store_is_published():
    """As the host reads memory a store changes nothing; the MEMBAR, the release or the EXIT behind it does."""
    with Folder() as folder:
        for end, place in (("MEMBAR\n NOP", "NOP"), ("AADD s0, s0, (s4), rl\n NOP", "NOP"), ("NOP\n NOP", None)):
            with open(os.path.join(folder, "p.s"), "w") as f:
                f.write(f" LUI s3, 0x80100\n ADDI s4, s3, 128\n ADDI s2, s0, 5\n SW s2, 0(s3)\n NOP\n {end}\n EXIT\n")
            text = gdb("--machine tile p.s --grid 5x1 --cores 1", "watch *(int *)0x80100000", "continue", "print *(int *)0x80100000", cwd=folder)
            in_order(text, "Hardware watchpoint 1", "Old value = 0", "New value = 5", f"p.s:{7 if place else 1}\n", "$1 = 5")


@case()
def callers_are_not_invented():
    with Folder() as folder:
        text = gdb("--machine tile k.s --cores 1 --shared 64 --arg out=0x80100000", "break k.s:4", "break twice", "break k.s:12", "continue", "bt", "echo --\\n",
                   "continue", "bt", "echo --\\n", "continue", "bt", cwd=folder)
        before, inside, after = text.split("--\n")
        check_eq(re.findall(r"^#\d .*$", before, re.M), ["#0  start () at k.s:4"], text)
        check_eq(re.findall(r"^#\d .*$", inside, re.M), ["#0  twice () at k.s:16", "#1  0x80000018 in start () at k.s:7"], text)
        check_eq(re.findall(r"^#\d  .*$", after, re.M), ["#0  start () at k.s:12"], text)


@case()
def one_core_moves_alone():
    with Folder() as folder:
        words = "--machine tile k.s --grid 4x1 --shared 64 --arg out=0x80100000"
        text = gdb(words, "stepi 3", "monitor lock on", "thread 2", "stepi 5", "monitor steps", "reverse-stepi", "monitor steps", "stepi",
                   "print $pc", "monitor lock off", "stepi", "monitor steps", cwd=folder)
        counts = [tuple(map(int, found)) for found in
                  re.findall(r"core0: (\d+) retired\ncore1: (\d+) retired\ncore2: (\d+) retired\ncore3: (\d+) retired", text)]
        check_eq(len(counts), 3, text)
        first = counts[0]
        check(first[1] >= first[0] + 4, f"core 1 moved alone: {counts}\n{text}")
        check_eq(counts[1], (first[0], first[1] - 1, *first[2:]), text)
        check(counts[2][2] > first[2], f"all move again: {counts}")
        # The other cores end as they would have: the kernel's result does not depend on the order.
        text = gdb(words, "monitor lock on", "thread 3", "break end", "continue", "info threads", "monitor lock off", "delete", "continue", cwd=folder)
        in_order(text, "Breakpoint 1, end", "exited normally")
        threads = re.findall(r"^[* ] (\d) .*Frame|^[* ] (\d)    Thread \d \(core\d\)\s+(.*)$", text, re.M)
        check(any(t[1] == "1" and "k.s:2" in t[2] for t in threads), f"core 0 stands at its start:\n{text}")


@case()
def instructions_without_a_word():
    """The installed script: GDB learns them when it connects."""
    with Folder() as folder:
        if GDB is None:
            skip("gdb-multiarch is not installed")
        done = subprocess.run([GDB, "-batch", "-nx", "-ex", "set remotetimeout 200", "-ex", f"source {SOURCE}/src/gdb/facet.py", "-ex",
                               f"target remote | {FACET} gdb --machine tile k.s --quiet --stdio", "-ex", "x/2i $pc"],
                              capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL, timeout=300)
        in_order(done.stdout, "=> 0x80000000 <start>:\tADDI s1, s0, 77", "<start+4>:\tCSRRS s2")


@case()
def a_program_of_the_hart():
    with Folder() as folder:
        elf, state = os.path.join(folder, "sum.elf"), os.path.join(folder, "sum.state")
        check_eq(subprocess.run([FACET, "as", "-g", "--isa", "xphmg", "examples/lockstep.s", "-o", elf], cwd=SOURCE).returncode, 0)
        line = 1 + next(i for i, text in enumerate(open(os.path.join(SOURCE, "examples/lockstep.s"))) if text.startswith("done"))
        text = gdb(elf, f"break examples/lockstep.s:{line}", "continue", "print (long)sum", "watch *(long *)&sum", "reverse-continue", "print (long)sum",
                   "step", "print (long)sum", "set $pbank1 = 9", "stepi", "print $pbank1_bits", f"monitor save {state}", program=elf)
        check_eq(values(text), ["55", "45", "55", "[ l0 l3 ]"], text)
        in_order(text, f"Breakpoint 1, done () at examples/lockstep.s:{line}", "saved in")
        text = gdb(f"--resume {state}", "print (long)sum", "print $pbank1_bits", program=elf)
        check_eq(values(text), ["55", "[ l0 l3 ]"], text)


@case()
def harts_move_alone():
    with Folder() as folder:
        elf = os.path.join(folder, "two.elf")
        with open(os.path.join(folder, "two.s"), "w") as f:
            f.write("_start: addi t0, t0, 1\nj _start\n")
        check_eq(subprocess.run([FACET, "as", "-g", "--isa", "xphmg", "two.s", "-o", elf], cwd=folder).returncode, 0)
        text = gdb(f"{elf} --harts 2", "monitor lock on", "thread 2", "stepi 20", "print $t0", "thread 1", "print $t0", "thread 2",
                   "reverse-stepi 2", "print $t0", "thread 1", "print $t0", program=elf)
        check_eq(values(text), ["10", "0", "9", "0"], text)


@case()
def the_instructions_of_one_ray():
    with Folder() as folder:
        image, state = os.path.join(folder, "cube.gfx12"), os.path.join(folder, "ray.state")
        check_eq(subprocess.run([FACET, "bvh", "build", "examples/gfx12/cube.obj", "-o", image, "--quiet"], cwd=SOURCE, stdout=subprocess.DEVNULL).returncode, 0)
        ray = f"--machine gfx12 {image} --ray '-1 0.25 0.5 1 0.25 0.125'"
        learn = "python exec(gdb.execute('monitor python', to_string=True))"
        text = gdb(ray, learn, "display/i $pc", "stepi", "stepi", "stepi", "monitor steps", "print/x $v20", "reverse-stepi", f"monitor save {state}", "print $pc", "print/x $v20", "continue")
        in_order(text, "ds_bvh_stack_push8_pop1_rtn_b32", "image_bvh8_intersect_ray v[0:9]", "ds_bvh_stack_push8_pop1_rtn_b32", "steps 3", "saved in", "exited normally")
        there = values(text)[-2:]
        text = gdb(f"{ray} --resume {state}", "print $pc", "print/x $v20", "continue")
        in_order(text, "exited normally")
        check_eq(values(text), there, text)


@case()
def resuming_what_does_not_fit():
    with Folder() as folder:
        path = os.path.join(folder, "not.state")
        with open(path, "wb") as f:
            f.write(b"no state")
        for words in (["--machine", "tile", os.path.join(folder, "k.s")], ["--machine", "tile", "examples/gdb/list/list.json"]):
            done = subprocess.run([FACET, "gdb", *words, "--resume", path, "--stdio"], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=SOURCE)
            check(done.returncode == 2 and path in done.stderr and "offset" in done.stderr, done.stderr)


main("gdb_machines")
