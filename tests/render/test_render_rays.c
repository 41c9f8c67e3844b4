/* The renderer against second paths: brute force over all triangles, the plain traversal loop ray
 * by ray, and itself on other numbers of threads. */
#include "harness.h"
#include "render/scenes.h"

#include "scene/make.h"
#include "shade/surface.h"

#include <math.h>
#include <stdlib.h>

static void make(struct facet_scene *scene, const char *name, uint32_t size)
{
    struct facet_error err;

    CHECK(facet_scene_make(name, size, scene, &err) == FACET_OK);
    finish(scene);
}

static bool same(const struct facet_image_f *a, const struct facet_image_f *b)
{
    return memcmp(a->rgb, b->rgb, sizeof(float) * 3 * a->width * a->height) == 0;
}

TEST(threads_do_not_change_a_bit, "")
{
    struct facet_render_report reports[3];
    struct facet_render_options options;
    struct facet_image_f images[3];
    struct facet_scene scene;

    make(&scene, "room", 1);
    options = plain_options(&scene, 100, 50);
    options.spp = 3;
    options.ao_rays = 2;
    for (unsigned i = 0; i < 3; i++) {
        images[i] = draw(&scene, &options, 1U << i, &reports[i]);
        CHECK(same(&images[0], &images[i]));
        CHECK(memcmp(&reports[0], &reports[i], sizeof reports[0]) == 0);
        CHECK_EQ(reports[i].cost[FACET_RAY_PRIMARY].rays, 100 * 50 * 3);
        CHECK_EQ(reports[i].buckets, 8);
    }
    facet_image_f_free(&images[1]);
    options.seed = 1;
    images[1] = draw(&scene, &options, 2, NULL);
    CHECK_MSG(!same(&images[0], &images[1]), "another seed gives the same picture");
    for (unsigned i = 0; i < 3; i++) {
        facet_image_f_free(&images[i]);
    }
    facet_scene_free(&scene);
}

/* Both builders keep every vertex to the bit, so both trees show the same; on an edge either of its
 * two triangles may be the one that is hit. */
TEST(tree_quality_does_not_change_the_picture, "")
{
    struct facet_render_options options;
    struct facet_image_f fast, high;
    struct facet_scene scene;

    make(&scene, "knot", 64);
    options = plain_options(&scene, 64, 48);
    options.shadows = false;
    high = draw(&scene, &options, 2, NULL);
    options.quality = FACET_BVH_FAST;
    fast = draw(&scene, &options, 2, NULL);
    for (uint32_t i = 0; i < 3 * 64 * 48; i++) {
        CHECK_MSG(fabsf(fast.rgb[i] - high.rgb[i]) < 1e-4F, "number %u differs", i);
    }
    facet_image_f_free(&fast);
    facet_image_f_free(&high);
    facet_scene_free(&scene);
}

/* ---- brute force ---- */

enum { SOUP = 60, INSTANCES = 4 };

static float unit_random(void)
{
    return (float)(harness_random() >> 40) * 0x1p-23F - 1.0F;
}

/* Unlit random triangles, each with a colour that tells its number; placed four times, one of them
 * mirrored, one sheared and stretched. Every second mesh is two-sided. */
