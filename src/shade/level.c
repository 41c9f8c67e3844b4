/* How strongly a scene is lit: see light.h. */
#include "shade/light.h"

#define DEFAULT_LUX 3.0F

static float luminance(const float rgb[3])
{
    return 0.2126F * rgb[0] + 0.7152F * rgb[1] + 0.0722F * rgb[2];
}

float facet_shade_light_level(const struct facet_scene *scene)
{
    float square = 0.0F, level = 0.0F;

    for (unsigned i = 0; i < 3; i++) {
        float side = scene->bounds.hi[i] - scene->bounds.lo[i];

        square += side * side;
    }
    square /= 16.0F;
    for (uint32_t i = 0; i < scene->light_count; i++) {
        const struct facet_scene_light *light = &scene->lights[i];
        float lux = light->intensity * luminance(light->color);

        level += light->kind == FACET_LIGHT_DIRECTIONAL ? lux : lux / fmaxf(square, 1e-8F);
    }
    return level > 1e-20F && level < 1e20F ? level : DEFAULT_LUX;
}

float facet_shade_exposure(const struct facet_scene *scene)
{
    return DEFAULT_LUX / facet_shade_light_level(scene);
}
