/* The traversal loops: the cube of example 12, random scenes against testing every triangle, the
 * LDS loop against the reference loop, callbacks, and images that make no sense. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"
#include "gfx12/pack.h"
#include "gfx12/steps.h"
#include "gfx12/tracer.h"

#include <stdlib.h>

/* ---- example 12 ---- */

struct log {
    unsigned count;
    struct {
        uint32_t node, v[10];
    } visit[64];
};

static void log_visit(void *context, uint64_t base, uint32_t node, const uint32_t v[10])
{
    struct log *log = context;
    (void)base;
    if (log->count < 64) {
        log->visit[log->count].node = node;
        memcpy(log->visit[log->count].v, v, 40);
    }
    log->count++;
}

/* stack 0: the reference loop. */
static enum facet_status trace_with(unsigned stack,
                                    const struct facet_gfx12_unit *unit,
                                    const struct facet_gfx12_query *query,
                                    struct facet_gfx12_hit *hit,
                                    struct facet_gfx12_stats *stats)
{
    struct facet_error err = {0};
    return stack == 0 ? facet_gfx12_trace(unit, query, hit, stats, &err)
                      : facet_gfx12_trace_lds(unit, query, stack, hit, stats, &err);
}

static struct facet_gfx12_query cube_query(struct log *log)
{
    struct facet_gfx12_query query;
    const float origin[3] = {-1, 0.25f, 0.5f}, direction[3] = {1, 0.25f, 0.125f};
    facet_gfx12_query_init(&query, origin, direction);
    query.address = 0x40000;
    query.callbacks.context = log;
    query.callbacks.visit = log_visit;
    return query;
}

static void check_cube(const char *what,
                       const struct facet_gfx12_unit *unit,
                       const uint32_t (*rows)[11],
                       unsigned count)
{
    for (unsigned stack = 0; stack <= 16; stack += 16) {
        struct log log = {0};
        struct facet_gfx12_query query = cube_query(&log);
        struct facet_gfx12_hit hit;
        struct facet_gfx12_stats stats;
        CHECK(trace_with(stack, unit, &query, &hit, &stats) == FACET_OK);
        CHECK_EQ(log.count, count);
        CHECK_EQ(stats.steps, count);
        CHECK_EQ(stats.boxes, 1);
        CHECK_EQ(stats.primitives, count - 1);
        for (unsigned i = 0; i < count && i < log.count; i++) {
            CHECK_EQ(log.visit[i].node, rows[i][0]);
            check_words(what, log.visit[i].v, rows[i] + 1, 10);
        }
        CHECK(hit.found && hit.opaque && !hit.backface && !hit.procedural);
        CHECK_EQ(facet_float_bits(hit.t), 0x3F800000);
        CHECK_EQ(facet_float_bits(hit.u), 0x3E000000);
        CHECK_EQ(facet_float_bits(hit.v), 0x3F000000);
        CHECK_EQ(hit.primitive_index, 8);
        CHECK_EQ(hit.geometry_index, 0);
        CHECK_EQ(hit.instance, INV);
    }
}

TEST(example_12_cube, "G12-248")
{
    static const uint32_t rows[3][11] = {
        {0x05, 0x12, 0x13, INV, INV, INV, INV, INV, INV, INV, INV},
        {0x12,
         0x3F800000,
         0x3E000000,
         0x3F000000,
         0x10,
         0x7F800000,
         0x3F200000,
         0x3E000000,
         0x12,
         3,
         3},
        {0x13, 0x40000000, 0, 0x3F400000, 0x15, 0x40000000, 0x3F400000, 0, 0x17, 3, 3},
    };
    uint8_t *image = examples_new();
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    check_cube("prim_range 2", &unit, rows, 3);

    /* The layout line of the example. */
    struct facet_gfx12_prim p;
    static const uint32_t primitives[12] = {0, 1, 4, 5, 8, 9, 10, 11, 6, 7, 2, 3};
    facet_gfx12_prim_decode(image + 0x40080, &p);
    CHECK_EQ(facet_gfx12_prim_pairs(&p.header), 6);
    CHECK_EQ(p.header.trailing_zero_bits, 23);
    CHECK_EQ(p.header.indices_midpoint, 806);
    for (unsigned k = 0; k < 3; k++) {
        CHECK_EQ(p.header.vertex_bits_minus_one[k], 6);
        CHECK_EQ(facet_gfx12_prim_prefix_bits(&p.header, k), 2);
    }
    for (unsigned t = 0; t < 12; t++) {
        CHECK_EQ(facet_gfx12_prim_primitive(&p, t), primitives[t]);
    }
    free(image);
}

