/* See build.h. The heap is: root, TriRanges, the other nodes breadth first. TriRanges come early
 * because their indices count 16 bytes and that of child 3 has only 24 bits. */
#include "rt_image/build.h"

#include "base/bits.h"
#include "base/large.h"
#include "bvh/collapse.h"
#include "bvh/reinsert.h"
#include "rt_image/format.h"
#include "rt_image/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_DEFAULT = 4, CHUNK = 4096 };

/* As measured with the job engine, which tests four triangles side by side: fetching a leaf counts
 * more than what is in it. */
static const float leaf_cost = 0.4f, triangle_cost = 0.1f;

struct build {
    const struct facet_bvh_triangle *triangles;
    const struct facet_rtbvh_options *options;
    struct facet_rtbvh_header header;
    struct facet_container container;
    struct facet_rt_numbers numbers;
    struct facet_bvh_item *items; /* of the triangles that are encoded */
    uint32_t count;
    struct facet_bvh2 tree;
    struct facet_wide wide;
    uint64_t tile_bytes;
    uint32_t tiles;      /* per node */
    uint32_t first_node; /* index of wide node 1 */
};

/* ---- numbers ---- */

static enum facet_status choose_format(struct build *b, uint32_t count, struct facet_error *err)
{
    struct facet_rtbvh_format format;
    struct facet_eff eff;
    struct facet_rtbvh_extent extent;
    enum facet_status status =
        facet_rtbvh_measure(b->triangles, count, b->options->reach, &extent, err);

    if (status != FACET_OK) {
        return status;
    }
    b->header.pad = extent.growth;
    if (!facet_rtbvh_format_make(b->options->element,
                                 b->options->quantized,
                                 extent.low,
                                 extent.high,
                                 (double)b->header.pad,
                                 &format)) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "coordinates from %g to %g: expected a range that a scale of 2^-128 to "
                          "2^127 maps to %s elements",
                          extent.low,
                          extent.high,
                          facet_format_name(b->options->element));
    }
    b->header.mode = format.mode;
    b->header.alt = format.alt;
    eff = facet_rtbvh_eff(format.mode, format.alt);
    eff.plain = b->options->plain;
    b->container = facet_container_of(&eff);
    b->numbers = facet_rt_numbers_of(&eff, NULL);
    b->tile_bytes = facet_rt_tile_bytes(&b->container);
    b->tiles = b->options->children / FACET_RT_TILE_CHILDREN;
    return FACET_OK;
}

struct item_chunk {
    uint32_t count;
    enum facet_status status;
    struct facet_error error; /* of the first triangle that does not fit */
};

struct item_job {
    const struct build *build;
    struct item_chunk *chunks;
};

/* Items of a chunk begin where its triangles do. */
static void chunk_items(void *context, size_t begin, size_t end)
{
    const struct item_job *job = context;
    const struct build *b = job->build;
    struct item_chunk *chunk = &job->chunks[begin / CHUNK];

    *chunk = (struct item_chunk){.status = FACET_OK};
    for (size_t i = begin; i < end && chunk->status == FACET_OK; i++) {
        struct facet_bvh_item *item = &b->items[begin + chunk->count];
        uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];

        *item = (struct facet_bvh_item){.id = (uint32_t)i, .weight = 1};
        chunk->status = facet_rtbvh_round_triangle(&b->numbers,
                                                   &b->triangles[i],
                                                   b->header.pad,
                                                   elements,
                                                   item->lo,
                                                   item->hi,
                                                   &chunk->error);
        chunk->count += chunk->status == FACET_OK && !facet_rtbvh_degenerate(elements);
    }
}

