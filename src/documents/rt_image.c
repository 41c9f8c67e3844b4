/* Reading the JSON form of RT images, place by place (json/list.h). */
#include "documents/bvh_images.h"

#include "json/list.h"
#include "json/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (UINT64_C(1) << 36)
enum { LOOK_AT = 256, MOST_OTHER = 64 };

bool facet_doc_rtbvh_json_is(const char *text, size_t size)
{
    static const char word[] = "\"format\"";
    char head[LOOK_AT];
    const char *at;

    (void)snprintf(head, sizeof head, "%.*s", (int)(size < LOOK_AT ? size : LOOK_AT - 1), text);
    at = strstr(head, word);
    if (at == NULL) {
        return false;
    }
    at += sizeof word - 1;
    at += strspn(at, " \t\r\n:");
    return strncmp(at, "\"xphmg", 6) == 0;
}

/* ---- the header ---- */

static struct facet_rtbvh_section read_section(struct facet_json_reader *r, const char *name)
{
    static const char *const members[] = {"offset", "size"};
    struct facet_json_reader in =
        facet_reader_enter(r, json_object_get(r->object, name), name, FACET_READER_NO_INDEX);
    struct facet_rtbvh_section section = {facet_reader_get(&in, "offset", 64),
                                          facet_reader_get(&in, "size", 64)};

    FACET_READER_ONLY(&in, members);
    r->status = in.status;
    return section;
}

static unsigned read_children(struct facet_json_reader *r)
{
    const char *format = facet_reader_string(r, "format");

    if (r->status == FACET_OK && strcmp(format, "xphmg4") != 0 && strcmp(format, "xphmg8") != 0) {
        facet_reader_refuse(r, "format", FACET_READER_NO_INDEX, "expected xphmg4 or xphmg8");
    }
    return format[0] != '\0' && format[5] == '8' ? 8 : 4;
}

/* The header and the size of the file. */
static enum facet_status read_head(const json_t *object,
                                   struct facet_rtbvh_header *h,
                                   uint64_t *size,
                                   struct facet_error *err)
{
    static const char *const members[] = {"format",
                                          "version",
                                          "element",
                                          "mode",
                                          "alt",
                                          "tile_bytes",
                                          "root",
                                          "nodes",
                                          "leaves",
                                          "triangles",
                                          "growth",
                                          "size",
                                          "heap",
                                          "triangle_buffer",
                                          "origins",
                                          "places",
                                          "other"};
    struct facet_json_reader r = {.object = object, .err = err};
    uint32_t growth;

    *h = (struct facet_rtbvh_header){.children = read_children(&r)};
    if (facet_reader_get(&r, "version", 32) != FACET_RTBVH_VERSION && r.status == FACET_OK) {
        facet_reader_refuse(&r, "version", FACET_READER_NO_INDEX, "expected 1");
    }
    h->mode = facet_reader_get(&r, "mode", 64);
    h->alt = facet_reader_get(&r, "alt", 64);
    h->root = (uint32_t)facet_reader_get(&r, "root", 32);
    h->nodes = (uint32_t)facet_reader_get(&r, "nodes", 32);
    h->leaves = (uint32_t)facet_reader_get(&r, "leaves", 32);
    h->triangle_count = (uint32_t)facet_reader_get(&r, "triangles", 32);
    growth = (uint32_t)facet_reader_get(&r, "growth", 32);
    memcpy(&h->pad, &growth, sizeof growth);
    *size = facet_reader_get(&r, "size", 64);
    h->heap = read_section(&r, "heap");
    h->triangles = read_section(&r, "triangle_buffer");
    h->origins = read_section(&r, "origins");
    FACET_READER_ONLY(&r, members);
    if (r.status == FACET_OK && (*size > MAX_SIZE || *size < FACET_RTBVH_HEADER)) {
        facet_reader_refuse(&r, "size", FACET_READER_NO_INDEX, "expected 128 bytes to 64 GiB");
    }
    return r.status;
}

/* ---- places ---- */

