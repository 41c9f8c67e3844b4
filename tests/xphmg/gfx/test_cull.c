/* GFX.CULL.* on the machine: planes, the reject of w, boxes and their transform, masks, streams;
 * random points and boxes against plain arithmetic on numbers that every format holds exactly. */
#include "xphmg/gfx/gfx_test.h"

#include <stdio.h>

static void put_point(struct guest *g, double x, double y, double z, double w)
{
    g->hart->x[10] = fr(x);
    g->hart->x[11] = fr(y);
    g->hart->x[12] = fr(z);
    g->hart->x[13] = fr(w);
}

static uint64_t cull(struct guest *g, const char *text)
{
    guest_ok(g, "%s\n", text);
    return g->hart->x[5];
}

/* Six planes that all points are inside of: 0x + 0y + 0z - 1w. */
static void open_planes(struct guest *g)
{
    for (unsigned p = 0; p < 6; p++) {
        put_plane(g, p, (const uint32_t[]){0, 0, 0, fr(-1)});
    }
}

TEST(each_plane_register_is_used, "")
{
    struct guest *g = gfx_make();

    put_point(g, 2, 0, 0, 1);
    for (unsigned p = 0; p < 6; p++) {
        static const char *const ids[] = {
            "GFX-031", "GFX-032", "GFX-033", "GFX-034", "GFX-035", "GFX-036"};

        open_planes(g);
        put_plane(g, p, (const uint32_t[]){fr(1), 0, 0, fr(-1)}); /* x = 2 is outside */
        for (unsigned idx = 0; idx < 6; idx++) {
            char text[64];

            (void)snprintf(text, sizeof text, "GFX.CULL.PLANE x5, x10, idx=%u", idx);
            harness_row(ids[p]);
            CHECK_EQ(cull(g, text), idx != p);
            harness_row("GFX-235");
            (void)snprintf(text, sizeof text, "GFX.CULL.PLANE x5, x10, k=1, idx=%u", idx);
            CHECK_EQ(cull(g, text), idx == p);
        }
        harness_row("GFX-239");
        CHECK_EQ(cull(g, "GFX.CULL.FRUSTUM x5, x10"), 0);
        CHECK_EQ(cull(g, "GFX.CULL.FRUSTUM x5, x10, k=1"), 1);
        /* the plane of window B, which follows the four rows of A; idx does not count */
        harness_row("GFX-237");
        g->hart->x[14] = fr(-1);
        g->hart->x[15] = g->hart->x[16] = 0;
        g->hart->x[17] = fr(1);
        CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, s=1, idx=7"), 1);
        g->hart->x[17] = fr(3);
        CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, s=1"), 0);
    }
    harness_row("GFX-239");
    open_planes(g);
    CHECK_EQ(cull(g, "GFX.CULL.FRUSTUM x5, x10"), 1);
    CHECK_EQ(cull(g, "GFX.CULL.FRUSTUM x5, x10, k=1"), 0);
    for (unsigned idx = 6; idx < 8; idx++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "GFX.CULL.PLANE x5, x10, idx=%u\n", idx);
    }
    guest_free(g);
}

TEST(planes_in_half_precision, "GFX-037")
{
    struct guest *g = gfx_make();

    set_mode(g, MODE_FP16);
    guest_csrw(g, FACET_CSR_GFXPLN0 + 3, UINT64_C(0xC000000000003C00)); /* x - 2w */
    g->hart->x[10] = 0x3E00;                                            /* 1.5 */
    g->hart->x[11] = g->hart->x[12] = 0;
    g->hart->x[13] = 0x3C00;
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, idx=3"), 1);
    g->hart->x[10] = 0x4100; /* 2.5 */
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, idx=3"), 0);
    guest_free(g);
}

