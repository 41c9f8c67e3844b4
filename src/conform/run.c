/* See run.h. */
#include "conform/run.h"

#include "base/file.h"
#include "base/pool.h"
#include "base/strbuf.h"
#include "conform/internal.h"
#include "isa/isa.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESUME_LIMIT = 256 << 20, UNDONE = CONFORM_VERDICTS };

/* ---- the file that remembers ---- */

static bool find_case(const struct conform_run *run, const char *name, size_t *at)
{
    size_t lo = 0, hi = run->count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int order = strcmp(run->suite->cases[run->chosen[middle]].name, name);

        if (order == 0) {
            *at = middle;
            return true;
        }
        if (order < 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return false;
}

static void take_line(struct conform_run *run, const json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "case"));
    const char *verdict = json_string_value(json_object_get(line, "verdict"));
    const char *text = json_string_value(json_object_get(line, "text"));
    size_t at;

    if (name == NULL || verdict == NULL || !find_case(run, name, &at)) {
        return;
    }
    for (unsigned v = 0; v < CONFORM_VERDICTS; v++) {
        if (strcmp(verdict, conform_verdict_name[v]) == 0) {
            run->resumed += (unsigned)run->results[at].verdict == UNDONE;
            conform_say(&run->results[at], (enum conform_verdict)v, "%s", text != NULL ? text : "");
        }
    }
}

static json_t *head(const struct conform_run *run)
{
    return json_pack("{s:o, s:o}",
                     "suite",
                     facet_json_hex(run->suite->hash),
                     "against",
                     facet_json_name(run->against != NULL ? run->against : ""));
}

/* Reads what is there; a last line that was cut short does not count. *size: of the others. */
static enum facet_status
read_resume(struct conform_run *run, const char *path, size_t *size, struct facet_error *err)
{
    struct facet_bytes bytes = {0};
    enum facet_status status = facet_file_read(path, RESUME_LIMIT, &bytes, err);
    json_t *first = head(run);
    char *line = (char *)bytes.data, *end;

    for (uint64_t n = 1; status == FACET_OK && (end = strchr(line, '\n')) != NULL; n++) {
        json_t *object = NULL;

        status = facet_json_parse(path, line, (size_t)(end - line), &object, err);
        if (status == FACET_OK && n == 1 && !json_equal(object, first)) {
            status = facet_fail(
                err, FACET_ERR_INPUT, 1, "%s: is of another suite or another --against", path);
        } else if (status == FACET_OK) {
            take_line(run, object);
        }
        json_decref(object);
        line = end + 1;
        *size = (size_t)(line - (char *)bytes.data);
    }
    if (status == FACET_OK && *size == 0 && bytes.size != 0) {
        status = facet_fail(err, FACET_ERR_INPUT, 1, "%s: is no file of --resume", path);
    }
    json_decref(first);
    free(bytes.data);
    return status;
}

static bool add_line(int fd, json_t *object)
{
    char *text = NULL;
    size_t size = 0;
    bool good = facet_json_compact(object, &text, &size, NULL) == FACET_OK;

    json_decref(object);
    if (good) {
        text[size] = '\n'; /* in place of the NUL: one write, so that no line is torn */
        good = write(fd, text, size + 1) == (ssize_t)(size + 1);
    }
    free(text);
    return good;
}

static enum facet_status
open_resume(struct conform_run *run, const char *path, int *fd, struct facet_error *err)
{
    size_t size = 0;
    enum facet_status status =
        access(path, F_OK) == 0 ? read_resume(run, path, &size, err) : FACET_OK;

    if (status != FACET_OK) {
        return status;
    }
    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*fd < 0 || ftruncate(*fd, (off_t)size) != 0 || (size == 0 && !add_line(*fd, head(run)))) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", path, strerror(errno));
    }
    return FACET_OK;
}

/* ---- the run ---- */

struct work {
    struct conform_run *run;
    struct conform_target *target;
    const char *keep;
    int resume; /* -1: none */
    pthread_mutex_t lock;
    enum facet_status status; /* the first failure of the host */
    struct facet_error *err;
};

static void finish(struct work *w, size_t at, enum facet_status status, struct facet_error *err)
{
    struct conform_run *run = w->run;
    const struct conform_result *result = &run->results[at];

    (void)pthread_mutex_lock(&w->lock);
    if (status == FACET_OK && w->resume >= 0 &&
        !add_line(w->resume,
                  json_pack("{s:s, s:s, s:o}",
                            "case",
                            run->suite->cases[run->chosen[at]].name,
                            "verdict",
                            conform_verdict_name[result->verdict],
                            "text",
                            facet_json_name(result->text)))) {
        status = facet_fail(err, FACET_ERR_IO, 0, "the file of --resume: %s", strerror(errno));
    }
    if (status != FACET_OK && w->status == FACET_OK) {
        w->status = status;
        if (w->err != NULL) {
            *w->err = *err;
        }
    }
    (void)pthread_mutex_unlock(&w->lock);
}

static bool failed(struct work *w)
{
    bool bad;

    (void)pthread_mutex_lock(&w->lock);
    bad = w->status != FACET_OK;
    (void)pthread_mutex_unlock(&w->lock);
    return bad;
}

static void run_chunk(void *context, size_t begin, size_t end)
{
    struct work *w = context;

    for (size_t i = begin; i < end; i++) {
        struct conform_result *result = &w->run->results[i];
        struct facet_error err = {0};

        if ((unsigned)result->verdict == UNDONE && !failed(w)) {
            enum facet_status status = conform_target_run(
                w->target, &w->run->suite->cases[w->run->chosen[i]], w->keep, result, &err);

            finish(w, i, status, &err);
        }
    }
}

static bool chosen(const struct conform_case *c, const struct conform_choice *choice)
{
    return conform_case_about(c, choice->area, choice->row) &&
           (choice->name == NULL || strstr(c->name, choice->name) != NULL);
}

static enum facet_status
choose(struct conform_run *run, const struct conform_choice *choice, struct facet_error *err)
{
    const struct conform_suite *suite = run->suite;

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

enum facet_status conform_run_suite(const struct conform_suite *suite,
                                    const struct conform_how *how,
                                    struct conform_run *run,
                                    struct facet_error *err)
{
    struct work w = {.run = run, .keep = how->keep, .resume = -1, .err = err};
    facet_pool *pool = NULL;
    enum facet_status status;

    *run = (struct conform_run){.suite = suite, .against = how->against};
    status = choose(run, &how->choice, err);
    status = status == FACET_OK
                 ? conform_target_open(how->against, how->seconds, how->stop, &w.target, err)
                 : status;
    if (status == FACET_OK && how->resume != NULL) {
        status = open_resume(run, how->resume, &w.resume, err);
    }
    status = status == FACET_OK ? facet_pool_create(how->threads, &pool, err) : status;
    if (status == FACET_OK) {
        (void)pthread_mutex_init(&w.lock, NULL);
        facet_pool_for(pool, run->count, 1, run_chunk, &w);
        (void)pthread_mutex_destroy(&w.lock);
        status = w.status;
    }
    for (size_t i = 0; i < run->count && status == FACET_OK; i++) {
        run->verdicts[run->results[i].verdict]++;
    }
    facet_pool_destroy(pool);
    conform_target_close(w.target);
    if (w.resume >= 0) {
        (void)close(w.resume);
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
