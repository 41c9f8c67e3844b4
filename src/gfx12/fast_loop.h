/* The reference loop (11.1) over decoded nodes. Included once per instruction set, with these in
 * scope:
 *
 *   TARGET              attributes of every function
 *   RUN                 name of the function to define
 *   struct slabs        eight slab results
 *   slabs_test          9.2 steps 3-5 for a ray and planes without NaN; returns the hit mask
 *   slabs_test_careful  the same for any ray
 *   slabs_keys          the keys of the heuristic as floats
 *   slabs_elements      mapped key << 32 | link per slot; false when a key of `mask` is NaN
 *   pair_test           9.4 up to the interval test: bit k when triangle k is hit at t_min < t <=
 *                       t_cur; q = t, det, u, v of both. *odd when a NaN decides (profile gpurt)
 *   transform           9.6, columns of the matrix, in place
 *
 * Skipping. A popped box is not looked at when its slot was entered behind t_cur and all planes of
 * its children that face the ray lie inside the slot (`inside`). Rounding is monotonic, so every
 * child then has min_t >= that of the slot > t_cur * g >= max_t * g: the visit would return eight
 * times INVALID. It counts as a step, as if it had been made. */

struct run {
    const struct facet_gfx12_tracer *tracer;
    struct facet_gfx12_trace_state *state;
    struct fast_level level; /* of the current node */
    struct fast_level tlas;
    uint64_t *stack; /* mapped key << 32 | link */
    size_t count, capacity;
    size_t room; /* deepest stack that needs no check */
    uint64_t steps, steps_left;
    bool out_of_steps;
    uint64_t boxes, instances, pushes;
    size_t max_depth;
    float t_cur;
    float grow;
    unsigned heuristic;
    bool gpurt, merged;
    bool first_hit; /* the first commit ends the ray */
    bool in_order;  /* candidates must be met in the order of the contract */
    const uint8_t *higher_first;
    uint64_t local[256];
};

enum { STACK_SLACK = 16 };

/* ---- primitive ranges ---- */

struct best {
    const struct fast_pair *pair;
    unsigned triangle;
    float t, det, u, v;
};

static bool tri_culled(const struct run *r, const struct fast_pair *pair, unsigned k, float det)
{
    const struct facet_gfx12_tri_state tri = {
        .opaque = (pair->opaque >> k & 1) != 0,
        .double_sided = (pair->double_sided >> k & 1) != 0,
        .procedural = false,
    };
    bool front = det >= 0;

    if ((r->level.flags & FACET_GFX12_FLIP_FACEDNESS) != 0) {
        front = !front;
    }
    return facet_gfx12_primitive_culled(&tri, front, r->level.flags);
}

static bool tri_opaque(const struct run *r, const struct fast_pair *pair, unsigned k)
{
    return !r->merged || (r->level.flags & FACET_GFX12_FORCE_OPAQUE) != 0 ||
           ((r->level.flags & FACET_GFX12_FORCE_NON_OPAQUE) == 0 && (pair->opaque >> k & 1) != 0);
}

static void commit(struct run *r, const struct best *b)
{
    const struct fast_pair *pair = b->pair;
    unsigned k = b->triangle;
    struct facet_gfx12_hit *hit = r->state->hit;
    bool flip = (r->level.flags & FACET_GFX12_FLIP_FACEDNESS) != 0;

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
    hit->base = r->level.base;
    hit->instance = r->level.instance;
    hit->instance_user_data = r->level.user_data;
}

/* Tests the ranges of a node in slot order and keeps the nearest candidate. false when the order of
 * the network could matter: nothing has been changed then. */
