/* `facet tile run`: one dispatch of a kernel on the tile machine. */
#include "command/deadline.h"
#include "command/stop.h"
#include "session/lint.h"
#include "session/tile_output.h"
#include "session/trace.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/file.h"
#include "isa/isa.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 24 };                /* steps between looks at the trace's limits */
#define SNAPSHOT_LIMIT ((size_t)1 << 30) /* bytes: VRAM, caches and state are below */

struct session {
    const struct cli_args *args;
    struct session_tile setup;
    struct session_tile_outputs outputs;
    struct session_trace trace;
    struct session_lint lint;
    struct facet_stop stop;
    struct cli_stop watch;
};

/* ---- running ---- */

static bool add_breakpoints(const struct session *s)
{
    const char *text;

    for (int i = 0; (text = cli_nth_value(s->args, "break", i)) != NULL; i++) {
        struct facet_error err = {0};
        uint32_t address;

        if (!session_tile_address(&s->setup, text, &address) || address % 4 != 0) {
            (void)cli_bad(
                s->args, "--break %s: expected a multiple of 4 or a symbol of the kernel", text);
            return false;
        }
        if (facet_machine_break_add(s->setup.machine, FACET_ANY_CORE, address, NULL, &err) !=
            FACET_OK) {
            (void)cli_bad_error(s->args, &err);
            return false;
        }
    }
    return true;
}

/* The machine of the options goes on where the one of --save stood. */
static bool resume(const struct session *s)
{
    const char *path = cli_value(s->args, "resume");
    struct facet_bytes bytes = {NULL, 0};
    struct facet_error err = {0};
    enum facet_status status;

    if (path == NULL) {
        return true;
    }
    status = facet_file_read(path, SNAPSHOT_LIMIT, &bytes, &err);
    if (status == FACET_OK) {
        status = facet_machine_restore(s->setup.machine, bytes.data, bytes.size, &err);
        if (status != FACET_OK) {
            (void)facet_fail_in(&err, path);
        }
    }
    free(bytes.data);
    if (status != FACET_OK) {
        (void)cli_bad_error(s->args, &err);
    }
    return status == FACET_OK;
}

static bool run(struct session *s)
{
    uint64_t done = 0, steps = UINT64_MAX;
    bool good = cli_number(s->args, "steps", 0, UINT64_MAX, &steps), more = steps != 0;

    s->stop.reason = FACET_STOP_BUDGET; /* of --steps 0 */

    cli_stop_begin(&s->watch, s->setup.machine, cli_deadline_left());
    while (good && more) {
        uint64_t left = steps - done, most = left < CHUNK ? left : CHUNK;
        struct facet_run how = {.budget = session_trace_limit(&s->trace, done, most)};

        good = session_trace_update(&s->trace, s->args, s->setup.machine, done);
        if (good) {
            facet_machine_run(s->setup.machine, &how, &s->stop);
            done += s->stop.steps;
            more = s->stop.reason == FACET_STOP_BUDGET && done < steps &&
                   !session_trace_failed(&s->trace);
        }
    }
    cli_stop_end(&s->watch);
    return good;
}

/* ---- the report ---- */

static const char *result_name(const struct session *s)
{
    switch (s->stop.reason) {
    case FACET_STOP_EXIT:
        return "done";
    case FACET_STOP_IDLE:
        return "waiting";
    case FACET_STOP_REQUEST:
        return cli_stop_signal() != 0 ? "interrupted" : "time limit";
    case FACET_STOP_BUDGET:
        return "paused"; /* by --steps */
    default:
        return facet_stop_name(s->stop.reason); /* fault, breakpoint */
    }
}

static json_t *core_json(const struct session *s, uint32_t core)
{
    struct facet_tile_core_report r = facet_tile_report_of(s->setup.machine, core);
    json_t *classes = json_object();
    json_t *item = json_pack("{s:I, s:I, s:I, s:o}",
                             "core",
                             (json_int_t)core,
                             "tiles",
                             (json_int_t)r.tiles,
                             "instructions",
                             (json_int_t)r.retired,
                             "by_class",
                             classes);

    for (int i = 0; i < FACET_TILE_CLASSES; i++) {
        (void)json_object_set_new(classes,
                                  facet_tile_class_name((enum facet_tile_class)i),
                                  json_integer((json_int_t)r.by_class[i]));
    }
    (void)json_object_set_new(item, "status", facet_json_hex(r.status));
    (void)json_object_set_new(item, "gerror", facet_json_hex(r.gerror));
    if (r.fault_cause != 0) {
        (void)json_object_set_new(item,
                                  "fault",
                                  json_pack("{s:I, s:s, s:o, s:o}",
                                            "cause",
                                            (json_int_t)r.fault_cause,
                                            "name",
                                            facet_tile_cause_name(r.fault_cause),
                                            "pc",
                                            facet_json_hex(r.fault_pc),
                                            "address",
                                            facet_json_hex(r.fault_addr)));
    }
    return item;
}

