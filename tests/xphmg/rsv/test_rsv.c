/* Register vectors by example: prefixes, SV CSRs, lifetimes, windows, predication, faults. The
 * random comparison with scalar instructions is in test_random.c, floating point in
 * test_fp.c, RSV with the other units in test_units.c. */
#include "xphmg/guest.h"

#include "isa/isa.h"

#include <stdio.h>

enum { BAD = 0x1000 }; /* no memory there */

static uint64_t state(const struct guest *g)
{
    return guest_csr(g, FACET_CSR_SVSTATE);
}

/* x1..x31 = base + number. */
static void number_registers(struct guest *g, uint64_t base)
{
    for (unsigned r = 1; r < 32; r++) {
        g->hart->x[r] = base + r;
    }
}

static void set_bank(struct guest *g, unsigned bank, uint64_t bits)
{
    g->hart->units.pmask.bank[bank] = bits;
    guest_csrw(g, FACET_CSR_SVSTATE, FACET_PUT(state(g), SVSTATE_PBANK, bank));
}

/* MODE with these fields, applied; the rest as after reset. */
static void set_mode(struct guest *g, uint64_t fields)
{
    guest_csrw(g,
               FACET_CSR_CAP_PREC_MODE,
               FACET_CAP_PREC_MODE_RESET | fields | FACET_CAP_PREC_MODE_APPLY0);
}

/* Which x registers differ from base + number. */
static uint32_t changed(const struct guest *g, uint64_t base)
{
    uint32_t mask = 0;

    for (unsigned r = 1; r < 32; r++) {
        mask |= (uint32_t)(g->hart->x[r] != base + r) << r;
    }
    return mask;
}

/* ---- prefixes ---------------------------------------------------------------------------------
 */

TEST(svsetvl_sets_and_reports_the_effective_length, "")
{
    struct guest *g = guest_make("full");
    const uint64_t requests[][2] = {{1, 1},
                                    {3, 3},
                                    {63, 63},
                                    {64, 64},
                                    {65, 64},
                                    {200, 64},
                                    {255, 64},
                                    {256, 64},
                                    {0, 64},
                                    {0x105, 5},
                                    {0x100, 64},
                                    {~0ull, 64},
                                    {0xFF00, 64},
                                    {0x12301, 1},
                                    {1ull << 63, 64}};

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        g->hart->x[7] = requests[i][0];
        guest_ok(g, "svsetvl x5, x7\n");
        harness_row((requests[i][0] & 0xFF) == 0   ? "RSV-013 RSV-064"
                    : (requests[i][0] & 0xFF) > 64 ? "RSV-013 RSV-030"
                                                   : "RSV-013 RSV-031 RSV-062");
        CHECK_EQ(g->hart->x[5], requests[i][1]);
        CHECK_ID("RSV-028 RSV-047", state(g) == requests[i][1] - 1);
    }
    for (unsigned n = 1; n <= 256; n++) {
        harness_row(n == 256 ? "RSV-064" : n > 64 ? "RSV-030" : "RSV-063 RSV-031");
        guest_ok(g, "svsetvl x5, %u\n", n);
        CHECK_EQ(g->hart->x[5], n < 64 ? n : 64);
        CHECK_EQ(FACET_GET(state(g), SVSTATE_VLM1), (n < 64 ? n : 64) - 1);
    }
    guest_ok(g, ".word 0x0070028B\n");
    CHECK_ID("RSV-063", g->hart->x[5] == 7);
    harness_row("RSV-064");
    guest_ok(g, ".word 0x0000028B\n"); /* value 0 of either form */
    CHECK_EQ(g->hart->x[5], 64);
    harness_row("RSV-047");
    guest_ok(g, "svsetvl x0, 9\n");
    CHECK_EQ(g->hart->x[0], 0);
    CHECK_EQ(state(g), 8);
    guest_free(g);
}

/* What xphmg_rsv.md 6.1 allows, from the fields of the word. */
static bool prefix_is_legal(uint32_t word)
{
    unsigned imm = word >> 20, rs1 = word >> 15 & 31, funct3 = word >> 12 & 7, rd = word >> 7 & 31;

    switch (funct3) {
    case 0: /* imm[11:8] = 0; the immediate form needs rs1 = x0 */
        return imm >> 8 == 0 && (imm == 0 || rs1 == 0);
    case 1:
        return imm == 1 && rs1 == 0 && rd == 0;
    case 2:
        return imm >> 8 == 0 && rs1 == 0 && rd == 0;
    case 3:
        return imm == 0 && rs1 == 0 && rd == 0;
    case 4: /* step codes 1xx are reserved */
        return rs1 == 0 && rd == 0 && (imm & 0x20) == 0 && (imm & 4) == 0;
    default:
        return rs1 == 0 && rd == 0 && imm >> 5 == 0;
    }
}

