/* Names and source lines of addresses, out of an ELF file. */
#ifndef FACET_COSIM_SYMBOLS_H
#define FACET_COSIM_SYMBOLS_H

#include "base/strbuf.h"
#include "object/lines.h"

struct facet_symbols {
    struct facet_object *object; /* NULL: none */
    uint32_t *order;             /* symbols of code by rising address */
    size_t count;
    struct facet_lines lines;
};

enum facet_status facet_symbols_read(struct facet_symbols *symbols,
                                     const void *elf,
                                     size_t size,
                                     struct facet_error *err);
void facet_symbols_free(struct facet_symbols *symbols);
/* Appends " <main+0x10> main.c:12", or what is known of it. */
void facet_symbols_print(const struct facet_symbols *symbols,
                         uint64_t address,
                         struct facet_strbuf *out);

#endif
