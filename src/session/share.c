/* See share.h. */
#include "session/share.h"

#include "command/output.h"

#include "base/hash.h"
#include "json/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 1000000 };

/* "2/5". */
static bool read_part(const char *text, uint32_t *part, uint32_t *parts)
{
    unsigned long k, n;
    char *end;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    k = strtoul(text, &end, 10);
    if (*end != '/' || !isdigit((unsigned char)end[1])) {
        return false;
    }
    n = strtoul(end + 1, &end, 10);
    *part = (uint32_t)k;
    *parts = (uint32_t)n;
    return *end == '\0' && k >= 1 && k <= n && n <= MOST_PARTS;
}

static unsigned number_of(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* What Open MPI tells its processes. Two jobs never have the same key; prterun of Open MPI 5 has
 * none, and a namespace instead. */
static bool read_job(const struct cli_args *args, struct session_share *out)
{
    const unsigned size = number_of("OMPI_COMM_WORLD_SIZE");
    const char *job = getenv("OMPI_MCA_orte_precondition_transports");

    job = job != NULL ? job : getenv("PMIX_NAMESPACE");
    if (size < 2 || job == NULL) {
        return true;
    }
    out->rank = number_of("OMPI_COMM_WORLD_RANK");
    out->share.job = job;
    out->wanted = true;
    if (out->share.journal != NULL) {
        return true;
    }
    if (number_of("OMPI_COMM_WORLD_LOCAL_SIZE") != size || getenv("PMIX_SERVER_TMPDIR") == NULL) {
        (void)cli_bad(args, "ranks on several hosts need --resume FILE in a folder they all share");
        return false;
    }
    out->share.journal = out->journal; /* its name follows from the work */
    return true;
}

bool session_share_read(const struct cli_args *args, struct session_share *out)
{
    const char *part = cli_value(args, "part");

    *out = (struct session_share){.share.journal = cli_value(args, "resume"),
                                  .share.file = cli_value(args, "output")};
    if (part != NULL && !read_part(part, &out->share.part, &out->share.parts)) {
        (void)cli_bad(
            args, "--part is '%s'; expected K/N, part K of N, both from 1 to %d", part, MOST_PARTS);
        return false;
    }
    if (part != NULL && out->share.file == NULL) {
        (void)cli_bad(args, "--part needs -o FILE");
        return false;
    }
    if (out->share.journal != NULL && cli_is_stream(out->share.journal)) {
        (void)cli_bad(args, "--resume is '-'; expected a file");
        return false;
    }
    out->wanted = part != NULL || out->share.journal != NULL;
    return cli_can_write(args, out->share.journal) &&
           !cli_would_replace(args, out->share.file, out->share.journal, "the file of --resume") &&
           read_job(args, out);
}

bool session_share_fits(const struct session_share *s,
                        const struct cli_args *args,
                        const char *const *of_result)
{
    return s->share.parts == 0 ||
           (!cli_useless(args, of_result, "is for facet join: a part has no result yet") &&
            cli_can_write(args, s->share.file));
}

static bool is_any(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static json_t *options_of(const struct cli_args *args, const char *const *aside)
{
    static const char *const always[] = {"output", "part", "resume", "threads", "plain", NULL};
    json_t *list = json_array();

    for (size_t n = 0; args->command->options[n].name != NULL; n++) {
        const struct cli_option *option = &args->command->options[n];
        const char *value;

        if (args->values[n] == NULL || is_any(option->name, always) ||
            is_any(option->name, aside)) {
            continue;
        }
        for (int i = 0; (value = option->argument != NULL ? cli_nth_value(args, option->name, i)
                                 : i == 0                 ? ""
                                                          : NULL) != NULL;
             i++) {
            char text[4096];

            (void)snprintf(text,
                           sizeof text,
                           "--%s%s%s",
                           option->name,
                           option->argument != NULL ? "=" : "",
                           value);
            (void)json_array_append_new(list, facet_json_name(text));
        }
    }
    return list;
}

void session_share_describe(struct session_share *s,
                            const struct cli_args *args,
                            const char *const *aside,
                            json_t *inputs,
                            json_t *frame)
{
    s->share.head = json_pack("{s:s, s:o, s:o, s:o}",
                              "command",
                              args->command->name,
                              "options",
                              options_of(args, aside),
                              "inputs",
                              inputs,
                              "frame",
                              frame);
    if (s->share.journal == s->journal) { /* mpirun removes the folder when the job ends */
        char *text = NULL;
        size_t size = 0;

        (void)facet_json_compact(s->share.head, &text, &size, NULL);
        (void)snprintf(s->journal,
                       sizeof s->journal,
                       "%s/facet-%016" PRIx64 ".units",
                       getenv("PMIX_SERVER_TMPDIR"),
                       facet_hash_bytes(text, size, s->share.part));
        free(text);
    }
}

struct facet_share *session_share_work(struct session_share *s)
{
    return s->wanted ? &s->share : NULL;
}

bool session_share_ends(const struct session_share *s, const struct cli_args *args, int *code)
{
    if (!s->wanted || s->share.end == FACET_SHARE_WHOLE) {
        return false;
    }
    *code = CLI_OK;
    if (s->share.end == FACET_SHARE_PART && args->json) {
        *code = cli_print_json(args,
                               json_pack("{s:i, s:i, s:o}",
                                         "part",
                                         (int)s->share.part,
                                         "parts",
                                         (int)s->share.parts,
                                         "file",
                                         facet_json_name(s->share.file)));
    } else if (s->share.end == FACET_SHARE_PART && !cli_is_stream(s->share.file)) {
        printf("part %" PRIu32 " of %" PRIu32 " in %s\n",
               s->share.part,
               s->share.parts,
               s->share.file);
    }
    return true;
}

bool session_share_quiet(const struct session_share *s, const struct cli_args *args)
{
    return args->quiet || s->rank != 0;
}
