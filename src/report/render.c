/* What `facet render` says afterwards, as text and as JSON. */
#include "report/render.h"
#include "command/output.h"

#include "base/float.h"
#include "base/hash.h"
#include "render/heat.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const phase_names[PHASE_COUNT] = {"import", "build", "render", "write"};

static double mrays(const struct render_outcome *o)
{
    uint64_t rays = 0;

    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        rays += o->report.cost[k].rays;
    }
    return o->seconds[PHASE_RENDER] > 0.0 ? (double)rays / o->seconds[PHASE_RENDER] * 1e-6 : 0.0;
}

static json_t *cost_json(const struct facet_shade_cost *c)
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

json_t *report_render_outcome_json(const struct render_request *r,
                                   const struct facet_render_options *options,
                                   const struct render_outcome *o)
{
    json_t *object = json_pack("{s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:i}",
                               "scene",
                               facet_json_name(r->scene),
                               "output",
                               facet_json_name(r->output),
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
    json_t *left_out = json_incref(o->left_out);

    if (object == NULL || rays == NULL || times == NULL || left_out == NULL) {
        json_decref(left_out);
        json_decref(object);
        json_decref(rays);
        json_decref(times);
        return NULL;
    }
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        (void)json_object_set_new(rays,
                                  facet_render_ray_kind_name((enum facet_ray_kind)k),
                                  cost_json(&o->report.cost[k]));
    }
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        (void)json_object_set_new(times, phase_names[p], json_real(o->seconds[p]));
    }
    (void)json_object_set_new(object, "rays", rays);
    (void)json_object_set_new(object, "seconds", times);
    (void)json_object_set_new(object, "mrays_per_second", json_real(mrays(o)));
    if (options->view != FACET_SHADE_PICTURE) {
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
    (void)json_object_set_new(object, "left_out", left_out);
    (void)json_object_set_new(object, "image_hash", facet_json_hex(o->hash));
    return object;
}

static void print_text(const struct render_request *r,
                       const struct facet_render_options *options,
                       const struct render_outcome *o)
{
    printf("%s: %u x %u, %u sample%s per pixel, machine %s\n",
           r->output,
           options->width,
           options->height,
           options->spp,
           cli_s(options->spp),
           options->machine->name);
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        const struct facet_shade_cost *c = &o->report.cost[k];

        if (c->rays != 0) {
            printf("%-8s %12" PRIu64 " ray%s, %.1f %s each, %.1f of them %s\n",
                   facet_render_ray_kind_name((enum facet_ray_kind)k),
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

/* What a machine counts: gfx12 instructions that look at a node or a pair of triangles, xphmg tests
 * of one box or one triangle. */
static const char *heat_label(const struct facet_render_options *options)
{
    bool tests = options->machine->places_instances;

    if (options->view == FACET_SHADE_NODES) {
        return tests ? "tests per primary ray" : "nodes per primary ray";
    }
    return tests ? "triangle tests per primary ray" : "triangle pairs per primary ray";
}

enum facet_status report_render_picture(const struct render_request *r,
                                        const struct facet_render_options *options,
                                        const struct facet_image_f *image,
                                        struct render_outcome *o,
                                        struct facet_image *out,
                                        struct facet_error *err)
{
    enum facet_status status;

    o->heat_limit = r->heat_limit > 0.0 ? r->heat_limit : (double)facet_render_heat_limit(image);
    if (options->view != FACET_SHADE_PICTURE) {
        status =
            facet_render_heat_picture(image, (float)o->heat_limit, heat_label(options), out, err);
    } else {
        status = facet_render_develop(
            image, o->exposure, r->clamp || options->machine->display, out, err);
    }
    if (status == FACET_OK) {
        o->hash = facet_hash_bytes(out->rgba, 4 * (size_t)image->width * image->height, 0);
    }
    return status;
}

/* The hash covers what the file shows: bytes of the PNG's pixels, or bits of the floats. */
enum facet_status report_render_encode(const struct render_request *r,
                                       const struct facet_render_options *options,
                                       const struct facet_image_f *image,
                                       struct render_outcome *o,
                                       struct facet_bytes *out,
                                       struct facet_error *err)
{
    size_t pixels = (size_t)image->width * image->height;
    struct facet_image picture;
    enum facet_status status;

    if (r->kind == KIND_FLOAT) {
        o->heat_limit =
            r->heat_limit > 0.0 ? r->heat_limit : (double)facet_render_heat_limit(image);
        o->hash = facet_hash_bytes(image->rgb, 3 * pixels * sizeof *image->rgb, 0);
        return facet_image_f_encode(r->output, image, out, err);
    }
    status = report_render_picture(r, options, image, o, &picture, err);
    if (status == FACET_OK) {
        status = facet_image_png_encode(&picture, out, err);
        facet_image_free(&picture);
    }
    return status;
}

enum facet_status report_render_write(const struct render_request *r,
                                      const struct facet_bytes *picture,
                                      const json_t *stats,
                                      const struct facet_file_part *more,
                                      struct facet_error *err)
{
    struct facet_file_part parts[3] = {{r->output, picture->data, picture->size}};
    enum facet_status status = FACET_OK;
    char *text = NULL;
    size_t count = 1;

    if (r->stats != NULL) {
        parts[1].path = r->stats;
        status = facet_json_text(stats, &text, &parts[1].size, err);
        parts[1].data = text;
        count++;
    }
    if (more != NULL) {
        parts[count++] = *more;
    }
    if (status == FACET_OK) {
        status = facet_file_write_all(parts, count, err);
    }
    free(text);
    return status;
}

int report_render_tell(const struct cli_args *args,
                       const struct render_request *r,
                       const struct facet_render_options *options,
                       const struct render_outcome *o)
{
    if (args->json) {
        return cli_print_json(args, report_render_outcome_json(r, options, o));
    }
    if (strcmp(r->output, "-") != 0 && (r->stats == NULL || strcmp(r->stats, "-") != 0)) {
        print_text(r, options, o);
    }
    return CLI_OK;
}

/* ---- the command line ---- */

bool report_render_output(const struct cli_args *args, struct render_request *r)
{
    r->output = cli_value(args, "output");
    r->stats = cli_value(args, "stats");
    if (r->output == NULL) {
        (void)cli_bad(args, "-o FILE is required");
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
        (void)cli_bad(args, "picture and statistics both write to standard output");
        return false;
    }
    if (args->json && r->stats != NULL && strcmp(r->stats, "-") == 0) {
        (void)cli_bad(args, "--json and --stats - both write to standard output");
        return false;
    }
    return !cli_would_replace(args, r->stats, r->output, "the picture") &&
           cli_can_write(args, r->output) && cli_can_write(args, r->stats);
}

/* ---- parts ---- */

json_t *report_render_frame(const struct render_request *r,
                            const struct facet_render_options *options,
                            const struct render_outcome *o)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:b, s:i, s:O*, s:O*}",
                     "machine",
                     options->machine->name,
                     "width",
                     (int)options->width,
                     "height",
                     (int)options->height,
                     "spp",
                     (int)options->spp,
                     "view",
                     (int)options->view,
                     "exposure",
                     facet_json_hex(facet_float_bits(o->exposure)),
                     "heat_limit",
                     facet_json_hex(facet_double_bits(r->heat_limit)),
                     "clamp",
                     (int)r->clamp,
                     "flat_instances",
                     (int)o->flat_instances,
                     "bvh",
                     o->bvh,
                     "left_out",
                     o->left_out);
}

