/* What a name of the contract stands for: the items that it names, and those that share it. */
#include "cards/card.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const facet_item_kind_name[FACET_ITEM_KINDS] = {"instruction",
                                                            "alias",
                                                            "csr",
                                                            "field",
                                                            "structure",
                                                            "member",
                                                            "requirement",
                                                            "resolution",
                                                            "section",
                                                            "word",
                                                            "document",
                                                            "extension",
                                                            "rule"};
const char *const facet_item_machine_name[FACET_ITEM_MACHINES] = {"xphmg", "tile", "gfx12", ""};

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

static bool in_machine(const struct facet_item *item, unsigned machine)
{
    return machine == FACET_ITEM_ANY || item->machine == machine;
}

/* A word of the glossary may have several names: `plain, fast`, `PMASK (PM)`. */
static bool is_word(const char *entry, const char *name)
{
    size_t length = strlen(name);

    while (*entry != '\0') {
        size_t n = strcspn(entry, ",()");
        size_t end = n;
        while (end > 0 && entry[end - 1] == ' ') {
            end--;
        }
        if (end > 0 && end == length && strncasecmp(entry, name, length) == 0) {
            return true;
        }
        entry += n;
        entry += strspn(entry, ",() ");
    }
    return false;
}

/* A section goes by its file and number, with or without `.md`. */
static bool is_section(const struct facet_item *item, const char *name)
{
    const char *dot = strstr(item->name, ".md ");
    size_t n = dot != NULL ? (size_t)(dot - item->name) : 0;

    return n > 0 && strncasecmp(item->name, name, n) == 0 && name[n] == ' ' &&
           strcasecmp(item->name + n + 3, name + n) == 0;
}

/* A document goes by its short name, that name without its version, or its title. */
static bool is_document(const struct facet_item *item, const char *name)
{
    size_t length = strlen(name);

    return strcasecmp(item->text, name) == 0 ||
           (length > 4 && strncasecmp(item->name, name, length) == 0 && item->name[length] == ' ');
}

/* The same letters in any case; a space stands for an underline: "box node". */
static bool same_words(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0' &&
           (tolower((unsigned char)*a) == tolower((unsigned char)*b) || (*a == '_' && *b == ' '))) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

/* MEMCTL of XPHMG_MEMCTL, BOX_NODE.parent of GFX12_BOX_NODE.parent: without the machine's name. */
static bool is_layout(const struct facet_item *item, const char *name)
{
    const char *machine = facet_item_machine_name[item->machine];
    size_t n = strlen(machine);

    return (item->kind == FACET_ITEM_STRUCTURE || item->kind == FACET_ITEM_MEMBER) &&
           strncasecmp(item->name, machine, n) == 0 && item->name[n] == '_' &&
           same_words(item->name + n + 1, name);
}

static bool is_named(const struct facet_item *item, const char *name)
{
    return strcasecmp(item->name, name) == 0 || is_layout(item, name) ||
           (item->kind == FACET_ITEM_WORD && is_word(item->name, name)) ||
           (item->kind == FACET_ITEM_SECTION && is_section(item, name)) ||
           (item->kind == FACET_ITEM_DOCUMENT && is_document(item, name));
}

static const struct facet_item *item_of(enum facet_item_kind kind, unsigned machine, size_t row)
{
    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        if (item->kind == kind && item->machine == machine && item->row == row) {
            return item;
        }
    }
    return NULL;
}

/* By number, or by the name of one register of a family. */
static const struct facet_csr_row *
csr_of(enum facet_isa isa, const char *name, size_t length, uint32_t *number)
{
    unsigned long long value;
    char text[16];
    char *end;

    if (length > 2 && length < sizeof text && name[0] == '0' && (name[1] | 0x20) == 'x') {
        memcpy(text, name, length);
        text[length] = '\0';
        value = strtoull(text, &end, 16);
        *number = (uint32_t)value;
        return *end == '\0' && value <= UINT32_MAX ? facet_csr_at(isa, *number) : NULL;
    }
    return facet_csr_find_number(isa, name, length, false, number);
}

static void find_csrs(struct found *f, enum facet_isa isa, const char *name)
{
    uint32_t number;
    const struct facet_csr_row *row = csr_of(isa, name, strlen(name), &number);
    const char *dot = strrchr(name, '.');
    const struct facet_item *item;

    if (row != NULL) {
        item = item_of(FACET_ITEM_CSR, isa, (size_t)(row - facet_csr_rows));
        add(f, (struct facet_card){.item = item, .name = name, .number = number});
        return;
    }
    row = dot != NULL ? csr_of(isa, name, (size_t)(dot - name), &number) : NULL;
    if (row == NULL) {
        return;
    }
    item = item_of(FACET_ITEM_FIELD, isa, (size_t)(row - facet_csr_rows));
    for (unsigned i = 0; i < row->field_count;
         i++) { /* the items of the fields follow each other */
        if (strcasecmp(row->fields[i].name, dot + 1) == 0) {
            add(f, (struct facet_card){.item = item + i, .name = name, .number = number});
        }
    }
}

