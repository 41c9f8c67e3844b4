/* See tracer.h: choosing the path, single rays, batches. */
#include "gfx12/fast.h"

#include "base/large.h"
#include "base/ways.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool host_has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

static bool host_has_avx512(void)
{
#if defined(__x86_64__)
    return host_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
#else
    return false;
#endif
}

static enum facet_gfx12_tracer_path fastest(void)
{
    return host_has_avx512() ? FACET_GFX12_PATH_AVX512
           : host_has_avx2() ? FACET_GFX12_PATH_AVX2
                             : FACET_GFX12_PATH_PORTABLE;
}

const char *facet_gfx12_tracer_path_name(enum facet_gfx12_tracer_path path)
{
    switch (path) {
    case FACET_GFX12_PATH_REFERENCE:
        return "reference";
    case FACET_GFX12_PATH_PORTABLE:
        return "portable";
    case FACET_GFX12_PATH_AVX2:
        return "avx2";
    case FACET_GFX12_PATH_AVX512:
        return "avx512";
    default:
        return "auto";
    }
}

enum facet_status facet_gfx12_tracer_create(const struct facet_gfx12_unit *unit,
                                            const struct facet_gfx12_tracer_options *options,
                                            facet_gfx12_tracer **out,
                                            struct facet_error *err)
{
    const struct facet_gfx12_tracer_options none = {.address = unit->image_address};
    struct facet_gfx12_tracer *tracer;
    enum facet_gfx12_tracer_path path;
    enum facet_status status = FACET_OK;

    *out = NULL;
    options = options != NULL ? options : &none;
    path = options->path;
    if (path == FACET_GFX12_PATH_AUTO) {
        path = fastest();
    }
    if (path == FACET_GFX12_PATH_AVX2 && !host_has_avx2()) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "this host has no AVX2 and FMA");
    }
    if (path == FACET_GFX12_PATH_AVX512 && !host_has_avx512()) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "this host has no AVX-512");
    }
    tracer = aligned_alloc(64, sizeof *tracer);
    if (tracer == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    memset(tracer, 0, sizeof *tracer);
    tracer->unit = *unit;
    tracer->address = options->address;
    tracer->root = options->root != 0 ? options->root : FACET_GFX12_ROOT;
    tracer->path = path;
    tracer->one_by_one = options->one_by_one;
    tracer->stack = options->stack;
    if (path != FACET_GFX12_PATH_REFERENCE && options->stack == 0) {
        status = facet_gfx12_fast_decode(tracer, options->max_bytes, options->wish_bytes, err);
    }
    if (status != FACET_OK) {
        free(tracer);
        return status;
    }
    *out = tracer;
    return FACET_OK;
}

void facet_gfx12_tracer_destroy(facet_gfx12_tracer *tracer)
{
    if (tracer != NULL) {
        facet_unreserve(tracer->arena, tracer->room);
        free(tracer);
    }
}

enum facet_gfx12_tracer_path facet_gfx12_tracer_used(const facet_gfx12_tracer *tracer)
{
    return tracer->arena != NULL ? tracer->path : FACET_GFX12_PATH_REFERENCE;
}

bool facet_gfx12_tracer_sound(const facet_gfx12_tracer *tracer)
{
    return tracer->arena != NULL && !tracer->broken;
}

uint64_t facet_gfx12_tracer_bytes(const facet_gfx12_tracer *tracer)
{
    return tracer->bytes;
}

/* false: the decoded nodes do not serve this query. */
static bool is_fast(const facet_gfx12_tracer *tracer, const struct facet_gfx12_query *query)
{
    return tracer->arena != NULL && query->callbacks.visit == NULL &&
           query->address == tracer->address && query->root == tracer->root;
}

enum facet_status facet_gfx12_tracer_trace(const facet_gfx12_tracer *tracer,
                                           const struct facet_gfx12_query *query,
                                           struct facet_gfx12_hit *hit,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err)
{
    if (tracer->stack != 0) {
        return facet_gfx12_trace_lds(&tracer->unit, query, tracer->stack, hit, stats, err);
    }
    if (!is_fast(tracer, query)) {
        return facet_gfx12_trace(&tracer->unit, query, hit, stats, err);
    }
    FACET_FAST_WAY(GFX12_DECODED);
#if defined(__x86_64__)
    if (tracer->path == FACET_GFX12_PATH_AVX512) {
        return facet_gfx12_fast_one_avx512(tracer, query, hit, stats, err);
    }
    if (tracer->path == FACET_GFX12_PATH_AVX2) {
        return facet_gfx12_fast_one_avx2(tracer, query, hit, stats, err);
    }
#endif
    return facet_gfx12_fast_one_portable(tracer, query, hit, stats, err);
}

/* ---- batches ---- */

/* Rays of a chunk: some tenths of a millisecond, so that no thread waits long for the last one. */
enum { GRAIN = 1024 };

struct chunk {
    struct facet_gfx12_stats stats;
    struct facet_error err; /* of its first failing ray; `where` is its number */
    enum facet_status status;
};

