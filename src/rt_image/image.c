/* See image.h. */
#include "rt_image/image.h"

#include "base/bits.h"
#include "base/float.h"
#include "num/f32.h"

#include <string.h>

/* Offsets of the header's fields (docs/rt-images.md). */
enum {
    AT_VERSION = 8,
    AT_HEADER = 12,
    AT_CHILDREN = 16,
    AT_ZERO = 20,
    AT_MODE = 24,
    AT_ALT = 32,
    AT_HEAP = 40,
    AT_TRIANGLES = 56,
    AT_ORIGINS = 72,
    AT_ROOT = 88,
    AT_NODES = 92,
    AT_LEAVES = 96,
    AT_COUNT = 100,
    AT_PAD = 104,
    AT_REST = 108,
};

struct facet_eff facet_rtbvh_eff(uint64_t mode, uint64_t alt)
{
    return facet_eff_compose(mode, alt, FACET_ALT_ALL);
}

bool facet_rtbvh_is(const uint8_t *bytes, uint64_t size)
{
    return size >= 8 && memcmp(bytes, FACET_RTBVH_MAGIC, 8) == 0;
}

static void section_write(const struct facet_rtbvh_section *s, uint8_t *out)
{
    facet_store_le64(out, s->offset);
    facet_store_le64(out + 8, s->size);
}

static struct facet_rtbvh_section section_read(const uint8_t *in)
{
    return (struct facet_rtbvh_section){facet_load_le64(in), facet_load_le64(in + 8)};
}

void facet_rtbvh_header_write(const struct facet_rtbvh_header *h, uint8_t out[FACET_RTBVH_HEADER])
{
    memset(out, 0, FACET_RTBVH_HEADER);
    memcpy(out, FACET_RTBVH_MAGIC, 8);
    facet_store_le32(out + AT_VERSION, FACET_RTBVH_VERSION);
    facet_store_le32(out + AT_HEADER, FACET_RTBVH_HEADER);
    facet_store_le32(out + AT_CHILDREN, h->children);
    facet_store_le64(out + AT_MODE, h->mode);
    facet_store_le64(out + AT_ALT, h->alt);
    section_write(&h->heap, out + AT_HEAP);
    section_write(&h->triangles, out + AT_TRIANGLES);
    section_write(&h->origins, out + AT_ORIGINS);
    facet_store_le32(out + AT_ROOT, h->root);
    facet_store_le32(out + AT_NODES, h->nodes);
    facet_store_le32(out + AT_LEAVES, h->leaves);
    facet_store_le32(out + AT_COUNT, h->triangle_count);
    facet_store_le32(out + AT_PAD, facet_float_bits(h->pad));
}

/* ---- opening ---- */

static enum facet_status
bad(struct facet_error *err, uint64_t at, const char *what, uint64_t found, const char *expected)
{
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      at,
                      "offset 0x%llx: %s is 0x%llx, expected %s",
                      (unsigned long long)at,
                      what,
                      (unsigned long long)found,
                      expected);
}

static enum facet_status check_numbers(struct facet_rtbvh_view *view, struct facet_error *err)
{
    const struct facet_rtbvh_header *h = &view->header;
    bool unsup = false;

    if (facet_prec_legal_mode(h->mode, &unsup) != h->mode || unsup) {
        return bad(err, AT_MODE, "MODE", h->mode, "a legal image of CAP.PREC.MODE without APPLY");
    }
    if (facet_prec_legal_alt(h->alt, &unsup) != h->alt || unsup) {
        return bad(err, AT_ALT, "ALT", h->alt, "a legal image of CAP.PREC.ALT without APPLY");
    }
    view->eff = facet_rtbvh_eff(h->mode, h->alt);
    if (view->eff.unsup) {
        return bad(err, AT_MODE, "MODE", h->mode, "a supported format together with ALT");
    }
    if (view->eff.q && view->eff.zp_en == 2) { /* the zero points would be outside the file */
        return bad(err, AT_MODE, "MODE", h->mode, "ZP_EN 0 or 1");
    }
    view->container = facet_container_of(&view->eff);
    view->numbers = facet_rt_numbers_of(&view->eff, NULL);
    view->tile_bytes = facet_rt_tile_bytes(&view->container);
    return FACET_OK;
}

static enum facet_status check_sections(const struct facet_rtbvh_view *view,
                                        struct facet_error *err)
{
    const struct facet_rtbvh_header *h = &view->header;
    const struct facet_rtbvh_section *s[3] = {&h->heap, &h->triangles, &h->origins};
    uint64_t end = FACET_RTBVH_HEADER;

