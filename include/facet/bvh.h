/* Bounding volume hierarchies in the two formats of the contract: build from arrays, refit, check,
 * show, and trace rays.
 *
 *   GFX12  images of 128-byte BVH8 nodes with a top and bottom levels (spec/gfx12-semantics.md);
 *          rays take the traversal loop of section 11
 *   XPHMG  BVH images of XPHMG_RT (spec/rt-semantics.md 5, docs/rt-images.md), one level; rays are
 * a job of XSUBMIT.RT
 *
 * A hierarchy is a value: building and refitting are functions of the geometry, threads only decide
 * how long they take. One facet_bvh belongs to one thread at a time (tracing decodes what it
 * meets); any number may live in a process. Strides are in bytes, so arrays of structs, separate
 * arrays and NumPy views work alike. */
#ifndef FACET_BVH_H
#define FACET_BVH_H

#include <facet/memory.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct facet_bvh facet_bvh;

/* The two formats above. */
enum facet_bvh_format { FACET_BVH_FORMAT_GFX12, FACET_BVH_FORMAT_XPHMG };

/* How well a GFX12 image is built: to the byte as section 12 says; smaller; smaller and faster. */
enum facet_bvh_quality { FACET_BVH_CONTRACT, FACET_BVH_FAST, FACET_BVH_HIGH, FACET_BVH_QUALITIES };

/* ---- geometry ---- */

/* What is true of all triangles of a mesh. */
enum facet_bvh_primitive_flags {
    FACET_BVH_OPAQUE = 1 << 0,
    FACET_BVH_DOUBLE_SIDED = 1 << 1,
};

/* Triangles. Without indices triangle k has the vertices 3k, 3k + 1, 3k + 2. */
struct facet_bvh_mesh {
    const float *positions; /* of vertex i: three floats at byte i * position_stride */
    size_t position_stride; /* 0: 12 */
    uint32_t vertex_count;
    const uint32_t *indices; /* of triangle k: three numbers at byte k * index_stride; or NULL */
    size_t index_stride;     /* 0: 12 */
    uint32_t triangle_count;
    uint32_t geometry; /* number that hits of GFX12 report; below 2^30 */
    uint32_t flags;    /* enum facet_bvh_primitive_flags */
};

/* A mesh in the world. Hits report the number of its placement. */
struct facet_bvh_placement {
    float object_to_world[12]; /* three rows of four */
    uint32_t mesh;
    uint32_t mask; /* GFX12: bits 7..0 are tested against the ray's mask */
};

struct facet_bvh_scene {
    const struct facet_bvh_mesh *meshes;
    uint32_t mesh_count;
    const struct facet_bvh_placement
        *placements; /* NULL: every mesh once, where it is, mask 0xFF */
    uint32_t placement_count;
};

/* ---- life ---- */

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_bvh_config {
    enum facet_bvh_format format;
    enum facet_bvh_quality quality; /* GFX12 */
    bool obb;                       /* GFX12: oriented boxes */
    uint32_t children;              /* XPHMG: 4 (default) or 8 */
    uint32_t leaf_triangles;        /* most of a leaf: GFX12 1..16, XPHMG 1..255 */
    const char *element;            /* XPHMG: name of a number format (facet/num.h), NULL: "FP32" */
    bool quantized;      /* XPHMG: integers with the scale and zero point that fit best */
    double reach;        /* XPHMG: ray origins lie in [-reach, reach]; 0: near the scene */
    uint32_t threads;    /* 0 and 1: the calling one alone */
    bool allow_update;   /* GFX12: facet_bvh_refit takes any motion; the image is larger */
    uint8_t reserved[3]; /* 0 */
};

enum facet_status facet_bvh_build_sized(const struct facet_bvh_scene *scene,
                                        const struct facet_bvh_config *config,
                                        size_t config_size,
                                        facet_bvh **out,
                                        struct facet_error *err);
/* `config` NULL for defaults. Indices outside a mesh are FACET_ERR_INPUT. Triangles with a NaN in x
 * of a vertex are left out, and those with two equal vertices unless they may move apart. */
static inline enum facet_status facet_bvh_build(const struct facet_bvh_scene *scene,
                                                const struct facet_bvh_config *config,
                                                facet_bvh **out,
                                                struct facet_error *err)
{
    return facet_bvh_build_sized(scene, config, sizeof *config, out, err);
}

/* An image from anywhere, of which a copy is kept; its first bytes give the format. GFX12 images
 * take any bytes (facet_bvh_check says what is wrong); a bad header of an XPHMG image is
 * FACET_ERR_INPUT. */
enum facet_status
facet_bvh_open(const void *image, size_t size, facet_bvh **out, struct facet_error *err);
void facet_bvh_destroy(facet_bvh *bvh); /* NULL is allowed */

enum facet_bvh_format facet_bvh_get_format(const facet_bvh *bvh);
/* The image, which lives as long as the hierarchy. */
const uint8_t *facet_bvh_get_image(const facet_bvh *bvh, size_t *size);

/* A new hierarchy with the tree of this one and moved geometry: the same meshes and placements.
 * FACET_ERR_INPUT: image and scene do not belong together. FACET_ERR_LIMIT: the image has no room
 * for the new positions and must be rebuilt. */
