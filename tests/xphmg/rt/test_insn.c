/* RT.BBOX and RT.TRI on the hart: the worked examples of the contract, lanes, predication,
 * writeback, traps, counters, registers and capabilities. */
#include "xphmg/rt/rt_test.h"

#include "facet/observer.h"
#include "num/container.h"

#include <stdio.h>

/* FP32 tile with four copies of a box, a TriRange of one triangle, registers that point at them. */
static void
scene(struct guest *g, const uint32_t ray[9], const uint32_t *box, const uint32_t *triangle)
{
    put_words(g, RAY, ray, 9);
    for (unsigned c = 0; c < 4 && box != NULL; c++) {
        put_words(g, TILE + 24 * c, box, 6);
    }
    guest_store(g, TILE + 0x7C, 4, 0x55);
    if (triangle != NULL) {
        put_words(g, VERTICES, triangle, 9);
    }
    guest_store(g, RANGE, 4, 0);
    guest_store(g, RANGE + 4, 4, 1);
    guest_store(g, RANGE + 8, 8, VERTICES);
    guest_csrw(g, FACET_CSR_RTNODE - 0x7FA0 + 0x820, TILE);
    guest_csrw(g, FACET_CSR_RTTRI - 0x7FA0 + 0x820, RANGE);
    g->hart->x[10] = RAY;
}

/* A ray along z that hits the unit box and the triangle (0,0,0) (1,0,0) (0,1,0) from behind. */
static const uint32_t plain_ray[9] = {
    0x3E800000, 0x3E800000, 0xC0000000, 0, 0, ONE_F, 0, INF_F, ONE_F};
static const uint32_t plain_box[6] = {0xBF800000, 0xBF800000, 0xBF800000, ONE_F, ONE_F, ONE_F};
static const uint32_t plain_triangle[9] = {0, 0, 0, ONE_F, 0, 0, 0, ONE_F, 0};

static struct guest *plain(void)
{
    struct guest *g = guest_make("full");

    set_mode(g, MODE_FP32);
    scene(g, plain_ray, plain_box, plain_triangle);
    return g;
}

static void set_bank(struct guest *g, unsigned bank, uint64_t bits)
{
    g->hart->units.pmask.bank[bank] = bits;
    guest_csrw(
        g, FACET_CSR_SVSTATE, FACET_PUT(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_PBANK, bank));
}

/* ---- worked examples ---------------------------------------------------------------------------
 */

static void
run_example(struct guest *g, const struct rt_example *e, const char *prefix, unsigned flags)
{
    set_mode(g, fp32_mode(e->rm));
    scene(g, e->ray, e->triangle ? NULL : e->item, e->triangle ? e->item : NULL);
    guest_csrw(g, 0x820, (uint64_t)e->eps << 8);
    flags |= e->triangle ? e->cull_back : e->t_clamp | (unsigned)e->w_guard << 3;
    for (unsigned i = 0; i < 6; i++) {
        g->hart->x[11 + i] = 0x77;
    }
    g->hart->units.pmask.p0 = !e->hit;
    guest_ok(g, "%s rt.%s x12, x10, %u\n", prefix, e->triangle ? "tri" : "bbox", flags);
}

/* The rows that an example is about. */
static void row_of_example(const struct rt_example *e)
{
    char ids[96];

    (void)snprintf(ids,
                   sizeof ids,
                   "%s %s %s %s %s %s %s",
                   e->triangle                ? "RT-162"
                   : e->t_clamp || e->w_guard ? ""
                                              : "RT-144 RT-147",
                   e->t_clamp ? "RT-135" : "",
                   e->w_guard ? "RT-114 RT-139" : "",
                   e->cull_back ? "RT-155" : "",
                   strncmp(e->name, "X12", 3) == 0 ? "RT-174" : "",
                   strncmp(e->name, "X19", 3) == 0   ? "RT-037"
                   : strncmp(e->name, "X22", 3) == 0 ? "RT-165"
                                                     : "",
                   e->triangle && !e->hit ? "RT-168" : "");
    harness_row(ids);
}

static void row_of_flags(unsigned flags)
{
    char ids[64];

    (void)snprintf(ids,
                   sizeof ids,
                   "%s %s %s %s %s",
                   flags & FACET_NV ? "RT-208" : "",
                   flags & FACET_DZ ? "RT-209" : "",
                   flags & FACET_NX ? "RT-212" : "",
                   flags & FACET_SNAN ? "RT-213" : "",
                   flags & FACET_QNAN ? "RT-214" : "");
    harness_row(ids);
}

static void check_scalar(const struct rt_example *e, void *context)
{
    struct guest *g = context;
    unsigned count = e->triangle ? 3 : 2;
    uint64_t kept[32], flags;

    row_of_example(e);
    run_example(g, e, "", 0);
    CHECK_MSG(g->hart->x[12] == e->hit, "%s: hit", e->name);
    for (unsigned i = 0; i < count; i++) {
        CHECK_MSG(g->hart->x[13 + i] == e->value[i], "%s: value %u", e->name, i);
    }
    CHECK_EQ(g->hart->x[13 + count], 0x77);
    CHECK_EQ(g->hart->x[11], 0x77);
    row_of_flags(e->flags);
    CHECK_MSG(exc_st(g) == e->flags, "%s: flags", e->name);
    harness_row("RT-194");
    CHECK_EQ(stat_bits(g), 0);
    CHECK_MSG(g->hart->units.pmask.p0 == e->hit, "%s: P0", e->name);
    CHECK_EQ(g->hart->units.pmask.bank[1] | g->hart->units.pmask.bank[2] |
                 g->hart->units.pmask.bank[3],
             0);
    harness_row("RT-249 RSV-139"); /* lane 0 of VL = 1 is the scalar instruction */
    memcpy(kept, g->hart->x, sizeof kept);
    flags = exc_st(g);
    run_example(g, e, "svp.one.vlstep 1, 0, 1\n", 0);
    CHECK_MSG(memcmp(kept, g->hart->x, sizeof kept) == 0, "%s: VL = 1", e->name);
    CHECK_MSG(exc_st(g) == flags && g->hart->units.pmask.p0 == e->hit, "%s: VL = 1", e->name);
    /* The epsilon of EPS_SCALE is the same number. */
    if (e->triangle) {
        harness_row("RT-158");
        guest_csrw(g, 0x827, e->eps);
        run_example(g, e, "", 8);
        CHECK_MSG(memcmp(kept, g->hart->x, sizeof kept) == 0, "%s: EPS_CTL", e->name);
    }
    /* PRED_ONLY: the predicate alone. */
    harness_row(e->triangle ? "RT-156 RT-160" : "RT-137");
    run_example(g, e, "", 2);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(g->hart->x[11 + i], 0x77);
    }
    CHECK_MSG(g->hart->units.pmask.p0 == e->hit, "%s: P0 of PRED_ONLY", e->name);
    CHECK_MSG((exc_st(g) & ~e->flags) == 0, "%s: PRED_ONLY raises more", e->name);
}

TEST(worked_examples, "")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(rt_examples(check_scalar, g), 39);
    guest_free(g);
}

/* One element at a time: where the hit of x + y <= 1 in the plane z = 0 moves to. */
TEST(ray_elements_stand_in_their_order, "RT-001 RT-110")
{
    static const struct {
        uint32_t element, hit, t, u, v;
    } moved[8] = {
        {0x3F000000, 1, 0x40000000, 0x3F000000, 0x3E800000}, /* origin x = 0.5: u */
        {0x3F000000, 1, 0x40000000, 0x3E800000, 0x3F000000}, /* y: v */
        {0xC0800000, 1, 0x40800000, 0x3E800000, 0x3E800000}, /* z = -4: t */
        {0x3E000000, 1, 0x40000000, 0x3F000000, 0x3E800000}, /* direction x = 0.125: u */
        {0x3E000000, 1, 0x40000000, 0x3E800000, 0x3F000000}, /* y: v */
        {0x40000000, 1, 0x3F800000, 0x3E800000, 0x3E800000}, /* z = 2: t */
        {0x40400000, 0, 0x7F800000, 0, 0},                   /* tmin = 3: too late */
        {0x3F800000, 0, 0x7F800000, 0, 0},                   /* tmax = 1: too early */
    };

    for (unsigned k = 0; k < 8; k++) {
        struct guest *g = plain();

        guest_store(g, RAY + 4 * k, 4, moved[k].element);
        guest_ok(g, "rt.tri x12, x10\n");
        CHECK_EQ(g->hart->x[12], moved[k].hit);
        CHECK_EQ(g->hart->x[13], moved[k].t);
        CHECK_EQ(g->hart->x[14], moved[k].u);
        CHECK_EQ(g->hart->x[15], moved[k].v);
        guest_free(g);
    }
}

TEST(nan_policy_decides_what_a_nan_lane_writes, "RT-243")
{
    static const uint64_t want[] = {0x7FC00000, 0, 0x7F800000};
    uint32_t ray[9];

    for (unsigned policy = 0; policy < 3; policy++) {
        struct guest *g = guest_make("full");

        memcpy(ray, plain_ray, sizeof ray);
        ray[1] = 0x7FC00001;
        set_mode(g, MODE_FP32 | (uint64_t)policy << 34);
        scene(g, ray, plain_box, plain_triangle);
        guest_ok(g, "rt.bbox x12, x10\n rt.tri x20, x10\n");
        CHECK_EQ(g->hart->x[12], 0);
        CHECK_EQ(g->hart->x[13], want[policy]);
        CHECK_EQ(g->hart->x[14], want[policy]);
        CHECK_EQ(g->hart->x[20], 0);
        CHECK_EQ(g->hart->x[21], want[policy]);
        CHECK_EQ(g->hart->x[23], want[policy]);
        guest_free(g);
    }
}

static const uint8_t x13_ray[16] = {
    0x00, 0x38, 0x00, 0x34, 0x00, 0xc4, 0x00, 0x30, 0x00, 0xac, 0x00, 0x3c, 0x00, 0x00, 0xd0, 0x63};
static const uint8_t x13_tile[64] = {
    0x00, 0xbc, 0x00, 0xbc, 0x00, 0xbc, 0x00, 0x3c, 0x00, 0x3c, 0x00, 0x3c, 0x00, 0x38, 0x00, 0xc0,
    0x00, 0x40, 0x00, 0x42, 0x00, 0x38, 0x00, 0x46, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0xc8, 0x00, 0xc8, 0x00, 0xc8, 0x00, 0xc7, 0x00, 0x48, 0x00, 0x48,
    0x05, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x49, 0x56, 0x34, 0x12};

