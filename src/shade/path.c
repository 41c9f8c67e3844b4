/* See path.h. Every random number is a function of pixel, sample and bounce. */
#include "shade/path.h"

#include "scene/sample.h"
#include "shade/light.h"
#include "shade/picture.h"

/* A scene with more lights than this has that many of them drawn per sample. */
#define LIGHTS_PER_SAMPLE 8U
#define MOST_OF_A_PATH 1.0F
/* Sample dimensions; pairs are stratified together (scene/sample.h). Each bounce has its own set.
 */
enum {
    DIM_PIXEL = 0,
    DIM_AMBIENT = 2,
    DIM_REACH = 4,
    DIM_LIGHT = 6,
    DIM_LAMP = 22,
    DIM_COUNT = 26
};

static float random_number(const struct facet_path *path, uint32_t sample, uint32_t dim)
{
    return facet_sample_of(path->noise, sample, dim + path->bounce * DIM_COUNT);
}

static void random_pair(const struct facet_path *path, uint32_t sample, uint32_t dim, float out[2])
{
    facet_sample_pair(path->noise, sample, dim + path->bounce * DIM_COUNT, out);
}

/* ---- primary rays ---- */

/* Spread over two pixels with a tent's weight: a soft edge without a weighted sum. */
static double tent(float a)
{
    return a < 0.5F ? (double)(sqrtf(2.0F * a) - 1.0F) : (double)(1.0F - sqrtf(2.0F - 2.0F * a));
}

void facet_shade_path_begin(struct facet_path *path,
                            const IN_SCENE struct facet_picture *picture,
                            const IN_SCENE struct facet_shade_lens *lens,
                            uint32_t x,
                            uint32_t y,
                            uint32_t sample,
                            struct facet_shade_ray *out)
{
    double at_x = x + 0.5, at_y = y + 0.5;

    path->sample = sample;
    path->bounce = 0;
    path->light = vec3(0.0F, 0.0F, 0.0F);
    path->share = vec3(1.0F, 1.0F, 1.0F);
    path->glows = true;
    if (picture->spp > 1) {
        float random[2];

        random_pair(path, sample, DIM_PIXEL, random);
        at_x += tent(random[0]);
        at_y += tent(random[1]);
    }
    facet_shade_lens_ray(lens, at_x, at_y, out);
    path->incoming = vec3_load(out->direction);
}

/* Light that leaves the place where the path is now. */
static void add_light(struct facet_path *path, struct facet_vec3 light)
{
    path->light = vec3_add(path->light, vec3_mul(path->share, light));
}

bool facet_shade_path_see(struct facet_path *path,
                          const IN_SCENE struct facet_picture *picture,
                          const struct facet_shade_hit *hit)
{
    struct facet_surface *surface = &path->surface;

    if (hit->instance == FACET_SCENE_NONE) {
        add_light(path, vec3_scale(facet_shade_sky(path->incoming), picture->sky_level));
        return false;
    }
    facet_shade_surface_find(SCENE_PART(struct facet_scene, picture, scene), hit, surface);
    if (surface->unlit) {
        /* As bright as a white surface under the default sun, in the scene's own units. */
        add_light(path, vec3_scale(surface->color, picture->sky_level));
        return false;
    }
    if (path->glows) {
        add_light(path, surface->emitted);
    }
    path->unoccluded = 0;
    return true;
}

/* ---- lights ---- */

static void ray_from(const struct facet_surface *surface,
                     struct facet_vec3 direction,
                     float t_max,
                     struct facet_shade_ray *out)
{
    vec3_store(surface->start, out->origin);
    vec3_store(direction, out->direction);
    out->t_min = 0.0F;
    out->t_max = t_max;
}

/* The light of slot k: slot k itself, or one drawn from the k-th share of them all. */
static uint32_t pick_light(const struct facet_path *path, uint32_t k, uint32_t count)
{
    double at;

    if (count <= LIGHTS_PER_SAMPLE) {
        return k;
    }
    at = (double)k + (double)random_number(path, path->sample, DIM_LIGHT + 2 * k);
    at *= (double)count / LIGHTS_PER_SAMPLE;
    return at < (double)count ? (uint32_t)at : count - 1;
}

uint32_t facet_shade_path_lights(const IN_SCENE struct facet_picture *picture)
{
    const uint32_t count = SCENE_PART(struct facet_scene, picture, scene)->light_count;

    return count < LIGHTS_PER_SAMPLE ? count : LIGHTS_PER_SAMPLE;
}

bool facet_shade_path_light_ray(const struct facet_path *path,
                                const IN_SCENE struct facet_picture *picture,
                                uint32_t k,
                                struct facet_shade_ray *out,
                                struct facet_vec3 *brings)
{
    const IN_SCENE struct facet_scene *scene = SCENE_PART(struct facet_scene, picture, scene);
    const struct facet_surface *s = &path->surface;
    uint32_t count = scene->light_count;
    float weight = count > LIGHTS_PER_SAMPLE ? (float)count / LIGHTS_PER_SAMPLE : 1.0F;
    struct facet_incoming in;

