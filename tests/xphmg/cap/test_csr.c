/* Every CSR of spec/cap.csr.tsv and the MTX rows of spec/gfx.csr.tsv, walked through real csr*
 * instructions: addresses, reset values, access kinds, legal values, features, privilege, absent
 * units. The expectation is worked out from the rows themselves (fields, access, reset and, for
 * features, the words of the meaning column), not from the masks that the implementation uses. */
#include "xphmg/guest.h"

#include "isa/isa.h"
#include "xphmg/units/vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { WINDOW_FIRST = 0x7C0, WINDOW_LAST = 0x7FF };

static uint64_t ones(unsigned hi, unsigned lo)
{
    return UINT64_MAX >> (63 - hi) & UINT64_MAX << lo;
}

static const struct facet_csr_row *row_at(unsigned number)
{
    return facet_csr_at(FACET_ISA_XPHMG, number);
}

static uint64_t reset_of(unsigned number)
{
    const struct facet_csr_row *row = row_at(number);
    uint64_t value = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        value |= row->fields[i].reset << row->fields[i].lo;
    }
    return value;
}

static bool traps_always(unsigned number)
{
    return number == 0x7FC || number == 0x7FD;
}

/* ---- a second opinion on writes --------------------------------------------------------------
 */

/* The values that a WARL field takes, from the meaning column; NULL: every value. The last entry is
 * what everything else becomes. */
static uint64_t warl(const char *csr, const char *field, uint64_t value)
{
    static const struct {
        const char *csr, *field, *values; /* " 0 1 2 " */
    } lists[] = {
        {"CAP.XMEM.L1CFG", "LINE_SZ", " 0 1 2 "},
        {"CAP.XMEM.L1CFG", "REPL", " 0 1 2 3 "},
        {"CAP.XMEM.L1CFG", "ACTIVE_CLASS", " 0 1 2 3 "},
        {"CAP.XMEM.DOM", "DOM", " 0 1 2 3 4 5 6 15 "},
        {"CAP.XMEM.SPROF0", "NT_POLICY", " 0 1 2 3 "},
        {"CAP.XMEM.SPROF1", "NT_POLICY", " 0 1 2 3 "},
        {"CAP.XMEM.SPROF2", "NT_POLICY", " 0 1 2 3 "},
        {"CAP.XMEM.SPROF3", "NT_POLICY", " 0 1 2 3 "},
        {"CAP.XMEM.COMP_CTL", "MODE", " 0 1 "},
        {"CAP.XMEM.SVMSCL", "SCALE", " 0 1 2 3 4 "},
        {"CAP.XMEM.SVMLEN", "LEN", " 0 1 2 4 8 "},
        {"SVSTATE", "SSTEP", " 0 1 2 3 "},
        {"SVSTATE", "DSTEP", " 0 1 2 3 "},
        {"SVSTATE", "PBANK", " 0 1 2 3 "},
    };
    char word[24];

    if (strcmp(csr, "SVSTATE") == 0 && strcmp(field, "VLM1") == 0) {
        return value > 63 ? 63 : value;
    }
    if (strncmp(field, "RSV", 3) == 0) { /* WARL in the MTX rows: reads 0 */
        return 0;
    }
    snprintf(word, sizeof word, " %llu ", (unsigned long long)value);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].csr, csr) == 0 && strcmp(lists[i].field, field) == 0) {
            return strstr(lists[i].values, word) != NULL ? value : 0;
        }
    }
    CHECK_MSG(false, "no list of values for %s.%s", csr, field);
    return 0;
}

/* What the register holds after a csr* instruction would have written `value` (not MODE and ALT).
 */
static uint64_t after_write(unsigned number, uint64_t old, uint64_t value)
{
    const struct facet_csr_row *row = row_at(number);
    uint64_t result = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];
        uint64_t mask = ones(f->hi, f->lo);

        switch ((enum facet_csr_access)f->access) {
        case FACET_CSR_RO:
            result |= old & mask;
            break;
        case FACET_CSR_RW:
            result |= value & mask;
            break;
        case FACET_CSR_W1C:
            result |= old & ~value & mask;
            break;
        case FACET_CSR_WARL:
            result |= warl(row->name, f->name, (value & mask) >> f->lo) << f->lo;
            break;
        case FACET_CSR_W1A:
        case FACET_CSR_WC:
            break;
        }
    }
    return result;
}

/* Registers of the walk: the window without MODE and ALT (staged) and the two that trap, MTX and
 * XISEL. XIREG and the MTX windows show other state and have their own cases. */
static bool plain(unsigned number)
{
    return row_at(number) != NULL && number != 0x7D0 && number != 0x7D1 && !traps_always(number) &&
           ((number >= WINDOW_FIRST && number <= WINDOW_LAST) || number == 0x830 ||
            number == 0x831 || number == 0x836 || number == 0x837 || number == 0x840);
}

static unsigned plain_numbers(unsigned out[128])
{
    unsigned count = 0;

    for (unsigned number = WINDOW_FIRST; number <= 0x840; number++) {
        if (plain(number)) {
            out[count++] = number;
        }
    }
    return count;
}

static uint64_t csr_op(struct guest *g, const char *op, unsigned number, uint64_t operand)
{
    g->hart->x[5] = operand;
    guest_ok(g, "%s t1, 0x%x, t0\n", op, number);
    return g->hart->x[6];
}

/* Requirement rows that speak of registers: a walk charges its checks to those of each number. */
struct span {
    unsigned first, last;
    const char *ids;
};

/* Opens the rows of a register; whether there are any. */
static bool row_of_number(const struct span *spans, size_t count, unsigned number)
{
    char ids[256] = "";

    for (size_t i = 0; i < count; i++) {
        if (number >= spans[i].first && number <= spans[i].last) {
            (void)strncat(ids, spans[i].ids, sizeof ids - strlen(ids) - 2);
            (void)strcat(ids, " ");
        }
    }
    harness_row(ids);
    return ids[0] != '\0';
}

/* ---- addresses and reset values --------------------------------------------------------------
 */

TEST(every_address_of_the_window_is_one_register, "CAP-094 CAP-085 CAP-093")
{
    struct guest *g = guest_make("full");

    for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) {
        unsigned owners = 0;

        for (size_t i = 0; i < facet_csr_row_count; i++) {
            const struct facet_csr_row *row = &facet_csr_rows[i];

            owners += row->isa == FACET_ISA_XPHMG && number >= row->number &&
                      number < row->number + row->count * row->stride;
        }
        CHECK_MSG(owners == 1, "0x%x belongs to %u registers", number, owners);
        if (traps_always(number)) {
            CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number),
                     0x000022F3 | number << 20);
            (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrw 0x%x, t0\n", number);
            CHECK_EQ(guest_csr(g, number), 0);
        } else {
            (void)guest_csrr(g, number);
        }
    }
    CHECK_EQ(guest_csrr(g, 0x7C0), 0x50484D47);
    guest_free(g);
}

