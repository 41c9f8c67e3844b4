/* See tracing.h. */
#include "report/tracing.h"

#include "command/output.h"

#include "base/bits.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/large.h"
#include "report/hits.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the rays of a unit leave besides their hits. */
struct report_tracing_unit {
    struct facet_gfx12_stats stats;
    struct facet_gfx12_lost lost;
    struct report_places places;
    struct facet_strbuf list; /* of candidates */
    uint64_t found;           /* hits; no part has them */
};

static struct report_tracing_unit *unit_of(const struct report_tracing *t, uint64_t begin)
{
    return &t->units[begin / REPORT_TRACING_GRAIN];
}

/* ---- computing ---- */

/* Units that are computed together: rays and hits of unit i are those from start[i] on. */
struct batch {
    struct report_tracing *t;
    facet_pool *pool;
    const uint64_t *begins;
    size_t count;
    size_t start[REPORT_TRACING_TOGETHER + 1];
    struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
    bool lost[REPORT_TRACING_TOGETHER]; /* nodes may have been looked for that are not there */
    enum facet_status (*step)(struct batch *b, size_t i, struct facet_error *err);
    enum facet_status status[REPORT_TRACING_TOGETHER];
    struct facet_error errors[REPORT_TRACING_TOGETHER];
};

enum { BOTH = sizeof(struct facet_gfx12_batch_ray) + sizeof(struct facet_gfx12_hit) };
_Static_assert(REPORT_HIT <= sizeof(struct facet_gfx12_hit), "records take the place of hits");

static size_t size_of(const struct batch *b, size_t i)
{
    return b->start[i + 1] - b->start[i];
}

static enum facet_status read_rays(struct batch *b, size_t i, struct facet_error *err)
{
    return session_rays_get(b->t->rays, b->begins[i], size_of(b, i), b->rays + b->start[i], err);
}

/* The rays once more, for what they did not find. */
static enum facet_status count_lost(const struct batch *b, size_t i, struct facet_error *err)
{
    const struct report_tracing *t = b->t;
    struct report_tracing_unit *u = unit_of(t, b->begins[i]);
    struct facet_gfx12_query query = t->query;
    enum facet_status status;

    if (t->candidates) {
        query.callbacks.procedural = NULL; /* they are noted already */
    }
    status = facet_gfx12_lost_rays(
        &t->unit, &query, b->rays + b->start[i], size_of(b, i), b->pool, &u->lost, err);
    for (unsigned k = 0; k < FACET_GFX12_LOSSES; k++) {
        u->lost.loss[k].ray += b->begins[i];
    }
    report_lost_places(t->view, &u->lost, &u->places);
    return status;
}

/* The candidates of a list as lines; frees them. */
static enum facet_status add_candidates(struct report_tracing_unit *u,
                                        struct facet_gfx12_candidates *candidates,
                                        uint64_t begin,
                                        enum facet_status status,
                                        struct facet_error *err)
{
    if (status != FACET_ERR_IO) {
        report_candidates(candidates, begin, &u->list);
    }
    free(candidates->items);
    if (status == FACET_OK && (u->list.failed || candidates->failed)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the list of candidates");
    }
    return status;
}

/* Says which ray of the batch it was that did not end. */
static enum facet_status
name_ray(const struct batch *b, size_t ray, enum facet_status status, struct facet_error *err)
{
    char name[32];
    size_t i = 0;

    if (status == FACET_ERR_LIMIT) {
        while (i < b->count - 1 && ray >= b->start[i + 1]) {
            i++;
        }
        (void)snprintf(name, sizeof name, "ray %" PRIu64, b->begins[i] + (ray - b->start[i]));
        facet_fail_in(err, name);
    }
    return status;
}

static enum facet_status trace_here(struct batch *b, size_t i, struct facet_error *err)
{
    const struct report_tracing *t = b->t;
    const struct facet_gfx12_batch_ray *rays = b->rays + b->start[i];
    struct facet_gfx12_hit *hits = b->hits + b->start[i];
    struct report_tracing_unit *u = unit_of(t, b->begins[i]);
    struct facet_gfx12_candidates candidates = {0};
    enum facet_status status;

