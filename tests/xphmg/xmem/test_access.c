/* XMEM.LDG, XMEM.STG and XLDS.ATOMS, scalar and under RSV, with predication, ZMODE, faults and
 * hints. Loads and stores are compared with the base instructions of the same width, atomics with a
 * table worked out by hand and with the AMOs of the base ISA. */
#include "xphmg/xmem/xmem_test.h"

#include "assembler/assemble.h"
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>

enum { D = GUEST_DATA };

/* ---- scalar ------------------------------------------------------------------------------------
 */

TEST(loads_extend_as_base_loads, "XM-103 XM-024 XM-080")
{
    static const char *const kinds[] = {"b", "h", "w", "d", "bu", "hu", "wu"};
    static const unsigned sizes[] = {1, 2, 4, 8, 1, 2, 4};
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 16; i++) {
        guest_store(g, D + i, 1, 0x7E + 0x11 * i);
    }
    for (unsigned k = 0; k < 7; k++) {
        for (unsigned at = 0; at < 16; at += sizes[k]) {
            for (unsigned hint = 0; hint < 64; hint += at == 0 ? 1 : 63) {
                g->hart->x[10] = D + at;
                guest_ok(
                    g, "xmem.ldg.%s a1, (a0), hint=%u\n l%s a2, 0(a0)\n", kinds[k], hint, kinds[k]);
                CHECK_EQ(g->hart->x[11], g->hart->x[12]);
            }
        }
    }
    guest_free(g);
}

TEST(stores_write_as_base_stores, "XM-104 XM-024 XM-080")
{
    static const char *const kinds[] = {"b", "h", "w", "d"};
    struct guest *g = guest_make("full");

    for (unsigned k = 0; k < 4; k++) {
        for (unsigned hint = 0; hint < 64; hint++) {
            for (unsigned i = 0; i < 32; i += 8) {
                guest_store(g, D + i, 8, UINT64_MAX);
            }
            g->hart->x[10] = D;
            g->hart->x[11] = UINT64_C(0x8877665544332211);
            guest_ok(g,
                     "xmem.stg.%s a1, (a0), hint=%u\n addi a2, a0, 16\n s%s a1, 0(a2)\n",
                     kinds[k],
                     hint,
                     kinds[k]);
            CHECK_EQ(guest_load(g, D, 8), guest_load(g, D + 16, 8));
            CHECK(guest_load(g, D, 8) != UINT64_MAX);
        }
    }
    guest_free(g);
}

static uint32_t word_of(const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "word.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint64_t base = 0;
    uint8_t *bytes = NULL;
    size_t size = 0;
    uint32_t word = 0;

    if (CHECK(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK) &&
        facet_object_flatten(result.object, &bytes, &size, &base, &err) == FACET_OK && size == 4) {
        word = (uint32_t)facet_load_le(bytes, 4);
    }
    free(bytes);
    facet_asm_result_free(&result);
    return word;
}

TEST(hint_names_have_their_bits, "")
{
    static const char *const names[6] = {
        "L1_ONLY", "L2_ONLY", "LDS_PREF", "NONTEMP", "LOCK", "STREAM"};
    uint32_t load = word_of("xmem.ldg.w a0, (a1)\n"), store = word_of("xmem.stg.w a0, (a1)\n");

    for (unsigned i = 0; i < 6; i++) {
        char text[64];
        struct guest *g = guest_make("full");

        static const char *const ids[] = {
            "XM-105", "XM-106", "XM-107", "XM-108", "XM-109", "XM-110"};

        harness_row(ids[i]);
        (void)snprintf(text, sizeof text, "xmem.ldg.w a0, (a1), hint=%s\n", names[i]);
        CHECK_EQ(word_of(text), load | 1u << (20 + i)); /* bits 25:20 */
        (void)snprintf(text, sizeof text, "xmem.stg.w a0, (a1), hint=%s\n", names[i]);
        CHECK_EQ(word_of(text), store | (i == 5 ? 1u << 25 : 1u << (7 + i)));
        /* data unaffected */
        guest_store(g, D, 4, 0x12345678);
        g->hart->x[11] = D;
        guest_ok(g,
                 "xmem.ldg.w a0, (a1), hint=%s\n addi a1, a1, 8\n"
                 "xmem.stg.w a0, (a1), hint=%s\n",
                 names[i],
                 names[i]);
        CHECK_EQ(g->hart->x[10], 0x12345678);
        CHECK_EQ(guest_load(g, D + 8, 8), 0x12345678);
        guest_free(g);
    }
}