TEST(registers_read_their_reset_values, "")
{
    static const struct span spans[] = {
        {0x7C0, 0x7FF, "CAP-086 CAP-093"}, {0x7C0, 0x7CF, "CAP-095"},
        {0x7D0, 0x7D7, "CAP-096"},         {0x7D8, 0x7DF, "CAP-097"},
        {0x7E0, 0x7EF, "CAP-098"},         {0x7F0, 0x7F7, "CAP-099"},
        {0x7F8, 0x7FF, "CAP-100"},         {0x7C0, 0x7C0, "CAP-114"},
        {0x7C1, 0x7C1, "CAP-115"},         {0x7C2, 0x7C2, "CAP-116"},
        {0x7C3, 0x7C3, "CAP-117"},         {0x7C4, 0x7C4, "CAP-118"},
        {0x7C5, 0x7C5, "CAP-130"},         {0x7C6, 0x7C6, "CAP-131"},
        {0x7C7, 0x7C7, "CAP-132"},         {0x7C5, 0x7CF, "CAP-485"},
        {0x7D8, 0x7DF, "CAP-485"},         {0x7D0, 0x7D0, "CAP-189 CAP-480"},
        {0x7D1, 0x7D1, "CAP-190 CAP-481"}, {0x7D2, 0x7D2, "CAP-191"},
        {0x7D3, 0x7D3, "CAP-192 CAP-482"}, {0x7D4, 0x7D4, "CAP-193 CAP-482"},
        {0x7D5, 0x7D5, "CAP-194"},         {0x7D6, 0x7D7, "CAP-087"},
        {0x7D8, 0x7D8, "CAP-316"},         {0x7D9, 0x7D9, "CAP-317"},
        {0x7DA, 0x7DA, "CAP-318"},         {0x7DB, 0x7DB, "CAP-319"},
        {0x7DC, 0x7DC, "CAP-320"},         {0x7DD, 0x7DD, "CAP-321"},
        {0x7DE, 0x7DE, "CAP-322"},         {0x7DF, 0x7DF, "CAP-323"},
        {0x7E2, 0x7ED, "CAP-483"},         {0x7E2, 0x7E2, "CAP-484"},
        {0x7EF, 0x7EF, "CAP-087"},         {0x7F0, 0x7F5, "CAP-483"},
        {0x7F6, 0x7F7, "CAP-087"},
    };
    enum { SPANS = sizeof spans / sizeof spans[0] };
    static const struct {
        unsigned number;
        uint64_t value;
    } told[] = {
        {0x7C0, 0x50484D47}, {0x7C1, 0x01000000}, {0x7C2, 0},
        {0x7C3, 0},          {0x7C4, 0},          {0x7C6, 0x7E7D},
        {0x7C7, 0x17},       {0x7D0, 0x80000},    {0x7D1, 0},
        {0x7D2, 0x04000000}, {0x7D3, 0},          {0x7D4, 0},
        {0x7D8, 0xFFF},      {0x7DB, 0x2AC},      {0x7DD, 0x1FF},
        {0x7DE, 0x17FF},     {0x7DF, 0xDE},       {0x7E0, 0x1FFF},
        {0x7E2, 0},          {0x7F0, 0},          {0x7E1, 0x0000080640860040},
        {0x7DC, 0x7FFFFFFF}, {0x7CF, 0x52},       {0x7CD, 4},
        {0x7C5, 0x5D19},     {0x7D5, 0},          {0x7D6, 0},
        {0x7D7, 0},          {0x7EF, 0},          {0x7F6, 0},
        {0x7F7, 0},          {0x7E3, 0},          {0x7E4, 0},
        {0x7E5, 0},          {0x7E6, 0},          {0x7E7, 0},
        {0x7E8, 0},          {0x7E9, 0},          {0x7EA, 0},
        {0x7EB, 0},          {0x7EC, 0},          {0x7ED, 0},
        {0x7F1, 0},          {0x7F2, 0},          {0x7F3, 0},
        {0x7F4, 0},          {0x7F5, 0},          {0x7D9, 0x307F},
        {0x7DA, 0},
    };
    struct guest *g = guest_make("full");

    for (unsigned number = WINDOW_FIRST; number <= 0x837; number++) {
        if ((number <= WINDOW_LAST || number >= 0x830) && !traps_always(number)) {
            (void)row_of_number(spans, SPANS, number);
            CHECK_EQ(guest_csrr(g, number), reset_of(number));
        }
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        (void)row_of_number(spans, SPANS, told[i].number);
        CHECK_EQ(guest_csrr(g, told[i].number), told[i].value);
    }
    guest_csrw(g, 0x7E2, 0x03000000); /* and reset brings them back */
    guest_csrw(g, 0x7D3, 0x1F);
    guest_csrw(g, 0x7D0, UINT64_C(0x8000000000300000));
    guest_reset(g);
    for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) {
        if (!traps_always(number)) {
            (void)row_of_number(spans, SPANS, number);
            CHECK_EQ(guest_csrr(g, number), reset_of(number));
        }
    }
    guest_free(g);
}

TEST(the_three_configurations_read_as_section_16_lists_them, "")
{
    static const struct {
        unsigned number;
        uint64_t full, min, prof;
        const char *ids;
    } rows[] = {
        {0x7C1, 0x01000000, 0x01000000, 0x01000000, ""},
        {0x7C2, 0, 0, 3, "CAP-113"},
        {0x7C3, 0, 0, 0, "CAP-112 CAP-123"},
        {0x7C4, 0, 0, 7, "CAP-112 CAP-123"},
        {0x7C5, 0x5D19, 0x1C08, 0x5D19, ""},
        {0x7C6, 0x7E7D, 0x7E3C, 0x7E7D, "CAP-518 CAP-519"},
        {0x7C7, 0x17, 0x13, 0x17, ""},
        {0x7E0, 0x1FFF, 1, 0x1FFF, ""},
        {0x7E1, 0x0000080640860040, 0x0000000600000040, 0x0000080640860040, ""},
        {0x7D8, 0xFFF, 0x7F, 0xFFF, ""},
        {0x7DD, 0x1FF, 0, 0x1FF, ""},
        {0x7DE, 0x17FF, 0x1799, 0x17FF, "CAP-513"},
        {0x7DF, 0xDE, 0x16, 0xDE, "CAP-515 CAP-516"},
        {0x7DB, 0x2AC, 0x22C, 0x2AC, ""},
        {0x7D9, 0x307F, 0x307F, 0x307F, ""},
        {0x7DC, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, "CAP-509"},
    };
    static const char *const names[] = {"full", "min", "prof"};

    for (unsigned c = 0; c < 3; c++) {
        struct guest *g = guest_make(names[c]);

        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            uint64_t want = c == 0 ? rows[i].full : c == 1 ? rows[i].min : rows[i].prof;

            harness_row(rows[i].ids);
            CHECK_EQ(guest_csrr(g, rows[i].number), want);
        }
        harness_row("");
        CHECK_ID("CAP-119", (guest_csrr(g, 0x7C2) & 1) == (c == 2));
        CHECK_ID("CAP-122", (guest_csrr(g, 0x7C2) >> 1 & 1) == (c == 2));
        for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) { /* the others */
            bool listed = traps_always(number);

            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                listed |= rows[i].number == number;
            }
            if (!listed) {
                CHECK_EQ(guest_csrr(g, number), reset_of(number));
            }
        }
        /* FEAT1 repeats two bits of FEAT0. */
        CHECK_ID("CAP-518", (guest_csrr(g, 0x7C6) & 1) == (guest_csrr(g, 0x7C5) >> 8 & 1));
        CHECK_ID("CAP-519", (guest_csrr(g, 0x7C6) >> 1 & 1) == (guest_csrr(g, 0x7C5) >> 9 & 1));
        /* No element and accumulator pair is native and emulated at once. */
        CHECK_ID("CAP-509", (guest_csrr(g, 0x7DC) & 0xFFFFFF & guest_csrr(g, 0x7DC) >> 32) == 0);
        guest_free(g);
    }
    CHECK(facet_cap_config_named("big") == NULL);
}

