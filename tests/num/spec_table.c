/* See spec_table.h. */
#include "spec_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a table line into cells in place; returns their number, 0 for a line that is no row. */
static unsigned split(char *line, const char *cells[SPEC_CELLS])
{
    unsigned count = 0;
    char *p = line;

    if (*p != '|') {
        return 0;
    }
    p++;
    while (count < SPEC_CELLS) {
        char *end = strchr(p, '|'), *out = p, *last;

        if (end == NULL) {
            break;
        }
        *end = '\0';
        for (char *c = p; *c != '\0'; c++) {
            if (*c != '`') {
                *out++ = *c;
            }
        }
        *out = '\0';
        while (*p == ' ') {
            p++;
        }
        last = p + strlen(p);
        while (last > p && last[-1] == ' ') {
            *--last = '\0';
        }
        cells[count++] = p;
        p = end + 1;
    }
    return count;
}

unsigned spec_table(const char *heading, spec_row_fn *row, void *context)
{
    FILE *file = fopen(FACET_SPEC_DIR "/numeric.md", "r");
    char line[2000];
    const char *cells[SPEC_CELLS];
    bool found = false;
    unsigned lines = 0, count;

    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (!found) {
            found = strncmp(line, heading, strlen(heading)) == 0;
            continue;
        }
        if (line[0] != '|') {
            if (lines != 0) {
                break;
            }
            continue;
        }
        count = split(line, cells);
        if (++lines > 2) { /* title and ruler first */
            row(cells, count, context);
        }
    }
    (void)fclose(file);
    return lines > 2 ? lines - 2 : 0;
}

static const char *find_word(const char *list, const char *word, char stop)
{
    size_t n = strlen(word);

    for (const char *p = list; (p = strstr(p, word)) != NULL; p++) {
        bool starts = p == list || p[-1] == ' ' || p[-1] == ',';
        bool ends = stop != '\0' ? p[n] == stop : p[n] == '\0' || p[n] == ' ' || p[n] == ',';

        if (starts && ends) {
            return p;
        }
    }
    return NULL;
}

bool spec_has_word(const char *list, const char *word)
{
    return find_word(list, word, '\0') != NULL;
}

long spec_value(const char *list, const char *key, long fallback)
{
    const char *p = find_word(list, key, '=');

    return p != NULL ? strtol(p + strlen(key) + 1, NULL, 10) : fallback;
}

unsigned spec_flags_named(const char *list)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {{"NX", 1 << 0},
                 {"UF", 1 << 1},
                 {"OF", 1 << 2},
                 {"DZ", 1 << 3},
                 {"NV", 1 << 4},
                 {"QNAN_SEEN", 1 << 5},
                 {"SNAN_SEEN", 1 << 6},
                 {"FTZ_HIT", 1 << 12},
                 {"SAT_HIT", 1 << 13},
                 {"DOWNCAST_TAKEN", 1 << 14},
                 {"UNSUP_FMT", 1 << 15}};
    unsigned flags = 0;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        flags |= spec_has_word(list, names[i].name) ? names[i].bit : 0;
    }
    return flags;
}
