/* Nodes of a GFX12 image as they are: walk.cl reads them so, and pack.cl makes its records of them.
 * Fields stand where spec/gfx12.layout.tsv says. */

#define NODE_INVALID 0xFFFFFFFFu
#define NODE_FIRST_SENTINEL 0xFFFFFFF8u
#define NODE_DWORDS 32
#define ADDRESS_MASK 0xFFFFFFFFFFFFul
#define BASE_MASK 0x1FFFFFFFFFFFul

#define KIND_NONE 0
#define KIND_PRIMITIVE 1
#define KIND_BOX 2
#define KIND_INSTANCE 3

#define FORCE_OPAQUE (1u << 0)
#define FORCE_NON_OPAQUE (1u << 1)
#define DISABLE_TRIANGLE_CULL (1u << 2)
#define FLIP_FACEDNESS (1u << 3)
#define CULL_BACK_FACING (1u << 4)
#define CULL_FRONT_FACING (1u << 5)
#define CULL_OPAQUE (1u << 6)
#define CULL_NON_OPAQUE (1u << 7)
#define SKIP_TRIANGLES (1u << 8)
#define SKIP_PROCEDURAL (1u << 9)

/* The image of a launch. */
struct memory {
    __constant struct device_common *common;
    __global const device_u32 *image; /* or the pages that are here */
    __global const device_u32 *slots; /* of the pages: which of those here, or DEVICE_NOWHERE */
    __global const struct device_segment *segments;
    __global const device_u32 *asked;  /* by ANY_HIT_STOPS (walk.cl) */
    __global const device_u32 *turned; /* twelve dwords for each orientation of boxes (section 6) */
};

static int kind_of(device_u32 id)
{
    device_u32 type = id & 15u;
    if (id >= NODE_FIRST_SENTINEL) {
        return KIND_NONE;
    }
    if (type == 5) {
        return KIND_BOX;
    }
    if (type == 6) {
        return KIND_INSTANCE;
    }
    return (type & 4u) == 0 ? KIND_PRIMITIVE : KIND_NONE;
}

#define FETCH_HERE 0
#define FETCH_NONE 1   /* no node is there */
#define FETCH_ABSENT 2 /* one is, in a page that is not here */

/* Where 128 bytes of the image lie, from the structure at `base`, in the memory of the device. */
static int fetch_node(const struct memory *m,
                      device_u64 base,
                      device_u32 id,
                      __global const device_u32 **node,
                      device_u32 *page)
{
    __constant struct device_common *c = m->common;
    device_u64 relative =
        ((base & BASE_MASK) * 8ul + (device_u64)(id & 0xFFFFFFF0u) * 8ul) & ADDRESS_MASK;
    device_u64 address = (c->resource_base + relative) & ADDRESS_MASK;
    device_u64 at = address - c->image_address;

    if (relative / 64ul > c->resource_size) {
        return FETCH_NONE;
    }
    if (c->segments != 0) {
        __global const struct device_segment *s = m->segments;
        device_u32 low = 0, count = c->segments;
        while (count > 1) {
            device_u32 half_of = count / 2;
            if (s[low + half_of].address <= address) {
                low += half_of;
                count -= half_of;
            } else {
                count = half_of;
            }
        }
        s += low;
        if (address < s->address || s->size < 128ul || address - s->address > s->size - 128ul) {
            return FETCH_NONE;
        }
        at = s->offset + (address - s->address);
    } else if (address < c->image_address || c->image_size < 128ul || at > c->image_size - 128ul) {
        return FETCH_NONE;
    }
    if (c->page_shift != 0) {
        device_u32 wanted = (device_u32)(at >> c->page_shift);
        device_u32 slot = m->slots[wanted];
        if (slot == DEVICE_NOWHERE) {
            *page = wanted;
            return FETCH_ABSENT;
        }
        at -= (device_u64)wanted << c->page_shift;
        at += slot * (((device_u64)1 << c->page_shift) + 64ul);
    }
    *node = m->image + at / 4ul;
    return FETCH_HERE;
}

