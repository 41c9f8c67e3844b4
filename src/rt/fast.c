/* See fast.h: what there is to do, and by whom. */
#include "rt/fast.h"

#include "rt/layout.h"

#include <string.h>

enum { TILE = 128, TRIANGLE = 4 * FACET_RT_TRIANGLE_ELEMENTS };

bool facet_rt_fast_heap(const struct facet_rt_fast_scene *scene, struct facet_rt_heap *heap)
{
    const struct facet_rt_area *const area = &scene->heap_area;
    const struct facet_rt_area *const triangles = &scene->triangle_area;
    uint64_t offset = scene->heap - area->base, node = scene->node8 ? 2 * TILE : TILE, room;

    if (offset > area->size || scene->heap % FACET_RT_TILE_ALIGN != 0) {
        return false;
    }
    room = area->size - offset;
    *heap = (struct facet_rt_heap){.bytes = area->bytes + offset,
                                   .nodes = room < node ? 0 : (room - node) / TILE + 1,
                                   .ranges = room / FACET_RT_RANGE_BYTES,
                                   .node8 = scene->node8};
    offset = scene->triangles - triangles->base;
    if (offset <= triangles->size && scene->triangles % 4 == 0) {
        heap->triangles = triangles->bytes + offset;
        heap->triangle_count = (triangles->size - offset) / TRIANGLE;
    }
    return heap->nodes != 0;
}

bool facet_rt_fast_available(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

bool facet_rt_fast_wide(void)
{
#if defined(__x86_64__)
    return facet_rt_fast_available() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

void facet_rt_fast_rays(const struct facet_rt_fast_scene *scene,
                        const uint8_t *entries,
                        size_t count,
                        struct facet_rt_fast_result *results)
{
#if defined(__x86_64__)
    if (facet_rt_fast_wide() && !scene->narrow) {
        facet_rt_fast_rays_avx512(scene, entries, count, results);
    } else {
        facet_rt_fast_rays_avx2(scene, entries, count, results);
    }
#else
    (void)scene;
    (void)entries;
    memset(results, 0, count * sizeof *results); /* nothing is done here */
#endif
}
