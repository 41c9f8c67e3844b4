/* After the pass: sections get addresses, open places their values, and the object is made.
 *
 * Sections without an address of their own follow each other from the base: code, constants, data,
 * zeros, each group in order of appearance, each section at its alignment. */
#include "assembler/internal.h"

#include <inttypes.h>
#include <stdlib.h>

static unsigned group_of(const struct asm_section *s)
{
    if ((s->flags & FACET_SECTION_ALLOC) == 0) {
        return 4;
    }
    if (s->nobits) {
        return 3;
    }
    if ((s->flags & FACET_SECTION_EXEC) != 0) {
        return 0;
    }
    return (s->flags & FACET_SECTION_WRITE) != 0 ? 2 : 1;
}

static uint64_t space_end(const struct asm_context *a)
{
    return a->isa == FACET_ISA_TILE ? UINT32_MAX : UINT64_MAX;
}

static bool fits(const struct asm_context *a, const struct asm_section *s)
{
    return s->address <= space_end(a) && (s->size == 0 || s->size - 1 <= space_end(a) - s->address);
}

static bool place_sections(struct asm_context *a)
{
    uint64_t at = a->options->has_base ? a->options->base : facet_object_default_base(a->isa);

    for (unsigned group = 0; group < 4; group++) {
        for (struct asm_section *s = a->first_section; s != NULL; s = s->next) {
            if (group_of(s) != group) {
                continue;
            }
            if (!s->placed) {
                s->address = (at + s->align - 1) & ~(s->align - 1);
                if (s->address < at && s->size != 0) {
                    s->address = UINT64_MAX;
                }
            }
            if (!fits(a, s)) {
                return facet_asm_error_in(a,
                                          s->at_source,
                                          s->at,
                                          1,
                                          "section %.60s does not fit the address space",
                                          s->name);
            }
            if (!s->placed) {
                at = s->address + s->size;
            }
        }
    }
    return true;
}

static int by_address(const void *x, const void *y)
{
    const struct asm_section *l = *(struct asm_section *const *)x;
    const struct asm_section *r = *(struct asm_section *const *)y;
    unsigned l_last = group_of(l) == 4, r_last = group_of(r) == 4;

    if (l_last != r_last) {
        return l_last < r_last ? -1 : 1;
    }
    if (l_last == 0 && l->address != r->address) {
        return l->address < r->address ? -1 : 1;
    }
    if (l_last == 0 && (l->size == 0) != (r->size == 0)) { /* empty ones before what follows */
        return l->size == 0 ? -1 : 1;
    }
    return l->index < r->index ? -1 : l->index > r->index;
}

/* All sections in order of address, those that are not loaded last. */
static struct asm_section **sort_sections(struct asm_context *a)
{
    struct asm_section **sorted =
        facet_asm_alloc(a, a->section_count * sizeof(struct asm_section *));
    uint32_t n = 0;

    for (struct asm_section *s = a->first_section; s != NULL; s = s->next) {
        sorted[n++] = s;
    }
    qsort(sorted, n, sizeof(struct asm_section *), by_address);
    return sorted;
}

static bool check_overlap(struct asm_context *a, struct asm_section *const *sorted)
{
    const struct asm_section *before = NULL;

    for (uint32_t i = 0; i < a->section_count; i++) {
        const struct asm_section *s = sorted[i];

        if (group_of(s) == 4 || s->size == 0) {
            continue;
        }
        if (before != NULL && before->address + before->size > s->address) {
            return facet_asm_error_in(a,
                                      s->at_source,
                                      s->at,
                                      1,
                                      "section %.60s at 0x%" PRIx64
                                      " overlaps section %.60s at 0x%" PRIx64 "..0x%" PRIx64,
                                      s->name,
                                      s->address,
                                      before->name,
                                      before->address,
                                      before->address + before->size - 1);
        }
        before = s;
    }
    return true;
}

/* ---- open places ---- */

static bool
fix_datum(struct asm_context *a, const struct asm_fixup *f, uint8_t *place, int64_t value)
{
    unsigned bits = 8u * f->size;

    if (bits < 64) {
        int64_t half = INT64_C(1) << (bits - 1);

        if (value < -half || value >= 2 * half) {
            facet_asm_hint(
                a, "%u bytes hold %" PRId64 " to %" PRId64, f->size, -half, 2 * half - 1);
            return facet_asm_error_in(
                a, f->source, f->at, f->length, "%" PRId64 " does not fit", value);
        }
    }
    for (unsigned i = 0; i < f->size; i++) {
        place[i] = (uint8_t)((uint64_t)value >> (8 * i));
    }
    return true;
}