TEST(every_other_word_of_the_opcode_is_illegal, "")
{
    static const uint8_t registers[] = {0, 1, 16, 31};
    static const struct {
        const char *text;
        uint32_t word;
        const char *ids;
    } words[] = {{"svon.one", 0x0010100B, "RSV-066"},
                 {"svon.blk 3", 0x0030200B, "RSV-067"},
                 {"svend", 0x0000300B, "RSV-069"},
                 {"svp.one.vlstep 4, 0, 4", 0x0C30400B, "RSV-070"},
                 {"svon.fpctl rc=RTZ, sae=1, z=0", 0x0060500B, "RSV-071"},
                 {"svsetvl x5, 7", 0x0070028B, "RSV-063"}};
    struct guest *g = guest_make("full");

    harness_row("RSV-002 RSV-095 RSV-146 RSV-147");
    for (uint32_t imm = 0; imm < 4096; imm++) {
        for (unsigned k = 0; k < 16 * 6; k++) {
            uint32_t word = imm << 20 | (uint32_t)registers[k & 3] << 15 |
                            (uint32_t)registers[k >> 2 & 3] << 7 | (k >> 4) << 12 | 0x0B;
            const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_XPHMG, word);

            if (!CHECK_MSG((row != NULL) == prefix_is_legal(word), "0x%08x", word)) {
                break;
            }
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        harness_row(words[i].ids);
        guest_ok(g, "%s\n", words[i].text);
        CHECK_EQ(guest_load(g, GUEST_CODE, 4), words[i].word);
        guest_ok(g, "svend\n");
    }
    harness_row("RSV-065 RSV-124");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x1000000B\n"), 0x1000000B);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0010800B\n"), 0x0010800B);
    harness_row("RSV-076 RSV-124");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0E00400B\n"), 0x0E00400B); /* imm[5] */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0C40400B\n"), 0x0C40400B); /* imm[2] */
    guest_free(g);
}

TEST(prefixes_set_the_fields_of_svstate, "")
{
    struct guest *g = guest_make("full");

    harness_row("RSV-037 RSV-085");
    guest_ok(g, "svon.one\n");
    CHECK_EQ(state(g), FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
    CHECK_ID("RSV-044", (guest_csr(g, 0x7F8) >> 8 & 1) == 1);
    CHECK_ID("RSV-045", (guest_csr(g, 0x7F8) >> 9 & 1) == 1);
    harness_row("RSV-086");
    guest_ok(g, "svon.blk 5\n"); /* replaces the one-shot */
    CHECK_EQ(state(g), FACET_SVSTATE_EN | 5ull << FACET_SVSTATE_BLK_LSB);
    harness_row("RSV-046");
    guest_ok(g, "add x12, x10, x11\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 4);
    harness_row("RSV-087");
    guest_ok(g, "svend\n");
    CHECK_EQ(state(g), 0);
    harness_row("RSV-068");
    guest_ok(g, "svon.blk 0\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 256);
    guest_ok(g, "svon.blk 256\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 256);
    harness_row("RSV-088");
    guest_ok(g, "svp.one.vlstep 33, 2, 4\n");
    CHECK_EQ(state(g),
             32 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_STEPV |
                 2ull << FACET_SVSTATE_SSTEP_LSB | 3ull << FACET_SVSTATE_DSTEP_LSB);
    guest_ok(g, "svon.one\n"); /* the steps were those of svp.one.vlstep, VL stays */
    CHECK_EQ(FACET_GET(state(g), SVSTATE_STEPV), 0);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_VLM1), 32);
    harness_row("RSV-037");
    guest_ok(g, "svon.fpctl rc=RUP, sae=1, z=1\n svend\n"); /* svend keeps a pending fpctl */
    CHECK_EQ(state(g) & (FACET_SVSTATE_FPC_V | FACET_SVSTATE_FPC_RC | FACET_SVSTATE_FPC_SAE |
                         FACET_SVSTATE_FPC_Z),
             FACET_SVSTATE_FPC_V | 3ull << FACET_SVSTATE_FPC_RC_LSB | FACET_SVSTATE_FPC_SAE |
                 FACET_SVSTATE_FPC_Z);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_EN), 0);
    guest_ok(g, "svsetvl x0, 4\n svon.blk 2\n");
    guest_ok(g, "svsetvl x0, 3\n"); /* does not touch EN or the block */
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 2);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_EN), 1);
    guest_free(g);
}

TEST(prefixes_touch_nothing_but_svstate, "RSV-092 RSV-093 RSV-096")
{
    static const char *const prefixes[] = {"svon.one",
                                           "svon.blk 7",
                                           "svend",
                                           "svp.one.vlstep 5, 1, 2",
                                           "svon.fpctl rc=RDN, z=1",
                                           "svsetvl x0, x3"};
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        struct facet_hart before;

        guest_csrw(g, FACET_CSR_SVSTATE, 0);
        number_registers(g, 0x100);
        set_bank(g, 1, 0); /* predication does not matter */
        g->hart->pc = GUEST_CODE;
        before = *g->hart;
        guest_ok(g, "%s\n", prefixes[i]);
        CHECK_MSG(g->hart->units.rsv.svstate != before.units.rsv.svstate || i == 2,
                  "%s does nothing",
                  prefixes[i]);
        g->hart->units.rsv.svstate = before.units.rsv.svstate;
        before.pc += 4;
        before.next_pc = before.pc;
        before.retired++;
        CHECK_MSG(memcmp(&before, g->hart, sizeof before) == 0, "%s changes more", prefixes[i]);
    }
    /* A prefix between prefix and target spends nothing. */
    number_registers(g, 0x100);
    guest_csrw(g, FACET_CSR_SVSTATE, 0);
    guest_ok(g, "svon.fpctl z=1\n svon.one\n svsetvl x0, 3\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 1);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_ONE_SHOT), 1);
    guest_free(g);
}

