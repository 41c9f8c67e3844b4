/* See command.h: Facet and its peer in turn, then medians and ratios. */
#include "bench/command.h"

#include "command/output.h"

#include "base/array.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/progress.h"
#include "bench/report.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RUNS = 999 };

/* What to run: all areas or one, of it all results or those that are named. */
struct plan {
    const struct bench_area *area;
    char *const *names;
    int name_count;
    uint64_t runs;
    double seconds;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], by_value);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void conclude(struct bench_result *r, double *facet, double *peer, size_t runs)
{
    double ratios[MAX_RUNS];

    if (r->has_peer) {
        for (size_t i = 0; i < runs; i++) {
            ratios[i] = facet[i] / peer[i];
        }
        r->peer = median(peer, runs);
        r->ratio = median(ratios, runs);
        r->least_ratio = ratios[0];
        r->most_ratio = ratios[runs - 1];
    }
    r->facet = median(facet, runs);
}

/* Fills the result, whose measure is set. A peer that fails is left out with a word about it. */
static enum facet_status measure(const struct cli_args *args,
                                 const struct plan *plan,
                                 struct bench_result *r,
                                 struct facet_error *err)
{
    const struct bench_measure *m = r->measure;
    const struct facet_progress_config config = {.label = m->name,
                                                 .unit = "runs",
                                                 .total = plan->runs,
                                                 .fd = STDERR_FILENO,
                                                 .quiet = args->quiet};
    double facet[MAX_RUNS], peer[MAX_RUNS];
    enum facet_status status = FACET_OK;
    struct facet_progress progress;
    struct facet_error no_peer;

    facet_progress_start(&progress, &config);
    r->has_peer = m->peer != NULL && m->peer_run != NULL;
    for (uint64_t i = 0; status == FACET_OK && i < plan->runs; i++) {
        status = m->facet(plan->seconds, &facet[i], err);
        if (status == FACET_OK && r->has_peer &&
            m->peer_run(plan->seconds, &peer[i], &no_peer) != FACET_OK) {
            r->has_peer = false;
            fprintf(stderr, "facet bench: %s: no peer: %s\n", m->name, no_peer.message);
        }
        facet_progress_add(&progress, 1);
    }
    facet_progress_finish(&progress);
    if (status == FACET_OK) {
        conclude(r, facet, peer, plan->runs);
    }
    return status;
}

static void print_text(const struct bench_result *r)
{
    const struct bench_measure *m = r->measure;

    printf("  %-24s %12.4g %-10s", m->name, r->facet, m->unit);
    if (r->has_peer) {
        printf(" %12.4g  %6.2fx  %s\n", r->peer, r->ratio, m->peer);
    } else {
        printf(" %12s  %7s  %s\n", "-", "-", m->peer != NULL ? m->peer : "(no peer)");
    }
    (void)fflush(stdout);
}

static json_t *real_or_null(bool there, double value)
{
    return there ? json_real(value) : json_null();
}

static json_t *to_json(const struct bench_result *r)
{
    return json_pack("{s:s, s:s, s:f, s:s?, s:o, s:o, s:o}",
                     "name",
                     r->measure->name,
                     "unit",
                     r->measure->unit,
                     "facet",
                     r->facet,
                     "peer",
                     r->has_peer ? r->measure->peer : NULL,
                     "peer_value",
                     real_or_null(r->has_peer, r->peer),
                     "ratio",
                     real_or_null(r->has_peer, r->ratio),
                     "ratio_range",
                     r->has_peer ? json_pack("[f, f]", r->least_ratio, r->most_ratio)
                                 : json_null());
}

static int print_json(const struct cli_args *args, const struct bench_report *report)
{
    json_t *about = json_object(), *areas = json_array(), *results = NULL;
    struct bench_fact facts[BENCH_FACTS];

    bench_facts(facts);
    for (size_t i = 0; i < BENCH_FACTS; i++) {
        (void)json_object_set_new(about, facts[i].name, json_string(facts[i].value));
    }
    for (size_t i = 0; i < report->count; i++) {
        const struct bench_result *r = &report->results[i];

        if (i == 0 || r->area != r[-1].area) {
            results = json_array();
            (void)json_array_append_new(
                areas, json_pack("{s:s, s:o}", "area", r->area->name, "results", results));
        }
        (void)json_array_append_new(results, to_json(r));
    }
    return cli_print_json(args,
                          json_pack("{s:o, s:I, s:f, s:o}",
                                    "about",
                                    about,
                                    "runs",
                                    (json_int_t)report->runs,
                                    "seconds",
                                    report->seconds,
                                    "areas",
                                    areas));
}

static int
write_page(const struct cli_args *args, const struct bench_report *report, const char *path)
{
    enum facet_status status;
    struct facet_strbuf page;
    struct facet_error err;

    facet_strbuf_init(&page);
    bench_page(&page, report);
    status = page.failed ? facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for the page")
                         : facet_file_write(path, page.text, page.length, &err);
    facet_strbuf_free(&page);
    return status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
}

static int list_areas(const struct cli_args *args)
{
    json_t *list = json_array();

    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        const struct bench_area *area = bench_areas[i];
        json_t *names = json_array();

        if (!args->json) {
            printf("%-8s %s\n", area->name, area->summary);
        }
        for (const struct bench_measure *m = area->measures; m->name != NULL; m++) {
            (void)json_array_append_new(names, json_string(m->name));
            if (!args->json) {
                printf("%s%s", m == area->measures ? "         " : ", ", m->name);
            }
        }
        if (!args->json) {
            printf("\n");
        }
        (void)json_array_append_new(
            list,
            json_pack(
                "{s:s, s:s, s:o}", "area", area->name, "summary", area->summary, "results", names));
    }
    if (args->json) {
        return cli_print_json(args, json_pack("{s:o}", "areas", list));
    }
    json_decref(list);
    return CLI_OK;
}

