/* The image against the scene that it was made from (V45 - V51), and what it says by itself about
 * such a scene (V40 - V42). */
#ifndef FACET_GFX12_CHECK_SCENE_H
#define FACET_GFX12_CHECK_SCENE_H

#include "gfx12/check/checker.h"

#include "bvh/input.h"

/* A number and what it is the number of, for sorted lists. */
struct facet_checked_key {
    uint64_t key;
    uint32_t number;
};
int facet_gfx12_checker_compare_keys(const void *a, const void *b);
/* The first place whose key is not below `key`. */
size_t
facet_gfx12_checker_find_key(const struct facet_checked_key *keys, size_t count, uint64_t key);

/* V40 - V42. */
void facet_gfx12_checker_ids(struct facet_checker *c);

/* Matches the instances (check_scene.c), then compares the primitives of each BLAS
 * (check_source.c). */
void facet_gfx12_checker_scene(struct facet_checker *c);

/* The part of the image below some links against one BLAS of the scene. `at` is the byte that
 * losses are reported for. */
void facet_gfx12_checker_source(struct facet_checker *c,
                                const struct facet_gfx12_link *links,
                                size_t count,
                                uint32_t blas,
                                uint64_t at);
/* Left out of an image by 12.1, or kept by drivers. */
bool facet_gfx12_checker_is_optional(const struct facet_bvh_triangle *triangle);

#endif
