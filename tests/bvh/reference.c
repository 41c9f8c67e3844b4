#include "reference.h"
#include "base/float.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct node {
    float lo[3], hi[3];
    struct node *left, *right; /* NULL: leaf */
    const struct facet_bvh_triangle **items;
    uint32_t count;
    uint8_t flags;
};

static float lower(float a, float b)
{
    return a < b || (a == b && signbit(a)) ? a : b;
}

static float upper(float a, float b)
{
    return a > b || (a == b && !signbit(a)) ? a : b;
}

static void box_of(const struct facet_bvh_triangle *t, float lo[3], float hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = lower(lower(t->vertex[0][k], t->vertex[1][k]), t->vertex[2][k]);
        hi[k] = upper(upper(t->vertex[0][k], t->vertex[1][k]), t->vertex[2][k]);
    }
}

static double area(const float lo[3], const float hi[3])
{
    double dx = (double)hi[0] - (double)lo[0], dy = (double)hi[1] - (double)lo[1],
           dz = (double)hi[2] - (double)lo[2];

    return (dx * dy + dy * dz) + dz * dx;
}

/* ---- 12.2 ---- */

struct axis {
    bool usable;
    float cmin, s;
};

static float centre(const struct facet_bvh_triangle *t, int k)
{
    float lo[3], hi[3];

    box_of(t, lo, hi);
    return lo[k] + hi[k];
}

static struct axis make_axis(const struct node *n, int k)
{
    struct axis a = {false, INFINITY, 0};
    float cmax = -INFINITY;

    for (uint32_t i = 0; i < n->count; i++) {
        a.cmin = fminf(a.cmin, centre(n->items[i], k));
        cmax = fmaxf(cmax, centre(n->items[i], k));
    }
    if (!(cmax - a.cmin > 0) || isinf(cmax - a.cmin)) {
        return a;
    }
    a.s = 16.0f / (cmax - a.cmin);
    a.usable = !isinf(a.s);
    return a;
}

static int bin_of(const struct axis *a, const struct facet_bvh_triangle *t, int k)
{
    float x = (centre(t, k) - a->cmin) * a->s;
    int bin = (int)x;

    return bin < 15 ? bin : 15;
}

static double
side_cost(const struct node *n, const struct axis *a, int k, int split, bool right, uint32_t *count)
{
    float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};

    *count = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        float l[3], h[3];

        if ((bin_of(a, n->items[i], k) >= split) != right) {
            continue;
        }
        box_of(n->items[i], l, h);
        for (int j = 0; j < 3; j++) {
            lo[j] = fminf(lo[j], l[j]);
            hi[j] = fmaxf(hi[j], h[j]);
        }
        ++*count;
    }
    return *count != 0 ? area(lo, hi) * (double)*count : 0;
}

static struct node *
make_node(const struct facet_bvh_triangle **items, uint32_t count, uint32_t range)
{
    struct node *n = calloc(1, sizeof *n);
    const struct facet_bvh_triangle **parts = malloc((count + 1) * sizeof *parts);
    double best = INFINITY;
    int best_axis = -1, best_split = 0;
    uint32_t lefts = 0;

    n->items = malloc(count * sizeof *items);
    memcpy(n->items, items, count * sizeof *items);
    n->count = count;
    n->flags = 0x7;
    for (uint32_t i = 0; i < count; i++) {
        float l[3], h[3];

        box_of(items[i], l, h);
        for (int k = 0; k < 3; k++) {
            n->lo[k] = i == 0 ? l[k] : lower(n->lo[k], l[k]);
            n->hi[k] = i == 0 ? h[k] : upper(n->hi[k], h[k]);
        }
        n->flags &= (items[i]->flags & FACET_BVH_OPAQUE) != 0 ? 0x5 : 0x6;
    }
    if (count <= range) {
        free(parts);
        return n;
    }
    for (int k = 0; k < 3; k++) {
        struct axis a = make_axis(n, k);

        for (int split = 1; a.usable && split <= 15; split++) {
            uint32_t l, r;
            double left = side_cost(n, &a, k, split, false, &l);
            double cost = left + side_cost(n, &a, k, split, true, &r);

            if (l != 0 && r != 0 && (best_axis < 0 || cost < best)) {
                best = cost;
                best_axis = k;
                best_split = split;
            }
        }
    }
    if (best_axis < 0) {
        lefts = (count + 1) / 2;
        memcpy(parts, items, count * sizeof *items);
    } else {
        struct axis a = make_axis(n, best_axis);
        uint32_t at = 0;

        for (int right = 0; right < 2; right++) {
            for (uint32_t i = 0; i < count; i++) {
                if ((bin_of(&a, items[i], best_axis) >= best_split) == right) {
                    parts[at++] = items[i];
                }
            }
            lefts = right ? lefts : at;
        }
    }
    n->left = make_node(parts, lefts, range);
    n->right = make_node(parts + lefts, count - lefts, range);
    free(parts);
    return n;
}

