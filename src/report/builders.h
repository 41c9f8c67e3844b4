/* Two images of the same geometry, side by side. */
#ifndef FACET_REPORT_BUILDERS_H
#define FACET_REPORT_BUILDERS_H

#include "command/command.h"

#include "gfx12/ask/compare.h"

/* Compares with the rays of --rays, or made ones, and prints a table or JSON. Returns the exit
 * code: CLI_NO when primitives, instances or hits differ. */
int report_builders(const struct cli_args *args,
                    const struct facet_gfx12_view views[2],
                    const struct facet_gfx12_walk walks[2],
                    bool asked);

#endif