static enum facet_status
make_items(struct build *b, uint32_t count, facet_pool *pool, struct facet_error *err)
{
    const size_t chunks = ((size_t)count + CHUNK - 1) / CHUNK;
    struct item_job job = {.build = b};
    enum facet_status status = FACET_OK;

    b->items = facet_large_alloc(((size_t)count + 1) * sizeof *b->items);
    job.chunks = malloc((chunks + 1) * sizeof *job.chunks);
    if (b->items == NULL || job.chunks == NULL) {
        free(job.chunks);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u triangles", count);
    }
    facet_pool_for(pool, count, CHUNK, chunk_items, &job);
    for (size_t c = 0; c < chunks && status == FACET_OK; c++) {
        const struct item_chunk *chunk = &job.chunks[c];

        if (chunk->status != FACET_OK) {
            status = facet_fail(err, chunk->status, chunk->error.where, "%s", chunk->error.message);
        }
        if (b->count != c * CHUNK) {
            memmove(b->items + b->count, b->items + c * CHUNK, chunk->count * sizeof *b->items);
        }
        b->count += chunk->count;
    }
    free(job.chunks);
    return status;
}

/* ---- tree ---- */

struct stack_job {
    const struct facet_wide *wide;
    uint32_t *need; /* most stack entries that any ray can need below each node */
    uint32_t first;
};

static void chunk_stack(void *context, size_t begin, size_t end)
{
    const struct stack_job *job = context;

    for (size_t i = job->first + begin; i < job->first + end; i++) {
        const struct facet_wide_node *node = &job->wide->nodes[i];

        job->need[i] = node->count;
        for (uint32_t k = 0; k < node->inner; k++) {
            uint32_t below = node->count - 1u + job->need[node->first_inner + k];

            job->need[i] = below > job->need[i] ? below : job->need[i];
        }
    }
}

static enum facet_status
check_stack(const struct facet_wide *wide, facet_pool *pool, struct facet_error *err)
{
    struct stack_job job = {.wide = wide, .need = malloc(wide->count * sizeof *job.need)};
    uint32_t worst;

    if (job.need == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u nodes", wide->count);
    }
    for (uint32_t l = wide->level_count; l-- > 0;) {
        job.first = wide->levels[l];
        facet_pool_for(pool, wide->levels[l + 1] - job.first, CHUNK, chunk_stack, &job);
    }
    worst = job.need[0];
    free(job.need);
    if (worst > FACET_RTBVH_STACK) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          worst,
                          "the tree needs up to %u stack entries; a job has %d",
                          worst,
                          FACET_RTBVH_STACK);
    }
    return FACET_OK;
}

static enum facet_status make_tree(struct build *b,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_error *err)
{
    const struct facet_leaf_cost cost = {
        .leaf = leaf_cost,
        .test = triangle_cost,
        .units = 1,
        .max_weight = b->options->leaf_size != 0 ? b->options->leaf_size : LEAF_DEFAULT};
    enum facet_status status;

    if (b->count == 0) { /* a root without children */
        b->wide.nodes = calloc(1, sizeof *b->wide.nodes);
        b->wide.count = 1;
        return b->wide.nodes != NULL ? FACET_OK
                                     : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a node");
    }
    status = facet_bvh2_build(b->items, b->count, 1, NULL, pool, progress, &b->tree, err);
    if (status == FACET_OK) {
        status = facet_bvh2_improve(&b->tree, b->items, b->count, pool, err);
    }
    if (status == FACET_OK) {
        status =
            facet_bvh_collapse_optimal(&b->tree, &cost, b->options->children, pool, &b->wide, err);
    }
    return status == FACET_OK ? check_stack(&b->wide, pool, err) : status;
}

/* ---- bytes ---- */

static enum facet_status make_layout(struct build *b, struct facet_error *err)
{
    struct facet_rtbvh_header *h = &b->header;
    uint64_t node_bytes = b->tiles * b->tile_bytes, ranges_end, last, end;

