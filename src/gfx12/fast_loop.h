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

/* ---- primitive ranges ---- */

struct best {
    const struct fast_group *group;
    unsigned triangle;
    float t, det, u, v;
};

#define TRI_CULL_FLAGS                                                                             \
    (FACET_GFX12_CULL_BACK_FACING | FACET_GFX12_CULL_FRONT_FACING | FACET_GFX12_CULL_OPAQUE |      \
     FACET_GFX12_CULL_NON_OPAQUE | FACET_GFX12_SKIP_TRIANGLES)

static bool tri_culled(const struct run *r, const struct fast_group *group, unsigned k, float det)
{
    const struct facet_gfx12_tri_state tri = {
        .opaque = (group->opaque >> k & 1) != 0,
        .double_sided = (group->double_sided >> k & 1) != 0,
        .procedural = false,
    };
    bool front = det >= 0;

    if ((r->level->flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        front = !front;
    }
    return facet_gfx12_primitive_culled(&tri, front, r->level->flags);
}

static bool tri_opaque(const struct run *r, const struct fast_group *group, unsigned k)
{
    return !r->plan->merged || (r->level->flags & FACET_GFX12_FORCE_OPAQUE) != 0 ||
           ((r->level->flags & FACET_GFX12_FORCE_NON_OPAQUE) == 0 && (group->opaque >> k & 1) != 0);
}

static inline void set_t_cur(struct run *r, float t)
{
    r->t_cur = r->extent = t;
    r->behind = f32_bits(t * r->plan->grow);
    if (RARELY(!(t > 0))) {
        r->extent = f32_is_nan(t) ? f32_from(F32_NAN) : t + 0.0f;
        r->behind = t == 0 ? 0 : UINT32_MAX;
    }
}

static void commit(struct run *r, const struct best *b)
{
    const struct fast_group *group = b->group;
    unsigned k = b->triangle;
    struct facet_gfx12_hit *hit = r->hit;
    bool flip = (r->level->flags & FACET_GFX12_FLIP_FACEDNESS) != 0;

    hit->found = true;
    hit->procedural = false;
    hit->opaque = tri_opaque(r, group, k);
    hit->backface = (f32_bits(b->det) >> 31 != 0) != flip;
    hit->t = b->t;
    hit->u = f32_from(f32_bits(b->u) & ~F32_SIGN);
    hit->v = f32_from(f32_bits(b->v) & ~F32_SIGN);
    hit->primitive_index = group->primitive[k];
    hit->geometry_index = group->geometry[k];
    hit->node = group->id[k / 2];
    hit->base = r->level->base;
    hit->instance = r->level->instance;
    hit->instance_user_data = r->level->user_data;
    set_t_cur(r, b->t);
}

/* Takes the hits of a group into account; false when the order of the network could matter. */
TARGET static __attribute__((noinline)) bool consider(const struct run *r,
                                                      const struct fast_group *group,
                                                      unsigned hits,
                                                      const struct group_hits *h,
                                                      struct best *best)
{
    for (; hits != 0; hits &= hits - 1) {
        unsigned k = (unsigned)__builtin_ctz(hits);
        float t = h->t[k];

        if ((r->level->flags & TRI_CULL_FLAGS) != 0 && tri_culled(r, group, k, h->det[k])) {
            continue;
        }
        if (r->plan->in_order && (r->plan->first_hit || !tri_opaque(r, group, k))) {
            return false;
        }
        if (t < best->t) {
            *best = (struct best){group, k, t, h->det[k], h->u[k], h->v[k]};
        } else if (t == best->t && (best->group != group || best->triangle / 2 != k / 2)) {
            return false; /* the pair that comes first wins */
        }
    }
    return true;
}

/* The pairs of ranges, by number. */
TARGET static inline uint64_t pairs_of(const struct fast_box *box, unsigned ranges)
{
    uint64_t pairs = 0;

    if (__builtin_expect(box->uneven == 0, 1)) {
        return ranges_rank(ranges, box->ranges);
    }
    for (; ranges != 0; ranges &= ranges - 1) {
        const unsigned slot = (unsigned)__builtin_ctz(ranges);

        pairs |= UINT64_MAX >> (64 - box->pairs[slot]) << box->link[slot];
    }
    return pairs;
}

/* Tests the ranges of a node in slot order and keeps the nearest candidate. false when the order of
 * the network could matter: nothing has been changed then. */
TARGET static inline bool
fast_ranges(struct run *r, const struct fast_box *box, unsigned ranges, struct best *best)
{
    static const uint8_t lanes_of_pairs[4] = {0, 3, 12, 15};
    const struct plan *plan = r->plan;
    uint64_t pairs, primitives;

    best->group = NULL;
    best->t = r->t_cur;
    if (RARELY((ranges & box->dull) != 0)) {
        return false;
    }
    pairs = pairs_of(box, ranges);
    primitives = (uint64_t)__builtin_popcountll(pairs);
    do {
        const unsigned first = (unsigned)__builtin_ctzll(pairs) & ~1u;
        const struct fast_group *group = fast_group(plan->tracer, box, first);
        const unsigned lanes = lanes_of_pairs[pairs >> first & 3];
        struct group_hits h;
        unsigned hits, nan = 0;

        pairs &= ~(UINT64_C(3) << first);
        hits = group_test(group, r->level, r->above, r->t_cur, plan->gpurt, lanes, &h, &nan);
        if (RARELY((nan & group->present) != 0) ||
            (hits != 0 && !consider(r, group, hits, &h, best))) {
            return false;
        }
    } while (pairs != 0);
    if (RARELY(primitives > r->steps_left)) {
        return false;
    }
    r->steps_left -= primitives;
    r->primitives += primitives;
    return true;
}

/* The same by the book. */
static __attribute__((noinline)) enum fast_outcome
exact_ranges(struct run *r, const struct fast_children *children)
{
    const struct plan *plan = r->plan;
    struct facet_gfx12_query query = *plan->query;
    struct facet_gfx12_stats stats = {0};
    struct facet_gfx12_trace_state state = {
        .unit = &plan->tracer->unit,
        .query = &query,
        .hit = r->hit,
        .stats = &stats,
        .steps_left = r->steps_left,
        .ray = {.instance_mask = plan->mask},
        .tlas_base = plan->base,
        .t_cur = r->t_cur,
    };
    enum fast_outcome outcome;

    query.t_min = r->t_min;
    outcome = facet_gfx12_fast_ranges(plan->tracer, r->level, children, &state);
    r->primitives += stats.primitives;
    r->others += r->steps_left - state.steps_left - stats.primitives;
    r->steps_left = state.steps_left;
    set_t_cur(r, state.t_cur);
    return outcome;
}

TARGET static __attribute__((noinline)) enum fast_outcome
visit_ranges(struct run *r, const struct fast_box *box, unsigned hit)
{
    struct best best = {0};

    if (__builtin_expect(fast_ranges(r, box, hit & box->ranges, &best), 1)) {
        if (best.group != NULL) {
            commit(r, &best);
        }
        return FAST_GO_ON;
    }
    struct fast_children children = {.box = box, .hit = hit};
    struct slabs slabs;

    (void)test_box(r, box, &slabs); /* once more, for the keys */
    slabs_keys(&slabs, r->plan->heuristic, children.key);
    return exact_ranges(r, &children);
}

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
/* What a descent ends with, beside a set of hit children. */
enum {
    DESCENT_LINK = 0,     /* r->link is to be looked at */
    DESCENT_BOX = 0x100u, /* r->link is a box that visit_box must handle */
};

static inline uint64_t entry_of(const uint32_t key[8], const struct fast_box *box, uint64_t slots)
{
    const uint64_t slot = (uint64_t)__builtin_ctzll(slots);

    return (uint64_t)key[slot] << 32 | box->link[slot];
}

/* The larger first. */
static inline void order(uint64_t *a, uint64_t *b)
{
    const uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

    *a = high;
    *b = low;
}

static inline bool same_key(uint64_t a, uint64_t b)
{
    return (a ^ b) >> 32 == 0;
}

/* Puts three or four children on the stack, the nearest one on top, without a branch that depends
 * on their order; `top` itself when there are more, or when two have the same key. */
TARGET static inline __attribute__((always_inline)) uint64_t *
push_few(uint64_t *top, const struct fast_box *box, uint64_t hit, const uint32_t key[8])
{
    const uint64_t second = hit & (hit - 1), third = second & (second - 1);
    const uint64_t fourth = third & (third - 1);
    uint64_t a = entry_of(key, box, hit), b = entry_of(key, box, second);
    uint64_t c = entry_of(key, box, third), d;

    order(&a, &b);
    if (fourth == 0) {
        order(&b, &c);
        order(&a, &b);
        if (RARELY(same_key(a, b) || same_key(b, c))) {
            return top;
        }
        top[0] = a;
        top[1] = b;
        top[2] = c;
        return top + 3;
    }
    if ((fourth & (fourth - 1)) != 0) {
        return top;
    }
    d = entry_of(key, box, fourth);
    order(&c, &d);
    order(&a, &c);
    order(&b, &d);
    order(&b, &c);
    if (RARELY(same_key(a, b) || same_key(b, c) || same_key(c, d))) {
        return top;
    }
    top[0] = a;
    top[1] = b;
    top[2] = c;
    top[3] = d;
    return top + 4;
}

/* Takes a step; false when none is left, and then there is one too few. In memory: the loop has
 * better uses for a register. */
TARGET static inline __attribute__((always_inline)) bool take_step(struct run *r)
{
    bool none;

    __asm__("subq $1, %0" : "+m"(r->steps_left), "=@ccb"(none));
    return !none;
}

/* The compiler knows nothing of the value any more: it stays in its register for the whole loop,
 * and there is but one version of it. */
#define KEEP(variable) __asm__("" : "+r"(variable))
#define KEEP_LANES(variable) __asm__("" : "+x"(variable))

/* From box to box, starting at r->link or, when that is POP, at the top of the stack, until
 * something else comes: a node that is not a plain box, a box with primitives that are hit (its hit
 * children come back, and their keys in r->key), or a box that is left to visit_box.
 *
 * This is where the time goes: one ray, its numbers in registers, no calls, no branch that depends
 * on which of two children is nearer.
 *
 * The bits of distances are compared as integers, which takes a quarter of the time. That order is
 * the same among numbers from +0 on, and what is below stays below: in min_t it gives way to the 0,
 * and where it is max_t nothing is hit, whichever number it is. Only -0 would be in the wrong
 * place; with tame rays and boxes it does not occur. */
TARGET static inline __attribute__((always_inline)) unsigned descend(struct run *r,
                                                                     const bool grows)
{
    const struct fast_level *const level = r->level;
    const uint8_t *const arena = r->plan->arena;
    const __m256 grow = _mm256_set1_ps(r->plan->grow);
    __m256 mx = _mm256_set1_ps(level->minus[0]), ix = _mm256_set1_ps(level->inverse[0]);
    __m256 my = _mm256_set1_ps(level->minus[1]), iy = _mm256_set1_ps(level->inverse[1]);
    __m256 mz = _mm256_set1_ps(level->minus[2]), iz = _mm256_set1_ps(level->inverse[2]);
    __m256i extent = _mm256_set1_epi32((int32_t)f32_bits(r->extent));
    __m256 zero = _mm256_setzero_ps();
    size_t near_x = level->near[0], far_x = level->far[0];
    size_t near_y = level->near[1], far_y = level->far[1];
    size_t near_z = level->near[2], far_z = level->far[2];
    const uint32_t behind = r->behind;
    uint64_t *top = r->top;
    uint64_t link = r->link;

    KEEP_LANES(mx);
    KEEP_LANES(my);
    KEEP_LANES(mz);
    KEEP_LANES(ix);
    KEEP_LANES(iy);
    KEEP_LANES(iz);
    KEEP_LANES(extent);
    KEEP_LANES(zero);
    KEEP(near_x);
    KEEP(near_y);
    KEEP(near_z);
    KEEP(far_x);
    KEEP(far_y);
    KEEP(far_z);
    if (link == POP) {
        goto pop;
    }
    do {
        const struct fast_box *const box =
            (const struct fast_box *)(arena + link * (FAST_UNIT / 8));
        const __m256i nx = ray_plane(box, near_x, mx, ix, zero);
        const __m256i ny = ray_plane(box, near_y, my, iy, zero);
        const __m256i nz = ray_plane(box, near_z, mz, iz, zero);
        const __m256i fx = ray_plane(box, far_x, mx, ix, zero);
        const __m256i fy = ray_plane(box, far_y, my, iy, zero);
        const __m256i fz = ray_plane(box, far_z, mz, iz, zero);
        const __m256i min_t = max4(nx, ny, nz, _mm256_castps_si256(zero));
        __m256i max_t = min4(fx, fy, fz, extent);
        uint64_t hit, rest;

        if (RARELY(!take_step(r))) {
            goto left;
        }
        if (grows) {
            max_t = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(max_t), grow));
        }
        hit = 0xFFu ^
              (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(min_t, max_t)));
        rest = hit & (hit - 1);
        if (hit == 0) {
        pop:
            for (;;) {
                const struct fast_box *next;

                top--;
                link = (uint32_t)*top;
                if ((uint32_t)(*top >> 32) <= behind || (link & 7) != 0) {
                    break;
                }
                next = (const struct fast_box *)(arena + link * (FAST_UNIT / 8));
                if ((next->inside >> r->level->octant & 1) == 0) {
                    break;
                }
                if (RARELY(!take_step(r))) {
                    goto left;
                }
            }
        } else if ((hit & box->ranges) != 0) {
            _mm256_store_si256((__m256i *)r->key, min_t);
            r->link = (uint32_t)link;
            r->top = top;
            return (unsigned)hit;
        } else if (rest == 0) {
            link = box->link[__builtin_ctzll(hit)];
        } else {
            _mm256_store_si256((__m256i *)r->key, min_t);
            if (RARELY(top > r->lean_room)) {
                goto left;
            }
            if ((rest & (rest - 1)) == 0) {
                const uint64_t a = entry_of(r->key, box, hit), b = entry_of(r->key, box, rest);
                const bool swap =
                    (uint32_t)(b >> 32) < (uint32_t)(a >> 32) + facet_gfx12_fast_higher_first[hit];
                const uint64_t other = (a ^ b) & (0 - (uint64_t)swap);

                *top++ = b ^ other;
                link = (uint32_t)(a ^ other);
            } else {
                uint64_t *const pushed = push_few(top, box, hit, r->key);

                if (RARELY(pushed == top)) {
                    goto left;
                }
                top = pushed - 1;
                link = (uint32_t)*top;
            }
        }
        KEEP(link);
    } while ((link & 7) == 0);
    r->top = top;
    r->link = (uint32_t)link;
    return DESCENT_LINK;
left:
    r->steps_left++;
    r->top = top;
    r->link = (uint32_t)link;
    return DESCENT_BOX;
}

TARGET static __attribute__((noinline)) unsigned descend_plain(struct run *r)
{
    return descend(r, false);
}

TARGET static __attribute__((noinline)) unsigned descend_grown(struct run *r)
{
    return descend(r, true);
}

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
