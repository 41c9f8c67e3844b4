/* See check.h. */
#include "report/check.h"

#include "command/command.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

void report_finding_print(const struct report_finding *f, const char *words)
{
    char place[FACET_GFX12_PLACE];

    if (f->view != NULL && f->view->segment_count != 0) {
        (void)facet_gfx12_view_place(f->view, facet_gfx12_view_address(f->view, f->offset), place);
    } else {
        (void)snprintf(place, sizeof place, "0x%08" PRIx64, f->offset);
    }
    printf("%s  %s  %s  %s: %s\n", place, f->rule, f->requirement, f->severity, words);
}

json_t *report_finding_json(const struct report_finding *f)
{
    json_t *object = json_pack("{s:o, s:s, s:s, s:s, s:s, s:s}",
                               "offset",
                               facet_json_hex(f->offset),
                               "rule",
                               f->rule,
                               "requirement",
                               f->requirement,
                               "severity",
                               f->severity,
                               "expected",
                               f->expected,
                               "found",
                               f->found);

    if (f->view != NULL) {
        struct facet_gfx12_segment s = facet_gfx12_view_segment(f->view, f->offset);

        (void)json_object_set_new(
            object, "address", facet_json_hex(facet_gfx12_view_address(f->view, f->offset)));
        if (s.name != NULL) {
            (void)json_object_set_new(object, "file", json_string(s.name));
            (void)json_object_set_new(
                object, "file_offset", facet_json_hex(s.file_offset + (f->offset - s.offset)));
        }
    }
    return object;
}

static struct report_finding finding_of(const struct facet_gfx12_view *view,
                                        const struct facet_gfx12_finding *f)
{
    return (struct report_finding){.offset = f->offset,
                                   .view = view,
                                   .rule = facet_gfx12_rules[f->rule].id,
                                   .requirement = facet_gfx12_rules[f->rule].requirement,
                                   .severity = facet_gfx12_severity_name(f->severity),
                                   .expected = facet_gfx12_rules[f->rule].title,
                                   .found = f->text};
}

void report_check_print(const struct facet_gfx12_view *view, const struct facet_gfx12_check *check)
{
    uint64_t total = check->total[0] + check->total[1] + check->total[2];

    for (uint32_t i = 0; i < check->count; i++) {
        const struct report_finding finding = finding_of(view, &check->findings[i]);

        report_finding_print(&finding, finding.found);
    }
    if (total > check->count) {
        printf("... and %" PRIu64 " more\n", total - check->count);
    }
    printf("%u node%s, %u reached: %" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64
           " note%s\n",
           check->nodes,
           cli_s(check->nodes),
           check->reached,
           check->total[FACET_GFX12_ERROR],
           cli_s(check->total[FACET_GFX12_ERROR]),
           check->total[FACET_GFX12_WARNING],
           cli_s(check->total[FACET_GFX12_WARNING]),
           check->total[FACET_GFX12_NOTE],
           cli_s(check->total[FACET_GFX12_NOTE]));
}

json_t *report_check_json(const struct facet_gfx12_view *view,
                          const struct facet_gfx12_check *check)
{
    json_t *findings = json_array();

    for (uint32_t i = 0; i < check->count; i++) {
        const struct report_finding finding = finding_of(view, &check->findings[i]);

        (void)json_array_append_new(findings, report_finding_json(&finding));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}",
                     "nodes",
                     (json_int_t)check->nodes,
                     "reached",
                     (json_int_t)check->reached,
                     "errors",
                     (json_int_t)check->total[FACET_GFX12_ERROR],
                     "warnings",
                     (json_int_t)check->total[FACET_GFX12_WARNING],
                     "notes",
                     (json_int_t)check->total[FACET_GFX12_NOTE],
                     "findings",
                     findings);
}
