/* The loop of gfx12-semantics.md 11.1 on a device, a ray for each work item: what src/gfx12/trace.c
 * does, in the same order. A ray is left with its state kept when its slice is over, so that no
 * launch takes long, or when its next node is in a page of the image that is not here; and declined
 * where only the host can go on. */

#define STACK_RETURN NODE_INVALID /* leave the instance; no node is pushed with this ID */
#define ORIENTATIONS 104u

struct walk {
    float origin[3], direction[3]; /* in the space of the current structure */
    float t_cur;
    device_u64 base;
    device_u32 instance, user_data;
    device_u32 current;
    device_u32 depth;
    int stop;
    int declined;
    struct device_result result;
    device_u32 *stack; /* of DEVICE_STACK entries */
};

INLINE void enter_tlas(struct walk *w,
                       __constant struct device_common *c,
                       __global const struct device_ray *ray)
{
    for (int k = 0; k < 3; k++) {
        w->origin[k] = ray->origin[k];
        w->direction[k] = ray->direction[k];
    }
    w->base = c->tlas_base;
    w->instance = NODE_INVALID;
    w->user_data = 0;
}

static void push(struct walk *w, device_u32 item)
{
    if (w->depth == DEVICE_STACK) {
        w->declined = 1;
        return;
    }
    w->stack[w->depth++] = item;
    w->result.pushes++;
}

INLINE device_u32 flags_of(__constant struct device_common *c, device_u64 base)
{
    return c->pointer_flags != 0 ? (device_u32)(base >> 54) : 0u;
}

/* ---- box nodes ---- */

static device_u32 visit_box(const struct memory *m, struct walk *w, __global const device_u32 *node)
{
    __constant struct device_common *c = m->common;
    device_u32 d[NODE_DWORDS], ids[8], orientation;
    float origin[3], direction[3];
    struct slab_ray ray;

    load_node(node, d);
    for (int k = 0; k < 3; k++) {
        origin[k] = w->origin[k];
        direction[k] = w->direction[k];
    }
    orientation = d[7] & 0x7Fu;
    if (orientation < ORIENTATIONS) {
        device_u32 rows[12];
        for (int i = 0; i < 12; i++) {
            rows[i] = m->turned[12u * orientation + (device_u32)i];
        }
        transform(rows, origin, direction);
    }
    ray = slab_ray_of(origin, direction, w->t_cur, c->grow);
    children_of(c,
                8,
                d + 3,
                d + 8,
                (d[6] >> 28 & 7u) + 1u,
                d[0],
                d[1],
                flags_of(c, w->base),
                c->instance_mask & 0xFFu,
                &ray,
                ids);
    for (int i = 7; i > 0; i--) {
        if (ids[i] != NODE_INVALID) {
            push(w, ids[i]);
        }
    }
    return ids[0];
}

/* ---- instance nodes (9.6) ---- */

/* facet_gfx12_instance_numbered: all four children are one node, whose number is their type. */
INLINE int
numbered(const device_u32 *child, device_u32 count_field, device_u32 root, device_u32 *id)
{
    const device_u32 number = child[2] >> 24 & 15u, size = child[2] >> 28;
    const int inverted = (child[0] & 0x00FFFFFFu) == 0x00FFFFFFu &&
                         (child[1] & 0x00FFFFFFu) == 0x00000FFFu && (child[2] & 0x00FFFFFFu) == 0;
    const int primitive = size == 1 && inverted;

    if ((count_field & 3u) != 3 || number == 0 || (size != 0 && !primitive)) {
        return 0;
    }
    for (int i = 1; i < 4; i++) {
        if (child[3 * i + 2] >> 24 != number) { /* with size 0 */
            return 0;
        }
    }
    if (number == 5 && (root & 0xFFFFFFF0u) == 0) {
        return 0;
    }
    *id = number << 4 | (primitive ? 0u : 5u);
    return 1;
}

/* Enters the instance: the walk is in its space then, and the children to visit are in child, in
 * their order. Returns how many; without any the walk stays where it is. */
