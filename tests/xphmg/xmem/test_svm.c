/* XMEM.SVM: indices, scales, sizes, bounds, fault-only-first, predication, conversion. Directed
 * cases by hand; random cases against a formulation that first lists, lane by lane, what happens to
 * it (skip, zero, fault, access) and only then plays the list. */
#include "xphmg/xmem/xmem_test.h"

enum {
    D = GUEST_DATA,
    SCL_SIGNED = 8,
    SCL_GS = 16,
    SCL_FOF = 32,
    MODE_BOUND = 1,
    MODE_OOB_ZERO = 2,
    MODE_COMPRESS = 4,
    MODE_EXPAND = 8,
    MODE_IDX_MEM = 16,
};
#define MODE_IDX_EW(code) ((uint64_t)(code) << 5)
#define FAULTI(cause, lane) (UINT64_C(1) << 63 | (uint64_t)(cause) << 16 | (lane))

/* The registers of the instruction: values go to x8.., indices come from x16.., stores from x24..
 */
static void
svm_setup(struct guest *g, uint64_t base, uint64_t index, uint64_t scl, uint64_t len, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMBASE, base);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMIDX, index);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMSCL, scl);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLEN, len);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMMODE, mode);
}

static void set_lanes(struct guest *g, const uint64_t *index, unsigned count)
{
    for (unsigned i = 0; i < 8; i++) {
        g->hart->x[8 + i] = 0xEE00 + i;
        g->hart->x[16 + i] = i < count ? index[i] : 0;
        g->hart->x[24 + i] = UINT64_C(0xAABBCCDD00005500) + i;
    }
}

static void fill(struct guest *g)
{
    for (unsigned i = 0; i < 64; i++) {
        guest_store(g, D + 8 * i, 8, UINT64_C(0x8182838485868700) + i);
    }
}

/* ---- addresses ---------------------------------------------------------------------------------
 */

TEST(gather_and_scatter_of_one_element, "XM-061 XM-065 XM-071")
{
    struct guest *g = guest_make("full");
    uint64_t index = 3;

    fill(g);
    svm_setup(g, D, 16, 3, 8, 0);
    set_lanes(g, &index, 1);
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(g->hart->x[8], UINT64_C(0x8182838485868703));
    CHECK_EQ(g->hart->x[9], 0xEE01);
    svm_setup(g, D + 8, 16, 3 | SCL_GS, 4, 0);
    set_lanes(g, &index, 1);
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(guest_load(g, D + 32, 8), UINT64_C(0x8182838400005500));
    CHECK_EQ(g->hart->x[8], 0xEE00);
    guest_free(g);
}

TEST(scales_multiply_the_index, "XM-063 XM-071")
{
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned scale = 0; scale < 8; scale++) {
        static const unsigned factor[8] = {1, 2, 4, 8, 16, 1, 1, 1}; /* 5..7 are stored as 0 */
        uint64_t index[4] = {0, 1, 2, 5};

        svm_setup(g, D, 16, scale, 1, 0);
        set_lanes(g, index, 4);
        set_rsv(g, 4, 0);
        log_start(&log, g);
        guest_ok(g, "xmem.svm x8, x24\n");
        guest_observe(g, NULL);
        CHECK_EQ(log.accesses, 4);
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(log.access[i].address, D + index[i] * factor[scale]);
            CHECK_EQ(log.access[i].size, 1);
        }
    }
    guest_free(g);
}

TEST(indices_are_cut_and_extended, "XM-064 XM-061")
{
    static const struct {
        unsigned ew;
        uint64_t raw;
        int64_t with_sign, without;
    } rows[] = {{1, 0x180, -128, 128},
                {1, 0x17F, 127, 127},
                {2, 0x1FF80, -128, 0xFF80},
                {3, UINT64_C(0x5FFFFFFF0), -16, INT64_C(0xFFFFFFF0)},
                {0, UINT64_C(0xFFFFFFFFFFFFFFF0), -16, -16}};
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned i = 0; i < 5; i++) {
        for (unsigned sign = 0; sign < 2; sign++) {
            int64_t index = sign ? rows[i].with_sign : rows[i].without;

            /* the base is chosen so that the address lands in DRAM */
            svm_setup(g,
                      D + 0x400 - (uint64_t)index,
                      16,
                      sign ? SCL_SIGNED : 0,
                      1,
                      MODE_IDX_EW(rows[i].ew));
            set_lanes(g, &rows[i].raw, 1);
            log_start(&log, g);
            guest_ok(g, "xmem.svm x8, x24\n");
            guest_observe(g, NULL);
            CHECK_EQ(log.accesses, 1);
            CHECK_EQ(log.access[0].address, D + 0x400);
        }
    }
    guest_free(g);
}

