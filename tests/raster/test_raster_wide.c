/* The same bits on every path: portable pixels, wide pixels, and every number of threads. */
#include "random_draw.h"

#include "base/pool.h"

#include <stdlib.h>

struct pair {
    struct rig a, b;
};

/* Two cards with equal contents. */
static void open_pair(struct pair *p)
{
    rig_open(&p->a);
    rig_open(&p->b);
    p->a.unit.plain = true;
}

static void close_pair(struct pair *p)
{
    rig_close(&p->a);
    rig_close(&p->b);
}

static void copy_to_b(struct pair *p)
{
    memcpy(p->b.vram, p->a.vram, RIG_SIZE);
    memcpy(p->b.samplers, p->a.samplers, sizeof p->a.samplers);
    p->b.context = p->a.context;
}

static bool same(const struct pair *p, struct facet_raster_result x, struct facet_raster_result y)
{
    const bool results = x.rd == y.rd && x.code == y.code && x.count == y.count;
    const bool memory = memcmp(p->a.vram, p->b.vram, RIG_SIZE) == 0;

    CHECK(results);
    CHECK(memory);
    CHECK(memcmp(&p->a.context, &p->b.context, sizeof p->a.context) == 0);
    return results && memory;
}

/* Nothing outside the announced spans changes. */
static void check_spans(const uint8_t *before, const struct rig *r, struct facet_raster_result x)
{
    for (uint32_t i = RIG_TEXTURE; i < RIG_SIZE; i++) {
        const bool in =
            (i >= x.color.begin && i < x.color.end) || (i >= x.depth.begin && i < x.depth.end);

        if (!in && before[i] != r->vram[i]) {
            CHECK_MSG(false, "byte 0x%x was written outside the spans", i);
            return;
        }
    }
}

static void draws(bool regular, bool wild, unsigned count)
{
    uint8_t *before = malloc(RIG_SIZE);
    struct pair p;

    open_pair(&p);
    random_memory(&p.a);
    for (unsigned i = 0; i < count && !harness_failed(); i++) {
        const uint32_t flags = (random_below(256) & ~1u) | (random_below(2) == 0 ? 2 : 0);
        struct facet_raster_result x, y;
        struct rig_vertex v[3];

        random_sampler(&p.a);
        random_rstate(&p.a, regular);
        copy_to_b(&p);
        memcpy(before, p.a.vram, RIG_SIZE);
        if (random_below(6) == 0) {
            const int rx = (int)random_below(130) - 20, ry = (int)random_below(80) - 10;
            const unsigned rw = random_below(120), rh = random_below(80);
            const uint32_t last = (uint32_t)harness_random();

            x = rig_rrect(&p.a, rx, ry, rw, rh, last, flags);
            y = rig_rrect(&p.b, rx, ry, rw, rh, last, flags);
        } else {
            random_triangle(v, wild);
            x = rig_rdraw(&p.a, v, flags);
            y = rig_rdraw(&p.b, v, flags);
        }
        if (!same(&p, x, y)) {
            CHECK_MSG(false, "draw %u", i);
        }
        check_spans(before, &p.a, x);
    }
    close_pair(&p);
    free(before);
}

TEST(wide_pixels_equal_portable, "")
{
    draws(true, false, harness_long() ? 40000 : 800);
}

TEST(wide_pixels_equal_portable_wild_numbers, "")
{
    draws(true, true, harness_long() ? 40000 : 800);
}

TEST(overlapping_and_missing_memory, "")
{
    draws(false, true, harness_long() ? 15000 : 500);
}

/* The combinations that have code of their own: nearest texels of ARGB8888 in their own colours
 * over D32F, opaque and by alpha; and depth alone, which takes black that is added or colour
 * without alpha. The clip rectangle is any number of pixels wide, also less than eight. */
static void usual_draw(struct pair *p, unsigned i)
{
    static const uint32_t colors[] = {
        0xFFFFFFFF, 0xFFFFFFFF, 0, 0x00FFFFFF, 0x01000000, 0x01FFFFFF, 0x00000001, 0xFEFFFFFF};
    uint32_t s[16];
    struct rig_vertex v[3];
    const uint32_t color = colors[random_below(8)], flags = 2 | 4 | random_below(2) << 6;

    rig_rstate(s, random_below(4) == 0 ? 1 + random_below(RANDOM_W) : RANDOM_W, RANDOM_H);
    s[4] = rig_at(RIG_DEPTH);
    s[5] = 4 * RANDOM_W;
    s[6] = (random_below(4) == 0 ? 1 : 2) | random_below(8) << 8;
    s[7] = random_below(3);
    s[9] = 5;
    s[12] = 2 | 4 | random_below(4) << 3;
    random_sampler(&p->a);
    p->a.samplers[5][4] = random_below(4) << 2 | 1;
    p->a.samplers[5][6] = 0;
    rig_load_rstate(&p->a, s);
    copy_to_b(p);
    random_triangle(v, i % 2);
    v[0].color = v[1].color = v[2].color = color;
    if (!same(p, rig_rdraw(&p->a, v, flags), rig_rdraw(&p->b, v, flags))) {
        CHECK_MSG(false, "draw %u", i);
    }
}

TEST(usual_triangles_equal_portable, "")
{
    struct pair p;

    open_pair(&p);
    random_memory(&p.a);
    for (unsigned i = 0; i < (harness_long() ? 40000u : 900u) && !harness_failed(); i++) {
        usual_draw(&p, i);
    }
    close_pair(&p);
}

TEST(threads_do_not_show, "")
{
    enum { VERTICES = 120, INDICES = 1500 };
    const unsigned rounds = harness_long() ? 600 : 48;
    struct pair p;
    facet_pool *pools[3] = {NULL, NULL, NULL};

    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(facet_pool_create(i + 2, &pools[i], NULL), FACET_OK);
    }
    open_pair(&p);
    random_memory(&p.a);
    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        uint32_t g[32];
        const uint32_t flags = 1 | random_below(2) << 1 | 8 | random_below(4) << 4 |
                               random_below(4) << 6 | random_below(2) << 8;
        const uint32_t topology = random_below(2);

        random_sampler(&p.a);
        random_rstate(&p.a, i % 3 != 0);
        rig_gstate(g, 28 | 1 << 17 | 1 << 19);
        g[3] = 8;
        rig_load_gstate(&p.a, g);
        random_mesh(&p.a, VERTICES, INDICES, 50, 200);
        copy_to_b(&p);
        p.b.unit.pool = pools[i % 3];
        p.b.unit.plain = i % 2;
        if (!same(&p,
                  rig_gdraw(&p.a, INDICES, topology, flags),
                  rig_gdraw(&p.b, INDICES, topology, flags))) {
            CHECK_MSG(false, "round %u", i);
        }
    }
    close_pair(&p);
    for (unsigned i = 0; i < 3; i++) {
        facet_pool_destroy(pools[i]);
    }
}
