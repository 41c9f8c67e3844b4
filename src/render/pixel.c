/* See pixel.h. */
#include "render/pixel.h"

#include "guest/gfx/rasteriser.h"
#include "tile/tile.h"

#include <facet/observer.h>
#include <facet/xphmg.h>
#include <stddef.h>
#include <stdlib.h>

void facet_render_pixel_free(struct facet_render_pixel *pixel)
{
    for (uint32_t i = 0; i < pixel->places; i++) {
        facet_raster_history_free(&pixel->history[i]);
    }
    free(pixel->rays.items);
    free(pixel->stores.items);
    free(pixel->fragments.items);
    free(pixel->commands.items);
    *pixel = (struct facet_render_pixel){0};
}

uint32_t facet_render_pixel_bucket(const struct facet_render_pixel *pixel,
                                   const struct facet_render_options *options)
{
    return pixel->y / FACET_BUCKET * ((options->width + FACET_BUCKET - 1) / FACET_BUCKET) +
           pixel->x / FACET_BUCKET;
}

uint32_t facet_render_pixel_place(const struct facet_render_pixel *pixel, uint32_t width)
{
    return pixel->y % FACET_BUCKET * width + pixel->x % FACET_BUCKET;
}

void facet_render_pixel_ray(struct facet_render_pixel *pixel,
                            enum facet_ray_kind kind,
                            const struct facet_shade_ray *ray,
                            const struct facet_shade_hit *hit)
{
    struct facet_render_seen *seen = facet_array_add(&pixel->rays, 1, sizeof *seen);

    pixel->failed |= seen == NULL;
    if (seen != NULL) {
        *seen = (struct facet_render_seen){kind, *ray, *hit};
    }
}

/* ---- a program on the hart ---- */

static uint64_t reg(const struct facet_render_pixel *pixel, const char *name)
{
    uint64_t value = 0;

    (void)facet_machine_get(pixel->machine, 0, name, &value);
    return value;
}

static bool meets(const struct facet_memory_event *event, uint64_t at, uint64_t size)
{
    return event->address < at + size && at < event->address + event->size;
}

/* What lies in the guest's memory; 0 where nothing can be read. */
static uint64_t peek(const struct facet_render_pixel *pixel, uint64_t at, size_t size)
{
    uint64_t value = 0;

    (void)facet_machine_read(pixel->machine, 0, at, &value, size, NULL);
    return value;
}

#define IN_BUCKET(member) offsetof(struct facet_guest_gfx_bucket, member)

/* The number of the instance that is being drawn: guest and host agree on the structs. */
static uint32_t drawn_instance(const struct facet_render_pixel *pixel, uint64_t picture)
{
    const uint64_t scene = peek(pixel, picture + offsetof(struct facet_picture, scene), 8);
    const uint64_t first = peek(pixel, scene + offsetof(struct facet_scene, instances), 8);
    const uint64_t own = peek(pixel, pixel->bucket + IN_BUCKET(instance), 8);

    return (uint32_t)((own - first) / sizeof(struct facet_scene_instance));
}

/* A channel of the pixel's colour in the rasteriser's bucket. In each sample the sky comes first,
 * then the depths are cleared, then come triangles; before the bucket has a picture it is only
 * cleared. */
