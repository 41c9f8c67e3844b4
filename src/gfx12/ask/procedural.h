/* Procedural primitives without a shader of one's own: their boxes as shapes, or a list of them. */
#ifndef FACET_GFX12_ASK_PROCEDURAL_H
#define FACET_GFX12_ASK_PROCEDURAL_H

#include "gfx12/tracer.h"

/* For callbacks.procedural: the box itself is the shape (R-G12-91). The hit is where the ray enters
 * it, or, if that is not beyond t_min, where it leaves; u and v are 0. */
bool facet_gfx12_procedural_box(void *context,
                                const struct facet_gfx12_ray *ray,
                                const uint8_t node[128],
                                struct facet_gfx12_hit *candidate);

/* Where the ray enters and leaves the box, as the slab test of 9.2 step 4 forms it; false when it
 * does neither. */
bool facet_gfx12_procedural_span(const struct facet_gfx12_ray *ray,
                                 const uint8_t node[128],
                                 float *enter,
                                 float *leave);

/* A procedural primitive that a traversal came to. */
struct facet_gfx12_candidate {
    uint64_t ray;
    float enter, leave;          /* of its box */
    struct facet_gfx12_hit what; /* its numbers; not hit */
};

/* For callbacks.procedural, with this (or NULL: no list) as the context: every primitive is noted
 * and none is hit. */
struct facet_gfx12_candidates {
    struct facet_gfx12_candidate *items; /* free with free() */
    size_t count, room;
    uint64_t ray; /* set by the caller */
    bool failed;  /* memory ran short */
};
bool facet_gfx12_procedural_note(void *candidates,
                                 const struct facet_gfx12_ray *ray,
                                 const uint8_t node[128],
                                 struct facet_gfx12_hit *candidate);
/* The candidates of many rays, ray by ray on this thread, with their hits and their costs. */
enum facet_status facet_gfx12_list_candidates(const facet_gfx12_tracer *tracer,
                                              const struct facet_gfx12_query *common,
                                              const struct facet_gfx12_batch_ray *rays,
                                              size_t count,
                                              struct facet_gfx12_hit *hits,
                                              struct facet_gfx12_stats *stats,
                                              struct facet_gfx12_candidates *candidates,
                                              struct facet_error *err);

#endif