TEST(index_registers_wrap_and_are_no_window, "XM-061 XM-071")
{
    struct guest *g = guest_make("full");
    static struct log log;

    svm_setup(g, D, 0xFFE0 + 30, 0, 1, 0); /* bits 4:0 count: x30, x31, x0, x1 */
    for (unsigned i = 1; i < 32; i++) {
        g->hart->x[i] = 100 + i;
    }
    g->hart->units.rsv.svsrca = FACET_SVSRCA_V | 5; /* SVSRCA has no say */
    set_rsv(g, 4, 0);
    log_start(&log, g);
    guest_ok(g, "xmem.svm x8, x0\n");
    guest_observe(g, NULL);
    CHECK_EQ(log.accesses, 4);
    CHECK_EQ(log.access[0].address, D + 130);
    CHECK_EQ(log.access[1].address, D + 131);
    CHECK_EQ(log.access[2].address, D);
    CHECK_EQ(log.access[3].address, D + 101);
    guest_free(g);
}

TEST(indices_in_memory, "XM-071 XM-072")
{
    static const unsigned bytes[4] = {8, 1, 2, 4};
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned ew = 0; ew < 4; ew++) {
        fill(g);
        for (unsigned i = 0; i < 4; i++) {
            guest_store(g, D + 0x200 + i * bytes[ew], bytes[ew], 7 - 2 * i);
        }
        svm_setup(g, D, D + 0x200, 3, 8, MODE_IDX_MEM | MODE_IDX_EW(ew));
        set_rsv(g, 4, 0);
        log_start(&log, g);
        guest_ok(g, "xmem.svm x8, x24\n");
        guest_observe(g, NULL);
        CHECK_EQ(log.accesses, 8);
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(g->hart->x[8 + i], UINT64_C(0x8182838485868700) + 7 - 2 * i);
            CHECK_EQ(log.access[2 * i].address, D + 0x200 + i * bytes[ew]);
            CHECK_EQ(log.access[2 * i].size, bytes[ew]);
        }
    }
    /* a scatter over its own indices uses the old ones for every lane */
    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, D + 8 * i, 8, 3 - i);
        g->hart->x[24 + i] = 0x900 + i;
    }
    svm_setup(g, D, D, 3 | SCL_GS, 8, MODE_IDX_MEM);
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.svm x8, x24\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(guest_load(g, D + 8 * i, 8), 0x900 + 3 - i);
    }
    guest_free(g);
}

TEST(csr_values_are_those_of_the_own_boundary, "XM-001")
{
    struct guest *g = guest_make("full");
    uint64_t index = 2;

    fill(g);
    svm_setup(g, D, 16, 3, 8, 0);
    set_lanes(g, &index, 1);
    guest_ok(g, "xmem.svm x8, x0\n li t0, 4\n csrw 0x7F2, t0\n xmem.svm x9, x0\n");
    CHECK_EQ(g->hart->x[8], UINT64_C(0x8182838485868702)); /* * 8 */
    CHECK_EQ(g->hart->x[9], UINT64_C(0x8182838485868704)); /* * 16 */
    guest_free(g);
}

TEST(element_size_is_svmlen_or_eff_ew, "XM-022 XM-062")
{
    struct guest *g = guest_make("full");
    static struct log log;
    uint64_t index = 1;

    fill(g);
    for (unsigned ew = 0; ew < 4; ew++) {
        for (unsigned len = 0; len <= 8; len = len == 0 ? 1 : 2 * len) {
            unsigned size = len != 0 ? len : 1u << ew;

            set_mode(g, MODE_PET(3) | MODE_EW(ew)); /* INT8 fits every container */
            svm_setup(g, D, 16, 3, len, 0);
            set_lanes(g, &index, 1);
            log_start(&log, g);
            guest_ok(g, "xmem.svm x8, x0\n");
            guest_observe(g, NULL);
            CHECK_EQ(log.access[0].size, size);
            /* INT8 is signed and PACK = 0: the loaded bytes are sign-extended */
            CHECK_EQ(g->hart->x[8],
                     size == 8   ? UINT64_C(0x8182838485868701)
                     : size == 4 ? UINT64_C(0xFFFFFFFF85868701)
                     : size == 2 ? UINT64_C(0xFFFFFFFFFFFF8701)
                                 : 1);
        }
    }
    guest_free(g);
}

