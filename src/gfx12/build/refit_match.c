/* See refit_match.h. */
#include "gfx12/build/refit_match.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void id_of(const struct facet_bvh_blas_input *in, uint32_t i, uint32_t out[2])
{
    out[0] = in->aabb_count != 0 ? in->aabbs[i].geometry : in->triangles[i].geometry;
    out[1] = in->aabb_count != 0 ? in->aabbs[i].primitive : in->triangles[i].primitive;
}

static int compare_keys(const void *a, const void *b)
{
    const struct facet_refit_key *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* Geometries 0, 1, ... one after the other, each with primitives 0, 1, ...: where each begins, and
 * the end. Nothing when the list is another; false without memory. */
static bool find_geometries(struct facet_refit_blas *blas)
{
    uint32_t geometry = 0, next = 0;
    size_t room = 0;

    if (!facet_array_fit(&blas->first, &room, 2, sizeof *blas->first)) {
        return false;
    }
    blas->first[0] = 0;
    for (uint32_t i = 0; i < blas->count; i++) {
        uint32_t id[2];

        id_of(blas->input, i, id);
        if (id[0] != geometry) {
            next = 0;
            geometry++;
            if (!facet_array_fit(&blas->first, &room, (size_t)geometry + 2, sizeof *blas->first)) {
                return false;
            }
            blas->first[geometry] = i;
        }
        if (id[0] != geometry || id[1] != next++) {
            free(blas->first);
            blas->first = NULL;
            return true;
        }
    }
    blas->geometries = geometry + 1;
    blas->first[blas->geometries] = blas->count;
    return true;
}

static bool make_keys(struct facet_refit_blas *blas)
{
    blas->keys = malloc(((size_t)blas->count + 1) * sizeof *blas->keys);
    if (blas->keys == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < blas->count; i++) {
        uint32_t id[2];

        id_of(blas->input, i, id);
        blas->keys[i] = (struct facet_refit_key){(uint64_t)id[0] << 32 | id[1], i};
    }
    qsort(blas->keys, blas->count, sizeof *blas->keys, compare_keys);
    return true;
}

enum facet_status facet_gfx12_refit_match(struct facet_refit_blas *blas,
                                          const struct facet_bvh_blas_input *input,
                                          struct facet_error *err)
{
    blas->input = input;
    blas->count = input->triangle_count + input->aabb_count;
    blas->seen = calloc((size_t)blas->count + 1, sizeof *blas->seen);
    return blas->seen != NULL && find_geometries(blas) && (blas->first != NULL || make_keys(blas))
               ? FACET_OK
               : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
}

void facet_gfx12_refit_match_free(struct facet_refit_blas *blas)
{
    free(blas->first);
    free(blas->keys);
    free((void *)blas->seen);
}

bool facet_gfx12_refit_find_key(const struct facet_refit_blas *blas,
                                uint32_t geometry,
                                uint32_t primitive,
                                uint32_t *index)
{
    const struct facet_refit_key wanted = {(uint64_t)geometry << 32 | primitive, 0};
    const struct facet_refit_key *found =
        bsearch(&wanted, blas->keys, blas->count, sizeof *blas->keys, compare_keys);

    if (found != NULL) {
        *index = found->index;
    }
    return found != NULL;
}

static bool can_be_hit(const struct facet_bvh_blas_input *in, uint32_t i)
{
    const struct facet_bvh_triangle *t;

    if (in->aabb_count != 0) {
        return !isnan(in->aabbs[i].min[0]);
    }
    t = &in->triangles[i];
    return !isnan(t->vertex[0][0]) && !isnan(t->vertex[1][0]) && !isnan(t->vertex[2][0]) &&
           memcmp(t->vertex[0], t->vertex[1], 12) != 0 &&
           memcmp(t->vertex[1], t->vertex[2], 12) != 0 &&
           memcmp(t->vertex[2], t->vertex[0], 12) != 0;
}

uint32_t facet_gfx12_refit_unseen(const struct facet_refit_blas *blas)
{
    for (uint32_t i = 0; i < blas->count; i++) {
        if (blas->seen[i] == 0 && can_be_hit(blas->input, i)) {
            return i;
        }
    }
    return UINT32_MAX;
}
