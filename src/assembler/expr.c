/* Expressions of the assembler: 64-bit two's complement with the operators, precedence and truth
 * values of C. Values are numbers or places in sections; what is known is folded at once, the rest
 * becomes a tree that is evaluated when all sections have addresses. */
#include "assembler/internal.h"

#include <inttypes.h>

int facet_asm_param(const struct asm_context *a, const char *p, size_t length)
{
    if (a->env == NULL) {
        return -1;
    }
    for (unsigned i = 0; i < a->env->count; i++) {
        if (a->env->params[i].name_length == length &&
            memcmp(a->env->params[i].name, p, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const struct asm_tree *facet_asm_tree(struct asm_context *a, const struct asm_term *term)
{
    struct asm_tree *leaf;

    if (term->tree != NULL) {
        return term->tree;
    }
    leaf = facet_asm_alloc(a, sizeof *leaf);
    memset(leaf, 0, sizeof *leaf);
    leaf->op = ASM_OP_VALUE;
    leaf->value = term->value;
    return leaf;
}

static int64_t sign_extend_12(int64_t v)
{
    return (int64_t)((((uint64_t)v & 0xFFF) ^ 0x800) - 0x800);
}

const char *facet_asm_compute(enum asm_op op, int64_t l, int64_t r, int64_t *out)
{
    uint64_t ul = (uint64_t)l, ur = (uint64_t)r;

    switch (op) {
    case ASM_OP_NEGATE:
        *out = (int64_t)(0 - ul);
        return NULL;
    case ASM_OP_INVERT:
        *out = ~l;
        return NULL;
    case ASM_OP_NOT:
        *out = l == 0;
        return NULL;
    case ASM_OP_ADD:
        *out = (int64_t)(ul + ur);
        return NULL;
    case ASM_OP_SUBTRACT:
        *out = (int64_t)(ul - ur);
        return NULL;
    case ASM_OP_MULTIPLY:
        *out = (int64_t)(ul * ur);
        return NULL;
    case ASM_OP_DIVIDE:
    case ASM_OP_REMAINDER:
        if (r == 0) {
            return "division by zero";
        }
        if (r == -1) { /* the one quotient that overflows wraps */
            *out = op == ASM_OP_DIVIDE ? (int64_t)(0 - ul) : 0;
        } else {
            *out = op == ASM_OP_DIVIDE ? l / r : l % r;
        }
        return NULL;
    case ASM_OP_LEFT:
    case ASM_OP_RIGHT:
        if (r < 0 || r > 63) {
            return "shift by a number outside 0..63";
        }
        if (op == ASM_OP_LEFT) {
            *out = (int64_t)(ul << r);
        } else {
            *out = l < 0 ? (int64_t) ~(~ul >> r) : (int64_t)(ul >> r);
        }
        return NULL;
    case ASM_OP_AND:
        *out = l & r;
        return NULL;
    case ASM_OP_OR:
        *out = l | r;
        return NULL;
    case ASM_OP_XOR:
        *out = l ^ r;
        return NULL;
    case ASM_OP_EQUAL:
        *out = l == r;
        return NULL;
    case ASM_OP_UNEQUAL:
        *out = l != r;
        return NULL;
    case ASM_OP_LESS:
        *out = l < r;
        return NULL;
    case ASM_OP_LESS_EQUAL:
        *out = l <= r;
        return NULL;
    case ASM_OP_GREATER:
        *out = l > r;
        return NULL;
    case ASM_OP_GREATER_EQUAL:
        *out = l >= r;
        return NULL;
    case ASM_OP_BOTH:
        *out = l != 0 && r != 0;
        return NULL;
    case ASM_OP_EITHER:
        *out = l != 0 || r != 0;
        return NULL;
    case ASM_OP_FAR_HI:
        if (l < -INT64_C(0x80000000) - 0x800 || l >= INT64_C(0x80000000) - 0x800) {
            return "the target is more than 2 GiB away";
        }
        *out = (int64_t)(((ul + 0x800) >> 12) & 0xFFFFF);
        return NULL;
    case ASM_OP_HI:
        *out = (int64_t)(((ul + 0x800) >> 12) & 0xFFFFF);
        return NULL;
    case ASM_OP_LO:
        *out = sign_extend_12(l);
        return NULL;
    default:
        return "internal: unknown operator";
    }
}

static bool is_comparison(enum asm_op op)
{
    return op >= ASM_OP_EQUAL && op <= ASM_OP_GREATER_EQUAL;
}

/* Places can be folded before layout where only their distance counts. */
static bool fold_places(enum asm_op op,
                        const struct asm_value *l,
                        const struct asm_value *r,
                        struct asm_value *out)
{
    if (op == ASM_OP_ADD && (l->section == NULL || r->section == NULL)) {
        out->section = l->section != NULL ? l->section : r->section;
        return facet_asm_compute(op, l->number, r->number, &out->number) == NULL;
    }
    if (op == ASM_OP_SUBTRACT && (r->section == NULL || r->section == l->section)) {
        out->section = r->section == NULL ? l->section : NULL;
        return facet_asm_compute(op, l->number, r->number, &out->number) == NULL;
    }
    if (is_comparison(op) && l->section == r->section) {
        out->section = NULL;
        return facet_asm_compute(op, l->number, r->number, &out->number) == NULL;
    }
    return false;
}

bool facet_asm_apply(struct asm_context *a,
                     enum asm_op op,
                     const struct asm_term *left,
                     const struct asm_term *right,
                     const char *at,
                     struct asm_term *out)
{
    bool known =
        left->tree == NULL && (right == NULL || right->tree == NULL) && op != ASM_OP_PCREL_LO;
    bool plain =
        known && left->value.section == NULL && (right == NULL || right->value.section == NULL);
    struct asm_tree *tree;
    struct asm_term result = {{NULL, 0}, NULL};

    if (plain && op == ASM_OP_HI && a->isa == FACET_ISA_TILE &&
        (left->value.number < INT32_MIN || left->value.number > UINT32_MAX)) {
        return facet_asm_error(
            a, at, 1, "0x%" PRIx64 " does not fit 32 bits", (uint64_t)left->value.number);
    }
    if (plain) {
        const char *wrong = facet_asm_compute(
            op, left->value.number, right != NULL ? right->value.number : 0, &result.value.number);

        if (wrong != NULL) {
            return facet_asm_error(a, at, 1, "%s", wrong);
        }
        *out = result;
        return true;
    }
    if (known && right != NULL && fold_places(op, &left->value, &right->value, &result.value)) {
        *out = result;
        return true;
    }
    tree = facet_asm_alloc(a, sizeof *tree);
    memset(tree, 0, sizeof *tree);
    tree->op = (uint8_t)op;
    tree->left = facet_asm_tree(a, left);
    tree->right = right != NULL ? facet_asm_tree(a, right) : NULL;
    tree->depth = tree->left->depth;
    if (tree->right != NULL && tree->right->depth > tree->depth) {
        tree->depth = tree->right->depth;
    }
    tree->depth++;
    tree->at = at;
    tree->source = a->frame->source;
    if (tree->depth > ASM_MAX_DEPTH) {
        return facet_asm_error(
            a, at, 1, "the expression has more than %d levels", (int)ASM_MAX_DEPTH);
    }
    result.tree = tree;
    *out = result;
    return true;
}

static bool binary(struct asm_context *a, const char **p, int lowest, struct asm_term *out);

static bool
symbol_term(struct asm_context *a, struct asm_symbol *s, const char *at, struct asm_term *out)
{
    struct asm_tree *tree;
    uint64_t constant;

    if (s->state == ASM_SYMBOL_UNKNOWN &&
        facet_layout_constant(facet_isa_name[a->isa], s->name, &constant)) {
        *out = (struct asm_term){{NULL, (int64_t)constant}, NULL}; /* a row's word: known at once */
        return true;
    }
    if (s->at == NULL) {
        s->at = at;
        s->source = a->frame->source;
    }
    if (s->state != ASM_SYMBOL_UNKNOWN && s->term.tree == NULL) {
        *out = s->term;
        return true;
    }
    tree = facet_asm_alloc(a, sizeof *tree);
    memset(tree, 0, sizeof *tree);
    tree->op = ASM_OP_SYMBOL;
    tree->symbol = s;
    tree->at = at;
    tree->source = a->frame->source;
    *out = (struct asm_term){{NULL, 0}, tree};
    return true;
}

static bool number(struct asm_context *a, const char **p, struct asm_term *out)
{
    const char *start = *p;
    bool octal = a->isa == FACET_ISA_XPHMG;
    uint64_t value = 0;

    /* GNU as reads a leading zero as octal; tile-semantics.md 3.2 knows decimal and 0x only. */
    switch (facet_lex_number(p, octal, &value)) {
    case FACET_LEX_NUMBER:
        *out = (struct asm_term){{NULL, (int64_t)value}, NULL};
        return true;
    case FACET_LEX_LOCAL: {
        bool forward = facet_lex_lower(**p) == 'f';
        struct asm_symbol *s = facet_asm_local(a, start, (size_t)(*p - start), forward);

        ++*p;
        if (s == NULL) {
            return facet_asm_error(a,
                                   start,
                                   (size_t)(*p - start),
                                   "no label `%.*s:` before this line",
                                   (int)(*p - start - 1),
                                   start);
        }
        return symbol_term(a, s, start, out);
    }
    case FACET_LEX_TOO_BIG:
        return facet_asm_error(a, start, (size_t)(*p - start), "the number does not fit 64 bits");
    case FACET_LEX_BAD:
        break;
    }
    if (facet_lex_is(**p, FACET_LEX_NAME)) {
        facet_asm_hint(a,
                       "numbers are decimal, 0x hexadecimal%s%s",
                       octal ? ", 0b binary or 0 octal" : " or 0b binary",
                       a->isa == FACET_ISA_TILE && **p == '.'
                           ? "; LI and MOVI take reals too, as 1.5 or -2.5e-3"
                           : "");
        return facet_asm_error(a, *p, 1, "`%c` is not allowed in this number", **p);
    }
    return facet_asm_error(a, start, (size_t)(*p - start), "digits are missing");
}

static bool character(struct asm_context *a, const char **p, struct asm_term *out)
{
    const char *start = *p;
    uint8_t c;

    ++*p;
    if (!facet_lex_char(p, &c)) {
        return facet_asm_error(a, start, 1, "expected a character after the quote");
    }
    if (**p == '\'') { /* GNU as does not ask for the closing quote */
        ++*p;
    }
    *out = (struct asm_term){{NULL, c}, NULL};
    return true;
}

static bool parenthesis(struct asm_context *a, const char **p, struct asm_term *out)
{
    const char *open = *p;

    ++*p;
    if (++a->nesting > ASM_MAX_NESTING) {
        a->nesting--;
        return facet_asm_error(
            a, open, 1, "parentheses nested deeper than %d", (int)ASM_MAX_NESTING);
    }
    if (!binary(a, p, 0, out)) {
        a->nesting--;
        return false;
    }
    a->nesting--;
    *p = facet_lex_space(*p);
    if (**p != ')') {
        return facet_asm_error(a, *p, 1, "expected `)`");
    }
    ++*p;
    return true;
}

struct asm_value facet_asm_here(const struct asm_context *a)
{
    return (struct asm_value){a->section, (int64_t)a->section->size};
}

static bool
pcrel_hi(struct asm_context *a, const struct asm_term *in, const char *at, struct asm_term *out)
{
    struct asm_term here = {facet_asm_here(a), NULL}, distance;
    struct asm_pcrel *record;

    if (!facet_asm_apply(a, ASM_OP_SUBTRACT, in, &here, at, &distance)) {
        return false;
    }
    facet_asm_fit(a, &a->pcrels, &a->pcrel_capacity, a->pcrel_count + 1, sizeof *a->pcrels);
    record = &a->pcrels[a->pcrel_count++];
    *record = (struct asm_pcrel){.place = here.value, .distance = distance};
    return facet_asm_apply(a, ASM_OP_FAR_HI, &distance, NULL, at, out);
}

/* %hi(x) and its like; a % before anything else is skipped (R-PM-17). */
static bool function(struct asm_context *a, const char **p, struct asm_term *out)
{
    static const char *const names[] = {"hi", "lo", "pcrel_hi", "pcrel_lo"};
    const char *start = *p, *name = *p + 1, *end = facet_lex_name(name), *q = facet_lex_space(end);
    struct asm_term in;
    unsigned f = 0;

    if (*q != '(') {
        *p = name;
        if (!facet_lex_is(*name, FACET_LEX_START)) {
            return facet_asm_error(a, start, 1, "expected a label after `%%`");
        }
        return binary(a, p, 100, out);
    }
    while (f < 4 && !facet_lex_same(name, (size_t)(end - name), names[f])) {
        f++;
    }
    if (f == 4) {
        facet_asm_hint(a, "the functions are %%hi, %%lo, %%pcrel_hi and %%pcrel_lo");
        return facet_asm_error(a, start, (size_t)(end - start), "unknown function");
    }
    *p = q;
    if (!parenthesis(a, p, &in)) {
        return false;
    }
    if (a->env != NULL) { /* inside an alias: complaints are about what the user wrote */
        const char *argument = facet_lex_space(q + 1);
        int index = facet_asm_param(a, argument, (size_t)(facet_lex_name(argument) - argument));

        start = index >= 0 ? a->env->params[index].start : start;
    }
    switch (f) {
    case 0:
        return facet_asm_apply(a, ASM_OP_HI, &in, NULL, start, out);
    case 1:
        return facet_asm_apply(a, ASM_OP_LO, &in, NULL, start, out);
    case 2:
        return pcrel_hi(a, &in, start, out);
    default:
        break;
    }
    if (a->env != NULL) { /* inside an alias: the lower part for its own first instruction */
        struct asm_term here = {a->expansion_start, NULL}, distance;

        return facet_asm_apply(a, ASM_OP_SUBTRACT, &in, &here, start, &distance) &&
               facet_asm_apply(a, ASM_OP_LO, &distance, NULL, start, out);
    }
    return facet_asm_apply(a, ASM_OP_PCREL_LO, &in, NULL, start, out);
}

static bool parameter(struct asm_context *a, int index, struct asm_term *out)
{
    const struct asm_env *env = a->env;
    const char *q = env->params[index].start;
    bool ok;

    a->env = env->outer;
    ok = binary(a, &q, 0, out);
    a->env = env;
    if (ok && facet_lex_space(q) < env->params[index].end) {
        return facet_asm_error(a, q, 1, "expected `,` or the end of the line");
    }
    return ok;
}

static bool identifier(struct asm_context *a, const char **p, struct asm_term *out)
{
    const char *start = *p, *name;
    size_t length;
    int index;

    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "unterminated quoted name");
    }
    if (*start == '"') { /* a symbol and nothing else, whatever its name means elsewhere */
        return symbol_term(a, facet_asm_symbol(a, name, length), start, out);
    }
    index = facet_asm_param(a, name, length);
    if (index >= 0) {
        return parameter(a, index, out);
    }
    for (const struct facet_symbol *s = a->scope; s != NULL && s->name != NULL; s++) {
        if (facet_lex_same(name, length, s->name)) {
            *out = (struct asm_term){{NULL, s->value}, NULL};
            return true;
        }
    }
    if (length == 1 && name[0] == '.') {
        *out = (struct asm_term){facet_asm_here(a), NULL};
        return true;
    }
    return symbol_term(a, facet_asm_symbol(a, name, length), start, out);
}

static bool unary(struct asm_context *a, const char **p, struct asm_term *out)
{
    const char *start = *p = facet_lex_space(*p);
    enum asm_op op;
    struct asm_term in;
    bool ok;

    switch (*start) {
    case '-':
        op = ASM_OP_NEGATE;
        break;
    case '~':
        op = ASM_OP_INVERT;
        break;
    case '!':
        op = ASM_OP_NOT;
        break;
    case '+':
        op = ASM_OP_ADD;
        break;
    case '(':
        return parenthesis(a, p, out);
    case '%':
        return function(a, p, out);
    case '\'':
        return character(a, p, out);
    default:
        if (facet_lex_is(*start, FACET_LEX_DIGIT)) {
            return number(a, p, out);
        }
        if (facet_lex_is(*start, FACET_LEX_START) || *start == '"') {
            return identifier(a, p, out);
        }
        return facet_asm_error(a, start, 1, "expected a number or a symbol");
    }
    ++*p;
    if (++a->nesting > ASM_MAX_NESTING) {
        a->nesting--;
        return facet_asm_error(a, start, 1, "more than %d signs in a row", (int)ASM_MAX_NESTING);
    }
    ok = unary(a, p, &in);
    a->nesting--;
    if (!ok) {
        return false;
    }
    if (op == ASM_OP_ADD) {
        *out = in;
        return true;
    }
    return facet_asm_apply(a, op, &in, NULL, start, out);
}

/* The operator at p, its strength (C's order) and length; strength 0 when there is none. */
static int operator_at(const char *p, enum asm_op *op, unsigned *length)
{
    char next = *p != '\0' ? p[1] : '\0';

    *length = 1;
    switch (*p) {
    case '*':
        *op = ASM_OP_MULTIPLY;
        return 10;
    case '/':
        *op = ASM_OP_DIVIDE;
        return next == '/' || next == '*' ? 0 : 10;
    case '%':
        *op = ASM_OP_REMAINDER;
        return 10;
    case '+':
        *op = ASM_OP_ADD;
        return 9;
    case '-':
        *op = ASM_OP_SUBTRACT;
        return 9;
    case '<':
        *length = next == '<' || next == '=' || next == '>' ? 2 : 1;
        *op = next == '<'   ? ASM_OP_LEFT
              : next == '=' ? ASM_OP_LESS_EQUAL
              : next == '>' ? ASM_OP_UNEQUAL
                            : ASM_OP_LESS;
        return next == '<' ? 8 : next == '>' ? 6 : 7;
    case '>':
        *length = next == '>' || next == '=' ? 2 : 1;
        *op = next == '>' ? ASM_OP_RIGHT : next == '=' ? ASM_OP_GREATER_EQUAL : ASM_OP_GREATER;
        return next == '>' ? 8 : 7;
    case '=':
        *length = 2;
        *op = ASM_OP_EQUAL;
        return next == '=' ? 6 : 0;
    case '!':
        *length = 2;
        *op = ASM_OP_UNEQUAL;
        return next == '=' ? 6 : 0;
    case '&':
        *length = next == '&' ? 2 : 1;
        *op = next == '&' ? ASM_OP_BOTH : ASM_OP_AND;
        return next == '&' ? 2 : 5;
    case '^':
        *op = ASM_OP_XOR;
        return 4;
    case '|':
        *length = next == '|' ? 2 : 1;
        *op = next == '|' ? ASM_OP_EITHER : ASM_OP_OR;
        return next == '|' ? 1 : 3;
    default:
        return 0;
    }
}

/* Precedence climbing; operators weaker than or as weak as `lowest` are left to the caller. */
static bool binary(struct asm_context *a, const char **p, int lowest, struct asm_term *out)
{
    if (!unary(a, p, out)) {
        return false;
    }
    for (;;) {
        const char *at = facet_lex_space(*p);
        enum asm_op op = ASM_OP_VALUE;
        unsigned length = 1;
        int strength = operator_at(at, &op, &length);
        struct asm_term right;

        if (strength <= lowest) {
            return true;
        }
        *p = at + length;
        if (!binary(a, p, strength, &right)) {
            return false;
        }
        if (!facet_asm_apply(a, op, out, &right, at, out)) {
            return false;
        }
    }
}

bool facet_asm_expr(struct asm_context *a, const char **p, struct asm_term *out)
{
    return binary(a, p, 0, out);
}

bool facet_asm_constant(struct asm_context *a, const char **p, int64_t *out)
{
    const char *start = *p = facet_lex_space(*p);
    struct asm_term term;

    if (!facet_asm_expr(a, p, &term)) {
        return false;
    }
    if (term.tree != NULL || term.value.section != NULL) {
        facet_asm_hint(a, "symbols in it must be numbers defined above this line");
        return facet_asm_error(
            a, start, (size_t)(*p - start), "expected a number that is known here");
    }
    *out = term.value.number;
    return true;
}
