/* The traversal over decoded nodes in plain C: the twin of fast_avx2.c, for other hosts and for
 * comparing. */
#include "gfx12/fast.h"

#include "base/float.h"
#include "num/f32.h"

#include <stdlib.h>

#define TARGET
#define ONE facet_gfx12_fast_one_portable
#define MANY facet_gfx12_fast_many_portable
#define LEAN 0

#ifdef __wasm_simd128__
#include "gfx12/fast_wasm.inc"
#else

struct lanes {
    struct facet_gfx12_slab_ray ray; /* extent and grow are filled in per test */
    unsigned down[3];                /* which plane of an axis faces the ray */
};

struct slabs {
    float min_t[8], max_t[8];
    float enter[8], leave[8];
};

static void lanes_make(const struct fast_level *level, struct lanes *out)
{
    memcpy(out->ray.origin, level->origin, sizeof out->ray.origin);
    memcpy(out->ray.inverse, level->inverse, sizeof out->ray.inverse);
    for (unsigned k = 0; k < 3; k++) {
        out->down[k] = level->octant >> k & 1;
    }
}

/* The second operand where both are zeros, as maxps and minps of x86. */
static inline float max2(float a, float b)
{
    return a > b ? a : b;
}

static inline float min2(float a, float b)
{
    return a < b ? a : b;
}

static inline float slab_plane(
    const struct fast_box *box, const struct lanes *lanes, unsigned k, unsigned far, unsigned i)
{
    return (box->plane[k][lanes->down[k] ^ far][i] - lanes->ray.origin[k]) * lanes->ray.inverse[k];
}

static unsigned slabs_test(const struct fast_box *box,
                           const struct lanes *lanes,
                           float extent,
                           float grow,
                           struct slabs *s)
{
    unsigned hit = 0;

    for (unsigned i = 0; i < 8; i++) {
        const float enter =
            max2(max2(slab_plane(box, lanes, 0, 0, i), slab_plane(box, lanes, 1, 0, i)),
                 max2(slab_plane(box, lanes, 2, 0, i), 0));
        const float leave =
            min2(min2(slab_plane(box, lanes, 0, 1, i), slab_plane(box, lanes, 1, 1, i)),
                 min2(extent, slab_plane(box, lanes, 2, 1, i)));

        s->min_t[i] = s->enter[i] = enter;
        s->max_t[i] = s->leave[i] = leave;
        hit |= (unsigned)(enter <= leave * grow) << i;
    }
    return hit;
}

static unsigned slabs_test_careful(const struct fast_box *box,
                                   const struct lanes *lanes,
                                   float extent,
                                   float grow,
                                   struct slabs *s)
{
    struct facet_gfx12_slab_ray ray = lanes->ray;
    unsigned hit = 0;

    ray.extent = extent;
    ray.grow = grow;
    for (unsigned i = 0; i < 8; i++) {
        const struct facet_gfx12_slab_box b = {
            {box->plane[0][0][i], box->plane[1][0][i], box->plane[2][0][i]},
            {box->plane[0][1][i], box->plane[1][1][i], box->plane[2][1][i]},
        };
        const struct facet_gfx12_slab slab = facet_gfx12_slab_test(&ray, &b);

        s->min_t[i] = slab.min_t;
        s->max_t[i] = slab.max_t;
        s->enter[i] = slab.enter;
        s->leave[i] = slab.leave;
        hit |= (unsigned)slab.hit << i;
    }
    return hit;
}

static float key_of(const struct slabs *s, unsigned heuristic, unsigned i)
{
    switch (heuristic) {
    case 1:
        return s->min_t[i] - s->max_t[i];
    case 2:
        return s->enter[i] + s->leave[i];
    default:
        return s->min_t[i];
    }
}

static void slabs_keys(const struct slabs *s, unsigned heuristic, float key[8])
{
    for (unsigned i = 0; i < 8; i++) {
        key[i] = key_of(s, heuristic, i);
    }
}

/* Negative numbers become unsigned integers of the same order; +0 and -0 become one. */
static uint32_t ordered_bits(float key, unsigned heuristic)
{
    uint32_t bits;

    if (heuristic == 0) {
        return facet_float_bits(key + 0.0f);
    }
    bits = facet_float_bits(key + 0.0f);
    return bits ^ (bits >> 31 != 0 ? UINT32_MAX : F32_SIGN);
}

static bool slabs_elements(const struct slabs *s,
                           unsigned heuristic,
                           const struct fast_box *box,
                           unsigned mask,
                           uint64_t element[8])
{
    bool ordered = true;

    for (unsigned i = 0; i < 8; i++) {
        float key = key_of(s, heuristic, i);

        ordered = ordered && ((mask >> i & 1) == 0 || !f32_is_nan(key));
        element[i] = (uint64_t)ordered_bits(key, heuristic) << 32 | box->link[i];
    }
    return ordered;
}

