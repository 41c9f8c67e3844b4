/* Reading the JSON form, node by node (json/list.h). */
#include "documents/bvh_images.h"

#include "gfx12/image/node.h"
#include "json/list.h"
#include "json/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (UINT64_C(1) << 36)

/* ---- nodes ---- */

/* The members have the types of the struct, which are as wide as the fields need. */
#define GET(name, member, at, width)                                                               \
    out->member = (__typeof__(out->member))facet_reader_get(&f, #name, width);
#define NAME(name, member, at, width) #name,

/* All fields of a table are required, so another number of members means that one is unknown. */
#define END_TABLE(fields)                                                                          \
    do {                                                                                           \
        static const char *const names[] = {fields(NAME)};                                         \
        if (f.status == FACET_OK &&                                                                \
            json_object_size(f.object) != sizeof names / sizeof names[0]) {                        \
            FACET_READER_ONLY(&f, names);                                                          \
        }                                                                                          \
    } while (0)

static void
read_children(struct facet_json_reader *r, struct facet_gfx12_child *child, unsigned count)
{
    const json_t *array = facet_reader_list(r, "children", count, count);

    for (unsigned i = 0; i < count && r->status == FACET_OK; i++) {
        struct facet_gfx12_child *out = &child[i];
        struct facet_json_reader f = facet_reader_enter(r, json_array_get(array, i), "children", i);

        FACET_GFX12_CHILD_FIELDS(GET)
        END_TABLE(FACET_GFX12_CHILD_FIELDS);
        r->status = f.status;
    }
}

static const char *const box_members[] = {
    "offset", "address", "kind", "fields", "children", "decoded"};

static void read_box(struct facet_json_reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_box box = {0}, *out = &box;
    struct facet_json_reader f = facet_reader_enter(
        r, json_object_get(r->object, "fields"), "fields", FACET_READER_NO_INDEX);

    FACET_GFX12_BOX_FIELDS(GET)
    END_TABLE(FACET_GFX12_BOX_FIELDS);
    r->status = f.status;
    read_children(r, box.child, 8);
    FACET_READER_ONLY(r, box_members);
    facet_gfx12_box_encode(&box, bytes);
}

static void read_instance(struct facet_json_reader *r, uint8_t bytes[128])
{
    struct facet_gfx12_instance instance = {0}, *out = &instance;
    struct facet_json_reader f = facet_reader_enter(
        r, json_object_get(r->object, "fields"), "fields", FACET_READER_NO_INDEX);

    FACET_GFX12_INSTANCE_FIELDS(GET)
    END_TABLE(FACET_GFX12_INSTANCE_FIELDS);
    r->status = f.status;
    read_children(r, instance.child, 4);
    FACET_READER_ONLY(r, box_members);
    facet_gfx12_instance_encode(&instance, bytes);
}

static void read_pairs(struct facet_json_reader *r, struct facet_gfx12_prim *p)
{
    unsigned pairs = facet_gfx12_prim_pairs(&p->header);
    const json_t *array = facet_reader_list(r, "pairs", pairs, pairs);

    for (unsigned i = 0; i < pairs && r->status == FACET_OK; i++) {
        struct facet_gfx12_pair_desc *out = &p->pair[i];
        struct facet_json_reader f = facet_reader_enter(r, json_array_get(array, i), "pairs", i);

        FACET_GFX12_PAIR_DESC_FIELDS(GET)
        END_TABLE(FACET_GFX12_PAIR_DESC_FIELDS);
        r->status = f.status;
    }
}

/* Compressed vertices: as wide as the header says. */
static void read_vertices(struct facet_json_reader *r, struct facet_gfx12_prim *p)
{
    unsigned prefix[3], payload[3];

    for (unsigned k = 0; k < 3; k++) {
        prefix[k] = facet_gfx12_prim_prefix_bits(&p->header, k);
        payload[k] = p->header.vertex_bits_minus_one[k] + 1u;
    }
    (void)facet_reader_words(
        r, "prefix", p->prefix, facet_reader_list(r, "prefix", 3, 3), prefix, 3);
    p->vertex_count = (uint8_t)(facet_reader_words(r,
                                                   "payload",
                                                   &p->payload[0][0],
                                                   facet_reader_list(r, "payload", 48, 3),
                                                   payload,
                                                   3) /
                                3);
}

static void read_indices(struct facet_json_reader *r, struct facet_gfx12_prim *p)
{
    const struct facet_gfx12_prim_header *h = &p->header;
    const unsigned slots = 2 * facet_gfx12_prim_pairs(h) - 1;

    p->geometry_base =
        (uint32_t)facet_reader_get(r, "geometry_base", 2u * h->geometry_index_base_bits_div_2);
    facet_reader_exactly(
        r, "geometry_payload", p->geometry_payload + 1, slots, 2u * h->geometry_index_bits_div_2);
    p->primitive_base =
        (uint32_t)facet_reader_get(r, "primitive_base", h->primitive_index_base_bits);
    facet_reader_exactly(
        r, "primitive_payload", p->primitive_payload + 1, slots, h->primitive_index_bits);
}

static void read_prim(struct facet_json_reader *r, uint8_t bytes[128])
{
    static const char *const members[] = {"offset",
                                          "address",
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
    struct facet_json_reader f = facet_reader_enter(
        r, json_object_get(r->object, "fields"), "fields", FACET_READER_NO_INDEX);

    FACET_GFX12_PRIM_HEADER_FIELDS(GET)
    END_TABLE(FACET_GFX12_PRIM_HEADER_FIELDS);
    r->status = f.status;
    read_vertices(r, &p);
    read_indices(r, &p);
    if (json_object_get(r->object, "aabb") != NULL) {
        facet_reader_exactly(r, "aabb", p.aabb, 6, 32);
    }
    read_pairs(r, &p);
    if (json_object_get(r->object, "aabb") != NULL && !facet_gfx12_prim_has_aabb(&p)) {
        facet_reader_refuse(r,
                            "aabb",
                            FACET_READER_NO_INDEX,
                            "is for procedural primitives whose tri0_v2_index is not 15");
    }
    if (json_object_get(r->object, "free_bits") != NULL) {
        facet_reader_exactly(r, "free_bits", p.free_bits, 32, 32);
    }
    FACET_READER_ONLY(r, members);
    facet_gfx12_prim_encode(&p, bytes);
}

/* 128 bytes, or the 64 before a node that starts there; returns how many. */
static size_t read_raw(struct facet_json_reader *r, uint8_t bytes[128])
{
    static const char *const members[] = {"offset", "address", "kind", "data"};
    const char *data = facet_reader_string(r, "data");
    size_t size = data != NULL && strlen(data) == 2 * FACET_GFX12_UNIT_BYTES
                      ? FACET_GFX12_UNIT_BYTES
                      : FACET_GFX12_NODE_BYTES;

    facet_reader_hex(r, "data", bytes, size);
    FACET_READER_ONLY(r, members);
    return size;
}

static enum facet_status read_node(const json_t *object,
                                   size_t index,
                                   uint8_t *image,
                                   uint64_t units,
                                   uint8_t *seen,
                                   struct facet_error *err)
{
    const struct facet_json_reader file = {.err = err};
    struct facet_json_reader r = facet_reader_enter(&file, object, "nodes", index);
    uint8_t bytes[FACET_GFX12_NODE_BYTES] = {0};
    const uint64_t offset = facet_reader_get(&r, "offset", 64);
    const uint64_t unit = offset / FACET_GFX12_UNIT_BYTES;
    const char *kind = facet_reader_string(&r, "kind");
    size_t size = sizeof bytes;

    if (r.status != FACET_OK) {
        return r.status;
    }
    if (offset % FACET_GFX12_UNIT_BYTES != 0 || unit >= units || seen[unit] != 0) {
        facet_reader_refuse(&r,
                            "offset",
                            FACET_READER_NO_INDEX,
                            "expected a multiple of 64 inside the image, named once");
    } else if (strcmp(kind, "box") == 0) {
        read_box(&r, bytes);
    } else if (strcmp(kind, "instance") == 0) {
        read_instance(&r, bytes);
    } else if (strcmp(kind, "primitive") == 0) {
        read_prim(&r, bytes);
    } else if (strcmp(kind, "raw") == 0) {
        size = read_raw(&r, bytes);
    } else {
        char what[96];

        (void)snprintf(
            what, sizeof what, "expected box, primitive, instance or raw, got \"%.32s\"", kind);
        facet_reader_refuse(&r, "kind", FACET_READER_NO_INDEX, what);
    }
    if (r.status == FACET_OK &&
        (unit + size / FACET_GFX12_UNIT_BYTES > units || seen[unit + size / 128] != 0)) {
        facet_reader_refuse(&r,
                            "offset",
                            FACET_READER_NO_INDEX,
                            "expected a node that ends before the next one and the image");
    }
    if (r.status == FACET_OK) {
        memcpy(image + offset, bytes, size);
        memset(seen + unit, 1, size / FACET_GFX12_UNIT_BYTES);
    }
    return r.status;
}

/* ---- the file ---- */

/* Pieces in the order of their addresses, as a view has them, that end where the bytes do. */
static void read_segments(struct facet_json_reader *r, struct facet_gfx12_view *out)
{
    const json_t *list = json_object_get(r->object, "segments");
    const size_t count = json_array_size(list);
    struct facet_gfx12_segment *segments = calloc(count + 1, sizeof *segments);
    uint64_t end = 0, address = 0;

    out->segments = segments;
    for (size_t i = 0; i < count && r->status == FACET_OK; i++) {
        struct facet_json_reader one =
            facet_reader_enter(r, json_array_get(list, i), "segments", i);
        static const char *const members[] = {"address", "size"};

        if (segments == NULL) {
            r->status = facet_fail(r->err, FACET_ERR_MEMORY, 0, "out of memory");
            return;
        }
        segments[i].address = facet_reader_get(&one, "address", 48);
        segments[i].size = facet_reader_get(&one, "size", 48);
        FACET_READER_ONLY(&one, members);
        segments[i].offset = facet_align_up(end, FACET_GFX12_UNIT_BYTES);
        if (one.status == FACET_OK &&
            (segments[i].size == 0 || segments[i].address % FACET_GFX12_UNIT_BYTES != 0 ||
             segments[i].address < address)) {
            facet_reader_refuse(&one,
                                "address",
                                FACET_READER_NO_INDEX,
                                "expected a multiple of 64 behind the segment before");
        }
        end = segments[i].offset + segments[i].size;
        address = segments[i].address + segments[i].size;
        r->status = one.status;
        out->segment_count++;
    }
    if (r->status == FACET_OK && count != 0 && end != out->size) {
        facet_reader_refuse(
            r, "size", FACET_READER_NO_INDEX, "expected the end of the last segment");
    }
}

/* The members of the outermost object, its nodes apart. */
static enum facet_status read_head(const char *name,
                                   const json_t *head,
                                   struct facet_gfx12_view *out,
                                   struct facet_error *err)
{
    static const char *const members[] = {
        "format", "version", "base", "root", "size", "segments", "part", "nodes", "tail"};
    struct facet_json_reader r = {.object = head, .err = err};
    const char *format = facet_reader_string(&r, "format");
    uint64_t version = facet_reader_get(&r, "version", 32);

    out->size = facet_reader_get(&r, "size", 64);
    out->base = json_object_get(head, "base") != NULL ? facet_reader_get(&r, "base", 48) : 0;
    out->root = json_object_get(head, "root") != NULL ? (uint32_t)facet_reader_get(&r, "root", 32)
                                                      : FACET_GFX12_ROOT;
    FACET_READER_ONLY(&r, members);
    if (r.status == FACET_OK && json_is_true(json_object_get(head, "part"))) {
        facet_reader_refuse(&r,
                            "part",
                            FACET_READER_NO_INDEX,
                            "a part of an image; expected a dump of all its nodes");
    }
    read_segments(&r, out);
    if (r.status != FACET_OK) {
        facet_fail_in(err, name);
        return r.status;
    }
    if (strcmp(format, "facet-gfx12") != 0 || version != 1) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s: format \"%s\" version %llu: expected facet-gfx12 version 1",
                          name,
                          format,
                          (unsigned long long)version);
    }
    if (out->size > MAX_SIZE) {
        return facet_fail(err, FACET_ERR_LIMIT, out->size, "%s: size exceeds 64 GiB", name);
    }
    return FACET_OK;
}

