/* See facet/scene.h. */
#include "base/sized.h"
#include "image/image.h"
#include "render/render.h"
#include "scene/import.h"
#include "scene/make.h"

#include <facet/scene.h>
#include <stdlib.h>

struct facet_world {
    struct facet_scene scene;
    struct facet_bvh_mesh *meshes;
    struct facet_bvh_placement *placements;
};

void facet_world_destroy(facet_world *world)
{
    if (world != NULL) {
        facet_scene_free(&world->scene);
        free(world->meshes);
        free(world->placements);
        free(world);
    }
}

/* The scene as facet/bvh.h takes it. */
static bool list_geometry(facet_world *world)
{
    const struct facet_scene *scene = &world->scene;

    world->meshes = calloc((size_t)scene->mesh_count + 1, sizeof *world->meshes);
    world->placements = calloc((size_t)scene->instance_count + 1, sizeof *world->placements);
    if (world->meshes == NULL || world->placements == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[i];

        world->meshes[i] = (struct facet_bvh_mesh){.positions = mesh->positions,
                                                   .vertex_count = mesh->vertex_count,
                                                   .indices = mesh->indices,
                                                   .triangle_count = mesh->triangle_count,
                                                   .geometry = i,
                                                   .flags = FACET_BVH_OPAQUE};
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        world->placements[i].mesh = scene->instances[i].mesh;
        world->placements[i].mask = 0xFF;
        memcpy(world->placements[i].object_to_world,
               scene->instances[i].transform,
               sizeof scene->instances[i].transform);
    }
    return true;
}

/* From a file, or made by name when `path` is NULL. */
static enum facet_status
start(const char *path, const char *name, uint32_t size, facet_world **out, struct facet_error *err)
{
    static const struct facet_import_options defaults;
    facet_world *world = calloc(1, sizeof *world);
    enum facet_status status;

    *out = NULL;
    if (world == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a scene");
    }
    facet_scene_init(&world->scene);
    status = path != NULL ? facet_scene_import(path, &defaults, &world->scene, err)
                          : facet_scene_make(name, size, &world->scene, err);
    if (status == FACET_OK && !list_geometry(world)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a scene");
    }
    if (status != FACET_OK) {
        facet_world_destroy(world);
        return status;
    }
    *out = world;
    return FACET_OK;
}

enum facet_status facet_world_open(const char *path, facet_world **out, struct facet_error *err)
{
    if (path == NULL) {
        *out = NULL;
        return facet_fail(err, FACET_ERR_USAGE, 0, "the path of the scene is missing");
    }
    return start(path, NULL, 0, out, err);
}

enum facet_status
facet_world_make(const char *name, uint32_t size, facet_world **out, struct facet_error *err)
{
    return start(NULL, name, size, out, err);
}

struct facet_bvh_scene facet_world_get_geometry(const facet_world *world)
{
    return (struct facet_bvh_scene){.meshes = world->meshes,
                                    .mesh_count = world->scene.mesh_count,
                                    .placements = world->placements,
                                    .placement_count = world->scene.instance_count};
}

static enum facet_status options_of(const facet_world *world,
                                    const struct facet_world_view *view,
                                    struct facet_render_options *out,
                                    struct facet_error *err)
{
    facet_render_options_default(out, &world->scene);
    out->machine = view->machine != NULL ? facet_render_machine_find(view->machine) : out->machine;
    if (out->machine == NULL) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "no machine called `%s` draws pictures", view->machine);
    }
    if (view->camera >= world->scene.camera_count || view->samples > FACET_RENDER_MAX_SPP ||
        view->bounces > FACET_RENDER_MAX_BOUNCES) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          view->camera,
                          "camera %u of %u, %u samples, %u bounces; expected at most %u and %u",
                          (unsigned)view->camera,
                          (unsigned)world->scene.camera_count,
                          (unsigned)view->samples,
                          (unsigned)view->bounces,
                          FACET_RENDER_MAX_SPP,
                          FACET_RENDER_MAX_BOUNCES);
    }
    out->camera = world->scene.cameras[view->camera];
    out->width = view->width != 0 ? view->width : out->width;
    out->height = view->height != 0 ? view->height : out->height;
    out->spp = view->samples != 0 ? view->samples : out->spp;
    out->seed = view->seed;
    out->bounces = view->bounces;
    out->plain = view->plain;
    return facet_image_check_size(out->width, out->height, err);
}

static enum facet_status draw(const facet_world *world,
                              const struct facet_render_options *options,
                              facet_pool *pool,
                              struct facet_image *out,
                              struct facet_error *err)
{
    struct facet_render *render = NULL;
    struct facet_render_report report;
    struct facet_image_f light = {0};
    enum facet_status status = facet_render_open(&world->scene, options, pool, NULL, &render, err);

    if (status == FACET_OK) {
        status = facet_render_draw(render, pool, NULL, &light, &report, err);
    }
    if (status == FACET_OK) {
        bool display = options->machine->display;

        status = facet_render_develop(
            &light, display ? 1.0F : facet_shade_exposure(&world->scene), display, out, err);
    }
    facet_image_f_free(&light);
    facet_render_close(render);
    return status;
}

enum facet_status facet_world_draw_sized(const facet_world *world,
                                         const struct facet_world_view *view,
                                         size_t view_size,
                                         struct facet_blob *rgba,
                                         struct facet_error *err)
{
    struct facet_world_view own;
    struct facet_render_options options;
    struct facet_image image = {0};
    facet_pool *pool = NULL;
    enum facet_status status = facet_sized_in(&own,
                                              offsetof(struct facet_world_view, reserved),
                                              view,
                                              view_size,
                                              "facet_world_view",
                                              err);

    *rgba = (struct facet_blob){0};
    if (status != FACET_OK || (status = options_of(world, &own, &options, err)) != FACET_OK ||
        (own.threads > 1 && (status = facet_pool_create(own.threads, &pool, err)) != FACET_OK)) {
        return status;
    }
    status = draw(world, &options, pool, &image, err);
    facet_pool_destroy(pool);
    if (status == FACET_OK) {
        *rgba = (struct facet_blob){image.rgba, 4 * (size_t)image.width * image.height};
    }
    return status;
}

enum facet_status facet_picture_write(
    const char *path, const void *rgba, uint32_t width, uint32_t height, struct facet_error *err)
{
    struct facet_image image = {0};
    enum facet_status status = facet_image_create(&image, width, height, err);

    if (status == FACET_OK) {
        memcpy(image.rgba, rgba, 4 * (size_t)width * height);
        status = facet_image_png_write(path, &image, err);
    }
    facet_image_free(&image);
    return status;
}
