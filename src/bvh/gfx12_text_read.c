/* Reading the JSON form. The file may be a hundred times the image, so it is never parsed as a
 * whole: a scanner finds the elements of "nodes", each is parsed by itself, and what is left (the
 * head with an empty list) is parsed at the end. */
#include "bvh/gfx12_text.h"

#include "base/bits.h"
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

#define NO_INDEX SIZE_MAX

/* A JSON object, where it stands in the file, and where complaints go; the first one sticks. */
struct reader {
    const json_t *object;
    struct facet_error *err;
    enum facet_status status;
    const struct reader *outer; /* NULL for the outermost object */
    const char *name;           /* of the member of `outer` that it is, or is in */
    size_t index;               /* in a list of that name, or NO_INDEX */
};

/* "nodes[3].children[0]" and the like, cut off where the buffer ends. */
static void path_of(const struct reader *r, char *out, size_t size)
{
    size_t length;

    out[0] = '\0';
    if (r->outer == NULL) {
        return;
    }
    path_of(r->outer, out, size);
    length = strlen(out);
    if (r->index == NO_INDEX) {
        (void)snprintf(out + length, size - length, "%s%s", length != 0 ? "." : "", r->name);
    } else {
        (void)snprintf(
            out + length, size - length, "%s%s[%zu]", length != 0 ? "." : "", r->name, r->index);
    }
}

/* `key` is a member of the reader's object, possibly with an index behind it. */
static void refuse(struct reader *r, const char *key, size_t index, const char *what)
{
    struct reader member = {.outer = r, .name = key, .index = index};
    char path[120], text[240];

    path_of(&member, path, sizeof path);
    (void)snprintf(text, sizeof text, "%s: %s", path, what);
    for (char *at = text; *at != '\0'; at++) { /* keys and values are any text */
        *at = (unsigned char)*at < 0x20 || *at == 0x7F ? '?' : *at;
    }
    r->status = facet_fail(r->err, FACET_ERR_INPUT, 0, "%s", text);
}

static void refuse_number(struct reader *r, const char *key, size_t index, uint64_t max)
{
    char what[96];

    (void)snprintf(what,
                   sizeof what,
                   "expected a number in 0..%llu (an integer or a \"0x...\" string)",
                   (unsigned long long)max);
    refuse(r, key, index, what);
}

static uint64_t get(struct reader *r, const char *key, unsigned width)
{
    const uint64_t max = facet_bits_mask(width);
    const json_t *member;
    uint64_t value = 0;

    if (r->status != FACET_OK) {
        return 0;
    }
    member = json_object_get(r->object, key);
    if (member == NULL) {
        refuse(r, key, NO_INDEX, "missing");
    } else if (!facet_json_to_u64(member, &value) || value > max) {
        refuse_number(r, key, NO_INDEX, max);
    }
    return value;
}

static const char *get_string(struct reader *r, const char *key)
{
    const char *text = NULL;

    if (r->status == FACET_OK) {
        text = json_string_value(json_object_get(r->object, key));
        if (text == NULL) {
            refuse(r, key, NO_INDEX, "expected a string");
        }
    }
    return text != NULL ? text : "";
}

/* A list of `most` elements, or where `step` is smaller, of any multiple of that up to `most`. */
static const json_t *get_list(struct reader *r, const char *key, size_t most, size_t step)
{
    const json_t *array = json_object_get(r->object, key);
    const size_t count = json_array_size(array);
    char what[64];

    if (r->status != FACET_OK) {
        return NULL;
    }
    if (!json_is_array(array) || count > most || count % step != 0 ||
        (step == most && count == 0)) {
        (void)snprintf(what,
                       sizeof what,
                       step == most ? "expected a list of %zu elements"
                                    : "expected a list of up to %zu elements, in steps of %zu",
                       most,
                       step);
        refuse(r, key, NO_INDEX, what);
        return NULL;
    }
    return array;
}

/* Element i may have width[i % widths] bits. */
static size_t get_words(struct reader *r,
                        const char *key,
                        uint32_t *out,
                        const json_t *array,
                        const unsigned *width,
                        size_t widths)
{
    const size_t count = r->status == FACET_OK ? json_array_size(array) : 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t max = facet_bits_mask(width[i % widths]);
        uint64_t value;

        if (!facet_json_to_u64(json_array_get(array, i), &value) || value > max) {
            refuse_number(r, key, i, max);
            return 0;
        }
        out[i] = (uint32_t)value;
    }
    return count;
}

/* Exactly `count` words of one width. */
static void
get_exactly(struct reader *r, const char *key, uint32_t *out, size_t count, unsigned width)
{
    (void)get_words(r, key, out, get_list(r, key, count, count), &width, 1);
}

static struct reader
enter(const struct reader *r, const json_t *object, const char *name, size_t index)
{
    struct reader inner = {object, r->err, r->status, r, name, index};

    if (inner.status == FACET_OK && !json_is_object(object)) {
        struct reader outer = *r;

        refuse(&outer, name, index, "expected an object");
        inner.status = outer.status;
    }
    return inner;
}

