"""Hierarchies, rays, explanations and kernels on NumPy arrays."""
import json

import facet
import numpy as np
from harness import case, check, check_eq, main, skip

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
DOWN = np.array([0, 0, -1], np.float32)
ADD = """
        CSRR s5, arg_base
        LW s6, 0(s5)            # the array
        LW s9, 4(s5)            # a number
        CSRR s7, tile_offset
        ANDI s7, s7, 0x3ff
        LSRI s7, s7, 2          # tiles are 16 pixels wide: one word each
        ADD s6, s6, s7
        SW s9, 0(s6)
        EXIT
"""


def grid(n):
    """A field of 2 n^2 triangles over [0, n]^2, and rays down on it."""
    x, y = np.meshgrid(np.arange(n + 1, dtype=np.float32), np.arange(n + 1, dtype=np.float32))
    positions = np.stack([x, y, np.sin(x + y)], axis=-1).reshape(-1, 3).astype(np.float32)
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    indices = np.concatenate([np.stack([corner, corner + 1, corner + n + 1], 1),
                              np.stack([corner + 1, corner + n + 2, corner + n + 1], 1)]).astype(np.uint32)
    return facet.Mesh(positions, indices)


def rays_over(n, count):
    random = np.random.default_rng(1)
    origins = random.uniform(0, n, (count, 3)).astype(np.float32)
    origins[:, 2] = 5
    return origins, np.broadcast_to(DOWN, (count, 3))


@case()
def build_check_and_trace_both_formats():
    for format in ("gfx12", "xphmg"):
        with facet.Bvh.build(grid(20), format=format) as bvh:
            check_eq((bvh.format, bvh.check()), (format, []))
            origins, directions = rays_over(20, 1000)
            hits = bvh.trace(origins, directions)
            check_eq(hits.dtype, facet.HIT)
            check(bool((hits["flags"] & 1).all()), "every ray hits the field")
            triangles = grid(20).positions[grid(20).indices[hits["primitive"]]]
            z = (triangles[:, 0] + hits["u"][:, None] * (triangles[:, 1] - triangles[:, 0]) +
                 hits["v"][:, None] * (triangles[:, 2] - triangles[:, 0]))[:, 2]
            check(bool(np.allclose(5 - hits["t"], z, atol=1e-4)), "the hit lies on the triangle that it names")
            with facet.Bvh.open(bvh.image) as again:
                check(bool((again.trace(origins, directions, threads=3) == hits).all()), "image and threads")
            check_eq(json.loads(bvh.dump(json=True)) != {}, True)


@case()
def rays_on_a_device():
    origins, directions = rays_over(20, 1000)
    with facet.Bvh.build([grid(20)]) as bvh, facet.Bvh.build([grid(20)], format="xphmg") as other:
        for device, words in (("opencl:200", "there is no device opencl:200"), ("gpu", "there is no GPU")):
            try:
                check(bool((bvh.trace(origins, directions, device=device) == bvh.trace(origins, directions)).all()), device)
            except facet.Error as error:
                check(words in str(error), str(error))
        for wrong in ("cuda", "opencl:", "opencl:254"):
            try:
                bvh.trace(origins, directions, device=wrong)
                check(False, f"device {wrong}")
            except ValueError as error:
                check("expected cpu, gpu or opencl:N" in str(error), str(error))
        try:
            other.trace(origins, directions, device="opencl:0")
            check(False, "an RT image on a device")
        except facet.Error as error:
            check("GFX12 images" in str(error), str(error))
        try:
            for count in (1000, 1_100_000):  # the second takes the device that is open, and comes in two pieces
                origins, directions = rays_over(20, count)
                check(bool((bvh.trace(origins, directions, device="opencl:0") == bvh.trace(origins, directions)).all()),
                      "hits of the device")
        except facet.Error as error:
            if "no device" not in str(error):
                raise
            skip(str(error))


