/* The frame of GFX instructions: order of checks, EN and DIS_TRAP, legality, number state (ppp,
 * alt), traps and stickies, windows at the seam to RSV, masked lanes, lifetimes of prefixes. */
#include "xphmg/gfx/gfx_test.h"

#include "facet/observer.h"

#include <stdio.h>

enum { NX = FACET_NX, DOWN = FACET_DOWN };

/* Every GFX instruction with operands that do no harm on a clean machine with LUT DIM 0. */
static const char *const lane_texts[] = {
    "GFX.SAMPLE x16, x10",
    "GFX.SAMPLE.GATH x16, x10, n=1",
    "GFX.INTERP x16, x8",
    "GFX.SHADE x16, x8, nc=1",
    "GFX.LUT1D x16, x10",
    "GFX.ZTEST x5, x10",
    "GFX.ZWRITE x10",
    "GFX.CULL.PLANE x5, x10",
    "GFX.CULL.FRUSTUM x5, x10",
    "GFX.CULL.AABB x5, x10",
    "GFX.CULL.COMPACT x5, x10, cc=1",
};
static const char *const once_texts[] = {
    "GFX.FENCE 3, 3",
    "GFX.HZ.BUILD x5, x10",
    "GFX.CULL.COMPOSE 1, 2, 3",
};
enum { LANE_TEXTS = sizeof lane_texts / sizeof lane_texts[0], ONCE_TEXTS = 3 };

/* A machine on which all of lane_texts run: a texel, a table, a depth pixel, a stream. */
static struct guest *scene(void)
{
    struct guest *g = gfx_make();

    texture(g, 0x00, 1, 1, 1);
    guest_store(g, TEXTURE, 1, 0x80);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 4);
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(1) << 32 | 1);
    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    g->hart->x[10] = STREAM; /* as a number tiny, as a pointer good */
    g->hart->x[11] = 0;
    return g;
}

/* ---- enable ----------------------------------------------------------------------------------
 */

TEST(a_disabled_unit_does_nothing_or_traps, "GFX-373 GFX-374 GFX-015")
{
    for (unsigned i = 0; i < LANE_TEXTS + ONCE_TEXTS; i++) {
        const char *text = i < LANE_TEXTS ? lane_texts[i] : once_texts[i - LANE_TEXTS];
        struct guest *g = scene();
        struct facet_units before;
        uint64_t x[33], f[32];
        struct watch w;

        set_cfg(g, CONVERT);
        guest_csrw(g, FACET_CSR_GFXLUTFMT, 3); /* not even legality is looked at */
        guest_csrw(g, FACET_CSR_GFXTEXFMT, 0xFF);
        for (unsigned k = 1; k < 32; k++) {
            g->hart->x[k] = harness_random();
        }
        rsv(g, 4, 1, 0xF);
        g->hart->units.rsv.svstate |= FACET_SVSTATE_FPC_V | FACET_SVSTATE_FPC_SAE;
        g->hart->units.cap.prec.image[0] |= 4; /* one-shot SAE */
        before = g->hart->units;
        memcpy(x, g->hart->x, sizeof x);
        memcpy(f, g->hart->f, sizeof f);
        CHECK(!watch_run(g, &w, text).taken);
        CHECK_EQ(w.reads + w.writes, 0);
        CHECK_EQ(memcmp(x, g->hart->x, sizeof x), 0);
        CHECK_EQ(memcmp(f, g->hart->f, sizeof f), 0);
        if (i < LANE_TEXTS) { /* the one-shot is spent, override and SAE are not */
            before.rsv.svstate &= ~(FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        }
        CHECK_MSG(memcmp(&before, &g->hart->units, sizeof before) == 0, "%s", text);
        /* a block count goes down by one */
        g->hart->units.rsv.svstate = 3 | FACET_SVSTATE_EN | UINT64_C(2) << FACET_SVSTATE_BLK_LSB;
        guest_ok(g, "%s\n", text);
        CHECK_EQ(FACET_GET(g->hart->units.rsv.svstate, SVSTATE_BLK), i < LANE_TEXTS ? 1 : 2);
        set_cfg(g, CONVERT | DIS_TRAP);
        g->hart->units.rsv.svstate = 0;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", text), guest_load(g, GUEST_CODE, 4));
        CHECK_EQ(raised(g), 0);
        guest_free(g);
    }
}

TEST(reserved_words_trap_whatever_en_says, "")
{
    struct guest *g = scene();

    for (unsigned en = 0; en < 2; en++) {
        set_cfg(g, en);
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", 0x084572AB | 1u << 29);
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", 0x00E0502B | 1u << 15);
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", 0x0110502B);
    }
    guest_free(g);
}

TEST(banks_that_are_not_there, "")
{
    struct guest *g = scene();
    static const char *const texts[] = {"GFX.ZTEST x5, x10, pd=%u",
                                        "GFX.CULL.PLANE x5, x10, pd=%u",
                                        "GFX.CULL.FRUSTUM x5, x10, pd=%u",
                                        "GFX.CULL.AABB x5, x10, pd=%u",
                                        "GFX.CULL.COMPACT x5, x10, ps=%u",
                                        "GFX.CULL.COMPOSE %u, 0, 0",
                                        "GFX.CULL.COMPOSE 0, %u, 0",
                                        "GFX.CULL.COMPOSE 0, 0, %u"};

    for (unsigned banks = 1; banks <= 4; banks++) {
        guest_configure(g, "pmask_banks", banks);
        set_cfg(g, EN);
        set_mode(g, MODE_FP32);
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            for (unsigned bank = 0; bank < 4; bank++) {
                char text[64];

                (void)snprintf(text, sizeof text, texts[i], bank);
                g->hart->x[10] = STREAM;
                if (bank < banks) {
                    guest_ok(g, "%s\n", text);
                } else {
                    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", text);
                }
            }
        }
    }
    guest_free(g);
}

