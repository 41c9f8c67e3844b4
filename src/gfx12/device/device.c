/* See device.h. */
#include "gfx12/device/device.h"

#include "gfx12/device/check.h"
#include "gfx12/device/hits.h"
#include "gfx12/device/order.h"
#include "gfx12/device/pages.h"
#include "gfx12/device/prepare.h"
#include "gfx12/device/text.h" /* made from the .cl files */

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE = 1 << 12,         /* nodes that a ray visits in one launch */
    MOST_RAYS = 1 << 22,     /* in one launch */
    SEGMENT_LIMIT = 1 << 24, /* pieces of an image */
    COMMONS = 4,             /* as many as a picture has kinds of rays */
};

/* On the device for each ray: ray, result, state, places in three lists, fate, wanted page. */
#define RAY_BYTES                                                                                  \
    (sizeof(struct device_ray) + sizeof(struct device_result) + sizeof(struct device_state) +      \
     5 * sizeof(uint32_t))

/* Of a node's records. */
#define BOX_BYTES (4 * BOX_RECORD)
#define PAIRS_BYTES (4 * NODE_PAIRS * PAIR_RECORD)

struct facet_gfx12_device {
    pthread_mutex_t turn; /* who holds it may use the rest */
    facet_opencl *cl;
    uint64_t image_room, ray_room; /* bytes that each may take */
    const struct facet_gfx12_unit *unit;
    struct facet_gfx12_pages *pages;
    facet_opencl_memory *segments, *turned;
    /* What was asked lately and is there: kinds of rays that take turns wait for no write. */
    struct asked {
        struct device_common common;
        facet_opencl_memory *memory;
    } commons[COMMONS];
    unsigned next_common;        /* makes room */
    facet_opencl_memory *common; /* what is asked now */
    /* Records of the image's nodes for the fast loop (pack.cl); 0 of them: none. */
    facet_opencl_memory *boxes, *pairs;
    uint32_t phase, records;
    /* for `room` rays */
    size_t room;
    facet_opencl_memory *rays, *results, *states, *fate, *wanted;
    facet_opencl_memory *list, *next, *declined; /* of rays that are not done, that will not be */
    facet_opencl_memory *counts;
    facet_opencl_memory *keys; /* for sorting */
    enum facet_gfx12_device_order order;
    struct facet_gfx12_device_figures figures;
    const struct facet_gfx12_device_addition *addition; /* NULL: not there */
    const facet_opencl_memory *asked;                   /* by its text; NULL: it is not asked */
    uint64_t asked_bytes;
    struct facet_error without; /* why it is not there */
};

/* ---- opening ---- */

static enum facet_status bring_turned(struct facet_gfx12_device *d, struct facet_error *err)
{
    uint32_t rows[12 * FACET_GFX12_OBB_COUNT];
    enum facet_status status = facet_opencl_memory_new(d->cl, sizeof rows, &d->turned, err);

    facet_gfx12_device_turned(rows);
    return status == FACET_OK ? facet_opencl_write(d->cl, d->turned, 0, rows, sizeof rows, err)
                              : status;
}

/* Compiles the loop and what the addition adds, and tests both. */
static enum facet_status open_it(struct facet_gfx12_device *d,
                                 size_t number,
                                 const struct facet_gfx12_device_addition *addition,
                                 struct facet_error *err)
{
    static const char *const before[] = {device_shared, device_opencl};
    static const char *const after[] = {device_exact,
                                        device_node,
                                        device_walk,
                                        device_pack,
                                        device_fast,
                                        device_order,
                                        device_gather,
                                        device_hits,
                                        device_check};
    enum { BEFORE = sizeof before / sizeof before[0], AFTER = sizeof after / sizeof after[0] };
    const unsigned added = addition != NULL ? addition->text_count : 0;
    const char **texts = calloc(BEFORE + added + AFTER, sizeof *texts);
    enum facet_status status;

