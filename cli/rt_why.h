/* The two forms in which `facet rt why` prints an explanation, and the words that both use. */
#ifndef FACET_CLI_RT_WHY_H
#define FACET_CLI_RT_WHY_H

#include "xphmg/rt/why.h"

struct json_t;

/* What the command was asked. */
struct rt_why {
    struct facet_rt_why_query query;
    struct facet_rt_ray ray; /* widened */
    bool nan;                /* one of its elements */
};

/* What a test came to: the step of the contract, its requirement rows, and the reason in words. */
struct rt_why_verdict {
    const char *outcome; /* "hit", "miss", "NaN" */
    char rule[4];        /* "B6", "T10" */
    const char *rows;    /* "RT-147" or "RT-165 RT-183" */
    const char *reason;
};
struct rt_why_verdict rt_why_box_verdict(unsigned rule, enum facet_rt_outcome outcome);
struct rt_why_verdict rt_why_triangle_verdict(const struct rt_why *why,
                                              unsigned rule,
                                              const struct facet_rt_triangle_steps *steps,
                                              uint32_t tmax);
/* What becomes of a triangle in a job, and the rows. */
const char *rt_why_choice(enum facet_rt_choice choice);
const char *rt_why_error(unsigned error);
/* "NX DOWNCAST_TAKEN" into the buffer; "none". */
const char *rt_why_flags(unsigned flags, char text[80]);
const char *rt_why_type(enum facet_rt_child type);

void rt_why_text_head(const struct rt_why *why);
void rt_why_text_event(const struct rt_why *why,
                       const struct facet_rt_event *event,
                       uint64_t offset);
void rt_why_text_result(const struct rt_why *why, const struct facet_rt_why_result *result);
void rt_why_text_child(const struct rt_why *why,
                       unsigned number,
                       const struct facet_rt_why_child *child);
void rt_why_text_triangle(const struct rt_why *why,
                          uint32_t number,
                          const struct facet_rt_why_triangle *triangle);

struct json_t *rt_why_json_head(const struct rt_why *why);
struct json_t *
rt_why_json_event(const struct rt_why *why, const struct facet_rt_event *event, uint64_t offset);
struct json_t *rt_why_json_result(const struct rt_why *why,
                                  const struct facet_rt_why_result *result);
struct json_t *rt_why_json_child(const struct rt_why *why,
                                 unsigned number,
                                 const struct facet_rt_why_child *child);
struct json_t *rt_why_json_triangle(const struct rt_why *why,
                                    uint32_t number,
                                    const struct facet_rt_why_triangle *triangle);

#endif
