/* Input checks (12.1), the order of the steps, and the image of several levels. */
#include "gfx12/build/build.h"

#include "base/float.h"
#include "base/large.h"
#include "bvh/lanes.h"
#include "bvh/reinsert.h"
#include "gfx12/build/level.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The collapse takes leaves apart again, so a binary tree of quality `fast` need not go to the last
 * item. Leaves of two cost nothing; those of eight, in trees that take time, half a percent of SAH
 * cost. */
#define FAST_LEAF_SMALL 2
#define FAST_LEAF_LARGE 8
#define FAST_LARGE 4096 /* items */
#define MAX_GEOMETRY (UINT32_C(1) << 30)
#define MAX_PRIMITIVE (UINT32_C(1) << 31)

/* ---- triangles ---- */

static bool same_vertex(const float a[3], const float b[3])
{
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool all_finite(const float *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static enum facet_status check_indices(uint64_t number,
                                       const char *what,
                                       uint32_t geometry,
                                       uint32_t primitive,
                                       struct facet_error *err)
{
    if (geometry >= MAX_GEOMETRY || primitive >= MAX_PRIMITIVE) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          number,
                          "%s %llu: geometry index %u and primitive index %u; expected less than "
                          "2^30 and 2^31",
                          what,
                          (unsigned long long)number,
                          geometry,
                          primitive);
    }
    return FACET_OK;
}

#define CHUNK 4096

struct item_chunk {
    uint32_t count, inactive, degenerate;
    uint32_t refused; /* the first triangle that is, or UINT32_MAX */
};

struct item_job {
    const struct facet_bvh_blas_input *input;
    struct facet_bvh_item *items;
    struct item_chunk *chunks;
    bool keep_degenerate;
};

static enum facet_status
check_triangle(const struct facet_bvh_triangle *t, uint32_t i, struct facet_error *err)
{
    if (!all_finite(&t->vertex[0][0], 9)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          i,
                          "triangle %u (geometry %u, primitive %u) has a coordinate that is "
                          "not finite",
                          i,
                          t->geometry,
                          t->primitive);
    }
    return check_indices(i, "triangle", t->geometry, t->primitive, err);
}

static bool is_degenerate(const struct facet_bvh_triangle *t)
{
    return same_vertex(t->vertex[0], t->vertex[1]) || same_vertex(t->vertex[1], t->vertex[2]) ||
           same_vertex(t->vertex[2], t->vertex[0]);
}

/* Items of a chunk begin where its triangles do. */
static void chunk_items(void *context, size_t begin, size_t end)
{
    struct item_job *job = context;
    struct item_chunk chunk = {.refused = UINT32_MAX};

    for (size_t i = begin; i < end && chunk.refused == UINT32_MAX; i++) {
        struct facet_bvh_triangle room;
        const struct facet_bvh_triangle *t = facet_bvh_triangle_at(job->input, (uint32_t)i, &room);
        struct facet_bvh_item *item = &job->items[begin + chunk.count];
        struct lanes v[3];

        if (isnan(t->vertex[0][0]) || isnan(t->vertex[1][0]) || isnan(t->vertex[2][0])) {
            chunk.inactive++;
            continue;
        }
        if (!all_finite(&t->vertex[0][0], 9)) {
            chunk.refused = (uint32_t)i;
            break;
        }
        if (!job->keep_degenerate && is_degenerate(t)) {
            chunk.degenerate++;
            continue;
        }
        if (t->geometry >= MAX_GEOMETRY || t->primitive >= MAX_PRIMITIVE) {
            chunk.refused = (uint32_t)i;
        }
        for (int c = 0; c < 3; c++) {
            v[c] = lanes_set(t->vertex[c][0], t->vertex[c][1], t->vertex[c][2]);
        }
        lanes_store(item->lo, lanes_min_exact(lanes_min_exact(v[0], v[1]), v[2]));
        lanes_store(item->hi, lanes_max_exact(lanes_max_exact(v[0], v[1]), v[2]));
        item->id = (uint32_t)i;
        item->weight = 1;
        chunk.count++;
    }
    job->chunks[begin / CHUNK] = chunk;
}

static enum facet_status triangle_items(const struct facet_bvh_blas_input *input,
                                        facet_pool *pool,
                                        struct facet_level *level,
                                        struct facet_gfx12_build_report *report,
                                        struct facet_error *err)
{
    const size_t chunks = ((size_t)input->triangle_count + CHUNK - 1) / CHUNK;
    struct item_job job = {
        .input = input, .items = level->items, .keep_degenerate = level->updatable};
    enum facet_status status = FACET_OK;

