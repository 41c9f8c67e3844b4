/* See pack.h. */
#include "gfx12/pack.h"

#include "base/bits.h"
#include "base/float.h"

#include <stdlib.h>

static unsigned bit_length(uint32_t x)
{
    return 32 - facet_clz32(x);
}

/* Number of the vertex, added if it is new; 16 when there is no room. */
static unsigned vertex_number(uint32_t vertices[16][3], unsigned *count, const float v[3])
{
    const uint32_t bits[3] = {
        facet_float_bits(v[0]), facet_float_bits(v[1]), facet_float_bits(v[2])};
    for (unsigned i = 0; i < *count; i++) {
        if (memcmp(vertices[i], bits, sizeof bits) == 0) {
            return i;
        }
    }
    if (*count < 16) {
        memcpy(vertices[*count], bits, sizeof bits);
    }
    return *count < 16 ? (*count)++ : 16;
}

bool pack_node(const struct pack_pair *pairs, unsigned count, struct facet_gfx12_prim *out)
{
    uint32_t vertices[16][3];
    uint32_t zeros = 0, differ[3] = {0, 0, 0}, geometry = 0, primitive = 0;
    unsigned used = 0;
    memset(out, 0, sizeof *out);
    if (count == 0 || count > 8) {
        return false;
    }
    const struct pack_tri *first = pairs[0].tri[0];
    for (unsigned t = 0; t < 2 * count; t++) {
        const struct pack_tri *tri = pairs[t / 2].tri[t % 2];
        struct facet_gfx12_pair_tri *desc = &out->pair[t / 2].tri[t % 2];
        out->pair[t / 2].prim_range_stop = pairs[t / 2].stop;
        if (tri == NULL) {
            continue;
        }
        geometry |= tri->geometry ^ first->geometry;
        primitive |= tri->primitive ^ first->primitive;
        desc->opaque = tri->opaque;
        desc->double_sided = tri->double_sided;
        for (unsigned c = 0; c < 3; c++) {
            unsigned index = vertex_number(vertices, &used, tri->v[c]);
            if (index == 16) {
                return false;
            }
            desc->index[c] = (uint8_t)index;
        }
        if (facet_gfx12_tri_procedural(desc)) {
            return false;
        }
    }
    for (unsigned i = 0; i < used; i++) {
        for (unsigned k = 0; k < 3; k++) {
            zeros |= vertices[i][k];
            differ[k] |= vertices[i][k] ^ vertices[0][k];
        }
    }
    struct facet_gfx12_prim_header *h = &out->header;
    unsigned tz = zeros != 0 ? facet_ctz32(zeros) : 31;
    h->trailing_zero_bits = (uint8_t)tz;
    for (unsigned k = 0; k < 3; k++) {
        unsigned prefix = 32 - bit_length(differ[k]);
        prefix = prefix < 31 - tz ? prefix : 31 - tz;
        h->vertex_bits_minus_one[k] = (uint8_t)(32 - tz - prefix - 1);
        out->prefix[k] = prefix == 0 ? 0 : vertices[0][k] >> (32 - prefix);
        for (unsigned i = 0; i < used; i++) {
            out->payload[i][k] = vertices[i][k] >> tz & (uint32_t)facet_bits_mask(32 - tz - prefix);
        }
    }
    unsigned gpb = (bit_length(geometry) + 1) / 2, ppb = bit_length(primitive);
    h->geometry_index_base_bits_div_2 = (uint8_t)((bit_length(first->geometry) + 1) / 2);
    h->geometry_index_bits_div_2 = (uint8_t)gpb;
    h->primitive_index_base_bits = (uint8_t)bit_length(first->primitive);
    h->primitive_index_bits = (uint8_t)ppb;
    h->triangle_pair_count_minus_one = (uint8_t)(count - 1);
    out->geometry_base = first->geometry;
    out->primitive_base = first->primitive;
    for (unsigned t = 1; t < 2 * count; t++) {
        const struct pack_tri *tri = pairs[t / 2].tri[t % 2];
        if (tri != NULL) {
            out->geometry_payload[t] = tri->geometry & (uint32_t)facet_bits_mask(2 * gpb);
            out->primitive_payload[t] = tri->primitive & (uint32_t)facet_bits_mask(ppb);
        }
    }
    out->vertex_count = (uint8_t)used;
    if (facet_gfx12_prim_bits(h, used) > 1024) {
        return false;
    }
    h->indices_midpoint =
        (uint16_t)(1024 - 29 * count - (2 * count - 1) * ppb - h->primitive_index_base_bits);
    return true;
}

