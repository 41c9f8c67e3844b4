/* `facet conform`: the portable cases of conformance/, on Facet or on any other implementation. */
#include "command/output.h"
#include "command/stop.h"

#include "base/side_file.h"
#include "conform/design.h"
#include "report/conform.h"
#include "session/share.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int tell_rows(const struct cli_args *args, const struct conform_suite *suite)
{
    const char *area = cli_value(args, "area");
    bool missing = cli_given(args, "missing");
    struct conform_row *rows = conform_rows(suite, NULL);
    int code = CLI_OK;

    if (rows == NULL) {
        return cli_bad(args, "out of memory for the rows");
    }
    if (!conform_has_area(area)) {
        code = cli_bad(args, "no requirement has an ID that starts with '%s-'", area);
    } else if (args->json) {
        code = cli_print_json(args, conform_rows_json(rows, area, missing));
    } else {
        conform_print_rows(stdout, rows, area, missing);
    }
    free(rows);
    return code;
}

/* What counting rows does not need, and what nothing else does. */
static bool options_fit(const struct cli_args *args)
{
    static const char *const of_runs[] = {"against",
                                          "row",
                                          "case",
                                          "all",
                                          "timeout",
                                          "threads",
                                          "part",
                                          "resume",
                                          "signatures",
                                          "junit",
                                          "html",
                                          "output",
                                          NULL};
    static const char *const of_rows[] = {"missing", NULL}, *const of_others[] = {"timeout", NULL};

    return cli_given(args, "rows")
               ? !cli_useless(args, of_runs, "does nothing with --rows, which runs no case")
               : !cli_useless(args, of_rows, "needs --rows") &&
                     (cli_given(args, "against") ||
                      !cli_useless(args, of_others, "needs --against"));
}

/* What the chosen cases come to: here, as a part, or with other processes. */
static enum facet_status run_chosen(const struct cli_args *args,
                                    struct conform_how *how,
                                    struct session_share *share,
                                    struct conform_run *run,
                                    struct facet_error *err)
{
    static const char *const aside[] = {"suite", "signatures", "junit", "html", "all", NULL};
    struct facet_progress progress;
    json_t *inputs, *frame;
    enum facet_status status = FACET_OK;

    how->share = session_share_work(share);
    how->progress = &progress;
    if (share->wanted) {
        status = conform_describe(run, how, &inputs, &frame, err);
        if (status == FACET_OK) {
            session_share_describe(share, args, aside, inputs, frame);
        }
    }
    if (status == FACET_OK && how->keep != NULL) {
        status = facet_folder_make(how->keep, err);
    }
    if (status == FACET_OK) {
        facet_progress_start(
            &progress,
            &(struct facet_progress_config){.label = "running",
                                            .unit = "cases",
                                            .total = facet_share_items(how->share, run->count, 1),
                                            .fd = STDERR_FILENO,
                                            .quiet = session_share_quiet(share, args)});
        status = conform_run_chosen(run, how, err);
        facet_progress_finish(&progress);
    }
    return status;
}

static int run_suite(const struct cli_args *args,
                     const struct conform_suite *suite,
                     struct conform_how *how,
                     struct session_share *share)
{
    struct conform_run run = {0};
    struct facet_error err = {0};
    enum facet_status status = conform_choose(suite, &how->choice, &run, &err);
    int code;

    status = status == FACET_OK ? run_chosen(args, how, share, &run, &err) : status;
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (!session_share_ends(share, args, &code)) {
        code = report_conform(args, &run);
    }
    facet_share_close(&share->share);
    conform_run_free(&run);
    return code;
}

/* The answers have standard output for themselves: what the library prints goes elsewhere. */
static int serve(const struct cli_args *args)
{
    static const char *const others[] = {"suite", "against", "area", "row", "case", "rows", NULL};
    struct facet_error err = {0};
    int out = dup(STDOUT_FILENO);

    if (cli_useless(args, others, "does nothing with --serve, which is asked by others")) {
        return CLI_BAD;
    }
    return out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
                   conform_serve(cli_value(args, "serve"), stdin, out, &err) != FACET_OK
               ? cli_bad_error(args, &err)
               : CLI_OK;
}

