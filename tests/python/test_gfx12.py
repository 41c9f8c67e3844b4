"""The GFX12 machine and the explanation of a ray from Python."""
import json
import os
import pathlib
import subprocess
import tempfile

import facet
import numpy as np
from harness import case, check, check_eq, main

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
ORIGIN, DOWN = (0.25, 0.25, 2), (0, 0, -1)
STRAIGHT = """
    image_bvh8_intersect_ray v[0:9], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]   # one node
    ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7], 16, 2
"""


def refused(kind, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        return error
    check(False, f"{arguments} {options} is a {kind.__name__}")


@case()
def lanes_find_what_the_tracer_finds():
    mesh = facet.Mesh(np.random.default_rng(3).uniform(0, 4, (300, 3)).astype(np.float32))
    random = np.random.default_rng(4)
    origins, directions = (random.uniform(low, high, (32, 3)).astype(np.float32) for low, high in ((0, 4), (-1, 1)))
    with facet.Bvh.build(mesh) as bvh, facet.Gfx12(bvh, lanes=32, stack_entries=8) as wave:
        expected = bvh.trace(origins, directions)
        check_eq((wave.kind, wave.cores, wave.lane(5)["state"]), ("gfx12", 32, "idle"))
        for lane in range(32):
            wave.start(origins[lane], directions[lane], lane=lane)
        check_eq(wave.run().reason, "exit")
        for lane in range(32):
            told = wave.lane(lane)
            check_eq((told["state"], told["hit"] is not None), ("ended", bool(expected["flags"][lane])))
            if told["hit"]:
                check_eq((told["hit"]["t"], told["hit"]["primitive_index"]), (expected["t"][lane], expected["primitive"][lane]))
        check(sum(wave.lane(lane)["stats"]["boxes"] for lane in range(32)) > 32, "nodes are counted")


@case()
def steps_registers_observer_and_snapshots():
    with facet.Bvh.build(TRIANGLE) as bvh, facet.Gfx12(bvh) as wave:
        wave.start(ORIGIN, DOWN)
        check_eq((wave["v20"], wave["v14"], wave["s3"] != 0), (5, 0x3E800000, True))
        written = []
        wave.observe(reg_write=lambda event: written.append(event["name"]))
        check_eq(wave.disassemble(wave["pc"])[:24], "image_bvh8_intersect_ray")
        saved = wave.snapshot()
        check_eq(wave.step().steps, 1)
        check_eq(written[:10], [f"v{i}" for i in range(10)])
        wave.run()
        end = wave.lane()
        wave.restore(saved)
        check_eq(wave.lane()["hit"], None)
        wave.run()
        check_eq((wave.lane(), end["hit"]["t"]), (end, 2.0))
    with facet.Gfx12(image_base=0x10000) as wave:
        wave.start(ORIGIN, DOWN)
        check_eq(wave["v10"], 0x10000 // 8)
    with facet.Bvh.build(TRIANGLE) as bvh, facet.Gfx12(bvh) as a, facet.Gfx12(bvh) as b:
        for machine, direction in ((a, DOWN), (b, (0, 0, 1))):
            machine.start(ORIGIN, direction)
        difference = facet.lockstep(a, b, 1000)
        check_eq((difference.step, difference.a.name[0]), (0, "v"))


@case()
def programs():
    with facet.Bvh.build(TRIANGLE) as bvh, facet.Gfx12(bvh) as wave:
        wave.load(STRAIGHT)
        wave.start(ORIGIN, DOWN)
        check_eq((wave.run().reason, wave.steps, wave.lane()["hit"]), ("exit", 2, None))
        wave.load(STRAIGHT, loop=True)
        wave.start(ORIGIN, DOWN)
        wave.run()
        check_eq(wave.lane()["hit"]["t"], 2.0)
        wave.load([0, 0])
        wave.start(ORIGIN, DOWN)
        stop = wave.run()
        check_eq((stop.reason, wave.cause(stop.code)), ("fault", "illegal instruction"))
        error = refused(facet.Error, wave.load, "\nimage_bvh8_intersect_ray v0\n")
        check_eq((error.where, str(error)[:8]), (2, "line 2: "))


@case()
def misuse():
    with facet.Bvh.build(TRIANGLE, format="xphmg") as tiles:
        refused(facet.Error, facet.Gfx12, tiles)
        refused(facet.Error, tiles.why, ORIGIN, DOWN)
    for options in ({"lanes": 33}, {"stack_entries": 40}, {"image_base": 1}):
        refused(facet.Error, facet.Gfx12, **options)
    refused(ValueError, facet.Gfx12, profile="paper")
    refused(ValueError, facet.Gfx12, resource=(1, 2, 3))
    with facet.Gfx12() as wave:
        refused(facet.Error, wave.start, ORIGIN, DOWN, lane=1)
        refused(facet.Error, wave.lane, 1)
        for origin in ((1, 2), "abc", 5, None, (1, 2, 3, 4)):
            refused(TypeError, wave.start, origin, DOWN)
        refused(ValueError, wave.start, ORIGIN, DOWN, flags=-1)


@case()
def why_is_what_the_command_says():
    with facet.Bvh.build(TRIANGLE) as bvh, tempfile.TemporaryDirectory() as folder:
        why = bvh.why(ORIGIN, DOWN)
        check_eq((why["complete"], why["result"]["found"], why["result"]["t"]["value"]), (True, True, 2.0))
        file = pathlib.Path(folder, "image")
        file.write_bytes(bvh.image)
        said = subprocess.run([os.environ["FACET"], "bvh", "why", file, "--ray", "0.25 0.25 2 0 0 -1", "--json"],
                              capture_output=True, text=True, check=True).stdout
        check_eq(why, json.loads(said))
        check_eq(bvh.why(ORIGIN, DOWN, t_max=1)["result"]["found"], False)
        check_eq(bvh.why((0.25, 0.25, -2), (0, 0, 1), cull_back=True)["result"]["found"], False)
        refused(ValueError, bvh.why, ORIGIN, DOWN, mask=0)
        refused(TypeError, bvh.why, (1, 2), DOWN)
    with facet.Bvh.open(b"") as nothing:
        refused(facet.Error, nothing.why, ORIGIN, DOWN)


main("python_gfx12")
