/* XMEM state that places data and never changes it: CAP.XMEM fields, events, cache control, line
 * locks, streaming. Field values are typed in from the tables, not taken from the code. */
#include "xphmg/xmem/xmem_test.h"

#include <stdio.h>

enum { D = GUEST_DATA, LINE = 64, LOCK_EN = 1 << 20 };

static uint64_t written(struct guest *g, unsigned number, uint64_t value)
{
    guest_csrw(g, number, value);
    return guest_csrr(g, number);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

TEST(domains_are_named_by_number, "XM-012 XM-014")
{
    struct guest *g = guest_make("full");

    for (unsigned dom = 0; dom < 16; dom++) {
        bool exists = dom <= 6 || dom == 15;
        uint64_t region;

        CHECK_EQ(written(g, 0x7E6, dom), exists ? dom : 0);
        region = alloc(g, 64, 0, 0);
        /* the owner of a region is the current domain; 0 is everybody */
        CHECK_EQ(g->xmem->blocks[g->xmem->block_count - 1].dom, exists && dom != 0 ? dom : 15);
        CHECK(region != 0);
    }
    guest_free(g);
}

TEST(cache_fields, "")
{
    struct guest *g = guest_make("full");

    for (unsigned v = 0; v < 5; v++) {
        CHECK_ID("XM-027", written(g, 0x7E2, v << 8) == (v <= 2 ? v << 8 : 0));   /* LINE_SZ */
        CHECK_ID("XM-028", written(g, 0x7E2, v << 16) == (v <= 3 ? v << 16 : 0)); /* REPL */
    }
    harness_row("XM-029");
    CHECK_EQ(written(g, 0x7E3, UINT64_MAX), UINT64_C(0x0000FFFFFFFFFFFF));
    for (unsigned n = 0; n < 4; n++) {
        CHECK_EQ(written(g, 0x7E3, UINT64_C(0xFF) << 8 * n), UINT64_C(0xFF) << 8 * n);
        CHECK_EQ(written(g, 0x7E3, UINT64_C(0xF) << (32 + 4 * n)), UINT64_C(0xF) << (32 + 4 * n));
        harness_row("XM-030");
        CHECK_EQ(written(g, 0x7E4, UINT64_C(0xFFFF) << 16 * n), UINT64_C(0xFFFF) << 16 * n);
        harness_row("XM-032");
        CHECK_EQ(written(g, 0x7E8 + n, UINT64_C(0x312345)), UINT64_C(0x312345));
        CHECK_EQ(written(g, 0x7E8 + n, UINT64_C(0xFFFFFFFF3FFFFFF)), UINT64_C(0x3FFFFFF));
        CHECK_EQ(written(g, 0x7E8 + n, UINT64_C(0x3FF1234)), UINT64_C(0x3FF1234));
        CHECK_EQ(written(g, 0x7E8 + n, UINT64_C(4) << 24), 0); /* NT_POLICY */
        harness_row("XM-029");
    }
    CHECK_ID("XM-033", written(g, 0x7ED, UINT64_MAX) == 0x7F);
    guest_free(g);
}

TEST(controls_of_absent_features_read_zero, "XM-003 XM-008")
{
    static const struct {
        unsigned number;
        uint64_t value;
    } rows[] = {
        {0x7E2, 0},  {0x7E3, 0},          {0x7E4, UINT64_MAX}, {0x7E5, 0},
        {0x7E6, 15}, {0x7E7, 0x00FFFFFF}, {0x7E8, 0},          {0x7E9, 0},
        {0x7EA, 0},  {0x7EB, 0},          {0x7EC, 0},          {0x7ED, 0x40},
        {0x7EF, 0},  {0x7F0, UINT64_MAX}, {0x7F1, UINT64_MAX}, {0x7F2, 0x38},
        {0x7F3, 0},  {0x7F4, 0x73},       {0x7F5, UINT64_MAX},
    };
    struct guest *g = guest_make("min");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_EQ(written(g, rows[i].number, UINT64_MAX), rows[i].value);
    }
    guest_free(g);
}

