/* What a run of `facet bench` found, and the page that shows it. */
#ifndef FACET_BENCH_REPORT_H
#define FACET_BENCH_REPORT_H

#include "base/strbuf.h"
#include "bench/bench.h"

struct bench_result {
    const struct bench_area *area;
    const struct bench_measure *measure;
    bool has_peer;
    double facet, peer; /* medians */
    /* facet / peer, measured one after the other: the median of all turns, and the extremes. */
    double ratio, least_ratio, most_ratio;
};

struct bench_report {
    struct bench_result *results; /* those of an area lie together */
    size_t count;
    uint64_t runs;
    double seconds;
};

/* Where and when: lines of name and value. */
enum { BENCH_FACTS = 5, BENCH_FACT_MAX = 200 };
struct bench_fact {
    const char *name;
    char value[BENCH_FACT_MAX];
};
void bench_facts(struct bench_fact facts[BENCH_FACTS]);

/* Appends a whole HTML page, which needs nothing else: bars of Facet and its peers side by side. */
void bench_page(struct facet_strbuf *out, const struct bench_report *report);

#endif
