/* Register and CSR tables of the face, out of tile.csr.tsv. */
#include "base/arena.h"
#include "isa/isa.h"
#include "tile/core.h"

#include <stdlib.h>
#include <string.h>

enum { CSR_LIMIT = 0x1000 };

struct facet_tile_tables {
    struct facet_arena arena;
    struct facet_csr_desc *csrs;
    uint32_t csr_count;
    uint16_t index[CSR_LIMIT]; /* by number; UINT16_MAX: none */
};

#define S(n)                                                                                       \
    {                                                                                              \
        "s" #n, NULL, "s", 32, FACET_REG_INTEGER, (n) == 0                                         \
    }
#define F(n)                                                                                       \
    {                                                                                              \
        "f" #n, NULL, "f", 16, FACET_REG_FLOAT, false                                              \
    }
#define V(n)                                                                                       \
    {                                                                                              \
        "v" #n, NULL, "v", 128, FACET_REG_VECTOR, (n) == 0                                         \
    }
#define FILE_OF(R)                                                                                 \
    R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10), R(11), R(12), R(13), R(14), \
        R(15), R(16), R(17), R(18), R(19), R(20), R(21), R(22), R(23), R(24), R(25), R(26), R(27), \
        R(28), R(29), R(30), R(31)

const struct facet_reg_desc facet_tile_regs[FACET_TILE_REG_COUNT] = {
    FILE_OF(S),
    FILE_OF(F),
    FILE_OF(V),
    {"pc", NULL, "control", 32, FACET_REG_CODE, false},
};

static struct facet_field_desc *make_fields(struct facet_arena *arena,
                                            const struct facet_csr_row *row)
{
    static const uint8_t access[] = {[FACET_CSR_RO] = FACET_FIELD_RO,
                                     [FACET_CSR_RW] = FACET_FIELD_RW,
                                     [FACET_CSR_W1C] = FACET_FIELD_W1C,
                                     [FACET_CSR_WARL] = FACET_FIELD_WARL};
    struct facet_field_desc *fields = facet_arena_calloc(arena, row->field_count, sizeof *fields);

    for (unsigned i = 0; fields != NULL && i < row->field_count; i++) {
        const struct facet_csr_field *f = &row->fields[i];

        fields[i] = (struct facet_field_desc){f->name, f->hi, f->lo, access[f->access], f->meaning};
    }
    return fields;
}

static bool add_row(struct facet_tile_tables *t, const struct facet_csr_row *row)
{
    struct facet_field_desc *fields = make_fields(&t->arena, row);

    for (uint32_t k = 0; fields != NULL && k < row->count; k++) {
        uint32_t number = row->number + k * row->stride;
        char name[64];
        size_t length = facet_csr_name(row, number, name, sizeof name);
        const char *copy = facet_arena_copy(&t->arena, name, length);

        if (copy == NULL || length >= sizeof name || number >= CSR_LIMIT) {
            return false;
        }
        t->index[number] = (uint16_t)t->csr_count;
        t->csrs[t->csr_count++] =
            (struct facet_csr_desc){copy, number, row->width, row->field_count, fields};
    }
    return fields != NULL;
}

enum facet_status facet_tile_tables_make(struct facet_tile_tables **out, struct facet_error *err)
{
    struct facet_tile_tables *t = calloc(1, sizeof *t);
    uint32_t count = 0;
    bool good = t != NULL;

    if (good) {
        facet_arena_init(&t->arena);
        memset(t->index, 0xFF, sizeof t->index);
        for (size_t i = 0; i < facet_csr_row_count; i++) {
            count += facet_csr_rows[i].isa == FACET_ISA_TILE ? facet_csr_rows[i].count : 0;
        }
        t->csrs = facet_arena_calloc(&t->arena, count, sizeof *t->csrs);
        good = t->csrs != NULL;
    }
    for (size_t i = 0; good && i < facet_csr_row_count; i++) {
        good = facet_csr_rows[i].isa != FACET_ISA_TILE || add_row(t, &facet_csr_rows[i]);
    }
    if (!good) {
        facet_tile_tables_free(t);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the CSR tables");
    }
    *out = t;
    return FACET_OK;
}

void facet_tile_tables_free(struct facet_tile_tables *t)
{
    if (t != NULL) {
        facet_arena_free(&t->arena);
        free(t);
    }
}

const struct facet_csr_desc *facet_tile_csr_desc(const struct facet_tile_tables *t, uint32_t *count)
{
    *count = t->csr_count;
    return t->csrs;
}

uint32_t facet_tile_csr_index(const struct facet_tile_tables *t, uint32_t number)
{
    return number < CSR_LIMIT && t->index[number] != UINT16_MAX ? t->index[number] : FACET_NONE;
}
