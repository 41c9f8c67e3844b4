/* See prepare.h. */
#include "gfx12/device/prepare.h"

#include "gfx12/ask/procedural.h"
#include "gfx12/image/node.h"
#include "gfx12/trace_state.h"

#include <stddef.h>
#include <string.h>

/* A ray of more steps goes back to the host. Few rays need a thousand; of those that never end, in
 * a damaged image, the host stops at the first. */
#define MOST_STEPS UINT64_C(0x7FFF)

_Static_assert(sizeof(struct device_ray) == sizeof(struct facet_gfx12_batch_ray),
               "the same record");
_Static_assert(sizeof(struct device_result) == 72, "no padding");
_Static_assert(sizeof(struct device_state) == 72 + 56 + 4 * DEVICE_STACK, "no padding");
_Static_assert(sizeof(struct device_common) == 6 * 8 + 20 * 4, "no padding");

/* hits.cl writes the one in place of the other. */
#define SAME(record, member)                                                                       \
    _Static_assert(offsetof(struct facet_gfx12_##record, member) ==                                \
                       offsetof(struct device_##record, member),                                   \
                   #member)
_Static_assert(sizeof(bool) == 1 && offsetof(struct facet_gfx12_hit, found) == 0 &&
                   offsetof(struct facet_gfx12_hit, procedural) == 1 &&
                   offsetof(struct facet_gfx12_hit, opaque) == 2 &&
                   offsetof(struct facet_gfx12_hit, backface) == 3,
               "the bytes of device_hit.marks");
_Static_assert(sizeof(struct facet_gfx12_hit) == sizeof(struct device_hit), "the same record");
SAME(hit, t);
SAME(hit, u);
SAME(hit, v);
SAME(hit, primitive_index);
SAME(hit, geometry_index);
SAME(hit, node);
SAME(hit, base);
SAME(hit, instance);
SAME(hit, instance_user_data);
_Static_assert(sizeof(struct facet_gfx12_stats) == sizeof(struct device_stats), "the same record");
SAME(stats, steps);
SAME(stats, boxes);
SAME(stats, primitives);
SAME(stats, instances);
SAME(stats, walk_backs);
SAME(stats, pushes);
SAME(stats, max_depth);
SAME(stats, lost_walks);

bool facet_gfx12_device_aligned(const struct facet_gfx12_unit *unit,
                                const struct facet_gfx12_query *query)
{
    return unit->image_address % 64 == 0 && query->address % 64 == 0;
}

void facet_gfx12_device_common(const struct facet_gfx12_unit *unit,
                               const struct facet_gfx12_query *query,
                               struct device_common *out)
{
    const struct facet_gfx12_resource *r = &unit->resource;
    const struct facet_gfx12_callbacks *cb = &query->callbacks;
    const uint64_t steps =
        query->max_steps != 0 ? query->max_steps : (uint64_t)FACET_GFX12_DEFAULT_STEPS;

    *out = (struct device_common){
        .image_address = unit->image_address,
        .image_size = unit->image_size,
        .resource_base = r->base_address * 256,
        .resource_size = r->size,
        .tlas_base = facet_gfx12_base_make(query->address, facet_gfx12_api_flags(query->api_flags)),
        .max_steps = steps < MOST_STEPS ? steps : MOST_STEPS,
        .segments = (uint32_t)unit->segment_count,
        .root = query->root,
        .instance_mask = query->instance_mask,
        .first_hit = (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0,
        .gpurt = unit->profile == FACET_GFX12_GPURT,
        .sort_triangles_first = r->sort_triangles_first != 0,
        .heuristic = r->box_sorting_heuristic,
        .grow = r->box_grow_value,
        .sort = r->box_sort_en != 0,
        .wide_sort = r->wide_sort_en != 0,
        .fetches = r->compressed_format_en != 0,
        .instance_en = r->instance_en != 0,
        .pointer_flags = r->pointer_flags != 0,
        .procedural = cb->procedural == NULL                         ? DEVICE_PROCEDURAL_NONE
                      : cb->procedural == facet_gfx12_procedural_box ? DEVICE_PROCEDURAL_BOX
                                                                     : DEVICE_PROCEDURAL_DECLINE,
        .any_hit = cb->any_hit != NULL ? DEVICE_ANY_HIT_DECLINE : DEVICE_ANY_HIT_NONE,
        .slice = UINT32_MAX,
        .grow_by = 1.0F + (float)r->box_grow_value * 0x1p-24F,
    };
}

bool facet_gfx12_device_fast(const struct device_common *common)
{
    return common->gpurt == 0 && common->sort != 0 && common->wide_sort != 0 &&
           common->sort_triangles_first != 0 && common->heuristic == 0 && common->fetches != 0 &&
           common->instance_en != 0 && common->segments == 0 && (common->instance_mask & 0xFF) != 0;
}

uint32_t facet_gfx12_device_phase(const struct device_common *common)
{
    return (uint32_t)(common->resource_base + common->tlas_base * 8 - common->image_address) % 128;
}

uint32_t facet_gfx12_device_records(const struct device_common *common, uint32_t phase)
{
    const uint64_t nodes = common->image_size < phase ? 0 : (common->image_size - phase) / 128;

    return nodes < UINT32_MAX / 16 ? (uint32_t)nodes : 0; /* an ID names no more */
}

void facet_gfx12_device_turned(uint32_t rows[12 * FACET_GFX12_OBB_COUNT])
{
    memset(rows, 0, 12 * FACET_GFX12_OBB_COUNT * sizeof rows[0]);
    for (unsigned m = 0; m < FACET_GFX12_OBB_COUNT; m++) {
        uint32_t matrix[9];

        (void)facet_gfx12_obb_matrix(m, matrix);
        for (unsigned i = 0; i < 9; i++) {
            rows[12 * m + i / 3 * 4 + i % 3] = matrix[i];
        }
    }
}

void facet_gfx12_device_result(const struct facet_gfx12_hit *hit,
                               const struct facet_gfx12_stats *stats,
                               struct device_result *out)
{
    *out = (struct device_result){
        .t = hit->t,
        .u = hit->u,
        .v = hit->v,
        .primitive = hit->primitive_index,
        .geometry = hit->geometry_index,
        .node = hit->node,
        .instance = hit->instance,
        .user_data = hit->instance_user_data,
        .base = hit->base,
        .flags = (hit->found ? DEVICE_FOUND : 0) | (hit->procedural ? DEVICE_PROCEDURAL : 0) |
                 (hit->opaque ? DEVICE_OPAQUE : 0) | (hit->backface ? DEVICE_BACKFACE : 0),
        .steps = (uint32_t)stats->steps,
        .boxes = (uint32_t)stats->boxes,
        .primitives = (uint32_t)stats->primitives,
        .instances = (uint32_t)stats->instances,
        .pushes = (uint32_t)stats->pushes,
        .max_depth = (uint32_t)stats->max_depth,
    };
}
