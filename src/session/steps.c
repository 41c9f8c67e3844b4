/* See steps.h. */
#include "session/steps.h"

#include "base/error.h"
#include "base/file.h"
#include "command/deadline.h"
#include "command/stop.h"

#include <stdlib.h>

enum { CHUNK = 1 << 20 }; /* steps between looks at the trace's limits */

bool session_breakpoints(const struct cli_args *args,
                         facet_machine *machine,
                         bool (*find)(const void *context, const char *text, uint64_t *address),
                         const void *context,
                         const char *expected)
{
    const char *text;

    for (int i = 0; (text = cli_nth_value(args, "break", i)) != NULL; i++) {
        struct facet_error err = {0};
        uint64_t address;

        if (!find(context, text, &address)) {
            (void)cli_bad(args, "--break %s: expected %s", text, expected);
            return false;
        }
        if (facet_machine_break_add(machine, FACET_ANY_CORE, address, NULL, &err) != FACET_OK) {
            (void)cli_bad_error(args, &err);
            return false;
        }
    }
    return true;
}

bool session_resume(const struct cli_args *args, facet_machine *machine, size_t limit)
{
    const char *path = cli_value(args, "resume");
    struct facet_bytes bytes = {NULL, 0};
    struct facet_error err = {0};
    enum facet_status status;

    if (path == NULL) {
        return true;
    }
    status = facet_file_read(path, limit, &bytes, &err);
    if (status == FACET_OK) {
        status = facet_machine_restore(machine, bytes.data, bytes.size, &err);
        if (status != FACET_OK) {
            (void)facet_fail_in(&err, path);
        }
    }
    free(bytes.data);
    if (status != FACET_OK) {
        (void)cli_bad_error(args, &err);
    }
    return status == FACET_OK;
}

enum facet_status
session_save(const facet_machine *machine, const char *path, struct facet_error *err)
{
    struct facet_blob state = {0};
    enum facet_status status = facet_machine_snapshot(machine, &state, err);

    if (status == FACET_OK) {
        const struct facet_file_part part = {path, state.data, state.size};

        status = facet_file_write_all(&part, 1, err);
    }
    facet_blob_free(&state);
    return status;
}

bool session_steps(const struct cli_args *args,
                   facet_machine *machine,
                   struct session_trace *trace,
                   struct facet_stop *stop)
{
    uint64_t done = 0, steps = UINT64_MAX;
    bool good = cli_number(args, "steps", 0, UINT64_MAX, &steps), more = steps != 0;
    struct cli_stop watch;

    if (!more) { /* no steps: where the machine stands */
        facet_machine_run(machine, &(struct facet_run){.budget = 0}, stop);
    }
    stop->reason = FACET_STOP_BUDGET;
    cli_stop_begin(&watch, machine, cli_deadline_left());
    while (good && more) {
        uint64_t left = steps - done, most = left < CHUNK ? left : CHUNK;
        struct facet_run how = {.budget = session_trace_limit(trace, done, most)};

        good = session_trace_update(trace, args, machine, done);
        if (good) {
            facet_machine_run(machine, &how, stop);
            done += stop->steps;
            more =
                stop->reason == FACET_STOP_BUDGET && done < steps && !session_trace_failed(trace);
        }
    }
    cli_stop_end(&watch);
    return good;
}

const char *session_result(const struct facet_stop *stop)
{
    switch (stop->reason) {
    case FACET_STOP_EXIT:
        return "done";
    case FACET_STOP_IDLE:
        return "waiting";
    case FACET_STOP_REQUEST:
        return cli_stop_signal() != 0 ? "interrupted" : "time limit";
    case FACET_STOP_BUDGET:
        return "paused"; /* by --steps */
    default:
        return facet_stop_name(stop->reason); /* fault, breakpoint */
    }
}

int session_exit_code(const struct facet_stop *stop)
{
    switch (stop->reason) {
    case FACET_STOP_REQUEST:
        return cli_stop_code();
    case FACET_STOP_EXIT:
    case FACET_STOP_BREAKPOINT:
    case FACET_STOP_BUDGET:
        return CLI_OK;
    default:
        return CLI_NO;
    }
}
