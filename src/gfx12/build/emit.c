/* From wide nodes to bytes: leaves to primitive nodes (12.4), addresses (12.6), box nodes.
 *
 * Passes over all wide nodes, in parallel, that each end with what they were the last to need:
 * shape the box nodes (the binary tree is freed), pack the leaves of fixed chunks of wide nodes
 * (the numbers of the triangles), give out addresses in one sweep, complete the box nodes (the wide
 * nodes), and copy boxes and packed nodes into the image. Chunks are cut by count alone; the bytes
 * do not depend on the pool. */
#include "gfx12/build/level.h"

#include "base/bits.h"
#include "base/float.h"
#include "base/large.h"
#include "gfx12/build/pack.h"
#include "gfx12/build/pack_node.h"
#include "gfx12/image/node.h"

#include <facet/gfx12.h>
#include <stdlib.h>
#include <string.h>

#define PACK_CHUNK 256 /* wide nodes per packer */
#define JOIN_CHUNK 4096
#define MAX_NODES UINT32_C(0x0FFFFFFF)

struct chunk {
    uint8_t *nodes;
    uint32_t node_count;
    uint32_t first; /* node number in the image of its first node (shared packing) */
    bool failed;
};

struct facet_gfx12_emit {
    const struct facet_level *level;
    struct facet_leaf_place *place;
    uint32_t *address; /* node number of every wide node; NULL: that of the wide node */
    struct chunk *chunks;
    uint32_t chunk_count;
    uint32_t box_count;
    uint8_t *nodes; /* the box nodes, in the order of the wide ones */
    uint8_t *masks; /* TLAS: cull_mask of each wide node */
    uint8_t *obb;   /* NULL: all axis aligned */
    struct facet_child_box *boxes;
    uint8_t *image;
    _Atomic bool refused;
};

static uint8_t promise_opaque(bool opaque)
{
    return opaque ? FACET_GFX12_ONLY_OPAQUE : FACET_GFX12_ONLY_NON_OPAQUE;
}

/* ---- leaves ---- */

static void gather_range(const struct facet_level *level,
                         const struct facet_wide_child *child,
                         struct facet_bvh_triangle room[FACET_PACK_MAX_RANGE_TRIANGLES],
                         struct facet_pack_range *range,
                         uint8_t *flags)
{
    *flags = 0xF & ~FACET_GFX12_ONLY_PROCEDURAL;
    range->count = 0;
    for (uint32_t i = 0; i < child->count; i++) {
        uint32_t n = facet_gfx12_level_triangles(level,
                                                 level->ids[child->first + i],
                                                 &room[range->count],
                                                 &range->triangle[range->count]);

        for (uint32_t t = 0; t < n; t++) {
            bool opaque = (range->triangle[range->count + t]->flags & FACET_BVH_OPAQUE) != 0;

            *flags &= (uint8_t)(promise_opaque(opaque) | FACET_GFX12_ONLY_TRIANGLES);
        }
        range->count += n;
    }
}

/* Triangles lie in the caller's order: those of a node that is packed soon are asked for now, the
 * numbers of corners before the corners. */
static void ask_for(const struct facet_bvh_blas_input *in, uint32_t i, bool corners)
{
    const struct facet_bvh_indexed *mesh;
    const uint32_t *index;

    if (in->triangles != NULL) {
        __builtin_prefetch(&in->triangles[i]);
        __builtin_prefetch((const char *)(&in->triangles[i] + 1) - 1);
        return;
    }
    mesh = facet_bvh_indexed_of(in, i);
    index = mesh->indices + 3 * (size_t)(i - mesh->first);
    if (!corners) {
        __builtin_prefetch(index);
        return;
    }
    for (int c = 0; c < 3; c++) {
        __builtin_prefetch(mesh->positions + 3 * (size_t)index[c]);
    }
}

static void
ask_ahead(const struct facet_level *level, const struct facet_wide_node *wide, bool corners)
{
    for (unsigned c = wide->inner; c < wide->count; c++) {
        for (uint32_t i = 0; i < wide->child[c].count; i++) {
            uint32_t number[2];
            uint32_t n =
                facet_gfx12_level_numbers(level, level->ids[wide->child[c].first + i], number);

            for (uint32_t t = 0; t < n; t++) {
                ask_for(level->input, number[t], corners);
            }
        }
    }
}