static int report_json(const struct session *s)
{
    json_t *cores = json_array(), *words = json_array(), *result;

    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        (void)json_array_append_new(cores, core_json(s, i));
    }
    for (size_t i = 0; i < s->setup.arg_count; i++) {
        (void)json_array_append_new(words,
                                    json_pack("{s:s, s:o}",
                                              "name",
                                              s->setup.args[i].name,
                                              "value",
                                              facet_json_hex(s->setup.args[i].value)));
    }
    result = json_pack("{s:s, s:I, s:o, s:o, s:o}",
                       "result",
                       result_name(s),
                       "rounds",
                       (json_int_t)facet_tile_info_of(s->setup.machine).rounds,
                       "arg_base",
                       facet_json_hex(s->setup.packet.arg_base),
                       "args",
                       words,
                       "cores",
                       cores);
    if (result != NULL) {
        session_lint_json(&s->lint, s->setup.program, result);
    }
    return cli_print_json(s->args, result);
}

/* The names of the bits that are set, each after a blank. */
static void print_status(FILE *out, uint32_t status)
{
    const struct facet_csr_row *row = facet_csr_find(FACET_ISA_TILE, "status");

    fprintf(out, "  0x%08x", (unsigned)status);
    for (uint32_t i = 0; row != NULL && i < row->field_count; i++) {
        if ((status >> row->fields[i].lo & 1) != 0 && row->fields[i].hi == row->fields[i].lo) {
            fprintf(out, " %s", row->fields[i].name);
        }
    }
    fputc('\n', out);
}

/* A kernel that ran off its end: the zero word behind its code. */
static bool ran_off(const struct session *s, const struct facet_tile_core_report *r)
{
    const struct facet_object *program = s->setup.program;

    for (size_t i = 0; i < program->section_count; i++) {
        const struct facet_section *section = &program->sections[i];

        if ((section->flags & FACET_SECTION_EXEC) != 0 &&
            (r->fault_pc == facet_align_up(section->address + section->size, 4))) {
            return r->fault_cause == 1 && r->fault_addr == 0;
        }
    }
    return false;
}

static void report_text(const struct session *s)
{
    FILE *out = s->outputs.use_stdout ? stderr : stdout;

    fprintf(out, "core  tiles  instructions");
    for (int i = 0; i < FACET_TILE_CLASSES; i++) {
        fprintf(out, "  %9s", facet_tile_class_name((enum facet_tile_class)i));
    }
    fprintf(out, "  status\n");
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        struct facet_tile_core_report r = facet_tile_report_of(s->setup.machine, core);

        fprintf(out,
                "%4u  %5u  %12llu",
                (unsigned)core,
                (unsigned)r.tiles,
                (unsigned long long)r.retired);
        for (int i = 0; i < FACET_TILE_CLASSES; i++) {
            fprintf(out, "  %9llu", (unsigned long long)r.by_class[i]);
        }
        print_status(out, r.status);
    }
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        struct facet_tile_core_report r = facet_tile_report_of(s->setup.machine, core);

        if (r.fault_cause != 0) {
            char text[128] = "";

            (void)facet_machine_disassemble(
                s->setup.machine, core, r.fault_pc, text, sizeof text, NULL);
            fprintf(out,
                    "core %u: %s (cause %u) at pc 0x%08x, address 0x%08x: %s\n",
                    (unsigned)core,
                    facet_tile_cause_name(r.fault_cause),
                    (unsigned)r.fault_cause,
                    (unsigned)r.fault_pc,
                    (unsigned)r.fault_addr,
                    text);
            if (ran_off(s, &r)) {
                fprintf(out, "core %u ran past the end of the code: is EXIT missing?\n", core);
            }
        }
    }
    if (s->stop.reason == FACET_STOP_BREAKPOINT) {
        fprintf(out,
                "core %u stopped at the breakpoint 0x%08llx\n",
                (unsigned)s->stop.core,
                (unsigned long long)s->stop.pc);
    }
    fprintf(out,
            "%s after %llu round%s\n",
            result_name(s),
            (unsigned long long)facet_tile_info_of(s->setup.machine).rounds,
            cli_s(facet_tile_info_of(s->setup.machine).rounds));
}

/* Where a run was stopped from outside. */
static void tell_stop(const struct session *s)
{
    char text[128] = "";

    (void)facet_machine_disassemble(
        s->setup.machine, s->stop.core, s->stop.pc, text, sizeof text, NULL);
    (void)cli_bad(s->args,
                  "%s: core %u is %s 0x%08llx: %s",
                  cli_stop_why(),
                  (unsigned)s->stop.core,
                  facet_machine_in_step(s->setup.machine) ? "in the middle of" : "at",
                  (unsigned long long)s->stop.pc,
                  text);
}

static int exit_code(const struct session *s)
{
    switch (s->stop.reason) {
    case FACET_STOP_REQUEST:
        return cli_stop_code();
    case FACET_STOP_EXIT:
    case FACET_STOP_BREAKPOINT:
    case FACET_STOP_BUDGET:
        return session_lint_fails(&s->lint) ? CLI_NO : CLI_OK;
    default:
        return CLI_NO;
    }
}

