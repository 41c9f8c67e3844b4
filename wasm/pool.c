/* base/pool.h where there is one thread: loops run on the caller. */
#include "base/pool.h"

#include <stdlib.h>

struct facet_pool {
    char unused;
};

unsigned facet_pool_processors(void)
{
    return 1;
}

enum facet_status facet_pool_create(unsigned threads, facet_pool **out, struct facet_error *err)
{
    *out = NULL;
    if (threads > FACET_POOL_MAX_THREADS) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          threads,
                          "%u threads, expected 0..%d",
                          threads,
                          FACET_POOL_MAX_THREADS);
    }
    *out = malloc(sizeof **out);
    return *out != NULL ? FACET_OK
                        : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a thread pool");
}

void facet_pool_destroy(facet_pool *pool)
{
    free(pool);
}

unsigned facet_pool_threads(const facet_pool *pool)
{
    (void)pool;
    return 1;
}

void facet_pool_for(facet_pool *pool, size_t count, size_t grain, facet_pool_fn *fn, void *context)
{
    const size_t step = grain != 0 ? grain : 1;

    (void)pool;
    for (size_t begin = 0; begin < count; begin += count - begin < step ? count - begin : step) {
        fn(context, begin, count - begin < step ? count : begin + step);
    }
}
