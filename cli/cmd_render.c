/* `facet render`: a picture of a scene, drawn by a machine. */
#include "cli/bvh/bvh.h"
#include "cli/bvh/rt.h"
#include "cli/render.h"
#include "command/output.h"
#include "report/left_out.h"

#include "base/progress.h"
#include "report/camera.h"
#include "report/picture.h"
#include "report/rt_image.h"
#include "scene/import.h"
#include "scene/wire.h"
#include "session/device/option.h"
#include "session/profile.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_EXPOSURE 1e6

/* Buckets whose rays wait for a device: 256 of them have up to 262,144 rays in a wave. */
enum { BUCKETS_UNDER_WAY = 256 };

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the command line ---- */

static const struct facet_render_machine *read_machine(const struct cli_args *args)
{
    const char *name = cli_value(args, "machine");
    const struct facet_render_machine *machine =
        name != NULL ? facet_render_machine_find(name) : facet_render_machines[0];
    char names[256] = "";

    if (machine != NULL) {
        return machine;
    }
    for (size_t i = 0; facet_render_machines[i] != NULL; i++) {
        size_t at = strlen(names);

        (void)snprintf(names + at,
                       sizeof names - at,
                       "%s%s",
                       i != 0 ? ", " : "",
                       facet_render_machines[i]->name);
    }
    (void)cli_bad(args, "--machine is '%s'; expected one of: %s, all", name, names);
    return NULL;
}

static bool wants_all(const struct cli_args *args)
{
    const char *name = cli_value(args, "machine");

    return name != NULL && strcmp(name, "all") == 0;
}

static bool
read_request(const struct cli_args *args, struct session_share *share, struct render_request *r)
{
    static const char *const of_result[] = {"stats", NULL};

    *r = (struct render_request){.scene = args->positional[0],
                                 .output = cli_value(args, "output"),
                                 .spp = 16,
                                 .ao_rays = 1,
                                 .exposure = 1.0,
                                 .share = share};
    if ((share->share.parts == 0 && !report_render_output(args, r)) ||
        !session_share_fits(share, args, of_result) ||
        cli_would_replace(args, r->output, r->scene, "the scene") ||
        cli_would_replace(args, r->stats, r->scene, "the scene") ||
        cli_would_replace(args, r->stats, share->share.journal, "the file of --resume")) {
        return false;
    }
    return render_read_numbers(args, r);
}

bool render_read_numbers(const struct cli_args *args, struct render_request *r)
{
    const char *tone = cli_value(args, "tone");

    if (!report_size_read(args, &r->width, &r->height) ||
        !cli_number(args, "spp", 1, FACET_RENDER_MAX_SPP, &r->spp) ||
        !cli_number(args, "seed", 0, UINT32_MAX, &r->seed) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &r->threads) ||
        !cli_number(args, "bounces", 0, FACET_RENDER_MAX_BOUNCES, &r->bounces) ||
        !cli_number(args, "ao-rays", 1, FACET_RENDER_MAX_AO_RAYS, &r->ao_rays) ||
        !cli_real(args, "ao-distance", 1e-6, 1e30, &r->ao_distance) ||
        !cli_real(args, "heat-max", 1.0, 1e9, &r->heat_limit) ||
        !cli_real(args, "exposure", 1.0 / MAX_EXPOSURE, MAX_EXPOSURE, &r->exposure)) {
        return false;
    }
    r->clamp = tone != NULL && strcmp(tone, "clamp") == 0;
    return true;
}

/* --camera N, --camera frame; the scene's first camera otherwise. */
static bool read_camera(const struct cli_args *args,
                        const struct facet_scene *scene,
                        struct facet_scene_camera *camera)
{
    const char *text = cli_value(args, "camera");
    uint64_t number = 0;

    if (text != NULL && strcmp(text, "frame") == 0) {
        facet_scene_frame(&scene->bounds, camera);
    } else if (!cli_number(args, "camera", 0, scene->camera_count - 1, &number)) {
        return false;
    } else {
        *camera = scene->cameras[number];
    }
    return report_camera_move(args, scene->bounds.lo, scene->bounds.hi, camera);
}

/* Options that a machine without rays cannot serve are refused, not ignored. */
static bool has_rays(const struct cli_args *args, const struct facet_render_machine *machine)
{
    static const char *const names[] = {"heatmap", "heat-max", "bounces", "ao-rays", "ao-distance"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (cli_value(args, names[i]) != NULL) {
            (void)cli_bad(
                args, "--%s is for machines that trace rays; %s does not", names[i], machine->name);
            return false;
        }
    }
    return true;
}

