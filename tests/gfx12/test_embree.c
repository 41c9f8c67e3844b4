/* The tracer against Embree (robust mode): the same primitive for every ray, unless the ray passes
 * an edge so closely that binary32 cannot tell, which is decided in binary64. And closed meshes
 * from inside: no ray gets out. */
#include "harness.h"

#include "bench/embree_peer.h"
#include "bench/gfx12_rays.h"
#include "exact_ray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- comparing ---- */

struct tally {
    size_t rays, hits, same, edge, depth, unexplained;
};

#define CLOSE 1e-6

static struct exact exact_hit(const struct trace_scene *s,
                              const struct facet_gfx12_batch_ray *ray,
                              uint32_t instance,
                              uint32_t primitive)
{
    const struct facet_gfx12_hit hit = {.instance_user_data = instance,
                                        .primitive_index = primitive};
    double corner[3][3];

    hit_triangle(s, &hit, corner);
    return intersect_exact(ray, corner);
}

static void compare_hit(const struct trace_scene *s,
                        const struct facet_gfx12_batch_ray *ray,
                        const struct facet_gfx12_hit *ours,
                        const struct embree_hit *theirs,
                        struct tally *tally)
{
    struct exact a = {0}, b = {0};

    tally->rays++;
    tally->hits += ours->found;
    if (ours->found == theirs->found &&
        (!ours->found || (ours->primitive_index == theirs->primitive &&
                          ours->instance_user_data == theirs->instance))) {
        tally->same++;
        return;
    }
    if (ours->found) {
        a = exact_hit(s, ray, ours->instance_user_data, ours->primitive_index);
    }
    if (theirs->found) {
        b = exact_hit(s, ray, theirs->instance, theirs->primitive);
    }
    if ((ours->found && fabs(a.edge) < CLOSE) || (theirs->found && fabs(b.edge) < CLOSE)) {
        tally->edge++;
    } else if (a.valid && b.valid && a.edge >= 0 && b.edge >= 0 &&
               fabs(a.t - b.t) <= CLOSE * fmax(fabs(a.t), fabs(b.t))) {
        tally->depth++; /* both are hit, at the same distance */
    } else {
        tally->unexplained++;
        CHECK_MSG(
            false,
            "ray %a %a %a -> %a %a %a: primitive %d of %d (t %a, edge %g), Embree: %d of %d (t %a, "
            "edge %g)",
            ray->origin[0],
            ray->origin[1],
            ray->origin[2],
            ray->direction[0],
            ray->direction[1],
            ray->direction[2],
            ours->found ? (int)ours->primitive_index : -1,
            (int)ours->instance_user_data,
            ours->t,
            a.edge,
            theirs->found ? (int)theirs->primitive : -1,
            (int)theirs->instance,
            theirs->t,
            b.edge);
    }
}

static float random_unit(void)
{
    return (float)(harness_random() >> 40) * 0x1p-24f;
}

/* From a sphere around the scene to a point inside its box. */
static void
random_rays(const struct trace_scene *s, struct facet_gfx12_batch_ray *rays, size_t count)
{
    const struct facet_bounds *b = &s->scene.bounds;

    for (size_t i = 0; i < count; i++) {
        double z = 2 * (double)random_unit() - 1, turn = 6.283185307179586 * (double)random_unit();
        double radius = 0;
        const double from[3] = {sqrt(1 - z * z) * cos(turn), z, sqrt(1 - z * z) * sin(turn)};

        for (int k = 0; k < 3; k++) {
            radius = fmax(radius, (double)b->hi[k] - (double)b->lo[k]);
        }
        rays[i] = (struct facet_gfx12_batch_ray){.t_min = 0, .t_max = INFINITY};
        for (int k = 0; k < 3; k++) {
            double centre = 0.5 * ((double)b->lo[k] + (double)b->hi[k]);
            double to =
                (double)b->lo[k] + (double)random_unit() * ((double)b->hi[k] - (double)b->lo[k]);

            rays[i].origin[k] = (float)(centre + radius * from[k]);
            rays[i].direction[k] = (float)(to - (centre + radius * from[k]));
        }
    }
}

static void trace_all(const struct trace_scene *s,
                      const struct facet_gfx12_batch_ray *rays,
                      size_t count,
                      struct facet_gfx12_hit *hits)
{
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    facet_gfx12_tracer *tracer;
    struct facet_error err = {0};

    trace_scene_unit(s, &unit);
    facet_gfx12_query_init(&query, rays[0].origin, rays[0].direction);
    if (CHECK_MSG(
            facet_gfx12_tracer_create(&unit, NULL, &tracer, &err) == FACET_OK, "%s", err.message)) {
        CHECK(facet_gfx12_tracer_used(tracer) != FACET_GFX12_PATH_REFERENCE);
        CHECK(facet_gfx12_tracer_batch(tracer, &query, rays, count, hits, NULL, NULL, &err) ==
              FACET_OK);
        facet_gfx12_tracer_destroy(tracer);
    }
}

