/* See conform.h. */
#include "report/conform.h"

#include "command/output.h"

#include "base/file.h"
#include "json/json.h"

#include <stdlib.h>

bool report_conform_files(const struct cli_args *args)
{
    const char *junit = cli_value(args, "junit"), *html = cli_value(args, "html");
    const char *output = cli_value(args, "output");

    return cli_can_write(args, junit) && cli_can_write(args, html) && cli_can_write(args, output) &&
           !cli_would_replace(args, junit, html, "the page of --html") &&
           !cli_would_replace(args, output, html, "the page of --html") &&
           !cli_would_replace(args, output, junit, "the file of --junit");
}

/* What -o gets. */
static enum facet_status make_text(const struct cli_args *args,
                                   const struct conform_run *run,
                                   char **text,
                                   size_t *size,
                                   struct facet_error *err)
{
    FILE *file;

    if (args->json) {
        json_t *root = conform_json(run);
        enum facet_status status = facet_json_text(root, text, size, err);

        json_decref(root);
        return status;
    }
    file = open_memstream(text, size);
    if (file != NULL) {
        conform_print(file, run, cli_given(args, "all"));
    }
    return file != NULL && fclose(file) == 0
               ? FACET_OK
               : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a report");
}

int report_conform(const struct cli_args *args, const struct conform_run *run)
{
    const char *output = cli_value(args, "output");
    struct facet_error err = {0};
    struct facet_file_part part = {.path = output};
    char *text = NULL;
    enum facet_status status =
        output != NULL ? make_text(args, run, &text, &part.size, &err) : FACET_OK;
    int code = CLI_OK;

    part.data = text;
    if (status == FACET_OK) {
        status = conform_write(run,
                               cli_value(args, "junit"),
                               cli_value(args, "html"),
                               output != NULL ? &part : NULL,
                               &err);
    }
    free(text);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (output == NULL && args->json) {
        code = cli_print_json(args, conform_json(run));
    } else if (output == NULL) {
        conform_print(stdout, run, cli_given(args, "all"));
    }
    return code == CLI_OK && !conform_good(run) ? CLI_NO : code;
}