    u->stats = (struct facet_gfx12_stats){0};
    if (!t->candidates) {
        status = facet_gfx12_tracer_batch(
            t->tracer, &t->query, rays, size_of(b, i), hits, b->pool, &u->stats, err);
        return name_ray(b, b->start[i] + (size_t)err->where, status, err);
    }
    status = facet_gfx12_list_candidates(
        t->tracer, &t->query, rays, size_of(b, i), hits, &u->stats, &candidates, err);
    status = name_ray(b, b->start[i] + (size_t)candidates.ray, status, err);
    return add_candidates(u, &candidates, b->begins[i], status, err);
}

static void note_ray(void *context, size_t ray)
{
    struct facet_gfx12_candidates *candidates = context;

    candidates->ray = ray;
}

/* All of them on the device; rays that reach a candidate are traced here, where they are listed:
 * such units come alone. What each unit did matters to its part; else the first one has it all. */
static enum facet_status trace_there(struct batch *b, struct facet_error *err)
{
    const struct report_tracing *t = b->t;
    const size_t count = b->start[b->count];
    struct report_tracing_unit *first = unit_of(t, b->begins[0]);
    struct facet_gfx12_query query = t->query;
    struct facet_gfx12_candidates candidates = {0};
    struct facet_gfx12_stats *each = t->shared ? facet_large_alloc(count * sizeof *each) : NULL;
    enum facet_status status;

    if (t->shared && each == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", count);
    }
    query.callbacks.context = &candidates;
    status = facet_gfx12_device_trace(
        t->device,
        &(struct facet_gfx12_device_batch){.host = t->tracer,
                                           .common = &query,
                                           .rays = b->rays,
                                           .count = count,
                                           .hits = b->hits,
                                           .each = each,
                                           .sum = t->shared ? NULL : &first->stats,
                                           .lost = b->lost,
                                           .lost_rays = REPORT_TRACING_GRAIN,
                                           .before = t->candidates ? note_ray : NULL},
        err);
    status = name_ray(b, (size_t)err->where, status, err);
    for (size_t i = 0; status == FACET_OK && t->shared && i < b->count; i++) {
        struct report_tracing_unit *u = unit_of(t, b->begins[i]);

        u->stats = (struct facet_gfx12_stats){0};
        for (size_t k = b->start[i]; k < b->start[i + 1]; k++) {
            facet_gfx12_stats_add(&u->stats, &each[k]);
        }
    }
    free(each);
    return add_candidates(first, &candidates, b->begins[0], status, err);
}

/* Hits become records, in their own place where they go to the file. */
static enum facet_status put_hits(struct batch *b, size_t i, struct facet_error *err)
{
    const struct report_tracing *t = b->t;
    const uint64_t at = b->begins[i] * REPORT_HIT;
    const struct facet_gfx12_hit *hits = b->hits + b->start[i];
    uint8_t *records = t->records != NULL ? t->records + at : (uint8_t *)(b->hits + b->start[i]);
    struct report_tracing_unit *u = unit_of(t, b->begins[i]);
    enum facet_status status = b->lost[i] ? count_lost(b, i, err) : FACET_OK;

    u->found = 0;
    for (size_t k = 0; k < size_of(b, i); k++) {
        const struct facet_gfx12_hit hit = hits[k];

        report_hit(&hit, records + k * REPORT_HIT);
        u->found += hit.found;
    }
    return status == FACET_OK && t->records == NULL
               ? facet_new_file_put(&t->made, at, records, size_of(b, i) * REPORT_HIT, err)
               : status;
}

static void step_on(void *context, size_t begin, size_t end)
{
    struct batch *b = context;

    for (size_t i = begin; i < end; i++) {
        b->status[i] = b->step(b, i, &b->errors[i]);
    }
}

