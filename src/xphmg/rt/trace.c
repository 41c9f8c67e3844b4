/* One ray of a job through the hierarchy: depth first, the nearest child first, closest hit with
 * ties by triangle and leaf index (rt-semantics.md 11.4). */
#include "xphmg/rt/rt.h"

#include "num/accum.h"
#include "rt/host.h"
#include "xphmg/units/part.h"

#define MINUS_INFINITY UINT32_C(0xFF800000)

/* Steps between two questions whether to leave the ray, and nanoseconds that one takes. */
enum { STEPS_ASKED = 64, STEP_NANOSECONDS = 100 };

struct walk {
    const struct facet_xphmg_rt_scene *scene;
    struct facet_rt_host_ray host;
    struct facet_xphmg_rt_walk *at;
    bool left;
};

/* Neither is a NaN. */
static bool less(const struct walk *w, uint32_t a, uint32_t b)
{
    unsigned none = 0;

    return facet_acc_lt(&w->scene->numbers.channel[0], a, b, &none);
}

static bool push(struct walk *w, struct facet_xphmg_rt_entry entry)
{
    if (w->at->depth == FACET_XPHMG_RT_STACK) {
        return false;
    }
    w->at->stack[w->at->depth++] = entry;
    return true;
}

/* Notifies the watcher, if there is one; false: it asks to stop. */
static bool tell(const struct walk *w, struct facet_xphmg_rt_event event)
{
    const struct facet_xphmg_rt_watch *watch = w->scene->watch;

    if (watch == NULL) {
        return true;
    }
    event.tmax = w->at->ray.tmax;
    event.depth = w->at->depth;
    return watch->event(watch->context, &event);
}

/* A step was done: whether to leave the ray here. */
static bool leave(struct walk *w)
{
    w->left = w->at->steps % STEPS_ASKED == 0 &&
              facet_part_work(w->scene->port.h, STEPS_ASKED * STEP_NANOSECONDS);
    return w->left;
}

/* Inserts a child after those that the ray enters before it or at the same place. */
static void sort_in(const struct walk *w,
                    struct facet_xphmg_rt_entry *kept,
                    unsigned count,
                    struct facet_xphmg_rt_entry child)
{
    unsigned at = count;

    for (; at > 0 && less(w, child.near, kept[at - 1].near); at--) {
        kept[at] = kept[at - 1];
    }
    kept[at] = child;
}

/* B3 to B6 of a box. */
static struct facet_rt_slab
test_box(struct walk *w, const struct facet_xphmg_rt_fetched *child, unsigned number)
{
    const struct facet_rt_numbers *n = &w->scene->numbers;
    struct facet_rt_box_steps steps = {.slab.outcome = FACET_RT_NAN};
    struct facet_rt_box box;
    unsigned flags = 0;
    bool nan;

    if (w->scene->host && facet_rt_host_box(&w->host, child->box, &steps.slab, &w->at->flags)) {
        return steps.slab;
    }
    nan = facet_rt_box_widen(n, child->box, &box, &flags);
    if (!nan) {
        facet_rt_box_steps(n, &w->at->ray, &box, &steps, &flags);
    }
    w->at->flags |= flags;
    (void)tell(w,
               (struct facet_xphmg_rt_event){
                   .kind = FACET_XPHMG_RT_EVENT_CHILD,
                   .entry = {(uint8_t)child->type, (uint8_t)number, child->index, steps.slab.cnear},
                   .nan = nan,
                   .elements = child->box,
                   .wide_box = &box,
                   .box = &steps,
                   .flags = flags});
    return steps.slab;
}

/* The children of one tile that the ray enters, sorted into `kept`. */
static struct facet_trap visit_tile(struct walk *w,
                                    uint64_t tile,
                                    unsigned first,
                                    struct facet_xphmg_rt_entry *kept,
                                    unsigned *count)
{
    const struct facet_xphmg_rt_scene *s = w->scene;
    uint32_t types = 0;
    struct facet_trap trap =
        tell(w, (struct facet_xphmg_rt_event){.kind = FACET_XPHMG_RT_EVENT_TILE, .address = tile})
            ? facet_xphmg_rt_read_flags(&s->port, tile, &types)
            : facet_hart_trap_make(FACET_CAUSE_LOAD_FAULT, tile);

    for (unsigned slot = 0; slot < FACET_RT_TILE_CHILDREN && !trap.taken; slot++) {
        struct facet_xphmg_rt_fetched child;
        struct facet_rt_slab slab;

        trap = facet_xphmg_rt_read_child(&s->port, tile, types, slot, true, &child);
        if (trap.taken) {
            break;
        }
        if (child.type == FACET_RT_EMPTY) {
            (void)tell(w,
                       (struct facet_xphmg_rt_event){.kind = FACET_XPHMG_RT_EVENT_CHILD,
                                                     .entry.child = (uint8_t)(first + slot)});
            continue;
        }
        facet_xphmg_rt_count_boxes(s->port.h, 1);
        if (s->counts != NULL) {
            s->counts->boxes++;
        }
        slab = test_box(w, &child, first + slot);
        if (slab.outcome == FACET_RT_HIT) {
            sort_in(w,
                    kept,
                    (*count)++,
                    (struct facet_xphmg_rt_entry){
                        (uint8_t)child.type, (uint8_t)(first + slot), child.index, slab.cnear});
        }
    }
    return trap;
}