/* ---- f registers -----------------------------------------------------------------------------
 */

TEST(f_windows_need_the_f_registers, "")
{
    static const struct {
        const char *text;
        unsigned memory; /* windows that must be in memory to run with FS off */
    } rows[] = {{"GFX.SAMPLE x16, x10", AMEM | DMEM},
                {"GFX.SAMPLE x16, x10, d=1", BMEM | DMEM},
                {"GFX.SAMPLE.GATH x16, x10, n=1", AMEM | DMEM},
                {"GFX.INTERP x16, x10", AMEM | DMEM},
                {"GFX.INTERP x16, x10, B=1", AMEM | BMEM | DMEM},
                {"GFX.SHADE x16, x10, nc=1", DMEM},
                {"GFX.SHADE x16, x10, L=1, nc=1", AMEM | BMEM | DMEM},
                {"GFX.LUT1D x16, x10", AMEM | DMEM},
                {"GFX.ZTEST x5, x10", AMEM},
                {"GFX.ZTEST x5, x10, e=1", AMEM},
                {"GFX.ZWRITE x10", AMEM},
                {"GFX.CULL.PLANE x5, x10", AMEM},
                {"GFX.CULL.PLANE x5, x10, s=1", AMEM | BMEM},
                {"GFX.CULL.FRUSTUM x5, x10", AMEM},
                {"GFX.CULL.AABB x5, x10", AMEM},
                {"GFX.CULL.COMPACT x5, x10", 0},
                {"GFX.HZ.BUILD x5, x10", 0},
                {"GFX.FENCE 3, 0", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned way = 0; way < 8; way++) {
            struct guest *g = scene();
            unsigned memory = way << 16;
            struct desc d = {.base = TEXTURE, .pitch = 1, .w = 1, .h = 1};

            put_desc(g, DESC, &d);
            for (unsigned k = 6; k < 32; k++) {
                g->hart->x[k] = DESC; /* every pointer good: descriptor, array */
            }
            guest_csrw(g, FACET_CSR_GFXZCFG, 0);
            set_cfg(g, EN | CONVERT | FREG | memory);
            g->hart->fs = FACET_FS_OFF;
            if ((memory & rows[i].memory) == rows[i].memory) {
                guest_ok(g, "%s\n", rows[i].text);
                CHECK_EQ(g->hart->fs, FACET_FS_OFF);
            } else {
                (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", rows[i].text);
                rsv(g, 2, 1, 0); /* predicates play no part */
                (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", rows[i].text);
            }
            guest_free(g);
        }
    }
}

TEST(writing_f_registers_makes_fs_dirty, "")
{
    struct guest *g = scene();

    set_cfg(g, EN | CONVERT | FREG);
    CHECK_EQ(g->hart->fs, FACET_FS_INITIAL);
    guest_ok(g, "GFX.ZTEST x5, x10\n"); /* reads only */
    CHECK_EQ(g->hart->fs, FACET_FS_INITIAL);
    guest_ok(g, "GFX.SAMPLE f16, f10\n");
    CHECK_EQ(g->hart->fs, FACET_FS_DIRTY);
    g->hart->fs = FACET_FS_CLEAN;
    set_mode(g, MODE_FP32 | MODE_ZMODE); /* zeroing is writing */
    rsv(g, 1, 1, 0);
    guest_ok(g, "GFX.SAMPLE f16, f10\n");
    CHECK_EQ(g->hart->fs, FACET_FS_DIRTY);
    CHECK_EQ(g->hart->f[16], UINT64_C(0xFFFFFFFF00000000));
    guest_free(g);
}

/* ---- number state ----------------------------------------------------------------------------
 */

TEST(the_reserved_precision, "")
{
    static const char *const texts[] = {"GFX.SAMPLE x16, x10, ppp=6",
                                        "GFX.SAMPLE.GATH x16, x10, ppp=6, n=1",
                                        "GFX.INTERP x16, x8, ppp=6",
                                        "GFX.SHADE x16, x8, ppp=6, nc=1",
                                        "GFX.LUT1D x16, x10, ppp=6",
                                        "GFX.ZTEST x16, x10, ppp=6, w=1",
                                        "GFX.HZ.BUILD x16, x10, ppp=6"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct guest *g = scene();

        guest_csrw(g, FACET_CSR_GFXHIZCFG, 1 << 8);
        for (unsigned k = 16; k < 24; k++) {
            g->hart->x[k] = 77;
        }
        rsv(g, 2, 1, i % 2); /* whatever predicates say */
        harness_row("GFX-107 GFX-362 GFX-368");
        CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", texts[i]),
                 guest_load(g, GUEST_CODE, 4));
        CHECK_ID("GFX-108 GFX-368", (guest_csrr(g, 0x7D2) >> 15 & 1) == 1);
        CHECK_ID("GFX-343", raised(g) == FACET_UNSUP);
        for (unsigned k = 16; k < 24; k++) {
            CHECK_EQ(g->hart->x[k], 77);
        }
        CHECK_EQ(guest_load(g, DEPTH, 4), 0);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0);
        guest_free(g);
    }
    /* what a composition repairs runs: FP32 in 16 bits has EW 32 */
    {
        struct guest *g = scene();

        harness_row("GFX-368");
        guest_csrw(g, FACET_CSR_CAP_PREC_MODE, UINT64_C(0x8000000000280000));
        CHECK_EQ(guest_csrr(g, 0x7D2) >> 15 & 1, 1);
        guest_ok(g, "GFX.SAMPLE x16, x10\n");
        CHECK_EQ(g->hart->x[16], 0x3F008081);
        guest_free(g);
    }
}

