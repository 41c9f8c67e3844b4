/* What `facet render` says afterwards, as text and as JSON. */
#include "report/render.h"
#include "command/output.h"

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

enum facet_status report_render_write(const struct render_request *r,
                                      const struct facet_bytes *picture,
                                      const json_t *stats,
                                      struct facet_error *err)
{
    struct facet_file_part parts[2] = {{r->output, picture->data, picture->size}};
    enum facet_status status = FACET_OK;
    char *text = NULL;

    if (r->stats != NULL) {
        parts[1].path = r->stats;
        status = facet_json_text(stats, &text, &parts[1].size, err);
        parts[1].data = text;
    }
    if (status == FACET_OK) {
        status = facet_file_write_all(parts, r->stats != NULL ? 2 : 1, err);
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
