/* RT images in memory: docs/rt-images.md has the header. */
#include "rt.h"

#include <string.h>
#include <xphmg.h>

struct header {
    char magic[8];
    uint32_t version, header_bytes, children, zero;
    uint64_t mode, alt;
    uint64_t heap, heap_bytes, triangles, triangle_bytes, origins, origin_bytes;
    uint32_t root, nodes, leaves, triangle_count;
};

enum {
    TRIANGLE_BYTES = sizeof(struct xphmg_triangle_32),
    TILE_BYTES = sizeof(struct xphmg_bvh_node4_32),
    ORIGIN_BYTES = 8,
    ALIGN = 64
};

/* Everything else of MODE zero: no packing, no quantization, rounding to nearest. */
static bool is_fp32(const struct header *h)
{
    return h->alt == 0 &&
           h->mode == (XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                       XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32));
}

static bool inside(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset % ALIGN == 0 && offset <= size && bytes <= size - offset;
}

static bool is_sound(const struct header *h, size_t size)
{
    return size >= sizeof *h && memcmp(h->magic, "XPHMGBVH", sizeof h->magic) == 0 &&
           h->version == 1 && (h->children == 4 || h->children == 8) && h->root == 0 &&
           inside(h->heap, h->heap_bytes, size) && inside(h->triangles, h->triangle_bytes, size) &&
           inside(h->origins, h->origin_bytes, size) &&
           h->heap_bytes >= (uint64_t)TILE_BYTES * h->children / 4 &&
           h->triangle_bytes >= (uint64_t)TRIANGLE_BYTES * h->triangle_count &&
           h->origin_bytes >= (uint64_t)ORIGIN_BYTES * h->triangle_count;
}

/* What RTCAP says of nodes with this many children. */
static void discover(struct rt_bvh *bvh)
{
    uint64_t has;
    bool node4, node8;

    bvh->present = (xphmg_csr_read(XPHMG_CSR_CAP_FEAT0) & XPHMG_CAP_FEAT0_RT_PRESENT) != 0;
    has = bvh->present ? xphmg_csr_read(XPHMG_CSR_RTCAP) : 0;
    node4 = (has & XPHMG_RTCAP_NODE4) != 0;
    node8 = bvh->children == 8 && (has & XPHMG_RTCAP_NODE8) != 0;
    bvh->node8 = node8;
    bvh->boxes = node8 || node4;
    bvh->leaves = (has & XPHMG_RTCAP_WATERTIGHT) != 0;
    bvh->jobs =
        (has & XPHMG_RTCAP_DESCQ) != 0 && bvh->leaves && (bvh->children == 8 ? node8 : node4);
}

enum rt_status rt_open(struct rt_bvh *bvh, const void *image, size_t size)
{
    const struct header *h = image;

    if ((uintptr_t)image % ALIGN != 0 || !is_sound(h, size) || !is_fp32(h)) {
        return RT_BAD_IMAGE;
    }
    *bvh = (struct rt_bvh){.heap = (const uint8_t *)image + h->heap,
                           .triangles = (const float *)((const uint8_t *)image + h->triangles),
                           .origins = (const uint32_t *)((const uint8_t *)image + h->origins),
                           .children = h->children,
                           .triangle_count = h->triangle_count,
                           .mode = h->mode,
                           .alt = h->alt};
    discover(bvh);
    return RT_OK;
}

void rt_use(const struct rt_bvh *bvh)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, bvh->alt | XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, bvh->mode | XPHMG_CAP_PREC_MODE_APPLY0);
    if (bvh->present) {
        xphmg_csr_write(XPHMG_CSR_RTBASE, (uint64_t)bvh->heap);
        xphmg_csr_set(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
    }
}
