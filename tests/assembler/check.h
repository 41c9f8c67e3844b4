/* What the suites of the assembler check: words, bytes, errors with their places, values. */
#ifndef FACET_TESTS_ASM_CHECK_H
#define FACET_TESTS_ASM_CHECK_H

#include "help.h"

#define XPHMG FACET_ISA_XPHMG
#define TILE FACET_ISA_TILE

/* The text gives exactly these words. */
void check_words(enum facet_isa isa, const char *text, unsigned count, ...);
void check_bytes_of(enum facet_isa isa, const char *text, const char *bytes, size_t size);
#define CHECK_BYTES(isa, text, bytes) check_bytes_of(isa, text, bytes, sizeof(bytes) - 1)
/* Both texts give the same bytes. */
void check_same(enum facet_isa isa, const char *text, const char *other);
/* The first error stands at line:column and its message and hint contain the pieces. */
void check_error(enum facet_isa isa,
                 const char *text,
                 unsigned line,
                 unsigned column,
                 const char *message,
                 const char *hint);
/* Of an expression, as .dword stores it. */
int64_t value_of(enum facet_isa isa, const char *expression);

#endif
