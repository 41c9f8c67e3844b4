/* The assembler's symbol table: an open-addressing hash over the exact name, plus a list in order
 * of first mention, which is the order of the object's symbol table.
 *
 * A numeric label `1:` has a slot under its digits with two anonymous symbols: the one last defined
 * (1b) and the one awaited (1f). */
#include "assembler/internal.h"

#include "base/hash.h"

#include <stdlib.h>

static uint32_t hash_of(const char *name, size_t length)
{
    return (uint32_t)facet_hash_bytes(name, length, 0);
}

static struct asm_symbol **
slot_of(struct asm_symbol **table, size_t capacity, const char *name, size_t length, uint32_t hash)
{
    size_t i = hash & (capacity - 1);

    while (table[i] != NULL && (table[i]->hash != hash || table[i]->length != length ||
                                memcmp(table[i]->name, name, length) != 0)) {
        i = (i + 1) & (capacity - 1);
    }
    return &table[i];
}

static void grow(struct asm_context *a)
{
    size_t capacity = a->symbol_capacity != 0 ? 2 * a->symbol_capacity : 1024;
    struct asm_symbol **table = facet_asm_alloc(a, capacity * sizeof(struct asm_symbol *));

    memset(table, 0, capacity * sizeof(struct asm_symbol *));
    for (size_t i = 0; i < a->symbol_capacity; i++) {
        struct asm_symbol *s = a->symbols[i];

        if (s != NULL) {
            *slot_of(table, capacity, s->name, s->length, s->hash) = s;
        }
    }
    a->symbols = table;
    a->symbol_capacity = capacity;
}

static struct asm_symbol *new_symbol(struct asm_context *a, const char *name, size_t length)
{
    struct asm_symbol *s = facet_asm_alloc(a, sizeof *s);
    char *copy = facet_asm_alloc(a, length + 1);

    memset(s, 0, sizeof *s);
    memcpy(copy, name, length);
    copy[length] = '\0';
    s->name = copy;
    s->length = (uint32_t)length;
    s->hidden = length >= 2 && name[0] == '.' && name[1] == 'L';
    return s;
}

struct asm_symbol *facet_asm_symbol(struct asm_context *a, const char *name, size_t length)
{
    uint32_t hash = hash_of(name, length);
    struct asm_symbol **slot;

    if (2 * a->symbol_count >= a->symbol_capacity) {
        grow(a);
    }
    slot = slot_of(a->symbols, a->symbol_capacity, name, length, hash);
    if (*slot == NULL) {
        *slot = new_symbol(a, name, length);
        (*slot)->hash = hash;
        a->symbol_count++;
        *a->last_symbol = *slot;
        a->last_symbol = &(*slot)->next;
    }
    return *slot;
}

struct asm_symbol *facet_asm_symbol_find(const struct asm_context *a, const char *name, size_t len)
{
    if (a->symbol_capacity == 0) {
        return NULL;
    }
    return *slot_of(a->symbols, a->symbol_capacity, name, len, hash_of(name, len));
}

static void define_here(struct asm_context *a, struct asm_symbol *s, const char *at)
{
    s->state = ASM_SYMBOL_LABEL;
    s->term.value = facet_asm_here(a);
    s->term.tree = NULL;
    s->at = at;
    s->source = a->frame->source;
    s->named = true;
}

bool facet_asm_define_label(struct asm_context *a, const char *at, const char *name, size_t length)
{
    struct asm_symbol *s = facet_asm_symbol(a, name, length);

    if (s->state != ASM_SYMBOL_UNKNOWN) {
        if (s->source != NULL) {
            facet_asm_hint(
                a, "first defined at %.80s:%u", s->source->name, facet_asm_line(s->source, s->at));
        }
        return facet_asm_error(
            a, at, length, "`%.*s` is already defined", (int)(length < 80 ? length : 80), name);
    }
    define_here(a, s, at);
    return true;
}

/* The slot of a numeric label. Its name starts with a byte that no written name can hold. */
static struct asm_symbol *slot_of_digits(struct asm_context *a, const char *digits, size_t length)
{
    char name[24] = "\1";
    struct asm_symbol *slot;

    while (length > 1 && digits[0] == '0') {
        digits++;
        length--;
    }
    if (length > sizeof name - 2) {
        (void)facet_asm_error(a, digits, length, "the number of the label is too large");
        length = sizeof name - 2;
    }
    memcpy(name + 1, digits, length);
    slot = facet_asm_symbol(a, name, length + 1);
    slot->hidden = true;
    return slot;
}

struct asm_symbol *
facet_asm_local(struct asm_context *a, const char *digits, size_t length, bool forward)
{
    struct asm_symbol *slot = slot_of_digits(a, digits, length);

    if (!forward) {
        return slot->backward;
    }
    if (slot->forward == NULL) {
        slot->forward = new_symbol(a, slot->name + 1, slot->length - 1);
        slot->forward->hidden = true;
    }
    return slot->forward;
}

void facet_asm_define_local(struct asm_context *a, const char *at, size_t length)
{
    struct asm_symbol *slot = slot_of_digits(a, at, length);
    struct asm_symbol *s = facet_asm_local(a, at, length, true);

    define_here(a, s, at);
    slot->backward = s;
    slot->forward = NULL;
}

bool facet_asm_name(struct asm_context *a, const char **p, const char **name, size_t *length)
{
    const char *q = *p;
    char *copy;
    size_t n = 0;

    if (facet_lex_is(*q, FACET_LEX_START)) {
        *name = q;
        *p = facet_lex_name(q);
        *length = (size_t)(*p - q);
        return true;
    }
    if (*q != '"') {
        return false;
    }
    for (q++; *q != '"'; n++) {
        uint8_t c;

        if (!facet_lex_char(&q, &c) || c < ' ') {
            return false;
        }
    }
    if (n == 0) {
        return false;
    }
    copy = facet_asm_alloc(a, n);
    q = *p + 1;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = 0;

        (void)facet_lex_char(&q, &c);
        copy[i] = (char)c;
    }
    *name = copy;
    *length = n;
    *p = q + 1;
    return true;
}
