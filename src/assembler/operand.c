/* One instruction against one row of the tables: operands by position or by name, values into
 * fields (spec/README.md, Assembly syntax; tile-semantics.md 3.2).
 *
 * Values are gathered first and encoded together, because an offset that needs the longer form of a
 * tile load or store changes the row under the operands already read. */
#include "assembler/internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_OPERANDS = 16 };

struct reading {
    const struct facet_insn_row *row;
    int64_t values[MAX_OPERANDS];        /* field values of registers, written values of numbers */
    uint32_t seen;                       /* bit n: operand n was given */
    uint32_t open;                       /* bit n: its value is not known yet */
    struct asm_term terms[MAX_OPERANDS]; /* of the open ones */
    const char *at[MAX_OPERANDS];
    uint32_t length[MAX_OPERANDS];
};

static bool is_number(const struct facet_operand *o)
{
    return !facet_asm_is_register_kind((enum facet_operand_kind)o->kind) &&
           o->kind != FACET_OPERAND_SP;
}

static bool is_pcrel(const struct facet_operand *o)
{
    return o->kind == FACET_OPERAND_PCREL || o->kind == FACET_OPERAND_PCREL_U;
}

/* ---- reading values ---- */

static bool unknown_register(struct asm_context *a,
                             enum facet_operand_kind kind,
                             const char *start,
                             const char *end)
{
    size_t length = (size_t)(end - start);
    struct facet_nearest search = facet_nearest_to(start, length);

    if (a->quiet == 0) {
        if (facet_asm_is_register_name(a->isa, start, length)) {
            facet_asm_hint(a, "expected %s", facet_asm_register_class(kind));
            return facet_asm_error(
                a, start, length, "`%.*s` is not allowed here", (int)length, start);
        }
        facet_asm_offer_registers(kind, &search);
        facet_asm_suggest(a, &search);
        if (a->hint[0] == '\0') {
            facet_asm_hint(a, "expected %s", facet_asm_register_class(kind));
        }
        length = length < 80 ? length : 80;
    }
    if (length == 0) {
        (void)facet_asm_error(a, start, 1, "expected a register");
    } else {
        (void)facet_asm_error(a, start, length, "unknown register `%.*s`", (int)length, start);
    }
    a->quiet_register = a->quiet != 0 && a->quiet_at == start;
    return false;
}

bool facet_asm_read_register(struct asm_context *a,
                             const char **p,
                             enum facet_operand_kind kind,
                             int64_t *number)
{
    const char *start = facet_lex_space(*p), *end = facet_lex_name(start);
    int n = -1, index;

    index = facet_asm_param(a, start, (size_t)(end - start));
    if (index >= 0) {
        const struct asm_env *env = a->env;
        const char *q = env->params[index].start;
        bool ok;

        a->env = env->outer;
        ok = facet_asm_read_register(a, &q, kind, number);
        a->env = env;
        if (ok && facet_lex_space(q) < env->params[index].end) {
            return facet_asm_error(a, q, 1, "expected only a register");
        }
        *p = end;
        return ok;
    }
    if (kind == FACET_OPERAND_SP) {
        n = facet_asm_register(FACET_OPERAND_XREG, start, (size_t)(end - start));
        if (n != 2) {
            return facet_asm_error(a, start, (size_t)(end - start), "only sp is allowed here");
        }
    } else {
        n = facet_asm_register(kind, start, (size_t)(end - start));
        if (kind == FACET_OPERAND_XREG_C || kind == FACET_OPERAND_FREG_C) {
            n = n >= 8 && n <= 15 ? n - 8 : -1;
        }
    }
    if (n < 0) {
        return unknown_register(a, kind, start, end);
    }
    *number = n;
    *p = end;
    return true;
}

/* A CSR by name; names of indexed families have brackets. false when it is none. */
static bool csr_by_name(struct asm_context *a, const char **p, int64_t *value)
{
    const char *end = *p;
    uint32_t number;

    while (facet_lex_is(*end, FACET_LEX_NAME) || *end == '[' || *end == ']') {
        end++;
    }
    if (!facet_lex_is(**p, FACET_LEX_START) ||
        facet_csr_find_number(a->isa, *p, (size_t)(end - *p), true, &number) == NULL) {
        return false;
    }
    *value = number;
    *p = end;
    return true;
}