/* Half of the rays from outside, half bouncing off what they hit. */
static void compare_scene(const char *name, uint32_t size, uint32_t least_triangles)
{
    const size_t count = harness_long() ? 600000 : 130000;
    struct facet_gfx12_batch_ray *rays = malloc(2 * count * sizeof rays[0]);
    struct facet_gfx12_hit *hits = malloc(2 * count * sizeof hits[0]);
    struct embree_hit *theirs = malloc(2 * count * sizeof theirs[0]);
    struct embree_peer *peer = NULL;
    struct facet_error err = {0};
    struct trace_scene s;
    struct tally tally = {0};
    size_t bounces;

    if (!CHECK_MSG(trace_scene_make(name, size, FACET_BVH_HIGH, &s, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        return;
    }
    CHECK_MSG(facet_scene_instanced_triangles(&s.scene) >= least_triangles, "too few triangles");
    if (embree_peer_create(&s.scene, true, &peer, &err) != FACET_OK) {
        harness_skip(err.message);
    } else {
        random_rays(&s, rays, count);
        trace_all(&s, rays, count, hits);
        bounces = diffuse_rays(&s, rays, hits, count, 0, rays + count);
        trace_all(&s, rays + count, bounces, hits + count);
        embree_peer_trace(peer, rays, count + bounces, theirs);
        for (size_t i = 0; i < count + bounces; i++) {
            compare_hit(&s, &rays[i], &hits[i], &theirs[i], &tally);
        }
        CHECK_EQ(tally.unexplained, 0);
        CHECK_MSG(tally.hits > count / 4, "only %zu hits", tally.hits);
        CHECK_MSG(tally.edge + tally.depth < tally.rays / 200,
                  "%zu of %zu rays at an edge, %zu at equal distance",
                  tally.edge,
                  tally.rays,
                  tally.depth);
        if (getenv("FACET_TEST_VERBOSE") != NULL) {
            fprintf(stderr,
                    "%s: %zu rays, %zu hits, %zu same, %zu at an edge, %zu at equal distance, %zu "
                    "unexplained\n",
                    name,
                    tally.rays,
                    tally.hits,
                    tally.same,
                    tally.edge,
                    tally.depth,
                    tally.unexplained);
        }
        embree_peer_destroy(peer);
    }
    trace_scene_free(&s);
    free(rays);
    free(hits);
    free(theirs);
}

TEST(knot, "G12-252")
{
    compare_scene("knot", 1100, 300000);
}

TEST(terrain, "G12-252")
{
    compare_scene("terrain", 400, 300000);
}

TEST(sphere, "G12-252")
{
    compare_scene("sphere", 290, 300000);
}

TEST(instances, "G12-252 G12-239 G12-240")
{
    compare_scene("instances", 64, 300000);
}

/* ---- closed meshes ---- */

/* Rays that start just below the surface, inside the solid, must hit it. One that gets out counts
 * as a leak unless an edge explains it: some triangle that binary64 finds in its way is passed
 * close to its edge. */
static void leaks(const char *name, uint32_t size, double depth)
{
    const size_t count = harness_long() ? 600000 : 130000;
    struct facet_gfx12_batch_ray *rays = malloc(count * sizeof rays[0]);
    struct facet_gfx12_hit *hits = malloc(count * sizeof hits[0]);
    struct facet_error err = {0};
    struct trace_scene s;
    size_t leaked = 0, at_edge = 0;

    if (!CHECK_MSG(trace_scene_make(name, size, FACET_BVH_HIGH, &s, &err) == FACET_OK,
                   "%s",
                   err.message)) {
        return;
    }
    const struct facet_scene_mesh *mesh = &s.scene.meshes[s.scene.instances[0].mesh];
    for (size_t i = 0; i < count; i++) {
        const struct facet_gfx12_hit at = {.primitive_index =
                                               (uint32_t)(harness_random() % mesh->triangle_count)};
        double corner[3][3], e1[3], e2[3], n[3];

        hit_triangle(&s, &at, corner);
        rays[i] = (struct facet_gfx12_batch_ray){.t_min = 0, .t_max = INFINITY};
        for (int k = 0; k < 3; k++) {
            e1[k] = corner[1][k] - corner[0][k];
            e2[k] = corner[2][k] - corner[0][k];
        }
        cross3(e1, e2, n);
        double length = length3(n);
        for (int k = 0; k < 3; k++) {
            double centre = (corner[0][k] + corner[1][k] + corner[2][k]) / 3;
            rays[i].origin[k] = (float)(length > 0 ? centre - depth * n[k] / length : centre);
            rays[i].direction[k] = 2 * random_unit() - 1;
        }
    }
    trace_all(&s, rays, count, hits);
    for (size_t i = 0; i < count; i++) {
        bool edge = false;

        if (hits[i].found) {
            continue;
        }
        for (uint32_t p = 0; p < mesh->triangle_count && !edge; p++) {
            struct exact x = exact_hit(&s, &rays[i], 0, p);
            edge = x.valid && x.t > 0 && fabs(x.edge) < CLOSE;
        }
        leaked += !edge;
        at_edge += edge;
    }
    CHECK_MSG(leaked == 0, "%zu of %zu rays leave the %s", leaked, count, name);
    CHECK_MSG(at_edge < count / 1000, "%zu rays slip through edges", at_edge);
    if (getenv("FACET_TEST_VERBOSE") != NULL) {
        fprintf(stderr,
                "%s: %zu rays from inside, %zu leaks, %zu through edges\n",
                name,
                count,
                leaked,
                at_edge);
    }
    trace_scene_free(&s);
    free(rays);
    free(hits);
}

TEST(no_leak_from_sphere, "")
{
    leaks("sphere", 290, 1e-3);
}

TEST(no_leak_from_knot, "")
{
    leaks("knot", 1100, 1e-3);
}
