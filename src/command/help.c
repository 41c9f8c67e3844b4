/* Help texts, printed from the command tables; and the command `help` itself. */
#include "command/frame.h"
#include "command/streams.h"

#include <string.h>

enum { HELP_WIDTH = 80 };

const char cli_exit_text[] =
    "0 on success (for a check: nothing was found); 1 when the command completed with a negative "
    "result: findings, differences, failed cases; 2 for bad input, bad usage or a failure of the "
    "host; 124 when --max-seconds is over. Nothing is left half-written.";

/* Prints one paragraph [text, end), wrapped; a line that starts with a space stays as it is. */
static void print_paragraph(FILE *out, const char *text, const char *end, int indent)
{
    int column = 0;

    while (text < end) {
        size_t length;

        if (*text == ' ' && column == 0) {
            length = strcspn(text, "\n");
            fprintf(out, "%*s%.*s\n", indent, "", (int)length, text);
            text += length + (text[length] == '\n');
            continue;
        }
        length = strcspn(text, " \n");
        if (column > 0 && column + 1 + (int)length > HELP_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0) {
            column = fprintf(out, "%*s%.*s", indent, "", (int)length, text);
        } else {
            column += fprintf(out, " %.*s", (int)length, text);
        }
        text += length;
        if (text[0] == '\n' && text[1] == ' ') { /* what follows is kept: end this line first */
            fputc('\n', out);
            column = 0;
            text++;
        } else {
            text += text < end;
        }
    }
    if (column > 0) {
        fputc('\n', out);
    }
}

void cli_print_paragraphs(FILE *out, const char *text, int indent)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");

        if (end == NULL) {
            end = text + strlen(text);
        }
        print_paragraph(out, text, end, indent);
        text = end;
        while (*text == '\n') {
            text++;
        }
        if (*text != '\0') {
            fputc('\n', out);
        }
    }
}

/* "  -o, --output FILE" */
static void format_option(char *buf, size_t size, const struct cli_option *option)
{
    char letter[8] = "    ";

    if (option->letter != 0) {
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    (void)snprintf(buf,
                   size,
                   "%s--%s%s%s",
                   letter,
                   option->name,
                   option->argument != NULL ? " " : "",
                   option->argument != NULL ? option->argument : "");
}

/* Words from the current column on, `column`, to which further lines are indented. */
static void print_hanging(FILE *out, const char *text, int column)
{
    int at = column;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        if (at > column && at + 1 + (int)length > HELP_WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(out, "%s%.*s", at > column ? " " : "", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* The left side on lines of its own: a long list of words breaks after a bar, under its first word.
 */
static void print_left(FILE *out, const char *left)
{
    int column = 2 + (int)(strlen(left) - strlen(strrchr(left, ' ') + 1)), at = 2;

    fputs("  ", out);
    while (*left != '\0') {
        size_t length = strcspn(left, "|");

        length += left[length] == '|' ? 1 : 0;
        if (at > column && at + (int)length > HELP_WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(out, "%.*s", (int)length, left);
        left += length;
    }
    fputc('\n', out);
}

static void print_heading(FILE *out, const char *text)
{
    (void)cli_set_style(out, CLI_HEADLINE);
    fprintf(out, "%s:", text);
    (void)cli_set_style(out, CLI_NORMAL);
    fputc('\n', out);
}

static void print_options(FILE *out, const struct cli_command *command)
{
    const struct cli_option *option;
    char left[128], buf[CLI_HEADING];
    int width = 0;

    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        format_option(left, sizeof left, option);
        if ((int)strlen(left) > width && strlen(left) <= 32) {
            width = (int)strlen(left);
        }
    }
    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        const char *heading = cli_option_heading(command, n, buf);

        if (heading != NULL) {
            fputc('\n', out);
            print_heading(out, heading);
        }
        format_option(left, sizeof left, option);
        if ((int)strlen(left) > width) {
            print_left(out, left);
            fprintf(out, "%*s", width + 4, "");
        } else {
            fprintf(out, "  %-*s  ", width, left);
        }
        print_hanging(out, cli_option_help(option), width + 4);
    }
}

static void print_lines(FILE *out, const char *title, const char *lines, const char *before)
{
    const char *item;
    size_t length;

    print_heading(out, title);
    for (size_t n = 0; cli_list_item(lines, '\n', n, &item, &length); n++) {
        if (length > 0) {
            fprintf(out, "  %s%.*s\n", before, (int)length, item);
        }
    }
}

/* Exit codes are those of every command (`facet help` has them) unless something is said here. */
void cli_print_help(FILE *out, const struct cli_command *command)
{
    (void)cli_set_style(out, CLI_HEADLINE);
    fprintf(out, "facet %s:", command->name);
    (void)cli_set_style(out, CLI_NORMAL);
    fprintf(out, " %s\n\n", command->summary);
    print_lines(out, "Usage", command->usage, "");
    if (command->examples != NULL) {
        fputc('\n', out);
        print_lines(out, "Examples", command->examples, "$ ");
    }
    if (command->details != NULL) {
        fputc('\n', out);
        cli_print_paragraphs(out, command->details, 0);
    }
    print_options(out, command);
    if (command->exit_codes != NULL) {
        fputc('\n', out);
        print_heading(out, "Exit codes");
        cli_print_paragraphs(out, command->exit_codes, 2);
    }
}

static void print_command_list(FILE *out, const char *group)
{
    size_t length = group != NULL ? strlen(group) : 0;
    int width = 0;

    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if ((int)strlen(cli_commands[i]->name) > width) {
            width = (int)strlen(cli_commands[i]->name);
        }
    }
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const struct cli_command *c = cli_commands[i];

        if (group == NULL || (strncmp(c->name, group, length) == 0 && c->name[length] == ' ')) {
            fprintf(out, "  %-*s  %s\n", width, c->name, c->summary);
        }
    }
}

void cli_print_group(FILE *out, const char *group)
{
    fprintf(out, "Usage: facet %s COMMAND [options]\n\n", group);
    print_heading(out, "Commands");
    print_command_list(out, group);
    fprintf(out, "\nMore: facet %s COMMAND --help\n", group);
}

void cli_print_overview(FILE *out)
{
    fputs("Facet runs, checks and explains three graphics instruction sets: xphmg (an RV64 hart\n"
          "with the XPHMG extensions), tile (a SIMD tile GPU) and gfx12 (BVH8 ray intersection).\n"
          "\n"
          "Usage: facet COMMAND [options]\n"
          "       facet COMMAND --help\n"
          "       facet --help | --version\n"
          "\n",
          out);
    print_heading(out, "Commands");
    print_command_list(out, NULL);
    fputc('\n', out);
    print_heading(out, "Exit codes");
    cli_print_paragraphs(out, cli_exit_text, 2);
}

static int run_help(const struct cli_args *args)
{
    const struct cli_command *command;
    int used;

    if (args->positional_count == 0) {
        cli_print_overview(stdout);
        return CLI_OK;
    }
    command = cli_find(args->positional, args->positional_count, &used);
    if (command != NULL && used == args->positional_count) {
        cli_print_help(stdout, command);
        return CLI_OK;
    }
    if (args->positional_count == 1 && cli_is_group(args->positional[0])) {
        cli_print_group(stdout, args->positional[0]);
        return CLI_OK;
    }
    return cli_unknown_command(args->positional, args->positional_count);
}

const struct cli_command cli_cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .usage = "facet help [COMMAND]",
    .details = "The same text as facet COMMAND --help; without a command, the list of commands.",
    .examples = "facet help\nfacet help completion",
    .run = run_help,
    .operands = "[COMMAND...]",
};