static void offer_csrs(struct asm_context *a, struct facet_nearest *search)
{
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        if (facet_csr_rows[i].isa == a->isa) {
            facet_nearest_offer(search, facet_csr_rows[i].name, strlen(facet_csr_rows[i].name));
        }
    }
}

static bool starts_with(const char *name, const char *word, size_t length)
{
    size_t i = 0;

    while (i < length && facet_lex_lower(name[i]) == facet_lex_lower(word[i])) {
        i++;
    }
    return i == length;
}

/* The CSRs whose names continue where the word ends: `time_lo` and `time_hi` for `time`. */
static void suggest_longer(struct asm_context *a, const char *word, size_t length)
{
    const char *names[2] = {NULL, NULL};
    unsigned count = 0;

    for (size_t i = 0; i < facet_csr_row_count && count < 2; i++) {
        const char *name = facet_csr_rows[i].name;

        if (facet_csr_rows[i].isa == a->isa && length != 0 && strlen(name) > length &&
            starts_with(name, word, length) && (name[length] == '_' || name[length] == '.')) {
            names[count++] = name;
        }
    }
    if (count != 0) {
        facet_asm_hint(a,
                       "did you mean `%s%s%s`?",
                       names[0],
                       count == 2 ? "` or `" : "",
                       count == 2 ? names[1] : "");
    }
}

static bool read_csr(struct asm_context *a, const char **p, int64_t *value)
{
    const char *start = *p = facet_lex_space(*p), *name_end = facet_lex_name(start);
    int index = facet_asm_param(a, start, (size_t)(name_end - start));
    struct asm_term term;

    if (index >= 0) { /* the piece of the source that the alias' name stands for */
        const struct asm_env *env = a->env;
        const char *q = env->params[index].start;
        bool ok;

        a->env = env->outer;
        ok = read_csr(a, &q, value);
        a->env = env;
        *p = name_end;
        if (ok && facet_lex_space(q) < env->params[index].end) {
            return facet_asm_error(a, q, 1, "expected `,` or the end of the line");
        }
        return ok;
    }
    if (csr_by_name(a, p, value)) {
        return true;
    }
    if (!facet_asm_expr(a, p, &term)) {
        return false;
    }
    if (term.tree != NULL || term.value.section != NULL) {
        size_t length = (size_t)(facet_lex_name(start) - start);
        struct facet_nearest search = facet_nearest_to(start, length);
        uint32_t number;

        if (facet_csr_find_number(a->isa, start, length, false, &number) != NULL) {
            facet_asm_hint(a, "write 0x%x to XISEL, then use XIREG", number);
            return facet_asm_error(
                a, start, length, "`%.*s` has no number of 12 bits", (int)length, start);
        }
        if (a->quiet == 0) {
            suggest_longer(a, start, length);
            if (a->hint[0] == '\0') {
                offer_csrs(a, &search);
                facet_asm_suggest(a, &search);
            }
            length = length < 80 ? length : 80;
        }
        return facet_asm_error(a, start, length, "unknown CSR `%.*s`", (int)length, start);
    }
    *value = term.value.number;
    return true;
}

/* Letters written together (`iorw`); false when the text is something else. */
static bool read_letters(const struct facet_operand *o, const char **p, int64_t *value)
{
    const char *q = facet_lex_space(*p);
    int64_t bits = 0;

    if (!facet_lex_is(*q, FACET_LEX_START)) {
        return false;
    }
    for (; facet_lex_is(*q, FACET_LEX_NAME); q++) {
        const struct facet_symbol *s = o->symbols;

        while (s->name != NULL && s->name[0] != facet_lex_lower(*q)) {
            s++;
        }
        if (s->name == NULL) {
            return false;
        }
        bits |= s->value;
    }
    *p = q;
    *value = bits;
    return true;
}

/* The distance from the instruction, when it is known already. On the tile machine a plain number
 * is the distance itself, on the hart it is an address (R-PM-17, tile-semantics.md 3.2). */
static bool known_distance(const struct asm_context *a, struct asm_term *term)
{
    if (term->tree != NULL) {
        return false;
    }
    if (term->value.section == a->section) {
        term->value.number -= (int64_t)a->section->size;
        term->value.section = NULL;
        return true;
    }
    return term->value.section == NULL && a->isa == FACET_ISA_TILE;
}

/* Inside an alias an operand is a name of the expansion: complaints are about the piece of the
 * user's text that the name stands for. */
