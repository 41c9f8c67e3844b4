/* pool.h: every index once, the same cuts on every pool, nesting, concurrent callers. */
#include "base/failing_alloc.h"
#include "base/pool.h"
#include "base/random.h"
#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_COUNT = 20000 };

struct visits {
    size_t count, grain;
    _Atomic unsigned seen[MAX_COUNT];
    _Atomic unsigned bad_cuts;
};

static void visit(void *context, size_t begin, size_t end)
{
    struct visits *v = context;
    bool whole = end - begin == v->grain || end == v->count;

    if (begin % v->grain != 0 || end <= begin || end > v->count || !whole) {
        v->bad_cuts++;
    }
    for (size_t i = begin; i < end; i++) {
        v->seen[i]++;
    }
}

TEST(every_index_once_on_1_to_8_threads, "")
{
    static struct visits v;

    for (unsigned threads = 1; threads <= 8; threads++) {
        facet_pool *pool;

        if (!CHECK(facet_pool_create(threads, &pool, NULL) == FACET_OK)) {
            return;
        }
        CHECK_EQ(facet_pool_threads(pool), threads);
        for (int round = 0; round < 200; round++) {
            memset(&v, 0, sizeof v);
            v.count = harness_random() % (round % 10 == 0 ? MAX_COUNT : 50);
            v.grain = 1 + harness_random() % (round % 3 == 0 ? 100 : 4);
            facet_pool_for(pool, v.count, v.grain, visit, &v);
            CHECK_EQ(v.bad_cuts, 0);
            for (size_t i = 0; i < MAX_COUNT && !harness_failed(); i++) {
                CHECK_EQ(v.seen[i], i < v.count);
            }
        }
        facet_pool_destroy(pool);
    }
}

/* A float sum per chunk, added up in chunk order: the bits depend on where the cuts are. */
struct sums {
    size_t grain;
    float chunk[500];
};

static void sum_chunk(void *context, size_t begin, size_t end)
{
    struct sums *s = context;
    float sum = 0;

    for (size_t i = begin; i < end; i++) {
        sum += facet_random_float(5, i) * 1e-3f;
    }
    s->chunk[begin / s->grain] = sum;
}

TEST(reductions_have_the_same_bits_on_every_pool, "")
{
    static struct sums reference, s;

    reference.grain = s.grain = 37;
    facet_pool_for(NULL, 10000, 37, sum_chunk, &reference);
    for (unsigned threads = 1; threads <= 8; threads++) {
        facet_pool *pool;

        CHECK(facet_pool_create(threads, &pool, NULL) == FACET_OK);
        memset(s.chunk, 0, sizeof s.chunk);
        facet_pool_for(pool, 10000, 37, sum_chunk, &s);
        CHECK(memcmp(&s, &reference, sizeof s) == 0);
        facet_pool_destroy(pool);
    }
}

struct nest {
    facet_pool *pool, *other;
    unsigned depth;
    _Atomic unsigned *leaves;
};

static void descend(void *context, size_t begin, size_t end)
{
    const struct nest *n = context;

    for (size_t i = begin; i < end; i++) {
        if (n->depth == 0) {
            (*n->leaves)++;
            sched_yield();
        } else {
            /* The inner loop runs on the other pool, the next one on this one again. */
            struct nest inner = {n->other, n->pool, n->depth - 1, n->leaves};

            facet_pool_for(inner.pool, 4, 1, descend, &inner);
        }
    }
}

TEST(nested_loops_end, "")
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        _Atomic unsigned leaves = 0;
        struct nest n = {NULL, NULL, 5, &leaves};
        facet_pool *second;

        CHECK(facet_pool_create(threads, &n.pool, NULL) == FACET_OK);
        n.other = n.pool;
        facet_pool_for(n.pool, 4, 1, descend, &n);
        CHECK_EQ(leaves, 4096);
        CHECK(facet_pool_create(2, &second, NULL) == FACET_OK);
        leaves = 0;
        n.other = second;
        facet_pool_for(n.pool, 4, 1, descend, &n);
        CHECK_EQ(leaves, 4096);
        facet_pool_destroy(second);
        facet_pool_destroy(n.pool);
    }
}

static void count_one(void *context, size_t begin, size_t end)
{
    *(_Atomic uint64_t *)context += end - begin;
}

struct outside {
    facet_pool *pool;
    _Atomic uint64_t sum;
};

static void *start_loops(void *argument)
{
    struct outside *o = argument;

    for (int i = 0; i < 300; i++) {
        facet_pool_for(o->pool, 100, 3, count_one, &o->sum);
    }
    return NULL;
}

TEST(several_threads_start_loops_at_one_time, "")
{
    struct outside o = {NULL, 0};
    pthread_t threads[4];

    CHECK(facet_pool_create(3, &o.pool, NULL) == FACET_OK);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, start_loops, &o) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_EQ(o.sum, 4 * 300 * 100);
    facet_pool_destroy(o.pool);
}

/* Two chunks that wait for each other finish only when two threads really run. */
static void meet(void *context, size_t begin, size_t end)
{
    _Atomic int *arrived = context;

    (void)begin;
    (void)end;
    (*arrived)++;
    while (*arrived < 2) {
        sched_yield();
    }
}

TEST(threads_really_run_beside_each_other, "")
{
    facet_pool *pool;
    _Atomic int arrived = 0;

    CHECK(facet_pool_create(2, &pool, NULL) == FACET_OK);
    if (facet_pool_threads(pool) == 2) {
        facet_pool_for(pool, 2, 1, meet, &arrived);
        CHECK_EQ(arrived, 2);
    }
    facet_pool_destroy(pool);
}

struct order {
    pthread_t thread;
    size_t next;
    bool ok;
};

static void in_order(void *context, size_t begin, size_t end)
{
    struct order *o = context;

    o->ok = o->ok && begin == o->next && pthread_equal(pthread_self(), o->thread);
    o->next = end;
}

TEST(one_thread_runs_inline_and_in_order, "")
{
    struct order o = {pthread_self(), 0, true};
    facet_pool *pool;

    CHECK(facet_pool_create(1, &pool, NULL) == FACET_OK);
    facet_pool_for(pool, 1001, 10, in_order, &o);
    CHECK(o.ok && o.next == 1001);
    facet_pool_destroy(pool);
}

TEST(edges, "")
{
    static struct visits v;
    _Atomic uint64_t sum = 0;
    struct facet_error err;
    facet_pool *pool;

    CHECK(facet_pool_create(FACET_POOL_MAX_THREADS + 1, &pool, &err) == FACET_ERR_USAGE);
    CHECK(pool == NULL && strstr(err.message, "1025 threads") != NULL);
    failing_alloc_after(0);
    CHECK(facet_pool_create(2, &pool, &err) == FACET_ERR_MEMORY && pool == NULL);
    failing_alloc_after(-1);
    CHECK(facet_pool_create(0, &pool, NULL) == FACET_OK && facet_pool_threads(pool) >= 1);
    v.count = v.grain = 0;
    facet_pool_for(pool, 0, 0, visit, &v);
    facet_pool_for(pool, 5, 0, count_one, &sum);
    facet_pool_for(pool, SIZE_MAX, SIZE_MAX / 2 + 1, count_one, &sum); /* no overflow at the end */
    CHECK_EQ(sum, SIZE_MAX + 5);
    facet_pool_destroy(pool);
    facet_pool_destroy(NULL);
    CHECK_EQ(facet_pool_threads(NULL), 1);
}
