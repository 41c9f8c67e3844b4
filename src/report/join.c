/* See join.h. */
#include "report/join.h"

#include "command/output.h"

#include "report/conform.h"
#include "report/fuzzing.h"
#include "report/render.h"
#include "report/tracing.h"
#include "share/share.h"

#include <string.h>

static int join_conform(const struct cli_args *args, const struct facet_share_set *set)
{
    struct conform_suite suite;
    struct conform_run run;
    struct facet_error err = {0};
    int code;

    if (!report_conform_files(args)) {
        return CLI_BAD;
    }
    code = conform_join(set, &suite, &run, &err) == FACET_OK ? report_conform(args, &run)
                                                             : cli_bad_error(args, &err);
    conform_run_free(&run);
    conform_suite_free(&suite);
    return code;
}

/* Commands whose parts can be joined, and the options that their results have. */
static const struct joint {
    const char *command;
    int (*join)(const struct cli_args *args, const struct facet_share_set *set);
    bool needs_output;
    const char *options[5];
} joints[] = {
    {"conform", join_conform, false, {"output", "junit", "html", "all", NULL}},
    {"bvh trace", report_tracing_join, true, {"output", "candidates", NULL}},
    {"fuzz", report_fuzz_join, false, {"output", NULL}},
    {"render", report_render_join, true, {"output", "stats", NULL}},
};

static bool is_of(const struct joint *joint, const char *name)
{
    const char *const *at = joint->options;

    while (*at != NULL && strcmp(*at, name) != 0) {
        at++;
    }
    return *at != NULL;
}

/* Options of other commands are refused, not ignored; and no part is written over. */
static bool options_fit(const struct cli_args *args, const struct joint *joint)
{
    const struct cli_option *options = args->command->options;

    for (size_t i = 0; options[i].name != NULL; i++) {
        const char *value = cli_value(args, options[i].name);

        if (value == NULL) {
            continue;
        }
        if (!is_of(joint, options[i].name)) {
            (void)cli_bad(
                args, "--%s is not for parts of facet %s", options[i].name, joint->command);
            return false;
        }
        for (int k = 0; options[i].argument != NULL && k < args->positional_count; k++) {
            if (cli_would_replace(args, value, args->positional[k], "a part")) {
                return false;
            }
        }
    }
    if (joint->needs_output && !cli_given(args, "output")) {
        (void)cli_bad(args, "parts of facet %s need -o FILE", joint->command);
        return false;
    }
    return true;
}

int report_join(const struct cli_args *args)
{
    struct facet_share_set set;
    struct facet_error err = {0};
    const struct joint *joint = NULL;
    const char *command;
    int code;

    if (facet_share_set_read(args->positional, (size_t)args->positional_count, &set, &err) !=
        FACET_OK) {
        code = cli_bad_error(args, &err);
        facet_share_set_free(&set);
        return code;
    }
    command = json_string_value(json_object_get(facet_share_set_head(&set), "command"));
    for (size_t i = 0; i < sizeof joints / sizeof joints[0]; i++) {
        joint = strcmp(joints[i].command, command) == 0 ? &joints[i] : joint;
    }
    if (joint == NULL) {
        code = cli_bad(args, "%s: is of a command without parts", args->positional[0]);
    } else {
        code = options_fit(args, joint) ? joint->join(args, &set) : CLI_BAD;
    }
    facet_share_set_free(&set);
    return code;
}