static void read_child(const struct facet_rtbvh_view *view,
                       struct facet_json_reader *r,
                       uint64_t at,
                       unsigned c,
                       uint8_t *bytes)
{
    static const char *const codes[] = {"empty", "node", "leaf", "reserved"};
    static const char *const members[] = {"type", "index", "elements", "min", "max"};
    const char *type = facet_reader_string(r, "type");
    unsigned index_bits = c % FACET_RT_TILE_CHILDREN == 3 ? 24 : 32;
    struct facet_rtbvh_child child = {0};

    while (child.code < 4 && strcmp(type, codes[child.code]) != 0) {
        child.code++;
    }
    if (r->status == FACET_OK && child.code == 4) {
        facet_reader_refuse(
            r, "type", FACET_READER_NO_INDEX, "expected empty, node, leaf or reserved");
        return;
    }
    child.type = facet_rt_child_type(child.code, 0);
    if (child.type != FACET_RT_EMPTY || json_object_get(r->object, "index") != NULL) {
        child.index = (uint32_t)facet_reader_get(r, "index", index_bits);
    }
    if (child.type != FACET_RT_EMPTY) {
        facet_reader_exactly(r,
                             "elements",
                             child.elements,
                             FACET_RT_BOX_ELEMENTS,
                             facet_format_width(view->eff.elem));
    }
    FACET_READER_ONLY(r, members);
    if (r->status == FACET_OK) {
        facet_rtbvh_put_child(view, at, c, &child, bytes);
    }
}

static void read_node(const struct facet_rtbvh_view *view,
                      struct facet_json_reader *r,
                      uint64_t at,
                      uint8_t *bytes)
{
    static const char *const members[] = {"offset", "kind", "index", "children"};
    unsigned count = view->header.children;
    const json_t *list = facet_reader_list(r, "children", count, count);

    for (unsigned c = 0; c < count && r->status == FACET_OK; c++) {
        struct facet_json_reader in = facet_reader_enter(r, json_array_get(list, c), "children", c);

        read_child(view, &in, at, c, bytes);
        r->status = in.status;
    }
    FACET_READER_ONLY(r, members);
}

static void
read_triangle(const struct facet_rtbvh_view *view, struct facet_json_reader *r, uint8_t *bytes)
{
    static const char *const members[] = {"index", "instance", "primitive", "elements", "corners"};
    uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS] = {0};
    uint32_t k = (uint32_t)facet_reader_get(r, "index", 32);
    uint32_t origin[2] = {(uint32_t)facet_reader_get(r, "instance", 32),
                          (uint32_t)facet_reader_get(r, "primitive", 32)};

    facet_reader_exactly(
        r, "elements", elements, FACET_RT_TRIANGLE_ELEMENTS, facet_format_width(view->eff.elem));
    FACET_READER_ONLY(r, members);
    if (r->status == FACET_OK && k >= view->header.triangle_count) {
        facet_reader_refuse(
            r, "index", FACET_READER_NO_INDEX, "expected one of the triangles of the image");
    }
    if (r->status == FACET_OK) {
        facet_rtbvh_put_triangle(view, k, elements, origin, bytes);
    }
}

static void read_leaf(const struct facet_rtbvh_view *view,
                      struct facet_json_reader *r,
                      uint64_t at,
                      uint8_t *bytes)
{
    static const char *const members[] = {
        "offset", "kind", "index", "first", "count", "base", "triangles"};
    struct facet_rt_range range = {(uint32_t)facet_reader_get(r, "first", 32),
                                   (uint32_t)facet_reader_get(r, "count", 32),
                                   facet_reader_get(r, "base", 64)};
    const json_t *list = facet_reader_list(r, "triangles", UINT32_MAX, 1);

    for (size_t i = 0; r->status == FACET_OK && i < json_array_size(list); i++) {
        struct facet_json_reader in =
            facet_reader_enter(r, json_array_get(list, i), "triangles", i);

        read_triangle(view, &in, bytes);
        r->status = in.status;
    }
    FACET_READER_ONLY(r, members);
    if (r->status == FACET_OK) {
        facet_rtbvh_put_range(view, at, &range, bytes);
    }
}

static enum facet_status read_place(const struct facet_rtbvh_view *view,
                                    const json_t *object,
                                    size_t index,
                                    uint8_t *bytes,
                                    struct facet_error *err)
{
    const struct facet_json_reader file = {.err = err};
    struct facet_json_reader r = facet_reader_enter(&file, object, "places", index);
    uint64_t at = facet_reader_get(&r, "offset", 64) - view->header.heap.offset;
    const char *kind = facet_reader_string(&r, "kind");
    bool leaf = strcmp(kind, "leaf") == 0;
    uint64_t step = leaf ? FACET_RT_RANGE_BYTES : view->tile_bytes;
    uint64_t size = leaf ? step : facet_rtbvh_node_bytes(view);

