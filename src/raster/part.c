/* Draws that are left in the middle: asking whether to, and the part that says how far they came.
 *
 * A draw is left between two rows of a triangle or rectangle, or between two elements of a GDRAW,
 * with nothing waiting in the threads' queue: everything before that place is in memory and nothing
 * after it is. So the rest of the draw does not depend on where it was left. */
#include "raster/geometry.h"

/* What a pixel takes at a guess; the wide code is faster, textures in the plain one are slower. */
enum { PIXEL_NANOSECONDS = 8 };

_Static_assert(FACET_RASTER_DRAW_WORDS >= FACET_TILE_RDRAW_WORDS &&
                   FACET_RASTER_DRAW_WORDS >= FACET_TILE_RRECT_WORDS &&
                   FACET_RASTER_DRAW_WORDS >= FACET_TILE_GDRAW_WORDS,
               "a part keeps the descriptor");
_Static_assert(4 * FACET_RASTER_CORNER_WORDS == sizeof(struct geo_vertex),
               "a part keeps vertices as they are, so they have no padding");

bool facet_raster_asks(const struct facet_raster_unit *unit, int64_t pixels, int64_t piece)
{
    struct facet_raster_stop *stop = unit->stop;

    if (stop == NULL || (stop->pending += pixels) < piece) {
        return false;
    }
    pixels = stop->pending;
    stop->pending = 0;
    return stop->asks(stop->context, (uint64_t)pixels * PIXEL_NANOSECONDS);
}

bool facet_raster_part_take(const struct facet_raster_unit *unit,
                            enum facet_raster_part_kind kind,
                            struct facet_raster_part *out)
{
    const bool left = unit->stop != NULL && unit->stop->part.kind == kind;

    *out = left ? unit->stop->part : (struct facet_raster_part){.kind = (uint8_t)kind};
    if (unit->stop != NULL) {
        unit->stop->part.kind = FACET_RASTER_PART_NONE;
    }
    return left;
}

static bool corner_valid(const uint32_t *words)
{
    struct geo_vertex v;
    int32_t most;

    memcpy(&v, words, sizeof v);
    if (v.screen.outside > 1 || v.outside >= 1 << PLANE_COUNT || v.bad > 1) {
        return false;
    }
    most = SNAPPED_MAX + (int32_t)v.screen.outside; /* one step too far is outside, and stays so */
    return v.screen.x >= SNAPPED_MIN && v.screen.x <= most && v.screen.y >= SNAPPED_MIN &&
           v.screen.y <= most;
}

bool facet_raster_part_valid(const struct facet_raster_part *part)
{
    return part->kind <= FACET_RASTER_PART_GDRAW && part->code <= FACET_RASTER_BAD_SAMPLER &&
           part->count <= FACET_RASTER_MAX_REPORTS && (part->count == 0) == (part->code == 0) &&
           part->bad_mem <= 1 && part->bad_mem_told <= part->bad_mem && part->half <= 1 &&
           part->row <= INT32_MAX && corner_valid(part->corner[0]) &&
           corner_valid(part->corner[1]) && corner_valid(part->corner[2]);
}
