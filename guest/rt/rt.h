/* Ray tracing with XPHMG_RT: rays through an RT image (docs/rt-images.md) in memory. What the
 * machine lacks (RTCAP) is done in plain C.
 *
 * Two ways give the same hits to the bit: rt_closest() and rt_any() walk the tree in software, box
 * and triangle tests being RT.BBOX and RT.TRI; rt_batch_trace() hands a queue of rays to the job
 * engine (XSUBMIT.RT) and waits for it.
 *
 *     struct rt_bvh bvh;
 *     if (rt_open(&bvh, image, size) == RT_OK) {
 *         rt_use(&bvh);
 *         if (rt_closest(&bvh, &ray, &hit) == RT_HIT) { ... hit.t, hit.triangle ... }
 *     }
 *
 * Images are those of `facet bvh build --format xphmg4|xphmg8 --ew 32`: 4 or 8 children per node,
 * FP32 elements.
 *
 * Rays are the ray records of the contract (rt-semantics.md 5.1) in FP32. The direction has any
 * length, t counts in it; hits lie in [tmin, tmax], both ends included. */
#ifndef GUEST_RT_H
#define GUEST_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xphmg.h>

struct rt_hit {
    float t, u, v;     /* u, v: weights of the triangle's second and third corner */
    uint32_t triangle; /* number in the triangle buffer */
    uint32_t leaf;     /* TriRange that it was found in */
    bool front;        /* the ray meets the side from which the corners go counter-clockwise */
};

enum rt_status {
    RT_MISS = 0,
    RT_HIT = 1,
    RT_OK = 0,
    RT_BAD_IMAGE = -1, /* no RT image, or not of FP32 elements */
    RT_BAD_TREE = -2,  /* deeper than RT_LEVELS, or a ray took more than RT_STEPS steps */
    RT_JOB_FAILED = -3 /* RTSTAT.LAST_EC says why */
};

enum { RT_LEVELS = 256, RT_STEPS = 1 << 24 };
#ifndef RT_STACK
#define RT_STACK 24 /* entries; any number from 1 on gives the same hits */
#endif

/* An image that rt_open() found sound. Not changed by tracing: harts may share it. */
struct rt_bvh {
    const uint8_t *heap;
    const float *triangles;  /* nine numbers per triangle */
    const uint32_t *origins; /* two numbers per triangle: instance, triangle of its mesh */
    uint32_t children;       /* 4 or 8 */
    /* What RTCAP has; the rest is done in plain C, with the same bits. */
    bool present; /* XPHMG_RT at all */
    bool boxes;   /* RT.BBOX takes these nodes, or halves of them (NODE4, NODE8) */
    bool node8;   /* RT.BBOX takes nodes of 8 as one, else as two of 4 */
    bool leaves;  /* RT.TRI (WATERTIGHT) */
    bool jobs;    /* the job engine takes these nodes (DESCQ) */
    uint32_t triangle_count;
    uint64_t mode, alt; /* of CAP.PREC */
};

/* Looks at the header of a 64-byte aligned image, which stays where it is and is never written. The
 * tree below the header is trusted: `facet bvh check` looks at it. */
enum rt_status rt_open(struct rt_bvh *bvh, const void *image, size_t size);

/* Builds an image from `count` (1 or more) triangles of nine numbers each, with 4 or 8 children per
 * node, for rays that start within [-reach, reach] on every axis or inside the scene. `memory`:
 * rt_build_bytes() bytes, 64-byte aligned. Returns the size for rt_open(). The origin of a triangle
 * is (0, its number in `triangles`). */
size_t rt_build_bytes(uint32_t count, uint32_t children);
size_t
rt_build(void *memory, const float *triangles, uint32_t count, uint32_t children, float reach);

/* Sets this hart to the image: number format (CAP.PREC) and heap (RTBASE). Must come before the
 * first ray, and again before rays through another image. M mode. */
void rt_use(const struct rt_bvh *bvh);

/* The nearest hit; of several at the same t the one with the lowest triangle number. */
enum rt_status
rt_closest(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, struct rt_hit *hit);
/* Whether there is a hit at all; faster. */
enum rt_status rt_any(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray);

/* Tests that RT instructions and jobs of this hart have made so far, modulo 2^28 (RTSTAT). */
struct rt_counts {
    uint32_t boxes, triangles;
};
struct rt_counts rt_counts(void);

/* ---- jobs ---- */

/* Memory for a queue of up to `capacity` rays; fill in with rt_batch_make(). */
struct rt_batch {
    struct xphmg_ray_entry_32 *rays;
    struct xphmg_hit_entry_32 *hits;
    uint32_t capacity;
};

size_t rt_batch_bytes(uint32_t capacity);
/* `memory`: rt_batch_bytes(capacity) bytes, 64-byte aligned. */
void rt_batch_make(struct rt_batch *batch, void *memory, uint32_t capacity);

/* Traces `count` rays as jobs, or one by one where RTCAP has none, and waits for them: found[i]
 * says whether ray i hit, and hits[i] what. With `any` the first hit that the engine meets, which
 * need not be the nearest. */
enum rt_status rt_batch_trace(struct rt_batch *batch,
                              const struct rt_bvh *bvh,
                              const struct xphmg_ray_record_32 *rays,
                              uint32_t count,
                              bool any,
                              bool *found,
                              struct rt_hit *hits);

#endif
