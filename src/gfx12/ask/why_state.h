/* Between why.c, which finds the paths, and why_fault.c, which judges one. */
#ifndef FACET_GFX12_ASK_WHY_STATE_H
#define FACET_GFX12_ASK_WHY_STATE_H

#include "gfx12/ask/why.h"

/* Sets the corners of the triangle, or of the box of a procedural primitive. */
void facet_gfx12_why_corners(const struct facet_gfx12_steps *steps,
                             unsigned k,
                             const uint8_t node[128],
                             struct facet_gfx12_why *why);
/* Sets fault, own_flags, gap_t, hit_point and corner from the path and the hit. */
void facet_gfx12_why_judge(const struct facet_gfx12_query *query,
                           const struct facet_gfx12_expect *expect,
                           struct facet_gfx12_why *why);

#endif
