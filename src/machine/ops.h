/* What a machine gives to its face (struct facet_machine_ops) and what it gets from it (struct
 * facet_port). The public side is facet/machine.h; breakpoints, watchpoints, snapshot framing and
 * argument checks are done once in this folder, so a machine only fills this table.
 *
 * Contract of run(): execute at most `budget` steps and say how many. run(n) followed by run(m) is
 * run(n + m), bit for bit. After each step, when port->stop is set, return at once (the face knows
 * why); when facet_port_asked, return soon: after the step, or in the middle of one that takes more
 * than some milliseconds. Such a step (a job, a draw, a call of the host) calls facet_port_work as
 * it goes and leaves when that says so: it keeps how far it came in the machine's state, is not
 * counted, and continues there the next time, before anything else happens, with the bits and
 * events of a step that was never left. Before each step of a core, machines that set
 * `checks_breakpoints` ask facet_port_break(); for the others the face single-steps while there are
 * breakpoints. EXIT and FAULT are final: running again does 0 steps and gives the same stop, until
 * reset or load.
 *
 * Every architectural write goes through the facet_port_* calls, which cost one predictable branch
 * without an observer. Indexes in all calls are inside the machine's own tables: the face checks.
 */
#ifndef FACET_MACHINE_OPS_H
#define FACET_MACHINE_OPS_H

#include "machine/state.h"
#include "mem/mem.h"

#include <facet/machine.h>
#include <facet/observer.h>
#include <stdatomic.h>

struct facet_counts; /* machine/counts.h */

struct facet_port {
    const struct facet_observer *observer; /* NULL: none */
    bool stop;                             /* return from run() after this step */
    _Atomic bool asked;                    /* facet_machine_interrupt: leave even a long step */
    facet_poll_fn *poll;                   /* facet_machine_poll; NULL: none */
    void *poll_context;
    uint64_t poll_every; /* work between two questions, as in facet_port_work */
    uint64_t work;       /* since the last one */
    bool no_memory;      /* the host's, for the step that run() has left: FACET_STOP_MEMORY */
    bool stop_on_trap;
    uint32_t break_count;     /* 0: no need to ask facet_port_break */
    uint32_t published_count; /* 0: no need to tell facet_port_published */
    uint64_t break_version;   /* changes with every breakpoint added or removed; never 0 then */
    facet_machine *machine;
};

struct facet_machine_ops {
    const char *name; /* at most 31 bytes; part of snapshots */
    bool checks_breakpoints;
    bool takes_devices; /* facet_mem_add_device to space 0 at any time between two runs */

    /* The port lives as long as the machine; keep the pointer. On failure *self stays NULL. */
    enum facet_status (*create)(const void *config,
                                struct facet_port *port,
                                void **self,
                                struct facet_error *err);
    void (*destroy)(void *self);
    void (*reset)(void *self);

    /* NULL past the last; the tables do not change during the machine's life. */
    const struct facet_core_desc *(*core)(const void *self, uint32_t core);
    facet_mem *(*space)(const void *self, uint32_t space, const char **name);

    struct facet_value (*reg_read)(const void *self, uint32_t core, uint32_t reg);
    void (*reg_write)(void *self, uint32_t core, uint32_t reg, struct facet_value value);
    struct facet_value (*csr_read)(const void *self, uint32_t core, uint32_t csr);
    /* Gives what the CSR holds afterwards. */
    struct facet_value (*csr_write)(void *self,
                                    uint32_t core,
                                    uint32_t csr,
                                    struct facet_value value);

    uint32_t (*next_core)(const void *self); /* FACET_NONE when idle or ended */
    uint64_t (*retired)(const void *self, uint32_t core);
    /* Fills reason, steps, and core, code and address where the reason has them. */
    void (*run)(void *self, uint64_t budget, struct facet_stop *stop);

    /* All state but the memory spaces. load() is all or nothing: read into copies, and take them
     * over only when facet_state_done() says so; facet_state_fail() refuses impossible values.
     * Caches of decoded instructions are dropped, not saved. */
    void (*save)(const void *self, struct facet_state_io *io);
    void (*load)(void *self, struct facet_state_io *io);

    /* Optional. Memory was changed from outside: drop what was cached from it. `size` UINT64_MAX:
     * anything may have changed. */
    void (*memory_written)(void *self, uint32_t space, uint64_t address, uint64_t size);
    /* Optional. As facet_machine_disassemble; *length is never NULL here. */
    size_t (*disassemble)(const void *self,
                          uint32_t core,
                          uint64_t address,
                          char *buf,
                          size_t size,
                          uint32_t *length);
    /* Optional. As facet_machine_work. */
    bool (*work)(const void *self, uint32_t n, struct facet_work *work);
    /* Optional. As facet_machine_left. */
    enum facet_left (*left)(const void *self);
    /* Optional. As facet_machine_count. */
    enum facet_status (*count)(void *self, struct facet_counts *counts, struct facet_error *err);
};

static inline struct facet_value facet_value64(uint64_t lo)
{
    struct facet_value value = {lo, 0};

    return value;
}

static inline struct facet_value facet_value128(uint64_t lo, uint64_t hi)
{
    struct facet_value value = {lo, hi};

    return value;
}

