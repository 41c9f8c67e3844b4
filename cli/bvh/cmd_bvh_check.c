/* `facet bvh check`: the validator. */
#include "cli/bvh/rt.h"
#include "report/check.h"
#include "report/left_out.h"
#include "report/traits.h"
#include "session/bvh/structures.h"

#include "gfx12/check/check.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* With the scene, where one is named. */
static enum facet_status check_file(const struct cli_args *args,
                                    const struct session_bvh *file,
                                    struct facet_gfx12_check_options *options,
                                    struct facet_gfx12_check *check,
                                    json_t **left_out,
                                    struct facet_error *err)
{
    const char *scene = cli_value(args, "scene"), *aabbs = cli_value(args, "aabbs");
    struct facet_render_bvh_input input = {0};
    struct facet_render_bvh_traits traits;
    enum facet_status status = FACET_OK;
    struct facet_progress progress;

    for (int i = 0; scene == NULL && i < 2; i++) {
        static const char *const only[] = {"time", "animation"};

        if (cli_given(args, only[i])) {
            return facet_fail(err, FACET_ERR_USAGE, 0, "--%s needs --scene", only[i]);
        }
    }
    if (scene != NULL || aabbs != NULL) {
        status = report_bvh_traits(args, &traits, err);
        traits.keep_off = true;
        if (status == FACET_OK) {
            status = bvh_scene_read_as(args, scene, aabbs, &traits, true, &input, left_out, err);
        }
        options->scene = &input.scene;
    }
    if (status == FACET_OK) {
        facet_progress_start(
            &progress,
            &(struct facet_progress_config){.label = "checking",
                                            .unit = "nodes",
                                            .total = file->view.size / FACET_GFX12_NODE_BYTES,
                                            .fd = STDERR_FILENO,
                                            .quiet = args->quiet});
        options->progress = &progress;
        status = facet_gfx12_check(&file->view, options, check, err);
        facet_progress_finish(&progress);
    }
    options->scene = NULL;
    options->progress = NULL;
    facet_render_bvh_input_free(&input);
    return status;
}

/* One structure or image; with --json the result goes to `list`, or is printed without one. */
static int check_one(const struct cli_args *args,
                     const struct session_bvh *file,
                     struct facet_gfx12_check_options *options,
                     json_t *list)
{
    struct facet_gfx12_check check;
    struct facet_error err = {0};
    json_t *left_out = NULL;
    enum facet_status status;
    int code;

    if (file->driver.count != 0) {
        facet_gfx12_structures_options(&file->driver, options);
    }
    status = check_file(args, file, options, &check, &left_out, &err);
    if (status == FACET_OK && file->driver.count != 0) {
        status = facet_gfx12_structures_check(&file->driver, &file->view, options, &check, &err);
    }
    if (status != FACET_OK) {
        json_decref(left_out);
        return cli_bad_error(args, &err);
    }
    code = check.total[FACET_GFX12_ERROR] == 0 ? CLI_OK : CLI_NO;
    if (!args->json) {
        report_check_print(&file->view, &check);
    } else {
        json_t *object = report_check_json(&file->view, &check);

        if (left_out != NULL) {
            (void)json_object_set(object, "left_out", left_out);
        }
        if (list != NULL) {
            (void)json_object_set_new(object, "structure", json_integer(file->driver.chosen));
            (void)json_array_append_new(list, object);
        } else if (cli_print_json(args, object) != CLI_OK) {
            code = CLI_BAD;
        }
    }
    json_decref(left_out);
    facet_gfx12_check_free(&check);
    return code;
}

/* --structure all: each as if rays started in it. */
static int check_all(const struct cli_args *args,
                     struct session_bvh *file,
                     struct facet_gfx12_check_options *options)
{
    json_t *list = cli_json_list(args);
    int code = CLI_OK;

    for (uint32_t i = 0; i < file->driver.count && code != CLI_BAD; i++) {
        int found;

        facet_gfx12_structures_start(&file->driver, i, &file->view);
        if (!args->json) {
            printf("%sstructure %" PRIu32 "\n", i != 0 ? "\n" : "", i);
        }
        found = check_one(args, file, options, list);
        code = found != CLI_OK ? found : code;
    }
    if (args->json && cli_print_json(args, json_pack("{s:o}", "structures", list)) != CLI_OK) {
        code = CLI_BAD;
    }
    return code;
}