TEST(the_reject_of_w, "")
{
    static const struct {
        uint32_t w;
        bool rejected;
        unsigned flags;
    } cases[] = {{0x3F000000, true, 0}, /* eps itself */
                 {0x3F000001, false, 0},
                 {0x3F400000, false, 0},
                 {0x3EFFFFFF, true, 0},
                 {0xBF800000, true, 0},
                 {0, true, 0},
                 {0x80000000, true, 0},
                 {INF_F, true, 0},
                 {0xFF800000, true, 0},
                 {NAN_F, true, FACET_QNAN},
                 {0x7F800001, true, FACET_SNAN | FACET_NV}};
    struct guest *g = gfx_make();

    open_planes(g);
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, HALF_F);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (unsigned k = 0; k < 2; k++) {
            put_point(g, 0, 0, 0, 0);
            g->hart->x[13] = cases[i].w;
            guest_ok(g,
                     "GFX.CULL.PLANE x5, x10, z=1, k=%u\n GFX.CULL.FRUSTUM x6, x10, z=1, k=%u\n",
                     k,
                     k);
            harness_row(i < 3                           ? "GFX-050 GFX-236 GFX-262"
                        : cases[i].w << 1 >= INF_F << 1 ? "GFX-261"
                                                        : "GFX-236 GFX-262");
            CHECK_MSG(g->hart->x[5] == (!cases[i].rejected && k == 0), "w 0x%x", cases[i].w);
            CHECK_EQ(clear_flags(g), cases[i].flags);
            CHECK_ID("GFX-379 GFX-380", g->hart->x[6] == g->hart->x[5]);
        }
    }
    put_point(g, 0, 0, 0, 0.5);
    CHECK_ID("GFX-380", cull(g, "GFX.CULL.FRUSTUM x5, x10") == 1); /* z=0 */
    harness_row("GFX-050");
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, NAN_F); /* a NaN eps rejects nothing finite */
    put_point(g, 0, 0, 0, -7);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1, k=1"), 1);
    put_point(g, 0, 0, 0, 0);
    g->hart->x[13] = INF_F; /* but infinity it does */
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1"), 0);
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, 0xFF800000);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1"), 0);
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, fr(-1)); /* a negative epsilon */
    put_point(g, 0, 0, 0, -2);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1, k=1"), 0);
    put_point(g, 0, 0, 0, -0.5);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1, k=1"), 1);
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, INF_F);
    put_point(g, 0, 0, 0, 1e30);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1"), 0);
    /* integers: the real value counts, (q - zp) * 2^s; eps = 0.5 */
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, HALF_F);
    set_mode(g, MODE_INT16 | MODE_Q | 1 << 14 | 10 << 6 | MODE_SCALE(-4));
    guest_csrw(g, FACET_CSR_GFXPLN0, UINT64_C(0x000A000A000A000A)); /* all zero: d = 0 */
    g->hart->x[10] = g->hart->x[11] = g->hart->x[12] = 10;
    g->hart->x[13] = 10 + 8;
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1"), 0);
    g->hart->x[13] = 10 + 9;
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1"), 1);
    /* tiny eps against a scaled element: 2^-100 against 2^-96 */
    set_mode(g, MODE_FP32 | MODE_Q | MODE_SCALE(-100));
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, 0x0D800000);
    put_point(g, 0, 0, 0, 8);
    guest_csrw(g, FACET_CSR_GFXPLN0, 0);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1, k=1, tt=1"), 1);
    put_point(g, 0, 0, 0, 1);
    guest_csrw(g, FACET_CSR_GFXCLIP_EPS, 0x0F800000);
    CHECK_EQ(cull(g, "GFX.CULL.PLANE x5, x10, z=1, k=1, tt=1"), 0);
    guest_free(g);
}

TEST(frustum_side_and_keep, "GFX-378 GFX-379 GFX-233")
{
    struct guest *g = gfx_make();

    for (unsigned p = 0; p < 6; p++) {
        put_plane(g, p, (const uint32_t[]){fr(1), 0, 0, fr(-1)});
    }
    for (int x = 0; x < 3; x++) { /* d = x - 1 */
        put_point(g, x, 0, 0, 1);
        for (unsigned tt = 0; tt < 4; tt++) {
            const bool in[4] = {x <= 1, x<1, x >= 1, x> 1};
            char text[64];

            for (unsigned k = 0; k < 2; k++) {
                (void)snprintf(text, sizeof text, "GFX.CULL.FRUSTUM x5, x10, tt=%u, k=%u", tt, k);
                CHECK_EQ(cull(g, text), in[tt] != (k != 0));
            }
        }
    }
    /* NaN distances: outside, invalid */
    g->hart->x[10] = NAN_F;
    for (unsigned tt = 0; tt < 4; tt++) {
        char text[64];

        (void)snprintf(text, sizeof text, "GFX.CULL.FRUSTUM x5, x10, tt=%u", tt);
        CHECK_EQ(cull(g, text), 0);
        CHECK_EQ(clear_flags(g), FACET_NV | FACET_QNAN);
    }
    guest_free(g);
}

