/* The tracer against the reference loop: every field of every hit, every statistic, every callback,
 * on random structures (oriented boxes, ranges, procedural and non-opaque primitives, instances),
 * random descriptors and rays that are out to find differences; also on damaged images. */
#include "gfx12/common.h"

#include "base/bits.h"
#include "base/float.h"
#include "base/hash.h"
#include "gfx12/build/build.h"
#include "gfx12/fast.h"
#include "gfx12/sort.h"
#include "gfx12/tracer.h"
#include "gfx12/worlds.h"

#include <math.h>
#include <stdlib.h>

/* ---- comparing ---- */

/* Everything that callbacks are told, and what they answer. */
struct call_log {
    uint64_t hash;
    unsigned calls;
};

static void log_bytes(struct call_log *log, const void *data, size_t size)
{
    log->hash = facet_hash_bytes(data, size, log->hash);
}

static void log_hit(struct call_log *log, const struct facet_gfx12_hit *h)
{
    const uint32_t words[] = {
        h->found,
        h->procedural,
        h->opaque,
        h->backface,
        facet_float_bits(h->t),
        facet_float_bits(h->u),
        facet_float_bits(h->v),
        h->primitive_index,
        h->geometry_index,
        h->node,
        (uint32_t)h->base,
        (uint32_t)(h->base >> 32),
        h->instance,
        h->instance_user_data,
    };
    log->calls++;
    log_bytes(log, words, sizeof words);
}

static enum facet_gfx12_verdict any_hit(void *context, const struct facet_gfx12_hit *candidate)
{
    struct call_log *log = context;

    log_hit(log, candidate);
    switch ((candidate->primitive_index ^ candidate->instance_user_data) % 5) {
    case 0:
    case 1:
        return FACET_GFX12_IGNORE;
    case 2:
        return FACET_GFX12_ACCEPT_AND_STOP;
    default:
        return FACET_GFX12_ACCEPT;
    }
}

static bool procedural(void *context,
                       const struct facet_gfx12_ray *ray,
                       const uint8_t node[128],
                       struct facet_gfx12_hit *candidate)
{
    struct call_log *log = context;

    log_hit(log, candidate);
    log_bytes(log, ray->origin, sizeof ray->origin);
    log_bytes(log, ray->direction, sizeof ray->direction);
    log_bytes(log, &ray->extent, sizeof ray->extent);
    log_bytes(log, &ray->instance_mask, sizeof ray->instance_mask);
    log_bytes(log, node, 128);
    candidate->t = (float)(log->hash >> 40) * 0x1p-22f;
    candidate->u = 0.25f;
    return log->hash % 3 != 0;
}

static bool same_hit(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b)
{
    struct call_log x = {0}, y = {0};

    log_hit(&x, a);
    log_hit(&y, b);
    return x.hash == y.hash;
}

static bool same_stats(const struct facet_gfx12_stats *a, const struct facet_gfx12_stats *b)
{
    return a->steps == b->steps && a->boxes == b->boxes && a->primitives == b->primitives &&
           a->instances == b->instances && a->pushes == b->pushes && a->max_depth == b->max_depth;
}

enum { PATHS = 3 };

static const char *const path_names[PATHS] = {"portable", "avx2", "avx512"};

/* The fast paths; NULL on a host that has not what they need. */
static void
tracers_new(const struct world *w, uint64_t max_bytes, facet_gfx12_tracer *tracers[PATHS])
{
    static const enum facet_gfx12_tracer_path paths[PATHS] = {
        FACET_GFX12_PATH_PORTABLE, FACET_GFX12_PATH_AVX2, FACET_GFX12_PATH_AVX512};

    for (unsigned p = 0; p < PATHS; p++) {
        const struct facet_gfx12_tracer_options options = {
            .address = w->base,
            .path = paths[p],
            .max_bytes = max_bytes,
            .wish_bytes = below(2) == 0 ? 0 : 1 + below(100000)};
        struct facet_error err = {0};
        enum facet_status status = facet_gfx12_tracer_create(&w->unit, &options, &tracers[p], &err);

        CHECK_MSG(status == FACET_OK || (p > 0 && status == FACET_ERR_USAGE), "%s", err.message);
    }
}

static void tracers_free(facet_gfx12_tracer *tracers[PATHS])
{
    for (unsigned p = 0; p < PATHS; p++) {
        facet_gfx12_tracer_destroy(tracers[p]);
    }
}

