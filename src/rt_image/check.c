/* One walk from the root, without recursion. Each 16 bytes of the heap remember what they were used
 * as, so that nothing is entered twice and overlaps are found. */
#include "rt_image/check.h"

#include "base/array.h"
#include "bvh/bvh2.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct facet_rtbvh_rule_text facet_rtbvh_rules[FACET_RTBVH_RULES] = {
    [FACET_RTBVH_BAD_HEADER] = {"T01", "header", false, "a header as docs/rt-images.md says"},
    [FACET_RTBVH_BAD_NUMBERS] = {"T02", "RT-091", false, "legal and supported values of MODE and ALT"},
    [FACET_RTBVH_BAD_SECTION] = {"T03", "RT-086", false, "sections inside the file, apart, aligned to 64 bytes"},
    [FACET_RTBVH_BAD_ROOT] = {"T04", "RT-099", false, "the root is node 0 and lies in the heap"},
    [FACET_RTBVH_CHILD_TYPE] = {"T05", "RT-097", false, "child type 0, 1 or 2"},
    [FACET_RTBVH_NODE_OUTSIDE] = {"T06", "RT-099", false, "a node index inside the heap"},
    [FACET_RTBVH_LEAF_OUTSIDE] = {"T07", "RT-100", false, "a leaf index inside the heap"},
    [FACET_RTBVH_CYCLE] = {"T08", "RT-099", false, "no node below itself"},
    [FACET_RTBVH_NODE_TWICE] = {"T09", "RT-099", false, "every node is referred to once and overlaps nothing"},
    [FACET_RTBVH_LEAF_TWICE] = {"T10", "RT-100", false, "every TriRange is referred to once and overlaps nothing"},
    [FACET_RTBVH_BOX_NAN] = {"T11", "RT-090", false, "box elements that are numbers"},
    [FACET_RTBVH_BOX_INVERTED] = {"T12", "RT-090", false, "min not above max"},
    [FACET_RTBVH_BOX_CHILD] = {"T13", "RT-090", false, "a box that contains the boxes of the node below"},
    [FACET_RTBVH_BOX_TRIANGLE] = {"T14", "RT-090", false, "a box that contains the triangles of its leaf"},
    [FACET_RTBVH_RANGE] = {"T15", "RT-102", false, "first + count not beyond the triangles, count not 0"},
    [FACET_RTBVH_RANGE_BASE] = {"T16", "RT-103", false, "base 0, so that a job's tri_buf is used"},
    [FACET_RTBVH_TRIANGLE_NUMBER] = {"T17", "RT-161", false, "finite corners"},
    [FACET_RTBVH_TRIANGLE_TWICE] = {"T18", "RT-101", false, "every triangle in at most one TriRange"},
    [FACET_RTBVH_STACK_NEED] = {"T19", "RT-128", false, "at most 256 stack entries"},
    [FACET_RTBVH_COUNTS] = {"T20", "header", false, "counts of the header equal to what is there"},
    [FACET_RTBVH_PADDING] = {"T21", "RT-089", true, "padding and fields of empty children are 0"},
    [FACET_RTBVH_UNUSED] = {"T22", "RT-102", true, "every triangle in some TriRange"},
};
/* clang-format on */

enum use { FREE, NODE, NODE_BODY, RANGE, ON_PATH = 0x80 };

struct frame {
    uint64_t at;
    unsigned next;            /* child to look at */
    unsigned children, below; /* not empty; most stack entries below one of them */
    bool boxed;               /* the box of the reference is sound: */
    float min[3], max[3];
};

struct checker {
    struct facet_rtbvh_check *out;
    const struct facet_rtbvh_view *view;
    uint32_t max_findings;
    size_t finding_capacity, place_capacity;
    uint8_t *use;  /* per 16 bytes of the heap */
    uint8_t *seen; /* per triangle */
    struct frame *stack;
    uint64_t depth;
    size_t stack_capacity;
    bool failed; /* no memory */
};

/* Whether an array has room for one more; without memory the check has failed. */
static bool fits(struct checker *c, void *array, uint64_t count, size_t *capacity, size_t size)
{
    c->failed |= !facet_array_fit(array, capacity, (size_t)count + 1, size);
    return !c->failed;
}

