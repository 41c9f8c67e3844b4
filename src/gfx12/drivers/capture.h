/* Captures of the Radeon Raytracing Analyzer (.rra): the structures in them as the pieces of one
 * view. Decompression is the caller's business. */
#ifndef FACET_GFX12_DRIVERS_CAPTURE_H
#define FACET_GFX12_DRIVERS_CAPTURE_H

#include "gfx12/drivers/rdf.h"
#include "gfx12/drivers/structures.h"

/* A chunk with a structure. */
struct facet_gfx12_capture_part {
    struct facet_gfx12_rdf_chunk chunk;
    struct facet_gfx12_rdf_structure structure;
    uint32_t number;     /* among the structures of the file */
    const uint8_t *data; /* not compressed */
    uint8_t *own;        /* the same where it was, from malloc */
    uint64_t address;    /* of the header */
    uint64_t bytes;      /* of header and nodes in the view */
};

/* For every part whose chunk is compressed: `data` and `own` become exactly full_bytes bytes. Whole
 * lists, so that one confined process can serve them all. */
typedef enum facet_status facet_gfx12_capture_inflate(const uint8_t *file,
                                                      struct facet_gfx12_capture_part *parts,
                                                      uint32_t count,
                                                      struct facet_error *err);

struct facet_gfx12_capture {
    uint8_t *bytes; /* of all structures, each a segment */
    uint64_t size;
    struct facet_gfx12_segment *segments; /* without names; file offsets where a chunk is plain */
    struct facet_gfx12_structures structures;
};

/* On failure *out is empty. */
enum facet_status facet_gfx12_capture_open(const uint8_t *file,
                                           uint64_t size,
                                           facet_gfx12_capture_inflate *inflate,
                                           struct facet_gfx12_capture *out,
                                           struct facet_error *err);
void facet_gfx12_capture_free(struct facet_gfx12_capture *capture);

#endif
