/* Words to rows, and operands out of and into words (spec/README.md, Formats).
 *
 * The walk has a fixed number of steps and ends with one comparison: no branch depends on the word,
 * so random words decode as fast as repeated ones. */
#include "base/require.h"
#include "isa/decode_tables.h"
#include "isa/isa.h"
#include "isa/isa_rows.h"

#include <stdio.h>
#include <string.h>

unsigned facet_isa_length(enum facet_isa isa, uint16_t low_half)
{
    return isa == FACET_ISA_XPHMG && (low_half & 3) != 3 ? 2 : 4;
}

const struct facet_insn_row *facet_isa_decode(enum facet_isa isa, uint32_t word)
{
    /* 1024 roots per ISA: opcode and funct3, which nearly every row fixes. */
    const struct facet_decode_node *node =
        &facet_decode_nodes[1024 * (unsigned)isa + (word & 0x7F) + ((word >> 5) & 0x380)];
    const struct facet_decode_leaf *leaf;
    const struct facet_insn_row *answer[2] = {NULL};
    bool legal;

    for (unsigned step = 0; step < FACET_DECODE_STEPS; step++) {
        node = &facet_decode_nodes[node->base + ((word >> node->shift1) & node->mask1) +
                                   ((word >> node->shift2) & node->mask2)];
    }
    leaf = &facet_decode_leaves[isa][node->leaf];
    legal = ((word & leaf->mask) == leaf->match) &
            ((word & leaf->forbidden[0].mask) != leaf->forbidden[0].value) &
            ((word & leaf->forbidden[1].mask) != leaf->forbidden[1].value);
    /* An index instead of a conditional: whether a word is legal is not predictable. */
    answer[1] = facet_isa_rows[isa] + node->leaf;
    return answer[legal];
}

static bool is_signed(const struct facet_operand *operand)
{
    return operand->kind == FACET_OPERAND_SIMM || operand->kind == FACET_OPERAND_PCREL;
}

bool facet_operand_is_read(const struct facet_insn_row *row, const struct facet_operand *operand)
{
    const char *text = row->semantics, *end = strstr(text, "//");
    char name[8];
    unsigned seen = 0;

    if (operand->name[1] != 'd' || operand->name[2] != '\0') {
        return true;
    }
    (void)snprintf(name, sizeof name, "[%.2s]", operand->name);
    while ((text = strstr(text, name)) != NULL && (end == NULL || text < end)) {
        seen++;
        text++;
    }
    return seen > 1;
}

int64_t facet_operand_get(const struct facet_operand *operand, uint32_t word)
{
    uint64_t value = operand->kind == FACET_OPERAND_SP ? 2 : 0;

    for (unsigned i = 0; i < operand->piece_count; i++) {
        const struct facet_piece *p = &operand->pieces[i];
        value |= (uint64_t)((word >> p->word_lo) & ((UINT64_C(1) << p->width) - 1)) << p->value_lo;
    }
    if (is_signed(operand)) {
        uint64_t sign = UINT64_C(1) << (operand->value_width - 1);
        value = (value ^ sign) - sign;
    }
    return (int64_t)value;
}

uint32_t facet_operand_set(const struct facet_operand *operand, uint32_t word, int64_t value)
{
    FACET_REQUIRE(facet_operand_fits(operand, value));
    for (unsigned i = 0; i < operand->piece_count; i++) {
        const struct facet_piece *p = &operand->pieces[i];
        uint32_t ones = (uint32_t)((UINT64_C(1) << p->width) - 1);
        uint32_t bits = (uint32_t)((uint64_t)value >> p->value_lo) & ones;
        word = (word & ~(ones << p->word_lo)) | (bits << p->word_lo);
    }
    return word;
}

bool facet_operand_fits(const struct facet_operand *operand, int64_t value)
{
    int64_t span, lo;

    if (operand->kind == FACET_OPERAND_SP) {
        return value == 2;
    }
    span = INT64_C(1) << operand->value_width;
    lo = is_signed(operand) ? -(span / 2) : 0;

    if (value < lo || value >= lo + span) {
        return false;
    }
    return ((uint64_t)value & ((UINT64_C(1) << operand->value_align) - 1)) == 0;
}

bool facet_operand_legal(const struct facet_operand *operand, int64_t value)
{
    if (operand->nonzero && value == 0) {
        return false;
    }
    return value < 0 || value > 31 || ((operand->forbidden >> value) & 1) == 0;
}

int64_t facet_operand_written(const struct facet_operand *operand, int64_t field)
{
    switch ((enum facet_operand_codec)operand->codec) {
    case FACET_CODEC_MINUS_ONE:
        return field + 1;
    case FACET_CODEC_STEP:
        return field == 3 ? 4 : field;
    case FACET_CODEC_MODULO:
        return field == 0 ? INT64_C(1) << operand->value_width : field;
    case FACET_CODEC_HIGH20:
        return field & 0xFFFFF;
    case FACET_CODEC_PLAIN:
        break;
    }
    return field;
}

bool facet_operand_encode(const struct facet_operand *operand, int64_t written, int64_t *field)
{
    switch ((enum facet_operand_codec)operand->codec) {
    case FACET_CODEC_MINUS_ONE:
        if (written < 1) {
            return false;
        }
        *field = written - 1;
        return true;
    case FACET_CODEC_STEP:
        if (written < 0 || written > 4 || written == 3) {
            return false;
        }
        *field = written == 4 ? 3 : written;
        return true;
    case FACET_CODEC_MODULO:
        *field = written == INT64_C(1) << operand->value_width ? 0 : written;
        return true;
    case FACET_CODEC_HIGH20:
        *field = written >= 0x80000 && written <= 0xFFFFF ? written - 0x100000 : written;
        return true;
    case FACET_CODEC_PLAIN:
        break;
    }
    *field = written;
    return true;
}

bool facet_isa_has_hidden_bits(const struct facet_insn_row *row, uint32_t word)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        if (row->operands[i].hidden && facet_operand_get(&row->operands[i], word) != 0) {
            return true;
        }
    }
    return false;
}
