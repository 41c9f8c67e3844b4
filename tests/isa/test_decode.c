/* The decoder against a naive scan of the rows, operands in and out of words, encodings that the
 * documents state in bits. */
#include "harness.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"

#include <stdio.h>
#include <time.h>

/* The oracle: conditions from the operand descriptions, not from the decision tables. */
static bool owns(const struct facet_insn_row *row, uint32_t word)
{
    if ((word & row->mask) != row->match) {
        return false;
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];
        if (!facet_operand_legal(o, facet_operand_get(o, word))) {
            return false;
        }
    }
    return true;
}

static const struct facet_insn_row *naive(enum facet_isa isa, uint32_t word, unsigned *owners)
{
    const struct facet_insn_row *found = NULL;

    *owners = 0;
    for (size_t i = 0; i < facet_isa_row_count[isa]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[isa][i];
        if ((word & row->mask) == row->match && owns(row, word)) {
            found = row;
            ++*owners;
        }
    }
    return found;
}

static bool agrees(enum facet_isa isa, uint32_t word)
{
    unsigned owners;
    const struct facet_insn_row *want = naive(isa, word, &owners);
    const struct facet_insn_row *got = facet_isa_decode(isa, word);

    return CHECK_MSG(owners <= 1 && got == want,
                     "%s word 0x%08x: %u rows own it, decoded as %s, expected %s",
                     facet_isa_name[isa],
                     word,
                     owners,
                     got != NULL ? got->mnemonic : "illegal",
                     want != NULL ? want->mnemonic : "illegal");
}

/* A word of the row with random fields; may break a condition. */
static uint32_t random_word_of(const struct facet_insn_row *row)
{
    return ((uint32_t)harness_random() & ~row->mask) | row->match;
}

TEST(every_16_bit_word, "")
{
    unsigned legal = 0;

    for (uint32_t word = 0; word < 0x10000 && !harness_failed(); word++) {
        if (facet_isa_length(FACET_ISA_XPHMG, (uint16_t)word) == 2) {
            agrees(FACET_ISA_XPHMG, word);
            legal += facet_isa_decode(FACET_ISA_XPHMG, word) != NULL;
            /* Bits above a compressed instruction belong to the next one. */
            CHECK(facet_isa_decode(FACET_ISA_XPHMG, word) ==
                  facet_isa_decode(FACET_ISA_XPHMG, word | 0xA5A50000u));
        }
    }
    CHECK_MSG(legal > 45000 && legal < 49152, "%u legal 16-bit words", legal);
}

/* RSV-095, RSV-147: all of custom-0 funct3 0..5; PM-089: custom-3 funct3 0..2 by sampling. */
TEST(custom_0_exhaustive_options, "RSV-095 RSV-147")
{
    for (uint32_t funct3 = 0; funct3 < 8; funct3++) {
        for (uint32_t imm = 0; imm < 4096 && !harness_failed(); imm++) {
            for (unsigned k = 0; k < 4; k++) {
                uint32_t rs1 = k & 1 ? 1 + (uint32_t)(harness_random() % 31) : 0;
                uint32_t rd = k & 2 ? 1 + (uint32_t)(harness_random() % 31) : 0;
                agrees(FACET_ISA_XPHMG, 0x0B | rd << 7 | funct3 << 12 | rs1 << 15 | imm << 20);
            }
        }
    }
}

TEST(random_words, "PM-089 PM-090 GFX-367")
{
    unsigned rounds = harness_long() ? 40000000 : 3500000;

    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
            agrees((enum facet_isa)isa, (uint32_t)harness_random());
        }
    }
}

/* Words next to legal ones: every row with random fields, then with each single bit flipped. */
TEST(words_near_rows, "")
{
    unsigned rounds = harness_long() ? 1000 : 150;

    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t r = 0; r < facet_isa_row_count[isa]; r++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][r];
            for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
                uint32_t word = random_word_of(row);
                agrees((enum facet_isa)isa, word);
                for (unsigned bit = 0; bit < 32; bit++) {
                    agrees((enum facet_isa)isa, word ^ (UINT32_C(1) << bit));
                }
                /* Fields all zero, all one: where the conditions bite. */
                agrees((enum facet_isa)isa, row->match);
                agrees((enum facet_isa)isa, row->match | ~row->mask);
            }
        }
    }
}

