/* The tests of rt-semantics.md 7 and 8 written down a second time, from the prose, on the MPFR
 * oracle of tests/num: shares no code with src/rt or src/num. */
#ifndef FACET_TESTS_RT_REFERENCE_H
#define FACET_TESTS_RT_REFERENCE_H

#include "num/element.h"

struct rt_reference {
    int outcome; /* 0 miss, 1 hit, 2 NaN */
    uint32_t value[3], edge[3];
    bool edges, front;
    uint32_t element[3]; /* the results as they are written */
    unsigned flags;
};

struct rt_request {
    struct facet_conv conv[4]; /* by channel; acc is FP32 */
    unsigned rm;
    bool ftz;
    bool t_clamp, w_guard, cull_back, pred_only, packed;
    unsigned eps; /* code */
};

struct rt_reference
rt_ref_box(const struct rt_request *q, const uint32_t ray[9], const uint32_t box[6]);
struct rt_reference
rt_ref_triangle(const struct rt_request *q, const uint32_t ray[8], const uint32_t vertices[9]);

#endif