static void blame_user(const struct asm_context *a, const char **at, uint32_t *length)
{
    for (const struct asm_env *env = a->env; env != NULL; env = env->outer) {
        size_t name = (size_t)(facet_lex_name(*at) - *at);
        unsigned i = 0;

        while (i < env->count && (env->params[i].name_length != name ||
                                  memcmp(env->params[i].name, *at, name) != 0)) {
            i++;
        }
        if (i < env->count) {
            *at = env->params[i].start;
            *length = (uint32_t)(env->params[i].end - env->params[i].start);
        }
    }
}

/* A register alone, where the tile machine's mnemonics take a register or a number in one place
 * (`LW s3, s2, s4`, `ASR s7, s5, 4`): no number while candidates are tried, unless a symbol of that
 * name exists. */
static bool is_other_kind(const struct asm_context *a, const char *p)
{
    const struct asm_symbol *symbol;
    uint32_t length = (uint32_t)(facet_lex_name(p) - p);
    const char *next = facet_lex_space(p + length);

    if (a->quiet == 0 || a->isa != FACET_ISA_TILE ||
        (*next != ',' && *next != '(' && !facet_asm_at_end(next))) {
        return false;
    }
    blame_user(a, &p, &length);
    if (!facet_asm_is_register_name(a->isa, p, length)) {
        return false;
    }
    symbol = facet_asm_symbol_find(a, p, length);
    return symbol == NULL || symbol->state == ASM_SYMBOL_UNKNOWN;
}

static bool read_number(struct asm_context *a, struct reading *r, unsigned index, const char **p)
{
    const struct facet_operand *o = &r->row->operands[index];
    const struct facet_symbol *scope = a->scope;
    struct asm_term term;
    bool ok;

    if (o->kind == FACET_OPERAND_CSR) {
        return read_csr(a, p, &r->values[index]);
    }
    if (o->kind == FACET_OPERAND_LETTERS && read_letters(o, p, &r->values[index])) {
        return true;
    }
    if (is_other_kind(a, *p)) {
        return facet_asm_error(a, *p, 1, "expected a number");
    }
    a->scope = o->symbols;
    ok = facet_asm_expr(a, p, &term);
    a->scope = scope;
    if (!ok) {
        return false;
    }
    if (is_pcrel(o) ? known_distance(a, &term) : term.tree == NULL && term.value.section == NULL) {
        r->values[index] = term.value.number;
        return true;
    }
    r->terms[index] = term;
    r->open |= 1u << index;
    return true;
}

static bool read_value(struct asm_context *a, struct reading *r, unsigned index, const char **p)
{
    const struct facet_operand *o = &r->row->operands[index];
    const char *start = *p = facet_lex_space(*p);
    bool ok =
        is_number(o)
            ? read_number(a, r, index, p)
            : facet_asm_read_register(a, p, (enum facet_operand_kind)o->kind, &r->values[index]);

    if (!ok) {
        return false;
    }
    r->seen |= 1u << index;
    r->at[index] = start;
    r->length[index] = (uint32_t)(*p - start);
    blame_user(a, &r->at[index], &r->length[index]);
    return true;
}

static bool twice(struct asm_context *a, const struct reading *r, unsigned index, const char *at)
{
    return facet_asm_error(a, at, 1, "operand `%s` is given twice", r->row->operands[index].name);
}

/* "(" register ")" at p? */
static bool is_plain_base(struct asm_context *a, const struct facet_operand *base, const char *p)
{
    int64_t number;
    bool is;

    if (*p != '(') {
        return false;
    }
    a->quiet++;
    p++;
    is = facet_asm_read_register(a, &p, (enum facet_operand_kind)base->kind, &number);
    a->quiet--;
    return is && *facet_lex_space(p) == ')';
}

static bool read_base(struct asm_context *a, struct reading *r, unsigned index, const char **p)
{
    *p = facet_lex_space(*p);
    if (**p != '(') {
        facet_asm_hint(a, "the syntax is `%s`", r->row->syntax);
        return facet_asm_error(a, *p, 1, "expected `(` and an address register");
    }
    ++*p;
    if (!read_value(a, r, index, p)) {
        return false;
    }
    *p = facet_lex_space(*p);
    if (**p != ')') {
        return facet_asm_error(a, *p, 1, "expected `)`");
    }
    ++*p;
    return true;
}

