/* What commands share for printing results. */
#include "cli/command.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

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
