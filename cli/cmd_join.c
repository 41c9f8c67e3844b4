/* `facet join`: the result of commands that computed parts of it. */
#include "report/join.h"

#include <stddef.h>

static const struct cli_option options[] = {
    {"output", 'o', "FILE", "the result, as the command has it: picture, hits, report, folder"},
    {"stats", 0, "FILE", "of render: rays, nodes and the acceleration structure as JSON"},
    {"candidates", 0, "FILE", "of bvh trace --procedural candidates: the list"},
    {"junit", 0, "FILE", "of conform: the results as JUnit XML"},
    {"html", 0, "FILE", "of conform: a page of areas, rows, cases and verdicts"},
    {"all", 0, NULL, "of conform: list the cases that passed or were not run, too"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_join = {
    .name = "join",
    .summary = "make one result of the parts that --part wrote",
    .usage = "facet join PART... [-o FILE] [--json]",
    .details =
        "conform, fuzz, bvh trace and render compute one part of their work with --part K/N, on "
        "whatever machine. All N parts together give the result: the same bytes as without "
        "--part, and the same exit code. Nothing but the parts is read; times of the host are "
        "those of joining.\n\n"
        "A part that is damaged, that is of another command, version or input or was made with "
        "other options, that is there twice or missing is refused by name, and nothing is "
        "written. A file of --resume is a part when its work is done.",
    .examples = "facet conform --suite examples/conform --part 1/2 -o 1.part\n"
                "facet conform --suite examples/conform --part 2/2 -o 2.part\n"
                "facet join 1.part 2.part",
    .options = options,
    .has_json = true,
    .run = report_join,
    .operands = "PART...",
};