static bool read_item(struct asm_context *a,
                      struct reading *r,
                      const struct facet_syntax_item *item,
                      const char **p)
{
    const struct facet_operand *operands = r->row->operands;

    *p = facet_lex_space(*p);
    if (item->base < 0) {
        return read_value(a, r, (unsigned)item->value, p);
    }
    if (!is_plain_base(a, &operands[item->base], *p)) {
        if (item->value >= 0) {
            if (!read_value(a, r, (unsigned)item->value, p)) {
                return false;
            }
        } else {
            const char *start = *p, *name_end = facet_lex_name(start);
            const char *next = facet_lex_space(name_end);
            int64_t offset;

            if (facet_lex_is(*start, FACET_LEX_START) && (*next == ',' || facet_asm_at_end(next))) {
                facet_asm_hint(a, "the syntax is `%s`", r->row->syntax);
                return facet_asm_error(a,
                                       start,
                                       (size_t)(name_end - start),
                                       "expected `(register)`: an address is written in "
                                       "parentheses");
            }
            if (!facet_asm_constant(a, p, &offset)) {
                return false;
            }
            if (offset != 0) {
                facet_asm_hint(a, "this address has no offset: write `(%s)`", "register");
                return facet_asm_error(a, start, (size_t)(*p - start), "the offset can only be 0");
            }
        }
    } else if (item->value >= 0) { /* (a0) is 0(a0), for registers too: x0, s0, c0 */
        r->values[item->value] = 0;
        r->seen |= 1u << item->value;
        r->at[item->value] = *p;
        r->length[item->value] = 1;
    }
    return read_base(a, r, (unsigned)item->base, p);
}

static int operand_named(const struct facet_insn_row *row, const char *name, size_t length)
{
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if (!o->hidden && (int)i != row->suffix &&
            (facet_lex_same(name, length, o->name) ||
             (o->second_name != NULL && facet_lex_same(name, length, o->second_name)))) {
            return (int)i;
        }
    }
    return -1;
}

static bool unknown_operand(struct asm_context *a,
                            const struct facet_insn_row *row,
                            const char *name,
                            size_t length)
{
    struct facet_nearest search = facet_nearest_to(name, length);

    for (unsigned i = 0; i < row->operand_count; i++) {
        if (!row->operands[i].hidden) {
            facet_nearest_offer(&search, row->operands[i].name, strlen(row->operands[i].name));
        }
    }
    facet_asm_suggest(a, &search);
    if (a->hint[0] == '\0') {
        facet_asm_hint(a, "the syntax is `%s`", row->syntax);
    }
    length = length < 80 ? length : 80;
    return facet_asm_error(
        a, name, length, "%s has no operand `%.*s`", row->mnemonic, (int)length, name);
}

/* name=value; by name an address register may keep its parentheses. */
static bool read_named(
    struct asm_context *a, struct reading *r, const char *name, size_t length, const char **p)
{
    int index = operand_named(r->row, name, length);
    bool parentheses;

    if (index < 0) {
        return unknown_operand(a, r->row, name, length);
    }
    if ((r->seen >> index & 1) != 0) {
        return twice(a, r, (unsigned)index, name);
    }
    *p = facet_lex_space(*p);
    parentheses = is_plain_base(a, &r->row->operands[index], *p);
    *p += parentheses;
    if (!read_value(a, r, (unsigned)index, p)) {
        return false;
    }
    if (parentheses) {
        *p = facet_lex_space(*p) + 1;
    }
    return true;
}

static bool too_many(struct asm_context *a, const struct facet_insn_row *row, const char *p)
{
    facet_asm_hint(a, "the syntax is `%s`", row->syntax);
    return facet_asm_error(a, p, 1, "too many operands");
}

static bool read_operands(struct asm_context *a, struct reading *r, const char *p)
{
    bool named = false;
    unsigned item = 0;

    p = facet_lex_space(p);
    if (facet_asm_at_end(p)) {
        return true;
    }
    for (;;) {
        const char *name_end = facet_lex_name(p), *q = facet_lex_space(name_end);

        if (name_end != p && q[0] == '=' && q[1] != '=') {
            const char *value = q + 1;

            named = true;
            if (!read_named(a, r, p, (size_t)(name_end - p), &value)) {
                return false;
            }
            p = value;
        } else if (named) {
            return facet_asm_error(a, p, 1, "positional operand after a named one");
        } else if (item >= r->row->item_count) {
            return too_many(a, r->row, p);
        } else if (!read_item(a, r, &r->row->items[item++], &p)) {
            return false;
        }
        p = facet_lex_space(p);
        if (*p != ',') {
            return facet_asm_expect_end(a, p);
        }
        p = facet_lex_space(p + 1);
    }
}

