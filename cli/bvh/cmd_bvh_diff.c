/* `facet bvh diff`: where two images differ. */
#include "cli/bvh/rt.h"
#include "report/differences.h"

#include "gfx12/image/diff.h"
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

static int run_diff(const struct cli_args *args)
{
    struct report_differences out = {.keys = {"node_a", "node_b"}, .limit = 100};
    struct facet_error err = {0};
    struct session_bvh a, b;
    uint64_t count = 0;
    enum facet_status status;
    int code;

    if (!cli_number(args, "max", 1, 1000000, &out.limit) ||
        !session_bvh_read(args, args->positional[0], &a)) {
        return CLI_BAD;
    }
    if (!session_bvh_read(args, args->positional[1], &b)) {
        session_bvh_free(&a);
        return CLI_BAD;
    }
    if (bvh_rt_is(&a) || bvh_rt_is(&b)) {
        code = bvh_rt_is(&a) && bvh_rt_is(&b)
                   ? bvh_rt_diff(args, &a, &b, out.limit)
                   : cli_bad(args,
                             "%s is a BVH image of XPHMG_RT and %s is not: expected two of them",
                             args->positional[bvh_rt_is(&a) ? 0 : 1],
                             args->positional[bvh_rt_is(&a) ? 1 : 0]);
        session_bvh_free(&a);
        session_bvh_free(&b);
        return code;
    }
    out.list = cli_json_list(args);
    status = facet_gfx12_diff(&a.view, &b.view, show, &out, &count, &err);
    session_bvh_free(&a);
    session_bvh_free(&b);
    if (status != FACET_OK) {
        json_decref(out.list);
        return cli_bad_error(args, &err);
    }
    return report_differences_end(args, &out);
}

static const struct cli_option diff_options[] = {
    {"max", 0, "N", "most differences to list; the others are counted (default 100)"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_diff = {
    .name = "bvh diff",
    .summary = "compare two BVH images field by field",
    .usage = "facet bvh diff A B [--max N] [--json]",
    .details =
        "Walks both trees together from their roots and names every field that differs, with the "
        "byte offsets of the two nodes. Nodes are matched by their place in the tree, not by their "
        "address. Exit code 0: no difference; 1: there are some. What no root reaches is not "
        "compared, only counted.\n\n"
        "Two BVH images of XPHMG_RT are compared the same way, their triangles too; what no root "
        "reaches is left out.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh build examples/gfx12/cube.obj -o other.gfx12 --threads 1\n"
                "facet bvh diff cube.gfx12 other.gfx12",
    .options = diff_options,
    .has_json = true,
    .run = run_diff,
    .operands = "A B",
};