struct batch {
    const facet_gfx12_tracer *tracer;
    const struct facet_gfx12_query *common;
    const struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
    struct chunk *chunks;
    bool together; /* the decoded nodes serve all rays */
    bool counting;
    /* Lowest chunk with a failure so far. Chunks above it are left out: on an image with a cycle
     * every ray may run to its limit. Chunks below it never are, so the first failure of the batch
     * is found on any number of threads. */
    _Atomic size_t failed;
};

void facet_gfx12_stats_add(struct facet_gfx12_stats *sum, const struct facet_gfx12_stats *s)
{
    sum->steps += s->steps;
    sum->boxes += s->boxes;
    sum->primitives += s->primitives;
    sum->instances += s->instances;
    sum->walk_backs += s->walk_backs;
    sum->pushes += s->pushes;
    sum->max_depth = s->max_depth > sum->max_depth ? s->max_depth : sum->max_depth;
    sum->lost_walks += s->lost_walks;
}

/* Returns how many rays were traced; fewer than there are when the last of them failed. */
static size_t trace_one_by_one(const struct batch *b, struct chunk *chunk, size_t begin, size_t end)
{
    struct facet_gfx12_query query = *b->common;

    for (size_t i = begin; i < end; i++) {
        const struct facet_gfx12_batch_ray *ray = &b->rays[i];
        struct facet_gfx12_stats stats;

        memcpy(query.origin, ray->origin, sizeof query.origin);
        memcpy(query.direction, ray->direction, sizeof query.direction);
        query.t_min = ray->t_min;
        query.t_max = ray->t_max;
        chunk->status = facet_gfx12_tracer_trace(
            b->tracer, &query, &b->hits[i], b->counting ? &stats : NULL, &chunk->err);
        if (chunk->status != FACET_OK) {
            return i - begin;
        }
        if (b->counting) {
            facet_gfx12_stats_add(&chunk->stats, &stats);
        }
    }
    return end - begin;
}

/* The same on decoded nodes. */
static size_t trace_fast(const struct batch *b, struct chunk *chunk, size_t begin, size_t end)
{
    const struct fast_batch fast = {.tracer = b->tracer,
                                    .common = b->common,
                                    .rays = b->rays + begin,
                                    .count = end - begin,
                                    .hits = b->hits + begin,
                                    .stats = b->counting ? &chunk->stats : NULL,
                                    .status = &chunk->status,
                                    .err = &chunk->err};

    FACET_FAST_WAY(GFX12_DECODED);
#if defined(__x86_64__)
    if (b->tracer->path == FACET_GFX12_PATH_AVX512) {
        return facet_gfx12_fast_many_avx512(&fast);
    }
    if (b->tracer->path == FACET_GFX12_PATH_AVX2) {
        return facet_gfx12_fast_many_avx2(&fast);
    }
#endif
    return facet_gfx12_fast_many_portable(&fast);
}

static void trace_chunk(void *context, size_t begin, size_t end)
{
    struct batch *b = context;
    size_t number = begin / GRAIN, done, lowest = atomic_load(&b->failed);
    struct chunk chunk = {0}; /* counted here: neighbours in memory belong to other threads */

    if (number > lowest) {
        return;
    }
    done =
        b->together ? trace_fast(b, &chunk, begin, end) : trace_one_by_one(b, &chunk, begin, end);
    chunk.err.where = done < end - begin ? begin + done : 0;
    b->chunks[number] = chunk;
    if (done < end - begin) {
        while (number < lowest && !atomic_compare_exchange_weak(&b->failed, &lowest, number)) {
        }
    }
}

enum facet_status facet_gfx12_tracer_batch(const facet_gfx12_tracer *tracer,
                                           const struct facet_gfx12_query *common,
                                           const struct facet_gfx12_batch_ray *rays,
                                           size_t count,
                                           struct facet_gfx12_hit *hits,
                                           facet_pool *pool,
                                           struct facet_gfx12_stats *stats,
                                           struct facet_error *err)
{
    size_t chunks = count / GRAIN + 1;
    struct batch b = {.tracer = tracer,
                      .common = common,
                      .rays = rays,
                      .hits = hits,
                      .chunks = calloc(chunks, sizeof(struct chunk)),
                      .counting = stats != NULL,
                      .failed = SIZE_MAX,
                      .together = is_fast(tracer, common) && common->callbacks.any_hit == NULL &&
                                  common->callbacks.procedural == NULL};
    enum facet_status status = FACET_OK;

    if (b.chunks == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    facet_pool_for(pool, count, GRAIN, trace_chunk, &b);
    if (stats != NULL) {
        memset(stats, 0, sizeof *stats);
    }
    for (size_t i = 0; i < chunks; i++) {
        if (stats != NULL) {
            facet_gfx12_stats_add(stats, &b.chunks[i].stats);
        }
        if (status == FACET_OK && b.chunks[i].status != FACET_OK) {
            status = b.chunks[i].status;
            if (err != NULL) {
                *err = b.chunks[i].err;
            }
        }
    }
    free(b.chunks);
    return status;
}