/* A step of all units; of those that fail, the first gives the message. */
static enum facet_status
for_all(struct batch *b,
        enum facet_status (*step)(struct batch *b, size_t i, struct facet_error *err),
        struct facet_error *err)
{
    size_t i = 0;

    b->step = step;
    facet_pool_for(b->pool, b->count, 1, step_on, b);
    while (i < b->count - 1 && b->status[i] == FACET_OK) {
        i++;
    }
    if (b->status[i] != FACET_OK) {
        *err = b->errors[i];
    }
    return b->status[i];
}

static enum facet_status trace_batch(struct batch *b, struct facet_error *err)
{
    struct report_tracing *t = b->t;
    bool there = t->device != NULL && !t->failed;
    enum facet_status status = for_all(b, read_rays, err);

    if (status == FACET_OK && there) {
        status = trace_there(b, err);
        if (status == FACET_ERR_IO && t->fallback) {
            t->failed = true;
            t->failure = *err;
            there = false;
            status = FACET_OK;
        }
    }
    if (status == FACET_OK && !there) {
        status = for_all(b, trace_here, err);
        memset(b->lost, !facet_gfx12_tracer_sound(t->tracer), sizeof b->lost);
    }
    return status == FACET_OK ? for_all(b, put_hits, err) : status;
}

static enum facet_status trace_units(
    void *context, const uint64_t *begins, size_t count, facet_pool *pool, struct facet_error *err)
{
    struct report_tracing *t = context;
    struct batch b = {.t = t, .pool = pool, .begins = begins, .count = count};
    enum facet_status status;
    void *room;

    for (size_t i = 0; i < count; i++) {
        const uint64_t left = t->count - begins[i];

        b.start[i + 1] =
            b.start[i] + (left < REPORT_TRACING_GRAIN ? (size_t)left : REPORT_TRACING_GRAIN);
    }
    room = t->room != NULL ? t->room : malloc(b.start[count] * BOTH);
    if (room == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", b.start[count]);
    }
    b.hits = room;
    b.rays = (void *)(b.hits + b.start[count]);
    status = trace_batch(&b, err);
    if (t->room == NULL) {
        free(room);
    }
    return status;
}

static enum facet_status
trace(void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err)
{
    (void)end;
    return trace_units(context, &begin, 1, pool, err);
}

/* ---- bytes ---- */

enum {
    STATS = 8,
    LOSS = 5,
    NUMBERS = STATS + LOSS * FACET_GFX12_LOSSES,
    FRONT = 8 * NUMBERS + FACET_GFX12_LOSSES * FACET_GFX12_PLACE
};

static void pack(void *context, uint64_t begin, uint64_t end, struct facet_strbuf *out)
{
    const struct report_tracing *t = context;
    const struct report_tracing_unit *u = unit_of(t, begin);
    const struct facet_gfx12_stats *s = &u->stats;
    uint64_t number[NUMBERS] = {s->steps,
                                s->boxes,
                                s->primitives,
                                s->instances,
                                s->walk_backs,
                                s->pushes,
                                s->max_depth,
                                s->lost_walks};

    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        uint64_t *at = number + STATS + LOSS * i;

        at[0] = u->lost.loss[i].count;
        at[1] = u->lost.loss[i].ray;
        at[2] = u->lost.loss[i].address;
        at[3] = u->lost.loss[i].base;
        at[4] = u->lost.loss[i].node;
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        uint8_t bytes[8];

        facet_store_le64(bytes, number[i]);
        facet_strbuf_add(out, (const char *)bytes, sizeof bytes);
    }
    facet_strbuf_add(out, u->places.text[0], sizeof u->places);
    facet_strbuf_add(
        out, (const char *)t->records + begin * REPORT_HIT, (size_t)(end - begin) * REPORT_HIT);
    facet_strbuf_add(out, facet_strbuf_text(&u->list), u->list.length);
}

static enum facet_status unpack(void *context,
                                uint64_t begin,
                                uint64_t end,
                                const uint8_t *bytes,
                                size_t size,
                                struct facet_error *err)
{
    const struct report_tracing *t = context;
    struct report_tracing_unit *u = unit_of(t, begin);
    const size_t hits = (size_t)(end - begin) * REPORT_HIT;
    uint64_t number[NUMBERS];