    job.chunks = malloc((chunks + 1) * sizeof *job.chunks);
    if (job.chunks == NULL) {
        return facet_fail(
            err, FACET_ERR_MEMORY, 0, "no memory for %u primitives", input->triangle_count);
    }
    facet_pool_for(pool, input->triangle_count, CHUNK, chunk_items, &job);
    level->item_count = 0;
    for (size_t c = 0; c < chunks && status == FACET_OK; c++) {
        const struct item_chunk *chunk = &job.chunks[c];

        if (chunk->refused != UINT32_MAX) {
            struct facet_bvh_triangle room;

            status = check_triangle(
                facet_bvh_triangle_at(input, chunk->refused, &room), chunk->refused, err);
        }
        if (level->item_count != c * CHUNK) {
            memmove(level->items + level->item_count,
                    level->items + c * CHUNK,
                    chunk->count * sizeof *level->items);
        }
        level->item_count += chunk->count;
        report->inactive += chunk->inactive;
        report->degenerate += chunk->degenerate;
    }
    report->triangles += level->item_count;
    free(job.chunks);
    return status;
}

/* ---- procedural boxes ---- */

static enum facet_status aabb_items(const struct facet_bvh_blas_input *input,
                                    struct facet_level *level,
                                    struct facet_gfx12_build_report *report,
                                    struct facet_error *err)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < input->aabb_count; i++) {
        const struct facet_bvh_aabb *box = &input->aabbs[i];
        struct facet_bvh_item *item = &level->items[count];

        if (isnan(box->min[0])) {
            report->inactive++;
            continue;
        }
        if (!all_finite(box->min, 3) || !all_finite(box->max, 3)) {
            return facet_fail(
                err, FACET_ERR_INPUT, i, "box %u has a coordinate that is not finite", i);
        }
        if (check_indices(i, "box", box->geometry, box->primitive, err) != FACET_OK) {
            return FACET_ERR_LIMIT;
        }
        for (int k = 0; k < 3; k++) {
            if (box->min[k] > box->max[k]) {
                return facet_fail(err,
                                  FACET_ERR_INPUT,
                                  i,
                                  "box %u: min.%c %g exceeds max.%c %g",
                                  i,
                                  "xyz"[k],
                                  (double)box -> min[k],
                                  "xyz"[k],
                                  (double)box -> max[k]);
            }
            item->lo[k] = box->min[k];
            item->hi[k] = box->max[k];
        }
        item->id = i;
        item->weight = 2;
        count++;
    }
    level->item_count = count;
    report->aabbs += count;
    return FACET_OK;
}

/* ---- instances ---- */

/* Inverse of the linear part by cofactors; false when it has none. */
static bool invert(const float m[3][4], double inv[3][3])
{
    double a[3][3], det, scale;

    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            a[r][c] = (double)m[r][c];
        }
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int i = (c + 1) % 3, j = (c + 2) % 3, k = (r + 1) % 3, l = (r + 2) % 3;

            inv[r][c] = a[i][k] * a[j][l] - a[i][l] * a[j][k];
        }
    }
    det = (a[0][0] * inv[0][0] + a[0][1] * inv[1][0]) + a[0][2] * inv[2][0];
    scale = 1.0 / det;
    if (!isfinite(scale) || det == 0.0) {
        return false;
    }
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            inv[r][c] *= scale;
            if (!isfinite(inv[r][c])) {
                return false;
            }
        }
    }
    return true;
}

/* World bounds of a box seen through an instance (R-G12-57): the corners through the inverse of
 * world_to_object in binary64, grown by 2^-20 of the largest coordinate so that the roundings of
 * the ray's own transform cannot lose a hit. */
