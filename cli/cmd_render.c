/* `facet render`: a picture of a scene, drawn by a machine. */
#include "cli/bvh.h"
#include "cli/bvh_tiles.h"
#include "cli/contact_sheet.h"
#include "cli/output.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/progress.h"
#include "render/heat.h"
#include "render/render.h"
#include "scene/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_EXPOSURE 1e6

enum phase { PHASE_IMPORT, PHASE_BUILD, PHASE_RENDER, PHASE_WRITE, PHASE_COUNT };
static const char *const phase_names[PHASE_COUNT] = {"import", "build", "render", "write"};

enum kind { KIND_PNG, KIND_FLOAT };

struct request {
    const char *scene, *output, *stats;
    enum kind kind;
    uint64_t width, height, threads;
    uint64_t spp, seed, ao_rays, bounces;
    double exposure, ao_distance, heat_limit;
    bool clamp;
};

struct outcome {
    struct facet_render_report report;
    json_t *bvh; /* statistics of the acceleration structure; NULL: not asked for */
    uint32_t flat_instances;
    unsigned threads;
    double seconds[PHASE_COUNT];
    double heat_limit;
    uint64_t hash;
};

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the command line ---- */

/* "1280x720" */
static bool read_size(const struct cli_args *args, uint64_t *width, uint64_t *height)
{
    const char *text = cli_value(args, "size");
    unsigned w = 1280, h = 720;
    int used = 0;

    if (text != NULL) {
        if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 16 ||
            sscanf(text, "%5ux%5u%n", &w, &h, &used) != 2 || text[used] != '\0' || w == 0 ||
            h == 0 || w > FACET_IMAGE_MAX_SIDE || h > FACET_IMAGE_MAX_SIDE) {
            (void)cli_bad(args,
                          "--size is '%s'; expected WIDTHxHEIGHT, each from 1 to %u",
                          text,
                          FACET_IMAGE_MAX_SIDE);
            return false;
        }
    }
    *width = w;
    *height = h;
    return true;
}

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

