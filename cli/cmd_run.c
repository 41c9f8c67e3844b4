/* `facet run`: a bare-metal RISC-V program on the xphmg machine, connected to the terminal. */
#include "command/output.h"
#include "command/stop.h"
#include "command/streams.h"
#include "session/cover.h"
#include "session/explain.h"
#include "session/guest_files.h"
#include "session/lint.h"
#include "session/picture.h"
#include "session/profile.h"
#include "session/run_output.h"
#include "session/state_dump.h"
#include "session/steps.h"
#include "session/timing/option.h"
#include "session/trace.h"
#include "session/work_list.h"
#include "session/xphmg.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "object/elf.h"
#include "json/json.h"

#include <errno.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_LIMIT = 124, EXIT_STUCK = 125, EXIT_MOST = 255 };
/* Steps between two looks at the clock and at the streams: as many as take about SLICE_SECONDS. */
enum { SLICE_LEAST = 1 << 6, SLICE_FIRST = 1 << 14, SLICE_MOST = 1 << 20, INPUT_PIECE = 4096 };
#define SLICE_SECONDS 0.02
/* The longest wait for input: a signal that comes just before it is seen after it. */
#define INPUT_SECONDS 0.1
#define INTERRUPT (UINT64_C(1) << 63) /* in a cause */

struct session {
    struct session_files files; /* first: the context of session_files_calls */
    const struct cli_args *args;
    struct session_xphmg setup;
    facet_machine *machine; /* of the setup */
    struct facet_object *program;
    struct session_trace trace;
    struct session_lint lint;
    struct session_cover cover;
    struct session_profile profile;
    struct session_timing timing;
    struct session_run_outputs outputs;
    struct session_explain why;
    bool input_ended;
    bool fed;   /* something came from standard input, or its end */
    bool again; /* steps are made a second time: what they print has been printed */
    uint64_t max_steps;
    double max_seconds;
    double seconds;          /* that the run took */
    uint64_t retired_before; /* by the machine of a snapshot */
    struct facet_stop stop;
    struct cli_stop watch;
    bool out_of_time;
};

/* ---- what the machine asks of the host --------------------------------------------------------
 */

/* With --json or --trace - standard output is theirs alone. */
static void
host_output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    const struct session *s = context;

    if (s->again) {
        return;
    }
    if (stream == FACET_XPHMG_OUT && !s->args->json && s->trace.file != stdout) {
        cli_print_raw(stdout, data, size);
    } else {
        (void)fflush(stdout);
        cli_print_raw(stderr, data, size);
    }
}

/* Standard input to the guest: what is there already, or with `wait` what comes soon. */
static void feed(struct session *s, bool wait)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    double left = cli_stop_seconds_left(&s->watch);
    double seconds = !wait || left < 0 ? 0 : left < INPUT_SECONDS ? left : INPUT_SECONDS;
    char bytes[INPUT_PIECE];
    int found = 0;
    ssize_t got;

    (void)fflush(stdout);
    if (!s->input_ended) {
        found = poll(&ready, 1, (int)ceil(seconds * 1000));
    }
    if (found == 0) {
        return;
    }
    s->fed = true;
    got = found < 0 ? -1 : read(STDIN_FILENO, bytes, sizeof bytes);
    if ((got < 0 && errno == EINTR) ||
        (got > 0 && facet_xphmg_input(s->machine, bytes, (size_t)got, NULL) == FACET_OK)) {
        return;
    }
    if (got > 0) {
        cli_spoil("out of memory for standard input");
    } else if (got < 0 && errno != EBADF) { /* a closed one is an empty one */
        cli_spoil("cannot read standard input");
    }
    s->input_ended = true;
    (void)facet_xphmg_input_end(s->machine, NULL);
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* Traced steps and large matrices take long, plain ones do not. */
static uint64_t next_slice(uint64_t slice, double seconds)
{
    if (seconds > SLICE_SECONDS) {
        return slice > SLICE_LEAST ? slice / 2 : slice;
    }
    return seconds < SLICE_SECONDS / 4 && slice < SLICE_MOST ? slice * 2 : slice;
}

static uint64_t retired(const struct session *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < facet_machine_core_count(s->machine); i++) {
        sum += facet_machine_retired(s->machine, i);
    }
    return sum;
}

/* The reader is gone, the disk is full or input is lost: an endless program must not run on. */
static bool streams_failed(const struct session *s)
{
    return cli_spoiled() || ferror(stdout) || session_trace_failed(&s->trace);
}

