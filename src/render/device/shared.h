/* What the host and a device hand each other for a picture: read by the C compiler, and by that of
 * the device as a part of the kernels' text. A picture and its scene lie in one piece of memory;
 * instead of a pointer a struct has the distance from itself to what it would point to, 0 for
 * NULL. Members stand so that no compiler needs padding, and mean what those of the structs of
 * scene.h and picture.h mean. */
#ifndef FACET_RENDER_DEVICE_SHARED_H
#define FACET_RENDER_DEVICE_SHARED_H

#include "gfx12/device/shared.h"

struct device_instance {
    float transform[12];
    device_u32 mesh, flipped;
};

struct device_mesh {
    device_u64 indices, positions, normals, colors;
    device_u64 uv[8];
    device_u32 material, unused;
};

struct device_texture_use {
    device_u32 texture, uv_set, wrap_u, wrap_v, magnify;
    float matrix[6];
};

struct device_material {
    float base_color[4];
    float emissive[3];
    float metallic, roughness;
    struct device_texture_use base_texture, emissive_texture;
    device_u32 alpha_mode;
    float alpha_cutoff;
    device_u32 unlit;
};

struct device_texture {
    device_u64 rgba;
    device_u64 linear; /* of the 256 codes of sRGB */
    device_u32 width, height;
};

struct device_light {
    device_u32 kind;
    float color[3];
    float intensity;
    float position[3], direction[3];
    float range, inner_cone, outer_cone;
};

struct device_scene {
    device_u64 meshes, instances, materials, textures, lights;
    device_u32 light_count, unused;
};

struct device_camera {
    device_u32 kind;
    float transform[12];
    float z_near, z_far;
};

struct device_lens {
    device_u64 camera;
    double half_width, half_height;
    device_u32 width, height;
};

struct device_picture {
    device_u64 scene, lamps;
    struct device_lens lens;
    device_u32 width, height, spp, seed, view, shadows, ao_rays, bounces, lamp_count;
    float ao_distance, sky_level;
    device_u32 unused;
};

/* ---- steps of paths (paths.cl) ---- */

/* From a word of a pixel to the next, in words, for `count` pixels: in lines of memory, and not so
 * that all words of a pixel come to the same place of a cache. */
#define DEVICE_PIXELS_APART(count) (((size_t)(count) + 63u) / 64u * 64u + 32u)

/* Besides the kinds of enum facet_ray_kind. */
#define DEVICE_NO_RAYS 4u

/* What a step makes. */
#define DEVICE_MAKE_PRIMARY 0u /* a sample begins; the one before it ends */
#define DEVICE_MAKE_LIGHT 1u
#define DEVICE_MAKE_LAMP 2u
#define DEVICE_MAKE_AMBIENT 3u
#define DEVICE_MAKE_BOUNCE 4u
#define DEVICE_MAKE_NOTHING 5u /* the last sample ends */

/* Of the rays of a kind that a group of pixels sent: facet_shade_cost. */
#define DEVICE_COSTS 6
struct device_cost {
    device_u64 rays, hits, nodes, box_nodes, instance_nodes, primitive_nodes;
};

#endif
