/* `facet bvh update`: an image refitted to moved geometry. */
#include "cli/bvh/rt.h"
#include "command/output.h"
#include "report/left_out.h"
#include "report/traits.h"
#include "session/bvh/structures.h"

#include "gfx12/build/refit.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum facet_status
sah_of(const struct facet_gfx12_view *view, double *sah, struct facet_error *err)
{
    struct facet_gfx12_walk walk;
    struct facet_gfx12_bvh_stats stats;
    enum facet_status status = facet_gfx12_walk(view, &walk, err);

    if (status == FACET_OK) {
        status = facet_gfx12_bvh_stats(view, &walk, &stats, err);
        facet_gfx12_walk_free(&walk);
        *sah = stats.sah;
    }
    return status;
}

/* By how much a ray costs more than before. */
static double growth(double before, double after)
{
    return before > 0 ? after / before - 1 : 0;
}

/* Images for updates have the instances that a matrix flattens, others may lack them. */
static enum facet_status refit(const struct facet_gfx12_view *view,
                               struct facet_render_bvh_input *input,
                               unsigned threads,
                               bool quiet,
                               struct facet_gfx12_image *out,
                               struct facet_error *err)
{
    struct facet_progress progress;
    facet_pool *pool;
    enum facet_status status = facet_pool_create(threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    *out = (struct facet_gfx12_image){malloc((size_t)view->size), view->size};
    facet_progress_start(
        &progress,
        &(struct facet_progress_config){.label = "refitting",
                                        .unit = "nodes",
                                        .total = view->size / FACET_GFX12_NODE_BYTES,
                                        .fd = STDERR_FILENO,
                                        .quiet = quiet});
    status = out->bytes != NULL
                 ? facet_gfx12_refit(view, &input->scene, pool, &progress, out->bytes, err)
                 : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
    facet_progress_finish(&progress);
    if (status == FACET_ERR_INPUT && input->flat_instances != 0 &&
        facet_render_bvh_input_drop_off(input) &&
        facet_gfx12_refit(view, &input->scene, pool, NULL, out->bytes, NULL) == FACET_OK) {
        status = FACET_OK;
    }
    facet_pool_destroy(pool);
    return status;
}

static int run_update(const struct cli_args *args)
{
    const char *scene = cli_value(args, "scene"), *aabbs = cli_value(args, "aabbs");
    const char *output = cli_value(args, "output");
    struct facet_gfx12_image image = {NULL, 0};
    struct facet_render_bvh_input input = {0};
    struct facet_render_bvh_traits traits;
    struct facet_error err = {0};
    struct session_bvh file;
    json_t *left_out = NULL;
    double before = 0, after = 0;
    uint64_t threads = 0;
    enum facet_status status;

    if (output == NULL || (scene == NULL && aabbs == NULL)) {
        return cli_bad(args, "expected -o FILE and --scene FILE or --aabbs FILE");
    }
    if (scene == NULL && cli_useless(args, report_pose_names, "needs --scene")) {
        return CLI_BAD;
    }
    if (args->json && strcmp(output, "-") == 0) {
        return cli_bad(args, "--json and -o - both write to standard output");
    }
    /* The image itself may be replaced by its successor. */
    if (!cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        cli_would_replace(args, output, scene, "the scene") ||
        cli_would_replace(args, output, aabbs, "the file of boxes") ||
        !session_bvh_read(args, session_bvh_operand(args), &file)) {
        return CLI_BAD;
    }
    if (bvh_rt_is(&file)) {
        const int code = bvh_rt_update(args, &file);

        session_bvh_free(&file);
        return code;
    }
    if (cli_given(args, "reach")) {
        (void)cli_bad(args, "--reach is for BVH images of XPHMG_RT; %s is not one", file.name);
        session_bvh_free(&file);
        return CLI_BAD;
    }
    if (!session_structures_writable(args, &file) ||
        session_bvh_would_be_replaced(args, output, &file, true) ||
        !session_bvh_has_nodes(args, &file)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    status = report_bvh_traits(args, &traits, &err);
    traits.keep_off = true;
    if (status == FACET_OK) {
        status = bvh_scene_read_as(args, scene, aabbs, &traits, true, &input, &left_out, &err);
    }
    if (status == FACET_OK &&
        (status = refit(&file.view, &input, (unsigned)threads, args->quiet, &image, &err)) !=
            FACET_OK) {
        (void)facet_fail_in(&err, file.name);
    }
    if (status == FACET_OK) {
        status = sah_of(&file.view, &before, &err);
        file.view.bytes = image.bytes;
    }
    if (status == FACET_OK) {
        status = sah_of(&file.view, &after, &err);
    }
    if (status == FACET_OK) {
        status = session_structures_refit(&file, image.bytes, &err);
    }
    if (status == FACET_OK) {
        status = session_bvh_write(output, &file.view, &err);
    }
    facet_render_bvh_input_free(&input);
    session_bvh_free(&file);
    free(image.bytes);
    if (status != FACET_OK) {
        json_decref(left_out);
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args,
                              json_pack("{s:I, s:f, s:f, s:f, s:o}",
                                        "bytes",
                                        (json_int_t)image.size,
                                        "sah_before",
                                        before,
                                        "sah_after",
                                        after,
                                        "sah_growth",
                                        growth(before, after),
                                        "left_out",
                                        left_out));
    }
    json_decref(left_out);
    if (strcmp(output, "-") != 0) {
        printf("SAH cost  %.2f before, %.2f after (%+.1f %%)\n",
               before,
               after,
               100 * growth(before, after));
    }
    return CLI_OK;
}

static const struct cli_option update_options[] = {
    {"scene", 0, "FILE", "the scene with the new positions"},
    REPORT_POSE_OPTIONS,
    REPORT_TRAIT_OPTIONS,
    {"aabbs", 0, "FILE", "JSON file with the new procedural boxes"},
    {"reach", 0, "R", "tiles: rays start inside [-R, R] (default: within the scene's size of it)"},
    {"output", 'o', "FILE", "the image to write"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_update = {
    .name = "bvh update",
    .summary = "refit a BVH image to moved geometry",
    .usage = "facet bvh update IMAGE --scene SCENE -o FILE",
    .details =
        "Keeps the tree of an image that `facet bvh build` made and rewrites its boxes, "
        "vertices, flags and instance matrices from a scene with the same meshes and instances. "
        "Oriented boxes become axis aligned. An image that was built with --allow-update takes any "
        "motion; in others the moved vertices may no longer fit their compressed primitive node, "
        "and the command says so. The SAH cost before and after shows how much of the tree's "
        "quality the motion took: when it has grown much, build anew. Threads never change the "
        "bytes. An image in segments is written as such: FILE is the segment that rays start in, "
        "FILE.0xADDR each of the others; structures of drivers (--driver) keep their form, and "
        "headers, frames and matrices beside instances follow.\n\n"
        "BVH images of XPHMG_RT are recognized by their header. Their number format stays too: "
        "positions outside its range need a new image. Boxes are grown as `facet bvh build` "
        "grows them, and not by less than before.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh update cube.gfx12 --scene examples/gfx12/cube-moved.obj -o moved.gfx12\n"
                "facet bvh build examples/gfx12/flag.gltf -o flag.gfx12 --allow-update --time 0\n"
                "facet bvh update flag.gfx12 --scene examples/gfx12/flag.gltf --time 0.75 "
                "-o later.gfx12 --json\n"
                "facet bvh build examples/gfx12/cube.obj -o cube.tiles --format xphmg4\n"
                "facet bvh update cube.tiles --scene examples/gfx12/cube-moved.obj -o moved.tiles",
    .options = update_options,
    .has_json = true,
    .run = run_update,
    .operands = "[IMAGE]",
};
