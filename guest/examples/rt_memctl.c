/* XSUBMIT.RT with XPHMG_MEMCTL: one job with its own memory policy.
 *
 * The last 24 bytes of the descriptor override CAP's defaults for this job alone (rt-semantics.md
 * 12). Fields that are 0 or unknown leave the default. Policy never changes a result; it decides
 * whether an access is allowed. Here the rays lie in Tier-0 memory that belongs to RT while the
 * hart itself works for MTX, and in memory with a security tag. */
#include "ball.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { RAYS = 12, EC_DESC_FAULT = 3, ALLOC_T0 = 1 << 3, SECURE = XPHMG_MEMCTL_SEC_SECURE };
enum { DOM_RT = XPHMG_MEMCTL_DOM_RT, DOM_MTX = XPHMG_MEMCTL_DOM_MTX };

static float triangles[BALL_TRIANGLES][9];
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_bvh bvh;
static struct xphmg_hit_entry_32 hits[RAYS + 1] __attribute__((aligned(64)));

/* Runs the rays at `slots` under this policy; RTSTAT.LAST_EC, 0 for a job that ended well. */
static unsigned
run(struct xphmg_ray_entry_32 *slots, struct xphmg_memctl memctl, uint32_t *hit_count)
{
    volatile struct xphmg_queue rayq = {0, RAYS, RAYS + 1, 0, (uint64_t)slots};
    volatile struct xphmg_queue hitq = {0, 0, RAYS + 1, 0, (uint64_t)hits};
    struct xphmg_rt_desc job = {.bvh_base = (uint64_t)bvh.heap,
                                .rayq_desc = (uint64_t)&rayq,
                                .hitq_desc = (uint64_t)&hitq,
                                .tri_buf = (uint64_t)bvh.triangles,
                                .memctl = memctl};

    __asm__ volatile("" ::"r"(&job), "r"(&rayq), "r"(&hitq) : "memory");
    xphmg_xfence_wait(xphmg_xsubmit_rt(&job));
    *hit_count = hitq.tail;
    return rayq.head == RAYS
               ? 0
               : (unsigned)XPHMG_FIELD_OF(XPHMG_RTSTAT_LAST_EC, xphmg_csr_read(XPHMG_CSR_RTSTAT));
}

static struct xphmg_ray_entry_32 *put_rays(uint64_t address)
{
    struct xphmg_ray_entry_32 *slots = (struct xphmg_ray_entry_32 *)address;

    CHECK(address != 0);
    for (int i = 0; i < RAYS; i++) {
        slots[i] = (struct xphmg_ray_entry_32){.ray = rays[i], .tag = (uint64_t)i};
    }
    return slots;
}

int main(void)
{
    static struct xphmg_ray_entry_32 plain[RAYS + 1] __attribute__((aligned(64)));
    struct xphmg_hit_entry_32 reference[RAYS];
    struct xphmg_ray_entry_32 *owned, *secret;
    uint32_t expected, found;
    unsigned error;

    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    ball_rays(rays, RAYS);
    put_rays((uint64_t)plain);
    CHECK(run(plain, (struct xphmg_memctl){0}, &expected) == 0 && expected > 0);
    memcpy(reference, hits, sizeof reference);

    /* Hints: class, profile, line size, quality of service, tier. The same hits. */
    CHECK(run(plain,
              (struct xphmg_memctl){.l1_hint = 0xFF,
                                    .lds_hint = 0xFF,
                                    .line_sz = 128,
                                    .qos = 7,
                                    .mclass = XPHMG_MEMCTL_MCLASS_CL2,
                                    .sprof_id = XPHMG_MEMCTL_SPROF_ID_SPROF1,
                                    .hyb = 1,
                                    .rsv0 = XPHMG_FIELD(XPHMG_MEMCTL_TIER, XPHMG_MEMCTL_TIER_T2)},
              &found) == 0);
    CHECK(found == expected && memcmp(hits, reference, found * sizeof hits[0]) == 0);

    /* Domain: Tier-0 memory of RT. The hart's own domain is refused, the job's is not. */
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_DOM, DOM_RT);
    owned = put_rays(xphmg_xlds_alloc(sizeof plain, ALLOC_T0));
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_DOM, DOM_MTX);
    xphmg_csr_set(XPHMG_CSR_CAP_XMEM_DESCPOL, XPHMG_CAP_XMEM_DESCPOL_STRICT_DOM);
    error = run(owned, (struct xphmg_memctl){0}, &found);
    printf("rays of RT, job of MTX: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == EC_DESC_FAULT && found == 0);
    error = run(owned, (struct xphmg_memctl){.dom = DOM_RT}, &found);
    printf("rays of RT, memctl.dom = RT: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == 0 && found == expected);
    CHECK(memcmp(hits, reference, found * sizeof hits[0]) == 0);
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_DOM) == DOM_MTX);

    /* Security: memory with tag 2 opens for a job of level 2. */
    secret = put_rays(xphmg_xlds_alloc(sizeof plain, 0, SECURE));
    error = run(secret, (struct xphmg_memctl){.sec = XPHMG_MEMCTL_SEC_TRUSTED}, &found);
    printf("secure rays, memctl.sec = 1: error %u\n", error);
    CHECK(error == EC_DESC_FAULT);
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_EVENTS) & XPHMG_CAP_XMEM_EVENTS_SEC_VIOL);
    error = run(secret, (struct xphmg_memctl){.sec = SECURE}, &found);
    printf("secure rays, memctl.sec = 2: error %u, %u hits\n", error, (unsigned)found);
    CHECK(error == 0 && found == expected);
    return verdict("rt_memctl");
}
