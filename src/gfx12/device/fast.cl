/* The loop of walk.cl for what most rays meet: plain nodes (pack.cl) under the descriptor that
 * drivers use, with a short stack. At anything else a ray stops before it has done the step, with
 * its state kept as walk.cl keeps it, which goes on from there. The order of every operation that
 * rounds is that of exact.cl.
 *
 * A GPU has half as many units for comparisons, selections and whole numbers as for sums and
 * products, and registers decide how many rays it holds. So few things are compared: most boxes let
 * a ray into one child or none, most triangles are missed by far. And what a hit leaves goes to
 * memory at once. */

#define FAST_STACK 24u /* entries */

struct fast {
    float origin[3], direction[3]; /* in the space of the current structure */
    float inverse[3];
    float t_cur;
    device_u32 link; /* of the node to continue with */
    device_u32 depth;
    device_u32 first, nodes; /* record of the structure's node 0, and how many there are */
    device_u32 flags;
    device_u32 asked; /* marks of box nodes that count, and of them those that must be set: plain */
    device_u32 left;  /* steps */
    device_u32 primitives, instances, pushes, max_depth;
    int inside; /* of an instance: base, instance and user data are in the state */
    int found;  /* the result has what was hit */
    int stop;
};

/* 0 where an end of a box's interval may be NaN: one such axis is enough for none to be. */
INLINE int fast_good(const struct fast *f)
{
    int good = 0;

    for (int k = 0; k < 3; k++) {
        const device_u32 magnitude = as_uint(f->inverse[k]) & 0x7FFFFFFFu;

        good = good || (magnitude != 0 && magnitude < F32_INF_BITS &&
                        (as_uint(f->origin[k]) & F32_INF_BITS) != F32_INF_BITS);
    }
    return good;
}

/* For a new structure; without a node where the loop is not for it. */
INLINE void fast_enter(__constant struct device_common *c, device_u64 base, struct fast *f)
{
    const device_u64 relative = (base & BASE_MASK) * 8ul;
    const device_u64 address = c->resource_base + relative;
    const device_u64 at = address - c->image_address - c->phase;
    device_u64 there, reach;

    f->flags = flags_of(c, base);
    f->first = f->nodes = 0;
    f->asked = BOX_PLAIN | (c->instance_mask != 255u ? BOX_HIDES : 0u);
    if (promises_cull(0, f->flags) != 0 || (relative | address) >> 47 != 0 ||
        address < c->image_address + c->phase || at % 128ul != 0 || at / 128ul >= c->records ||
        relative / 64ul > c->resource_size) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        f->asked |= promises_cull(1u << i, f->flags) != 0 ? BOX_PROMISES << i : 0u;
    }
    there = c->records - at / 128ul;
    reach = (c->resource_size - relative / 64ul) / 2ul + 1ul;
    f->first = (device_u32)(at / 128ul);
    f->nodes = (device_u32)(there < reach ? there : reach);
}

/* For a new space and structure. */
INLINE void fast_space(__constant struct device_common *c,
                       device_u64 base,
                       const struct slab_ray *ray,
                       const float direction[3],
                       struct fast *f)
{
    for (int k = 0; k < 3; k++) {
        f->origin[k] = ray->origin[k];
        f->inverse[k] = ray->inverse[k];
        f->direction[k] = direction[k];
    }
    fast_enter(c, base, f);
    f->nodes = fast_good(f) ? f->nodes : 0u;
}

/* ---- boxes ---- */

#define LEAST_UP(i, j)                                                                             \
    {                                                                                              \
        const device_u32 a = place[i], b = place[j];                                               \
        place[i] = a < b ? a : b;                                                                  \
        place[j] = a < b ? b : a;                                                                  \
    }

#define NEXT_UP(i, j)                                                                              \
    if (key[j] < key[i]) {                                                                         \
        const device_u32 k = key[i], p = place[i];                                                 \
        key[i] = key[j];                                                                           \
        place[i] = place[j];                                                                       \
        key[j] = k;                                                                                \
        place[j] = p;                                                                              \
    }