/* ---- the command ---- */

static unsigned line_of(const void *context, uint64_t address)
{
    return session_tile_line(context, address);
}

static bool checked_trace(const struct cli_args *args)
{
    const char *format = cli_value(args, "trace-format");

    if (format != NULL && strcmp(format, "spike") == 0) {
        (void)cli_bad(args, "--trace-format spike is for the xphmg machine, expected jsonl");
        return false;
    }
    return true;
}

static int run_tile(const struct cli_args *args)
{
    struct session s = {.args = args};
    int code = CLI_BAD;
    bool good;

    if (cli_given(args, "lint-rules")) {
        return session_lint_rules(args, FACET_LINT_TILE);
    }
    if (args->positional_count == 0) {
        return cli_bad(args, "expected a KERNEL");
    }
    good = checked_trace(args) && session_tile_start(&s.setup, args) && resume(&s) &&
           add_breakpoints(&s) && session_tile_outputs_plan(&s.outputs, &s.setup, args) &&
           session_lint_start(&s.lint, args, s.setup.machine) &&
           session_trace_open(&s.trace, args, s.setup.program);
    if (good) {
        s.lint.line_of = line_of;
        s.lint.lines = &s.setup;
        s.trace.beside = session_lint_observer(&s.lint);
        good = run(&s);
        good = session_trace_close(&s.trace, args, good) && good;
        session_lint_print(&s.lint, s.setup.program);
    }
    good = good && session_tile_outputs_write(&s.outputs, &s.setup, args);
    if (good && args->json) {
        good = report_json(&s) == CLI_OK;
    } else if (good) {
        report_text(&s);
    }
    if (good && s.stop.reason == FACET_STOP_REQUEST) {
        tell_stop(&s);
    }
    if (good) {
        code = exit_code(&s);
    }
    session_lint_free(&s.lint);
    session_tile_outputs_free(&s.outputs);
    session_tile_end(&s.setup);
    return code;
}

static const struct cli_option run_options[] = {
    SESSION_TILE_OPTIONS,
    {"out", 'o', "ADDR,LEN=FILE", "write memory to a file when the dispatch has ended; repeatable"},
    {"break", 'b', "ADDR", "stop before the instruction at an address or symbol; repeatable"},
    {"steps", 0, "N", "stop after so many instructions of all cores together"},
    CLI_STOP_OPTION,
    {"save", 0, "FILE", "write the whole machine to a file when the run has ended or stopped"},
    {"resume", 0, "FILE", "go on from a file of --save; KERNEL and options as they were"},
    SESSION_LINT_OPTIONS,
    SESSION_TRACE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_tile_run = {
    .name = "tile run",
    .summary = "dispatch a kernel on the tile machine",
    .usage = "facet tile run KERNEL --grid WxH [--arg NAME=VALUE]... [--in ADDR=FILE]... "
             "[--out ADDR,LEN=FILE]... [--json]\n"
             "facet tile run --lint-rules [--json]",
    .details =
        "KERNEL is assembly text (.s), an ELF file of `facet as --isa tile`, words in hexadecimal "
        "as $readmemh takes them (.hex), or a flat file of instruction words. `.include` looks "
        "beside the source, then in the folders of -I. It runs once for every tile of the grid on "
        "four cores; each ends with "
        "EXIT. The argument block lies 64 KiB below the end of VRAM and has one word per --arg. "
        "Addresses of --in, --out and --break are numbers, names of arguments or symbols of the "
        "kernel.\n\n"
        "The report has the instructions of each core by class (as the CSRs perf_* count them), "
        "status, faults and rounds. The exit code is 0 when the dispatch is done or stands at a "
        "breakpoint or after --steps, 1 when it ended with a fault, the watchdog, or waits for a "
        "doorbell that "
        "nobody rings, or with --lint-error when there is a finding; 124 when --max-seconds are "
        "over, 130 after Ctrl-C, both in the middle of a draw as well. docs/tile.md has a worked "
        "example.\n\n"
        "--save keeps registers, caches, memory, queue and a draw that was left; --resume goes on "
        "from there, bit for bit as "
        "if the run had never stopped.\n\n"
        "--lint names the places where the kernel does what the contract calls wrong or undefined, "
        "such as reading what another core has not published; docs/lint.md and --lint-rules have "
        "the rules.\n\n"
        "Cores are weakly ordered: --mem strong shows what a program does when every store is seen "
        "at once, --schedule SEED runs it in another legal order of instructions. Results do not "
        "depend on the host.",
    .examples = "facet tile run examples/tile/fill.s --grid 4x3 --arg target=0x80100000 "
                "--arg stride=256 --arg color=0xff336699 --out target,12288=pixels.raw",
    .options = run_options,
    .has_json = true,
    .run = run_tile,
    .operands = "[KERNEL]",
};
