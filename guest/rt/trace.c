/* Traversal with a short stack and a restart trail.
 *
 * Nearest child first, as the job engine does it (rt-semantics.md 11.4), with the same answer to
 * the bit. The stack has RT_STACK entries of 12 bytes instead of the 256 that the worst tree needs:
 * when it is full its oldest entry is dropped. `trail` notes for every level of the current path
 * which of the children, in order of distance, is under way; when the stack runs empty and some
 * level has children left, the walk starts at the root again and follows the trail ("Wide BVH
 * Traversal with a Short Stack", Vaidyanathan et al. 2019). A closer hit shortens the list of a
 * node at its far end only, so the numbers of the trail stay right.
 *
 * Each node is one RT.BBOX of four lanes (two for eight children), each leaf one RT.TRI per four
 * triangles. Prefix and instruction must not be torn apart, and their results lie in registers that
 * the spec fixes (x12 on), hence the asm statements. Tests that the machine lacks are those of
 * software.h. */
#include "rt.h"
#include "software.h"

#include <string.h>
#include <xphmg.h>

enum { TILE_CHILDREN = 4 };
enum { LANES = 4, T_CLAMP = 1, CULL_BACK = 1 };

struct child {
    uint32_t index; /* of the node or leaf */
    float tnear;
    bool leaf;
};

/* What a ray still has to visit, and where in the tree that is. */
struct entry {
    struct child child;
    uint16_t level;
    bool last; /* of the children of its node */
};

struct walk {
    const struct rt_bvh *bvh;
    struct xphmg_ray_record_32 ray; /* tmax shrinks */
    bool any, found;
    struct rt_hit best;
    struct entry stack[RT_STACK]; /* a ring: the oldest entry gives way */
    uint32_t top, held;
    uint8_t trail[RT_LEVELS]; /* which child of the node at this level, by distance, is under way */
    bool more[RT_LEVELS];     /* children after that one */
    unsigned known;           /* on the way down again: the trail holds up to this level */
};

static const struct entry root = {.child.tnear = -__builtin_inff(), .last = true};

/* ---- the two instructions ---- */

/* One ray against four children of the node; bit c of the result: child first + c is hit. */
static unsigned test_boxes(uint64_t node, const struct xphmg_ray_record_32 *ray, float tnear[LANES])
{
    register uint64_t h0 __asm__("x12"), h1 __asm__("x13"), h2 __asm__("x14"), h3 __asm__("x15");
    register uint64_t n0 __asm__("x16"), n1 __asm__("x17"), n2 __asm__("x18"), n3 __asm__("x19");
    register uint64_t f0 __asm__("x20"), f1 __asm__("x21"), f2 __asm__("x22"), f3 __asm__("x23");

    __asm__ volatile(
        "csrw %[rtnode], %[node]\n"
        "svp.one.vlstep 4, 0, 1\n"
        "rt.bbox x12, %[ray], %[t_clamp]\n"
        : "=r"(h0),
          "=r"(h1),
          "=r"(h2),
          "=r"(h3),
          "=r"(n0),
          "=r"(n1),
          "=r"(n2),
          "=r"(n3),
          "=r"(f0),
          "=r"(f1),
          "=r"(f2),
          "=r"(f3)
        : [rtnode] "i"(XPHMG_CSR_RTNODE), [t_clamp] "i"(T_CLAMP), [node] "r"(node), [ray] "r"(ray)
        : "memory");
    /* Before any call: the compiler keeps such variables only from one asm to the next. */
    uint32_t near_bits[LANES] = {(uint32_t)n0, (uint32_t)n1, (uint32_t)n2, (uint32_t)n3};
    unsigned hits = (unsigned)(h0 | h1 << 1 | h2 << 2 | h3 << 3);

    memcpy(tnear, near_bits, sizeof near_bits);
    return hits;
}

struct triangle_hits {
    uint32_t hit; /* bit k */
    float t[LANES], u[LANES], v[LANES];
};