/* Fields of discovery registers: the bits that the requirement rows give them. */
TEST(discovery_fields_have_their_bits, "")
{
    static const struct {
        unsigned number, hi, lo;
        uint64_t value; /* in configuration full */
        const char *field, *ids;
    } fields[] = {
        {0x7C0, 63, 0, 0x50484D47, "ID", "CAP-110"},
        {0x7C1, 31, 24, 1, "MAJOR", "CAP-111"},
        {0x7C1, 23, 16, 0, "MINOR", "CAP-111"},
        {0x7C1, 15, 8, 0, "PATCH", "CAP-111"},
        {0x7C1, 7, 0, 0, "RSVD", "CAP-111"},
        {0x7C5, 13, 13, 0, "ACCEL_PRESENT", "CAP-517"},
        {0x7C7, 0, 0, 1, "PMASK_PRESENT", "CAP-149"},
        {0x7C7, 3, 1, 3, "PMASK_BANKS_M1", "CAP-148 CAP-150"},
        {0x7C7, 4, 4, 1, "BANK0_ALLONES", "CAP-151"},
        {0x7C7, 63, 5, 0, "RSV", "CAP-152"},
        {0x7C8, 1, 0, 0, "VGPR_TIER", "CAP-156"},
        {0x7C8, 3, 2, 0, "SGPR_TIER", "CAP-156"},
        {0x7C9, 1, 0, 0, "WAVES", "CAP-157"},
        {0x7CA, 1, 0, 2, "LDS_TIER", "CAP-158"},
        {0x7CA, 6, 4, 4, "TIER_COUNT", "CAP-052 CAP-053"},
        {0x7CA, 7, 7, 1, "T0_IN_LDS", "CAP-055"},
        {0x7CA, 8, 8, 1, "T0_SCALAR_VIS", "CAP-056"},
        {0x7CA, 9, 9, 1, "T0_SHARED", "CAP-057"},
        {0x7CA, 31, 16, 0x10, "T0_KIB", "CAP-054"},
        {0x7CA, 47, 32, 0x40, "LDS_WG_KIB", "CAP-064"},
        {0x7CA, 63, 48, 0x30, "T1_KIB", "CAP-064"},
        {0x7CB, 1, 0, 0, "SAMP_TIER", "CAP-159"},
        {0x7CB, 63, 2, 0, "RSV", "CAP-159"},
        {0x7CC, 1, 0, 0, "RT_TIER", "CAP-160"},
        {0x7CC, 63, 2, 0, "RSV", "CAP-160"},
        {0x7CD, 3, 0, 4, "ALIGN", "CAP-161"},
        {0x7CE, 1, 0, 0, "GRAN", "CAP-162"},
        {0x7CF, 3, 0, 2, "BANK_BYTES_LOG2", "CAP-065 CAP-163"},
        {0x7CF, 7, 4, 5, "BANKS_LOG2", "CAP-065 CAP-163"},
        {0x7D8, 0, 0, 1, "HAS_FP32", "CAP-324"},
        {0x7D8, 1, 1, 1, "HAS_FP16", "CAP-325"},
        {0x7D8, 2, 2, 1, "HAS_BF16", "CAP-326"},
        {0x7D8, 3, 3, 1, "HAS_INT32", "CAP-327"},
        {0x7D8, 4, 4, 1, "HAS_INT16", "CAP-328"},
        {0x7D8, 5, 5, 1, "HAS_INT8", "CAP-329"},
        {0x7D8, 6, 6, 1, "HAS_DOTPROD8", "CAP-330"},
        {0x7D9, 0, 0, 1, "UNORM8", "CAP-331"},
        {0x7D9, 1, 1, 1, "UNORM16", "CAP-332"},
        {0x7D9, 2, 2, 1, "SNORM8", "CAP-333"},
        {0x7D9, 3, 3, 1, "SNORM16", "CAP-334"},
        {0x7D9, 4, 4, 1, "SRGB8_A8", "CAP-335"},
        {0x7D9, 5, 5, 1, "FP16", "CAP-336"},
        {0x7D9, 6, 6, 1, "FP32", "CAP-337"},
        {0x7D9, 11, 8, 0, "BC", "CAP-338"},
        {0x7DA, 8, 0, 0, "R", "CAP-339"},
        {0x7DA, 17, 9, 0, "RG", "CAP-340"},
        {0x7DA, 26, 18, 0, "RGBA", "CAP-341"},
        {0x7DA, 34, 32, 0, "ATOM", "CAP-342"},
        {0x7DB, 0, 0, 0, "PAYLOAD_FP32", "CAP-343"},
        {0x7DB, 1, 1, 0, "PAYLOAD_FP16", "CAP-344"},
        {0x7DB, 2, 2, 1, "BARY_FP32", "CAP-345"},
        {0x7DB, 3, 3, 1, "BARY_FP16", "CAP-346"},
        {0x7DE, 6, 4, 7, "DOTPROD", "CAP-513"},
        {0x7E0, 0, 0, 1, "LDS", "CAP-354"},
        {0x7E0, 1, 1, 1, "L1", "CAP-355"},
        {0x7E0, 2, 2, 1, "L2", "CAP-356"},
        {0x7E0, 3, 3, 1, "XDMA", "CAP-357"},
        {0x7E0, 4, 4, 1, "WAY_PART", "CAP-358"},
        {0x7E0, 5, 5, 1, "LINE_LOCK", "CAP-359"},
        {0x7E0, 6, 6, 1, "NONTEMP", "CAP-360"},
        {0x7E0, 7, 7, 1, "SECT", "CAP-361"},
        {0x7E0, 8, 8, 1, "COMPRESS", "CAP-362"},
        {0x7E0, 9, 9, 1, "CLASS_PART", "CAP-363"},
        {0x7E0, 10, 10, 1, "STREAM_PROF", "CAP-364"},
        {0x7E0, 11, 11, 1, "SEC_DOM", "CAP-365"},
        {0x7E0, 12, 12, 1, "BIDIR_SWZ", "CAP-366"},
        {0x7E0, 63, 13, 0, "RSV", "CAP-367"},
        {0x7E1, 15, 0, 64, "LDS_KIB", "CAP-368"},
        {0x7E1, 19, 16, 6, "L1_LINE_LOG2", "CAP-369"},
        {0x7E1, 27, 20, 8, "L1_WAYS", "CAP-370"},
        {0x7E1, 31, 28, 4, "MAX_SPROF", "CAP-371"},
    };
    struct guest *g = guest_make("full");

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint64_t got =
            (guest_csrr(g, fields[i].number) & ones(fields[i].hi, fields[i].lo)) >> fields[i].lo;
        const struct facet_csr_row *row = row_at(fields[i].number);
        bool found = false;

        harness_row(fields[i].ids);
        CHECK_MSG(got == fields[i].value,
                  "0x%x %s is %llx",
                  fields[i].number,
                  fields[i].field,
                  (unsigned long long)got);
        for (unsigned k = 0; k < row->field_count; k++) { /* single fields: the row agrees */
            found |= strcmp(row->fields[k].name, fields[i].field) == 0 &&
                     row->fields[k].lo == fields[i].lo && row->fields[k].hi <= fields[i].hi;
        }
        CHECK_MSG(found || strlen(fields[i].field) < 5 || fields[i].hi > fields[i].lo + 1,
                  "0x%x has no field %s at bit %u",
                  fields[i].number,
                  fields[i].field,
                  fields[i].lo);
    }
    /* Tier facts agree with the machine: CAP.TIER.LDS against XT0SIZE and the LDS size. */
    harness_row("CAP-054");
    CHECK_EQ((guest_csrr(g, 0x7CA) >> 16 & 0xFFFF) * 1024, guest_indirect_read(g, 0x7EA6));
    harness_row("CAP-064");
    CHECK_EQ((guest_csrr(g, 0x7CA) >> 48) * 1024,
             guest_indirect_read(g, 0x7EA1) - guest_indirect_read(g, 0x7EA6));
    harness_row("CAP-368");
    CHECK_EQ((guest_csrr(g, 0x7E1) & 0xFFFF) * 1024, guest_indirect_read(g, 0x7EA1));
    harness_row("CAP-517"); /* no instruction of the absent domains */
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_XPHMG]; i++) {
        const char *mnemonic = facet_isa_rows[FACET_ISA_XPHMG][i].mnemonic;

        CHECK(strncasecmp(mnemonic, "accel", 5) != 0 && strncasecmp(mnemonic, "npu", 3) != 0);
    }
    harness_row("CAP-148"); /* as many banks as the field says */
    guest_ok(g, "pmclr 3\n");
    guest_free(g);
    g = guest_make("min");
    CHECK_EQ(guest_csrr(g, 0x7C7) >> 1 & 7, 1);
    guest_ok(g, "pmclr 1\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "pmclr 2\n");
    guest_free(g);
}

