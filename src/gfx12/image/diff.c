/* Both trees are walked together, breadth first, from their roots. Links pair up by slot; a node of
 * the first image is compared once, so that shared BLASes and cycles end. Where the kinds
 * differ, everything below is left out: one difference says it. */
#include "gfx12/image/diff.h"

#include "base/array.h"
#include "base/bits.h"
#include "gfx12/image/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pending {
    uint32_t a, b;
};

struct diff {
    const struct facet_gfx12_view *view[2];
    struct facet_gfx12_walk walk[2];
    struct pending *queue;
    size_t head, tail, capacity;
    uint8_t *seen;      /* per node of a */
    uint32_t *level[2]; /* per node: number of the bottom level that it is the root of */
    uint32_t levels[2];
    facet_gfx12_diff_fn *fn;
    void *context;
    uint64_t count;
    struct pending now;
    bool stopped, failed;
};

static void differ(
    struct diff *d, uint64_t a, uint64_t b, const char *prefix, unsigned number, const char *field)
{
    struct facet_gfx12_difference out = {.node_a = d->now.a, .node_b = d->now.b, .a = a, .b = b};

    if (a == b || d->stopped) {
        return;
    }
    if (prefix != NULL) {
        snprintf(out.field, sizeof out.field, "%s %u %s", prefix, number, field);
    } else {
        snprintf(out.field, sizeof out.field, "%s", field);
    }
    d->count++;
    d->stopped = !d->fn(d->context, &out);
}

#define DIFFER(name, member, at, width) differ(d, x->member, y->member, prefix, number, #name);

static void diff_child(struct diff *d,
                       const struct facet_gfx12_child *x,
                       const struct facet_gfx12_child *y,
                       unsigned number)
{
    const char *prefix = "child";

    FACET_GFX12_CHILD_FIELDS(DIFFER)
}

static void diff_box(struct diff *d, const uint8_t *a, const uint8_t *b)
{
    struct facet_gfx12_box boxes[2], *x = &boxes[0], *y = &boxes[1];
    const char *prefix = NULL;
    const unsigned number = 0;

    facet_gfx12_box_decode(a, x);
    facet_gfx12_box_decode(b, y);
    FACET_GFX12_BOX_FIELDS(DIFFER)
    for (unsigned i = 0; i < 8; i++) {
        diff_child(d, &x->child[i], &y->child[i], i);
    }
}

/* The pointer with the number of its bottom level, in the order in which the comparison comes to
 * them, in place of the address: where an image lies in memory is no difference. */
static uint64_t relocate(struct diff *d, int side, uint32_t node, uint64_t pointer)
{
    struct facet_gfx12_link links[8];
    uint32_t root;

    if (facet_gfx12_links(d->view[side], &d->walk[side], node, links) == 0 ||
        !facet_gfx12_link_leads(&d->walk[side], &links[0], &root)) {
        return pointer;
    }
    if (d->level[side][root] == 0) {
        d->level[side][root] = ++d->levels[side];
    }
    return (pointer & ~facet_bits_mask(45)) | d->level[side][root];
}

static void diff_instance(struct diff *d, const uint8_t *a, const uint8_t *b)
{
    struct facet_gfx12_instance nodes[2], *x = &nodes[0], *y = &nodes[1];
    const char *prefix = NULL;
    const unsigned number = 0;

    facet_gfx12_instance_decode(a, x);
    facet_gfx12_instance_decode(b, y);
    x->pointer = relocate(d, 0, d->now.a, x->pointer);
    y->pointer = relocate(d, 1, d->now.b, y->pointer);
    FACET_GFX12_INSTANCE_FIELDS(DIFFER)
    for (unsigned i = 0; i < 4; i++) {
        diff_child(d, &x->child[i], &y->child[i], i);
    }
}

static void diff_header(struct diff *d,
                        const struct facet_gfx12_prim_header *x,
                        const struct facet_gfx12_prim_header *y)
{
    const char *prefix = NULL;
    const unsigned number = 0;

    FACET_GFX12_PRIM_HEADER_FIELDS(DIFFER)
}

static void diff_pair(struct diff *d,
                      const struct facet_gfx12_pair_desc *x,
                      const struct facet_gfx12_pair_desc *y,
                      unsigned number)
{
    const char *prefix = "pair";

    FACET_GFX12_PAIR_DESC_FIELDS(DIFFER)
}

static void diff_prim(struct diff *d, const uint8_t *a, const uint8_t *b)
{
    struct facet_gfx12_prim x, y;
    uint64_t before = d->count;

    facet_gfx12_prim_decode(a, &x);
    facet_gfx12_prim_decode(b, &y);
    diff_header(d, &x.header, &y.header);
    for (unsigned i = 0;
         i < facet_gfx12_prim_pairs(&x.header) && i < facet_gfx12_prim_pairs(&y.header);
         i++) {
        diff_pair(d, &x.pair[i], &y.pair[i], i);
        for (unsigned t = 2 * i; t < 2 * i + 2; t++) {
            differ(d,
                   facet_gfx12_prim_geometry(&x, t),
                   facet_gfx12_prim_geometry(&y, t),
                   "triangle",
                   t,
                   "geometry_index");
            differ(d,
                   facet_gfx12_prim_primitive(&x, t),
                   facet_gfx12_prim_primitive(&y, t),
                   "triangle",
                   t,
                   "primitive_index");
        }
    }
    for (unsigned v = 0; v < x.vertex_count && v < y.vertex_count; v++) {
        static const char *const axis[3] = {"x", "y", "z"};
        uint32_t p[3], q[3];

        facet_gfx12_prim_vertex(&x, v, p);
        facet_gfx12_prim_vertex(&y, v, q);
        for (unsigned k = 0; k < 3; k++) {
            differ(d, p[k], q[k], "vertex", v, axis[k]);
        }
    }
    /* Bits that no field above shows: free space, slots of absent triangles, an AABB. */
    for (unsigned i = 0; i < 32 && d->count == before; i++) {
        uint32_t p, q;

        memcpy(&p, a + 4 * (size_t)i, sizeof p);
        memcpy(&q, b + 4 * (size_t)i, sizeof q);
        differ(d, p, q, "dword", i, "raw");
    }
}

