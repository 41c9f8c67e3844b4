/* See tables.h. */
#include "xphmg/tables.h"

#include "xphmg/hart/hart.h"

#include <string.h>

/* Units as they are after power-on, to be asked which registers they have. */
struct power_on {
    struct facet_units units;
    struct facet_xmem xmem;
};

/* Whether the machine has the register: base ones as the hart was configured, vendor ones as their
 * unit answers. XIREG shows another register and is not listed. */
static bool present(const void *machine, const struct facet_csr_row *row)
{
    const struct power_on *state = machine;
    uint64_t value;

    return row->isa == FACET_ISA_XPHMG &&
           (facet_hart_csr_exists(state->units.config, row) ||
            (strcmp(row->file, "rv64.csr.tsv") != 0 && !state->units.config->hart.bare &&
             facet_units_csr(&state->units, &state->xmem, row->number, &value)));
}

#define X(n, abi)                                                                                  \
    {                                                                                              \
        "x" #n, abi, "x", 64, FACET_REG_INTEGER, (n) == 0                                          \
    }
#define F(n, abi)                                                                                  \
    {                                                                                              \
        "f" #n, abi, "f", 64, FACET_REG_FLOAT, false                                               \
    }
/* Word w of the storage NAME of bank b. */
#define MTX(name, b, w)                                                                            \
    {                                                                                              \
        name #b "_" #w, NULL, "mtx", 64, FACET_REG_VECTOR, false                                   \
    }
#define MTX_BANK(b)                                                                                \
    MTX("mtx2_", b, 0), MTX("mtx2_", b, 1), MTX("mtx3_", b, 0), MTX("mtx3_", b, 1),                \
        MTX("mtx3_", b, 2), MTX("mtx3_", b, 3), MTX("mtx3_", b, 4), MTX("mtx4_", b, 0),            \
        MTX("mtx4_", b, 1), MTX("mtx4_", b, 2), MTX("mtx4_", b, 3), MTX("mtx4_", b, 4),            \
        MTX("mtx4_", b, 5), MTX("mtx4_", b, 6), MTX("mtx4_", b, 7), MTX("mtxbias_", b, 0),         \
        MTX("mtxbias_", b, 1)
/* Both halves of a 128-bit register of GFX. */
#define GFX(name)                                                                                  \
    {name "_0", NULL, "gfx", 64, FACET_REG_VECTOR, false},                                         \
    {                                                                                              \
        name "_1", NULL, "gfx", 64, FACET_REG_VECTOR, false                                        \
    }
/* clang-format off */
const struct facet_reg_desc facet_xphmg_regs[FACET_HART_REG_COUNT] = {
    X(0, "zero"), X(1, "ra"),   X(2, "sp"),   X(3, "gp"),   X(4, "tp"),   X(5, "t0"),
    X(6, "t1"),   X(7, "t2"),   X(8, "s0"),   X(9, "s1"),   X(10, "a0"),  X(11, "a1"),
    X(12, "a2"),  X(13, "a3"),  X(14, "a4"),  X(15, "a5"),  X(16, "a6"),  X(17, "a7"),
    X(18, "s2"),  X(19, "s3"),  X(20, "s4"),  X(21, "s5"),  X(22, "s6"),  X(23, "s7"),
    X(24, "s8"),  X(25, "s9"),  X(26, "s10"), X(27, "s11"), X(28, "t3"),  X(29, "t4"),
    X(30, "t5"),  X(31, "t6"),
    F(0, "ft0"),  F(1, "ft1"),  F(2, "ft2"),  F(3, "ft3"),  F(4, "ft4"),  F(5, "ft5"),
    F(6, "ft6"),  F(7, "ft7"),  F(8, "fs0"),  F(9, "fs1"),  F(10, "fa0"), F(11, "fa1"),
    F(12, "fa2"), F(13, "fa3"), F(14, "fa4"), F(15, "fa5"), F(16, "fa6"), F(17, "fa7"),
    F(18, "fs2"), F(19, "fs3"), F(20, "fs4"), F(21, "fs5"), F(22, "fs6"), F(23, "fs7"),
    F(24, "fs8"), F(25, "fs9"), F(26, "fs10"), F(27, "fs11"), F(28, "ft8"), F(29, "ft9"),
    F(30, "ft10"), F(31, "ft11"),
    {"pc", NULL, "control", 64, FACET_REG_CODE, false},
    {"priv", NULL, "control", 2, FACET_REG_INTEGER, true},
    {"p0", NULL, "pmask", 1, FACET_REG_FLAGS, false},
    {"pbank1", NULL, "pmask", 64, FACET_REG_FLAGS, false},
    {"pbank2", NULL, "pmask", 64, FACET_REG_FLAGS, false},
    {"pbank3", NULL, "pmask", 64, FACET_REG_FLAGS, false},
    MTX_BANK(0), MTX_BANK(1), MTX_BANK(2), MTX_BANK(3),
    GFX("gfxpln0"), GFX("gfxpln1"), GFX("gfxpln2"), GFX("gfxpln3"), GFX("gfxpln4"),
    GFX("gfxpln5"), GFX("gfxborderc"),
};
/* clang-format on */

enum facet_status facet_xphmg_tables_make(struct facet_csr_table *table,
                                          const struct facet_cap_config *config,
                                          struct facet_error *err)
{
    struct power_on state;

    facet_units_reset(&state.units, config);
    facet_xmem_reset(&state.xmem);
    return facet_csr_table_make(table, present, &state, err);
}
