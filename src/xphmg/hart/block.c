/* See block.h: the cache of blocks. block_impl.h defines a block. */
#include "machine/counts.h"
#include "xphmg/hart/block_impl.h"

#include <stdlib.h>
#include <string.h>

static const struct entry no_block = {1, NULL};

enum {
    HOST_BYTES = 16 << 20, /* of host code; when full, everything is dropped */
    HOST_PIECE = 64 << 10, /* of one block, at most; those that need more stay as they are */
    BRIDGE_BYTES = 4096,
};

enum facet_status
facet_block_cache_create(struct facet_hart *h, facet_block_cache **out, struct facet_error *err)
{
    facet_block_cache *cache = calloc(1, sizeof *cache);

    *out = NULL;
    if (cache != NULL) {
        cache->ram_base = h->ram.base;
        cache->line_count = (size_t)(h->ram.span >> FACET_CODE_LINE_BITS) + 2;
        cache->code_lines = calloc(cache->line_count, 1);
        cache->ops = malloc(ARENA_OPS * sizeof *cache->ops);
        cache->sites = malloc(ARENA_OPS * sizeof *cache->sites);
        cache->insns = malloc(ARENA_INSNS * sizeof *cache->insns);
        cache->watched[0] = cache->watched[1] = cache->line_count;
        cache->marked = calloc(MARKED_MAX, sizeof *cache->marked);
    }
    if (cache == NULL || cache->code_lines == NULL || cache->ops == NULL || cache->sites == NULL ||
        cache->insns == NULL || cache->marked == NULL) {
        facet_block_cache_destroy(cache);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the block cache");
    }
    for (size_t i = 0; i < sizeof cache->table / sizeof cache->table[0]; i++) {
        cache->table[i] = no_block;
    }
    h->code_lines = cache->code_lines;
    *out = cache;
    return FACET_OK;
}

void facet_block_cache_destroy(facet_block_cache *cache)
{
    if (cache != NULL) {
        free(cache->code_lines);
        free(cache->ops);
        free(cache->sites);
        free(cache->insns);
        free(cache->marked);
        free(cache->words);
        facet_code_memory_destroy(cache->host);
        facet_code_memory_destroy(cache->bridge);
        free(cache);
    }
}

/* What a hart has tallied, to the counts. */
static void drain(facet_block_cache *cache, struct facet_hart *h)
{
    uint64_t times = 0;

    for (size_t i = 0; i < cache->used; i++) {
        const struct facet_block_tally *tally = &h->tally[i];
        const struct site *site = &cache->sites[i];
        const struct {
            uint64_t times;
            unsigned done;
        } ways[] = {{tally->out, cache->ops[i].done},
                    {tally->before, site->index},
                    {tally->middle, site->second}};

        for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
            if (ways[way].times != 0 && ways[way].done != 0) {
                cache->words[site->words + ways[way].done - 1].upto += ways[way].times;
            }
        }
    }
    memset(h->tally, 0, cache->used * sizeof *h->tally);
    for (size_t i = cache->words_used; i-- > 0;) {
        struct word *word = &cache->words[i];

        times = (word->last ? 0 : times) + word->upto;
        word->upto = 0;
        if (times != 0) {
            facet_counts_insn(cache->counts, (uint32_t)h->hartid, word->pc, word->word, times);
        }
    }
}

void facet_block_cache_flush(facet_block_cache *cache)
{
    for (uint32_t i = 0; cache->counts != NULL && i < cache->hart_count; i++) {
        drain(cache, &cache->harts[i]);
    }
    cache->words_used = 0;
    for (size_t i = 0; i < cache->taken_count; i++) {
        cache->table[cache->taken[i]] = no_block;
    }
    for (size_t i = 0; i < cache->marked_count; i++) {
        cache->code_lines[cache->marked[i]] &= (uint8_t)~FACET_LINE_CODE;
    }
    cache->taken_count = cache->marked_count = 0;
    cache->used = cache->insns_used = 0;
    cache->flushes++;
    if (cache->host != NULL) {
        facet_code_memory_clear(cache->host);
    }
}

enum facet_status facet_block_cache_count(facet_block_cache *cache,
                                          struct facet_hart *harts,
                                          uint32_t hart_count,
                                          struct facet_counts *counts,
                                          struct facet_error *err)
{
    bool good = true;

