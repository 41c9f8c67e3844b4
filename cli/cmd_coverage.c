/* `facet coverage`: which requirement rows of spec/ a passing test names. The rows are the
 * generated table; the tests' side is the folder of result files that `make test` leaves behind,
 * with lines `suite case pass|fail|skip ids` parted by tabs. */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "isa/table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_AREAS = 32, MAX_RESULT_BYTES = 64 << 20 };

struct area {
    char name[16]; /* the part of the ID before the dash */
    size_t rows;
    size_t named;
};

struct coverage {
    const struct facet_requirement_row **sorted; /* by ID */
    bool *named;                                 /* per entry of `sorted` */
    json_t *unknown;                             /* IDs that results name and no row has */
};

static int by_id(const void *a, const void *b)
{
    const struct facet_requirement_row *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

static enum facet_status coverage_init(struct coverage *c, struct facet_error *err)
{
    size_t count = facet_requirement_row_count;

    c->sorted = calloc(count + 1, sizeof c->sorted[0]);
    c->named = calloc(count + 1, sizeof c->named[0]);
    c->unknown = json_object();
    if (c->sorted == NULL || c->named == NULL || c->unknown == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        c->sorted[i] = &facet_requirement_rows[i];
    }
    qsort(c->sorted, count, sizeof c->sorted[0], by_id);
    return FACET_OK;
}

static void coverage_free(struct coverage *c)
{
    free(c->sorted);
    free(c->named);
    json_decref(c->unknown);
}

/* Notes one ID; `test` ("suite: case") is kept for an unknown one. */
static void name_row(struct coverage *c, const char *id, bool passed, const char *test)
{
    const struct facet_requirement_row key = {.id = id}, *pointer = &key;
    const struct facet_requirement_row **found =
        bsearch(&pointer, c->sorted, facet_requirement_row_count, sizeof c->sorted[0], by_id);

    if (found == NULL) {
        (void)json_object_set_new(c->unknown, id, json_string(test));
    } else if (passed) {
        c->named[found - c->sorted] = true;
    }
}

/* One line of a result file, taken apart in place. */
static enum facet_status
read_line(struct coverage *c, char *line, uint64_t number, struct facet_error *err)
{
    char *fields[4], *save = NULL;
    char test[256];
    bool passed;

    for (int i = 0; i < 4; i++) {
        fields[i] = strsep(&line, "\t");
    }
    passed = fields[2] != NULL && strcmp(fields[2], "pass") == 0;
    if (fields[3] == NULL ||
        (!passed && strcmp(fields[2], "fail") != 0 && strcmp(fields[2], "skip") != 0)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          number,
                          "line %llu: expected suite, case, pass|fail|skip, IDs parted by tabs",
                          (unsigned long long)number);
    }
    (void)snprintf(test, sizeof test, "%s: %s", fields[0], fields[1]);
    for (char *id = strtok_r(fields[3], " ,", &save); id != NULL;
         id = strtok_r(NULL, " ,", &save)) {
        name_row(c, id, passed, test);
    }
    return FACET_OK;
}

static enum facet_status read_file(struct coverage *c, const char *path, struct facet_error *err)
{
    struct facet_bytes bytes;
    enum facet_status status = facet_file_read(path, MAX_RESULT_BYTES, &bytes, err);
    char *text;
    uint64_t number = 0;

    if (status != FACET_OK) {
        return status;
    }
    text = (char *)bytes.data;
    while (status == FACET_OK && text != NULL && *text != '\0') {
        status = read_line(c, strsep(&text, "\n"), ++number, err);
    }
    free(bytes.data);
    return status == FACET_OK ? FACET_OK : facet_fail_in(err, path);
}

static int is_result_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(entry->d_name + length - 4, ".tsv") == 0;
}

