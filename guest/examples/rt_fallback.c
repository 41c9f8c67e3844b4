/* RT: discovery first, software where the unit is missing.
 *
 * RTCAP tells which tests the machine has. The library asks it once per image (rt_open) and does in
 * plain C what is missing: without NODE4 (or NODE8) the boxes, without WATERTIGHT the triangles,
 * without XPHMG_RT everything; jobs become single rays. The sum over all hits is the same on every
 * machine:
 *
 *     facet run rt_fallback.elf
 *     facet run rt_fallback.elf --config full,rt_node4=0
 *     facet run rt_fallback.elf --config full,rt_watertight=0 */
#include "ball.h"
#include "software.h"

#include <string.h>
#include <xphmg.h>

enum { RAYS = 300 };

static float triangles[BALL_TRIANGLES][9];
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_hit hits[RAYS];
static bool found[RAYS];
static struct rt_bvh bvh;

/* FNV-1a over the bits of a hit. */
static uint32_t mix(uint32_t sum, const struct rt_hit *hit)
{
    uint32_t words[5] = {0, 0, 0, hit->triangle, hit->front};

    memcpy(&words[0], &hit->t, 4);
    memcpy(&words[1], &hit->u, 4);
    memcpy(&words[2], &hit->v, 4);
    for (int i = 0; i < 5; i++) {
        sum = (sum ^ words[i]) * 16777619u;
    }
    return sum;
}

static const char *by(bool unit)
{
    return unit ? "the unit" : "software";
}

/* Every triangle, without a tree: what must come out whatever the machine has. */
static bool brute_force(const struct xphmg_ray_record_32 *ray, struct rt_hit *best)
{
    struct xphmg_ray_record_32 shrinking = *ray;
    bool any = false;

    for (uint32_t i = 0; i < bvh.triangle_count; i++) {
        struct rt_software_hit hit;

        if (rt_software_triangle(bvh.triangles + (size_t)9 * i, &shrinking, &hit) &&
            (!any || hit.t < best->t)) {
            *best = (struct rt_hit){hit.t, hit.u, hit.v, i, 0, hit.front};
            shrinking.tmax = hit.t;
            any = true;
        }
    }
    return any;
}

int main(void)
{
    static struct rt_batch batch;
    uint32_t sum = 2166136261u;
    unsigned count = 0;

    ball_triangles(triangles);
    ball_build(&bvh, triangles);
    ball_rays(rays, RAYS);
    printf("boxes by %s, triangles by %s, rays by %s\n",
           by(bvh.boxes),
           by(bvh.leaves),
           bvh.jobs ? "jobs" : "the hart");
    rt_batch_make(&batch, aligned_alloc(64, (rt_batch_bytes(RAYS) + 63) / 64 * 64), RAYS);
    CHECK(rt_batch_trace(&batch, &bvh, rays, RAYS, false, found, hits) == RT_OK);
    for (int i = 0; i < RAYS; i++) {
        struct rt_hit hit = {0}, all = {0};

        CHECK((rt_closest(&bvh, &rays[i], &hit) == RT_HIT) == found[i]);
        CHECK(brute_force(&rays[i], &all) == found[i]);
        if (found[i]) {
            CHECK(hit.t == hits[i].t && hit.u == hits[i].u && hit.v == hits[i].v);
            CHECK(hit.triangle == hits[i].triangle && hit.front == hits[i].front);
            CHECK(all.t == hits[i].t && all.triangle == hits[i].triangle);
            CHECK(all.u == hits[i].u && all.v == hits[i].v && all.front == hits[i].front);
            sum = mix(sum, &hits[i]);
            count++;
        }
    }
    printf("%d rays: %u hits, sum %08x\n", RAYS, count, (unsigned)sum);
    CHECK(count > 0 && count < RAYS);
    return verdict("rt_fallback");
}
