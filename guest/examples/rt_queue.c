/* XSUBMIT.RT: a queue of rays for the job engine, as the descriptor says (rt-semantics.md 5.4, 11).
 *
 * The scene is a ball of 320 triangles. Rays go into a ring buffer of 64 slots piece by piece, so
 * that it wraps around; hits and misses come out of two others, each with the tag of its ray, and
 * in the order of the rays. XFENCE.WAIT on the ticket makes them visible. The same rays through the
 * library's own traversal (RT.BBOX and RT.TRI) must give the same hits to the bit. A full hit queue
 * stops the job with its ray still queued; once there is room, it is submitted again. */
#include "ball.h"

#include <stdint.h>
#include <xphmg.h>

enum { SLOTS = 64, RAYS = 500 };
enum { EC_QFULL = 5 };

static struct xphmg_ray_entry_32 ray_slots[SLOTS] __attribute__((aligned(64)));
static struct xphmg_hit_entry_32 hit_slots[SLOTS] __attribute__((aligned(64)));
static struct xphmg_miss_entry miss_slots[SLOTS] __attribute__((aligned(64)));
static volatile struct xphmg_queue rayq = {.cap = SLOTS, .base = (uint64_t)ray_slots};
static volatile struct xphmg_queue hitq = {.cap = SLOTS, .base = (uint64_t)hit_slots};
static volatile struct xphmg_queue missq = {.cap = SLOTS, .base = (uint64_t)miss_slots};
static struct xphmg_rt_desc job = {
    .rayq_desc = (uint64_t)&rayq, .hitq_desc = (uint64_t)&hitq, .missq_desc = (uint64_t)&missq};

static float triangles[BALL_TRIANGLES][9];
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_bvh bvh;

/* ---- the queues ---- */

static int add_rays(int next)
{
    while (next < RAYS && (rayq.tail + 1) % SLOTS != rayq.head) {
        ray_slots[rayq.tail].ray = rays[next];
        ray_slots[rayq.tail].tag = (uint64_t)next++;
        rayq.tail = (rayq.tail + 1) % SLOTS;
    }
    return next;
}

static void submit(void)
{
    uint64_t ticket;

    __asm__ volatile("" ::: "memory");
    ticket = xphmg_xsubmit_rt(&job);
    CHECK(ticket >> 56 == 1);
    xphmg_xfence_wait(ticket);
}

static void check_hit(const struct xphmg_hit_entry_32 *e)
{
    struct rt_hit hit = {0};

    CHECK(rt_closest(&bvh, &rays[e->tag], &hit) == RT_HIT);
    CHECK(hit.t == e->t && hit.u == e->u && hit.v == e->v);
    CHECK(hit.triangle == e->triangle && hit.leaf == e->leaf);
    CHECK(hit.front == ((e->flags & XPHMG_HIT_ENTRY_FLAGS_FRONT) != 0));
}

/* Takes what the job has left; returns how many entries. */
static unsigned drain(unsigned *hits)
{
    unsigned count = 0;

    for (; hitq.head != hitq.tail; hitq.head = (hitq.head + 1) % SLOTS, count++, (*hits)++) {
        check_hit(&hit_slots[hitq.head]);
    }
    for (; missq.head != missq.tail; missq.head = (missq.head + 1) % SLOTS, count++) {
        CHECK(rt_any(&bvh, &rays[miss_slots[missq.head].tag]) == RT_MISS);
    }
    return count;
}

int main(void)
{
    unsigned hits = 0, done = 0, none = 0;
    int next = 0;

    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    ball_rays(rays, RAYS);
    job.bvh_base = (uint64_t)bvh.heap;
    job.tri_buf = (uint64_t)bvh.triangles;
    while (done < RAYS) {
        next = add_rays(next);
        submit();
        CHECK(rayq.head == rayq.tail);
        done += drain(&hits);
    }
    printf("%d rays: %u hits, %u misses\n", RAYS, hits, done - hits);
    CHECK(hits > RAYS / 10 && hits < RAYS);
    CHECK((xphmg_csr_read(XPHMG_CSR_RTSTAT) & XPHMG_RTSTAT_ERR) == 0);

    /* Room for three hits only: the job stops, and continues where it was. */
    hitq.head = hitq.tail = 0;
    hitq.cap = 4;
    next = add_rays(0);
    done = 0;
    for (unsigned rounds = 0; done < (unsigned)next && rounds < SLOTS; rounds++) {
        submit();
        if (rayq.head != rayq.tail) {
            CHECK(XPHMG_FIELD_OF(XPHMG_RTSTAT_LAST_EC, xphmg_csr_read(XPHMG_CSR_RTSTAT)) ==
                  EC_QFULL);
        }
        for (; hitq.head != hitq.tail; hitq.head = (hitq.head + 1) % 4, done++) {
            check_hit(&hit_slots[hitq.head]);
        }
        done += drain(&none);
    }
    CHECK(done == (unsigned)next && none == 0);
    return verdict("rt_queue");
}