    if (size < FRONT + hits || (!t->candidates && size != FRONT + hits)) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "the rays from %" PRIu64 " have another size", begin);
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        number[i] = facet_load_le64(bytes + 8 * i);
    }
    u->stats = (struct facet_gfx12_stats){.steps = number[0],
                                          .boxes = number[1],
                                          .primitives = number[2],
                                          .instances = number[3],
                                          .walk_backs = number[4],
                                          .pushes = number[5],
                                          .max_depth = (uint32_t)number[6],
                                          .lost_walks = (uint32_t)number[7]};
    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        const uint64_t *at = number + STATS + LOSS * i;

        u->lost.loss[i].count = at[0];
        u->lost.loss[i].ray = at[1];
        u->lost.loss[i].address = at[2];
        u->lost.loss[i].base = at[3];
        u->lost.loss[i].node = (uint32_t)at[4];
        memcpy(
            u->places.text[i], bytes + 8 * NUMBERS + i * FACET_GFX12_PLACE, FACET_GFX12_PLACE - 1);
    }
    memcpy(t->records + begin * REPORT_HIT, bytes + FRONT, hits);
    u->found = 0;
    for (size_t at = FRONT; at < FRONT + hits; at += REPORT_HIT) {
        u->found += report_hit_found(bytes + at);
    }
    facet_strbuf_clear(&u->list);
    facet_strbuf_add(&u->list, (const char *)bytes + FRONT + hits, size - FRONT - hits);
    return u->list.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the candidates")
                          : FACET_OK;
}

/* ---- all of them ---- */

/* How many units a device has at a time: 2^22 rays are what a large GPU wants, and on others more
 * memory only costs time. */
static uint32_t together(const struct report_tracing *t)
{
    return t->device == NULL || t->candidates         ? 1
           : facet_gfx12_device_about(t->device)->gpu ? REPORT_TRACING_TOGETHER
                                                      : 4;
}

static enum facet_status make_room(struct report_tracing *t, struct facet_error *err)
{
    const uint64_t most = together(t) * (uint64_t)REPORT_TRACING_GRAIN;

    t->units = calloc((size_t)(t->count / REPORT_TRACING_GRAIN) + 1, sizeof *t->units);
    if (t->made.name == NULL) {
        t->records = malloc((size_t)(t->count + 1) * REPORT_HIT);
    }
    if (t->device != NULL) { /* once: its pages cost more time than a GPU takes */
        t->room = facet_large_alloc((size_t)(t->count < most ? t->count : most) * BOTH);
    }
    return t->units == NULL || (t->made.name == NULL && t->records == NULL) ||
                   (t->device != NULL && t->room == NULL)
               ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %" PRIu64 " rays", t->count)
               : FACET_OK;
}

static enum facet_status run_all(struct report_tracing *t,
                                 struct facet_share *share,
                                 const struct facet_share_set *set,
                                 facet_pool *pool,
                                 struct facet_progress *progress,
                                 struct facet_error *err)
{
    const struct facet_units units = {.items = t->count,
                                      .grain = REPORT_TRACING_GRAIN,
                                      .context = t,
                                      .compute = trace,
                                      .compute_many = t->device != NULL ? trace_units : NULL,
                                      .together = together(t),
                                      .pack = pack,
                                      .unpack = unpack};
    enum facet_status status = make_room(t, err);

    if (status != FACET_OK) {
        return status;
    }
    return set != NULL ? facet_share_set_unpack(set, &units, err)
                       : facet_share_run(share, &units, pool, progress, err);
}

enum facet_status report_tracing_run(struct report_tracing *t,
                                     struct facet_share *share,
                                     facet_pool *pool,
                                     struct facet_progress *progress,
                                     struct facet_error *err)
{
    t->shared = share != NULL;
    if (!t->shared && !cli_is_stream(t->output) && !facet_file_in_place(t->output)) {
        enum facet_status status = facet_new_file_open(&t->made, t->output, true, err);

        if (status != FACET_OK) {
            return status;
        }
    }
    return run_all(t, share, NULL, pool, progress, err);
}

