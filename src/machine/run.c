/* Stepping and running: budget, breakpoints, watchpoints, traps, interruption. */
#include "machine/internal.h"

/* Steps between two looks at the interruption flag for a machine that runs through: some
 * milliseconds, at a guess of what a step takes. */
enum { SLICE_STEPS = 65536, STEP_NANOSECONDS = 8 };

const char *facet_stop_name(enum facet_stop_reason reason)
{
    static const char *const names[FACET_STOP_COUNT] = {"budget",
                                                        "breakpoint",
                                                        "watchpoint",
                                                        "trap",
                                                        "exit",
                                                        "fault",
                                                        "idle",
                                                        "request",
                                                        "out of memory"};

    return (unsigned)reason < FACET_STOP_COUNT ? names[reason] : "unknown stop";
}

uint64_t facet_machine_pc(const facet_machine *machine, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);

    return desc != NULL && desc->pc != FACET_NONE
               ? machine->ops->reg_read(machine->self, core, desc->pc).lo
               : 0;
}

uint64_t facet_machine_steps(const facet_machine *machine)
{
    return machine->steps;
}

uint64_t facet_machine_retired(const facet_machine *machine, uint32_t core)
{
    return facet_machine_core(machine, core) != NULL ? machine->ops->retired(machine->self, core)
                                                     : 0;
}

bool facet_machine_work(const facet_machine *machine, uint32_t n, struct facet_work *work)
{
    return machine->ops->work != NULL && machine->ops->work(machine->self, n, work);
}

uint32_t facet_machine_next_core(const facet_machine *machine)
{
    return machine->ops->next_core(machine->self);
}

void facet_machine_interrupt(facet_machine *machine)
{
    atomic_store(&machine->port.asked, true);
}

enum facet_left facet_machine_left(const facet_machine *machine)
{
    return machine->ops->left != NULL ? machine->ops->left(machine->self) : FACET_LEFT_NOTHING;
}

bool facet_machine_in_step(const facet_machine *machine)
{
    return facet_machine_left(machine) != FACET_LEFT_NOTHING;
}

const char *facet_left_name(enum facet_left left)
{
    switch (left) {
    case FACET_LEFT_INSTRUCTION:
        return "an instruction";
    case FACET_LEFT_JOB:
        return "a job";
    case FACET_LEFT_OUTPUT:
        return "output through tohost";
    case FACET_LEFT_NOTHING:
        break;
    }
    return "nothing";
}

void facet_machine_poll(facet_machine *machine, facet_poll_fn *fn, void *context, uint64_t every)
{
    machine->port.poll = fn;
    machine->port.poll_context = context;
    machine->port.poll_every = every;
    machine->port.work = 0;
}

bool facet_port_work(struct facet_port *port, uint64_t nanoseconds)
{
    port->work += nanoseconds;
    if (port->poll != NULL && port->work >= port->poll_every) {
        port->work = 0;
        if (port->poll(port->poll_context)) {
            atomic_store(&port->asked, true);
        }
    }
    return facet_port_asked(port);
}

/* Whether the run ends because that was requested; the request is then fulfilled. */
static bool take_request(facet_machine *machine, struct facet_stop *stop)
{
    if (!facet_port_asked(&machine->port)) {
        return false;
    }
    atomic_store(&machine->port.asked, false);
    stop->reason = FACET_STOP_REQUEST;
    return true;
}

static void set_watch_stop(const facet_machine *machine, struct facet_stop *stop)
{
    stop->reason = FACET_STOP_WATCHPOINT;
    stop->core = machine->hit_access.core;
    stop->point = machine->hit_point;
    stop->code = 0;
    stop->address = machine->hit_access.address;
}

static void set_trap_stop(const facet_machine *machine, struct facet_stop *stop)
{
    stop->reason = FACET_STOP_TRAP;
    stop->core = machine->hit_trap.core;
    stop->code = machine->hit_trap.cause;
    stop->address = machine->hit_trap.value;
}

/* The machine's own run, counted; what the port heard outranks what the machine says, because an
 * end is reported again the next time and a watchpoint is not. Returns true to continue. */
