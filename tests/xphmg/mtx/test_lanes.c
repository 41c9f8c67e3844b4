/* MTX under RSV and its memory: lanes, predication, faults, fault-only-first, domain and security,
 * LDS, exactly which bytes are touched. */
#include "xphmg/guest.h"

#include "facet/observer.h"
#include "machine/state.h"
#include "xphmg/units/vendor.h"

enum {
    IN = GUEST_DATA,
    OUT = GUEST_DATA + 0x4000,
    MATRIX = GUEST_DATA + 0x8000,
    BAD = 0x1000,
    FP32 = 0x00300000,
    INT8 = 0x02600000,
};
#define LDS FACET_XLDSBASE_RESET

static void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

static uint64_t events(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS);
}

static void clear_events(struct guest *g)
{
    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, ~0ull);
}

/* A bank that doubles a vector of two FP32, pointers a1.. at inputs (k+1, 0) and a5.. at outputs.
 */
static void doubling(struct guest *g)
{
    set_mode(g, FP32);
    guest_csrw(g, FACET_CSR_MTX2, 0x40000000);
    guest_csrw(g, FACET_CSR_MTXSEL, 0x10);
    guest_csrw(g, FACET_CSR_MTX2, 0x40000000ull << 32);
    guest_csrw(g, FACET_CSR_MTXSEL, 0);
    for (unsigned k = 0; k < 4; k++) {
        g->hart->x[11 + k] = IN + 0x100 * k;
        g->hart->x[20 + k] = OUT + 0x100 * k;
        guest_store(g, IN + 0x100 * k, 4, 0x3F800000 + (k << 20));
        guest_store(g, IN + 0x100 * k + 4, 4, 0);
        guest_store(g, OUT + 0x100 * k, 4, 0x77);
    }
}

static uint64_t output(const struct guest *g, unsigned lane)
{
    return guest_load(g, OUT + 0x100 * lane, 4);
}

static void set_bank(struct guest *g, unsigned bank, uint64_t bits)
{
    g->hart->units.pmask.bank[bank] = bits;
    guest_csrw(
        g, FACET_CSR_SVSTATE, FACET_PUT(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_PBANK, bank));
}

TEST(one_product_per_active_lane, "MTX-006 MTX-011 MTX-060 MTX-061")
{
    struct guest *g = guest_make("full");

    doubling(g);
    set_bank(g, 1, 0xB);
    g->hart->x[13] = g->hart->x[22] = BAD; /* lane 2 is masked: no access, no fault */
    guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.mul x20, x11\n");
    CHECK_EQ(output(g, 0), 0x40000000);
    CHECK_EQ(output(g, 1), 0x40100000);
    CHECK_EQ(output(g, 2), 0x77);
    CHECK_EQ(output(g, 3), 0x40300000);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_MTXSTAT), MTXSTAT_OPS_ISSUED), 1);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_EN), 0); /* one-shot spent */
    CHECK_EQ(events(g), 0);
    /* Without RSV the bank of SVSTATE does not matter. */
    set_bank(g, 1, 0);
    guest_store(g, OUT, 4, 0x77);
    guest_ok(g, "mtx.mul x20, x11\n");
    CHECK_EQ(output(g, 0), 0x40000000);
    /* Windows: stride 0 reads one vector for all lanes. */
    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 12);
    set_bank(g, 0, 0);
    g->hart->x[22] = OUT + 0x200;
    guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.mul x20, x11\n");
    CHECK_EQ(output(g, 2), 0x40100000);
    guest_free(g);
}

/* An x0 source is no window: lane 1 reads address 0 and not what x1 points to. */
TEST(x0_as_an_address_is_not_windowed, "RSV-018")
{
    struct guest *g = guest_make("full");

    doubling(g);
    set_bank(g, 1, 2);
    g->hart->x[1] = IN;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svsetvl x0, 2\n svon.one\n mtx.mul x20, x0\n"),
             0);
    guest_free(g);
}

