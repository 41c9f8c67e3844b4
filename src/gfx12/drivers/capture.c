/* See capture.h. */
#include "gfx12/drivers/capture.h"

#include "base/bits.h"
#include "gfx12/drivers/radv_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 128 /* of a structure; nodes count from its first byte */
#define RTIP_LEVEL 72

struct parts {
    struct facet_gfx12_capture_part *list;
    uint32_t count;
};

/* ---- chunks ---- */

static enum facet_status list_parts(const uint8_t *file,
                                    uint64_t size,
                                    uint64_t limit,
                                    struct parts *parts,
                                    struct facet_error *err)
{
    uint64_t chunks = 0, total = 0;
    enum facet_status status = facet_gfx12_rdf_open(file, size, &chunks, err);

    if (status != FACET_OK) {
        return status;
    }
    parts->list = calloc(chunks != 0 ? (size_t)chunks : 1, sizeof *parts->list);
    if (parts->list == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the index");
    }
    for (uint64_t i = 0; i < chunks && status == FACET_OK; i++) {
        struct facet_gfx12_capture_part *p = &parts->list[parts->count];

        status = facet_gfx12_rdf_chunk(file, size, i, &p->chunk, err);
        if (status != FACET_OK || !facet_gfx12_rdf_is_structure(&p->chunk)) {
            continue;
        }
        status = facet_gfx12_rdf_structure(file, &p->chunk, &p->structure, err);
        if (status == FACET_OK && p->chunk.full_bytes > limit - total) {
            status =
                facet_fail(err,
                           FACET_ERR_LIMIT,
                           p->chunk.data,
                           "structures of more than %llu bytes, far more than this file can hold",
                           (unsigned long long)limit);
        }
        total += p->chunk.full_bytes;
        p->number = parts->count++;
    }
    if (status == FACET_OK && parts->count == 0) {
        status = facet_fail(err,
                            FACET_ERR_INPUT,
                            0,
                            "an RDF container of something else: none of its %llu chunks is a "
                            "RawAccelStruct",
                            (unsigned long long)chunks);
    }
    return status;
}

/* Only GFX12's; the address of the header is what pointers of instances hold. */
static enum facet_status check_part(struct facet_gfx12_capture_part *p, struct facet_error *err)
{
    const uint8_t *header = p->data + p->structure.header;
    const uint32_t level = facet_load_le32(header + RTIP_LEVEL);
    const uint64_t behind = p->structure.header + p->structure.header_bytes;

    if (!facet_gfx12_rtip_is_3_1(level)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->chunk.data,
                          "structure %u is for %s (level %u); expected RTIP 3.1, which GFX12 is",
                          p->number,
                          facet_gfx12_rtip_name(level),
                          level);
    }
    p->address = (p->structure.address + p->structure.header) & facet_bits_mask(48);
    p->bytes = HEADER + (p->chunk.full_bytes - behind);
    if (p->address % FACET_GFX12_UNIT_BYTES != 0 || p->bytes > (UINT64_C(1) << 48) - p->address) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          p->chunk.header,
                          "structure %u lies at address 0x%llx; expected a multiple of 64",
                          p->number,
                          (unsigned long long)p->address);
    }
    return FACET_OK;
}

/* ---- the view ---- */

static int by_address(const void *a, const void *b)
{
    const struct facet_gfx12_capture_part *x = a, *y = b;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A structure that was built again during the capture is there twice; the first stays. */
static uint32_t drop_overlapping(struct parts *parts)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct facet_gfx12_capture_part *before = kept != 0 ? &parts->list[kept - 1] : NULL;

        if (before != NULL && parts->list[i].address - before->address < before->bytes) {
            free(parts->list[i].own);
        } else {
            parts->list[kept++] = parts->list[i];
        }
    }
    return kept;
}

static uint64_t whole_units(uint64_t size)
{
    return (size + FACET_GFX12_UNIT_BYTES - 1) / FACET_GFX12_UNIT_BYTES * FACET_GFX12_UNIT_BYTES;
}

/* The header with 128 bytes, which RADV writes without the last eight, then the nodes. */
static void copy_part(const struct facet_gfx12_capture_part *p, uint8_t *to)
{
    const uint64_t behind = p->structure.header + p->structure.header_bytes;

    memcpy(to, p->data + p->structure.header, (size_t)p->structure.header_bytes);
    memcpy(to + HEADER, p->data + behind, (size_t)(p->bytes - HEADER));
}

static bool
add_structure(struct facet_gfx12_capture *c, const struct facet_gfx12_capture_part *p, uint32_t i)
{
    const struct facet_gfx12_segment *s = &c->segments[i];
    struct facet_gfx12_piece *piece = &c->structures.pieces[i];
    char reason[FACET_GFX12_REASON];

    (void)facet_gfx12_header_read(
        FACET_GFX12_DRIVER_GPURT, c->bytes + s->offset, s->size, &piece->structure, reason);
    /* The header lies apart from its metadata, whose size its own counts include. */
    piece->structure.size = 0;
    piece->structure.top = !p->structure.bottom;
    piece->at = s->offset;
    piece->bytes = s->size;
    piece->address = s->address;
    c->structures.list[p->number] = (struct facet_gfx12_listed){
        i, p->chunk.compressed ? FACET_GFX12_UNKNOWN : p->chunk.data + p->structure.header};
    return piece->structure.fields != NULL;
}

