/* Finding the paths to a triangle: see why.h. Nodes from which the triangle can be reached are
 * marked first, children before parents; then the ray is taken along every marked path, through
 * tests that it fails as well, so that the triangle itself is always tested. why_fault.c says who
 * is to blame. */
#include "gfx12/ask/why.h"

#include "base/array.h"
#include "base/float.h"
#include "gfx12/ask/brute.h"
#include "gfx12/ask/why_state.h"
#include "num/f32.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 512, MAX_VISITS = 1 << 22 };

struct frame {
    uint32_t node;
    uint64_t base, below; /* pointers: of the node, of its children */
    struct facet_gfx12_ray ray, after;
    struct facet_gfx12_steps steps;
    struct facet_gfx12_link links[8];
    unsigned count, next;
};

struct search {
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_view *view;
    const struct facet_gfx12_walk *walk;
    const struct facet_gfx12_query *query;
    const struct facet_gfx12_expect *expect;
    struct facet_gfx12_why *out;
    uint8_t *leads; /* per node: the triangle is below it */
    bool beyond;    /* pairs after the end of a range count too */
    struct frame *stack;
    size_t depth, room;
    struct facet_gfx12_why_step path[MAX_PATH];
    uint64_t visits;
    bool failed;
};

/* ---- which nodes lead to the triangle ---- */

/* Triangle k of the pair is the one that is asked for; of a pair with one triangle the second is
 * none. */
static bool is_it(const struct search *s, const struct facet_gfx12_pair *pair, unsigned k)
{
    return (k == 0 || !facet_gfx12_tri_absent(&pair->desc.tri[1])) &&
           pair->primitive_index[k] == s->expect->primitive &&
           (!s->expect->has_geometry || pair->geometry_index[k] == s->expect->geometry);
}

static bool pair_has_it(const struct search *s, uint32_t node, unsigned number)
{
    struct facet_gfx12_pair pair;

    facet_gfx12_pair_decode(facet_gfx12_node_bytes(s->view, node), number, &pair);
    return is_it(s, &pair, 0) || is_it(s, &pair, 1);
}

/* Goes on where a range has ended, as far as the next stop bit or the start of another range. */
static bool step_beyond(const struct search *s, struct facet_gfx12_range *range)
{
    struct facet_gfx12_range next = *range;
    const uint8_t *bytes = facet_gfx12_node_bytes(s->view, range->node);

    next.stopped = false;
    if (range->pair + 1 < facet_gfx12_stored_pairs(bytes)) {
        next.pair++;
    } else {
        uint64_t offset = facet_gfx12_node_offset(range->node);
        uint64_t address = facet_gfx12_view_address(s->view, offset) + FACET_GFX12_NODE_BYTES;

        if (!facet_gfx12_view_offset(s->view, address, FACET_GFX12_NODE_BYTES, &offset)) {
            return false;
        }
        next.node = facet_gfx12_node_at(offset);
        next.pair = 0;
        if (s->walk->nodes[next.node].kind == FACET_GFX12_KIND_BOX ||
            s->walk->nodes[next.node].kind == FACET_GFX12_KIND_INSTANCE) {
            return false;
        }
    }
    if ((s->walk->nodes[next.node].starts >> next.pair & 1) != 0) {
        return false;
    }
    *range = next;
    return true;
}

/* The next pair of a range; *over becomes true behind its end. */
static bool next_pair(const struct search *s, struct facet_gfx12_range *range, bool *over)
{
    if (!*over && facet_gfx12_range_next(range)) {
        return true;
    }
    if (!s->beyond || (*over && facet_gfx12_range_is_stop(range)) || range->pair > 7) {
        return false;
    }
    *over = true;
    return step_beyond(s, range);
}

static bool range_has_it(const struct search *s, const struct facet_gfx12_link *link)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(s->view, link);
    bool over = false;

    do {
        if (pair_has_it(s, range.node, range.pair)) {
            return true;
        }
    } while (next_pair(s, &range, &over));
    return false;
}

