/* The shape of depth pyramids (depth.h). */
#include "gfx/depth.h"

enum { LEVEL_ALIGN = 64 };

static uint32_t halves(uint32_t size, unsigned log2)
{
    return (uint32_t)(((uint64_t)size + (1u << log2) - 1) >> log2);
}

struct facet_gfx_level
facet_gfx_level_first(uint32_t width, uint32_t height, unsigned tile_w, unsigned tile_h)
{
    return (struct facet_gfx_level){halves(width, tile_w), halves(height, tile_h), 0};
}

struct facet_gfx_level facet_gfx_level_next(const struct facet_gfx_level *level,
                                            const struct facet_container *container)
{
    uint64_t end = level->offset +
                   facet_container_array_bytes(container, (uint64_t)level->width * level->height);

    return (struct facet_gfx_level){
        halves(level->width, 1),
        halves(level->height, 1),
        (end + LEVEL_ALIGN - 1) / LEVEL_ALIGN * LEVEL_ALIGN,
    };
}