/* The network of 9.3. */
#define NETWORK(STEP)                                                                              \
    STEP(0, 2) STEP(1, 3) STEP(4, 6) STEP(5, 7) STEP(0, 1) STEP(2, 3) STEP(4, 5) STEP(6, 7)        \
    STEP(1, 2) STEP(5, 6) STEP(0, 4) STEP(1, 5) STEP(2, 6) STEP(3, 7) STEP(2, 4) STEP(3, 5)        \
    STEP(1, 2) STEP(3, 4) STEP(5, 6)

#define CHILD_MASK 7u /* bits of a place that are the child's number, not its key */

/* The places of those children of eight that are not met: behind all others, and no two next to
 * each other. */
#define NOT_MET(i) (0xFFFFFF80u | (device_u32)(i) << 3)

/* Where a ray enters a box, as a key; children that are boxes come behind the others. */
INLINE device_u32 key_of(float enter, device_u32 marks, device_u32 child)
{
    return (as_uint(enter) & 0x7FFFFFFFu) | (marks << (31u - child) & 0x80000000u);
}

/* The children that are met, by their bits, in their order. Keys without their last bits decide
 * where they differ: then every way to sort is the same. Where they do not, the network goes over
 * the keys themselves. */
INLINE void
sort_children(const float enter[8], device_u32 marks, device_u32 met, device_u32 place[8])
{
    int equal = 0;

    UNROLL
    for (device_u32 i = 0; i < 8; i++) {
        const device_u32 key = key_of(enter[i], marks, i);

        place[i] = (met >> i & 1u) != 0 ? (key & ~CHILD_MASK) | i : NOT_MET(i);
    }
    NETWORK(LEAST_UP)
    UNROLL
    for (int i = 0; i < 7; i++) {
        equal = equal || (place[i] ^ place[i + 1]) <= CHILD_MASK;
    }
    if (equal) {
        device_u32 key[8];

        UNROLL
        for (device_u32 i = 0; i < 8; i++) {
            key[i] = (met >> i & 1u) != 0 ? key_of(enter[i], marks, i) : 0xFFFFFFFFu;
            place[i] = i;
        }
        NETWORK(NEXT_UP)
    }
}

/* Where the ray meets eight planes. */
INLINE void
fast_planes(__global const device_u32 *planes, float origin, float inverse, float t[8])
{
    device_u32 d[8];

    LOAD_FOUR(d, planes);
    LOAD_FOUR(d + 4, planes + 4);
    UNROLL
    for (int i = 0; i < 8; i++) {
        t[i] = (as_float(d[i]) - origin) * inverse;
    }
}

/* Leaves the nearest child in f->link and the others on the stack; 0 where the node is not plain or
 * the stack too short. */