/* The query once more as batches of one ray and of several without statistics: the loops that count
 * nothing. */
static bool compare_batch(const facet_gfx12_tracer *tracer,
                          const struct facet_gfx12_query *query,
                          enum facet_status want_status,
                          const struct facet_gfx12_hit *want)
{
    enum { RAYS = 3 };
    struct facet_gfx12_batch_ray ray = {.t_min = query->t_min, .t_max = query->t_max};
    struct facet_gfx12_batch_ray rays[RAYS];
    struct facet_gfx12_hit got[RAYS];
    bool good = true;

    memcpy(ray.origin, query->origin, sizeof ray.origin);
    memcpy(ray.direction, query->direction, sizeof ray.direction);
    for (unsigned i = 0; i < RAYS; i++) {
        rays[i] = ray;
    }
    for (unsigned count = 1; count <= RAYS && good; count += RAYS - 1) {
        struct facet_error err = {0};
        const enum facet_status status =
            facet_gfx12_tracer_batch(tracer, query, rays, count, got, NULL, NULL, &err);

        good = status == want_status && (status == FACET_OK || err.where == 0);
        for (unsigned i = 0; i < count && status == FACET_OK; i++) {
            good = good && same_hit(&got[i], want);
        }
        CHECK_MSG(good,
                  "batch of %u: status %d t %a primitive %u, expected %d t %a primitive %u; "
                  "origin %a %a %a direction %a %a %a interval %a %a",
                  count,
                  status,
                  got[0].t,
                  got[0].primitive_index,
                  want_status,
                  want->t,
                  want->primitive_index,
                  ray.origin[0],
                  ray.origin[1],
                  ray.origin[2],
                  ray.direction[0],
                  ray.direction[1],
                  ray.direction[2],
                  ray.t_min,
                  ray.t_max);
    }
    return good;
}

/* One query on all paths; false after the first difference. */
static bool compare_query(facet_gfx12_tracer *const tracers[PATHS],
                          const struct facet_gfx12_unit *unit,
                          const struct facet_gfx12_query *query,
                          bool callbacks)
{
    struct facet_gfx12_query q = *query;
    struct facet_gfx12_hit want, got;
    struct facet_gfx12_stats want_stats, stats;
    struct facet_error want_err = {0}, err = {0};
    struct call_log want_log = {0}, log = {0};
    enum facet_status want_status, status;
    bool good = true;

    if (callbacks) {
        q.callbacks.any_hit = any_hit;
        q.callbacks.procedural = procedural;
    }
    q.callbacks.context = &want_log;
    want_status = facet_gfx12_trace(unit, &q, &want, &want_stats, &want_err);
    for (unsigned p = 0; p < PATHS && good; p++) {
        if (tracers[p] == NULL) {
            continue;
        }
        log = (struct call_log){0};
        q.callbacks.context = &log;
        status = facet_gfx12_tracer_trace(tracers[p], &q, &got, &stats, &err);
        good = CHECK_MSG(status == want_status && same_hit(&got, &want) &&
                             same_stats(&stats, &want_stats) && log.hash == want_log.hash &&
                             (status == FACET_OK || strcmp(err.message, want_err.message) == 0),
                         "%s: status %d t %a primitive %u node %X steps %u calls %u, expected "
                         "%d t %a primitive %u node %X steps %u calls %u; origin %a %a %a "
                         "direction %a %a %a interval %a %a flags %X mask %X",
                         path_names[p],
                         status,
                         got.t,
                         got.primitive_index,
                         got.node,
                         (unsigned)stats.steps,
                         log.calls,
                         want_status,
                         want.t,
                         want.primitive_index,
                         want.node,
                         (unsigned)want_stats.steps,
                         want_log.calls,
                         q.origin[0],
                         q.origin[1],
                         q.origin[2],
                         q.direction[0],
                         q.direction[1],
                         q.direction[2],
                         q.t_min,
                         q.t_max,
                         q.api_flags,
                         q.instance_mask);
        good = good && (callbacks || compare_batch(tracers[p], &q, want_status, &want));
    }
    return good;
}

static struct facet_gfx12_query make_query(const struct world *w,
                                           const struct facet_gfx12_batch_ray *ray)
{
    struct facet_gfx12_query q;

    facet_gfx12_query_init(&q, ray->origin, ray->direction);
    q.t_min = ray->t_min;
    q.t_max = ray->t_max;
    q.address = w->base;
    return q;
}

