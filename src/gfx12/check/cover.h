/* Whether boxes together cover a triangle or a box, decided exactly: every number is a binary32 and
 * every sign is that of the real number (no tolerance, no overflow for finite input). Pure. */
#ifndef FACET_GFX12_CHECK_COVER_H
#define FACET_GFX12_CHECK_COVER_H

#include <stdbool.h>
#include <stddef.h>

/* A closed axis-aligned box; empty when lo > hi on an axis. */
struct facet_gfx12_extent {
    float lo[3], hi[3];
};

/* Everything, infinities included. */
struct facet_gfx12_extent facet_gfx12_extent_all(void);
bool facet_gfx12_extent_empty(const struct facet_gfx12_extent *a);
/* The part that both have. */
struct facet_gfx12_extent facet_gfx12_extent_common(const struct facet_gfx12_extent *a,
                                                    const struct facet_gfx12_extent *b);
bool facet_gfx12_extent_holds(const struct facet_gfx12_extent *outer,
                              const struct facet_gfx12_extent *inner);

/* Whether the triangle comes into the box by more than a touch of its sides: it meets the inside of
 * the box, where "inside" of an axis without width is the plane itself. */
bool facet_gfx12_triangle_meets(const float triangle[3][3], const struct facet_gfx12_extent *box);

enum facet_gfx12_cover {
    FACET_GFX12_COVERED,
    FACET_GFX12_HOLE,
    FACET_GFX12_UNDECIDED, /* more cells than the budget allows */
};

/* Covers the part of the triangle (NULL: of the solid box) that lies in `whole`? The boxes are put
 * into another order. Each cell that is looked at costs one of *budget. A hole is a cell without
 * any box that the triangle comes into. */
enum facet_gfx12_cover facet_gfx12_covered(const float (*triangle)[3],
                                           const struct facet_gfx12_extent *whole,
                                           struct facet_gfx12_extent *boxes,
                                           size_t count,
                                           size_t *budget,
                                           struct facet_gfx12_extent *hole);

/* Bounds of the part of the triangle inside the box, rounded: for messages and for slacks that are
 * far larger. false when there is no such part. */
bool facet_gfx12_clipped_bounds(const float triangle[3][3],
                                const struct facet_gfx12_extent *box,
                                double lo[3],
                                double hi[3]);

/* The corners of that part; returns how many, at most FACET_GFX12_CLIP_POINTS. */
#define FACET_GFX12_CLIP_POINTS 9
unsigned facet_gfx12_clip(const float triangle[3][3],
                          const struct facet_gfx12_extent *box,
                          double points[FACET_GFX12_CLIP_POINTS][3]);

#endif
