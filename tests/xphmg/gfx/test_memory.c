/* GFX and memory: faults and their addresses, fault-only-first, domains, security levels, classes
 * and profiles, trailers of descriptors; and that an instruction keeps the state it began with. */
#include "xphmg/gfx/gfx_test.h"

#include "facet/observer.h"

#include <stdio.h>

/* Everything that a GFX instruction may touch lies at `at` or is good. */
struct place {
    const char *name, *text;
    unsigned csr; /* that points there, 0: register x20 */
    bool store;
    unsigned align; /* of an access */
};
static const struct place places[] = {
    {"texel", "GFX.SAMPLE x16, x10", FACET_CSR_GFXTEXBASE, false, 4},
    {"gather table", "GFX.SAMPLE.GATH x16, x10, n=1", FACET_CSR_GFXGATHBASE, false, 4},
    {"1D table", "GFX.LUT1D x16, x10", FACET_CSR_GFXLUTBASE, false, 4},
    {"depth test", "GFX.ZTEST x5, x10", FACET_CSR_GFXZBASE, false, 4},
    {"depth write", "GFX.ZWRITE x10", FACET_CSR_GFXZBASE, true, 4},
    {"pyramid source", "GFX.HZ.BUILD x5, x10, hh=1", FACET_CSR_GFXZBASE, false, 4},
    {"pyramid", "GFX.HZ.BUILD x5, x20, hh=1", 0, true, 64},
    {"lower level", "GFX.HZ.BUILD x5, x20, hh=1, ll=1", 0, false, 4},
    {"stream", "GFX.CULL.COMPACT x5, x20, cc=1", 0, true, 8},
    {"descriptor", "GFX.SAMPLE x16, x20, d=1", 0, false, 16},
};
enum { PLACES = sizeof places / sizeof places[0] };

static struct guest *scene(void)
{
    struct guest *g = gfx_make();

    texture(g, 0x0A, 1, 1, 4);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    guest_csrw(g, FACET_CSR_GFXZBASE, DEPTH);
    guest_csrw(g, FACET_CSR_GFXZPITCH, 8);
    guest_csrw(g, FACET_CSR_GFXZWH, UINT64_C(2) << 32 | 2);
    guest_csrw(g, FACET_CSR_GFXZCFG, 8 | 6);
    guest_csrw(g, FACET_CSR_GFXHIZCFG, 2 << 8);
    return g;
}

/* Puts the address in place and runs; x16.. and x5 hold 77 before. */
static struct facet_trap run_at(struct guest *g, const struct place *p, uint64_t at)
{
    g->hart->x[10] = p->csr == 0 || strstr(p->name, "pyramid") == NULL ? 0 : PYRAMID;
    g->hart->x[11] = g->hart->x[12] = 0;
    for (unsigned k = 16; k < 20; k++) {
        g->hart->x[k] = 77;
    }
    g->hart->x[5] = 77;
    if (p->csr != 0) {
        guest_csrw(g, p->csr, at);
    } else {
        g->hart->x[20] = at;
        g->hart->x[21] = g->hart->x[22] = 0;
    }
    return guest_run(g, "%s\n", p->text);
}

TEST(faults_name_their_address, "GFX-371 GFX-372 GFX-290")
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct guest *g = scene();
        const struct place *p = &places[i];
        struct facet_trap trap = run_at(g, p, BAD);

        CHECK_MSG(trap.taken &&
                      trap.cause == (p->store ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT) &&
                      trap.tval == BAD,
                  "%s: cause %u at 0x%llx",
                  p->name,
                  trap.cause,
                  (unsigned long long)trap.tval);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
        CHECK_EQ(g->hart->x[16], 77);
        CHECK_EQ(g->hart->x[5], 77);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0); /* not under RSV */
        trap = run_at(g, p, GUEST_DATA + 0x20000 + p->align / 2);
        CHECK_MSG(trap.taken &&
                      trap.cause ==
                          (p->store ? FACET_CAUSE_STORE_MISALIGNED : FACET_CAUSE_LOAD_MISALIGNED) &&
                      trap.tval == GUEST_DATA + 0x20000 + p->align / 2,
                  "%s: cause %u at 0x%llx",
                  p->name,
                  trap.cause,
                  (unsigned long long)trap.tval);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
        CHECK_EQ(raised(g), 0);
        guest_free(g);
    }
}