/* All rays of a world one by one; counts those that hit and those on decoded nodes. */
static void check_world(const struct world *w, unsigned rays, unsigned *hits, unsigned *fast)
{
    facet_gfx12_tracer *tracers[PATHS];

    tracers_new(w, 0, tracers);
    for (unsigned i = 0; i < rays && !harness_failed(); i++) {
        struct facet_gfx12_batch_ray ray;
        struct facet_gfx12_query q;
        struct facet_gfx12_hit hit;

        random_ray(w, &ray);
        q = make_query(w, &ray);
        q.api_flags = random_api_flags();
        q.instance_mask = below(3) == 0 ? (uint32_t)harness_random() & 0x1FF : 0xFF;
        q.max_steps = below(8) == 0 ? 1 + below(40) : 3000;
        (void)compare_query(tracers, &w->unit, &q, below(2) != 0);
        (void)facet_gfx12_tracer_trace(tracers[0], &q, &hit, NULL, NULL);
        *hits += hit.found;
        *fast += facet_gfx12_tracer_used(tracers[0]) != FACET_GFX12_PATH_REFERENCE;
    }
    tracers_free(tracers);
}

TEST(rays_equal_reference, "G12-195 G12-248")
{
    const unsigned worlds = harness_long() ? 12000 : 2400, rays = 256;
    unsigned hits = 0, fast = 0;

    for (unsigned n = 0; n < worlds && !harness_failed(); n++) {
        struct world *w = world_new(false);
        if (w != NULL) {
            check_world(w, rays, &hits, &fast);
            world_free(w);
        }
    }
    CHECK_MSG(hits > worlds * rays / 8 || harness_failed(), "only %u hits", hits);
    CHECK_MSG(fast > worlds * rays / 2 || harness_failed(), "only %u rays on decoded nodes", fast);
}

/* Origins a hair's breadth from planes and directions far from 1: distances that are rounded to 0,
 * whose sign must not matter. */
TEST(vanishing_distances_equal_reference, "")
{
    static const float near_plane[] = {0, -0.0f, 0x1p-100f, -0x1p-100f, 0x1p-130f, -0x1p-87f};
    static const float speed[] = {1, 0x1p20f, 0x1p38f, 0x1p45f, 0x1p60f, 0x1p100f, 0x1p-30f};
    unsigned hits = 0;

    for (unsigned n = 0; n < 200 && !harness_failed(); n++) {
        struct world *w = calloc(1, sizeof *w);
        const struct facet_gfx12_build_options options = {.quality = FACET_BVH_HIGH};
        struct facet_gfx12_build_report report;
        struct facet_error err;
        facet_gfx12_tracer *tracers[PATHS];

        w->grid = true;
        random_triangles(w, 0);
        for (unsigned i = 0; i < w->blas[0].triangle_count; i++) { /* flat */
            for (unsigned c = 0; c < 3; c++) {
                w->triangles[0][i].vertex[c][n % 3] = near_plane[n / 3 % 2 == 0 ? 0 : 2];
            }
        }
        if (!CHECK(facet_gfx12_build_blas(
                       &w->blas[0], &options, NULL, NULL, &w->image, &report, &err) == FACET_OK)) {
            free(w);
            return;
        }
        facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
        tracers_new(w, 0, tracers);
        for (unsigned i = 0; i < 100 && !harness_failed(); i++) {
            struct facet_gfx12_batch_ray ray = {.t_min = -1, .t_max = 1};
            struct facet_gfx12_query q;
            struct facet_gfx12_hit hit;

            for (unsigned k = 0; k < 3; k++) {
                ray.origin[k] = in_range(-1, 1);
                ray.direction[k] = in_range(-1, 1);
            }
            ray.origin[n % 3] = near_plane[below(6)];
            ray.direction[n % 3] = speed[below(7)] * (below(2) != 0 ? 1 : -1);
            q = make_query(w, &ray);
            (void)compare_query(tracers, &w->unit, &q, false);
            (void)facet_gfx12_tracer_trace(tracers[0], &q, &hit, NULL, NULL);
            hits += hit.found;
        }
        tracers_free(tracers);
        world_free(w);
    }
    CHECK_MSG(hits > 1000 || harness_failed(), "only %u hits", hits);
}