TEST(no_other_register_reaches_this_state, "XM-026")
{
    struct guest *g = guest_make("full");
    uint64_t before[sizeof g->hart->units.cap.xmem / 8];

    for (unsigned n = 0; n < sizeof before / 8; n++) {
        before[n] = n & 1; /* any legal mixture */
    }
    memcpy(&g->hart->units.cap.xmem, before, sizeof before);
    for (unsigned n = 0; n < 4096; n++) {
        /* RTCLSDEF is a documented second view of DESCPOL (R-RT-29) */
        if ((n >= 0x7E2 && n <= 0x7F5) || n == 0x828) {
            continue;
        }
        guest_store(g, GUEST_CODE, 4, 0x73 | 1u << 12 | 5u << 15 | n << 20); /* csrrw x0, n, t0 */
        g->hart->pc = GUEST_CODE;
        g->hart->x[5] = n == FACET_CSR_XISEL ? 0 : UINT64_C(0x5555555555555555);
        g->hart->priv = FACET_PRIV_M;
        (void)facet_hart_step(g->hart);
    }
    guest_store(g, GUEST_CODE, 4, 0x73 | 1u << 12 | 5u << 15 | (uint32_t)FACET_CSR_XIREG << 20);
    for (unsigned n = 0; n < 0x10000; n++) {
        g->hart->units.cap.xisel = n != 0x7FA8 ? n : 0;
        g->hart->pc = GUEST_CODE;
        g->hart->priv = FACET_PRIV_M;
        (void)facet_hart_step(g->hart);
    }
    CHECK_EQ(memcmp(before, &g->hart->units.cap.xmem, sizeof before), 0);
    guest_free(g);
}

/* ---- events ------------------------------------------------------------------------------------
 */

TEST(events_stay_until_written, "XM-135 XM-137 XM-133")
{
    struct guest *g = guest_make("full");
    uint64_t secret = alloc(g, 64, 0, 2);

    (void)alloc(g, 1 << 20, 0, 0);                       /* LDS_OOM */
    (void)with3(g, "xmem.ldg.b a0, (a0)", secret, 0, 0); /* INV_MISS, SEC_VIOL */
    guest_ok(g, "li a3, 6\n");
    CHECK_EQ(g->hart->x[13], 6);
    CHECK_EQ(guest_csrr(g, 0x7EE), EV_LDS_OOM | EV_INV_MISS | EV_SEC_VIOL);
    CHECK_EQ(guest_csrr(g, 0x7EE), EV_LDS_OOM | EV_INV_MISS | EV_SEC_VIOL);
    guest_csrw(g, 0x7EE, EV_SEC_VIOL);
    CHECK_EQ(guest_csrr(g, 0x7EE), EV_LDS_OOM | EV_INV_MISS);
    guest_csrw(g, 0x7EE, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x7EE), 0);
    guest_free(g);
}

TEST(events_of_absent_features_stay_zero, "XM-136 XM-134 XM-118")
{
    struct guest *g = guest_make("min");
    uint64_t a = alloc(g, 64, 4, 3); /* hyb, sec */

    guest_csrw(g, 0x7ED, 8);
    guest_csrw(g, 0x7E2, LOCK_EN);
    CHECK(alloc(g, 64, 4, 2) != 0);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D, 1 << 20, 0).taken);
    CHECK(!with3(g, "xmem.ldg.d a0, (a0), hint=63", D, 0, 0).taken);
    CHECK(!with3(g, "xmem.stg.d a1, (a0), hint=63", D, 0, 0).taken);
    CHECK(!with3(g, "xmem.ldg.d a0, (a0)", a, 0, 0).taken);
    CHECK_EQ(guest_csrr(g, 0x7EE), 0);
    CHECK(with3(g, "xlds.cpy a0, a1, a2, async=1", NOWHERE, D, 8).taken); /* async ignored */
    CHECK_EQ(guest_csrr(g, 0x7EE), EV_INV_MISS);
    CHECK(!with3(g, "xmem.dstorec (a0), a1, a2", D + 64, D, 8).taken);
    CHECK_EQ(guest_csrr(g, 0x7EE), EV_INV_MISS | EV_COMP_ERR);
    guest_free(g);
}