    /* Mirrors need rays that continue; without them they show as if they scattered light. */
    if ((s->mirror && picture->bounces != 0) ||
        !facet_shade_light_incoming(SCENE_PART(struct facet_scene_light, scene, lights) +
                                        pick_light(path, k, count),
                                    s->start,
                                    s->normal,
                                    s->geometric,
                                    &in)) {
        return false;
    }
    *brings = vec3_scale(vec3_mul(s->color, in.radiance), weight);
    ray_from(s, in.direction, in.t_max, out);
    return true;
}

bool facet_shade_path_lamp_ray(const struct facet_path *path,
                               const IN_SCENE struct facet_picture *picture,
                               struct facet_shade_ray *out,
                               struct facet_vec3 *brings)
{
    const struct facet_surface *s = &path->surface;
    float random[3];
    struct facet_lamp_point from;
    struct facet_surface lamp;
    struct facet_incoming in;
    struct facet_shade_hit hit;

    for (unsigned k = 0; k < 3; k++) {
        random[k] = random_number(path, path->sample, DIM_LAMP + k);
    }
    if (s->mirror || !facet_shade_lamp_incoming(SCENE_PART(struct facet_lamp, picture, lamps),
                                                picture->lamp_count,
                                                random,
                                                s->start,
                                                s->normal,
                                                s->geometric,
                                                &from,
                                                &in)) {
        return false;
    }
    hit = (struct facet_shade_hit){
        .u = from.u, .v = from.v, .instance = from.lamp->instance, .triangle = from.lamp->triangle};
    facet_shade_surface_find(SCENE_PART(struct facet_scene, picture, scene), &hit, &lamp);
    *brings = vec3_mul(vec3_mul(s->color, in.radiance), lamp.emitted);
    ray_from(s, in.direction, in.t_max, out);
    return true;
}

/* Places right beside a light are so bright that the few paths which end there would be white dots
 * in the picture. What a bounce brings is therefore limited to that of a white surface in the
 * sun. */
void facet_shade_path_bring(struct facet_path *path,
                            const IN_SCENE struct facet_picture *picture,
                            struct facet_vec3 light)
{
    float most = MOST_OF_A_PATH * picture->sky_level;
    float largest = fmaxf(light.x, fmaxf(light.y, light.z));

    add_light(path,
              path->bounce != 0 && largest > most ? vec3_scale(light, most / largest) : light);
}

/* ---- ambient light ---- */

/* Each ray looks less far than the limit by a random share, so that an occluder counts the less the
 * farther it is, without an edge at the limit. */
bool facet_shade_path_ambient_ray(const struct facet_path *path,
                                  const IN_SCENE struct facet_picture *picture,
                                  uint32_t k,
                                  struct facet_shade_ray *out)
{
    const struct facet_surface *s = &path->surface;
    uint32_t sample = path->sample * picture->ao_rays + k;
    struct facet_vec3 direction;
    float random[2];

    random_pair(path, sample, DIM_AMBIENT, random);
    direction = facet_shade_cosine_direction(s->normal, random[0], random[1]);
    if (!(vec3_dot(direction, s->geometric) > 0.0F)) {
        return false;
    }
    ray_from(
        s, direction, picture->ao_distance * (1.0F - random_number(path, sample, DIM_REACH)), out);
    return true;
}

void facet_shade_path_add_sky_light(struct facet_path *path,
                                    const IN_SCENE struct facet_picture *picture)
{
    const struct facet_surface *s = &path->surface;
    uint32_t rays = picture->ao_rays;
    float share = rays != 0 ? (float)path->unoccluded / (float)rays : 1.0F;
    struct facet_vec3 sky =
        vec3_scale(facet_shade_sky_light(s->normal), share * picture->sky_level);

    add_light(path, vec3_mul(s->color, sky));
}

/* ---- bounces ---- */

/* Where a path continues. Choosing directions by the cosine leaves only the colour as a factor. */
static struct facet_vec3 next_direction(const struct facet_path *path)
{
    const struct facet_surface *s = &path->surface;
    float random[2];

    if (s->mirror) {
        return vec3_along(path->incoming, s->normal, -2.0F * vec3_dot(path->incoming, s->normal));
    }
    random_pair(path, path->sample, DIM_AMBIENT, random);
    return facet_shade_cosine_direction(s->normal, random[0], random[1]);
}

/* Surfaces that glow show to the eye and in mirrors; their light on others is that of lamps. */
bool facet_shade_path_bounce_ray(struct facet_path *path, struct facet_shade_ray *out)
{
    const struct facet_surface *s = &path->surface;
    struct facet_vec3 direction;

    path->bounce++;
    direction = next_direction(path);
    if (!(vec3_dot(direction, s->geometric) > 0.0F)) {
        return false; /* below the triangle: dark */
    }
    path->share = vec3_mul(path->share, s->color);
    path->glows = path->glows && s->mirror;
    path->incoming = direction;
    ray_from(s, direction, INFINITY, out);
    return true;
}
