/* No ray leaves a closed mesh: from inside a sphere, a knotted tube and a crumpled sphere with
 * random vertices, in random directions and aimed at vertices and edges, every ray of XSUBMIT.RT
 * hits. */
#include "harness.h"

#include "bench/rt_machine.h"
#include "render/rt_input.h"
#include "scene/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 1 << 16 };

struct mesh {
    struct facet_bvh_triangle *triangles;
    uint32_t count;
};

static double uniform(void)
{
    return (double)(harness_random() >> 11) * 0x1p-53;
}

/* ---- where rays start ---- */

/* Just below the surface: the middle of a triangle, a little against its normal. */
static void below_surface(const struct mesh *mesh, double depth, float out[3])
{
    const struct facet_bvh_triangle *t = &mesh->triangles[harness_random() % mesh->count];
    double e1[3], e2[3], n[3], length;

    for (int k = 0; k < 3; k++) {
        e1[k] = (double)t->vertex[1][k] - (double)t->vertex[0][k];
        e2[k] = (double)t->vertex[2][k] - (double)t->vertex[0][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = e1[(k + 1) % 3] * e2[(k + 2) % 3] - e1[(k + 2) % 3] * e2[(k + 1) % 3];
    }
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) {
        double middle =
            ((double)t->vertex[0][k] + (double)t->vertex[1][k] + (double)t->vertex[2][k]) / 3;

        out[k] = (float)(middle - (length > 0 ? depth * n[k] / length : 0));
    }
}

/* A third each in any direction, at a vertex, and at a point of an edge. */
static struct facet_gfx12_batch_ray ray_from_inside(const struct mesh *mesh, double depth)
{
    const struct facet_bvh_triangle *t = &mesh->triangles[harness_random() % mesh->count];
    const unsigned kind = (unsigned)(harness_random() % 3), c = (unsigned)(harness_random() % 3);
    const double w = kind == 1 ? 0 : uniform();
    struct facet_gfx12_batch_ray ray = {.t_min = 0, .t_max = INFINITY};

    if (depth > 0) {
        below_surface(mesh, depth, ray.origin);
    } else { /* around the middle; often exactly there */
        for (int k = 0; k < 3; k++) {
            ray.origin[k] = harness_random() % 8 == 0 ? 0 : (float)(0.3 * uniform() - 0.15);
        }
    }
    for (int k = 0; k < 3; k++) {
        double target = (1 - w) * (double)t->vertex[c][k] + w * (double)t->vertex[(c + 1) % 3][k];

        ray.direction[k] = (float)(kind == 0 ? 2 * uniform() - 1 : target - (double)ray.origin[k]);
    }
    return ray;
}

/* ---- meshes ---- */

static struct mesh of_recipe(const char *name, uint32_t size)
{
    struct facet_render_rt_input input = {NULL, 0};
    struct facet_error err = {0};
    struct facet_scene scene;

    facet_scene_init(&scene);
    CHECK_MSG(facet_scene_make(name, size, &scene, &err) == FACET_OK &&
                  facet_scene_finish(&scene, &err) == FACET_OK &&
                  facet_render_rt_input_make(&scene, &input, &err) == FACET_OK,
              "%s",
              err.message);
    facet_scene_free(&scene);
    return (struct mesh){input.triangles, input.count};
}

/* A sphere as a net of rows and columns whose vertices are moved at random, so that triangles of
 * all shapes overlap and fold. Whatever they do, the net stays closed around the middle: no vertex
 * comes nearer to it than 0.5, and no triangle is large. */
static struct mesh crumpled(uint32_t rows, uint32_t columns)
{
    struct mesh mesh = {calloc((size_t)2 * rows * columns, sizeof *mesh.triangles), 0};
    float(*at)[3] = calloc((size_t)(rows + 1) * columns, sizeof *at);