TEST(without_rsv_prefixes_are_illegal_and_its_registers_read_zero, "RSV-003")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "feat0", g->config.feat0 & ~FACET_CAP_FEAT0_RSV_PRESENT);
    guest_traps(g, FACET_CAUSE_ILLEGAL, "svsetvl x5, 3\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "svon.one\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "svend\n");
    guest_csrw(g, FACET_CSR_SVSTATE, ~0ull);
    CHECK_EQ(guest_csrr(g, FACET_CSR_SVSTATE), 0);
    g->hart->x[10] = 1, g->hart->x[11] = 2, g->hart->x[13] = 4;
    guest_ok(g, "add x12, x10, x11\n");
    CHECK_EQ(g->hart->x[12], 3);
    CHECK_EQ(g->hart->x[13], 4);
    guest_free(g);
}

TEST(profiles_are_absent, "RSV-144 RSV-145")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < FACET_XPHMG_OP_COUNT; i++) {
        const char *name = facet_isa_rows[FACET_ISA_XPHMG][i].mnemonic;

        CHECK_MSG(strncmp(name, "prmt", 4) != 0 && strncmp(name, "cexp", 4) != 0 &&
                      strncmp(name, "xrsv", 4) != 0,
                  "%s",
                  name);
    }
    /* custom-1 belongs to GFX; funct3 110 and 111 with reserved bits have no row. */
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0xFFFF702B\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, ".word 0x0800002B\n");
    guest_free(g);
}

/* ---- SV CSRs ----------------------------------------------------------------------------------
 */

TEST(sv_csrs_have_their_numbers_fields_and_reset_values, "")
{
    static const struct {
        unsigned number;
        uint64_t bits; /* that a write of ones leaves set */
        const char *reset, *ids;
    } csrs[] = {{0x7F9, 0x800000000000FF1F, "RSV-052", "RSV-038 RSV-051"},
                {0x7FA, 0x800000000000FF1F, "RSV-052", "RSV-039 RSV-051"},
                {0x7FB, 0x800000000000FF1F, "RSV-052", "RSV-040 RSV-051"},
                {0x7FE, 0, "RSV-053", "RSV-041 RSV-053"},
                {0x7FF, 0x8000000000FFFFFF, "RSV-125", "RSV-007 RSV-042 RSV-056"}};
    struct guest *g = guest_make("full");

    CHECK_ID("RSV-005 RSV-049", guest_csrr(g, 0x7F8) == 0);
    for (size_t i = 0; i < sizeof csrs / sizeof csrs[0]; i++) {
        CHECK_ID(csrs[i].reset, guest_csrr(g, csrs[i].number) == 0);
        guest_csrw(g, csrs[i].number, ~0ull);
        harness_row(csrs[i].ids);
        CHECK_EQ(guest_csrr(g, csrs[i].number), csrs[i].bits);
        CHECK_ID("RSV-005", guest_csrr(g, csrs[i].number) == csrs[i].bits);
        CHECK_ID("RSV-059", (guest_csrr(g, csrs[i].number) & ~csrs[i].bits) == 0);
    }
    harness_row("RSV-006 RSV-043");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x7FC\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x7FD\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrw 0x7FC, t0\n");
    guest_traps(g, FACET_CAUSE_ILLEGAL, "csrw 0x7FD, t0\n");
    harness_row("RSV-059");
    /* VLMAX is 64 and step codes above 3 do not exist; EN stays off here */
    guest_ok(g, "li t0, 0x%llx\n csrw SVSTATE, t0\n", 0xFFFFFFEFFull & ~0x100ull);
    CHECK_EQ(guest_csr(g, 0x7F8) & ~FACET_SVSTATE_WRITABLE, 0);
    CHECK(FACET_GET(guest_csr(g, 0x7F8), SVSTATE_VLM1) < 64);
    guest_reset(g);
    harness_row("RSV-049"); /* VL = 1 after reset: svon.one; add is one lane */
    number_registers(g, 0x100);
    guest_ok(g, "svon.one\n add x12, x10, x11\n");
    CHECK_EQ(changed(g, 0x100), 1u << 12);
    guest_free(g);
}

TEST(sv_csrs_alias_nothing, "RSV-004")
{
    struct guest *g = guest_make("full");
    struct facet_hart before, after;

    number_registers(g, 0x100);
    guest_ok(g, "li t0, -1\n");
    before = *g->hart;
    guest_ok(g,
             "csrw SVSRCA, t0\n csrw SVSRCB, t0\n csrw SVDST, t0\n csrw SVFAULTI, t0\n"
             "csrw SVSAT, t0\n csrwi SVSTATE, 17\n");
    after = *g->hart;
    CHECK(after.units.rsv.svsrca != before.units.rsv.svsrca);
    after.units.rsv = before.units.rsv;
    CHECK(memcmp(&before.units, &after.units, sizeof before.units) == 0);
    CHECK(memcmp(before.x, after.x, sizeof before.x) == 0);
    CHECK(memcmp(before.f, after.f, sizeof before.f) == 0);
    CHECK_EQ(before.mstatus, after.mstatus);
    CHECK_EQ(before.fflags, after.fflags);
    guest_free(g);
}

