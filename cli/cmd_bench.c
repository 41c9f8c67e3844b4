/* `facet bench`: runs the measurements of an area (bench/bench.h), Facet and its peer in turn, and
 * prints medians and ratios. */
#include "command/command.h"

#include "base/nearest.h"
#include "base/progress.h"
#include "bench/bench.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RUNS = 999 };

struct result {
    double facet;
    double peer;
    bool has_peer;
    char why_no_peer[200];
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static enum facet_status measure(const struct cli_args *args,
                                 const struct bench_measure *m,
                                 uint64_t runs,
                                 double seconds,
                                 struct result *out,
                                 struct facet_error *err)
{
    const struct facet_progress_config config = {
        .label = m->name, .unit = "runs", .total = runs, .fd = STDERR_FILENO, .quiet = args->quiet};
    double facet[MAX_RUNS], peer[MAX_RUNS];
    enum facet_status status = FACET_OK;
    struct facet_progress progress;

    memset(out, 0, sizeof *out);
    facet_progress_start(&progress, &config);
    out->has_peer = m->peer != NULL && m->peer_run != NULL;
    for (uint64_t i = 0; status == FACET_OK && i < runs; i++) {
        status = m->facet(seconds, &facet[i], err);
        if (status == FACET_OK && out->has_peer &&
            m->peer_run(seconds, &peer[i], err) != FACET_OK) {
            out->has_peer = false;
            (void)snprintf(out->why_no_peer, sizeof out->why_no_peer, "%.199s", err->message);
        }
        facet_progress_add(&progress, 1);
    }
    facet_progress_finish(&progress);
    if (status != FACET_OK) {
        return status;
    }
    out->facet = median(facet, runs);
    out->peer = out->has_peer ? median(peer, runs) : 0;
    return FACET_OK;
}

static void print_text(const struct bench_measure *m, const struct result *r)
{
    printf("  %-24s %12.4g %-10s", m->name, r->facet, m->unit);
    if (r->has_peer) {
        printf(" %12.4g  %6.2fx  %s\n", r->peer, r->facet / r->peer, m->peer);
    } else {
        printf(" %12s  %7s  %s\n", "-", "-", m->peer != NULL ? m->peer : "(no peer)");
    }
}

static json_t *to_json(const struct bench_measure *m, const struct result *r)
{
    json_t *object = json_pack("{s:s, s:s, s:f, s:s?}",
                               "name",
                               m->name,
                               "unit",
                               m->unit,
                               "facet",
                               r->facet,
                               "peer",
                               r->has_peer ? m->peer : NULL);

    if (object != NULL) {
        (void)json_object_set_new(
            object, "peer_value", r->has_peer ? json_real(r->peer) : json_null());
        (void)json_object_set_new(
            object, "ratio", r->has_peer ? json_real(r->facet / r->peer) : json_null());
    }
    return object;
}

/* Runs one area; with --json its object is appended to `all`, else its table is printed. */
static int run_area(const struct cli_args *args,
                    const struct bench_area *area,
                    uint64_t runs,
                    double seconds,
                    json_t *all)
{
    json_t *results = json_array();
    struct facet_error err = {0};
    struct result r;

    if (!args->json) {
        printf("%s: %s\n", area->name, area->summary);
        printf("  %-24s %12s %-10s %12s  %7s  %s\n", "", "facet", "", "peer", "ratio", "peer is");
    }
    for (const struct bench_measure *m = area->measures; m->name != NULL; m++) {
        if (measure(args, m, runs, seconds, &r, &err) != FACET_OK) {
            json_decref(results);
            return cli_bad(args, "%s %s: %s", area->name, m->name, err.message);
        }
        if (r.why_no_peer[0] != '\0') {
            fprintf(stderr, "facet bench: %s: no peer: %s\n", m->name, r.why_no_peer);
        }
        if (args->json) {
            (void)json_array_append_new(results, to_json(m, &r));
        } else {
            print_text(m, &r);
            (void)fflush(stdout);
        }
    }
    (void)json_array_append_new(all,
                                json_pack("{s:s, s:o}", "area", area->name, "results", results));
    return CLI_OK;
}

static int list_areas(const struct cli_args *args)
{
    json_t *list = json_array();

    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        if (args->json) {
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s}",
                                                  "area",
                                                  bench_areas[i]->name,
                                                  "summary",
                                                  bench_areas[i]->summary));
        } else {
            printf("%-8s %s\n", bench_areas[i]->name, bench_areas[i]->summary);
        }
    }
    if (args->json) {
        return cli_print_json(args, json_pack("{s:o}", "areas", list));
    }
    json_decref(list);
    return CLI_OK;
}

/* One area, or without `only` all of them: the same shape of JSON. */
static int
run_areas(const struct cli_args *args, const struct bench_area *only, uint64_t runs, double seconds)
{
    json_t *all = json_array();
    int code = CLI_OK;

    for (size_t i = 0; bench_areas[i] != NULL && code == CLI_OK; i++) {
        if (only == NULL || only == bench_areas[i]) {
            code = run_area(args, bench_areas[i], runs, seconds, all);
        }
    }
    if (code == CLI_OK && args->json) {
        return cli_print_json(args, json_pack("{s:o}", "areas", all));
    }
    json_decref(all);
    return code;
}

static int run_bench(const struct cli_args *args)
{
    const char *wanted = args->positional_count > 0 ? args->positional[0] : NULL;
    struct facet_nearest near;
    uint64_t runs = 5;
    double seconds = 0.2;

    if (!cli_number(args, "runs", 5, MAX_RUNS, &runs) ||
        !cli_real(args, "seconds", 0.001, 60, &seconds)) {
        return CLI_BAD;
    }
    if (wanted == NULL || cli_given(args, "list")) {
        return list_areas(args);
    }
    if (strcmp(wanted, "all") == 0) {
        return run_areas(args, NULL, runs, seconds);
    }
    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        if (strcmp(bench_areas[i]->name, wanted) == 0) {
            return run_areas(args, bench_areas[i], runs, seconds);
        }
    }
    near = facet_nearest_to(wanted, strlen(wanted));
    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        facet_nearest_offer(&near, bench_areas[i]->name, strlen(bench_areas[i]->name));
    }
    if (near.best != NULL) {
        return cli_bad(args, "unknown area '%s'; did you mean '%s'?", wanted, near.best);
    }
    return cli_bad(args, "unknown area '%s'; facet bench --list names them", wanted);
}

static const struct cli_option options[] = {
    {"list", 'l', NULL, "list the areas"},
    {"runs", 'r', "N", "measurements of which the median is taken, at least 5 (default 5)"},
    {"seconds", 's', "S", "length of one measurement (default 0.2)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bench = {
    .name = "bench",
    .summary = "measure the speed of an area, compared with its peers",
    .usage = "facet bench AREA|all [--runs N] [--seconds S] [--json]\nfacet bench [--list]",
    .details =
        "Facet and its peer are measured in turn, each --runs times; the medians and their ratio "
        "are printed. All values are rates: a ratio above 1 means that Facet is faster. A peer "
        "that is not installed is reported on standard error and left out.",
    .examples = "facet bench --list",
    .options = options,
    .has_json = true,
    .run = run_bench,
    .operands = "[AREA]",
};
