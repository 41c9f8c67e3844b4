/* Draws that are left in the middle and gone on with: the same bits, reports and spans as in one
 * go, wherever they are left and however the rest is drawn. */
#include "random_draw.h"

#include "base/pool.h"
#include "raster/internal.h"

#include <math.h>
#include <stdlib.h>

/* Two cards with equal contents: `a` draws in one go, `b` is left at random places. */
struct pair {
    struct rig a, b;
    struct facet_raster_stop stop;
    facet_pool *pools[3];
    uint32_t odds; /* that a question is answered with yes: one in so many */
    unsigned asked, left;
    bool crew; /* always with threads and large pieces */
};

static bool answer(void *context, uint64_t nanoseconds)
{
    struct pair *p = context;

    (void)nanoseconds;
    p->asked++;
    return random_below(p->odds) == 0;
}

static void open_pair(struct pair *p)
{
    memset(p, 0, sizeof *p);
    rig_open(&p->a);
    rig_open(&p->b);
    p->a.unit.plain = true;
    p->b.unit.stop = &p->stop;
    p->b.unit.scratch = facet_raster_scratch_create();
    p->stop = (struct facet_raster_stop){.asks = answer, .context = p, .often = true};
    for (unsigned i = 1; i < 3; i++) {
        CHECK_EQ(facet_pool_create(2 * i - 1, &p->pools[i], NULL), FACET_OK);
    }
    random_memory(&p->a);
}

static void close_pair(struct pair *p)
{
    rig_close(&p->a);
    rig_close(&p->b);
    facet_raster_scratch_destroy(p->b.unit.scratch);
    for (unsigned i = 0; i < 3; i++) {
        facet_pool_destroy(p->pools[i]);
    }
}

/* How `b` draws from here on; no draw may show it. */
static void change_path(struct pair *p)
{
    p->b.unit.plain = !p->crew && random_below(2) == 0;
    p->b.unit.pool = p->pools[p->crew ? 2 : random_below(3)];
    p->stop.often = !p->crew && random_below(30) != 0;
}

static void copy_to_b(struct pair *p)
{
    memcpy(p->b.vram, p->a.vram, RIG_SIZE);
    memcpy(p->b.samplers, p->a.samplers, sizeof p->a.samplers);
    p->b.context = p->a.context;
    p->odds = 1 + random_below(6);
    change_path(p);
}

typedef struct facet_raster_result draw_fn(const struct facet_raster_unit *unit,
                                           struct facet_raster_context *context,
                                           uint32_t address);

/* Draws what lies at RIG_DESC, going on until nothing is left. */
static struct facet_raster_result draw_in_parts(struct pair *p, draw_fn *draw)
{
    struct facet_raster_result x = draw(&p->b.unit, &p->b.context, rig_at(RIG_DESC));

    for (unsigned i = 0; x.left; i++) {
        struct facet_raster_part part = p->stop.part;

        p->left++;
        CHECK(part.kind != FACET_RASTER_PART_NONE && facet_raster_part_valid(&part));
        CHECK(x.count == 0 && x.code == 0 && x.rd == 0);
        memset(&p->stop.part, 0xA5, sizeof p->stop.part);
        p->stop.part = part;
        change_path(p);
        p->odds += i / 64; /* comes to an end some time */
        x = draw(&p->b.unit, &p->b.context, rig_at(RIG_DESC));
    }
    CHECK(p->stop.part.kind == FACET_RASTER_PART_NONE);
    return x;
}

static void same(struct pair *p, draw_fn *draw, unsigned number)
{
    struct facet_raster_result x = draw(&p->a.unit, &p->a.context, rig_at(RIG_DESC));
    struct facet_raster_result y = draw_in_parts(p, draw);

    CHECK(x.rd == y.rd && x.code == y.code && x.count == y.count);
    CHECK(x.color.begin == y.color.begin && x.color.end == y.color.end);
    CHECK(x.depth.begin == y.depth.begin && x.depth.end == y.depth.end);
    CHECK(memcmp(p->a.vram, p->b.vram, RIG_SIZE) == 0);
    CHECK(memcmp(&p->a.context, &p->b.context, sizeof p->a.context) == 0);
    if (harness_failed()) {
        CHECK_MSG(false, "draw %u", number);
    }
}