bool facet_gfx12_instance_bounds(const struct facet_bvh_instance *in,
                                 const float blas_lo[3],
                                 const float blas_hi[3],
                                 float out_lo[3],
                                 float out_hi[3])
{
    double inv[3][3], lo[3], hi[3], largest = 0.0;

    if (!invert(in->world_to_object, inv)) {
        return false;
    }
    for (int r = 0; r < 3; r++) {
        lo[r] = hi[r] = 0.0;
        for (int c = 0; c < 3; c++) {
            double a = inv[r][c] * ((double)blas_lo[c] - (double)in->world_to_object[c][3]);
            double b = inv[r][c] * ((double)blas_hi[c] - (double)in->world_to_object[c][3]);

            lo[r] += a < b ? a : b;
            hi[r] += a < b ? b : a;
        }
        largest = fmax(largest, fmax(fabs(lo[r]), fabs(hi[r])));
    }
    for (int r = 0; r < 3; r++) {
        out_lo[r] = facet_float_below(lo[r] - largest * 0x1p-20);
        out_hi[r] = facet_float_above(hi[r] + largest * 0x1p-20);
        if (!isfinite(out_lo[r]) || !isfinite(out_hi[r])) {
            return false;
        }
    }
    return true;
}

static enum facet_status instance_items(const struct facet_bvh_scene_input *scene,
                                        struct facet_level *level,
                                        struct facet_error *err)
{
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const struct facet_bvh_instance *in = &scene->instances[i];
        struct facet_bvh_item *item = &level->items[i];

        if (in->blas >= scene->blas_count || in->user_data >= UINT32_C(1) << 24 ||
            in->flags > 0x3FF) {
            return facet_fail(err,
                              FACET_ERR_LIMIT,
                              i,
                              "instance %u: BLAS %u of %u, user data 0x%x, flags 0x%x; expected "
                              "24-bit user data and 10-bit flags",
                              i,
                              in->blas,
                              scene->blas_count,
                              in->user_data,
                              in->flags);
        }
        if (!all_finite(&in->world_to_object[0][0], 12)) {
            return facet_fail(
                err, FACET_ERR_INPUT, i, "instance %u: world_to_object is not finite", i);
        }
        if (!facet_gfx12_instance_bounds(
                in, level->blas[in->blas].lo, level->blas[in->blas].hi, item->lo, item->hi)) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i,
                              "instance %u: world_to_object has no inverse, or its bounds exceed "
                              "the range of a float",
                              i);
        }
        item->id = i;
        item->weight = 2;
    }
    level->item_count = scene->instance_count;
    return FACET_OK;
}

/* ---- one level ---- */

/* Section 12.1: an empty set is a root with eight unused slots. */
static void write_empty(uint8_t *bytes)
{
    struct facet_gfx12_box box = {.parent = FACET_GFX12_INVALID,
                                  .obb_matrix_index = FACET_GFX12_OBB_NONE};

    for (int c = 0; c < 8; c++) {
        facet_gfx12_child_unused(&box.child[c]);
    }
    facet_gfx12_box_encode(&box, bytes);
}

/* Items of a leaf of the binary tree. */
static uint32_t leaf_items(const struct facet_level *level,
                           const struct facet_gfx12_build_options *options)
{
    if (options->quality == FACET_BVH_HIGH) {
        return 1; /* reinsertion wants to move each */
    }
    return level->item_count < FAST_LARGE ? FAST_LEAF_SMALL : FAST_LEAF_LARGE;
}

/* The tree has the boxes: of the items only what they are is needed from now on. */
static enum facet_status settle_items(struct facet_level *level, struct facet_error *err)
{
    const uint32_t count = level->item_count;

    level->ids = facet_large_alloc((size_t)count * sizeof *level->ids);
    level->weights = malloc(count);
    if (level->ids == NULL || level->weights == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u primitives", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        level->ids[i] = level->items[i].id;
        level->weights[i] = (uint8_t)level->items[i].weight;
    }
    free(level->items);
    level->items = NULL;
    return FACET_OK;
}

static enum facet_status build_trees(struct facet_level *level,
                                     const struct facet_gfx12_build_options *options,
                                     facet_pool *pool,
                                     struct facet_progress *progress,
                                     struct facet_error *err)
{
    const bool triangles = level->kind == FACET_LEVEL_TRIANGLES;
    const uint32_t range = options->prim_range;
    enum facet_status status = FACET_OK;

