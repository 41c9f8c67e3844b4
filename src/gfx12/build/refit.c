/* Three passes: primitive nodes in any order, the boxes of the bottom levels from the deepest up,
 * then the top level, where every box is joined from finished ones. */
#include "gfx12/build/refit.h"

#include "base/bits.h"
#include "base/large.h"
#include "gfx12/build/level.h"
#include "gfx12/build/raw_node.h"
#include "gfx12/build/refit_instances.h"
#include "gfx12/build/refit_prim.h"
#include "gfx12/image/node.h"
#include "gfx12/image/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024 /* nodes */
#define NEAR 6     /* nodes ahead whose triangles are asked for */
#define FAR 16     /* and that are asked for themselves */

/* What a node covers now. */
struct covered {
    _Alignas(16) float lo[4], hi[4];
    uint8_t promises, mask;
    bool empty;
    bool changed;   /* some byte below is not what it was */
    uint32_t depth; /* below the root of its BLAS */
};

struct refit {
    const struct facet_gfx12_view *view;
    const struct facet_bvh_scene_input *scene;
    struct facet_bvh_scene_input alone; /* the scene of an image that is one BLAS */
    struct facet_gfx12_walk walk;
    uint32_t root;
    struct covered *covered; /* of boxes and instances, children first */
    struct facet_refit_blas *blas;
    uint32_t blas_count;
    struct facet_refit_instances instances;
    uint64_t *bases; /* of the levels below instances */
    uint32_t base_count;
    uint32_t *nodes; /* primitive nodes from the front, boxes of bottom levels up to the end */
    uint32_t primitive_count, box_count, top_count;
    uint8_t *bytes;
    struct facet_progress *progress;
};

/* A node takes two units, and the walk says nothing of the second: here that is the place of what
 * the node covers, beside what else is read of it. */
static uint32_t *place_of(const struct refit *r, uint32_t node)
{
    return &r->walk.nodes[node + 1].parent;
}

static struct covered *covered_of(const struct refit *r, uint32_t node)
{
    return &r->covered[*place_of(r, node)];
}

/* Whether some byte of a primitive node is not what it was; for the same reason in its own unit. */
static uint8_t *changed_of(const struct refit *r, uint32_t node)
{
    return &r->walk.nodes[node + 1].state;
}

/* The walk ends with the root. */
static uint64_t top_base(const struct refit *r)
{
    return r->walk.nodes[r->root].level_base;
}

static enum facet_status no_memory(struct facet_error *err)
{
    return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
}

/* ---- matching ---- */

static int compare_blas(const void *a, const void *b)
{
    const struct facet_refit_blas *x = a, *y = b;

    return x->base < y->base ? -1 : x->base > y->base;
}

static int compare_bases(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static const struct facet_refit_blas *find_blas(const struct refit *r, uint64_t base)
{
    const struct facet_refit_blas wanted = {.base = base};

    if (r->blas_count == 1) {
        return r->blas->base == base ? r->blas : NULL;
    }
    return bsearch(&wanted, r->blas, r->blas_count, sizeof *r->blas, compare_blas);
}

static bool is_root(const struct refit *r, uint32_t node)
{
    const uint32_t parent = r->walk.nodes[node].parent;

    return parent == FACET_GFX12_NO_NODE || r->walk.nodes[parent].kind == FACET_GFX12_KIND_INSTANCE;
}

/* The one pass over all nodes that looks for what is rare: gives boxes and instances their places,
 * returns how many there are, counts instances, and lists the bases of the levels below them. */
static uint32_t survey(struct refit *r)
{
    uint32_t places = 0;

    for (uint32_t i = 0; i < r->walk.reached; i++) {
        const uint32_t node = r->walk.order[i];
        const struct facet_gfx12_walk_node *n = &r->walk.nodes[node];

        if (n->kind != FACET_GFX12_KIND_PRIMITIVE) {
            *place_of(r, node) = places++;
        }
        if (n->kind == FACET_GFX12_KIND_INSTANCE) {
            r->instances.first = r->instances.nodes++ == 0 ? i : r->instances.first;
        }
        if (n->parent != FACET_GFX12_NO_NODE && is_root(r, node)) {
            r->bases[r->base_count++] = n->level_base;
        }
    }
    return places;
}

/* The bases of the bottom levels, each once; an image without instances is one. */
static uint32_t sort_bases(struct refit *r)
{
    uint64_t *bases = r->bases;
    uint32_t kept = 0;

    if (r->scene->instance_count == 0) {
        bases[r->base_count++] = top_base(r);
    }
    qsort(bases, r->base_count, sizeof *bases, compare_bases);
    for (uint32_t i = 0; i < r->base_count; i++) {
        if (i == 0 || bases[i] != bases[i - 1]) {
            bases[kept++] = bases[i];
        }
    }
    return kept;
}

static enum facet_status match_levels(struct refit *r, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    const uint32_t found = sort_bases(r);

    r->blas_count = r->scene->blas_count;
    r->blas = calloc((size_t)r->blas_count + 1, sizeof *r->blas);
    if (r->blas == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < found && i < r->blas_count; i++) {
        r->blas[i].base = r->bases[i];
    }
    if (found != r->blas_count) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "the image does not belong to this scene: it has %u BLASes, the scene %u",
                          found,
                          r->blas_count);
    }
    for (uint32_t i = 0; i < found && status == FACET_OK; i++) {
        status = facet_gfx12_refit_match(&r->blas[i], &r->scene->blas[i], err);
    }
    return status;
}