static void free_node(struct node *n)
{
    if (n != NULL) {
        free_node(n->left);
        free_node(n->right);
        free(n->items);
        free(n);
    }
}

/* ---- 12.3 ---- */

static unsigned open_slots(struct node *n, struct node *slot[8])
{
    struct node *ordered[8];
    unsigned count = 0, out = 0;

    if (n->left == NULL) {
        slot[0] = n;
        return 1;
    }
    slot[count++] = n->left;
    slot[count++] = n->right;
    while (count < 8) {
        int best = -1;

        for (unsigned i = 0; i < count; i++) {
            if (slot[i]->left != NULL && (best < 0 || area(slot[i]->lo, slot[i]->hi) >
                                                          area(slot[best]->lo, slot[best]->hi))) {
                best = (int)i;
            }
        }
        if (best < 0) {
            break;
        }
        slot[count++] = slot[best]->right;
        slot[best] = slot[best]->left;
    }
    for (int leaves = 0; leaves < 2; leaves++) {
        for (unsigned i = 0; i < count; i++) {
            if ((slot[i]->left == NULL) == leaves) {
                ordered[out++] = slot[i];
            }
        }
    }
    memcpy(slot, ordered, count * sizeof *slot);
    return count;
}

/* ---- 12.4, 12.5 ---- */

struct pair {
    const struct facet_bvh_triangle *tri[2];
    bool stop;
};

struct packed {
    struct pair pair[64];
    unsigned count;
};

static unsigned bits_of(uint32_t x)
{
    unsigned n = 0;

    for (; x != 0; x >>= 1) {
        n++;
    }
    return n;
}