TEST(sv_csrs_are_machine_mode_and_prefixes_are_not, "RSV-057 RSV-143")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    g->hart->priv = FACET_PRIV_U;
    guest_ok(g, "svsetvl x5, 3\n svon.one\n add x20, x10, x10\n");
    CHECK_EQ(g->hart->x[22], 0x218);
    for (unsigned number = 0x7F8; number <= 0x7FF; number++) {
        g->hart->priv = FACET_PRIV_U;
        guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number);
    }
    /* A fault in U-mode: the M-mode handler reads SVSTATE and SVFAULTI. */
    g->hart->priv = FACET_PRIV_U;
    g->hart->x[10] = g->hart->x[12] = GUEST_DATA;
    g->hart->x[11] = BAD;
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n ld x20, 0(x10)\n");
    CHECK_EQ(g->hart->priv, FACET_PRIV_M);
    CHECK_EQ(guest_csrr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 5 << 16 | 1);
    CHECK_EQ(guest_csrr(g, FACET_CSR_SVSTATE), 2 | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_PEN);
    guest_free(g);
}

TEST(pbank_of_an_absent_bank_is_stored_as_zero, "RSV-050")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "pmask_banks", 2);
    for (unsigned bank = 0; bank < 4; bank++) {
        guest_csrw(g, FACET_CSR_SVSTATE, (uint64_t)bank << FACET_SVSTATE_PBANK_LSB);
        CHECK_EQ(FACET_GET(guest_csrr(g, FACET_CSR_SVSTATE), SVSTATE_PBANK), bank < 2 ? bank : 0);
    }
    guest_free(g);
}

static uint64_t seen_csr[8], seen_count;

static void see_csr(void *context, const struct facet_reg_event *event)
{
    (void)context;
    if (event->index == FACET_CSR_SVSTATE && seen_count < 8) {
        seen_csr[seen_count++] = event->new_value.lo;
    }
}

TEST(debuggers_and_observers_see_every_change_of_svstate, "RSV-142")
{
    struct guest *g = guest_make("full");
    struct facet_observer observer = {.csr_write = see_csr};

    seen_count = 0;
    guest_observe(g, &observer);
    guest_ok(g, "svsetvl x0, 2\n svon.blk 2\n add x5, x6, x7\n add x5, x6, x7\n");
    guest_observe(g, NULL);
    CHECK_EQ(seen_count, 4);
    CHECK_EQ(seen_csr[0], 1);
    CHECK_EQ(seen_csr[1], 1 | FACET_SVSTATE_EN | 2ull << 12);
    CHECK_EQ(seen_csr[2], 1 | FACET_SVSTATE_EN | 1ull << 12);
    CHECK_EQ(seen_csr[3], 1);
    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 0x305);
    CHECK_EQ(facet_hart_csr_peek(g->hart, FACET_CSR_SVSTATE), 1);
    CHECK_EQ(facet_hart_csr_peek(g->hart, FACET_CSR_SVSRCA), 1ull << 63 | 0x305);
    CHECK_EQ(facet_hart_csr_peek(g->hart, FACET_CSR_CAP_PREC_MODE), FACET_CAP_PREC_MODE_RESET);
    guest_free(g);
}

/* ---- lifetimes --------------------------------------------------------------------------------
 */

TEST(a_one_shot_lasts_one_affected_instruction, "RSV-029 RSV-097 RSV-098")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 4\n svon.one\n add x20, x8, x8\n add x26, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 0xFu << 20 | 1u << 26);
    CHECK_EQ(state(g), 3);
    number_registers(g, 0x100); /* VL is still 4; what is not affected does not spend it */
    guest_ok(g,
             "svon.one\n j 1f\n1: csrr x0, SVSTATE\n fence\n beq x1, x2, 1b\n"
             "add x20, x8, x8\n add x26, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 0xFu << 20 | 1u << 26);
    number_registers(g, GUEST_DATA); /* LR and SC are not affected */
    g->hart->x[8] = GUEST_DATA;
    guest_ok(g, "svon.one\n lr.w x6, (x8)\n sc.w x6, x9, (x8)\n add x20, x10, x10\n");
    CHECK_EQ(g->hart->x[7], GUEST_DATA + 7);
    CHECK_EQ(g->hart->x[23], 2ull * GUEST_DATA + 26);
    guest_free(g);
}

TEST(a_block_counts_affected_instructions, "RSV-061 RSV-099 RSV-100 RSV-108")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 3\n svon.blk 2\n add x12, x8, x8\n beq x1, x2, .+4\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 1);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_EN), 1);
    guest_ok(g, "add x20, x8, x8\n add x26, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 7u << 12 | 7u << 20 | 1u << 26);
    CHECK_EQ(state(g), 2);
    /* A trap inside a block leaves the count; 256 instructions are possible. */
    g->hart->x[8] = BAD;
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.blk 0\n add x12, x1, x1\n ld x20, 0(x8)\n");
    CHECK_EQ(FACET_GET(state(g), SVSTATE_BLK), 255);
    guest_free(g);
}

TEST(svend_ends_a_block_and_an_open_state, "RSV-087 RSV-141")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 3\n svon.blk 5\n svend\n add x12, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 1u << 12);
    /* EN = 1 without one-shot and block: on until svend (R-RSV-08). */
    number_registers(g, 0x100);
    g->hart->units.rsv.svstate = 2 | FACET_SVSTATE_EN;
    guest_ok(g, "add x12, x8, x8\n add x12, x8, x8\n add x12, x8, x8\n svend\n add x16, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 7u << 12 | 1u << 16);
    /* Left-over windows and steps do nothing to scalar code. */
    guest_csrw(g, FACET_CSR_SVDST, 1ull << 63 | 0x400 | 9);
    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 0x200 | 3);
    number_registers(g, 0x100);
    guest_ok(g, "svp.one.vlstep 8, 2, 2\n svend\n sub x12, x8, x1\n");
    CHECK_EQ(changed(g, 0x100), 1u << 12);
    CHECK_EQ(g->hart->x[12], 7);
    guest_free(g);
}

