/* Traces the same rays through scene.tiles in both ways of the library and prints what they find:
 * one line per ray, the bits of its eight numbers and of its hit. */
#include <rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xphmg.h>

enum { RAYS = 40, CAPACITY = 16, MOST = 1 << 22 };

static uint8_t image[MOST] __attribute__((aligned(64)));
static uint8_t queues[1 << 16] __attribute__((aligned(64)));

static uint32_t state = 1;

/* -1 to 1, a multiple of 2^-15. */
static float random_number(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)((int32_t)(state >> 16) - 32768) / 32768.0f;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void print(const char *what, bool found, const struct rt_hit *hit)
{
    printf(" %s", what);
    if (found) {
        printf(" %u %u %08x %08x %08x %d",
               (unsigned)hit->triangle,
               (unsigned)hit->leaf,
               (unsigned)bits_of(hit->t),
               (unsigned)bits_of(hit->u),
               (unsigned)bits_of(hit->v),
               hit->front);
    }
}

int main(void)
{
    FILE *file = fopen("scene.tiles", "rb");
    size_t size = file != NULL ? fread(image, 1, sizeof image, file) : 0;
    static struct xphmg_ray_record_32 rays[RAYS];
    static struct rt_hit hits[RAYS];
    static bool found[RAYS];
    struct rt_batch batch;
    struct rt_bvh bvh;
    int status = rt_open(&bvh, image, size);

    if (status != RT_OK || rt_batch_bytes(CAPACITY) > sizeof queues) {
        printf("rt_open: %d\n", status);
        return 1;
    }
    printf("stack entry %u: %u %u %u\n",
           (unsigned)sizeof(struct xphmg_stack_entry),
           (unsigned)offsetof(struct xphmg_stack_entry, node_idx),
           (unsigned)offsetof(struct xphmg_stack_entry, tnear),
           (unsigned)offsetof(struct xphmg_stack_entry, tfar));
    rt_use(&bvh);
    rt_batch_make(&batch, queues, CAPACITY);
    for (int i = 0; i < RAYS; i++) {
        for (int a = 0; a < 3; a++) {
            rays[i].origin[a] = 3 * random_number();
            rays[i].direction[a] = random_number() / 2 - rays[i].origin[a];
        }
        rays[i].tmax = __builtin_inff();
    }
    status = rt_batch_trace(&batch, &bvh, rays, RAYS, false, found, hits);
    if (status != RT_OK) {
        printf("rt_batch_trace: %d\n", status);
        return 1;
    }
    for (int i = 0; i < RAYS; i++) {
        struct rt_hit hit;
        bool closest = rt_closest(&bvh, &rays[i], &hit) == RT_HIT;
        const float *number = rays[i].origin;

        printf("ray");
        for (int k = 0; k < 3; k++) {
            printf(" 0x%08x", (unsigned)bits_of(number[k]));
        }
        for (int k = 0; k < 3; k++) {
            printf(" 0x%08x", (unsigned)bits_of(rays[i].direction[k]));
        }
        print("walk", closest, &hit);
        print("any", false, &hit);
        printf(" %d", (int)rt_any(&bvh, &rays[i]));
        print("job", found[i], &hits[i]);
        printf("\n");
    }
    return 0;
}
