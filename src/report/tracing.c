/* See tracing.h. */
#include "report/tracing.h"

#include "command/output.h"

#include "base/bits.h"
#include "base/file.h"
#include "base/hash.h"
#include "report/hits.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What the rays of a unit leave besides their hits. */
struct report_tracing_unit {
    struct facet_gfx12_stats stats;
    struct facet_gfx12_lost lost;
    struct report_places places;
    struct facet_strbuf list; /* of candidates */
};

static struct report_tracing_unit *unit_of(const struct report_tracing *t, uint64_t begin)
{
    return &t->units[begin / REPORT_TRACING_GRAIN];
}

/* ---- computing ---- */

/* The rays once more, for what they did not find. */
static enum facet_status count_lost(const struct report_tracing *t,
                                    uint64_t begin,
                                    uint64_t end,
                                    facet_pool *pool,
                                    struct facet_error *err)
{
    struct report_tracing_unit *u = unit_of(t, begin);
    struct facet_gfx12_query query = t->query;
    enum facet_status status;

    if (t->candidates) {
        query.callbacks.procedural = NULL; /* they are noted already */
    }
    status = facet_gfx12_lost_rays(
        &t->unit, &query, t->rays + begin, (size_t)(end - begin), pool, &u->lost, err);
    for (unsigned i = 0; i < FACET_GFX12_LOSSES; i++) {
        u->lost.loss[i].ray += begin;
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

/* `lost`: nodes may have been looked for that are not there. */
static enum facet_status trace_here(const struct report_tracing *t,
                                    uint64_t begin,
                                    size_t count,
                                    struct facet_gfx12_hit *hits,
                                    facet_pool *pool,
                                    struct report_tracing_unit *u,
                                    bool *lost,
                                    struct facet_error *err)
{
    struct facet_gfx12_candidates candidates = {0};
    enum facet_status status;

    u->stats = (struct facet_gfx12_stats){0};
    if (t->candidates) {
        status = facet_gfx12_list_candidates(
            t->tracer, &t->query, t->rays + begin, count, hits, &u->stats, &candidates, err);
        status = add_candidates(u, &candidates, begin, status, err);
    } else {
        status = facet_gfx12_tracer_batch(
            t->tracer, &t->query, t->rays + begin, count, hits, pool, &u->stats, err);
        err->where += status != FACET_OK ? begin : 0;
    }
    *lost = !facet_gfx12_tracer_sound(t->tracer);
    return status;
}

static void note_ray(void *context, size_t ray)
{
    struct facet_gfx12_candidates *candidates = context;

    candidates->ray = ray;
}

/* The same; rays that reach a candidate are traced here, where they are listed. */
static enum facet_status trace_on_device(const struct report_tracing *t,
                                         uint64_t begin,
                                         size_t count,
                                         struct facet_gfx12_hit *hits,
                                         struct report_tracing_unit *u,
                                         bool *lost,
                                         struct facet_error *err)
{
    struct facet_gfx12_query query = t->query;
    struct facet_gfx12_candidates candidates = {0};
    enum facet_status status;

    query.callbacks.context = &candidates;
    status = facet_gfx12_device_trace(
        t->device,
        &(struct facet_gfx12_device_batch){.host = t->tracer,
                                           .common = &query,
                                           .rays = t->rays + begin,
                                           .count = count,
                                           .hits = hits,
                                           .sum = &u->stats,
                                           .lost = lost,
                                           .before = t->candidates ? note_ray : NULL},
        err);
    err->where += status == FACET_ERR_LIMIT ? begin : 0;
    return add_candidates(u, &candidates, begin, status, err);
}

static enum facet_status
trace(void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err)
{
    struct report_tracing *t = context;
    const size_t count = (size_t)(end - begin);
    struct report_tracing_unit *u = unit_of(t, begin);
    struct facet_gfx12_hit *hits = malloc(count * sizeof *hits);
    enum facet_status status;
    bool lost = false;

    if (hits == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu hits", count);
    }
    status = t->device != NULL && !atomic_load(&t->failed)
                 ? trace_on_device(t, begin, count, hits, u, &lost, err)
                 : trace_here(t, begin, count, hits, pool, u, &lost, err);
    if (status == FACET_ERR_IO && t->fallback) {
        if (!atomic_exchange(&t->failed, true)) { /* the first of the threads tells */
            t->failure = *err;
        }
        status = trace_here(t, begin, count, hits, pool, u, &lost, err);
    }
    if (status == FACET_OK && lost) {
        status = count_lost(t, begin, end, pool, err);
    }
    for (size_t i = 0; status == FACET_OK && i < count; i++) {
        report_hit(&hits[i], t->records + (begin + i) * REPORT_HIT);
    }
    free(hits);
    return status;
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
    facet_strbuf_clear(&u->list);
    facet_strbuf_add(&u->list, (const char *)bytes + FRONT + hits, size - FRONT - hits);
    return u->list.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the candidates")
                          : FACET_OK;
}

/* ---- all of them ---- */

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
                                      .pack = pack,
                                      .unpack = unpack};

    t->records = malloc((size_t)(t->count + 1) * REPORT_HIT);
    t->units = calloc(facet_share_unit_count(&units) + 1, sizeof *t->units);
    if (t->records == NULL || t->units == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %" PRIu64 " hits", t->count);
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
    free(t->units);
    free(t->records);
    t->units = NULL;
    t->records = NULL;
}

/* ---- what is written and told ---- */

static void sum_up(const struct report_tracing *t, struct report_tracing_unit *sum, uint64_t *found)
{
    *sum = (struct report_tracing_unit){0};
    *found = 0;
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
    }
    for (uint64_t i = 0; i < t->count; i++) {
        *found += report_hit_found(t->records + i * REPORT_HIT);
    }
}

int report_tracing_finish(const struct cli_args *args, const struct report_tracing *t)
{
    const char *candidates = cli_value(args, "candidates");
    struct report_tracing_unit sum;
    struct facet_error err = {0};
    uint64_t found;
    enum facet_status status;
    int code;

    sum_up(t, &sum, &found);
    if (sum.list.failed) {
        status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the list of candidates");
    } else {
        const struct facet_file_part parts[] = {
            {cli_value(args, "output"), t->records, (size_t)t->count * REPORT_HIT},
            {candidates, facet_strbuf_text(&sum.list), sum.list.length}};

        status = facet_file_write_all(parts, candidates != NULL ? 2 : 1, &err);
    }
    facet_strbuf_free(&sum.list);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    code = report_trace(args, t->stack, t->figures, (size_t)t->count, found, &sum.stats, &sum.lost);
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

void report_tracing_describe(const struct cli_args *args,
                             struct session_share *share,
                             const struct report_tracing *t)
{
    static const char *const aside[] = {
        "rays", "candidates", "segment", "device", "fallback", "device-memory", NULL};
    const uint64_t rays = facet_hash_bytes(t->rays, (size_t)t->count * sizeof *t->rays, 0);

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
