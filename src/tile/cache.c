/* See cache.h. */
#include "tile/cache.h"

#include "base/large.h"
#include "tile/core.h"

#include <string.h>

enum { LINE = 64, IN_LINES = 1, IN_STORES = 2, IN_TEXELS = 4 };

/* One reservation for all: pages that are never touched cost address space only. */
enum facet_status
facet_tile_cache_make(struct facet_tile_cache *cache, uint32_t vram_size, struct facet_error *err)
{
    size_t lines = vram_size / LINE;
    size_t sizes[] = {vram_size, /* data */
                      vram_size, /* texture */
                      lines * sizeof *cache->valid,
                      lines * sizeof *cache->dirty,
                      lines * sizeof *cache->lines,
                      lines * sizeof *cache->stores,
                      lines * sizeof *cache->texels,
                      lines}; /* listed */
    uint8_t *part[sizeof sizes / sizeof sizes[0]];
    size_t total = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        total += sizes[i];
    }
    cache->memory = facet_reserve(total);
    if (cache->memory == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a core's caches");
    }
    cache->memory_size = total;
    part[0] = cache->memory;
    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        part[i] = part[i - 1] + sizes[i - 1];
    }
    cache->data = part[0];
    cache->texture = part[1];
    cache->valid = (uint64_t *)(void *)part[2];
    cache->dirty = (uint64_t *)(void *)part[3];
    cache->lines = (uint32_t *)(void *)part[4];
    cache->stores = (uint32_t *)(void *)part[5];
    cache->texels = (uint32_t *)(void *)part[6];
    cache->listed = part[7];
    return FACET_OK;
}

void facet_tile_cache_free(struct facet_tile_cache *cache)
{
    facet_unreserve(cache->memory, cache->memory_size);
}

static void list_line(struct facet_tile_cache *cache, uint32_t line)
{
    if ((cache->listed[line] & IN_LINES) == 0) {
        cache->listed[line] |= IN_LINES;
        cache->lines[cache->line_count++] = line;
    }
}

void facet_tile_cache_fetch(struct facet_tile_cache *cache, const uint8_t *vram, uint32_t line)
{
    uint8_t *to = cache->data + (size_t)line * LINE;
    const uint8_t *from = vram + (size_t)line * LINE;
    uint64_t dirty = cache->dirty[line];

    if (dirty == 0) {
        memcpy(to, from, LINE);
    } else {
        for (unsigned i = 0; i < LINE; i++) {
            if ((dirty >> i & 1) == 0) {
                to[i] = from[i];
            }
        }
    }
    cache->valid[line] = UINT64_MAX;
    list_line(cache, line);
}

void facet_tile_cache_list_store(struct facet_tile_cache *cache, uint32_t line)
{
    list_line(cache, line);
    if ((cache->listed[line] & IN_STORES) == 0) {
        cache->listed[line] |= IN_STORES;
        cache->stores[cache->store_count++] = line;
    }
}

static void write_back(struct facet_tile_machine *m, struct facet_tile_cache *cache, uint32_t line)
{
    uint32_t at = line * LINE;
    uint64_t dirty = cache->dirty[line];

    if (dirty == 0) {
        return;
    }
    cache->dirty[line] = 0;
    if (dirty == UINT64_MAX) {
        memcpy(m->vram + at, cache->data + at, LINE);
    } else {
        for (unsigned i = 0; i < LINE; i++) {
            if ((dirty >> i & 1) != 0) {
                m->vram[at + i] = cache->data[at + i];
            }
        }
    }
    facet_tile_touch(m, at, LINE);
}

void facet_tile_cache_publish(struct facet_tile_machine *m, struct facet_tile_cache *cache)
{
    for (uint32_t i = 0; i < cache->store_count; i++) {
        write_back(m, cache, cache->stores[i]);
        cache->listed[cache->stores[i]] &= (uint8_t)~IN_STORES;
    }
    cache->store_count = 0;
}

void facet_tile_cache_sync_line(struct facet_tile_machine *m,
                                struct facet_tile_cache *cache,
                                uint32_t line)
{
    write_back(m, cache, line);
    cache->valid[line] = 0;
}

void facet_tile_cache_drop_clean(struct facet_tile_cache *cache)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cache->line_count; i++) {
        uint32_t line = cache->lines[i];

        cache->valid[line] = cache->dirty[line];
        if (cache->dirty[line] != 0) {
            cache->lines[kept++] = line;
        } else {
            cache->listed[line] &= (uint8_t)~IN_LINES;
        }
    }
    cache->line_count = kept;
}

void facet_tile_cache_clear(struct facet_tile_cache *cache)
{
    for (uint32_t i = 0; i < cache->line_count; i++) {
        cache->valid[cache->lines[i]] = cache->dirty[cache->lines[i]] = 0;
        cache->listed[cache->lines[i]] &= (uint8_t)~IN_LINES;
    }
    for (uint32_t i = 0; i < cache->store_count; i++) {
        cache->listed[cache->stores[i]] &= (uint8_t)~IN_STORES;
    }
    for (uint32_t i = 0; i < cache->texel_count; i++) {
        cache->listed[cache->texels[i]] &= (uint8_t)~IN_TEXELS;
    }
    cache->line_count = cache->store_count = cache->texel_count = 0;
}

const uint8_t *
facet_tile_cache_texels(struct facet_tile_cache *cache, const uint8_t *vram, uint32_t line)
{
    if ((cache->listed[line] & IN_TEXELS) == 0) {
        cache->listed[line] |= IN_TEXELS;
        cache->texels[cache->texel_count++] = line;
        memcpy(cache->texture + (size_t)line * LINE, vram + (size_t)line * LINE, LINE);
    }
    return cache->texture + (size_t)line * LINE;
}
