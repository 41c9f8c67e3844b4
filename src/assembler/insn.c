/* A mnemonic to what it can mean. A mnemonic has candidates: rows first, then aliases in the order
 * of alias.tsv. The first candidate that accepts the operands wins; when none does, the one that
 * read furthest complains. */
#include "assembler/alias.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the index ---- */

static uint32_t hash_of(const char *name, size_t length)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)facet_lex_lower(name[i])) * 16777619u;
    }
    return h ^ h >> 15;
}

static struct asm_mnemonic *find(const struct asm_context *a, const char *name, size_t length)
{
    struct asm_mnemonic *m = a->mnemonics[hash_of(name, length) & a->mnemonic_mask];

    while (m != NULL && (m->length != length || !facet_lex_same(name, length, m->name))) {
        m = m->next;
    }
    return m;
}

static struct asm_candidate *add(struct asm_context *a, const char *name)
{
    size_t length = strlen(name);
    struct asm_mnemonic *m = find(a, name, length);
    struct asm_candidate *c = facet_asm_alloc(a, sizeof *c);

    if (m == NULL) {
        struct asm_mnemonic **bucket = &a->mnemonics[hash_of(name, length) & a->mnemonic_mask];

        m = facet_asm_alloc(a, sizeof *m);
        *m = (struct asm_mnemonic){name, length, NULL, NULL, *bucket};
        m->last = &m->first;
        *bucket = m;
    }
    *c = (struct asm_candidate){.mnemonic = m};
    *m->last = c;
    m->last = &c->next;
    return c;
}

static bool same_shape(const struct facet_insn_row *x, const struct facet_insn_row *y)
{
    if (x->item_count != y->item_count) {
        return false;
    }
    for (unsigned i = 0; i < x->item_count; i++) {
        const struct facet_syntax_item *l = &x->items[i], *r = &y->items[i];

        if ((l->base < 0) != (r->base < 0) || l->value < 0 || r->value < 0 ||
            facet_asm_is_register_kind((enum facet_operand_kind)x->operands[l->value].kind) !=
                facet_asm_is_register_kind((enum facet_operand_kind)y->operands[r->value].kind)) {
            return false;
        }
    }
    return true;
}

/* An alias that only names a longer form of a row with the same operands (`LW` for `LW.L`): chosen
 * by the value of the offset, which may be known late; so it is not a separate candidate. */
static bool note_wide(struct asm_context *a, const struct facet_alias_row *alias)
{
    const char *end = facet_lex_name(alias->expansion);
    const struct facet_insn_row *row, *wide;
    size_t from = 0;

    if (a->isa != FACET_ISA_TILE || strcmp(facet_lex_space(end), alias->operands) != 0) {
        return false;
    }
    row = facet_isa_find(a->isa, alias->mnemonic, strlen(alias->mnemonic), &from);
    from = 0;
    wide = facet_isa_find(a->isa, alias->expansion, (size_t)(end - alias->expansion), &from);
    if (row == NULL || wide == NULL || !same_shape(row, wide)) {
        return false;
    }
    a->wide[row->id] = wide;
    return true;
}

void facet_asm_index(struct asm_context *a)
{
    size_t rows = facet_isa_row_count[a->isa], buckets = 64;

    while (buckets < 2 * (rows + facet_isa_alias_count[a->isa])) {
        buckets *= 2;
    }
    a->mnemonic_mask = buckets - 1;
    a->mnemonics = facet_asm_alloc(a, buckets * sizeof(struct asm_mnemonic *));
    memset(a->mnemonics, 0, buckets * sizeof(struct asm_mnemonic *));
    a->wide = facet_asm_alloc(a, (rows + 1) * sizeof(struct facet_insn_row *));
    memset(a->wide, 0, (rows + 1) * sizeof(struct facet_insn_row *));
    for (size_t i = 0; i < rows; i++) {
        const struct facet_insn_row *row = &facet_isa_rows[a->isa][i];

        add(a, row->mnemonic)->row = row;
    }
    for (size_t i = 0; i < facet_isa_alias_count[a->isa]; i++) {
        const struct facet_alias_row *alias = &facet_isa_aliases[a->isa][i];

        if (!note_wide(a, alias)) {
            struct asm_candidate *c = add(a, alias->mnemonic);

            c->alias = alias;
            c->is_li = strcmp(alias->expansion, "@li") == 0;
            facet_asm_read_pattern(a, c);
        }
    }
}

/* ---- li ---- */

static bool
emit_named(struct asm_context *a, const char *name, int64_t rd, int64_t rs1, int64_t imm)
{
    size_t from = 0;
    const struct facet_insn_row *row = facet_isa_find(a->isa, name, strlen(name), &from);
    uint32_t word;

    if (row == NULL) {
        return facet_asm_error(a, a->statement, 1, "internal: there is no %s", name);
    }
    word = row->match;
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        word = facet_operand_set(o,
                                 word,
                                 strcmp(o->name, "rd") == 0    ? rd
                                 : strcmp(o->name, "rs1") == 0 ? rs1
                                                               : imm);
    }
    return facet_asm_emit(a, word, row->length);
}

