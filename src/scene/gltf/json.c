/* Typed access to glTF's JSON; see gltf.h. */
#include "scene/gltf/gltf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool facet_gltf_fail(struct gltf *g, enum facet_status status, const char *format, ...)
{
    char text[400];
    va_list args;

    if (g->status == FACET_OK) {
        va_start(args, format);
        (void)vsnprintf(text, sizeof text, format, args);
        va_end(args);
        g->status = facet_fail(g->err, status, 0, "%s", text);
    }
    return false;
}

json_t *facet_gltf_table(const struct gltf *g, const char *name)
{
    return json_object_get(g->root, name);
}

uint32_t facet_gltf_count(const struct gltf *g, const char *table)
{
    return (uint32_t)json_array_size(facet_gltf_table(g, table));
}

json_t *facet_gltf_item(const struct gltf *g, const char *table, uint32_t index)
{
    return json_array_get(facet_gltf_table(g, table), index);
}

bool facet_gltf_get_index(struct gltf *g,
                          const json_t *object,
                          const char *key,
                          const char *table,
                          const char *where,
                          uint32_t *out)
{
    json_t *value = json_object_get(object, key);
    uint32_t count = facet_gltf_count(g, table);

    *out = FACET_SCENE_NONE;
    if (value == NULL) {
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) >= (json_int_t)count) {
        char text[32] = "something else";

        if (json_is_integer(value)) {
            (void)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        }
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.%s is %s: expected an index into %s, which has %u",
                               where,
                               key,
                               text,
                               table,
                               count);
    }
    *out = (uint32_t)json_integer_value(value);
    return true;
}

bool facet_gltf_get_number(
    struct gltf *g, const json_t *object, const char *key, const char *where, double *out)
{
    json_t *value = json_object_get(object, key);

    if (value == NULL) {
        return true;
    }
    if (!json_is_number(value)) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.%s: expected a number", where, key);
    }
    *out = json_number_value(value);
    return true;
}

bool facet_gltf_get_size(struct gltf *g,
                         const json_t *object,
                         const char *key,
                         uint64_t most,
                         const char *where,
                         uint64_t *out)
{
    json_t *value = json_object_get(object, key);
    double number = json_number_value(value);

    if (value == NULL) {
        return true;
    }
    /* Some exporters write 36.0 for 36. */
    if (!json_is_number(value) || number < 0 || number != floor(number) || number > (double)most) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s.%s: expected a whole number in 0..%llu",
                               where,
                               key,
                               (unsigned long long)most);
    }
    *out = (uint64_t)number;
    return true;
}

bool facet_gltf_get_numbers(struct gltf *g,
                            const json_t *object,
                            const char *key,
                            unsigned count,
                            const char *where,
                            double *out)
{
    json_t *value = json_object_get(object, key);

    if (value == NULL) {
        return true;
    }
    if (!json_is_array(value) || json_array_size(value) != count) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s.%s: expected an array of %u numbers", where, key, count);
    }
    for (unsigned i = 0; i < count; i++) {
        json_t *number = json_array_get(value, i);

        if (!json_is_number(number)) {
            return facet_gltf_fail(
                g, FACET_ERR_INPUT, "%s.%s: expected an array of %u numbers", where, key, count);
        }
        out[i] = json_number_value(number);
    }
    return true;
}

bool facet_gltf_get_bool(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *out)
{
    json_t *value = json_object_get(object, key);

    if (value != NULL && !json_is_boolean(value)) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.%s: expected true or false", where, key);
    }
    *out = value != NULL ? json_is_true(value) : *out;
    return true;
}

json_t *facet_gltf_get_array(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *ok)
{
    json_t *value = json_object_get(object, key);

    if (value != NULL && !json_is_array(value)) {
        *ok = facet_gltf_fail(g, FACET_ERR_INPUT, "%s.%s: expected an array", where, key);
        return NULL;
    }
    return value;
}

json_t *facet_gltf_get_object(
    struct gltf *g, const json_t *object, const char *key, const char *where, bool *ok)
{
    json_t *value = json_object_get(object, key);

    if (value != NULL && !json_is_object(value)) {
        *ok = facet_gltf_fail(g, FACET_ERR_INPUT, "%s.%s: expected an object", where, key);
        return NULL;
    }
    return value;
}

const char *facet_gltf_get_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

json_t *facet_gltf_extension(const json_t *object, const char *name)
{
    json_t *extension = json_object_get(json_object_get(object, "extensions"), name);

    return json_is_object(extension) ? extension : NULL;
}

void facet_gltf_set_name(char to[FACET_SCENE_NAME_BYTES],
                         const json_t *object,
                         const char *otherwise)
{
    const char *name = facet_gltf_get_text(object, "name");

    name = name[0] != '\0' ? name : otherwise;
    facet_scene_set_name(to, name, strlen(name));
}
