/* Whose turn it is, what time it is, and the run loop.
 *
 * Everything that depends on time happens at a clock value that does not depend on how the run was
 * cut into pieces or on the executor: blocks are never run past the end of a turn or past the step
 * before which an enabled timer interrupt is due, and all other readers of the time (CSR
 * instructions, device accesses) are single steps with the time brought up to date before.
 *
 * The schedule is settled after each piece of work: `current` is a hart that can execute, or `idle`
 * says that there is none. */
#include "xphmg/machine.h"
#include "xphmg/units/vendor.h"

enum { TOLD_NANOSECONDS = 500 }; /* that a step takes with an observer */

/* ---- time -------------------------------------------------------------------------------------
 */

uint64_t facet_xphmg_mtime(const struct facet_xphmg *m)
{
    return m->clock / m->steps_per_tick + m->mtime_offset;
}

uint64_t facet_xphmg_mip(const struct facet_xphmg *m, uint64_t mtime, uint64_t hartid)
{
    uint64_t mip = 0;

    if (mtime >= m->mtimecmp[hartid]) {
        mip |= UINT64_C(1) << FACET_IRQ_TIMER;
    }
    if ((m->msip >> hartid & 1) != 0) {
        mip |= UINT64_C(1) << FACET_IRQ_SOFTWARE;
    }
    return (mip & ~m->told[hartid].driven) | m->told[hartid].high;
}

void facet_xphmg_refresh(struct facet_xphmg *m, struct facet_hart *h)
{
    m->mtime = facet_xphmg_mtime(m);
    h->mip = facet_xphmg_mip(m, m->mtime, h->hartid);
}

/* Steps of the clock until the hart's timer interrupt becomes pending; UINT64_MAX when it already
 * is, never will be, or it is masked, or does not matter because the host says when. */
static uint64_t timer_distance(const struct facet_xphmg *m, const struct facet_hart *h)
{
    uint64_t compare = m->mtimecmp[h->hartid];
    uint64_t ticks = compare - m->mtime_offset;
    const struct facet_told *told = &m->told[h->hartid];

    if (told->waits || (told->driven >> FACET_IRQ_TIMER & 1) != 0 ||
        (h->mie >> FACET_IRQ_TIMER & 1) == 0 || facet_xphmg_mtime(m) >= compare ||
        ticks > UINT64_MAX / m->steps_per_tick) {
        return UINT64_MAX;
    }
    return ticks * m->steps_per_tick - m->clock;
}

/* ---- turns ------------------------------------------------------------------------------------
 */

/* WFI ends with any pending interrupt that is enabled in mie; a fence only with one that is taken,
 * because its instruction would just wait again. */
static bool waits(struct facet_xphmg *m, struct facet_hart *h)
{
    if (h->waiting) {
        facet_xphmg_refresh(m, h);
        h->waiting =
            !h->told->trap && (h->wait == FACET_WAIT_INTERRUPT
                                   ? (h->mip & h->mie) == 0
                                   : facet_hart_pending(h) < 0 && !facet_xmem_wait_over(h));
    }
    return h->waiting;
}

/* A hart waits for a fence that can no longer complete: R-XM-26. */
static void report_deadlock(struct facet_xphmg *m)
{
    for (uint32_t i = 0; i < m->hart_count; i++) {
        struct facet_hart *h = &m->harts[i];

        if (h->wait != FACET_WAIT_INTERRUPT) {
            m->last_trap[i] =
                (struct facet_xphmg_fault){i, h->pc, FACET_XPHMG_DEADLOCK, h->wait_on, h->pc};
            m->end = FACET_STOP_FAULT;
            m->end_core = i;
            m->end_code = FACET_XPHMG_DEADLOCK;
            m->end_address = h->wait_on;
            return;
        }
    }
}

/* Steps of the clock until a job completes; UINT64_MAX: none is under way. */
static uint64_t job_distance(const struct facet_xphmg *m, uint32_t *hart)
{
    uint64_t due = m->jobs != NULL ? facet_jobs_next(m->jobs, hart) : UINT64_MAX;

    return due == UINT64_MAX ? due : due > m->clock ? due - m->clock : 0;
}

/* All wait: what fences wait for is due at once, so that no other work comes to its end by the way.
 * The job itself waits for the run that comes, so that what it does belongs to a step. */
static bool hurry_jobs(struct facet_xphmg *m)
{
    bool any = false;

    for (uint32_t i = m->hart_count; i-- > 0;) {
        if (facet_jobs_hurry(m->jobs, &m->harts[i])) {
            m->current = i;
            m->turn_left = m->quantum;
            any = true;
        }
    }
    return any;
}

