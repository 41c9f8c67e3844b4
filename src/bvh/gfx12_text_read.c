/* Reading the JSON form. The file may be a hundred times the image, so it is never parsed as a
 * whole: a scanner finds the elements of "nodes", each is parsed by itself, and what is left (the
 * head with an empty list) is parsed at the end. */
#include "bvh/gfx12_text.h"

#include "base/json.h"
#include "bvh/gfx12_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (UINT64_C(1) << 36)

/* ---- scanning ---- */

struct scan {
    const char *name;
    const char *text;
    size_t size, at;
};

static uint64_t line_of(const struct scan *s, size_t at)
{
    uint64_t line = 1;

    for (size_t i = 0; i < at && i < s->size; i++) {
        line += s->text[i] == '\n';
    }
    return line;
}

static enum facet_status complain(const struct scan *s, const char *what, struct facet_error *err)
{
    uint64_t line = line_of(s, s->at);

    return facet_fail(
        err, FACET_ERR_INPUT, line, "%s:%llu: %s", s->name, (unsigned long long)line, what);
}

static void skip_space(struct scan *s)
{
    while (s->at < s->size && strchr(" \t\r\n", s->text[s->at]) != NULL && s->text[s->at] != '\0') {
        s->at++;
    }
}

/* Behind the closing quote; false at the end of the text. */
static bool skip_string(struct scan *s)
{
    for (s->at++; s->at < s->size; s->at++) {
        if (s->text[s->at] == '\\') {
            s->at++;
        } else if (s->text[s->at] == '"') {
            s->at++;
            return true;
        }
    }
    return false;
}

/* Behind one value, whose inside is checked by the parser later. */
static bool skip_value(struct scan *s)
{
    size_t depth = 0;

    while (s->at < s->size) {
        char ch = s->text[s->at];

        if (ch == '"') {
            if (!skip_string(s)) {
                return false;
            }
            if (depth == 0) {
                return true;
            }
            continue;
        }
        if (ch == '{' || ch == '[') {
            depth++;
        } else if (ch == '}' || ch == ']') {
            if (depth == 0) {
                return true; /* ends the value around this one */
            }
            if (--depth == 0) {
                s->at++;
                return true;
            }
        } else if (depth == 0 && ch == ',') {
            return true;
        }
        s->at++;
    }
    return false;
}

/* Finds the '[' of the member "nodes" of the outermost object. */
static bool find_nodes(struct scan *s)
{
    skip_space(s);
    if (s->at >= s->size || s->text[s->at] != '{') {
        return false;
    }
    s->at++;
    for (;;) {
        size_t key;

        skip_space(s);
        key = s->at;
        if (s->at >= s->size || s->text[s->at] != '"' || !skip_string(s)) {
            return false;
        }
        bool nodes = s->at - key == 7 && memcmp(s->text + key, "\"nodes\"", 7) == 0;

        skip_space(s);
        if (s->at >= s->size || s->text[s->at] != ':') {
            return false;
        }
        s->at++;
        skip_space(s);
        if (nodes) {
            return s->at < s->size && s->text[s->at] == '[';
        }
        if (!skip_value(s)) {
            return false;
        }
        skip_space(s);
        if (s->at >= s->size || s->text[s->at] != ',') {
            return false;
        }
        s->at++;
    }
}

/* ---- nodes ---- */

/* A JSON object and where complaints go; the first one sticks. */
struct reader {
    const json_t *object;
    struct facet_error *err;
    enum facet_status status;
};

static uint64_t get(struct reader *r, const char *key, unsigned width)
{
    uint64_t value = 0;

    if (r->status == FACET_OK) {
        uint64_t max = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

        r->status = facet_json_get_u64(r->object, key, max, &value, r->err);
    }
    return value;
}