INLINE int fast_box(__constant struct device_common *c,
                    __global const device_u32 *node,
                    struct fast *f,
                    __local device_u32 *stack)
{
    const device_u32 marks = node[BOX_MARKS];
    float enter[8], leave[8];
    device_u32 met = 0, count, nearest;

    UNROLL
    for (int k = 0; k < 3; k++) {
        const float origin = f->origin[k], inverse = f->inverse[k];
        __global const device_u32 *planes = node + 16 * k;
        const device_u32 near_planes = inverse >= 0.0f ? 0u : 8u;
        float first[8], second[8];

        fast_planes(planes + near_planes, origin, inverse, first);
        fast_planes(planes + (8u - near_planes), origin, inverse, second);
        UNROLL
        for (int i = 0; i < 8; i++) {
            enter[i] = fmax(k == 0 ? 0.0f : enter[i], first[i]);
            leave[i] = fmin(k == 0 ? f->t_cur : leave[i], second[i]);
        }
    }
    UNROLL
    for (device_u32 i = 0; i < 8; i++) {
        met |= enter[i] <= leave[i] * c->grow_by ? 1u << i : 0u;
    }
    /* With too many children in a node that is not plain, no branch before waits for the marks. */
    count = (marks & f->asked) == BOX_PLAIN ? popcount(met) : FAST_STACK + 2u;
    nearest = 31u - clz(met | 1u);
    if (count > 1u) {
        device_u32 place[8];

        if (f->depth + count > FAST_STACK + 1u) {
            return 0;
        }
        sort_children(enter, marks, met, place);
        nearest = place[0] & CHILD_MASK;
        f->depth += count - 1u;
        f->pushes += count - 1u;
        f->max_depth = f->depth > f->max_depth ? f->depth : f->max_depth;
        stack += DEVICE_GROUP * f->depth;
        UNROLL
        for (device_u32 i = 1; i < 8; i++) {
            if (i < count) {
                *(stack - DEVICE_GROUP * i) = node[BOX_LINK(place[i] & CHILD_MASK)];
            }
        }
    }
    f->link = count != 0 ? node[BOX_LINK(nearest)] : LINK_INVALID;
    return 1;
}

/* ---- pairs of triangles ---- */

INLINE struct tri_parts
fast_triangle(const device_u32 record[12], const float origin[3], const float direction[3])
{
    float e1[3], e2[3], e3[3];

    for (int k = 0; k < 3; k++) {
        e1[k] = as_float(record[4 + k]);
        e2[k] = as_float(record[8 + k]);
        e3[k] = origin[k] - as_float(record[k]);
    }
    return tri_parts_of(e1, e2, e3, direction);
}

/* 0 only where the triangle is missed, or hit at t_cur or behind it, whatever the quotients' last
 * bits are: t, u or v is below -2^-101, u + v above 1 + 2^-21, t above t_cur by that factor, or one
 * of them is NaN. Products that are too small to be exact only come into play where the parts
 * themselves are a few units of the least number, and then differ by whole units. */
INLINE int may_hit(const struct tri_parts *p, float t_cur)
{
    const device_u32 sign = as_uint(p->det) & F32_SIGN_BIT;
    const float det = as_float(as_uint(p->det) ^ sign);
    const float t = as_float(as_uint(p->t) ^ sign), u = as_float(as_uint(p->u) ^ sign),
                v = as_float(as_uint(p->v) ^ sign);
    const float least = det * -0x1p-100f, most = det * 0x1.00001p+0f;

    return t >= least && u >= least && v >= least && u + v <= most && t <= t_cur * most;
}

/* Where the ray is: the base of its structure, the instance and its user data. */
INLINE void
fast_where(__constant struct device_common *c, int inside, __global struct device_state *state)
{
    if (!inside) {
        state->base = c->tlas_base;
        state->instance = NODE_INVALID;
        state->user_data = 0;
    }
}