TEST(damaged_images_equal_reference, "")
{
    const unsigned worlds = harness_long() ? 12000 : 2000, rays = 48;
    unsigned hits = 0, fast = 0;

    for (unsigned n = 0; n < worlds && !harness_failed(); n++) {
        struct world *w = world_new(true);
        if (w != NULL) {
            check_world(w, rays, &hits, &fast);
            world_free(w);
        }
    }
    CHECK_MSG(fast > worlds * rays / 3 || harness_failed(), "only %u rays on decoded nodes", fast);
}

/* ---- batches ---- */

enum { BATCH = 5000 };

TEST(batches_do_not_depend_on_threads, "")
{
    static struct facet_gfx12_batch_ray rays[BATCH];
    static struct facet_gfx12_hit want[BATCH], got[BATCH];
    const unsigned worlds = harness_long() ? 60 : 12;

    for (unsigned n = 0; n < worlds && !harness_failed(); n++) {
        struct world *w = world_new(n % 3 == 2);
        facet_gfx12_tracer *tracers[PATHS];
        struct facet_gfx12_stats sum = {0};
        struct facet_gfx12_query common;
        size_t failed = SIZE_MAX;

        if (w == NULL) {
            return;
        }
        tracers_new(w, 0, tracers);
        common = make_query(w, &(struct facet_gfx12_batch_ray){0});
        common.api_flags = random_api_flags();
        common.max_steps = n % 3 == 0 ? 60 : 3000;
        for (unsigned i = 0; i < BATCH; i++) {
            struct facet_gfx12_query q = common;
            struct facet_gfx12_stats s;

            random_ray(w, &rays[i]);
            memcpy(q.origin, rays[i].origin, sizeof q.origin);
            memcpy(q.direction, rays[i].direction, sizeof q.direction);
            q.t_min = rays[i].t_min;
            q.t_max = rays[i].t_max;
            if (facet_gfx12_trace(&w->unit, &q, &want[i], &s, NULL) != FACET_OK &&
                failed == SIZE_MAX) {
                failed = i;
            }
            sum.steps += s.steps;
            sum.boxes += s.boxes;
            sum.primitives += s.primitives;
            sum.instances += s.instances;
            sum.pushes += s.pushes;
            sum.max_depth = s.max_depth > sum.max_depth ? s.max_depth : sum.max_depth;
        }
        for (unsigned run = 0; run < 8 && !harness_failed(); run++) {
            unsigned threads = 1u << (run / 2 % 3);
            facet_pool *pool = NULL;
            struct facet_gfx12_stats stats;
            struct facet_error err = {0};
            enum facet_status status;
            bool counted = run < 6;

            if (tracers[run % 2] == NULL) {
                continue;
            }
            CHECK(facet_pool_create(threads, &pool, NULL) == FACET_OK);
            memset(got, 0xAA, sizeof got);
            status = facet_gfx12_tracer_batch(
                tracers[run % 2], &common, rays, BATCH, got, pool, counted ? &stats : NULL, &err);
            facet_pool_destroy(pool);
            CHECK_EQ(status == FACET_OK, failed == SIZE_MAX);
            CHECK(status == FACET_OK || err.where == failed);
            CHECK(!counted || failed != SIZE_MAX || same_stats(&stats, &sum));
            for (unsigned i = 0; i < BATCH && i < failed && !harness_failed(); i++) {
                CHECK_MSG(same_hit(&got[i], &want[i]), "ray %u, %u threads", i, threads);
            }
        }
        tracers_free(tracers);
        world_free(w);
    }
}

/* Rays from one point, as near to each other as those of a camera, or not: packets. The limit of
 * steps is one that packets are allowed with, and that a cycle of a damaged image reaches. */
static void random_bundle(const struct world *w, struct facet_gfx12_batch_ray *rays, unsigned count)
{
    static const float width[4] = {0, 1e-6f, 0.02f, 0.4f};
    const float apart = width[below(4)];

    random_ray(w, &rays[0]);
    for (unsigned i = 1; i < count; i++) {
        rays[i] = rays[0];
        for (unsigned k = 0; k < 3; k++) {
            rays[i].direction[k] += apart * in_range(-1, 1);
        }
        if (below(128) == 0) {
            random_ray(w, &rays[i]); /* one that does not belong there */
        }
        if (below(8) == 0) {
            rays[i].t_max = in_range(0, 4);
        }
    }
}