TEST(hints_are_told_as_far_as_the_machine_has_them, "XM-118 XM-109")
{
    static const struct {
        const char *config;
        uint64_t cap, told;
    } rows[] = {{"full", 0x1FFF, 0x3F}, {"min", 0x0001, 0x24}, {"full", 0x1FFF & ~0x40u, 0x37}};
    static struct log log;

    for (unsigned i = 0; i < 3; i++) {
        struct guest *g = guest_make(rows[i].config);
        const struct facet_unit_event *event;

        guest_configure(g, "xmem_cap", rows[i].cap);
        guest_csrw(g, FACET_CSR_CAP_XMEM_L1CFG, UINT64_C(1) << 24 | UINT64_C(1) << 20);
        log_start(&log, g);
        g->hart->x[11] = D;
        guest_ok(g, "xmem.ldg.w a0, (a1), hint=63\n");
        event = log_find(&log, "hint");
        if (CHECK(event != NULL)) {
            CHECK_EQ(event->values[0], rows[i].told);
            CHECK_EQ(event->values[1], (rows[i].cap & 0x200) != 0 ? 1 : 0);
            CHECK_EQ(event->values[2], 15);
        }
        guest_observe(g, NULL);
        CHECK_EQ(guest_indirect_read(g, FACET_CSR_XLOCKN), (rows[i].cap & 0x20) != 0 ? 1 : 0);
        CHECK_EQ(events(g), 0);
        guest_free(g);
    }
}

TEST(misaligned_and_unmapped_accesses_trap_with_an_event, "XM-140 XM-099 XM-098")
{
    static const struct {
        const char *text;
        uint64_t address;
        unsigned cause;
    } rows[] = {
        {"xmem.ldg.d a1, (a0)", D + 1, 4},
        {"xmem.ldg.hu a1, (a0)", D + 1, 4},
        {"xmem.ldg.w a1, (a0)", NOWHERE, 5},
        {"xmem.ldg.w a1, (a0)", NOWHERE + 2, 4}, /* alignment first */
        {"xmem.stg.d a1, (a0)", D + 4, 6},
        {"xmem.stg.b a1, (a0)", NOWHERE, 7},
        {"xlds.atoms.add.w a1, (a0), a2", D, 7}, /* DRAM is not LDS */
        {"xlds.atoms.add.w a1, (a0), a2", LDS + 1, 6},
        {"xlds.atoms.add.d a1, (a0), a2", LDS + 4, 6},
        {"xlds.atoms.cas.d a1, (a0), a2", LDS + LDS_BYTES, 7},
        {"xlds.atoms.swap.w a1, (a0), a2", LDS - 4, 7},
        {"xlds.atoms.swap.w a1, (a0), a2", D + 1, 6},
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_trap trap = with3(g, rows[i].text, rows[i].address, 99, 5);

        CHECK_EQ(trap.taken, true);
        CHECK_EQ(trap.cause, rows[i].cause);
        CHECK_EQ(trap.tval, rows[i].address);
        CHECK_EQ(g->hart->mepc, GUEST_CODE);
        CHECK_EQ(g->hart->x[11], 99);
        CHECK_EQ(events(g), EV_INV_MISS);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0); /* no RSV: not touched */
    guest_free(g);
}

