/* Register and CSR tables of the face, out of tile.csr.tsv. */
#include "tile/core.h"

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

static bool of_tile(const void *machine, const struct facet_csr_row *row)
{
    (void)machine;
    return row->isa == FACET_ISA_TILE;
}

enum facet_status facet_tile_tables_make(struct facet_csr_table *table, struct facet_error *err)
{
    return facet_csr_table_make(table, of_tile, NULL, err);
}