    if (r.status == FACET_OK && !leaf && strcmp(kind, "node") != 0) {
        facet_reader_refuse(&r, "kind", FACET_READER_NO_INDEX, "expected node or leaf");
    }
    if (r.status == FACET_OK &&
        (at % step != 0 || at > view->header.heap.size || size > view->header.heap.size - at)) {
        facet_reader_refuse(&r,
                            "offset",
                            FACET_READER_NO_INDEX,
                            leaf ? "expected a multiple of 16 bytes inside the heap"
                                 : "expected a multiple of the tile size inside the heap");
    }
    if (r.status == FACET_OK) {
        (leaf ? read_leaf : read_node)(view, &r, at, bytes);
    }
    return r.status;
}

static enum facet_status read_places(const struct facet_rtbvh_view *view,
                                     struct facet_json_list *list,
                                     uint8_t *bytes,
                                     struct facet_error *err)
{
    for (;;) {
        json_t *object;
        enum facet_status status = facet_json_list_next(list, &object, err);

        if (status != FACET_OK || object == NULL) {
            return status;
        }
        status = read_place(view, object, list->index - 1, bytes, err);
        json_decref(object);
        if (status != FACET_OK) {
            facet_json_list_fail(list, err);
            return status;
        }
    }
}

/* The bytes that nothing else gives. */
static enum facet_status
read_other(const json_t *head, uint8_t *bytes, uint64_t size, struct facet_error *err)
{
    static const char *const members[] = {"offset", "bytes"};
    struct facet_json_reader r = {.object = head, .err = err};
    const json_t *list = facet_reader_list(&r, "other", SIZE_MAX, 1);

    for (size_t i = 0; r.status == FACET_OK && i < json_array_size(list); i++) {
        struct facet_json_reader in = facet_reader_enter(&r, json_array_get(list, i), "other", i);
        uint64_t offset = facet_reader_get(&in, "offset", 64);
        size_t count = strlen(facet_reader_string(&in, "bytes")) / 2;
        uint8_t piece[MOST_OTHER] = {0};

        if (in.status == FACET_OK && count > MOST_OTHER) {
            facet_reader_refuse(&in, "bytes", FACET_READER_NO_INDEX, "expected up to 64 bytes");
        } else if (in.status == FACET_OK && (offset > size || count > size - offset)) {
            facet_reader_refuse(
                &in, "offset", FACET_READER_NO_INDEX, "expected bytes inside the file");
        }
        facet_reader_hex(&in, "bytes", piece, count);
        FACET_READER_ONLY(&in, members);
        if (in.status == FACET_OK) {
            memcpy(bytes + offset, piece, count);
        }
        r.status = in.status;
    }
    return r.status;
}

enum facet_status facet_doc_rtbvh_json_read(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_rtbvh_image *out,
                                            struct facet_error *err)
{
    struct facet_rtbvh_header header;
    struct facet_rtbvh_view view;
    struct facet_json_list list;
    json_t *head = NULL;
    bool named = true; /* the complaint names the file */
    enum facet_status status = facet_json_list_open(name, text, size, "places", &list, &head, err);

    *out = (struct facet_rtbvh_image){NULL, 0};
    if (status == FACET_OK) {
        status = read_head(head, &header, &out->size, err);
        named = false;
    }
    if (status == FACET_OK) {
        out->bytes = calloc(1, (size_t)out->size);
        status =
            out->bytes != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    if (status == FACET_OK) {
        facet_rtbvh_header_write(&header, out->bytes);
        status = facet_rtbvh_open(out->bytes, out->size, &view, err);
    }
    if (status == FACET_OK) {
        status = read_places(&view, &list, out->bytes, err);
    }
    if (status == FACET_OK) {
        status = read_other(head, out->bytes, out->size, err);
    }
    json_decref(head);
    if (status != FACET_OK) {
        free(out->bytes);
        *out = (struct facet_rtbvh_image){NULL, 0};
        if (!named) {
            facet_fail_in(err, name);
        }
        return status;
    }
    return FACET_OK;
}