static size_t get_words(struct reader *r, const char *key, uint32_t *out, size_t most)
{
    const json_t *array;
    size_t count;

    if (r->status == FACET_OK) {
        r->status = facet_json_get_array(r->object, key, &array, r->err);
    }
    if (r->status != FACET_OK) {
        return 0;
    }
    count = json_array_size(array);
    if (count > most) {
        r->status = facet_fail(r->err,
                               FACET_ERR_INPUT,
                               count,
                               "\"%s\" has %zu elements, expected at most %zu",
                               key,
                               count,
                               most);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t value;

        if (!facet_json_to_u64(json_array_get(array, i), &value) || value > UINT32_MAX) {
            r->status = facet_fail(
                r->err, FACET_ERR_INPUT, i, "\"%s\": element %zu is not a 32-bit number", key, i);
            return 0;
        }
        out[i] = (uint32_t)value;
    }
    return count;
}

static struct reader enter(struct reader *r, const json_t *object, const char *what)
{
    struct reader inner = {object, r->err, r->status};

    if (inner.status == FACET_OK && !json_is_object(object)) {
        inner.status = facet_fail(r->err, FACET_ERR_INPUT, 0, "\"%s\": expected an object", what);
    }
    return inner;
}

static const json_t *get_list(struct reader *r, const char *key, size_t least, size_t most)
{
    const json_t *array = NULL;

    if (r->status == FACET_OK) {
        r->status = facet_json_get_array(r->object, key, &array, r->err);
    }
    if (r->status == FACET_OK &&
        (json_array_size(array) < least || json_array_size(array) > most)) {
        r->status = facet_fail(r->err,
                               FACET_ERR_INPUT,
                               json_array_size(array),
                               "\"%s\" has %zu elements, expected %zu to %zu",
                               key,
                               json_array_size(array),
                               least,
                               most);
    }
    return array;
}

/* The members have the types of the struct, which are as wide as the fields need. */
#define GET(name, member, at, width) out->member = (__typeof__(out->member))get(&f, #name, width);

static void read_children(struct reader *r, struct facet_gfx12_child *child, unsigned count)
{
    const json_t *array = get_list(r, "children", count, count);

    for (unsigned i = 0; i < count && r->status == FACET_OK; i++) {
        struct facet_gfx12_child *out = &child[i];
        struct reader f = enter(r, json_array_get(array, i), "children");

        FACET_GFX12_CHILD_FIELDS(GET)
        r->status = f.status;
    }
}

static void read_box(struct reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_box box = {0}, *out = &box;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields");

    FACET_GFX12_BOX_FIELDS(GET)
    r->status = f.status;
    read_children(r, box.child, 8);
    facet_gfx12_box_encode(&box, bytes);
}

static void read_instance(struct reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_instance instance = {0}, *out = &instance;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields");

    FACET_GFX12_INSTANCE_FIELDS(GET)
    r->status = f.status;
    read_children(r, instance.child, 4);
    facet_gfx12_instance_encode(&instance, bytes);
}

static void read_pairs(struct reader *r, struct facet_gfx12_prim *p)
{
    unsigned pairs = facet_gfx12_prim_pairs(&p->header);
    const json_t *array = get_list(r, "pairs", pairs, pairs);

    for (unsigned i = 0; i < pairs && r->status == FACET_OK; i++) {
        struct facet_gfx12_pair_desc *out = &p->pair[i];
        struct reader f = enter(r, json_array_get(array, i), "pairs");

        FACET_GFX12_PAIR_DESC_FIELDS(GET)
        r->status = f.status;
    }
}

static void read_prim(struct reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_prim p = {0};
    struct facet_gfx12_prim_header *out = &p.header;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields");

    FACET_GFX12_PRIM_HEADER_FIELDS(GET)
    r->status = f.status;
    get_words(r, "prefix", p.prefix, 3);
    p.vertex_count = (uint8_t)(get_words(r, "payload", &p.payload[0][0], 48) / 3);
    p.geometry_base = (uint32_t)get(r, "geometry_base", 32);
    get_words(r, "geometry_payload", p.geometry_payload + 1, 15);
    p.primitive_base = (uint32_t)get(r, "primitive_base", 32);
    get_words(r, "primitive_payload", p.primitive_payload + 1, 15);
    if (json_object_get(r->object, "aabb") != NULL) {
        get_words(r, "aabb", p.aabb, 6);
    }
    read_pairs(r, &p);
    if (json_object_get(r->object, "free_bits") != NULL) {
        get_words(r, "free_bits", p.free_bits, 32);
    }
    facet_gfx12_prim_encode(&p, bytes);
}

