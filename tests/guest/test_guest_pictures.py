"""Ray tracing guests: the path tracer's picture by both ways and any number of harts, the traversal library against the
job engine on images of `facet bvh build`, with stacks so short that it starts again at the root; the framebuffer from
outside: files, and registers that point nowhere."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HEADER = os.path.abspath(sys.argv.pop(1))
from harness import case, check, check_eq, main, skip

SOURCE, FACET = os.environ["FACET_SOURCE"], os.environ["FACET"]
GUEST = os.path.join(SOURCE, "guest")
scratch = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(scratch.name, name)


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
                          cwd=scratch.name)


def build(source, flags="-O2", out="out"):
    """Compiles a guest program, the library with the same flags, and returns its ELF."""
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("gcc-riscv64-unknown-elf is not installed")
    if not os.path.exists("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("picolibc-riscv64-unknown-elf is not installed")
    done = subprocess.run(["make", "-s", "-C", GUEST, "OUT=" + path(out), "INCLUDE=" + os.path.dirname(HEADER),
                           "CFLAGS=" + flags, "WARNINGS=-Wall -Wextra -Werror", "PROGRAMS=" + source],
                          capture_output=True, text=True)
    check_eq(done.returncode, 0, "exit code of make\n%s%s" % (done.stdout, done.stderr))
    return os.path.join(path(out), os.path.basename(source)[:-2] + ".elf")


def program(name, text, **how):
    with open(path(name + ".c"), "w", encoding="ascii") as file:
        file.write(text)
    return build(path(name + ".c"), **how)


def picture(elf, name, *words):
    done = facet("run", elf, *words, "--framebuffer", path(name))
    check_eq(done.returncode, 0, "exit code\n%s%s" % (done.stdout, done.stderr))
    with open(path(name), "rb") as file:
        return file.read()


@case()
def the_picture_does_not_depend_on_the_way_or_the_harts():
    elf = build(os.path.join(GUEST, "examples", "pathtrace.c"))
    first = picture(elf, "a.png", "24x18", "2", "inline")
    for name, words in (("b.png", ("offload",)), ("c.png", ("inline", "--harts", "3")),
                        ("d.png", ("offload", "--harts", "4")), ("e.png", ("inline", "--plain")),
                        ("g.png", ("offload", "--job-threads", "3"))):
        check(picture(elf, name, "24x18", "2", *words) == first, "%s differs" % (words,))
    check(picture(elf, "f.png", "24x18", "3", "inline") != first, "another number of samples gives the same picture")


@case()
def the_mirror_shows_the_sky():
    """A ray at the mirror ball comes back with the colour of the sky above, not that of a surface."""
    elf = build(os.path.join(GUEST, "examples", "pathtrace.c"))
    data = picture(elf, "sky.pfm", "32x24", "4", "offload")
    values = struct.unpack("<%df" % (3 * 32 * 24), data.split(b"\n", 3)[3])
    at = lambda x, y: values[3 * ((23 - y) * 32 + x):][:3]
    red, green, blue = at(15, 7)  # upper half of the ball in the middle
    check(blue > red and blue > 0.3, "mirror %r" % (at(15, 7),))
    check(at(8, 12)[0] > 2 * at(8, 12)[2], "red ball %r" % (at(8, 12),))
    check(at(23, 13)[2] > 2 * at(23, 13)[0], "blue ball %r" % (at(23, 13),))


COMPARE = r"""
#include <math.h>
#include <rt.h>
#include <semihost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { RAYS = 400 };
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_hit hits[RAYS], mine;
static bool found[RAYS];
static uint32_t seed = 5;
static float number(float lo, float hi)
{
    seed = seed * 1664525u + 1013904223u;
    return lo + (hi - lo) * (float)(seed >> 8) / 16777216.0f;
}
int main(void)
{
    char line[200];
    struct rt_bvh bvh;
    struct rt_batch batch;
    int hit = 0, wrong = 0;
    size_t size;
    char *image = aligned_alloc(64, 8 << 20);
    (void)sys_semihost_get_cmdline(line, sizeof line);
    FILE *file = fopen(strrchr(line, ' ') + 1, "rb");
    size = fread(image, 1, 8 << 20, file);
    int opened = rt_open(&bvh, image, size);
    if (opened != RT_OK) { printf("rt_open: %d\n", opened); return 3; }
    rt_use(&bvh);
    rt_batch_make(&batch, aligned_alloc(64, (rt_batch_bytes(100) + 63) / 64 * 64), 100);
    for (int i = 0; i < RAYS; i++) {
        rays[i] = (struct xphmg_ray_record_32){.tmin = i % 3 == 0 ? 0.25f : 0, .tmax = i % 5 == 0 ? number(0, 2) : INFINITY};
        for (int a = 0; a < 3; a++) {
            rays[i].origin[a] = number(-4, 4);
            rays[i].direction[a] = i % 7 == 0 && a == 1 ? 0 : number(-1, 1) - rays[i].origin[a] * 0.5f;
        }
    }
    if (rt_batch_trace(&batch, &bvh, rays, RAYS, false, found, hits) != RT_OK) { return 4; }
    for (int i = 0; i < RAYS; i++) {
        int r = rt_closest(&bvh, &rays[i], &mine);
        hit += found[i];
        wrong += (r == RT_HIT) != found[i] || (rt_any(&bvh, &rays[i]) == RT_HIT) != found[i];
        wrong += found[i] && (memcmp(&mine.t, &hits[i].t, 12) != 0 || mine.triangle != hits[i].triangle ||
                              mine.leaf != hits[i].leaf || mine.front != hits[i].front);
    }
    if (rt_batch_trace(&batch, &bvh, rays, RAYS, true, found, hits) != RT_OK) { return 4; }
    for (int i = 0; i < RAYS; i++) { wrong += (rt_any(&bvh, &rays[i]) == RT_HIT) != found[i]; }
    printf("%d hits, %d wrong\n", hit, wrong);
    return wrong != 0;
}
"""


def tiles(name, *words):
    check_eq(facet("scene", "make", "knot", "--size", "96", "-o", path("knot.glb")).returncode, 0, "scene make")
    done = facet("bvh", "build", path("knot.glb"), "-o", path(name), "--quiet", *words)
    check_eq(done.returncode, 0, "exit code of bvh build\n" + done.stderr)
    return name


@case()
def traversal_and_jobs_agree_on_built_images():
    elfs = [program("compare", COMPARE),
            program("compare", COMPARE, flags="-O2 -flto -flto-partition=none -Wa,-W -DRT_STACK=1", out="out1"),
            program("compare", COMPARE, flags="-O0 -DRT_STACK=3", out="out3")]
    shown = set()
    for image in (tiles("k4.tiles", "--format", "xphmg4", "--ew", "32"),
                  tiles("k8.tiles", "--format", "xphmg8", "--ew", "32")):
        for elf in elfs:
            done = facet("run", elf, image, "--files", scratch.name)
            check_eq(done.returncode, 0, "exit code\n%s%s" % (done.stdout, done.stderr))
            shown.add(done.stdout)
    check_eq(len(shown), 1, "number of different answers: %r" % shown)
    check(int(shown.pop().split()[0]) > 50, "too few hits")


@case()
def images_of_other_elements_are_refused():
    elf = program("compare", COMPARE)
    done = facet("run", elf, tiles("half.tiles", "--format", "xphmg4", "--ew", "16"), "--files", scratch.name)
    check_eq((done.returncode, done.stdout), (3, "rt_open: -1\n"), "exit code and output")
    with open(path("knot.glb"), "rb") as file, open(path("bad.tiles"), "wb") as out:
        out.write(file.read())
    done = facet("run", elf, "bad.tiles", "--files", scratch.name)
    check_eq((done.returncode, done.stdout), (3, "rt_open: -1\n"), "exit code and output")


SHOW = r"""
#include <framebuffer.h>
unsigned char bytes[2 * 16];
float floats[6] = {0, 0.25f, 1, 4, -1, 0.5f};
int main(void)
{
    for (int i = 0; i < 32; i++) { bytes[i] = (unsigned char)(8 * i); }
    %s
    return 0;
}
"""


def show(text):
    return program("show", SHOW % text)


@case()
def formats_and_strides():
    # two rows of two pixels, 16 bytes apart
    elf = show("framebuffer_show(bytes, 2, 2, FRAMEBUFFER_RGBX8); FRAMEBUFFER->stride = 16;")
    check(picture(elf, "rgbx.png").startswith(b"\x89PNG"), "no PNG")
    data = picture(elf, "rgbx.pfm")
    check(data.startswith(b"PF\n2 2\n"), data[:20])
    bottom = struct.unpack("<3f", data.split(b"\n", 3)[3][:12])
    check(abs(bottom[0] - ((128 / 255 + 0.055) / 1.055) ** 2.4) < 1e-6, "byte 16 is %r" % bottom[0])
    data = picture(show("framebuffer_show(floats, 2, 1, FRAMEBUFFER_RGBF32);"), "f.pfm")
    check_eq(struct.unpack("<6f", data.split(b"\n", 3)[3]), (0, 0.25, 1, 4, -1, 0.5), "floats")
    picture(show("framebuffer_show(floats, 2, 1, FRAMEBUFFER_RGBF32);"), "f.exr")


@case()
def pictures_that_are_not_there_are_refused():
    for text, word in (("", "shows no picture"),
                       ("framebuffer_show(bytes, 0, 2, FRAMEBUFFER_RGBX8);", "shows no picture"),
                       ("framebuffer_show((void *)8, 2, 2, FRAMEBUFFER_RGBX8);", "0x8"),
                       ("framebuffer_show(bytes, 16384, 16384, FRAMEBUFFER_RGBF32);", "framebuffer"),
                       ("framebuffer_show((void *)-8L, 4, 4, FRAMEBUFFER_RGBX8);", "framebuffer"),
                       ("framebuffer_show(bytes, 2, 2, FRAMEBUFFER_RGBX8); FRAMEBUFFER->stride = 0xFFFFFFFF;",
                        "framebuffer")):
        done = facet("run", show(text), "--framebuffer", path("no.png"))
        check_eq(done.returncode, 2, "exit code after %r" % text)
        check(word in done.stderr, "%r is not in %r" % (word, done.stderr))
        check(not os.path.exists(path("no.png")), "a file was written")
    done = facet("run", show(""), "--framebuffer", path("no.bmp"))
    check_eq(done.returncode, 2, "exit code")
    check(".png" in done.stderr, done.stderr)


main("guest_pictures")