/* false after a complaint. */
static bool run_program(struct session *s)
{
    double start = cli_stop_now();
    uint64_t done = 0, slice = SLICE_FIRST;
    bool more = true;

    s->retired_before = retired(s);
    while (more) {
        uint64_t left = s->max_steps - done;
        struct facet_run how = {
            .budget = session_trace_limit(&s->trace, done, left < slice ? left : slice)};

        if (!session_trace_update(&s->trace, s->args, s->machine, done)) {
            return false;
        }
        facet_machine_run(s->machine, &how, &s->stop);
        done += s->stop.steps;
        more = s->stop.reason == FACET_STOP_BUDGET && done < s->max_steps && !streams_failed(s);
        slice = next_slice(slice, cli_stop_now() - start - s->seconds);
        if (session_wants_input(s->machine)) {
            bool waits = s->stop.reason == FACET_STOP_IDLE;

            more = more || (waits && !s->input_ended);
            feed(s, waits);
        }
        s->seconds = cli_stop_now() - start;
        if (more ? cli_stop_seconds_left(&s->watch) < 0
                 : s->stop.reason == FACET_STOP_REQUEST && cli_stop_signal() == 0) {
            s->out_of_time = true;
            more = false;
        }
    }
    s->stop.steps = done;
    return true;
}

/* ---- breakpoints and names --------------------------------------------------------------------
 */

/* Instructions are even. */
static bool find_place(const void *program, const char *text, uint64_t *address)
{
    return session_find_address(program, text, address) && *address % 2 == 0;
}

static bool add_breakpoints(const struct session *s)
{
    return session_breakpoints(s->args,
                               s->machine,
                               find_place,
                               s->program,
                               "an even address, or a symbol of the program as SYMBOL or SYMBOL+N");
}

/* ---- telling ----------------------------------------------------------------------------------
 */

/* The program reads after the end of standard input. */
static bool reads_on(const struct session *s)
{
    return s->stop.reason == FACET_STOP_IDLE && session_wants_input(s->machine);
}

static bool in_deadlock(const struct session *s)
{
    struct facet_xphmg_fault fault;

    return s->stop.reason == FACET_STOP_FAULT &&
           facet_xphmg_get_fault(s->machine, &fault, NULL) == FACET_OK &&
           fault.cause == FACET_XPHMG_DEADLOCK;
}

static const char *reason_name(const struct session *s)
{
    return s->out_of_time                         ? "time limit"
           : s->stop.reason == FACET_STOP_BUDGET  ? "instruction limit"
           : s->stop.reason == FACET_STOP_REQUEST ? "interrupted"
           : reads_on(s)                          ? "end of input"
           : in_deadlock(s)                       ? "deadlock"
                                                  : facet_stop_name(s->stop.reason);
}

static int stop_code(const struct session *s)
{
    if (s->out_of_time) {
        return EXIT_LIMIT;
    }
    switch (s->stop.reason) {
    case FACET_STOP_EXIT:
        return s->stop.code < EXIT_MOST ? (int)s->stop.code : EXIT_MOST;
    case FACET_STOP_BREAKPOINT:
        return CLI_OK;
    case FACET_STOP_BUDGET:
        return EXIT_LIMIT;
    case FACET_STOP_REQUEST:
        return cli_stop_code();
    case FACET_STOP_MEMORY:
        return CLI_BAD;
    default:
        return EXIT_STUCK;
    }
}

/* A finding of --lint-error does not hide how the program itself ended. */
static int exit_code(const struct session *s)
{
    int code = stop_code(s);

    return code == CLI_OK && session_lint_fails(&s->lint) ? CLI_NO : code;
}

/* ": in the middle of xsubmit.rt", or of what the program had asked for before; or nothing. */
static void describe_step(const struct session *s, char *text, size_t size)
{
    enum facet_left left = facet_machine_left(s->machine);
    char insn[128] = "";

    text[0] = '\0';
    if (left == FACET_LEFT_INSTRUCTION) {
        (void)facet_machine_disassemble(
            s->machine, s->stop.core, s->stop.pc, insn, sizeof insn, NULL);
        insn[strcspn(insn, " ")] = '\0';
    }
    if (left != FACET_LEFT_NOTHING) {
        (void)snprintf(text,
                       size,
                       ": in the middle of %s",
                       left == FACET_LEFT_INSTRUCTION ? insn : facet_left_name(left));
    }
}

