/* Reference cards as text: bit diagram, tables, wrapped prose. */
#include "isa/card.h"

#include <string.h>

enum { LINE_WIDTH = 98 };

/* Prose after `indent` spaces, broken at spaces. Newlines in the text stay. */
static void put_wrapped(struct facet_strbuf *out, unsigned indent, const char *text)
{
    while (*text != '\0') {
        size_t room = LINE_WIDTH - indent, n = strcspn(text, "\n");
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ') {
                n--;
            }
            if (n == 0) { /* one long word */
                n = strcspn(text, " \n");
            }
        }
        facet_strbuf_printf(out, "%*s%.*s\n", (int)indent, "", (int)n, text);
        text += n;
        if (*text == ' ' || *text == '\n') {
            text++;
        }
    }
}

/* -- Bit diagram ----------------------------------------------------------------------------------
 */

struct cell {
    unsigned hi, lo;
    char text[40];
};

static const struct facet_operand *
operand_at(const struct facet_insn_row *row, unsigned bit, const struct facet_piece **piece)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        for (unsigned p = 0; p < row->operands[i].piece_count; p++) {
            *piece = &row->operands[i].pieces[p];
            if (bit >= (*piece)->word_lo && bit < (unsigned)(*piece)->word_lo + (*piece)->width) {
                return &row->operands[i];
            }
        }
    }
    *piece = NULL;
    return NULL;
}

/* Cells from the highest bit down: pieces of fields, runs of fixed bits. */
static unsigned cells_of(const struct facet_insn_row *row, struct cell cells[32])
{
    unsigned count = 0, bit = 8u * row->length;

    while (bit > 0) {
        const struct facet_piece *piece, *other;
        const struct facet_operand *o = operand_at(row, bit - 1, &piece);
        struct cell *cell = &cells[count++];
        cell->hi = bit - 1;
        if (o != NULL) {
            bit = piece->word_lo;
            if (o->piece_count == 1 && piece->value_lo == 0) {
                (void)snprintf(cell->text, sizeof cell->text, "%s", o->name);
            } else if (piece->width == 1) {
                (void)snprintf(cell->text, sizeof cell->text, "%s[%u]", o->name, piece->value_lo);
            } else {
                (void)snprintf(cell->text,
                               sizeof cell->text,
                               "%s[%u:%u]",
                               o->name,
                               piece->value_lo + piece->width - 1u,
                               piece->value_lo);
            }
        } else {
            size_t n = 0;
            while (bit > 0 && operand_at(row, bit - 1, &other) == NULL) {
                bit--;
                cell->text[n++] = (char)('0' + (row->match >> bit & 1));
            }
            cell->text[n] = '\0';
        }
        cell->lo = bit;
    }
    return count;
}

static void put_diagram(struct facet_strbuf *out, const struct facet_insn_row *row)
{
    struct cell cells[32];
    unsigned count = cells_of(row, cells), widths[32];
    char number[2][8];

    for (unsigned i = 0; i < count; i++) {
        unsigned digits = cells[i].hi == cells[i].lo
                              ? (cells[i].hi > 9 ? 2 : 1)
                              : (cells[i].hi > 9 ? 2 : 1) + 1 + (cells[i].lo > 9 ? 2 : 1);
        unsigned text = (unsigned)strlen(cells[i].text);
        widths[i] = text > digits ? text : digits;
    }
    facet_strbuf_puts(out, " ");
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(number[0], sizeof number[0], "%u", cells[i].hi);
        (void)snprintf(number[1], sizeof number[1], "%u", cells[i].lo);
        if (cells[i].hi == cells[i].lo) {
            facet_strbuf_printf(out, "   %-*s", i + 1 < count ? (int)widths[i] : 0, number[0]);
        } else {
            int gap = (int)(widths[i] - strlen(number[0]));
            facet_strbuf_printf(out, "   %s%*s", number[0], gap, number[1]);
        }
    }
    for (unsigned line = 0; line < 3; line++) {
        facet_strbuf_puts(out, "\n  ");
        for (unsigned i = 0; i < count; i++) {
            if (line == 1) {
                facet_strbuf_printf(out, "| %-*s ", (int)widths[i], cells[i].text);
            } else {
                facet_strbuf_putc(out, '+');
                for (unsigned k = 0; k < widths[i] + 2; k++) {
                    facet_strbuf_putc(out, '-');
                }
            }
        }
        facet_strbuf_putc(out, line == 1 ? '|' : '+');
    }
    facet_strbuf_puts(out, "\n\n");
}

