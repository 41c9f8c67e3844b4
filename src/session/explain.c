/* See explain.h. */
#include "session/explain.h"

#include "json/json.h"

#include <string.h>

static const char no_memory[] = "out of memory for an explanation";

/* Steps before the stop that are watched, and steps that are made again at most: beyond, a second
 * run would take noticeable time. */
enum { WATCHED = 1 << 18, REPEATED = 1 << 26 };

bool session_explain_start(struct session_explain *e,
                           const struct cli_args *args,
                           facet_machine *machine,
                           enum facet_isa isa,
                           struct facet_object *program,
                           bool repeats)
{
    struct facet_error err = {0};

    *e = (struct session_explain){.machine = machine, .first = facet_machine_steps(machine)};
    e->how = (struct facet_explain){.machine = machine, .isa = isa, .symbols = &e->symbols};
    if (program != NULL && facet_symbols_of(&e->symbols, program, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (repeats && facet_machine_snapshot(machine, &e->start, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    return true;
}

void session_explain_free(struct session_explain *e)
{
    facet_blob_free(&e->start);
    facet_symbols_free(&e->symbols);
    facet_writes_destroy(e->writes);
    *e = (struct session_explain){0};
}

/* Breakpoints do not hold. */
static void run_to(facet_machine *machine, uint64_t steps)
{
    struct facet_stop stop = {.reason = FACET_STOP_BUDGET};

    while (facet_machine_steps(machine) < steps &&
           (stop.reason == FACET_STOP_BUDGET || stop.reason == FACET_STOP_BREAKPOINT)) {
        facet_machine_run(
            machine, &(struct facet_run){.budget = steps - facet_machine_steps(machine)}, &stop);
    }
}

bool session_explain_short(uint64_t first, uint64_t last)
{
    return last - first <= REPEATED;
}

void session_explain_watch(struct session_explain *e, uint64_t last)
{
    uint64_t from = last - e->first > WATCHED ? last - WATCHED : e->first;

    e->writes = facet_writes_create(e->machine);
    if (e->writes == NULL) {
        cli_spoil(no_memory);
        return;
    }
    run_to(e->machine, from);
    (void)facet_machine_observe(e->machine, facet_writes_observer(e->writes));
    run_to(e->machine, last);
    (void)facet_machine_observe(e->machine, NULL);
    e->how.writes = e->writes;
    e->how.seen = last - from;
}

void session_explain_look(struct session_explain *e, bool ended)
{
    uint64_t last = facet_machine_steps(e->machine);
    struct facet_stop stop;

    if (e->start.data == NULL || !session_explain_short(e->first, last) ||
        facet_machine_in_step(e->machine)) {
        return;
    }
    (void)facet_machine_observe(e->machine, NULL);
    if (facet_machine_restore(e->machine, e->start.data, e->start.size, NULL) == FACET_OK) {
        session_explain_watch(e, last);
        if (ended) { /* that nothing moves is found out by trying */
            facet_machine_run(e->machine, &(struct facet_run){.budget = 1}, &stop);
        }
    }
}

const char *session_explain_place(const struct session_explain *e, uint64_t pc)
{
    static char text[256];
    struct facet_strbuf place;

    facet_strbuf_init(&place);
    facet_explain_place(&e->how, pc, &place);
    (void)snprintf(text, sizeof text, "%s", facet_strbuf_text(&place));
    facet_strbuf_free(&place);
    return text;
}

void session_explain_print(const struct session_explain *e, FILE *out, uint32_t core, uint64_t pc)
{
    struct facet_record record;

    facet_record_init(&record, false);
    facet_record_open(&record, NULL, NULL);
    facet_explain_core(&e->how, &record, core, pc);
    facet_record_close(&record);
    facet_record_end(&record);
    fputs(facet_strbuf_text(&record.text), out);
    if (record.text.failed) {
        cli_spoil(no_memory);
    }
    facet_record_free(&record);
}

json_t *session_explain_json(const struct session_explain *e, uint32_t core, uint64_t pc)
{
    struct facet_record record;
    json_t *object;

    facet_record_init(&record, true);
    facet_record_open(&record, NULL, NULL);
    facet_explain_core(&e->how, &record, core, pc);
    facet_record_close(&record);
    facet_record_end(&record);
    object = json_loads(facet_strbuf_text(&record.text), 0, NULL);
    if (object == NULL) {
        cli_spoil(no_memory);
    }
    facet_record_free(&record);
    return object;
}