#define ALT_E4M3 ((uint64_t)2 << 26)
#define ALT_E5M2 ((uint64_t)3 << 26)
#define ALT_EN (UINT64_C(1) << 30)
#define ALT_MIXED (UINT64_C(1) << 23)
#define ALT_SAT (UINT64_C(1) << 22)

TEST(the_alternate_state, "")
{
    struct guest *g = scene();
    uint64_t stat, mode, alt;

    set_alt(g, ALT_E4M3 | ALT_MIXED);
    set_mode(g, MODE_FP32);
    guest_ok(g, "GFX.SAMPLE x16, x10\n"); /* alt=0, ALT_EN=0: MODE */
    CHECK_ID("GFX-111", g->hart->x[16] == 0x3F008081);
    g->hart->x[10] = 0;
    (void)clear_flags(g);
    stat = guest_csr(g, FACET_CSR_CAP_PREC_STAT) & ~(uint64_t)FACET_FLAGS_STAT;
    mode = guest_csr(g, FACET_CSR_CAP_PREC_MODE);
    alt = guest_csr(g, FACET_CSR_CAP_PREC_ALT);
    guest_ok(g, "GFX.SAMPLE x16, x10, alt=1\n");
    CHECK_ID("GFX-109", g->hart->x[16] == 0x30); /* 0.5 in E4M3 */
    harness_row("GFX-361");
    guest_ok(g, "GFX.SAMPLE x16, x10, ppp=1\n");
    CHECK_EQ(g->hart->x[16], 0x3F008081);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_STAT) & ~(uint64_t)FACET_FLAGS_STAT, stat);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE), mode);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_ALT), alt);
    harness_row("GFX-110");
    set_alt(g, ALT_E4M3 | ALT_MIXED | ALT_EN); /* alt=0, ALT_EN=1 */
    guest_ok(g, "GFX.SAMPLE x16, x10\n GFX.SAMPLE x20, x10, alt=1\n");
    CHECK_EQ(g->hart->x[16], 0x30);
    CHECK_EQ(g->hart->x[20], 0x30);
    /* ppp=2 is BF16 then, not BF16_LITE */
    set_alt(g, (uint64_t)1 << 26 | ALT_MIXED | ALT_EN);
    guest_ok(g, "GFX.SAMPLE x16, x10\n GFX.SAMPLE x20, x10, ppp=2\n");
    CHECK_EQ(g->hart->x[16], 0x3F00);
    CHECK_EQ(g->hart->x[20], 0x3F01);
    harness_row("GFX-112 GFX-267");
    /* ALT_ACCW and ALT.SAT: 448 + 448 in an FP16 accumulator; 2048 + 1 shows its 11 bits */
    set_alt(g, ALT_E4M3 | ALT_MIXED | ALT_SAT);
    g->hart->x[16] = g->hart->x[20] = 0x7E;
    guest_ok(g, "GFX.SHADE x16, x8, alt=1, nc=1\n");
    CHECK_EQ(g->hart->x[16], 0x7E);
    CHECK_EQ(raised(g) & FACET_SAT, FACET_SAT);
    set_alt(g, ALT_E4M3 | ALT_MIXED);
    g->hart->x[16] = g->hart->x[20] = 0x7E;
    guest_ok(g, "GFX.SHADE x16, x8, alt=1, nc=1\n");
    CHECK_EQ(g->hart->x[16], 0x7F);
    harness_row("GFX-112");
    /* dot of eight numbers: 256*8 + 1*1 keeps the 1 in FP32, loses it in FP16; minus 2048 */
    for (unsigned fp16 = 0; fp16 < 2; fp16++) {
        set_alt(g, ALT_E4M3 | ALT_MIXED | (uint64_t)fp16 << 24);
        g->hart->x[16] = 0x78, g->hart->x[20] = 0x50; /* 256 * 8 */
        g->hart->x[17] = 0x38, g->hart->x[21] = 0x38; /* 1 * 1 */
        g->hart->x[18] = 0xF8, g->hart->x[22] = 0x50; /* -256 * 8 */
        guest_ok(g, "GFX.SHADE x16, x8, OO=3, nc=3, alt=1\n");
        CHECK_EQ(g->hart->x[16], fp16 != 0 ? 0 : 0x38);
    }
    harness_row("GFX-263");
    /* the same state reached in two ways gives the same */
    set_alt(g, ALT_E5M2 | ALT_MIXED | ALT_EN);
    guest_ok(g, "GFX.SAMPLE x16, x10\n");
    set_alt(g, ALT_E5M2 | ALT_MIXED);
    guest_ok(g, "GFX.SAMPLE x20, x10, alt=1\n");
    CHECK_EQ(g->hart->x[16], g->hart->x[20]);
    guest_free(g);
}

