/* Where an image lies: in one piece or several, with headers of a driver, in a capture; and what
 * structures are in it. */
#include "wasm/page_bvh.h"

#include "gfx12/drivers/capture.h"
#include "gfx12/drivers/sniff.h"
#include "rt_image/image.h"
#include "wasm/zstd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces ---- */

static bool
take_segment(const uint64_t words[3], uint64_t end, uint64_t size, struct facet_gfx12_segment *s)
{
    *s = (struct facet_gfx12_segment){.offset = words[1], .size = words[2]};
    return facet_gfx12_address_take(words[0], &s->address) && s->address >= end &&
           s->address % FACET_GFX12_UNIT_BYTES == 0 &&
           s->size <= (UINT64_C(1) << 48) - s->address && s->offset % FACET_GFX12_UNIT_BYTES == 0 &&
           s->offset <= size && s->size <= size - s->offset;
}

/* In the order of their addresses and their offsets. */
static enum facet_status
take_segments(struct page_bvh *b, const struct page_bvh_place *place, struct facet_error *err)
{
    const uint32_t count = (uint32_t)place->segment_count;
    uint64_t end = 0, offset = 0;

    b->segments = calloc((size_t)count + 1, sizeof *b->segments);
    if (b->segments == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the pieces of the image");
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *words = place->segments + 3 * (size_t)i;
        struct facet_gfx12_segment *s = &b->segments[i];

        if (!take_segment(words, end, b->view.size, s) || s->offset < offset) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i,
                              "a piece of 0x%" PRIx64 " bytes at address 0x%" PRIx64
                              "; expected a multiple of 64 of 48 bits, or one whose upper 16 bits "
                              "repeat bit 47, and no other piece there",
                              words[2],
                              words[0]);
        }
        end = s->address + s->size;
        offset = s->offset + s->size;
    }
    b->view.segments = count != 0 ? b->segments : NULL;
    b->view.segment_count = count;
    return FACET_OK;
}

/* An image in one piece becomes one of a single segment, so that the base can lie inside: where the
 * page says, else where its header does. */
static enum facet_status as_one_segment(struct page_bvh *b,
                                        const struct page_bvh_place *place,
                                        enum facet_gfx12_driver driver,
                                        struct facet_error *err)
{
    uint64_t words[3] = {place->base, 0, b->view.size};
    const struct page_bvh_place one = {.segments = words, .segment_count = 1};

    if (place->base == 0) {
        (void)facet_gfx12_structures_address(driver, b->view.bytes, b->view.size, &words[0]);
    }
    b->view.base = words[0];
    free(b->segments);
    return take_segments(b, &one, err);
}

/* ---- structures ---- */

static enum facet_status
start(struct page_bvh *b, const struct page_bvh_place *place, struct facet_error *err)
{
    if (place->structure >= (int64_t)b->structures.count) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          (uint64_t)place->structure,
                          "structure %" PRIi64 "; expected 0 to %u",
                          place->structure,
                          (unsigned)b->structures.count - 1);
    }
    facet_gfx12_structures_start(&b->structures,
                                 place->structure >= 0
                                     ? (uint32_t)place->structure
                                     : facet_gfx12_structures_first(&b->structures),
                                 &b->view);
    return FACET_OK;
}

static enum facet_status inflate(const uint8_t *file,
                                 struct facet_gfx12_capture_part *parts,
                                 uint32_t count,
                                 struct facet_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct facet_gfx12_capture_part *p = &parts[i];
        const struct facet_gfx12_rdf_chunk *chunk = &p->chunk;

        if (!chunk->compressed) {
            continue;
        }
        p->own = malloc((size_t)chunk->full_bytes + 1);
        if (p->own == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, chunk->data, "no memory for a structure");
        }
        if (!page_zstd_inflate(
                file + chunk->data, (size_t)chunk->data_bytes, p->own, (size_t)chunk->full_bytes)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              chunk->data,
                              "%s at offset %llu is no zstd data of %llu bytes",
                              chunk->name,
                              (unsigned long long)chunk->data,
                              (unsigned long long)chunk->full_bytes);
        }
        p->data = p->own;
        page_progress(i + 1, count);
    }
    return FACET_OK;
}

static enum facet_status open_capture(struct page_bvh *b,
                                      const struct page_bvh_place *place,
                                      struct facet_blob *own,
                                      struct facet_error *err)
{
    struct facet_gfx12_capture capture;

    if (facet_gfx12_capture_open(b->view.bytes, b->view.size, inflate, &capture, err) != FACET_OK) {
        return err->status;
    }
    *own = (struct facet_blob){capture.bytes, (size_t)capture.size};
    b->segments = capture.segments;
    b->structures = capture.structures;
    b->view = (struct facet_gfx12_view){.bytes = own->data,
                                        .size = own->size,
                                        .segments = b->segments,
                                        .segment_count = b->structures.count};
    return start(b, place, err);
}

/* Without a header in the first bytes `auto` leaves an image in one piece as it is. */
static bool stays_plain(const struct page_bvh *b, const struct page_bvh_place *place)
{
    struct facet_gfx12_structure found;
    char reason[FACET_GFX12_REASON];

    return place->driver[0] == '\0' ||
           (strcmp(place->driver, "auto") == 0 && b->view.segment_count == 0 &&
            facet_gfx12_header_find(b->view.bytes, b->view.size, &found, reason) ==
                FACET_GFX12_DRIVER_NONE &&
            reason[0] == '\0');
}

static enum facet_status read_headers(struct page_bvh *b,
                                      const struct page_bvh_place *place,
                                      struct facet_blob *own,
                                      struct facet_error *err)
{
    const enum facet_gfx12_driver driver = facet_gfx12_driver_find(place->driver);
    enum facet_status status = FACET_OK;

