/* The one face of every machine: explicit state, guest memory, step, described by tables.
 *
 * A machine is made by its kind's own header (facet/xphmg.h, facet/tile.h, ...); everything from
 * then on is written against the verbs below: debugger, GDB server, tracers, inspectors, bindings,
 * lockstep with RTL.
 *
 * A machine's future is a function of its state. Nothing from outside enters except through these
 * verbs, so running n steps and then m gives the same bits as running n + m, on any host; and a
 * snapshot, restored, continues identically. Going backwards is therefore: restore an earlier
 * snapshot, run to one step less (facet_machine_steps).
 *
 * Any number of machines may live in one process; one machine belongs to one thread at a time
 * (facet_machine_interrupt excepted). Pointers to names and tables live as long as the machine. */
#ifndef FACET_MACHINE_H
#define FACET_MACHINE_H

#include <facet/memory.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct facet_machine facet_machine;
struct facet_observer; /* facet/observer.h */

/* A register, CSR or memory value of up to 128 bits. */
struct facet_value {
    uint64_t lo;
    uint64_t hi;
};

#define FACET_NONE UINT32_MAX     /* "no such index" */
#define FACET_ANY_CORE UINT32_MAX /* for breakpoints and watchpoints */

/* ---- tables -----------------------------------------------------------------------------------
 */

enum facet_reg_type {
    FACET_REG_INTEGER,
    FACET_REG_FLOAT,  /* an IEEE pattern of the register's width, or boxed in it */
    FACET_REG_VECTOR, /* lanes; the machine's document says of what */
    FACET_REG_CODE,   /* a program counter */
    FACET_REG_FLAGS,
};

struct facet_reg_desc {
    const char *name;  /* "x5": unique in its core, found without regard to case */
    const char *alias; /* "t0", or NULL */
    const char *group; /* "x", "f", "v": a heading for listings */
    uint16_t width;    /* bits, 1..128 */
    uint8_t type;      /* enum facet_reg_type */
    bool read_only;    /* facet_machine_reg_write refuses */
};

enum facet_field_access {
    FACET_FIELD_RO,
    FACET_FIELD_RW,
    FACET_FIELD_W1C,  /* writing 1 clears */
    FACET_FIELD_WARL, /* writing an illegal value stores a legal one */
    FACET_FIELD_W1A,  /* writing 1 applies what was staged; reads 0 */
    FACET_FIELD_WC,   /* writing anything clears */
};

struct facet_field_desc {
    const char *name;
    uint8_t hi;
    uint8_t lo;
    uint8_t access;      /* enum facet_field_access */
    const char *meaning; /* one sentence, or NULL */
};

struct facet_csr_desc {
    const char *name;
    uint32_t number; /* as instructions address it */
    uint16_t width;  /* bits, 1..128 */
    uint16_t field_count;
    const struct facet_field_desc *fields;
};

/* A core (hart) or another unit that has registers. */
struct facet_core_desc {
    const char *name; /* "hart0" */
    const struct facet_reg_desc *regs;
    uint32_t reg_count;
    uint32_t pc; /* index in regs, FACET_NONE for a unit that executes no instructions */
    const struct facet_csr_desc *csrs;
    uint32_t csr_count;
};

struct facet_region_desc {
    const char *name;
    uint64_t base;
    uint64_t size;
    bool writable; /* by the guest */
    bool device;
};

/* ---- life -------------------------------------------------------------------------------------
 */

void facet_machine_destroy(facet_machine *machine); /* NULL is allowed */
/* Cores and units as after power-on, steps 0; memory keeps its contents, points and observer stay.
 */
void facet_machine_reset(facet_machine *machine);
const char *facet_machine_kind_name(const facet_machine *machine);

/* ---- cores, registers, CSRs -------------------------------------------------------------------
 */

uint32_t facet_machine_core_count(const facet_machine *machine);
/* NULL when there is no such core. */
const struct facet_core_desc *facet_machine_core(const facet_machine *machine, uint32_t core);

/* The table index of a register by name or alias, of a CSR by name or by number; FACET_NONE when
 * there is none. Case does not matter. */
