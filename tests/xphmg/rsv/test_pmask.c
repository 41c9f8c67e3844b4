/* PMASK: P0, banks, algebra, reductions, comparisons, select and branches, with levels, bank counts
 * and without PMASK. Expectations are written out by hand from the instruction table; a random walk
 * compares a whole machine state with a second formulation that keeps masks as arrays of lanes. */
#include "xphmg/guest.h"

#include "assembler/assemble.h"
#include "isa/isa.h"
#include "object/object.h"

#include <stdio.h>
#include <stdlib.h>

#define LL(v) ((unsigned long long)(v))

/* ---- looking and setting, through instructions ------------------------------------------------
 */

static void set_vl(struct guest *g, unsigned vl)
{
    guest_csrw(g, FACET_CSR_SVSTATE, vl - 1);
}

static void set_bank(struct guest *g, unsigned bank, uint64_t value)
{
    guest_ok(g,
             "li t0, 0x%llx\n pmlow.wr %u, t0\n srli t0, t0, 32\n pmhigh.wr %u, t0\n",
             LL(value),
             bank,
             bank);
}

static uint64_t get_bank(struct guest *g, unsigned bank)
{
    guest_ok(
        g, "pmlow.rd %u, t0\n pmhigh.rd %u, t1\n slli t1, t1, 32\n or t0, t0, t1\n", bank, bank);
    return g->hart->x[5];
}

static void set_p0(struct guest *g, bool value)
{
    guest_ok(g, "li t0, %d\n pmmov.to_p0 t0\n", value);
}

static uint64_t get_p0(struct guest *g)
{
    guest_ok(g, "pmmov.p0 t0\n");
    return g->hart->x[5];
}

/* The value of t0 after the text. */
static uint64_t t0_after(struct guest *g, const char *text)
{
    guest_ok(g, "%s", text);
    return g->hart->x[5];
}

/* ---- state -------------------------------------------------------------------------------------
 */

TEST(reset_state_is_all_zero, "PM-087 PM-088 PM-010")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(t0_after(g, "pmmov.p0 t0\n"), 0);
    for (unsigned bank = 1; bank < 4; bank++) {
        CHECK_EQ(get_bank(g, bank), 0);
    }
    set_p0(g, true);
    set_bank(g, 3, 7);
    guest_reset(g);
    CHECK_EQ(get_p0(g), 0);
    CHECK_EQ(get_bank(g, 3), 0);
    guest_free(g);
}

TEST(p0_takes_any_non_zero_value_as_true, "")
{
    struct guest *g = guest_make("full");

    for (unsigned bank = 1; bank < 4; bank++) {
        set_bank(g, bank, UINT64_C(0x1111111111111110) * bank);
    }
    harness_row("PM-010 PM-035");
    CHECK_EQ(t0_after(g, "li t0, 5\n pmmov.to_p0 t0\n pmmov.p0 t0\n"), 1);
    harness_row("PM-011");
    CHECK_EQ(t0_after(g, "li t1, 1\n bp.t 1f\n li t1, 2\n 1: mv t0, t1\n"), 1);
    harness_row("PM-010 PM-035");
    CHECK_EQ(t0_after(g, "li t0, 1\n slli t0, t0, 63\n pmmov.to_p0 t0\n pmmov.p0 t0\n"), 1);
    CHECK_EQ(t0_after(g, "pmmov.to_p0 x0\n pmmov.p0 t0\n"), 0);
    harness_row("PM-011");
    CHECK_EQ(t0_after(g, "li t1, 1\n bp.f 1f\n li t1, 2\n 1: mv t0, t1\n"), 1);
    harness_row("PM-034");
    CHECK_EQ(t0_after(g, "pcmp.eq.u x0, x0\n pmmov.p0 t0\n"), 1);
    harness_row("PM-036");
    for (unsigned bank = 1; bank < 4; bank++) {
        CHECK_EQ(get_bank(g, bank), UINT64_C(0x1111111111111110) * bank);
    }
    guest_free(g);
}

TEST(p0_is_not_an_alias_of_a_bank, "PM-012 PM-043")
{
    struct guest *g = guest_make("full");

    set_p0(g, false);
    CHECK_EQ(t0_after(g, "li t0, 1\n pmlow.wr 1, t0\n pmhigh.wr 1, t0\n pmmov.p0 t0\n"), 0);
    CHECK_EQ(t0_after(g, "pmnot 1\n pmmov.p0 t0\n"), 0); /* bit 0 was 1 */
    CHECK_EQ(t0_after(g, "pmnot 1\n pmmov.p0 t0\n"), 1);
    CHECK_EQ(t0_after(g, "pmmov.to_p0 x0\n pmlow.rd 1, t0\n"), 1);
    guest_free(g);
}

