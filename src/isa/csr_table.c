/* See csr_table.h. */
#include "isa/csr_table.h"

#include "isa/isa.h"

#include <string.h>

static struct facet_field_desc *make_fields(struct facet_arena *arena,
                                            const struct facet_csr_row *row)
{
    static const uint8_t access[] = {[FACET_CSR_RO] = FACET_FIELD_RO,
                                     [FACET_CSR_RW] = FACET_FIELD_RW,
                                     [FACET_CSR_W1C] = FACET_FIELD_W1C,
                                     [FACET_CSR_WARL] = FACET_FIELD_WARL,
                                     [FACET_CSR_W1A] = FACET_FIELD_W1A,
                                     [FACET_CSR_WC] = FACET_FIELD_WC};
    struct facet_field_desc *fields = facet_arena_calloc(arena, row->field_count, sizeof *fields);

    for (unsigned i = 0; fields != NULL && i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];

        fields[i] = (struct facet_field_desc){f->name, f->hi, f->lo, access[f->access], f->meaning};
    }
    return fields;
}

static bool add_row(struct facet_csr_table *t, const struct facet_csr_row *row)
{
    struct facet_field_desc *fields = make_fields(&t->arena, row);

    for (uint32_t k = 0; fields != NULL && k < row->count; k++) {
        uint32_t number = row->number + k * row->stride;
        char name[64];
        size_t length = facet_csr_name(row, number, name, sizeof name);
        const char *copy = facet_arena_copy(&t->arena, name, length);

        if (copy == NULL || length >= sizeof name || number >= FACET_CSR_LIMIT) {
            return false;
        }
        t->index[number] = (uint16_t)t->count;
        t->csrs[t->count++] =
            (struct facet_csr_desc){copy, number, row->width, row->field_count, fields};
    }
    if (row->alias != 0) {
        t->index[row->alias] = t->index[row->number];
    }
    return fields != NULL;
}

enum facet_status facet_csr_table_make(struct facet_csr_table *t,
                                       facet_csr_present *present,
                                       const void *machine,
                                       struct facet_error *err)
{
    uint32_t count = 0;
    bool good;

    facet_arena_init(&t->arena);
    t->count = 0;
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        count += present(machine, &facet_csr_rows[i]) ? facet_csr_rows[i].count : 0;
    }
    t->csrs = facet_arena_calloc(&t->arena, count, sizeof *t->csrs);
    t->index = facet_arena_alloc(&t->arena, FACET_CSR_LIMIT * sizeof *t->index, _Alignof(uint16_t));
    good = t->csrs != NULL && t->index != NULL;
    if (good) {
        memset(t->index, 0xFF, FACET_CSR_LIMIT * sizeof *t->index);
    }
    for (size_t i = 0; good && i < facet_csr_row_count; i++) {
        good = !present(machine, &facet_csr_rows[i]) || add_row(t, &facet_csr_rows[i]);
    }
    if (!good) {
        facet_csr_table_free(t);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the CSR tables");
    }
    return FACET_OK;
}

void facet_csr_table_free(struct facet_csr_table *t)
{
    facet_arena_free(&t->arena);
    t->csrs = NULL;
    t->index = NULL;
    t->count = 0;
}