TEST(random_points_against_plain_arithmetic, "GFX-233 GFX-239 GFX-263")
{
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 1500 && !harness_failed(); round++) {
        unsigned vl = 1 + round % 5, tt = (unsigned)(harness_random() % 4);
        int plane[6][4], point[5][4];
        uint64_t frustum = 0, one = 0, mask = harness_random();

        for (unsigned p = 0; p < 6; p++) {
            uint32_t bits[4];

            for (unsigned k = 0; k < 4; k++) {
                plane[p][k] = (int)(harness_random() % 9) - 4;
                bits[k] = fr(plane[p][k]);
            }
            put_plane(g, p, bits);
        }
        for (unsigned i = 0; i < vl; i++) {
            bool all = true;

            for (unsigned k = 0; k < 4; k++) {
                point[i][k] = (int)(harness_random() % 17) - 8;
                g->hart->x[8 + i + k * vl] = fr(point[i][k]);
            }
            for (unsigned p = 0; p < 6; p++) {
                int d = 0;
                bool in;

                for (unsigned k = 0; k < 4; k++) {
                    d += plane[p][k] * point[i][k];
                }
                in = tt == 0 ? d <= 0 : tt == 1 ? d < 0 : tt == 2 ? d >= 0 : d > 0;
                all = all && in;
                one |= (uint64_t)(p == 2 && in) << i;
            }
            frustum |= (uint64_t)all << i;
        }
        g->hart->units.pmask.bank[1] = mask;
        mask &= (UINT64_C(1) << vl) - 1;
        g->hart->x[30] = g->hart->x[31] = 0;
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   (vl - 1) | FACET_SVSTATE_EN | UINT64_C(1) << 10 |
                       UINT64_C(2) << FACET_SVSTATE_BLK_LSB);
        guest_ok(
            g, "GFX.CULL.FRUSTUM x30, x8, tt=%u\n GFX.CULL.PLANE x31, x8, tt=%u, idx=2\n", tt, tt);
        CHECK_EQ(g->hart->x[30], frustum & mask);
        CHECK_EQ(g->hart->x[31], one & mask);
        CHECK_EQ(raised(g), 0);
    }
    guest_free(g);
}

/* ---- boxes -----------------------------------------------------------------------------------
 */

TEST(box_encodings, "GFX-243")
{
    struct guest *g = gfx_make();
    static const double boxes[3][6] = {
        {-1, -2, 1, 3, 2, 2}, {1, 0, 1.5, 2, 2, 0.5}, {-1, -2, 1, 4, 4, 1}};

    for (unsigned round = 0; round < 40; round++) {
        uint64_t want = 0;

        for (unsigned p = 0; p < 6; p++) {
            uint32_t plane[4];

            for (unsigned k = 0; k < 4; k++) {
                plane[k] = fr((double)(harness_random() % 9) - 4 - (k == 3 ? 6 : 0));
            }
            put_plane(g, p, plane);
        }
        for (unsigned ee = 0; ee < 3; ee++) {
            for (unsigned k = 0; k < 6; k++) {
                g->hart->x[10 + k] = fr(boxes[ee][k]);
            }
            for (unsigned x = 0; x < 2; x++) {
                guest_ok(g, "GFX.CULL.AABB x5, x10, ee=%u, x=%u\n", ee, x);
                want |= ee == 0 ? g->hart->x[5] << x : 0;
                CHECK_EQ(g->hart->x[5], want >> x & 1);
            }
        }
    }
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "GFX.CULL.AABB x5, x10, ee=3\n");
    guest_free(g);
}