INLINE device_u32 open_instance(const struct memory *m,
                                struct walk *w,
                                const device_u32 d[NODE_DWORDS],
                                device_u32 child[4])
{
    __constant struct device_common *c = m->common;
    const device_u32 flags = flags_of(c, w->base);
    device_u32 ids[4];
    device_u64 pointer, ray_flags, kept;
    device_u32 count = 0, found = 0, skip;
    float origin[3], direction[3];
    struct slab_ray ray;

    pointer = (device_u64)d[13] << 32 | d[12];
    skip = (d[13] >> 30 & 1u) != 0 ? SKIP_PROCEDURAL : SKIP_TRIANGLES;
    if ((flags & skip) != 0 || (d[15] >> 24 & c->instance_mask) == 0) {
        return 0;
    }
    if (w->instance != NODE_INVALID) {
        w->declined = 1; /* the way back leads to that instance: the host keeps its levels */
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        origin[k] = w->origin[k];
        direction[k] = w->direction[k];
    }
    transform(d, origin, direction);
    ray = slab_ray_of(origin, direction, w->t_cur, c->grow);
    children_of(c,
                4,
                d + 16,
                d + 20,
                (d[19] >> 28 & 3u) + 1u,
                0,
                0,
                c->gpurt != 0 ? 0u : flags, /* R-G12-33 */
                CHILD_ALWAYS,
                &ray,
                ids);
    for (int i = 0; i < 4; i++) {
        found += (ids[i] & 0xFFu) != 0xFFu ? 1u : 0u;
    }
    if (found != 0 && numbered(d + 20, d[19] >> 28, c->root, &child[0])) {
        count = 1;
    } else {
        for (int i = 0; i < 4; i++) {
            if ((ids[i] & 0xFFu) != 0xFFu) {
                child[count++] = ids[i] & 0xFFu;
            }
        }
    }
    if (count == 0) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        w->origin[k] = origin[k];
        w->direction[k] = direction[k];
    }
    ray_flags = w->base >> 54;
    kept = (ray_flags & 3ul) != 0 ? 0x3FCul : 0x3FFul; /* the ray's forced opacity wins */
    w->base = (pointer & 0x003FFFFFFFFFFFF8ul) | ((pointer >> 54 & kept) | ray_flags) << 54;
    w->instance = w->current;
    w->user_data = d[15] & 0x00FFFFFFu;
    return count;
}

static device_u32
visit_instance(const struct memory *m, struct walk *w, __global const device_u32 *node)
{
    device_u32 d[NODE_DWORDS], child[4], count;

    load_node(node, d);
    count = open_instance(m, w, d, child);

    if (count == 0) {
        return NODE_INVALID;
    }
    push(w, STACK_RETURN);
    for (device_u32 i = count; i-- > 1;) {
        push(w, child[i]);
    }
    return child[0];
}

/* ---- primitive nodes (9.4) ---- */

/* Result k of a pair: t, infinite for a miss and a culled primitive. */
struct candidate {
    float t, u, v;
    device_u32 flags;
};

INLINE int tri_missed(device_u32 gpurt, const struct tri_terms *r)
{
    if (gpurt != 0) { /* a NaN is not a miss */
        return r->u < 0.0f || r->u > 1.0f || r->v < 0.0f || r->u + r->v > 1.0f || r->t < 0.0f;
    }
    return !(r->u >= 0.0f) || !(r->u <= 1.0f) || !(r->v >= 0.0f) || !(r->u + r->v <= 1.0f) ||
           !(r->t >= 0.0f);
}

INLINE int is_opaque(device_u32 flags, device_u32 state)
{
    return (flags & FORCE_OPAQUE) != 0 ||
           ((flags & FORCE_NON_OPAQUE) == 0 && (state & PAIR_OPAQUE) != 0);
}

/* Flags that remove a primitive for its opacity. */
INLINE device_u32 removed_by(device_u32 flags, device_u32 state)
{
    return is_opaque(flags, state) ? CULL_OPAQUE : CULL_NON_OPAQUE;
}

