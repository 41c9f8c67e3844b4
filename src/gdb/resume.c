/* Running forwards and backwards for the debugger, and telling it why the machine stopped. */
#include "gdb/internal.h"

#include <inttypes.h>
#include <string.h>

/* Steps between two looks at the debugger's line, and of other cores between two looks while one
 * core is stepped. */
enum { SLICE = 1 << 20, LOOK = 1 << 12, BACK_WINDOW = 1 << 12, EXIT_MOST = 255 };
#define LOOK_NANOSECONDS 10000000 /* between two looks inside a long step */

/* ---- stop replies -----------------------------------------------------------------------------
 */

static void begin_stop(struct facet_gdb *gdb, int signal, uint32_t core)
{
    gdb->core = gdb->resume_core = core;
    facet_strbuf_clear(&gdb->reply);
    facet_strbuf_printf(&gdb->reply, "T%02xthread:%" PRIx32 ";", signal, core + 1);
}

static void finish_stop(struct facet_gdb *gdb)
{
    facet_strbuf_clear(&gdb->last_stop);
    facet_strbuf_add(&gdb->last_stop, facet_strbuf_text(&gdb->reply), gdb->reply.length);
}

void facet_gdb_first_stop(struct facet_gdb *gdb)
{
    uint32_t next = facet_machine_next_core(gdb->machine);

    begin_stop(gdb, FACET_GDB_SIGTRAP, next != FACET_NONE ? next : gdb->target.core);
    finish_stop(gdb);
}

static void tell_point(struct facet_gdb *gdb, const struct facet_stop *stop)
{
    static const char *const names[FACET_GDB_POINT_TYPES] = {
        "swbreak", "hwbreak", "watch", "rwatch", "awatch"};
    const struct facet_gdb_point *point = facet_gdb_point_of(gdb, stop->point);

    begin_stop(gdb, FACET_GDB_SIGTRAP, stop->core);
    if (point != NULL && stop->reason == FACET_STOP_BREAKPOINT) {
        facet_strbuf_printf(&gdb->reply, "%s:;", names[point->type]);
    } else if (point != NULL) {
        /* GDB finds its watchpoint by an address inside the range; the access may start before. */
        uint64_t address =
            stop->address - point->address < point->size ? stop->address : point->address;

        facet_strbuf_printf(&gdb->reply, "%s:%" PRIx64 ";", names[point->type], address);
    }
}

static void say(struct facet_gdb *gdb, const char *text)
{
    facet_gdb_say(gdb, text, strlen(text));
}

static void explain(struct facet_gdb *gdb, const struct facet_stop *stop)
{
    struct facet_strbuf text;

    if (gdb->host.explain != NULL) {
        facet_strbuf_init(&text);
        gdb->host.explain(gdb->host.context, stop, &text);
        gdb->lacking |= text.failed;
        facet_gdb_say(gdb, facet_strbuf_text(&text), text.length);
        facet_strbuf_free(&text);
    }
}