TEST(unsupported_alternates, "")
{
    struct guest *g = scene();
    static const char *const texts[] = {"GFX.SAMPLE x16, x10, alt=1",
                                        "GFX.SAMPLE.GATH x16, x10, alt=1",
                                        "GFX.INTERP x16, x10, alt=1",
                                        "GFX.SHADE x16, x10, alt=1",
                                        "GFX.LUT1D x16, x10, alt=1",
                                        "GFX.ZTEST x16, x10, alt=1",
                                        "GFX.CULL.PLANE x16, x10, alt=1",
                                        "GFX.CULL.FRUSTUM x16, x10, alt=1",
                                        "GFX.CULL.AABB x16, x10, alt=1",
                                        "GFX.HZ.BUILD x16, x10, alt=1"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        set_alt(g, (uint64_t)7 << 26);
        g->hart->x[16] = 77;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_UNSUPPORTED, "%s\n", texts[i]),
                 guest_load(g, GUEST_CODE, 4));
        CHECK_EQ(raised(g), FACET_UNSUP);
        CHECK_EQ(g->hart->x[16], 77);
    }
    /* legality first: idx=6 is illegal before the format is looked at */
    set_alt(g, (uint64_t)7 << 26);
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "GFX.CULL.PLANE x16, x10, idx=6, alt=1\n");
    CHECK_EQ(raised(g), 0);
    /* reserved texture formats */
    set_alt(g, 0);
    for (unsigned fmt = 0; fmt < 256; fmt++) {
        bool good = (fmt < 0x40 && fmt % 16 != 15) || (fmt >= 0x40 && fmt < 0x44);

        guest_csrw(g, FACET_CSR_GFXTEXFMT, fmt);
        guest_csrw(g, FACET_CSR_GFXTEXWH, 0);
        if (good) {
            guest_ok(g, "GFX.SAMPLE x16, x10\n GFX.SAMPLE.GATH x16, x10, n=1\n");
        } else {
            (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.SAMPLE x16, x10\n");
            (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.SAMPLE.GATH x16, x10, n=1\n");
            CHECK_EQ(clear_flags(g), FACET_UNSUP);
        }
    }
    guest_free(g);
}

TEST(rows_without_alt_follow_cap, "GFX-113")
{
    struct guest *g = scene();

    set_alt(g, ALT_E4M3 | ALT_MIXED | ALT_EN);
    g->hart->x[10] = 0x38;
    guest_ok(g, "GFX.ZWRITE x10\n");
    CHECK_EQ(guest_load(g, DEPTH, 4), 0x38); /* one byte */
    g->hart->x[10] = 0x7F;                   /* NaN in this format */
    guest_ok(g, "GFX.ZWRITE x10\n");
    CHECK_EQ(raised(g), FACET_QNAN);
    guest_ok(g, "GFX.FENCE 0, 0\n");
    guest_free(g);
}

/* ---- traps and SAE ---------------------------------------------------------------------------
 */

TEST(numeric_traps_need_enable_and_no_sae, "GFX-102 GFX-103 GFX-281 GFX-344 GFX-279")
{
    for (unsigned i = 0; i < 8; i++) {
        struct guest *g = scene();
        bool enabled = (i & 1) != 0, sae = (i & 2) != 0, lanes = (i & 4) != 0;
        struct facet_trap trap;

        set_mode(g, MODE_FP32 | (sae ? UINT64_C(1) << 29 : 0)); /* SAE_DEF */
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, enabled ? FACET_NX : 0);
        if (lanes) { /* lane 1 is exact, lane 2 is not */
            for (unsigned k = 0; k < 3; k++) {
                g->hart->x[16 + k] = ONE_F;
                g->hart->x[16 + 12 + k] = k == 2 ? 0x33000000 : 0;
            }
            rsv(g, 3, 0, 0);
        } else {
            g->hart->x[16] = ONE_F;
            g->hart->x[20] = 0x33000000;
        }
        trap = guest_run(g, "GFX.SHADE x16, x8, nc=1\n");
        CHECK_EQ(trap.taken, enabled && !sae);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), FACET_NX);
        if (trap.taken) {
            CHECK_EQ(trap.cause, FACET_CAUSE_NUMERIC);
            CHECK_EQ(trap.tval, FACET_NX | (lanes ? 2u << 8 : 0));
            CHECK_EQ(g->hart->x[16], ONE_F);
            CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI),
                     lanes ? FACET_SVFAULTI_VALID | 24u << 16 | 2 : 0);
            CHECK_EQ(FACET_GET(g->hart->units.rsv.svstate, SVSTATE_PEN), lanes);
        }
        guest_free(g);
    }
}

TEST(one_shots_are_spent_by_numeric_rows, "")
{
    for (unsigned i = 0; i < LANE_TEXTS + ONCE_TEXTS; i++) {
        const char *text = i < LANE_TEXTS ? lane_texts[i] : once_texts[i - LANE_TEXTS];
        bool compact = i == LANE_TEXTS - 1, fence = strstr(text, "FENCE") != NULL;
        bool compose = strstr(text, "COMPOSE") != NULL, hiz = strstr(text, "HZ") != NULL;
        bool numeric = !compact && !fence && !compose;

        for (unsigned lanes = 0; lanes < 2; lanes++) {
            struct guest *g = scene();

            set_mode(g, MODE_FP32 | 4); /* SAE armed */
            g->hart->units.rsv.svstate =
                (lanes != 0 ? FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT : 0) | FACET_SVSTATE_FPC_V;
            guest_ok(g, "%s\n", text);
            CHECK_MSG((guest_csr(g, FACET_CSR_CAP_PREC_MODE) >> 2 & 1) == !numeric, "%s", text);
            CHECK_MSG((g->hart->units.rsv.svstate & FACET_SVSTATE_FPC_V) ==
                          (numeric || (compact && lanes != 0) ? 0 : FACET_SVSTATE_FPC_V),
                      "%s",
                      text);
            CHECK_MSG((g->hart->units.rsv.svstate & FACET_SVSTATE_EN) ==
                          (lanes != 0 && (fence || compose || hiz) ? FACET_SVSTATE_EN : 0),
                      "%s",
                      text);
            guest_free(g);
        }
    }
}