/* All wait, and for no work: the clock goes to the first timer or job, and its hart is next. */
static void skip_to_event(struct facet_xphmg *m)
{
    uint32_t first = 0;
    uint64_t job = job_distance(m, &first), best = job;

    for (uint32_t i = 0; i < m->hart_count; i++) {
        uint64_t distance = timer_distance(m, &m->harts[i]);

        if (distance < best) {
            best = distance;
            first = i;
        }
    }
    m->idle = best == UINT64_MAX;
    if (m->idle) {
        report_deadlock(m);
    } else {
        m->clock += best;
        m->current = first;
        m->turn_left = m->quantum;
        if (best != job) {
            (void)waits(m, &m->harts[first]);
        }
    }
}

static bool everybody_waits(struct facet_xphmg *m)
{
    bool all = true;

    for (uint32_t i = 0; i < m->hart_count; i++) {
        all = waits(m, &m->harts[i]) && all;
    }
    return all;
}

void facet_xphmg_settle(struct facet_xphmg *m)
{
    m->idle = false;
    if (m->end != 0) {
        return;
    }
    if (everybody_waits(m)) {
        if (!hurry_jobs(m)) {
            skip_to_event(m);
        }
        return;
    }
    while (m->harts[m->current].waiting || (m->hart_count > 1 && m->turn_left == 0)) {
        m->clock += m->turn_left; /* what is left of a waiting hart's turn passes */
        m->harts[m->current].reserved = false;
        m->current = (m->current + 1) % m->hart_count;
        m->turn_left = m->quantum;
        (void)waits(m, &m->harts[m->current]);
    }
}

uint32_t facet_xphmg_next_core(const void *self)
{
    const struct facet_xphmg *m = self;

    return m->end != 0 || m->idle || m->harts[m->current].stalled ? FACET_NONE : m->current;
}

