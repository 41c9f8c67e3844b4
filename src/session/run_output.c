/* See run_output.h. */
#include "session/run_output.h"

#include "command/output.h"
#include "session/trace.h"

#include "base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4, MOST_BYTES = 1 << 30 };

/* ---- before the run ---- */

bool session_run_paths_differ(const struct cli_args *args)
{
    for (int i = 0; i < 2; i++) {
        const char *output = cli_value(args, i == 0 ? "trace" : "framebuffer");

        if (cli_would_replace(args, output, cli_value(args, "resume"), "the snapshot") ||
            cli_would_replace(args, output, cli_value(args, "timing"), "the timing model") ||
            (args->positional_count > 0 &&
             cli_would_replace(args, output, args->positional[0], "the program"))) {
            return false;
        }
    }
    return !cli_would_replace(
               args, cli_value(args, "trace"), cli_value(args, "framebuffer"), "the picture") &&
           !cli_would_replace(args,
                              cli_value(args, "framebuffer"),
                              cli_value(args, "cover"),
                              "the file of --cover") &&
           !cli_would_replace(args,
                              cli_value(args, "framebuffer"),
                              cli_value(args, "profile-out"),
                              "the file of --profile-out");
}

bool session_run_report_check(const struct cli_args *args, const char *option)
{
    static const char *const others[][2] = {
        {"resume", "the snapshot"}, {"trace", "the trace"}, {"timing", "the timing model"}};
    const char *path = cli_value(args, option);
    bool good = true;

    if (cli_is_stream(path)) {
        (void)cli_bad(args, "--%s needs a file; expected a name, not '-'", option);
        return false;
    }
    for (size_t i = 0; good && i < sizeof others / sizeof others[0]; i++) {
        good = !cli_would_replace(args, path, cli_value(args, others[i][0]), others[i][1]);
    }
    if (good && args->positional_count > 0) {
        good = !cli_would_replace(args, path, args->positional[0], "the program");
    }
    return good && cli_can_write(args, path);
}

/* Neither a file that the run reads nor one that another option writes. */
static bool
check_path(const struct session_run_outputs *outputs, const struct cli_args *args, const char *path)
{
    static const char *const others[][2] = {{"resume", "the snapshot"},
                                            {"trace", "the trace"},
                                            {"timing", "the timing model"},
                                            {"framebuffer", "the picture"},
                                            {"cover", "the file of --cover"},
                                            {"profile-out", "the file of --profile-out"}};
    bool good = true;

    if (cli_is_stream(path)) { /* that is the program's */
        (void)cli_bad(args, "--signature and --dump-memory need a file; expected a name, not '-'");
        return false;
    }
    for (size_t i = 0; good && i < sizeof others / sizeof others[0]; i++) {
        good = !cli_would_replace(args, path, cli_value(args, others[i][0]), others[i][1]);
    }
    if (good && args->positional_count > 0) {
        good = !cli_would_replace(args, path, args->positional[0], "the program");
    }
    for (int i = 0; good && i + 1 < outputs->count; i++) {
        good = !cli_would_replace(args, path, outputs->list[i].path, "another output");
    }
    return good && cli_can_write(args, path);
}

/* The bytes from `first` to `end` are there. */
static bool check_memory(const struct cli_args *args,
                         const facet_machine *machine,
                         const char *what,
                         uint64_t first,
                         uint64_t end)
{
    struct facet_error err = {0};
    uint8_t byte;

    if (end < first || end - first > MOST_BYTES) {
        (void)cli_bad(args,
                      "%s: 0x%" PRIx64 " to 0x%" PRIx64
                      "; expected an end behind the beginning, at most 1 GiB away",
                      what,
                      first,
                      end);
        return false;
    }
    if (end > first && (facet_machine_read(machine, 0, first, &byte, 1, &err) != FACET_OK ||
                        facet_machine_read(machine, 0, end - 1, &byte, 1, &err) != FACET_OK)) {
        (void)cli_bad(args, "%s: %s", what, err.message);
        return false;
    }
    return true;
}

static bool plan_signature(struct session_run_outputs *outputs,
                           const struct cli_args *args,
                           const struct facet_object *program,
                           const facet_machine *machine)
{
    static const char *const names[2] = {"begin_signature", "end_signature"};
    const char *path = cli_value(args, "signature");
    uint64_t place[2], line = WORD_BYTES;

    if (path == NULL) {
        if (cli_given(args, "signature-granularity")) {
            (void)cli_bad(args, "--signature-granularity needs --signature FILE");
            return false;
        }
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (!session_find_address(program, names[i], &place[i])) {
            (void)cli_bad(args,
                          "--signature %s: the program has no symbol %s; expected begin_signature "
                          "and end_signature",
                          path,
                          names[i]);
            return false;
        }
    }
    (void)cli_number(args, "signature-granularity", 4, 16, &line);
    outputs->list[outputs->count++] = (struct session_run_output){
        .path = path, .first = place[0], .size = place[1] - place[0], .line = (unsigned)line};
    return check_memory(args, machine, "--signature", place[0], place[1]) &&
           check_path(outputs, args, path);
}