/* -- Parts that several cards have ----------------------------------------------------------------
 */

static void put_requirements(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_requirement_row *row;
    struct facet_strbuf ids;
    size_t from = 0;

    facet_strbuf_init(&ids);
    while ((row = facet_card_next_requirement(card, &from)) != NULL) {
        facet_strbuf_printf(&ids, "%s%s", ids.length > 0 ? " " : "", row->id);
    }
    if (ids.length > 0) {
        facet_strbuf_puts(out, "\nRequirements\n");
        put_wrapped(out, 2, facet_strbuf_text(&ids));
    }
    out->failed |= ids.failed;
    facet_strbuf_free(&ids);
}

static void put_resolutions(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_resolution_row *row;
    size_t from = 0;
    const char *head = "\nResolutions\n";

    while ((row = facet_card_next_resolution(card, &from)) != NULL) {
        facet_strbuf_printf(out, "%s  %-10s %s\n", head, row->id, row->title);
        head = "";
    }
}

static const char *title_of(const char *extension)
{
    for (size_t i = 0; i < facet_extension_row_count; i++) {
        if (strcmp(facet_extension_rows[i].name, extension) == 0) {
            return facet_extension_rows[i].title;
        }
    }
    return "";
}

/* -- Instructions ---------------------------------------------------------------------------------
 */

static void put_bits(char *text, size_t size, const struct facet_operand *o)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned p = 0; p < o->piece_count && used < size; p++) {
        unsigned lo = o->pieces[p].word_lo, hi = lo + o->pieces[p].width - 1u;
        int n = hi == lo ? snprintf(text + used, size - used, "%s%u", p > 0 ? " " : "", hi)
                         : snprintf(text + used, size - used, "%s%u:%u", p > 0 ? " " : "", hi, lo);
        used += (size_t)n;
    }
    if (o->piece_count == 0) {
        (void)snprintf(text, size, "-");
    }
}

static void put_operand(struct facet_strbuf *out, const struct facet_operand *o, int bits_width)
{
    char bits[64];

    put_bits(bits, sizeof bits, o);
    facet_strbuf_printf(out,
                        "  %-10s %-*s %s",
                        o->name,
                        bits_width,
                        bits,
                        o->hidden ? "not written, ignored" : o->meaning);
    if (o->optional) {
        facet_strbuf_printf(out, "; default %d", o->default_value);
    }
    if (o->second_name != NULL) {
        facet_strbuf_printf(out, "; also called %s", o->second_name);
    }
    facet_strbuf_putc(out, '\n');
    if (o->symbols != NULL) {
        facet_strbuf_printf(out, "  %-10s %-*s ", "", bits_width, "");
        for (const struct facet_symbol *s = o->symbols; s->name != NULL; s++) {
            facet_strbuf_printf(out, "%s%u %s", s > o->symbols ? ", " : "", s->value, s->name);
        }
        facet_strbuf_putc(out, '\n');
    }
}

static void put_operands(struct facet_strbuf *out, const struct facet_insn_row *row)
{
    int width = 5;
    char bits[64];

    for (unsigned i = 0; i < row->operand_count; i++) {
        put_bits(bits, sizeof bits, &row->operands[i]);
        width = (int)strlen(bits) > width ? (int)strlen(bits) : width;
    }
    if (row->operand_count > 0) {
        facet_strbuf_puts(out, "\nFields\n");
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
        put_operand(out, &row->operands[i], width);
    }
}

