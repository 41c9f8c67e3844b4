/* The nodes of an image of XPHMG_RT, its triangles and figures. Nodes and TriRanges are those that
 * the validator reaches, each below the first that refers to it. */
#include "wasm/page_tree.h"

#include "bvh/bvh2.h"
#include "rt_image/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node on the way down. */
struct frame {
    uint32_t node;
    unsigned next; /* child to look at */
};

struct rt_walk {
    struct facet_rtbvh_check check;
    const struct facet_rtbvh_view *view;
    struct page_tree tree;
    uint32_t *number; /* of the tree, by place; FACET_NONE: not yet met */
    struct frame *stack;
};

static void walk_free(struct rt_walk *w)
{
    facet_rtbvh_check_free(&w->check);
    free(w->number);
    free(w->stack);
}

/* The place at a byte of the heap; FACET_NONE where the validator found none of that kind. */
static uint32_t find_place(const struct rt_walk *w, uint64_t at, bool leaf)
{
    uint64_t low = 0, high = w->check.place_count;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (w->check.places[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < w->check.place_count && w->check.places[low].at == at &&
                   w->check.places[low].leaf == leaf
               ? (uint32_t)low
               : FACET_NONE;
}

static uint64_t place_of(const struct rt_walk *w, const struct facet_rtbvh_child *child)
{
    return (uint64_t)child->index *
           (child->type == FACET_RT_LEAF ? FACET_RT_RANGE_BYTES : w->view->tile_bytes);
}

/* Gives a place the next number. */
static uint32_t enter(struct rt_walk *w, uint32_t place, uint32_t parent, unsigned slot)
{
    const uint32_t i = w->tree.count++;
    const struct facet_rtbvh_place *p = &w->check.places[place];
    struct page_tree *t = &w->tree;

    w->number[place] = i;
    t->offset[i] = (double)(w->view->header.heap.offset + p->at);
    t->id[i] = (uint32_t)(p->at / (p->leaf ? FACET_RT_RANGE_BYTES : w->view->tile_bytes));
    t->parent[i] = parent != FACET_NONE ? (int32_t)parent : -1;
    t->depth[i] = parent != FACET_NONE ? t->depth[parent] + 1 : 0;
    t->kind[i] = p->leaf ? FACET_GFX12_KIND_PRIMITIVE : FACET_GFX12_KIND_BOX;
    t->slot[i] = (uint8_t)slot;
    page_box_empty(t->box + 6 * (size_t)i);
    return i;
}

static uint32_t triangles_of(const struct rt_walk *w, uint64_t at)
{
    const struct facet_rt_range range = facet_rtbvh_range(w->view, at);
    const uint32_t all = w->view->header.triangle_count;

    return range.first >= all                ? 0
           : range.count > all - range.first ? all - range.first
                                             : range.count;
}

/* The next child of the node on top. */
static void step(struct rt_walk *w, struct frame *f, uint32_t *depth)
{
    struct page_tree *t = &w->tree;
    const uint64_t at = (uint64_t)t->offset[f->node] - w->view->header.heap.offset;
    const unsigned slot = f->next++;
    const struct facet_rtbvh_child child = facet_rtbvh_child(w->view, at, slot);
    uint32_t place, i;

    if (child.type == FACET_RT_EMPTY) {
        return;
    }
    t->children[f->node]++;
    place = find_place(w, place_of(w, &child), child.type == FACET_RT_LEAF);
    if (place == FACET_NONE || w->number[place] != FACET_NONE) {
        return;
    }
    i = enter(w, place, f->node, slot);
    if (!child.nan) {
        page_box_widen(t->box + 6 * (size_t)i, child.min, child.max);
    }
    if (child.type == FACET_RT_LEAF) {
        t->triangles[i] = triangles_of(w, w->check.places[place].at);
    } else {
        w->stack[(*depth)++] = (struct frame){i, 0};
    }
}

/* All children of a node: how much they share, and at the root the box around them. */
static void compare_children(struct rt_walk *w, uint32_t i)
{
    struct page_tree *t = &w->tree;
    const uint64_t at = (uint64_t)t->offset[i] - w->view->header.heap.offset;
    float boxes[8][6];
    uint32_t id[8];
    unsigned count = 0;

    for (unsigned c = 0; c < w->view->header.children; c++) {
        const struct facet_rtbvh_child child = facet_rtbvh_child(w->view, at, c);

        if (child.type != FACET_RT_EMPTY && !child.nan) {
            page_box_empty(boxes[count]);
            page_box_widen(boxes[count], child.min, child.max);
            if (i == 0) {
                page_box_widen(t->box, child.min, child.max);
            }
            id[count++] = c;
        }
    }
    t->overlap[i] = page_box_overlap((const float(*)[6])boxes, id, count);
}

/* Children come after parents. A visit of a node and a test of a triangle cost one each, as in the
 * figures of the validator. */
static bool sum_up(struct rt_walk *w)
{
    struct page_tree *t = &w->tree;
    double *cost = calloc((size_t)t->count + 1, sizeof *cost);
    double whole;

    if (cost == NULL) {
        return false;
    }
    whole = facet_bvh_box_area(t->box, t->box + 3);
    for (uint32_t i = t->count; i-- > 0;) {
        const float *box = t->box + 6 * (size_t)i;
        const double area = box[0] <= box[3] ? facet_bvh_box_area(box, box + 3) : 0.0;
        const bool leaf = t->kind[i] == FACET_GFX12_KIND_PRIMITIVE;

        cost[i] += isfinite(area) ? area * (leaf ? t->triangles[i] : 1) : 0.0;
        t->area[i] = whole > 0.0 ? (float)(area / whole) : 0.0F;
        t->cost[i] = i == 0 ? (float)w->check.sah : whole > 0.0 ? (float)(cost[i] / whole) : 0.0F;
        if (t->parent[i] >= 0) {
            cost[t->parent[i]] += cost[i];
            t->triangles[t->parent[i]] += t->triangles[i];
        }
    }
    free(cost);
    return true;
}

static uint8_t *make(struct rt_walk *w, size_t *size)
{
    const uint32_t count = (uint32_t)w->check.place_count;
    struct page_tree *t = &w->tree;
    uint8_t *bytes;
    uint32_t depth = 0;

    *t = (struct page_tree){
        .count = count, .level_count = count != 0, .slots = w->view->header.children};
    w->number = malloc(((size_t)count + 1) * sizeof *w->number);
    w->stack = malloc(((size_t)count + 1) * sizeof *w->stack);
    bytes = page_tree_make(t, size);
    if (w->number == NULL || w->stack == NULL || bytes == NULL) {
        free(bytes);
        return NULL;
    }
    memset(w->number, 0xFF, ((size_t)count + 1) * sizeof *w->number);
    t->count = 0;
    if (count != 0) {
        w->stack[depth++] = (struct frame){enter(w, find_place(w, 0, false), FACET_NONE, 0), 0};
    }
    while (depth > 0) {
        struct frame *f = &w->stack[depth - 1];

        if (f->next < w->view->header.children) {
            step(w, f, &depth);
        } else {
            compare_children(w, f->node);
            depth--;
        }
    }
    if (!sum_up(w)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* Triangles are asked for by numbers of nodes, findings have offsets: both ways stay. */
static bool keep_places(struct page_bvh *b, struct rt_walk *w)
{
    uint32_t *place = malloc(((size_t)w->tree.count + 1) * sizeof *place);

    if (place == NULL) {
        return false;
    }
    for (uint32_t p = 0; p < w->check.place_count; p++) {
        if (w->number[p] != FACET_NONE) {
            place[w->number[p]] = p;
        }
    }
    page_rt_forget(b);
    b->rt = (struct page_rt_places){
        w->check.places, w->number, (uint32_t)w->check.place_count, place, w->tree.count};
    w->check.places = NULL;
    w->number = NULL;
    return true;
}

void page_rt_forget(struct page_bvh *b)
{
    free(b->rt.sorted);
    free(b->rt.number);
    free(b->rt.place);
    b->rt = (struct page_rt_places){0};
}

int page_rt_tree(struct page_bvh *b)
{
    struct rt_walk w = {0};
    struct facet_error err = {0};
    uint8_t *bytes;
    size_t size;

    if (facet_rtbvh_check(b->view.bytes, b->view.size, 0, &w.check, &err) != FACET_OK) {
        return page_fail(&err);
    }
    w.view = &w.check.view;
    bytes = make(&w, &size);
    if (bytes != NULL && !keep_places(b, &w)) {
        free(bytes);
        bytes = NULL;
    }
    walk_free(&w);
    return bytes != NULL ? page_give_bytes(bytes, size) : page_no_memory("the tree");
}

uint32_t
page_rt_node_at(const struct page_bvh *b, const struct facet_rtbvh_view *view, uint64_t offset)
{
    const struct page_rt_places *rt = &b->rt;
    const uint64_t at = offset - view->header.heap.offset;
    uint32_t low = 0, high = rt->sorted_count;

    while (low < high) { /* the last place that does not begin behind the byte */
        const uint32_t middle = low + (high - low) / 2;

        if (rt->sorted[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (offset < view->header.heap.offset || low == 0 ||
        at - rt->sorted[low - 1].at >=
            (rt->sorted[low - 1].leaf ? FACET_RT_RANGE_BYTES : facet_rtbvh_node_bytes(view))) {
        return FACET_NONE;
    }
    return rt->number[low - 1];
}

/* ---- triangles ---- */

/* The triangles of node i, twelve words each as in page_bvh_triangles; NULL: only counts. */
static uint32_t put_triangles(const struct facet_rtbvh_view *view,
                              const struct facet_rtbvh_place *place,
                              uint32_t i,
                              uint32_t *to)
{
    const uint32_t all = view->header.triangle_count;
    const struct facet_rt_range range =
        place->leaf ? facet_rtbvh_range(view, place->at) : (struct facet_rt_range){0};
    uint32_t count = 0;

    for (uint32_t k = range.first; k < all && k - range.first < range.count; k++, count++) {
        if (to != NULL) {
            float corner[3][3];

            (void)facet_rtbvh_triangle(view, k, corner);
            memcpy(to, corner, sizeof corner);
            to[9] = i;
            to[10] = facet_rtbvh_origin(view, k, 0);
            to[11] = facet_rtbvh_origin(view, k, 1);
            to += PAGE_TRIANGLE_WORDS;
        }
    }
    return count;
}

int page_rt_triangles(const struct page_bvh *b, uint32_t first, uint32_t count)
{
    struct facet_rtbvh_view view;
    struct facet_error err = {0};
    uint32_t end, *out;
    size_t total = 0, at = 0;

    if (facet_rtbvh_open(b->view.bytes, b->view.size, &view, &err) != FACET_OK) {
        return page_fail(&err);
    }
    first = first < b->rt.count ? first : b->rt.count;
    end = count < b->rt.count - first ? first + count : b->rt.count;
    for (uint32_t i = first; i < end; i++) {
        total += put_triangles(&view, &b->rt.sorted[b->rt.place[i]], i, NULL);
        /* Ranges of a damaged image may overlap: no more than the image can have. */
        if (total > (size_t)view.header.triangle_count) {
            (void)facet_fail(&err, FACET_ERR_INPUT, i, "leaves share triangles: see the findings");
            return page_fail(&err);
        }
    }
    out = malloc(total * PAGE_TRIANGLE_WORDS * sizeof *out + 1);
    if (out == NULL) {
        return page_no_memory("the triangles");
    }
    for (uint32_t i = first; i < end; i++) {
        at +=
            put_triangles(&view, &b->rt.sorted[b->rt.place[i]], i, out + PAGE_TRIANGLE_WORDS * at);
    }
    return page_give_bytes(out, at * PAGE_TRIANGLE_WORDS * sizeof *out);
}

/* ---- a node ---- */

int page_rt_node(const struct page_bvh *b, uint32_t i)
{
    struct facet_rtbvh_view view;
    struct facet_error err = {0};
    struct facet_strbuf out;

    if (i >= b->rt.count) {
        (void)facet_fail(&err, FACET_ERR_USAGE, i, "there is no node %u", (unsigned)i);
        return page_fail(&err);
    }
    if (facet_rtbvh_open(b->view.bytes, b->view.size, &view, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_strbuf_init(&out);
    facet_rtbvh_json_place(&view, &b->rt.sorted[b->rt.place[i]], &out);
    if (out.failed) {
        facet_strbuf_free(&out);
        return page_no_memory("a node");
    }
    return page_give_bytes(out.text, out.length);
}

/* ---- figures ---- */

/* Names and meanings are those of `facet bvh info --json`. */
int page_rt_figures(const struct page_bvh *b)
{
    struct facet_rtbvh_check check = {0};
    const struct facet_rtbvh_view *v = &check.view;
    struct facet_error err = {0};
    struct facet_record *r;
    char format[16];

    if (facet_rtbvh_check(b->view.bytes, b->view.size, 0, &check, &err) != FACET_OK) {
        return page_fail(&err);
    }
    (void)snprintf(format, sizeof format, "xphmg%u", (unsigned)v->header.children);
    r = page_begin();
    facet_record_word(r, "format", format);
    facet_record_word(r, "element", facet_format_name(v->eff.elem));
    facet_record_hex(r, "mode", v->header.mode, 0);
    facet_record_hex(r, "alt", v->header.alt, 0);
    facet_record_bool(r, "quantized", v->eff.q);
    facet_record_number(r, "scale", v->numbers.channel[0].scale);
    facet_record_number(r, "zero_point", v->numbers.channel[0].zp);
    facet_record_number(r, "bytes", (int64_t)v->size);
    facet_record_number(r, "heap_bytes", (int64_t)v->header.heap.size);
    facet_record_number(r, "tile_bytes", (int64_t)v->tile_bytes);
    facet_record_number(r, "nodes", check.nodes);
    facet_record_number(r, "leaves", check.leaves);
    facet_record_number(r, "triangles", (int64_t)check.triangles);
    facet_record_number(r, "depth", check.depth);
    facet_record_real(r, "growth", (double)v->header.pad);
    facet_record_real(r, "sah_cost", check.sah);
    facet_record_numbers(
        r, "nodes_by_children", (const int64_t *)check.children, v->header.children + 1);
    facet_record_number(r, "stack_entries", check.stack);
    facet_rtbvh_check_free(&check);
    return page_end();
}
