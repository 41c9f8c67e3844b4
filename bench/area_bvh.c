/* Area `bvh`: building a GFX12 image beside Embree's builders, and how good the trees are.
 *
 * Facet's time is that of facet_gfx12_build: from triangles to the bytes that `facet bvh build`
 * writes, every node packed. Embree's is that of rtcCommitScene, from shared buffers, at medium
 * quality beside `fast` and at high quality beside `high`. Memory is taken and given back inside
 * the time of both, and both have one thread; a refit writes an updatable image in place, with
 * every other vertex at another place each time; the time counted is that of the process, because
 * Embree may build on a thread of its own. Only the builds with all processors are measured on the
 * clock. */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "base/error.h"
#include "bench/embree_build_peer.h"
#include "bench/ray_sets.h"
#include "gfx12/build/refit.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct scene_data {
    const char *name;
    uint32_t size;
    uint32_t small; /* for measurements of no length, as tests of the program want them */
    bool ready;
    struct trace_scene scene;
    struct embree_builder *peer;
    double nodes_per_ray, peer_nodes_per_ray; /* 0: not counted yet */
};

static struct scene_data terrain = {.name = "terrain", .size = 400, .small = 64};
static struct scene_data knot = {.name = "knot", .size = 1100, .small = 200};
static struct scene_data range = {.name = "terrain", .size = 724, .small = 128};

static enum facet_status prepare(struct scene_data *d, double seconds, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    if (!d->ready) {
        status = trace_scene_make(
            d->name, seconds < 0.01 ? d->small : d->size, FACET_BVH_HIGH, &d->scene, err);
        d->ready = status == FACET_OK;
    }
    return status;
}

static enum facet_status prepare_peer(struct scene_data *d, double seconds, struct facet_error *err)
{
    enum facet_status status = prepare(d, seconds, err);

    return status == FACET_OK && d->peer == NULL
               ? embree_builder_create(&d->scene.scene.meshes[0], &d->peer, err)
               : status;
}

static enum facet_status build(const struct scene_data *d,
                               enum facet_bvh_quality quality,
                               facet_pool *pool,
                               struct facet_error *err)
{
    const struct facet_gfx12_build_options options = {.quality = quality};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    enum facet_status status =
        facet_gfx12_build(&d->scene.input.scene, &options, pool, NULL, &image, &report, err);

    free(image.bytes);
    return status;
}

static double triangles(const struct scene_data *d)
{
    return 1e-6 * (double)d->scene.scene.meshes[0].triangle_count;
}

/* ---- one thread ---- */

