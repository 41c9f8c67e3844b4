/* MTX by example: the worked examples 39 to 44 of gfx-semantics.md 18, legality, banks, counters,
 * helpers, status. Random states against an independent formulation are in test_random.c, lanes
 * and memory policy in test_lanes.c, jobs in test_job.c. */
#include "xphmg/guest.h"

#include "isa/isa.h"

#include <stdio.h>

enum { IN = GUEST_DATA, OUT = GUEST_DATA + 0x4000, MATRIX = GUEST_DATA + 0x8000 };

/* MODE images (numeric.md 14). */
enum {
    FP16 = 0x00080000,       /* accumulator FP32 */
    FP16_ACC16 = 0x01080000, /* accumulator FP16 */
    FP32 = 0x00300000,
    BF16 = 0x00480000,
    INT8 = 0x02600000, /* accumulator INT32 */
};

static void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | FACET_CAP_PREC_MODE_APPLY0);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
}

static unsigned raised(const struct guest *g)
{
    return (unsigned)(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) |
                      (guest_csr(g, FACET_CSR_CAP_PREC_STAT) & FACET_FLAGS_STAT));
}

static void put(struct guest *g, uint64_t at, unsigned size, unsigned count, const uint32_t *v)
{
    for (unsigned i = 0; i < count; i++) {
        guest_store(g, at + (uint64_t)i * size, size, v[i]);
    }
}

static void expect(struct guest *g,
                   const char *what,
                   uint64_t at,
                   unsigned size,
                   unsigned count,
                   const uint32_t *v)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t got = guest_load(g, at + (uint64_t)i * size, size);

        CHECK_MSG(got == v[i],
                  "%s: element %u is %llx, expected %x",
                  what,
                  i,
                  (unsigned long long)got,
                  v[i]);
    }
}

#define PUT(g, at, size, ...)                                                                      \
    put(g, at, size, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})
#define EXPECT(g, what, at, size, ...)                                                             \
    expect(g, what, at, size, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* a0 = matrix, a1 = input, a2 = output. */
static void point(struct guest *g)
{
    g->hart->x[10] = MATRIX;
    g->hart->x[11] = IN;
    g->hart->x[12] = OUT;
}

static uint64_t stat(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_MTXSTAT);
}

/* A word of a bank through the CSRs, as software reads it. */
static uint64_t bank_word(struct guest *g, unsigned csr, unsigned word)
{
    uint64_t sel = guest_csr(g, FACET_CSR_MTXSEL), value;

    guest_csrw(g, FACET_CSR_MTXSEL, FACET_PUT(sel, MTXSEL_WORD, word));
    value = guest_csrr(g, csr);
    guest_csrw(g, FACET_CSR_MTXSEL, sel);
    return value;
}

/* ---- worked examples --------------------------------------------------------------------------
 */

TEST(examples_39_and_40_multiply, "")
{
    struct guest *g = guest_make("full");

    point(g);
    PUT(g, MATRIX, 2, 0x3C00, 0x3800, 0x4000, 0xBC00, 0x3400, 0x4200);
    PUT(g, IN, 2, 0x3C66, 0x4066, 0x3C00);
    guest_ok(g, "mtx.ld a0, shape=6, rowmajor=1\n mtx.mul a2, a1, shape=6\n");
    harness_row("MTX-001 MTX-101 MTX-108");
    EXPECT(g, "39", OUT, 2, 0x4433, 0x40E6, 0);
    CHECK_ID("MTX-059 MTX-066 MTX-071", raised(g) == (FACET_DOWN | FACET_NX));
    CHECK_ID("MTX-107", g->hart->x[12] == OUT); /* rd is only read */
    set_mode(g, FP16);
    PUT(g, IN, 2, 0x3C00, 0x4000);
    guest_ok(g, "mtx.mul a2, a1, shape=6, transpose=1\n");
    EXPECT(g, "40", OUT, 2, 0xBC00, 0x3C00, 0x4800, 0);
    CHECK_ID("MTX-059 MTX-066", raised(g) == FACET_DOWN);
    guest_free(g);
}

TEST(example_41_multiply_and_add, "MTX-111 MTX-100 MTX-052 MTX-110")
{
    struct guest *g = guest_make("full");

    point(g);
    set_mode(g, FP32);
    PUT(g,
        MATRIX,
        4,
        0x3F800000,
        0,
        0,
        0x41200000,
        0,
        0x40000000,
        0,
        0x41A00000,
        0,
        0,
        0x3DCCCCCD,
        0x41F00000,
        0,
        0,
        0xBF800000,
        0,
        /* bias */ 0x3F000000,
        0x3F000000,
        0x3F000000,
        0x3DCCCCCD);
    PUT(g, IN, 4, 0x3F800000, 0x40000000, 0x40400000, 0x3F800000);
    guest_ok(g, "mtx.ld a0, shape=15, rowmajor=1, with_bias=1\n .word 0x00f5c65b\n");
    EXPECT(g, "41", OUT, 4, 0x41380000, 0x41C40000, 0x41F66666, 0xC039999A);
    CHECK_EQ(raised(g), FACET_NX);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_CAP_PREC_STAT), CAP_PREC_STAT_EFF_PET), 1);
    guest_free(g);
}

TEST(example_42_saturates_by_cap_and_by_nothing_else, "")
{
    struct guest *g = guest_make("full");

    point(g);
    PUT(g, MATRIX, 1, 0x64, 0x1B, 0x80, 0x7F);
    PUT(g, IN, 1, 0x02, 0x03);
    set_mode(g, INT8 | FACET_CAP_PREC_MODE_SAT);
    guest_ok(g, "mtx.ld a0, shape=5, rowmajor=1\n mtx.mul a2, a1, shape=5\n");
    harness_row("MTX-078");
    EXPECT(g, "42 SAT=1", OUT, 1, 0x7F, 0x7D, 0);
    CHECK_ID("MTX-064", raised(g) == (FACET_DOWN | FACET_SAT));
    CHECK_ID("MTX-030", FACET_GET(stat(g), MTXSTAT_OPS_SATURATED) == 1);
    harness_row("");
    set_mode(g, INT8);
    guest_ok(g, "mtx.mul a2, a1, shape=5\n");
    EXPECT(g, "42 SAT=0", OUT, 1, 0x19, 0x7D, 0);
    CHECK_ID("MTX-069", raised(g) == (FACET_DOWN | FACET_OF));
    CHECK_ID("MTX-030", FACET_GET(stat(g), MTXSTAT_OPS_SATURATED) == 1);
    /* Neither the hint of the instruction nor MTXCFG changes that. */
    guest_csrw(g, FACET_CSR_MTXCFG, FACET_MTXCFG_SAT_EN | FACET_MTXCFG_BIAS_EN);
    CHECK_ID("MTX-021 MTX-022", guest_csrr(g, FACET_CSR_MTXCFG) == 6);
    harness_row("MTX-004 MTX-021 MTX-022 MTX-104");
    PUT(g, OUT, 1, 0, 0);
    guest_ok(g, "mtx.mul a2, a1, shape=5, sat_hint=1\n");
    EXPECT(g, "42 hint", OUT, 1, 0x19, 0x7D);
    guest_free(g);
}