TEST(fixed_illegal_words, "")
{
    static const struct {
        enum facet_isa isa;
        uint32_t word;
        const char *ids;
    } words[] = {
        {FACET_ISA_XPHMG, 0x00000000, ""},        /* the all-zero half */
        {FACET_ISA_XPHMG, 0xFFFFFFFF, ""},        /* longer than 32 bits */
        {FACET_ISA_XPHMG, 0x0040007B, "PM-090"},  /* pmclr with bit 22 set */
        {FACET_ISA_XPHMG, 0x1000000B, "RSV-065"}, /* svsetvl with imm[11:8] */
        {FACET_ISA_XPHMG, 0x0010800B, "RSV-065"}, /* svsetvl with imm8 and rs1 */
        {FACET_ISA_XPHMG, 0x0200400B, "RSV-076"}, /* vlstep, source step 1xx */
        {FACET_ISA_XPHMG, 0x0040400B, "RSV-076"}, /* vlstep, destination step 1xx */
        {FACET_ISA_XPHMG, 0x0145658B, "RT-071"},  /* rt.bbox with imm[4] */
        {FACET_ISA_XPHMG, 0x284572AB, "GFX-238"}, /* GFX.CULL.FRUSTUM with imm[9] */
        {FACET_ISA_XPHMG, 0x026500DB, "MTX-096"}, /* MTX.LD with rd */
        {FACET_ISA_TILE, 0x00000000, ""},
        {FACET_ISA_TILE, 0xFFFFFFFF, ""},
        {FACET_ISA_TILE, 0x0200302F, "TILE-571"},
        {FACET_ISA_TILE, 0x0000500F, "TILE-552"},
        {FACET_ISA_TILE, 0x0000600F, "TILE-552"},
        {FACET_ISA_TILE, 0x0E007010, "TILE-551"},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        harness_row(words[i].ids);
        CHECK_MSG(facet_isa_decode(words[i].isa, words[i].word) == NULL,
                  "0x%08x is legal",
                  words[i].word);
    }
    for (unsigned bit = 24; bit < 32; bit++) {
        CHECK_ID("RT-140", facet_isa_decode(FACET_ISA_XPHMG, 0x0045658B | 1u << bit) == NULL);
        CHECK_ID("RT-159", facet_isa_decode(FACET_ISA_XPHMG, 0x0015758B | 1u << bit) == NULL);
    }
    harness_row("TILE-281");
    for (uint32_t funct3 = 4; funct3 < 8; funct3++) {
        for (uint32_t funct7 = 0; funct7 < 128; funct7++) {
            CHECK(facet_isa_decode(FACET_ISA_TILE, 0x11 | funct3 << 12 | funct7 << 25) == NULL);
        }
    }
    harness_row("TILE-322");
    for (uint32_t funct3 = 2; funct3 < 8; funct3++) {
        for (uint32_t funct7 = 0; funct7 < 128; funct7++) {
            CHECK(facet_isa_decode(FACET_ISA_TILE, 0x13 | funct3 << 12 | funct7 << 25) == NULL);
        }
    }
    CHECK_STR(facet_isa_decode(FACET_ISA_TILE, 0x16001013)->mnemonic, "TEX2D.B.F32");
    harness_row("GFX-238 MTX-096"); /* the legal neighbours */
    CHECK_STR(facet_isa_decode(FACET_ISA_XPHMG, 0x084572AB)->mnemonic, "GFX.CULL.FRUSTUM");
    CHECK_STR(facet_isa_decode(FACET_ISA_XPHMG, 0x0265005B)->mnemonic, "MTX.LD");
}

static const struct facet_insn_row *tile_row(enum facet_tile_op op)
{
    return &facet_isa_rows[FACET_ISA_TILE][op];
}

static unsigned immediate_count(enum facet_tile_op op)
{
    const struct facet_insn_row *row = tile_row(op);
    unsigned count = 0;

    for (unsigned i = 0; i < row->operand_count; i++) {
        count += row->operands[i].kind == FACET_OPERAND_UIMM ||
                 row->operands[i].kind == FACET_OPERAND_SIMM;
    }
    return count;
}

