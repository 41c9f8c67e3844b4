/* `facet bvh build`: a scene file to a GFX12 image; RT images are in bvh_rt_build.c. */
#include "cli/bvh/rt.h"
#include "command/output.h"
#include "report/left_out.h"
#include "report/traits.h"

#include "base/progress.h"
#include "gfx12/build/build.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct result {
    struct facet_gfx12_build_report report;
    struct facet_gfx12_bvh_stats stats;
    uint32_t flat_instances;
    bool keeps_flat; /* switched off, for updates */
    unsigned threads;
    double seconds;
    json_t *left_out; /* of the scene; NULL without --json */
};

static enum facet_status count(const struct facet_gfx12_image *image,
                               uint64_t base,
                               struct facet_gfx12_bvh_stats *stats,
                               struct facet_error *err)
{
    struct facet_gfx12_view view = {
        .bytes = image->bytes, .size = image->size, .base = base, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_walk walk;
    enum facet_status status = facet_gfx12_walk(&view, &walk, err);

    if (status == FACET_OK) {
        status = facet_gfx12_bvh_stats(&view, &walk, stats, err);
        facet_gfx12_walk_free(&walk);
    }
    return status;
}

static enum facet_status build(const struct cli_args *args,
                               const struct facet_render_bvh_input *input,
                               const struct facet_gfx12_build_options *options,
                               unsigned threads,
                               struct facet_gfx12_image *image,
                               struct result *result,
                               struct facet_error *err)
{
    struct facet_progress progress;
    facet_pool *pool;
    double start;
    enum facet_status status = facet_pool_create(threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_progress_start(
        &progress,
        &(struct facet_progress_config){.label = "building",
                                        .unit = "primitives",
                                        .total = input->triangle_count * (options->obb ? 2 : 1),
                                        .fd = STDERR_FILENO,
                                        .quiet = args->quiet});
    start = seconds();
    status =
        facet_gfx12_build(&input->scene, options, pool, &progress, image, &result->report, err);
    result->seconds = seconds() - start;
    result->threads = facet_pool_threads(pool);
    facet_progress_finish(&progress);
    facet_pool_destroy(pool);
    return status;
}

static void print_text(const struct result *r)
{
    const struct facet_gfx12_bvh_stats *s = &r->stats;

    printf("nodes               %" PRIu64 " (%" PRIu64 " box, %" PRIu64 " primitive, %" PRIu64
           " instance)\n",
           s->nodes,
           s->box_nodes,
           s->primitive_nodes,
           s->instance_nodes);
    printf("bytes               %" PRIu64 "\n", s->bytes);
    printf("triangles           %" PRIu64 " in %" PRIu64 " bottom level%s\n",
           s->triangles,
           s->bottom_levels,
           cli_s(s->bottom_levels));
    if (s->triangles > r->report.triangles) {
        printf("cut triangles       %" PRIu64 " of them are copies\n",
               s->triangles - r->report.triangles);
    }
    if (s->boxes != 0) {
        printf("procedural boxes    %" PRIu64 "\n", s->boxes);
    }
    if (s->triangles != 0) {
        printf("bytes per triangle  %.1f\n", report_bytes_per_triangle(s));
        printf("triangles per node  %.2f of a primitive node\n",
               (double)s->triangles / (double)s->primitive_nodes);
    }
    printf("SAH cost            %.2f instructions per ray\n", s->sah);
    printf("depth               %u\n", s->max_depth);
    if (r->report.degenerate + r->report.inactive != 0) {
        printf("left out            %" PRIu64 " degenerate, %" PRIu64 " inactive primitives\n",
               r->report.degenerate,
               r->report.inactive);
    }
    if (r->flat_instances != 0) {
        printf("%s        %u instance%s without volume\n",
               r->keeps_flat ? "switched off" : "left out    ",
               r->flat_instances,
               cli_s(r->flat_instances));
    }
    printf(
        "build time          %.3f s on %u thread%s\n", r->seconds, r->threads, cli_s(r->threads));
}

static int print_result(const struct cli_args *args, const struct result *r)
{
    json_t *object;

    if (!args->json) {
        print_text(r);
        return CLI_OK;
    }
    object = report_stats_json(&r->stats);
    if (object != NULL) {
        (void)json_object_set_new(
            object, "degenerate", json_integer((json_int_t)r->report.degenerate));
        (void)json_object_set_new(object, "inactive", json_integer((json_int_t)r->report.inactive));
        (void)json_object_set_new(
            object, "copies", json_integer((json_int_t)(r->stats.triangles - r->report.triangles)));
        (void)json_object_set_new(object, "flat_instances", json_integer(r->flat_instances));
        (void)json_object_set_new(object, "build_seconds", json_real(r->seconds));
        (void)json_object_set_new(object, "threads", json_integer(r->threads));
        (void)json_object_set(object, "left_out", r->left_out);
    }
    return cli_print_json(args, object);
}

static bool read_options(const struct cli_args *args,
                         struct facet_gfx12_build_options *options,
                         uint64_t *threads)
{
    const char *quality = cli_value(args, "quality");
    uint64_t range = 0;

    *options = (struct facet_gfx12_build_options){.obb = cli_given(args, "obb"),
                                                  .allow_update = cli_given(args, "allow-update")};
    if (!cli_number(args, "prim-range", 1, 16, &range) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, threads) ||
        !session_bvh_address(args, "base", &options->base)) {
        return false;
    }
    options->prim_range = (uint32_t)range;
    options->quality = quality == NULL                    ? FACET_BVH_FAST
                       : strcmp(quality, "high") == 0     ? FACET_BVH_HIGH
                       : strcmp(quality, "contract") == 0 ? FACET_BVH_CONTRACT
                                                          : FACET_BVH_FAST;
    return true;
}

static int run_build(const struct cli_args *args)
{
    const char *output = cli_value(args, "output");
    const char *path = args->positional_count > 0 ? args->positional[0] : NULL;
    struct facet_gfx12_build_options options;
    struct facet_gfx12_image image = {NULL, 0};
    struct facet_render_bvh_input input = {0};
    struct facet_render_bvh_traits traits;
    struct result result = {0};
    struct facet_error err = {0};
    uint64_t threads = 0;
    enum facet_status status;
    int code;

    if (output == NULL) {
        return cli_bad(args, "expected -o FILE");
    }
    if (args->json && strcmp(output, "-") == 0) {
        return cli_bad(args, "--json and -o - both write to standard output");
    }
    if (bvh_rt_wanted(args)) {
        return bvh_rt_build(args);
    }
    if (cli_useless(args,
                    (const char *const[]){"ew", "element", "quantized", "reach", NULL},
                    "needs --format xphmg4 or xphmg8") ||
        (path == NULL && cli_useless(args, report_pose_names, "needs a scene"))) {
        return CLI_BAD;
    }
    if (path == NULL && !cli_given(args, "aabbs")) {
        return cli_bad(args, "expected a scene file or --aabbs FILE");
    }
    if (!read_options(args, &options, &threads) ||
        cli_would_replace(args, output, path, "the scene") ||
        cli_would_replace(args, output, cli_value(args, "aabbs"), "the file of boxes") ||
        !cli_can_write(args, output)) {
        return CLI_BAD;
    }
    status = report_bvh_traits(args, &traits, &err);
    traits.keep_off = options.allow_update;
    result.keeps_flat = options.allow_update;
    if (status == FACET_OK) {
        status = bvh_scene_read_as(
            args, path, cli_value(args, "aabbs"), &traits, false, &input, &result.left_out, &err);
    }
    if (status == FACET_OK) {
        result.flat_instances = input.flat_instances;
        status = build(args, &input, &options, (unsigned)threads, &image, &result, &err);
    }
    if (status == FACET_OK) {
        status = count(&image, options.base, &result.stats, &err);
    }
    if (status == FACET_OK) {
        status = facet_file_write(output, image.bytes, (size_t)image.size, &err);
    }
    facet_render_bvh_input_free(&input);
    free(image.bytes);
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else {
        code = strcmp(output, "-") == 0 ? CLI_OK : print_result(args, &result);
    }
    json_decref(result.left_out);
    return code;
}

static const struct cli_option build_options[] = {
    {"output", 'o', "FILE", "the image to write"},
    {"format", 0, "gfx12|xphmg4|xphmg8", "node format: GFX12, or XPHMG_RT tiles (default gfx12)"},
    REPORT_POSE_OPTIONS,
    {"prim-range", 0, "N", "most triangles of a leaf, 1 to 16 (default 8, for contract 2)"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    {"quality",
     0,
     "fast|high|contract",
     CLI_GROUP("GFX12") "fast: small images, quickly; high: a better tree; contract: the very "
                        "bytes of the contract's "
                        "own encoder (default fast)"},
    {"obb", 0, NULL, "give box nodes oriented boxes where they are tighter"},
    {"allow-update", 0, NULL, "primitive nodes with room for any motion (facet bvh update)"},
    {"aabbs", 0, "FILE", "JSON file with procedural boxes, one more bottom level"},
    REPORT_TRAIT_OPTIONS,
    {"base", 0, "ADDR", "address of the image in memory, a multiple of 64 (default 0)"},
    {"ew", 0, "8|16|32", CLI_GROUP("XPHMG_RT") "bits of a number (default 32)"},
    {"element",
     0,
     "NAME",
     "format of numbers: fp32, int32, fp16, bf16, bf16_lite, int16, fp8_e4m3, fp8_e5m2, "
     "int8, int4 or int2 (default fp32, fp16 or fp8_e4m3 by --ew; with --quantized an integer)"},
    {"quantized", 0, NULL, "integers with the scale and zero point that fit the scene"},
    {"reach", 0, "R", "rays start inside [-R, R] (default: within the scene's size of it)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_build = {
    .name = "bvh build",
    .summary = "build a BVH image (GFX12 or XPHMG_RT tiles) from a scene",
    .usage =
        "facet bvh build SCENE -o FILE [--quality fast|high|contract] [--obb] [--prim-range N]\n"
        "facet bvh build [SCENE] --aabbs FILE -o FILE\n"
        "facet bvh build SCENE -o FILE --format xphmg4|xphmg8 [--ew 8|16|32] [--quantized]",
    .details =
        "Reads a scene (glTF, OBJ, PLY, STL), gives every mesh a bottom-level structure and "
        "every instance an instance node, and writes one memory image: the top-level root at "
        "byte 0, the bottom levels after it, pointers as absolute addresses. The same input "
        "gives the same bytes on any number of threads; with quality contract they are those of "
        "section 12 of spec/gfx12-semantics.md.\n\n"
        "Pictures are not read. Triangles with NaN in x of a corner are inactive: left out and "
        "counted. The primitives of a glTF mesh are the geometries of one bottom level; primitive "
        "indices number the triangles of a geometry. An instance's user data is its number in the "
        "scene, where each geometry counts. What rays are told of geometries and instances, the "
        "file (docs/scenes.md) or options say, which go first. Triangles with two equal corners "
        "are left out, as are instances whose matrix "
        "has no inverse. Any other shapes of the scene that are not in the image (points, lines, "
        "animations without --time, unknown extensions) are reported on standard error; --quiet "
        "silences the "
        "report, --json has it as left_out.\n\n"
        "Quality high also cuts the boxes of long slanted triangles, which are then in several "
        "leaves "
        "(R-G12-101): fewer nodes per ray for a larger image.\n\n"
        "With --allow-update every corner of a triangle has a place of its own with its 32 bits "
        "per "
        "axis, so `facet bvh update` can move the triangles anywhere; such images are about two "
        "and a half times as large. Triangles with two equal corners are kept, since they may "
        "grow.\n\n"
        "The boxes file is {\"aabbs\": [{\"min\": [x, y, z], \"max\": [x, y, z]}, ...]}; each "
        "box may have \"geometry\", \"primitive\" (its number by default) and \"opaque\".\n\n"
        "With --format xphmg4 or xphmg8 the result is a heap of BVHNode4 or BVHNode8 tiles and a "
        "triangle buffer for XPHMG_RT after a small header (docs/rt-images.md). Instances are "
        "placed in the world. Corners are rounded to the element format, boxes outwards, grown "
        "first by 2^-20 of the extent of scene and ray origins, as the contract requires.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh build examples/gfx12/cube.obj -o cube.gfx12 --quality high --json\n"
                "facet bvh build examples/gfx12/flag.gltf -o flag.gfx12 --allow-update --time 0\n"
                "facet bvh build examples/gfx12/cube.obj -o cube.gfx12 --opaque no --mask 3\n"
                "facet bvh build --aabbs examples/gfx12/boxes.json -o boxes.gfx12\n"
                "facet bvh build examples/gfx12/cube.obj -o cube.tiles --format xphmg4 --ew 16\n"
                "facet bvh build examples/gfx12/cube.obj -o cube.tiles --format xphmg8 --ew 8 "
                "--quantized",
    .options = build_options,
    .has_json = true,
    .run = run_build,
    .operands = "[SCENE]",
};
