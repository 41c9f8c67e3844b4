/* See fuzzing.h. */
#include "report/fuzzing.h"

#include "base/side_file.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int report_fuzz_emit(const struct cli_args *args,
                     const struct facet_fuzz_campaign *campaign,
                     const char *folder)
{
    enum facet_status status = FACET_OK;
    struct facet_error err = {0};
    struct facet_strbuf suite;

    facet_strbuf_init(&suite);
    for (uint64_t i = 0; i < campaign->count && status == FACET_OK; i++) {
        struct facet_fuzz_case c;
        char path[FACET_FUZZ_PATH];
        bool answered;

        facet_fuzz_draw(campaign, campaign->first + i, &c);
        status = facet_fuzz_write(campaign->kind, &c, folder, path, &answered, &err);
        if (status == FACET_OK && answered) {
            facet_fuzz_suite_add(&suite, campaign->kind, path);
        }
    }
    status = status == FACET_OK ? facet_fuzz_suite_write(&suite, folder, &err) : status;
    facet_strbuf_free(&suite);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        return cli_print_json(args, json_pack("{s:I}", "written", (json_int_t)campaign->count));
    }
    printf("%" PRIu64 " case%s in %s\n", campaign->count, cli_s(campaign->count), folder);
    return CLI_OK;
}

static json_t *findings_json(const struct facet_fuzz_campaign *campaign, const char *const *paths)
{
    json_t *list = json_array();

    for (size_t i = 0; i < campaign->finding_count; i++) {
        const struct facet_fuzz_finding *f = &campaign->findings[i];

        (void)json_array_append_new(list,
                                    json_pack("{s:I, s:o, s:I, s:I, s:s*}",
                                              "number",
                                              (json_int_t)f->smallest.number,
                                              "difference",
                                              facet_json_name(f->verdict.text),
                                              "drawn",
                                              (json_int_t)f->drawn,
                                              "left",
                                              (json_int_t)f->smallest.count,
                                              "file",
                                              paths[i]));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}",
                     "kind",
                     campaign->kind->name,
                     "seed",
                     (json_int_t)campaign->seed,
                     "first",
                     (json_int_t)campaign->first,
                     "count",
                     (json_int_t)campaign->count,
                     "different",
                     (json_int_t)campaign->different,
                     "findings",
                     list);
}

int report_fuzz_findings(const struct cli_args *args,
                         const struct facet_fuzz_campaign *campaign,
                         const char *folder)
{
    static char names[FACET_FUZZ_MAX_FINDINGS][FACET_FUZZ_PATH];
    const char *paths[FACET_FUZZ_MAX_FINDINGS] = {NULL};
    int code = campaign->different == 0 ? CLI_OK : CLI_NO;
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;
    struct facet_strbuf suite;

    facet_strbuf_init(&suite);
    for (size_t i = 0; i < campaign->finding_count && status == FACET_OK; i++) {
        const struct facet_fuzz_finding *f = &campaign->findings[i];
        bool answered = false;

        if (folder != NULL) {
            status =
                facet_fuzz_write(campaign->kind, &f->smallest, folder, names[i], &answered, &err);
            paths[i] = names[i];
        }
        if (answered) {
            facet_fuzz_suite_add(&suite, campaign->kind, names[i]);
        }
        if (!args->json && status == FACET_OK) {
            printf("case %" PRIu64 ": %s; %zu of %zu %s left%s%s\n",
                   f->smallest.number,
                   f->verdict.text,
                   f->smallest.count,
                   f->drawn,
                   campaign->kind->items,
                   folder != NULL ? ", in " : "",
                   folder != NULL ? names[i] : "");
        }
    }
    if (status == FACET_OK && folder != NULL) {
        status = facet_fuzz_suite_write(&suite, folder, &err);
    }
    facet_strbuf_free(&suite);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        int printed = cli_print_json(args, findings_json(campaign, paths));

        return printed == CLI_OK ? code : printed;
    }
    printf("%" PRIu64 " case%s, %" PRIu64 " with a difference (%s)\n",
           campaign->count,
           cli_s(campaign->count),
           campaign->different,
           campaign->foreign ? "the plain way, and that of --against" : campaign->kind->ways);
    return code;
}

/* ---- parts ---- */

static const struct facet_fuzz_kind *kind_of(const char *name)
{
    size_t i = 0;

    while (facet_fuzz_kinds[i] != NULL && strcmp(facet_fuzz_kinds[i]->name, name) != 0) {
        i++;
    }
    return facet_fuzz_kinds[i];
}

json_t *report_fuzz_frame(const struct facet_fuzz_campaign *campaign)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:i, s:b}",
                     "kind",
                     campaign->kind->name,
                     "seed",
                     facet_json_hex(campaign->seed),
                     "first",
                     facet_json_hex(campaign->first),
                     "count",
                     facet_json_hex(campaign->count),
                     "length",
                     (int)campaign->length,
                     "foreign",
                     (int)campaign->foreign);
}

static enum facet_status
read_frame(const json_t *frame, struct facet_fuzz_campaign *campaign, struct facet_error *err)
{
    const char *kind = NULL;
    uint64_t length = 0;
    enum facet_status status = facet_json_get_string(frame, "kind", &kind, err);

    if (status != FACET_OK ||
        (status = facet_json_get_u64(frame, "seed", INT64_MAX, &campaign->seed, err)) != FACET_OK ||
        (status = facet_json_get_u64(frame, "first", INT64_MAX / 2, &campaign->first, err)) !=
            FACET_OK ||
        (status = facet_json_get_u64(frame, "count", INT64_MAX / 2, &campaign->count, err)) !=
            FACET_OK ||
        (status = facet_json_get_u64(frame, "length", FACET_FUZZ_MAX_ITEMS, &length, err)) !=
            FACET_OK) {
        return status;
    }
    campaign->kind = kind_of(kind);
    campaign->length = (size_t)length;
    campaign->foreign = json_is_true(json_object_get(frame, "foreign"));
    return campaign->kind != NULL && campaign->count != 0
               ? FACET_OK
               : facet_fail(err, FACET_ERR_INPUT, 0, "no such cases");
}

int report_fuzz_join(const struct cli_args *args, const struct facet_share_set *set)
{
    static struct facet_fuzz_campaign campaign;
    const char *folder = cli_value(args, "output");
    struct facet_error err = {0};
    enum facet_status status =
        read_frame(json_object_get(facet_share_set_head(set), "frame"), &campaign, &err);

    if (status != FACET_OK) {
        facet_fail_in(&err, set->files[0].name);
    } else {
        status = facet_fuzz_join(&campaign, set, &err);
    }
    if (status == FACET_OK && folder != NULL) {
        status = facet_folder_make(folder, &err);
    }
    return status == FACET_OK ? report_fuzz_findings(args, &campaign, folder)
                              : cli_bad_error(args, &err);
}