/* ---- locks -------------------------------------------------------------------------------------
 */

static uint64_t locked(struct guest *g)
{
    return guest_indirect_read(g, FACET_CSR_XLOCKN);
}

TEST(locks_fill_a_table_of_eight_lines, "XM-113 XM-115")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, 0x7E2, LOCK_EN);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D + 60, 8, 0).taken); /* crosses a line */
    CHECK_EQ(locked(g), 2);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D, 128, 0).taken); /* the same two */
    CHECK_EQ(locked(g), 2);
    CHECK_EQ(events(g), 0);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D, 9 * LINE, 0).taken);
    CHECK_EQ(locked(g), 8);
    CHECK_EQ(events(g), EV_LOCK_OVF);
    /* the ninth was dropped: unlocking it frees nothing */
    CHECK(!with3(g, "xmem.cctl.unlock a0, a1", D + 8 * LINE, LINE, 0).taken);
    CHECK_EQ(locked(g), 8);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D + 7 * LINE, 1, 0).taken); /* has its lock already */
    CHECK_EQ(events(g), 0);
    CHECK(!with3(g, "xmem.cctl.unlock a0, a1", D + LINE + 1, LINE, 0).taken); /* two lines */
    CHECK_EQ(locked(g), 6);
    CHECK(!with3(g, "xmem.cctl.unlock a0, a1", D, 0, 0).taken); /* nothing */
    CHECK_EQ(locked(g), 6);
    CHECK(!with3(g, "xmem.cctl.unlock a0, a1", 0, UINT64_MAX, 0).taken);
    CHECK_EQ(locked(g), 0);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", UINT64_MAX, 2, 0).taken); /* wraps to line 0 */
    CHECK_EQ(locked(g), 2);
    CHECK(
        !with3(g, "xmem.cctl.lock a0, a1", 0, UINT64_MAX, 0).taken); /* and an endless range ends */
    CHECK_EQ(locked(g), 8);
    CHECK_EQ(events(g), EV_LOCK_OVF);
    guest_free(g);
}

TEST(locks_need_lock_en, "XM-114 XM-113")
{
    struct guest *g = guest_make("full");

    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D, 1, 0).taken);
    CHECK_EQ(events(g), EV_LOCK_OVF);
    CHECK(!with3(g, "xmem.cctl.lock a0, a1", D, 0, 0).taken);
    CHECK_EQ(events(g), 0);
    CHECK(!with3(g, "xmem.ldg.d a0, (a0), hint=LOCK", D, 0, 0).taken);
    CHECK_EQ(events(g), EV_LOCK_OVF);
    CHECK_EQ(locked(g), 0);
    guest_csrw(g, 0x7E2, LOCK_EN);
    CHECK(!with3(g, "xmem.ldg.d a0, (a0), hint=LOCK", D, 0, 0).taken);
    CHECK(!with3(g, "xmem.stg.d a1, (a0), hint=LOCK", D + LINE, 0, 0).taken);
    CHECK_EQ(locked(g), 2);
    CHECK_EQ(events(g), 0);
    /* an access that faults locks nothing; a masked lane neither */
    CHECK(with3(g, "xmem.ldg.d a0, (a0), hint=LOCK", D + 4 * LINE + 4, 0, 0).taken);
    CHECK(!with3(g, "xmem.ldg.d a1, (a0), LOCK, 1", D + 4 * LINE, 0, 0).taken);
    CHECK_EQ(locked(g), 2);
    guest_free(g);
}

/* ---- cache control and streaming ---------------------------------------------------------------
 */

