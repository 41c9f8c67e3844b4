/* RT.TRI: rays against triangles, and against plain C.
 *
 * A TriRange (rt-semantics.md 5.3) names triangles of a buffer. Scalar use tests one of them; under
 * RSV a ray meets four at once, or a packet of rays meets one triangle, lane by lane. CULL_BACK
 * drops back faces. The edges that two triangles share leave no gap, whatever the rounding. */
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { TRIANGLES = 4, CASES = 200, RAYS = 8, FAN = 16, CULL_BACK = 1 };

static float corners[FAN][9];
static struct xphmg_tri_range range;

static uint32_t seed = 7;

static float number(float lo, float hi)
{
    seed = seed * 1664525u + 1013904223u;
    return lo + (hi - lo) * (float)(seed >> 8) / 16777216.0f;
}

static float as_float(uint64_t word)
{
    uint32_t bits = (uint32_t)word;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- plain C: Moeller and Trumbore in double precision ---- */

struct answer {
    int sure; /* not within rounding of an edge or of the interval's ends */
    int hit, front;
    double t, u, v;
};

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static struct answer ask(const struct xphmg_ray_record_32 *ray, const float v[9])
{
    double e1[3], e2[3], s[3], d[3], p[3], q[3], det, w, least;
    struct answer a;

    for (int i = 0; i < 3; i++) {
        e1[i] = (double)v[3 + i] - (double)v[i];
        e2[i] = (double)v[6 + i] - (double)v[i];
        s[i] = (double)ray->origin[i] - (double)v[i];
        d[i] = (double)ray->direction[i];
    }
    cross(d, e2, p);
    det = dot(e1, p);
    cross(s, e1, q);
    a.u = dot(s, p) / det;
    a.v = dot(d, q) / det;
    a.t = dot(e2, q) / det;
    w = 1 - a.u - a.v;
    least = fmin(fmin(fabs(a.u), fabs(a.v)), fabs(w));
    a.hit = a.u >= 0 && a.v >= 0 && w >= 0 && a.t >= (double)ray->tmin && a.t <= (double)ray->tmax;
    a.front = det > 0;
    a.sure = fabs(det) > 1e-3 && least > 1e-4 && fabs(a.t - (double)ray->tmin) > 1e-4 &&
             fabs(a.t - (double)ray->tmax) > 1e-4;
    return a;
}

static int close_to(float value, double expected)
{
    return fabs((double)value - expected) <= 1e-4 * (1 + fabs(expected));
}

/* ---- the instruction ---- */

static struct xphmg_slots test(const struct xphmg_ray_record_32 *ray, uint32_t first, int cull)
{
    struct xphmg_slots out = {{0}};

    xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&range | first);
    return cull ? xphmg_rt_tri(out, ray, CULL_BACK) : xphmg_rt_tri(out, ray);
}

static unsigned check_scalar(const struct xphmg_ray_record_32 *ray)
{
    unsigned hits = 0;

    for (uint32_t k = 0; k < TRIANGLES; k++) {
        struct answer a = ask(ray, corners[k]);
        struct xphmg_slots out = test(ray, k, 0);

        if (a.sure) {
            CHECK(out.slot[0] == (uint64_t)a.hit);
            CHECK(!a.hit ||
                  (close_to(as_float(out.slot[1]), a.t) && close_to(as_float(out.slot[2]), a.u) &&
                   close_to(as_float(out.slot[3]), a.v)));
            CHECK(test(ray, k, 1).slot[0] == (uint64_t)(a.hit && a.front));
        }
        hits += (unsigned)out.slot[0];
    }
    CHECK(test(ray, TRIANGLES, 0).slot[0] == 0); /* past the end of the range */
    return hits;
}

/* One ray, four triangles: the same as one after the other. hit in x12 to x15, t in x16 to x19. */
static void check_lanes(const struct xphmg_ray_record_32 *ray)
{
    uint64_t out[8];

    xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&range);
    __asm__ volatile("svp.one.vlstep 4, 0, 1\n"
                     "rt.tri x12, %[ray]\n"
                     "sd x12, 0(%[out])\n sd x13, 8(%[out])\n sd x14, 16(%[out])\n"
                     "sd x15, 24(%[out])\n sd x16, 32(%[out])\n sd x17, 40(%[out])\n"
                     "sd x18, 48(%[out])\n sd x19, 56(%[out])\n"
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
                       "x23",
                       "x24",
                       "x25",
                       "x26",
                       "x27");
    for (uint32_t k = 0; k < TRIANGLES; k++) {
        struct xphmg_slots one = test(ray, k, 0);

        CHECK(out[k] == one.slot[0]);
        CHECK(out[4 + k] == one.slot[1]);
    }
}