TEST(raw_gathers_extend_as_register_images, "XM-062")
{
    /* EFF, expected x register for the 16-bit element 0x8701 */
    static const struct {
        uint64_t mode, x;
    } rows[] = {
        {MODE_PET(0) | MODE_EW(1), 0x8701},                              /* FP16: zero */
        {MODE_PET(4) | MODE_EW(1), UINT64_C(0xFFFFFFFFFFFF8701)},        /* INT16: sign */
        {MODE_PET(4) | MODE_EW(1) | 0x30, 0x8701},                       /* unsigned: Q and UNS */
        {MODE_PET(4) | MODE_EW(1) | 0x10, UINT64_C(0xFFFFFFFFFFFF8701)}, /* UNS without Q */
        {MODE_PET(3) | MODE_EW(1) | UINT64_C(1) << 17, 0x8701},          /* PACK = 1: zero */
    };
    struct guest *g = guest_make("full");
    uint64_t index = 1;

    fill(g);
    for (unsigned i = 0; i < 5; i++) {
        set_mode(g, rows[i].mode);
        svm_setup(g, D, 16, 3, 0, 0);
        set_lanes(g, &index, 1);
        guest_ok(g, "xmem.svm x8, x0\n");
        CHECK_EQ(g->hart->x[8], rows[i].x);
    }
    guest_free(g);
}

TEST(registers_come_from_the_windows, "XM-061")
{
    struct guest *g = guest_make("full");
    uint64_t index[4] = {0, 1, 2, 3};

    fill(g);
    svm_setup(g, D, 16, 3, 8, 0);
    set_lanes(g, index, 4);
    g->hart->units.rsv.svdst = FACET_SVDST_V | 28 | UINT64_C(0xFE) << 8; /* x28, -2 */
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.svm x8, x0\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[28 - 2 * i], UINT64_C(0x8182838485868700) + i);
    }
    set_lanes(g, index, 4);
    svm_setup(g, D, 16, 3 | SCL_GS, 8, 0);
    g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 25; /* stride 0: broadcast */
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.svm x8, x0\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(guest_load(g, D + 8 * i, 8), UINT64_C(0xAABBCCDD00005501));
    }
    guest_free(g);
}

/* ---- bounds and faults -------------------------------------------------------------------------
 */

TEST(bounds_are_checked_per_element, "XM-023 XM-068 XM-069")
{
    struct guest *g = guest_make("full");
    /* limit 64: offsets 0, 56, 60, 64, -8, 57 (misaligned too), 2^63 * 16, 8 */
    uint64_t index[8] = {0, 56, 60, 64, (uint64_t)-8, 57, UINT64_C(1) << 62, 8};
    bool in[8] = {true, true, false, false, false, false, false, true};

    for (unsigned scatter = 0; scatter < 2; scatter++) {
        fill(g);
        svm_setup(g, D, 16, SCL_SIGNED | (scatter ? SCL_GS : 0), 8, MODE_BOUND | MODE_OOB_ZERO);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, 64);
        set_lanes(g, index, 8);
        set_rsv(g, 8, 0);
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(events(g), EV_INV_MISS);
        for (unsigned i = 0; i < 8; i++) {
            if (!scatter) {
                CHECK_EQ(g->hart->x[8 + i],
                         in[i] ? UINT64_C(0x8182838485868700) + index[i] / 8 : 0);
            }
        }
        for (unsigned k = 0; k < 16 && scatter; k++) {
            uint64_t old = UINT64_C(0x8182838485868700) + k;
            uint64_t expect = k == 0   ? UINT64_C(0xAABBCCDD00005500)
                              : k == 7 ? UINT64_C(0xAABBCCDD00005501)
                              : k == 1 ? UINT64_C(0xAABBCCDD00005507)
                                       : old;

            CHECK_EQ(guest_load(g, D + 8 * k, 8), expect);
        }
    }
    guest_free(g);
}

