/* See pixel.h: the pictures that are drawn to tell about a pixel. */
#include "report/pixel.h"

#include "shade/light.h"

#include <string.h>

/* One picture with other options; *render (may be NULL) stays open. */
static enum facet_status draw(const struct facet_scene *scene,
                              const struct facet_render_options *options,
                              facet_pool *pool,
                              struct facet_image_f *image,
                              struct facet_render **render,
                              struct facet_error *err)
{
    struct facet_render_report report;
    struct facet_render *own = NULL;
    enum facet_status status = facet_render_open(scene, options, pool, NULL, &own, err);

    if (status == FACET_OK) {
        if (options->view == FACET_SHADE_PICTURE) {
            report_pixel_find_entry(options->pixel, options->machine->rasterizes);
        }
        status = facet_render_draw(own, pool, NULL, image, &report, err);
    }
    if (status == FACET_OK && render != NULL) {
        *render = own;
    } else {
        facet_render_close(own);
    }
    return status;
}

static enum facet_status
count_nodes(struct report_pixel *p, facet_pool *pool, struct facet_error *err)
{
    struct facet_render_pixel seen = {.x = p->seen->x, .y = p->seen->y};
    struct facet_render_options heat = *p->options;
    struct facet_image_f image = {0};
    enum facet_status status;

    p->nodes = -1;
    if (heat.machine->rasterizes) {
        return FACET_OK;
    }
    heat.view = FACET_SHADE_NODES;
    heat.pixel = &seen;
    status = draw(p->scene, &heat, pool, &image, NULL, err);
    if (status == FACET_OK) {
        p->nodes = image.rgb[3 * ((size_t)seen.y * image.width + seen.x)];
        facet_image_f_free(&image);
    }
    facet_render_pixel_free(&seen);
    return status;
}

/* The host's own code tells nothing; the same sources on the hart draw the same bits. */
static enum facet_status
watch_twin(struct report_pixel *p, facet_pool *pool, struct facet_error *err)
{
    struct facet_render_options twin = *p->options;
    struct facet_image_f image = {0};
    enum facet_status status;

    twin.machine = p->options->machine->on_hart;
    status = draw(p->scene, &twin, pool, &image, NULL, err);
    p->on_hart = status == FACET_OK;
    facet_image_f_free(&image);
    return status == FACET_ERR_USAGE ? FACET_OK : status; /* there is no program for the hart */
}

enum facet_status report_pixel_ask(struct report_pixel *p,
                                   struct facet_render_options *options,
                                   struct facet_render_pixel *seen,
                                   facet_pool *pool,
                                   float exposure,
                                   bool clamp,
                                   struct facet_error *err)
{
    const bool display = options->machine->display;
    struct facet_image_f image = {0};
    enum facet_status status = count_nodes(p, pool, err);

    options->pixel = seen;
    if (status == FACET_OK) {
        status = draw(p->scene, options, pool, &image, &p->render, err);
    }
    if (status == FACET_OK && options->machine->on_hart != NULL) {
        status = watch_twin(p, pool, err);
    }
    for (uint32_t i = 0; i < seen->places; i++) {
        seen->failed |= seen->history[i].failed;
    }
    if (status == FACET_OK && seen->failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the pixel");
    }
    if (status == FACET_OK) {
        exposure *= display ? 1.0F : facet_shade_exposure(p->scene);
        memcpy(
            p->light, image.rgb + 3 * ((size_t)seen->y * image.width + seen->x), sizeof p->light);
        facet_render_develop_pixel(p->light, exposure, clamp || display, p->color);
    }
    facet_image_f_free(&image);
    return status;
}

void report_pixel_free(struct report_pixel *p, struct facet_render_pixel *seen)
{
    facet_render_close(p->render);
    p->render = NULL;
    facet_render_pixel_free(seen);
}
