/* Argument parsing from the option tables: long and short names, `--name=value`, `-nvalue`,
 * clusters of switches, `--`, choice lists, operand counts; every refusal says what was expected
 * and exits with 2. */
#include "command/frame.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The options every command has; --json only where the command can print it, --max-seconds unless
 * it has its own. */
static const struct cli_option common_options[] = {
    {"json", 0, NULL, "print JSON instead of text"},
    {"quiet", 'q', NULL, "no progress on standard error"},
    {"max-seconds", 0, "SECONDS", "end after this wall-clock time (exit code 124)"},
    {"help", 'h', NULL, "print this help and exit"},
};
enum { UNGROUPED = 8 }; /* most options that need no groups */
enum { COMMON_JSON, COMMON_QUIET, COMMON_MAX_SECONDS, COMMON_HELP, COMMON_COUNT };

static size_t own_count(const struct cli_command *command)
{
    size_t n = 0;

    while (command->options != NULL && command->options[n].name != NULL) {
        n++;
    }
    return n;
}

bool cli_has_own(const struct cli_command *command, const char *name)
{
    size_t own = own_count(command), n = 0;

    while (n < own && strcmp(command->options[n].name, name) != 0) {
        n++;
    }
    return n < own;
}

const struct cli_option *cli_option_at(const struct cli_command *command, size_t n)
{
    size_t own = own_count(command);

    if (n < own) {
        return &command->options[n];
    }
    n -= own;
    for (size_t i = 0; i < COMMON_COUNT; i++) {
        if ((i == COMMON_JSON && !command->has_json) ||
            (i == COMMON_MAX_SECONDS && cli_has_own(command, common_options[i].name))) {
            continue;
        }
        if (n-- == 0) {
            return &common_options[i];
        }
    }
    return NULL;
}

const char *cli_option_help(const struct cli_option *option)
{
    const char *end = strchr(option->help, '\n');

    return end != NULL ? end + 1 : option->help;
}

const char *cli_option_heading(const struct cli_command *command, size_t n, char buf[CLI_HEADING])
{
    const struct cli_option *option = cli_option_at(command, n);
    size_t own = own_count(command), title = (size_t)(cli_option_help(option) - option->help);

    if (cli_option_at(command, UNGROUPED) == NULL || (n == 0 && title == 0)) {
        return n == 0 ? "Options" : NULL;
    }
    if (title > 0) {
        (void)snprintf(buf, CLI_HEADING, "%.*s options", (int)title - 1, option->help);
        return buf;
    }
    return n == own ? "General options" : NULL;
}

bool cli_list_item(const char *list, char separator, size_t n, const char **item, size_t *length)
{
    const char *end;

    while (n-- > 0) {
        list = strchr(list, separator);
        if (list == NULL) {
            return false;
        }
        list++;
    }
    end = strchr(list, separator);
    *item = list;
    *length = end != NULL ? (size_t)(end - list) : strlen(list);
    return true;
}

bool cli_is_choice_list(const char *argument)
{
    if (argument == NULL || argument[0] == '\0') {
        return false;
    }
    for (const char *p = argument; *p != '\0'; p++) {
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) &&
            strchr("|-_.", *p) == NULL) {
            return false;
        }
    }
    return true;
}

static bool is_chosen(const char *list, const char *value)
{
    const char *item;
    size_t length;

    for (size_t n = 0; cli_list_item(list, '|', n, &item, &length); n++) {
        if (strlen(value) == length && strncmp(item, value, length) == 0) {
            return true;
        }
    }
    return false;
}

/* "; did you mean --profile-out?" when a file stands after --profile, else nothing: there is an
 * option for a file whose name goes on behind this one's. */
