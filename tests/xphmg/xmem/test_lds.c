/* XLDS: allocation with tiers, classes, budgets and hybrid borrowing, ownership and security tags.
 * The second formulation is a map of granules that is searched byte range by byte range; directed
 * cases are written out by hand. */
#include "xphmg/xmem/xmem_test.h"

enum { F_HYB = 4, F_T0 = 8, F_ZERO = 16 };

TEST(allocations_are_first_fit_in_granules, "XM-081 XM-082 XM-083 XM-085 XM-006")
{
    struct guest *g = guest_make("full");
    uint64_t a = alloc(g, 1, 0, 0), b = alloc(g, 200, 0, 0), c = alloc(g, 64, 0, 0);

    CHECK_EQ(a, LDS + T0_BYTES); /* Tier-1 starts behind Tier-0 */
    CHECK_EQ(b, a + 64);
    CHECK_EQ(c, b + 256);
    CHECK_EQ(used(g, 0), 64 + 256 + 64);
    release(g, b);
    CHECK_EQ(used(g, 0), 128);
    CHECK_EQ(alloc(g, 300, 0, 0), c + 64); /* the gap is too small */
    CHECK_EQ(alloc(g, 100, 0, 0), b);
    CHECK_EQ(alloc(g, 128, 0, 0), b + 128);
    CHECK_EQ(alloc(g, 0, 0, 0), 0);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(free_needs_the_exact_base, "XM-086")
{
    struct guest *g = guest_make("full");
    uint64_t a = alloc(g, 256, 0, 0);

    release(g, 0);
    CHECK_EQ(events(g), 0);
    release(g, a + 64);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK_EQ(used(g, 0), 256);
    release(g, a);
    CHECK_EQ(events(g), 0);
    release(g, a);
    CHECK_EQ(events(g), EV_INV_MISS);
    guest_free(g);
}

TEST(failure_changes_nothing_but_the_event, "XM-075 XM-137")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(alloc(g, LDS_BYTES - T0_BYTES + 1, 0, 0), 0);
    CHECK_EQ(events(g), EV_LDS_OOM);
    CHECK_EQ(alloc(g, UINT64_MAX, 0, 0), 0);
    CHECK_EQ(events(g), EV_LDS_OOM);
    CHECK_EQ(used(g, 0) + used(g, 1) + used(g, 2) + used(g, 3), 0);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 8); /* borrowing off */
    CHECK_EQ(alloc(g, LDS_BYTES, F_HYB, 0), 0);
    CHECK_EQ(events(g), EV_LDS_OOM); /* no HYB_FALLBK: nothing was charged */
    CHECK_EQ(alloc(g, LDS_BYTES - T0_BYTES, 0, 0), LDS + T0_BYTES);
    CHECK_EQ(alloc(g, 1, 0, 0), 0);
    /* an event is no trap: the instruction behind it ran (guest_ok), and later ones too */
    CHECK_EQ(events(g), EV_LDS_OOM);
    guest_free(g);
}

TEST(contents_stay_unless_zeroed, "XM-084")
{
    struct guest *g = guest_make("full");
    uint64_t a = alloc(g, 128, 0, 0);

    for (unsigned i = 0; i < 256; i += 8) {
        guest_store(g, a + i, 8, UINT64_C(0xA5A5A5A5A5A5A5A5));
    }
    release(g, a);
    CHECK_EQ(alloc(g, 128, 0, 0), a);
    CHECK_EQ(guest_load(g, a + 120, 8), UINT64_C(0xA5A5A5A5A5A5A5A5));
    release(g, a);
    CHECK_EQ(alloc(g, 100, F_ZERO, 0), a);
    for (unsigned i = 0; i < 128; i += 8) {
        CHECK_EQ(guest_load(g, a + i, 8), 0);
    }
    CHECK_EQ(guest_load(g, a + 128, 8), UINT64_C(0xA5A5A5A5A5A5A5A5));
    guest_free(g);
}