static enum facet_xphmg_rt_error visit_node(struct walk *w, uint32_t index)
{
    const struct facet_xphmg_rt_scene *s = w->scene;
    uint64_t size = facet_rt_tile_bytes(&s->port.container), tile = s->heap + index * size;
    struct facet_xphmg_rt_entry kept[2 * FACET_RT_TILE_CHILDREN];
    unsigned count = 0;
    struct facet_trap trap;

    if (++w->at->steps > FACET_XPHMG_RT_STEPS) {
        return FACET_XPHMG_RT_EC_BVH;
    }
    trap = visit_tile(w, tile, 0, kept, &count);
    if (!trap.taken && s->node8) {
        trap = visit_tile(w, tile + size, FACET_RT_TILE_CHILDREN, kept, &count);
    }
    if (trap.taken) {
        return FACET_XPHMG_RT_EC_DESC_FAULT;
    }
    (void)tell(w,
               (struct facet_xphmg_rt_event){
                   .kind = FACET_XPHMG_RT_EVENT_SORT, .kept = kept, .count = count});
    while (count > 0) { /* the nearest ends on top */
        if (!push(w, kept[--count])) {
            return FACET_XPHMG_RT_EC_BVH;
        }
        (void)tell(
            w,
            (struct facet_xphmg_rt_event){.kind = FACET_XPHMG_RT_EVENT_PUSH, .entry = kept[count]});
    }
    if (s->counts != NULL) {
        s->counts->nodes++;
        s->counts->deepest = w->at->depth > s->counts->deepest ? w->at->depth : s->counts->deepest;
    }
    (void)leave(w);
    return FACET_XPHMG_RT_EC_NONE;
}

/* What becomes of a hit. It is not beyond the one found so far: that was tmax. */
static enum facet_xphmg_rt_choice
choose(const struct walk *w, const struct facet_rt_facet *hit, uint32_t triangle, uint32_t leaf)
{
    const struct facet_xphmg_rt_found *f = &w->at->found;
    bool lower = triangle != f->triangle ? triangle < f->triangle : leaf < f->leaf;

    return hit->outcome != FACET_RT_HIT ? FACET_XPHMG_RT_CHOICE_MISSED
           : !f->hit                    ? FACET_XPHMG_RT_CHOICE_FIRST
           : less(w, hit->t, f->t)      ? FACET_XPHMG_RT_CHOICE_CLOSER
           : lower                      ? FACET_XPHMG_RT_CHOICE_LOWER
                                        : FACET_XPHMG_RT_CHOICE_REFUSED;
}

/* T2 to T11 of a triangle, and what becomes of it. */
static struct facet_rt_facet test_triangle(struct walk *w,
                                           const uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS],
                                           uint32_t triangle,
                                           uint32_t leaf,
                                           enum facet_xphmg_rt_choice *choice)
{
    const struct facet_xphmg_rt_scene *s = w->scene;
    struct facet_rt_triangle_steps steps = {.facet.outcome = FACET_RT_NAN};
    struct facet_rt_triangle wide;
    unsigned flags = 0;
    bool nan;

    if (s->host &&
        facet_rt_host_triangle(&w->host, vertices, &s->options, &steps.facet, &w->at->flags)) {
        *choice = choose(w, &steps.facet, triangle, leaf);
        return steps.facet;
    }
    steps.facet.outcome = FACET_RT_NAN;
    nan = facet_rt_triangle_widen(&s->numbers, vertices, &wide, &flags);
    if (!nan) {
        facet_rt_triangle_steps(&s->numbers, &w->at->ray, &wide, &s->options, &steps, &flags);
    }
    w->at->flags |= flags;
    *choice = choose(w, &steps.facet, triangle, leaf);
    (void)tell(w,
               (struct facet_xphmg_rt_event){.kind = FACET_XPHMG_RT_EVENT_TEST,
                                             .entry = {FACET_RT_LEAF, 0, leaf, 0},
                                             .number = triangle,
                                             .nan = nan,
                                             .elements = vertices,
                                             .wide_triangle = &wide,
                                             .triangle = &steps,
                                             .choice = *choice,
                                             .flags = flags});
    return steps.facet;
}

