/* `facet fuzz`: random programs, kernels and rays in every way that Facet has. */
#include "command/command.h"
#include "command/stop.h"

#include "base/side_file.h"
#include "conform/target.h"
#include "report/fuzzing.h"

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

static int run_fuzz(const struct cli_args *args)
{
    static struct facet_fuzz_campaign campaign;
    const char *folder = cli_value(args, "output");
    const char *against = cli_value(args, "against");
    const bool emit = cli_given(args, "emit");
    double seconds = 60;
    uint64_t length = 48, threads = 0;
    struct facet_progress progress;
    struct cli_stop watch;
    struct facet_error err = {0};
    enum facet_status status;
    facet_pool *pool = NULL;

    campaign = (struct facet_fuzz_campaign){
        .kind = kind_of(args->positional[0]), .seed = 1, .count = 1000};
    if (!cli_number(args, "seed", 0, INT64_MAX, &campaign.seed) ||
        !cli_number(args, "first", 0, INT64_MAX / 2, &campaign.first) ||
        !cli_number(args, "count", 1, INT64_MAX / 2, &campaign.count) ||
        !cli_number(args, "length", 1, FACET_FUZZ_MAX_ITEMS, &length) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_real(args, "timeout", 1e-3, CLI_MOST_SECONDS, &seconds)) {
        return CLI_BAD;
    }
    if (against == NULL ? cli_given(args, "timeout") : campaign.kind->program == NULL || emit) {
        return cli_bad(args, "--timeout needs --against, which is for programs of xphmg that run");
    }
    campaign.length = (size_t)length;
    if (emit && (folder == NULL || cli_given(args, "threads"))) {
        return cli_bad(args, "--emit needs -o DIR, and takes no --threads");
    }
    if (folder != NULL && facet_folder_make(folder, &err) != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (emit) {
        return report_fuzz_emit(args, &campaign, folder);
    }
    if ((against != NULL &&
         conform_target_open(against, seconds, cli_stop_wanted, &campaign.against, &err) !=
             FACET_OK) ||
        facet_pool_create((unsigned)threads, &pool, &err) != FACET_OK) {
        conform_target_close(campaign.against);
        return cli_bad_error(args, &err);
    }
    facet_progress_start(&progress,
                         &(struct facet_progress_config){.label = "fuzzing",
                                                         .unit = "cases",
                                                         .total = campaign.count,
                                                         .fd = STDERR_FILENO,
                                                         .quiet = args->quiet});
    if (against != NULL) { /* the programs that run there are to end, too */
        cli_stop_begin(&watch, NULL, HUGE_VAL);
    }
    status = facet_fuzz_run(&campaign, pool, &progress, &err);
    facet_progress_finish(&progress);
    facet_pool_destroy(pool);
    conform_target_close(campaign.against);
    if (against != NULL) {
        cli_stop_end(&watch);
        if (cli_stop_signal() != 0) {
            return cli_stop_code();
        }
    }
    return status == FACET_OK ? report_fuzz_findings(args, &campaign, folder)
                              : cli_bad_error(args, &err);
}

static const struct cli_option options[] = {
    {"seed", 0, "N", "other numbers give other cases (default 1)"},
    {"count", 'n', "N", "how many cases (default 1000)"},
    {"first", 0, "N", "number of the first one (default 0)"},
    {"length", 0, "N", "instructions or rays of a case, 1 to 256 (default 48)"},
    {"output",
     'o',
     "DIR",
     "write the cases with a difference there, as small as they could be made"},
    {"against", 0, "COMMAND", "xphmg: compare another implementation with the plain way"},
    {"timeout", 0, "SECONDS", "for each case of --against (default 60)"},
    {"emit", 0, NULL, "write all cases to DIR and compare nothing"},
    {"threads", 0, "N", "threads to use (default 0: all processors)"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_fuzz = {
    .name = "fuzz",
    .summary = "run random programs, kernels or rays in every way, and compare",
    .usage = "facet fuzz xphmg|tile|gfx12 [--seed N] [--first N] [--count N] [--length N]\n"
             "           [--threads N] [-o DIR] [--json]\n"
             "facet fuzz xphmg|tile|gfx12 --emit -o DIR [--seed N] [--first N] [--count N]\n"
             "           [--length N] [--json]",
    .details =
        "A case is a pure function of kind, seed, number and length. xphmg: a program of mostly "
        "vendor "
        "instructions, over registers and structures that they take, which skips what traps and "
        "stores its registers and CSRs at the end. tile: a kernel on four cores. gfx12: rays "
        "through a BVH of random triangles, half of them damaged. Every case runs in all ways "
        "that Facet has (plain, blocks, code of the host, threads, vector units), which must end "
        "in the same state, to the bit.\n\n"
        "A case with a difference is made as small as possible by leaving out what does not "
        "matter. With -o it is written as KIND-SEED-NUMBER.s (gfx12: .json), programs of the hart "
        "also as .elf and .signature: what the plain way leaves between the symbols "
        "begin_signature and end_signature.\n\n"
        "--against runs the programs of the hart on another implementation instead, as facet "
        "conform does: a command line with {elf} and {signature}, or stdio:COMMAND. What is "
        "written with -o is a suite that facet conform --suite DIR replays.\n\n"
        "--emit writes all cases like this, to be run on other implementations.",
    .examples = "facet fuzz xphmg --count 100\n"
                "facet fuzz gfx12 --seed 7 --count 50 --json\n"
                "facet fuzz tile --count 2 --emit -o cases",
    .options = options,
    .has_json = true,
    .run = run_fuzz,
    .operands = "xphmg|tile|gfx12",
};
