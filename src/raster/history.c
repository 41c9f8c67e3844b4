/* See history.h. */
#include "raster/history.h"

enum { LIMIT = 10000 }; /* facts and entries that are kept */

static void free_facts(struct facet_raster_history *history)
{
    for (size_t i = 0; i < history->entries.count; i++) {
        free(facet_raster_history_at(history, i)->facts.items);
    }
}

struct facet_raster_entry *facet_raster_history_add(struct facet_raster_history *history,
                                                    enum facet_raster_entry_kind kind)
{
    struct facet_raster_entry *entry =
        history->kept < LIMIT ? facet_array_add(&history->entries, 1, sizeof *entry) : NULL;

    history->open = false;
    if (entry == NULL) {
        history->failed |= history->kept < LIMIT;
        history->dropped++;
        return NULL;
    }
    history->kept++;
    *entry = (struct facet_raster_entry){
        .kind = kind,
        .by = history->asks != NULL ? history->asks(history->context) : 0,
        .core = UINT32_MAX,
        .pc = FACET_RASTER_NO_PC,
    };
    return entry;
}

static void note_draw(void *context, const struct facet_raster_probe_draw *draw)
{
    struct facet_raster_history *history = context;
    struct facet_raster_entry *entry;

    if (!draw->meets) {
        history->open = false;
        history->elsewhere++;
        return;
    }
    entry = facet_raster_history_add(history, FACET_RASTER_ENTRY_DRAW);
    if (entry != NULL) {
        entry->draw = *draw;
        history->open = true;
    }
}

static bool comes_closer(const struct facet_raster_entry *entry,
                         const struct facet_raster_fact *fact)
{
    return fact->miss > 0 && (entry->closest.miss == 0 || fact->miss < entry->closest.miss);
}

static void note_fact(void *context, const struct facet_raster_fact *fact)
{
    struct facet_raster_history *history = context;
    struct facet_raster_entry *entry;
    struct facet_raster_fact *kept;

    if (!history->open) { /* of a draw that is not kept */
        history->dropped++;
        return;
    }
    entry = facet_raster_history_at(history, history->entries.count - 1);
    if (!entry->writes) {
        entry->before = entry->after = fact->before;
    }
    if (fact->fate == FACET_RASTER_FATE_WRITTEN) {
        entry->writes = true;
        entry->replaces |= entry->draw.blend == FACET_TILE_RSTATE_BLEND_OPAQUE;
        entry->after = fact->after;
    }
    entry->count[fact->fate]++;
    if (fact->fate == FACET_RASTER_FATE_EDGE) {
        if (comes_closer(entry, fact)) {
            entry->closest = *fact;
        }
        return;
    }
    if (fact->fate >= FACET_RASTER_FATE_EMPTY) {
        return;
    }
    kept = history->kept < LIMIT ? facet_array_add(&entry->facts, 1, sizeof *kept) : NULL;
    if (kept == NULL) {
        history->failed |= history->kept < LIMIT;
        history->dropped++;
        return;
    }
    history->kept++;
    *kept = *fact;
}

void facet_raster_history_start(struct facet_raster_history *history,
                                uint32_t address,
                                uint32_t size)
{
    *history = (struct facet_raster_history){
        .probe = {.address = address,
                  .size = size,
                  .context = history,
                  .draw = note_draw,
                  .fact = note_fact},
    };
}

void facet_raster_history_free(struct facet_raster_history *history)
{
    free_facts(history);
    free(history->entries.items);
    history->entries = (struct facet_array){0};
}

const struct facet_raster_entry *
facet_raster_history_last(const struct facet_raster_history *history)
{
    for (size_t i = history->entries.count; i-- > 0;) {
        if (facet_raster_history_at(history, i)->writes) {
            return facet_raster_history_at(history, i);
        }
    }
    return NULL;
}

const struct facet_raster_entry *
facet_raster_history_over(const struct facet_raster_history *history, size_t i)
{
    while (++i < history->entries.count) {
        if (facet_raster_history_at(history, i)->writes) {
            return facet_raster_history_at(history, i);
        }
    }
    return NULL;
}