TEST(banks_hold_64_bits_of_their_own, "PM-013 PM-015 PM-025 PM-082")
{
    static const uint64_t pattern[4] = {0,
                                        UINT64_C(0x0123456789ABCDEF),
                                        UINT64_C(0xFEDCBA9876543210),
                                        UINT64_C(0x8000000000000001)};
    struct guest *g = guest_make("full");

    for (unsigned bank = 1; bank < 4; bank++) {
        set_bank(g, bank, pattern[bank]);
    }
    for (unsigned bank = 1; bank < 4; bank++) {
        CHECK_EQ(get_bank(g, bank), pattern[bank]);
    }
    guest_ok(g, "li a0, 0x55\n pmand 3, a0\n pmor 1, a0\n"); /* the mask in bank 2 survives */
    CHECK_EQ(get_bank(g, 2), pattern[2]);
    CHECK_EQ(get_bank(g, 3), 1);
    guest_free(g);
}

TEST(halves_are_read_zero_extended_and_written_apart, "")
{
    struct guest *g = guest_make("full");

    set_bank(g, 1, UINT64_C(0x8000000180000001));
    CHECK_ID("PM-037", t0_after(g, "pmlow.rd 1, t0\n") == UINT64_C(0x80000001));
    set_bank(g, 1, UINT64_C(0x8000000200000001));
    CHECK_ID("PM-038", t0_after(g, "pmhigh.rd 1, t0\n") == UINT64_C(0x80000002));
    set_bank(g, 1, UINT64_MAX);
    guest_ok(g, "pmlow.wr 1, x0\n");
    CHECK_ID("PM-039", get_bank(g, 1) == UINT64_C(0xFFFFFFFF00000000));
    set_bank(g, 1, 0);
    guest_ok(g, "li t0, 0x700000005\n pmhigh.wr 1, t0\n"); /* bits 63:32 of t0 do not count */
    CHECK_ID("PM-040", get_bank(g, 1) == UINT64_C(0x0000000500000000));
    guest_free(g);
}

TEST(bank_zero_is_all_ones_below_vl, "")
{
    static const struct {
        unsigned vl;
        uint64_t low, high;
    } rows[] = {{1, 1, 0},
                {8, 0xFF, 0},
                {32, 0xFFFFFFFF, 0},
                {33, 0xFFFFFFFF, 1},
                {40, 0xFFFFFFFF, 0xFF},
                {64, 0xFFFFFFFF, 0xFFFFFFFF}};

    for (int config = 0; config < 2; config++) {
        struct guest *g = guest_make(config == 0 ? "full" : "min");

        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            set_vl(g, rows[i].vl);
            CHECK_ID("PM-021 PM-041", t0_after(g, "pmlow.rd 0, t0\n") == rows[i].low);
            CHECK_ID("PM-021 PM-041", t0_after(g, "pmhigh.rd 0, t0\n") == rows[i].high);
            CHECK_ID("PM-020", t0_after(g, "pmany 0, t0\n") == 1);
            CHECK_ID("PM-023", t0_after(g, "pmall 0, t0\n") == 1);
            CHECK_EQ(t0_after(g, "pmnone 0, t0\n"), 0);
            CHECK_EQ(t0_after(g, "pmpopcnt 0, t0\n"), rows[i].vl);
        }
        guest_free(g);
    }
}

TEST(writes_to_bank_zero_change_nothing, "")
{
    static const char *const writers[] = {"pmclr 0\n",
                                          "pmset 0\n",
                                          "pmlow.wr 0, a0\n",
                                          "pmhigh.wr 0, a0\n",
                                          "pmlow.wr 0, x0\n",
                                          "pmnot 0\n",
                                          "pmand 0, x0\n",
                                          "pmor 0, a0\n",
                                          "pmxor 0, a0\n",
                                          "pmandn 0, a0\n"};
    struct guest *g = guest_make("full");

    set_vl(g, 64);
    set_bank(g, 1, 0xAA);
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        for (int p0 = 0; p0 < 2; p0++) {
            set_p0(g, p0);
            guest_ok(g, "li a0, -1\n%s", writers[i]);
            harness_row(i == 0 ? "PM-030" : i == 1 ? "PM-033" : i < 5 ? "PM-022 PM-042" : "PM-050");
            CHECK_EQ(get_p0(g), p0);
            CHECK_EQ(get_bank(g, 0), UINT64_MAX);
            CHECK_ID("PM-024", t0_after(g, "pmall 0, t0\n") == 1);
            CHECK_EQ(get_bank(g, 1), 0xAA);
        }
    }
    guest_free(g);
}

TEST(pmclr_and_pmset_write_bank_and_p0, "")
{
    struct guest *g = guest_make("full");

    set_vl(g, 8);
    for (unsigned bank = 1; bank < 4; bank++) {
        set_bank(g, bank, UINT64_MAX);
        set_p0(g, true);
        guest_ok(g, "pmclr %u\n", bank);
        CHECK_ID("PM-029", get_p0(g) == 0);
        CHECK_ID("PM-028", get_bank(g, bank) == 0);
        guest_ok(g, "pmset %u\n", bank);
        CHECK_ID("PM-032", get_p0(g) == 1);
        CHECK_ID("PM-031", get_bank(g, bank) == 0xFF);
    }
    set_vl(g, 64);
    guest_ok(g, "pmset 2\n");
    CHECK_ID("PM-031", get_bank(g, 2) == UINT64_MAX);
    guest_free(g);
}