static bool pack_triangles(struct facet_gfx12_emit *e, facet_packer *packer, uint32_t w)
{
    struct facet_wide_node *wide = &e->level->wide.nodes[w];
    struct facet_leaf_place *place = &e->place[w];
    struct facet_bvh_triangle room[FACET_PACK_MAX_RANGES][FACET_PACK_MAX_RANGE_TRIANGLES];
    struct facet_pack_range ranges[FACET_PACK_MAX_RANGES];
    struct facet_pack_place where[FACET_PACK_MAX_RANGES];
    unsigned leaves = wide->count - wide->inner;
    uint32_t end;

    *place = (struct facet_leaf_place){0};
    if (leaves == 0) {
        return true;
    }
    for (unsigned i = 0; i < leaves; i++) {
        gather_range(e->level,
                     &wide->child[wide->inner + i],
                     room[i],
                     &ranges[i],
                     &wide->flags[wide->inner + i]);
    }
    if (!facet_gfx12_packer_add(packer, ranges, leaves, where)) {
        return false;
    }
    end = facet_gfx12_packer_nodes(packer);
    place->first = where[0].node;
    place->nodes = end - where[0].node;
    for (unsigned i = 0; i < leaves; i++) {
        uint32_t next = i + 1 < leaves ? where[i + 1].node : end;

        place->order[i] = (uint8_t)(wide->inner + where[i].range);
        place->type[i] = (uint8_t)facet_gfx12_pair_type(where[i].pair);
        place->size[i] = (uint8_t)(next - where[i].node);
    }
    return true;
}

/* Effective opacity of what an instance shows: its force bits, else its primitives (R-G12-57). */
uint8_t facet_gfx12_instance_promises(const struct facet_bvh_instance *instance,
                                      uint8_t blas_promises)
{
    uint8_t flags = blas_promises;

    if ((instance->flags & (FACET_GFX12_FORCE_OPAQUE | FACET_GFX12_FORCE_NON_OPAQUE)) != 0) {
        flags &= (uint8_t) ~(FACET_GFX12_ONLY_OPAQUE | FACET_GFX12_ONLY_NON_OPAQUE);
        flags |= promise_opaque((instance->flags & FACET_GFX12_FORCE_OPAQUE) != 0);
    }
    return flags;
}

/* Boxes and instances: one node per leaf, in child order. */
static void place_single(struct facet_gfx12_emit *e, uint32_t w)
{
    const struct facet_level *level = e->level;
    struct facet_wide_node *wide = &level->wide.nodes[w];
    struct facet_leaf_place *place = &e->place[w];
    unsigned leaves = wide->count - wide->inner;

    *place = (struct facet_leaf_place){.nodes = leaves};
    for (unsigned i = 0; i < leaves; i++) {
        unsigned c = wide->inner + i;
        uint32_t id = level->ids[wide->child[c].first];

        place->order[i] = (uint8_t)c;
        place->size[i] = 1;
        if (level->kind == FACET_LEVEL_AABBS) {
            place->type[i] = 0;
            wide->flags[c] =
                (uint8_t)(promise_opaque((level->input->aabbs[id].flags & FACET_BVH_OPAQUE) != 0) |
                          FACET_GFX12_ONLY_PROCEDURAL);
        } else {
            const struct facet_bvh_instance *instance = &level->instances[id];

            place->type[i] = FACET_GFX12_TYPE_INSTANCE;
            wide->flags[c] =
                facet_gfx12_instance_promises(instance, level->blas[instance->blas].cull_flags);
        }
    }
}

