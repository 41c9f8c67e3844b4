/* The reference loop (11.1) over decoded nodes. Included once per instruction set, with these in
 * scope:
 *
 *   TARGET              attributes of every function
 *   ONE, MANY           names of the functions to define
 *   LEAN                1: there is a descend, see below
 *   struct lanes        what slab tests need of a ray
 *   lanes_make          ... from a level
 *   struct slabs        eight slab results
 *   slabs_test          9.2 steps 3-5 for a ray and planes without NaN; returns the hit mask
 *   slabs_test_careful  the same for any ray
 *   slabs_keys          the keys of the heuristic as floats
 *   slabs_elements      mapped key << 32 | link per slot; false when a key of `mask` is NaN
 *   ranges_rank         bit n: the bit of a set of slots where the second set has its n-th one
 *   group_test          9.4 up to the interval test: bit k when triangle k is hit at
 *                       above < t < below. *nan, for profile gpurt only: where a NaN decides
 *   transform           9.6, columns of the matrix, in place
 *   level_rays          what follows from origin and direction of a level
 *   level_copy          the same from a level that has it
 *   has_minus_zero      whether a component is -0
 *
 * Skipping. A popped box is not looked at when its slot was entered behind t_cur and all planes of
 * its children that face the ray lie inside the slot (`inside`). Rounding is monotonic, so every
 * child then has min_t >= that of the slot > t_cur * g >= max_t * g: the visit would return eight
 * times INVALID. It counts as a step, as if it had been made. */

/* What all rays of a batch share. */
struct plan {
    const struct facet_gfx12_tracer *tracer;
    const uint8_t *arena;
    const struct facet_gfx12_query *query; /* origin, direction and interval are not used */
    uint64_t base;                         /* of the TLAS, with flags */
    uint64_t steps;
    uint32_t mask;
    unsigned flags_used; /* 0 without pointer_flags */
    unsigned heuristic;
    float grow;
    bool gpurt, merged;
    bool first_hit;      /* the first commit ends the ray */
    bool in_order;       /* candidates must be met in the order of the contract */
    bool counting;       /* statistics are wanted */
    bool lean;           /* descend serves: see fast_level.lean */
    unsigned skip_never; /* 8: other heuristics have other keys */
};

/* A ray on its way. */
struct run {
    const struct plan *plan;
    const struct fast_level *level; /* of the current node */
    uint64_t *top;                  /* first free entry of the stack: mapped key << 32 | link */
    uint64_t *room;                 /* `top` may reach this without a check */
    uint64_t *lean_room;            /* eight entries below */
    uint64_t steps_left;
    uint32_t link; /* node to visit next */
    float t_min, t_cur;
    float above; /* a hit has t > above */
    uint64_t primitives, instances, others, pushes;
    float extent;                 /* t_cur without the sign of a zero or NaN */
    uint32_t behind;              /* bits of the largest key that must be visited */
    _Alignas(32) uint32_t key[8]; /* of the children of the last box, for a moment */
    uint64_t *highest;            /* top of the stack of the reference loop */
    uint64_t *stack;              /* the lowest entry is END */
    size_t capacity;
    struct facet_gfx12_hit *hit;
    enum facet_status status;
    struct facet_error *err;
    struct fast_level levels[3]; /* [0]: the TLAS */
    uint64_t local[256];
};

enum { STACK_SLACK = 16 };
#define END fast_link(FAST_RETURN, 1)
#define POP 0u /* for a descent: what is on top of the stack; no record is unit 0 */
#define RARELY(condition) __builtin_expect(condition, 0)

/* ---- slab tests ---- */

static unsigned remove_repeats(const struct fast_box *box, unsigned hit)
{
    return hit & ~(hit & hit << 1 & box->repeats);
}

/* A box or a ray with something unusual: all rules of 9.2. */
TARGET static __attribute__((noinline)) unsigned
test_special(const struct run *r, const struct fast_box *box, struct slabs *slabs)
{
    static const float nowhere[4] = {0, 0, 0, 0};
    struct fast_level turned;
    struct lanes lanes;
    unsigned hit;

    lanes_make(r->level, &lanes);
    if (box->obb != FACET_GFX12_OBB_NONE) {
        transform(r->plan->tracer->obb_column[box->obb],
                  nowhere,
                  r->level->origin,
                  r->level->direction,
                  turned.origin,
                  turned.direction);
        level_rays(&turned);
        lanes_make(&turned, &lanes);
    }
    hit = slabs_test_careful(box, &lanes, r->t_cur, r->plan->grow, slabs) & box->used;
    hit = facet_gfx12_fast_cull(box, r->level, r->plan->mask, hit);
    return remove_repeats(box, hit);
}

