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
    FACET_CHANGE_REG,    /* index, old and new value; size is 1 when the old one is known */
    FACET_CHANGE_CSR,    /* the same */
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

/* Index of the first difference between two lists, or SIZE_MAX. Old values, and whether they are
 * known, do not count: they were compared when they were new. */
size_t facet_changes_compare(const struct facet_change *a,
                             size_t a_count,
                             const struct facet_change *b,
                             size_t b_count);

/* "hart0: x5 0x1 -> 0x2", like snprintf. The machine gives the names, and of a retired instruction
 * the assembly text when the word still stands in its memory. */
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

/* ---- what a comparison leaves out -------------------------------------------------------------
 */

/* Made for the registers, CSRs and spaces of a machine, which must live longer; serves every
 * machine with the same tables. */
typedef struct facet_lockstep_filter facet_lockstep_filter;
enum facet_status facet_lockstep_filter_create(const facet_machine *machine,
                                               facet_lockstep_filter **out,
                                               struct facet_error *err);
void facet_lockstep_filter_destroy(facet_lockstep_filter *filter); /* NULL is allowed */

/* At first everything is compared. `what`, with or without regard to case as in
 * facet_machine_find_reg, is
 *   retire, trap, reg, csr, memory    all changes of a kind
 *   word          the instruction word of what retires
 *   trap.value    the second number of a trap
 *   counters      cycle, time, instret and the others that count by themselves
 *   x5, t0        a register;   x, f    a group of them (struct facet_reg_desc)
 *   mstatus       a CSR;   mstatus.FS   a field of one
 *   0x80001000..0x80001fff    bytes of space 0, both ends included; NAME:A..B of another space
 * The last rule about a thing counts, so that `csr` ignored and `mepc` compared leaves mepc alone.
 * FACET_ERR_USAGE for anything else, and FACET_ERR_LIMIT after 256 ranges. */
enum facet_status facet_lockstep_filter_ignore(facet_lockstep_filter *filter,
                                               const char *what,
                                               struct facet_error *err);
enum facet_status facet_lockstep_filter_compare(facet_lockstep_filter *filter,
                                                const char *what,
                                                struct facet_error *err);

/* Takes out of a list what is not compared, and clears the bits of what remains that are not;
 * returns how many remain. A CSR of which only some bits are compared is no change when these stay
 * the same, where the old value is known. */
size_t facet_lockstep_filter_apply(const facet_lockstep_filter *filter,
                                   struct facet_change *changes,
                                   size_t count);

/* facet_lockstep_run with a filter, NULL for none. */
enum facet_status facet_lockstep_run_filtered(facet_machine *a,
                                              facet_machine *b,
                                              const facet_lockstep_filter *filter,
                                              uint64_t budget,
                                              struct facet_divergence *out,
                                              struct facet_error *err);

/* ---- memory as bytes --------------------------------------------------------------------------
 */

/* The last value of each byte that was written, in whatever pieces and order: what a unit that
 * works by itself has done until something waits for it. */
typedef struct facet_lockstep_bytes facet_lockstep_bytes;
enum facet_status facet_lockstep_bytes_create(facet_lockstep_bytes **out, struct facet_error *err);
void facet_lockstep_bytes_destroy(facet_lockstep_bytes *bytes); /* NULL is allowed */
void facet_lockstep_bytes_clear(facet_lockstep_bytes *bytes);
/* FACET_ERR_MEMORY: some of them are there. */
enum facet_status facet_lockstep_bytes_add(facet_lockstep_bytes *bytes,
                                           uint32_t space,
                                           uint64_t address,
                                           const void *data,
                                           size_t size,
                                           struct facet_error *err);
/* The changes of kind MEMORY; others are passed over. */
enum facet_status facet_lockstep_bytes_add_changes(facet_lockstep_bytes *bytes,
                                                   const struct facet_change *changes,
                                                   size_t count,
                                                   struct facet_error *err);
uint64_t facet_lockstep_bytes_count(const facet_lockstep_bytes *bytes);
/* Whether a byte is there, and its value; `take` removes it. */
bool facet_lockstep_bytes_get(
    facet_lockstep_bytes *bytes, uint32_t space, uint64_t address, bool take, uint8_t *value);
/* The lowest byte at or after this place; false when there is none. */
bool facet_lockstep_bytes_next(const facet_lockstep_bytes *bytes,
                               uint32_t *space,
                               uint64_t *address);

struct facet_byte_difference {
    uint32_t space;
    bool has_a; /* false: only b has written this byte */
    bool has_b;
    uint8_t a, b;
    uint64_t address;
};
/* true when both have the same bytes; else the first difference. */
bool facet_lockstep_bytes_compare(const facet_lockstep_bytes *a,
                                  const facet_lockstep_bytes *b,
                                  struct facet_byte_difference *difference);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