/* One ray against four triangles of the range. */
static void
test_triangles(uint64_t range, const struct xphmg_ray_record_32 *ray, struct triangle_hits *out)
{
    register uint64_t h0 __asm__("x12"), h1 __asm__("x13"), h2 __asm__("x14"), h3 __asm__("x15");
    register uint64_t t0 __asm__("x16"), t1 __asm__("x17"), t2 __asm__("x18"), t3 __asm__("x19");
    register uint64_t u0 __asm__("x20"), u1 __asm__("x21"), u2 __asm__("x22"), u3 __asm__("x23");
    register uint64_t v0 __asm__("x24"), v1 __asm__("x25"), v2 __asm__("x26"), v3 __asm__("x27");

    __asm__ volatile("csrw %[rttri], %[range]\n"
                     "svp.one.vlstep 4, 0, 1\n"
                     "rt.tri x12, %[ray]\n"
                     : "=r"(h0),
                       "=r"(h1),
                       "=r"(h2),
                       "=r"(h3),
                       "=r"(t0),
                       "=r"(t1),
                       "=r"(t2),
                       "=r"(t3),
                       "=r"(u0),
                       "=r"(u1),
                       "=r"(u2),
                       "=r"(u3),
                       "=r"(v0),
                       "=r"(v1),
                       "=r"(v2),
                       "=r"(v3)
                     : [rttri] "i"(XPHMG_CSR_RTTRI), [range] "r"(range), [ray] "r"(ray)
                     : "memory");
    struct {
        uint32_t hit, t[LANES], u[LANES], v[LANES];
    } words = {(uint32_t)(h0 | h1 << 1 | h2 << 2 | h3 << 3),
               {(uint32_t)t0, (uint32_t)t1, (uint32_t)t2, (uint32_t)t3},
               {(uint32_t)u0, (uint32_t)u1, (uint32_t)u2, (uint32_t)u3},
               {(uint32_t)v0, (uint32_t)v1, (uint32_t)v2, (uint32_t)v3}};

    _Static_assert(sizeof words == sizeof *out, "the same, as bits");
    memcpy(out, &words, sizeof words);
}

/* Whether the triangle shows the ray its front: RT.TRI does not say, but with CULL_BACK it hits
 * fronts alone, and the hit itself is in the ray's closed interval. */
static bool
is_front(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, uint32_t triangle)
{
    struct xphmg_tri_range one = {triangle, 1, (uint64_t)bvh->triangles};
    struct xphmg_slots none = {{0}};
    struct rt_software_hit hit = {0};

    if (!bvh->leaves) {
        return rt_software_triangle(bvh->triangles + (size_t)9 * triangle, ray, &hit) && hit.front;
    }
    xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&one);
    __asm__ volatile("" ::"r"(&one), "r"(ray) : "memory");
    return xphmg_rt_tri(none, ray, CULL_BACK).slot[0] != 0;
}

/* ---- the same without them ---- */

static uint32_t type_of(uint32_t flags, unsigned child)
{
    return flags >> XPHMG_BVH_NODE4_TYPE1_LSB * child & XPHMG_BVH_NODE4_TYPE0;
}

static unsigned software_boxes(const struct xphmg_bvh_node4_32 *tile,
                               const struct xphmg_ray_record_32 *ray,
                               float tnear[LANES])
{
    unsigned hits = 0;
    float tfar;

    for (unsigned c = 0; c < LANES; c++) {
        uint32_t type = type_of(tile->child_flags, c);

        if ((type == XPHMG_BVH_NODE4_TYPE0_NODE || type == XPHMG_BVH_NODE4_TYPE0_LEAF) &&
            rt_software_box(&tile->child[c], ray, &tnear[c], &tfar)) {
            hits |= 1u << c;
        }
    }
    return hits;
}

static void software_triangles(const struct xphmg_tri_range *range,
                               const struct xphmg_ray_record_32 *ray,
                               struct triangle_hits *out)
{
    const float *corners = (const float *)range->base + (size_t)9 * range->first;

