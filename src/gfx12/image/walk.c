/* Depth-first search with an explicit stack. A node is white (not seen), grey (being walked) or
 * black (done): meeting a grey node is a cycle, meeting a black one a second reference. */
#include "gfx12/image/walk.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/large.h"
#include "gfx12/image/node.h"

#include <stdlib.h>
#include <string.h>

enum { WHITE, GREY, BLACK };

#define MAX_RANGE_PAIRS 255

const char *facet_gfx12_kind_name(enum facet_gfx12_kind kind)
{
    static const char *const names[] = {"raw", "primitive", "box", "instance"};

    return names[kind];
}

unsigned facet_gfx12_walk_block(const struct facet_gfx12_view *view,
                                const struct facet_gfx12_walk *walk,
                                uint32_t at)
{
    const uint64_t offset = facet_gfx12_node_offset(at);
    struct facet_gfx12_segment s;

    if (walk->nodes[at].kind != FACET_GFX12_KIND_NONE) {
        return 2;
    }
    if (at + 1 >= walk->count || walk->nodes[at + 1].kind != FACET_GFX12_KIND_NONE) {
        return 1;
    }
    s = facet_gfx12_view_segment(view, offset);
    return s.offset + s.size - offset > FACET_GFX12_UNIT_BYTES ? 2 : 1;
}

uint32_t facet_gfx12_walk_size(const struct facet_gfx12_walk *walk)
{
    return walk->reached + (walk->count - 2 * walk->reached + 1) / 2;
}

bool facet_gfx12_link_leads(const struct facet_gfx12_walk *walk,
                            const struct facet_gfx12_link *link,
                            uint32_t *node)
{
    *node = facet_gfx12_node_at(link->offset);
    return link->inside && link->offset % FACET_GFX12_UNIT_BYTES == 0 &&
           walk->nodes[*node].kind != FACET_GFX12_KIND_NONE &&
           walk->nodes[*node].kind == facet_gfx12_id_kind(link->id);
}

uint32_t facet_gfx12_walk_id(const struct facet_gfx12_view *view,
                             const struct facet_gfx12_walk *walk,
                             uint32_t node)
{
    const struct facet_gfx12_walk_node *n = &walk->nodes[node];
    unsigned type = n->kind == FACET_GFX12_KIND_BOX        ? FACET_GFX12_TYPE_BOX
                    : n->kind == FACET_GFX12_KIND_INSTANCE ? FACET_GFX12_TYPE_INSTANCE
                                                           : 0;

    return facet_gfx12_id_make(
        facet_gfx12_view_address(view, facet_gfx12_node_offset(node)) - n->level_base, type);
}

/* ---- links ---- */

static void
set_target(const struct facet_gfx12_view *view, uint64_t level_base, struct facet_gfx12_link *link)
{
    link->address = (level_base + facet_gfx12_id_offset(link->id)) & facet_bits_mask(48);
    link->offset = 0;
    link->inside =
        facet_gfx12_view_offset(view, link->address, FACET_GFX12_NODE_BYTES, &link->offset);
}

/* What facet_gfx12_box_decode and facet_gfx12_child_ids say, without the boxes: a walk wants only
 * this of every node, and little else. */
static unsigned box_links(const struct facet_gfx12_view *view,
                          uint64_t level_base,
                          const uint8_t *bytes,
                          struct facet_gfx12_link links[8])
{
    const unsigned count = (facet_load_le32(bytes + 24) >> 28 & 7u) + 1;
    uint32_t next[2] = {facet_load_le32(bytes + 4), facet_load_le32(bytes)};
    unsigned used = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint8_t *child = bytes + 32 + (size_t)12 * i;
        const uint32_t last = facet_load_le32(child + 8);
        const uint32_t type = last >> 24 & 15;
        uint32_t *offset = &next[type == FACET_GFX12_TYPE_BOX];
        /* All minima 0xFFF, all maxima 0 and the mask 0: the instruction can never return it. */
        const bool unused = (facet_load_le32(child) & 0xFFFFFF) == 0xFFFFFF &&
                            facet_load_le32(child + 4) == 0xFFF && (last & 0xFFFFFF) == 0;

        if (!unused) {
            links[used].slot = i;
            links[used].id = *offset | type;
            set_target(view, level_base, &links[used]);
            used++;
        }
        *offset += last >> 28 << 4;
    }
    return used;
}

