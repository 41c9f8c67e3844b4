/* See fast.h: rays on their way through a decoded BVH. */
#include "rt/fast.h"

#if defined(__x86_64__)

#include "base/bits.h"
#include "base/float.h"
#include "base/subset.h"
#include "base/ways.h"
#include "rt/fast_tests.h"
#include "rt/layout.h"

enum {
    TRIANGLE = 4 * FACET_RT_TRIANGLE_ELEMENTS,
    MAX_STACK = 256,
};

/* The scene as pointers and counts, and the rays. */
struct plan {
    const struct facet_rt_fast_scene *scene;
    struct facet_rt_decoded *bvh;
    struct facet_rt_heap heap;
    facet_rt_reference root;
    uint64_t limit; /* of the tally */
    const uint8_t *entries;
    struct facet_rt_fast_result *results;
};

/* A ray on its way. */
struct walk {
    struct ray ray;
    float minus[4];          /* -o */
    uint8_t near[4], far[4]; /* where the planes are in a node that face the ray, and the others */
    struct facet_rt_fast_result *found;
    float tmax; /* the closest hit so far */
    bool odd;   /* not to be done here */
    uint64_t tally;
    uint64_t *top, *full;         /* first free entry, and what it must not go beyond */
    facet_rt_reference reference; /* of what comes next */
    /* Bits of the clamped near distance, which is not negative, over a reference. An end at the
     * bottom; four are written where fewer are. */
    uint64_t stack[1 + MAX_STACK + 4];
};

/* false: no node can be read. */
static bool plan_make(const struct facet_rt_fast_scene *scene, struct plan *plan)
{
    if (!facet_rt_fast_heap(scene, &plan->heap)) {
        return false;
    }
    plan->scene = scene;
    plan->bvh = scene->bvh;
    plan->limit = scene->steps * FACET_RT_TALLY_STEP;
    plan->root = facet_rt_decoded_node(plan->bvh, &plan->heap, 0);
    return plan->root != FACET_RT_NOWHERE;
}

/* Takes the hits of up to four triangles into account. false: the ray ends with this one. */
INLINE bool take_hits(const struct facet_rt_fast_scene *scene,
                      struct walk *k,
                      const struct facets *f,
                      const struct facet_rt_leaf *leaf)
{
    struct facet_rt_fast_result *const found = k->found;
    _Alignas(16) float t[4];
    _Alignas(16) uint32_t u[4], v[4];

    _mm_store_ps(t, f->t);
    _mm_store_ps((float *)u, f->u);
    _mm_store_ps((float *)v, f->v);
    for (unsigned hit = f->hit; hit != 0; hit &= hit - 1) {
        const unsigned i = (unsigned)__builtin_ctz(hit);
        const uint32_t triangle = leaf->first + i;

        if (t[i] > k->tmax || (found->hit && t[i] == k->tmax &&
                               (triangle != found->triangle ? triangle > found->triangle
                                                            : leaf->index >= found->leaf))) {
            continue;
        }
        found->hit = true;
        found->front = ((f->positive >> i & 1) != 0) != k->ray.backward;
        found->t = facet_float_bits(t[i]);
        found->u = u[i];
        found->v = v[i];
        found->triangle = triangle;
        found->leaf = leaf->index;
        k->tmax = t[i];
        if (scene->any_hit) {
            found->triangle_tests += i + 1;
            return false;
        }
    }
    return true;
}

/* Up to four triangles; false: the ray ends here. */
INLINE bool visit_four(const struct facet_rt_fast_scene *scene,
                       struct walk *k,
                       const struct facet_rt_leaf *leaf)
{
    const unsigned count = leaf->count < FACET_RT_QUAD ? leaf->count : FACET_RT_QUAD;
    struct facets f;

    test_triangles(&k->ray, &scene->options, k->tmax, leaf, (1u << count) - 1, &f);
    if (RARELY(f.odd)) {
        k->odd = true;
        return false;
    }
    if (f.hit != 0 && !take_hits(scene, k, &f, leaf)) {
        return false;
    }
    k->found->triangle_tests += count;
    k->tally += count * FACET_RT_TALLY_STEP;
    return true;
}

