/* How the host and a guest program that draws (guest/render for xphmg-rt and xphmg-rt-offload,
 * guest/gfx for xphmg-gfx) communicate: a block in guest memory, followed by the scene and what
 * else the program needs: an RT image, or struct facet_guest_gfx_input.
 *
 * The structs of scene.h and picture.h lie in guest memory as the compiler lays them out, with
 * guest addresses where they have pointers. Both sides are little-endian LP64 and agree on that;
 * `layout` makes sure. */
#ifndef FACET_GUEST_BLOCK_H
#define FACET_GUEST_BLOCK_H

#include "shade/picture.h"

/* The program, its data and its stack have what lies below. */
#define FACET_GUEST_BLOCK UINT64_C(0x81000000)

struct facet_guest_block {
    /* From the host. */
    uint64_t layout;         /* facet_guest_layout() */
    uint64_t bvh, bvh_bytes; /* the RT image (docs/rt-images.md), or struct facet_guest_gfx_input */
    uint32_t bucket;         /* to be drawn */
    bool offload;            /* rays go to the job engine */
    bool shadow_any;         /* every triangle stops a shadow ray from both sides */
    bool ambient_any;        /* no triangle lets an ambient ray pass */
    struct facet_picture picture;
    /* From the guest: the pixels through the framebuffer device, and: */
    struct facet_error error; /* why it ended with exit code 1 */
    struct facet_shade_cost cost[FACET_RAY_KIND_COUNT];
};

/* Sizes and a few offsets: different compilers that agree on this agree on the rest. */
static inline uint64_t facet_guest_layout(void)
{
    static const uint64_t facts[] = {sizeof(struct facet_guest_block),
                                     sizeof(struct facet_scene),
                                     sizeof(struct facet_scene_mesh),
                                     sizeof(struct facet_scene_instance),
                                     sizeof(struct facet_scene_material),
                                     sizeof(struct facet_scene_texture),
                                     sizeof(struct facet_scene_light),
                                     sizeof(struct facet_lamp),
                                     offsetof(struct facet_guest_block, cost),
                                     offsetof(struct facet_picture, sky_level),
                                     offsetof(struct facet_scene, bounds),
                                     offsetof(struct facet_scene_mesh, bounds),
                                     offsetof(struct facet_scene_material, unlit),
                                     offsetof(struct facet_scene_light, outer_cone)};
    uint64_t sum = 0;

    for (unsigned i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        sum = sum * 8191 + facts[i];
    }
    return sum;
}

#endif
