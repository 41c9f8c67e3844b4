/* Which primitive of the scene a (geometry, primitive) of the image is; inside of the refit. */
#ifndef FACET_GFX12_BUILD_REFIT_MATCH_H
#define FACET_GFX12_BUILD_REFIT_MATCH_H

#include "base/error.h"
#include "bvh/input.h"

#include <stdatomic.h>

struct facet_refit_key {
    uint64_t id; /* geometry, primitive */
    uint32_t index;
};

/* The primitives of one BLAS. Scenes list them by geometry and number them from 0: then the place
 * of each is known, and only other lists need sorted keys. */
struct facet_refit_blas {
    const struct facet_bvh_blas_input *input;
    uint64_t base;                /* address of its root */
    uint32_t *first;              /* per geometry: where it begins; NULL: by key */
    uint32_t geometries;          /* with one more entry, the end */
    struct facet_refit_key *keys; /* sorted */
    uint32_t count;
    _Atomic uint8_t *seen; /* per primitive: the image has it */
};

enum facet_status facet_gfx12_refit_match(struct facet_refit_blas *blas,
                                          const struct facet_bvh_blas_input *input,
                                          struct facet_error *err);
void facet_gfx12_refit_match_free(struct facet_refit_blas *blas);

bool facet_gfx12_refit_find_key(const struct facet_refit_blas *blas,
                                uint32_t geometry,
                                uint32_t primitive,
                                uint32_t *index);

/* false: there is none. */
static inline bool facet_gfx12_refit_find(const struct facet_refit_blas *blas,
                                          uint32_t geometry,
                                          uint32_t primitive,
                                          uint32_t *index)
{
    if (blas->first == NULL) {
        return facet_gfx12_refit_find_key(blas, geometry, primitive, index);
    }
    if (geometry >= blas->geometries ||
        primitive >= blas->first[geometry + 1] - blas->first[geometry]) {
        return false;
    }
    *index = blas->first[geometry] + primitive;
    return true;
}

static inline void facet_gfx12_refit_see(const struct facet_refit_blas *blas, uint32_t index)
{
    atomic_store_explicit(&blas->seen[index], 1, memory_order_relaxed);
}

/* The first primitive that can be hit and was never found; UINT32_MAX when there is none. */
uint32_t facet_gfx12_refit_unseen(const struct facet_refit_blas *blas);

#endif