/* Whether the expansion that f belongs to is the one that stays; the first of its fixups decides,
 * before any word of it is filled in. */
static bool is_chosen(struct asm_context *a, const struct asm_fixup *f)
{
    struct asm_choice *c = f->choice;
    int64_t value;
    int places;

    if (c == NULL) {
        return true;
    }
    if (c->state == ASM_CHOICE_OPEN) {
        if (!facet_asm_evaluate(a, &c->term, &value, &places)) {
            c->state = ASM_CHOICE_FAILED;
        } else if (value < c->low || value > c->high) {
            c->state = ASM_CHOICE_OUTSIDE;
        } else {
            c->state = ASM_CHOICE_INSIDE;
            memcpy(f->section->data + c->offset, c->bytes, (size_t)c->size);
        }
    }
    return c->state == (f->inside ? ASM_CHOICE_INSIDE : ASM_CHOICE_OUTSIDE);
}

static bool fix(struct asm_context *a, const struct asm_fixup *f)
{
    struct asm_term term = {f->value, f->tree};
    uint8_t *place = f->section->data + f->offset;
    uint32_t word = 0;
    int64_t value;
    int places;
    bool known;

    if (!is_chosen(a, f)) {
        return true;
    }
    a->wanted = f->row != NULL ? &f->row->operands[f->operand] : NULL;
    known = facet_asm_evaluate(a, &term, &value, &places);
    a->wanted = NULL;
    if (!known) {
        return false;
    }
    if (f->row == NULL) {
        return fix_datum(a, f, place, value);
    }
    if ((f->row->operands[f->operand].kind == FACET_OPERAND_PCREL ||
         f->row->operands[f->operand].kind == FACET_OPERAND_PCREL_U) &&
        (places != 0 || a->isa == FACET_ISA_XPHMG)) {
        value = (int64_t)((uint64_t)value - (f->section->address + f->offset));
        if (a->isa == FACET_ISA_TILE) { /* addresses wrap at 32 bits */
            value = (int32_t)(uint32_t)value;
        }
    }
    for (unsigned i = 0; i < f->row->length; i++) {
        word |= (uint32_t)place[i] << (8 * i);
    }
    if (!facet_asm_place(a, f->row, f->operand, value, &word, f->source, f->at, f->length)) {
        return false;
    }
    for (unsigned i = 0; i < f->row->length; i++) {
        place[i] = (uint8_t)(word >> (8 * i));
    }
    return true;
}

static int pcrel_order(const void *x, const void *y)
{
    const struct asm_value *l = &((const struct asm_pcrel *)x)->place;
    const struct asm_value *r = &((const struct asm_pcrel *)y)->place;
    uint64_t l_at = l->section->address + (uint64_t)l->number;
    uint64_t r_at = r->section->address + (uint64_t)r->number;

    return l_at < r_at ? -1 : l_at > r_at;
}

/* ---- the object ---- */