/* A packet: eight rays in x10 to x17 against the triangle that RTTRI names; hits in bank 1. */
static uint64_t packet(const struct xphmg_ray_record_32 rays[RAYS], uint32_t triangle)
{
    uint64_t hits;

    xphmg_csr_write(XPHMG_CSR_RTTRI, (uint64_t)&range | triangle);
    xphmg_csr_write(XPHMG_CSR_SVSTATE, XPHMG_FIELD(XPHMG_SVSTATE_PBANK, 1));
    __asm__ volatile("pmlow.wr 1, %[all]\n"
                     "mv x10, %[rays]\n addi x11, x10, 32\n addi x12, x11, 32\n"
                     "addi x13, x12, 32\n addi x14, x13, 32\n addi x15, x14, 32\n"
                     "addi x16, x15, 32\n addi x17, x16, 32\n"
                     "svsetvl zero, 8\n"
                     "svon.one\n"
                     "rt.tri zero, x10, 2\n"
                     "pmlow.rd 1, %[hits]\n"
                     : [hits] "=&r"(hits)
                     : [all] "r"(0xFFL), [rays] "r"(rays)
                     : "memory", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17");
    xphmg_csr_write(XPHMG_CSR_SVSTATE, 0);
    return hits;
}

static struct xphmg_ray_record_32 random_ray(void)
{
    struct xphmg_ray_record_32 ray = {.tmin = 0, .tmax = INFINITY};

    for (int a = 0; a < 3; a++) {
        ray.origin[a] = number(-3, 3);
        ray.direction[a] = number(-0.5f, 0.5f) - ray.origin[a];
    }
    return ray;
}

/* Rays at the shared edges of a fan around a point: every one must hit some triangle. */
static void check_watertight(void)
{
    for (int k = 0; k < FAN; k++) {
        float a = (float)k * 0.4f, b = k == FAN - 1 ? 0.0f : a + 0.4f;

        memcpy(corners[k],
               (float[9]){0.1f, 0.2f, 0.3f, cosf(a), sinf(a), 0, cosf(b), sinf(b), 0},
               sizeof corners[k]);
    }
    range.count = FAN;
    for (int i = 0; i < CASES; i++) {
        const float *edge = corners[i % FAN];
        float at = number(0, 0.98f);
        struct xphmg_ray_record_32 ray = {{0.3f, -0.2f, 3}, {0}, 0, INFINITY};
        int hits = 0;

        for (int a = 0; a < 3; a++) {
            ray.direction[a] = edge[a] + at * (edge[3 + a] - edge[a]) - ray.origin[a];
        }
        for (uint32_t k = 0; k < FAN; k++) {
            range.first = k; /* RTTRI.FIRST reaches eight only */
            hits += test(&ray, 0, 0).slot[0] != 0;
        }
        CHECK(hits > 0);
    }
}

int main(void)
{
    unsigned hits = 0;

    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, XPHMG_CAP_PREC_MODE_PET_FP32) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW32) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
    xphmg_csr_set(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
    range.base = (uint64_t)corners;
    range.count = TRIANGLES;
    for (int i = 0; i < CASES; i++) {
        struct xphmg_ray_record_32 rays[RAYS];
        uint64_t expected = 0;

        for (int k = 0; k < 9 * TRIANGLES; k++) {
            corners[k / 9][k % 9] = number(-1, 1);
        }
        for (int k = 0; k < RAYS; k++) {
            rays[k] = random_ray();
            expected |= test(&rays[k], 2, 0).slot[0] << k;
        }
        hits += check_scalar(&rays[0]);
        check_lanes(&rays[1]);
        CHECK(packet(rays, 2) == expected);
    }
    check_watertight();
    printf("%d rays against %d triangles: %u hits\n", CASES, TRIANGLES, hits);
    CHECK(hits > CASES / 10);
    return verdict("rt_triangle");
}
