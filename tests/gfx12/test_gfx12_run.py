"""`facet gfx12 run` and `facet gdb --machine gfx12` from outside: reports, traces, going on from a
file, and input that is not what it should be."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
RAY = "-1 0.25 0.5 1 0.25 0.125"
FOLDER = tempfile.TemporaryDirectory()
IMAGE = os.path.join(FOLDER.name, "cube.gfx12")


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words, code=0):
    done = subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600)
    check_eq(done.returncode, code, f"facet {' '.join(words)} said {done.stderr}; exit code")
    return done


def run(*words, code=0):
    return facet("gfx12", "run", IMAGE, *words, code=code)


def report(*words, code=0):
    return json.loads(run("--json", *words, code=code).stdout)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


facet("bvh", "build", os.path.join(SOURCE, "examples/gfx12/cube.obj"), "-o", IMAGE, "--quality", "contract")


@case()
def a_ray_hits_what_bvh_why_says():
    for ray in (RAY, "0.5 0.5 5 0 0 -1", "5 5 5 1 1 1", "0.25 0.75 -3 0.125 0 1"):
        why = json.loads(facet("bvh", "why", IMAGE, "--ray", ray, "--json").stdout)["result"]
        got = report("--ray", ray)
        lane = got["lanes"][0]
        check_eq((got["result"], lane["state"]), ("done", "ended"))
        check_eq(lane["hit"] is not None, why["found"], ray)
        check_eq(got["steps"], 2 * lane["nodes"], "steps")
        if lane["hit"]:
            for key in ("t", "u", "v", "primitive", "geometry", "backface", "node", "base", "instance"):
                check_eq(lane["hit"][key], why[key], f"{ray}: {key}")


@case()
def lanes_share_a_run_and_report_apart():
    got = report("--ray", RAY, "--ray", "5 5 5 1 1 1")
    check_eq([lane["hit"] is not None for lane in got["lanes"]], [True, False])
    text = run("--ray", RAY, "--ray", "5 5 5 1 1 1").stdout.splitlines()
    check(re.match(r" +0 +5 .* hit t 1 u 0.125 v 0.5 primitive 8 ", text[1]), text[1])
    check(text[2].endswith("  no hit"), text[2])
    check_eq(text[-1], f"done after {got['steps']} steps")


@case()
def a_trace_names_instructions_nodes_and_lds():
    run("--ray", RAY, "--trace", path("t.jsonl"))
    with open(path("t.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    check_eq(lines[0], {"facet_trace": 1, "machine": "gfx12", "cores": ["lane0"]})
    check_eq(len(lines), 11)
    names = [line["insn"].split()[0] for line in lines[1:]]
    check_eq(names, ["image_bvh8_intersect_ray", "ds_bvh_stack_push8_pop1_rtn_b32"] * 5)
    check_eq(lines[1]["word"], "0xd3e04010")
    check_eq(lines[1]["changes"][0], {"unit": "ray", "what": "box", "values": ["0x5", "0x0"]})
    check_eq([c["load"] for c in lines[1]["changes"] if "load" in c], [hex(16 * i) for i in range(8)])
    check({"store": "0x1000000000000", "size": 4, "old": "0x0", "new": "0x16"} in lines[2]["changes"],
          "the push is missing")
    run("--ray", RAY, "--trace", path("u.jsonl"), "--trace-insn", "ds_*", "--trace-count", "2")
    with open(path("u.jsonl"), encoding="utf-8") as file:
        check_eq([json.loads(line).get("step") for line in file], [None, 1, 3])
    done = run("--ray", RAY, "--trace", path("v.jsonl"), "--trace-format", "spike", code=2)
    check("expected one of jsonl|perfetto|vcd|konata" in done.stderr and "spike" not in run("--help").stdout, done.stderr)


@case()
def stops_say_what_the_instruction_reads():
    """After two steps of the ray -1 0.25 0.5, direction 1 0.25 0.125: the intersect instruction, its ray and who wrote the node."""
    said = run("--ray", RAY, "--steps", "2").stdout
    for line in ("lane 0 stopped at 0x2000000000000: image_bvh8_intersect_ray v[0:9], ",
                 "  v14 (origin x, -1) = 0xbf800000, not written in the last 2 steps\n",
                 "  v19 (direction z, 0.125) = 0x3e000000, not written in the last 2 steps\n"):
        check(line in said, said)
    node = re.search(r"  v20 \(node: (\w+)\) = (0x\w{8}), written at 0x200000000000c: ds_bvh_stack_push8_pop1_rtn_b32 v20, ", said)
    lines = [json.loads(line) for line in run("--ray", RAY, "--trace", "-", "--trace-count", "3").stdout.splitlines()[1:]]
    told = [(c["what"], int(c["values"][0], 16)) for c in lines[2]["changes"] if c.get("unit") == "ray"]
    check_eq([(node.group(1).replace("primitives", "primitive"), int(node.group(2), 16))], told, said)
    stopped = json.loads(run("--ray", RAY, "--break", "0x200000000000c", "--json").stdout)["stopped"]
    check_eq([(r["name"], r["what"]) for r in stopped["registers"][:3]],
             [("v22", "state of the stack"), ("v21", "last node"), ("v0", "result 0")])
    check_eq({r["written"]["pc"] for r in stopped["registers"][2:]}, {"0x2000000000000"})


@case()
def a_saved_run_goes_on():
    whole = report("--ray", RAY, "--ray", "0.5 0.5 5 0 0 -1", "--dump-state")
    for steps in (0, 1, 7, 13):
        words = ("--ray", RAY, "--ray", "0.5 0.5 5 0 0 -1", "--dump-state")
        first = report(*words, "--steps", str(steps), "--save", path("state"))
        check_eq((first["result"], first["steps"]), ("paused", steps))
        check_eq(report(*words, "--resume", path("state")), whole)
    done = run("--ray", RAY, "--resume", path("state"), code=2)
    check("a different number of lanes" in done.stderr, done.stderr)
    write("t.jsonl", "")
    for name, what in ((IMAGE, "the image"), (path("t.jsonl"), "the trace")):
        done = run("--ray", RAY, "--trace", path("t.jsonl"), "--save", name, code=2)
        check(what in done.stderr, done.stderr)


@case("G12-265 G12-266")
def a_program_runs_once():
    program = write("p.s", "# nothing but\n\nimage_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], "
                           "v[17:19], v20], s[0:3]  # this\n")
    got = report("--ray", RAY, "--program", program, "--dump-state")
    check_eq((got["result"], got["steps"]), ("done", 1))
    check_eq(got["lanes"][0]["registers"]["v30"], "0x16")
    got = report("--ray", RAY, "--program", program, "--dump-state", "--set", "v20=0xffffffff")
    check_eq(got["lanes"][0]["registers"]["v30"], "0xffffffff")
    got = report("--ray", RAY, "--program", program, "--set", "pc=0x1234", code=1)
    check_eq(got["fault"], {"lane": 0, "cause": 2, "name": "no code at pc", "pc": "0x1234", "value": "0x1234"})
    done = run("--ray", RAY, "--set", "pc=0x2000000000004", code=1)
    check("lane 0: illegal instruction (cause 1" in done.stdout, done.stdout)
    said = run("--ray", RAY, "--break", "0x200000000000c").stdout
    check("lane 0 stopped at the breakpoint 0x200000000000c: ds_bvh_stack_push8_pop1_rtn_b32 " in said, said)
    check_eq(said.splitlines()[-1], "breakpoint after 1 step")


@case()
def bad_input_is_told():
    for words, message in (
            ((), "0 rays: expected 1 to 32"),
            (("--ray", RAY) * 33, "33 rays: expected 1 to 32"),
            (("--ray", "1 2 3"), "--ray: 3 numbers: expected 6"),
            (("--ray", "1 2 3 4 5 x"), 'expected a number'),
            (("--ray", RAY, "--stack", "7"), "--stack"),
            (("--ray", RAY, "--base", "32"), "a multiple of 64"),
            (("--ray", RAY, "--root", "0x1005"), "is not a node of the image"),
            (("--ray", RAY, "--set", "v256=1"), "--set v256=1: expected REG=N"),
            (("--ray", RAY, "--set", "v20"), "--set v20: expected REG=N"),
            (("--ray", RAY, "--set", "v20=0x100000000"), "v20 has only 32 bits"),
            (("--ray", RAY, "--break", "main"), "--break main: expected an address"),
            (("--ray", RAY, "--program", write("a.s", "\ns_endpgm\n")), "a.s:2: column 1: expected image_bvh8"),
            (("--ray", RAY, "--program", write("b.s", "# nothing\n")), "b.s: no instruction"),
            (("--ray", RAY, "--program", write("c.s", "ds\0")), "c.s: a zero byte"),
            (("--ray", RAY, "--resume", IMAGE), "cube.gfx12"),
            (("--ray", RAY, "--json", "--trace", "-"), "--json and --trace - both write to standard output"),
            (("--ray", RAY, "--save", "-"), "--save -: expected a file")):
        done = run(*words, code=2)
        check(message in done.stderr, f"{words}: {done.stderr}")
        check_eq(done.stdout, "", "standard output")
    line = "ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 16, 2\n"
    done = run("--ray", RAY, "--program", write("d.s", line * 9000), code=2)
    check("more than 65536 bytes" in done.stderr, done.stderr)


def gdb(commands, *words, ray=RAY):
    tool = shutil.which("gdb-multiarch")
    if tool is None:
        skip("gdb-multiarch is not installed")
    line = " ".join(f"'{word}'" for word in words)
    target = f"target remote | '{FACET}' gdb --machine gfx12 '{IMAGE}' --ray '{ray}' {line} --stdio --quiet"
    arguments = [tool, "-batch", "-nx", "-ex", "set confirm off", "-ex", "set width 0",
                 "-ex", "set style enabled off", "-ex", target]
    for command in commands:
        arguments += ["-ex", command]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, timeout=300)
    for bad in ("Cannot", "Remote failure", "not supported", "Traceback", "Invalid"):
        check(bad not in done.stdout, f"GDB complains:\n{done.stdout}")
    return done.stdout


def values(text):
    return re.findall(r"^\$\d+ = (.*)$", text, re.M)


@case()
def gdb_steps_both_ways_and_names_registers():
    text = gdb(["print/x $pc", "stepi", "print/x $pc", "print/x $v0", "print/x $s1", "print/x $s3", "print $t_cur",
                "print/x $v20", "stepi", "print/x $v20", "print/x $pc", "reverse-stepi", "reverse-stepi",
                "print/x $v0", "set $v20 = 0xffffffff", "stepi", "print/x $v0", "monitor steps"])
    check_eq(values(text), ["0x2000000000000", "0x200000000000c", "0x16", "0x80100000", "0x81e803ff", "inf", "0x5",
                            "0x16", "0x2000000000000", "0x0", "0xffffffff"], text)
    check("steps 1" in text, text)


@case()
def gdb_watches_lds_and_nodes():
    text = gdb(["watch *(int *)0x1000000000000", "continue", "delete", "rwatch *(int *)0x180", "continue",
                "print/x $v20", "delete", "continue"])
    check("New value = 22" in text and "exited normally" in text, text)
    check_eq(values(text), ["0x12"], text)


@case()
def gdb_learns_the_instructions_and_sees_lanes():
    text = gdb(["python exec(gdb.execute('monitor python', to_string=True))", "x/2i $pc", "info threads",
                "thread 2", "stepi", "print/x $v0"], "--ray", "5 5 5 1 1 1")
    check("=> 0x2000000000000:\timage_bvh8_intersect_ray v[0:9]" in text, text)
    check("   0x200000000000c:\tds_bvh_stack_push8_pop1_rtn_b32 v20" in text, text)
    check("(lane0)" in text and "(lane1)" in text, text)
    check_eq(values(text)[-1], "0xffffffff", text)


@case()
def gdb_refuses_options_of_other_machines():
    for words, message in ((("--machine", "gfx12", "--grid", "2x2"), "--grid is for the tile machine"),
                           (("--machine", "gfx12", "--harts", "2"), "--harts is for the xphmg machine"),
                           (("--machine", "tile", "--ray", RAY), "--ray is for the gfx12 machine"),
                           (("--ray", RAY), "--ray is for the gfx12 machine"),
                           (("--base", "64"), "--base is for the tile machine")):
        done = facet("gdb", IMAGE, *words, code=2)
        check(message in done.stderr, done.stderr)


main("gfx12_run")