TEST(out_of_bounds_is_an_access_fault, "XM-068")
{
    struct guest *g = guest_make("full");

    for (unsigned scatter = 0; scatter < 2; scatter++) {
        /* bound, then alignment, then mapping */
        static const struct {
            uint64_t index;
            int cause; /* of a gather; a scatter has two more */
        } rows[] = {{64, 5}, {61, 5}, {57, 5}, {(uint64_t)-8, 5}, {4, 4}, {56, 0}};

        for (unsigned i = 0; i < 6; i++) {
            struct facet_trap trap;

            svm_setup(g, D, 16, SCL_SIGNED | (scatter ? SCL_GS : 0), 8, MODE_BOUND);
            guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, 64);
            set_lanes(g, &rows[i].index, 1);
            trap = guest_run(g, "xmem.svm x8, x24\n");
            CHECK_EQ(trap.taken, rows[i].cause != 0);
            if (trap.taken) {
                CHECK_EQ(trap.cause, (unsigned)rows[i].cause + 2 * scatter);
                CHECK_EQ(trap.tval, D + rows[i].index);
                CHECK_EQ(events(g), EV_INV_MISS);
                CHECK_EQ(g->hart->x[8], 0xEE00);
            } else {
                CHECK_EQ(events(g), 0);
            }
            CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0); /* EN = 0 */
        }
    }
    /* without BOUND_CHECK the limit means nothing, an exact limit of 0 shuts everything out */
    svm_setup(g, D, 16, 0, 8, MODE_OOB_ZERO);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, 0);
    g->hart->x[16] = 8;
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(events(g), 0);
    svm_setup(g, D, 16, 0, 1, MODE_BOUND);
    g->hart->x[16] = 0;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xmem.svm x8, x24\n"), D);
    guest_free(g);
}

TEST(exact_offsets_do_not_wrap, "XM-068")
{
    struct guest *g = guest_make("full");
    uint64_t index = UINT64_C(1) << 63; /* unsigned: 2^63 * 16 = 2^67 */

    svm_setup(g, D, 16, 4, 8, MODE_BOUND);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, UINT64_MAX);
    set_lanes(g, &index, 1);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xmem.svm x8, x24\n"), D);
    /* the address itself is taken modulo 2^64 */
    svm_setup(g, D, 16, 4, 8, 0);
    set_lanes(g, &index, 1);
    guest_ok(g, "xmem.svm x8, x24\n");
    /* off + size > limit with the largest limit */
    index = UINT64_MAX - 3;
    svm_setup(g, D + 4, 16, 0, 8, MODE_BOUND);
    set_lanes(g, &index, 1);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xmem.svm x8, x24\n"), D);
    guest_free(g);
}

TEST(without_fof_a_fault_writes_nothing, "XM-067")
{
    struct guest *g = guest_make("full");
    uint64_t index[4] = {0, 8, (uint64_t)NOWHERE - D, 16};

    fill(g);
    for (unsigned scatter = 0; scatter < 2; scatter++) {
        svm_setup(g, D, 16, scatter ? SCL_GS : 0, 8, 0);
        set_lanes(g, index, 4);
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
        set_lanes(g, index, 4);
        set_rsv(g, 4, 0);
        CHECK_EQ(guest_traps(g,
                             scatter ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT,
                             "xmem.svm x8, x24\n"),
                 NOWHERE);
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FAULTI(scatter ? 7 : 5, 2));
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), 0);
        for (unsigned i = 0; i < 4; i++) {
            CHECK_EQ(g->hart->x[8 + i], 0xEE00 + i);
            CHECK_EQ(guest_load(g, D + 8 * i, 8), UINT64_C(0x8182838485868700) + i);
        }
        CHECK_EQ(events(g), EV_INV_MISS);
        g->hart->units.rsv = (struct facet_rsv){0};
    }
    guest_free(g);
}

TEST(fof_stops_at_the_first_active_fault, "PM-006 PM-008 XM-066 XM-143")
{
    struct guest *g = guest_make("full");

    for (unsigned scatter = 0; scatter < 2; scatter++) {
        for (unsigned masked = 0; masked < 2; masked++) {
            uint64_t index[8] = {0, 8, 16, 24, 32, 40, 48, 56};
            unsigned first = masked ? 3 : 1;

            fill(g);
            index[1] = index[3] = (uint64_t)NOWHERE - D;
            set_mode(g, MODE_EW(1) | MODE_ZMODE);
            set_bank(g, 1, masked ? 0x3D : 0x7F); /* lane 1 masked, or lane 7 */
            svm_setup(g, D, 16, SCL_FOF | (scatter ? SCL_GS : 0), 8, 0);
            set_lanes(g, index, 8);
            g->hart->units.rsv.svfaulti = FAULTI(9, 9);
            set_rsv(g, 8, 0);
            guest_ok(g, "xmem.svm x8, x24, 1\n");
            CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FAULTI(scatter ? 7 : 5, first));
            CHECK_EQ(events(g), EV_INV_MISS);
            for (unsigned i = 0; i < 8; i++) {
                uint64_t old = UINT64_C(0x8182838485868700) + i;
                bool done = i < first && !(masked && i == 1);

                if (scatter) {
                    CHECK_EQ(guest_load(g, D + 8 * i, 8),
                             done ? UINT64_C(0xAABBCCDD00005500) + i : old);
                } else {
                    /* masked lanes below the fault are zeroed, those above it are kept */
                    CHECK_EQ(g->hart->x[8 + i], done ? old : i < first ? 0 : 0xEE00 + i);
                }
            }
            CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE), 7); /* it retired */
            g->hart->units.rsv = (struct facet_rsv){0};
        }
    }
    guest_free(g);
}