static struct guest *x13(void)
{
    struct guest *g = guest_make("full");

    CHECK_EQ(facet_mem_poke(g->mem, RAY, x13_ray, sizeof x13_ray).fault, FACET_MEM_OK);
    CHECK_EQ(facet_mem_poke(g->mem, TILE, x13_tile, sizeof x13_tile).fault, FACET_MEM_OK);
    set_mode(g, MODE_FP16);
    guest_csrw(g, 0x82A, TILE);
    g->hart->x[10] = RAY;
    for (unsigned i = 12; i < 32; i++) {
        g->hart->x[i] = 0x77;
    }
    return g;
}

TEST(four_lanes_under_a_mask, "")
{
    static const uint64_t hit[] = {1, 0, 0, 0}, near[] = {0x4200, 0, 0x7c00, 0x7c00};
    static const uint64_t far[] = {0x4400, 0, 0xfc00, 0xfc00};
    static const uint64_t packed[] = {0x8000000044004200, 0, 0xfc007c00, 0xfc007c00};

    for (unsigned form = 0; form < 4; form++) { /* unpacked, packed; ZMODE 0, 1 */
        struct guest *g = x13();
        bool pack = (form & 1) != 0, zero = form >= 2;
        unsigned bank = pack ? 2 : 1;

        set_mode(g, MODE_FP16 | (zero ? 8 : 0));
        set_bank(g, bank, 0xD);
        guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10, %u\n", pack ? 4 : 0);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t masked = zero ? 0 : 0x77;

            harness_row(i == 1 && zero ? "RT-003 RT-130 RT-178 RT-192 RT-200"
                        : i == 1       ? "RT-003 RT-130 RT-178 RT-192 RT-199"
                        : pack         ? "RT-138"
                        : i == 0       ? "RT-006 RT-087 RT-088 RT-130 RT-146 RT-188"
                                       : "RT-003 RT-087 RT-088 RT-188 RT-196");
            CHECK_EQ(g->hart->x[12 + i], i == 1 ? masked : pack ? packed[i] : hit[i]);
            CHECK_EQ(g->hart->x[16 + i], pack ? 0x77 : i == 1 ? masked : near[i]);
            CHECK_EQ(g->hart->x[20 + i], pack ? 0x77 : i == 1 ? masked : far[i]);
        }
        harness_row("");
        CHECK_EQ(g->hart->x[24], 0x77);
        CHECK_ID("RT-131 RT-150 RT-193", g->hart->units.pmask.bank[bank] == 1);
        CHECK_ID("RT-133", g->hart->units.pmask.bank[3 - bank] == 0);
        CHECK_ID("RT-133", g->hart->units.pmask.bank[bank] == 1);
        CHECK_EQ(g->hart->units.pmask.p0, 1);
        CHECK_EQ(exc_st(g), 0);
        CHECK_ID("RT-077 RT-206", stat_bits(g) == FACET_DOWN);
        CHECK_ID("RT-043 RT-189", boxes(g) == 2);
        CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_EN), 0);
        guest_free(g);
    }
}

/* The rays of masked lanes lie where nothing can be read. */
TEST(masked_lanes_read_nothing, "RT-245")
{
    for (unsigned form = 0; form < 4; form++) { /* bbox, tri; ZMODE 0, 1 */
        struct guest *g = plain();
        bool zero = form >= 2;
        unsigned slots = (form & 1) != 0 ? 4 : 3;

        set_mode(g, MODE_FP32 | (zero ? 8 : 0));
        for (unsigned i = 0; i < 4; i++) {
            g->hart->x[8 + i] = i % 2 == 0 ? RAY : 8;
        }
        for (unsigned i = 16; i < 32; i++) {
            g->hart->x[i] = 0x77;
        }
        set_bank(g, 1, 5);
        guest_ok(g, "svp.one.vlstep 4, 1, 1\n rt.%s x16, x8\n", slots == 4 ? "tri" : "bbox");
        for (unsigned k = 0; k < slots; k++) {
            CHECK(g->hart->x[16 + 4 * k] != 0x77 && g->hart->x[18 + 4 * k] != 0x77);
            CHECK_EQ(g->hart->x[17 + 4 * k], zero ? 0 : 0x77);
            CHECK_EQ(g->hart->x[19 + 4 * k], zero ? 0 : 0x77);
        }
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
        guest_free(g);
    }
}

TEST(bank_zero_runs_every_lane, "")
{
    struct guest *g = x13();

    g->hart->units.pmask.bank[1] = 0;
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10\n");
    harness_row("RT-004");
    CHECK_EQ(g->hart->x[13], 1);
    CHECK_EQ(g->hart->x[17], 0x4600);
    CHECK_EQ(g->hart->x[21], 0x4900);
    CHECK_ID("RT-194", (g->hart->units.pmask.bank[1] | g->hart->units.pmask.bank[2]) == 0);
    CHECK_EQ(boxes(g), 3);
    harness_row("RT-132"); /* scalar, child FIRST; PBANK does not act */
    set_bank(g, 1, 0);
    guest_csrw(g, 0x82A, TILE | 1);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 0x4600);
    CHECK_EQ(g->hart->x[14], 0x4900);
    CHECK_ID("RT-194", g->hart->units.pmask.p0 == 1);
    harness_row("RT-143"); /* the same tile elsewhere, its children in another order */
    CHECK_EQ(facet_mem_poke(g->mem, TILE + 64, x13_tile + 12, 12).fault, FACET_MEM_OK);
    guest_store(g, TILE + 124, 4, 0x55);
    guest_csrw(g, 0x82A, TILE + 64);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[13], 0x4600);
    guest_csrw(g, 0x82A, TILE);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[13], 0x4200);
    harness_row("RT-142"); /* another ray, which looks away */
    CHECK_EQ(facet_mem_poke(g->mem, RAY + 0x40, x13_ray, sizeof x13_ray).fault, FACET_MEM_OK);
    guest_store(g, RAY + 0x40 + 10, 2, 0xBC00);
    g->hart->x[10] = RAY + 0x40;
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 0);
    guest_free(g);
}

/* ---- registers of results ----------------------------------------------------------------------
 */

