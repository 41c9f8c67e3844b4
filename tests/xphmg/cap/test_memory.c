/* One memory policy for every unit: CAP.XMEM.* through the instructions that obey it. Tiers and
 * owners, budgets, events, gather and scatter defaults, and what predicates keep away from memory.
 */
#include "xphmg/guest.h"

#include "isa/isa.h"
#include "xphmg/units/vendor.h"

#include <stdlib.h>

enum {
    MODE = 0x7D0,
    L1CFG = 0x7E2,
    DOM = 0x7E6,
    DESCPOL = 0x7ED,
    EVENTS = 0x7EE,
    SVMBASE = 0x7F0,
    SVMIDX,
    SVMSCL,
    SVMLEN,
    SVMMODE,
    SVMLIM,
    SVFAULTI = 0x7FF,
    STRICT_DOM = 1 << 6,
    LDS = 0x40000000,
    T0_BYTES = 0x4000,
    MATRIX = GUEST_DATA + 0x1000,
    INPUT = GUEST_DATA + 0x2000,
    OUTPUT = GUEST_DATA + 0x3000,
    DESC = GUEST_DATA + 0x4000,
    NOWHERE = 0x20000000,
};

#define APPLY (UINT64_C(1) << 63)
#define T0 8
#define HYB 4
#define FP32_MODE (UINT64_C(1) << 21 | UINT64_C(2) << 19)

static uint64_t lds_alloc(struct guest *g, uint64_t bytes, unsigned flags, unsigned sec)
{
    g->hart->x[10] = bytes;
    guest_ok(g, "xlds.alloc x11, x10, flags=%u, sec=%u\n", flags, sec);
    return g->hart->x[11];
}

static void set_domain(struct guest *g, uint64_t base, unsigned dom)
{
    g->hart->x[10] = base;
    g->hart->x[11] = dom;
    guest_ok(g, "xmem.cctl.setdom x10, x11\n");
}

static uint64_t event(struct guest *g)
{
    uint64_t events = guest_csrr(g, EVENTS);

    guest_csrw(g, EVENTS, events);
    return events;
}

static struct facet_trap load_word(struct guest *g, uint64_t address)
{
    g->hart->x[10] = address;
    return guest_run(g, "xmem.ldg.w x12, (x10)\n");
}

/* Scalar gather of the element with this index. */
static struct facet_trap gather(struct guest *g, uint64_t index)
{
    g->hart->x[10] = index;
    g->hart->x[12] = 77;
    guest_csrw(g, SVMIDX, 10);
    return guest_run(g, "xmem.svm x12, x0\n");
}

/* ---- tiers and owners ------------------------------------------------------------------------ */

TEST(tiers_are_ranges_of_the_lds, "")
{
    struct guest *g = guest_make("full");
    uint64_t size = guest_indirect_read(g, 0x7EA6), tier0 = 0;

    CHECK_EQ(size, T0_BYTES);
    for (unsigned i = 0; i < 4; i++) { /* fill Tier-0 */
        uint64_t base = lds_alloc(g, size / 4, T0, 0);

        CHECK_ID("CAP-048 CAP-055", base >= LDS && base + size / 4 <= LDS + size);
        tier0 = base;
    }
    CHECK_ID("CAP-059", lds_alloc(g, 64, T0, 0) >= LDS + size); /* then it falls back */
    CHECK_EQ(event(g), 0);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t base = lds_alloc(g, 1000, 0, 0);

        CHECK_ID("CAP-049 CAP-061", base >= LDS + size && base + 1024 <= LDS + 0x10000);
    }
    g->hart->x[10] = tier0; /* scalar loads and stores see it */
    guest_ok(g, "li t0, 0x1234\n sd t0, 0(x10)\n ld x12, 0(x10)\n xmem.ldg.d x13, (x10)\n");
    CHECK_ID("CAP-056", g->hart->x[12] == 0x1234);
    CHECK_EQ(g->hart->x[13], 0x1234);
    guest_free(g);
}

