/* `facet cover merge` and `facet cover report`: what runs with --cover reached of the contract. */
#include "session/cover.h"

static const struct cli_option merge_options[] = {
    {"output", 'o', "FILE", "where the sum goes; - is standard output"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_cover_merge = {
    .name = "cover merge",
    .summary = "add up files of --cover",
    .usage = "facet cover merge FILE... -o FILE",
    .details = "Adds the counts of files that `facet run --cover` or `facet tile run --cover` "
               "wrote, all of one machine. The sum is a file of the same kind (docs/cover.md).",
    .examples = "facet as --isa xphmg examples/xphmg/hello.s -o hello.elf\n"
                "facet run hello.elf --cover a.json\n"
                "facet cover merge a.json a.json -o sum.json",
    .options = merge_options,
    .run = session_cover_merge,
    .operands = "FILE...",
};

static const struct cli_option report_options[] = {
    {"missing", 'm', NULL, "list what was not reached"},
    {"html", 0, "FILE", "write the report as a page too, with every count; - prints only the page"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_cover_report = {
    .name = "cover report",
    .summary = "show what programs reached of the contract, and what not",
    .usage = "facet cover report FILE... [--missing] [--html FILE] [--json]",
    .details =
        "Adds up files of --cover and compares them with the tables of the contract: instructions "
        "by extension, states in which they ran, CSRs and their fields, requirement rows whose "
        "instructions or registers were used. --missing and --json list what was not reached; "
        "docs/cover.md says what each count means. facet coverage is about the tests of Facet "
        "itself, this is about your programs.",
    .examples = "facet as --isa xphmg examples/xphmg/hello.s -o hello.elf\n"
                "facet run hello.elf --cover a.json\n"
                "facet cover report a.json --html a.html",
    .options = report_options,
    .has_json = true,
    .run = session_cover_report,
    .operands = "FILE...",
};
