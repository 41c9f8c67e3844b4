/* See bvh_view.h. */
#include "render/bvh_view.h"

#include "base/float.h"
#include "base/hash.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "shade/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RAYS_THERE = 1 << 21 };

struct row {
    uint64_t hits, nodes, candidates;
    enum facet_status status;
    struct facet_error err;
};

struct facet_render_bvh_drawing {
    struct facet_render_bvh_look look;
    facet_gfx12_tracer *tracer;
    struct facet_gfx12_unit unit;
    struct facet_shade_lens lens;
    struct facet_image_f *image;
};

/* What a device has found out about the pixels of some rows. */
struct traced {
    struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
    struct facet_gfx12_stats *stats;
    uint64_t *candidates; /* all 0 unless the picture is of them */
    size_t ray;           /* whose candidates come now */
};

struct job {
    const struct facet_render_bvh_drawing *drawing;
    uint32_t first;
    struct facet_progress *progress;
    struct row *rows;            /* the first one is row `first` */
    const struct traced *traced; /* from row `first` on; NULL: rays are traced here */
};

/* ---- what was hit ---- */

/* The triangle of the hit, in the space of its level; false for a procedural primitive. */
static bool find_triangle(const struct facet_render_bvh_drawing *d,
                          const struct facet_gfx12_hit *hit,
                          double corner[3][3])
{
    const uint8_t *bytes = facet_gfx12_unit_fetch(
        &d->unit, hit->base, facet_gfx12_id_offset(hit->node), FACET_GFX12_NODE_BYTES);
    struct facet_gfx12_pair pair;
    unsigned k = 0;

    if (hit->procedural || bytes == NULL) {
        return false;
    }
    facet_gfx12_pair_decode(bytes, facet_gfx12_id_pair(hit->node), &pair);
    if (pair.primitive_index[0] != hit->primitive_index ||
        pair.geometry_index[0] != hit->geometry_index) {
        k = 1;
    }
    for (unsigned i = 0; i < 9; i++) {
        corner[i / 3][i % 3] = (double)facet_float_of(pair.vertex[k][i / 3][i % 3]);
    }
    return true;
}

