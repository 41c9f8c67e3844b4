/* RDF containers of AMD's tools: a header, chunks, an index of chunks. A capture of the Radeon
 * Raytracing Analyzer (.rra) is one, with a chunk for every acceleration structure. Decompression
 * is the caller's business. */
#ifndef FACET_GFX12_DRIVERS_RDF_H
#define FACET_GFX12_DRIVERS_RDF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_gfx12_rdf_chunk {
    char name[17];
    bool compressed;  /* with zstd */
    uint32_t version; /* of the contents */
    uint64_t header, header_bytes;
    uint64_t data, data_bytes;
    uint64_t full_bytes; /* of the data when it is not compressed */
};

bool facet_gfx12_rdf_is(const uint8_t *bytes, uint64_t size);
/* The number of chunks; the index lies in the file. */
enum facet_status facet_gfx12_rdf_open(const uint8_t *bytes,
                                       uint64_t size,
                                       uint64_t *chunks,
                                       struct facet_error *err);
/* Chunk `number` of an opened container. Everything in *out lies in the file. */
enum facet_status facet_gfx12_rdf_chunk(const uint8_t *bytes,
                                        uint64_t size,
                                        uint64_t number,
                                        struct facet_gfx12_rdf_chunk *out,
                                        struct facet_error *err);

/* The header of a chunk that holds an acceleration structure ("RawAccelStruct"). */
struct facet_gfx12_rdf_structure {
    uint64_t address;              /* of the structure's first byte, its metadata */
    uint64_t header, header_bytes; /* of the driver's header, in the chunk's data */
    bool bottom;
};

bool facet_gfx12_rdf_is_structure(const struct facet_gfx12_rdf_chunk *chunk);
enum facet_status facet_gfx12_rdf_structure(const uint8_t *bytes,
                                            const struct facet_gfx12_rdf_chunk *chunk,
                                            struct facet_gfx12_rdf_structure *out,
                                            struct facet_error *err);

#endif
