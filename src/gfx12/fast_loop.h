/* The reference loop (11.1) over decoded nodes. Included once per instruction set, with these in
 * scope:
 *
 *   TARGET              attributes of every function
 *   ONE, MANY           names of the functions to define
 *   struct lanes        what slab tests need of a ray
 *   lanes_make          ... from a level
 *   struct slabs        eight slab results
 *   slabs_test          9.2 steps 3-5 for a ray and planes without NaN; returns the hit mask
 *                       (an extent that is NaN has no sign, unless `grows`)
 *   slabs_test_careful  the same for any ray
 *   slabs_keys          the keys of the heuristic as floats
 *   slabs_elements      mapped key << 32 | link per slot; false when a key of `mask` is NaN
 *   pair_test           9.4 up to the interval test: bit k when triangle k is hit at t_min < t <=
 *                       upto; q = t, det, u, v of both. *odd when a NaN decides (profile gpurt)
 *   transform           9.6, columns of the matrix, in place
 *   level_rays          inverse, regular and octant of a level
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
    unsigned skip_never; /* 8: other heuristics have other keys */
};

/* A ray on its way. */
struct run {
    struct lanes lanes; /* of the level */
    const struct plan *plan;
    const struct fast_level *level; /* of the current node */
    uint64_t *top;                  /* first free entry of the stack: mapped key << 32 | link */
    uint64_t *room;                 /* `top` may reach this without a check */
    uint64_t steps_left;
    uint32_t link; /* node to visit next */
    uint32_t attention;
    float t_min, t_cur;
    uint64_t primitives, instances, others, pushes;
    uint64_t *highest; /* top of the stack of the reference loop */
    uint64_t *stack;   /* the lowest entry is END */
    size_t capacity;
    struct facet_gfx12_hit *hit;
    enum facet_status status;
    struct facet_error *err;
    struct fast_level levels[3]; /* [0]: the TLAS */
    uint64_t local[256];
};

enum { STACK_SLACK = 16 };
#define END fast_link(FAST_RETURN, 1)

static const struct fast_pair *pairs_at(const struct run *r, uint32_t unit)
{
    return (const struct fast_pair *)(r->plan->arena + (size_t)unit * FAST_UNIT);
}

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
    struct lanes lanes = r->lanes;
    unsigned hit;

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
    if ((box->attention & r->level->attention) != 0) {
        return test_special(r, box, slabs);
    }
    return slabs_test(box, &r->lanes, r->t_cur, r->plan->grow, true, slabs);
}

/* ---- primitive ranges ---- */

struct best {
    const struct fast_pair *pair;
    unsigned triangle;
    float t, det, u, v;
};

#define TRI_CULL_FLAGS                                                                             \
    (FACET_GFX12_CULL_BACK_FACING | FACET_GFX12_CULL_FRONT_FACING | FACET_GFX12_CULL_OPAQUE |      \
     FACET_GFX12_CULL_NON_OPAQUE | FACET_GFX12_SKIP_TRIANGLES)