TEST(scalar_programs_do_not_see_rsv_state, "RSV-001 RSV-101")
{
    struct guest *with = guest_make("full"), *without = guest_make("full");
    static const char program[] =
        "li a0, 10\n li a1, 3\n1: mul a2, a0, a1\n sd a2, 0(a4)\n ld a3, 0(a4)\n"
        "fcvt.s.l f1, a2\n fdiv.s f2, f1, f3\n amoadd.d a5, a1, (a4)\n addi a0, a0, -1\n"
        "bnez a0, 1b\n";

    guest_configure(without, "feat0", without->config.feat0 & ~FACET_CAP_FEAT0_RSV_PRESENT);
    with->hart->x[14] = without->hart->x[14] = GUEST_DATA;
    guest_csrw(with, FACET_CSR_SVSRCA, ~0ull);
    guest_csrw(with, FACET_CSR_SVSRCB, 1ull << 63 | 0x705);
    guest_csrw(with, FACET_CSR_SVDST, 1ull << 63 | 0x1F03);
    guest_csrw(with, FACET_CSR_SVSTATE, 0xFFFFFFFFFull & ~FACET_SVSTATE_EN & ~FACET_SVSTATE_PEN);
    without->hart->x[5] = with->hart->x[5];
    guest_ok(with, program);
    guest_ok(without, program);
    CHECK(memcmp(with->hart->x, without->hart->x, sizeof with->hart->x) == 0);
    CHECK(memcmp(with->hart->f, without->hart->f, sizeof with->hart->f) == 0);
    CHECK_EQ(with->hart->fflags, without->hart->fflags);
    CHECK_EQ(guest_load(with, GUEST_DATA, 8), guest_load(without, GUEST_DATA, 8));
    CHECK_EQ(with->steps, without->steps);
    guest_free(with);
    guest_free(without);
}

/* ---- windows ----------------------------------------------------------------------------------
 */

TEST(windows_start_at_the_fields_and_wrap, "")
{
    struct guest *g = guest_make("full");

    harness_row("RSV-011 RSV-015");
    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 3\n svon.one\n add x30, x10, x20\n");
    CHECK_EQ(g->hart->x[30], 0x10A + 0x114);
    CHECK_EQ(g->hart->x[31], 0x10B + 0x115);
    CHECK_EQ(g->hart->x[0], 0);
    CHECK_EQ(changed(g, 0x100), 3u << 30);
    number_registers(g, 0x100);
    harness_row("RSV-017 RSV-148");
    guest_ok(g, "svsetvl x0, 4\n svon.one\n add x30, x30, x30\n"); /* x30 x31 none x1 */
    CHECK_EQ(changed(g, 0x100), 3u << 30 | 2);
    CHECK_EQ(g->hart->x[1], 0x202);
    number_registers(g, 0x100);
    harness_row("RSV-018");
    guest_ok(g, "svon.one\n addi x5, x0, 7\n"); /* an x0 field is not windowed */
    CHECK_EQ(changed(g, 0x100), 0xFu << 5);
    CHECK_EQ(g->hart->x[8], 7);
    guest_ok(g, "svon.one\n add x0, x5, x6\n");
    CHECK_EQ(changed(g, 0x100), 0xFu << 5);
    guest_ok(g, "svon.one\n sub x20, x0, x5\n");
    CHECK_EQ(g->hart->x[23], (uint64_t)-7);
    harness_row("RSV-017");
    /* ... but with V = 1 a base of x0 is a window. */
    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 0x100);
    number_registers(g, 0x100);
    guest_ok(g, "svon.one\n addi x20, x0, 0\n");
    CHECK_EQ(g->hart->x[20], 0);
    CHECK_EQ(g->hart->x[23], 0x103);
    guest_free(g);
}

TEST(window_registers_give_base_and_stride, "")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, FACET_CSR_SVSRCB, 1ull << 63 | 7);           /* x7, stride 0 */
    guest_csrw(g, FACET_CSR_SVDST, 1ull << 63 | 2 << 8 | 16);  /* x16, x18, ... */
    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 0xFF00 | 31); /* x31, x30, ... */
    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 8\n svon.one\n sub x1, x2, x3\n");
    CHECK_ID("RSV-014 RSV-016", changed(g, 0x100) == 0x55550000u);
    harness_row("RSV-012 RSV-014");
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(g->hart->x[16 + 2 * i], 24 - i);
    }
    harness_row("RSV-058 RSV-094");
    /* A CSR write inside a block acts on later instructions. */
    number_registers(g, 0x100);
    g->hart->x[1] = 1ull << 63 | 1 << 8 | 10;
    guest_ok(
        g,
        "svsetvl x0, 2\n svon.blk 4\n sub x1, x2, x3\n csrw SVDST, x1\n sub x1, x2, x3\n svend\n");
    CHECK_EQ(changed(g, 0x100) & ~2u, 1u << 16 | 1u << 18 | 3u << 10);
    guest_free(g);
}

