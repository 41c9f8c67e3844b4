/* `facet gfx12 run`: rays on the gfx12 machine, instruction by instruction. */
#include "command/output.h"
#include "command/stop.h"
#include "session/explain.h"
#include "session/gfx12.h"
#include "session/steps.h"

#include "base/error.h"
#include "base/file.h"
#include "documents/gfx12_vectors.h"
#include "gfx12/ask/explain.h"
#include "gfx12/ask/reads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_LIMIT ((size_t)1 << 36) /* bytes: the image and some kilobytes */

struct session {
    const struct cli_args *args;
    struct session_gfx12 setup;
    struct session_trace trace;
    struct session_explain why;
    struct facet_stop stop;
};

/* ---- before the run ---- */

static bool find_place(const void *context, const char *text, uint64_t *address)
{
    char *end;

    (void)context;
    errno = 0;
    *address = strtoull(text, &end, 0);
    return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static bool checked_files(const struct cli_args *args)
{
    const char *save = cli_value(args, "save");

    if (args->json && cli_given(args, "trace") && cli_is_stream(cli_value(args, "trace"))) {
        (void)cli_bad(args,
                      "--json and --trace - both write to standard output: expected one of them");
        return false;
    }
    if (save != NULL && cli_is_stream(save)) {
        (void)cli_bad(args, "--save -: expected a file");
        return false;
    }
    return !cli_would_replace(args, save, args->positional[0], "the image") &&
           !cli_would_replace(args, save, cli_value(args, "program"), "the program") &&
           !cli_would_replace(args, save, cli_value(args, "trace"), "the trace") &&
           !cli_would_replace(args, cli_value(args, "trace"), args->positional[0], "the image") &&
           cli_can_write(args, save);
}

static bool open_trace(struct session *s)
{
    static const struct facet_object no_symbols = {0};

    if (!session_trace_open(&s->trace, s->args, &no_symbols)) {
        return false;
    }
    s->trace.options.by_machine = true;
    return true;
}

static bool save(const struct session *s)
{
    const char *path = cli_value(s->args, "save");
    struct facet_blob state = {NULL, 0};
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;

    if (path != NULL) {
        status = facet_machine_snapshot(s->setup.machine, &state, &err);
    }
    if (path != NULL && status == FACET_OK) {
        status = facet_file_write(path, state.data, state.size, &err);
        facet_blob_free(&state);
    }
    if (status != FACET_OK) {
        (void)cli_bad_error(s->args, &err);
    }
    return status == FACET_OK;
}

/* ---- the report ---- */

static void print_hit(FILE *out, const struct facet_gfx12_hit *h)
{
    if (!h->found) {
        fprintf(out, "no hit\n");
        return;
    }
    fprintf(out,
            "hit t %.9g u %.9g v %.9g primitive %" PRIu32 " geometry %" PRIu32 " node %08" PRIX32,
            (double)h->t,
            (double)h->u,
            (double)h->v,
            h->primitive_index,
            h->geometry_index,
            h->node);
    if (h->instance != FACET_GFX12_INVALID) {
        fprintf(out, " instance %08" PRIX32, h->instance);
    }
    fputc('\n', out);
}

/* Registers that are not zero. */
static void dump_core(FILE *out, const facet_machine *machine, uint32_t core)
{
    const struct facet_core_desc *desc = facet_machine_core(machine, core);
    struct facet_value value;

    fprintf(out, "%s\n", desc->name);
    for (uint32_t i = 0; i < desc->reg_count; i++) {
        if (facet_machine_reg_read(machine, core, i, &value, NULL) == FACET_OK && value.lo != 0) {
            fprintf(out,
                    "  %-14s 0x%0*" PRIx64 "\n",
                    desc->regs[i].name,
                    desc->regs[i].width == 64 ? 16 : 8,
                    value.lo);
        }
    }
}

static void print_fault(FILE *out, const struct session *s)
{
    char text[160] = "";

    (void)facet_machine_disassemble(
        s->setup.machine, s->stop.core, s->stop.pc, text, sizeof text, NULL);
    fprintf(out,
            "lane %" PRIu32 ": %s (cause %" PRIu64 ", value 0x%" PRIx64 ") at pc 0x%" PRIx64
            ": %s\n",
            s->stop.core,
            facet_gfx12_cause_name(s->stop.code),
            s->stop.code,
            s->stop.address,
            s->stop.pc,
            text);
    session_explain_print(&s->why, out, s->stop.core, s->stop.pc);
}

static uint32_t what_it_reads(const facet_machine *machine,
                              uint32_t lane,
                              uint64_t pc,
                              struct facet_explain_read *out,
                              uint32_t room)
{
    struct facet_gfx12_read reads[FACET_GFX12_READS];
    uint32_t count = facet_gfx12_reads(machine, lane, pc, reads);

    count = count < room ? count : room;
    for (uint32_t i = 0; i < count; i++) {
        out[i].reg = reads[i].reg;
        (void)snprintf(out[i].what, sizeof out[i].what, "%s", reads[i].what);
    }
    return count;
}

/* A lane stands before an instruction. */
static bool is_paused(const struct session *s)
{
    return (s->stop.reason == FACET_STOP_BREAKPOINT || s->stop.reason == FACET_STOP_BUDGET) &&
           s->stop.core < facet_machine_core_count(s->setup.machine);
}

static void print_pause(FILE *out, const struct session *s)
{
    char text[160] = "";

    (void)facet_machine_disassemble(
        s->setup.machine, s->stop.core, s->stop.pc, text, sizeof text, NULL);
    fprintf(out,
            "lane %" PRIu32 " stopped at %s0x%" PRIx64 ": %s\n",
            s->stop.core,
            s->stop.reason == FACET_STOP_BREAKPOINT ? "the breakpoint " : "",
            s->stop.pc,
            text);
    session_explain_print(&s->why, out, s->stop.core, s->stop.pc);
}

static void report_text(const struct session *s)
{
    FILE *out = s->trace.file == stdout ? stderr : stdout;
    const facet_machine *machine = s->setup.machine;
    uint64_t steps = facet_machine_steps(machine);

    fprintf(out, "lane  nodes  boxes  pairs  instances  walks back  result\n");
    for (uint32_t i = 0; i < facet_machine_core_count(machine); i++) {
        struct facet_gfx12_lane lane;

        (void)facet_gfx12_read_lane(machine, i, &lane, NULL);
        fprintf(out,
                "%4" PRIu32 "  %5" PRIu64 "  %5" PRIu64 "  %5" PRIu64 "  %9" PRIu64 "  %10" PRIu64
                "  ",
                i,
                lane.stats.steps,
                lane.stats.boxes,
                lane.stats.primitives,
                lane.stats.instances,
                lane.stats.walk_backs);
        print_hit(out, &lane.hit);
    }
    for (uint32_t i = 0; cli_given(s->args, "dump-state") && i < facet_machine_core_count(machine);
         i++) {
        dump_core(out, machine, i);
    }
    if (s->stop.reason == FACET_STOP_FAULT) {
        print_fault(out, s);
    } else if (is_paused(s)) {
        print_pause(out, s);
    }
    fprintf(out, "%s after %" PRIu64 " step%s\n", session_result(&s->stop), steps, cli_s(steps));
}

static void put_lane(struct facet_record *r, const struct session *s, uint32_t i)
{
    static const char *const states[] = {"idle", "runs", "ended"};
    const facet_machine *machine = s->setup.machine;
    const struct facet_core_desc *desc = facet_machine_core(machine, i);
    struct facet_gfx12_lane lane;
    struct facet_value value;

    (void)facet_gfx12_read_lane(machine, i, &lane, NULL);
    facet_record_open(r, NULL, NULL);
    facet_record_number(r, "lane", i);
    facet_record_word(r, "state", states[lane.state]);
    facet_record_number(r, "nodes", (int64_t)lane.stats.steps);
    facet_record_number(r, "boxes", (int64_t)lane.stats.boxes);
    facet_record_number(r, "primitives", (int64_t)lane.stats.primitives);
    facet_record_number(r, "instances", (int64_t)lane.stats.instances);
    facet_record_number(r, "walk_backs", (int64_t)lane.stats.walk_backs);
    if (lane.hit.found) {
        facet_record_open(r, "hit", NULL);
        facet_gfx12_record_hit(r, &lane.hit);
        facet_record_close(r);
    } else {
        facet_record_word(r, "hit", NULL);
    }
    if (cli_given(s->args, "dump-state")) {
        facet_record_open(r, "registers", NULL);
        for (uint32_t reg = 0; reg < desc->reg_count; reg++) {
            (void)facet_machine_reg_read(machine, i, reg, &value, NULL);
            facet_record_hex(r, desc->regs[reg].name, value.lo, 0);
        }
        facet_record_close(r);
    }
    facet_record_close(r);
}

static int report_json(const struct session *s)
{
    struct facet_record r;
    int code;

    facet_record_init(&r, true);
    facet_record_open(&r, NULL, NULL);
    facet_record_word(&r, "result", session_result(&s->stop));
    facet_record_number(&r, "steps", (int64_t)facet_machine_steps(s->setup.machine));
    facet_record_list(&r, "lanes");
    for (uint32_t i = 0; i < facet_machine_core_count(s->setup.machine); i++) {
        put_lane(&r, s, i);
    }
    facet_record_close(&r);
    if (s->stop.reason == FACET_STOP_FAULT) {
        facet_record_open(&r, "fault", NULL);
        facet_record_number(&r, "lane", s->stop.core);
        facet_record_number(&r, "cause", (int64_t)s->stop.code);
        facet_record_word(&r, "name", facet_gfx12_cause_name(s->stop.code));
        facet_record_hex(&r, "pc", s->stop.pc, 0);
        facet_record_hex(&r, "value", s->stop.address, 0);
        facet_record_close(&r);
    }
    if (s->stop.reason == FACET_STOP_FAULT || is_paused(s)) {
        facet_record_open(&r, "stopped", NULL);
        facet_record_number(&r, "lane", s->stop.core);
        facet_explain_core(&s->why.how, &r, s->stop.core, s->stop.pc);
        facet_record_close(&r);
    }
    facet_record_close(&r);

    code = cli_print_record(s->args, &r);
    facet_record_free(&r);
    return code;
}

/* ---- the command ---- */

static int run_gfx12(const struct cli_args *args)
{
    struct session s = {.args = args};
    const char *word = cli_value(args, "profile");
    enum facet_gfx12_profile profile = FACET_GFX12_SILICON;
    int code = CLI_BAD;
    bool good;

    if (word != NULL) {
        (void)facet_doc_gfx12_profile_from(word, &profile); /* the parser has checked the word */
    }
    good = checked_files(args) && session_gfx12_start(&s.setup, args, profile) &&
           session_resume(args, s.setup.machine, SNAPSHOT_LIMIT) &&
           session_breakpoints(args, s.setup.machine, find_place, NULL, "an address") &&
           session_explain_start(&s.why, args, s.setup.machine, FACET_ISA_XPHMG, NULL, true) &&
           open_trace(&s);
    if (good) {
        good = session_steps(args, s.setup.machine, &s.trace, &s.stop);
        good = session_trace_close(&s.trace, args, good) && good && save(&s);
    }
    s.why.how.reads = what_it_reads;
    if (good && (s.stop.reason == FACET_STOP_FAULT || is_paused(&s))) {
        session_explain_look(&s.why, s.stop.reason == FACET_STOP_FAULT);
    }
    if (good && args->json) {
        good = report_json(&s) == CLI_OK;
    } else if (good) {
        report_text(&s);
    }
    if (good && s.setup.nested != 0) {
        (void)cli_bad(args,
                      "%" PRIu64 " instance%s below instances: the loop comes back from there to "
                      "the TLAS, and hits may be missing",
                      s.setup.nested,
                      s.setup.nested == 1 ? " lies" : "s lie");
    }
    if (good && s.stop.reason == FACET_STOP_REQUEST) {
        (void)cli_bad(args, "%s", cli_stop_why());
    }
    if (good) {
        code = session_exit_code(&s.stop);
    }
    session_explain_free(&s.why);
    session_gfx12_end(&s.setup);
    return code;
}

static const struct cli_option run_options[] = {
    SESSION_GFX12_OPTIONS,
    {"base", 0, "ADDR", "address of the first byte of the image (default 0)"},
    {"profile", 0, "silicon|gpurt", "rules of the intersect instruction (default silicon)"},
    {"break",
     'b',
     "ADDR",
     CLI_GROUP("Run") "stop before the instruction at an address; repeatable"},
    {"steps", 0, "N", "stop after so many instructions of all lanes together"},
    CLI_PLAIN_OPTION,
    CLI_STOP_OPTION,
    {"save", 0, "FILE", "write the whole machine to a file when the run has ended or stopped"},
    {"resume", 0, "FILE", "continue from a file of --save; IMAGE and options as before"},
    {"dump-state", 0, NULL, "print every lane's registers (as text: those that are not zero)"},
    SESSION_TRACE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_gfx12_run = {
    .name = "gfx12 run",
    .summary = "step rays through a BVH image on the gfx12 machine",
    .usage = "facet gfx12 run IMAGE --ray \"OX OY OZ DX DY DZ [TMIN TMAX]\"... [--json]\n"
             "facet gfx12 run IMAGE --ray NUMBERS --program FILE [--set REG=VALUE]... --dump-state",
    .details =
        "IMAGE is a file of `facet bvh build`. Each --ray gets a lane of a wave (at most 32), "
        "and the lanes take turns: a step is one image_bvh8_intersect_ray or "
        "ds_bvh_stack_push8_pop1_rtn_b32 of the hardware-style loop (gfx12-semantics.md 11.4 and "
        "11.6). The report shows what each ray visited and hit. No shader runs: non-opaque hits "
        "are accepted, procedural primitives are not hit.\n\n"
        "With --program every lane executes the instructions of a file once, from the first to "
        "the last; the ray and the descriptor are in the registers that docs/gfx12.md lists, and "
        "--set changes them.\n\n"
        "--trace writes a line per instruction with every register, LDS entry and node that it "
        "read or wrote. --save keeps registers, LDS and memory; --resume continues from there, "
        "bit for bit as if the run had never stopped. `facet gdb --machine gfx12` steps the same "
        "machine by hand.\n\n"
        "This machine has no fast way: --plain is taken and changes nothing.\n\n"
        "The exit code is 0 when all rays have ended, at a breakpoint and after --steps; 1 after a "
        "fault (an instruction that is none of the four, or a ray of more than 2^24 nodes).",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12 --quality contract\n"
                "facet gfx12 run cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\"\n"
                "facet gfx12 run cube.gfx12 --ray \"-1 0.25 0.5 1 0.25 0.125\" --trace ray.jsonl",
    .options = run_options,
    .has_json = true,
    .run = run_gfx12,
    .operands = "IMAGE",
};
