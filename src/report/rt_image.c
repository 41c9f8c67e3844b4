/* What `facet bvh check` and `info` say about a BVH image of XPHMG_RT. */
#include "report/rt_image.h"

#include "command/command.h"
#include "report/check.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- findings ---- */

static struct report_finding finding_of(const struct facet_rtbvh_finding *f)
{
    const struct facet_rtbvh_rule_text *rule = &facet_rtbvh_rules[f->rule];

    return (struct report_finding){.offset = f->offset,
                                   .rule = rule->id,
                                   .requirement = rule->requirement,
                                   .severity = rule->warning ? "warning" : "error",
                                   .expected = rule->title,
                                   .found = f->text};
}

/* What is wrong with a header says "offset ..., expected ..." by itself. */
static void print_finding(const struct facet_rtbvh_check *check,
                          const struct facet_rtbvh_finding *f)
{
    const struct report_finding finding = finding_of(f);
    const char *after = check->open ? NULL : strstr(f->text, ": ");
    char words[2 * sizeof f->text];

    (void)snprintf(words, sizeof words, "%s: expected %s", f->text, finding.expected);
    report_finding_print(&finding, after != NULL ? after + 2 : words);
}

void report_rt_findings(const struct facet_rtbvh_check *check)
{
    for (uint32_t i = 0; i < check->count; i++) {
        print_finding(check, &check->findings[i]);
    }
    if (check->errors + check->warnings > check->count) {
        printf("... and %" PRIu64 " more\n", check->errors + check->warnings - check->count);
    }
    printf("%u node%s, %u %s, %" PRIu64 " triangle%s: %" PRIu64 " error%s, %" PRIu64 " warning%s\n",
           check->nodes,
           cli_s(check->nodes),
           check->leaves,
           check->leaves == 1 ? "leaf" : "leaves",
           check->triangles,
           cli_s(check->triangles),
           check->errors,
           cli_s(check->errors),
           check->warnings,
           cli_s(check->warnings));
}

json_t *report_rt_findings_json(const struct facet_rtbvh_check *check)
{
    json_t *findings = json_array();

    for (uint32_t i = 0; i < check->count; i++) {
        const struct report_finding finding = finding_of(&check->findings[i]);

        (void)json_array_append_new(findings, report_finding_json(&finding));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}",
                     "nodes",
                     (json_int_t)check->nodes,
                     "leaves",
                     (json_int_t)check->leaves,
                     "triangles",
                     (json_int_t)check->triangles,
                     "errors",
                     (json_int_t)check->errors,
                     "warnings",
                     (json_int_t)check->warnings,
                     "findings",
                     findings);
}

/* ---- info ---- */

json_t *report_rt_info_json(const struct facet_rtbvh_check *check)
{
    const struct facet_rtbvh_view *v = &check->view;
    json_t *children = json_array();
    char format[16];

    (void)snprintf(format, sizeof format, "xphmg%u", v->header.children);
    for (unsigned i = 0; i <= v->header.children; i++) {
        (void)json_array_append_new(children, json_integer((json_int_t)check->children[i]));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:b, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, "
                     "s:f, s:o, s:I}",
                     "format",
                     format,
                     "element",
                     facet_format_name(v->eff.elem),
                     "mode",
                     facet_json_hex(v->header.mode),
                     "alt",
                     facet_json_hex(v->header.alt),
                     "quantized",
                     (int)v->eff.q,
                     "scale",
                     (int)v->numbers.channel[0].scale,
                     "zero_point",
                     (int)v->numbers.channel[0].zp,
                     "bytes",
                     (json_int_t)v->size,
                     "heap_bytes",
                     (json_int_t)v->header.heap.size,
                     "tile_bytes",
                     (json_int_t)v->tile_bytes,
                     "nodes",
                     (json_int_t)check->nodes,
                     "leaves",
                     (json_int_t)check->leaves,
                     "triangles",
                     (json_int_t)check->triangles,
                     "depth",
                     (json_int_t)check->depth,
                     "growth",
                     (double)v->header.pad,
                     "sah_cost",
                     check->sah,
                     "nodes_by_children",
                     children,
                     "stack_entries",
                     (json_int_t)check->stack);
}

void report_rt_info(const struct facet_rtbvh_check *check)
{
    const struct facet_rtbvh_view *v = &check->view;
    uint64_t children = 0;

    for (unsigned i = 0; i <= 8; i++) {
        children += i * check->children[i];
    }
    printf("format              xphmg%u, %s", v->header.children, facet_format_name(v->eff.elem));
    if (v->eff.q) {
        printf(" in steps of 2^%d from zero point %d",
               v->numbers.channel[0].scale,
               v->numbers.channel[0].zp);
    }
    printf("\nMODE, ALT           0x%" PRIx64 ", 0x%" PRIx64 "\n", v->header.mode, v->header.alt);
    printf("bytes               %" PRIu64 ", heap %" PRIu64 ", %" PRIu64 " per tile\n",
           v->size,
           v->header.heap.size,
           v->tile_bytes);
    printf("nodes               %u, %.2f children each\n",
           check->nodes,
           check->nodes != 0 ? (double)children / check->nodes : 0.0);
    printf("leaves              %u, %.2f triangles each\n",
           check->leaves,
           check->leaves != 0 ? (double)check->triangles / check->leaves : 0.0);
    printf("triangles           %" PRIu64 "\n", check->triangles);
    printf("depth               %u, up to %u stack entries\n", check->depth, check->stack);
    printf("boxes grown by      %g\n", (double)v->header.pad);
    printf("SAH cost            %.2f node visits and triangle tests per ray\n", check->sah);
}
