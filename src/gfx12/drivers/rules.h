/* Rules V32 to V39 of section 13: what a driver's header says against the nodes behind it. */
#ifndef FACET_GFX12_DRIVERS_RULES_H
#define FACET_GFX12_DRIVERS_RULES_H

#include "gfx12/drivers/pieces.h"
#include "gfx12/image/walk.h"

#define FACET_GFX12_HEADER_RULE_FIRST 32

/* Called for each finding; `offset` counts in the bytes of the view. */
typedef void
facet_gfx12_header_report(void *context, unsigned rule, uint64_t offset, const char *text);

/* `walk` is that of the view. Fails only when memory is short. */
enum facet_status facet_gfx12_headers_check(const struct facet_gfx12_view *view,
                                            const struct facet_gfx12_walk *walk,
                                            const struct facet_gfx12_piece *pieces,
                                            uint32_t count,
                                            facet_gfx12_header_report *report,
                                            void *context,
                                            struct facet_error *err);

#endif
