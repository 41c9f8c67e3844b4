/* See trace_filter.h: KEY=VALUE|VALUE,KEY=VALUE,... */
#include "session/trace_filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_TEXT = 1024 };

struct reader {
    struct facet_trace_filter *only;
    const struct facet_object *program;
    bool lacks; /* the symbol that was asked for last is not in the program */
};

/* "A..B", or "A" alone; the text is taken apart. */
static bool
read_places(const struct facet_object *program, char *text, struct facet_trace_range *range)
{
    char *dots = strstr(text, "..");

    if (dots != NULL) {
        *dots = '\0';
    }
    return session_find_address(program, text, &range->first) &&
           session_find_address(program, dots != NULL ? dots + 2 : text, &range->last) &&
           range->first <= range->last;
}

/* From the symbol to its end; one without a size ends where the next one of its section begins. */
static bool
read_symbol(const struct facet_object *program, const char *name, struct facet_trace_range *range)
{
    const struct facet_object_symbol *found = NULL;

    for (size_t i = 0; found == NULL && i < program->symbol_count; i++) {
        if (program->symbols[i].section >= 0 && strcmp(program->symbols[i].name, name) == 0) {
            found = &program->symbols[i];
        }
    }
    if (found == NULL) {
        return false;
    }
    *range = (struct facet_trace_range){found->value, UINT64_MAX};
    if (found->size != 0) {
        range->last = found->value + found->size - 1;
    }
    for (size_t i = 0; found->size == 0 && i < program->symbol_count; i++) {
        const struct facet_object_symbol *next = &program->symbols[i];

        if (next->section == found->section && next->value > found->value &&
            next->value - 1 < range->last && next->name[0] != '$' && next->name[0] != '.') {
            range->last = next->value - 1;
        }
    }
    return true;
}

static bool read_class(struct facet_trace_filter *only, const char *name)
{
    static const char *const names[] = {
        "load", "store", "branch", "csr", "float", "vector", "unit"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            only->classes |= 1U << i;
            return true;
        }
    }
    for (size_t i = 0; i < facet_extension_row_count; i++) {
        if (strcasecmp(name, facet_extension_rows[i].name) == 0) {
            bool room = only->extensions < FACET_TRACE_CONDITIONS;

            if (room) {
                only->extension[only->extensions++] = facet_extension_rows[i].name;
            }
            return room;
        }
    }
    return false;
}

static bool read_core(const char *text, struct facet_trace_range *range)
{
    char *end;

    range->first = range->last = strtoul(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && range->first <= UINT16_MAX;
}

static bool read_value(struct reader *r, const char *key, char *value)
{
    struct facet_trace_filter *only = r->only;
    struct facet_trace_range *range;
    bool pc = strcmp(key, "pc") == 0, sym = strcmp(key, "sym") == 0;
    bool core = strcmp(key, "core") == 0;
    unsigned *count;

    if (strcmp(key, "class") == 0) {
        return read_class(only, value);
    }
    if (!pc && !sym && !core && strcmp(key, "addr") != 0) {
        return false;
    }
    count = pc || sym ? &only->pcs : core ? &only->cores : &only->addresses;
    if (*count == FACET_TRACE_CONDITIONS) {
        return false;
    }
    range = (pc || sym ? only->pc : core ? only->core : only->address) + (*count)++;
    if (sym) {
        r->lacks = !read_symbol(r->program, value, range);
        return !r->lacks;
    }
    return core ? read_core(value, range) : read_places(r->program, value, range);
}

/* One condition; *bad becomes the part that is none. */
static bool read_condition(struct reader *r, char *text, const char **bad)
{
    char *equals = strchr(text, '='), *value, *rest = NULL;

    *bad = text;
    if (strcmp(text, "trap") == 0) {
        r->only->traps = true;
        return true;
    }
    if (equals == NULL || equals[1] == '\0') {
        return false;
    }
    *equals = '\0';
    for (value = strtok_r(equals + 1, "|", &rest); value != NULL;
         value = strtok_r(NULL, "|", &rest)) {
        if (!read_value(r, text, value)) {
            *bad = value;
            return false;
        }
    }
    return true;
}

static bool read_only(struct reader *r, const struct cli_args *args, const char *all)
{
    char text[MOST_TEXT], *rest = NULL;
    const char *bad = all;
    bool good = strlen(all) < sizeof text && all[0] != '\0';

    if (good) {
        memcpy(text, all, strlen(all) + 1);
        for (char *item = strtok_r(text, ",", &rest); good && item != NULL;
             item = strtok_r(NULL, ",", &rest)) {
            good = read_condition(r, item, &bad);
        }
    }
    if (!good && r->lacks) {
        (void)cli_bad(
            args, "--trace-only %.80s: '%.80s': expected a symbol of the program", all, bad);
    } else if (!good) {
        (void)cli_bad(
            args,
            "--trace-only %.80s: '%.80s': expected conditions pc=A..B, sym=NAME, addr=A..B, "
            "core=N, class=load|store|branch|csr|float|vector|unit or an extension, trap; "
            "joined by commas, at most %d of a kind and %d bytes",
            all,
            bad,
            (int)FACET_TRACE_CONDITIONS,
            (int)MOST_TEXT - 1);
    }
    return good;
}

/* "PLACE" or "PLACE,N". */
static bool read_trigger(const struct cli_args *args,
                         const char *option,
                         const struct facet_object *program,
                         struct facet_trace_trigger *trigger)
{
    const char *all = cli_value(args, option), *comma;
    char text[MOST_TEXT], *end = NULL;
    bool good;

    if (all == NULL) {
        return true;
    }
    comma = strrchr(all, ',');
    good = strlen(all) < sizeof text;
    trigger->count = 1;
    if (good) {
        memcpy(text, all, strlen(all) + 1);
        if (comma != NULL) {
            text[comma - all] = '\0';
            trigger->count = strtoull(comma + 1, &end, 10);
            good = comma[1] >= '1' && comma[1] <= '9' && *end == '\0';
        }
        good = good && session_find_address(program, text, &trigger->pc);
    }
    if (!good) {
        (void)cli_bad(
            args,
            "--%s %.80s: expected PLACE or PLACE,N: an address or a symbol of the program, "
            "and a number from 1",
            option,
            all);
    }
    return good;
}

bool session_trace_filter_read(struct facet_trace_options *options,
                               struct facet_trace_filter *only,
                               const struct cli_args *args,
                               const struct facet_object *program)
{
    struct reader r = {only, program, false};
    const char *text = cli_value(args, "trace-only");

    options->only = text != NULL ? only : NULL;
    return (text == NULL || read_only(&r, args, text)) &&
           read_trigger(args, "trace-start", program, &options->start) &&
           read_trigger(args, "trace-stop", program, &options->stop);
}