TEST(fpctl_replaces_rounding_sae_and_zmode, "GFX-101")
{
    struct guest *g = scene();

    g->hart->x[16] = ONE_F;
    g->hart->x[20] = 0x33000000;
    guest_ok(g, "svon.fpctl rc=RUP\n GFX.SHADE x16, x8, nc=1\n");
    CHECK_EQ(g->hart->x[16], 0x3F800001);
    g->hart->x[16] = ONE_F;
    guest_ok(g, "GFX.SHADE x16, x8, nc=1\n");
    CHECK_EQ(g->hart->x[16], ONE_F);
    /* with alt=1 too: the composed state takes the override */
    set_alt(g, ALT_E4M3 | ALT_MIXED);
    g->hart->x[16] = 0x38;
    g->hart->x[20] = 0x01;
    guest_ok(g, "svon.fpctl rc=RUP\n GFX.SHADE x16, x8, alt=1, nc=1\n");
    CHECK_EQ(g->hart->x[16], 0x39);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NX);
    g->hart->x[16] = ONE_F;
    g->hart->x[20] = 0x33000000;
    guest_ok(g, "svon.fpctl sae=1\n GFX.SHADE x16, x8, nc=1\n");
    (void)guest_traps(g, FACET_CAUSE_NUMERIC, "GFX.SHADE x16, x8, nc=1\n");
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    /* ZMODE from CAP, and from the prefix in both directions */
    for (unsigned i = 0; i < 4; i++) {
        bool cap = (i & 1) != 0, prefix = (i & 2) != 0;

        set_mode(g, MODE_FP32 | (cap ? MODE_ZMODE : 0));
        g->hart->x[16] = 77;
        rsv(g, 1, 1, 0);
        guest_ok(
            g, prefix ? "svon.fpctl z=%u\n GFX.SAMPLE x16, x10\n" : "GFX.SAMPLE x16, x10\n", !cap);
        CHECK_EQ(g->hart->x[16], (prefix ? !cap : cap) ? 0 : 77);
    }
    guest_free(g);
}

/* ---- windows ---------------------------------------------------------------------------------
 */

TEST(windows_from_sv_registers, "GFX-004")
{
    struct guest *g = scene();

    /* four lanes of SAMPLE: slot 0 of all lanes, then slot 1, ... */
    texture(g, 0x32, 4, 1, 16);
    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, TEXTURE + i, 1, i + 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = fr(i);
        g->hart->x[12 + i] = 0;
    }
    guest_ok(g, "svsetvl x0, 4\n svon.one\n GFX.SAMPLE x16, x8\n");
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(g->hart->x[16 + i + 4 * k], fr(4 * i + k + 1));
        }
    }
    /* strides: sources broadcast, results every second register, backwards */
    g->hart->x[8] = fr(2);
    g->hart->x[9] = 0;
    guest_csrw(g, FACET_CSR_SVSRCA, FACET_SVSRCA_V | 8); /* stride 0 */
    guest_csrw(g, FACET_CSR_SVDST, FACET_SVDST_V | UINT64_C(0xFE) << 8 | 30);
    rsv(g, 2, 0, 0);
    guest_ok(g, "GFX.SAMPLE x1, x2\n");
    for (unsigned k = 0; k < 4; k++) {
        CHECK_EQ(g->hart->x[30 - 4 * k], fr(9 + k)); /* row step VL * inc = -4 */
        CHECK_EQ(g->hart->x[28 - 4 * k], fr(9 + k));
    }
    /* step codes replace both strides */
    g->hart->x[8] = fr(1);
    g->hart->x[12] = fr(3);
    g->hart->x[16] = g->hart->x[20] = 0; /* rows of A: 2 * 4 = 8 registers on */
    g->hart->units.rsv.svsrca = FACET_SVSRCA_V | UINT64_C(5) << 8 | 8;
    g->hart->units.rsv.svdst = FACET_SVDST_V | UINT64_C(5) << 8 | 21;
    g->hart->units.rsv.svstate = 1 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT |
                                 FACET_SVSTATE_STEPV | UINT64_C(3) << FACET_SVSTATE_SSTEP_LSB |
                                 UINT64_C(1) << FACET_SVSTATE_DSTEP_LSB;
    guest_ok(g, "GFX.SAMPLE x1, x2\n");
    for (unsigned k = 0; k < 4; k++) {
        CHECK_EQ(g->hart->x[21 + 2 * k], fr(5 + k));
        CHECK_EQ(g->hart->x[22 + 2 * k], fr(13 + k));
    }
    guest_free(g);
}

