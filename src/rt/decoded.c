/* See decoded.h. */
#include "rt/decoded.h"

#include "base/bits.h"
#include "base/large.h"
#include "rt/layout.h"
#include "rt/rt.h"

#include <string.h>

enum {
    TILE = 128,
    TRIANGLE = 4 * FACET_RT_TRIANGLE_ELEMENTS,
    MAX_RUN = 64, /* triangles of a leaf that is decoded */
    UNITS = sizeof(struct facet_rt_node) / 32,
    LEAST_ROOM = 1 << 10,
    MAX_NODES = (1 << 27) - 1, /* so that references fit */
    MAX_LEAVES = 1 << 26,
};

#define FILLING UINT32_MAX

/* ---- taking apart ---- */

static void decode_child(const uint8_t *tile, unsigned c, struct facet_rt_node *node)
{
    const unsigned slot = c % FACET_RT_TILE_CHILDREN;
    const uint32_t flags = facet_load_le32(tile + TILE - 4);
    const enum facet_rt_child type = facet_rt_child_type(flags, slot);
    bool proper = true, nan = false;
    float box[6];

    if (type == FACET_RT_EMPTY) {
        return;
    }
    for (unsigned i = 0; i < 6; i++) {
        const uint32_t bits = facet_load_le32(tile + FACET_XPHMG_AABB_SIZE(4) * slot + 4 * i);

        memcpy(&box[i], &bits, sizeof box[i]);
    }
    for (unsigned a = 0; a < 3; a++) {
        nan |= __builtin_isunordered(box[a], box[a + 3]);
        proper &= __builtin_islessequal(box[a], box[a + 3]);
    }
    node->index[c] =
        slot == 3
            ? facet_rt_child3_index(flags)
            : facet_load_le32(tile + FACET_XPHMG_BVH_NODE4_CHILD0_IDX_AT(4) + 4 * (size_t)slot);
    node->used |= (uint8_t)(1u << c);
    node->leaves |= (uint8_t)((unsigned)(type == FACET_RT_LEAF) << c);
    node->tally++;
    if (nan) {
        node->tally |= UINT64_C(1) << 63;
    } else if (proper) {
        node->tally |= FACET_RT_TALLY_TESTED;
        for (unsigned i = 0; i < 6; i++) {
            node->plane[2 * (i % 3) + i / 3][c] = box[i];
        }
    }
}

void facet_rt_decode_node(const uint8_t *tile,
                          bool node8,
                          uint32_t number,
                          struct facet_rt_node *node)
{
    node->tally = FACET_RT_TALLY_STEP;
    node->used = node->leaves = 0;
    for (unsigned c = 0; c < FACET_RT_WIDTH; c++) {
        atomic_store_explicit(
            &node->child[c], (number * FACET_RT_WIDTH + c) << 2 | 3, memory_order_relaxed);
        for (unsigned i = 0; i < 6; i++) {
            node->plane[i][c] = i % 2 == 0 ? __builtin_inff() : -__builtin_inff();
        }
        if (c < FACET_RT_TILE_CHILDREN || node8) {
            decode_child(tile + c / FACET_RT_TILE_CHILDREN * (size_t)TILE, c, node);
        }
    }
}

void facet_rt_decode_triangles(const uint8_t *triangles, unsigned count, struct facet_rt_leaf *leaf)
{
    for (unsigned k = 0; k < FACET_RT_QUAD; k++) {
        const uint8_t *const at = triangles + (size_t)TRIANGLE * (k < count ? k : 0);

        for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
            const uint32_t bits = facet_load_le32(at + 4 * (size_t)i);

            memcpy(&leaf->corner[i / 3][i % 3][k], &bits, sizeof bits);
        }
    }
}

/* ---- memory ---- */

/* Room for `count` things, or for fewer when the host grants less; then it is left as much as is
 * taken, because others need memory too. */