static void tell(struct facet_gdb *gdb, const struct facet_stop *stop)
{
    switch (stop->reason) {
    case FACET_STOP_BREAKPOINT:
    case FACET_STOP_WATCHPOINT:
        tell_point(gdb, stop);
        break;
    case FACET_STOP_EXIT:
        facet_strbuf_clear(&gdb->reply);
        facet_strbuf_printf(
            &gdb->reply, "W%02x", (unsigned)(stop->code < EXIT_MOST ? stop->code : EXIT_MOST));
        break;
    case FACET_STOP_TRAP:
        explain(gdb, stop);
        begin_stop(gdb, gdb->target.arch->fault_signal(stop->code), stop->core);
        break;
    case FACET_STOP_FAULT:
        say(gdb, "The machine cannot continue: a trap without a handler, or a deadlock.\n");
        explain(gdb, stop);
        begin_stop(gdb, gdb->target.arch->fault_signal(stop->code), stop->core);
        break;
    case FACET_STOP_IDLE:
        if (gdb->idle == FACET_GDB_IDLE_END) {
            facet_strbuf_clear(&gdb->reply);
            facet_strbuf_puts(&gdb->reply, "W00");
            break;
        }
        if (gdb->idle == FACET_GDB_IDLE_HOLD) {
            explain(gdb, stop);
        } else {
            say(gdb, "Every core waits, and no interrupt will come.\n");
        }
        begin_stop(gdb, FACET_GDB_SIGTRAP, stop->core);
        break;
    case FACET_STOP_MEMORY:
        say(gdb, "Facet has no memory for this instruction; continuing tries it again.\n");
        begin_stop(gdb, FACET_GDB_SIGTRAP, stop->core);
        break;
    case FACET_STOP_REQUEST:
        if (facet_machine_in_step(gdb->machine)) {
            say(gdb, "Stopped in the middle of ");
            say(gdb, facet_left_name(facet_machine_left(gdb->machine)));
            say(gdb, ", which continues from there.\n");
        }
        begin_stop(gdb, FACET_GDB_SIGINT, stop->core);
        break;
    default:
        begin_stop(gdb, FACET_GDB_SIGTRAP, stop->core);
        break;
    }
    finish_stop(gdb);
}

/* ---- forwards ---------------------------------------------------------------------------------
 */

/* Whether the debugger wants the machine to stop: an interrupt, or any packet, which is then dealt
 * with after the stop; or it has gone. */
static bool wants_stop(struct facet_gdb *gdb)
{
    enum facet_gdb_event event = gdb->held;

    if (event == FACET_GDB_NOTHING) {
        event = facet_gdb_next(gdb, false);
    }
    if (event != FACET_GDB_NOTHING && event != FACET_GDB_INTERRUPT) {
        gdb->held = event;
    }
    return gdb->over || event != FACET_GDB_NOTHING;
}

bool facet_gdb_line_speaks(void *context)
{
    return wants_stop(context);
}

/* As facet_gdb_history_run; what the debugger says inside a long step ends the run, too. */
static void run(struct facet_gdb *gdb, uint64_t budget, bool single, struct facet_stop *stop)
{
    facet_machine_poll(gdb->machine, facet_gdb_line_speaks, gdb, LOOK_NANOSECONDS);
    facet_gdb_history_run(&gdb->history, budget, single, stop);
    facet_machine_poll(gdb->machine, NULL, NULL, 0);
}

/* Input for a machine that does not wait for it comes at a step that only we know: it is a write of
 * ours (history.h). What was given in the past is there already. */
static void take_input(struct facet_gdb *gdb)
{
    if (gdb->host.look != NULL && facet_machine_steps(gdb->machine) == gdb->history.reached &&
        gdb->host.look(gdb->host.context)) {
        facet_gdb_history_changed(&gdb->history);
    }
}

/* After a run that ended by itself or by its budget: whether to continue. A stop that the debugger
 * asks for becomes FACET_STOP_REQUEST. */
static bool goes_on(struct facet_gdb *gdb, struct facet_stop *stop, bool look)
{
    bool more = stop->reason == FACET_STOP_BUDGET;

    if (stop->reason == FACET_STOP_IDLE && gdb->host.hold != NULL &&
        facet_machine_steps(gdb->machine) == gdb->history.reached &&
        gdb->host.hold(gdb->host.context)) {
        gdb->idle = FACET_GDB_IDLE_HOLD;
    } else if (stop->reason == FACET_STOP_IDLE && gdb->host.idle != NULL) {
        gdb->idle = gdb->host.idle(gdb->host.context);
        more = gdb->idle == FACET_GDB_IDLE_AGAIN || gdb->idle == FACET_GDB_IDLE_DEBUGGER;
        look = gdb->idle == FACET_GDB_IDLE_DEBUGGER;
    }
    if (more && look && wants_stop(gdb)) {
        stop->reason = FACET_STOP_REQUEST;
        more = false;
    }
    if (more && look) {
        take_input(gdb);
    }
    return more;
}

/* Goes back for a stop that is already reported. A debugger that does not wait for that is told
 * that it interrupted the machine, which stands somewhere before. */