static unsigned instance_links(const struct facet_gfx12_view *view,
                               const uint8_t *bytes,
                               struct facet_gfx12_link links[8])
{
    struct facet_gfx12_instance node;
    uint32_t ids[4];
    unsigned count;
    uint64_t blas;

    facet_gfx12_instance_decode(bytes, &node);
    blas = facet_gfx12_base_address(node.pointer);
    if (facet_gfx12_instance_numbered(&node, view->root, &links[0].id)) {
        links[0].slot = node.child[0].node_size; /* the first that a ray can hit */
        set_target(view, blas, &links[0]);
        return 1;
    }
    count = (node.child_count_minus_one & 3u) + 1;
    facet_gfx12_child_ids(node.child, count, 0, 0, ids);
    for (unsigned i = 0; i < count; i++) {
        links[i].slot = i;
        links[i].id = ids[i] & 0xFF;
        set_target(view, blas, &links[i]);
    }
    return count;
}

static uint64_t
child_base(const struct facet_gfx12_view *view, const struct facet_gfx12_walk *walk, uint32_t node)
{
    struct facet_gfx12_instance instance;

    if (walk->nodes[node].kind != FACET_GFX12_KIND_INSTANCE) {
        return walk->nodes[node].level_base;
    }
    facet_gfx12_instance_decode(facet_gfx12_node_bytes(view, node), &instance);
    return facet_gfx12_base_address(instance.pointer);
}

unsigned facet_gfx12_links(const struct facet_gfx12_view *view,
                           const struct facet_gfx12_walk *walk,
                           uint32_t node,
                           struct facet_gfx12_link links[8])
{
    const uint8_t *bytes = facet_gfx12_node_bytes(view, node);

    switch (walk->nodes[node].kind) {
    case FACET_GFX12_KIND_BOX:
        return box_links(view, walk->nodes[node].level_base, bytes, links);
    case FACET_GFX12_KIND_INSTANCE:
        return instance_links(view, bytes, links);
    default:
        return 0;
    }
}

/* ---- ranges ---- */

static unsigned pair_count(const uint8_t *node)
{
    return (facet_load_le32(node) >> 28 & 7u) + 1;
}

struct facet_gfx12_range facet_gfx12_range_start(const struct facet_gfx12_view *view,
                                                 const struct facet_gfx12_link *link)
{
    return (struct facet_gfx12_range){
        .view = view,
        .node = facet_gfx12_node_at(link->offset),
        .pair = facet_gfx12_id_pair(link->id),
        .seen = 1,
    };
}

/* Descriptor p starts at bit 1024 - 29*(p+1); the stop bit is its lowest. */
bool facet_gfx12_range_is_stop(const struct facet_gfx12_range *range)
{
    unsigned bit = 1024 - 29 * (range->pair + 1);
    const uint8_t *node = facet_gfx12_node_bytes(range->view, range->node);

    return (node[bit / 8] >> bit % 8 & 1) != 0;
}

bool facet_gfx12_range_next(struct facet_gfx12_range *range)
{
    const uint8_t *node = facet_gfx12_node_bytes(range->view, range->node);
    uint64_t offset = facet_gfx12_node_offset(range->node);

    if (facet_gfx12_range_is_stop(range)) {
        range->stopped = true;
        return false;
    }
    if (range->seen++ >= MAX_RANGE_PAIRS) {
        return false;
    }
    if (range->pair + 1 != pair_count(node)) {
        range->pair++; /* navigation 0; after pair 7 there is no pair to go to */
        return range->pair < 8;
    }
    if (!facet_gfx12_view_offset(range->view,
                                 facet_gfx12_view_address(range->view, offset) +
                                     FACET_GFX12_NODE_BYTES,
                                 FACET_GFX12_NODE_BYTES,
                                 &offset)) {
        return false;
    }
    range->node = facet_gfx12_node_at(offset);
    range->pair = 0;
    return true;
}

/* ---- search ---- */

struct frame {
    uint32_t node;
    uint8_t next, count;
    uint64_t base; /* of the children */
    struct facet_gfx12_link links[8];
};

struct search {
    const struct facet_gfx12_view *view;
    struct facet_gfx12_walk *walk;
    struct frame *stack;
    size_t depth, capacity;
    bool failed;
    struct facet_progress *progress;
};

static void report(struct search *s,
                   enum facet_gfx12_trouble trouble,
                   uint32_t node,
                   uint32_t slot,
                   uint64_t address)
{
    struct facet_gfx12_walk *w = s->walk;

    if (!facet_array_fit(&w->problems,
                         &w->problem_capacity,
                         (size_t)w->problem_count + 1,
                         sizeof *w->problems)) {
        s->failed = true;
        return;
    }
    w->problems[w->problem_count++] = (struct facet_gfx12_problem){trouble, node, slot, address};
}

