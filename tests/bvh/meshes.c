#include "meshes.h"
#include "harness.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mesh_cube(struct facet_bvh_triangle out[12])
{
    static const int faces[6][4] = {
        {0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

    for (uint32_t i = 0; i < 12; i++) {
        const int *f = faces[i / 2];
        int corner[3] = {f[0], f[1 + i % 2], f[2 + i % 2]};

        out[i] = (struct facet_bvh_triangle){.primitive = i, .flags = FACET_BVH_OPAQUE};
        for (int c = 0; c < 3; c++) {
            out[i].vertex[c][0] = (float)(corner[c] & 1);
            out[i].vertex[c][1] = (float)(corner[c] >> 1 & 1);
            out[i].vertex[c][2] = (float)(corner[c] >> 2);
        }
    }
}

static struct mesh mesh_new(uint32_t count)
{
    struct mesh m = {calloc(count, sizeof *m.triangles), count};

    if (m.triangles == NULL) {
        abort();
    }
    return m;
}

static void
set_triangle(struct mesh *m, uint32_t i, const float a[3], const float b[3], const float c[3])
{
    struct facet_bvh_triangle *t = &m->triangles[i];

    memcpy(t->vertex[0], a, sizeof t->vertex[0]);
    memcpy(t->vertex[1], b, sizeof t->vertex[0]);
    memcpy(t->vertex[2], c, sizeof t->vertex[0]);
    t->primitive = i;
    t->flags = FACET_BVH_OPAQUE;
}

struct mesh mesh_planet(uint32_t rings, uint32_t sectors)
{
    struct mesh m = mesh_new(2 * rings * sectors - 2 * sectors);
    uint32_t next = 0;
    float(*v)[3] = malloc((size_t)(rings + 1) * sectors * sizeof *v);

    for (uint32_t r = 0; r <= rings; r++) {
        for (uint32_t s = 0; s < sectors; s++) {
            double theta = M_PI * r / rings, phi = 2 * M_PI * s / sectors;
            double radius = 1.0 + 0.05 * sin(9 * theta) * cos(13 * phi) + 0.01 * sin(71 * phi + r);
            float *p = v[(size_t)r * sectors + s];

            if (r == 0 || r == rings) {
                phi = 0;
                radius = 1.0;
            }
            p[0] = (float)(3.3 + radius * sin(theta) * cos(phi));
            p[1] = (float)(-1.7 + radius * cos(theta));
            p[2] = (float)(0.4 + radius * sin(theta) * sin(phi));
        }
    }
    for (uint32_t r = 0; r < rings; r++) {
        for (uint32_t s = 0; s < sectors; s++) {
            uint32_t n = (s + 1) % sectors;
            const float *a = v[(size_t)r * sectors + s], *b = v[(size_t)r * sectors + n];
            const float *c = v[(size_t)(r + 1) * sectors + s];
            const float *d = v[(size_t)(r + 1) * sectors + n];

            if (r != 0) {
                set_triangle(&m, next++, a, b, d);
            }
            if (r != rings - 1) {
                set_triangle(&m, next++, a, d, c);
            }
        }
    }
    free(v);
    return m;
}

struct mesh mesh_terrain(uint32_t n)
{
    struct mesh m = mesh_new(2 * n * n);

    for (uint32_t i = 0; i < n * n; i++) {
        float p[4][3];

        for (int k = 0; k < 4; k++) {
            double x = (double)(i % n + (k & 1)) / n, y = (double)(i / n + (k >> 1)) / n;

            p[k][0] = (float)x;
            p[k][1] = (float)(0.1 * sin(20 * x) * cos(17 * y) + 0.02 * sin(90 * x + 60 * y));
            p[k][2] = (float)y;
        }
        set_triangle(&m, 2 * i, p[0], p[1], p[3]);
        set_triangle(&m, 2 * i + 1, p[0], p[3], p[2]);
    }
    return m;
}

static double unit(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

struct mesh mesh_soup(uint32_t count, uint64_t seed)
{
    struct mesh m = mesh_new(count);

    for (uint32_t i = 0; i < count; i++) {
        float p[3][3];
        double size = 0.1 * pow(unit(&seed), 4) + 1e-4;

        for (int k = 0; k < 3; k++) {
            double centre = unit(&seed) * 20 - 10;

            for (int c = 0; c < 3; c++) {
                p[c][k] = (float)(centre + size * (unit(&seed) - 0.5));
            }
        }
        set_triangle(&m, i, p[0], p[1], p[2]);
        m.triangles[i].flags = i % 3 != 0 ? FACET_BVH_OPAQUE : FACET_BVH_DOUBLE_SIDED;
        m.triangles[i].geometry = i % 7;
    }
    return m;
}

void mesh_free(struct mesh *mesh)
{
    free(mesh->triangles);
    *mesh = (struct mesh){NULL, 0};
}

float mesh_uniform(void)
{
    return (float)(harness_random() % 10000) / 5000.0f - 1.0f;
}

struct facet_gfx12_image
mesh_image(struct mesh *meshes, uint32_t count, uint32_t instances, float reach)
{
    struct facet_bvh_blas_input *blas = calloc(count, sizeof *blas);
    struct facet_bvh_instance *placed = calloc(instances, sizeof *placed);
    const struct facet_bvh_scene_input scene = {blas, count, placed, instances};
    const struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;

    for (uint32_t i = 0; i < count; i++) {
        blas[i].triangles = meshes[i].triangles;
        blas[i].triangle_count = meshes[i].count;
    }
    for (uint32_t i = 0; i < instances; i++) {
        for (int k = 0; k < 3; k++) {
            placed[i].world_to_object[k][k] = 1;
            placed[i].world_to_object[k][3] = reach * mesh_uniform();
        }
        placed[i].blas = i % count;
        placed[i].user_data = i;
        placed[i].mask = 0xFF;
    }
    CHECK(facet_gfx12_build(&scene, &options, NULL, NULL, &image, &report, NULL) == FACET_OK);
    for (uint32_t i = 0; i < count; i++) {
        mesh_free(&meshes[i]);
    }
    free(blas);
    free(placed);
    return image;
}

bool same_hits(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b)
{
    return a->found == b->found && a->procedural == b->procedural && a->opaque == b->opaque &&
           a->backface == b->backface && memcmp(&a->t, &b->t, sizeof a->t) == 0 &&
           memcmp(&a->u, &b->u, sizeof a->u) == 0 && memcmp(&a->v, &b->v, sizeof a->v) == 0 &&
           a->primitive_index == b->primitive_index && a->geometry_index == b->geometry_index &&
           a->node == b->node && a->base == b->base && a->instance == b->instance &&
           a->instance_user_data == b->instance_user_data;
}