TEST(classes_come_from_flags_or_the_active_class, "XM-006 XM-074 XM-138")
{
    struct guest *g = guest_make("full");

    for (unsigned i = FACET_CSR_CAP_XMEM_L1CFG; i <= FACET_CSR_CAP_XMEM_DESCPOL; i++) {
        CHECK_EQ(guest_csrr(g, i), 0);
    }
    (void)alloc(g, 64, 0, 0);
    CHECK_EQ(used(g, 0), 64);
    (void)alloc(g, 128, 1, 0);
    CHECK_EQ(used(g, 1), 128);
    (void)alloc(g, 192, 3, 0);
    CHECK_EQ(used(g, 3), 192);
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(2) << 24);
    (void)alloc(g, 64, 0, 0);
    CHECK_EQ(used(g, 2), 64);
    (void)alloc(g, 64, 1, 0); /* the flag wins */
    CHECK_EQ(used(g, 1), 192);
    for (unsigned v = 0; v < 4; v++) {
        guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, (uint64_t)v << 24);
        CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_XMEM_L1CFG) >> 24, v);
    }
    CHECK_EQ(alloc(g, 20000, F_HYB, 0) != 0, true); /* borrowing is allowed, budgets unlimited */
    CHECK_EQ(events(g), 0);
    /* DOM = 0 is everybody, STRICT_DOM = 0 */
    CHECK_EQ(with3(g, "xmem.stg.d a1, (a0)", LDS, 1, 0).taken, false);
    guest_free(g);
}

TEST(without_classes_everything_is_class_zero, "XM-074 XM-003")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "xmem_cap", 0x1FFF & ~0x200u);
    (void)alloc(g, 64, 1, 0);
    (void)alloc(g, 64, 3 | F_HYB, 0);
    (void)alloc(g, 64, F_T0, 0);
    CHECK_EQ(used(g, 0), 192);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(budgets_report_and_never_refuse, "XM-030 XM-031 XM-076 XM-137")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, FACET_CSR_CAP_XMEM_LDS_BUDGET, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_XMEM_LDS_BUDGET), UINT64_MAX);
    guest_csrw(g, FACET_CSR_CAP_XMEM_LDS_BUDGET, UINT64_C(0x0003000000020001)); /* 1, 2, -, 3 */
    CHECK(alloc(g, 1024, 0, 0) != 0);
    CHECK_EQ(events(g), 0);
    CHECK(alloc(g, 1024, 0, 0) != 0);
    CHECK_EQ(events(g), EV_BUDGET_OVF);
    CHECK_EQ(used(g, 0), 2048);
    CHECK(alloc(g, 2048, 1, 0) != 0);
    CHECK(alloc(g, 3072, 3, 0) != 0);
    CHECK(alloc(g, 9000, 2, 0) != 0); /* no budget */
    CHECK_EQ(events(g), 0);
    CHECK(alloc(g, 64, 3, 0) != 0);
    CHECK_EQ(events(g), EV_BUDGET_OVF);
    guest_free(g);
}

TEST(hybrid_requests_borrow_from_class_two, "XM-076 XM-138 XM-137")
{
    static const struct {
        uint64_t policy;
        bool borrow;
    } rows[] = {{0, true}, {4, true}, {8, false}, {1, false}, {0x40, false}, {0x44, true}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guest *g = guest_make("full");

        guest_csrw(
            g, FACET_CSR_CAP_XMEM_LDS_BUDGET, UINT64_C(0x0000000100010000)); /* CL2, CL1: 1 */
        guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, rows[i].policy);
        CHECK(alloc(g, 2048, F_HYB | 1, 0) != 0);
        CHECK_EQ(used(g, 2), rows[i].borrow ? 2048 : 0);
        CHECK_EQ(used(g, 1), rows[i].borrow ? 0 : 2048);
        /* a borrower does not look at CL2's budget; the fallback looks at its own */
        CHECK_EQ(events(g), rows[i].borrow ? 0 : EV_HYB_FALLBK | EV_BUDGET_OVF);
        guest_free(g);
    }
}