/* ---- predication -------------------------------------------------------------------------------
 */

TEST(scalar_predication_is_lane_zero, "")
{
    struct guest *g = guest_make("full");

    guest_store(g, D, 8, 1234);
    for (unsigned bit = 0; bit < 2; bit++) {
        for (unsigned zmode = 0; zmode < 2; zmode++) {
            set_mode(g, MODE_EW(1) | (zmode ? MODE_ZMODE : 0));
            set_bank(g, 1, bit ? UINT64_C(1) : ~UINT64_C(1));
            CHECK(!with3(g, "xmem.ldg.d a1, (a0), 0, 1", D, 77, 0).taken);
            CHECK_ID("PM-003 PM-026 PM-079 XM-054",
                     g->hart->x[11] == (bit     ? 1234
                                        : zmode ? 0
                                                : 77));
            if (!bit) {
                CHECK_ID(zmode ? "PM-002" : "PM-001", g->hart->x[11] == (zmode ? 0 : 77));
            }
            /* bank 0 always executes */
            CHECK(!with3(g, "xmem.ldg.d a1, (a0), 0, 0", D, 77, 0).taken);
            CHECK_ID("PM-023 XM-055", g->hart->x[11] == 1234);
        }
    }
    /* banks 2 and 3 are empty */
    CHECK(!with3(g, "xmem.ldg.d a1, (a0), 0, 2", NOWHERE, 77, 0).taken);
    CHECK(!with3(g, "xmem.stg.d a1, (a0), 0, 3", NOWHERE, 77, 0).taken);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(banks_that_are_not_there_are_illegal, "PM-018")
{
    static const char *const rows[] = {
        "xmem.ldg.d a1, (a0), 0, 2", "xmem.stg.b a1, (a0), 0, 3", "xmem.svm a1, a2, 2"};
    struct guest *g = guest_make("min");

    for (unsigned i = 0; i < 3; i++) {
        struct facet_trap trap = with3(g, rows[i], D, 77, 0);

        CHECK_EQ(trap.cause, FACET_CAUSE_ILLEGAL);
        CHECK_EQ(trap.tval, guest_load(g, GUEST_CODE, 4));
    }
    CHECK(!with3(g, "xmem.ldg.d a1, (a0), 0, 1", D, 77, 0).taken);
    /* without PMASK bank 0 is all there is, and every lane is active */
    guest_configure(g, "pmask_present", 0);
    CHECK_EQ(with3(g, "xmem.ldg.d a1, (a0), 0, 1", D, 77, 0).cause, FACET_CAUSE_ILLEGAL);
    CHECK(!with3(g, "xmem.ldg.d a1, (a0)", D, 77, 0).taken);
    CHECK_EQ(g->hart->x[11], 0);
    guest_free(g);
}

TEST(bank_fields_sit_where_the_table_says, "PM-015")
{
    CHECK_EQ(word_of("pmclr 3\n") ^ word_of("pmclr 0\n"), 3u << 20);
    CHECK_EQ(word_of("xmem.ldg.d a0, (a1), 0, 3\n") ^ word_of("xmem.ldg.d a0, (a1)\n"), 3u << 29);
    CHECK_EQ(word_of("xmem.stg.d a0, (a1), 0, 3\n") ^ word_of("xmem.stg.d a0, (a1)\n"), 3u << 29);
    CHECK_EQ(word_of("xmem.svm a0, a1, 3\n") ^ word_of("xmem.svm a0, a1\n"), 3u << 25);
}

/* x16.. hold the addresses of lanes, x24.. the values; x8.. receive. */
static void lane_registers(struct guest *g)
{
    for (unsigned i = 0; i < 8; i++) {
        g->hart->x[8 + i] = 0xEE00 + i;
        g->hart->x[16 + i] = D + 8 * i;
        g->hart->x[24 + i] = 0x5500 + i;
        guest_store(g, D + 8 * i, 8, 0x1100 + i);
    }
}

TEST(lanes_of_loads_follow_the_bank, "")
{
    struct guest *g = guest_make("full");
    static struct log log;

    for (unsigned mask = 0; mask < 256; mask += mask < 3 ? 1 : 13) {
        for (unsigned zmode = 0; zmode < 2; zmode++) {
            set_mode(g, MODE_EW(1) | (zmode ? MODE_ZMODE : 0));
            set_bank(g, 2, mask | UINT64_C(0xFF00)); /* bits at and above VL do nothing */
            lane_registers(g);
            for (unsigned i = 0; i < 8; i++) {
                if ((mask >> i & 1) == 0) {
                    g->hart->x[16 + i] = NOWHERE + 1; /* never accessed */
                }
            }
            set_rsv(g, 8, 0);
            log_start(&log, g);
            guest_ok(g, "xmem.ldg.d x8, (x16), 0, 2\n");
            guest_observe(g, NULL);
            CHECK_ID("PM-080 XM-053 XM-056", log.accesses == (unsigned)__builtin_popcount(mask));
            harness_row(zmode != 0 ? "PM-014 PM-026 PM-079 XM-054 XM-060" : "PM-014 XM-054 XM-143");
            for (unsigned i = 0; i < 8; i++) {
                CHECK_EQ(g->hart->x[8 + i], mask >> i & 1 ? 0x1100 + i : zmode ? 0 : 0xEE00 + i);
            }
            CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE), 7); /* the one-shot is spent */
        }
    }
    harness_row("XM-055"); /* pbank 0: all lanes although the banks are empty */
    set_bank(g, 2, 0);
    lane_registers(g);
    set_rsv(g, 8, 0);
    guest_ok(g, "xmem.ldg.d x8, (x16)\n");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[8 + i], 0x1100 + i);
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(lanes_of_stores_follow_the_bank, "PM-004 PM-016 PM-080 XM-053 XM-057")
{
    struct guest *g = guest_make("full");

    for (unsigned mask = 0; mask < 256; mask += 5) {
        set_bank(g, 3, mask);
        lane_registers(g);
        for (unsigned i = 0; i < 8; i++) {
            if ((mask >> i & 1) == 0 && (i & 1) == 0) {
                g->hart->x[16 + i] = NOWHERE; /* no fault */
            }
        }
        set_rsv(g, 8, 0);
        guest_ok(g, "xmem.stg.w x24, (x16), 0, 3\n");
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(guest_load(g, D + 8 * i, 8), mask >> i & 1 ? 0x5500 + i : 0x1100 + i);
        }
    }
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(sixty_four_lanes_store_exactly_the_set_ones, "PM-016 PM-014")
{
    struct guest *g = guest_make("full");

    for (unsigned round = 0; round < 16; round++) {
        uint64_t mask = harness_random();

        for (unsigned i = 0; i < 64; i++) {
            guest_store(g, D + 8 * i, 8, 0);
        }
        set_bank(g, 2, mask);
        /* 64 lanes walk over x0..x31 twice; give each register its own address, so lanes i and
         * i + 32 share one place */
        for (unsigned i = 1; i < 32; i++) {
            g->hart->x[i] = D + 8 * i;
        }
        g->hart->units.rsv.svsrca = FACET_SVSRCA_V | 1u << 8; /* base x0, stride 1 */
        g->hart->units.rsv.svsrcb = FACET_SVSRCB_V | 31;      /* x31, stride 0 */
        set_bank(g, 1, 0);
        g->hart->x[5] = D + 8 * 5; /* set_bank used t0 */
        set_rsv(g, 64, 0);
        if ((mask & UINT64_C(0x0000000100000001)) == 0) { /* x0 would be address 0 */
            guest_ok(g, "xmem.stg.b x1, (x1), 0, 2\n");
            for (unsigned i = 1; i < 32; i++) {
                bool set = (mask >> i & 1) != 0 || (mask >> (i + 32) & 1) != 0;

                CHECK_EQ(guest_load(g, D + 8 * i, 8), set ? (D + 8 * 31) & 0xFF : 0);
            }
        }
        g->hart->units.rsv = (struct facet_rsv){0};
    }
    guest_free(g);
}

