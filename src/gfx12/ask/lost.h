/* What rays look for in an image and do not find: nodes outside it (a wrong base, a missing BLAS),
 * IDs whose type names no node, ranges that go on where no primitive node is. The loop takes each
 * for a node without children (9.8), so without a count nobody would know. */
#ifndef FACET_GFX12_ASK_LOST_H
#define FACET_GFX12_ASK_LOST_H

#include "base/pool.h"
#include "gfx12/steps.h"
#include "gfx12/tracer.h"

enum facet_gfx12_loss {
    FACET_GFX12_LOST_OUTSIDE,
    FACET_GFX12_LOST_TYPE,
    FACET_GFX12_LOST_RANGE,
    FACET_GFX12_LOSSES,
};

struct facet_gfx12_lost {
    struct {
        uint64_t count;
        uint64_t ray; /* the first that met one, and what it was: */
        uint64_t address;
        uint64_t base; /* address of the structure that the ID counts from */
        uint32_t node;
    } loss[FACET_GFX12_LOSSES];
    bool in_range; /* the last turn went on to the next pair */
};

/* "fetch outside the image", or in the plural "fetches outside the image", ... */
const char *facet_gfx12_loss_name(enum facet_gfx12_loss loss, bool plural);
uint64_t facet_gfx12_lost_total(const struct facet_gfx12_lost *lost);

/* Takes in a turn of the reference loop; `lost` starts as zeros. */
void facet_gfx12_lost_turn(struct facet_gfx12_lost *lost,
                           const struct facet_gfx12_unit *unit,
                           const struct facet_gfx12_turn *turn,
                           uint64_t ray);

/* All rays of a batch (tracer.h) once more, by the reference loop; a ray that does not end counts
 * as far as it came. The result does not depend on the number of threads. */
enum facet_status facet_gfx12_lost_rays(const struct facet_gfx12_unit *unit,
                                        const struct facet_gfx12_query *common,
                                        const struct facet_gfx12_batch_ray *rays,
                                        size_t count,
                                        facet_pool *pool,
                                        struct facet_gfx12_lost *lost,
                                        struct facet_error *err);

#endif
