/* New contents for a primitive node of an image that is refitted. */
#ifndef FACET_GFX12_BUILD_REFIT_PRIM_H
#define FACET_GFX12_BUILD_REFIT_PRIM_H

#include "gfx12/build/refit_match.h"

/* `at` is the node's offset for messages. FACET_ERR_LIMIT: the node has no room. */
enum facet_status facet_gfx12_refit_prim(const struct facet_refit_blas *blas,
                                         const uint8_t before[128],
                                         uint64_t at,
                                         uint8_t after[128],
                                         struct facet_error *err);

enum facet_status
facet_gfx12_refit_mismatch(struct facet_error *err, uint64_t at, const char *what);

/* Asks the memory for the triangles of a node that is refitted soon. */
void facet_gfx12_refit_prim_ask(const struct facet_refit_blas *blas, const uint8_t node[128]);

#endif
