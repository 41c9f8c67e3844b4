/* See diag.h. */
#include "assembler/diag.h"

#include "base/array.h"
#include "base/require.h"

#include <stdlib.h>
#include <string.h>

void facet_diag_list_init(struct facet_diag_list *list)
{
    memset(list, 0, sizeof *list);
    facet_arena_init(&list->arena);
}

void facet_diag_list_free(struct facet_diag_list *list)
{
    free(list->items);
    facet_arena_free(&list->arena);
    memset(list, 0, sizeof *list);
}

static const char *copy(struct facet_diag_list *list, const char *text)
{
    return facet_arena_copy(&list->arena, text, strlen(text));
}

/* An operand that two instructions of an alias read is complained about once. */
static bool is_said(const struct facet_diag_list *list, const struct facet_diag *diag)
{
    const struct facet_diag *last = list->count != 0 ? &list->items[list->count - 1] : NULL;

    return last != NULL && last->line == diag->line && last->column == diag->column &&
           strcmp(last->file, diag->file) == 0 && strcmp(last->message, diag->message) == 0 &&
           strcmp(last->hint, diag->hint) == 0;
}

bool facet_diag_add(struct facet_diag_list *list, const struct facet_diag *diag)
{
    struct facet_diag own = *diag;

    FACET_REQUIRE(diag->line >= 1 && diag->column >= 1 && diag->length >= 1);
    if (is_said(list, diag)) {
        return true;
    }
    if (!facet_array_fit(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        return false;
    }
    own.file = copy(list, diag->file);
    own.message = copy(list, diag->message);
    own.hint = copy(list, diag->hint);
    own.source = copy(list, diag->source);
    if (own.file == NULL || own.message == NULL || own.hint == NULL || own.source == NULL) {
        return false;
    }
    list->items[list->count++] = own;
    return true;
}

/* The second and further bytes of a character in UTF-8 take no column of their own. */
static bool continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void format_source(const struct facet_diag *d, struct facet_strbuf *out)
{
    size_t length = strlen(d->source);

    facet_strbuf_printf(out, "    %s\n    ", d->source);
    for (size_t i = 0; i + 1 < d->column; i++) {
        if (i >= length || !continues(d->source[i])) {
            facet_strbuf_putc(out, i < length && d->source[i] == '\t' ? '\t' : ' ');
        }
    }
    facet_strbuf_putc(out, '^');
    for (size_t i = 1; i < d->length && d->column - 1 + i < length; i++) {
        if (!continues(d->source[d->column - 1 + i])) {
            facet_strbuf_putc(out, '~');
        }
    }
    facet_strbuf_putc(out, '\n');
}

void facet_diag_format_lines(const struct facet_diag *d, struct facet_strbuf *out)
{
    if (d->source[0] != '\0') {
        format_source(d, out);
    }
    if (d->hint[0] != '\0') {
        facet_strbuf_printf(out, "    hint: %s\n", d->hint);
    }
}

void facet_diag_format(const struct facet_diag_list *list, struct facet_strbuf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct facet_diag *d = &list->items[i];

        facet_strbuf_printf(out, "%s:%u:%u: error: %s\n", d->file, d->line, d->column, d->message);
        facet_diag_format_lines(d, out);
    }
}
