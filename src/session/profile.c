/* See profile.h. */
#include "session/profile.h"

#include "command/output.h"
#include "session/run_output.h"

#include "json/json.h"

#include <stdlib.h>

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

bool session_profile_start_calls(struct session_profile *profile,
                                 const struct cli_args *args,
                                 facet_machine *machine,
                                 enum facet_isa isa)
{
    if (cli_given(args, "profile-calls") && cli_value(args, "profile-out") == NULL) {
        (void)cli_bad(args, "--profile-calls needs --profile-out");
        return false;
    }
    if (!session_profile_start(profile, args, machine)) {
        return false;
    }
    if (cli_given(args, "profile-calls")) {
        profile->calls = profile_calls_create(machine, isa);
        if (profile->calls == NULL) {
            (void)cli_bad(args, "--profile-calls: out of memory");
            return false;
        }
    }
    return true;
}

const struct facet_observer *session_profile_observer(struct session_profile *profile,
                                                      const struct facet_observer *other)
{
    if (profile->calls == NULL) {
        return other;
    }
    if (other == NULL) {
        return profile_calls_observer(profile->calls);
    }
    facet_tee_make(&profile->both, profile_calls_observer(profile->calls), other);
    return &profile->both.observer;
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
    if (json != NULL && profile->calls != NULL) {
        json_t *stacks = profile_calls_json(profile->calls, symbols);

        if (json_object_set_new(json, "stacks", stacks) != 0) {
            json_decref(json);
            json = NULL;
        }
    }
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
    profile_calls_destroy(profile->calls);
    free(profile->text);
    *profile = (struct session_profile){.args = NULL};
}
