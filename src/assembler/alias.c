/* Aliases: the operand patterns of alias.tsv against the text, and the instructions they stand for.
 * A pattern's names are bound to pieces of the source, which the expansion reads in their place. */
#include "assembler/alias.h"
#include "num/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One piece of the operand text: between commas, blanks trimmed. */
struct piece {
    const char *start, *end;
};

/* ---- patterns ---- */

static bool has_word(const char *text, const char *word, size_t length)
{
    while (*text != '\0') {
        const char *end = facet_lex_name(text);

        if ((size_t)(end - text) == length && memcmp(text, word, length) == 0) {
            return true;
        }
        text = end != text ? end : text + 1;
    }
    return false;
}

static const char *pattern_name(const char **p, size_t *length)
{
    const char *start = facet_lex_space(*p);

    *p = facet_lex_name(start);
    *length = (size_t)(*p - start);
    return start;
}

/* `=LOW..HIGH` at *p. */
static void read_range(struct pattern_item *item, const char **p)
{
    char *end;

    item->ranged = true;
    item->low = strtoll(*p + 1, &end, 0);
    item->high = strtoll(end + strspn(end, "."), &end, 0);
    *p = facet_lex_space(end);
}

void facet_asm_read_pattern(struct asm_context *a, struct asm_candidate *c)
{
    const char *p = c->alias->operands;

    if (strcmp(p, "-") == 0 || *p == '\0') {
        return;
    }
    c->items = facet_asm_alloc(a, ASM_MAX_PARAMS / 2 * sizeof *c->items);
    memset(c->items, 0, ASM_MAX_PARAMS / 2 * sizeof *c->items);
    while (c->item_count < ASM_MAX_PARAMS / 2) {
        struct pattern_item *item = &c->items[c->item_count++];

        item->value = pattern_name(&p, &item->value_length);
        item->literal =
            !c->is_li && !has_word(c->alias->expansion, item->value, item->value_length);
        item->real = item->value_length == 4 && memcmp(item->value, "real", 4) == 0;
        p = facet_lex_space(p);
        if (*p == '=') {
            read_range(item, &p);
            item->literal = false; /* the expansion may leave out what the range fixes */
        }
        if (*p == '(') {
            p++;
            item->base = pattern_name(&p, &item->base_length);
            p = facet_lex_space(p) + (*p == ')');
        }
        p = facet_lex_space(p);
        if (*p != ',') {
            return;
        }
        p++;
    }
}

/* ---- pieces of the operand text ---- */

/* After the piece that starts at p: the comma or the end of the statement. */
static const char *piece_end(const char *p)
{
    int depth = 0;

    for (;;) {
        const char *q = facet_lex_space(p);

        if (facet_asm_at_end(q)) {
            return q;
        }
        if (*q == ',' && depth <= 0) {
            return q;
        }
        if (*q == '"') {
            uint8_t c;

            for (q++; *q != '"' && facet_lex_char(&q, &c);) {
            }
            if (*q != '"') {
                return q;
            }
        } else if (*q == '\'') {
            uint8_t c;

            q++;
            if (!facet_lex_char(&q, &c)) {
                return q;
            }
            q -= *q != '\''; /* the closing quote may be left out */
        } else {
            depth += (*q == '(') - (*q == ')');
        }
        p = q + 1;
    }
}

/* The number of pieces; fills at most `capacity`. */
static unsigned split(const char *p, struct piece *pieces, unsigned capacity)
{
    unsigned count = 0;

    p = facet_lex_space(p);
    if (facet_asm_at_end(p)) {
        return 0;
    }
    for (;;) {
        const char *end = piece_end(p), *trimmed = end;

        while (trimmed > p && facet_lex_is(trimmed[-1], FACET_LEX_SPACE)) {
            trimmed--;
        }
        if (count < capacity) {
            pieces[count] = (struct piece){p, trimmed};
        }
        count++;
        if (*end != ',') {
            return count;
        }
        p = facet_lex_space(end + 1);
    }
}

/* ---- aliases ---- */

