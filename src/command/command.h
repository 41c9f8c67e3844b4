/* A command of the `facet` program, described by tables: the same tables parse the arguments, print
 * `--help`, the man page and the bash completion. A command is one file cmd_NAME.c of cli/ that
 * exports one `const struct cli_command cli_cmd_NAME`; cli/commands.def lists them. */
#ifndef FACET_COMMAND_COMMAND_H
#define FACET_COMMAND_COMMAND_H

#include <facet/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of every command. */
enum cli_exit {
    CLI_OK = 0,      /* success; for a check: nothing found */
    CLI_NO = 1,      /* completed with a negative result: findings, differences, failed cases */
    CLI_BAD = 2,     /* bad input, bad usage, or the host refused; nothing was half-written */
    CLI_LIMIT = 124, /* --max-seconds or another limit was reached */
};

#define CLI_MOST_SECONDS 1e9 /* of --max-seconds */

struct cli_option {
    const char *name;     /* long name without dashes: "output" */
    char letter;          /* short name, or 0 */
    const char *argument; /* what stands after it: "FILE", "DIR", "N"; a lower-case list such as
                             "elf|bin|hex" is checked by the parser; NULL for a switch */
    const char *help;     /* one sentence; the first option of a group has CLI_GROUP before it */
};
/* Starts a group of options that belong together: CLI_GROUP("Trace") "write a line per step". Help
 * and manual page show the groups of commands with many options. */
#define CLI_GROUP(title) title "\n"

/* The option of commands that run a machine or trace rays. */
#define CLI_PLAIN_OPTION                                                                           \
    {                                                                                              \
        "plain", 0, NULL, "the plain way only, no fast ones: same results, slower"                 \
    }

#define CLI_MAX_OPTIONS 64
#define CLI_MAX_VALUES 256 /* option arguments on one command line */

struct cli_args {
    const struct cli_command *command;
    const char *values[CLI_MAX_OPTIONS]; /* per option: the (last) argument, "" for a given switch,
                                            or NULL */
    struct {
        const struct cli_option *option;
        const char *value;
    } all[CLI_MAX_VALUES]; /* every option argument, for options that may be repeated */
    int all_count;
    char **positional;
    int positional_count;
    bool quiet; /* --quiet: no progress */
    bool json;  /* --json */
};

struct cli_command {
    const char *name;     /* "as", or "bvh build" */
    const char *summary;  /* one line for the list of commands */
    const char *usage;    /* "facet as FILE -o OUT --isa tile|xphmg"; one form per line */
    const char *details;  /* paragraphs of --help and the man page, separated by empty lines; a line
                             that starts with a space is kept as it is */
    const char *examples; /* one command per line, each runs in the documentation test */
    const char
        *exit_codes; /* in addition to or in place of those of every command (enum cli_exit) */
    const struct cli_option *options; /* ends with a NULL name; --help, --json, --quiet and, unless
                                         there is an own one, --max-seconds come by themselves */
    bool has_json;                    /* --json is accepted */
    int (*run)(const struct cli_args *args);
    const char *operands; /* arguments that are not options: "FILE", "[FILE...]", "insn|csr NAME".
                             The parser checks number and choices, completion offers them. "" for
                             nothing; NULL when the command checks for itself. */
};

/* The argument of an option, NULL when it was not given. The name must be in the command's table.
 */
const char *cli_value(const struct cli_args *args, const char *name);
bool cli_given(const struct cli_args *args, const char *name);
/* Whether one of these options, of which NULL ends the list, was given though it would do nothing;
 * then complains: "--NAME WHY". */
bool cli_useless(const struct cli_args *args, const char *const *names, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
/* The n-th argument of an option that was given several times, NULL past the last. */
const char *cli_nth_value(const struct cli_args *args, const char *name, int n);
/* Numbers: decimal or 0x hex inside [lo, hi]; prints the complaint and returns false otherwise. An
 * option that was not given leaves *out alone. */
bool cli_number(
    const struct cli_args *args, const char *name, uint64_t lo, uint64_t hi, uint64_t *out);
/* The same for a decimal fraction (`0.5`, `1e-3`); never NaN or infinite. */
bool cli_real(const struct cli_args *args, const char *name, double lo, double hi, double *out);

/* The size that a text begins with: 64, 0x40, 64k, 128M, 2G; *end is past it. false when there is
 * none, or one beyond 2^64 - 1. */
bool cli_size(const char *text, const char **end, uint64_t *size);

/* "facet as: message" on standard error, in one line whatever the names in it hold; both return
 * CLI_BAD so that a command can `return cli_bad(...)`. */
int cli_bad(const struct cli_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int cli_bad_error(const struct cli_args *args, const struct facet_error *err);
/* The same for a place without arguments; the name is "" outside of commands. */
int cli_complain(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a place that cannot end the command: says what the host lacked, and the exit code becomes
 * CLI_BAD whatever the command returns. */
void cli_spoil(const char *message);
bool cli_spoiled(void);

struct json_t;
/* A list to fill with results, NULL without --json. */
struct json_t *cli_json_list(const struct cli_args *args);
/* Prints the value, two spaces per level, through stdio like everything else; releases it. CLI_BAD
 * with a message when memory ran short while the value was built, by any function (json/json.h),
 * else CLI_OK; a failing stream is main()'s business. */
int cli_print_json(const struct cli_args *args, struct json_t *value);

struct facet_record;
/* Prints the record and empties it. CLI_BAD with a message when memory ran short while it was
 * written, else CLI_OK. */
int cli_print_record(const struct cli_args *args, struct facet_record *record);
/* The same for a part of a long record: text goes out, JSON waits for its end. A failure is left to
 * cli_print_record. */
void cli_stream_record(const struct cli_args *args, struct facet_record *record);

/* The end of a counted noun: "1 round", "2 rounds". */
static inline const char *cli_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The command table (cli/main.c, made from cli/commands.def), ends with NULL; for man page,
 * completion and the documentation test. */
extern const struct cli_command *const cli_commands[];

#endif