/* ---- images ---- */

void pack_free(struct pack_image *image)
{
    free(image->bytes);
    memset(image, 0, sizeof *image);
}

/* `count` zeroed nodes; returns their byte offset. */
static size_t allocate(struct pack_image *image, unsigned count)
{
    size_t at = image->size, need = at + (size_t)128 * count;
    if (need > image->capacity) {
        size_t grown = need * 2;
        uint8_t *bytes = realloc(image->bytes, grown);
        if (bytes == NULL) {
            abort();
        }
        image->bytes = bytes;
        image->capacity = grown;
    }
    memset(image->bytes + at, 0, need - at);
    image->size = need;
    return at;
}

struct bounds {
    float lo[3], hi[3];
};

static struct bounds bounds_of(const struct pack_tri *const *items, unsigned count, float pad)
{
    struct bounds b;
    for (unsigned k = 0; k < 3; k++) {
        b.lo[k] = b.hi[k] = items[0]->v[0][k];
        for (unsigned i = 0; i < 3 * count; i++) {
            float x = items[i / 3]->v[i % 3][k];
            b.lo[k] = x < b.lo[k] ? x : b.lo[k];
            b.hi[k] = x > b.hi[k] ? x : b.hi[k];
        }
        b.lo[k] -= pad;
        b.hi[k] += pad;
    }
    return b;
}

static int sort_axis;

static int by_centroid(const void *a, const void *b)
{
    const struct pack_tri *x = *(const struct pack_tri *const *)a;
    const struct pack_tri *y = *(const struct pack_tri *const *)b;
    float cx = x->v[0][sort_axis] + x->v[1][sort_axis] + x->v[2][sort_axis];
    float cy = y->v[0][sort_axis] + y->v[1][sort_axis] + y->v[2][sort_axis];
    return (cx > cy) - (cx < cy);
}

/* Writes bounds, origin and exponents of a box node. */
static void finish_box(struct facet_gfx12_box *box, const struct bounds *b, unsigned count)
{
    for (unsigned k = 0; k < 3; k++) {
        float lo = b[0].lo[k], hi = b[0].hi[k];
        for (unsigned i = 1; i < count; i++) {
            lo = b[i].lo[k] < lo ? b[i].lo[k] : lo;
            hi = b[i].hi[k] > hi ? b[i].hi[k] : hi;
        }
        box->origin[k] = facet_float_bits(lo);
        if (!facet_gfx12_quantize_exponent(
                facet_float_bits(lo), facet_float_bits(hi), &box->exponent[k])) {
            abort();
        }
    }
    for (unsigned i = 0; i < count; i++) {
        uint32_t lo[3], hi[3];
        for (unsigned k = 0; k < 3; k++) {
            lo[k] = facet_float_bits(b[i].lo[k]);
            hi[k] = facet_float_bits(b[i].hi[k]);
        }
        facet_gfx12_quantize_child(lo, hi, box->origin, box->exponent, &box->child[i]);
    }
    box->child_count_minus_one = (uint8_t)(count - 1);
    box->obb_matrix_index = FACET_GFX12_OBB_NONE;
}

