/* See counts.h. */
#include "machine/counts.h"

#include "base/hash.h"

void facet_counts_free(struct facet_counts *counts)
{
    free(counts->rows.items);
    free(counts->table);
    *counts = (struct facet_counts){.table = NULL};
}

/* The place of the table where the row is, or could be. */
static uint32_t *
place_of(const struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word)
{
    size_t at =
        facet_hash_mix(facet_hash_step(pc, (uint64_t)core << 32 | word)) & (counts->table_size - 1);

    for (;; at = (at + 1) & (counts->table_size - 1)) {
        const uint32_t n = counts->table[at];
        const struct facet_counts_row *row = n != 0 ? facet_counts_row(counts, n - 1) : NULL;

        if (row == NULL || (row->pc == pc && row->word == word && row->core == core)) {
            return &counts->table[at];
        }
    }
}

/* Room for one more row, at most half of the table taken. */
static bool have_room(struct facet_counts *counts)
{
    const size_t size = counts->table_size == 0 ? 1024 : 2 * counts->table_size;
    uint32_t *old = counts->table;

    if (2 * (counts->rows.count + 1) <= counts->table_size) {
        return true;
    }
    counts->table = size <= UINT32_MAX ? calloc(size, sizeof *counts->table) : NULL;
    if (counts->table == NULL) {
        counts->table = old;
        return false;
    }
    free(old);
    counts->table_size = size;
    for (size_t i = 0; i < counts->rows.count; i++) {
        const struct facet_counts_row *row = facet_counts_row(counts, i);

        *place_of(counts, row->core, row->pc, row->word) = (uint32_t)i + 1;
    }
    return true;
}

void facet_counts_insn(
    struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word, uint64_t times)
{
    struct facet_counts_row *row;
    uint32_t *place;

    if (!have_room(counts)) {
        counts->no_memory = true;
        return;
    }
    place = place_of(counts, core, pc, word);
    if (*place != 0) {
        ((struct facet_counts_row *)counts->rows.items)[*place - 1].retired += times;
        return;
    }
    row = facet_array_add(&counts->rows, 1, sizeof *row);
    if (row == NULL) {
        counts->no_memory = true;
        return;
    }
    *row = (struct facet_counts_row){.pc = pc, .retired = times, .core = core, .word = word};
    *place = (uint32_t)counts->rows.count;
}