static unsigned rounds(unsigned quick)
{
    return harness_long() ? 20 * quick : quick;
}

/* What a draw reads may lie where it writes: its vertices, indices, descriptor. */
static void put_surface(struct rig *r, unsigned round)
{
    uint32_t s[16];

    if (round % 4 != 0) {
        random_rstate(r, round % 4 == 1);
        return;
    }
    rig_rstate(s, RANDOM_W, RANDOM_H);
    if (round % 8 == 0) {
        s[0] = rig_at(RIG_DESC);
        s[1] = 0;
        s[3] = FACET_TILE_GDRAW_WORDS | RANDOM_H << 16;
    } else {
        s[0] = rig_at(random_below(RIG_VERTICES + 0x1000) & ~3u);
        s[1] = random_below(500) & ~3u;
    }
    s[7] = random_below(3);
    rig_load_rstate(r, s);
}

TEST(triangles_and_rectangles_that_are_left, "")
{
    struct pair p;

    open_pair(&p);
    for (unsigned i = 0; i < rounds(600) && !harness_failed(); i++) {
        const uint32_t flags = (random_below(256) & ~1u) | (random_below(2) == 0 ? 2 : 0);

        random_sampler(&p.a);
        put_surface(&p.a, i);
        if (i % 3 == 0) {
            rig_put_rrect(&p.a,
                          (int)random_below(130) - 20,
                          (int)random_below(80) - 10,
                          random_below(120),
                          random_below(80),
                          (uint32_t)harness_random(),
                          flags);
        } else {
            struct rig_vertex v[3];

            random_triangle(v, true);
            rig_put_rdraw(&p.a, v, flags);
        }
        copy_to_b(&p);
        same(&p, i % 3 == 0 ? facet_raster_rrect : facet_raster_rdraw, i);
    }
    CHECK(p.left > rounds(600));
    close_pair(&p);
}

static void put_words(struct rig *r, uint32_t at, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_word(r, at + 4 * i, words[i]);
    }
}

TEST(meshes_that_are_left, "")
{
    struct pair p;

    open_pair(&p);
    for (unsigned i = 0; i < rounds(120) && !harness_failed(); i++) {
        /* indexed, restarts, clip, cull, flat or affine */
        const uint32_t flags = random_below(4) | 8 | random_below(4) << 4 | random_below(4) << 6 |
                               random_below(2) << 8;
        const uint32_t count = 3 + random_below(100);
        const uint32_t draw[6] = {0, 0, count, random_below(2), 0xFFFFFFFF, flags};
        uint32_t g[32];

        random_sampler(&p.a);
        put_surface(&p.a, i);
        rig_gstate(g, 28 | 1 << 17 | 1 << 19);
        g[3] = random_below(16);
        rig_load_gstate(&p.a, g);
        random_mesh(&p.a, 60, count + 1, 10, 20);
        put_words(&p.a, RIG_DESC, draw, 6);
        copy_to_b(&p);
        same(&p, facet_raster_gdraw, i);
    }
    CHECK(p.left > 10 * rounds(120));
    close_pair(&p);
}

/* So many elements that threads share them, without and with questions. Indices and vertices may
 * lie where the draw writes, corners are clipped into many, elements are missing. */