TEST(example_43_transpose_of_a_composite_tile, "MTX-043 MTX-083 MTX-084 MTX-038")
{
    static const unsigned map[][2] = {{0, 0}, {17, 20}, {31, 31}, {24, 18}};
    struct guest *g = guest_make("full");

    point(g);
    for (unsigned e = 0; e < 32; e++) {
        guest_store(g, IN + 2 * e, 2, 0x7C00 + e); /* infinities and NaNs: raw bits */
    }
    guest_ok(g, "mtx.transpose a2, a1, m_blk=0, n_blk=1\n");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(guest_load(g, OUT + 2 * map[i][1], 2), 0x7C00 + map[i][0]);
    }
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

TEST(example_44_accumulator_width_matters, "MTX-058 MTX-090 MTX-009 MTX-052")
{
    struct guest *g = guest_make("full");

    point(g);
    PUT(g, IN, 2, 0x2E66, 0x63D0, 0x3266, 0xE3D0);
    set_mode(g, FP16_ACC16);
    guest_ok(g, "mtx.red a3, a1\n");
    CHECK_EQ(g->hart->x[13], 0);
    CHECK_EQ(raised(g), FACET_NX);
    set_mode(g, FP16);
    g->hart->x[13] = ~0ull;
    guest_ok(g, "mtx.red a3, a1\n");
    CHECK_EQ(g->hart->x[13], 0x34CC); /* the whole register is replaced */
    CHECK_EQ(raised(g), FACET_DOWN | FACET_NX);
    guest_free(g);
}

TEST(words_of_the_encoding_table, "MTX-094 MTX-095 MTX-096 MTX-097 MTX-102 MTX-110 MTX-003")
{
    static const struct {
        const char *text;
        uint32_t word;
    } words[] = {{"mtx.ld x10, shape=6, rowmajor=1", 0x0265005B},
                 {"mtx.mul x12, x11, shape=6, vec_count=7", 0x1C65965B},
                 {"mtx.mad x12, x11, shape=15", 0x00F5C65B},
                 {"mtx.transpose x12, x11, m_blk=0, n_blk=1", 0x0085A65B},
                 {"mtx.epi x12, x11, bm=2, cl=1", 0x2805B65B},
                 {"mtx.red x12, x11, op=0, dim=1", 0x1005D65B}};
    static const unsigned funct3[] = {0, 1, 4, 2, 3, 5};
    struct guest *g = guest_make("full");
    unsigned rows = 0;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        point(g);
        guest_ok(g, "%s\n", words[i].text);
        CHECK_EQ(guest_load(g, GUEST_CODE, 4), words[i].word);
        CHECK_EQ(words[i].word >> 12 & 7, funct3[i]);
    }
    for (unsigned i = 0; i < FACET_XPHMG_OP_COUNT; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];

        if (facet_xphmg_extension[i] != FACET_XPHMG_EXT_MTX) {
            continue;
        }
        rows++;
        CHECK_EQ(row->match & 0x7F, 0x5B);
        for (unsigned k = 0; k < row->operand_count; k++) { /* no format in the word */
            CHECK(strcmp(row->operands[k].name, "ppp") != 0 &&
                  strcmp(row->operands[k].name, "alt") != 0);
        }
    }
    CHECK_EQ(rows, 6);
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", 0x0265005B | 1 << 7); /* LD: rd != 0 */
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x%x\n", 0x0265005B | 1 << 27);
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0000605B\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0000705B\n");
    guest_free(g);
}

/* ---- legality ---------------------------------------------------------------------------------
 */

TEST(seven_shapes_are_legal_within_max_shape, "MTX-005 MTX-008 MTX-081")
{
    static const uint16_t legal_by_max[] = {1u << 5,
                                            1u << 5 | 1u << 6 | 1u << 9 | 1u << 10,
                                            1u << 5 | 1u << 6 | 1u << 9 | 1u << 10 | 1u << 7 |
                                                1u << 13 | 1u << 15};
    struct guest *g = guest_make("full");

    for (unsigned max = 0; max < 3; max++) {
        guest_configure(g, "mtxcap", FACET_PUT(FACET_MTXCAP_RESET, MTXCAP_MAX_SHAPE, max));
        point(g);
        for (unsigned shape = 0; shape < 16; shape++) {
            static const char *const texts[] = {"mtx.ld a0, shape=%u\n",
                                                "mtx.mul a2, a1, shape=%u\n",
                                                "mtx.mad a2, a1, shape=%u\n"};

            for (unsigned i = 0; i < 3; i++) {
                char text[64];

                snprintf(text,
                         sizeof text,
                         i == 0   ? texts[0]
                         : i == 1 ? texts[1]
                                  : texts[2],
                         shape);
                if ((legal_by_max[max] >> shape & 1) != 0) {
                    guest_ok(g, "%s", text);
                } else {
                    uint64_t tval = guest_traps(g, FACET_CAUSE_ILLEGAL, "%s", text);

                    CHECK_EQ(tval, guest_load(g, GUEST_CODE, 4));
                }
            }
        }
    }
    guest_free(g);
}