/* The row has one immediate, in one piece that fills these bits. */
static bool immediate_at(enum facet_tile_op op, unsigned hi, unsigned lo)
{
    const struct facet_insn_row *row = tile_row(op);

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if (o->kind == FACET_OPERAND_UIMM || o->kind == FACET_OPERAND_SIMM) {
            return immediate_count(op) == 1 && o->piece_count == 1 && o->pieces[0].word_lo == lo &&
                   o->pieces[0].width == hi - lo + 1;
        }
    }
    return false;
}

/* Encodings as the seed of the tile machine writes them; -1: not a fixed field of that row. */
TEST(tile_encodings, "")
{
    static const struct {
        const char *mnemonic;
        int opcode, funct7, funct3;
        const char *ids;
    } rows[] = {
        {"ADD", 0x0B, 0x00, 0, "TILE-103 TILE-054"},
        {"SUB", 0x0B, 0x20, 0, "TILE-104 TILE-054"},
        {"AND", 0x0B, 0x00, 7, "TILE-105"},
        {"OR", 0x0B, 0x00, 6, "TILE-106"},
        {"XOR", 0x0B, 0x00, 4, "TILE-107"},
        {"SHL", 0x0B, 0x00, 1, "TILE-108"},
        {"LSR", 0x0B, 0x00, 5, "TILE-109"},
        {"ASR", 0x0B, 0x20, 5, "TILE-110"},
        {"MIN", 0x0B, 0x00, 2, "TILE-111"},
        {"MAX", 0x0B, 0x00, 3, "TILE-112"},
        {"MUL", 0x0B, 0x01, 0, "TILE-113"},
        {"MULH", 0x0B, 0x01, 1, "TILE-114"},
        {"MULHU", 0x0B, 0x01, 2, "TILE-115"},
        {"MAC", 0x0B, 0x01, 3, "TILE-116"},
        {"CMP", 0x0B, 0x02, 0, "TILE-117"},
        {"CMPU", 0x0B, 0x02, 1, "TILE-118"},
        {"CMPEQ", 0x0B, 0x02, 2, "TILE-119"},
        {"CLZ", 0x0B, 0x03, 0, "TILE-120 TILE-054"},
        {"CTZ", 0x0B, 0x03, 1, "TILE-121"},
        {"ABS", 0x0B, 0x00, 1, "TILE-122"},
        {"ADDI", 0x17, -1, 0, "TILE-123"},
        {"ANDI", 0x17, -1, 7, "TILE-124"},
        {"ORI", 0x17, -1, 6, "TILE-125"},
        {"XORI", 0x17, -1, 4, "TILE-126"},
        {"LUI", 0x37, -1, -1, "TILE-127"},
        {"BEQ", 0x0E, -1, 0, "TILE-129 TILE-085"},
        {"BNE", 0x0E, -1, 1, "TILE-130 TILE-085"},
        {"BLT", 0x0E, -1, 4, "TILE-131 TILE-085"},
        {"BGE", 0x0E, -1, 5, "TILE-132 TILE-085"},
        {"BLTU", 0x0E, -1, 6, "TILE-133 TILE-085"},
        {"BGEU", 0x0E, -1, 7, "TILE-134 TILE-085"},
        {"JALR", 0x0E, -1, 2, "TILE-135 TILE-085"},
        {"JAL.S", 0x0E, -1, 3, "TILE-136"},
        {"JAL", 0x6F, -1, -1, "TILE-136"},
        {"FADD", 0x0B, 0x08, 0, "TILE-150"},
        {"FSUB", 0x0B, 0x08, 1, "TILE-151"},
        {"FMUL", 0x0B, 0x08, 2, "TILE-152"},
        {"FMA", 0x0B, 0x08, 3, "TILE-153"},
        {"FMIN", 0x0B, 0x08, 4, "TILE-154"},
        {"FMAX", 0x0B, 0x08, 5, "TILE-155"},
        {"FCVT.I2F", 0x0B, 0x08, 6, "TILE-156"},
        {"FCVT.F2I", 0x0B, 0x08, 7, "TILE-157"},
        {"FABS", 0x0B, 0x08, 6, "TILE-159"},
        {"FNEG", 0x0B, 0x08, 6, "TILE-159"},
        {"FRECIP", 0x0B, 0x09, 0, "TILE-160"},
        {"FRSQRT", 0x0B, 0x09, 1, "TILE-161"},
        {"LB", 0x0C, 0x00, 0, "TILE-162 TILE-164"},
        {"LH", 0x0C, 0x00, 1, "TILE-162 TILE-164"},
        {"LW", 0x0C, 0x00, 2, "TILE-162 TILE-164 TILE-020"},
        {"SB", 0x0D, 0x00, 0, "TILE-163 TILE-164"},
        {"SH", 0x0D, 0x00, 1, "TILE-163 TILE-164"},
        {"SW", 0x0D, 0x00, 2, "TILE-163 TILE-164 TILE-020"},
        {"LBU", 0x0C, 0x00, 3, "TILE-162 TILE-165 TILE-218"},
        {"LHU", 0x0C, 0x04, 3, "TILE-162 TILE-165 TILE-219"},
        {"LW.R", 0x0C, 0x01, 2, "TILE-162 TILE-020"},
        {"LW.P", 0x0C, 0x02, 2, "TILE-162 TILE-020"},
        {"LW.B", 0x0C, 0x03, 2, "TILE-162 TILE-020"},
        {"SW.R", 0x0D, 0x01, 2, "TILE-163 TILE-020"},
        {"SW.P", 0x0D, 0x02, 2, "TILE-163 TILE-020"},
        {"SW.B", 0x0D, 0x03, 2, "TILE-163 TILE-020"},
        {"AADD", 0x14, -1, 0, "TILE-181"},
        {"VLD.V", 0x11, 0x00, 0, "TILE-276"},
        {"VLD.V.R", 0x11, 0x01, 0, "TILE-289"},
        {"VLD.V.P", 0x11, 0x02, 0, "TILE-290"},
        {"VLD.V.B", 0x11, 0x03, 0, "TILE-291"},
        {"VLD.S", 0x11, 0x00, 1, "TILE-292"},
        {"VLDX", 0x11, 0x00, 2, "TILE-276 TILE-293"},
        {"VLD.C", 0x11, 0x00, 3, "TILE-294"},
        {"VST.V", 0x12, 0x00, 0, "TILE-276"},
        {"VST.V.R", 0x12, 0x01, 0, "TILE-296"},
        {"VST.V.P", 0x12, 0x02, 0, "TILE-297"},
        {"VST.V.B", 0x12, 0x03, 0, "TILE-298"},
        {"VST.S", 0x12, 0x00, 1, "TILE-299"},
        {"VSTX", 0x12, 0x00, 2, "TILE-276"},
        {"VATOM.ADD", 0x15, -1, 0, "TILE-301"},
        {"VDOT.F32", 0x2F, 0x09, 4, "TILE-264"},
        {"VSEL.I32", 0x2F, 0x0D, 0, "TILE-266"},
        {"VPERM.B", 0x10, 0x07, 0, "TILE-553"},
        {"VPERM.ZIP", 0x10, 0x07, 6, "TILE-553"},
        {"MEMBAR", 0x0F, -1, 0, "TILE-097 TILE-098"},
        {"WFI", 0x0F, -1, 7, "TILE-097 TILE-102"},
        {"VBCAST.I32", 0x10, 0x08, 0, "TILE-270"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t from = 0;
        const struct facet_insn_row *row =
            facet_isa_find(FACET_ISA_TILE, rows[i].mnemonic, strlen(rows[i].mnemonic), &from);

        harness_row(rows[i].ids);
        if (!CHECK_MSG(row != NULL, "no row %s", rows[i].mnemonic)) {
            continue;
        }
        CHECK_EQ(row->match & 0x7F, rows[i].opcode);
        if (rows[i].funct3 >= 0) {
            CHECK_EQ(row->match >> 12 & 7, rows[i].funct3);
            CHECK_EQ(row->mask >> 12 & 7, 7);
        }
        if (rows[i].funct7 >= 0) {
            CHECK_EQ(row->match >> 25, rows[i].funct7);
            CHECK_EQ(row->mask >> 25, 0x7F);
        }
    }
    CHECK_ID("TILE-159", (tile_row(FACET_TILE_FABS)->match >> 20 & 31) == 1);
    CHECK_ID("TILE-159", (tile_row(FACET_TILE_FNEG)->match >> 20 & 31) == 2);
    /* SHL with 0 in its rs2 field does not exist: that word is ABS. */
    CHECK_ID("TILE-122", (tile_row(FACET_TILE_ABS)->mask >> 20 & 31) == 31);
    CHECK_ID("TILE-122",
             facet_isa_decode(FACET_ISA_TILE, tile_row(FACET_TILE_SHL)->match) ==
                 tile_row(FACET_TILE_ABS));
    CHECK_ID("TILE-098", tile_row(FACET_TILE_MEMBAR)->match == 0x0000000F);
    CHECK_ID("TILE-102", tile_row(FACET_TILE_WFI)->match == 0x0000700F);
    CHECK_ID("TILE-123", immediate_at(FACET_TILE_ADDI, 31, 20));
    CHECK_ID("TILE-124", immediate_at(FACET_TILE_ANDI, 31, 20));
    CHECK_ID("TILE-125", immediate_at(FACET_TILE_ORI, 31, 20));
    CHECK_ID("TILE-126", immediate_at(FACET_TILE_XORI, 31, 20));
    CHECK_ID("TILE-127", immediate_at(FACET_TILE_LUI, 31, 12));
    CHECK_ID("TILE-293", immediate_count(FACET_TILE_VLDX) == 0);
    harness_row("TILE-183"); /* atomics of bytes and halves have no row, whatever the operation */
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_TILE]; i++) {
        const char *name = tile_row((enum facet_tile_op)i)->mnemonic;
        if ((tile_row((enum facet_tile_op)i)->match & 0x7F) == 0x14) {
            CHECK_MSG(strstr(name, ".B") == NULL && strstr(name, ".H") == NULL, "%s", name);
        }
    }
}

