/* `facet man`: the manual page, in roff, from the command tables. */
#include "cli/frame.h"

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

    for (size_t n = 0; (option = cli_option_at(command, n)) != NULL; n++) {
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
        put_line(option->help);
    }
}

static void put_command(const struct cli_command *command)
{
    fputs(".SS facet ", stdout);
    put_line(command->name);
    put_line(command->summary);
    puts(".PP");
    put_block(command->usage, "");
    if (command->details != NULL) {
        puts(".PP");
        put_paragraphs(command->details);
    }
    if (command->exit_codes != NULL) {
        fputs(".PP\nExit codes:\n", stdout);
        put_paragraphs(command->exit_codes);
    }
    put_options(command);
    if (command->examples != NULL) {
        puts(".PP\nExamples:\n.PP");
        put_block(command->examples, "  $ ");
    }
}

static int run_man(const struct cli_args *args)
{
    (void)args;
    puts(".\\\" Printed by `facet man` from the command tables.");
    printf(".TH FACET 1 \"\" \"Facet %s\" \"User Commands\"\n", facet_version());
    puts(".SH NAME\nfacet \\- run, check and explain three graphics instruction sets");
    puts(".SH SYNOPSIS\n.B facet\n.I COMMAND\n.RI [ options ]");
    puts(".SH DESCRIPTION\nFacet is an executable reference for three graphics instruction sets: "
         "xphmg (an RV64 hart\nwith the XPHMG extensions), tile (a SIMD tile GPU) and gfx12 (BVH8 "
         "ray intersection).");
    puts(".SH COMMANDS");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        put_command(cli_commands[i]);
    }
    puts(".SH EXIT STATUS");
    put_line(cli_exit_text);
    return CLI_OK;
}

const struct cli_command cli_cmd_man = {
    .name = "man",
    .summary = "print the manual page",
    .usage = "facet man",
    .details = "The page covers all commands and is made from the tables that parse their "
               "arguments. `make install` puts it into share/man/man1; to read it right away, pipe "
               "it into `man -l -`.",
    .examples = "facet man",
    .run = run_man,
    .operands = "",
};
