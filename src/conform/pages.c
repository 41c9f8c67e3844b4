/* See report.h: XML for test servers, a page for readers. */
#include "conform/report.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static const struct conform_case *case_of(const struct conform_run *run, size_t i)
{
    return &run->suite->cases[run->chosen[i]];
}

/* ---- JUnit ---- */

static size_t folder_length(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash != NULL ? (size_t)(slash - name) : 0;
}

static bool same_folder(const struct conform_case *a, const struct conform_case *b)
{
    size_t length = folder_length(a->name);

    return length == folder_length(b->name) && strncmp(a->name, b->name, length) == 0;
}

static void
junit_case(struct facet_strbuf *out, const struct conform_case *c, const struct conform_result *r)
{
    static const char *const tags[CONFORM_VERDICTS] = {
        NULL, "failure", "error", "error", "skipped"};
    size_t length = folder_length(c->name);

    facet_strbuf_puts(out, "    <testcase classname=\"");
    facet_strbuf_printf(out, "%.*s\" name=\"", (int)length, c->name);
    facet_strbuf_escaped(out, c->name + length + (length != 0));
    facet_strbuf_puts(out, "\"");
    if (tags[r->verdict] == NULL) {
        facet_strbuf_puts(out, "/>\n");
        return;
    }
    facet_strbuf_printf(
        out, "><%s type=\"%s\" message=\"", tags[r->verdict], conform_verdict_name[r->verdict]);
    for (size_t i = 0; i < c->row_count; i++) {
        facet_strbuf_printf(out, "%s ", c->rows[i]);
    }
    facet_strbuf_escaped(out, r->text);
    facet_strbuf_puts(out, "\"/></testcase>\n");
}

static void write_junit(struct facet_strbuf *out, const struct conform_run *run)
{
    facet_strbuf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t i = 0; i < run->count;) {
        size_t end = i, bad[CONFORM_VERDICTS] = {0};
        const struct conform_case *first = case_of(run, i);

        while (end < run->count && same_folder(first, case_of(run, end))) {
            bad[run->results[end++].verdict]++;
        }
        facet_strbuf_printf(out,
                            "  <testsuite name=\"%.*s\" tests=\"%zu\" failures=\"%zu\" "
                            "errors=\"%zu\" skipped=\"%zu\">\n",
                            (int)folder_length(first->name),
                            first->name,
                            end - i,
                            bad[CONFORM_FAIL],
                            bad[CONFORM_TIMEOUT] + bad[CONFORM_ERROR],
                            bad[CONFORM_UNSUPPORTED]);
        for (; i < end; i++) {
            junit_case(out, case_of(run, i), &run->results[i]);
        }
        facet_strbuf_puts(out, "  </testsuite>\n");
    }
    facet_strbuf_puts(out, "</testsuites>\n");
}

/* ---- HTML ---- */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Conformance</title>\n"
    "<style>body{font:15px/1.45 sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}details{margin:.2em 0 .2em 1em}"
    "summary{cursor:pointer}.pass{color:#176f2c}.fail{color:#b3261e;font-weight:600}"
    ".none{color:#777}code{background:#f2f2f2;padding:0 .2em}p{margin:.3em 0 .3em 1.2em}"
    "</style></head><body>\n<h1>Conformance</h1>\n";

/* Whether the text holds the ID as a whole word. */
static bool says(const char *text, const char *id)
{
    size_t length = strlen(id);

    while (text != NULL && (text = strstr(text, id)) != NULL) {
        if (text[length] < '0' || text[length] > '9') {
            return true;
        }
        text += length;
    }
    return false;
}

static void html_resolutions(struct facet_strbuf *out, const struct facet_requirement_row *row)
{
    for (size_t i = 0; i < facet_resolution_row_count; i++) {
        const struct facet_resolution_row *r = &facet_resolution_rows[i];

        if (says(r->text, row->id) || says(row->requirement, r->id) ||
            says(row->observable, r->id)) {
            facet_strbuf_printf(out, "<p>%s: ", r->id);
            facet_strbuf_escaped(out, r->title);
            facet_strbuf_puts(out, "</p>\n");
        }
    }
}

static bool names(const struct conform_case *c, const char *id)
{
    for (size_t i = 0; i < c->row_count; i++) {
        if (strcmp(c->rows[i], id) == 0) {
            return true;
        }
    }
    return false;
}