TEST(a_region_changes_its_owner_where_it_lies, "")
{
    static const unsigned domains[] = {1, 2, 3, 4, 5, 6, 15};
    struct guest *g = guest_make("full");
    uint64_t base = lds_alloc(g, 64, T0, 0);

    g->hart->x[10] = base;
    guest_ok(g, "li t0, 0x5A5A\n sd t0, 0(x10)\n");
    guest_csrw(g, DESCPOL, STRICT_DOM);
    for (unsigned owner = 0; owner < 7; owner++) {
        set_domain(g, base, domains[owner]);
        for (unsigned who = 0; who < 7; who++) {
            bool passes = owner == who || domains[owner] == 15 || domains[who] == 15;
            struct facet_trap trap;

            guest_csrw(g, DOM, domains[who]);
            g->hart->x[12] = 0;
            trap = load_word(g, base);
            harness_row(owner == who && domains[who] == 1    ? "CAP-398"
                        : owner == who && domains[who] == 2  ? "CAP-046 CAP-399"
                        : owner == who && domains[who] == 3  ? "CAP-400"
                        : owner == who && domains[who] == 15 ? "CAP-401"
                        : domains[who] == 2                  ? "CAP-046 CAP-372"
                                                             : "CAP-372");
            CHECK_EQ(trap.taken, !passes);
            if (passes) { /* same address, same bytes */
                CHECK_ID("CAP-045 CAP-060 CAP-068", g->hart->x[12] == 0x5A5A);
                CHECK_EQ(g->hart->x[12], 0x5A5A);
                CHECK_EQ(event(g), 0);
            } else {
                CHECK_EQ(trap.cause, 5);
                CHECK_EQ(trap.tval, base);
                CHECK_EQ(event(g), 1);
                g->hart->x[10] = base;
                g->hart->x[11] = 1;
                CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "xmem.stg.w x11, (x10)\n"), base);
                (void)event(g);
            }
        }
    }
    harness_row("CAP-347"); /* a change of DOM concerns the accesses after it */
    set_domain(g, base, 2);
    guest_csrw(g, DOM, 2);
    g->hart->x[10] = base;
    g->hart->x[11] = 3;
    (void)guest_traps(g,
                      FACET_CAUSE_LOAD_FAULT,
                      "xmem.ldg.w x12, (x10)\n csrw 0x7E6, x11\n xmem.ldg.w x12, (x10)\n");
    CHECK_EQ(g->epc, 8);
    harness_row("");
    /* Without STRICT_DOM nobody asks; base instructions are never asked. */
    g->hart->x[10] = base;
    guest_ok(g, "lw x12, 0(x10)\n sw x12, 0(x10)\n");
    guest_csrw(g, DESCPOL, 0);
    CHECK(!load_word(g, base).taken);
    guest_free(g);
}

TEST(tier_one_has_no_owner_and_no_format, "")
{
    struct guest *g = guest_make("full");
    uint64_t seen[3][5];

    for (unsigned place = 0; place < 3; place++) { /* Tier-0, Tier-1, memory */
        uint64_t base = place == 2 ? OUTPUT : lds_alloc(g, 64, place == 0 ? T0 : 0, 0);

        guest_csrw(g, MODE, APPLY | FP32_MODE);
        for (unsigned i = 0; i < 4; i++) {
            guest_store(g, base + 4 * i, 4, 0x3F800000 + (i << 20));
        }
        g->hart->x[10] = base;
        guest_csrw(g, SVMBASE, base);
        guest_csrw(g, SVMSCL, 0);
        guest_csrw(g, SVMMODE, 8);
        guest_ok(g,
                 "xlds.bar 3\n lw x20, 4(x10)\n addi x11, x10, 4\n xmem.ldg.w x21, (x11)\n"
                 "MTX.LD x10, shape=5, rowmajor=1\n csrr x22, 0x832\n flw f1, 4(x10)\n");
        seen[place][0] = g->hart->x[20];
        seen[place][1] = g->hart->x[21];
        seen[place][2] = g->hart->x[22];
        seen[place][3] = g->hart->f[1];
        CHECK(!gather(g, 4).taken);
        seen[place][4] = g->hart->x[12];
        harness_row(place == 1 ? "CAP-062 CAP-063 CAP-521" : "CAP-063");
        CHECK_EQ(seen[place][0], 0x3F900000);
        CHECK_EQ(seen[place][1], 0x3F900000);
        CHECK_EQ(seen[place][2], UINT64_C(0x3F9000003F800000));
        CHECK_EQ(seen[place][4], 0x3F900000);
        CHECK(memcmp(seen[place], seen[0], sizeof seen[0]) == 0);
        if (place == 1) { /* whatever the owner and STRICT_DOM */
            harness_row("CAP-047");
            guest_csrw(g, DESCPOL, STRICT_DOM);
            set_domain(g, base, 2);
            guest_csrw(g, DOM, 3);
            CHECK(!load_word(g, base).taken);
            CHECK_EQ(event(g), 0);
            guest_csrw(g, DESCPOL, 0);
            guest_csrw(g, DOM, 0);
        }
    }
    harness_row("CAP-520");
    /* Order and visibility do not depend on FEAT0.OOO_MEM. */
    for (unsigned ooo = 0; ooo < 2; ooo++) {
        guest_configure(g, "feat0", 0x5D19 | ooo << 1);
        guest_csrw(g, MODE, APPLY | FP32_MODE);
        g->hart->x[10] = LDS + 0x5000;
        g->hart->x[11] = 0x40400000 + ooo;
        guest_ok(g,
                 "xmem.stg.w x11, (x10)\n xfence.pipe 15, scope=4, ff=1\n lw x12, 0(x10)\n"
                 "addi x11, x11, 1\n sw x11, 0(x10)\n xlds.bar 4\n"
                 "MTX.LD x10, shape=5, rowmajor=1\n csrw 0x831, x0\n csrr x13, 0x832\n");
        CHECK_EQ(g->hart->x[12], 0x40400000 + ooo);
        CHECK_EQ(g->hart->x[13] & 0xFFFFFFFF, 0x40400001 + ooo);
    }
    guest_free(g);
}

/* ---- STRICT_DOM for every unit --------------------------------------------------------------- */

