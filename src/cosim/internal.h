/* The record of a session, shared by cosim.c (life, what the design says), compare.c and report.c.
 */
#ifndef FACET_COSIM_INTERNAL_H
#define FACET_COSIM_INTERNAL_H

#include "base/strbuf.h"
#include "machine/internal.h"
#include "object/symbols.h"

#include <facet/cosim.h>

/* Enough for what a report shows of a step; one that wrote more says so. */
enum { FACET_COSIM_SHOWN = 6 };
struct facet_cosim_past {
    uint64_t step;
    size_t count; /* of all its changes */
    struct facet_change changes[FACET_COSIM_SHOWN];
};

/* Who wrote a register or eight bytes of memory last; `step` counts from 1, 0: nobody. */
struct facet_cosim_writer {
    uint64_t step;
    uint64_t pc;
    uint64_t place; /* memory: address / 8 and the space */
};
#define FACET_COSIM_WRITER_BITS 14

struct facet_cosim_core {
    struct facet_change_list written; /* by the design, for its next instruction */
    struct facet_change_list unit;    /* registers that its units wrote */
    struct facet_cosim_writer *regs;
    struct facet_cosim_writer *csrs;
};

struct facet_cosim {
    facet_machine *machine;
    facet_lockstep_filter *filter;
    bool filtered; /* it has rules */
    bool harts;    /* an xphmg machine */
    bool tiles;    /* a tile machine */
    bool told;     /* whose interrupts wait for the design */
    uint32_t core_count;
    struct facet_cosim_core *cores;
    facet_lockstep_bytes *unit_bytes; /* of the design, not yet done by the reference */
    struct facet_symbols symbols;

    struct facet_cosim_past *past; /* a ring */
    uint32_t window;
    uint64_t past_count;
    struct facet_cosim_writer *memory;

    uint64_t snapshot_every, next_snapshot;
    uint64_t snapshot_at; /* a step before which one is asked for; UINT64_MAX: none */
    struct facet_blob old_snapshot, new_snapshot;
    uint64_t old_step, new_step;

    struct facet_change_list reference, design; /* what is compared of a step */
    struct facet_stop stop;
    uint64_t steps;

    bool different;
    struct facet_cosim_difference difference;
    char why[256];
    struct facet_strbuf report;
};

/* Compares the step that the reference has just done with what the design did, both sorted and
 * unfiltered; fills cosim->difference when they differ. */
enum facet_status facet_cosim_check(facet_cosim *cosim,
                                    uint32_t core,
                                    struct facet_change_list *design,
                                    struct facet_error *err);
/* The units have written what the reference has not. */
void facet_cosim_check_units(facet_cosim *cosim, uint32_t core);
/* A difference that is no change: `why` in words. */
void facet_cosim_differs(facet_cosim *cosim,
                         uint32_t core,
                         const struct facet_change *reference,
                         const struct facet_change *design,
                         const char *format,
                         ...) __attribute__((format(printf, 5, 6)));

void facet_cosim_remember(facet_cosim *cosim, uint32_t core);
struct facet_cosim_writer *
facet_cosim_writer_at(const facet_cosim *cosim, uint32_t space, uint64_t address);
/* Writes cosim->report. */
void facet_cosim_explain(facet_cosim *cosim);

#endif
