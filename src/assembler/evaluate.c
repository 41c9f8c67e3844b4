/* Expressions whose value was not known while the text was read, after layout: every section has
 * its address now, and every symbol that will ever be defined is. */
#include "assembler/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool evaluate(struct asm_context *a,
                     const struct asm_tree *tree,
                     unsigned depth,
                     int64_t *value,
                     int *places);

/* An operand with symbols of its own: a near one of them, and which there are. */
static void suggest_value(struct asm_context *a, const struct asm_symbol *unknown)
{
    const struct facet_operand *o = a->wanted;
    struct facet_nearest search = facet_nearest_to(unknown->name, unknown->length);
    bool letters = o->kind == FACET_OPERAND_LETTERS;
    char list[160] = "";
    size_t used = 0;

    for (const struct facet_symbol *s = o->symbols; s->name != NULL; s++) {
        bool last = s[1].name == NULL;
        int more = snprintf(list + used,
                            sizeof list - used,
                            "%s%s",
                            used == 0                               ? ""
                            : last && letters                       ? " and "
                            : last && o->kind == FACET_OPERAND_ENUM ? " or "
                                                                    : ", ",
                            s->name);

        if (more < 0 || used + (size_t)more >= sizeof list) {
            (void)snprintf(list + used, sizeof list - used, "...");
            break;
        }
        used += (size_t)more;
        if (!letters) {
            facet_nearest_offer(&search, s->name, strlen(s->name));
        }
    }
    facet_asm_hint(a,
                   "%s%.*s%s`%s` takes %s%s%s",
                   search.best != NULL ? "did you mean `" : "",
                   (int)search.best_length,
                   search.best != NULL ? search.best : "",
                   search.best != NULL ? "`? " : "",
                   o->name,
                   letters ? "the letters " : "",
                   list,
                   letters                          ? ", written together"
                   : o->kind == FACET_OPERAND_FLAGS ? ", joined with `|`"
                                                    : "");
}

static void suggest_symbol(struct asm_context *a, const struct asm_symbol *unknown)
{
    struct facet_nearest search = facet_nearest_to(unknown->name, unknown->length);

    if (a->wanted != NULL && a->wanted->symbols != NULL) {
        suggest_value(a, unknown);
        return;
    }
    if (facet_asm_is_register_name(a->isa, unknown->name, unknown->length)) {
        facet_asm_hint(a, "`%s` is a register; expected a number or a label", unknown->name);
        return;
    }
    for (const struct asm_symbol *s = a->first_symbol; s != NULL; s = s->next) {
        if (s->state != ASM_SYMBOL_UNKNOWN) {
            facet_nearest_offer(&search, s->name, s->length);
        }
    }
    facet_asm_suggest(a, &search);
}

static bool evaluate_symbol(
    struct asm_context *a, const struct asm_tree *tree, unsigned depth, int64_t *value, int *places)
{
    struct asm_symbol *s = tree->symbol;
    size_t length = s->length < 80 ? s->length : 80;
    uint8_t state = s->state;
    bool ok;

    if (state == ASM_SYMBOL_UNKNOWN) {
        if (facet_lex_is(s->name[0], FACET_LEX_DIGIT)) {
            return facet_asm_error_in(a,
                                      tree->source,
                                      tree->at,
                                      length + 1,
                                      "no label `%.*s:` after this line",
                                      (int)length,
                                      s->name);
        }
        suggest_symbol(a, s);
        return facet_asm_error_in(
            a, tree->source, tree->at, length, "undefined symbol `%.*s`", (int)length, s->name);
    }
    if (state == ASM_SYMBOL_EVALUATING) {
        return facet_asm_error_in(a,
                                  tree->source,
                                  tree->at,
                                  length,
                                  "`%.*s` is defined in terms of itself",
                                  (int)length,
                                  s->name);
    }
    if (!s->resolved) {
        s->state = ASM_SYMBOL_EVALUATING;
        ok = evaluate(a, facet_asm_tree(a, &s->term), depth + 1, &s->result, &s->places);
        s->state = state;
        s->resolved = true; /* once per symbol: definitions may fan out, and so may complaints */
        if (!ok) {
            s->result = 0;
            s->places = 0;
            return false;
        }
    }
    *value = s->result;
    *places = s->places;
    return true;
}

