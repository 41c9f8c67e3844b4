/* Pictures of GFX12 images, some rows at a time: what `facet bvh render` draws. */
#include "wasm/page_bvh.h"

#include "gfx12/ask/bounds.h"
#include "gfx12/ask/procedural.h"
#include "image/color.h"
#include "image/compare.h"
#include "render/bvh_view.h"
#include "render/heat.h"
#include "render/render.h"
#include "scene/scene.h"
#include "shade/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct page_picture {
    facet_render_bvh_drawing *drawing;
    struct facet_image_f image;
    enum facet_render_aov aov;
    struct facet_render_bvh_seen seen;
    uint32_t done; /* rows, from the top */
};

enum facet_status page_camera_move(const double *numbers,
                                   size_t bytes,
                                   struct facet_scene_camera *camera,
                                   struct facet_error *err)
{
    if (bytes == 0) {
        return FACET_OK;
    }
    for (size_t i = 0; i < 10; i++) {
        if (bytes != 10 * sizeof *numbers || !isfinite(numbers[i]) || fabs(numbers[i]) > 1e30) {
            return facet_fail(err, FACET_ERR_USAGE, i, "a camera has ten finite numbers");
        }
    }
    if (numbers[9] < 0.01 || numbers[9] > 179.0) {
        return facet_fail(err, FACET_ERR_USAGE, 9, "the camera's angle is 0.01 to 179 degrees");
    }
    camera->kind = FACET_CAMERA_PERSPECTIVE;
    camera->y_fov = (float)(numbers[9] * 3.14159265358979323846 / 180.0);
    camera->aspect = 0.0F;
    if (!facet_scene_aim(numbers, numbers + 3, numbers + 6, camera)) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "the camera has no direction: eye and target are one point, or up is the "
                          "line between them");
    }
    return FACET_OK;
}

/* A camera as the page has it; no numbers: one that sees everything. */
static enum facet_status find_camera(const struct page_bvh *b,
                                     const double *numbers,
                                     size_t bytes,
                                     struct facet_bounds *bounds,
                                     struct facet_scene_camera *camera,
                                     struct facet_error *err)
{
    enum facet_status status = page_bvh_needs_gfx12(b, err);

    if (status != FACET_OK) {
        return status;
    }
    if (!facet_gfx12_view_bounds(&b->view, bounds->lo, bounds->hi)) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "nothing to look at: the root has no children with a box");
    }
    facet_scene_frame(bounds, camera);
    return page_camera_move(numbers, bytes, camera, err);
}

/* The answer: ten doubles, as above, for the camera that sees everything, and six for the bounds.
 */
int PAGE_EXPORT(page_bvh_camera)(const struct page_bvh *b)
{
    double *out = calloc(16, sizeof *out);
    struct facet_scene_camera camera;
    struct facet_bounds bounds;
    struct facet_error err = {0};

    if (out == NULL) {
        return page_no_memory("a camera");
    }
    if (find_camera(b, NULL, 0, &bounds, &camera, &err) != FACET_OK) {
        free(out);
        return page_fail(&err);
    }
    for (unsigned k = 0; k < 3; k++) {
        out[k] = (double)camera.transform[4 * k + 3];
        out[3 + k] = ((double)bounds.lo[k] + (double)bounds.hi[k]) / 2;
        out[6 + k] = k == 1 ? 1.0 : 0.0;
        out[10 + k] = (double)bounds.lo[k];
        out[13 + k] = (double)bounds.hi[k];
    }
    out[9] = 45.0;
    return page_give_bytes(out, 16 * sizeof *out);
}

int page_give_ray(const struct facet_shade_ray *ray)
{
    float *out = malloc(8 * sizeof *out);

    if (out == NULL) {
        return page_no_memory("a ray");
    }
    memcpy(out, ray->origin, sizeof ray->origin);
    memcpy(out + 3, ray->direction, sizeof ray->direction);
    out[6] = ray->t_min;
    out[7] = ray->t_max;
    return page_give_bytes(out, 8 * sizeof *out);
}

