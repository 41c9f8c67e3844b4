/* A chain of nodes, each with one child that the ray meets, down to a last one whose children it
 * misses: what the walk says of chains that are as long as a tree may be deep, and one longer. */
#include <rt.h>
#include <stdio.h>
#include <string.h>
#include <xphmg.h>

static uint8_t image[1 << 16] __attribute__((aligned(64)));
static struct xphmg_bvh_node4_32 chain[RT_LEVELS] __attribute__((aligned(64)));

/* Node i has the next one as its only child, in a box from `lo` to `lo` + 2 on every axis. */
static void link_node(unsigned i, float lo)
{
    memset(&chain[i], 0, sizeof chain[i]);
    for (int k = 0; k < 3; k++) {
        chain[i].child[0].min[k] = lo;
        chain[i].child[0].max[k] = lo + 2;
    }
    chain[i].child0_idx = i + 1;
    chain[i].child_flags = XPHMG_BVH_NODE4_TYPE0_NODE;
}

int main(void)
{
    const struct xphmg_ray_record_32 ray = {
        .origin = {-3, 0, 0}, .direction = {1, 0, 0}, .tmax = __builtin_inff()};
    FILE *file = fopen("scene.tiles", "rb");
    size_t size = file != NULL ? fread(image, 1, sizeof image, file) : 0;
    struct rt_bvh bvh;
    struct rt_hit hit;

    if (rt_open(&bvh, image, size) != RT_OK) {
        return 1;
    }
    bvh.heap = (const uint8_t *)chain;
    rt_use(&bvh);
    for (unsigned nodes = RT_LEVELS - 1; nodes <= RT_LEVELS; nodes++) {
        for (unsigned i = 0; i < nodes; i++) {
            link_node(i, i + 1 < nodes ? -1 : 100);
        }
        printf(
            "%u nodes: %d %d\n", nodes, (int)rt_closest(&bvh, &ray, &hit), (int)rt_any(&bvh, &ray));
    }
    return 0;
}