APART bool visit_leaf(const struct facet_rt_fast_scene *scene,
                      struct walk *k,
                      const struct facet_rt_leaf *leaf)
{
    bool go_on = visit_four(scene, k, leaf);

    while (RARELY(leaf->count > FACET_RT_QUAD) && go_on) {
        go_on = visit_four(scene, k, ++leaf);
    }
    return go_on;
}

/* The triangles of a range, NULL when they are not to be read here. */
static const uint8_t *
find(const struct facet_rt_area *area, uint64_t base, uint32_t first, uint32_t count)
{
    uint64_t offset = base - area->base, skip = (uint64_t)first * TRIANGLE;
    uint64_t size = (uint64_t)count * TRIANGLE;

    return offset <= area->size && skip + size <= area->size - offset ? area->bytes + offset + skip
                                                                      : NULL;
}

static const uint8_t *triangles_of(const struct facet_rt_fast_scene *scene,
                                   const struct facet_rt_range *range)
{
    uint64_t base = range->base != 0 ? range->base : scene->triangles;
    const uint8_t *found;

    if (base % 4 != 0 || range->first > UINT32_MAX - range->count) {
        return NULL;
    }
    found = find(&scene->triangle_area, base, range->first, range->count);
    return found != NULL ? found : find(&scene->heap_area, base, range->first, range->count);
}

/* A leaf that is not decoded: any base, any count. */
APART bool visit_range(const struct plan *plan, struct walk *k, uint32_t index)
{
    const uint8_t *const at = plan->heap.bytes + (uint64_t)index * FACET_RT_RANGE_BYTES;
    struct facet_rt_range range;
    const uint8_t *triangles;
    struct facet_rt_leaf leaf;
    bool go_on = true;

    if (index >= plan->heap.ranges) {
        k->odd = true;
        return false;
    }
    range = facet_rt_range_load(at);
    triangles = triangles_of(plan->scene, &range);
    if (range.count != 0 && (triangles == NULL || range.count > plan->scene->steps)) {
        k->odd = true;
        return false;
    }
    leaf.index = index;
    for (uint32_t i = 0; i < range.count && go_on; i += FACET_RT_QUAD) {
        leaf.first = range.first + i;
        leaf.count = range.count - i;
        facet_rt_decode_triangles(triangles + (uint64_t)i * TRIANGLE, leaf.count, &leaf);
        go_on = visit_four(plan->scene, k, &leaf);
    }
    return go_on;
}

INLINE uint64_t entry_of(uint32_t near, facet_rt_reference reference)
{
    return (uint64_t)near << 32 | reference;
}

/* Another thread may decode the child meanwhile; what it was before is as good. */
INLINE facet_rt_reference child_of(const struct facet_rt_node *node, unsigned c)
{
    return atomic_load_explicit(&node->child[c], memory_order_acquire);
}

/* The larger first. */
INLINE void order(uint64_t *a, uint64_t *b)
{
    const uint64_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;

    *a = high;
    *b = low;
}

/* Puts three or more children on the stack, the nearest on top; the lower child of equals above.
 * Three and four, which are most, are sorted without a branch. */
