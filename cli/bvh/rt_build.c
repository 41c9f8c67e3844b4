/* `facet bvh build --format xphmg4|xphmg8`. */
#include "cli/bvh/rt.h"
#include "command/output.h"
#include "report/left_out.h"

#include "rt_image/build.h"
#include "rt_image/check.h"
#include "scene/import.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The names of --element; the first of a width is what --ew alone means. */
static const struct {
    const char *name;
    enum facet_format format;
    unsigned ew;
} elements[] = {
    {"fp32", FACET_FMT_FP32, 32},
    {"int32", FACET_FMT_INT32, 32},
    {"fp16", FACET_FMT_FP16, 16},
    {"bf16", FACET_FMT_BF16, 16},
    {"bf16_lite", FACET_FMT_BF16_LITE, 16},
    {"int16", FACET_FMT_INT16, 16},
    {"fp8_e4m3", FACET_FMT_E4M3, 8},
    {"fp8_e5m2", FACET_FMT_E5M2, 8},
    {"int8", FACET_FMT_INT8, 8},
    {"int4", FACET_FMT_INT4, 8},
    {"int2", FACET_FMT_INT2, 8},
};
#define ELEMENTS (sizeof elements / sizeof elements[0])

bool bvh_rt_wanted(const struct cli_args *args)
{
    const char *format = cli_value(args, "format");

    return format != NULL && strncmp(format, "xphmg", 5) == 0;
}

static bool choose_element(const struct cli_args *args, struct facet_rtbvh_options *options)
{
    const char *name = cli_value(args, "element"), *width = cli_value(args, "ew");
    unsigned ew = width != NULL ? (unsigned)strtoul(width, NULL, 10) : 0;

    options->quantized = cli_given(args, "quantized");
    if (name == NULL && ew == 0) {
        ew = 32;
    }
    for (size_t i = 0; i <= ELEMENTS; i++) {
        if (i == ELEMENTS) {
            (void)cli_bad(args,
                          "--element %s: expected fp32, int32, fp16, bf16, bf16_lite, int16, "
                          "fp8_e4m3, fp8_e5m2, int8, int4 or int2",
                          name);
            return false;
        }
        if (name != NULL ? strcmp(name, elements[i].name) == 0
                         : elements[i].ew == ew &&
                               facet_format_is_int(elements[i].format) == options->quantized) {
            options->element = (uint8_t)elements[i].format;
            if (ew != 0 && elements[i].ew != ew) {
                (void)cli_bad(args, "--element %s needs --ew %u", name, elements[i].ew);
                return false;
            }
            break;
        }
    }
    if (options->quantized && !facet_format_is_int(options->element)) {
        (void)cli_bad(args, "--quantized: expected an integer --element, found %s", name);
        return false;
    }
    return true;
}

static bool
read_options(const struct cli_args *args, struct facet_rtbvh_options *options, uint64_t *threads)
{
    static const char *const others[] = {"quality",
                                         "obb",
                                         "allow-update",
                                         "aabbs",
                                         "base",
                                         "opaque",
                                         "cull-disable",
                                         "force-opaque",
                                         "flip",
                                         "mask",
                                         "user-data",
                                         NULL};
    uint64_t leaf = 0;

    if (cli_useless(args, others, "is for --format gfx12; XPHMG_RT tiles do not have it")) {
        return false;
    }
    *options = (struct facet_rtbvh_options){
        .children = strcmp(cli_value(args, "format"), "xphmg8") == 0 ? 8 : 4};
    if (!choose_element(args, options) || !cli_number(args, "prim-range", 1, 16, &leaf) ||
        !cli_real(args, "reach", 0.0, 1e38, &options->reach) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, threads)) {
        return false;
    }
    options->leaf_size = (uint32_t)leaf;
    return true;
}

enum facet_status bvh_rt_scene(const struct cli_args *args,
                               const char *path,
                               struct facet_render_rt_input *out,
                               json_t **left_out,
                               struct facet_error *err)
{
    struct facet_scene scene;
    enum facet_status status;

