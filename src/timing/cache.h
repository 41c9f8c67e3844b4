/* Which lines a cache holds: tags without bytes. Least recently used goes first. */
#ifndef FACET_TIMING_CACHE_H
#define FACET_TIMING_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct timing_line {
    uint64_t tag;  /* number of the line plus 1; 0: empty */
    uint64_t used; /* when, counted in accesses */
    uint64_t fill; /* the number that its fetch was given */
    bool dirty;
};

struct timing_cache {
    uint32_t sets, ways;
    uint64_t now, dirty;
    struct timing_line *lines;
};

/* What an access did. */
struct timing_access {
    struct timing_line *line; /* that holds it now */
    bool hit;
    bool written_back; /* a dirty line had to go */
};

bool timing_cache_make(struct timing_cache *cache, uint32_t sets, uint32_t ways);
void timing_cache_free(struct timing_cache *cache);
/* Dirty lines go, and are counted; then the cache is empty. */
uint64_t timing_cache_clear(struct timing_cache *cache);
/* The line with this number is there afterwards, dirty if it was or if it is written. */
struct timing_access timing_cache_use(struct timing_cache *cache, uint64_t line, bool write);

#endif