/* ---- algebra, reductions -----------------------------------------------------------------------
 */

TEST(algebra_uses_all_64_bits_and_sets_p0, "")
{
    static const struct {
        const char *text;
        uint64_t bank, operand, result;
        const char *ids;
    } rows[] = {
        {"pmnot 1\n", 0xF0, 0, UINT64_C(0xFFFFFFFFFFFFFF0F), "PM-044"},
        {"pmnot 1\n", 0xF1, 0, UINT64_C(0xFFFFFFFFFFFFFF0E), "PM-044"},
        {"pmand 1, a0\n", 0xFF, 0x0F, 0x0F, "PM-045"},
        {"pmand 1, a0\n",
         UINT64_MAX,
         UINT64_C(0x8000000000000000),
         UINT64_C(0x8000000000000000),
         "PM-045 PM-049"},
        {"pmor 1, a0\n", 0xF0, 0x0F, 0xFF, "PM-046"},
        {"pmor 1, a0\n",
         0,
         UINT64_C(0x8000000000000000),
         UINT64_C(0x8000000000000000),
         "PM-046 PM-049"},
        {"pmor 1, a0\n", 0, 1, 1, "PM-046"},
        {"pmxor 1, a0\n", 0xFF, 0x0F, 0xF0, "PM-047"},
        {"pmxor 1, a0\n",
         0xF0,
         UINT64_C(0x8000000000000001),
         UINT64_C(0x80000000000000F1),
         "PM-047"},
        {"pmandn 1, a0\n", 0xFF, 0x0F, 0xF0, "PM-048"},
        {"pmandn 1, a0\n",
         UINT64_MAX,
         UINT64_C(0x7FFFFFFFFFFFFFFE),
         UINT64_C(0x8000000000000001),
         "PM-048"},
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_bank(g, 1, rows[i].bank);
        set_p0(g, (rows[i].result & 1) == 0); /* so that P0 has to change */
        g->hart->x[10] = rows[i].operand;
        guest_ok(g, "%s", rows[i].text);
        CHECK_ID("PM-043", get_p0(g) == (rows[i].result & 1));
        harness_row(rows[i].ids);
        CHECK_EQ(get_bank(g, 1), rows[i].result);
    }
    guest_free(g);
}

TEST(reductions_look_only_below_vl, "")
{
    static const struct {
        uint64_t bank;
        unsigned any, none, all, count;
    } rows[] = {{0x10, 0, 1, 0, 0},
                {0x08, 1, 0, 0, 1},
                {0x0F, 1, 0, 1, 4},
                {0xFF, 1, 0, 1, 4},
                {0x07, 1, 0, 0, 3},
                {0, 0, 1, 0, 0}};
    struct guest *g = guest_make("full");

    set_vl(g, 4);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_bank(g, 1, rows[i].bank);
        set_p0(g, i & 1);
        guest_ok(g, "pmany 1, a0\n pmnone 1, a1\n pmall 1, a2\n pmpopcnt 1, a3\n");
        CHECK_ID("PM-051", g->hart->x[10] == rows[i].any);
        CHECK_ID("PM-052", g->hart->x[11] == rows[i].none);
        CHECK_ID("PM-053", g->hart->x[12] == rows[i].all);
        CHECK_ID("PM-054", g->hart->x[13] == rows[i].count);
        CHECK_ID("PM-055", get_p0(g) == (i & 1));
        CHECK_ID("PM-055", get_bank(g, 1) == rows[i].bank);
    }
    guest_free(g);
}

/* ---- scalar predicates -------------------------------------------------------------------------
 */

TEST(comparisons_set_p0_alone, "")
{
    /* Results for the pairs (1,2), (2,1), (2,2), (-1,1), by hand. */
    static const struct {
        const char *name;
        const char *result, *ids;
    } rows[] = {
        {"eq.u", "0010", "PM-056"},
        {"eq.s", "0010", "PM-057"},
        {"ne.u", "1101", "PM-058"},
        {"ne.s", "1101", "PM-059"},
        {"lt.u", "1000", "PM-060"},
        {"lt.s", "1001", "PM-061"},
        {"le.u", "1010", "PM-062"},
        {"le.s", "1011", "PM-063"},
        {"gt.u", "0101", "PM-064"},
        {"gt.s", "0100", "PM-065"},
        {"ge.u", "0111", "PM-066"},
        {"ge.s", "0110", "PM-067"},
    };
    static const uint64_t pairs[4][2] = {{1, 2}, {2, 1}, {2, 2}, {UINT64_MAX, 1}};
    struct guest *g = guest_make("full");

    for (unsigned bank = 1; bank < 4; bank++) {
        set_bank(g, bank, 0x30 + bank);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        harness_row(rows[i].ids);
        for (unsigned k = 0; k < 4; k++) {
            set_p0(g, rows[i].result[k] == '0');
            g->hart->x[10] = pairs[k][0];
            g->hart->x[11] = pairs[k][1];
            guest_ok(g, "pcmp.%s a0, a1\n", rows[i].name);
            CHECK_MSG(get_p0(g) == (uint64_t)(rows[i].result[k] - '0'),
                      "pcmp.%s of pair %u",
                      rows[i].name,
                      k);
        }
    }
    harness_row("PM-068");
    for (unsigned bank = 1; bank < 4; bank++) {
        CHECK_EQ(get_bank(g, bank), 0x30 + bank);
    }
    guest_free(g);
}

