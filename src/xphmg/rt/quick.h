/* RT.BBOX and RT.TRI the quick way: FP32 elements in plain RAM, one ray against the children of a
 * tile or triangles one after another, all lanes active, nothing packed, on the floats of the host
 * (rt/host.h). */
#ifndef FACET_XPHMG_RT_QUICK_H
#define FACET_XPHMG_RT_QUICK_H

#include "rt/host.h"
#include "xphmg/hart/hart.h"

/* What the instructions before have found out; every entry is a pure function of its key, so that
 * nothing has to be forgotten. One for all harts of a machine. */
struct facet_xphmg_rt_quick {
    bool known; /* the policy: */
    bool fits;
    uint64_t mode, alt;
    struct facet_rt_numbers numbers;
    uint32_t absent[3]; /* what a value is where nothing was hit: high, low, zero */

    bool prepared;   /* the ray: */
    uint8_t ray[24]; /* origin and direction, as they lie in memory */
    struct facet_rt_host_ray host;

    bool coded; /* a result that does not stay what it is: */
    uint32_t value, code;
    unsigned flags;
};

/* The whole instruction, which the machine supports; false: nothing was done, it takes the other
 * way. */
bool facet_xphmg_rt_quick(struct facet_hart *h, const struct facet_insn *in, bool triangle);

#endif