TEST(windows_place_the_slots, "RT-144 RT-145 RT-203")
{
    struct guest *g = plain();

    /* D.inc = 2: slot k of lane i at base + 2i + 2 VL k */
    guest_csrw(g, FACET_CSR_SVDST, UINT64_C(1) << 63 | 2 << 8 | 12);
    for (unsigned i = 11; i < 32; i++) {
        g->hart->x[i] = 0x77;
    }
    guest_csrw(g, FACET_CSR_SVSRCA, UINT64_C(1) << 63 | 10);
    guest_ok(g, "svsetvl x0, 2\n svon.one\n rt.bbox x1, x2\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[14], 1);
    CHECK_EQ(g->hart->x[16], ONE_F);
    CHECK_EQ(g->hart->x[18], ONE_F);
    CHECK_EQ(g->hart->x[20], 0x40400000);
    CHECK_EQ(g->hart->x[22], 0x40400000);
    for (unsigned i = 11; i < 24; i += 2) {
        CHECK_EQ(g->hart->x[i], 0x77);
    }
    /* D.inc = 0: the highest lane stays, slots follow each other. */
    guest_csrw(g, FACET_CSR_SVDST, UINT64_C(1) << 63 | 12);
    g->hart->x[15] = 0x77;
    guest_ok(g, "svon.one\n rt.bbox x1, x2\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], ONE_F);
    CHECK_EQ(g->hart->x[14], 0x40400000);
    CHECK_EQ(g->hart->x[15], 0x77);
    /* Negative strides and the wrap at 32; x0 in a window drops its value. */
    guest_csrw(g, FACET_CSR_SVDST, UINT64_C(1) << 63 | 0xFF << 8 | 0);
    guest_ok(g, "svon.one\n rt.bbox x1, x2, 4\n");
    CHECK_EQ(g->hart->x[0], 0);
    CHECK_EQ(g->hart->x[31], 0x8000000042003c00);
    /* rd = x0 without a window: everything is dropped but the predicates. */
    guest_csrw(g, FACET_CSR_SVDST, 0);
    guest_csrw(g, FACET_CSR_SVSRCA, 0);
    for (unsigned rsv = 0; rsv < 2; rsv++) {
        uint64_t kept[32];

        g->hart->units.pmask.p0 = false;
        memcpy(kept, g->hart->x, sizeof kept);
        guest_ok(g, "%s rt.bbox x0, x10\n", rsv != 0 ? "svp.one.vlstep 2, 0, 1\n" : "");
        CHECK(memcmp(kept, g->hart->x, sizeof kept) == 0);
        CHECK_EQ(g->hart->units.pmask.p0, 1);
    }
    /* PRED_ONLY writes nothing, ZMODE or not. */
    set_mode(g, MODE_FP32 | 8);
    set_bank(g, 1, 1);
    g->hart->x[12] = g->hart->x[13] = 0x77;
    guest_ok(g, "svp.one.vlstep 2, 0, 1\n rt.bbox x12, x10, 2\n");
    CHECK_EQ(g->hart->x[12], 0x77);
    CHECK_EQ(g->hart->x[13], 0x77);
    guest_free(g);
}

TEST(packed_registers, "RT-036 RT-138 RT-157 RT-239")
{
    struct guest *g = plain();

    g->hart->x[13] = g->hart->x[21] = 0x77;
    guest_ok(g, "rt.bbox x12, x10, pack_hint\n rt.tri x20, x10, pack_hint\n");
    CHECK_EQ(g->hart->x[12], 0x8000000042003c00);
    CHECK_EQ(g->hart->x[20], 0x8000340034004000);
    CHECK_EQ(g->hart->x[13], 0x77);
    CHECK_EQ(g->hart->x[21], 0x77);
    CHECK_EQ(stat_bits(g), FACET_DOWN);
    guest_csrw(g, 0x820, 4);
    g->hart->x[12] = 0;
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 0x8000000042003c00);
    CHECK_EQ(g->hart->x[13], 0x77);
    guest_free(g);
}

/* ---- which ray meets what ----------------------------------------------------------------------
 */

TEST(triangles_of_a_range, "")
{
    struct guest *g = plain();
    uint32_t away[9];

    memcpy(away, plain_triangle, sizeof away);
    away[0] = away[3] = away[6] = 0x41200000; /* x = 10: a miss */
    put_words(g, VERTICES + 36, away, 9);
    put_words(g, VERTICES + 72, plain_triangle, 9);
    guest_store(g, RANGE, 4, 1); /* first */
    guest_store(g, RANGE + 4, 4, 2);
    set_bank(g, 1, 0xF);
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.tri x0, x10\n");
    harness_row("RT-101 RT-104 RT-167");
    CHECK_EQ(g->hart->units.pmask.bank[1], 2); /* triangles 1 and 2; then beyond the range */
    CHECK_ID("RT-102", triangles(g) == 2);
    harness_row("RT-102 RT-103"); /* beyond the range nothing is read */
    guest_store(g, RANGE + 8, 8, END - 36);
    guest_store(g, RANGE, 4, 0);
    guest_store(g, RANGE + 4, 4, 1);
    put_words(g, END - 36, plain_triangle, 9);
    set_bank(g, 1, 0xF);
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.tri x0, x10\n");
    CHECK_EQ(g->hart->units.pmask.bank[1], 1);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
    harness_row("RT-161"); /* another range, of a triangle that is missed */
    guest_store(g, RANGE + 16, 8, UINT64_C(1) << 32 | 1);
    guest_store(g, RANGE + 24, 8, VERTICES);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    guest_csrw(g, 0x82B, RANGE + 16);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(g->hart->x[12], 0);
    harness_row("RT-101");
    /* FIRST, and index arithmetic modulo 2^32. */
    guest_store(g, RANGE, 4, 0xFFFFFFFE);
    guest_store(g, RANGE + 4, 4, 3);
    guest_csrw(g, 0x82B, RANGE | 2);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    harness_row("RT-167");
    /* Several rays against one triangle: a window with an increment. */
    guest_csrw(g, 0x82B, RANGE | 2);
    g->hart->x[10] = RAY;
    g->hart->x[11] = RAY + 0x40;
    put_words(g, RAY + 0x40, plain_ray, 8);
    guest_store(g, RAY + 0x40, 4, 0x41200000);
    set_bank(g, 1, 3);
    guest_ok(g, "svp.one.vlstep 2, 1, 1\n rt.tri x0, x10\n");
    CHECK_EQ(g->hart->units.pmask.bank[1], 1);
    guest_free(g);
}

TEST(children_first_then_rays, "RT-089 RT-090 RT-094 RT-106 RT-107")
{
    struct guest *g = plain();

    /* A BVHNode8 whose children are hit by x coordinate: child c covers [c, c + 0.5]. */
    for (unsigned c = 0; c < 8; c++) {
        static const uint32_t at[] = {0,
                                      0x3F800000,
                                      0x40000000,
                                      0x40400000,
                                      0x40800000,
                                      0x40A00000,
                                      0x40C00000,
                                      0x40E00000,
                                      0x41000000};
        uint64_t box = TILE + 0x80 * (c / 4) + 24 * (c % 4);

        put_words(g, box, plain_box, 6);
        guest_store(g, box, 4, at[c]);
        guest_store(g, box + 12, 4, at[c + 1]);
    }
    guest_store(g, TILE + 0xFC, 4, 0xAA); /* leaves and nodes are alike here */
    for (unsigned r = 0; r < 3; r++) {    /* x = 0.25, 2.5, 6.75 */
        static const uint32_t at[] = {0x3E800000, 0x40200000, 0x40D80000};

        put_words(g, RAY + 0x40 * r, plain_ray, 8);
        guest_store(g, RAY + 0x40 * r, 4, at[r]);
        g->hart->x[10 + r] = RAY + 0x40 * r;
    }
    guest_csrw(g, 0x82A, TILE | 8);
    set_bank(g, 2, ~UINT64_C(0));
    guest_ok(g, "svp.one.vlstep 24, 1, 1\n rt.bbox x0, x10, pred_only\n");
    CHECK_EQ(g->hart->units.pmask.bank[2], 0xFFFFFFFFFF400401); /* bits from VL on stay */
    CHECK_EQ(boxes(g), 24);
    /* FIRST turns the pairs: p = 3, 4, ... */
    guest_csrw(g, 0x82A, TILE | 8 | 3);
    set_bank(g, 2, ~UINT64_C(0));
    guest_ok(g, "svp.one.vlstep 20, 1, 1\n rt.bbox x0, x10, pred_only\n");
    CHECK_EQ(g->hart->units.pmask.bank[2] & 0xFFFFF, 0x80080);
    /* A BVHNode4 takes FIRST modulo 4, so lane 0 has the first ray; x11 is another one. */
    guest_csrw(g, 0x82A, TILE | 6);
    set_bank(g, 2, ~UINT64_C(0));
    guest_ok(g, "svp.one.vlstep 6, 1, 1\n rt.bbox x0, x10, pred_only\n");
    CHECK_EQ(g->hart->units.pmask.bank[2] & 0x3F, 1 << 4); /* pairs 2..7: ray 1 meets child 2 */
    /* Each empty type misses and is not read. */
    for (unsigned type = 0; type < 4; type++) {
        guest_store(g, TILE + 0x7C, 4, type << 2 | 0x51);
        guest_csrw(g, 0x82A, TILE | 5);
        g->hart->x[10] = RAY + 0x40;
        guest_store(g, RAY + 0x40, 4, 0x3FC00000);
        guest_ok(g, "rt.bbox x12, x10\n");
        CHECK_EQ(g->hart->x[12], type == 1 || type == 2);
    }
    guest_free(g);
}

TEST(empty_children_are_not_read, "RT-097")
{
    struct guest *g = guest_make("full");
    uint64_t tile = END - 0x80;

    /* FP32 in 64-bit containers: TS = 256, boxes of 48 bytes. The tile straddles the end of memory,
     * so only what is in front can be read; here the flags are not. */
    set_mode(g, MODE_FP32);
    put_words(g, RAY, plain_ray, 9);
    g->hart->x[10] = RAY;
    guest_csrw(g, 0x82A, tile);
    guest_store(g, tile + 0x7C, 4, 0x41); /* children 0 and 3; their boxes lie inside */
    guest_ok(g, "rt.bbox x12, x10\n");
    guest_csrw(g, 0x82A, (tile + 0x40) | 1);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10\n"), tile + 0xBC);
    /* A secure block in LDS holds the box of child 2 of a 256-byte tile, the rest is open. */
    set_mode(g, 0x00380000);
    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, RAY + 8 * i, 8, plain_ray[i]);
    }
    g->xmem->blocks[0] =
        (struct facet_lds_block){.offset = 0x60, .size = 0x30, .dom = 15, .sec = 2};
    g->xmem->block_count = 1;
    for (unsigned type = 0; type < 4; type++) {
        guest_store(g, FACET_XLDSBASE_RESET + 0xFC, 4, type << 4);
        guest_csrw(g, 0x82A, FACET_XLDSBASE_RESET | 2);
        if (type == 0 || type == 3) {
            guest_ok(g, "rt.bbox x12, x10\n");
            CHECK_EQ(g->hart->x[12], 0);
        } else {
            CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10\n"),
                     FACET_XLDSBASE_RESET + 0x60);
        }
    }
    guest_free(g);
}

/* ---- faults and traps --------------------------------------------------------------------------
 */

TEST(memory_faults_come_in_fetch_order, "RT-086 RT-112 RT-113")
{
    struct guest *g = plain();
    static const struct {
        bool ray, tile, item;
    } order[] = {{true, true, true}, {false, true, true}, {false, false, true}};

    for (unsigned i = 0; i < 3; i++) {
        uint64_t want = order[i].ray ? BAD : order[i].tile ? BAD + 0x7C : BAD + 0x400;

        g->hart->x[10] = order[i].ray ? BAD : RAY;
        guest_csrw(g, 0x82A, order[i].tile ? BAD : TILE);
        guest_csrw(g, 0x82B, order[i].tile ? BAD : RANGE);
        guest_store(g, RANGE + 8, 8, order[i].item ? BAD + 0x400 : VERTICES);
        if (order[i].tile) {
            CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10\n"), want);
        }
        want = order[i].ray ? BAD : order[i].tile ? BAD : BAD + 0x400;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.tri x12, x10\n"), want);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
        guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~UINT64_C(0));
        CHECK_EQ(exc_st(g), 0);
        CHECK_EQ(last_ec(g), 0);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0); /* without RSV */
    CHECK_EQ(boxes(g) + triangles(g), 0);
    /* Alignment: record, tile and TriRange by the heap base. */
    scene(g, plain_ray, plain_box, plain_triangle);
    g->hart->x[10] = RAY + 2;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "rt.bbox x12, x10\n"), RAY + 2);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
    g->hart->x[10] = RAY;
    guest_csrw(g, 0x823, TILE - 0x80 + 8);
    guest_csrw(g, 0x82A, 1 << 6 | 16);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "rt.bbox x12, x10\n"), TILE + 8);
    guest_csrw(g, 0x82B, 3 << 4 | 8);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "rt.tri x12, x10\n"), TILE - 0x80 + 0x38);
    guest_csrw(g, 0x823, TILE - 0x80);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    guest_csrw(g, 0x823, RANGE - 0x30);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    guest_store(g, RANGE + 8, 8, VERTICES + 2);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "rt.tri x12, x10\n"), VERTICES + 2);
    /* A record of eight elements at the end of memory; with W_GUARD the ninth is missing. */
    put_words(g, END - 32, plain_ray, 8);
    g->hart->x[10] = END - 32;
    guest_csrw(g, 0x82A, TILE);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10, w_guard\n"), END);
    guest_free(g);
}

TEST(bytes_behind_the_record_do_not_matter, "RT-109 RT-185")
{
    struct guest *g = plain();
    uint64_t kept[32];

    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    memcpy(kept, g->hart->x, sizeof kept);
    guest_store(g, RAY + 32, 8, UINT64_C(0x7F8000017F800001));
    for (unsigned i = 0x60; i < 0x70; i += 8) { /* padding of the tile */
        guest_store(g, TILE + i, 8, UINT64_C(0x7F8000017F800001));
    }
    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    CHECK(memcmp(kept, g->hart->x, sizeof kept) == 0);
    CHECK_EQ(exc_st(g) & (FACET_NV | FACET_SNAN), 0);
    guest_free(g);
}

