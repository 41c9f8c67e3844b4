/* The ray-box and ray-triangle tests of XPHMG_RT (RT.BBOX and RT.TRI of one lane), with every value
 * on the way. The records are not a second computation: the instructions make the same ones and
 * keep only the results.
 *
 * Elements are bits of any format of facet/num.h; inside everything is FP32 bits, named as in the
 * contract (spec/rt-semantics.md 7, 8). A step after the one that decides is not executed, and its
 * values are 0. */
#ifndef FACET_RT_H
#define FACET_RT_H

#include <facet/num.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    FACET_RT_RAY_ELEMENTS = 8, /* o, d, tmin, tmax; one more with W_GUARD */
    FACET_RT_BOX_ELEMENTS = 6, /* min, max */
    FACET_RT_TRIANGLE_ELEMENTS = 9,
};

/* ---- values ---- */

/* Everything below the elements is FP32 bits. */
struct facet_rt_ray {
    uint32_t o[3], d[3], tmin, tmax;
};
struct facet_rt_box {
    uint32_t min[3], max[3];
};
struct facet_rt_triangle {
    uint32_t v[3][3];
};

enum facet_rt_outcome {
    FACET_RT_MISS,
    FACET_RT_HIT,
    FACET_RT_NAN, /* NANLANE: no hit, the values are NaN */
};

struct facet_rt_slab {
    enum facet_rt_outcome outcome;
    uint32_t near, far;   /* HIT: where the line meets the box */
    uint32_t cnear, cfar; /* HIT: the same clamped into [tmin, tmax] */
};

struct facet_rt_facet { /* what a ray meets on a triangle */
    enum facet_rt_outcome outcome;
    uint32_t edge[3]; /* U, V, W; valid when `edges` is set */
    bool edges;
    bool front;       /* det > 0; edge and front are what `facet rt why` and hit records show */
    uint32_t t, u, v; /* HIT */
};

struct facet_rt_options {
    uint32_t eps; /* FP32: the 8-bit code of the instruction << 23 */
    bool cull_back;
    bool no_uv; /* PRED_ONLY: u and v are not computed */
};

struct facet_rt_lane {
    enum facet_rt_outcome outcome;
    uint32_t value[3]; /* HIT, FP32: tnear, tfar, or t, u, v */
    uint8_t count;     /* of values: 2 or 3 */
};

/* Flags of RT.BBOX. */
struct facet_rt_box_options {
    bool t_clamp, w_guard;
};

/* ---- steps ---- */

/* One axis of B5. */
struct facet_rt_axis_steps {
    uint32_t inv;
    bool parallel, inside;  /* inv is infinite; then: o lies between the planes */
    uint32_t near, far;     /* the planes */
    uint32_t near_o, far_o; /* not parallel: plane - o */
    uint32_t tn, tf;
};

struct facet_rt_box_steps {
    uint32_t rule;     /* that decided: 4 for B4 to 7 for B7 */
    uint32_t inverted; /* B4: the first axis with min > max */
    struct facet_rt_axis_steps axis[3];
    struct facet_rt_slab slab; /* near, far, cnear, cfar from B6 on, hit or not */
};

/* A vertex in T5 and T9. */
struct facet_rt_vertex_steps {
    uint32_t p[3]; /* v - o; Q is p[kz] */
    uint32_t x, y, z;
};

struct facet_rt_triangle_steps {
    uint32_t rule; /* that decided: 3 for T3 to 11 for T11 */
    uint8_t kx, ky, kz;
    uint32_t sx, sy, sz;
    struct facet_rt_vertex_steps vertex[3];
    uint32_t uv, det;            /* T8: U + V, (U + V) + W */
    uint32_t wz, vz, T;          /* T9: W * Z2, fma(V, Z1, wz), fma(U, Z0, vz) */
    struct facet_rt_facet facet; /* edge[] is U, V, W; t from T9 on, hit or not */
};

struct facet_rt_box_lane_steps {
    uint32_t rule;           /* 2: W_GUARD, 3: NaN, else that of `test` */
    struct facet_rt_ray ray; /* widened; not with rule 2 */
    struct facet_rt_box box;
    struct facet_rt_box_steps test;
    struct facet_rt_lane lane;
};

struct facet_rt_triangle_lane_steps {
    uint32_t rule; /* 2: NaN, else that of `test` */
    struct facet_rt_ray ray;
    struct facet_rt_triangle triangle;
    struct facet_rt_triangle_steps test;
    struct facet_rt_lane lane;
};

/* ---- the tests ----
 *
 * `numbers` says how elements are read (NULL: FP32 as it is); `acc` of it is taken as FP32. What
 * the steps raise is OR-ed into *flags. */

/* `ray` has eight elements: origin, direction, tmin, tmax; and a ninth, w, with options->w_guard.
 * `box` has min and max. `options` may be NULL. */
void facet_rt_explain_box(const struct facet_conv *numbers,
                          const struct facet_rt_box_options *options,
                          const uint32_t *ray,
                          const uint32_t box[6],
                          struct facet_rt_box_lane_steps *steps,
                          unsigned *flags);
/* `vertices` are v0, v1, v2. `options` may be NULL: epsilon 0, no culling. */
void facet_rt_explain_triangle(const struct facet_conv *numbers,
                               const struct facet_rt_options *options,
                               const uint32_t ray[8],
                               const uint32_t vertices[9],
                               struct facet_rt_triangle_lane_steps *steps,
                               unsigned *flags);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