/* As visit_pair; 0 where the pair is not plain or not the device's. */
INLINE int fast_pair(__constant struct device_common *c,
                     __global const device_u32 *record,
                     __global const struct device_ray *ray,
                     struct fast *f,
                     __global struct device_state *state,
                     __global struct device_result *result)
{
    struct tri_parts parts[2];
    device_u32 d[PAIR_RECORD], marks, pending = 0;

    UNROLL
    for (device_u32 i = 0; i < PAIR_RECORD; i += 4) {
        LOAD_FOUR(d + i, record + i);
    }
    marks = d[PAIR_MARKS];
    UNROLL
    for (int k = 0; k < 2; k++) {
        parts[k] = fast_triangle(d + 12 * k, f->origin, f->direction);
        if (may_hit(&parts[k], f->t_cur)) {
            if (c->any_hit != DEVICE_ANY_HIT_NONE && !is_opaque(f->flags, marks >> (2 * k))) {
                return 0;
            }
            pending |= 1u << k;
        }
    }
    if ((marks & PAIR_PLAIN) == 0) {
        return 0;
    }
    /* The nearer one in either order, of equal ones the first. */
    while (pending != 0) {
        const int second = (pending & 1u) == 0;
        const struct tri_parts of = second ? parts[1] : parts[0];
        const struct tri_terms terms = tri_terms_of(&of);
        const struct candidate now =
            triangle_candidate(c, f->flags, marks >> (second ? 2 : 0) & 3u, &terms);

        pending &= pending - 1u;
        if (ray->t_min < now.t && now.t < f->t_cur) {
            fast_where(c, f->inside, state);
            f->t_cur = now.t;
            f->found = 1;
            f->stop = c->first_hit != 0;
            result->t = now.t;
            result->u = now.u;
            result->v = now.v;
            result->primitive = second ? d[15] : d[3];
            result->geometry = second ? d[19] : d[7];
            result->node = id_of(f->link);
            result->base = state->base;
            result->instance = state->instance;
            result->user_data = state->user_data;
            result->flags = DEVICE_FOUND | now.flags;
        }
    }
    switch (marks >> PAIR_NAVIGATION & 3u) {
    case 0:
        f->link = (f->link & 0xE0000001u) == 0x60000000u ? f->link ^ 0x60000001u
                                                         : f->link + 0x20000000u;
        break;
    case 1:
        f->link = (f->link & 0x1FFFFFFEu) + 2u;
        break;
    default:
        f->link = LINK_INVALID;
        break;
    }
    return 1;
}

/* ---- instances ---- */

/* Pushes what stands for the way back, and goes on with `link`. */
INLINE void fast_down(struct fast *f, device_u32 link, __local device_u32 *stack)
{
    stack[DEVICE_GROUP * f->depth++] = LINK_INVALID;
    f->inside = 1;
    f->link = link;
}

/* A node with one child, as most builders write it, for a ray that is in no instance: what
 * open_instance does. */
INLINE void fast_one_child(__constant struct device_common *c,
                           const device_u32 d[24],
                           struct fast *f,
                           __global struct device_state *state,
                           __local device_u32 *stack)
{
    const device_u64 flags = c->tlas_base >> 54, kept = (flags & 3ul) != 0 ? 0x3FCul : 0x3FFul;
    const device_u64 pointer = (device_u64)d[13] << 32 | d[12];
    const device_u64 base =
        (pointer & 0x003FFFFFFFFFFFF8ul) | ((pointer >> 54 & kept) | flags) << 54;
    const device_u32 skip = (d[13] >> 30 & 1u) != 0 ? SKIP_PROCEDURAL : SKIP_TRIANGLES;
    const device_u32 node = id_of(f->link);
    float origin[3], direction[3];
    struct slab_ray ray;
    struct slab slab;

    f->link = LINK_INVALID;
    for (int k = 0; k < 3; k++) {
        origin[k] = f->origin[k];
        direction[k] = f->direction[k];
    }
    transform(d, origin, direction);
    ray = slab_ray_of(origin, direction, f->t_cur, c->grow);
    if ((f->flags & skip) != 0 || (d[15] >> 24 & c->instance_mask) == 0 ||
        !child_met(d + 16, d + 20, f->flags, CHILD_ALWAYS, &ray, &slab)) {
        return;
    }
    state->base = base;
    state->instance = node;
    state->user_data = d[15] & 0x00FFFFFFu;
    fast_down(f, link_of(d[22] >> 24 & 15u), stack);
    f->pushes++;
    f->max_depth = f->depth > f->max_depth ? f->depth : f->max_depth;
    fast_space(c, base, &ray, direction, f);
}

/* The instance node for the walk that *state has: enters it and leaves the children in
 * state->stack. How many; NOT_HERE: it is not for this loop. Apart, by way of memory: the registers
 * that it takes would keep other rays from the processors of a GPU. */