/* The node, and how many bits it needs; 9999 when it has too many vertices or pairs. */
static unsigned lay_out(const struct packed *in, uint8_t node[128])
{
    struct facet_gfx12_prim p;
    uint32_t vertex[64 * 6][3], x[3] = {0, 0, 0}, z = 0, g = 0, q = 0;
    unsigned count = 0, tz = 0;
    const struct facet_bvh_triangle *first = in->pair[0].tri[0];
    unsigned gab, gpb, pab, ppb;

    memset(&p, 0, sizeof p);
    for (unsigned i = 0; i < in->count; i++) {
        for (int t = 0; t < 2 && in->pair[i].tri[t] != NULL; t++) {
            const struct facet_bvh_triangle *tri = in->pair[i].tri[t];

            g |= tri->geometry ^ first->geometry;
            q |= tri->primitive ^ first->primitive;
            for (int c = 0; c < 3; c++) {
                uint32_t v[3];
                unsigned at;

                memcpy(v, tri->vertex[c], sizeof v);
                for (at = 0; at < count && memcmp(vertex[at], v, sizeof v) != 0; at++) {
                }
                if (at == count) {
                    memcpy(vertex[count++], v, sizeof v);
                }
                if (i < 8) {
                    p.pair[i].tri[t].index[c] = (uint8_t)(at & 15);
                }
            }
        }
    }
    if (count > 16 || in->count > 8) {
        return 9999;
    }
    for (unsigned i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            x[k] |= vertex[i][k] ^ vertex[0][k];
            z |= vertex[i][k];
        }
    }
    for (tz = 0; tz < 31 && (z >> tz & 1) == 0; tz++) {
    }
    p.header.trailing_zero_bits = (uint8_t)tz;
    for (int k = 0; k < 3; k++) {
        unsigned same = 32 - bits_of(x[k]), prefix = same < 31 - tz ? same : 31 - tz;
        unsigned vb = 32 - tz - prefix;

        p.header.vertex_bits_minus_one[k] = (uint8_t)(vb - 1);
        p.prefix[k] = prefix != 0 ? vertex[0][k] >> (32 - prefix) : 0;
        for (unsigned i = 0; i < count; i++) {
            p.payload[i][k] = (uint32_t)((vertex[i][k] >> tz) & ((UINT64_C(1) << vb) - 1));
        }
    }
    gab = (bits_of(first->geometry) + 1) / 2;
    gpb = (bits_of(g) + 1) / 2;
    pab = bits_of(first->primitive);
    ppb = bits_of(q);
    p.header.geometry_index_base_bits_div_2 = (uint8_t)gab;
    p.header.geometry_index_bits_div_2 = (uint8_t)gpb;
    p.header.primitive_index_base_bits = (uint8_t)pab;
    p.header.primitive_index_bits = (uint8_t)ppb;
    p.header.triangle_pair_count_minus_one = (uint8_t)(in->count - 1);
    p.geometry_base = first->geometry;
    p.primitive_base = first->primitive;
    p.vertex_count = (uint8_t)count;
    for (unsigned t = 0; t < 2 * in->count; t++) {
        const struct facet_bvh_triangle *tri = in->pair[t / 2].tri[t % 2];

        p.pair[t / 2].prim_range_stop = in->pair[t / 2].stop;
        if (tri != NULL) {
            p.geometry_payload[t] = tri->geometry & ((1u << 2 * gpb) - 1);
            p.primitive_payload[t] = (uint32_t)(tri->primitive & ((UINT64_C(1) << ppb) - 1));
            p.pair[t / 2].tri[t % 2].opaque = (tri->flags & FACET_BVH_OPAQUE) != 0;
            p.pair[t / 2].tri[t % 2].double_sided = (tri->flags & FACET_BVH_DOUBLE_SIDED) != 0;
        }
    }
    unsigned bits = facet_gfx12_prim_bits(&p.header, count);

    if (bits <= 1024) {
        p.header.indices_midpoint =
            (uint16_t)(1024 - 29 * in->count - (2 * in->count - 1) * ppb - pab);
        facet_gfx12_prim_encode(&p, node);
    }
    return bits;
}

static void add_range(struct packed *to, const struct node *leaf)
{
    for (uint32_t i = 0; i < leaf->count; i += 2) {
        struct pair *p = &to->pair[to->count++];

        p->tri[0] = leaf->items[i];
        p->tri[1] = i + 1 < leaf->count ? leaf->items[i + 1] : NULL;
        p->stop = i + 2 >= leaf->count;
    }
}

struct place {
    unsigned leaf, node, pair;
};

/* Returns the number of nodes. */
static unsigned pack(struct node *const *leaf, unsigned count, struct place *place, uint8_t *nodes)
{
    struct packed open = {.count = 0};
    bool done[8] = {false};
    unsigned left = count, closed = 0, out = 0;
    uint8_t scratch[128];

    while (left > 0) {
        unsigned best_bits = 0;
        int best = -1;

        for (unsigned i = 0; i < count; i++) {
            struct packed with = open;

            if (done[i]) {
                continue;
            }
            add_range(&with, leaf[i]);
            unsigned bits = lay_out(&with, scratch);

            if (bits <= 1024 && (best < 0 || bits < best_bits)) {
                best = (int)i;
                best_bits = bits;
            }
        }
        if (best >= 0) {
            place[out++] = (struct place){(unsigned)best, closed, open.count};
            add_range(&open, leaf[best]);
            done[best] = true;
            left--;
        } else if (open.count != 0) {
            lay_out(&open, nodes + 128 * closed++);
            open.count = 0;
        } else {
            struct packed all = {.count = 0};
            unsigned first = 0;

            while (done[first]) {
                first++;
            }
            place[out++] = (struct place){first, closed, 0};
            add_range(&all, leaf[first]);
            for (unsigned i = 0; i < all.count; i++) {
                struct packed with = open;

                with.pair[with.count++] = all.pair[i];
                if (lay_out(&with, scratch) > 1024) {
                    lay_out(&open, nodes + 128 * closed++);
                    open.count = 0;
                }
                open.pair[open.count++] = all.pair[i];
            }
            done[first] = true;
            left--;
        }
    }
    if (open.count != 0) {
        lay_out(&open, nodes + 128 * closed++);
    }
    return closed;
}

