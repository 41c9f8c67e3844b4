/* A small builder of RT images, for programs that make their own triangles: median splits along
 * the longest side, up to four triangles in a leaf. `facet bvh build` makes better trees. */
#include "rt.h"

#include <math.h>
#include <string.h>
#include <xphmg.h>

enum {
    HEADER_BYTES = 128,
    TILE_BYTES = sizeof(struct xphmg_bvh_node4_32),
    RANGE_BYTES = sizeof(struct xphmg_tri_range),
    TRIANGLE_BYTES = sizeof(struct xphmg_triangle_32),
    ALIGN = 64,
    LEAF = 4
};

struct box {
    float lo[3], hi[3];
};

struct part {
    uint32_t first, count;
    struct box box;
};

struct builder {
    const float *triangles; /* as given */
    uint32_t *order;        /* two words per triangle: 0 and its number, which become the origins */
    uint8_t *heap;
    uint32_t children;
    uint32_t next_node, next_range; /* indices */
    float pad;
};

static size_t align_up(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* A node has two children at least, so there are fewer nodes than triangles. */
static size_t heap_bytes(uint32_t count, uint32_t children)
{
    return align_up((size_t)RANGE_BYTES * count) +
           (size_t)TILE_BYTES * (children / 4) * (count + 2);
}

size_t rt_build_bytes(uint32_t count, uint32_t children)
{
    return HEADER_BYTES + heap_bytes(count, children) + align_up((size_t)TRIANGLE_BYTES * count) +
           align_up((size_t)8 * count);
}

/* ---- boxes ---- */

static const float *corners_of(const struct builder *b, uint32_t place)
{
    return b->triangles + (size_t)9 * b->order[2 * place + 1];
}

static struct box bounds(const struct builder *b, uint32_t first, uint32_t count)
{
    struct box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

    for (uint32_t i = first; i < first + count; i++) {
        const float *v = corners_of(b, i);

        for (int k = 0; k < 9; k++) {
            box.lo[k % 3] = fminf(box.lo[k % 3], v[k]);
            box.hi[k % 3] = fmaxf(box.hi[k % 3], v[k]);
        }
    }
    return box;
}

/* ---- splitting ---- */

static float key(const struct builder *b, uint32_t place, int axis)
{
    const float *v = corners_of(b, place);

    return v[axis] + v[3 + axis] + v[6 + axis];
}

static void swap(struct builder *b, uint32_t i, uint32_t j)
{
    uint32_t held = b->order[2 * i + 1];

    b->order[2 * i + 1] = b->order[2 * j + 1];
    b->order[2 * j + 1] = held;
}

/* Reorders [first, first + count) so that nothing before `middle` is above what comes from there.
 */
static void select(struct builder *b, uint32_t first, uint32_t count, uint32_t middle, int axis)
{
    int64_t lo = first, hi = (int64_t)first + count - 1;

    while (lo < hi) {
        float pivot = key(b, (uint32_t)(lo + (hi - lo) / 2), axis);
        int64_t i = lo, j = hi;

        while (i <= j) {
            while (key(b, (uint32_t)i, axis) < pivot) {
                i++;
            }
            while (key(b, (uint32_t)j, axis) > pivot) {
                j--;
            }
            if (i <= j) {
                swap(b, (uint32_t)i++, (uint32_t)j--);
            }
        }
        if (middle <= j) {
            hi = j;
        } else if (middle >= i) {
            lo = i;
        } else {
            return;
        }
    }
}

static void split(struct builder *b, struct part *part, struct part *rest)
{
    const float *lo = part->box.lo, *hi = part->box.hi;
    uint32_t half = part->count / 2;
    int axis = 0;

    for (int k = 1; k < 3; k++) {
        axis = hi[k] - lo[k] > hi[axis] - lo[axis] ? k : axis;
    }
    select(b, part->first, part->count, part->first + half, axis);
    rest->first = part->first + half;
    rest->count = part->count - half;
    rest->box = bounds(b, rest->first, rest->count);
    part->count = half;
    part->box = bounds(b, part->first, part->count);
}

/* ---- tiles ---- */

static uint32_t make_range(struct builder *b, const struct part *part)
{
    struct xphmg_tri_range range = {part->first, part->count, 0}; /* the image's own buffer */
    uint32_t index = b->next_range++;

    memcpy(b->heap + (size_t)index * RANGE_BYTES, &range, sizeof range);
    return index;
}

static void put_child(struct builder *b,
                      uint32_t node,
                      uint32_t c,
                      const struct part *part,
                      uint32_t type,
                      uint32_t index)
{
    struct xphmg_bvh_node4_32 *tile =
        (struct xphmg_bvh_node4_32 *)(b->heap + (size_t)(node + c / 4) * TILE_BYTES);
    uint32_t *indices[3] = {&tile->child0_idx, &tile->child1_idx, &tile->child2_idx};
    uint32_t slot = c % 4;

    for (int k = 0; k < 3; k++) {
        tile->child[slot].min[k] = part->box.lo[k] - b->pad;
        tile->child[slot].max[k] = part->box.hi[k] + b->pad;
    }
    tile->child_flags |= type << XPHMG_BVH_NODE4_TYPE1_LSB * slot;
    if (slot < 3) {
        *indices[slot] = index;
    } else {
        tile->child_flags |= index << XPHMG_BVH_NODE4_CHILD3_IDX_LSB;
    }
}

static void make_node(struct builder *b, uint32_t node, struct part whole)
{
    struct part parts[8] = {whole};
    uint32_t count = 1;

    while (count < b->children) {
        uint32_t largest = 0;

        for (uint32_t i = 1; i < count; i++) {
            largest = parts[i].count > parts[largest].count ? i : largest;
        }
        if (parts[largest].count <= LEAF) {
            break;
        }
        split(b, &parts[largest], &parts[count++]);
    }
    for (uint32_t c = 0; c < count; c++) {
        if (parts[c].count <= LEAF) {
            put_child(b, node, c, &parts[c], XPHMG_BVH_NODE4_TYPE0_LEAF, make_range(b, &parts[c]));
        } else {
            uint32_t below = b->next_node;

            b->next_node += b->children / 4;
            put_child(b, node, c, &parts[c], XPHMG_BVH_NODE4_TYPE0_NODE, below);
            make_node(b, below, parts[c]);
        }
    }
}

/* ---- the image ---- */

static void put_header(uint8_t *image, uint32_t count, const struct builder *b, uint64_t heap_size)
{
    uint64_t triangles = HEADER_BYTES + heap_size;
    uint64_t origins = triangles + align_up((size_t)TRIANGLE_BYTES * count);
    uint32_t words[4] = {1, HEADER_BYTES, b->children, 0};
    uint64_t numbers[8] = {XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                               XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32),
                           0,
                           HEADER_BYTES,
                           heap_size,
                           triangles,
                           (uint64_t)TRIANGLE_BYTES * count,
                           origins,
                           (uint64_t)8 * count};
    uint32_t counts[4] = {0, 0, 0, count};

    memcpy(image, "XPHMGBVH", 8);
    memcpy(image + 8, words, 16);
    memcpy(image + 24, numbers, sizeof numbers);
    memcpy(image + 88, counts, sizeof counts);
}

