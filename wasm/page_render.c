/* Pictures of scenes by any machine, some buckets at a time: what `facet render` draws, and what
 * `facet why` tells about a pixel. */
#include "wasm/page_bvh.h"
#include "wasm/page_scene.h"

#include "image/compare.h"
#include "render/heat.h"
#include "render/render.h"
#include "report/pixel.h"
#include "shade/light.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a picture is asked for: options of `facet render`, as the page packs them. */
struct look {
    double width, height, spp, seed, bounces, ao_rays; /* ao_rays 0: --no-ao */
    double ao_distance;                                /* 0: the default */
    double exposure, camera;                           /* camera below 0: frame */
    double view, shadows, clamp;                       /* enum facet_shade_view; bool; bool */
};

struct page_render {
    struct facet_render_options options;
    struct facet_render_some some;
    struct facet_render *render;
    struct facet_render_report report; /* sums */
    struct facet_image_f image;
    uint8_t *done; /* by bucket */
    float exposure;
    bool clamp;
};

/* ---- what is asked ---- */

struct bound {
    const char *name;
    double least, most;
};

/* In the order of the members of struct look. */
static const struct bound bounds[] = {{"width", 1, FACET_IMAGE_MAX_SIDE},
                                      {"height", 1, FACET_IMAGE_MAX_SIDE},
                                      {"spp", 1, FACET_RENDER_MAX_SPP},
                                      {"seed", 0, UINT32_MAX},
                                      {"bounces", 0, FACET_RENDER_MAX_BOUNCES},
                                      {"ao-rays", 0, FACET_RENDER_MAX_AO_RAYS},
                                      {"ao-distance", 0, 1e30},
                                      {"exposure", 1e-6, 1e6},
                                      {"camera", -1, FACET_SCENE_MAX_CAMERAS},
                                      {"view", 0, FACET_SHADE_TRIANGLES},
                                      {"shadows", 0, 1},
                                      {"clamp", 0, 1}};

static enum facet_status check(const struct look *look, size_t bytes, struct facet_error *err)
{
    const size_t count = sizeof bounds / sizeof bounds[0];
    double values[sizeof bounds / sizeof bounds[0]];

    if (bytes != sizeof *look) {
        return facet_fail(err, FACET_ERR_USAGE, bytes, "a look has %zu numbers", count);
    }
    memcpy(values, look, sizeof values);
    for (size_t i = 0; i < count; i++) {
        const bool real =
            strcmp(bounds[i].name, "ao-distance") == 0 || strcmp(bounds[i].name, "exposure") == 0;

        if (!(values[i] >= bounds[i].least && values[i] <= bounds[i].most) ||
            (!real && values[i] != floor(values[i]))) {
            return facet_fail(err,
                              FACET_ERR_USAGE,
                              i,
                              "%s is %g; expected %s from %g to %g",
                              bounds[i].name,
                              values[i],
                              real ? "a number" : "a whole number",
                              bounds[i].least,
                              bounds[i].most);
        }
    }
    return FACET_OK;
}

/* The options of `facet render`; the camera moves as --eye, --look-at, --up and --fov move it. */
static enum facet_status read_options(const struct page_scene *s,
                                      const char *machine,
                                      const struct look *look,
                                      size_t bytes,
                                      const double *place,
                                      size_t place_bytes,
                                      struct facet_render_options *out,
                                      struct facet_error *err)
{
    enum facet_status status = check(look, bytes, err);

    if (status != FACET_OK) {
        return status;
    }
    facet_render_options_default(out, &s->scene);
    out->machine = facet_render_machine_find(machine);
    out->width = (uint32_t)look->width;
    out->height = (uint32_t)look->height;
    out->spp = (uint32_t)look->spp;
    out->seed = (uint32_t)look->seed;
    out->bounces = (uint32_t)look->bounces;
    out->ao_rays = (uint32_t)look->ao_rays;
    out->ao_distance = (float)look->ao_distance;
    out->view = (enum facet_shade_view)look->view;
    out->shadows = look->shadows != 0.0;
    status = page_scene_camera_of(
        s, look->camera < 0.0 ? FACET_SCENE_NONE : (uint32_t)look->camera, &out->camera, err);
    if (status == FACET_OK) {
        status = page_camera_move(place, place_bytes, &out->camera, err);
    }
    return status == FACET_OK ? facet_image_check_size(out->width, out->height, err) : status;
}