static enum facet_status read_nodes(struct facet_json_list *list,
                                    uint8_t *image,
                                    uint64_t units,
                                    uint8_t *seen,
                                    struct facet_error *err)
{
    for (;;) {
        json_t *object;
        enum facet_status status = facet_json_list_next(list, &object, err);

        if (status != FACET_OK || object == NULL) {
            return status;
        }
        status = read_node(object, list->index - 1, image, units, seen, err);
        json_decref(object);
        if (status != FACET_OK) {
            facet_json_list_fail(list, err);
            return status;
        }
    }
}

static enum facet_status
check_complete(const char *name, const uint8_t *seen, uint64_t units, struct facet_error *err)
{
    for (uint64_t i = 0; i < units; i++) {
        if (!seen[i]) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i * FACET_GFX12_UNIT_BYTES,
                              "%s: no node for offset 0x%llx",
                              name,
                              (unsigned long long)(i * FACET_GFX12_UNIT_BYTES));
        }
    }
    return FACET_OK;
}

enum facet_status facet_doc_gfx12_json_view(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_gfx12_view *out,
                                            struct facet_error *err)
{
    struct facet_json_list list;
    json_t *head = NULL;
    uint8_t *seen = NULL;
    uint64_t units;
    uint8_t *bytes = NULL;
    enum facet_status status;

