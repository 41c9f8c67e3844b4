/* Rounds and slots (tile-semantics.md 13.4).
 *
 * The scheduler stands between two instructions at any time: m->slot says which slot of the round
 * comes next, m->left how much of an rr:Q slot is left. Whole rounds of running cores go through a
 * short loop; everything else (ends of tiles, parked cores, rnd, listeners, breakpoints, the last
 * steps of a budget) takes the slot-by-slot way, with the same result. */
#include "contract/tile_csrs.h"
#include "tile/system.h"
#include "tile/tally/tally.h"
#include "tile/told.h"
#include "tile/watch.h"

enum { FAULT_WATCHDOG = 9, TILE_NANOSECONDS = 4000 };

static bool can_wake(const struct facet_tile_core *c)
{
    return (c->r.int_status & c->r.int_mask) != 0;
}

/* ---- what instructions leave behind ---- */

static void end_tile(struct facet_tile_machine *m, struct facet_tile_core *c)
{
    c->tiles++;
    c->next_tile += m->active_count;
    if (c->next_tile < m->tile_count) {
        c->state = FACET_TILE_CORE_EXITED;
        facet_tile_set_pc(c, m->packet.pc);
    } else {
        c->state = FACET_TILE_CORE_FINISHED;
    }
}

static void take_event(struct facet_tile_machine *m)
{
    struct facet_tile_core *c = &m->core[m->event_core];
    uint8_t event = m->event;

    m->event = FACET_TILE_EVENT_NONE;
    if (event == FACET_TILE_EVENT_EXIT) {
        end_tile(m, c);
        (void)facet_port_work(m->port, TILE_NANOSECONDS); /* the next one's start, at a guess */
    } else if (event == FACET_TILE_EVENT_PARK) {
        c->state = FACET_TILE_CORE_PARKED;
    } else if (event == FACET_TILE_EVENT_FAULT) {
        facet_tile_publish_all(m);
        m->state = FACET_TILE_STATE_FAULTED;
    }
}

/* ---- rounds ---- */

static bool all_finished(const struct facet_tile_machine *m)
{
    for (uint32_t k = 0; k < m->active_count; k++) {
        if (m->core[m->active[k]].state != FACET_TILE_CORE_FINISHED) {
            return false;
        }
    }
    return true;
}

static bool all_wait(const struct facet_tile_machine *m)
{
    for (uint32_t k = 0; k < m->active_count; k++) {
        const struct facet_tile_core *c = &m->core[m->active[k]];

        if (c->state != FACET_TILE_CORE_FINISHED &&
            (c->state != FACET_TILE_CORE_PARKED || can_wake(c))) {
            return false;
        }
    }
    return true;
}

static void tell_watchdog(struct facet_tile_machine *m)
{
    for (uint32_t k = 0; k < m->active_count; k++) {
        const struct facet_tile_core *c = &m->core[m->active[k]];

        if (c->fault_cause == FAULT_WATCHDOG) {
            facet_tile_tell_fault(c);
        }
    }
}

/* After the last slot. */
static void end_round(struct facet_tile_machine *m)
{
    m->slot = 0;
    m->time++;
    if (all_finished(m)) {
        m->state = FACET_TILE_STATE_DONE;
        return;
    }
    if (m->time == m->limit) {
        facet_tile_stop_all(m, FAULT_WATCHDOG);
        tell_watchdog(m);
        return;
    }
    for (uint32_t k = 0; k < m->active_count; k++) {
        struct facet_tile_core *c = &m->core[m->active[k]];

        if (c->state == FACET_TILE_CORE_EXITED) {
            facet_tile_start_tile(c);
        }
    }
}

/* ---- slots ---- */