TEST(capability_bits_make_instructions_illegal, "")
{
    static const struct {
        uint64_t without; /* MTXCAP bits cleared */
        const char *illegal, *legal, *ids;
    } rows[] = {
        {FACET_MTXCAP_HAS_MUL, "mtx.mul a2, a1", "mtx.mad a2, a1", "MTX-109"},
        {FACET_MTXCAP_HAS_MAD, "mtx.mad a2, a1", "mtx.mul a2, a1", "MTX-082"},
        {FACET_MTXCAP_HAS_BIAS, "mtx.mad a2, a1", "mtx.mul a2, a1", "MTX-113"},
        {FACET_MTXCAP_HAS_BIAS, "mtx.ld a0, with_bias=1", "mtx.ld a0", "MTX-113"},
        {FACET_MTXCAP_HAS_BIAS, "mtx.epi a2, a1, bm=1", "mtx.epi a2, a1, bm=0", "MTX-113"},
        {FACET_MTXCAP_HAS_BIAS, "mtx.epi a2, a1, bm=2", "mtx.epi a2, a1, bm=4", "MTX-113"},
        {FACET_MTXCAP_HAS_BIAS, "mtx.epi a2, a1, bm=3", "mtx.epi a2, a1, cl=3", "MTX-113"},
        {FACET_MTXCAP_HAS_TRANSPOSE, "mtx.transpose a2, a1", "mtx.red a3, a1", ""},
        {FACET_MTXCAP_HAS_EPI, "mtx.epi a2, a1", "mtx.transpose a2, a1", ""},
        {FACET_MTXCAP_HAS_RED, "mtx.red a3, a1", "mtx.epi a2, a1", ""},
        {FACET_MTXCAP_COMPOSITE, "mtx.red a3, a1, n_blk=1", "mtx.red a3, a1", "MTX-041"},
        {FACET_MTXCAP_COMPOSITE,
         "mtx.transpose a2, a1, m_blk=1",
         "mtx.transpose a2, a1",
         "MTX-041"},
        {0, "mtx.epi a2, a1, bm=5", "mtx.epi a2, a1, bm=4", ""},
        {0, "mtx.red a3, a1, op=3", "mtx.red a3, a1, op=2", ""},
        {0, "mtx.red a3, a1, dim=3", "mtx.red a2, a1, dim=2", ""},
    };
    struct guest *g = guest_make("full");

    CHECK_ID("MTX-019 MTX-034", guest_csrr(g, 0x837) == 0x881F7);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        harness_row(rows[i].ids);
        guest_configure(g, "mtxcap", FACET_MTXCAP_RESET & ~rows[i].without);
        point(g);
        guest_traps(g, FACET_CAUSE_ILLEGAL, "%s\n", rows[i].illegal);
        guest_ok(g, "%s\n", rows[i].legal);
    }
    harness_row("MTX-040");
    guest_configure(g, "mtxcap", FACET_PUT(FACET_MTXCAP_RESET, MTXCAP_MAX_M_4X, 2));
    point(g);
    guest_ok(g, "mtx.red a3, a1, m_blk=1, n_blk=7\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "mtx.red a3, a1, m_blk=2\n");
    guest_configure(g, "mtxcap", FACET_PUT(FACET_MTXCAP_RESET, MTXCAP_MAX_N_4X, 3));
    point(g);
    guest_ok(g, "mtx.red a3, a1, n_blk=2, m_blk=7\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "mtx.red a3, a1, n_blk=3\n");
    harness_row("");
    guest_configure(g, "feat0", g->config.feat0 & ~FACET_CAP_FEAT0_MTX_PRESENT);
    guest_traps(g, FACET_CAUSE_ILLEGAL, "mtx.mul a2, a1\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, MTXCFG\n");
    guest_free(g);
}

/* ---- registers and banks ----------------------------------------------------------------------
 */

TEST(mtx_csrs, "")
{
    static const char *const names[] = {
        "MTXCFG", "MTXSEL", "MTX2", "MTX3", "MTX4", "MTXBIAS", "MTXSTAT", "MTXCAP"};
    struct guest *g = guest_make("full");
    static const char *const ids[] = {
        "MTX-012", "MTX-013", "MTX-014", "MTX-015", "MTX-016", "MTX-017", "MTX-018", "MTX-035"};

    for (unsigned i = 0; i < 8; i++) {
        harness_row(ids[i]);
        g->hart->x[5] = 1;
        guest_ok(g, "csrr t0, %s\n csrr t1, 0x%x\n", names[i], 0x830 + i);
        CHECK_EQ(g->hart->x[5], g->hart->x[6]);
    }
    harness_row("MTX-007");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x838\n");
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        CHECK(strncmp(facet_csr_rows[i].name, "MTX", 3) != 0 ||
              (facet_csr_rows[i].number >= 0x830 && facet_csr_rows[i].number <= 0x837));
    }
    guest_csrw(g, 0x830, ~0ull);
    CHECK_ID("MTX-012", guest_csrr(g, 0x830) == 7);
    guest_csrw(g, 0x831, ~0ull);
    CHECK_ID("MTX-013", guest_csrr(g, 0x831) == 0x73);
    guest_csrw(g, 0x831, 0x10); /* word 1 */
    for (unsigned csr = 0x832; csr <= 0x835; csr++) {
        harness_row(ids[csr - 0x830]);
        guest_csrw(g, csr, 0x1122334455667788 + csr);
        CHECK_EQ(guest_csrr(g, csr), 0x1122334455667788 + csr);
    }
    guest_csrw(g, 0x836, ~0ull);
    CHECK_ID("MTX-018", guest_csrr(g, 0x836) == 0);
    guest_csrw(g, 0x837, ~0ull);
    CHECK_ID("MTX-035", guest_csrr(g, 0x837) == 0x881F7);
    harness_row("MTX-114");
    set_mode(g, INT8);
    guest_csrw(g, FACET_CSR_CAP_XMEM_DOM, 3);
    CHECK_EQ(guest_csrr(g, 0x837), 0x881F7);
    g->hart->priv = FACET_PRIV_U; /* user registers */
    CHECK_EQ(guest_csrr(g, 0x837), 0x881F7);
    guest_free(g);
}

