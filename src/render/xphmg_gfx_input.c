/* See xphmg_gfx_input.h: the camera as a matrix, boxes around 64 triangles each, the grade. */
#include "render/xphmg_gfx_input.h"

#include <math.h>
#include <stdlib.h>

/* ---- the camera ---- */

/* World to camera: the inverse of the camera's place, whose axes have length 1 but may be skewed.
 */
static void invert(const float m[12], double out[12])
{
    double a[3][3], determinant = 0.0;

    for (unsigned r = 0; r < 3; r++) {
        for (unsigned c = 0; c < 3; c++) {
            unsigned r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;

            a[c][r] = (double)m[4 * r1 + c1] * (double)m[4 * r2 + c2] -
                      (double)m[4 * r1 + c2] * (double)m[4 * r2 + c1];
        }
    }
    for (unsigned c = 0; c < 3; c++) {
        determinant += (double)m[c] * a[c][0];
    }
    for (unsigned r = 0; r < 3; r++) {
        double moved = 0.0;

        for (unsigned c = 0; c < 3; c++) {
            out[4 * r + c] = determinant != 0.0 ? a[r][c] / determinant : 0.0;
            moved += out[4 * r + c] * (double)m[4 * c + 3];
        }
        out[4 * r + 3] = -moved;
    }
}

/* The farthest that anything is from the camera. */
static double reach(const struct facet_picture *picture)
{
    const struct facet_bounds *b = &picture->scene->bounds;
    double square = 0.0;

    for (unsigned i = 0; i < 3; i++) {
        double at = (double)picture->camera.transform[4 * i + 3];
        double side = fmax(fabs((double)b->lo[i] - at), fabs((double)b->hi[i] - at));

        square += side * side;
    }
    return 1.01 * sqrt(square) + 1e-30;
}

/* Rows right, up, depth and one in camera space make x, y, z, w. Near is 1 and far is 0: floats are
 * dense around 0, where perspective leaves little room. */
static void make_clip(const struct facet_picture *picture, float clip[16])
{
    const struct facet_scene_camera *camera = &picture->camera;
    bool flat = camera->kind == FACET_CAMERA_ORTHOGRAPHIC;
    struct facet_shade_lens lens;
    double view[12], near = (double)camera->z_near, far = (double)camera->z_far, scale, offset;

    facet_shade_lens_make(camera, picture->width, picture->height, &lens);
    invert(camera->transform, view);
    if (flat) {
        far = far > 0.0 ? far : fmax(reach(picture), 2.0 * near);
        scale = -1.0 / (far - near);
        offset = far / (far - near);
    } else {
        near = fmax(near, 1e-6 * reach(picture)); /* a near plane at 0 has no perspective depth */
        scale = far > near ? -near / (far - near) : 0.0;
        offset = far > near ? near * far / (far - near) : near;
    }
    for (unsigned c = 0; c < 4; c++) {
        double one = c == 3 ? 1.0 : 0.0, depth = -view[8 + c];

        clip[c] = (float)(view[c] / lens.half_width);
        clip[4 + c] = (float)(view[4 + c] / lens.half_height);
        clip[8 + c] = (float)(scale * depth + offset * one);
        clip[12 + c] = (float)(flat ? one : depth);
    }
}

/* ---- boxes ---- */

static uint32_t clusters_of(const struct facet_scene_mesh *mesh)
{
    return (mesh->triangle_count + FACET_GUEST_GFX_CLUSTER - 1) / FACET_GUEST_GFX_CLUSTER;
}

static void enclose(const struct facet_scene_mesh *mesh, uint32_t first, float box[6])
{
    uint32_t count = mesh->triangle_count - first;

    count = count < FACET_GUEST_GFX_CLUSTER ? count : FACET_GUEST_GFX_CLUSTER;
    for (uint32_t i = 0; i < 3 * count; i++) {
        const float *p = mesh->positions + (size_t)3 * mesh->indices[(size_t)3 * first + i];

        for (unsigned c = 0; c < 3; c++) {
            box[c] = i == 0 || p[c] < box[c] ? p[c] : box[c];
            box[3 + c] = i == 0 || p[c] > box[3 + c] ? p[c] : box[3 + c];
        }
    }
}