TEST(lanes_read_before_any_lane_writes, "MTX-011")
{
    struct guest *g = guest_make("full");

    doubling(g);
    for (unsigned k = 0; k < 4; k++) { /* lane k writes where lane k+1 reads */
        g->hart->x[20 + k] = IN + 0x100 * (k + 1);
    }
    guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.mul x20, x11\n");
    for (unsigned k = 0; k < 4; k++) {
        CHECK_EQ(guest_load(g, IN + 0x100 * (k + 1), 4), 0x40000000 + (k << 20));
    }
    guest_free(g);
}

TEST(several_lanes_of_ld_leave_the_highest_active_one, "MTX-101 MTX-061")
{
    struct guest *g = guest_make("full");

    doubling(g);
    set_bank(g, 2, 0x6); /* lanes 1 and 2 */
    g->hart->x[14] = BAD;
    guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.ld x11\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_MTX2), 0x3FA00000);
    set_bank(g, 2, 0);
    guest_ok(g, "svon.one\n mtx.ld x11\n"); /* none: the bank stays */
    CHECK_EQ(guest_csr(g, FACET_CSR_MTX2), 0x3FA00000);
    guest_free(g);
}

TEST(zmode_acts_on_the_register_of_red_and_on_no_memory, "MTX-062 MTX-063")
{
    struct guest *g = guest_make("full");

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        doubling(g);
        set_mode(g, FP32 | (zmode ? FACET_CAP_PREC_MODE_ZMODE : 0));
        set_bank(g, 1, 0x5);
        guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.red x24, x11, op=1\n");
        CHECK_EQ(g->hart->x[24], 0x3F800000);
        CHECK_EQ(g->hart->x[26], 0x3FA00000);
        g->hart->x[25] = g->hart->x[27] = 0x99;
        guest_ok(g, "svon.one\n mtx.red x24, x11, op=1\n");
        CHECK_EQ(g->hart->x[25], zmode ? 0 : 0x99);
        CHECK_EQ(g->hart->x[27], zmode ? 0 : 0x99);
        guest_ok(g, "svon.one\n mtx.mul x20, x11\n");
        CHECK_EQ(output(g, 1), 0x77);
        CHECK_EQ(output(g, 3), 0x77);
    }
    guest_free(g);
}

TEST(faults_name_lane_and_address_and_write_nothing, "MTX-061 MTX-075")
{
    struct guest *g = guest_make("full");

    doubling(g);
    g->hart->x[12] = BAD;
    CHECK_EQ(
        guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svsetvl x0, 4\n svon.one\n mtx.mul x20, x11\n"),
        BAD);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 5 << 16 | 1);
    CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), 0);
    CHECK_EQ(output(g, 0), 0x77);
    guest_ok(g, "svend\n");
    doubling(g);
    clear_events(g);
    g->hart->x[13] = IN + 2; /* containers are naturally aligned */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "svon.one\n mtx.mul x20, x11\n"), IN + 2);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 4 << 16 | 2);
    CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
    guest_ok(g, "svend\n");
    doubling(g); /* a destination: probed for all lanes before the first write */
    g->hart->x[23] = BAD;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "svon.one\n mtx.mul x20, x11\n"), BAD);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 7 << 16 | 3);
    CHECK_EQ(output(g, 0), 0x77);
    guest_ok(g, "svend\n");
    doubling(g);
    g->hart->x[21] = OUT + 1;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_MISALIGNED, "svon.one\n mtx.mul x20, x11\n"),
             OUT + 1);
    CHECK_EQ(output(g, 0), 0x77);
    /* The second container of a vector at the end of memory. */
    doubling(g);
    guest_ok(g, "svend\n");
    g->hart->x[11] = GUEST_CODE + GUEST_RAM_BYTES - 4;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "mtx.mul x20, x11\n"),
             GUEST_CODE + GUEST_RAM_BYTES);
    guest_free(g);
}

