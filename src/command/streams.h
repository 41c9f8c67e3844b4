/* Standard output and standard error of the program. Whatever is printed there passes one filter
 * that spells out what a terminal would obey (base/plain.h), so that no name of a file, symbol,
 * scene or JSON key can command it, whichever command prints it. Newlines and tabulators pass. */
#ifndef FACET_COMMAND_STREAMS_H
#define FACET_COMMAND_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Puts the filter in place; false when there is no memory for it. */
bool cli_streams_start(void);
/* Everything printed has been handed to the host. false with errno when it took not all of standard
 * output. */
bool cli_streams_end(void);
/* Whether standard output was given up because the program had to end (stop.h) and it was not being
 * read. */
bool cli_output_unread(void);
/* Something printed to standard error, a message or what a program says there, did not get out. */
bool cli_errors_lost(void);

/* How words look on a terminal. Nothing happens, and the answer is false, in a file or pipe, on a
 * dumb terminal (TERM), and where the user wants no colour (NO_COLOR, CLICOLOR=0). CLI_NORMAL ends
 * what another began. */
enum cli_style { CLI_NORMAL, CLI_HEADLINE, CLI_ERROR };
bool cli_set_style(FILE *stream, enum cli_style style);

/* A name from a file, in one line: newlines and tabulators are spelled out as well. */
void cli_put_name(FILE *stream, const char *name);

/* Bytes that go out as they are: those that a guest program prints, which are its own, and traces,
 * which hold no text of files. On standard output they must be alone from the first one on. */
void cli_print_raw(FILE *stream, const void *data, size_t size);

#endif