uint32_t facet_machine_find_reg(const facet_machine *machine, uint32_t core, const char *name);
uint32_t facet_machine_find_csr(const facet_machine *machine, uint32_t core, const char *name);
uint32_t facet_machine_csr_at(const facet_machine *machine, uint32_t core, uint32_t number);
/* Splits "CSR.FIELD" (a CSR's name may contain dots itself): true and both indexes, or false. */
bool facet_machine_find_field(
    const facet_machine *machine, uint32_t core, const char *name, uint32_t *csr, uint32_t *field);

/* Reading has no side effects. Writing a register of fewer than 128 bits with a value that does not
 * fit, a read-only register, or naming an index that does not exist is FACET_ERR_USAGE. Writes by
 * these verbs are not events: the observer does not see them. */
enum facet_status facet_machine_reg_read(const facet_machine *machine,
                                         uint32_t core,
                                         uint32_t reg,
                                         struct facet_value *value,
                                         struct facet_error *err);
enum facet_status facet_machine_reg_write(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t reg,
                                          struct facet_value value,
                                          struct facet_error *err);
enum facet_status facet_machine_csr_read(const facet_machine *machine,
                                         uint32_t core,
                                         uint32_t csr,
                                         struct facet_value *value,
                                         struct facet_error *err);
/* Writes as an instruction with every privilege would: read-only bits stay, illegal values become
 * legal, write-one-to-clear clears. *stored (may be NULL) is what the CSR holds afterwards. */
enum facet_status facet_machine_csr_write(facet_machine *machine,
                                          uint32_t core,
                                          uint32_t csr,
                                          struct facet_value value,
                                          struct facet_value *stored,
                                          struct facet_error *err);
/* One field of a CSR, right-aligned. Writing leaves the other fields alone, the write-one-to-clear
 * ones included; a value wider than the field is FACET_ERR_USAGE. */
enum facet_status facet_machine_field_read(const facet_machine *machine,
                                           uint32_t core,
                                           uint32_t csr,
                                           uint32_t field,
                                           struct facet_value *value,
                                           struct facet_error *err);
enum facet_status facet_machine_field_write(facet_machine *machine,
                                            uint32_t core,
                                            uint32_t csr,
                                            uint32_t field,
                                            struct facet_value value,
                                            struct facet_value *stored,
                                            struct facet_error *err);

/* One line for one value: a register ("x5", "t0"), a CSR ("mstatus") or a field of one
 * ("CAP.PREC.MODE.EW"), found in this order, as the verbs above do it. FACET_ERR_USAGE for a name
 * or core that does not exist, and for registers and CSRs of more than 64 bits: those need struct
 * facet_value. */
enum facet_status
facet_machine_get(const facet_machine *machine, uint32_t core, const char *name, uint64_t *value);
enum facet_status
facet_machine_set(facet_machine *machine, uint32_t core, const char *name, uint64_t value);

/* ---- memory -----------------------------------------------------------------------------------
 */

/* Address spaces: space 0 is the main one; a core's private memory is a separate space. */
uint32_t facet_machine_space_count(const facet_machine *machine);
/* NULL when there is no such space. */
const char *facet_machine_space_name(const facet_machine *machine, uint32_t space);
/* Regions of a space by rising address; false past the last. */
bool facet_machine_region(const facet_machine *machine,
                          uint32_t space,
                          uint32_t index,
                          struct facet_region_desc *region);

/* A loader's or debugger's access (programs and data arrive by facet_machine_write): devices are
 * not disturbed (they fault), read-only memory can be written, the whole range or nothing.
 * FACET_ERR_FAULT with err->where = the first bad address. */
enum facet_status facet_machine_read(const facet_machine *machine,
                                     uint32_t space,
                                     uint64_t address,
                                     void *out,
                                     size_t size,
                                     struct facet_error *err);
enum facet_status facet_machine_write(facet_machine *machine,
                                      uint32_t space,
                                      uint64_t address,
                                      const void *data,
                                      size_t size,
                                      struct facet_error *err);
/* The access of a bus master: devices react, read-only memory faults. */
enum facet_status facet_machine_bus_read(facet_machine *machine,
                                         uint32_t space,
                                         uint64_t address,
                                         void *out,
                                         size_t size,
                                         struct facet_error *err);
enum facet_status facet_machine_bus_write(facet_machine *machine,
                                          uint32_t space,
                                          uint64_t address,
                                          const void *data,
                                          size_t size,
                                          struct facet_error *err);