TEST(tier_zero_is_a_range_of_its_own, "XM-009 XM-015 XM-021")
{
    struct guest *g = guest_make("full");
    uint64_t a = alloc(g, 8192, F_T0, 0), b, c;

    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XLDSBASE), LDS);
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XLDSSIZE), LDS_BYTES);
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XT0SIZE), T0_BYTES);
    CHECK_EQ(a, LDS);
    CHECK_EQ(used(g, 2), 8192); /* CLS_SHARED is CL2 */
    b = alloc(g, 8192, F_T0 | 1, 0);
    CHECK_EQ(b, LDS + 8192);
    CHECK_EQ(used(g, 2), 16384);
    c = alloc(g, 64, F_T0, 0); /* full: Tier-1, still CL2 */
    CHECK_EQ(c, LDS + T0_BYTES);
    CHECK_EQ(used(g, 2), 16448);
    release(g, a);
    CHECK_EQ(alloc(g, 64, 0, 0), LDS + T0_BYTES + 64); /* the hole is not for Tier-1 */
    CHECK_EQ(alloc(g, 8192 + 64, F_T0, 0), LDS + T0_BYTES + 128);
    CHECK_EQ(alloc(g, 8192, F_T0, 0), LDS);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(partition_moves_the_border_without_classes, "XM-016")
{
    struct guest *g = guest_make("full");
    uint64_t a;

    guest_configure(g, "xmem_cap", 0x1FFF & ~0x200u);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x8000, 0).taken);
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XT0SIZE), 0x8000);
    CHECK_EQ(events(g), 0);
    a = alloc(g, 64, 0, 0);
    CHECK_EQ(a, LDS + 0x8000);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x8000, 0).taken); /* nothing would change */
    CHECK_EQ(events(g), 0);
    /* refused: other base, too long, not a multiple of the granule, a region would change tier */
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS + 64, 0x4000, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, LDS_BYTES + 64, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x4020, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x8040, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK_EQ(guest_indirect_read(g, FACET_CSR_XT0SIZE), 0x8000);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x4000, 0).taken);
    CHECK_EQ(events(g), 0);
    CHECK_EQ(alloc(g, 0x4000, F_T0, 0), LDS);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, 0x3FC0, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    release(g, a);
    CHECK(!with3(g, "xmem.cctl.partition a0, a1", LDS, LDS_BYTES, 0).taken);
    CHECK_EQ(events(g), 0);
    CHECK_EQ(alloc(g, 64, 0, 0), 0);
    CHECK_EQ(events(g), EV_LDS_OOM);
    guest_free(g);
}

/* ---- a map of granules -------------------------------------------------------------------------
 */

struct map {
    int owner[LDS_BYTES / 64]; /* allocation number, 0 = free */
    unsigned mclass[512];
    unsigned start[512], length[512]; /* granules */
    bool live[512];
    int next;
    uint64_t budget;
    uint64_t policy;
    unsigned active;
};

static unsigned map_used(const struct map *m, unsigned mclass)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LDS_BYTES / 64; i++) {
        n += m->owner[i] != 0 && m->mclass[m->owner[i]] == mclass;
    }
    return n * 64;
}

/* The lowest run of free granules inside [from, to), or -1. */
static int map_find(const struct map *m, unsigned from, unsigned to, unsigned count)
{
    for (unsigned start = from; start + count <= to; start++) {
        unsigned k = 0;

        while (k < count && m->owner[start + k] == 0) {
            k++;
        }
        if (k == count) {
            return (int)start;
        }
    }
    return -1;
}

