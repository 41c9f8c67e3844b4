/* See batch.h. */
#include "xphmg/rt/batch.h"

#include "base/pool.h"
#include "rt/host.h"

#include <stdlib.h>

enum {
    GRAIN = 256,      /* rays of a chunk: some hundredths of a millisecond */
    ROOM = 4 * GRAIN, /* rays of a batch, for every thread */
};

/* All of RAM that the fast door sees; empty when an observer listens or LDS is part of it. */
static struct facet_xphmg_rt_stretch plain(const struct facet_hart *h, bool write)
{
    uint64_t span = write ? h->ram.store_span : h->ram.span;
    struct facet_xphmg_rt_stretch ram = {h->ram.base, span};
    struct facet_xphmg_rt_stretch lds = {
        FACET_XLDSBASE_RESET,
        FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_LDS_KIB) << 10};

    return facet_hart_listens(h) || facet_xphmg_rt_overlap(ram, lds)
               ? (struct facet_xphmg_rt_stretch){0, 0}
               : ram;
}

static bool contains(struct facet_xphmg_rt_stretch outer, struct facet_xphmg_rt_stretch inner)
{
    uint64_t offset = inner.address - outer.address;

    return offset <= outer.size && inner.size <= outer.size - offset;
}

/* The largest area around an address that no write touches; empty when there is none. */
static struct facet_rt_area area_around(const struct facet_hart *h,
                                        struct facet_xphmg_rt_stretch ram,
                                        uint64_t address,
                                        const struct facet_xphmg_rt_stretch *writes)
{
    uint64_t at = address - ram.address, low = 0, high = ram.size;

    if (at >= ram.size) {
        return (struct facet_rt_area){0};
    }
    for (unsigned i = 0; i < FACET_XPHMG_RT_STRETCHES; i++) {
        uint64_t from = writes[i].address - ram.address, to = from + writes[i].size;

        if (writes[i].size == 0) {
            continue;
        }
        if (from <= at && at < to) {
            return (struct facet_rt_area){0};
        }
        low = to <= at && to > low ? to : low;
        high = from > at && from < high ? from : high;
    }
    return (struct facet_rt_area){
        .bytes = h->ram.bytes + low, .base = ram.address + low, .size = high - low};
}

/* ---- the decoded BVH ---------------------------------------------------------------------------
 *
 * It stays valid as long as no page that was read for it is written to. The page map of the memory
 * (mem.h) tells: its bit for BVHs is taken away from such pages at the end of a job, and every
 * write sets it again. Writes of the job itself do not count, they touch no byte that was read. */

struct facet_xphmg_rt_kept {
    struct facet_rt_decoded bvh;
    uint64_t heap, triangles; /* addresses that it was decoded for */
    bool node8;
};

struct facet_xphmg_rt_kept *facet_xphmg_rt_kept_create(void)
{
    return calloc(1, sizeof(struct facet_xphmg_rt_kept));
}

void facet_xphmg_rt_kept_destroy(struct facet_xphmg_rt_kept *kept)
{
    if (kept != NULL) {
        facet_rt_decoded_free(&kept->bvh);
        free(kept);
    }
}

static bool was_written(const struct facet_rt_decoded *bvh, const uint8_t *pages)
{
    const uint64_t first = bvh->first, last = bvh->last;
    const uint8_t *const read = bvh->read;
    uint8_t written = 0;

    for (uint64_t page = first; page <= last; page++) {
        written |= read[page] & pages[page];
    }
    return written != 0;
}

static void forget_writes(const struct facet_rt_decoded *bvh, uint8_t *pages)
{
    const uint64_t first = bvh->first, last = bvh->last;
    const uint8_t *const read = bvh->read;

    for (uint64_t page = first; page <= last; page++) {
        pages[page] &= (uint8_t)~read[page];
    }
}

static void count_drop(struct facet_xphmg_rt_counts *counts, const struct facet_rt_decoded *bvh)
{
    counts->drops += bvh->nodes != 0;
    counts->dropped_nodes += bvh->nodes;
    counts->dropped_leaves += bvh->leaves;
}

/* The BVH of a job, as far as earlier ones decoded it; NULL when there is no room for one. */
static struct facet_rt_decoded *keep(const struct facet_hart *h,
                                     const struct facet_rt_fast_scene *scene,
                                     const struct facet_rt_heap *heap,
                                     struct facet_xphmg_rt_counts *counts)
{
    struct facet_xphmg_rt_kept *const kept = h->rt_kept;
    struct facet_rt_decoded *const bvh = &kept->bvh;

