/* See cover.h. */
#include "session/cover.h"

#include "command/output.h"
#include "session/run_output.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };

bool session_cover_start(struct session_cover *cover,
                         const struct cli_args *args,
                         facet_machine *machine,
                         enum facet_isa isa)
{
    *cover =
        (struct session_cover){.args = args, .path = cli_value(args, "cover"), .machine = machine};
    if (cover->path == NULL) {
        return true;
    }
    if (!session_run_report_check(args, "cover")) {
        return false;
    }
    cover->collector = cover_collector_create(machine, isa);
    if (cover->collector == NULL) {
        (void)cli_bad(args, "--cover %s: out of memory", cover->path);
    }
    return cover->collector != NULL;
}

void session_cover_free(struct session_cover *cover)
{
    if (cover->collector != NULL) {
        facet_machine_observe(cover->machine, NULL);
        cover_collector_free(cover->collector);
    }
    free(cover->text);
    *cover = (struct session_cover){.args = NULL};
}

const struct facet_observer *session_cover_observer(struct session_cover *cover,
                                                    const struct facet_observer *other)
{
    if (cover->collector == NULL) {
        return other;
    }
    if (other == NULL) {
        return cover_collector_observer(cover->collector);
    }
    facet_tee_make(&cover->both, cover_collector_observer(cover->collector), other);
    return &cover->both.observer;
}

bool session_cover_finish(struct session_cover *cover)
{
    const struct cover *result;
    struct facet_error err = {0};
    json_t *json;

    if (cover->collector == NULL) {
        return true;
    }
    result = cover_collector_result(cover->collector);
    json = result != NULL ? cover_json(result) : NULL;
    if (facet_json_text(json, &cover->text, &cover->part.size, &err) != FACET_OK) {
        (void)cli_bad(cover->args, "--cover %s: out of memory", cover->path);
        cover->text = NULL;
    }
    json_decref(json);
    cover->part.path = cover->path;
    cover->part.data = cover->text;
    return cover->text != NULL;
}

const struct facet_file_part *session_cover_part(const struct session_cover *cover)
{
    return cover->text != NULL ? &cover->part : NULL;
}

/* ---- files ---- */

static struct cover *read_one(const struct cli_args *args, const char *path)
{
    struct facet_error err = {0};
    struct facet_bytes bytes;
    struct cover *cover = NULL;

    if (facet_file_read(path, FILE_LIMIT, &bytes, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return NULL;
    }
    if (cover_parse(path, bytes.data, bytes.size, &cover, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
    }
    free(bytes.data);
    return cover;
}

/* The sum of the files that the operands name; NULL after a complaint. */
static struct cover *read_all(const struct cli_args *args)
{
    struct cover *sum = read_one(args, args->positional[0]);

    for (int i = 1; sum != NULL && i < args->positional_count; i++) {
        struct cover *more = read_one(args, args->positional[i]);

        if (more != NULL && more->isa == sum->isa) {
            cover_add(sum, more);
        } else {
            if (more != NULL) {
                (void)cli_bad(args,
                              "%s is of machine %s; expected %s as in %s",
                              args->positional[i],
                              facet_isa_name[more->isa],
                              facet_isa_name[sum->isa],
                              args->positional[0]);
            }
            cover_free(sum);
            sum = NULL;
        }
        cover_free(more);
    }
    return sum;
}

static bool can_write(const struct cli_args *args, const char *path)
{
    bool good = cli_can_write(args, path);

    for (int i = 0; good && i < args->positional_count; i++) {
        good = !cli_would_replace(args, path, args->positional[i], "an input");
    }
    return good;
}

int session_cover_merge(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    struct facet_error err = {0};
    struct cover *sum;
    json_t *json;
    int code = CLI_OK;

    if (path == NULL) {
        return cli_bad(args, "expected -o FILE");
    }
    sum = can_write(args, path) ? read_all(args) : NULL;
    if (sum == NULL) {
        return CLI_BAD;
    }
    json = cover_json(sum);
    if (facet_json_write(path, json, &err) != FACET_OK) {
        code = cli_bad_error(args, &err);
    }
    json_decref(json);
    cover_free(sum);
    return code;
}

static int write_html(const struct cli_args *args, const struct cover *sum, const json_t *report)
{
    const char *path = cli_value(args, "html");
    struct facet_error err = {0};
    struct facet_strbuf page;
    int code = CLI_OK;

    facet_strbuf_init(&page);
    cover_report_html(sum, report, &page);
    if (page.failed) {
        code = cli_bad(args, "out of memory for %s", path);
    } else if (facet_file_write(path, facet_strbuf_text(&page), page.length, &err) != FACET_OK) {
        code = cli_bad_error(args, &err);
    }
    facet_strbuf_free(&page);
    return code;
}

static int print_report(const struct cli_args *args, json_t *report)
{
    struct facet_strbuf text;
    int code = CLI_OK;

    if (args->json) {
        return cli_print_json(args, json_incref(report));
    }
    facet_strbuf_init(&text);
    cover_report_text(report, cli_given(args, "missing"), &text);
    if (text.failed) {
        code = cli_bad(args, "out of memory for the report");
    } else {
        fputs(facet_strbuf_text(&text), stdout);
    }
    facet_strbuf_free(&text);
    return code;
}

int session_cover_report(const struct cli_args *args)
{
    const char *page = cli_value(args, "html");
    const bool alone = page != NULL && cli_is_stream(page);
    struct cover *sum;
    json_t *report;
    int code = CLI_OK;

    if (alone && (args->json || cli_given(args, "missing"))) {
        return cli_bad(args, "--html - prints only the page; expected no --json or --missing");
    }
    sum = can_write(args, page) ? read_all(args) : NULL;
    report = sum != NULL ? cover_report(sum) : NULL;
    if (report == NULL) {
        code = sum == NULL ? CLI_BAD : cli_bad(args, "out of memory for the report");
    } else if (page != NULL) {
        code = write_html(args, sum, report);
    }
    if (code == CLI_OK && !alone) {
        code = print_report(args, report);
    }
    json_decref(report);
    cover_free(sum);
    return code;
}
