/* See cache.h. */
#include "timing/cache.h"

#include <stdlib.h>
#include <string.h>

bool timing_cache_make(struct timing_cache *cache, uint32_t sets, uint32_t ways)
{
    *cache = (struct timing_cache){.sets = sets, .ways = ways};
    cache->lines = calloc((size_t)sets * ways, sizeof *cache->lines);
    return cache->lines != NULL;
}

void timing_cache_free(struct timing_cache *cache)
{
    free(cache->lines);
    *cache = (struct timing_cache){.lines = NULL};
}

uint64_t timing_cache_clear(struct timing_cache *cache)
{
    const uint64_t dirty = cache->dirty;

    if (cache->now != 0) {
        memset(cache->lines, 0, (size_t)cache->sets * cache->ways * sizeof *cache->lines);
    }
    cache->now = cache->dirty = 0;
    return dirty;
}

struct timing_access timing_cache_use(struct timing_cache *cache, uint64_t line, bool write)
{
    struct timing_line *set = &cache->lines[line % cache->sets * cache->ways];
    struct timing_access access = {.line = set};

    for (uint32_t i = 0; i < cache->ways && !access.hit; i++) {
        access.hit = set[i].tag == line + 1;
        if (access.hit || set[i].used < access.line->used) {
            access.line = &set[i];
        }
    }
    if (!access.hit) {
        access.written_back = access.line->dirty;
        cache->dirty -= access.line->dirty;
        *access.line = (struct timing_line){.tag = line + 1};
    }
    cache->dirty += write && !access.line->dirty;
    access.line->dirty |= write;
    access.line->used = ++cache->now;
    return access;
}