/* ---- what machines call -----------------------------------------------------------------------
 */

/* `config` is the kind's own config struct, NULL for its defaults. On failure *out is NULL and *err
 * (may be NULL) says what. */
enum facet_status facet_machine_create(const struct facet_machine_ops *kind,
                                       const void *config,
                                       facet_machine **out,
                                       struct facet_error *err);

/* The machine that the face hides, for the kinds' own verbs; NULL, and *err (may be NULL) says so
 * as FACET_ERR_USAGE, when it is of another kind. */
void *facet_machine_self(const facet_machine *machine,
                         const struct facet_machine_ops *kind,
                         struct facet_error *err);

/* Whether a breakpoint holds this core before the instruction at pc; ask only when break_count !=
 * 0. When true, return from run() with FACET_STOP_BREAKPOINT and the core. */
bool facet_port_break(struct facet_port *port, uint32_t core, uint64_t pc);
/* Whether any core has a breakpoint at pc; changes nothing. For caches of decoded code, which end
 * their blocks before it and check break_version before they use them again. */
bool facet_port_has_break(const struct facet_port *port, uint64_t pc);

void facet_port_tell_retire(struct facet_port *port, const struct facet_retire_event *event);
void facet_port_tell_reg(struct facet_port *port, const struct facet_reg_event *event);
void facet_port_tell_csr(struct facet_port *port, const struct facet_reg_event *event);
void facet_port_tell_memory(struct facet_port *port, const struct facet_memory_event *event);
void facet_port_tell_unit(struct facet_port *port, const struct facet_unit_event *event);

/* What a core stored before is now seen by others, or what it sees has changed, without an access.
 */
void facet_port_tell_published(struct facet_port *port,
                               uint32_t core,
                               uint64_t address,
                               uint64_t size);
static inline void
facet_port_published(struct facet_port *port, uint32_t core, uint64_t address, uint64_t size)
{
    if (__builtin_expect(port->published_count != 0, 0)) {
        facet_port_tell_published(port, core, address, size);
    }
}
/* A watchpoint of space 0 for writes: it also stops where bytes are published (above). */
void facet_machine_watch_published(facet_machine *machine, uint32_t id);

static inline bool facet_port_listens(const struct facet_port *port)
{
    return __builtin_expect(port->observer != NULL, 0);
}

static inline void facet_port_retire(struct facet_port *port,
                                     uint32_t core,
                                     uint64_t pc,
                                     uint64_t next_pc,
                                     uint32_t word,
                                     uint32_t length)
{
    if (facet_port_listens(port)) {
        struct facet_retire_event event = {core, pc, next_pc, word, length};

        facet_port_tell_retire(port, &event);
    }
}

static inline void facet_port_reg(struct facet_port *port,
                                  uint32_t core,
                                  uint32_t reg,
                                  struct facet_value old_value,
                                  struct facet_value new_value)
{
    if (facet_port_listens(port)) {
        struct facet_reg_event event = {core, reg, old_value, new_value};

        facet_port_tell_reg(port, &event);
    }
}

static inline void facet_port_csr(struct facet_port *port,
                                  uint32_t core,
                                  uint32_t csr,
                                  struct facet_value old_value,
                                  struct facet_value new_value)
{
    if (facet_port_listens(port)) {
        struct facet_reg_event event = {core, csr, old_value, new_value};

        facet_port_tell_csr(port, &event);
    }
}

/* An access that succeeded, 1..16 bytes. */
static inline void facet_port_memory(struct facet_port *port,
                                     uint32_t core,
                                     uint32_t space,
                                     uint64_t address,
                                     uint32_t size,
                                     bool write,
                                     struct facet_value value)
{
    if (facet_port_listens(port)) {
        struct facet_memory_event event = {core, space, address, size, write, value, {0, 0}};

        facet_port_tell_memory(port, &event);
    }
}

/* A write that succeeded, with what it replaced. */
static inline void facet_port_store(struct facet_port *port,
                                    uint32_t core,
                                    uint32_t space,
                                    uint64_t address,
                                    uint32_t size,
                                    struct facet_value old_value,
                                    struct facet_value value)
{
    if (facet_port_listens(port)) {
        struct facet_memory_event event = {core, space, address, size, true, value, old_value};

        facet_port_tell_memory(port, &event);
    }
}

static inline void facet_port_unit(struct facet_port *port, const struct facet_unit_event *event)
{
    if (facet_port_listens(port)) {
        facet_port_tell_unit(port, event);
    }
}

/* Whether the run has been asked to end; cheap, from any thread. */
static inline bool facet_port_asked(const struct facet_port *port)
{
    return __builtin_expect(atomic_load_explicit(&port->asked, memory_order_relaxed), 0);
}

/* From the thread that runs the machine, between two pieces of work of which none takes more than
 * some milliseconds: the host's nanoseconds that the last one took, roughly; the estimate must be a
 * function of the machine's state. True: leave the step here. */
bool facet_port_work(struct facet_port *port, uint64_t nanoseconds);

/* Every trap, heard or not: it may be what the run waits for. */
void facet_port_trap(struct facet_port *port, const struct facet_trap_event *event);

#endif
