/* Finding a command by its words, and the nearest one when there is none. */
#include "command/frame.h"

#include "base/nearest.h"

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

int cli_unknown_command(char *const *words, int count)
{
    struct facet_nearest near;
    char two[128];
    int used;

    if (cli_find(words, count, &used) != NULL) {
        return cli_complain("", "unexpected argument '%s'; see 'facet --help'", words[used]);
    }
    if (cli_is_group(words[0])) {
        if (count < 2) {
            return cli_complain(words[0], "which one? See 'facet %s --help'", words[0]);
        }
        (void)snprintf(two, sizeof two, "%s %s", words[0], words[1]);
    } else {
        (void)snprintf(two, sizeof two, "%s", words[0]);
    }
    near = facet_nearest_to(two, strlen(two));
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        facet_nearest_offer(&near, cli_commands[i]->name, strlen(cli_commands[i]->name));
    }
    if (two[0] == '-') {
        return cli_complain("", "unknown option %s; see 'facet --help'", two);
    }
    if (near.best != NULL) {
        return cli_complain("", "unknown command '%s'; did you mean '%s'?", two, near.best);
    }
    return cli_complain("", "unknown command '%s'; see 'facet --help'", two);
}