static uint64_t unit_count(const struct report_tracing *t)
{
    return t->units == NULL ? 0 : (t->count + REPORT_TRACING_GRAIN - 1) / REPORT_TRACING_GRAIN;
}

void report_tracing_free(struct report_tracing *t)
{
    for (uint64_t i = 0; i < unit_count(t); i++) {
        facet_strbuf_free(&t->units[i].list);
    }
    if (t->made.name != NULL) {
        facet_new_file_discard(&t->made);
    }
    free(t->units);
    free(t->records);
    free(t->room);
    *t = (struct report_tracing){0};
}

/* ---- what is written and told ---- */

static void sum_up(const struct report_tracing *t, struct report_tracing_unit *sum)
{
    *sum = (struct report_tracing_unit){0};
    for (uint64_t i = 0; i < unit_count(t); i++) {
        const struct report_tracing_unit *u = &t->units[i];

        facet_gfx12_stats_add(&sum->stats, &u->stats);
        for (unsigned k = 0; k < FACET_GFX12_LOSSES; k++) {
            const uint64_t before = sum->lost.loss[k].count;

            if (before == 0) { /* the first one is the example */
                sum->lost.loss[k] = u->lost.loss[k];
                memcpy(sum->places.text[k], u->places.text[k], FACET_GFX12_PLACE);
            }
            sum->lost.loss[k].count = before + u->lost.loss[k].count;
        }
        facet_strbuf_add(&sum->list, facet_strbuf_text(&u->list), u->list.length);
        sum->found += u->found;
    }
}

int report_tracing_finish(const struct cli_args *args, struct report_tracing *t)
{
    const char *candidates = cli_value(args, "candidates");
    struct report_tracing_unit sum;
    struct facet_error err = {0};
    enum facet_status status;
    int code;

    sum_up(t, &sum);
    if (sum.list.failed) {
        status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the list of candidates");
    } else {
        struct facet_new_file *made = t->made.name != NULL ? &t->made : NULL;
        const struct facet_file_part parts[] = {
            {cli_value(args, "output"), t->records, (size_t)t->count * REPORT_HIT},
            {candidates, facet_strbuf_text(&sum.list), sum.list.length}};
        const size_t first = made != NULL, count = candidates != NULL ? 2 : 1;

        status = facet_file_write_with(made, parts + first, count - first, &err);
    }
    facet_strbuf_free(&sum.list);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    code = report_trace(
        args, t->stack, t->figures, (size_t)t->count, sum.found, &sum.stats, &sum.lost);
    if (code == CLI_OK && report_lost_at(args, &sum.places, &sum.lost)) {
        code = CLI_NO;
    } else if (code == CLI_OK && t->trouble != NULL) {
        (void)cli_bad(args, "%s", t->trouble);
        code = CLI_NO;
    }
    if (code != CLI_BAD && sum.stats.lost_walks != 0) {
        (void)cli_bad(args,
                      "%" PRIu32
                      " walk%s back from a node that names no box as its parent: hits may "
                      "be missing",
                      sum.stats.lost_walks,
                      cli_s(sum.stats.lost_walks));
        code = CLI_NO;
    }
    return code;
}

bool report_tracing_files(const struct cli_args *args, bool figures, bool candidates)
{
    const char *output = cli_value(args, "output"), *list = cli_value(args, "candidates");

    if ((list != NULL) != candidates) {
        (void)cli_bad(args, "--procedural candidates and --candidates FILE belong together");
        return false;
    }
    if (strcmp(output, "-") == 0 && (args->json || figures)) {
        (void)cli_bad(args, "figures and -o - both write to standard output");
        return false;
    }
    if (list != NULL && strcmp(list, "-") == 0 &&
        (strcmp(output, "-") == 0 || args->json || figures)) {
        (void)cli_bad(args, "--candidates - and other output both write to standard output");
        return false;
    }
    return cli_can_write(args, output) && cli_can_write(args, list) &&
           !cli_would_replace(args, list, output, "the file of hits");
}