TEST(fault_only_first_keeps_the_lanes_below, "MTX-076 RSV-133")
{
    struct guest *g = guest_make("full");

    doubling(g);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, FACET_CAP_XMEM_SVMSCL_FOF);
    guest_csrw(g, FACET_CSR_SVFAULTI, 1ull << 63 | 0x050003);
    guest_ok(g, "svsetvl x0, 4\n svon.one\n mtx.mul x20, x11\n"); /* no fault: VALID clears */
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0x050003);
    doubling(g);
    g->hart->x[13] = BAD;
    guest_ok(g, "svon.one\n mtx.mul x20, x11\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 5 << 16 | 2);
    CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
    CHECK_EQ(output(g, 0), 0x40000000);
    CHECK_EQ(output(g, 1), 0x40100000);
    CHECK_EQ(output(g, 2), 0x77);
    CHECK_EQ(output(g, 3), 0x77);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVSTATE), SVSTATE_EN), 0);
    /* Lanes from the fault on keep registers whatever ZMODE says, masked ones too. */
    set_mode(g, FP32 | FACET_CAP_PREC_MODE_ZMODE);
    set_bank(g, 1, 0x7);
    for (unsigned r = 24; r < 28; r++) {
        g->hart->x[r] = 0x99;
    }
    guest_ok(g, "svon.one\n mtx.red x24, x11, op=1\n");
    CHECK_EQ(g->hart->x[25], 0x3F900000);
    CHECK_EQ(g->hart->x[26], 0x99);
    CHECK_EQ(g->hart->x[27], 0x99);
    set_bank(g, 0, 0);
    /* A store fault is no matter of FOF, and without RSV nothing is. */
    doubling(g);
    g->hart->x[22] = BAD;
    guest_traps(g, FACET_CAUSE_STORE_FAULT, "svon.one\n mtx.mul x20, x11\n");
    guest_ok(g, "svend\n");
    guest_csrw(g, FACET_CSR_SVFAULTI, 0x123);
    g->hart->x[11] = BAD;
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "mtx.mul x20, x11\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0x123);
    guest_free(g);
}

TEST(flags_of_lanes_are_collected_and_the_lowest_traps, "RSV-126 MTX-074")
{
    struct guest *g = guest_make("full");
    unsigned each[3];

    doubling(g);
    guest_store(g, IN, 4, 0x7F7FFFFF);         /* OF NX */
    guest_store(g, IN + 0x100, 4, 0x7FC00000); /* QNAN */
    guest_store(g, IN + 0x200, 4, 0x7F800001); /* NV SNAN QNAN */
    for (unsigned k = 0; k < 3; k++) {
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
        guest_ok(g, "mtx.mul x%u, x%u\n", 20 + k, 11 + k);
        each[k] = (unsigned)guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST);
    }
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    guest_ok(g, "svsetvl x0, 3\n svon.one\n mtx.mul x20, x11\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), each[0] | each[1] | each[2]);
    CHECK_EQ(each[0] | each[1] | each[2], FACET_OF | FACET_NX | FACET_QNAN | FACET_NV | FACET_SNAN);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NV);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "svon.one\n mtx.mul x20, x11\n"),
             FACET_NV | 2 << 8);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 24 << 16 | 2);
    guest_free(g);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

struct log {
    unsigned reads, writes;
    uint64_t low, high; /* of all accesses */
    unsigned policies;
    uint64_t dom, class;
};

static void see_memory(void *context, const struct facet_memory_event *event)
{
    struct log *log = context;

    log->reads += !event->write;
    log->writes += event->write;
    log->low = event->address < log->low ? event->address : log->low;
    log->high = event->address + event->size > log->high ? event->address + event->size : log->high;
}

static void see_unit(void *context, const struct facet_unit_event *event)
{
    struct log *log = context;

    if (strcmp(event->unit, "mtx") == 0) {
        log->policies++;
        log->dom = event->values[0];
        log->class = event->values[1];
    }
}

