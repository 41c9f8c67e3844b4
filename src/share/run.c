/* The loop that all shared work runs through: see share.h. */
#include "share/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum state { TO_DO, TAKEN, DONE };

struct work {
    struct facet_share *share; /* NULL: none */
    const struct facet_units *units;
    facet_pool *pool;
    struct facet_progress *progress;
    struct facet_share_journal *journal; /* NULL: none */
    uint64_t first, step, count;         /* unit first + i * step is place i of `count` */
    pthread_mutex_t lock;                /* what follows, and the journal */
    uint8_t *state;                      /* of each place */
    uint64_t next;                       /* nothing is to be done before it */
    uint64_t left;                       /* places that are not done */
    bool marked;                         /* another process has finished this job */
    enum facet_status status;
    uint64_t failed; /* the place */
    struct facet_error error;
};

static uint64_t unit_at(const struct work *w, uint64_t place)
{
    return w->first + place * w->step;
}

static uint64_t begin_of(const struct work *w, uint64_t place)
{
    return unit_at(w, place) * w->units->grain;
}

static uint64_t end_of(const struct work *w, uint64_t place)
{
    const uint64_t begin = begin_of(w, place), left = w->units->items - begin;

    return begin + (left < w->units->grain ? left : w->units->grain);
}

static void set_done(struct work *w, uint64_t place)
{
    w->state[place] = DONE;
    w->left--;
    facet_progress_add(w->progress, end_of(w, place) - begin_of(w, place));
}

static void
fail(struct work *w, uint64_t place, enum facet_status status, const struct facet_error *err)
{
    if (w->status == FACET_OK || place < w->failed) {
        w->status = status;
        w->failed = place;
        w->error = *err;
    }
}

/* ---- with a journal ---- */

/* A result that another process, or an earlier run, has added. */
static enum facet_status
take(void *context, const struct facet_share_record *record, struct facet_error *err)
{
    struct work *w = context;
    const uint64_t place = (record->unit - w->first) / w->step;
    enum facet_status status;

    if (record->unit == (uint64_t)FACET_SHARE_MARK) {
        w->marked |= w->share->job != NULL && record->size == strlen(w->share->job) &&
                     memcmp(record->bytes, w->share->job, record->size) == 0;
        return FACET_OK;
    }
    if (record->unit < w->first || place >= w->count || unit_at(w, place) != record->unit) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "%s: has a unit too many", w->journal->path);
    }
    if (w->state[place] == DONE) {
        return FACET_OK;
    }
    status = w->units->unpack(
        w->units->context, begin_of(w, place), end_of(w, place), record->bytes, record->size, err);
    if (status == FACET_OK) {
        set_done(w, place);
    } else {
        facet_fail_in(err, w->journal->path);
    }
    return status;
}

/* Takes in what is new, with the journal locked. */
static enum facet_status refresh(struct work *w, struct facet_error *err)
{
    enum facet_status status = facet_share_journal_lock(w->journal, err);

    if (status == FACET_OK) {
        status = facet_share_journal_read(w->journal, take, w, err);
        if (status != FACET_OK) {
            facet_share_journal_unlock(w->journal);
        }
    }
    return status;
}

static enum facet_status
note(struct work *w, uint64_t unit, const struct facet_strbuf *result, struct facet_error *err)
{
    enum facet_status status = refresh(w, err);

    if (status == FACET_OK) {
        status = facet_share_journal_add(
            w->journal, unit, facet_strbuf_text(result), result->length, err);
        facet_share_journal_unlock(w->journal);
    }
    return status;
}

/* ---- units ---- */

/* The first place that is to be done and that no other process has; with the lock. */
static bool pick(struct work *w, uint64_t *place)
{
    for (uint64_t i = w->next; i < w->count; i++) {
        if (w->state[i] != TO_DO) {
            w->next += i == w->next;
        } else if (w->status != FACET_OK && i > w->failed) {
            return false; /* only what could fail first */
        } else if (w->journal == NULL || facet_share_journal_claim(w->journal, unit_at(w, i))) {
            w->state[i] = TAKEN;
            *place = i;
            return true;
        }
    }
    return false;
}

