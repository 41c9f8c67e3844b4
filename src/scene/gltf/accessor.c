/* glTF accessors: any component type, normalised or not, strided, sparse, or all zero (glTF 2.0,
 * 3.6.2). Integers become floats as 3.6.2.2 says; elements are copied byte by byte, so alignment in
 * the file does not matter. */
#include "scene/gltf/gltf.h"

#include "base/bits.h"
#include "base/float.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An accessor without a buffer view is all zeros (then perhaps patched by `sparse`): its count
 * costs the file nothing, so it is held down. */
#define MAX_ZERO_ELEMENTS (1U << 22)
#define MAX_ELEMENTS (UINT64_C(1) << 31)

enum component { BYTE = 5120, UBYTE, SHORT, USHORT, UINT = 5125, FLOAT };

struct accessor {
    char where[GLTF_WHERE_BYTES];
    json_t *object;
    unsigned type; /* enum component */
    unsigned components;
    bool normalized;
    uint32_t count;
};

/* Elements laid out in bytes; data NULL stands for zeros. */
struct span {
    const uint8_t *data;
    size_t stride;
};

static size_t component_bytes(unsigned type)
{
    switch (type) {
    case BYTE:
    case UBYTE:
        return 1;
    case SHORT:
    case USHORT:
        return 2;
    case UINT:
    case FLOAT:
        return 4;
    default:
        return 0;
    }
}

static unsigned component_count(const char *type)
{
    static const struct {
        const char *name;
        unsigned count;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(type, types[i].name) == 0) {
            return types[i].count;
        }
    }
    return 0;
}

static bool open_accessor(struct gltf *g, uint32_t index, struct accessor *a)
{
    uint64_t type = 0, count = 0;

    memset(a, 0, sizeof *a);
    (void)snprintf(a->where, sizeof a->where, "accessors[%u]", index);
    a->object = facet_gltf_item(g, "accessors", index);
    if (!facet_gltf_get_size(g, a->object, "componentType", 65535, a->where, &type) ||
        !facet_gltf_get_size(g, a->object, "count", UINT64_C(1) << 40, a->where, &count) ||
        !facet_gltf_get_bool(g, a->object, "normalized", a->where, &a->normalized)) {
        return false;
    }
    a->type = (unsigned)type;
    a->components = component_count(facet_gltf_get_text(a->object, "type"));
    if (component_bytes(a->type) == 0) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.componentType is %u: expected 5120..5123, 5125 or 5126",
                               a->where,
                               a->type);
    }
    if (a->components == 0) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.type is \"%.20s\": expected SCALAR, VEC2, VEC3, VEC4 or MAT4",
                               a->where,
                               facet_gltf_get_text(a->object, "type"));
    }
    if (count == 0 || count > 3 * (uint64_t)FACET_SCENE_MAX_TRIANGLES) {
        return facet_gltf_fail(g,
                               count == 0 ? FACET_ERR_INPUT : FACET_ERR_LIMIT,
                               "%s.count is %llu: expected 1..%u",
                               a->where,
                               (unsigned long long)count,
                               3 * FACET_SCENE_MAX_TRIANGLES);
    }
    if (count > MAX_ZERO_ELEMENTS && json_object_get(a->object, "bufferView") == NULL) {
        return facet_gltf_fail(g,
                               FACET_ERR_LIMIT,
                               "%s has no bufferView and %llu elements: expected at most %u",
                               a->where,
                               (unsigned long long)count,
                               MAX_ZERO_ELEMENTS);
    }
    /* A few bytes of a file can ask for the same large accessor over and over; one without a
     * bufferView costs the file nothing at all. */
    g->elements += json_object_get(a->object, "bufferView") != NULL ? count : 32 * count;
    if (g->elements > MAX_ELEMENTS) {
        return facet_gltf_fail(g,
                               FACET_ERR_LIMIT,
                               "%s: more than %llu elements of accessors are read",
                               a->where,
                               (unsigned long long)MAX_ELEMENTS);
    }
    a->count = (uint32_t)count;
    return true;
}

