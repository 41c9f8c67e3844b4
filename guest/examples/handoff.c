/* XMEM Tier-0: a ray is transformed by MTX and traced by RT without being copied.
 *
 * Tier-0 is the part of local memory where an allocation belongs to one domain (engine) at a time.
 * With STRICT_DOM=1 the others take an access fault there; XMEM.CCTL.SETDOM hands the region over,
 * data and address stay. Tier-1, the rest of local memory, has no owner.
 *
 * CAP.XMEM.DOM says on whose behalf the hart's vendor instructions access memory. */
#include "check.h"
#include "expect_trap.h"

#include <math.h>

enum {
    DOM_RT = XPHMG_MEMCTL_DOM_RT,
    DOM_MTX = XPHMG_MEMCTL_DOM_MTX,
    SHAPE_4X4 = 0xF,
    ALLOC_T0 = 1 << 3
};

static const struct xphmg_bvh_node4_32 node = {.child[0] = {{-1, -1, -1}, {1, 1, 1}},
                                               .child0_idx = 1,
                                               .child_flags = XPHMG_BVH_NODE4_TYPE0_NODE};

/* Moves by (0, 0, -5), then turns: x' = z, z' = -x. */
static const float matrix[16] = {0, 0, 1, -5, 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 0, 1};

static void act_for(uint64_t domain)
{
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_DOM, domain);
}

static struct xphmg_slots test_box(const float *ray)
{
    struct xphmg_slots out = {{0}};

    return xphmg_rt_bbox(out, ray, 0);
}

int main(void)
{
    static const float origin[4] = {0, 0, 0, 1}, direction[4] = {0, 0, 1, 0};
    struct xphmg_slots out = {{0}};
    uint64_t t0_end, base;
    float *ray;

    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_set(XPHMG_CSR_CAP_XMEM_DESCPOL, XPHMG_CAP_XMEM_DESCPOL_STRICT_DOM);
    xphmg_csr_write(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
    xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&node);

    /* MTX writes the ray record: eight numbers, origin (w = 1), then direction over its w. */
    act_for(DOM_MTX);
    t0_end = xphmg_xi_read(XPHMG_XI_XLDSBASE) + xphmg_xi_read(XPHMG_XI_XT0SIZE);
    base = xphmg_xlds_alloc(64, ALLOC_T0);
    ray = (float *)base;
    xphmg_mtx_ld(matrix, SHAPE_4X4, 0, 1);
    xphmg_mtx_mul(&ray[0], origin, SHAPE_4X4);
    xphmg_mtx_mul(&ray[3], direction, SHAPE_4X4); /* its w = 0 is tmin */
    ray[7] = INFINITY;                            /* plain stores go everywhere */
    printf("ray in Tier-0 at 0x%lx: origin (%d %d %d), direction (%d %d %d)\n",
           (unsigned long)base,
           (int)ray[0],
           (int)ray[1],
           (int)ray[2],
           (int)ray[3],
           (int)ray[4],
           (int)ray[5]);
    CHECK(base != 0 && base < t0_end);
    CHECK(ray[0] == -5 && ray[3] == 1);

    /* Before the handoff the region is none of RT's business. */
    act_for(DOM_RT);
    CHECK(CAUSE_OF(out = test_box(ray)) == LOAD_FAULT);

    xphmg_xmem_cctl_setdom((void *)base, DOM_RT);
    CHECK(CAUSE_OF(out = test_box(ray)) == NO_TRAP);
    printf("after SETDOM: hit %u, tnear 0x%08x, tfar 0x%08x\n",
           (unsigned)out.slot[0],
           (unsigned)out.slot[1],
           (unsigned)out.slot[2]);
    CHECK(out.slot[0] == 1 && out.slot[1] == 0x40800000 && out.slot[2] == 0x40C00000); /* 4, 6 */

    /* And MTX may not write there any more. */
    act_for(DOM_MTX);
    CHECK(CAUSE_OF(xphmg_mtx_mul(&ray[0], origin, SHAPE_4X4)) == 7);

    /* Tier-1 has no owner check; there a barrier orders writer and reader. */
    ray = (float *)xphmg_xlds_alloc(64);
    CHECK((uint64_t)ray >= t0_end);
    xphmg_mtx_mul(&ray[0], origin, SHAPE_4X4);
    xphmg_mtx_mul(&ray[3], direction, SHAPE_4X4);
    ray[7] = INFINITY;
    xphmg_xlds_bar(XPHMG_XLDS_BAR_SCOPE_CLUSTER);
    act_for(DOM_RT);
    CHECK(CAUSE_OF(out = test_box(ray)) == NO_TRAP && out.slot[0] == 1);
    return verdict("handoff");
}
