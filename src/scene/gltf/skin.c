/* Skins in the pose of their joints (glTF 2.0, 3.7.3): a vertex is moved by the weighted mean of
 * its joints' world matrices times their inverse bind matrices, straight into world space. */
#include "scene/gltf/gltf.h"

#include <stdio.h>
#include <stdlib.h>

struct gltf_skin {
    uint32_t count;                /* 0: not read yet */
    struct facet_affine *matrices; /* joint: mesh space at bind time -> world */
};

/* MAT4 accessors are column by column. */
static struct facet_affine from_columns(const float *m)
{
    struct facet_affine out;

    for (unsigned row = 0; row < 3; row++) {
        for (unsigned column = 0; column < 4; column++) {
            out.m[4 * row + column] = (double)m[4 * column + row];
        }
    }
    return out;
}

static bool
joint_matrices(struct gltf *g, const json_t *joints, const float *binds, struct gltf_skin *skin)
{
    uint32_t nodes = facet_gltf_count(g, "nodes");

    for (uint32_t i = 0; i < skin->count; i++) {
        json_t *value = json_array_get(joints, i);
        json_int_t node = json_is_integer(value) ? json_integer_value(value) : -1;
        struct facet_affine bind =
            binds != NULL ? from_columns(binds + 16 * (size_t)i) : facet_affine_identity();

        if (node < 0 || node >= (json_int_t)nodes) {
            return facet_gltf_fail(g, FACET_ERR_INPUT, "a skin's joint %u is not a node", i);
        }
        if (g->reached[node] == GLTF_APART) {
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "a skin's joint %u, nodes[%u], is not in the scene",
                                   i,
                                   (unsigned)node);
        }
        skin->matrices[i] = facet_affine_multiply(&g->world[node], &bind);
    }
    return true;
}

static bool open_skin(struct gltf *g, uint32_t index, struct gltf_skin *skin)
{
    json_t *object = facet_gltf_item(g, "skins", index);
    char where[GLTF_WHERE_BYTES];
    bool ok = true;
    json_t *joints;
    uint32_t accessor, count = 0;
    float *binds = NULL;

    (void)snprintf(where, sizeof where, "skins[%u]", index);
    joints = facet_gltf_get_array(g, object, "joints", where, &ok);
    if (!ok || !facet_gltf_note_unused(g, object, " joints inverseBindMatrices skeleton ", where) ||
        !facet_gltf_get_index(g, object, "inverseBindMatrices", "accessors", where, &accessor)) {
        return false;
    }
    skin->count = (uint32_t)json_array_size(joints);
    if (skin->count == 0) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s has no joints", where);
    }
    if (accessor != FACET_SCENE_NONE) {
        binds = facet_gltf_read_floats(g, accessor, 16, 0.0F, where, &count);
        if (binds == NULL) {
            return false;
        }
        if (count < skin->count) {
            free(binds);
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "%s has %u joints but %u inverseBindMatrices",
                                   where,
                                   skin->count,
                                   count);
        }
    }
    skin->matrices = calloc(skin->count, sizeof *skin->matrices);
    ok = skin->matrices != NULL ? joint_matrices(g, joints, binds, skin)
                                : facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
    free(binds);
    return ok;
}

/* Adds the joints of one JOINTS_n/WEIGHTS_n pair to the mean matrix of every vertex. */
static bool blend_set(struct gltf *g,
                      const struct gltf_skin *skin,
                      const json_t *attributes,
                      unsigned set,
                      const char *where,
                      uint32_t vertices,
                      struct facet_affine *blend)
{
    char joints_name[16], weights_name[16];
    uint32_t joints_accessor, weights_accessor, joint_count = 0, weight_count = 0;
    uint32_t *joints;
    float *weights;
    bool ok;

