/* Colour and light of up to 64 pixels at once. See rasteriser.h.
 *
 * light = emitted + base colour * (sky light + sum over lights of cosine * irradiance / pi): what
 * the ray tracers compute, without shadows and ambient occlusion. */
#include "guest/gfx/rasteriser.h"

#include "scene/sample.h"
#include "shade/light.h"

/* ---- interpolation ---- */

/* `offset` of the channels in a corner; the results follow the taps. */
static const facet_guest_gfx_slot *interpolate(struct facet_guest_gfx_bucket *t,
                                               const struct facet_guest_gfx_patch *patch,
                                               size_t offset,
                                               unsigned channels,
                                               uint64_t lanes)
{
    static const uint8_t corner_of[4] = {0, 1, 2, 2};

    for (unsigned j = 0; j < 4; j++) {
        const char *corner = (const char *)patch->corner[corner_of[j]];
        const float *from = (const float *)(corner + offset);

        for (unsigned c = 0; c < channels; c++) {
            float *slot = t->taps.r[j * channels + c], value = from[c];

            FACET_GUEST_GFX_EACH(i, lanes)
            {
                slot[i] = value;
            }
        }
    }
    facet_guest_gfx_unit_interpolate(&t->unit, &t->taps, channels, lanes);
    return (const facet_guest_gfx_slot *)&t->taps.r[4 * channels];
}

static void
copy(facet_guest_gfx_slot *to, const facet_guest_gfx_slot *from, unsigned slots, uint64_t lanes)
{
    for (unsigned c = 0; c < slots; c++) {
        FACET_GUEST_GFX_EACH(i, lanes)
        {
            to[c][i] = from[c][i];
        }
    }
}

static void fill(facet_guest_gfx_slot *to, const float *values, unsigned slots, uint64_t lanes)
{
    for (unsigned c = 0; c < slots; c++) {
        FACET_GUEST_GFX_EACH(i, lanes)
        {
            to[c][i] = values[c];
        }
    }
}

/* ---- textures ---- */

/* The instruction wraps both axes alike. Where a texture wants two ways, the instruction repeats if
 * one of the axes does, and the other axis stays between the middles of its first and last texel,
 * where the filter sees no neighbour beyond. */
static enum facet_wrap wrap_of(const struct facet_texture_use *use)
{
    bool repeats = use->wrap_u == FACET_WRAP_REPEAT || use->wrap_v == FACET_WRAP_REPEAT;

    return use->wrap_u == use->wrap_v ? use->wrap_u
           : repeats                  ? FACET_WRAP_REPEAT
                                      : FACET_WRAP_CLAMP;
}

static float confined(enum facet_wrap wrap, float v, uint32_t size)
{
    float half = 0.5F / (float)size;

    if (wrap == FACET_WRAP_MIRROR) {
        v -= 2.0F * floorf(0.5F * v);
        v = v > 1.0F ? 2.0F - v : v;
    }
    return v > half ? (v < 1.0F - half ? v : 1.0F - half) : half;
}

static void confine(struct facet_guest_gfx_bucket *t,
                    unsigned axis,
                    enum facet_wrap wanted,
                    uint32_t size,
                    uint64_t lanes)
{
    if (wanted != t->unit.wrap) {
        FACET_GUEST_GFX_EACH(i, lanes)
        {
            t->uv[axis][i] = confined(wanted, t->uv[axis][i], size);
        }
    }
}

static void sample(struct facet_guest_gfx_bucket *t,
                   const struct facet_guest_gfx_patch *patch,
                   const struct facet_texture_use *use,
                   size_t offset,
                   facet_guest_gfx_slot *rgba,
                   uint64_t lanes)
{
    const struct facet_scene_texture *texture = &t->picture->scene->textures[use->texture];

    copy(t->uv, interpolate(t, patch, offset, 2, lanes), 2, lanes);
    facet_guest_gfx_unit_texture(&t->unit, texture, wrap_of(use));
    confine(t, 0, use->wrap_u, texture->width, lanes);
    confine(t, 1, use->wrap_v, texture->height, lanes);
    facet_guest_gfx_unit_sample(&t->unit,
                                (const facet_guest_gfx_slot *)t->uv,
                                rgba,
                                use->magnify == FACET_FILTER_NEAREST,
                                lanes);
}