static bool is_wanted(const struct plan *plan, const char *name)
{
    bool wanted = plan->name_count == 0;

    for (int i = 0; i < plan->name_count && !wanted; i++) {
        wanted = strcmp(plan->names[i], name) == 0;
    }
    return wanted;
}

/* The results that the plan asks for, still to be measured; NULL without memory. */
static struct bench_result *wanted_results(const struct plan *plan, size_t *count)
{
    struct facet_array list = {0};

    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        const struct bench_measure *m = bench_areas[i]->measures;

        if (plan->area == NULL ? bench_areas[i]->by_name : plan->area != bench_areas[i]) {
            continue;
        }
        for (; m->name != NULL; m++) {
            struct bench_result *r;

            if (!is_wanted(plan, m->name)) {
                continue;
            }
            r = facet_array_add(&list, 1, sizeof *r);
            if (r == NULL) {
                free(list.items);
                return NULL;
            }
            *r = (struct bench_result){.area = bench_areas[i], .measure = m};
        }
    }
    *count = list.count;
    return list.items;
}

/* Measures; without --json each line is printed as it comes. */
static int measure_all(const struct cli_args *args,
                       const struct plan *plan,
                       size_t count,
                       struct bench_result *results)
{
    struct facet_error err = {0};

    for (size_t i = 0; i < count; i++) {
        struct bench_result *r = &results[i];

        if (!args->json && (i == 0 || r->area != r[-1].area)) {
            printf("%s: %s\n", r->area->name, r->area->summary);
            printf(
                "  %-24s %12s %-10s %12s  %7s  %s\n", "", "facet", "", "peer", "ratio", "peer is");
        }
        if (measure(args, plan, r, &err) != FACET_OK) {
            return cli_bad(args, "%s %s: %s", r->area->name, r->measure->name, err.message);
        }
        if (!args->json) {
            print_text(r);
        }
    }
    return CLI_OK;
}

static int run_plan(const struct cli_args *args, const struct plan *plan)
{
    const char *page = cli_value(args, "html");
    struct bench_report report = {.runs = plan->runs, .seconds = plan->seconds};
    int code;

    if (page != NULL && !cli_can_write(args, page)) {
        return CLI_BAD;
    }
    report.results = wanted_results(plan, &report.count);
    if (report.results == NULL) {
        return cli_bad(args, "no memory for the results");
    }
    code = measure_all(args, plan, report.count, report.results);
    if (code == CLI_OK && page != NULL) {
        code = write_page(args, &report, page);
    }
    if (code == CLI_OK && args->json) {
        code = print_json(args, &report);
    }
    free(report.results);
    return code;
}

static int unknown(const struct cli_args *args,
                   const char *what,
                   const char *name,
                   const struct facet_nearest *near)
{
    return near->best != NULL
               ? cli_bad(args, "unknown %s '%s'; did you mean '%s'?", what, name, near->best)
               : cli_bad(args, "unknown %s '%s'; facet bench --list names them", what, name);
}

static int find_area(const struct cli_args *args, const char *wanted, struct plan *plan)
{
    struct facet_nearest near = facet_nearest_to(wanted, strlen(wanted));

    for (size_t i = 0; bench_areas[i] != NULL; i++) {
        if (strcmp(bench_areas[i]->name, wanted) == 0) {
            plan->area = bench_areas[i];
            return CLI_OK;
        }
        facet_nearest_offer(&near, bench_areas[i]->name, strlen(bench_areas[i]->name));
    }
    return unknown(args, "area", wanted, &near);
}

static int check_names(const struct cli_args *args, const struct plan *plan)
{
    for (int i = 0; i < plan->name_count; i++) {
        const char *name = plan->names[i];
        struct facet_nearest near = facet_nearest_to(name, strlen(name));
        const struct bench_measure *m = plan->area->measures;

        for (; m->name != NULL && strcmp(m->name, name) != 0; m++) {
            facet_nearest_offer(&near, m->name, strlen(m->name));
        }
        if (m->name == NULL) {
            return unknown(args, "result", name, &near);
        }
    }
    return CLI_OK;
}

int bench_command(const struct cli_args *args)
{
    const char *wanted = args->positional_count > 0 ? args->positional[0] : NULL;
    struct plan plan = {.runs = 5, .seconds = 0.2};
    int code;

    if (!cli_number(args, "runs", 1, MAX_RUNS, &plan.runs) ||
        !cli_real(args, "seconds", 0.001, 60, &plan.seconds)) {
        return CLI_BAD;
    }
    if (wanted == NULL || cli_given(args, "list")) {
        return list_areas(args);
    }
    if (strcmp(wanted, "all") != 0) {
        plan.names = args->positional + 1;
        plan.name_count = args->positional_count - 1;
        code = find_area(args, wanted, &plan);
        code = code == CLI_OK ? check_names(args, &plan) : code;
        return code == CLI_OK ? run_plan(args, &plan) : code;
    }
    if (args->positional_count > 1) {
        return cli_bad(
            args, "'%s' after 'all'; results are named after their area", args->positional[1]);
    }
    return run_plan(args, &plan);
}
