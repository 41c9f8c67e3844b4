/* See history.h. */
#include "gdb/history.h"

#include "base/array.h"

#include <string.h>

/* A moment costs time by its size; with this many steps per byte, and never less than
 * FIRST_INTERVAL, taking moments stays below the cost of running. */
enum { STEPS_PER_BYTE = 4, FIRST_INTERVAL = 1 << 20 };
#define BYTES_LIMIT ((size_t)512 << 20) /* of all moments together */
/* Going back far leaves a moment shortly before the place: the next step back is likely near. */
enum { NEAR_STEPS = 1 << 11, FAR_STEPS = 1 << 13 };
#define LOOK_NANOSECONDS 10000000 /* between two questions whether to give up */

static void drop(struct facet_gdb_moment *moment)
{
    facet_blob_free(&moment->state);
}

static void drop_at(struct facet_gdb_history *h, size_t i)
{
    drop(&h->moments[i]);
    memmove(&h->moments[i], &h->moments[i + 1], (h->count - i - 1) * sizeof h->moments[0]);
    h->count--;
}

static size_t bytes_held(const struct facet_gdb_history *h)
{
    size_t sum = 0;

    for (size_t i = 0; i < h->count; i++) {
        sum += h->moments[i].state.size;
    }
    return sum;
}

/* Every second moment that is not pinned goes; when all are, the oldest goes. */
static void thin(struct facet_gdb_history *h)
{
    bool keep = true, any = false;

    for (size_t i = 1; i < h->count; i++) {
        keep = h->moments[i].pinned || !keep;
        if (!keep) {
            drop_at(h, i--);
            any = true;
        }
    }
    if (any) {
        h->interval *= 2;
    } else {
        drop_at(h, 0);
    }
}

static struct facet_gdb_mark mark_of(const struct facet_gdb_host *host)
{
    return host->mark != NULL ? host->mark(host->context) : (struct facet_gdb_mark){0};
}

static bool take(struct facet_gdb_history *h, struct facet_gdb_moment *out, bool pinned)
{
    *out = (struct facet_gdb_moment){
        .steps = facet_machine_steps(h->machine), .mark = mark_of(h->host), .pinned = pinned};
    return facet_machine_snapshot(h->machine, &out->state, NULL) == FACET_OK;
}

static bool restore(struct facet_gdb_history *h, const struct facet_gdb_moment *moment)
{
    const struct facet_gdb_host *host = h->host;

    if (facet_machine_restore(h->machine, moment->state.data, moment->state.size, NULL) !=
        FACET_OK) {
        h->lacking = true;
        return false;
    }
    if (host->rewind != NULL) {
        host->rewind(host->context, moment->mark);
    }
    return true;
}

/* The present as the newest moment. Without memory for a pinned one, the past before it is of no
 * use any more. */
static void append(struct facet_gdb_history *h, bool pinned)
{
    struct facet_gdb_moment moment;

    while (h->count > 1 && (h->count == FACET_GDB_MOMENTS || bytes_held(h) > BYTES_LIMIT)) {
        thin(h);
    }
    if (take(h, &moment, pinned)) {
        if (h->interval < moment.state.size * STEPS_PER_BYTE) {
            h->interval = moment.state.size * STEPS_PER_BYTE;
        }
        h->moments[h->count++] = moment;
    } else if (pinned) {
        while (h->count > 0) {
            drop_at(h, h->count - 1);
        }
    }
}

static void settle(struct facet_gdb_history *h)
{
    if (h->changed && !h->host->no_reverse) {
        append(h, true);
    }
    h->changed = false;
}

enum facet_status facet_gdb_history_start(struct facet_gdb_history *h,
                                          facet_machine *machine,
                                          const struct facet_gdb_host *host,
                                          struct facet_error *err)
{
    memset(h, 0, sizeof *h);
    h->machine = machine;
    h->host = host;
    h->interval = FIRST_INTERVAL;
    h->reached = facet_machine_steps(machine);
    h->locked = FACET_NONE;
    h->moments[0] =
        (struct facet_gdb_moment){.steps = h->reached, .mark = mark_of(host), .pinned = true};
    h->count = 1;
    return facet_machine_snapshot(machine, &h->moments[0].state, err);
}

