/* A hierarchy from arrays in both formats: build, check, trace, and move a vertex. */
#include <facet/bvh.h>
#include <stdio.h>

static float corners[4][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}};
static const uint32_t triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
static const float origins[3][3] = {{0.5F, 0.25F, 5}, {0.25F, 1.5F, 5}, {3, 3, 5}};
static const float down[3] = {0, 0, -1};

static void trace(facet_bvh *bvh, struct facet_error *err)
{
    struct facet_bvh_rays rays = {3, origins[0], sizeof origins[0], down, 0}; /* one direction */
    struct facet_bvh_hit hits[3];

    if (facet_bvh_trace(bvh, NULL, &rays, hits, 0, err) != FACET_OK) {
        puts(err->message);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if ((hits[i].flags & FACET_BVH_HIT) != 0) {
            unsigned triangle = hits[i].primitive;

            printf("  ray %d: triangle %u at t = %g\n", i, triangle, (double)hits[i].t);
        }
    }
}

int main(void)
{
    struct facet_bvh_mesh mesh = {corners[0], 0, 4, triangles[0], 0, 2};
    struct facet_bvh_scene scene = {&mesh, 1};
    struct facet_bvh_config config = {FACET_BVH_FORMAT_GFX12};
    struct facet_error err;

    for (int format = 0; format < 2; format++) {
        facet_bvh *bvh, *moved;
        uint64_t findings, errors;
        size_t size;

        config.format = (enum facet_bvh_format)format;
        corners[2][2] = 0;
        if (facet_bvh_build(&scene, &config, &bvh, &err) != FACET_OK ||
            facet_bvh_check(bvh, NULL, 0, &findings, &errors, &err) != FACET_OK) {
            puts(err.message);
            return 2;
        }
        (void)facet_bvh_get_image(bvh, &size);
        printf(
            "%s: %zu bytes, %u errors\n", format == 0 ? "GFX12" : "XPHMG", size, (unsigned)errors);
        trace(bvh, &err);
        corners[2][2] = 1; /* one corner up, the same tree */
        if (facet_bvh_refit(bvh, &scene, &moved, &err) == FACET_OK) {
            trace(moved, &err);
            facet_bvh_destroy(moved);
        }
        facet_bvh_destroy(bvh);
    }
    return 0;
}
