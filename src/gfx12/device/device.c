/* See device.h. */
#include "gfx12/device/device.h"

#include "gfx12/device/check.h"
#include "gfx12/device/pages.h"
#include "gfx12/device/prepare.h"
#include "gfx12/device/text.h" /* made from the .cl files */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECKS = 4096,           /* cases of the self-test */
    MANTISSAS = 1 << 23,     /* reciprocals of the self-test ... */
    EACH = 1 << 13,          /* ... for each work item */
    SLICE = 1 << 14,         /* nodes that a ray visits in one launch: some milliseconds */
    MOST_RAYS = 1 << 22,     /* in one launch */
    SEGMENT_LIMIT = 1 << 24, /* pieces of an image */
};

/* On the device for each ray: ray, place in the list, result, state, fate, wanted page. */
#define RAY_BYTES                                                                                  \
    (sizeof(struct device_ray) + sizeof(struct device_result) + sizeof(struct device_state) +      \
     3 * sizeof(uint32_t))

/* Of a node's records. */
#define BOX_BYTES 144
#define PAIRS_BYTES (8 * 96)

struct facet_gfx12_device {
    pthread_mutex_t turn; /* who holds it may use the rest */
    facet_opencl *cl;
    uint64_t image_room, ray_room; /* bytes that each may take */
    const struct facet_gfx12_unit *unit;
    struct facet_gfx12_pages *pages;
    facet_opencl_memory *segments, *turned, *common;
    /* Records of the image's nodes for the fast loop (pack.cl); 0 of them: none. */
    facet_opencl_memory *boxes, *pairs;
    uint32_t phase, records;
    /* for `room` rays */
    size_t room;
    facet_opencl_memory *rays, *list, *results, *states, *fate, *wanted;
    struct facet_gfx12_device_figures figures;
};

/* ---- opening ---- */

static enum facet_status check_reciprocals(facet_opencl *cl, struct facet_error *err)
{
    enum { ITEMS = MANTISSAS / EACH };
    static const char kernel[] = "facet_reciprocals";
    uint32_t wrong[ITEMS], sum = 0;
    facet_opencl_memory *out = NULL;
    enum facet_status status = facet_opencl_memory_new(cl, sizeof wrong, &out, err);

    if (status == FACET_OK) {
        const struct facet_opencl_argument arguments[] = {{out, 0}, {NULL, EACH}};

        status = facet_opencl_run(cl, kernel, arguments, 2, ITEMS, NULL, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(cl, out, wrong, sizeof wrong, err);
    }
    facet_opencl_memory_free(cl, out);
    for (unsigned i = 0; status == FACET_OK && i < ITEMS; i++) {
        sum += wrong[i];
    }
    return status == FACET_OK && sum != 0
               ? facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "%s cannot give the bits of GFX12: %u of %d reciprocals are wrong",
                            facet_opencl_about(cl)->name,
                            sum,
                            MANTISSAS)
               : status;
}

static enum facet_status check_numbers(facet_opencl *cl, struct facet_error *err)
{
    typedef uint32_t cases[CHECKS][FACET_GFX12_CHECK_IN];
    cases *in = calloc(2, sizeof *in), *got = in + 1;
    facet_opencl_memory *from = NULL, *to = NULL;
    const char *wrong = NULL;
    enum facet_status status;

