/* See scenes.h. */
#include "render/scenes.h"

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(enum facet_status status, const struct facet_error *err)
{
    if (status != FACET_OK) {
        fprintf(stderr, "test scene: %s\n", err->message);
        exit(1);
    }
}

static void *copy(const void *from, size_t size)
{
    void *to = malloc(size);

    if (to == NULL) {
        exit(1);
    }
    return memcpy(to, from, size);
}

uint32_t add_material(struct facet_scene *scene, float r, float g, float b)
{
    struct facet_scene_material material;
    struct facet_error err;
    uint32_t index;

    facet_scene_material_default(&material);
    material.base_color[0] = r;
    material.base_color[1] = g;
    material.base_color[2] = b;
    must(facet_scene_add_material(scene, &material, &index, &err), &err);
    return index;
}

uint32_t add_quad(struct facet_scene *scene,
                  uint32_t material,
                  const float middle[3],
                  const float across[3],
                  const float up[3])
{
    static const float sides[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    static const float uv[8] = {0, 1, 1, 1, 1, 0, 0, 0};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    struct facet_scene_mesh mesh = {.vertex_count = 4, .triangle_count = 2, .material = material};
    struct facet_error err;
    float positions[12];
    uint32_t index;

    for (unsigned i = 0; i < 12; i++) {
        unsigned c = i % 3;

        positions[i] = middle[c] + sides[i / 3][0] * across[c] + sides[i / 3][1] * up[c];
    }
    mesh.positions = copy(positions, sizeof positions);
    mesh.indices = copy(indices, sizeof indices);
    mesh.uv[0] = copy(uv, sizeof uv);
    must(facet_scene_add_mesh(scene, &mesh, &index, &err), &err);
    return index;
}

void add_instance(struct facet_scene *scene, uint32_t mesh, const float transform[12])
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    struct facet_scene_instance instance = {.mesh = mesh};
    struct facet_error err;

    memcpy(instance.transform, transform != NULL ? transform : identity, sizeof identity);
    must(facet_scene_add_instance(scene, &instance, &err), &err);
}

void add_flat_camera(struct facet_scene *scene, const float eye[3], bool down, float half)
{
    struct facet_scene_camera camera = {
        .kind = FACET_CAMERA_ORTHOGRAPHIC, .x_mag = half, .y_mag = half, .z_near = 0.01F};
    const float ahead[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, below[9] = {1, 0, 0, 0, 0, 1, 0, -1, 0};
    struct facet_error err;

    for (unsigned i = 0; i < 3; i++) {
        memcpy(camera.transform + 4 * i, (down ? below : ahead) + 3 * i, 12);
        camera.transform[4 * i + 3] = eye[i];
    }
    must(facet_scene_add_camera(scene, &camera, &err), &err);
}

void add_sun(struct facet_scene *scene, float x, float y, float z, float lux)
{
    float length = sqrtf(x * x + y * y + z * z);
    struct facet_scene_light light = {.kind = FACET_LIGHT_DIRECTIONAL,
                                      .color = {1, 1, 1},
                                      .intensity = lux,
                                      .direction = {x / length, y / length, z / length}};
    struct facet_error err;

    must(facet_scene_add_light(scene, &light, &err), &err);
}

void add_point_light(struct facet_scene *scene, float x, float y, float z, float candela)
{
    struct facet_scene_light light = {.kind = FACET_LIGHT_POINT,
                                      .color = {1, 1, 1},
                                      .intensity = candela,
                                      .position = {x, y, z},
                                      .direction = {0, 0, -1}};
    struct facet_error err;

    must(facet_scene_add_light(scene, &light, &err), &err);
}

uint32_t
add_texture(struct facet_scene *scene, uint32_t width, uint32_t height, const uint8_t *rgba)
{
    struct facet_scene_texture texture = {.width = width, .height = height};
    struct facet_error err;
    uint32_t index;

    texture.rgba = copy(rgba, (size_t)4 * width * height);
    must(facet_scene_add_texture(scene, &texture, &index, &err), &err);
    return index;
}

void finish(struct facet_scene *scene)
{
    struct facet_error err;

    must(facet_scene_finish(scene, &err), &err);
}

struct facet_image_f draw(const struct facet_scene *scene,
                          const struct facet_render_options *options,
                          unsigned threads,
                          struct facet_render_report *report)
{
    struct facet_render_report unused;
    struct facet_render *render;
    struct facet_image_f image;
    struct facet_error err;
    facet_pool *pool;

    must(facet_pool_create(threads, &pool, &err), &err);
    must(facet_render_open(scene, options, pool, NULL, &render, &err), &err);
    must(facet_render_draw(render, pool, NULL, &image, report != NULL ? report : &unused, &err),
         &err);
    facet_render_close(render);
    facet_pool_destroy(pool);
    return image;
}

struct facet_render_options plain_options(const struct facet_scene *scene, uint32_t w, uint32_t h)
{
    struct facet_render_options options;

    facet_render_options_default(&options, scene);
    options.width = w;
    options.height = h;
    options.spp = 1;
    options.ao_rays = 0;
    return options;
}
