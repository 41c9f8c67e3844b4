/* Finding a command by its words, and the nearest one when there is none. */
#include "command/frame.h"

#include <string.h>

/* Number of words in the name when `words` start with it, else 0. */
static int starts_with_name(const char *name, char *const *words, int count)
{
    const char *item;
    size_t length;
    int n = 0;

    for (; cli_list_item(name, ' ', (size_t)n, &item, &length); n++) {
        if (n >= count || strlen(words[n]) != length || strncmp(words[n], item, length) != 0) {
            return 0;
        }
    }
    return n;
}

const struct cli_command *cli_find(char *const *words, int count, int *used)
{
    const struct cli_command *found = NULL;

    *used = 0;
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        int n = starts_with_name(cli_commands[i]->name, words, count);

        if (n > *used) {
            *used = n;
            found = cli_commands[i];
        }
    }
    return found;
}

bool cli_is_group(const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const char *name = cli_commands[i]->name;

        if (strncmp(name, word, length) == 0 && name[length] == ' ') {
            return true;
        }
    }
    return false;
}

/* Levenshtein distance, one row at a time; words longer than the row are simply far away. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[64], rows = strlen(a), columns = strlen(b);

    if (columns >= 64 || rows >= 64) {
        return 64;
    }
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t shorter = above < row[j - 1] ? above : row[j - 1];

            row[j] = change < shorter + 1 ? change : shorter + 1;
            diagonal = above;
        }
    }
    return row[columns];
}

void cli_nearest_try(struct cli_nearest *best, const char *word, const char *candidate)
{
    size_t length = strlen(word);
    size_t distance = edit_distance(word, candidate);
    size_t limit = length < 3 ? 1 : length < 6 ? 2 : 3;

    if (length >= 2 && strncmp(word, candidate, length) == 0) {
        distance = 1; /* an abbreviation */
    }
    if (distance <= limit && distance < length &&
        (best->name == NULL || distance < best->distance)) {
        best->name = candidate;
        best->distance = distance;
    }
}

int cli_unknown_command(char *const *words, int count)
{
    struct cli_nearest best = {0};
    char two[128];
    int used;

    if (cli_find(words, count, &used) != NULL) {
        fprintf(stderr, "facet: unexpected argument '%s'; see 'facet --help'\n", words[used]);
        return CLI_BAD;
    }
    if (cli_is_group(words[0])) {
        if (count < 2) {
            fprintf(stderr, "facet %s: which one? See 'facet %s --help'\n", words[0], words[0]);
            return CLI_BAD;
        }
        (void)snprintf(two, sizeof two, "%s %s", words[0], words[1]);
    } else {
        (void)snprintf(two, sizeof two, "%s", words[0]);
    }
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        cli_nearest_try(&best, two, cli_commands[i]->name);
    }
    if (two[0] == '-') {
        fprintf(stderr, "facet: unknown option %s; see 'facet --help'\n", two);
    } else if (best.name != NULL) {
        fprintf(stderr, "facet: unknown command '%s'; did you mean '%s'?\n", two, best.name);
    } else {
        fprintf(stderr, "facet: unknown command '%s'; see 'facet --help'\n", two);
    }
    return CLI_BAD;
}