enum facet_status facet_bvh_refit(const facet_bvh *bvh,
                                  const struct facet_bvh_scene *scene,
                                  facet_bvh **out,
                                  struct facet_error *err);

/* ---- check and show ---- */

/* How bad a finding is. */
enum facet_bvh_severity { FACET_BVH_NOTE, FACET_BVH_WARNING, FACET_BVH_ERROR };

struct facet_bvh_finding {
    const char *rule;        /* "V12", "T05" */
    const char *requirement; /* row of the contract that the rule protects */
    uint64_t offset;         /* byte in the image */
    enum facet_bvh_severity severity;
    char text[160];
};

/* Checks every node once. The first `capacity` findings, by offset, go to `findings`; *count is how
 * many there are, *errors (may be NULL) how many of them are errors. FACET_OK whatever was found.
 */
enum facet_status facet_bvh_check(const facet_bvh *bvh,
                                  struct facet_bvh_finding *findings,
                                  size_t capacity,
                                  uint64_t *count,
                                  uint64_t *errors,
                                  struct facet_error *err);

/* The whole image as text: a listing for people, or JSON that `facet bvh` turns back into the same
 * bytes. */
enum facet_status
facet_bvh_dump(const facet_bvh *bvh, bool json, struct facet_blob *text, struct facet_error *err);

/* ---- rays ---- */

/* Ray i has its origin at byte i * origin_stride of `origin`, and so on; a stride of 0 gives all
 * rays the same. */
struct facet_bvh_rays {
    size_t count;
    const float *origin; /* three floats */
    size_t origin_stride;
    const float *direction; /* three floats */
    size_t direction_stride;
    const float *t_min; /* NULL: 0 */
    size_t t_min_stride;
    const float *t_max; /* NULL: infinity */
    size_t t_max_stride;
};

enum facet_bvh_hit_flags {
    FACET_BVH_HIT = 1 << 0,
    FACET_BVH_BACK = 1 << 1, /* the triangle's back was hit */
};

struct facet_bvh_hit {
    float t, u, v; /* a miss: infinity, 0, 0 */
    uint32_t flags;
    uint32_t primitive; /* number of the triangle in its mesh; a miss: 0xFFFFFFFF, as below */
    uint32_t geometry;  /* of the mesh; XPHMG images do not have it: 0xFFFFFFFF */
    uint32_t instance;  /* number of the placement */
    uint32_t node;      /* GFX12: ID of the primitive node and pair; XPHMG: index of the TriRange */
};

/* Zero gives the default everywhere. Passed with its size, as facet/version.h explains. */
struct facet_bvh_trace_config {
    bool any_hit;     /* the first hit ends a ray, not the closest one */
    bool cull_back;   /* triangles seen from behind are not hit */
    uint32_t mask;    /* GFX12: bits 7..0; 0: 0xFF */
    uint32_t threads; /* 0 and 1: the calling one alone; results are the same */
    bool plain;       /* no fast ways: same results, slower */
    /* GFX12: 0: the processor; n: device opencl:n-1 of `facet devices`; FACET_BVH_FIRST_GPU. Same
     * results; FACET_ERR_USAGE when there is no such device or it cannot give the bits. It is kept
     * open with the image. */
    uint8_t device;
    uint8_t reserved[2]; /* 0 */
};
#define FACET_BVH_FIRST_GPU 255u

enum facet_status facet_bvh_trace_sized(facet_bvh *bvh,
                                        const struct facet_bvh_trace_config *config,
                                        size_t config_size,
                                        const struct facet_bvh_rays *rays,
                                        struct facet_bvh_hit *hits,
                                        size_t hit_stride,
                                        struct facet_error *err);
/* Hit i goes to byte i * hit_stride of `hits` (0: packed). `config` NULL for defaults. When a ray
 * cannot be traced (the image leads it out of itself or in a circle), err->where is its number and
 * later hits may be missing. */
static inline enum facet_status facet_bvh_trace(facet_bvh *bvh,
                                                const struct facet_bvh_trace_config *config,
                                                const struct facet_bvh_rays *rays,
                                                struct facet_bvh_hit *hits,
                                                size_t hit_stride,
                                                struct facet_error *err)
{
    return facet_bvh_trace_sized(bvh, config, sizeof *config, rays, hits, hit_stride, err);
}

enum facet_status facet_bvh_explain_ray_sized(const facet_bvh *bvh,
                                              const struct facet_bvh_trace_config *config,
                                              size_t config_size,
                                              const float ray[8],
                                              bool json,
                                              struct facet_blob *text,
                                              struct facet_error *err);
/* What one ray (origin, direction, t_min, t_max) does in a GFX12 image: every node that the
 * reference loop visits, with all values on the way to its result registers, then the hit; for
 * people, or the JSON of `facet bvh why --json`. At most 1000 nodes are shown. An RT image is
 * FACET_ERR_USAGE: facet/rt.h explains its tests one by one. `config` NULL for defaults. */
static inline enum facet_status facet_bvh_explain_ray(const facet_bvh *bvh,
                                                      const struct facet_bvh_trace_config *config,
                                                      const float ray[8],
                                                      bool json,
                                                      struct facet_blob *text,
                                                      struct facet_error *err)
{
    return facet_bvh_explain_ray_sized(bvh, config, sizeof *config, ray, json, text, err);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