static void put_job(struct guest *g, uint64_t input)
{
    static const uint32_t identity[] = {0x3F800000, 0, 0, 0x3F800000};

    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, MATRIX + 4 * i, 4, identity[i]);
    }
    guest_store(g, input, 8, UINT64_C(0x4000000040400000));
    guest_store(g, OUTPUT, 8, 0);
    guest_store(g, DESC, 8, MATRIX);
    guest_store(g, DESC + 8, 8, input);
    guest_store(g, DESC + 16, 8, OUTPUT);
    guest_store(g, DESC + 24, 8, UINT64_C(5) << 32 | 5 | 1 << 5);
    guest_store(g, DESC + 32, 8, 1);
    for (unsigned i = 0; i < 3; i++) {
        guest_store(g, DESC + 40 + 8 * i, 8, 0);
    }
    g->hart->x[9] = DESC;
}

TEST(every_unit_obeys_the_same_memory_policy, "CAP-002 CAP-452 CAP-347 CAP-372 CAP-018 CAP-442")
{
    struct guest *g = guest_make("full");
    uint64_t base;

    guest_csrw(g, MODE, APPLY | FP32_MODE);
    base = lds_alloc(g, 64, T0, 0);
    set_domain(g, base, 2);
    guest_csrw(g, DESCPOL, STRICT_DOM);
    for (unsigned dom = 2; dom < 4; dom++) { /* the owner, then another */
        bool passes = dom == 2;
        struct facet_trap trap;

        guest_csrw(g, DOM, dom);
        trap = load_word(g, base);
        CHECK_EQ(trap.taken, !passes);
        CHECK_EQ(event(g), !passes);
        guest_csrw(g, SVMBASE, base);
        trap = gather(g, 0);
        CHECK_EQ(trap.taken, !passes);
        CHECK_EQ(event(g), !passes);
        g->hart->x[10] = base;
        g->hart->x[12] = OUTPUT;
        trap = guest_run(g, "MTX.LD x10, shape=5\n");
        CHECK_EQ(trap.taken, !passes);
        CHECK_EQ(event(g), !passes);
        trap = guest_run(g, "MTX.MUL x12, x10, shape=5\n");
        CHECK_EQ(trap.taken, !passes);
        CHECK_EQ(event(g), !passes);
        trap = guest_run(g, "MTX.MUL x10, x12, shape=5\n");
        CHECK_EQ(trap.taken, !passes);
        CHECK(passes || trap.cause == FACET_CAUSE_STORE_FAULT);
        CHECK_EQ(event(g), !passes);
        g->hart->x[11] = 1;
        trap = guest_run(g, "xlds.atoms.add.w x13, (x10), x11\n");
        CHECK_EQ(trap.taken, !passes);
        CHECK_EQ(event(g), !passes);
        /* A job follows CAP.XMEM.DOM, or the domain of its own descriptor. */
        put_job(g, base);
        guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
        CHECK_EQ(guest_load(g, OUTPUT, 8), passes ? UINT64_C(0x4000000040400000) : 0);
        CHECK_EQ(event(g), !passes);
        guest_store(g, DESC + 40, 1, 2);
        guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
        CHECK_EQ(guest_load(g, OUTPUT, 8), UINT64_C(0x4000000040400000));
        CHECK_EQ(event(g), 0);
        g->hart->x[10] = base; /* base instructions are not XPHMG accesses, under RSV neither */
        guest_ok(g, "lw x12, 0(x10)\n svon.one\n lw x12, 0(x10)\n");
    }
    guest_free(g);
}

TEST(descriptors_may_ask_for_less_never_for_more, "CAP-050 CAP-051 CAP-084")
{
    static const struct {
        unsigned offset, size;
        uint64_t value;
    } asks[] = {{60, 4, 0}, {60, 4, 3}, {60, 4, 4}, {60, 4, 1}, {60, 4, UINT32_MAX}};
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) { /* tiers of the job */
        guest_reset(g);
        guest_csrw(g, MODE, APPLY | FP32_MODE);
        put_job(g, INPUT);
        guest_store(g, DESC + asks[i].offset, asks[i].size, asks[i].value);
        guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
        CHECK_EQ(guest_load(g, OUTPUT, 8), UINT64_C(0x4000000040400000));
        CHECK_EQ(event(g), 0);
    }
    guest_reset(g); /* every byte 0xFF but lds_softpin */
    guest_csrw(g, MODE, APPLY | FP32_MODE);
    put_job(g, INPUT);
    guest_store(g, DESC + 40, 8, UINT64_MAX);
    guest_store(g, DESC + 56, 8, UINT64_MAX);
    guest_ok(g, "xsubmit.mtx x8, x9\n xfence.wait x8\n");
    CHECK_EQ(guest_load(g, OUTPUT, 8), UINT64_C(0x4000000040400000));
    CHECK_EQ(guest_csrr(g, 0x836) >> 56, 0);
    guest_free(g);
}

/* ---- events, budgets, streams, compression --------------------------------------------------- */