__attribute__((format(printf, 4, 5))) static void
report(struct checker *c, enum facet_rtbvh_rule rule, uint64_t offset, const char *format, ...)
{
    struct facet_rtbvh_check *out = c->out;
    struct facet_rtbvh_finding *f;
    va_list args;

    if (facet_rtbvh_rules[rule].warning) {
        out->warnings++;
    } else {
        out->errors++;
    }
    if (out->count >= c->max_findings) {
        return;
    }
    if (!fits(c, &out->findings, out->count, &c->finding_capacity, sizeof *out->findings)) {
        return;
    }
    f = &out->findings[out->count++];
    *f = (struct facet_rtbvh_finding){.offset = offset, .rule = rule};
    va_start(args, format);
    (void)vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

static uint64_t file_offset(const struct checker *c, uint64_t at)
{
    return c->view->header.heap.offset + at;
}

/* Where the type and the index of a child stand. */
static uint64_t word_offset(const struct checker *c, uint64_t at, unsigned child, unsigned slot)
{
    return file_offset(c, at) + child / FACET_RT_TILE_CHILDREN * c->view->tile_bytes +
           facet_rt_tile_word(&c->view->container, slot);
}

static uint64_t flags_offset(const struct checker *c, uint64_t at, unsigned child)
{
    return word_offset(c, at, child, 3);
}

static uint64_t index_offset(const struct checker *c, uint64_t at, unsigned child)
{
    return word_offset(c, at, child, child % FACET_RT_TILE_CHILDREN);
}

static uint64_t box_offset(const struct checker *c, uint64_t at, unsigned child, unsigned field)
{
    return file_offset(c, at) + child / FACET_RT_TILE_CHILDREN * c->view->tile_bytes +
           facet_container_offset(&c->view->container,
                                  FACET_RT_BOX_ELEMENTS * (child % FACET_RT_TILE_CHILDREN) + field);
}

/* ---- use of the heap ---- */

/* Bytes at .. at + size are inside the heap. */
static bool inside(const struct checker *c, uint64_t at, uint64_t size)
{
    uint64_t heap = c->view->header.heap.size;

    return at <= heap && size <= heap - at;
}

static bool claim(struct checker *c, uint64_t at, uint64_t size, enum use first, enum use rest)
{
    uint8_t *use = c->use + at / FACET_RT_RANGE_BYTES;
    uint64_t units = size / FACET_RT_RANGE_BYTES;
    struct facet_rtbvh_check *out = c->out;

    for (uint64_t i = 0; i < units; i++) {
        if (use[i] != FREE) {
            return false;
        }
    }
    if (!fits(c, &out->places, out->place_count, &c->place_capacity, sizeof *out->places)) {
        return false;
    }
    memset(use, rest, (size_t)units);
    use[0] = (uint8_t)first;
    out->places[out->place_count++] = (struct facet_rtbvh_place){at, first == RANGE};
    return true;
}

/* ---- leaves ---- */

static void check_triangle(struct checker *c, uint32_t k, const struct facet_rtbvh_child *child)
{
    const struct facet_rtbvh_header *h = &c->view->header;
    uint64_t offset =
        h->triangles.offset +
        facet_container_offset(&c->view->container, (uint64_t)FACET_RT_TRIANGLE_ELEMENTS * k);
    float corner[3][3];
    bool bad = facet_rtbvh_triangle(c->view, k, corner);

    for (int i = 0; i < 9; i++) {
        bad |= !isfinite(corner[i / 3][i % 3]);
    }
    if (bad) {
        report(c, FACET_RTBVH_TRIANGLE_NUMBER, offset, "triangle %u: a corner is not finite", k);
        return;
    }
    if (child->nan) {
        return;
    }
    for (int i = 0; i < 9; i++) {
        int a = i % 3;
        float x = corner[i / 3][a];

        if (!(child->min[a] <= x && x <= child->max[a])) {
            report(c,
                   FACET_RTBVH_BOX_TRIANGLE,
                   offset,
                   "triangle %u: corner %d has %c = %.9g, its box is %.9g to %.9g",
                   k,
                   i / 3,
                   "xyz"[a],
                   (double)x,
                   (double)child -> min[a],
                   (double)child -> max[a]);
            return;
        }
    }
}

static void
check_leaf(struct checker *c, uint64_t node, unsigned number, const struct facet_rtbvh_child *child)
{
    uint64_t at = (uint64_t)child->index * FACET_RT_RANGE_BYTES;
    uint32_t count = c->view->header.triangle_count;
    struct facet_rt_range range;

    if (!inside(c, at, FACET_RT_RANGE_BYTES)) {
        report(c,
               FACET_RTBVH_LEAF_OUTSIDE,
               index_offset(c, node, number),
               "child %u: leaf index %u is beyond the heap",
               number,
               child->index);
        return;
    }
    if (!claim(c, at, FACET_RT_RANGE_BYTES, RANGE, RANGE)) {
        report(c,
               FACET_RTBVH_LEAF_TWICE,
               index_offset(c, node, number),
               "child %u: leaf index %u: its 16 bytes are already in use",
               number,
               child->index);
        return;
    }
    c->out->leaves++;
    range = facet_rtbvh_range(c->view, at);
    if (range.base != 0) {
        report(c,
               FACET_RTBVH_RANGE_BASE,
               file_offset(c, at) + 8,
               "base is 0x%llx",
               (unsigned long long)range.base);
    }
    if (range.count == 0 || range.first > count || range.count > count - range.first) {
        report(c,
               FACET_RTBVH_RANGE,
               file_offset(c, at),
               "first %u, count %u of %u triangles",
               range.first,
               range.count,
               count);
        return;
    }
    c->out->triangles += range.count;
    for (uint32_t k = range.first; k < range.first + range.count; k++) {
        if (c->seen[k]) { /* stopping here also bounds the work by the number of triangles */
            report(c,
                   FACET_RTBVH_TRIANGLE_TWICE,
                   file_offset(c, at),
                   "triangle %u of first %u, count %u is in another TriRange too",
                   k,
                   range.first,
                   range.count);
            return;
        }
        c->seen[k] = 1;
        check_triangle(c, k, child);
    }
}

/* ---- nodes ---- */

static bool enter(struct checker *c, uint64_t at, const struct facet_rtbvh_child *child)
{
    struct frame *f;

    if (!claim(c, at, facet_rtbvh_node_bytes(c->view), NODE, NODE_BODY)) {
        return false;
    }
    if (!fits(c, &c->stack, c->depth, &c->stack_capacity, sizeof *c->stack)) {
        return false;
    }
    c->use[at / FACET_RT_RANGE_BYTES] |= ON_PATH;
    f = &c->stack[c->depth++];
    *f = (struct frame){.at = at, .boxed = child != NULL && !child->nan};
    if (f->boxed) {
        memcpy(f->min, child->min, sizeof f->min);
        memcpy(f->max, child->max, sizeof f->max);
    }
    c->out->nodes++;
    c->out->depth = c->depth > c->out->depth ? (uint32_t)c->depth : c->out->depth;
    return true;
}

static void check_inner(struct checker *c,
                        uint64_t node,
                        unsigned number,
                        const struct facet_rtbvh_child *child)
{
    uint64_t at = (uint64_t)child->index * c->view->tile_bytes;
    uint64_t where = index_offset(c, node, number);

    if (!inside(c, at, facet_rtbvh_node_bytes(c->view))) {
        report(c,
               FACET_RTBVH_NODE_OUTSIDE,
               where,
               "child %u: node index %u is beyond the heap",
               number,
               child->index);
    } else if (c->use[at / FACET_RT_RANGE_BYTES] == (NODE | ON_PATH)) {
        report(c,
               FACET_RTBVH_CYCLE,
               where,
               "child %u: node index %u is this node or above it",
               number,
               child->index);
    } else if (!enter(c, at, child)) {
        report(c,
               FACET_RTBVH_NODE_TWICE,
               where,
               "child %u: node index %u: its bytes are already in use",
               number,
               child->index);
    }
}

static void check_box(struct checker *c,
                      const struct frame *f,
                      unsigned number,
                      const struct facet_rtbvh_child *child)
{
    if (child->nan) {
        report(c,
               FACET_RTBVH_BOX_NAN,
               box_offset(c, f->at, number, 0),
               "child %u: its box has a NaN",
               number);
        return;
    }
    for (unsigned a = 0; a < 3; a++) {
        if (child->min[a] > child->max[a]) {
            report(c,
                   FACET_RTBVH_BOX_INVERTED,
                   box_offset(c, f->at, number, a),
                   "child %u: min %c = %.9g, max %.9g",
                   number,
                   "xyz"[a],
                   (double)child -> min[a],
                   (double)child -> max[a]);
        }
        if (f->boxed && (child->min[a] < f->min[a] || child->max[a] > f->max[a])) {
            report(c,
                   FACET_RTBVH_BOX_CHILD,
                   box_offset(c, f->at, number, child->min[a] < f->min[a] ? a : 3 + a),
                   "child %u: %c from %.9g to %.9g, its parent's box is %.9g to %.9g",
                   number,
                   "xyz"[a],
                   (double)child -> min[a],
                   (double)child -> max[a],
                   (double)f -> min[a],
                   (double)f -> max[a]);
        }
    }
}

static void check_empty(struct checker *c,
                        uint64_t node,
                        unsigned number,
                        const struct facet_rtbvh_child *child)
{
    bool zero = child->index == 0;

    for (unsigned f = 0; f < FACET_RT_BOX_ELEMENTS; f++) {
        zero &= child->elements[f] == 0;
    }
    if (child->code == 3) {
        report(c,
               FACET_RTBVH_CHILD_TYPE,
               flags_offset(c, node, number),
               "child %u has type 3, which is reserved",
               number);
    } else if (!zero) {
        report(c,
               FACET_RTBVH_PADDING,
               box_offset(c, node, number, 0),
               "child %u is empty, but its index or box is not 0",
               number);
    }
}

static void check_padding(struct checker *c, uint64_t node)
{
    const struct facet_container *k = &c->view->container;
    uint64_t from =
        facet_container_array_bytes(k, (uint64_t)FACET_RT_BOX_ELEMENTS * FACET_RT_TILE_CHILDREN);

    for (uint64_t at = node; at < node + facet_rtbvh_node_bytes(c->view);
         at += c->view->tile_bytes) {
        for (uint64_t i = at + from; i < at + facet_rt_tile_word(k, 0); i++) {
            if (c->view->bytes[file_offset(c, i)] != 0) {
                report(c,
                       FACET_RTBVH_PADDING,
                       file_offset(c, i),
                       "padding of the tile is 0x%02x",
                       c->view->bytes[file_offset(c, i)]);
                break;
            }
        }
    }
}

/* The area of what the root's children cover, and of everything else against it. */
static double area_of(const struct facet_rtbvh_child *child)
{
    double area = child->nan ? 0.0 : facet_bvh_box_area(child->min, child->max);

    return isfinite(area) ? area : 0.0;
}

/* One child of the frame on top; the frame may move. */
static void step(struct checker *c)
{
    struct frame *f = &c->stack[c->depth - 1];
    uint64_t node = f->at;
    unsigned number = f->next++;
    struct facet_rtbvh_child child = facet_rtbvh_child(c->view, node, number);

    if (number == 0) {
        check_padding(c, node);
    }
    if (child.type == FACET_RT_EMPTY) {
        check_empty(c, node, number, &child);
        return;
    }
    f->children++;
    check_box(c, f, number, &child);
    if (child.type == FACET_RT_NODE) {
        c->out->sah += area_of(&child);
        check_inner(c, node, number, &child);
    } else {
        uint64_t before = c->out->triangles;

        check_leaf(c, node, number, &child);
        c->out->sah += area_of(&child) * (double)(c->out->triangles - before);
    }
}

static void leave(struct checker *c)
{
    struct frame *f = &c->stack[--c->depth];
    unsigned need = f->children;

    if (f->below != 0 && f->children - 1 + f->below > need) {
        need = f->children - 1 + f->below;
    }
    c->use[f->at / FACET_RT_RANGE_BYTES] &= (uint8_t)~ON_PATH;
    c->out->children[f->children]++;
    if (c->depth == 0) {
        c->out->stack = need > 1 ? need : 1;
    } else if (need > c->stack[c->depth - 1].below) {
        c->stack[c->depth - 1].below = need;
    }
}

static void walk(struct checker *c)
{
    const struct facet_rtbvh_header *h = &c->view->header;

    if (h->root != 0 || !inside(c, 0, facet_rtbvh_node_bytes(c->view))) {
        report(c,
               FACET_RTBVH_BAD_ROOT,
               88,
               "root %u in a heap of %llu bytes",
               h->root,
               (unsigned long long)h->heap.size);
        return;
    }
    (void)enter(c, 0, NULL);
    while (c->depth > 0 && !c->failed) {
        if (c->stack[c->depth - 1].next < h->children) {
            step(c);
        } else {
            leave(c);
        }
    }
}

static void root_cost(struct checker *c)
{
    struct facet_rtbvh_child all = {.nan = true};
    double area;

    for (unsigned i = 0; i < c->view->header.children; i++) {
        struct facet_rtbvh_child child = facet_rtbvh_child(c->view, 0, i);

        if (child.type == FACET_RT_EMPTY || child.nan) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            all.min[a] = all.nan ? child.min[a] : fminf(all.min[a], child.min[a]);
            all.max[a] = all.nan ? child.max[a] : fmaxf(all.max[a], child.max[a]);
        }
        all.nan = false;
    }
    area = area_of(&all);
    c->out->sah = 1.0 + (area > 0.0 ? c->out->sah / area : 0.0);
}