/* The storage as 16.1 describes it, from the elements of the shape in row order. */
static void check_storage(struct guest *g, unsigned shape, unsigned nat, const uint32_t *elements)
{
    unsigned rows = (shape >> 2) + 1, columns = (shape & 3) + 1;
    unsigned side = rows > columns ? rows : columns;
    unsigned csr = side == 2 ? FACET_CSR_MTX2 : side == 3 ? FACET_CSR_MTX3 : FACET_CSR_MTX4;

    for (unsigned r = 0; r < side; r++) {
        for (unsigned c = 0; c < side; c++) {
            unsigned bit = (r * side + c) * nat;
            uint64_t got = bank_word(g, csr, bit / 64) >> bit % 64 & ((1ull << nat) - 1);
            bool inside = r < rows && c < columns;

            CHECK_MSG(got == (inside ? elements[r * columns + c] : 0),
                      "shape %x nat %u (%u,%u) is %llx",
                      shape,
                      nat,
                      r,
                      c,
                      (unsigned long long)got);
        }
    }
}

TEST(every_shape_lies_in_its_storage, "")
{
    static const uint8_t shapes[] = {0x5, 0x6, 0x9, 0xA, 0x7, 0xD, 0xF};
    static const char *const ids[] = {
        "MTX-044", "MTX-045", "MTX-046", "MTX-047", "MTX-048", "MTX-049", "MTX-050"};
    static const struct {
        uint64_t mode;
        unsigned nat, bytes;
    } formats[] = {{FP32, 32, 4}, {FP16, 16, 2}, {INT8, 8, 1}};

    for (unsigned f = 0; f < 3; f++) {
        for (unsigned s = 0; s < 7; s++) {
            struct guest *g = guest_make("full");
            uint32_t elements[16];
            unsigned count = ((shapes[s] >> 2) + 1u) * ((shapes[s] & 3) + 1u);

            point(g);
            set_mode(g, formats[f].mode);
            for (unsigned i = 0; i < count; i++) {
                elements[i] = (uint32_t)(harness_random() | 1) &
                              (formats[f].nat == 32 ? ~0u : (1u << formats[f].nat) - 1);
            }
            put(g, MATRIX, formats[f].bytes, count, elements);
            guest_csrw(g, FACET_CSR_MTXSEL, s & 3);
            guest_ok(g, "mtx.ld a0, shape=%u, rowmajor=1\n", shapes[s]);
            harness_row(ids[s]);
            check_storage(g, shapes[s], formats[f].nat, elements);
            CHECK_EQ(raised(g), 0);
            harness_row("MTX-023 MTX-101");
            check_storage(g, shapes[s], formats[f].nat, elements);
            guest_csrw(g, FACET_CSR_MTXSEL, (s + 1) & 3); /* the other banks are untouched */
            memset(elements, 0, sizeof elements);
            check_storage(g, shapes[s], formats[f].nat, elements);
            guest_free(g);
        }
    }
    {
        struct guest *g = guest_make("full"); /* positions that the rows name */

        point(g);
        set_mode(g, FP32);
        for (unsigned i = 0; i < 20; i++) {
            guest_store(g, MATRIX + 4 * i, 4, 0x100 + i);
        }
        guest_ok(g,
                 "mtx.ld a0, shape=5, rowmajor=1\n mtx.ld a0, shape=10, rowmajor=1\n"
                 "mtx.ld a0, shape=15, rowmajor=1, with_bias=1\n");
        CHECK_ID("MTX-024", bank_word(g, FACET_CSR_MTX2, 0) == (0x101ull << 32 | 0x100));
        CHECK_ID("MTX-024", bank_word(g, FACET_CSR_MTX2, 1) == (0x103ull << 32 | 0x102));
        CHECK_ID("MTX-025", bank_word(g, FACET_CSR_MTX3, 4) == 0x108);
        CHECK_ID("MTX-026", bank_word(g, FACET_CSR_MTX4, 7) >> 32 == 0x10F);
        harness_row("");
        CHECK_EQ(bank_word(g, FACET_CSR_MTXBIAS, 0), 0x111ull << 32 | 0x110);
        CHECK_EQ(bank_word(g, FACET_CSR_MTXBIAS, 1), 0x113ull << 32 | 0x112);
        set_mode(g, FP16);
        for (unsigned i = 0; i < 16; i++) {
            guest_store(g, MATRIX + 2 * i, 2, 0x200 + i);
        }
        guest_ok(g, "mtx.ld a0, shape=15, rowmajor=1\n");
        CHECK_ID("MTX-028", bank_word(g, FACET_CSR_MTX4, 0) == 0x0203020202010200);
        CHECK_ID("MTX-026", bank_word(g, FACET_CSR_MTX4, 3) >> 48 == 0x20F);
        guest_free(g);
    }
}

TEST(ld_transposes_orders_and_reads_the_bias, "")
{
    struct guest *g = guest_make("full");
    uint32_t image[16], expected[6];

    point(g);
    for (unsigned i = 0; i < 16; i++) {
        image[i] = 0x1000 + i;
    }
    put(g, MATRIX, 2, 16, image);
    for (unsigned transpose = 0; transpose < 2; transpose++) {
        for (unsigned rowmajor = 0; rowmajor < 2; rowmajor++) {
            guest_ok(g,
                     "mtx.ld a0, shape=6, transpose=%u, rowmajor=%u, with_bias=1\n",
                     transpose,
                     rowmajor);
            for (unsigned r = 0; r < 2; r++) {
                for (unsigned c = 0; c < 3; c++) {
                    /* the image as a matrix of its own: 2x3, or 3x2 when transposed */
                    unsigned ir = transpose ? c : r, ic = transpose ? r : c;
                    unsigned irows = transpose ? 3 : 2, icolumns = transpose ? 2 : 3;

                    expected[3 * r + c] =
                        0x1000 + (rowmajor ? ir * icolumns + ic : ic * irows + ir);
                }
            }
            harness_row(transpose != 0  ? "MTX-097 MTX-098"
                        : rowmajor == 0 ? "MTX-097 MTX-099"
                                        : "MTX-097");
            check_storage(g, 6, 16, expected);
            /* the next R = 2 */
            CHECK_ID("MTX-027 MTX-100", bank_word(g, FACET_CSR_MTXBIAS, 0) == 0x10071006);
        }
    }
    harness_row("MTX-097");
    /* Storage outside the shape keeps its value. */
    guest_ok(g, "mtx.ld a0, shape=10, rowmajor=1\n mtx.ld a0, shape=5, rowmajor=1\n");
    CHECK_EQ(bank_word(g, FACET_CSR_MTX3, 2) & 0xFFFF, 0x1008);
    guest_ok(g, "li t1, 0x1000\n sh t1, 6(a0)\n mtx.ld a0, shape=6, rowmajor=1\n");
    CHECK_EQ(bank_word(g, FACET_CSR_MTX3, 2) & 0xFFFF, 0x1008);
    guest_free(g);
}

