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

static enum facet_status write_text(const struct cli_args *args,
                                    const char *path,
                                    const struct conform_run *run,
                                    struct facet_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    enum facet_status status;

    if (file == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a report");
    }
    conform_print(file, run, cli_given(args, "all"));
    status = fclose(file) == 0 ? facet_file_write(path, text, size, err)
                               : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a report");
    free(text);
    return status;
}

int report_conform(const struct cli_args *args, const struct conform_run *run)
{
    const char *output = cli_value(args, "output");
    struct facet_error err = {0};
    enum facet_status status =
        conform_write(run, cli_value(args, "junit"), cli_value(args, "html"), &err);
    int code = CLI_OK;

    if (status == FACET_OK && output != NULL && args->json) {
        json_t *root = conform_json(run);

        status = facet_json_write(output, root, &err);
        json_decref(root);
    } else if (status == FACET_OK && output != NULL) {
        status = write_text(args, output, run, &err);
    } else if (status == FACET_OK && args->json) {
        code = cli_print_json(args, conform_json(run));
    } else if (status == FACET_OK) {
        conform_print(stdout, run, cli_given(args, "all"));
    }
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    return code == CLI_OK && !conform_good(run) ? CLI_NO : code;
}
