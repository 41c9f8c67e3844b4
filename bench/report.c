#include "bench/report.h"

#include "bench/commit.h"

#include <facet/version.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* ---- where and when ---------------------------------------------------------------------------
 */

/* What the processor calls itself, where it can be asked. */
static bool processor_name(char *name, size_t size)
{
    unsigned words[13] = {0};

#ifdef __x86_64__
    if ((unsigned)__get_cpuid_max(0x80000000, NULL) >= 0x80000004) {
        for (unsigned i = 0; i < 3; i++) {
            unsigned *four = &words[(size_t)4 * i];

            (void)__get_cpuid(0x80000002 + i, &four[0], &four[1], &four[2], &four[3]);
        }
    }
#endif
    (void)snprintf(name, size, "%.48s", (const char *)words + strspn((const char *)words, " "));
    return name[0] != '\0';
}

void bench_facts(struct bench_fact facts[BENCH_FACTS])
{
    static const char *const names[BENCH_FACTS] = {
        "facet", "compiler", "processor", "system", "date"};
    static time_t now; /* of the first call: a page and its JSON have one date */
    struct utsname host = {.sysname = "unknown"};
    char processor[128];
    struct tm date;

    now = now != 0 ? now : time(NULL);
    for (size_t i = 0; i < BENCH_FACTS; i++) {
        facts[i].name = names[i];
        facts[i].value[0] = '\0';
    }
    (void)uname(&host);
    if (!processor_name(processor, sizeof processor)) {
        (void)snprintf(processor, sizeof processor, "%.60s", host.machine);
    }
    (void)snprintf(facts[0].value,
                   BENCH_FACT_MAX,
                   "%s%s%s",
                   facet_version(),
                   FACET_COMMIT[0] != '\0' ? ", commit " : "",
                   FACET_COMMIT);
#ifdef __clang__
    (void)snprintf(facts[1].value, BENCH_FACT_MAX, "%.100s", __VERSION__);
#else
    (void)snprintf(facts[1].value, BENCH_FACT_MAX, "GCC %.100s", __VERSION__);
#endif
    (void)snprintf(
        facts[2].value, BENCH_FACT_MAX, "%s, %ld online", processor, sysconf(_SC_NPROCESSORS_ONLN));
    (void)snprintf(facts[3].value,
                   BENCH_FACT_MAX,
                   "%.60s %.60s %.60s",
                   host.sysname,
                   host.release,
                   host.machine);
    if (gmtime_r(&now, &date) != NULL) {
        (void)strftime(facts[4].value, BENCH_FACT_MAX, "%Y-%m-%dT%H:%M:%SZ", &date);
    }
}

/* ---- the page ---------------------------------------------------------------------------------
 */

static const char style[] =
    "  :root { color-scheme: light dark; --ink: #1b1f24; --dim: #667; --back: #fff; --line: "
    "#e3e5e9;\n"
    "    --facet: #2f6fde; --peer: #b8bfca; --good: #1a7f4b; --bad: #b3421e }\n"
    "  @media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --dim: #99a; --back: "
    "#15181d;\n"
    "    --line: #2b3038; --facet: #6b9cf5; --peer: #59616e; --good: #5fce95; --bad: #f0906b } }\n"
    "  body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back);\n"
    "    max-width: 60em; margin: 2em auto; padding: 0 1em }\n"
    "  h1 { font-size: 1.6em } h2 { font-size: 1.15em; margin: 2em 0 .2em }\n"
    "  p, dl { color: var(--dim); margin: .2em 0 1em } dl { display: grid; grid-template-columns: "
    "max-content 1fr;\n"
    "    column-gap: 1em } dt { font-weight: 600 } dd { margin: 0 }\n"
    "  table { width: 100%; border-collapse: collapse } td { padding: .45em .6em .45em 0;\n"
    "    border-top: 1px solid var(--line); vertical-align: top } .name { width: 13em }\n"
    "  .ratio { width: 8em; text-align: right; font-weight: 600; font-variant-numeric: "
    "tabular-nums }\n"
    "  .ratio small { display: block; font-weight: 400; color: var(--dim) }\n"
    "  .faster { color: var(--good) } .slower { color: var(--bad) }\n"
    "  .bar { display: flex; align-items: center; gap: .6em; font-size: .85em; white-space: nowrap "
    "}\n"
    "  .bar i { height: .8em; border-radius: 2px; min-width: 2px; flex: none; background: "
    "var(--peer) }\n"
    "  .facet i { background: var(--facet) } .bar span { color: var(--dim) }\n";