INLINE uint64_t *
push_all(uint64_t *top, unsigned hit, const uint32_t near[8], const struct facet_rt_node *node)
{
    const unsigned count = (unsigned)__builtin_popcount(hit);
    uint64_t *const bottom = top;

    if (count <= 4) {
        uint64_t key[4]; /* near, then child */

        for (unsigned i = 0; i < 3; i++, hit &= hit - 1) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[i] = entry_of(near[c], c);
        }
        key[3] = 0;
        if (count == 4) {
            const unsigned c = (unsigned)__builtin_ctz(hit);

            key[3] = entry_of(near[c], c);
        }
        order(&key[0], &key[1]);
        order(&key[2], &key[3]);
        order(&key[0], &key[2]);
        order(&key[1], &key[3]);
        order(&key[1], &key[2]);
        for (unsigned i = 0; i < 4; i++) {
            top[i] = entry_of((uint32_t)(key[i] >> 32), child_of(node, (uint32_t)key[i]));
        }
        return top + count;
    }
    for (; hit != 0; hit &= hit - 1) {
        const unsigned c = (unsigned)__builtin_ctz(hit);
        uint64_t *at = top++;

        for (; at > bottom && (uint32_t)(at[-1] >> 32) <= near[c]; at--) {
            at[0] = at[-1];
        }
        *at = entry_of(near[c], child_of(node, c));
    }
    return top;
}

/* Asks for what a reference stands for, which will be read soon; both kinds begin with it. */
INLINE void ask(const struct facet_rt_decoded *bvh, uint64_t reference)
{
    const uintptr_t node = (uintptr_t)bvh->node + reference * 32;
    const uintptr_t leaf = (uintptr_t)bvh->leaf + (reference >> 2) * sizeof bvh->leaf[0];
    /* No branch: it would be unpredictable. */
    const char *const at = (const char *)(node ^ ((node ^ leaf) & (0 - (reference & 1))));

    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
    __builtin_prefetch(at + 128);
    __builtin_prefetch(at + 192);
}

/* From a node on through all nodes that follow, up to something else: a leaf, something that is not
 * decoded, or FACET_RT_NOWHERE for the end. */
INLINE facet_rt_reference descend(const struct plan *plan,
                                  struct walk *k,
                                  facet_rt_reference reference,
                                  const unsigned parallel)
{
    const char *const nodes = (const char *)plan->bvh->node;
    const uint64_t limit = plan->limit;
    uint64_t *const full = k->full;
    const __m256 tmax = _mm256_set1_ps(k->tmax);
    const uint32_t tmax_bits = facet_float_bits(k->tmax);
    uint64_t *top = k->top, tally = k->tally;
    _Alignas(32) uint32_t near[8];
    struct slabs slabs;

    slabs_make(&k->ray, &slabs);
    do {
        unsigned first;

        const struct facet_rt_node *const node =
            (const struct facet_rt_node *)(nodes + (uint64_t)reference * 32);
        __m256 nears;
        const unsigned hit = test_children(&slabs, node, tmax, parallel, &nears);
        const unsigned rest = hit & (hit - 1);

        tally += node->tally;
        if (RARELY(tally >= limit)) {
            k->odd = true;
            return FACET_RT_NOWHERE;
        }
        if (hit == 0) {
            do {
                top--;
            } while ((uint32_t)(*top >> 32) > tmax_bits);
            reference = (facet_rt_reference)*top;
            continue;
        }
        first = (unsigned)__builtin_ctz(hit);

        reference = child_of(node, first);
        if (rest == 0) {
            continue;
        }
        _mm256_store_si256((__m256i *)near, _mm256_castps_si256(nears));
        if (RARELY(top + __builtin_popcount(hit) > full)) {
            k->odd = true;
            return FACET_RT_NOWHERE;
        }
        if ((rest & (rest - 1)) == 0) {
            const unsigned second = (unsigned)__builtin_ctz(rest);
            const uint64_t a = entry_of(near[first], reference);
            const uint64_t b = entry_of(near[second], child_of(node, second));
            /* No branch: it would be unpredictable. */
            const uint64_t swap = (a ^ b) & (0 - (uint64_t)(near[second] < near[first]));

            *top++ = b ^ swap;
            ask(plan->bvh, (facet_rt_reference)(b ^ swap));
            reference = (facet_rt_reference)(a ^ swap);
        } else {
            top = push_all(top, hit, near, node) - 1;
            reference = (facet_rt_reference)*top;
            ask(plan->bvh, (facet_rt_reference)top[-1]);
            ask(plan->bvh, (facet_rt_reference)top[-2]);
        }
    } while ((reference & 1) == 0);
    k->top = top;
    k->tally = tally;
    return reference;
}

