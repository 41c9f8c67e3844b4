/* One sample of one pixel: the light that comes along a path, and the rays that look for it. Pure
 * functions of the picture and of what is known so far. Who calls them traces the rays in between
 * and keeps the order: begin, see; then rays to lights and lamps, each of which brings its light
 * when nothing is in its way; then ambient rays and the light of the sky, or a bounce, and see and
 * lights again. Also part of the text that devices compile (scene/memory.h). */
#ifndef FACET_SHADE_PATH_H
#define FACET_SHADE_PATH_H

#include "shade/camera.h"
#include "shade/surface.h"

struct facet_picture;

enum facet_shade_view {
    FACET_SHADE_PICTURE,   /* linear radiance, in the units of the scene's lights */
    FACET_SHADE_NODES,     /* intersect instructions per primary ray, in all three channels */
    FACET_SHADE_TRIANGLES, /* tests of triangle pairs per primary ray, in all three channels */
};

enum facet_ray_kind {
    FACET_RAY_PRIMARY,
    FACET_RAY_SHADOW,
    FACET_RAY_AMBIENT,
    FACET_RAY_BOUNCE,
    FACET_RAY_KIND_COUNT,
};

struct facet_path {
    uint32_t noise; /* of the pixel: facet_sample_pixel. Set by who begins the path */
    uint32_t sample;
    uint32_t bounce;     /* how many surfaces the light has met on its way back */
    uint32_t unoccluded; /* ambient rays */
    struct facet_vec3 light;
    struct facet_vec3 share;      /* of light from here that reaches the eye */
    struct facet_vec3 incoming;   /* direction of the ray that looks for the next surface */
    struct facet_surface surface; /* where the path is, while light changes it */
    bool glows;                   /* emitted light counts there */
};

/* Through the pixel (x, y). */
void facet_shade_path_begin(struct facet_path *path,
                            const IN_SCENE struct facet_picture *picture,
                            const IN_SCENE struct facet_shade_lens *lens,
                            uint32_t x,
                            uint32_t y,
                            uint32_t sample,
                            struct facet_shade_ray *out);
/* What the path's ray has met. false: nothing that light changes, the path ends there. */
bool facet_shade_path_see(struct facet_path *path,
                          const IN_SCENE struct facet_picture *picture,
                          const struct facet_shade_hit *hit);

/* How many rays to lights there are for each surface. */
uint32_t facet_shade_path_lights(const IN_SCENE struct facet_picture *picture);
/* The k-th of them and what it brings; false: none. */
bool facet_shade_path_light_ray(const struct facet_path *path,
                                const IN_SCENE struct facet_picture *picture,
                                uint32_t k,
                                struct facet_shade_ray *out,
                                struct facet_vec3 *brings);
/* To one point of one lamp; for pictures that have lamps. */
bool facet_shade_path_lamp_ray(const struct facet_path *path,
                               const IN_SCENE struct facet_picture *picture,
                               struct facet_shade_ray *out,
                               struct facet_vec3 *brings);
void facet_shade_path_bring(struct facet_path *path,
                            const IN_SCENE struct facet_picture *picture,
                            struct facet_vec3 light);

/* The k-th; false: below the triangle, counts as occluded. Who finds nothing in its way counts it
 * as unoccluded. */
bool facet_shade_path_ambient_ray(const struct facet_path *path,
                                  const IN_SCENE struct facet_picture *picture,
                                  uint32_t k,
                                  struct facet_shade_ray *out);
/* After the ambient rays. */
void facet_shade_path_add_sky_light(struct facet_path *path,
                                    const IN_SCENE struct facet_picture *picture);

/* Counts the bounce; false: the path ends. */
bool facet_shade_path_bounce_ray(struct facet_path *path, struct facet_shade_ray *out);

#endif