static void note_color(struct facet_render_pixel *pixel, unsigned channel)
{
    const uint64_t picture = peek(pixel, pixel->bucket + IN_BUCKET(picture), 8);
    const uint32_t place = facet_render_pixel_place(pixel, FACET_BUCKET);
    const uint32_t sample = (uint32_t)peek(pixel, pixel->bucket + IN_BUCKET(sample), 4);
    struct facet_render_fragment *f = pixel->fragments.items;

    if (picture == 0) {
        return;
    }
    if (sample != pixel->sample) {
        pixel->sample = sample;
        pixel->shading = false;
    }
    if (pixel->colored == 0 || (pixel->colored >> channel & 1) != 0) {
        f = facet_array_add(&pixel->fragments, 1, sizeof *f);
        pixel->colored = 0;
        pixel->failed |= f == NULL;
        if (f == NULL) {
            return;
        }
        *f = (struct facet_render_fragment){
            .sample = sample, .instance = FACET_SCENE_NONE, .triangle = FACET_SCENE_NONE};
        if (pixel->shading) {
            f->instance = drawn_instance(pixel, picture);
            f->triangle = (uint32_t)peek(pixel, pixel->bucket + IN_BUCKET(triangle), 4);
            f->depth = (uint32_t)peek(pixel, pixel->bucket + IN_BUCKET(unit.depth) + 4 * place, 4);
        }
    } else {
        f += pixel->fragments.count - 1;
    }
    (void)facet_machine_read(pixel->machine,
                             0,
                             pixel->bucket + IN_BUCKET(color) + sizeof f->light * place,
                             f->light,
                             sizeof f->light,
                             NULL);
    pixel->colored |= 1U << channel;
    if (pixel->colored == 7) {
        pixel->colored = 0;
    }
}

static void note_bucket(struct facet_render_pixel *pixel, const struct facet_memory_event *event)
{
    const uint32_t place = facet_render_pixel_place(pixel, FACET_BUCKET);
    const uint64_t depth = pixel->bucket + IN_BUCKET(unit.depth) + 4 * place;
    const uint64_t color = pixel->bucket + IN_BUCKET(color) + 12 * place;

    if (meets(event, depth, 4) && peek(pixel, depth, 4) == 0 &&
        peek(pixel, pixel->bucket + IN_BUCKET(picture), 8) != 0) {
        pixel->shading = true;
    }
    for (unsigned channel = 0; channel < 3; channel++) {
        if (meets(event, color + 4 * channel, 4)) {
            note_color(pixel, channel);
        }
    }
}

static void note_store(void *context, const struct facet_memory_event *event)
{
    struct facet_render_pixel *pixel = context;

    if (!event->write || event->space != 0) {
        return;
    }
    if (pixel->bucket != 0) {
        note_bucket(pixel, event);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t at = pixel->address + 4 * i;
        struct facet_render_store *store;

        if (!meets(event, at, 4)) {
            continue;
        }
        store = facet_array_add(&pixel->stores, 1, sizeof *store);
        pixel->failed |= store == NULL;
        if (store != NULL) {
            *store = (struct facet_render_store){.channel = i, .before = pixel->bits[i]};
            (void)facet_machine_read(pixel->machine, 0, at, &store->after, 4, NULL);
            pixel->bits[i] = store->after;
        }
    }
}

/* The ray and the hit of the pixel, if it is among those of a call that has just returned. The
 * arguments are those of facet_shade_trace_fn; guest and host agree on the structs (block.h). */
static void read_rays(struct facet_render_pixel *pixel)
{
    const uint32_t own = facet_render_pixel_place(pixel, pixel->width);
    const uint64_t bucket = pixel->rays_at - offsetof(struct facet_bucket, rays);

    for (uint64_t i = 0; i < pixel->count; i++) {
        struct facet_shade_ray ray;
        struct facet_shade_hit hit;
        uint32_t owner = (uint32_t)i;

        if (pixel->kind != FACET_RAY_PRIMARY) {
            (void)facet_machine_read(pixel->machine,
                                     0,
                                     bucket + offsetof(struct facet_bucket, owner) + 4 * i,
                                     &owner,
                                     sizeof owner,
                                     NULL);
        }
        if (owner == own &&
            facet_machine_read(
                pixel->machine, 0, pixel->rays_at + i * sizeof ray, &ray, sizeof ray, NULL) ==
                FACET_OK &&
            facet_machine_read(
                pixel->machine, 0, pixel->hits + i * sizeof hit, &hit, sizeof hit, NULL) ==
                FACET_OK) {
            facet_render_pixel_ray(pixel, (enum facet_ray_kind)pixel->kind, &ray, &hit);
        }
    }
}

