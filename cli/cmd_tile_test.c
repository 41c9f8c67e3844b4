/* `facet tile test`: case folders (spec/README.md "Tile case folders"). */
#include "command/deadline.h"
#include "command/stop.h"
#include "session/lint.h"
#include "session/tile/list_case.h"

#include "base/error.h"
#include "documents/tile_case.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 8 };

struct tally {
    const struct cli_args *args;
    struct facet_doc_tile_case_how how;
    json_t *list; /* NULL: text */
    size_t passed, failed, bad;
    struct cli_stop watch; /* over the run of a case */
    bool stopped;
    /* --lint, one case after the other. */
    struct session_lint lint;
    const char *folder;
    json_t *findings; /* NULL: text */
    size_t lint_count;
    bool lint_failed;
};

/* ---- around the run of a case ---- */

static void begin_run(void *context, facet_machine *machine)
{
    struct tally *t = context;

    cli_stop_begin(&t->watch, machine, cli_deadline_left());
    if (!session_lint_start(&t->lint, t->args, machine)) {
        t->lint_failed = true;
        return;
    }
    t->lint.title = t->folder;
    facet_machine_observe(machine, session_lint_observer(&t->lint));
}

static void end_run(void *context)
{
    struct tally *t = context;

    cli_stop_end(&t->watch);
    session_lint_print(&t->lint, NULL);
    if (t->findings != NULL) {
        session_lint_json(&t->lint, NULL, t->findings);
    }
    t->lint_count += session_lint_fails(&t->lint);
    session_lint_free(&t->lint);
}

/* ---- one case ---- */

static void
tell(struct tally *t, const char *folder, const char *name, const char *outcome, const char *text)
{
    if (t->list != NULL) {
        json_t *item = json_pack(
            "{s:o, s:s, s:s}", "folder", facet_json_name(folder), "name", name, "result", outcome);

        if (text[0] != '\0') {
            (void)json_object_set_new(
                item, strcmp(outcome, "bad") == 0 ? "error" : "difference", facet_json_name(text));
        }
        (void)json_object_update(item, t->findings);
        (void)json_array_append_new(t->list, item);
    } else if (strcmp(outcome, "bad") == 0) {
        (void)cli_bad(t->args, "%s", text);
    } else if (text[0] != '\0') {
        printf("%s  %s  %s: %s\n", outcome, folder, name, text);
    } else {
        printf("%s  %s  %s\n", outcome, folder, name);
    }
}

/* A kernel, or a command list. */
static enum facet_status run_either(struct tally *t,
                                    const char *folder,
                                    char name[256],
                                    struct facet_doc_tile_case_result *result,
                                    struct facet_error *err)
{
    struct facet_doc_tile_case *tile_case = NULL;
    enum facet_status status;

    if (session_is_list_case(folder)) {
        return session_list_case_run(folder, &t->how, name, 256, result, err);
    }
    status = facet_doc_tile_case_read(folder, &tile_case, err);
    if (tile_case != NULL) {
        (void)snprintf(name, 256, "%s", facet_doc_tile_case_name(tile_case));
    }
    if (status == FACET_OK) {
        status = facet_doc_tile_case_run(tile_case, &t->how, result, err);
    }
    facet_doc_tile_case_free(tile_case);
    return status;
}

static void run_case(struct tally *t, const char *folder)
{
    struct facet_doc_tile_case_result result;
    struct facet_error err = {0};
    char name[256] = "";

    t->folder = folder;
    t->findings = t->list != NULL ? json_object() : NULL;
    if (run_either(t, folder, name, &result, &err) != FACET_OK) {
        t->bad++;
        tell(t, folder, name, "bad", err.message);
    } else if (result.stopped) {
        t->stopped = true;
        (void)cli_bad(t->args, "%s in %s, %s", cli_stop_why(), folder, name);
    } else if (result.pass) {
        t->passed++;
        tell(t, folder, name, "pass", "");
    } else {
        t->failed++;
        tell(t, folder, name, "FAIL", result.difference);
    }
    json_decref(t->findings);
    t->findings = NULL;
}

/* ---- folders ---- */

static bool has_case(const char *folder)
{
    char path[4096];

    return (size_t)snprintf(path, sizeof path, "%s/case.json", folder) < sizeof path &&
           access(path, F_OK) == 0;
}

static int is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK);
}

