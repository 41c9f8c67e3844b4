/* The machines xphmg-gfx and xphmg-gfx-portable: a rasteriser as a program on the hart (guest/gfx),
 * and the same sources on the host. See rasteriser.h there. */
#include "render/guest_run.h"
#include "render/pixel.h"
#include "render/xphmg_gfx_input.h"

#include <stdlib.h>

#include "gfx_elf.h" /* made by guest/gfx */

struct gfx_state {
    struct facet_picture picture;
    struct facet_guest_gfx_input *input;
    struct facet_render_guest_image image; /* of the guest's memory; empty on the host */
    facet_render_garage *garage;           /* NULL on the host */
};

static enum facet_status open_gfx(struct facet_render *render,
                                  facet_pool *pool,
                                  struct facet_progress *progress,
                                  struct facet_error *err)
{
    bool on_hart = render->options.machine == &facet_render_xphmg_gfx;
    struct gfx_state *state = calloc(1, sizeof *state);
    enum facet_status status = FACET_OK;

    (void)pool;
    render->state = state;
    if (state == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the machine");
    }
    if (on_hart) {
        status = facet_render_guest_program_check(sizeof facet_gfx_elf, err);
    }
    facet_render_picture(render, &state->picture);
    if (status == FACET_OK) {
        status = facet_render_gfx_input_make(&state->picture, progress, &state->input, err);
    }
    if (status == FACET_OK && on_hart) {
        status = facet_render_guest_image_make(
            &state->picture, state->input, state->input->bytes, false, &state->image, err);
    }
    if (status == FACET_OK && on_hart && render->options.pixel != NULL) {
        render->options.pixel->elf = facet_gfx_elf;
        render->options.pixel->elf_bytes = sizeof facet_gfx_elf;
    }
    if (status == FACET_OK && on_hart) {
        state->garage =
            facet_render_garage_create(&(struct facet_render_guest_program){facet_gfx_elf,
                                                                            sizeof facet_gfx_elf,
                                                                            &state->image,
                                                                            render->options.plain,
                                                                            render->options.counts,
                                                                            render->options.pixel});
        status = state->garage != NULL
                     ? FACET_OK
                     : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the machines");
    }
    return status;
}

static void close_gfx(struct facet_render *render)
{
    struct gfx_state *state = render->state;

    if (state != NULL) {
        facet_render_garage_destroy(state->garage);
        free(state->input);
        free(state->image.bytes);
        free(state);
    }
    render->state = NULL;
}

static enum facet_status draw_on_hart(const struct facet_render *render,
                                      facet_pool *pool,
                                      struct facet_progress *progress,
                                      struct facet_image_f *out,
                                      struct facet_render_report *report,
                                      struct facet_error *err)
{
    const struct gfx_state *state = render->state;

    return facet_render_garage_draw(render, state->garage, pool, progress, out, report, err);
}

static enum facet_status draw_bucket(void *context,
                                     uint32_t number,
                                     struct facet_image_f *out,
                                     struct facet_render_report *took,
                                     struct facet_error *err)
{
    const struct gfx_state *state = context;
    struct facet_guest_gfx_bucket *t = malloc(sizeof *t);

    (void)took;
    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a bucket");
    }
    facet_guest_gfx_bucket_draw(t, &state->picture, state->input, number);
    facet_guest_gfx_bucket_store(t, out->rgb + 3 * ((size_t)t->y * out->width + t->x), out->width);
    free(t);
    return FACET_OK;
}

static enum facet_status draw_portable(const struct facet_render *render,
                                       facet_pool *pool,
                                       struct facet_progress *progress,
                                       struct facet_image_f *out,
                                       struct facet_render_report *report,
                                       struct facet_error *err)
{
    return facet_render_each_bucket(
        render, draw_bucket, render->state, pool, progress, out, report, err);
}

const struct facet_render_machine facet_render_xphmg_gfx = {
    .program = facet_gfx_elf,
    .program_bytes = sizeof facet_gfx_elf,
    .name = "xphmg-gfx",
    .summary = "a rasteriser on the xphmg hart: GFX and MTX instructions, 64 lanes",
    .rasterizes = true,
    .open = open_gfx,
    .draw = draw_on_hart,
    .close = close_gfx,
};

const struct facet_render_machine facet_render_xphmg_gfx_portable = {
    .name = "xphmg-gfx-portable",
    .on_hart = &facet_render_xphmg_gfx,
    .summary = "the same rasteriser in plain C on the host; the same picture",
    .rasterizes = true,
    .open = open_gfx,
    .draw = draw_portable,
    .close = close_gfx,
};