static bool run_slice(facet_machine *machine, uint64_t budget, struct facet_stop *stop)
{
    struct facet_stop slice = {.reason = FACET_STOP_BUDGET};

    machine->port.stop = machine->watch_hit = machine->trap_hit = false;
    machine->changes.open = machine->changes.open && machine->collecting;
    machine->port.no_memory = false; /* what outranked it before does not make it news now */
    machine->ops->run(machine->self, budget, &slice);
    machine->steps += slice.steps;
    slice.steps += stop->steps;
    *stop = slice;
    if (machine->watch_hit) {
        set_watch_stop(machine, stop);
        return false;
    }
    if (machine->trap_hit) {
        set_trap_stop(machine, stop);
        return false;
    }
    if (stop->reason == FACET_STOP_BREAKPOINT) {
        stop->point = machine->hit_point;
    }
    if (machine->port.no_memory) {
        stop->reason = FACET_STOP_MEMORY;
    }
    return stop->reason == FACET_STOP_BUDGET;
}

/* pc and the core that comes next, after the reason is known. */
static void finish(facet_machine *machine, struct facet_stop *stop)
{
    if (stop->reason == FACET_STOP_BUDGET || stop->reason == FACET_STOP_REQUEST ||
        stop->reason == FACET_STOP_MEMORY) {
        uint32_t next = facet_machine_next_core(machine);

        stop->core = next != FACET_NONE ? next : 0;
    }
    stop->pc = facet_machine_pc(machine, stop->core);
    machine->held = stop->reason == FACET_STOP_BREAKPOINT;
    machine->held_steps = machine->steps;
    machine->held_core = stop->core;
    machine->held_pc = stop->pc;
    machine->pass_once = false;
    machine->port.stop_on_trap = false;
    machine->port.break_count = 0;
}

void facet_machine_step(facet_machine *machine, struct facet_stop *stop)
{
    *stop = (struct facet_stop){.reason = FACET_STOP_BUDGET};
    if (run_slice(machine, 1, stop) && stop->steps == 0) {
        (void)take_request(machine, stop);
    }
    finish(machine, stop);
}

void facet_machine_step_core(facet_machine *machine,
                             uint32_t core,
                             uint64_t limit,
                             struct facet_stop *stop)
{
    bool more = true;

    *stop = (struct facet_stop){.reason = FACET_STOP_BUDGET};
    while (more && stop->steps < limit) {
        bool last = facet_machine_next_core(machine) == core;
        uint64_t before = stop->steps;

        more = run_slice(machine, 1, stop) && !last;
        if (stop->reason == FACET_STOP_BUDGET && stop->steps == before) {
            (void)take_request(machine, stop);
            break;
        }
    }
    finish(machine, stop);
}

/* Before a single step, for machines that do not ask by themselves. */
static bool breaks_here(facet_machine *machine, struct facet_stop *stop)
{
    uint32_t core = facet_machine_next_core(machine);

    if (core == FACET_NONE ||
        !facet_port_break(&machine->port, core, facet_machine_pc(machine, core))) {
        return false;
    }
    stop->reason = FACET_STOP_BREAKPOINT;
    stop->core = core;
    stop->point = machine->hit_point;
    return true;
}

/* Whether the next step is the one before which the last run stopped. */
static bool still_held(const facet_machine *machine)
{
    return machine->held && machine->held_steps == machine->steps &&
           facet_machine_next_core(machine) == machine->held_core &&
           facet_machine_pc(machine, machine->held_core) == machine->held_pc;
}

void facet_machine_run(facet_machine *machine, const struct facet_run *run, struct facet_stop *stop)
{
    bool single = machine->break_count != 0 && !machine->ops->checks_breakpoints;

    *stop = (struct facet_stop){.reason = FACET_STOP_BUDGET};
    machine->port.stop_on_trap = run->stop_on_trap;
    machine->port.break_count = machine->break_count;
    machine->pass_once = machine->break_count != 0 && still_held(machine);
    while (stop->steps < run->budget) {
        uint64_t left = run->budget - stop->steps;
        uint64_t before = stop->steps;

        if (take_request(machine, stop)) {
            break;
        }
        if (single && breaks_here(machine, stop)) {
            break;
        }
        if (!run_slice(machine, single ? 1 : left < SLICE_STEPS ? left : SLICE_STEPS, stop)) {
            break;
        }
        if (!facet_port_work(&machine->port, (stop->steps - before) * STEP_NANOSECONDS) &&
            stop->steps == before) {
            stop->reason =
                FACET_STOP_FAULT; /* a machine that neither steps nor stops would hang us */
            break;
        }
    }
    finish(machine, stop);
}
