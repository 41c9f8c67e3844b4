/* `facet snapshot`: a program run so far and put into a file, from which `facet run --resume` goes
 * on. */
#include "command/output.h"
#include "command/stop.h"
#include "command/streams.h"
#include "report/snapshot.h"
#include "session/guest_console.h"
#include "session/snapshot_file.h"
#include "session/xphmg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT (UINT64_C(1) << 36)
enum { SLICE = 1 << 20 }; /* steps between two looks at standard input */

/* Runs that many steps, or until the time is up; what stopped it is in *stop. */
static void run_steps(struct session_console *console,
                      uint64_t steps,
                      const struct cli_stop *watch,
                      struct facet_stop *stop)
{
    uint64_t done = 0;
    bool more = steps > 0;

    while (more) {
        uint64_t left = steps - done;
        struct facet_run how = {.budget = left < SLICE ? left : SLICE};

        facet_machine_run(console->machine, &how, stop);
        done += stop->steps;
        more = done < steps && stop->reason == FACET_STOP_BUDGET;
        if (more) {
            (void)session_console_look(console);
        } else if (done < steps && stop->reason == FACET_STOP_IDLE) {
            more =
                session_console_feed(console, -1, cli_stop_seconds_left(watch)) != SESSION_NOTHING;
        }
        if (more && cli_stop_seconds_left(watch) < 0) {
            stop->reason = FACET_STOP_REQUEST;
            more = false;
        }
    }
    (void)fflush(stdout);
    stop->steps = done;
}

static int interrupted(const struct cli_args *args, uint64_t steps)
{
    (void)cli_bad(
        args, "interrupted after %" PRIu64 " step%s; nothing written", steps, cli_s(steps));
    return cli_stop_code();
}

