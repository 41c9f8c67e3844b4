/* The pose of the nodes at a moment of an animation (glTF 2.0, 3.11 and appendix C): translations,
 * rotations, scales and morph weights that replace those of the nodes. Before its first keyframe
 * and after its last a channel stays where it is there. */
#include "scene/gltf/gltf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum interpolation { STEP, LINEAR, CUBICSPLINE, INTERPOLATIONS };

static const struct {
    const char *path, *type;
    unsigned components;
} targets[GLTF_TARGETS] = {{"translation", "VEC3", 3},
                           {"rotation", "VEC4", 4},
                           {"scale", "VEC3", 3},
                           {"weights", "SCALAR", 1}};

/* The keyframes of a channel. */
struct keys {
    float *times, *values;
    uint32_t count;
    uint32_t width; /* numbers of one keyframe's value */
    enum interpolation how;
    bool rotation;
};

static json_t *find_animation(struct gltf *g, uint32_t *index)
{
    const char *wanted = g->reader->pose->animation;
    const uint32_t count = facet_gltf_count(g, "animations");
    char *end = NULL;
    unsigned long number;

    *index = 0;
    if (count == 0) {
        (void)facet_gltf_fail(g, FACET_ERR_INPUT, "the file has no animations");
        return NULL;
    }
    if (wanted == NULL) {
        return facet_gltf_item(g, "animations", 0);
    }
    for (*index = 0; *index < count; (*index)++) {
        json_t *animation = facet_gltf_item(g, "animations", *index);

        if (strcmp(facet_gltf_get_text(animation, "name"), wanted) == 0) {
            return animation;
        }
    }
    number = strtoul(wanted, &end, 10);
    if (wanted[0] < '0' || wanted[0] > '9' || *end != '\0' || number >= count) {
        (void)facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "no animation \"%.80s\": expected the name of one or a number below %u",
            wanted,
            count);
        return NULL;
    }
    *index = (uint32_t)number;
    return facet_gltf_item(g, "animations", *index);
}

/* ---- between two keyframes ---- */

/* The value of keyframe k; a cubic spline has its tangents before and after it. */
static const float *value_of(const struct keys *keys, uint32_t k, unsigned part)
{
    const size_t row = keys->how == CUBICSPLINE ? 3 * (size_t)k + part : k;

    return keys->values + row * keys->width;
}

/* Appendix C.4, along the shorter arc; almost equal rotations are joined by a line. */
static void slerp(const float *a, const float *b, double u, double *out)
{
    double dot = 0, angle, from = 1 - u, to = u;

    for (unsigned i = 0; i < 4; i++) {
        dot += (double)a[i] * (double)b[i];
    }
    if (fabs(dot) < 0.9999999) {
        angle = acos(fabs(dot));
        from = sin(angle * (1 - u)) / sin(angle);
        to = sin(angle * u) / sin(angle);
    }
    to = dot < 0 ? -to : to;
    for (unsigned i = 0; i < 4; i++) {
        out[i] = from * (double)a[i] + to * (double)b[i];
    }
}

static void interpolate(const struct keys *keys, double time, double *out)
{
    const uint32_t last = keys->count - 1;
    uint32_t k = 0;
    double step, u;

    while (k < last && time >= (double)keys->times[k + 1]) {
        k++;
    }
    if (keys->how == STEP || k == last || time <= (double)keys->times[k]) {
        for (uint32_t i = 0; i < keys->width; i++) {
            out[i] = (double)value_of(keys, k, 1)[i];
        }
        return;
    }
    step = (double)keys->times[k + 1] - (double)keys->times[k];
    u = (time - (double)keys->times[k]) / step;
    if (keys->how == LINEAR && keys->rotation) {
        slerp(value_of(keys, k, 1), value_of(keys, k + 1, 1), u, out);
        return;
    }
    for (uint32_t i = 0; i < keys->width; i++) {
        const double a = (double)value_of(keys, k, 1)[i], b = (double)value_of(keys, k + 1, 1)[i];

        out[i] = (1 - u) * a + u * b;
        if (keys->how == CUBICSPLINE) { /* appendix C.5 */
            const double leaves = step * (double)value_of(keys, k, 2)[i];
            const double arrives = step * (double)value_of(keys, k + 1, 0)[i];
            const double uu = u * u, uuu = uu * u;

            out[i] = (2 * uuu - 3 * uu + 1) * a + (uuu - 2 * uu + u) * leaves +
                     (3 * uu - 2 * uuu) * b + (uuu - uu) * arrives;
        }
    }
}