/* INSTRUCTION.operand */
static void find_operands(struct found *f, enum facet_isa isa, const char *name)
{
    const char *dot = strrchr(name, '.');
    const struct facet_insn_row *row;
    size_t from = 0;

    while (dot != NULL && (row = facet_isa_find(isa, name, (size_t)(dot - name), &from)) != NULL) {
        for (unsigned i = 0; i < row->operand_count; i++) {
            if (strcasecmp(row->operands[i].name, dot + 1) == 0) {
                add(f,
                    (struct facet_card){.item = item_of(FACET_ITEM_INSTRUCTION, isa, row->id),
                                        .operand = &row->operands[i],
                                        .name = name});
            }
        }
    }
}

/* -- Shared names ---------------------------------------------------------------------------------
 */

/* "vdata[39:32] rsrc[47:41]" has vdata and rsrc. */
static bool has_field(const char *fields, const char *name)
{
    while (*fields != '\0') {
        size_t n = strcspn(fields, "[");
        if (strlen(name) == n && strncasecmp(fields, name, n) == 0) {
            return true;
        }
        fields += strcspn(fields, " ");
        fields += strspn(fields, " ");
    }
    return false;
}

/* An operand of that name, or one with a symbol of that name. */
static bool has_operand(const struct facet_item *item, const char *name, bool symbol)
{
    const struct facet_insn_row *row;

    if (item->kind != FACET_ITEM_INSTRUCTION) {
        return false;
    }
    if (item->machine >= FACET_ISA_COUNT) {
        return !symbol && has_field(facet_unit_insns[item->row].fields, name);
    }
    row = &facet_isa_rows[item->machine][item->row];

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_symbol *s = symbol ? row->operands[i].symbols : NULL;
        if (!symbol && strcasecmp(row->operands[i].name, name) == 0) {
            return true;
        }
        for (; s != NULL && s->name != NULL; s++) {
            if (strcasecmp(s->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The part of the name after one of its dots: PREC.MODE of CAP.PREC.MODE. */
static bool ends_with(const char *whole, const char *name)
{
    size_t length = strlen(name), n = strlen(whole);

    return n > length + 1 && whole[n - length - 1] == '.' &&
           strcasecmp(whole + n - length, name) == 0;
}

/* VFMA of VFMA.F32, SHADE of GFX.SHADE, CULL_BACK of rt.tri; APPLY0 of CAP.PREC.MODE.APPLY0; MODE
 * of CAP.PREC.MODE. */
static bool shares(const struct facet_item *item, const char *name)
{
    size_t length = strlen(name);

    if (item->kind == FACET_ITEM_INSTRUCTION) {
        return (strncasecmp(item->name, name, length) == 0 && item->name[length] == '.') ||
               (length > 2 && ends_with(item->name, name)) || has_operand(item, name, true);
    }
    return (item->kind == FACET_ITEM_CSR || item->kind == FACET_ITEM_FIELD ||
            item->kind == FACET_ITEM_MEMBER) &&
           ends_with(item->name, name);
}

static const struct facet_item *
next_shared(const struct facet_card *card, bool operands, size_t *from)
{
    while (*from < facet_item_count) {
        const struct facet_item *item = &facet_items[(*from)++];
        if (in_machine(item, card->machine) &&
            (operands ? has_operand(item, card->name, false) : shares(item, card->name))) {
            return item;
        }
    }
    return NULL;
}

/* Names of operands count only where nothing else has the name. */
const struct facet_item *facet_card_next_part(const struct facet_card *card, size_t *from)
{
    bool operands = next_shared(card, false, &(size_t){0}) == NULL;

    return next_shared(card, operands, from);
}

/* One card for the only item of that name, or one for all of them. */
static void find_shared(struct found *f, const char *name, unsigned machine)
{
    const struct facet_card card = {.name = name, .machine = (uint8_t)machine};
    size_t from = 0;
    const struct facet_item *first = next_shared(&card, false, &from);
    bool instruction = f->count > 0 && f->cards[0].item->kind == FACET_ITEM_INSTRUCTION;

    if (first == NULL) {
        if (f->count == 0 && next_shared(&card, true, &(size_t){0}) != NULL) {
            add(f, card);
        }
    } else if (next_shared(&card, false, &from) != NULL) {
        if (!instruction || first->kind != FACET_ITEM_INSTRUCTION) {
            add(f, card); /* but GFX.SAMPLE is not what GFX.SAMPLE and GFX.SAMPLE.GATH share */
        }
    } else if (!instruction) {
        bool csr = first->kind == FACET_ITEM_CSR || first->kind == FACET_ITEM_FIELD;
        uint32_t number = csr ? facet_csr_rows[first->row].number : 0;
        add(f, (struct facet_card){.item = first, .name = name, .number = number});
    }
}

static void find_items(struct found *f, const char *name, unsigned machine)
{
    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        if (item->kind != FACET_ITEM_CSR && item->kind != FACET_ITEM_FIELD &&
            in_machine(item, machine) && is_named(item, name)) {
            add(f, (struct facet_card){.item = item, .name = name});
        }
    }
    for (unsigned isa = 0; isa < FACET_ISA_COUNT; isa++) {
        if (machine == FACET_ITEM_ANY || machine == isa) {
            find_csrs(f, (enum facet_isa)isa, name);
            find_operands(f, (enum facet_isa)isa, name);
        }
    }
    find_shared(f, name, machine);
}

/* -- Values ---------------------------------------------------------------------------------------
 */

size_t facet_card_value(const char *legal, const char *name, const char **entry)
{
    size_t length = strlen(name);

    while (*legal != '\0') {
        size_t n = strcspn(legal, " "), refusal = *legal == '!';
        bool named = n > length + refusal ? legal[length] == '=' : n == length + refusal && refusal;
        if (named && strncasecmp(legal + refusal, name, length) == 0) {
            *entry = legal;
            return n;
        }
        legal += n;
        legal += strspn(legal, " ");
    }
    return 0;
}

static bool has_value(const struct facet_item *item, const char *name)
{
    const char *legal = "", *entry;

    if (item->kind == FACET_ITEM_FIELD) {
        legal = facet_csr_rows[item->row].fields[item->part].legal;
    } else if (item->kind == FACET_ITEM_MEMBER) {
        legal = facet_layout_rows[item->row].members[item->part].cells.legal;
    }
    return *name != '\0' && facet_card_value(legal, name, &entry) > 0;
}

/* All that can have the value. */
static void find_values(struct found *f, const char *name, unsigned machine)
{
    for (size_t i = 0; i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i];
        if (in_machine(item, machine) && has_value(item, name)) {
            bool field = item->kind == FACET_ITEM_FIELD;
            add(f,
                (struct facet_card){.item = item,
                                    .name = name,
                                    .value = name,
                                    .number = field ? facet_csr_rows[item->row].number : 0});
        }
    }
}

/* RSTATE.blend.alpha, CAP.PREC.MODE.NAN_POL.ZERO: of what precedes the last dot. */
static void find_value_of(struct found *f, const char *name, unsigned machine)
{
    const char *dot = strrchr(name, '.');
    char before[128];
    size_t kept = 0;

    if (dot == NULL || (size_t)(dot - name) >= sizeof before) {
        return;
    }
    (void)snprintf(before, sizeof before, "%.*s", (int)(dot - name), name);
    if (before[0] != '\0') {
        find_items(f, before, machine);
    }
    for (size_t i = 0; i < f->count; i++) {
        struct facet_card card = f->cards[i];
        if (card.item != NULL && has_value(card.item, dot + 1)) {
            card.name = name;
            card.value = dot + 1;
            f->cards[kept++] = card;
        }
    }
    f->count = kept;
}

size_t facet_card_find(const char *name, unsigned machine, struct facet_card cards[FACET_CARD_MAX])
{
    struct found f = {cards, 0};

    if (name[0] == '\0') {
        return 0;
    }
    find_items(&f, name, machine);
    if (f.count == 0) {
        find_values(&f, name, machine);
    }
    if (f.count == 0) {
        find_value_of(&f, name, machine);
    }
    for (size_t i = 0, none = f.count; none == 0 && i < facet_item_count; i++) {
        const struct facet_item *item = &facet_items[i]; /* by its heading, last of all */
        if (item->kind == FACET_ITEM_SECTION && in_machine(item, machine) &&
            strcasecmp(item->text, name) == 0) {
            add(&f, (struct facet_card){.item = item, .name = name});
        }
    }
    return f.count;
}

json_t *facet_card_value_text(const struct facet_card *card)
{
    const struct facet_layout_member *m =
        card->item->kind == FACET_ITEM_MEMBER
            ? &facet_layout_rows[card->item->row].members[card->item->part]
            : NULL;
    const struct facet_csr_field *f =
        m == NULL ? &facet_csr_rows[card->item->row].fields[card->item->part] : NULL;
    const char *name = m != NULL ? m->name : f->name, *entry = "";
    int n = (int)facet_card_value(m != NULL ? m->cells.legal : f->legal, card->value, &entry);
    int word = (int)strcspn(entry, "=");

    if (entry[0] == '!') {
        return json_sprintf("%s: any other value is refused with %.*s", name, n - 1, entry + 1);
    }
    if (m != NULL && m->type == FACET_LAYOUT_FLAGS) {
        return json_sprintf(
            "%s: %.*s is bit %.*s", name, word, entry, n - word - 1, entry + word + 1);
    }
    return json_sprintf("%s = %.*s (%.*s)", name, word, entry, n - word - 1, entry + word + 1);
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
