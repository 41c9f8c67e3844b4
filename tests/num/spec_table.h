/* Reads the markdown tables of spec/numeric.md, so that the golden vectors are tested as they stand
 * in the contract. */
#ifndef FACET_TESTS_NUM_SPEC_TABLE_H
#define FACET_TESTS_NUM_SPEC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { SPEC_CELLS = 10, SPEC_CELL = 200 };

typedef void spec_row_fn(const char *const cells[], unsigned count, void *context);

/* Calls `row` for every data row of the first table after the heading line that starts with
 * `heading`; returns how many there were (0 when the file or heading is missing). Cells are
 * trimmed and stripped of backquotes. */
unsigned spec_table(const char *heading, spec_row_fn *row, void *context);

/* Is the word a member of a list separated by spaces and commas? */
bool spec_has_word(const char *list, const char *word);
/* Bits of EXC.ST and STAT for a list of their names (`NX OF SAT_HIT`). */
unsigned spec_flags_named(const char *list);
/* The number after "key=" in such a list, or `fallback`. */
long spec_value(const char *list, const char *key, long fallback);

#endif