TARGET static inline bool
fast_ranges(struct run *r, const struct fast_box *box, unsigned ranges, struct best *best)
{
    const float t_min = r->state->query->t_min;
    uint64_t primitives = 0, tails = 0;

    *best = (struct best){.pair = NULL, .t = r->t_cur};
    do {
        const struct fast_pair *pair =
            (const struct fast_pair *)(r->tracer->arena +
                                       (size_t)box->link[__builtin_ctz(ranges)] * FAST_UNIT);
        ranges &= ranges - 1;
        for (;; pair++) {
            _Alignas(32) float q[8];
            bool odd = pair->procedural != 0;
            /* With callbacks every candidate below t_cur counts, not only the nearest so far. */
            float upto = r->in_order ? r->t_cur : best->t;
            unsigned hits = pair_test(pair, &r->level, t_min, upto, r->gpurt, q, &odd);

            if (odd) {
                return false;
            }
            primitives++;
            for (; hits != 0; hits &= hits - 1) {
                unsigned k = (unsigned)__builtin_ctz(hits);
                float t = q[4 * k];

                if (r->level.flags != 0 && tri_culled(r, pair, k, q[4 * k + 1])) {
                    continue;
                }
                if (r->in_order && t < r->t_cur && (r->first_hit || !tri_opaque(r, pair, k))) {
                    return false;
                }
                if (t < best->t) {
                    *best = (struct best){pair, k, t, q[4 * k + 1], q[4 * k + 2], q[4 * k + 3]};
                } else if (t == best->t && best->pair != NULL && best->pair != pair) {
                    return false; /* the pair that comes first wins */
                }
            }
            if (pair->last != 0) {
                tails += pair->tail;
                break;
            }
        }
    } while (ranges != 0);
    if (primitives + tails > r->steps_left) {
        return false;
    }
    r->steps_left -= primitives + tails;
    r->state->stats->primitives += primitives;
    return true;
}

/* The same by the book. */
static enum fast_outcome exact_ranges(struct run *r, const struct fast_children *children)
{
    enum fast_outcome outcome;

    r->state->steps_left = r->steps_left;
    r->state->t_cur = r->t_cur;
    outcome = facet_gfx12_fast_ranges(r->tracer, &r->level, children, r->state);
    r->steps_left = r->state->steps_left;
    r->t_cur = r->state->t_cur;
    return outcome;
}

TARGET static inline enum fast_outcome
visit_ranges(struct run *r, const struct fast_box *box, unsigned hit, const struct slabs *slabs)
{
    struct best best;

    if (fast_ranges(r, box, hit & box->ranges, &best)) {
        if (best.pair != NULL) {
            commit(r, &best);
            r->t_cur = best.t;
        }
        return FAST_GO_ON;
    }
    struct fast_children children = {.box = box, .hit = hit};
    slabs_keys(slabs, r->heuristic, children.key);
    return exact_ranges(r, &children);
}

/* ---- boxes ---- */

/* Elements of `boxes` in the order of the network. */
static unsigned exact_order(const struct run *r,
                            const struct fast_children *children,
                            unsigned boxes,
                            const uint64_t element[8],
                            uint64_t out[8])
{
    uint8_t slot[8];
    unsigned count = facet_gfx12_fast_order(&r->tracer->unit, children, slot);
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++) {
        if ((boxes >> slot[i] & 1) != 0) {
            out[n++] = element[slot[i]];
        }
    }
    return n;
}

/* Puts two or more children (`boxes`, of all `hit` ones) on the stack, the first one comes back.
 * Any way of sorting gives the order of the network as long as no two keys are equal. */
TARGET static inline uint32_t push_boxes(struct run *r,
                                         const struct fast_box *box,
                                         unsigned hit,
                                         unsigned boxes,
                                         const struct slabs *slabs)
{
    _Alignas(32) uint64_t element[8];
    uint64_t sorted[8];
    uint64_t *top = r->stack + r->count;
    unsigned inside = r->level.regular && r->heuristic == 0 ? box->inside[r->level.octant] : 0;
    bool ordered = slabs_elements(slabs, r->heuristic, box, inside, hit, element);
    unsigned n = 0;
    unsigned rest = boxes & (boxes - 1);

    if ((rest & (rest - 1)) == 0 && ordered) {
        uint64_t a = element[__builtin_ctz(boxes)], b = element[__builtin_ctz(rest)];

        if (hit == boxes || a >> 32 != b >> 32) {
            bool swap = (b >> 32) < (a >> 32) + r->higher_first[hit];

            *top = swap ? a : b;
            r->count++;
            return (uint32_t)(swap ? b : a);
        }
        ordered = false;
    }
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
    if (!ordered) {
        struct fast_children children = {.box = box, .hit = hit};

        slabs_keys(slabs, r->heuristic, children.key);
        n = exact_order(r, &children, boxes, element, sorted);
    }
    for (unsigned i = n; i-- > 1;) {
        *top++ = sorted[i];
    }
    r->count += n - 1;
    return (uint32_t)sorted[0];
}

static size_t stack_room(size_t capacity)
{
    size_t room = capacity - STACK_SLACK;
    return room < FACET_GFX12_MAX_DEPTH ? room : FACET_GFX12_MAX_DEPTH;
}

/* Room for what one node can push, and the limit of R-G12-65; `depth` is the stack of the reference
 * loop after the visit. */