static bool read_request(const struct cli_args *args, struct request *r)
{
    const char *tone = cli_value(args, "tone");

    *r = (struct request){.scene = args->positional[0],
                          .output = cli_value(args, "output"),
                          .stats = cli_value(args, "stats"),
                          .spp = 16,
                          .ao_rays = 1,
                          .exposure = 1.0};
    if (r->output == NULL) {
        (void)cli_bad(args, "-o FILE is missing: where shall the picture go?");
        return false;
    }
    if (cli_ends_with(r->output, ".pfm") || cli_ends_with(r->output, ".exr")) {
        r->kind = KIND_FLOAT;
    } else if (!cli_ends_with(r->output, ".png") && strcmp(r->output, "-") != 0) {
        (void)cli_bad(args, "-o is '%s'; expected a name with .png, .pfm or .exr", r->output);
        return false;
    }
    if (strcmp(r->output, "-") == 0 &&
        (args->json || (r->stats != NULL && !strcmp(r->stats, "-")))) {
        (void)cli_bad(args, "picture and statistics both want standard output");
        return false;
    }
    if (args->json && r->stats != NULL && strcmp(r->stats, "-") == 0) {
        (void)cli_bad(args, "--json and --stats - both want standard output");
        return false;
    }
    if (cli_would_replace(args, r->output, r->scene, "the scene") ||
        cli_would_replace(args, r->stats, r->scene, "the scene") ||
        cli_would_replace(args, r->stats, r->output, "the picture")) {
        return false;
    }
    if (!cli_can_write(args, r->output) || !cli_can_write(args, r->stats)) {
        return false;
    }
    if (!read_size(args, &r->width, &r->height) ||
        !cli_number(args, "spp", 1, FACET_RENDER_MAX_SPP, &r->spp) ||
        !cli_number(args, "seed", 0, UINT32_MAX, &r->seed) ||
        !cli_number(args, "threads", 1, FACET_POOL_MAX_THREADS, &r->threads) ||
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
        return true;
    }
    if (!cli_number(args, "camera", 0, scene->camera_count - 1, &number)) {
        return false;
    }
    *camera = scene->cameras[number];
    return true;
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

static bool read_options(const struct cli_args *args,
                         const struct request *r,
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
        out->view = strcmp(heat, "nodes") == 0 ? FACET_RENDER_NODES : FACET_RENDER_TRIANGLES;
    }
    if (quality != NULL && strcmp(quality, "fast") == 0) {
        out->quality = FACET_BVH_FAST;
    }
    if (profile != NULL && strcmp(profile, "gpurt") == 0) {
        out->profile = FACET_GFX12_GPURT;
    }
    return read_camera(args, scene, &out->camera);
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
count_tiles(const struct facet_render *render, struct outcome *o, struct facet_error *err)
{
    struct facet_rtbvh_check check;
    uint64_t size;
    const uint8_t *bytes = facet_render_tile_image(render, &size);
    enum facet_status status =
        bytes != NULL ? facet_rtbvh_check(bytes, size, 1, &check, err) : FACET_OK;

    if (bytes != NULL && status == FACET_OK) {
        o->bvh = check.open ? bvh_tiles_json(&check) : NULL;
        facet_rtbvh_check_free(&check);
    }
    return status;
}

static enum facet_status
count_bvh(const struct facet_render *render, struct outcome *o, struct facet_error *err)
{
    const struct facet_gfx12_image *image = facet_render_bvh(render);
    struct facet_bvh_stats stats;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_view view;
    enum facet_status status;

    if (image == NULL) {
        return count_tiles(render, o, err);
    }
    view = (struct facet_gfx12_view){image->bytes, image->size, 0, FACET_GFX12_ROOT};
    status = facet_gfx12_walk(&view, &walk, err);
    if (status == FACET_OK) {
        status = facet_bvh_stats(&view, &walk, &stats, err);
        o->bvh = status == FACET_OK ? bvh_stats_json(&stats) : NULL;
        facet_gfx12_walk_free(&walk);
    }
    return status;
}

static enum facet_status draw(const struct cli_args *args,
                              const struct facet_scene *scene,
                              const struct facet_render_options *options,
                              const struct request *r,
                              struct facet_image_f *image,
                              struct outcome *o,
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
    if (status == FACET_OK && (args->json || r->stats != NULL)) {
        status = count_bvh(render, o, err);
    }
    if (status == FACET_OK) {
        o->flat_instances = facet_render_flat_instances(render);
        start = seconds();
        start_progress(args, &progress, "rendering", "tiles", facet_render_tiles(options));
        status = facet_render_draw(render, pool, &progress, image, &o->report, err);
        facet_progress_finish(&progress);
        o->seconds[PHASE_RENDER] = seconds() - start;
    }
    facet_render_close(render);
    facet_pool_destroy(pool);
    return status;
}

/* What a machine counts: gfx12 instructions that look at a node or a pair of triangles, xphmg tests
 * of one box or one triangle. */
static const char *heat_label(const struct facet_render_options *options)
{
    bool tests = options->machine->places_instances;

    if (options->view == FACET_RENDER_NODES) {
        return tests ? "tests per primary ray" : "nodes per primary ray";
    }
    return tests ? "triangle tests per primary ray" : "triangle pairs per primary ray";
}

/* The pixels that a PNG file shows. */
static enum facet_status make_picture(const struct request *r,
                                      const struct facet_scene *scene,
                                      const struct facet_render_options *options,
                                      const struct facet_image_f *image,
                                      struct outcome *o,
                                      struct facet_image *out,
                                      struct facet_error *err)
{
    bool display = options->machine->display;
    enum facet_status status;

    o->heat_limit = r->heat_limit > 0.0 ? r->heat_limit : (double)facet_heat_limit(image);
    if (options->view != FACET_RENDER_PICTURE) {
        status = facet_heat_picture(image, (float)o->heat_limit, heat_label(options), out, err);
    } else {
        status = facet_render_develop(image,
                                      (display ? 1.0F : facet_render_exposure(scene)) *
                                          (float)r->exposure,
                                      r->clamp || display,
                                      out,
                                      err);
    }
    if (status == FACET_OK) {
        o->hash = facet_hash_bytes(out->rgba, 4 * (size_t)image->width * image->height, 0);
    }
    return status;
}

/* The hash covers what the file shows: bytes of the PNG's pixels, or bits of the floats. */
static enum facet_status write_picture(const struct request *r,
                                       const struct facet_scene *scene,
                                       const struct facet_render_options *options,
                                       const struct facet_image_f *image,
                                       struct outcome *o,
                                       struct facet_error *err)
{
    size_t pixels = (size_t)image->width * image->height;
    struct facet_image bytes;
    enum facet_status status;

    if (r->kind == KIND_FLOAT) {
        o->heat_limit = r->heat_limit > 0.0 ? r->heat_limit : (double)facet_heat_limit(image);
        o->hash = facet_hash_bytes(image->rgb, 3 * pixels * sizeof *image->rgb, 0);
        return facet_image_f_write(r->output, image, err);
    }
    status = make_picture(r, scene, options, image, o, &bytes, err);
    if (status == FACET_OK) {
        status = facet_png_write(r->output, &bytes, err);
        facet_image_free(&bytes);
    }
    return status;
}

/* ---- what is said afterwards ---- */

static double mrays(const struct outcome *o)
{
    uint64_t rays = 0;

    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        rays += o->report.cost[k].rays;
    }
    return o->seconds[PHASE_RENDER] > 0.0 ? (double)rays / o->seconds[PHASE_RENDER] * 1e-6 : 0.0;
}