void facet_gdb_history_free(struct facet_gdb_history *h)
{
    for (size_t i = 0; i < h->count; i++) {
        drop(&h->moments[i]);
    }
    h->count = 0;
    drop(&h->near);
    free(h->alone);
    h->alone = NULL;
    h->alone_count = h->alone_room = 0;
}

/* What was to come after `now` is forgotten. */
static void cut(struct facet_gdb_history *h, uint64_t now)
{
    drop(&h->near);
    while (h->count > 0 && h->moments[h->count - 1].steps > now) {
        drop_at(h, h->count - 1);
    }
    while (h->alone_count > 0 && h->alone[h->alone_count - 1].first >= now) {
        h->alone_count--;
    }
    if (h->alone_count > 0 && h->alone[h->alone_count - 1].end > now) {
        h->alone[h->alone_count - 1].end = now;
    }
    h->reached = now;
}

void facet_gdb_history_changed(struct facet_gdb_history *h)
{
    uint64_t now = facet_machine_steps(h->machine);

    cut(h, now);
    while (h->count > 0 && h->moments[h->count - 1].steps == now) {
        drop_at(h, h->count - 1);
    }
    h->changed = true;
    if (h->host->renew != NULL) {
        h->host->renew(h->host->context);
    }
}

uint64_t facet_gdb_history_begin(struct facet_gdb_history *h)
{
    settle(h);
    return h->count > 0 && !h->host->no_reverse ? h->moments[0].steps
                                                : facet_machine_steps(h->machine);
}

size_t facet_gdb_history_before(struct facet_gdb_history *h, uint64_t steps)
{
    size_t i;

    settle(h);
    for (i = h->count; i > 0 && h->moments[i - 1].steps >= steps; i--) {
    }
    return i > 0 ? i - 1 : SIZE_MAX;
}