/* The sequence that GNU as writes, to the bit: 32-bit values by lui and addiw, wider ones by
 * shifting the upper part in place and adding 12 bits at a time. */
static bool emit_constant(struct asm_context *a, int64_t rd, int64_t value)
{
    int64_t low = (int64_t)((((uint64_t)value & 0xFFF) ^ 0x800) - 0x800);
    uint64_t upper = (uint64_t)value - (uint64_t)low;
    int64_t rest;
    int shift = 12;

    if (value == low) {
        return emit_named(a, "addiw", rd, 0, low);
    }
    if (value >= INT32_MIN && value <= INT32_MAX) {
        return emit_named(a, "lui", rd, 0, (int64_t)(upper >> 12 & 0xFFFFF)) &&
               (low == 0 || emit_named(a, "addiw", rd, rd, low));
    }

    while ((upper >> shift & 1) == 0) {
        shift++;
    }
    rest = (int64_t)upper < 0 ? (int64_t) ~(~upper >> shift) : (int64_t)(upper >> shift);

    return emit_constant(a, rd, rest) && emit_named(a, "slli", rd, rd, shift) &&
           (low == 0 || emit_named(a, "addi", rd, rd, low));
}

/* A single negative number below -2^63: as part of an expression it would wrap, and quietly load
 * something positive. */
static bool is_too_negative(const char *p)
{
    uint64_t value = 0;

    p = facet_lex_space(p);
    if (*p != '-') {
        return false;
    }
    p = facet_lex_space(p + 1);
    return facet_lex_is(*p, FACET_LEX_DIGIT) &&
           facet_lex_number(&p, true, &value) == FACET_LEX_NUMBER &&
           value > (uint64_t)INT64_MAX + 1 && facet_asm_at_end(facet_lex_space(p));
}

static bool load_immediate(struct asm_context *a, const char *p)
{
    int64_t rd, value;

    if (!facet_asm_read_register(a, &p, FACET_OPERAND_XREG, &rd)) {
        return false;
    }
    p = facet_lex_space(p);
    if (*p != ',') {
        facet_asm_hint(a, "the syntax is `li rd, number`");
        return facet_asm_error(a, p, 1, "expected `,`");
    }
    p = facet_lex_space(p + 1);
    if (is_too_negative(p)) {
        return facet_asm_error(a, p, strcspn(p, " \t\n#;/"), "the number does not fit 64 bits");
    }
    if (!facet_asm_constant(a, &p, &value) || !facet_asm_expect_end(a, facet_lex_space(p))) {
        return false;
    }
    return value >= -2048 && value <= 2047 ? emit_named(a, "addi", rd, 0, value)
                                           : emit_constant(a, rd, value);
}

/* ---- choosing ---- */

static bool
try_candidate(struct asm_context *a, const struct asm_candidate *c, const char *p, unsigned suffix)
{
    struct asm_section *section = a->section;
    uint64_t size = section->size, emitted = a->emitted;
    size_t fixups = a->fixup_count, pcrels = a->pcrel_count;
    bool ok = c->row != NULL ? facet_asm_row(a, c->row, p, suffix)
              : c->is_li     ? load_immediate(a, p)
                             : facet_asm_expand(a, c, p);

    if (!ok) { /* an expansion may have got half way */
        section->size = size;
        a->emitted = emitted;
        a->fixup_count = fixups;
        a->pcrel_count = pcrels;
    }
    return ok;
}

/* An alias for some numbers only: another one of its mnemonic takes the rest. */
static bool is_special(const struct asm_candidate *c)
{
    for (unsigned i = 0; i < c->item_count; i++) {
        if (c->items[i].real || c->items[i].ranged) {
            return true;
        }
    }
    return false;
}

static bool takes(const struct asm_candidate *c, unsigned count)
{
    unsigned required = 0;

    if (c->row == NULL) {
        return count == c->item_count;
    }
    for (unsigned i = 0; i < c->row->item_count; i++) {
        int value = c->row->items[i].value;

        required += value < 0 || !c->row->operands[value].optional;
    }
    return count >= required && count <= c->row->item_count;
}

static bool choose(struct asm_context *a, struct asm_mnemonic *m, const char *p, unsigned suffix)
{
    const struct asm_candidate *best = NULL;
    const char *furthest = NULL;
    bool value = false, or_register = false, ok;
    unsigned count;

    if (m->first->next == NULL) {
        return try_candidate(a, m->first, p, suffix);
    }
    count = UINT32_MAX;
    for (const struct asm_candidate *c = m->first; c != NULL; c = c->next) {
        if (c->row == NULL && count == UINT32_MAX) {
            count = facet_asm_count_operands(p);
        }
        if (c->row == NULL && count != c->item_count) {
            continue;
        }
        a->quiet++;
        a->quiet_at = NULL;
        a->quiet_value = a->quiet_register = false;
        ok = try_candidate(a, c, p, suffix);
        a->quiet--;
        if (ok) {
            return true;
        }
        /* What is of the right kind but out of range was read to the end: nothing came further. */
        if (best == NULL || a->quiet_value > value ||
            (a->quiet_value == value && (uintptr_t)a->quiet_at > (uintptr_t)furthest)) {
            or_register = a->quiet_register || (or_register && a->quiet_at == furthest);
            best = c;
            furthest = a->quiet_at;
            value = a->quiet_value;
        } else if (a->quiet_at == furthest) {
            or_register |= a->quiet_register;
        }
    }
    count = facet_asm_count_operands(p);
    for (const struct asm_candidate *c = m->first; c != NULL; c = c->next) {
        if (best == NULL || (!is_special(c) && is_special(best) && !value) ||
            (!takes(best, count) && takes(c, count))) {
            best = c;
        }
    }
    a->or_register = value && or_register;
    ok = try_candidate(a, best, p, suffix);
    a->or_register = false;
    return ok;
}

