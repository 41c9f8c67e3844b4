/* See report.h: text and JSON. */
#include "conform/report.h"

#include "cards/area.h"
#include "json/json.h"

#include <string.h>

static void print_rows(FILE *file, const struct conform_case *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        fprintf(file, " %s", c->rows[i]);
    }
}

void conform_print(FILE *file, const struct conform_run *run, bool all)
{
    size_t ran = run->count - run->verdicts[CONFORM_UNSUPPORTED];

    for (size_t i = 0; i < run->count; i++) {
        const struct conform_case *c = &run->suite->cases[run->chosen[i]];
        const struct conform_result *r = &run->results[i];

        if (!all && (r->verdict == CONFORM_PASS || r->verdict == CONFORM_UNSUPPORTED)) {
            continue;
        }
        fprintf(file, "%s  %s ", conform_verdict_name[r->verdict], c->name);
        print_rows(file, c);
        fprintf(file, r->text[0] != '\0' ? ": %s\n" : "\n", r->text);
    }
    fprintf(file,
            "%zu case%s: %zu passed, %zu failed",
            ran,
            ran == 1 ? "" : "s",
            run->verdicts[CONFORM_PASS],
            run->verdicts[CONFORM_FAIL]);
    if (run->verdicts[CONFORM_TIMEOUT] != 0) {
        fprintf(file, ", %zu out of time", run->verdicts[CONFORM_TIMEOUT]);
    }
    if (run->verdicts[CONFORM_ERROR] != 0) {
        fprintf(file, ", %zu without an answer", run->verdicts[CONFORM_ERROR]);
    }
    if (run->verdicts[CONFORM_UNSUPPORTED] != 0) {
        fprintf(file, "; %zu not run", run->verdicts[CONFORM_UNSUPPORTED]);
    }
    fputc('\n', file);
}

static json_t *ids_json(const struct conform_case *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->row_count; i++) {
        (void)json_array_append_new(list, json_string(c->rows[i]));
    }
    return list;
}

json_t *conform_json(const struct conform_run *run)
{
    json_t *list = json_array(), *root = json_object();

    (void)json_object_set_new(
        root, "against", run->against != NULL ? facet_json_name(run->against) : json_null());
    (void)json_object_set_new(root, "total", json_integer((json_int_t)run->count));
    for (unsigned v = 0; v < CONFORM_VERDICTS; v++) {
        static const char *const keys[] = {"passed", "failed", "timeouts", "errors", "unsupported"};

        (void)json_object_set_new(root, keys[v], json_integer((json_int_t)run->verdicts[v]));
    }
    for (size_t i = 0; i < run->count; i++) {
        const struct conform_case *c = &run->suite->cases[run->chosen[i]];
        const struct conform_result *r = &run->results[i];
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:o, s:s}",
                      "case",
                      c->name,
                      "kind",
                      conform_kind_name[c->kind],
                      "source",
                      c->source,
                      "rows",
                      ids_json(c),
                      "verdict",
                      r->verdict == CONFORM_FAIL ? "fail" : conform_verdict_name[r->verdict]);

        if (r->text[0] != '\0') {
            (void)json_object_set_new(object, "text", facet_json_name(r->text));
        }
        (void)json_array_append_new(list, object);
    }
    (void)json_object_set_new(root, "cases", list);
    return root;
}

bool conform_good(const struct conform_run *run)
{
    return run->verdicts[CONFORM_PASS] + run->verdicts[CONFORM_UNSUPPORTED] == run->count;
}

/* ---- rows ---- */

struct count {
    char area[16];
    size_t rows, cases, reasons; /* rows that have a case; a reason, and no case */
};
enum { AREAS = 32 };

static bool lacks(const struct conform_row *row)
{
    return row->cases == 0 && row->reason == NULL;
}

static size_t
count_rows(const struct conform_row *rows, const char *area, struct count counts[AREAS])
{
    size_t count = 0;

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        size_t length = strcspn(row->id, "-"), k = 0;

        if (!facet_card_area_has(area, row)) {
            continue;
        }
        while (k < count &&
               (strncmp(counts[k].area, row->id, length) != 0 || counts[k].area[length] != '\0')) {
            k++;
        }
        if (k == count && count < AREAS) {
            counts[count++] = (struct count){0};
            (void)snprintf(counts[k].area, sizeof counts[k].area, "%.*s", (int)length, row->id);
        }
        counts[k].rows++;
        counts[k].cases += rows[i].cases != 0;
        counts[k].reasons += rows[i].cases == 0 && rows[i].reason != NULL;
    }
    return count;
}

/* Of the rows that software can see. */
static double share(const struct count *c)
{
    size_t visible = c->rows - c->reasons;

    return visible != 0 ? 100.0 * (double)c->cases / (double)visible : 100.0;
}

static void print_count(FILE *file, const struct count *c)
{
    fprintf(file,
            "%-6s %6zu %6zu %8zu %8zu %7.1f %%\n",
            c->area,
            c->rows,
            c->cases,
            c->reasons,
            c->rows - c->cases - c->reasons,
            share(c));
}

static struct count sum_of(const struct count *counts, size_t count)
{
    struct count sum = {.area = "all"};

    for (size_t i = 0; i < count; i++) {
        sum.rows += counts[i].rows;
        sum.cases += counts[i].cases;
        sum.reasons += counts[i].reasons;
    }
    return sum;
}

bool conform_has_area(const char *area)
{
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        if (facet_card_area_has(area, &facet_requirement_rows[i])) {
            return true;
        }
    }
    return false;
}

void conform_print_rows(FILE *file, const struct conform_row *rows, const char *area, bool missing)
{
    struct count counts[AREAS];
    size_t count = count_rows(rows, area, counts);
    struct count sum = sum_of(counts, count);

    fprintf(
        file, "%-6s %6s %6s %8s %8s %9s\n", "area", "rows", "case", "reason", "neither", "share");
    for (size_t i = 0; i < count; i++) {
        print_count(file, &counts[i]);
    }
    print_count(file, &sum);
    for (size_t i = 0; missing && i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];

        if (facet_card_area_has(area, row) && lacks(&rows[i])) {
            fprintf(file, "%s\t%s\n", row->id, row->requirement);
        }
    }
}

static json_t *count_json(const struct count *c)
{
    return json_pack("{s:s, s:I, s:I, s:I}",
                     "area",
                     c->area,
                     "rows",
                     (json_int_t)c->rows,
                     "cases",
                     (json_int_t)c->cases,
                     "reasons",
                     (json_int_t)c->reasons);
}

json_t *conform_rows_json(const struct conform_row *rows, const char *area, bool missing)
{
    struct count counts[AREAS];
    size_t count = count_rows(rows, area, counts);
    struct count sum = sum_of(counts, count);
    json_t *areas = json_array(), *list = json_array(), *root = count_json(&sum);

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(areas, count_json(&counts[i]));
    }
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];

        if (facet_card_area_has(area, row) && (!missing || lacks(&rows[i]))) {
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:I, s:s?}",
                                                  "id",
                                                  row->id,
                                                  "cases",
                                                  (json_int_t)rows[i].cases,
                                                  "reason",
                                                  rows[i].reason));
        }
    }
    (void)json_object_set_new(root, "areas", areas);
    (void)json_object_set_new(root, missing ? "missing" : "list", list);
    return root;
}
