/* What a name of the contract stands for, and which requirement and resolution rows speak of it. */
#include "isa/card.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -- Names ----------------------------------------------------------------------------------------
 */

struct found {
    struct facet_card *cards;
    size_t count;
};

static void add(struct found *f, struct facet_card card)
{
    if (f->count < FACET_CARD_MAX) {
        f->cards[f->count++] = card;
    }
}

static void find_insns(struct found *f, enum facet_isa isa, const char *name)
{
    size_t from = 0;
    const struct facet_insn_row *row;

    while ((row = facet_isa_find(isa, name, strlen(name), &from)) != NULL) {
        add(f, (struct facet_card){.kind = FACET_CARD_INSN, .isa = isa, .insn = row});
    }
    for (size_t i = 0; i < facet_isa_alias_count[isa]; i++) {
        const struct facet_alias_row *alias = &facet_isa_aliases[isa][i];
        if (strcasecmp(alias->mnemonic, name) == 0) {
            add(f, (struct facet_card){.kind = FACET_CARD_ALIAS, .isa = isa, .alias = alias});
        }
    }
}

static const struct facet_csr_row *
csr_of(enum facet_isa isa, const char *name, size_t length, uint32_t *number)
{
    char text[16];
    char *end;

    if (length > 2 && length < sizeof text && name[0] == '0' && (name[1] | 0x20) == 'x') {
        memcpy(text, name, length);
        text[length] = '\0';
        *number = (uint32_t)strtoul(text, &end, 16);
        return *end == '\0' ? facet_csr_at(isa, *number) : NULL;
    }
    return facet_csr_find_number(isa, name, length, false, number);
}

static void find_csrs(struct found *f, enum facet_isa isa, const char *name)
{
    uint32_t number;
    const struct facet_csr_row *row = csr_of(isa, name, strlen(name), &number);

    if (row != NULL) {
        add(f,
            (struct facet_card){.kind = FACET_CARD_CSR, .isa = isa, .csr = row, .number = number});
        return;
    }
    const char *dot = strrchr(name, '.');
    row = dot != NULL ? csr_of(isa, name, (size_t)(dot - name), &number) : NULL;
    for (unsigned i = 0; row != NULL && i < row->field_count; i++) {
        if (strcasecmp(row->fields[i].name, dot + 1) == 0) {
            add(f,
                (struct facet_card){.kind = FACET_CARD_FIELD,
                                    .isa = isa,
                                    .csr = row,
                                    .field = &row->fields[i],
                                    .number = number});
        }
    }
}

size_t
facet_card_find(const char *name, enum facet_isa isa, struct facet_card cards[FACET_CARD_MAX])
{
    struct found f = {cards, 0};

    for (int i = 0; i < FACET_ISA_COUNT; i++) {
        if (isa == FACET_ISA_COUNT || (int)isa == i) {
            find_insns(&f, (enum facet_isa)i, name);
            find_csrs(&f, (enum facet_isa)i, name);
        }
    }
    const struct facet_requirement_row *requirement = facet_requirement_find(name);
    if (requirement != NULL) {
        add(&f,
            (struct facet_card){.kind = FACET_CARD_REQUIREMENT,
                                .isa = FACET_ISA_COUNT,
                                .requirement = requirement});
    }
    const struct facet_resolution_row *resolution = facet_resolution_find(name);
    if (resolution != NULL) {
        add(&f,
            (struct facet_card){
                .kind = FACET_CARD_RESOLUTION, .isa = FACET_ISA_COUNT, .resolution = resolution});
    }
    return f.count;
}

/* -- Mentions -------------------------------------------------------------------------------------
 */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* `word` of `length` letters stands in the text by itself: `rt.bbox` is neither in `rt.bbox2` nor
 * in `x.rt.bbox` nor in `rt.bbox.y`. */
static bool has_word(const char *text, const char *word, size_t length, bool any_case)
{
    for (const char *at = text; *at != '\0'; at++) {
        /* Cheap first: every card searches all requirement and resolution texts. */
        if ((*at | 0x20) != (*word | 0x20) ||
            (any_case ? strncasecmp(at, word, length) : strncmp(at, word, length)) != 0) {
            continue;
        }
        bool starts = at == text || (!in_word(at[-1]) && at[-1] != '.' && at[-1] != '-');
        bool ends = !in_word(at[length]) && !(at[length] == '.' && in_word(at[length + 1])) &&
                    at[length] != '-';
        if (starts && ends) {
            return true;
        }
    }
    return false;
}

static bool is_base_row(const struct facet_insn_row *row)
{
    return strncmp(row->file, "rv64.", 5) == 0;
}

/* The mnemonic, then its families: xlds.atoms.add.w, xlds.atoms.add, xlds.atoms. A tile family may
 * be one word (VADD); an xphmg one keeps a dot, since `rt` and `gfx` name whole extensions. */
