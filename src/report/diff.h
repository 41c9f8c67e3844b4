/* `facet bvh diff` of two GFX12 images. */
#ifndef FACET_REPORT_DIFF_H
#define FACET_REPORT_DIFF_H

#include "command/command.h"

#include "gfx12/image/view.h"

/* Field by field where the trees have the same shape, else as the work of two builders; --fields,
 * --builders, --rays and --device decide otherwise. Returns the exit code. */
int report_diff(const struct cli_args *args,
                const struct facet_gfx12_view *a,
                const struct facet_gfx12_view *b,
                uint64_t limit);

#endif