/* ---- boxes ---- */

/* Bounds of nothing are inside out, and join with any others; cover_end() makes them a point. */
static void cover_nothing(struct covered *c)
{
    *c = (struct covered){.promises = 0xF, .empty = true, .depth = c->depth};
    lanes_store(c->lo, lanes_splat(INFINITY));
    lanes_store(c->hi, lanes_splat(-INFINITY));
}

static void cover_end(struct covered *c)
{
    if (c->empty) {
        lanes_store(c->lo, lanes_splat(0));
        lanes_store(c->hi, lanes_splat(0));
    }
}

static void cover_bounds(struct covered *c, struct lanes lo, struct lanes hi)
{
    lanes_store(c->lo, lanes_min_exact(lanes_load(c->lo), lo));
    lanes_store(c->hi, lanes_max_exact(lanes_load(c->hi), hi));
    c->empty = false;
}

static void cover_join(struct covered *c, const struct covered *o)
{
    c->promises &= o->promises;
    c->mask |= o->mask;
    c->changed |= o->changed;
    if (!o->empty) {
        cover_bounds(c, lanes_load(o->lo), lanes_load(o->hi));
    }
}

static uint8_t promises_of(bool opaque, bool procedural)
{
    return (uint8_t)((opaque ? FACET_GFX12_ONLY_OPAQUE : FACET_GFX12_ONLY_NON_OPAQUE) |
                     (procedural ? FACET_GFX12_ONLY_PROCEDURAL : FACET_GFX12_ONLY_TRIANGLES));
}

static void cover_raw_pair(const uint8_t *node, uint32_t pair, struct covered *out)
{
    for (unsigned half = 0; half < 2; half++) {
        const unsigned at = half == 0 ? 15 : 1;
        const uint32_t numbers = pair >> (at + 2) & 0xFFF;
        struct lanes v[3];

        if (half == 1 && numbers == 0) {
            continue;
        }
        for (unsigned c = 0; c < 3; c++) {
            v[c] = facet_gfx12_raw_load(node, numbers >> 4 * c & 15);
        }
        cover_bounds(out,
                     lanes_min_exact(lanes_min_exact(v[0], v[1]), v[2]),
                     lanes_max_exact(lanes_max_exact(v[0], v[1]), v[2]));
        out->promises &= promises_of((pair >> (at + 1) & 1) != 0, false);
    }
}