/* Normals go to the world by the transpose of world_to_object. */
static void to_world(const struct facet_render_bvh_drawing *d,
                     const struct facet_gfx12_hit *hit,
                     double normal[3])
{
    const uint8_t *bytes =
        hit->instance == FACET_GFX12_INVALID
            ? NULL
            : facet_gfx12_unit_fetch(&d->unit,
                                     facet_gfx12_base_make(d->look.common.address, 0),
                                     facet_gfx12_id_offset(hit->instance),
                                     FACET_GFX12_NODE_BYTES);
    struct facet_gfx12_instance instance;
    double n[3];

    if (bytes == NULL) {
        return;
    }
    facet_gfx12_instance_decode(bytes, &instance);
    memcpy(n, normal, sizeof n);
    for (unsigned c = 0; c < 3; c++) {
        normal[c] = 0.0;
        for (unsigned r = 0; r < 3; r++) {
            normal[c] += (double)facet_float_of(instance.world_to_object[4 * r + c]) * n[r];
        }
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool make_unit(double v[3])
{
    const double length = sqrt(dot(v, v));

    for (unsigned k = 0; k < 3; k++) {
        v[k] /= length;
    }
    return length > 0.0 && isfinite(length);
}

/* Of length 1 and towards the eye; the ray's direction itself where there is no surface to have
 * one. */
static void find_normal(const struct facet_render_bvh_drawing *d,
                        const struct facet_gfx12_query *query,
                        const struct facet_gfx12_hit *hit,
                        double normal[3])
{
    double corner[3][3], a[3], b[3];
    double view[3] = {
        -(double)query->direction[0], -(double)query->direction[1], -(double)query->direction[2]};

    (void)make_unit(view);
    memcpy(normal, view, sizeof view);
    if (!find_triangle(d, hit, corner)) {
        return;
    }
    for (unsigned k = 0; k < 3; k++) {
        a[k] = corner[1][k] - corner[0][k];
        b[k] = corner[2][k] - corner[0][k];
    }
    for (unsigned k = 0; k < 3; k++) {
        normal[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    to_world(d, hit, normal);
    if (!make_unit(normal)) {
        memcpy(normal, view, sizeof view);
    }
    for (unsigned k = 0, away = dot(normal, view) < 0.0; away && k < 3; k++) {
        normal[k] = -normal[k];
    }
}

/* ---- pixels ---- */

/* Light that comes from the eye, a little from the left and above. */
static void shade(const struct facet_render_bvh_drawing *d,
                  const struct facet_gfx12_query *query,
                  const struct facet_gfx12_hit *hit,
                  float rgb[3])
{
    const float *m = d->look.camera.transform;
    double normal[3], light[3], level;

    find_normal(d, query, hit, normal);
    for (unsigned k = 0; k < 3; k++) {
        light[k] = -0.35 * (double)m[4 * k] + 0.45 * (double)m[4 * k + 1] + (double)m[4 * k + 2];
    }
    (void)make_unit(light);
    level = 0.06 + 0.6 * fmax(0.0, dot(normal, light));
    rgb[0] = (float)level;
    rgb[1] = rgb[2] = (float)(hit->backface ? 0.55 * level : level);
}

static void id_colour(const struct facet_gfx12_hit *hit, float rgb[3])
{
    const uint32_t key[3] = {hit->instance_user_data, hit->geometry_index, hit->primitive_index};
    const uint64_t hash = facet_hash_bytes(key, sizeof key, 1);

    for (unsigned k = 0; k < 3; k++) {
        rgb[k] = 0.08f + 0.8f * (float)(hash >> (16 * k) & 0xFFFF) / 65535.0f;
    }
}

/* For callbacks.procedural: counts, and hits nothing. */
static bool count_candidate(void *context,
                            const struct facet_gfx12_ray *ray,
                            const uint8_t node[128],
                            struct facet_gfx12_hit *candidate)
{
    struct traced *counted = context;

    (void)ray;
    (void)node;
    (void)candidate;
    counted->candidates[counted->ray]++;
    return false;
}

static void colour(const struct facet_render_bvh_drawing *d,
                   const struct facet_gfx12_query *query,
                   const struct facet_gfx12_hit *hit,
                   const struct facet_gfx12_stats *stats,
                   uint64_t candidates,
                   float rgb[3])
{
    const enum facet_render_aov aov = d->look.aov;
    double normal[3];

    if (aov == FACET_AOV_CANDIDATES) {
        rgb[0] = rgb[1] = rgb[2] = (float)candidates;
    } else if (aov == FACET_AOV_NODES || aov == FACET_AOV_PAIRS) {
        rgb[0] = (float)(aov == FACET_AOV_NODES ? stats->steps : stats->primitives);
        rgb[1] = rgb[2] = rgb[0];
    } else if (aov == FACET_AOV_DEPTH) {
        rgb[0] = rgb[1] = rgb[2] = hit->found ? hit->t : INFINITY;
    } else if (!hit->found) {
        rgb[0] = rgb[1] = 0.010f;
        rgb[2] = 0.016f;
    } else if (aov == FACET_AOV_IDS) {
        id_colour(hit, rgb);
    } else if (aov == FACET_AOV_PICTURE) {
        shade(d, query, hit, rgb);
    } else {
        find_normal(d, query, hit, normal);
        for (unsigned k = 0; k < 3; k++) {
            rgb[k] = (float)(0.5 + 0.5 * normal[k]);
        }
    }
}

static void make_query(const struct facet_render_bvh_drawing *d,
                       uint32_t x,
                       uint32_t y,
                       struct facet_gfx12_query *query)
{
    struct facet_shade_ray ray;

    facet_shade_lens_ray(&d->lens, (double)x + 0.5, (double)y + 0.5, &ray);
    *query = d->look.common;
    memcpy(query->origin, ray.origin, sizeof query->origin);
    memcpy(query->direction, ray.direction, sizeof query->direction);
    query->t_min = ray.t_min;
    query->t_max = ray.t_max;
}

static enum facet_status trace_pixel(const struct facet_render_bvh_drawing *d,
                                     struct facet_gfx12_query *query,
                                     struct facet_gfx12_hit *hit,
                                     struct facet_gfx12_stats *stats,
                                     uint64_t *candidates,
                                     struct facet_error *err)
{
    struct traced counted = {.candidates = candidates};

    if (d->look.aov == FACET_AOV_CANDIDATES) {
        query->callbacks.procedural = count_candidate;
        query->callbacks.context = &counted;
    }
    return facet_gfx12_tracer_trace(d->tracer, query, hit, stats, err);
}

static void draw_row(const struct job *job,
                     uint32_t y,
                     const struct facet_render_bvh_drawing *d,
                     struct row *row)
{
    for (uint32_t x = 0; x < d->look.width && row->status == FACET_OK; x++) {
        const size_t at = (size_t)(y - job->first) * d->look.width + x;
        struct facet_gfx12_query query;
        struct facet_gfx12_stats stats;
        struct facet_gfx12_hit hit;
        uint64_t candidates = 0;

        make_query(d, x, y, &query);
        if (job->traced != NULL) {
            hit = job->traced->hits[at];
            stats = job->traced->stats[at];
            candidates = job->traced->candidates[at];
        } else {
            row->status = trace_pixel(d, &query, &hit, &stats, &candidates, &row->err);
        }
        row->hits += hit.found;
        row->nodes += stats.steps;
        row->candidates += candidates;
        colour(d,
               &query,
               &hit,
               &stats,
               candidates,
               d->image->rgb + 3 * ((size_t)y * d->look.width + x));
    }
}

static void draw_rows(void *context, size_t begin, size_t end)
{
    const struct job *job = context;

    for (size_t i = begin; i < end; i++) {
        draw_row(job, job->first + (uint32_t)i, job->drawing, &job->rows[i]);
        facet_progress_add(job->progress, 1);
    }
}

/* ---- rows on a device ---- */

static void now_traced(void *context, size_t ray)
{
    struct traced *traced = context;

    traced->ray = ray;
}

static void make_rays(void *context, size_t begin, size_t end)
{
    const struct job *job = context;
    const uint32_t width = job->drawing->look.width;

    for (size_t i = begin * width; i < end * width; i++) {
        struct facet_gfx12_batch_ray *ray = &job->traced->rays[i];
        struct facet_gfx12_query query;

        make_query(job->drawing, (uint32_t)(i % width), job->first + (uint32_t)(i / width), &query);
        memcpy(ray->origin, query.origin, sizeof ray->origin);
        memcpy(ray->direction, query.direction, sizeof ray->direction);
        ray->t_min = query.t_min;
        ray->t_max = query.t_max;
    }
}

static enum facet_status
trace_there(const struct job *job, struct traced *t, size_t count, struct facet_error *err)
{
    const struct facet_render_bvh_drawing *d = job->drawing;
    struct facet_gfx12_query common = d->look.common;

    common.callbacks.context = t;
    if (d->look.aov == FACET_AOV_CANDIDATES) {
        common.callbacks.procedural = count_candidate;
    }
    return facet_gfx12_device_trace(d->look.device,
                                    &(struct facet_gfx12_device_batch){.host = d->tracer,
                                                                       .common = &common,
                                                                       .rays = t->rays,
                                                                       .count = count,
                                                                       .hits = t->hits,
                                                                       .each = t->stats,
                                                                       .before = now_traced},
                                    err);
}

/* The rays of all rows of the job at once. */
static enum facet_status
draw_there(struct job *job, uint32_t rows, facet_pool *pool, struct facet_error *err)
{
    const size_t count = (size_t)job->drawing->look.width * rows;
    struct traced t = {.rays = malloc(count * sizeof *t.rays),
                       .hits = malloc(count * sizeof *t.hits),
                       .stats = malloc(count * sizeof *t.stats),
                       .candidates = calloc(count, sizeof *t.candidates)};
    enum facet_status status;

    if (t.rays == NULL || t.hits == NULL || t.stats == NULL || t.candidates == NULL) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %zu rays", count);
    } else {
        job->traced = &t;
        facet_pool_for(pool, rows, 1, make_rays, job);
        status = trace_there(job, &t, count, err);
    }
    if (status == FACET_OK) {
        facet_pool_for(pool, rows, 1, draw_rows, job);
    }
    free(t.rays);
    free(t.hits);
    free(t.stats);
    free(t.candidates);
    return status;
}

/* ---- pictures ---- */

enum facet_status facet_render_bvh_begin(const struct facet_gfx12_view *view,
                                         const struct facet_render_bvh_look *look,
                                         struct facet_image_f *image,
                                         facet_render_bvh_drawing **out,
                                         struct facet_error *err)
{
    const struct facet_gfx12_tracer_options options = {
        .address = view->base,
        .root = view->root,
        .path = look->plain ? FACET_GFX12_PATH_REFERENCE : FACET_GFX12_PATH_AUTO};
    enum facet_status status = facet_image_f_create(image, look->width, look->height, err);
    struct facet_render_bvh_drawing *d;

    *out = NULL;
    if (status != FACET_OK) {
        return status;
    }
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        facet_image_f_free(image);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the picture");
    }
    d->look = *look;
    d->image = image;
    facet_gfx12_unit_view(&d->unit, view);
    d->unit.profile = look->profile;
    d->look.common.address = view->base;
    d->look.common.root = view->root;
    facet_shade_lens_make(&d->look.camera, look->width, look->height, &d->lens);
    status = facet_gfx12_tracer_create(&d->unit, &options, &d->tracer, err);
    if (status == FACET_OK && look->device != NULL) {
        status = facet_gfx12_device_image(look->device, &d->unit, err);
    }
    if (status != FACET_OK) {
        facet_gfx12_tracer_destroy(d->tracer);
        facet_image_f_free(image);
        free(d);
        return status;
    }
    *out = d;
    return FACET_OK;
}

void facet_render_bvh_end(facet_render_bvh_drawing *drawing)
{
    if (drawing != NULL) {
        facet_gfx12_tracer_destroy(drawing->tracer);
        free(drawing);
    }
}

enum facet_status facet_render_bvh_rows(facet_render_bvh_drawing *drawing,
                                        uint32_t first,
                                        uint32_t count,
                                        facet_pool *pool,
                                        struct facet_progress *progress,
                                        struct facet_render_bvh_seen *seen,
                                        struct facet_error *err)
{
    struct job job = {.drawing = drawing, .first = first, .progress = progress};
    enum facet_status status = FACET_OK;

    *seen = (struct facet_render_bvh_seen){.rays = (uint64_t)drawing->look.width * count};
    job.rows = calloc(count, sizeof *job.rows);
    if (job.rows == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the picture");
    }
    if (drawing->look.device != NULL) {
        status = draw_there(&job, count, pool, err);
    } else {
        facet_pool_for(pool, count, 1, draw_rows, &job);
    }
    for (uint32_t y = 0; status == FACET_OK && y < count; y++) {
        seen->hits += job.rows[y].hits;
        seen->nodes += job.rows[y].nodes;
        seen->candidates += job.rows[y].candidates;
        if (job.rows[y].status != FACET_OK) {
            status = job.rows[y].status;
            *err = job.rows[y].err;
        }
    }
    free(job.rows);
    return status;
}

enum facet_status facet_render_bvh_view(const struct facet_gfx12_view *view,
                                        const struct facet_render_bvh_look *look,
                                        facet_pool *pool,
                                        struct facet_progress *progress,
                                        struct facet_image_f *out,
                                        struct facet_render_bvh_seen *seen,
                                        struct facet_error *err)
{
    facet_render_bvh_drawing *drawing;
    enum facet_status status = facet_render_bvh_begin(view, look, out, &drawing, err);
    /* What goes to a device at once is kept here, too. */
    const uint32_t most = look->device == NULL ? look->height : MOST_RAYS_THERE / look->width + 1;

    if (status != FACET_OK) {
        return status;
    }
    *seen = (struct facet_render_bvh_seen){0};
    for (uint32_t y = 0; y < look->height && status == FACET_OK; y += most) {
        const uint32_t left = look->height - y;
        struct facet_render_bvh_seen now;

        status =
            facet_render_bvh_rows(drawing, y, left < most ? left : most, pool, progress, &now, err);
        seen->rays += now.rays;
        seen->hits += now.hits;
        seen->nodes += now.nodes;
        seen->candidates += now.candidates;
    }
    facet_render_bvh_end(drawing);
    if (status != FACET_OK) {
        facet_image_f_free(out);
    }
    return status;
}

void facet_render_depth_greys(struct facet_image_f *depths)
{
    const size_t count = (size_t)3 * depths->width * depths->height;
    float near = INFINITY, far = -INFINITY;

    for (size_t i = 0; i < count; i++) {
        if (isfinite(depths->rgb[i])) {
            near = fminf(near, depths->rgb[i]);
            far = fmaxf(far, depths->rgb[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const float place = far > near ? (depths->rgb[i] - near) / (far - near) : 0.0f;

        depths->rgb[i] = isfinite(depths->rgb[i]) ? 0.02f + 0.55f * (1.0f - place) : 0.0f;
    }
}
