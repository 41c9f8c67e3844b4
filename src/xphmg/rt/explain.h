/* What a ray of XPHMG_RT did, as records: what `facet rt why` shows. */
#ifndef FACET_XPHMG_RT_EXPLAIN_H
#define FACET_XPHMG_RT_EXPLAIN_H

#include "record/record.h"
#include "xphmg/rt/why.h"

/* Each is an object; those without a key are members of a list. */
void facet_xphmg_rt_record_ray(struct facet_record *r,
                               const char *key,
                               const struct facet_xphmg_rt_why_query *query);
/* Nothing for FACET_XPHMG_RT_EVENT_TRIANGLE: its test comes next. */
void facet_xphmg_rt_record_event(struct facet_record *r,
                                 const struct facet_xphmg_rt_why_query *query,
                                 const struct facet_xphmg_rt_event *event,
                                 uint64_t offset);
void facet_xphmg_rt_record_result(struct facet_record *r,
                                  const char *key,
                                  const struct facet_xphmg_rt_why_query *query,
                                  const struct facet_xphmg_rt_why_result *result);
void facet_xphmg_rt_record_child(struct facet_record *r,
                                 const struct facet_xphmg_rt_why_query *query,
                                 unsigned number,
                                 const struct facet_xphmg_rt_why_child *child);
void facet_xphmg_rt_record_triangle(struct facet_record *r,
                                    const char *key,
                                    const struct facet_xphmg_rt_why_query *query,
                                    uint32_t number,
                                    const struct facet_xphmg_rt_why_triangle *triangle);

#endif
