/* Area `rt`: the offload engine of XPHMG_RT beside Embree's rtcIntersect1, on the same scene, the
 * same rays, one thread. What is measured is the machine itself: XSUBMIT.RT executes on a hart,
 * reads ray entries out of a queue in guest memory and writes hit and miss entries to two others,
 * with FP32 tiles of eight children as `facet bvh build --format xphmg8` writes them. Embree gets
 * one flat mesh built at high quality.
 *
 * The single tests (boxes, triangles) are the pure functions of src/rt: exact flags, any format.
 *
 * Time is CPU time of the thread, so that other programs on the machine count little. */
#include "bench/bench.h"

#include "base/error.h"
#include "base/float.h"
#include "bench/ray_sets.h"
#include "bench/rt_machine.h"
#include "rt/rt.h"

#include <stdlib.h>

struct scene_data {
    const char *name;
    uint32_t size; /* 300 000 triangles and more */
    bool ready;
    struct rt_scene scene;
    struct rt_machine *machine[SQUARES]; /* of the sets before it */
    struct ray_sets sets;
};

static struct scene_data terrain = {.name = "terrain", .size = 400};
static struct scene_data knot = {.name = "knot", .size = 1100};
static struct scene_data objects = {.name = "objects", .size = 72};

static enum facet_status make_diffuse(struct scene_data *d, struct facet_error *err)
{
    struct rt_hit *hits = malloc(RAYS * sizeof *hits);
    struct facet_gfx12_hit *plain = malloc(RAYS * sizeof *plain);
    enum facet_status status;

    if (hits == NULL || plain == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    } else if ((status = rt_machine_run(d->machine[PRIMARY], err)) == FACET_OK &&
               (status = rt_machine_hits(d->machine[PRIMARY], hits, err)) == FACET_OK) {
        rt_hits_for_rays(hits, RAYS, plain);
        d->sets.count[DIFFUSE] = diffuse_rays(
            &d->scene.trace, d->sets.rays[PRIMARY], plain, RAYS, 0, d->sets.rays[DIFFUSE]);
    }
    free(hits);
    free(plain);
    return status;
}

static enum facet_status prepare(struct scene_data *d, struct facet_error *err)
{
    const struct rt_machine_config config = {.rays = RAYS};
    enum facet_status status;

    if (d->ready) {
        return FACET_OK;
    }
    status = rt_scene_make(d->name, d->size, 8, &d->scene, err);
    if (status == FACET_OK) {
        status = ray_sets_make(&d->sets, err);
    }
    for (unsigned set = 0; set < SQUARES && status == FACET_OK; set++) {
        status = rt_machine_create(&d->scene.image, &config, &d->machine[set], err);
    }
    if (status == FACET_OK) {
        camera_rays(&d->scene.trace, WIDTH, HEIGHT, d->sets.rays[PRIMARY]);
        d->sets.count[PRIMARY] = RAYS;
        status = rt_machine_load(d->machine[PRIMARY], d->sets.rays[PRIMARY], RAYS, err);
    }
    if (status == FACET_OK) {
        status = make_diffuse(d, err);
    }
    if (status == FACET_OK) {
        status = rt_machine_load(
            d->machine[DIFFUSE], d->sets.rays[DIFFUSE], d->sets.count[DIFFUSE], err);
    }
    d->ready = status == FACET_OK;
    return status;
}

/* Million rays per second over about `seconds`, whole jobs at a time. */
static enum facet_status
rate(struct scene_data *d, enum ray_set set, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(d, err);
    struct bench_meter meter;

    if (status != FACET_OK) {
        return status;
    }
    meter = bench_meter_start(seconds);
    do {
        status = rt_machine_run(d->machine[set], err);
    } while (status == FACET_OK && bench_meter_more(&meter, d->sets.count[set]));
    *value = bench_meter_rate(&meter);
    return status;
}