APART facet_rt_reference descend_plain(const struct plan *plan,
                                       struct walk *k,
                                       facet_rt_reference reference)
{
    return descend(plan, k, reference, 0);
}

APART facet_rt_reference descend_parallel(const struct plan *plan,
                                          struct walk *k,
                                          facet_rt_reference reference)
{
    return descend(plan, k, reference, k->ray.parallel);
}

/* What is not decoded. Afterwards *reference is that of a node, or 1 for nothing more to do. false:
 * the ray ends here. */
APART bool visit_new(const struct plan *plan, struct walk *k, facet_rt_reference *reference)
{
    const struct facet_rt_node *const parent = &plan->bvh->node[*reference >> 5];
    const unsigned c = *reference >> 2 & 7;

    *reference = facet_rt_decoded_child(plan->bvh, &plan->heap, *reference);
    if ((*reference & 1) == 0) {
        return true;
    }
    if (*reference != FACET_RT_NOWHERE) {
        return visit_leaf(plan->scene, k, &plan->bvh->leaf[*reference >> 2]);
    }
    if ((parent->leaves >> c & 1) == 0) {
        k->odd = true;
        return false;
    }
    *reference = 1;
    return visit_range(plan, k, parent->index[c]);
}

/* From the root to the end. */
INLINE void travel(const struct plan *plan, struct walk *k)
{
    facet_rt_reference reference = plan->root;

    for (;;) {
        reference = RARELY(k->ray.parallel != 0) ? descend_parallel(plan, k, reference)
                                                 : descend_plain(plan, k, reference);
        while ((reference & 1) != 0) {
            bool go_on;

            if (reference == FACET_RT_NOWHERE) {
                return;
            }
            if (RARELY((reference & 2) != 0)) {
                go_on = visit_new(plan, k, &reference);
            } else {
                go_on = visit_leaf(plan->scene, k, &plan->bvh->leaf[reference >> 2]);
            }
            if (!go_on) {
                return;
            }
            if (RARELY(k->tally >= plan->limit)) { /* also, so that the tally never overflows */
                k->odd = true;
                return;
            }
            if ((reference & 1) != 0) {
                do {
                    k->top--;
                } while ((uint32_t)(*k->top >> 32) > facet_float_bits(k->tmax));
                reference = (facet_rt_reference)*k->top;
            }
        }
    }
}

#include "rt/fast_turns.inc"

/* The host's flags are common to all rays; when one was raised, halves find out whose it was. */
static void trace_and_tell(const struct plan *plan, size_t first, size_t count)
{
    clear_exceptions();
    trace(plan, first, count);
    if (some_exception()) {
        if (count == 1) {
            plan->results[first].done = false;
        } else {
            trace_and_tell(plan, first, count / 2);
            trace_and_tell(plan, first + count / 2, count - count / 2);
        }
    }
}

bool facet_rt_fast_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                        const uint8_t *entries,
                        size_t count,
                        struct facet_rt_fast_result *results)
{
    struct plan plan = {.entries = entries, .results = results};

    if (count == 0 || !plan_make(scene, &plan)) {
        memset(results, 0, count * sizeof *results);
        return;
    }
    FACET_FAST_WAY(RT_DECODED);
    trace_and_tell(&plan, 0, count);
}

#else /* nothing is done here */

#include <string.h>

bool facet_rt_fast_available(void)
{
    return false;
}

void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                        const uint8_t *entries,
                        size_t count,
                        struct facet_rt_fast_result *results)
{
    (void)scene;
    (void)entries;
    memset(results, 0, count * sizeof *results);
}

#endif
