/* See report.h. */
#include "session/tile/report.h"
#include "command/output.h"
#include "session/steps.h"

#include "base/bits.h"
#include "isa/isa.h"
#include "json/json.h"

#include <inttypes.h>

/* ---- faults ---- */

/* A kernel that ran off its end: the zero word behind its code. */
static bool ran_off(const struct facet_object *program, const struct facet_tile_core_report *r)
{
    for (size_t i = 0; program != NULL && i < program->section_count; i++) {
        const struct facet_section *section = &program->sections[i];

        if ((section->flags & FACET_SECTION_EXEC) != 0 &&
            (r->fault_pc == facet_align_up(section->address + section->size, 4))) {
            return r->fault_cause == 1 && r->fault_addr == 0;
        }
    }
    return false;
}

bool session_tile_has_fault(const facet_machine *machine)
{
    bool any = false;

    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        any = any || facet_tile_report_of(machine, core).fault_cause != 0;
    }
    return any;
}

void session_tile_faults_print(const facet_machine *machine,
                               const struct session_explain *why,
                               FILE *out)
{
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        struct facet_tile_core_report r = facet_tile_report_of(machine, core);
        char text[128] = "";

        if (r.fault_cause == 0) {
            continue;
        }
        (void)facet_machine_disassemble(machine, core, r.fault_pc, text, sizeof text, NULL);
        fprintf(out,
                "core %u: %s (cause %u) at pc %s, address 0x%08x%s%s\n",
                (unsigned)core,
                facet_tile_cause_name(r.fault_cause),
                (unsigned)r.fault_cause,
                session_explain_place(why, r.fault_pc),
                (unsigned)r.fault_addr,
                text[0] != '\0' ? ": " : "",
                text);
        if (ran_off(why->symbols.object, &r)) {
            fprintf(out, "core %u ran past the end of the code: is EXIT missing?\n", core);
        }
        session_explain_print(why, out, core, r.fault_pc);
    }
}

json_t *session_tile_fault_json(const facet_machine *machine,
                                const struct session_explain *why,
                                uint32_t core)
{
    struct facet_tile_core_report r = facet_tile_report_of(machine, core);
    json_t *fault = json_pack("{s:I, s:s, s:o, s:o}",
                              "cause",
                              (json_int_t)r.fault_cause,
                              "name",
                              facet_tile_cause_name(r.fault_cause),
                              "pc",
                              facet_json_hex(r.fault_pc),
                              "address",
                              facet_json_hex(r.fault_addr));
    json_t *place = session_explain_json(why, core, r.fault_pc);

    if (fault != NULL && place != NULL) {
        (void)json_object_update_missing(fault, place);
    }
    json_decref(place);
    return fault;
}

/* ---- graphics errors ---- */

static const char *refusal(const struct facet_tile_core_report *r)
{
    return facet_tile_status_name(FACET_TILE_STATUS_GRAPHICS + (r->gerror & 0xFF));
}

void session_tile_refusals_print(const facet_machine *machine, FILE *out)
{
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        const struct facet_tile_core_report r = facet_tile_report_of(machine, core);

        if (r.gerror != 0 && r.retired != 0) { /* of this dispatch */
            fprintf(out,
                    "core %u: %s, %u time%s (gerror = 0x%08x)\n",
                    (unsigned)core,
                    refusal(&r),
                    (unsigned)(r.gerror >> 8),
                    cli_s(r.gerror >> 8),
                    (unsigned)r.gerror);
        }
    }
}

json_t *session_tile_refusals_json(const facet_machine *machine)
{
    json_t *list = json_array();

    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        const struct facet_tile_core_report r = facet_tile_report_of(machine, core);

        if (r.gerror != 0 && r.retired != 0) { /* of this dispatch */
            (void)json_array_append_new(list,
                                        json_pack("{s:I, s:s, s:I}",
                                                  "core",
                                                  (json_int_t)core,
                                                  "first",
                                                  refusal(&r),
                                                  "count",
                                                  (json_int_t)(r.gerror >> 8)));
        }
    }
    return list;
}

/* ---- stops ---- */

void session_tile_held_print(const facet_machine *machine,
                             const struct session_explain *why,
                             const struct facet_stop *stop,
                             FILE *out)
{
    char text[128] = "";

    (void)facet_machine_disassemble(machine, stop->core, stop->pc, text, sizeof text, NULL);
    fprintf(out,
            "core %u %s %s: %s\n",
            (unsigned)stop->core,
            stop->reason == FACET_STOP_BREAKPOINT ? "stopped at the breakpoint" : "comes next, at",
            session_explain_place(why, stop->pc),
            text);
    session_explain_print(why, out, stop->core, stop->pc);
}

