/* See gfx12_rays.h. Nothing here is fast or clever: it runs before the clock starts. */
#include "bench/gfx12_rays.h"

#include "base/error.h"
#include "scene/make.h"
#include "scene/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void place(const struct facet_scene_instance *instance, const float in[3], float out[3])
{
    for (int k = 0; k < 3; k++) {
        const float *row = instance->transform + 4 * (size_t)k;

        out[k] = row[0] * in[0] + row[1] * in[1] + row[2] * in[2] + row[3];
    }
}

/* The triangles of all instances as one mesh that stands where it was modelled. */
static enum facet_status flatten(struct facet_scene *scene, struct facet_error *err)
{
    struct facet_scene_mesh all = {.material = 0};
    uint64_t vertices = 0, triangles = 0;
    enum facet_status status = FACET_ERR_MEMORY;

    for (uint32_t i = 0; i < scene->instance_count; i++) {
        vertices += scene->meshes[scene->instances[i].mesh].vertex_count;
        triangles += scene->meshes[scene->instances[i].mesh].triangle_count;
    }
    all.positions = malloc(3 * vertices * sizeof all.positions[0]);
    all.indices = malloc(3 * triangles * sizeof all.indices[0]);
    if (all.positions == NULL || all.indices == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    } else {
        for (uint32_t i = 0; i < scene->instance_count; i++) {
            const struct facet_scene_mesh *mesh = &scene->meshes[scene->instances[i].mesh];

            for (uint32_t v = 0; v < mesh->vertex_count; v++) {
                place(&scene->instances[i],
                      &mesh->positions[3 * (size_t)v],
                      &all.positions[3 * (size_t)(all.vertex_count + v)]);
            }
            for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++) {
                all.indices[3 * (size_t)all.triangle_count + k] =
                    all.vertex_count + mesh->indices[k];
            }
            all.vertex_count += mesh->vertex_count;
            all.triangle_count += mesh->triangle_count;
        }
        scene->instance_count = 0;
        status = facet_scene_add_placed_mesh(scene, &all, err);
    }
    if (status != FACET_OK) {
        facet_scene_mesh_free(&all);
    }
    return status;
}

enum facet_status
bench_scene_make(const char *name, uint32_t size, struct facet_scene *out, struct facet_error *err)
{
    const bool objects = strcmp(name, "objects") == 0;
    enum facet_status status = facet_scene_make(objects ? "instances" : name, size, out, err);

    if (status == FACET_OK && objects) {
        status = flatten(out, err);
    }
    return status == FACET_OK ? facet_scene_finish(out, err) : status;
}

enum facet_status trace_scene_make(const char *name,
                                   uint32_t size,
                                   enum facet_bvh_quality quality,
                                   struct trace_scene *out,
                                   struct facet_error *err)
{
    const struct facet_gfx12_build_options options = {.quality = quality};
    struct facet_gfx12_build_report report;
    enum facet_status status;

    memset(out, 0, sizeof *out);
    facet_scene_init(&out->scene);
    status = bench_scene_make(name, size, &out->scene, err);
    if (status == FACET_OK) {
        status = facet_render_bvh_input_make(&out->scene, NULL, 0, NULL, true, &out->input, err);
    }
    if (status == FACET_OK) {
        status =
            facet_gfx12_build(&out->input.scene, &options, NULL, NULL, &out->image, &report, err);
    }
    return status;
}

void trace_scene_free(struct trace_scene *s)
{
    free(s->image.bytes);
    facet_render_bvh_input_free(&s->input);
    facet_scene_free(&s->scene);
    memset(s, 0, sizeof *s);
}

void trace_scene_unit(const struct trace_scene *s, struct facet_gfx12_unit *unit)
{
    facet_gfx12_unit_init(unit, s->image.bytes, s->image.size);
}

void camera_rays(const struct trace_scene *s,
                 uint32_t width,
                 uint32_t height,
                 struct facet_gfx12_batch_ray *out)
{
    const struct facet_scene_camera *camera = &s->scene.cameras[0];
    const float *m = camera->transform;
    double scale = tan(0.5 * (double)camera->y_fov);
    double aspect = (double)width / (double)height;

    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            double px = (2.0 * ((double)x + 0.5) / (double)width - 1.0) * aspect * scale;
            double py = (1.0 - 2.0 * ((double)y + 0.5) / (double)height) * scale;
            double length = sqrt(px * px + py * py + 1.0);