static void html_cases(struct facet_strbuf *out, const struct conform_run *run, const char *id)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct conform_result *r = &run->results[i];
        const struct conform_case *c = case_of(run, i);

        if (!names(c, id)) {
            continue;
        }
        facet_strbuf_printf(out,
                            "<p><span class=\"%s\">%s</span> <code>",
                            r->verdict == CONFORM_PASS          ? "pass"
                            : r->verdict == CONFORM_UNSUPPORTED ? "none"
                                                                : "fail",
                            conform_verdict_name[r->verdict]);
        facet_strbuf_escaped(out, c->name);
        facet_strbuf_puts(out, "</code> (");
        facet_strbuf_escaped(out, c->source);
        facet_strbuf_puts(out, ") ");
        facet_strbuf_escaped(out, r->text);
        facet_strbuf_puts(out, "</p>\n");
    }
}

static void html_row(struct facet_strbuf *out,
                     const struct conform_run *run,
                     const struct facet_requirement_row *row,
                     const struct conform_row *state)
{
    const char *kind = state->run == 0 ? "none" : state->passed == state->run ? "pass" : "fail";
    const char *word = state->run != 0 ? kind : state->reason != NULL ? "reason" : "no case";

    facet_strbuf_printf(out,
                        "<details%s><summary><span class=\"%s\">%s</span> <b>%s</b> ",
                        strcmp(kind, "fail") == 0 ? " open" : "",
                        kind,
                        word,
                        row->id);
    facet_strbuf_escaped(out, row->requirement);
    facet_strbuf_puts(out, "</summary>\n<p>");
    facet_strbuf_escaped(out, row->source);
    facet_strbuf_puts(out, ", ");
    facet_strbuf_escaped(out, row->section);
    facet_strbuf_printf(out, " (%s). Observable: ", row->level);
    facet_strbuf_escaped(out, row->observable);
    facet_strbuf_puts(out, "</p>\n");
    if (state->reason != NULL) {
        facet_strbuf_puts(out, "<p>No portable case: ");
        facet_strbuf_escaped(out, state->reason);
        facet_strbuf_puts(out, "</p>\n");
    }
    html_resolutions(out, row);
    if (state->cases != 0) {
        html_cases(out, run, row->id);
    }
    facet_strbuf_puts(out, "</details>\n");
}

static void html_table(struct facet_strbuf *out, const struct conform_run *run)
{
    facet_strbuf_puts(out, "<p>Against: <code>");
    facet_strbuf_escaped(out, run->against != NULL ? run->against : "Facet itself");
    facet_strbuf_puts(out, "</code></p>\n<table><tr>");
    for (unsigned v = 0; v < CONFORM_VERDICTS; v++) {
        facet_strbuf_printf(out, "<th>%s</th>", conform_verdict_name[v]);
    }
    facet_strbuf_puts(out, "</tr><tr>");
    for (unsigned v = 0; v < CONFORM_VERDICTS; v++) {
        facet_strbuf_printf(out, "<td>%zu</td>", run->verdicts[v]);
    }
    facet_strbuf_puts(out, "</tr></table>\n");
}

static enum facet_status
write_html(struct facet_strbuf *out, const struct conform_run *run, struct facet_error *err)
{
    struct conform_row *rows = conform_rows(run->suite, run);
    const char *last = "";

    if (rows == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a page");
    }
    facet_strbuf_puts(out, page_head);
    html_table(out, run);
    for (size_t i = 0; i < facet_requirement_row_count; i++) {
        const struct facet_requirement_row *row = &facet_requirement_rows[i];
        size_t length = strcspn(row->id, "-");

        if (strncmp(last, row->id, length + 1) != 0) {
            facet_strbuf_printf(out, "<h2>%.*s</h2>\n", (int)length, row->id);
        }
        last = row->id;
        html_row(out, run, row, &rows[i]);
    }
    facet_strbuf_puts(out, "</body></html>\n");
    free(rows);
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a page")
                       : FACET_OK;
}

enum facet_status conform_write(const struct conform_run *run,
                                const char *junit,
                                const char *html,
                                const struct facet_file_part *other,
                                struct facet_error *err)
{
    struct facet_strbuf xml = {0}, page = {0};
    struct facet_file_part parts[3];
    enum facet_status status = FACET_OK;
    size_t count = 0;

    if (other != NULL) {
        parts[count++] = *other;
    }
    if (junit != NULL) {
        write_junit(&xml, run);
        parts[count++] = (struct facet_file_part){junit, facet_strbuf_text(&xml), xml.length};
    }
    if (html != NULL) {
        status = write_html(&page, run, err);
        parts[count++] = (struct facet_file_part){html, facet_strbuf_text(&page), page.length};
    }
    if (status == FACET_OK && xml.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %s", junit);
    }
    if (status == FACET_OK && count > 0) {
        status = facet_file_write_all(parts, count, err);
    }
    facet_strbuf_free(&xml);
    facet_strbuf_free(&page);
    return status;
}