/* The other way round. */
static enum facet_status read_frame(const json_t *frame,
                                    struct render_request *r,
                                    struct facet_render_options *options,
                                    struct render_outcome *o,
                                    struct facet_error *err)
{
    const struct {
        const char *key;
        uint64_t most;
    } keys[] = {{"width", FACET_IMAGE_MAX_SIDE},
                {"height", FACET_IMAGE_MAX_SIDE},
                {"spp", FACET_RENDER_MAX_SPP},
                {"view", FACET_SHADE_TRIANGLES},
                {"exposure", UINT32_MAX},
                {"heat_limit", UINT64_MAX},
                {"flat_instances", INT32_MAX}};
    uint64_t number[sizeof keys / sizeof keys[0]];
    const char *machine = NULL;
    enum facet_status status = facet_json_get_string(frame, "machine", &machine, err);

    for (size_t i = 0; status == FACET_OK && i < sizeof keys / sizeof keys[0]; i++) {
        status = facet_json_get_u64(frame, keys[i].key, keys[i].most, &number[i], err);
    }
    if (status != FACET_OK) {
        return status;
    }
    *options = (struct facet_render_options){.machine = facet_render_machine_find(machine),
                                             .width = (uint32_t)number[0],
                                             .height = (uint32_t)number[1],
                                             .spp = (uint32_t)number[2],
                                             .view = (enum facet_shade_view)number[3]};
    if (options->machine == NULL || number[0] == 0 || number[1] == 0) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "no such picture");
    }
    o->exposure = facet_float_of((uint32_t)number[4]);
    r->heat_limit = facet_double_of(number[5]);
    o->flat_instances = (uint32_t)number[6];
    r->clamp = json_is_true(json_object_get(frame, "clamp"));
    o->bvh = json_object_get(frame, "bvh");
    o->left_out = json_object_get(frame, "left_out");
    return FACET_OK;
}

int report_render_join(const struct cli_args *args, const struct facet_share_set *set)
{
    const json_t *frame = json_object_get(facet_share_set_head(set), "frame");
    struct facet_render_options options;
    struct render_request r = {0};
    struct render_outcome o = {.threads = 1};
    struct facet_image_f image = {0};
    struct facet_bytes picture = {NULL, 0};
    struct facet_error err = {0};
    json_t *stats = NULL;
    enum facet_status status;

    if (!report_render_output(args, &r)) {
        return CLI_BAD;
    }
    status = facet_json_get_string(facet_share_set_head(set), "name", &r.scene, &err);
    status = status == FACET_OK ? read_frame(frame, &r, &options, &o, &err) : status;
    if (status != FACET_OK) {
        facet_fail_in(&err, set->files[0].name);
        return cli_bad_error(args, &err);
    }
    status = facet_render_join(&options, set, &image, &o.report, &err);
    status = status == FACET_OK ? report_render_encode(&r, &options, &image, &o, &picture, &err)
                                : status;
    facet_image_f_free(&image);
    if (status == FACET_OK) {
        stats = r.stats != NULL ? report_render_outcome_json(&r, &options, &o) : NULL;
        status = report_render_write(&r, &picture, stats, NULL, &err);
        json_decref(stats);
    }
    free(picture.data);
    return status == FACET_OK ? report_render_tell(args, &r, &options, &o)
                              : cli_bad_error(args, &err);
}