    if (texts == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    memcpy(texts, before, sizeof before);
    memcpy(texts + BEFORE + added, after, sizeof after);
    if (added != 0) {
        memcpy(texts + BEFORE, addition->texts, added * sizeof *texts);
    }
    status = facet_opencl_open(number, texts, BEFORE + added + AFTER, &d->cl, err);
    free(texts);
    if (status == FACET_OK) {
        status = facet_gfx12_device_check(d->cl, err);
    }
    if (status == FACET_OK && addition != NULL) {
        status = addition->check(d->cl, err);
    }
    if (status != FACET_OK) {
        facet_opencl_close(d->cl);
        d->cl = NULL;
    }
    return status;
}

enum facet_status facet_gfx12_device_open(const struct facet_gfx12_device_options *options,
                                          facet_gfx12_device **out,
                                          struct facet_error *err)
{
    struct facet_gfx12_device *d = calloc(1, sizeof *d);
    const struct facet_opencl_device *about;
    enum facet_status status;
    uint64_t half;

    *out = NULL;
    if (d == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    pthread_mutex_init(&d->turn, NULL);
    status = options->addition != NULL ? open_it(d, options->number, options->addition, &d->without)
                                       : FACET_ERR_USAGE;
    if (status == FACET_OK) {
        d->addition = options->addition;
    } else {
        status = open_it(d, options->number, NULL, err);
    }
    if (status == FACET_OK) {
        status = bring_turned(d, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(d->cl, sizeof(struct device_counts), &d->counts, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(d->cl, facet_gfx12_order_bytes(), &d->keys, err);
    }
    if (status != FACET_OK) {
        facet_gfx12_device_close(d);
        return status;
    }
    about = facet_opencl_about(d->cl);
    half = (options->max_bytes != 0 ? options->max_bytes : about->memory / 2) / 2;
    d->image_room = half < about->largest ? half : about->largest;
    d->ray_room = d->image_room;
    *out = d;
    return FACET_OK;
}

const char *facet_gfx12_device_without(const facet_gfx12_device *device)
{
    return device->addition != NULL ? NULL : device->without.message;
}

void facet_gfx12_device_ask(facet_gfx12_device *device,
                            const facet_opencl_memory *asked,
                            uint64_t bytes)
{
    device->asked = asked;
    device->asked_bytes = bytes;
}

static void free_rays(struct facet_gfx12_device *d)
{
    facet_opencl_memory **const all[] = {
        &d->rays, &d->results, &d->states, &d->fate, &d->wanted, &d->list, &d->next, &d->declined};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        facet_opencl_memory_free(d->cl, *all[i]);
        *all[i] = NULL;
    }
    d->room = 0;
}

static void free_records(struct facet_gfx12_device *d)
{
    facet_opencl_memory_free(d->cl, d->boxes);
    facet_opencl_memory_free(d->cl, d->pairs);
    d->boxes = d->pairs = NULL;
    d->records = 0;
}

static void free_image(struct facet_gfx12_device *d)
{
    facet_gfx12_pages_free(d->pages);
    facet_opencl_memory_free(d->cl, d->segments);
    free_records(d);
    d->pages = NULL;
    d->segments = NULL;
    d->unit = NULL;
}

void facet_gfx12_device_close(facet_gfx12_device *device)
{
    if (device != NULL) {
        free_rays(device);
        free_image(device);
        facet_opencl_memory_free(device->cl, device->turned);
        for (unsigned i = 0; i < COMMONS; i++) {
            facet_opencl_memory_free(device->cl, device->commons[i].memory);
        }
        facet_opencl_memory_free(device->cl, device->counts);
        facet_opencl_memory_free(device->cl, device->keys);
        facet_opencl_close(device->cl);
        pthread_mutex_destroy(&device->turn);
        free(device);
    }
}

const struct facet_opencl_device *facet_gfx12_device_about(const facet_gfx12_device *device)
{
    return facet_opencl_about(device->cl);
}

struct facet_gfx12_device_figures facet_gfx12_device_figures(const facet_gfx12_device *device)
{
    struct facet_gfx12_device_figures f = device->figures;

    f.pages = device->pages != NULL ? facet_gfx12_pages_brought(device->pages) : 0;
    return f;
}

/* ---- the image ---- */

static enum facet_status bring_segments(struct facet_gfx12_device *d,
                                        const struct facet_gfx12_unit *unit,
                                        struct facet_error *err)
{
    const size_t count = (size_t)unit->segment_count,
                 bytes = (count + 1) * sizeof(struct device_segment);
    struct device_segment *segments = calloc(count + 1, sizeof *segments);
    enum facet_status status;

    if (segments == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        segments[i] = (struct device_segment){
            unit->segments[i].address, unit->segments[i].offset, unit->segments[i].size};
    }
    status = facet_opencl_memory_new(d->cl, bytes, &d->segments, err);
    if (status == FACET_OK) {
        status = facet_opencl_write(d->cl, d->segments, 0, segments, bytes, err);
    }
    free(segments);
    return status;
}

enum facet_status facet_gfx12_device_image(facet_gfx12_device *device,
                                           const struct facet_gfx12_unit *unit,
                                           struct facet_error *err)
{
    enum facet_status status;

    free_image(device);
    if (unit->segment_count > SEGMENT_LIMIT) {
        return facet_fail(err, FACET_ERR_LIMIT, 0, "the image has too many pieces for a device");
    }
    status = facet_gfx12_pages_new(
        device->cl, unit->image, unit->image_size, device->image_room, &device->pages, err);
    if (status == FACET_OK) {
        status = bring_segments(device, unit, err);
    }
    if (status != FACET_OK) {
        free_image(device);
        return status;
    }
    device->unit = unit;
    return FACET_OK;
}

/* ---- records ---- */

static enum facet_status
make_records(struct facet_gfx12_device *d, uint32_t phase, uint32_t count, struct facet_error *err)
{
    enum facet_status status =
        facet_opencl_memory_new(d->cl, count * (uint64_t)BOX_BYTES, &d->boxes, err);

    if (status == FACET_OK) {
        status = facet_opencl_memory_new(d->cl, count * (uint64_t)PAIRS_BYTES, &d->pairs, err);
    }
    if (status == FACET_OK) {
        const struct facet_opencl_argument arguments[] = {{facet_gfx12_pages_memory(d->pages), 0},
                                                          {NULL, phase / 4},
                                                          {NULL, count},
                                                          {d->boxes, 0},
                                                          {d->pairs, 0}};

        status = facet_opencl_run(d->cl, "facet_pack", arguments, 5, count, NULL, err);
    }
    if (status == FACET_OK) { /* waits: what was not made must not be taken for made */
        uint32_t first;

        status = facet_opencl_read(d->cl, d->boxes, 0, &first, sizeof first, err);
    }
    d->phase = phase;
    d->records = count;
    return status;
}

/* Sees to the records that a launch needs, and says in *common which there are. */
static enum facet_status
bring_records(struct facet_gfx12_device *d, struct device_common *common, struct facet_error *err)
{
    const uint32_t phase = facet_gfx12_device_phase(common);
    const uint32_t count = facet_gfx12_device_records(common, phase);
    const uint64_t bytes = (uint64_t)count * PAIRS_BYTES;
    enum facet_status status = FACET_OK;

    if (count == 0 || common->page_shift != 0 || !facet_gfx12_device_fast(common) ||
        bytes + (uint64_t)count * BOX_BYTES + common->image_size + d->asked_bytes > d->image_room ||
        bytes > facet_opencl_about(d->cl)->largest) {
        return FACET_OK;
    }
    if (d->records != count || d->phase != phase) {
        free_records(d);
        status = make_records(d, phase, count, err);
    }
    if (status != FACET_OK) {
        free_records(d);
        return status;
    }
    common->phase = phase;
    common->records = count;
    return FACET_OK;
}

/* ---- rays ---- */

/* Memory of the device for `count` rays. */
static enum facet_status
make_room(struct facet_gfx12_device *d, size_t count, struct facet_error *err)
{
    const struct {
        facet_opencl_memory **memory;
        size_t bytes;
    } all[] = {{&d->rays, sizeof(struct device_ray)},
               {&d->results, sizeof(struct device_result)},
               {&d->states, sizeof(struct device_state)},
               {&d->fate, sizeof(uint32_t)},
               {&d->wanted, sizeof(uint32_t)},
               {&d->list, sizeof(uint32_t)},
               {&d->next, sizeof(uint32_t)},
               {&d->declined, sizeof(uint32_t)}};

    if (count <= d->room) {
        return FACET_OK;
    }
    free_rays(d);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        enum facet_status status =
            facet_opencl_memory_new(d->cl, count * all[i].bytes, all[i].memory, err);

        if (status != FACET_OK) {
            return status;
        }
    }
    d->room = count;
    return FACET_OK;
}

static size_t most_rays(const struct facet_gfx12_device *d, size_t more_bytes)
{
    const uint64_t room = d->ray_room / (RAY_BYTES + more_bytes);

    return room == 0 ? 1 : room < MOST_RAYS ? (size_t)room : MOST_RAYS;
}

/* Rays of d->rays on their way to d->results. */
struct flight {
    size_t count;
    size_t active; /* of those that are not done */
    bool all;      /* these are all of them; else d->list has them */
    bool fast;     /* the fast loop has still to come ... */
    bool sort;     /* ... and takes the rays in another order */
    struct device_counts counts;
};

/* All rays in the fast loop. */
static enum facet_status
launch_fast(struct facet_gfx12_device *d, const struct flight *f, struct facet_error *err)
{
    const struct facet_gfx12_order sort = {.cl = d->cl,
                                           .keys = d->keys,
                                           .key_of_ray = d->next,
                                           .common = d->common,
                                           .boxes = d->boxes,
                                           .rays = d->rays,
                                           .list = d->list,
                                           .count = f->count,
                                           .nanoseconds = &d->figures.nanoseconds};
    const struct facet_opencl_argument arguments[] = {{d->common, 0},
                                                      {facet_gfx12_pages_memory(d->pages), 0},
                                                      {d->boxes, 0},
                                                      {d->pairs, 0},
                                                      {d->rays, 0},
                                                      {d->list, 0},
                                                      {NULL, !f->sort},
                                                      {NULL, (uint32_t)f->count},
                                                      {d->results, 0},
                                                      {d->states, 0},
                                                      {d->fate, 0}};
    enum facet_status status = f->sort ? facet_gfx12_order_rays(&sort, err) : FACET_OK;

    d->figures.sorted += f->sort ? f->count : 0;
    return status == FACET_OK ? facet_opencl_run(d->cl,
                                                 "facet_fast",
                                                 arguments,
                                                 sizeof arguments / sizeof arguments[0],
                                                 f->count,
                                                 &d->figures.nanoseconds,
                                                 err)
                              : status;
}

/* The rays that are not done. */
static enum facet_status
launch_rest(struct facet_gfx12_device *d, const struct flight *f, struct facet_error *err)
{
    facet_opencl_memory *asked =
        d->asked != NULL ? (facet_opencl_memory *)d->asked : d->turned; /* any will do */
    const struct facet_opencl_argument arguments[] = {{d->common, 0},
                                                      {facet_gfx12_pages_memory(d->pages), 0},
                                                      {facet_gfx12_pages_slots(d->pages), 0},
                                                      {d->segments, 0},
                                                      {d->turned, 0},
                                                      {asked, 0},
                                                      {d->rays, 0},
                                                      {d->list, 0},
                                                      {NULL, f->all},
                                                      {NULL, (uint32_t)f->active},
                                                      {d->results, 0},
                                                      {d->states, 0},
                                                      {d->fate, 0},
                                                      {d->wanted, 0}};

    return facet_opencl_run(d->cl,
                            "facet_trace",
                            arguments,
                            sizeof arguments / sizeof arguments[0],
                            f->active,
                            &d->figures.nanoseconds,
                            err);
}

/* What became of the rays of a launch, counted there: the only thing of it that is waited for. */
static enum facet_status
gather(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    const struct facet_opencl_argument arguments[] = {{d->fate, 0},
                                                      {d->list, 0},
                                                      {NULL, f->all},
                                                      {NULL, (uint32_t)f->active},
                                                      {d->next, 0},
                                                      {d->declined, 0},
                                                      {d->counts, 0}};
    /* Those that are declined count from the first launch on. */
    const size_t anew =
        f->all ? sizeof(struct device_counts) : offsetof(struct device_counts, declined);
    enum facet_status status = facet_opencl_clear(d->cl, d->counts, 0, anew, err);

    if (status == FACET_OK) {
        status = facet_opencl_run(d->cl,
                                  "facet_gather",
                                  arguments,
                                  sizeof arguments / sizeof arguments[0],
                                  f->active,
                                  &d->figures.nanoseconds,
                                  err);
    }
    return status == FACET_OK
               ? facet_opencl_read(d->cl, d->counts, 0, &f->counts, sizeof f->counts, err)
               : status;
}

/* The same by the host, where pages are waited for; `of` has room for three numbers for each ray.
 */
static enum facet_status
pack_here(struct facet_gfx12_device *d, struct flight *f, uint32_t *of, struct facet_error *err)
{
    uint32_t *const fate = of, *const list = of + f->count, *const wanted = list + f->count;
    enum facet_status status =
        facet_opencl_read(d->cl, d->fate, 0, fate, f->count * sizeof *fate, err);
    size_t left = 0;

    for (size_t i = 0; i < f->active && f->all; i++) {
        list[i] = (uint32_t)i;
    }
    if (status == FACET_OK && !f->all) {
        status = facet_opencl_read(d->cl, d->list, 0, list, f->active * sizeof *list, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(d->cl, d->wanted, 0, wanted, f->count * sizeof *wanted, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 0; i < f->active; i++) {
        if (fate[list[i]] == DEVICE_GOES_ON || fate[list[i]] == DEVICE_WAITS) {
            list[left++] = list[i];
        }
    }
    f->active = left;
    f->all = false;
    status = facet_gfx12_pages_bring(d->pages, wanted, list, left, err);
    return status == FACET_OK
               ? facet_opencl_write(d->cl, d->list, 0, list, left * sizeof *list, err)
               : status;
}

static enum facet_status
go_on(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    facet_opencl_memory *const list = d->list;
    enum facet_status status;
    uint32_t *of;

    if (f->counts.waiting == 0) {
        d->list = d->next;
        d->next = list;
        f->active = f->counts.going_on;
        f->all = false;
        return FACET_OK;
    }
    of = malloc(3 * f->count * sizeof *of);
    if (of == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", f->count);
    }
    status = pack_here(d, f, of, err);
    free(of);
    return status;
}

/* The rays that lie on the device, as far as it takes them. */
static enum facet_status
fly(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    const struct facet_opencl_argument fresh[] = {{d->fate, 0}, {NULL, (uint32_t)f->count}};
    enum facet_status status = FACET_OK;

    f->active = f->count;
    f->all = true;
    if (!f->fast) {
        status = facet_opencl_run(
            d->cl, "facet_begin", fresh, 2, f->count, &d->figures.nanoseconds, err);
    }
    while (f->active > 0 && status == FACET_OK) {
        status = f->fast ? launch_fast(d, f, err) : launch_rest(d, f, err);
        f->fast = false;
        d->figures.launches++;
        if (status == FACET_OK) {
            status = gather(d, f, err);
        }
        if (status == FACET_OK) {
            status = go_on(d, f, err);
        }
    }
    d->figures.rays += f->count;
    return status;
}

/* Makes it what is asked now. */
static enum facet_status write_common(struct facet_gfx12_device *d,
                                      const struct device_common *common,
                                      struct facet_error *err)
{
    struct asked *a = d->commons;
    enum facet_status status = FACET_OK;

    while (a < d->commons + COMMONS && memcmp(&a->common, common, sizeof *common) != 0) {
        a++;
    }
    if (a == d->commons + COMMONS) {
        a = &d->commons[d->next_common++ % COMMONS];
        memset(&a->common, 0, sizeof a->common); /* as nothing is that is asked */
        if (a->memory == NULL) {
            status = facet_opencl_memory_new(d->cl, sizeof *common, &a->memory, err);
        }
        if (status == FACET_OK) {
            status = facet_opencl_write(d->cl, a->memory, 0, common, sizeof *common, err);
        }
        if (status == FACET_OK) {
            a->common = *common;
        }
    }
    d->common = a->memory;
    return status;
}

static enum facet_status bring_common(struct facet_gfx12_device *d,
                                      const struct facet_gfx12_query *query,
                                      struct flight *f,
                                      struct facet_error *err)
{
    struct device_common common;
    enum facet_status status;

    facet_gfx12_device_common(d->unit, query, &common);
    common.page_shift = facet_gfx12_pages_shift(d->pages);
    common.slice = SLICE;
    if (d->asked != NULL && query->callbacks.any_hit == d->addition->any_hit) {
        common.any_hit = DEVICE_ANY_HIT_ASK;
    }
    status = bring_records(d, &common, err);
    f->fast = common.records != 0;
    return status == FACET_OK ? write_common(d, &common, err) : status;
}

/* Where the rays of a flight that is over are. */
static struct facet_gfx12_landed landed(struct facet_gfx12_device *d, const struct flight *f)
{
    d->figures.declined += f->counts.declined;
    return (struct facet_gfx12_landed){.cl = d->cl,
                                       .results = d->results,
                                       .fate = d->fate,
                                       .states = d->states,
                                       .declined = d->declined,
                                       .count = f->count,
                                       .declined_count = f->counts.declined,
                                       .nanoseconds = &d->figures.nanoseconds};
}

/* ---- rays of the host ---- */

void facet_gfx12_device_order(facet_gfx12_device *device, enum facet_gfx12_device_order order)
{
    device->order = order;
}

static bool
sorts(const struct facet_gfx12_device *d, const struct facet_gfx12_batch_ray *rays, size_t count)
{
    return d->order == FACET_GFX12_DEVICE_SORTS ||
           (d->order == FACET_GFX12_DEVICE_DECIDES && facet_opencl_about(d->cl)->gpu &&
            facet_gfx12_order_helps(rays, count));
}

/* Batches of at most `most` rays, one after another. */
static enum facet_status trace_flights(struct facet_gfx12_device *d,
                                       const struct facet_gfx12_device_batch *b,
                                       size_t most,
                                       struct facet_error *err)
{
    struct flight common = {0};
    enum facet_status status = bring_common(d, b->common, &common, err);

    for (size_t first = 0; first < b->count && status == FACET_OK; first += most) {
        const size_t left = b->count - first;
        struct flight f = common;

        f.count = left < most ? left : most;
        status = make_room(d, f.count, err);
        if (status == FACET_OK) {
            status = facet_opencl_write(
                d->cl, d->rays, 0, b->rays + first, f.count * sizeof b->rays[0], err);
        }
        if (status == FACET_OK) {
            f.sort = f.fast && sorts(d, b->rays + first, f.count);
            status = fly(d, &f, err);
        }
        if (status == FACET_OK) {
            struct facet_gfx12_landed l = landed(d, &f);

            l.first = first;
            status = facet_gfx12_hits_bring(&l, b, err);
        }
    }
    return status;
}

/* Whether the device can do what is asked at all. */
static enum facet_status check_query(const struct facet_gfx12_device *d,
                                     const struct facet_gfx12_query *query,
                                     struct facet_error *err)
{
    if (query->callbacks.visit != NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "a device cannot tell each visit");
    }
    return facet_gfx12_device_aligned(d->unit, query)
               ? FACET_OK
               : facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "a device needs an image and a structure at multiples of 64 bytes");
}

enum facet_status facet_gfx12_device_trace(facet_gfx12_device *device,
                                           const struct facet_gfx12_device_batch *batch,
                                           struct facet_error *err)
{
    enum facet_status status = check_query(device, batch->common, err);

