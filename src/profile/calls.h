/* Who called whom (`--profile-calls`): an observer that follows calls and returns and counts
 * instructions by call path. A call is a jump that leaves the address behind itself in a register,
 * a return an indirect jump to such an address; that holds for both machines, whatever register a
 * program links with. A trap is a call of its handler. */
#ifndef FACET_PROFILE_CALLS_H
#define FACET_PROFILE_CALLS_H

#include "profile/profile.h"

#include <facet/observer.h>

/* Calls deeper than this, and paths beyond the most, are counted where they begin. */
enum { PROFILE_CALLS_DEPTH = 1024, PROFILE_CALLS_PATHS = 1 << 20 };

typedef struct profile_calls profile_calls;

/* NULL without memory. The machine must outlive the listening. */
profile_calls *profile_calls_create(const facet_machine *machine, enum facet_isa isa);
void profile_calls_destroy(profile_calls *calls); /* NULL is allowed */
const struct facet_observer *profile_calls_observer(const profile_calls *calls);

/* [{"frames": ["main", "draw"], "line", "kernel", "count"}], the outermost frame first; NULL
 * without memory. */
json_t *profile_calls_json(const profile_calls *calls, const struct facet_symbols *symbols);
/* Whether the member `stacks` of a file (NULL: there is none) has this form. */
bool profile_stacks_good(const json_t *stacks);

#endif