TEST(fof_reports_lane_two_of_two_and_five, "PM-008")
{
    struct guest *g = guest_make("full");
    uint64_t index[8] = {0, 8, (uint64_t)NOWHERE - D, 24, 32, (uint64_t)NOWHERE - D + 8, 48, 56};

    svm_setup(g, D, 16, SCL_FOF, 8, 0);
    set_lanes(g, index, 8);
    set_rsv(g, 8, 0);
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FAULTI(5, 2));
    CHECK_EQ(g->hart->x[8 + 2], 0xEE02);
    CHECK_EQ(g->hart->x[8 + 3], 0xEE03);
    guest_free(g);
}

TEST(fof_covers_every_kind_of_fault_without_rsv_too, "XM-066")
{
    struct guest *g = guest_make("full");
    uint64_t secret = alloc(g, 64, 0, 2);
    static const unsigned cause[] = {4, 5, 5, 5, 4};

    for (unsigned kind = 0; kind < 5; kind++) {
        uint64_t address = kind == 0   ? D + 1
                           : kind == 1 ? NOWHERE
                           : kind == 2 ? D + 64
                           : kind == 3 ? secret
                                       : D;

        svm_setup(g,
                  0,
                  kind == 4 ? D + 2 : 16, /* 4: the index itself is misaligned */
                  SCL_FOF,
                  8,
                  kind == 2   ? MODE_BOUND
                  : kind == 4 ? MODE_IDX_MEM
                              : 0);
        guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, D + 64);
        set_lanes(g, &address, 1);
        g->hart->units.rsv.svfaulti = 0;
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FAULTI(cause[kind], 0));
        CHECK_EQ(g->hart->x[8], 0xEE00);
        CHECK_EQ(events(g), EV_INV_MISS | (kind == 3 ? EV_SEC_VIOL : 0));
        /* a clean one clears VALID */
        svm_setup(g, D, 16, SCL_FOF, 8, 0);
        g->hart->x[16] = 0;
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI) >> 63, 0);
    }
    guest_free(g);
}

TEST(masked_elements_do_nothing, "")
{
    static const uint64_t bad[4] = {(uint64_t)NOWHERE - D, 1, (uint64_t)-8, UINT64_C(1) << 60};
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned scatter = 0; scatter < 2; scatter++) {
        for (unsigned zmode = 0; zmode < 2; zmode++) {
            for (unsigned mask = 0; mask < 2; mask++) {
                fill(g);
                set_mode(g, MODE_EW(1) | (zmode ? MODE_ZMODE : 0));
                set_bank(g, 3, mask ? 0x10 : 0); /* lane 4 is good */
                svm_setup(g, D, 16, SCL_FOF | SCL_SIGNED | (scatter ? SCL_GS : 0), 8, MODE_BOUND);
                guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, 64);
                set_lanes(g, bad, 4);
                g->hart->x[20] = 24;
                g->hart->units.rsv.svfaulti = FAULTI(5, 1);
                set_rsv(g, 5, 0);
                log_start(&log, g);
                guest_ok(g, "xmem.svm x8, x24, 3\n");
                guest_observe(g, NULL);
                CHECK_ID(mask != 0 ? "PM-007 XM-059 XM-070" : "PM-007 PM-009 XM-059 XM-070",
                         log.accesses == mask);
                CHECK_ID("PM-005 XM-070", events(g) == 0);
                CHECK_ID("PM-005 PM-009", guest_csr(g, FACET_CSR_SVFAULTI) >> 63 == 0);
                harness_row(scatter != 0 ? "" : mask != 0 ? "XM-060" : "PM-009 XM-060");
                for (unsigned i = 0; i < 5 && !scatter; i++) {
                    CHECK_EQ(g->hart->x[8 + i],
                             mask && i == 4 ? UINT64_C(0x8182838485868703)
                             : zmode        ? 0
                                            : 0xEE00 + i);
                }
                g->hart->units.rsv = (struct facet_rsv){0};
            }
        }
    }
    guest_free(g);
}

