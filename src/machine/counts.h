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
    /* Of instructions under a mask: the sums of their active lanes and of all their lanes. */
    uint64_t active, lanes;
    uint32_t core;
    uint32_t word; /* the instruction; one of 16 bits has zeros above */
};

/* Accesses of one size to one class of memory; the name is a static string. */
struct facet_counts_memory {
    const char *class;
    uint32_t bytes;
    uint64_t accesses;
};

/* A named number in a section, both static strings: a sum over the run, or the member of an entry
 * (`entry` counts from 1) of a section that is a list. `text`, static as well, replaces a number.
 */
struct facet_counts_value {
    const char *section, *name, *text;
    uint64_t number;
    uint32_t entry; /* 0: a sum */
};

/* All zero: empty. */
struct facet_counts {
    struct facet_array rows;   /* of struct facet_counts_row, in the order of their first arrival */
    struct facet_array memory; /* of struct facet_counts_memory */
    struct facet_array sums;   /* of struct facet_counts_value */
    struct facet_array list;   /* of struct facet_counts_value, entry by entry */
    uint32_t entries;
    struct facet_counts_value lost; /* what is counted without memory */
    uint32_t *table;                /* place of a row + 1 by its hash; 0: free */
    size_t table_size;              /* a power of two */
    bool no_memory;
};

void facet_counts_free(struct facet_counts *counts);
/* The instruction retired `times` more. */
void facet_counts_insn(
    struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word, uint64_t times);

/* Lanes of an instruction that ran under a mask, in the row of facet_counts_insn. */
void facet_counts_lanes(struct facet_counts *counts,
                        uint32_t core,
                        uint64_t pc,
                        uint32_t word,
                        uint64_t active,
                        uint64_t lanes);
/* Nothing happens for 0 accesses. */
void facet_counts_memory(struct facet_counts *counts,
                         const char *class,
                         uint32_t bytes,
                         uint64_t accesses);
/* Adds to a sum, which is there from then on, also as 0. */
void facet_counts_add(struct facet_counts *counts,
                      const char *section,
                      const char *name,
                      uint64_t more);
/* The same for the largest of several. */
void facet_counts_most(struct facet_counts *counts,
                       const char *section,
                       const char *name,
                       uint64_t value);
/* Begins an entry of a list; what is put belongs to the last one begun. */
void facet_counts_entry(struct facet_counts *counts);
void facet_counts_put(struct facet_counts *counts,
                      const char *section,
                      const char *name,
                      uint64_t number,
                      const char *text);
/* Rows, memory and sums of `more` are added, its lists appended. */
void facet_counts_merge(struct facet_counts *counts, const struct facet_counts *more);

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