static void pack_chunk(void *context, size_t begin, size_t end)
{
    struct facet_gfx12_emit *e = context;
    struct chunk *chunk = &e->chunks[begin / PACK_CHUNK];
    facet_packer *packer;

    if (e->level->kind != FACET_LEVEL_TRIANGLES) {
        for (size_t w = begin; w < end; w++) {
            place_single(e, (uint32_t)w);
        }
        return;
    }
    /* One box node has nobody to share with: then the smallest nodes, as the contract has it. */
    packer = facet_gfx12_packer_create(e->level->shared && e->level->wide.count > 1,
                                       e->level->updatable);
    chunk->failed = packer == NULL;
    for (size_t w = begin; w < end && !chunk->failed; w++) {
        if (w + 2 < end) {
            ask_ahead(e->level, &e->level->wide.nodes[w + 2], true);
        }
        if (w + 4 < end && e->level->input->triangles == NULL) {
            ask_ahead(e->level, &e->level->wide.nodes[w + 4], false);
        }
        chunk->failed = !pack_triangles(e, packer, (uint32_t)w);
    }
    if (!chunk->failed) {
        chunk->failed = !facet_gfx12_packer_finish(packer, &chunk->nodes, &chunk->node_count);
    }
    facet_gfx12_packer_destroy(packer);
}

struct level_nodes {
    struct facet_gfx12_emit *emit;
    uint32_t first;
};

/* Promises of an inner child are those that hold for all of its children; masks join. */
static void join_chunk(void *context, size_t begin, size_t end)
{
    const struct level_nodes *at = context;
    const struct facet_level *level = at->emit->level;
    uint8_t *masks = at->emit->masks;

    for (size_t w = at->first + begin; w < at->first + end; w++) {
        struct facet_wide_node *wide = &level->wide.nodes[w];

        for (unsigned c = 0; c < wide->inner; c++) {
            const struct facet_wide_node *child = &level->wide.nodes[wide->first_inner + c];

            wide->flags[c] = 0xF;
            for (unsigned i = 0; i < child->count; i++) {
                wide->flags[c] &= child->flags[i];
            }
        }
        for (unsigned c = 0; masks != NULL && c < wide->count; c++) {
            masks[w] |= c < wide->inner ? masks[wide->first_inner + c]
                                        : level->instances[level->ids[wide->child[c].first]].mask;
        }
    }
}

static uint8_t join_flags(struct facet_gfx12_emit *e, facet_pool *pool)
{
    const struct facet_wide *wide = &e->level->wide;
    uint8_t flags = 0xF;

    for (uint32_t l = wide->level_count; l-- > 0;) {
        struct level_nodes at = {e, wide->levels[l]};

        facet_pool_for(pool, wide->levels[l + 1] - at.first, JOIN_CHUNK, join_chunk, &at);
    }
    for (unsigned c = 0; c < wide->nodes[0].count; c++) {
        flags &= wide->nodes[0].flags[c];
    }
    return flags;
}

/* ---- addresses ---- */

static uint32_t address_of(const struct facet_gfx12_emit *e, uint32_t w)
{
    return e->address != NULL ? e->address[w] : w;
}

/* Where the leaves of a wide node begin: a packer counted from its own first node. */
static uint32_t leaves_of(const struct facet_gfx12_emit *e, uint32_t w)
{
    return e->place[w].first + (e->address != NULL ? 0 : e->chunks[w / PACK_CHUNK].first);
}

/* Section 12.6: FIFO, inner children first, then the leaves of the node. With shared packing all
 * box nodes come first and the primitive nodes of the chunks follow in order. Returns the number of
 * nodes, which may be too large to address. */
static uint64_t give_addresses(struct facet_gfx12_emit *e)
{
    const struct facet_wide *wide = &e->level->wide;
    uint64_t next = 1;

    if (e->level->shared) {
        next = wide->count;
        for (uint32_t c = 0; c < e->chunk_count && next <= MAX_NODES; c++) {
            e->chunks[c].first = (uint32_t)next;
            next += e->chunks[c].node_count;
        }
        return next;
    }
    e->address[0] = 0;
    for (uint32_t w = 0; w < wide->count && next <= MAX_NODES; w++) {
        for (uint32_t i = 0; i < wide->nodes[w].inner; i++) {
            e->address[wide->nodes[w].first_inner + i] = (uint32_t)next++;
        }
        e->place[w].first = (uint32_t)next;
        next += e->place[w].nodes;
    }
    return next;
}