/* 9.2 for any box and ray. */
TARGET static unsigned
test_box(const struct run *r, const struct fast_box *box, struct slabs *slabs)
{
    struct lanes lanes;

    if ((box->attention & r->level->attention) != 0) {
        return test_special(r, box, slabs);
    }
    lanes_make(r->level, &lanes);
    return slabs_test(box, &lanes, r->t_cur, r->plan->grow, slabs);
}

#include "gfx12/fast_ranges.h"

/* ---- boxes ---- */

/* The elements of `boxes` in the order of the network; returns how many. Any way of sorting gives
 * that order as long as no two keys are equal. */
static __attribute__((noinline)) unsigned sort_boxes(const struct run *r,
                                                     const struct fast_children *children,
                                                     unsigned boxes,
                                                     const uint64_t element[8],
                                                     bool ordered,
                                                     uint64_t sorted[8])
{
    uint8_t slot[8];
    unsigned n = 0, count;

    for (unsigned left = boxes; left != 0; left &= left - 1) {
        uint64_t e = element[__builtin_ctz(left)];
        unsigned at = n++;

        for (; at > 0 && sorted[at - 1] > e; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = e;
    }
    for (unsigned i = 1; i < n; i++) {
        ordered = ordered && sorted[i] >> 32 != sorted[i - 1] >> 32;
    }
    if (ordered) {
        return n;
    }
    count = facet_gfx12_fast_order(&r->plan->tracer->unit, children, slot);
    n = 0;
    for (unsigned i = 0; i < count; i++) {
        if ((boxes >> slot[i] & 1) != 0) {
            sorted[n++] = element[slot[i]];
        }
    }
    return n;
}

/* Puts `boxes` (of all `hit` children) on the stack, the first one on top; returns the new top. */
TARGET static inline uint64_t *push_boxes(const struct run *r,
                                          const struct fast_box *box,
                                          unsigned hit,
                                          unsigned boxes,
                                          const struct slabs *slabs,
                                          uint64_t *top)
{
    _Alignas(32) uint64_t element[8];
    bool ordered = slabs_elements(slabs, r->plan->heuristic, box, hit, element);
    unsigned rest = boxes & (boxes - 1);

    if (rest == 0) {
        *top = element[__builtin_ctz(boxes)];
        return top + 1;
    }
    if ((rest & (rest - 1)) == 0) {
        uint64_t a = element[__builtin_ctz(boxes)], b = element[__builtin_ctz(rest)];

        if (__builtin_expect(ordered && (hit == boxes || a >> 32 != b >> 32), 1)) {
            bool swap = (b >> 32) < (a >> 32) + facet_gfx12_fast_higher_first[hit];

            top[0] = swap ? a : b;
            top[1] = swap ? b : a;
            return top + 2;
        }
    }
    struct fast_children children = {.box = box, .hit = hit};
    uint64_t sorted[8];

    slabs_keys(slabs, r->plan->heuristic, children.key);
    for (unsigned n = sort_boxes(r, &children, boxes, element, ordered, sorted); n-- > 0;) {
        *top++ = sorted[n];
    }
    return top;
}

static uint64_t *stack_room(uint64_t *stack, size_t capacity)
{
    size_t room = capacity - STACK_SLACK;
    return stack + (room < FACET_GFX12_MAX_DEPTH + 1 ? room : FACET_GFX12_MAX_DEPTH + 1);
}

/* `top`, as the reference loop would have it after a visit, is above `room`: more memory, or the
 * limit of R-G12-65. */
static __attribute__((noinline)) bool grow_stack(struct run *r, const uint64_t *top)
{
    size_t capacity = 2 * r->capacity, count = (size_t)(r->top - r->stack);
    uint64_t *grown;

    if (top - r->stack > FACET_GFX12_MAX_DEPTH + 1) {
        r->status = facet_fail(r->err,
                               FACET_ERR_LIMIT,
                               r->plan->steps - r->steps_left,
                               "traversal stack deeper than %d entries: the image has a cycle",
                               FACET_GFX12_MAX_DEPTH);
        return false;
    }
    grown = malloc(capacity * sizeof grown[0]);
    if (grown == NULL) {
        r->status = facet_fail(r->err, FACET_ERR_MEMORY, 0, "no memory for the traversal stack");
        return false;
    }
    memcpy(grown, r->stack, count * sizeof grown[0]);
    r->highest = grown + (r->highest - r->stack);
    if (r->stack != r->local) {
        free(r->stack);
    }
    r->stack = grown;
    r->top = grown + count;
    r->capacity = capacity;
    r->room = stack_room(grown, capacity);
    r->lean_room = r->room - 8;
    return true;
}

/* Notes the depth that the reference loop has after a visit; false when the ray must end. */
static inline bool note_depth(struct run *r, size_t above)
{
    uint64_t *top = r->top + above;

    if (__builtin_expect(top > r->room, 0)) {
        if (!grow_stack(r, top)) {
            return false;
        }
        top = r->top + above;
    }
    r->highest = top > r->highest ? top : r->highest;
    return true;
}

/* ---- levels ---- */

/* What follows from the base. */
TARGET static inline void level_make(const struct plan *plan, struct fast_level *level)
{
    level->flags = (unsigned)(level->base >> 54) & plan->flags_used;
    level->culled = plan->tracer->culled[level->flags];
    level->attention = level->culled | FAST_SPECIAL;
    if (!level->regular || (plan->mask & 0xFF) == 0 || plan->heuristic == 2) {
        level->attention |= FAST_ALWAYS;
    }
    level->lean = plan->lean && level->tame &&
                  ((plan->tracer->promises | FAST_ALWAYS) & level->attention) == 0;
}

/* facet_gfx12_base_enter (2.3), without the call. */
static inline uint64_t enter_base(uint64_t pointer, uint64_t ray)
{
    uint64_t forced = ray & UINT64_C(3) << 54;
    uint64_t inst = forced != 0 ? pointer & ~(UINT64_C(3) << 54) : pointer;

    return (inst & ~UINT64_C(7)) | (ray & ~UINT64_C(0) << 54);
}

/* Fills a level with what a ray of the level outside becomes in an instance. */
TARGET static inline void level_enter(const struct plan *plan,
                                      const struct fast_instance *instance,
                                      const struct fast_level *outside,
                                      struct fast_level *inside)
{
    if (instance->identity && outside->regular && !has_minus_zero(outside->origin)) {
        level_copy(outside, inside);
    } else {
        transform(instance->column,
                  instance->column[3],
                  outside->origin,
                  outside->direction,
                  inside->origin,
                  inside->direction);
        level_rays(inside);
    }
    inside->base = enter_base(instance->pointer, outside->base);
    inside->instance = instance->id;
    inside->user_data = instance->user_data;
    level_make(plan, inside);
}

/* The box was entered behind t_cur: see above. */
static inline bool may_skip(const struct run *r, uint32_t link)
{
    const struct fast_box *box = fast_record(r->plan->tracer, link);
    unsigned octant = r->level->octant | r->level->irregular | r->plan->skip_never;

    return (box->inside >> octant & 1) != 0;
}

/* The next node from the stack. */
static inline void pop(struct run *r)
{
    uint64_t item = *--r->top;

    while (fast_kind_of((uint32_t)item) == FAST_BOX &&
           f32_from((uint32_t)(item >> 32)) > r->t_cur * r->plan->grow &&
           may_skip(r, (uint32_t)item) && r->steps_left > 0) {
        r->steps_left--;
        item = *--r->top;
    }
    r->link = (uint32_t)item;
}

static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

static inline float smaller(float a, float b)
{
    return a < b ? a : b;
}

/* Whether the only child of a plain box is hit by a ray of a lean level. What comes next does not
 * wait for the answer where the host guesses right. */
TARGET static inline bool
only_hit(const struct run *r, const struct fast_box *box, const struct fast_level *level)
{
    const char *const planes = (const char *)&box->plane[0][0][box->only - 1];
    float enter = 0, leave = f32_from(F32_INF);

    for (unsigned k = 0; k < 3; k++) {
        const float near = *(const float *)(planes + level->near[k]);
        const float far = *(const float *)(planes + level->far[k]);

        enter = larger((near + level->minus[k]) * level->inverse[k], enter);
        leave = smaller((far + level->minus[k]) * level->inverse[k], leave);
    }
    return enter <= smaller(r->t_cur, leave) * r->plan->grow; /* a NaN gives way */
}

/* From the TLAS into an instance whose children can be tested like those of a plain box. That box
 * then takes the step, and when no child is hit, the stack leads back. false: not done. */
TARGET static inline bool enter_lean(struct run *r, const struct fast_instance *instance)
{
    const struct fast_level *outside = &r->levels[0];
    struct fast_level *inside = &r->levels[1];

    if (r->level != outside || !outside->lean || r->top > r->lean_room ||
        (instance->cull_mask & r->plan->mask) == 0 ||
        (instance->skipped_by & outside->flags) != 0 ||
        (instance->box.attention & (FAST_SPECIAL | outside->culled)) != 0) {
        return false;
    }
    level_enter(r->plan, instance, outside, inside);
    if (!inside->lean || (instance->box.attention & inside->attention) != 0) {
        return false;
    }
    if (__builtin_expect(instance->box.only != 0, 1)) {
        r->steps_left--;
        if (only_hit(r, &instance->box, inside)) {
            r->level = inside;
            *r->top++ = fast_link(FAST_RETURN, 0);
            r->link = instance->box.link[instance->box.only - 1];
        } else {
            pop(r);
        }
        return true;
    }
    r->level = inside;
    *r->top++ = fast_link(FAST_RETURN, 0);
    r->link &= ~7u;
    return true;
}

/* Enters the instance when a child is hit; r->link is then the node to go on with. */
TARGET static __attribute__((noinline)) bool visit_instance(struct run *r,
                                                            const struct fast_instance *instance)
{
    const struct plan *plan = r->plan;
    const struct fast_box *box = &instance->box;
    /* A slot that is not in use; below an instance only the TLAS is ever returned to. */
    struct fast_level *inside = &r->levels[r->level == &r->levels[1] ? 2 : 1];
    struct lanes lanes;
    struct slabs slabs;
    unsigned hit;

    r->instances++;
    if ((instance->cull_mask & plan->mask) == 0 || (instance->skipped_by & r->level->flags) != 0) {
        return false;
    }
    level_enter(plan, instance, r->level, inside);
    lanes_make(inside, &lanes);
    hit = inside->regular && box->nan == 0 && plan->heuristic != 2
              ? slabs_test(box, &lanes, r->t_cur, plan->grow, &slabs)
              : slabs_test_careful(box, &lanes, r->t_cur, plan->grow, &slabs) & box->used;
    if ((box->promises & r->level->culled) != 0 && !plan->gpurt) { /* R-G12-33 */
        for (unsigned i = 0; i < 4; i++) {
            hit &= ~((unsigned)(r->level->culled >> box->cull_flags[i] & 1) << i);
        }
    }
    hit = remove_repeats(box, hit);
    if (hit == 0) {
        return false;
    }
    r->level = inside;
    r->pushes += (unsigned)__builtin_popcount(hit);
    *r->top++ = fast_link(FAST_RETURN, 0);
    r->top = push_boxes(r, box, hit, hit, &slabs, r->top);
    r->link = (uint32_t) * --r->top;
    return true;
}

/* ---- the loop ---- */

static bool out_of_steps(struct run *r)
{
    struct facet_gfx12_stats stats = {.steps = r->plan->steps};
    const struct facet_gfx12_trace_state state = {.stats = &stats};

    r->status = facet_gfx12_trace_out_of_steps(&state, r->err);
    return false;
}

/* A box whose children were tested: primitives at once, boxes onto the stack. false when the ray is
 * done. */
TARGET static inline bool
go_on(struct run *r, const struct fast_box *box, unsigned hit, const struct slabs *slabs)
{
    const unsigned above = (unsigned)__builtin_popcount(hit) - (hit != 0);
    const unsigned boxes = hit & ~(unsigned)box->ranges;

    r->pushes += above;
    if (!note_depth(r, above)) {
        return false;
    }
    if (boxes != 0) {
        r->top = push_boxes(r, box, hit, boxes, slabs, r->top);
    }
    if (boxes != hit) {
        enum fast_outcome outcome = visit_ranges(r, box, hit);

        if (RARELY(outcome != FAST_GO_ON)) {
            return outcome == FAST_OUT_OF_STEPS && out_of_steps(r);
        }
    }
    pop(r);
    return true;
}

/* Any box; false when the ray is done. */
TARGET static __attribute__((noinline)) bool visit_box(struct run *r)
{
    const struct fast_box *box = fast_record(r->plan->tracer, r->link);
    struct slabs slabs;
    unsigned hit;

    if (r->steps_left == 0) {
        return out_of_steps(r);
    }
    r->steps_left--;
    hit = test_box(r, box, &slabs);
    return go_on(r, box, hit, &slabs);
}

/* Whatever is not a box with several children; false when the ray is done. */
TARGET static inline bool visit_other(struct run *r)
{
    if (fast_kind_of(r->link) == FAST_RETURN) {
        if (r->link == END) {
            return false;
        }
        r->level = &r->levels[0];
        pop(r);
        return true;
    }
    if (r->steps_left == 0) {
        return out_of_steps(r);
    }
    if (fast_kind_of(r->link) == FAST_INSTANCE &&
        enter_lean(r, fast_record(r->plan->tracer, r->link))) {
        return true;
    }
    if (fast_kind_of(r->link) == FAST_ONLY_BOX) {
        const struct fast_box *box = fast_record(r->plan->tracer, r->link);

        if (!r->level->lean) {
            return visit_box(r);
        }
        r->steps_left--;
        if (only_hit(r, box, r->level)) {
            r->link = box->link[box->only - 1];
        } else {
            pop(r);
        }
        return true;
    }
    r->steps_left--;
    if (fast_kind_of(r->link) == FAST_NONE) {
        r->others += r->link == fast_link(FAST_NONE, 0);
    } else if (visit_instance(r, fast_record(r->plan->tracer, r->link))) {
        return note_depth(r, 0);
    }
    pop(r);
    return true;
}

#if LEAN
#include "gfx12/fast_descend.h"

/* A box that a descent has paid a step for, by visit_box. What is next stays on the stack. */
static __attribute__((noinline)) bool visit_again(struct run *r)
{
    r->steps_left++;
    if (!visit_box(r)) {
        return false;
    }
    r->top++;
    r->link = POP;
    return true;
}

/* A box that a descent ended with: its primitives. Afterwards a descent goes on at the top of the
 * stack. false when the ray is done. */
TARGET static inline bool visit_hit(struct run *r, unsigned hit)
{
    const struct fast_box *box = fast_record(r->plan->tracer, r->link);
    const unsigned boxes = hit & ~(unsigned)box->ranges, rest = boxes & (boxes - 1);
    enum fast_outcome outcome;

    if (boxes != 0) {
        const uint64_t a = entry_of(r->key, box, boxes);

        if (r->top > r->lean_room || (rest & (rest - 1)) != 0) {
            return visit_again(r);
        }
        if (rest != 0) {
            uint64_t b = entry_of(r->key, box, rest);

            if (same_key(a, b)) {
                return visit_again(r);
            }
            *r->top++ = a < b ? b : a;
            *r->top++ = a < b ? a : b;
        } else {
            *r->top++ = a;
        }
    }
    outcome = visit_ranges(r, box, hit);
    r->link = POP;
    return outcome == FAST_GO_ON || (outcome == FAST_OUT_OF_STEPS && out_of_steps(r));
}

/* Descents one after the other, as long as they end with primitives; false when the ray is done. */
TARGET static inline bool visit_lean(struct run *r)
{
    unsigned end;

    do {
        end = r->plan->grow != 1 ? descend_grown(r) : descend_plain(r);
        if (end == DESCENT_LINK) {
            return true;
        }
        if (RARELY(end == DESCENT_BOX)) {
            return visit_box(r);
        }
    } while (visit_hit(r, end));
    return false;
}
#endif

/* From start to end. */
TARGET static void travel(struct run *r)
{
    bool more = true;

    while (more) {
        const enum fast_kind kind = fast_kind_of(r->link);

        if (kind != FAST_BOX && kind != FAST_ODD_BOX) {
            more = visit_other(r);
#if LEAN
        } else if (kind == FAST_BOX && r->level->lean) {
            more = visit_lean(r);
#endif
        } else {
            more = visit_box(r);
        }
    }
}

static void plan_make(struct plan *plan,
                      const struct facet_gfx12_tracer *tracer,
                      const struct facet_gfx12_query *query,
                      bool counting)
{
    const struct facet_gfx12_resource *resource = &tracer->unit.resource;

    plan->tracer = tracer;
    plan->arena = tracer->arena;
    plan->query = query;
    plan->base = facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags));
    plan->steps = query->max_steps != 0 ? query->max_steps : FACET_GFX12_DEFAULT_STEPS;
    plan->mask = query->instance_mask;
    plan->flags_used = resource->pointer_flags != 0 ? 0x3FF : 0;
    plan->heuristic = resource->box_sorting_heuristic;
    plan->grow = 1.0f + (float)resource->box_grow_value * 0x1p-24f;
    plan->gpurt = tracer->unit.profile == FACET_GFX12_GPURT;
    plan->merged = resource->pointer_flags != 0 || plan->gpurt;
    plan->first_hit = (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0;
    plan->in_order = plan->first_hit || query->callbacks.any_hit != NULL;
    plan->counting = counting;
    plan->lean = LEAN && !counting && plan->heuristic == 0;
    plan->skip_never = plan->heuristic != 0 ? 8 : 0;
}