json_t *session_tile_held_json(const struct session_explain *why, const struct facet_stop *stop)
{
    json_t *place = session_explain_json(why, stop->core, stop->pc);

    (void)json_object_set_new(place, "core", json_integer((json_int_t)stop->core));
    return place;
}

/* ---- a dispatch ---- */

static json_t *
core_json(const struct session_tile *setup, const struct session_explain *why, uint32_t core)
{
    struct facet_tile_core_report r = facet_tile_report_of(setup->machine, core);
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
        (void)json_object_set_new(
            item, "fault", session_tile_fault_json(setup->machine, why, core));
    }
    return item;
}

/* Whether the run was stopped at an instruction that has not been executed. */
static bool is_held(const struct facet_stop *stop)
{
    return stop->reason == FACET_STOP_BREAKPOINT || stop->reason == FACET_STOP_BUDGET ||
           stop->reason == FACET_STOP_REQUEST;
}

static int report_json(const struct cli_args *args,
                       const struct session_tile *setup,
                       const struct session_explain *why,
                       const struct session_lint *lint,
                       const struct session_timing *timing,
                       const struct facet_stop *stop)
{
    json_t *cores = json_array(), *words = json_array(), *result;

    for (uint32_t i = 0; i < FACET_TILE_CORES; i++) {
        (void)json_array_append_new(cores, core_json(setup, why, i));
    }
    for (size_t i = 0; i < setup->arg_count; i++) {
        (void)json_array_append_new(words,
                                    json_pack("{s:s, s:o}",
                                              "name",
                                              setup->args[i].name,
                                              "value",
                                              facet_json_hex(setup->args[i].value)));
    }
    result = json_pack("{s:s, s:I, s:o, s:o, s:o}",
                       "result",
                       session_result(stop),
                       "rounds",
                       (json_int_t)facet_tile_info_of(setup->machine).rounds,
                       "arg_base",
                       facet_json_hex(setup->packet.arg_base),
                       "args",
                       words,
                       "cores",
                       cores);
    if (result != NULL) {
        (void)json_object_set_new(
            result, "graphics_errors", session_tile_refusals_json(setup->machine));
    }
    if (result != NULL && is_held(stop)) {
        (void)json_object_set_new(result, "stopped", session_tile_held_json(why, stop));
    }
    if (result != NULL) {
        session_lint_json(lint, setup->program, result);
        session_timing_json(timing, result);
    }
    return cli_print_json(args, result);
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

static void report_text(const struct session_tile *setup,
                        const struct session_explain *why,
                        const struct facet_stop *stop,
                        FILE *out)
{
    uint64_t rounds = facet_tile_info_of(setup->machine).rounds;

    fprintf(out, "core  tiles  instructions");
    for (int i = 0; i < FACET_TILE_CLASSES; i++) {
        fprintf(out, "  %9s", facet_tile_class_name((enum facet_tile_class)i));
    }
    fprintf(out, "  status\n");
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        struct facet_tile_core_report r = facet_tile_report_of(setup->machine, core);

        fprintf(out, "%4u  %5u  %12" PRIu64, (unsigned)core, (unsigned)r.tiles, r.retired);
        for (int i = 0; i < FACET_TILE_CLASSES; i++) {
            fprintf(out, "  %9" PRIu64, r.by_class[i]);
        }
        print_status(out, r.status);
    }
    session_tile_refusals_print(setup->machine, out);
    session_tile_faults_print(setup->machine, why, out);
    if (is_held(stop)) {
        session_tile_held_print(setup->machine, why, stop, out);
    }
    fprintf(out, "%s after %" PRIu64 " round%s\n", session_result(stop), rounds, cli_s(rounds));
}

int session_tile_report(const struct cli_args *args,
                        const struct session_tile *setup,
                        struct session_explain *why,
                        const struct session_lint *lint,
                        const struct session_timing *timing,
                        const struct facet_stop *stop,
                        FILE *out)
{
    if (is_held(stop) || session_tile_has_fault(setup->machine)) {
        session_explain_look(why, stop->reason == FACET_STOP_FAULT);
    }
    if (args->json) {
        return report_json(args, setup, why, lint, timing, stop);
    }
    report_text(setup, why, stop, out);
    return session_timing_print(timing, out) ? CLI_OK : CLI_BAD;
}