#define NOT_HERE 0xFFFFFFFFu
static NOINLINE device_u32 fast_open(__constant struct device_common *c,
                                     __global const device_u32 *node,
                                     __global struct device_state *state)
{
    device_u32 d[NODE_DWORDS], child[4], count;
    struct memory m;
    struct walk w;

    UNROLL
    for (int i = 0; i < NODE_DWORDS; i += 4) {
        LOAD_FOUR(d + i, node + i);
    }
    m.common = c;
    w.declined = 0;
    w.t_cur = state->t_cur;
    w.current = state->current;
    take_space(&w, state);
    count = open_instance(&m, &w, d, child);
    if (w.declined) {
        return NOT_HERE;
    }
    keep_space(&w, state);
    for (device_u32 i = 0; i < count; i++) {
        state->stack[i] = link_of(child[i]);
    }
    return count;
}

/* As visit_instance; 0 where it is not for this loop. */
INLINE int fast_instance(__constant struct device_common *c,
                         __global const device_u32 *node,
                         struct fast *f,
                         __global struct device_state *state,
                         __local device_u32 *stack)
{
    device_u32 d[24], count;

    if (f->depth + 4u > FAST_STACK) {
        return 0;
    }
    UNROLL
    for (int i = 0; i < 24; i += 4) {
        LOAD_FOUR(d + i, node + i);
    }
    if (!f->inside && (d[19] >> 28 & 3u) == 0) {
        fast_one_child(c, d, f, state, stack);
        return 1;
    }
    fast_where(c, f->inside, state);
    for (int k = 0; k < 3; k++) {
        state->origin[k] = f->origin[k];
        state->direction[k] = f->direction[k];
    }
    state->t_cur = f->t_cur;
    state->current = id_of(f->link);
    count = fast_open(c, node, state);
    if (count == NOT_HERE) {
        return 0;
    }
    f->link = LINK_INVALID;
    if (count != 0) {
        float origin[3], direction[3];
        struct slab_ray ray;

        for (int k = 0; k < 3; k++) {
            origin[k] = state->origin[k];
            direction[k] = state->direction[k];
        }
        fast_down(f, state->stack[0], stack);
        for (device_u32 i = count; i-- > 1u;) {
            stack[DEVICE_GROUP * f->depth++] = state->stack[i];
        }
        f->pushes += count;
        f->max_depth = f->depth > f->max_depth ? f->depth : f->max_depth;
        ray = slab_ray_of(origin, direction, f->t_cur, c->grow);
        fast_space(c, state->base, &ray, direction, f);
    }
    return 1;
}

/* ---- the loop ---- */

/* Outside all instances. */
INLINE void fast_outside(__constant struct device_common *c,
                         __global const struct device_ray *from,
                         struct fast *f)
{
    float origin[3], direction[3];
    struct slab_ray ray;

    for (int k = 0; k < 3; k++) {
        origin[k] = from->origin[k];
        direction[k] = from->direction[k];
    }
    ray = slab_ray_of(origin, direction, f->t_cur, c->grow);
    f->inside = 0;
    fast_space(c, c->tlas_base, &ray, direction, f);
}

/* The image's nodes: as they are, and their records. */
struct records {
    __global const device_u32 *nodes, *boxes, *pairs;
};