/* `count` elements of `bytes` each, starting `byteOffset` into the view that `object` names. */
static bool open_span(struct gltf *g,
                      const json_t *object,
                      const char *where,
                      size_t bytes,
                      uint32_t count,
                      struct span *span)
{
    uint64_t offset = 0;
    size_t size = 0, stride = 0;
    const uint8_t *data = NULL;
    uint32_t view;

    span->data = NULL;
    span->stride = bytes;
    if (!facet_gltf_get_index(g, object, "bufferView", "bufferViews", where, &view) ||
        !facet_gltf_get_size(g, object, "byteOffset", UINT64_C(1) << 40, where, &offset)) {
        return false;
    }
    if (view == FACET_SCENE_NONE) {
        return true;
    }
    if (!facet_gltf_view(g, view, &data, &size, &stride)) {
        return false;
    }
    stride = stride != 0 ? stride : bytes;
    if (stride < bytes) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s: elements of %zu bytes do not fit the stride of %zu",
                               where,
                               bytes,
                               stride);
    }
    if (offset > size || (uint64_t)stride * (count - 1) + bytes > size - offset) {
        return facet_gltf_fail(
            g,
            FACET_ERR_INPUT,
            "%s: %u elements end at byte %llu, but bufferViews[%u] has %zu",
            where,
            count,
            (unsigned long long)(offset + (uint64_t)stride * (count - 1) + bytes),
            view,
            size);
    }
    span->data = data + offset;
    span->stride = stride;
    return true;
}

static float load_float(const uint8_t *at, unsigned type, bool normalized)
{
    float value;

    switch (type) {
    case BYTE:
        value = (float)(int8_t)at[0];
        return !normalized ? value : value < -127.0F ? -1.0F : value / 127.0F;
    case UBYTE:
        return normalized ? (float)at[0] / 255.0F : (float)at[0];
    case SHORT:
        value = (float)(int16_t)facet_load_le16(at);
        return !normalized ? value : value < -32767.0F ? -1.0F : value / 32767.0F;
    case USHORT:
        value = (float)facet_load_le16(at);
        return normalized ? value / 65535.0F : value;
    case UINT:
        return (float)facet_load_le32(at);
    default: {
        uint32_t bits = facet_load_le32(at);

        value = facet_float_of(bits);
        return value;
    }
    }
}

static uint32_t load_integer(const uint8_t *at, unsigned type)
{
    switch (type) {
    case UBYTE:
        return at[0];
    case USHORT:
        return facet_load_le16(at);
    default:
        return facet_load_le32(at);
    }
}

/* One element, as floats or as integers; the rest of a wider destination is left alone. */
static void load_element(const struct accessor *a,
                         const uint8_t *from,
                         unsigned wanted,
                         float *floats,
                         uint32_t *integers)
{
    unsigned count = wanted < a->components ? wanted : a->components;
    size_t step = component_bytes(a->type);

    for (unsigned i = 0; i < count; i++, from += step) {
        if (floats != NULL) {
            floats[i] = load_float(from, a->type, a->normalized);
        } else {
            integers[i] = load_integer(from, a->type);
        }
    }
}

/* Elements that a sparse accessor replaces (3.6.2.3). */
static bool load_sparse(
    struct gltf *g, const struct accessor *a, unsigned wanted, float *floats, uint32_t *integers)
{
    bool ok = true;
    json_t *sparse = facet_gltf_get_object(g, a->object, "sparse", a->where, &ok);
    json_t *indices, *values;
    uint64_t count = 0, type = 0;
    struct span places, elements;