static bool claim(struct work *w, uint64_t *place)
{
    struct facet_error err = {0};
    bool found = false;

    (void)pthread_mutex_lock(&w->lock);
    if (w->journal == NULL) {
        found = pick(w, place);
    } else {
        enum facet_status status = refresh(w, &err);

        if (status == FACET_OK) {
            found = pick(w, place);
            facet_share_journal_unlock(w->journal);
        } else {
            fail(w, 0, status, &err);
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
    return found;
}

static void
finish(struct work *w, uint64_t place, enum facet_status status, struct facet_error *err)
{
    struct facet_strbuf result;

    facet_strbuf_init(&result);
    if (status == FACET_OK && w->journal != NULL) {
        w->units->pack(w->units->context, begin_of(w, place), end_of(w, place), &result);
        if (result.failed) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a result");
        }
    }
    (void)pthread_mutex_lock(&w->lock);
    if (status == FACET_OK && w->journal != NULL) {
        status = note(w, unit_at(w, place), &result, err);
    }
    if (w->journal != NULL) {
        facet_share_journal_release(w->journal, unit_at(w, place));
    }
    if (status == FACET_OK) {
        set_done(w, place);
    } else { /* nobody here tries it again */
        fail(w, place, status, err);
    }
    (void)pthread_mutex_unlock(&w->lock);
    facet_strbuf_free(&result);
}

/* One thread: unit after unit until there is none to take. */
static void run_some(void *context, size_t begin, size_t end)
{
    struct work *w = context;
    uint64_t place;

    (void)begin;
    (void)end;
    while (claim(w, &place)) {
        struct facet_error err = {0};
        enum facet_status status = w->units->compute(
            w->units->context, begin_of(w, place), end_of(w, place), w->pool, &err);

        finish(w, place, status, &err);
    }
}

/* The same on this thread, for units that are computed together. */
static void run_together(struct work *w)
{
    const uint32_t most = w->units->together;
    uint64_t *const places = malloc(2 * most * sizeof *places), *const begins = places + most;
    struct facet_error none = {0};
    size_t count;

    if (places == NULL) {
        fail(w, 0, facet_fail(&none, FACET_ERR_MEMORY, 0, "no memory for the work"), &none);
        return;
    }
    do {
        struct facet_error err = {0};
        enum facet_status status = FACET_OK;

        for (count = 0; count < most && claim(w, &places[count]); count++) {
            begins[count] = begin_of(w, places[count]);
        }
        if (count != 0) {
            status = w->units->compute_many(w->units->context, begins, count, w->pool, &err);
        }
        for (size_t i = 0; i < count; i++) {
            struct facet_error own = err;

            finish(w, places[i], status, &own);
        }
    } while (count != 0);
    free(places);
}

/* Units that are left when no thread found one are with other processes: waits for the first of
 * them, which is then done, or to do again because its process died. */
static enum facet_status run_all(struct work *w, struct facet_error *err)
{
    const unsigned threads = facet_pool_threads(w->pool);
    enum facet_status status = FACET_OK;

    for (;;) {
        uint64_t place = w->next;

        if (w->units->compute_many != NULL) {
            run_together(w);
        } else {
            facet_pool_for(w->pool, threads, 1, run_some, w);
        }
        if (w->status != FACET_OK) {
            if (err != NULL) {
                *err = w->error;
            }
            return w->status;
        }
        if (w->left == 0 || status != FACET_OK) {
            return status;
        }
        while (w->state[place] == DONE) {
            place++;
        }
        status = facet_share_journal_wait(w->journal, unit_at(w, place), err);
        if (status != FACET_OK) {
            return status;
        }
    }
}

/* ---- the end ---- */

static enum facet_status
write_part(const struct work *w, struct facet_strbuf *out, uint64_t head, struct facet_error *err)
{
    struct facet_strbuf result;

    facet_strbuf_init(&result);
    for (uint64_t i = 0; i < w->count; i++) {
        facet_strbuf_clear(&result);
        w->units->pack(w->units->context, begin_of(w, i), end_of(w, i), &result);
        facet_share_put_record(out, head, unit_at(w, i), facet_strbuf_text(&result), result.length);
        out->failed |= result.failed;
    }
    facet_strbuf_free(&result);
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a part")
                       : facet_file_write(w->share->file, out->text, out->length, err);
}

/* Of the processes of a job one finishes the work. The others wait, in case that it dies. */
static enum facet_status choose_last(struct work *w, struct facet_error *err)
{
    enum facet_status status = facet_share_journal_last(w->journal, err);

    if (status == FACET_OK) {
        status = refresh(w, err);
    }
    if (status == FACET_OK) {
        facet_share_journal_unlock(w->journal);
        w->share->end = w->marked ? FACET_SHARE_OTHER : w->share->end;
        w->journal->last = !w->marked;
    }
    return status;
}

static enum facet_status run(struct work *w, struct facet_error *err)
{
    struct facet_share *share = w->share;
    struct facet_strbuf begin;
    uint64_t head = 0;
    enum facet_status status = FACET_OK;

    facet_strbuf_init(&begin);
    if (share != NULL) {
        share->end = share->parts != 0 ? FACET_SHARE_PART : FACET_SHARE_WHOLE;
        status = facet_share_begin(share, w->units, &begin, &head, err);
    }
    if (status == FACET_OK && share != NULL && share->journal != NULL) {
        share->open = calloc(1, sizeof *share->open);
        status = share->open == NULL
                     ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a journal")
                     : facet_share_journal_open(share->journal, &begin, head, share->open, err);
        if (status == FACET_OK) {
            w->journal = share->open;
        } else {
            free(share->open);
            share->open = NULL;
        }
    }
    status = status == FACET_OK ? run_all(w, err) : status;
    if (status == FACET_OK && share != NULL && share->job != NULL && w->journal != NULL) {
        status = choose_last(w, err);
    }
    if (status == FACET_OK && share != NULL && share->end == FACET_SHARE_PART) {
        status = write_part(w, &begin, head, err);
    }
    facet_strbuf_free(&begin);
    return status;
}

uint64_t facet_share_items(const struct facet_share *share, uint64_t items, uint64_t grain)
{
    uint64_t sum = items;

    if (share != NULL && share->parts != 0) {
        sum = 0;
        for (uint64_t at = (share->part - 1) * grain; at < items; at += share->parts * grain) {
            sum += items - at < grain ? items - at : grain;
        }
    }
    return sum;
}

enum facet_status facet_share_run(struct facet_share *share,
                                  const struct facet_units *units,
                                  facet_pool *pool,
                                  struct facet_progress *progress,
                                  struct facet_error *err)
{
    const uint64_t all = facet_share_unit_count(units);
    struct work w = {.share = share, .units = units, .pool = pool, .progress = progress, .step = 1};
    enum facet_status status;

    if (share != NULL && share->parts != 0) {
        w.first = share->part - 1;
        w.step = share->parts;
    }
    w.count = all > w.first ? (all - w.first - 1) / w.step + 1 : 0;
    w.left = w.count;
    w.state = calloc(w.count + 1, 1);
    if (w.state == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the work");
    }
    (void)pthread_mutex_init(&w.lock, NULL);
    status = run(&w, err);
    (void)pthread_mutex_destroy(&w.lock);
    free(w.state);
    return status;
}

void facet_share_close(struct facet_share *share)
{
    if (share->open != NULL) {
        if (share->open->last && facet_share_journal_lock(share->open, NULL) == FACET_OK) {
            /* A job whose end cannot be noted is finished again by the next process. */
            (void)facet_share_journal_add(
                share->open, (uint64_t)FACET_SHARE_MARK, share->job, strlen(share->job), NULL);
            facet_share_journal_unlock(share->open);
        }
        facet_share_journal_close(share->open);
        free(share->open);
        share->open = NULL;
    }
    json_decref(share->head);
    share->head = NULL;
}