static uint64_t map_alloc(struct map *m, uint64_t size, unsigned flags, uint64_t *expect)
{
    unsigned count = (unsigned)((size + 63) / 64), mclass = flags & 3;
    bool hyb = (flags & F_HYB) != 0, borrow = hyb && (m->policy == 0 || (m->policy & 4) != 0);
    int at = -1, id = m->next;

    *expect = 0;
    if (size == 0) {
        return 0;
    }
    mclass = mclass != 0 ? mclass : m->active;
    if ((flags & F_T0) != 0) {
        at = map_find(m, 0, T0_BYTES / 64, count);
        mclass = 2;
    }
    if (borrow) {
        mclass = 2;
    }
    if (at < 0) {
        at = map_find(m, T0_BYTES / 64, LDS_BYTES / 64, count);
    }
    if (at < 0) {
        *expect = EV_LDS_OOM;
        return 0;
    }
    m->next++;
    for (unsigned k = 0; k < count; k++) {
        m->owner[(unsigned)at + k] = id;
    }
    m->mclass[id] = mclass;
    m->start[id] = (unsigned)at;
    m->length[id] = count;
    m->live[id] = true;
    if (!borrow) {
        uint64_t kib = m->budget >> (16 * mclass) & 0xFFFF;

        *expect |= kib != 0 && map_used(m, mclass) > kib * 1024 ? EV_BUDGET_OVF : 0;
        *expect |= hyb ? EV_HYB_FALLBK : 0;
    }
    return LDS + (uint64_t)at * 64;
}

TEST(random_walk_agrees_with_a_map_of_granules, "XM-082 XM-085 XM-031 XM-015 XM-021")
{
    struct guest *g = guest_make("full");
    static struct map m;

    memset(&m, 0, sizeof m);
    m.next = 1;
    for (unsigned step = 0; step < 450 && m.next < 500 && !harness_failed(); step++) {
        uint64_t r = harness_random(), expect = 0;
        unsigned kind = r % 8;

        if (kind == 0) {
            static const uint64_t policies[] = {0, 4, 8, 0x24};

            m.policy = policies[r >> 8 & 3];
            m.budget = (r >> 10) & UINT64_C(0x000F001F000F001F);
            m.active = (unsigned)(r >> 40) & 3;
            guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, m.policy);
            guest_csrw(g, FACET_CSR_CAP_XMEM_LDS_BUDGET, m.budget);
            guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, (uint64_t)m.active << 24);
        } else if (kind <= 3 && m.next > 1) {
            unsigned id = (unsigned)(r >> 8) % (unsigned)(m.next - 1) + 1;

            release(g, LDS + (uint64_t)m.start[id] * 64);
            if (m.owner[m.start[id]] == 0 ||
                m.start[m.owner[m.start[id]]] != m.start[id]) { /* freed before, not reused */
                expect = EV_INV_MISS;
            } else {
                int owner = m.owner[m.start[id]];

                m.live[owner] = false;
                for (unsigned k = 0; k < m.length[owner]; k++) {
                    m.owner[m.start[owner] + k] = 0;
                }
            }
        } else {
            unsigned flags = (unsigned)(r >> 16) & 15;
            uint64_t size = (r >> 24) % ((r >> 20 & 7) == 0 ? 70000 : 4000);

            CHECK_EQ(alloc(g, size, flags, 0), map_alloc(&m, size, flags, &expect));
        }
        CHECK_EQ(events(g), expect);
        for (unsigned c = 0; c < 4; c++) {
            CHECK_EQ(used(g, c), map_used(&m, c));
        }
    }
    guest_free(g);
}

/* ---- ownership ---------------------------------------------------------------------------------
 */

static void set_dom(struct guest *g, unsigned dom)
{
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, dom);
}

/* Every kind of inline access to [at, at + 8): 1 when it passes. */
static bool all_accesses(struct guest *g, uint64_t at, bool expect)
{
    static const char *const text[] = {"xmem.ldg.d a3, (a0)",
                                       "xmem.stg.d a1, (a0)",
                                       "xlds.atoms.swap.d a3, (a0), a1",
                                       "xlds.cpy a0, a2, a4",
                                       "xlds.cpy a2, a0, a4"};
    bool same = true;

    for (unsigned i = 0; i < 5; i++) {
        uint64_t before = guest_load(g, at, 8);
        unsigned cause = i == 0 || i == 4 ? FACET_CAUSE_LOAD_FAULT : FACET_CAUSE_STORE_FAULT;
        struct facet_trap trap;

        g->hart->x[14] = 8;
        trap = with3(g, text[i], at, before + 1, GUEST_DATA);
        same = same && trap.taken == !expect;
        if (trap.taken) {
            CHECK_EQ(trap.cause, cause);
            CHECK_EQ(trap.tval, at);
            CHECK_EQ(guest_load(g, at, 8), before);
        }
    }
    return same;
}

