/* Another implementation in the place of Facet's own ways: see campaign.h. */
#define _GNU_SOURCE /* mkdtemp */
#include "fuzz/campaign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum facet_status compare(struct conform_target *against,
                                 const struct facet_fuzz_kind *kind,
                                 const char *path,
                                 struct facet_fuzz_verdict *verdict,
                                 struct facet_error *err)
{
    char name[FACET_FUZZ_PATH + 32], signature[FACET_FUZZ_PATH + 32];
    const struct conform_case files = {.name = "case",
                                       .kind = kind->conform,
                                       .source = "reference-run",
                                       .config = "full",
                                       .path = name,
                                       .signature = signature};
    struct conform_result result = {0};
    enum facet_status status;

    (void)snprintf(name, sizeof name, "%s%s", path, kind->end);
    (void)snprintf(signature, sizeof signature, "%s.signature", path);
    status = conform_target_run(against, &files, NULL, &result, err);
    if (status == FACET_OK && result.verdict == CONFORM_UNSUPPORTED) {
        status = facet_fail(err, FACET_ERR_USAGE, 0, "--against: %s", result.text);
    } else if (status == FACET_OK && result.verdict != CONFORM_PASS) {
        verdict->differs = true;
        (void)snprintf(verdict->text,
                       sizeof verdict->text,
                       "%s: %.180s",
                       conform_verdict_name[result.verdict],
                       result.text);
    }
    return status;
}

enum facet_status facet_fuzz_against(struct conform_target *against,
                                     const struct facet_fuzz_kind *kind,
                                     const struct facet_fuzz_case *c,
                                     struct facet_fuzz_verdict *verdict,
                                     struct facet_error *err)
{
    const char *temporary = getenv("TMPDIR");
    char folder[512], path[FACET_FUZZ_PATH];
    bool answered = false;
    enum facet_status status;

    *verdict = (struct facet_fuzz_verdict){0};
    (void)snprintf(folder,
                   sizeof folder,
                   "%s/facet-fuzz-XXXXXX",
                   temporary != NULL && temporary[0] != '\0' && strlen(temporary) < 400 ? temporary
                                                                                        : "/tmp");
    if (mkdtemp(folder) == NULL) {
        return facet_fail(err, FACET_ERR_IO, 0, "%s: %s", folder, strerror(errno));
    }
    status = facet_fuzz_write(kind, c, folder, path, &answered, err);
    if (status == FACET_OK && answered) {
        status = compare(against, kind, path, verdict, err);
    }
    conform_remove_folder(folder);
    return status;
}
