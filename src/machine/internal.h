/* The face's own record of a machine, shared by the files of this folder. */
#ifndef FACET_MACHINE_INTERNAL_H
#define FACET_MACHINE_INTERNAL_H

#include "machine/ops.h"

#include <facet/lockstep.h>

/* A breakpoint, or a watchpoint when watch.size is not 0. */
struct facet_point {
    uint32_t id;
    uint64_t pc;
    struct facet_watch watch; /* core counts for both */
    bool published;           /* facet_machine_watch_published */
};

enum { FACET_STEP_READS = 4 };

/* Changes of one step in the order they happened. */
struct facet_change_list {
    struct facet_change *items;
    size_t count;
    size_t capacity;
    struct facet_memory_event reads[FACET_STEP_READS]; /* the first ones; for explanations */
    uint32_t read_count;
    bool failed; /* memory was short */
    bool open;   /* the step was left half-way: what follows belongs to it, too */
    struct facet_stop stop;
};

struct facet_machine {
    const struct facet_machine_ops *ops;
    void *self;
    struct facet_port port;
    uint64_t steps;

    const struct facet_observer *observer; /* the user's: NULL or &user */
    struct facet_observer user;
    struct facet_observer ears; /* ours: watchpoints and changes, then the user's */
    bool collecting;
    struct facet_change_list changes;

    struct facet_point *points;
    size_t point_count;
    size_t point_capacity;
    uint32_t last_id;
    uint32_t break_count;
    uint32_t watch_count;
    uint64_t break_filter; /* a bit per hash of a breakpoint's pc: most pcs miss at once */

    /* Why the port asked to stop. */
    bool watch_hit;
    bool trap_hit;
    uint32_t hit_point;
    struct facet_memory_event hit_access;
    struct facet_trap_event hit_trap;

    /* The breakpoint that stopped us last: passed once when the run continues from there. */
    bool held;
    bool pass_once;
    uint64_t held_steps;
    uint64_t held_pc;
    uint32_t held_core;
};

/* The order of changes in a list, by place: negative, 0 or positive. */
int facet_machine_change_order(const struct facet_change *a, const struct facet_change *b);
/* Sorts, and merges writes of one register; false without memory. */
bool facet_machine_sort_changes(struct facet_change_list *list);
/* The bits of a register or CSR that are compared. */
struct facet_value facet_lockstep_filter_mask(const facet_lockstep_filter *filter,
                                              const struct facet_change *change);
/* Whether a byte of memory is. */
bool facet_lockstep_filter_byte(const facet_lockstep_filter *filter,
                                uint32_t space,
                                uint64_t address);
/* Sets port.observer after anything that decides who listens has changed. */
void facet_machine_update_ears(facet_machine *machine);
/* pc of a core, 0 when it has none. */
uint64_t facet_machine_pc(const facet_machine *machine, uint32_t core);
/* One step whose changes are left, sorted, in machine->changes. */
enum facet_status
facet_machine_collect(facet_machine *machine, struct facet_stop *stop, struct facet_error *err);

#endif