static bool link_leads(const struct search *s, const struct facet_gfx12_link *link)
{
    uint32_t node;

    return facet_gfx12_link_leads(s->walk, link, &node) &&
           (s->walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE ? range_has_it(s, link)
                                                                    : s->leads[node] != 0);
}

static void mark(struct search *s)
{
    for (uint32_t i = 0; i < s->walk->reached; i++) {
        const uint32_t node = s->walk->order[i];
        struct facet_gfx12_link links[8];
        const unsigned count = facet_gfx12_links(s->view, s->walk, node, links);

        for (unsigned k = 0; k < count && s->leads[node] == 0; k++) {
            s->leads[node] = link_leads(s, &links[k]);
        }
    }
}

/* ---- steps of the path ---- */

static void
place_step(const struct search *s, const struct frame *f, struct facet_gfx12_why_step *to)
{
    *to = (struct facet_gfx12_why_step){
        .kind = (enum facet_gfx12_kind)s->walk->nodes[f->node].kind,
        .id = facet_gfx12_walk_id(s->view, s->walk, f->node),
        .offset = facet_gfx12_node_offset(f->node),
        .address = facet_gfx12_view_address(s->view, facet_gfx12_node_offset(f->node)),
        .base = f->base,
        .obb = FACET_GFX12_OBB_NONE,
    };
}

static uint8_t extreme_axis(const float value[3], bool largest)
{
    unsigned best = 0;

    for (unsigned k = 1; k < 3; k++) {
        bool better = largest ? value[k] > value[best] : value[k] < value[best];

        if (better || isnan(value[best])) {
            best = k;
        }
    }
    return (uint8_t)best;
}

/* Several boxes may stand for one child (child reuse, numbered roots): of those the one that lets
 * the ray through, else the one that was named. *shared says whether there are others. */
static unsigned best_slot(const struct facet_gfx12_steps *s, unsigned slot, uint8_t *shared)
{
    unsigned best = slot;

    *shared = 0;
    if (s->kind == FACET_GFX12_KIND_INSTANCE && s->instance_cull != 0) {
        return slot; /* its children were not looked at */
    }
    for (unsigned i = 0; i < s->count; i++) {
        const struct facet_gfx12_child_steps *c = &s->child[i];
        const struct facet_gfx12_child_steps *now = &s->child[best];

        if (i == slot || c->id != s->child[slot].id) {
            continue;
        }
        *shared = 1;
        if (c->cull == 0 && c->slab.slab.hit && !(now->cull == 0 && now->slab.slab.hit)) {
            best = i;
        }
    }
    return best;
}

/* The test of the child in `slot`, whether or not the unit got that far. */
static void child_step(const struct frame *f, unsigned slot, struct facet_gfx12_why_step *to)
{
    const struct facet_gfx12_steps *s = &f->steps;
    const bool box = to->kind == FACET_GFX12_KIND_BOX;
    const struct facet_gfx12_child *stored = box ? &s->box.child[slot] : &s->instance.child[slot];
    const uint8_t *exponent = box ? s->box.exponent : s->instance.exponent;
    struct facet_gfx12_slab_steps slab;
    struct facet_gfx12_slab_box bounds;
    uint32_t lo[3], hi[3];

    facet_gfx12_child_bounds(stored, box ? s->box.origin : s->instance.origin, exponent, lo, hi);
    for (unsigned k = 0; k < 3; k++) {
        bounds.lo[k] = to->lo[k] = facet_float_of(lo[k]);
        bounds.hi[k] = to->hi[k] = facet_float_of(hi[k]);
        to->origin[k] = s->slab_ray.origin[k];
        to->direction[k] = s->slab_direction[k];
        to->step[k] = exponent[k] != 0 ? ldexp(1.0, (int)exponent[k] - 139) : 0.0;
    }
    slab = facet_gfx12_slab_steps(&s->slab_ray, &bounds);
    to->slot = slot;
    to->obb = s->obb;
    to->slab = slab.slab;
    to->near = extreme_axis(slab.near, true);
    to->far = extreme_axis(slab.far, false);
    to->cull_flags = stored->cull_flags;
    to->cull_mask = stored->cull_mask;
    if (box) {
        to->cull = s->child[slot].cull;
    } else {
        memcpy(to->to_object, s->instance.world_to_object, sizeof to->to_object);
        to->whole = s->instance_cull != 0;
        to->cull_mask = s->instance.cull_mask;
        to->cull = to->whole ? s->instance_cull : s->child[slot].cull;
    }
    to->reject = to->cull != 0   ? FACET_GFX12_REJECT_CULL
                 : !to->slab.hit ? FACET_GFX12_REJECT_BOX
                                 : FACET_GFX12_PASSED;
}