TEST(banks_filled_by_csr_writes_equal_loaded_ones, "MTX-023 MTX-036 MTX-037")
{
    struct guest *g = guest_make("full");

    point(g);
    set_mode(g, FP32);
    PUT(g, IN, 4, 0x3F800000, 0x40000000); /* 1, 2 */
    for (unsigned bank = 0; bank < 4; bank++) {
        PUT(g, MATRIX, 4, 0x3F800000 + (bank << 23), 0, 0, 0x3F800000 + (bank << 23));
        guest_csrw(g, FACET_CSR_MTXSEL, bank);
        if (bank < 2) {
            guest_ok(g, "mtx.ld a0, shape=5\n");
        } else {
            guest_csrw(g, FACET_CSR_MTX2, 0x3F800000 + (bank << 23));
            guest_csrw(g, FACET_CSR_MTXSEL, 0x10 | bank);
            guest_csrw(g, FACET_CSR_MTX2, (uint64_t)(0x3F800000 + (bank << 23)) << 32);
        }
    }
    for (unsigned bank = 0; bank < 4; bank++) { /* 2^bank times the vector */
        guest_csrw(g, FACET_CSR_MTXSEL, bank);
        guest_ok(g, "mtx.mul a2, a1\n");
        EXPECT(g, "bank", OUT, 4, 0x3F800000 + (bank << 23), 0x40000000 + (bank << 23));
    }
    guest_free(g);
}

/* ---- products ---------------------------------------------------------------------------------
 */

TEST(immediates_of_mul, "")
{
    struct guest *g = guest_make("full");

    point(g);
    PUT(g, MATRIX, 2, 0x3C00, 0x4000, 0x4200, 0x4400); /* 1 2; 3 4 */
    PUT(g, IN, 2, 0x3C00, 0);                          /* first column, or row */
    guest_ok(g, "mtx.ld a0, rowmajor=1\n");
    for (unsigned def = 0; def < 2; def++) {
        for (unsigned tr = 0; tr < 2; tr++) {
            guest_csrw(g, FACET_CSR_MTXCFG, def);
            guest_ok(g, "mtx.mul a2, a1, transpose=%u\n", tr);
            harness_row(def != 0 ? "MTX-020 MTX-103" : "MTX-103");
            EXPECT(g, "transpose", OUT, 2, 0x3C00, def != tr ? 0x4000 : 0x4200);
        }
    }
    guest_csrw(g, FACET_CSR_MTXCFG, 0);
    for (unsigned count = 0; count < 8; count++) {
        for (unsigned stride = 0; stride < 4; stride++) {
            for (unsigned i = 0; i < 16; i++) { /* vector k = (k + 1, 0) */
                guest_store(g, IN + 2 * i, 2, i % 2 == 0 ? 0x3C00 + (i / 2 << 4) : 0);
                guest_store(g, OUT + 2 * i, 2, 0xABCD);
            }
            guest_csrw(g, FACET_CSR_MTXCFG, (count & 1) * FACET_MTXCFG_BIAS_EN);
            guest_ok(g, "mtx.mul a2, a1, vec_count=%u, stride=%u\n", count, stride);
            for (unsigned k = 0; k < 8; k++) {
                harness_row(stride != 0 ? "MTX-106" : count & 1 ? "MTX-021 MTX-105" : "MTX-105");
                CHECK_EQ(guest_load(g, OUT + 4 * k, 2), k <= count ? 0x3C00 + (k << 4) : 0xABCD);
            }
        }
    }
    guest_free(g);
}

TEST(the_bias_is_added_before_the_only_down_cast, "MTX-115 MTX-053")
{
    struct guest *g = guest_make("full");

    /* 2048 + 0.75 + bias 0.75: in FP16 each step alone would round to 2048 (spacing 2), the sum in
     * FP32 is 2049.5 and rounds to 2050. */
    point(g);
    PUT(g, MATRIX, 2, 0x6800, 0x3A00, 0, 0, /* bias */ 0x3A00, 0);
    PUT(g, IN, 2, 0x3C00, 0x3C00);
    guest_ok(g, "mtx.ld a0, rowmajor=1, with_bias=1\n mtx.mad a2, a1\n");
    EXPECT(g, "FP32 accumulator", OUT, 2, 0x6801, 0);
    set_mode(g, FP16_ACC16);
    guest_ok(g, "mtx.mad a2, a1\n");
    EXPECT(g, "FP16 accumulator", OUT, 2, 0x6800, 0);
    /* FP8_E4M3 elements, FP16 accumulator, MIXED: 17 * 17 = 289 stays exact in FP16, 288 in E4M3.
     */
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, 0x8000000009800000 | 1ull << 30);
    PUT(g, MATRIX, 1, 0x59, 0xF7, 0, 0); /* 18, -240 */
    PUT(g, IN, 1, 0x58, 0x38);           /* 16, 1 */
    guest_ok(g, "mtx.ld a0, rowmajor=1\n mtx.mul a2, a1\n");
    EXPECT(g, "E4M3", OUT, 1, 0x64); /* 288 - 240 = 48 */
    guest_free(g);
}

TEST(the_identity_reproduces_elements, "MTX-057 MTX-055")
{
    static const struct {
        uint64_t mode;
        uint32_t one;
        unsigned bytes;
    } formats[] = {{FP16, 0x3C00, 2}, {FP32, 0x3F800000, 4}, {BF16, 0x3F80, 2}};
    struct guest *g = guest_make("full");

    for (unsigned f = 0; f < 3; f++) {
        point(g);
        set_mode(g, formats[f].mode);
        put(g, MATRIX, formats[f].bytes, 4, (uint32_t[]){formats[f].one, 0, 0, formats[f].one});
        guest_ok(g, "mtx.ld a0\n");
        for (unsigned k = 0; k < 400; k++) {
            uint32_t infinity = f == 0 ? 0x7C00 : f == 1 ? 0x7F800000 : 0x7F80;
            uint32_t v[2];

            for (unsigned i = 0; i < 2; i++) {
                v[i] = 1 + (uint32_t)(harness_random() % (infinity - 1));
                v[i] |= (uint32_t)(harness_random() & 1) << (8 * formats[f].bytes - 1);
            }
            put(g, IN, formats[f].bytes, 2, v);
            guest_ok(g, "mtx.mul a2, a1\n");
            expect(g, "identity", OUT, formats[f].bytes, 2, v);
        }
    }
    guest_free(g);
}