    if (bvh->node == NULL &&
        !facet_rt_decoded_make(bvh, h->ram.bytes, h->ram.span, FACET_MEM_DIRTY_BVH)) {
        return NULL;
    }
    if (kept->heap != scene->heap || kept->triangles != scene->triangles ||
        kept->node8 != scene->node8 || !facet_rt_decoded_fits(bvh, heap) ||
        was_written(bvh, h->ram.pages)) {
        if (scene->counts) {
            count_drop(counts, bvh);
        }
        facet_rt_decoded_forget(bvh);
        kept->heap = scene->heap;
        kept->triangles = scene->triangles;
        kept->node8 = scene->node8;
    }
    return bvh;
}

/* ---- jobs --------------------------------------------------------------------------------------
 */

bool facet_xphmg_rt_batch_begin(
    const struct facet_xphmg_rt_scene *scene,
    struct facet_xphmg_rt_stretch rays,
    const struct facet_xphmg_rt_stretch writes[FACET_XPHMG_RT_STRETCHES],
    struct facet_xphmg_rt_batch *batch)
{
    const struct facet_hart *h = scene->port.h;
    const struct facet_container *c = &scene->port.container;
    struct facet_xphmg_rt_stretch ram = plain(h, false);
    struct facet_rt_heap heap;
    bool fits = h->rt_kept != NULL && facet_rt_fast_available() &&
                facet_rt_host_fits(&scene->numbers) && c->bytes == 4 && c->pack == 0 &&
                contains(ram, rays);

    for (unsigned i = 0; i < FACET_XPHMG_RT_STRETCHES; i++) {
        fits = fits && !facet_xphmg_rt_overlap(writes[i], rays) &&
               (writes[i].size == 0 || contains(plain(h, true), writes[i]));
    }
    if (!fits) {
        return false;
    }
    *batch = (struct facet_xphmg_rt_batch){
        .scene = {.numbers = scene->numbers,
                  .options = scene->options,
                  .any_hit = scene->any_hit,
                  .node8 = scene->node8,
                  .heap = scene->heap,
                  .triangles = scene->triangles,
                  .heap_area = area_around(h, ram, scene->heap, writes),
                  .triangle_area = area_around(h, ram, scene->triangles, writes),
                  .stack = FACET_XPHMG_RT_STACK,
                  .steps = FACET_XPHMG_RT_BATCH_STEPS,
                  .counts = scene->counts != NULL,
                  .stop = h->port != NULL ? &h->port->asked : NULL},
        .entries = h->ram.bytes + (rays.address - ram.address),
        .room = (size_t)ROOM * (h->pool != NULL ? facet_pool_threads(h->pool) : 1),
    };
    if (!facet_rt_fast_heap(&batch->scene, &heap) ||
        (batch->scene.bvh = keep(h, &batch->scene, &heap, scene->counts)) == NULL) {
        return false;
    }
    batch->nodes_before = batch->scene.bvh->nodes;
    batch->leaves_before = batch->scene.bvh->leaves;
    batch->results = malloc(batch->room * sizeof *batch->results);
    return batch->results != NULL;
}

void facet_xphmg_rt_batch_end(const struct facet_hart *h,
                              struct facet_xphmg_rt_batch *batch,
                              struct facet_xphmg_rt_counts *counts)
{
    if (counts != NULL) {
        counts->new_nodes += batch->scene.bvh->nodes - batch->nodes_before;
        counts->new_leaves += batch->scene.bvh->leaves - batch->leaves_before;
    }
    forget_writes(batch->scene.bvh, h->ram.pages);
    free(batch->results);
}

struct chunk {
    const struct facet_xphmg_rt_batch *batch;
    const uint8_t *entries;
};

static void trace_chunk(void *context, size_t begin, size_t end)
{
    const struct chunk *c = context;

    facet_rt_fast_rays(&c->batch->scene,
                       c->entries + begin * FACET_RT_FAST_RAY_BYTES,
                       end - begin,
                       c->batch->results + begin);
}

void facet_xphmg_rt_batch_trace(const struct facet_hart *h,
                                struct facet_xphmg_rt_batch *batch,
                                uint32_t first,
                                size_t count)
{
    struct chunk chunk = {batch, batch->entries + (uint64_t)first * FACET_RT_FAST_RAY_BYTES};

    facet_pool_for(h->pool, count, GRAIN, trace_chunk, &chunk);
}