/* *found tells whether the folder is there; an absent one is not an error of this function. */
static enum facet_status
read_folder(struct coverage *c, const char *folder, bool *found, struct facet_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_result_file, alphasort);
    enum facet_status status = FACET_OK;

    *found = count >= 0;
    for (int i = 0; i < count; i++) {
        struct facet_strbuf path;

        facet_strbuf_init(&path);
        facet_strbuf_printf(&path, "%s/%s", folder, entries[i]->d_name);
        if (status == FACET_OK) {
            status = read_file(c, facet_strbuf_text(&path), err);
        }
        facet_strbuf_free(&path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* "test-results" beside the executable. */
static void default_folder(char *buf, size_t size)
{
    char self[4000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    (void)snprintf(buf, size, "%.*s/test-results", slash != NULL ? (int)(slash - self) : 0, self);
}

static size_t area_length(const char *id)
{
    return strcspn(id, "-");
}

static bool in_area(const struct facet_requirement_row *row, const char *area)
{
    size_t length = area_length(row->id);

    return area == NULL || (strlen(area) == length && strncasecmp(area, row->id, length) == 0);
}

/* Counts per area, areas in the order of the table. */
static size_t count_areas(const struct coverage *c, const char *only, struct area *areas)
{
    size_t count = 0;

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i], **found;
        size_t length = area_length(row->id), a = 0;

        if (!in_area(row, only)) {
            continue;
        }
        while (a < count &&
               (strlen(areas[a].name) != length || strncmp(areas[a].name, row->id, length) != 0)) {
            a++;
        }
        if (a == count) {
            if (count == MAX_AREAS) {
                continue;
            }
            memset(&areas[a], 0, sizeof areas[a]);
            (void)snprintf(areas[a].name, sizeof areas[a].name, "%.*s", (int)length, row->id);
            count++;
        }
        found = bsearch(&row, c->sorted, facet_requirement_row_count, sizeof c->sorted[0], by_id);
        areas[a].rows++;
        areas[a].named += c->named[found - c->sorted];
    }
    return count;
}

static struct area sum_of(const struct area *areas, size_t count)
{
    struct area sum = {.name = "all"};

    for (size_t i = 0; i < count; i++) {
        sum.rows += areas[i].rows;
        sum.named += areas[i].named;
    }
    return sum;
}

static void print_area(const struct area *area)
{
    double share = area->rows > 0 ? 100.0 * (double)area->named / (double)area->rows : 0;

    printf("%-6s %6zu %6zu %6.1f %%\n", area->name, area->rows, area->named, share);
}

static void print_text(const struct coverage *c,
                       const struct area *areas,
                       size_t count,
                       const char *only,
                       bool missing)
{
    struct area sum = sum_of(areas, count);
    const char *id;
    json_t *test;

    printf("%-6s %6s %6s %8s\n", "area", "rows", "named", "share");
    for (size_t i = 0; i < count; i++) {
        print_area(&areas[i]);
    }
    print_area(&sum);
    for (size_t i = 0; missing && i < facet_requirement_row_count; i++) {
        if (!c->named[i] && in_area(c->sorted[i], only)) {
            printf("%s\t%s\n", c->sorted[i]->id, c->sorted[i]->requirement);
        }
    }
    json_object_foreach(c->unknown, id, test)
    {
        printf("unknown ID %s in %s\n", id, json_string_value(test));
    }
}

static json_t *to_json(const struct coverage *c,
                       const struct area *areas,
                       size_t count,
                       const char *only,
                       bool missing)
{
    struct area sum = sum_of(areas, count);
    json_t *list = json_array(), *object, *ids;

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list,
                                    json_pack("{s:s, s:I, s:I}",
                                              "area",
                                              areas[i].name,
                                              "rows",
                                              (json_int_t)areas[i].rows,
                                              "named",
                                              (json_int_t)areas[i].named));
    }
    object = json_pack("{s:o, s:I, s:I, s:O}",
                       "areas",
                       list,
                       "rows",
                       (json_int_t)sum.rows,
                       "named",
                       (json_int_t)sum.named,
                       "unknown",
                       c->unknown);
    if (missing && object != NULL) {
        ids = json_array();
        for (size_t i = 0; i < facet_requirement_row_count; i++) {
            if (!c->named[i] && in_area(c->sorted[i], only)) {
                (void)json_array_append_new(ids, json_string(c->sorted[i]->id));
            }
        }
        (void)json_object_set_new(object, "missing", ids);
    }
    return object;
}

static int report(const struct cli_args *args, struct coverage *c)
{
    const char *only = cli_value(args, "area"), *folder = cli_value(args, "results");
    struct area areas[MAX_AREAS];
    struct facet_error err = {0};
    char beside[4096];
    bool found, missing = cli_given(args, "missing");
    size_t count;

    default_folder(beside, sizeof beside);
    if (read_folder(c, folder != NULL ? folder : beside, &found, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (!found && folder != NULL) {
        return cli_bad(args, "%s: there is no such folder of test results", folder);
    }
    if (!found) {
        fprintf(stderr, "facet coverage: no test has run yet (`make test` fills %s)\n", beside);
    }
    count = count_areas(c, only, areas);
    if (count == 0) {
        return cli_bad(args, "no requirement has an ID that starts with '%s-'", only);
    }
    if (!args->json) {
        print_text(c, areas, count, only, missing);
    } else if (cli_print_json(args, to_json(c, areas, count, only, missing)) != CLI_OK) {
        return CLI_BAD;
    }
    return json_object_size(c->unknown) > 0 ? CLI_NO : CLI_OK;
}

static int run_coverage(const struct cli_args *args)
{
    struct coverage c = {0};
    struct facet_error err = {0};
    int code = coverage_init(&c, &err) == FACET_OK ? report(args, &c) : cli_bad_error(args, &err);

    coverage_free(&c);
    return code;
}

static const struct cli_option options[] = {
    {"area", 'a', "AREA", "only this area: CAP, PM, XM, RSV, RT, GFX, MTX, TILE or G12"},
    {"results", 'r', "DIR", "folder of result files (default: test-results beside the program)"},
    {"missing", 'm', NULL, "list the rows that no passing test names"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_coverage = {
    .name = "coverage",
    .summary = "count the requirements of the contract that a passing test names",
    .usage = "facet coverage [--area AREA] [--results DIR] [--missing] [--json]",
    .details =
        "Every testable statement of the contract (spec/*.requirements.tsv) has an ID, and every "
        "test names the IDs that it proves. The table shows, per area, how many rows there are and "
        "how many are named by a test that passed in the last `make test`. An ID in the results "
        "that no row has is reported, and the exit code is then 1.",
    .examples = "facet coverage\nfacet coverage --area RT --json",
    .options = options,
    .has_json = true,
    .run = run_coverage,
    .operands = "",
};
