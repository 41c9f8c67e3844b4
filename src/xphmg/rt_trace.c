/* One ray of a job through the hierarchy: depth first, the nearest child first, closest hit with
 * ties by triangle and leaf index (rt-semantics.md 11.4). */
#include "xphmg/rt.h"

#include "num/accum.h"
#include "rt/host.h"

#define MINUS_INFINITY UINT32_C(0xFF800000)

struct entry {
    enum facet_rt_child type;
    uint32_t index;
    uint32_t near; /* where the ray enters it */
};

struct walk {
    const struct facet_rt_scene *scene;
    struct facet_rt_ray ray; /* tmax: the closest hit so far */
    struct facet_rt_host_ray host;
    struct facet_rt_found *found;
    unsigned *flags;
    uint32_t steps;
    unsigned depth;
    struct entry stack[FACET_RT_STACK];
};

/* Neither is a NaN. */
static bool less(const struct walk *w, uint32_t a, uint32_t b)
{
    unsigned none = 0;

    return facet_acc_lt(&w->scene->numbers.channel[0], a, b, &none);
}

static bool push(struct walk *w, struct entry entry)
{
    if (w->depth == FACET_RT_STACK) {
        return false;
    }
    w->stack[w->depth++] = entry;
    return true;
}

/* Inserts a child behind those that the ray enters before it or at the same place. */
static void sort_in(const struct walk *w, struct entry *kept, unsigned count, struct entry child)
{
    unsigned at = count;

    for (; at > 0 && less(w, child.near, kept[at - 1].near); at--) {
        kept[at] = kept[at - 1];
    }
    kept[at] = child;
}

/* B3 to B6 of a box. */
static struct facet_rt_slab test_box(struct walk *w, const uint32_t elements[FACET_RT_BOX_ELEMENTS])
{
    const struct facet_rt_numbers *n = &w->scene->numbers;
    struct facet_rt_slab slab = {.outcome = FACET_RT_NAN};
    struct facet_rt_box box;

    if (w->scene->host && facet_rt_host_box(&w->host, elements, &slab, w->flags)) {
        return slab;
    }
    return facet_rt_box_widen(n, elements, &box, w->flags)
               ? slab
               : facet_rt_test_box(n, &w->ray, &box, w->flags);
}

/* T2 to T11 of a triangle. */
static struct facet_rt_facet test_triangle(struct walk *w,
                                           const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS])
{
    const struct facet_rt_scene *s = w->scene;
    struct facet_rt_facet hit = {.outcome = FACET_RT_NAN};
    struct facet_rt_triangle wide;

    if (s->host && facet_rt_host_triangle(&w->host, elements, &s->options, &hit, w->flags)) {
        return hit;
    }
    return facet_rt_triangle_widen(&s->numbers, elements, &wide, w->flags)
               ? (struct facet_rt_facet){.outcome = FACET_RT_NAN}
               : facet_rt_test_triangle(&s->numbers, &w->ray, &wide, &s->options, w->flags);
}

/* The children of one tile that the ray enters, sorted into `kept`. */
static struct facet_trap
visit_tile(struct walk *w, uint64_t tile, struct entry *kept, unsigned *count)
{
    const struct facet_rt_scene *s = w->scene;
    uint32_t types = 0;
    struct facet_trap trap = facet_rt_read_flags(&s->port, tile, &types);

    for (unsigned slot = 0; slot < FACET_RT_TILE_CHILDREN && !trap.taken; slot++) {
        struct facet_rt_fetched child;
        struct facet_rt_slab slab;

        trap = facet_rt_read_child(&s->port, tile, types, slot, true, &child);
        if (trap.taken || child.type == FACET_RT_EMPTY) {
            continue;
        }
        facet_rt_count_boxes(s->port.h, 1);
        slab = test_box(w, child.box);
        if (slab.outcome == FACET_RT_HIT) {
            sort_in(w, kept, (*count)++, (struct entry){child.type, child.index, slab.cnear});
        }
    }
    return trap;
}

