/* The loop of walk.cl for what most rays meet: plain nodes (pack.cl) under the descriptor that
 * drivers use, with a short stack. At anything else a ray stops before it has done the step, with
 * its state kept as walk.cl keeps it, which goes on from there. The order of every operation that
 * rounds is that of exact.cl. */

#define FAST_GROUP 64u
#define FAST_STACK 24u /* entries; a step adds eight at most */

struct fast {
    struct walk w;
    device_u32 link; /* of the node to continue with */
    float inverse[3];
    device_u32 first;                   /* record of the structure's node 0 */
    device_u32 last;                    /* node of the structure that is there */
    device_u32 flags;
    device_u32 wary; /* marks of box nodes that have children which the flags may remove */
    device_u32 found; /* twice the number of the pair record of the hit, and which triangle */
};

struct records {
    __global const device_u32 *boxes, *pairs;
};

/* 1 / b, rounded once. */
INLINE float inverse_of(float b)
{
    const device_u32 u = as_uint(b) & 0x7FFFFFFFu;
    float r;

    /* From 2^-126 below 2^125: b and its inverse are normal. */
    if (u - 0x00800000u >= 0x7D800000u) {
        return divide(1.0f, b);
    }
    r = reciprocal(as_float(0x3F800000u | (u & 0x007FFFFFu)));
    return as_float((as_uint(b) & F32_SIGN_BIT) |
                    (as_uint(r) - ((u & 0x7F800000u) - 0x3F800000u)));
}

/* Makes ready for the structure and the space of f->w; 0 where the loop is not for them. */
INLINE int fast_enter(__constant struct device_common *c, struct fast *f)
{
    const device_u64 relative = (f->w.base & BASE_MASK) * 8ul;
    const device_u64 address = c->resource_base + relative;
    const device_u64 at = address - c->image_address - c->phase;
    device_u64 last, reach;
    int good = 0;

    for (int k = 0; k < 3; k++) {
        const float inverse = inverse_of(f->w.direction[k]);
        const device_u32 magnitude = as_uint(inverse) & 0x7FFFFFFFu;

        f->inverse[k] = inverse;
        /* With one such axis neither end of a box's interval is NaN. */
        good = good || (magnitude != 0 && magnitude < F32_INF_BITS &&
                        (as_uint(f->w.origin[k]) & F32_INF_BITS) != F32_INF_BITS);
    }
    f->flags = flags_of(c, f->w.base);
    f->wary = 0;
    for (int i = 0; i < 4; i++) {
        f->wary |= promises_cull(1u << i, f->flags) != 0 ? BOX_PROMISES << i : 0u;
    }
    if (!good || promises_cull(0, f->flags) != 0 || (relative | address) >> 47 != 0 || address < c->image_address + c->phase ||
        at % 128ul != 0 ||
        at / 128ul >= c->records || relative / 64ul > c->resource_size) {
        return 0;
    }
    last = c->records - 1ul - at / 128ul;
    reach = (c->resource_size - relative / 64ul) / 2ul;
    f->first = (device_u32)(at / 128ul);
    f->last = (device_u32)(last < reach ? last : reach);
    return 1;
}

/* ---- boxes ---- */

#define NEXT_UP(i, j)                                                                              \
    if (key[j] < key[i]) {                                                                         \
        const device_u32 k = key[i], l = link[i];                                                  \
        key[i] = key[j];                                                                           \
        link[i] = link[j];                                                                         \
        key[j] = k;                                                                                \
        link[j] = l;                                                                               \
    }

INLINE void fast_sort(device_u32 key[8], device_u32 link[8])
{
    NEXT_UP(0, 2) NEXT_UP(1, 3) NEXT_UP(4, 6) NEXT_UP(5, 7)
    NEXT_UP(0, 1) NEXT_UP(2, 3) NEXT_UP(4, 5) NEXT_UP(6, 7)
    NEXT_UP(1, 2) NEXT_UP(5, 6)
    NEXT_UP(0, 4) NEXT_UP(1, 5) NEXT_UP(2, 6) NEXT_UP(3, 7)
    NEXT_UP(2, 4) NEXT_UP(3, 5)
    NEXT_UP(1, 2) NEXT_UP(3, 4) NEXT_UP(5, 6)
}

