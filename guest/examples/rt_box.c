/* RT.BBOX: one ray against boxes, three ways, and against a slab test in plain C.
 *
 * The tile holds four boxes as hardware reads them (rt-semantics.md 5.2). Scalar use tests the
 * child that RTNODE.FIRST names; under RSV one instruction tests all four; with PRED_ONLY and a
 * predicate bank sixteen rays meet four boxes at once and only the bank is written. RTNODE is
 * written through its alias in the 12-bit CSR space, and read back through XISEL and XIREG under
 * its full number. */
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { CHILDREN = 4, CASES = 200, RAYS = 8, T_CLAMP = 1, PRED_ONLY = 2 };

static struct xphmg_bvh_node4_32 tile;

static uint32_t seed = 1;

static float number(float lo, float hi)
{
    seed = seed * 1664525u + 1013904223u;
    return lo + (hi - lo) * (float)(seed >> 8) / 16777216.0f;
}

/* ---- plain C ---- */

/* The order of operations of the instruction (rt-semantics.md 7), so even the last bit is the same.
 */
static int slab(const struct xphmg_ray_record_32 *r,
                const struct xphmg_aabb_32 *box,
                float *tnear,
                float *tfar)
{
    *tnear = r->tmin;
    *tfar = r->tmax;
    for (int a = 0; a < 3; a++) {
        float inverse = 1 / r->direction[a];
        float near = ((r->direction[a] < 0 ? box->max : box->min)[a] - r->origin[a]) * inverse;
        float far = ((r->direction[a] < 0 ? box->min : box->max)[a] - r->origin[a]) * inverse;

        *tnear = fmaxf(*tnear, near);
        *tfar = fminf(*tfar, far);
    }
    return *tnear <= *tfar;
}

/* ---- the instruction ---- */

static uint32_t bits(float value)
{
    uint32_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static void use_fp32(void)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_set(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
}

/* Scalar use: x[rd] = hit, x[rd + 1] = tnear, x[rd + 2] = tfar. */
static void check_scalar(const struct xphmg_ray_record_32 *ray)
{
    for (uint64_t c = 0; c < CHILDREN; c++) {
        struct xphmg_slots out = {{0}};
        float tnear, tfar;
        int hit = slab(ray, &tile.child[c], &tnear, &tfar);

        xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&tile | c);
        out = xphmg_rt_bbox(out, ray, T_CLAMP);
        CHECK(out.slot[0] == (uint64_t)hit);
        if (hit) {
            CHECK(out.slot[1] == bits(tnear));
            CHECK(out.slot[2] == bits(tfar));
        }
    }
}

/* Four lanes, the ray's register the same for all, results in x12 to x23: all hits, all tnear, all
 * tfar. */
static unsigned check_lanes(const struct xphmg_ray_record_32 *ray)
{
    uint64_t out[3][CHILDREN];
    unsigned hits = 0;

    xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&tile);
    __asm__ volatile("svp.one.vlstep 4, 0, 1\n"
                     "rt.bbox x12, %[ray], 1\n"
                     "sd x12, 0(%[out])\n sd x13, 8(%[out])\n sd x14, 16(%[out])\n"
                     "sd x15, 24(%[out])\n sd x16, 32(%[out])\n sd x17, 40(%[out])\n"
                     "sd x18, 48(%[out])\n sd x19, 56(%[out])\n sd x20, 64(%[out])\n"
                     "sd x21, 72(%[out])\n sd x22, 80(%[out])\n sd x23, 88(%[out])\n"
                     :
                     : [ray] "r"(ray), [out] "r"(out)
                     : "memory",
                       "x12",
                       "x13",
                       "x14",
                       "x15",
                       "x16",
                       "x17",
                       "x18",
                       "x19",
                       "x20",
                       "x21",
                       "x22",
                       "x23");
    for (int c = 0; c < CHILDREN; c++) {
        float tnear, tfar;
        int hit = slab(ray, &tile.child[c], &tnear, &tfar);

        CHECK(out[0][c] == (uint64_t)hit);
        CHECK(!hit || (out[1][c] == bits(tnear) && out[2][c] == bits(tfar)));
        hits |= (unsigned)hit << c;
    }
    return hits;
}

