/* Light that reaches a point: the scene's lights, the sky, and the directions for ambient rays. */
#ifndef FACET_SHADE_LIGHT_H
#define FACET_SHADE_LIGHT_H

#include "scene/scene.h"
#include "shade/vec.h"

/* Light from one source, not yet knowing whether something is in between. */
struct facet_incoming {
    struct facet_vec3 radiance;  /* what a white surface would send out: cosine * irradiance / pi */
    struct facet_vec3 direction; /* towards the light; its length belongs to t_max */
    float t_max;                 /* the light is at t 1, or infinitely far */
};

/* false when the light is behind the surface or out of reach. */
bool facet_shade_light_incoming(const IN_SCENE struct facet_scene_light *light,
                                struct facet_vec3 point,
                                struct facet_vec3 normal,
                                struct facet_vec3 geometric,
                                struct facet_incoming *out);

/* A triangle that glows, in world space; `until` is the running sum of area * brightness over the
 * lamps before and with it, 1 at the last. */
struct facet_lamp {
    struct facet_vec3 corner, across, up; /* edges from the corner to the second and the third */
    uint32_t instance, triangle;
    float side; /* that glows: 1 where the corners go counter-clockwise, -1 the other, 0 both */
    float until;
    float density; /* chance of a point per area */
};

/* A point on a lamp chosen by three numbers in [0, 1): its place as `triangle` coordinates and the
 * light it sends to `point` per unit of radiance. false when it sends none there: the lamp turns
 * its back, or the surface does. out->direction leads to it, at t 1. */
struct facet_lamp_point {
    const IN_SCENE struct facet_lamp *lamp;
    float u, v;
};
bool facet_shade_lamp_incoming(const IN_SCENE struct facet_lamp *lamps,
                               uint32_t count,
                               const float random[3],
                               struct facet_vec3 point,
                               struct facet_vec3 normal,
                               struct facet_vec3 geometric,
                               struct facet_lamp_point *from,
                               struct facet_incoming *out);

/* How strongly the scene is lit, in lux: directional lights as they are, others at a quarter of the
 * scene's diagonal. The sky is as bright as it should be beside that. 3, the default sun, for a
 * scene whose lights are all dark. */
float facet_shade_light_level(const struct facet_scene *scene);

/* What brings the picture to the brightness that the default sun gives, whatever units the scene's
 * lights were written in. */
float facet_shade_exposure(const struct facet_scene *scene);

/* Radiance of the sky seen in a direction (of any length), for level 3. */
struct facet_vec3 facet_shade_sky(struct facet_vec3 direction);
/* What a white surface sends out under the whole sky, for level 3. */
struct facet_vec3 facet_shade_sky_light(struct facet_vec3 normal);

/* A direction around the normal, probability proportional to the cosine, from two numbers in
 * [0, 1). */
struct facet_vec3 facet_shade_cosine_direction(struct facet_vec3 normal, float a, float b);

#endif