TEST(a_lane_fault_writes_nothing_or_cuts, "")
{
    struct guest *g = plain();
    struct facet_hart *h = g->hart;

    for (unsigned i = 0; i < 4; i++) {
        h->x[20 + i] = RAY;
    }
    h->x[22] = BAD;
    set_bank(g, 1, 0xF);
    for (unsigned i = 1; i < 16; i++) {
        h->x[i] = 0x77;
    }
    harness_row("RT-198");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n"),
             BAD);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 5 << 16 | 2);
    for (unsigned i = 1; i < 16; i++) {
        CHECK_EQ(h->x[i], 0x77);
    }
    CHECK_EQ(h->units.pmask.bank[1], 0xF);
    CHECK_EQ(triangles(g), 0);
    guest_csrw(g, FACET_CSR_SVSTATE, 1 << 10);
    harness_row("RT-227");
    /* FOF: lanes 0 and 1 are done, 2 and 3 keep everything, ZMODE or not. */
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
    set_mode(g, MODE_FP32 | 8);
    set_bank(g, 1, 0x5);
    h->units.rsv.svfaulti = 0;
    guest_ok(g, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 5 << 16 | 2);
    CHECK_EQ(h->x[1], 0x8000340034004000);
    CHECK_EQ(h->x[2], 0);
    CHECK_EQ(h->x[3], 0x77);
    CHECK_EQ(h->x[4], 0x77);
    CHECK_EQ(h->units.pmask.bank[1], 0x5);
    CHECK_EQ(triangles(g), 1);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), FACET_CAP_XMEM_EVENTS_INV_MISS);
    /* Slots stay where VL puts them although lanes were cut. */
    set_bank(g, 1, 0xF);
    h->x[24] = RAY; /* four lanes of four slots: x1.. , x5.. , x9.. , x13.. */
    guest_ok(g, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20\n");
    CHECK_EQ(h->x[1], 1);
    CHECK_EQ(h->x[2], 1);
    CHECK_EQ(h->x[3], 0x77);
    CHECK_EQ(h->x[5], 0x40000000);
    CHECK_EQ(h->x[6], 0x40000000);
    CHECK_EQ(h->x[7], 0x77);
    CHECK_EQ(h->x[13], 0x3E800000);
    CHECK_EQ(h->x[15], 0x77);
    harness_row("RT-152 RT-190 RT-197 RT-227");
    set_bank(g, 1, 0xB); /* the bad lane is masked: no fault, VALID is cleared */
    guest_ok(g, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI) >> 63, 0);
    CHECK_EQ(h->x[3], 0);
    CHECK_EQ(h->x[4], 0x8000340034004000);
    harness_row("RT-191");
    /* A masked lane with a signaling NaN: no trap, no sticky. */
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NV);
    put_words(g, RAY + 0x40, plain_ray, 8);
    guest_store(g, RAY + 0x40, 4, 0x7F800001);
    h->x[22] = RAY + 0x40;
    set_bank(g, 1, 0xB);
    guest_ok(g, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n");
    CHECK_EQ(exc_st(g), 0);
    set_bank(g, 1, 0xF);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "svp.one.vlstep 4, 1, 1\n rt.tri x1, x20, 4\n"),
             0x0200 | FACET_NV);
    guest_free(g);
}

TEST(numeric_traps, "")
{
    struct guest *g = plain();
    struct facet_hart *h = g->hart;
    uint64_t mode = guest_csr(g, FACET_CSR_CAP_PREC_MODE);

    h->x[12] = 0x77; /* the plain ray has zero components: DZ */
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_DZ);
    harness_row("RT-179 RT-215");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "rt.bbox x12, x10\n"), FACET_DZ);
    CHECK_EQ(h->x[12], 0x77);
    CHECK_EQ(h->units.pmask.p0, 0);
    CHECK_EQ(exc_st(g), FACET_DZ);
    CHECK_EQ(boxes(g), 0);
    CHECK_EQ(last_ec(g), 0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    harness_row("RT-179 RT-216");
    guest_ok(g, "svon.fpctl rc=RNE, sae=1\n rt.bbox x12, x10\n");
    CHECK_EQ(h->x[12], 1);
    CHECK_ID("RT-217", exc_st(g) == FACET_DZ);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_FPC_V, 0);
    CHECK_ID("RT-253", guest_csr(g, FACET_CSR_CAP_PREC_MODE) == mode);
    harness_row("RT-215");
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    guest_ok(g, "rt.bbox x12, x10\n");
    harness_row("RT-218");
    /* The lowest lane is reported. Lanes 0 and 2 see a ray without zero components. */
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_DZ);
    put_words(g, RAY + 0x40, plain_ray, 8);
    guest_store(g, RAY + 0x40 + 12, 4, 0x3C000000);
    guest_store(g, RAY + 0x40 + 16, 4, 0x3C000000);
    guest_csrw(g, 0x82A, TILE | 3); /* pairs 3, 4, ...: the first lane has ray 0 alone */
    h->x[10] = RAY + 0x40;
    h->x[11] = RAY;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "svp.one.vlstep 4, 1, 1\n rt.bbox x12, x10\n"),
             0x0108);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 24 << 16 | 1);
    guest_free(g);
}

TEST(reserved_bits_and_absent_features, "")
{
    static const struct {
        uint64_t missing;
        const char *text;
        uint64_t node;
        bool works;
        const char *ids;
    } rows[] = {
        {FACET_RTCAP_NODE4, "rt.bbox x12, x10\n", 0, false, "RT-044 RT-068 RT-082 RT-282"},
        {FACET_RTCAP_NODE4, "rt.tri x12, x10\n", 0, true, "RT-044"},
        {FACET_RTCAP_NODE4, "rt.bbox x12, x10\n", 8, true, "RT-044"},
        {FACET_RTCAP_NODE8, "rt.bbox x12, x10\n", 8, false, "RT-045 RT-068 RT-072 RT-082"},
        {FACET_RTCAP_NODE8, "rt.bbox x12, x10\n", 0, true, "RT-045"},
        {FACET_RTCAP_WATERTIGHT, "rt.tri x12, x10\n", 0, false, "RT-046 RT-068 RT-082 RT-283"},
        {FACET_RTCAP_WATERTIGHT, "rt.bbox x12, x10\n", 0, true, "RT-046"},
        {FACET_RTCAP_PACK_HINT, "rt.bbox x12, x10, 4\n", 0, false, "RT-047 RT-068 RT-073 RT-082"},
        {FACET_RTCAP_PACK_HINT, "rt.tri x12, x10, 4\n", 0, false, "RT-047 RT-068 RT-073 RT-082"},
        {FACET_RTCAP_PACK_HINT, "rt.bbox x12, x10, 8\n", 0, true, "RT-047"},
        {FACET_RTCAP_EPS_CTL, "rt.tri x12, x10, 8\n", 0, false, "RT-048 RT-068 RT-075 RT-082"},
        {FACET_RTCAP_EPS_CTL, "rt.bbox x12, x10, 8\n", 0, true, "RT-048"},
        {FACET_RTCAP_DESCQ, "rt.bbox x12, x10\n rt.tri x12, x10\n", 0, true, "RT-049 RT-291"},
    };
    struct guest *g = plain();

    CHECK_ID("RT-080", last_ec(g) == 0);
    for (unsigned bit = 24; bit < 32; bit++) {
        for (unsigned row = 0; row < 2; row++) {
            uint32_t word = (row == 0 ? 0x0005658Bu : 0x0005758Bu) | 1u << bit;

            harness_row(row == 0 ? "RT-071 RT-140" : "RT-071 RT-159");
            g->hart->units.rt.stat = 0;
            CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", word), word);
            CHECK_EQ(last_ec(g), 1);
            CHECK_ID("RT-041", (guest_csr(g, FACET_CSR_RTSTAT) & 2) != 0);
            CHECK_ID("RT-042 RT-081", (guest_csr(g, FACET_CSR_RTSTAT) >> 2 & 63) == 1);
        }
    }
    guest_csrw(g, 0x821, 0);
    CHECK_ID("RT-084", last_ec(g) == 1);
    CHECK_EQ(guest_csrr(g, 0x822), 0x3F);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guest_configure(g, "rtcap", FACET_RTCAP_RESET & ~rows[i].missing);
        CHECK_ID("RT-041 RT-084", (guest_csr(g, FACET_CSR_RTSTAT) & 0xFE) == 0);
        harness_row(rows[i].ids);
        CHECK_EQ(guest_csrr(g, 0x822), FACET_RTCAP_RESET & ~rows[i].missing);
        set_mode(g, MODE_FP32);
        scene(g, plain_ray, plain_box, plain_triangle);
        guest_csrw(g, 0x82A, TILE | rows[i].node);
        if (rows[i].works) {
            guest_ok(g, "%s", rows[i].text);
            CHECK_EQ(g->hart->x[12], 1);
        } else {
            g->hart->x[12] = 0x77;
            CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "%s", rows[i].text),
                     guest_load(g, GUEST_CODE, 4));
            CHECK_EQ(last_ec(g), 2);
            CHECK_ID("RT-041", guest_csr(g, FACET_CSR_RTSTAT) == (2 << 2 | 2));
            CHECK_EQ(g->hart->x[12], 0x77);
            (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x8005658B\n");
            CHECK_ID("RT-076 RT-085", last_ec(g) == 1); /* the last one stays */
            (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "%s", rows[i].text);
            CHECK_ID("RT-076 RT-085", last_ec(g) == 2);
        }
        guest_csrw(g, 0x820, 4);
        CHECK_ID("RT-285",
                 guest_csrr(g, 0x820) == (rows[i].missing == FACET_RTCAP_PACK_HINT ? 0 : 4));
        if (rows[i].missing == FACET_RTCAP_PACK_HINT) {
            harness_row("RT-285"); /* the default cannot ask for it */
            guest_ok(g, "rt.bbox x12, x10\n");
            CHECK_EQ(g->hart->x[12], 1);
        }
        guest_csrw(g, 0x827, 105);
        CHECK_ID("RT-286",
                 guest_csrr(g, 0x827) == (rows[i].missing == FACET_RTCAP_EPS_CTL ? 0 : 105));
    }
    guest_configure(g, "rtcap", FACET_RTCAP_RESET);
    for (unsigned i = 0; i < 3; i++) {
        static const uint64_t versions[] = {0, 0x00090000, 0x00FFFF00};

        harness_row(i == 0 ? "RT-008 RT-009" : "RT-009");
        guest_configure(g, "cap_vers", versions[i]);
        (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "rt.bbox x12, x10\n");
        CHECK_EQ(last_ec(g), 2);
        (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "rt.tri x12, x10\n");
        (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "xsubmit.rt x12, x10\n");
        /* the encoding is looked at first */
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x8005658B\n");
        CHECK_EQ(last_ec(g), 1);
    }
    harness_row(""); /* without the unit nothing of it exists */
    guest_configure(g, "cap_vers", FACET_CAP_VERS_RESET);
    guest_configure(g, "feat0", FACET_CAP_FEAT0_RESET & ~FACET_CAP_FEAT0_RT_PRESENT);
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "rt.bbox x12, x10\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x8005658B\n");
    CHECK_EQ(g->hart->units.rt.stat, 0);
    guest_free(g);
}