static void cover_pair(const uint8_t *node, unsigned number, struct covered *out)
{
    struct facet_gfx12_pair p;

    facet_gfx12_pair_decode(node, number, &p);
    for (int t = 0; t < 2; t++) {
        const struct facet_gfx12_pair_tri *tri = &p.desc.tri[t];
        const bool procedural = facet_gfx12_tri_procedural(tri);
        float corner[3][3];

        if (t == 1 && facet_gfx12_tri_absent(tri)) {
            continue;
        }
        memcpy(corner, p.vertex[t], sizeof corner);
        if (procedural) {
            struct facet_gfx12_prim prim;

            facet_gfx12_prim_decode(node, &prim);
            memcpy(corner, prim.aabb, sizeof prim.aabb);
        }
        for (int c = 0; c < (procedural ? 2 : 3); c++) {
            struct lanes at = lanes_set(corner[c][0], corner[c][1], corner[c][2]);

            cover_bounds(out, at, at);
        }
        out->promises &= promises_of(tri->opaque != 0, procedural);
    }
}

/* Vertices 10 to 15 of a node of whole floats would lie behind its end. */
static bool is_plain_raw(const uint8_t *node, uint32_t pair)
{
    const uint32_t numbers = (pair >> 3 & 0xFFF) | (pair >> 17 & 0xFFF) << 12;

    /* a number has bit 3, and bit 2 or 1 */
    return facet_gfx12_raw_node(node) && (numbers & (numbers << 1 | numbers << 2) & 0x888888) == 0;
}

/* From the new bytes of the range's nodes. */
static void
cover_range(const struct refit *r, const struct facet_gfx12_link *link, struct covered *out)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(r->view, link);

    out->depth = 0;
    cover_nothing(out);
    out->mask = 0xFF;
    do {
        const uint8_t *node = r->bytes + facet_gfx12_node_offset(range.node);
        const uint32_t pair = facet_gfx12_raw_pair(node, range.pair);

        out->changed |= *changed_of(r, range.node) != 0;
        if (is_plain_raw(node, pair)) {
            cover_raw_pair(node, pair, out);
        } else {
            cover_pair(node, range.pair, out);
        }
    } while (facet_gfx12_range_next(&range));
}

static enum facet_status too_wide(uint32_t node, struct facet_error *err)
{
    return facet_fail(err,
                      FACET_ERR_INPUT,
                      facet_gfx12_node_offset(node),
                      "the scene is more than 2^127 wide, which the node at 0x%llx cannot hold",
                      (unsigned long long)facet_gfx12_node_offset(node));
}

/* What a refit changes of a box node: the grid, and the box, flags and mask of a child. */
static void set_grid(uint8_t bytes[128], const struct facet_gfx12_box *box)
{
    const uint32_t kept = facet_load_le32(bytes + 24) & UINT32_C(0xFF000000);

    for (int k = 0; k < 3; k++) {
        facet_store_le32(bytes + 12 + 4 * k, box->origin[k]);
    }
    facet_store_le32(bytes + 24,
                     kept | box->exponent[0] | (uint32_t)box->exponent[1] << 8 |
                         (uint32_t)box->exponent[2] << 16);
    facet_store_le32(bytes + 28, FACET_GFX12_OBB_NONE);
}

static void set_child(uint8_t *bytes, const struct facet_gfx12_child *c)
{
    const uint32_t unused = facet_load_le32(bytes) & UINT32_C(0xF0000000);
    const uint32_t type_and_size = facet_load_le32(bytes + 8) & UINT32_C(0xFF000000);

    facet_store_le32(
        bytes, unused | c->min[0] | (uint32_t)c->min[1] << 12 | (uint32_t)c->cull_flags << 24);
    facet_store_le32(bytes + 4,
                     c->min[2] | (uint32_t)c->max[0] << 12 | (uint32_t)c->cull_mask << 24);
    facet_store_le32(bytes + 8, type_and_size | c->max[1] | (uint32_t)c->max[2] << 12);
}

/* Origin and exponents as the encoder has them; the bounds of the children are joined already. */
static bool own_grid(const struct covered *own, struct facet_gfx12_box *box)
{
    for (int k = 0; k < 3; k++) {
        box->origin[k] = facet_float_bits(own->lo[k]);
        if (!facet_gfx12_quantize_exponent(
                box->origin[k], facet_float_bits(own->hi[k]), &box->exponent[k])) {
            return false;
        }
    }
    return true;
}

/* What the children of a box cover, all of which have been refitted; returns how many there are. */
static unsigned cover_children(const struct refit *r,
                               uint32_t node,
                               struct facet_gfx12_link links[8],
                               struct covered below[8])
{
    const unsigned count = facet_gfx12_links(r->view, &r->walk, node, links);

