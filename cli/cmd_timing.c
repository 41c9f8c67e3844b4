/* `facet timing show`: the numbers that --timing estimates with. */
#include "session/timing/option.h"

const struct cli_command cli_cmd_timing_show = {
    .name = "timing show",
    .summary = "show the numbers of the timing model",
    .usage = "facet timing show [FILE]",
    .details =
        "Prints every number that --timing of `facet run`, `facet tile run` and `facet tile draw` "
        "estimates cycles with, as a file for that option: save it, change it. A file need not "
        "have every row; with FILE all rows are shown as the file sets them. A row of a class of "
        "instructions has three numbers: cycles until the result is there, cycles until the unit "
        "takes the next instruction, and how many may be under way (0: any number). "
        "docs/timing.md explains the model and where the numbers come from.",
    .examples = "facet timing show\n"
                "printf 'tile.memory_latency = 400\\n' > slow.timing\n"
                "facet timing show slow.timing",
    .run = session_timing_show,
    .operands = "[FILE]",
};