TEST(a_faulting_lane_leaves_every_destination, "PM-005 XM-067")
{
    struct guest *g = guest_make("full");
    uint64_t state;

    lane_registers(g);
    g->hart->x[16 + 2] = NOWHERE + 1;
    g->hart->x[16 + 5] = D + 1;
    set_rsv(g, 8, 0);
    state = g->hart->units.rsv.svstate;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_MISALIGNED, "xmem.ldg.d x8, (x16)\n"), NOWHERE + 1);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[8 + i], 0xEE00 + i);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 4u << 16 | 2);
    /* trap entry saved EN; the rest of the state is as before */
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE), (state & ~SV_EN) | UINT64_C(1) << 34);
    CHECK_EQ(events(g), EV_INV_MISS);
    g->hart->units.rsv = (struct facet_rsv){0};
    set_rsv(g, 8, 0);
    g->hart->x[16 + 2] = D + 16;
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_MISALIGNED, "xmem.stg.d x24, (x16)\n"), D + 1);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(guest_load(g, D + 8 * i, 8), 0x1100 + i);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 6u << 16 | 5);
    /* masked: no trap, no event */
    g->hart->units.rsv = (struct facet_rsv){0};
    (void)events(g);
    set_bank(g, 1, 0xDF);
    lane_registers(g);
    g->hart->x[16 + 5] = NOWHERE + 1;
    set_rsv(g, 8, 0);
    guest_ok(g, "xmem.ldg.d x8, (x16), 0, 1\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0);
    CHECK_EQ(events(g), 0);
    guest_free(g);
}