/* A Tier-0 block of another domain, then a block with a higher security tag. */
TEST(domains_and_levels_decide, "GFX-346 GFX-387 GFX-282")
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct guest *g = scene();
        const struct place *p = &places[i];
        uint64_t at = LDS + 0x400, mapped = LDS + 0x400;
        enum facet_cause cause = p->store ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT;
        struct facet_trap trap;

        g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0x400, .size = 0x400, .dom = 2};
        g->xmem->block_count = 1;
        guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
        CHECK_MSG(!run_at(g, p, at).taken, "%s", p->name); /* not strict */
        guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
        trap = run_at(g, p, at);
        CHECK_MSG(trap.taken && trap.cause == cause && trap.tval == mapped, "%s", p->name);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
        /* XMEM.LDG of one address meets the same fault */
        g->hart->x[20] = at;
        CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xmem.ldg.w x21, (x20)\n"), at);
        guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
        CHECK(!run_at(g, p, at).taken);
        guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 0); /* ALL */
        CHECK(!run_at(g, p, at).taken);
        (void)events(g);
        g->xmem->blocks[0].sec = 1;
        trap = run_at(g, p, at);
        CHECK_MSG(trap.taken && trap.cause == cause && trap.tval == mapped, "%s", p->name);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS | FACET_CAP_XMEM_EVENTS_SEC_VIOL);
        guest_free(g);
    }
}

TEST(order_of_addresses_in_a_lane, "")
{
    struct guest *g = scene();
    struct desc d = {.base = BAD, .pitch = 4, .w = 1, .h = 1, .fmt = 0x0A, .flags = 8 | 1 << 8};
    struct watch w;

    put_desc(g, DESC, &d);
    /* window, descriptor, trailer, table, texels: mend one after the other */
    set_cfg(g, EN | CONVERT | BMEM);
    g->hart->x[20] = BAD + 0x100;
    g->hart->x[21] = BAD + 0x200;
    guest_csrw(g, FACET_CSR_GFXGATHBASE, BAD + 0x300);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE.GATH x16, x20, d=1\n"),
             BAD + 0x200);
    g->hart->x[21] = MEM_B;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE.GATH x16, x20, d=1\n"),
             BAD + 0x100);
    g->hart->x[20] = (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - 64; /* the trailer is outside */
    put_desc(g, g->hart->x[20], &d);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE.GATH x16, x20, d=1\n"),
             (uint64_t)GUEST_CODE + GUEST_RAM_BYTES);
    g->hart->x[20] = DESC;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE.GATH x16, x20, d=1\n"),
             BAD + 0x300);
    guest_csrw(g, FACET_CSR_GFXGATHBASE, TABLE);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE.GATH x16, x20, d=1\n"), BAD);
    /* taps t00, t01, t10, t11, each channel by channel */
    set_cfg(g, EN | CONVERT);
    texture(g, 0x1A, 2, 2, 64); /* FP32 RG */
    g->hart->x[10] = g->hart->x[11] = ONE_F;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1\n").taken);
    CHECK_EQ(w.reads, 8);
    for (unsigned k = 0; k < 8; k++) {
        CHECK_EQ(w.read_at[k], TEXTURE + k / 4 * 64 + k % 4 * 4);
    }
    guest_free(g);
}

/* ---- fault-only-first ------------------------------------------------------------------------
 */