/* RT-129, GFX-093, GFX-094, MTX-095, TILE-022..026: the opcode of every row of a family. */
TEST(opcodes_of_families, "")
{
    static const struct {
        enum facet_isa isa;
        const char *prefix;
        unsigned opcode;
        const char *ids;
    } families[] = {
        {FACET_ISA_XPHMG, "rt.", 0x0B, "RT-129"},
        {FACET_ISA_XPHMG, "sv", 0x0B, "RSV-002 RSV-146"},
        {FACET_ISA_XPHMG, "GFX.", 0x2B, "GFX-093 GFX-094"},
        {FACET_ISA_XPHMG, "MTX.", 0x5B, "MTX-095"},
        {FACET_ISA_TILE, "TEX2D.", 0x13, "TILE-025"},
        {FACET_ISA_TILE, "VATOM.", 0x15, "TILE-026"},
        {FACET_ISA_TILE, "VADD", 0x2F, "TILE-022"},
        {FACET_ISA_TILE, "VSUB", 0x2F, "TILE-022"},
        {FACET_ISA_TILE, "VSEL", 0x2F, "TILE-022"},
    };

    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        unsigned count = 0;

        harness_row(families[f].ids);
        for (size_t i = 0; i < facet_isa_row_count[families[f].isa]; i++) {
            const struct facet_insn_row *row = &facet_isa_rows[families[f].isa][i];
            if (strncmp(row->mnemonic, families[f].prefix, strlen(families[f].prefix)) != 0) {
                continue;
            }
            count++;
            CHECK_MSG((row->match & 0x7F) == families[f].opcode && (row->mask & 0x7F) == 0x7F,
                      "%s has opcode 0x%02x",
                      row->mnemonic,
                      row->match & 0x7F);
            /* I-type: options stand in bits 31:20 only. */
            for (unsigned o = 0; o < row->operand_count && families[f].isa == FACET_ISA_XPHMG;
                 o++) {
                const struct facet_operand *op = &row->operands[o];
                for (unsigned p = 0; p < op->piece_count; p++) {
                    bool reg = op->kind == FACET_OPERAND_XREG || op->kind == FACET_OPERAND_XFREG ||
                               strcmp(op->name, "rd") == 0;
                    CHECK_MSG(reg || op->pieces[p].word_lo >= 20, "%s.%s", row->mnemonic, op->name);
                }
            }
        }
        CHECK_MSG(count > 0, "no row %s*", families[f].prefix);
    }
    /* RSV has funct3 0..5 of custom-0, the helpers of MTX what LD, MUL and MAD leave free. */
    harness_row("RSV-002");
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_XPHMG]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];
        if (strncmp(row->mnemonic, "sv", 2) == 0) {
            CHECK_MSG((row->match >> 12 & 7) < 6, "%s", row->mnemonic);
        }
    }
    harness_row("MTX-094");
    for (size_t i = 0; i < facet_isa_row_count[FACET_ISA_XPHMG]; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][i];
        bool main_row = strcmp(row->mnemonic, "MTX.LD") == 0 ||
                        strcmp(row->mnemonic, "MTX.MUL") == 0 ||
                        strcmp(row->mnemonic, "MTX.MAD") == 0;
        if (strncmp(row->mnemonic, "MTX.", 4) == 0 && !main_row) {
            CHECK_MSG((1u << (row->match >> 12 & 7) & (1u << 2 | 1u << 3 | 1u << 5)) != 0,
                      "%s has funct3 %u",
                      row->mnemonic,
                      row->match >> 12 & 7);
        }
    }
}