/* A wavefront: eight rays, their addresses in x10 to x17, four boxes: 32 lanes. Bank 1 goes in as
 * the mask of lanes that take part and comes out as the hits. */
static void check_wavefront(const struct xphmg_ray_record_32 rays[RAYS], uint64_t mask)
{
    uint64_t expected = 0, hits;

    for (int i = 0; i < RAYS * CHILDREN; i++) {
        float tnear, tfar;

        expected |= (uint64_t)slab(&rays[i / CHILDREN], &tile.child[i % CHILDREN], &tnear, &tfar)
                    << i;
    }
    xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&tile);
    xphmg_csr_write(XPHMG_CSR_SVSTATE, XPHMG_FIELD(XPHMG_SVSTATE_PBANK, 1));
    __asm__ volatile("pmlow.wr 1, %[mask]\n"
                     "mv x10, %[rays]\n addi x11, x10, 32\n addi x12, x11, 32\n"
                     "addi x13, x12, 32\n addi x14, x13, 32\n addi x15, x14, 32\n"
                     "addi x16, x15, 32\n addi x17, x16, 32\n"
                     "svsetvl zero, 32\n"
                     "svon.one\n"
                     "rt.bbox zero, x10, 2\n"
                     "pmlow.rd 1, %[hits]\n"
                     : [hits] "=&r"(hits)
                     : [mask] "r"(mask), [rays] "r"(rays)
                     : "memory", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17");
    xphmg_csr_write(XPHMG_CSR_SVSTATE, 0);
    CHECK(hits == (expected & mask));
}

int main(void)
{
    unsigned hits = 0;

    use_fp32();
    tile.child_flags = XPHMG_FIELD(XPHMG_BVH_NODE4_TYPE0, XPHMG_BVH_NODE4_TYPE0_NODE) |
                       XPHMG_FIELD(XPHMG_BVH_NODE4_TYPE1, XPHMG_BVH_NODE4_TYPE1_NODE) |
                       XPHMG_FIELD(XPHMG_BVH_NODE4_TYPE2, XPHMG_BVH_NODE4_TYPE2_NODE) |
                       XPHMG_FIELD(XPHMG_BVH_NODE4_TYPE3, XPHMG_BVH_NODE4_TYPE3_NODE);
    for (int i = 0; i < CASES; i++) {
        struct xphmg_ray_record_32 rays[RAYS];

        for (int c = 0; c < CHILDREN; c++) {
            for (int a = 0; a < 3; a++) {
                tile.child[c].min[a] = number(-2, 1);
                tile.child[c].max[a] = tile.child[c].min[a] + number(0, 2);
            }
        }
        for (int k = 0; k < RAYS; k++) {
            for (int a = 0; a < 3; a++) {
                rays[k].origin[a] = number(-4, 4);
                rays[k].direction[a] = number(-1, 1) - rays[k].origin[a];
            }
            rays[k].tmin = 0;
            rays[k].tmax = k % 2 == 0 ? INFINITY : number(0, 3);
        }
        check_scalar(&rays[0]);
        hits += (unsigned)__builtin_popcount(check_lanes(&rays[1]));
        check_wavefront(rays, i % 3 == 0 ? 0xFFFFFFFF : 0x9F3C55A1);
    }

    /* One register, two ways to it. */
    xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&tile | 3);
    CHECK(xphmg_xi_read(XPHMG_XI_RTNODE) == ((uint64_t)&tile | 3));
    xphmg_xi_write(XPHMG_XI_RTNODE, (uint64_t)&tile);
    CHECK(xphmg_csr_read(XPHMG_CSR_RTNODE) == (uint64_t)&tile);

    printf(
        "%d rays against %d boxes: %u hits of %d lanes\n", CASES, CHILDREN, hits, CASES * CHILDREN);
    CHECK(hits > CASES / 4 && hits < CASES * CHILDREN);
    return verdict("rt_box");
}