/* ---- values into fields ---- */

/* What an operand takes. */
static void hint_range(struct asm_context *a, const struct facet_operand *o)
{
    bool is_signed = o->kind == FACET_OPERAND_SIMM || o->kind == FACET_OPERAND_PCREL;
    int64_t span = INT64_C(1) << o->value_width, step = INT64_C(1) << o->value_align;
    int64_t low = is_signed ? -span / 2 : o->nonzero ? step : 0;
    int64_t high = (is_signed ? span / 2 : span) - step;
    const char *rest = a->or_register ? ", or a register" : "";

    if (o->codec == FACET_CODEC_STEP) {
        facet_asm_hint(a, "`%s` takes 0, 1, 2 or 4", o->name);
    } else if (o->codec == FACET_CODEC_MODULO) {
        facet_asm_hint(a, "`%s` takes 0 to %" PRId64, o->name, span);
    } else if (o->codec == FACET_CODEC_HIGH20) {
        facet_asm_hint(a, "`%s` takes 1 to 31 and 0xfffe0 to 0xfffff", o->name);
    } else {
        char multiples[40] = "";

        if (o->value_align != 0) {
            (void)snprintf(multiples, sizeof multiples, "multiples of %" PRId64 " from ", step);
        }
        facet_asm_hint(a,
                       "`%s` takes %s%" PRId64 " to %" PRId64 "%s%s",
                       o->name,
                       multiples,
                       facet_operand_written(o, low),
                       facet_operand_written(o, high),
                       is_signed && o->nonzero ? ", not 0" : "",
                       rest);
    }
}

static bool out_of_range(struct asm_context *a,
                         const struct facet_insn_row *row,
                         const struct facet_operand *o,
                         int64_t value,
                         const struct asm_source *source,
                         const char *at,
                         size_t length)
{
    int64_t step = INT64_C(1) << o->value_align;

    hint_range(a, o);
    if (is_pcrel(o)) {
        if ((value & (step - 1)) != 0) {
            return facet_asm_error_in(a,
                                      source,
                                      at,
                                      length,
                                      "the target is %" PRId64
                                      " bytes away, not a multiple of %" PRId64,
                                      value,
                                      step);
        }
        return facet_asm_error_in(a,
                                  source,
                                  at,
                                  length,
                                  "the target is %" PRId64 " bytes away, out of reach of %s",
                                  value,
                                  row->mnemonic);
    }
    return facet_asm_error_in(a,
                              source,
                              at,
                              length,
                              "%" PRId64 " does not fit operand `%s` of %s",
                              value,
                              o->name,
                              row->mnemonic);
}

static bool not_legal(struct asm_context *a,
                      const struct facet_insn_row *row,
                      const struct facet_operand *o,
                      int64_t value,
                      const struct asm_source *source,
                      const char *at,
                      size_t length)
{
    if (value == 0 && o->nonzero && o->forbidden == 0) {
        hint_range(a, o);
    } else {
        facet_asm_hint(a, "the row's fields are `%.200s`", row->fields);
    }
    if (value == 0) {
        return facet_asm_error_in(
            a, source, at, length, "operand `%s` of %s cannot be 0", o->name, row->mnemonic);
    }
    return facet_asm_error_in(a,
                              source,
                              at,
                              length,
                              "operand `%s` of %s cannot be %" PRId64,
                              o->name,
                              row->mnemonic,
                              value);
}

/* The same instruction in its longer form, or 0: the one number is named differently there. */
static bool
widen(struct asm_context *a, const struct facet_insn_row *row, int64_t value, uint32_t *word)
{
    const struct facet_insn_row *wide = a->wide[row->id];
    uint32_t longer;

    if (wide == NULL) {
        return false;
    }
    longer = wide->match;
    for (unsigned i = 0; i < wide->operand_count; i++) {
        const struct facet_operand *o = &wide->operands[i];

        if (is_number(o)) {
            if (!facet_operand_fits(o, value)) {
                return false;
            }
            longer = facet_operand_set(o, longer, value);
            continue;
        }
        for (unsigned k = 0; k < row->operand_count; k++) {
            if (strcmp(row->operands[k].name, o->name) == 0) {
                longer = facet_operand_set(o, longer, facet_operand_get(&row->operands[k], *word));
            }
        }
    }
    *word = longer;
    return true;
}

