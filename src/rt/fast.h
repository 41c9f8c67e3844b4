/* Rays of a job at the speed of the host: FP32 tiles and triangles read where they lie, eight
 * children and four triangles per instruction (AVX2 and FMA, AVX-512 where there is).
 *
 * A ray is done here or not at all. It is not done when the numbers, the memory or the tree ask for
 * anything but plain arithmetic: a NaN, a read outside the areas that the caller allows, a stack or
 * step limit, or an operation that raises NV, DZ, OF or UF, which the host's own exception flags
 * tell after the ray. The caller then does the ray with rt.h, which finds out everything. NX is not
 * found out: the caller must not need it, because its sticky is up already and does not trap.
 * Divisions by the direction are the exception: DZ and its kin are found and returned, so that rays
 * along an axis are fast too.
 *
 * Everything that is done has the bits of rt.h and the counts and order of rt-semantics.md 11.4. */
#ifndef FACET_RT_FAST_H
#define FACET_RT_FAST_H

#include "contract/xphmg_layouts.h"
#include "rt/decoded.h"
#include "rt/rt.h"

#include <stddef.h>

/* Entries of the queues, for FP32. */
enum {
    FACET_RT_FAST_RAY_BYTES = FACET_XPHMG_RAY_ENTRY_SIZE(4),
    FACET_RT_FAST_HIT_BYTES = FACET_XPHMG_HIT_ENTRY_SIZE(4)
};

/* Guest memory that a ray may read. */
struct facet_rt_area {
    const uint8_t *bytes;
    uint64_t base, size; /* guest address of bytes[0] */
};

struct facet_rt_fast_scene {
    struct facet_rt_numbers numbers; /* facet_rt_host_fits */
    struct facet_rt_options options; /* no_uv is not looked at */
    bool any_hit, node8;
    uint64_t heap;      /* address of node 0, a multiple of 64 */
    uint64_t triangles; /* for TriRanges with base 0 */
    struct facet_rt_area heap_area, triangle_area;
    struct facet_rt_decoded *bvh; /* decoded from this heap as far as rays came */
    uint32_t stack, steps;        /* limits of a ray */
    const _Atomic bool *stop;     /* NULL, or true: no other ray is done */
    bool counts;                  /* results have `deepest` */
    bool narrow;                  /* AVX2 also where there is AVX-512: for tests */
};

struct facet_rt_fast_result {
    bool done; /* nothing else is valid otherwise */
    bool hit, front;
    unsigned flags;          /* but NX */
    uint32_t t, u, v;        /* FP32 */
    uint32_t triangle, leaf; /* indices */
    uint32_t boxes, triangle_tests, nodes;
    uint32_t
        deepest; /* the most entries of the stack, with that which is visited; only if counted */
};

/* What of the areas a ray reads. false: no node, or none that lies as nodes must. */
bool facet_rt_fast_heap(const struct facet_rt_fast_scene *scene, struct facet_rt_heap *heap);

/* Whether this host has what it takes; and AVX-512 beside it. */
bool facet_rt_fast_available(void);
bool facet_rt_fast_wide(void);

/* `count` entries of a ray queue (RS = 64), results in the same order. Only after
 * facet_rt_fast_available; the host rounds to nearest. */
typedef void facet_rt_fast_rays_fn(const struct facet_rt_fast_scene *scene,
                                   const uint8_t *entries,
                                   size_t count,
                                   struct facet_rt_fast_result *results);
facet_rt_fast_rays_fn facet_rt_fast_rays;
#if defined(__x86_64__)
facet_rt_fast_rays_fn facet_rt_fast_rays_avx2, facet_rt_fast_rays_avx512;
#endif

/* ---- single tests, as the rays make them -------------------------------------------------------
 */

struct facet_rt_fast_boxes {
    bool done;
    unsigned flags; /* but NX */
    unsigned used;  /* bit c: child c is not empty */
    unsigned hit;
    float near[8]; /* cn, valid for hits */
    uint32_t index[8];
    unsigned leaf; /* of the hits */
};

/* The children of a tile of 128 bytes, or of two; tmax and all else out of the ray. */
void facet_rt_fast_children(const struct facet_rt_numbers *n,
                            const struct facet_rt_ray *ray,
                            const uint8_t *tile,
                            bool node8,
                            struct facet_rt_fast_boxes *out);

struct facet_rt_fast_facet {
    bool done;
    unsigned flags; /* but NX */
    unsigned hit;   /* bit k: triangle k */
    unsigned front;
    uint32_t t[4], u[4], v[4]; /* of hits */
};

/* 1 to 4 triangles of 36 bytes, each by itself. */
void facet_rt_fast_triangles(const struct facet_rt_numbers *n,
                             const struct facet_rt_ray *ray,
                             const struct facet_rt_options *options,
                             const uint8_t *triangles,
                             unsigned count,
                             struct facet_rt_fast_facet *out);

#endif