static bool tri_culled(const struct run *r, const struct fast_pair *pair, unsigned k, float det)
{
    const struct facet_gfx12_tri_state tri = {
        .opaque = (pair->opaque >> k & 1) != 0,
        .double_sided = (pair->double_sided >> k & 1) != 0,
        .procedural = false,
    };
    bool front = det >= 0;

    if ((r->level->flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        front = !front;
    }
    return facet_gfx12_primitive_culled(&tri, front, r->level->flags);
}

static bool tri_opaque(const struct run *r, const struct fast_pair *pair, unsigned k)
{
    return !r->plan->merged || (r->level->flags & FACET_GFX12_FORCE_OPAQUE) != 0 ||
           ((r->level->flags & FACET_GFX12_FORCE_NON_OPAQUE) == 0 && (pair->opaque >> k & 1) != 0);
}

static void commit(struct run *r, const struct best *b)
{
    const struct fast_pair *pair = b->pair;
    unsigned k = b->triangle;
    struct facet_gfx12_hit *hit = r->hit;
    bool flip = (r->level->flags & FACET_GFX12_FLIP_FACEDNESS) != 0;

    hit->found = true;
    hit->procedural = false;
    hit->opaque = tri_opaque(r, pair, k);
    hit->backface = (f32_bits(b->det) >> 31 != 0) != flip;
    hit->t = b->t;
    hit->u = f32_from(f32_bits(b->u) & ~F32_SIGN);
    hit->v = f32_from(f32_bits(b->v) & ~F32_SIGN);
    hit->primitive_index = pair->primitive[k];
    hit->geometry_index = pair->geometry[k];
    hit->node = pair->id;
    hit->base = r->level->base;
    hit->instance = r->level->instance;
    hit->instance_user_data = r->level->user_data;
    r->t_cur = b->t;
}

/* Takes the hits of a pair into account; false when the order of the network could matter. */
TARGET static inline bool consider(const struct run *r,
                                   const struct fast_pair *pair,
                                   unsigned hits,
                                   const float q[8],
                                   struct best *best)
{
    for (; hits != 0; hits &= hits - 1) {
        unsigned k = (unsigned)__builtin_ctz(hits);
        float t = q[4 * k];

        if ((r->level->flags & TRI_CULL_FLAGS) != 0 && tri_culled(r, pair, k, q[4 * k + 1])) {
            continue;
        }
        if (r->plan->in_order && t < r->t_cur && (r->plan->first_hit || !tri_opaque(r, pair, k))) {
            return false;
        }
        if (t < best->t) {
            *best = (struct best){pair, k, t, q[4 * k + 1], q[4 * k + 2], q[4 * k + 3]};
        } else if (t == best->t && best->pair != NULL && best->pair != pair) {
            return false; /* the pair that comes first wins */
        }
    }
    return true;
}

/* Tests the ranges of a node in slot order and keeps the nearest candidate. false when the order of
 * the network could matter: nothing has been changed then. */
TARGET static inline bool
fast_ranges(struct run *r, const struct fast_box *box, unsigned ranges, struct best *best)
{
    const struct plan *plan = r->plan;
    const struct fast_level *level = r->level;
    uint64_t primitives = 0, tails = 0;

    best->pair = NULL;
    best->t = r->t_cur;
    do {
        const struct fast_pair *pair = pairs_at(r, box->link[__builtin_ctz(ranges)]);

        ranges &= ranges - 1;
        for (;; pair++) {
            _Alignas(32) float q[8];
            bool odd = pair->procedural != 0;
            unsigned hits = pair_test(pair, level, r->t_min, r->t_cur, plan->gpurt, q, &odd);

            primitives++;
            if (__builtin_expect(odd, 0) || (hits != 0 && !consider(r, pair, hits, q, best))) {
                return false;
            }
            if (__builtin_expect(pair->last != 0, 1)) {
                tails += pair->tail;
                break;
            }
        }
    } while (ranges != 0);
    if (primitives + tails > r->steps_left) {
        return false;
    }
    r->steps_left -= primitives + tails;
    r->primitives += primitives;
    r->others += tails;
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
    r->t_cur = state.t_cur;
    return outcome;
}

TARGET static __attribute__((noinline)) enum fast_outcome
visit_ranges(struct run *r, const struct fast_box *box, unsigned hit)
{
    struct best best = {0};

    if (__builtin_expect(fast_ranges(r, box, hit & box->ranges, &best), 1)) {
        if (best.pair != NULL) {
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

/* Puts two or more `boxes` (of all `hit` children) on the stack, except the first, which comes
 * back.
 */
TARGET static inline uint32_t push_boxes(const struct run *r,
                                         const struct fast_box *box,
                                         unsigned hit,
                                         unsigned boxes,
                                         const struct slabs *slabs,
                                         uint64_t **top)
{
    _Alignas(32) uint64_t element[8];
    bool ordered = slabs_elements(slabs, r->plan->heuristic, box, hit, element);
    unsigned rest = boxes & (boxes - 1);

    if ((rest & (rest - 1)) == 0) {
        uint64_t a = element[__builtin_ctz(boxes)], b = element[__builtin_ctz(rest)];

        if (__builtin_expect(ordered && (hit == boxes || a >> 32 != b >> 32), 1)) {
            bool swap = (b >> 32) < (a >> 32) + facet_gfx12_fast_higher_first[hit];

            *(*top)++ = swap ? a : b;
            return (uint32_t)(swap ? b : a);
        }
    }
    struct fast_children children = {.box = box, .hit = hit};
    uint64_t sorted[8];

    slabs_keys(slabs, r->plan->heuristic, children.key);
    for (unsigned n = sort_boxes(r, &children, boxes, element, ordered, sorted); n-- > 1;) {
        *(*top)++ = sorted[n];
    }
    return (uint32_t)sorted[0];
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

/* What follows from origin, direction and base. */
TARGET static inline void level_make(const struct plan *plan, struct fast_level *level)
{
    level_rays(level);
    level->flags = (unsigned)(level->base >> 54) & plan->flags_used;
    level->culled = plan->tracer->culled[level->flags];
    level->attention = level->culled | FAST_SPECIAL;
    if (!level->regular || (plan->mask & 0xFF) == 0 || plan->heuristic == 2) {
        level->attention |= FAST_ALWAYS;
    }
}

/* facet_gfx12_base_enter (2.3), without the call. */
static inline uint64_t enter_base(uint64_t pointer, uint64_t ray)
{
    uint64_t forced = ray & UINT64_C(3) << 54;
    uint64_t inst = forced != 0 ? pointer & ~(UINT64_C(3) << 54) : pointer;

    return (inst & ~UINT64_C(7)) | (ray & ~UINT64_C(0) << 54);
}

/* Enters the instance when a child is hit; r->link is then the node to go on with. */
TARGET static bool visit_instance(struct run *r, const struct fast_instance *instance)
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
    transform(instance->column,
              instance->column[3],
              r->level->origin,
              r->level->direction,
              inside->origin,
              inside->direction);
    inside->base = enter_base(instance->pointer, r->level->base);
    inside->instance = instance->id;
    inside->user_data = instance->user_data;
    level_make(plan, inside);
    lanes_make(inside, &lanes);
    hit = inside->regular && box->nan == 0 && plan->heuristic != 2
              ? slabs_test(box, &lanes, r->t_cur, plan->grow, true, &slabs)
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
    r->lanes = lanes;
    r->pushes += (unsigned)__builtin_popcount(hit);
    *r->top++ = fast_link(FAST_RETURN, 0);
    r->link = (hit & (hit - 1)) == 0 ? box->link[__builtin_ctz(hit)]
                                     : push_boxes(r, box, hit, hit, &slabs, &r->top);
    return true;
}

/* ---- the loop ---- */

/* The box was entered behind t_cur: see above. */
static inline bool may_skip(const struct run *r, uint32_t link)
{
    const struct fast_box *box = fast_record(r->plan->tracer, link);
    unsigned octant = r->level->octant | r->level->irregular | r->plan->skip_never;

    return (box->inside >> octant & 1) != 0;
}

static bool out_of_steps(struct run *r)
{
    struct facet_gfx12_stats stats = {.steps = r->plan->steps};
    const struct facet_gfx12_trace_state state = {.stats = &stats};

    r->status = facet_gfx12_trace_out_of_steps(&state, r->err);
    return false;
}

/* Whatever is not a box; false when the ray is done. */
TARGET static __attribute__((noinline)) bool visit_other(struct run *r)
{
    if (r->link == END) {
        return false;
    }
    if (fast_kind_of(r->link) == FAST_RETURN) {
        r->level = &r->levels[0];
        lanes_make(r->level, &r->lanes);
        r->link = (uint32_t) * --r->top;
        return true;
    }
    if (r->steps_left == 0) {
        return out_of_steps(r);
    }
    r->steps_left--;
    if (fast_kind_of(r->link) == FAST_NONE) {
        r->others += r->link == fast_link(FAST_NONE, 0);
    } else if (visit_instance(r, fast_record(r->plan->tracer, r->link))) {
        return note_depth(r, 0);
    }
    r->link = (uint32_t) * --r->top;
    return true;
}

/* t_cur for slab tests, which want a NaN without a sign. */
static inline float extent_of(const struct run *r)
{
    return __builtin_expect(f32_is_nan(r->t_cur), 0) ? f32_from(F32_NAN) : r->t_cur;
}

/* From start to end. What the loop uses most stays in variables of its own; the functions for the
 * rarer cases find it in *r. */
TARGET static inline __attribute__((always_inline)) void
travel(struct run *r, const bool counting, const bool grows)
{
    const struct plan *const plan = r->plan;
    const uint8_t *const arena = plan->arena;
    struct lanes lanes = r->lanes;
    uint64_t *top = r->top;
    uint64_t steps_left = r->steps_left;
    uint32_t link = r->link;
    uint32_t attention = r->level->attention;
    float t_cur = extent_of(r);

    for (;;) {
        /* Right for a box, whose link has no low bits. */
        const struct fast_box *box =
            (const struct fast_box *)(arena + (size_t)link * (FAST_UNIT / 8));
        struct slabs slabs;
        unsigned hit, boxes;

        if (__builtin_expect(fast_kind_of(link) != FAST_BOX, 0)) {
            r->link = link;
            r->top = top;
            r->steps_left = steps_left;
            if (!visit_other(r)) {
                return;
            }
            link = r->link;
            top = r->top;
            steps_left = r->steps_left;
            lanes = r->lanes;
            attention = r->level->attention;
            continue;
        }
        if (__builtin_expect(steps_left-- == 0, 0)) {
            r->steps_left = 0;
            (void)out_of_steps(r);
            return;
        }
        if (__builtin_expect((box->attention & attention) != 0, 0)) {
            struct slabs special; /* of its own, so that the others stay in registers */

            hit = test_special(r, box, &special);
            slabs = special;
        } else {
            hit = slabs_test(box, &lanes, t_cur, plan->grow, grows, &slabs);
        }
        if (counting || __builtin_expect(top + 8 > r->room, 0)) {
            unsigned above = (unsigned)__builtin_popcount(hit) - (hit != 0);

            r->pushes += above;
            r->top = top;
            r->steps_left = steps_left;
            if (!note_depth(r, above)) {
                return;
            }
            top = r->top;
        }
        boxes = hit & ~(unsigned)box->ranges;
        if (boxes != hit) {
            enum fast_outcome outcome;

            r->steps_left = steps_left;
            outcome = visit_ranges(r, box, hit);
            steps_left = r->steps_left;
            t_cur = extent_of(r);
            if (__builtin_expect(outcome != FAST_GO_ON, 0)) {
                if (outcome == FAST_OUT_OF_STEPS) {
                    (void)out_of_steps(r);
                }
                return;
            }
        }
        if (boxes == 0) {
            uint64_t item = *--top;

            link = (uint32_t)item;
            while (fast_kind_of(link) == FAST_BOX &&
                   f32_from((uint32_t)(item >> 32)) > (grows ? t_cur * plan->grow : t_cur) &&
                   may_skip(r, link) && steps_left > 0) {
                steps_left--;
                item = *--top;
                link = (uint32_t)item;
            }
        } else if ((boxes & (boxes - 1)) == 0) {
            link = box->link[__builtin_ctz(boxes)];
        } else {
            link = push_boxes(r, box, hit, boxes, &slabs, &top);
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
    r->steps_left = plan->steps;
    r->primitives = r->instances = r->others = r->pushes = 0;
    r->t_min = t_min;
    r->t_cur = t_max;
    r->status = FACET_OK;
    r->link = plan->tracer->root_link;
    r->level = level;
    level_set(level, origin, direction);
    level->base = plan->base;
    level->instance = FACET_GFX12_INVALID;
    level->user_data = 0;
    level_make(plan, level);
    lanes_make(level, &r->lanes);
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
    travel(&r, true, true);
    if (stats != NULL) {
        memset(stats, 0, sizeof *stats);
    }
    finish(&r, stats);
    return r.status;
}

TARGET static inline __attribute__((always_inline)) size_t
many(const struct fast_batch *b, const struct plan *plan, const bool counting, const bool grows)
{
    struct run r;

    for (size_t i = 0; i < b->count; i++) {
        const struct facet_gfx12_batch_ray *ray = &b->rays[i];

        start(&r, plan, ray->origin, ray->direction, ray->t_min, ray->t_max, &b->hits[i], b->err);
        travel(&r, counting, grows);
        finish(&r, b->stats);
        if (__builtin_expect(r.status != FACET_OK, 0)) {
            *b->status = r.status;
            return i;
        }
    }
    return b->count;
}

/* One copy of the loop for each of the usual needs. */
TARGET size_t MANY(const struct fast_batch *b)
{
    struct plan plan;

    plan_make(&plan, b->tracer, b->common, b->stats != NULL);
    if (plan.counting) {
        return many(b, &plan, true, true);
    }
    if (plan.grow != 1) {
        return many(b, &plan, false, true);
    }
    return many(b, &plan, false, false);
}