bool facet_asm_place(struct asm_context *a,
                     const struct facet_insn_row *row,
                     unsigned operand,
                     int64_t value,
                     uint32_t *word,
                     const struct asm_source *source,
                     const char *at,
                     size_t length)
{
    const struct facet_operand *o = &row->operands[operand];
    int64_t field;

    if (!facet_operand_encode(o, value, &field) || !facet_operand_fits(o, field)) {
        if (widen(a, row, value, word)) {
            return true;
        }
        if (a->wide[row->id] != NULL) { /* the longer form sets the limits */
            row = a->wide[row->id];
            for (operand = 0; !is_number(&row->operands[operand]);) {
                operand++;
            }
            o = &row->operands[operand];
        }
        (void)out_of_range(a, row, o, value, source, at, length);
        a->quiet_value = a->quiet != 0 && a->quiet_at == at;
        return false;
    }
    if (!facet_operand_legal(o, field)) {
        (void)not_legal(a, row, o, field, source, at, length);
        a->quiet_value = a->quiet != 0 && a->quiet_at == at;
        return false;
    }
    *word = facet_operand_set(o, *word, field);
    return true;
}

static bool missing(struct asm_context *a, const struct reading *r, const char *p)
{
    const struct facet_insn_row *row = r->row;

    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if ((r->seen >> i & 1) == 0 && !o->hidden && !o->optional && (int)i != row->suffix &&
            o->kind != FACET_OPERAND_SP) {
            facet_asm_hint(a, "the syntax is `%s`", row->syntax);
            while (!facet_asm_at_end(p)) {
                p = facet_lex_space(p + 1);
            }
            return facet_asm_error(
                a, p, 1, "operand `%s` of %s is missing", o->name, row->mnemonic);
        }
    }
    return true;
}

bool facet_asm_row(struct asm_context *a,
                   const struct facet_insn_row *row,
                   const char *p,
                   unsigned suffix)
{
    struct reading r;
    uint32_t word = row->match;
    int last = -1; /* numbers go in last: one may change the row */

    r.row = row;
    r.seen = r.open = 0;
    if (row->operand_count > MAX_OPERANDS) {
        return facet_asm_error(a, p, 1, "internal: %s has too many operands", row->mnemonic);
    }
    if (!read_operands(a, &r, p) || !missing(a, &r, p)) {
        return false;
    }
    if (row->suffix >= 0) {
        word = facet_operand_set(&row->operands[row->suffix], word, suffix);
    }
    for (unsigned i = 0; i < row->operand_count; i++) {
        const struct facet_operand *o = &row->operands[i];

        if ((r.seen >> i & 1) == 0) {
            if (o->optional && !o->hidden && (int)i != row->suffix) {
                word = facet_operand_set(o, word, o->default_value);
            }
        } else if (is_number(o) && a->wide[row->id] != NULL) {
            last = (int)i;
        } else if ((r.open >> i & 1) != 0 || o->kind == FACET_OPERAND_SP) {
            continue;
        } else if (!facet_asm_place(
                       a, row, i, r.values[i], &word, a->frame->source, r.at[i], r.length[i])) {
            return false;
        }
    }
    if (last >= 0 && (r.open >> last & 1) == 0 &&
        !facet_asm_place(a,
                         row,
                         (unsigned)last,
                         r.values[last],
                         &word,
                         a->frame->source,
                         r.at[last],
                         r.length[last])) {
        return false;
    }
    for (unsigned i = 0; r.open >> i != 0; i++) {
        if ((r.open >> i & 1) != 0) {
            facet_asm_fixup(a,
                            &(struct asm_fixup){.row = row,
                                                .operand = (uint8_t)i,
                                                .section = a->section,
                                                .offset = a->section->size,
                                                .tree = r.terms[i].tree,
                                                .value = r.terms[i].value,
                                                .at = r.at[i],
                                                .length = r.length[i]});
        }
    }
    return facet_asm_emit(a, word, row->length);
}
