/* Words in hexadecimal as Verilog's $readmemh reads them into a memory of 32-bit words:
 *
 *   0500012f        one little-endian word per line, no 0x
 *   @00000100       the index of the next word, where it does not follow the last one
 *
 * Indexes count words from the lowest loaded address, so that word 0 is the first word of the
 * program; the address itself is not in the file. Reading takes what $readmemh takes: comments,
 * blanks, `_` between digits; not the digits x and z. */
#ifndef FACET_OBJECT_HEX_H
#define FACET_OBJECT_HEX_H

#include "base/error.h"
#include "base/strbuf.h"
#include "object/object.h"

/* Bytes of a word that no section holds are zero. Lack of memory shows in out->failed. */
void facet_hex_write(const struct facet_object *object, struct facet_strbuf *out);

/* Index 0 is `base`, a multiple of 4. Each run of words is an executable section; the entry is the
 * lowest word. Errors name the line. */
enum facet_status facet_hex_read(enum facet_isa isa,
                                 const char *text,
                                 size_t size,
                                 uint64_t base,
                                 struct facet_object **out,
                                 struct facet_error *err);

#endif
