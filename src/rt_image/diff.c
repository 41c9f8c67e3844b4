/* See diff.h. */
#include "rt_image/diff.h"

#include "base/float.h"
#include "num/f32.h"

#include <stdio.h>
#include <stdlib.h>

/* A node or TriRange of each image, by bytes of their heaps. */
struct pair {
    uint64_t a, b;
    bool leaf;
};

struct diff {
    const struct facet_rtbvh_view *a, *b;
    facet_rtbvh_diff_fn *fn;
    void *context;
    uint64_t count;
    uint64_t offset_a, offset_b; /* of what is compared now */
    struct pair *pairs;          /* breadth first */
    uint64_t used;
    /* Compared already: a bit per 16 bytes of the heap of a, and per triangle of a. Ranges of
     * damaged images overlap as they like. */
    uint8_t *seen, *seen_triangles;
};

/* Whether the bit was set before. */
static bool mark(uint8_t *bits, uint64_t i)
{
    bool before = (bits[i / 8] >> (i % 8) & 1) != 0;

    bits[i / 8] |= (uint8_t)(1u << (i % 8));
    return before;
}

static void compare(struct diff *d, const char *field, uint64_t a, uint64_t b)
{
    struct facet_rtbvh_difference found = {d->offset_a, d->offset_b, "", a, b};

    if (a != b) {
        (void)snprintf(found.field, sizeof found.field, "%s", field);
        d->fn(d->context, &found);
        d->count++;
    }
}

/* "child 3 type" */
static void compare_part(
    struct diff *d, const char *what, uint32_t n, const char *field, uint64_t a, uint64_t b)
{
    char name[40];

    if (a != b) {
        (void)snprintf(name, sizeof name, "%s %u %s", what, n, field);
        compare(d, name, a, b);
    }
}

/* Whether the bytes lie in the heap. */
static bool inside(const struct facet_rtbvh_view *view, uint64_t at, bool leaf)
{
    uint64_t size = leaf ? FACET_RT_RANGE_BYTES : facet_rtbvh_node_bytes(view);

    return at <= view->header.heap.size && size <= view->header.heap.size - at;
}

/* Remembers a pair, once, if it is there at all. */
static void add(struct diff *d, uint32_t index_a, uint32_t index_b, bool leaf)
{
    struct pair pair = {
        (uint64_t)index_a * (leaf ? FACET_RT_RANGE_BYTES : d->a->tile_bytes),
        (uint64_t)index_b * (leaf ? FACET_RT_RANGE_BYTES : d->b->tile_bytes),
        leaf,
    };

    if (inside(d->a, pair.a, leaf) && inside(d->b, pair.b, leaf) &&
        !mark(d->seen, pair.a / FACET_RT_RANGE_BYTES)) {
        d->pairs[d->used++] = pair;
    }
}

static void compare_node(struct diff *d, const struct pair *pair)
{
    static const char *const fields[] = {"min.x", "min.y", "min.z", "max.x", "max.y", "max.z"};

    for (unsigned c = 0; c < d->a->header.children; c++) {
        struct facet_rtbvh_child a = facet_rtbvh_child(d->a, pair->a, c);
        struct facet_rtbvh_child b = facet_rtbvh_child(d->b, pair->b, c);

        compare_part(d, "child", c, "type", a.code, b.code);
        if (a.type != b.type || a.type == FACET_RT_EMPTY) {
            continue;
        }
        compare_part(d, "child", c, "index", a.index, b.index);
        for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS; f++) {
            compare_part(d, "child", c, fields[f], a.elements[f], b.elements[f]);
        }
        add(d, a.index, b.index, a.type == FACET_RT_LEAF);
    }
}

