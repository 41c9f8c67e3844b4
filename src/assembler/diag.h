/* What is wrong with a source text: a list of complaints, each with its place.
 *
 * The assembler fills the list and prints nothing; a front end shows it the way compilers do:
 *
 *     kernel.s:3:9: error: unknown register `a9`
 *         add a0, a9, a1
 *                 ^~
 *         hint: did you mean `a0`? */
#ifndef FACET_ASSEMBLER_DIAG_H
#define FACET_ASSEMBLER_DIAG_H

#include "base/arena.h"
#include "base/nearest.h"
#include "base/strbuf.h"

#include <stdint.h>

struct facet_diag {
    const char *file;
    uint32_t line;       /* from 1 */
    uint32_t column;     /* from 1, in bytes */
    uint32_t length;     /* bytes to underline, at least 1 */
    const char *message; /* "unknown register `a9`" */
    const char *hint;    /* what was expected or a near miss, "" for none */
    const char *source;  /* the line of text, "" when there is none to show */
};

struct facet_diag_list {
    struct facet_diag *items;
    size_t count;
    size_t capacity;
    struct facet_arena arena; /* owns the strings */
};

void facet_diag_list_init(struct facet_diag_list *list);
void facet_diag_list_free(struct facet_diag_list *list);
/* Copies every string. On lack of memory the complaint is dropped and false comes back. */
bool facet_diag_add(struct facet_diag_list *list, const struct facet_diag *diag);
/* What stands below the message: the line with a caret, and the hint. */
void facet_diag_format_lines(const struct facet_diag *diag, struct facet_strbuf *out);
/* The whole list as text, one block per complaint. */
void facet_diag_format(const struct facet_diag_list *list, struct facet_strbuf *out);

#endif