static void multiply_base(struct facet_guest_gfx_bucket *t, uint64_t lanes)
{
    facet_guest_gfx_unit_multiply(&t->unit, &t->colors, lanes);
    copy(t->colors.base, (const facet_guest_gfx_slot *)t->colors.work, 4, lanes);
}

/* factor * texture * vertex colour */
static void find_base(struct facet_guest_gfx_bucket *t,
                      const struct facet_guest_gfx_patch *patch,
                      uint64_t lanes)
{
    const struct facet_scene_material *m = t->material;

    if (m->base_texture.texture == FACET_SCENE_NONE) {
        fill(t->colors.base, m->base_color, 4, lanes);
    } else {
        sample(t,
               patch,
               &m->base_texture,
               offsetof(struct facet_guest_gfx_vertex, uv),
               t->colors.base,
               lanes);
        fill(t->colors.work, m->base_color, 4, lanes);
        multiply_base(t, lanes);
    }
    if (t->mesh->colors != NULL) {
        copy(t->colors.work,
             interpolate(t, patch, offsetof(struct facet_guest_gfx_vertex, color), 4, lanes),
             4,
             lanes);
        multiply_base(t, lanes);
    }
}

static bool glows(const struct facet_scene_material *m)
{
    return m->emissive[0] > 0.0F || m->emissive[1] > 0.0F || m->emissive[2] > 0.0F;
}

static void find_emitted(struct facet_guest_gfx_bucket *t,
                         const struct facet_guest_gfx_patch *patch,
                         uint64_t lanes)
{
    const struct facet_scene_material *m = t->material;

    fill(t->emitted, m->emissive, 3, lanes);
    if (m->emissive_texture.texture != FACET_SCENE_NONE) {
        sample(t,
               patch,
               &m->emissive_texture,
               offsetof(struct facet_guest_gfx_vertex, emissive_uv),
               t->emitted,
               lanes);
        for (unsigned c = 0; c < 3; c++) {
            FACET_GUEST_GFX_EACH(i, lanes)
            {
                t->emitted[c][i] *= m->emissive[c];
            }
        }
    }
}

/* ---- light ---- */

static void find_normals(struct facet_guest_gfx_bucket *t,
                         const struct facet_guest_gfx_patch *patch,
                         uint64_t lanes)
{
    copy(t->normals,
         interpolate(t, patch, offsetof(struct facet_guest_gfx_vertex, normal), 3, lanes),
         3,
         lanes);
    if (patch->back) { /* double-sided: the side that is seen */
        for (unsigned c = 0; c < 3; c++) {
            FACET_GUEST_GFX_EACH(i, lanes)
            {
                t->normals[c][i] = -t->normals[c][i];
            }
        }
    }
    facet_guest_gfx_unit_normalize(&t->unit, t->normals, lanes);
}

static struct facet_vec3 at_lane(const facet_guest_gfx_slot *slots, uint64_t i)
{
    return vec3(slots[0][i], slots[1][i], slots[2][i]);
}

static void to_lane(facet_guest_gfx_slot *slots, uint64_t i, struct facet_vec3 v)
{
    slots[0][i] = v.x;
    slots[1][i] = v.y;
    slots[2][i] = v.z;
}

static void light_sky(struct facet_guest_gfx_bucket *t, uint64_t lanes)
{
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        struct facet_vec3 light =
            facet_shade_sky_light(at_lane((const facet_guest_gfx_slot *)t->normals, i));

        to_lane(t->colors.work, i, vec3_scale(light, t->picture->sky_level));
        t->colors.work[3][i] = 0.0F;
    }
    facet_guest_gfx_unit_multiply(&t->unit, &t->colors, lanes);
    copy(t->colors.sum, (const facet_guest_gfx_slot *)t->colors.work, 4, lanes);
}

/* Direction of the light and what it brings to a surface that faces it: the shading of the ray
 * tracers with the direction itself as normal. The cosine is the instruction's. */
static void
find_light(struct facet_guest_gfx_bucket *t, const struct facet_scene_light *light, uint64_t lanes)
{
    bool distant = light->kind == FACET_LIGHT_DIRECTIONAL;
    struct facet_vec3 direction = vec3_scale(vec3_load(light->direction), -1.0F);
    struct facet_incoming in = {0};
    bool known = false, shines = false;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        struct facet_vec3 point = at_lane((const facet_guest_gfx_slot *)t->positions, i);

        if (!distant || !known) {
            if (!distant) {
                direction = vec3_sub(vec3_load(light->position), point);
            }
            shines = vec3_normalize(&direction) &&
                     facet_shade_light_incoming(light, point, direction, direction, &in);
            known = true;
        }
        to_lane(t->lights, i, direction);
        to_lane(t->colors.work, i, shines ? in.radiance : vec3(0.0F, 0.0F, 0.0F));
    }
}