static void *reserve_some(uint32_t *count, size_t size)
{
    const uint32_t wanted = *count;
    void *memory = NULL;

    while (*count >= LEAST_ROOM &&
           (memory = facet_reserve_large((uint64_t)*count * size)) == NULL) {
        *count /= 2;
    }
    if (memory != NULL && *count != wanted) {
        facet_unreserve(memory, (uint64_t)*count * size);
        *count /= 2;
        memory = *count >= LEAST_ROOM ? facet_reserve_large((uint64_t)*count * size) : NULL;
    }
    return memory;
}

static uint32_t at_most(uint64_t wanted, uint32_t most)
{
    return wanted < LEAST_ROOM ? LEAST_ROOM : wanted > most ? most : (uint32_t)wanted;
}

bool facet_rt_decoded_make(struct facet_rt_decoded *d,
                           const uint8_t *memory,
                           uint64_t size,
                           uint8_t mark)
{
    const uint64_t tiles = size / TILE + 1;

    *d = (struct facet_rt_decoded){
        .node_room = at_most(tiles, MAX_NODES),
        .leaf_room = at_most(tiles * FACET_RT_TILE_CHILDREN, MAX_LEAVES),
        .indices = tiles,
        .memory = memory,
        .pages = (size >> FACET_RT_PAGE_BITS) + 1,
        .mark = mark,
        .first = UINT64_MAX,
    };
    d->node = reserve_some(&d->node_room, sizeof *d->node);
    d->leaf = reserve_some(&d->leaf_room, sizeof *d->leaf);
    d->place = facet_reserve(d->indices * sizeof *d->place);
    d->read = facet_reserve(d->pages);
    if (d->node == NULL || d->leaf == NULL || d->place == NULL || d->read == NULL) {
        facet_rt_decoded_free(d);
        return false;
    }
    return true;
}

void facet_rt_decoded_free(struct facet_rt_decoded *d)
{
    facet_unreserve(d->node, (uint64_t)d->node_room * sizeof *d->node);
    facet_unreserve(d->leaf, (uint64_t)d->leaf_room * sizeof *d->leaf);
    facet_unreserve(d->place, d->indices * sizeof *d->place);
    facet_unreserve(d->read, d->pages);
    memset(d, 0, sizeof *d);
}

void facet_rt_decoded_forget(struct facet_rt_decoded *d)
{
    if (d->first <= d->last) {
        memset(d->read + d->first, 0, d->last - d->first + 1);
    }
    memset(d->place, 0, d->node_end * sizeof *d->place);
    d->nodes = d->leaves = 0;
    d->node_end = d->range_end = d->triangle_end = 0;
    d->first = UINT64_MAX;
    d->last = 0;
}

bool facet_rt_decoded_fits(const struct facet_rt_decoded *d, const struct facet_rt_heap *heap)
{
    return d->node_end <= heap->nodes && d->range_end <= heap->ranges &&
           d->triangle_end <= heap->triangle_count;
}

static void raise_to(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t was = atomic_load_explicit(to, memory_order_relaxed);

    while (was < value && !atomic_compare_exchange_weak(to, &was, value)) {
    }
}

static void lower_to(_Atomic uint64_t *to, uint64_t value)
{
    uint64_t was = atomic_load_explicit(to, memory_order_relaxed);

    while (was > value && !atomic_compare_exchange_weak(to, &was, value)) {
    }
}

static void note_read(struct facet_rt_decoded *d, const uint8_t *from, size_t size)
{
    const uint64_t first = (uint64_t)(from - d->memory) >> FACET_RT_PAGE_BITS;
    const uint64_t last = (uint64_t)(from - d->memory + (ptrdiff_t)size - 1) >> FACET_RT_PAGE_BITS;

    for (uint64_t page = first; page <= last; page++) {
        __atomic_store_n(&d->read[page], d->mark, __ATOMIC_RELAXED);
    }
    lower_to(&d->first, first);
    raise_to(&d->last, last);
}

/* ---- decoding what rays come to ---- */