static void *object_alloc(struct asm_context *a, size_t count, size_t size)
{
    void *memory = facet_arena_calloc(&a->result->object->arena, count, size);

    if (memory == NULL) {
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    return memory;
}

static const char *object_name(struct asm_context *a, const char *name, size_t length)
{
    char *copy = object_alloc(a, length + 1, 1);

    memcpy(copy, name, length);
    return copy;
}

static void fill_sections(struct asm_context *a, struct asm_section **sorted)
{
    struct facet_object *o = a->result->object;

    o->sections = object_alloc(a, a->section_count, sizeof *o->sections);
    for (uint32_t i = 0; i < a->section_count; i++) {
        struct asm_section *s = sorted[i];
        uint8_t *data = NULL;

        s->object_index = UINT32_MAX;
        if (s->size == 0 && !s->kept) {
            continue;
        }
        if (!s->nobits) {
            data = object_alloc(a, (size_t)s->size + 1, 1);
            if (s->size != 0) {
                memcpy(data, s->data, (size_t)s->size);
            }
        }
        s->object_index = (uint32_t)o->section_count;
        o->sections[o->section_count++] =
            (struct facet_section){.name = object_name(a, s->name, strlen(s->name)),
                                   .address = s->address,
                                   .size = s->size,
                                   .align = s->align,
                                   .flags = s->flags,
                                   .nobits = s->nobits,
                                   .data = data};
    }
}

/* The section of a symbol that is a label or was set to one; NULL for numbers. */
static const struct asm_section *home_of(const struct asm_context *a, const struct asm_symbol *s)
{
    if (s->term.tree == NULL) {
        return s->term.value.section;
    }
    if (s->places == 0) {
        return NULL;
    }
    for (const struct asm_section *home = a->first_section; home != NULL; home = home->next) {
        if ((home->flags & FACET_SECTION_ALLOC) != 0 && (uint64_t)s->result >= home->address &&
            (uint64_t)s->result - home->address <= home->size) {
            return home;
        }
    }
    return NULL;
}

static void fill_symbol(struct asm_context *a, struct asm_symbol *s)
{
    struct facet_object *o = a->result->object;
    struct facet_object_symbol *out = &o->symbols[o->symbol_count];
    struct asm_tree leaf = {.op = ASM_OP_SYMBOL, .symbol = s, .at = s->at, .source = s->source};
    struct asm_term self = {{NULL, 0}, &leaf};
    const struct asm_section *home;
    int64_t value = 0, size = 0;
    int places;

    if (s->state == ASM_SYMBOL_UNKNOWN) {
        return; /* named by .globl only */
    }
    if (!facet_asm_evaluate(a, &self, &value, &places) ||
        !facet_asm_evaluate(a, &s->size, &size, &places)) {
        return;
    }
    if (s->hidden) {
        return;
    }
    home = home_of(a, s);
    *out = (struct facet_object_symbol){
        .name = object_name(a, s->name, s->length),
        .value = a->isa == FACET_ISA_TILE ? (uint32_t)value : (uint64_t)value,
        .size = a->isa == FACET_ISA_TILE ? (uint32_t)size : (uint64_t)size,
        .section = home != NULL && home->object_index != UINT32_MAX ? (int32_t)home->object_index
                                                                    : FACET_SYMBOL_ABSOLUTE,
        .binding = s->binding,
        .type = s->type};
    o->symbol_count++;
}

static void fill_symbols(struct asm_context *a)
{
    struct facet_object *o = a->result->object;

    o->symbols = object_alloc(a, a->symbol_count + 1, sizeof *o->symbols);
    if (a->file_symbol != NULL) {
        o->symbols[o->symbol_count++] = (struct facet_object_symbol){
            .name = object_name(a, a->file_symbol, strlen(a->file_symbol)),
            .section = FACET_SYMBOL_ABSOLUTE,
            .type = FACET_SYMBOL_FILE};
    }
    for (struct asm_symbol *s = a->first_symbol; s != NULL; s = s->next) {
        if (s->named) {
            fill_symbol(a, s);
        }
    }
}

/* .entry, else _start, else the start of .text. */
static uint64_t entry_of(struct asm_context *a)
{
    struct asm_symbol *start = facet_asm_symbol_find(a, "_start", 6);
    int64_t value = (int64_t)a->first_section->address;
    int places;

    if (a->entry_given) {
        (void)facet_asm_evaluate(a, &a->entry, &value, &places);
    } else if (start != NULL && start->state != ASM_SYMBOL_UNKNOWN && start->resolved) {
        value = start->result;
    }
    return a->isa == FACET_ISA_TILE ? (uint32_t)value : (uint64_t)value;
}

/* The line table, of the sections as the object numbers them. */
static void fill_lines(struct asm_context *a)
{
    const struct asm_section *section = a->first_section;

    for (size_t i = 0; i < a->mark_count; i++) {
        while (section->index != a->marks[i].section) {
            section = section->next != NULL ? section->next : a->first_section;
        }
        a->marks[i].section = section->object_index;
    }
    if (a->options->debug &&
        facet_lines_write(a->result->object, a->main_source->path, a->marks, a->mark_count, NULL) !=
            FACET_OK) {
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
}

bool facet_asm_finish(struct asm_context *a)
{
    struct asm_section **sorted;

    if (!place_sections(a)) {
        return false;
    }
    sorted = sort_sections(a);
    if (!check_overlap(a, sorted)) {
        return false;
    }
    if (a->pcrel_count != 0) {
        qsort(a->pcrels, a->pcrel_count, sizeof *a->pcrels, pcrel_order);
    }
    for (size_t i = 0; i < a->fixup_count; i++) {
        a->statement = a->fixups[i].statement;
        a->statement_source = a->fixups[i].source;
        (void)fix(a, &a->fixups[i]);
    }
    a->result->object = facet_object_new(a->isa);
    if (a->result->object == NULL) {
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    fill_sections(a, sorted);
    fill_symbols(a);
    a->result->object->entry = entry_of(a);
    for (size_t i = 0; i < a->result->span_count; i++) {
        struct facet_asm_span *span = &a->result->spans[i];

        for (const struct asm_section *s = a->first_section; s != NULL; s = s->next) {
            if (s->index == span->section) {
                span->section = s->object_index;
                break;
            }
        }
    }
    fill_lines(a);
    if (facet_object_make_segments(a->result->object, NULL) != FACET_OK) {
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    return a->diags->count == 0;
}
