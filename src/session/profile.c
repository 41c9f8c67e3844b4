/* See profile.h. */
#include "session/profile.h"

#include "command/output.h"
#include "session/run_output.h"

#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_LIMIT = 1 << 30, TOP = 10, TOP_MOST = 1000000 };

bool session_profile_start(struct session_profile *profile,
                           const struct cli_args *args,
                           facet_machine *machine)
{
    struct facet_error err = {0};

    *profile = (struct session_profile){.args = args, .path = cli_value(args, "profile-out")};
    if (profile->path == NULL) {
        return true;
    }
    if (!session_run_report_check(args, "profile-out") ||
        cli_would_replace(args, profile->path, cli_value(args, "cover"), "the file of --cover")) {
        return false;
    }
    if (machine != NULL && facet_machine_count(machine, &profile->counts, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    profile->machine = machine;
    return true;
}

void session_profile_stop(struct session_profile *profile)
{
    if (profile->machine != NULL) {
        (void)facet_machine_count(profile->machine, NULL, NULL);
        profile->machine = NULL;
    }
}

bool session_profile_finish(struct session_profile *profile,
                            enum facet_isa isa,
                            const struct facet_symbols *symbols)
{
    struct facet_error err = {0};
    json_t *json;

    if (profile->path == NULL) {
        return true;
    }
    json = profile_json(&profile->counts, isa, symbols);
    if (facet_json_text(json, &profile->text, &profile->part.size, &err) != FACET_OK) {
        (void)cli_bad(profile->args, "--profile-out %s: out of memory", profile->path);
        profile->text = NULL;
    }
    json_decref(json);
    profile->part.path = profile->path;
    profile->part.data = profile->text;
    return profile->text != NULL;
}

bool session_profile_finish_program(struct session_profile *profile,
                                    enum facet_isa isa,
                                    struct facet_object *program)
{
    struct facet_symbols symbols = {.object = NULL};
    struct facet_error err = {0};
    bool good;

    if (profile->path == NULL) {
        return true;
    }
    if (program != NULL && facet_symbols_of(&symbols, program, &err) != FACET_OK) {
        return cli_bad_error(profile->args, &err) == CLI_OK;
    }
    good = session_profile_finish(profile, isa, &symbols);
    facet_symbols_free(&symbols);
    return good;
}

bool session_profile_finish_elf(struct session_profile *profile,
                                enum facet_isa isa,
                                const void *elf,
                                size_t size)
{
    struct facet_symbols symbols = {.object = NULL};
    struct facet_error err = {0};
    bool good;

    if (profile->path == NULL) {
        return true;
    }
    if (elf != NULL && facet_symbols_read(&symbols, elf, size, &err) != FACET_OK) {
        return cli_bad_error(profile->args, &err) == CLI_OK;
    }
    good = session_profile_finish(profile, isa, &symbols);
    facet_symbols_free(&symbols);
    return good;
}

const struct facet_file_part *session_profile_part(const struct session_profile *profile)
{
    return profile->text != NULL ? &profile->part : NULL;
}

void session_profile_free(struct session_profile *profile)
{
    session_profile_stop(profile);
    facet_counts_free(&profile->counts);
    free(profile->text);
    *profile = (struct session_profile){.args = NULL};
}

/* ---- the file ---- */

static bool read_profile(const struct cli_args *args, struct profile *profile)
{
    const char *path = args->positional[0];
    struct facet_error err = {0};
    struct facet_bytes bytes;
    enum facet_status status = facet_file_read(path, FILE_LIMIT, &bytes, &err);

    if (status == FACET_OK) {
        status = profile_parse(path, bytes.data, bytes.size, profile, &err);
        free(bytes.data);
    }
    return status == FACET_OK || cli_bad_error(args, &err) == CLI_OK;
}

static int
print_views(const struct cli_args *args, const struct profile *profile, size_t most, bool folded)
{
    struct facet_strbuf text;
    json_t *views = folded ? NULL : profile_views(profile, most);
    bool good;
    int code = CLI_OK;

    if (args->json && views != NULL) {
        return cli_print_json(args, views);
    }
    facet_strbuf_init(&text);
    if (folded) {
        good = profile_folded(profile, &text);
    } else {
        if (views != NULL) {
            profile_views_text(views, most, &text);
        }
        good = views != NULL && !facet_json_ran_short() && !text.failed;
    }
    if (good) {
        fputs(facet_strbuf_text(&text), stdout);
    } else {
        code = cli_bad(args, "out of memory for the profile");
    }
    facet_strbuf_free(&text);
    json_decref(views);
    return code;
}

int session_profile_show(const struct cli_args *args)
{
    const bool folded = cli_given(args, "folded");
    struct profile profile;
    uint64_t most = TOP;
    int code;

    if (folded && (args->json || cli_given(args, "top"))) {
        return cli_bad(args, "--folded prints everything; expected no --json or --top");
    }
    if (!cli_number(args, "top", 1, TOP_MOST, &most) || !read_profile(args, &profile)) {
        return CLI_BAD;
    }
    code = print_views(args, &profile, (size_t)most, folded);
    profile_free(&profile);
    return code;
}