static double process_time(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum facet_status rate(struct scene_data *d,
                              enum facet_bvh_quality quality,
                              double seconds,
                              double *value,
                              struct facet_error *err)
{
    enum facet_status status = prepare(d, seconds, err);
    const double start = process_time();
    double done = 0, took = 0;

    while (status == FACET_OK && (done == 0 || took < seconds)) {
        status = build(d, quality, NULL, err);
        done += triangles(d);
        took = process_time() - start;
    }
    *value = done / took;
    return status;
}

static enum facet_status peer_rate(struct scene_data *d,
                                   enum facet_bvh_quality quality,
                                   double seconds,
                                   double *value,
                                   struct facet_error *err)
{
    enum facet_status status = prepare_peer(d, seconds, err);
    const double start = process_time();
    double done = 0, took = 0;

    while (status == FACET_OK && (done == 0 || took < seconds)) {
        embree_builder_build(d->peer, quality == FACET_BVH_HIGH);
        done += triangles(d);
        took = process_time() - start;
    }
    *value = done / took;
    return status;
}

/* ---- refit ---- */

/* An updatable image and the triangles at the two places that they move between: as they are, and
 * with every second vertex a little higher. */
struct motion {
    struct facet_gfx12_image image;
    struct facet_bvh_triangle *moved;
};

static enum facet_status
make_motion(const struct scene_data *d, struct motion *m, struct facet_error *err)
{
    const struct facet_gfx12_build_options options = {.allow_update = true};
    const struct facet_bvh_blas_input *blas = &d->scene.input.blas[0];
    const struct facet_scene_mesh *mesh = &d->scene.scene.meshes[0];
    struct facet_gfx12_build_report report;
    enum facet_status status =
        facet_gfx12_build(&d->scene.input.scene, &options, NULL, NULL, &m->image, &report, err);

    m->moved = malloc(blas->triangle_count * sizeof *m->moved);
    if (status != FACET_OK || m->moved == NULL) {
        return status != FACET_OK ? status : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    memcpy(m->moved, blas->triangles, blas->triangle_count * sizeof *m->moved);
    for (size_t i = 0; i < 3 * (size_t)blas->triangle_count; i++) {
        m->moved[i / 3].vertex[i % 3][1] += mesh->indices[i] % 2 != 0 ? 0.01F : 0.0F;
    }
    return FACET_OK;
}

static enum facet_status refit_rate(double seconds, double *value, struct facet_error *err)
{
    static struct motion motion;
    enum facet_status status = prepare(&terrain, seconds, err);
    struct facet_bvh_scene_input scene = terrain.scene.input.scene;
    struct facet_bvh_blas_input blas;
    struct facet_gfx12_view view = {.root = FACET_GFX12_ROOT};
    double start, done = 0, took = 0;

    if (status == FACET_OK && motion.moved == NULL) {
        status = make_motion(&terrain, &motion, err);
    }
    if (status == FACET_OK) {
        blas = scene.blas[0];
        scene.blas = &blas;
        view.bytes = motion.image.bytes;
        view.size = motion.image.size;
    }
    start = process_time();
    for (bool moved = true; status == FACET_OK && (done == 0 || took < seconds); moved = !moved) {
        blas.triangles = moved ? motion.moved : terrain.scene.input.blas[0].triangles;
        status = facet_gfx12_refit(&view, &scene, NULL, NULL, motion.image.bytes, err);
        done += triangles(&terrain);
        took = process_time() - start;
    }
    *value = done / took;
    return status;
}

static enum facet_status refit_peer(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare_peer(&terrain, seconds, err);
    double start, done = 0, took = 0;

    if (status == FACET_OK) {
        embree_builder_refit(terrain.peer); /* the first one builds */
    }
    start = process_time();
    while (status == FACET_OK && (done == 0 || took < seconds)) {
        embree_builder_refit(terrain.peer);
        done += triangles(&terrain);
        took = process_time() - start;
    }
    *value = done / took;
    return status;
}

/* ---- how good the trees are ---- */

/* One diffuse bounce from what a camera sees. Rays and peer's count stay the same, so they are
 * counted once. */
static enum facet_status count_nodes(struct scene_data *d, double seconds, struct facet_error *err)
{
    enum { SIDE_X = 320, SIDE_Y = 180, COUNT = SIDE_X * SIDE_Y };
    struct facet_gfx12_batch_ray *rays = malloc(2 * COUNT * sizeof *rays);
    struct facet_gfx12_hit *hits = malloc(COUNT * sizeof *hits);
    enum facet_status status = prepare(d, seconds, err);
    facet_gfx12_tracer *tracer = NULL;
    struct facet_gfx12_stats stats;
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;

    if (status == FACET_OK && (rays == NULL || hits == NULL)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (status == FACET_OK) {
        trace_scene_unit(&d->scene, &unit);
        status = facet_gfx12_tracer_create(&unit, NULL, &tracer, err);
    }
    if (status == FACET_OK) {
        camera_rays(&d->scene, SIDE_X, SIDE_Y, rays);
        facet_gfx12_query_init(&query, rays->origin, rays->direction);
        status = facet_gfx12_tracer_batch(tracer, &query, rays, COUNT, hits, NULL, &stats, err);
    }
    if (status == FACET_OK) {
        const size_t count = diffuse_rays(&d->scene, rays, hits, COUNT, 0, rays + COUNT);
        struct facet_error none;

        status =
            facet_gfx12_tracer_batch(tracer, &query, rays + COUNT, count, hits, NULL, &stats, err);
        /* less the box above the only instance, which every ray meets */
        d->nodes_per_ray = (double)(stats.boxes + stats.primitives) / (double)count - 1;
        if (status == FACET_OK && prepare_peer(d, seconds, &none) == FACET_OK) {
            status = embree_builder_nodes_per_ray(
                d->peer, rays + COUNT, count, &d->peer_nodes_per_ray, err);
        }
    }
    facet_gfx12_tracer_destroy(tracer);
    free(rays);
    free(hits);
    return status;
}

static enum facet_status
quality(struct scene_data *d, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = d->nodes_per_ray == 0 ? count_nodes(d, seconds, err) : FACET_OK;

    *value = 1000 / d->nodes_per_ray;
    return status;
}

static enum facet_status
peer_quality(struct scene_data *d, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare_peer(d, seconds, err);

    *value = 1000 / d->peer_nodes_per_ray;
    return status;
}

#define PAIR(name, data, quality)                                                                  \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return rate(&(data), quality, seconds, value, err);                                        \
    }                                                                                              \
    static enum facet_status name##_peer(double seconds, double *value, struct facet_error *err)   \
    {                                                                                              \
        return peer_rate(&(data), quality, seconds, value, err);                                   \
    }

PAIR(build_fast, terrain, FACET_BVH_FAST)
PAIR(build_high, terrain, FACET_BVH_HIGH)
PAIR(knot_fast, knot, FACET_BVH_FAST)
PAIR(knot_high, knot, FACET_BVH_HIGH)

#define QUALITY(name, data)                                                                        \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return quality(&(data), seconds, value, err);                                              \
    }                                                                                              \
    static enum facet_status name##_peer(double seconds, double *value, struct facet_error *err)   \
    {                                                                                              \
        return peer_quality(&(data), seconds, value, err);                                         \
    }

QUALITY(terrain_quality, terrain)
QUALITY(knot_quality, knot)

/* ---- all processors beside one thread ---- */

#define BUILDS                                                                                     \
    4 /* as long as this many of other measurements: a build of this scene takes half of one */

/* Best of the builds in the time given: what disturbs a build on the clock only ever slows it.
 * Where the user may, the threads are scheduled before other programs meanwhile; those of the pool
 * inherit that. */
static enum facet_status clock_rate(unsigned threads,
                                    enum facet_bvh_quality quality,
                                    double seconds,
                                    double *value,
                                    struct facet_error *err)
{
    const struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    const int policy = sched_getscheduler(0);
    enum facet_status status = prepare(&range, seconds, err);
    const double start = bench_now();
    facet_pool *pool = NULL;
    struct sched_param before;
    double best = 0;

    (void)sched_getparam(0, &before);
    (void)sched_setscheduler(0, SCHED_RR, &first); /* only a hint */
    if (status == FACET_OK) {
        status = facet_pool_create(threads, &pool, err);
    }
    while (status == FACET_OK && (best == 0 || bench_now() - start < BUILDS * seconds)) {
        const double begin = bench_now();
        double speed;

        status = build(&range, quality, pool, err);
        speed = triangles(&range) / (bench_now() - begin);
        best = speed > best ? speed : best;
    }
    facet_pool_destroy(pool);
    (void)sched_setscheduler(0, policy, &before);
    *value = best;
    return status;
}

#define THREADS(name, quality)                                                                     \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return clock_rate(0, quality, seconds, value, err);                                        \
    }                                                                                              \
    static enum facet_status name##_one(double seconds, double *value, struct facet_error *err)    \
    {                                                                                              \
        return clock_rate(1, quality, seconds, value, err);                                        \
    }