    if (status != FACET_OK) {
        return status;
    }
    if (batch->sum != NULL) {
        memset(batch->sum, 0, sizeof *batch->sum);
    }
    if (batch->lost != NULL) {
        const size_t rays = batch->lost_rays;

        memset(batch->lost, 0, rays != 0 ? (batch->count + rays - 1) / rays : 1);
    }
    pthread_mutex_lock(&device->turn);
    status = trace_flights(device, batch, most_rays(device, 0), err);
    pthread_mutex_unlock(&device->turn);
    return status;
}

/* ---- rays of the device ---- */

facet_opencl *facet_gfx12_device_opencl(facet_gfx12_device *device)
{
    return device->cl;
}

uint64_t facet_gfx12_device_room(const facet_gfx12_device *device)
{
    const uint64_t image = device->unit->image_size;

    return image < device->image_room ? device->image_room - image : 0;
}

enum facet_status facet_gfx12_device_reserve(facet_gfx12_device *device,
                                             size_t more_bytes,
                                             size_t *count,
                                             struct facet_error *err)
{
    const size_t most = most_rays(device, more_bytes) / FACET_OPENCL_GROUP * FACET_OPENCL_GROUP;

    *count = *count < most ? *count : most != 0 ? most : FACET_OPENCL_GROUP;
    return make_room(device, *count, err);
}

facet_opencl_memory *facet_gfx12_device_rays(const facet_gfx12_device *device)
{
    return device->rays;
}

facet_opencl_memory *facet_gfx12_device_results(const facet_gfx12_device *device)
{
    return device->results;
}

/* The ray on the host, and its result there. */
static enum facet_status redo(struct facet_gfx12_device *d,
                              const facet_gfx12_tracer *host,
                              const struct facet_gfx12_query *common,
                              size_t number,
                              struct facet_error *err)
{
    struct facet_gfx12_batch_ray ray;
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats = {0};
    const struct facet_gfx12_device_batch one = {
        .host = host, .common = common, .rays = &ray, .hits = &hit};
    struct device_result result;
    enum facet_status status =
        facet_opencl_read(d->cl, d->rays, number * sizeof ray, &ray, sizeof ray, err);

