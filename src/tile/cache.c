/* See cache.h. */
#include "tile/cache.h"

#include "base/large.h"
#include "tile/core.h"

#include <string.h>

enum { LINE = 64, IN_LINES = 1, IN_STORES = 2, IN_TEXELS = 4 };

/* Two reservations: pages that are never touched cost address space only. */
enum facet_status facet_tile_cache_make(struct facet_tile_cache *cache,
                                        uint32_t vram_size,
                                        uint32_t scratch_size,
                                        struct facet_error *err)
{
    const size_t lines = vram_size / LINE, all_lines = lines + scratch_size / LINE;
    const size_t undo = FACET_TILE_UNDO_LINES + FACET_TILE_UNDO_SPARE;
    uint8_t *at;

    cache->zeroes_size = lines * (sizeof *cache->valid + sizeof *cache->dirty + 1) +
                         all_lines * sizeof *cache->stamp;
    cache->memory_size =
        2 * (size_t)vram_size + undo * sizeof *cache->undo +
        lines * (sizeof *cache->lines + sizeof *cache->stores + sizeof *cache->texels);
    cache->zeroes = facet_reserve(cache->zeroes_size);
    cache->memory = facet_reserve_any(cache->memory_size);
    if (cache->zeroes == NULL || cache->memory == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a core's caches");
    }
    cache->vram_lines = (uint32_t)lines;
    cache->all_lines = (uint32_t)all_lines;
    cache->valid = cache->zeroes;
    cache->dirty = cache->valid + lines;
    cache->stamp = (uint32_t *)(void *)(cache->dirty + lines);
    cache->listed = (uint8_t *)(cache->stamp + all_lines);
    at = cache->memory;
    cache->data = at;
    cache->texture = at += vram_size;
    cache->undo = (struct facet_tile_undo *)(void *)(at += vram_size);
    cache->lines = (uint32_t *)(void *)(cache->undo + undo);
    cache->stores = cache->lines + lines;
    cache->texels = cache->stores + lines;
    cache->now = 1;
    return FACET_OK;
}

/* What has to be 0 is so again. */
static void clear_zeroes(struct facet_tile_cache *cache)
{
    facet_tile_cache_clear(cache);
    memset(cache->stamp + cache->vram_lines,
           0,
           (cache->all_lines - cache->vram_lines) * sizeof *cache->stamp);
}

void facet_tile_cache_free(struct facet_tile_cache *cache)
{
    if (FACET_ZEROES_COST && cache->zeroes != NULL && cache->memory != NULL) {
        clear_zeroes(cache);
        facet_unreserve_zeroes(cache->zeroes, cache->zeroes_size);
    } else {
        facet_unreserve(cache->zeroes, cache->zeroes_size);
    }
    facet_unreserve(cache->memory, cache->memory_size);
}

/* No line has the new stamp. */
static void forget_stamps(struct facet_tile_cache *cache)
{
    if (++cache->now == 0) { /* once in 2^32 times */
        memset(cache->stamp, 0, cache->all_lines * sizeof *cache->stamp);
        cache->now = 1;
    }
}

static void list_line(struct facet_tile_cache *cache, uint32_t line)
{
    if ((cache->listed[line] & IN_LINES) == 0) {
        cache->listed[line] |= IN_LINES;
        cache->lines[cache->line_count++] = line;
    }
}

/* ---- running ahead ---- */

static uint8_t *bytes_of(const struct facet_tile_cache *cache, uint32_t line)
{
    return line < cache->vram_lines ? cache->data + (size_t)line * LINE
                                    : cache->scratch + (size_t)(line - cache->vram_lines) * LINE;
}

static struct facet_tile_undo *new_undo(struct facet_tile_cache *cache, uint32_t line)
{
    struct facet_tile_undo *undo = &cache->undo[cache->undo_count++];

    if (cache->undo_count >= FACET_TILE_UNDO_LINES) {
        *cache->event = FACET_TILE_EVENT_TURN;
    }
    undo->line = line;
    memcpy(undo->data, bytes_of(cache, line), LINE);
    return undo;
}

static void log_line(struct facet_tile_cache *cache, uint32_t line)
{
    if (cache->stamp[line] != cache->now) {
        struct facet_tile_undo *undo = new_undo(cache, line);

        undo->valid = cache->valid[line];
        undo->dirty = cache->dirty[line];
    }
}

void facet_tile_cache_log_scratch(struct facet_tile_cache *cache, uint32_t offset, uint32_t size)
{
    const uint32_t first = cache->vram_lines + offset / LINE;
    const uint32_t last = cache->vram_lines + (offset + size - 1) / LINE;

    for (uint32_t line = first; line <= last; line++) {
        if (cache->stamp[line] != cache->now) {
            cache->stamp[line] = cache->now;
            (void)new_undo(cache, line);
        }
    }
}

void facet_tile_cache_log(struct facet_tile_cache *cache)
{
    cache->logs = true;
    cache->undo_count = 0;
    forget_stamps(cache);
}

void facet_tile_cache_keep(struct facet_tile_cache *cache)
{
    cache->logs = false;
}

/* Backwards, so that the oldest of several entries of a line comes last. Lines stay listed: that
 * only says that they may hold something. */
void facet_tile_cache_undo(struct facet_tile_cache *cache, uint32_t texels)
{
    while (cache->undo_count > 0) {
        const struct facet_tile_undo *undo = &cache->undo[--cache->undo_count];

        memcpy(bytes_of(cache, undo->line), undo->data, LINE);
        if (undo->line < cache->vram_lines) {
            cache->valid[undo->line] = undo->valid;
            cache->dirty[undo->line] = undo->dirty;
        }
    }
    while (cache->texel_count > texels) {
        cache->listed[cache->texels[--cache->texel_count]] &= (uint8_t)~IN_TEXELS;
    }
    forget_stamps(cache);
    cache->logs = false;
}

/* ---- D and T ---- */

void facet_tile_cache_fetch(struct facet_tile_cache *cache, const uint8_t *vram, uint32_t line)
{
    uint8_t *to = cache->data + (size_t)line * LINE;
    const uint8_t *from = vram + (size_t)line * LINE;
    uint64_t dirty = cache->dirty[line];

    if (cache->logs) {
        log_line(cache, line);
    }
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
    if (cache->logs) {
        log_line(cache, line);
    }
    cache->stamp[line] = cache->now;
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
    forget_stamps(cache);
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
            cache->stamp[line] = 0;
        }
    }
    cache->line_count = kept;
    forget_stamps(cache);
}

void facet_tile_cache_clear(struct facet_tile_cache *cache)
{
    for (uint32_t i = 0; i < cache->line_count; i++) {
        cache->valid[cache->lines[i]] = cache->dirty[cache->lines[i]] = 0;
        cache->listed[cache->lines[i]] &= (uint8_t)~IN_LINES;
        cache->stamp[cache->lines[i]] = 0;
    }
    for (uint32_t i = 0; i < cache->store_count; i++) {
        cache->listed[cache->stores[i]] &= (uint8_t)~IN_STORES;
    }
    for (uint32_t i = 0; i < cache->texel_count; i++) {
        cache->listed[cache->texels[i]] &= (uint8_t)~IN_TEXELS;
    }
    cache->line_count = cache->store_count = cache->texel_count = 0;
    forget_stamps(cache);
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