    for (int i = 0; i < 3; i++) {
        uint64_t at = AT_HEAP + 16 * (uint64_t)i;

        if (s[i]->offset % FACET_RTBVH_ALIGN != 0) {
            return bad(err, at, "a section offset", s[i]->offset, "a multiple of 64");
        }
        if (s[i]->offset < end || s[i]->offset > view->size) {
            return bad(err,
                       at,
                       "a section offset",
                       s[i]->offset,
                       "one inside the file, after the section before it");
        }
        if (s[i]->size > view->size - s[i]->offset) {
            return bad(err, at + 8, "a section size", s[i]->size, "one that ends inside the file");
        }
        end = s[i]->offset + s[i]->size;
    }
    if (h->triangles.size != facet_rtbvh_triangle_bytes(&view->container, h->triangle_count)) {
        return bad(err,
                   AT_TRIANGLES + 8,
                   "the size of the triangles",
                   h->triangles.size,
                   "nine elements for each of their number");
    }
    if (h->origins.size != (uint64_t)FACET_RTBVH_ORIGIN * h->triangle_count) {
        return bad(err,
                   AT_ORIGINS + 8,
                   "the size of the origins",
                   h->origins.size,
                   "eight bytes for each triangle");
    }
    return FACET_OK;
}

enum facet_status facet_rtbvh_open(const uint8_t *bytes,
                                   uint64_t size,
                                   struct facet_rtbvh_view *out,
                                   struct facet_error *err)
{
    struct facet_rtbvh_header *h = &out->header;
    enum facet_status status;

    *out = (struct facet_rtbvh_view){.bytes = bytes, .size = size};
    if (size < FACET_RTBVH_HEADER) {
        return bad(err, 0, "the size of the file", size, "at least 0x80, the header");
    }
    if (!facet_rtbvh_is(bytes, size)) {
        return bad(err, 0, "the magic", facet_load_le64(bytes), FACET_RTBVH_MAGIC);
    }
    if (facet_load_le32(bytes + AT_VERSION) != FACET_RTBVH_VERSION) {
        return bad(err, AT_VERSION, "the version", facet_load_le32(bytes + AT_VERSION), "1");
    }
    if (facet_load_le32(bytes + AT_HEADER) != FACET_RTBVH_HEADER) {
        return bad(err, AT_HEADER, "the header size", facet_load_le32(bytes + AT_HEADER), "0x80");
    }
    *h = (struct facet_rtbvh_header){
        .children = facet_load_le32(bytes + AT_CHILDREN),
        .mode = facet_load_le64(bytes + AT_MODE),
        .alt = facet_load_le64(bytes + AT_ALT),
        .heap = section_read(bytes + AT_HEAP),
        .triangles = section_read(bytes + AT_TRIANGLES),
        .origins = section_read(bytes + AT_ORIGINS),
        .root = facet_load_le32(bytes + AT_ROOT),
        .nodes = facet_load_le32(bytes + AT_NODES),
        .leaves = facet_load_le32(bytes + AT_LEAVES),
        .triangle_count = facet_load_le32(bytes + AT_COUNT),
        .pad = facet_float_of(facet_load_le32(bytes + AT_PAD)),
    };
    if (h->children != 4 && h->children != 8) {
        return bad(err, AT_CHILDREN, "the number of children", h->children, "4 or 8");
    }
    if (facet_load_le32(bytes + AT_ZERO) != 0) {
        return bad(err, AT_ZERO, "a reserved word", facet_load_le32(bytes + AT_ZERO), "0");
    }
    for (uint64_t at = AT_REST; at < FACET_RTBVH_HEADER; at += 4) {
        if (facet_load_le32(bytes + at) != 0) {
            return bad(err, at, "a reserved word", facet_load_le32(bytes + at), "0");
        }
    }
    if (!(h->pad >= 0.0f) || facet_float_bits(h->pad) >= 0x7F800000) {
        return bad(
            err, AT_PAD, "the growth", facet_float_bits(h->pad), "a finite number, not negative");
    }
    status = check_numbers(out, err);
    return status == FACET_OK ? check_sections(out, err) : status;
}

/* ---- reading ---- */

static uint32_t element(const struct facet_container *c, const uint8_t *array, uint64_t i)
{
    uint64_t container = facet_load_le(array + facet_container_offset(c, i), c->bytes);

    return facet_container_get(c, container, facet_container_slot(c, i));
}

