/* Reports what happens inside a machine to one listener while it happens.
 *
 * Events of one step come in the order in which the machine did the work; the last event of a step
 * is its retire or its trap. Callbacks run inside facet_machine_step or _run: they may read the
 * machine's state but not run, restore, reset or destroy it. Any callback may be NULL. */
#ifndef FACET_OBSERVER_H
#define FACET_OBSERVER_H

#include <facet/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct facet_retire_event {
    uint32_t core;
    uint64_t pc;
    uint64_t next_pc;
    uint32_t word;   /* the instruction, zero-extended */
    uint32_t length; /* bytes */
};

/* A register or CSR: `index` is its table index. The new value is what was stored. */
struct facet_reg_event {
    uint32_t core;
    uint32_t index;
    struct facet_value old_value;
    struct facet_value new_value;
};

/* A data access of 1..16 bytes; wider ones come in pieces. Instruction fetches are not reported. */
struct facet_memory_event {
    uint32_t core;
    uint32_t space;
    uint64_t address;
    uint32_t size;
    bool write;
    struct facet_value value;     /* read or written */
    struct facet_value old_value; /* write: what stood there, 0 where the machine does not say */
};

struct facet_trap_event {
    uint32_t core;
    bool interrupt;
    uint64_t pc;      /* of the instruction that trapped, or would have run */
    uint64_t handler; /* where the core continues */
    uint64_t cause;
    uint64_t value; /* address, instruction word: what the architecture reports */
};

/* Something a unit did: a draw, a BVH node visited, a fence passed. Names are static strings. */
struct facet_unit_event {
    uint32_t core; /* or FACET_NONE */
    const char *unit;
    const char *what;
    uint32_t count; /* of values */
    uint64_t values[6];
};

/* Who is told. Passed with its size, as facet/version.h explains. */
struct facet_observer {
    void *context;
    void (*retire)(void *context, const struct facet_retire_event *event);
    void (*reg_write)(void *context, const struct facet_reg_event *event);
    void (*csr_write)(void *context, const struct facet_reg_event *event);
    void (*memory)(void *context, const struct facet_memory_event *event);
    void (*trap)(void *context, const struct facet_trap_event *event);
    void (*unit)(void *context, const struct facet_unit_event *event);
};

enum facet_status facet_machine_observe_sized(facet_machine *machine,
                                              const struct facet_observer *observer,
                                              size_t observer_size);
/* At most one observer, of which the machine keeps a copy; NULL for none. FACET_ERR_USAGE only when
 * it wants something that this library does not know (facet/version.h). */
static inline enum facet_status facet_machine_observe(facet_machine *machine,
                                                      const struct facet_observer *observer)
{
    return facet_machine_observe_sized(machine, observer, sizeof *observer);
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
