/* See light.h. Punctual lights follow KHR_lights_punctual. Also part of the text that devices
 * compile (scene/memory.h). */
#include "shade/light.h"

#define ONE_OVER_PI 0.31830988618F
#define SHORT_OF_THE_LAMP 0.9999F /* or rounding would put it into its own shadow */

static float clamp01(float value)
{
    return value > 0.0F ? (value < 1.0F ? value : 1.0F) : 0.0F;
}

static float spot_share(const IN_SCENE struct facet_scene_light *light, struct facet_vec3 to_light)
{
    double sine, inner, outer;
    float cosine = -vec3_dot(vec3_from(light->direction), to_light);
    float scale;

    facet_shade_sincos_double((double)light->inner_cone, &sine, &inner);
    facet_shade_sincos_double((double)light->outer_cone, &sine, &outer);
    scale = 1.0F / fmaxf(0.001F, (float)(inner - outer));
    cosine = clamp01((cosine - (float)outer) * scale);
    return cosine * cosine;
}

/* Irradiance at a distance: inverse square, faded out towards the range. */
static float falloff(float intensity, float range, float square)
{
    float share = 1.0F;

    if (range > 0.0F) {
        float q = square / (range * range);

        share = clamp01(1.0F - q * q);
    }
    return intensity * share / fmaxf(square, 1e-8F);
}

bool facet_shade_light_incoming(const IN_SCENE struct facet_scene_light *light,
                                struct facet_vec3 point,
                                struct facet_vec3 normal,
                                struct facet_vec3 geometric,
                                struct facet_incoming *out)
{
    float strength = light->intensity, cosine;
    struct facet_vec3 unit;

    if (light->kind == FACET_LIGHT_DIRECTIONAL) {
        out->direction = vec3_scale(vec3_from(light->direction), -1.0F);
        out->t_max = INFINITY;
        unit = out->direction;
    } else {
        out->direction = vec3_sub(vec3_from(light->position), point);
        out->t_max = 1.0F;
        unit = out->direction;
        if (!vec3_normalize(&unit)) {
            return false;
        }
        strength = falloff(strength, light->range, vec3_dot(out->direction, out->direction));
        if (light->kind == FACET_LIGHT_SPOT) {
            strength *= spot_share(light, unit);
        }
    }
    cosine = vec3_dot(normal, unit);
    if (!(cosine > 0.0F && strength > 0.0F && vec3_dot(geometric, unit) > 0.0F)) {
        return false;
    }
    out->radiance = vec3_scale(vec3_from(light->color), cosine * strength * ONE_OVER_PI);
    return true;
}

/* The first lamp whose sum is above x. */
static const IN_SCENE struct facet_lamp *
pick_lamp(const IN_SCENE struct facet_lamp *lamps, uint32_t count, float x)
{
    uint32_t low = 0, high = count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (lamps[middle].until > x) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return &lamps[low];
}

bool facet_shade_lamp_incoming(const IN_SCENE struct facet_lamp *lamps,
                               uint32_t count,
                               const float random[3],
                               struct facet_vec3 point,
                               struct facet_vec3 normal,
                               struct facet_vec3 geometric,
                               struct facet_lamp_point *from,
                               struct facet_incoming *out)
{
    const IN_SCENE struct facet_lamp *lamp = pick_lamp(lamps, count, random[0]);
    float root = sqrtf(random[1]), square, cosine, there;
    struct facet_vec3 face = vec3_cross(lamp->across, lamp->up), unit;

    from->lamp = lamp;
    from->u = 1.0F - root;
    from->v = root * random[2];
    out->direction = vec3_sub(
        vec3_along(vec3_along(lamp->corner, lamp->across, from->u), lamp->up, from->v), point);
    out->t_max = SHORT_OF_THE_LAMP;
    unit = out->direction;
    square = vec3_dot(unit, unit);
    if (!vec3_normalize(&unit) || !vec3_normalize(&face)) {
        return false;
    }
    cosine = vec3_dot(normal, unit);
    there = vec3_dot(face, unit);
    there = lamp->side == 0.0F ? fabsf(there) : -lamp->side * there;
    if (!(cosine > 0.0F && there > 0.0F && vec3_dot(geometric, unit) > 0.0F)) {
        return false;
    }
    square = ONE_OVER_PI * cosine * there / (fmaxf(square, 1e-8F) * lamp->density);
    out->radiance = vec3(square, square, square);
    return true;
}

#define ZENITH vec3(0.22F, 0.40F, 0.72F)
#define HORIZON vec3(0.72F, 0.80F, 0.88F)
#define GROUND vec3(0.16F, 0.19F, 0.24F)
/* Of sky light, from above and from below. */
#define ABOVE vec3(0.36F, 0.41F, 0.50F)
#define BELOW vec3(0.21F, 0.19F, 0.17F)

/* From the horizon up it turns blue quickly, below it fades into the dark. */
struct facet_vec3 facet_shade_sky(struct facet_vec3 direction)
{
    float y;

    if (!vec3_normalize(&direction)) {
        return HORIZON;
    }
    y = direction.y;
    if (y < 0.0F) {
        return vec3_lerp(HORIZON, GROUND, 1.0F - (1.0F + y) * (1.0F + y) * (1.0F + y));
    }
    return vec3_lerp(HORIZON, ZENITH, sqrtf(y));
}

struct facet_vec3 facet_shade_sky_light(struct facet_vec3 normal)
{
    return vec3_lerp(BELOW, ABOVE, clamp01(0.5F + 0.5F * normal.y));
}

/* Two directions at right angles to n and each other, without a branch on n's length or a root
 * ("Building an Orthonormal Basis, Revisited", Duff et al. 2017). */
static void basis(struct facet_vec3 n, struct facet_vec3 *right, struct facet_vec3 *up)
{
    float sign = n.z < 0.0F ? -1.0F : 1.0F;
    float a = -1.0F / (sign + n.z), b = n.x * n.y * a;

    *right = vec3(1.0F + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *up = vec3(b, sign + n.y * n.y * a, -n.y);
}

struct facet_vec3 facet_shade_cosine_direction(struct facet_vec3 normal, float a, float b)
{
    /* The square onto the disc, ring by ring, then up onto the sphere. */
    const float quarter = 0.78539816F;
    float x = 2.0F * a - 1.0F, y = 2.0F * b - 1.0F, radius, sine, cosine, height;
    struct facet_vec3 right, up;

    if (x == 0.0F && y == 0.0F) {
        return normal;
    }
    if (fabsf(x) > fabsf(y)) {
        radius = x;
        facet_shade_sincos_small(quarter * (y / x), &sine, &cosine);
    } else {
        radius = y;
        facet_shade_sincos_small(quarter * (x / y), &cosine, &sine);
    }
    x = radius * cosine;
    y = radius * sine;
    height = sqrtf(fmaxf(0.0F, 1.0F - x * x - y * y));
    basis(normal, &right, &up);
    return vec3_along(vec3_along(vec3_scale(normal, height), right, x), up, y);
}