static bool names_insn(const char *text, enum facet_isa isa, const struct facet_insn_row *row)
{
    size_t length = strlen(row->mnemonic);

    if (is_base_row(row) && strchr(row->mnemonic, '.') == NULL &&
        strncmp(row->mnemonic, "csrr", 4) != 0) {
        return false; /* `and`, `or`, `fence`: words of any sentence */
    }
    while (length > 0) {
        if (has_word(text, row->mnemonic, length, isa != FACET_ISA_TILE)) {
            return true;
        }
        do {
            length--;
        } while (length > 0 && row->mnemonic[length] != '.');
        bool dotted = memchr(row->mnemonic, '.', length) != NULL;
        if (is_base_row(row) || (!dotted && (isa != FACET_ISA_TILE || length < 3))) {
            return false;
        }
    }
    return false;
}

static bool names_csr(const char *text, const struct facet_card *card)
{
    const struct facet_csr_row *row = card->csr;
    const char *name = row->name, *short_name;
    char address[16];
    size_t length = strcspn(name, "[");
    const char *dots = strstr(name, "..");

    if (dots != NULL) { /* ZPTAB0..31: the prose says ZPTAB */
        length = (size_t)(dots - name);
        while (length > 0 && isdigit((unsigned char)name[length - 1])) {
            length--;
        }
    }
    snprintf(address, sizeof address, "0x%03X", row->number);
    if (has_word(text, address, strlen(address), true)) {
        return true;
    }
    if (row->isa == FACET_ISA_TILE) { /* `status`, `config`: only with a field or bits behind it */
        for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
            size_t n = strlen(name);
            bool more =
                (at[n] == '.' && in_word(at[n + 1])) || at[n] == '[' || strchr(name, '_') != NULL;
            if (more && (at == text || (!in_word(at[-1]) && at[-1] != '.'))) {
                return true;
            }
        }
        return false;
    }
    short_name = strncmp(name, "CAP.", 4) == 0 && strchr(name + 4, '.') != NULL ? name + 4 : name;
    for (const char *at = strstr(text, short_name); at != NULL; at = strstr(at + 1, short_name)) {
        size_t n = length - (size_t)(short_name - name);
        bool starts = at == text || !in_word(at[-1]);
        if (starts && (!in_word(at[n]) || (row->count > 1 && isdigit((unsigned char)at[n])))) {
            return true;
        }
    }
    const char *last = strrchr(name, '.');
    for (const char *at = last != NULL ? strstr(text, last + 1) : NULL; at != NULL;
         at = strstr(at + 1, last + 1)) {
        /* MODE[35:34], ALT[47:40]: the last part alone, with bits. */
        if (at[strlen(last + 1)] == '[' && (at == text || (!in_word(at[-1]) && at[-1] != '.'))) {
            return true;
        }
    }
    return row->count > 1 && has_word(text, name, length, false);
}

bool facet_card_named_in(const struct facet_card *card, const char *text)
{
    switch (card->kind) {
    case FACET_CARD_INSN:
        return names_insn(text, card->isa, card->insn);
    case FACET_CARD_ALIAS:
        return strchr(card->alias->mnemonic, '.') != NULL || card->isa == FACET_ISA_TILE
                   ? has_word(text,
                              card->alias->mnemonic,
                              strlen(card->alias->mnemonic),
                              card->isa != FACET_ISA_TILE)
                   : false;
    case FACET_CARD_CSR:
        return names_csr(text, card);
    case FACET_CARD_FIELD:
        /* A short or common field name (EN, ID, MODE) says nothing without its register. */
        if (strlen(card->field->name) > 4 &&
            has_word(text, card->field->name, strlen(card->field->name), false)) {
            return true;
        }
        for (const char *at = strstr(text, card->field->name); at != NULL;
             at = strstr(at + 1, card->field->name)) {
            bool whole = !in_word(at[strlen(card->field->name)]);
            if (whole && at > text && at[-1] == '.' && names_csr(text, card)) {
                return true;
            }
        }
        return false;
    case FACET_CARD_REQUIREMENT:
        return has_word(text, card->requirement->id, strlen(card->requirement->id), false);
    case FACET_CARD_RESOLUTION:
        return has_word(text, card->resolution->id, strlen(card->resolution->id), false);
    }
    return false;
}

/* The tile machine and gfx12 have documents of their own; a card of one ISA looks only there. */
static bool same_document(const struct facet_card *card, const char *file)
{
    bool gfx12 = strstr(file, "gfx12") != NULL, tile = strstr(file, "tile") != NULL;

    if (card->isa == FACET_ISA_COUNT) {
        return true;
    }
    return card->isa == FACET_ISA_TILE ? tile : !tile && !gfx12;
}

const struct facet_requirement_row *facet_card_next_requirement(const struct facet_card *card,
                                                                size_t *from)
{
    while (*from < facet_requirement_row_count) {
        const struct facet_requirement_row *row = &facet_requirement_rows[(*from)++];
        if (card->kind == FACET_CARD_RESOLUTION) {
            const struct facet_card asked = {.kind = FACET_CARD_REQUIREMENT, .requirement = row};
            if (facet_card_named_in(&asked, card->resolution->text)) {
                return row;
            }
        }
        if (card->kind != FACET_CARD_REQUIREMENT && same_document(card, row->file) &&
            (facet_card_named_in(card, row->requirement) ||
             facet_card_named_in(card, row->observable))) {
            return row;
        }
    }
    return NULL;
}