TEST(works_without_other_units, "RT-010 RT-011 RT-012")
{
    struct guest *g = plain();

    for (unsigned i = 0; i < 3; i++) {
        if (i == 0) {
            guest_configure(g, "xmem_cap", 0);
        } else {
            guest_configure(g,
                            "feat0",
                            FACET_CAP_FEAT0_RESET & ~(i == 1 ? FACET_CAP_FEAT0_RSV_PRESENT
                                                             : FACET_CAP_FEAT0_MTX_PRESENT));
        }
        set_mode(g, MODE_FP32);
        scene(g, plain_ray, plain_box, plain_triangle);
        guest_ok(g, "rt.bbox x12, x10\n rt.tri x20, x10\n");
        CHECK_EQ(g->hart->x[12], 1);
        CHECK_EQ(g->hart->x[13], ONE_F);
        CHECK_EQ(g->hart->x[20], 1);
        CHECK_EQ(g->hart->x[21], 0x40000000);
        if (i == 1) {
            (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "svsetvl x0, 4\n");
        }
    }
    guest_configure(g, "feat0", FACET_CAP_FEAT0_RESET);
    guest_configure(g, "pmask_present", 0); /* all lanes run, nothing is predicated */
    set_mode(g, MODE_FP32);
    scene(g, plain_ray, plain_box, plain_triangle);
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[15], 1);
    CHECK_EQ(g->hart->units.pmask.p0, 0);
    guest_free(g);
}

/* ---- registers ---------------------------------------------------------------------------------
 */

TEST(registers_by_both_paths, "")
{
    static const uint64_t writable[12] = {0xFF07,
                                          0,
                                          0,
                                          ~UINT64_C(0),
                                          ~UINT64_C(0),
                                          ~UINT64_C(0),
                                          ~UINT64_C(0),
                                          0xFF,
                                          0x3F,
                                          3,
                                          ~UINT64_C(0x20),
                                          ~UINT64_C(0)};
    /* Fields that the requirement rows give in numbers: written, then read twice. */
    static const struct {
        unsigned n;
        uint64_t write, read;
        const char *ids;
    } told[] = {
        {0, 1, 1, "RT-032"},
        {0, ~UINT64_C(0), 0xFF07, "RT-038"},
        {0, 0xF8, 0, "RT-039"},
        {1, ~UINT64_C(0), 0, "RT-028 RT-030"},
        {2, ~UINT64_C(0), 0x3F, "RT-028 RT-050 RT-069 RT-070 RT-105"},
        {3, UINT64_C(0xFEDCBA9876543211), UINT64_C(0xFEDCBA9876543211), "RT-051"},
        {7, ~UINT64_C(0), 0xFF, "RT-058 RT-060"},
        {9, ~UINT64_C(0), 3, "RT-066"},
    };
    static const char *const ids[12] = {"RT-015",
                                        "RT-016",
                                        "RT-017",
                                        "RT-018",
                                        "RT-019",
                                        "RT-020",
                                        "RT-021",
                                        "RT-022",
                                        "RT-023",
                                        "RT-024",
                                        "RT-025",
                                        "RT-025"};
    struct guest *g = guest_make("full");

    for (unsigned n = 0; n < 12; n++) {
        uint64_t fixed = n == 2 ? 0x3F : 0, value;

        CHECK_ID("RT-027", guest_csrr(g, 0x820 + n) == fixed);
        harness_row(ids[n]);
        CHECK_EQ(guest_indirect_read(g, 0x7FA0 + n), fixed);
        guest_csrw(g, 0x820 + n, ~UINT64_C(0));
        CHECK_EQ(guest_csrr(g, 0x820 + n), writable[n] | fixed);
        CHECK_ID("RT-026", guest_indirect_read(g, 0x7FA0 + n) == (writable[n] | fixed));
        CHECK_ID("RT-029", (guest_csrr(g, 0x820 + n) & ~(writable[n] | fixed)) == 0);
        if (n == 1 || n == 2) {
            CHECK_ID("RT-028", guest_csrr(g, 0x820 + n) == fixed);
        }
        guest_indirect_write(g, 0x7FA0 + n, UINT64_C(0x123456789ABCDE05));
        value = (UINT64_C(0x123456789ABCDE05) & writable[n]) | fixed;
        CHECK_ID("RT-026", guest_csrr(g, 0x820 + n) == value);
        CHECK_EQ(guest_csrr(g, 0x820 + n), value); /* reading changes nothing */
        g->hart->priv = FACET_PRIV_U;              /* open to every mode */
        guest_ok(g, "csrr t0, 0x%x\n csrw 0x%x, zero\n", 0x820 + n, 0x820 + n);
        CHECK_EQ(g->hart->x[5], value);
        g->hart->priv = FACET_PRIV_M;
        CHECK_EQ(guest_csrr(g, 0x820 + n), fixed);
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        harness_row(told[i].ids);
        guest_csrw(g, 0x820 + told[i].n, told[i].write);
        CHECK_EQ(guest_csrr(g, 0x820 + told[i].n), told[i].read);
        CHECK_EQ(guest_csrr(g, 0x820 + told[i].n), told[i].read);
        guest_csrw(g, 0x820 + told[i].n, 0);
    }
    harness_row("");
    for (unsigned number = 0x82C; number < 0x830; number++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number);
    }
    /* RTCLSDEF is DESCPOL without STRICT_DOM. */
    guest_csrw(g, 0x828, 3);
    CHECK_ID("RT-061", guest_csrr(g, FACET_CSR_CAP_XMEM_DESCPOL) == 3);
    guest_csrw(g, 0x828, 4);
    CHECK_ID("RT-062", guest_csrr(g, FACET_CSR_CAP_XMEM_DESCPOL) == 4);
    guest_csrw(g, 0x828, 0x38);
    CHECK_ID("RT-063", guest_csrr(g, FACET_CSR_CAP_XMEM_DESCPOL) == 0x38);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0x40);
    CHECK_ID("RT-064", guest_csrr(g, 0x828) == 0);
    guest_csrw(g, 0x828, 0x3B);
    CHECK_ID("RT-064", guest_csrr(g, FACET_CSR_CAP_XMEM_DESCPOL) == 0x7B);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 4);
    CHECK_EQ(guest_csrr(g, 0x828), 4);
    guest_configure(g, "xmem_cap", 0x1FFF & ~FACET_CAP_XMEM_CAP_CLASS_PART);
    guest_csrw(g, 0x828, 0x3F);
    CHECK_ID("RT-221", guest_csrr(g, 0x828) == 0);
    guest_free(g);
}

/* Memory policy lives in CAP: what RT has of its own replaces nothing of it (GFX's part of CAP-006:
 * gfx/test_seams.c). */
TEST(hints_change_nothing, "")
{
    static const struct {
        unsigned csr;
        uint64_t value;
        const char *ids;
    } hints[] = {{0x820, 1, "RT-033"},
                 {0x820, 2, "RT-035"},
                 {0x820, 3, "RT-033 RT-035"},
                 {0x824, 0x1234, "RT-013 RT-181"},
                 {0x825, 0x1234, "RT-013 RT-181"},
                 {0x826, 0x1234, "RT-013 RT-181"},
                 {0x828, 0x3F, "RT-013 RT-181"},
                 {0x829, 3, "CAP-006 RT-013 RT-224"},
                 {0x827, 0x300, "RT-013 RT-059"},
                 {FACET_CSR_CAP_XMEM_SVMBASE, 0x1000, "RT-228"},
                 {FACET_CSR_CAP_XMEM_SVMIDX, 3, "RT-228"},
                 {FACET_CSR_CAP_XMEM_SVMSCL, 4, "RT-228"},
                 {FACET_CSR_CAP_XMEM_SVMLEN, 2, "RT-228"},
                 {FACET_CSR_CAP_XMEM_SVMMODE, 0xFF, "RT-228"},
                 {FACET_CSR_CAP_XMEM_SVMLIM, 1, "RT-228"},
                 {FACET_CSR_CAP_XMEM_STREAM_CTL, 0xFF, "RT-224"},
                 {FACET_CSR_CAP_XMEM_SPROF0 + 3, 0xFFFF, "RT-224"}};
    struct guest *g = plain();
    uint64_t kept[32];

    guest_store(g, RAY + 12, 4, 0x3DCCCCCD); /* inexact */
    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    memcpy(kept, g->hart->x, sizeof kept);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        uint64_t stickies = exc_st(g);

        harness_row(hints[i].ids);
        guest_csrw(g, hints[i].csr, hints[i].value);
        memset(&g->hart->x[12], 0, 8 * sizeof kept[0]);
        guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
        CHECK_MSG(memcmp(kept, g->hart->x, sizeof kept) == 0, "csr 0x%x", hints[i].csr);
        CHECK_EQ(exc_st(g), stickies);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS), 0);
    }
    guest_free(g);
}

/* The predicate of lane 0 is what a branch behind the instruction sees, without any bank. */
TEST(a_branch_follows_the_box_test, "PM-081")
{
    struct guest *g = plain();

    for (unsigned miss = 0; miss < 2; miss++) {
        guest_store(g, RAY, 4, miss != 0 ? 0x41200000 : plain_ray[0]); /* x = 10: beside the box */
        guest_ok(g,
                 "li x20, 0\n li x21, 0\n rt.bbox x12, x10\n bp.t hit\n li x20, 1\n"
                 "hit: bp.f miss\n li x21, 1\n miss: nop\n");
        CHECK_EQ(g->hart->x[12], 1 - miss);
        CHECK_EQ(g->hart->x[20], miss);     /* bp.t skipped this */
        CHECK_EQ(g->hart->x[21], 1 - miss); /* bp.f skipped this */
    }
    guest_free(g);
}