static int run_check(const struct cli_args *args)
{
    struct facet_gfx12_check_options options = {.partial = cli_given(args, "partial"),
                                                .tolerance = FACET_GFX12_TOLERANCE};
    const char *tolerance = cli_value(args, "tolerance");
    struct session_bvh file;
    uint64_t limit = 100;
    int code;

    if (tolerance != NULL && !facet_gfx12_tolerance_parse(tolerance, &options.tolerance)) {
        return cli_bad(args, "--tolerance is '%s'; expected a number and ulp or steps", tolerance);
    }
    if ((!cli_given(args, "scene") && cli_useless(args, report_pose_names, "needs --scene")) ||
        (!cli_given(args, "scene") && !cli_given(args, "aabbs") &&
         cli_useless(args, report_trait_names, "needs --scene or --aabbs"))) {
        return CLI_BAD;
    }
    if (!cli_number(args, "max", 1, 1000000, &limit) ||
        !session_bvh_read(args, session_bvh_operand(args), &file)) {
        return CLI_BAD;
    }
    if (bvh_rt_is(&file) && cli_given(args, "scene")) {
        session_bvh_free(&file);
        return cli_bad(args, "--scene is for GFX12 images");
    }
    options.max_findings = (uint32_t)limit;
    code = bvh_rt_is(&file) ? bvh_rt_check(args, &file, (uint32_t)limit)
           : file.all       ? check_all(args, &file, &options)
                            : check_one(args, &file, &options, NULL);
    session_bvh_free(&file);
    return code;
}

static const struct cli_option check_options[] = {
    {"partial", 0, NULL, "instances may point outside the image (a dump of the TLAS alone)"},
    {"scene", 0, "FILE", "the scene that the image was made from: judge the image against it"},
    REPORT_POSE_OPTIONS,
    {"aabbs", 0, "FILE", "JSON file with the procedural boxes that it was made from"},
    REPORT_TRAIT_OPTIONS,
    {"tolerance",
     0,
     "N[ulp|steps]",
     "how far a primitive may stick out of its boxes with a warning only (default: 1ulp, at most "
     "half a step)"},
    {"max", 0, "N", "most findings to list; the others are counted (default 100)"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_check = {
    .name = "bvh check",
    .summary = "validate a BVH image",
    .usage = "facet bvh check [IMAGE] [--segment FILE@ADDR] [--driver NAME] [--structure N|all] "
             "[--base ADDR] [--root NODE] [--scene FILE] [--partial] [--tolerance N] [--json]",
    .details =
        "Checks every rule of section 13 of spec/gfx12-semantics.md on any bytes: types, offsets "
        "and counts, boxes that do not contain what is below them, broken culling flags and "
        "masks, malformed primitive nodes, endless ranges, cycles and doubly referenced nodes. "
        "Each finding gives the byte offset, the rule, the requirement that it enforces, and "
        "what was found. Errors give exit code 1; warnings and notes do not.\n\n"
        "A triangle may be in several leaves with parts of its box (spatial splits), two boxes may "
        "share a pair, and an instance may enter a BLAS at several nodes: V12 asks whether the "
        "boxes on all paths to a triangle cover it together, and decides that exactly. What sticks "
        "out is named with the box at fault, the axis and the amount in steps of the box's grid "
        "and in ulp (of the largest coordinate on that grid). Up to --tolerance it is a warning, "
        "because encoders that round to nearest, like RADV's, lose up to an ulp; --tolerance 0 "
        "makes every leak an error.\n\n"
        "With --scene (and --aabbs, as for bvh build) the image is judged against its source: each "
        "instance, each triangle and box is there and covered, with the same corners in the same "
        "order, opacity, mask, flags and matrix; what is lost, too much or twice is named. "
        "Instances are found by user data and matrix, or by matrix and bounds alone where a driver "
        "keeps numbers of its own. What of the scene is not geometry is said on standard error, "
        "with "
        "--json as left_out. Without a scene, names (geometry and primitive index) that "
        "occur "
        "with different corners, or are missing, are reported.\n\n"
        "Structures of RADV, GPURT and HIPRT are read with --driver, each buffer as IMAGE or "
        "--segment: headers are checked too (V32 to V39). A capture (.rra) needs no option; "
        "--structure chooses one of its structures, or all. What has no header is read with --base "
        "(the address of its first byte) and --root (the ID of its root).\n\n"
        "BVH images of XPHMG_RT are recognized by their header and checked against the rules of "
        "docs/rt-images.md.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh check cube.gfx12\n"
                "facet bvh check cube.gfx12 --scene examples/gfx12/cube.obj\n"
                "facet bvh check cube.gfx12 --tolerance 2steps\n"
                "facet bvh check cube.gfx12 --json\n"
                "facet bvh check examples/gfx12/two.rra",
    .options = check_options,
    .has_json = true,
    .run = run_check,
    .operands = "[IMAGE]",
};