TEST(each_event_has_its_bit, "")
{
    struct guest *g = guest_make("full");
    uint64_t base;

    (void)gather(g, 0); /* SVMBASE = 0: nothing is mapped there */
    CHECK_EQ(event(g), 1 << 0);
    guest_csrw(g, SVMBASE, INPUT);
    harness_row("CAP-409");
    guest_csrw(g, SVMMODE, 1); /* a bound of 0 bytes */
    CHECK(gather(g, 0).taken);
    CHECK_EQ(event(g), 1 << 0);
    harness_row("CAP-410");
    guest_csrw(g, L1CFG, 1 << 20);
    g->hart->x[10] = INPUT;
    g->hart->x[11] = 8 * 64;
    guest_ok(g, "xmem.cctl.lock x10, x11\n");
    CHECK_EQ(event(g), 0);
    CHECK_EQ(guest_indirect_read(g, 0x7EA9), 8);
    g->hart->x[10] = INPUT + 8 * 64;
    g->hart->x[11] = 64;
    guest_ok(g, "xmem.cctl.lock x10, x11\n");
    CHECK_EQ(event(g), 1 << 1);
    harness_row("CAP-411");
    CHECK_EQ(lds_alloc(g, 0x20000, 0, 0), 0);
    CHECK_EQ(event(g), 1 << 2);
    harness_row("CAP-412");
    g->hart->x[10] = NOWHERE;
    g->hart->x[11] = 64;
    g->hart->x[12] = OUTPUT;
    guest_ok(g, "xlds.cpy x12, x10, x11, async=1\n");
    CHECK_EQ(event(g), 1 << 3);
    harness_row("CAP-413");
    g->hart->x[10] = INPUT; /* no stream header there */
    guest_ok(g, "xmem.dloadc x12, (x10), x11, mode=1\n");
    CHECK_EQ(event(g), 1 << 4);
    harness_row("CAP-393 CAP-414");
    guest_csrw(g, 0x7E4, 1 << 16); /* 1 KiB for CL1 */
    CHECK(lds_alloc(g, 1024, 1, 0) != 0);
    CHECK_EQ(event(g), 0);
    CHECK(lds_alloc(g, 2048, 1, 0) != 0); /* soft: it succeeds */
    CHECK_EQ(event(g), 1 << 5);
    CHECK_EQ(guest_indirect_read(g, 0x7EA3), 3072);
    base = lds_alloc(g, 64, 0, 2);
    CHECK_ID("CAP-484", guest_indirect_read(g, 0x7EA2) == 64); /* ACTIVE_CLASS 0 after reset */
    harness_row("CAP-415");
    CHECK(load_word(g, base).taken);
    CHECK_EQ(event(g), 1 << 6 | 1 << 0);
    harness_row("CAP-416");
    guest_csrw(g, DESCPOL, 1); /* non-zero without HYB_ENABLE: no borrowing */
    CHECK(lds_alloc(g, 64, HYB | 1, 0) != 0);
    CHECK_EQ(event(g) & 1 << 7, 1 << 7);
    harness_row("CAP-385"); /* they are sticky, and only ones clear them */
    (void)gather(g, 0);
    CHECK_EQ(lds_alloc(g, 0x20000, 0, 0), 0);
    CHECK_EQ(guest_csrr(g, EVENTS), 5);
    guest_csrw(g, EVENTS, 0);
    CHECK_EQ(guest_csrr(g, EVENTS), 5);
    guest_csrw(g, EVENTS, 1);
    CHECK_EQ(guest_csrr(g, EVENTS), 4);
    guest_free(g);
}

TEST(streams_and_compression_go_through_the_same_registers, "CAP-026 CAP-404 CAP-403 CAP-378")
{
    struct guest *g = guest_make("full");

    for (uint64_t n = 0; n < 7; n++) {
        uint64_t value = harness_random();
        unsigned number = 0x7E7 + (unsigned)n;
        uint64_t by_csrw;

        guest_csrw(g, number, value);
        by_csrw = guest_csrr(g, number);
        guest_csrw(g, number, 0);
        g->hart->x[10] = n;
        g->hart->x[11] = value;
        guest_ok(g, "xmem.stream x10, x11\n");
        CHECK_EQ(guest_csrr(g, number), n < 5 ? by_csrw : 0);
        guest_csrw(g, number, 0);
    }
    CHECK_EQ(guest_csrr(g, EVENTS), 0);
    for (size_t i = 0; i < facet_csr_row_count; i++) { /* no mirror of CAP.XMEM anywhere */
        CHECK(strncmp(facet_csr_rows[i].name, "XMIR", 4) != 0);
    }
    /* COMP_CTL.MODE decides what mode 0 means. */
    guest_store(g, INPUT, 8, 0x0000110000220000);
    g->hart->x[10] = INPUT;
    g->hart->x[11] = 8;
    g->hart->x[12] = OUTPUT;
    guest_ok(g, "xmem.dstorec (x12), x10, x11, mode=0\n");
    CHECK_EQ(guest_load(g, OUTPUT, 8), 0x0000110000220000);
    guest_csrw(g, 0x7EC, 1);
    guest_ok(g, "xmem.dstorec (x12), x10, x11, mode=0\n");
    CHECK_EQ(guest_load(g, OUTPUT, 4), 0x3143565A);
    CHECK_EQ(guest_load(g, OUTPUT + 4, 4), 8);
    CHECK_EQ(guest_load(g, OUTPUT + 8, 4), 3);
    CHECK_EQ(guest_load(g, OUTPUT + 16, 1), 0x24); /* bytes 2 and 5 are not zero */
    CHECK_EQ(guest_load(g, OUTPUT + 17, 2), 0x1122);
    CHECK_EQ(event(g), 0);
    guest_csrw(g, 0x7EC, 0x101); /* dictionary 1 does not exist: plain copy and COMP_ERR */
    guest_ok(g, "xmem.dstorec (x12), x10, x11, mode=0\n");
    CHECK_EQ(guest_load(g, OUTPUT, 8), 0x0000110000220000);
    CHECK_EQ(event(g), 1 << 4);
    guest_free(g);
}

