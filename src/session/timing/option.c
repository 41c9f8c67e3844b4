/* See option.h. */
#include "session/timing/option.h"

#include "base/file.h"
#include "command/output.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 20 };

static bool read_model(const struct cli_args *args, const char *path, struct timing_model *model)
{
    struct facet_error err = {0};
    struct facet_bytes bytes;
    enum facet_status status;

    timing_default(model);
    if (strcmp(path, "default") == 0) {
        return true;
    }
    status = facet_file_read(path, FILE_LIMIT, &bytes, &err);
    if (status == FACET_OK) {
        status = timing_parse(path, bytes.data, bytes.size, model, &err);
        free(bytes.data);
    }
    return status == FACET_OK || cli_bad_error(args, &err) == CLI_OK;
}

/* Which command of the list the n-th one is: other steps are the host's. */
static bool name_commands(struct session_timing *t, const struct facet_tile_list *plan)
{
    t->index = calloc(plan->step_count + 1, sizeof *t->index);
    for (size_t i = 0; t->index != NULL && i < plan->step_count; i++) {
        if (plan->steps[i].kind == FACET_TILE_LIST_COMMAND) {
            t->index[t->names.count++] = plan->steps[i].index;
        }
    }
    t->names.index = t->index;
    return t->index != NULL;
}

bool session_timing_start(struct session_timing *timing,
                          const struct cli_args *args,
                          facet_machine *machine,
                          enum facet_isa isa,
                          const struct facet_tile_list *plan)
{
    const char *path = cli_value(args, "timing");
    struct timing_model model;
    bool good = true;

    *timing = (struct session_timing){.args = args, .machine = machine};
    if (path == NULL) {
        return true;
    }
    if (!read_model(args, path, &model)) {
        return false;
    }
    good = plan == NULL || name_commands(timing, plan);
    timing->collector = good ? timing_collector_create(machine, isa, &model) : NULL;
    if (timing->collector == NULL) {
        (void)cli_bad(args, "--timing %s: out of memory", path);
    }
    return timing->collector != NULL;
}

const struct facet_observer *session_timing_observer(struct session_timing *timing,
                                                     const struct facet_observer *other)
{
    if (timing->collector == NULL) {
        return other;
    }
    if (other == NULL) {
        return timing_collector_observer(timing->collector);
    }
    facet_tee_make(&timing->both, timing_collector_observer(timing->collector), other);
    return &timing->both.observer;
}

bool session_timing_stop(struct session_timing *timing)
{
    if (timing->collector == NULL) {
        return true;
    }
    facet_machine_observe(timing->machine, NULL);
    if (!timing_collector_stop(timing->collector)) {
        (void)cli_bad(timing->args, "--timing: out of memory");
        return false;
    }
    return true;
}

void session_timing_free(struct session_timing *timing)
{
    if (timing->collector != NULL) {
        facet_machine_observe(timing->machine, NULL);
    }
    timing_collector_free(timing->collector);
    free(timing->index);
    *timing = (struct session_timing){.args = NULL};
}

void session_timing_json(const struct session_timing *timing, json_t *object)
{
    if (timing->collector != NULL) {
        (void)json_object_set_new(object, "timing", timing_json(timing->collector, timing->names));
    }
}

bool session_timing_print(const struct session_timing *timing, FILE *out)
{
    struct facet_strbuf text;
    bool good;

    if (timing->collector == NULL) {
        return true;
    }
    facet_strbuf_init(&text);
    timing_text(timing->collector, timing->names, &text);
    good = !text.failed;
    if (good) {
        fputs(facet_strbuf_text(&text), out);
    } else {
        (void)cli_bad(timing->args, "--timing: out of memory");
    }
    facet_strbuf_free(&text);
    return good;
}

int session_timing_show(const struct cli_args *args)
{
    struct timing_model model;
    struct facet_strbuf text;
    int code = CLI_OK;

    if (!read_model(args, args->positional_count != 0 ? args->positional[0] : "default", &model)) {
        return CLI_BAD;
    }
    facet_strbuf_init(&text);
    timing_print(&model, &text);
    if (text.failed) {
        code = cli_bad(args, "out of memory for the model");
    } else {
        fputs(facet_strbuf_text(&text), stdout);
    }
    facet_strbuf_free(&text);
    return code;
}