/* By which boxes grow, so that rounding of the slab test loses no hit (R-RT-50). */
static float padding(const struct box *box, float reach)
{
    float largest = 2 * reach;

    for (int k = 0; k < 3; k++) {
        largest = fmaxf(largest, 2 * fmaxf(fabsf(box->lo[k]), fabsf(box->hi[k])));
    }
    return largest * 0x1p-20F;
}

size_t
rt_build(void *memory, const float *triangles, uint32_t count, uint32_t children, float reach)
{
    size_t size = rt_build_bytes(count, children), heap_size = heap_bytes(count, children);
    uint8_t *image = memory;
    struct builder b = {.triangles = triangles, .heap = image + HEADER_BYTES, .children = children};
    float *corners = (float *)(b.heap + heap_size);
    struct part whole = {0, count, {{0}, {0}}};

    memset(image, 0, size);
    b.order = (uint32_t *)((uint8_t *)corners + align_up((size_t)TRIANGLE_BYTES * count));
    for (uint32_t i = 0; i < count; i++) {
        b.order[2 * i + 1] = i;
    }
    /* The root is node 0; after it the TriRanges, at most one per triangle, then the other nodes.
     */
    b.next_range = TILE_BYTES / RANGE_BYTES * (children / 4);
    b.next_node =
        (uint32_t)((b.next_range * RANGE_BYTES + (size_t)RANGE_BYTES * count + TILE_BYTES - 1) /
                   TILE_BYTES);
    whole.box = bounds(&b, 0, count);
    b.pad = padding(&whole.box, reach);
    make_node(&b, 0, whole);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(corners + (size_t)9 * i, corners_of(&b, i), TRIANGLE_BYTES);
    }
    put_header(image, count, &b, heap_size);
    return size;
}
