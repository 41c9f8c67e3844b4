/* `facet coverage`: which requirement rows of spec/ a passing test names, and which tests name a
 * row. The rows are the generated table; the tests' side is what the last run left behind
 * (cards/results.h). */
#include "command/command.h"

#include "cards/area.h"
#include "cards/card.h"
#include "json/json.h"

#include <stdio.h>

/* -- Counts per area ------------------------------------------------------------------------------
 */

static struct facet_card_area sum_of(const struct facet_card_area *areas, size_t count)
{
    struct facet_card_area sum = {.name = "all"};

    for (size_t i = 0; i < count; i++) {
        sum.rows += areas[i].rows;
        sum.named += areas[i].named;
    }
    return sum;
}

static json_t *unknown_ids(const struct facet_results *results)
{
    json_t *object = json_object();
    const struct facet_test *test;
    const char *id;

    for (size_t n = 0; (id = facet_results_unknown(results, n, &test)) != NULL; n++) {
        (void)json_object_set_new(object, id, json_sprintf("%s: %s", test->suite, test->name));
    }
    return object;
}

static json_t *missing_ids(const struct facet_results *results, const char *only)
{
    json_t *ids = json_array();

    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        if (facet_card_area_has(only, row) && !facet_results_prove(results, row)) {
            (void)json_array_append_new(ids, json_string(row->id));
        }
    }
    return ids;
}

static void print_area(const struct facet_card_area *area)
{
    double share = area->rows > 0 ? 100.0 * (double)area->named / (double)area->rows : 0;

    printf("%-6s %6zu %6zu %6.1f %%\n", area->name, area->rows, area->named, share);
}

static void
print_counts(const struct facet_card_area *areas, size_t count, json_t *missing, json_t *unknown)
{
    struct facet_card_area sum = sum_of(areas, count);
    const char *id;
    json_t *value;
    size_t i;

    printf("%-6s %6s %6s %8s\n", "area", "rows", "named", "share");
    for (i = 0; i < count; i++) {
        print_area(&areas[i]);
    }
    print_area(&sum);
    json_array_foreach(missing, i, value)
    {
        id = json_string_value(value);
        printf("%s\t%s\n", id, facet_requirement_find(id)->requirement);
    }
    json_object_foreach(unknown, id, value)
    {
        printf("unknown ID %s in %s\n", id, json_string_value(value));
    }
}

static json_t *
counts_json(const struct facet_card_area *areas, size_t count, json_t *missing, json_t *unknown)
{
    struct facet_card_area sum = sum_of(areas, count);
    json_t *list = json_array();

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
    return json_pack("{s:o, s:I, s:I, s:O, s:O*}",
                     "areas",
                     list,
                     "rows",
                     (json_int_t)sum.rows,
                     "named",
                     (json_int_t)sum.named,
                     "unknown",
                     unknown,
                     "missing",
                     missing);
}

static int report_counts(const struct cli_args *args, const struct facet_results *results)
{
    const char *only = cli_value(args, "area");
    struct facet_card_area areas[FACET_CARD_AREAS];
    size_t count = facet_card_area_count(results, only, areas);
    json_t *missing = NULL, *unknown;
    int code = CLI_OK;

    if (count == 0) {
        return cli_bad(args, "no requirement has an ID that starts with '%s-'", only);
    }
    if (cli_given(args, "missing")) {
        missing = missing_ids(results, only);
    }
    unknown = unknown_ids(results);
    if (args->json) {
        code = cli_print_json(args, counts_json(areas, count, missing, unknown));
    } else {
        print_counts(areas, count, missing, unknown);
    }
    if (code == CLI_OK && json_object_size(unknown) > 0) {
        code = CLI_NO;
    }
    json_decref(missing);
    json_decref(unknown);
    return code;
}

/* -- Rows -----------------------------------------------------------------------------------------
 */

/* The first pattern that no row answers to, or NULL. */
static const char *idle_pattern(const struct cli_args *args)
{
    for (int p = 0; p < args->positional_count; p++) {
        size_t i = 0;
        while (i < facet_requirement_row_count &&
               !facet_card_area_asked(args->positional[p], &facet_requirement_rows[i])) {
            i++;
        }
        if (i == facet_requirement_row_count) {
            return args->positional[p];
        }
    }
    return NULL;
}

