/* Clipping (tile-semantics.md 17 step 6) beside an exact clip.
 *
 * Vertices are multiples of 2^-10, so the clipped triangle is known exactly: a pixel centre belongs
 * to it iff six linear functions of the centre, with integer coefficients made from the vertices,
 * are not negative (three edges, near, far, the plane of w). A pixel whose surroundings (one pixel
 * to each side) are inside all of them must be drawn; one whose surroundings are outside one of
 * them must not. */
#include "base/float.h"
#include "random_draw.h"

#include <stdlib.h>

enum { W = 24, H = 16, UNIT = 1024, FUNCTIONS = 6 };

struct corner {
    int64_t x, y, z, w; /* in 2^-10 */
};

/* a*A + b*B + C at the homogeneous screen point (a, b), a = (2i + 1 - W) * H, b = (H - 2j - 1) * W
 */
struct linear {
    int64_t a, b, c;
};

struct exact {
    bool empty; /* edge-on: no area */
    struct linear f[FUNCTIONS];
};

static struct linear sum(struct linear p, struct linear q)
{
    return (struct linear){p.a + q.a, p.b + q.b, p.c + q.c};
}

static struct linear times(struct linear p, int64_t k)
{
    return (struct linear){p.a * k, p.b * k, p.c * k};
}

/* Row i of the adjugate of the matrix whose columns are (x, y, w): the weight of corner i. */
static struct linear weight(const struct corner *p, const struct corner *q)
{
    return (struct linear){p->y * q->w - q->y * p->w,
                           q->x * p->w - p->x * q->w,
                           (p->x * q->y - q->x * p->y) * (W * H)};
}

static struct exact exact_clip(const struct corner v[3])
{
    struct exact e = {true, {{0, 0, 0}}};
    struct linear l[3] = {weight(&v[1], &v[2]), weight(&v[2], &v[0]), weight(&v[0], &v[1])};
    const int64_t det = v[0].x * l[0].a + v[0].y * l[0].b + v[0].w * (l[0].c / (W * H));
    struct linear z, all, whole;

    if (det == 0) {
        return e;
    }
    e.empty = false;
    for (int i = 0; i < 3; i++) {
        l[i] = det > 0 ? l[i] : times(l[i], -1);
        e.f[i] = l[i];
    }
    z = sum(sum(times(l[0], v[0].z), times(l[1], v[1].z)), times(l[2], v[2].z));
    all = sum(sum(l[0], l[1]), l[2]);
    whole = (struct linear){0, 0, (det > 0 ? det : -det) * (W * H)};
    e.f[3] = z;                                       /* near */
    e.f[4] = sum(whole, times(z, -1));                /* far */
    e.f[5] = sum(times(whole, UNIT), times(all, -1)); /* w >= 2^-20 */
    return e;
}

static int64_t at(struct linear f, int i, int j)
{
    return f.a * ((2 * i + 1 - W) * H) + f.b * ((H - 2 * j - 1) * W) + f.c;
}

/* How much the function changes one pixel away. */
static int64_t reach(struct linear f)
{
    return llabs(f.a) * 2 * H + llabs(f.b) * 2 * W;
}

static bool surely_inside(const struct exact *e, int i, int j)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (at(e->f[k], i, j) < reach(e->f[k])) {
            return false;
        }
    }
    return !e->empty;
}

static bool surely_outside(const struct exact *e, int i, int j)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (at(e->f[k], i, j) < -reach(e->f[k])) {
            return true;
        }
    }
    return false;
}

/* Well inside all but the edge opposite corner 2. */
static bool near_shared_edge(const struct exact *e, int i, int j)
{
    for (int k = 0; k < FUNCTIONS; k++) {
        if (k != 2 && at(e->f[k], i, j) < reach(e->f[k])) {
            return false;
        }
    }
    return !e->empty;
}

/* The triangles lie on different sides of their common edge: its function in one is a negative
 * multiple of that in the other. */
static bool on_both_sides(const struct exact *e, const struct exact *f)
{
    const struct linear *p = &e->f[2], *q = &f->f[2];

    return (p->a > 0 && q->a < 0) || (p->a < 0 && q->a > 0) ||
           (p->a == 0 && q->a == 0 && ((p->b > 0 && q->b < 0) || (p->b < 0 && q->b > 0)));
}

/* ---- drawing ---- */

static int64_t ranged(int64_t lo, int64_t hi)
{
    return lo + (int64_t)random_below((uint32_t)(hi - lo + 1));
}

static struct corner random_corner(void)
{
    const int64_t w = random_below(4) == 0 ? UNIT : ranged(-UNIT / 2, 3 * UNIT);
    const int64_t span = random_below(2) == 0 ? 4 * UNIT : 3 * UNIT / 2;

    return (struct corner){ranged(-span, span), ranged(-span, span), ranged(-UNIT, 3 * UNIT), w};
}