            *out = (struct facet_gfx12_batch_ray){.t_min = 0.0F, .t_max = INFINITY};
            for (int k = 0; k < 3; k++) {
                const float *row = m + 4 * (size_t)k;

                out->origin[k] = row[3];
                out->direction[k] =
                    (float)(((double)row[0] * px + (double)row[1] * py - (double)row[2]) / length);
            }
            out++;
        }
    }
}

void hit_triangle(const struct trace_scene *s,
                  const struct facet_gfx12_hit *hit,
                  double corner[3][3])
{
    const struct facet_scene_instance *instance = &s->scene.instances[hit->instance_user_data];
    const struct facet_scene_mesh *mesh = &s->scene.meshes[instance->mesh];

    for (int c = 0; c < 3; c++) {
        const float *p =
            &mesh->positions[3 *
                             (size_t)mesh->indices[3 * (size_t)hit->primitive_index + (size_t)c]];

        for (int k = 0; k < 3; k++) {
            const float *row = instance->transform + 4 * (size_t)k;

            corner[c][k] = (double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] +
                           (double)row[2] * (double)p[2] + (double)row[3];
        }
    }
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalise(double v[3])
{
    double length = sqrt(dot3(v, v));

    for (int k = 0; k < 3; k++) {
        v[k] /= length;
    }
}

static void cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Unit normal of the triangle, turned against `direction`. */
static void facing_normal(const struct trace_scene *s,
                          const struct facet_gfx12_hit *hit,
                          const float direction[3],
                          double normal[3])
{
    double corner[3][3], e1[3], e2[3];
    const double d[3] = {(double)direction[0], (double)direction[1], (double)direction[2]};

    hit_triangle(s, hit, corner);
    for (int k = 0; k < 3; k++) {
        e1[k] = corner[1][k] - corner[0][k];
        e2[k] = corner[2][k] - corner[0][k];
    }
    cross3(e1, e2, normal);
    normalise(normal);
    if (dot3(normal, d) > 0) {
        for (int k = 0; k < 3; k++) {
            normal[k] = -normal[k];
        }
    }
}

size_t diffuse_rays(const struct trace_scene *s,
                    const struct facet_gfx12_batch_ray *rays,
                    const struct facet_gfx12_hit *hits,
                    size_t count,
                    uint32_t sample,
                    struct facet_gfx12_batch_ray *out)
{
    const struct facet_bounds *b = &s->scene.bounds;
    double size = 0;
    size_t made = 0;

    for (int k = 0; k < 3; k++) {
        double extent = (double)b->hi[k] - (double)b->lo[k];

        size = extent > size ? extent : size;
    }
    for (size_t i = 0; i < count; i++) {
        double normal[3], tangent[3], across[3], helper[3] = {0, 0, 0};
        double u = (double)facet_sample(1, (uint32_t)i, 0, sample, 0);
        double turn = 6.283185307179586 * (double)facet_sample(1, (uint32_t)i, 0, sample, 1);
        double r = sqrt(u), up = sqrt(1.0 - u);

        if (!hits[i].found) {
            continue;
        }
        facing_normal(s, &hits[i], rays[i].direction, normal);
        helper[fabs(normal[0]) > 0.5 ? 1 : 0] = 1.0;
        cross3(normal, helper, tangent);
        normalise(tangent);
        cross3(normal, tangent, across);
        out[made] = (struct facet_gfx12_batch_ray){.t_min = 0.0F, .t_max = INFINITY};
        for (int k = 0; k < 3; k++) {
            out[made].origin[k] =
                (float)((double)rays[i].origin[k] +
                        (double)hits[i].t * (double)rays[i].direction[k] + 1e-5 * size * normal[k]);
            out[made].direction[k] =
                (float)(r * cos(turn) * tangent[k] + r * sin(turn) * across[k] + up * normal[k]);
        }
        made++;
    }
    return made;
}