static bool bind(struct asm_context *a,
                 struct asm_env *env,
                 const char *name,
                 size_t name_length,
                 const char *start,
                 const char *end)
{
    if (start == end) {
        return facet_asm_error(a, start, 1, "an operand is missing here");
    }
    env->params[env->count].name = name;
    env->params[env->count].name_length = name_length;
    env->params[env->count].start = start;
    env->params[env->count].end = end;
    env->count++;
    return true;
}

/* `4(a0)` into its two halves; a missing offset is 0. */
static bool bind_address(struct asm_context *a,
                         struct asm_env *env,
                         const struct pattern_item *item,
                         const struct piece *piece)
{
    static const char zero[] = "0";
    const char *open = piece->end, *end = piece->end;

    if (end - piece->start < 3 || end[-1] != ')') {
        return facet_asm_error(
            a, piece->start, 1, "expected an offset and a register in parentheses");
    }
    while (open > piece->start && *open != '(') {
        open--;
    }
    if (*open != '(') {
        return facet_asm_error(a, piece->start, 1, "`(` is missing");
    }
    if (!bind(a, env, item->base, item->base_length, facet_lex_space(open + 1), end - 1)) {
        return false;
    }
    if (open == piece->start) {
        return bind(a, env, item->value, item->value_length, zero, zero + 1);
    }
    return bind(a, env, item->value, item->value_length, piece->start, open);
}

/* All the words that the candidates of the mnemonic accept there: `nz` or `z`. */
static bool literal_expected(struct asm_context *a,
                             const struct asm_candidate *c,
                             unsigned index,
                             const struct piece *piece)
{
    const struct asm_mnemonic *m = c->mnemonic;
    char list[100] = "";
    size_t used = 0;

    for (const struct asm_candidate *k = m->first; k != NULL; k = k->next) {
        if (k->item_count == c->item_count && k->items[index].literal) {
            int more = snprintf(list + used,
                                sizeof list - used,
                                "%s`%.*s`",
                                used != 0 ? " or " : "",
                                (int)k->items[index].value_length,
                                k->items[index].value);

            if (more < 0 || used + (size_t)more >= sizeof list) {
                break;
            }
            used += (size_t)more;
        }
    }
    return facet_asm_error(
        a, piece->start, (size_t)(piece->end - piece->start), "expected %s", list);
}

/* The place of the literal that stands for an operand of a row of the same mnemonic: the 256 of
 * `svsetvl rd, 256` is its imm8. item_count when there is none. */
static unsigned literal_named(const struct asm_candidate *c, const char *name, size_t length)
{
    const struct asm_mnemonic *m = c->mnemonic;

    for (const struct asm_candidate *k = m->first; k != NULL; k = k->next) {
        for (unsigned i = 0;
             k->row != NULL && k->row->item_count == c->item_count && i < c->item_count;
             i++) {
            int operand = k->row->items[i].value;

            if (c->items[i].literal && operand >= 0 &&
                !facet_asm_is_register_kind(
                    (enum facet_operand_kind)k->row->operands[operand].kind) &&
                facet_lex_same(name, length, k->row->operands[operand].name)) {
                return i;
            }
        }
    }
    return c->item_count;
}

static bool literal_matches(struct asm_context *a,
                            const struct asm_candidate *c,
                            const struct pattern_item *item,
                            const struct piece *piece)
{
    size_t length = (size_t)(piece->end - piece->start);
    const char *p = piece->start, *q = item->value;
    int64_t given;
    uint64_t wanted;
    bool equal;

    if (length == item->value_length && facet_asm_same_word(piece->start, item->value, length)) {
        return true;
    }
    if (facet_lex_is(*q, FACET_LEX_DIGIT) &&
        facet_lex_number(&q, false, &wanted) == FACET_LEX_NUMBER) {
        a->quiet++;
        equal = facet_asm_constant(a, &p, &given) && facet_lex_space(p) >= piece->end &&
                (uint64_t)given == wanted;
        a->quiet--;
        if (equal) {
            return true;
        }
    }
    return literal_expected(a, c, (unsigned)(item - c->items), piece);
}