TEST(fault_only_first_drops_lanes, "GFX-352 GFX-351")
{
    for (unsigned way = 0; way < 4; way++) {
        struct guest *g = scene();
        bool zmode = (way & 1) != 0, fof = (way & 2) == 0;
        struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2};
        struct facet_trap trap;

        set_mode(g, MODE_FP32 | (zmode ? MODE_ZMODE : 0));
        guest_store(g, TEXTURE, 1, 5);
        put_desc(g, DESC, &d);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, fof ? FACET_CAP_XMEM_SVMSCL_FOF : 0);
        /* lane 1 is masked and has a bad pointer, lane 3 is active with one */
        for (unsigned i = 0; i < 5; i++) {
            g->hart->x[1 + i] = i % 2 != 0 ? BAD : DESC;
            g->hart->x[6 + i] = g->hart->x[11 + i] = 0; /* u, v */
        }
        for (unsigned k = 0; k < 16; k++) {
            g->hart->x[16 + k] = 77;
        }
        g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | UINT64_C(1) << 8 | 6;
        g->hart->units.rsv.svfaulti = FACET_SVFAULTI_VALID | 99;
        rsv(g, 5, 1, 0x1D);
        g->hart->units.rsv.svdst = FACET_SVDST_V | UINT64_C(1) << 8 | 16;
        trap = guest_run(g, "GFX.SAMPLE x16, x1, d=1\n");
        CHECK_EQ(trap.taken, !fof);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FACET_SVFAULTI_VALID | 5u << 16 | 3);
        CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
        if (fof) { /* r0 of lanes 0..4 in x16..x20 */
            CHECK_EQ(g->hart->x[16], fr(5));
            CHECK_EQ(g->hart->x[17], zmode ? 0 : 77); /* masked below the fault: ZMODE */
            CHECK_EQ(g->hart->x[18], fr(5));
            CHECK_EQ(g->hart->x[19], 77);
            CHECK_EQ(g->hart->x[20], 77);
            CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_EN, 0); /* retired */
        } else {
            for (unsigned k = 0; k < 16; k++) {
                CHECK_EQ(g->hart->x[16 + k], 77);
            }
        }
        /* without a fault VALID is cleared */
        if (fof) {
            for (unsigned i = 0; i < 5; i++) {
                g->hart->x[1 + i] = DESC;
            }
            rsv(g, 5, 0, 0);
            guest_ok(g, "GFX.SAMPLE x16, x1, d=1\n");
            CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI) & FACET_SVFAULTI_VALID, 0);
            /* scalar: FOF does not act */
            g->hart->x[1] = BAD;
            (void)guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x1, d=1\n");
        }
        guest_free(g);
    }
}

TEST(dropped_lanes_keep_mask_bits_and_do_not_count, "")
{
    struct guest *g = scene();

    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
    set_mode(g, MODE_FP32 | MODE_ZMODE);
    /* z window at the end of memory: lane 2 of 4 is outside */
    set_cfg(g, EN | AMEM);
    g->hart->x[10] = (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - 8;
    g->hart->x[5] = 0xFF;
    g->hart->units.pmask.bank[2] = 0xFC;
    guest_csrw(g, FACET_CSR_GFXZCFG, 0x17); /* NEVER */
    rsv(g, 4, 0, 0);
    guest_ok(g, "GFX.ZTEST x5, x10, e=1, pd=2\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI) & 0xFFFF, 0); /* lane 0: its pixel lies behind */
    CHECK_EQ(g->hart->x[5], 0xF); /* all four dropped: old bits, bits from VL on 0 */
    CHECK_EQ(g->hart->units.pmask.bank[2], 0xFC);
    /* COMPACT: window B in memory ends after two lanes */
    set_cfg(g, EN | BMEM);
    g->hart->x[10] = STREAM;
    g->hart->x[14] = (uint64_t)GUEST_CODE + GUEST_RAM_BYTES - 16;
    rsv(g, 4, 0, 0);
    guest_ok(g, "GFX.CULL.COMPACT x5, x10, cc=1\n");
    CHECK_EQ(g->hart->x[5], 2);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FACET_SVFAULTI_VALID | 5u << 16 | 2);
    /* store faults trap as ever */
    g->hart->x[10] = BAD;
    rsv(g, 4, 0, 0);
    (void)guest_traps(g, FACET_CAUSE_STORE_FAULT, "GFX.CULL.COMPACT x5, x10, mm=1\n");
    guest_free(g);
}

TEST(an_unsupported_descriptor_is_no_fault, "")
{
    struct guest *g = scene();
    struct desc good = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2}, bad = good;

    bad.fmt = 0x4F;
    put_desc(g, DESC, &good);
    put_desc(g, DESC + 64, &bad);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
    g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 30;
    for (unsigned i = 0; i < 3; i++) {
        g->hart->x[8 + i] = i == 1 ? DESC + 64 : DESC;
    }
    rsv(g, 3, 0, 0);
    (void)guest_traps(g, FACET_CAUSE_UNSUPPORTED, "GFX.SAMPLE x16, x8, d=1\n");
    CHECK_EQ(raised(g), FACET_UNSUP);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0);
    rsv(g, 3, 1, 5); /* masked: not looked at */
    guest_ok(g, "GFX.SAMPLE x16, x8, d=1\n");
    /* a fault of a lower lane comes first */
    g->hart->x[8] = BAD;
    rsv(g, 3, 0, 0);
    guest_ok(g, "GFX.SAMPLE x16, x8, d=1\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FACET_SVFAULTI_VALID | 5u << 16);
    guest_free(g);
}