/* The ray through the middle of a pixel: eight floats. */
int PAGE_EXPORT(page_bvh_pixel_ray)(const struct page_bvh *b,
                                    uint32_t x,
                                    uint32_t y,
                                    uint32_t width,
                                    uint32_t height,
                                    const double *numbers,
                                    size_t bytes)
{
    struct facet_shade_lens lens;
    struct facet_shade_ray ray;
    struct facet_scene_camera camera;
    struct facet_bounds bounds;
    struct facet_error err = {0};

    if (find_camera(b, numbers, bytes, &bounds, &camera, &err) != FACET_OK ||
        facet_image_check_size(width, height, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_shade_lens_make(&camera, width, height, &lens);
    facet_shade_lens_ray(&lens, (double)x + 0.5, (double)y + 0.5, &ray);
    return page_give_ray(&ray);
}

static void close(struct page_picture *p)
{
    if (p != NULL) {
        facet_render_bvh_end(p->drawing);
        facet_image_f_free(&p->image);
        free(p);
    }
}

/* `aov`: enum facet_render_aov. The image must stay open. */
int PAGE_EXPORT(page_picture_open)(const struct page_bvh *b,
                                   uint32_t width,
                                   uint32_t height,
                                   const double *numbers,
                                   size_t bytes,
                                   int aov,
                                   uint32_t flags,
                                   uint32_t mask,
                                   int procedural)
{
    struct page_picture *p = calloc(1, sizeof *p);
    const float zero[3] = {0, 0, 0};
    struct facet_render_bvh_look look = {
        .width = width, .height = height, .aov = (enum facet_render_aov)aov};
    struct facet_bounds bounds;
    struct facet_error err = {0};

    if (p == NULL) {
        return page_no_memory("a picture");
    }
    facet_gfx12_query_init(&look.common, zero, zero);
    look.common.api_flags = flags;
    look.common.instance_mask = mask;
    look.common.callbacks.procedural = procedural != 0 ? facet_gfx12_procedural_box : NULL;
    p->aov = look.aov;
    if (find_camera(b, numbers, bytes, &bounds, &look.camera, &err) != FACET_OK ||
        facet_render_bvh_begin(&b->view, &look, &p->image, &p->drawing, &err) != FACET_OK) {
        close(p);
        return page_fail(&err);
    }
    return page_give_handle(p);
}

int PAGE_EXPORT(page_picture_close)(struct page_picture *p)
{
    close(p);
    return page_done();
}

/* The next rows; {"done", "rays", "hits", "nodes"}, sums since the first row. */
int PAGE_EXPORT(page_picture_rows)(struct page_picture *p, uint32_t count)
{
    const uint32_t left = p->image.height - p->done;
    struct facet_render_bvh_seen seen;
    struct facet_error err = {0};
    struct facet_record *r;

    count = count < left ? count : left;
    if (count != 0) {
        if (facet_render_bvh_rows(p->drawing, p->done, count, NULL, NULL, &seen, &err) !=
            FACET_OK) {
            return page_fail(&err);
        }
        p->done += count;
        p->seen.rays += seen.rays;
        p->seen.hits += seen.hits;
        p->seen.nodes += seen.nodes;
    }
    r = page_begin();
    facet_record_number(r, "done", p->done);
    facet_record_number(r, "rays", (int64_t)p->seen.rays);
    facet_record_number(r, "hits", (int64_t)p->seen.hits);
    facet_record_number(r, "nodes", (int64_t)p->seen.nodes);
    return page_end();
}

static bool is_counted(enum facet_render_aov aov)
{
    return aov == FACET_AOV_NODES || aov == FACET_AOV_PAIRS || aov == FACET_AOV_CANDIDATES;
}

/* The rows that are done as a picture of their own, in the memory of the whole. */
static struct facet_image_f done_rows(const struct page_picture *p)
{
    return (struct facet_image_f){p->image.width, p->done, p->image.rgb};
}

/* A float that ends the colour scale, then the rows that are done as RGBA. `limit` 0: by what is
 * there. */
int PAGE_EXPORT(page_picture_show)(const struct page_picture *p, double limit)
{
    const struct facet_image_f rows = done_rows(p);
    const size_t pixels = (size_t)rows.width * rows.height;
    const float end = !is_counted(p->aov) ? 0.0F
                      : limit > 0.0       ? (float)limit
                      : p->done != 0      ? facet_render_heat_limit(&rows)
                                          : 1.0F;
    uint8_t *out = malloc(4 + 4 * pixels);
    struct facet_image_f greys = rows;

    if (out != NULL && p->aov == FACET_AOV_DEPTH) {
        greys.rgb = malloc(12 * pixels + 1);
        if (greys.rgb != NULL) {
            memcpy(greys.rgb, rows.rgb, 12 * pixels);
            facet_render_depth_greys(&greys);
        }
    }
    if (out == NULL || greys.rgb == NULL) {
        free(out);
        return page_no_memory("a picture");
    }
    memcpy(out, &end, sizeof end);
    for (size_t i = 0; i < pixels; i++) {
        if (is_counted(p->aov)) {
            facet_image_heat_color(rows.rgb[3 * i] / end, out + 4 + 4 * i);
        } else {
            facet_render_develop_pixel(greys.rgb + 3 * i, 1.0F, true, out + 4 + 4 * i);
        }
    }
    if (greys.rgb != rows.rgb) {
        free(greys.rgb);
    }
    return page_give_bytes(out, 4 + 4 * pixels);
}

/* Depths or counts of the rows that are done, a float per pixel. */
int PAGE_EXPORT(page_picture_values)(const struct page_picture *p)
{
    const size_t pixels = (size_t)p->image.width * p->done;
    float *out = malloc(4 * pixels + 1);

    if (out == NULL) {
        return page_no_memory("the numbers of a picture");
    }
    for (size_t i = 0; i < pixels; i++) {
        out[i] = p->image.rgb[3 * i];
    }
    return page_give_bytes(out, 4 * pixels);
}
