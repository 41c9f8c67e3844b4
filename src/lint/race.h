/* Which accesses of the cores or harts are ordered by nothing: happens-before, with a vector clock
 * per actor and, for each word of memory, the last plain or atomic access of each actor.
 *
 * Order comes from atomics (release to acquire of one word), from fences (what precedes a fence of
 * one actor, through a word that it stores next, to what follows a fence of an actor that has read
 * this word) and from messages. The first plain store after a fence counts as such a flag; a plain
 * load of one is in order when a fence follows. */
#ifndef FACET_LINT_RACE_H
#define FACET_LINT_RACE_H

#include "lint/internal.h"

struct lint_race_access {
    struct lint_place place;
    uint64_t address;
    uint32_t size;
    bool write, atomic, acquire, release; /* the last two: of an atomic */
};

/* NULL: out of memory. Conflicts go to the store, as FACET_LINT_RACE, or FACET_LINT_TILE_RACE
 * between two lives of one actor. */
struct lint_race *facet_lint_race_create(struct lint_store *store, uint32_t actors);
void facet_lint_race_free(struct lint_race *race); /* NULL is allowed */

void facet_lint_race_access(struct lint_race *race, const struct lint_race_access *access);
void facet_lint_race_fence(struct lint_race *race, uint32_t actor, bool acquire, bool release);
/* A message through something that is no memory: interrupts, tokens. */
void facet_lint_race_send(struct lint_race *race, uint32_t actor, uint64_t key);
void facet_lint_race_receive(struct lint_race *race, uint32_t actor, uint64_t key);
/* The actor begins a new life, ordered after the last facet_lint_race_all only. */
void facet_lint_race_begin(struct lint_race *race, uint32_t actor);
/* All that was is before all that comes. */
void facet_lint_race_all(struct lint_race *race);

#endif