TEST(window_b_follows_a_or_svsrcb, "GFX-308")
{
    struct guest *g = scene();

    /* PLANE s=1, two lanes: A has four rows of two; B directly behind */
    for (unsigned way = 0; way < 3; way++) {
        unsigned b = way == 0 ? 16 : 24;

        for (unsigned i = 0; i < 2; i++) {
            for (unsigned k = 0; k < 4; k++) {
                g->hart->x[8 + i + 2 * k] = fr(k == 0 ? 2 : k == 3);
                /* lane 0: x - 1, lane 1: x - 3 */
                g->hart->x[b + (way == 2 ? k : i + 2 * k)] = fr(k == 0   ? 1
                                                                : k == 3 ? (i == 0 ? -1 : -3)
                                                                         : 0);
            }
        }
        g->hart->units.rsv.svsrcb =
            way == 0 ? 0 : FACET_SVSRCB_V | (way == 1 ? UINT64_C(1) << 8 : 0) | 24;
        rsv(g, 2, 0, 0);
        guest_ok(g, "GFX.CULL.PLANE x5, x8, s=1\n");
        CHECK_EQ(g->hart->x[5], way == 2 ? 3 : 2); /* a broadcast plane: the last one written */
    }
    /* an increment of 1 behind A whatever the step codes say: sources step 2 */
    for (unsigned outside = 0; outside < 2; outside++) {
        for (unsigned i = 0; i < 2; i++) {
            for (unsigned k = 0; k < 4; k++) {
                g->hart->x[1 + 2 * i + 4 * k] = fr(k == 0 ? 2 : k == 3);
                g->hart->x[17 + i + 2 * k] = fr(k == 0 ? 1 : k == 3 ? (i == outside ? -1 : -3) : 0);
            }
        }
        for (unsigned reg = 25; reg < 32; reg++) {
            g->hart->x[reg] = 0;
        }
        g->hart->units.rsv.svsrcb = 0;
        g->hart->units.rsv.svstate = 1 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT |
                                     FACET_SVSTATE_STEPV | UINT64_C(2) << FACET_SVSTATE_SSTEP_LSB |
                                     UINT64_C(1) << FACET_SVSTATE_DSTEP_LSB;
        guest_ok(g, "GFX.CULL.PLANE x31, x1, s=1\n");
        CHECK_EQ(g->hart->x[31], outside == 0 ? 2 : 1);
    }
    guest_free(g);
}

TEST(field_zero_names_no_x_window, "")
{
    struct guest *g = scene();
    uint64_t x[33];

    texture(g, 0x02, 4, 1, 4);
    put_bytes(g, TEXTURE, (const uint8_t[]){10, 20, 30, 40}, 4);
    for (unsigned k = 1; k < 32; k++) {
        g->hart->x[k] = fr(3);
    }
    memcpy(x, g->hart->x, sizeof x);
    guest_ok(g, "GFX.SAMPLE x0, x8\n"); /* all results dropped, not only r0 */
    CHECK_EQ(memcmp(x, g->hart->x, sizeof x), 0);
    guest_ok(g, "GFX.SAMPLE x16, x0\n"); /* u = v = 0 */
    CHECK_EQ(g->hart->x[16], fr(10));
    /* SVSRCA given: x0 itself is a base */
    g->hart->units.rsv.svsrca = FACET_SVSRCA_V | UINT64_C(1) << 8;
    rsv(g, 1, 0, 0);
    g->hart->x[1] = 0;
    guest_ok(g, "GFX.SAMPLE x16, x0\n");
    CHECK_EQ(g->hart->x[16], fr(10));
    /* f0 is a register like others */
    set_cfg(g, EN | CONVERT | FREG);
    g->hart->f[0] = fr(2);
    g->hart->f[1] = 0;
    guest_ok(g, "GFX.SAMPLE f16, f0\n");
    CHECK_EQ(g->hart->f[16] & 0xFFFFFFFF, fr(30));
    guest_ok(g, "GFX.SAMPLE f0, f0\n");
    CHECK_EQ(g->hart->f[0] & 0xFFFFFFFF, fr(30));
    CHECK_EQ(g->hart->f[3] & 0xFFFFFFFF, fr(1));
    /* a memory window named x0 lies at address 0 */
    set_cfg(g, EN | CONVERT | AMEM);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x0\n"), 0);
    set_cfg(g, EN | CONVERT | DMEM);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "GFX.SAMPLE x0, x8\n"), 0);
    guest_free(g);
}

TEST(packed_windows, "GFX-307")
{
    struct guest *g = scene();

    /* FP16, four to a register: INTERP of RGBA, registers 0..3 in, register 4 out */
    set_mode(g, MODE_FP16 | 2 << 17);
    for (unsigned j = 0; j < 4; j++) { /* tap j: j, 2j, 3j, 1 */
        static const uint64_t half[10] = {
            0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880};

        g->hart->x[16 + j] =
            half[j] | half[2 * j] << 16 | half[3 * j] << 32 | UINT64_C(0x3C00) << 48;
    }
    g->hart->x[8] = UINT64_C(0x3C00) << 48 | UINT64_C(0x3C00) << 32 | 0xDEADBEEF; /* a2, a3 */
    guest_ok(g, "GFX.INTERP x16, x8, nc=3\n");
    CHECK_EQ(g->hart->x[20], UINT64_C(0x3C00488046004200)); /* tap 3 */
    /* two lanes, two elements to a register: slots 0 and 1 share, other elements are kept */
    set_mode(g, MODE_FP16 | 1 << 17);
    for (unsigned i = 0; i < 2; i++) {
        g->hart->x[16 + i] = 0x3C003C00; /* r0, r1 */
        g->hart->x[18 + i] = 0x44443C00; /* r2, r3 */
        g->hart->x[20 + i] = i == 0 ? 0x40003C00 : 0x3C004000;
        g->hart->x[22 + i] = 0x3C00;
    }
    rsv(g, 2, 0, 0);
    guest_ok(g, "GFX.SHADE x16, x8, nc=3\n");
    CHECK_EQ(g->hart->x[16], 0x42004000);
    CHECK_EQ(g->hart->x[17], 0x40004200);
    CHECK_EQ(g->hart->x[18], 0x44444000); /* r3 keeps its bits */
    CHECK_EQ(g->hart->x[19], 0x44444000);
    /* INT4, two to a byte, through ALT: texel codes in the low and high half */
    set_mode(g, MODE_INT8);
    set_alt(g, ALT_EN | (uint64_t)4 << 26 | ALT_MIXED);
    texture(g, 0x33, 1, 1, 4);
    guest_store(g, TEXTURE, 4, 0xFD030201); /* 1, 2, 3, -3 */
    g->hart->x[10] = 0;
    guest_ok(g, "GFX.SAMPLE x16, x10\n");
    CHECK_EQ(g->hart->x[16], 0x21);
    CHECK_EQ(g->hart->x[17], 0xD3);
    guest_free(g);
}