/* Nodes of one leaf range; returns how many. With write == NULL only counts. */
static unsigned pack_leaf(const struct pack_tri *const *items, unsigned count, uint8_t *write)
{
    struct pack_pair pairs[8];
    unsigned held = 0, nodes = 0;
    struct facet_gfx12_prim prim;
    for (unsigned i = 0; i < count;) {
        pairs[held] = (struct pack_pair){
            .tri = {items[i], i + 1 < count ? items[i + 1] : NULL},
            .stop = i + 2 >= count,
        };
        bool fits = held < 7 && pack_node(pairs, held + 1, &prim);
        if (fits) {
            held++;
            i += 2;
        }
        if ((!fits && held > 0) || i >= count) {
            if (!pack_node(pairs, held, &prim)) {
                abort();
            }
            if (write != NULL) {
                facet_gfx12_prim_encode(&prim, write + (size_t)128 * nodes);
            }
            nodes++;
            held = 0;
        }
    }
    return nodes;
}

struct builder {
    struct pack_image *image;
    size_t base;
    unsigned range;
    float pad;
};

static uint32_t id_at(const struct builder *b, size_t at, unsigned type)
{
    return facet_gfx12_id_make(at - b->base, type);
}

static void build(
    const struct builder *b, size_t at, uint32_t parent, const struct pack_tri **items, unsigned n)
{
    const struct pack_tri **group[8] = {items};
    unsigned size[8] = {n};
    unsigned count = 1;
    while (count < 8) { /* split the largest group that is not a leaf */
        unsigned big = 0;
        for (unsigned i = 1; i < count; i++) {
            big = size[i] > size[big] ? i : big;
        }
        if (size[big] <= b->range) {
            break;
        }
        struct bounds bb = bounds_of(group[big], size[big], 0);
        sort_axis = 0;
        for (int k = 1; k < 3; k++) {
            if (bb.hi[k] - bb.lo[k] > bb.hi[sort_axis] - bb.lo[sort_axis]) {
                sort_axis = k;
            }
        }
        qsort(group[big], size[big], sizeof group[big][0], by_centroid);
        unsigned half = size[big] / 2;
        group[count] = group[big] + half;
        size[count] = size[big] - half;
        size[big] = half;
        count++;
    }
    struct facet_gfx12_box box;
    struct bounds bounds[8];
    unsigned inner = 0, leaf_nodes = 0;
    memset(&box, 0, sizeof box);
    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        bool leaf = size[i] <= b->range;
        unsigned nodes = leaf ? pack_leaf(group[i], size[i], NULL) : 1;
        bounds[i] = bounds_of(group[i], size[i], b->pad);
        box.child[i] = (struct facet_gfx12_child){
            .cull_mask = 0xFF, .node_type = leaf ? 0 : 5, .node_size = (uint8_t)nodes};
        inner += !leaf;
        leaf_nodes += leaf ? nodes : 0;
    }
    size_t inner_at = allocate(b->image, inner);
    size_t leaf_at = allocate(b->image, leaf_nodes);
    box.internal_child_offset = id_at(b, inner_at, 0);
    box.primitive_child_offset = id_at(b, leaf_at, 0);
    box.parent = parent;
    finish_box(&box, bounds, count);
    facet_gfx12_box_encode(&box, b->image->bytes + at);
    for (unsigned i = 0; i < count; i++) {
        if (box.child[i].node_type == 5) {
            build(b, inner_at, id_at(b, at, 5), group[i], size[i]);
            inner_at += 128;
        } else {
            leaf_at += (size_t)128 * pack_leaf(group[i], size[i], b->image->bytes + leaf_at);
        }
    }
}

size_t pack_blas(struct pack_image *image,
                 const struct pack_tri *tris,
                 unsigned count,
                 unsigned range,
                 float pad,
                 float lo[3],
                 float hi[3])
{
    const struct pack_tri **items = calloc(count, sizeof items[0]);
    struct builder b = {.image = image, .base = allocate(image, 1), .range = range, .pad = pad};
    if (items == NULL) {
        abort();
    }
    for (unsigned i = 0; i < count; i++) {
        items[i] = &tris[i];
    }
    struct bounds all = bounds_of(items, count, pad);
    memcpy(lo, all.lo, sizeof all.lo);
    memcpy(hi, all.hi, sizeof all.hi);
    build(&b, b.base, FACET_GFX12_INVALID, items, count);
    free(items);
    return b.base;
}