static void check_bundle(const struct world *w, facet_gfx12_tracer *tracers[PATHS], unsigned *hits)
{
    enum { BUNDLE = 37 }; /* a packet and some more */
    struct facet_gfx12_query common = make_query(w, &(struct facet_gfx12_batch_ray){0});
    struct facet_gfx12_batch_ray rays[BUNDLE];
    struct facet_gfx12_hit want[BUNDLE], got[BUNDLE];
    unsigned count = 0;
    enum facet_status status = FACET_OK;

    common.api_flags = below(3) == 0 ? random_api_flags() : 0;
    common.instance_mask = below(4) == 0 ? (uint32_t)harness_random() & 0x1FF : 0xFF;
    common.max_steps = 1 << 16;
    random_bundle(w, rays, BUNDLE);
    while (count < BUNDLE && status == FACET_OK) {
        struct facet_gfx12_query q = common;

        memcpy(q.origin, rays[count].origin, sizeof q.origin);
        memcpy(q.direction, rays[count].direction, sizeof q.direction);
        q.t_min = rays[count].t_min;
        q.t_max = rays[count].t_max;
        status = facet_gfx12_trace(&w->unit, &q, &want[count], NULL, NULL);
        *hits += want[count].found;
        count += status == FACET_OK;
    }
    for (unsigned p = 0; p < PATHS && tracers[p] != NULL; p++) {
        struct facet_error err = {0};

        CHECK_EQ(facet_gfx12_tracer_batch(tracers[p], &common, rays, BUNDLE, got, NULL, NULL, &err),
                 status);
        CHECK(status == FACET_OK || err.where == count);
        for (unsigned i = 0; i < count && !harness_failed(); i++) {
            CHECK_MSG(same_hit(&got[i], &want[i]),
                      "%s, ray %u: t %a primitive %u, expected t %a primitive %u; origin %a %a %a "
                      "direction %a %a %a",
                      path_names[p],
                      i,
                      got[i].t,
                      got[i].primitive_index,
                      want[i].t,
                      want[i].primitive_index,
                      rays[i].origin[0],
                      rays[i].origin[1],
                      rays[i].origin[2],
                      rays[i].direction[0],
                      rays[i].direction[1],
                      rays[i].direction[2]);
        }
    }
}

TEST(bundles_equal_reference, "")
{
    const unsigned worlds = harness_long() ? 9000 : 900, bundles = 8;
    unsigned hits = 0;

    for (unsigned n = 0; n < worlds && !harness_failed(); n++) {
        struct world *w = world_new(n % 8 == 0);
        facet_gfx12_tracer *tracers[PATHS];

        if (w == NULL) {
            return;
        }
        tracers_new(w, 0, tracers);
        for (unsigned i = 0; i < bundles && !harness_failed(); i++) {
            check_bundle(w, tracers, &hits);
        }
        tracers_free(tracers);
        world_free(w);
    }
    CHECK_MSG(hits > worlds * bundles || harness_failed(), "only %u hits", hits);
}

/* Many triangles of one plane, in boxes of different heights that overlap. Rays with few bits meet
 * several of them at exactly the same t; the one that a ray takes tells the order in which it came
 * to the boxes. */
static enum facet_status floor_new(struct world *w, struct facet_error *err)
{
    enum { COUNT = 4000 };
    static struct facet_bvh_triangle t[COUNT];
    struct facet_bvh_blas_input blas = {.triangles = t, .triangle_count = COUNT};
    struct facet_gfx12_build_report report;
    enum facet_status status;

    for (uint32_t i = 0; i < COUNT; i++) {
        const float at[2] = {(float)below(64), (float)below(64)};

        t[i] = (struct facet_bvh_triangle){.primitive = i, .flags = FACET_BVH_OPAQUE};
        for (unsigned c = 0; c < 3; c++) {
            for (unsigned k = 0; k < 2; k++) {
                t[i].vertex[c][k] = at[k] + (float)below(8);
            }
            t[i].vertex[c][2] = i % 4 == 0 ? (float)below(12) : 0;
        }
    }
    status = facet_gfx12_build_blas(&blas,
                                    &(struct facet_gfx12_build_options){.quality = FACET_BVH_FAST},
                                    NULL,
                                    NULL,
                                    &w->image,
                                    &report,
                                    err);
    if (status == FACET_OK) {
        facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
    }
    return status;
}

