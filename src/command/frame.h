/* What the files of the command frame share: finding a command, parsing its arguments, printing
 * help. Commands themselves need command.h only. */
#ifndef FACET_COMMAND_FRAME_H
#define FACET_COMMAND_FRAME_H

#include "command/command.h"

#include "base/strbuf.h"

#include <stdio.h>

/* The command that starts `words`, the longest name first ("bvh build" before "bvh"); *used is the
 * number of words in its name. NULL when there is none. */
const struct cli_command *cli_find(char *const *words, int count, int *used);
/* true when some command is called "word something". */
bool cli_is_group(const char *word);
/* Says what is wrong with the words, with the nearest command; returns CLI_BAD. */
int cli_unknown_command(char *const *words, int count);

enum cli_parse { CLI_PARSED, CLI_WANTS_HELP, CLI_PARSE_FAILED };

/* Reads the words after the command name. Operands are moved to the front of `words`, where
 * args->positional points. On failure the complaint is already on standard error. */
enum cli_parse
cli_parse_args(const struct cli_command *command, char **words, int count, struct cli_args *args);

/* The n-th option of a command, those that come by themselves included; NULL past the end. Index
 * below CLI_MAX_OPTIONS when it is the command's own. */
const struct cli_option *cli_option_at(const struct cli_command *command, size_t n);
/* What the option does, without the title of its group. */
const char *cli_option_help(const struct cli_option *option);
enum { CLI_HEADING = 64 };
/* What stands above the n-th option: "Options" or, in commands with many of them, "Trace options"
 * and the like; NULL where it belongs to the group of the one before. */
const char *cli_option_heading(const struct cli_command *command, size_t n, char buf[CLI_HEADING]);
/* Whether the command's own table has the option. */
bool cli_has_own(const struct cli_command *command, const char *name);
/* true for a list of lower-case choices such as "elf|bin|hex"; one lower-case word is a list of
 * one.
 */
bool cli_is_choice_list(const char *argument);
/* true for an operand such as "FILE..." or "[FILE...]". */
bool cli_is_repeated(const char *item, size_t length);
/* The n-th item of a list separated by `separator`; false past the end. */
bool cli_list_item(const char *list, char separator, size_t n, const char **item, size_t *length);

/* Paragraphs wrapped to 80 columns, each line after `indent` spaces. */
void cli_print_paragraphs(FILE *out, const char *text, int indent);
void cli_print_overview(FILE *out);
void cli_print_group(FILE *out, const char *group);
void cli_print_help(FILE *out, const struct cli_command *command);

extern const char cli_exit_text[]; /* the paragraph on exit codes: help, man page */

#endif