    out->hit = 0;
    for (unsigned k = 0; k < LANES && k < range->count; k++) {
        struct rt_software_hit hit;

        if (rt_software_triangle(corners + 9 * k, ray, &hit)) {
            out->hit |= 1u << k;
            out->t[k] = hit.t;
            out->u[k] = hit.u;
            out->v[k] = hit.v;
        }
    }
}

/* ---- nodes ---- */

static void insert(struct child list[8], unsigned count, struct child child)
{
    unsigned at = count;

    for (; at > 0 && list[at - 1].tnear > child.tnear; at--) {
        list[at] = list[at - 1];
    }
    list[at] = child;
}

/* The children that the ray meets, by distance and then by number. */
static unsigned visit_node(const struct walk *w, uint32_t node, struct child list[8])
{
    bool whole = w->bvh->node8;
    unsigned count = 0;

    for (unsigned half = 0; half < w->bvh->children / TILE_CHILDREN; half++) {
        const struct xphmg_bvh_node4_32 *tile =
            (const struct xphmg_bvh_node4_32 *)w->bvh->heap + node + half;
        uint32_t flags = tile->child_flags;
        const uint32_t indices[4] = {tile->child0_idx,
                                     tile->child1_idx,
                                     tile->child2_idx,
                                     flags >> XPHMG_BVH_NODE4_CHILD3_IDX_LSB};
        /* the second half of a BVHNode8 is its children 4 to 7, or a BVHNode4 by itself */
        uint64_t rtnode = (uint64_t)(whole ? node : node + half) << XPHMG_RTNODE_NODE_LSB |
                          XPHMG_RTNODE_IDX | (whole ? XPHMG_RTNODE_N8 | half * TILE_CHILDREN : 0);
        float tnear[LANES];
        unsigned hits = w->bvh->boxes ? test_boxes(rtnode, &w->ray, tnear)
                                      : software_boxes(tile, &w->ray, tnear);

        for (unsigned c = 0; hits != 0; c++, hits >>= 1) {
            if ((hits & 1) != 0) {
                struct child child = {
                    indices[c], tnear[c], type_of(flags, c) == XPHMG_BVH_NODE4_TYPE0_LEAF};

                insert(list, count++, child);
            }
        }
    }
    return count;
}

/* ---- leaves ---- */

static void take(struct walk *w, const struct triangle_hits *hits, uint32_t triangle, uint32_t leaf)
{
    for (unsigned k = 0; k < LANES; k++) {
        float t = hits->t[k];

        if ((hits->hit >> k & 1) != 0 &&
            (!w->found || t < w->best.t ||
             (t == w->best.t && (triangle + k < w->best.triangle ||
                                 (triangle + k == w->best.triangle && leaf < w->best.leaf))))) {
            w->found = true;
            w->best = (struct rt_hit){t, hits->u[k], hits->v[k], triangle + k, leaf, false};
            w->ray.tmax = t;
        }
    }
}

/* Through a TriRange of our own that steps over the leaf's: RTTRI.FIRST would reach eight triangles
 * only, and RT.TRI does not know the buffer that base 0 stands for in images. */
static void visit_leaf(struct walk *w, uint32_t leaf)
{
    struct triangle_hits hits;
    struct xphmg_tri_range rest;

    memcpy(&rest, w->bvh->heap + (size_t)leaf * sizeof rest, sizeof rest);
    rest.base = rest.base != 0 ? rest.base : (uint64_t)w->bvh->triangles;
    while (rest.count != 0 && !(w->any && w->found)) {
        uint32_t tested = rest.count < LANES ? rest.count : LANES;

        if (w->bvh->leaves) {
            __asm__ volatile("" ::"r"(&rest) : "memory");
            test_triangles((uint64_t)&rest, &w->ray, &hits);
        } else {
            software_triangles(&rest, &w->ray, &hits);
        }
        take(w, &hits, rest.first, leaf);
        rest.first += tested;
        rest.count -= tested;
    }
}

/* ---- the walk ---- */

static void push(struct walk *w, struct entry entry)
{
    w->stack[w->top] = entry;
    w->top = (w->top + 1) % RT_STACK;
    w->held += w->held < RT_STACK;
}