TEST(operand_round_trip, "")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t r = 0; r < facet_isa_row_count[isa]; r++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][r];
            for (unsigned k = 0; k < 20; k++) {
                uint32_t word = random_word_of(row), rebuilt = row->match;
                for (unsigned o = 0; o < row->operand_count; o++) {
                    const struct facet_operand *op = &row->operands[o];
                    int64_t value = facet_operand_get(op, word), back = -99;
                    CHECK_MSG(facet_operand_fits(op, value),
                              "%s.%s %lld",
                              row->mnemonic,
                              op->name,
                              (long long)value);
                    CHECK(facet_operand_encode(op, facet_operand_written(op, value), &back));
                    CHECK_EQ(back, value);
                    rebuilt = facet_operand_set(op, rebuilt, value);
                }
                uint32_t ones = row->length == 2 ? 0xFFFF : 0xFFFFFFFF;
                CHECK_EQ(rebuilt & ones, word & ones);
            }
        }
    }
}

static const struct facet_operand *operand(const struct facet_insn_row *row, const char *name)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (strcmp(row->operands[i].name, name) == 0) {
            return &row->operands[i];
        }
    }
    return NULL;
}

TEST(operand_ranges, "TILE-088 TILE-095")
{
    const struct facet_insn_row *bne = &facet_isa_rows[FACET_ISA_TILE][FACET_TILE_BNE];
    const struct facet_operand *bimm = operand(bne, "bimm");
    CHECK(facet_operand_fits(bimm, -4096) && facet_operand_fits(bimm, 4094));
    CHECK(!facet_operand_fits(bimm, -4098) && !facet_operand_fits(bimm, 4096) &&
          !facet_operand_fits(bimm, 3));
    CHECK_EQ(facet_operand_get(bimm, facet_operand_set(bimm, bne->match, -4096)), -4096);
    CHECK_EQ(facet_operand_set(bimm, bne->match, -4096), 0x8000100E);
    CHECK_EQ(facet_operand_set(bimm, bne->match, 4094), 0x7E001F8E);

    const struct facet_insn_row *jal = &facet_isa_rows[FACET_ISA_TILE][FACET_TILE_JAL];
    const struct facet_operand *jimm = operand(jal, "jimm");
    CHECK(facet_operand_fits(jimm, -1048576) && facet_operand_fits(jimm, 1048574) &&
          !facet_operand_fits(jimm, 1048576));
    CHECK_EQ(facet_operand_set(jimm, jal->match, -1048576), 0x8000006F);
    CHECK_EQ(facet_operand_set(jimm, jal->match, 1048574), 0x7FFFF06F);

    const struct facet_operand *x4 =
        operand(&facet_isa_rows[FACET_ISA_TILE][FACET_TILE_VLDX_L], "simm7x4");
    CHECK(facet_operand_fits(x4, -256) && facet_operand_fits(x4, 252) &&
          !facet_operand_fits(x4, 254) && !facet_operand_fits(x4, 256));

    const struct facet_operand *vl =
        operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_SVP_ONE_VLSTEP], "vl");
    int64_t field;
    CHECK(facet_operand_encode(vl, 64, &field) && field == 63 &&
          !facet_operand_encode(vl, 0, &field));
    CHECK(facet_operand_encode(vl, 65, &field) && !facet_operand_fits(vl, field));
    const struct facet_operand *step =
        operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_SVP_ONE_VLSTEP], "sstep");
    CHECK(facet_operand_encode(step, 4, &field) && field == 3 &&
          !facet_operand_encode(step, 3, &field));
    const struct facet_operand *blk =
        operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_SVON_BLK], "imm8");
    CHECK(facet_operand_encode(blk, 256, &field) && field == 0 &&
          facet_operand_written(blk, 0) == 256);
    CHECK(facet_operand_encode(blk, 257, &field) && !facet_operand_fits(blk, field));
    const struct facet_operand *high =
        operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_C_LUI], "imm");
    CHECK(facet_operand_encode(high, 0xFFFFF, &field) && field == -1 &&
          facet_operand_written(high, -1) == 0xFFFFF);
    CHECK(!facet_operand_legal(high, 0) && facet_operand_legal(high, -32));
    CHECK(facet_operand_encode(high, 32, &field) && !facet_operand_fits(high, field));
    CHECK(!facet_operand_legal(operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_C_LUI], "rd"),
                               2));
    const struct facet_operand *rm =
        operand(&facet_isa_rows[FACET_ISA_XPHMG][FACET_XPHMG_FADD_S], "rm");
    CHECK(!facet_operand_legal(rm, 5) && !facet_operand_legal(rm, 6) && facet_operand_legal(rm, 7));
}