TEST(steps_of_svp_one_vlstep_replace_strides, "")
{
    static const unsigned steps[] = {0, 1, 2, 4};
    struct guest *g = guest_make("full");

    guest_csrw(g, FACET_CSR_SVSRCA, 1ull << 63 | 3 << 8 | 1);
    for (unsigned s = 0; s < 4; s++) {
        for (unsigned d = 0; d < 4; d++) {
            static const char *const ids[] = {"RSV-072", "RSV-073", "RSV-074", "RSV-075"};
            uint32_t expected = 0;

            number_registers(g, 0x100);
            guest_ok(g, "svp.one.vlstep 3, %u, %u\n addi x16, x9, 1\n", steps[s], steps[d]);
            for (unsigned i = 0; i < 3; i++) {
                expected |= 1u << (16 + i * steps[d]);
            }
            CHECK_ID(ids[d], changed(g, 0x100) == expected);
            CHECK_ID(ids[s], /* base x1 */
                     g->hart->x[16 + 2 * steps[d]] == 0x101 + 2 * steps[s] + 1);
            CHECK_ID("RSV-088", (state(g) & FACET_SVSTATE_STEPV) == 0);
        }
    }
    harness_row("RSV-088");
    number_registers(g, 0x100); /* afterwards strides count again, with the VL that was set */
    guest_ok(g, "svon.one\n addi x16, x9, 0\n");
    CHECK_EQ(changed(g, 0x100), 7u << 16);
    CHECK_EQ(g->hart->x[18], 0x107);
    guest_free(g);
}

TEST(all_lanes_read_before_one_writes, "RSV-104")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 3\n svon.one\n add x6, x5, x7\n");
    CHECK_EQ(g->hart->x[6], 0x105 + 0x107);
    CHECK_EQ(g->hart->x[7], 0x106 + 0x108);
    CHECK_EQ(g->hart->x[8], 0x107 + 0x109);
    number_registers(g, 0x100); /* one destination: the highest lane wins */
    guest_csrw(g, FACET_CSR_SVDST, 1ull << 63 | 20);
    guest_ok(g, "svon.one\n add x6, x5, x0\n");
    CHECK_EQ(g->hart->x[20], 0x107);
    guest_free(g);
}

/* ---- predication ------------------------------------------------------------------------------
 */

TEST(the_bank_gates_lanes_and_zmode_says_what_masked_ones_become, "")
{
    struct guest *g = guest_make("full");

    for (unsigned bank = 0; bank < 4; bank++) {
        for (unsigned zmode = 0; zmode < 2; zmode++) {
            set_mode(g, zmode ? FACET_CAP_PREC_MODE_ZMODE : 0);
            if (bank != 0) {
                set_bank(g, bank, 0x5ull << bank);
            } else {
                guest_csrw(g, FACET_CSR_SVSTATE, 0);
            }
            number_registers(g, 0x100);
            guest_ok(g, "svsetvl x0, 6\n svon.one\n add x12, x6, x0\n");
            for (unsigned i = 0; i < 6; i++) {
                bool on = bank == 0 || (0x5ull << bank >> i & 1) != 0;

                harness_row(bank == 0 ? "RSV-022"
                            : on      ? "RSV-009 RSV-021 RSV-048 RSV-105"
                            : zmode   ? "RSV-009 RSV-010 RSV-027 RSV-105"
                                      : "RSV-009 RSV-027 RSV-105 RSV-128");
                CHECK_EQ(g->hart->x[12 + i], on ? 0x106 + i : zmode ? 0 : 0x10C + i);
            }
            harness_row("");
            CHECK_EQ(g->hart->x[18], 0x112);
        }
    }
    guest_free(g);
}

static unsigned accesses;

static void see_access(void *context, const struct facet_memory_event *event)
{
    (void)context, (void)event;
    accesses++;
}

TEST(masked_lanes_read_nothing_access_nothing_and_cannot_fault, "")
{
    static const char *const texts[] = {"ld x20, 0(x10)",
                                        "sd x20, 0(x10)",
                                        "amoadd.d x20, x24, (x10)",
                                        "fld f20, 0(x10)",
                                        "fsd f20, 0(x10)"};
    struct facet_observer observer = {.memory = see_access};
    struct guest *g = guest_make("full");

    set_bank(g, 1, 0x4); /* lane 2 alone */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        number_registers(g, 0x100);
        for (unsigned r = 10; r < 14; r++) {
            g->hart->x[r] = r == 12 ? GUEST_DATA + 8 : BAD;
        }
        guest_csrw(g, FACET_CSR_SVFAULTI, 0);
        accesses = 0;
        guest_observe(g, &observer);
        guest_ok(g, "svsetvl x0, 4\n svon.one\n %s\n", texts[i]);
        guest_observe(g, NULL);
        harness_row("RSV-023 RSV-026 RSV-107");
        CHECK_MSG(accesses == (i == 2 ? 2 : 1), "%s: %u accesses", texts[i], accesses);
        CHECK_ID("RSV-121 RSV-122", guest_csr(g, FACET_CSR_SVFAULTI) == 0);
    }
    harness_row("RSV-122");
    /* Lane 0 masked and bad, lane 2 bad: lane 2 is reported. */
    set_bank(g, 1, 0xE);
    g->hart->x[10] = g->hart->x[12] = BAD;
    g->hart->x[11] = g->hart->x[13] = GUEST_DATA;
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svon.one\n ld x20, 0(x10)\n");
    CHECK_EQ(FACET_GET(guest_csr(g, FACET_CSR_SVFAULTI), SVFAULTI_IDX), 2);
    /* A masked lane that would be invalid raises nothing. */
    guest_reset(g);
    set_bank(g, 1, 0x1);
    g->hart->f[2] = g->hart->f[3] = 0xFFFFFFFFBF800000; /* -1 */
    g->hart->f[2] = 0xFFFFFFFF3F800000;
    guest_ok(g, "svsetvl x0, 2\n svon.one\n fsqrt.s f10, f2\n");
    CHECK_ID("RSV-024 RSV-025", guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) == 0);
    CHECK_EQ(g->hart->f[10], 0xFFFFFFFF3F800000);
    guest_free(g);
}

