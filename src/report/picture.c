/* See picture.h. */
#include "report/picture.h"
#include "report/lost.h"

#include "command/output.h"
#include "gfx12/ask/procedural.h"
#include "render/bvh_view.h"
#include "render/heat.h"
#include "render/render.h"
#include "report/camera.h"
#include "session/bvh/file.h"
#include "session/device/option.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool report_picture_wanted(const struct cli_args *args)
{
    static const char *const scenes[] = {".gltf", ".glb", ".obj", ".ply", ".stl"};

    if (args->positional_count == 0) {
        return true; /* only --segment */
    }
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        const size_t name = strlen(args->positional[0]), end = strlen(scenes[i]);

        if (name > end && strcasecmp(args->positional[0] + name - end, scenes[i]) == 0) {
            return false;
        }
    }
    return true;
}

static bool counts_candidates(const struct cli_args *args)
{
    const char *procedural = cli_value(args, "procedural");

    return procedural != NULL && strcmp(procedural, "candidates") == 0;
}

/* Options that only mean something with a scene are refused, not ignored. */
static bool options_fit(const struct cli_args *args, const char *name)
{
    static const char *const scenes[] = {"spp",
                                         "quality",
                                         "bounces",
                                         "no-shadows",
                                         "no-ao",
                                         "ao-rays",
                                         "ao-distance",
                                         "seed",
                                         "exposure",
                                         "tone",
                                         "stats"};
    const char *machine = cli_value(args, "machine"), *camera = cli_value(args, "camera");

    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (cli_given(args, scenes[i])) {
            (void)cli_bad(args,
                          "--%s is for scenes, which %s is not by its name; a BVH image is looked "
                          "at with one ray per pixel",
                          scenes[i],
                          name);
            return false;
        }
    }
    if (machine != NULL && strcmp(machine, "gfx12") != 0) {
        (void)cli_bad(args, "%s: a BVH image is drawn by --machine gfx12, not %s", name, machine);
        return false;
    }
    if (camera != NULL && strcmp(camera, "frame") != 0) {
        (void)cli_bad(
            args, "%s: a BVH image has no cameras: expected --camera frame or --eye X,Y,Z", name);
        return false;
    }
    if (cli_given(args, "heatmap") && cli_given(args, "aov")) {
        (void)cli_bad(args, "--heatmap and --aov are two pictures; ask for one");
        return false;
    }
    if (counts_candidates(args) && (cli_given(args, "heatmap") || cli_given(args, "aov"))) {
        (void)cli_bad(
            args, "--procedural candidates is a picture of its own, without --aov and --heatmap");
        return false;
    }
    return true;
}

static enum facet_render_aov read_aov(const struct cli_args *args)
{
    const char *heat = cli_value(args, "heatmap"), *aov = cli_value(args, "aov");

    if (counts_candidates(args)) {
        return FACET_AOV_CANDIDATES;
    }
    if (heat != NULL) {
        return strcmp(heat, "nodes") == 0 ? FACET_AOV_NODES : FACET_AOV_PAIRS;
    }
    return aov == NULL                  ? FACET_AOV_PICTURE
           : strcmp(aov, "normal") == 0 ? FACET_AOV_NORMAL
           : strcmp(aov, "depth") == 0  ? FACET_AOV_DEPTH
           : strcmp(aov, "ids") == 0    ? FACET_AOV_IDS
           : strcmp(aov, "heat") == 0   ? FACET_AOV_NODES
                                        : FACET_AOV_PICTURE;
}

static bool is_float(const char *output)
{
    return cli_ends_with(output, ".pfm") || cli_ends_with(output, ".exr");
}

static bool is_counted(enum facet_render_aov aov)
{
    return aov == FACET_AOV_NODES || aov == FACET_AOV_PAIRS || aov == FACET_AOV_CANDIDATES;
}