INLINE struct candidate
no_candidate(__constant struct device_common *c, device_u32 flags, device_u32 state)
{
    /* Without pointer flags the unit returns no opacity, and all count as opaque (R-G12-64). */
    const int told = c->pointer_flags != 0 || c->gpurt != 0;
    struct candidate r;

    r.t = as_float(F32_INF_BITS);
    r.u = r.v = 0.0f;
    r.flags = is_opaque(flags, state) || !told ? DEVICE_OPAQUE : 0u;
    return r;
}

INLINE struct candidate triangle_candidate(__constant struct device_common *c,
                                           device_u32 flags,
                                           device_u32 state,
                                           const struct tri_terms *terms)
{
    struct candidate r = no_candidate(c, flags, state);
    device_u32 by = removed_by(flags, state) | SKIP_TRIANGLES;
    int front = terms->det >= 0.0f;
    device_u32 sign = as_uint(terms->det) >> 31;

    if (tri_missed(c->gpurt, terms)) {
        return r;
    }
    if ((flags & FLIP_FACEDNESS) != 0) {
        front = !front;
        sign = 1u - sign;
    }
    if ((state & PAIR_DOUBLE_SIDED) == 0 && (flags & DISABLE_TRIANGLE_CULL) == 0) {
        by |= front ? CULL_FRONT_FACING : CULL_BACK_FACING;
    }
    r.t = (flags & by) != 0 ? r.t : terms->t;
    r.u = as_float(as_uint(terms->u) & 0x7FFFFFFFu);
    r.v = as_float(as_uint(terms->v) & 0x7FFFFFFFu);
    r.flags |= sign != 0 ? DEVICE_BACKFACE : 0u;
    return r;
}

static struct candidate test_primitive(__constant struct device_common *c,
                                       const struct walk *w,
                                       const struct pair *pair,
                                       int k)
{
    const device_u32 flags = flags_of(c, w->base), state = pair->state[k];
    struct tri_terms terms;
    struct candidate r;

    if (c->gpurt != 0 && (state & PAIR_NO_SECOND) != 0) {
        return no_candidate(c, flags, state);
    }
    if ((state & PAIR_PROCEDURAL) != 0) {
        r = no_candidate(c, flags, state);
        r.flags |= DEVICE_PROCEDURAL;
        r.t = (flags & (removed_by(flags, state) | SKIP_PROCEDURAL)) != 0 ? r.t : 0.0f;
        return r;
    }
    terms = tri_test(pair->vertex[k], w->origin, w->direction);
    return triangle_candidate(c, flags, state, &terms);
}

/* The box of a procedural primitive as its shape: facet_gfx12_procedural_box. */
static int
hits_box(__global const device_u32 *node, const struct walk *w, float t_min, struct candidate *r)
{
    const int at = aabb_bit(node);
    const struct slab_ray ray = slab_ray_of(w->origin, w->direction, as_float(F32_INF_BITS), 0);
    struct slab slab;
    float lo[3], hi[3];

    for (int k = 0; k < 3; k++) {
        lo[k] = as_float(bits_of(node, at + 32 * k, 32));
        hi[k] = as_float(bits_of(node, at + 96 + 32 * k, 32));
    }
    slab = slab_test(&ray, lo, hi);
    r->t = t_min < slab.enter ? slab.enter : slab.leave;
    r->u = r->v = 0.0f;
    return slab.min_t <= slab.max_t;
}

/* What a text that comes before this one may know (device.h): whether a candidate that is not
 * opaque stops the ray, by the memory that belongs to the text. */
#ifndef ANY_HIT_STOPS
INLINE device_u32 any_stops(__global const device_u32 *memory,
                            device_u32 instance_user_data,
                            device_u32 primitive,
                            float t,
                            float u,
                            float v)
{
    (void)memory, (void)instance_user_data, (void)primitive, (void)t, (void)u, (void)v;
    return 1u;
}
#define ANY_HIT_STOPS any_stops
#endif

