/* See sides.h. Each side is read with arguments of its own, in which the options of B have the
 * names of those of A. */
#include "session/bvh/sides.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"segment", "driver", "structure", "base", "root"};
#define NAMES (sizeof names / sizeof *names)
#define DRIVER 1

static size_t place_of(const struct cli_args *args, const char *name, const char *suffix)
{
    char full[32];
    size_t i = 0;

    (void)snprintf(full, sizeof full, "%s%s", name, suffix);
    while (strcmp(args->command->options[i].name, full) != 0) {
        i++;
    }
    return i;
}

/* Takes an option away, or makes it that of B. */
static void replace(struct cli_args *side, const char *name, bool by_b)
{
    const struct cli_option *options = side->command->options;
    const size_t own = place_of(side, name, ""), other = place_of(side, name, "-b");
    int kept = 0;

    side->values[own] = by_b ? side->values[other] : NULL;
    for (int i = 0; i < side->all_count; i++) {
        if (side->all[i].option == &options[own]) {
            continue;
        }
        side->all[kept] = side->all[i];
        if (by_b && side->all[kept].option == &options[other]) {
            side->all[kept].option = &options[own];
        }
        kept++;
    }
    side->all_count = kept;
}

static bool given_b(const struct cli_args *args, const char *name)
{
    char full[32];

    (void)snprintf(full, sizeof full, "%s-b", name);
    return cli_given(args, full);
}

/* One operand is the image that has no segments. Two, and segments of which no one says whose they
 * are: those of both. */
static bool split_operands(const struct cli_args *args, struct cli_args *a, struct cli_args *b)
{
    const bool segments = cli_given(args, "segment"), more = cli_given(args, "segment-b");
    const int count = args->positional_count;

    a->positional_count = count == 2 || (count == 1 && !segments);
    b->positional_count = count - a->positional_count;
    b->positional += a->positional_count;
    if (count == 1 && segments && more) {
        return cli_bad(args,
                       "%s could be a part of A or of B; name it with --segment or --segment-b",
                       args->positional[0]) == CLI_OK;
    }
    if ((a->positional_count == 0 && !segments) || (b->positional_count == 0 && !more)) {
        return cli_bad(args,
                       "%s is missing; see 'facet %s --help'",
                       a->positional_count == 0 && !segments ? "A" : "B",
                       args->command->name) == CLI_OK;
    }
    return true;
}

bool session_bvh_read_two(const struct cli_args *args, struct session_bvh *a, struct session_bvh *b)
{
    struct cli_args side[2] = {*args, *args};
    const char *driver = cli_value(args, "driver-b");
    uint64_t unused;
    bool alike;

    /* Complaints about these name the option that was given. */
    if (!session_bvh_address(args, "base-b", &unused) ||
        !cli_number(args, "root-b", 0, FACET_GFX12_NO_ROOT - 1, &unused) ||
        !split_operands(args, &side[0], &side[1])) {
        return false;
    }
    /* Places of A say nothing about a B that is made of other pieces. */
    alike = args->positional_count == 2 && !cli_given(args, "segment-b");
    for (size_t i = 0; i < NAMES; i++) {
        if (given_b(args, names[i])) {
            replace(&side[1], names[i], i != DRIVER || strcmp(driver, "none") != 0);
        } else if (!alike && i != DRIVER) {
            replace(&side[1], names[i], false);
        }
    }
    if (!session_bvh_read(&side[0], session_bvh_operand(&side[0]), a)) {
        return false;
    }
    if (!session_bvh_read(&side[1], session_bvh_operand(&side[1]), b)) {
        session_bvh_free(a);
        return false;
    }
    return true;
}