/* The pinned moment that comes next, NULL when there is none. */
static const struct facet_gdb_moment *next_pinned(const struct facet_gdb_history *h, uint64_t now)
{
    for (size_t i = 0; i < h->count; i++) {
        if (h->moments[i].pinned && h->moments[i].steps > now) {
            return &h->moments[i];
        }
    }
    return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- cores that move alone ---- */

/* The steps from `now` on that one core made alone: those that begin last at or before it, or the
 * next ones; NULL for none. */
static const struct facet_gdb_alone *next_alone(const struct facet_gdb_history *h, uint64_t now)
{
    for (size_t i = 0; i < h->alone_count; i++) {
        if (h->alone[i].end > now) {
            return &h->alone[i];
        }
    }
    return NULL;
}

uint32_t facet_gdb_history_next_core(const struct facet_gdb_history *h)
{
    uint64_t now = facet_machine_steps(h->machine);
    const struct facet_gdb_alone *alone = next_alone(h, now);

    return alone != NULL && alone->first <= now ? alone->core : facet_machine_next_core(h->machine);
}

void facet_gdb_history_lock(struct facet_gdb_history *h, uint32_t core)
{
    uint64_t now = facet_machine_steps(h->machine);

    h->locked = core;
    if (core != FACET_NONE && now < h->reached) {
        cut(h, now);
        if (h->host->renew != NULL) {
            h->host->renew(h->host->context);
        }
    }
}

/* One more step of the core that is locked. */
static void note_alone(struct facet_gdb_history *h, uint64_t now)
{
    struct facet_gdb_alone *last = h->alone_count > 0 ? &h->alone[h->alone_count - 1] : NULL;

    if (last != NULL && last->end == now && last->core == h->locked) {
        last->end = now + 1;
    } else if (facet_array_fit(&h->alone, &h->alone_room, h->alone_count + 1, sizeof *h->alone)) {
        h->alone[h->alone_count++] = (struct facet_gdb_alone){now, now + 1, h->locked};
    } else {
        h->lacking = true;
    }
}

/* The machine's run, in which a core that moved alone does so again. */
static void
advance(struct facet_gdb_history *h, struct facet_run how, bool single, struct facet_stop *stop)
{
    uint64_t now = facet_machine_steps(h->machine);
    const struct facet_gdb_alone *alone = next_alone(h, now);

    if (alone != NULL && alone->first <= now) {
        (void)h->host->turn(h->host->context, alone->core);
        how.budget = how.budget != 0;
    } else if (alone != NULL) {
        how.budget = least(how.budget, alone->first - now);
    }
    if (single) {
        facet_machine_step(h->machine, stop);
    } else {
        facet_machine_run(h->machine, &how, stop);
    }
}

void facet_gdb_history_run(struct facet_gdb_history *h,
                           uint64_t budget,
                           bool single,
                           struct facet_stop *stop)
{
    uint64_t now = facet_machine_steps(h->machine), newest;
    const struct facet_gdb_moment *pinned;
    bool alone;

    settle(h);
    pinned = next_pinned(h, now);
    newest = h->count > 0 ? h->moments[h->count - 1].steps : now;
    if (now < h->reached) {
        budget = least(budget, h->reached - now);
    } else if (now < newest + h->interval) {
        budget = least(budget, newest + h->interval - now);
    }
    if (pinned != NULL) {
        budget = least(budget, pinned->steps - now);
    }
    alone =
        h->locked != FACET_NONE && now == h->reached && h->host->turn(h->host->context, h->locked);
    advance(
        h, (struct facet_run){alone ? budget != 0 : budget, h->host->stop_on_trap}, single, stop);
    if (alone && facet_machine_steps(h->machine) > now) {
        note_alone(h, now);
    }
    now = facet_machine_steps(h->machine);
    if (pinned != NULL && now == pinned->steps) {
        (void)restore(h, pinned);
    }
    h->reached = now > h->reached ? now : h->reached;
    if (now == h->reached && now - newest >= h->interval && !h->host->no_reverse &&
        !facet_machine_in_step(h->machine)) {
        append(h, false);
    }
}

static bool gives_up(void *context)
{
    struct facet_gdb_history *h = context;

    h->given_up = h->given_up || (h->gives_up != NULL && h->gives_up(h->gives_up_context));
    return h->given_up;
}

/* From the machine's present, which is at most `steps`. A request to stop that came for another
 * reason, or too late for the run before, is not a reason to give up. */
static bool replay_to(struct facet_gdb_history *h, uint64_t steps)
{
    const struct facet_gdb_host *host = h->host;
    struct facet_stop stop = {.reason = FACET_STOP_BUDGET};
    bool good = true;

    facet_machine_poll(h->machine, gives_up, h, LOOK_NANOSECONDS);
    while (good && facet_machine_steps(h->machine) < steps) {
        uint64_t left = steps - facet_machine_steps(h->machine);

        advance(h, (struct facet_run){.budget = left}, false, &stop);
        good = stop.reason == FACET_STOP_BUDGET || stop.steps == left ||
               (stop.reason == FACET_STOP_REQUEST && !gives_up(h)) ||
               (stop.reason == FACET_STOP_IDLE && host->idle != NULL &&
                host->idle(host->context) == FACET_GDB_IDLE_AGAIN);
    }
    facet_machine_poll(h->machine, NULL, NULL, 0);
    return good;
}

bool facet_gdb_history_goto(struct facet_gdb_history *h, uint64_t steps)
{
    size_t i = facet_gdb_history_before(h, steps + 1); /* at or before */
    const struct facet_gdb_moment *from = i != SIZE_MAX ? &h->moments[i] : NULL;
    bool good;

    h->given_up = false;
    if (from != NULL && h->near.state.data != NULL && h->near.steps > from->steps &&
        h->near.steps <= steps) {
        from = &h->near;
    }
    if (from == NULL || !restore(h, from)) {
        return false;
    }
    if (steps - from->steps > FAR_STEPS) {
        good = replay_to(h, steps - NEAR_STEPS);
        drop(&h->near);
        if (!good || !take(h, &h->near, false)) {
            drop(&h->near);
        }
    }
    return !h->given_up && replay_to(h, steps);
}