static int hex_digit(char ch)
{
    const char *digits = "0123456789abcdef";
    const char *found = ch != '\0' ? strchr(digits, ch >= 'A' && ch <= 'F' ? ch + 32 : ch) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

static void read_hex(struct reader *r, const char *key, uint8_t *bytes, size_t size)
{
    const char *text = NULL;

    if (r->status == FACET_OK) {
        r->status = facet_json_get_string(r->object, key, &text, r->err);
    }
    if (r->status != FACET_OK) {
        return;
    }
    for (size_t i = 0; i < 2 * size; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0 || (i + 1 == 2 * size && text[i + 1] != '\0')) {
            r->status = facet_fail(r->err,
                                   FACET_ERR_INPUT,
                                   i,
                                   "\"%s\": expected %zu hexadecimal digits",
                                   key,
                                   2 * size);
            return;
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    if (size == 0 && text[0] != '\0') {
        r->status = facet_fail(r->err, FACET_ERR_INPUT, 0, "\"%s\": expected an empty string", key);
    }
}

static enum facet_status read_node(
    const json_t *object, uint8_t *image, uint64_t nodes, uint8_t *seen, struct facet_error *err)
{
    struct reader r = {object, err, FACET_OK};
    uint8_t bytes[FACET_GFX12_NODE_BYTES] = {0};
    const char *kind = NULL;
    uint64_t offset, node;

    if (!json_is_object(object)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "expected an object per node");
    }
    offset = get(&r, "offset", 64);
    node = offset / FACET_GFX12_NODE_BYTES;
    if (r.status == FACET_OK) {
        r.status = facet_json_get_string(object, "kind", &kind, err);
    }
    if (r.status != FACET_OK) {
        return r.status;
    }
    if (offset % FACET_GFX12_NODE_BYTES != 0 || node >= nodes || seen[node] != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          offset,
                          "offset 0x%llx: expected a multiple of 128 inside the image, named once",
                          (unsigned long long)offset);
    }
    if (strcmp(kind, "box") == 0) {
        read_box(&r, bytes);
    } else if (strcmp(kind, "instance") == 0) {
        read_instance(&r, bytes);
    } else if (strcmp(kind, "primitive") == 0) {
        read_prim(&r, bytes);
    } else if (strcmp(kind, "raw") == 0) {
        read_hex(&r, "data", bytes, sizeof bytes);
    } else {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          offset,
                          "kind \"%s\": expected box, primitive, instance or raw",
                          kind);
    }
    if (r.status == FACET_OK) {
        memcpy(image + offset, bytes, sizeof bytes);
        seen[node] = 1;
    }
    return r.status;
}

/* ---- the file ---- */

/* The outermost object with its nodes cut out. */
static enum facet_status read_head(const struct scan *s,
                                   size_t list,
                                   size_t list_end,
                                   struct facet_gfx12_image *out,
                                   json_t **head,
                                   struct facet_error *err)
{
    size_t rest = s->size - list_end;
    char *text = malloc(list + 2 + rest);
    struct reader r = {NULL, err, FACET_OK};
    const char *format = "";
    uint64_t version;

    if (text == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", s->name);
    }
    memcpy(text, s->text, list);
    memcpy(text + list, "[]", 2);
    memcpy(text + list + 2, s->text + list_end, rest);
    r.status = facet_json_parse(s->name, text, list + 2 + rest, head, err);
    free(text);
    if (r.status != FACET_OK) {
        return r.status;
    }
    r.object = *head;
    r.status = facet_json_get_string(*head, "format", &format, err);
    version = get(&r, "version", 32);
    out->size = get(&r, "size", 64);
    if (r.status != FACET_OK) {
        return r.status;
    }
    if (strcmp(format, "facet-gfx12") != 0 || version != 1) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: format \"%s\" version %llu: expected facet-gfx12 version 1",
                          s->name,
                          format,
                          (unsigned long long)version);
    }
    if (out->size > MAX_SIZE) {
        return facet_fail(err, FACET_ERR_LIMIT, out->size, "%s: size exceeds 64 GiB", s->name);
    }
    return FACET_OK;
}

