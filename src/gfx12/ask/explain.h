/* The steps of the ray unit as records: what `facet bvh why` and `facet gfx12 run` show. */
#ifndef FACET_GFX12_ASK_EXPLAIN_H
#define FACET_GFX12_ASK_EXPLAIN_H

#include "gfx12/steps.h"
#include "record/record.h"

/* Each is an object; key is NULL in a list and for an outermost object. */
void facet_gfx12_record_node(struct facet_record *r, const struct facet_gfx12_steps *s);
void facet_gfx12_record_turn(struct facet_record *r, const struct facet_gfx12_turn *turn);
void facet_gfx12_record_result(struct facet_record *r,
                               const char *key,
                               const struct facet_gfx12_hit *hit,
                               const struct facet_gfx12_stats *stats);
/* The whole traversal of the reference loop, of which the first `limit` nodes are shown. `shown`
 * (may be NULL) is called after every one of them, for a caller that prints as it goes. A root that
 * is not a node is FACET_ERR_INPUT and leaves the record empty; after other errors it has what
 * happened so far. */
enum facet_status facet_gfx12_record_trace(struct facet_record *r,
                                           const struct facet_gfx12_unit *unit,
                                           const struct facet_gfx12_query *query,
                                           uint64_t limit,
                                           void (*shown)(void *context),
                                           void *context,
                                           struct facet_error *err);
/* The members of a hit that was found, in the open object. */
void facet_gfx12_record_hit(struct facet_record *r, const struct facet_gfx12_hit *hit);

#endif