/* ---- gather and scatter ---------------------------------------------------------------------- */

static void fill_input(struct guest *g)
{
    for (unsigned i = 0; i < 1024; i++) {
        guest_store(g, INPUT + i, 1, i * 7 + (i >> 5) + 1);
    }
}

static uint64_t input_at(struct guest *g, uint64_t offset, unsigned size)
{
    return guest_load(g, INPUT + offset, size);
}

TEST(gather_follows_base_index_scale_and_length, "")
{
    struct guest *g = guest_make("full");

    fill_input(g);
    for (unsigned ew = 0; ew < 4; ew++) { /* SVMLEN = 0: the container width, unsigned */
        static const char *const widths[] = {
            "CAP-222 CAP-436", "CAP-223 CAP-436", "CAP-224 CAP-436", "CAP-225 CAP-436"};

        guest_csrw(g,
                   MODE,
                   APPLY |
                       (ew == 0   ? UINT64_C(3) << 21
                        : ew == 3 ? UINT64_C(1) << 21
                                  : 0) |
                       (uint64_t)ew << 19);
        harness_row(widths[ew]);
        CHECK_EQ(guest_csrr(g, 0x7D2) >> 26 & 3, ew);
        for (unsigned scale = 0; scale < 5; scale++) {
            unsigned size = 1u << ew;
            static const char *const scales[] = {"CAP-425 CAP-427",
                                                 "CAP-066 CAP-425 CAP-428",
                                                 "CAP-066 CAP-425 CAP-429",
                                                 "CAP-066 CAP-425 CAP-430",
                                                 "CAP-066 CAP-425 CAP-431"};
            uint64_t offset = UINT64_C(3) << scale, want;

            guest_csrw(g, SVMBASE, INPUT);
            guest_csrw(g, SVMSCL, scale);
            guest_csrw(g, SVMLEN, 0);
            if (offset % size != 0) {
                CHECK_EQ(gather(g, 3).cause, FACET_CAUSE_LOAD_MISALIGNED);
                continue;
            }
            CHECK(!gather(g, 3).taken);
            want = input_at(g, offset, size);
            CHECK_EQ(g->hart->x[12], ew == 0 ? (uint64_t)(int8_t)want : want);
            CHECK_ID(scales[scale], g->hart->x[12] == (ew == 0 ? (uint64_t)(int8_t)want : want));
        }
    }
    harness_row("CAP-435");
    guest_csrw(g, MODE, APPLY | UINT64_C(2) << 19); /* FP16 in 32 bits */
    for (unsigned size = 1; size <= 8; size *= 2) { /* SVMLEN overrides it */
        guest_csrw(g, SVMLEN, size);
        guest_csrw(g, SVMSCL, 3);
        CHECK(!gather(g, 5).taken);
        CHECK_EQ(g->hart->x[12], input_at(g, 40, size));
    }
    guest_csrw(g, SVMLEN, 1);
    /* Indices out of memory, cut to their width and extended by SIGNED. */
    guest_csrw(g, SVMBASE, INPUT + 512);
    guest_store(g, OUTPUT, 8, UINT64_C(0x123456FF));
    for (unsigned sign = 0; sign < 2; sign++) {
        harness_row("CAP-426 CAP-432");
        guest_csrw(g, SVMSCL, sign << 3);
        guest_csrw(g, SVMMODE, 1 << 4 | 1 << 5); /* from memory, 8 bits */
        guest_csrw(g, SVMIDX, OUTPUT);
        guest_ok(g, "xmem.svm x12, x0\n");
        CHECK_EQ(g->hart->x[12], input_at(g, sign != 0 ? 511 : 512 + 255, 1));
        guest_csrw(g, SVMMODE, 1 << 5); /* from a register */
        CHECK(!gather(g, 0x1FF).taken);
        CHECK_EQ(g->hart->x[12], input_at(g, sign != 0 ? 511 : 512 + 255, 1));
    }
    harness_row("CAP-433"); /* GS = 1 stores */
    guest_csrw(g, SVMBASE, OUTPUT);
    guest_csrw(g, SVMSCL, 1 << 4 | 2);
    guest_csrw(g, SVMMODE, 0);
    guest_csrw(g, SVMLEN, 4);
    guest_csrw(g, SVMIDX, 10);
    g->hart->x[10] = 2;
    g->hart->x[12] = 0x11223344;
    guest_store(g, OUTPUT, 8, 0);
    guest_store(g, OUTPUT + 8, 8, 0);
    guest_ok(g, "xmem.svm x0, x12\n");
    CHECK_EQ(guest_load(g, OUTPUT, 8), 0);
    CHECK_EQ(guest_load(g, OUTPUT + 8, 8), 0x11223344);
    /* A write is in force for the next instruction. */
    harness_row("CAP-018 CAP-069 CAP-423 CAP-442 CAP-470");
    guest_csrw(g, SVMSCL, 2); /* loads */
    g->hart->x[10] = 3;
    g->hart->x[5] = INPUT;
    g->hart->x[6] = 3;
    guest_ok(g, "csrw 0x7F0, t0\n csrw 0x7F2, t1\n xmem.svm x12, x0\n");
    CHECK_EQ(g->hart->x[12], input_at(g, 24, 4));
    guest_free(g);
}

