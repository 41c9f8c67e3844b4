/* `facet man`: the manual pages, in roff, from the command tables. */
#include "command/frame.h"

#include <facet/version.h>
#include <string.h>

/* Text in roff: backslashes and hyphens written so that they print as themselves, and a full stop
 * or an apostrophe at the start of a line kept from being a request. */
static void put(const char *text, size_t length, bool at_line_start)
{
    for (size_t i = 0; i < length; i++) {
        if (at_line_start && (text[i] == '.' || text[i] == '\'')) {
            fputs("\\&", stdout);
        }
        at_line_start = text[i] == '\n';
        if (text[i] == '-') {
            fputs("\\-", stdout);
        } else if (text[i] == '\\') {
            fputs("\\e", stdout);
        } else if (text[i] == '\'') {
            fputs("\\(aq", stdout);
        } else {
            putchar(text[i]);
        }
    }
}

static void put_line(const char *text)
{
    put(text, strlen(text), true);
    putchar('\n');
}

/* Lines kept as they are, each after `before`. */
static void put_block(const char *lines, const char *before)
{
    const char *item;
    size_t length;

    puts(".nf");
    for (size_t n = 0; cli_list_item(lines, '\n', n, &item, &length); n++) {
        if (length > 0) {
            put(before, strlen(before), true);
            put(item, length, before[0] == '\0');
            putchar('\n');
        }
    }
    puts(".fi");
}

/* Paragraphs: an empty line starts a new one, a line that starts with a space stays as it is. */
static void put_paragraphs(const char *text)
{
    const char *line;
    size_t length;
    bool kept = false;

    for (size_t n = 0; cli_list_item(text, '\n', n, &line, &length); n++) {
        bool keep = length > 0 && line[0] == ' ';

        if (keep != kept && length > 0) {
            puts(keep ? ".nf" : ".fi");
            kept = keep;
        }
        if (length == 0) {
            if (kept) {
                puts(".fi");
                kept = false;
            }
            puts(".PP");
        } else {
            put(line, length, true);
            putchar('\n');
        }
    }
    if (kept) {
        puts(".fi");
    }
}

static void put_options(const struct cli_command *command)
{
    const struct cli_option *option;
    char buf[CLI_HEADING];

    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
        const char *heading = cli_option_heading(command, n, buf);

        if (heading != NULL && strcmp(heading, "Options") != 0) { /* the section has that name */
            fputs(".SS ", stdout);
            put_line(heading);
        }
        puts(".TP");
        if (option->letter != 0) {
            printf("\\fB\\-%c\\fR, ", option->letter);
        }
        fputs("\\fB\\-\\-", stdout);
        put(option->name, strlen(option->name), false);
        fputs("\\fR", stdout);
        if (option->argument != NULL) {
            fputs(" \\fI", stdout);
            put(option->argument, strlen(option->argument), false);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        put_line(cli_option_help(option));
    }
}

static void put_name(const char *name, char separator)
{
    for (; *name != '\0'; name++) {
        putchar(*name == ' ' ? separator : *name);
    }
}

/* What starts every page; the title is `facet`, or `facet-bvh-build` for a command. */
static void put_header(const struct cli_command *command)
{
    fputs(".\\\" Printed by `facet man` from the command tables.\n.TH facet", stdout);
    if (command != NULL) {
        putchar('-');
        put_name(command->name, '-');
    }
    printf(" 1 \"\" \"Facet %s\" \"User Commands\"\n.SH NAME\nfacet", facet_version());
}

static int put_command_page(const struct cli_command *command)
{
    put_header(command);
    putchar('-');
    put_name(command->name, '-');
    fputs(" \\- ", stdout);
    put(command->summary, strlen(command->summary), false);
    puts("\n.SH SYNOPSIS");
    put_block(command->usage, "");
    if (command->details != NULL) {
        puts(".SH DESCRIPTION");
        put_paragraphs(command->details);
    }
    puts(".SH OPTIONS");
    put_options(command);
    if (command->examples != NULL) {
        puts(".SH EXAMPLES");
        put_block(command->examples, "$ ");
    }
    if (command->exit_codes != NULL) {
        puts(".SH EXIT STATUS");
        put_paragraphs(command->exit_codes);
    }
    puts(".SH SEE ALSO\n.BR facet (1)");
    return CLI_OK;
}

static int put_overview_page(void)
{
    put_header(NULL);
    puts(" \\- run, check and explain three graphics instruction sets");
    puts(".SH SYNOPSIS\n.B facet\n.I COMMAND\n.RI [ options ]");
    puts(".SH DESCRIPTION\nFacet is an executable reference for three graphics instruction sets: "
         "xphmg (an RV64 hart\nwith the XPHMG extensions), tile (a SIMD tile GPU) and gfx12 (BVH8 "
         "ray intersection).");
    puts(".SH COMMANDS\nEach command has its own page:");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fputs(".TP\n.BR facet\\-", stdout);
        put_name(cli_commands[i]->name, '-');
        puts(" (1)");
        put_line(cli_commands[i]->summary);
    }
    puts(".SH EXIT STATUS");
    put_line(cli_exit_text);
    return CLI_OK;
}

static int run_man(const struct cli_args *args)
{
    const struct cli_command *command;
    int used;

    if (args->positional_count == 0) {
        return put_overview_page();
    }
    command = cli_find(args->positional, args->positional_count, &used);
    if (command == NULL || used != args->positional_count) {
        return cli_unknown_command(args->positional, args->positional_count);
    }
    return put_command_page(command);
}

const struct cli_command cli_cmd_man = {
    .name = "man",
    .summary = "print the manual page of a command",
    .usage = "facet man [COMMAND]",
    .details = "The pages are made from the tables that parse the arguments; without a command, "
               "the page that lists all commands. `make install` puts them into share/man/man1, so "
               "that `man facet-render` works. To read one right away, pipe it into `man -l -`.",
    .examples = "facet man\nfacet man bvh build",
    .run = run_man,
    .operands = "[COMMAND...]",
};
