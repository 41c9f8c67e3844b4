/* Which pixels a triangle covers (tile-semantics.md 16.3): meshes of triangles that share edges
 * cover every pixel exactly once, and any triangle covers just the pixels whose exact edge values
 * say so. */
#include "random_draw.h"

enum { W = 40, H = 24 };

struct point {
    int32_t x, y; /* 1/256 pixel */
};

struct face {
    struct point p[3];
};

static int64_t area(struct point a, struct point b, struct point c)
{
    return ((int64_t)b.x - a.x) * ((int64_t)c.y - a.y) -
           ((int64_t)c.x - a.x) * ((int64_t)b.y - a.y);
}

static struct facet_raster_result
draw(struct rig *r, struct point a, struct point b, struct point c, uint32_t color)
{
    const struct rig_vertex v[3] = {
        {(float)a.x / 256, (float)a.y / 256, 0, 1, 0, 0, color},
        {(float)b.x / 256, (float)b.y / 256, 0, 1, 0, 0, color},
        {(float)c.x / 256, (float)c.y / 256, 0, 1, 0, 0, color},
    };

    return rig_rdraw(r, v, 0);
}

static void open(struct rig *r)
{
    uint32_t s[16];

    rig_open(r);
    rig_rstate(s, W, H);
    s[7] = 2; /* additive: a pixel counts its triangles */
    rig_load_rstate(r, s);
}

/* ---- meshes ---- */

enum { MAX_FACES = 96 };

static int32_t between(int32_t lo, int32_t hi)
{
    return lo + (int32_t)random_below((uint32_t)(hi - lo) + 1);
}

/* A point of the grid in or on the triangle, or false. */
static bool point_in(const struct face *f, struct point *out)
{
    const uint32_t u = random_below(1025), v = random_below(1025);
    const int64_t a = u + v > 1024 ? 1024 - u : u, b = u + v > 1024 ? 1024 - v : v;

    out->x = (int32_t)(f->p[0].x + ((f->p[1].x - (int64_t)f->p[0].x) * a +
                                    (f->p[2].x - (int64_t)f->p[0].x) * b) /
                                       1024);
    out->y = (int32_t)(f->p[0].y + ((f->p[1].y - (int64_t)f->p[0].y) * a +
                                    (f->p[2].y - (int64_t)f->p[0].y) * b) /
                                       1024);
    if (random_below(3) == 0) { /* through pixel centres */
        out->x = (out->x & ~127) | 0;
        out->y = (out->y & ~127) | 0;
    }
    return area(f->p[0], f->p[1], *out) >= 0 && area(f->p[1], f->p[2], *out) >= 0 &&
           area(f->p[2], f->p[0], *out) >= 0;
}

/* A rectangle around the screen, split again and again at points of its triangles. A point that
 * lies exactly on an edge makes a T: still no gap, since it lies exactly there. */
static unsigned make_mesh(struct face *f)
{
    static const int32_t margins[] = {0, 128, 256 * 20, 256 * 1000, 256 * 32000};
    const int32_t m = margins[random_below(5)];
    const int32_t x0 = -between(0, m), y0 = -between(0, m);
    const int32_t x1 = 256 * W + between(0, m), y1 = 256 * H + between(0, m);
    const struct point a = {x0, y0}, b = {x1, y0}, c = {x0, y1}, d = {x1, y1};
    unsigned count = 2;
    const unsigned splits = random_below(30);

    f[0] = (struct face){{a, b, d}};
    f[1] = (struct face){{a, d, c}};
    for (unsigned i = 0; i < splits; i++) {
        const unsigned k = random_below(count);
        const struct face old = f[k];
        struct point p;

        if (point_in(&old, &p)) {
            f[k] = (struct face){{old.p[0], old.p[1], p}};
            f[count++] = (struct face){{old.p[1], old.p[2], p}};
            f[count++] = (struct face){{old.p[2], old.p[0], p}};
        }
    }
    return count;
}

static bool covered_once(const struct rig *r)
{
    for (uint32_t i = 0; i < W * H; i++) {
        if (rig_read(r, RIG_COLOR + 4 * i) != 0x01010101) {
            CHECK_MSG(false,
                      "pixel (%u, %u) was covered %u times",
                      i % W,
                      i / W,
                      rig_read(r, RIG_COLOR + 4 * i) & 255);
            return false;
        }
    }
    return true;
}

TEST(meshes_cover_every_pixel_once, "TILE-389 TILE-359")
{
    const unsigned meshes = harness_long() ? 150000 : 10000;
    struct face f[MAX_FACES];
    struct rig r;

    open(&r);
    for (unsigned i = 0; i < meshes && !harness_failed(); i++) {
        const unsigned count = make_mesh(f);

        r.unit.plain = i % 2 == 0;
        memset(r.vram + RIG_COLOR, 0, 4 * W * H);
        for (unsigned k = 0; k < count; k++) {
            const unsigned turn = random_below(3), other = random_below(2);
            const struct point *p = f[k].p;

            CHECK_EQ(
                draw(&r, p[turn], p[(turn + 1 + other) % 3], p[(turn + 2 - other) % 3], 0x01010101)
                    .code,
                0);
        }
        if (!covered_once(&r)) {
            CHECK_MSG(false, "mesh %u of %u triangles", i, count);
        }
    }
    rig_close(&r);
}