/* Takes `count` places of `room`. A counter that went too far and back would give a place that
 * another thread has taken meanwhile. */
static bool take(_Atomic uint32_t *used, uint32_t room, uint32_t count, uint32_t *first)
{
    *first = atomic_load_explicit(used, memory_order_relaxed);
    do {
        if (count > room - *first) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(used, first, *first + count));
    return true;
}

facet_rt_reference
facet_rt_decoded_node(struct facet_rt_decoded *d, const struct facet_rt_heap *heap, uint32_t index)
{
    const uint64_t offset = (uint64_t)index * TILE;
    uint32_t was = 0, number;

    if (index >= heap->nodes || index >= d->indices) {
        return FACET_RT_NOWHERE;
    }
    if (!atomic_compare_exchange_strong(&d->place[index], &was, FILLING)) {
        while (was == FILLING) { /* another thread is at it, for well under a microsecond */
            was = atomic_load_explicit(&d->place[index], memory_order_acquire);
        }
        return was == 0 ? FACET_RT_NOWHERE : (was - 1) * UNITS;
    }
    if (!take(&d->nodes, d->node_room, 1, &number)) {
        atomic_store_explicit(&d->place[index], 0, memory_order_release);
        return FACET_RT_NOWHERE;
    }
    note_read(d, heap->bytes + offset, heap->node8 ? 2 * TILE : TILE);
    raise_to(&d->node_end, (uint64_t)index + 1);
    facet_rt_decode_node(heap->bytes + offset, heap->node8, number, &d->node[number]);
    atomic_store_explicit(&d->place[index], number + 1, memory_order_release);
    return number * UNITS;
}

static facet_rt_reference
decode_leaf(struct facet_rt_decoded *d, const struct facet_rt_heap *heap, uint32_t index)
{
    const uint8_t *const at = heap->bytes + (uint64_t)index * FACET_RT_RANGE_BYTES;
    struct facet_rt_range range;
    uint32_t number, leaves;
    uint64_t end;

    if (index >= heap->ranges) {
        return FACET_RT_NOWHERE;
    }
    range = facet_rt_range_load(at);
    end = (uint64_t)range.first + range.count;
    if (range.base != 0 || range.count == 0 || range.count > MAX_RUN ||
        end > heap->triangle_count) {
        return FACET_RT_NOWHERE;
    }
    leaves = (range.count + FACET_RT_QUAD - 1) / FACET_RT_QUAD;
    if (!take(&d->leaves, d->leaf_room, leaves, &number)) {
        return FACET_RT_NOWHERE;
    }
    note_read(d, at, FACET_RT_RANGE_BYTES);
    note_read(
        d, heap->triangles + (uint64_t)range.first * TRIANGLE, (size_t)range.count * TRIANGLE);
    raise_to(&d->range_end, (uint64_t)index + 1);
    raise_to(&d->triangle_end, end);
    for (uint32_t k = 0; k < leaves; k++) {
        struct facet_rt_leaf *const leaf = &d->leaf[number + k];

        leaf->first = range.first + FACET_RT_QUAD * k;
        leaf->count = range.count - FACET_RT_QUAD * k;
        leaf->index = index;
        facet_rt_decode_triangles(
            heap->triangles + (uint64_t)leaf->first * TRIANGLE, leaf->count, leaf);
    }
    return number << 2 | 1;
}

facet_rt_reference facet_rt_decoded_child(struct facet_rt_decoded *d,
                                          const struct facet_rt_heap *heap,
                                          facet_rt_reference reference)
{
    struct facet_rt_node *const parent = &d->node[reference >> 5];
    const unsigned c = reference >> 2 & 7;
    const facet_rt_reference found = (parent->leaves >> c & 1) != 0
                                         ? decode_leaf(d, heap, parent->index[c])
                                         : facet_rt_decoded_node(d, heap, parent->index[c]);

    if (found != FACET_RT_NOWHERE) {
        atomic_store_explicit(&parent->child[c], found, memory_order_release);
    }
    return found;
}
