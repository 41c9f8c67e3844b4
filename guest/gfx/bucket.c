/* A bucket of the rasterised picture: samples, sky, instances, the grade. See rasteriser.h. */
#include "guest/gfx/rasteriser.h"

#include "scene/sample.h"
#include "shade/light.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this much of the brightness of a white surface, a pixel is white anyway. */
#define LARGEST_SHAPE 0.9995F

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- samples ---- */

static float tent(float a)
{
    return a < 0.5F ? sqrtf(2.0F * a) - 1.0F : 1.0F - sqrtf(2.0F - 2.0F * a);
}

/* All pixels of a picture are shifted alike: edges stay straight. */
static void place_sample(struct facet_guest_gfx_bucket *t, uint32_t sample)
{
    uint32_t seed = t->picture->seed;

    t->sample = sample;
    t->shift_x = t->shift_y = 0.0F;
    if (t->picture->spp > 1) {
        t->shift_x = tent(facet_sample(seed, 0, 0, sample, 0));
        t->shift_y = tent(facet_sample(seed, 0, 0, sample, 1));
    }
}

static void draw_sky(struct facet_guest_gfx_bucket *t)
{
    for (uint32_t i = 0; i < t->width * t->height; i++) {
        uint32_t x = i % t->width, y = i / t->width;
        struct facet_shade_ray ray;

        facet_shade_lens_ray(&t->lens,
                             (double)(t->x + x) + 0.5 + (double)t->shift_x,
                             (double)(t->y + y) + 0.5 + (double)t->shift_y,
                             &ray);
        vec3_store(vec3_scale(facet_shade_sky(vec3_load(ray.direction)), t->picture->sky_level),
                   t->color[FACET_BUCKET * y + x]);
    }
}

/* ---- instances ---- */

/* The bucket's part of the view in clip space. Samples reach over the edge by a pixel. */
static void use_frustum(struct facet_guest_gfx_bucket *t)
{
    float w = (float)t->picture->width, h = (float)t->picture->height, margin = 1.5F;
    float left = ((float)t->x - margin) / w * 2.0F - 1.0F;
    float right = ((float)(t->x + t->width) + margin) / w * 2.0F - 1.0F;
    float top = 1.0F - ((float)t->y - margin) / h * 2.0F;
    float bottom = 1.0F - ((float)(t->y + t->height) + margin) / h * 2.0F;
    const float planes[6][4] = {{-1, 0, 0, left},
                                {1, 0, 0, -right},
                                {0, -1, 0, bottom},
                                {0, 1, 0, -top},
                                {0, 0, 1, -1},
                                {0, 0, -1, 0}};

    facet_guest_gfx_unit_planes(&t->unit, planes);
}

/* Along the camera's axis. */
static float depth_of(const struct facet_guest_gfx_bucket *t, const float box[6])
{
    const float *m = t->picture->camera.transform;
    float depth = 0.0F;

    for (unsigned i = 0; i < 3; i++) {
        depth += m[4 * i + 2] * (m[4 * i + 3] - 0.5F * (box[i] + box[3 + i]));
    }
    return isnan(depth) ? 0.0F : depth; /* sorting needs an order */
}