INLINE int fast_go(__constant struct device_common *c,
                   const struct records *records,
                   __global const struct device_ray *ray,
                   struct fast *f,
                   __global struct device_state *state,
                   __global struct device_result *result,
                   __local device_u32 *stack)
{
    while (!f->stop) {
        device_u32 number, type;
        int good = 0;

        while (f->link == LINK_INVALID) {
            if (f->depth == 0) {
                return DEVICE_DONE;
            }
            f->link = stack[DEVICE_GROUP * --f->depth];
            if (f->link == LINK_INVALID && f->depth != 0) {
                fast_outside(c, ray, f);
            }
        }
        number = (f->link & 0x1FFFFFFFu) >> 1;
        type = f->link >> 29 | (f->link & 1u) << 3;
        if (number >= f->nodes || f->left == 0) {
            return DEVICE_GOES_ON;
        }
        number += f->first;
        if (type == 5) {
            good = fast_box(c, records->boxes + (size_t)BOX_RECORD * number, f, stack);
        } else if ((type & 4u) == 0) {
            const device_u32 pair = NODE_PAIRS * number + ((type & 3u) | (type & 8u) >> 1);

            good = fast_pair(
                c, records->pairs + (size_t)PAIR_RECORD * pair, ray, f, state, result);
            f->primitives += (device_u32)good;
        } else if (type == 6) {
            good = fast_instance(
                c, records->nodes + (size_t)NODE_DWORDS * number, f, state, stack);
            f->instances += (device_u32)good;
        }
        if (!good) {
            return DEVICE_GOES_ON;
        }
        f->left--;
    }
    return DEVICE_DONE;
}

/* What the result has besides a hit. */
INLINE void
fast_count(const struct fast *f, device_u32 steps, __global struct device_result *result)
{
    result->steps = steps;
    result->boxes = steps - f->primitives - f->instances;
    result->primitives = f->primitives;
    result->instances = f->instances;
    result->pushes = f->pushes;
    result->max_depth = f->max_depth;
}

/* Rays list[0..count), or all below `count`, that have not begun: as facet_trace, up to where
 * walk.cl has to go on. */
__kernel IN_GROUPS(DEVICE_GROUP) void facet_fast(__constant struct device_common *common,
                                                 __global const device_u32 *image,
                                                 __global const device_u32 *boxes,
                                                 __global const device_u32 *pairs,
                                                 __global const struct device_ray *rays,
                                                 __global const device_u32 *list,
                                                 device_u32 all,
                                                 device_u32 count,
                                                 __global struct device_result *results,
                                                 __global struct device_state *states,
                                                 __global device_u32 *fate)
{
    __local device_u32 stacks[FAST_STACK * DEVICE_GROUP];
    __local device_u32 *stack = stacks + get_local_id(0);
    const device_u32 item = (device_u32)get_global_id(0);
    const device_u32 most =
        common->max_steps < common->slice ? (device_u32)common->max_steps : common->slice;
    struct records records;
    struct walk w;
    struct fast f;
    device_u32 ray;
    int became;

    if (item >= count) {
        return;
    }
    ray = all != 0 ? item : list[item];
    records.nodes = image + common->phase / 4ul;
    records.boxes = boxes;
    records.pairs = pairs;
    f.t_cur = rays[ray].t_max;
    f.link = link_of(common->root);
    f.left = most;
    f.depth = f.primitives = f.instances = f.pushes = f.max_depth = 0;
    f.found = f.stop = 0;
    fast_outside(common, &rays[ray], &f);
    f.nodes = is_nan(f.t_cur) ? 0u : f.nodes; /* OpenCL leaves open what fmin makes of some NaN */
    became = fast_go(common, &records, &rays[ray], &f, &states[ray], &results[ray], stack);
    if (!f.found) {
        begin(&w, common, &rays[ray]);
        results[ray] = w.result;
    }
    fast_count(&f, most - f.left, &results[ray]);
    if (became == DEVICE_GOES_ON) {
        __global struct device_state *state = &states[ray];

        fast_where(common, f.inside, state);
        for (int k = 0; k < 3; k++) {
            state->origin[k] = f.origin[k];
            state->direction[k] = f.direction[k];
        }
        state->result = results[ray];
        state->t_cur = f.t_cur;
        state->current = id_of(f.link);
        state->depth = f.depth;
        for (device_u32 i = 0; i < f.depth; i++) {
            state->stack[i] = id_of(stack[DEVICE_GROUP * i]);
        }
    }
    fate[ray] = (device_u32)became;
}
