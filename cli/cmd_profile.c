/* `facet profile show`: where a run with --profile-out spent its instructions. */
#include "profile/show.h"

static const struct cli_option show_options[] = {
    {"top", 'n', "N", "rows of each view (default 10)"},
    {"folded", 0, NULL, "print a line for each kernel, symbol and line, for flame graphs"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_profile_show = {
    .name = "profile show",
    .summary = "show where a run with --profile-out spent its instructions",
    .usage = "facet profile show FILE [--top N] [--json]\n"
             "facet profile show FILE --folded",
    .details =
        "Adds up the counts of a file of --profile-out (facet run, tile run, tile draw, render): "
        "by symbol, by source line where the program has them (facet as -g, gcc -g), by core, "
        "accesses to memory, lanes that were idle under a mask, draws, rays, and the hottest "
        "blocks with their instructions. A block is a run of instructions that retired "
        "equally often. Counts are exact, not samples. docs/profile.md describes the file.\n\n"
        "--folded prints what flamegraph.pl and speedscope read: frames separated by ';' and a "
        "count.",
    .examples = "facet as --isa xphmg -g examples/xphmg/hello.s -o hello.elf\n"
                "facet run hello.elf --profile-out a.json\n"
                "facet profile show a.json --top 3\n"
                "facet profile show a.json --folded",
    .options = show_options,
    .has_json = true,
    .run = profile_show,
    .operands = "FILE",
};