    for (unsigned i = 0; i < count; i++) {
        if (facet_gfx12_id_kind(links[i].id) == FACET_GFX12_KIND_PRIMITIVE) {
            cover_range(r, &links[i], &below[i]);
        } else {
            below[i] = *covered_of(r, facet_gfx12_node_at(links[i].offset));
        }
    }
    return count;
}

static enum facet_status refit_box(struct refit *r, uint32_t node, struct facet_error *err)
{
    struct facet_gfx12_link links[8];
    struct covered below[8];
    const unsigned count = cover_children(r, node, links, below);
    struct covered *own = covered_of(r, node);
    uint8_t *bytes = r->bytes + facet_gfx12_node_offset(node);
    struct facet_gfx12_box box;
    uint32_t lo[8][3], hi[8][3];

    cover_nothing(own);
    for (unsigned i = 0; i < count; i++) {
        cover_join(own, &below[i]);
        memcpy(lo[i], below[i].lo, sizeof lo[i]);
        memcpy(hi[i], below[i].hi, sizeof hi[i]);
    }
    cover_end(own);
    /* The root of an empty level; or nothing below has moved, and the boxes that the builder cut or
     * turned stay as they are. */
    if (count == 0 || !own->changed) {
        return FACET_OK;
    }
    if (!own_grid(own, &box)) {
        return too_wide(node, err);
    }
    set_grid(bytes, &box);
    for (unsigned i = 0; i < count; i++) {
        struct facet_gfx12_child child = {.cull_flags = below[i].promises,
                                          .cull_mask = below[i].mask};

        facet_gfx12_quantize_child(lo[i], hi[i], box.origin, box.exponent, &child);
        set_child(bytes + 32 + (size_t)12 * links[i].slot, &child);
    }
    return FACET_OK;
}

/* What an instance shows of its BLAS: the whole, and the boxes of the root's children. */
static unsigned cover_shown(const struct refit *r,
                            const struct facet_refit_instance *instance,
                            struct covered *whole,
                            struct facet_gfx12_bounds shown[8])
{
    struct facet_gfx12_link links[8];
    struct covered below[8];
    unsigned count = 0;

    if (r->walk.nodes[instance->root].kind == FACET_GFX12_KIND_BOX) {
        *whole = *covered_of(r, instance->root);
        count = cover_children(r, instance->root, links, below);
    } else {
        (void)facet_gfx12_links(r->view, &r->walk, instance->node, links);
        cover_range(r, &links[0], whole);
        cover_end(whole);
    }
    if (count == 0) {
        below[count++] = *whole;
    }
    for (unsigned i = 0; i < count; i++) {
        memcpy(shown[i].lo, below[i].lo, sizeof shown[i].lo);
        memcpy(shown[i].hi, below[i].hi, sizeof shown[i].hi);
    }
    return count;
}

static enum facet_status refit_instance(struct refit *r, uint32_t node, struct facet_error *err)
{
    const struct facet_refit_instance *found = facet_gfx12_refit_instance_at(&r->instances, node);
    const struct facet_bvh_instance *moved = &r->scene->instances[found->index];
    struct covered *own = covered_of(r, node);
    uint8_t *bytes = r->bytes + facet_gfx12_node_offset(node);
    uint8_t before[FACET_GFX12_NODE_BYTES];
    struct facet_gfx12_bounds shown[8];
    struct facet_gfx12_instance in;
    struct covered blas = {0};
    const unsigned count = cover_shown(r, found, &blas, shown);

    memcpy(before, facet_gfx12_node_bytes(r->view, node), sizeof before);
    facet_gfx12_instance_decode(before, &in);
    cover_nothing(own);
    own->empty = false;
    own->mask = moved->mask;
    own->promises = facet_gfx12_instance_promises(moved, blas.promises);
    if (!facet_gfx12_instance_bounds(moved, blas.lo, blas.hi, own->lo, own->hi)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          found->index,
                          "instance %u: world_to_object has no inverse",
                          found->index);
    }
    facet_gfx12_instance_place(moved,
                               r->scene->blas[moved->blas].aabb_count != 0,
                               facet_gfx12_base_address(in.pointer),
                               &in);
    facet_gfx12_instance_encode(&in, bytes);
    own->changed = blas.changed || memcmp(before, bytes, sizeof before) != 0;
    if (own->changed) {
        if (!facet_gfx12_instance_show(&in, shown, count)) {
            return too_wide(node, err);
        }
        facet_gfx12_instance_encode(&in, bytes);
    }
    return FACET_OK;
}