    if (options->quality == FACET_BVH_CONTRACT) {
        status = facet_bvh2_build(level->items,
                                  level->item_count,
                                  !triangles   ? 1
                                  : range == 0 ? 2
                                               : range,
                                  NULL,
                                  pool,
                                  progress,
                                  &level->tree,
                                  err);
        if (status == FACET_OK) {
            status = settle_items(level, err);
        }
        return status == FACET_OK
                   ? facet_bvh_collapse_greedy(&level->tree, 8, pool, &level->wide, err)
                   : status;
    }
    if (triangles) {
        const uint32_t count = level->item_count;

        status = facet_gfx12_high_pair(level, pool, err);
        level->shared = true;
        if (status == FACET_OK && options->quality == FACET_BVH_HIGH && !level->updatable) {
            status = facet_gfx12_level_split(level, pool, err);
        }
        if (count > level->item_count) { /* the tree counts the rest */
            facet_progress_add(progress, count - level->item_count);
        }
    }
    if (status == FACET_OK) {
        status = facet_bvh2_build(level->items,
                                  level->item_count,
                                  leaf_items(level, options),
                                  level->spare,
                                  pool,
                                  progress,
                                  &level->tree,
                                  err);
    }
    free(level->spare);
    level->spare = NULL;
    if (status == FACET_OK && options->quality == FACET_BVH_HIGH) {
        status = facet_bvh2_improve(&level->tree, level->items, level->item_count, pool, err);
    }
    if (status == FACET_OK) {
        status = settle_items(level, err);
    }
    if (status == FACET_OK) {
        /* A test handles two triangles, or one thing that weighs 2. */
        const struct facet_leaf_cost cost = {.test = 1,
                                             .units = 2,
                                             .max_weight = !triangles   ? 2
                                                           : range == 0 ? 8
                                                                        : range,
                                             .weights = level->weights};

        status = facet_bvh_collapse_optimal(&level->tree, &cost, 8, pool, &level->wide, err);
    }
    free(level->weights);
    level->weights = NULL;
    if (status == FACET_OK && triangles && options->quality == FACET_BVH_HIGH) {
        facet_gfx12_level_join(level, pool);
    }
    return status;
}

/* From items to a level that can be written. */
static enum facet_status plan_level(struct facet_level *level,
                                    const struct facet_gfx12_build_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_level_summary *summary,
                                    struct facet_error *err)
{
    const bool triangles = level->kind == FACET_LEVEL_TRIANGLES;
    enum facet_status status;

    level->progress = progress;
    *summary = (struct facet_level_summary){.procedural = level->kind == FACET_LEVEL_AABBS};
    if (level->item_count == 0) {
        level->size = FACET_GFX12_NODE_BYTES;
        summary->empty = true;
        summary->cull_flags = 0xF; /* promises about nothing hold */
        return FACET_OK;
    }
    status = build_trees(level, options, pool, progress, err);
    if (status == FACET_OK) {
        memcpy(summary->lo, level->tree.nodes[0].lo, sizeof summary->lo);
        memcpy(summary->hi, level->tree.nodes[0].hi, sizeof summary->hi);
        status = facet_gfx12_level_plan(level, options->obb && triangles, pool, summary, err);
    }
    return status;
}

static enum facet_status write_level(const struct facet_level *level,
                                     facet_pool *pool,
                                     uint8_t *image,
                                     struct facet_error *err)
{
    if (level->item_count == 0) {
        write_empty(image);
        return FACET_OK;
    }
    return facet_gfx12_level_write(level, pool, image, err);
}

static void free_level(struct facet_level *level)
{
    facet_gfx12_emit_free(level->emit);
    facet_bvh2_free(&level->tree);
    facet_bvh_wide_free(&level->wide);
    free(level->items);
    free(level->spare);
    free(level->ids);
    free(level->weights);
    free(level->pairs);
}

static enum facet_status
make_items(struct facet_level *level, uint32_t count, struct facet_error *err)
{
    if (count > FACET_BVH_MAX_ITEMS) {
        return facet_fail(
            err, FACET_ERR_LIMIT, count, "%u primitives; expected at most 2^30", count);
    }
    level->items = facet_large_alloc((size_t)count * sizeof *level->items);
    return level->items != NULL
               ? FACET_OK
               : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u primitives", count);
}

static enum facet_status check_options(const struct facet_gfx12_build_options *options,
                                       struct facet_error *err)
{
    if (options->prim_range > 16) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          options->prim_range,
                          "primitive range %u; expected 1 .. 16",
                          options->prim_range);
    }
    if (options->base % 64 != 0 || options->base >> 48 != 0) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          options->base,
                          "base address 0x%llx; expected a multiple of 64 below 2^48",
                          (unsigned long long)options->base);
    }
    return FACET_OK;
}