/* ---- counters ---------------------------------------------------------------------------------
 */

TEST(mtxstat_counts, "")
{
    struct guest *g = guest_make("full");

    point(g);
    set_mode(g, FP32 | FACET_CAP_PREC_MODE_DENORM_FTZ);
    PUT(g, MATRIX, 4, 0x3F800000, 0, 0, 0x3F800000);
    PUT(g, IN, 4, 0x3F800000, 0x3F800000);
    guest_ok(g, "mtx.ld a0\n");
    CHECK_ID("MTX-032", FACET_GET(stat(g), MTXSTAT_LAST_SHAPE) == 0x22);
    CHECK_ID("MTX-029", FACET_GET(stat(g), MTXSTAT_OPS_ISSUED) == 0);
    guest_ok(g, "mtx.mul a2, a1\n mtx.mad a2, a1, shape=6\n");
    CHECK_ID("MTX-029", FACET_GET(stat(g), MTXSTAT_OPS_ISSUED) == 2);
    CHECK_ID("MTX-032", FACET_GET(stat(g), MTXSTAT_LAST_SHAPE) == 0x23);
    CHECK_ID("MTX-031", FACET_GET(stat(g), MTXSTAT_FTZ_EVENTS) == 0);
    PUT(g, IN, 4, 0x00400000, 0x3F800000); /* a subnormal */
    guest_ok(g, "mtx.mul a2, a1\n");
    CHECK_ID("MTX-031", FACET_GET(stat(g), MTXSTAT_FTZ_EVENTS) == 1);
    CHECK_ID("MTX-029", FACET_GET(stat(g), MTXSTAT_OPS_ISSUED) == 3);
    guest_ok(g, "mtx.red a3, a1\n mtx.epi a2, a1\n mtx.transpose a2, a1\n"); /* not counted */
    CHECK_ID("MTX-029", FACET_GET(stat(g), MTXSTAT_OPS_ISSUED) == 3);
    CHECK_ID("MTX-032", FACET_GET(stat(g), MTXSTAT_LAST_SHAPE) == 0x22);
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "li a1, 64\n mtx.mul a2, a1, shape=15\n");
    CHECK_ID("MTX-029",
             FACET_GET(stat(g), MTXSTAT_OPS_ISSUED) == 3); /* a trapped one did not retire */
    harness_row("MTX-033");
    /* Counters wrap inside their fields and change no result. */
    point(g);
    g->hart->units.mtx.stat = 0xFFFFFFFFFFFF;
    guest_ok(g, "mtx.mul a2, a1\n");
    CHECK_EQ(stat(g) & 0xFFFFFFFFFFFF, 0x0000FFFF0000);
    EXPECT(g, "result", OUT, 4, 0, 0x3F800000);
    guest_free(g);
}

/* ---- status -----------------------------------------------------------------------------------
 */

/* The rows of the stickies in `flags`. */
static void row_of_flags(unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *id;
    } rows[] = {{FACET_SAT, "MTX-064 "},
                {FACET_FTZ, "MTX-065 "},
                {FACET_DOWN, "MTX-066 "},
                {FACET_NV, "MTX-068 "},
                {FACET_OF, "MTX-069 "},
                {FACET_UF, "MTX-070 "},
                {FACET_NX, "MTX-071 "},
                {FACET_QNAN, "MTX-072 "},
                {FACET_SNAN, "MTX-073 "}};
    char ids[96] = "";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)strcat(ids, (flags & rows[i].flag) != 0 ? rows[i].id : "");
    }
    harness_row(ids);
}

TEST(mtx_reports_every_flag, "")
{
    static const struct {
        uint64_t mode;
        uint32_t m00, v0; /* in the format of the mode, other elements 0 */
        unsigned flags;
        uint32_t out;
    } rows[] = {
        {FP32, 0x40000000, 0x40400000, 0, 0x40C00000},
        {FP32, 0x7F7FFFFF, 0x40000000, FACET_OF | FACET_NX, 0x7F800000},
        {FP32, 0x7F800000, 0x00000000, FACET_NV | FACET_QNAN, 0x7FC00000},
        {FP32, 0x7F800001, 0x3F800000, FACET_NV | FACET_SNAN | FACET_QNAN, 0x7FC00000},
        {FP32, 0x7FC00000, 0x3F800000, FACET_QNAN, 0x7FC00000},
        {FP32, 0x00800001, 0x3F000000, FACET_UF | FACET_NX, 0x00400000},
        {FP32 | FACET_CAP_PREC_MODE_DENORM_FTZ,
         0x00800000,
         0x3F000000,
         FACET_UF | FACET_NX | FACET_FTZ,
         0},
        {FP32 | FACET_CAP_PREC_MODE_SAT, 0x7F800000, 0x3F800000, FACET_SAT, 0x7F7FFFFF},
        {FP32 | 1ull << FACET_CAP_PREC_MODE_NAN_POL_LSB, 0x7FC00000, 0x3F800000, FACET_QNAN, 0},
        {FP32 | 2ull << FACET_CAP_PREC_MODE_NAN_POL_LSB,
         0x7FC00000,
         0x3F800000,
         FACET_QNAN,
         0x7F800000},
        {FP32 | 3ull << FACET_CAP_PREC_MODE_FP_RMODE_LSB,
         0x3F800001,
         0x3F800001,
         FACET_NX,
         0x3F800003},
        {FP32 | 1ull << FACET_CAP_PREC_MODE_FP_RMODE_LSB,
         0x3F800001,
         0x3F800001,
         FACET_NX,
         0x3F800002},
        {FP16, 0x7BFF, 0x4000, FACET_OF | FACET_NX | FACET_DOWN, 0x7C00},
        /* Q: scale 2^-4, so 0x20 is 2.0 and 0x18 is 1.5: 3.0 */
        {INT8 | FACET_CAP_PREC_MODE_Q | 0xFCull << FACET_CAP_PREC_MODE_SCALE_SH_LSB,
         0x20,
         0x18,
         FACET_DOWN,
         0x30},
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned bytes = (rows[i].mode & 0xE00000) == 0x200000   ? 4
                         : (rows[i].mode & 0xE00000) == 0x600000 ? 1
                                                                 : 2;

        point(g);
        set_mode(g, rows[i].mode);
        put(g, MATRIX, bytes, 4, (uint32_t[]){rows[i].m00, 0, 0, 0});
        put(g, IN, bytes, 2, (uint32_t[]){rows[i].v0, 0});
        row_of_flags(rows[i].flags);
        guest_ok(g, "mtx.ld a0\n mtx.mul a2, a1\n");
        CHECK_ID("MTX-051", guest_load(g, OUT, bytes) == rows[i].out);
        /* row 1 of the matrix is 0 * v0: invalid too when v0 is infinite, never here */
        CHECK_MSG(raised(g) == rows[i].flags, "row %zu raised %x", i, raised(g));
    }
    harness_row("MTX-067"); /* UNSUP_FMT comes through APPLY; the format of MODE is used then */
    point(g);
    set_mode(g, FP32);
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, 0x800000005C000000);
    PUT(g, MATRIX, 4, 0x40000000, 0, 0, 0);
    PUT(g, IN, 4, 0x40400000, 0);
    guest_ok(g, "mtx.ld a0\n mtx.mul a2, a1\n");
    EXPECT(g, "MODE format", OUT, 4, 0x40C00000);
    CHECK_EQ(raised(g), FACET_UNSUP);
    guest_free(g);
}