TEST(bounds_fault_or_give_zero, "CAP-437 CAP-438 CAP-434")
{
    struct guest *g = guest_make("full");

    fill_input(g);
    guest_csrw(g, MODE, APPLY | FP32_MODE);
    guest_csrw(g, SVMBASE, INPUT);
    guest_csrw(g, SVMSCL, 2);
    guest_csrw(g, SVMLIM, 64);
    for (unsigned mode = 0; mode < 4; mode++) {
        for (unsigned index = 14; index < 18; index++) {
            bool outside = (mode & 1) != 0 && index >= 16;
            struct facet_trap trap;

            guest_csrw(g, SVMMODE, mode);
            trap = gather(g, index);
            CHECK_EQ(trap.taken, outside && (mode & 2) == 0);
            if (trap.taken) {
                CHECK_EQ(trap.cause, 5);
                CHECK_EQ(trap.tval, INPUT + 4 * index);
                CHECK_EQ(g->hart->x[12], 77);
            } else {
                CHECK_EQ(g->hart->x[12], outside ? 0 : input_at(g, 4 * index, 4));
            }
            CHECK_EQ(event(g), outside);
        }
    }
    guest_csrw(g, SVMSCL, 2 | 1 << 4); /* a scatter: cause 7, or the store is dropped */
    guest_csrw(g, SVMMODE, 1);
    CHECK_EQ(gather(g, 16).cause, FACET_CAUSE_STORE_FAULT);
    guest_csrw(g, SVMMODE, 3);
    g->hart->x[10] = 16;
    g->hart->x[12] = 0;
    guest_ok(g, "xmem.svm x0, x12\n");
    CHECK(input_at(g, 64, 4) != 0);
    guest_free(g);
}

/* A gather of eight in which element 5 lies nowhere. */
static void gather_eight(struct guest *g, bool mapped)
{
    for (unsigned i = 0; i < 8; i++) {
        g->hart->x[16 + i] = i == 5 && !mapped ? (UINT64_C(1) << 40) : 3 * i;
        g->hart->x[24 + i] = 99;
    }
    guest_csrw(g, SVMBASE, INPUT);
    guest_csrw(g, SVMIDX, 16);
    guest_csrw(g, SVMLEN, 4);
}

TEST(fault_only_first_stops_at_the_element_and_tells_it, "")
{
    struct guest *g = guest_make("full");
    uint64_t complete[8];

    fill_input(g);
    guest_csrw(g, SVMSCL, 2 | 1 << 5);
    gather_eight(g, true);
    guest_csrw(g, 0x7F8, 7);
    guest_ok(g, "svon.one\n xmem.svm x24, x0\n");
    memcpy(complete, &g->hart->x[24], sizeof complete);
    CHECK_EQ(guest_csrr(g, SVFAULTI) >> 63, 0);
    gather_eight(g, false);
    guest_ok(g, "svon.one\n xmem.svm x24, x0\n");
    CHECK_ID("CAP-420", guest_csrr(g, SVFAULTI) == (APPLY | 5 << 16 | 5));
    harness_row("CAP-421");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[24 + i], i < 5 ? complete[i] : 99);
    }
    harness_row("CAP-422");
    /* The cause is repaired; the rest runs from the recorded index. */
    g->hart->x[21] = 15;
    guest_csrw(g, SVMIDX, 21);
    guest_csrw(g, 0x7FB, APPLY | 1 << 8 | 29); /* SVDST: from x29, step 1 */
    guest_csrw(g, 0x7F8, 2);
    guest_ok(g, "svon.one\n xmem.svm x24, x0\n");
    CHECK_EQ(guest_csrr(g, SVFAULTI) >> 63, 0);
    CHECK(memcmp(complete, &g->hart->x[24], sizeof complete) == 0);
    guest_csrw(g, 0x7FB, 0);
    harness_row("CAP-420"); /* EN = 0: one element, the same rule */
    guest_csrw(g, SVFAULTI, 0);
    CHECK(!gather(g, UINT64_C(1) << 40).taken);
    CHECK_EQ(guest_csrr(g, SVFAULTI), APPLY | 5 << 16);
    CHECK_EQ(g->hart->x[12], 77);
    harness_row("CAP-434"); /* FOF = 0: the same faults trap and nothing is written */
    guest_csrw(g, SVMSCL, 2);
    gather_eight(g, false);
    guest_csrw(g, 0x7F8, 7);
    (void)guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n xmem.svm x24, x0\n");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[24 + i], 99);
    }
    guest_csrw(g, SVMSCL, 2 | 1 << 4);
    gather_eight(g, false);
    guest_csrw(g, 0x7F8, 7);
    (void)guest_traps(g, FACET_CAUSE_STORE_FAULT, "svon.one\n xmem.svm x0, x24\n");
    /* Matrices under RSV: the vector of lane 1 lies nowhere. */
    for (unsigned fof = 0; fof < 2; fof++) {
        struct facet_trap trap;

        guest_reset(g);
        guest_csrw(g, MODE, APPLY | FP32_MODE);
        guest_csrw(g, SVMSCL, fof << 5);
        put_job(g, INPUT); /* an identity at MATRIX, a vector at INPUT */
        g->hart->x[10] = MATRIX;
        guest_ok(g, "MTX.LD x10, shape=5, rowmajor=1\n");
        g->hart->x[16] = INPUT;
        g->hart->x[17] = NOWHERE;
        g->hart->x[20] = OUTPUT;
        g->hart->x[21] = OUTPUT + 8;
        guest_store(g, OUTPUT, 8, 0);
        guest_store(g, OUTPUT + 8, 8, 0);
        guest_csrw(g, 0x7F8, 1);
        trap = guest_run(g, "svon.one\n MTX.MUL x20, x16, shape=5\n");
        harness_row("CAP-018 CAP-066");
        CHECK_EQ(trap.taken, fof == 0);
        CHECK_EQ(guest_csrr(g, SVFAULTI), APPLY | 5 << 16 | 1);
        CHECK_EQ(guest_load(g, OUTPUT, 8), fof != 0 ? UINT64_C(0x4000000040400000) : 0);
        CHECK_EQ(guest_load(g, OUTPUT + 8, 8), 0);
        CHECK_EQ(event(g), 1);
    }
    guest_free(g);
}