TEST(elements_use_the_current_domain, "XM-073")
{
    struct guest *g = guest_make("full");
    uint64_t a, index = 0;

    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 2);
    a = alloc(g, 64, 8, 0);
    for (unsigned strict = 0; strict < 2; strict++) {
        for (unsigned dom = 1; dom <= 3; dom++) {
            for (unsigned scatter = 0; scatter < 2; scatter++) {
                struct facet_trap trap;

                guest_csrw(g, FACET_CSR_CAP_XMEM_DESCPOL, strict << 6);
                guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, dom);
                svm_setup(g, a, 16, scatter ? SCL_GS : 0, 8, 0);
                set_lanes(g, &index, 1);
                trap = guest_run(g, "xmem.svm x8, x24\n");
                CHECK_EQ(trap.taken, strict && dom != 2);
                CHECK(!trap.taken || trap.cause == (scatter ? 7 : 5));
                CHECK(!trap.taken || trap.tval == a);
            }
        }
    }
    guest_free(g);
}

/* ---- conversion --------------------------------------------------------------------------------
 */

enum { STAT_UNSUP = 1 << 15, STAT_DOWN = 1 << 14, STAT_SAT = 1 << 13 };
#define ACCW(c) ((uint64_t)(c) << 24)

TEST(expand_widens_into_the_accumulator_format, "XM-061 XM-001")
{
    static const struct {
        uint64_t mode, element, x;
    } rows[] = {
        {MODE_PET(0) | MODE_EW(1), 0x3C00, 0x3F800000},       /* FP16 1.0 -> FP32 */
        {MODE_PET(0) | MODE_EW(1), 0xC000, 0xC0000000},       /* -2.0, zero-extended */
        {MODE_PET(0) | MODE_EW(1) | ACCW(1), 0xC000, 0xC000}, /* FP16 accumulator */
        {MODE_PET(2) | MODE_EW(1), 0x4049, 0x40490000},       /* BF16 */
        {MODE_PET(3) | MODE_EW(0) | ACCW(2), 0x85, UINT64_C(0xFFFFFFFFFFFFFF85)}, /* INT8 */
        {MODE_PET(3) | MODE_EW(0), 0x85, 0xC2F60000}, /* INT8 -123 -> FP32 */
        {MODE_PET(4) | MODE_EW(1) | ACCW(3), 0x8000, UINT64_C(0xFFFFFFFFFFFF8000)},
    };
    struct guest *g = guest_make("full");
    uint64_t index = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guest_store(g, D, 8, rows[i].element);
        set_mode(g, rows[i].mode);
        svm_setup(g, D, 16, 0, 0, MODE_EXPAND | MODE_COMPRESS);
        set_lanes(g, &index, 1);
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(g->hart->x[8], rows[i].x);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_STAT) & STAT_UNSUP, 0);
    }
    guest_free(g);
}

TEST(compress_narrows_from_the_accumulator_format, "XM-061")
{
    static const struct {
        uint64_t mode, x, element;
        unsigned size, st;
        uint64_t stat;
    } rows[] = {
        {MODE_PET(0) | MODE_EW(1), UINT64_C(0x55555555C0000000), 0xC000, 2, 0, STAT_DOWN},
        {MODE_PET(0) | MODE_EW(1), 0x47800000, 0x7C00, 2, 5, STAT_DOWN}, /* 65536: OF NX */
        {MODE_PET(0) | MODE_EW(1) | UINT64_C(1) << 30,
         0x47800000,
         0x7BFF,
         2,
         0,
         STAT_DOWN | STAT_SAT},
        {MODE_PET(3) | MODE_EW(0) | ACCW(2), (uint64_t)-5, 0xFB, 1, 0, STAT_DOWN},
        {MODE_PET(3) | MODE_EW(2) | ACCW(2), (uint64_t)-5, 0xFFFFFFFB, 4, 0, STAT_DOWN},
        {MODE_PET(3) | MODE_EW(0) | ACCW(2), 300, 0x2C, 1, 4, STAT_DOWN}, /* wraps: OF */
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guest_store(g, D, 8, UINT64_C(0x7777777777777777));
        guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
        set_mode(g, rows[i].mode);
        svm_setup(g, D, 0, SCL_GS, 0, MODE_COMPRESS);
        g->hart->x[24] = rows[i].x;
        guest_ok(g, "xmem.svm x8, x24\n"); /* index register x0 */
        CHECK_EQ(guest_load(g, D, rows[i].size), rows[i].element);
        CHECK_EQ(guest_load(g, D + rows[i].size, 1), 0x77);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), rows[i].st);
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_STAT) & (STAT_DOWN | STAT_SAT | STAT_UNSUP),
                 rows[i].stat);
    }
    guest_free(g);
}