/* ---- single triangles ---- */

typedef __int128 wide;

static bool exact_inside(struct point a, struct point b, int x, int y)
{
    const wide px = 256 * x + 128, py = 256 * y + 128;
    const wide e = ((wide)b.x - a.x) * (py - a.y) - ((wide)b.y - a.y) * (px - a.x);

    return e > 0 || (e == 0 && (b.y < a.y || (b.y == a.y && b.x > a.x)));
}

static struct point random_point(void)
{
    static const int32_t ranges[] = {256 * 8, 256 * 60, 256 * 500, 1 << 23};
    const int32_t range = ranges[random_below(4)];
    struct point p = {between(-range, range - 1), between(-range, range - 1)};

    if (random_below(3) == 0) {
        p.x = (p.x & ~127);
        p.y = (p.y & ~127);
    }
    return p;
}

/* Draws one triangle and compares every pixel; how many there are. */
static unsigned check_triangle(struct rig *r, struct point a, struct point b, struct point c)
{
    const int64_t a2 = area(a, b, c);
    const struct point second = a2 < 0 ? c : b, third = a2 < 0 ? b : c;
    unsigned drawn = 0;

    memset(r->vram + RIG_COLOR, 0, 4 * W * H);
    CHECK_EQ(draw(r, a, b, c, 0xFFFFFFFF).code, 0);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            const bool want = a2 != 0 && exact_inside(a, second, x, y) &&
                              exact_inside(second, third, x, y) && exact_inside(third, a, x, y);
            const bool got = rig_pixel(r, W, (unsigned)x, (unsigned)y) != 0;

            drawn += want;
            if (!CHECK_MSG(got == want,
                           "(%d, %d) (%d, %d) (%d, %d), pixel (%d, %d): %d",
                           a.x,
                           a.y,
                           b.x,
                           b.y,
                           c.x,
                           c.y,
                           x,
                           y,
                           got)) {
                return drawn;
            }
        }
    }
    return drawn;
}

/* Edges whose value at a pixel's centre is -1, 0 or 1, the least that there is: the edge function
 * at (qx, qy) from its start is dx qy - dy qx, with dx = r + qx k and dy = s + qy k it is
 * r qy - s qx for every k. */
TEST(edges_beside_a_pixel_centre, "TILE-389")
{
    static const int q[][4] = {
        {257, 256, 1, 1}, {256, 255, 1, 1}, {511, 256, 2, 1}, {256, 511, 1, 2}};
    struct rig r;

    open(&r);
    for (unsigned i = 0; i < 4 * 7 * 8; i++) {
        const int *n = q[i % 4], k = 1 + (int)(i / 4 % 7), turn = (int)(i / 28);
        const int sx = turn & 1 ? -1 : 1, sy = turn & 2 ? -1 : 1;
        const struct point p = {128 + 256 * (W / 2), 128 + 256 * (H / 2)};
        const struct point a = {p.x - sx * n[0], p.y - sy * n[1]};
        const struct point b = {a.x + sx * (n[2] + n[0] * k), a.y + sy * (n[3] + n[1] * k)};
        const struct point c =
            turn & 4 ? (struct point){a.x + sx * 3000, a.y} : (struct point){a.x, a.y + sy * 3000};

        r.unit.plain = i % 2 == 0;
        (void)check_triangle(&r, a, b, c);
    }
    rig_close(&r);
}

TEST(coverage_equals_exact_integers, "TILE-379 TILE-380 TILE-389")
{
    const unsigned count = harness_long() ? 1000000 : 40000;
    struct rig r;
    unsigned drawn = 0;

    open(&r);
    for (unsigned i = 0; i < count && !harness_failed(); i++) {
        struct point a = random_point(), b = random_point(), c = random_point();

        if (random_below(4) == 0) { /* a sliver */
            c.x = b.x + between(-3, 3);
            c.y = b.y + between(-3, 3);
            c.x = c.x < -(1 << 23) ? -(1 << 23) : c.x >= 1 << 23 ? (1 << 23) - 1 : c.x;
            c.y = c.y < -(1 << 23) ? -(1 << 23) : c.y >= 1 << 23 ? (1 << 23) - 1 : c.y;
        }
        r.unit.plain = i % 2 == 0;
        drawn += check_triangle(&r, a, b, c);
    }
    CHECK(drawn > count); /* the screen is really hit */
    rig_close(&r);
}