static json_t *cost_json(const struct facet_render_cost *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}",
                     "rays",
                     (json_int_t)c->rays,
                     "hits",
                     (json_int_t)c->hits,
                     "nodes",
                     (json_int_t)c->nodes,
                     "box_nodes",
                     (json_int_t)c->box_nodes,
                     "instance_nodes",
                     (json_int_t)c->instance_nodes,
                     "primitive_nodes",
                     (json_int_t)c->primitive_nodes);
}

static json_t *outcome_json(const struct request *r,
                            const struct facet_render_options *options,
                            const struct outcome *o)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}",
                               "scene",
                               r->scene,
                               "output",
                               r->output,
                               "machine",
                               options->machine->name,
                               "width",
                               (int)options->width,
                               "height",
                               (int)options->height,
                               "spp",
                               (int)options->spp,
                               "threads",
                               (int)o->threads,
                               "flat_instances",
                               (int)o->flat_instances);
    json_t *rays = json_object(), *times = json_object();

    if (object == NULL || rays == NULL || times == NULL) {
        json_decref(object);
        json_decref(rays);
        json_decref(times);
        return NULL;
    }
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        (void)json_object_set_new(
            rays, facet_ray_kind_name((enum facet_ray_kind)k), cost_json(&o->report.cost[k]));
    }
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        (void)json_object_set_new(times, phase_names[p], json_real(o->seconds[p]));
    }
    (void)json_object_set_new(object, "rays", rays);
    (void)json_object_set_new(object, "seconds", times);
    (void)json_object_set_new(object, "mrays_per_second", json_real(mrays(o)));
    if (options->view != FACET_RENDER_PICTURE) {
        (void)json_object_set_new(object, "heat_limit", json_real(o->heat_limit));
    }
    if (o->report.instructions != 0) {
        (void)json_object_set_new(
            object, "guest_instructions", json_integer((json_int_t)o->report.instructions));
    }
    if (o->report.commands != 0) {
        (void)json_object_set_new(object, "commands", json_integer((json_int_t)o->report.commands));
        (void)json_object_set_new(
            object, "triangles", json_integer((json_int_t)o->report.triangles));
    }
    if (o->bvh != NULL) {
        (void)json_object_set(object, "bvh", o->bvh);
    }
    (void)json_object_set_new(object, "image_hash", facet_json_hex(o->hash));
    return object;
}