TEST(rays_of_a_packet_keep_their_orders, "")
{
    enum { RAYS = 32 };
    struct world *w = calloc(1, sizeof *w);
    facet_gfx12_tracer *tracers[PATHS];
    struct facet_error err;
    unsigned ties = 0;

    if (!CHECK_MSG(floor_new(w, &err) == FACET_OK, "%s", err.message)) {
        free(w);
        return;
    }
    tracers_new(w, 0, tracers);
    for (unsigned n = 0; n < (harness_long() ? 4000 : 400) && !harness_failed(); n++) {
        struct facet_gfx12_batch_ray rays[RAYS];
        struct facet_gfx12_hit got[RAYS], want;
        const float eye[3] = {
            (float)below(128) - 32, (float)below(128) - 32, (float)(16 + below(8))};
        const float target[2] = {(float)below(64), (float)below(64)};
        struct facet_gfx12_query common = make_query(w, &(struct facet_gfx12_batch_ray){0});

        common.api_flags = 0;
        common.instance_mask = 0xFF;
        common.max_steps = 1 << 16;
        for (unsigned i = 0; i < RAYS; i++) {
            rays[i] = (struct facet_gfx12_batch_ray){.origin = {eye[0], eye[1], eye[2]},
                                                     .t_max = (float)INFINITY};
            for (unsigned k = 0; k < 2; k++) {
                rays[i].direction[k] = target[k] + (float)below(8) - eye[k] + 0.5f;
            }
            rays[i].direction[2] = -eye[2];
        }
        for (unsigned p = 0; p < PATHS && tracers[p] != NULL; p++) {
            CHECK_EQ(
                facet_gfx12_tracer_batch(tracers[p], &common, rays, RAYS, got, NULL, NULL, &err),
                FACET_OK);
            for (unsigned i = 0; i < RAYS && !harness_failed(); i++) {
                struct facet_gfx12_query q = common;

                memcpy(q.origin, rays[i].origin, sizeof q.origin);
                memcpy(q.direction, rays[i].direction, sizeof q.direction);
                q.t_max = rays[i].t_max;
                CHECK_EQ(facet_gfx12_trace(&w->unit, &q, &want, NULL, NULL), FACET_OK);
                CHECK_MSG(same_hit(&got[i], &want),
                          "%s, ray %u: primitive %u, expected %u",
                          path_names[p],
                          i,
                          got[i].primitive_index,
                          want.primitive_index);
                ties += p == 0 && want.found && want.t == 1;
            }
        }
    }
    CHECK(ties > 500); /* rays that come to the plane, where everything is met at t = 1 */
    tracers_free(tracers);
    world_free(w);
}

/* Moves a plane of a child (section 4) halfway towards the opposite one. */
static void halve_child(uint8_t *child, unsigned axis, bool low)
{
    static const uint8_t min_at[3] = {0, 12, 32}, max_at[3] = {44, 64, 76};
    uint32_t plane[2];

    for (unsigned side = 0; side < 2; side++) {
        const unsigned at = side == 0 ? min_at[axis] : max_at[axis];

        plane[side] = facet_load_le32(child + at / 32 * 4) >> at % 32 & 0xFFF;
    }
    if (plane[0] < plane[1]) {
        const unsigned at = low ? min_at[axis] : max_at[axis];
        uint8_t *const word = child + at / 32 * 4;

        facet_store_le32(word,
                         (facet_load_le32(word) & ~(UINT32_C(0xFFF) << at % 32)) |
                             (plane[0] + plane[1]) / 2 << at % 32);
    }
}