static enum facet_status refit_primitive(struct refit *r, uint32_t node, struct facet_error *err)
{
    const struct facet_refit_blas *blas = find_blas(r, r->walk.nodes[node].level_base);

    uint8_t *bytes = r->bytes + facet_gfx12_node_offset(node);
    uint8_t before[FACET_GFX12_NODE_BYTES]; /* the new bytes may replace the old ones */
    enum facet_status status;

    if (blas == NULL) {
        return facet_gfx12_refit_mismatch(err, facet_gfx12_node_offset(node), "lies in no BLAS");
    }
    memcpy(before, facet_gfx12_node_bytes(r->view, node), sizeof before);
    status = facet_gfx12_refit_prim(blas, before, facet_gfx12_node_offset(node), bytes, err);
    if (memcmp(before, bytes, sizeof before) != 0) {
        *changed_of(r, node) = 1; /* and stays it when the passes come again, in place */
    }
    return status;
}

/* Triangles lie in the scene's order, far apart. */
static void ask_primitive(const struct refit *r, uint32_t node, unsigned ahead)
{
    const uint8_t *bytes = facet_gfx12_node_bytes(r->view, node);
    const struct facet_refit_blas *blas;

    if (ahead == FAR) {
        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
        return;
    }
    blas = find_blas(r, r->walk.nodes[node].level_base);
    if (blas != NULL) {
        facet_gfx12_refit_prim_ask(blas, bytes);
    }
}

/* ---- passes ---- */

/* Nodes of a list that do not need each other. */
struct pass {
    struct refit *r;
    const uint32_t *nodes;
    enum facet_status (*refit)(struct refit *r, uint32_t node, struct facet_error *err);
    void (*ask)(const struct refit *r,
                uint32_t node,
                unsigned ahead); /* before its turn, or NULL */
    _Atomic uint32_t failed;     /* the first place in the list that did */
};

static void pass_chunk(void *context, size_t begin, size_t end)
{
    struct pass *pass = context;

    for (size_t i = begin; i < end; i++) {
        for (unsigned ahead = NEAR; pass->ask != NULL && ahead <= FAR; ahead += FAR - NEAR) {
            if (i + ahead < end) {
                pass->ask(pass->r, pass->nodes[i + ahead], ahead);
            }
        }
        if (pass->refit(pass->r, pass->nodes[i], NULL) != FACET_OK) {
            uint32_t first = atomic_load(&pass->failed);

            while (i < first && !atomic_compare_exchange_weak(&pass->failed, &first, (uint32_t)i)) {
            }
            return;
        }
    }
    facet_progress_add(pass->r->progress, end - begin);
}

/* The message is made by failing once more, so that it is the same for any number of threads. */
static enum facet_status
run_pass(struct pass *pass, uint32_t count, facet_pool *pool, struct facet_error *err)
{
    atomic_store(&pass->failed, UINT32_MAX);
    facet_pool_for(pool, count, CHUNK, pass_chunk, pass);
    return pass->failed == UINT32_MAX ? FACET_OK
                                      : pass->refit(pass->r, pass->nodes[pass->failed], err);
}

static bool is_bottom(const struct refit *r, const struct facet_gfx12_walk_node *n)
{
    return r->scene->instance_count == 0 || n->level_base != top_base(r);
}

/* Primitive nodes, the other nodes of the bottom levels, and those of the top level, each list
 * children first. */