/* The instruction that the run ended at, executed or not; false where none is to blame. */
static bool culprit(const struct session *s, uint32_t *core, uint64_t *pc)
{
    struct facet_xphmg_fault fault;

    *core = s->stop.core;
    *pc = s->stop.pc;
    if (s->stop.reason == FACET_STOP_FAULT && !in_deadlock(s) &&
        facet_xphmg_get_fault(s->machine, &fault, NULL) == FACET_OK) {
        *core = fault.core;
        *pc = fault.pc;
    }
    return s->stop.reason != FACET_STOP_EXIT && s->stop.reason != FACET_STOP_IDLE;
}

/* What is known about that instruction, from a second look at the steps that led to it. */
static void look_again(struct session *s)
{
    uint32_t core;
    uint64_t pc;

    if (culprit(s, &core, &pc) && !s->fed) {
        s->again = true;
        session_explain_look(&s->why, s->stop.reason == FACET_STOP_FAULT);
        s->again = false;
    }
}

static void print_stop(const struct session *s)
{
    struct facet_xphmg_fault fault;
    char where[256], step[160];
    uint32_t core;
    uint64_t pc;

    (void)snprintf(where, sizeof where, "%s", session_explain_place(&s->why, s->stop.pc));
    describe_step(s, step, sizeof step);
    if (s->out_of_time || s->stop.reason == FACET_STOP_BUDGET) {
        fprintf(stderr, "facet run: %s reached at %s%s\n", reason_name(s), where, step);
    } else if (s->stop.reason == FACET_STOP_BREAKPOINT) {
        char text[128];

        (void)facet_machine_disassemble(
            s->machine, s->stop.core, s->stop.pc, text, sizeof text, NULL);
        fprintf(stderr, "facet run: hart %u at breakpoint %s: %s\n", s->stop.core, where, text);
    } else if (in_deadlock(s)) {
        fprintf(
            stderr,
            "facet run: every hart waits, and nothing can signal what hart %u waits for at %s\n",
            s->stop.core,
            where);
    } else if (s->stop.reason == FACET_STOP_FAULT &&
               facet_xphmg_get_fault(s->machine, &fault, NULL) == FACET_OK) {
        (void)snprintf(where, sizeof where, "%s", session_explain_place(&s->why, fault.pc));
        fprintf(stderr,
                "facet run: hart %u: %s (cause %" PRIu64 ", value 0x%" PRIx64
                ") at %s, and no trap handler "
                "at 0x%" PRIx64 "\n",
                fault.core,
                facet_xphmg_cause_name(fault.cause),
                fault.cause & ~INTERRUPT,
                fault.value,
                where,
                fault.handler);
    } else if (reads_on(s)) {
        fprintf(stderr,
                "facet run: the program keeps reading after the end of standard input, at %s\n",
                where);
    } else if (s->stop.reason == FACET_STOP_IDLE) {
        fprintf(stderr,
                "facet run: every hart waits (WFI) and no interrupt will come; hart %u is at %s\n",
                s->stop.core,
                where);
    } else if (s->stop.reason == FACET_STOP_MEMORY) {
        fprintf(stderr, "facet run: out of memory at %s%s\n", where, step);
    } else if (s->stop.reason == FACET_STOP_REQUEST) {
        fprintf(stderr, "facet run: interrupted at %s%s\n", where, step);
    }
    if (culprit(s, &core, &pc)) {
        char text[128] = "";

        (void)facet_machine_disassemble(s->machine, core, pc, text, sizeof text, NULL);
        if (s->stop.reason != FACET_STOP_BREAKPOINT && text[0] != '\0') {
            fprintf(stderr, "  %s\n", text);
        }
        session_explain_print(&s->why, stderr, core, pc);
    }
}

/* The trap that ended the run. */
static json_t *fault_json(const struct facet_xphmg_fault *fault)
{
    return json_pack("{s:I, s:o, s:b, s:I, s:s, s:o, s:o}",
                     "hart",
                     (json_int_t)fault->core,
                     "pc",
                     facet_json_hex(fault->pc),
                     "interrupt",
                     (int)(fault->cause >> 63),
                     "cause",
                     (json_int_t)(fault->cause & ~INTERRUPT),
                     "name",
                     facet_xphmg_cause_name(fault->cause),
                     "value",
                     facet_json_hex(fault->value),
                     "handler",
                     facet_json_hex(fault->handler));
}

