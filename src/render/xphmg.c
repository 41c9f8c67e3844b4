/* The machines xphmg-rt and xphmg-rt-offload: the picture is drawn by a program on the xphmg
 * machine's hart (guest/render), which finds scene, RT image and what to draw in its memory.
 */
#include "num/format.h"
#include "render/guest_run.h"
#include "render/pixel.h"
#include "render/rt_input.h"
#include "rt_image/build.h"

#include <stdlib.h>
#include <string.h>

#include "guest_elf.h" /* made by guest/render */

struct xphmg_state {
    struct facet_render_guest_image image;
    struct facet_rtbvh_report bvh;
    facet_render_garage *garage;
};

/* ---- open ---- */

/* The farthest that a ray starts from the origin: the scene grown by its own size, as the builder
 * assumes by itself, and the camera's window. */
static double reach_of(const struct facet_render *render)
{
    const struct facet_scene_camera *camera = &render->options.camera;
    const struct facet_bounds *b = &render->scene->bounds;
    double reach = 0.0, window = 0.0;

    if (camera->kind == FACET_CAMERA_ORTHOGRAPHIC) {
        struct facet_shade_lens lens;

        facet_shade_lens_make(camera, render->options.width, render->options.height, &lens);
        window = 1.1 * (lens.half_width + lens.half_height); /* samples reach over the edge */
    }
    for (unsigned i = 0; i < 3; i++) {
        double side = (double)b->hi[i] - (double)b->lo[i];

        reach = fmax(reach, fmax(fabs((double)b->lo[i] - side), fabs((double)b->hi[i] + side)));
        reach = fmax(reach, fabs((double)camera->transform[4 * i + 3]) + window);
    }
    return reach;
}

static enum facet_status build(const struct facet_render *render,
                               facet_pool *pool,
                               struct facet_progress *progress,
                               struct facet_rtbvh_image *out,
                               struct facet_rtbvh_report *report,
                               struct facet_error *err)
{
    const struct facet_rtbvh_options options = {.children = 4,
                                                .element = FACET_FMT_FP32,
                                                .reach = reach_of(render),
                                                .plain = render->options.plain};
    struct facet_render_rt_input input;
    enum facet_status status = facet_render_rt_input_make(render->scene, &input, err);

    if (status == FACET_OK) {
        status = facet_rtbvh_build(
            input.triangles, input.count, &options, pool, progress, out, report, err);
        free(input.triangles);
    }
    return status;
}

static enum facet_status open_xphmg(struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_error *err)
{
    struct xphmg_state *state = calloc(1, sizeof *state);
    struct facet_rtbvh_image bvh = {0};
    struct facet_picture picture;
    enum facet_status status;

    render->state = state;
    if (state == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the machine");
    }
    status = facet_render_guest_program_check(sizeof facet_guest_elf, err);
    if (status == FACET_OK) {
        status = build(render, pool, progress, &bvh, &state->bvh, err);
    }
    if (status == FACET_OK) {
        facet_render_picture(render, &picture);
        status =
            facet_render_guest_image_make(&picture,
                                          bvh.bytes,
                                          bvh.size,
                                          render->options.machine == &facet_render_xphmg_rt_offload,
                                          &state->image,
                                          err);
    }
    free(bvh.bytes);
    if (status == FACET_OK && render->options.pixel != NULL) {
        render->options.pixel->elf = facet_guest_elf;
        render->options.pixel->elf_bytes = sizeof facet_guest_elf;
    }
    if (status == FACET_OK) {
        state->garage =
            facet_render_garage_create(&(struct facet_render_guest_program){facet_guest_elf,
                                                                            sizeof facet_guest_elf,
                                                                            &state->image,
                                                                            render->options.plain,
                                                                            render->options.counts,
                                                                            render->options.pixel});
        if (state->garage == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the machines");
        }
    }
    return status;
}

static void close_xphmg(struct facet_render *render)
{
    struct xphmg_state *state = render->state;

    if (state != NULL) {
        facet_render_garage_destroy(state->garage);
        free(state->image.bytes);
        free(state);
    }
    render->state = NULL;
}

const uint8_t *facet_render_rt_image(const struct facet_render *render, uint64_t *size)
{
    const struct xphmg_state *state = render->state;
    struct facet_guest_block block;

    if (!render->options.machine->places_instances) {
        return NULL;
    }
    memcpy(&block, state->image.bytes, sizeof block);
    *size = block.bvh_bytes;
    return state->image.bytes + (block.bvh - FACET_GUEST_BLOCK);
}

static enum facet_status draw_xphmg(const struct facet_render *render,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_image_f *out,
                                    struct facet_render_report *report,
                                    struct facet_error *err)
{
    const struct xphmg_state *state = render->state;

    return facet_render_garage_draw(render, state->garage, pool, progress, out, report, err);
}

const struct facet_render_machine facet_render_xphmg_rt = {
    .program = facet_guest_elf,
    .program_bytes = sizeof facet_guest_elf,
    .name = "xphmg-rt",
    .summary = "a program on the xphmg hart: RT.BBOX and RT.TRI",
    .places_instances = true,
    .open = open_xphmg,
    .draw = draw_xphmg,
    .close = close_xphmg,
};

const struct facet_render_machine facet_render_xphmg_rt_offload = {
    .program = facet_guest_elf,
    .program_bytes = sizeof facet_guest_elf,
    .name = "xphmg-rt-offload",
    .summary = "the same program with ray queues for the job engine: XSUBMIT.RT",
    .places_instances = true,
    .open = open_xphmg,
    .draw = draw_xphmg,
    .close = close_xphmg,
};