static void check_totals(struct checker *c)
{
    const struct facet_rtbvh_header *h = &c->view->header;
    uint64_t unused = 0, first = 0;

    if (c->out->stack > FACET_RTBVH_STACK) {
        report(c,
               FACET_RTBVH_STACK_NEED,
               h->heap.offset,
               "a ray may need %u stack entries",
               c->out->stack);
    }
    if (h->nodes != c->out->nodes || h->leaves != c->out->leaves) {
        report(c,
               FACET_RTBVH_COUNTS,
               92,
               "%u nodes and %u leaves, but %u and %u are reached",
               h->nodes,
               h->leaves,
               c->out->nodes,
               c->out->leaves);
    }
    for (uint64_t k = h->triangle_count; k-- > 0;) {
        if (!c->seen[k]) {
            unused++;
            first = k;
        }
    }
    if (unused != 0) {
        report(c,
               FACET_RTBVH_UNUSED,
               h->triangles.offset +
                   facet_container_offset(&c->view->container, FACET_RT_TRIANGLE_ELEMENTS * first),
               "%llu triangles are in no TriRange, the first is %llu",
               (unsigned long long)unused,
               (unsigned long long)first);
    }
}

/* ---- the whole ---- */

static int by_offset(const void *a, const void *b)
{
    const struct facet_rtbvh_finding *x = a, *y = b;

    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return (x->rule > y->rule) - (x->rule < y->rule);
}