static void take(const struct memory *m,
                 struct walk *w,
                 __global const device_u32 *node,
                 const struct pair *pair,
                 int k,
                 struct candidate r,
                 float t_min)
{
    __constant struct device_common *c = m->common;

    if ((r.flags & DEVICE_PROCEDURAL) != 0) {
        if (as_uint(r.t) == F32_INF_BITS || c->procedural == DEVICE_PROCEDURAL_NONE) {
            return;
        }
        if (c->procedural == DEVICE_PROCEDURAL_DECLINE) {
            w->declined = 1;
            return;
        }
        if (!hits_box(node, w, t_min, &r)) {
            return;
        }
    }
    if (!(t_min < r.t) || !(r.t < w->t_cur)) {
        return;
    }
    if ((r.flags & DEVICE_OPAQUE) == 0) {
        if (c->any_hit == DEVICE_ANY_HIT_DECLINE) {
            w->declined = 1;
            return;
        }
        if (c->any_hit == DEVICE_ANY_HIT_ASK &&
            !ANY_HIT_STOPS(m->asked, w->user_data, pair->primitive[k], r.t, r.u, r.v)) {
            return;
        }
    }
    w->t_cur = r.t;
    w->result.t = r.t;
    w->result.u = r.u;
    w->result.v = r.v;
    w->result.primitive = pair->primitive[k];
    w->result.geometry = pair->geometry[k];
    w->result.node = w->current;
    w->result.base = w->base;
    w->result.instance = w->instance;
    w->result.user_data = w->user_data;
    w->result.flags = (w->result.flags & DEVICE_LOST) | DEVICE_FOUND | r.flags;
    w->stop = c->first_hit != 0;
}

static device_u32
visit_pair(const struct memory *m, struct walk *w, __global const device_u32 *node, float t_min)
{
    const device_u32 id = w->current;
    struct pair pair;
    struct candidate r[2];
    int first;

    pair_read(node, (id & 3u) | (id & 8u) >> 1, &pair);
    r[0] = test_primitive(m->common, w, &pair, 0);
    r[1] = test_primitive(m->common, w, &pair, 1);
    first = r[0].t <= r[1].t ? 0 : 1;
    take(m, w, node, &pair, first, r[first], t_min);
    if (!w->stop) {
        take(m, w, node, &pair, 1 - first, r[1 - first], t_min);
    }
    switch (pair.navigation) {
    case 0:
        return (id & 15u) == 3u ? id ^ 11u : id + 1u;
    case 1:
        return (id & 0xFFFFFFF0u) + 16u;
    default:
        return NODE_INVALID;
    }
}

/* ---- the loop ---- */

/* The node to continue with into w->current; 0: the traversal is over. */
static int
pop(struct walk *w, __constant struct device_common *c, __global const struct device_ray *ray)
{
    while (w->current == NODE_INVALID) {
        if (w->depth == 0) {
            return 0;
        }
        w->current = w->stack[--w->depth];
        if (w->current == STACK_RETURN) {
            enter_tlas(w, c, ray);
        }
    }
    return 1;
}

static int
go(const struct memory *m, __global const struct device_ray *ray, struct walk *w, device_u32 *page)
{
    __constant struct device_common *c = m->common;

    for (device_u32 slice = c->slice; !w->stop; slice--) {
        __global const device_u32 *node = m->image;
        int kind, blind, fetched = FETCH_NONE;

        if (!pop(w, c, ray)) {
            break;
        }
        if (slice == 0) {
            return DEVICE_GOES_ON;
        }
        if (w->result.steps >= c->max_steps) {
            return DEVICE_ENDLESS;
        }
        kind = kind_of(w->current);
        /* The unit does not look at what is there. */
        blind = c->fetches == 0 || (kind == KIND_INSTANCE && c->instance_en == 0);
        if (kind != KIND_NONE) {
            fetched = fetch_node(m, w->base, w->current, &node, page);
        }
        if (fetched == FETCH_ABSENT && !blind) {
            return DEVICE_WAITS;
        }
        w->result.steps++;
        w->result.boxes += kind == KIND_BOX ? 1u : 0u;
        if (fetched == FETCH_NONE || blind) {
            w->result.flags |= fetched == FETCH_NONE ? DEVICE_LOST : 0u;
            w->current = NODE_INVALID;
        } else if (kind == KIND_BOX) {
            w->current = visit_box(m, w, node);
        } else if (kind == KIND_INSTANCE) {
            w->result.instances++;
            w->current = visit_instance(m, w, node);
        } else {
            w->result.primitives++;
            w->current = visit_pair(m, w, node, ray->t_min);
        }
        if (w->declined) {
            return DEVICE_DECLINED;
        }
        w->result.max_depth = w->depth > w->result.max_depth ? w->depth : w->result.max_depth;
    }
    return DEVICE_DONE;
}