    if (driver == FACET_GFX12_DRIVER_NONE && strcmp(place->driver, "auto") != 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "driver '%s'; expected radv, gpurt, hiprt or auto",
                          place->driver);
    }
    if (b->view.segment_count == 0) {
        status = as_one_segment(b, place, driver, err);
    }
    if (status == FACET_OK) { /* nodes of some drivers are translated */
        *own = (struct facet_blob){malloc((size_t)b->view.size + 1), (size_t)b->view.size};
        if (own->data == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the structures");
        }
        memcpy(own->data, b->view.bytes, own->size);
        b->view.bytes = own->data;
        status = facet_gfx12_structures_read(driver, &b->view, own->data, &b->structures, err);
    }
    return status == FACET_OK ? start(b, place, err) : status;
}

/* What has a name and is no image, as the program refuses it. */
static enum facet_status refuse_others(const uint8_t *bytes, size_t size, struct facet_error *err)
{
    const struct facet_gfx12_looks looks = facet_gfx12_looks_like("", bytes, size);

    return looks.what == NULL
               ? FACET_OK
               : facet_fail(err, FACET_ERR_INPUT, 0, "%s; expected a BVH image", looks.what);
}

enum facet_status page_bvh_place(struct page_bvh *b,
                                 const struct page_bvh_place *place,
                                 const uint8_t *image,
                                 size_t size,
                                 struct facet_blob *own,
                                 struct facet_error *err)
{
    enum facet_status status;

    b->view = (struct facet_gfx12_view){.bytes = image, .size = size, .root = FACET_GFX12_ROOT};
    if (!facet_gfx12_address_take(place->base, &b->view.base) ||
        b->view.base % FACET_GFX12_UNIT_BYTES != 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          place->base,
                          "the base is 0x%" PRIx64
                          "; expected a multiple of 64 of 48 bits, or one whose upper 16 bits "
                          "repeat bit 47",
                          place->base);
    }
    if (facet_rtbvh_is(image, size)) {
        return FACET_OK;
    }
    if (facet_gfx12_rdf_is(image, size)) {
        status = open_capture(b, place, own, err);
    } else {
        status = refuse_others(image, size, err);
        if (status == FACET_OK) {
            status = take_segments(b, place, err);
        }
        if (status == FACET_OK && !stays_plain(b, place)) {
            status = read_headers(b, place, own, err);
        }
    }
    if (place->root != 0) {
        b->view.root = place->root;
    }
    return status == FACET_OK ? facet_gfx12_view_check_root(&b->view, err) : status;
}

/* ---- the list ---- */

static void put_count(struct facet_record *r, const char *key, uint64_t count)
{
    if (count == FACET_GFX12_UNKNOWN) {
        facet_record_word(r, key, NULL);
    } else {
        facet_record_number(r, key, (int64_t)count);
    }
}

static void
put_field(struct facet_record *r, const uint8_t *header, const struct facet_gfx12_field *field)
{
    const double real = facet_gfx12_field_float(header, field);

    if (field->kind == FACET_GFX12_FIELD_HEX) {
        facet_record_hex(r, field->name, facet_gfx12_field_value(header, field), 0);
    } else if (field->kind == FACET_GFX12_FIELD_NUMBER) {
        facet_record_number(r, field->name, (int64_t)facet_gfx12_field_value(header, field));
    } else if (isfinite(real)) {
        facet_record_real(r, field->name, real);
    } else { /* bounds of an empty structure */
        facet_record_word(r, field->name, NULL);
    }
}

static void put_structure(struct facet_record *r, const struct page_bvh *b, uint32_t number)
{
    const struct facet_gfx12_piece *p = facet_gfx12_structures_piece(&b->structures, number);
    const struct facet_gfx12_structure *s = &p->structure;

    facet_record_open(r, NULL, NULL);
    facet_record_number(r, "index", number);
    facet_record_word(r, "kind", facet_gfx12_structure_kind(s));
    facet_record_word(r, "driver", facet_gfx12_driver_name(s->driver));
    facet_record_hex(r, "address", facet_gfx12_piece_base(p), 0);
    if (s->root == FACET_GFX12_NO_ROOT) {
        facet_record_word(r, "root", NULL);
    } else {
        facet_record_hex(r, "root", s->root, 0);
    }
    facet_record_number(r, "bytes", (int64_t)p->bytes);
    facet_record_word(r, "contents", facet_gfx12_structure_contents(s));
    put_count(r, facet_gfx12_structure_contents(s), s->primitives);
    put_count(r, "geometries", s->geometries);
    facet_record_open(r, "header", NULL);
    for (unsigned i = 0; i < s->field_count; i++) {
        put_field(r, b->view.bytes + p->at + s->header, &s->fields[i]);
    }
    facet_record_close(r);
    facet_record_close(r);
}

void page_bvh_put_structures(const struct page_bvh *b, struct facet_record *r)
{
    const struct facet_gfx12_structures *s = &b->structures;

    if (s->count == 0) {
        return;
    }
    facet_record_word(
        r,
        "driver",
        facet_gfx12_driver_name(facet_gfx12_structures_piece(s, s->chosen)->structure.driver));
    facet_record_word(r, "reason", s->reason);
    facet_record_bool(r, "translated", s->original != NULL);
    facet_record_number(r, "structure", s->chosen);
    facet_record_number(r, "left_out", s->left_out);
    facet_record_list(r, "structures");
    for (uint32_t i = 0; i < s->count; i++) {
        put_structure(r, b, i);
    }
    facet_record_close(r);
}