/* ---- the triangle ---- */

static bool test_leaf(struct search *s,
                      const struct frame *f,
                      struct facet_gfx12_why_step *leaf,
                      struct facet_gfx12_why *to)
{
    const struct facet_gfx12_callbacks *cb = &s->query->callbacks;
    const uint8_t *bytes = facet_gfx12_unit_fetch(
        s->unit, leaf->base, facet_gfx12_id_offset(leaf->id), FACET_GFX12_NODE_BYTES);
    struct facet_gfx12_steps steps;
    const struct facet_gfx12_tri_steps *tri = &steps.tri[leaf->slot];
    const struct facet_gfx12_tri_terms *terms = &tri->test.terms;

    facet_gfx12_intersect8_steps(s->unit, leaf->base, leaf->id, &f->after, &steps);
    if (bytes == NULL || steps.kind != FACET_GFX12_KIND_PRIMITIVE) {
        return false; /* the descriptor ends before it */
    }
    to->procedural = tri->procedural;
    to->opaque = steps.pair.desc.tri[leaf->slot].opaque != 0;
    to->double_sided = steps.pair.desc.tri[leaf->slot].double_sided != 0;
    to->primitive = steps.pair.primitive_index[leaf->slot];
    to->geometry = steps.pair.geometry_index[leaf->slot];
    to->miss = tri->miss;
    to->front = tri->front;
    to->cull = leaf->cull = tri->cull;
    to->t = to->u = to->v = 0.0f;
    to->outside = 0.0;
    memcpy(leaf->origin, f->after.origin, sizeof leaf->origin);
    memcpy(leaf->direction, f->after.direction, sizeof leaf->direction);
    if (tri->procedural) {
        struct facet_gfx12_hit candidate = {.procedural = true, .t = s->query->t_min};
        struct facet_gfx12_ray ray = f->after;

        if (cb->procedural == NULL || !cb->procedural(cb->context, &ray, bytes, &candidate)) {
            to->miss = cb->procedural == NULL ? "no intersection shader is run"
                                              : "the intersection shader finds no hit";
        }
        to->t = candidate.t;
    } else {
        to->t = terms->t;
        to->u = terms->u;
        to->v = terms->v;
        to->outside = fmax(fmax(-(double)terms->u, -(double)terms->v),
                           (double)terms->u + (double)terms->v - 1.0);
        to->outside = to->outside > 0.0 ? to->outside : 0.0;
    }
    if (leaf->reject == FACET_GFX12_PASSED) {
        leaf->reject =
            to->miss != NULL
                ? (tri->procedural && cb->procedural == NULL ? FACET_GFX12_REJECT_SHADER
                                                             : FACET_GFX12_REJECT_TRIANGLE)
            : to->cull != 0                                            ? FACET_GFX12_REJECT_CULL
            : !(s->query->t_min < to->t) || !(to->t < s->query->t_max) ? FACET_GFX12_REJECT_INTERVAL
                                                                       : FACET_GFX12_PASSED;
    }
    to->met =
        to->miss == NULL && to->cull == 0 && s->query->t_min < to->t && to->t < s->query->t_max;
    facet_gfx12_why_corners(&steps, leaf->slot, bytes, to);
    return true;
}

