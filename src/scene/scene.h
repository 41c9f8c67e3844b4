/* A scene as plain data: triangle meshes, instances of them, materials, textures, cameras, lights.
 *
 * Conventions are those of glTF 2.0, whatever the file was: right-handed, +Y up, metres, linear
 * colour factors, texture row 0 on top and v growing downwards, counter-clockwise front faces, a
 * camera looks along its -Z. Node trees are flattened: an instance is a mesh and its
 * object-to-world matrix. Everything is finite and in range: import.h checks before handing a scene
 * out, so users of a scene need no checks of their own. */
#ifndef FACET_SCENE_SCENE_H
#define FACET_SCENE_SCENE_H

#include "base/error.h"
#include "scene/kinds.h"
#include "scene/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a scene may hold at most; beyond it, importing fails with FACET_ERR_LIMIT. Counts are totals
 * over the scene. */
#define FACET_SCENE_MAX_MESHES 1000000U
#define FACET_SCENE_MAX_VERTICES (1U << 27)
#define FACET_SCENE_MAX_TRIANGLES (1U << 27)
#define FACET_SCENE_MAX_INSTANCES (1U << 24)
#define FACET_SCENE_MAX_MATERIALS 100000U
#define FACET_SCENE_MAX_TEXTURES 4096U
#define FACET_SCENE_MAX_TEXELS (1U << 28)
#define FACET_SCENE_MAX_CAMERAS 4096U
#define FACET_SCENE_MAX_LIGHTS 65536U
#define FACET_SCENE_MAX_LEFT_OUT 48U /* kinds; further ones share the last place */
#define FACET_SCENE_NAME_BYTES 128U  /* longer names are cut */
#define FACET_SCENE_UV_SETS 8U

/* A pointer with room for 64 bits on every host: guest programs find these structs in their memory
 * (guest/block.h), where NAME_at is the guest's address. */
#define FACET_WIDE_POINTER(type, name)                                                             \
    union {                                                                                        \
        type *name;                                                                                \
        uint64_t name##_at;                                                                        \
    }

struct facet_bounds {
    float lo[3], hi[3]; /* lo > hi: empty */
};

/* What a builder of acceleration structures is told about a geometry or an instance; bits of `set`.
 * For an instance, opacity overrides that of its geometries. */
enum {
    FACET_TRAIT_OPAQUE = 1U,
    FACET_TRAIT_NON_OPAQUE = 2U,
    FACET_TRAIT_CULL_DISABLE = 4U, /* no side is culled */
    FACET_TRAIT_CULL = 8U,
    FACET_TRAIT_FLIP = 16U, /* instance: front and back change places */
    FACET_TRAIT_MASK = 32U,
    FACET_TRAIT_USER_DATA = 64U,
    FACET_TRAIT_ALL = 127U,
};
#define FACET_TRAIT_MOST_USER_DATA 0xFFFFFFU

struct facet_scene_traits {
    uint8_t set, mask;
    uint32_t user_data;
};

struct facet_scene_mesh {
    char name[FACET_SCENE_NAME_BYTES];
    uint32_t vertex_count;
    uint32_t triangle_count;
    uint32_t material; /* always valid */
    uint32_t geometry; /* its number in the object that it is a part of */
    bool continues;    /* it belongs to the same object as the mesh before */
    struct facet_scene_traits traits;
    FACET_WIDE_POINTER(uint32_t, indices); /* 3 per triangle, each < vertex_count */
    FACET_WIDE_POINTER(float, positions);  /* 3 per vertex */
    FACET_WIDE_POINTER(float, normals);    /* 3 per vertex; NULL: flat, use the triangle's normal */
    FACET_WIDE_POINTER(float, colors);     /* linear RGBA, 4 per vertex; NULL: white */
    union {
        float *uv[FACET_SCENE_UV_SETS]; /* 2 per vertex; NULL: (0, 0) everywhere */
        uint64_t uv_at[FACET_SCENE_UV_SETS];
    };
    struct facet_bounds bounds; /* in object space */
};

