/* XSUBMIT.RT against Embree in robust mode: on every ray the same answer, hit or miss, and for hits
 * a distance within 4 ulp of the scale (the largest coordinate or distance that takes part), unless
 * rounding explains the difference, which is decided in binary64:
 *
 *   edge     the ray passes an edge of a triangle that one of them reports within 1e-6 of the scale
 *   grazing  both report it within 4 ulp over the cosine between ray and normal: a ray along a
 *            surface moves along it by more than the error across it
 *
 * Anything else is unexplained and fails. */
#include "harness.h"

#include "../gfx12/exact_ray.h"
#include "base/float.h"
#include "bench/embree_peer.h"
#include "bench/rt_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-6
#define FOUR_ULP (4 * 0x1p-23)

enum { JOB = 1 << 16 };

struct tally {
    size_t rays, hits, same, other, edge, grazing, unexplained;
};

struct run {
    struct rt_scene scene;
    struct rt_machine *machine;
    struct embree_peer *peer;
    struct rt_hit hits[JOB];
    struct embree_hit theirs[JOB];
    struct facet_gfx12_hit plain[JOB];
    struct facet_gfx12_batch_ray rays[JOB], bounced[JOB];
};

static struct exact exact_hit(const struct run *r,
                              const struct facet_gfx12_batch_ray *ray,
                              uint32_t instance,
                              uint32_t primitive)
{
    const struct facet_gfx12_hit hit = {.instance_user_data = instance,
                                        .primitive_index = primitive};
    double corner[3][3];

    hit_triangle(&r->scene.trace, &hit, corner);
    return intersect_exact(ray, corner);
}

/* How far a distance may be off, in units of the ray's direction. */
static double tolerance(const struct facet_gfx12_batch_ray *ray, const struct exact *e)
{
    const double d[3] = {
        (double)ray->direction[0], (double)ray->direction[1], (double)ray->direction[2]};

    return FOUR_ULP * e->scale / length3(d);
}

static void compare(const struct run *r,
                    const struct facet_gfx12_batch_ray *ray,
                    const struct rt_hit *ours,
                    const struct embree_hit *theirs,
                    struct tally *tally)
{
    const double t = (double)facet_float_of(ours->t), u = (double)theirs->t;
    struct exact a = {0}, b = {0};

    tally->rays++;
    tally->hits += ours->found;
    if (ours->found) {
        a = exact_hit(r, ray, ours->instance, ours->primitive);
    }
    if (theirs->found) {
        b = exact_hit(r, ray, theirs->instance, theirs->primitive);
    }
    if (ours->found == theirs->found && (!ours->found || fabs(t - u) <= tolerance(ray, &a))) {
        tally->same++;
        tally->other += ours->found && ours->primitive != theirs->primitive;
    } else if ((ours->found && fabs(a.edge) < CLOSE) || (theirs->found && fabs(b.edge) < CLOSE)) {
        tally->edge++;
    } else if (ours->found && theirs->found && a.valid && b.valid &&
               fabs(t - a.t) * a.slant <= tolerance(ray, &a) &&
               fabs(u - b.t) * b.slant <= tolerance(ray, &b) &&
               fabs(a.t - b.t) <= tolerance(ray, &a)) {
        tally->grazing++;
    } else {
        tally->unexplained++;
        CHECK_MSG(false,
                  "ray %a %a %a -> %a %a %a: triangle %d (t %a, exactly %a, edge %g, slant %g), "
                  "Embree: %d (t %a, exactly %a, edge %g, slant %g)",
                  (double)ray->origin[0],
                  (double)ray->origin[1],
                  (double)ray->origin[2],
                  (double)ray->direction[0],
                  (double)ray->direction[1],
                  (double)ray->direction[2],
                  ours->found ? (int)ours->primitive : -1,
                  t,
                  a.t,
                  a.edge,
                  a.slant,
                  theirs->found ? (int)theirs->primitive : -1,
                  u,
                  b.t,
                  b.edge,
                  b.slant);
    }
}

