/* `facet conform --serve`: a library as a program that answers JSON lines (ask.c asks them). What
 * the library prints goes to standard error, so that it is no answer. */
#define _GNU_SOURCE /* getline */
#include "conform/design.h"

#include "base/file.h"
#include "conform/internal.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The case that a line asks for; its texts belong to the line. */
static enum facet_status
read_request(json_t *request, struct conform_case *c, struct facet_error *err)
{
    const char *kind = NULL, *file = NULL;
    enum facet_status status = facet_json_get_string(request, "case", &c->name, err);

    status = status == FACET_OK ? facet_json_get_string(request, "kind", &kind, err) : status;
    status = status == FACET_OK ? facet_json_get_string(request, "file", &file, err) : status;
    status =
        status == FACET_OK ? facet_json_get_string(request, "config", &c->config, err) : status;
    if (status != FACET_OK) {
        return status;
    }
    while (c->kind < CONFORM_KINDS && strcmp(kind, conform_kind_name[c->kind]) != 0) {
        c->kind++;
    }
    if (c->kind == CONFORM_KINDS) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "kind: '%.40s', expected elf, tile, list or vector", kind);
    }
    c->path = strdup(file);
    return c->path != NULL ? FACET_OK : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
}

/* KEEP.report, and KEEP.state for `facet gdb --resume`. */
static enum facet_status
keep_files(const char *keep, const struct conform_design_answer *answer, struct facet_error *err)
{
    struct facet_strbuf report, state;
    enum facet_status status = FACET_OK;

    facet_strbuf_init(&report);
    facet_strbuf_init(&state);
    facet_strbuf_printf(&report, "%s.report", keep);
    facet_strbuf_printf(&state, "%s.state", keep);
    if (!report.failed && !state.failed && answer->report.length != 0) {
        const struct facet_file_part parts[] = {
            {report.text, facet_strbuf_text(&answer->report), answer->report.length},
            {state.text, answer->state.data, answer->state.size}};

        status = facet_file_write_all(parts, answer->state.data != NULL ? 2 : 1, err);
    }
    facet_strbuf_free(&report);
    facet_strbuf_free(&state);
    return status;
}

static json_t *words_json(const struct conform_words *words)
{
    json_t *list = json_array();

    for (size_t i = 0; i < words->count; i++) {
        char digits[9];

        (void)snprintf(digits, sizeof digits, "%08x", (unsigned)words->word[i]);
        (void)json_array_append_new(list, json_string(digits));
    }
    return list;
}

static json_t *answer_json(const struct conform_case *c, const struct conform_design_answer *answer)
{
    static const char *const members[CONFORM_VERDICTS] = {
        [CONFORM_FAIL] = "difference",
        [CONFORM_TIMEOUT] = "error",
        [CONFORM_ERROR] = "error",
        [CONFORM_UNSUPPORTED] = "unsupported",
    };
    const char *member = members[answer->result.verdict];

    return member == NULL
               ? json_pack("{s:s, s:o}", "case", c->name, "signature", words_json(&answer->words))
               : json_pack(
                     "{s:s, s:o}", "case", c->name, member, facet_json_name(answer->result.text));
}

static enum facet_status send_line(int out, json_t *object, struct facet_error *err)
{
    char *text = NULL;
    size_t size = 0, done = 0;
    enum facet_status status = facet_json_compact(object, &text, &size, err);

    if (status == FACET_OK) {
        text[size++] = '\n'; /* in place of the NUL */
    }
    while (status == FACET_OK && done < size) {
        ssize_t n = write(out, text + done, size - done);

        if (n < 0) {
            status = facet_fail(err, FACET_ERR_IO, 0, "nobody reads the answers");
        } else {
            done += (size_t)n;
        }
    }
    json_decref(object);
    free(text);
    return status;
}

static enum facet_status answer_line(
    struct conform_design *design, const char *line, size_t size, int out, struct facet_error *err)
{
    struct conform_design_answer answer = {0};
    struct facet_error inner = {0};
    struct conform_case c = {0};
    json_t *request = NULL;
    const char *keep;
    enum facet_status status = facet_json_parse("standard input", line, size, &request, err);

    status = status == FACET_OK ? read_request(request, &c, err) : status;
    if (status != FACET_OK) {
        json_decref(request);
        return status;
    }
    status = conform_design_run(design, &c, &answer, &inner);
    keep = json_string_value(json_object_get(request, "keep"));
    if (status == FACET_OK && keep != NULL) {
        status = keep_files(keep, &answer, &inner);
    }
    if (status != FACET_OK) {
        conform_say(&answer.result, CONFORM_ERROR, "%s", inner.message);
    }
    status = send_line(out, answer_json(&c, &answer), err);
    conform_design_answer_free(&answer);
    json_decref(request);
    free(c.path);
    return status;
}

enum facet_status conform_serve(const char *library, FILE *in, int out, struct facet_error *err)
{
    struct conform_design *design = NULL;
    enum facet_status status = conform_design_open(library, &design, err);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    while (status == FACET_OK && (length = getline(&line, &room, in)) > 0) {
        status = answer_line(design, line, (size_t)length, out, err);
    }
    free(line);
    conform_design_close(design);
    return status;
}