static void write_instance(uint8_t *at, const struct pack_instance *in, uint32_t parent)
{
    struct facet_gfx12_instance node;
    struct facet_gfx12_box box;
    struct bounds b;
    memset(&node, 0, sizeof node);
    memset(&box, 0, sizeof box);
    memcpy(b.lo, in->blas_lo, sizeof b.lo);
    memcpy(b.hi, in->blas_hi, sizeof b.hi);
    finish_box(&box, &b, 1);
    for (unsigned i = 0; i < 12; i++) {
        node.world_to_object[i] = facet_float_bits(in->world_to_object[i]);
    }
    node.pointer = facet_gfx12_base_make(in->blas, in->flags);
    node.parent = parent;
    node.user_data = in->user_data;
    node.cull_mask = in->mask;
    memcpy(node.origin, box.origin, sizeof node.origin);
    memcpy(node.exponent, box.exponent, sizeof node.exponent);
    for (unsigned i = 0; i < 4; i++) {
        facet_gfx12_child_unused(&node.child[i]);
    }
    node.child[0] = box.child[0];
    node.child[0].cull_mask = 0xFF;
    node.child[0].node_type = 5;
    node.child[0].node_size = 1;
    facet_gfx12_instance_encode(&node, at);
}

static void build_tlas(
    const struct builder *b, size_t at, uint32_t parent, const struct pack_instance *in, unsigned n)
{
    unsigned count = n <= 8 ? n : 8;
    struct facet_gfx12_box box;
    struct bounds bounds[8] = {{{0}, {0}}};
    memset(&box, 0, sizeof box);
    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
    }
    size_t below = allocate(b->image, count);
    (n <= 8 ? (box.primitive_child_offset = id_at(b, below, 0))
            : (box.internal_child_offset = id_at(b, below, 0)));
    box.parent = parent;
    for (unsigned i = 0; i < count; i++) {
        unsigned from = n * i / count, to = n * (i + 1) / count;
        memcpy(bounds[i].lo, in[from].lo, sizeof bounds[i].lo);
        memcpy(bounds[i].hi, in[from].hi, sizeof bounds[i].hi);
        uint8_t mask = 0;
        for (unsigned j = from; j < to; j++) {
            mask |= in[j].mask;
            for (unsigned k = 0; k < 3; k++) {
                bounds[i].lo[k] = in[j].lo[k] < bounds[i].lo[k] ? in[j].lo[k] : bounds[i].lo[k];
                bounds[i].hi[k] = in[j].hi[k] > bounds[i].hi[k] ? in[j].hi[k] : bounds[i].hi[k];
            }
        }
        box.child[i] = (struct facet_gfx12_child){
            .cull_mask = mask, .node_type = n <= 8 ? 6 : 5, .node_size = 1};
    }
    finish_box(&box, bounds, count);
    facet_gfx12_box_encode(&box, b->image->bytes + at);
    for (unsigned i = 0; i < count; i++) {
        unsigned from = n * i / count, to = n * (i + 1) / count;
        if (n <= 8) {
            write_instance(b->image->bytes + below + (size_t)128 * i, &in[i], id_at(b, at, 5));
        } else {
            build_tlas(b, below + (size_t)128 * i, id_at(b, at, 5), in + from, to - from);
        }
    }
}

size_t pack_tlas(struct pack_image *image, const struct pack_instance *instances, unsigned count)
{
    struct builder b = {.image = image, .base = allocate(image, 1)};
    build_tlas(&b, b.base, FACET_GFX12_INVALID, instances, count);
    return b.base;
}
