/* `facet bvh info`: what is in an image. */
#include "cli/bvh/rt.h"
#include "report/lost.h"
#include "session/bvh/structures.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int run_info(const struct cli_args *args)
{
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_walk walk;
    struct facet_error err = {0};
    struct session_bvh file;
    struct facet_progress progress;
    enum facet_status status;
    bool broken = false;
    int code;

    if (!session_bvh_read_or_make(args, session_bvh_operand(args), bvh_make_image, &file)) {
        return CLI_BAD;
    }
    if (bvh_rt_is(&file)) {
        code = bvh_rt_info(args, &file);
        session_bvh_free(&file);
        return code;
    }
    if (!session_bvh_has_root(args, &file)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    facet_progress_start(
        &progress,
        &(struct facet_progress_config){.label = "reading",
                                        .unit = "nodes",
                                        .total = file.view.size / FACET_GFX12_NODE_BYTES,
                                        .fd = STDERR_FILENO,
                                        .quiet = args->quiet});
    status = facet_gfx12_walk_shown(&file.view, &progress, &walk, &err);
    facet_progress_finish(&progress);
    if (status == FACET_OK) {
        status = facet_gfx12_bvh_stats(&file.view, &walk, &stats, &err);
        broken = report_broken(args, &file.view, &walk, false);
        facet_gfx12_walk_free(&walk);
    }
    if (status != FACET_OK) {
        session_bvh_free(&file);
        return cli_bad_error(args, &err);
    }
    code = CLI_OK;
    if (args->json) {
        json_t *object = report_stats_json(&stats);

        session_structures_json(&file, object);
        code = cli_print_json(args, object);
    } else {
        session_structures_print(&file);
        report_stats_print(&stats);
    }
    session_bvh_free(&file);
    return code == CLI_OK && broken ? CLI_NO : code;
}

static const struct cli_option info_options[] = {
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_info = {
    .name = "bvh info",
    .summary = "show statistics of a BVH image",
    .usage = "facet bvh info [IMAGE] [--segment FILE@ADDR] [--driver NAME] [--structure N|all] "
             "[--base ADDR] [--root NODE] [--json]",
    .details =
        "Counts nodes, children, pairs, vertices and bits of everything that can be reached from "
        "the root, with histograms. The SAH cost is the expected number of intersect instructions "
        "for a random line through the root's box: each visit of a box node, of an instance and "
        "of a pair counts one, weighed by the area of its box.\n\n"
        "Structures of drivers (--driver) and captures (.rra) are listed first, with the header "
        "of the one that rays start in. A scene is built with the defaults of `facet bvh build`, "
        "and that is said.\n\n"
        "Broken links (a wrong --base, a missing BLAS) are not followed but counted on standard "
        "error, and the exit code is 1; `facet bvh check` says more. BVH images of XPHMG_RT are "
        "recognized by their header.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh info cube.gfx12\n"
                "facet bvh info examples/gfx12/two.rra",
    .options = info_options,
    .has_json = true,
    .run = run_info,
    .operands = "[IMAGE]",
};
