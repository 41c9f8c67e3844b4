/* See fast.h: single tests, as the rays make them. */
#include "rt/fast.h"

#if defined(__x86_64__)

#include "rt/fast_tests.h"

APART bool
make_alone(const struct facet_rt_numbers *n, const struct facet_rt_ray *ray, struct ray *out)
{
    const uint32_t elements[FACET_RT_RAY_ELEMENTS] = {
        ray->o[0], ray->o[1], ray->o[2], ray->d[0], ray->d[1], ray->d[2], ray->tmin, ray->tmax};
    uint8_t entry[FACET_RT_FAST_RAY_BYTES] = {0};

    memcpy(entry, elements, sizeof elements);
    return ray_make(n, entry, out);
}

APART unsigned
children_alone(const struct ray *ray, const struct facet_rt_node *node, float near[8])
{
    struct slabs slabs;
    __m256 nears;
    unsigned hit;

    slabs_make(ray, &slabs);
    hit = test_children(&slabs, node, _mm256_set1_ps(ray->tmax), ray->parallel, &nears);
    _mm256_storeu_ps(near, nears);
    return hit;
}

void facet_rt_fast_children(const struct facet_rt_numbers *n,
                            const struct facet_rt_ray *ray,
                            const uint8_t *tile,
                            bool node8,
                            struct facet_rt_fast_boxes *out)
{
    struct facet_rt_node node;
    struct ray made;

    memset(out, 0, sizeof *out);
    facet_rt_decode_node(tile, node8, 0, &node);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    clear_exceptions();
    out->hit = children_alone(&made, &node, out->near);
    out->done = !some_exception() && node.tally < FACET_RT_MAX_STEPS * FACET_RT_TALLY_STEP;
    out->flags = (node.tally & FACET_RT_TALLY_TESTED_MASK) != 0 ? made.box_flags : 0;
    out->used = node.used;
    out->leaf = node.leaves & out->hit;
    memcpy(out->index, node.index, sizeof out->index);
}

APART void triangles_alone(const struct ray *ray,
                           const struct facet_rt_options *options,
                           const struct facet_rt_leaf *leaf,
                           unsigned mask,
                           struct facet_rt_fast_facet *out)
{
    struct facets f;

    test_triangles(ray, options, ray->tmax, leaf, mask, &f);
    out->done = !f.odd;
    out->hit = f.hit;
    if (f.hit != 0) {
        out->front = f.hit & (ray->backward ? ~f.positive : f.positive);
        _mm_storeu_ps((float *)out->t, f.t);
        _mm_storeu_ps((float *)out->u, f.u);
        _mm_storeu_ps((float *)out->v, f.v);
    }
}

void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_options *options,
                             const uint8_t *triangles,
                             unsigned count,
                             struct facet_rt_fast_facet *out)
{
    struct facet_rt_leaf leaf;
    struct ray made;

    memset(out, 0, sizeof *out);
    facet_rt_decode_triangles(triangles, count, &leaf);
    if (!make_alone(n, ray, &made)) {
        return;
    }
    clear_exceptions();
    triangles_alone(&made, options, &leaf, (1u << count) - 1, out);
    out->flags = made.triangle_flags;
    out->done = out->done && !some_exception();
}

#else /* nothing is done here */

#include <string.h>

void facet_rt_fast_children(const struct facet_rt_numbers *n,
                            const struct facet_rt_ray *ray,
                            const uint8_t *tile,
                            bool node8,
                            struct facet_rt_fast_boxes *out)
{
    (void)n;
    (void)ray;
    (void)tile;
    (void)node8;
    memset(out, 0, sizeof *out);
}

void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_options *options,
                             const uint8_t *triangles,
                             unsigned count,
                             struct facet_rt_fast_facet *out)
{
    (void)n;
    (void)ray;
    (void)options;
    (void)triangles;
    (void)count;
    memset(out, 0, sizeof *out);
}

#endif
