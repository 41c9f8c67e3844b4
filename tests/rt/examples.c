/* See examples.h. */
#include "examples.h"

#include "num/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 12 };

/* The cells of a table row; cell 0 is the text before the first bar. */
static unsigned split(char *line, char *cell[CELLS])
{
    unsigned count = 0;

    for (char *p = line; p != NULL && count < CELLS; count++) {
        char *bar = strchr(p, '|');

        cell[count] = p;
        if (bar != NULL) {
            *bar++ = '\0';
        }
        p = bar;
    }
    return count;
}

/* Words of eight hexadecimal digits, in backquotes or not; returns how many. */
static unsigned words(const char *text, uint32_t *out, unsigned room)
{
    unsigned count = 0;

    while (*text != '\0' && count < room) {
        size_t length = strspn(text, "0123456789abcdef");

        if (length == 8) {
            out[count++] = (uint32_t)strtoul(text, NULL, 16);
        }
        text += length != 0 ? length : 1;
    }
    return count;
}

static unsigned flags_of(const char *text)
{
    static const struct {
        const char *name;
        unsigned flag;
    } names[] = {{"NX", FACET_NX},
                 {"UF", FACET_UF},
                 {"OF", FACET_OF},
                 {"DZ", FACET_DZ},
                 {"NV", FACET_NV},
                 {"QNAN_SEEN", FACET_QNAN},
                 {"SNAN_SEEN", FACET_SNAN}};
    unsigned flags = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        flags |= strstr(text, names[i].name) != NULL ? names[i].flag : 0;
    }
    return flags;
}

/* What the "Case" column asks for. */
static void options_of(const char *text, struct rt_example *e)
{
    static const char *const modes[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};
    const char *code = strstr(text, "epsilon code ");

    for (unsigned i = 0; i < 5; i++) {
        e->rm = strstr(text, modes[i]) != NULL ? i : e->rm;
    }
    e->t_clamp = strstr(text, "T_CLAMP=1") != NULL;
    e->w_guard = strstr(text, "W_GUARD=1") != NULL;
    e->cull_back = strstr(text, "CULL_BACK=1") != NULL;
    e->eps = code != NULL ? (unsigned)strtoul(code + 13, NULL, 10) : 0;
    e->ray[8] = 0x3F800000;
    if (e->w_guard) {
        (void)words(text, &e->ray[8], 1);
    }
}

static bool parse(char *line, bool triangle, struct rt_example *e)
{
    char *cell[CELLS];
    unsigned count = split(line, cell), values = triangle ? 3 : 2, at = triangle ? 6 : 5;

    *e = (struct rt_example){.triangle = triangle};
    if (count < at + values + 2 || sscanf(cell[1], " %15s", e->name) != 1 || e->name[0] != 'X') {
        return false;
    }
    options_of(cell[2], e);
    e->edges = triangle && words(cell[5], e->edge, 3) == 3;
    e->hit = strchr(cell[at], '1') != NULL;
    e->flags = flags_of(cell[at + values + 1]);
    for (unsigned i = 0; i < values; i++) {
        if (words(cell[at + 1 + i], &e->value[i], 1) != 1) {
            return false;
        }
    }
    return words(cell[3], e->ray, 8) == 8 && words(cell[4], e->item, 9) == (triangle ? 9u : 6u);
}

unsigned rt_examples(rt_example_fn *each, void *context)
{
    FILE *file = fopen(FACET_SPEC_DIR "/rt-semantics.md", "r");
    char line[2048];
    int section = 0;
    unsigned count = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        struct rt_example e;

        if (strncmp(line, "### ", 4) == 0) {
            section = strncmp(line + 4, "13.1", 4) == 0   ? 1
                      : strncmp(line + 4, "13.2", 4) == 0 ? 2
                                                          : 0;
        }
        if (section != 0 && strncmp(line, "| X", 3) == 0 && parse(line, section == 2, &e)) {
            each(&e, context);
            count++;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return count;
}
