/* A made scene: its triangles in a hierarchy, and a small picture of it as text. */
#include <facet/scene.h>
#include <stdio.h>

int main(void)
{
    static const char shades[] = " .:-=+*#%@";
    struct facet_world_view view = {NULL, 48, 18, 4};
    struct facet_bvh_scene geometry;
    struct facet_error err;
    struct facet_blob rgba;
    facet_world *world = NULL;
    facet_bvh *bvh = NULL;
    size_t size;

    if (facet_world_make("boxes", 0, &world, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    geometry = facet_world_get_geometry(world);
    if (facet_bvh_build(&geometry, NULL, &bvh, &err) != FACET_OK ||
        facet_world_draw(world, &view, &rgba, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    (void)facet_bvh_get_image(bvh, &size);
    printf("%u meshes, %zu bytes of BVH\n", (unsigned)geometry.mesh_count, size);
    for (unsigned y = 0; y < 18; y++) {
        for (unsigned x = 0; x < 48; x++) {
            const unsigned char *p = (const unsigned char *)rgba.data + 4 * (y * 48 + x);

            putchar(shades[(p[0] + 2 * p[1] + p[2]) * 9 / 1020]);
        }
        putchar('\n');
    }
    facet_blob_free(&rgba);
    facet_bvh_destroy(bvh);
    facet_world_destroy(world);
    return 0;
}