THREADS(threads_fast, FACET_BVH_FAST)
THREADS(threads_high, FACET_BVH_HIGH)

static const struct bench_measure measures[] = {
    {"build-fast", "Mtri/s", build_fast, "Embree, medium quality", build_fast_peer},
    {"build-high", "Mtri/s", build_high, "Embree, high quality", build_high_peer},
    {"knot build-fast", "Mtri/s", knot_fast, "Embree, medium quality", knot_fast_peer},
    {"knot build-high", "Mtri/s", knot_high, "Embree, high quality", knot_high_peer},
    {"refit", "Mtri/s", refit_rate, "Embree, rtcCommitScene at quality refit", refit_peer},
    {"quality", "ray/knode", terrain_quality, "tree of Embree's rtcBuildBVH", terrain_quality_peer},
    {"knot quality", "ray/knode", knot_quality, "tree of Embree's rtcBuildBVH", knot_quality_peer},
    {"build-threads", "Mtri/s", threads_fast, "one thread, quality fast", threads_fast_one},
    {"build-threads-high", "Mtri/s", threads_high, "one thread, quality high", threads_high_one},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_bvh = {
    .name = "bvh",
    .summary = "building GFX12 images of 320 000 triangles and more, and rays per thousand nodes",
    .measures = measures,
};
