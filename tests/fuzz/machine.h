/* A machine that serves many inputs. */
#ifndef FACET_TESTS_FUZZ_MACHINE_H
#define FACET_TESTS_FUZZ_MACHINE_H

#include "fuzz/fuzz.h"

#include <facet/machine.h>
#include <string.h>
#include <time.h>

struct fuzz_machine {
    facet_machine *machine;
    struct facet_blob start; /* what every input finds */
};

/* Keeps the machine, which stays for the life of the process, as it is now. */
static inline void fuzz_keep(struct fuzz_machine *kept, facet_machine *machine)
{
    kept->machine = machine;
    fuzz_require(facet_machine_snapshot(machine, &kept->start, NULL) == FACET_OK);
}

static inline facet_machine *fuzz_rewind(const struct fuzz_machine *kept)
{
    fuzz_require(facet_machine_restore(kept->machine, kept->start.data, kept->start.size, NULL) ==
                 FACET_OK);
    return kept->machine;
}

static inline void fuzz_require_same(const struct facet_blob *a, const struct facet_blob *b)
{
    fuzz_require(a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0));
}

/* Ends a run that takes longer than a second, which a valid input may: what it would have given is
 * then not compared. */
struct fuzz_limit {
    time_t end;
    bool hit;
};

static inline bool fuzz_limit_reached(void *context)
{
    struct fuzz_limit *limit = context;
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    limit->hit = limit->hit || now.tv_sec > limit->end;
    return limit->hit;
}

static inline void fuzz_limit_begin(struct fuzz_limit *limit, facet_machine *machine)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    limit->end = now.tv_sec + 1;
    facet_machine_poll(machine, fuzz_limit_reached, limit, 10000000);
}

#endif