struct facet_rtbvh_child
facet_rtbvh_child(const struct facet_rtbvh_view *view, uint64_t at, unsigned c)
{
    const uint8_t *tile = view->bytes + view->header.heap.offset + at +
                          (c / FACET_RT_TILE_CHILDREN) * view->tile_bytes;
    unsigned slot = c % FACET_RT_TILE_CHILDREN, flags = 0;
    uint32_t word = facet_load_le32(tile + facet_rt_tile_word(&view->container, 3));
    struct facet_rtbvh_child child = {.code = word >> (2 * slot) & 3,
                                      .type = facet_rt_child_type(word, slot)};
    struct facet_rt_box box;

    child.index = slot == 3 ? facet_rt_child3_index(word)
                            : facet_load_le32(tile + facet_rt_tile_word(&view->container, slot));
    for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS; f++) {
        child.elements[f] =
            element(&view->container, tile, (uint64_t)FACET_RT_BOX_ELEMENTS * slot + f);
    }
    child.nan = facet_rt_box_widen(&view->numbers, child.elements, &box, &flags);
    for (int a = 0; a < 3; a++) {
        child.min[a] = facet_float_of(box.min[a]);
        child.max[a] = facet_float_of(box.max[a]);
    }
    return child;
}

struct facet_rt_range facet_rtbvh_range(const struct facet_rtbvh_view *view, uint64_t at)
{
    const uint8_t *p = view->bytes + view->header.heap.offset + at;

    return (struct facet_rt_range){
        facet_load_le32(p), facet_load_le32(p + 4), facet_load_le64(p + 8)};
}

void facet_rtbvh_vertices(const struct facet_rtbvh_view *view,
                          uint32_t k,
                          uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS])
{
    const uint8_t *buffer = view->bytes + view->header.triangles.offset;

    for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
        elements[i] =
            element(&view->container, buffer, (uint64_t)FACET_RT_TRIANGLE_ELEMENTS * k + i);
    }
}

bool facet_rtbvh_triangle(const struct facet_rtbvh_view *view, uint32_t k, float corner[3][3])
{
    uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
    struct facet_rt_triangle triangle;
    unsigned flags = 0;
    bool nan;

    facet_rtbvh_vertices(view, k, elements);
    nan = facet_rt_triangle_widen(&view->numbers, elements, &triangle, &flags);
    for (int j = 0; j < 3; j++) {
        for (int a = 0; a < 3; a++) {
            corner[j][a] = facet_float_of(triangle.v[j][a]);
        }
    }
    return nan;
}

uint32_t facet_rtbvh_origin(const struct facet_rtbvh_view *view, uint32_t k, unsigned word)
{
    return facet_load_le32(view->bytes + view->header.origins.offset +
                           (uint64_t)FACET_RTBVH_ORIGIN * k + 4 * (size_t)word);
}

/* ---- writing ---- */

static void put_element(const struct facet_container *c, uint8_t *array, uint64_t i, uint32_t code)
{
    uint8_t *at = array + facet_container_offset(c, i);
    uint64_t container = facet_load_le(at, c->bytes);

    facet_store_le(
        at, c->bytes, facet_container_put(c, container, facet_container_slot(c, i), code));
}

void facet_rtbvh_put_child(const struct facet_rtbvh_view *view,
                           uint64_t at,
                           unsigned c,
                           const struct facet_rtbvh_child *child,
                           uint8_t *bytes)
{
    uint8_t *tile =
        bytes + view->header.heap.offset + at + (c / FACET_RT_TILE_CHILDREN) * view->tile_bytes;
    unsigned slot = c % FACET_RT_TILE_CHILDREN;
    uint8_t *flags = tile + facet_rt_tile_word(&view->container, 3);
    uint32_t word = facet_load_le32(flags);

    word = (word & ~(3u << (2 * slot))) | (child->code & 3) << (2 * slot);
    if (slot == 3) {
        word = (word & 0xFF) | child->index << 8;
    } else {
        facet_store_le32(tile + facet_rt_tile_word(&view->container, slot), child->index);
    }
    facet_store_le32(flags, word);
    for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS && child->type != FACET_RT_EMPTY; f++) {
        put_element(
            &view->container, tile, (uint64_t)FACET_RT_BOX_ELEMENTS * slot + f, child->elements[f]);
    }
}

void facet_rtbvh_put_range(const struct facet_rtbvh_view *view,
                           uint64_t at,
                           const struct facet_rt_range *range,
                           uint8_t *bytes)
{
    uint8_t *p = bytes + view->header.heap.offset + at;

    facet_store_le32(p, range->first);
    facet_store_le32(p + 4, range->count);
    facet_store_le64(p + 8, range->base);
}

void facet_rtbvh_put_triangle(const struct facet_rtbvh_view *view,
                              uint32_t k,
                              const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                              const uint32_t origin[2],
                              uint8_t *bytes)
{
    uint8_t *from = bytes + view->header.origins.offset + (uint64_t)FACET_RTBVH_ORIGIN * k;

    for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
        put_element(&view->container,
                    bytes + view->header.triangles.offset,
                    (uint64_t)FACET_RT_TRIANGLE_ELEMENTS * k + i,
                    elements[i]);
    }
    facet_store_le32(from, origin[0]);
    facet_store_le32(from + 4, origin[1]);
}