bool render_read_options(const struct cli_args *args,
                         const struct render_request *r,
                         const struct facet_scene *scene,
                         struct facet_render_options *out)
{
    const char *heat = cli_value(args, "heatmap"), *quality = cli_value(args, "quality");
    const char *profile = cli_value(args, "profile");

    facet_render_options_default(out, scene);
    out->machine = wants_all(args) ? facet_render_machines[0] : read_machine(args);
    if (out->machine->rasterizes && !has_rays(args, out->machine)) {
        return false;
    }
    if (heat == NULL &&
        cli_useless(args, (const char *const[]){"heat-max", NULL}, "is for --heatmap")) {
        return false;
    }
    if ((out->machine->places_instances || out->machine->rasterizes) &&
        (quality != NULL || profile != NULL)) {
        (void)cli_bad(args,
                      "--%s is for gfx12; machine %s does not have it",
                      quality != NULL ? "quality" : "profile",
                      out->machine->name);
        return false;
    }
    out->width = (uint32_t)r->width;
    out->height = (uint32_t)r->height;
    out->spp = (uint32_t)r->spp;
    out->seed = (uint32_t)r->seed;
    out->shadows = !cli_given(args, "no-shadows");
    out->ao_rays = cli_given(args, "no-ao") ? 0 : (uint32_t)r->ao_rays;
    out->ao_distance = (float)r->ao_distance;
    out->bounces = (uint32_t)r->bounces;
    if (heat != NULL) {
        out->view = strcmp(heat, "nodes") == 0 ? FACET_SHADE_NODES : FACET_SHADE_TRIANGLES;
    }
    if (quality != NULL && strcmp(quality, "fast") == 0) {
        out->quality = FACET_BVH_FAST;
    }
    if (profile != NULL && strcmp(profile, "gpurt") == 0) {
        out->profile = FACET_GFX12_GPURT;
    }
    out->plain = cli_given(args, "plain");
    return read_camera(args, scene, &out->camera);
}

/* Where rays are traced and, if the device can, paths are shaded. */
static bool read_device(const struct cli_args *args, struct session_device *where)
{
    static const char *const of_processor[] = {"plain", NULL};

    if (!session_device_read(args, where) ||
        (where->wanted &&
         cli_useless(args, of_processor, "is for the processor, not for --device"))) {
        return false;
    }
    if (where->wanted && strcmp(read_machine(args)->name, "gfx12") != 0) {
        (void)cli_bad(args, "--device is for machine gfx12, not for %s", read_machine(args)->name);
        return false;
    }
    where->options.addition = &facet_render_device_addition;
    return true;
}

/* ---- the work ---- */

static void start_progress(const struct cli_args *args,
                           struct facet_progress *progress,
                           const char *label,
                           const char *unit,
                           uint64_t total)
{
    facet_progress_start(progress,
                         &(struct facet_progress_config){.label = label,
                                                         .unit = unit,
                                                         .total = total,
                                                         .fd = STDERR_FILENO,
                                                         .quiet = args->quiet});
}

static enum facet_status
count_rt_image(const struct facet_render *render, struct render_outcome *o, struct facet_error *err)
{
    struct facet_rtbvh_check check;
    uint64_t size;
    const uint8_t *bytes = facet_render_rt_image(render, &size);
    enum facet_status status =
        bytes != NULL ? facet_rtbvh_check(bytes, size, 1, &check, err) : FACET_OK;

    if (bytes != NULL && status == FACET_OK) {
        o->bvh = check.open ? report_rt_info_json(&check) : NULL;
        facet_rtbvh_check_free(&check);
    }
    return status;
}

static enum facet_status
count_bvh(const struct facet_render *render, struct render_outcome *o, struct facet_error *err)
{
    const struct facet_gfx12_image *image = facet_render_bvh(render);
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_view view;
    enum facet_status status;

    if (image == NULL) {
        return count_rt_image(render, o, err);
    }
    view = (struct facet_gfx12_view){
        .bytes = image->bytes, .size = image->size, .root = FACET_GFX12_ROOT};
    status = facet_gfx12_walk(&view, &walk, err);
    if (status == FACET_OK) {
        status = facet_gfx12_bvh_stats(&view, &walk, &stats, err);
        o->bvh = status == FACET_OK ? report_stats_json(&stats) : NULL;
        facet_gfx12_walk_free(&walk);
    }
    return status;
}