/* A piece of an image may begin at any multiple of 4 bytes. */
INLINE void load_node(__global const device_u32 *node, device_u32 d[NODE_DWORDS])
{
    UNROLL
    for (int i = 0; i < NODE_DWORDS; i++) {
        d[i] = node[i];
    }
}

/* Bits [at, at + width) of a node, width 0..32; bits outside 0..1023 read as 0. */
static device_u32 bits_of(__global const device_u32 *node, int at, device_u32 width)
{
    device_u64 two = 0;
    int dword = at >> 5; /* floor */
    if (dword >= 0 && dword < NODE_DWORDS) {
        two = node[dword];
    }
    if (dword + 1 >= 0 && dword + 1 < NODE_DWORDS && (at & 31) + (int)width > 32) {
        two |= (device_u64)node[dword + 1] << 32;
    }
    return (device_u32)(two >> (at & 31) & (((device_u64)1 << width) - 1ul));
}

/* ---- primitive nodes (section 7) ---- */

struct pair {
    device_u32 vertex[2][9]; /* corner by corner */
    device_u32 primitive[2], geometry[2];
    device_u32 state[2]; /* PAIR_... */
    device_u32 navigation;
};

#define PAIR_OPAQUE 1u
#define PAIR_DOUBLE_SIDED 2u
#define PAIR_PROCEDURAL 4u
#define PAIR_NO_SECOND 8u

/* 7.3: a narrower payload replaces the low bits of the base. */
static device_u32
join_index(device_u32 base, device_u32 payload, device_u32 base_bits, device_u32 bits)
{
    return bits >= base_bits ? payload : payload | (base & ~((1u << bits) - 1u));
}

static void pair_read(__global const device_u32 *node, device_u32 number, struct pair *out)
{
    const device_u32 h0 = node[0], h1 = node[1];
    const device_u32 zeros = h0 >> 15 & 31u, pairs = (h0 >> 28 & 7u) + 1u;
    const device_u32 geometry_base_bits = 2u * (h0 >> 20 & 15u);
    const device_u32 geometry_bits = 2u * (h0 >> 24 & 15u);
    const device_u32 primitive_base_bits = h1 & 31u, primitive_bits = h1 >> 5 & 31u;
    const int midpoint = (int)(h1 >> 10 & 1023u);
    const device_u32 descriptor = bits_of(node, 1024 - 29 * (int)(number + 1), 29);
    const device_u32 geometry =
        bits_of(node, midpoint - (int)geometry_base_bits, geometry_base_bits);
    const device_u32 primitive = bits_of(node, midpoint, primitive_base_bits);
    device_u32 width[3], high[3], stride = 0;
    int vertices = 52;

    for (int k = 0; k < 3; k++) {
        int prefix;
        width[k] = (h0 >> (5 * k) & 31u) + 1u;
        stride += width[k];
        prefix = 32 - (int)zeros - (int)width[k];
        prefix = prefix > 0 ? prefix : 0;
        high[k] = prefix == 0 ? 0 : bits_of(node, vertices, (device_u32)prefix) << (32 - prefix);
        vertices += prefix;
    }
    for (int k = 0; k < 2; k++) {
        const device_u32 t = 2u * number + (device_u32)k;
        const device_u32 tri = k == 0 ? descriptor >> 15 : descriptor >> 1 & 0x3FFFu;
        device_u32 index[3];
        for (int c = 0; c < 3; c++) {
            int at;
            index[c] = tri >> (2 + 4 * c) & 15u;
            at = vertices + (int)(index[c] * stride);
            for (int axis = 0; axis < 3; axis++) {
                out->vertex[k][3 * c + axis] = high[axis] | bits_of(node, at, width[axis]) << zeros;
                at += (int)width[axis];
            }
        }
        out->state[k] = (tri & 2u) != 0 ? PAIR_OPAQUE : 0u;
        out->state[k] |= (tri & 1u) != 0 ? PAIR_DOUBLE_SIDED : 0u;
        out->state[k] |= index[0] == 15 && index[1] == 15 ? PAIR_PROCEDURAL : 0u;
        out->state[k] |= k == 1 && (index[0] | index[1] | index[2]) == 0 ? PAIR_NO_SECOND : 0u;
        out->geometry[k] = geometry;
        out->primitive[k] = primitive;
        if (t != 0) {
            out->geometry[k] = join_index(
                geometry,
                bits_of(
                    node, midpoint - (int)(geometry_base_bits + t * geometry_bits), geometry_bits),
                geometry_base_bits,
                geometry_bits);
            out->primitive[k] = join_index(
                primitive,
                bits_of(node,
                        midpoint + (int)(primitive_base_bits + (t - 1u) * primitive_bits),
                        primitive_bits),
                primitive_base_bits,
                primitive_bits);
        }
    }
    out->navigation = (descriptor & 1u) != 0 ? 3u : number + 1u == pairs ? 1u : 0u;
}