TEST(ptestnz_and_psel, "PM-069 PM-070")
{
    struct guest *g = guest_make("full");

    CHECK_EQ(t0_after(g, "li a0, 6\n li a1, 1\n ptestnz a0, a1\n pmmov.p0 t0\n"), 0);
    CHECK_EQ(t0_after(g, "li a0, 6\n li a1, 2\n ptestnz a0, a1\n pmmov.p0 t0\n"), 1);
    CHECK_EQ(t0_after(g, "li a0, -1\n slli a1, a0, 63\n ptestnz a0, a1\n pmmov.p0 t0\n"), 1);
    CHECK_EQ(t0_after(g, "li a0, 11\n li a1, 22\n psel t0, a0, a1\n"), 11);
    CHECK_EQ(t0_after(g, "li t0, 11\n psel t0, t0, a1\n"), 11);
    set_p0(g, false);
    CHECK_EQ(t0_after(g, "li a0, 11\n li a1, 22\n psel t0, a0, a1\n"), 22);
    CHECK_EQ(t0_after(g, "li t0, 11\n psel t0, t0, a1\n"), 22);
    guest_ok(g, "psel x0, a0, a1\n");
    CHECK_EQ(g->hart->x[0], 0);
    guest_free(g);
}

/* ---- branches ----------------------------------------------------------------------------------
 */

/* Whether `branch` (one instruction with the target 1f) is taken. */
static bool taken(struct guest *g, const char *branch)
{
    guest_ok(g, "li t1, 1\n %s 1f\n li t1, 0\n 1: nop\n", branch);
    return g->hart->x[6] == 1;
}

TEST(branches_on_p0, "PM-071 PM-072")
{
    struct guest *g = guest_make("full");

    for (int p0 = 0; p0 < 2; p0++) {
        set_p0(g, p0);
        CHECK_EQ(taken(g, "bp.t"), p0);
        CHECK_EQ(taken(g, "bp.f"), !p0);
        CHECK_EQ(get_p0(g), p0);
    }
    /* backward, and both ends of the range */
    set_p0(g, true);
    guest_ok(g, "j 2f\n 1: li t1, 7\n j 3f\n 2: bp.t 1b\n 3: nop\n");
    CHECK_EQ(g->hart->x[6], 7);
    guest_ok(g, "j 2f\n 1: j 3f\n .zero 4092\n 2: bp.t 1b\n 3: nop\n");
    guest_ok(g, "bp.t 1f\n .zero 4090\n 1: nop\n");
    g->hart->x[6] = 0;
    guest_ok(g, "bp.f 1f\n li t1, 9\n j 2f\n .zero 4000\n 1: li t1, 8\n 2: nop\n");
    CHECK_EQ(g->hart->x[6], 9);
    guest_free(g);
}

TEST(branch_offsets_are_exact, "PM-071 PM-072")
{
    static const char *const rows[] = {"bp.t . + 4094\n", "bp.t . + -4096\n", "bp.t . + 8\n"};
    static const int64_t offset[] = {4094, -4096, 8};
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 3; i++) {
        set_p0(g, true);
        /* assembled at the start of the code, executed 8 KiB above it */
        guest_ok(g, "j 1f\n %s 1: nop\n", rows[i]);
        guest_store(g, GUEST_CODE + 0x2000, 4, guest_load(g, GUEST_CODE + 4, 4));
        g->hart->pc = GUEST_CODE + 0x2000;
        CHECK(!facet_hart_step(g->hart).taken);
        CHECK_EQ(g->hart->pc, (uint64_t)GUEST_CODE + 0x2000 + (uint64_t)offset[i]);
        g->hart->pc = GUEST_CODE + 0x2000;
        g->hart->units.pmask.p0 = false;
        CHECK(!facet_hart_step(g->hart).taken);
        CHECK_EQ(g->hart->pc, GUEST_CODE + 0x2004);
    }
    guest_free(g);
}

TEST(branches_on_banks_leave_p0, "PM-075 PM-076 PM-077")
{
    struct guest *g = guest_make("full");

    set_vl(g, 4);
    for (int p0 = 0; p0 < 2; p0++) {
        set_p0(g, p0);
        set_bank(g, 2, 0x8);
        CHECK(taken(g, "bp.any 2,"));
        CHECK(!taken(g, "bp.none 2,"));
        CHECK_EQ(get_p0(g), p0);
        set_bank(g, 2, 0x10);
        CHECK(!taken(g, "bp.any 2,"));
        CHECK(taken(g, "bp.none 2,"));
        CHECK_EQ(get_p0(g), p0);
        CHECK(taken(g, "bp.any 0,"));
        CHECK(!taken(g, "bp.none 0,"));
    }
    guest_free(g);
}

