/* From a scene to what the BVH builder takes. The renderer wants one bottom-level structure per
 * mesh that is shown, with geometry index 0 and the triangle's number as primitive index; one
 * instance per instance of the scene, whose user data is its number in the scene.
 *
 * Images for others have one bottom-level structure per object: its meshes are geometries, and its
 * instance has the number of the first of theirs, so that geometry 0 to n of the instance are the
 * instances from there on in a file whose primitives are all triangles. Traits are honoured.
 *
 * Mirrored instances need no FLIP_FACEDNESS: the instruction sees the triangle in object space, and
 * there counter-clockwise is front whatever the matrix (glTF 2.0, 3.7.4). */
#ifndef FACET_RENDER_BVH_INPUT_H
#define FACET_RENDER_BVH_INPUT_H

#include "bvh/input.h"
#include "scene/scene.h"

struct facet_render_bvh_input {
    struct facet_bvh_scene_input scene; /* points into the rest */
    struct facet_bvh_blas_input *blas;
    uint32_t *blas_mesh; /* mesh of each BLAS; FACET_SCENE_NONE for procedural boxes */
    struct facet_bvh_instance *instances;
    struct facet_bvh_triangle *triangles; /* NULL: the builder is given meshes */
    struct facet_bvh_indexed *meshes;
    struct facet_scene owned; /* the scene that they point into, where the caller put it here */
    struct facet_bvh_aabb *aabbs;
    uint64_t triangle_count;
    uint32_t flat_instances; /* their matrix has no inverse: left out, or kept and off */
};

/* What goes before the traits of every geometry and instance. */
struct facet_render_bvh_traits {
    struct facet_scene_traits geometry, instance;
    bool keep_off; /* instances that their matrix flattens are there, switched off (mask 0) */
};

/* `scene` may be NULL. `traits` NULL: for the renderer. `flat`: triangles one by one, which every
 * builder takes; otherwise the arrays of the scene, which must live as long, for the builder of
 * GFX12 images. `aabbs` (may be NULL) become one more BLAS
 * with one instance in place, whose user data is the number of instances of the scene; they are
 * copied. */
enum facet_status facet_render_bvh_input_make(const struct facet_scene *scene,
                                              const struct facet_bvh_aabb *aabbs,
                                              uint32_t aabb_count,
                                              const struct facet_render_bvh_traits *traits,
                                              bool flat,
                                              struct facet_render_bvh_input *out,
                                              struct facet_error *err);
/* Takes out what keep_off kept. false: no memory, nothing has changed. */
bool facet_render_bvh_input_drop_off(struct facet_render_bvh_input *input);
void facet_render_bvh_input_free(struct facet_render_bvh_input *input);

#endif
