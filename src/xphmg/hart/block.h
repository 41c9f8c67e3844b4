/* The fast executor: blocks of decoded instructions, threaded dispatch, no observer. */
#ifndef FACET_XPHMG_HART_BLOCK_H
#define FACET_XPHMG_HART_BLOCK_H

#include "base/error.h"
#include "xphmg/hart/hart.h"

typedef struct facet_block_cache facet_block_cache;

/* One cache serves all harts of one RAM; it sees their own stores into cached code. No hart may be
 * stepped after its cache is gone. */
enum facet_status
facet_block_cache_create(struct facet_hart *h, facet_block_cache **out, struct facet_error *err);
void facet_block_cache_destroy(facet_block_cache *cache);
/* Drops every block: FENCE.I, snapshots, writes from outside. */
void facet_block_cache_flush(facet_block_cache *cache);
/* The same if any of these bytes was decoded. */
void facet_block_cache_written(facet_block_cache *cache, uint64_t address, uint64_t size);

/* Stores into the line of this RAM address, or across its ends, are left to the plain executor
 * (FACET_BLOCK_STEP), so that the platform sees each one. `slot` 0 or 1; an address outside RAM
 * watches nothing. */
void facet_block_cache_watch(facet_block_cache *cache, unsigned slot, uint64_t address);

/* Blocks that were entered `heat` times become host code, where the host can run it; 0: none does.
 * A new cache has none. Results are the same. */
void facet_block_cache_host_code(facet_block_cache *cache, unsigned heat);

/* Counts every instruction that these harts retire in blocks, for a profile; NULL: no longer. What
 * was counted is in `counts` when the cache is flushed, and complete when counting ends. */
struct facet_counts;
enum facet_status facet_block_cache_count(facet_block_cache *cache,
                                          struct facet_hart *harts,
                                          uint32_t hart_count,
                                          struct facet_counts *counts,
                                          struct facet_error *err);

enum facet_block_stop {
    FACET_BLOCK_BUDGET, /* `budget` instructions have retired */
    FACET_BLOCK_STEP,   /* the instruction at pc is for facet_hart_step */
    FACET_BLOCK_LOOK,   /* the last one reached a device or code, or a stop was asked for */
    FACET_BLOCK_TRAP,   /* one trapped, which is not counted; the hart is in its handler */
};

/* Runs until `budget` instructions have retired or an instruction needs the plain executor (system
 * instructions, traps, units that wait or take long; a few that the budget would cut from their
 * partner). Retired instructions are counted in h->retired. The caller steps and calls again.
 * Interrupts are the caller's: when something may have changed what is pending, the run ends. */
enum facet_block_stop
facet_block_run(facet_block_cache *cache, struct facet_hart *h, uint64_t budget);
/* The one that ended the last run, after FACET_BLOCK_TRAP. */
struct facet_trap facet_block_trap(const facet_block_cache *cache);

#endif
