/* See race.h. */
#include "lint/race.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, WORDS = PAGE_BYTES / 4, MOST_SUSPECTS = 1024 };
enum { READ, WRITE, KINDS };

/* The last access of an actor to a word: which bytes, when, where. */
struct cell {
    uint64_t pc;
    uint32_t clock; /* 0: none */
    uint8_t mask;
    bool flag; /* an atomic, or the first store after a fence */
};

struct page {
    uint64_t number; /* plus 1; 0: an empty place */
    struct cell *cells;
    uint32_t *sync; /* per word: 1 + index of the clock that it carries, 0: none */
};

/* A plain load of a flag, until a fence follows. */
struct suspect {
    struct lint_place place, other;
    uint64_t address;
};

struct actor {
    uint32_t now, since; /* its time, and when its present life began */
    bool fenced;         /* the next plain store is a flag */
    uint32_t *known, *released, *pending;
};

struct lint_race {
    struct lint_store *store;
    uint32_t count;
    struct actor *actors;
    uint32_t *vectors, *base;
    struct page *pages;
    size_t page_count, page_room;
    uint32_t *clocks; /* of words, `count` each */
    size_t clock_count, clock_room;
    struct suspect *suspects;
    size_t suspect_count, suspect_room;
};

/* ---- clocks ---- */

static void join(const struct lint_race *race, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < race->count; i++) {
        to[i] = to[i] > from[i] ? to[i] : from[i];
    }
}

static void copy(const struct lint_race *race, uint32_t *to, const uint32_t *from)
{
    memcpy(to, from, race->count * sizeof *to);
}

static bool is_ordered(const struct lint_race *race, uint32_t actor, uint32_t of, uint32_t clock)
{
    const struct actor *a = &race->actors[actor];

    return clock <= a->known[of] || (of == actor && clock >= a->since);
}

/* ---- words ---- */

static struct page *look(struct page *pages, size_t room, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (room - 1);

    while (pages[at].number != 0 && pages[at].number != number) {
        at = (at + 1) & (room - 1);
    }
    return &pages[at];
}

static bool grow(struct lint_race *race)
{
    size_t room = race->page_room != 0 ? 2 * race->page_room : 64;
    struct page *pages = calloc(room, sizeof *pages);

    if (pages == NULL) {
        return false;
    }
    for (size_t i = 0; i < race->page_room; i++) {
        if (race->pages[i].number != 0) {
            *look(pages, room, race->pages[i].number) = race->pages[i];
        }
    }
    free(race->pages);
    race->pages = pages;
    race->page_room = room;
    return true;
}

static struct page *page_of(struct lint_race *race, uint64_t address)
{
    uint64_t number = address / PAGE_BYTES + 1;
    struct page *page;

    if (2 * (race->page_count + 1) > race->page_room && !grow(race)) {
        race->store->failed = true;
        return NULL;
    }
    page = look(race->pages, race->page_room, number);
    if (page->number == 0) {
        page->cells = calloc((size_t)WORDS * race->count * KINDS, sizeof *page->cells);
        page->sync = calloc(WORDS, sizeof *page->sync);
        if (page->cells == NULL || page->sync == NULL) {
            free(page->cells);
            free(page->sync);
            race->store->failed = true;
            return NULL;
        }
        page->number = number;
        race->page_count++;
    }
    return page;
}

/* The clock that a word carries; NULL: none, or out of memory. */
static uint32_t *clock_of(struct lint_race *race, uint32_t *sync, bool make)
{
    size_t count = race->count;

    if (*sync == 0 && make) {
        if (!facet_array_fit(&race->clocks,
                             &race->clock_room,
                             (race->clock_count + 1) * count,
                             sizeof *race->clocks)) {
            race->store->failed = true;
            return NULL;
        }
        memset(race->clocks + race->clock_count * count, 0, count * sizeof *race->clocks);
        *sync = (uint32_t)++race->clock_count;
    }
    return *sync != 0 ? race->clocks + (*sync - 1) * count : NULL;
}

static void put_clock(struct lint_race *race, uint32_t actor, uint32_t *sync, bool release)
{
    struct actor *a = &race->actors[actor];
    uint32_t *clock = clock_of(race, sync, true);

    if (clock != NULL) {
        join(race, clock, release ? a->known : a->released);
        if (release) {
            clock[actor] = a->now++;
        }
    }
}

static void take_clock(struct lint_race *race, uint32_t actor, uint32_t *sync, bool acquire)
{
    struct actor *a = &race->actors[actor];
    const uint32_t *clock = clock_of(race, sync, false);

    if (clock != NULL) {
        join(race, acquire ? a->known : a->pending, clock);
    }
}

/* ---- conflicts ---- */

static void report(struct lint_race *race, const struct suspect *s, bool write)
{
    facet_lint_add_pair(race->store,
                        s->place,
                        s->other,
                        s->place.core == s->other.core ? FACET_LINT_TILE_RACE : FACET_LINT_RACE,
                        "address 0x%08" PRIx64 ", %s by %u at 0x%08" PRIx64,
                        s->address,
                        write ? "written" : "read",
                        (unsigned)s->other.core,
                        s->other.pc);
}

static void suspect(struct lint_race *race, const struct suspect *s)
{
    if (race->suspect_count == MOST_SUSPECTS) {
        return;
    }
    if (!facet_array_fit(
            &race->suspects, &race->suspect_room, race->suspect_count + 1, sizeof *s)) {
        race->store->failed = true;
        return;
    }
    race->suspects[race->suspect_count++] = *s;
}