TEST(find_by_mnemonic, "RSV-063")
{
    for (int isa = 0; isa < FACET_ISA_COUNT; isa++) {
        for (size_t r = 0; r < facet_isa_row_count[isa]; r++) {
            const struct facet_insn_row *row = &facet_isa_rows[isa][r], *found;
            char mixed[64];
            size_t from = 0, n = strlen(row->mnemonic);
            for (size_t i = 0; i <= n; i++) { /* every other letter in the other case */
                char c = row->mnemonic[i];
                bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                mixed[i] = letter && i % 2 == 0 ? (char)(c ^ 0x20) : c;
            }
            do {
                found = facet_isa_find((enum facet_isa)isa, mixed, n, &from);
            } while (found != NULL && found != row);
            CHECK_MSG(found == row, "%s is not found as %s", row->mnemonic, mixed);
            CHECK(facet_isa_find((enum facet_isa)isa, mixed, n, &(size_t){0}) != NULL);
            CHECK(row->id == r);
        }
    }
    size_t from = 0;
    CHECK(facet_isa_find(FACET_ISA_XPHMG, "svsetvl", 7, &from)->id == FACET_XPHMG_SVSETVL);
    CHECK(facet_isa_find(FACET_ISA_XPHMG, "svsetvl", 7, &from)->id == FACET_XPHMG_SVSETVL_IMM8);
    CHECK(facet_isa_find(FACET_ISA_XPHMG, "svsetvl", 7, &from) == NULL);
    from = 0;
    CHECK(facet_isa_find(FACET_ISA_XPHMG, "svsetv", 6, &from) == NULL && from <= 8);
    CHECK(facet_isa_find(FACET_ISA_TILE, "", 0, &(size_t){0}) == NULL);
    /* Word by word: 0x0070028B is svsetvl x5, 7; 0x0000028B the register row. */
    CHECK_EQ(facet_isa_decode(FACET_ISA_XPHMG, 0x0070028B)->id, FACET_XPHMG_SVSETVL_IMM8);
    CHECK_EQ(facet_isa_decode(FACET_ISA_XPHMG, 0x0000028B)->id, FACET_XPHMG_SVSETVL);
}