static void make_boxes(const struct facet_scene *scene,
                       struct facet_progress *progress,
                       uint32_t *firsts,
                       float *boxes)
{
    uint32_t made = 0;

    for (uint32_t m = 0; m < scene->mesh_count; m++) {
        const struct facet_scene_mesh *mesh = &scene->meshes[m];

        firsts[m] = made;
        for (uint32_t k = 0; k < clusters_of(mesh); k++) {
            enclose(mesh, k * FACET_GUEST_GFX_CLUSTER, boxes + (size_t)6 * made++);
        }
        facet_progress_add(progress, mesh->triangle_count);
    }
    firsts[scene->mesh_count] = made;
}

/* Each corner of the mesh's box goes to the world; a float is too small by half a step at most, and
 * the bucket's frustum is wider than that. */
static void place_box(const struct facet_scene *scene, uint32_t i, float box[6])
{
    const struct facet_scene_instance *instance = &scene->instances[i];
    const struct facet_bounds *b = &scene->meshes[instance->mesh].bounds;

    for (unsigned r = 0; r < 3; r++) {
        const float *row = instance->transform + (size_t)4 * r;
        double lo = (double)row[3], hi = lo;

        for (unsigned c = 0; c < 3; c++) {
            double p = (double)row[c] * (double)b->lo[c], q = (double)row[c] * (double)b->hi[c];

            lo += fmin(p, q);
            hi += fmax(p, q);
        }
        box[r] = (float)lo;
        box[3 + r] = (float)hi;
    }
}

/* ---- the grade ---- */

/* A little more contrast around the middle, then a little more saturation. */
static void make_lut(float lut[FACET_GUEST_GFX_LUT_FLOATS])
{
    const double last = FACET_GUEST_GFX_LUT_SIDE - 1;

    for (uint32_t e = 0; e < FACET_GUEST_GFX_LUT_FLOATS / 3; e++) {
        const uint32_t at[3] = {e % FACET_GUEST_GFX_LUT_SIDE,
                                e / FACET_GUEST_GFX_LUT_SIDE % FACET_GUEST_GFX_LUT_SIDE,
                                e / (FACET_GUEST_GFX_LUT_SIDE * FACET_GUEST_GFX_LUT_SIDE)};
        double rgb[3], grey;

        for (unsigned c = 0; c < 3; c++) {
            double x = (double)at[c] / last;

            rgb[c] = x + 0.15 * x * (1.0 - x) * (x - 0.45);
        }
        grey = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
        for (unsigned c = 0; c < 3; c++) {
            double value = grey + 1.06 * (rgb[c] - grey);

            lut[3 * e + c] = (float)(value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0);
        }
    }
}

/* ---- all of it ---- */

enum facet_status facet_render_gfx_input_make(const struct facet_picture *picture,
                                              struct facet_progress *progress,
                                              struct facet_guest_gfx_input **out,
                                              struct facet_error *err)
{
    const struct facet_scene *scene = picture->scene;
    uint64_t firsts = sizeof(uint32_t) * ((uint64_t)scene->mesh_count + 1), clusters = 0, boxes;
    uint64_t bytes;
    struct facet_guest_gfx_input *input;

    for (uint32_t m = 0; m < scene->mesh_count; m++) {
        clusters += clusters_of(&scene->meshes[m]);
    }
    boxes = sizeof(float[6]) * clusters;
    bytes = sizeof *input + firsts + boxes + sizeof(float[6]) * (uint64_t)scene->instance_count;
    input = calloc(1, bytes);
    if (input == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for %llu boxes", (unsigned long long)clusters);
    }
    input->bytes = bytes;
    input->firsts_at = sizeof *input;
    input->boxes_at = sizeof *input + firsts;
    input->instances_at = input->boxes_at + boxes;
    input->distant_lights = true;
    for (uint32_t i = 0; i < scene->light_count; i++) {
        input->distant_lights &= scene->lights[i].kind == FACET_LIGHT_DIRECTIONAL;
    }
    make_clip(picture, input->clip);
    make_boxes(scene,
               progress,
               (uint32_t *)((char *)input + input->firsts_at),
               (float *)((char *)input + input->boxes_at));
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        place_box(scene, i, (float *)((char *)input + input->instances_at) + (size_t)6 * i);
    }
    make_lut(input->lut);
    *out = input;
    return FACET_OK;
}
