/* Test results by requirement row. The texts of the files are kept whole; tests point into them. */
#include "cards/card.h"

#include "base/array.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RESULT_BYTES = 64 << 20 };

const char *const facet_outcome_name[4] = {"none", "skip", "pass", "fail"};

/* One ID of one test. `id` is NULL for a row that exists. */
struct mention {
    size_t row;
    size_t test;
    const char *id;
};

struct facet_results {
    struct facet_array texts;    /* char *: the files */
    struct facet_array tests;    /* struct facet_test */
    struct facet_array mentions; /* struct mention; by row and test once all files are read */
    const struct facet_requirement_row **sorted; /* by ID */
};

static int by_id(const void *a, const void *b)
{
    const struct facet_requirement_row *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

static int by_row(const void *a, const void *b)
{
    const struct mention *x = a, *y = b;

    return x->row != y->row ? (x->row < y->row ? -1 : 1)
                            : (x->test > y->test) - (x->test < y->test);
}

void facet_results_free(struct facet_results *results)
{
    if (results == NULL) {
        return;
    }
    for (size_t i = 0; i < results->texts.count; i++) {
        free(((char **)results->texts.items)[i]);
    }
    free(results->texts.items);
    free(results->tests.items);
    free(results->mentions.items);
    free(results->sorted);
    free(results);
}

static struct facet_results *make_results(void)
{
    struct facet_results *r = calloc(1, sizeof *r);

    if (r != NULL) {
        r->sorted = calloc(facet_requirement_row_count + 1, sizeof r->sorted[0]);
    }
    if (r == NULL || r->sorted == NULL) {
        free(r);
        return NULL;
    }
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        r->sorted[i] = &facet_requirement_rows[i];
    }
    qsort(r->sorted, facet_requirement_row_count, sizeof r->sorted[0], by_id);
    return r;
}

static bool add_mention(struct facet_results *r, const char *id)
{
    const struct facet_requirement_row key = {.id = id}, *pointer = &key;
    const struct facet_requirement_row **found =
        bsearch(&pointer, r->sorted, facet_requirement_row_count, sizeof r->sorted[0], by_id);
    struct mention *mention = facet_array_add(&r->mentions, 1, sizeof *mention);

    if (mention != NULL) {
        mention->row = found != NULL ? (size_t)(*found - facet_requirement_rows) : SIZE_MAX;
        mention->id = found != NULL ? NULL : id;
        mention->test = r->tests.count - 1;
    }
    return mention != NULL;
}

/* One line of a result file, taken apart in place. */
static enum facet_status
read_line(struct facet_results *r, char *line, uint64_t number, struct facet_error *err)
{
    char *fields[4], *save = NULL;
    enum facet_outcome outcome = FACET_OUTCOME_FAIL;
    struct facet_test *test;
    bool kept;

    for (int i = 0; i < 4; i++) {
        fields[i] = strsep(&line, "\t");
    }
    while (outcome > FACET_OUTCOME_NONE && fields[3] != NULL &&
           strcmp(fields[2], facet_outcome_name[outcome]) != 0) {
        outcome--;
    }
    if (fields[3] == NULL || outcome == FACET_OUTCOME_NONE) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          number,
                          "line %llu: expected suite, case, pass|fail|skip, IDs separated by tabs",
                          (unsigned long long)number);
    }
    test = facet_array_add(&r->tests, 1, sizeof *test);
    kept = test != NULL;
    if (kept) {
        *test = (struct facet_test){fields[0], fields[1], outcome};
    }
    for (char *id = strtok_r(fields[3], " ,", &save); id != NULL && kept;
         id = strtok_r(NULL, " ,", &save)) {
        kept = add_mention(r, id);
    }
    return kept ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
}

