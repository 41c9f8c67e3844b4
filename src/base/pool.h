/* A thread pool with one verb: a parallel loop.
 *
 * facet_pool_for cuts [0, count) into chunks of `grain` indexes (the last may be shorter) and calls
 * fn once per chunk. Where the cuts lie depends on count and grain alone, never on the number of
 * threads, so a job that writes one result per index or per chunk gives the same bits on any pool.
 * Chunks run in no particular order: fn must not rely on one, nor communicate between chunks.
 *
 * A loop may start another loop, on the same pool or on a different one: the thread that starts a
 * loop works on its chunks and needs no free thread to finish. Several threads may start loops at
 * one time. */
#ifndef FACET_BASE_POOL_H
#define FACET_BASE_POOL_H

#include "base/error.h"

#include <stddef.h>

typedef struct facet_pool facet_pool;

/* Called with the chunk [begin, end); the chunk's number is begin / grain. */
typedef void facet_pool_fn(void *context, size_t begin, size_t end);

#define FACET_POOL_MAX_THREADS 1024

/* The CPUs this process may use, at most FACET_POOL_MAX_THREADS. */
unsigned facet_pool_processors(void);
/* `threads` working threads in all, the calling one included; 0 = facet_pool_processors. A host
 * that grants fewer threads gives a smaller pool, not an error. */
enum facet_status facet_pool_create(unsigned threads, facet_pool **out, struct facet_error *err);
/* No loop may be running. NULL is allowed. */
void facet_pool_destroy(facet_pool *pool);
/* How many threads work, at least 1. */
unsigned facet_pool_threads(const facet_pool *pool);

/* Returns when every chunk is done; what fn wrote is then visible to the caller. A pool of one
 * thread, or pool == NULL, runs the chunks in order on the caller. grain 0 counts as 1. */
void facet_pool_for(facet_pool *pool, size_t count, size_t grain, facet_pool_fn *fn, void *context);

#endif