static int run_conform(const struct cli_args *args)
{
    static const char *const of_result[] = {"junit", "html", "all", NULL};
    struct conform_how how = {
        .choice = {cli_value(args, "area"), cli_value(args, "row"), cli_value(args, "case")},
        .against = cli_value(args, "against"),
        .seconds = 60,
        .stop = cli_stop_wanted,
        .keep = cli_value(args, "signatures")};
    const char *folder = cli_value(args, "suite"), *resume = cli_value(args, "resume");
    struct conform_suite suite = {0};
    struct session_share share;
    struct facet_error err = {0};
    uint64_t threads = 0;
    struct cli_stop watch;
    char beside[4096];
    int code;

    if (cli_given(args, "serve")) {
        return serve(args);
    }
    conform_suite_folder(beside, sizeof beside);
    if (!options_fit(args) || !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_real(args, "timeout", 1e-3, CLI_MOST_SECONDS, &how.seconds) ||
        !session_share_read(args, &share) || !session_share_fits(&share, args, of_result) ||
        !report_conform_files(args) ||
        cli_would_replace(args, cli_value(args, "junit"), resume, "the file of --resume") ||
        cli_would_replace(args, cli_value(args, "html"), resume, "the file of --resume")) {
        return CLI_BAD;
    }
    how.threads = (unsigned)threads;
    if (how.against != NULL) { /* the programs that run there are to end, too */
        cli_stop_begin(&watch, NULL, HUGE_VAL);
    }
    if (conform_suite_read(folder != NULL ? folder : beside, &suite, &err) != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (cli_given(args, "rows")) {
        code = tell_rows(args, &suite);
    } else {
        code = run_suite(args, &suite, &how, &share);
    }
    if (how.against != NULL) {
        cli_stop_end(&watch);
        code = cli_stop_signal() != 0 ? cli_stop_code() : code;
    }
    conform_suite_free(&suite);
    return code;
}

static const struct cli_option options[] = {
    {"suite", 's', "DIR", "the suite (default: conformance beside the program)"},
    {"against", 0, "COMMAND", "what is tested (default: Facet itself)"},
    {"area", 'a', "AREA", "only cases of CAP, PM, XM, RSV, RT, GFX, MTX, TILE or G12"},
    {"row", 'r', "ID", "only cases that name this row, or one of a pattern (RT-05*)"},
    {"case", 'c', "TEXT", "only cases with this in their names"},
    {"all", 0, NULL, "list the cases that passed or were not run, too"},
    {"timeout", 't', "SECONDS", "for each case of --against (default 60)"},
    {"threads", 0, "N", "cases at once (default 0: all processors)"},
    {"output", 'o', "FILE", "write text or JSON there instead of printing it"},
    {"signatures", 0, "DIR", "write what was answered, as DIR/CASE.signature"},
    {"junit", 0, "FILE", "write the results as JUnit XML"},
    {"html", 0, "FILE", "write a page: areas, rows, their texts, cases and verdicts"},
    {"serve", 0, "LIB.so", "answer the cases that standard input asks for, by a library"},
    {"rows", 'R', NULL, "run nothing; count the rows that have a case, or a reason for none"},
    {"missing", 'm', NULL, "with --rows: list the rows that have neither"},
    SESSION_SHARE_OPTIONS("-o"),
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_conform = {
    .name = "conform",
    .summary = "run portable conformance cases on any implementation",
    .usage = "facet conform [--suite DIR] [--against COMMAND] [--area AREA] [--row ID]\n"
             "              [--case TEXT] [--all] [--timeout SECONDS] [--threads N]\n"
             "              [--resume FILE] [--signatures DIR] [--junit FILE] [--html FILE]\n"
             "              [-o FILE] [--json]\n"
             "facet conform --part K/N -o FILE [--suite DIR] [--against COMMAND]...\n"
             "facet conform --rows [--suite DIR] [--area AREA] [--missing] [--json]\n"
             "facet conform --serve LIB.so",
    .details =
        "The suite (`make conformance`; docs/conformance.md) holds programs, case folders and "
        "vectors that need none of Facet's code. Each names the rows of the contract that it "
        "shows and has a signature, the 32-bit words that it must leave.\n\n"
        "COMMAND is run once for each case, without a shell. {elf} or {case} in it stands for the "
        "file or folder of the case, {signature} for the file that it must write, {out} for a "
        "folder of its own (the signature is then {out}/signature), {config} for the "
        "configuration, {name} for the name. A command without {case} is given programs of the "
        "hart only. stdio:COMMAND is one program that reads a JSON line for each case and answers "
        "with one. A word that ends in .so is a library with the interface of facet/design.h, "
        "which is loaded by other processes and, where it can be stepped, compared instruction by "
        "instruction; --signatures then also keeps the report and a state for facet gdb.\n\n"
        "A case passes, FAILs (another signature), is out of time, or ends in an error (no "
        "signature); what the command cannot run is counted as not run. The exit code is 0 when "
        "all that were run passed, 1 when not, 2 when the suite, the command or a file is not "
        "usable.",
    .examples = "facet conform --suite examples/conform --all\n"
                "facet conform --suite examples/conform --rows --area TILE",
    .options = options,
    .has_json = true,
    .run = run_conform,
    .operands = "",
};