static enum facet_status plan_bottom(const struct facet_bvh_blas_input *input,
                                     const struct facet_gfx12_build_options *options,
                                     facet_pool *pool,
                                     struct facet_progress *progress,
                                     struct facet_level *level,
                                     struct facet_level_summary *summary,
                                     struct facet_gfx12_build_report *report,
                                     struct facet_error *err)
{
    enum facet_status status;

    *level = (struct facet_level){
        .kind = FACET_LEVEL_TRIANGLES, .input = input, .updatable = options->allow_update};
    if (input->triangle_count != 0 && input->aabb_count != 0) {
        return facet_fail(
            err, FACET_ERR_INPUT, 0, "a BLAS holds triangles or procedural boxes, not both");
    }
    if (input->aabb_count != 0) {
        level->kind = FACET_LEVEL_AABBS;
    }
    status = make_items(level, input->triangle_count + input->aabb_count, err);
    if (status == FACET_OK) {
        status = level->kind == FACET_LEVEL_AABBS ? aabb_items(input, level, report, err)
                                                  : triangle_items(input, pool, level, report, err);
    }
    return status == FACET_OK ? plan_level(level, options, pool, progress, summary, err) : status;
}

static enum facet_status
take_image(struct facet_gfx12_image *out, uint64_t size, struct facet_error *err)
{
    out->bytes = size <= SIZE_MAX ? facet_large_alloc((size_t)size) : NULL;
    out->size = size;
    return out->bytes != NULL ? FACET_OK
                              : facet_fail(err,
                                           FACET_ERR_MEMORY,
                                           0,
                                           "no memory for an image of %llu bytes",
                                           (unsigned long long)size);
}

static void drop_image(struct facet_gfx12_image *image)
{
    free(image->bytes);
    *image = (struct facet_gfx12_image){NULL, 0};
}

enum facet_status facet_gfx12_build_blas(const struct facet_bvh_blas_input *input,
                                         const struct facet_gfx12_build_options *options,
                                         facet_pool *pool,
                                         struct facet_progress *progress,
                                         struct facet_gfx12_image *out,
                                         struct facet_gfx12_build_report *report,
                                         struct facet_error *err)
{
    struct facet_level level = {.kind = FACET_LEVEL_TRIANGLES};
    struct facet_level_summary summary;
    enum facet_status status = check_options(options, err);

    *out = (struct facet_gfx12_image){NULL, 0};
    *report = (struct facet_gfx12_build_report){0};
    if (status == FACET_OK) {
        status = plan_bottom(input, options, pool, progress, &level, &summary, report, err);
    }
    if (status == FACET_OK) {
        status = take_image(out, level.size, err);
    }
    if (status == FACET_OK) {
        status = write_level(&level, pool, out->bytes, err);
    }
    if (status != FACET_OK) {
        drop_image(out);
    }
    free_level(&level);
    return status;
}

/* ---- the image ---- */

struct bottom {
    struct facet_level level;
    struct facet_gfx12_build_report report;
    struct facet_error error;
};

struct bottoms {
    const struct facet_bvh_scene_input *scene;
    const struct facet_gfx12_build_options *options;
    facet_pool *pool;
    struct facet_progress *progress;
    struct bottom *bottom;
    struct facet_level_summary *summaries;
    uint8_t *image; /* where the bottom levels begin */
};

static void plan_bottoms(void *context, size_t begin, size_t end)
{
    struct bottoms *job = context;

    for (size_t i = begin; i < end; i++) {
        struct bottom *b = &job->bottom[i];

        plan_bottom(&job->scene->blas[i],
                    job->options,
                    job->pool,
                    job->progress,
                    &b->level,
                    &job->summaries[i],
                    &b->report,
                    &b->error);
    }
}

static void write_bottoms(void *context, size_t begin, size_t end)
{
    struct bottoms *job = context;

    for (size_t i = begin; i < end; i++) {
        struct bottom *b = &job->bottom[i];

        write_level(&b->level, job->pool, job->image + job->summaries[i].offset, &b->error);
    }
}

static enum facet_status
plan_top(const struct bottoms *job, struct facet_level *level, struct facet_error *err)
{
    struct facet_level_summary summary;
    enum facet_status status;

    *level = (struct facet_level){.kind = FACET_LEVEL_INSTANCES,
                                  .instances = job->scene->instances,
                                  .blas = job->summaries,
                                  .base = job->options->base};
    status = make_items(level, job->scene->instance_count, err);
    if (status == FACET_OK) {
        status = instance_items(job->scene, level, err);
    }
    return status == FACET_OK ? plan_level(level, job->options, job->pool, NULL, &summary, err)
                              : status;
}

