/* Area `gfx12`: rays through a GFX12 image beside Embree's rtcIntersect1, on the same scene, the
 * same rays, one thread. Facet gets arrays of rays, as its interface takes them, and has them take
 * turns, each on its own way; Embree gets one ray per call. `primary-best` lets both sides do what
 * is best for rays from one point: Facet packets, Embree packets or streams. Facet returns what the
 * reference loop of the contract returns, bit for bit; the image is what `facet bvh build --quality
 * high` writes, with its top level and its instance, while Embree gets one flat mesh built at high
 * quality.
 *
 * Time is CPU time of the thread, so that other programs on the machine count little; only the
 * scaling over two threads has to be measured on the clock. */
#define _GNU_SOURCE
#include "bench/bench.h"

#include "base/error.h"
#include "bench/ray_sets.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct scene_data {
    const char *name;
    uint32_t size; /* 300 000 triangles and more */
    bool ready;
    struct trace_scene scene;
    facet_gfx12_tracer *tracer, *packets; /* each ray alone; rays from one point together */
    struct facet_gfx12_query query;
    struct ray_sets sets;
    struct facet_gfx12_hit *hits;
};

static struct scene_data terrain = {.name = "terrain", .size = 400};
static struct scene_data knot = {.name = "knot", .size = 1100};
static struct scene_data objects = {.name = "objects", .size = 72};