/* A plane of 16 bits as a float: behind the bits of 2^23 it counts ones. */
#define LOW_PLANE(d) (as_float(((d) & 0xFFFFu) | 0x4B000000u) - 8388608.0f)
#define HIGH_PLANE(d) (as_float(((d) >> 16) | 0x4B000000u) - 8388608.0f)

/* Where the ray meets eight planes. */
INLINE void
fast_planes(__global const device_u32 *row, float scale, float corner, float origin, float inverse, float t[8])
{
    device_u32 d[4];

    LOAD_FOUR(d, row);
    UNROLL
    for (int i = 0; i < 4; i++) {
        /* The product is exact: as if the plane's offset was added. */
        t[2 * i] = (fma(LOW_PLANE(d[i]), scale, corner) - origin) * inverse;
        t[2 * i + 1] = (fma(HIGH_PLANE(d[i]), scale, corner) - origin) * inverse;
    }
}

/* One on the grid of a box: 2^(exponent - 139), subnormal up to 12. */
INLINE float scale_of(device_u32 exponent)
{
    return as_float(exponent > 12u ? (exponent - 12u) << 23 : 1024u << exponent);
}

/* Leaves the nearest child in f->link and the others on the stack; 0 where the node is not plain. */
INLINE int fast_box(__constant struct device_common *c,
                    __global const device_u32 *node,
                    struct fast *f,
                    __local device_u32 *stack)
{
    const float grow = 1.0f + (float)c->grow * 0x1p-24f;
    float enter[8], leave[8];
    device_u32 head[4], key[8], link[8];

    LOAD_FOUR(head, node);
    if ((head[3] & BOX_PLAIN) == 0 || (head[3] & f->wary) != 0 ||
        ((head[3] & BOX_ALL_MASKS) == 0 && c->instance_mask != 255u)) {
        return 0;
    }
    UNROLL
    for (int k = 0; k < 3; k++) {
        const float scale = scale_of(head[3] >> (8 * k) & 255u);
        const float corner = as_float(head[k]), origin = f->w.origin[k], inverse = f->inverse[k];
        const device_u32 near_row = inverse >= 0.0f ? 0u : 4u;
        __global const device_u32 *rows = node + BOX_ROWS + 8 * k;
        float first[8], second[8];

        fast_planes(rows + near_row, scale, corner, origin, inverse, first);
        fast_planes(rows + (4u - near_row), scale, corner, origin, inverse, second);
        UNROLL
        for (int i = 0; i < 8; i++) {
            enter[i] = k == 0 ? first[i] : fmax(enter[i], first[i]);
            leave[i] = k == 0 ? second[i] : fmin(leave[i], second[i]);
        }
    }
    LOAD_FOUR(link, node + BOX_LINKS);
    LOAD_FOUR(link + 4, node + BOX_LINKS + 4);
    UNROLL
    for (int i = 0; i < 8; i++) {
        const float min_t = fmax(enter[i], 0.0f);
        const int hit = min_t <= fmin(leave[i], f->w.t_cur) * grow && link[i] != LINK_INVALID;

        key[i] = hit ? (as_uint(min_t) & 0x7FFFFFFFu) | (link[i] & 0x80000000u) : LINK_INVALID;
    }
    fast_sort(key, link);
    UNROLL
    for (int i = 7; i > 0; i--) {
        if (key[i] != LINK_INVALID) {
            stack[FAST_GROUP * f->w.depth++] = link[i];
            f->w.result.pushes++;
        }
    }
    f->link = key[0] != LINK_INVALID ? link[0] : LINK_INVALID;
    return 1;
}

/* ---- pairs of triangles ---- */

INLINE struct tri_terms
fast_triangle(__global const device_u32 *record, const float origin[3], const float direction[3])
{
    device_u32 a[4], b[4], e[4];
    float v0[3], e1[3], e2[3], e3[3];

    LOAD_FOUR(a, record);
    LOAD_FOUR(b, record + 4);
    LOAD_FOUR(e, record + 8);
    for (int k = 0; k < 3; k++) {
        v0[k] = as_float(a[k]);
        e1[k] = as_float(b[k]);
        e2[k] = as_float(e[k]);
        e3[k] = origin[k] - v0[k];
    }
    return tri_of_edges(e1, e2, e3, direction);
}