static void print_text(const struct request *r,
                       const struct facet_render_options *options,
                       const struct outcome *o)
{
    printf("%s: %u x %u, %u sample%s per pixel, machine %s\n",
           r->output,
           options->width,
           options->height,
           options->spp,
           cli_s(options->spp),
           options->machine->name);
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        const struct facet_render_cost *c = &o->report.cost[k];

        if (c->rays != 0) {
            printf("%-8s %12" PRIu64 " ray%s, %.1f %s each, %.1f of them %s\n",
                   facet_ray_kind_name((enum facet_ray_kind)k),
                   c->rays,
                   cli_s(c->rays),
                   (double)c->nodes / (double)c->rays,
                   options->machine->places_instances ? "tests" : "nodes",
                   (double)c->primitive_nodes / (double)c->rays,
                   options->machine->places_instances ? "of triangles" : "triangle pairs");
        }
    }
    if (o->report.commands != 0) {
        printf("%" PRIu64 " triangle%s by %" PRIu64 " command%s\n",
               o->report.triangles,
               cli_s(o->report.triangles),
               o->report.commands,
               cli_s(o->report.commands));
    }
    if (o->flat_instances != 0) {
        printf(
            "left out %u instance%s without volume\n", o->flat_instances, cli_s(o->flat_instances));
    }
    printf("import %.2f s, build %.2f s, render %.2f s (",
           o->seconds[PHASE_IMPORT],
           o->seconds[PHASE_BUILD],
           o->seconds[PHASE_RENDER]);
    if (!options->machine->rasterizes) {
        printf("%.2f Mrays/s ", mrays(o));
    } else if (o->report.instructions != 0) {
        printf("%.1f million instructions ", (double)o->report.instructions * 1e-6);
    }
    printf("on %u thread%s)\n", o->threads, cli_s(o->threads));
}

static int tell(const struct cli_args *args,
                const struct request *r,
                const struct facet_render_options *options,
                const struct outcome *o)
{
    struct facet_error err = {0};

    if (r->stats != NULL) {
        json_t *object = outcome_json(r, options, o);
        enum facet_status status = facet_json_write(r->stats, object, &err);

        json_decref(object);
        if (status != FACET_OK) {
            cli_take_back(r->output);
            return cli_bad_error(args, &err);
        }
    }
    if (args->json) {
        return cli_print_json(args, outcome_json(r, options, o));
    }
    if (strcmp(r->output, "-") != 0 && (r->stats == NULL || strcmp(r->stats, "-") != 0)) {
        print_text(r, options, o);
    }
    return CLI_OK;
}

static int render_scene(const struct cli_args *args,
                        const struct request *r,
                        const struct facet_scene *scene,
                        struct outcome *o)
{
    struct facet_render_options options;
    struct facet_image_f image = {0};
    struct facet_error err = {0};
    enum facet_status status;
    double start;

    if (!read_options(args, r, scene, &options)) {
        return CLI_BAD;
    }
    status = draw(args, scene, &options, r, &image, o, &err);
    if (status == FACET_OK) {
        start = seconds();
        status = write_picture(r, scene, &options, &image, o, &err);
        o->seconds[PHASE_WRITE] = seconds() - start;
    }
    facet_image_f_free(&image);
    return status == FACET_OK ? tell(args, r, &options, o) : cli_bad_error(args, &err);
}

/* ---- all machines ---- */

/* 12345678 as "12.3 M". */
static void short_count(uint64_t count, char *out, size_t size)
{
    if (count >= 10000000) {
        (void)snprintf(out, size, "%.1f M", (double)count * 1e-6);
    } else if (count >= 10000) {
        (void)snprintf(out, size, "%.1f k", (double)count * 1e-3);
    } else {
        (void)snprintf(out, size, "%" PRIu64, count);
    }
}

static void add_count(struct sheet_entry *entry, uint64_t count, const char *what)
{
    size_t at = strlen(entry->counts);
    char text[32];

    if (count != 0) {
        short_count(count, text, sizeof text);
        (void)snprintf(entry->counts + at,
                       sizeof entry->counts - at,
                       "%s%s %s",
                       at != 0 ? ", " : "",
                       text,
                       what);
    }
}

static void label(const struct outcome *o, struct sheet_entry *entry)
{
    uint64_t rays = 0;

    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        rays += o->report.cost[k].rays;
    }
    add_count(entry, rays, "rays");
    add_count(entry, o->report.triangles, "triangles");
    add_count(entry, o->report.commands, "commands");
    add_count(entry, o->report.instructions, "instructions");
    (void)snprintf(entry->times,
                   sizeof entry->times,
                   "build %.2f s, render %.2f s, %u thread%s",
                   o->seconds[PHASE_BUILD],
                   o->seconds[PHASE_RENDER],
                   o->threads,
                   cli_s(o->threads));
}