static void sort_nodes(struct refit *r)
{
    uint32_t primitives = 0, end = r->walk.reached;

    r->top_count = 0;
    for (uint32_t i = r->walk.reached; i-- > 0;) {
        const struct facet_gfx12_walk_node *n = &r->walk.nodes[r->walk.order[i]];

        if (n->kind != FACET_GFX12_KIND_PRIMITIVE && is_bottom(r, n)) {
            r->nodes[--end] = r->walk.order[i];
        }
    }
    r->box_count = r->walk.reached - end;
    for (uint32_t i = 0; i < r->walk.reached; i++) {
        const struct facet_gfx12_walk_node *n = &r->walk.nodes[r->walk.order[i]];

        if (n->kind == FACET_GFX12_KIND_PRIMITIVE) {
            r->nodes[primitives++] = r->walk.order[i];
        } else if (!is_bottom(r, n)) {
            r->walk.order[r->top_count++] = r->walk.order[i];
        }
    }
    r->primitive_count = primitives;
}

/* Puts the boxes of the bottom levels in the order of their depth, the deepest first; the ends of
 * the depths, NULL when memory is short. */
static uint32_t *
sort_by_depth(struct refit *r, const uint32_t *boxes, uint32_t *out, uint32_t *count)
{
    uint32_t depths = 1, *ends;

    for (uint32_t i = r->box_count; i-- > 0;) { /* parents first */
        struct covered *own = covered_of(r, boxes[i]);

        own->depth =
            is_root(r, boxes[i]) ? 0 : covered_of(r, r->walk.nodes[boxes[i]].parent)->depth + 1;
        depths = own->depth >= depths ? own->depth + 1 : depths;
    }
    ends = calloc((size_t)depths + 1, sizeof *ends);
    for (uint32_t i = 0; ends != NULL && i < r->box_count; i++) {
        ends[depths - covered_of(r, boxes[i])->depth]++;
    }
    for (uint32_t d = 1; ends != NULL && d <= depths; d++) {
        ends[d] += ends[d - 1];
    }
    for (uint32_t i = 0; ends != NULL && i < r->box_count; i++) {
        out[ends[depths - covered_of(r, boxes[i])->depth - 1]++] = boxes[i];
    }
    *count = depths;
    return ends;
}

/* Boxes of one depth do not need each other. */
static enum facet_status
refit_bottom_boxes(struct refit *r, facet_pool *pool, struct facet_error *err)
{
    struct pass pass = {.r = r, .refit = refit_box};
    enum facet_status status = FACET_OK;
    uint32_t depths = 0, begin = 0;
    uint32_t *sorted = malloc(((size_t)r->box_count + 1) * sizeof *sorted), *ends = NULL;

    if (sorted != NULL) {
        ends = sort_by_depth(r, r->nodes + r->walk.reached - r->box_count, sorted, &depths);
    }
    if (ends == NULL) {
        status = no_memory(err);
    }
    for (uint32_t d = 0; d < depths && status == FACET_OK; begin = ends[d++]) {
        pass.nodes = sorted + begin;
        status = run_pass(&pass, ends[d] - begin, pool, err);
    }
    free(sorted);
    free(ends);
    return status;
}

static enum facet_status check_seen(const struct refit *r, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < r->blas_count && status == FACET_OK; i++) {
        const uint32_t lost = facet_gfx12_refit_unseen(&r->blas[i]);

        if (lost != UINT32_MAX) {
            status = facet_fail(err,
                                FACET_ERR_INPUT,
                                lost,
                                "primitive %u of BLAS %u is not in the image: it was inactive, or "
                                "had no area and the image was built without --allow-update; build "
                                "a new image",
                                lost,
                                i);
        }
    }
    return status;
}

static enum facet_status
refit_primitives(struct refit *r, facet_pool *pool, struct facet_error *err)
{
    struct pass pass = {.r = r, .nodes = r->nodes, .refit = refit_primitive, .ask = ask_primitive};
    const enum facet_status status = run_pass(&pass, r->primitive_count, pool, err);

    return status == FACET_OK ? check_seen(r, err) : status;
}

/* On one thread all bottom levels go in one pass, children first, so that a box finds its primitive
 * nodes in the cache. False when something fails: what, the passes say. */
