/* The table of machines and the doors of render.h. */
#include "render/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct facet_render_machine *const facet_render_machines[] = {
    &facet_render_gfx12,
    &facet_render_xphmg_rt,
    &facet_render_xphmg_rt_offload,
    &facet_render_tile,
    &facet_render_xphmg_gfx,
    &facet_render_xphmg_gfx_portable,
    NULL,
};

const struct facet_render_machine *facet_render_machine_find(const char *name)
{
    for (size_t i = 0; facet_render_machines[i] != NULL; i++) {
        if (strcmp(facet_render_machines[i]->name, name) == 0) {
            return facet_render_machines[i];
        }
    }
    return NULL;
}

const char *facet_render_ray_kind_name(enum facet_ray_kind kind)
{
    static const char *const names[FACET_RAY_KIND_COUNT] = {
        "primary", "shadow", "ambient", "bounce"};

    return kind < FACET_RAY_KIND_COUNT ? names[kind] : "unknown";
}

void facet_render_options_default(struct facet_render_options *options,
                                  const struct facet_scene *scene)
{
    *options = (struct facet_render_options){
        .machine = facet_render_machines[0],
        .width = 1280,
        .height = 720,
        .spp = 16,
        .view = FACET_SHADE_PICTURE,
        .shadows = true,
        .ao_rays = 1,
        .quality = FACET_BVH_HIGH,
        .profile = FACET_GFX12_SILICON,
    };
    if (scene->camera_count != 0) {
        options->camera = scene->cameras[0];
    } else {
        facet_scene_frame(&scene->bounds, &options->camera);
    }
}

static enum facet_status check_options(const struct facet_render_options *o,
                                       struct facet_error *err)
{
    if (o->machine == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "no machine chosen");
    }
    if (o->width == 0 || o->height == 0 || o->width > FACET_IMAGE_MAX_SIDE ||
        o->height > FACET_IMAGE_MAX_SIDE) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "picture of %u x %u; expected 1 to %u on each side",
                          o->width,
                          o->height,
                          FACET_IMAGE_MAX_SIDE);
    }
    if (o->spp == 0 || o->spp > FACET_RENDER_MAX_SPP) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "%u samples per pixel; expected 1 to %u",
                          o->spp,
                          FACET_RENDER_MAX_SPP);
    }
    if (o->ao_rays > FACET_RENDER_MAX_AO_RAYS) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "%u ambient rays per sample; expected at most %u",
                          o->ao_rays,
                          FACET_RENDER_MAX_AO_RAYS);
    }
    if (o->bounces > FACET_RENDER_MAX_BOUNCES) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "%u bounces; expected at most %u",
                          o->bounces,
                          FACET_RENDER_MAX_BOUNCES);
    }
    if (o->machine->rasterizes && (o->bounces != 0 || o->view != FACET_SHADE_PICTURE)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "machine %s traces no rays: it has neither bounces nor heat maps",
                          o->machine->name);
    }
    if (!(o->ao_distance >= 0.0F) || isinf(o->ao_distance)) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "the ambient distance must be finite and not negative");
    }
    return FACET_OK;
}

enum facet_status facet_render_open(const struct facet_scene *scene,
                                    const struct facet_render_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_render **out,
                                    struct facet_error *err)
{
    struct facet_render *render;
    enum facet_status status = check_options(options, err);

    *out = NULL;
    if (status != FACET_OK) {
        return status;
    }
    render = calloc(1, sizeof *render);
    if (render == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the renderer");
    }
    render->scene = scene;
    render->options = *options;
    status = facet_render_find_lamps(render, err);
    if (status == FACET_OK) {
        status = options->machine->open(render, pool, progress, err);
    }
    if (status != FACET_OK) {
        facet_render_close(render);
        return status;
    }
    *out = render;
    return FACET_OK;
}

void facet_render_close(struct facet_render *render)
{
    if (render != NULL) {
        render->options.machine->close(render);
        free(render->lamps);
        free(render);
    }
}

enum facet_status facet_render_draw(const struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    memset(report, 0, sizeof *report);
    return render->options.machine->draw(render, pool, progress, out, report, err);
}
