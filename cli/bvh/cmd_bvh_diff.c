/* `facet bvh diff`: where two images differ. */
#include "cli/bvh/rt.h"
#include "report/diff.h"
#include "session/bvh/sides.h"
#include "session/device/option.h"

static int compare_files(const struct cli_args *args,
                         const struct session_bvh *a,
                         const struct session_bvh *b,
                         uint64_t limit)
{
    if (bvh_rt_is(a) != bvh_rt_is(b)) {
        return cli_bad(args,
                       "%s is a BVH image of XPHMG_RT and %s is not: expected two of them",
                       (bvh_rt_is(a) ? a : b)->name,
                       (bvh_rt_is(a) ? b : a)->name);
    }
    if (bvh_rt_is(a) &&
        cli_useless(args, (const char *const[]){"device", NULL}, "is for GFX12 images")) {
        return CLI_BAD;
    }
    return bvh_rt_is(a) ? bvh_rt_diff(args, a, b, limit)
                        : report_diff(args, &a->view, &b->view, limit);
}

static int run_diff(const struct cli_args *args)
{
    struct session_bvh a, b;
    struct session_device device;
    uint64_t limit = 100;
    int code;

    if (cli_given(args, "fields") &&
        (cli_given(args, "builders") || cli_given(args, "rays") || cli_given(args, "device"))) {
        return cli_bad(args, "--fields and --builders are two comparisons; ask for one");
    }
    if (!session_device_read(args, &device) || !cli_number(args, "max", 1, 1000000, &limit) ||
        !session_bvh_read_two(args, &a, &b)) {
        return CLI_BAD;
    }
    code = compare_files(args, &a, &b, limit);
    session_bvh_free(&a);
    session_bvh_free(&b);
    return code;
}

static const struct cli_option diff_options[] = {
    {"max", 0, "N", "most differences to list; the others are counted (default 100)"},
    {"builders", 0, NULL, "compare as the work of two builders, also where the shapes agree"},
    {"fields", 0, NULL, "compare field by field, also where the shapes differ"},
    {"rays", 0, "FILE", "rays of the comparison of builders, as for `facet bvh trace`"},
    SESSION_DEVICE_OPTIONS,
    SESSION_BVH_OPTIONS,
    SESSION_SIDE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_diff = {
    .name = "bvh diff",
    .summary = "compare two BVH images, or what two builders made",
    .usage = "facet bvh diff A B [--max N] [--json]\n"
             "facet bvh diff A B --builders [--rays FILE] [--device DEVICE] [--json]\n"
             "facet bvh diff [A] [B] --segment FILE@ADDR --segment-b FILE@ADDR [--driver NAME]",
    .details =
        "Walks both trees together from their roots and names every field that differs, with the "
        "byte offsets of the two nodes. Nodes are matched by their place in the tree, not by their "
        "address. Exit code 0: no difference; 1: there are some. What no root reaches is not "
        "compared, only counted. Where the image lies in memory makes no difference: an instance "
        "differs if it names another bottom level, not if that has another address.\n\n"
        "Two trees of different shape are compared as the work of two builders (--builders does so "
        "for any, --fields never): whether they hold the same primitives, bottom level by bottom "
        "level (corners, winding and numbers, then opacity and sides; a copy of a cut triangle "
        "counts "
        "once) and instances (matrices within 10^-5, several nodes of one count once), then a "
        "table: sizes, depth, SAH cost, overlap (areas that two children of a "
        "box node share, over the area of the node, on average), fill, and what the same rays "
        "visit in both. Without --rays 20000 rays from around the image are made; --device traces "
        "them on a GPU. Exit code 0: same primitives, instances and hits; 1: not.\n\n"
        "Each side is a file, or pieces (--segment, --segment-b), or both; one file beside pieces "
        "is the side that has none. With --driver auto the sides may come from different drivers: "
        "only the tree of boxes then tells two encodings of one scene apart.\n\n"
        "Two BVH images of XPHMG_RT are compared the same way, their triangles too; what no root "
        "reaches is left out.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh build examples/gfx12/cube.obj -o other.gfx12 --threads 1\n"
                "facet bvh diff cube.gfx12 other.gfx12\n"
                "facet bvh build examples/gfx12/cube.obj -o third.gfx12 --quality contract\n"
                "facet bvh diff cube.gfx12 third.gfx12 --builders",
    .options = diff_options,
    .has_json = true,
    .run = run_diff,
    .operands = "[A] [B]",
};