    facet_block_cache_flush(cache); /* its blocks count, or not, from the beginning */
    cache->counts = NULL;
    for (uint32_t i = 0; i < cache->hart_count; i++) {
        free(cache->harts[i].tally);
        cache->harts[i].tally = NULL;
    }
    free(cache->words);
    cache->words = NULL;
    cache->hart_count = 0;
    if (counts == NULL) {
        return FACET_OK;
    }
    cache->harts = harts;
    cache->hart_count = hart_count;
    cache->words = malloc(ARENA_WORDS * sizeof *cache->words);
    for (uint32_t i = 0; i < hart_count; i++) {
        harts[i].tally = calloc(ARENA_OPS, sizeof *harts[i].tally);
        good = good && harts[i].tally != NULL;
    }
    if (!good || cache->words == NULL) {
        (void)facet_block_cache_count(cache, harts, hart_count, NULL, NULL);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the counts of the blocks");
    }
    cache->counts = counts;
    return FACET_OK;
}

static void drop_host_code(facet_block_cache *cache)
{
    facet_block_cache_flush(cache);
    facet_code_memory_destroy(cache->host);
    cache->host = NULL;
}

/* The way into host code has memory of its own: it is still needed when the rest is dropped. */
static bool make_bridge(facet_block_cache *cache)
{
    uint8_t *at;

    if (cache->bridge == NULL) {
        cache->bridge = facet_code_memory_create(BRIDGE_BYTES);
        at = cache->bridge != NULL ? facet_code_memory_open(cache->bridge, BRIDGE_BYTES) : NULL;
        if (at == NULL ||
            !facet_code_memory_close(cache->bridge, facet_block_emit_enter(at, BRIDGE_BYTES))) {
            facet_code_memory_destroy(cache->bridge);
            cache->bridge = NULL;
            return false;
        }
        cache->enter = (void (*)(FACET_BLOCK_PARAMETERS, facet_block_code *))(uintptr_t)at;
    }
    return true;
}

void facet_block_cache_host_code(facet_block_cache *cache, unsigned heat)
{
    drop_host_code(cache);
    cache->heat = heat;
    if (heat != 0 && make_bridge(cache)) {
        cache->host = facet_code_memory_create(HOST_BYTES);
    }
}

struct op *facet_block_heat(facet_block_cache *cache, const struct facet_hart *h, struct op *first)
{
    struct op ops[BLOCK_OPS];
    struct site sites[BLOCK_OPS];
    struct trace t = {
        .ops = ops,
        .sites = sites,
        .start = cache->sites[first - cache->ops].start,
        .words = cache->sites[first - cache->ops].words,
        .apart = true,
    };
    const bool room = facet_block_fits(cache) && facet_code_memory_room(cache->host) >= HOST_PIECE;
    uint8_t *at = room ? facet_code_memory_open(cache->host, HOST_PIECE) : NULL;
    size_t size;

    if (at == NULL) {
        if (room) {
            drop_host_code(cache);
        } else {
            facet_block_cache_flush(cache);
        }
        return facet_block_find(cache, h, t.start);
    }
    facet_block_decode(cache, h, &t);
    size = facet_block_emit(cache, first, &t, at, HOST_PIECE);
    if (!facet_code_memory_close(cache->host, size <= HOST_PIECE ? size : 0)) {
        drop_host_code(cache);
        return facet_block_find(cache, h, t.start);
    }
    if (size <= HOST_PIECE) {
        FACET_FAST_WAY(HART_HOST_CODE);
        facet_block_host_op(first, at);
    } else {
        first->code = facet_block_codes[K_PASS];
    }
    return first;
}

void facet_block_cache_written(facet_block_cache *cache, uint64_t address, uint64_t size)
{
    const uint64_t last = size - 1 > UINT64_MAX - address ? UINT64_MAX : address + (size - 1);

    for (size_t i = 0; i < cache->marked_count; i++) {
        const uint64_t line =
            cache->ram_base + ((uint64_t)cache->marked[i] << FACET_CODE_LINE_BITS);

        if (address < line + FACET_CODE_LINE_BYTES && last >= line) {
            facet_block_cache_flush(cache);
            return;
        }
    }
}

