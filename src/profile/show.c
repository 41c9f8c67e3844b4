/* The command `facet profile show`. */
#include "profile/show.h"

#include "base/file.h"
#include "command/output.h"
#include "profile/profile.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_LIMIT = 1 << 30, TOP = 10, TOP_MOST = 1000000 };

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

int profile_show(const struct cli_args *args)
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