/* `amoad.w.aqrl`: the endings that belong to a mnemonic are offered with it. */
static void
offer_suffixed(struct asm_context *a, const struct asm_mnemonic *m, struct facet_nearest *search)
{
    const struct facet_insn_row *row = m->first->row;

    if (row == NULL || row->suffix < 0) {
        return;
    }
    for (const struct facet_symbol *s = row->operands[row->suffix].symbols; s->name != NULL; s++) {
        size_t ending = strlen(s->name);
        char *whole = facet_asm_alloc(a, m->length + 1 + ending);

        memcpy(whole, m->name, m->length);
        whole[m->length] = '.';
        memcpy(whole + m->length + 1, s->name, ending);
        facet_nearest_offer(search, whole, m->length + 1 + ending);
    }
}

static bool is_type(const char *ending)
{
    static const char *const types[] = {"I32", "I16", "I8", "F16", "F8", "F32"};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(ending, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* `VMUL`: the rows VMUL.I32, VMUL.F32, ... differ in a type that has to be said. false when no row
 * starts so. */
static bool hint_endings(struct asm_context *a, const char *name, size_t length)
{
    char list[160] = "";
    size_t used = 0;
    bool types = true;

    for (size_t i = 0; i < facet_isa_row_count[a->isa]; i++) {
        const char *row = facet_isa_rows[a->isa][i].mnemonic;
        int more;

        if (strlen(row) <= length || row[length] != '.' ||
            !facet_asm_same_word(name, row, length)) {
            continue;
        }
        types = types && is_type(row + length + 1);
        more = snprintf(list + used, sizeof list - used, "%s%s", used != 0 ? ", " : "", row);
        if (more < 0 || used + (size_t)more >= sizeof list - 5) {
            memcpy(list + used, ", ...", 6);
            break;
        }
        used += (size_t)more;
    }
    if (list[0] != '\0') {
        facet_asm_hint(
            a, "%.*s needs %s: %s", (int)length, name, types ? "a type" : "an ending", list);
    }
    return list[0] != '\0';
}

static bool unknown(struct asm_context *a, const char *name, size_t length)
{
    struct facet_nearest search = facet_nearest_to(name, length);

    if (a->quiet == 0 && !hint_endings(a, name, length)) {
        for (size_t i = 0; i <= a->mnemonic_mask; i++) {
            for (const struct asm_mnemonic *m = a->mnemonics[i]; m != NULL; m = m->next) {
                facet_nearest_offer(&search, m->name, m->length);
                offer_suffixed(a, m, &search);
            }
        }
        facet_asm_suggest(a, &search);
    }
    length = length < 80 ? length : 80;
    return facet_asm_error(a, name, length, "unknown instruction `%.*s`", (int)length, name);
}

/* `amoadd.w.aqrl`: the row without the ending, and what the ending stands for. */
static struct asm_mnemonic *
find_suffixed(const struct asm_context *a, const char *name, size_t length, unsigned *suffix)
{
    size_t stem = length;
    struct asm_mnemonic *m;
    const struct facet_insn_row *row;

    while (stem > 0 && name[stem - 1] != '.') {
        stem--;
    }
    m = stem > 1 ? find(a, name, stem - 1) : NULL;
    row = m != NULL ? m->first->row : NULL;
    if (row == NULL || row->suffix < 0) {
        return NULL;
    }
    for (const struct facet_symbol *s = row->operands[row->suffix].symbols; s->name != NULL; s++) {
        if (facet_lex_same(name + stem, length - stem, s->name)) {
            *suffix = s->value;
            return m;
        }
    }
    return NULL;
}

bool facet_asm_insn(struct asm_context *a, const char *mnemonic, size_t length, const char *p)
{
    const uint64_t align = a->isa == FACET_ISA_TILE ? 4 : 2;
    struct asm_mnemonic *m = find(a, mnemonic, length);
    unsigned suffix = 0;

    if (m == NULL) {
        m = find_suffixed(a, mnemonic, length, &suffix);
    }
    if (m == NULL) {
        return unknown(a, mnemonic, length);
    }
    /* Before its candidates are tried: this is no reason to prefer one of them. */
    if ((a->section->size & (align - 1)) != 0) {
        facet_asm_hint(a, "put `.balign %d` before it", (int)align);
        return facet_asm_error(
            a, a->statement, 1, "the instruction is not at a multiple of %d bytes", (int)align);
    }
    return choose(a, m, p, suffix);
}
