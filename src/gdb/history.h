/* The machine's past, for going backwards: snapshots now and then, and replay from the nearest.
 *
 * Time is facet_machine_steps(). The past is a list of moments; between two of them the machine is
 * a function of the first, so a state in between is reached by restoring and running. A debugger
 * that writes registers or memory breaks that: the state after its writes becomes a *pinned*
 * moment, which replay restores when it comes by. Writing in the past starts another future: all
 * that came later is forgotten.
 *
 * A core that moved alone (facet_gdb_history_lock) made steps that the machine's own order would
 * not have: which steps those were is kept, and replay makes them the same way. */
#ifndef FACET_GDB_HISTORY_H
#define FACET_GDB_HISTORY_H

#include "gdb/gdb.h"

struct facet_gdb_moment {
    uint64_t steps;
    struct facet_gdb_mark mark;
    bool pinned;
    struct facet_blob state; /* data NULL: no moment */
};

#define FACET_GDB_MOMENTS 64

/* Steps that one core made alone: first <= steps < end. */
struct facet_gdb_alone {
    uint64_t first, end;
    uint32_t core;
};

struct facet_gdb_history {
    facet_machine *machine;
    const struct facet_gdb_host *host;
    /* Asked now and then during a replay: true gives it up. NULL: never. */
    facet_poll_fn *gives_up;
    void *gives_up_context;
    struct facet_gdb_moment moments[FACET_GDB_MOMENTS]; /* by rising steps, all different */
    size_t count;
    struct facet_gdb_moment near;  /* a little before the last place that was gone back to */
    uint64_t interval;             /* steps between moments */
    uint64_t reached;              /* steps up to which this timeline has been run */
    struct facet_gdb_alone *alone; /* by rising steps */
    size_t alone_count, alone_room;
    uint32_t locked; /* the core that moves alone from here on, or FACET_NONE */
    bool changed;    /* the debugger wrote; a pinned moment is due */
    bool lacking;    /* no memory to go back: the machine is not where it should be */
    bool given_up;   /* the last facet_gdb_history_goto */
};

/* Takes the first moment. */
enum facet_status facet_gdb_history_start(struct facet_gdb_history *h,
                                          facet_machine *machine,
                                          const struct facet_gdb_host *host,
                                          struct facet_error *err);
void facet_gdb_history_free(struct facet_gdb_history *h);
/* The debugger has written to the machine's state. */
void facet_gdb_history_changed(struct facet_gdb_history *h);
/* From now on this core moves alone, FACET_NONE: all do. Where that differs from what was, another
 * future begins. */
void facet_gdb_history_lock(struct facet_gdb_history *h, uint32_t core);
/* As facet_machine_next_core, and the core that made the next step alone. */
uint32_t facet_gdb_history_next_core(const struct facet_gdb_history *h);
/* As facet_machine_run with at most `budget` steps, or as facet_machine_step when `single`; may
 * stop earlier with FACET_STOP_BUDGET. */
void facet_gdb_history_run(struct facet_gdb_history *h,
                           uint64_t budget,
                           bool single,
                           struct facet_stop *stop);
/* The earliest step that can be gone back to; the present one when there is no past. Writes of the
 * debugger become a moment first, here and in the next two. */
uint64_t facet_gdb_history_begin(struct facet_gdb_history *h);
/* Index of the last moment before `steps`, or SIZE_MAX. */
size_t facet_gdb_history_before(struct facet_gdb_history *h, uint64_t steps);
/* Brings the machine to the state after `steps` steps, at most facet_machine_steps(). No
 * breakpoints or watchpoints may be set. false: memory was short, the machine did not repeat
 * itself, or the replay was abandoned; it is then wherever in its past it got to. */
bool facet_gdb_history_goto(struct facet_gdb_history *h, uint64_t steps);

#endif
