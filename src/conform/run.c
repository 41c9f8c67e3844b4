/* See run.h. */
#include "conform/run.h"

#include "base/pool.h"
#include "base/strbuf.h"
#include "conform/internal.h"
#include "isa/isa.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

enum { UNDONE = CONFORM_VERDICTS };

/* ---- a case as a unit ---- */

struct work {
    struct conform_run *run;
    struct conform_target *target;
    const char *keep;
};

static enum facet_status
run_case(void *context, uint64_t begin, uint64_t end, facet_pool *pool, struct facet_error *err)
{
    struct work *w = context;

    (void)end;
    (void)pool;
    return conform_target_run(w->target,
                              &w->run->suite->cases[w->run->chosen[begin]],
                              w->keep,
                              &w->run->results[begin],
                              err);
}

static void pack_case(void *context, uint64_t begin, uint64_t end, struct facet_strbuf *out)
{
    const struct work *w = context;
    const struct conform_result *result = &w->run->results[begin];

    (void)end;
    facet_strbuf_putc(out, (char)result->verdict);
    facet_strbuf_puts(out, result->text);
}

static enum facet_status unpack_case(void *context,
                                     uint64_t begin,
                                     uint64_t end,
                                     const uint8_t *bytes,
                                     size_t size,
                                     struct facet_error *err)
{
    const struct work *w = context;
    struct conform_result *result = &w->run->results[begin];

    (void)end;
    if (size == 0 || size > sizeof result->text || bytes[0] >= CONFORM_VERDICTS) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "case %zu has no verdict", (size_t)begin);
    }
    conform_say(
        result, (enum conform_verdict)bytes[0], "%.*s", (int)size - 1, (const char *)bytes + 1);
    return FACET_OK;
}

static struct facet_units units_of(struct work *w)
{
    return (struct facet_units){.items = w->run->count,
                                .grain = 1,
                                .context = w,
                                .compute = run_case,
                                .pack = pack_case,
                                .unpack = unpack_case};
}

/* ---- the run ---- */

static bool chosen(const struct conform_case *c, const struct conform_choice *choice)
{
    return conform_case_about(c, choice->area, choice->row) &&
           (choice->name == NULL || strstr(c->name, choice->name) != NULL);
}

enum facet_status conform_choose(const struct conform_suite *suite,
                                 const struct conform_choice *choice,
                                 struct conform_run *run,
                                 struct facet_error *err)
{
    *run = (struct conform_run){.suite = suite};
    run->chosen = calloc(suite->case_count + 1, sizeof *run->chosen);
    run->results = calloc(suite->case_count + 1, sizeof *run->results);
    if (run->chosen == NULL || run->results == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a run");
    }
    for (size_t i = 0; i < suite->case_count; i++) {
        if (chosen(&suite->cases[i], choice)) {
            run->results[run->count].verdict = (enum conform_verdict)UNDONE;
            run->chosen[run->count++] = i;
        }
    }
    return run->count > 0
               ? FACET_OK
               : facet_fail(err, FACET_ERR_USAGE, 0, "%s: no case is as asked for", suite->folder);
}

static void count_verdicts(struct conform_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        run->verdicts[run->results[i].verdict]++;
    }
}

enum facet_status
conform_run_chosen(struct conform_run *run, const struct conform_how *how, struct facet_error *err)
{
    struct work w = {.run = run, .keep = how->keep};
    const struct facet_units units = units_of(&w);
    facet_pool *pool = NULL;
    enum facet_status status =
        conform_target_open(how->against, how->seconds, how->stop, &w.target, err);

    run->against = how->against;
    status = status == FACET_OK ? facet_pool_create(how->threads, &pool, err) : status;
    if (status == FACET_OK) {
        status = facet_share_run(how->share, &units, pool, how->progress, err);
    }
    if (status == FACET_OK && (how->share == NULL || how->share->end == FACET_SHARE_WHOLE)) {
        count_verdicts(run);
    }
    facet_pool_destroy(pool);
    conform_target_close(w.target);
    return status;
}

/* ---- shared ---- */

enum facet_status conform_describe(const struct conform_run *run,
                                   const struct conform_how *how,
                                   json_t **inputs,
                                   json_t **frame,
                                   struct facet_error *err)
{
    uint64_t hash = run->suite->hash;
    enum facet_status status = FACET_OK;

    *inputs = *frame = NULL;
    for (size_t i = 0; status == FACET_OK && i < run->count; i++) {
        status = conform_case_hash(&run->suite->cases[run->chosen[i]], &hash, err);
    }
    if (status == FACET_OK) {
        *inputs = json_pack("{s:o}", "suite", facet_json_hex(hash));
        *frame = conform_suite_frame(run->suite);
        (void)json_object_set_new(
            *frame,
            "choice",
            json_pack("[s?, s?, s?]", how->choice.area, how->choice.row, how->choice.name));
        (void)json_object_set_new(
            *frame, "against", how->against != NULL ? facet_json_name(how->against) : json_null());
    }
    return status;
}

enum facet_status conform_join(const struct facet_share_set *set,
                               struct conform_suite *suite,
                               struct conform_run *run,
                               struct facet_error *err)
{
    const json_t *frame = json_object_get(facet_share_set_head(set), "frame");
    const json_t *words = json_object_get(frame, "choice");
    const struct conform_choice choice = {json_string_value(json_array_get(words, 0)),
                                          json_string_value(json_array_get(words, 1)),
                                          json_string_value(json_array_get(words, 2))};
    struct work w = {.run = run};
    struct facet_units units;
    enum facet_status status = conform_suite_from(frame, set->files[0].name, suite, err);

    *run = (struct conform_run){0};
    status = status == FACET_OK ? conform_choose(suite, &choice, run, err) : status;
    run->against = json_string_value(json_object_get(frame, "against"));
    units = units_of(&w);
    status = status == FACET_OK ? facet_share_set_unpack(set, &units, err) : status;
    if (status == FACET_OK) {
        count_verdicts(run);
    }
    return status;
}

void conform_run_free(struct conform_run *run)
{
    free(run->chosen);
    free(run->results);
    *run = (struct conform_run){0};
}

/* ---- rows ---- */

static size_t row_index(const char *id)
{
    return (size_t)(facet_requirement_find(id) - facet_requirement_rows);
}

struct conform_row *conform_rows(const struct conform_suite *suite, const struct conform_run *run)
{
    struct conform_row *rows = calloc(facet_requirement_row_count, sizeof *rows);

    if (rows == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        rows[i].reason = suite->reasons[i];
    }
    for (size_t i = 0; i < suite->case_count; i++) {
        for (size_t k = 0; k < suite->cases[i].row_count; k++) {
            rows[row_index(suite->cases[i].rows[k])].cases++;
        }
    }
    for (size_t i = 0; run != NULL && i < run->count; i++) {
        const struct conform_case *c = &suite->cases[run->chosen[i]];

        for (size_t k = 0; k < c->row_count; k++) {
            struct conform_row *row = &rows[row_index(c->rows[k])];

            row->run += run->results[i].verdict != CONFORM_UNSUPPORTED;
            row->passed += run->results[i].verdict == CONFORM_PASS;
        }
    }
    return rows;
}