static bool expected_instance(const struct search *s, unsigned count)
{
    if (!s->expect->has_instance) {
        return true;
    }
    for (size_t i = count; i-- > 0;) {
        if (s->path[i].kind == FACET_GFX12_KIND_INSTANCE) {
            return s->stack[i].steps.instance.user_data == s->expect->instance;
        }
    }
    return false;
}

/* A path that is complete: kept when it is better than the one so far. One whose triangle the ray
 * meets is the one that the question is about; then the one on which the ray came furthest. */
static void consider(struct search *s, const struct facet_gfx12_why *leaf, unsigned count)
{
    struct facet_gfx12_why *out = s->out;
    unsigned rejected = 0;
    bool better;

    while (rejected < count && s->path[rejected].reject == FACET_GFX12_PASSED) {
        rejected++;
    }
    better = !out->found || (leaf->met && !out->met) ||
             (leaf->met == out->met &&
              (rejected > out->rejected ||
               (rejected == out->rejected && leaf->miss == NULL && out->miss != NULL)));
    out->paths++;
    if (!better) {
        return;
    }
    {
        struct facet_gfx12_why_step *path = realloc(out->path, count * sizeof *path);
        struct facet_gfx12_why kept = *out;

        if (path == NULL) {
            s->failed = true;
            return;
        }
        memcpy(path, s->path, count * sizeof *path);
        *out = *leaf;
        out->path = path;
        out->count = count;
        out->rejected = rejected;
        out->found = true;
        out->paths = kept.paths;
    }
}

static void try_range(struct search *s, const struct frame *f, const struct facet_gfx12_link *link)
{
    struct facet_gfx12_range range = facet_gfx12_range_start(s->view, link);
    const unsigned count = (unsigned)s->depth + 1;
    struct facet_gfx12_range end = range;
    bool over = false;

    do {
        struct facet_gfx12_pair pair;
        const struct frame at = {.node = range.node, .base = f->below};

        if (!over) {
            end = range;
        }
        facet_gfx12_pair_decode(facet_gfx12_node_bytes(s->view, range.node), range.pair, &pair);
        for (unsigned k = 0; k < 2; k++) {
            struct facet_gfx12_why leaf = {0};
            struct facet_gfx12_why_step *step = &s->path[count - 1];

            if (!is_it(s, &pair, k) || !expected_instance(s, count - 1)) {
                continue;
            }
            place_step(s, &at, step);
            step->kind = FACET_GFX12_KIND_PRIMITIVE;
            step->id = facet_gfx12_id_make(step->address - facet_gfx12_base_address(f->below),
                                           facet_gfx12_pair_type(range.pair));
            step->slot = k;
            step->reject = over ? FACET_GFX12_REJECT_RANGE : FACET_GFX12_PASSED;
            leaf.stop_offset = facet_gfx12_node_offset(end.node);
            leaf.stop_pair = end.pair;
            if (test_leaf(s, f, step, &leaf)) {
                consider(s, &leaf, count);
            }
        }
    } while (next_pair(s, &range, &over) && !s->failed);
}

/* ---- the search ---- */