TEST(long_meshes_by_threads, "")
{
    enum { ELEMENTS = 8000 };
    struct pair p;

    open_pair(&p);
    p.crew = true;
    for (unsigned i = 0; i < rounds(48) && !harness_failed(); i++) {
        const uint32_t indexed = i % 4 != 3;
        const uint32_t draw[6] = {
            0, 0, ELEMENTS - random_below(8), 0, 0xFFFFFFFF, indexed | random_below(4) << 6};
        uint32_t g[32], s[16];

        random_sampler(&p.a);
        random_rstate(&p.a, true);
        if (i % 8 == 5) { /* over the last indices */
            rig_rstate(s, 64, 60);
            s[0] = rig_at(RIG_INDICES + 2 * ELEMENTS - 1000 - random_below(6000));
            rig_load_rstate(&p.a, s);
        }
        rig_gstate(g, 28 | 1 << 17 | 1 << 19);
        g[3] = random_below(16) | (i % 8 == 2 ? 8 : 0);
        rig_load_gstate(&p.a, g);
        random_mesh(&p.a, 300, ELEMENTS, 60, i % 2 == 0 ? 50 : 5000);
        for (unsigned v = 0; v < 300 && i % 8 == 2;
             v++) { /* cut by many planes, hardly ever gone */
            rig_float(&p.a, RIG_VERTICES + 28 * v, 1.3f * (float)cos(v));
            rig_float(&p.a, RIG_VERTICES + 28 * v + 4, 1.3f * (float)sin(v));
            rig_float(&p.a, RIG_VERTICES + 28 * v + 12, 1);
        }
        put_words(&p.a, RIG_DESC, draw, 6);
        copy_to_b(&p);
        p.b.unit.stop = i % 2 == 0 ? NULL : &p.stop;
        same(&p, facet_raster_gdraw, i);
    }
    CHECK(p.left > 0);
    close_pair(&p);
}

/* Elements that draw nothing take time as well. */
TEST(draws_without_pixels_are_left, "")
{
    const uint32_t draw[6] = {0, 0, 0xFFFFFFFF, 1, 0xFFFFFFFF, 1};
    struct rig r;
    struct pair p = {.odds = 1};
    uint32_t s[16], g[32];

    rig_open(&r);
    p.stop = (struct facet_raster_stop){.asks = answer, .context = &p};
    r.unit.stop = &p.stop;
    rig_rstate(s, 8, 8);
    rig_load_rstate(&r, s);
    rig_gstate(g, 16);
    rig_load_gstate(&r, g);
    put_words(&r, RIG_DESC, draw, 6);
    CHECK(facet_raster_gdraw(&r.unit, &r.context, rig_at(RIG_DESC)).left);
    CHECK_EQ(p.asked, 1);
    CHECK(p.stop.part.element > 1000 && p.stop.part.element < RIG_SIZE);
    rig_close(&r);
}

/* Four thousand million pixels over one row of memory, by each kind of draw. */
TEST(huge_draws_are_left, "")
{
    static const struct rig_vertex v[3] = {{.w = 1, .color = 0xFFFFFFFF},
                                           {.x = 32000, .w = 1, .color = 0xFFFFFFFF},
                                           {.y = 32000, .w = 1, .color = 0xFFFFFFFF}};
    static draw_fn *const draws[] = {facet_raster_rrect, facet_raster_rdraw};
    struct rig r;
    struct pair p = {.odds = 1};
    uint32_t s[16];

    rig_open(&r);
    p.stop = (struct facet_raster_stop){.asks = answer, .context = &p};
    r.unit.stop = &p.stop;
    rig_rstate(s, 0xFFFF, 0xFFFF);
    s[1] = 0;
    s[7] = 2;
    rig_load_rstate(&r, s);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t row = 0;

        if (i == 0) {
            rig_put_rrect(&r, 0, 0, 0xFFFF, 0xFFFF, 1, 0);
        } else {
            rig_put_rdraw(&r, v, 0);
        }
        for (unsigned n = 0; n < 3; n++) { /* every time somewhat further */
            CHECK(draws[i](&r.unit, &r.context, rig_at(RIG_DESC)).left);
            CHECK(p.stop.part.row > row && p.stop.part.row < row + 100);
            row = p.stop.part.row;
        }
        p.stop.part.kind = FACET_RASTER_PART_NONE;
    }
    CHECK_EQ(p.asked, 6);
    rig_close(&r);
}

/* What snapping makes of a corner one step beyond the last place is outside, and no forgery. */
TEST(a_part_may_keep_a_corner_outside, "")
{
    struct facet_raster_part part = {.kind = FACET_RASTER_PART_GDRAW};
    struct raster_vertex v = {0};

    facet_raster_snap(&v, 32768, -32768);
    CHECK(v.outside);
    memcpy(part.corner[1], &v, sizeof v);
    CHECK(facet_raster_part_valid(&part));
    v.outside = 0;
    memcpy(part.corner[1], &v, sizeof v);
    CHECK(!facet_raster_part_valid(&part));
}

