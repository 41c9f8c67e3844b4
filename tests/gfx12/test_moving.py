"""HIPRT's instances that move through several frames: the image is that of the first, and says so."""
import json
import math
import struct
import tempfile

from dialects import hiprt, model
from driver_files import WHOLE, agrees, facet, findings, hits_of, words_of, write
from harness import case, check, check_eq, main

BLASES = [[model.Geometry(model.soup(16) + model.grid(2))], [model.Geometry(model.grid(3))]]
FIRST = [model.Instance(0, model.turn(30, 3), user_data=0), model.Instance(1, model.identity(), user_data=1),
         model.Instance(0, model.turn(50, -3, 1, 2, 1.5), user_data=2)]


def moving(instance, *later):
    return hiprt.moving(model.Instance(instance.blas, instance.matrix, user_data=instance.user_data), *later)


def placed():
    """Two that move, between them one that does not."""
    return [moving(FIRST[0], model.turn(70, 5), model.turn(90, 7)), FIRST[1],
            moving(FIRST[2], model.turn(-20, -1, 1, 2, .5), model.identity())]


def patched(capture, change):
    """The capture with another scene: `change` gets its bytes, where its frames begin, and its instance nodes."""
    data = bytearray(capture.segments[0].data)
    pointers = struct.unpack_from("<5Q", data)
    nodes, = struct.unpack_from("<I", data, 48)
    start = pointers[1] - pointers[0] + 64
    change(data, pointers[3] - pointers[0] + 64, [start + 128 * i for i in range(nodes)])
    return model.Capture([model.Segment(capture.segments[0].address, bytes(data), "scene.bin")] + capture.segments[1:],
                         capture.base, capture.root)


def moves(data, node):
    return data[node + 79] >> 2 & 1 == 0


@case("G12-298")
def the_first_frame_is_the_image():
    rays = model.rays(2000, WHOLE)
    for matrix_frames in (False, True):
        name = "matrices" if matrix_frames else "rotations"
        capture = hiprt.scene(BLASES, placed(), matrix_frames=matrix_frames)
        with tempfile.TemporaryDirectory() as folder:
            words = (*words_of(capture, folder), "--driver", "hiprt")
            found = findings(*words)
            check_eq([(f["rule"], f["severity"]) for f in found if f["severity"] != "note"], [], name)
            check_eq([f["found"][:11] for f in found if f["rule"] == "V54"], ["2 instances"], name)
            hits = hits_of(folder, rays, *words)
            agrees(model.World(BLASES, FIRST), rays, hits, name)
            check_eq({h[3] for h in hits if h}, {0, 1, 2}, "every instance is met")
            ray, hit = next((r, h) for r, h in zip(rays, hits) if h and h[3] == 2)
            numbers = " ".join(repr(v) for k, v in enumerate(ray) if k not in (3, 7))
            told = json.loads(facet("why", *words, "--json", "--ray", numbers).stdout)
            check(told["result"]["found"] and math.isclose(told["result"]["t"]["value"], hit[0], rel_tol=1e-6), told["result"])
            dump = facet("dump", *words, "--json").stdout
            facet("encode", write(folder, "d.json", dump.encode()), "-o", folder + "/back")
            with open(folder + "/back", "rb") as file:
                check(capture.segments[0].data in file.read(), "a dump has the bytes of the file")


@case("G12-298")
def times_tell_the_form():
    """Matrices whose first row has the length 1: read as rotations, they have an inverse too."""
    axis, angle = [v / math.sqrt(14) for v in (1, 2, 3)], 1.0
    x, y, z = axis
    cross, c, s = [[0, -z, y], [z, 0, -x], [-y, x, 0]], math.cos(angle), math.sin(angle)
    rotated = [[c * (i == k) + s * cross[i][k] + (1 - c) * axis[i] * axis[k] for k in range(3)] for i in range(3)]
    matrix = [row + [move] for row, move in zip(rotated, (0.0, 0.5, 0.25))]
    still = model.Instance(0, matrix)
    with tempfile.TemporaryDirectory() as folder:
        words = words_of(hiprt.scene(BLASES, [moving(still, model.identity(), matrix)], matrix_frames=True), folder)
        rays = model.rays(500, WHOLE)
        agrees(model.World(BLASES, [still]), rays, hits_of(folder, rays, *words, "--driver", "hiprt"), "matrices")


@case("G12-298")
def instances_without_frames_stay():
    """0 frames, or no list of them: the identity."""
    def no_frames(data, frames, nodes):
        for node in nodes:
            if moves(data, node):
                struct.pack_into("<I", data, node + 4, 0)

    def no_list(data, frames, nodes):
        struct.pack_into("<Q", data, 24, 0)
    world = model.World(BLASES, [model.Instance(i.blas, model.identity(), user_data=i.user_data) for i in FIRST])
    rays = model.rays(500, WHOLE)
    for change in (no_frames, no_list):
        with tempfile.TemporaryDirectory() as folder:
            words = words_of(patched(hiprt.scene(BLASES, placed()), change), folder)
            hits = hits_of(folder, rays, *words, "--driver", "hiprt")
            wrong = [h for r, h in zip(rays, hits) if h is not None and not model.closest(world, r, h)]
            check_eq(wrong, [], change.__name__)


@case("G12-298")
def frames_that_cannot_be_read_are_refused():
    def far(data, frames, nodes):
        struct.pack_into("<I", data, next(n for n in nodes if moves(data, n)), 5)

    def many(data, frames, nodes):
        struct.pack_into("<I", data, next(n for n in nodes if moves(data, n)) + 4, 0xFFFFFFFF)

    def elsewhere(data, frames, nodes):
        struct.pack_into("<Q", data, 24, 1 << 40)

    def no_number(data, frames, nodes):
        struct.pack_into("<4f", data, frames, *[math.nan] * 4)

    def flat(data, frames, nodes):
        data[frames:frames + 64] = bytes(64)
    for change, word in ((far, "moves through 3 frames from 5 on"), (many, "m_frameCount 7"),
                         (elsewhere, "not all are in m_frames"), (no_number, "no known form"), (flat, "no known form")):
        with tempfile.TemporaryDirectory() as folder:
            words = words_of(patched(hiprt.scene(BLASES, placed()), change), folder)
            for command in ("check", "info", "dump"):
                result = facet(command, *words, "--driver", "hiprt")
                check_eq((result.returncode, result.stdout), (2, ""), command + ": " + change.__name__)
                check(word in result.stderr, "expected %s in: %s" % (word, result.stderr))


main("gfx12_moving")