static enum facet_status encode(const struct cli_args *args,
                                const struct facet_render_bvh_look *look,
                                struct facet_image_f *image,
                                struct facet_bytes *out,
                                struct facet_error *err)
{
    const char *output = cli_value(args, "output");
    const char *counted = look->aov == FACET_AOV_NODES   ? "nodes per primary ray"
                          : look->aov == FACET_AOV_PAIRS ? "triangle pairs per primary ray"
                          : look->aov == FACET_AOV_CANDIDATES
                              ? "procedural primitives per primary ray"
                              : NULL;
    double limit = (double)facet_render_heat_limit(image);
    struct facet_image picture;
    enum facet_status status;

    if (is_float(output)) {
        return facet_image_f_encode(output, image, out, err);
    }
    if (counted != NULL) {
        (void)cli_real(args, "heat-max", 1.0, 1e9, &limit); /* was checked before */
        status = facet_render_heat_picture(image, (float)limit, counted, &picture, err);
    } else {
        if (look->aov == FACET_AOV_DEPTH) {
            facet_render_depth_greys(image);
        }
        status = facet_render_develop(image, 1.0f, true, &picture, err);
    }
    if (status == FACET_OK) {
        status = facet_image_png_encode(&picture, out, err);
        facet_image_free(&picture);
    }
    return status;
}

static enum facet_status draw_image(const struct cli_args *args,
                                    const struct facet_gfx12_view *view,
                                    const struct facet_render_bvh_look *look,
                                    facet_pool *pool,
                                    struct facet_image_f *image,
                                    struct facet_render_bvh_seen *seen,
                                    struct facet_error *err)
{
    struct facet_progress progress;
    enum facet_status status;

    facet_progress_start(&progress,
                         &(struct facet_progress_config){.label = "rendering",
                                                         .unit = "rows",
                                                         .total = look->height,
                                                         .fd = STDERR_FILENO,
                                                         .quiet = args->quiet});
    status = facet_render_bvh_view(view, look, pool, &progress, image, seen, err);
    facet_progress_finish(&progress);
    return status;
}

/* With the rays where --device says. */
static enum facet_status draw_where(const struct cli_args *args,
                                    const struct facet_gfx12_view *view,
                                    const struct facet_render_bvh_look *look,
                                    facet_pool *pool,
                                    struct facet_image_f *image,
                                    struct facet_render_bvh_seen *seen,
                                    struct facet_error *err)
{
    struct facet_render_bvh_look there = *look;
    struct session_device where;
    enum facet_status status;

    (void)session_device_read(args, &where); /* was checked before */
    status = session_device_open(args, &where, NULL, &there.device, err);
    if (status == FACET_OK) {
        status = draw_image(args, view, &there, pool, image, seen, err);
    }
    if (status == FACET_ERR_IO && there.device != NULL && where.fallback) {
        session_device_tell(args, err);
        status = draw_image(args, view, look, pool, image, seen, err);
    }
    facet_gfx12_device_close(there.device);
    return status;
}

static enum facet_status draw(const struct cli_args *args,
                              const struct facet_gfx12_view *view,
                              const struct facet_render_bvh_look *look,
                              unsigned threads,
                              struct facet_render_bvh_seen *seen,
                              struct facet_error *err)
{
    struct facet_image_f image;
    struct facet_bytes bytes = {NULL, 0};
    facet_pool *pool;
    enum facet_status status = facet_pool_create(threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    status = draw_where(args, view, look, pool, &image, seen, err);
    if (status == FACET_OK) {
        status = encode(args, look, &image, &bytes, err);
        facet_image_f_free(&image);
    }
    if (status == FACET_OK) {
        status = facet_file_write(cli_value(args, "output"), bytes.data, bytes.size, err);
    }
    free(bytes.data);
    facet_pool_destroy(pool);
    return status;
}

static int tell(const struct cli_args *args,
                const struct facet_render_bvh_look *look,
                const struct facet_render_bvh_seen *seen)
{
    const bool counted = look->aov == FACET_AOV_CANDIDATES;

    if (args->json) {
        return cli_print_json(
            args,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:o*}",
                      "output",
                      facet_json_name(cli_value(args, "output")),
                      "width",
                      (json_int_t)look->width,
                      "height",
                      (json_int_t)look->height,
                      "rays",
                      (json_int_t)seen->rays,
                      "hits",
                      (json_int_t)seen->hits,
                      "nodes",
                      (json_int_t)seen->nodes,
                      "candidates",
                      counted ? json_integer((json_int_t)seen->candidates) : NULL));
    }
    if (!args->quiet && strcmp(cli_value(args, "output"), "-") != 0) {
        printf("%ux%u pixels, %" PRIu64 " hit%s, %.1f instructions per ray",
               look->width,
               look->height,
               seen->hits,
               cli_s(seen->hits),
               (double)seen->nodes / (double)seen->rays);
        if (counted) {
            printf(
                ", %" PRIu64 " procedural candidate%s", seen->candidates, cli_s(seen->candidates));
        }
        printf("\n");
    }
    return CLI_OK;
}