static void put_legality(struct facet_strbuf *out, const struct facet_insn_row *row)
{
    unsigned conditions = 0;

    facet_strbuf_puts(out, "\nLegal\n  ");
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];
        for (int v = 0; v < 32; v++) {
            if (!facet_operand_legal(o, v) && (v > 0 || o->nonzero)) {
                facet_strbuf_printf(
                    out, "%s%s is not %d", conditions++ > 0 ? ", " : "when ", o->name, v);
            }
        }
    }
    facet_strbuf_printf(out,
                        "%s\n",
                        conditions > 0            ? ""
                        : row->operand_count == 0 ? "this one word"
                                                  : "with every value of its fields");
}

static void text_insn(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_insn_row *row = card->insn;
    uint32_t word = facet_card_example(row, card->isa);
    char text[160];

    facet_strbuf_printf(out,
                        "%s   %s instruction, %s (%s)\n\n",
                        row->mnemonic,
                        facet_isa_name[card->isa],
                        row->extension,
                        title_of(row->extension));
    put_diagram(out, row);
    facet_strbuf_printf(out, "Syntax\n  %s\n", row->syntax);
    put_operands(out, row);
    facet_strbuf_puts(out, "\nSemantics\n");
    put_wrapped(out, 2, row->semantics);
    put_legality(out, row);
    facet_isa_print(card->isa, word, 0, NULL, text, sizeof text);
    facet_strbuf_printf(out, "\nExample\n  0x%0*x  %s\n", 2 * row->length, word, text);
    facet_strbuf_printf(out,
                        "\nEncoding\n  (word & 0x%0*x) == 0x%0*x, spec/%s:%u\n",
                        2 * row->length,
                        row->mask,
                        2 * row->length,
                        row->match,
                        row->file,
                        row->line);
    put_requirements(out, card);
    put_resolutions(out, card);
}

static void text_alias(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_alias_row *alias = card->alias;
    const char *expansion = strcmp(alias->expansion, "@li") == 0
                                ? "the shortest sequence of lui, addi, addiw and slli for the value"
                                : alias->expansion;

    facet_strbuf_printf(out,
                        "%s   %s pseudo-instruction: %s\n\n",
                        alias->mnemonic,
                        facet_isa_name[card->isa],
                        alias->note);
    facet_strbuf_printf(out,
                        "Syntax\n  %s%s%s\n\nStands for\n",
                        alias->mnemonic,
                        alias->operands[0] != '\0' ? " " : "",
                        alias->operands);
    while (*expansion != '\0') {
        const char *end = strstr(expansion, "; ");
        size_t n = end != NULL ? (size_t)(end - expansion) : strlen(expansion);
        facet_strbuf_printf(out, "  %.*s\n", (int)n, expansion);
        expansion += end != NULL ? n + 2 : n;
    }
    put_requirements(out, card);
    put_resolutions(out, card);
}

/* -- CSRs -----------------------------------------------------------------------------------------
 */

static const char *const access_names[] = {"RO", "RW", "W1C", "WARL"};
static const char *const access_texts[] = {
    "read only", "read and write", "write 1 to clear", "write anything, reads back a legal value"};

static void field_bits(char *text, size_t size, const struct facet_csr_field *f)
{
    if (f->hi == f->lo) {
        (void)snprintf(text, size, "%u", f->hi);
    } else {
        (void)snprintf(text, size, "%u:%u", f->hi, f->lo);
    }
}

static void put_csr_head(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_csr_row *row = card->csr;
    char name[64];

    facet_csr_name(row, card->number, name, sizeof name);
    facet_strbuf_printf(out,
                        "%s%s%s   %s CSR, %u bits, spec/%s\n\n",
                        card->number == row->alias && row->alias != 0 ? row->name : name,
                        card->field != NULL ? "." : "",
                        card->field != NULL ? card->field->name : "",
                        facet_isa_name[row->isa],
                        row->width,
                        row->file);
    facet_strbuf_printf(out, "Address\n  %s", row->address);
    if (row->count > 1) {
        facet_strbuf_printf(out, ", %u registers, this one at 0x%03X", row->count, card->number);
    }
    if (row->alias != 0) {
        facet_strbuf_printf(
            out, ": 0x%03X for CSR instructions, 0x%X through XISEL", row->alias, row->number);
    }
    facet_strbuf_putc(out, '\n');
}

