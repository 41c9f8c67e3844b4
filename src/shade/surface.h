/* From a hit to what is there: position, normals, colour. Pure functions of the scene. */
#ifndef FACET_SHADE_SURFACE_H
#define FACET_SHADE_SURFACE_H

#include "scene/scene.h"
#include "shade/vec.h"

struct facet_shade_hit {
    float t, u, v;         /* u, v: weights of the triangle's second and third corner */
    uint32_t instance;     /* number in the scene; FACET_SCENE_NONE: nothing was hit */
    uint32_t triangle;     /* number in the instance's mesh */
    bool back;             /* the triangle's back side */
    uint32_t nodes, pairs; /* what it cost: intersect instructions, triangle pairs among them */
};

struct facet_surface {
    struct facet_vec3 position;  /* in world space */
    struct facet_vec3 start;     /* where shadow and ambient rays leave; clear of the surface */
    struct facet_vec3 geometric; /* the triangle's normal, towards the viewer, length 1 */
    struct facet_vec3 normal;    /* the interpolated one, on the same side, length 1 */
    struct facet_vec3 color;     /* linear base colour */
    struct facet_vec3 emitted;
    bool unlit;  /* shows its colour whatever the light */
    bool mirror; /* smooth metal: reflects instead of scattering */
};

void facet_shade_surface_find(const IN_SCENE struct facet_scene *scene,
                              const struct facet_shade_hit *hit,
                              struct facet_surface *out);

/* Opacity of a point of a triangle: factor * texture * vertex colour. */
float facet_shade_surface_alpha(const IN_SCENE struct facet_scene *scene,
                                uint32_t instance,
                                uint32_t triangle,
                                float u,
                                float v);

/* Whether a ray that meets a point of a non-opaque triangle is stopped by it. MASK compares with
 * the cutoff; BLEND stops a share `alpha` of all rays, chosen by hashing where the ray hit, so the
 * average over samples is the blended colour, in any order of surfaces. */
bool facet_shade_surface_stops(const IN_SCENE struct facet_scene *scene,
                               uint32_t instance,
                               uint32_t triangle,
                               float t,
                               float u,
                               float v);

/* texture.c: linear RGBA at texture coordinates, by the wrap modes and the magnifying filter of
 * `use`. Level 0 only: a pixel's samples average what a smaller level would have averaged before.
 */
void facet_shade_texture_sample(const IN_SCENE struct facet_scene_texture *texture,
                                const IN_SCENE struct facet_texture_use *use,
                                float u,
                                float v,
                                float rgba[4]);

#endif