static void push(struct search *s, uint32_t node)
{
    if (!facet_array_fit(&s->stack, &s->capacity, s->depth + 1, sizeof *s->stack)) {
        s->failed = true;
        return;
    }
    s->walk->nodes[node].state = GREY;
    s->stack[s->depth].node = node;
    s->stack[s->depth].next = 0;
    s->stack[s->depth].base = child_base(s->view, s->walk, node);
    s->stack[s->depth].count =
        (uint8_t)facet_gfx12_links(s->view, s->walk, node, s->stack[s->depth].links);
    s->depth++;
}

static void finish(struct search *s, uint32_t node)
{
    s->walk->nodes[node].state = BLACK;
    s->walk->order[s->walk->reached++] = node;
    if (s->walk->reached % 1024 == 0) {
        facet_progress_add(s->progress, 1024);
    }
}

/* First visit of a node; false when it was there before as something else. */
static bool claim(struct search *s,
                  uint32_t node,
                  enum facet_gfx12_kind kind,
                  uint64_t base,
                  uint32_t parent,
                  uint32_t slot)
{
    struct facet_gfx12_walk_node *n = &s->walk->nodes[node];
    uint64_t address = facet_gfx12_view_address(s->view, facet_gfx12_node_offset(node));

    if (n->kind == FACET_GFX12_KIND_NONE) {
        if (n[1].kind != FACET_GFX12_KIND_NONE ||
            (node > 0 && n[-1].kind != FACET_GFX12_KIND_NONE)) {
            report(s, FACET_GFX12_TROUBLE_OVERLAP, parent, slot, address);
            return false;
        }
        n->kind = (uint8_t)kind;
        n->level_base = base;
        n->parent = parent;
        n->last_slot = (uint8_t)slot;
        return true;
    }
    if (n->kind != kind) {
        report(s, FACET_GFX12_TROUBLE_KIND, parent, slot, address);
        return false;
    }
    if (n->level_base != base) {
        report(s, FACET_GFX12_TROUBLE_BASE, parent, slot, address);
        return false;
    }
    return true;
}

static void
visit_range(struct search *s, const struct facet_gfx12_link *link, uint64_t base, uint32_t parent)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(s->view, link);
    uint32_t node = range.node;
    const unsigned pair = range.pair;
    bool more;

    if (pair >= pair_count(facet_gfx12_node_bytes(s->view, node))) {
        report(s, FACET_GFX12_TROUBLE_PAIR, parent, link->slot, link->address);
    }
    do {
        node = range.node;
        if (!claim(s, node, FACET_GFX12_KIND_PRIMITIVE, base, parent, link->slot)) {
            return;
        }
        if (s->walk->nodes[node].state == WHITE) {
            finish(s, node);
        }
        more = facet_gfx12_range_next(&range);
    } while (more && !s->failed);
    if (!range.stopped) {
        report(s, FACET_GFX12_TROUBLE_RANGE, parent, link->slot, link->address);
    }
    node = facet_gfx12_node_at(link->offset);
    if ((s->walk->nodes[node].starts >> pair & 1) != 0) {
        report(s, FACET_GFX12_TROUBLE_REPEATED, parent, link->slot, link->address);
    }
    s->walk->nodes[node].starts |= (uint8_t)(1u << pair);
}