/* A misspelt member would otherwise be dropped without a word. */
static void only(struct reader *r, const char *const *names, size_t count)
{
    const char *key;
    json_t *value;

    if (r->status != FACET_OK) {
        return;
    }
    json_object_foreach((json_t *)r->object, key, value)
    {
        size_t i = 0;

        while (i < count && strcmp(key, names[i]) != 0) {
            i++;
        }
        if (i == count) {
            refuse(r, key, NO_INDEX, "there is no such member");
            return;
        }
    }
}

#define ONLY(r, names) only(r, names, sizeof(names) / sizeof(names)[0])

/* The members have the types of the struct, which are as wide as the fields need. */
#define GET(name, member, at, width) out->member = (__typeof__(out->member))get(&f, #name, width);
#define NAME(name, member, at, width) #name,

/* All fields of a table are required, so another number of members means that one is unknown. */
#define END_TABLE(fields)                                                                          \
    do {                                                                                           \
        static const char *const names[] = {fields(NAME)};                                         \
        if (f.status == FACET_OK &&                                                                \
            json_object_size(f.object) != sizeof names / sizeof names[0]) {                        \
            ONLY(&f, names);                                                                       \
        }                                                                                          \
    } while (0)

static void read_children(struct reader *r, struct facet_gfx12_child *child, unsigned count)
{
    const json_t *array = get_list(r, "children", count, count);

    for (unsigned i = 0; i < count && r->status == FACET_OK; i++) {
        struct facet_gfx12_child *out = &child[i];
        struct reader f = enter(r, json_array_get(array, i), "children", i);

        FACET_GFX12_CHILD_FIELDS(GET)
        END_TABLE(FACET_GFX12_CHILD_FIELDS);
        r->status = f.status;
    }
}

static const char *const box_members[] = {"offset", "kind", "fields", "children", "decoded"};

static void read_box(struct reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_box box = {0}, *out = &box;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields", NO_INDEX);

    FACET_GFX12_BOX_FIELDS(GET)
    END_TABLE(FACET_GFX12_BOX_FIELDS);
    r->status = f.status;
    read_children(r, box.child, 8);
    ONLY(r, box_members);
    facet_gfx12_box_encode(&box, bytes);
}

static void read_instance(struct reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_instance instance = {0}, *out = &instance;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields", NO_INDEX);

    FACET_GFX12_INSTANCE_FIELDS(GET)
    END_TABLE(FACET_GFX12_INSTANCE_FIELDS);
    r->status = f.status;
    read_children(r, instance.child, 4);
    ONLY(r, box_members);
    facet_gfx12_instance_encode(&instance, bytes);
}

static void read_pairs(struct reader *r, struct facet_gfx12_prim *p)
{
    unsigned pairs = facet_gfx12_prim_pairs(&p->header);
    const json_t *array = get_list(r, "pairs", pairs, pairs);

    for (unsigned i = 0; i < pairs && r->status == FACET_OK; i++) {
        struct facet_gfx12_pair_desc *out = &p->pair[i];
        struct reader f = enter(r, json_array_get(array, i), "pairs", i);

        FACET_GFX12_PAIR_DESC_FIELDS(GET)
        END_TABLE(FACET_GFX12_PAIR_DESC_FIELDS);
        r->status = f.status;
    }
}

/* Compressed vertices: as wide as the header says. */
static void read_vertices(struct reader *r, struct facet_gfx12_prim *p)
{
    unsigned prefix[3], payload[3];

    for (unsigned k = 0; k < 3; k++) {
        prefix[k] = facet_gfx12_prim_prefix_bits(&p->header, k);
        payload[k] = p->header.vertex_bits_minus_one[k] + 1u;
    }
    (void)get_words(r, "prefix", p->prefix, get_list(r, "prefix", 3, 3), prefix, 3);
    p->vertex_count =
        (uint8_t)(get_words(
                      r, "payload", &p->payload[0][0], get_list(r, "payload", 48, 3), payload, 3) /
                  3);
}

static void read_indices(struct reader *r, struct facet_gfx12_prim *p)
{
    const struct facet_gfx12_prim_header *h = &p->header;
    const unsigned slots = 2 * facet_gfx12_prim_pairs(h) - 1;

    p->geometry_base = (uint32_t)get(r, "geometry_base", 2u * h->geometry_index_base_bits_div_2);
    get_exactly(
        r, "geometry_payload", p->geometry_payload + 1, slots, 2u * h->geometry_index_bits_div_2);
    p->primitive_base = (uint32_t)get(r, "primitive_base", h->primitive_index_base_bits);
    get_exactly(r, "primitive_payload", p->primitive_payload + 1, slots, h->primitive_index_bits);
}