static float exposure_of(const struct page_scene *s,
                         const struct facet_render_options *o,
                         const struct look *look)
{
    return (o->machine->display ? 1.0F : facet_shade_exposure(&s->scene)) * (float)look->exposure;
}

/* The names of the machines: ["gfx12", ...], each with whether it traces rays. */
int PAGE_EXPORT(page_render_machines)(void)
{
    struct facet_record *r = page_begin();

    facet_record_list(r, "machines");
    for (size_t i = 0; facet_render_machines[i] != NULL; i++) {
        const struct facet_render_machine *m = facet_render_machines[i];

        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "name", m->name);
        facet_record_word(r, "summary", m->summary);
        facet_record_bool(r, "rays", !m->rasterizes);
        facet_record_bool(r, "whole", m->one_unit);
        facet_record_close(r);
    }
    facet_record_close(r);
    return page_end();
}

static void put_left_out(struct facet_record *r, const struct facet_scene *scene)
{
    facet_record_list(r, "left_out");
    for (uint32_t i = 0; i < scene->left_out_count; i++) {
        const struct facet_left_out *note = &scene->left_out[i];

        facet_record_open(r, NULL, NULL);
        facet_record_number(r, "count", note->count);
        facet_record_word(r, "what", note->what);
        facet_record_word(r, "first", note->first);
        facet_record_word(r, "why", note->why);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* What the file has and the scene, or its picture by a machine (an empty name: none), does not. */
int PAGE_EXPORT(page_render_left_out)(struct page_scene *s, const char *machine)
{
    const struct facet_render_machine *m = facet_render_machine_find(machine);
    struct facet_scene *scene = &s->scene;
    struct facet_scene own = {.left_out_count = 0};
    struct facet_error err = {0};
    enum facet_status status = FACET_OK;

    /* A copy is noted in, so that the next machine does not find the notes of this one. */
    for (uint32_t i = 0; i < scene->left_out_count && status == FACET_OK; i++) {
        status = facet_scene_add_left_out(&own, &scene->left_out[i], &err);
    }
    if (status == FACET_OK && m != NULL && m->note_left_out != NULL) {
        struct facet_scene noted = *scene;

        noted.left_out = own.left_out;
        status = m->note_left_out(&noted, &err);
        own.left_out = noted.left_out;
        own.left_out_count = noted.left_out_count;
    }
    if (status == FACET_OK) {
        put_left_out(page_begin(), &own);
    }
    free(own.left_out);
    return status == FACET_OK ? page_end() : page_fail(&err);
}

/* ---- a picture ---- */

static void close_render(struct page_render *p)
{
    if (p != NULL) {
        facet_render_close(p->render);
        facet_image_f_free(&p->image);
        free(p->done);
        free(p);
    }
}

/* The scene must stay open. {"handle", "buckets"}. */
int PAGE_EXPORT(page_render_open)(const struct page_scene *s,
                                  const char *machine,
                                  const struct look *look,
                                  size_t bytes,
                                  const double *place,
                                  size_t place_bytes)
{
    struct page_render *p = calloc(1, sizeof *p);
    struct facet_progress progress;
    struct facet_error err = {0};
    struct facet_record *r;
    enum facet_status status;

    if (p == NULL) {
        return page_no_memory("a picture");
    }
    status = read_options(s, machine, look, bytes, place, place_bytes, &p->options, &err);
    if (status == FACET_OK) {
        p->options.some = &p->some;
        facet_progress_start(
            &progress,
            &(struct facet_progress_config){.total = facet_scene_instanced_triangles(&s->scene)});
        status = facet_render_open(&s->scene, &p->options, NULL, &progress, &p->render, &err);
    }
    if (status == FACET_OK) {
        status = facet_image_f_create(&p->image, p->options.width, p->options.height, &err);
    }
    if (status == FACET_OK) {
        p->done = calloc(facet_render_buckets(&p->options), 1);
        status = p->done != NULL ? FACET_OK
                                 : facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for a picture");
    }
    if (status != FACET_OK) {
        close_render(p);
        return page_fail(&err);
    }
    p->exposure = exposure_of(s, &p->options, look);
    p->clamp = look->clamp != 0.0 || p->options.machine->display;
    r = page_begin();
    facet_record_number(r, "handle", (int64_t)(uintptr_t)p);
    facet_record_number(r, "buckets", facet_render_buckets(&p->options));
    return page_end();
}

int PAGE_EXPORT(page_render_close)(struct page_render *p)
{
    close_render(p);
    return page_done();
}

static void put_report(struct facet_record *r, const struct facet_render_report *report)
{
    int64_t rays = 0, hits = 0, nodes = 0;

    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        rays += (int64_t)report->cost[k].rays;
        hits += (int64_t)report->cost[k].hits;
        nodes += (int64_t)report->cost[k].nodes;
    }
    facet_record_number(r, "rays", rays);
    facet_record_number(r, "hits", hits);
    facet_record_number(r, "nodes", nodes);
    facet_record_number(r, "instructions", (int64_t)report->instructions);
    facet_record_number(r, "commands", (int64_t)report->commands);
    facet_record_number(r, "triangles", (int64_t)report->triangles);
}

static void add(struct facet_render_report *sum, const struct facet_render_report *more)
{
    for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
        sum->cost[k].rays += more->cost[k].rays;
        sum->cost[k].hits += more->cost[k].hits;
        sum->cost[k].nodes += more->cost[k].nodes;
    }
    sum->instructions += more->instructions;
    sum->commands += more->commands;
    sum->triangles += more->triangles;
}