/* First bit of the box of a procedural node (R-G12-21). */
static int aabb_bit(__global const device_u32 *node)
{
    const device_u32 index = bits_of(node, 1024 - 29 + 15 + 10, 4);
    device_u32 before = 0;
    int real = 1;
    for (int i = 0; i < 3; i++) {
        before |= bits_of(node, 52 + 32 * i, 32);
        real = real && as_float(bits_of(node, 160 + 32 * i, 32)) <=
                           as_float(bits_of(node, 256 + 32 * i, 32));
    }
    before |= bits_of(node, 148, 12);
    return index == 15 && before == 0 && real ? 160 : 52;
}

/* ---- children of box and instance nodes (4.1, 9.2) ---- */

/* Pointer flags that remove a child with these promises. */
INLINE device_u32 promises_cull(device_u32 promises, device_u32 flags)
{
    int force_opaque = (flags & FORCE_OPAQUE) != 0;
    int force_non_opaque = (flags & FORCE_NON_OPAQUE) != 0;
    device_u32 by = 0;
    by |= ((promises & 1u) != 0 || force_opaque) && !force_non_opaque ? CULL_OPAQUE : 0u;
    by |= ((promises & 2u) != 0 || force_non_opaque) && !force_opaque ? CULL_NON_OPAQUE : 0u;
    by |= (promises & 4u) != 0 ? SKIP_TRIANGLES : 0u;
    by |= (promises & 8u) != 0 ? SKIP_PROCEDURAL : 0u;
    return flags & by;
}

struct slots {
    device_u32 id[8];
    device_u32 ext[8];
    float key[8];
};

#define EXCHANGE(i, j)                                                                             \
    if (s->ext[j] < s->ext[i] || (s->ext[j] == s->ext[i] && s->key[j] < s->key[i])) {              \
        device_u32 id = s->id[i], ext = s->ext[i];                                                 \
        float key = s->key[i];                                                                     \
        s->id[i] = s->id[j];                                                                       \
        s->ext[i] = s->ext[j];                                                                     \
        s->key[i] = s->key[j];                                                                     \
        s->id[j] = id;                                                                             \
        s->ext[j] = ext;                                                                           \
        s->key[j] = key;                                                                           \
    }

/* The network of 9.3; it decides about equal keys, so that no other sort would do. Of four, the
 * exchanges with the empty slots behind them change nothing. */
INLINE void sort_slots(__constant struct device_common *c, device_u32 most, struct slots *s)
{
    if (c->sort == 0 || c->heuristic == 3) {
        return;
    }
    EXCHANGE(0, 2) EXCHANGE(1, 3) EXCHANGE(0, 1) EXCHANGE(2, 3) EXCHANGE(1, 2)
    if (most == 4) {
        return;
    }
    EXCHANGE(4, 6) EXCHANGE(5, 7) EXCHANGE(4, 5) EXCHANGE(6, 7) EXCHANGE(5, 6)
    if (c->wide_sort != 0) {
        EXCHANGE(0, 4) EXCHANGE(1, 5) EXCHANGE(2, 6) EXCHANGE(3, 7) EXCHANGE(2, 4)
        EXCHANGE(3, 5) EXCHANGE(1, 2) EXCHANGE(3, 4) EXCHANGE(5, 6)
    }
}

