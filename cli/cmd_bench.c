/* `facet bench`: the speed of Facet beside its peers. */
#include "bench/command.h"

static const struct cli_option options[] = {
    {"list", 'l', NULL, "list the areas"},
    {"runs", 'r', "N", "measurements of which the median is taken (default 5)"},
    {"seconds", 's', "S", "length of one measurement (default 0.2)"},
    {"html", 0, "FILE", "write a page with bars beside the peers, too"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bench = {
    .name = "bench",
    .summary = "measure the speed of an area, compared with its peers",
    .usage = "facet bench AREA [RESULT...] [--runs N] [--seconds S] [--html FILE] [--json]\n"
             "facet bench all [--html FILE] [--json]\nfacet bench [--list]",
    .details = "Facet and its peer are measured in turn, each --runs times; medians are printed, "
               "also of the "
               "ratios of all turns. RESULT names some of an area's results; --list names them "
               "all. All values "
               "are rates: a ratio above 1 means that Facet is faster. A peer "
               "that is not installed is reported on standard error and left out.",
    .examples = "facet bench --list",
    .options = options,
    .has_json = true,
    .run = bench_command,
    .operands = "[AREA] [RESULT...]",
};
