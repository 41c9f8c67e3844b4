/* See hex.h. */
#include "object/hex.h"

#include "base/array.h"
#include "base/require.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static bool holds_bytes(const struct facet_section *s)
{
    return (s->flags & FACET_SECTION_ALLOC) != 0 && !s->nobits && s->size != 0;
}

/* The section with bytes that comes next at or above the address; sections do not overlap. */
static const struct facet_section *next_section(const struct facet_object *object, uint64_t from)
{
    const struct facet_section *best = NULL;

    for (size_t i = 0; i < object->section_count; i++) {
        const struct facet_section *s = &object->sections[i];

        if (holds_bytes(s) && s->address >= from && (best == NULL || s->address < best->address)) {
            best = s;
        }
    }
    return best;
}

/* The word that is being put together. */
struct writer {
    struct facet_strbuf *out;
    uint64_t index, follows; /* its index, and the one that needs no `@` */
    uint32_t word;
    bool open;
};

static void flush(struct writer *w)
{
    if (!w->open) {
        return;
    }
    if (w->index != w->follows) {
        facet_strbuf_printf(w->out, "@%08" PRIx64 "\n", w->index);
    }
    facet_strbuf_printf(w->out, "%08" PRIx32 "\n", w->word);
    w->follows = w->index + 1;
    w->word = 0;
    w->open = false;
}

void facet_hex_write(const struct facet_object *object, struct facet_strbuf *out)
{
    const struct facet_section *s = next_section(object, 0);
    uint64_t lowest = s != NULL ? s->address & ~UINT64_C(3) : 0;
    struct writer w = {.out = out};

    while (s != NULL) {
        uint64_t offset = s->address - lowest, last = s->address + (s->size - 1);

        for (uint64_t i = 0; i < s->size; i++, offset++) {
            if (offset / 4 != w.index) {
                flush(&w);
            }
            w.open = true;
            w.index = offset / 4;
            w.word |= (uint32_t)s->data[i] << 8 * (offset % 4);
        }
        s = last != UINT64_MAX ? next_section(object, last + 1) : NULL;
    }
    flush(&w);
}

/* ---- reading ---- */

struct run {
    uint64_t index;
    size_t first, count; /* in words */
};

struct reader {
    const char *p, *end;
    size_t line, comment;  /* the comment without an end begins in this line, or 0 */
    uint64_t index, limit; /* of the next word; one more than the last index */
    uint8_t *words;
    size_t count, capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    struct facet_error *err;
};

static enum facet_status no_memory(const struct reader *r)
{
    return facet_fail(r->err, FACET_ERR_MEMORY, 0, "out of memory");
}

/* To the next token; false at the end or in a comment without one. */
static bool next_token(struct reader *r)
{
    bool line = false, block = false;

    for (; r->p < r->end; r->p++) {
        char next = r->p + 1 < r->end ? r->p[1] : '\0';

        r->line += *r->p == '\n';
        if (line || block) {
            line = line && *r->p != '\n';
            if (block && *r->p == '*' && next == '/') {
                block = false;
                r->comment = 0;
                r->p++;
            }
        } else if (*r->p == '/' && (next == '/' || next == '*')) {
            line = next == '/';
            block = next == '*';
            r->comment = block ? r->line : 0;
            r->p++;
        } else if (strchr(" \t\r\n\f", *r->p) == NULL || *r->p == '\0') {
            return true;
        }
    }
    return false;
}