static uint32_t xorshift(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

static uint32_t next_random(struct facet_tile_machine *m)
{
    m->random = xorshift(m->random);
    return m->random;
}

static bool runnable(const struct facet_tile_core *c)
{
    return c->state == FACET_TILE_CORE_RUNS || (c->state == FACET_TILE_CORE_PARKED && can_wake(c));
}

/* The core that the random number chooses, FACET_NONE when the slot is empty. */
static uint32_t chosen_core(const struct facet_tile_machine *m, uint32_t x)
{
    uint32_t count = 0, wanted;

    if (m->draw.part.kind != FACET_RASTER_PART_NONE && m->draw_of < FACET_TILE_CORES) {
        return m->draw_of;
    }
    for (uint32_t k = 0; k < m->active_count; k++) {
        count += runnable(&m->core[m->active[k]]);
    }
    if (count == 0) {
        return FACET_NONE;
    }
    wanted = x % count;
    for (uint32_t k = 0; k < m->active_count; k++) {
        if (runnable(&m->core[m->active[k]]) && wanted-- == 0) {
            return m->active[k];
        }
    }
    return FACET_NONE;
}

/* The core of the slot that comes next, after the empty slots and round ends before it; FACET_NONE
 * when the dispatch has ended or waits. `m` moves on, but not into the slot. */
static uint32_t settle(struct facet_tile_machine *m)
{
    while (m->state == FACET_TILE_STATE_RUNNING) {
        uint32_t core;

        if (m->slot == 0 && m->left == 0 && all_wait(m)) {
            m->state = FACET_TILE_STATE_WAITING;
            break;
        }
        if (m->slot == m->active_count) {
            end_round(m);
            continue;
        }
        if (m->config.random) {
            uint32_t saved = m->random, x = next_random(m);

            core = chosen_core(m, x);
            if (core != FACET_NONE) {
                m->random = saved; /* the step itself advances x */
                return core;
            }
        } else {
            core = m->active[m->slot];
            if (runnable(&m->core[core])) {
                return core;
            }
        }
        m->slot++;
        m->left = 0;
    }
    return FACET_NONE;
}

static void end_slot(struct facet_tile_machine *m)
{
    m->slot++;
    m->left = 0;
}

/* One instruction, or the waking of a parked core, of the core that settle() gave. False when the
 * instruction was interrupted in the middle: nothing else has changed. */
static bool step(struct facet_tile_machine *m, uint32_t core)
{
    struct facet_tile_core *c = &m->core[core];
    uint32_t random = m->random;

    if (m->config.random) {
        (void)next_random(m);
    }
    if (c->state == FACET_TILE_CORE_PARKED) {
        c->state = FACET_TILE_CORE_RUNS;
        end_slot(m);
        return true;
    }
    if (m->tally != NULL) {
        facet_tile_tally_step(c);
    } else if (m->watched) {
        facet_tile_watched_step(c);
    } else {
        facet_tile_execute(c);
        c->instret++;
    }
    if (m->event == FACET_TILE_EVENT_LEFT) {
        m->event = FACET_TILE_EVENT_NONE;
        m->random = random;
        return false;
    }
    if (m->event != FACET_TILE_EVENT_NONE && m->event != FACET_TILE_EVENT_ASKED) {
        bool fault = m->event == FACET_TILE_EVENT_FAULT;

        take_event(m);
        if (fault) {
            facet_tile_tell_fault(c);
        }
        end_slot(m);
        return true;
    }
    m->event = FACET_TILE_EVENT_NONE;
    m->left = m->left == 0 ? m->config.quantum - 1 : m->left - 1;
    if (m->config.random || m->left == 0) {
        end_slot(m);
    }
    return true;
}

const char *facet_tile_turn(struct facet_tile_machine *m, uint32_t core)
{
    struct facet_tile_core *c = &m->core[core];

    if (m->state != FACET_TILE_STATE_RUNNING) {
        return "no dispatch is running";
    }
    if (facet_tile_next_core(m) == core && c->state == FACET_TILE_CORE_RUNS) {
        return NULL;
    }
    if (m->draw.part.kind != FACET_RASTER_PART_NONE) {
        return "the machine is in the middle of a draw";
    }
    if (m->config.random) {
        return "the order of the cores is random, expected one in turn (rr)";
    }
    if (c->state == FACET_TILE_CORE_FINISHED) {
        return "it has no tile left";
    }
    if (c->state == FACET_TILE_CORE_PARKED && !can_wake(c)) {
        return "it waits for an interrupt";
    }
    while (m->state == FACET_TILE_STATE_RUNNING && m->active[m->slot] != core) {
        end_slot(m);
        if (m->slot == m->active_count) {
            end_round(m);
        }
    }
    if (m->state != FACET_TILE_STATE_RUNNING) {
        return "the watchdog has ended the dispatch";
    }
    c->state = FACET_TILE_CORE_RUNS; /* waking needs no step of its own */
    return NULL;
}

/* ---- whole rounds ---- */

/* One instruction; whether it left an event. */
static inline bool step_quickly(const struct facet_tile_machine *m, struct facet_tile_core *c)
{
    const struct facet_tile_insn *op = c->ip;

    if (__builtin_expect(m->tally != NULL, 0)) {
        facet_tile_tally_step(c);
        return m->event != FACET_TILE_EVENT_NONE;
    }
    c->ip = op->fn(c, op);
    c->instret++;
    return m->event != FACET_TILE_EVENT_NONE;
}

/* The event of an instruction ends a round in the middle: where the schedule stands now. The slot
 * had `left` instructions, this one included. */
static void stop_round(struct facet_tile_machine *m, uint32_t slot, uint32_t left)
{
    if (m->event == FACET_TILE_EVENT_LEFT) {
        m->slot = slot;
        m->left = left % m->config.quantum;
    } else if (m->event == FACET_TILE_EVENT_ASKED && left > 1) {
        m->slot = slot;
        m->left = left - 1;
    } else {
        m->slot = slot + 1;
    }
}

/* Up to `rounds` rounds of the cores in `list`, all of which run; stops inside one, after the
 * instruction that left an event, and says in m->slot where. The instructions done are counted by
 * instret. */
static void run_rounds(struct facet_tile_machine *m,
                       struct facet_tile_core *const list[],
                       const uint32_t slots[],
                       uint32_t count,
                       uint64_t rounds)
{
    const uint32_t quantum = m->config.quantum;

    while (rounds-- > 0) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t left = quantum; left > 0; left--) {
                if (__builtin_expect(step_quickly(m, list[i]), 0)) {
                    stop_round(m, slots[i], left);
                    return;
                }
            }
        }
        m->time++;
    }
}

