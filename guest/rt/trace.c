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
 * That is the careful walk. Few rays fill the stack, so a ray first goes without notes (`hurry`),
 * and takes the careful way from the root, with the nearest hit so far, when the stack is full or
 * the machine lacks something.
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

struct box_hits {
    uint64_t hits;                       /* bit c: child first + c is hit */
    uint32_t near0, near1, near2, near3; /* as bits; by name, so that they can stay in registers */
};

/* One ray against four children of the node. */
static inline struct box_hits test_boxes(uint64_t node, const struct xphmg_ray_record_32 *ray)
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
    return (struct box_hits){
        h0 + 2 * (h1 + 2 * (h2 + 2 * h3)), (uint32_t)n0, (uint32_t)n1, (uint32_t)n2, (uint32_t)n3};
}

static inline void get_distances(const struct box_hits *found, float tnear[LANES])
{
    const uint32_t bits[LANES] = {found->near0, found->near1, found->near2, found->near3};

    memcpy(tnear, bits, sizeof bits);
}

struct triangle_hits {
    uint64_t hit; /* bit k; without any the rest is not written */
    float t[LANES], u[LANES], v[LANES];
};

/* One ray against four triangles of the range. */
static inline void
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
    out->hit = h0 + 2 * (h1 + 2 * (h2 + 2 * h3));
    if (out->hit != 0) {
        const uint32_t t[LANES] = {(uint32_t)t0, (uint32_t)t1, (uint32_t)t2, (uint32_t)t3};
        const uint32_t u[LANES] = {(uint32_t)u0, (uint32_t)u1, (uint32_t)u2, (uint32_t)u3};
        const uint32_t v[LANES] = {(uint32_t)v0, (uint32_t)v1, (uint32_t)v2, (uint32_t)v3};

        memcpy(out->t, t, sizeof t);
        memcpy(out->u, u, sizeof u);
        memcpy(out->v, v, sizeof v);
    }
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

static struct box_hits software_boxes(const struct xphmg_bvh_node4_32 *tile,
                                      const struct xphmg_ray_record_32 *ray)
{
    struct box_hits found = {0};
    uint32_t *const near[LANES] = {&found.near0, &found.near1, &found.near2, &found.near3};
    float tnear, tfar;

    for (unsigned c = 0; c < LANES; c++) {
        uint32_t type = type_of(tile->child_flags, c);

        if ((type == XPHMG_BVH_NODE4_TYPE0_NODE || type == XPHMG_BVH_NODE4_TYPE0_LEAF) &&
            rt_software_box(&tile->child[c], ray, &tnear, &tfar)) {
            found.hits |= 1u << c;
            memcpy(near[c], &tnear, sizeof tnear);
        }
    }
    return found;
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

static inline struct child child_of(const struct xphmg_bvh_node4_32 *tile, unsigned c, float tnear)
{
    const uint32_t *words = &tile->child0_idx; /* the number of child 3 lies in the flags */
    uint32_t index = words[c];

    _Static_assert(offsetof(struct xphmg_bvh_node4_32, child_flags) ==
                       offsetof(struct xphmg_bvh_node4_32, child0_idx) + 3 * sizeof *words,
                   "one after the other");
    return (struct child){c == 3 ? index >> XPHMG_BVH_NODE4_CHILD3_IDX_LSB : index,
                          tnear,
                          type_of(tile->child_flags, c) == XPHMG_BVH_NODE4_TYPE0_LEAF};
}

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
        /* the second half of a BVHNode8 is its children 4 to 7, or a BVHNode4 by itself */
        uint64_t rtnode = (uint64_t)(whole ? node : node + half) << XPHMG_RTNODE_NODE_LSB |
                          XPHMG_RTNODE_IDX | (whole ? XPHMG_RTNODE_N8 | half * TILE_CHILDREN : 0);
        struct box_hits found =
            w->bvh->boxes ? test_boxes(rtnode, &w->ray) : software_boxes(tile, &w->ray);
        float tnear[LANES];

        get_distances(&found, tnear);
        for (uint64_t hits = found.hits; hits != 0; hits &= hits - 1) {
            unsigned c = (unsigned)__builtin_ctzll(hits);

            insert(list, count++, child_of(tile, c, tnear[c]));
        }
    }
    return count;
}

/* ---- leaves ---- */

static void take(struct walk *w, const struct triangle_hits *hits, uint32_t triangle, uint32_t leaf)
{
    for (uint64_t left = hits->hit; left != 0; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        float t = hits->t[k];

        if (!w->found || t < w->best.t ||
            (t == w->best.t && (triangle + k < w->best.triangle ||
                                (triangle + k == w->best.triangle && leaf < w->best.leaf)))) {
            w->found = true;
            w->best = (struct rt_hit){t, hits->u[k], hits->v[k], triangle + k, leaf, false};
            w->ray.tmax = t;
        }
    }
}

/* Through a TriRange of our own that steps over the leaf's: RTTRI.FIRST would reach eight triangles
 * only, and RT.TRI does not know the buffer that base 0 stands for in images. */
static inline __attribute__((always_inline)) void
visit_leaf(struct walk *w, uint32_t leaf, bool any, bool instruction)
{
    struct xphmg_tri_range rest = ((const struct xphmg_tri_range *)w->bvh->heap)[leaf];
    struct triangle_hits hits;

    rest.base = rest.base != 0 ? rest.base : (uint64_t)w->bvh->triangles;
    while (rest.count != 0) {
        if (instruction) {
            __asm__ volatile("" ::"r"(&rest) : "memory");
            test_triangles((uint64_t)&rest, &w->ray, &hits);
        } else {
            software_triangles(&rest, &w->ray, &hits);
        }
        if (hits.hit != 0) {
            take(w, &hits, rest.first, leaf);
        }
        if (rest.count <= LANES || (any && w->found)) {
            break;
        }
        rest.first += LANES;
        rest.count -= LANES;
    }
}