/* Hexadecimal digits, `_` between them; at most `most` digits. */
static bool read_digits(struct reader *r, unsigned most, uint64_t *value)
{
    unsigned digits = 0;

    *value = 0;
    for (; r->p < r->end; r->p++) {
        char c = *r->p, lower = (char)(c | 32);

        if (c == '_' && digits != 0) {
            continue;
        }
        if (!((c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f'))) {
            break;
        }
        *value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : lower - 'a' + 10);
        if (++digits > most) {
            return false;
        }
    }
    return digits != 0 && (r->p == r->end || strchr(" \t\r\n\f/", *r->p) != NULL);
}

static enum facet_status bad_token(const struct reader *r, const char *at)
{
    int length = 0;

    while (at + length < r->end && length < 40 && strchr(" \t\r\n", at[length]) == NULL) {
        length++;
    }
    return facet_fail(r->err,
                      FACET_ERR_INPUT,
                      r->line,
                      "line %zu: '%.*s' is not a word; expected up to 8 hexadecimal digits without "
                      "0x, or @INDEX",
                      r->line,
                      length,
                      at);
}

static enum facet_status add_word(struct reader *r, uint32_t word)
{
    struct run *last = r->run_count != 0 ? &r->runs[r->run_count - 1] : NULL;

    if (r->index >= r->limit) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->line,
                          "line %zu: word 0x%" PRIx64 " lies beyond the end of the address space",
                          r->line,
                          r->index);
    }
    if (!facet_array_fit(&r->words, &r->capacity, r->count + 1, 4)) {
        return no_memory(r);
    }
    if (last == NULL || last->index + last->count != r->index) {
        if (!facet_array_fit(&r->runs, &r->run_capacity, r->run_count + 1, sizeof *r->runs)) {
            return no_memory(r);
        }
        last = &r->runs[r->run_count++];
        *last = (struct run){r->index, r->count, 0};
    }
    for (unsigned i = 0; i < 4; i++) {
        r->words[4 * r->count + i] = (uint8_t)(word >> 8 * i);
    }
    r->count++;
    r->index++;
    last->count++;
    return FACET_OK;
}

static enum facet_status read_all(struct reader *r)
{
    while (next_token(r)) {
        const char *start = r->p;
        bool is_index = *start == '@';
        enum facet_status status = FACET_OK;
        uint64_t value;

        r->p += is_index;
        if (!read_digits(r, is_index ? 15 : 8, &value)) {
            return bad_token(r, start);
        }
        if (is_index) {
            r->index = value;
        } else {
            status = add_word(r, (uint32_t)value);
        }
        if (status != FACET_OK) {
            return status;
        }
    }
    if (r->comment != 0) {
        return facet_fail(r->err,
                          FACET_ERR_INPUT,
                          r->comment,
                          "line %zu: unterminated comment, expected */",
                          r->comment);
    }
    return FACET_OK;
}

static int by_index(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

static enum facet_status make_sections(struct reader *r, uint64_t base, struct facet_object *object)
{
    uint8_t *copy = facet_arena_alloc(&object->arena, 4 * r->count, 1);

    object->sections =
        facet_arena_calloc(&object->arena, r->run_count + 1, sizeof *object->sections);
    if (copy == NULL || object->sections == NULL) {
        return no_memory(r);
    }
    if (r->count != 0) {
        memcpy(copy, r->words, 4 * r->count);
        qsort(r->runs, r->run_count, sizeof *r->runs, by_index);
        object->entry = base + 4 * r->runs[0].index;
    }
    for (size_t i = 0; i < r->run_count; i++) {
        const struct run *run = &r->runs[i];
        char name[32];

        if (i != 0 && run[-1].index + run[-1].count > run->index) {
            return facet_fail(r->err,
                              FACET_ERR_INPUT,
                              run->index,
                              "word 0x%" PRIx64 " is given twice",
                              run->index);
        }
        (void)snprintf(name, sizeof name, i == 0 ? ".text" : ".text.%zu", i);
        object->sections[i] =
            (struct facet_section){.name = facet_arena_copy(&object->arena, name, strlen(name)),
                                   .address = base + 4 * run->index,
                                   .size = 4 * run->count,
                                   .align = 4,
                                   .flags = FACET_SECTION_ALLOC | FACET_SECTION_EXEC,
                                   .data = copy + 4 * run->first};
        if (object->sections[i].name == NULL) {
            return no_memory(r);
        }
    }
    object->section_count = r->run_count;
    return facet_object_make_segments(object, r->err);
}

enum facet_status facet_hex_read(enum facet_isa isa,
                                 const char *text,
                                 size_t size,
                                 uint64_t base,
                                 struct facet_object **out,
                                 struct facet_error *err)
{
    uint64_t space = isa == FACET_ISA_TILE ? UINT32_MAX : UINT64_MAX;
    struct reader r = {.p = text, .end = text + size, .line = 1, .err = err};
    struct facet_object *object = facet_object_new(isa);
    enum facet_status status;

    FACET_REQUIRE(base % 4 == 0);
    *out = NULL;
    r.limit = base <= space ? (space - base) / 4 + 1 : 0;
    status = object != NULL ? read_all(&r) : no_memory(&r);
    if (status == FACET_OK) {
        object->entry = base;
        status = make_sections(&r, base, object);
    }
    free(r.words);
    free(r.runs);
    if (status != FACET_OK) {
        facet_object_free(object);
        return status;
    }
    *out = object;
    return FACET_OK;
}