/* The same for four cores and rr:1, the default machine. */
static void run_four(struct facet_tile_machine *m, uint64_t rounds)
{
    struct facet_tile_core *c = m->core;

    while (rounds-- > 0) {
        for (uint32_t i = 0; i < FACET_TILE_CORES; i++) { /* the compiler unrolls it */
            if (__builtin_expect(step_quickly(m, &c[i]), 0)) {
                stop_round(m, i, 1);
                return;
            }
        }
        m->time++;
    }
}

/* Whether cores may run ahead of each other. */
static bool may_run_ahead(const struct facet_tile_machine *m)
{
    return !m->config.plain && !m->config.strong && !m->in_turn && m->unit.watch == NULL &&
           (m->tally == NULL || m->config.quantum <= FACET_TILE_TALLY_STEPS);
}

/* Up to `rounds` rounds, until an event: cores run ahead as far as they can; what must be done in
 * turn is, and a few rounds more where that is often. */
static void run_freely(struct facet_tile_machine *m,
                       struct facet_tile_core *const list[],
                       const uint32_t slots[],
                       uint32_t count,
                       uint64_t rounds)
{
    enum { FEW = 8, IN_TURN = 24 };
    const uint64_t end = m->time + rounds;

    while (m->time < end && m->event == FACET_TILE_EVENT_NONE) {
        const uint64_t ahead = facet_tile_run_ahead(m, list, count, end - m->time);
        const uint64_t turns = ahead < FEW ? IN_TURN : 1;

        run_rounds(m, list, slots, count, turns < end - m->time ? turns : end - m->time);
    }
}

static uint64_t retired_by(const struct facet_tile_machine *m)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < FACET_TILE_CORES; i++) {
        sum += m->core[i].instret;
    }
    return sum;
}