static void
begin(struct walk *w, __constant struct device_common *c, __global const struct device_ray *ray)
{
    w->current = c->root;
    w->depth = 0;
    w->t_cur = ray->t_max;
    w->result.t = ray->t_max;
    w->result.u = w->result.v = 0.0f;
    w->result.primitive = w->result.geometry = w->result.node = w->result.user_data = 0;
    w->result.instance = NODE_INVALID;
    w->result.base = 0;
    w->result.flags = w->result.steps = w->result.boxes = w->result.primitives = 0;
    w->result.instances = w->result.pushes = w->result.max_depth = w->result.unused = 0;
    enter_tlas(w, c, ray);
}

/* Where the walk is. */
static void take_space(struct walk *w, __global const struct device_state *s)
{
    for (int k = 0; k < 3; k++) {
        w->origin[k] = s->origin[k];
        w->direction[k] = s->direction[k];
    }
    w->base = s->base;
    w->instance = s->instance;
    w->user_data = s->user_data;
}

static void restore(struct walk *w, __global const struct device_state *s)
{
    take_space(w, s);
    w->result = s->result;
    w->t_cur = s->t_cur;
    w->current = s->current;
    w->depth = s->depth;
    for (device_u32 i = 0; i < s->depth; i++) {
        w->stack[i] = s->stack[i];
    }
}

static void keep_space(const struct walk *w, __global struct device_state *s)
{
    for (int k = 0; k < 3; k++) {
        s->origin[k] = w->origin[k];
        s->direction[k] = w->direction[k];
    }
    s->base = w->base;
    s->instance = w->instance;
    s->user_data = w->user_data;
}

static void keep(const struct walk *w, __global struct device_state *s)
{
    keep_space(w, s);
    s->result = w->result;
    s->t_cur = w->t_cur;
    s->current = w->current;
    s->depth = w->depth;
    for (device_u32 i = 0; i < w->depth; i++) {
        s->stack[i] = w->stack[i];
    }
}

/* Ray list[i] of `rays`, or i itself for `all`, for i below `count`: fate[] of it says what became
 * of it, and wanted[] which page it waits for. */
__kernel void facet_trace(__constant struct device_common *common,
                          __global const device_u32 *image,
                          __global const device_u32 *slots,
                          __global const struct device_segment *segments,
                          __global const device_u32 *turned,
                          __global const device_u32 *asked,
                          __global const struct device_ray *rays,
                          __global const device_u32 *list,
                          device_u32 all,
                          device_u32 count,
                          __global struct device_result *results,
                          __global struct device_state *states,
                          __global device_u32 *fate,
                          __global device_u32 *wanted)
{
    const device_u32 item = (device_u32)get_global_id(0);
    struct memory m;
    struct walk w;
    device_u32 stack[DEVICE_STACK];
    device_u32 ray, page = DEVICE_NOWHERE, became;

    if (item >= count) {
        return;
    }
    ray = all != 0 ? item : list[item];
    m.common = common;
    m.image = image;
    m.slots = slots;
    m.segments = segments;
    m.turned = turned;
    m.asked = asked;
    w.stop = w.declined = 0;
    w.stack = stack;
    if (fate[ray] == DEVICE_FRESH) {
        begin(&w, common, &rays[ray]);
    } else {
        restore(&w, &states[ray]);
    }
    became = (device_u32)go(&m, &rays[ray], &w, &page);
    if (became == DEVICE_GOES_ON || became == DEVICE_WAITS) {
        keep(&w, &states[ray]);
    } else {
        results[ray] = w.result;
    }
    fate[ray] = became;
    wanted[ray] = became == DEVICE_WAITS ? page : DEVICE_NOWHERE;
}