/* ---- 12.6 ---- */

struct fifo {
    struct node *node;
    uint32_t address, parent;
};

static void put_box(uint8_t *image,
                    const struct fifo *at,
                    struct node *const *child,
                    unsigned count,
                    struct facet_gfx12_box *box)
{
    uint32_t lo[8][3], hi[8][3];

    for (int k = 0; k < 3; k++) {
        float low = at->node->lo[k], high = at->node->hi[k];
        uint32_t bits;

        memcpy(&box->origin[k], &low, 4);
        bits = facet_float_bits(high);
        (void)facet_gfx12_quantize_exponent(box->origin[k], bits, &box->exponent[k]);
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i < count) {
            memcpy(lo[i], child[i]->lo, 12);
            memcpy(hi[i], child[i]->hi, 12);
            box->child[i].cull_flags = child[i]->flags;
            box->child[i].cull_mask = 0xFF;
            facet_gfx12_quantize_child(lo[i], hi[i], box->origin, box->exponent, &box->child[i]);
        } else {
            facet_gfx12_child_unused(&box->child[i]);
        }
    }
    box->parent = at->parent;
    box->child_count_minus_one = (uint8_t)(count - 1);
    box->obb_matrix_index = 0x7F;
    facet_gfx12_box_encode(box, image + 128 * (size_t)at->address);
}

static size_t emit(struct node *root, uint32_t count, uint8_t *image)
{
    struct fifo *queue = calloc(2 * (size_t)count + 1, sizeof *queue);
    size_t head = 0, tail = 1;
    uint32_t next = 1;

    queue[0] = (struct fifo){root, 0, FACET_GFX12_INVALID};
    while (head < tail) {
        struct fifo at = queue[head++];
        struct facet_gfx12_box box = {0};
        struct node *slot[8], *child[8];
        struct place place[8];
        unsigned n = open_slots(at.node, slot), inner = 0, nodes;

        while (inner < n && slot[inner]->left != NULL) {
            queue[tail++] = (struct fifo){slot[inner], next + inner, 16 * at.address | 5};
            child[inner] = slot[inner];
            box.child[inner].node_type = 5;
            box.child[inner].node_size = 1;
            inner++;
        }
        box.internal_child_offset = inner != 0 ? 16 * next : 0;
        next += inner;
        box.primitive_child_offset = n > inner ? 16 * next : 0;
        nodes = pack(slot + inner, n - inner, place, image + 128 * (size_t)next);
        for (unsigned i = 0; i < n - inner; i++) {
            unsigned p = place[i].pair;
            unsigned following = i + 1 < n - inner ? place[i + 1].node : nodes;

            child[inner + i] = slot[inner + place[i].leaf];
            box.child[inner + i].node_type = (uint8_t)(p < 4 ? p : p + 4);
            box.child[inner + i].node_size = (uint8_t)(following - place[i].node);
        }
        next += nodes;
        put_box(image, &at, child, n, &box);
    }
    free(queue);
    return 128 * (size_t)next;
}

uint8_t *reference_build(const struct facet_bvh_triangle *triangles,
                         uint32_t count,
                         uint32_t prim_range,
                         size_t *size)
{
    const struct facet_bvh_triangle **items = malloc((count + 1) * sizeof *items);
    uint8_t *image = calloc(2 * (size_t)count + 2, 128);
    uint32_t kept = 0;
    struct node *root;

    for (uint32_t i = 0; i < count; i++) {
        const struct facet_bvh_triangle *t = &triangles[i];

        if (!isnan(t->vertex[0][0]) && memcmp(t->vertex[0], t->vertex[1], 12) != 0 &&
            memcmp(t->vertex[1], t->vertex[2], 12) != 0 &&
            memcmp(t->vertex[2], t->vertex[0], 12) != 0) {
            items[kept++] = t;
        }
    }
    root = make_node(items, kept, prim_range);
    *size = emit(root, kept, image);
    free_node(root);
    free(items);
    return image;
}