TEST(strict_domains_guard_tier_zero, "")
{
    struct guest *g = guest_make("full");
    uint64_t a, b, c;

    set_dom(g, 2);
    a = alloc(g, 64, F_T0, 0); /* owner RT */
    b = alloc(g, 64, 0, 0);    /* Tier-1, owner RT */
    set_dom(g, 0);
    c = alloc(g, 64, F_T0, 0); /* owner ALL */
    guest_store(g, a, 8, UINT64_C(0x1122334455667788));
    set_dom(g, 3);
    CHECK_ID("XM-020", all_accesses(g, a, true)); /* STRICT_DOM = 0 */
    (void)events(g);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0x40);
    CHECK_ID("XM-014 XM-019", all_accesses(g, a, false));
    CHECK_ID("XM-019", events(g) == EV_INV_MISS);
    CHECK(all_accesses(g, b, true));              /* Tier-1 is never checked */
    CHECK_ID("XM-014", all_accesses(g, c, true)); /* everybody's */
    CHECK(all_accesses(g, a + 64 + 64, true));    /* LDS outside allocations */
    set_dom(g, 2);
    CHECK_ID("XM-018 XM-002", all_accesses(g, a, true));
    set_dom(g, 15);
    CHECK(all_accesses(g, a, true));
    CHECK_EQ(events(g), 0);
    /* base-ISA accesses are never checked */
    set_dom(g, 3);
    g->hart->x[10] = a;
    guest_ok(g, "li a1, 77\n sd a1, 0(a0)\n ld a2, 0(a0)\n");
    CHECK_EQ(g->hart->x[12], 77);
    /* the handoff: no byte moves, the other domain gets in, the old owner is out */
    CHECK(!with3(g, "xmem.cctl.setdom a0, a1", a, 3, 0).taken);
    CHECK_EQ(events(g), 0);
    CHECK_ID("XM-013", guest_load(g, a, 8) == 77);
    harness_row("XM-011 XM-017");
    CHECK(!with3(g, "xmem.ldg.d a3, (a0)", a, 0, 0).taken);
    CHECK_EQ(g->hart->x[13], 77);
    CHECK(all_accesses(g, a, true));
    set_dom(g, 2);
    CHECK(all_accesses(g, a, false));
    (void)events(g);
    harness_row("");
    /* unknown base; domains 7..14 and 0 mean everybody */
    CHECK(!with3(g, "xmem.cctl.setdom a0, a1", a + 8, 2, 0).taken);
    CHECK_EQ(events(g), EV_INV_MISS);
    CHECK(!with3(g, "xmem.cctl.setdom a0, a1", a, 9, 0).taken);
    CHECK(all_accesses(g, a, true));
    guest_free(g);
}

TEST(a_range_is_stopped_at_the_first_foreign_byte, "XM-019")
{
    struct guest *g = guest_make("full");
    uint64_t a = alloc(g, 64, F_T0, 0), b;

    set_dom(g, 2);
    b = alloc(g, 64, F_T0, 0);
    CHECK_EQ(b, a + 64);
    set_dom(g, 4);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0x40);
    CHECK_EQ(with3(g, "xlds.cpy a0, a1, a2", GUEST_DATA, a, 200).tval, b);
    CHECK_EQ(with3(g, "xlds.cpy a0, a1, a2", a + 32, GUEST_DATA, 33).tval, b);
    CHECK(!with3(g, "xlds.cpy a0, a1, a2", a + 32, GUEST_DATA, 32).taken);
    guest_free(g);
}