/* FEAT0 shows each bit of the configuration, and bits without a name do not exist. */
TEST(feature_bits_follow_the_configuration, "")
{
    /* Of bits 0..9; the others say what other documents bring. */
    static const char *const ids[15] = {"CAP-135",
                                        "CAP-136",
                                        "CAP-137",
                                        "CAP-138",
                                        "CAP-139",
                                        "CAP-140",
                                        "CAP-141",
                                        "CAP-142",
                                        "CAP-143",
                                        "CAP-144",
                                        "",
                                        "",
                                        "",
                                        "",
                                        ""};
    struct guest *g = guest_make("full");
    struct facet_error err = {0};

    for (unsigned bit = 0; bit < 15; bit++) {
        harness_row(ids[bit]);
        guest_configure(g, "feat0", UINT64_C(1) << bit);
        CHECK_EQ(guest_csrr(g, 0x7C5), UINT64_C(1) << bit);
        guest_configure(g, "feat0", 0x7FFF & ~(UINT64_C(1) << bit));
        CHECK_EQ(guest_csrr(g, 0x7C5), 0x7FFF & ~(UINT64_C(1) << bit));
    }
    harness_row("CAP-128");
    for (unsigned bit = 15; bit < 64; bit++) {
        CHECK_EQ(facet_cap_config_set(&g->config, "feat0", UINT64_C(1) << bit, &err),
                 FACET_ERR_USAGE);
    }
    guest_reset(g);
    CHECK_EQ(guest_csrr(g, 0x7C5) >> 15, 0);
    CHECK_EQ(guest_csrr(g, 0x7C6) & (UINT64_C(1) << 7 | ~UINT64_C(0xFFFF)), 0);
    CHECK_EQ(guest_csrr(g, 0x7C7) >> 5, 0);
    harness_row("CAP-129"); /* a clear bit is an absent unit: instruction and CSR are illegal */
    CHECK_EQ(guest_csrr(g, 0x7C5) >> 3 & 1, 1);
    guest_ok(g, "csrr t0, 0x820\n");
    guest_configure(g, "feat0", 0x5D19 & ~(1 << 3));
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "rt.bbox x10, x11\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x820\n");
    guest_free(g);
}

/* ---- access kinds ----------------------------------------------------------------------------
 */

TEST(read_only_registers_ignore_all_writes, "")
{
    static const struct span spans[] = {
        {0x7C0, 0x7CF, "CAP-003"},
        {0x7D8, 0x7DF, "CAP-003 CAP-313"},
        {0x7E0, 0x7E1, "CAP-003 CAP-348"},
        {0x7C5, 0x7CF, "CAP-020"},
        {0x7C0, 0x7FF, "CAP-101"},
        {0x7C0, 0x7C4, "CAP-109"},
        {0x7C2, 0x7C2, "CAP-125"},
        {0x7C3, 0x7C4, "CAP-168 CAP-177"},
        {0x7C5, 0x7C7, "CAP-127"},
        {0x7C8, 0x7CF, "CAP-153"},
        {0x7D2, 0x7D2, "CAP-180"},
        {0x7D5, 0x7D5, "CAP-180 CAP-188"},
        {0x7D6, 0x7D7, "CAP-087 CAP-088"},
        {0x7E0, 0x7E0, "CAP-367"},
        {0x7EF, 0x7EF, "CAP-087 CAP-088 CAP-417"},
        {0x7F6, 0x7F7, "CAP-087 CAP-088"},
    };
    enum { SPANS = sizeof spans / sizeof spans[0] };
    static const char *const ops[] = {"csrrw", "csrrs", "csrrc"};
    static const char *const names[] = {"full", "min", "prof"};

    for (unsigned c = 0; c < 3; c++) {
        struct guest *g = guest_make(names[c]);

        for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) {
            const struct facet_csr_row *row = row_at(number);
            bool read_only = !traps_always(number);

            for (unsigned i = 0; i < row->field_count; i++) {
                read_only &= row->fields[i].access == FACET_CSR_RO;
            }
            if (!read_only) {
                continue;
            }
            (void)row_of_number(spans, SPANS, number);
            for (unsigned op = 0; op < 3; op++) {
                uint64_t before = guest_csrr(g, number);

                CHECK_EQ(csr_op(g, ops[op], number, UINT64_MAX), before);
                CHECK_EQ(guest_csrr(g, number), before);
            }
        }
        CHECK_ID("CAP-125", guest_csrr(g, 0x7C2) >> 2 == 0);
        CHECK_ID("CAP-168", c == 2 || (guest_csrr(g, 0x7C3) | guest_csrr(g, 0x7C4)) == 0);
        CHECK_ID("CAP-188", guest_csrr(g, 0x7D5) == 0);
        CHECK_ID("CAP-087 CAP-088", (guest_csrr(g, 0x7D6) | guest_csrr(g, 0x7D7)) == 0);
        CHECK_ID("CAP-087 CAP-088 CAP-417", guest_csrr(g, 0x7EF) == 0);
        CHECK_ID("CAP-087 CAP-088", (guest_csrr(g, 0x7F6) | guest_csrr(g, 0x7F7)) == 0);
        harness_row("");
        guest_free(g);
    }
}