static bool make_room(struct facet_gfx12_capture *c, uint32_t count)
{
    struct facet_gfx12_structures *s = &c->structures;

    c->bytes = calloc(1, (size_t)c->size + 1);
    c->segments = calloc(count, sizeof *c->segments);
    s->pieces = calloc(count, sizeof *s->pieces);
    s->list = calloc(count, sizeof *s->list);
    return c->bytes != NULL && c->segments != NULL && s->pieces != NULL && s->list != NULL;
}

/* The parts, by address, become segments. */
static bool lay_out(struct facet_gfx12_capture *c, const struct parts *parts)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        c->size = whole_units(c->size) + parts->list[i].bytes;
    }
    if (!make_room(c, parts->count)) {
        return false;
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct facet_gfx12_capture_part *p = &parts->list[i];

        at = whole_units(at);
        copy_part(p, c->bytes + at);
        c->segments[i] = (struct facet_gfx12_segment){
            .address = p->address,
            .offset = at,
            .size = p->bytes,
            .file_offset = p->chunk.compressed ? 0
                                               : p->chunk.data + p->structure.header +
                                                     p->structure.header_bytes - HEADER,
        };
        at += p->bytes;
    }
    c->structures.count = parts->count;
    c->structures.capture = true;
    return true;
}

/* What RADV recorded, as GPURT would have; the bytes of the file are kept for the dump. */
static enum facet_status
translate(struct facet_gfx12_capture *c, const struct parts *parts, struct facet_error *err)
{
    struct facet_gfx12_structures *s = &c->structures;

    for (uint32_t i = 0; i < parts->count; i++) {
        if (parts->list[i].structure.header_bytes != FACET_GFX12_RADV_CAPTURE_HEADER) {
            continue;
        }
        if (facet_gfx12_structures_keep(
                s,
                c->bytes,
                c->size,
                "instances name the root behind the header, as in captures of gpurt",
                err) != FACET_OK) {
            return err->status;
        }
        facet_gfx12_radv_capture_translate(c->bytes, &s->pieces[i]);
    }
    return facet_gfx12_structures_clear(s, c->bytes, c->size, err);
}

static int by_number(const void *a, const void *b)
{
    const struct facet_gfx12_capture_part *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* The numbers of the structures that stay, without gaps; then in the order of addresses. */
static void number_again(struct parts *parts)
{
    qsort(parts->list, parts->count, sizeof *parts->list, by_number);
    for (uint32_t i = 0; i < parts->count; i++) {
        parts->list[i].number = i;
    }
    qsort(parts->list, parts->count, sizeof *parts->list, by_address);
}

static enum facet_status
make_view(struct facet_gfx12_capture *c, struct parts *parts, struct facet_error *err)
{
    uint32_t kept;

    qsort(parts->list, parts->count, sizeof *parts->list, by_address);
    kept = drop_overlapping(parts);
    c->structures.left_out = parts->count - kept;
    parts->count = kept;
    if (c->structures.left_out != 0) {
        number_again(parts);
    }
    if (!lay_out(c, parts)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the structures");
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        if (!add_structure(c, &parts->list[i], i)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              parts->list[i].chunk.data,
                              "structure %u has no header of RTIP 3.1",
                              parts->list[i].number);
        }
    }
    snprintf(c->structures.reason, sizeof c->structures.reason, "a capture (RDF container)");
    return translate(c, parts, err);
}

static enum facet_status open_parts(const uint8_t *file,
                                    struct parts *parts,
                                    facet_gfx12_capture_inflate *inflate,
                                    struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    bool any = false;

    for (uint32_t i = 0; i < parts->count; i++) {
        parts->list[i].data = file + parts->list[i].chunk.data;
        any = any || parts->list[i].chunk.compressed;
    }
    if (any) {
        status = inflate(file, parts->list, parts->count, err);
    }
    for (uint32_t i = 0; i < parts->count && status == FACET_OK; i++) {
        status = check_part(&parts->list[i], err);
    }
    return status;
}

/* No real structure shrinks that much; a small file must not fill the memory. */
static uint64_t limit_of(uint64_t size)
{
    const uint64_t limit = 256 * size + (UINT64_C(64) << 20);

    return limit < SIZE_MAX / 2 ? limit : SIZE_MAX / 2;
}

enum facet_status facet_gfx12_capture_open(const uint8_t *file,
                                           uint64_t size,
                                           facet_gfx12_capture_inflate *inflate,
                                           struct facet_gfx12_capture *out,
                                           struct facet_error *err)
{
    struct parts parts = {NULL, 0};
    enum facet_status status = list_parts(file, size, limit_of(size), &parts, err);

    *out = (struct facet_gfx12_capture){0};
    if (status == FACET_OK) {
        status = open_parts(file, &parts, inflate, err);
    }
    if (status == FACET_OK) {
        status = make_view(out, &parts, err);
    }
    for (uint32_t i = 0; i < parts.count; i++) {
        free(parts.list[i].own);
    }
    free(parts.list);
    if (status != FACET_OK) {
        facet_gfx12_capture_free(out);
    }
    return status;
}

void facet_gfx12_capture_free(struct facet_gfx12_capture *capture)
{
    free(capture->bytes);
    free(capture->segments);
    facet_gfx12_structures_free(&capture->structures);
    *capture = (struct facet_gfx12_capture){0};
}