/* As a mask: no child is removed by its own. */
#define CHILD_ALWAYS 0x100u

/* Whether a ray meets a child, whose three dwords are at `child`. */
INLINE int child_met(const device_u32 *head,
                     const device_u32 *child,
                     device_u32 flags,
                     device_u32 mask,
                     const struct slab_ray *ray,
                     struct slab *slab)
{
    const device_u32 a = child[0], b = child[1], d = child[2];
    float lo[3], hi[3];

    lo[0] = plane_at(head[0], head[3] & 255u, a & 0xFFFu);
    lo[1] = plane_at(head[1], head[3] >> 8 & 255u, a >> 12 & 0xFFFu);
    lo[2] = plane_at(head[2], head[3] >> 16 & 255u, b & 0xFFFu);
    hi[0] = plane_at(head[0], head[3] & 255u, (b >> 12 & 0xFFFu) + 1u);
    hi[1] = plane_at(head[1], head[3] >> 8 & 255u, (d & 0xFFFu) + 1u);
    hi[2] = plane_at(head[2], head[3] >> 16 & 255u, (d >> 12 & 0xFFFu) + 1u);
    *slab = slab_test(ray, lo, hi);
    return slab->hit && promises_cull(a >> 24 & 15u, flags) == 0 &&
           ((b >> 24 | CHILD_ALWAYS) & mask) != 0;
}

/* Tests `count` of at most `most` children, whose three dwords each follow `child`; ids, `most` of
 * them, in the order of visits. */
INLINE void children_of(__constant struct device_common *c,
                        const device_u32 most,          /* 4 or 8 */
                        const device_u32 *head, /* origin, exponents */
                        const device_u32 *child,
                        device_u32 count,
                        device_u32 internal_at,
                        device_u32 primitive_at,
                        device_u32 flags,
                        device_u32 mask,
                        const struct slab_ray *ray,
                        device_u32 *result)
{
    struct slots s;
    device_u32 previous = NODE_INVALID;
    device_u32 visible = 0;

    UNROLL
    for (device_u32 i = 0; i < most; i++) {
        device_u32 id = NODE_INVALID;
        float key = as_float(F32_INF_BITS);
        if (i < count) {
            const device_u32 d = child[3 * i + 2], type = d >> 24 & 15u, size = d >> 28;
            const device_u32 own = (type == 5 ? internal_at : primitive_at) | type;
            struct slab slab;

            internal_at += type == 5 ? size << 4 : 0u;
            primitive_at += type == 5 ? 0u : size << 4;
            if (child_met(head, child + 3 * i, flags, mask, ray, &slab)) {
                id = own;
            }
            key = c->heuristic == 1   ? slab.min_t - slab.max_t
                  : c->heuristic == 2 ? slab.enter + slab.leave
                                      : slab.min_t;
        }
        if (id == previous) { /* a missed slot interrupts a run (R-G12-39) */
            id = NODE_INVALID;
        } else {
            previous = id;
        }
        visible += id != NODE_INVALID ? 1u : 0u;
        s.id[i] = id;
        s.key[i] = key;
        s.ext[i] = id == NODE_INVALID ? 4u : 0u;
        if (c->sort_triangles_first != 0) {
            s.ext[i] += (id & 7u) > 3u ? 2u : 0u;
            s.ext[i] += c->gpurt != 0 && (id & 7u) != 1u ? 1u : 0u;
        }
    }
    if (visible > 0) {
        sort_slots(c, most, &s);
    }
    UNROLL
    for (device_u32 i = 0; i < most; i++) {
        result[i] = s.id[i];
    }
}
