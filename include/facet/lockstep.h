/* Comparing two executions step by step: RTL against a machine, or one machine against another.
 *
 * The changes of a step are its architectural writes in a fixed order (kind, core, index, address),
 * one per register and CSR however often it was written, so that an implementation which does the
 * work in another order compares equal. */
#ifndef FACET_LOCKSTEP_H
#define FACET_LOCKSTEP_H

#include <facet/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum facet_change_kind {
    FACET_CHANGE_RETIRE, /* address = pc, new_value.lo = word, size = length */
    FACET_CHANGE_TRAP,   /* address = pc, new_value.lo = cause, new_value.hi = trap value */
    FACET_CHANGE_REG,    /* index, old and new value */
    FACET_CHANGE_CSR,    /* index, old and new value */
    FACET_CHANGE_MEMORY, /* a write: index = space, address, size, new_value */
};

struct facet_change {
    enum facet_change_kind kind;
    uint32_t core;
    uint32_t index;
    uint32_t size;
    uint64_t address;
    struct facet_value
        old_value; /* REG, CSR: before the step; MEMORY: where the machine says; else 0 */
    struct facet_value new_value;
};

/* facet_machine_step with its changes: the first `capacity` of them go to `changes`, *count is how
 * many there were. Watchpoints and the observer work as usual. A step that was left half-way
 * (facet_machine_interrupt) gives FACET_STOP_REQUEST, steps 0 and no change; all come with its end.
 * FACET_ERR_MEMORY: the step is done, its changes are lost. */
enum facet_status facet_machine_step_changes(facet_machine *machine,
                                             struct facet_change *changes,
                                             size_t capacity,
                                             size_t *count,
                                             struct facet_stop *stop,
                                             struct facet_error *err);

/* Index of the first difference between two lists, or SIZE_MAX. Old values do not count: they were
 * compared when they were new. */
size_t facet_changes_compare(const struct facet_change *a,
                             size_t a_count,
                             const struct facet_change *b,
                             size_t b_count);

/* "hart0: x5 0x1 -> 0x2", like snprintf. The machine gives the names. */
size_t facet_change_print(const facet_machine *machine,
                          const struct facet_change *change,
                          char *buf,
                          size_t size);

struct facet_divergence {
    bool found;
    uint64_t step; /* steps done before the differing one */
    bool has_a;    /* false: a has no change at the place where they differ */
    bool has_b;
    struct facet_change a;
    struct facet_change b;
    struct facet_stop stop_a; /* of the last step */
    struct facet_stop stop_b;
};

/* Steps both machines until their changes or stop reasons differ, one of them ends, or the budget
 * is spent. They should be of one kind and start in one state. When one of them is interrupted in
 * the middle of a step, its stop says so and nothing was found; the next call continues there. */
enum facet_status facet_lockstep_run(facet_machine *a,
                                     facet_machine *b,
                                     uint64_t budget,
                                     struct facet_divergence *out,
                                     struct facet_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