static const char *
file_hint(const struct cli_command *command, const char *name, char *out, size_t size)
{
    const size_t length = strlen(name), own = own_count(command);

    out[0] = '\0';
    for (size_t i = 0; i < own; i++) {
        const struct cli_option *option = &command->options[i];

        if (strncmp(option->name, name, length) == 0 && option->name[length] == '-' &&
            option->argument != NULL && strcmp(option->argument, "FILE") == 0) {
            (void)snprintf(out, size, "; did you mean --%s?", option->name);
        }
    }
    return out;
}

/* "; did you mean 'gfx12'?" when one of the choices is near, else nothing. */
static const char *suggestion(const char *list, const char *value, char *out, size_t size)
{
    struct facet_nearest near = facet_nearest_to(value, strlen(value));
    const char *item;
    size_t length;

    for (size_t n = 0; cli_list_item(list, '|', n, &item, &length); n++) {
        facet_nearest_offer(&near, item, length);
    }
    out[0] = '\0';
    if (near.best != NULL) {
        (void)snprintf(out, size, "; did you mean '%.*s'?", (int)near.best_length, near.best);
    }
    return out;
}

const char *cli_value(const struct cli_args *args, const char *name)
{
    size_t own = own_count(args->command);

    for (size_t i = 0; i < own; i++) {
        if (strcmp(args->command->options[i].name, name) == 0) {
            return args->values[i];
        }
    }
    for (int i = args->all_count; i-- > 0;) { /* one that came by itself */
        if (strcmp(args->all[i].option->name, name) == 0) {
            return args->all[i].value;
        }
    }
    return NULL;
}

const char *cli_nth_value(const struct cli_args *args, const char *name, int n)
{
    for (int i = 0; i < args->all_count; i++) {
        if (strcmp(args->all[i].option->name, name) == 0 && n-- == 0) {
            return args->all[i].value;
        }
    }
    return NULL;
}

bool cli_given(const struct cli_args *args, const char *name)
{
    return cli_value(args, name) != NULL;
}

bool cli_useless(const struct cli_args *args, const char *const *names, const char *why, ...)
{
    char text[512];
    va_list list;

    while (*names != NULL && !cli_given(args, *names)) {
        names++;
    }
    if (*names == NULL) {
        return false;
    }
    va_start(list, why);
    (void)vsnprintf(text, sizeof text, why, list);
    va_end(list);
    (void)cli_bad(args, "--%s %s", *names, text);
    return true;
}

bool cli_number(
    const struct cli_args *args, const char *name, uint64_t lo, uint64_t hi, uint64_t *out)
{
    const char *text = cli_value(args, name);
    bool hex, ok;
    uint64_t value;
    char *end;

    if (text == NULL) {
        return true;
    }
    hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    /* strtoull would take signs and spaces. */
    ok = hex ? isxdigit((unsigned char)text[2]) : isdigit((unsigned char)text[0]);
    errno = 0;
    value = ok ? strtoull(text, &end, hex ? 16 : 10) : 0;
    if (!ok || errno != 0 || *end != '\0' || value < lo || value > hi) {
        char hint[128] = "";

        (void)cli_bad(args,
                      "--%s is '%s'; expected a number from %" PRIu64 " to %" PRIu64 "%s",
                      name,
                      text,
                      lo,
                      hi,
                      ok ? "" : file_hint(args->command, name, hint, sizeof hint));
        return false;
    }
    *out = value;
    return true;
}

bool cli_real(const struct cli_args *args, const char *name, double lo, double hi, double *out)
{
    const char *text = cli_value(args, name);
    double value;
    char *end;

    if (text == NULL) {
        return true;
    }
    value = strtod(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]) || !isfinite(value) ||
        value < lo || value > hi) {
        (void)cli_bad(args, "--%s is '%s'; expected a number from %g to %g", name, text, lo, hi);
        return false;
    }
    *out = value;
    return true;
}

