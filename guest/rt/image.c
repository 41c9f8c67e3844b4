/* Tile images in memory: docs/rt-tiles.md has the header. */
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

enum { TRIANGLE_BYTES = 36, ORIGIN_BYTES = 8, TILE_BYTES = 128, RANGE_BYTES = 16, ALIGN = 64 };
enum { WORD_INDEX = 28, WORD_FLAGS = 31, TYPE_NODE = 1, TYPE_LEAF = 2 };
enum { PET_FP32 = 1, EW_32 = 2 };

/* Everything else of MODE zero: no packing, no quantization, rounding to nearest. */
static bool is_fp32(const struct header *h)
{
    return h->alt == 0 && h->mode == (XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, PET_FP32) |
                                      XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, EW_32));
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

/* Sets `base` of every TriRange below a node; false when the tree is deeper than it may be or leads
 * out of the heap. */
static bool place_ranges(const struct rt_bvh *bvh, uint64_t heap_bytes, uint32_t node, int level)
{
    uint32_t tiles = bvh->children / 4;

    if (level == RT_LEVELS || ((uint64_t)node + tiles) * TILE_BYTES > heap_bytes) {
        return false;
    }
    for (uint32_t c = 0; c < bvh->children; c++) {
        const uint32_t *tile = (const uint32_t *)(bvh->heap + (size_t)(node + c / 4) * TILE_BYTES);
        uint32_t flags = tile[WORD_FLAGS], type = flags >> 2 * (c % 4) & 3;
        uint32_t index = c % 4 < 3 ? tile[WORD_INDEX + c % 4] : flags >> 8;

        if (type == TYPE_NODE && !place_ranges(bvh, heap_bytes, index, level + 1)) {
            return false;
        }
        if (type == TYPE_LEAF) {
            uint64_t base = (uint64_t)bvh->triangles;

            if (((uint64_t)index + 1) * RANGE_BYTES > heap_bytes) {
                return false;
            }
            memcpy(bvh->heap + (size_t)index * RANGE_BYTES + 8, &base, sizeof base);
        }
    }
    return true;
}

enum rt_status rt_open(struct rt_bvh *bvh, void *image, size_t size)
{
    const struct header *h = image;

    if ((uintptr_t)image % ALIGN != 0 || !is_sound(h, size) || !is_fp32(h)) {
        return RT_BAD_IMAGE;
    }
    *bvh = (struct rt_bvh){.heap = (uint8_t *)image + h->heap,
                           .triangles = (const float *)((uint8_t *)image + h->triangles),
                           .origins = (const uint32_t *)((uint8_t *)image + h->origins),
                           .children = h->children,
                           .triangle_count = h->triangle_count,
                           .mode = h->mode,
                           .alt = h->alt};
    return place_ranges(bvh, h->heap_bytes, 0, 0) ? RT_OK : RT_BAD_TREE;
}

void rt_use(const struct rt_bvh *bvh)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT, bvh->alt | XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, bvh->mode | XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_write(XPHMG_CSR_RTBASE, (uint64_t)bvh->heap);
    xphmg_csr_set(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
}