/* ---- policy ----------------------------------------------------------------------------------
 */

TEST(accesses_are_tagged_with_cap_defaults, "")
{
    struct guest *g = scene();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2};
    struct watch w;

    put_desc(g, DESC, &d);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(1) << FACET_CAP_XMEM_L1CFG_ACTIVE_CLASS_LSB);
    for (unsigned def = 0; def < 4; def++) {
        for (unsigned i = 0; i < 3; i++) {
            static const char *const texts[] = {
                "GFX.SAMPLE x16, x10", "GFX.SAMPLE x16, x20, d=1", "GFX.HZ.BUILD x5, x21, hh=1"};
            uint64_t used[4];

            for (unsigned c = 0; c < 4; c++) {
                used[c] = guest_indirect_read(g, FACET_CSR_XLDSUSED0 + c);
            }
            guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, def | (def == 2 ? 1u << 4 : 0));
            guest_csrw(g, FACET_CSR_CAP_XMEM_STREAM_CTL, 0x1234 + def);
            g->hart->x[20] = DESC;
            g->hart->x[21] = PYRAMID;
            CHECK(!watch_run(g, &w, texts[i]).taken);
            CHECK_EQ(w.policies, 1);
            CHECK_EQ(w.trailers, 0);
            CHECK_ID(i == 1 ? "GFX-012 GFX-305 GFX-355" : "GFX-012", w.policy[0] == 4);
            CHECK_EQ(w.policy[1], 0);
            /* ACTIVE_CLASS when there is no default */
            CHECK_ID("GFX-012 GFX-347", w.policy[2] == (def == 0 ? 1 : def));
            CHECK_EQ(w.policy[3], 0);
            CHECK_ID("GFX-348", w.policy[4] == 0x1234 + def); /* STREAM_CTL */
            CHECK_EQ(
                w.policy[5],
                FACET_GET(guest_csr(g, FACET_CSR_CAP_XMEM_DESCPOL), CAP_XMEM_DESCPOL_HYB_ENABLE));
            for (unsigned c = 0; c < 4; c++) { /* no LDS is allocated */
                CHECK_ID("GFX-349", guest_indirect_read(g, FACET_CSR_XLDSUSED0 + c) == used[c]);
            }
        }
    }
    guest_free(g);
}