/* ---- triangles ---- */

struct group_hits {
    float t[4], det[4], u[4], v[4]; /* only where something is hit */
};

struct vec {
    float x, y, z;
};

static struct vec vec(const float v[3])
{
    return (struct vec){v[0], v[1], v[2]};
}

static struct vec lane(const float v[3][FAST_GROUP_TRIANGLES], unsigned k)
{
    return (struct vec){v[0][k], v[1][k], v[2][k]};
}

static struct vec cross(struct vec a, struct vec b)
{
    return (struct vec){
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    };
}

static float dot(struct vec a, struct vec b)
{
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static unsigned group_test(const struct fast_group *group,
                           const struct fast_level *level,
                           float above,
                           float below,
                           bool gpurt,
                           bool brief,
                           unsigned lanes,
                           struct group_hits *out,
                           unsigned *nan)
{
    const struct vec o = vec(level->origin), d = vec(level->direction);
    unsigned inside = 0;

    (void)brief; /* no time to save here */
    for (; lanes != 0; lanes &= lanes - 1) {
        const unsigned k = (unsigned)__builtin_ctz(lanes);
        const struct vec v0 = lane(group->v0, k), e1 = lane(group->e1, k), e2 = lane(group->e2, k);
        const struct vec e3 = {o.x - v0.x, o.y - v0.y, o.z - v0.z};
        const struct vec s1 = cross(d, e2), s2 = cross(e3, e1);
        const float det = dot(s1, e1);
        const float t = dot(e2, s2) / det, u = dot(e3, s1) / det, v = dot(d, s2) / det;

        out->t[k] = t;
        out->det[k] = det;
        out->u[k] = u;
        out->v[k] = v;
        inside |= (unsigned)(u >= 0 && v >= 0 && u + v <= 1 && t > above && t < below) << k;
        *nan |= (unsigned)(gpurt && (f32_is_nan(t) || f32_is_nan(u) || f32_is_nan(v))) << k;
    }
    return inside;
}

/* ---- rays ---- */

#endif

static unsigned ranges_rank(unsigned slots, unsigned ranges)
{
    unsigned pairs = 0;

    for (unsigned n = 0; ranges != 0; ranges &= ranges - 1, n++) {
        pairs |= (unsigned)((slots & ranges & -ranges) != 0) << n;
    }
    return pairs;
}

/* ---- rays ---- */

static void transform(const float column[][4],
                      const float translation[4],
                      const float origin[4],
                      const float direction[4],
                      float new_origin[4],
                      float new_direction[4])
{
    uint32_t rows[12];

    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            rows[4 * r + c] = facet_float_bits(column[c][r]);
        }
        rows[4 * r + 3] = facet_float_bits(translation[r]);
    }
    memcpy(new_origin, origin, 4 * sizeof new_origin[0]);
    memcpy(new_direction, direction, 4 * sizeof new_direction[0]);
    facet_gfx12_transform(rows, new_origin, new_direction);
}

static void level_set(struct fast_level *level, const float origin[3], const float direction[3])
{
    memset(level->origin, 0, sizeof level->origin);
    memset(level->direction, 0, sizeof level->direction);
    memcpy(level->origin, origin, 3 * sizeof origin[0]);
    memcpy(level->direction, direction, 3 * sizeof direction[0]);
}

static void level_copy(const struct fast_level *from, struct fast_level *to)
{
    memcpy(to, from, offsetof(struct fast_level, culled));
}

static bool has_minus_zero(const float v[4])
{
    return facet_float_bits(v[0]) == F32_SIGN || facet_float_bits(v[1]) == F32_SIGN ||
           facet_float_bits(v[2]) == F32_SIGN;
}

static void level_rays(struct fast_level *level)
{
    level->regular = true;
    level->inverse[3] = 0;
    level->octant = 0;
    for (unsigned k = 0; k < 3; k++) {
        float inverse = 1.0f / level->direction[k];

        level->inverse[k] = inverse;
        level->minus[k] = -level->origin[k];
        level->octant |= (uint8_t)(!(inverse >= 0) << k);
        /* x - x is 0 for a finite x and NaN for any other. */
        level->regular = level->regular && inverse - inverse == 0 && inverse != 0 &&
                         level->origin[k] - level->origin[k] == 0;
    }
    level->irregular = level->regular ? 0 : 8;
    level->tame = false; /* not used */
}

#include "gfx12/fast_loop.inc"