    *out = (struct facet_gfx12_view){0};
    status = facet_json_list_open(name, text, size, "nodes", &list, &head, err);
    if (status == FACET_OK) {
        status = read_head(name, head, out, err);
    }
    units = out->size / FACET_GFX12_UNIT_BYTES;
    if (status == FACET_OK) {
        out->bytes = bytes = calloc(1, (size_t)out->size + 1);
        seen = calloc(1, (size_t)units + 1);
        if (bytes == NULL || seen == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
        }
    }
    if (status == FACET_OK) {
        status = read_nodes(&list, bytes, units, seen, err);
    }
    if (status == FACET_OK) {
        status = check_complete(name, seen, units, err);
    }
    if (status == FACET_OK) {
        struct facet_json_reader r = {.object = head, .err = err};
        size_t rest = (size_t)(out->size % FACET_GFX12_UNIT_BYTES);

        if (rest != 0 || json_object_get(head, "tail") != NULL) {
            facet_reader_hex(&r, "tail", bytes + (out->size - rest), rest);
        }
        status = r.status;
        if (status != FACET_OK) {
            facet_fail_in(err, name);
        }
    }
    json_decref(head);
    free(seen);
    if (status != FACET_OK) {
        facet_doc_gfx12_view_free(out);
    }
    return status;
}

void facet_doc_gfx12_view_free(struct facet_gfx12_view *view)
{
    free((void *)(uintptr_t)view->bytes);
    free((void *)(uintptr_t)view->segments);
    *view = (struct facet_gfx12_view){0};
}

enum facet_status facet_doc_gfx12_json_read(const char *name,
                                            const char *text,
                                            size_t size,
                                            struct facet_gfx12_image *out,
                                            struct facet_error *err)
{
    struct facet_gfx12_view view;
    enum facet_status status = facet_doc_gfx12_json_view(name, text, size, &view, err);

    *out = (struct facet_gfx12_image){(uint8_t *)(uintptr_t)view.bytes, view.size};
    view.bytes = NULL;
    facet_doc_gfx12_view_free(&view);
    return status;
}