/* Makes slots smaller than what they name, in the tree from a box on and through its instances. */
static void shrink_slots(struct world *w, uint64_t base, uint32_t id)
{
    uint8_t *const node = w->image.bytes + base + facet_gfx12_id_offset(id);
    const bool instance = facet_gfx12_id_kind(id) == FACET_GFX12_KIND_INSTANCE;
    uint8_t *const child = node + (instance ? 80 : 32);
    struct facet_gfx12_box box;
    uint32_t ids[8];
    unsigned count;

    if (instance) {
        struct facet_gfx12_instance in;

        facet_gfx12_instance_decode(node, &in);
        count = (in.child_count_minus_one & 3u) + 1;
        shrink_slots(w, facet_gfx12_base_address(in.pointer), FACET_GFX12_ROOT);
    } else {
        facet_gfx12_box_decode(node, &box);
        count = (box.child_count_minus_one & 7u) + 1;
        facet_gfx12_child_ids(
            box.child, count, box.internal_child_offset, box.primitive_child_offset, ids);
        for (unsigned i = 0; i < count; i++) {
            if (facet_gfx12_id_kind(ids[i]) == FACET_GFX12_KIND_BOX ||
                facet_gfx12_id_kind(ids[i]) == FACET_GFX12_KIND_INSTANCE) {
                shrink_slots(w, base, ids[i]);
            }
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (below(3) == 0) {
            halve_child(child + (size_t)12 * i, below(3), below(2) != 0);
        }
    }
}

/* One mesh, where it was modelled, in a tree whose slots do not contain what they name: a box may
 * be missed though its children would be hit, and entered after its children. */
TEST(slots_that_are_too_small_equal_reference, "")
{
    const struct facet_gfx12_build_options options = {.quality = FACET_BVH_HIGH};
    unsigned hits = 0, worlds = harness_long() ? 3000 : 300;

    for (unsigned n = 0; n < worlds && !harness_failed(); n++) {
        struct world *w = calloc(1, sizeof *w);
        struct facet_gfx12_build_report report;
        struct facet_error err;
        facet_gfx12_tracer *tracers[PATHS];

        w->grid = n % 4 == 0;
        random_triangles(w, 0);
        w->scene = (struct facet_bvh_scene_input){
            .blas = w->blas, .blas_count = 1, .instances = w->instances, .instance_count = 1};
        w->instances[0] = (struct facet_bvh_instance){
            .world_to_object = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .mask = 0xFF};
        if (!CHECK(facet_gfx12_build(&w->scene, &options, NULL, NULL, &w->image, &report, &err) ==
                   FACET_OK)) {
            free(w);
            return;
        }
        shrink_slots(w, 0, FACET_GFX12_ROOT);
        facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
        w->unit.resource.box_grow_value = n % 2 == 0 ? 0 : 6;
        tracers_new(w, 0, tracers);
        for (unsigned i = 0; i < 12 && !harness_failed(); i++) {
            check_bundle(w, tracers, &hits);
        }
        for (unsigned i = 0; i < 64 && !harness_failed(); i++) {
            struct facet_gfx12_batch_ray ray;
            struct facet_gfx12_query q;

            random_ray(w, &ray);
            q = make_query(w, &ray);
            (void)compare_query(tracers, &w->unit, &q, false);
        }
        tracers_free(tracers);
        world_free(w);
    }
    CHECK_MSG(hits > worlds || harness_failed(), "only %u hits", hits);
}

/* ---- limits ---- */

TEST(every_step_limit, "")
{
    for (unsigned n = 0; n < 40 && !harness_failed(); n++) {
        struct world *w = world_new(false);
        facet_gfx12_tracer *tracers[PATHS];

        if (w == NULL) {
            return;
        }
        tracers_new(w, 0, tracers);
        for (unsigned i = 0; i < 20 && !harness_failed(); i++) {
            struct facet_gfx12_batch_ray ray;
            random_ray(w, &ray);
            for (unsigned steps = 1; steps < 60 && !harness_failed(); steps++) {
                struct facet_gfx12_query q = make_query(w, &ray);
                q.max_steps = steps;
                (void)compare_query(tracers, &w->unit, &q, steps % 2 != 0);
            }
        }
        tracers_free(tracers);
        world_free(w);
    }
}

/* A box that names itself eight times, by boxes that always overlap: the stack grows by seven per
 * visit until the limit of R-G12-65. With fewer copies it ends at the step limit. */
static void self_box(uint8_t node[128], unsigned count)
{
    struct facet_gfx12_box box = {.child_count_minus_one = (uint8_t)(count - 1),
                                  .exponent = {127, 127, 127},
                                  .obb_matrix_index = FACET_GFX12_OBB_NONE};

    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    for (unsigned i = 0; i < count && i < 8; i++) {
        /* Alternating classes: equal IDs in neighbouring slots would be removed. */
        box.child[i] = (struct facet_gfx12_child){.max = {4095, 4095, 4095},
                                                  .cull_mask = 0xFF,
                                                  .node_type = i % 2 == 0 ? 5 : 6,
                                                  .node_size = 0};
    }
    facet_gfx12_box_encode(&box, node);
}

TEST(stack_limit, "")
{
    uint8_t image[128];
    const float o[3] = {0.5f, 0.5f, -1}, d[3] = {0.125f, 0.125f, 1};

    for (unsigned count = 3; count <= 8; count += 5) {
        struct world w = {.image = {image, sizeof image}};
        struct facet_gfx12_query q;
        facet_gfx12_tracer *tracers[PATHS];

        self_box(image, count);
        facet_gfx12_unit_init(&w.unit, image, sizeof image);
        w.unit.resource.instance_en = 0; /* type 6 is then no node */
        tracers_new(&w, 0, tracers);
        CHECK(facet_gfx12_tracer_used(tracers[0]) == FACET_GFX12_PATH_PORTABLE);
        facet_gfx12_query_init(&q, o, d);
        (void)compare_query(tracers, &w.unit, &q, false);
        q.max_steps = 1000;
        (void)compare_query(tracers, &w.unit, &q, false);
        tracers_free(tracers);
    }
}

TEST(memory_limit_falls_back, "")
{
    struct world *w = world_new(false);
    facet_gfx12_tracer *tracers[PATHS];
    struct facet_gfx12_batch_ray ray;

    if (w == NULL) {
        return;
    }
    tracers_new(w, 256, tracers);
    CHECK(facet_gfx12_tracer_used(tracers[0]) == FACET_GFX12_PATH_REFERENCE);
    CHECK_EQ(facet_gfx12_tracer_bytes(tracers[0]), 0);
    random_ray(w, &ray);
    struct facet_gfx12_query q = make_query(w, &ray);
    (void)compare_query(tracers, &w->unit, &q, true);
    tracers_free(tracers);
    world_free(w);
}

/* Queries that the decoded nodes cannot serve: another root, another address, a visit callback. */
static void count_visit(void *context, uint64_t base, uint32_t node, const uint32_t v[10])
{
    (void)base;
    (void)node;
    (void)v;
    ((struct call_log *)context)->calls++;
}

TEST(other_queries_fall_back, "")
{
    struct world *w = world_new(false);
    facet_gfx12_tracer *tracers[PATHS];

    if (w == NULL) {
        return;
    }
    tracers_new(w, 0, tracers);
    for (unsigned i = 0; i < 50 && !harness_failed(); i++) {
        struct facet_gfx12_batch_ray ray;
        struct call_log log = {0};
        struct facet_gfx12_hit hit;
        struct facet_gfx12_stats stats;
        random_ray(w, &ray);
        struct facet_gfx12_query q = make_query(w, &ray);

        q.root = 0x15;
        (void)compare_query(tracers, &w->unit, &q, true);
        q.root = FACET_GFX12_ROOT;
        q.address += 128;
        (void)compare_query(tracers, &w->unit, &q, true);
        q.address -= 128;
        q.callbacks.visit = count_visit;
        q.callbacks.context = &log;
        (void)facet_gfx12_tracer_trace(tracers[0], &q, &hit, &stats, NULL);
        CHECK_EQ(log.calls, stats.steps);
    }
    tracers_free(tracers);
    world_free(w);
}

/* ---- order ---- */

/* The table of two equal keys, and the shortcut that sorts distinct keys in any way, against the
 * network itself. */
TEST(order_of_two, "G12-208")
{
    struct facet_gfx12_unit unit;
    facet_gfx12_unit_init(&unit, NULL, 0);

    for (unsigned mask = 0; mask < 256; mask++) {
        struct facet_gfx12_slot slot[8];
        unsigned low = 8, high = 8;

        for (unsigned i = 0; i < 8; i++) {
            bool hit = (mask >> i & 1) != 0;
            const struct facet_gfx12_slab slab = {0};
            slot[i] = facet_gfx12_slot_make(&unit, hit ? i << 4 | 5 : INV, &slab);
            high = hit ? i : high;
            low = hit && low == 8 ? i : low;
        }
        facet_gfx12_sort(&unit, slot, true);
        if (__builtin_popcount(mask) == 2) {
            CHECK_EQ(facet_gfx12_fast_higher_first[mask], slot[0].id >> 4 == high);
            CHECK_EQ(slot[0].id >> 4 == high ? low : high, slot[1].id >> 4);
        } else {
            CHECK_EQ(facet_gfx12_fast_higher_first[mask], 0);
        }
    }
}