    h->children = b->options->children;
    h->nodes = b->wide.count;
    h->triangle_count = b->count;
    for (uint32_t i = 0; i < b->wide.count; i++) {
        h->leaves += b->wide.nodes[i].count - b->wide.nodes[i].inner;
    }
    ranges_end = node_bytes + (uint64_t)FACET_RT_RANGE_BYTES * h->leaves;
    b->first_node = (uint32_t)((ranges_end + b->tile_bytes - 1) / b->tile_bytes);
    h->heap.offset = FACET_RTBVH_HEADER;
    h->heap.size = b->first_node * b->tile_bytes + (b->wide.count - 1) * node_bytes;
    last = h->heap.size / b->tile_bytes;
    if (ranges_end / FACET_RT_RANGE_BYTES > FACET_RTBVH_CHILD3 || last > FACET_RTBVH_CHILD3) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          last,
                          "%u nodes and %u leaves: expected indices below 2^24, which is what "
                          "child 3 of a tile can hold",
                          h->nodes,
                          h->leaves);
    }
    end = h->heap.offset + h->heap.size;
    h->triangles.offset = facet_align_up(end, FACET_RTBVH_ALIGN);
    h->triangles.size = facet_rtbvh_triangle_bytes(&b->container, b->count);
    end = h->triangles.offset + h->triangles.size;
    h->origins.offset = facet_align_up(end, FACET_RTBVH_ALIGN);
    h->origins.size = (uint64_t)FACET_RTBVH_ORIGIN * b->count;
    return FACET_OK;
}

static void put(const struct facet_container *c, uint8_t *array, uint64_t i, uint32_t element)
{
    uint8_t *at = array + facet_container_offset(c, i);
    uint64_t container = facet_load_le(at, c->bytes);

    container = facet_container_put(c, container, facet_container_slot(c, i), element);
    facet_store_le(at, c->bytes, container);
}

static void put_child(const struct build *b,
                      uint8_t *node,
                      unsigned c,
                      const struct facet_bvh2_node *box,
                      enum facet_rt_child type,
                      uint32_t index)
{
    uint8_t *tile = node + (c / FACET_RT_TILE_CHILDREN) * b->tile_bytes;
    unsigned slot = c % FACET_RT_TILE_CHILDREN;
    uint8_t *flags = tile + facet_rt_tile_word(&b->container, 3);
    uint32_t word = facet_load_le32(flags) | (uint32_t)type << (2 * slot);
    uint64_t first = (uint64_t)FACET_RT_BOX_ELEMENTS * slot;
    uint32_t elements[FACET_RT_BOX_ELEMENTS];

    facet_rtbvh_round_box(&b->numbers, box->lo, box->hi, b->header.pad, elements);
    for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS; f++) {
        put(&b->container, tile, first + f, elements[f]);
    }
    if (slot == 3) {
        word |= index << 8;
    } else {
        facet_store_le32(tile + facet_rt_tile_word(&b->container, slot), index);
    }
    facet_store_le32(flags, word);
}

struct put_job {
    const struct build *build;
    uint8_t *bytes;
    uint32_t *first_range; /* of each chunk of nodes, by its index in the heap */
};

static void put_nodes(void *context, size_t begin, size_t end)
{
    const struct put_job *job = context;
    const struct build *b = job->build;
    uint8_t *heap = job->bytes + b->header.heap.offset;
    uint32_t range = job->first_range[begin / CHUNK];

    for (size_t i = begin; i < end; i++) {
        const struct facet_wide_node *node = &b->wide.nodes[i];
        uint64_t index = i == 0 ? 0 : b->first_node + (uint64_t)(i - 1) * b->tiles;
        uint8_t *at = heap + index * b->tile_bytes;

        for (unsigned c = 0; c < node->count; c++) {
            const struct facet_wide_child *child = &node->child[c];
            const struct facet_bvh2_node *box = &b->tree.nodes[child->node];

            if (c < node->inner) {
                put_child(b,
                          at,
                          c,
                          box,
                          FACET_RT_NODE,
                          b->first_node + (node->first_inner + c - 1) * b->tiles);
            } else {
                uint8_t *entry = heap + (uint64_t)range * FACET_RT_RANGE_BYTES;

                facet_store_le32(entry, child->first);
                facet_store_le32(entry + 4, child->count);
                put_child(b, at, c, box, FACET_RT_LEAF, range++);
            }
        }
    }
}