/* One cell. A machine that cannot draw this says why in its place; the others are not held up. */
static void draw_entry(const struct cli_args *args,
                       const struct request *r,
                       const struct facet_scene *scene,
                       const struct facet_render_options *options,
                       struct sheet_entry *entry,
                       json_t *list)
{
    struct facet_image_f image = {0};
    struct facet_error err = {0};
    struct outcome o = {0};
    enum facet_status status = draw(args, scene, options, r, &image, &o, &err);

    entry->name = options->machine->name;
    if (status == FACET_OK) {
        status = make_picture(r, scene, options, &image, &o, &entry->picture, &err);
    }
    if (status == FACET_OK) {
        label(&o, entry);
        (void)json_array_append_new(list, outcome_json(r, options, &o));
        if (!args->json && strcmp(r->output, "-") != 0) {
            printf("%-18s %s%s%s\n",
                   entry->name,
                   entry->counts,
                   entry->counts[0] != '\0' ? "; " : "",
                   entry->times);
        }
    } else {
        (void)snprintf(entry->counts, sizeof entry->counts, "%.90s", err.message);
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s}", "machine", entry->name, "error", err.message));
        if (!args->json && strcmp(r->output, "-") != 0) {
            printf("%-18s %s\n", entry->name, err.message);
        }
    }
    facet_image_f_free(&image);
    json_decref(o.bvh);
}

static bool write_sheet(const struct request *r,
                        const struct sheet_entry *entries,
                        size_t count,
                        struct facet_error *err)
{
    const char *slash = strrchr(r->scene, '/');
    struct facet_image sheet;
    char title[160];
    bool good;

    (void)snprintf(title,
                   sizeof title,
                   "%.80s, %u x %u, %u sample%s per pixel",
                   slash != NULL ? slash + 1 : r->scene,
                   (unsigned)r->width,
                   (unsigned)r->height,
                   (unsigned)r->spp,
                   cli_s(r->spp));
    if (contact_sheet(
            entries, count, (uint32_t)r->width, (uint32_t)r->height, title, &sheet, err) !=
        FACET_OK) {
        return false;
    }
    good = facet_png_write(r->output, &sheet, err) == FACET_OK;
    facet_image_free(&sheet);
    return good;
}

static int
render_all(const struct cli_args *args, const struct request *r, const struct facet_scene *scene)
{
    enum { MOST = 32 };
    struct sheet_entry entries[MOST] = {{0}};
    struct facet_render_options options;
    struct facet_error err = {0};
    json_t *list = json_array();
    size_t count = 0;
    bool good;

    if (r->kind != KIND_PNG) {
        json_decref(list);
        return cli_bad(args, "--machine all makes one sheet of all pictures; expected a .png name");
    }
    if (!read_options(args, r, scene, &options)) {
        json_decref(list);
        return CLI_BAD;
    }
    while (facet_render_machines[count] != NULL && count < MOST) {
        count++;
    }
    if (contact_sheet_check(count, options.width, options.height, &err) != FACET_OK) {
        json_decref(list);
        return cli_bad_error(args, &err);
    }
    for (size_t i = 0; i < count; i++) {
        options.machine = facet_render_machines[i];
        draw_entry(args, r, scene, &options, &entries[i], list);
    }
    good = write_sheet(r, entries, count, &err);
    if (good && r->stats != NULL && facet_json_write(r->stats, list, &err) != FACET_OK) {
        cli_take_back(r->output);
        good = false;
    }
    for (size_t i = 0; i < count; i++) {
        facet_image_free(&entries[i].picture);
    }
    if (!good) {
        json_decref(list);
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args, list);
    }
    json_decref(list);
    return CLI_OK;
}