@case()
def views_are_read_where_they_lie():
    with facet.Bvh.build(TRIANGLE) as bvh:
        packed = np.zeros((5, 8), np.float32)
        packed[:, 0:3] = [0.25, 0.25, 2]
        packed[:, 4:7] = DOWN
        packed[:, 7] = [1, 3, 1, 3, 1]
        expected = [np.inf, 2, np.inf, 2, np.inf]
        for rays in (packed, np.asfortranarray(packed), packed[::-1], packed.copy()):
            hits = bvh.trace(rays[:, 0:3], rays[:, 4:7], t_max=rays[:, 7])
            check_eq(hits["t"].tolist(), expected)
        out = np.zeros(5, facet.HIT)
        check(bvh.trace(packed[:, 0:3], packed[:, 4:7], out=out) is out, "out is filled and returned")
        check_eq(out["t"].tolist(), [2.0] * 5)
        check_eq(len(bvh.trace(packed[:0, 0:3], packed[:0, 4:7])), 0)


@case()
def placements_refit_and_findings():
    matrix = np.array([[1, 0, 0, 10], [0, 1, 0, 0], [0, 0, 1, 0]], np.float32)
    mesh = facet.Mesh(TRIANGLE, geometry=7)
    with facet.Bvh.build(mesh, [facet.Placement(0, matrix), facet.Placement(0, np.eye(3, 4, dtype=np.float32))]) as bvh:
        origins = np.array([[10.25, 0.25, 2], [0.25, 0.25, 2]], np.float32)
        hits = bvh.trace(origins, np.broadcast_to(DOWN, (2, 3)))
        check_eq((hits["instance"].tolist(), hits["geometry"].tolist()), ([0, 1], [7, 7]))
    with facet.Bvh.build(TRIANGLE) as bvh, bvh.refit(TRIANGLE + np.float32([0, 0, 1])) as moved:
        check_eq(moved.trace(origins[1:], DOWN[None])["t"].tolist(), [1.0])
        broken = bytearray(bvh.image)
        broken[len(broken) // 2:] = b"\xff" * (len(broken) - len(broken) // 2)
        with facet.Bvh.open(broken) as bad:
            findings = bad.check()
            check(any(one.severity == "error" and one.rule and one.text for one in findings), str(findings))


@case()
def updatable_hierarchies_take_any_motion():
    random = np.random.default_rng(7)
    before, after = random.random((2, 300, 3), np.float32)
    origins = random.random((50, 3), np.float32) + np.float32([0, 0, 2])
    down = np.broadcast_to(DOWN, (50, 3))
    with facet.Bvh.build(before, quality="fast", allow_update=True) as bvh, bvh.refit(after) as moved, \
            facet.Bvh.build(after) as fresh:
        check_eq(moved.trace(origins, down)["t"].tolist(), fresh.trace(origins, down)["t"].tolist())
        check_eq([one for one in moved.check() if one.severity == "error"], [])


@case()
def why_as_dictionaries():
    ray = np.array([0.25, 0.25, 2, 0, 0, -1, 0, 100], np.float32)
    why = facet.why_triangle(ray, TRIANGLE.ravel())
    check_eq((why["outcome"], why["values"], why["decided"]), ("hit", [2.0, 0.25, 0.25], "T11"))
    check_eq((why["test"]["facet"]["front"], why["test"]["kz"], why["test"]["det"]), (True, 2, 1.0))
    check_eq(facet.why_triangle(ray, TRIANGLE[::-1].ravel(), cull_back=True)["outcome"], "miss")
    why = facet.why_box(ray, np.array([0, 0, -1, 1, 1, 1], np.float32))
    check_eq((why["outcome"], why["values"], [a["parallel"] for a in why["test"]["axis"]]),
             ("hit", [1.0, 3.0], [True, True, False]))
    check_eq(json.loads(json.dumps(why)), why)


@case()
def why_with_elements_of_another_format():
    half = facet.Elements("FP16")
    ray = np.array([0x3400, 0x3400, 0x4000, 0, 0, 0xBC00, 0, 0x5640], np.uint32)
    triangle = np.array([0, 0, 0, 0x3C00, 0, 0, 0, 0x3C00, 0], np.uint32)
    check_eq(facet.why_triangle(ray, triangle, numbers=half)["values"], [2.0, 0.25, 0.25])
    for wrong in (ray.astype(np.float32), ray[:7]):
        try:
            facet.why_triangle(wrong, triangle, numbers=half)
            check(False, "elements are uint32 (8,)")
        except TypeError:
            pass


@case()
def why_of_a_sample():
    """T2, the texture of the worked examples (gfx-semantics.md 18), at the coordinates of examples 2 and 4."""
    texels = np.array([[[0, 0x40, 0x80, 0xFF], [0xFF, 0, 0, 0x80]], [[0x10, 0x20, 0x30, 0x40], [0xFF, 0xFF, 0xFF, 0]]],
                      np.uint8)
    why = facet.why_sample(texels, 0.5, 0.4)
    check_eq([f"{bits:08X}" for bits in why["result"]], ["3F0268C9", "3E83691D", "3EB534A9", "3F10371D"])
    check_eq((why["footprint"]["kind"], why["footprint"]["fu"], why["footprint"]["fv"]), ("taps", 32768, 19660))
    check_eq([(tap["kind"], tap["x"], tap["y"]) for tap in why["footprint"]["tap"]],
             [("texel", 0, 0), ("texel", 1, 0), ("texel", 0, 1), ("texel", 1, 1)])
    check_eq((round(why["values"][0], 6), why["channels"][0]["lerp"][2]["result"], why["flags"]),
             (0.509411, 0x3F0268C9, facet.Flag.NX))
    check_eq(json.loads(json.dumps(why)), why)
    why = facet.why_sample(texels, 0x3800, 0x3866, numbers=facet.Elements("FP16", "FP16"))
    check_eq((why["result"][1], round(why["values"][1], 6)), (0x3633, 0.387451))
    why = facet.why_sample(texels, -0.5, 0.5, wrap="border", border=(1, 2, 3, 4), bilinear=False)
    check_eq((why["values"], why["footprint"]["tap"][0]["kind"]), ([1, 2, 3, 4], "border"))
    check_eq(facet.why_sample(texels, float("nan"), 0)["footprint"]["kind"], "nan coordinate")
    for arguments, options, kind in (((texels, 0.9, 0.9), {"format": "FP32_RGBA"}, facet.Error),
                                     ((texels, 0, 0), {"format": "PAPER"}, ValueError),
                                     ((texels, 0, 0), {"wrap": "knot"}, ValueError),
                                     ((texels, 0, 0), {"border": (1, 2)}, ValueError),
                                     ((b"1234", 0, 0), {}, TypeError), ((texels.ravel(), 0, 0), {}, TypeError),
                                     ((texels, 1 << 16, 0), {"numbers": facet.Elements("FP16")}, ValueError)):
        try:
            facet.why_sample(*arguments, **options)
            check(False, f"{options} is refused")
        except kind:
            pass


@case()
def kernels_on_arrays():
    with facet.Tile() as gpu:
        out, constant = np.zeros(8, np.uint32), np.arange(3, dtype=np.int16)
        constant.flags.writeable = False
        info = gpu.kernel(ADD, (5, 1), out, 7, constant)
        check_eq((out.tolist(), info["state"]), ([7] * 5 + [0] * 3, "done"))
        view = np.zeros((8, 2), np.float32)
        gpu.kernel(ADD, (8, 1), view[:, 1], 1.5)
        check_eq(view.tolist(), [[0, 1.5]] * 8)
        check(sum(gpu.report(core)["retired"] for core in range(4)) > 0, "reports count")
        out[:] = 0
        try:
            gpu.kernel("LW s6, 4(s0)\nSW s6, 3(s0)\nEXIT\n", (1, 1), out)
            check(False, "a fault is an Error")
        except facet.Error as error:
            check("not done (faulted" in str(error) and "core 0: " in str(error), str(error))
        check_eq(out.tolist(), [0] * 8)
        gpu.kernel(ADD, (1, 1), out, 9)
        check_eq(out[0], 9)


main("python_arrays")