static int save(const struct cli_args *args, const struct session_xphmg *setup, uint64_t steps)
{
    const char *path = cli_value(args, "output");
    struct facet_error err = {0};

    if (session_snapshot_write(path, &setup->config, setup->machine, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (!args->quiet) {
        fprintf(stderr,
                "facet snapshot: %s: after %" PRIu64 " step%s (%" PRIu64 " in all)%s\n",
                path,
                steps,
                cli_s(steps),
                facet_machine_steps(setup->machine),
                facet_machine_in_step(setup->machine) ? ", in the middle of the next" : "");
    }
    return CLI_OK;
}

/* ---- facet snapshot --info --------------------------------------------------------------------
 */

static int run_info(const struct cli_args *args)
{
    const char *path = cli_value(args, "info");
    struct facet_error err = {0};
    struct facet_bytes bytes;
    struct session_snapshot file;
    facet_machine *machine = NULL;
    enum facet_status status;
    int code = CLI_OK;

    if (facet_file_read(path, FILE_LIMIT, &bytes, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    status = session_snapshot_parse(bytes.data, bytes.size, &file, &err);
    if (status == FACET_OK) {
        status = session_snapshot_resume(
            &file, &(struct facet_xphmg_config){.plain = true}, &machine, &err);
    }
    if (status != FACET_OK) {
        (void)facet_fail_in(&err, path);
        code = cli_bad_error(args, &err);
    } else if (args->json) {
        code = cli_print_json(args, report_snapshot_json(&file, machine));
    } else {
        report_snapshot(&file, machine);
    }
    facet_machine_destroy(machine);
    session_snapshot_free(&file);
    free(bytes.data);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------
 */

static int ended_early(const struct cli_args *args, const struct facet_stop *stop, uint64_t steps)
{
    const char *reason = facet_stop_name(stop->reason);

    return steps == UINT64_MAX
               ? cli_bad(args,
                         "stopped (%s) after %" PRIu64 " steps, before the time was over; nothing "
                         "written",
                         reason,
                         stop->steps)
               : cli_bad(args,
                         "stopped (%s) after %" PRIu64 " steps, expected %" PRIu64
                         "; nothing written",
                         reason,
                         stop->steps,
                         steps);
}

static int run_snapshot(const struct cli_args *args)
{
    struct session_console console = {0};
    struct session_xphmg setup = {0};
    struct facet_stop stop = {.reason = FACET_STOP_BUDGET};
    uint64_t steps = UINT64_MAX;
    double max_seconds = HUGE_VAL;
    struct cli_stop watch;
    int code = CLI_BAD;
    bool reached;

    if (cli_given(args, "info")) {
        return args->positional_count == 0
                   ? run_info(args)
                   : cli_bad(args, "%s: --info takes no program", args->positional[0]);
    }
    if (args->json) {
        return cli_bad(args, "--json needs --info FILE");
    }
    if (cli_value(args, "output") == NULL ||
        (!cli_given(args, "steps") && !cli_given(args, "max-seconds"))) {
        return cli_bad(args, "expected -o FILE, and --steps N or --max-seconds SECONDS");
    }
    if (!cli_number(args, "steps", 0, UINT64_MAX, &steps) ||
        !cli_real(args, "max-seconds", 0, 1e9, &max_seconds) ||
        !cli_can_write(args, cli_value(args, "output")) ||
        (args->positional_count > 0 &&
         cli_would_replace(args, cli_value(args, "output"), args->positional[0], "the program"))) {
        return CLI_BAD;
    }
    if (!session_files_open(&console.files, args)) {
        return CLI_BAD;
    }
    if (session_xphmg_start(&setup, args, session_console_host(&console))) {
        console.machine = setup.machine;
        cli_stop_begin(&watch, setup.machine, max_seconds);
        run_steps(&console, steps, &watch, &stop);
        cli_stop_end(&watch);
        reached =
            stop.steps == steps || (stop.reason == FACET_STOP_REQUEST && cli_stop_signal() == 0);
        code = cli_spoiled()                        ? CLI_BAD
               : cli_stop_signal() != 0 && !reached ? interrupted(args, stop.steps)
               : reached                            ? save(args, &setup, stop.steps)
                                                    : ended_early(args, &stop, steps);
    }
    session_xphmg_end(&setup);
    session_console_free(&console);
    session_files_close(&console.files, args);
    return code;
}

static const struct cli_option snapshot_options[] = {
    {"output", 'o', "FILE", "file to write"},
    {"steps", 0, "N", "run so many steps (instructions, traps included) before"},
    {"max-seconds", 0, "SECONDS", "run at most this wall-clock time before"},
    {"info", 0, "FILE", "print what is in such a file, and do nothing else"},
    CLI_PLAIN_OPTION,
    SESSION_XPHMG_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_snapshot = {
    .name = "snapshot",
    .summary = "run a program for a while and save the whole machine to a file",
    .usage = "facet snapshot PROGRAM [ARG...] --steps N -o FILE [--harts N] [--ram SIZE]\n"
             "facet snapshot PROGRAM [ARG...] --max-seconds SECONDS -o FILE\n"
             "facet snapshot --resume FILE --steps N -o FILE\n"
             "facet snapshot --info FILE [--json]",
    .details =
        "Loads a program as `facet run` does, runs N steps and saves registers, CSRs, memory, "
        "devices and time, with the configuration that the machine was made with. `facet run "
        "--resume FILE` (and `facet gdb --resume FILE`) continues from there on any host, bit "
        "for bit as if it had never stopped, without the program's file. Input that the program "
        "has been given but not read is part of the snapshot; open files of --files are not.\n\n"
        "With --max-seconds the run ends when the time is up, if not before; that may be in the "
        "middle of a long step, such as a job of XSUBMIT; the resumed run does the rest of "
        "it.\n\n"
        "When the program ends or waits forever before that, nothing is written. --info checks a "
        "file as if it were resumed and prints the configuration of its machine, its steps, and "
        "the position of each hart.",
    .examples = "facet as --isa xphmg examples/xphmg/hello.s -o hello.elf\n"
                "facet snapshot hello.elf --steps 5 -o hello.snap\n"
                "facet snapshot --info hello.snap\n"
                "facet run --resume hello.snap",
    .options = snapshot_options,
    .has_json = true,
    .run = run_snapshot,
    .operands = "[PROGRAM] [ARG...]",
};