/* As many whole rounds as fit the budget; gives the steps done. Only from a round's beginning. */
static uint64_t run_fast(struct facet_tile_machine *m, uint64_t budget)
{
    struct facet_tile_core *list[FACET_TILE_CORES] = {NULL};
    uint32_t slots[FACET_TILE_CORES] = {0}, count = 0;
    uint64_t before = retired_by(m), rounds, done;
    bool fault;

    for (uint32_t k = 0; k < m->active_count; k++) {
        struct facet_tile_core *c = &m->core[m->active[k]];

        if (c->state == FACET_TILE_CORE_RUNS) {
            slots[count] = k;
            list[count++] = c;
        } else if (c->state == FACET_TILE_CORE_PARKED && can_wake(c)) {
            return 0;
        }
    }
    if (count == 0) {
        return 0;
    }
    rounds = budget / ((uint64_t)count * m->config.quantum);
    if (rounds > m->limit - m->time - 1) { /* the round that may end by the watchdog goes alone */
        rounds = m->limit - m->time - 1;
    }
    if (may_run_ahead(m)) {
        run_freely(m, list, slots, count, rounds);
    } else if (count == FACET_TILE_CORES && m->config.quantum == 1) {
        run_four(m, rounds);
    } else {
        run_rounds(m, list, slots, count, rounds);
    }
    done = retired_by(m) - before;
    fault = m->event == FACET_TILE_EVENT_FAULT;
    if (m->event != FACET_TILE_EVENT_NONE) {
        take_event(m);
    }
    if (fault) {
        facet_tile_tell_fault(&m->core[m->event_core]);
        done++; /* the attempt */
    }
    return done;
}

/* ---- the face ---- */

void facet_tile_settle(struct facet_tile_machine *m)
{
    (void)settle(m);
}

/* The machine is settled between runs. */
uint32_t facet_tile_next_core(const void *self)
{
    const struct facet_tile_machine *m = self;

    if (m->state != FACET_TILE_STATE_RUNNING) {
        return FACET_NONE;
    }
    return m->config.random ? chosen_core(m, xorshift(m->random)) : m->active[m->slot];
}

static void tell_end(const struct facet_tile_machine *m, struct facet_stop *stop)
{
    const struct facet_tile_core *c = &m->core[m->event_core];

    stop->core = c->id;
    switch (m->state) {
    case FACET_TILE_STATE_DONE:
        stop->reason = FACET_STOP_EXIT;
        break;
    case FACET_TILE_STATE_FAULTED:
        stop->reason = FACET_STOP_FAULT;
        stop->code = c->fault_cause;
        stop->address = c->fault_addr;
        break;
    case FACET_TILE_STATE_IDLE:
    case FACET_TILE_STATE_WAITING:
        stop->reason = FACET_STOP_IDLE;
        break;
    default:
        break;
    }
}

void facet_tile_run(void *self, uint64_t budget, struct facet_stop *stop)
{
    struct facet_tile_machine *m = self;
    struct facet_port *port = m->port;

    m->watched = facet_port_listens(port);
    m->careful = m->watched || facet_tile_told_any(m);
    while (stop->steps < budget) {
        uint32_t core = settle(m);

        if (core == FACET_NONE) {
            break;
        }
        if (m->slot == 0 && m->left == 0 && !m->config.random && port->break_count == 0 &&
            !m->careful && !facet_tile_half_drawn(m, core)) {
            uint64_t done = run_fast(m, budget - stop->steps);

            stop->steps += done;
            if (port->stop || facet_port_asked(port)) {
                break;
            }
            if (done != 0) {
                continue;
            }
        }
        if (port->break_count != 0 && m->core[core].state == FACET_TILE_CORE_RUNS &&
            !facet_tile_half_drawn(m, core) &&
            facet_port_break(port, core, facet_tile_pc(&m->core[core], m->core[core].ip))) {
            stop->reason = FACET_STOP_BREAKPOINT;
            stop->core = core;
            return;
        }
        stop->steps += step(m, core);
        if (port->stop || facet_port_asked(port)) {
            break;
        }
    }
    (void)settle(m);
    if (m->state != FACET_TILE_STATE_RUNNING) {
        tell_end(m, stop);
    }
}
