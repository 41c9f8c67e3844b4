/* See fast.h: what does not depend on the host. */
#include "rt/fast.h"

#include "rt/layout.h"

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