/* ---- predicates and memory ------------------------------------------------------------------- */

TEST(masked_lanes_touch_no_memory_and_follow_zmode, "")
{
    struct guest *g = guest_make("full");

    fill_input(g);
    harness_row("CAP-145 CAP-147");
    guest_csrw(g, 0x7C7, 0); /* describes, does not switch */
    for (unsigned bank = 1; bank < 4; bank++) {
        g->hart->x[10] = 0x12345678 * bank;
        guest_ok(g, "pmlow.wr %u, x10\n pmlow.rd %u, x11\n", bank, bank);
        CHECK_EQ(g->hart->x[11], (uint32_t)(0x12345678 * bank));
    }
    guest_ok(
        g, "svsetvl x0, 8\n pmlow.wr 0, x0\n pmclr 0\n pmnot 0\n pmany 0, x10\n pmlow.rd 0, x11\n");
    CHECK_ID("CAP-076", g->hart->x[10] == 1);
    CHECK_ID("CAP-075 CAP-147", g->hart->x[11] == 0xFF);
    for (unsigned zmode = 0; zmode < 2; zmode++) {
        for (int z = -1; z < 2; z++) {
            bool zero = z < 0 ? zmode != 0 : z != 0;

            guest_csrw(g, MODE, APPLY | FP32_MODE | zmode << 3);
            guest_csrw(g, 0x7F8, 0);
            guest_ok(g, "pmlow.wr 1, x0\n");
            g->hart->x[10] = NOWHERE;
            g->hart->x[12] = 55;
            if (z >= 0) {
                guest_ok(g, "svon.fpctl rc=RNE, sae=0, z=%d\n", z);
            }
            harness_row("CAP-079");
            guest_ok(g, "xmem.ldg.d x12, (x10), pbank=1\n"); /* scalar, predicate false */
            CHECK_ID(zero ? "CAP-078" : "CAP-077", g->hart->x[12] == (zero ? 0 : 55));
            guest_ok(g, "xmem.stg.d x12, (x10), pbank=1\n");
            /* Gather: lane 0 masked, lane 1 not. */
            guest_csrw(g, 0x7F8, 1);
            g->hart->x[10] = 2;
            guest_ok(g, "pmlow.wr 1, x10\n");
            guest_csrw(g, SVMBASE, INPUT);
            guest_csrw(g, SVMIDX, 16);
            guest_csrw(g, SVMSCL, 2);
            guest_csrw(g, SVMLEN, 0);
            guest_csrw(g, SVMMODE, 0);
            g->hart->x[16] = UINT64_C(1) << 40;
            g->hart->x[17] = 4;
            g->hart->x[20] = g->hart->x[21] = 55;
            if (z >= 0) {
                guest_ok(g, "svon.fpctl rc=RNE, sae=0, z=%d\n", z);
            }
            harness_row("CAP-067 CAP-418");
            guest_ok(g, "svon.one\n xmem.svm x20, x0, pbank=1\n");
            CHECK_ID("CAP-419", g->hart->x[20] == (zero ? 0 : 55));
            CHECK_EQ(g->hart->x[21], input_at(g, 16, 4));
            CHECK_EQ(event(g), 0);
        }
    }
    /* Four lanes, bank 0b0101: words 0 and 2 change, by STG and by scatter. */
    guest_csrw(g, 0x7F8, 3);
    g->hart->x[10] = 5;
    guest_ok(g, "pmlow.wr 1, x10\n");
    for (unsigned way = 0; way < 2; way++) {
        for (unsigned i = 0; i < 4; i++) {
            guest_store(g, OUTPUT + 4 * i, 4, 0xAAAAAAAA);
            g->hart->x[16 + i] = (i & 1) != 0 ? NOWHERE : OUTPUT + 4 * i;
            g->hart->x[20 + i] = 0x100 + i;
        }
        if (way == 1) {
            guest_csrw(g, SVMBASE, 0);
            guest_csrw(g, SVMSCL, 1 << 4);
        }
        harness_row(way == 0 ? "CAP-073 CAP-080" : "CAP-081");
        guest_ok(g,
                 way == 0 ? "svon.one\n xmem.stg.w x20, (x16), pbank=1\n"
                          : "svon.one\n xmem.svm x0, x20, pbank=1\n");
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(guest_load(g, OUTPUT + 4 * i, 4), (i & 1) != 0 ? 0xAAAAAAAA : 0x100 + i);
        }
    }
    harness_row("CAP-075"); /* pbank = 0 is all ones over VL */
    guest_csrw(g, 0x7F8, 7);
    for (unsigned i = 0; i < 8; i++) {
        g->hart->x[16 + i] = INPUT + 4 * i;
    }
    guest_ok(g, "svon.one\n xmem.ldg.wu x24, (x16), pbank=0\n");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[24 + i], input_at(g, 4 * i, 4));
    }
    guest_free(g);
}