TEST(cache_control_changes_no_data, "XM-112 XM-024 XM-080")
{
    static const char *const rows[] = {"xmem.cctl.inv a0, a1",
                                       "xmem.cctl.flush a0, a1",
                                       "xmem.cctl.lock a0, a1",
                                       "xmem.cctl.unlock a0, a1",
                                       "xmem.cctl.partition a0, a1",
                                       "xmem.pref (a0), a1, 31"};
    static const char *const told[] = {
        "cctl.inv", "cctl.flush", "cctl.lock", "cctl.unlock", "partition", "pref"};
    struct guest *g = guest_make("full");
    static struct log log;

    guest_csrw(g, 0x7E2, LOCK_EN);
    guest_store(g, D, 8, 4711);
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned length = 0; length <= 64; length += 64) {
            const struct facet_unit_event *event;

            log_start(&log, g);
            CHECK(!with3(g, rows[i], D, length, 0).taken);
            guest_observe(g, NULL);
            CHECK_EQ(log.accesses, 0);
            event = log_find(&log, told[i]);
            if (CHECK(event != NULL)) {
                CHECK_STR(event->unit, "xmem");
                CHECK_EQ(event->values[0], D);
                CHECK_EQ(event->values[1], length);
            }
            CHECK_EQ(guest_load(g, D, 8), 4711);
        }
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(prefetch_never_faults, "XM-111")
{
    struct guest *g = guest_make("full");
    static const uint64_t where[] = {NOWHERE, D + 1, 0, UINT64_MAX};

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned hint = 0; hint < 32; hint++) {
            char text[48];

            (void)snprintf(text, sizeof text, "xmem.pref (a0), a1, %u", hint);
            CHECK(!with3(g, text, where[i], UINT64_MAX, 0).taken);
        }
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(partition_writes_the_way_mask_of_a_class, "XM-116")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, 0x7E3, UINT64_C(0x0000432100000000));
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", 1, 0xF38, 0).taken);
    CHECK_EQ(guest_csrr(g, 0x7E3), UINT64_C(0x0000432100003800));
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", 7, 0xC0, 0).taken); /* class = bits 1:0 */
    CHECK_EQ(guest_csrr(g, 0x7E3), UINT64_C(0x00004321C0003800));
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XT0SIZE), T0_BYTES);
    /* the same rules as a csrw: without WAY_PART there are no masks */
    guest_configure(g, "xmem_cap", 0x1FFF & ~0x10u);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", 1, 0x38, 0).taken);
    CHECK_EQ(guest_csrr(g, 0x7E3), 0);
    guest_free(g);
}

TEST(stream_writes_the_detector_or_a_profile, "XM-117 XM-032")
{
    struct guest *g = guest_make("full");

    for (unsigned which = 0; which < 7; which++) {
        uint64_t value = UINT64_C(0xFFFFFFFFF1000000) | (0x100 + which); /* bits 63:28 reserved */

        CHECK(!with3(g, "xmem.stream a0, a1", which, value, 0).taken);
    }
    CHECK_EQ(guest_csrr(g, 0x7E7), 0x01000100);
    for (unsigned n = 0; n < 4; n++) {
        CHECK_EQ(guest_csrr(g, 0x7E8 + n), 0x01000101 + n);
    }
    CHECK(!with3(g, "xmem.stream a0, a1", UINT64_C(1) << 32, 0, 0).taken);
    CHECK_EQ(guest_csrr(g, 0x7E7), 0x01000100);
    /* user code may do it (R-CAP-56) */
    g->hart->priv = FACET_PRIV_U;
    CHECK(!with3(g, "xmem.stream a0, a1", 2, 0x77, 0).taken);
    g->hart->priv = FACET_PRIV_M;
    CHECK_EQ(guest_csrr(g, 0x7E9), 0x77);
    guest_configure(g, "xmem_cap", 0x1FFF & ~0x440u); /* no profiles, no NONTEMP */
    CHECK(!with3(g, "xmem.stream a0, a1", 0, UINT64_MAX, 0).taken);
    CHECK(!with3(g, "xmem.stream a0, a1", 1, UINT64_MAX, 0).taken);
    CHECK_EQ(guest_csrr(g, 0x7E7), 0x00FFFFFF);
    CHECK_EQ(guest_csrr(g, 0x7E8), 0);
    guest_free(g);
}