TEST(overlapping_windows_read_before_they_write, "")
{
    struct guest *g = scene();

    /* r0..r3 of lane 0 are the coordinates of lanes 0..: all sources are read first */
    texture(g, 0x02, 8, 1, 8);
    for (unsigned i = 0; i < 8; i++) {
        guest_store(g, TEXTURE + i, 1, 7 - i);
    }
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = fr(i);
        g->hart->x[12 + i] = 0;
    }
    rsv(g, 4, 0, 0);
    guest_ok(g, "GFX.SAMPLE x8, x8\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[8 + i], fr(7 - i));
    }
    /* two lanes write one register (broadcast destination): the higher lane wins */
    for (unsigned i = 0; i < 2; i++) {
        g->hart->x[8 + i] = fr(i);
        g->hart->x[10 + i] = 0;
    }
    g->hart->units.rsv.svdst = FACET_SVDST_V | 16;
    rsv(g, 2, 0, 0);
    guest_ok(g, "GFX.SAMPLE x1, x8\n");
    CHECK_EQ(g->hart->x[16], fr(6));
    guest_free(g);
}

/* ---- masked lanes ----------------------------------------------------------------------------
 */

TEST(masked_lanes_follow_zmode, "")
{
    static const struct {
        const char *text;
        unsigned first, slots; /* of R */
        const char *ids;
    } rows[] = {{"GFX.SAMPLE x8, x1", 0, 4, "GFX-273"},
                {"GFX.SAMPLE.GATH x8, x1, n=1", 0, 4, "GFX-274"},
                {"GFX.INTERP x8, x1", 4, 1, "GFX-275"},
                {"GFX.SHADE x8, x1, nc=0", 0, 4, "GFX-276"},
                {"GFX.SHADE x8, x1, OO=3, nc=0", 0, 1, "GFX-276"},
                {"GFX.LUT1D x8, x1", 0, 3, "GFX-277"},
                {"GFX.LUT1D x8, x1, c=1", 0, 4, "GFX-277"},
                {"GFX.LUT3D x8, x1", 0, 3, "GFX-277"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned way = 0; way < 12; way++) {
            struct guest *g = scene();
            bool zmode = (way & 1) != 0, freg = (way & 2) != 0;
            unsigned format = way >> 2; /* FP32; FP16; FP16 packed by two */
            unsigned bits = format == 1 ? 16 : 32, per = format == 2 ? 2 : 1;
            uint64_t old[32];

            set_mode(g,
                     (format == 0   ? MODE_FP32
                      : format == 1 ? MODE_FP16
                                    : MODE_FP16 | 1 << 17) |
                         (zmode ? MODE_ZMODE : 0));
            set_cfg(g, EN | CONVERT | (freg ? FREG : 0));
            guest_csrw(g, FACET_CSR_GFXLUTFMT, strstr(rows[i].text, "3D") != NULL);
            for (unsigned k = 1; k < 32; k++) {
                g->hart->x[k] = 0x1234567800000000 | k;
                g->hart->f[k] = 0x1234567800000000 | k;
                old[k] = g->hart->x[k];
            }
            rsv(g, 2, 2, 1); /* lane 1 is masked off */
            guest_ok(g, "%s\n", rows[i].text);
            for (unsigned k = 0; k < 8; k++) { /* slot k of lane 1 */
                unsigned reg = 8 + 1 + k / per * 2;
                unsigned from = rows[i].first / per, to = (rows[i].first + rows[i].slots - 1) / per;
                bool result = k / per >= from && k / per <= to;
                uint64_t got = freg ? g->hart->f[reg] : g->hart->x[reg];
                uint64_t zero = freg ? ~UINT64_C(0) << bits : 0;

                CHECK_ID(zmode ? "GFX-101 GFX-312 GFX-331 GFX-370" : "GFX-312 GFX-330 GFX-370",
                         got == (result && zmode ? zero : old[reg]));
                harness_row(rows[i].ids);
                CHECK_MSG(got == (result && zmode ? zero : old[reg]),
                          "%s way %u slot %u: 0x%llx",
                          rows[i].text,
                          way,
                          k,
                          (unsigned long long)got);
            }
            CHECK((freg ? g->hart->f : g->hart->x)[8 + 2 * (rows[i].first / per)] !=
                  old[8 + 2 * (rows[i].first / per)]);
            guest_free(g);
        }
    }
}

TEST(masked_lanes_and_memory_results, "GFX-312")
{
    struct guest *g = scene();

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        set_mode(g, MODE_FP32 | (zmode != 0 ? MODE_ZMODE : 0));
        set_cfg(g, EN | CONVERT | DMEM);
        for (unsigned k = 0; k < 8; k++) {
            guest_store(g, MEM_R + 4 * k, 4, 0x5A5A5A5A);
        }
        g->hart->x[16] = MEM_R;
        g->hart->x[10] = g->hart->x[11] = g->hart->x[12] = g->hart->x[13] = 0;
        rsv(g, 2, 1, 2);
        guest_ok(g, "GFX.SAMPLE x16, x10\n");
        for (unsigned k = 0; k < 4; k++) {
            CHECK_EQ(guest_load(g, MEM_R + 8 * k, 4), 0x5A5A5A5A); /* lane 0: never touched */
            CHECK(guest_load(g, MEM_R + 8 * k + 4, 4) != 0x5A5A5A5A);
        }
    }
    guest_free(g);
}

