/* What commands share for printing results and complaints. */
#include "command/command.h"
#include "command/streams.h"

#include "base/plain.h"
#include "record/record.h"
#include "json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 8192 }; /* two of the longest paths */

static bool spoiled;

/* In one piece where there are no colours, so that lines of several processes do not mix. */
static int complain(const char *name, const char *format, va_list list)
{
    const char *gap = name[0] != '\0' ? " " : "";
    char raw[MESSAGE], text[MESSAGE];

    (void)vsnprintf(raw, sizeof raw, format, list);
    facet_plain_text(text, sizeof text, raw, strlen(raw));
    if (cli_set_style(stderr, CLI_ERROR)) {
        fprintf(stderr, "facet%s%s:", gap, name);
        (void)cli_set_style(stderr, CLI_NORMAL);
        fprintf(stderr, " %s\n", text);
    } else {
        fprintf(stderr, "facet%s%s: %s\n", gap, name, text);
    }
    return CLI_BAD;
}

int cli_complain(const char *name, const char *format, ...)
{
    va_list list;
    int code;

    va_start(list, format);
    code = complain(name, format, list);
    va_end(list);
    return code;
}

int cli_bad(const struct cli_args *args, const char *format, ...)
{
    va_list list;
    int code;

    va_start(list, format);
    code = complain(args->command->name, format, list);
    va_end(list);
    return code;
}

int cli_bad_error(const struct cli_args *args, const struct facet_error *err)
{
    return cli_bad(args, "%s", err->message);
}

void cli_spoil(const char *message)
{
    if (!spoiled) {
        (void)cli_complain("", "%s", message);
    }
    spoiled = true;
}

bool cli_spoiled(void)
{
    return spoiled;
}

json_t *cli_json_list(const struct cli_args *args)
{
    json_t *list = args->json ? json_array() : NULL;

    return args->json && list == NULL ? json_null() : list; /* takes nothing, needs no memory */
}

int cli_print_json(const struct cli_args *args, json_t *value)
{
    struct facet_error err = {0};
    char *text = NULL;
    size_t size = 0;
    enum facet_status status = facet_json_text(value, &text, &size, &err);

    json_decref(value);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    (void)fwrite(text, 1, size, stdout);
    free(text);
    return CLI_OK;
}

int cli_print_record(const struct cli_args *args, struct facet_record *record)
{
    facet_record_end(record);
    if (record->text.failed) {
        return cli_bad(args, "out of memory");
    }
    (void)fwrite(facet_strbuf_text(&record->text), 1, record->text.length, stdout);
    facet_strbuf_clear(&record->text);
    return CLI_OK;
}

void cli_stream_record(const struct cli_args *args, struct facet_record *record)
{
    if (!record->json && !record->text.failed) {
        (void)cli_print_record(args, record);
    }
}