TEST(placement_settings_change_no_value, "GFX-350 GFX-264 GFX-348")
{
    static const struct {
        unsigned csr;
        uint64_t value;
    } settings[] = {{FACET_CSR_CAP_XMEM_COMP_CTL, 1},
                    {FACET_CSR_CAP_XMEM_COMP_CTL, 3},
                    {FACET_CSR_CAP_XMEM_STREAM_CTL, 0x1FFFFFF},
                    {FACET_CSR_CAP_XMEM_SPROF0 + 1, 0xFFFFFF},
                    {FACET_CSR_CAP_XMEM_DESCPOL, 0x33},
                    {FACET_CSR_CAP_XMEM_L1CFG, 3},
                    {FACET_CSR_CAP_XMEM_SVMBASE, 0x1000},
                    {FACET_CSR_CAP_XMEM_SVMIDX, 3},
                    {FACET_CSR_CAP_XMEM_SVMLEN, 2},
                    {FACET_CSR_CAP_XMEM_SVMMODE, 0xFF},
                    {FACET_CSR_CAP_XMEM_SVMLIM, 1}};
    struct guest *g = scene();

    texture_t2(g);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        guest_csrw(g, settings[i].csr, settings[i].value);
        g->hart->x[10] = HALF_F;
        g->hart->x[11] = 0x3ECCCCCD;
        guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
        CHECK_EQ(g->hart->x[16], 0x3F0268C9);
        CHECK_EQ(g->hart->x[17], 0x3E83691D);
        CHECK_EQ(g->hart->x[18], 0x3EB534A9);
        CHECK_EQ(g->hart->x[19], 0x3F10371D);
    }
    guest_free(g);
}

TEST(a_trailer_overrides_five_fields, "GFX-353 GFX-356 GFX-346")
{
    struct guest *g = scene();
    struct desc d = {.base = LDS + 0x100, .pitch = 4, .w = 1, .h = 1, .fmt = 2, .flags = 8};
    struct watch w;

    put_desc(g, DESC, &d);
    guest_store(g, LDS + 0x100, 1, 9);
    for (unsigned i = 0; i < 24; i++) {
        guest_store(g, DESC + 64 + i, 1, 0);
    }
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM | 1);
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0x100, .size = 64, .dom = 2, .sec = 1};
    g->xmem->block_count = 1;
    g->hart->x[20] = DESC;
    g->hart->x[21] = g->hart->x[22] = 0;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x20, d=1\n"), LDS + 0x100);
    guest_store(g, DESC + 64, 1, 2); /* dom RT */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "GFX.SAMPLE x16, x20, d=1\n"), LDS + 0x100);
    guest_store(g, DESC + 64 + 19, 1, 1); /* sec 1 */
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1\n");
    CHECK_EQ(g->hart->x[16], fr(9));
    /* all fields set: domain, level, class, profile and hybrid are told, nothing else */
    for (unsigned i = 0; i < 24; i++) {
        guest_store(g, DESC + 64 + i, 1, 1);
    }
    guest_store(g, DESC + 64, 1, 2);
    guest_store(g, DESC + 64 + 16, 1, 3);
    guest_store(g, DESC + 64 + 17, 1, 2);
    guest_store(g, DESC + 64 + 19, 1, 2);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x20, d=1\n").taken);
    CHECK_EQ(w.trailers, 1);
    CHECK_EQ(w.trailer[0], 2);
    CHECK_EQ(w.trailer[1], 2);
    CHECK_EQ(w.trailer[2], 3);
    CHECK_EQ(w.trailer[3], 2);
    CHECK_EQ(w.trailer[5], 1);
    CHECK_EQ(w.policy[0], 4); /* the instruction's own */
    CHECK_EQ(w.reads, 8 + 3 + 1);
    CHECK_EQ(g->xmem->block_count, 1); /* no soft pin */
    CHECK_EQ(w.others, 0);
    /* values that do not exist fall back */
    guest_store(g, DESC + 64, 1, 9);
    guest_store(g, DESC + 64 + 16, 1, 0);
    guest_store(g, DESC + 64 + 17, 1, 9);
    guest_store(g, DESC + 64 + 18, 1, 0);
    guest_store(g, DESC + 64 + 19, 1, 7);
    g->xmem->block_count = 0;
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x20, d=1\n").taken);
    CHECK_EQ(w.trailer[0], 4);
    CHECK_EQ(w.trailer[1], 0);
    CHECK_EQ(w.trailer[2], 1);
    CHECK_EQ(w.trailer[3], 0);
    CHECK_EQ(w.trailer[5], 0);
    guest_free(g);
}