/* A device that the host adds. `size` is 1, 2, 4 or 8 and `offset`, counted from its first address,
 * a multiple of it: other accesses arrive in aligned pieces, in rising order. false refuses: an
 * access fault for the guest. The callbacks run inside steps and bus accesses, in their thread;
 * they may read the machine and set interrupt lines, but not run, restore, reset or destroy it, nor
 * add a device. What a device remembers is the host's: snapshots do not contain it. Passed with its
 * size, as facet/version.h explains. */
struct facet_device {
    void *context;
    bool (*read)(void *context, uint64_t offset, uint32_t size, uint64_t *value); /* NULL refuses */
    bool (*write)(void *context, uint64_t offset, uint32_t size, uint64_t value);
};

enum facet_status facet_machine_add_device_sized(facet_machine *machine,
                                                 const char *name,
                                                 uint64_t base,
                                                 uint64_t size,
                                                 const struct facet_device *device,
                                                 size_t device_size,
                                                 struct facet_error *err);
/* Puts a device into space 0, for as long as the machine lives; it appears among its regions.
 * FACET_ERR_USAGE for a range that is empty, ends past the last address or overlaps another region,
 * for a name that is taken or has no 1..31 bytes, and on machines that have no devices: of ours,
 * xphmg has them. FACET_ERR_LIMIT when there are 64 regions. */
static inline enum facet_status facet_machine_add_device(facet_machine *machine,
                                                         const char *name,
                                                         uint64_t base,
                                                         uint64_t size,
                                                         const struct facet_device *device,
                                                         struct facet_error *err)
{
    return facet_machine_add_device_sized(machine, name, base, size, device, sizeof *device, err);
}

/* ---- running ----------------------------------------------------------------------------------
 */

enum facet_stop_reason {
    FACET_STOP_BUDGET = 0, /* did the steps that were asked for */
    FACET_STOP_BREAKPOINT, /* before the instruction at the breakpoint */
    FACET_STOP_WATCHPOINT, /* after the instruction that touched the range */
    FACET_STOP_TRAP,       /* after taking a trap, when asked to stop there */
    FACET_STOP_EXIT,       /* the guest asked to end; running again gives this again */
    FACET_STOP_FAULT,      /* the machine cannot continue; running again gives this again */
    FACET_STOP_IDLE,       /* nothing to do until something comes from outside */
    FACET_STOP_REQUEST,    /* facet_machine_interrupt */
    FACET_STOP_MEMORY,     /* the host has no memory for the step; asking for more tries it again */
    FACET_STOP_COUNT
};

struct facet_stop {
    enum facet_stop_reason reason;
    uint32_t core;    /* the core concerned; the one that comes next for BUDGET */
    uint32_t point;   /* id of the breakpoint or watchpoint */
    uint64_t pc;      /* of that core now */
    uint64_t steps;   /* done by this call */
    uint64_t code;    /* exit code, trap or fault cause */
    uint64_t address; /* WATCHPOINT: of the access; TRAP, FAULT: the machine's trap value; EXIT by
                         HTIF: of tohost, else 0 */
};

struct facet_run {
    uint64_t budget; /* steps, UINT64_MAX = no limit */
    bool stop_on_trap;
};

/* "budget", "breakpoint", ...; never NULL. */
const char *facet_stop_name(enum facet_stop_reason reason);

/* One step is one instruction of one core, retired or trapped, in the machine's own order of cores;
 * a machine may count other smallest advances as steps. Breakpoints do not hold a single step. */
void facet_machine_step(facet_machine *machine, struct facet_stop *stop);
/* Steps until the core has made a step of its own, at most `limit` steps. */
void facet_machine_step_core(facet_machine *machine,
                             uint32_t core,
                             uint64_t limit,
                             struct facet_stop *stop);
/* Runs until something of enum facet_stop_reason. A machine that stopped at a breakpoint passes it
 * when it runs again. */
void facet_machine_run(facet_machine *machine,
                       const struct facet_run *run,
                       struct facet_stop *stop);