static void arrive(struct facet_gdb *gdb, uint64_t steps)
{
    (void)facet_gdb_history_goto(&gdb->history, steps);
    if (gdb->history.given_up) {
        uint32_t next = facet_machine_next_core(gdb->machine);

        tell(gdb,
             &(struct facet_stop){.reason = FACET_STOP_REQUEST,
                                  .core = next != FACET_NONE ? next : gdb->resume_core});
    }
}

/* Tells the stop and takes the points out. The machine stops after the access that a watchpoint
 * saw, perhaps inside a long step; where GDB expects it before, going back to the beginning of that
 * step does it. */
static void end_run(struct facet_gdb *gdb, const struct facet_stop *stop)
{
    tell(gdb, stop);
    facet_gdb_points_set(gdb, false);
    if (stop->reason == FACET_STOP_WATCHPOINT && gdb->target.arch->watches_before &&
        !gdb->host.no_reverse) {
        uint64_t whole = facet_machine_in_step(gdb->machine) ? 0 : 1; /* counted at its end */

        arrive(gdb, facet_machine_steps(gdb->machine) - whole);
    }
}

/* `monitor lock on`: the core moves alone, as long as it can. */
static void lock(struct facet_gdb *gdb, uint32_t core)
{
    facet_gdb_history_lock(&gdb->history, gdb->locked ? core : FACET_NONE);
}

static bool can_turn(struct facet_gdb *gdb, uint32_t core)
{
    return gdb->locked && gdb->host.turn(gdb->host.context, core);
}

void facet_gdb_continue(struct facet_gdb *gdb)
{
    struct facet_stop stop;
    unsigned count = 0;

    take_input(gdb);
    facet_gdb_points_set(gdb, true);
    lock(gdb, gdb->core); /* the one that the debugger looks at */
    do {
        run(gdb, SLICE, false, &stop);
    } while (goes_on(gdb, &stop, !gdb->locked || ++count % LOOK == 0));
    end_run(gdb, &stop);
}

/* Other cores may come first in the machine's own order; their breakpoints hold. */
void facet_gdb_step(struct facet_gdb *gdb, uint32_t core)
{
    struct facet_stop stop;
    unsigned count = 0;
    bool more = true;

    take_input(gdb);
    facet_gdb_points_set(gdb, true);
    lock(gdb, core);
    while (more) {
        bool own = facet_gdb_history_next_core(&gdb->history) == core || can_turn(gdb, core);

        run(gdb, 1, own, &stop);
        more = goes_on(gdb, &stop, ++count % LOOK == 0) && !(own && stop.steps > 0);
    }
    if (stop.reason == FACET_STOP_BUDGET) {
        stop.core = core;
    }
    end_run(gdb, &stop);
}

/* ---- backwards --------------------------------------------------------------------------------
 */

static void tell_place(struct facet_gdb *gdb, int signal, uint32_t core, bool begin)
{
    begin_stop(gdb, signal, core);
    if (begin) {
        facet_strbuf_puts(&gdb->reply, "replaylog:begin;");
    }
    finish_stop(gdb);
}

/* The last step of the core before `end`, looking from `from` on; leaves the machine at `end`,
 * or somewhere before it when the debugger gives up. */
static bool find_step(struct facet_gdb *gdb,
                      uint32_t core,
                      uint64_t from,
                      uint64_t end,
                      uint64_t *found,
                      bool *interrupted)
{
    bool any = false, good = facet_gdb_history_goto(&gdb->history, from);
    unsigned count = 0;

    *interrupted = gdb->history.given_up;
    while (good && facet_machine_steps(gdb->machine) < end) {
        uint64_t now = facet_machine_steps(gdb->machine);
        bool own = facet_gdb_history_next_core(&gdb->history) == core;
        struct facet_stop stop;

        run(gdb, 1, false, &stop);
        if (own && facet_machine_steps(gdb->machine) > now) {
            *found = now;
            any = true;
        }
        good = facet_machine_steps(gdb->machine) > now || goes_on(gdb, &stop, false);
        *interrupted =
            stop.reason == FACET_STOP_REQUEST || (++count % LOOK == 0 && wants_stop(gdb));
        good = good && !*interrupted;
    }
    return any;
}