/* Draws buckets first .. first + count, all of them on a machine that cannot cut its picture;
 * {"rays", ...}: sums since the picture was opened. */
int PAGE_EXPORT(page_render_draw)(struct page_render *p, uint32_t first, uint32_t count)
{
    const uint32_t buckets = facet_render_buckets(&p->options);
    struct facet_render_report report;
    struct facet_error err = {0};
    struct facet_record *r;

    if (first >= buckets || count > buckets - first) {
        (void)facet_fail(&err, FACET_ERR_USAGE, first, "the picture has %u buckets", buckets);
        return page_fail(&err);
    }
    p->some = (struct facet_render_some){first, count};
    if (facet_render_draw(p->render, NULL, NULL, &p->image, &report, &err) != FACET_OK) {
        return page_fail(&err);
    }
    memset(p->done + first, 1, count);
    add(&p->report, &report);
    r = page_begin();
    put_report(r, &p->report);
    return page_end();
}

static uint32_t bucket_of(const struct page_render *p, uint32_t x, uint32_t y)
{
    return y / FACET_BUCKET * ((p->image.width + FACET_BUCKET - 1) / FACET_BUCKET) +
           x / FACET_BUCKET;
}

/* A float that ends the colour scale of counts, 0 for light; then the picture as RGBA. What is not
 * drawn yet is transparent. */
