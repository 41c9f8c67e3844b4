/* See pool.h.
 *
 * A loop is a record on its caller's stack, linked into the pool's list while chunks are left. Idle
 * threads join the newest loop first (the innermost one: finishing it unblocks the outer ones) and
 * claim chunks from its counter. The caller claims chunks too, so a loop that no worker joins still
 * ends; it then waits for the joined threads to leave, each of which is busy with a chunk that ends
 * by the same argument. */
#define _GNU_SOURCE
#include "base/pool.h"
#include "base/require.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct loop {
    facet_pool_fn *fn;
    void *context;
    size_t count;
    size_t grain;
    size_t chunks;
    _Atomic size_t next; /* the first unclaimed chunk */
    unsigned helpers;    /* threads inside, the caller not counted; under the pool's lock */
    struct loop *older;  /* list of the loops that may have chunks left; under the pool's lock */
};

struct facet_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a loop was added, or the pool is closing */
    pthread_cond_t idle; /* a thread left a loop */
    struct loop *loops;
    bool closing;
    unsigned thread_count; /* started ones: one less than the threads that work */
    pthread_t threads[];
};

unsigned facet_pool_processors(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        online = CPU_COUNT(&set);
    } else {
        online = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return online < 1                        ? 1
           : online < FACET_POOL_MAX_THREADS ? (unsigned)online
                                             : FACET_POOL_MAX_THREADS;
}

static void run_chunk(const struct loop *loop, size_t chunk)
{
    size_t begin = chunk * loop->grain;
    size_t left = loop->count - begin;

    loop->fn(loop->context, begin, begin + (left < loop->grain ? left : loop->grain));
}

static void run_chunks(struct loop *loop)
{
    for (;;) {
        size_t chunk = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);

        if (chunk >= loop->chunks) {
            return;
        }
        run_chunk(loop, chunk);
    }
}

/* Under the lock. Does nothing when another thread has removed it. */
static void unlink_loop(facet_pool *pool, struct loop *loop)
{
    for (struct loop **at = &pool->loops; *at != NULL; at = &(*at)->older) {
        if (*at == loop) {
            *at = loop->older;
            return;
        }
    }
}

static void *work(void *argument)
{
    facet_pool *pool = argument;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct loop *loop = pool->loops;

        if (loop == NULL) {
            if (pool->closing) {
                break;
            }
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        loop->helpers++;
        pthread_mutex_unlock(&pool->lock);
        run_chunks(loop);
        pthread_mutex_lock(&pool->lock);
        unlink_loop(pool, loop);
        if (--loop->helpers == 0) {
            pthread_cond_broadcast(&pool->idle);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

enum facet_status facet_pool_create(unsigned threads, facet_pool **out, struct facet_error *err)
{
    facet_pool *pool;

    *out = NULL;
    if (threads > FACET_POOL_MAX_THREADS) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          threads,
                          "%u threads, expected 0..%d",
                          threads,
                          FACET_POOL_MAX_THREADS);
    }
    if (threads == 0) {
        threads = facet_pool_processors();
    }
    pool = calloc(1, sizeof *pool + (threads - 1) * sizeof pool->threads[0]);
    if (pool == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a thread pool");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->idle, NULL);
    while (pool->thread_count < threads - 1 &&
           pthread_create(&pool->threads[pool->thread_count], NULL, work, pool) == 0) {
        pool->thread_count++;
    }
    *out = pool;
    return FACET_OK;
}

void facet_pool_destroy(facet_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    FACET_REQUIRE(pool->loops == NULL);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned facet_pool_threads(const facet_pool *pool)
{
    return pool != NULL ? pool->thread_count + 1 : 1;
}

void facet_pool_for(facet_pool *pool, size_t count, size_t grain, facet_pool_fn *fn, void *context)
{
    struct loop loop = {.fn = fn, .context = context, .count = count};

    if (count == 0) {
        return;
    }
    FACET_REQUIRE(fn != NULL);
    loop.grain = grain != 0 ? grain : 1;
    loop.chunks = (count - 1) / loop.grain + 1;
    if (pool == NULL || pool->thread_count == 0 || loop.chunks == 1) {
        for (size_t chunk = 0; chunk < loop.chunks; chunk++) {
            run_chunk(&loop, chunk);
        }
        return;
    }
    pthread_mutex_lock(&pool->lock);
    loop.older = pool->loops;
    pool->loops = &loop;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    run_chunks(&loop);
    pthread_mutex_lock(&pool->lock);
    unlink_loop(pool, &loop);
    while (loop.helpers != 0) {
        pthread_cond_wait(&pool->idle, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}
