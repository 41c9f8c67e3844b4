/* `facet fuzz`: random programs, kernels and rays in every way that Facet has. */
#include "command/output.h"
#include "command/stop.h"

#include "base/side_file.h"
#include "conform/target.h"
#include "report/fuzzing.h"
#include "session/share.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const struct facet_fuzz_kind *kind_of(const char *name)
{
    size_t i = 0;

    while (strcmp(facet_fuzz_kinds[i]->name, name) != 0) { /* the parser knows the names */
        i++;
    }
    return facet_fuzz_kinds[i];
}

/* What the cases come to: here, as a part, or with other processes. */
static enum facet_status run_cases(const struct cli_args *args,
                                   struct facet_fuzz_campaign *campaign,
                                   struct session_share *share,
                                   unsigned threads,
                                   struct facet_error *err)
{
    static const char *const none[] = {NULL};
    struct facet_share *work = session_share_work(share);
    struct facet_progress progress;
    facet_pool *pool;
    enum facet_status status = facet_pool_create(threads, &pool, err);

    if (status != FACET_OK) {
        return status;
    }
    if (work != NULL) {
        session_share_describe(share,
                               args,
                               none,
                               json_pack("{s:s}", "kind", campaign->kind->name),
                               report_fuzz_frame(campaign));
    }
    facet_progress_start(
        &progress,
        &(struct facet_progress_config){
            .label = "fuzzing",
            .unit = "cases",
            .total = facet_share_items(work, campaign->count, facet_fuzz_grain(campaign)),
            .fd = STDERR_FILENO,
            .quiet = session_share_quiet(share, args)});
    status = facet_fuzz_run(campaign, work, pool, &progress, err);
    facet_progress_finish(&progress);
    facet_pool_destroy(pool);
    return status;
}

static bool read_options(const struct cli_args *args,
                         struct facet_fuzz_campaign *campaign,
                         struct session_share *share,
                         uint64_t *threads,
                         double *seconds)
{
    const char *against = cli_value(args, "against");
    const bool emit = cli_given(args, "emit");
    uint64_t length = 48;

    *campaign = (struct facet_fuzz_campaign){
        .kind = kind_of(args->positional[0]), .seed = 1, .count = 1000, .foreign = against != NULL};
    if (!cli_number(args, "seed", 0, INT64_MAX, &campaign->seed) ||
        !cli_number(args, "first", 0, INT64_MAX / 2, &campaign->first) ||
        !cli_number(args, "count", 1, INT64_MAX / 2, &campaign->count) ||
        !cli_number(args, "length", 1, FACET_FUZZ_MAX_ITEMS, &length) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, threads) ||
        !cli_real(args, "timeout", 1e-3, CLI_MOST_SECONDS, seconds)) {
        return false;
    }
    campaign->length = (size_t)length;
    if (against == NULL ? cli_given(args, "timeout") : emit) {
        (void)cli_bad(args, "--timeout needs --against, which --emit does not take");
        return false;
    }
    if (emit && (!cli_given(args, "output") || cli_given(args, "threads") ||
                 cli_given(args, "part") || cli_given(args, "resume"))) {
        (void)cli_bad(args, "--emit needs -o DIR, and takes no --threads, --part or --resume");
        return false;
    }
    return session_share_read(args, share) &&
           (share->share.parts == 0 || cli_can_write(args, share->share.file));
}

static int run_fuzz(const struct cli_args *args)
{
    static struct facet_fuzz_campaign campaign;
    const char *folder = cli_value(args, "output");
    const char *against = cli_value(args, "against");
    double seconds = 60;
    uint64_t threads = 0;
    struct session_share share;
    struct cli_stop watch;
    struct facet_error err = {0};
    enum facet_status status;
    int code;

    if (!read_options(args, &campaign, &share, &threads, &seconds)) {
        return CLI_BAD;
    }
    if (share.share.parts == 0 && folder != NULL && facet_folder_make(folder, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (cli_given(args, "emit")) {
        return report_fuzz_emit(args, &campaign, folder);
    }
    if (against != NULL) { /* the programs that run there are to end, too */
        if (conform_target_open(against, seconds, cli_stop_wanted, &campaign.against, &err) !=
            FACET_OK) {
            return cli_bad_error(args, &err);
        }
        cli_stop_begin(&watch, NULL, HUGE_VAL);
    }
    status = run_cases(args, &campaign, &share, (unsigned)threads, &err);
    conform_target_close(campaign.against);
    if (against != NULL) {
        cli_stop_end(&watch);
    }
    if (against != NULL && cli_stop_signal() != 0) {
        code = cli_stop_code();
    } else if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (!session_share_ends(&share, args, &code)) {
        code = report_fuzz_findings(args, &campaign, folder);
    }
    facet_share_close(&share.share);
    return code;
}

static const struct cli_option options[] = {
    {"seed", 0, "N", "other numbers give other cases (default 1)"},
    {"count", 'n', "N", "how many cases (default 1000)"},
    {"first", 0, "N", "number of the first one (default 0)"},
    {"length", 0, "N", "instructions, commands or rays of a case, 1 to 256 (default 48)"},
    {"output",
     'o',
     "DIR",
     "write the cases with a difference there, as small as they could be made"},
    {"against", 0, "COMMAND", "compare another implementation with the plain way"},
    {"timeout", 0, "SECONDS", "for each case of --against (default 60)"},
    {"emit", 0, NULL, "write all cases to DIR and compare nothing"},
    {"threads", 0, "N", "threads to use (default 0: all processors)"},
    SESSION_SHARE_OPTIONS("-o"),
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_fuzz = {
    .name = "fuzz",
    .summary = "run random programs, kernels or rays in every way, and compare",
    .usage = "facet fuzz xphmg|tile|draw|gfx12 [--seed N] [--first N] [--count N] [--length N]\n"
             "           [--threads N] [--against COMMAND] [--timeout SECONDS] [-o DIR]\n"
             "           [--resume FILE] [--json]\n"
             "facet fuzz xphmg|tile|draw|gfx12 --part K/N -o FILE [--seed N] [--count N]...\n"
             "facet fuzz xphmg|tile|draw|gfx12 --emit -o DIR [--seed N] [--first N] [--count N]\n"
             "           [--length N] [--json]",
    .details =
        "A case is a pure function of kind, seed, number and length. xphmg: a program of mostly "
        "vendor "
        "instructions, over registers and structures that they take, which skips what traps and "
        "stores its registers and CSRs at the end. tile: a kernel on four cores. draw: a command "
        "list of the tile machine. gfx12: rays "
        "through a BVH of random triangles, half of them damaged. Every case runs in all ways "
        "that Facet has (plain, blocks, code of the host, threads, vector units), which must end "
        "in the same state, to the bit.\n\n"
        "A case with a difference is made as small as possible by leaving out what does not "
        "matter. With -o it is written as KIND-SEED-NUMBER: assembly and .elf, a case folder, a "
        "folder with a command list, rays and vectors as JSON, each with the .signature that the "
        "plain way leaves. DIR is a suite that facet conform --suite DIR replays.\n\n"
        "--against runs the cases on another implementation instead, as facet conform does: a "
        "command line with {elf} or {case} and {signature}, stdio:COMMAND, or a library "
        "(LIB.so).\n\n"
        "--emit writes all cases like this, to be run on other implementations.",
    .examples = "facet fuzz xphmg --count 100\n"
                "facet fuzz gfx12 --seed 7 --count 50 --json\n"
                "facet fuzz tile --count 2 --emit -o cases",
    .options = options,
    .has_json = true,
    .run = run_fuzz,
    .operands = "xphmg|tile|draw|gfx12",
};
