/* The scene of the ray tracing examples: a ball of 320 triangles, and rays that start in front of
 * it and mostly hit it. */
#ifndef BALL_H
#define BALL_H

#include "check.h"

#include <math.h>
#include <rt.h>
#include <stdlib.h>

enum { BALL_RINGS = 10, BALL_SIDES = 16, BALL_TRIANGLES = BALL_RINGS * BALL_SIDES * 2 };

static inline void ball_point(int ring, int side, float out[3])
{
    float a = (float)ring / BALL_RINGS * 3.14159265f, b = (float)side / BALL_SIDES * 6.2831853f;

    out[0] = sinf(a) * cosf(b);
    out[1] = cosf(a);
    out[2] = sinf(a) * sinf(b);
}

static inline void ball_triangles(float triangles[BALL_TRIANGLES][9])
{
    for (int i = 0; i < BALL_RINGS * BALL_SIDES; i++) {
        float(*two)[9] = &triangles[2 * i];
        int ring = i / BALL_SIDES, side = i % BALL_SIDES;

        ball_point(ring, side, &two[0][0]);
        ball_point(ring, side + 1, &two[0][3]);
        ball_point(ring + 1, side, &two[0][6]);
        ball_point(ring + 1, side, &two[1][0]);
        ball_point(ring, side + 1, &two[1][3]);
        ball_point(ring + 1, side + 1, &two[1][6]);
    }
}

/* An image of these triangles for rays that start within 4 of the middle; the hart is set to it. */
static inline void ball_build(struct rt_bvh *bvh, float triangles[BALL_TRIANGLES][9])
{
    size_t size = rt_build_bytes(BALL_TRIANGLES, 4);
    void *image = aligned_alloc(64, (size + 63) / 64 * 64);

    size = rt_build(image, &triangles[0][0], BALL_TRIANGLES, 4, 4);
    CHECK(rt_open(bvh, image, size) == RT_OK);
    rt_use(bvh);
}

/* Rays from (0, 0, 3) into the cube around the ball. */
static inline void ball_rays(struct xphmg_ray_record_32 *rays, int count)
{
    uint32_t seed = 3;

    for (int i = 0; i < count; i++) {
        rays[i] = (struct xphmg_ray_record_32){.origin = {0, 0, 3}, .tmin = 0, .tmax = INFINITY};
        for (int a = 0; a < 3; a++) {
            seed = seed * 1664525u + 1013904223u;
            rays[i].direction[a] =
                (float)(seed >> 8) / 8388608.0f * 1.5f - 1.5f - rays[i].origin[a];
        }
    }
}

#endif