static void assemble_word(const char *text, uint32_t *word)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "word.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint64_t base = 0;
    uint8_t *bytes = NULL;
    size_t size = 0;

    *word = 0;
    if (CHECK(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK) &&
        facet_object_flatten(result.object, &bytes, &size, &base, &err) == FACET_OK && size >= 4) {
        *word = (uint32_t)facet_load_le(bytes, 4);
    }
    free(bytes);
    facet_asm_result_free(&result);
}

TEST(bep_is_another_name, "PM-073")
{
    uint32_t a, b;
    char text[64];

    assemble_word("bep z, 1f\n nop\n 1: nop\n", &a);
    assemble_word("bp.f 1f\n nop\n 1: nop\n", &b);
    CHECK_EQ(a, b);
    (void)facet_isa_print(FACET_ISA_XPHMG, a, 0, NULL, text, sizeof text);
    CHECK_STR(text, "bp.f . + 8");
    assemble_word("bep nz, 1f\n nop\n 1: nop\n", &a);
    assemble_word("bp.t 1f\n nop\n 1: nop\n", &b);
    CHECK_EQ(a, b);
    (void)facet_isa_print(FACET_ISA_XPHMG, a, 0, NULL, text, sizeof text);
    CHECK_STR(text, "bp.t . + 8");
}

/* misa.C is fixed at 1: instructions are 2-byte aligned, an offset is even, so the exception of the
 * base ISA cannot occur. What can be seen is that a predicate branch treats pc + 2 exactly as beq
 * does: it goes there without a trap (R-PM-18). */
TEST(branch_to_half_word_behaves_as_beq, "PM-074")
{
    struct guest *g = guest_make("full");
    struct facet_trap base, mine;
    uint64_t pc;

    guest_ok(g, "pcmp.eq.u x0, x0\n");
    base = guest_run(g, "beq x0, x0, . + 6\n .half 0\n c.li a0, 5\n nop\n");
    pc = g->hart->pc;
    CHECK_EQ(g->hart->x[10], 5);
    g->hart->x[10] = 0;
    mine = guest_run(g, "bp.t . + 6\n .half 0\n c.li a0, 5\n nop\n");
    CHECK_EQ(base.taken, mine.taken);
    CHECK(!mine.taken);
    CHECK_EQ(g->hart->pc, pc);
    CHECK_EQ(g->hart->x[10], 5);
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_MISA), MISA_C), 1);
    guest_free(g);
}

/* ---- configurations ----------------------------------------------------------------------------
 */

/* One of each mnemonic: those of M1 first. */
static const char *const m1_rows[] = {"pmclr 1",
                                      "pmset 1",
                                      "pmmov.p0 a0",
                                      "pmmov.to_p0 a0",
                                      "pmany 1, a0",
                                      "pmnone 1, a0",
                                      "psel a0, a1, a2",
                                      "bp.t . + 4",
                                      "bp.f . + 4"};
static const char *const m2_rows[] = {
    "pmlow.rd 1, a0",   "pmhigh.rd 1, a0",  "pmlow.wr 1, a0",   "pmhigh.wr 1, a0",
    "pmnot 1",          "pmand 1, a0",      "pmor 1, a0",       "pmxor 1, a0",
    "pmandn 1, a0",     "pmpopcnt 1, a0",   "bp.any 1, . + 4",  "bp.none 1, . + 4",
    "pmall 1, a0",      "ptestnz a0, a1",   "pcmp.eq.u a0, a1", "pcmp.eq.s a0, a1",
    "pcmp.ne.u a0, a1", "pcmp.ne.s a0, a1", "pcmp.lt.u a0, a1", "pcmp.lt.s a0, a1",
    "pcmp.le.u a0, a1", "pcmp.le.s a0, a1", "pcmp.gt.u a0, a1", "pcmp.gt.s a0, a1",
    "pcmp.ge.u a0, a1", "pcmp.ge.s a0, a1"};
enum {
    M1_COUNT = sizeof m1_rows / sizeof m1_rows[0],
    M2_COUNT = sizeof m2_rows / sizeof m2_rows[0]
};

static void check_rows(struct guest *g, const char *const *rows, size_t count, bool legal)
{
    for (size_t i = 0; i < count; i++) {
        struct facet_trap trap;

        g->hart->x[10] = 3;
        trap = guest_run(g, "%s\n", rows[i]);
        CHECK_MSG(trap.taken == !legal, "%s", rows[i]);
        if (!legal) {
            CHECK_EQ(trap.cause, FACET_CAUSE_ILLEGAL);
            CHECK_EQ(trap.tval, guest_load(g, GUEST_CODE, 4));
            CHECK_EQ(g->hart->x[10], 3);
            CHECK_EQ(g->hart->units.pmask.bank[1], 0);
            CHECK(!g->hart->units.pmask.p0);
        }
    }
}