    if (status == FACET_OK) {
        status = facet_gfx12_hits_trace(&one, 0, &stats, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    facet_gfx12_device_result(&hit, &stats, &result);
    return facet_opencl_write(
        d->cl, d->results, number * sizeof result, &result, sizeof result, err);
}

static enum facet_status redo_all(struct facet_gfx12_device *d,
                                  const facet_gfx12_tracer *host,
                                  const struct facet_gfx12_query *common,
                                  const struct flight *f,
                                  struct facet_error *err)
{
    const struct facet_gfx12_landed l = landed(d, f);
    uint32_t *list;
    enum facet_status status = facet_gfx12_hits_declined(&l, &list, err);

    for (size_t i = 0; i < l.declined_count && status == FACET_OK; i++) {
        status = redo(d, host, common, list[i], err);
    }
    free(list);
    return status;
}

enum facet_status facet_gfx12_device_trace_there(facet_gfx12_device *device,
                                                 const facet_gfx12_tracer *host,
                                                 const struct facet_gfx12_query *common,
                                                 size_t count,
                                                 struct facet_error *err)
{
    struct flight f = {.count = count};
    enum facet_status status = check_query(device, common, err);

    if (status != FACET_OK || count == 0) {
        return status;
    }
    pthread_mutex_lock(&device->turn);
    status = bring_common(device, common, &f, err);
    if (status == FACET_OK) {
        status = fly(device, &f, err);
    }
    if (status == FACET_OK && f.counts.declined != 0) {
        status = redo_all(device, host, common, &f, err);
    }
    pthread_mutex_unlock(&device->turn);
    return status;
}