static void note_retire(void *context, const struct facet_retire_event *event)
{
    struct facet_render_pixel *pixel = context;

    for (; pixel->placed < pixel->stores.count; pixel->placed++) {
        struct facet_render_store *store =
            (struct facet_render_store *)pixel->stores.items + pixel->placed;

        store->pc = event->pc;
        store->word = event->word;
        store->back = reg(pixel, "ra");
    }
    for (; pixel->named < pixel->fragments.count; pixel->named++) {
        struct facet_render_fragment *f =
            (struct facet_render_fragment *)pixel->fragments.items + pixel->named;

        f->pc = event->pc;
        f->word = event->word;
    }
    if (event->next_pc == pixel->entry && pixel->entry != 0 && pixel->back == 0) {
        pixel->kind = (uint32_t)reg(pixel, "a1") % FACET_RAY_KIND_COUNT;
        pixel->rays_at = reg(pixel, "a2");
        pixel->count = reg(pixel, "a3");
        pixel->hits = reg(pixel, "a4");
        pixel->back = reg(pixel, "ra");
    } else if (pixel->back != 0 && event->next_pc == pixel->back) {
        pixel->back = 0;
        if (pixel->count <= FACET_BUCKET_PIXELS) {
            read_rays(pixel);
        }
    }
}

enum facet_status facet_render_pixel_watch(struct facet_render_pixel *pixel,
                                           facet_machine *machine,
                                           struct facet_error *err)
{
    const struct facet_observer observer = {
        .context = pixel, .retire = note_retire, .memory = note_store};
    struct facet_xphmg_framebuffer fb = {0};

    if (facet_xphmg_get_framebuffer(machine, &fb, NULL) != FACET_OK ||
        fb.format != FACET_XPHMG_FRAME_RGBF32 || pixel->x % FACET_BUCKET >= fb.width ||
        pixel->y % FACET_BUCKET >= fb.height) {
        return facet_fail(err, FACET_ERR_INTERNAL, 0, "the guest program shows no bucket");
    }
    pixel->machine = machine;
    pixel->width = fb.width;
    pixel->back = 0;
    pixel->sample = UINT32_MAX;
    pixel->address = fb.base + (uint64_t)(pixel->y % FACET_BUCKET) * fb.stride +
                     12 * (uint64_t)(pixel->x % FACET_BUCKET);
    (void)facet_machine_read(machine, 0, pixel->address, pixel->bits, sizeof pixel->bits, NULL);
    return facet_machine_observe(machine, &observer);
}

void facet_render_pixel_unwatch(struct facet_render_pixel *pixel, facet_machine *machine)
{
    (void)facet_machine_observe(machine, NULL);
    pixel->machine = NULL;
}

/* ---- the tile machine ---- */

static uint64_t completed(void *context)
{
    const struct facet_render_pixel *pixel = context;

    return facet_tile_info_of(pixel->machine).commands;
}

void facet_render_pixel_listen(struct facet_render_pixel *pixel,
                               facet_machine *machine,
                               uint32_t frame,
                               uint32_t width,
                               uint32_t scale)
{
    const uint32_t i = pixel->places++;
    const uint32_t x = pixel->x * scale + i % scale, y = pixel->y * scale + i / scale;
    struct facet_raster_history *history = &pixel->history[i];

    pixel->machine = machine;
    pixel->commands.count = 0;
    facet_raster_history_start(history, frame + 4 * (y * width + x), 4);
    history->asks = completed;
    history->context = pixel;
    facet_tile_probe(machine, &history->probe);
}

bool facet_render_pixel_command(struct facet_render_pixel *pixel, uint8_t opcode, uint32_t instance)
{
    struct facet_render_command *command = facet_array_add(&pixel->commands, 1, sizeof *command);

    pixel->failed |= command == NULL;
    if (command != NULL) {
        *command = (struct facet_render_command){opcode, instance};
    }
    return true;
}