void facet_block_cache_watch(facet_block_cache *cache, unsigned slot, uint64_t address)
{
    for (int i = 0; i < 2; i++) {
        if (cache->watched[i] < cache->line_count) {
            cache->code_lines[cache->watched[i]] &= (uint8_t)~FACET_LINE_WATCHED;
        }
    }
    cache->watched[slot] = (size_t)((address - cache->ram_base) >> FACET_CODE_LINE_BITS);
    for (int i = 0; i < 2; i++) {
        if (cache->watched[i] < cache->line_count) {
            cache->code_lines[cache->watched[i]] |= FACET_LINE_WATCHED;
        }
    }
}

struct op *facet_block_find(facet_block_cache *cache, const struct facet_hart *h, uint64_t pc)
{
    const struct entry *entry = facet_block_entry(cache, pc);

    if (entry->pc == pc) {
        return entry->first;
    }
    if (!facet_block_fits(cache)) {
        facet_block_cache_flush(cache);
    }
    return facet_block_translate(cache, h, pc);
}

/* Runs from `first` on with `chunk` instructions to go; what was retired leaves *budget. */
static void run_chunk(facet_block_cache *cache,
                      struct facet_hart *h,
                      struct op *first,
                      int64_t chunk,
                      uint64_t *budget)
{
    const int64_t left = chunk - BLOCK_MAX;

    FACET_FAST_WAY(HART_BLOCKS);
    cache->counted = left;
    if (facet_block_jumps && cache->host != NULL) {
        cache->enter(first, h, left, 0, h->ram.bytes, h->ram.span, first->code);
    } else {
        first->code(first, h, left, 0, h->ram.bytes, h->ram.span);
    }
    h->retired += (uint64_t)(cache->counted - cache->left);
    *budget -= (uint64_t)(left - cache->left);
}

/* The end of the budget lies in the block: its last operation that may be reached becomes a stop
 * for the time of the run. */
static void
run_part(facet_block_cache *cache, struct facet_hart *h, struct op *first, uint64_t *budget)
{
    const struct site *sites;
    const uint64_t flushes = cache->flushes;
    facet_block_code *code;
    size_t last = 0;

    first += cache->host != NULL; /* behind the one that counts */
    sites = &cache->sites[first - cache->ops];
    if (sites[0].index > *budget) { /* instructions without operations come first */
        return;
    }
    while (sites[last].next < sites[0].count && sites[last + 1].index <= *budget) {
        last++;
    }
    code = first[last].code;
    first[last].code = facet_block_codes[K_STOP];
    run_chunk(cache, h, first, (int64_t)*budget, budget);
    if (cache->flushes == flushes) { /* else its place has become another block's */
        first[last].code = code;
    }
}

enum facet_block_stop
facet_block_run(facet_block_cache *cache, struct facet_hart *h, uint64_t budget)
{
    if ((h->units.rsv.svstate & FACET_SVSTATE_EN) != 0 || /* the lane loop is step.c's */
        h->shut_span != 0) {                              /* and so is protected memory */
        return FACET_BLOCK_STEP;
    }
    if (h->code_written) {
        facet_block_cache_flush(cache);
        h->code_written = false;
    }
    h->blocks = cache;
    cache->why = FACET_BLOCK_BUDGET;
    while (budget > 0) {
        const uint64_t most = facet_block_jumps ? LONG_CHUNK : CHUNK;
        const int64_t chunk = (int64_t)(budget < most ? budget : most);
        struct op *first = facet_block_find(cache, h, h->pc);

        if (chunk < cache->sites[first - cache->ops].count) {
            run_part(cache, h, first, &budget);
            return cache->why > FACET_BLOCK_STEP ? cache->why
                   : budget == 0                 ? FACET_BLOCK_BUDGET
                                                 : FACET_BLOCK_STEP;
        }
        run_chunk(cache, h, first, chunk, &budget);
        if (cache->why != FACET_BLOCK_BUDGET) {
            return cache->why;
        }
    }
    return FACET_BLOCK_BUDGET;
}

struct facet_trap facet_block_trap(const facet_block_cache *cache)
{
    return cache->trap;
}
