/* See camera.h. */
#include "report/camera.h"

#include "gfx12/ask/bounds.h"
#include "image/image.h"
#include "scene/import.h"
#include "shade/picture.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1280x720" */
bool report_size_read(const struct cli_args *args, uint64_t *width, uint64_t *height)
{
    const char *text = cli_value(args, "size");
    unsigned w = 1280, h = 720;
    int used = 0;

    if (text != NULL) {
        if (strspn(text, "0123456789x") != strlen(text) || strlen(text) > 16 ||
            sscanf(text, "%5ux%5u%n", &w, &h, &used) != 2 || text[used] != '\0' || w == 0 ||
            h == 0 || w > FACET_IMAGE_MAX_SIDE || h > FACET_IMAGE_MAX_SIDE) {
            (void)cli_bad(args,
                          "--size is '%s'; expected WIDTHxHEIGHT, each from 1 to %u",
                          text,
                          FACET_IMAGE_MAX_SIDE);
            return false;
        }
    }
    *width = w;
    *height = h;
    return true;
}

/* Three numbers with commas or blanks between them; an option that was not given leaves `out`
 * alone. */
static bool read_point(const struct cli_args *args, const char *option, double out[3])
{
    const char *text = cli_value(args, option);
    const char *at = text;
    unsigned count = 0;

    if (text == NULL) {
        return true;
    }
    while (count < 3) {
        char *end;

        out[count] = strtod(at, &end);
        if (end == at || !isfinite(out[count]) || fabs(out[count]) > 1e30) {
            break;
        }
        count++;
        at = end;
        while (*at == ',' || isspace((unsigned char)*at)) {
            at++;
        }
    }
    if (count != 3 || *at != '\0') {
        (void)cli_bad(args, "--%s is '%s'; expected three numbers: X,Y,Z", option, text);
        return false;
    }
    return true;
}

bool report_camera_move(const struct cli_args *args,
                        const float lo[3],
                        const float hi[3],
                        struct facet_scene_camera *camera)
{
    double eye[3], target[3], up[3] = {0, 1, 0}, fov = 0.0;
    bool moved = cli_given(args, "eye") || cli_given(args, "look-at") || cli_given(args, "up");

    for (unsigned k = 0; k < 3; k++) {
        eye[k] = (double)camera->transform[4 * k + 3];
        target[k] = ((double)lo[k] + (double)hi[k]) / 2;
    }
    if (!read_point(args, "eye", eye) || !read_point(args, "look-at", target) ||
        !read_point(args, "up", up) || !cli_real(args, "fov", 0.01, 179.0, &fov)) {
        return false;
    }
    if (cli_given(args, "fov")) {
        camera->kind = FACET_CAMERA_PERSPECTIVE;
        camera->y_fov = (float)(fov * 3.14159265358979323846 / 180.0);
        camera->aspect = 0.0f;
    }
    if (moved && !facet_scene_aim(eye, target, up, camera)) {
        (void)cli_bad(args,
                      "the camera has no direction: --eye and --look-at are one point, or --up is "
                      "the line between them");
        return false;
    }
    return true;
}

bool report_camera_frame(const struct cli_args *args,
                         const struct facet_gfx12_view *view,
                         const char *name,
                         struct facet_scene_camera *camera)
{
    struct facet_bounds bounds;

    if (!facet_gfx12_view_bounds(view, bounds.lo, bounds.hi)) {
        (void)cli_bad(args, "%s: nothing to look at: the root has no children with a box", name);
        return false;
    }
    facet_scene_frame(&bounds, camera);
    return report_camera_move(args, bounds.lo, bounds.hi, camera);
}

static bool
scene_camera(const struct cli_args *args, const char *path, struct facet_scene_camera *camera)
{
    const char *which = cli_value(args, "camera");
    struct facet_error err = {0};
    struct facet_scene scene;
    uint64_t number = 0;
    bool good;

    if (facet_scene_import(path, NULL, &scene, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (which != NULL && strcmp(which, "frame") == 0) {
        facet_scene_frame(&scene.bounds, camera);
        good = true;
    } else {
        good = cli_number(args, "camera", 0, scene.camera_count - 1, &number);
        if (good) {
            *camera = scene.cameras[number];
        }
    }
    good = good && report_camera_move(args, scene.bounds.lo, scene.bounds.hi, camera);
    facet_scene_free(&scene);
    return good;
}

bool report_pixel_ray(const struct cli_args *args,
                      const struct facet_gfx12_view *view,
                      const char *name,
                      struct facet_gfx12_query *query)
{
    const char *text = cli_value(args, "pixel"), *scene = cli_value(args, "scene");
    struct facet_scene_camera camera;
    struct facet_shade_lens lens;
    struct facet_shade_ray ray;
    uint64_t width, height;
    unsigned x, y;
    int used = 0;

    if (!report_size_read(args, &width, &height)) {
        return false;
    }
    if (strspn(text, "0123456789, ") != strlen(text) || strlen(text) > 16 ||
        sscanf(text, "%5u%*1[,] %5u%n", &x, &y, &used) != 2 || text[used] != '\0' || x >= width ||
        y >= height) {
        (void)cli_bad(args,
                      "--pixel is '%s'; expected X,Y from the top left, below %ux%u (--size)",
                      text,
                      (unsigned)width,
                      (unsigned)height);
        return false;
    }
    if (scene == NULL && cli_given(args, "camera") &&
        strcmp(cli_value(args, "camera"), "frame") != 0) {
        (void)cli_bad(args,
                      "--camera N is a camera of a scene: expected --scene FILE, or "
                      "--camera frame");
        return false;
    }
    if (scene != NULL ? !scene_camera(args, scene, &camera)
                      : !report_camera_frame(args, view, name, &camera)) {
        return false;
    }
    facet_shade_lens_make(&camera, (uint32_t)width, (uint32_t)height, &lens);
    facet_shade_lens_ray(&lens, (double)x + 0.5, (double)y + 0.5, &ray);
    memcpy(query->origin, ray.origin, sizeof query->origin);
    memcpy(query->direction, ray.direction, sizeof query->direction);
    query->t_min = ray.t_min;
    query->t_max = ray.t_max;
    return true;
}
