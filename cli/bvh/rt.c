/* `facet bvh check`, `info` and `dump` on RT images. */
#include "cli/bvh/rt.h"
#include "report/differences.h"
#include "report/rt_image.h"

#include "rt_image/diff.h"
#include "rt_image/text.h"

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
        report_rt_findings(&check);
    } else if (cli_print_json(args, report_rt_findings_json(&check)) != CLI_OK) {
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

int bvh_rt_info(const struct cli_args *args, const struct session_bvh *file)
{
    struct facet_rtbvh_check check;
    int code = CLI_OK;

    if (!look(args, file, &check)) {
        return CLI_BAD;
    }
    if (args->json) {
        code = cli_print_json(args, report_rt_info_json(&check));
    } else {
        report_rt_info(&check);
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