/* The corners go through MTX.MUL itself, then through GFX.CULL.PLANE. */
TEST(transformed_boxes_against_matrix_products, "GFX-005 GFX-242 GFX-245 GFX-241")
{
    struct guest *g = gfx_make();

    for (unsigned round = 0; round < 300 && !harness_failed(); round++) {
        uint32_t matrix[16], box[6];
        bool some[6] = {0}, every[6] = {1, 1, 1, 1, 1, 1}, overlap = true, contain = true;
        unsigned transpose = (unsigned)(harness_random() & 1), f = (unsigned)(harness_random() & 1);

        for (unsigned i = 0; i < 16; i++) {
            matrix[i] = fr((double)(harness_random() % 1001) / 100 - 5);
        }
        put_elements(g, TABLE, 4, matrix, 16);
        guest_csrw(g, FACET_CSR_MTXCFG, transpose);
        guest_csrw(g, FACET_CSR_MTXSEL, round % 4);
        for (unsigned p = 0; p < 6; p++) {
            uint32_t plane[4];

            for (unsigned k = 0; k < 4; k++) {
                plane[k] = fr((double)(harness_random() % 201) / 100 - 1 - (k == 3 ? 3 : 0));
            }
            put_plane(g, p, plane);
        }
        for (unsigned k = 0; k < 6; k++) {
            box[k] = fr((double)(harness_random() % 401) / 100 - 2);
        }
        g->hart->x[8] = TABLE;
        guest_ok(g, "mtx.ld x8, shape=15, rowmajor=1\n");
        for (unsigned q = 0; q < 8; q++) {
            const uint32_t corner[4] = {box[(q & 1) != 0 ? 3 : 0],
                                        box[(q & 2) != 0 ? 4 : 1],
                                        box[(q & 4) != 0 ? 5 : 2],
                                        ONE_F};

            put_elements(g, MEM_A, 4, corner, 4);
            g->hart->x[8] = MEM_A;
            g->hart->x[9] = MEM_R;
            guest_ok(g, "mtx.mul x9, x8, shape=15\n");
            for (unsigned k = 0; k < 4; k++) {
                g->hart->x[10 + k] = f != 0 ? guest_load(g, MEM_R + 4 * k, 4) : corner[k];
            }
            for (unsigned p = 0; p < 6; p++) {
                guest_ok(g, "GFX.CULL.PLANE x5, x10, idx=%u\n", p);
                some[p] = some[p] || g->hart->x[5] != 0;
                every[p] = every[p] && g->hart->x[5] != 0;
            }
        }
        for (unsigned p = 0; p < 6; p++) {
            overlap = overlap && some[p];
            contain = contain && every[p];
        }
        for (unsigned k = 0; k < 6; k++) {
            g->hart->x[10 + k] = box[k];
        }
        for (unsigned k = 0; k < 2; k++) {
            guest_ok(g,
                     "GFX.CULL.AABB x5, x10, f=%u, k=%u\n GFX.CULL.AABB x6, x10, f=%u, x=1, k=%u\n",
                     f,
                     k,
                     f,
                     k);
            CHECK_EQ(g->hart->x[5], overlap != (k != 0));
            CHECK_EQ(g->hart->x[6], contain != (k != 0));
        }
    }
    guest_free(g);
}

TEST(boxes_without_matrices, "")
{
    struct guest *g;

    gfx_without = FACET_CAP_FEAT0_MTX_PRESENT;
    g = gfx_make();
    gfx_without = 0;
    open_planes(g);
    guest_ok(g, "GFX.CULL.AABB x5, x10\n");
    CHECK_EQ(g->hart->x[5], 1);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.CULL.AABB x5, x10, f=1\n"), 0x201512AB);
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

/* ---- masks -----------------------------------------------------------------------------------
 */

TEST(composed_masks_have_64_bits, "GFX-247 GFX-248 GFX-249 GFX-250 GFX-251 GFX-246")
{
    struct guest *g = gfx_make();
    struct facet_pmask *pm = &g->hart->units.pmask;

    for (unsigned round = 0; round < 500; round++) {
        uint64_t bank[4] = {0, harness_random(), harness_random(), harness_random()};
        unsigned pd = (unsigned)(harness_random() % 4), pa = (unsigned)(harness_random() % 4);
        unsigned pb = (unsigned)(harness_random() % 4), op = (unsigned)(harness_random() % 4);
        unsigned inv = (unsigned)(harness_random() & 1), vl = 1 + (unsigned)(harness_random() % 64);
        uint64_t ones = vl == 64 ? ~UINT64_C(0) : (UINT64_C(1) << vl) - 1;
        uint64_t a = pa == 0 ? ones : bank[pa], b = pb == 0 ? ones : bank[pb], want;
        bool p0 = (harness_random() & 1) != 0;

        b = inv != 0 ? ~b : b;
        want = op == 0 ? a & b : op == 1 ? a | b : op == 2 ? a ^ b : b;
        memcpy(pm->bank, bank, sizeof bank);
        pm->p0 = p0;
        /* RSV on or off, predicates or not: once, on all bits */
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   (vl - 1) | (round % 2 != 0 ? FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT : 0) |
                       UINT64_C(1) << 10);
        guest_ok(g, "GFX.CULL.COMPOSE %u, %u, %u, op=%u, inv=%u\n", pd, pa, pb, op, inv);
        for (unsigned k = 1; k < 4; k++) {
            CHECK_EQ(pm->bank[k], k == pd ? want : bank[k]);
        }
        CHECK_EQ(pm->p0, pd != 0 ? (want & 1) != 0 : p0);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_EN,
                 round % 2 != 0 ? FACET_SVSTATE_EN : 0); /* the prefix is not spent */
    }
    guest_free(g);
}