/* As visit_pair; 0 where the pair is not plain or not the device's. */
INLINE int fast_pair(__constant struct device_common *c,
                     __global const device_u32 *pairs,
                     device_u32 number,
                     struct fast *f,
                     float t_min)
{
    __global const device_u32 *record = pairs + (size_t)PAIR_RECORD * number;
    const device_u32 marks = record[PAIR_MARKS];
    struct candidate r[2];

    if ((marks & PAIR_PLAIN) == 0) {
        return 0;
    }
    UNROLL
    for (int k = 0; k < 2; k++) {
        const struct tri_terms terms =
            fast_triangle(record + 12 * k, f->w.origin, f->w.direction);
        r[k] = triangle_candidate(c, f->flags, marks >> (2 * k) & 3u, &terms);
        if (t_min < r[k].t && r[k].t < f->w.t_cur && (r[k].flags & DEVICE_OPAQUE) == 0 &&
            c->any_hit != DEVICE_ANY_HIT_NONE) {
            return 0;
        }
    }
    /* The nearer one in either order, of equal ones the first. */
    UNROLL
    for (int k = 0; k < 2; k++) {
        const struct candidate now = r[k];

        if (t_min < now.t && now.t < f->w.t_cur) {
            f->w.t_cur = now.t;
            f->w.result.t = now.t;
            f->w.result.u = now.u;
            f->w.result.v = now.v;
            f->w.result.node = id_of(f->link);
            f->w.result.base = f->w.base;
            f->w.result.instance = f->w.instance;
            f->w.result.user_data = f->w.user_data;
            f->w.result.flags = DEVICE_FOUND | now.flags;
            f->found = 2u * number + (device_u32)k;
            f->w.stop = c->first_hit != 0;
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

/* ---- the loop ---- */

/* The node to continue with into f->link; DEVICE_GOES_ON while there is one. */
INLINE int fast_pop(__constant struct device_common *c,
                    __global const struct device_ray *ray,
                    struct fast *f,
                    __local const device_u32 *stack,
                    int *outside)
{
    while (f->link == LINK_INVALID) {
        if (f->w.depth == 0) {
            return DEVICE_DONE;
        }
        f->link = stack[FAST_GROUP * --f->w.depth];
        if (f->link == LINK_INVALID && f->w.depth != 0) { /* leaves the instance */
            enter_tlas(&f->w, c, ray);
            *outside = !fast_enter(c, f);
        }
    }
    return DEVICE_GOES_ON;
}

/* Instance node `number` of the image, for the walk in *state: enters it and leaves the children in
 * state->stack. How many; NOT_HERE: it is not for this loop. Apart, by way of memory: the registers
 * that it takes would keep other rays from the processors of a GPU. */
#define NOT_HERE 0xFFFFFFFFu
static NOINLINE device_u32 fast_open(__constant struct device_common *c,
                                     __global const device_u32 *image,
                                     device_u32 number,
                                     __global struct device_state *state)
{
    __global const device_u32 *node = image + c->phase / 4ul + (size_t)NODE_DWORDS * number;
    device_u32 d[NODE_DWORDS], child[4], count;
    struct memory m;
    struct walk w;

    UNROLL
    for (int i = 0; i < NODE_DWORDS; i += 4) {
        LOAD_FOUR(d + i, node + i);
    }
    m.common = c;
    w.declined = 0;
    take_walk(&w, state);
    count = open_instance(&m, &w, d, child);
    if (w.declined) {
        return NOT_HERE;
    }
    keep_walk(&w, state);
    for (device_u32 i = 0; i < count; i++) {
        state->stack[i] = link_of(child[i]);
    }
    return count;
}

/* As visit_instance; 0 where it is not for this loop. */
INLINE int fast_instance(const struct memory *m,
                         device_u32 number,
                         struct fast *f,
                         __global struct device_state *state,
                         __local device_u32 *stack,
                         int *outside)
{
    device_u32 count;

    keep_walk(&f->w, state);
    count = fast_open(m->common, m->image, number, state);
    if (count == NOT_HERE) {
        return 0;
    }
    f->link = LINK_INVALID;
    if (count != 0) {
        take_space(&f->w, state);
        *outside = !fast_enter(m->common, f);
        stack[FAST_GROUP * f->w.depth++] = LINK_INVALID;
        for (device_u32 i = count; i-- > 1;) {
            stack[FAST_GROUP * f->w.depth++] = state->stack[i];
        }
        f->w.result.pushes += count;
        f->link = state->stack[0];
    }
    return 1;
}

INLINE int fast_go(const struct memory *m,
                   const struct records *records,
                   __global const struct device_ray *ray,
                   struct fast *f,
                   __global struct device_state *state,
                   __local device_u32 *stack)
{
    __constant struct device_common *c = m->common;
    const device_u32 most =
        c->max_steps < c->slice ? (device_u32)c->max_steps : c->slice;
    const float t_min = ray->t_min;
    int outside = !fast_enter(c, f);

    while (!f->w.stop) {
        device_u32 number, type;
        int good;

        if (fast_pop(c, ray, f, stack, &outside) == DEVICE_DONE) {
            return DEVICE_DONE;
        }
        number = (f->link & 0x1FFFFFFFu) >> 1;
        type = f->link >> 29 | (f->link & 1u) << 3;
        if (outside || number > f->last || f->w.result.steps >= most ||
            f->w.depth > FAST_STACK - 8u) {
            return DEVICE_GOES_ON;
        }
        number += f->first;
        f->w.current = id_of(f->link);
        if (type == 5) {
            good = fast_box(c, records->boxes + (size_t)BOX_RECORD * number, f, stack);
            f->w.result.boxes += (device_u32)good;
        } else if ((type & 4u) == 0) {
            good = fast_pair(c,
                             records->pairs,
                             NODE_PAIRS * number + ((type & 3u) | (type & 8u) >> 1),
                             f,
                             t_min);
            f->w.result.primitives += (device_u32)good;
        } else if (type == 6) {
            good = fast_instance(m, number, f, state, stack, &outside);
            f->w.result.instances += (device_u32)good;
        } else {
            good = 0;
        }
        if (!good) {
            return DEVICE_GOES_ON;
        }
        f->w.result.steps++;
        f->w.result.max_depth =
            f->w.depth > f->w.result.max_depth ? f->w.depth : f->w.result.max_depth;
    }
    return DEVICE_DONE;
}

/* Rays [0, count) that have not begun: as facet_trace, up to where walk.cl has to go on. */
__kernel void facet_fast(__constant struct device_common *common,
                         __global const device_u32 *image,
                         __global const device_u32 *boxes,
                         __global const device_u32 *pairs,
                         __global const struct device_ray *rays,
                         device_u32 count,
                         __global struct device_result *results,
                         __global struct device_state *states,
                         __global device_u32 *fate)
{
    __local device_u32 stacks[FAST_STACK * FAST_GROUP];
    __local device_u32 *stack = stacks + get_local_id(0);
    const device_u32 ray = (device_u32)get_global_id(0);
    struct records records;
    struct memory m;
    struct fast f;
    int became;

    if (ray >= count) {
        return;
    }
    m.common = common;
    m.image = image;
    m.slots = image;
    m.segments = 0;
    m.turned = m.asked = image;
    records.boxes = boxes;
    records.pairs = pairs;
    f.w.stop = f.w.declined = 0;
    f.w.stack = 0;
    f.found = DEVICE_NOWHERE;
    begin(&f.w, common, &rays[ray]);
    f.link = link_of(f.w.current);
    became = fast_go(&m, &records, &rays[ray], &f, &states[ray], stack);
    if (f.found != DEVICE_NOWHERE) {
        __global const device_u32 *record = pairs + (size_t)(PAIR_RECORD / 2u) * f.found;
        f.w.result.primitive = record[3];
        f.w.result.geometry = record[7];
    }
    if (became == DEVICE_GOES_ON) {
        f.w.current = id_of(f.link);
        for (device_u32 i = 0; i < f.w.depth; i++) {
            states[ray].stack[i] = id_of(stack[FAST_GROUP * i]);
        }
        keep_walk(&f.w, &states[ray]);
    } else {
        results[ray] = f.w.result;
    }
    fate[ray] = (device_u32)became;
}