TEST(instructions_touch_exactly_their_operands, "MTX-002 MTX-054 MTX-075")
{
    static const struct {
        const char *text;
        unsigned reads, writes; /* containers of FP32 */
    } rows[] = {{"mtx.ld a0, shape=15", 16, 0},
                {"mtx.ld a0, shape=10, with_bias=1", 12, 0},
                {"mtx.mul a2, a1, shape=6, vec_count=2", 9, 6},
                {"mtx.mad a2, a1, shape=15", 4, 4},
                {"mtx.transpose a2, a1, n_blk=1", 32, 32},
                {"mtx.epi a2, a1", 16, 16},
                {"mtx.red a3, a1", 16, 0},
                {"mtx.red a2, a1, n_blk=1, dim=2", 32, 8}};
    struct guest *g = guest_make("full");

    set_mode(g, FP32);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct log log = {.low = ~0ull};
        struct facet_observer observer = {.context = &log, .memory = see_memory, .unit = see_unit};

        g->hart->x[10] = IN, g->hart->x[11] = IN, g->hart->x[12] = OUT;
        guest_observe(g, &observer);
        guest_ok(g, "%s\n", rows[i].text);
        guest_observe(g, NULL);
        CHECK_MSG(log.reads == rows[i].reads && log.writes == rows[i].writes,
                  "%s: %u reads, %u writes",
                  rows[i].text,
                  log.reads,
                  log.writes);
        CHECK_EQ(log.low, IN);
        CHECK_EQ(log.high, rows[i].writes ? OUT + 4 * rows[i].writes : IN + 4 * rows[i].reads);
        CHECK_EQ(log.policies, 1);
        CHECK_EQ(log.dom, 3);
        CHECK_EQ(log.class, 0);
    }
    /* Class: DESCPOL.DEF_CLASS before ACTIVE_CLASS (R-XM-37). */
    guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, 1ull << FACET_CAP_XMEM_L1CFG_ACTIVE_CLASS_LSB);
    for (unsigned def = 0; def < 4; def++) {
        struct log log = {0};
        struct facet_observer observer = {.context = &log, .unit = see_unit};

        guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, def);
        guest_observe(g, &observer);
        guest_ok(g, "mtx.red a3, a1\n");
        guest_observe(g, NULL);
        CHECK_EQ(log.class, def == 0 ? 1 : def);
    }
    CHECK_EQ(events(g), 0); /* no DMA, no allocation */
    CHECK_EQ(g->xmem->block_count, 0);
    guest_free(g);
}

TEST(packed_outputs_keep_their_neighbours, "MTX-028 MTX-078")
{
    struct guest *g = guest_make("full");

    /* INT8, four to a 32-bit container; a 3x2 product writes three of the four. */
    set_mode(g, INT8 | 2ull << FACET_CAP_PREC_MODE_PACK_LSB);
    g->hart->x[10] = MATRIX, g->hart->x[11] = IN, g->hart->x[12] = OUT;
    for (unsigned i = 0; i < 6; i++) {
        guest_store(g, MATRIX + i, 1, i + 1);
    }
    guest_store(g, IN, 4, 0x7F7F0101);
    guest_store(g, OUT, 8, 0xAABBCCDDEEFF9988);
    guest_ok(g, "mtx.ld a0, shape=9, rowmajor=1\n mtx.mul a2, a1, shape=9\n");
    CHECK_EQ(guest_load(g, OUT, 8), 0xAABBCCDDEE0B0703);
    /* 16-bit containers with one INT8: results are sign-extended into them. */
    set_mode(g, INT8 | 1ull << FACET_CAP_PREC_MODE_EW_LSB);
    guest_store(g, IN, 4, 0x00FF00FF); /* -1, -1 */
    guest_ok(g, "mtx.mul a2, a1, shape=9\n");
    CHECK_EQ(guest_load(g, OUT, 8), 0xAABBFFF5FFF9FFFD);
    guest_free(g);
}

TEST(lds_and_ownership, "MTX-010 MTX-075")
{
    struct guest *g = guest_make("full");

    doubling(g);
    g->hart->x[11] = LDS + 0x8000; /* operands in LDS as in DRAM */
    g->hart->x[20] = LDS + 0x8100;
    guest_store(g, LDS + 0x8000, 8, 0x3F800000);
    guest_ok(g, "mtx.mul x20, x11\n");
    CHECK_EQ(guest_load(g, LDS + 0x8100, 8), 0x40000000);
    /* A Tier-0 block of domain RT (2), STRICT_DOM: the MTX domain (3) is refused, RT is not. */
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 64, .dom = 2};
    g->xmem->block_count = 1;
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, FACET_CAP_XMEM_DESCPOL_STRICT_DOM);
    g->hart->x[11] = LDS;
    guest_ok(g, "mtx.mul x20, x11\n");
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "mtx.mul x20, x11\n"), LDS);
    CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS);
    g->hart->x[11] = IN, g->hart->x[20] = LDS + 32;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "mtx.mul x20, x11\n"), LDS + 32);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, 0);
    guest_ok(g, "mtx.mul x20, x11\n");
    /* A secure block: inline accesses have level 0. */
    clear_events(g);
    g->xmem->blocks[0].sec = 2;
    guest_traps(g, FACET_CAUSE_STORE_FAULT, "mtx.mul x20, x11\n");
    CHECK_EQ(events(g), FACET_CAP_XMEM_EVENTS_INV_MISS | FACET_CAP_XMEM_EVENTS_SEC_VIOL);
    guest_free(g);
}