static enum facet_status read_list(struct scan *s,
                                   size_t list_end,
                                   uint8_t *image,
                                   uint64_t nodes,
                                   uint8_t *seen,
                                   struct facet_error *err)
{
    uint64_t line = line_of(s, s->at);
    size_t counted = s->at;

    s->at++;
    for (;;) {
        size_t begin;
        json_t *object;
        enum facet_status status;

        skip_space(s);
        if (s->at + 1 >= list_end) {
            return FACET_OK;
        }
        begin = s->at;
        if (!skip_value(s) || s->at == begin || s->at > list_end) {
            return complain(s, "expected a node", err);
        }
        for (; counted < begin; counted++) {
            line += s->text[counted] == '\n';
        }
        status = facet_json_parse(s->name, s->text + begin, s->at - begin, &object, err);
        if (status == FACET_OK) {
            status = read_node(object, image, nodes, seen, err);
            json_decref(object);
        }
        if (status != FACET_OK) {
            char where[32];

            snprintf(where, sizeof where, "line %llu", (unsigned long long)line);
            return facet_fail_in(err, where);
        }
        skip_space(s);
        if (s->at < list_end && s->text[s->at] == ',') {
            s->at++;
        }
    }
}

static enum facet_status
check_complete(const char *name, const uint8_t *seen, uint64_t nodes, struct facet_error *err)
{
    for (uint64_t i = 0; i < nodes; i++) {
        if (!seen[i]) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i * FACET_GFX12_NODE_BYTES,
                              "%s: no node for offset 0x%llx",
                              name,
                              (unsigned long long)(i * FACET_GFX12_NODE_BYTES));
        }
    }
    return FACET_OK;
}

enum facet_status facet_gfx12_json_read(const char *name,
                                        const char *text,
                                        size_t size,
                                        struct facet_gfx12_image *out,
                                        struct facet_error *err)
{
    struct scan s = {name, text, size, 0};
    size_t list, list_end;
    json_t *head = NULL;
    uint8_t *seen = NULL;
    uint64_t nodes;
    enum facet_status status;

    *out = (struct facet_gfx12_image){NULL, 0};
    if (!find_nodes(&s)) {
        return complain(&s, "expected an object with a list \"nodes\"", err);
    }
    list = s.at;
    if (!skip_value(&s)) {
        return complain(&s, "the list \"nodes\" does not end", err);
    }
    list_end = s.at;
    status = read_head(&s, list, list_end, out, &head, err);
    nodes = out->size / FACET_GFX12_NODE_BYTES;
    if (status == FACET_OK) {
        out->bytes = calloc(1, (size_t)out->size + 1);
        seen = calloc(1, (size_t)nodes + 1);
        if (out->bytes == NULL || seen == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
        }
    }
    if (status == FACET_OK) {
        s.at = list;
        status = read_list(&s, list_end, out->bytes, nodes, seen, err);
    }
    if (status == FACET_OK) {
        status = check_complete(name, seen, nodes, err);
    }
    if (status == FACET_OK) {
        struct reader r = {head, err, FACET_OK};
        size_t rest = (size_t)(out->size % FACET_GFX12_NODE_BYTES);

        if (rest != 0 || json_object_get(head, "tail") != NULL) {
            read_hex(&r, "tail", out->bytes + (out->size - rest), rest);
        }
        status = r.status;
    }
    json_decref(head);
    free(seen);
    if (status != FACET_OK) {
        free(out->bytes);
        *out = (struct facet_gfx12_image){NULL, 0};
    }
    return status;
}
