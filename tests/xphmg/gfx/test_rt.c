/* RT and GFX together: what RT.TRI writes is what GFX reads, under the same format; lanes of both
 * fault, cut and obey predicates alike (rt.requirements.tsv 8.9). */
#include "xphmg/gfx/gfx_test.h"

#include "xphmg/rsv/pmask.h"

enum { RAY = STREAM, RANGE = STREAM + 0x100, VERTICES = STREAM + 0x200 };

/* Where the rays meet the triangle (0,0) (1,0) (0,1) of the plane z = 0, seen from z = -2: u = x,
 * v = y, t = 2. */
static const float points[][2] = {{0.25f, 0.25f}, {0.25f, 0.5f}, {0.5f, 0.25f}, {0.125f, 0.75f}};
#define POINTS (sizeof points / sizeof points[0])

/* A number that FP16 holds, as an element. */
static uint32_t element(float value, bool half)
{
    union {
        float value;
        uint32_t bits;
    } u = {value};
    uint32_t e = u.bits >> 23 & 0xFF, h = u.bits >> 16 & 0x8000;

    return !half ? u.bits : e == 0 ? h : h | (e - 112) << 10 | (u.bits >> 13 & 0x3FF);
}

static void put(struct guest *g, uint64_t at, const float *v, unsigned count, bool half)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, at + (half ? 2 : 4) * i, half ? 2 : 4, element(v[i], half));
    }
}

static void put_ray(struct guest *g, uint64_t at, const float point[2], float z, bool half)
{
    const float ray[8] = {point[0], point[1], -z, 0, 0, 1, 0, 1024};

    put(g, at, ray, 8, half);
}

static void scene(struct guest *g, bool half)
{
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

    set_mode(g, half ? MODE_FP16 : MODE_FP32);
    put(g, VERTICES, triangle, 9, half);
    guest_store(g, RANGE, 8, UINT64_C(1) << 32);
    guest_store(g, RANGE + 8, 8, VERTICES);
    guest_csrw(g, 0x82B, RANGE);
}

TEST(barycentric_coordinates_are_texture_coordinates, "RT-247")
{
    struct guest *g = gfx_make();
    struct facet_hart *h = g->hart;

    for (unsigned half = 0; half < 2; half++) {
        uint64_t colour[POINTS][4];
        unsigned different = 0;

        scene(g, half != 0);
        texture_t2(g);
        for (size_t i = 0; i < POINTS; i++) {
            put_ray(g, RAY, points[i], 2, half != 0);
            h->x[10] = RAY;
            guest_ok(g, "rt.tri x12, x10\n GFX.SAMPLE x20, x14\n");
            CHECK_EQ(h->x[12], 1);
            CHECK_EQ(h->x[14], element(points[i][0], half != 0));
            CHECK_EQ(h->x[15], element(points[i][1], half != 0));
            for (unsigned k = 0; k < 4; k++) {
                colour[i][k] = h->x[20 + k];
                different += i != 0 && colour[i][k] != colour[0][k];
            }
            h->x[6] = element(points[i][0], half != 0);
            h->x[7] = element(points[i][1], half != 0);
            guest_ok(g, "GFX.SAMPLE x20, x6\n");
            for (unsigned k = 0; k < 4; k++) {
                CHECK_EQ(colour[i][k], h->x[20 + k]);
            }
        }
        CHECK(different > 0);
    }
    guest_free(g);
}

TEST(a_hit_distance_is_a_depth, "RT-294")
{
    static const float distances[] = {0.5f, 1, 1.5f, 2, 2.5f, 3}, stored = 2;
    struct guest *g = gfx_make();
    struct facet_hart *h = g->hart;

    for (unsigned half = 0; half < 2; half++) {
        scene(g, half != 0);
        guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
        guest_csrw(g, FACET_CSR_GFXZPITCH, half != 0 ? 2 : 4);
        guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(1) << 32 | 1);
        put(g, DEPTH, &stored, 1, half != 0);
        for (unsigned cmp = 0; cmp < 3; cmp += 2) { /* less, greater */
            guest_csrw(g, FACET_CSR_GFXZCFG, cmp);
            for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
                float t = distances[i];

                put_ray(g, RAY, points[0], t, half != 0);
                h->x[10] = RAY;
                guest_ok(g, "rt.tri x12, x10\n li x14, 0\n GFX.ZTEST x5, x13, w=0\n");
                CHECK_EQ(h->x[12], 1);
                CHECK_EQ(h->x[13], element(t, half != 0));
                CHECK_EQ(h->x[5], cmp == 0 ? t < stored : t > stored);
            }
        }
    }
    guest_free(g);
}

/* Four lanes with a pointer each, of which lane 2 leads nowhere. */
TEST(lanes_fault_and_cut_alike, "RT-248")
{
    static const char *const texts[2] = {"svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n",
                                         "svp.one.vlstep 4, 1, 1\n GFX.SAMPLE x1, x20, d=1\n"};

    for (unsigned mask = 0; mask < 16; mask++) {
        uint64_t faulti[2][2], events[2][2], written[2];

        for (unsigned unit = 0; unit < 2; unit++) {
            struct guest *g = gfx_make();
            struct facet_hart *h = g->hart;

            scene(g, false);
            texture_t2(g);
            put_ray(g, RAY, points[0], 2, false);
            put_desc(
                g, DESC, &(struct desc){.base = TEXTURE, .pitch = 8, .w = 2, .h = 2, .fmt = 0x30});
            for (unsigned i = 0; i < 4; i++) {
                h->x[20 + i] = i == 2 ? BAD : unit == 0 ? RAY : DESC;
            }
            facet_pmask_write(h, 1, mask);
            for (unsigned fof = 0; fof < 2; fof++) {
                struct facet_trap trap;

                for (unsigned i = 1; i < 5; i++) {
                    h->x[i] = 0x77;
                }
                guest_csrw(g, FACET_CSR_SVSTATE, 1 << 10);
                guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, fof != 0 ? FACET_CAP_XMEM_SVMSCL_FOF : 0);
                guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
                h->units.rsv.svfaulti = 0;
                facet_pmask_write(h, 1, mask);
                trap = guest_run(g, "%s", texts[unit]);
                CHECK_EQ(trap.taken, fof == 0 && (mask & 4) != 0);
                CHECK(!trap.taken || (trap.cause == FACET_CAUSE_LOAD_FAULT && trap.tval == BAD));
                faulti[unit][fof] = guest_csr(g, FACET_CSR_SVFAULTI);
                events[unit][fof] = guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS);
            }
            written[unit] = 0; /* with fault-only-first */
            for (unsigned i = 0; i < 4; i++) {
                written[unit] |= (uint64_t)(h->x[1 + i] != 0x77) << i;
            }
            guest_free(g);
        }
        for (unsigned fof = 0; fof < 2; fof++) {
            CHECK_EQ(faulti[0][fof], faulti[1][fof]);
            CHECK_EQ(faulti[0][fof],
                     (mask & 4) != 0 ? UINT64_C(1) << 63 | 5 << 16 | 2 : UINT64_C(0));
            CHECK_EQ(events[0][fof], events[1][fof]);
        }
        CHECK_EQ(written[0], written[1]);
        CHECK_EQ(written[0], mask & ((mask & 4) != 0 ? 3u : 15u));
    }
}
