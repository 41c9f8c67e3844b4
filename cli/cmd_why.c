/* `facet why`: what a machine did for one pixel of a picture. */
#include "cli/render.h"
#include "report/camera.h"
#include "report/left_out.h"
#include "report/picture.h"
#include "report/pixel.h"

#include <string.h>

struct question {
    const struct cli_args *args;
    struct render_request request;
    struct facet_render_options options;
    struct facet_scene scene;
    facet_pool *pool;
};

/* A picture of all pixels. */
static enum facet_status draw(const struct question *q,
                              const struct facet_render_options *options,
                              struct facet_image_f *image,
                              struct facet_error *err)
{
    struct facet_render_report report;
    struct facet_render *render = NULL;
    enum facet_status status = facet_render_open(&q->scene, options, q->pool, NULL, &render, err);

    if (status == FACET_OK) {
        status = facet_render_draw(render, q->pool, NULL, image, &report, err);
    }
    facet_render_close(render);
    return status;
}

/* The first pixel that no other one exceeds in nodes. */
static enum facet_status
find_hottest(const struct question *q, struct facet_render_pixel *seen, struct facet_error *err)
{
    struct facet_render_options heat = q->options;
    struct facet_image_f image = {0};
    enum facet_status status;
    size_t best = 0;

    heat.view = FACET_SHADE_NODES;
    status = draw(q, &heat, &image, err);
    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = 1; i < (size_t)image.width * image.height; i++) {
        best = image.rgb[3 * i] > image.rgb[3 * best] ? i : best;
    }
    seen->x = (uint32_t)(best % image.width);
    seen->y = (uint32_t)(best / image.width);
    facet_image_f_free(&image);
    return FACET_OK;
}

static int ask(struct question *q, struct facet_render_pixel *seen)
{
    struct facet_render_options options = q->options;
    struct report_pixel p = {
        .scene = &q->scene, .options = &options, .seen = seen, .max_nodes = 1000};
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;
    int code;

    if (cli_given(q->args, "hottest")) {
        status = find_hottest(q, seen, &err);
    } else if (!report_pixel_read(q->args, options.width, options.height, &seen->x, &seen->y)) {
        return CLI_BAD;
    }
    if (status == FACET_OK) {
        status = report_pixel_ask(
            &p, &options, seen, q->pool, (float)q->request.exposure, q->request.clamp, &err);
    }
    code = status == FACET_OK ? report_pixel(q->args, &p) : cli_bad_error(q->args, &err);
    report_pixel_free(&p, seen);
    return code;
}

static int run_why(const struct cli_args *args)
{
    struct question q = {
        .args = args,
        .request = {.scene = args->positional[0], .spp = 16, .ao_rays = 1, .exposure = 1.0}};
    struct facet_render_pixel seen = {0};
    struct facet_error err = {0};
    int code = CLI_BAD;

    if (cli_given(args, "pixel") == cli_given(args, "hottest")) {
        return cli_bad(args, "expected --pixel X,Y or --hottest");
    }
    if (report_picture_wanted(args)) {
        return cli_bad(args,
                       "%s is no scene by its name; facet bvh why --pixel is for a BVH image",
                       q.request.scene);
    }
    if (!render_read_numbers(args, &q.request)) {
        return CLI_BAD;
    }
    if (report_scene_import(
            args, q.request.scene, (struct facet_import_options){0}, &q.scene, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (facet_pool_create((unsigned)q.request.threads, &q.pool, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
    } else if (render_read_options(args, &q.request, &q.scene, &q.options)) {
        code = q.options.machine->rasterizes && cli_given(args, "hottest")
                   ? cli_bad(args,
                             "--hottest is for machines that trace rays; %s does not",
                             q.options.machine->name)
                   : ask(&q, &seen);
    }
    facet_pool_destroy(q.pool);
    facet_scene_free(&q.scene);
    return code;
}

static const struct cli_option why_options[] = {
    {"pixel", 'p', "X,Y", CLI_GROUP("Pixel") "from the top left of the picture"},
    {"hottest", 0, NULL, "the first pixel with the most nodes per primary ray (see --heatmap)"},
    {"full", 0, NULL, "all rays, and every value and its bits"},
    {"size", 0, "WxH", CLI_GROUP("Picture, as in facet render") "pixels (default 1280x720)"},
    {"spp", 0, "N", "samples per pixel (default 16)"},
    {"camera", 0, "N", "number of the camera (default 0), or `frame`: see everything"},
    REPORT_POSE_OPTIONS,
    {"exposure", 0, "X", "brightness (default 1)"},
    {"tone", 0, "soft|clamp", "roll off highlights, or clip them (default soft)"},
    {"machine",
     'm',
     "gfx12|xphmg-rt|xphmg-rt-offload|xphmg-gfx|xphmg-gfx-portable|tile",
     CLI_GROUP("Machine") "which machine draws (default gfx12)"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    CLI_PLAIN_OPTION,
    {"quality", 0, "fast|high", "of the acceleration structure (default high)"},
    {"profile", 0, "silicon|gpurt", "of the intersect instructions (default silicon)"},
    {"bounces", 0, "N", CLI_GROUP("Light") "paths of light over N more surfaces"},
    {"no-shadows", 0, NULL, "lights shine through everything"},
    {"no-ao", 0, NULL, "no ambient occlusion"},
    {"ao-rays", 0, "N", "ambient occlusion rays per sample (default 1)"},
    {"ao-distance", 0, "X", "how far things occlude (default: a quarter of the scene)"},
    {"seed", 0, "N", "other numbers give other noise (default 0)"},
    REPORT_CAMERA_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_why = {
    .name = "why",
    .summary = "explain what a machine did for one pixel of a scene",
    .usage = "facet why SCENE --pixel X,Y [--machine NAME] [--size WxH] [--full] [--json]\n"
             "facet why SCENE --hottest [--machine NAME] [--size WxH]",
    .details =
        "Draws the pixel as `facet render` with the same options does, and tells what made it. "
        "Machines that trace rays: every ray that was sent for the pixel, what it hit, and the "
        "nodes that the first one visits. Machine xphmg-gfx: the triangles that each sample got. "
        "xphmg machines: the instructions that stored the pixel, with symbol and source line of "
        "the program on the hart. Machine tile: every "
        "draw that covered the pixel, as `facet tile why` tells it. Only the part of the picture "
        "that has the pixel is drawn, where the machine can.\n\n"
        "--hottest draws the heat map of all pixels first and takes the one with most nodes.",
    .examples = "facet why assets/room.glb --pixel 80,45 --size 160x90 --spp 1\n"
                "facet why assets/room.glb --hottest --size 64x36 --spp 1\n"
                "facet why assets/room.glb --pixel 80,45 --size 160x90 --spp 1 --machine tile",
    .options = why_options,
    .has_json = true,
    .run = run_why,
    .operands = "SCENE",
};