/* Those of an actor are reported, or in order. */
static void settle(struct lint_race *race, uint32_t actor, bool wrong)
{
    size_t kept = 0;

    for (size_t i = 0; i < race->suspect_count; i++) {
        if (race->suspects[i].place.core != actor) {
            race->suspects[kept++] = race->suspects[i];
        } else if (wrong) {
            report(race, &race->suspects[i], true);
        }
    }
    race->suspect_count = kept;
}

static void meet(struct lint_race *race,
                 const struct lint_race_access *access,
                 const struct cell *cells,
                 uint8_t mask,
                 bool flag)
{
    for (uint32_t i = 0; i < race->count * KINDS; i++) {
        const struct cell *cell = &cells[i];
        bool wrote = i % KINDS == WRITE;
        struct suspect s = {access->place, {i / KINDS, cell->pc}, access->address};

        if ((cell->mask & mask) == 0 || (!wrote && !access->write) || (flag && cell->flag) ||
            (flag && !wrote) || is_ordered(race, access->place.core, i / KINDS, cell->clock)) {
            continue;
        }
        if (cell->flag && !access->write) {
            suspect(race, &s);
        } else {
            report(race, &s, wrote);
        }
    }
}

/* ---- events ---- */

void facet_lint_race_access(struct lint_race *race, const struct lint_race_access *access)
{
    uint32_t actor = access->place.core;
    struct actor *a = &race->actors[actor];
    bool flag = access->atomic || (access->write && a->fenced);
    uint64_t end = access->address + access->size;

    for (uint64_t at = access->address & ~UINT64_C(3); at < end; at += 4) {
        struct page *page = page_of(race, at);
        size_t word = at % PAGE_BYTES / 4;
        uint8_t mask = 0;
        struct cell *cells, *own;

        if (page == NULL) {
            return;
        }
        for (unsigned i = 0; i < 4; i++) {
            mask |= (uint8_t)((at + i >= access->address && at + i < end) << i);
        }
        cells = page->cells + word * race->count * KINDS;
        if (!access->write) {
            take_clock(race, actor, &page->sync[word], access->atomic && access->acquire);
        }
        meet(race, access, cells, mask, flag);
        own = &cells[actor * KINDS + (access->write ? WRITE : READ)];
        *own = (struct cell){access->place.pc,
                             a->now,
                             (uint8_t)(own->clock == a->now ? own->mask | mask : mask),
                             flag};
        if (access->write && flag) {
            put_clock(race, actor, &page->sync[word], access->atomic && access->release);
        }
    }
    if (access->write && !access->atomic) {
        a->fenced = false;
    }
}

void facet_lint_race_fence(struct lint_race *race, uint32_t actor, bool acquire, bool release)
{
    struct actor *a = &race->actors[actor];

    if (acquire) {
        settle(race, actor, false);
        join(race, a->known, a->pending);
    }
    if (release) {
        copy(race, a->released, a->known);
        a->released[actor] = a->now++;
        a->fenced = true;
    }
}

void facet_lint_race_send(struct lint_race *race, uint32_t actor, uint64_t key)
{
    struct page *page = page_of(race, key);

    if (page != NULL) {
        put_clock(race, actor, &page->sync[key % PAGE_BYTES / 4], true);
    }
}

void facet_lint_race_receive(struct lint_race *race, uint32_t actor, uint64_t key)
{
    struct page *page = page_of(race, key);

    if (page != NULL) {
        take_clock(race, actor, &page->sync[key % PAGE_BYTES / 4], true);
    }
}

void facet_lint_race_begin(struct lint_race *race, uint32_t actor)
{
    struct actor *a = &race->actors[actor];

    settle(race, actor, true);
    a->since = ++a->now;
    a->fenced = false;
    copy(race, a->known, race->base);
    copy(race, a->released, race->base);
    memset(a->pending, 0, race->count * sizeof *a->pending);
}

void facet_lint_race_all(struct lint_race *race)
{
    for (uint32_t i = 0; i < race->count; i++) {
        race->base[i] = race->actors[i].now;
    }
    for (uint32_t i = 0; i < race->count; i++) {
        facet_lint_race_begin(race, i);
    }
}

/* ---- life ---- */

struct lint_race *facet_lint_race_create(struct lint_store *store, uint32_t actors)
{
    struct lint_race *race = calloc(1, sizeof *race);

    if (race == NULL) {
        return NULL;
    }
    race->store = store;
    race->count = actors;
    race->actors = calloc(actors, sizeof *race->actors);
    race->vectors = calloc((size_t)(3 * actors + 1) * actors, sizeof *race->vectors);
    if (race->actors == NULL || race->vectors == NULL) {
        facet_lint_race_free(race);
        return NULL;
    }
    race->base = race->vectors;
    for (uint32_t i = 0; i < actors; i++) {
        uint32_t *own = race->vectors + (size_t)(3 * i + 1) * actors;

        race->actors[i] = (struct actor){1, 1, false, own, own + actors, own + 2 * actors};
    }
    return race;
}

void facet_lint_race_free(struct lint_race *race)
{
    if (race == NULL) {
        return;
    }
    for (size_t i = 0; i < race->page_room; i++) {
        free(race->pages[i].cells);
        free(race->pages[i].sync);
    }
    free(race->pages);
    free(race->clocks);
    free(race->suspects);
    free(race->actors);
    free(race->vectors);
    free(race);
}
