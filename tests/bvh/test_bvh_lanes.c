/* The vector code of the builders, and what is compiled once more for AVX2, against their portable
 * twin: the same trees and images, bit for bit. The twin is the same source compiled with
 * FACET_LANES_PORTABLE under other names (meson.build). */
#include "bvh/bvh2.h"
#include "bvh/reinsert.h"
#include "gfx12/build/build.h"
#include "harness.h"
#include "meshes.h"

#include <stdlib.h>

enum facet_status portable_bvh2_build(struct facet_bvh_item *items,
                                      uint32_t count,
                                      uint32_t max_leaf,
                                      struct facet_bvh_item *scratch,
                                      facet_pool *pool,
                                      struct facet_progress *progress,
                                      struct facet_bvh2 *out,
                                      struct facet_error *err);
enum facet_status portable_bvh2_improve(struct facet_bvh2 *tree,
                                        struct facet_bvh_item *items,
                                        uint32_t count,
                                        facet_pool *pool,
                                        struct facet_error *err);
enum facet_status portable_gfx12_build_blas(const struct facet_bvh_blas_input *input,
                                            const struct facet_gfx12_build_options *options,
                                            facet_pool *pool,
                                            struct facet_progress *progress,
                                            struct facet_gfx12_image *out,
                                            struct facet_gfx12_build_report *report,
                                            struct facet_error *err);

/* Random boxes; one kind in four has coordinates from a small set with both zeros. */
static void make_items(struct facet_bvh_item *items, uint32_t count, unsigned kind)
{
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            float a, b;

            if (kind % 4 == 0) {
                a = (float)((int)(harness_random() % 3) - 1) *
                    (harness_random() % 2 ? 1.0f : -1.0f);
                b = (float)((int)(harness_random() % 3) - 1) *
                    (harness_random() % 2 ? 1.0f : -1.0f);
            } else {
                float scale = kind % 4 == 1 ? 1e-38f : kind % 4 == 2 ? 1e38f : 1.0f;

                a = scale * ((float)(harness_random() >> 40) * 0x1p-24f - 0.5f);
                b = a + scale * (float)(harness_random() >> 40) * 0x1p-30f;
                if (kind % 8 == 6) { /* further apart than a number can say */
                    a = b = 6 * a;
                }
            }
            items[i].lo[k] = a < b ? a : b;
            items[i].hi[k] = a < b ? b : a;
        }
        items[i].id = i;
        items[i].weight = 1;
    }
}

static bool same_trees(const struct facet_bvh2 *a, const struct facet_bvh2 *b)
{
    if (a->node_slots != b->node_slots) {
        return false;
    }
    for (uint32_t i = 0; i < a->node_slots; i++) {
        if (a->nodes[i].child0 != b->nodes[i].child0) {
            return false;
        }
        if (a->nodes[i].child0 != FACET_BVH2_UNUSED &&
            memcmp(&a->nodes[i], &b->nodes[i], sizeof a->nodes[i]) != 0) {
            return false;
        }
    }
    return true;
}

TEST(the_portable_twin_builds_the_same_trees, "")
{
    for (unsigned round = 0; round < 200 && !harness_failed(); round++) {
        uint32_t count = 1 + (uint32_t)(harness_random() % (round < 190 ? 60 : 20000));
        struct facet_bvh_item *a = aligned_alloc(16, count * sizeof *a);
        struct facet_bvh_item *b = aligned_alloc(16, count * sizeof *b);
        struct facet_bvh2 x, y;
        uint32_t leaf = 1 + round % 3;

        make_items(a, count, round);
        memcpy(b, a, count * sizeof *a);
        CHECK(facet_bvh2_build(a, count, leaf, NULL, NULL, NULL, &x, NULL) == FACET_OK);
        CHECK(portable_bvh2_build(b, count, leaf, NULL, NULL, NULL, &y, NULL) == FACET_OK);
        CHECK(same_trees(&x, &y));
        CHECK(memcmp(a, b, count * sizeof *a) == 0);
        if (leaf == 1) {
            CHECK(facet_bvh2_improve(&x, a, count, NULL, NULL) == FACET_OK);
            CHECK(portable_bvh2_improve(&y, b, count, NULL, NULL) == FACET_OK);
            CHECK(same_trees(&x, &y));
            CHECK(memcmp(a, b, count * sizeof *a) == 0);
        }
        facet_bvh2_free(&x);
        facet_bvh2_free(&y);
        free(a);
        free(b);
    }
}

/* Quarters of a small range, both zeros, subnormals, and exponents far apart. */
static float edge_coordinate(void)
{
    static const float some[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-126f, 0x1p-60f, 1.0f, -0x1p60f};

    return harness_random() % 4 != 0 ? 0.25f * (float)(int)(harness_random() % 9) - 1.0f
                                     : some[harness_random() % (sizeof some / sizeof *some)];
}

static struct mesh make_edges(uint32_t count)
{
    struct mesh mesh = mesh_soup(count, 3);

    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 9; k++) {
            mesh.triangles[i].vertex[k / 3][k % 3] = edge_coordinate();
        }
    }
    return mesh;
}

TEST(the_portable_twin_builds_the_same_images, "")
{
    struct mesh meshes[] = {
        mesh_planet(40, 40), mesh_soup(3000, 9), make_edges(5000), make_edges(40)};

    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++) {
        const struct facet_bvh_blas_input input = {.triangles = meshes[m].triangles,
                                                   .triangle_count = meshes[m].count};

        for (unsigned q = 0; q < 2 * FACET_BVH_QUALITIES; q++) {
            const struct facet_gfx12_build_options options = {
                .quality = q % FACET_BVH_QUALITIES, .prim_range = q < FACET_BVH_QUALITIES ? 0 : 16};
            struct facet_gfx12_build_report report;
            struct facet_gfx12_image a, b;

            CHECK(facet_gfx12_build_blas(&input, &options, NULL, NULL, &a, &report, NULL) ==
                  FACET_OK);
            CHECK(portable_gfx12_build_blas(&input, &options, NULL, NULL, &b, &report, NULL) ==
                  FACET_OK);
            CHECK_MSG(a.size == b.size && memcmp(a.bytes, b.bytes, (size_t)a.size) == 0,
                      "mesh %zu, quality %u: other bytes",
                      m,
                      q);
            free(a.bytes);
            free(b.bytes);
        }
        mesh_free(&meshes[m]);
    }
}