TEST(lanes_read_before_any_lane_writes, "XM-143")
{
    struct guest *g = guest_make("full");

    /* destinations are the next lanes' addresses */
    for (unsigned i = 0; i < 5; i++) {
        g->hart->x[16 + i] = D + 8 * i;
        guest_store(g, D + 8 * i, 8, 0x700 + i);
    }
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.ldg.d x17, (x16)\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[17 + i], 0x700 + i);
    }
    /* equal addresses: the highest lane wins */
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[16 + i] = D;
        g->hart->x[24 + i] = 10 + i;
    }
    set_rsv(g, 4, 0);
    guest_ok(g, "xmem.stg.d x24, (x16)\n");
    CHECK_EQ(guest_load(g, D, 8), 13);
    guest_free(g);
}

/* ---- atomics -----------------------------------------------------------------------------------
 */

/* An x0 base is no window: lane 1 reads address 0 and not what x1 points to. */
TEST(x0_as_an_address_is_not_windowed, "RSV-018")
{
    struct guest *g = guest_make("full");

    set_mode(g, MODE_EW(1));
    set_bank(g, 1, 2);
    g->hart->x[1] = D;
    set_rsv(g, 2, 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "xmem.ldg.d x8, (x0), 0, 1\n"), 0);
    set_rsv(g, 2, 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "xmem.stg.d x8, (x0), 0, 1\n"), 0);
    /* Nor is an x0 destination: what lane 1 loads goes nowhere, not to x1. */
    g->hart->x[1] = 77;
    g->hart->x[8] = g->hart->x[9] = D;
    set_rsv(g, 2, 0);
    guest_ok(g, "xmem.ldg.d x0, (x8), 0, 1\n");
    CHECK_EQ(g->hart->x[1], 77);
    guest_free(g);
}

