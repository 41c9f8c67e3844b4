/* One line of assembly for a word (spec/README.md, Assembly syntax; tile-semantics.md 3.2).
 *
 * The text follows the row: mnemonic as the row spells it, numeric register names, operands in row
 * order. What is printed assembles to the same word, hidden fields aside. */
#include "isa/isa.h"

#include <stdio.h>
#include <string.h>

/* Bounded text: counts everything, stores what fits. */
struct text {
    char *buf;
    size_t size;
    size_t used;
};

static void put_char(struct text *t, char c)
{
    if (t->used + 1 < t->size) {
        t->buf[t->used] = c;
    }
    t->used++;
}

static void put(struct text *t, const char *s)
{
    while (*s != '\0') {
        put_char(t, *s++);
    }
}

static void put_decimal(struct text *t, int64_t value)
{
    char digits[24];
    size_t n = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    if (value < 0) {
        put_char(t, '-');
    }
    do {
        digits[--n] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (n < sizeof digits) {
        put_char(t, digits[n++]);
    }
}

static void put_hex(struct text *t, uint64_t value, unsigned min_digits, bool upper)
{
    const char *alphabet = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned digits = 1;

    while (digits < 16 && (value >> (4 * digits)) != 0) {
        digits++;
    }
    if (digits < min_digits) {
        digits = min_digits;
    }
    put(t, "0x");
    while (digits-- > 0) {
        put_char(t, alphabet[(value >> (4 * digits)) & 15]);
    }
}

static void put_register(struct text *t, char file, int64_t number)
{
    put_char(t, file);
    put_decimal(t, number);
}

static const char *symbol_of(const struct facet_operand *o, int64_t value)
{
    for (const struct facet_symbol *s = o->symbols; s->name != NULL; s++) {
        if (s->value == value) {
            return s->name;
        }
    }
    return NULL;
}

static void put_letters(struct text *t, const struct facet_operand *o, int64_t value)
{
    for (const struct facet_symbol *s = o->symbols; s->name != NULL; s++) {
        if ((value & s->value) != 0) {
            put(t, s->name);
        }
    }
    if (value == 0) {
        put_char(t, '0');
    }
}

static void put_csr(struct text *t, enum facet_isa isa, uint32_t number)
{
    const struct facet_csr_row *row = facet_csr_at(isa, number);
    char name[64];

    if (row == NULL) {
        put_hex(t, number, 3, isa == FACET_ISA_TILE);
        return;
    }
    facet_csr_name(row, number, name, sizeof name);
    put(t, name);
}

struct site {
    enum facet_isa isa;
    uint64_t pc;
    const struct facet_symbolizer *symbolizer;
};

/* A label where there is one; else the offset: `. + n` for the hart, a signed number for tile. */
static void put_target(struct text *t, const struct site *at, int64_t offset)
{
    uint64_t target = at->pc + (uint64_t)offset;
    const char *label = NULL;

    if (at->isa == FACET_ISA_TILE) {
        target &= UINT32_MAX;
    }
    if (at->symbolizer != NULL && at->symbolizer->label_at != NULL) {
        label = at->symbolizer->label_at(at->symbolizer->context, target);
    }
    if (label != NULL) {
        put(t, label);
    } else if (at->isa == FACET_ISA_TILE) {
        put_decimal(t, offset);
    } else {
        put(t, offset < 0 ? ". - " : ". + ");
        put_decimal(t, offset < 0 ? -offset : offset);
    }
}

static void
put_number(struct text *t, const struct site *at, const struct facet_operand *o, int64_t value)
{
    int64_t written = facet_operand_written(o, value);

    if (o->print == FACET_PRINT_HEX) {
        bool tile = at->isa == FACET_ISA_TILE;
        put_hex(t, (uint64_t)written, tile ? (o->value_width + 3u) / 4 : 1, tile);
    } else {
        put_decimal(t, written);
    }
}

static void
put_value(struct text *t, const struct site *at, const struct facet_operand *o, uint32_t word)
{
    int64_t value = facet_operand_get(o, word);
    const char *symbol;

    switch ((enum facet_operand_kind)o->kind) {
    case FACET_OPERAND_XREG:
    case FACET_OPERAND_XFREG:
    case FACET_OPERAND_SP:
        put_register(t, 'x', value);
        break;
    case FACET_OPERAND_XREG_C:
        put_register(t, 'x', value + 8);
        break;
    case FACET_OPERAND_FREG:
    case FACET_OPERAND_TFREG:
        put_register(t, 'f', value);
        break;
    case FACET_OPERAND_FREG_C:
        put_register(t, 'f', value + 8);
        break;
    case FACET_OPERAND_SREG:
        put_register(t, 's', value);
        break;
    case FACET_OPERAND_VREG:
        put_register(t, 'v', value);
        break;
    case FACET_OPERAND_CREG:
        put_register(t, 'c', value);
        break;
    case FACET_OPERAND_PCREL:
    case FACET_OPERAND_PCREL_U:
        put_target(t, at, value);
        break;
    case FACET_OPERAND_CSR:
        put_csr(t, at->isa, (uint32_t)value);
        break;
    case FACET_OPERAND_LETTERS:
        put_letters(t, o, value);
        break;
    case FACET_OPERAND_ENUM:
        symbol = o->print == FACET_PRINT_NUMBER ? NULL : symbol_of(o, value);
        if (symbol != NULL) {
            put(t, symbol);
            break;
        }
        put_number(t, at, o, value);
        break;
    case FACET_OPERAND_UIMM:
    case FACET_OPERAND_SIMM:
    case FACET_OPERAND_FLAGS:
        put_number(t, at, o, value);
        break;
    }
}

static bool is_default(const struct facet_operand *o, uint32_t word)
{
    return facet_operand_get(o, word) == o->default_value;
}

static void put_item(struct text *t,
                     const struct site *at,
                     const struct facet_insn_row *row,
                     unsigned item,
                     uint32_t word)
{
    const struct facet_syntax_item *i = &row->items[item];

    if (i->value >= 0) {
        const struct facet_operand *o = &row->operands[i->value];
        if (o->keyed) {
            put(t, o->name);
            put_char(t, '=');
        }
        put_value(t, at, o, word);
    }
    if (i->base >= 0) {
        put_char(t, '(');
        put_value(t, at, &row->operands[i->base], word);
        put_char(t, ')');
    }
}

static void put_illegal(struct text *t, enum facet_isa isa, uint32_t word)
{
    if (facet_isa_length(isa, (uint16_t)word) == 2) {
        put(t, ".half ");
        put_hex(t, word & 0xFFFF, 4, false);
    } else {
        put(t, ".word ");
        put_hex(t, word, 8, false);
    }
}

static void
put_row(struct text *t, const struct site *at, const struct facet_insn_row *row, uint32_t word)
{
    const char *before = " ";

    put(t, row->mnemonic);
    if (row->suffix >= 0 && !is_default(&row->operands[row->suffix], word)) {
        put_char(t, '.');
        put_value(t, at, &row->operands[row->suffix], word);
    }
    for (unsigned i = 0; i < row->item_count; i++) {
        int value = row->items[i].value;
        if (value >= 0 && row->operands[value].brief && is_default(&row->operands[value], word)) {
            continue;
        }
        put(t, before);
        put_item(t, at, row, i, word);
        before = ", ";
    }
}

size_t facet_isa_print(enum facet_isa isa,
                       uint32_t word,
                       uint64_t pc,
                       const struct facet_symbolizer *symbolizer,
                       char *buf,
                       size_t size)
{
    struct text t = {buf, size, 0};
    struct site at = {isa, pc, symbolizer};
    const struct facet_insn_row *row = facet_isa_decode(isa, word);

    if (row == NULL) {
        put_illegal(&t, isa, word);
    } else {
        put_row(&t, &at, row, word);
    }
    if (size > 0) {
        buf[t.used < size ? t.used : size - 1] = '\0';
    }
    return t.used;
}
