/* See hits.h. */
#include "gfx12/device/hits.h"

#include "gfx12/device/shared.h"

#include <stdlib.h>
#include <string.h>

enum { SUMMED = DEVICE_GROUP * DEVICE_SUMMED }; /* rays of a group of facet_sums */

_Static_assert(FACET_OPENCL_GROUP == DEVICE_GROUP, "a sum for each group");
_Static_assert(sizeof(struct device_hit) + sizeof(struct device_stats) +
                       sizeof(struct device_sum) <=
                   sizeof(struct device_state),
               "what hits.cl makes of rays lies where their states were");

/* ---- what the device found ---- */

static void note_lost(const struct facet_gfx12_device_batch *b, size_t first, size_t count)
{
    const size_t rays = b->lost_rays != 0 ? b->lost_rays : b->count;

    for (size_t i = first / rays; i <= (first + count - 1) / rays; i++) {
        b->lost[i] = true;
    }
}

/* Adds what facet_sums has left at `at`. */
static enum facet_status add_sums(const struct facet_gfx12_landed *l,
                                  const struct facet_gfx12_device_batch *b,
                                  uint64_t at,
                                  size_t groups,
                                  struct facet_error *err)
{
    struct device_sum *sums = malloc(groups * sizeof *sums);
    enum facet_status status =
        sums != NULL ? facet_opencl_read(l->cl, l->states, at, sums, groups * sizeof *sums, err)
                     : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");

    for (size_t i = 0; status == FACET_OK && i < groups; i++) {
        const struct facet_gfx12_stats own = {.steps = sums[i].steps,
                                              .boxes = sums[i].boxes,
                                              .primitives = sums[i].primitives,
                                              .instances = sums[i].instances,
                                              .pushes = sums[i].pushes,
                                              .max_depth = sums[i].max_depth};

        if (b->sum != NULL) {
            facet_gfx12_stats_add(b->sum, &own);
        }
        if (b->lost != NULL && sums[i].lost != 0) {
            const size_t left = l->count - i * SUMMED;

            note_lost(b, l->first + i * SUMMED, left < SUMMED ? left : SUMMED);
        }
    }
    free(sums);
    return status;
}

static enum facet_status bring_done(const struct facet_gfx12_landed *l,
                                    const struct facet_gfx12_device_batch *b,
                                    struct facet_error *err)
{
    const size_t hits = l->count * sizeof *b->hits, each = l->count * sizeof *b->each;
    const size_t groups = (l->count + SUMMED - 1) / SUMMED;
    const bool sums = b->sum != NULL || b->lost != NULL;
    const struct facet_opencl_argument arguments[] = {{l->results, 0},
                                                      {l->fate, 0},
                                                      {NULL, (uint32_t)l->count},
                                                      {l->states, 0},
                                                      {NULL, b->each != NULL}};
    enum facet_status status =
        facet_opencl_run(l->cl, "facet_hits", arguments, 5, l->count, l->nanoseconds, err);

    if (status == FACET_OK && sums) {
        status = facet_opencl_run(
            l->cl, "facet_sums", arguments, 4, groups * DEVICE_GROUP, l->nanoseconds, err);
    }
    if (status == FACET_OK) {
        status = facet_opencl_read(l->cl, l->states, 0, b->hits + l->first, hits, err);
    }
    if (status == FACET_OK && b->each != NULL) {
        status = facet_opencl_read(l->cl, l->states, hits, b->each + l->first, each, err);
    }
    return status == FACET_OK && sums ? add_sums(l, b, hits + each, groups, err) : status;
}

/* ---- what it declined ---- */

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

enum facet_status facet_gfx12_hits_declined(const struct facet_gfx12_landed *l,
                                            uint32_t **list,
                                            struct facet_error *err)
{
    const size_t bytes = l->declined_count * sizeof **list;
    enum facet_status status;

    *list = malloc(bytes);
    if (*list == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", l->declined_count);
    }
    status = facet_opencl_read(l->cl, l->declined, 0, *list, bytes, err);
    if (status == FACET_OK) {
        qsort(*list, l->declined_count, sizeof **list, compare);
    }
    return status;
}

enum facet_status facet_gfx12_hits_trace(const struct facet_gfx12_device_batch *b,
                                         size_t i,
                                         struct facet_gfx12_stats *stats,
                                         struct facet_error *err)
{
    struct facet_gfx12_query query = *b->common;
    enum facet_status status;

    memcpy(query.origin, b->rays[i].origin, sizeof query.origin);
    memcpy(query.direction, b->rays[i].direction, sizeof query.direction);
    query.t_min = b->rays[i].t_min;
    query.t_max = b->rays[i].t_max;
    if (b->before != NULL) {
        b->before(query.callbacks.context, i);
    }
    status = facet_gfx12_tracer_trace(b->host, &query, &b->hits[i], stats, err);
    if (status != FACET_OK && err != NULL) {
        err->where = i;
    }
    return status;
}

/* All others are done, so the first of these that fails is the first ray that fails. */
static enum facet_status trace_declined(const struct facet_gfx12_landed *l,
                                        const struct facet_gfx12_device_batch *b,
                                        struct facet_error *err)
{
    uint32_t *list;
    enum facet_status status = facet_gfx12_hits_declined(l, &list, err);

    for (size_t i = 0; i < l->declined_count && status == FACET_OK; i++) {
        const size_t ray = l->first + list[i];
        struct facet_gfx12_stats stats = {0};

        status = facet_gfx12_hits_trace(b, ray, &stats, err);
        if (b->each != NULL) {
            b->each[ray] = stats;
        }
        if (b->sum != NULL) {
            facet_gfx12_stats_add(b->sum, &stats);
        }
        if (b->lost != NULL) { /* nobody has looked */
            note_lost(b, ray, 1);
        }
    }
    free(list);
    return status;
}

enum facet_status facet_gfx12_hits_bring(const struct facet_gfx12_landed *l,
                                         const struct facet_gfx12_device_batch *b,
                                         struct facet_error *err)
{
    enum facet_status status = bring_done(l, b, err);

    return status == FACET_OK && l->declined_count != 0 ? trace_declined(l, b, err) : status;
}