/* MTX writes elements that RT and RSV loads read as they are: here the origin of a ray. (GFX's part
 * of MTX-077: gfx/test_seams.c.) */
TEST(a_ray_comes_from_a_matrix_product, "MTX-077")
{
    static const uint32_t turn[16] = {
        0, ONE_F, 0, 0, ONE_F, 0, 0, 0, 0, 0, ONE_F, 0, 0, 0, 0, ONE_F};
    const uint32_t swapped[4] = {plain_ray[1] + 1, plain_ray[0], plain_ray[2], plain_ray[3]};
    struct guest *g = plain();
    uint64_t matrix = GUEST_DATA + 0x3000, vector = matrix + 64;

    put_words(g, matrix, turn, 16);
    put_words(g, vector, swapped, 4);
    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, RAY + 4 * i, 4, 0);
    }
    g->hart->x[5] = matrix;
    g->hart->x[6] = vector;
    g->hart->x[7] = RAY;
    guest_ok(g,
             "mtx.ld x5, shape=15, rowmajor=1\n mtx.mul x7, x6, shape=15\n"
             "rt.bbox x12, x10\n rt.tri x16, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[16], 1);
    CHECK_EQ(g->hart->x[18], plain_ray[0]); /* u and v of the hit are its x and y */
    CHECK_EQ(g->hart->x[19], plain_ray[1] + 1);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[24 + i] = RAY + 4 * i;
    }
    guest_ok(g, "svsetvl x0, 4\n svon.one\n lwu x20, 0(x24)\n");
    CHECK_EQ(g->hart->x[20], plain_ray[0]);
    CHECK_EQ(g->hart->x[21], plain_ray[1] + 1);
    CHECK_EQ(g->hart->x[22], plain_ray[2]);
    CHECK_EQ(g->hart->x[23], 0);
    guest_free(g);
}

TEST(every_epsilon_code_by_both_registers, "")
{
    struct guest *g = plain();
    unsigned hits = 0;

    for (unsigned code = 0; code < 256; code++) { /* abs(det) is 1 */
        uint64_t kept[4];

        guest_csrw(g, 0x827, 0);
        guest_csrw(g, 0x820, code << 8);
        guest_ok(g, "rt.tri x12, x10\n");
        memcpy(kept, &g->hart->x[12], sizeof kept);
        guest_csrw(g, 0x827, code);
        guest_csrw(g, 0x820, 0);
        guest_ok(g, "rt.tri x12, x10, eps_ctl\n");
        CHECK_ID("RT-056 RT-284", memcmp(kept, &g->hart->x[12], sizeof kept) == 0);
        CHECK_ID("RT-037 RT-057", kept[0] == (code < 127));
        hits += kept[0] != 0;
    }
    CHECK_EQ(hits, 127);
    /* Triangles with legs of 2^m have abs(det) = 2^(2m): a hit exactly above the epsilon. */
    for (int m = -30; m <= 30; m += 3) {
        uint32_t leg = (uint32_t)(127 + m) << 23, inner = leg - (2u << 23);

        guest_store(g, RAY, 4, inner); /* a quarter of the leg */
        guest_store(g, RAY + 4, 4, inner);
        guest_store(g, VERTICES + 12, 4, leg);
        guest_store(g, VERTICES + 28, 4, leg);
        for (int code = 0; code<256; code += code> 125 + 2 * m && code < 129 + 2 * m ? 1 : 3) {
            guest_csrw(g, 0x827, (uint64_t)code);
            guest_ok(g, "rt.tri x12, x10, eps_ctl\n");
            harness_row(code == 0 ? "RT-183" : "RT-056 RT-057 RT-158");
            CHECK_MSG(g->hart->x[12] == (code == 0 || 2 * m > code - 127),
                      "det 2^%d, code %d",
                      2 * m,
                      code);
        }
    }
    guest_free(g);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

TEST(formats_share_one_scene, "")
{
    /* Coordinates of small integers, which every format but INT2 holds; o = (0,0,-3), d = (0,0,1),
     * boxes [-1,1]^2 x [c, c+1], triangle (-1,-1,2) (3,-1,2) (-1,3,2). */
    static const int ray[8] = {0, 0, -3, 0, 0, 1, 0, 7};
    static const int triangle[9] = {-1, -1, 2, 3, -1, 2, -1, 3, 2};
    static const struct {
        uint64_t mode, alt;
        unsigned format, shift; /* log2 of bytes per container; elements per container */
        unsigned pack;
    } rows[] = {
        {MODE_FP16, 0, FACET_FMT_FP16, 1, 0},
        {MODE_FP32, 0, FACET_FMT_FP32, 2, 0},
        {MODE_BF16, 0, FACET_FMT_BF16, 1, 0},
        {MODE_INT8, 0, FACET_FMT_INT8, 0, 0},
        {MODE_INT16, 0, FACET_FMT_INT16, 1, 0},
        {MODE_INT32, 0, FACET_FMT_INT32, 2, 0},
        {0x00380000, 0, FACET_FMT_FP32, 3, 0},
        {0x00380000 | 1 << 17, 0, FACET_FMT_FP32, 3, 1},
        {MODE_FP16 | 2 << 17, 0, FACET_FMT_FP16, 3, 2},
        {MODE_FP16, UINT64_C(1) << 30 | 2 << 26, FACET_FMT_E4M3, 0, 0},
        {MODE_FP16, UINT64_C(1) << 30 | 3 << 26, FACET_FMT_E5M2, 0, 0},
        {MODE_FP16, UINT64_C(1) << 30 | 1 << 26, FACET_FMT_BF16_LITE, 1, 0},
        {MODE_FP16, UINT64_C(1) << 30 | 4 << 26, FACET_FMT_INT4, 0, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guest *g = guest_make("full");
        struct facet_conv conv = {.elem = (uint8_t)rows[i].format, .acc = FACET_FMT_INT32};
        struct facet_container c = {.nat = (uint8_t)facet_format_width(rows[i].format),
                                    .bytes = (uint8_t)(1u << rows[i].shift),
                                    .pack = (uint8_t)rows[i].pack};
        uint64_t tile = (24u >> c.pack) * c.bytes + 16;
        unsigned flags = 0;
        struct facet_conv wide = {.elem = (uint8_t)rows[i].format, .acc = FACET_FMT_FP32};

        tile = (tile + 63) / 64 * 64;
        guest_csrw(g, FACET_CSR_CAP_PREC_ALT, rows[i].alt | FACET_CAP_PREC_ALT_APPLY1);
        set_mode(g, rows[i].mode);
        CHECK_EQ(stat_bits(g), 0);
#define PUT(at, index, number)                                                                     \
    do {                                                                                           \
        uint64_t where_ = (at) + facet_container_offset(&c, index);                                \
        guest_store(g,                                                                             \
                    where_,                                                                        \
                    c.bytes,                                                                       \
                    facet_container_put(&c,                                                        \
                                        guest_load(g, where_, c.bytes),                            \
                                        facet_container_slot(&c, index),                           \
                                        facet_narrow(&conv, (uint32_t)(number), &flags)));         \
    } while (0)
        for (unsigned k = 0; k < 8; k++) {
            PUT(RAY, k, ray[k]);
        }
        for (unsigned k = 0; k < 24; k++) {
            unsigned child = k / 6, f = k % 6;

            PUT(TILE, k, f < 2 ? -1 : f == 2 ? (int)child : f < 5 ? 1 : (int)child + 1);
        }
        for (unsigned k = 0; k < 9; k++) {
            PUT(VERTICES, 9 + k, triangle[k]);
        }
        guest_store(g, TILE + tile - 4, 4, 0x65); /* child 2 is a leaf */
        guest_store(g, RANGE, 8, UINT64_C(1) << 32 | 1);
        guest_store(g, RANGE + 8, 8, VERTICES);
        guest_csrw(g, 0x82A, TILE);
        guest_csrw(g, 0x82B, RANGE);
        g->hart->x[10] = RAY;
        set_bank(g, 1, 0xF);
        guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10\n");
        harness_row("RT-006 RT-091 RT-173");
        CHECK_MSG(
            g->hart->units.pmask.bank[1] == 0xF, "format %s", facet_format_name(rows[i].format));
        harness_row("RT-238");
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(facet_widen(&wide, (uint32_t)g->hart->x[16 + k], &flags),
                     facet_widen(&wide, facet_narrow(&conv, 3 + k, &flags), &flags));
        }
        harness_row("RT-006 RT-173");
        guest_ok(g, "rt.tri x20, x10\n");
        CHECK_MSG(g->hart->x[20] == 1, "format %s", facet_format_name(rows[i].format));
        CHECK_EQ(facet_widen(&wide, (uint32_t)g->hart->x[21], &flags), 0x40A00000);
        CHECK_EQ(g->hart->x[21] >> facet_format_width(rows[i].format), 0);
        CHECK_EQ(stat_bits(g) & FACET_DOWN, rows[i].format == FACET_FMT_FP32 ? 0 : FACET_DOWN);
        guest_free(g);
    }
}

/* 35008 - -35008 is no FP16 number; half of it is. */
TEST(steps_between_may_leave_the_format, "RT-153")
{
    static const uint16_t ray[8] = {0xF846, 0, 0, 0x4000, 0, 0, 0, 0x7C00};
    static const uint16_t box[6] = {0x7846, 0xBC00, 0xBC00, 0x7848, 0x3C00, 0x3C00};
    struct guest *g = guest_make("full");

    set_mode(g, MODE_FP16);
    for (unsigned k = 0; k < 8; k++) {
        guest_store(g, RAY + 2 * k, 2, ray[k]);
    }
    for (unsigned k = 0; k < 24; k++) {
        guest_store(g, TILE + 2 * k, 2, box[k % 6]);
    }
    guest_store(g, TILE + 0x3C, 4, 0x55);
    guest_csrw(g, 0x82A, TILE);
    g->hart->x[10] = RAY;
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 0x7846);
    CHECK_EQ(g->hart->x[14], 0x7847);
    guest_free(g);
}