    if (in == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (unsigned i = 0; i < CHECKS; i++) {
        facet_gfx12_device_check_case(i, (*in)[i]);
    }
    status = facet_opencl_memory_new(cl, sizeof *in, &from, err);
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(cl, sizeof *got, &to, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_write(cl, from, 0, in, sizeof *in, err);
    }
    if (status == FACET_OK) {
        const struct facet_opencl_argument arguments[] = {{from, 0}, {to, 0}, {NULL, CHECKS}};

        status = facet_opencl_run(cl, "facet_check", arguments, 3, CHECKS, NULL, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(cl, to, got, sizeof *got, err);
    }
    for (unsigned i = 0; status == FACET_OK && wrong == NULL && i < CHECKS; i++) {
        wrong = facet_gfx12_device_check_answer((*in)[i], (*got)[i]);
    }
    facet_opencl_memory_free(cl, from);
    facet_opencl_memory_free(cl, to);
    free(in);
    return wrong != NULL ? facet_fail(err,
                                      FACET_ERR_USAGE,
                                      0,
                                      "%s cannot give the bits of GFX12: %s has other bits",
                                      facet_opencl_about(cl)->name,
                                      wrong)
                         : status;
}

static enum facet_status bring_turned(struct facet_gfx12_device *d, struct facet_error *err)
{
    uint32_t rows[12 * FACET_GFX12_OBB_COUNT];
    enum facet_status status = facet_opencl_memory_new(d->cl, sizeof rows, &d->turned, err);

    facet_gfx12_device_turned(rows);
    return status == FACET_OK ? facet_opencl_write(d->cl, d->turned, 0, rows, sizeof rows, err)
                              : status;
}

enum facet_status facet_gfx12_device_open(const struct facet_gfx12_device_options *options,
                                          facet_gfx12_device **out,
                                          struct facet_error *err)
{
    static const char *const texts[] = {device_shared,
                                        device_opencl,
                                        device_exact,
                                        device_node,
                                        device_walk,
                                        device_pack,
                                        device_fast,
                                        device_check};
    struct facet_gfx12_device *d = calloc(1, sizeof *d);
    const struct facet_opencl_device *about;
    enum facet_status status;
    uint64_t half;

    *out = NULL;
    if (d == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    pthread_mutex_init(&d->turn, NULL);
    status = facet_opencl_open(options->number, texts, sizeof texts / sizeof texts[0], &d->cl, err);
    if (status == FACET_OK) {
        status = check_reciprocals(d->cl, err);
    }
    if (status == FACET_OK) {
        status = check_numbers(d->cl, err);
    }
    if (status == FACET_OK) {
        status = bring_turned(d, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_memory_new(d->cl, sizeof(struct device_common), &d->common, err);
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

static void free_rays(struct facet_gfx12_device *d)
{
    facet_opencl_memory **const all[] = {
        &d->rays, &d->list, &d->results, &d->states, &d->fate, &d->wanted};

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
        facet_opencl_memory_free(device->cl, device->common);
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

    if (common->page_shift != 0 || !facet_gfx12_device_fast(common) ||
        bytes + (uint64_t)count * BOX_BYTES + common->image_size > d->image_room ||
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
               {&d->list, sizeof(uint32_t)},
               {&d->results, sizeof(struct device_result)},
               {&d->states, sizeof(struct device_state)},
               {&d->fate, sizeof(uint32_t)},
               {&d->wanted, sizeof(uint32_t)}};

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

/* What the host knows of the rays of a launch. */
struct flight {
    bool fast; /* with the fast loop first */
    size_t count;
    uint32_t *list; /* of those that are not done */
    size_t active;
    uint32_t *fate, *wanted;
    struct device_result *results;
    bool exact_limit; /* max_steps is that of the query: a ray that reaches it fails */
};

static void flight_free(struct flight *f)
{
    free(f->list);
    free(f->fate);
    free(f->wanted);
    free(f->results);
}

/* All rays in the fast loop. */
static enum facet_status
launch_fast(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    const struct facet_opencl_argument arguments[] = {{d->common, 0},
                                                      {facet_gfx12_pages_memory(d->pages), 0},
                                                      {d->boxes, 0},
                                                      {d->pairs, 0},
                                                      {d->rays, 0},
                                                      {NULL, (uint32_t)f->count},
                                                      {d->results, 0},
                                                      {d->states, 0},
                                                      {d->fate, 0}};

    return facet_opencl_run(d->cl,
                            "facet_fast",
                            arguments,
                            sizeof arguments / sizeof arguments[0],
                            f->count,
                            &d->figures.nanoseconds,
                            err);
}

/* The rays that are not done. */
static enum facet_status
launch_all(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    const struct facet_opencl_argument arguments[] = {{d->common, 0},
                                                      {facet_gfx12_pages_memory(d->pages), 0},
                                                      {facet_gfx12_pages_slots(d->pages), 0},
                                                      {d->segments, 0},
                                                      {d->turned, 0},
                                                      {d->rays, 0},
                                                      {d->list, 0},
                                                      {NULL, (uint32_t)f->active},
                                                      {d->results, 0},
                                                      {d->states, 0},
                                                      {d->fate, 0},
                                                      {d->wanted, 0}};
    enum facet_status status =
        facet_opencl_write(d->cl, d->list, 0, f->list, f->active * sizeof f->list[0], err);

    if (status == FACET_OK) {
        status = facet_opencl_run(d->cl,
                                  "facet_trace",
                                  arguments,
                                  sizeof arguments / sizeof arguments[0],
                                  f->active,
                                  &d->figures.nanoseconds,
                                  err);
    }
    return status;
}

static enum facet_status
launch(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    const enum facet_status status = f->fast ? launch_fast(d, f, err) : launch_all(d, f, err);

    f->fast = false;
    d->figures.launches++;
    return status == FACET_OK
               ? facet_opencl_read(d->cl, d->fate, f->fate, f->count * sizeof f->fate[0], err)
               : status;
}

/* Packs the rays that are not done. Those after one that fails need no end: the batch ends there.
 */
static bool pack(struct flight *f)
{
    size_t left = 0;
    bool waiting = false;

    for (size_t i = 0; i < f->active; i++) {
        const uint32_t ray = f->list[i], fate = f->fate[ray];

        if (fate == DEVICE_ENDLESS && f->exact_limit) {
            break;
        }
        if (fate == DEVICE_GOES_ON || fate == DEVICE_WAITS) {
            f->list[left++] = ray;
            waiting = waiting || fate == DEVICE_WAITS;
        }
    }
    f->active = left;
    return waiting;
}

/* All rays of a flight as far as the device takes them. */
static enum facet_status
fly(struct facet_gfx12_device *d, struct flight *f, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    while (f->active > 0 && status == FACET_OK) {
        status = launch(d, f, err);
        if (status == FACET_OK && pack(f)) {
            status =
                facet_opencl_read(d->cl, d->wanted, f->wanted, f->count * sizeof f->wanted[0], err);
            if (status == FACET_OK) {
                status = facet_gfx12_pages_bring(d->pages, f->wanted, f->list, f->active, err);
            }
        }
    }
    return status == FACET_OK
               ? facet_opencl_read(
                     d->cl, d->results, f->results, f->count * sizeof f->results[0], err)
               : status;
}

static enum facet_status flight_new(struct facet_gfx12_device *d,
                                    const struct facet_gfx12_batch_ray *rays,
                                    size_t count,
                                    struct flight *f,
                                    struct facet_error *err)
{
    enum facet_status status = make_room(d, count, err);

    *f = (struct flight){.count = count,
                         .active = count,
                         .list = calloc(count, sizeof *f->list),
                         .fate = calloc(count, sizeof *f->fate), /* DEVICE_FRESH */
                         .wanted = calloc(count, sizeof *f->wanted),
                         .results = calloc(count, sizeof *f->results)};
    if (status == FACET_OK &&
        (f->list == NULL || f->fate == NULL || f->wanted == NULL || f->results == NULL)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", count);
    }
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        f->list[i] = (uint32_t)i;
    }
    if (status == FACET_OK) {
        status = facet_opencl_write(d->cl, d->rays, 0, rays, count * sizeof *rays, err);
    }
    return status == FACET_OK
               ? facet_opencl_write(d->cl, d->fate, 0, f->fate, count * sizeof f->fate[0], err)
               : status;
}

/* Ray `i` of the batch on the host. */
static enum facet_status trace_declined(const struct facet_gfx12_device_batch *b,
                                        size_t i,
                                        struct facet_gfx12_stats *stats,
                                        struct facet_error *err)
{
    struct facet_gfx12_query query = *b->common;
    enum facet_status status;

    memcpy(query.origin, b->rays[i].origin, sizeof query.origin);
    memcpy(query.direction, b->rays[i].direction, sizeof query.direction);
    query.t_min = b->rays[i].t_min;
    query.t_max = b->rays[i].t_max;
    if (b->before != NULL) {
        b->before(query.callbacks.context, i);
    }
    status = facet_gfx12_tracer_trace(b->host, &query, &b->hits[i], stats, err);
    if (status != FACET_OK && err != NULL) {
        err->where = i;
    }
    return status;
}

/* The results of the rays from `first` on, in order. */
static enum facet_status hand_out(struct facet_gfx12_device *d,
                                  const struct facet_gfx12_device_batch *b,
                                  size_t first,
                                  const struct flight *f,
                                  struct facet_error *err)
{
    for (size_t i = 0; i < f->count; i++) {
        struct facet_gfx12_stats stats = {0};

        if (f->fate[i] == DEVICE_DONE) {
            facet_gfx12_device_hit(&f->results[i], &b->hits[first + i]);
            facet_gfx12_device_count(&f->results[i], &stats);
            if (b->lost != NULL && (f->results[i].flags & DEVICE_LOST) != 0) {
                *b->lost = true;
            }
        } else {
            enum facet_status status = trace_declined(b, first + i, &stats, err);

            if (status != FACET_OK) {
                return status;
            }
            d->figures.declined++;
            if (b->lost != NULL) { /* nobody has looked */
                *b->lost = true;
            }
        }
        if (b->each != NULL) {
            b->each[first + i] = stats;
        }
        if (b->sum != NULL) {
            facet_gfx12_stats_add(b->sum, &stats);
        }
    }
    return FACET_OK;
}

static enum facet_status bring_common(struct facet_gfx12_device *d,
                                      const struct facet_gfx12_query *query,
                                      bool *exact_limit,
                                      bool *fast,
                                      struct facet_error *err)
{
    struct device_common common;
    enum facet_status status;

    facet_gfx12_device_common(d->unit, query, &common);
    common.page_shift = facet_gfx12_pages_shift(d->pages);
    common.slice = SLICE;
    *exact_limit = query->max_steps == 0 || query->max_steps == common.max_steps;
    status = bring_records(d, &common, err);
    *fast = common.records != 0;
    return status == FACET_OK ? facet_opencl_write(d->cl, d->common, 0, &common, sizeof common, err)
                              : status;
}

/* Batches of at most `most` rays, one after another. */
static enum facet_status trace_flights(struct facet_gfx12_device *d,
                                       const struct facet_gfx12_device_batch *b,
                                       size_t most,
                                       struct facet_error *err)
{
    bool exact_limit = false, fast = false;
    enum facet_status status = bring_common(d, b->common, &exact_limit, &fast, err);

    for (size_t first = 0; first < b->count && status == FACET_OK; first += most) {
        const size_t left = b->count - first, count = left < most ? left : most;
        struct flight f = {0};

        status = flight_new(d, b->rays + first, count, &f, err);
        f.exact_limit = exact_limit;
        f.fast = fast;
        if (status == FACET_OK) {
            status = fly(d, &f, err);
        }
        if (status == FACET_OK) {
            status = hand_out(d, b, first, &f, err);
        }
        d->figures.rays += count;
        flight_free(&f);
    }
    return status;
}

enum facet_status facet_gfx12_device_trace(facet_gfx12_device *device,
                                           const struct facet_gfx12_device_batch *batch,
                                           struct facet_error *err)
{
    const uint64_t room = device->ray_room / RAY_BYTES;
    const size_t most = room == 0 ? 1 : room < MOST_RAYS ? (size_t)room : MOST_RAYS;
    enum facet_status status;

    if (batch->common->callbacks.visit != NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "a device cannot tell each visit");
    }
    if (!facet_gfx12_device_aligned(device->unit, batch->common)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "a device needs an image and a structure at multiples of 64 bytes");
    }
    if (batch->sum != NULL) {
        memset(batch->sum, 0, sizeof *batch->sum);
    }
    if (batch->lost != NULL) {
        *batch->lost = false;
    }
    pthread_mutex_lock(&device->turn);
    status = trace_flights(device, batch, most, err);
    pthread_mutex_unlock(&device->turn);
    return status;
}