TEST(security_tags_keep_inline_accesses_out, "XM-132 XM-133 XM-051")
{
    struct guest *g = guest_make("full");
    uint64_t secure = alloc(g, 64, 0, 2), trusted = alloc(g, 64, F_T0, 1), odd = alloc(g, 64, 0, 3),
             open = alloc(g, 64, 0, 0);

    CHECK(all_accesses(g, secure, false));
    CHECK_EQ(events(g), EV_INV_MISS | EV_SEC_VIOL);
    CHECK(all_accesses(g, trusted, false));
    CHECK_EQ(events(g), EV_INV_MISS | EV_SEC_VIOL);
    CHECK(all_accesses(g, odd, true)); /* 3 is stored as 0 */
    CHECK(all_accesses(g, open, true));
    CHECK_EQ(events(g), 0);
    CHECK(with3(g, "xlds.cpy a0, a1, a2, async=1", GUEST_DATA, secure, 8).taken == false);
    CHECK_EQ(events(g), EV_DMA_ERR | EV_SEC_VIOL);
    g->hart->x[10] = secure;
    guest_ok(g, "sd x0, 0(a0)\n ld a1, 0(a0)\n"); /* base ISA: not checked */
    release(g, secure);
    CHECK(all_accesses(g, secure, true)); /* the tag goes with the region */
    guest_free(g);
}

TEST(without_security_domains_tags_do_not_exist, "XM-051 XM-134 XM-003")
{
    for (int which = 0; which < 2; which++) {
        struct guest *g = guest_make(which == 0 ? "full" : "min");

        guest_configure(g, "xmem_cap", which == 0 ? 0x17FF : 0x0001);
        for (unsigned sec = 0; sec < 4; sec++) {
            uint64_t a = alloc(g, 64, 0, sec);

            CHECK(a != 0);
            CHECK(!with3(g, "xmem.ldg.d a3, (a0)", a, 0, 0).taken);
            CHECK(!with3(g, "xmem.stg.d a1, (a0)", a, 5, 0).taken);
            CHECK_EQ(guest_load(g, a, 8), 5);
        }
        CHECK_EQ(events(g), 0);
        guest_free(g);
    }
}

TEST(without_lds_its_instructions_are_illegal, "XM-003")
{
    static const char *const rows[] = {"xlds.alloc a0, a1",
                                       "xlds.free a0",
                                       "xlds.bar 0",
                                       "xlds.cpy a0, a1, a2",
                                       "xlds.atoms.add.w a0, (a1), a2"};
    struct guest *g = guest_make("full");

    guest_configure(g, "xmem_cap", 0x1FFE);
    for (unsigned i = 0; i < 5; i++) {
        struct facet_trap trap = with3(g, rows[i], LDS, LDS, 8);

        CHECK_EQ(trap.cause, FACET_CAUSE_ILLEGAL);
        CHECK_EQ(trap.tval, guest_load(g, GUEST_CODE, 4));
    }
    guest_configure(g, "xmem_cap", 0x1FFF);
    guest_configure(g, "feat0", 0x5D19 & ~0x10u); /* no LDS_ATOMICS */
    CHECK_EQ(with3(g, rows[4], LDS, LDS, 8).cause, FACET_CAUSE_ILLEGAL);
    CHECK(!with3(g, rows[2], 0, 0, 0).taken);
    guest_free(g);
}

TEST(allocations_are_told, "XM-009")
{
    struct guest *g = guest_make("full");
    static struct log log;
    const struct facet_unit_event *event;

    set_dom(g, 4);
    log_start(&log, g);
    g->hart->x[11] = 100;
    guest_ok(g, "xlds.alloc a0, a1, 8, 1\n");
    event = log_find(&log, "lds.alloc");
    if (CHECK(event != NULL)) {
        static const uint64_t expect[6] = {0, 128, 2, 0, 4, 1};

        CHECK_EQ(memcmp(event->values, expect, sizeof expect), 0);
    }
    guest_observe(g, NULL);
    guest_free(g);
}
