/* Area `gfx12`: rays through a GFX12 image beside Embree's rtcIntersect1, on the same scene, the
 * same rays, one thread. Facet returns what the reference loop of the contract returns, bit for
 * bit; the image is what `facet bvh build --quality high` writes, with its top level and its
 * instance, while Embree gets one flat mesh built at high quality.
 *
 * Time is CPU time of the thread, so that other programs on the machine count little; only the
 * scaling over two threads has to be measured on the clock. */
#include "bench/bench.h"

#include "base/error.h"
#include "bench/embree_peer.h"
#include "bench/gfx12_rays.h"

#include <stdlib.h>
#include <time.h>

enum { WIDTH = 640, HEIGHT = 360, RAYS = WIDTH * HEIGHT };

enum which { PRIMARY, DIFFUSE, SETS };

struct scene_data {
    const char *name;
    uint32_t size; /* 300 000 triangles and more */
    bool ready, peer_tried;
    struct trace_scene scene;
    facet_gfx12_tracer *tracer;
    struct facet_gfx12_query query;
    struct embree_peer *peer;
    struct facet_gfx12_batch_ray *rays[SETS];
    size_t count[SETS];
    struct facet_gfx12_hit *hits;
    struct embree_hit *peer_hits;
};

static struct scene_data terrain = {.name = "terrain", .size = 400};
static struct scene_data knot = {.name = "knot", .size = 1100};

static enum facet_status prepare(struct scene_data *d, struct facet_error *err)
{
    struct facet_gfx12_unit unit;
    enum facet_status status;

    if (d->ready) {
        return FACET_OK;
    }
    status = trace_scene_make(d->name, d->size, FACET_BVH_HIGH, &d->scene, err);
    if (status != FACET_OK) {
        return status;
    }
    trace_scene_unit(&d->scene, &unit);
    status = facet_gfx12_tracer_create(&unit, NULL, &d->tracer, err);
    if (status != FACET_OK) {
        return status;
    }
    d->rays[PRIMARY] = malloc(RAYS * sizeof d->rays[0][0]);
    d->rays[DIFFUSE] = malloc(RAYS * sizeof d->rays[0][0]);
    d->hits = malloc(RAYS * sizeof d->hits[0]);
    d->peer_hits = malloc(RAYS * sizeof d->peer_hits[0]);
    if (d->rays[PRIMARY] == NULL || d->rays[DIFFUSE] == NULL || d->hits == NULL ||
        d->peer_hits == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    camera_rays(&d->scene, WIDTH, HEIGHT, d->rays[PRIMARY]);
    d->count[PRIMARY] = RAYS;
    facet_gfx12_query_init(&d->query, d->rays[PRIMARY]->origin, d->rays[PRIMARY]->direction);
    status = facet_gfx12_tracer_batch(
        d->tracer, &d->query, d->rays[PRIMARY], RAYS, d->hits, NULL, NULL, err);
    if (status == FACET_OK) {
        d->count[DIFFUSE] =
            diffuse_rays(&d->scene, d->rays[PRIMARY], d->hits, RAYS, 0, d->rays[DIFFUSE]);
        d->ready = true;
    }
    return status;
}

static double cpu_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Million rays per second over about `seconds`, whole sets at a time. */
static enum facet_status
rate(struct scene_data *d, enum which set, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(d, err);
    double start = cpu_now(), now = start;
    size_t done = 0;

    while (status == FACET_OK && (done == 0 || now - start < seconds)) {
        status = facet_gfx12_tracer_batch(
            d->tracer, &d->query, d->rays[set], d->count[set], d->hits, NULL, NULL, err);
        done += d->count[set];
        now = cpu_now();
    }
    *value = (double)done / (now - start) * 1e-6;
    return status;
}

static enum facet_status peer_rate(
    struct scene_data *d, enum which set, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(d, err);
    double start, now;
    size_t done = 0;

    if (status == FACET_OK && d->peer == NULL) {
        status = embree_peer_create(&d->scene.scene, false, &d->peer, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    start = now = cpu_now();
    while (done == 0 || now - start < seconds) {
        embree_peer_trace(d->peer, d->rays[set], d->count[set], d->peer_hits);
        done += d->count[set];
        now = cpu_now();
    }
    *value = (double)done / (now - start) * 1e-6;
    return FACET_OK;
}

#define PAIR(name, data, set)                                                                      \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return rate(&(data), set, seconds, value, err);                                            \
    }                                                                                              \
    static enum facet_status name##_peer(double seconds, double *value, struct facet_error *err)   \
    {                                                                                              \
        return peer_rate(&(data), set, seconds, value, err);                                       \
    }

PAIR(primary, terrain, PRIMARY)
PAIR(diffuse, terrain, DIFFUSE)
PAIR(knot_primary, knot, PRIMARY)
PAIR(knot_diffuse, knot, DIFFUSE)

/* Diffuse rays on the clock with so many threads. */
static enum facet_status
threads_rate(unsigned threads, double seconds, double *value, struct facet_error *err)
{
    struct scene_data *d = &terrain;
    enum facet_status status = prepare(d, err);
    facet_pool *pool = NULL;
    double start, now;
    size_t done = 0;

    if (status == FACET_OK) {
        status = facet_pool_create(threads, &pool, err);
    }
    start = now = bench_now();
    while (status == FACET_OK && (done == 0 || now - start < seconds)) {
        status = facet_gfx12_tracer_batch(
            d->tracer, &d->query, d->rays[DIFFUSE], d->count[DIFFUSE], d->hits, pool, NULL, err);
        done += d->count[DIFFUSE];
        now = bench_now();
    }
    facet_pool_destroy(pool);
    *value = (double)done / (now - start) * 1e-6;
    return status;
}

static enum facet_status two_threads(double seconds, double *value, struct facet_error *err)
{
    return threads_rate(2, seconds, value, err);
}

static enum facet_status one_thread(double seconds, double *value, struct facet_error *err)
{
    return threads_rate(1, seconds, value, err);
}

static const struct bench_measure measures[] = {
    {"primary", "Mray/s", primary, "Embree rtcIntersect1", primary_peer},
    {"diffuse", "Mray/s", diffuse, "Embree rtcIntersect1", diffuse_peer},
    {"knot primary", "Mray/s", knot_primary, "Embree rtcIntersect1", knot_primary_peer},
    {"knot diffuse", "Mray/s", knot_diffuse, "Embree rtcIntersect1", knot_diffuse_peer},
    {"two threads", "Mray/s", two_threads, "one thread, wall time", one_thread},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_gfx12 = {
    .name = "gfx12",
    .summary = "closest hits in a GFX12 BVH of 320 000 triangles, one thread",
    .measures = measures,
};