/* What shared work draws. The scene may have another name on another machine. */
static void describe(const struct cli_args *args,
                     const struct facet_scene *scene,
                     const struct facet_render_options *options,
                     const struct render_request *r,
                     const struct render_outcome *o)
{
    static const char *const aside[] = {"stats", "device", "fallback", "device-memory", NULL};

    session_share_describe(r->share,
                           args,
                           aside,
                           json_pack("{s:o}", "scene", facet_json_hex(facet_wire_hash(scene))),
                           report_render_frame(r, options, o));
    (void)json_object_set_new(r->share->share.head, "name", facet_json_name(r->scene));
}

enum facet_status render_draw(const struct cli_args *args,
                              const struct facet_scene *scene,
                              const struct facet_render_options *options,
                              const struct render_request *r,
                              struct facet_image_f *image,
                              struct render_outcome *o,
                              struct facet_error *err)
{
    struct facet_progress progress;
    struct facet_render *render = NULL;
    facet_pool *pool;
    double start = seconds();
    enum facet_status status = facet_pool_create((unsigned)r->threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    o->threads = facet_pool_threads(pool);
    start_progress(args,
                   &progress,
                   "building",
                   "primitives",
                   options->machine->places_instances ? facet_scene_instanced_triangles(scene)
                                                      : facet_scene_triangles(scene));
    status = facet_render_open(scene, options, pool, &progress, &render, err);
    facet_progress_finish(&progress);
    o->seconds[PHASE_BUILD] = seconds() - start;
    if (status == FACET_OK && (args->json || r->stats != NULL || options->share != NULL)) {
        status = count_bvh(render, o, err);
    }
    if (status == FACET_OK) {
        o->flat_instances = facet_render_flat_instances(render);
        o->exposure =
            (options->machine->display ? 1.0F : facet_shade_exposure(scene)) * (float)r->exposure;
        if (options->share != NULL) {
            describe(args, scene, options, r, o);
        }
        if (options->device != NULL && r->threads == 0) {
            facet_pool_destroy(pool);
            pool = NULL;
            status = facet_pool_create(BUCKETS_UNDER_WAY, &pool, err);
        }
    }
    if (status == FACET_OK) {
        start = seconds();
        start_progress(args,
                       &progress,
                       "rendering",
                       "buckets",
                       facet_share_items(options->share,
                                         facet_render_buckets(options),
                                         facet_render_grain(options)));
        status = facet_render_draw(render, pool, &progress, image, &o->report, err);
        facet_progress_finish(&progress);
        o->seconds[PHASE_RENDER] = seconds() - start;
    }
    facet_render_close(render);
    facet_pool_destroy(pool);
    return status;
}

/* The rays of the picture, which programs on a hart cast themselves, and the text of the file. */
static bool finish_profile(struct session_profile *profile,
                           const struct facet_render_options *options,
                           const struct render_outcome *o)
{
    static const char *const kinds[FACET_RAY_KIND_COUNT] = {
        "primary rays", "shadow rays", "ambient rays", "bounce rays"};
    const struct facet_render_machine *machine = options->machine;
    const enum facet_isa isa = machine->program != NULL             ? FACET_ISA_XPHMG
                               : strcmp(machine->name, "tile") == 0 ? FACET_ISA_TILE
                                                                    : PROFILE_RAYS;

    for (unsigned k = 0; options->counts != NULL && k < FACET_RAY_KIND_COUNT; k++) {
        const struct facet_shade_cost *cost = &o->report.cost[k];

        if (cost->rays != 0) {
            facet_counts_add(options->counts, kinds[k], "rays", cost->rays);
            facet_counts_add(options->counts, kinds[k], "hits", cost->hits);
            facet_counts_add(options->counts, kinds[k], "nodes", cost->nodes);
            facet_counts_add(options->counts, kinds[k], "box nodes", cost->box_nodes);
            facet_counts_add(options->counts, kinds[k], "instance nodes", cost->instance_nodes);
            facet_counts_add(options->counts, kinds[k], "primitive nodes", cost->primitive_nodes);
        }
    }
    return session_profile_finish_elf(profile, isa, machine->program, machine->program_bytes);
}

/* The same on a device where --device asks for one. */
static enum facet_status draw_on_device(const struct cli_args *args,
                                        const struct facet_scene *scene,
                                        struct facet_render_options *options,
                                        const struct render_request *r,
                                        const struct session_device *where,
                                        struct facet_image_f *image,
                                        struct render_outcome *o,
                                        struct facet_error *err)
{
    struct facet_render_device device = {.fallback = where->fallback};
    enum facet_status status = session_device_open(args, where, NULL, &device.device, err);

