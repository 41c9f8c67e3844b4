/* The handlers of all rows, one per mnemonic (dots become underscores): a row of tile.insn.tsv
 * without a handler does not link. */
#ifndef FACET_TILE_SYSTEM_H
#define FACET_TILE_SYSTEM_H

#include "isa/isa_rows.h"
#include "tile/core.h"

#define FACET_TILE_OP(name)                                                                        \
    const struct facet_tile_insn *facet_tile_x_##name(struct facet_tile_core *c,                   \
                                                      const struct facet_tile_insn *op)
#define DECLARE(name) FACET_TILE_OP(name);
FACET_TILE_ROWS(DECLARE)
#undef DECLARE

uint32_t facet_tile_machine_hwinfo(const struct facet_tile_machine *m);

#endif
