/* XSUBMIT.RT with XPHMG_MEMCTL: one job with a memory policy of its own.
 *
 * The last 24 bytes of the descriptor override CAP's defaults for this job alone (rt-semantics.md
 * 12). Fields that are 0 or unknown leave the default. Policy never changes a result; it decides
 * whether an access is allowed. Here the rays lie in Tier-0 memory that belongs to RT while the
 * hart itself works for MTX, and in memory with a security tag. */
#include "ball.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { RAYS = 12, DOM_RT = 2, DOM_MTX = 3, EC_DESC_FAULT = 3, ALLOC_T0 = 1 << 3, SECURE = 2 };

struct queue {
    uint32_t head, tail, cap, rsv;
    uint64_t base;
};

struct ray_entry {
    struct rt_ray ray;
    uint64_t unused[3], tag;
};

struct hit_entry {
    uint64_t tag;
    uint32_t triangle, leaf;
    float t, u, v;
    uint32_t flags;
};

struct memctl {
    uint8_t dom, l1_hint, l2_hint, lds_hint;
    uint16_t line_sz, qos;
    uint64_t lds_softpin;
    uint8_t mclass, sprof_id, hyb, sec;
    uint32_t rsv0; /* bits 2:0 tier + 1 */
};

struct descriptor {
    uint64_t bvh_base, rayq, hitq, missq, tri_buf;
    uint32_t opts, rsv;
    struct memctl memctl;
};

static float triangles[BALL_TRIANGLES][9];
static struct rt_ray rays[RAYS];
static struct rt_bvh bvh;
static struct hit_entry hits[RAYS + 1] __attribute__((aligned(64)));

/* Runs the rays at `slots` under this policy; RTSTAT.LAST_EC, 0 for a job that ended well. */
static unsigned run(struct ray_entry *slots, struct memctl memctl, uint32_t *hit_count)
{
    volatile struct queue rayq = {0, RAYS, RAYS + 1, 0, (uint64_t)slots};
    volatile struct queue hitq = {0, 0, RAYS + 1, 0, (uint64_t)hits};
    struct descriptor job = {.bvh_base = (uint64_t)bvh.heap,
                             .rayq = (uint64_t)&rayq,
                             .hitq = (uint64_t)&hitq,
                             .tri_buf = (uint64_t)bvh.triangles,
                             .memctl = memctl};

    __asm__ volatile("" ::"r"(&job), "r"(&rayq), "r"(&hitq) : "memory");
    xphmg_xfence_wait(xphmg_xsubmit_rt(&job));
    *hit_count = hitq.tail;
    return rayq.head == RAYS
               ? 0
               : (unsigned)XPHMG_FIELD_OF(XPHMG_RTSTAT_LAST_EC, xphmg_csr_read(XPHMG_CSR_RTSTAT));
}

static struct ray_entry *put_rays(uint64_t address)
{
    struct ray_entry *slots = (struct ray_entry *)address;

    CHECK(address != 0);
    for (int i = 0; i < RAYS; i++) {
        slots[i] = (struct ray_entry){.ray = rays[i], .tag = (uint64_t)i};
    }
    return slots;
}

int main(void)
{
    static struct ray_entry plain[RAYS + 1] __attribute__((aligned(64)));
    struct hit_entry reference[RAYS];
    struct ray_entry *owned, *secret;
    uint32_t expected, found;
    unsigned error;

    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    ball_rays(rays, RAYS);
    put_rays((uint64_t)plain);
    CHECK(run(plain, (struct memctl){0}, &expected) == 0 && expected > 0);
    memcpy(reference, hits, sizeof reference);

    /* Hints: class, profile, line size, quality of service, tier. The same hits. */
    CHECK(run(plain,
              (struct memctl){.l1_hint = 0xFF,
                              .lds_hint = 0xFF,
                              .line_sz = 128,
                              .qos = 7,
                              .mclass = 2,
                              .sprof_id = 1,
                              .hyb = 1,
                              .rsv0 = 1 + 2},
              &found) == 0);
    CHECK(found == expected && memcmp(hits, reference, found * sizeof hits[0]) == 0);

    /* Domain: Tier-0 memory of RT. The hart's own domain is refused, the job's is not. */
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_DOM, DOM_RT);
    owned = put_rays(xphmg_xlds_alloc(sizeof plain, ALLOC_T0));
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_DOM, DOM_MTX);
    xphmg_csr_set(XPHMG_CSR_CAP_XMEM_DESCPOL, XPHMG_CAP_XMEM_DESCPOL_STRICT_DOM);
    error = run(owned, (struct memctl){0}, &found);
    printf("rays of RT, job of MTX: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == EC_DESC_FAULT && found == 0);
    error = run(owned, (struct memctl){.dom = DOM_RT}, &found);
    printf("rays of RT, memctl.dom = RT: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == 0 && found == expected);
    CHECK(memcmp(hits, reference, found * sizeof hits[0]) == 0);
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_DOM) == DOM_MTX);

    /* Security: memory with tag 2 opens for a job of level 2. */
    secret = put_rays(xphmg_xlds_alloc(sizeof plain, 0, SECURE));
    error = run(secret, (struct memctl){.sec = 1}, &found);
    printf("secure rays, memctl.sec = 1: error %u\n", error);
    CHECK(error == EC_DESC_FAULT);
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_EVENTS) & XPHMG_CAP_XMEM_EVENTS_SEC_VIOL);
    error = run(secret, (struct memctl){.sec = SECURE}, &found);
    printf("secure rays, memctl.sec = 2: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == 0 && found == expected);
    return verdict("rt_memctl");
}