static void print_row(const struct facet_results *results, const struct facet_requirement_row *row)
{
    const struct facet_test *test = facet_results_test(results, row, 0);
    const char *id = row->id;

    if (test == NULL) {
        printf("%-10s none\n", id);
    }
    for (size_t n = 0; (test = facet_results_test(results, row, n)) != NULL; n++) {
        printf("%-10s %s  %s:%s\n", id, facet_outcome_name[test->outcome], test->suite, test->name);
        id = "";
    }
}

static int report_rows(const struct cli_args *args, const struct facet_results *results)
{
    const char *only = cli_value(args, "area"), *idle = idle_pattern(args);
    bool missing = cli_given(args, "missing");
    size_t chosen = 0, shown = 0;
    json_t *list;

    if (idle != NULL) {
        return cli_bad(args, "no requirement has the ID '%s' or one of that area or pattern", idle);
    }
    list = json_array();
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        bool asked = args->positional_count == 0;
        for (int p = 0; p < args->positional_count && !asked; p++) {
            asked = facet_card_area_asked(args->positional[p], row);
        }
        if (!asked || !facet_card_area_has(only, row)) {
            continue;
        }
        chosen++;
        if (missing && facet_results_prove(results, row)) {
            continue;
        }
        shown++;
        if (args->json) {
            const char *result = facet_outcome_name[facet_results_outcome(results, row)];
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s, s:o}",
                                                  "id",
                                                  row->id,
                                                  "result",
                                                  result,
                                                  "tests",
                                                  facet_card_tests(results, row)));
        } else {
            print_row(results, row);
        }
    }
    if (chosen == 0) {
        json_decref(list);
        return cli_bad(args, "none of the requested rows belongs to area '%s'", only);
    }
    if (args->json) {
        return cli_print_json(args, json_pack("{s:o}", "rows", list));
    }
    json_decref(list);
    if (shown == 0) {
        printf("a passing test names each of the %zu rows\n", chosen);
    }
    return CLI_OK;
}

static int run_coverage(const struct cli_args *args)
{
    const char *folder = cli_value(args, "results");
    struct facet_results *results = NULL;
    struct facet_error err = {0};
    bool rows = cli_given(args, "rows");
    char beside[4096];
    int code;

    if (!rows && args->positional_count > 0) {
        return cli_bad(args, "'%s' needs --rows before it", args->positional[0]);
    }
    facet_results_folder(beside, sizeof beside);
    if (facet_results_read(folder != NULL ? folder : beside, &results, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (results == NULL && folder != NULL) {
        return cli_bad(args, "%s: no such folder of test results", folder);
    }
    if (results == NULL) {
        fprintf(stderr, "facet coverage: no test has run yet (`make test` fills %s)\n", beside);
    }
    code = rows ? report_rows(args, results) : report_counts(args, results);
    facet_results_free(results);
    return code;
}

static const struct cli_option options[] = {
    {"rows", 'R', NULL, "list rows with the tests that name them and their results"},
    {"area", 'a', "AREA", "only this area: CAP, PM, XM, RSV, RT, GFX, MTX, TILE or G12"},
    {"results", 'r', "DIR", "folder of result files (default: test-results beside the program)"},
    {"missing", 'm', NULL, "list the rows that no passing test names"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_coverage = {
    .name = "coverage",
    .summary = "count the requirements of the contract that a passing test names",
    .usage = "facet coverage [--area AREA] [--results DIR] [--missing] [--json]\n"
             "facet coverage --rows [ID|AREA|PATTERN...] [--area AREA] [--results DIR] [--missing] "
             "[--json]",
    .details =
        "Every testable statement of the contract (spec/*.requirements.tsv) has an ID, and every "
        "test names the IDs that it proves. The table shows, per area, how many rows there are "
        "and how many are named by a test that passed in the last `make test`. An ID in the "
        "results that no row has is reported, and the exit code is then 1.\n\n"
        "With --rows: each row with the tests that name it, as suite:case, and their results: "
        "pass, fail, skip, or none where no test names the row. Rows are chosen by ID (RT-052), "
        "area (RT) or pattern (RT-05*); without any, all are listed. --missing leaves out the "
        "rows that a passing test names.",
    .examples =
        "facet coverage\nfacet coverage --area RT --json\nfacet coverage --rows RT-052 'CAP-19*'",
    .options = options,
    .has_json = true,
    .run = run_coverage,
};