TEST(zero_points_are_those_of_the_lane, "XM-061")
{
    struct guest *g = guest_make("full");
    uint64_t index[4] = {0, 0, 0, 0};

    guest_indirect_write(g, FACET_CSR_ZPTAB0, UINT64_C(0x0706050403020100));
    guest_store(g, D, 1, 100);
    /* INT8, INT32 accumulator, Q, ZP_EN = 2, ZP = 1 */
    set_mode(g, MODE_PET(3) | MODE_EW(0) | ACCW(2) | 0x20 | UINT64_C(2) << 14 | 1u << 6);
    svm_setup(g, D, 16, 0, 0, MODE_EXPAND);
    set_lanes(g, index, 4);
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.svm x8, x24\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[8 + i], 100 - (1 + i));
    }
    guest_free(g);
}

TEST(packed_or_sized_elements_move_raw, "XM-061")
{
    struct guest *g = guest_make("full");
    uint64_t index = 0;

    for (unsigned kind = 0; kind < 3; kind++) {
        guest_store(g, D, 8, 0x3C003C00);
        set_mode(g, MODE_PET(0) | MODE_EW(kind == 0 ? 2 : 1) | (kind == 0 ? UINT64_C(1) << 17 : 0));
        svm_setup(g, D, 16, 0, kind == 1 ? 4 : 0, MODE_EXPAND);
        set_lanes(g, &index, 1);
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(g->hart->x[8], kind < 2 ? 0x3C003C00 : 0x3F800000);
        CHECK_EQ((guest_csr(g, FACET_CSR_CAP_PREC_STAT) & STAT_UNSUP) != 0, kind < 2);
    }
    guest_free(g);
}

TEST(numeric_traps_write_nothing_and_keep_stickies, "XM-067")
{
    struct guest *g = guest_make("full");
    uint64_t index[4] = {0, 2, 4, 6};

    /* FP16: 1.0, signaling NaN, 2.0, signaling NaN */
    guest_store(g, D, 8, UINT64_C(0x7C0140007C013C00));
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0x10);
    set_mode(g, MODE_PET(0) | MODE_EW(1));
    svm_setup(g, D, 16, SCL_FOF, 0, MODE_EXPAND); /* FOF has no say in it */
    set_lanes(g, index, 4);
    set_rsv(g, 4, 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "xmem.svm x8, x24\n"), 0x10 | 1u << 8);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), FAULTI(24, 1));
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), 0x50);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[8 + i], 0xEE00 + i);
    }
    CHECK_EQ(events(g), 0);
    /* the same without conversion moves bits and raises nothing */
    g->hart->units.rsv = (struct facet_rsv){0};
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    svm_setup(g, D, 16, 0, 0, MODE_COMPRESS); /* of the other direction */
    set_lanes(g, index, 4);
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(g->hart->x[9], 0x7C01);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST), 0);
    guest_free(g);
}

TEST(out_of_bounds_zero_is_not_converted, "XM-069")
{
    struct guest *g = guest_make("full");
    uint64_t index = 64;

    /* INT8 with zero point 5 and FP32 accumulator: element 0 would widen to -5 */
    set_mode(g, MODE_PET(3) | MODE_EW(0) | 0x20 | UINT64_C(1) << 14 | 5u << 6);
    svm_setup(g, D, 16, 0, 0, MODE_EXPAND | MODE_BOUND | MODE_OOB_ZERO);
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, 8);
    set_lanes(g, &index, 1);
    guest_ok(g, "xmem.svm x8, x24\n");
    CHECK_EQ(g->hart->x[8], 0);
    CHECK_EQ(events(g), EV_INV_MISS);
    guest_free(g);
}

TEST(only_a_converting_svm_spends_the_one_shot_sae, "XM-001")
{
    struct guest *g = guest_make("full");

    for (unsigned convert = 0; convert < 2; convert++) {
        svm_setup(g, D, 0, 0, 0, convert ? MODE_EXPAND : 0);
        set_mode(g, MODE_PET(0) | MODE_EW(1) | 4); /* SAE one-shot */
        guest_ok(g, "xmem.svm x8, x24\n");
        CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE) >> 2 & 1, !convert);
    }
    guest_free(g);
}

/* ---- random cases ------------------------------------------------------------------------------
 */

enum fate { FATE_SKIP, FATE_ZERO, FATE_FAULT, FATE_ACCESS };

struct plan {
    enum fate fate[8];
    uint64_t address[8];
    unsigned cause[8];
};

