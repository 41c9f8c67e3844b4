/* See diff.h. */
#include "report/diff.h"

#include "gfx12/image/diff.h"
#include "report/builders.h"
#include "report/differences.h"
#include "report/lost.h"
#include "json/json.h"

static uint64_t offset_of(uint32_t node)
{
    return node == FACET_GFX12_NO_NODE ? REPORT_WHOLE_IMAGE : facet_gfx12_node_offset(node);
}

static bool show(void *context, const struct facet_gfx12_difference *d)
{
    report_differences_add(context,
                           (const uint64_t[2]){offset_of(d->node_a), offset_of(d->node_b)},
                           d->field,
                           (const uint64_t[2]){d->a, d->b});
    return true;
}

static int compare_fields(const struct cli_args *args,
                          const struct facet_gfx12_view *a,
                          const struct facet_gfx12_view *b,
                          uint64_t limit)
{
    struct report_differences out = {
        .keys = {"node_a", "node_b"}, .limit = limit, .list = cli_json_list(args)};
    struct facet_error err = {0};
    uint64_t count = 0;

    if (facet_gfx12_diff(a, b, show, &out, &count, &err) != FACET_OK) {
        json_decref(out.list);
        return cli_bad_error(args, &err);
    }
    return report_differences_end(args, &out);
}

int report_diff(const struct cli_args *args,
                const struct facet_gfx12_view *a,
                const struct facet_gfx12_view *b,
                uint64_t limit)
{
    const struct facet_gfx12_view views[2] = {*a, *b};
    const bool builders =
        cli_given(args, "builders") || cli_given(args, "rays") || cli_given(args, "device");
    struct facet_gfx12_walk walks[2];
    struct facet_error err = {0};
    int code;

    if (facet_gfx12_walk(&views[0], &walks[0], &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (facet_gfx12_walk(&views[1], &walks[1], &err) != FACET_OK) {
        facet_gfx12_walk_free(&walks[0]);
        return cli_bad_error(args, &err);
    }
    if (cli_given(args, "fields") ||
        (!builders && (walks[0].reached == 0 || walks[1].reached == 0 ||
                       facet_gfx12_same_shape(&views[0], &walks[0], &views[1], &walks[1])))) {
        code = compare_fields(args, a, b, limit);
    } else {
        code = report_builders(args, views, walks, builders);
    }
    /* What cannot be followed on both sides would pass for the same. */
    for (unsigned i = 0; i < 2; i++) {
        if (code != CLI_BAD && report_broken(args, &views[i], &walks[i], false)) {
            code = CLI_NO;
        }
    }
    facet_gfx12_walk_free(&walks[0]);
    facet_gfx12_walk_free(&walks[1]);
    return code;
}