/* A number with a point or an exponent as the text of its FP32 bits: on the tile machine an s
 * register holds one (R-TILE-129). */
static bool bind_real(struct asm_context *a,
                      struct asm_env *env,
                      const struct pattern_item *item,
                      const struct piece *piece)
{
    size_t length, whole = (size_t)(piece->end - piece->start);
    bool hex = memchr(piece->start, 'x', whole) != NULL || memchr(piece->start, 'X', whole) != NULL;
    unsigned flags = 0;
    char *text;
    uint64_t bits = facet_num_from_text(FACET_FMT_FP32, piece->start, &length, &flags);

    if (length != whole || strcspn(piece->start, ".0123456789") >= 2 ||
        strcspn(piece->start, hex ? ".pP" : ".eE") >= whole) {
        return false; /* another pattern of the mnemonic takes numbers, and says what is wrong */
    }
    if ((flags & FACET_OF) != 0) {
        facet_asm_hint(a, "the largest FP32 number is 3.4028235e38");
        (void)facet_asm_error(a, piece->start, whole, "the number does not fit FP32");
        a->quiet_value = a->quiet != 0 && a->quiet_at == piece->start;
        return false;
    }
    text = facet_asm_alloc(a, 11);
    (void)snprintf(text, 11, "0x%08" PRIx32, (uint32_t)bits);
    return bind(a, env, item->value, item->value_length, text, text + 10);
}

/* A number in the range of the pattern, or one that is not known yet: env->choice holds it. */
static bool bind_ranged(struct asm_context *a,
                        struct asm_env *env,
                        const struct pattern_item *item,
                        const struct piece *piece)
{
    const char *p = piece->start, *furthest = a->quiet_at;
    struct asm_term term = {0};
    bool inside;

    a->quiet++;
    inside = facet_asm_expr(a, &p, &term) && facet_lex_space(p) >= piece->end;
    a->quiet--;
    a->quiet_at = furthest; /* as above */
    if (inside && (term.tree != NULL || term.value.section != NULL)) {
        inside = env->choice == NULL;
        env->choice = facet_asm_alloc(a, sizeof *env->choice);
        *env->choice = (struct asm_choice){.term = term, .low = item->low, .high = item->high};
    } else {
        inside = inside && term.value.number >= item->low && term.value.number <= item->high;
    }
    return inside && bind(a, env, item->value, item->value_length, piece->start, piece->end);
}

static bool bind_pieces(struct asm_context *a,
                        const struct asm_candidate *c,
                        const struct piece *pieces,
                        struct asm_env *env)
{
    for (unsigned i = 0; i < c->item_count; i++) {
        const struct pattern_item *item = &c->items[i];
        struct piece piece = pieces[i];
        const char *name = facet_lex_name(piece.start), *equals = facet_lex_space(name);

        if (name != piece.start && equals[0] == '=' && equals[1] != '=') {
            unsigned k = 0;

            while (
                k < c->item_count &&
                (c->items[k].base != NULL ||
                 c->items[k].value_length != (size_t)(name - piece.start) ||
                 !facet_asm_same_word(piece.start, c->items[k].value, c->items[k].value_length))) {
                k++;
            }
            if (k == c->item_count) {
                k = literal_named(c, piece.start, (size_t)(name - piece.start));
            }
            item = k < c->item_count ? &c->items[k] : item;
            piece.start = k < c->item_count ? facet_lex_space(equals + 1) : piece.start;
        }
        if (item->literal) {
            if (!literal_matches(a, c, item, &piece)) {
                return false;
            }
        } else if (item->real) {
            if (!bind_real(a, env, item, &piece)) {
                return false;
            }
        } else if (item->ranged) {
            if (!bind_ranged(a, env, item, &piece)) {
                return false;
            }
        } else if (item->base != NULL) {
            if (!bind_address(a, env, item, &piece)) {
                return false;
            }
        } else if (!bind(a, env, item->value, item->value_length, piece.start, piece.end)) {
            return false;
        }
    }
    return true;
}