TEST(no_lane_active_means_no_access, "")
{
    for (unsigned i = 0; i < LANE_TEXTS; i++) {
        struct guest *g = scene();
        struct watch w;

        guest_csrw(g, FACET_CSR_GFXTEXBASE, BAD);
        guest_csrw(g, FACET_CSR_GFXLUTBASE, BAD);
        guest_csrw(g, FACET_CSR_GFXGATHBASE, BAD);
        guest_csrw(g, FACET_CSR_GFXZBASE, BAD);
        set_cfg(g, EN | CONVERT | AMEM | BMEM | DMEM);
        for (unsigned k = 6; k < 32; k++) {
            g->hart->x[k] = BAD;
        }
        g->hart->x[5] = 0xFF;
        rsv(g, 4, 1, 0);
        CHECK_MSG(!watch_run(g, &w, lane_texts[i]).taken, "%s", lane_texts[i]);
        CHECK_EQ(w.reads + w.writes, 0);
        if (strstr(lane_texts[i], " x5") != NULL) { /* mask and count are written all the same */
            CHECK_EQ(g->hart->x[5], i == LANE_TEXTS - 1 ? 0 : 0xF);
        }
        CHECK_EQ(raised(g), 0);
        guest_free(g);
    }
}

/* ---- scalar equals lanes, at random ----------------------------------------------------------
 */

TEST(lanes_equal_scalar_runs_on_random_words, "GFX-004")
{
    static const char *const texts[] = {"GFX.SAMPLE x%u, x%u, m=%u, f=%u",
                                        "GFX.INTERP x%u, x%u, M=%u, P=%u",
                                        "GFX.SHADE x%u, x%u, L=%u, N=%u, nc=0",
                                        "GFX.LUT1D x%u, x%u, i=%u, c=%u",
                                        "GFX.LUT3D x%u, x%u, i=%u, c=%u"};
    struct guest *g = scene();

    texture(g, 0x30, 4, 4, 16);
    for (unsigned k = 0; k < 2048; k += 8) {
        guest_store(g, TEXTURE + k, 8, harness_random());
        guest_store(g, TABLE + k, 8, harness_random() & UINT64_C(0x3F7F3F7F3F7F3F7F));
    }
    for (unsigned round = 0; round < 1500 && !harness_failed(); round++) {
        static const uint64_t modes[] = {MODE_FP32, MODE_FP16, MODE_BF16, MODE_INT16 | ACC_INT32};
        unsigned which = round % 5, vl = 1 + (unsigned)(harness_random() % 6);
        unsigned b1 = (unsigned)(harness_random() & 1), b2 = (unsigned)(harness_random() & 1);
        uint64_t mode = modes[harness_random() % 4] | (harness_random() & MODE_SAT);
        unsigned size = (mode >> 19 & 3) == 2 ? 4 : 2, flags = 0;
        uint32_t a[6][12], b[6][4], r[6][8], out[6][8];
        char text[80];

        set_mode(g, mode);
        set_cfg(g, EN | CONVERT | NORM | SRGB | AMEM | BMEM | DMEM);
        guest_csrw(g, FACET_CSR_GFXLUTFMT, which == 4 ? 0x222D : 0x333C);
        (void)snprintf(text, sizeof text, texts[which], 16, 8, b1, b2);
        for (unsigned i = 0; i < vl; i++) {
            for (unsigned k = 0; k < 24; k++) {
                uint32_t v = (uint32_t)harness_random() & (size == 4 ? 0x3FFFFFFF : 0x3FFF);

                *(k < 12 ? &a[i][k] : k < 16 ? &b[i][k - 12] : &r[i][k - 16]) = v;
            }
        }
        g->hart->x[8] = MEM_A;
        g->hart->x[16] = MEM_R;
        for (unsigned i = 0; i < vl; i++) { /* one by one */
            put_elements(g, MEM_A, size, a[i], 12);
            put_elements(g, MEM_B, size, b[i], 4);
            put_elements(g, MEM_R, size, r[i], 8);
            g->hart->x[which == 1 ? 20 : 12] = MEM_B;
            guest_ok(g, "%s\n", text);
            for (unsigned k = 0; k < 8; k++) {
                out[i][k] = (uint32_t)guest_load(g, MEM_R + k * size, size);
            }
        }
        flags = clear_flags(g);
        for (unsigned i = 0; i < vl; i++) {
            for (unsigned k = 0; k < 12; k++) {
                guest_store(g, MEM_A + (k * vl + i) * size, size, a[i][k]);
            }
            for (unsigned k = 0; k < 4; k++) {
                guest_store(g, MEM_B + (k * vl + i) * size, size, b[i][k]);
            }
            for (unsigned k = 0; k < 8; k++) {
                guest_store(g, MEM_R + (k * vl + i) * size, size, r[i][k]);
            }
        }
        g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 12;
        g->hart->x[12] = MEM_B;
        rsv(g, vl, 0, 0);
        guest_ok(g, "%s\n", text);
        g->hart->units.rsv.svsrcb = 0;
        for (unsigned i = 0; i < vl; i++) {
            for (unsigned k = 0; k < 8; k++) {
                CHECK_MSG(guest_load(g, MEM_R + (k * vl + i) * size, size) == out[i][k],
                          "%s: lane %u of %u, slot %u",
                          text,
                          i,
                          vl,
                          k);
            }
        }
        CHECK_EQ(raised(g), flags);
    }
    guest_free(g);
}