static void visit_child(struct search *s,
                        const struct facet_gfx12_link *link,
                        uint64_t base,
                        uint32_t parent,
                        bool from_instance)
{
    enum facet_gfx12_kind kind = facet_gfx12_id_kind(link->id);
    uint32_t node = facet_gfx12_node_at(link->offset);
    struct facet_gfx12_walk_node *n;

    if (kind == FACET_GFX12_KIND_NONE) {
        report(s, FACET_GFX12_TROUBLE_TYPE, parent, link->slot, link->address);
        return;
    }
    if (!link->inside) {
        report(s,
               from_instance ? FACET_GFX12_TROUBLE_BLAS : FACET_GFX12_TROUBLE_OUTSIDE,
               parent,
               link->slot,
               link->address);
        return;
    }
    if (link->offset % FACET_GFX12_UNIT_BYTES != 0) {
        report(s, FACET_GFX12_TROUBLE_MISALIGNED, parent, link->slot, link->address);
        return;
    }
    if (kind == FACET_GFX12_KIND_PRIMITIVE) {
        visit_range(s, link, base, parent);
        return;
    }
    n = &s->walk->nodes[node];
    if (!claim(s, node, kind, base, parent, link->slot)) {
        return;
    }
    if (n->state == WHITE) {
        push(s, node);
    } else if (n->state == GREY) {
        report(s, FACET_GFX12_TROUBLE_CYCLE, parent, link->slot, link->address);
    } else if (!from_instance) {
        /* Many instances may name one BLAS root, or a node inside the BLAS (rebraiding); within a
         * level a node has one parent. */
        if (n->parent != FACET_GFX12_NO_NODE &&
            s->walk->nodes[n->parent].kind == FACET_GFX12_KIND_INSTANCE) {
            n->parent = parent;
            n->last_slot = (uint8_t)link->slot;
        } else {
            report(s, FACET_GFX12_TROUBLE_SHARED, parent, link->slot, link->address);
        }
    }
}

/* Child reuse: several boxes for one child come as consecutive slots with the same ID (4.1). */
static bool is_reuse(const struct facet_gfx12_link *links, unsigned i)
{
    return i > 0 && links[i].id == links[i - 1].id;
}

static void run(struct search *s)
{
    while (s->depth > 0 && !s->failed) {
        struct frame *top = &s->stack[s->depth - 1];
        struct facet_gfx12_link link;
        unsigned i = top->next++;

        if (i >= top->count) {
            s->depth--;
            finish(s, top->node);
            continue;
        }
        if (!is_reuse(top->links, i)) {
            link = top->links[i]; /* the stack may move */
            visit_child(s,
                        &link,
                        top->base,
                        top->node,
                        s->walk->nodes[top->node].kind == FACET_GFX12_KIND_INSTANCE);
        }
    }
}

enum facet_status facet_gfx12_walk(const struct facet_gfx12_view *view,
                                   struct facet_gfx12_walk *out,
                                   struct facet_error *err)
{
    return facet_gfx12_walk_shown(view, NULL, out, err);
}

enum facet_status facet_gfx12_walk_shown(const struct facet_gfx12_view *view,
                                         struct facet_progress *progress,
                                         struct facet_gfx12_walk *out,
                                         struct facet_error *err)
{
    struct search s = {.view = view, .walk = out, .progress = progress};
    uint64_t count = view->size / FACET_GFX12_UNIT_BYTES;
    struct facet_gfx12_link root = {.id = view->root};

    *out = (struct facet_gfx12_walk){0};
    if (count >= FACET_GFX12_NO_NODE) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          view->size,
                          "an image of %llu bytes; expected less than 2^38",
                          (unsigned long long)view->size);
    }
    out->count = (uint32_t)count;
    out->nodes = facet_zeroes(((size_t)count + 1) * sizeof *out->nodes);
    if (out->nodes != NULL && count >= FACET_LARGE_PAGE / 8) {
        facet_large_wish(out->nodes, ((size_t)count + 1) * sizeof *out->nodes);
    }
    out->order = malloc(((size_t)count / 2 + 1) * sizeof *out->order); /* none overlap */
    s.failed = out->nodes == NULL || out->order == NULL;
    if (!s.failed && view->root != FACET_GFX12_NO_ROOT) {
        set_target(view, view->base, &root);
        visit_child(&s, &root, view->base, FACET_GFX12_NO_NODE, false);
        run(&s);
    }
    free(s.stack);
    if (s.failed) {
        facet_gfx12_walk_free(out);
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory to walk an image of %llu bytes",
                          (unsigned long long)view->size);
    }
    return FACET_OK;
}

void facet_gfx12_walk_free(struct facet_gfx12_walk *walk)
{
    facet_zeroes_free(walk->nodes, ((size_t)walk->count + 1) * sizeof *walk->nodes);
    free(walk->order);
    free(walk->problems);
    *walk = (struct facet_gfx12_walk){0};
}

uint64_t facet_gfx12_count_nested(const struct facet_gfx12_view *view)
{
    struct facet_gfx12_walk walk;
    uint64_t count = 0;

    if (facet_gfx12_walk(view, &walk, NULL) != FACET_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < walk.reached; i++) {
        const struct facet_gfx12_walk_node *n = &walk.nodes[walk.order[i]];

        count += n->kind == FACET_GFX12_KIND_INSTANCE && n->level_base != view->base;
    }
    facet_gfx12_walk_free(&walk);
    return count;
}