TEST(culled_lanes_do_no_work, "GFX-013")
{
    struct guest *g = gfx_make();
    struct watch w;

    open_planes(g);
    put_plane(g, 0, (const uint32_t[]){fr(1), 0, 0, fr(-1)});
    for (unsigned i = 0; i < 4; i++) { /* x = 0, 2, 0, 2 */
        g->hart->x[10 + i] = fr(i % 2 * 2);
        g->hart->x[14 + i] = g->hart->x[18 + i] = 0;
        g->hart->x[22 + i] = fr(1);
    }
    guest_csrw(g, FACET_CSR_SVSTATE, 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
    guest_ok(g, "GFX.CULL.FRUSTUM x5, x10, pd=1\n");
    CHECK_EQ(g->hart->units.pmask.bank[1], 5);
    CHECK_EQ(g->hart->units.pmask.p0, 1);
    texture(g, 0x02, 4, 1, 4);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[10 + i] = fr(i);
        g->hart->x[14 + i] = 0;
    }
    guest_csrw(
        g, FACET_CSR_SVSTATE, 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10\n").taken);
    CHECK_EQ(w.reads, 2);
    CHECK_EQ(w.read_at[0], TEXTURE);
    CHECK_EQ(w.read_at[1], TEXTURE + 2);
    guest_free(g);
}

/* ---- streams ---------------------------------------------------------------------------------
 */

/* Lane i of eight: X slot j is 0x1000 * j + i, window B in memory. */
static void stream_lanes(struct guest *g)
{
    set_cfg(g, EN | BMEM);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned j = 0; j < 7; j++) {
            guest_store(g, MEM_B + 8 * (8 * j + i), 8, 0x1000 * j + i);
        }
    }
    g->hart->x[10] = STREAM;
    g->hart->x[18] = MEM_B; /* B starts one row of eight lanes behind A */
    for (unsigned k = 0; k < 512; k += 8) {
        guest_store(g, STREAM + k, 8, 0x5A5A5A5A5A5A5A5A);
    }
}