TEST(random_writes_store_what_the_rows_say_and_touch_nothing_else, "CAP-089 CAP-471")
{
    static const char *const ops[] = {"csrrw", "csrrs", "csrrc"};
    struct guest *g = guest_make("full");
    unsigned numbers[128], count = plain_numbers(numbers);
    uint64_t model[0x900] = {0};

    CHECK(count > 60);
    for (unsigned i = 0; i < count; i++) {
        model[numbers[i]] = reset_of(numbers[i]);
    }
    for (unsigned round = 0; round < 6000 && !harness_failed(); round++) {
        unsigned number = numbers[harness_random() % count], op = harness_random() % 3;
        uint64_t x = harness_random(), old = model[number];

        switch (harness_random() % 4) {
        case 0:
            x = UINT64_MAX;
            break;
        case 1:
            x = UINT64_C(1) << (x & 63);
            break;
        default:
            x >>= harness_random() & 63;
            break;
        }
        if (round % 16 == 0) { /* something for W1C to clear */
            g->hart->units.cap.prec.exc_st = model[0x7D4] = harness_random() & 0x7F;
            facet_cap_event(g->hart, 0xFF);
            model[0x7EE] = 0xFF;
            old = model[number];
        }
        model[number] = after_write(number, old, op == 0 ? x : op == 1 ? old | x : old & ~x);
        CHECK_EQ(csr_op(g, ops[op], number, x), old);
        for (unsigned i = 0; i < count; i++) {
            uint64_t now = guest_csr(g, numbers[i]);

            CHECK_MSG(now == model[numbers[i]],
                      "%s 0x%x of 0x%llx: 0x%x reads 0x%llx, expected 0x%llx",
                      ops[op],
                      number,
                      (unsigned long long)x,
                      numbers[i],
                      (unsigned long long)now,
                      (unsigned long long)model[numbers[i]]);
        }
        CHECK_EQ(guest_csr(g, 0x7D0), 0x80000); /* nothing was applied */
        CHECK_EQ(guest_csr(g, 0x7D1), 0);
    }
    harness_row("CAP-071"); /* no register of CAP is predicate state */
    CHECK_EQ(g->hart->units.pmask.bank[1] | g->hart->units.pmask.bank[2] |
                 g->hart->units.pmask.bank[3] | g->hart->units.pmask.p0,
             0);
    harness_row("CAP-092");
    guest_csrw(g, 0x7F0, 0x0123456789ABCDEF);
    CHECK_EQ(guest_csrr(g, 0x7F0), 0x0123456789ABCDEF);
    guest_free(g);
}

/* The bits that a register has no field for. */
static uint64_t undefined_bits(unsigned number)
{
    const struct facet_csr_row *row = row_at(number);
    uint64_t defined = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];

        defined |= strncmp(f->meaning, "reserved", 8) != 0 ? ones(f->hi, f->lo) : 0;
    }
    return ~defined;
}

TEST(undefined_bits_read_zero_whatever_is_written, "")
{
    static const struct span spans[] = {
        {0x7C0, 0x7FF, "CAP-467 CAP-486 CAP-487"},
        {0x7C0, 0x7CF, "CAP-095"},
        {0x7C8, 0x7CC, "CAP-058"},
        {0x7C8, 0x7CF, "CAP-155"},
        {0x7D0, 0x7D5, "CAP-182"},
        {0x7D0, 0x7D7, "CAP-096"},
        {0x7D8, 0x7DF, "CAP-097 CAP-314"},
        {0x7D0, 0x7D1, "CAP-102"},
        {0x7D3, 0x7D3, "CAP-102"},
        {0x7E2, 0x7ED, "CAP-102"},
        {0x7F0, 0x7F5, "CAP-102"},
        {0x7E0, 0x7EF, "CAP-098"},
        {0x7E0, 0x7F5, "CAP-352"},
        {0x7F0, 0x7F7, "CAP-099"},
        {0x7F4, 0x7F4, "CAP-441"},
        {0x7F8, 0x7FF, "CAP-100"},
    };
    struct guest *g = guest_make("full");

    for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) {
        uint64_t before;

        if (traps_always(number)) {
            continue;
        }
        (void)row_of_number(spans, sizeof spans / sizeof spans[0], number);
        CHECK_EQ(guest_csrr(g, number) & undefined_bits(number), 0);
        before = guest_csr(g, number);
        guest_csrw(g, number, UINT64_MAX);
        CHECK_EQ(guest_csrr(g, number) & undefined_bits(number), 0);
        if (plain(number)) {
            CHECK_EQ(guest_csr(g, number), after_write(number, before, UINT64_MAX));
        }
    }
    /* Where the rows give the bits in numbers. */
    CHECK_ID("CAP-022 CAP-182", (guest_csrr(g, 0x7D0) & UINT64_C(0x7FFF00F080000003)) == 0);
    CHECK_ID("CAP-391", (guest_csrr(g, 0x7E2) >> 21 & 7) == 0);
    CHECK_ID("CAP-441", guest_csrr(g, 0x7F4) >> 7 == 0);
    guest_free(g);
}