static enum facet_status check_stack(struct run *r, size_t depth, struct facet_error *err)
{
    if (depth > FACET_GFX12_MAX_DEPTH) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          r->steps - r->steps_left,
                          "traversal stack deeper than %d entries: the image has a cycle",
                          FACET_GFX12_MAX_DEPTH);
    }
    if (depth > r->room) {
        size_t capacity = 2 * r->capacity;
        uint64_t *grown = malloc(capacity * sizeof grown[0]);

        if (grown == NULL) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the traversal stack");
        }
        memcpy(grown, r->stack, r->count * sizeof grown[0]);
        if (r->stack != r->local) {
            free(r->stack);
        }
        r->stack = grown;
        r->capacity = capacity;
        r->room = stack_room(capacity);
    }
    return FACET_OK;
}

TARGET static inline unsigned test_box(const struct run *r,
                                       const struct fast_box *box,
                                       const struct lanes *lanes,
                                       struct slabs *slabs)
{
    unsigned hit;

    if (__builtin_expect(box->obb != FACET_GFX12_OBB_NONE, 0)) {
        struct fast_level turned = r->level;
        struct lanes turned_lanes;
        static const float origin[4] = {0, 0, 0, 0};

        transform(r->tracer->obb_column[box->obb], origin, turned.origin, turned.direction);
        facet_gfx12_fast_level(r->tracer, 0xFF, &turned);
        lanes_make(&turned, &turned_lanes);
        hit = slabs_test_careful(box, &turned_lanes, r->t_cur, r->grow, slabs);
    } else if (__builtin_expect(r->level.regular && box->nan == 0, 1)) {
        hit = slabs_test(box, lanes, r->t_cur, r->grow, slabs);
    } else {
        hit = slabs_test_careful(box, lanes, r->t_cur, r->grow, slabs);
    }
    return hit & box->used;
}

static unsigned remove_repeats(const struct fast_box *box, unsigned hit)
{
    return hit & ~(hit & hit << 1 & box->repeats);
}

/* ---- instances ---- */

/* Enters the instance when a child is hit; *link is then the node to go on with. */
TARGET static bool
visit_instance(struct run *r, const struct fast_instance *instance, uint32_t *link)
{
    uint32_t mask = r->state->query->instance_mask;
    struct fast_level in = r->level;
    const struct fast_level outside = r->level;
    struct lanes lanes;
    struct slabs slabs;
    unsigned hit;

    r->instances++;
    if (facet_gfx12_instance_culled(instance->cull_mask, instance->pointer, r->level.flags, mask)) {
        return false;
    }
    transform(instance->column, instance->column[3], in.origin, in.direction);
    in.base = facet_gfx12_base_enter(instance->pointer, r->level.base);
    in.instance = instance->id;
    in.user_data = instance->user_data;
    facet_gfx12_fast_level(r->tracer, mask, &in);
    lanes_make(&in, &lanes);
    r->level = in;
    hit = test_box(r, &instance->box, &lanes, &slabs);
    for (unsigned i = 0; i < 4 && outside.culled != 0 && !r->gpurt; i++) { /* R-G12-33 */
        if ((outside.culled >> instance->box.cull_flags[i] & 1) != 0) {
            hit &= ~(1u << i);
        }
    }
    hit = remove_repeats(&instance->box, hit);
    if (hit == 0) {
        r->level = outside;
        return false;
    }
    r->pushes += (unsigned)__builtin_popcount(hit);
    r->stack[r->count++] = fast_link(FAST_RETURN, 0);
    *link = (hit & (hit - 1)) == 0 ? instance->box.link[__builtin_ctz(hit)]
                                   : push_boxes(r, &instance->box, hit, hit, &slabs);
    return true;
}

/* ---- the loop ---- */

/* The next link from the stack; false when it is empty. */
TARGET static inline bool pop(struct run *r, struct lanes *lanes, uint32_t *link)
{
    float limit = r->t_cur * r->grow;

    while (r->count > 0) {
        uint64_t item = r->stack[--r->count];

        *link = (uint32_t)item;
        if (fast_kind_of(*link) == FAST_RETURN) {
            r->level = r->tlas;
            lanes_make(&r->level, lanes);
            continue;
        }
        if ((*link & FAST_INSIDE) != 0 && f32_from((uint32_t)(item >> 32)) > limit &&
            r->steps_left > 0) {
            r->steps_left--;
            r->boxes++;
            continue;
        }
        return true;
    }
    return false;
}