/* ---- nodes ---- */

static uint8_t
child_mask(const struct facet_gfx12_emit *e, const struct facet_wide_node *wide, unsigned c)
{
    if (e->masks == NULL) {
        return 0xFF;
    }
    if (c < wide->inner) {
        return e->masks[wide->first_inner + c];
    }
    return e->level->instances[e->level->ids[wide->child[c].first]].mask;
}

static void
child_box(const struct facet_gfx12_emit *e, uint32_t w, unsigned c, uint32_t lo[3], uint32_t hi[3])
{
    const struct facet_wide_node *wide = &e->level->wide.nodes[w];
    const struct facet_bvh2_node *node = &e->level->tree.nodes[wide->child[c].node];

    memcpy(lo, node->lo, 3 * sizeof *lo);
    memcpy(hi, node->hi, 3 * sizeof *hi);
    if (e->obb != NULL && e->obb[w] != FACET_GFX12_OBB_NONE) {
        memcpy(lo, e->boxes[8 * (size_t)w + c].lo, 3 * sizeof *lo);
        memcpy(hi, e->boxes[8 * (size_t)w + c].hi, 3 * sizeof *hi);
    }
}

static uint32_t parent_id(const struct facet_gfx12_emit *e, const struct facet_wide_node *wide)
{
    return wide->parent == UINT32_MAX
               ? FACET_GFX12_INVALID
               : facet_gfx12_id_make((uint64_t)address_of(e, wide->parent) * 128,
                                     FACET_GFX12_TYPE_BOX);
}

/* The table-driven codec of node.c takes a sixth of the build, so box nodes are written here
 * directly; the tests decode every one of them with the codec. */
static void store_child(uint8_t *bytes, const struct facet_gfx12_child *c)
{
    facet_store_le32(bytes,
                     c->min[0] | (uint32_t)c->min[1] << 12 | (uint32_t)c->cull_flags << 24 |
                         (uint32_t)c->unused << 28);
    facet_store_le32(bytes + 4,
                     c->min[2] | (uint32_t)c->max[0] << 12 | (uint32_t)c->cull_mask << 24);
    facet_store_le32(bytes + 8,
                     c->max[1] | (uint32_t)c->max[2] << 12 | (uint32_t)c->node_type << 24 |
                         (uint32_t)c->node_size << 28);
}

static void store_grid(uint8_t *bytes, const struct facet_gfx12_box *box)
{
    const uint32_t words[5] = {
        box->origin[0],
        box->origin[1],
        box->origin[2],
        box->exponent[0] | (uint32_t)box->exponent[1] << 8 | (uint32_t)box->exponent[2] << 16 |
            (uint32_t)box->child_count_minus_one << 28,
        box->obb_matrix_index,
    };

    for (int i = 0; i < 5; i++) {
        facet_store_le32(bytes + 12 + 4 * i, words[i]);
    }
}

#define CHILDREN 32 /* where they begin */
#define CHILD 12

/* Grid and boxes of a box node, children in the order of the wide node. */
static bool shape_box(const struct facet_gfx12_emit *e, uint32_t w)
{
    const struct facet_wide_node *wide = &e->level->wide.nodes[w];
    uint8_t *bytes = e->nodes + (size_t)w * 128;
    struct facet_gfx12_box box = {.obb_matrix_index = FACET_GFX12_OBB_NONE};
    uint32_t lo[8][3], hi[8][3];

    box.child_count_minus_one = (uint8_t)(wide->count - 1);
    if (e->obb != NULL) {
        box.obb_matrix_index = e->obb[w];
    }
    for (unsigned i = 0; i < wide->count; i++) {
        child_box(e, w, i, lo[i], hi[i]);
    }
    if (!facet_gfx12_box_grid(&box, lo, hi, wide->count)) {
        return false;
    }
    store_grid(bytes, &box);
    for (unsigned i = 0; i < 8; i++) {
        struct facet_gfx12_child child;

        facet_gfx12_child_unused(&child);
        if (i < wide->count) {
            child = (struct facet_gfx12_child){0};
            facet_gfx12_quantize_child(lo[i], hi[i], box.origin, box.exponent, &child);
        }
        store_child(bytes + CHILDREN + CHILD * (size_t)i, &child);
    }
    return true;
}