static void hint_syntax(struct asm_context *a, const struct facet_alias_row *alias)
{
    bool none = alias->operands[0] == '\0' || strcmp(alias->operands, "-") == 0;

    facet_asm_hint(
        a, "the syntax is `%s%s%s`", alias->mnemonic, none ? "" : " ", none ? "" : alias->operands);
}

static bool emit_expansion(struct asm_context *a, const char *text, const struct asm_env *env)
{
    const struct asm_env *outer = a->env;
    struct asm_value start = a->expansion_start;
    bool ok = true;

    a->env = env;
    a->expansion_start = facet_asm_here(a);
    while (ok && *(text = facet_lex_space(text)) != '\0') {
        const char *end = facet_lex_name(text);

        ok = facet_asm_insn(a, text, (size_t)(end - text), end);
        while (*end != '\0' && *end != ';') {
            end++;
        }
        text = end + (*end == ';');
    }
    a->expansion_start = start;
    a->env = outer;
    return ok;
}

static void mark_side(struct asm_context *a, size_t first, struct asm_choice *choice, bool inside)
{
    for (size_t i = first; i < a->fixup_count; i++) {
        a->fixups[i].choice = choice;
        a->fixups[i].inside = inside;
    }
}

/* The number decides between c and the next alias of the mnemonic, which takes every number: both
 * are expanded, c aside, and the layout puts its words in place when the number asks for it. */
static bool expand_both(struct asm_context *a,
                        const struct asm_candidate *c,
                        const char *p,
                        const struct asm_env *env)
{
    struct asm_choice *choice = env->choice;
    size_t fixups = a->fixup_count;
    uint8_t *bytes;

    choice->offset = a->section->size;
    if (!emit_expansion(a, c->alias->expansion, env)) {
        return false;
    }
    choice->size = a->section->size - choice->offset;
    bytes = facet_asm_alloc(a, (size_t)choice->size + 1);
    memcpy(bytes, a->section->data + choice->offset, (size_t)choice->size);
    choice->bytes = bytes;
    mark_side(a, fixups, choice, true);
    a->section->size = choice->offset;
    a->emitted -= choice->size;
    fixups = a->fixup_count;
    if (c->next == NULL || c->next->item_count != c->item_count ||
        !facet_asm_expand(a, c->next, p)) {
        return false;
    }
    mark_side(a, fixups, choice, false);
    if (a->section->size - choice->offset != choice->size) {
        return facet_asm_error(
            a, p, 1, "internal: the expansions of %s differ in length", c->alias->mnemonic);
    }
    return true;
}

bool facet_asm_expand(struct asm_context *a, const struct asm_candidate *c, const char *p)
{
    struct piece pieces[ASM_MAX_PARAMS];
    struct asm_env env = {0};
    unsigned count = split(p, pieces, ASM_MAX_PARAMS);
    bool ok;

    if (count > c->item_count && c->item_count < ASM_MAX_PARAMS) {
        const char *at = pieces[c->item_count].start;

        if (at[0] == '/' && at[1] == '*') {
            return facet_asm_expect_end(a, at);
        }
        hint_syntax(a, c->alias);
        return facet_asm_error(a, at, 1, "too many operands");
    }
    if (count != c->item_count) {
        hint_syntax(a, c->alias);
        return facet_asm_error(a, p, 1, "%u operands, expected %u", count, c->item_count);
    }
    env.outer = a->env;
    if (!bind_pieces(a, c, pieces, &env)) {
        return false;
    }
    if (++a->alias_depth > ASM_ALIAS_DEPTH) {
        a->alias_depth--;
        return facet_asm_error(a, p, 1, "internal: circular aliases");
    }
    ok = env.choice != NULL ? expand_both(a, c, p, &env)
                            : emit_expansion(a, c->alias->expansion, &env);
    a->alias_depth--;
    return ok;
}

unsigned facet_asm_count_operands(const char *p)
{
    return split(p, NULL, 0);
}
