/* Any text as a file of --profile-out: refused with a message, or shown in every way. */
#include "fuzz/fuzz.h"
#include "profile/profile.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile profile;
    struct facet_error err = {0};
    struct facet_strbuf out;
    json_t *views;

    if (profile_parse("profile.json", data, size, &profile, &err) != FACET_OK) {
        fuzz_require(profile.json == NULL && strncmp(err.message, "profile.json", 12) == 0);
        return 0;
    }
    views = profile_views(&profile, 3);
    fuzz_require(views != NULL);
    facet_strbuf_init(&out);
    profile_views_text(views, 3, &out);
    fuzz_require(!out.failed && out.length > 0);
    fuzz_require(profile_folded(&profile, &out));
    facet_strbuf_free(&out);
    json_decref(views);
    profile_free(&profile);
    return 0;
}