/* ---- reading ---- */

static bool has_type(struct gltf *g, uint32_t accessor, const char *type, const char *where)
{
    const char *found = facet_gltf_get_text(facet_gltf_item(g, "accessors", accessor), "type");

    return strcmp(found, type) == 0 ||
           facet_gltf_fail(g,
                           FACET_ERR_INPUT,
                           "%s: accessors[%u].type is \"%.20s\", expected %s",
                           where,
                           accessor,
                           found,
                           type);
}

static bool read_times(struct gltf *g, uint32_t accessor, const char *where, struct keys *keys)
{
    keys->times = has_type(g, accessor, "SCALAR", where)
                      ? facet_gltf_read_floats(g, accessor, 1, 0.0F, where, &keys->count)
                      : NULL;
    for (uint32_t i = 0; keys->times != NULL && i < keys->count; i++) {
        if (!isfinite(keys->times[i]) || keys->times[i] < 0 ||
            (i > 0 && keys->times[i] <= keys->times[i - 1])) {
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "%s: keyframe %u is at %g s; expected times that grow from 0 or "
                                   "later",
                                   where,
                                   i,
                                   (double)keys->times[i]);
        }
    }
    return keys->times != NULL;
}

static bool read_values(struct gltf *g,
                        uint32_t accessor,
                        unsigned target,
                        uint32_t width,
                        const char *where,
                        struct keys *keys)
{
    const unsigned components = targets[target].components;
    const uint64_t rows = (uint64_t)keys->count * (keys->how == CUBICSPLINE ? 3 : 1);
    uint32_t count = 0;

    keys->width = width;
    keys->rotation = target == GLTF_ROTATION;
    keys->values = has_type(g, accessor, targets[target].type, where)
                       ? facet_gltf_read_floats(g, accessor, components, 0.0F, where, &count)
                       : NULL;
    if (keys->values != NULL && count != rows * (width / components)) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s: %u values for %u keyframes; expected %llu",
                               where,
                               count,
                               keys->count,
                               (unsigned long long)(rows * (width / components)));
    }
    for (size_t i = 0; keys->values != NULL && i < (size_t)count * components; i++) {
        if (!isfinite(keys->values[i])) {
            return facet_gltf_fail(g, FACET_ERR_INPUT, "%s: a value is not finite", where);
        }
    }
    return keys->values != NULL;
}

static bool read_keys(struct gltf *g,
                      const json_t *sampler,
                      unsigned target,
                      uint32_t width,
                      const char *where,
                      struct keys *keys)
{
    static const char *const names[INTERPOLATIONS] = {"STEP", "LINEAR", "CUBICSPLINE"};
    const char *how = facet_gltf_get_text(sampler, "interpolation");
    uint32_t input, output;

    how = how[0] != '\0' ? how : "LINEAR";
    while (keys->how < INTERPOLATIONS && strcmp(names[keys->how], how) != 0) {
        keys->how++;
    }
    if (keys->how == INTERPOLATIONS) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s: interpolation \"%.20s\", expected STEP, LINEAR or CUBICSPLINE",
                               where,
                               how);
    }
    if (!facet_gltf_get_index(g, sampler, "input", "accessors", where, &input) ||
        !facet_gltf_get_index(g, sampler, "output", "accessors", where, &output)) {
        return false;
    }
    if (input == FACET_SCENE_NONE || output == FACET_SCENE_NONE) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s has no input or no output", where);
    }
    return read_times(g, input, where, keys) && read_values(g, output, target, width, where, keys);
}

/* The number of morph targets of a node's mesh. */
static uint32_t morph_targets(const struct gltf *g, uint32_t node)
{
    json_t *mesh = json_object_get(facet_gltf_item(g, "nodes", node), "mesh");
    json_t *primitives = json_object_get(
        facet_gltf_item(
            g, "meshes", json_is_integer(mesh) ? (uint32_t)json_integer_value(mesh) : 0),
        "primitives");

    return mesh != NULL ? (uint32_t)json_array_size(
                              json_object_get(json_array_get(primitives, 0), "targets"))
                        : 0;
}