static int by_entry_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder itself, or the case folders below it in the order of their names; the number found. */
static size_t run_folder(struct tally *t, const char *folder, unsigned depth)
{
    struct dirent **entries = NULL;
    size_t found = 0;
    int count;

    if (has_case(folder)) {
        run_case(t, folder);
        return 1;
    }
    count = depth < MAX_DEPTH ? scandir(folder, &entries, is_folder, by_entry_name) : 0;
    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        char text[512];

        (void)snprintf(text, sizeof text, "%.400s: %s", folder, strerror(errno));
        t->bad++;
        tell(t, folder, "", "bad", text);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];

        if (!t->stopped &&
            (size_t)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) <
                sizeof path) {
            found += run_folder(t, path, depth + 1);
        }
        free(entries[i]);
    }
    free(entries);
    return found;
}

static int summary(struct tally *t)
{
    size_t total = t->passed + t->failed + t->bad;

    if (t->list != NULL) {
        int code = cli_print_json(t->args,
                                  json_pack("{s:I, s:I, s:I, s:I, s:o}",
                                            "total",
                                            (json_int_t)total,
                                            "passed",
                                            (json_int_t)t->passed,
                                            "failed",
                                            (json_int_t)t->failed,
                                            "bad",
                                            (json_int_t)t->bad,
                                            "cases",
                                            t->list));
        if (code != CLI_OK) {
            return code;
        }
    } else {
        printf("%zu case%s: %zu passed, %zu failed", total, cli_s(total), t->passed, t->failed);
        printf(t->bad != 0 ? ", %zu cannot be read\n" : "\n", t->bad);
    }
    return t->bad != 0 || t->lint_failed          ? CLI_BAD
           : t->failed != 0 || t->lint_count != 0 ? CLI_NO
                                                  : CLI_OK;
}

static int run_test(const struct cli_args *args)
{
    struct tally t = {.args = args, .how.plain = cli_given(args, "plain")};
    uint64_t threads = 1;
    struct facet_error err = {0};
    int code;

    if (args->positional_count == 0) {
        return cli_bad(args, "expected one or more case folders");
    }
    if (!cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads)) {
        return CLI_BAD;
    }
    if (threads != 1 && facet_pool_create((unsigned)threads, &t.how.pool, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    t.list = cli_json_list(args);
    t.how.begin = begin_run;
    t.how.end = end_run;
    t.how.context = &t;
    for (int i = 0; i < args->positional_count && !t.stopped; i++) {
        if (run_folder(&t, args->positional[i], 0) == 0) {
            char text[512];

            (void)snprintf(text,
                           sizeof text,
                           "%.400s: %s",
                           args->positional[i],
                           is_directory(args->positional[i])
                               ? "no case.json in it or in a folder below it"
                               : "expected a folder with a case.json");
            t.bad++;
            tell(&t, args->positional[i], "", "bad", text);
        }
    }
    if (t.stopped) {
        code = cli_stop_code();
        json_decref(t.list);
    } else {
        code = summary(&t);
    }
    facet_pool_destroy(t.how.pool);
    return code;
}

static const struct cli_option test_options[] = {
    {"threads",
     0,
     "N",
     "host threads of the raster unit (default 1, 0: all processors); no result changes"},
    CLI_STOP_OPTION,
    CLI_PLAIN_OPTION,
    SESSION_LINT_SWITCHES,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_tile_test = {
    .name = "tile test",
    .summary = "run case folders on the tile machine",
    .usage = "facet tile test DIR... [--threads N] [--plain] [--lint] [--json]",
    .details =
        "Every DIR is a case folder (it has a case.json) or holds case folders. A case names a "
        "kernel, its grid, arguments and inputs, and the expected memory, counters and fault "
        "registers; spec/README.md, \"Tile case folders\", has the format. Each case starts from "
        "machine reset and is reported as pass or with its first difference. The exit code is 0 "
        "when all pass, 1 when a case fails, 2 when one cannot be read, 124 when --max-seconds "
        "is over, 130 after Ctrl-C. --lint reports where the kernels violate the contract, as in "
        "`facet tile run` (docs/lint.md); with --lint-error a finding is exit code 1.",
    .examples = "facet tile test examples/tile/k1",
    .options = test_options,
    .has_json = true,
    .run = run_test,
    .operands = "DIR...",
};