TARGET static enum facet_status loop(struct run *r, struct facet_error *err)
{
    const uint32_t mask = r->state->query->instance_mask;
    uint32_t link = r->tracer->root_link;
    struct lanes lanes;

    lanes_make(&r->level, &lanes);
    for (;;) {
        size_t before = r->count;
        size_t depth = before;
        bool more = false;

        if (r->steps_left == 0) {
            r->out_of_steps = true;
            return FACET_OK;
        }
        r->steps_left--;
        if (__builtin_expect(fast_kind_of(link) == FAST_BOX, 1)) {
            const struct fast_box *box = fast_record(r->tracer, link);
            struct slabs slabs;
            unsigned hit = test_box(r, box, &lanes, &slabs), boxes;

            r->boxes++;
            if (__builtin_expect(box->masked != 0 || r->level.culls, 0)) {
                hit = facet_gfx12_fast_cull(box, &r->level, mask, hit);
            }
            hit = remove_repeats(box, hit);
            if (hit != 0) {
                unsigned n = (unsigned)__builtin_popcount(hit) - 1;

                r->pushes += n;
                depth = before + n;
                if (__builtin_expect(depth > r->room, 0)) {
                    enum facet_status status = check_stack(r, depth, err);
                    if (status != FACET_OK) {
                        return status;
                    }
                }
                r->max_depth = depth > r->max_depth ? depth : r->max_depth;
                if ((hit & box->ranges) != 0) {
                    enum fast_outcome outcome = visit_ranges(r, box, hit, &slabs);
                    if (__builtin_expect(outcome != FAST_GO_ON, 0)) {
                        r->out_of_steps = outcome == FAST_OUT_OF_STEPS;
                        return FACET_OK;
                    }
                }
                boxes = hit & ~(unsigned)box->ranges;
                if (boxes != 0) {
                    link = (boxes & (boxes - 1)) == 0 ? box->link[__builtin_ctz(boxes)]
                                                      : push_boxes(r, box, hit, boxes, &slabs);
                    more = true;
                }
            }
        } else if (fast_kind_of(link) == FAST_INSTANCE) {
            enum facet_status status;

            more = visit_instance(r, fast_record(r->tracer, link), &link);
            lanes_make(&r->level, &lanes);
            status = check_stack(r, r->count, err);
            if (status != FACET_OK) {
                return status;
            }
            r->max_depth = r->count > r->max_depth ? r->count : r->max_depth;
        }
        if (!more && !pop(r, &lanes, &link)) {
            return FACET_OK;
        }
    }
}

TARGET enum facet_status RUN(const struct facet_gfx12_tracer *tracer,
                             struct facet_gfx12_trace_state *state,
                             struct facet_error *err)
{
    const struct facet_gfx12_resource *resource = &tracer->unit.resource;
    struct facet_gfx12_stats *stats = state->stats;
    enum facet_status status;
    struct run r;

    r.tracer = tracer;
    r.state = state;
    r.stack = r.local;
    r.count = 0;
    r.capacity = sizeof r.local / sizeof r.local[0];
    r.room = stack_room(r.capacity);
    r.steps = r.steps_left = state->steps_left;
    r.out_of_steps = false;
    r.boxes = r.instances = r.pushes = 0;
    r.max_depth = 0;
    r.t_cur = state->t_cur;
    r.grow = 1.0f + (float)resource->box_grow_value * 0x1p-24f;
    r.heuristic = resource->box_sorting_heuristic;
    r.gpurt = tracer->unit.profile == FACET_GFX12_GPURT;
    r.merged = resource->pointer_flags != 0 || r.gpurt;
    r.first_hit = (state->query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0;
    r.in_order = r.first_hit || state->query->callbacks.any_hit != NULL;
    r.higher_first = facet_gfx12_fast_higher_first;
    memcpy(r.level.origin, state->query->origin, sizeof state->query->origin);
    memcpy(r.level.direction, state->query->direction, sizeof state->query->direction);
    r.level.base = state->tlas_base;
    r.level.instance = FACET_GFX12_INVALID;
    r.level.user_data = 0;
    facet_gfx12_fast_level(tracer, state->query->instance_mask, &r.level);
    r.tlas = r.level;
    status = loop(&r, err);
    if (r.stack != r.local) {
        free(r.stack);
    }
    stats->steps = r.steps - r.steps_left;
    stats->boxes = r.boxes;
    stats->instances = r.instances;
    stats->pushes = r.pushes;
    stats->max_depth = (uint32_t)r.max_depth;
    return r.out_of_steps ? facet_gfx12_trace_out_of_steps(state, err) : status;
}