    if (status == FACET_OK) {
        options->device = device.device != NULL ? &device : NULL;
        status = render_draw(args, scene, options, r, image, o, err);
        options->device = NULL;
    }
    if (status == FACET_OK && device.failed) {
        session_device_tell(args, &device.failure);
    }
    facet_gfx12_device_close(device.device);
    return status;
}

static int render_scene(const struct cli_args *args,
                        const struct render_request *r,
                        const struct facet_scene *scene,
                        struct render_outcome *o)
{
    struct facet_render_options options;
    struct facet_image_f image = {0};
    struct facet_bytes picture = {NULL, 0};
    struct facet_error err = {0};
    struct session_profile profile;
    struct session_device where;
    json_t *stats = NULL;
    enum facet_status status;
    double start;
    int code;

    if (cli_given(args, "profile-out") && read_machine(args)->rasterizes &&
        read_machine(args)->program == NULL && strcmp(read_machine(args)->name, "tile") != 0) {
        return cli_bad(args,
                       "--profile-out: machine %s is C code of the host; expected one with "
                       "instructions, draws or rays",
                       read_machine(args)->name);
    }
    if (cli_given(args, "profile-out") && session_share_work(r->share) != NULL) {
        return cli_bad(args, "--profile-out counts whole pictures, not shares of them");
    }
    if (!read_device(args, &where) ||
        cli_would_replace(args, r->output, cli_value(args, "profile-out"), "the profile") ||
        cli_would_replace(args, r->stats, cli_value(args, "profile-out"), "the profile") ||
        !render_read_options(args, r, scene, &options) ||
        !session_profile_start(&profile, args, NULL)) {
        return CLI_BAD;
    }
    options.counts = profile.path != NULL ? &profile.counts : NULL;
    options.share = session_share_work(r->share);
    status = draw_on_device(args, scene, &options, r, &where, &image, o, &err);
    if (status == FACET_OK && session_share_ends(r->share, args, &code)) {
        facet_image_f_free(&image);
        session_profile_free(&profile);
        return code;
    }
    if (status == FACET_OK && !finish_profile(&profile, &options, o)) {
        facet_image_f_free(&image);
        session_profile_free(&profile);
        return CLI_BAD;
    }
    if (status == FACET_OK) {
        start = seconds();
        status = report_render_encode(r, &options, &image, o, &picture, &err);
        o->seconds[PHASE_WRITE] = seconds() - start;
    }
    facet_image_f_free(&image);
    if (status == FACET_OK) {
        stats = r->stats != NULL ? report_render_outcome_json(r, &options, o) : NULL;
        status = report_render_write(r, &picture, stats, session_profile_part(&profile), &err);
        json_decref(stats);
    }
    session_profile_free(&profile);
    free(picture.data);
    return status == FACET_OK ? report_render_tell(args, r, &options, o)
                              : cli_bad_error(args, &err);
}

/* What the machine does not take from the scene, and the cameras when none was chosen. */
static enum facet_status
note_losses(const struct cli_args *args, struct facet_scene *scene, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (unsigned i = 0; status == FACET_OK && facet_render_machines[i] != NULL; i++) {
        const struct facet_render_machine *machine = facet_render_machines[i];

        if (machine->note_left_out != NULL && (wants_all(args) || read_machine(args) == machine)) {
            status = machine->note_left_out(scene, err);
        }
    }
    if (status == FACET_OK && cli_value(args, "camera") == NULL && scene->camera_count > 1) {
        status = facet_scene_leave_out(scene,
                                       FACET_LOSS_LOOK,
                                       scene->camera_count - 1,
                                       "cameras",
                                       scene->cameras[1].name,
                                       "camera 0 is used; --camera N chooses",
                                       err);
    }
    return status;
}

/* Pictures that no processes share. */
static bool draws_alone(const struct cli_args *args, const char *what)
{
    static const char *const shared[] = {"part", "resume", "profile-out", NULL};

    return !cli_useless(args, shared, "is for a scene on one machine, not for %s", what);
}

static bool draws_here(const struct cli_args *args)
{
    static const char *const there[] = {"device", "fallback", "device-memory", NULL};

    return !cli_useless(args, there, "is for a scene on one machine, not for all of them");
}

static int run_render(const struct cli_args *given)
{
    static const char *const image_only[] = {
        "aov", "procedural", "flags", "mask", "segment", "base", "root"};
    struct cli_args quiet = *given, *args = &quiet;
    struct session_share share;
    struct render_outcome outcome = {0};
    struct render_request request;
    struct facet_scene scene;
    struct facet_error err = {0};
    double start = seconds();
    int code;

    if (report_picture_wanted(args)) {
        return draws_alone(args, args->positional[0]) ? report_picture(args) : CLI_BAD;
    }
    if (!session_share_read(args, &share)) {
        return CLI_BAD;
    }
    quiet.quiet = session_share_quiet(&share, args);
    for (size_t i = 0; i < sizeof image_only / sizeof image_only[0]; i++) {
        if (cli_given(args, image_only[i])) {
            return cli_bad(args, "--%s is for BVH images", image_only[i]);
        }
    }
    if ((wants_all(args) && (!draws_alone(args, "all of them") || !draws_here(args))) ||
        !read_request(args, &share, &request) || (!wants_all(args) && read_machine(args) == NULL)) {
        return CLI_BAD;
    }
    if (report_scene_import(args, request.scene, (struct facet_import_options){0}, &scene, &err) !=
        FACET_OK) {
        return cli_bad_error(args, &err);
    }
    outcome.seconds[PHASE_IMPORT] = seconds() - start;
    if (note_losses(args, &scene, &err) != FACET_OK) {
        facet_scene_free(&scene);
        return cli_bad_error(args, &err);
    }
    report_print_left_out(args, request.scene, &scene, FACET_LOSS_SHAPE | FACET_LOSS_LOOK);
    outcome.left_out = report_left_out_json(&scene, FACET_LOSS_SHAPE | FACET_LOSS_LOOK);
    code = wants_all(args) ? render_all(args, &request, &scene)
                           : render_scene(args, &request, &scene, &outcome);
    facet_share_close(&share.share);
    facet_scene_free(&scene);
    json_decref(outcome.bvh);
    json_decref(outcome.left_out);
    return code;
}

static const struct cli_option render_options[] = {
    {"output",
     'o',
     "FILE",
     CLI_GROUP("Picture") "the picture: .png, or .pfm and .exr for linear floats"},
    {"size", 0, "WxH", "pixels (default 1280x720)"},
    {"spp", 0, "N", "samples per pixel (default 16)"},
    {"camera", 0, "N", "number of the camera (default 0), or `frame`: see everything"},
    {"aov", 0, "normal|depth|ids|heat", "of a BVH image: another picture of what the rays hit"},
    REPORT_POSE_OPTIONS,
    {"exposure", 0, "X", "brightness; 2 is twice as bright (default 1)"},
    {"tone", 0, "soft|clamp", "roll off highlights, or clip them (default soft)"},
    {"machine",
     'm',
     "gfx12|xphmg-rt|xphmg-rt-offload|xphmg-gfx|xphmg-gfx-portable|tile|all",
     CLI_GROUP("Machine") "which machine draws (default gfx12); all: on one sheet"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    CLI_PLAIN_OPTION,
    {"quality", 0, "fast|high", "of the acceleration structure (default high)"},
    {"profile", 0, "silicon|gpurt", "of the intersect instructions (default silicon)"},
    SESSION_DEVICE_OPTIONS,
    {"bounces",
     0,
     "N",
     CLI_GROUP("Light") "paths of light over N more surfaces in place of ambient occlusion"},
    {"no-shadows", 0, NULL, "lights shine through everything"},
    {"no-ao", 0, NULL, "no ambient occlusion"},
    {"ao-rays", 0, "N", "ambient occlusion rays per sample (default 1)"},
    {"ao-distance", 0, "X", "how far things occlude (default: a quarter of the scene)"},
    {"seed", 0, "N", "other numbers give other noise (default 0)"},
    {"heatmap",
     0,
     "nodes|triangles",
     CLI_GROUP("Cost") "show what each primary ray cost instead of the picture"},
    {"heat-max", 0, "N", "count at the end of the colour scale (default: by the picture)"},
    SESSION_PROFILE_OPTION,
    {"stats", 0, "FILE", "write rays, nodes, times and the acceleration structure as JSON"},
    REPORT_CAMERA_OPTIONS,
    SESSION_BVH_OPTIONS,
    {"flags", 0, "N", "ray flags (default 0); 0x10: backs of one-sided triangles are not there"},
    {"mask", 0, "N", "instance mask (default 0xff)"},
    {"procedural",
     0,
     "box|candidates",
     "the boxes of procedural primitives are seen (default: none is), or how many of them each ray "
     "comes to"},
    SESSION_SHARE_OPTIONS("-o"),
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_render = {
    .name = "render",
    .summary = "draw a scene on one of the machines",
    .usage = "facet render SCENE -o FILE [--machine NAME] [--size WxH] [--spp N]\n"
             "facet render SCENE -o FILE --heatmap nodes|triangles\n"
             "facet render SCENE -o FILE --part K/N\n"
             "facet render IMAGE -o FILE [--aov normal|depth|ids|heat] [--eye X,Y,Z]",
    .details =
        "Every ray goes through the machine's own instructions; on gfx12 through the traversal "
        "loop around image_bvh8_intersect_ray. On xphmg-rt the whole picture is drawn by a "
        "program on the RV64 hart, with RT.BBOX and RT.TRI, and on xphmg-rt-offload with queues "
        "of rays for XSUBMIT.RT; both give the same bytes. xphmg-gfx is a rasteriser on the hart "
        "with the GFX and MTX instructions: no shadows, ambient occlusion or bounces; "
        "xphmg-gfx-portable is the same in plain C on the host and gives the same bytes. The "
        "picture has textured and vertex colours, cut-out and blended materials, the scene's "
        "lights (or a sun) with hard shadows, ambient occlusion and a sky. The same scene and "
        "options give the same bytes on any number of threads.\n\n"
        "Brightness is scaled to that of the default sun, whatever units the lights were written "
        "in; --exposure multiplies it. --tone clamp clips highlights instead of rolling them "
        "off. A .pfm or .exr file holds linear light before both, and for --heatmap the counts "
        "themselves.\n\n"
        "--bounces traces paths: light from the sky and from other surfaces, which scatter it "
        "or, if they are smooth metal, mirror it, replaces ambient occlusion. Use more samples "
        "with it.\n\n"
        "One sample per pixel looks through the middle of each pixel.\n\n"
        "A file that is no scene by its name is a GFX12 BVH image and is looked at as it is: one "
        "ray through the middle of each pixel, no light but that of the eye, backs of triangles "
        "reddish. --aov shows normals, depths (near is bright; .pfm and .exr have the t of the "
        "hit, inf for none), a colour for each triangle, or the nodes that rays visit; --heatmap "
        "works too. The camera sees everything unless --eye, --look-at, --up and --fov move it; "
        "these four move the camera of a scene as well.\n\n"
        "Machine tile traces no rays: it draws triangles through the tile GPU's command queue, "
        "geometry and raster units, without shadows; more than one sample per pixel draws twice "
        "as wide and high and averages.\n\n"
        "--machine all draws on every machine and writes one sheet with all pictures and their "
        "counts; the times are printed. A machine that cannot draw shows a message in its "
        "place.\n\n"
        "--profile-out counts how often every instruction of the program on the hart retires, on "
        "machine tile what each draw does, and the rays; facet profile show has the views "
        "(docs/profile.md).\n\n"
        "Anything in the scene that the picture does not show (points and lines, animations, "
        "normal textures, reflections, extensions, missing files) is reported on standard error, "
        "a line for each kind; --quiet silences it, --json and --stats have it as left_out. No "
        "such line means that the whole scene is in the picture.",
    .examples =
        "facet render examples/gfx12/cube.obj --size 160x90 --spp 4 -o cube.png\n"
        "facet render examples/gfx12/cube.obj --size 160x90 --spp 1 --heatmap nodes -o "
        "heat.png --json\n"
        "facet render examples/gfx12/cube.obj --size 64x36 --spp 1 --machine all -o sheet.png\n"
        "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
        "facet render cube.gfx12 --size 160x90 --aov ids -o ids.png",
    .options = render_options,
    .has_json = true,
    .run = run_render,
    .operands = "[SCENE]",
};
