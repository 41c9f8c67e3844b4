/* Text that comes from files, shown to people. A name in a file may hold anything: commands for the
 * terminal that clear the screen or change its title, characters that turn the order of the letters
 * after them. Such characters are spelled out instead: \u001b for ESC, \u202e for an override of
 * the direction of writing, \x9b for a byte that is not UTF-8. What is escaped stays valid inside a
 * JSON string and means the same there. */
#ifndef FACET_BASE_PLAIN_H
#define FACET_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the character at `at` when it is valid UTF-8 and only shows itself; 0 for control
 * characters (C0, DEL, C1; newline and tabulator too), overrides of direction, and other bytes. */
size_t facet_plain_length(const char *at, size_t left);

/* Whether the character at `at` is incomplete: its rest may follow the `left` bytes. */
bool facet_plain_is_cut(const char *at, size_t left);

#define FACET_PLAIN_MOST 6
/* The character at `at` as it may be shown; returns the bytes of `shown`, without a NUL after them.
 * *used: the bytes of it at `at`; left must not be 0. */
size_t facet_plain_char(const char *at, size_t left, char shown[FACET_PLAIN_MOST], size_t *used);

/* A whole text in one line: cut to fit, never inside a character, and ended by a NUL. Applied again
 * it changes nothing. */
void facet_plain_text(char *to, size_t size, const char *text, size_t length);

#endif