static void text_csr(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_csr_row *row = card->csr;
    bool fixed = true;
    int name_width = 4;

    put_csr_head(out, card);
    for (unsigned i = 0; i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];
        int n = (int)strlen(f->name);
        name_width = n > name_width ? n : name_width;
        fixed &= f->reset_text[0] >= '0' && f->reset_text[0] <= '9';
    }
    facet_strbuf_printf(out,
                        "\nReset\n  0x%0*llx%s\n\nFields\n",
                        row->width == 32 ? 8 : 16,
                        (unsigned long long)facet_card_reset(row),
                        fixed ? "" : ", apart from fields whose reset is not a number");
    for (unsigned i = row->field_count; i-- > 0;) {
        const struct facet_csr_field *f = &row->fields[i];
        char bits[16];
        field_bits(bits, sizeof bits, f);
        facet_strbuf_printf(out,
                            "  %-7s %-*s %-4s %-8s %s\n",
                            bits,
                            name_width,
                            f->name,
                            access_names[f->access],
                            f->reset_text,
                            f->meaning);
    }
    put_requirements(out, card);
    put_resolutions(out, card);
}

static void text_field(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_csr_field *f = card->field;
    char bits[16];

    put_csr_head(out, card);
    field_bits(bits, sizeof bits, f);
    facet_strbuf_printf(out,
                        "\nBits\n  %s\n\nAccess\n  %s: %s\n\nReset\n  %s\n\nMeaning\n",
                        bits,
                        access_names[f->access],
                        access_texts[f->access],
                        f->reset_text);
    put_wrapped(out, 2, f->meaning);
    put_requirements(out, card);
    put_resolutions(out, card);
}

/* -- Requirements and resolutions -----------------------------------------------------------------
 */

static void text_requirement(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_requirement_row *row = card->requirement;

    facet_strbuf_printf(
        out,
        "%s   requirement, level %s, spec/%s\n\nSource\n  %s, section %s\n\nRequirement\n",
        row->id,
        row->level,
        row->file,
        row->source,
        row->section);
    put_wrapped(out, 2, row->requirement);
    facet_strbuf_puts(out, "\nObservable\n");
    put_wrapped(out, 2, row->observable);
    put_resolutions(out, card);
}

/* The body with its lines joined again: a newline before spaces is only where the file was wrapped.
 */
static void put_body(struct facet_strbuf *out, const char *text)
{
    struct facet_strbuf line;

    facet_strbuf_init(&line);
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '\n' && at[1] == ' ') {
            facet_strbuf_putc(&line, ' ');
            at += strspn(at + 1, " ");
        } else {
            facet_strbuf_putc(&line, *at);
        }
    }
    out->failed |= line.failed;
    put_wrapped(out, 2, facet_strbuf_text(&line));
    facet_strbuf_free(&line);
}

static void text_resolution(struct facet_strbuf *out, const struct facet_card *card)
{
    const struct facet_resolution_row *row = card->resolution;

    facet_strbuf_printf(out, "%s   resolution, spec/%s\n\n%s\n\n", row->id, row->file, row->title);
    put_body(out, row->text);
    put_requirements(out, card);
    put_resolutions(out, card);
}

void facet_card_text(const struct facet_card *card, struct facet_strbuf *out)
{
    switch (card->kind) {
    case FACET_CARD_INSN:
        text_insn(out, card);
        break;
    case FACET_CARD_ALIAS:
        text_alias(out, card);
        break;
    case FACET_CARD_CSR:
        text_csr(out, card);
        break;
    case FACET_CARD_FIELD:
        text_field(out, card);
        break;
    case FACET_CARD_REQUIREMENT:
        text_requirement(out, card);
        break;
    case FACET_CARD_RESOLUTION:
        text_resolution(out, card);
        break;
    }
}
