/* What a machine did for one pixel of a picture. With it in the options only the pixel's bucket is
 * drawn (or all of a picture that cannot be cut), with the same bits. */
#ifndef FACET_RENDER_PIXEL_H
#define FACET_RENDER_PIXEL_H

#include "raster/history.h"
#include "render/render.h"

#include "base/array.h"

#include <facet/machine.h>

/* A ray that was sent for the pixel, and what came back. */
struct facet_render_seen {
    enum facet_ray_kind kind;
    struct facet_shade_ray ray;
    struct facet_shade_hit hit;
};

/* A store of a guest program to the pixel. */
struct facet_render_store {
    uint64_t pc;
    uint32_t word;
    uint32_t channel;       /* 0 to 2: red, green, blue */
    uint32_t before, after; /* its bits, binary32 */
    uint64_t back;          /* register ra: in a leaf function, where it was called */
};

/* What the rasteriser on the hart (guest/gfx) gave the pixel in one of its samples. */
struct facet_render_fragment {
    uint64_t pc;
    uint32_t word;
    uint32_t sample;
    uint32_t instance, triangle; /* FACET_SCENE_NONE: the sky */
    uint32_t depth;              /* binary32, as its depth buffer has it: greater is nearer */
    float light[3];
};

enum { FACET_RENDER_PIXEL_PLACES = 4 }; /* pixels of the frame that become one of the picture */

struct facet_render_pixel {
    uint32_t x, y;
    struct facet_array rays;      /* of struct facet_render_seen, in their order */
    struct facet_array stores;    /* of struct facet_render_store */
    struct facet_array fragments; /* of struct facet_render_fragment, in their order */
    /* tile: what happened to each of the frame's pixels, the first `places`, and of each command
     * its opcode and instance. */
    struct facet_raster_history history[FACET_RENDER_PIXEL_PLACES];
    uint32_t places;
    struct facet_array commands; /* of struct facet_render_command */
    /* The guest program; NULL: none. */
    const uint8_t *elf;
    size_t elf_bytes;
    uint64_t entry;  /* of its function that traces rays; 0: not known */
    uint64_t bucket; /* its struct facet_guest_gfx_bucket; 0: not known */
    bool failed;     /* memory ran short */
    /* private */
    const facet_machine *machine;
    uint64_t address, back, hits, rays_at;
    uint32_t width, bits[3], kind, placed, named;
    uint64_t count;
    uint32_t sample;
    unsigned colored; /* channels of the fragment that are there, a bit each */
    bool shading;     /* the sample's sky is there, its depths are cleared */
};

struct facet_render_command {
    uint8_t opcode;
    uint32_t instance; /* FACET_SCENE_NONE: of none */
};

void facet_render_pixel_free(struct facet_render_pixel *pixel);

/* Machine gfx12: a ray as it was asked, for whoever follows it again. */
void facet_render_query(const struct facet_render *render,
                        enum facet_ray_kind kind,
                        const struct facet_shade_ray *ray,
                        struct facet_gfx12_unit *unit,
                        struct facet_gfx12_query *query);

/* ---- for the machines ---- */

uint32_t facet_render_pixel_bucket(const struct facet_render_pixel *pixel,
                                   const struct facet_render_options *options);
/* Its number in its bucket, which is `width` pixels wide. */
uint32_t facet_render_pixel_place(const struct facet_render_pixel *pixel, uint32_t width);
void facet_render_pixel_ray(struct facet_render_pixel *pixel,
                            enum facet_ray_kind kind,
                            const struct facet_shade_ray *ray,
                            const struct facet_shade_hit *hit);
/* A guest machine that has drawn the bucket and will do it again. */
enum facet_status facet_render_pixel_watch(struct facet_render_pixel *pixel,
                                           facet_machine *machine,
                                           struct facet_error *err);
void facet_render_pixel_unwatch(struct facet_render_pixel *pixel, facet_machine *machine);
/* A tile machine whose frame is `scale` times as wide and high; it draws once for each of the
 * frame's pixels. */
void facet_render_pixel_listen(struct facet_render_pixel *pixel,
                               facet_machine *machine,
                               uint32_t frame,
                               uint32_t width,
                               uint32_t scale);
/* A command goes into its queue. Always true. */
bool facet_render_pixel_command(struct facet_render_pixel *pixel,
                                uint8_t opcode,
                                uint32_t instance);

#endif
