/* `facet tile run`: one dispatch of a kernel on the tile machine. */
#include "command/stop.h"
#include "session/cover.h"
#include "session/lint.h"
#include "session/steps.h"
#include "session/tile_output.h"

#include "base/bits.h"
#include "base/error.h"
#include "isa/isa.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_LIMIT ((size_t)1 << 30) /* bytes: VRAM, caches and state are below */

struct session {
    const struct cli_args *args;
    struct session_tile setup;
    struct session_tile_outputs outputs;
    struct session_trace trace;
    struct session_lint lint;
    struct session_cover cover;
    struct facet_stop stop;
};

static bool find_place(const void *setup, const char *text, uint64_t *address)
{
    uint32_t place;
    bool found = session_tile_address(setup, text, &place) && place % 4 == 0;

    *address = found ? place : 0;
    return found;
}

/* ---- the report ---- */

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
                       session_result(&s->stop),
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
            session_result(&s->stop),
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
    int code = session_exit_code(&s->stop);

    return code == CLI_OK && session_lint_fails(&s->lint) ? CLI_NO : code;
}

/* ---- the command ---- */

static unsigned line_of(const void *context, uint64_t address)
{
    return session_tile_line(context, address);
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
    good = session_tile_start(&s.setup, args) &&
           session_resume(args, s.setup.machine, SNAPSHOT_LIMIT) &&
           session_breakpoints(args,
                               s.setup.machine,
                               find_place,
                               &s.setup,
                               "a multiple of 4 or a symbol of the kernel") &&
           session_tile_outputs_plan(&s.outputs, &s.setup, args) &&
           session_lint_start(&s.lint, args, s.setup.machine) &&
           session_cover_start(&s.cover, args, s.setup.machine, FACET_ISA_TILE) &&
           session_trace_open(&s.trace, args, s.setup.program);
    if (good) {
        s.lint.line_of = line_of;
        s.lint.lines = &s.setup;
        s.trace.beside = session_cover_observer(&s.cover, session_lint_observer(&s.lint));
        good = session_steps(args, s.setup.machine, &s.trace, &s.stop);
        good = session_trace_close(&s.trace, args, good) && good;
        session_lint_print(&s.lint, s.setup.program);
    }
    good = good && session_cover_finish(&s.cover) &&
           session_tile_outputs_write(&s.outputs, &s.setup, args, session_cover_part(&s.cover));
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
    session_cover_free(&s.cover);
    session_lint_free(&s.lint);
    session_tile_outputs_free(&s.outputs);
    session_tile_end(&s.setup);
    return code;
}

static const struct cli_option run_options[] = {
    {"out",
     'o',
     "ADDR,LEN=FILE",
     CLI_GROUP("Run") "write memory to a file when the dispatch has ended; repeatable"},
    {"break", 'b', "ADDR", "stop before the instruction at an address or symbol; repeatable"},
    {"steps", 0, "N", "stop after so many instructions of all cores together"},
    CLI_PLAIN_OPTION,
    CLI_STOP_OPTION,
    {"save", 0, "FILE", "write the whole machine to a file when the run has ended or stopped"},
    {"resume", 0, "FILE", "continue from a file of --save; KERNEL and options as before"},
    SESSION_TILE_OPTIONS,
    SESSION_LINT_OPTIONS,
    SESSION_COVER_OPTION,
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
        "KERNEL is assembly text (.s), an ELF file of `facet as --isa tile`, words in "
        "hexadecimal as $readmemh takes them (.hex), or a flat file of instruction words. "
        "`.include` looks in the source's folder, then in the folders of -I. It runs once for "
        "every tile of the grid on four cores; each ends with EXIT. The argument block is 64 KiB "
        "below the end of VRAM and has one word per --arg. Addresses of --in, --out and --break "
        "are numbers, names of arguments or symbols of the kernel.\n\n"
        "The report has the instructions of each core by class (as the CSRs perf_* count them), "
        "status, faults and rounds. The exit code is 0 when the dispatch is done or stopped at a "
        "breakpoint or after --steps, 1 when it ended with a fault or the watchdog, or waits for "
        "a doorbell that never comes, or with --lint-error when there is a finding; 124 when "
        "--max-seconds is over, 130 after Ctrl-C, both in the middle of a draw as well. "
        "docs/tile.md has a worked example.\n\n"
        "--save keeps registers, caches, memory, queue and an interrupted draw; --resume "
        "continues from there, bit for bit as if the run had never stopped.\n\n"
        "--lint reports the places where the kernel does what the contract calls wrong or "
        "undefined, such as reading what another core has not published; docs/lint.md and "
        "--lint-rules have the rules.\n\n"
        "--cover counts what the kernel reached of the contract; facet cover report compares that "
        "with the tables (docs/cover.md).\n\n"
        "Cores are weakly ordered: --mem strong shows what a program does when every store is "
        "seen at once, --schedule SEED runs it in another legal order of instructions. Results "
        "do not depend on the host.",
    .examples = "facet tile run examples/tile/fill.s --grid 4x3 --arg target=0x80100000 "
                "--arg stride=256 --arg color=0xff336699 --out target,12288=pixels.raw",
    .options = run_options,
    .has_json = true,
    .run = run_tile,
    .operands = "[KERNEL]",
};