static void
light(struct facet_guest_gfx_bucket *t, const struct facet_guest_gfx_patch *patch, uint64_t lanes)
{
    const struct facet_scene *scene = t->picture->scene;

    find_normals(t, patch, lanes);
    light_sky(t, lanes);
    if (!t->input->distant_lights) {
        copy(t->positions,
             interpolate(t, patch, offsetof(struct facet_guest_gfx_vertex, position), 3, lanes),
             3,
             lanes);
    }
    for (uint32_t k = 0; k < scene->light_count; k++) {
        find_light(t, &scene->lights[k], lanes);
        facet_guest_gfx_unit_light(&t->unit,
                                   &t->colors,
                                   (const facet_guest_gfx_slot *)t->normals,
                                   (const facet_guest_gfx_slot *)t->lights,
                                   lanes);
        facet_guest_gfx_unit_add(&t->unit, &t->colors, lanes);
    }
    if (glows(t->material)) {
        find_emitted(t, patch, lanes);
        copy(t->colors.work, (const facet_guest_gfx_slot *)t->emitted, 3, lanes);
        facet_guest_gfx_unit_add(&t->unit, &t->colors, lanes);
    }
}

/* ---- pixels ---- */

/* How opaque a pixel must be at least. BLEND keeps a share `alpha` of the samples, so that they
 * average to the blend, in any order of surfaces; other triangles choose other samples. */
static float least_alpha(const struct facet_guest_gfx_bucket *t, uint32_t x, uint32_t y)
{
    uint32_t instance = (uint32_t)(t->instance - t->picture->scene->instances);
    uint32_t dimension = 2 + 2 * (facet_sample_hash(instance, t->triangle) & 63);

    if (t->material->alpha_mode == FACET_ALPHA_MASK) {
        return t->material->alpha_cutoff;
    }
    return facet_sample(t->picture->seed, t->x + x, t->y + y, t->sample, dimension) + 0x1p-25F;
}

/* Lanes that are opaque enough; their depth is written now. */
static uint64_t cut_out(struct facet_guest_gfx_bucket *t, uint32_t x, uint32_t y, uint64_t lanes)
{
    uint64_t kept = 0;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        uint32_t column = x + (uint32_t)i % FACET_GUEST_GFX_BLOCK,
                 row = y + (uint32_t)i / FACET_GUEST_GFX_BLOCK;

        kept |= (uint64_t)(t->colors.base[3][i] >= least_alpha(t, column, row)) << i;
    }
    return kept != 0 ? facet_guest_gfx_unit_depth(&t->unit, &t->depths, kept, true) : 0;
}

static void show(struct facet_guest_gfx_bucket *t, uint32_t x, uint32_t y, uint64_t lanes)
{
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float *to = t->color[FACET_BUCKET * (y + i / FACET_GUEST_GFX_BLOCK) + x +
                             i % FACET_GUEST_GFX_BLOCK];

        for (unsigned c = 0; c < 3; c++) {
            to[c] = t->colors.sum[c][i];
        }
    }
}

void facet_guest_gfx_shade_block(struct facet_guest_gfx_bucket *t,
                                 const struct facet_guest_gfx_patch *patch,
                                 uint32_t x,
                                 uint32_t y,
                                 uint64_t lanes)
{
    find_base(t, patch, lanes);
    if (t->material->alpha_mode != FACET_ALPHA_OPAQUE) {
        lanes = cut_out(t, x, y, lanes);
    }
    if (lanes == 0) {
        return;
    }
    if (t->material->unlit) {
        /* As bright as a white surface under the default sun, in the scene's own units. */
        const float level[4] = {
            t->picture->sky_level, t->picture->sky_level, t->picture->sky_level, 1.0F};

        fill(t->colors.work, level, 4, lanes);
        facet_guest_gfx_unit_multiply(&t->unit, &t->colors, lanes);
        copy(t->colors.sum, (const facet_guest_gfx_slot *)t->colors.work, 4, lanes);
    } else {
        light(t, patch, lanes);
    }
    show(t, x, y, lanes);
}