static void read_prim(struct reader *r, uint8_t bytes[128])
{
    static const char *const members[] = {"offset",
                                          "kind",
                                          "fields",
                                          "prefix",
                                          "payload",
                                          "geometry_base",
                                          "geometry_payload",
                                          "primitive_base",
                                          "primitive_payload",
                                          "aabb",
                                          "pairs",
                                          "free_bits",
                                          "decoded"};
    struct facet_gfx12_prim p = {0};
    struct facet_gfx12_prim_header *out = &p.header;
    struct reader f = enter(r, json_object_get(r->object, "fields"), "fields", NO_INDEX);

    FACET_GFX12_PRIM_HEADER_FIELDS(GET)
    END_TABLE(FACET_GFX12_PRIM_HEADER_FIELDS);
    r->status = f.status;
    read_vertices(r, &p);
    read_indices(r, &p);
    if (json_object_get(r->object, "aabb") != NULL) {
        get_exactly(r, "aabb", p.aabb, 6, 32);
    }
    read_pairs(r, &p);
    if (json_object_get(r->object, "free_bits") != NULL) {
        get_exactly(r, "free_bits", p.free_bits, 32, 32);
    }
    ONLY(r, members);
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
    const char *text = get_string(r, key);
    char what[64];

    (void)snprintf(what, sizeof what, "expected %zu hexadecimal digits", 2 * size);
    for (size_t i = 0; i < 2 * size && r->status == FACET_OK; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0 || (i + 1 == 2 * size && text[i + 1] != '\0')) {
            refuse(r, key, NO_INDEX, what);
            return;
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    if (size == 0 && r->status == FACET_OK && text[0] != '\0') {
        refuse(r, key, NO_INDEX, "expected an empty string");
    }
}

static void read_raw(struct reader *r, uint8_t bytes[128])
{
    static const char *const members[] = {"offset", "kind", "data"};

    read_hex(r, "data", bytes, FACET_GFX12_NODE_BYTES);
    ONLY(r, members);
}

static enum facet_status read_node(const json_t *object,
                                   size_t index,
                                   uint8_t *image,
                                   uint64_t nodes,
                                   uint8_t *seen,
                                   struct facet_error *err)
{
    const struct reader file = {.err = err};
    struct reader r = enter(&file, object, "nodes", index);
    uint8_t bytes[FACET_GFX12_NODE_BYTES] = {0};
    const uint64_t offset = get(&r, "offset", 64);
    const uint64_t node = offset / FACET_GFX12_NODE_BYTES;
    const char *kind = get_string(&r, "kind");

    if (r.status != FACET_OK) {
        return r.status;
    }
    if (offset % FACET_GFX12_NODE_BYTES != 0 || node >= nodes || seen[node] != 0) {
        refuse(&r, "offset", NO_INDEX, "expected a multiple of 128 inside the image, named once");
    } else if (strcmp(kind, "box") == 0) {
        read_box(&r, bytes);
    } else if (strcmp(kind, "instance") == 0) {
        read_instance(&r, bytes);
    } else if (strcmp(kind, "primitive") == 0) {
        read_prim(&r, bytes);
    } else if (strcmp(kind, "raw") == 0) {
        read_raw(&r, bytes);
    } else {
        char what[96];

        (void)snprintf(
            what, sizeof what, "expected box, primitive, instance or raw, got \"%.32s\"", kind);
        refuse(&r, "kind", NO_INDEX, what);
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
    static const char *const members[] = {
        "format", "version", "base", "root", "size", "nodes", "tail"};
    struct reader r = {.err = err};
    const char *format;
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
    format = get_string(&r, "format");
    version = get(&r, "version", 32);
    out->size = get(&r, "size", 64);
    /* Where the image lay is for the reader of the dump; the image itself does not say. */
    (void)(json_object_get(*head, "base") != NULL ? get(&r, "base", 48) : 0);
    (void)(json_object_get(*head, "root") != NULL ? get(&r, "root", 32) : 0);
    ONLY(&r, members);
    if (r.status != FACET_OK) {
        return facet_fail_in(err, s->name);
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
    size_t counted = s->at, index = 0;

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
            status = read_node(object, index++, image, nodes, seen, err);
            json_decref(object);
        }
        if (status != FACET_OK) {
            char where[32];

            (void)snprintf(where, sizeof where, "line %llu", (unsigned long long)line);
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
        struct reader r = {.object = head, .err = err};
        size_t rest = (size_t)(out->size % FACET_GFX12_NODE_BYTES);

        if (rest != 0 || json_object_get(head, "tail") != NULL) {
            read_hex(&r, "tail", out->bytes + (out->size - rest), rest);
        }
        status = r.status == FACET_OK ? FACET_OK : facet_fail_in(err, name);
    }
    json_decref(head);
    free(seen);
    if (status != FACET_OK) {
        free(out->bytes);
        *out = (struct facet_gfx12_image){NULL, 0};
    }
    return status;
}