/* ---- parts ---- */

static json_t *frame_of(const struct report_tracing *t)
{
    return json_pack("{s:I, s:s?, s:b, s:b, s:s?}",
                     "rays",
                     (json_int_t)t->count,
                     "stack",
                     t->stack,
                     "stats",
                     (int)t->figures,
                     "candidates",
                     (int)t->candidates,
                     "trouble",
                     t->trouble);
}

/* Bytes of the image and where they lie. */
static uint64_t hash_image(const struct facet_gfx12_view *view)
{
    uint64_t hash = facet_hash_bytes(view->bytes, (size_t)view->size, view->base);

    for (uint32_t i = 0; i < view->segment_count; i++) {
        hash = facet_hash_step(hash, view->segments[i].address);
        hash = facet_hash_step(hash, view->segments[i].offset);
        hash = facet_hash_step(hash, view->segments[i].size);
    }
    return facet_hash_step(hash, view->root);
}

static enum facet_status
hash_rays(const struct session_rays *rays, uint64_t *hash, struct facet_error *err)
{
    struct facet_gfx12_batch_ray *some = malloc(REPORT_TRACING_GRAIN * sizeof *some);
    enum facet_status status =
        some != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for rays");

    *hash = 0;
    for (uint64_t at = 0; status == FACET_OK && at < rays->count; at += REPORT_TRACING_GRAIN) {
        const uint64_t left = rays->count - at;
        const size_t count = left < REPORT_TRACING_GRAIN ? (size_t)left : REPORT_TRACING_GRAIN;

        status = session_rays_get(rays, at, count, some, err);
        *hash = facet_hash_bytes(some, count * sizeof *some, *hash);
    }
    free(some);
    return status;
}

enum facet_status report_tracing_describe(const struct cli_args *args,
                                          struct session_share *share,
                                          const struct report_tracing *t,
                                          struct facet_error *err)
{
    static const char *const aside[] = {
        "rays", "candidates", "segment", "device", "fallback", "device-memory", NULL};
    uint64_t rays;
    enum facet_status status = hash_rays(t->rays, &rays, err);

    if (status == FACET_OK) {
        session_share_describe(share,
                               args,
                               aside,
                               json_pack("{s:o, s:o}",
                                         "image",
                                         facet_json_hex(hash_image(t->view)),
                                         "rays",
                                         facet_json_hex(rays)),
                               frame_of(t));
    }
    return status;
}

enum facet_status report_tracing_read(const struct facet_share_set *set,
                                      struct report_tracing *t,
                                      struct facet_error *err)
{
    const json_t *frame = json_object_get(facet_share_set_head(set), "frame");
    uint64_t bytes = 0;
    enum facet_status status;

    *t = (struct report_tracing){.stack = json_string_value(json_object_get(frame, "stack")),
                                 .figures = json_is_true(json_object_get(frame, "stats")),
                                 .candidates = json_is_true(json_object_get(frame, "candidates")),
                                 .trouble = json_string_value(json_object_get(frame, "trouble"))};
    for (size_t i = 0; i < set->count; i++) {
        bytes += set->files[i].bytes.size;
    }
    status = facet_json_get_u64(frame, "rays", bytes / REPORT_HIT, &t->count, err);
    if (status != FACET_OK) {
        facet_fail_in(err, set->files[0].name);
        return status;
    }
    return run_all(t, NULL, set, NULL, NULL, err);
}

int report_tracing_join(const struct cli_args *args, const struct facet_share_set *set)
{
    struct report_tracing t;
    struct facet_error err = {0};
    int code;

    if (report_tracing_read(set, &t, &err) != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (!report_tracing_files(args, t.figures, t.candidates)) {
        code = CLI_BAD;
    } else {
        code = report_tracing_finish(args, &t);
    }
    report_tracing_free(&t);
    return code;
}
