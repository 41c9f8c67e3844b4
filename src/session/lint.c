/* See lint.h. */
#include "session/lint.h"

#include "session/trace.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool session_lint_start(struct session_lint *report,
                        const struct cli_args *args,
                        facet_machine *machine)
{
    bool lint = cli_given(args, "lint") || cli_given(args, "lint-error");
    bool order = cli_given(args, "check-order");
    struct facet_error err = {0};

    *report = (struct session_lint){.args = args, .machine = machine};
    if ((lint || order) && facet_lint_create(machine, &report->lint, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (report->lint != NULL) {
        facet_lint_select(report->lint,
                          (lint ? FACET_LINT_SET_LINT : 0u) | (order ? FACET_LINT_SET_ORDER : 0u));
    }
    return true;
}

void session_lint_picture(struct session_lint *report, const struct facet_lint_picture *picture)
{
    if (report->lint != NULL) {
        facet_lint_add_picture(report->lint, picture);
    }
}

void session_lint_free(struct session_lint *report)
{
    if (report->lint != NULL) {
        facet_machine_observe(report->machine, NULL);
        facet_lint_destroy(report->lint);
        report->lint = NULL;
    }
}

const struct facet_observer *session_lint_observer(const struct session_lint *report)
{
    return report->lint != NULL ? facet_lint_observer(report->lint) : NULL;
}

/* ---- findings ---- */

struct texts {
    char where[160]; /* "0x80000010 <main+4>" */
    char insn[128];
    char source[288]; /* " kernel.s:12", or nothing */
    unsigned line;
};

static void describe(const struct session_lint *report,
                     const struct facet_object *program,
                     uint64_t pc,
                     uint32_t core,
                     struct texts *t)
{
    const struct facet_line_row *row;

    if (program != NULL) {
        session_describe(program, pc, t->where, sizeof t->where);
    } else {
        (void)snprintf(t->where, sizeof t->where, "0x%" PRIx64, pc);
    }
    row = report->symbols != NULL ? facet_lines_find(&report->symbols->lines, pc) : NULL;
    t->line = row != NULL ? row->line : 0;
    t->source[0] = '\0';
    if (row != NULL) {
        const char *path = report->args->positional[0], *slash = strrchr(path, '/');
        bool main_file = strcmp(slash != NULL ? slash + 1 : path, row->file) == 0;

        (void)snprintf(
            t->source, sizeof t->source, " %.256s:%u", main_file ? path : row->file, t->line);
    }
    (void)facet_machine_disassemble(report->machine, core, pc, t->insn, sizeof t->insn, NULL);
}

void session_lint_print(const struct session_lint *report, const struct facet_object *program)
{
    if (report->lint == NULL) {
        return;
    }
    facet_lint_finish(report->lint);
    for (size_t i = 0; i < facet_lint_count(report->lint); i++) {
        const struct facet_lint_finding *f = facet_lint_at(report->lint, i);
        const struct facet_lint_rule *rule = &facet_lint_rules[f->rule];
        struct texts t, other = {0};
        const char *symbol;
        char times[32] = "";

        describe(report, program, f->pc, f->core, &t);
        if (f->paired) {
            describe(report, program, f->other_pc, f->other_core, &other);
        }
        symbol = strchr(other.where, ' ');
        if (f->count > 1) {
            (void)snprintf(times, sizeof times, ", %" PRIu64 " times", f->count);
        }
        fprintf(stderr,
                "facet %s: lint: %s%s%s%s: %s: %s%s%s%s%s%s (%s: %s)\n",
                report->args->command->name,
                report->title != NULL ? report->title : "",
                report->title != NULL ? ": " : "",
                t.where,
                t.source,
                t.insn,
                rule->text,
                f->detail[0] != '\0' ? "; " : "",
                f->detail,
                symbol != NULL ? symbol : "",
                other.source,
                times,
                rule->name,
                rule->rows[facet_lint_machine(report->lint)]);
    }
    if (facet_lint_failed(report->lint)) {
        cli_spoil("lint: out of memory, findings are missing");
    }
}

static json_t *finding_json(const struct session_lint *report,
                            const struct facet_object *program,
                            const struct facet_lint_finding *f)
{
    const struct facet_lint_rule *rule = &facet_lint_rules[f->rule];
    struct texts t;
    json_t *item;
    char *symbol;

    describe(report, program, f->pc, f->core, &t);
    symbol = strchr(t.where, '<');
    if (symbol != NULL) {
        symbol[strlen(symbol) - 1] = '\0';
    }
    item = json_pack("{s:o, s:o, s:I, s:s, s:s, s:s, s:s, s:s, s:I}",
                     "pc",
                     facet_json_hex(f->pc),
                     "symbol",
                     facet_json_name(symbol != NULL ? symbol + 1 : ""),
                     facet_lint_machine(report->lint) == FACET_LINT_HART ? "hart" : "core",
                     (json_int_t)f->core,
                     "instruction",
                     t.insn,
                     "rule",
                     rule->name,
                     "requirement",
                     rule->rows[facet_lint_machine(report->lint)],
                     "text",
                     rule->text,
                     "detail",
                     f->detail,
                     "count",
                     (json_int_t)f->count);
    if (item != NULL && t.line != 0) {
        (void)json_object_set_new(item, "line", json_integer((json_int_t)t.line));
    }
    if (item != NULL && f->paired) {
        describe(report, program, f->other_pc, f->other_core, &t);
        symbol = strchr(t.where, '<');
        if (symbol != NULL) {
            symbol[strlen(symbol) - 1] = '\0';
        }
        (void)json_object_set_new(item,
                                  "other",
                                  json_pack("{s:o, s:o, s:I, s:s, s:I}",
                                            "pc",
                                            facet_json_hex(f->other_pc),
                                            "symbol",
                                            facet_json_name(symbol != NULL ? symbol + 1 : ""),
                                            "core",
                                            (json_int_t)f->other_core,
                                            "instruction",
                                            t.insn,
                                            "line",
                                            (json_int_t)t.line));
    }
    return item;
}

void session_lint_json(const struct session_lint *report,
                       const struct facet_object *program,
                       json_t *result)
{
    json_t *list;

    if (report->lint == NULL) {
        return;
    }
    list = json_array();
    for (size_t i = 0; i < facet_lint_count(report->lint); i++) {
        (void)json_array_append_new(list,
                                    finding_json(report, program, facet_lint_at(report->lint, i)));
    }
    (void)json_object_set_new(result, "lint", list);
}

bool session_lint_fails(const struct session_lint *report)
{
    return report->lint != NULL &&
           (cli_given(report->args, "lint-error") || cli_given(report->args, "check-order")) &&
           facet_lint_count(report->lint) > 0;
}

/* ---- rules ---- */

int session_lint_rules(const struct cli_args *args, enum facet_lint_machine machine)
{
    json_t *list = cli_json_list(args);

    for (int i = 0; i < FACET_LINT_COUNT; i++) {
        const struct facet_lint_rule *rule = &facet_lint_rules[i];

        if (rule->rows[machine][0] == '\0') {
            continue;
        }
        if (args->json) {
            (void)json_array_append_new(list,
                                        json_pack("{s:s, s:s, s:s}",
                                                  "rule",
                                                  rule->name,
                                                  "requirement",
                                                  rule->rows[machine],
                                                  "text",
                                                  rule->text));
        } else {
            printf("%-14s %-16s %s\n", rule->name, rule->rows[machine], rule->text);
        }
    }
    return args->json ? cli_print_json(args, list) : CLI_OK;
}