TEST(integers_quantized_and_signed, "RT-092 RT-146 RT-151 RT-176 RT-177")
{
    static const uint8_t ray[] = {0x00, 0x01, 0xf6, 0x00, 0x01, 0x03, 0x00, 0x64};
    static const uint8_t box[] = {0xfc, 0xfc, 0xfd, 0x04, 0x04, 0x05};
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, RAY + i, 1, ray[i]);
        guest_store(g, TILE + i % 6, 1, box[i % 6]);
    }
    guest_store(g, TILE + 0x3C, 4, 1);
    guest_csrw(g, 0x82A, TILE);
    g->hart->x[10] = RAY;
    set_mode(g, MODE_INT8);
    guest_ok(g, "rt.bbox x12, x10\n"); /* X23 */
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 2);
    CHECK_EQ(g->hart->x[14], 3);
    CHECK_EQ(exc_st(g), FACET_DZ | FACET_NX);
    CHECK_EQ(stat_bits(g), FACET_DOWN);
    /* A miss: the ends of the format, signed or not. */
    guest_store(g, RAY + 7, 1, 0);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[13], 0x7F);
    CHECK_EQ(g->hart->x[14], 0xFFFFFFFFFFFFFF80);
    guest_ok(g, "rt.bbox x12, x10, 4\n");
    CHECK_EQ(g->hart->x[12], 0xFF80007F);
    set_mode(g, MODE_INT8 | 1 << 5 | 1 << 4); /* Q, UNS: now fd..05 is an inverted box */
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 0);
    CHECK_EQ(g->hart->x[13], 0xFF);
    CHECK_EQ(g->hart->x[14], 0);
    /* Q with scale 2^1 and zero point 0: twice as large, the same t for d twice as long. */
    guest_store(g, RAY + 7, 1, 0x64);
    set_mode(g, MODE_INT8 | 1 << 5 | UINT64_C(1) << 40);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 1); /* 2.333 and 3 in units of 2, rounded to nearest even */
    CHECK_EQ(g->hart->x[14], 2);
    guest_free(g);
}

TEST(accumulator_width_and_mixed_do_not_act, "RT-180")
{
    struct guest *g = plain();
    uint64_t kept[32];

    guest_store(g, RAY + 12, 4, 0x3DCCCCCD);
    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    memcpy(kept, g->hart->x, sizeof kept);
    for (uint64_t accw = 0; accw < 4; accw++) {
        set_mode(g, MODE_FP32 | accw << 24);
        guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
        CHECK(memcmp(kept, g->hart->x, sizeof kept) == 0);
    }
    guest_free(g);
}

TEST(flush_to_zero, "RT-079 RT-175 RT-205")
{
    struct guest *g = plain();

    guest_store(g, RAY + 24, 4, 1); /* tmin: the smallest subnormal */
    guest_ok(g, "rt.bbox x12, x10, t_clamp\n");
    CHECK_EQ(stat_bits(g), 0);
    guest_store(g, RAY + 8, 4, 0);
    guest_ok(g, "rt.bbox x12, x10, t_clamp\n");
    CHECK_EQ(g->hart->x[13], 1);
    set_mode(g, MODE_FP32 | UINT64_C(1) << 33);
    guest_ok(g, "rt.bbox x12, x10, t_clamp\n");
    CHECK_EQ(g->hart->x[13], 0);
    CHECK_EQ(stat_bits(g), FACET_FTZ);
    guest_free(g);
}

TEST(the_state_at_the_boundary_counts, "")
{
    struct guest *g = plain();

    /* Staged without APPLY0: FP32 still; with it the very next instruction sees FP16. */
    g->hart->x[5] = MODE_FP16;
    g->hart->x[6] = MODE_FP16 | FACET_CAP_PREC_MODE_APPLY0;
    harness_row("RT-031 RT-250");
    guest_ok(g, "csrw 0x7d0, t0\n rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], ONE_F);
    CHECK_EQ(facet_mem_poke(g->mem, RAY, x13_ray, sizeof x13_ray).fault, FACET_MEM_OK);
    CHECK_EQ(facet_mem_poke(g->mem, TILE, x13_tile, sizeof x13_tile).fault, FACET_MEM_OK);
    harness_row("RT-031 RT-251 RT-252");
    guest_ok(g, "csrw 0x7d0, t1\n rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 0x4200);
    guest_free(g);
    /* A format that the machine lacks is reported by APPLY; RT goes on with the base format. */
    g = guest_make("min");
    scene(g, plain_ray, plain_box, plain_triangle);
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, UINT64_C(1) << 30 | 2 << 26 | FACET_CAP_PREC_ALT_APPLY1);
    set_mode(g, MODE_FP32);
    harness_row("RT-171");
    CHECK_ID("RT-171 RT-207", stat_bits(g) == FACET_UNSUP);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->x[13], ONE_F);
    guest_free(g);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

TEST(data_in_lds, "RT-002 RT-222 RT-287 RT-288")
{
    struct guest *g = plain();
    uint64_t kept[32], lds;

    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    memcpy(kept, g->hart->x, sizeof kept);
    g->hart->x[5] = 0x1000;
    guest_ok(g, "xlds.alloc t1, t0\n");
    lds = g->hart->x[6];
    CHECK(lds >= FACET_XLDSBASE_RESET);
    for (unsigned i = 0; i < 0x800; i += 8) {
        guest_store(g, lds + i, 8, guest_load(g, MOVED + 0x100 + i, 8));
    }
    guest_store(g, lds + 0x308, 8, lds + 0x700); /* TriRange.base */
    guest_csrw(g, 0x82A, lds + 0x100);
    guest_csrw(g, 0x82B, lds + 0x300);
    g->hart->x[10] = lds;
    memset(&g->hart->x[12], 0, 8 * sizeof kept[0]);
    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    CHECK(memcmp(&kept[12], &g->hart->x[12], 8 * sizeof kept[0]) == 0);
    guest_free(g);
}

static struct facet_unit_event policy_seen;

static void see_unit(void *context, const struct facet_unit_event *event)
{
    (void)context;
    if (strcmp(event->unit, "rt") == 0) {
        policy_seen = *event;
    }
}

TEST(policy_of_inline_accesses, "RT-014 RT-220 RT-223 RT-225 RT-226")
{
    struct guest *g = plain();
    struct facet_observer observer = {.unit = see_unit};

    guest_observe(g, &observer);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(2) << FACET_CAP_XMEM_L1CFG_ACTIVE_CLASS_LSB);
    guest_csrw(g, 0x829, 2);
    guest_ok(g, "rt.bbox x12, x10\n");
    CHECK_STR(policy_seen.what, "policy");
    CHECK_EQ(policy_seen.values[0], 3);
    CHECK_EQ(policy_seen.values[1], 0);
    CHECK_EQ(policy_seen.values[2], 2); /* ACTIVE_CLASS */
    CHECK_EQ(policy_seen.values[3], 2);
    CHECK_EQ(policy_seen.values[4], 0);
    guest_csrw(g, 0x828, 4 | 1);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(policy_seen.values[2], 1); /* DESCPOL.DEF_CLASS */
    CHECK_EQ(policy_seen.values[4], 1);
    guest_csrw(g, FACET_CSR_CAP_XMEM_COMP_CTL, 1);
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(policy_seen.values[5], 1);
    guest_observe(g, NULL);
    /* STRICT_DOM and security tags decide acceptance. */
    for (unsigned i = 0; i < 32; i += 4) {
        guest_store(g, FACET_XLDSBASE_RESET + i, 4, plain_ray[i / 4]);
    }
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    g->hart->x[10] = FACET_XLDSBASE_RESET;
    guest_ok(g, "rt.bbox x12, x10\n");
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10\n"), FACET_XLDSBASE_RESET);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
    guest_ok(g, "rt.bbox x12, x10\n");
    g->xmem->blocks[0].sec = 1;
    (void)guest_traps(g, FACET_CAUSE_LOAD_FAULT, "rt.bbox x12, x10\n");
    CHECK((guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS) & FACET_CAP_XMEM_EVENTS_SEC_VIOL) != 0);
    guest_free(g);
}

TEST(counters_wrap_and_reset, "RT-027 RT-043")
{
    struct guest *g = plain();

    g->hart->units.rt.stat = ~UINT64_C(0) << 8;
    guest_ok(g, "svp.one.vlstep 3, 0, 1\n rt.bbox x0, x10\n");
    CHECK_EQ(boxes(g), 2);
    CHECK_EQ(triangles(g), 0xFFFFFFF);
    guest_ok(g, "rt.tri x0, x10\n");
    CHECK_EQ(triangles(g), 0);
    CHECK_EQ(boxes(g), 2);
    guest_reset(g);
    CHECK_EQ(guest_csrr(g, 0x821), 0);
    guest_free(g);
}

TEST(p0_needs_lane_zero, "RT-141 RT-195")
{
    struct guest *g = plain();

    g->hart->units.pmask.p0 = true;
    set_bank(g, 1, 2);
    guest_store(g, RAY + 28, 4, 0); /* tmax 0: misses */
    guest_ok(g, "svp.one.vlstep 2, 0, 1\n rt.bbox x12, x10\n");
    CHECK_EQ(g->hart->units.pmask.p0, 1);
    CHECK_EQ(g->hart->units.pmask.bank[1], 0);
    g->hart->x[10] = BAD; /* no active lane: no access at all */
    guest_ok(g, "svp.one.vlstep 2, 0, 1\n rt.bbox x12, x10, pred_only\n");
    CHECK_EQ(g->hart->units.pmask.p0, 1);
    CHECK_EQ(boxes(g), 1);
    guest_free(g);
}

TEST(heap_base_and_index_name_the_same_items, "RT-052")
{
    struct guest *g = plain();
    uint64_t kept[32];

    guest_ok(g, "rt.bbox x12, x10\n rt.tri x16, x10\n");
    memcpy(kept, g->hart->x, sizeof kept);
    for (unsigned k = 0; k < 3; k++) { /* FP32 tiles are 128 bytes */
        memset(&g->hart->x[12], 0, 8 * sizeof kept[0]);
        guest_csrw(g, 0x823, TILE - 0x80 * k);
        guest_csrw(g, 0x82A, k << 6 | 16);
        guest_ok(g, "rt.bbox x12, x10\n");
        guest_csrw(g, 0x823, RANGE - 16 * k);
        guest_csrw(g, 0x82B, k << 4 | 8);
        guest_ok(g, "rt.tri x16, x10\n");
        CHECK(memcmp(kept, g->hart->x, sizeof kept) == 0);
    }
    guest_free(g);
}