/* CHUNK is a multiple of the elements of a container, so no two chunks share one. */
static void put_triangles(void *context, size_t begin, size_t end)
{
    const struct put_job *job = context;
    const struct build *b = job->build;
    uint8_t *buffer = job->bytes + b->header.triangles.offset;
    uint8_t *origins = job->bytes + b->header.origins.offset;

    for (size_t k = begin; k < end; k++) {
        const struct facet_bvh_triangle *t = &b->triangles[b->items[k].id];
        uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
        struct facet_error none = {0}; /* it was looked at in make_items */
        float lo[3], hi[3];

        (void)facet_rtbvh_round_triangle(&b->numbers, t, b->header.pad, elements, lo, hi, &none);
        for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
            put(&b->container, buffer, (uint64_t)FACET_RT_TRIANGLE_ELEMENTS * k + i, elements[i]);
        }
        facet_store_le32(origins + 8 * k, t->geometry);
        facet_store_le32(origins + 8 * k + 4, t->primitive);
    }
}

/* The ranges of all nodes follow the root, in their order. */
static void place_ranges(const struct build *b, uint32_t *first_range)
{
    uint32_t range = (uint32_t)(b->tiles * b->tile_bytes / FACET_RT_RANGE_BYTES);

    for (uint32_t i = 0; i < b->wide.count; i++) {
        if (i % CHUNK == 0) {
            first_range[i / CHUNK] = range;
        }
        range += b->wide.nodes[i].count - b->wide.nodes[i].inner;
    }
}

static enum facet_status put_image(const struct build *b,
                                   facet_pool *pool,
                                   struct facet_rtbvh_image *out,
                                   struct facet_error *err)
{
    uint64_t size = b->header.origins.offset + b->header.origins.size;
    struct put_job job = {.build = b, .bytes = calloc(1, (size_t)size)};

    job.first_range = malloc((b->wide.count / CHUNK + 1) * sizeof *job.first_range);
    if (job.bytes == NULL || job.first_range == NULL) {
        free(job.bytes);
        free(job.first_range);
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for an image of %llu bytes",
                          (unsigned long long)size);
    }
    facet_rtbvh_header_write(&b->header, job.bytes);
    place_ranges(b, job.first_range);
    facet_pool_for(pool, b->wide.count, CHUNK, put_nodes, &job);
    facet_pool_for(pool, b->count, CHUNK, put_triangles, &job);
    free(job.first_range);
    *out = (struct facet_rtbvh_image){job.bytes, size};
    return FACET_OK;
}

static enum facet_status
check_options(const struct facet_rtbvh_options *o, uint32_t count, struct facet_error *err)
{
    if ((o->children != 4 && o->children != 8) || o->element >= FACET_FMT_COUNT ||
        o->element == FACET_FMT_FP64 || (o->quantized && !facet_format_is_int(o->element)) ||
        o->leaf_size > 255) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "expected 4 or 8 children, an element format of CAP (quantized: an "
                          "integer one) and up to 255 triangles per leaf");
    }
    if (!(o->reach >= 0.0) || !isfinite(o->reach)) {
        return facet_fail(
            err,
            FACET_ERR_INPUT,
            0,
            "rays start up to %g from the origin: expected a finite number; the scene "
            "or its camera is too large",
            o->reach);
    }
    if (count > FACET_BVH_MAX_ITEMS) {
        return facet_fail(
            err, FACET_ERR_LIMIT, count, "%u triangles; expected at most 2^30", count);
    }
    return FACET_OK;
}

enum facet_status facet_rtbvh_build(const struct facet_bvh_triangle *triangles,
                                    uint32_t count,
                                    const struct facet_rtbvh_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_rtbvh_image *out,
                                    struct facet_rtbvh_report *report,
                                    struct facet_error *err)
{
    struct build b = {.triangles = triangles, .options = options};
    enum facet_status status = check_options(options, count, err);

    *out = (struct facet_rtbvh_image){NULL, 0};
    if (status == FACET_OK) {
        status = choose_format(&b, count, err);
    }
    if (status == FACET_OK) {
        status = make_items(&b, count, pool, err);
    }
    if (status == FACET_OK) {
        status = make_tree(&b, pool, progress, err);
    }
    if (status == FACET_OK) {
        status = make_layout(&b, err);
    }
    if (status == FACET_OK) {
        status = put_image(&b, pool, out, err);
    }
    if (status == FACET_OK) {
        *report = (struct facet_rtbvh_report){b.count, count - b.count};
    }
    facet_bvh_wide_free(&b.wide);
    facet_bvh2_free(&b.tree);
    free(b.items);
    return status;
}
