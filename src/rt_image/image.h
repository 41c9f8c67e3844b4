/* BVH BVH images of XPHMG_RT: a small header, then the heap of tiles and TriRanges, the triangle
 * buffer and the origin of every triangle, each as a job or RT.BBOX and RT.TRI read it
 * (rt-semantics.md 5.2, 5.3). docs/rt-images.md describes the file.
 *
 * Numbers are read with facet_widen, the conversion that the instructions themselves use, so that
 * what is checked here is what the hardware sees. */
#ifndef FACET_RT_IMAGE_IMAGE_H
#define FACET_RT_IMAGE_IMAGE_H

#include "base/error.h"
#include "rt/layout.h"
#include "rt/rt.h"

#define FACET_RTBVH_MAGIC "XPHMGBVH"
enum {
    FACET_RTBVH_VERSION = 1,
    FACET_RTBVH_HEADER = 128,
    FACET_RTBVH_ALIGN = 64,       /* of the sections */
    FACET_RTBVH_ORIGIN = 8,       /* bytes per triangle: u32 instance, u32 triangle of its mesh */
    FACET_RTBVH_STACK = 256,      /* entries of the job engine (rt-semantics.md 1) */
    FACET_RTBVH_CHILD3 = 1 << 24, /* indices of child 3 stay below */
};

struct facet_rtbvh_section {
    uint64_t offset, size;
};

struct facet_rtbvh_header {
    uint32_t children;  /* 4 or 8 */
    uint64_t mode, alt; /* CAP.PREC.MODE and ALT, without the APPLY bits */
    struct facet_rtbvh_section heap, triangles, origins;
    uint32_t root; /* node index; jobs start at 0 */
    uint32_t nodes, leaves, triangle_count;
    float pad; /* by which boxes were grown before rounding */
};

/* An image whose header is sound: sections lie inside the file, apart and aligned, and the numbers
 * are of a supported format. What the sections hold may be anything. */
struct facet_rtbvh_view {
    const uint8_t *bytes;
    uint64_t size;
    struct facet_rtbvh_header header;
    struct facet_eff eff;
    struct facet_container container;
    struct facet_rt_numbers numbers;
    uint64_t tile_bytes; /* TS */
};

/* The format that a header asks for, as the machine composes it. */
struct facet_eff facet_rtbvh_eff(uint64_t mode, uint64_t alt);

/* Whether the bytes begin with the magic: a GFX12 image never does (its first byte would need four
 * zero bits). */
bool facet_rtbvh_is(const uint8_t *bytes, uint64_t size);
void facet_rtbvh_header_write(const struct facet_rtbvh_header *header,
                              uint8_t out[FACET_RTBVH_HEADER]);
/* FACET_ERR_INPUT with the byte offset in err->where when the header is not sound. */
enum facet_status facet_rtbvh_open(const uint8_t *bytes,
                                   uint64_t size,
                                   struct facet_rtbvh_view *out,
                                   struct facet_error *err);

struct facet_rtbvh_child {
    unsigned code; /* two bits of child_flags */
    enum facet_rt_child type;
    uint32_t index;
    uint32_t elements[FACET_RT_BOX_ELEMENTS];
    float min[3], max[3]; /* widened; meaningless for an empty child */
    bool nan;
};

/* Child c (0 .. children - 1) of the node whose tile starts at `at` of the heap and lies in it. */
struct facet_rtbvh_child
facet_rtbvh_child(const struct facet_rtbvh_view *view, uint64_t at, unsigned c);
/* TriRange at byte `at` of the heap. */
struct facet_rt_range facet_rtbvh_range(const struct facet_rtbvh_view *view, uint64_t at);
/* The nine elements of triangle k. */
void facet_rtbvh_vertices(const struct facet_rtbvh_view *view,
                          uint32_t k,
                          uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS]);
/* Corners of triangle k; returns true when one of the nine numbers is a NaN. */
bool facet_rtbvh_triangle(const struct facet_rtbvh_view *view, uint32_t k, float corner[3][3]);

/* Where triangle k comes from: word 0 is its instance, word 1 its number in the mesh. */
uint32_t facet_rtbvh_origin(const struct facet_rtbvh_view *view, uint32_t k, unsigned word);

/* The counterparts of the readers above: they write the named fields alone, into bytes that lie as
 * the view says. Of an empty child (code 0 or 3) the box is not written. */
void facet_rtbvh_put_child(const struct facet_rtbvh_view *view,
                           uint64_t at,
                           unsigned c,
                           const struct facet_rtbvh_child *child,
                           uint8_t *bytes);
void facet_rtbvh_put_range(const struct facet_rtbvh_view *view,
                           uint64_t at,
                           const struct facet_rt_range *range,
                           uint8_t *bytes);
void facet_rtbvh_put_triangle(const struct facet_rtbvh_view *view,
                              uint32_t k,
                              const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                              const uint32_t origin[2],
                              uint8_t *bytes);

static inline uint64_t facet_rtbvh_node_bytes(const struct facet_rtbvh_view *view)
{
    return view->tile_bytes * (view->header.children / FACET_RT_TILE_CHILDREN);
}

/* Bytes of `count` triangles in one buffer. */
static inline uint64_t facet_rtbvh_triangle_bytes(const struct facet_container *c, uint64_t count)
{
    return facet_container_array_bytes(c, FACET_RT_TRIANGLE_ELEMENTS * count);
}

#endif