TEST(atomics_by_hand, "")
{
    static const struct {
        const char *op;
        uint64_t old, value, rd, word, dword; /* new memory for .w and .d */
        const char *ids;
    } rows[] = {
        {"add", UINT64_C(0x7FFFFFFF), 1, 0, 0x80000000, UINT64_C(0x80000000), "XM-088"},
        {"add", UINT64_MAX, 2, 0, 1, 1, "XM-088"},
        {"swap",
         5,
         UINT64_C(0x1122334455667788),
         0,
         0x55667788,
         UINT64_C(0x1122334455667788),
         "XM-089"},
        {"and", 0xF0F0, 0xFF00, 0, 0xF000, 0xF000, "XM-090"},
        {"or", 0xF0F0, 0xFF00, 0, 0xFFF0, 0xFFF0, "XM-091"},
        {"xor", 0xF0F0, 0xFF00, 0, 0x0FF0, 0x0FF0, "XM-092"},
        {"min", 1, UINT64_MAX, 0, 0xFFFFFFFF, UINT64_MAX, "XM-093"},
        {"min", UINT64_C(0x80000000), 1, 0, 0x80000000, 1, "XM-093"},
        {"max", 1, UINT64_MAX, 0, 1, 1, "XM-094"},
        {"max", UINT64_C(0x80000000), 1, 0, 1, UINT64_C(0x80000000), "XM-094"},
        {"minu", 1, UINT64_MAX, 0, 1, 1, "XM-095"},
        {"minu", 9, 3, 0, 3, 3, "XM-095"},
        {"maxu", 1, UINT64_MAX, 0, 0xFFFFFFFF, UINT64_MAX, "XM-096"},
        {"maxu", 9, 3, 0, 9, 9, "XM-096"},
        {"cas", 7, 100, 7, 100, 100, "XM-097"},
        {"cas", 7, 100, 8, 7, 7, "XM-097"},
        {"cas", 7, 100, UINT64_C(0x500000007), 100, 7, "XM-097"}, /* .w compares 32 bits */
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guest_store(g, LDS + 8, 8, UINT64_C(0xCCCCCCCC00000000));
        guest_store(g, LDS + 8, 4, rows[i].old);
        guest_store(g, LDS + 16, 8, rows[i].old);
        g->hart->x[10] = LDS + 8;
        g->hart->x[11] = rows[i].value;
        g->hart->x[12] = g->hart->x[13] = rows[i].rd;
        guest_ok(g,
                 "xlds.atoms.%s.w a2, (a0), a1\n addi a0, a0, 8\n xlds.atoms.%s.d a3, (a0), a1\n",
                 rows[i].op,
                 rows[i].op);
        harness_row(rows[i].ids);
        CHECK_EQ(guest_load(g, LDS + 8, 8), UINT64_C(0xCCCCCCCC00000000) | (uint32_t)rows[i].word);
        CHECK_EQ(guest_load(g, LDS + 16, 8), rows[i].dword);
        CHECK_EQ(g->hart->x[12], (uint64_t)(int64_t)(int32_t)rows[i].old);
        CHECK_EQ(g->hart->x[13], rows[i].old);
        CHECK_ID("XM-078", guest_load(g, LDS + 16, 8) == rows[i].dword);
    }
    guest_free(g);
}

TEST(atomics_agree_with_the_base_amos, "XM-078 XM-088 XM-093 XM-094 XM-095 XM-096")
{
    static const char *const ops[] = {
        "add", "swap", "and", "or", "xor", "min", "max", "minu", "maxu"};
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 400 && !harness_failed(); i++) {
        uint64_t r = harness_random();
        const char *op = ops[r % 9], *width = r >> 8 & 1 ? "w" : "d";
        uint64_t old = harness_random() >> (r >> 10 & 32), value = harness_random();

        guest_store(g, LDS, 8, old);
        guest_store(g, D, 8, old);
        g->hart->x[10] = LDS;
        g->hart->x[11] = value;
        g->hart->x[14] = D;
        guest_ok(
            g, "xlds.atoms.%s.%s a2, (a0), a1\n amo%s.%s a3, a1, (a4)\n", op, width, op, width);
        CHECK_EQ(g->hart->x[12], g->hart->x[13]);
        CHECK_EQ(guest_load(g, LDS, 8), guest_load(g, D, 8));
    }
    guest_free(g);
}