TEST(results_are_readable_by_rsv_as_rows_columns_and_flat, "RSV-136 RSV-137 RSV-138")
{
    struct guest *g = guest_make("full");

    /* A 4x4 FP32 tile in Tier-0, written by MTX.TRANSPOSE of 1..16. */
    set_mode(g, FP32);
    g->hart->x[11] = IN, g->hart->x[12] = LDS;
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + 4 * e, 4, 0x100 + e);
    }
    guest_ok(g, "mtx.transpose x12, x11\n");
    for (unsigned view = 0; view < 3; view++) { /* row 1, column 2, flat from 0 */
        unsigned vl = view == 2 ? 16 : 4;

        for (unsigned i = 0; i < vl; i++) {
            g->hart->x[1 + i] = LDS + (view == 0 ? 16 + 4 * i : view == 1 ? 8 + 16 * i : 4 * i);
        }
        guest_ok(g, "svsetvl x0, %u\n svon.one\n flw f1, 0(x1)\n", vl);
        for (unsigned i = 0; i < vl; i++) {
            unsigned r = view == 0   ? 1
                         : view == 1 ? i
                                     : i / 4,
                     c = view == 0   ? i
                         : view == 1 ? 2
                                     : i % 4;

            CHECK_EQ(g->hart->f[1 + i], 0xFFFFFFFF00000000 | (0x100 + 4 * c + r));
        }
    }
    /* ... and as operands of RSV floating point, without conversion. */
    guest_store(g, IN, 8, 0x400000003F800000);
    doubling(g);
    g->hart->x[20] = LDS;
    guest_ok(g,
             "mtx.mul x20, x11\n flw f2, 0(x20)\n flw f3, 4(x20)\n"
             "svsetvl x0, 2\n svon.one\n fadd.s f4, f2, f2\n");
    CHECK_EQ(g->hart->f[4], 0xFFFFFFFF40800000);
    guest_free(g);
}

TEST(debuggers_and_snapshots_have_banks_and_registers, "MTX-080")
{
    struct guest *g = guest_make("full"), *copy = guest_make("full");
    struct facet_strbuf saved = {0};
    struct facet_state_io io = facet_state_saver(&saved);
    struct facet_error err = {0};
    uint64_t value = 0;

    doubling(g);
    guest_ok(g, "mtx.mul x20, x11\n");
    guest_csrw(g, FACET_CSR_MTXCFG, 5);
    CHECK(facet_units_csr(&g->hart->units, g->xmem, FACET_CSR_MTXCFG, &value));
    CHECK_EQ(value, 5);
    CHECK(facet_units_csr(&g->hart->units, g->xmem, FACET_CSR_MTX2, &value));
    CHECK_EQ(value, 0x40000000);
    CHECK(facet_units_csr(&g->hart->units, g->xmem, FACET_CSR_MTXSTAT, &value));
    CHECK_EQ(value, 0x22ull << 48 | 1);
    facet_units_visit(&g->hart->units, &io);
    CHECK(facet_state_done(&io));
    io = facet_state_loader(saved.text, saved.length, 0, &err);
    facet_units_visit(&copy->hart->units, &io);
    CHECK(facet_state_done(&io));
    CHECK(memcmp(&copy->hart->units.mtx, &g->hart->units.mtx, sizeof g->hart->units.mtx) == 0);
    facet_strbuf_free(&saved);
    guest_free(copy);
    guest_free(g);
}