static int run_render(const struct cli_args *args)
{
    struct outcome outcome = {0};
    struct request request;
    struct facet_scene scene;
    struct facet_error err = {0};
    double start = seconds();
    int code;

    if (!read_request(args, &request) || (!wants_all(args) && read_machine(args) == NULL)) {
        return CLI_BAD;
    }
    if (facet_scene_import(request.scene, NULL, &scene, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    outcome.seconds[PHASE_IMPORT] = seconds() - start;
    code = wants_all(args) ? render_all(args, &request, &scene)
                           : render_scene(args, &request, &scene, &outcome);
    facet_scene_free(&scene);
    json_decref(outcome.bvh);
    return code;
}

static const struct cli_option render_options[] = {
    {"output", 'o', "FILE", "the picture: .png, or .pfm and .exr for linear floats"},
    {"machine",
     'm',
     "gfx12|xphmg-rt|xphmg-rt-offload|xphmg-gfx|xphmg-gfx-portable|tile|all",
     "which machine draws (default gfx12); all: on one sheet"},
    {"size", 0, "WxH", "pixels (default 1280x720)"},
    {"spp", 0, "N", "samples per pixel (default 16)"},
    {"threads", 0, "N", "working threads (default: all processors)"},
    {"heatmap", 0, "nodes|triangles", "show what each primary ray cost instead of the picture"},
    {"heat-max", 0, "N", "count at the end of the colour scale (default: by the picture)"},
    {"camera", 0, "N", "number of the camera (default 0), or `frame`: see everything"},
    {"exposure", 0, "X", "brightness; 2 is twice as bright (default 1)"},
    {"tone", 0, "soft|clamp", "bend bright light, or cut it off (default soft)"},
    {"quality", 0, "fast|high", "of the acceleration structure (default high)"},
    {"profile", 0, "silicon|gpurt", "of the intersect instructions (default silicon)"},
    {"seed", 0, "N", "other numbers give other noise (default 0)"},
    {"bounces", 0, "N", "paths of light over N more surfaces in place of ambient occlusion"},
    {"no-shadows", 0, NULL, "lights shine through everything"},
    {"no-ao", 0, NULL, "no ambient occlusion"},
    {"ao-rays", 0, "N", "ambient occlusion rays per sample (default 1)"},
    {"ao-distance", 0, "X", "how far things occlude (default: a quarter of the scene)"},
    {"stats", 0, "FILE", "write rays, nodes, times and the acceleration structure as JSON"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_render = {
    .name = "render",
    .summary = "draw a scene on one of the machines",
    .usage = "facet render SCENE -o FILE [--machine NAME] [--size WxH] [--spp N]\n"
             "facet render SCENE -o FILE --heatmap nodes|triangles",
    .details =
        "Every ray goes through the machine's own instructions; on gfx12 through the traversal "
        "loop around image_bvh8_intersect_ray. On xphmg-rt all of the picture is drawn by a "
        "program on the RV64 hart, with RT.BBOX and RT.TRI, and on xphmg-rt-offload with queues of "
        "rays for XSUBMIT.RT; both give the same bytes. xphmg-gfx is a rasteriser on the hart with "
        "the "
        "GFX and MTX instructions: no shadows, ambient occlusion or bounces; xphmg-gfx-portable is "
        "the same in plain C on the host and gives the same bytes. The picture has textured and "
        "vertex "
        "colours, "
        "cut-out and blended materials, the scene's lights (or a sun) with hard shadows, ambient "
        "occlusion and a sky. The same scene and options give the same bytes on any number of "
        "threads.\n\n"
        "Brightness is brought to that of the default sun, whatever units the lights were written "
        "in; --exposure multiplies it. --tone clamp cuts off what is too bright instead of bending "
        "it. A .pfm or .exr "
        "file holds linear light before both, and for --heatmap the counts themselves.\n\n"
        "--bounces traces paths: light that comes over other surfaces, which scatter it or, being "
        "smooth metal, mirror it, and from the sky takes the place of ambient occlusion. It wants "
        "more samples.\n\n"
        "One sample per pixel looks through the middle of each pixel.\n\n"
        "Machine tile sends no rays: it draws triangles through the tile GPU's command queue, "
        "geometry and raster units, without shadows; more than one sample per pixel draws twice "
        "as wide and high and averages.\n\n"
        "--machine all draws on every machine and writes one sheet with all pictures, their "
        "counts and times; a machine that cannot draw says so in its place.",
    .examples =
        "facet render examples/gfx12/cube.obj --size 160x90 --spp 4 -o cube.png\n"
        "facet render examples/gfx12/cube.obj --size 160x90 --spp 1 --heatmap nodes -o "
        "heat.png --json\n"
        "facet render examples/gfx12/cube.obj --size 64x36 --spp 1 --machine all -o sheet.png",
    .options = render_options,
    .has_json = true,
    .run = run_render,
    .operands = "SCENE",
};
