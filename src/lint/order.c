/* See tile.h. */
#include "base/array.h"
#include "lint/tile.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, LINE = 64, MOST_SUSPECTS = 4096 };

/* ---- who stored ---- */

void facet_lint_order_store(struct lint_order *order, const struct lint_access *a)
{
    uint32_t ***pages = &order->pages[a->place.core];

    if (*pages == NULL) {
        *pages = calloc(order->m->vram_size / PAGE_BYTES, sizeof **pages);
    }
    for (uint32_t at = a->offset & ~UINT32_C(3); at < a->offset + a->size; at += 4) {
        uint32_t **page = *pages != NULL ? &(*pages)[at / PAGE_BYTES] : NULL;

        if (page != NULL && *page == NULL) {
            *page = calloc(PAGE_BYTES / 4, sizeof **page);
        }
        if (page == NULL || *page == NULL) {
            order->failed = true;
            return;
        }
        (*page)[at % PAGE_BYTES / 4] = (uint32_t)a->place.pc;
    }
}

static uint32_t store_pc(const struct lint_order *order, uint32_t core, uint32_t offset)
{
    uint32_t **pages = order->pages[core];

    return pages != NULL && pages[offset / PAGE_BYTES] != NULL
               ? pages[offset / PAGE_BYTES][offset % PAGE_BYTES / 4]
               : 0;
}

static bool is_dirty(const struct lint_order *order, uint32_t core, uint32_t offset)
{
    return (order->m->core[core].cache.dirty[offset / LINE] >> (offset % LINE) & 1) != 0;
}

/* The first core other than `reader` that holds the byte back; FACET_NONE: none. */
static uint32_t holder(const struct lint_order *order, uint32_t reader, uint32_t offset)
{
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        if (core != reader && is_dirty(order, core, offset)) {
            return core;
        }
    }
    return FACET_NONE;
}

/* ---- loads ---- */

/* The core has a clean copy that differs from what is published. */
static bool is_stale(const struct lint_order *order, uint32_t core, uint32_t offset)
{
    const struct facet_tile_cache *cache = &order->m->core[core].cache;

    return (cache->valid[offset / LINE] >> (offset % LINE) & 1) != 0 &&
           !is_dirty(order, core, offset) && cache->data[offset] != order->m->vram[offset];
}

static struct lint_suspect *
find_suspect(const struct lint_order *order, struct lint_place place, uint32_t offset)
{
    for (size_t i = 0; i < order->count; i++) {
        struct lint_suspect *s = &order->suspects[i];

        if (s->place.core == place.core && s->place.pc == place.pc && s->offset == offset) {
            return s;
        }
    }
    return NULL;
}

static void suspect(struct lint_order *order, const struct lint_suspect *found)
{
    if (!facet_array_fit(
            &order->suspects, &order->room, order->count + 1, sizeof *order->suspects)) {
        order->failed = true;
        return;
    }
    order->suspects[order->count++] = *found;
}

static void acquit(struct lint_order *order, struct lint_suspect *s)
{
    *s = order->suspects[--order->count];
}

void facet_lint_order_load(struct lint_order *order, const struct lint_access *a)
{
    struct lint_suspect found = {a->place, a->offset, FACET_NONE, 0}, *known;
    bool wrong = false;

    if (order->m->config.strong) {
        return;
    }
    for (uint32_t at = a->offset; at < a->offset + a->size && !wrong; at++) {
        found.from =
            is_dirty(order, a->place.core, at) ? FACET_NONE : holder(order, a->place.core, at);
        found.store_pc = found.from != FACET_NONE ? store_pc(order, found.from, at) : 0;
        wrong = found.from != FACET_NONE || is_stale(order, a->place.core, at);
    }
    if (!wrong && order->count == 0) {
        return;
    }
    known = find_suspect(order, a->place, a->offset);
    if (!wrong && known != NULL) {
        acquit(order, known);
    } else if (wrong && known == NULL && order->count < MOST_SUSPECTS) {
        suspect(order, &found);
    }
}

void facet_lint_order_settle(struct lint_order *order, uint32_t core)
{
    size_t i = 0;

    while (i < order->count) {
        struct lint_suspect *s = &order->suspects[i];
        unsigned address = FACET_VRAM_BASE + s->offset;

        if (s->place.core != core) {
            i++;
            continue;
        }
        if (s->from != FACET_NONE) {
            facet_lint_add_pair(order->store,
                                s->place,
                                (struct lint_place){s->from, s->store_pc},
                                FACET_LINT_UNPUBLISHED,
                                "address 0x%08x, stored by core %u at 0x%08x",
                                address,
                                (unsigned)s->from,
                                (unsigned)s->store_pc);
        } else {
            facet_lint_add(order->store, s->place, FACET_LINT_STALE, "address 0x%08x", address);
        }
        acquit(order, s);
    }
}

/* ---- units ---- */

/* The first byte that a core, the reading one included, holds back; reports it. */
static bool
held_back(struct lint_order *order, const struct lint_access *a, enum facet_lint_id rule)
{
    for (uint32_t at = a->offset; at < a->offset + a->size; at++) {
        uint32_t core = holder(order, FACET_NONE, at);

        if (core != FACET_NONE) {
            facet_lint_add_pair(order->store,
                                a->place,
                                (struct lint_place){core, store_pc(order, core, at)},
                                rule,
                                "address 0x%08x, stored by core %u at 0x%08x",
                                (unsigned)(FACET_VRAM_BASE + at),
                                (unsigned)core,
                                (unsigned)store_pc(order, core, at));
            return true;
        }
    }
    return false;
}

void facet_lint_order_unit(struct lint_order *order, const struct lint_access *a)
{
    if (!order->m->config.strong) {
        (void)held_back(order, a, FACET_LINT_UNIT_DATA);
    }
}

void facet_lint_order_texel(struct lint_order *order, const struct lint_access *a)
{
    const uint8_t *texture = order->m->core[a->place.core].cache.texture;

    if (order->m->config.strong || held_back(order, a, FACET_LINT_TEXELS)) {
        return;
    }
    for (uint32_t at = a->offset; at < a->offset + a->size; at++) {
        if (texture[at] != order->m->vram[at]) {
            facet_lint_add(order->store,
                           a->place,
                           FACET_LINT_TEXELS,
                           "address 0x%08x: the core keeps an old copy",
                           (unsigned)(FACET_VRAM_BASE + at));
            return;
        }
    }
}

void facet_lint_order_free(struct lint_order *order)
{
    for (uint32_t core = 0; core < FACET_TILE_CORES; core++) {
        for (uint32_t i = 0; order->pages[core] != NULL && i < order->m->vram_size / PAGE_BYTES;
             i++) {
            free(order->pages[core][i]);
        }
        free(order->pages[core]);
    }
    free(order->suspects);
}