TEST(enabled_exceptions_trap_unless_sae, "MTX-074 MTX-056")
{
    struct guest *g = guest_make("full");

    point(g);
    set_mode(g, FP32);
    PUT(g, MATRIX, 4, 0x3F800001, 0, 0, 0x3F800000);
    PUT(g, IN, 4, 0x3F800001, 0x3F800000);
    PUT(g, OUT, 4, 0x77, 0x77);
    guest_ok(g, "mtx.ld a0\n");
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, FACET_NX);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_NUMERIC, "mtx.mul a2, a1\n"), FACET_NX);
    EXPECT(g, "nothing written", OUT, 4, 0x77, 0x77);
    CHECK_EQ(FACET_GET(stat(g), MTXSTAT_OPS_ISSUED), 0);
    CHECK_EQ(raised(g), FACET_NX);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0);              /* EN = 0 */
    guest_ok(g, "svon.fpctl rc=RUP, sae=1\n mtx.mul a2, a1\n"); /* obeys and spends the override */
    EXPECT(g, "RUP", OUT, 4, 0x3F800003);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE) & FACET_SVSTATE_FPC_V, 0);
    set_mode(g, FP32 | FACET_CAP_PREC_MODE_SAE_DEF);
    guest_ok(g, "mtx.mul a2, a1\n");
    set_mode(g, FP32 | FACET_CAP_PREC_MODE_SAE);
    guest_ok(g, "mtx.mul a2, a1\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE) & FACET_CAP_PREC_MODE_SAE, 0);
    guest_traps(g, FACET_CAUSE_NUMERIC, "mtx.mul a2, a1\n");
    guest_free(g);
}

/* ---- helpers ----------------------------------------------------------------------------------
 */

/* 16.5 again, by counting: sub-tiles of 4x4 in row order, each in row order. */
static unsigned tile_index(unsigned rows, unsigned columns, unsigned i, unsigned j)
{
    unsigned n = 0;

    for (unsigned bi = 0; bi < rows; bi += 4) {
        for (unsigned bj = 0; bj < columns; bj += 4) {
            for (unsigned k = 0; k < 16; k++, n++) {
                if (bi + k / 4 == i && bj + k % 4 == j) {
                    return n;
                }
            }
        }
    }
    return ~0u;
}

TEST(all_block_counts_transpose, "")
{
    struct guest *g = guest_make("full");

    set_mode(g, INT8);
    for (unsigned m = 0; m < 8; m++) {
        for (unsigned n = 0; n < 8; n++) {
            unsigned rows = 4 * (m + 1), columns = 4 * (n + 1);

            point(g);
            for (unsigned e = 0; e < rows * columns; e++) {
                guest_store(g, IN + e, 1, harness_random() & 0xFF);
            }
            guest_ok(g, "mtx.transpose a2, a1, m_blk=%u, n_blk=%u\n", m, n);
            for (unsigned i = 0; i < rows; i += 1 + (rows > 8)) {
                for (unsigned j = 0; j < columns; j += 3) {
                    harness_row(m + n == 0 ? "MTX-039 MTX-083" : "MTX-038 MTX-042 MTX-084");
                    CHECK_EQ(guest_load(g, OUT + tile_index(columns, rows, j, i), 1),
                             guest_load(g, IN + tile_index(rows, columns, i, j), 1));
                }
            }
            guest_ok(g,
                     "mv a1, a2\n li a2, 0x%x\n mtx.transpose a2, a1, m_blk=%u, n_blk=%u\n",
                     MATRIX,
                     n,
                     m);
            harness_row("MTX-043 MTX-085");
            for (unsigned e = 0; e < rows * columns; e++) {
                CHECK_EQ(guest_load(g, MATRIX + e, 1), guest_load(g, IN + e, 1));
            }
        }
    }
    harness_row("MTX-083");
    /* In place: all sources are read before the first result is written. */
    point(g);
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + e, 1, e);
    }
    guest_ok(g, "mtx.transpose a1, a1\n");
    EXPECT(g, "in place", IN, 1, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    guest_free(g);
}

