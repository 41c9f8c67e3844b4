/* What a job reports about the path of a ray through the hierarchy, event by event, to code that
 * explains it (why.h). A job that is watched does every test on src/num and gives the same
 * results; without a watcher nothing of this costs anything.
 *
 * Spec: rt-semantics.md 11.4. */
#ifndef FACET_XPHMG_RT_WATCH_H
#define FACET_XPHMG_RT_WATCH_H

#include "rt/layout.h"
#include "rt/steps.h"

/* An entry of the stack. */
struct facet_xphmg_rt_entry {
    uint8_t type;  /* enum facet_rt_child */
    uint8_t child; /* of its node */
    uint32_t index;
    uint32_t near; /* cn of its box: where the ray enters it */
};

enum facet_xphmg_rt_event_kind {
    FACET_XPHMG_RT_EVENT_POP,      /* entry, entered */
    FACET_XPHMG_RT_EVENT_TILE,     /* address: about to be read */
    FACET_XPHMG_RT_EVENT_CHILD,    /* entry (near for a hit), elements, box */
    FACET_XPHMG_RT_EVENT_SORT,     /* kept, count: the children that were hit, the nearest first */
    FACET_XPHMG_RT_EVENT_PUSH,     /* entry */
    FACET_XPHMG_RT_EVENT_RANGE,    /* address: about to be read */
    FACET_XPHMG_RT_EVENT_TRIANGLE, /* number, base: about to be read */
    FACET_XPHMG_RT_EVENT_TEST,     /* number, elements, triangle, choice */
};

/* What becomes of a triangle. */
enum facet_xphmg_rt_choice {
    FACET_XPHMG_RT_CHOICE_MISSED,
    FACET_XPHMG_RT_CHOICE_FIRST,   /* the first hit of the ray */
    FACET_XPHMG_RT_CHOICE_CLOSER,  /* t < best.t */
    FACET_XPHMG_RT_CHOICE_LOWER,   /* equal t, lower (triangle, leaf) */
    FACET_XPHMG_RT_CHOICE_REFUSED, /* equal t, not lower: the best one stays */
};

struct facet_xphmg_rt_event {
    enum facet_xphmg_rt_event_kind kind;
    struct facet_xphmg_rt_entry entry;
    bool entered;   /* not near > tmax */
    uint32_t tmax;  /* tm, before the event */
    unsigned depth; /* of the stack, after it */
    uint64_t address;
    const struct facet_xphmg_rt_entry *kept;
    unsigned count;
    uint32_t number; /* of the triangle */
    uint64_t base;   /* TriRange.base */
    bool nan;        /* of the elements: no test was made */
    const uint32_t *elements;
    const struct facet_rt_box *wide_box;
    const struct facet_rt_box_steps *box; /* NULL: the child is empty */
    const struct facet_rt_triangle *wide_triangle;
    const struct facet_rt_triangle_steps *triangle;
    enum facet_xphmg_rt_choice choice;
    unsigned flags; /* that the test raised */
};

struct facet_xphmg_rt_watch {
    void *context;
    /* false: the job ends here as if the access that comes next had failed. */
    bool (*event)(void *context, const struct facet_xphmg_rt_event *event);
};

#endif