static bool refit_in_turn(struct refit *r)
{
    const uint32_t count = r->walk.reached, *order = r->walk.order;
    enum facet_status status = FACET_OK;
    uint32_t top = 0;

    for (uint32_t i = 0; i < count && status == FACET_OK; i++) {
        const struct facet_gfx12_walk_node *n = &r->walk.nodes[order[i]];

        for (uint32_t ahead = NEAR; ahead <= FAR && i + ahead < count; ahead += FAR - NEAR) {
            if (r->walk.nodes[order[i + ahead]].kind == FACET_GFX12_KIND_PRIMITIVE) {
                ask_primitive(r, order[i + ahead], ahead);
            }
        }
        if (n->kind == FACET_GFX12_KIND_PRIMITIVE) {
            status = refit_primitive(r, order[i], NULL);
        } else if (is_bottom(r, n)) {
            status = refit_box(r, order[i], NULL);
        } else {
            r->nodes[top++] = order[i];
        }
        if (i % CHUNK == CHUNK - 1) {
            facet_progress_add(r->progress, CHUNK);
        }
    }
    if (status == FACET_OK) {
        memcpy(r->walk.order, r->nodes, top * sizeof *r->nodes);
        r->top_count = top;
    }
    return status == FACET_OK;
}

static enum facet_status refit_top(struct refit *r, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (uint32_t i = 0; i < r->top_count && status == FACET_OK; i++) {
        const uint32_t node = r->walk.order[i];

        status = r->walk.nodes[node].kind == FACET_GFX12_KIND_INSTANCE
                     ? refit_instance(r, node, err)
                     : refit_box(r, node, err);
    }
    return status;
}

static enum facet_status refit(struct refit *r, facet_pool *pool, struct facet_error *err)
{
    enum facet_status status = facet_gfx12_walk(r->view, &r->walk, err);
    uint32_t covered;

    if (status != FACET_OK) {
        return status;
    }
    if (r->walk.problem_count != 0 || r->walk.reached == 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "the image is malformed (%u broken links); `facet bvh check` lists them",
                          r->walk.problem_count);
    }
    r->root = r->walk.order[r->walk.reached - 1];
    r->bases = malloc(((size_t)r->walk.reached + 1) * sizeof *r->bases);
    if (r->bases == NULL) {
        return no_memory(err);
    }
    covered = survey(r);
    if (r->scene->blas_count == 1 && r->instances.nodes == 0) {
        r->alone = *r->scene; /* a BLAS without a TLAS has no instances to follow */
        r->alone.instance_count = 0;
        r->scene = &r->alone;
    }
    r->covered = facet_large_alloc(((size_t)covered + 1) * sizeof *r->covered);
    r->nodes = malloc(((size_t)r->walk.reached + 1) * sizeof *r->nodes);
    if (r->covered == NULL || r->nodes == NULL) {
        return no_memory(err);
    }
    if (r->bytes != r->view->bytes) {
        memcpy(r->bytes, r->view->bytes, (size_t)r->view->size);
    }
    status = match_levels(r, err);
    if (status == FACET_OK) {
        status = facet_gfx12_refit_match_instances(
            r->view, &r->walk, top_base(r), r->scene, r->blas, &r->instances, err);
    }
    if (status == FACET_OK) {
        const bool alone = pool == NULL || facet_pool_threads(pool) == 1;
        const bool done = alone && refit_in_turn(r);

        if (!done) {
            sort_nodes(r);
        }
        status = done ? check_seen(r, err) : refit_primitives(r, pool, err);
        if (status == FACET_OK && !done) {
            status = refit_bottom_boxes(r, pool, err);
        }
    }
    return status == FACET_OK ? refit_top(r, err) : status;
}

enum facet_status facet_gfx12_refit(const struct facet_gfx12_view *view,
                                    const struct facet_bvh_scene_input *scene,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    uint8_t *out,
                                    struct facet_error *err)
{
    struct refit r = {.view = view, .scene = scene, .progress = progress, .bytes = out};
    const enum facet_status status = refit(&r, pool, err);

    for (uint32_t i = 0; r.blas != NULL && i < r.blas_count; i++) {
        facet_gfx12_refit_match_free(&r.blas[i]);
    }
    free(r.blas);
    free(r.bases);
    free(r.instances.list);
    free(r.nodes);
    free(r.covered);
    facet_gfx12_walk_free(&r.walk);
    return status;
}