/* Forged parts are refused, or drawn from without leaving the card. */
/* One field out of its range is enough, whatever the others hold. */
TEST(each_field_of_a_part_is_checked, "")
{
    const struct facet_raster_part good = {.kind = FACET_RASTER_PART_GDRAW, .row = INT32_MAX};
    struct facet_raster_part bad[12];

    for (unsigned i = 0; i < 12; i++) {
        bad[i] = good;
    }
    bad[0].kind = FACET_RASTER_PART_GDRAW + 1;
    bad[1].code = FACET_RASTER_BAD_SAMPLER; /* a code, but nothing was counted */
    bad[2].count = 1;
    bad[3].code = FACET_RASTER_BAD_SAMPLER + 1;
    bad[3].count = 1;
    bad[4].code = 1;
    bad[4].count = FACET_RASTER_MAX_REPORTS + 1;
    bad[5].bad_mem = 2;
    bad[6].bad_mem_told = 1; /* told, but it was not so */
    bad[7].half = 2;
    bad[8].row = UINT32_C(0x80000000);
    for (unsigned c = 0; c < 3; c++) {
        bad[9 + c].corner[c][0] = 0x40000000;
    }
    CHECK(facet_raster_part_valid(&good));
    for (unsigned i = 0; i < 12; i++) {
        CHECK_MSG(!facet_raster_part_valid(&bad[i]), "part %u", i);
    }
}

TEST(parts_from_outside, "")
{
    struct pair p;
    unsigned taken = 0;

    open_pair(&p);
    for (unsigned i = 0; i < rounds(400) && !harness_failed(); i++) {
        static draw_fn *const draws[] = {
            facet_raster_rdraw, facet_raster_rrect, facet_raster_gdraw};
        struct facet_raster_part *part = &p.stop.part;
        uint32_t g[32];

        random_sampler(&p.b);
        random_rstate(&p.b, i % 2 == 0);
        rig_gstate(g, 28 | 1 << 17 | 1 << 19);
        rig_load_gstate(&p.b, g);
        random_mesh(&p.b, 60, 60, 10, 20);
        p.odds = 100;
        change_path(&p);
        for (size_t at = 0; at < sizeof *part; at++) {
            ((uint8_t *)part)[at] = (uint8_t)harness_random();
        }
        CHECK(!facet_raster_part_valid(part));
        part->kind = (uint8_t)(FACET_RASTER_PART_RDRAW + i % 3);
        part->code = FACET_RASTER_RANGE;
        part->count = 1 + random_below(0xFFFFFF);
        part->bad_mem = part->bad_mem_told = part->half = i % 2 != 0;
        part->row = random_below(4) == 0 ? INT32_MAX : random_below(70);
        part->fan = (uint8_t)random_below(4);
        part->words[0] = i % 3 == 2 ? 0 : 0xFFFF | random_below(256) << 24;
        part->words[1] = part->words[1] & 0x003F003F; /* of the rectangle */
        part->words[2] = i % 3 == 2 ? random_below(200) : part->words[2] & 0x003F003F;
        part->words[3] = random_below(2);
        part->words[4] = 0xFFFFFFFF;
        part->element = random_below(220);
        for (unsigned c = 0; c < 3; c++) {
            part->corner[c][0] = (uint32_t)((int32_t)random_below(1 << 24) - (1 << 23));
            part->corner[c][1] = (uint32_t)((int32_t)random_below(1 << 24) - (1 << 23));
            part->corner[c][2] = 0;
            part->corner[c][15] = random_below(256);
        }
        if (facet_raster_part_valid(part)) {
            struct facet_raster_result x;

            do {
                x = draws[i % 3](&p.b.unit, &p.b.context, rig_at(RIG_DESC));
            } while (x.left);
            taken++;
        }
    }
    CHECK(taken > rounds(300));
    close_pair(&p);
}