/* Every value of every field of up to 16 bits, written alone. */
TEST(fields_take_every_legal_value_in_their_own_bits, "")
{
    /* Bits as the requirement rows give them. */
    static const struct {
        const char *csr, *field;
        unsigned hi, lo;
        const char *ids;
    } told[] = {
        {"CAP.XMEM.L1CFG", "WAYS_HINT", 7, 0, "CAP-386"},
        {"CAP.XMEM.L1CFG", "LINE_SZ", 15, 8, "CAP-387"},
        {"CAP.XMEM.L1CFG", "REPL", 19, 16, "CAP-388"},
        {"CAP.XMEM.L1CFG", "LOCK_EN", 20, 20, "CAP-389"},
        {"CAP.XMEM.L1CFG", "ACTIVE_CLASS", 31, 24, "CAP-390"},
        {"CAP.XMEM.CLSMAP", "CL0_WAYMASK", 7, 0, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL3_WAYMASK", 31, 24, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL0_QOS", 35, 32, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL1_WAYMASK", 15, 8, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL2_WAYMASK", 23, 16, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL1_QOS", 39, 36, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL2_QOS", 43, 40, "CAP-392"},
        {"CAP.XMEM.CLSMAP", "CL3_QOS", 47, 44, "CAP-392"},
        {"CAP.XMEM.L2CFG", "VICT", 3, 0, "CAP-394"},
        {"CAP.XMEM.L2CFG", "QOS", 7, 4, "CAP-395"},
        {"CAP.XMEM.L2CFG", "SNC", 8, 8, "CAP-396"},
        {"CAP.XMEM.L2CFG", "COMP_THR", 15, 9, "CAP-397"},
        {"CAP.XMEM.STREAM_CTL", "STRIDE", 15, 0, "CAP-402"},
        {"CAP.XMEM.STREAM_CTL", "PF_DEPTH", 23, 16, "CAP-402"},
        {"CAP.XMEM.STREAM_CTL", "NONTEMP_EN", 24, 24, "CAP-402"},
        {"CAP.XMEM.SPROF3", "NT_POLICY", 27, 24, "CAP-403"},
        {"CAP.XMEM.SPROF3", "PF_DEPTH", 23, 16, "CAP-403"},
        {"CAP.XMEM.SPROF3", "STRIDE", 15, 0, "CAP-403"},
        {"CAP.XMEM.SPROF1", "NT_POLICY", 27, 24, "CAP-403"},
        {"CAP.XMEM.SPROF1", "PF_DEPTH", 23, 16, "CAP-403"},
        {"CAP.XMEM.SPROF1", "STRIDE", 15, 0, "CAP-403"},
        {"CAP.XMEM.SPROF0", "NT_POLICY", 27, 24, "CAP-403"},
        {"CAP.XMEM.SPROF0", "PF_DEPTH", 23, 16, "CAP-403"},
        {"CAP.XMEM.SPROF0", "STRIDE", 15, 0, "CAP-403"},
        {"CAP.XMEM.SPROF2", "STRIDE", 15, 0, "CAP-403"},
        {"CAP.XMEM.SPROF2", "PF_DEPTH", 23, 16, "CAP-403"},
        {"CAP.XMEM.SPROF2", "NT_POLICY", 27, 24, "CAP-403"},
        {"CAP.XMEM.DESCPOL", "DEF_CLASS", 1, 0, "CAP-405"},
        {"CAP.XMEM.DESCPOL", "HYB_ENABLE", 2, 2, "CAP-406"},
        {"CAP.XMEM.DESCPOL", "HYB_BORROW_QOS", 5, 3, "CAP-407"},
        {"CAP.XMEM.DESCPOL", "STRICT_DOM", 6, 6, "CAP-408"},
        {"CAP.PREC.EXC.EN", "NV", 4, 4, "CAP-300"},
        {"CAP.PREC.EXC.EN", "DZ", 3, 3, "CAP-300"},
        {"CAP.PREC.EXC.EN", "OF", 2, 2, "CAP-300"},
        {"CAP.PREC.EXC.EN", "UF", 1, 1, "CAP-300"},
        {"CAP.PREC.EXC.EN", "NX", 0, 0, "CAP-300"},
    };
    /* The registers at 0x7E2 to 0x7ED, and the fields of all of them. */
    static const char *const registers[] = {"CAP-373",
                                            "CAP-374",
                                            "CAP-375",
                                            "CAP-376",
                                            "CAP-377",
                                            "CAP-378",
                                            "CAP-379",
                                            "CAP-380",
                                            "CAP-381",
                                            "CAP-382",
                                            "CAP-383",
                                            "CAP-384"};
    struct guest *g = guest_make("full");
    unsigned numbers[128], count = plain_numbers(numbers), named = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct facet_csr_row *row = row_at(numbers[i]);

        for (unsigned k = 0; k < row->field_count && !harness_failed(); k++) {
            const struct facet_csr_field *f = &row->fields[k];
            unsigned width = f->hi - f->lo + 1u;
            bool xmem = numbers[i] >= 0x7E2 && numbers[i] <= 0x7ED;
            char ids[64];
            uint64_t last = width >= 16 ? 64 : (UINT64_C(1) << width) - 1;

            (void)snprintf(ids,
                           sizeof ids,
                           "%s %s",
                           xmem ? registers[numbers[i] - 0x7E2] : "",
                           xmem || (numbers[i] >= 0x7F0 && numbers[i] <= 0x7F5) ? "CAP-350"
                           : numbers[i] == 0x7D3                                ? "CAP-179"
                                                                                : "");
            harness_row(ids);
            for (size_t t = 0; t < sizeof told / sizeof told[0]; t++) {
                if (strcmp(told[t].csr, row->name) == 0 && strcmp(told[t].field, f->name) == 0) {
                    (void)strcat(strcat(ids, " "), told[t].ids);
                    harness_row(ids);
                    CHECK_EQ(f->hi, told[t].hi);
                    CHECK_EQ(f->lo, told[t].lo);
                    named++;
                }
            }
            if (f->access != FACET_CSR_RW && f->access != FACET_CSR_WARL) {
                continue;
            }
            for (uint64_t v = 0; v <= last; v++) {
                uint64_t before = guest_csr(g, numbers[i]);

                guest_csrw(g, numbers[i], v << f->lo);
                CHECK_EQ(guest_csr(g, numbers[i]), after_write(numbers[i], before, v << f->lo));
                if (f->access == FACET_CSR_RW) {
                    CHECK_EQ((guest_csr(g, numbers[i]) & ones(f->hi, f->lo)) >> f->lo, v);
                }
            }
            guest_csrw(g, numbers[i], 0);
        }
    }
    harness_row("");
    CHECK_EQ(named, sizeof told / sizeof told[0]);
    guest_csrw(g, 0x7E2, UINT64_MAX);
    CHECK_ID("CAP-391", (guest_csrr(g, 0x7E2) >> 21 & 7) == 0);
    guest_csrw(g, 0x7D3, UINT64_MAX);
    CHECK_ID("CAP-300", guest_csrr(g, 0x7D3) == 0x1F);
    guest_free(g);
}

TEST(ones_clear_sticky_bits_and_zeros_do_not, "")
{
    static const struct {
        unsigned number, bits;
        const char *zeros, *ones;
    } regs[] = {{0x7D4, 7, "CAP-104", "CAP-103 CAP-181 CAP-187 CAP-302 CAP-496"},
                {0x7EE, 8, "CAP-385", "CAP-349 CAP-385"}};
    struct guest *g = guest_make("full");

    for (unsigned r = 0; r < 2; r++) {
        uint64_t all = (UINT64_C(1) << regs[r].bits) - 1;

        for (unsigned bit = 0; bit < 64; bit++) {
            g->hart->units.cap.prec.exc_st = 0x7F;
            facet_cap_event(g->hart, 0xFF);
            harness_row(regs[r].zeros);
            guest_csrw(g, regs[r].number, 0);
            CHECK_EQ(guest_csrr(g, regs[r].number), all);
            harness_row(regs[r].ones);
            guest_csrw(g, regs[r].number, UINT64_C(1) << bit);
            CHECK_EQ(guest_csrr(g, regs[r].number), all & ~(UINT64_C(1) << bit));
        }
        harness_row(""); /* the value that the instruction would write decides (R-CAP-34) */
        guest_csrw(g, regs[r].number, all & ~UINT64_C(3));
        CHECK_EQ(guest_csrr(g, regs[r].number) & 0x7C, 0);
        g->hart->units.cap.prec.exc_st = 3;
        facet_cap_event(g->hart, 3);
        (void)csr_op(g, "csrrc", regs[r].number, 1); /* would write 2: bit 1 goes */
        CHECK_EQ(guest_csrr(g, regs[r].number), 1);
        (void)csr_op(g, "csrrs", regs[r].number, 4); /* would write 5: everything set goes */
        CHECK_EQ(guest_csrr(g, regs[r].number), 0);
    }
    g->hart->units.cap.prec.exc_st = 0x1F;
    guest_csrw(g, 0x7D4, 0x04);
    CHECK_ID("CAP-103", guest_csrr(g, 0x7D4) == 0x1B);
    guest_csrw(g, 0x7D4, 0x7F);
    CHECK_ID("CAP-496", guest_csrr(g, 0x7D4) == 0);
    facet_cap_event(g->hart, 5);
    guest_csrw(g, 0x7EE, 1);
    CHECK_ID("CAP-349", guest_csrr(g, 0x7EE) == 4);
    guest_free(g);
}