TEST(levels_decide_what_exists, "PM-083 PM-084 PM-085 PM-086")
{
    struct guest *g = guest_make("full");

    check_rows(g, m1_rows, M1_COUNT, true);
    check_rows(g, m2_rows, M2_COUNT, true);
    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PMASK_CAP) >> 1 & 7, 3);
    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_FEAT1) >> 8 & 3, 2);
    guest_configure(g, "pmask_level", 1);
    check_rows(g, m2_rows, M2_COUNT, false);
    check_rows(g, m1_rows, M1_COUNT, true);
    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_FEAT1) >> 8 & 3, 1);
    guest_configure(g, "pmask_level", 0);
    check_rows(g, m1_rows, M1_COUNT, false);
    guest_free(g);
}

TEST(without_pmask_every_row_is_illegal, "PM-091")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "pmask_present", 0);
    check_rows(g, m1_rows, M1_COUNT, false);
    check_rows(g, m2_rows, M2_COUNT, false);
    guest_free(g);
}

/* Rows with the bank left open as %u. */
static void check_banks(struct guest *g, const char *const *rows, size_t row_count, unsigned banks)
{
    for (size_t i = 0; i < row_count; i++) {
        for (unsigned bank = 0; bank < 4; bank++) {
            char text[64];
            struct facet_trap trap;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(text, sizeof text, rows[i], bank);
#pragma GCC diagnostic pop
            trap = guest_run(g, "%s\n", text);
            CHECK_MSG(trap.taken == (bank >= banks), "%s with %u banks", text, banks);
            CHECK(!trap.taken || trap.cause == FACET_CAUSE_ILLEGAL);
        }
    }
}

TEST(banks_that_are_not_there_are_illegal, "PM-017 PM-018 PM-019")
{
    static const char *const with_bank[] = {"pmclr %u",
                                            "pmset %u",
                                            "pmlow.rd %u, a0",
                                            "pmhigh.rd %u, a0",
                                            "pmlow.wr %u, a0",
                                            "pmhigh.wr %u, a0",
                                            "pmnot %u",
                                            "pmand %u, a0",
                                            "pmor %u, a0",
                                            "pmxor %u, a0",
                                            "pmandn %u, a0",
                                            "pmany %u, a0",
                                            "pmnone %u, a0",
                                            "pmall %u, a0",
                                            "pmpopcnt %u, a0",
                                            "bp.any %u, . + 4",
                                            "bp.none %u, . + 4"};
    struct guest *g = guest_make("min");

    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PMASK_CAP) >> 1 & 7, 1);
    check_banks(g, with_bank, sizeof with_bank / sizeof with_bank[0], 2);
    for (unsigned banks = 1; banks <= 4; banks++) {
        guest_configure(g, "pmask_banks", banks);
        check_banks(g, with_bank, sizeof with_bank / sizeof with_bank[0], banks);
    }
    guest_free(g);
    g = guest_make("full");
    CHECK_EQ(guest_csrr(g, FACET_CSR_CAP_PMASK_CAP) >> 1 & 7, 3);
    guest_free(g);
}

/* Whether a row of the instruction table has the word: nothing else may execute. */
static bool listed(uint32_t word)
{
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_XPHMG]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];
        bool legal = (word & row->mask) == row->match;

        for (unsigned k = 0; legal && k < row->operand_count; k++) {
            const struct facet_operand *o = &row->operands[k];

            legal = facet_operand_legal(o, facet_operand_get(o, word));
        }
        if (legal) {
            return true;
        }
    }
    return false;
}

TEST(words_outside_the_table_are_illegal, "PM-089 PM-090")
{
    struct guest *g = guest_make("full");
    unsigned legal = 0, illegal = 0;

    for (unsigned i = 0; i < 60000 && !harness_failed(); i++) {
        uint64_t r = harness_random();
        /* most fields are zero half of the time, so that legal words are met */
        uint32_t word = 0x7B | (uint32_t)(r % 3) << 12;
        struct facet_trap trap;

        word |= (uint32_t)(r >> 8 & 1 ? r >> 32 & 0x7F : r >> 32 & 0x1F) << 25;
        word |= (uint32_t)(r >> 9 & 1 ? r >> 40 & 0x1F : r >> 40 & 3) << 20;
        word |= (uint32_t)(r >> 10 & 1 ? r >> 48 & 0x1F : r >> 48 & 3 & (r >> 11)) << 15;
        word |= (uint32_t)(r >> 12 & 1 ? r >> 54 & 0x1F : 0) << 7;
        guest_store(g, GUEST_CODE, 4, word);
        g->hart->pc = GUEST_CODE;
        trap = facet_hart_step(g->hart);
        if (listed(word)) {
            legal++;
            CHECK_MSG(!trap.taken, "0x%08x must execute", word);
        } else {
            illegal++;
            CHECK_MSG(trap.taken && trap.cause == FACET_CAUSE_ILLEGAL && trap.tval == word,
                      "0x%08x must be illegal",
                      word);
        }
    }
    CHECK(legal > 1000 && illegal > 1000);
    guest_ok(g, "li t0, 1\n pmmov.to_p0 t0\n");
    guest_store(g, GUEST_CODE, 4, 0x0040007B); /* pmclr with bit 22 */
    g->hart->pc = GUEST_CODE;
    CHECK_EQ(facet_hart_step(g->hart).cause, FACET_CAUSE_ILLEGAL);
    CHECK(g->hart->units.pmask.p0);
    guest_free(g);
}