static void shape_chunk(void *context, size_t begin, size_t end)
{
    struct facet_gfx12_emit *e = context;

    for (size_t w = begin; w < end; w++) {
        if (!shape_box(e, (uint32_t)w)) {
            e->refused = true;
            return;
        }
    }
}

static void add_bits(uint8_t *bytes, uint32_t bits)
{
    facet_store_le32(bytes, facet_load_le32(bytes) | bits);
}

/* What became known since: where everything is, and the order of the leaves. */
static void complete_box(const struct facet_gfx12_emit *e, uint32_t w)
{
    const struct facet_wide_node *wide = &e->level->wide.nodes[w];
    const struct facet_leaf_place *place = &e->place[w];
    uint8_t *bytes = e->nodes + (size_t)w * 128;
    uint8_t shaped[8 * CHILD];

    facet_store_le32(bytes, wide->inner != 0 ? 16 * address_of(e, wide->first_inner) : 0);
    facet_store_le32(bytes + 4, wide->count > wide->inner ? 16 * leaves_of(e, w) : 0);
    facet_store_le32(bytes + 8, parent_id(e, wide));
    memcpy(shaped, bytes + CHILDREN, sizeof shaped);
    for (unsigned i = 0; i < wide->count; i++) {
        const bool inner = i < wide->inner;
        const unsigned leaf = i - wide->inner, c = inner ? i : place->order[leaf];
        uint8_t *to = bytes + CHILDREN + CHILD * (size_t)i;

        memcpy(to, shaped + CHILD * (size_t)c, CHILD);
        add_bits(to, (uint32_t)wide->flags[c] << 24);
        add_bits(to + 4, (uint32_t)child_mask(e, wide, c) << 24);
        add_bits(to + 8,
                 (uint32_t)(inner ? FACET_GFX12_TYPE_BOX : place->type[leaf]) << 24 |
                     (uint32_t)(inner ? 1 : place->size[leaf]) << 28);
    }
}

static void complete_chunk(void *context, size_t begin, size_t end)
{
    for (size_t w = begin; w < end; w++) {
        complete_box(context, (uint32_t)w);
    }
}

void facet_gfx12_instance_place(const struct facet_bvh_instance *in,
                                bool procedural,
                                uint64_t address,
                                struct facet_gfx12_instance *node)
{
    const unsigned flags = (in->flags & 0xFF) | (procedural ? FACET_GFX12_SKIP_TRIANGLES |
                                                                  FACET_GFX12_DISABLE_TRIANGLE_CULL
                                                            : FACET_GFX12_SKIP_PROCEDURAL);

    memcpy(node->world_to_object, in->world_to_object, sizeof node->world_to_object);
    node->pointer = facet_gfx12_base_make(address, flags);
    node->user_data = in->user_data;
    node->cull_mask = in->mask;
}

/* Section 8: one child, the bounds of the BLAS; false when it is too wide. */
static bool instance_node(const struct facet_bvh_instance *in,
                          const struct facet_level_summary *blas,
                          uint64_t address,
                          uint32_t parent,
                          uint8_t bytes[128])
{
    struct facet_gfx12_instance node = {.parent = parent};
    uint32_t lo[3], hi[3];

    facet_gfx12_instance_place(in, blas->procedural, address, &node);
    memcpy(lo, blas->lo, sizeof lo);
    memcpy(hi, blas->hi, sizeof hi);
    for (int k = 0; k < 3; k++) {
        node.origin[k] = lo[k];
        if (!facet_gfx12_quantize_exponent(lo[k], hi[k], &node.exponent[k])) {
            return false;
        }
    }
    for (int c = 0; c < 4; c++) {
        facet_gfx12_child_unused(&node.child[c]);
    }
    node.child[0] = (struct facet_gfx12_child){
        .cull_mask = 0xFF, .node_type = FACET_GFX12_TYPE_BOX, .node_size = 1};
    facet_gfx12_quantize_child(lo, hi, node.origin, node.exponent, &node.child[0]);
    facet_gfx12_instance_encode(&node, bytes);
    return true;
}

