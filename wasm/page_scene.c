/* Scene files: what `facet view` and `facet render` import in a confined process is parsed here, in
 * a worker of the page, which is one. Files beside the scene come first (wasm/files.c); pictures in
 * it are asked back from the page (wasm/pictures.c). */
#include "wasm/page_scene.h"

#include "gfx12/build/build.h"
#include "render/bvh_input.h"
#include "scene/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum facet_status
fetch(void *context, const char *name, struct facet_bytes *out, struct facet_error *err)
{
    return facet_scene_folder_read(context, name, out, err);
}

/* What facet_scene_import does, without the process around the parser. */
static enum facet_status import(const char *name,
                                const uint8_t *bytes,
                                size_t size,
                                const struct facet_import_options *options,
                                struct facet_scene *out,
                                struct facet_error *err)
{
    struct facet_scene_folder folder = {.path = ""};
    const struct facet_reader reader = {.data = bytes,
                                        .size = size,
                                        .shape_only = options->shape_only,
                                        .keep_flat = options->inactive,
                                        .fetch = fetch,
                                        .context = &folder};
    enum facet_scene_format format;
    enum facet_status status = facet_scene_detect(name, bytes, size, &format, err);

    facet_scene_init(out);
    if (status == FACET_OK) {
        status = facet_scene_parse(format, &reader, out, err);
    }
    if (status == FACET_OK) {
        status = facet_scene_accept(out, options, err);
    }
    if (status != FACET_OK) {
        facet_scene_free(out);
        (void)facet_fail_in(err, name);
    }
    return status;
}

/* The bytes of the image that `facet bvh build` makes without options. */
int PAGE_EXPORT(page_scene_build)(const char *name, const uint8_t *bytes, size_t size)
{
    static const struct facet_render_bvh_traits as_it_is;
    const struct facet_import_options shapes = {.shape_only = true, .inactive = true};
    const struct facet_gfx12_build_options options = {.quality = FACET_BVH_FAST};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image = {NULL, 0};
    struct facet_render_bvh_input input = {0};
    struct facet_progress progress;
    struct facet_scene scene;
    struct facet_error err = {0};
    enum facet_status status = import(name, bytes, size, &shapes, &scene, &err);

    if (status == FACET_OK) {
        status = facet_render_bvh_input_make(&scene, NULL, 0, &as_it_is, false, &input, &err);
    }
    if (status == FACET_OK) {
        facet_progress_start(&progress,
                             &(struct facet_progress_config){.total = input.triangle_count});
        status = facet_gfx12_build(&input.scene, &options, NULL, &progress, &image, &report, &err);
    }
    facet_render_bvh_input_free(&input);
    facet_scene_free(&scene);
    return status == FACET_OK ? page_give_bytes(image.bytes, (size_t)image.size) : page_fail(&err);
}

/* {"handle", "triangles", "instances", "cameras": [names]}. The handle is of use
 * when page_pictures_next has nothing: pictures that it gives are not in the scene yet, and it is
 * opened again once they are decoded. */
int PAGE_EXPORT(page_scene_open)(const char *name, const uint8_t *bytes, size_t size)
{
    static const struct facet_import_options everything;
    struct page_scene *s = calloc(1, sizeof *s);
    struct facet_error err = {0};
    struct facet_record *r;

    if (s == NULL) {
        return page_no_memory("a scene");
    }
    if (import(name, bytes, size, &everything, &s->scene, &err) != FACET_OK) {
        free(s);
        return page_fail(&err);
    }
    r = page_begin();
    facet_record_number(r, "handle", (int64_t)(uintptr_t)s);
    facet_record_number(r, "triangles", (int64_t)facet_scene_instanced_triangles(&s->scene));
    facet_record_number(r, "instances", s->scene.instance_count);
    facet_record_list(r, "cameras");
    for (uint32_t i = 0; i < s->scene.camera_count; i++) {
        facet_record_word(r, NULL, s->scene.cameras[i].name);
    }
    facet_record_close(r);
    return page_end();
}

int PAGE_EXPORT(page_scene_close)(struct page_scene *s)
{
    facet_scene_free(&s->scene);
    free(s);
    return page_done();
}

/* ---- cameras ---- */

enum facet_status page_scene_camera_of(const struct page_scene *s,
                                       uint32_t number,
                                       struct facet_scene_camera *out,
                                       struct facet_error *err)
{
    if (number == FACET_SCENE_NONE) {
        facet_scene_frame(&s->scene.bounds, out);
        return FACET_OK;
    }
    if (number >= s->scene.camera_count) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          number,
                          "camera %u of %u",
                          (unsigned)number,
                          (unsigned)s->scene.camera_count);
    }
    *out = s->scene.cameras[number];
    return FACET_OK;
}

/* Ten doubles as page_bvh_camera has them, for whoever draws lines over the picture or turns the
 * camera: it looks at the place before it that is nearest to the middle of the scene. An
 * orthographic camera has no angle: 0. */
int PAGE_EXPORT(page_scene_camera)(const struct page_scene *s, uint32_t number)
{
    const struct facet_bounds *b = &s->scene.bounds;
    struct facet_scene_camera camera;
    struct facet_error err = {0};
    double *out, distance = 0.0, size = 0.0;

    if (page_scene_camera_of(s, number, &camera, &err) != FACET_OK) {
        return page_fail(&err);
    }
    out = calloc(10, sizeof *out);
    if (out == NULL) {
        return page_no_memory("a camera");
    }
    for (unsigned k = 0; k < 3; k++) {
        out[k] = (double)camera.transform[4 * k + 3];
        out[6 + k] = (double)camera.transform[4 * k + 1];
        distance -= (((double)b->lo[k] + (double)b->hi[k]) / 2 - out[k]) *
                    (double)camera.transform[4 * k + 2];
        size += (double)b->hi[k] - (double)b->lo[k];
    }
    distance = distance > 1e-3 * size ? distance : size > 0.0 ? size : 1.0;
    for (unsigned k = 0; k < 3; k++) {
        out[3 + k] = out[k] - distance * (double)camera.transform[4 * k + 2];
    }
    out[9] = camera.kind == FACET_CAMERA_PERSPECTIVE
                 ? (double)camera.y_fov * 180.0 / 3.14159265358979323846
                 : 0.0;
    return page_give_bytes(out, 10 * sizeof *out);
}