/* What only some reasons have. */
static void add_details(const struct session *s, json_t *result)
{
    struct facet_xphmg_fault fault;
    uint32_t core;
    uint64_t pc;

    if (s->stop.reason == FACET_STOP_EXIT) {
        (void)json_object_set_new(result, "program_exit", json_integer((json_int_t)s->stop.code));
    } else if (s->stop.reason == FACET_STOP_FAULT && !in_deadlock(s) &&
               facet_xphmg_get_fault(s->machine, &fault, NULL) == FACET_OK) {
        (void)json_object_set_new(result, "fault", fault_json(&fault));
    }
    if (culprit(s, &core, &pc)) {
        (void)json_object_set_new(result, "stopped", session_explain_json(&s->why, core, pc));
    }
}

static int print_summary(const struct session *s)
{
    uint64_t instructions = retired(s) - s->retired_before;
    double mips = s->seconds > 0 ? (double)instructions / s->seconds / 1e6 : 0;
    bool dump = cli_given(s->args, "dump-state");
    json_t *result, *cores;

    if (cli_given(s->args, "stats")) {
        if (s->stop.reason == FACET_STOP_EXIT && s->stop.code != 0 && s->stop.address != 0) {
            fprintf(stderr, "facet run: *** FAILED *** (tohost = %" PRIu64 ")\n", s->stop.code);
        }
        fprintf(stderr,
                "facet run: %s, code %d, after %" PRIu64 " instruction%s, %.3f s, %.1f MIPS\n",
                reason_name(s),
                exit_code(s),
                instructions,
                cli_s(instructions),
                s->seconds,
                mips);
    }
    if (!s->args->json) {
        for (uint32_t i = 0; dump && i < facet_machine_core_count(s->machine); i++) {
            session_state_print(s->machine, i);
        }
        if (dump) {
            session_work_print(s->machine, stderr);
        }
        return CLI_OK;
    }
    result = json_pack("{s:s, s:i, s:I, s:I, s:f, s:f, s:I, s:o}",
                       "reason",
                       reason_name(s),
                       "exit_code",
                       exit_code(s),
                       "instructions",
                       (json_int_t)instructions,
                       "steps",
                       (json_int_t)s->stop.steps,
                       "seconds",
                       s->seconds,
                       "mips",
                       mips,
                       "hart",
                       (json_int_t)s->stop.core,
                       "pc",
                       facet_json_hex(s->stop.pc));
    if (result != NULL) {
        add_details(s, result);
    }
    if (result != NULL) {
        session_lint_json(&s->lint, s->program, result);
        session_timing_json(&s->timing, result);
    }
    if (dump && result != NULL && (cores = json_array()) != NULL) {
        for (uint32_t i = 0; i < facet_machine_core_count(s->machine); i++) {
            (void)json_array_append_new(cores, session_state_json(s->machine, i));
        }
        (void)json_object_set_new(result, "harts", cores);
        (void)json_object_set_new(result, "under_way", session_work_json(s->machine));
    }
    return cli_print_json(s->args, result);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* The machine, and the symbols of its program; after --resume there are none. */
static bool start(struct session *s)
{
    struct facet_xphmg_host host = {
        .context = s, .output = host_output, .files = session_files_calls};
    struct facet_error err = {0};

    if (!session_xphmg_start(&s->setup, s->args, host)) {
        return false;
    }
    s->machine = s->setup.machine;
    if (s->setup.program.data == NULL) {
        s->program = calloc(1, sizeof *s->program);
        if (s->program == NULL) {
            (void)cli_bad(s->args, "out of memory");
        }
        return s->program != NULL;
    }
    if (facet_elf_read(s->setup.program.data, s->setup.program.size, &s->program, &err) !=
        FACET_OK) {
        (void)facet_fail_in(&err, s->args->positional[0]);
        (void)cli_bad_error(s->args, &err);
        return false;
    }
    return true;
}

/* What is written only when everything is known, whatever ended the run; false after a complaint.
 */
static bool write_outputs(struct session *s)
{
    if (!session_cover_finish(&s->cover) ||
        !session_profile_finish(&s->profile, FACET_ISA_XPHMG, &s->why.symbols)) {
        return false;
    }
    return session_run_outputs_write(
        &s->outputs,
        s->args,
        s->machine,
        (const struct facet_file_part *[]){session_cover_part(&s->cover),
                                           session_profile_part(&s->profile)});
}

static int run_session(struct session *s)
{
    bool good;
    int code;

    cli_stop_begin(&s->watch, s->machine, s->max_seconds);
    good = run_program(s);
    cli_stop_end(&s->watch);
    session_profile_stop(&s->profile);
    good = session_timing_stop(&s->timing) && good;
    (void)fflush(stdout);
    good = good && !ferror(stdout) && !cli_spoiled();
    if (!session_trace_close(&s->trace, s->args, good) || !good) {
        return CLI_BAD; /* main tells of standard output */
    }
    look_again(s);
    print_stop(s);
    session_lint_print(&s->lint, s->program);
    code = s->args->json || session_timing_print(&s->timing, stderr) ? print_summary(s) : CLI_BAD;
    if (cli_given(s->args, "framebuffer") &&
        !session_picture_write(s->args, s->machine, cli_value(s->args, "framebuffer"))) {
        code = CLI_BAD;
    }
    if (!write_outputs(s)) {
        code = CLI_BAD;
    }
    return code != CLI_OK ? code : exit_code(s);
}

static int run_run(const struct cli_args *args)
{
    struct session s = {.args = args, .max_steps = UINT64_MAX, .max_seconds = HUGE_VAL};
    int code;

    if (cli_given(args, "lint-rules")) {
        return session_lint_rules(args, FACET_LINT_HART);
    }
    if (cli_given(args, "config") && strcmp(cli_value(args, "config"), "help") == 0) {
        return session_xphmg_keys();
    }
    if (!cli_number(args, "max-instructions", 1, UINT64_MAX, &s.max_steps) ||
        !cli_real(args, "max-seconds", 0, 1e9, &s.max_seconds)) {
        return CLI_BAD;
    }
    if (args->json && cli_given(args, "trace") && strcmp(cli_value(args, "trace"), "-") == 0) {
        return cli_bad(args, "--json and --trace - both write to standard output");
    }
    if (cli_given(args, "framebuffer") &&
        !session_picture_check(args, cli_value(args, "framebuffer"))) {
        return CLI_BAD;
    }
    if (!session_run_paths_differ(args)) {
        return CLI_BAD;
    }
    if (!session_files_open(&s.files, args)) {
        return CLI_BAD;
    }
    if (!start(&s) || !add_breakpoints(&s) ||
        !session_run_outputs_plan(&s.outputs, args, s.program, s.machine) ||
        !session_lint_start(&s.lint, args, s.machine) ||
        !session_cover_start(&s.cover, args, s.machine, FACET_ISA_XPHMG) ||
        !session_profile_start_calls(&s.profile, args, s.machine, FACET_ISA_XPHMG) ||
        !session_timing_start(&s.timing, args, s.machine, FACET_ISA_XPHMG, NULL) ||
        !session_explain_start(&s.why,
                               args,
                               s.machine,
                               FACET_ISA_XPHMG,
                               s.program,
                               !cli_given(args, "files") && !cli_given(args, "files-ro")) ||
        !session_trace_open(&s.trace, args, s.program)) {
        code = CLI_BAD;
    } else {
        s.lint.symbols = &s.why.symbols;
        s.trace.beside = session_timing_observer(
            &s.timing,
            session_cover_observer(
                &s.cover, session_profile_observer(&s.profile, session_lint_observer(&s.lint))));
        code = run_session(&s);
    }
    session_explain_free(&s.why);
    session_timing_free(&s.timing);
    session_profile_free(&s.profile);
    session_cover_free(&s.cover);
    session_lint_free(&s.lint);
    facet_object_free(s.program);
    session_xphmg_end(&s.setup);
    session_files_close(&s.files, args);
    return code;
}

static const struct cli_option run_options[] = {
    {"max-instructions",
     0,
     "N",
     CLI_GROUP("Run") "stop after N steps: instructions, traps included (exit code 124)"},
    {"max-seconds", 0, "SECONDS", "stop after this wall-clock time (exit code 124)"},
    {"break",
     'b',
     "PLACE",
     "stop before the instruction at an address, SYMBOL or SYMBOL+N; repeatable"},
    CLI_PLAIN_OPTION,
    {"dump-state",
     0,
     NULL,
     CLI_GROUP("Report") "print registers and CSRs of every hart at the end, and jobs under way"},
    {"framebuffer",
     0,
     "FILE",
     "write the picture of the framebuffer at the end: .png, .pfm or .exr"},
    SESSION_RUN_OUTPUT_OPTIONS,
    {"stats", 0, NULL, "print reason, exit code, instructions, time and speed on standard error"},
    SESSION_XPHMG_OPTIONS,
    SESSION_LINT_OPTIONS,
    SESSION_COVER_OPTION,
    SESSION_PROFILE_OPTION,
    SESSION_PROFILE_CALLS_OPTION,
    SESSION_TIMING_OPTION,
    SESSION_TRACE_OPTIONS_OF(
        "jsonl|spike|spike-traps|perfetto|vcd|konata",
        "JSON lines (default), Spike's commit log, alone or with traps, a timeline, "
        "waves, a pipeline view"),
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_run = {
    .name = "run",
    .summary = "run a bare-metal RISC-V program on the xphmg machine",
    .usage = "facet run PROGRAM [ARG...] [--harts N] [--ram SIZE] [--break PLACE] [--json]\n"
             "facet run PROGRAM [OPTION...] -- ARG...\n"
             "facet run --resume FILE [--break PLACE] [--json]\n"
             "facet run --lint-rules [--json]\n"
             "facet run --config help",
    .details =
        "Loads an ELF64 executable, starts every hart at its entry point (a0 = hart number) and "
        "connects its console to standard input and output. Programs end and talk through RISC-V "
        "semihosting, HTIF (symbols tohost and fromhost), or the UART and the finisher of QEMU's "
        "virt machine; docs/run.md has the memory map. Arguments for the program that start with "
        "a dash follow after --.\n\n"
        "Runs are repeatable: time counts instructions, and the only input from the host is "
        "standard input and, with --files, the files below one folder: --files-ro lets the "
        "program only read them, --files-quota bounds what it may add.\n\n"
        "--config makes the machine that it describes: which extensions the hart has, whether "
        "misaligned accesses trap, physical memory protection, where RAM and devices are, what "
        "the vendor units can do. It takes a list, or a file of the same keys (.toml, .json); "
        "--config help prints the keys, docs/run.md explains them.\n\n"
        "--framebuffer writes what the program shows in its framebuffer (docs/run.md) when it "
        "stops, for whatever reason.\n\n"
        "--signature and --dump-memory write memory when the program has stopped, for whatever "
        "reason: all of these files, or none. B is the address behind the last byte.\n\n"
        "--jobs late lets jobs of XSUBMIT and asynchronous copies complete only when a fence or "
        "wait needs them, at the latest after 2^20 steps; late:SEED (from 1) after 1 to 2^16 "
        "steps drawn from the seed. A program that waits as the contract requires gives the same "
        "results; one that forgets sees stale data, as on hardware. Jobs that have not completed "
        "when the program ends are never done.\n\n"
        "--lint checks every instruction in the plain executor and reports each place that does "
        "what the contract calls wrong, undefined or without effect, such as reading the results "
        "of a job before XFENCE.WAIT; docs/lint.md and --lint-rules have the rules.\n\n"
        "--cover counts what the program reached of the contract; facet cover report compares that "
        "with the tables (docs/cover.md).\n\n"
        "--profile-out counts how often every instruction retires, exactly and at nearly the full "
        "speed; "
        "facet profile show has the views (docs/profile.md).\n\n"
        "--timing estimates how many cycles the program takes on a machine with the numbers of "
        "FILE, and what limits it; results do not change (docs/timing.md).\n\n"
        "--resume continues from a file of `facet snapshot` instead of a program; places are "
        "then addresses only.\n\n"
        "With --json standard output holds one object with the reason, and what the program "
        "prints goes to standard error.",
    .exit_codes =
        "Besides those of every command (facet help) the program's own, 255 when that is "
        "larger; 0 at a breakpoint; 124 also for --max-instructions; 125 when the program "
        "cannot continue (a trap without handler, or all harts wait forever); 130 after "
        "Ctrl-C (143 after SIGTERM, 129 after SIGHUP); 1 in place of 0 when --lint-error "
        "has findings. --json identifies a program's own 2, 124 or 125.",
    .examples = "facet as --isa xphmg examples/xphmg/hello.s -o hello.elf\n"
                "facet run hello.elf\n"
                "facet run hello.elf --json --dump-state\n"
                "facet run hello.elf --trace hello.jsonl --trace-insn 'add*'\n"
                "facet run hello.elf --jobs late:7\n"
                "facet run hello.elf --config rv64,isa=rv64imac,misaligned=trap\n"
                "facet run hello.elf --lint",
    .options = run_options,
    .has_json = true,
    .run = run_run,
    .operands = "[PROGRAM] [ARG...]",
};