int PAGE_EXPORT(page_render_show)(const struct page_render *p)
{
    const uint32_t width = p->image.width, height = p->image.height;
    const bool counts = p->options.view != FACET_SHADE_PICTURE;
    const float end = counts ? facet_render_heat_limit(&p->image) : 0.0F;
    uint8_t *out = calloc(1 + (size_t)width * height, 4);

    if (out == NULL) {
        return page_no_memory("a picture");
    }
    memcpy(out, &end, sizeof end);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const size_t at = (size_t)y * width + x;

            if (p->done[bucket_of(p, x, y)] == 0) {
                continue;
            }
            if (counts) {
                facet_image_heat_color(p->image.rgb[3 * at] / end, out + 4 + 4 * at);
            } else {
                facet_render_develop_pixel(
                    p->image.rgb + 3 * at, p->exposure, p->clamp, out + 4 + 4 * at);
            }
        }
    }
    return page_give_bytes(out, 4 + 4 * (size_t)width * height);
}

/* The light, or the counts, of all pixels: three floats each, as a .pfm has them. */
int PAGE_EXPORT(page_render_light)(const struct page_render *p)
{
    const size_t bytes = 12 * (size_t)p->image.width * p->image.height;
    float *copy = malloc(bytes);

    if (copy == NULL) {
        return page_no_memory("the light of a picture");
    }
    memcpy(copy, p->image.rgb, bytes);
    return page_give_bytes(copy, bytes);
}

/* ---- a pixel ---- */

static enum facet_status
check_pixel(const struct facet_render_options *o, uint32_t x, uint32_t y, struct facet_error *err)
{
    return x < o->width && y < o->height ? FACET_OK
                                         : facet_fail(err,
                                                      FACET_ERR_USAGE,
                                                      0,
                                                      "pixel %u,%u of a picture of %u x %u",
                                                      (unsigned)x,
                                                      (unsigned)y,
                                                      (unsigned)o->width,
                                                      (unsigned)o->height);
}

/* The ray through the middle of a pixel: eight floats. */
int PAGE_EXPORT(page_render_pixel_ray)(const struct page_scene *s,
                                       const struct look *look,
                                       size_t bytes,
                                       const double *place,
                                       size_t place_bytes,
                                       uint32_t x,
                                       uint32_t y)
{
    struct facet_render_options options;
    struct facet_shade_lens lens;
    struct facet_shade_ray ray;
    struct facet_error err = {0};

    if (read_options(s, "gfx12", look, bytes, place, place_bytes, &options, &err) != FACET_OK ||
        check_pixel(&options, x, y, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_shade_lens_make(&options.camera, options.width, options.height, &lens);
    facet_shade_lens_ray(&lens, (double)x + 0.5, (double)y + 0.5, &ray);
    return page_give_ray(&ray);
}

/* What `facet why --pixel X,Y` prints, as JSON or as text. */
int PAGE_EXPORT(page_render_why)(const struct page_scene *s,
                                 const char *machine,
                                 const struct look *look,
                                 size_t bytes,
                                 const double *place,
                                 size_t place_bytes,
                                 uint32_t x,
                                 uint32_t y,
                                 int json)
{
    struct facet_render_pixel seen = {.x = x, .y = y};
    struct facet_render_options options;
    struct report_pixel p = {
        .scene = &s->scene, .options = &options, .seen = &seen, .max_nodes = 1000};
    struct facet_record record;
    struct facet_error err = {0};
    enum facet_status status =
        read_options(s, machine, look, bytes, place, place_bytes, &options, &err);

    facet_record_init(&record, json != 0);
    if (status == FACET_OK) {
        status = check_pixel(&options, x, y, &err);
    }
    if (status == FACET_OK) {
        options.view = FACET_SHADE_PICTURE;
        status = report_pixel_ask(
            &p, &options, &seen, NULL, (float)look->exposure, look->clamp != 0.0, &err);
    }
    if (status == FACET_OK) {
        report_pixel_record(&record, &p, false);
        facet_record_end(&record);
        status =
            record.text.failed ? facet_fail(&err, FACET_ERR_MEMORY, 0, "out of memory") : FACET_OK;
    }
    report_pixel_free(&p, &seen);
    if (status != FACET_OK) {
        facet_record_free(&record);
        return page_fail(&err);
    }
    return page_give((struct facet_blob){record.text.text, record.text.length});
}