static enum facet_status peer_rate(
    struct scene_data *d, enum ray_set set, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(d, err);

    return status == FACET_OK
               ? ray_sets_peer_rate(
                     &d->sets, &d->scene.trace.scene, set, embree_peer_trace, seconds, value, err)
               : status;
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
PAIR(objects_primary, objects, PRIMARY)
PAIR(objects_diffuse, objects, DIFFUSE)

/* ---- single tests ---- */

enum { TESTS = 1024 };

struct tests {
    struct facet_rt_numbers numbers;
    struct facet_rt_options options;
    uint32_t ray[TESTS][FACET_RT_RAY_ELEMENTS];
    uint32_t item[TESTS][FACET_RT_TRIANGLE_ELEMENTS];
};

/* Rays from around the origin past boxes or triangles around it. */
static void tests_make(struct tests *t)
{
    const struct facet_eff eff = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32, .ew = 2};
    uint64_t state = 1;

    t->numbers = facet_rt_numbers_of(&eff, NULL);
    for (unsigned i = 0; i < TESTS; i++) {
        float r[16];

        for (unsigned k = 0; k < 16; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            r[k] = (float)(state >> 40) * 0x1p-23f - 1.0f;
        }
        for (unsigned k = 0; k < 9; k++) {
            t->item[i][k] = facet_float_bits(k < 3 ? r[k] : r[k - k / 3 * 3] + r[k]);
        }
        for (unsigned k = 0; k < 3; k++) {
            t->ray[i][k] = facet_float_bits(4 * r[9 + k]);
            t->ray[i][3 + k] = facet_float_bits(r[12 + k] - 4 * r[9 + k]);
        }
        t->ray[i][6] = 0;
        t->ray[i][7] = facet_float_bits(1e30f);
    }
}

/* One of each kind; what is returned keeps the compiler from dropping it. */
static uint32_t box_test(const struct tests *t, unsigned i)
{
    const struct facet_rt_box_options options = {.t_clamp = true};
    unsigned flags = 0;
    struct facet_rt_lane lane =
        facet_rt_box_lane(&t->numbers, &options, t->ray[i], t->item[i], &flags);

    return lane.value[0] + flags;
}

static uint32_t triangle_test(const struct tests *t, unsigned i)
{
    unsigned flags = 0;
    struct facet_rt_lane lane =
        facet_rt_triangle_lane(&t->numbers, &t->options, t->ray[i], t->item[i], &flags);

    return lane.value[0] + flags;
}

static volatile uint32_t sink;

static enum facet_status test_rate(uint32_t (*test)(const struct tests *t, unsigned i),
                                   double seconds,
                                   double *value,
                                   struct facet_error *err)
{
    struct tests *t = calloc(1, sizeof *t);
    struct bench_meter meter;

    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    tests_make(t);
    meter = bench_meter_start(seconds);
    do {
        for (unsigned i = 0; i < TESTS; i++) {
            sink = test(t, i);
        }
    } while (bench_meter_more(&meter, TESTS));
    *value = bench_meter_rate(&meter);
    free(t);
    return FACET_OK;
}

static enum facet_status pure_boxes(double seconds, double *value, struct facet_error *err)
{
    return test_rate(box_test, seconds, value, err);
}

static enum facet_status pure_triangles(double seconds, double *value, struct facet_error *err)
{
    return test_rate(triangle_test, seconds, value, err);
}

static const struct bench_measure measures[] = {
    {"primary", "Mray/s", primary, "Embree rtcIntersect1", primary_peer},
    {"diffuse", "Mray/s", diffuse, "Embree rtcIntersect1", diffuse_peer},
    {"knot primary", "Mray/s", knot_primary, "Embree rtcIntersect1", knot_primary_peer},
    {"knot diffuse", "Mray/s", knot_diffuse, "Embree rtcIntersect1", knot_diffuse_peer},
    {"objects primary", "Mray/s", objects_primary, "Embree rtcIntersect1", objects_primary_peer},
    {"objects diffuse", "Mray/s", objects_diffuse, "Embree rtcIntersect1", objects_diffuse_peer},
    {"pure boxes", "Mtest/s", pure_boxes, NULL, NULL},
    {"pure triangles", "Mtest/s", pure_triangles, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_rt = {
    .name = "rt",
    .summary = "XSUBMIT.RT: closest hits in FP32 tiles of 320 000 triangles, one thread",
    .measures = measures,
};
