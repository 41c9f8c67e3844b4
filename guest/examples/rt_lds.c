/* RT, XMEM: nodes, stack and queues of a traversal in local memory.
 *
 * The node tiles of a small BVH are copied into LDS by XLDS.CPY, RTBASE points there, and a plain
 * traversal keeps its stack of 12-byte entries (rt-semantics.md 5.4) in LDS as well. Then the same
 * rays go through the job engine with the ray queue and the hit queue in LDS. Memory is memory: all
 * ways give the hits of the library over ordinary memory. */
#include "ball.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { RAYS = 60, STACK = 64 };

static float triangles[BALL_TRIANGLES][9];
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_bvh bvh;

/* In LDS. Bit 31 of an entry's node_idx marks a leaf. */
static struct xphmg_stack_entry *stack;

static float as_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

/* Puts the children that the ray meets on top; returns the new top. */
static struct xphmg_stack_entry *push_children(const struct rt_bvh *at,
                                               const struct xphmg_ray_record_32 *ray,
                                               uint32_t node,
                                               struct xphmg_stack_entry *top)
{
    const struct xphmg_bvh_node4_32 *tile = (const struct xphmg_bvh_node4_32 *)at->heap + node;
    const uint32_t indices[4] = {tile->child0_idx,
                                 tile->child1_idx,
                                 tile->child2_idx,
                                 tile->child_flags >> XPHMG_BVH_NODE4_CHILD3_IDX_LSB};

    for (unsigned c = 0; c < 4; c++) {
        bool leaf = (tile->child_flags >> XPHMG_BVH_NODE4_TYPE1_LSB * c & XPHMG_BVH_NODE4_TYPE0) ==
                    XPHMG_BVH_NODE4_TYPE0_LEAF;
        struct xphmg_slots out = {{0}};

        xphmg_csr_write(XPHMG_CSR_RTNODE,
                        (uint64_t)node << XPHMG_RTNODE_NODE_LSB | XPHMG_RTNODE_IDX | c);
        out = xphmg_rt_bbox(out, ray, 0);
        if (out.slot[0] != 0) {
            *top++ = (struct xphmg_stack_entry){indices[c] | (leaf ? UINT32_C(1) << 31 : 0),
                                                as_float(out.slot[1]),
                                                as_float(out.slot[2])};
        }
    }
    return top;
}

/* The nearest hit: every node that the ray meets is visited, the stack order does not matter. */
static bool trace(const struct rt_bvh *at, struct xphmg_ray_record_32 ray, struct rt_hit *hit)
{
    struct xphmg_stack_entry *top = stack;
    bool found = false;

    *top++ = (struct xphmg_stack_entry){0, 0, INFINITY};
    while (top != stack) {
        uint32_t index = (--top)->node_idx;
        struct xphmg_tri_range range;

        __asm__ volatile("" ::"r"(&ray) : "memory");
        if (index >> 31 == 0) {
            top = push_children(at, &ray, index, top);
            CHECK(top - stack <= STACK - 4);
            continue;
        }
        memcpy(&range, at->heap + (size_t)(index & 0x7FFFFFFF) * sizeof range, sizeof range);
        range.base = (uint64_t)at->triangles;
        for (; range.count > 0; range.first++, range.count--) {
            struct xphmg_slots out = {{0}};

            __asm__ volatile("" ::"r"(&range), "r"(&ray) : "memory");
            xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&range);
            out = xphmg_rt_tri(out, &ray, 0);
            if (out.slot[0] != 0 &&
                (!found || as_float(out.slot[1]) < hit->t || range.first < hit->triangle)) {
                found = true;
                hit->t = ray.tmax = as_float(out.slot[1]);
                hit->u = as_float(out.slot[2]);
                hit->v = as_float(out.slot[3]);
                hit->triangle = range.first;
            }
        }
    }
    return found;
}

/* Node tiles and leaf ranges lie before the triangles. */
static size_t heap_bytes(const struct rt_bvh *at)
{
    return (size_t)((const uint8_t *)at->triangles - at->heap);
}

int main(void)
{
    static bool found[RAYS];
    static struct rt_hit hits[RAYS];
    struct rt_bvh local;
    struct rt_batch batch;
    uint64_t memory, lds = xphmg_xi_read(XPHMG_XI_XLDSBASE);
    unsigned count = 0;
    size_t size;

    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    ball_rays(rays, RAYS);
    size = heap_bytes(&bvh);
    memory = xphmg_xlds_alloc(size);
    stack = (struct xphmg_stack_entry *)xphmg_xlds_alloc(STACK * sizeof *stack);
    printf("%lu bytes of nodes and %d stack entries in LDS\n", (unsigned long)size, STACK);
    CHECK(memory != 0 && stack != NULL);
    xphmg_xlds_cpy(memory, bvh.heap, size);
    xphmg_xlds_bar(XPHMG_XLDS_BAR_SCOPE_WG);
    local = bvh;
    local.heap = (const uint8_t *)memory;

    for (int i = 0; i < RAYS; i++) {
        struct rt_hit expected = {0}, hit = {0};
        bool is_hit;

        rt_use(&bvh);
        is_hit = rt_closest(&bvh, &rays[i], &expected) == RT_HIT;
        rt_use(&local);
        CHECK(trace(&local, rays[i], &hit) == is_hit);
        CHECK(!is_hit || (hit.t == expected.t && hit.u == expected.u && hit.v == expected.v &&
                          hit.triangle == expected.triangle));
        count += is_hit;
    }
    printf("%d rays: %u hits\n", RAYS, count);
    CHECK(count > 0 && count < RAYS);

    /* Jobs: rays and hits in LDS too, a quarter of them at a time. */
    xphmg_xlds_free((uint64_t)stack);
    memory = xphmg_xlds_alloc(rt_batch_bytes(RAYS / 4));
    CHECK(memory - lds < xphmg_xi_read(XPHMG_XI_XLDSSIZE));
    rt_batch_make(&batch, (void *)memory, RAYS / 4);
    CHECK(rt_batch_trace(&batch, &local, rays, RAYS, false, found, hits) == RT_OK);
    for (int i = 0; i < RAYS; i++) {
        struct rt_hit expected;

        CHECK(found[i] == (rt_closest(&local, &rays[i], &expected) == RT_HIT));
        CHECK(!found[i] || (hits[i].t == expected.t && hits[i].triangle == expected.triangle));
    }
    return verdict("rt_lds");
}