    (void)snprintf(joints_name, sizeof joints_name, "JOINTS_%u", set);
    (void)snprintf(weights_name, sizeof weights_name, "WEIGHTS_%u", set);
    if (!facet_gltf_get_index(g, attributes, joints_name, "accessors", where, &joints_accessor) ||
        !facet_gltf_get_index(g, attributes, weights_name, "accessors", where, &weights_accessor)) {
        return false;
    }
    if (joints_accessor == FACET_SCENE_NONE || weights_accessor == FACET_SCENE_NONE) {
        return true;
    }
    joints = facet_gltf_read_integers(g, joints_accessor, 4, where, &joint_count);
    weights = joints != NULL
                  ? facet_gltf_read_floats(g, weights_accessor, 4, 0.0F, where, &weight_count)
                  : NULL;
    ok = weights != NULL && ((joint_count == vertices && weight_count == vertices) ||
                             facet_gltf_fail(g,
                                             FACET_ERR_INPUT,
                                             "%s: %s and %s must have one element per vertex",
                                             where,
                                             joints_name,
                                             weights_name));
    for (size_t i = 0; ok && i < 4 * (size_t)vertices; i++) {
        double weight = (double)weights[i];

        if (weight == 0) {
            continue;
        }
        if (joints[i] >= skin->count) {
            ok = facet_gltf_fail(g,
                                 FACET_ERR_INPUT,
                                 "%s: vertex %zu refers to joint %u of %u",
                                 where,
                                 i / 4,
                                 joints[i],
                                 skin->count);
            break;
        }
        for (unsigned k = 0; k < 12; k++) {
            blend[i / 4].m[k] += weight * skin->matrices[joints[i]].m[k];
        }
    }
    free(joints);
    free(weights);
    return ok;
}

/* Normals go by the cofactors of the matrix: right also when it scales unevenly. */
static void move_normal(const struct facet_affine *matrix, float *normal)
{
    const double *m = matrix->m;
    const double columns[3][3] = {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}};
    double sum[3] = {0, 0, 0};

    for (unsigned i = 0; i < 3; i++) {
        double cofactor[3];

        facet_scene_cross(columns[(i + 1) % 3], columns[(i + 2) % 3], cofactor);
        for (unsigned k = 0; k < 3; k++) {
            sum[k] += cofactor[k] * (double)normal[i];
        }
    }
    if (facet_scene_normalize(sum)) {
        for (unsigned k = 0; k < 3; k++) {
            normal[k] = (float)sum[k];
        }
    }
}

static void move_vertices(const struct facet_affine *blend, struct facet_scene_mesh *mesh)
{
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        float *position = mesh->positions + 3 * i;
        double in[3] = {(double)position[0], (double)position[1], (double)position[2]}, out[3];

        facet_affine_point(&blend[i], in, out);
        for (unsigned k = 0; k < 3; k++) {
            position[k] = (float)out[k];
        }
        if (mesh->normals != NULL) {
            move_normal(&blend[i], mesh->normals + 3 * i);
        }
    }
}

bool facet_gltf_apply_skin(struct gltf *g,
                           uint32_t skin_index,
                           const json_t *attributes,
                           const char *where,
                           struct facet_scene_mesh *mesh)
{
    struct facet_affine *blend = calloc(mesh->vertex_count, sizeof *blend);
    bool ok;

    if (g->skins == NULL) {
        g->skins = calloc((size_t)facet_gltf_count(g, "skins") + 1, sizeof *g->skins);
    }
    ok = blend != NULL && g->skins != NULL
             ? g->skins[skin_index].count != 0 || open_skin(g, skin_index, &g->skins[skin_index])
             : facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
    for (unsigned set = 0; ok && set < GLTF_JOINT_SETS; set++) {
        ok = blend_set(g, &g->skins[skin_index], attributes, set, where, mesh->vertex_count, blend);
    }
    if (ok) {
        move_vertices(blend, mesh);
    }
    free(blend);
    return ok;
}

void facet_gltf_free_skins(struct gltf *g)
{
    for (uint32_t i = 0; g->skins != NULL && i < facet_gltf_count(g, "skins"); i++) {
        free(g->skins[i].matrices);
    }
    free(g->skins);
}