TEST(fpctl_replaces_zmode_and_rounding_once, "RT-201")
{
    struct guest *g = plain();
    struct facet_hart *h = g->hart;

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        set_mode(g, MODE_FP32 | (zmode != 0 ? 8 : 0));
        for (unsigned i = 12; i < 16; i++) {
            h->x[i] = 0x77;
        }
        set_bank(g, 1, 1);
        guest_ok(g,
                 "svon.fpctl rc=RNE, sae=0, z=%u\n svp.one.vlstep 2, 0, 1\n rt.bbox x12, x10, 4\n",
                 1 - zmode);
        CHECK_EQ(h->x[13], zmode != 0 ? 0x77 : 0);
        h->x[13] = 0x77;
        guest_ok(g, "svp.one.vlstep 2, 0, 1\n rt.bbox x12, x10, 4\n");
        CHECK_EQ(h->x[13], zmode != 0 ? 0 : 0x77);
    }
    guest_store(g, RAY + 20, 4, 0x3F8CCCCD); /* d.z = 1.1: the results are inexact */
    set_bank(g, 0, 0);
    set_mode(g, MODE_FP32);
    guest_ok(g, "svon.fpctl rc=RUP\n rt.bbox x12, x10\n rt.bbox x16, x10\n");
    CHECK(h->x[14] > h->x[18]);
    set_mode(g, fp32_mode(FACET_RUP));
    guest_ok(g, "rt.bbox x20, x10\n");
    CHECK_EQ(h->x[13], h->x[21]);
    CHECK_EQ(h->x[14], h->x[22]);
    guest_free(g);
}

TEST(nothing_but_the_results_changes, "RT-127 RT-202 RT-229")
{
    static uint8_t before[0x2000], after[0x2000];
    struct guest *g = plain();
    struct facet_units units;
    uint64_t x[32];

    set_mode(g, MODE_FP32 | 8);
    set_bank(g, 1, 0x5);
    CHECK_EQ(facet_mem_peek(g->mem, MOVED, before, sizeof before).fault, FACET_MEM_OK);
    guest_csrw(g, FACET_CSR_SVSTATE, 1 << 10 | 3);
    units = g->hart->units;
    memcpy(x, g->hart->x, sizeof x);
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10\n");
    guest_ok(g, "svp.one.vlstep 4, 0, 1\n rt.tri x12, x10\n");
    CHECK_EQ(facet_mem_peek(g->mem, MOVED, after, sizeof after).fault, FACET_MEM_OK);
    CHECK(memcmp(before, after, sizeof before) == 0);
    for (unsigned i = 0; i < 32; i++) { /* 3 and 4 slots of 4 lanes */
        CHECK(i >= 12 && i < 28 ? true : g->hart->x[i] == x[i]);
    }
    units.rt.stat = g->hart->units.rt.stat;
    units.pmask = g->hart->units.pmask;
    units.cap.prec.exc_st |= FACET_DZ;
    units.rsv.svstate = g->hart->units.rsv.svstate; /* VL and steps of the prefix */
    CHECK(memcmp(&units, &g->hart->units, sizeof units) == 0);
    CHECK_EQ(g->hart->xmem->block_count + g->hart->xmem->lock_count, 0);
    guest_free(g);
}

TEST(culling_is_only_geometric, "RT-241")
{
    struct guest *g = plain();
    uint64_t kept[4];

    for (unsigned i = 0; i < 3; i++) { /* the other winding: a front face */
        guest_store(g, VERTICES + 12 + 4 * i, 4, plain_triangle[6 + i]);
        guest_store(g, VERTICES + 24 + 4 * i, 4, plain_triangle[3 + i]);
    }
    guest_store(g, RAY + 12, 4, 0x3DCCCCCD);
    guest_ok(g, "rt.tri x12, x10\n");
    memcpy(kept, &g->hart->x[12], sizeof kept);
    CHECK_EQ(kept[0], 1);
    guest_ok(g, "rt.tri x12, x10, cull_back\n");
    CHECK(memcmp(kept, &g->hart->x[12], sizeof kept) == 0);
    guest_free(g);
}

TEST(rays_made_by_lanes_and_matrices, "RT-244 RT-246")
{
    struct guest *g = plain();
    uint64_t kept[4];

    guest_ok(g, "rt.tri x12, x10\n");
    memcpy(kept, &g->hart->x[12], sizeof kept);
    /* Eight lanes store the elements in x16.. at the addresses in x24... */
    for (unsigned i = 0; i < 8; i++) {
        g->hart->x[16 + i] = plain_ray[i];
        g->hart->x[24 + i] = RAY + 0x80 + 4 * i;
    }
    guest_csrw(g, FACET_CSR_SVSRCB, UINT64_C(1) << 63 | 1 << 8 | 16);
    guest_csrw(g, FACET_CSR_SVSRCA, UINT64_C(1) << 63 | 1 << 8 | 24);
    guest_ok(g, "svsetvl x0, 8\n svon.one\n sw x16, 0(x24)\n");
    guest_csrw(g, FACET_CSR_SVSRCA, 0);
    guest_csrw(g, FACET_CSR_SVSRCB, 0);
    g->hart->x[10] = RAY + 0x80;
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK(memcmp(kept, &g->hart->x[12], sizeof kept) == 0);
    /* x and y exchanged by a matrix: origin and direction are two vectors of three. */
    for (unsigned i = 0; i < 9; i++) {
        guest_store(g, MOVED + 0x1000 + 4 * i, 4, i == 1 || i == 3 || i == 8 ? ONE_F : 0);
        guest_store(g, MOVED + 0x1100 + 4 * i, 4, plain_ray[i]);
        guest_store(g, MOVED + 0x1200 + 4 * i, 4, plain_ray[i]);
    }
    guest_store(g, MOVED + 0x1100, 4, 0x3F000000); /* o = (0.5, 0.25, -2) */
    g->hart->x[5] = MOVED + 0x1000;
    g->hart->x[6] = MOVED + 0x1100;
    g->hart->x[7] = MOVED + 0x1200;
    guest_ok(g, "mtx.ld t0, shape=0xA, rowmajor=1\n mtx.mul t2, t1, shape=0xA, vec_count=1\n");
    g->hart->x[10] = MOVED + 0x1200;
    guest_ok(g, "rt.tri x12, x10\n");
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[14], 0x3E800000); /* u and v tell x and y */
    CHECK_EQ(g->hart->x[15], 0x3F000000);
    guest_free(g);
}

TEST(two_instructions_and_no_more, "RT-007 RT-129 RT-134 RT-154")
{
    unsigned found = 0;

    for (unsigned row = 0; row < FACET_XPHMG_OP_COUNT; row++) {
        uint32_t match = facet_isa_rows[FACET_ISA_XPHMG][row].match;

        if ((match & 0x7F) == 0x0B && (match >> 12 & 7) >= 6) {
            CHECK(row == FACET_XPHMG_RT_BBOX || row == FACET_XPHMG_RT_TRI);
            found++;
        }
    }
    CHECK_EQ(found, 2);
    CHECK_EQ(facet_insn_decode(0x0045658B).row, FACET_XPHMG_RT_BBOX);
    CHECK_EQ(facet_insn_decode(0x0015758B).row, FACET_XPHMG_RT_TRI);
}

TEST(mode_constant_of_the_first_example, "RT-295")
{
    struct guest *g = guest_make("full");
    uint64_t stat;

    guest_csrw(g, 0x7D0, UINT64_C(0x8000000000080000));
    CHECK_EQ(guest_csrr(g, 0x7D2), 0x04000000);
    set_mode(g, MODE_FP32);
    stat = guest_csrr(g, 0x7D2);
    guest_csrw(g, 0x7D0, 0x809A0000); /* bit 31 is no APPLY0 */
    CHECK_EQ(guest_csrr(g, 0x7D2), stat);
    guest_free(g);
}

/* ---- two ways to compute -----------------------------------------------------------------------
 */

/* A coordinate: mostly ordinary, sometimes zero, tiny, huge, infinite or a NaN. */
static uint32_t coordinate(uint64_t *seed)
{
    static const uint32_t odd[] = {
        0, 0x80000000, 1, 0x00800000, 0x7F7FFFFF, INF_F, 0xFF800000, 0x7FC00000, 0x7F800001};
    uint32_t bits;

    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bits = (uint32_t)(*seed >> 32);
    return bits % 23 == 0 ? odd[bits / 23 % (sizeof odd / sizeof odd[0])]
                          : (bits & 0x80FFFFFF) | 0x3F000000; /* +-0.5 to +-2 */
}

/* Once NX is up, the host may compute; results and all other flags must stay what they were. */
TEST(raised_inexact_changes_no_result, "")
{
    static const char *const texts[] = {
        "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10\n",
        "svp.one.vlstep 4, 0, 1\n rt.bbox x12, x10, t_clamp\n",
        "rt.bbox x12, x10, pack_hint\n",
        "rt.tri x12, x10\n",
        "rt.tri x12, x10, cull_back\n",
        "rt.tri x12, x10, pred_only\n",
    };
    struct guest *g = plain();
    uint64_t seed = 1, hits = 0;

    for (unsigned round = 0; round < 3000; round++) {
        uint32_t ray[9], box[6], triangle[9];
        uint64_t x[2][32], flags[2], p0[2];

        for (unsigned i = 0; i < 9; i++) {
            ray[i] = i < 6 ? coordinate(&seed) : i == 7 ? 0x3F400000 : plain_ray[i]; /* tmax 0.75 */
            triangle[i] = coordinate(&seed);
        }
        for (unsigned i = 0; i < 6; i++) {
            box[i] = (coordinate(&seed) & 0x7FFFFFFF) | (i < 3 ? 0x80000000 : 0);
        }
        scene(g, ray, box, triangle);
        for (unsigned way = 0; way < 2; way++) {
            set_mode(g, MODE_FP32);
            g->hart->units.cap.prec.exc_st |= way == 1 ? FACET_NX : 0;
            memset(g->hart->x + 12, 0x77, 12 * sizeof *g->hart->x);
            guest_ok(g, "%s", texts[round % 6]);
            memcpy(x[way], g->hart->x, sizeof x[way]);
            flags[way] = (exc_st(g) | FACET_NX) ^ FACET_NX;
            p0[way] = g->hart->units.pmask.p0;
        }
        hits += p0[0];
        CHECK_MSG(memcmp(x[0] + 12, x[1] + 12, 12 * sizeof x[0][0]) == 0, "round %u: x", round);
        CHECK_MSG(flags[0] == flags[1], "round %u: flags", round);
        CHECK_EQ(p0[0], p0[1]);
    }
    CHECK(hits > 300);
    guest_free(g);
}
