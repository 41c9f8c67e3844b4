/* See report.h. */
#include "timing/report_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What limits the core, with the unit's name. */
void timing_core_limit(const struct timing_core_report *core, char text[TIMING_LIMIT_SIZE])
{
    (void)snprintf(text,
                   TIMING_LIMIT_SIZE,
                   "%s%s%s",
                   timing_reason_name(core->limit),
                   core->limit == TIMING_UNIT ? " " : "",
                   core->limit == TIMING_UNIT ? timing_class_name(core->unit) : "");
}

void timing_segment_limit(const struct timing_segment *s, char text[TIMING_LIMIT_SIZE])
{
    if (s->cores == NULL) {
        (void)snprintf(text,
                       TIMING_LIMIT_SIZE,
                       "%s",
                       s->draw.cycles != 0 ? timing_stage_name(s->draw.limit) : "the queue");
    } else if (s->report.cycles > s->cores[s->report.critical].cycles) {
        (void)snprintf(text, TIMING_LIMIT_SIZE, "%s", timing_reason_name(TIMING_BANDWIDTH));
    } else {
        timing_core_limit(&s->cores[s->report.critical], text);
    }
}

/* The one that takes longest; NULL when there is none. */
static const struct timing_segment *longest(const struct timing_segment *segments, size_t count)
{
    const struct timing_segment *most = NULL;

    for (size_t i = 0; i < count; i++) {
        most = most == NULL || segments[i].cycles > most->cycles ? &segments[i] : most;
    }
    return most;
}

uint64_t timing_total(const struct timing_segment *segments, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += segments[i].cycles;
    }
    return sum;
}

size_t timing_index_of(struct timing_names names, const struct timing_segment *s)
{
    return s->command < names.count ? names.index[s->command] : (size_t)s->command;
}

/* Tenths of a percent. */
static void put_share(struct facet_strbuf *out, int width, uint64_t part, uint64_t whole)
{
    const uint64_t tenths = whole != 0 ? (uint64_t)((double)part / (double)whole * 1000 + 0.5) : 0;

    facet_strbuf_printf(
        out, "%*" PRIu64 ".%" PRIu64, width > 2 ? width - 2 : 0, tenths / 10, tenths % 10);
}

static void
put_cores(const timing_collector *c, const struct timing_segment *s, struct facet_strbuf *out)
{
    static const char *const heads[TIMING_REASONS] = {
        "issue", "depend", "unit", "memory", "lines", "bandw", "branch", "draws", "tiles"};

    facet_strbuf_puts(out, "  core      cycles");
    for (unsigned i = 0; i < TIMING_REASONS; i++) {
        facet_strbuf_printf(out, "%7s", heads[i]);
    }
    facet_strbuf_puts(out, "  (% of the core's cycles)\n");
    for (uint32_t i = 0; i < timing_collector_cores(c); i++) {
        const struct timing_core_report *core = &s->cores[i];

        if (core->instructions == 0) {
            continue;
        }
        facet_strbuf_printf(out, "  %4u%12" PRIu64, (unsigned)i, core->cycles);
        for (unsigned k = 0; k < TIMING_REASONS; k++) {
            put_share(out, 7, core->reason[k], core->cycles);
        }
        facet_strbuf_puts(out, "\n");
    }
}

/* Of all cores together, as a share of what they could have done. */
static void
put_units(const timing_collector *c, const struct timing_segment *s, struct facet_strbuf *out)
{
    const uint32_t cores = timing_collector_cores(c);
    uint64_t running = 0;

    for (uint32_t i = 0; i < cores; i++) {
        running += s->cores[i].instructions != 0;
    }
    facet_strbuf_puts(out, "  busy (%):");
    for (uint32_t cls = 0; cls < TIMING_CLASSES; cls++) {
        uint64_t count = 0, busy = 0;

        for (uint32_t i = 0; i < cores; i++) {
            count += s->cores[i].count[cls];
            busy += s->cores[i].busy[cls];
        }
        if (count != 0) {
            facet_strbuf_printf(out, " %s ", timing_class_name(cls));
            put_share(out, 0, busy, running * s->report.cycles);
            facet_strbuf_puts(out, ",");
        }
    }
    if (s->report.raster_busy != 0) {
        facet_strbuf_puts(out, " raster unit ");
        put_share(out, 0, s->report.raster_busy, s->report.cycles);
        facet_strbuf_puts(out, ",");
    }
    facet_strbuf_puts(out, " memory ");
    put_share(out, 0, s->report.memory_busy, s->report.cycles);
    facet_strbuf_puts(out, "\n");
}

static void put_segment(const timing_collector *c,
                        struct timing_names names,
                        const struct timing_segment *s,
                        struct facet_strbuf *out)
{
    char limit[TIMING_LIMIT_SIZE];

    if (s->cores == NULL && s->draw.cycles == 0) {
        return; /* no more than a command */
    }
    timing_segment_limit(s, limit);
    if (s->name != NULL) {
        facet_strbuf_printf(out, "commands[%zu] (%s): ", timing_index_of(names, s), s->name);
    }
    facet_strbuf_printf(out, "%" PRIu64 " cycles, limited by %s", s->cycles, limit);
    if (s->work.pixels + s->work.vertices + s->work.triangles != 0) {
        facet_strbuf_printf(out,
                            ": vertices %" PRIu64 ", triangles %" PRIu64 ", pixels %" PRIu64
                            ", texels %" PRIu64 ", lines %" PRIu64,
                            s->work.vertices,
                            s->work.triangles,
                            s->work.pixels,
                            s->work.texels,
                            s->work.lines);
    }
    facet_strbuf_puts(out, "\n");
    if (s->cores != NULL) {
        put_cores(c, s, out);
        put_units(c, s, out);
    }
}

void timing_text(const timing_collector *collector,
                 struct timing_names names,
                 struct facet_strbuf *out)
{
    size_t count;
    const struct timing_segment *segments = timing_collector_segments(collector, &count);
    const struct timing_segment *most = longest(segments, count);

    facet_strbuf_printf(
        out, "timing, an estimate: %" PRIu64 " cycles", timing_total(segments, count));
    if (most != NULL && most->name != NULL) {
        facet_strbuf_printf(
            out, ", most of them in commands[%zu] (%s)", timing_index_of(names, most), most->name);
    }
    facet_strbuf_puts(out, "\n");
    for (size_t i = 0; i < count; i++) {
        put_segment(collector, names, &segments[i], out);
    }
}