/* The longer of the two bars of a result takes 50 % of its cell; the rest is for the words. */
static void put_bar(struct facet_strbuf *out,
                    const char *class,
                    double value,
                    double longest,
                    const char *unit,
                    const char *who)
{
    facet_strbuf_printf(out,
                        "<div class=\"bar%s\"><i style=\"width: %.1f%%\"></i><span>%.4g ",
                        class,
                        50 * value / longest,
                        value);
    facet_strbuf_escaped(out, unit);
    facet_strbuf_puts(out, " ");
    facet_strbuf_escaped(out, who);
    facet_strbuf_puts(out, "</span></div>");
}

static void put_result(struct facet_strbuf *out, const struct bench_result *r)
{
    const double longest = r->has_peer && r->peer > r->facet ? r->peer : r->facet;

    facet_strbuf_puts(out, "<tr><td class=\"name\">");
    facet_strbuf_escaped(out, r->measure->name);
    facet_strbuf_puts(out, "</td><td>");
    put_bar(out, " facet", r->facet, longest, r->measure->unit, "");
    if (!r->has_peer) {
        facet_strbuf_puts(out, "</td><td class=\"ratio\"></td></tr>\n");
        return;
    }
    put_bar(out, "", r->peer, longest, r->measure->unit, r->measure->peer);
    facet_strbuf_printf(out,
                        "</td><td class=\"ratio %s\">%.2f ×<small>%.2f to %.2f</small></td></tr>\n",
                        r->ratio >= 1 ? "faster" : "slower",
                        r->ratio,
                        r->least_ratio,
                        r->most_ratio);
}

void bench_page(struct facet_strbuf *out, const struct bench_report *report)
{
    struct bench_fact facts[BENCH_FACTS];
    const struct bench_area *area = NULL;

    bench_facts(facts);
    facet_strbuf_printf(out,
                        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width\">\n"
                        "<title>Facet: speed</title>\n<style>\n%s</style>\n</head>\n<body>\n"
                        "<h1>Facet beside its peers</h1>\n<dl>\n",
                        style);
    for (size_t i = 0; i < BENCH_FACTS; i++) {
        facet_strbuf_printf(out, "<dt>%s</dt><dd>", facts[i].name);
        facet_strbuf_escaped(out, facts[i].value);
        facet_strbuf_puts(out, "</dd>\n");
    }
    facet_strbuf_printf(
        out,
        "</dl>\n<p>Rates: a longer bar is faster. Facet and its peer were measured in turn, "
        "%llu times each for about %g s; the bars and the ratio are medians, the small figures the "
        "least and the largest ratio of one turn.</p>\n",
        (unsigned long long)report->runs,
        report->seconds);
    for (size_t i = 0; i < report->count; i++) {
        const struct bench_result *r = &report->results[i];

        if (r->area != area) {
            facet_strbuf_puts(out, area != NULL ? "</table>\n<h2>" : "<h2>");
            area = r->area;
            facet_strbuf_escaped(out, area->name);
            facet_strbuf_puts(out, "</h2>\n<p>");
            facet_strbuf_escaped(out, area->summary);
            facet_strbuf_puts(out, "</p>\n<table>\n");
        }
        put_result(out, r);
    }
    facet_strbuf_puts(out, area != NULL ? "</table>\n</body>\n</html>\n" : "</body>\n</html>\n");
}