static bool
write_instance(const struct facet_gfx12_emit *e, uint32_t w, uint32_t id, uint8_t *bytes)
{
    const struct facet_bvh_instance *in = &e->level->instances[id];
    const struct facet_level_summary *blas = &e->level->blas[in->blas];

    return instance_node(
        in,
        blas,
        e->level->base + e->level->size + blas->offset,
        facet_gfx12_id_make((uint64_t)address_of(e, w) * 128, FACET_GFX12_TYPE_BOX),
        bytes);
}

static bool write_leaves(const struct facet_gfx12_emit *e, uint32_t w)
{
    const struct facet_level *level = e->level;
    const struct facet_wide_node *wide = &level->wide.nodes[w];
    uint8_t *bytes = e->image + (size_t)leaves_of(e, w) * 128;

    for (unsigned c = wide->inner; c < wide->count; c++, bytes += 128) {
        uint32_t id = level->ids[wide->child[c].first];

        if (level->kind == FACET_LEVEL_AABBS) {
            facet_gfx12_pack_aabb(&level->input->aabbs[id], bytes);
        } else if (!write_instance(e, w, id, bytes)) {
            return false;
        }
    }
    return true;
}

/* Copies the packed nodes of a chunk: with shared packing they are one run, else each wide node's
 * nodes have their own place. */
static void copy_packed(const struct facet_gfx12_emit *e, size_t begin, size_t end)
{
    const struct chunk *chunk = &e->chunks[begin / PACK_CHUNK];
    const uint8_t *from = chunk->nodes;

    if (e->level->shared) {
        if (chunk->node_count != 0) {
            memcpy(e->image + (size_t)chunk->first * 128, from, (size_t)chunk->node_count * 128);
        }
        return;
    }
    for (size_t w = begin; w < end; w++) {
        size_t size = (size_t)e->place[w].nodes * 128;

        if (size != 0) {
            memcpy(e->image + (size_t)e->place[w].first * 128, from, size);
            from += size;
        }
    }
}

static void write_chunk(void *context, size_t begin, size_t end)
{
    struct facet_gfx12_emit *e = context;
    bool ok = true;

    for (size_t w = begin; w < end; w++) {
        memcpy(e->image + (size_t)address_of(e, (uint32_t)w) * 128, e->nodes + w * 128, 128);
    }
    if (e->level->kind == FACET_LEVEL_TRIANGLES) {
        copy_packed(e, begin, end);
    }
    for (size_t w = begin; w < end && ok && e->level->kind != FACET_LEVEL_TRIANGLES; w++) {
        ok = write_leaves(e, (uint32_t)w);
    }
    if (!ok) {
        e->refused = true;
    }
}

/* ---- all of it ---- */

static enum facet_status
find_matrices(struct facet_gfx12_emit *e, facet_pool *pool, struct facet_error *err)
{
    const uint32_t count = e->level->wide.count;

    e->obb = malloc(count);
    e->boxes = malloc((size_t)count * 8 * sizeof *e->boxes);
    return e->obb != NULL && e->boxes != NULL
               ? facet_gfx12_level_obb(e->level, pool, e->obb, e->boxes, err)
               : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for oriented boxes");
}

/* No box is wider than the root, so what its grid can hold suits all. */
static bool too_wide(const struct facet_bvh2_node *root)
{
    for (int k = 0; k < 3; k++) {
        uint8_t exponent;

        if (!facet_gfx12_quantize_exponent(
                facet_float_bits(root->lo[k]), facet_float_bits(root->hi[k]), &exponent)) {
            return true;
        }
    }
    return false;
}

static enum facet_status refuse_width(struct facet_error *err)
{
    return facet_fail(
        err, FACET_ERR_INPUT, 0, "the scene is more than 2^127 wide, which a box node cannot hold");
}

