/* A program back to assembly text. For an executable or flat file the text assembles to the same
 * sections, bytes, addresses, symbols and entry point: code that is not an instruction, or that has
 * bits the syntax does not show, is written as data; branch targets without a symbol get labels
 * .Lhex. */
#ifndef FACET_ASSEMBLER_DISASSEMBLE_H
#define FACET_ASSEMBLER_DISASSEMBLE_H

#include "base/strbuf.h"
#include "isa/isa.h"
#include "object/object.h"

/* One instruction or datum. The text lives until the visitor returns. */
struct facet_dis_line {
    const struct facet_section *section;
    uint64_t address;
    uint64_t size;                    /* bytes */
    uint32_t word;                    /* the first bytes, little-endian */
    const struct facet_insn_row *row; /* NULL for data and illegal words */
    const char *label;                /* NULL for none */
    const char *text;                 /* what assembles to these bytes */
    const char *note; /* the instruction that a .word with hidden bits would be, or NULL */
};

/* Called for every line in order of the sections; false ends the walk. */
typedef bool facet_dis_visitor(void *context, const struct facet_dis_line *line);

enum facet_status facet_dis_walk(const struct facet_object *object,
                                 facet_dis_visitor *visit,
                                 void *context,
                                 struct facet_error *err);

/* The whole program as text for the assembler. `name` goes into the first comment. */
enum facet_status facet_disassemble(const struct facet_object *object,
                                    const char *name,
                                    struct facet_strbuf *out,
                                    struct facet_error *err);

#endif