bool cli_size(const char *text, const char **end, uint64_t *size)
{
    static const char units[] = "kMG";
    unsigned shift = 0;
    const char *unit;
    char *last;

    errno = 0;
    *size = strtoull(text, &last, 0);
    unit = *last != '\0' ? strchr(units, *last == 'K' ? 'k' : *last) : NULL;
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        last++;
    }
    *end = last;
    if (errno != 0 || text[0] < '0' || text[0] > '9' || *size > UINT64_MAX >> shift) {
        return false;
    }
    *size <<= shift;
    return true;
}

/* Index in the order of cli_option_at, -1 when there is none. */
static int find_long(const struct cli_command *command, const char *name, size_t length)
{
    const struct cli_option *option;

    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return (int)n;
        }
    }
    return -1;
}

static int find_short(const struct cli_command *command, char letter)
{
    const struct cli_option *option;

    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        if (option->letter == letter) {
            return (int)n;
        }
    }
    return -1;
}

static enum cli_parse unknown_long(const struct cli_args *args, const char *name, size_t length)
{
    struct facet_nearest near = facet_nearest_to(name, length);
    const struct cli_option *option;
    int shown = length < 63 ? (int)length : 63;

    for (size_t n = 0; (option = cli_option_at(args->command, n)) != NULL; n++) {
        facet_nearest_offer(&near, option->name, strlen(option->name));
    }
    if (near.best != NULL) {
        (void)cli_bad(args, "unknown option --%.*s; did you mean --%s?", shown, name, near.best);
    } else {
        (void)cli_bad(
            args, "unknown option --%.*s; see 'facet %s --help'", shown, name, args->command->name);
    }
    return CLI_PARSE_FAILED;
}

/* Stores option n; `value` is NULL for a switch. */
static enum cli_parse store(struct cli_args *args, size_t n, const char *value)
{
    const struct cli_option *option = cli_option_at(args->command, n);
    char near[280];

    if (value != NULL && cli_is_choice_list(option->argument) &&
        !is_chosen(option->argument, value)) {
        (void)suggestion(option->argument, value, near, sizeof near);
        if (near[0] == '\0') {
            (void)file_hint(args->command, option->name, near, sizeof near);
        }
        (void)cli_bad(args,
                      "--%s is '%s'; expected %s%s%s",
                      option->name,
                      value,
                      strchr(option->argument, '|') != NULL ? "one of " : "",
                      option->argument,
                      near);
        return CLI_PARSE_FAILED;
    }
    if (value != NULL && args->all_count == CLI_MAX_VALUES) {
        (void)cli_bad(args, "more than %d options with values", CLI_MAX_VALUES);
        return CLI_PARSE_FAILED;
    }
    if (value != NULL) {
        args->all[args->all_count].option = option;
        args->all[args->all_count++].value = value;
    }
    if (n < own_count(args->command)) {
        args->values[n] = value != NULL ? value : "";
    } else if (option == &common_options[COMMON_JSON]) {
        args->json = true;
    } else if (option == &common_options[COMMON_QUIET]) {
        args->quiet = true;
    } else if (option == &common_options[COMMON_HELP]) {
        return CLI_WANTS_HELP;
    }
    return CLI_PARSED;
}

/* `--name`, `--name value`, `--name=value`; *next moves past the value. */
static enum cli_parse parse_long(struct cli_args *args, char **words, int count, int *next)
{
    const char *name = words[*next - 1] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    int n = find_long(args->command, name, length);
    const struct cli_option *option;

    if (n < 0) {
        return unknown_long(args, name, length);
    }
    option = cli_option_at(args->command, (size_t)n);
    if (option->argument == NULL) {
        if (equals != NULL) {
            (void)cli_bad(args, "--%s takes no value", option->name);
            return CLI_PARSE_FAILED;
        }
        return store(args, (size_t)n, NULL);
    }
    if (equals == NULL && *next >= count) {
        (void)cli_bad(args, "--%s needs a value: %s", option->name, option->argument);
        return CLI_PARSE_FAILED;
    }
    return store(args, (size_t)n, equals != NULL ? equals + 1 : words[(*next)++]);
}