TARGET static inline void start(struct run *r,
                                const struct plan *plan,
                                const float origin[3],
                                const float direction[3],
                                float t_min,
                                float t_max,
                                struct facet_gfx12_hit *hit,
                                struct facet_error *err)
{
    struct fast_level *level = &r->levels[0];

    *hit = (struct facet_gfx12_hit){.t = t_max, .instance = FACET_GFX12_INVALID};
    r->plan = plan;
    r->hit = hit;
    r->err = err;
    r->stack = r->local;
    r->stack[0] = END;
    r->top = r->highest = r->stack + 1;
    r->capacity = sizeof r->local / sizeof r->local[0];
    r->room = stack_room(r->stack, r->capacity);
    r->lean_room = r->room - 8;
    r->steps_left = plan->steps;
    r->primitives = r->instances = r->others = r->pushes = 0;
    r->t_min = t_min;
    set_t_cur(r, t_max);
    /* t >= 0, too: what is below it and not t_min is the largest number below 0. */
    r->above = t_min < 0 ? -0x1p-149f : t_min;
    r->status = FACET_OK;
    r->link = plan->tracer->root_link;
    r->level = level;
    level_set(level, origin, direction);
    level->base = plan->base;
    level->instance = FACET_GFX12_INVALID;
    level->user_data = 0;
    level_rays(level);
    level_make(plan, level);
}