TEST(hidden_bits, "TILE-168")
{
    const struct facet_insn_row *row =
        facet_isa_decode(FACET_ISA_TILE, 0x0451A08C); /* LW.P, ign = 3 */
    CHECK(row != NULL && row->id == FACET_TILE_LW_P);
    CHECK(facet_isa_has_hidden_bits(row, 0x0451A08C) &&
          !facet_isa_has_hidden_bits(row, 0x0450208C));
    row = facet_isa_decode(FACET_ISA_XPHMG, 0x0FF0808F); /* fence with rd and rs1 */
    CHECK(row != NULL && row->id == FACET_XPHMG_FENCE &&
          facet_isa_has_hidden_bits(row, 0x0FF0808F));
}

TEST(csr_lookup, "")
{
    uint32_t n;

    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        for (uint32_t k = 0; k < row->count; k++) {
            char name[64];
            uint32_t number = row->number + k * row->stride;
            CHECK(facet_csr_at(row->isa, number) == row);
            CHECK(facet_csr_name(row, number, name, sizeof name) < sizeof name);
            CHECK_MSG(facet_csr_find_number(row->isa, name, strlen(name), false, &n) == row &&
                          n == number,
                      "%s gives 0x%x, expected 0x%x",
                      name,
                      n,
                      number);
        }
        if (row->alias != 0) {
            CHECK(facet_csr_at(row->isa, row->alias) == row);
        }
    }
    CHECK(facet_csr_find_number(FACET_ISA_XPHMG, "rtcfg", 5, true, &n) != NULL && n == 0x820);
    CHECK(facet_csr_find_number(FACET_ISA_XPHMG, "rtcfg", 5, false, &n) != NULL && n == 0x7FA0);
    CHECK(facet_csr_find_number(FACET_ISA_XPHMG, "ZPTAB3", 6, true, &n) == NULL);
    CHECK(facet_csr_find_number(FACET_ISA_XPHMG, "mhpmcounter31", 13, true, &n) != NULL &&
          n == 0xB1F);
    CHECK(facet_csr_find_number(FACET_ISA_TILE, "Sampler2.base", 13, true, &n) != NULL &&
          n == 0x410);
    static const char *const absent[] = {"mhpmcounter2",
                                         "mhpmcounter32",
                                         "mhpmcounter03",
                                         "sampler[32].base",
                                         "sampler[1.base",
                                         "sampler[].base",
                                         "cap",
                                         "",
                                         "mstatus ",
                                         "ZPTAB99999999"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        CHECK_MSG(facet_csr_find(FACET_ISA_XPHMG, absent[i]) == NULL &&
                      facet_csr_find(FACET_ISA_TILE, absent[i]) == NULL,
                  "'%s' is a CSR",
                  absent[i]);
    }
    CHECK(facet_csr_at(FACET_ISA_XPHMG, 0xFFF) == NULL &&
          facet_csr_at(FACET_ISA_TILE, 0x500) == NULL);
    CHECK(facet_requirement_find("cap-137") != NULL && facet_requirement_find("CAP-999") == NULL);
    CHECK(facet_resolution_find("r-cap-09") != NULL && facet_resolution_find("R-CAP-9") == NULL);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may be busy */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A decoder that fell back to scanning would take over 100 ns a word; the bound leaves room for
 * sanitizers and a busy machine. */
TEST(decode_speed, "")
{
    static uint32_t words[1 << 16];
    uintptr_t sum = 0;

    for (size_t i = 0; i < 1 << 16; i++) {
        size_t r = harness_random() % facet_isa_row_count[FACET_ISA_XPHMG];
        words[i] = random_word_of(&facet_isa_rows[FACET_ISA_XPHMG][r]);
    }
    double start = seconds();
    for (unsigned round = 0; round < 32; round++) {
        for (size_t i = 0; i < 1 << 16; i++) {
            sum += (uintptr_t)facet_isa_decode(FACET_ISA_XPHMG, words[i]);
        }
    }
    double each = (seconds() - start) / (32 * 65536) * 1e9;
    CHECK_MSG(sum != 0 && each < 80, "%.1f ns a word", each);
}