static void compact(struct guest *g, uint64_t mask, const char *options)
{
    g->hart->units.pmask.bank[1] = mask;
    g->hart->x[9] = 77;
    guest_csrw(
        g, FACET_CSR_SVSTATE, 7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
    guest_ok(g, "GFX.CULL.COMPACT x9, x10, %s\n", options);
    CHECK_EQ(g->hart->x[10], STREAM);
}

TEST(stream_records, "")
{
    struct guest *g = gfx_make();

    for (unsigned mm = 0; mm < 3; mm++) {
        for (unsigned aa = 0; aa < 4; aa++) {
            for (unsigned rr = 0; rr < 4; rr++) {
                unsigned size = mm == 1 ? 4 : 8, words = mm == 1 ? 1 : (mm == 0) + aa + rr;
                uint64_t mask = 0xB2, address = STREAM; /* lanes 1, 4, 5, 7 */
                char text[80];

                if (mm == 1 && aa + rr != 0) {
                    (void)guest_traps(g,
                                      FACET_CAUSE_ILLEGAL,
                                      "GFX.CULL.COMPACT x9, x10, mm=1, aa=%u, rr=%u\n",
                                      aa,
                                      rr);
                    continue;
                }
                harness_row(mm == 1 ? "GFX-253 GFX-257" : "GFX-253 GFX-256 GFX-258");
                stream_lanes(g);
                (void)snprintf(text, sizeof text, "mm=%u, aa=%u, rr=%u, cc=1", mm, aa, rr);
                compact(g, mask, text);
                CHECK_ID("GFX-259", g->hart->x[9] == 4);
                for (unsigned i = 0; i < 8; i++) {
                    unsigned done = 0;

                    if ((mask >> i & 1) == 0) {
                        continue;
                    }
                    for (unsigned j = mm == 0 ? 0 : 1; j < 7 && mm != 1; j++) {
                        if (j <= aa || (j >= 4 && j < 4 + rr)) {
                            CHECK_EQ(guest_load(g, address, 8), 0x1000 * j + i);
                            CHECK_ID(j <= aa ? "GFX-254" : "GFX-255",
                                     guest_load(g, address, 8) == 0x1000 * j + i);
                            address += 8;
                            done++;
                        }
                    }
                    if (mm == 1) {
                        CHECK_EQ(guest_load(g, address, 4), i);
                        address += 4;
                        done++;
                    }
                    CHECK_EQ(done, words);
                }
                CHECK_EQ(guest_load(g, address, size), size == 4 ? 0x5A5A5A5A : 0x5A5A5A5A5A5A5A5A);
            }
        }
    }
    harness_row("GFX-253");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "GFX.CULL.COMPACT x9, x10, mm=3\n");
    harness_row("GFX-259");
    stream_lanes(g);
    compact(g, 0, "cc=1");
    CHECK_EQ(g->hart->x[9], 0);
    compact(g, 0xFF, "cc=0");
    CHECK_EQ(g->hart->x[9], 77);
    harness_row("GFX-256"); /* survivors of a second bank */
    g->hart->units.pmask.bank[2] = 0x0F;
    compact(g, 0x3C, "cc=1, ps=2, mm=1");
    CHECK_EQ(g->hart->x[9], 2);
    CHECK_EQ(guest_load(g, STREAM, 8), UINT64_C(3) << 32 | 2);
    guest_free(g);
}

TEST(masked_lanes_write_no_records, "GFX-260")
{
    struct guest *g = gfx_make();

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        set_mode(g, MODE_FP32 | (zmode != 0 ? MODE_ZMODE : 0));
        stream_lanes(g);
        compact(g, 0x81, "cc=1");
        CHECK_EQ(g->hart->x[9], 2);
        CHECK_EQ(guest_load(g, STREAM, 8), 0);
        CHECK_EQ(guest_load(g, STREAM + 8, 8), 7);
        CHECK_EQ(guest_load(g, STREAM + 16, 8), 0x5A5A5A5A5A5A5A5A);
    }
    guest_free(g);
}

TEST(stream_faults, "GFX-372")
{
    struct guest *g = gfx_make();

    stream_lanes(g);
    g->hart->units.pmask.bank[1] = 0xFE;
    for (unsigned i = 0; i < 3; i++) {
        static const uint64_t at[3] = {
            STREAM + 4, BAD, (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - 24};
        static const enum facet_cause cause[3] = {
            FACET_CAUSE_STORE_MISALIGNED, FACET_CAUSE_STORE_FAULT, FACET_CAUSE_STORE_FAULT};

        g->hart->x[10] = at[i];
        g->hart->x[9] = 77;
        guest_csrw(g,
                   FACET_CSR_SVSTATE,
                   7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10);
        CHECK_EQ(guest_traps(g, cause[i], "GFX.CULL.COMPACT x9, x10, cc=1\n"),
                 i < 2 ? at[i] : (uint64_t)GUEST_CODE + GUEST_RAM_BYTES);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI) & 0x3F, i < 2 ? 1 : 4); /* lane */
        CHECK_EQ(g->hart->x[9], 77);
        g->hart->units.rsv.svstate = 0;
    }
    /* the last record would not fit: the first is not written */
    CHECK_EQ(guest_load(g, (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - 24, 8), 0);
    guest_free(g);
}
