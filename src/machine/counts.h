/* What a machine counts for a profile (docs/profile.md): how often each instruction retired,
 * exactly, and named counters in sections, whatever a machine has to say besides.
 *
 * A machine that counts (facet_machine_count) adds to the counts that it was given, at the latest
 * when it is asked to stop. Lack of memory is remembered and told once, by whoever reads. */
#ifndef FACET_MACHINE_COUNTS_H
#define FACET_MACHINE_COUNTS_H

#include "base/array.h"

#include <facet/machine.h>

/* One instruction in one place: where code is overwritten, each word has its own row. */
struct facet_counts_row {
    uint64_t pc;
    uint64_t retired;
    uint32_t core;
    uint32_t word; /* the instruction; one of 16 bits has zeros above */
};

/* All zero: empty. */
struct facet_counts {
    struct facet_array rows; /* of struct facet_counts_row, in the order of their first arrival */
    uint32_t *table;         /* place of a row + 1 by its hash; 0: free */
    size_t table_size;       /* a power of two */
    bool no_memory;
};

void facet_counts_free(struct facet_counts *counts);
/* The instruction retired `times` more. */
void facet_counts_insn(
    struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word, uint64_t times);

/* Counts what the machine does from now on, until it is asked to count elsewhere or, with NULL, not
 * any more; `counts` is complete only then and must live until then. FACET_ERR_USAGE for a kind of
 * machine that does not count. */
enum facet_status
facet_machine_count(facet_machine *machine, struct facet_counts *counts, struct facet_error *err);

static inline const struct facet_counts_row *facet_counts_row(const struct facet_counts *counts,
                                                              size_t i)
{
    return &((const struct facet_counts_row *)counts->rows.items)[i];
}

#endif