static void cube_triangles(struct pack_tri tris[12])
{
    static const int faces[6][4] = {
        {0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (unsigned t = 0; t < 12; t++) {
        const int *f = faces[t / 2];
        const int corner[3] = {f[0], f[t % 2 == 0 ? 1 : 2], f[t % 2 == 0 ? 2 : 3]};
        tris[t] = (struct pack_tri){.primitive = t, .opaque = true};
        for (unsigned c = 0; c < 3; c++) {
            tris[t].v[c][0] = (float)(corner[c] & 1);
            tris[t].v[c][1] = (float)(corner[c] >> 1 & 1);
            tris[t].v[c][2] = (float)(corner[c] >> 2);
        }
    }
}

TEST(example_12_one_range, "G12-248")
{
    static const uint32_t rows[7][11] = {
        {0x05, 0x10, INV, INV, INV, INV, INV, INV, INV, INV, INV},
        {0x10, 0x7F800000, 0x40880000, 0x40A00000, 0, 0x7F800000, 0x3F400000, 0x40880000, 2, 0, 0},
        {0x11, 0x7F800000, 0x3FE00000, 0x3FA00000, 5, 0x7F800000, 0x40400000, 0x3FE00000, 7, 0, 0},
        {0x12, 0x7F800000, 0x40180000, 0x3EC00000, 8, 0x7F800000, 0x40000000, 0x40180000, 10, 0, 0},
        {0x13,
         0x7F800000,
         0x3F900000,
         0x40000000,
         13,
         0x7F800000,
         0x3F600000,
         0x3F900000,
         15,
         0,
         0},
        {0x18,
         0x3F800000,
         0x3E000000,
         0x3F000000,
         16,
         0x7F800000,
         0x3F200000,
         0x3E000000,
         18,
         0,
         0},
        {0x19, 0x40000000, 0, 0x3F400000, 21, 0x40000000, 0x3F400000, 0, 23, 3, 3},
    };
    uint8_t *image = examples_new();
    struct facet_gfx12_unit unit;
    struct pack_tri tris[12];
    struct pack_pair pairs[6];
    struct facet_gfx12_prim p;
    struct facet_gfx12_box box;
    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    cube_triangles(tris);
    for (unsigned i = 0; i < 6; i++) {
        pairs[i] = (struct pack_pair){.tri = {&tris[2 * i], &tris[2 * i + 1]}, .stop = i == 5};
    }
    CHECK(pack_node(pairs, 6, &p));
    facet_gfx12_prim_encode(&p, image + 0x40080);
    facet_gfx12_box_decode(image + 0x40000, &box);
    for (unsigned i = 1; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    box.child_count_minus_one = 0;
    facet_gfx12_box_encode(&box, image + 0x40000);
    facet_store_le32(image + 0x40020, 0x05000000);
    facet_store_le32(image + 0x40024, 0xFFFFF000);
    facet_store_le32(image + 0x40028, 0x10FFFFFF);
    check_cube("prim_range 16", &unit, rows, 7);
    free(image);
}

/* ---- random scenes ---- */

struct scene {
    struct pack_image image;
    struct pack_tri *tris[3]; /* per BLAS */
    unsigned tri_count[3];
    unsigned blas_count;
    struct pack_instance instances[64];
    unsigned instance_count; /* 0: one BLAS, traced directly */
    uint64_t root;
};

static float random_in(float lo, float hi)
{
    return lo + (hi - lo) * ((float)(random_bits() >> 8) * 0x1p-24f);
}

static void random_soup(struct pack_tri *tris, unsigned count, float size)
{
    for (unsigned i = 0; i < count; i++) {
        float at[3] = {random_in(-8, 8), random_in(-8, 8), random_in(-8, 8)};
        tris[i] = (struct pack_tri){
            .geometry = random_bits() % 4,
            .primitive = i,
            .opaque = random_bits() % 4 != 0,
            .double_sided = random_bits() % 8 == 0,
        };
        for (unsigned c = 0; c < 3; c++) {
            for (unsigned k = 0; k < 3; k++) {
                tris[i].v[c][k] = at[k] + random_in(-size, size);
            }
        }
    }
}

static void scene_build(struct scene *s, bool two_levels, unsigned range)
{
    memset(s, 0, sizeof *s);
    s->blas_count = two_levels ? 3 : 1;
    float lo[3][3], hi[3][3];
    size_t root[3] = {0, 0, 0};
    for (unsigned b = 0; b < s->blas_count; b++) {
        s->tri_count[b] = two_levels ? 1 + random_bits() % 300 : 500 + random_bits() % 3000;
        s->tris[b] = calloc(s->tri_count[b], sizeof s->tris[b][0]);
        random_soup(s->tris[b], s->tri_count[b], b == 1 ? 4 : random_in(0.5f, 6));
        /* Padded a little: boxes are tested in another arithmetic than triangles. */
        root[b] = pack_blas(&s->image, s->tris[b], s->tri_count[b], range, 1e-4f, lo[b], hi[b]);
    }
    s->root = root[0];
    if (!two_levels) {
        return;
    }
    s->instance_count = 1 + random_bits() % 64;
    for (unsigned i = 0; i < s->instance_count; i++) {
        struct pack_instance *in = &s->instances[i];
        unsigned b = random_bits() % 3;
        /* Scale and mirror by powers of two: world bounds are then easy. */
        static const float scales[4] = {0.5f, 1, 2, -1};
        in->blas = root[b];
        in->flags = random_bits() % 3 == 0 ? FACET_GFX12_FLIP_FACEDNESS : 0;
        in->mask = (uint8_t)(1u << (random_bits() % 8));
        in->user_data = b << 16 | i;
        memcpy(in->blas_lo, lo[b], sizeof lo[b]);
        memcpy(in->blas_hi, hi[b], sizeof hi[b]);
        for (unsigned k = 0; k < 3; k++) {
            float scale = scales[random_bits() % 4], move = random_in(-20, 20);
            in->world_to_object[4 * k + k] = scale;
            in->world_to_object[4 * k + 3] = move;
            float a = (lo[b][k] - move) / scale, c = (hi[b][k] - move) / scale;
            in->lo[k] = (a < c ? a : c) - 1e-3f;
            in->hi[k] = (a < c ? c : a) + 1e-3f;
        }
    }
    s->root = pack_tlas(&s->image, s->instances, s->instance_count);
}

static void scene_free(struct scene *s)
{
    for (unsigned b = 0; b < s->blas_count; b++) {
        free(s->tris[b]);
    }
    pack_free(&s->image);
}

/* Hit of one triangle as the unit reports it: one-pair node, no tree. */
static void test_one(const struct pack_tri *tri,
                     unsigned flags,
                     const struct facet_gfx12_query *q,
                     struct facet_gfx12_ray ray,
                     struct facet_gfx12_hit *best,
                     uint32_t user_data)
{
    struct facet_gfx12_prim prim;
    uint8_t node[128];
    struct facet_gfx12_unit unit;
    uint32_t v[10];
    const struct pack_pair pair = {.tri = {tri, NULL}, .stop = true};
    if (!pack_node(&pair, 1, &prim)) {
        abort();
    }
    facet_gfx12_prim_encode(&prim, node);
    facet_gfx12_unit_init(&unit, node, sizeof node);
    facet_gfx12_intersect8(&unit, (uint64_t)flags << 54, 0, &ray, v);
    float t = facet_float_of(v[0]);
    if (t > q->t_min && t < best->t) {
        *best = (struct facet_gfx12_hit){
            .found = true,
            .t = t,
            .primitive_index = v[3] >> 1,
            .geometry_index = v[8] >> 2,
            .backface = v[3] & 1,
            .instance_user_data = user_data,
        };
    }
}

static struct facet_gfx12_hit brute_force(const struct scene *s, const struct facet_gfx12_query *q)
{
    struct facet_gfx12_hit best = {.t = q->t_max};
    struct facet_gfx12_ray ray = {.extent = q->t_max, .instance_mask = q->instance_mask};
    unsigned flags = q->api_flags & 0x3F3;
    memcpy(ray.origin, q->origin, sizeof ray.origin);
    memcpy(ray.direction, q->direction, sizeof ray.direction);
    for (unsigned i = 0; s->instance_count == 0 && i < s->tri_count[0]; i++) {
        test_one(&s->tris[0][i], flags, q, ray, &best, 0);
    }
    for (unsigned n = 0; n < s->instance_count; n++) {
        const struct pack_instance *in = &s->instances[n];
        unsigned b = in->user_data >> 16;
        struct facet_gfx12_ray local = ray;
        if ((in->mask & q->instance_mask) == 0) {
            continue;
        }
        for (unsigned k = 0; k < 3; k++) { /* diagonal: products with powers of two are exact */
            float m = in->world_to_object[4 * k + k];
            local.origin[k] = ray.origin[k] * m + in->world_to_object[4 * k + 3];
            local.direction[k] = ray.direction[k] * m;
        }
        for (unsigned i = 0; i < s->tri_count[b]; i++) {
            test_one(&s->tris[b][i], flags | in->flags, q, local, &best, in->user_data);
        }
    }
    return best;
}

static struct facet_gfx12_query random_query(const struct scene *s, float reach)
{
    struct facet_gfx12_query q;
    float o[3], d[3];
    for (unsigned k = 0; k < 3; k++) {
        o[k] = random_in(-reach, reach);
        d[k] = random_in(-8, 8) - (random_bits() % 2 != 0 ? o[k] : 0);
    }
    if (random_bits() % 8 == 0) {
        d[random_bits() % 3] = random_bits() % 2 != 0 ? 0.0f : -0.0f;
    }
    facet_gfx12_query_init(&q, o, d);
    q.address = s->root;
    return q;
}

static void
compare(const char *what, const struct facet_gfx12_hit *got, const struct facet_gfx12_hit *want)
{
    bool same = got->found == want->found;
    if (same && want->found) {
        same = facet_float_bits(got->t) == facet_float_bits(want->t) &&
               got->primitive_index == want->primitive_index &&
               got->geometry_index == want->geometry_index && got->backface == want->backface &&
               got->instance_user_data == want->instance_user_data;
    }
    CHECK_MSG(same,
              "%s: %d t %a primitive %u in %X, expected %d t %a primitive %u in %X",
              what,
              got->found,
              got->t,
              got->primitive_index,
              got->instance_user_data,
              want->found,
              want->t,
              want->primitive_index,
              want->instance_user_data);
}

static void check_scenes(bool two_levels, unsigned scenes, unsigned rays)
{
    unsigned found = 0;
    uint64_t walks8 = 0, walks16 = 0;
    for (unsigned n = 0; n < scenes && !harness_failed(); n++) {
        struct scene s;
        static const unsigned ranges[4] = {1, 2, 5, 24}; /* node_size has 4 bits */
        scene_build(&s, two_levels, ranges[n % 4]);
        struct facet_gfx12_unit unit;
        facet_gfx12_unit_init(&unit, s.image.bytes, s.image.size);
        unit.resource.box_grow_value = 6;
        for (unsigned r = 0; r < rays && !harness_failed(); r++) {
            struct facet_gfx12_query q = random_query(&s, two_levels ? 40 : 16);
            static const unsigned flags[4] = {
                0, FACET_GFX12_CULL_BACK_FACING, FACET_GFX12_CULL_OPAQUE, FACET_GFX12_FORCE_OPAQUE};
            struct facet_gfx12_hit want, hit;
            struct facet_gfx12_stats stats;
            q.api_flags = flags[r % 4];
            q.t_min = r % 5 == 0 ? 0.25f : 0;
            q.t_max = r % 7 == 0 ? 0.75f : q.t_max;
            q.instance_mask = r % 3 == 0 ? random_bits() & 0xFF : 0xFF;
            want = brute_force(&s, &q);
            found += want.found;
            CHECK(facet_gfx12_trace(&unit, &q, &hit, &stats, NULL) == FACET_OK);
            compare("reference loop", &hit, &want);
            CHECK_EQ(stats.steps, stats.boxes + stats.primitives + stats.instances);
            CHECK(facet_gfx12_trace_lds(&unit, &q, 8, &hit, &stats, NULL) == FACET_OK);
            compare("8 entries", &hit, &want);
            walks8 += stats.walk_backs;
            CHECK(facet_gfx12_trace_lds(&unit, &q, 16, &hit, &stats, NULL) == FACET_OK);
            compare("16 entries", &hit, &want);
            walks16 += stats.walk_backs;
            unit.resource.box_sorting_heuristic = 2;
            CHECK(facet_gfx12_trace_lds(&unit, &q, 8, &hit, &stats, NULL) == FACET_OK);
            compare("midpoint", &hit, &want);
            CHECK(facet_gfx12_trace_lds(&unit, &q, 9 + r % 23, &hit, &stats, NULL) == FACET_OK);
            compare("midpoint, larger stack", &hit, &want);
            unit.resource.box_sorting_heuristic = 1;
            CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
            compare("largest", &hit, &want);
            unit.resource.box_sorting_heuristic = 0;
            unit.resource.wide_sort_en = 0;
            CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
            compare("narrow", &hit, &want);
            unit.resource.wide_sort_en = 1;
            unit.profile = FACET_GFX12_GPURT;
            CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
            compare("gpurt", &hit, &want);
            unit.profile = FACET_GFX12_SILICON;
        }
        scene_free(&s);
    }
    CHECK_MSG(found > scenes * rays / 20, "only %u hits", found);
    CHECK_MSG(walks8 > 100 && walks8 > walks16,
              "walk-backs: %u, %u",
              (unsigned)walks8,
              (unsigned)walks16);
}

TEST(counts_add_up, "")
{
    struct facet_gfx12_stats sum = {1, 2, 3, 4, 5, 6, 7, 8};

    facet_gfx12_stats_add(&sum, &(struct facet_gfx12_stats){10, 20, 30, 40, 50, 60, 6, 80});
    CHECK(sum.steps == 11 && sum.boxes == 22 && sum.primitives == 33 && sum.instances == 44);
    CHECK(sum.walk_backs == 55 && sum.pushes == 66 && sum.max_depth == 7 && sum.lost_walks == 88);
}

TEST(one_level_scenes, "G12-252 G12-248")
{
    check_scenes(false, harness_long() ? 60 : 16, harness_long() ? 300 : 60);
}

TEST(two_level_scenes, "G12-252 G12-251 G12-240")
{
    check_scenes(true, harness_long() ? 60 : 16, harness_long() ? 150 : 40);
}

/* ---- callbacks ---- */

struct any_hit_log {
    unsigned calls;
    unsigned accept_from; /* ignores nearer candidates */
    enum facet_gfx12_verdict verdict;
};

static enum facet_gfx12_verdict any_hit(void *context, const struct facet_gfx12_hit *candidate)
{
    struct any_hit_log *log = context;
    log->calls++;
    CHECK(!candidate->opaque);
    return candidate->primitive_index >= log->accept_from ? log->verdict : FACET_GFX12_IGNORE;
}

/* Walls at z = 0, -1, -2, ...: primitive 2i+1 belongs to wall i. */
static void walls(struct pack_image *image, unsigned count, bool opaque)
{
    struct pack_tri tris[16];
    float lo[3], hi[3];
    for (unsigned i = 0; i < count; i++) {
        tris[i] = (struct pack_tri){
            .v = {{-4, -4, -(float)i}, {4, -4, -(float)i}, {0, 4, -(float)i}},
            .primitive = i,
            .geometry = i % 2,
            .opaque = opaque,
        };
    }
    (void)pack_blas(image, tris, count, 2, 0.0625f, lo, hi);
}

TEST(any_hit_callback, "G12-224")
{
    struct pack_image image = {0};
    struct facet_gfx12_unit unit;
    const float o[3] = {0, 0, 5}, d[3] = {0, 0, -1};
    walls(&image, 10, false);
    facet_gfx12_unit_init(&unit, image.bytes, image.size);
    for (unsigned stack = 0; stack <= 16; stack += 8) {
        for (unsigned seed = 0; seed < 2; seed++) {
            struct facet_gfx12_query q;
            struct facet_gfx12_hit hit;
            struct any_hit_log log = {.verdict = FACET_GFX12_ACCEPT};
            unit.opaque_sense = seed ? FACET_GFX12_SENSE_SEED : FACET_GFX12_SENSE_HW;
            facet_gfx12_query_init(&q, o, d);
            q.callbacks.context = &log;
            q.callbacks.any_hit = any_hit;
            CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
            CHECK(hit.found && hit.primitive_index == 0 && hit.t == 5 && log.calls == 1);
            log = (struct any_hit_log){.verdict = FACET_GFX12_ACCEPT, .accept_from = 4};
            CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
            CHECK(hit.found && hit.primitive_index == 4 && hit.t == 9);
            CHECK_EQ(log.calls, 5);
            log = (struct any_hit_log){.verdict = FACET_GFX12_IGNORE};
            CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
            CHECK(!hit.found && log.calls == 10);
            log = (struct any_hit_log){.verdict = FACET_GFX12_ACCEPT_AND_STOP, .accept_from = 2};
            CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
            CHECK(hit.found && hit.primitive_index == 2 && log.calls == 3);
            /* A forced opacity takes the callback away. */
            log = (struct any_hit_log){.verdict = FACET_GFX12_IGNORE};
            q.api_flags = FACET_GFX12_FORCE_OPAQUE;
            CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
            CHECK(hit.found && hit.primitive_index == 0 && log.calls == 0 && hit.opaque);
        }
    }
    unit.opaque_sense = FACET_GFX12_SENSE_HW;
    pack_free(&image);
}

TEST(interval_and_first_hit, "G12-235")
{
    struct pack_image image = {0};
    struct facet_gfx12_unit unit;
    const float o[3] = {0, 0, 5}, d[3] = {0, 0, -1};
    walls(&image, 10, true);
    facet_gfx12_unit_init(&unit, image.bytes, image.size);
    for (unsigned stack = 0; stack <= 16; stack += 8) {
        struct facet_gfx12_query q;
        struct facet_gfx12_hit hit;
        struct facet_gfx12_stats all, first;
        facet_gfx12_query_init(&q, o, d);
        CHECK(trace_with(stack, &unit, &q, &hit, &all) == FACET_OK);
        CHECK(hit.found && hit.t == 5 && hit.primitive_index == 0);
        q.t_min = 5; /* both ends are open */
        CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
        CHECK(hit.found && hit.t == 6 && hit.primitive_index == 1 && hit.geometry_index == 1);
        q.t_max = 6;
        CHECK(trace_with(stack, &unit, &q, &hit, NULL) == FACET_OK);
        CHECK(!hit.found && hit.t == 6);
        /* Farthest first would find a nearer hit later; the first commit ends the walk. */
        facet_gfx12_query_init(&q, o, d);
        q.api_flags = FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
        CHECK(trace_with(stack, &unit, &q, &hit, &first) == FACET_OK);
        CHECK(hit.found && first.steps <= all.steps && first.primitives == 1);
    }
    /* Without pointer flags nothing is known to be transparent (R-G12-64). */
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit;
    struct any_hit_log log = {.verdict = FACET_GFX12_IGNORE};
    facet_gfx12_query_init(&q, o, d);
    q.callbacks.context = &log;
    q.callbacks.any_hit = any_hit;
    unit.resource.pointer_flags = 0;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(hit.found && hit.opaque && log.calls == 0);
    pack_free(&image);
}

/* A ray whose u is -0 must not be taken for a procedural primitive without pointer flags. */
TEST(negative_zero_u_is_a_triangle, "G12-228")
{
    uint8_t image[256] = {0};
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit;
    uint8_t *examples = examples_new();
    memcpy(image, examples + 0x400, 128); /* example 7 at offset 0 */
    free(examples);
    const float o[3] = {0, 0.5f, 2}, d[3] = {-0.0f, 0, -1};
    facet_gfx12_unit_init(&unit, image, sizeof image);
    facet_gfx12_query_init(&q, o, d);
    q.root = 0;
    for (unsigned flags = 0; flags < 2; flags++) {
        unit.resource.pointer_flags = (uint8_t)flags;
        CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
        CHECK(hit.found && !hit.procedural && hit.u == 0 && hit.t == 2);
    }
}

/* ---- procedural primitives ---- */

static bool sphere(void *context,
                   const struct facet_gfx12_ray *ray,
                   const uint8_t node[128],
                   struct facet_gfx12_hit *candidate)
{
    unsigned *calls = context;
    struct facet_gfx12_prim prim;
    facet_gfx12_prim_decode(node, &prim);
    (*calls)++;
    CHECK(candidate->procedural);
    CHECK_EQ(prim.aabb[0], facet_float_bits(-1.0f));
    candidate->t = ray->origin[2] - 1; /* straight down onto the unit sphere */
    candidate->u = 0.125f;
    candidate->v = 0.25f;
    return ray->origin[0] == 0;
}

TEST(procedural_callback, "G12-236 G12-237 G12-238")
{
    uint8_t image[256] = {0};
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit;
    unsigned calls = 0;
    uint8_t *examples = examples_new();
    memcpy(image, examples + 0x580, 128); /* example 10 at offset 0 */
    free(examples);
    const float o[3] = {0, 0, 5}, d[3] = {0, 0, -1}, aside[3] = {0.5f, 0, 5};
    facet_gfx12_unit_init(&unit, image, sizeof image);
    facet_gfx12_query_init(&q, o, d);
    q.root = 0;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(!hit.found); /* without the callback there is nothing to hit */
    q.callbacks.procedural = sphere;
    q.callbacks.context = &calls;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(hit.found && hit.procedural && hit.t == 4 && hit.u == 0.125f && hit.v == 0.25f);
    CHECK(hit.primitive_index == 1234 && hit.geometry_index == 6 && !hit.opaque);
    CHECK_EQ(calls, 1);
    q.t_max = 4;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(!hit.found && calls == 2);
    q.t_max = 10;
    memcpy(q.origin, aside, sizeof aside);
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(!hit.found && calls == 3);
    q.api_flags = FACET_GFX12_SKIP_PROCEDURAL;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, NULL, NULL) == FACET_OK);
    CHECK(!hit.found && calls == 3);
}

/* ---- a watched loop ---- */

/* How often each reason was heard. */
struct reasons {
    unsigned turns, committed, ignored, no_hit, none_run;
};

static void hear(void *context, const struct facet_gfx12_turn *turn)
{
    struct reasons *r = context;
    CHECK_EQ(turn->number, r->turns);
    r->turns++;
    for (unsigned i = 0; i < turn->candidates; i++) {
        const char *reason = turn->candidate[i].reason;
        r->committed += turn->candidate[i].committed;
        r->ignored += strcmp(reason, "ignored by the any-hit shader") == 0;
        r->no_hit += strcmp(reason, "procedural: the intersection shader finds no hit") == 0;
        r->none_run += strstr(reason, "needs an intersection shader") != NULL;
    }
}

TEST(a_watcher_hears_what_the_shaders_decide, "G12-224 G12-237")
{
    struct pack_image image = {0};
    uint8_t boxes[256] = {0};
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit, unwatched;
    struct facet_gfx12_stats stats, other;
    struct any_hit_log log = {.verdict = FACET_GFX12_ACCEPT, .accept_from = 4};
    struct reasons heard = {0};
    unsigned calls = 0;
    uint8_t *examples = examples_new();
    const float o[3] = {0, 0, 5}, d[3] = {0, 0, -1}, aside[3] = {0.5f, 0, 5};
    walls(&image, 10, false);
    facet_gfx12_unit_init(&unit, image.bytes, image.size);
    facet_gfx12_query_init(&q, o, d);
    q.callbacks.context = &log;
    q.callbacks.any_hit = any_hit;
    CHECK(facet_gfx12_trace(&unit, &q, &unwatched, &other, NULL) == FACET_OK);
    CHECK(facet_gfx12_trace_watched(&unit, &q, hear, &heard, &hit, &stats, NULL) == FACET_OK);
    CHECK(hit.t == unwatched.t && hit.primitive_index == unwatched.primitive_index);
    CHECK(memcmp(&stats, &other, sizeof stats) == 0 && heard.turns == stats.steps);
    CHECK(heard.ignored == 4 && heard.committed == 1);
    pack_free(&image);

    memcpy(boxes, examples + 0x580, 128); /* example 10 at offset 0 */
    free(examples);
    facet_gfx12_unit_init(&unit, boxes, sizeof boxes);
    facet_gfx12_query_init(&q, aside, d);
    q.root = 0;
    heard = (struct reasons){0};
    CHECK(facet_gfx12_trace_watched(&unit, &q, hear, &heard, &hit, NULL, NULL) == FACET_OK);
    CHECK(heard.none_run == 1 && heard.no_hit == 0);
    q.callbacks.procedural = sphere;
    q.callbacks.context = &calls;
    heard = (struct reasons){0};
    CHECK(facet_gfx12_trace_watched(&unit, &q, hear, &heard, &hit, NULL, NULL) == FACET_OK);
    CHECK(heard.none_run == 0 && heard.no_hit == 1 && calls == 1);
}

/* ---- images that make no sense ---- */

TEST(cycles_end_with_a_status, "")
{
    uint8_t *image = examples_new();
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query q;
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;
    struct facet_error err = {0};
    const float o[3] = {-1, 0.5f, 0.5f}, d[3] = {1, 0, 0};
    facet_store_le32(image, 0); /* the boxes of example 2 are their own children */
    facet_store_le32(image + 40, 0x05FFF3FF);
    facet_store_le32(image + 52, 0x05FFF5FF);
    facet_gfx12_unit_init(&unit, image, EXAMPLES_SIZE);
    facet_gfx12_query_init(&q, o, d);
    q.max_steps = 1000;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, &stats, &err) == FACET_ERR_LIMIT);
    CHECK_EQ(stats.steps, 1000);
    CHECK(err.status == FACET_ERR_LIMIT && strstr(err.message, "1000") != NULL);
    CHECK(facet_gfx12_trace_lds(&unit, &q, 8, &hit, &stats, &err) == FACET_ERR_LIMIT);
    CHECK_EQ(stats.steps, 1000);
    /* Two children per visit: the stack limit comes before 2^24 steps. */
    facet_store_le32(image + 40, 0x15FFF3FF);
    memcpy(image + 128, image, 128);
    q.max_steps = UINT64_C(1) << 40;
    CHECK(facet_gfx12_trace(&unit, &q, &hit, &stats, &err) == FACET_ERR_LIMIT);
    CHECK(strstr(err.message, "stack") != NULL);
    CHECK(facet_gfx12_trace_lds(&unit, &q, 7, &hit, NULL, &err) == FACET_ERR_USAGE);
    CHECK(facet_gfx12_trace_lds(&unit, &q, 32, &hit, NULL, &err) == FACET_ERR_USAGE);
    free(image);
}