    if (!ok || sparse == NULL) {
        return ok;
    }
    indices = facet_gltf_get_object(g, sparse, "indices", a->where, &ok);
    values = facet_gltf_get_object(g, sparse, "values", a->where, &ok);
    if (!ok || !facet_gltf_get_size(g, sparse, "count", a->count, a->where, &count) ||
        !facet_gltf_get_size(g, indices, "componentType", 65535, a->where, &type)) {
        return false;
    }
    if (count == 0 || (type != UBYTE && type != USHORT && type != UINT)) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.sparse: count %llu, index type %llu: expected 1..%u and 5121, "
                               "5123 or 5125",
                               a->where,
                               (unsigned long long)count,
                               (unsigned long long)type,
                               a->count);
    }
    if (!open_span(
            g, indices, a->where, component_bytes((unsigned)type), (uint32_t)count, &places) ||
        !open_span(g,
                   values,
                   a->where,
                   component_bytes(a->type) * a->components,
                   (uint32_t)count,
                   &elements)) {
        return false;
    }
    if (places.data == NULL || elements.data == NULL) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.sparse has no bufferView", a->where);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t place = load_integer(places.data + i * places.stride, (unsigned)type);

        if (place >= a->count) {
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "%s.sparse replaces element %u of %u",
                                   a->where,
                                   place,
                                   a->count);
        }
        load_element(a,
                     elements.data + i * elements.stride,
                     wanted,
                     floats != NULL ? floats + (size_t)place * wanted : NULL,
                     integers != NULL ? integers + (size_t)place * wanted : NULL);
    }
    return true;
}

static bool load_all(
    struct gltf *g, const struct accessor *a, unsigned wanted, float *floats, uint32_t *integers)
{
    struct span span;

    if (!open_span(
            g, a->object, a->where, component_bytes(a->type) * a->components, a->count, &span)) {
        return false;
    }
    /* The common case, tight floats on a little-endian host, is one copy. */
    if (span.data != NULL && floats != NULL && a->type == FLOAT && wanted == a->components &&
        span.stride == 4 * (size_t)wanted && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(floats, span.data, (size_t)a->count * span.stride);
        span.data = NULL;
    }
    for (size_t i = 0; span.data != NULL && i < a->count; i++) {
        load_element(a,
                     span.data + i * span.stride,
                     wanted,
                     floats != NULL ? floats + i * wanted : NULL,
                     integers != NULL ? integers + i * wanted : NULL);
    }
    return load_sparse(g, a, wanted, floats, integers);
}

float *facet_gltf_read_floats(struct gltf *g,
                              uint32_t accessor,
                              unsigned components,
                              float fill,
                              const char *where,
                              uint32_t *count)
{
    struct accessor a;
    float *out;

    if (!open_accessor(g, accessor, &a)) {
        return NULL;
    }
    if (a.components > components || (a.components < components && components != 4)) {
        (void)facet_gltf_fail(g,
                              FACET_ERR_INPUT,
                              "%s: %s has %u components per element, expected %u",
                              where,
                              a.where,
                              a.components,
                              components);
        return NULL;
    }
    out = malloc((size_t)a.count * components * sizeof *out);
    if (out == NULL) {
        (void)facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)a.count * components; i++) {
        out[i] = i % components < a.components ? 0.0F : fill;
    }
    if (!load_all(g, &a, components, out, NULL)) {
        free(out);
        return NULL;
    }
    *count = a.count;
    return out;
}

uint32_t *facet_gltf_read_integers(
    struct gltf *g, uint32_t accessor, unsigned components, const char *where, uint32_t *count)
{
    struct accessor a;
    uint32_t *out;

    if (!open_accessor(g, accessor, &a)) {
        return NULL;
    }
    if (a.components != components || (a.type != UBYTE && a.type != USHORT && a.type != UINT)) {
        (void)facet_gltf_fail(g,
                              FACET_ERR_INPUT,
                              "%s: %s is not an array of unsigned integers with %u per element",
                              where,
                              a.where,
                              components);
        return NULL;
    }
    out = calloc((size_t)a.count * components, sizeof *out);
    if (out == NULL) {
        (void)facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
        return NULL;
    }
    if (!load_all(g, &a, components, NULL, out)) {
        free(out);
        return NULL;
    }
    *count = a.count;
    return out;
}