/* ---- the walk without notes ---- */

/* What waits on its stack: numbers of their natural size, for the fewest instructions. */
struct waiting {
    uint32_t index;
    float tnear;
    uint64_t place; /* twice the level, and 1 for a leaf */
};

static inline struct waiting
waiting_of(const struct xphmg_bvh_node4_32 *tile, uint64_t c, float tnear, uint64_t level)
{
    struct child child = child_of(tile, (unsigned)c, tnear);

    return (struct waiting){child.index, tnear, 2 * level + child.leaf};
}

/* Of several hits, puts all but the nearest on the stack, the farthest first, and returns the
 * nearest. */
static inline uint64_t keep_others(struct waiting **top,
                                   const struct xphmg_bvh_node4_32 *tile,
                                   const struct box_hits *found,
                                   uint64_t level)
{
    uint64_t hits = found->hits;
    float tnear[LANES];

    get_distances(found, tnear);
    do {
        uint64_t last = (uint64_t)__builtin_ctzll(hits);

        for (uint64_t rest = hits & (hits - 1); rest != 0; rest &= rest - 1) {
            uint64_t c = (uint64_t)__builtin_ctzll(rest);

            last = tnear[c] >= tnear[last] ? c : last;
        }
        *(*top)++ = waiting_of(tile, last, tnear[last], level);
        hits &= ~(UINT64_C(1) << last);
    } while ((hits & (hits - 1)) != 0);
    return hits;
}

/* false: the stack is full. Only what comes from the stack counts as a step: below it there is an
 * end after RT_LEVELS nodes. */
static inline __attribute__((always_inline)) bool
hurry(struct walk *w, bool any, enum rt_status *status)
{
    const struct xphmg_bvh_node4_32 *heap = (const struct xphmg_bvh_node4_32 *)w->bvh->heap;
    struct waiting stack[RT_STACK], *top = stack, at = {0};

    for (uint32_t steps = 0; steps < RT_STEPS; steps++) {
        while ((at.place & 1) == 0) {
            const struct xphmg_bvh_node4_32 *tile = heap + at.index;
            struct box_hits found =
                test_boxes((uint64_t)at.index << XPHMG_RTNODE_NODE_LSB | XPHMG_RTNODE_IDX, &w->ray);
            uint64_t hits = found.hits, level = at.place / 2 + 1;

            if (level == RT_LEVELS) {
                *status = RT_BAD_TREE;
                return true;
            }
            if (hits == 0) {
                break;
            }
            if ((hits & (hits - 1)) != 0) {
                if (top + LANES > stack + RT_STACK) {
                    return false;
                }
                hits = keep_others(&top, tile, &found, level);
            }
            at = waiting_of(tile, (uint64_t)__builtin_ctzll(hits), 0, level);
        }
        if ((at.place & 1) != 0) {
            visit_leaf(w, at.index, any, true);
            if (any && w->found) {
                *status = RT_HIT;
                return true;
            }
        }
        do {
            if (top == stack) {
                *status = w->found ? RT_HIT : RT_MISS;
                return true;
            }
            at = *--top;
        } while (at.tnear > w->ray.tmax);
    }
    *status = RT_BAD_TREE;
    return true;
}

/* ---- the careful walk ---- */

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

static __attribute__((noinline)) enum rt_status walk_with_care(struct walk *w)
{
    struct entry at = root;
    struct child list[8];

    w->top = w->held = w->known = 0;
    w->trail[0] = 0;
    for (uint32_t steps = 0; steps < RT_STEPS; steps++) {
        struct entry next;
        bool more = false;

        if (at.child.leaf) {
            visit_leaf(w, at.child.index, w->any, w->bvh->leaves);
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
static inline __attribute__((always_inline)) enum rt_status
walk(struct walk *w, const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, bool any)
{
    enum rt_status status;

    w->bvh = bvh;
    w->ray = *ray;
    w->any = any;
    w->found = false;
    if (bvh->boxes && bvh->leaves && bvh->children == TILE_CHILDREN && hurry(w, any, &status)) {
        return status;
    }
    return walk_with_care(w);
}

enum rt_status
rt_closest(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray, struct rt_hit *hit)
{
    struct walk w;
    enum rt_status status = walk(&w, bvh, ray, false);

    if (status == RT_HIT) {
        w.best.front = is_front(bvh, &w.ray, w.best.triangle);
        *hit = w.best;
    }
    return status;
}

enum rt_status rt_any(const struct rt_bvh *bvh, const struct xphmg_ray_record_32 *ray)
{
    struct walk w;

    return walk(&w, bvh, ray, true);
}

struct rt_counts rt_counts(void)
{
    bool present = (xphmg_csr_read(XPHMG_CSR_CAP_FEAT0) & XPHMG_CAP_FEAT0_RT_PRESENT) != 0;
    uint64_t stat = present ? xphmg_csr_read(XPHMG_CSR_RTSTAT) : 0;

    return (struct rt_counts){(uint32_t)XPHMG_FIELD_OF(XPHMG_RTSTAT_BBOX_ISSUED, stat),
                              (uint32_t)XPHMG_FIELD_OF(XPHMG_RTSTAT_TRI_ISSUED, stat)};
}