/* Is there a mnemonic, CSR or field that requirement and resolution both name? Words with a dot or
 * an underscore, and names in capitals, are looked up; plain words are not. */
static bool share_a_name(const struct facet_requirement_row *requirement,
                         const struct facet_resolution_row *resolution)
{
    bool tile = strstr(requirement->file, "tile") != NULL;
    enum facet_isa isa = tile ? FACET_ISA_TILE : FACET_ISA_XPHMG;
    const char *texts[2] = {requirement->requirement, requirement->observable};

    if (tile != (strstr(resolution->file, "tile") != NULL) ||
        (strstr(requirement->file, "gfx12") != NULL) !=
            (strstr(resolution->file, "gfx12") != NULL)) {
        return false;
    }
    for (unsigned t = 0; t < 2; t++) {
        const char *at = texts[t];
        while (*at != '\0') {
            size_t n = 0;
            while (in_word(at[n]) || (n > 0 && at[n] == '.' && in_word(at[n + 1]))) {
                n++;
            }
            char word[64];
            uint32_t number;
            bool telling = n > 2 && n < sizeof word && isalpha((unsigned char)at[0]) &&
                           (memchr(at, '.', n) != NULL ||
                            (isupper((unsigned char)at[0]) && isupper((unsigned char)at[1])));
            if (telling) {
                memcpy(word, at, n);
                word[n] = '\0';
                const struct facet_insn_row *row = facet_isa_find(isa, word, n, &(size_t){0});
                bool known = (row != NULL && !is_base_row(row)) ||
                             facet_csr_find_number(isa, word, n, false, &number) != NULL;
                if (known && (has_word(resolution->title, word, n, !tile) ||
                              has_word(resolution->text, word, n, !tile))) {
                    return true;
                }
            }
            at += n > 0 ? n : 1;
        }
    }
    return false;
}

const struct facet_resolution_row *facet_card_next_resolution(const struct facet_card *card,
                                                              size_t *from)
{
    while (*from < facet_resolution_row_count) {
        const struct facet_resolution_row *row = &facet_resolution_rows[(*from)++];
        const struct facet_card asked = {.kind = FACET_CARD_RESOLUTION, .resolution = row};
        if (row == card->resolution) {
            continue;
        }
        if (card->kind == FACET_CARD_REQUIREMENT &&
            (facet_card_named_in(&asked, card->requirement->requirement) ||
             facet_card_named_in(&asked, card->requirement->observable) ||
             facet_card_named_in(&asked, card->requirement->section) ||
             share_a_name(card->requirement, row))) {
            return row;
        }
        if (card->kind == FACET_CARD_RESOLUTION &&
            facet_card_named_in(&asked, card->resolution->text)) {
            return row;
        }
        if (same_document(card, row->file) &&
            (facet_card_named_in(card, row->title) || facet_card_named_in(card, row->text))) {
            return row;
        }
    }
    return NULL;
}

/* -- Numbers --------------------------------------------------------------------------------------
 */

uint32_t facet_card_example(const struct facet_insn_row *row, enum facet_isa isa)
{
    static const int64_t registers[] = {5, 10, 11, 12, 13};
    uint32_t word = row->match;
    unsigned used = 0;

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];
        int64_t value = 0;
        if (o->hidden || o->kind == FACET_OPERAND_SP) {
            continue;
        }
        switch ((enum facet_operand_kind)o->kind) {
        case FACET_OPERAND_UIMM:
        case FACET_OPERAND_SIMM:
            value = o->optional ? o->default_value : INT64_C(1) << o->value_align;
            break;
        case FACET_OPERAND_PCREL:
        case FACET_OPERAND_PCREL_U:
            value = 8;
            break;
        case FACET_OPERAND_CSR:
            value = isa == FACET_ISA_TILE ? 0x003 : 0x300;
            break;
        case FACET_OPERAND_ENUM:
        case FACET_OPERAND_FLAGS:
        case FACET_OPERAND_LETTERS:
            value = o->optional ? o->default_value : (int64_t)o->symbols[0].value;
            break;
        case FACET_OPERAND_XREG_C:
        case FACET_OPERAND_FREG_C:
            value = 2 + (int64_t)used++ % 5;
            break;
        default:
            value = registers[used++ % 5];
            break;
        }
        if (!facet_operand_legal(o, value)) {
            value += INT64_C(1) << o->value_align;
        }
        word = facet_operand_set(o, word, value);
    }
    return word;
}

uint64_t facet_card_reset(const struct facet_csr_row *row)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < row->field_count; i++) {
        if (row->fields[i].lo < 64) {
            value |= row->fields[i].reset << row->fields[i].lo;
        }
    }
    return value;
}
