/* `facet tile run`: one dispatch of a kernel on the tile machine. */
#include "command/stop.h"
#include "session/cover.h"
#include "session/lint.h"
#include "session/profile.h"
#include "session/steps.h"
#include "session/tile/output.h"
#include "session/tile/picture.h"
#include "session/tile/report.h"
#include "session/timing/option.h"

#define SNAPSHOT_LIMIT ((size_t)1 << 30) /* bytes: VRAM, caches and state are below */

struct session {
    const struct cli_args *args;
    struct session_tile setup;
    struct session_tile_outputs outputs;
    struct session_trace trace;
    struct session_lint lint;
    struct session_cover cover;
    struct session_timing timing;
    struct session_profile profile;
    struct session_explain why;
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

/* Pictures of --out are ARGB8888, one row behind the other. */
static void show_pictures(struct session *s)
{
    for (int i = 0; i < s->outputs.count; i++) {
        const struct session_tile_output *out = &s->outputs.list[i];

        if (out->width != 0) {
            session_lint_picture(&s->lint,
                                 &(struct facet_lint_picture){
                                     out->address, 4 * out->width, out->width, out->height, 4});
        }
    }
}

static int run_tile(const struct cli_args *args)
{
    struct session s = {.args = args};
    int code = CLI_BAD, expected;
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
           session_explain_start(
               &s.why, args, s.setup.machine, FACET_ISA_TILE, s.setup.program, true) &&
           session_timing_start(&s.timing, args, s.setup.machine, FACET_ISA_TILE, NULL) &&
           session_trace_open(&s.trace, args, s.setup.program) &&
           session_profile_start_calls(&s.profile, args, s.setup.machine, FACET_ISA_TILE);
    if (good) {
        s.lint.symbols = &s.why.symbols;
        show_pictures(&s);
        s.trace.beside = session_timing_observer(
            &s.timing,
            session_cover_observer(
                &s.cover, session_profile_observer(&s.profile, session_lint_observer(&s.lint))));
        good = session_steps(args, s.setup.machine, &s.trace, &s.stop);
        good = session_timing_stop(&s.timing) && good;
        session_profile_stop(&s.profile);
        good = session_trace_close(&s.trace, args, good) && good;
        session_lint_print(&s.lint, s.setup.program);
    }
    good = good && session_cover_finish(&s.cover) &&
           session_profile_finish(&s.profile, FACET_ISA_TILE, &s.why.symbols) &&
           session_tile_outputs_write(
               &s.outputs,
               &s.setup,
               args,
               (const struct facet_file_part *[SESSION_TILE_REPORTS]){
                   session_cover_part(&s.cover), session_profile_part(&s.profile)});
    if (good) {
        good = session_tile_report(args,
                                   &s.setup,
                                   &s.why,
                                   &s.lint,
                                   &s.timing,
                                   &s.stop,
                                   s.outputs.use_stdout ? stderr : stdout) == CLI_OK;
    }
    if (good && s.stop.reason == FACET_STOP_REQUEST) {
        tell_stop(&s);
    }
    if (good) {
        code = exit_code(&s);
        expected = session_expect(args, s.outputs.hash);
        code = code == CLI_OK || expected == CLI_BAD ? expected : code;
    }
    session_explain_free(&s.why);
    session_timing_free(&s.timing);
    session_profile_free(&s.profile);
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
     CLI_GROUP("Run") "write memory to a file when the dispatch has ended; ADDR,WxH=FILE.png: as a "
                      "picture of ARGB8888 texels; repeatable"},
    SESSION_EXPECT_OPTION,
    {"break", 'b', "ADDR", "stop before the instruction at an address or symbol; repeatable"},
    {"steps", 0, "N", "stop after so many instructions of all cores together"},
    CLI_PLAIN_OPTION,
    CLI_STOP_OPTION,
    {"save", 0, "FILE", "write the whole machine to a file when the run has ended or stopped"},
    {"resume", 0, "FILE", "continue from a file of --save; KERNEL and options as before"},
    SESSION_TILE_OPTIONS,
    SESSION_LINT_OPTIONS,
    SESSION_COVER_OPTION,
    SESSION_TIMING_OPTION,
    SESSION_PROFILE_OPTION,
    SESSION_PROFILE_CALLS_OPTION,
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
        "A PNG or JPEG file of --arg NAME=@FILE is decoded to ARGB8888 texels, and NAME.width and "
        "NAME.height are numbers for the other options. --expect compares the hash of all --out, "
        "of pictures that of their pixels.\n\n"
        "After a fault, at a breakpoint and after --steps the report names source line and "
        "instruction, the registers that it reads, who wrote them, and the words of status that "
        "are not zero.\n\n"
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
        "--timing estimates how many cycles the kernel takes on a machine with the numbers of "
        "FILE, and what limits it; results do not change (docs/timing.md).\n\n"
        "--profile-out counts how often every instruction retires, lanes under a mask, accesses by "
        "class of memory and what draws did; facet profile show has the views "
        "(docs/profile.md).\n\n"
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
