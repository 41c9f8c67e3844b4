/* See bvh_aabbs.h. */
#include "documents/bvh_aabbs.h"

#include "json/json.h"

#include <stdlib.h>

#define MAX_JSON_BYTES ((size_t)1 << 30)

static bool read_triple(const json_t *array, float out[3])
{
    if (!json_is_array(array) || json_array_size(array) != 3) {
        return false;
    }
    for (size_t k = 0; k < 3; k++) {
        const json_t *value = json_array_get(array, k);

        if (!json_is_number(value)) {
            return false;
        }
        out[k] = (float)json_number_value(value);
    }
    return true;
}

static enum facet_status read_aabb(const json_t *object,
                                   uint32_t number,
                                   struct facet_bvh_aabb *out,
                                   struct facet_error *err)
{
    uint64_t geometry = 0, primitive = number;

    *out = (struct facet_bvh_aabb){0};
    if (!json_is_object(object) || !read_triple(json_object_get(object, "min"), out->min) ||
        !read_triple(json_object_get(object, "max"), out->max) ||
        (json_object_get(object, "geometry") != NULL &&
         !facet_json_to_u64(json_object_get(object, "geometry"), &geometry)) ||
        (json_object_get(object, "primitive") != NULL &&
         !facet_json_to_u64(json_object_get(object, "primitive"), &primitive)) ||
        geometry > UINT32_MAX || primitive > UINT32_MAX) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          number,
                          "box %u: expected {\"min\": [x, y, z], \"max\": [x, y, z]} with optional "
                          "\"geometry\", \"primitive\" and \"opaque\"",
                          number);
    }
    out->geometry = (uint32_t)geometry;
    out->primitive = (uint32_t)primitive;
    out->flags = json_is_true(json_object_get(object, "opaque")) ? FACET_BVH_OPAQUE : 0;
    return FACET_OK;
}

enum facet_status facet_doc_bvh_aabbs_read(const char *path,
                                           struct facet_bvh_aabb **out,
                                           uint32_t *count,
                                           struct facet_error *err)
{
    json_t *root;
    const json_t *list;
    enum facet_status status = facet_json_read(path, MAX_JSON_BYTES, &root, err);

    *out = NULL;
    *count = 0;
    if (status != FACET_OK) {
        return status;
    }
    status = facet_json_get_array(root, "aabbs", &list, err);
    if (status == FACET_OK) {
        *count = (uint32_t)json_array_size(list);
        *out = calloc((size_t)*count + 1, sizeof **out);
        if (*out == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u boxes", *count);
        }
    }
    for (uint32_t i = 0; i < *count && status == FACET_OK; i++) {
        status = read_aabb(json_array_get(list, i), i, &(*out)[i], err);
    }
    json_decref(root);
    if (status != FACET_OK) {
        free(*out);
        *out = NULL;
        facet_fail_in(err, path);
        return status;
    }
    return FACET_OK;
}