/* From any thread or a signal handler: the current or next facet_machine_run returns soon, also out
 * of the middle of a long step (a job, a draw, a call of the host). Such a step is not counted yet:
 * what it did so far is part of the state, snapshots included, and the next run continues with
 * the rest, so that all bits are those of a run that was not interrupted. A single step that was
 * left like this gives FACET_STOP_REQUEST with steps 0. */
void facet_machine_interrupt(facet_machine *machine);
/* Whether the machine stopped in the middle of such a step, and what kind it is. */
enum facet_left {
    FACET_LEFT_NOTHING,
    FACET_LEFT_INSTRUCTION, /* the one at pc of the core whose turn it is */
    FACET_LEFT_JOB,         /* work that an instruction gave to a unit before */
    FACET_LEFT_OUTPUT,      /* output that a store asked the host for before */
};
bool facet_machine_in_step(const facet_machine *machine);
enum facet_left facet_machine_left(const facet_machine *machine);
const char *facet_left_name(enum facet_left left); /* "an instruction" */
/* Is asked now and then by the thread that runs the machine, inside long steps as well: true ends
 * the run as facet_machine_interrupt does. It must not use the machine. */
typedef bool facet_poll_fn(void *context);
/* `every`: nanoseconds of work between two questions, as the machine estimates them; 0 asks at
 * every place where a run can be left. fn NULL: no polling. */
void facet_machine_poll(facet_machine *machine, facet_poll_fn *fn, void *context, uint64_t every);
/* Steps since creation or reset; part of the state, so a restored snapshot brings its own count. */
uint64_t facet_machine_steps(const facet_machine *machine);
/* Instructions that the core has retired. */
uint64_t facet_machine_retired(const facet_machine *machine, uint32_t core);
/* Work that a core has started and that continues without it, such as a job of another unit. */
struct facet_work {
    uint32_t core;    /* that started it */
    const char *unit; /* a static string, as in traces */
    uint64_t id;      /* as the core knows it: its ticket */
    uint64_t address; /* of what describes it */
    uint64_t left;    /* steps until it is done, unless something waits for it earlier */
};
/* The n-th piece of pending work; false past the last one. */
bool facet_machine_work(const facet_machine *machine, uint32_t n, struct facet_work *work);
/* The core that the next step belongs to, FACET_NONE when idle or ended. */
uint32_t facet_machine_next_core(const facet_machine *machine);

/* ---- breakpoints and watchpoints --------------------------------------------------------------
 */

struct facet_watch {
    uint32_t core; /* or FACET_ANY_CORE */
    uint32_t space;
    uint64_t address;
    uint64_t size; /* bytes, at least 1 */
    bool on_read;
    bool on_write;
};

/* Points belong to the observer's side, not to the state: snapshots do not contain them. Ids start
 * at 1 and are never reused. */
enum facet_status facet_machine_break_add(
    facet_machine *machine, uint32_t core, uint64_t pc, uint32_t *id, struct facet_error *err);
enum facet_status facet_machine_watch_add(facet_machine *machine,
                                          const struct facet_watch *watch,
                                          uint32_t *id,
                                          struct facet_error *err);
/* FACET_ERR_USAGE when there is no such point. */
enum facet_status
facet_machine_point_remove(facet_machine *machine, uint32_t id, struct facet_error *err);

/* ---- snapshots, observer, text ----------------------------------------------------------------
 */

/* The whole state: cores, units, memory, step count; versioned, with a checksum. Equal states give
 * equal bytes. Free with facet_blob_free. */
enum facet_status facet_machine_snapshot(const facet_machine *machine,
                                         struct facet_blob *out,
                                         struct facet_error *err);
/* Takes back a snapshot of a machine of the same kind and configuration. Bad data is
 * FACET_ERR_INPUT with err->where = its offset, and the machine is as before. */
enum facet_status facet_machine_restore(facet_machine *machine,
                                        const void *data,
                                        size_t size,
                                        struct facet_error *err);

/* One line of assembly for the instruction at the address, like snprintf: returns the length
 * needed, never writes past buf[size - 1]. *length (may be NULL) is the number of instruction
 * bytes, 0 when the address cannot be read or the machine has no instructions. */
size_t facet_machine_disassemble(const facet_machine *machine,
                                 uint32_t core,
                                 uint64_t address,
                                 char *buf,
                                 size_t size,
                                 uint32_t *length);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