/* Triangle k of the range; their numbers in the buffers are p and q. */
static void compare_triangle(struct diff *d, uint32_t k, uint32_t p, uint32_t q)
{
    static const char *const fields[] = {
        "v0.x", "v0.y", "v0.z", "v1.x", "v1.y", "v1.z", "v2.x", "v2.y", "v2.z"};
    uint32_t a[FACET_RT_TRIANGLE_ELEMENTS], b[FACET_RT_TRIANGLE_ELEMENTS];

    facet_rtbvh_vertices(d->a, p, a);
    facet_rtbvh_vertices(d->b, q, b);
    for (unsigned i = 0; i < FACET_RT_TRIANGLE_ELEMENTS; i++) {
        compare_part(d, "triangle", k, fields[i], a[i], b[i]);
    }
    compare_part(d,
                 "triangle",
                 k,
                 "instance",
                 facet_rtbvh_origin(d->a, p, 0),
                 facet_rtbvh_origin(d->b, q, 0));
    compare_part(d,
                 "triangle",
                 k,
                 "primitive",
                 facet_rtbvh_origin(d->a, p, 1),
                 facet_rtbvh_origin(d->b, q, 1));
}

/* How many triangles of a range exist. */
static uint32_t there(const struct facet_rtbvh_view *view, const struct facet_rt_range *range)
{
    uint32_t count = view->header.triangle_count;

    return range->first >= count                 ? 0
           : range->count > count - range->first ? count - range->first
                                                 : range->count;
}

static void compare_leaf(struct diff *d, const struct pair *pair)
{
    struct facet_rt_range a = facet_rtbvh_range(d->a, pair->a);
    struct facet_rt_range b = facet_rtbvh_range(d->b, pair->b);
    uint32_t most = there(d->a, &a) < there(d->b, &b) ? there(d->a, &a) : there(d->b, &b);

    compare(d, "first", a.first, b.first);
    compare(d, "count", a.count, b.count);
    compare(d, "base", a.base, b.base);
    for (uint32_t k = 0; k < most; k++) {
        if (!mark(d->seen_triangles, a.first + k)) {
            compare_triangle(d, k, a.first + k, b.first + k);
        }
    }
}

static void compare_headers(struct diff *d)
{
    const struct facet_rtbvh_header *a = &d->a->header, *b = &d->b->header;

    compare(d, "children", a->children, b->children);
    compare(d, "mode", a->mode, b->mode);
    compare(d, "alt", a->alt, b->alt);
    compare(d, "root", a->root, b->root);
    compare(d, "nodes", a->nodes, b->nodes);
    compare(d, "leaves", a->leaves, b->leaves);
    compare(d, "triangles", a->triangle_count, b->triangle_count);
    compare(d, "growth", facet_float_bits(a->pad), facet_float_bits(b->pad));
}

static bool same_format(const struct diff *d)
{
    return d->a->header.children == d->b->header.children && d->a->eff.elem == d->b->eff.elem &&
           d->a->container.bytes == d->b->container.bytes &&
           d->a->container.pack == d->b->container.pack;
}

enum facet_status facet_rtbvh_diff(const struct facet_rtbvh_view *a,
                                   const struct facet_rtbvh_view *b,
                                   facet_rtbvh_diff_fn *fn,
                                   void *context,
                                   uint64_t *count,
                                   struct facet_error *err)
{
    uint64_t units = a->header.heap.size / FACET_RT_RANGE_BYTES + 1;
    struct diff d = {.a = a,
                     .b = b,
                     .fn = fn,
                     .context = context,
                     .pairs = malloc((size_t)units * sizeof *d.pairs),
                     .seen = calloc(1, (size_t)units / 8 + 1),
                     .seen_triangles = calloc(1, (size_t)a->header.triangle_count / 8 + 1)};
    enum facet_status status = FACET_OK;

    *count = 0;
    if (d.pairs == NULL || d.seen == NULL || d.seen_triangles == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    } else {
        compare_headers(&d);
        if (same_format(&d)) {
            add(&d, a->header.root, b->header.root, false);
        }
        for (uint64_t i = 0; i < d.used; i++) { /* each unit of a's heap enters once at most */
            const struct pair pair = d.pairs[i];

            d.offset_a = a->header.heap.offset + pair.a;
            d.offset_b = b->header.heap.offset + pair.b;
            (pair.leaf ? compare_leaf : compare_node)(&d, &pair);
        }
    }
    free(d.pairs);
    free(d.seen);
    free(d.seen_triangles);
    *count = d.count;
    return status;
}