static enum facet_status
read_file(struct facet_results *r, const char *path, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_file_read(path, MAX_RESULT_BYTES, &bytes, err);
    char **kept, *text;
    uint64_t number = 0;

    if (status != FACET_OK) {
        return status;
    }
    kept = facet_array_add(&r->texts, 1, sizeof *kept);
    if (kept == NULL) {
        free(bytes.data);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    text = *kept = (char *)bytes.data;
    while (status == FACET_OK && text != NULL && *text != '\0') {
        status = read_line(r, strsep(&text, "\n"), ++number, err);
    }
    if (status != FACET_OK) {
        facet_fail_in(err, path);
    }
    return status;
}

static int is_result_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".tsv") == 0;
}

enum facet_status
facet_results_read(const char *folder, struct facet_results **out, struct facet_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_result_file, alphasort);
    struct facet_results *r = count >= 0 ? make_results() : NULL;
    enum facet_status status = FACET_OK;

    *out = NULL;
    if (count >= 0 && r == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    } else if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        status = facet_fail(err, FACET_ERR_IO, 0, "%s: %s", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        struct facet_strbuf path;

        facet_strbuf_init(&path);
        facet_strbuf_printf(&path, "%s/%s", folder, entries[i]->d_name);
        if (status == FACET_OK) {
            status = path.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory")
                                 : read_file(r, facet_strbuf_text(&path), err);
        }
        facet_strbuf_free(&path);
        free(entries[i]);
    }
    free(entries);
    if (status != FACET_OK) {
        facet_results_free(r);
        return status;
    }
    if (r != NULL && r->mentions.count > 0) {
        qsort(r->mentions.items, r->mentions.count, sizeof(struct mention), by_row);
    }
    *out = r;
    return FACET_OK;
}

void facet_results_folder(char *buf, size_t size)
{
    char self[4000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    (void)snprintf(buf, size, "%.*s/test-results", slash != NULL ? (int)(slash - self) : 0, self);
}

/* The n-th mention of a row; mentions of one row stand together. */
static const struct mention *mention_of(const struct facet_results *r, size_t row, size_t n)
{
    const struct mention *all = r->mentions.items;
    size_t lo = 0, hi = r->mentions.count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (all[middle].row < row) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return n < r->mentions.count - lo && all[lo + n].row == row ? &all[lo + n] : NULL;
}

const struct facet_test *facet_results_test(const struct facet_results *results,
                                            const struct facet_requirement_row *row,
                                            size_t n)
{
    const struct mention *mention =
        results != NULL ? mention_of(results, (size_t)(row - facet_requirement_rows), n) : NULL;

    return mention != NULL ? (const struct facet_test *)results->tests.items + mention->test : NULL;
}

bool facet_results_prove(const struct facet_results *results,
                         const struct facet_requirement_row *row)
{
    const struct facet_test *test;

    for (size_t n = 0; (test = facet_results_test(results, row, n)) != NULL; n++) {
        if (test->outcome == FACET_OUTCOME_PASS) {
            return true;
        }
    }
    return false;
}

enum facet_outcome facet_results_outcome(const struct facet_results *results,
                                         const struct facet_requirement_row *row)
{
    enum facet_outcome worst = FACET_OUTCOME_NONE;
    const struct facet_test *test;

    for (size_t n = 0; (test = facet_results_test(results, row, n)) != NULL; n++) {
        worst = test->outcome > worst ? test->outcome : worst;
    }
    return worst;
}

const char *
facet_results_unknown(const struct facet_results *results, size_t n, const struct facet_test **test)
{
    const struct mention *mention = results != NULL ? mention_of(results, SIZE_MAX, n) : NULL;

    if (mention == NULL) {
        return NULL;
    }
    *test = (const struct facet_test *)results->tests.items + mention->test;
    return mention->id;
}

json_t *facet_card_tests(const struct facet_results *results,
                         const struct facet_requirement_row *row)
{
    json_t *list = json_array();
    const struct facet_test *test;

    for (size_t n = 0; (test = facet_results_test(results, row, n)) != NULL; n++) {
        json_t *entry = json_pack("{s:s, s:s, s:s}",
                                  "suite",
                                  test->suite,
                                  "case",
                                  test->name,
                                  "result",
                                  facet_outcome_name[test->outcome]);
        if (json_array_append_new(list, entry) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}
