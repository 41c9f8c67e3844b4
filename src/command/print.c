/* What commands share for printing results. */
#include "command/command.h"

#include "record/record.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

static bool spoiled;

void cli_spoil(const char *message)
{
    if (!spoiled) {
        fprintf(stderr, "facet: %s\n", message);
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