/* `-x`, `-xyz` (switches), `-o value`, `-ovalue`. */
static enum cli_parse parse_short(struct cli_args *args, char **words, int count, int *next)
{
    for (const char *p = words[*next - 1] + 1; *p != '\0'; p++) {
        int n = find_short(args->command, *p);
        const struct cli_option *option;
        enum cli_parse result;

        if (n < 0) {
            (void)cli_bad(
                args, "unknown option -%c; see 'facet %s --help'", *p, args->command->name);
            return CLI_PARSE_FAILED;
        }
        option = cli_option_at(args->command, (size_t)n);
        if (option->argument != NULL) {
            if (p[1] != '\0') {
                return store(args, (size_t)n, p + 1);
            }
            if (*next >= count) {
                (void)cli_bad(args, "-%c needs a value: %s", *p, option->argument);
                return CLI_PARSE_FAILED;
            }
            return store(args, (size_t)n, words[(*next)++]);
        }
        result = store(args, (size_t)n, NULL);
        if (result != CLI_PARSED) {
            return result;
        }
    }
    return CLI_PARSED;
}

bool cli_is_repeated(const char *item, size_t length)
{
    while (length > 0 && item[length - 1] == ']') {
        length--;
    }
    return length >= 3 && strncmp(item + length - 3, "...", 3) == 0;
}

/* Compares the operands with the command's description: "NAME", "[NAME]", "NAME...", "a|b". */
static enum cli_parse check_operands(const struct cli_args *args)
{
    const char *item;
    size_t length;
    int given = args->positional_count, n = 0;

    if (args->command->operands == NULL) {
        return CLI_PARSED;
    }
    for (; args->command->operands[0] != '\0' &&
           cli_list_item(args->command->operands, ' ', (size_t)n, &item, &length);
         n++) {
        bool optional = item[0] == '[';
        bool repeated = cli_is_repeated(item, length);
        char name[128], near[160];

        (void)snprintf(name, sizeof name, "%.*s", (int)length, item);
        if (n >= given) {
            if (optional) {
                return CLI_PARSED;
            }
            (void)cli_bad(args, "%s is missing; see 'facet %s --help'", name, args->command->name);
            return CLI_PARSE_FAILED;
        }
        if (optional) {
            (void)snprintf(name, sizeof name, "%.*s", (int)length - 2, item + 1);
        }
        if (cli_is_choice_list(name) && !is_chosen(name, args->positional[n])) {
            (void)cli_bad(args,
                          "'%s' where %s was expected%s",
                          args->positional[n],
                          name,
                          suggestion(name, args->positional[n], near, sizeof near));
            return CLI_PARSE_FAILED;
        }
        if (repeated) {
            return CLI_PARSED;
        }
    }
    if (given > n) {
        (void)cli_bad(args,
                      "unexpected argument '%s'; see 'facet %s --help'",
                      args->positional[n],
                      args->command->name);
        return CLI_PARSE_FAILED;
    }
    return CLI_PARSED;
}

enum cli_parse
cli_parse_args(const struct cli_command *command, char **words, int count, struct cli_args *args)
{
    bool only_operands = false;

    memset(args, 0, sizeof *args);
    args->command = command;
    args->positional = words;
    if (own_count(command) > CLI_MAX_OPTIONS) { /* groups of options added up */
        (void)cli_bad(args, "internal: more than %d options", CLI_MAX_OPTIONS);
        return CLI_PARSE_FAILED;
    }
    for (int next = 0; next < count;) {
        char *word = words[next++];
        enum cli_parse result = CLI_PARSED;

        if (only_operands || word[0] != '-' || word[1] == '\0') {
            args->positional[args->positional_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (word[1] == '-') {
            result = parse_long(args, words, count, &next);
        } else {
            result = parse_short(args, words, count, &next);
        }
        if (result != CLI_PARSED) {
            return result;
        }
    }
    return check_operands(args);
}