/* Before the boxes of the tree are given up. */
static enum facet_status shape(struct facet_gfx12_emit *e,
                               struct facet_level *level,
                               bool obb,
                               facet_pool *pool,
                               struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    if (too_wide(&level->tree.nodes[0])) {
        return refuse_width(err);
    }
    if (obb) {
        status = find_matrices(e, pool, err);
    }
    if (status == FACET_OK) {
        facet_pool_for(pool, e->box_count, PACK_CHUNK, shape_chunk, e);
        status = e->refused ? refuse_width(err) : FACET_OK;
    }
    free(e->boxes);
    e->boxes = NULL;
    facet_bvh2_free(&level->tree);
    return status;
}

static enum facet_status plan(struct facet_gfx12_emit *e,
                              struct facet_level *level,
                              facet_pool *pool,
                              struct facet_level_summary *summary,
                              struct facet_error *err)
{
    uint64_t nodes;

    facet_pool_for(pool, e->box_count, PACK_CHUNK, pack_chunk, e);
    if (level->kind == FACET_LEVEL_TRIANGLES) {
        free(level->ids);
        free(level->pairs);
        level->ids = NULL;
        level->pairs = NULL;
    }
    for (uint32_t c = 0; c < e->chunk_count; c++) {
        if (e->chunks[c].failed) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for primitive nodes");
        }
    }
    summary->cull_flags = join_flags(e, pool);
    nodes = give_addresses(e);
    if (nodes > MAX_NODES) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          nodes,
                          "the BVH needs %llu nodes, but node IDs reach %u",
                          (unsigned long long)nodes,
                          MAX_NODES);
    }
    level->size = nodes * 128;
    facet_pool_for(pool, e->box_count, PACK_CHUNK, complete_chunk, e);
    if (level->kind == FACET_LEVEL_TRIANGLES) {
        facet_bvh_wide_free(&level->wide);
    }
    if (level->shared) { /* packed nodes are copied as they are */
        free(e->place);
        e->place = NULL;
    }
    return FACET_OK;
}

enum facet_status facet_gfx12_level_plan(struct facet_level *level,
                                         bool obb,
                                         facet_pool *pool,
                                         struct facet_level_summary *summary,
                                         struct facet_error *err)
{
    const uint32_t count = level->wide.count;
    struct facet_gfx12_emit *e = calloc(1, sizeof *e);
    enum facet_status status;

    level->emit = e;
    if (e != NULL) {
        e->level = level;
        e->box_count = count;
        e->chunk_count = (count + PACK_CHUNK - 1) / PACK_CHUNK;
        e->nodes = facet_large_alloc((size_t)count * 128);
        e->place = facet_large_alloc((size_t)count * sizeof *e->place);
        e->chunks = calloc(e->chunk_count, sizeof *e->chunks);
        e->address = level->shared ? NULL : malloc((size_t)count * sizeof *e->address);
        e->masks = level->kind == FACET_LEVEL_INSTANCES ? calloc(count, 1) : NULL;
    }
    if (e == NULL || e->nodes == NULL || e->place == NULL || e->chunks == NULL ||
        (!level->shared && e->address == NULL) ||
        (level->kind == FACET_LEVEL_INSTANCES && e->masks == NULL)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u box nodes", count);
    }
    status = shape(e, level, obb, pool, err);
    return status == FACET_OK ? plan(e, level, pool, summary, err) : status;
}

enum facet_status facet_gfx12_level_write(const struct facet_level *level,
                                          facet_pool *pool,
                                          uint8_t *image,
                                          struct facet_error *err)
{
    struct facet_gfx12_emit *e = level->emit;

    e->image = image;
    facet_pool_for(pool, e->box_count, PACK_CHUNK, write_chunk, e);
    return e->refused ? refuse_width(err) : FACET_OK;
}

void facet_gfx12_emit_free(struct facet_gfx12_emit *e)
{
    if (e == NULL) {
        return;
    }
    for (uint32_t c = 0; e->chunks != NULL && c < e->chunk_count; c++) {
        free(e->chunks[c].nodes);
    }
    free(e->nodes);
    free(e->place);
    free(e->address);
    free(e->chunks);
    free(e->masks);
    free(e->obb);
    free(e->boxes);
    free(e);
}