TEST(an_all_masked_instruction_still_spends_its_one_shot, "RSV-097")
{
    struct guest *g = guest_make("full");

    set_bank(g, 2, 0);
    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 4\n svon.one\n add x20, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 0);
    CHECK_EQ(FACET_GET(state(g), SVSTATE_EN), 0);
    guest_free(g);
}

/* ---- faults and traps -------------------------------------------------------------------------
 */

TEST(the_lowest_faulting_lane_is_reported_and_nothing_is_written, "")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    for (unsigned i = 0; i < 4; i++) {
        g->hart->x[10 + i] = i == 1 || i == 3 ? BAD + i : GUEST_DATA + 8 * i;
        guest_store(g, GUEST_DATA + 8 * i, 8, 0x5555);
    }
    harness_row("RSV-110");
    CHECK_EQ(guest_traps(g, FACET_CAUSE_LOAD_FAULT, "svsetvl x0, 4\n svon.one\n lw x20, 4(x10)\n"),
             BAD + 5);
    CHECK_EQ(g->epc, 8); /* the load, not its prefix */
    CHECK_ID("RSV-055 RSV-109", guest_csr(g, FACET_CSR_SVFAULTI) == (1ull << 63 | 5 << 16 | 1));
    CHECK_ID("RSV-112", (changed(g, 0x100) & ~(0xFu << 10)) == 0);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_FAULT, "svon.one\n sw x20, 0(x10)\n"), BAD + 1);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 7 << 16 | 1);
    CHECK_ID("RSV-112", guest_load(g, GUEST_DATA, 8) == 0x5555); /* not even lane 0 */
    harness_row("RSV-120");
    g->hart->x[11] = GUEST_DATA + 2; /* an AMO lane that is misaligned */
    CHECK_EQ(guest_traps(g, FACET_CAUSE_STORE_MISALIGNED, "svon.one\n amoswap.w x20, x1, (x10)\n"),
             GUEST_DATA + 2);
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 1ull << 63 | 6 << 16 | 1);
    CHECK_EQ(guest_load(g, GUEST_DATA, 8), 0x5555);
    harness_row("RSV-036");
    /* Addresses are the lane's own register plus the immediate; scalar misaligned loads work. */
    g->hart->x[10] = GUEST_DATA + 1;
    g->hart->x[11] = GUEST_DATA + 16;
    guest_store(g, GUEST_DATA + 5, 4, 0x11223344);
    guest_store(g, GUEST_DATA + 20, 4, 0x55667788);
    guest_ok(g, "svsetvl x0, 2\n svon.one\n lw x20, 4(x10)\n");
    CHECK_EQ(g->hart->x[20], 0x11223344);
    CHECK_EQ(g->hart->x[21], 0x55667788);
    guest_free(g);
}

TEST(scalar_faults_leave_svfaulti_alone, "RSV-111")
{
    struct guest *g = guest_make("full");

    guest_csrw(g, FACET_CSR_SVFAULTI, 0x123456);
    guest_traps(g, FACET_CAUSE_LOAD_FAULT, "ld x20, 0(x0)\n");
    guest_traps(g, FACET_CAUSE_STORE_FAULT, "sd x20, 0(x0)\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0x123456);
    /* ... and an illegal instruction under RSV does too. */
    g->hart->fs = FACET_FS_OFF;
    guest_traps(g, FACET_CAUSE_ILLEGAL, "svon.one\n fadd.s f1, f2, f3\n");
    CHECK_EQ(guest_csr(g, FACET_CSR_SVFAULTI), 0x123456);
    guest_free(g);
}

TEST(the_handler_repairs_and_all_lanes_run_again, "RSV-113 RSV-114")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < 4; i++) {
        guest_store(g, GUEST_DATA + 8 * i, 8, 0x70 + i);
    }
    g->hart->x[10] = GUEST_DATA;
    g->hart->x[11] = GUEST_DATA + 8;
    g->hart->x[12] = 0; /* faults; the handler below puts x28 there */
    g->hart->x[13] = GUEST_DATA + 24;
    g->hart->x[28] = GUEST_DATA + 16;
    g->hart->mtvec = GUEST_CODE + 12 + 4;
    /* The handler runs scalar code although the trap came from an RSV instruction. */
    {
        static const char text[] = "svsetvl x0, 4\n svon.one\n ld x20, 0(x10)\n j 1f\n"
                                   "mv x12, x28\n mret\n1:\n";
        struct facet_trap trap = guest_run(g, text);

        CHECK(trap.taken && trap.cause == FACET_CAUSE_LOAD_FAULT);
        CHECK_EQ(FACET_GET(state(g), SVSTATE_EN), 0);
        CHECK_EQ(FACET_GET(state(g), SVSTATE_PEN), 1);
        CHECK_EQ(FACET_GET(state(g), SVSTATE_ONE_SHOT), 1);
        CHECK_EQ(g->hart->pc, GUEST_CODE + 16);
        CHECK(!facet_hart_step(g->hart).taken); /* mv */
        CHECK_EQ(g->hart->x[13], GUEST_DATA + 24);
        CHECK(!facet_hart_step(g->hart).taken); /* mret */
        CHECK_EQ(state(g), 3 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT);
        CHECK(!facet_hart_step(g->hart).taken); /* the load again */
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(g->hart->x[20 + i], 0x70 + i);
    }
    CHECK_EQ(state(g), 3);
    guest_free(g);
}