static enum facet_status prepare(struct scene_data *d, struct facet_error *err)
{
    struct facet_gfx12_tracer_options options = {.one_by_one = true};
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
    options.address = unit.image_address;
    status = facet_gfx12_tracer_create(&unit, &options, &d->tracer, err);
    if (status == FACET_OK) {
        status = facet_gfx12_tracer_create(&unit, NULL, &d->packets, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    status = ray_sets_make(&d->sets, err);
    if (status != FACET_OK) {
        return status;
    }
    d->hits = malloc(RAYS * sizeof d->hits[0]);
    if (d->hits == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    camera_rays(&d->scene, WIDTH, HEIGHT, d->sets.rays[PRIMARY]);
    d->sets.count[PRIMARY] = RAYS;
    ray_sets_make_squares(&d->sets);
    facet_gfx12_query_init(
        &d->query, d->sets.rays[PRIMARY]->origin, d->sets.rays[PRIMARY]->direction);
    status = facet_gfx12_tracer_batch(
        d->tracer, &d->query, d->sets.rays[PRIMARY], RAYS, d->hits, NULL, NULL, err);
    if (status == FACET_OK) {
        d->sets.count[DIFFUSE] =
            diffuse_rays(&d->scene, d->sets.rays[PRIMARY], d->hits, RAYS, 0, d->sets.rays[DIFFUSE]);
        d->ready = true;
    }
    return status;
}

/* Million rays per second over about `seconds`, whole sets at a time. */
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
        status = facet_gfx12_tracer_batch(set == SQUARES ? d->packets : d->tracer,
                                          &d->query,
                                          d->sets.rays[set],
                                          d->sets.count[set],
                                          d->hits,
                                          NULL,
                                          NULL,
                                          err);
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
                     &d->sets, &d->scene.scene, set, embree_peer_trace, seconds, value, err)
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

static enum facet_status primary_best(double seconds, double *value, struct facet_error *err)
{
    return rate(&terrain, SQUARES, seconds, value, err);
}

static enum facet_status primary_best_peer(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(&terrain, err);

    return status == FACET_OK
               ? ray_sets_stream_rate(&terrain.sets, &terrain.scene.scene, seconds, value, err)
               : status;
}

/* Any hit: the diffuse rays as those that ask how much of the sky is seen. */
static enum facet_status occluded(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(&terrain, err);

    terrain.query.api_flags = FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    status = status == FACET_OK ? rate(&terrain, DIFFUSE, seconds, value, err) : status;
    terrain.query.api_flags = 0;
    return status;
}

static enum facet_status occluded_peer(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(&terrain, err);

    return status == FACET_OK ? ray_sets_peer_rate(&terrain.sets,
                                                   &terrain.scene.scene,
                                                   DIFFUSE,
                                                   embree_peer_occluded,
                                                   seconds,
                                                   value,
                                                   err)
                              : status;
}

/* ---- two threads beside one ---- */

/* Slices of the diffuse rays, on the clock: each is traced by one thread on either processor and
 * then by two threads, one on each. The ratio is the rate of two over the mean of the two rates of
 * one: processors need not be equally fast (other programs, or a neighbour on the same core), and
 * one thread alone must not have the luck of the faster one. The result is the median of the ratios
 * of those rounds that waited least for a processor.
 *
 * Threads are bound to their processors and, where the user may, scheduled before other programs,
 * for as long as the rounds take: otherwise the kernel's choice when to move a thread that has just
 * woken is what is measured. Waiting only chooses the rounds and is never subtracted: the kernel
 * books it when the thread gets its turn, perhaps in a later slice, and corrected times came out
 * faster than two processors can be. Where two processors are never free, the ratio is low and says
 * just that. */
enum { SLICES = 4, MAX_ROUNDS = 4096 };

struct round {
    double one;     /* million rays per second, mean of both processors */
    double ratio;   /* two threads over one */
    double waiting; /* share of the time in which a thread was ready but had no processor */
};

struct rounds {
    struct round round[MAX_ROUNDS];
    size_t count;
};

/* Where the threads run, and how the caller ran before. */
struct places {
    cpu_set_t before;
    cpu_set_t at[2]; /* both `before` where there is but one processor */
    int policy;
    struct sched_param param;
};

static void places_take(struct places *p)
{
    struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    unsigned found = 0;

    CPU_ZERO(&p->before);
    (void)sched_getaffinity(0, sizeof p->before, &p->before);
    p->at[0] = p->at[1] = p->before;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2 && CPU_COUNT(&p->before) > 1; cpu++) {
        if (CPU_ISSET(cpu, &p->before)) {
            CPU_ZERO(&p->at[found]);
            CPU_SET(cpu, &p->at[found]);
            found++;
        }
    }
    p->policy = sched_getscheduler(0);
    (void)sched_getparam(0, &p->param);
    (void)sched_setscheduler(0, SCHED_RR, &first); /* only a hint */
}

static void go_to(const cpu_set_t *place)
{
    (void)sched_setaffinity(0, sizeof *place, place);
}

static void places_leave(const struct places *p)
{
    (void)sched_setscheduler(0, p->policy, &p->param);
    go_to(&p->before);
}

/* Seconds that the threads of this process have been ready to run but did not; 0 where the kernel
 * does not tell. */
static double waited(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    double seconds = 0.0;

    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        char path[300];
        unsigned long long ran, delayed;
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        file = fopen(path, "r");
        if (file != NULL) {
            seconds += fscanf(file, "%llu %llu", &ran, &delayed) == 2 ? 1e-9 * (double)delayed : 0;
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return seconds;
}

struct slice_time {
    double clock, waited;
};

static enum facet_status trace_slice(struct scene_data *d,
                                     size_t slice,
                                     facet_pool *pool,
                                     struct slice_time *out,
                                     struct facet_error *err)
{
    const size_t count = d->sets.count[DIFFUSE] / SLICES;
    const double waited_before = waited();
    const double start = bench_now();
    enum facet_status status = facet_gfx12_tracer_batch(d->tracer,
                                                        &d->query,
                                                        d->sets.rays[DIFFUSE] + slice * count,
                                                        count,
                                                        d->hits,
                                                        pool,
                                                        NULL,
                                                        err);

    out->clock = bench_now() - start;
    out->waited = waited() - waited_before;
    return status;
}

static struct round
compare(const struct slice_time one[2], const struct slice_time *two, double rays)
{
    const double rate = 0.5 * (rays / one[0].clock + rays / one[1].clock);

    return (struct round){.one = rate * 1e-6,
                          .ratio = rays / two->clock / rate,
                          .waiting = (one[0].waited + one[1].waited + two->waited) /
                                     (one[0].clock + one[1].clock + 2 * two->clock)};
}

/* The pool's thread stays at the second place. */
static enum facet_status measure_rounds(struct scene_data *d,
                                        const struct places *places,
                                        facet_pool *pool,
                                        double seconds,
                                        struct rounds *p,
                                        struct facet_error *err)
{
    const double rays = (double)(d->sets.count[DIFFUSE] / SLICES);
    const double start = bench_now();
    struct slice_time one[2], two;
    /* The first slice wakes the threads and does not count. */
    enum facet_status status = trace_slice(d, 0, pool, &two, err);

    p->count = 0;
    while (status == FACET_OK && p->count < MAX_ROUNDS &&
           (p->count == 0 || bench_now() - start < seconds)) {
        const size_t slice = p->count % SLICES;

        for (unsigned i = 0; i < 2 && status == FACET_OK; i++) {
            go_to(&places->at[1 - i]); /* ends at the first */
            status = trace_slice(d, slice, NULL, &one[i], err);
        }
        if (status == FACET_OK) {
            status = trace_slice(d, slice, pool, &two, err);
        }
        p->round[p->count++] = compare(one, &two, rays);
    }
    return status;
}

static int by_waiting(const void *a, const void *b)
{
    double x = ((const struct round *)a)->waiting, y = ((const struct round *)b)->waiting;

    return (x > y) - (x < y);
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const struct round *)a)->ratio, y = ((const struct round *)b)->ratio;

