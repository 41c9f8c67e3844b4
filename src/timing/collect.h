/* Listens to a machine and times what it does: steps for the engine out of what retires, work for
 * the draws out of what the raster unit touches. It only reads; the machine does the same with and
 * without. */
#ifndef FACET_TIMING_COLLECT_H
#define FACET_TIMING_COLLECT_H

#include "timing/engine.h"

#include <facet/observer.h>

/* A piece of time: everything that cores do, or a command of the tile machine's queue. */
struct timing_segment {
    const char *name;        /* of the command, a static string; NULL: what the cores did outside */
    uint64_t command;        /* which one, counted from 0 */
    uint64_t cycles;         /* all of it */
    struct timing_work work; /* a command that draws */
    struct timing_draw draw;
    /* What cores ran, or NULL: one report for each core. */
    struct timing_core_report *cores;
    struct timing_report report;
};

typedef struct timing_collector timing_collector;

/* For the xphmg and the tile machine. NULL: out of memory. The machine must outlive it; the model
 * is copied. The raster unit works in the calling thread from here to timing_collector_stop. */
timing_collector *timing_collector_create(facet_machine *machine,
                                          enum facet_isa isa,
                                          const struct timing_model *model);
const struct facet_observer *timing_collector_observer(const timing_collector *collector);
/* Who is told where cycles go, from now on. */
void timing_collector_tell(timing_collector *collector, timing_spent_fn *spent, void *context);
/* The run is over: what is under way becomes the last segment. Once, before the machine ends.
 * false: memory was short, and segments are missing. */
bool timing_collector_stop(timing_collector *collector);
void timing_collector_free(timing_collector *collector); /* NULL is allowed */

/* In the order in which they ended; segments without a core or draw among them. */
const struct timing_segment *timing_collector_segments(const timing_collector *collector,
                                                       size_t *count);
const struct timing_model *timing_collector_model(const timing_collector *collector);
enum facet_isa timing_collector_isa(const timing_collector *collector);
uint32_t timing_collector_cores(const timing_collector *collector);

#endif