/* ---- features of CAP.XMEM.CAP ----------------------------------------------------------------
 */

/* The features that the meaning column ties a field to. */
static uint64_t tied_features(const struct facet_csr_field *f)
{
    const struct facet_csr_row *cap = row_at(0x7E0);
    const char *tied = strstr(f->meaning, "(tied to ");
    uint64_t features = 0;
    char list[128];

    if (tied == NULL) {
        return 0;
    }
    snprintf(list, sizeof list, " %.*s ", (int)strcspn(tied + 9, ")"), tied + 9);
    for (unsigned i = 0; i < cap->field_count; i++) {
        char word[32];

        snprintf(word, sizeof word, " %s ", cap->fields[i].name);
        if (strstr(list, word) != NULL) {
            features |= UINT64_C(1) << cap->fields[i].lo;
        }
    }
    CHECK_MSG(features != 0, "%s", f->meaning);
    return features;
}

TEST(fields_of_absent_memory_features_read_zero, "")
{
    struct guest *g = guest_make("full");

    for (int missing = -2; missing < 13 && !harness_failed(); missing++) {
        uint64_t features = missing == -2   ? 0x1FFF
                            : missing == -1 ? 1 /* configuration min */
                                            : 0x1FFF & ~(UINT64_C(1) << missing);

        guest_configure(g, "xmem_cap", features);
        for (unsigned number = 0x7E2; number <= 0x7F5; number++) {
            const struct facet_csr_row *row = row_at(number);
            uint64_t one_each = 0, want = 0;

            for (unsigned i = 0; i < row->field_count; i++) {
                const struct facet_csr_field *f = &row->fields[i];
                uint64_t needs = tied_features(f);

                if (f->access != FACET_CSR_RO) { /* 1 is legal in every field */
                    one_each |= UINT64_C(1) << f->lo;
                    want |= (features & needs) == needs ? UINT64_C(1) << f->lo : 0;
                }
            }
            if (number == 0x7EE) {
                facet_cap_event(g->hart, one_each);
            } else {
                guest_csrw(g, number, one_each);
            }
            harness_row(number >= 0x7F0 ? "CAP-424" : "CAP-070 CAP-351");
            CHECK_MSG(guest_csrr(g, number) == want,
                      "features 0x%llx: 0x%x reads 0x%llx, expected 0x%llx",
                      (unsigned long long)features,
                      number,
                      (unsigned long long)guest_csr(g, number),
                      (unsigned long long)want);
        }
        CHECK_ID("CAP-466", (guest_csrr(g, 0x7D2) >> 15 & 1) == 0); /* never UNSUP_FMT */
        harness_row("");
    }
    guest_free(g);

    g = guest_make("min");
    harness_row("CAP-070 CAP-091");
    for (unsigned number = 0x7E8; number <= 0x7EB; number++) {
        guest_csrw(g, number, UINT64_MAX);
        CHECK_EQ(guest_csrr(g, number), 0);
    }
    guest_csrw(g, 0x7EC, 1);
    CHECK_ID("CAP-465", guest_csrr(g, 0x7EC) == 0);
    CHECK_ID("CAP-466", (guest_csrr(g, 0x7D2) >> 15 & 1) == 0);
    guest_csrw(g, 0x7F4, 0xF);
    CHECK_ID("CAP-424", guest_csrr(g, 0x7F4) == 3);
    guest_csrw(g, 0x7E2, UINT64_MAX);
    CHECK_ID("CAP-351", guest_csrr(g, 0x7E2) == 0);
    guest_free(g);
}

/* ---- privilege and absent units --------------------------------------------------------------
 */

TEST(the_window_is_machine_mode_and_the_rest_is_open, "CAP-085 CAP-090")
{
    struct guest *g = guest_make("full");

    for (unsigned number = WINDOW_FIRST; number <= WINDOW_LAST; number++) {
        g->hart->priv = FACET_PRIV_U;
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number);
        g->hart->priv = FACET_PRIV_U;
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrwi 0x%x, 0\n", number);
    }
    for (unsigned number = 0x830; number <= 0x837; number++) {
        g->hart->priv = FACET_PRIV_U;
        guest_ok(g, "csrr t0, 0x%x\n csrw 0x%x, t0\n", number, number);
    }
    g->hart->priv = FACET_PRIV_U;
    CHECK_EQ(guest_indirect_read(g, 0x7EA0), 0x40000000);
    CHECK_EQ(guest_indirect_read(g, 0x7E80), 0);
    guest_csrw(g, 0x840, 0x7D80); /* ZPTAB: selecting is allowed, looking is not */
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x841\n");
    g->hart->priv = FACET_PRIV_U;
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrwi 0x841, 3\n");
    CHECK_EQ(g->hart->priv, FACET_PRIV_M);
    CHECK_EQ(guest_indirect_read(g, 0x7D80), 0);
    guest_free(g);
}

TEST(the_indirect_pair_reaches_exactly_the_listed_numbers, "CAP-089")
{
    struct guest *g = guest_make("full");
    unsigned answered = 0;

    for (unsigned number = 0; number < 0x10000; number++) {
        bool listed = (number >= 0x7D80 && number <= 0x7DA1) ||
                      (number >= 0x7E80 && number <= 0x7EA9) ||
                      (number >= 0x7FA0 && number <= 0x7FAB);
        uint64_t value = 0;

        g->hart->units.cap.xisel = number;
        CHECK_EQ(facet_vendor_csr_read(g->hart, 0x841, &value) == FACET_CSR_ANSWERED, listed);
        if (!listed) {
            CHECK_EQ(facet_vendor_csr_write(g->hart, 0x841, FACET_CSRRW, 1), FACET_CSR_ABSENT);
        }
        answered += listed;
    }
    CHECK_EQ(answered, 74 + 2 + 12);
    guest_csrw(g, 0x840, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x840), 0xFFFF);
    CHECK_EQ(guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x841\n"), 0x841022F3);
    for (unsigned k = 0; k < 32; k++) { /* ZPTAB: entry n in register n / 8, byte n mod 8 */
        guest_indirect_write(
            g, 0x7D80 + k, UINT64_C(0x0706050403020100) + k * UINT64_C(0x0808080808080808));
    }
    for (unsigned n = 0; n < 256; n++) {
        CHECK_EQ(g->hart->units.cap.zptab[n], n);
    }
    CHECK_EQ(guest_indirect_read(g, 0x7D81), UINT64_C(0x0F0E0D0C0B0A0908));
    guest_ok(g, "li t0, 0x7D81\n csrw 0x840, t0\n li t0, 0xFF\n csrrc t1, 0x841, t0\n");
    CHECK_EQ(g->hart->x[6], UINT64_C(0x0F0E0D0C0B0A0908));
    CHECK_EQ(guest_indirect_read(g, 0x7D81), UINT64_C(0x0F0E0D0C0B0A0900));
    /* The others show the machine's state and ignore writes. */
    g->xmem->tokens[5] = 77;
    g->xmem->blocks[0] = (struct facet_lds_block){.offset = 0, .size = 128, .mclass = 2};
    g->xmem->blocks[1] = (struct facet_lds_block){.offset = 128, .size = 64, .mclass = 2};
    g->xmem->blocks[2] = (struct facet_lds_block){.offset = 256, .size = 64, .mclass = 1};
    g->xmem->block_count = 3;
    g->xmem->ticket_mtx = 9;
    g->xmem->lock_count = 4;
    for (unsigned number = 0x7E80; number <= 0x7EA9; number++) {
        uint64_t before = guest_indirect_read(g, number);

        guest_indirect_write(g, number, UINT64_MAX);
        CHECK_EQ(guest_indirect_read(g, number), before);
    }
    CHECK_EQ(guest_indirect_read(g, 0x7E85), 77);
    CHECK_EQ(guest_indirect_read(g, 0x7EA2), 0);
    CHECK_EQ(guest_indirect_read(g, 0x7EA3), 64);
    CHECK_EQ(guest_indirect_read(g, 0x7EA4), 192);
    CHECK_EQ(guest_indirect_read(g, 0x7EA6), 0x4000);
    CHECK_EQ(guest_indirect_read(g, 0x7EA7), 0);
    CHECK_EQ(guest_indirect_read(g, 0x7EA8), UINT64_C(2) << 56 | 9);
    CHECK_EQ(guest_indirect_read(g, 0x7EA9), 4);
    guest_free(g);
}

