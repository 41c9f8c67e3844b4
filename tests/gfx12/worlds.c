/* See worlds.h. */
#include "gfx12/worlds.h"

#include "harness.h"

#include "base/float.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned below(unsigned n)
{
    return (unsigned)(harness_random() >> 33) % n;
}

static float unit_float(void)
{
    return (float)(harness_random() >> 40) * 0x1p-24f;
}

float in_range(float lo, float hi)
{
    return lo + (hi - lo) * unit_float();
}

/* ---- random structures ---- */

/* A coordinate; on a grid of quarters, many of them meet. */
static float coordinate(const struct world *w)
{
    return w->grid ? (float)((int)below(17) - 8) * 0.25f : in_range(-2, 2);
}

static uint32_t primitive_flags(void)
{
    return (below(4) != 0 ? FACET_BVH_OPAQUE : 0) | (below(4) == 0 ? FACET_BVH_DOUBLE_SIDED : 0);
}

void random_triangles(struct world *w, unsigned b)
{
    unsigned count = 1 + below(below(3) == 0 ? 8 : MAX_PRIMITIVES);
    float size = w->grid ? 1 : in_range(0.05f, 2);

    for (unsigned i = 0; i < count; i++) {
        struct facet_bvh_triangle *t = &w->triangles[b][i];

        if (i > 0 && below(8) == 0) { /* the same triangle again: equal t */
            *t = w->triangles[b][below(i)];
        } else {
            float at[3] = {coordinate(w), coordinate(w), coordinate(w)};
            for (unsigned c = 0; c < 3; c++) {
                for (unsigned k = 0; k < 3; k++) {
                    t->vertex[c][k] = w->grid ? coordinate(w) : at[k] + in_range(-size, size);
                }
            }
        }
        t->geometry = below(3);
        t->primitive = i;
        t->flags = primitive_flags();
    }
    w->blas[b] =
        (struct facet_bvh_blas_input){.triangles = w->triangles[b], .triangle_count = count};
}

static void random_aabbs(struct world *w, unsigned b)
{
    unsigned count = 1 + below(40);

    for (unsigned i = 0; i < count; i++) {
        struct facet_bvh_aabb *a = &w->aabbs[b][i];

        for (unsigned k = 0; k < 3; k++) {
            float x = coordinate(w), y = coordinate(w);
            a->min[k] = x < y ? x : y;
            a->max[k] = x < y ? y : x;
        }
        a->geometry = below(3);
        a->primitive = i;
        a->flags = primitive_flags() & FACET_BVH_OPAQUE;
    }
    w->blas[b] = (struct facet_bvh_blas_input){.aabbs = w->aabbs[b], .aabb_count = count};
}

static void random_instance(struct world *w, struct facet_bvh_instance *in, unsigned number)
{
    memset(in, 0, sizeof *in);
    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            in->world_to_object[r][c] = w->grid ? (float)(r == c) : in_range(-1, 1);
        }
        in->world_to_object[r][3] = w->grid ? (float)((int)below(5) - 2) * 0.5f : in_range(-2, 2);
    }
    for (unsigned r = 0; r < 3 && w->grid && number % 2 == 0; r++) { /* identity */
        in->world_to_object[r][3] = number % 4 == 0 ? 0.0f : -0.0f;
    }
    in->blas = below(w->scene.blas_count);
    in->flags = below(3) == 0 ? below(1024) : 0;
    in->mask = (uint8_t)(below(2) != 0 ? 0xFF : harness_random());
    in->user_data = number * 0x1111;
}

void random_unit(struct world *w)
{
    struct facet_gfx12_resource *r = &w->unit.resource;
    static const uint8_t grow[4] = {0, 1, 6, 255};

    facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
    w->unit.image_address = w->base;
    r->box_sorting_heuristic = (uint8_t)(below(2) != 0 ? 0 : below(4));
    r->box_grow_value = grow[below(4)];
    r->box_sort_en = below(16) != 0;
    r->wide_sort_en = below(16) != 0;
    r->sort_triangles_first = below(16) != 0;
    r->pointer_flags = below(4) != 0;
    r->instance_en = below(32) != 0;
    w->unit.profile = below(3) == 0 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
    w->unit.opaque_sense = below(2) != 0 ? FACET_GFX12_SENSE_HW : FACET_GFX12_SENSE_SEED;
}

/* Bits flipped in nodes: cycles, wrong types, ranges without end, NaN planes, other counts. */
static void damage(struct world *w)
{
    unsigned flips = 1 + below(12);

    for (unsigned i = 0; i < flips; i++) {
        uint64_t byte = harness_random() % w->image.size;
        if (below(3) == 0) { /* headers matter most */
            byte = byte / 128 * 128 + below(32);
        }
        w->image.bytes[byte] ^= (uint8_t)(1u << below(8));
    }
}