static int compare_places(const void *a, const void *b)
{
    const struct facet_guest_gfx_place *x = a, *y = b;

    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* Instances from `first` on that may be in the bucket, near ones first: what they hide is tested
 * but not shaded. Returns where to continue. */
static uint32_t find_places(struct facet_guest_gfx_bucket *t, uint32_t first, uint32_t *found)
{
    const float(*boxes)[6] = (const float(*)[6])facet_guest_gfx_instance_boxes(t->input);
    uint32_t total = t->picture->scene->instance_count;

    *found = 0;
    facet_guest_gfx_unit_matrix(&t->unit, FACET_GUEST_GFX_TO_CLIP, t->input->clip);
    while (first < total && *found + FACET_GUEST_GFX_LANES <= FACET_GUEST_GFX_PLACES) {
        uint32_t count = smaller(total - first, FACET_GUEST_GFX_LANES);
        uint64_t lanes = facet_guest_gfx_cull_boxes(t, boxes + first, count);

        FACET_GUEST_GFX_EACH(i, lanes)
        {
            t->places[(*found)++] =
                (struct facet_guest_gfx_place){depth_of(t, boxes[first + i]), first + (uint32_t)i};
        }
        first += count;
    }
    qsort(t->places, *found, sizeof t->places[0], compare_places);
    return first;
}

static void draw_instances(struct facet_guest_gfx_bucket *t)
{
    const struct facet_scene *scene = t->picture->scene;
    uint32_t next = 0, found;

    while (next < scene->instance_count) {
        next = find_places(t, next, &found);
        for (uint32_t i = 0; i < found; i++) {
            t->instance = &scene->instances[t->places[i].instance];
            t->mesh = &scene->meshes[t->instance->mesh];
            t->material = &scene->materials[t->mesh->material];
            facet_guest_gfx_draw_instance(t);
        }
    }
}

static void draw_sample(struct facet_guest_gfx_bucket *t, uint32_t sample)
{
    place_sample(t, sample);
    draw_sky(t);
    memset(t->unit.depth, 0, sizeof t->unit.depth);
    draw_instances(t);
    for (uint32_t i = 0; i < FACET_BUCKET_PIXELS; i++) {
        for (unsigned c = 0; c < 3; c++) {
            t->sum[i][c] += t->color[i][c];
        }
    }
}

/* ---- the grade ---- */

/* Light is unbounded; the table's side is not. A white surface in the sun is in the middle. */
static float shape(float light, float white)
{
    float s = light / (light + white);

    return s >= 0.0F ? (s < LARGEST_SHAPE ? s : LARGEST_SHAPE) : 0.0F; /* NaN is black */
}

static float unshape(float s, float white)
{
    s = s >= 0.0F ? (s < LARGEST_SHAPE ? s : LARGEST_SHAPE) : 0.0F;
    return white * s / (1.0F - s);
}

static void grade(struct facet_guest_gfx_bucket *t)
{
    float white = t->picture->sky_level, share = 1.0F / (float)t->picture->spp;
    facet_guest_gfx_slot *rgb = t->colors.work;

    for (uint32_t first = 0; first < FACET_BUCKET_PIXELS; first += FACET_GUEST_GFX_LANES) {
        for (uint32_t i = 0; i < 3 * FACET_GUEST_GFX_LANES; i++) {
            rgb[i % 3][i / 3] = shape(t->sum[first + i / 3][i % 3] * share, white);
        }
        facet_guest_gfx_unit_grade(&t->unit, rgb, UINT64_MAX);
        for (uint32_t i = 0; i < 3 * FACET_GUEST_GFX_LANES; i++) {
            t->sum[first + i / 3][i % 3] = unshape(rgb[i % 3][i / 3], white);
        }
    }
}

/* ---- the door ---- */

void facet_guest_gfx_bucket_draw(struct facet_guest_gfx_bucket *t,
                                 const struct facet_picture *picture,
                                 const struct facet_guest_gfx_input *input,
                                 uint32_t number)
{
    uint32_t columns = (picture->width + FACET_BUCKET - 1) / FACET_BUCKET;

    memset(t, 0, sizeof *t);
    t->picture = picture;
    t->input = input;
    t->x = number % columns * FACET_BUCKET;
    t->y = number / columns * FACET_BUCKET;
    t->width = smaller(FACET_BUCKET, picture->width - t->x);
    t->height = smaller(FACET_BUCKET, picture->height - t->y);
    facet_shade_lens_make(&picture->camera, picture->width, picture->height, &t->lens);
    facet_guest_gfx_unit_open(&t->unit, input->lut);
    use_frustum(t);
    for (uint32_t sample = 0; sample < picture->spp; sample++) {
        draw_sample(t, sample);
    }
    grade(t);
}

void facet_guest_gfx_bucket_store(const struct facet_guest_gfx_bucket *t, float *rgb, size_t stride)
{
    for (uint32_t y = 0; y < t->height; y++) {
        memcpy(rgb + 3 * y * stride, t->sum[(size_t)FACET_BUCKET * y], 3 * sizeof *rgb * t->width);
    }
}