    if (!CHECK(mesh.triangles != NULL && at != NULL)) {
        free(at);
        return mesh;
    }
    for (uint32_t i = 0; i <= rows; i++) {
        for (uint32_t k = 0; k < columns; k++) {
            bool pole = i == 0 || i == rows;
            double down = 3.141592653589793 * ((double)i + (pole ? 0 : uniform() - 0.5)) / rows;
            double turn = 6.283185307179586 * ((double)k + 1.5 * uniform()) / columns;
            double radius = pole ? 1 : 1 + 0.02 * uniform();

            at[i * columns + k][0] = pole ? 0 : (float)(radius * sin(down) * cos(turn));
            at[i * columns + k][1] = pole ? (i == 0 ? 1 : -1) : (float)(radius * cos(down));
            at[i * columns + k][2] = pole ? 0 : (float)(radius * sin(down) * sin(turn));
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < columns; k++) {
            const uint32_t a = i * columns + k, b = i * columns + (k + 1) % columns;
            const uint32_t corner[2][3] = {{a, b, a + columns}, {b, b + columns, a + columns}};

            for (unsigned h = 0; h < 2; h++) {
                if ((h == 0 && i == 0) || (h == 1 && i == rows - 1)) {
                    continue; /* two corners are the pole */
                }
                for (unsigned c = 0; c < 3; c++) {
                    memcpy(mesh.triangles[mesh.count].vertex[c], at[corner[h][c]], 12);
                }
                mesh.triangles[mesh.count].primitive = mesh.count;
                mesh.count++;
            }
        }
    }
    free(at);
    return mesh;
}

/* ---- rays ---- */

static void no_leaks(const char *name, struct mesh mesh, unsigned children, double depth)
{
    const struct facet_rtbvh_options options = {.children = children, .element = FACET_FMT_FP32};
    const struct rt_machine_config config = {.rays = JOB};
    const size_t wanted = harness_long() ? 3400000 : 60000;
    struct facet_gfx12_batch_ray *rays = malloc(JOB * sizeof *rays);
    struct rt_hit *hits = malloc(JOB * sizeof *hits);
    struct rt_machine *machine = NULL;
    struct facet_rtbvh_image image = {NULL, 0};
    struct facet_rtbvh_report report;
    struct facet_error err = {0};
    size_t done = 0, leaked = 0;
    bool ok =
        mesh.triangles != NULL && rays != NULL && hits != NULL &&
        CHECK_MSG(facet_rtbvh_build(
                      mesh.triangles, mesh.count, &options, NULL, NULL, &image, &report, &err) ==
                          FACET_OK &&
                      rt_machine_create(&image, &config, &machine, &err) == FACET_OK,
                  "%s",
                  err.message);

    CHECK_MSG(!harness_long() || mesh.count >= 100000, "%u triangles", mesh.count);
    while (ok && done < wanted) {
        const size_t part = wanted - done < JOB ? wanted - done : JOB;

        for (size_t i = 0; i < part; i++) {
            rays[i] = ray_from_inside(&mesh, depth);
        }
        ok = CHECK_MSG(rt_machine_load(machine, rays, part, &err) == FACET_OK &&
                           rt_machine_run(machine, &err) == FACET_OK &&
                           rt_machine_hits(machine, hits, &err) == FACET_OK,
                       "%s",
                       err.message);
        for (size_t i = 0; ok && i < part; i++) {
            if (!hits[i].found && leaked++ < 10) {
                CHECK_MSG(false,
                          "%s: %a %a %a -> %a %a %a gets out",
                          name,
                          (double)rays[i].origin[0],
                          (double)rays[i].origin[1],
                          (double)rays[i].origin[2],
                          (double)rays[i].direction[0],
                          (double)rays[i].direction[1],
                          (double)rays[i].direction[2]);
            }
        }
        done += part;
    }
    CHECK_EQ(leaked, 0);
    if (getenv("FACET_TEST_VERBOSE") != NULL) {
        fprintf(stderr, "%s: %u triangles, %zu rays, %zu leaks\n", name, mesh.count, done, leaked);
    }
    rt_machine_destroy(machine);
    free(image.bytes);
    free(mesh.triangles);
    free(rays);
    free(hits);
}

TEST(sphere, "RT-164")
{
    no_leaks("sphere", of_recipe("sphere", harness_long() ? 290 : 60), 4, 1e-3);
}

TEST(knot, "RT-164")
{
    no_leaks("knot", of_recipe("knot", harness_long() ? 1100 : 300), 8, 1e-3);
}

TEST(crumpled_sphere, "RT-164")
{
    no_leaks("crumpled", crumpled(harness_long() ? 250 : 60, harness_long() ? 500 : 120), 8, 0);
}
