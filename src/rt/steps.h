/* The tests of rt.h with every value on the way, for whoever explains them (`facet rt why`). These
 * are the tests: those of rt.h call them and throw the steps away, so that an explanation cannot
 * differ from the result.
 *
 * Values are FP32 bits, named as in the contract. A step behind the one that decides is not
 * executed, and its values are 0.
 *
 * Spec: rt-semantics.md 7, 8. */
#ifndef FACET_RT_STEPS_H
#define FACET_RT_STEPS_H

#include "rt/rt.h"

/* One axis of B5. */
struct facet_rt_axis_steps {
    uint32_t inv;
    bool parallel, inside;  /* inv is infinite; then: o lies between the planes */
    uint32_t near, far;     /* the planes */
    uint32_t near_o, far_o; /* not parallel: plane - o */
    uint32_t tn, tf;
};

struct facet_rt_box_steps {
    unsigned rule;     /* that decided: 4 for B4 to 7 for B7 */
    unsigned inverted; /* B4: the first axis with min > max */
    struct facet_rt_axis_steps axis[3];
    struct facet_rt_slab slab; /* near, far, cnear, cfar from B6 on, hit or not */
};

void facet_rt_box_steps(const struct facet_rt_numbers *n,
                        const struct facet_rt_ray *ray,
                        const struct facet_rt_box *box,
                        struct facet_rt_box_steps *steps,
                        unsigned *flags);

/* A vertex in T5 and T9. */
struct facet_rt_vertex_steps {
    uint32_t p[3]; /* v - o; Q is p[kz] */
    uint32_t x, y, z;
};

struct facet_rt_triangle_steps {
    unsigned rule; /* that decided: 3 for T3 to 11 for T11 */
    uint8_t kx, ky, kz;
    uint32_t sx, sy, sz;
    struct facet_rt_vertex_steps vertex[3];
    uint32_t uv, det;            /* T8: U + V, (U + V) + W */
    uint32_t wz, vz, T;          /* T9: W * Z2, fma(V, Z1, wz), fma(U, Z0, vz) */
    struct facet_rt_facet facet; /* edge[] is U, V, W; t from T9 on, hit or not */
};

void facet_rt_triangle_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_triangle *triangle,
                             const struct facet_rt_options *options,
                             struct facet_rt_triangle_steps *steps,
                             unsigned *flags);

/* ---- one lane: the same from the elements ------------------------------------------------------
 */

struct facet_rt_box_lane_steps {
    unsigned rule;           /* 2: W_GUARD, 3: NaN, else that of `test` */
    struct facet_rt_ray ray; /* widened; not with rule 2 */
    struct facet_rt_box box;
    struct facet_rt_box_steps test;
    struct facet_rt_lane lane;
};

void facet_rt_box_lane_steps(const struct facet_rt_numbers *n,
                             const struct facet_rt_box_options *options,
                             const uint32_t *ray,
                             const uint32_t box[FACET_RT_BOX_ELEMENTS],
                             struct facet_rt_box_lane_steps *steps,
                             unsigned *flags);

struct facet_rt_triangle_lane_steps {
    unsigned rule; /* 2: NaN, else that of `test` */
    struct facet_rt_ray ray;
    struct facet_rt_triangle triangle;
    struct facet_rt_triangle_steps test;
    struct facet_rt_lane lane;
};

void facet_rt_triangle_lane_steps(const struct facet_rt_numbers *n,
                                  const struct facet_rt_options *options,
                                  const uint32_t ray[FACET_RT_RAY_ELEMENTS],
                                  const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                  struct facet_rt_triangle_lane_steps *steps,
                                  unsigned *flags);

#endif
