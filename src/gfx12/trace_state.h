/* What a traversal loop keeps, and the one place that decides about hits (11.1, R-G12-64): shared
 * by the loops of trace.c and by the tracer over decoded nodes, which must not differ in it. */
#ifndef FACET_GFX12_TRACE_STATE_H
#define FACET_GFX12_TRACE_STATE_H

#include "base/error.h"
#include "gfx12/steps.h"

enum { FACET_GFX12_DEFAULT_STEPS = 1 << 24, FACET_GFX12_MAX_DEPTH = 1 << 20 }; /* R-G12-65 */

struct facet_gfx12_trace_state {
    const struct facet_gfx12_unit *unit;
    const struct facet_gfx12_query *query;
    struct facet_gfx12_hit *hit;
    struct facet_gfx12_stats *stats;
    uint64_t steps_left;
    struct facet_gfx12_ray ray; /* in the space of the current node; extent is not used */
    uint64_t tlas_base;
    uint64_t base;
    uint32_t instance; /* current instance node and its user data */
    uint32_t user_data;
    float t_cur;
    bool stop;
    struct facet_gfx12_turn *turn; /* takes notes of the candidates; may be NULL */
};

/* No hit yet, statistics 0, the ray as the query has it. */
void facet_gfx12_trace_init(struct facet_gfx12_trace_state *t,
                            const struct facet_gfx12_unit *unit,
                            const struct facet_gfx12_query *query,
                            struct facet_gfx12_hit *hit,
                            struct facet_gfx12_stats *stats);
void facet_gfx12_trace_enter_tlas(struct facet_gfx12_trace_state *t);
void facet_gfx12_trace_enter_instance(struct facet_gfx12_trace_state *t,
                                      uint32_t node,
                                      const uint32_t v[10]);
/* Counts the node that v came from; what it really was (NONE where nothing was fetched). */
enum facet_gfx12_kind
facet_gfx12_trace_count(struct facet_gfx12_trace_state *t, uint32_t node, const uint32_t v[10]);
/* One intersect instruction, counted; its registers are s->v. */
enum facet_gfx12_kind facet_gfx12_trace_visit(struct facet_gfx12_trace_state *t,
                                              uint32_t node,
                                              float extent,
                                              struct facet_gfx12_steps *s);
/* Candidates of a primitive result, in order: sets hit, t_cur and stop, calls the callbacks. */
void facet_gfx12_trace_pair(struct facet_gfx12_trace_state *t, uint32_t node, const uint32_t v[10]);
enum facet_status facet_gfx12_trace_out_of_steps(const struct facet_gfx12_trace_state *t,
                                                 struct facet_error *err);

#endif