void facet_gdb_reverse_step(struct facet_gdb *gdb, uint32_t core)
{
    uint64_t begin = facet_gdb_history_begin(&gdb->history);
    uint64_t end = facet_machine_steps(gdb->machine), found = begin;
    uint64_t window = BACK_WINDOW;
    bool any = false, interrupted = false;

    if (facet_machine_core_count(gdb->machine) == 1 && end > begin) {
        found = end - 1;
        any = true;
    }
    while (!any && end > begin && !interrupted) {
        uint64_t from = end - begin > window ? end - window : begin;

        any = find_step(gdb, core, from, end, &found, &interrupted);
        end = from;
        window *= 4;
    }
    if (interrupted) {
        tell_place(gdb, FACET_GDB_SIGINT, core, false);
        return;
    }
    tell_place(gdb, FACET_GDB_SIGTRAP, core, !any);
    arrive(gdb, found);
}

/* The last stop of our points from a moment to `end`. Going backwards, "after the access" is before
 * the instruction, and "before" is after it. */
static bool find_stop(struct facet_gdb *gdb,
                      uint64_t from,
                      uint64_t end,
                      struct facet_stop *found,
                      uint64_t *place,
                      bool *interrupted)
{
    bool any = false, good = facet_gdb_history_goto(&gdb->history, from);
    unsigned count = 0;

    facet_gdb_points_set(gdb, true);
    while (good && facet_machine_steps(gdb->machine) < end) {
        struct facet_stop stop;
        uint64_t left = end - facet_machine_steps(gdb->machine), now;

        run(gdb, left < SLICE ? left : SLICE, false, &stop);
        now = facet_machine_steps(gdb->machine);
        if (stop.reason == FACET_STOP_BREAKPOINT || stop.reason == FACET_STOP_WATCHPOINT) {
            *found = stop;
            *place = stop.reason == FACET_STOP_WATCHPOINT && !gdb->target.arch->watches_before
                         ? now - 1
                         : now;
            any = true;
            *interrupted = ++count % LOOK == 0 && wants_stop(gdb);
            good = !*interrupted;
        } else if (now < end && stop.reason != FACET_STOP_TRAP && !goes_on(gdb, &stop, true)) {
            *interrupted = stop.reason == FACET_STOP_REQUEST;
            good = false;
        }
    }
    return any;
}

void facet_gdb_reverse_continue(struct facet_gdb *gdb)
{
    struct facet_gdb_history *h = &gdb->history;
    uint64_t begin = facet_gdb_history_begin(h), end = facet_machine_steps(gdb->machine);
    uint32_t core = gdb->resume_core;
    bool interrupted = false;

    while (end > begin && !interrupted) {
        size_t i = facet_gdb_history_before(h, end);
        struct facet_stop stop;
        uint64_t place = 0;

        if (i == SIZE_MAX) {
            break;
        }
        if (find_stop(gdb, h->moments[i].steps, end, &stop, &place, &interrupted) && !interrupted) {
            tell(gdb, &stop);
            facet_gdb_points_set(gdb, false);
            arrive(gdb, place);
            return;
        }
        facet_gdb_points_set(gdb, false);
        end = h->moments[i].steps;
    }
    (void)facet_gdb_history_goto(h, end);
    tell_place(gdb,
               interrupted ? FACET_GDB_SIGINT : FACET_GDB_SIGTRAP,
               core,
               !interrupted && end <= begin);
}

bool facet_gdb_restart(struct facet_gdb *gdb)
{
    struct facet_gdb_history *h = &gdb->history;
    bool good = !gdb->host.no_reverse && h->count > 0 &&
                facet_gdb_history_goto(h, facet_gdb_history_begin(h));

    if (good) {
        facet_gdb_history_changed(h);
        facet_gdb_first_stop(gdb);
    }
    return good;
}