static void push(struct search *s, uint32_t node, uint64_t base, const struct facet_gfx12_ray *ray)
{
    struct frame *f;

    if (s->depth + 2 > MAX_PATH || s->visits++ >= MAX_VISITS) {
        s->out->cut = true;
        return;
    }
    if (!facet_array_fit(&s->stack, &s->room, s->depth + 1, sizeof *s->stack)) {
        s->failed = true;
        return;
    }
    f = &s->stack[s->depth++];
    f->node = node;
    f->base = f->below = base;
    f->ray = f->after = *ray;
    f->next = 0;
    f->count = facet_gfx12_links(s->view, s->walk, node, f->links);
    facet_gfx12_intersect8_steps(
        s->unit, base, facet_gfx12_walk_id(s->view, s->walk, node), ray, &f->steps);
    if (f->steps.kind == FACET_GFX12_KIND_NONE) {
        f->count = 0; /* the unit does not see it: instance_en or the size of the descriptor */
    } else if (f->steps.kind == FACET_GFX12_KIND_INSTANCE) {
        facet_gfx12_transform(
            f->steps.instance.world_to_object, f->after.origin, f->after.direction);
        f->below = f->steps.new_base;
        f->steps.obb = FACET_GFX12_OBB_NONE;
        memcpy(f->steps.slab_direction, f->after.direction, sizeof f->steps.slab_direction);
        facet_gfx12_slab_ray_init(&f->steps.slab_ray,
                                  f->after.origin,
                                  f->after.direction,
                                  ray->extent,
                                  s->unit->resource.box_grow_value);
    }
}

static void follow(struct search *s)
{
    while (s->depth > 0 && !s->failed) {
        struct frame *f = &s->stack[s->depth - 1];
        const struct facet_gfx12_link *link;
        uint32_t node;
        unsigned slot;
        uint8_t shared;

        if (f->next >= f->count) {
            s->depth--;
            continue;
        }
        link = &f->links[f->next++];
        if (!link_leads(s, link) || !facet_gfx12_link_leads(s->walk, link, &node)) {
            continue;
        }
        place_step(s, f, &s->path[s->depth - 1]);
        slot = best_slot(&f->steps, link->slot, &shared);
        child_step(f, slot, &s->path[s->depth - 1]);
        s->path[s->depth - 1].shared = shared;
        if (s->walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            try_range(s, f, link);
        } else {
            const struct facet_gfx12_ray ray = f->after; /* the stack may move */

            push(s, node, f->below, &ray);
        }
    }
}

static void search_paths(struct search *s)
{
    const uint32_t root = s->walk->order[s->walk->reached - 1];
    struct facet_gfx12_ray ray = {.extent = s->query->t_max,
                                  .instance_mask = s->query->instance_mask};
    const uint64_t base =
        facet_gfx12_base_make(s->query->address, facet_gfx12_api_flags(s->query->api_flags));

    memcpy(ray.origin, s->query->origin, sizeof ray.origin);
    memcpy(ray.direction, s->query->direction, sizeof ray.direction);
    memset(s->leads, 0, s->walk->count);
    mark(s);
    s->depth = 0;
    if (s->leads[root] != 0) {
        push(s, root, base, &ray);
        follow(s);
    } else if (s->walk->nodes[root].kind == FACET_GFX12_KIND_PRIMITIVE) {
        const struct facet_gfx12_link link = {
            .id = s->query->root, .offset = facet_gfx12_node_offset(root), .inside = true};
        const struct frame above = {.below = base, .after = ray};

        try_range(s, &above, &link);
    }
}

/* ---- blocks that no node names ---- */

static void search_lost(struct search *s)
{
    for (uint32_t node = 0, units; node < s->walk->count; node += units) {
        const uint8_t *bytes;

        units = facet_gfx12_walk_block(s->view, s->walk, node);
        if (units < 2 || s->walk->nodes[node].kind != FACET_GFX12_KIND_NONE) {
            continue;
        }
        bytes = facet_gfx12_node_bytes(s->view, node);
        for (unsigned pair = 0; pair < facet_gfx12_stored_pairs(bytes); pair++) {
            if (facet_load_le32(bytes) != 0 && pair_has_it(s, node, pair)) {
                s->out->fault = FACET_GFX12_FAULT_LOST;
                s->out->lost_offset = facet_gfx12_node_offset(node);
                s->out->lost_pair = pair;
                return;
            }
        }
    }
}