struct facet_scene_instance {
    float transform[12]; /* object to world: three rows of four, the last column is translation */
    uint32_t mesh;       /* meshes of one object follow one another, placed alike */
    struct facet_scene_traits traits;
    bool flipped; /* the matrix mirrors: front faces turn clockwise in world space */
};

struct facet_texture_use {
    uint32_t texture; /* FACET_SCENE_NONE: none, the factor alone counts */
    uint32_t uv_set;
    enum facet_wrap wrap_u, wrap_v;
    enum facet_filter magnify, minify;
    enum facet_mip mip;
    float matrix[6]; /* u' = m0 u + m1 v + m2, v' = m3 u + m4 v + m5 (KHR_texture_transform) */
};

struct facet_scene_material {
    char name[FACET_SCENE_NAME_BYTES];
    float base_color[4]; /* linear; multiplies texture and vertex colour */
    float emissive[3];   /* linear radiance, strength included */
    float metallic, roughness;
    struct facet_texture_use base_texture, emissive_texture;
    enum facet_alpha alpha_mode;
    float alpha_cutoff;
    bool double_sided;
    bool unlit;
};

struct facet_scene_texture {
    char name[FACET_SCENE_NAME_BYTES];
    uint32_t width, height;
    FACET_WIDE_POINTER(uint8_t, rgba); /* sRGB-encoded colour, straight alpha, row 0 on top */
};

struct facet_scene_camera {
    char name[FACET_SCENE_NAME_BYTES];
    enum facet_camera_kind kind;
    bool derived;        /* not in the file: chosen so that everything is in view */
    float transform[12]; /* camera to world; the columns right, up, back have length 1 */
    float y_fov;         /* perspective: full vertical angle in radians */
    float aspect;        /* width / height; 0: that of the picture */
    float x_mag, y_mag;  /* orthographic: half width and half height */
    float z_near, z_far; /* z_far 0: infinite */
};

struct facet_scene_light {
    char name[FACET_SCENE_NAME_BYTES];
    enum facet_light_kind kind;
    bool derived; /* not in the file: the default sun */
    float color[3];
    float intensity; /* lux for directional, candela for the others */
    float position[3];
    float direction[3];           /* where the light goes, length 1 */
    float range;                  /* 0: unlimited */
    float inner_cone, outer_cone; /* spot: half angles in radians */
};

/* What a loss changes, so that a command names those that concern its result. */
enum {
    FACET_LOSS_SHAPE = 1U, /* triangles or where they are */
    FACET_LOSS_LOOK = 2U,  /* the picture */
};

/* One kind of thing that the file has and the scene does not, or has in a plainer form. Text is
 * printable and ends with a NUL. */
struct facet_left_out {
    char what[160];                          /* "normal textures" */
    char first[FACET_SCENE_NAME_BYTES + 64]; /* where the first one was: materials[3] "paint" */
    char why[224];                           /* the reason, or what replaces it */
    uint32_t count;
    uint32_t effect; /* FACET_LOSS_*; 0: no result of ours would change */
};

struct facet_scene {
    uint32_t mesh_count, instance_count, material_count, texture_count;
    uint32_t camera_count, light_count, left_out_count;
    FACET_WIDE_POINTER(struct facet_scene_mesh, meshes);
    FACET_WIDE_POINTER(struct facet_scene_instance, instances);
    FACET_WIDE_POINTER(struct facet_scene_material, materials);
    FACET_WIDE_POINTER(struct facet_scene_texture, textures);
    FACET_WIDE_POINTER(struct facet_scene_camera, cameras); /* at least one after import */
    FACET_WIDE_POINTER(struct facet_scene_light, lights);   /* at least one after import */
    FACET_WIDE_POINTER(struct facet_left_out, left_out);    /* by kind, in the order of the file */
    struct facet_bounds bounds;                             /* of all instances, in world space */
};

