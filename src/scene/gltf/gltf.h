/* Inside of the glTF 2.0 reader. Every function that can fail returns false (or NULL) after calling
 * facet_gltf_fail(), which keeps the first complaint; callers just return. `where` names the JSON
 * object that is being read: "meshes[3].primitives[0]". */
#ifndef FACET_SCENE_GLTF_H
#define FACET_SCENE_GLTF_H

#include "scene/matrix.h"
#include "scene/reader.h"

#include <jansson.h>

#define GLTF_WHERE_BYTES 96
#define GLTF_JOINT_SETS 4U /* JOINTS_0 to JOINTS_3 */

struct gltf_buffer {
    const uint8_t *data;
    size_t size;
    uint8_t *owned; /* NULL for the chunk inside a .glb */
};

enum { GLTF_TRANSLATION, GLTF_ROTATION, GLTF_SCALE, GLTF_WEIGHTS, GLTF_TARGETS };

/* What an animation says about a node. */
struct gltf_pose {
    bool has[GLTF_TARGETS];
    double trs[3][4];
    double *weights;
    uint32_t weight_count;
};

/* Hidden nodes show nothing, but they can be joints. */
enum gltf_reached { GLTF_APART, GLTF_SHOWN, GLTF_HIDDEN };

struct gltf {
    const struct facet_reader *reader;
    struct facet_scene *scene;
    struct facet_error *err;
    enum facet_status status;
    json_t *root;
    const uint8_t *bin; /* binary chunk of a .glb, NULL when there is none */
    size_t bin_size;
    struct gltf_buffer *buffers;     /* per glTF buffer, loaded when first used */
    uint32_t *material_map;          /* glTF material -> scene material; one more for the default */
    uint32_t *image_map;             /* glTF image -> scene texture */
    uint32_t *mesh_first, *mesh_end; /* glTF mesh -> its range of scene meshes */
    struct facet_affine *world;      /* per node */
    struct gltf_skin *skins;         /* those that were needed so far; of skin.c */
    uint8_t *reached;                /* per node: enum gltf_reached */
    uint64_t elements;               /* of accessors that were read so far */
    struct gltf_pose *poses;         /* per node; NULL: the rest pose */
    bool *morphed;                   /* per node: some animation moves its weights */
};

/* json.c: typed access with complaints. */
bool facet_gltf_fail(struct gltf *g, enum facet_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A top-level array ("meshes"), NULL when absent; every element is known to be an object. */
json_t *facet_gltf_table(const struct gltf *g, const char *name);
uint32_t facet_gltf_count(const struct gltf *g, const char *table);
json_t *facet_gltf_item(const struct gltf *g, const char *table, uint32_t index);
/* An optional reference into a table: FACET_SCENE_NONE when the key is absent. */
bool facet_gltf_get_index(struct gltf *g,
                          const json_t *object,
                          const char *key,
                          const char *table,
                          const char *where,
                          uint32_t *out);
/* Optional values: *out keeps its default when the key is absent. */
bool facet_gltf_get_number(
    struct gltf *g, const json_t *object, const char *key, const char *where, double *out);
bool facet_gltf_get_size(struct gltf *g,
                         const json_t *object,
                         const char *key,
                         uint64_t most,
                         const char *where,
                         uint64_t *out);
bool facet_gltf_get_numbers(struct gltf *g,
                            const json_t *object,
                            const char *key,
                            unsigned count,
                            const char *where,
                            double *out);
bool facet_gltf_get_bool(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *out);
/* An optional array or object: NULL when absent; *ok turns false when it is something else. */
json_t *facet_gltf_get_array(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *ok);
json_t *facet_gltf_get_object(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *ok);
/* "" when absent or not a string. */
const char *facet_gltf_get_text(const json_t *object, const char *key);
/* object.extensions.NAME, NULL when absent. */
json_t *facet_gltf_extension(const json_t *object, const char *name);
void facet_gltf_set_name(char to[FACET_SCENE_NAME_BYTES],
                         const json_t *object,
                         const char *otherwise);

/* left_out.c: what the file says and we do not use. */
bool facet_gltf_supports(const char *extension);
/* facet_scene_leave_out(); `where` and the object's name say where the first was. */
bool facet_gltf_leave_out(struct gltf *g,
                          unsigned effect,
                          uint32_t count,
                          const char *what,
                          const json_t *object,
                          const char *where,
                          const char *why);
/* Notes the members of an object that are not in `used`, " like this ", and its extensions. */
bool facet_gltf_note_unused(struct gltf *g,
                            const json_t *object,
                            const char *used,
                            const char *where);
/* The same for textures and what belongs to them. */
bool facet_gltf_note_unused_look(struct gltf *g,
                                 const json_t *object,
                                 const char *used,
                                 const char *where);
/* `bends`: the joints are used. */
bool facet_gltf_note_attributes(struct gltf *g,
                                const json_t *primitive,
                                bool bends,
                                const char *where);
bool facet_gltf_note_root(struct gltf *g);

/* data.c: bytes. */
bool facet_gltf_load_uri(struct gltf *g,
                         const char *uri,
                         const char *where,
                         struct facet_bytes *out);
bool facet_gltf_view(
    struct gltf *g, uint32_t index, const uint8_t **data, size_t *size, size_t *stride);

/* accessor.c: arrays of numbers. Both return malloc'ed arrays, NULL after a failure. */
/* `components` per element come out; an accessor with fewer gets `fill` for the rest. */
float *facet_gltf_read_floats(struct gltf *g,
                              uint32_t accessor,
                              unsigned components,
                              float fill,
                              const char *where,
                              uint32_t *count);
/* Unsigned integers of any width, `components` per element. */
uint32_t *facet_gltf_read_integers(
    struct gltf *g, uint32_t accessor, unsigned components, const char *where, uint32_t *count);

/* material.c */
bool facet_gltf_material(struct gltf *g,
                         uint32_t material,
                         uint32_t *out); /* FACET_SCENE_NONE: default */

/* mesh.c: the scene meshes [*first, *end) of a node's mesh. With a skin they are in world
 * space and belong to this node alone. */
bool facet_gltf_node_meshes(
    struct gltf *g, uint32_t node, uint32_t *first, uint32_t *end, bool *in_world_space);

/* skin.c: bends positions and normals by the node's skin, which is read once. */
bool facet_gltf_apply_skin(struct gltf *g,
                           uint32_t skin,
                           const json_t *attributes,
                           const char *where,
                           struct facet_scene_mesh *mesh);
void facet_gltf_free_skins(struct gltf *g);

/* traits.c: what extras.facet says of a geometry or an instance, which goes before what is there.
 */
bool facet_gltf_traits(struct gltf *g,
                       const json_t *object,
                       bool instance,
                       const char *where,
                       struct facet_scene_traits *out);

/* animation.c: fills in g->morphed, and g->poses where the reader is to show a moment of an
 * animation. */
bool facet_gltf_animate(struct gltf *g);

/* node.c */
bool facet_gltf_nodes(struct gltf *g);

#endif