/* One triangle; *stop when no other matters any more. */
static struct facet_trap
visit_triangle(struct walk *w, uint64_t base, uint32_t triangle, uint32_t leaf, bool *stop)
{
    const struct facet_xphmg_rt_scene *s = w->scene;
    uint32_t vertices[FACET_RT_TRIANGLE_ELEMENTS];
    enum facet_xphmg_rt_choice choice;
    struct facet_rt_facet hit;
    struct facet_trap trap =
        tell(w,
             (struct facet_xphmg_rt_event){
                 .kind = FACET_XPHMG_RT_EVENT_TRIANGLE, .number = triangle, .base = base})
            ? facet_xphmg_rt_read_triangle(
                  &s->port, base != 0 ? base : s->triangles, triangle, vertices)
            : facet_hart_trap_make(FACET_CAUSE_LOAD_FAULT, base);

    if (trap.taken) {
        return trap;
    }
    facet_xphmg_rt_count_triangles(s->port.h, 1);
    if (s->counts != NULL) {
        s->counts->triangles++;
    }
    hit = test_triangle(w, vertices, triangle, leaf, &choice);
    if (choice != FACET_XPHMG_RT_CHOICE_MISSED && choice != FACET_XPHMG_RT_CHOICE_REFUSED) {
        w->at->found =
            (struct facet_xphmg_rt_found){true, hit.front, hit.t, hit.u, hit.v, triangle, leaf};
        w->at->ray.tmax = hit.t;
        facet_rt_host_closer(&w->host, hit.t);
        *stop = s->any_hit;
    }
    return trap;
}

/* The TriRange of a leaf: its triangles are to be tested. */
static enum facet_xphmg_rt_error enter_leaf(struct walk *w, uint32_t index)
{
    const struct facet_xphmg_rt_scene *s = w->scene;
    uint64_t address = s->heap + (uint64_t)index * FACET_RT_RANGE_BYTES;
    struct facet_trap trap =
        tell(w,
             (struct facet_xphmg_rt_event){.kind = FACET_XPHMG_RT_EVENT_RANGE, .address = address})
            ? facet_xphmg_rt_read_range(&s->port, address, &w->at->range)
            : facet_hart_trap_make(FACET_CAUSE_LOAD_FAULT, address);

    w->at->leaf = index;
    w->at->next = 0;
    return trap.taken ? FACET_XPHMG_RT_EC_DESC_FAULT : FACET_XPHMG_RT_EC_NONE;
}

/* The triangles of the leaf that the ray is in. */
static enum facet_xphmg_rt_error visit_leaf(struct walk *w, bool *stop)
{
    const struct facet_rt_range range = w->at->range;

    while (w->at->next < range.count && !*stop) {
        struct facet_trap trap;

        if (++w->at->steps > FACET_XPHMG_RT_STEPS) {
            return FACET_XPHMG_RT_EC_BVH;
        }
        trap = visit_triangle(w, range.base, range.first + w->at->next++, w->at->leaf, stop);
        if (trap.taken) {
            return FACET_XPHMG_RT_EC_DESC_FAULT;
        }
        if (!*stop && leave(w)) {
            break;
        }
    }
    return FACET_XPHMG_RT_EC_NONE;
}

/* The next entry of the stack, unless the ray has found something before it. */
static enum facet_xphmg_rt_error visit_next(struct walk *w)
{
    struct facet_xphmg_rt_entry next = w->at->stack[--w->at->depth];
    bool entered = !less(w, w->at->ray.tmax, next.near);

    (void)tell(w,
               (struct facet_xphmg_rt_event){
                   .kind = FACET_XPHMG_RT_EVENT_POP, .entry = next, .entered = entered});
    return !entered                     ? FACET_XPHMG_RT_EC_NONE
           : next.type == FACET_RT_NODE ? visit_node(w, next.index)
                                        : enter_leaf(w, next.index);
}

void facet_xphmg_rt_walk_begin(struct facet_xphmg_rt_walk *walk,
                               const struct facet_rt_ray *ray,
                               unsigned flags)
{
    walk->ray = *ray;
    walk->found = (struct facet_xphmg_rt_found){0};
    walk->flags = flags;
    walk->steps = walk->leaf = walk->next = 0;
    walk->range = (struct facet_rt_range){0};
    walk->depth = 1;
    walk->stack[0] = (struct facet_xphmg_rt_entry){FACET_RT_NODE, 0, 0, MINUS_INFINITY};
}

enum facet_xphmg_rt_error facet_xphmg_rt_walk_on(const struct facet_xphmg_rt_scene *scene,
                                                 struct facet_xphmg_rt_walk *walk,
                                                 bool *left)
{
    struct walk w = {.scene = scene, .at = walk};
    enum facet_xphmg_rt_error error;
    bool stop = false;

    if (scene->host) {
        facet_rt_host_ray(&scene->numbers, &walk->ray, &w.host);
    }
    error = visit_leaf(&w, &stop);
    while (walk->depth > 0 && error == FACET_XPHMG_RT_EC_NONE && !stop && !w.left) {
        error = visit_next(&w);
        if (error == FACET_XPHMG_RT_EC_NONE) {
            error = visit_leaf(&w, &stop);
        }
    }
    *left = w.left && error == FACET_XPHMG_RT_EC_NONE && !stop;
    return error;
}