    facet_scene_init(&scene);
    status = report_scene_import(
        args, path, (struct facet_import_options){.shape_only = true}, &scene, err);
    if (status == FACET_OK) {
        status = facet_render_rt_input_make(&scene, out, err);
    }
    if (status == FACET_OK) {
        status = report_tell_left_out(args, path, &scene, FACET_LOSS_SHAPE, left_out, err);
    }
    facet_scene_free(&scene);
    return status;
}

static enum facet_status build(const struct cli_args *args,
                               const struct facet_render_rt_input *input,
                               const struct facet_rtbvh_options *options,
                               unsigned threads,
                               struct facet_rtbvh_image *image,
                               struct facet_rtbvh_report *report,
                               struct facet_error *err)
{
    struct facet_progress progress;
    facet_pool *pool;
    enum facet_status status = facet_pool_create(threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_progress_start(&progress,
                         &(struct facet_progress_config){.label = "building",
                                                         .unit = "triangles",
                                                         .total = input->count,
                                                         .fd = STDERR_FILENO,
                                                         .quiet = args->quiet});
    status = facet_rtbvh_build(
        input->triangles, input->count, options, pool, &progress, image, report, err);
    facet_progress_finish(&progress);
    facet_pool_destroy(pool);
    return status;
}

static int print_result(const struct cli_args *args,
                        const struct facet_rtbvh_image *image,
                        const struct facet_rtbvh_report *report,
                        json_t *left_out)
{
    struct facet_rtbvh_view view;
    const struct facet_rtbvh_header *h = &view.header;
    struct facet_error err = {0};

    if (facet_rtbvh_open(image->bytes, image->size, &view, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args,
                              json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:f, s:O}",
                                        "bytes",
                                        (json_int_t)image->size,
                                        "nodes",
                                        (json_int_t)h->nodes,
                                        "leaves",
                                        (json_int_t)h->leaves,
                                        "triangles",
                                        (json_int_t)report->triangles,
                                        "degenerate",
                                        (json_int_t)report->degenerate,
                                        "element",
                                        facet_format_name(view.eff.elem),
                                        "mode",
                                        facet_json_hex(h->mode),
                                        "alt",
                                        facet_json_hex(h->alt),
                                        "growth",
                                        (double)h->pad,
                                        "left_out",
                                        left_out));
    }
    printf("nodes               %u of %u children\n", h->nodes, h->children);
    printf("leaves              %u\n", h->leaves);
    printf("triangles           %u\n", report->triangles);
    printf("elements            %s, MODE 0x%" PRIx64 ", ALT 0x%" PRIx64 "\n",
           facet_format_name(view.eff.elem),
           h->mode,
           h->alt);
    printf("bytes               %" PRIu64 "\n", image->size);
    if (report->degenerate != 0) {
        printf("left out            %u degenerate triangle%s\n",
               report->degenerate,
               cli_s(report->degenerate));
    }
    return CLI_OK;
}

int bvh_rt_build(const struct cli_args *args)
{
    const char *output = cli_value(args, "output");
    struct facet_rtbvh_options options;
    struct facet_rtbvh_report report;
    struct facet_rtbvh_image image = {NULL, 0};
    struct facet_render_rt_input input = {NULL, 0};
    struct facet_error err = {0};
    json_t *left_out = NULL;
    uint64_t threads = 0;
    enum facet_status status;
    int code;

    if (!read_options(args, &options, &threads)) {
        return CLI_BAD;
    }
    if (args->positional_count == 0) {
        return cli_bad(args, "expected a scene file");
    }
    if (cli_would_replace(args, output, args->positional[0], "the scene") ||
        !cli_can_write(args, output)) {
        return CLI_BAD;
    }
    status = bvh_rt_scene(args, args->positional[0], &input, &left_out, &err);
    if (status == FACET_OK) {
        status = build(args, &input, &options, (unsigned)threads, &image, &report, &err);
        if (status != FACET_OK) {
            (void)facet_fail_in(&err, args->positional[0]);
        }
    }
    free(input.triangles);
    if (status == FACET_OK) {
        status = facet_file_write(output, image.bytes, (size_t)image.size, &err);
    }
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else {
        code = strcmp(output, "-") == 0 ? CLI_OK : print_result(args, &image, &report, left_out);
    }
    json_decref(left_out);
    free(image.bytes);
    return code;
}