TEST(result_stores_of_a_lane_follow_its_trailer, "")
{
    struct guest *g = scene();
    struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2, .flags = 8};

    put_desc(g, DESC, &d);
    for (unsigned i = 0; i < 24; i++) {
        guest_store(g, DESC + 64 + i, 1, 0);
    }
    set_cfg(g, EN | CONVERT | DMEM);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    g->hart->x[16] = LDS;
    g->hart->x[20] = DESC;
    g->hart->x[21] = g->hart->x[22] = 0;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "GFX.SAMPLE x16, x20, d=1\n"), LDS);
    guest_store(g, DESC + 64, 1, 2);
    guest_ok(g, "GFX.SAMPLE x16, x20, d=1\n");
    CHECK_EQ(guest_load(g, LDS + 12, 4), ONE_F);
    guest_free(g);
}

/* ---- snapshots -------------------------------------------------------------------------------
 */

struct meddler {
    struct guest *g;
    unsigned accesses;
};

/* Turns everything over while the first lane is being fetched. */
static void meddle(void *context, const struct facet_memory_event *event)
{
    struct meddler *m = context;
    struct facet_hart *h = m->g->hart;
    static const unsigned keep[] = {FACET_CSR_GFXCFG,
                                    FACET_CSR_GFXWRAP,
                                    FACET_CSR_GFXTEXBASE,
                                    FACET_CSR_GFXTEXPITCH,
                                    FACET_CSR_GFXTEXWH,
                                    FACET_CSR_GFXTEXFMT,
                                    FACET_CSR_GFXBORDERC,
                                    FACET_CSR_GFXTEXSTRIDE1};

    (void)event;
    if (m->accesses++ != 0) {
        return;
    }
    for (size_t i = 0; i < sizeof keep / sizeof keep[0]; i++) {
        facet_hart_csr_poke(h, keep[i], 0x1000);
    }
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_MODE, MODE_FP16 | FACET_CAP_PREC_MODE_APPLY0);
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_ALT, UINT64_C(0x8000000049C00000));
    facet_hart_csr_poke(h, FACET_CSR_CAP_PREC_EXC_EN, 0x1F);
    facet_hart_csr_poke(h, FACET_CSR_CAP_XMEM_DOM, 3);
    facet_hart_csr_poke(h, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    facet_hart_csr_poke(h, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
}

TEST(an_instruction_keeps_the_state_it_began_with,
     "GFX-321 GFX-322 GFX-323 GFX-324 GFX-325 GFX-364")
{
    struct guest *g = scene();
    struct meddler m = {.g = g};
    struct facet_observer observer = {.context = &m, .memory = meddle};
    struct facet_trap trap;

    texture_t2(g);
    guest_csrw(g, FACET_CSR_GFXTEXBASE, LDS);
    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, LDS + i, 1, guest_load(g, TEXTURE + i, 1));
    }
    /* a block that the new domain would be refused by */
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 4};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 4);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = HALF_F;
        g->hart->x[12 + i] = 0x3ECCCCCD;
    }
    rsv(g, 4, 0, 0);
    guest_observe(g, &observer);
    trap = guest_run(g, "GFX.SAMPLE x16, x8, m=1\n");
    guest_observe(g, NULL);
    CHECK(!trap.taken);
    CHECK(m.accesses > 4);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[16 + i], 0x3F0268C9);
        CHECK_EQ(g->hart->x[28 + i], 0x3F10371D);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_GFXTEXBASE), 0x1000); /* and the writes are in force now */
    /* FOF turned on during the loop does not act: the last lane's fault traps */
    guest_free(g);
    g = scene();
    m = (struct meddler){.g = g};
    texture(g, 0x0A, 1, 1, 4);
    {
        struct desc d = {.base = TEXTURE, .pitch = 4, .w = 1, .h = 1, .fmt = 2};

        put_desc(g, DESC, &d);
    }
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = i == 3 ? BAD : DESC;
    }
    g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 30;
    rsv(g, 4, 0, 0);
    guest_observe(g, &observer);
    trap = guest_run(g, "GFX.SAMPLE x16, x8, d=1\n");
    guest_observe(g, NULL);
    CHECK(trap.taken && trap.cause == FACET_CAUSE_LOAD_FAULT);
    guest_free(g);
}