static int by_place(const void *key, const void *item)
{
    uint64_t address = *(const uint64_t *)key;
    const struct asm_value *place = &((const struct asm_pcrel *)item)->place;
    uint64_t there = place->section->address + (uint64_t)place->number;

    return address < there ? -1 : address > there;
}

static bool evaluate_pcrel_lo(struct asm_context *a,
                              const struct asm_tree *tree,
                              unsigned depth,
                              int64_t *value)
{
    struct asm_pcrel *found;
    int64_t label, distance;
    uint64_t address;
    int places;

    if (!evaluate(a, tree->left, depth + 1, &label, &places)) {
        return false;
    }
    address = (uint64_t)label;
    found = a->pcrel_count == 0
                ? NULL
                : bsearch(&address, a->pcrels, a->pcrel_count, sizeof *a->pcrels, by_place);
    if (found == NULL) {
        facet_asm_hint(a, "%%pcrel_lo names the label of an instruction with %%pcrel_hi");
        return facet_asm_error_in(
            a, tree->source, tree->at, 9, "no %%pcrel_hi at 0x%" PRIx64, address);
    }
    if (!found->resolved) {
        if (!evaluate(a, facet_asm_tree(a, &found->distance), depth + 1, &distance, &places)) {
            return false;
        }
        (void)facet_asm_compute(ASM_OP_LO, distance, 0, &found->low);
        found->resolved = true;
    }
    *value = found->low;
    return true;
}

/* lui extends the sign of bit 31 on the hart; on the tile machine there are 32 bits. */
static bool check_hi(struct asm_context *a, const struct asm_tree *tree, int64_t v, int places)
{
    if (a->isa == FACET_ISA_TILE) {
        if (v < INT32_MIN || v > UINT32_MAX) {
            return facet_asm_error_in(
                a, tree->source, tree->at, 1, "0x%" PRIx64 " does not fit 32 bits", (uint64_t)v);
        }
    } else if (places != 0 && (v < INT32_MIN - 0x800LL || v > INT32_MAX - 0x800LL)) {
        facet_asm_hint(a, "use la or %%pcrel_hi, which reach every address near the code");
        return facet_asm_error_in(a,
                                  tree->source,
                                  tree->at,
                                  1,
                                  "lui cannot make the address 0x%" PRIx64
                                  ": it extends the sign of bit 31",
                                  (uint64_t)v);
    }
    return true;
}

static bool evaluate(
    struct asm_context *a, const struct asm_tree *tree, unsigned depth, int64_t *value, int *places)
{
    int64_t l, r = 0;
    int l_places, r_places = 0;
    const char *wrong;

    if (depth > 2 * ASM_MAX_DEPTH) {
        return facet_asm_error_in(
            a, tree->source, tree->at, 1, "symbols are defined through too many other symbols");
    }
    switch (tree->op) {
    case ASM_OP_VALUE:
        *places = tree->value.section != NULL;
        *value = tree->value.number;
        if (tree->value.section != NULL) {
            *value = (int64_t)((uint64_t)*value + tree->value.section->address);
        }
        return true;
    case ASM_OP_SYMBOL:
        return evaluate_symbol(a, tree, depth, value, places);
    case ASM_OP_PCREL_LO:
        *places = 0;
        return evaluate_pcrel_lo(a, tree, depth, value);
    default:
        break;
    }
    if (!evaluate(a, tree->left, depth + 1, &l, &l_places) ||
        (tree->right != NULL && !evaluate(a, tree->right, depth + 1, &r, &r_places))) {
        return false;
    }
    *places = tree->op == ASM_OP_ADD        ? l_places + r_places
              : tree->op == ASM_OP_SUBTRACT ? l_places - r_places
                                            : 0;
    if (tree->op == ASM_OP_HI && !check_hi(a, tree, l, l_places)) {
        return false;
    }
    wrong = facet_asm_compute((enum asm_op)tree->op, l, r, value);
    if (wrong != NULL) {
        return facet_asm_error_in(a, tree->source, tree->at, 1, "%s", wrong);
    }
    return true;
}

bool facet_asm_evaluate(struct asm_context *a,
                        const struct asm_term *term,
                        int64_t *value,
                        int *places)
{
    struct asm_tree leaf = {.op = ASM_OP_VALUE, .value = term->value};

    return evaluate(a, term->tree != NULL ? term->tree : &leaf, 0, value, places);
}