static enum facet_rt_error visit_node(struct walk *w, uint32_t index)
{
    const struct facet_rt_scene *s = w->scene;
    uint64_t size = facet_rt_tile_bytes(&s->port.container), tile = s->heap + index * size;
    struct entry kept[2 * FACET_RT_TILE_CHILDREN];
    unsigned count = 0;
    struct facet_trap trap;

    if (++w->steps > FACET_RT_STEPS) {
        return FACET_RT_EC_BVH;
    }
    trap = visit_tile(w, tile, kept, &count);
    if (!trap.taken && s->node8) {
        trap = visit_tile(w, tile + size, kept, &count);
    }
    if (trap.taken) {
        return FACET_RT_EC_DESC_FAULT;
    }
    while (count > 0) { /* the nearest ends on top */
        if (!push(w, kept[--count])) {
            return FACET_RT_EC_BVH;
        }
    }
    return FACET_RT_EC_NONE;
}

/* Whether a hit replaces the one found so far. It is not beyond it: that was tmax. */
static bool
is_better(const struct walk *w, const struct facet_rt_facet *hit, uint32_t triangle, uint32_t leaf)
{
    const struct facet_rt_found *f = w->found;

    return !f->hit || less(w, hit->t, f->t) ||
           (triangle != f->triangle ? triangle < f->triangle : leaf < f->leaf);
}

/* One triangle; *stop when no other matters any more. */
static struct facet_trap
visit_triangle(struct walk *w, uint64_t base, uint32_t triangle, uint32_t leaf, bool *stop)
{
    const struct facet_rt_scene *s = w->scene;
    uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS];
    struct facet_rt_facet hit;
    struct facet_trap trap = facet_rt_read_triangle(&s->port, base, triangle, vertices);

    if (trap.taken) {
        return trap;
    }
    facet_rt_count_triangles(s->port.h, 1);
    hit = test_triangle(w, vertices);
    if (hit.outcome == FACET_RT_HIT && is_better(w, &hit, triangle, leaf)) {
        *w->found = (struct facet_rt_found){true, hit.front, hit.t, hit.u, hit.v, triangle, leaf};
        w->ray.tmax = hit.t;
        facet_rt_host_closer(&w->host, hit.t);
        *stop = s->any_hit;
    }
    return trap;
}

static enum facet_rt_error visit_leaf(struct walk *w, uint32_t index, bool *stop)
{
    const struct facet_rt_scene *s = w->scene;
    struct facet_rt_range range = {0};
    struct facet_trap trap =
        facet_rt_read_range(&s->port, s->heap + (uint64_t)index * FACET_RT_RANGE_BYTES, &range);

    for (uint32_t k = 0; k < range.count && !trap.taken && !*stop; k++) {
        if (++w->steps > FACET_RT_STEPS) {
            return FACET_RT_EC_BVH;
        }
        trap = visit_triangle(
            w, range.base != 0 ? range.base : s->triangles, range.first + k, index, stop);
    }
    return trap.taken ? FACET_RT_EC_DESC_FAULT : FACET_RT_EC_NONE;
}

enum facet_rt_error facet_rt_trace(const struct facet_rt_scene *scene,
                                   const struct facet_rt_ray *ray,
                                   struct facet_rt_found *found,
                                   unsigned *flags)
{
    struct walk w;
    enum facet_rt_error error = FACET_RT_EC_NONE;
    bool stop = false;

    w.scene = scene;
    w.ray = *ray;
    w.found = found;
    w.flags = flags;
    w.steps = 0;
    w.depth = 0;
    if (scene->host) {
        facet_rt_host_ray(&scene->numbers, ray, &w.host);
    }
    *found = (struct facet_rt_found){0};
    (void)push(&w, (struct entry){FACET_RT_NODE, 0, MINUS_INFINITY});
    while (w.depth > 0 && error == FACET_RT_EC_NONE && !stop) {
        struct entry next = w.stack[--w.depth];

        if (!less(&w, w.ray.tmax, next.near)) {
            error = next.type == FACET_RT_NODE ? visit_node(&w, next.index)
                                               : visit_leaf(&w, next.index, &stop);
        }
    }
    return error;
}