static struct entry pop(struct walk *w)
{
    w->held--;
    w->top = (w->top + RT_STACK - 1) % RT_STACK;
    return w->stack[w->top];
}

/* After the children of the node at `level` are known: goes to the one that the trail names, and
 * keeps those after it for later. false: nothing is left here. */
static bool descend(
    struct walk *w, unsigned level, const struct child list[8], unsigned count, struct entry *next)
{
    unsigned at = w->trail[level];

    if (at >= count) {
        return false;
    }
    for (unsigned i = count - 1; i > at; i--) {
        push(w, (struct entry){list[i], (uint16_t)(level + 1), i == count - 1});
    }
    w->more[level] = at + 1 < count;
    *next = (struct entry){list[at], (uint16_t)(level + 1), !w->more[level]};
    if (level >= w->known) {
        w->trail[level + 1] = 0;
    }
    return true;
}

/* The stack held the next sibling at `level`, but a hit lies before it and so before all siblings
 * after it. */
static void give_up(struct walk *w, unsigned level)
{
    while (w->more[level] && w->held > 0) {
        w->more[level] = !pop(w).last;
    }
    w->more[level] = false;
}

/* What comes after everything from `level` down is done: the next sibling on the way up, from the
 * stack if it is still there, else found again from the root. false: the ray is done. */
static bool advance(struct walk *w, unsigned level, struct entry *next)
{
    while (level > 0) {
        level--;
        if (!w->more[level]) {
            continue;
        }
        w->trail[level]++;
        if (w->held == 0) {
            w->known = level;
            *next = root;
            return true;
        }
        *next = pop(w);
        w->known = 0;
        w->more[level] = !next->last;
        w->trail[level + 1] = 0;
        if (next->child.tnear <= w->ray.tmax) {
            return true;
        }
        give_up(w, level);
    }
    return false;
}

static enum rt_status walk(struct walk *w)
{
    struct entry at = root;
    struct child list[8];

    for (uint32_t steps = 0; steps < RT_STEPS; steps++) {
        struct entry next;
        bool more = false;

        if (at.child.leaf) {
            visit_leaf(w, at.child.index);
            if (w->any && w->found) {
                return RT_HIT;
            }
        } else if (at.level == RT_LEVELS - 1) {
            return RT_BAD_TREE;
        } else {
            more = descend(w, at.level, list, visit_node(w, at.child.index, list), &next);
        }
        if (!more && !advance(w, at.level, &next)) {
            return w->found ? RT_HIT : RT_MISS;
        }
        at = next;
    }
    return RT_BAD_TREE;
}

/* ---- the doors ---- */

/* Stack and trail need no clearing: what is read was written before. */
static void
start(struct walk *w, const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, bool any)
{
    w->bvh = bvh;
    w->ray = *ray;
    w->any = any;
    w->found = false;
    w->top = w->held = w->known = 0;
    w->trail[0] = 0;
}

enum rt_status
rt_closest(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, struct rt_hit *hit)
{
    struct walk w;
    enum rt_status status;

    start(&w, bvh, ray, false);
    status = walk(&w);

    if (status == RT_HIT) {
        w.best.front = is_front(bvh, &w.ray, w.best.triangle);
        *hit = w.best;
    }
    return status;
}

enum rt_status rt_any(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray)
{
    struct walk w;

    start(&w, bvh, ray, true);
    return walk(&w);
}

struct rt_counts rt_counts(void)
{
    bool present = (xphmg_csr_read(XPHMG_CSR_CAP_FEAT0) & XPHMG_CAP_FEAT0_RT_PRESENT) != 0;
    uint64_t stat = present ? xphmg_csr_read(XPHMG_CSR_RTSTAT) : 0;

    return (struct rt_counts){(uint32_t)XPHMG_FIELD_OF(XPHMG_RTSTAT_BBOX_ISSUED, stat),
                              (uint32_t)XPHMG_FIELD_OF(XPHMG_RTSTAT_TRI_ISSUED, stat)};
}