/* "A..B=FILE". */
static bool plan_dump(struct session_run_outputs *outputs,
                      const struct cli_args *args,
                      const struct facet_object *program,
                      const facet_machine *machine,
                      const char *text)
{
    struct session_run_output *out = &outputs->list[outputs->count++];
    const char *equals = strchr(text, '='), *dots = strstr(text, "..");
    char name[2][256] = {"", ""};
    uint64_t end;

    if (equals != NULL && equals[1] != '\0' && dots != NULL && dots < equals &&
        (size_t)(dots - text) < sizeof name[0] && (size_t)(equals - dots - 2) < sizeof name[1]) {
        memcpy(name[0], text, (size_t)(dots - text));
        memcpy(name[1], dots + 2, (size_t)(equals - dots - 2));
    }
    if (name[0][0] == '\0' || name[1][0] == '\0' ||
        !session_find_address(program, name[0], &out->first) ||
        !session_find_address(program, name[1], &end)) {
        (void)cli_bad(args,
                      "--dump-memory %s: expected A..B=FILE, A and B addresses or symbols of the "
                      "program as SYMBOL or SYMBOL+N",
                      text);
        return false;
    }
    out->path = equals + 1;
    out->size = end - out->first;
    out->line =
        cli_ends_with(out->path, ".hex") || cli_ends_with(out->path, ".txt") ? WORD_BYTES : 0;
    return check_memory(args, machine, "--dump-memory", out->first, end) &&
           check_path(outputs, args, out->path);
}

bool session_run_outputs_plan(struct session_run_outputs *outputs,
                              const struct cli_args *args,
                              const struct facet_object *program,
                              const facet_machine *machine)
{
    bool good = plan_signature(outputs, args, program, machine);
    const char *text;

    for (int i = 0; good && (text = cli_nth_value(args, "dump-memory", i)) != NULL; i++) {
        good = plan_dump(outputs, args, program, machine, text);
    }
    return good;
}

/* ---- after the run ---- */

/* Lines of `line` bytes, the last byte first; behind the end of memory come zeros. */
static void put_lines(struct facet_strbuf *out, const uint8_t *bytes, uint64_t size, unsigned line)
{
    for (uint64_t at = 0; at < size; at += line) {
        char text[2 * 16 + 1];

        for (unsigned i = 0; i < line; i++) {
            uint64_t from = at + line - 1 - i;
            unsigned byte = from < size ? bytes[from] : 0;

            text[2 * i] = "0123456789abcdef"[byte >> 4];
            text[2 * i + 1] = "0123456789abcdef"[byte & 15];
        }
        text[2 * line] = '\n';
        facet_strbuf_add(out, text, 2 * line + 1);
    }
}

static enum facet_status read_part(const struct session_run_output *output,
                                   const facet_machine *machine,
                                   struct facet_strbuf *text,
                                   uint8_t **bytes,
                                   struct facet_file_part *part,
                                   struct facet_error *err)
{
    enum facet_status status;

    *bytes = malloc(output->size + 1);
    if (*bytes == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %s", output->path);
    }
    status = facet_machine_read(machine, 0, output->first, *bytes, output->size, err);
    *part = (struct facet_file_part){output->path, *bytes, output->size};
    if (status == FACET_OK && output->line != 0) {
        put_lines(text, *bytes, output->size, output->line);
        if (text->failed) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for %s", output->path);
        }
        *part = (struct facet_file_part){output->path, facet_strbuf_text(text), text->length};
    }
    return status;
}

bool session_run_outputs_write(const struct session_run_outputs *outputs,
                               const struct cli_args *args,
                               const facet_machine *machine,
                               const struct facet_file_part *const reports[SESSION_RUN_REPORTS])
{
    size_t count = (size_t)outputs->count, all = count;
    struct facet_file_part parts[CLI_MAX_VALUES + SESSION_RUN_REPORTS];
    uint8_t *bytes[CLI_MAX_VALUES] = {NULL};
    struct facet_strbuf texts[CLI_MAX_VALUES];
    enum facet_status status = FACET_OK;
    struct facet_error err = {0};

    for (size_t i = 0; i < count; i++) {
        facet_strbuf_init(&texts[i]);
    }
    for (size_t i = 0; i < count && status == FACET_OK; i++) {
        status = read_part(&outputs->list[i], machine, &texts[i], &bytes[i], &parts[i], &err);
    }
    for (size_t i = 0; i < SESSION_RUN_REPORTS; i++) {
        if (reports[i] != NULL) {
            parts[all++] = *reports[i];
        }
    }
    if (status == FACET_OK && all > 0) {
        status = facet_file_write_all(parts, all, &err);
    }
    for (size_t i = 0; i < count; i++) {
        facet_strbuf_free(&texts[i]);
        free(bytes[i]);
    }
    return status == FACET_OK || cli_bad_error(args, &err) == CLI_OK;
}