/* ---- a second formulation ----------------------------------------------------------------------
 */

/* Masks as arrays of lanes; each operation is a sentence of the table. */
struct model {
    bool bank[4][64];
    bool p0;
    unsigned vl;
    uint64_t x[8];
};

static bool lane(const struct model *m, unsigned bank, unsigned i)
{
    return bank == 0 ? i < m->vl : m->bank[bank][i];
}

static unsigned count(const struct model *m, unsigned bank)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->vl; i++) {
        n += lane(m, bank, i);
    }
    return n;
}

enum { OP_COUNT = 17 };

/* Performs operation `op` on the model and writes its text. Registers are a0..a7. */
static void model_step(
    struct model *m, unsigned op, unsigned bank, unsigned rd, unsigned rs, char *text, size_t size)
{
    static const char *const format[OP_COUNT] = {"pmclr %u\n",
                                                 "pmset %u\n",
                                                 "pmmov.p0 a%u\n",
                                                 "pmmov.to_p0 a%u\n",
                                                 "pmlow.rd %u, a%u\n",
                                                 "pmhigh.rd %u, a%u\n",
                                                 "pmlow.wr %u, a%u\n",
                                                 "pmhigh.wr %u, a%u\n",
                                                 "pmnot %u\n",
                                                 "pmand %u, a%u\n",
                                                 "pmor %u, a%u\n",
                                                 "pmxor %u, a%u\n",
                                                 "pmandn %u, a%u\n",
                                                 "pmany %u, a%u\n",
                                                 "pmnone %u, a%u\n",
                                                 "pmall %u, a%u\n",
                                                 "pmpopcnt %u, a%u\n"};
    bool to_bank = op < 2 || (op >= 8 && op <= 12);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (op == 2 || op == 3) {
        (void)snprintf(text, size, format[op], op == 2 ? rd : rs);
    } else {
        bool writes_rd = op == 4 || op == 5 || op >= 13;

        (void)snprintf(text, size, format[op], bank, writes_rd ? rd : rs);
    }
#pragma GCC diagnostic pop
    for (unsigned i = 0; i < 64 && bank != 0; i++) {
        bool old = m->bank[bank][i], r = (m->x[rs] >> i & 1) != 0;
        bool next[OP_COUNT] = {[0] = false,
                               [1] = i < m->vl,
                               [8] = !old,
                               [9] = old && r,
                               [10] = old || r,
                               [11] = old != r,
                               [12] = old && !r};

        if (to_bank) {
            m->bank[bank][i] = next[op];
        } else if (op == 6 && i < 32) {
            m->bank[bank][i] = r;
        } else if (op == 7 && i >= 32) {
            m->bank[bank][i] = (m->x[rs] >> (i - 32) & 1) != 0;
        }
    }
    if (to_bank && bank != 0) {
        m->p0 = m->bank[bank][0];
    }
    if (op == 3) {
        m->p0 = m->x[rs] != 0;
    }
    if (op == 2) {
        m->x[rd] = m->p0;
    } else if (op == 4 || op == 5) {
        uint64_t value = 0;

        for (unsigned i = 0; i < 32; i++) {
            value |= (uint64_t)lane(m, bank, i + (op == 5 ? 32 : 0)) << i;
        }
        m->x[rd] = value;
    } else if (op >= 13) {
        unsigned n = count(m, bank);

        m->x[rd] = op == 13 ? n > 0 : op == 14 ? n == 0 : op == 15 ? n == m->vl : n;
    }
}

static uint64_t packed(const struct model *m, unsigned bank)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 64; i++) {
        value |= (uint64_t)m->bank[bank][i] << i;
    }
    return value;
}

static uint64_t walk(unsigned seed, unsigned length)
{
    struct guest *g = guest_make("full");
    struct model m = {.vl = 1};
    uint64_t digest = seed, state = seed;

    for (unsigned i = 0; i < length && !harness_failed(); i++) {
        uint64_t r;
        char text[64];

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        r = state >> 20;
        if (r % 16 == 0) {
            m.vl = (unsigned)(r >> 8) % 64 + 1;
            set_vl(g, m.vl);
            continue;
        }
        if (r % 4 == 1) {
            uint64_t wide = state ^ state << 23;

            m.x[r >> 8 & 7] = wide;
            g->hart->x[10 + (r >> 8 & 7)] = wide;
        }
        model_step(&m,
                   (unsigned)(r >> 12) % OP_COUNT,
                   (unsigned)(r >> 24) & 3,
                   (unsigned)(r >> 26) & 7,
                   (unsigned)(r >> 29) & 7,
                   text,
                   sizeof text);
        guest_ok(g, "%s", text);
        CHECK_EQ(g->hart->units.pmask.p0, m.p0);
        for (unsigned k = 0; k < 8; k++) {
            CHECK_EQ(g->hart->x[10 + k], m.x[k]);
        }
        for (unsigned bank = 1; bank < 4; bank++) {
            CHECK_EQ(g->hart->units.pmask.bank[bank], packed(&m, bank));
            digest = digest * 31 + g->hart->units.pmask.bank[bank] + g->hart->units.pmask.p0;
        }
    }
    guest_free(g);
    return digest;
}