static bool
pose_node(struct gltf *g, const json_t *sampler, uint32_t node, unsigned target, const char *where)
{
    struct gltf_pose *pose = &g->poses[node];
    const bool weights = target == GLTF_WEIGHTS;
    const uint32_t width = weights ? morph_targets(g, node) : targets[target].components;
    struct keys keys = {0};
    bool ok;

    if (width == 0) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s: the mesh of nodes[%u] has no morph targets", where, node);
    }
    if (pose->has[target]) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s: the %s of nodes[%u] has a channel already",
                               where,
                               targets[target].path,
                               node);
    }
    pose->has[target] = true;
    if (weights) {
        pose->weights = calloc(width, sizeof *pose->weights);
        pose->weight_count = width;
        if (pose->weights == NULL) {
            return facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory");
        }
    }
    ok = read_keys(g, sampler, target, width, where, &keys);
    if (ok) {
        interpolate(&keys, g->reader->pose->time, weights ? pose->weights : pose->trs[target]);
    }
    free(keys.times);
    free(keys.values);
    return ok;
}

static bool
apply_channel(struct gltf *g, const json_t *channel, const json_t *samplers, const char *where)
{
    bool ok = true;
    json_t *target = facet_gltf_get_object(g, channel, "target", where, &ok);
    const char *path = facet_gltf_get_text(target, "path");
    json_t *value = json_object_get(channel, "sampler");
    const json_int_t sampler = json_is_integer(value) ? json_integer_value(value) : -1;
    unsigned kind = 0;
    uint32_t node;

    if (!ok || !facet_gltf_get_index(g, target, "node", "nodes", where, &node)) {
        return false;
    }
    while (kind < GLTF_TARGETS && strcmp(targets[kind].path, path) != 0) {
        kind++;
    }
    if (sampler < 0 || sampler >= (json_int_t)json_array_size(samplers)) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.sampler: expected a number below %zu",
                               where,
                               json_array_size(samplers));
    }
    if (kind == GLTF_TARGETS || node == FACET_SCENE_NONE) {
        return facet_gltf_leave_out(
            g,
            FACET_LOSS_SHAPE | FACET_LOSS_LOOK,
            1,
            "animation channels",
            NULL,
            where,
            "they move no translation, rotation, scale or weights of a node");
    }
    return pose_node(g, json_array_get(samplers, (size_t)sampler), node, kind, where);
}

/* What is wrong with a channel is said when its animation is shown. */
static void note_morphed(const json_t *animation, struct gltf *g)
{
    const json_t *channels = json_object_get(animation, "channels");

    for (size_t i = 0; i < json_array_size(channels); i++) {
        const json_t *target = json_object_get(json_array_get(channels, i), "target");
        const json_t *value = json_object_get(target, "node");
        const json_int_t node = json_is_integer(value) ? json_integer_value(value) : -1;

        if (node >= 0 && node < (json_int_t)facet_gltf_count(g, "nodes") &&
            strcmp(facet_gltf_get_text(target, "path"), targets[GLTF_WEIGHTS].path) == 0) {
            g->morphed[node] = true;
        }
    }
}

bool facet_gltf_animate(struct gltf *g)
{
    char where[GLTF_WHERE_BYTES];
    json_t *animation, *channels, *samplers;
    uint32_t index;
    bool ok = true;

    for (uint32_t i = 0; i < facet_gltf_count(g, "animations"); i++) {
        note_morphed(facet_gltf_item(g, "animations", i), g);
    }
    if (g->reader->pose == NULL) {
        return true;
    }
    animation = find_animation(g, &index);
    g->poses = calloc((size_t)facet_gltf_count(g, "nodes") + 1, sizeof *g->poses);
    if (animation == NULL || g->poses == NULL) {
        return animation != NULL && facet_gltf_fail(g, FACET_ERR_MEMORY, "out of memory");
    }
    (void)snprintf(where, sizeof where, "animations[%u]", index);
    channels = facet_gltf_get_array(g, animation, "channels", where, &ok);
    samplers = facet_gltf_get_array(g, animation, "samplers", where, &ok);
    for (size_t i = 0; ok && i < json_array_size(channels); i++) {
        json_t *channel = json_array_get(channels, i);

        (void)snprintf(where, sizeof where, "animations[%u].channels[%zu]", index, i);
        ok = json_is_object(channel)
                 ? apply_channel(g, channel, samplers, where)
                 : facet_gltf_fail(g, FACET_ERR_INPUT, "%s: expected an object", where);
    }
    return ok;
}
