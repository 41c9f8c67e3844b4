/* glTF's bytes: URIs, buffers and buffer views. */
#include "scene/gltf/gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool
load_base64(struct gltf *g, const char *text, const char *where, struct facet_bytes *out)
{
    size_t length = strlen(text);
    uint32_t hold = 0;
    unsigned bits = 0;

    while (length > 0 && text[length - 1] == '=') {
        length--;
    }
    out->size = 0;
    out->data = malloc(length / 4 * 3 + 4);
    if (out->data == NULL) {
        return facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
    }
    for (size_t i = 0; i < length; i++) {
        int value = base64_value((unsigned char)text[i]);

        if (value < 0) {
            free(out->data);
            out->data = NULL;
            return facet_gltf_fail(g,
                                   FACET_ERR_INPUT,
                                   "%s.uri: character %zu of the base64 data is invalid",
                                   where,
                                   i);
        }
        hold = hold << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out->data[out->size++] = (uint8_t)(hold >> bits);
        }
    }
    out->data[out->size] = 0;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Codes such as "%20"; a '%' that starts no code stays. */
static char *decode_percent(const char *uri)
{
    char *name = malloc(strlen(uri) + 1), *to = name;

    while (name != NULL && *uri != '\0') {
        if (uri[0] == '%' && hex_value(uri[1]) >= 0 && hex_value(uri[2]) >= 0) {
            *to++ = (char)(hex_value(uri[1]) * 16 + hex_value(uri[2]));
            uri += 3;
        } else {
            *to++ = *uri++;
        }
    }
    if (name != NULL) {
        *to = '\0';
    }
    return name;
}

static bool load_file(struct gltf *g, const char *uri, const char *where, struct facet_bytes *out)
{
    struct facet_error err;
    enum facet_status status;
    char *name;

    if (strstr(uri, "://") != NULL) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s.uri %.100s: only files and data: URIs are read", where, uri);
    }
    if (g->reader->fetch == NULL) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.uri %.100s: no files here", where, uri);
    }
    name = decode_percent(uri);
    if (name == NULL) {
        return facet_gltf_fail(g, FACET_ERR_MEMORY, "%s: out of memory", where);
    }
    status = g->reader->fetch(g->reader->context, name, out, &err);
    free(name);
    return status == FACET_OK || facet_gltf_fail(g, status, "%s: %.300s", where, err.message);
}

bool facet_gltf_load_uri(struct gltf *g,
                         const char *uri,
                         const char *where,
                         struct facet_bytes *out)
{
    const char *comma = strchr(uri, ',');

    out->data = NULL;
    out->size = 0;
    if (strncmp(uri, "data:", 5) != 0) {
        return load_file(g, uri, where, out);
    }
    if (comma == NULL || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0) {
        return facet_gltf_fail(
            g, FACET_ERR_INPUT, "%s.uri: expected a data: URI with base64 data", where);
    }
    return load_base64(g, comma + 1, where, out);
}

/* The binary chunk may be up to three bytes longer than the buffer says: it is padded. */
static bool load_buffer(struct gltf *g, uint32_t index)
{
    struct gltf_buffer *buffer = &g->buffers[index];
    json_t *object = facet_gltf_item(g, "buffers", index);
    json_t *uri = json_object_get(object, "uri");
    char where[GLTF_WHERE_BYTES];
    uint64_t length = 0;
    size_t have;

    (void)snprintf(where, sizeof where, "buffers[%u]", index);
    if (!facet_gltf_get_size(g, object, "byteLength", UINT64_C(1) << 40, where, &length)) {
        return false;
    }
    if (length == 0) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.byteLength is missing or zero", where);
    }
    if (uri == NULL) {
        if (index != 0 || g->bin == NULL) {
            return facet_gltf_fail(
                g, FACET_ERR_INPUT, "%s has no uri, and there is no binary chunk for it", where);
        }
        buffer->data = g->bin;
        have = g->bin_size;
    } else {
        struct facet_bytes bytes;

        if (!json_is_string(uri)) {
            return facet_gltf_fail(g, FACET_ERR_INPUT, "%s.uri: expected a string", where);
        }
        if (!facet_gltf_load_uri(g, json_string_value(uri), where, &bytes)) {
            return false;
        }
        buffer->data = buffer->owned = bytes.data;
        have = bytes.size;
    }
    if (have < length) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s has %zu bytes, but byteLength says %llu",
                               where,
                               have,
                               (unsigned long long)length);
    }
    buffer->size = (size_t)length;
    return true;
}

bool facet_gltf_view(
    struct gltf *g, uint32_t index, const uint8_t **data, size_t *size, size_t *stride)
{
    const uint64_t most = UINT64_C(1) << 40;
    json_t *object = facet_gltf_item(g, "bufferViews", index);
    uint64_t offset = 0, length = 0, step = 0;
    char here[GLTF_WHERE_BYTES];
    uint32_t buffer;

    (void)snprintf(here, sizeof here, "bufferViews[%u]", index);
    if (!facet_gltf_get_index(g, object, "buffer", "buffers", here, &buffer) ||
        !facet_gltf_get_size(g, object, "byteOffset", most, here, &offset) ||
        !facet_gltf_get_size(g, object, "byteLength", most, here, &length) ||
        !facet_gltf_get_size(g, object, "byteStride", 65536, here, &step)) {
        return false;
    }
    if (buffer == FACET_SCENE_NONE) {
        return facet_gltf_fail(g, FACET_ERR_INPUT, "%s has no buffer", here);
    }
    if (g->buffers[buffer].data == NULL && !load_buffer(g, buffer)) {
        return false;
    }
    if (offset + length > g->buffers[buffer].size) {
        return facet_gltf_fail(g,
                               FACET_ERR_INPUT,
                               "%s ends at byte %llu, but buffers[%u] has %zu",
                               here,
                               (unsigned long long)(offset + length),
                               buffer,
                               g->buffers[buffer].size);
    }
    *data = g->buffers[buffer].data + offset;
    *size = (size_t)length;
    *stride = (size_t)step;
    return true;
}