void facet_xphmg_end(struct facet_xphmg *m, uint32_t core, uint64_t code)
{
    if (m->end == 0) {
        m->end = FACET_STOP_EXIT;
        m->end_core = core;
        m->end_code = code;
        m->end_address = 0;
    }
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* A handler whose first instruction traps loops forever: interrupts are off, and nothing but
 * another hart's store could change the instruction. */
static void check_trap_loop(struct facet_xphmg *m, struct facet_hart *h, struct facet_trap trap)
{
    struct facet_xphmg_fault *last = &m->last_trap[h->hartid];
    bool interrupt = h->mcause >> 63 != 0;
    bool own_handler = h->mepc == h->pc && !interrupt;

    if (own_handler && (m->hart_count == 1 || trap.cause == FACET_CAUSE_FETCH_FAULT)) {
        if (last->handler != h->pc) { /* the very first trap */
            *last = (struct facet_xphmg_fault){
                (uint32_t)h->hartid, h->mepc, h->mcause, h->mtval, h->pc};
        }
        m->end = FACET_STOP_FAULT;
        m->end_core = (uint32_t)h->hartid;
        m->end_code = last->cause;
        m->end_address = last->value;
        return;
    }
    *last = (struct facet_xphmg_fault){(uint32_t)h->hartid, h->mepc, h->mcause, h->mtval, h->pc};
}

/* After an instruction that trapped or may have reached the platform. */
static void look(struct facet_xphmg *m, struct facet_hart *h, struct facet_trap trap)
{
    if (trap.taken) {
        check_trap_loop(m, h, trap);
    }
    if (m->htif.tohost != 0) {
        facet_xphmg_htif_poll(m, (uint32_t)h->hartid);
    }
}

/* One step; 0 when the hart stalled. */
static uint64_t step(struct facet_xphmg *m, struct facet_hart *h)
{
    struct facet_trap trap;

    facet_xphmg_refresh(m, h);
    trap = facet_hart_step(h);
    if (h->stalled) {
        return 0;
    }
    m->clock++;
    look(m, h, trap);
    return 1;
}

void facet_xphmg_catch_up(void *self, struct facet_hart *h)
{
    struct facet_xphmg *m = self;

    if (m->in_blocks == h) {
        m->clock += h->retired - m->counted;
        m->counted = h->retired;
        facet_xphmg_refresh(m, h);
    }
}

/* Blocks as far as they go, then the one instruction that stopped them. */
static uint64_t run_blocks(struct facet_xphmg *m, struct facet_hart *h, uint64_t limit)
{
    uint64_t before = h->retired, distance, done;
    enum facet_block_stop why;

    facet_xphmg_refresh(m, h);
    if (facet_hart_pending(h) >= 0) {
        return step(m, h);
    }
    distance = timer_distance(m, h);
    m->in_blocks = h;
    m->counted = before;
    why = facet_block_run(m->cache, h, distance < limit ? distance : limit);
    m->in_blocks = NULL;
    m->clock += h->retired - m->counted;
    done = h->retired - before;
    if (why == FACET_BLOCK_TRAP) {
        m->clock++;
        look(m, h, facet_block_trap(m->cache));
        return done + 1;
    }
    if (why == FACET_BLOCK_LOOK) {
        look(m, h, FACET_RETIRED);
        return done;
    }
    if (done > 0 && m->port->break_count != 0) { /* perhaps before a breakpoint */
        return done;
    }
    return done < limit ? done + step(m, h) : done;
}

/* The cache serves all harts: what one has overwritten must not wait for its next turn. */
static void drop_stale(struct facet_xphmg *m, struct facet_hart *h)
{
    if (h->code_written && m->cache != NULL) {
        facet_block_cache_flush(m->cache);
        h->code_written = false;
    }
}

static void tell_end(const struct facet_xphmg *m, struct facet_stop *stop)
{
    stop->reason = (enum facet_stop_reason)m->end;
    stop->core = m->end_core;
    stop->code = m->end_code;
    stop->address = m->end_address;
}

/* Between two steps: the jobs whose time has come, the one that was left half-way first. Returns
 * whether there were any. */
static bool complete_jobs(struct facet_xphmg *m)
{
    uint32_t hart;
    bool any = false;

    while (m->part.left || job_distance(m, &hart) == 0) {
        drop_stale(m, facet_jobs_complete(m->jobs, m->harts));
        any = true;
        if (m->part.left || facet_port_asked(m->port)) {
            break;
        }
    }
    return any;
}

/* Whether the current hart is in the middle of its instruction. */
static bool in_instruction(const struct facet_xphmg *m)
{
    return m->part.left && m->part.queue == 0;
}

/* Steps that the hart may take before something else must be looked at. */
static uint64_t step_limit(const struct facet_xphmg *m, uint64_t budget)
{
    uint32_t hart;
    uint64_t job = job_distance(m, &hart);
    uint64_t limit = m->hart_count > 1 && m->turn_left < budget ? m->turn_left : budget;

    return job < limit ? job : limit;
}

/* Blocks end before the breakpoints that were set when they were made. */
static void drop_stale_blocks(struct facet_xphmg *m)
{
    uint64_t version = m->port->break_count != 0 ? m->port->break_version : 0;

    if (m->cache != NULL && m->cache_breaks != version) {
        facet_block_cache_flush(m->cache);
        m->cache_breaks = version;
    }
}

static void run(struct facet_xphmg *m, uint64_t budget, struct facet_stop *stop)
{
    struct facet_port *port = m->port;

    if (m->htif.tohost != 0 && m->end == 0 && budget > 0 && !m->part.left) {
        facet_xphmg_htif_poll(m, m->current); /* input or a debugger's write may have come */
        drop_stale(m, &m->harts[m->current]);
        if (m->htif.writing) {
            return;
        }
    }
    drop_stale_blocks(m);
    if (!m->part.left) { /* half of a step may have woken a hart, whose turn comes after it */
        facet_xphmg_settle(m);
    }
    while (stop->steps < budget && m->end == 0) {
        struct facet_hart *h = &m->harts[m->current];
        uint64_t done;

        if (m->jobs != NULL && !in_instruction(m) && complete_jobs(m)) {
            if (m->part.left) {
                return;
            }
            facet_xphmg_settle(m); /* a hart may have waited for them */
            if (facet_port_asked(port)) {
                return;
            }
            continue;
        }
        if (m->idle) {
            stop->reason = FACET_STOP_IDLE;
            stop->core = m->current;
            return;
        }
        if (port->break_count != 0 && !m->part.left && facet_port_break(port, m->current, h->pc)) {
            stop->reason = FACET_STOP_BREAKPOINT;
            stop->core = m->current;
            return;
        }
        if (m->cache == NULL || m->part.left || facet_port_listens(port) || h->told->trap ||
            h->told->count != 0) {
            done = step(m, h);
        } else {
            done = run_blocks(m, h, step_limit(m, budget - stop->steps));
        }
        drop_stale(m, h);
        stop->steps += done;
        m->turn_left -= m->hart_count > 1 ? (uint32_t)done : 0;
        if (m->part.left) {
            h->stalled = false;
            return;
        }
        if (h->stalled && h->waiting) { /* for a fence: the others continue */
            h->stalled = false;
        } else if (h->stalled) {
            stop->reason = FACET_STOP_IDLE;
            stop->core = m->current;
            return;
        }
        facet_xphmg_settle(m);
        if (port->stop || m->htif.writing || facet_port_asked(port) ||
            (facet_port_listens(port) && facet_port_work(port, done * TOLD_NANOSECONDS))) {
            return;
        }
    }
    if (m->end != 0) {
        tell_end(m, stop);
    }
}

void facet_xphmg_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    struct facet_xphmg *m = self;

    m->running = true; /* the callbacks of devices must not look at the schedule */
    run(m, budget, stop);
    m->running = false;
}
