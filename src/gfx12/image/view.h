/* A GFX12 image as bytes at addresses: in one piece, or in pieces that lie anywhere in the 48-bit
 * space (R-G12-55, R-G12-71). The bytes of all pieces stand one after another, without the gaps
 * between them; an offset counts in these bytes, an address in the memory that they came from. */
#ifndef FACET_GFX12_IMAGE_VIEW_H
#define FACET_GFX12_IMAGE_VIEW_H

#include "base/error.h"

#include <facet/gfx12.h>

#define FACET_GFX12_UNIT_BYTES 64u /* the alignment of pointers, so of nodes */

/* The root of a structure that has none, because its driver had nothing to build: rays meet
 * nothing. As the ID of a node it is INVALID, which the unit does not fetch. */
#define FACET_GFX12_NO_ROOT FACET_GFX12_INVALID

struct facet_gfx12_view {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t base; /* address of the structure that rays start in */
    uint32_t root; /* node ID, relative to base; usually FACET_GFX12_ROOT */
    /* In the order of their addresses and of their offsets, none overlapping, offsets multiples of
     * 64. None: one piece, the whole of bytes at `base`. */
    const struct facet_gfx12_segment *segments;
    uint32_t segment_count;
};

/* The 48 bits of an address; false unless the 16 above them are 0 or repeat bit 47. */
bool facet_gfx12_address_take(uint64_t value, uint64_t *address);

/* Where `bytes` bytes at an address lie: false unless one segment holds them all. */
bool facet_gfx12_segments_offset(const struct facet_gfx12_segment *segments,
                                 uint32_t count,
                                 uint64_t address,
                                 uint64_t bytes,
                                 uint64_t *offset);
bool facet_gfx12_view_offset(const struct facet_gfx12_view *view,
                             uint64_t address,
                             uint64_t bytes,
                             uint64_t *offset);
/* The segment that an offset lies in. A view in one piece is its only segment. */
struct facet_gfx12_segment facet_gfx12_view_segment(const struct facet_gfx12_view *view,
                                                    uint64_t offset);
uint64_t facet_gfx12_view_address(const struct facet_gfx12_view *view, uint64_t offset);
/* An address for a message: "blas.bin+0x5c0 (address 0x7f12000005c0)", without a file name where
 * there is none, "address 0x7f12000005c0" outside the image, "0x5c0" where both numbers are the
 * same. Returns `text`. */
#define FACET_GFX12_PLACE 96
const char *facet_gfx12_view_place(const struct facet_gfx12_view *view,
                                   uint64_t address,
                                   char text[FACET_GFX12_PLACE]);

/* FACET_ERR_INPUT unless the root is a node of the view, or FACET_GFX12_NO_ROOT. */
enum facet_status facet_gfx12_view_check_root(const struct facet_gfx12_view *view,
                                              struct facet_error *err);

/* Nodes are numbered by the 64-byte units of the bytes; a node takes two. */
static inline uint64_t facet_gfx12_node_offset(uint32_t node)
{
    return (uint64_t)node * FACET_GFX12_UNIT_BYTES;
}

static inline uint32_t facet_gfx12_node_at(uint64_t offset)
{
    return (uint32_t)(offset / FACET_GFX12_UNIT_BYTES);
}

static inline const uint8_t *facet_gfx12_node_bytes(const struct facet_gfx12_view *view,
                                                    uint32_t node)
{
    return view->bytes + facet_gfx12_node_offset(node);
}

#endif