TEST(registers_of_absent_units, "CAP-129 CAP-090")
{
    struct guest *g = guest_make("full");

    guest_configure(g, "feat0", 0x5D19 & ~(1 << 3 | 1 << 10)); /* neither RT nor GFX */
    for (unsigned number = 0x800; number < 0x830; number++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number);
    }
    guest_csrw(g, 0x840, 0x7FA0);
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x841\n");
    guest_configure(g, "feat0", 0x5D19 & ~(1 << 11));
    for (unsigned number = 0x830; number < 0x838; number++) {
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x%x\n", number);
        (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrwi 0x%x, 0\n", number);
    }
    guest_configure(g, "feat0", 0x5D19 & ~(1 << 12)); /* RSV: reads 0, ignores writes */
    for (unsigned number = 0x7F8; number <= 0x7FF; number++) {
        if (!traps_always(number)) {
            guest_csrw(g, number, UINT64_MAX);
            CHECK_EQ(guest_csrr(g, number), 0);
        }
    }
    g->hart->x[10] = 7; /* and nothing runs in lanes */
    g->hart->x[20] = g->hart->x[21] = 99;
    guest_ok(g, "add x20, x10, x10\n");
    CHECK_EQ(g->hart->x[20], 14);
    CHECK_EQ(g->hart->x[21], 99);
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x7FC\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x7FD\n");
    /* Fewer banks: SVSTATE.PBANK stores only those that exist. */
    guest_configure(g, "feat0", 0x5D19);
    for (unsigned banks = 1; banks <= 4; banks++) {
        guest_configure(g, "pmask_banks", banks);
        CHECK_EQ(guest_csrr(g, 0x7C7) >> 1 & 7, banks - 1);
        for (unsigned bank = 0; bank < 4; bank++) {
            guest_csrw(g, 0x7F8, bank << 10);
            CHECK_EQ(guest_csrr(g, 0x7F8), bank < banks ? bank << 10 : 0);
        }
    }
    guest_configure(g, "pmask_present", 0);
    CHECK_EQ(guest_csrr(g, 0x7C7), 0);
    CHECK_EQ(guest_csrr(g, 0x7C6) >> 8 & 3, 0);
    guest_csrw(g, 0x7F8, 0xC00);
    CHECK_EQ(guest_csrr(g, 0x7F8), 0);
    guest_free(g);
    g = guest_make("full");
    g->hart->xmem = NULL; /* a hart without vendor units has none of it */
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x7C0\n");
    (void)guest_traps(g, FACET_CAUSE_ILLEGAL, "csrr t0, 0x840\n");
    guest_free(g);
}

/* ---- matrix windows --------------------------------------------------------------------------
 */

TEST(matrix_windows_show_the_selected_bank_and_word, "MTX-013 MTX-017 MTX-034")
{
    static const struct {
        unsigned number, words;
    } windows[] = {{0x832, 2}, {0x833, 5}, {0x834, 8}, {0x835, 2}};
    struct guest *g = guest_make("full");

    for (unsigned pass = 0; pass < 2; pass++) { /* write everything, then look */
        for (unsigned bank = 0; bank < 4; bank++) {
            for (unsigned word = 0; word < 8; word++) {
                guest_csrw(g, 0x831, bank | word << 4);
                CHECK_EQ(guest_csrr(g, 0x831), bank | word << 4);
                for (unsigned w = 0; w < 4; w++) {
                    uint64_t mark = UINT64_C(0x1111111111111111) * (1 + w) + bank * 100 + word;

                    if (pass == 0) {
                        guest_csrw(g, windows[w].number, mark);
                    }
                    CHECK_EQ(guest_csrr(g, windows[w].number), word < windows[w].words ? mark : 0);
                }
            }
        }
    }
    CHECK_EQ(g->hart->units.mtx.bank[2].mtx3[8], (uint8_t)(0x22 + 201));
    guest_csrw(g, 0x831, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x831), 0x73);
    guest_csrw(g, 0x830, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x830), 7);
    guest_csrw(g, 0x836, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x836), 0);
    guest_csrw(g, 0x837, UINT64_MAX);
    CHECK_EQ(guest_csrr(g, 0x837) & 0x1F, 0x17);
    guest_free(g);
}

TEST(configuration_keys_take_only_what_a_machine_can_be, "")
{
    static const struct {
        const char *key;
        uint64_t good, bad;
    } keys[] = {
        {"pmask_present", 0, 2},
        {"pmask_level", 1, 3},
        {"pmask_banks", 1, 0},
        {"pmask_banks", 4, 5},
        {"feat0", 0, 1 << 15},
        {"xmem_cap", 0x1FFF, 0x2000},
        {"alt_formats", 0x3E, 1},
        {"cap_vers", 0, 1},
        {"flags", 3, 4},
        {"rtcap", 0x3F, UINT64_MAX},
        {"mtxcap", 0, 1 << 20},
        {"rt_node4", 0, 2},
        {"rt_node8", 0, 2},
        {"rt_watertight", 0, 2},
        {"rt_pack_hint", 0, 2},
        {"rt_eps_ctl", 0, 2},
        {"rt_descq", 1, 2},
        {"mtx_descq", 0, UINT64_MAX},
    };
    struct facet_error err = {0};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct facet_cap_config config = *facet_cap_config_named("full"), before;

        CHECK_EQ(facet_cap_config_set(&config, keys[i].key, keys[i].good, &err), FACET_OK);
        before = config;
        CHECK_EQ(facet_cap_config_set(&config, keys[i].key, keys[i].bad, &err), FACET_ERR_USAGE);
        CHECK(strstr(err.message, keys[i].key) != NULL);
        CHECK(memcmp(&before, &config, sizeof config) == 0);
    }
    {
        struct facet_cap_config config = *facet_cap_config_named("min");

        CHECK_EQ(facet_cap_config_set(&config, "lanes", 1, &err), FACET_ERR_USAGE);
        CHECK_STR(err.message, "unknown configuration key lanes");
    }
}