static bool read_look(const struct cli_args *args,
                      const struct session_bvh *file,
                      struct facet_render_bvh_look *look)
{
    const char *profile = cli_value(args, "profile");
    const float zero[3] = {0, 0, 0};
    uint64_t width, height, flags = 0, mask = 0xFF;
    double limit;

    *look =
        (struct facet_render_bvh_look){.aov = read_aov(args), .plain = cli_given(args, "plain")};
    if (profile != NULL && strcmp(profile, "gpurt") == 0) {
        look->profile = FACET_GFX12_GPURT;
    }
    facet_gfx12_query_init(&look->common, zero, zero);
    if (cli_given(args, "procedural") && !counts_candidates(args)) {
        look->common.callbacks.procedural = facet_gfx12_procedural_box;
    }
    if (!cli_real(args, "heat-max", 1.0, 1e9, &limit) ||
        !cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !report_size_read(args, &width, &height) ||
        !report_camera_frame(args, &file->view, file->name, &look->camera)) {
        return false;
    }
    if ((!is_counted(look->aov) || is_float(cli_value(args, "output"))) &&
        cli_useless(args,
                    (const char *const[]){"heat-max", NULL},
                    "is for colours of counts: --heatmap, --aov heat or --procedural candidates, "
                    "in a .png")) {
        return false;
    }
    look->common.api_flags = (uint32_t)flags;
    look->common.instance_mask = (uint32_t)mask;
    look->width = (uint32_t)width;
    look->height = (uint32_t)height;
    return true;
}

int report_picture(const struct cli_args *args)
{
    const char *output = cli_value(args, "output");
    struct facet_render_bvh_look look;
    struct facet_render_bvh_seen seen = {0};
    struct session_device device;
    struct facet_error err = {0};
    struct session_bvh file;
    uint64_t threads = 0;
    int code = CLI_BAD;

    if (output == NULL) {
        return cli_bad(args, "-o FILE is required");
    }
    if (!is_float(output) && !cli_ends_with(output, ".png") && strcmp(output, "-") != 0) {
        return cli_bad(args, "-o is '%s'; expected a name with .png, .pfm or .exr", output);
    }
    if (strcmp(output, "-") == 0 && args->json) {
        return cli_bad(args, "picture and statistics both write to standard output");
    }
    if (!session_device_read(args, &device) ||
        (device.wanted && cli_useless(args,
                                      (const char *const[]){"plain", NULL},
                                      "is for the processor, not for --device"))) {
        return CLI_BAD;
    }
    if (!cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_can_write(args, output) || !session_bvh_read(args, session_bvh_operand(args), &file)) {
        return CLI_BAD;
    }
    if (!session_bvh_would_be_replaced(args, output, &file, false) &&
        session_bvh_has_nodes(args, &file) && options_fit(args, file.name) &&
        read_look(args, &file, &look)) {
        code = draw(args, &file.view, &look, (unsigned)threads, &seen, &err) == FACET_OK
                   ? tell(args, &look, &seen)
                   : cli_bad_error(args, &err);
    }
    if (code == CLI_OK && report_trouble(args, &file.view, false)) {
        code = CLI_NO;
    }
    session_bvh_free(&file);
    return code;
}