TEST(an_interrupt_between_prefix_and_target_disturbs_neither, "RSV-114")
{
    struct guest *g = guest_make("full");

    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 3\n svon.fpctl z=1\n svon.one\n");
    g->hart->mtvec = GUEST_CODE + 0x100;
    g->hart->mie = g->hart->mip = 1u << FACET_IRQ_TIMER;
    g->hart->mstatus |= FACET_MSTATUS_MIE;
    CHECK(facet_hart_step(g->hart).taken);
    CHECK_EQ(state(g),
             2 | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_FPC_Z | FACET_SVSTATE_PEN |
                 FACET_SVSTATE_PFPC);
    g->hart->mip = 0;
    guest_ok(g, "add x20, x8, x8\n"); /* what a handler does: one lane */
    CHECK_EQ(changed(g, 0x100), 1u << 20);
    facet_hart_return(g->hart);
    CHECK_EQ(state(g),
             2 | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_FPC_Z |
                 FACET_SVSTATE_FPC_V);
    guest_ok(g, "add x26, x8, x8\n");
    CHECK_EQ(changed(g, 0x100), 1u << 20 | 7u << 26);
    guest_free(g);
}

TEST(fpctl_z_acts_on_integer_lanes_and_is_spent_by_them, "RSV-084 RSV-089 RSV-091")
{
    struct guest *g = guest_make("full");

    set_bank(g, 1, 0x1);
    number_registers(g, 0x100);
    guest_ok(g, "svsetvl x0, 2\n svon.fpctl z=1\n add x12, x6, x0\n"); /* scalar: spends nothing */
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 1);
    number_registers(g, 0x100);
    guest_ok(g, "svon.blk 2\n add x12, x6, x0\n add x20, x6, x0\n");
    CHECK_EQ(g->hart->x[13], 0);     /* masked: zeroed by the override */
    CHECK_EQ(g->hart->x[21], 0x115); /* the next one merges, as CAP says */
    CHECK_EQ(FACET_GET(state(g), SVSTATE_FPC_V), 0);
    CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_MODE), FACET_CAP_PREC_MODE_RESET);
    /* z = 0 turns ZMODE off. */
    set_mode(g, FACET_CAP_PREC_MODE_ZMODE);
    number_registers(g, 0x100);
    guest_ok(g, "svon.blk 2\n svon.fpctl z=0\n add x12, x6, x0\n add x20, x6, x0\n");
    CHECK_EQ(g->hart->x[13], 0x10D);
    CHECK_EQ(g->hart->x[21], 0);
    guest_free(g);
}

TEST(lane_zero_equals_scalar_execution, "RSV-034 RSV-140")
{
    static const char *const texts[] = {"mul x20, x6, x7",
                                        "divw x20, x6, x7",
                                        "slli x20, x6, 3",
                                        "lui x20, 0x12345",
                                        "auipc x20, 0x10",
                                        "ld x20, 0(x9)",
                                        "amomax.w x20, x6, (x9)",
                                        "c.mv x20, x6",
                                        "fcvt.s.l f20, x6",
                                        "fmv.x.d x20, f6",
                                        "fadd.d f20, f6, f7",
                                        "flw f20, 4(x9)",
                                        "fclass.s x20, f6",
                                        "fsgnjn.d f20, f6, f7"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct guest *scalar = guest_make("full"), *vector = guest_make("full");

        for (unsigned k = 0; k < 2; k++) {
            struct guest *g = k == 0 ? scalar : vector;

            guest_csrw(g, FACET_CSR_SVSTATE, 0);
            number_registers(g, 0xABCDE);
            for (unsigned r = 0; r < 32; r++) {
                g->hart->f[r] = 0xFFFFFFFF40400000 + r;
            }
            g->hart->x[9] = g->hart->x[10] = g->hart->x[11] = GUEST_DATA;
            guest_store(g, GUEST_DATA, 8, 0x123456789ABCDEF0);
            if (k == 1) {
                guest_ok(g, "%s\n %s\n", "svp.one.vlstep 1, 1, 1", texts[i]);
            } else {
                guest_ok(g, "nop\n %s\n", texts[i]);
            }
        }
        CHECK_MSG(scalar->hart->x[20] == vector->hart->x[20] &&
                      scalar->hart->f[20] == vector->hart->f[20] &&
                      guest_load(scalar, GUEST_DATA, 8) == guest_load(vector, GUEST_DATA, 8),
                  "%s",
                  texts[i]);
        guest_free(scalar);
        guest_free(vector);
    }
}
