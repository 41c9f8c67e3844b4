/* Part of fast_loop.h: the triangles of the ranges that a box holds. */

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
    return facet_gfx12_primitive_cull(&tri, front, r->level->flags) != 0;
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