/* ---- what the image has ---- */

static void widen(uint32_t range[2], bool first, uint32_t value)
{
    range[0] = first || value < range[0] ? value : range[0];
    range[1] = first || value > range[1] ? value : range[1];
}

static void count_ids(const struct search *s, uint32_t node, struct facet_gfx12_why *out)
{
    const uint8_t *bytes = facet_gfx12_node_bytes(s->view, node);

    for (unsigned p = 0; p < facet_gfx12_stored_pairs(bytes); p++) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(bytes, p, &pair);
        for (unsigned k = 0; k < (facet_gfx12_tri_absent(&pair.desc.tri[1]) ? 1u : 2u); k++) {
            bool first = out->triangles + out->boxes == 0;

            widen(out->primitive_range, first, pair.primitive_index[k]);
            widen(out->geometry_range, first, pair.geometry_index[k]);
            *(facet_gfx12_tri_procedural(&pair.desc.tri[k]) ? &out->boxes : &out->triangles) += 1;
        }
    }
}

static void take_inventory(const struct search *s, struct facet_gfx12_why *out)
{
    out->triangles = out->boxes = out->instances = 0;
    out->broken = s->walk->problem_count;
    for (uint32_t i = 0; i < s->walk->reached; i++) {
        const uint32_t node = s->walk->order[i];

        if (s->walk->nodes[node].kind == FACET_GFX12_KIND_PRIMITIVE) {
            count_ids(s, node, out);
        } else if (s->walk->nodes[node].kind == FACET_GFX12_KIND_INSTANCE) {
            struct facet_gfx12_instance instance;

            facet_gfx12_instance_decode(facet_gfx12_node_bytes(s->view, node), &instance);
            widen(out->instance_range, out->instances++ == 0, instance.user_data);
        }
    }
}

bool facet_gfx12_is_expected(const struct facet_gfx12_hit *hit,
                             const struct facet_gfx12_expect *expect)
{
    return hit->found && hit->primitive_index == expect->primitive &&
           (!expect->has_geometry || hit->geometry_index == expect->geometry) &&
           (!expect->has_instance ||
            (hit->instance != FACET_GFX12_INVALID && hit->instance_user_data == expect->instance));
}

enum facet_status facet_gfx12_why(const struct facet_gfx12_unit *unit,
                                  const struct facet_gfx12_view *view,
                                  const struct facet_gfx12_walk *walk,
                                  const struct facet_gfx12_query *query,
                                  const struct facet_gfx12_expect *expect,
                                  struct facet_gfx12_why *out,
                                  struct facet_error *err)
{
    struct search *s = calloc(1, sizeof *s);
    enum facet_status status = FACET_OK;

    *out = (struct facet_gfx12_why){0};
    if (s != NULL) {
        *s = (struct search){.unit = unit,
                             .view = view,
                             .walk = walk,
                             .query = query,
                             .expect = expect,
                             .out = out,
                             .leads = calloc((size_t)walk->count + 1, 1)};
    }
    if (s == NULL || s->leads == NULL) {
        free(s);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to look for the triangle");
    }
    if (walk->reached > 0) {
        search_paths(s);
        if (!out->found && !s->failed) {
            s->beyond = true;
            search_paths(s);
        }
    }
    if (!out->found && !s->failed) {
        search_lost(s);
    }
    take_inventory(s, out);
    if (s->failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory to look for the triangle");
    } else {
        status = facet_gfx12_trace(unit, query, &out->hit, &out->stats, err);
    }
    if (status == FACET_OK) {
        facet_gfx12_why_judge(query, expect, out);
    }
    free(s->leads);
    free(s->stack);
    free(s);
    return status;
}

void facet_gfx12_why_free(struct facet_gfx12_why *why)
{
    free(why->path);
    *why = (struct facet_gfx12_why){0};
}
