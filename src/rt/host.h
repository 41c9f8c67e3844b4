/* The tests of rt.h on the host's floating point, for jobs with many rays.
 *
 * The host rounds to nearest even, as C promises to code that does not touch its environment. A
 * test is done here when the machine rounds the same way, keeps subnormals and reads plain FP32,
 * and when every intermediate result is an ordinary number or an exact zero: then no operation can
 * have raised NV, DZ, OF or UF, and its bits are those of the one correctly rounded result. NX is
 * not found out: the caller must not need it, because its sticky is up already and does not trap.
 * Everything else is refused, and rt.h does it.
 *
 * Divisions by the direction are the same for every test of a ray: they are made once, by src/num,
 * and their flags belong to each test that would have made them. */
#ifndef FACET_RT_HOST_H
#define FACET_RT_HOST_H

#include "rt/rt.h"

#include <string.h>

struct facet_rt_host_ray {
    bool boxes, triangles; /* which tests may be tried */
    float o[3], tmin, tmax;
    float inverse[3];
    bool parallel[3], backward[3]; /* inverse is infinite; the direction is negative */
    uint8_t kx, ky, kz;
    float sx, sy, sz;
    unsigned box_flags, triangle_flags;
};

/* Whether these numbers are the host's. */
bool facet_rt_host_fits(const struct facet_rt_numbers *n);
/* A ray without NaN. */
void facet_rt_host_ray(const struct facet_rt_numbers *n,
                       const struct facet_rt_ray *ray,
                       struct facet_rt_host_ray *host);
/* From now on tmax is this FP32 number. */
static inline void facet_rt_host_closer(struct facet_rt_host_ray *host, uint32_t tmax)
{
    memcpy(&host->tmax, &tmax, sizeof host->tmax);
}
/* The elements of a box or a triangle are FP32 bits. false: not decided, nothing changed. */
bool facet_rt_host_box(const struct facet_rt_host_ray *ray,
                       const uint32_t box[FACET_RT_BOX_ELEMENTS],
                       struct facet_rt_slab *slab,
                       unsigned *flags);
/* Four boxes that lie one after the other in FP32, bit i for box i. What is not `decided` has no
 * meaning; those decided and `tested` raise ray->box_flags. */
struct facet_rt_host_tile {
    unsigned decided, tested, hits;
    uint32_t near[4], far[4]; /* with `clamp`: inside the ray's interval */
};
struct facet_rt_host_tile
facet_rt_host_boxes(const struct facet_rt_host_ray *ray, const uint8_t *boxes, bool clamp);
bool facet_rt_host_triangle(const struct facet_rt_host_ray *ray,
                            const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                            const struct facet_rt_options *options,
                            struct facet_rt_facet *hit,
                            unsigned *flags);

#endif