TEST(random_walks_agree_with_lane_arrays, "PM-078")
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        CHECK_EQ(walk(seed, 800), walk(seed, 800)); /* and twice the same */
    }
}

/* ---- RSV and traces ----------------------------------------------------------------------------
 */

TEST(predicate_instructions_are_not_repeated, "")
{
    struct guest *g = guest_make("full");
    uint64_t before;

    guest_csrw(g, FACET_CSR_SVSTATE, FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | 7);
    before = guest_csr(g, FACET_CSR_SVSTATE);
    /* li would be repeated: registers are set from outside */
    g->hart->x[10] = 1;
    g->hart->x[11] = 77;
    guest_ok(g, "pmset 1\n pcmp.eq.u x0, a0\n pmor 1, a0\n pmpopcnt 1, a1\n psel a2, a0, a1\n");
    CHECK_EQ(g->hart->x[11], 8);
    CHECK_EQ(g->hart->x[12], 1);
    CHECK_EQ(g->hart->x[13], 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVSTATE), before);
    guest_free(g);
}

static unsigned seen_count;
static struct facet_reg_event seen[8];

static void see(void *context, const struct facet_reg_event *event)
{
    (void)context;
    if (seen_count < 8) {
        seen[seen_count] = *event;
    }
    seen_count++;
}

/* Bit 3 of bank 1 is lane 3 of whoever is masked by it. RT and GFX:
 * gfx/test_seams.c. */
TEST(bit_three_is_lane_three_everywhere, "PM-014")
{
    enum { IN = GUEST_DATA, OUT = GUEST_DATA + 0x1000, MATRIX = GUEST_DATA + 0x2000 };
    const uint64_t masked = 7 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | UINT64_C(1) << 10;
    struct guest *g = guest_make("full");
    struct facet_hart *h = g->hart;

    set_bank(g, 1, 1u << 3);
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, UINT64_C(0x8000000000300000)); /* FP32 */
    for (unsigned i = 0; i < 4; i++) {                                    /* the 2x2 identity */
        guest_store(g, MATRIX + 4 * i, 4, i == 0 || i == 3 ? 0x3F800000 : 0);
    }
    h->x[10] = MATRIX;
    guest_ok(g, "mtx.ld a0, shape=5, rowmajor=1\n");
    for (unsigned unit = 0; unit < 4; unit++) {
        static const char *const text[] = {"addi x8, x8, 1\n", /* RSV */
                                           "xmem.ldg.d x8, (x16), 0, 1\n",
                                           "xmem.stg.d x24, (x16), 0, 1\n",
                                           "mtx.mul x24, x16, shape=5\n"};

        for (unsigned i = 0; i < 8; i++) {
            h->x[8 + i] = 100 + i;
            h->x[16 + i] = IN + 8 * i;
            h->x[24 + i] = OUT + 8 * i;
            guest_store(g, IN + 8 * i, 8, UINT64_C(0x3F8000003F800000));
            guest_store(g, OUT + 8 * i, 8, 0);
        }
        h->units.rsv.svstate = masked;
        guest_ok(g, "%s", text[unit]);
        for (unsigned i = 0; i < 8; i++) {
            bool changed = unit < 2    ? h->x[8 + i] != 100 + i
                           : unit == 2 ? guest_load(g, IN + 8 * i, 8) == OUT + 8 * i
                                       : guest_load(g, OUT + 8 * i, 8) != 0;

            CHECK_MSG(changed == (i == 3), "lane %u of unit %u", i, unit);
        }
    }
    guest_free(g);
}

TEST(every_change_is_told, "")
{
    struct facet_observer observer = {.reg_write = see};
    struct guest *g = guest_make("full");

    set_bank(g, 2, 0x10);
    guest_observe(g, &observer);
    seen_count = 0;
    g->hart->x[10] = 3;
    guest_ok(g, "pmor 2, a0\n pmclr 0\n pmany 2, x0\n");
    CHECK_EQ(seen_count, 2);
    CHECK_EQ(seen[0].index, FACET_HART_REG_P0 + 2);
    CHECK_EQ(seen[0].old_value.lo, 0x10);
    CHECK_EQ(seen[0].new_value.lo, 0x13);
    CHECK_EQ(seen[1].index, FACET_HART_REG_P0);
    CHECK_EQ(seen[1].old_value.lo, 0);
    CHECK_EQ(seen[1].new_value.lo, 1);
    guest_free(g);
}