TEST(machines_without_predicates_or_atomics, "CAP-134 CAP-146 CAP-148")
{
    static const char *const needs_pmask[] = {
        "pmclr 1",
        "pmset 0",
        "pmmov.p0 x5",
        "pmmov.to_p0 x5",
        "pmlow.rd 0, x5",
        "pmhigh.wr 1, x5",
        "pmnot 1",
        "pmand 1, x5",
        "pmany 0, x5",
        "pmpopcnt 1, x5",
        "pcmp.eq.u x5, x6",
        "ptestnz x5, x6",
        "psel x5, x6, x7",
        "bp.t . + 8",
        "bp.any 1, . + 8",
        "xmem.ldg.w x5, (x6), pbank=1",
        "xmem.stg.w x5, (x6), pbank=2",
        "xmem.svm x5, x6, pbank=3",
    };
    struct guest *g = guest_make("full");

    guest_configure(g, "pmask_present", 0);
    for (size_t i = 0; i < sizeof needs_pmask / sizeof needs_pmask[0]; i++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", needs_pmask[i]);
    }
    g->hart->x[6] = INPUT;
    guest_ok(g, "xmem.ldg.w x5, (x6), pbank=0\n");
    guest_free(g);
    g = guest_make("full");
    guest_ok(g, "pmclr 3\n");
    CHECK_EQ((guest_csrr(g, 0x7C7) >> 1 & 7) + 1, 4);
    /* LDS_ATOMICS = 0: the instruction is gone, the sum is not. */
    guest_configure(g, "feat0", 0x5D19 & ~0x10);
    g->hart->x[10] = LDS;
    guest_store(g, LDS, 4, 40);
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "xlds.atoms.add.w x12, (x10), x11\n");
    guest_ok(g, "lw x12, 0(x10)\n addi x12, x12, 2\n sw x12, 0(x10)\n");
    CHECK_EQ(guest_load(g, LDS, 4), 42);
    guest_free(g);
    g = guest_make("min");
    CHECK_EQ((guest_csrr(g, 0x7C7) >> 1 & 7) + 1, 2);
    guest_ok(g, "pmclr 1\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "pmclr 2\n");
    guest_free(g);
}

TEST(memory_means_the_same_under_every_profile, "CAP-015 CAP-170")
{
    uint64_t digest[3] = {0};

    for (unsigned profile = 0; profile < 3; profile++) {
        struct guest *g = guest_make("prof");

        CHECK_EQ(facet_cap_set_profile(&g->hart->units, profile, NULL), FACET_OK);
        fill_input(g);
        guest_csrw(g, SVMBASE, INPUT);
        guest_csrw(g, SVMSCL, 2);
        guest_csrw(g, SVMLEN, 4);
        for (unsigned i = 0; i < 100; i++) {
            uint64_t base = lds_alloc(g, 64 + 64 * (i % 5), i % 32, i % 3);

            (void)gather(g, i * 3);
            digest[profile] = digest[profile] * 31 + base;
            digest[profile] = digest[profile] * 31 + g->hart->x[12];
            digest[profile] = digest[profile] * 31 + event(g);
            if (i % 3 == 0 && base != 0) {
                g->hart->x[10] = base;
                guest_ok(g, "xlds.free x10\n");
            }
        }
        guest_free(g);
    }
    CHECK_EQ(digest[1], digest[0]);
    CHECK_EQ(digest[2], digest[0]);
}