TEST(epilogue_adds_then_clamps, "")
{
    struct guest *g = guest_make("full");

    set_mode(g, INT8);
    for (unsigned bm = 0; bm <= 4; bm++) {
        for (unsigned cl = 0; cl < 4; cl++) {
            point(g);
            for (unsigned e = 0; e < 20; e++) { /* MTX4 = 1..16, bias = 17..20 */
                guest_store(g, MATRIX + e, 1, e + 1);
            }
            guest_ok(g, "mtx.ld a0, shape=15, rowmajor=1, with_bias=1\n");
            PUT(g, MATRIX, 1, 0xF6, 0x0F, 0, 0); /* MTX2: bounds -10 and 15 */
            guest_ok(g, "mtx.ld a0, shape=5, rowmajor=1\n");
            for (unsigned e = 0; e < 64; e++) {
                guest_store(g, IN + e, 1, (e * 7 - 100) & 0xFF);
            }
            guest_ok(g, "mtx.epi a2, a1, m_blk=1, n_blk=1, bm=%u, cl=%u\n", bm, cl);
            for (unsigned i = 0; i < 8; i++) {
                for (unsigned j = 0; j < 8; j++) {
                    unsigned e = tile_index(8, 8, i, j);
                    int bias[] = {0,
                                  17,
                                  17 + (int)(i % 4),
                                  17 + (int)(j % 4),
                                  1 + 4 * (int)(i % 4) + (int)(j % 4)};
                    int v = (int8_t)(e * 7 - 100) + bias[bm];
                    int low = cl == 0 ? -1000 : cl == 3 ? -10 : 0;
                    int high = cl == 2 ? 1 : cl == 3 ? 15 : 1000;

                    v = v < low ? low : v;
                    v = v > high ? high : v;
                    harness_row(cl == 0   ? "MTX-086 MTX-112"
                                : bm == 0 ? "MTX-087 MTX-112"
                                          : "MTX-086 MTX-087 MTX-088 MTX-112");
                    CHECK_EQ(guest_load(g, OUT + e, 1), (uint8_t)v);
                }
            }
        }
    }
    /* T = -1, bias = 3, bounds 0 and 1: the result is 1; E = FP16 in FP32. */
    set_mode(g, FP16);
    point(g);
    PUT(g, MATRIX, 2, 0, 0, 0, 0, 0x4200, 0); /* bias[0] = 3 */
    guest_ok(g, "mtx.ld a0, with_bias=1\n");
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + 2 * e, 2, e == 0 ? 0xBC00 : 0x6800); /* -1, 2048 */
    }
    guest_ok(g, "mtx.epi a2, a1, bm=1, cl=2\n");
    harness_row("MTX-088");
    EXPECT(g, "bias before clamp", OUT, 2, 0x3C00, 0x3C00);
    guest_ok(g, "mtx.epi a2, a1, bm=1\n"); /* 2051 needs 12 bits: rounds to 2052 */
    harness_row("MTX-089");
    EXPECT(g, "FP16", OUT, 2, 0x4000, 0x6802);
    CHECK(raised(g) & FACET_DOWN);
    guest_free(g);
}

TEST(reductions, "")
{
    struct guest *g = guest_make("full");

    for (unsigned op = 0; op < 3; op++) {
        int rows[4] = {0}, columns[8] = {0}, all = 0, t[4][8];

        set_mode(g, 0x02800000 | 0x00080000 | FACET_CAP_PREC_MODE_SAT); /* INT16, INT32 */
        point(g);
        for (unsigned i = 0; i < 4; i++) {
            for (unsigned j = 0; j < 8; j++) {
                int v = t[i][j] = (int)(harness_random() % 2001) - 1000;

                guest_store(g, IN + 2 * tile_index(4, 8, i, j), 2, (uint16_t)v);
                all = i + j == 0 ? v : op == 0 ? all + v : (op == 1) == (v > all) ? v : all;
                rows[i] = j == 0                       ? v
                          : op == 0                    ? rows[i] + v
                          : (op == 1) == (v > rows[i]) ? v
                                                       : rows[i];
                columns[j] = i == 0                          ? v
                             : op == 0                       ? columns[j] + v
                             : (op == 1) == (v > columns[j]) ? v
                                                             : columns[j];
            }
        }
        guest_ok(g, "mtx.red a3, a1, n_blk=1, op=%u\n", op);
        CHECK_ID(op == 0 ? "MTX-090" : "MTX-092", /* sign-extended */
                 g->hart->x[13] == (uint64_t)(int64_t)all);
        guest_ok(g, "mtx.red a2, a1, n_blk=1, op=%u, dim=1\n", op);
        for (unsigned i = 0; i < 4; i++) {
            CHECK_ID(op == 0 ? "MTX-091" : "MTX-092",
                     guest_load(g, OUT + 2 * i, 2) == (uint16_t)rows[i]);
        }
        CHECK_EQ(g->hart->x[12], OUT);
        guest_ok(g, "mtx.red a2, a1, n_blk=1, op=%u, dim=2\n", op);
        for (unsigned j = 0; j < 8; j++) {
            CHECK_ID("MTX-092", guest_load(g, OUT + 2 * j, 2) == (uint16_t)columns[j]);
        }
        CHECK_EQ(guest_load(g, OUT + 16, 2), 0);
    }
    /* A sum that saturates sets SAT_HIT. */
    set_mode(g, INT8 | FACET_CAP_PREC_MODE_SAT);
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + e, 1, 100);
    }
    guest_ok(g, "mtx.red a3, a1\n");
    CHECK_EQ(g->hart->x[13], 127);
    CHECK_ID("MTX-093", raised(g) == (FACET_SAT | FACET_DOWN));
    /* max and min: a NaN loses, -0 < +0, a flushed subnormal is zero, only NaNs give NaN. */
    set_mode(g, FP32);
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + 4 * e, 4, e == 3 ? 0x80000000 : e == 5 ? 0 : 0x7FC00000);
    }
    guest_ok(g, "mtx.red a3, a1, op=1\n mtx.red a4, a1, op=2\n");
    CHECK_EQ(g->hart->x[13], 0);
    CHECK_EQ(g->hart->x[14], 0x80000000);
    CHECK_EQ(raised(g), FACET_QNAN);
    set_mode(g, FP32 | FACET_CAP_PREC_MODE_DENORM_FTZ);
    guest_store(g, IN + 12, 4, 0x80000001);
    guest_ok(g, "mtx.red a4, a1, op=2\n");
    CHECK_EQ(g->hart->x[14], 0x80000000);
    CHECK_EQ(raised(g), FACET_QNAN | FACET_FTZ);
    set_mode(g, BF16 | 2ull << FACET_CAP_PREC_MODE_NAN_POL_LSB);
    for (unsigned e = 0; e < 16; e++) {
        guest_store(g, IN + 2 * e, 2, 0x7FC1);
    }
    guest_ok(g, "mtx.red a4, a1, op=2\n");
    CHECK_EQ(g->hart->x[14], 0x7F80);
    CHECK_EQ(raised(g), FACET_QNAN);
    guest_free(g);
}
