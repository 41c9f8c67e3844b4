/* See counts.h. */
#include "machine/counts.h"

#include "base/hash.h"

#include <string.h>

void facet_counts_free(struct facet_counts *counts)
{
    free(counts->rows.items);
    free(counts->memory.items);
    free(counts->sums.items);
    free(counts->list.items);
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

/* The row, a new one if need be; NULL without memory. */
static struct facet_counts_row *
row_of(struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word)
{
    struct facet_counts_row *row = NULL;
    uint32_t *place;

    if (!have_room(counts)) {
        counts->no_memory = true;
        return NULL;
    }
    place = place_of(counts, core, pc, word);
    if (*place != 0) {
        return &((struct facet_counts_row *)counts->rows.items)[*place - 1];
    }
    row = facet_array_add(&counts->rows, 1, sizeof *row);
    if (row == NULL) {
        counts->no_memory = true;
        return NULL;
    }
    *row = (struct facet_counts_row){.pc = pc, .core = core, .word = word};
    *place = (uint32_t)counts->rows.count;
    return row;
}

void facet_counts_insn(
    struct facet_counts *counts, uint32_t core, uint64_t pc, uint32_t word, uint64_t times)
{
    struct facet_counts_row *row = row_of(counts, core, pc, word);

    if (row != NULL) {
        row->retired += times;
    }
}

void facet_counts_lanes(struct facet_counts *counts,
                        uint32_t core,
                        uint64_t pc,
                        uint32_t word,
                        uint64_t active,
                        uint64_t lanes)
{
    struct facet_counts_row *row = row_of(counts, core, pc, word);

    if (row != NULL) {
        row->active += active;
        row->lanes += lanes;
    }
}

void facet_counts_memory(struct facet_counts *counts,
                         const char *class,
                         uint32_t bytes,
                         uint64_t accesses)
{
    struct facet_counts_memory *list = counts->memory.items;

    if (accesses == 0) {
        return;
    }
    for (size_t i = 0; i < counts->memory.count; i++) {
        if (list[i].bytes == bytes && strcmp(list[i].class, class) == 0) {
            list[i].accesses += accesses;
            return;
        }
    }
    list = facet_array_add(&counts->memory, 1, sizeof *list);
    if (list == NULL) {
        counts->no_memory = true;
        return;
    }
    *list = (struct facet_counts_memory){class, bytes, accesses};
}

/* What `text` of a sum says when it is the largest of several. */
static const char MOST[] = "most";

/* The sum, a new one if need be; without memory one that nobody reads. */
static struct facet_counts_value *
sum_of(struct facet_counts *counts, const char *section, const char *name)
{
    struct facet_counts_value *list = counts->sums.items;

    for (size_t i = 0; i < counts->sums.count; i++) {
        if (strcmp(list[i].section, section) == 0 && strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    list = facet_array_add(&counts->sums, 1, sizeof *list);
    if (list == NULL) {
        counts->no_memory = true;
        return &counts->lost;
    }
    *list = (struct facet_counts_value){.section = section, .name = name};
    return list;
}

void facet_counts_add(struct facet_counts *counts,
                      const char *section,
                      const char *name,
                      uint64_t more)
{
    sum_of(counts, section, name)->number += more;
}

void facet_counts_most(struct facet_counts *counts,
                       const char *section,
                       const char *name,
                       uint64_t value)
{
    struct facet_counts_value *sum = sum_of(counts, section, name);

    sum->text = MOST;
    sum->number = value > sum->number ? value : sum->number;
}

void facet_counts_entry(struct facet_counts *counts)
{
    counts->entries++;
}

void facet_counts_put(struct facet_counts *counts,
                      const char *section,
                      const char *name,
                      uint64_t number,
                      const char *text)
{
    struct facet_counts_value *value = facet_array_add(&counts->list, 1, sizeof *value);

    if (value == NULL) {
        counts->no_memory = true;
        return;
    }
    *value = (struct facet_counts_value){section, name, text, number, counts->entries};
}

void facet_counts_merge(struct facet_counts *counts, const struct facet_counts *more)
{
    const struct facet_counts_memory *memory = more->memory.items;
    const struct facet_counts_value *sums = more->sums.items, *list = more->list.items;
    uint32_t last = 0;

    for (size_t i = 0; i < more->rows.count; i++) {
        const struct facet_counts_row *row = facet_counts_row(more, i);

        facet_counts_insn(counts, row->core, row->pc, row->word, row->retired);
        facet_counts_lanes(counts, row->core, row->pc, row->word, row->active, row->lanes);
    }
    for (size_t i = 0; i < more->memory.count; i++) {
        facet_counts_memory(counts, memory[i].class, memory[i].bytes, memory[i].accesses);
    }
    for (size_t i = 0; i < more->sums.count; i++) {
        (sums[i].text != NULL ? facet_counts_most : facet_counts_add)(
            counts, sums[i].section, sums[i].name, sums[i].number);
    }
    for (size_t i = 0; i < more->list.count; i++) {
        if (list[i].entry != last) {
            facet_counts_entry(counts);
            last = list[i].entry;
        }
        facet_counts_put(counts, list[i].section, list[i].name, list[i].number, list[i].text);
    }
    counts->no_memory |= more->no_memory;
}