static void push(struct diff *d, uint32_t a, uint32_t b)
{
    if (d->seen[a]) {
        return;
    }
    if (!facet_array_fit(&d->queue, &d->capacity, d->tail + 1, sizeof *d->queue)) {
        d->failed = true;
        return;
    }
    d->seen[a] = 1;
    d->queue[d->tail++] = (struct pending){a, b};
}

/* All nodes of two ranges. */
static void
push_ranges(struct diff *d, const struct facet_gfx12_link *a, const struct facet_gfx12_link *b)
{
    struct facet_gfx12_range x = facet_gfx12_range_start(d->view[0], a);
    struct facet_gfx12_range y = facet_gfx12_range_start(d->view[1], b);

    do {
        push(d, x.node, y.node);
    } while (facet_gfx12_range_next(&x) && facet_gfx12_range_next(&y));
}

static void follow(struct diff *d)
{
    struct facet_gfx12_link links[2][8];
    unsigned count[2];

    count[0] = facet_gfx12_links(d->view[0], &d->walk[0], d->now.a, links[0]);
    count[1] = facet_gfx12_links(d->view[1], &d->walk[1], d->now.b, links[1]);
    for (unsigned i = 0; i < count[0] && i < count[1]; i++) {
        uint32_t a, b;

        if (!facet_gfx12_link_leads(&d->walk[0], &links[0][i], &a) ||
            !facet_gfx12_link_leads(&d->walk[1], &links[1][i], &b)) {
            continue;
        }
        if (facet_gfx12_id_kind(links[0][i].id) == FACET_GFX12_KIND_PRIMITIVE &&
            facet_gfx12_id_kind(links[1][i].id) == FACET_GFX12_KIND_PRIMITIVE) {
            push_ranges(d, &links[0][i], &links[1][i]);
        } else {
            push(d, a, b);
        }
    }
}

static void compare(struct diff *d)
{
    const uint8_t *a = facet_gfx12_node_bytes(d->view[0], d->now.a);
    const uint8_t *b = facet_gfx12_node_bytes(d->view[1], d->now.b);
    const enum facet_gfx12_kind kind = d->walk[0].nodes[d->now.a].kind;

    if (kind != d->walk[1].nodes[d->now.b].kind) {
        differ(d, kind, d->walk[1].nodes[d->now.b].kind, NULL, 0, "kind");
        return;
    }
    if (kind == FACET_GFX12_KIND_INSTANCE || memcmp(a, b, FACET_GFX12_NODE_BYTES) != 0) {
        switch (kind) {
        case FACET_GFX12_KIND_BOX:
            diff_box(d, a, b);
            break;
        case FACET_GFX12_KIND_INSTANCE:
            diff_instance(d, a, b);
            break;
        default:
            diff_prim(d, a, b);
            break;
        }
    }
    follow(d);
}

static void compare_all(struct diff *d)
{
    if (d->walk[0].reached == 0 || d->walk[1].reached == 0) {
        d->now = (struct pending){FACET_GFX12_NO_NODE, FACET_GFX12_NO_NODE};
        if (d->walk[0].reached == d->walk[1].reached) {
            return; /* nothing on both sides */
        }
        differ(d, d->walk[0].reached, d->walk[1].reached, NULL, 0, "reached nodes");
        return;
    }
    push(d, d->walk[0].order[d->walk[0].reached - 1], d->walk[1].order[d->walk[1].reached - 1]);
    while (d->head < d->tail && !d->stopped && !d->failed) {
        d->now = d->queue[d->head++];
        compare(d);
    }
    d->now = (struct pending){FACET_GFX12_NO_NODE, FACET_GFX12_NO_NODE};
    differ(d, d->walk[0].reached, d->walk[1].reached, NULL, 0, "reached nodes");
    differ(d, d->view[0]->size, d->view[1]->size, NULL, 0, "size");
}

enum facet_status facet_gfx12_diff(const struct facet_gfx12_view *a,
                                   const struct facet_gfx12_view *b,
                                   facet_gfx12_diff_fn *fn,
                                   void *context,
                                   uint64_t *count,
                                   struct facet_error *err)
{
    struct diff d = {.view = {a, b}, .fn = fn, .context = context};
    enum facet_status status = facet_gfx12_walk(a, &d.walk[0], err);

    if (status == FACET_OK) {
        status = facet_gfx12_walk(b, &d.walk[1], err);
    }
    if (status == FACET_OK) {
        d.seen = calloc((size_t)d.walk[0].count + 1, 1);
        d.level[0] = calloc((size_t)d.walk[0].count + 1, sizeof *d.level[0]);
        d.level[1] = calloc((size_t)d.walk[1].count + 1, sizeof *d.level[1]);
        d.failed = d.seen == NULL || d.level[0] == NULL || d.level[1] == NULL;
        if (!d.failed) {
            compare_all(&d);
        }
        if (d.failed) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to compare the images");
        }
    }
    *count = d.count;
    free(d.queue);
    free(d.seen);
    free(d.level[0]);
    free(d.level[1]);
    facet_gfx12_walk_free(&d.walk[0]);
    facet_gfx12_walk_free(&d.walk[1]);
    return status;
}