TEST(atomic_lanes_go_one_after_the_other, "PM-027 XM-058 XM-060 XM-078")
{
    struct guest *g = guest_make("full");

    for (unsigned zmode = 0; zmode < 2; zmode++) {
        for (unsigned pbank = 0; pbank < 2; pbank++) {
            unsigned active = pbank == 0 ? 0xF : 0xB; /* lane 2 masked by bank 1 */
            uint64_t sum = 100;

            set_mode(g, MODE_EW(1) | (zmode ? MODE_ZMODE : 0));
            set_bank(g, 1, 0xB);
            guest_store(g, LDS, 8, 100);
            for (unsigned i = 0; i < 4; i++) {
                g->hart->x[8 + i] = 0xEE;
                g->hart->x[16 + i] = LDS;
                g->hart->x[24 + i] = 1u << (4 * i);
            }
            set_rsv(g, 4, (uint64_t)pbank << 10);
            guest_ok(g, "xlds.atoms.add.w x8, (x16), x24\n");
            for (unsigned i = 0; i < 4; i++) {
                bool on = active >> i & 1;

                CHECK_EQ(g->hart->x[8 + i], on ? sum : zmode ? 0 : 0xEE);
                sum += on ? 1u << (4 * i) : 0;
            }
            CHECK_EQ(guest_load(g, LDS, 8), sum);
            g->hart->units.rsv = (struct facet_rsv){0};
        }
    }
    /* with EN = 0 the bank does not count: SVSTATE.PBANK is not looked at */
    set_bank(g, 1, 0);
    g->hart->units.rsv.svstate = UINT64_C(1) << 10;
    CHECK(!with3(g, "xlds.atoms.add.w a2, (a0), a1", LDS, 1, 0xEE).taken);
    CHECK(g->hart->x[12] != 0xEE);
    guest_free(g);
}

TEST(an_atomic_that_faults_writes_nothing, "XM-098 XM-099")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[8 + i] = 0xEE;
        g->hart->x[16 + i] = LDS + 8 * i;
        g->hart->x[24 + i] = 1;
        guest_store(g, LDS + 8 * i, 8, 40 + i);
    }
    g->hart->x[19] = D;
    set_rsv(g, 4, 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "xlds.atoms.add.d x8, (x16), x24\n"), D);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[8 + i], 0xEE);
        CHECK_EQ(guest_load(g, LDS + 8 * i, 8), 40 + i);
    }
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), UINT64_C(1) << 63 | 7u << 16 | 3);
    guest_free(g);
}

/* ---- the pending fpctl -------------------------------------------------------------------------
 */

TEST(a_pending_zmode_is_obeyed_and_spent, "PM-026")
{
    static const struct {
        const char *text;
        bool spends;
    } rows[] = {{"xmem.ldg.d a1, (a0), 0, 1", true},
                {"xmem.svm a1, a2, 1", true},
                {"xlds.atoms.add.w a1, (a0), a2", true},
                {"xmem.stg.d a1, (a0), 0, 1", false}};
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 4; i++) {
        set_bank(g, 1, 0);
        g->hart->units.rsv.svstate = UINT64_C(1) << 21 | UINT64_C(1) << 26; /* FPC_V, FPC_Z */
        CHECK(!with3(g, rows[i].text, LDS, 77, 0).taken);
        if (i < 2) {
            CHECK_EQ(g->hart->x[11], 0);
        }
        CHECK_EQ(g->hart->units.rsv.svstate >> 21 & 1, !rows[i].spends);
    }
    guest_free(g);
}