TEST(garbage_images_end, "")
{
    uint8_t image[64 * 128] = {0};
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, image, sizeof image);
    unsigned rounds = harness_long() ? 200000 : 20000, visited = 0;
    for (unsigned n = 0; n < rounds; n++) {
        struct facet_gfx12_query q;
        struct facet_gfx12_hit hit;
        struct facet_gfx12_stats stats;
        float o[3], d[3];
        for (unsigned i = 0; n % 16 == 0 && i < sizeof image / 8; i++) {
            facet_store_le64(image + (size_t)8 * i, harness_random());
        }
        for (unsigned i = 0; n % 16 == 0 && i < 64;
             i++) { /* children inside the image, big boxes */
            uint8_t *node = image + (size_t)128 * i;
            facet_store_le32(node, (random_bits() % 64) << 4);
            facet_store_le32(node + 4, (random_bits() % 64) << 4);
            for (unsigned k = 0; k < 3; k++) {
                facet_store_le32(node + 12 + (size_t)4 * k, facet_float_bits(-8));
                node[24 + k] = 131;
            }
            facet_store_le64(node + 48, harness_random() & UINT64_C(0xFFC0000000000010));
        }
        for (unsigned k = 0; k < 3; k++) {
            o[k] = facet_float_of(random_any_float());
            d[k] = facet_float_of(random_any_float());
        }
        facet_gfx12_query_init(&q, o, d);
        q.max_steps = 2000;
        q.root = (random_bits() % 64) << 4 | (n % 4 == 0 ? random_bits() & 15 : 5);
        q.api_flags = random_bits();
        unit.profile = n & 1 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
        unit.resource.pointer_flags = n >> 1 & 1;
        enum facet_status status = facet_gfx12_trace(&unit, &q, &hit, &stats, NULL);
        CHECK(status == FACET_OK || status == FACET_ERR_LIMIT);
        visited += stats.steps > 3;
        status = facet_gfx12_trace_lds(&unit, &q, 8 + n % 24, &hit, &stats, NULL);
        CHECK(status == FACET_OK || status == FACET_ERR_LIMIT);
    }
    CHECK_MSG(visited > rounds / 50, "only %u walks went anywhere", visited);
}

/* NaN and infinite rays end without a hit or with one that has a t in the interval. */
TEST(strange_rays, "")
{
    struct scene s;
    scene_build(&s, true, 2);
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, s.image.bytes, s.image.size);
    for (unsigned n = 0; n < 3000; n++) {
        struct facet_gfx12_query q = random_query(&s, 20);
        struct facet_gfx12_hit a, b;
        q.origin[n % 3] = facet_float_of(random_any_float());
        q.direction[n / 3 % 3] = facet_float_of(random_any_float());
        q.t_max = n % 4 == 0 ? facet_float_of(random_any_float()) : q.t_max;
        CHECK(facet_gfx12_trace(&unit, &q, &a, NULL, NULL) == FACET_OK);
        CHECK(facet_gfx12_trace_lds(&unit, &q, 31, &b, NULL, NULL) == FACET_OK);
        CHECK(a.found == b.found && (!a.found || facet_float_bits(a.t) == facet_float_bits(b.t)));
        CHECK(!a.found || (a.t > 0 && a.t < q.t_max));
    }
    scene_free(&s);
}
