/* A report as JSON. See report.h. */
#include "timing/report_json.h"
#include "timing/report_parts.h"

static void set_number(json_t *object, const char *name, uint64_t value)
{
    (void)json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_text(json_t *object, const char *name, const char *text)
{
    (void)json_object_set_new(object, name, json_string(text));
}

static json_t *core_json(const struct timing_core_report *core, uint32_t number)
{
    json_t *result = json_object(), *reasons = json_object(), *units = json_object();
    char limit[TIMING_LIMIT_SIZE];

    set_number(result, "core", number);
    set_number(result, "instructions", core->instructions);
    set_number(result, "cycles", core->cycles);
    timing_core_limit(core, limit);
    set_text(result, "limit", limit);
    for (unsigned i = 0; i < TIMING_REASONS; i++) {
        set_number(reasons, timing_reason_name((enum timing_reason)i), core->reason[i]);
    }
    (void)json_object_set_new(result, "spent", reasons);
    for (uint32_t i = 0; i < TIMING_CLASSES; i++) {
        if (core->count[i] != 0) {
            json_t *unit = json_object();

            set_number(unit, "instructions", core->count[i]);
            set_number(unit, "busy", core->busy[i]);
            (void)json_object_set_new(units, timing_class_name(i), unit);
        }
    }
    (void)json_object_set_new(result, "units", units);
    return result;
}

static void set_cores(const timing_collector *c, const struct timing_segment *s, json_t *result)
{
    json_t *cores = json_array();

    for (uint32_t i = 0; i < timing_collector_cores(c); i++) {
        if (s->cores[i].instructions != 0) {
            (void)json_array_append_new(cores, core_json(&s->cores[i], i));
        }
    }
    (void)json_object_set_new(result, "cores", cores);
    set_number(result, "memory_busy", s->report.memory_busy);
    if (timing_collector_isa(c) == FACET_ISA_TILE) {
        set_number(result, "raster_busy", s->report.raster_busy);
    }
}

static void set_draw(const struct timing_segment *s, json_t *result)
{
    json_t *stages = json_object();

    set_number(result, "vertices", s->work.vertices);
    set_number(result, "triangles", s->work.triangles);
    set_number(result, "pixels", s->work.pixels);
    set_number(result, "texels", s->work.texels);
    set_number(result, "lines", s->work.lines);
    for (unsigned i = 0; i < TIMING_STAGES; i++) {
        set_number(stages, timing_stage_name((enum timing_stage)i), s->draw.stage[i]);
    }
    (void)json_object_set_new(result, "stages", stages);
}

static json_t *
segment_json(const timing_collector *c, struct timing_names names, const struct timing_segment *s)
{
    json_t *result = json_object();
    char limit[TIMING_LIMIT_SIZE];

    if (s->name != NULL) {
        set_number(result, "index", timing_index_of(names, s));
        set_text(result, "command", s->name);
    }
    set_number(result, "cycles", s->cycles);
    timing_segment_limit(s, limit);
    set_text(result, "limit", limit);
    if (s->cores != NULL) {
        set_cores(c, s, result);
    } else if (s->draw.cycles != 0) {
        set_draw(s, result);
    }
    return result;
}

json_t *timing_json(const timing_collector *collector, struct timing_names names)
{
    size_t count;
    const struct timing_segment *segments = timing_collector_segments(collector, &count);
    json_t *result = json_object(), *list = json_array();

    (void)json_object_set_new(result, "estimate", json_true());
    set_number(result, "cycles", timing_total(segments, count));
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, segment_json(collector, names, &segments[i]));
    }
    (void)json_object_set_new(result, "parts", list);
    return result;
}
