/* `facet bvh check`, `info` and `dump` on RT images. */
#include "cli/bvh/rt.h"
#include "report/check.h"
#include "report/differences.h"

#include "rt_image/diff.h"
#include "rt_image/text.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool bvh_rt_is(const struct session_bvh *file)
{
    return facet_rtbvh_is(file->bytes.data, file->bytes.size);
}

bool bvh_rt_options_fit(const struct cli_args *args)
{
    static const char *const others[] = {
        "base",         "root",         "driver",    "structure", "partial",     "aabbs",
        "tolerance",    "node",         "depth",     "blas",      "builders",    "rays",
        "base-b",       "root-b",       "segment-b", "driver-b",  "structure-b", "opaque",
        "cull-disable", "force-opaque", "flip",      "mask",      "user-data",   NULL};

    return !cli_useless(
        args, others, "is for GFX12 images; %s is a BVH image of XPHMG_RT", args->positional[0]);
}

/* ---- check ---- */

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

static void print_findings(const struct facet_rtbvh_check *check)
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

static json_t *findings_json(const struct facet_rtbvh_check *check)
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

int bvh_rt_check(const struct cli_args *args, const struct session_bvh *file, uint32_t limit)
{
    struct facet_rtbvh_check check;
    struct facet_error err = {0};
    int code;

    if (!bvh_rt_options_fit(args)) {
        return CLI_BAD;
    }
    if (facet_rtbvh_check(file->bytes.data, file->bytes.size, limit, &check, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    code = check.errors == 0 ? CLI_OK : CLI_NO;
    if (!args->json) {
        print_findings(&check);
    } else if (cli_print_json(args, findings_json(&check)) != CLI_OK) {
        code = CLI_BAD;
    }
    facet_rtbvh_check_free(&check);
    return code;
}

/* ---- info ---- */

/* The check of a file whose header is sound; the complaint is printed when it returns false. */
static bool
look(const struct cli_args *args, const struct session_bvh *file, struct facet_rtbvh_check *check)
{
    struct facet_error err = {0};

    if (!bvh_rt_options_fit(args)) {
        return false;
    }
    if (facet_rtbvh_check(file->bytes.data, file->bytes.size, 1, check, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (!check->open) {
        (void)cli_bad(args, "%s: %s", args->positional[0], check->findings[0].text);
        facet_rtbvh_check_free(check);
        return false;
    }
    return true;
}

json_t *bvh_rt_json(const struct facet_rtbvh_check *check)
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

static void print_info(const struct facet_rtbvh_check *check)
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

int bvh_rt_info(const struct cli_args *args, const struct session_bvh *file)
{
    struct facet_rtbvh_check check;
    int code = CLI_OK;

    if (!look(args, file, &check)) {
        return CLI_BAD;
    }
    if (args->json) {
        code = cli_print_json(args, bvh_rt_json(&check));
    } else {
        print_info(&check);
    }
    facet_rtbvh_check_free(&check);
    return code;
}

/* ---- dump ---- */

static bool dump(const struct facet_rtbvh_check *check, bool json)
{
    struct facet_strbuf buf;
    bool ok = true;

    facet_strbuf_init(&buf);
    if (json) {
        facet_rtbvh_json_head(&check->view, &buf);
    }
    for (uint64_t i = 0; i < check->place_count && ok; i++) {
        if (json) {
            facet_strbuf_puts(&buf, i != 0 ? ",\n" : "");
            facet_rtbvh_json_place(&check->view, &check->places[i], &buf);
        } else {
            facet_rtbvh_listing(&check->view, &check->places[i], &buf);
        }
        ok = bvh_flush_text(&buf);
    }
    if (json && ok) {
        ok = facet_rtbvh_json_tail(check, &buf);
    }
    ok = bvh_flush_text(&buf) && ok;
    facet_strbuf_free(&buf);
    return ok;
}

int bvh_rt_dump(const struct cli_args *args, const struct session_bvh *file)
{
    struct facet_rtbvh_check check;
    bool ok;

    if (!look(args, file, &check)) {
        return CLI_BAD;
    }
    ok = dump(&check, args->json);
    facet_rtbvh_check_free(&check);
    return ok ? CLI_OK : cli_bad(args, "out of memory");
}

/* ---- diff ---- */

static void show(void *context, const struct facet_rtbvh_difference *d)
{
    report_differences_add(context,
                           (const uint64_t[2]){d->offset_a, d->offset_b},
                           d->field,
                           (const uint64_t[2]){d->a, d->b});
}

static bool open_view(const struct cli_args *args,
                      const char *path,
                      const struct session_bvh *file,
                      struct facet_rtbvh_view *view)
{
    struct facet_error err = {0};

    if (facet_rtbvh_open(file->bytes.data, file->bytes.size, view, &err) != FACET_OK) {
        (void)facet_fail_in(&err, path);
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

int bvh_rt_diff(const struct cli_args *args,
                const struct session_bvh *a,
                const struct session_bvh *b,
                uint64_t limit)
{
    struct report_differences out = {.keys = {"offset_a", "offset_b"}, .limit = limit};
    struct facet_rtbvh_view view_a, view_b;
    struct facet_error err = {0};
    uint64_t count;

    if (!bvh_rt_options_fit(args) || !open_view(args, args->positional[0], a, &view_a) ||
        !open_view(args, args->positional[1], b, &view_b)) {
        return CLI_BAD;
    }
    out.list = cli_json_list(args);
    if (facet_rtbvh_diff(&view_a, &view_b, show, &out, &count, &err) != FACET_OK) {
        json_decref(out.list);
        return cli_bad_error(args, &err);
    }
    return report_differences_end(args, &out);
}
