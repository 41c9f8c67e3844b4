/* See rdf.h. The format is that of version 3, the only one. */
#include "gfx12/drivers/rdf.h"

#include "base/bits.h"

#define FILE_HEADER 32
#define ENTRY 64
#define VERSION 3
#define STRUCTURE_HEADER 28
#define GPURT_HEADER 128
#define LEAST_HEADER 76 /* as far as the RTIP level */

bool facet_gfx12_rdf_is(const uint8_t *bytes, uint64_t size)
{
    return size >= 8 && (memcmp(bytes, "AMD_RDF ", 8) == 0 || memcmp(bytes, "RTA_DATA", 8) == 0);
}

static bool lies_in(uint64_t offset, uint64_t length, uint64_t size)
{
    return length <= size && offset <= size - length;
}

enum facet_status
facet_gfx12_rdf_open(const uint8_t *bytes, uint64_t size, uint64_t *chunks, struct facet_error *err)
{
    uint64_t offset, length;
    uint32_t version;

    if (!facet_gfx12_rdf_is(bytes, size) || size < FILE_HEADER) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "expected an RDF header of 32 bytes");
    }
    version = facet_load_le32(bytes + 8);
    if (version != VERSION) {
        return facet_fail(
            err, FACET_ERR_INPUT, 8, "RDF version %u at offset 8; expected 3", version);
    }
    offset = facet_load_le64(bytes + 16);
    length = facet_load_le64(bytes + 24);
    if (!lies_in(offset, length, size) || length % ENTRY != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          16,
                          "the index (offset 16) is %llu bytes at %llu; expected a multiple of 64 "
                          "inside the file's %llu bytes",
                          (unsigned long long)length,
                          (unsigned long long)offset,
                          (unsigned long long)size);
    }
    *chunks = length / ENTRY;
    return FACET_OK;
}

enum facet_status facet_gfx12_rdf_chunk(const uint8_t *bytes,
                                        uint64_t size,
                                        uint64_t number,
                                        struct facet_gfx12_rdf_chunk *out,
                                        struct facet_error *err)
{
    uint64_t at = facet_load_le64(bytes + 16) + number * ENTRY;
    const uint8_t *e = bytes + at;

    *out = (struct facet_gfx12_rdf_chunk){
        .compressed = e[16] != 0,
        .version = facet_load_le32(e + 20),
        .header = facet_load_le64(e + 24),
        .header_bytes = facet_load_le64(e + 32),
        .data = facet_load_le64(e + 40),
        .data_bytes = facet_load_le64(e + 48),
        .full_bytes = facet_load_le64(e + 56),
    };
    memcpy(out->name, e, 16);
    if (e[16] > 1) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          at + 16,
                          "chunk %llu (offset %llu) has compression %u; expected 0 or 1 (zstd)",
                          (unsigned long long)number,
                          (unsigned long long)at,
                          e[16]);
    }
    if (!lies_in(out->header, out->header_bytes, size) ||
        !lies_in(out->data, out->data_bytes, size)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          at,
                          "chunk %llu (offset %llu) does not lie inside the file",
                          (unsigned long long)number,
                          (unsigned long long)at);
    }
    if (!out->compressed) {
        out->full_bytes = out->data_bytes;
    }
    return FACET_OK;
}

/* Early captures have the name without its last letter. */
bool facet_gfx12_rdf_is_structure(const struct facet_gfx12_rdf_chunk *chunk)
{
    return strcmp(chunk->name, "RawAccelStruct") == 0 || strcmp(chunk->name, "RawAccelStruc") == 0;
}

enum facet_status facet_gfx12_rdf_structure(const uint8_t *bytes,
                                            const struct facet_gfx12_rdf_chunk *chunk,
                                            struct facet_gfx12_rdf_structure *out,
                                            struct facet_error *err)
{
    const uint8_t *h = bytes + chunk->header;

    if (chunk->header_bytes < STRUCTURE_HEADER) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          chunk->header,
                          "the header of %s at offset %llu has %llu bytes; expected %u",
                          chunk->name,
                          (unsigned long long)chunk->header,
                          (unsigned long long)chunk->header_bytes,
                          STRUCTURE_HEADER);
    }
    *out = (struct facet_gfx12_rdf_structure){
        .address = facet_load_le64(h) & facet_bits_mask(48),
        .header = facet_load_le32(h + 16),
        .header_bytes = facet_load_le32(h + 20),
        .bottom = (facet_load_le32(h + 24) & 1) != 0,
    };
    if (out->header_bytes < LEAST_HEADER || out->header_bytes > GPURT_HEADER ||
        !lies_in(out->header, out->header_bytes, chunk->full_bytes)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          chunk->header + 16,
                          "%s at offset %llu: its driver's header is %llu bytes at %llu of %llu; "
                          "expected 76 to 128 inside",
                          chunk->name,
                          (unsigned long long)chunk->header,
                          (unsigned long long)out->header_bytes,
                          (unsigned long long)out->header,
                          (unsigned long long)chunk->full_bytes);
    }
    return FACET_OK;
}