void facet_scene_init(struct facet_scene *scene);
void facet_scene_free(struct facet_scene *scene);
void facet_scene_mesh_free(struct facet_scene_mesh *mesh);

/* Append a copy of *item, which then belongs to the scene (also its arrays); the index comes back
 * in *index unless that is NULL. On failure (memory, limit) the caller still owns the item. */
enum facet_status facet_scene_add_mesh(struct facet_scene *scene,
                                       const struct facet_scene_mesh *item,
                                       uint32_t *index,
                                       struct facet_error *err);
/* The mesh and one instance of it, which stands where its vertices say. */
enum facet_status facet_scene_add_placed_mesh(struct facet_scene *scene,
                                              const struct facet_scene_mesh *item,
                                              struct facet_error *err);
enum facet_status facet_scene_add_instance(struct facet_scene *scene,
                                           const struct facet_scene_instance *item,
                                           struct facet_error *err);
enum facet_status facet_scene_add_material(struct facet_scene *scene,
                                           const struct facet_scene_material *item,
                                           uint32_t *index,
                                           struct facet_error *err);
enum facet_status facet_scene_add_texture(struct facet_scene *scene,
                                          const struct facet_scene_texture *item,
                                          uint32_t *index,
                                          struct facet_error *err);
enum facet_status facet_scene_add_camera(struct facet_scene *scene,
                                         const struct facet_scene_camera *item,
                                         struct facet_error *err);
enum facet_status facet_scene_add_light(struct facet_scene *scene,
                                        const struct facet_scene_light *item,
                                        struct facet_error *err);

/* Notes that `count` things were left out: one more of a kind that is there already, by `what` and
 * `why`, or a new kind. Nothing for a count of 0. */
enum facet_status facet_scene_leave_out(struct facet_scene *scene,
                                        unsigned effect,
                                        uint32_t count,
                                        const char *what,
                                        const char *first,
                                        const char *why,
                                        struct facet_error *err);
enum facet_status facet_scene_add_left_out(struct facet_scene *scene,
                                           const struct facet_left_out *item,
                                           struct facet_error *err);

/* What `more` says goes before what is there. */
void facet_scene_traits_add(struct facet_scene_traits *to, const struct facet_scene_traits *more);

/* glTF's defaults: white, opaque, one-sided, no textures, repeat and linear with mipmaps. */
void facet_scene_material_default(struct facet_scene_material *material);
/* What meshes get whose format has no materials: white and matte on both sides, as it does not say
 * either which side of a triangle is its front. */
void facet_scene_material_plain(struct facet_scene_material *material);

/* Copies text, cut to fit `size` bytes with its end; bytes that are not printable UTF-8 become '?'.
 */
void facet_scene_clean(char *to, size_t size, const char *from, size_t length);
void facet_scene_set_name(char to[FACET_SCENE_NAME_BYTES], const char *from, size_t length);

/* Derived facts: bounds, mirror flags, and, when the file has none, a camera that sees everything
 * from a corner and a sun. Refuses a scene without triangles or with non-finite bounds. */
enum facet_status facet_scene_finish(struct facet_scene *scene, struct facet_error *err);

uint64_t facet_scene_triangles(const struct facet_scene *scene);           /* stored once */
uint64_t facet_scene_instanced_triangles(const struct facet_scene *scene); /* as placed */

/* A camera that frames the box: 45 degrees vertical angle, looking from (+x, +y, +z). */
void facet_scene_frame(const struct facet_bounds *bounds, struct facet_scene_camera *out);
/* Moves and turns a camera; false, and the camera as it was, when eye and target are one point or
 * `up` is the line between them. */
bool facet_scene_aim(const double eye[3],
                     const double target[3],
                     const double up[3],
                     struct facet_scene_camera *camera);

/* Texture coordinates of a vertex for a texture, its transform applied. */
void facet_scene_uv(const IN_SCENE struct facet_scene_mesh *mesh,
                    const IN_SCENE struct facet_texture_use *use,
                    uint32_t vertex,
                    float uv[2]);

#endif