    return (x > y) - (x < y);
}

/* The median ratio of the rounds that waited for less than a hundredth of their time, but at least
 * of the three calmest. */
static struct round calm_median(struct rounds *p)
{
    size_t calm = p->count < 3 ? p->count : 3;

    qsort(p->round, p->count, sizeof p->round[0], by_waiting);
    while (calm < p->count && p->round[calm].waiting < 0.01) {
        calm++;
    }
    qsort(p->round, calm, sizeof p->round[0], by_ratio);
    return p->round[calm / 2];
}

/* Both values come from the same rounds; one_thread returns what two_threads has measured. */
static double one_thread_rate;

static enum facet_status two_threads(double seconds, double *value, struct facet_error *err)
{
    static struct rounds rounds;
    enum facet_status status = prepare(&terrain, err);
    facet_pool *pool = NULL;
    struct places places;

    if (status != FACET_OK) {
        return status;
    }
    places_take(&places);
    go_to(&places.at[1]); /* the pool's thread inherits the place */
    status = facet_pool_create(2, &pool, err);
    go_to(&places.at[0]);
    if (status == FACET_OK) {
        status = measure_rounds(&terrain, &places, pool, 4 * seconds, &rounds, err);
    }
    facet_pool_destroy(pool);
    places_leave(&places);
    if (status == FACET_OK) {
        struct round median = calm_median(&rounds);

        one_thread_rate = median.one;
        *value = median.one * median.ratio;
    }
    return status;
}

static enum facet_status one_thread(double seconds, double *value, struct facet_error *err)
{
    (void)seconds;
    (void)err;
    *value = one_thread_rate;
    return FACET_OK;
}

static const struct bench_measure measures[] = {
    {"primary", "Mray/s", primary, "Embree rtcIntersect1", primary_peer},
    {"diffuse", "Mray/s", diffuse, "Embree rtcIntersect1", diffuse_peer},
    {"knot primary", "Mray/s", knot_primary, "Embree rtcIntersect1", knot_primary_peer},
    {"knot diffuse", "Mray/s", knot_diffuse, "Embree rtcIntersect1", knot_diffuse_peer},
    {"objects primary", "Mray/s", objects_primary, "Embree rtcIntersect1", objects_primary_peer},
    {"objects diffuse", "Mray/s", objects_diffuse, "Embree rtcIntersect1", objects_diffuse_peer},
    {"primary-best",
     "Mray/s",
     primary_best,
     "Embree, the faster of rtcIntersect8 and rtcIntersect1M",
     primary_best_peer},
    {"occluded", "Mray/s", occluded, "Embree rtcOccluded1", occluded_peer},
    {"two threads",
     "Mray/s",
     two_threads,
     "one thread, mean of both processors; needs both free",
     one_thread},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_gfx12 = {
    .name = "gfx12",
    .summary = "closest hits in a GFX12 BVH of 320 000 triangles, one thread",
    .measures = measures,
};