/* Memory of the random cases: 512 bytes at D, nothing at NOWHERE. */
static void random_case(struct guest *g)
{
    uint64_t r = harness_random(), s = harness_random();
    unsigned vl = r % 8 + 1, mask = r >> 4 & 0xFF, size = 1u << (r >> 12 & 3);
    unsigned scale = (unsigned)(r >> 14) % 5;
    bool sign = r >> 18 & 1, scatter = r >> 19 & 1, fof = r >> 20 & 1, bound = r >> 21 & 1,
         zero = r >> 22 & 1, zmode = r >> 23 & 1;
    uint64_t limit = r >> 24 & 0xFF, memory[64], x[8];
    int index[8];
    struct plan plan;
    bool traps = false;
    unsigned stop = vl;

    for (unsigned i = 0; i < 64; i++) {
        memory[i] = harness_random();
        guest_store(g, D + 8 * i, 8, memory[i]);
    }
    set_mode(g, MODE_PET(1) | MODE_EW(2) | (zmode ? MODE_ZMODE : 0));
    set_bank(g, 1, mask);
    svm_setup(g,
              D + 256,
              16,
              scale | (sign ? SCL_SIGNED : 0) | (scatter ? SCL_GS : 0) | (fof ? SCL_FOF : 0),
              size,
              (bound ? MODE_BOUND : 0) | (zero ? MODE_OOB_ZERO : 0) | MODE_IDX_EW(1));
    guest_csrw(g, FACET_CSR_CAP_XMEM_SVMLIM, limit);
    for (unsigned i = 0; i < 8; i++) {
        /* mostly multiples of the size; small and negative */
        index[i] = (int)(s >> (8 * i) & 0x1F) - (sign ? 8 : 0);
        if ((r >> 40 & 3) != 0) {
            index[i] = index[i] * 8;
        }
        index[i] = sign ? (int)(int8_t)index[i] : index[i] & 0xFF;
        g->hart->x[16 + i] = UINT64_C(0x1234567812345600) | (uint8_t)index[i];
        g->hart->x[8 + i] = x[i] = 0xEE00 + i;
        g->hart->x[24 + i] = harness_random();
    }
    for (unsigned i = 0; i < vl; i++) {
        int offset = index[i] * (1 << scale);
        int64_t place = 256 + offset; /* in memory */

        plan.address[i] = D + (uint64_t)place;
        plan.fate[i] = FATE_ACCESS;
        if ((mask >> i & 1) == 0) {
            plan.fate[i] = FATE_SKIP;
        } else if (bound && (offset < 0 || offset + (int)size > (int)limit)) {
            plan.fate[i] = zero ? FATE_ZERO : FATE_FAULT;
            plan.cause[i] = scatter ? 7 : 5;
        } else if (plan.address[i] % size != 0) {
            plan.fate[i] = FATE_FAULT;
            plan.cause[i] = scatter ? 6 : 4;
        }
        if (plan.fate[i] == FATE_FAULT && stop == vl) {
            stop = i;
            traps = !fof;
        }
    }
    g->hart->units.rsv.svfaulti = 0;
    set_rsv(g, vl, 0);
    {
        struct facet_trap trap = guest_run(g, "xmem.svm x8, x24, 1\n");

        CHECK_EQ(trap.taken, traps);
        CHECK(!traps || trap.cause == plan.cause[stop]);
        CHECK(!traps || trap.tval == plan.address[stop]);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), stop < vl ? FAULTI(plan.cause[stop], stop) : 0);
    for (unsigned i = 0; i < stop && !traps; i++) {
        uint8_t *at = (uint8_t *)memory + (plan.address[i] - D) % 512; /* used when inside */

        if (plan.fate[i] == FATE_ACCESS && scatter && plan.address[i] - D < 512) {
            for (unsigned k = 0; k < size; k++) {
                at[k] = (uint8_t)(g->hart->x[24 + i] >> (8 * k));
            }
        } else if (!scatter && plan.fate[i] == FATE_ACCESS && plan.address[i] - D < 512) {
            x[i] = 0;
            for (unsigned k = 0; k < size; k++) {
                x[i] |= (uint64_t)at[k] << (8 * k);
            }
        } else if (!scatter && plan.fate[i] == FATE_ACCESS) {
            x[i] = g->hart->x[8 + i]; /* DRAM outside the picture */
        } else if (!scatter && (plan.fate[i] == FATE_ZERO || zmode)) {
            x[i] = 0;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[8 + i], x[i]);
    }
    for (unsigned i = 0; i < 64; i++) {
        CHECK_EQ(guest_load(g, D + 8 * i, 8), facet_load_le((uint8_t *)&memory[i], 8));
    }
    (void)events(g);
    g->hart->units.rsv = (struct facet_rsv){0};
}

TEST(random_cases_agree_with_a_plan, "XM-061 XM-066 XM-067 XM-068 XM-069 XM-143")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 600 && !harness_failed(); i++) {
        random_case(g);
    }
    guest_free(g);
}