static int by_address(const void *a, const void *b)
{
    const struct facet_rtbvh_place *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static enum facet_rtbvh_rule header_rule(uint64_t offset)
{
    return offset >= 40 && offset < 88   ? FACET_RTBVH_BAD_SECTION
           : offset >= 24 && offset < 40 ? FACET_RTBVH_BAD_NUMBERS
                                         : FACET_RTBVH_BAD_HEADER;
}

enum facet_status facet_rtbvh_check(const uint8_t *bytes,
                                    uint64_t size,
                                    uint32_t max_findings,
                                    struct facet_rtbvh_check *out,
                                    struct facet_error *err)
{
    struct checker c = {.out = out, .view = &out->view, .max_findings = max_findings};
    struct facet_error wrong = {0};

    *out = (struct facet_rtbvh_check){0};
    if (facet_rtbvh_open(bytes, size, &out->view, &wrong) != FACET_OK) {
        report(&c, header_rule(wrong.where), wrong.where, "%.150s", wrong.message);
    } else {
        out->open = true;
        c.use = calloc((size_t)(out->view.header.heap.size / FACET_RT_RANGE_BYTES) + 1, 1);
        c.seen = calloc((size_t)out->view.header.triangle_count + 1, 1);
        c.failed = c.use == NULL || c.seen == NULL;
        if (!c.failed) {
            walk(&c);
        }
        if (!c.failed && out->nodes != 0) {
            root_cost(&c);
        }
        if (!c.failed) {
            check_totals(&c);
        }
    }
    free(c.use);
    free(c.seen);
    free(c.stack);
    if (c.failed) {
        facet_rtbvh_check_free(out);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to check the image");
    }
    if (out->count != 0) {
        qsort(out->findings, out->count, sizeof *out->findings, by_offset);
    }
    if (out->place_count != 0) {
        qsort(out->places, (size_t)out->place_count, sizeof *out->places, by_address);
    }
    return FACET_OK;
}

void facet_rtbvh_check_free(struct facet_rtbvh_check *check)
{
    free(check->findings);
    free(check->places);
    check->findings = NULL;
    check->places = NULL;
    check->count = 0;
    check->place_count = 0;
}
