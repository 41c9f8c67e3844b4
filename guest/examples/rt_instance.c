/* MTX, RT: one ball in memory, many in the scene.
 *
 * Instancing moves the ray instead of the triangles: origin and direction go through the inverse of
 * the instance's matrix (MTX.MUL, 4x4; a direction has w = 0), then the ray meets the one BVH. The
 * direction is not normalised, so t means the same in both spaces and hits of different instances
 * compare as they are. Checked against balls that were moved triangle by triangle. */
#include "ball.h"

#include <stdint.h>
#include <xphmg.h>

enum { RAYS = 200, INSTANCES = 3, SHAPE_4X4 = 0xF };

/* Object to world: scale s, quarter turn about y where `turned`, then move. */
struct instance {
    float scale, move[3];
    bool turned;
};

static const struct instance instances[INSTANCES] = {
    {0.5f, {-1, 0, 0}, false}, {0.75f, {1, 0.5f, -0.5f}, true}, {0.25f, {0, -1, 1}, true}};

static float triangles[BALL_TRIANGLES][9];
static struct xphmg_ray_record_32 rays[RAYS];
static struct rt_bvh ball;

static void to_world(const struct instance *in, const float p[3], float out[3])
{
    float x = in->turned ? p[2] : p[0], z = in->turned ? -p[0] : p[2];

    out[0] = in->scale * x + in->move[0];
    out[1] = in->scale * p[1] + in->move[1];
    out[2] = in->scale * z + in->move[2];
}

/* World to object, row by row. */
static void inverse(const struct instance *in, float m[16])
{
    static const float straight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const float turned[3][3] = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};

    for (int r = 0; r < 3; r++) {
        const float *row = in->turned ? turned[r] : straight[r];

        m[4 * r + 3] = 0;
        for (int c = 0; c < 3; c++) {
            m[4 * r + c] = row[c] / in->scale;
            m[4 * r + 3] -= m[4 * r + c] * in->move[c];
        }
        m[12 + r] = 0;
    }
    m[15] = 1;
}

/* The ray record takes MTX's results as they come: three numbers of the origin, its w overwritten
 * by the direction, whose own w = 0 falls on tmin, which is put back. */
static struct xphmg_ray_record_32 to_object(const struct instance *in,
                                            const struct xphmg_ray_record_32 *ray)
{
    const float origin[4] = {ray->origin[0], ray->origin[1], ray->origin[2], 1};
    const float direction[4] = {ray->direction[0], ray->direction[1], ray->direction[2], 0};
    struct xphmg_ray_record_32 out;
    float m[16];

    inverse(in, m);
    __asm__ volatile("" ::"r"(m), "r"(origin), "r"(direction) : "memory");
    xphmg_mtx_ld(m, SHAPE_4X4, 0, 1);
    xphmg_mtx_mul(out.origin, origin, SHAPE_4X4);
    xphmg_mtx_mul(out.direction, direction, SHAPE_4X4);
    __asm__ volatile("" ::"r"(&out) : "memory");
    out.tmin = ray->tmin;
    out.tmax = ray->tmax;
    return out;
}

/* The nearest hit of all instances; INSTANCES for none. */
static int trace(struct xphmg_ray_record_32 ray, struct rt_hit *best)
{
    int found = INSTANCES;

    for (int i = 0; i < INSTANCES; i++) {
        struct xphmg_ray_record_32 local = to_object(&instances[i], &ray);
        struct rt_hit hit;

        if (rt_closest(&ball, &local, &hit) == RT_HIT) {
            *best = hit;
            ray.tmax = hit.t;
            found = i;
        }
    }
    return found;
}

int main(void)
{
    static float moved[INSTANCES][BALL_TRIANGLES][9];
    struct rt_bvh copies[INSTANCES];
    unsigned hits[INSTANCES + 1] = {0}, same = 0;

    ball_triangles(triangles);
    for (int i = 0; i < INSTANCES; i++) {
        for (int k = 0; k < 3 * BALL_TRIANGLES; k++) {
            to_world(&instances[i], &triangles[0][0] + 3 * k, &moved[i][0][0] + 3 * k);
        }
        ball_build(&copies[i], moved[i]);
    }
    ball_build(&ball, triangles);
    ball_rays(rays, RAYS);
    for (int n = 0; n < RAYS; n++) {
        struct rt_hit hit = {0}, copy, nearest = {.t = INFINITY};
        int found, expected = INSTANCES;

        rt_use(&ball);
        found = trace(rays[n], &hit);
        for (int i = 0; i < INSTANCES; i++) {
            rt_use(&copies[i]);
            if (rt_closest(&copies[i], &rays[n], &copy) == RT_HIT && copy.t < nearest.t) {
                nearest = copy;
                expected = i;
            }
        }
        hits[found]++;
        CHECK(found == expected);
        CHECK(found == INSTANCES || fabsf(hit.t - nearest.t) < 1e-5f * nearest.t);
        same += found == INSTANCES || ball.origins[2 * hit.triangle + 1] ==
                                          copies[found].origins[2 * nearest.triangle + 1];
    }
    printf("%d rays, %d instances of %d triangles: %u, %u, %u hits, %u misses\n",
           RAYS,
           INSTANCES,
           BALL_TRIANGLES,
           hits[0],
           hits[1],
           hits[2],
           hits[3]);
    CHECK(hits[0] > 0 && hits[1] > 0 && hits[2] > 0 && hits[3] > 0);
    CHECK(same == RAYS);
    return verdict("rt_instance");
}