static void open(struct rig *r)
{
    uint32_t s[16], g[32];
    static const float guards[] = {1, 1.5f, 4, 16};

    rig_open(r);
    rig_rstate(s, W, H);
    s[7] = 2; /* additive */
    rig_load_rstate(r, s);
    for (unsigned i = 0; i < 4; i++) {
        rig_gstate(g, 20 | 1 << 19);
        g[3] = 8;
        g[27] = facet_float_bits(guards[i]);
        rig_load_gstate(r, g);
    }
}

static void put(struct rig *r, unsigned i, const struct corner *c)
{
    const uint32_t to = RIG_VERTICES + 20 * i;

    rig_float(r, to, (float)c->x / UNIT);
    rig_float(r, to + 4, (float)c->y / UNIT);
    rig_float(r, to + 8, (float)c->z / UNIT);
    rig_float(r, to + 12, (float)c->w / UNIT);
    rig_word(r, to + 16, 0x01010101);
}

static struct facet_raster_result gdraw(struct rig *r, unsigned count, unsigned guard)
{
    const uint32_t draw[6] = {0, 0, count, 0, guard | 0xFFFFFF00, 0};

    for (unsigned i = 0; i < 6; i++) {
        rig_word(r, RIG_DESC + 4 * i, draw[i]);
    }
    return facet_raster_gdraw(&r->unit, &r->context, rig_at(RIG_DESC));
}

TEST(clipped_area_equals_exact_clip, "TILE-407 TILE-408 TILE-410 TILE-412")
{
    const unsigned count = harness_long() ? 1200000 : 15000;
    unsigned visible = 0, must = 0, must_not = 0;
    struct rig r;

    open(&r);
    for (unsigned n = 0; n < count && !harness_failed(); n++) {
        const struct corner v[3] = {random_corner(), random_corner(), random_corner()};
        const struct exact e = exact_clip(v);
        bool seen = false;

        for (unsigned i = 0; i < 3; i++) {
            put(&r, i, &v[i]);
        }
        r.unit.plain = n % 2 == 0;
        memset(r.vram + RIG_COLOR, 0, 4 * W * H);
        CHECK_EQ(gdraw(&r, 3, n / 2 % 4).code, 0);
        for (int j = 0; j < H; j++) {
            for (int i = 0; i < W; i++) {
                const bool drawn = rig_pixel(&r, W, (unsigned)i, (unsigned)j) != 0;

                seen |= drawn;
                if (drawn ? surely_outside(&e, i, j) : surely_inside(&e, i, j)) {
                    CHECK_MSG(false,
                              "triangle %u, pixel (%d, %d) drawn %d: corners %d %d %d %d, %d %d %d "
                              "%d, %d %d %d %d",
                              n,
                              i,
                              j,
                              drawn,
                              (int)v[0].x,
                              (int)v[0].y,
                              (int)v[0].z,
                              (int)v[0].w,
                              (int)v[1].x,
                              (int)v[1].y,
                              (int)v[1].z,
                              (int)v[1].w,
                              (int)v[2].x,
                              (int)v[2].y,
                              (int)v[2].z,
                              (int)v[2].w);
                    i = W;
                    j = H;
                } else {
                    must += drawn;
                    must_not += !drawn;
                }
            }
        }
        visible += seen;
    }
    CHECK(visible > count / 10 && must > count && must_not > count);
    rig_close(&r);
}

/* Two triangles share an edge; along it every pixel is drawn once, whatever cuts them. */
TEST(clipped_neighbours_have_no_crack, "TILE-407")
{
    const unsigned count = harness_long() ? 1200000 : 15000;
    unsigned checked = 0;
    struct rig r;

    open(&r);
    for (unsigned n = 0; n < count && !harness_failed(); n++) {
        const struct corner a = random_corner(), b = random_corner();
        const struct corner c = random_corner(), d = random_corner();
        const struct corner one[3] = {a, b, c}, two[3] = {b, a, d};
        const struct exact e = exact_clip(one), f = exact_clip(two);

        if (!on_both_sides(&e, &f)) {
            continue;
        }
        for (unsigned i = 0; i < 3; i++) {
            put(&r, i, &one[i]);
            put(&r, 3 + i, &two[(i + n) % 3]);
        }
        r.unit.plain = n % 2 == 0;
        memset(r.vram + RIG_COLOR, 0, 4 * W * H);
        CHECK_EQ(gdraw(&r, 6, n / 2 % 4).code, 0);
        for (int j = 0; j < H; j++) {
            for (int i = 0; i < W; i++) {
                const uint32_t times_drawn = rig_pixel(&r, W, (unsigned)i, (unsigned)j) & 255;

                if (!near_shared_edge(&e, i, j) || !near_shared_edge(&f, i, j)) {
                    continue;
                }
                checked++;
                if (times_drawn != 1) {
                    CHECK_MSG(
                        false, "pair %u, pixel (%d, %d) is drawn %u times", n, i, j, times_drawn);
                    i = W;
                    j = H;
                }
            }
        }
    }
    CHECK(checked > count / 10);
    rig_close(&r);
}
