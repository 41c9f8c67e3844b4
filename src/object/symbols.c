/* See symbols.h. */
#include "object/symbols.h"

#include "base/plain.h"
#include "object/elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void facet_symbols_free(struct facet_symbols *symbols)
{
    if (symbols->owned) {
        facet_object_free(symbols->object);
    }
    free(symbols->order);
    *symbols = (struct facet_symbols){0};
}

static bool names_code(const struct facet_object *object, const struct facet_object_symbol *symbol)
{
    return symbol->section >= 0 && (size_t)symbol->section < object->section_count &&
           (object->sections[symbol->section].flags & FACET_SECTION_EXEC) != 0 &&
           (symbol->type == FACET_SYMBOL_NOTYPE || symbol->type == FACET_SYMBOL_FUNC) &&
           symbol->name[0] != '\0' && symbol->name[0] != '$' && symbol->name[0] != '.';
}

/* Insertion by halves would be quadratic in moves; a heap is enough and needs no context. */
static bool is_before(const struct facet_object *object, uint32_t a, uint32_t b)
{
    uint64_t left = object->symbols[a].value, right = object->symbols[b].value;

    return left != right ? left < right : a < b;
}

static void sift(const struct facet_object *object, uint32_t *order, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        uint32_t top = order[at];

        child += child + 1 < count && is_before(object, order[child], order[child + 1]);
        if (!is_before(object, top, order[child])) {
            break;
        }
        order[at] = order[child];
        order[child] = top;
    }
}

static void sort(const struct facet_object *object, uint32_t *order, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        sift(object, order, i, count);
    }
    for (size_t end = count; end > 1;) {
        uint32_t top = order[0];

        order[0] = order[--end];
        order[end] = top;
        sift(object, order, 0, end);
    }
}

enum facet_status facet_symbols_read(struct facet_symbols *symbols,
                                     const void *elf,
                                     size_t size,
                                     struct facet_error *err)
{
    struct facet_object *object;
    enum facet_status status = facet_elf_read(elf, size, &object, err);

    if (status != FACET_OK) {
        return status;
    }
    status = facet_symbols_of(symbols, object, err);
    if (status == FACET_OK) {
        symbols->owned = true;
    } else {
        facet_object_free(object);
    }
    return status;
}

enum facet_status facet_symbols_of(struct facet_symbols *symbols,
                                   struct facet_object *object,
                                   struct facet_error *err)
{
    struct facet_symbols fresh = {.object = object};
    enum facet_status status = facet_lines_read(object, &fresh.lines, err);

    if (status == FACET_ERR_MEMORY) { /* names are there without lines, too */
        return status;
    }
    fresh.order = malloc((fresh.object->symbol_count + 1) * sizeof *fresh.order);
    if (fresh.order == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for symbols");
    }
    for (size_t i = 0; i < fresh.object->symbol_count; i++) {
        if (names_code(fresh.object, &fresh.object->symbols[i])) {
            fresh.order[fresh.count++] = (uint32_t)i;
        }
    }
    sort(fresh.object, fresh.order, fresh.count);
    facet_symbols_free(symbols);
    *symbols = fresh;
    return FACET_OK;
}

const struct facet_object_symbol *facet_symbols_find(const struct facet_symbols *symbols,
                                                     uint64_t address)
{
    const struct facet_object_symbol *symbol;
    const struct facet_section *section;
    size_t low = 0, high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->object->symbols[symbols->order[middle]].value <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    symbol = &symbols->object->symbols[symbols->order[low - 1]];
    section = &symbols->object->sections[symbol->section];
    return address - section->address < section->size ? symbol : NULL;
}

void facet_symbols_put_name(struct facet_strbuf *out, const char *name)
{
    char shown[256];

    facet_plain_text(shown, sizeof shown, name, strlen(name));
    facet_strbuf_puts(out, shown);
}

void facet_symbols_print(const struct facet_symbols *symbols,
                         uint64_t address,
                         struct facet_strbuf *out)
{
    const struct facet_object_symbol *symbol = facet_symbols_find(symbols, address);
    const struct facet_line_row *row = facet_lines_find(&symbols->lines, address);

    if (symbol != NULL) {
        facet_strbuf_puts(out, " <");
        facet_symbols_put_name(out, symbol->name);
        if (address != symbol->value) {
            facet_strbuf_printf(out, "+0x%" PRIx64, address - symbol->value);
        }
        facet_strbuf_puts(out, ">");
    }
    if (row != NULL) {
        facet_strbuf_puts(out, " ");
        facet_symbols_put_name(out, row->file);
        facet_strbuf_printf(out, ":%" PRIu32, row->line);
    }
}