/* Offsets are counted from the end of the TLAS; returns the total size. */
static uint64_t place_bottoms(struct bottoms *job)
{
    uint64_t offset = 0;

    for (uint32_t i = 0; i < job->scene->blas_count; i++) {
        job->summaries[i].offset = offset;
        offset += job->bottom[i].level.size;
    }
    return offset;
}

/* The first failure in input order, whatever order the pool ran them in. */
static enum facet_status first_error(const struct bottoms *job, struct facet_error *err)
{
    for (uint32_t i = 0; i < job->scene->blas_count; i++) {
        const struct facet_error *error = &job->bottom[i].error;

        if (error->status != FACET_OK) {
            return facet_fail(err, error->status, error->where, "BLAS %u: %s", i, error->message);
        }
    }
    return FACET_OK;
}

static void add_reports(const struct bottoms *job, struct facet_gfx12_build_report *report)
{
    for (uint32_t i = 0; i < job->scene->blas_count; i++) {
        const struct facet_gfx12_build_report *one = &job->bottom[i].report;

        report->triangles += one->triangles;
        report->aabbs += one->aabbs;
        report->inactive += one->inactive;
        report->degenerate += one->degenerate;
    }
}

static enum facet_status write_image(struct bottoms *job,
                                     const struct facet_level *top,
                                     uint64_t bottom_size,
                                     struct facet_gfx12_image *out,
                                     struct facet_error *err)
{
    const uint64_t size = top->size + bottom_size;
    enum facet_status status;

    if ((job->options->base + size) >> 48 != 0) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          size,
                          "an image of %llu bytes at 0x%llx leaves the 48-bit address space",
                          (unsigned long long)size,
                          (unsigned long long)job->options->base);
    }
    status = take_image(out, size, err);
    if (status == FACET_OK) {
        status = write_level(top, job->pool, out->bytes, err);
    }
    if (status == FACET_OK) {
        job->image = out->bytes + top->size;
        facet_pool_for(job->pool, job->scene->blas_count, 1, write_bottoms, job);
        status = first_error(job, err);
    }
    if (status != FACET_OK) {
        drop_image(out);
    }
    return status;
}

static enum facet_status build_image(struct bottoms *job,
                                     struct facet_gfx12_image *out,
                                     struct facet_gfx12_build_report *report,
                                     struct facet_error *err)
{
    struct facet_level top = {.kind = FACET_LEVEL_INSTANCES};
    enum facet_status status;
    uint64_t bottom_size;

    facet_pool_for(job->pool, job->scene->blas_count, 1, plan_bottoms, job);
    status = first_error(job, err);
    bottom_size = place_bottoms(job);
    if (status == FACET_OK) {
        status = plan_top(job, &top, err);
    }
    if (status == FACET_OK) {
        facet_progress_add(job->progress, job->scene->instance_count);
        add_reports(job, report);
        status = write_image(job, &top, bottom_size, out, err);
    }
    free_level(&top);
    return status;
}

enum facet_status facet_gfx12_build(const struct facet_bvh_scene_input *scene,
                                    const struct facet_gfx12_build_options *options,
                                    facet_pool *pool,
                                    struct facet_progress *progress,
                                    struct facet_gfx12_image *out,
                                    struct facet_gfx12_build_report *report,
                                    struct facet_error *err)
{
    struct bottoms job = {.scene = scene, .options = options, .pool = pool, .progress = progress};
    enum facet_status status = check_options(options, err);
    size_t n = (size_t)scene->blas_count + (scene->blas_count == 0);

    *out = (struct facet_gfx12_image){NULL, 0};
    *report = (struct facet_gfx12_build_report){0};
    if (status != FACET_OK) {
        return status;
    }
    job.bottom = calloc(n, sizeof *job.bottom);
    job.summaries = calloc(n, sizeof *job.summaries);
    status = job.bottom != NULL && job.summaries != NULL
                 ? build_image(&job, out, report, err)
                 : facet_fail(err,
                              FACET_ERR_MEMORY,
                              0,
                              "no memory for %u bottom-level structures",
                              scene->blas_count);
    for (uint32_t i = 0; job.bottom != NULL && i < scene->blas_count; i++) {
        free_level(&job.bottom[i].level);
    }
    free(job.bottom);
    free(job.summaries);
    return status;
}
