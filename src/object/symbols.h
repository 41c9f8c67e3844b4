/* Names and source lines of addresses, out of a program or an ELF file. */
#ifndef FACET_OBJECT_SYMBOLS_H
#define FACET_OBJECT_SYMBOLS_H

#include "base/strbuf.h"
#include "object/lines.h"

struct facet_symbols {
    struct facet_object *object; /* NULL: none */
    bool owned;                  /* the object goes with the symbols */
    uint32_t *order;             /* symbols of code by rising address */
    size_t count;
    struct facet_lines lines;
};

/* Of a program that must outlive them; lines that are damaged are none. FACET_ERR_MEMORY leaves the
 * symbols as they were, here and below. */
enum facet_status facet_symbols_of(struct facet_symbols *symbols,
                                   struct facet_object *object,
                                   struct facet_error *err);
enum facet_status facet_symbols_read(struct facet_symbols *symbols,
                                     const void *elf,
                                     size_t size,
                                     struct facet_error *err);
void facet_symbols_free(struct facet_symbols *symbols);
/* The symbol that an address lies behind, or NULL. */
const struct facet_object_symbol *facet_symbols_find(const struct facet_symbols *symbols,
                                                     uint64_t address);
/* A name out of a file, which may hold anything, as it may be shown in a line. */
void facet_symbols_put_name(struct facet_strbuf *out, const char *name);
/* Appends " <main+0x10> main.c:12", or what is known of it. */
void facet_symbols_print(const struct facet_symbols *symbols,
                         uint64_t address,
                         struct facet_strbuf *out);

#endif