static void make_soup(struct facet_scene *scene)
{
    static const float places[INSTANCES][12] = {
        {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
        {-1, 0, 0, 0.7F, 0, 1, 0, 0.5F, 0, 0, 1, -2},
        {0.5F, 0.3F, 0, -1, 0, 2, 0.1F, 0, -0.2F, 0, 0.7F, -1},
        {0, 0, -1, 0, 1, 0, 0, -1, 0, -1, 0, -3},
    };
    struct facet_error err;

    facet_scene_init(scene);
    for (uint32_t m = 0; m < 2; m++) {
        struct facet_scene_mesh mesh = {.vertex_count = 3 * SOUP, .triangle_count = SOUP};

        mesh.material = add_material(scene, 1, 1, 1);
        scene->materials[m].unlit = true;
        scene->materials[m].double_sided = m == 1;
        mesh.positions = malloc(sizeof(float) * 9 * SOUP);
        mesh.colors = malloc(sizeof(float) * 12 * SOUP);
        mesh.indices = malloc(sizeof(uint32_t) * 3 * SOUP);
        for (uint32_t i = 0; i < SOUP; i++) {
            float middle[3] = {unit_random(), unit_random(), unit_random()};

            for (uint32_t k = 0; k < 3; k++) {
                const float color[4] = {(float)(1 + i) / 256.0F, (float)(1 + m) / 4.0F, 1.0F, 1.0F};

                mesh.indices[3 * i + k] = 3 * i + k;
                memcpy(mesh.colors + 4 * (3 * i + k), color, sizeof color);
                for (uint32_t c = 0; c < 3; c++) {
                    mesh.positions[3 * (3 * i + k) + c] = middle[c] + 0.6F * unit_random();
                }
            }
        }
        CHECK(facet_scene_add_mesh(scene, &mesh, NULL, &err) == FACET_OK);
    }
    for (uint32_t i = 0; i < INSTANCES; i++) {
        add_instance(scene, i % 2, places[i]);
        add_instance(scene, (i + 1) % 2, places[i]);
        scene->instances[2 * i + 1].transform[7] += 1.5F;
    }
    add_sun(scene, -1, -1, -1, 3.0F);
    finish(scene);
}

struct nearest {
    double t, second; /* nearest hit, and the one behind it */
    double edge;      /* how close the ray passes an edge, as a barycentric coordinate */
    uint32_t mesh, triangle;
};

/* One triangle in world space, in double, by solving for t, u, v with Cramer's rule. */
static void brute_triangle(const struct facet_scene *scene,
                           uint32_t number,
                           uint32_t triangle,
                           const double o[3],
                           const double d[3],
                           struct nearest *best)
{
    const struct facet_scene_instance *in = &scene->instances[number];
    const struct facet_scene_mesh *mesh = &scene->meshes[in->mesh];
    double p[3][3], e1[3], e2[3], s[3], n[3], q[3], det, t, u, v, edge;

    for (unsigned k = 0; k < 3; k++) {
        const float *x = mesh->positions + 3 * (size_t)mesh->indices[3 * triangle + k];

        for (unsigned r = 0; r < 3; r++) {
            const float *row = in->transform + 4 * (size_t)r;

            p[k][r] = (double)row[0] * (double)x[0] + (double)row[1] * (double)x[1] +
                      (double)row[2] * (double)x[2] + (double)row[3];
        }
    }
    for (unsigned c = 0; c < 3; c++) {
        e1[c] = p[1][c] - p[0][c];
        e2[c] = p[2][c] - p[0][c];
        s[c] = o[c] - p[0][c];
    }
    for (unsigned c = 0; c < 3; c++) {
        unsigned a = (c + 1) % 3, b = (c + 2) % 3;

        n[c] = e1[a] * e2[b] - e1[b] * e2[a];
        q[c] = s[a] * d[b] - s[b] * d[a];
    }
    det = -(d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    /* glTF: a mirroring matrix turns the winding round. */
    if (!scene->materials[mesh->material].double_sided && (det < 0) != in->flipped) {
        return;
    }
    t = (s[0] * n[0] + s[1] * n[1] + s[2] * n[2]) / det;
    u = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
    v = -(e1[0] * q[0] + e1[1] * q[1] + e1[2] * q[2]) / det;
    edge = fmin(u, fmin(v, 1 - u - v));
    if (t > 0 && fabs(edge) < best->edge && t < best->t) {
        best->edge = fabs(edge);
    }
    if (t > 0 && edge >= 0 && t < best->second) {
        best->second = t;
        if (t < best->t) {
            best->second = best->t;
            best->t = t;
            best->mesh = in->mesh;
            best->triangle = triangle;
        }
    }
}

TEST(visibility_is_that_of_brute_force, "")
{
    enum { SIDE = 96 };
    struct facet_render_options options;
    struct facet_shade_lens lens;
    struct facet_image_f image;
    struct facet_scene scene;
    uint32_t hits = 0, doubtful = 0;

    make_soup(&scene);
    options = plain_options(&scene, SIDE, SIDE);
    facet_shade_lens_make(&options.camera, SIDE, SIDE, &lens);
    image = draw(&scene, &options, 2, NULL);
    for (uint32_t i = 0; i < SIDE * SIDE && !harness_failed(); i++) {
        struct nearest best = {.t = INFINITY, .second = INFINITY, .edge = INFINITY};
        const float *got = image.rgb + 3 * (size_t)i;
        struct facet_shade_ray ray;
        double o[3], d[3];

        facet_shade_lens_ray(&lens, i % SIDE + 0.5, i / SIDE + 0.5, &ray);
        for (unsigned c = 0; c < 3; c++) {
            o[c] = (double)ray.origin[c];
            d[c] = (double)ray.direction[c];
        }
        for (uint32_t n = 0; n < scene.instance_count; n++) {
            for (uint32_t k = 0; k < SOUP; k++) {
                brute_triangle(&scene, n, k, o, d, &best);
            }
        }
        if (best.edge < 1e-4 || best.second - best.t < 1e-4) {
            doubtful++; /* rounding may decide otherwise */
            continue;
        }
        if (isinf(best.t)) {
            CHECK_MSG(got[1] != 0.25F && got[1] != 0.5F, "pixel %u: hit where nothing is", i);
            continue;
        }
        hits++;
        CHECK_MSG(fabsf(got[0] - (float)(1 + best.triangle) / 256.0F) < 1e-5F &&
                      fabsf(got[1] - (float)(1 + best.mesh) / 4.0F) < 1e-5F,
                  "pixel %u: triangle %g of mesh %g, expected %u of %u",
                  i,
                  (double)(got[0] * 256.0F - 1.0F),
                  (double)(got[1] * 4.0F - 1.0F),
                  best.triangle,
                  best.mesh);
    }
    CHECK_MSG(hits > SIDE * SIDE / 10, "only %u pixels show a triangle", hits);
    CHECK_MSG(doubtful < SIDE * SIDE / 50, "%u pixels are doubtful", doubtful);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* ---- cost ---- */

static enum facet_gfx12_verdict stops(void *context, const struct facet_gfx12_hit *c)
{
    return facet_shade_surface_stops(
               context, c->instance_user_data, c->primitive_index, c->t, c->u, c->v)
               ? FACET_GFX12_ACCEPT
               : FACET_GFX12_IGNORE;
}

/* Both heat maps and the report, ray by ray against the traversal loop. */
static void check_costs(enum facet_gfx12_profile profile)
{
    enum { WIDTH = 70, HEIGHT = 40 };
    struct facet_render_options options;
    struct facet_render_report report;
    struct facet_image_f nodes, pairs;
    struct facet_shade_cost sum = {0};
    struct facet_shade_lens lens;
    struct facet_render *render;
    struct facet_gfx12_unit unit;
    struct facet_scene scene;
    struct facet_error err;

    make(&scene, "room", 2);
    options = plain_options(&scene, WIDTH, HEIGHT);
    options.profile = profile;
    options.view = FACET_SHADE_TRIANGLES;
    pairs = draw(&scene, &options, 2, NULL);
    options.view = FACET_SHADE_NODES;
    nodes = draw(&scene, &options, 2, &report);
    CHECK(facet_render_open(&scene, &options, NULL, NULL, &render, &err) == FACET_OK);
    facet_shade_lens_make(&options.camera, WIDTH, HEIGHT, &lens);
    facet_gfx12_unit_init(&unit, facet_render_bvh(render)->bytes, facet_render_bvh(render)->size);
    unit.profile = profile;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        struct facet_gfx12_query query;
        struct facet_gfx12_stats stats;
        struct facet_gfx12_hit hit;
        struct facet_shade_ray ray;

        facet_shade_lens_ray(&lens, i % WIDTH + 0.5, i / WIDTH + 0.5, &ray);
        facet_gfx12_query_init(&query, ray.origin, ray.direction);
        query.t_min = ray.t_min;
        query.t_max = ray.t_max;
        query.api_flags = FACET_GFX12_CULL_BACK_FACING;
        query.callbacks.context = &scene;
        query.callbacks.any_hit = stops;
        CHECK(facet_gfx12_trace(&unit, &query, &hit, &stats, &err) == FACET_OK);
        CHECK_EQ(nodes.rgb[3 * (size_t)i], stats.steps);
        CHECK_EQ(pairs.rgb[3 * (size_t)i], stats.primitives);
        sum.hits += hit.found;
        sum.nodes += stats.steps;
        sum.box_nodes += stats.boxes;
        sum.instance_nodes += stats.instances;
        sum.primitive_nodes += stats.primitives;
    }
    sum.rays = WIDTH * HEIGHT;
    CHECK(memcmp(&sum, &report.cost[FACET_RAY_PRIMARY], sizeof sum) == 0);
    CHECK_EQ(report.cost[FACET_RAY_SHADOW].rays + report.cost[FACET_RAY_AMBIENT].rays, 0);
    CHECK(sum.primitive_nodes > 0 && sum.instance_nodes > 0);
    facet_render_close(render);
    facet_image_f_free(&nodes);
    facet_image_f_free(&pairs);
    facet_scene_free(&scene);
}

TEST(heat_map_counts_are_those_of_the_traversal, "")
{
    check_costs(FACET_GFX12_SILICON);
    check_costs(FACET_GFX12_GPURT);
}