static void finish(struct run *r, struct facet_gfx12_stats *sum)
{
    uint64_t steps = r->plan->steps - r->steps_left;
    uint32_t depth = (uint32_t)(r->highest - r->stack - 1);

    if (sum != NULL) {
        sum->steps += steps;
        sum->boxes += steps - r->primitives - r->instances - r->others;
        sum->primitives += r->primitives;
        sum->instances += r->instances;
        sum->pushes += r->pushes;
        sum->max_depth = depth > sum->max_depth ? depth : sum->max_depth;
    }
    if (r->stack != r->local) {
        free(r->stack);
    }
}

TARGET enum facet_status ONE(const struct facet_gfx12_tracer *tracer,
                             const struct facet_gfx12_query *query,
                             struct facet_gfx12_hit *hit,
                             struct facet_gfx12_stats *stats,
                             struct facet_error *err)
{
    struct plan plan;
    struct run r;

    plan_make(&plan, tracer, query, stats != NULL);
    start(&r, &plan, query->origin, query->direction, query->t_min, query->t_max, hit, err);
    travel(&r);
    if (stats != NULL) {
        memset(stats, 0, sizeof *stats);
    }
    finish(&r, stats);
    return r.status;
}

TARGET size_t MANY(const struct fast_batch *b)
{
    struct plan plan;
    struct run r;

    plan_make(&plan, b->tracer, b->common, b->stats != NULL);
    for (size_t i = 0; i < b->count; i++) {
        const struct facet_gfx12_batch_ray *ray = &b->rays[i];

        start(&r, &plan, ray->origin, ray->direction, ray->t_min, ray->t_max, &b->hits[i], b->err);
        travel(&r);
        finish(&r, b->stats);
        if (RARELY(r.status != FACET_OK)) {
            *b->status = r.status;
            return i;
        }
    }
    return b->count;
}