struct world *world_new(bool damaged)
{
    struct world *w = calloc(1, sizeof *w);
    struct facet_gfx12_build_options options = {.quality =
                                                    below(2) != 0 ? FACET_BVH_HIGH : FACET_BVH_FAST,
                                                .obb = below(4) == 0,
                                                .prim_range = below(17)};
    struct facet_gfx12_build_report report;
    enum facet_status status;
    struct facet_error err;

    w->grid = below(2) != 0;
    w->base = below(2) != 0 ? 0 : 128 * (uint64_t)below(1 << 20);
    options.base = w->base;
    w->scene = (struct facet_bvh_scene_input){.blas = w->blas,
                                              .blas_count = 1 + below(MAX_BLAS),
                                              .instances = w->instances,
                                              .instance_count = 1 + below(MAX_INSTANCES)};
    for (unsigned b = 0; b < w->scene.blas_count; b++) {
        if (below(5) == 0) {
            random_aabbs(w, b);
        } else {
            random_triangles(w, b);
        }
    }
    for (unsigned i = 0; i < w->scene.instance_count; i++) {
        random_instance(w, &w->instances[i], i);
    }
    if (below(3) == 0) { /* no TLAS */
        status =
            facet_gfx12_build_blas(&w->blas[0], &options, NULL, NULL, &w->image, &report, &err);
    } else {
        status = facet_gfx12_build(&w->scene, &options, NULL, NULL, &w->image, &report, &err);
    }
    if (!CHECK_MSG(status == FACET_OK, "%s", err.message)) {
        free(w);
        return NULL;
    }
    if (damaged) {
        damage(w);
    }
    random_unit(w);
    return w;
}

void world_free(struct world *w)
{
    free(w->image.bytes);
    free(w);
}

/* ---- random rays ---- */

float odd_float(void)
{
    switch (below(9)) {
    case 0:
        return 0.0f;
    case 1:
        return -0.0f;
    case 2:
        return (float)INFINITY;
    case 3:
        return (float)-INFINITY;
    case 4:
        return facet_float_of(below(2) != 0 ? 0x7FC00000u : 0xFFC00000u);
    case 5:
        return facet_float_of(1 + below(1 << 20)); /* subnormal */
    case 6:
        return below(2) != 0 ? 3e38f : -3e38f;
    case 7:
        return facet_float_of((uint32_t)harness_random());
    default:
        return below(2) != 0 ? 1e-30f : 1e30f;
    }
}

/* A point that geometry is likely to share: a corner, or a point on an edge. */
static void notable_point(const struct world *w, float p[3])
{
    const struct facet_bvh_blas_input *blas = &w->blas[below(w->scene.blas_count)];
    float s = below(2) != 0 ? 0 : 0.5f;

    for (unsigned k = 0; k < 3; k++) {
        p[k] = coordinate(w);
    }
    if (blas->triangle_count > 0) {
        const struct facet_bvh_triangle *t = &blas->triangles[below(blas->triangle_count)];
        unsigned a = below(3), b = below(3);
        for (unsigned k = 0; k < 3; k++) {
            p[k] = t->vertex[a][k] + s * (t->vertex[b][k] - t->vertex[a][k]);
        }
    }
}

void random_ray(const struct world *w, struct facet_gfx12_batch_ray *ray)
{
    for (unsigned k = 0; k < 3; k++) {
        ray->origin[k] = below(2) != 0 ? coordinate(w) : in_range(-6, 6);
        ray->direction[k] = in_range(-1, 1);
    }
    switch (below(6)) {
    case 0: /* along an axis, perhaps inside a plane of boxes and triangles */
        for (unsigned k = 0; k < 3; k++) {
            ray->direction[k] = below(2) != 0 ? 0.0f : -0.0f;
        }
        ray->direction[below(3)] = below(2) != 0 ? 1 : -1;
        break;
    case 1: /* one component gone */
        ray->direction[below(3)] = below(2) != 0 ? 0.0f : -0.0f;
        break;
    case 2:
    case 3: { /* at a corner or an edge */
        float p[3];
        notable_point(w, p);
        for (unsigned k = 0; k < 3; k++) {
            ray->direction[k] = p[k] - ray->origin[k];
        }
        break;
    }
    default:
        break;
    }
    if (below(12) == 0) {
        (below(2) != 0 ? ray->origin : ray->direction)[below(3)] = odd_float();
    }
    ray->t_min = below(8) == 0 ? in_range(-1, 1) : 0;
    ray->t_max = below(4) == 0 ? in_range(0, 4) : (float)INFINITY;
    if (below(40) == 0) {
        *(below(2) != 0 ? &ray->t_min : &ray->t_max) = odd_float();
    }
}

uint32_t random_api_flags(void)
{
    switch (below(4)) {
    case 0:
        return (uint32_t)harness_random() & 0x3FF;
    case 1:
        return 1u << below(10);
    default:
        return below(4) == 0 ? FACET_GFX12_API_TERMINATE_ON_FIRST_HIT : 0;
    }
}