/* One job; the hits stay in r->hits. */
static bool
trace(struct run *r, const struct facet_gfx12_batch_ray *rays, size_t count, struct tally *tally)
{
    struct facet_error err = {0};

    if (!CHECK_MSG(rt_machine_load(r->machine, rays, count, &err) == FACET_OK &&
                       rt_machine_run(r->machine, &err) == FACET_OK &&
                       rt_machine_hits(r->machine, r->hits, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        return false;
    }
    embree_peer_trace(r->peer, rays, count, r->theirs);
    for (size_t i = 0; i < count; i++) {
        compare(r, &rays[i], &r->hits[i], &r->theirs[i], tally);
    }
    return true;
}

static void tell(const char *name, const char *what, const struct tally *t)
{
    CHECK_EQ(t->unexplained, 0);
    CHECK_MSG(t->edge + t->grazing < t->rays / 200,
              "%s %s: %zu at an edge, %zu grazing of %zu rays",
              name,
              what,
              t->edge,
              t->grazing,
              t->rays);
    if (getenv("FACET_TEST_VERBOSE") != NULL) {
        fprintf(stderr,
                "%s %s: %zu rays, %zu hits, %zu same (%zu of them another triangle at the same "
                "distance), %zu at an edge, %zu grazing, %zu unexplained\n",
                name,
                what,
                t->rays,
                t->hits,
                t->same,
                t->other,
                t->edge,
                t->grazing,
                t->unexplained);
    }
}

/* Camera rays row by row in jobs, each followed by the diffuse rays from its hits. */
static void compare_all(struct run *r, const char *name)
{
    const size_t wanted = harness_long() ? 1000000 : 60000;
    const uint32_t width = harness_long() ? 1280 : 320, height = harness_long() ? 800 : 200;
    const size_t count = (size_t)width * height;
    struct facet_gfx12_batch_ray *all = malloc(count * sizeof *all);
    struct tally primary = {0}, diffuse = {0};
    bool ok = CHECK(all != NULL);

    if (ok) {
        camera_rays(&r->scene.trace, width, height, all);
    }
    for (uint32_t sample = 0; ok && diffuse.rays < wanted; sample++) {
        for (size_t at = 0; ok && at < count && (sample == 0 || diffuse.rays < wanted); at += JOB) {
            struct tally again = {0};
            size_t part = count - at < JOB ? count - at : JOB, bounces;

            memcpy(r->rays, all + at, part * sizeof *all);
            ok = trace(r, r->rays, part, sample == 0 ? &primary : &again);
            rt_hits_for_rays(r->hits, part, r->plain);
            bounces = diffuse_rays(&r->scene.trace, r->rays, r->plain, part, sample, r->bounced);
            ok = ok && (bounces == 0 || trace(r, r->bounced, bounces, &diffuse));
        }
        ok = ok && diffuse.rays != 0;
    }
    CHECK(primary.rays >= wanted && diffuse.rays >= wanted);
    /* Of a sphere no bounce comes back. */
    CHECK_MSG(primary.hits > primary.rays / 8, "%s: only %zu hits", name, primary.hits);
    CHECK_EQ(diffuse.hits > diffuse.rays / 8, strcmp(name, "sphere") != 0);
    tell(name, "primary", &primary);
    tell(name, "diffuse", &diffuse);
    free(all);
}

static void compare_scene(const char *name, uint32_t size, unsigned children)
{
    const struct rt_machine_config config = {.rays = JOB};
    struct run *r = calloc(1, sizeof *r);
    struct facet_error err = {0};

    if (r == NULL ||
        !CHECK_MSG(rt_scene_make(name, size, children, &r->scene, &err) == FACET_OK &&
                       rt_machine_create(&r->scene.image, &config, &r->machine, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        free(r);
        return;
    }
    if (embree_peer_create(&r->scene.trace.scene, true, &r->peer, &err) != FACET_OK) {
        harness_skip(err.message);
    } else {
        compare_all(r, name);
    }
    embree_peer_destroy(r->peer);
    rt_machine_destroy(r->machine);
    rt_scene_free(&r->scene);
    free(r);
}

/* In long mode 300 000 triangles each. */
TEST(terrain, "")
{
    compare_scene("terrain", harness_long() ? 400 : 100, 8);
}

TEST(knot, "")
{
    compare_scene("knot", harness_long() ? 1100 : 300, 8);
}

TEST(sphere, "")
{
    compare_scene("sphere", harness_long() ? 290 : 80, 4);
}

/* Walls along the axes, instances: Embree turns the rays, the image holds turned triangles. */
TEST(room, "")
{
    compare_scene("room", harness_long() ? 40 : 4, 8);
}
