/* See facet/bvh.h: the two builders, validators, printers and tracers under one interface. */
#include "doors/bvh.h"

#include "bvh/affine.h"
#include "gfx12/build/refit.h"
#include "gfx12/check/check.h"
#include "gfx12/image/text.h"
#include "rt_image/refit.h"
#include "rt_image/text.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert((int)FACET_BVH_NOTE == (int)FACET_GFX12_NOTE &&
                   (int)FACET_BVH_WARNING == (int)FACET_GFX12_WARNING &&
                   (int)FACET_BVH_ERROR == (int)FACET_GFX12_ERROR,
               "the two lists of severities are one");

/* ---- geometry ---- */

/* What the builders take, made from a scene of the caller. */
struct input {
    struct facet_bvh_triangle *triangles;
    struct facet_bvh_blas_input *blas;
    struct facet_bvh_instance *instances;
    struct facet_bvh_scene_input scene;
    uint32_t triangle_count;
};

static void input_free(struct input *in)
{
    free(in->triangles);
    free(in->blas);
    free(in->instances);
}

static uint32_t placements_of(const struct facet_bvh_scene *scene)
{
    return scene->placements != NULL ? scene->placement_count : scene->mesh_count;
}

static struct facet_bvh_placement placement_at(const struct facet_bvh_scene *scene, uint32_t i)
{
    static const struct facet_bvh_placement here = {
        .object_to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .mask = 0xFF};
    struct facet_bvh_placement placement = here;

    if (scene->placements != NULL) {
        return scene->placements[i];
    }
    placement.mesh = i;
    return placement;
}

/* Corner c of triangle k; false when an index leads out of the mesh. */
static bool corner(const struct facet_bvh_mesh *mesh, uint32_t k, unsigned c, float out[3])
{
    size_t index_stride = mesh->index_stride != 0 ? mesh->index_stride : 12;
    size_t stride = mesh->position_stride != 0 ? mesh->position_stride : 12;
    uint64_t vertex = 3 * (uint64_t)k + c;

    if (mesh->indices != NULL) {
        uint32_t index;

        memcpy(
            &index, (const char *)mesh->indices + k * index_stride + 4 * (size_t)c, sizeof index);
        vertex = index;
    }
    if (vertex >= mesh->vertex_count) {
        return false;
    }
    memcpy(out, (const char *)mesh->positions + vertex * stride, 3 * sizeof *out);
    return true;
}

static enum facet_status
add_mesh(const struct facet_bvh_scene *scene, uint32_t m, struct input *in, struct facet_error *err)
{
    const struct facet_bvh_mesh *mesh = &scene->meshes[m];
    struct facet_bvh_triangle *to = in->triangles + in->triangle_count;

    if (mesh->geometry >> 30 != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          m,
                          "mesh %u: geometry %u, expected a number below 2^30",
                          (unsigned)m,
                          (unsigned)mesh->geometry);
    }
    for (uint32_t k = 0; k < mesh->triangle_count; k++) {
        to[k] = (struct facet_bvh_triangle){
            .geometry = mesh->geometry, .primitive = k, .flags = mesh->flags & 3};
        for (unsigned c = 0; c < 3; c++) {
            if (!corner(mesh, k, c, to[k].vertex[c])) {
                return facet_fail(err,
                                  FACET_ERR_INPUT,
                                  k,
                                  "mesh %u, triangle %u: an index outside the %u vertices",
                                  (unsigned)m,
                                  (unsigned)k,
                                  (unsigned)mesh->vertex_count);
            }
        }
    }
    in->blas[m] =
        (struct facet_bvh_blas_input){.triangles = to, .triangle_count = mesh->triangle_count};
    in->triangle_count += mesh->triangle_count;
    return FACET_OK;
}

static enum facet_status add_placement(const struct facet_bvh_scene *scene,
                                       uint32_t i,
                                       struct facet_bvh_instance *to,
                                       struct facet_error *err)
{
    struct facet_bvh_placement from = placement_at(scene, i);

    *to =
        (struct facet_bvh_instance){.blas = from.mesh, .user_data = i, .mask = (uint8_t)from.mask};
    if (!facet_bvh_affine_invert(from.object_to_world, to->world_to_object)) {
        return facet_fail(
            err, FACET_ERR_INPUT, i, "placement %u: object_to_world has no inverse", (unsigned)i);
    }
    return FACET_OK;
}

/* Sums and references that arrays are made for. */
static enum facet_status
check_scene(const struct facet_bvh_scene *scene, uint64_t *triangles, struct facet_error *err)
{
    uint32_t placements = placements_of(scene);

    *triangles = 0;
    for (uint32_t m = 0; m < scene->mesh_count; m++) {
        *triangles += scene->meshes[m].triangle_count;
    }
    for (uint32_t i = 0; i < placements; i++) {
        uint32_t mesh = placement_at(scene, i).mesh;

        if (mesh >= scene->mesh_count) {
            return facet_fail(err,
                              FACET_ERR_INPUT,
                              i,
                              "placement %u: mesh %u of %u",
                              (unsigned)i,
                              (unsigned)mesh,
                              (unsigned)scene->mesh_count);
        }
    }
    if (*triangles >= UINT32_C(1) << 31 || placements >= 1 << 24) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          *triangles,
                          "%llu triangles and %u placements; expected less than 2^31 and 2^24",
                          (unsigned long long)*triangles,
                          (unsigned)placements);
    }
    return FACET_OK;
}

static enum facet_status
input_make(const struct facet_bvh_scene *scene, struct input *in, struct facet_error *err)
{
    uint32_t placements = placements_of(scene);
    uint64_t triangles;
    enum facet_status status = check_scene(scene, &triangles, err);

    *in = (struct input){0};
    if (status != FACET_OK) {
        return status;
    }
    in->triangles = malloc(((size_t)triangles + 1) * sizeof *in->triangles);
    in->blas = malloc(((size_t)scene->mesh_count + 1) * sizeof *in->blas);
    in->instances = malloc(((size_t)placements + 1) * sizeof *in->instances);
    if (in->triangles == NULL || in->blas == NULL || in->instances == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the triangles");
    }
    for (uint32_t m = 0; m < scene->mesh_count && status == FACET_OK; m++) {
        status = add_mesh(scene, m, in, err);
    }
    for (uint32_t i = 0; i < placements && status == FACET_OK; i++) {
        status = add_placement(scene, i, &in->instances[i], err);
    }
    in->scene = (struct facet_bvh_scene_input){.blas = in->blas,
                                               .blas_count = scene->mesh_count,
                                               .instances = in->instances,
                                               .instance_count = placements};
    return status;
}

/* All placements as triangles of the world: `geometry` is the placement. */
static enum facet_status flatten(const struct facet_bvh_scene *scene,
                                 struct facet_bvh_triangle **out,
                                 uint32_t *count,
                                 struct facet_error *err)
{
    uint32_t placements = placements_of(scene);
    uint64_t triangles, total = 0;
    enum facet_status status = check_scene(scene, &triangles, err);
    struct facet_bvh_triangle *to;

    *out = NULL;
    for (uint32_t i = 0; i < placements && status == FACET_OK; i++) {
        total += scene->meshes[placement_at(scene, i).mesh].triangle_count;
    }
    if (status != FACET_OK || total > UINT32_MAX / 2) {
        return status != FACET_OK
                   ? status
                   : facet_fail(err, FACET_ERR_LIMIT, total, "more than 2^31 triangles");
    }
    *out = to = malloc(((size_t)total + 1) * sizeof **out);
    if (to == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the triangles");
    }
    *count = (uint32_t)total;
    for (uint32_t i = 0; i < placements; i++) {
        struct facet_bvh_placement placement = placement_at(scene, i);
        const struct facet_bvh_mesh *mesh = &scene->meshes[placement.mesh];

        for (uint32_t k = 0; k < mesh->triangle_count; k++, to++) {
            *to = (struct facet_bvh_triangle){.geometry = i, .primitive = k};
            for (unsigned c = 0; c < 3; c++) {
                float local[3];

                if (!corner(mesh, k, c, local)) {
                    return facet_fail(err,
                                      FACET_ERR_INPUT,
                                      k,
                                      "mesh %u, triangle %u: an index outside the %u vertices",
                                      (unsigned)placement.mesh,
                                      (unsigned)k,
                                      (unsigned)mesh->vertex_count);
                }
                facet_bvh_affine_apply(placement.object_to_world, local, to->vertex[c]);
            }
        }
    }
    return FACET_OK;
}

/* ---- life ---- */

/* Takes the bytes over, also when it fails. */
static enum facet_status wrap(enum facet_bvh_format format,
                              uint8_t *bytes,
                              uint64_t size,
                              facet_bvh **out,
                              struct facet_error *err)
{
    facet_bvh *bvh = calloc(1, sizeof *bvh);

    if (bvh == NULL) {
        free(bytes);
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a hierarchy");
    }
    *bvh = (facet_bvh){.format = format, .bytes = bytes, .size = size};
    *out = bvh;
    return FACET_OK;
}

static enum facet_status build_gfx12(const struct facet_bvh_scene *scene,
                                     const struct facet_bvh_config *config,
                                     facet_pool *pool,
                                     facet_bvh **out,
                                     struct facet_error *err)
{
    const struct facet_gfx12_build_options options = {.quality = config->quality,
                                                      .obb = config->obb,
                                                      .allow_update = config->allow_update,
                                                      .prim_range = config->leaf_triangles};
    struct facet_gfx12_image image = {0};
    struct facet_gfx12_build_report report;
    struct input in;
    enum facet_status status = input_make(scene, &in, err);

    if (status == FACET_OK) {
        status = facet_gfx12_build(&in.scene, &options, pool, NULL, &image, &report, err);
    }
    input_free(&in);
    return status == FACET_OK ? wrap(config->format, image.bytes, image.size, out, err) : status;
}

static enum facet_status build_rt(const struct facet_bvh_scene *scene,
                                  const struct facet_bvh_config *config,
                                  facet_pool *pool,
                                  facet_bvh **out,
                                  struct facet_error *err)
{
    enum facet_format element =
        facet_format_find(config->element != NULL ? config->element : "FP32");
    const struct facet_rtbvh_options options = {.children =
                                                    config->children != 0 ? config->children : 4,
                                                .element = (uint8_t)element,
                                                .quantized = config->quantized,
                                                .leaf_size = config->leaf_triangles,
                                                .reach = config->reach};
    struct facet_rtbvh_image image = {0};
    struct facet_rtbvh_report report;
    struct facet_bvh_triangle *triangles = NULL;
    uint32_t count = 0;
    enum facet_status status;

    if (element == FACET_FMT_COUNT || element == FACET_FMT_FP64 ||
        (options.children != 4 && options.children != 8) || options.leaf_size > 255) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          options.children,
                          "tiles with %u children of format %s, %u triangles in a leaf; expected 4 "
                          "or 8, a format of elements, and at most 255",
                          options.children,
                          config->element != NULL ? config->element : "FP32",
                          (unsigned)options.leaf_size);
    }
    status = flatten(scene, &triangles, &count, err);
    if (status == FACET_OK) {
        status = facet_rtbvh_build(triangles, count, &options, pool, NULL, &image, &report, err);
    }
    free(triangles);
    return status == FACET_OK ? wrap(config->format, image.bytes, image.size, out, err) : status;
}

enum facet_status facet_bvh_build_sized(const struct facet_bvh_scene *scene,
                                        const struct facet_bvh_config *config,
                                        size_t config_size,
                                        facet_bvh **out,
                                        struct facet_error *err)
{
    struct facet_bvh_config own;
    facet_pool *pool = NULL;
    enum facet_status status = facet_sized_in(&own,
                                              offsetof(struct facet_bvh_config, reserved),
                                              config,
                                              config_size,
                                              "facet_bvh_config",
                                              err);

    *out = NULL;
    if (status == FACET_OK && ((unsigned)own.format > FACET_BVH_FORMAT_XPHMG ||
                               (unsigned)own.quality >= FACET_BVH_QUALITIES)) {
        status = facet_fail(err,
                            FACET_ERR_USAGE,
                            0,
                            "format %d with quality %d; expected enumerators",
                            (int)own.format,
                            (int)own.quality);
    }
    if (status == FACET_OK && own.format == FACET_BVH_FORMAT_GFX12 && own.leaf_triangles > 16) {
        status = facet_fail(err,
                            FACET_ERR_USAGE,
                            own.leaf_triangles,
                            "%u triangles in a leaf; expected at most 16",
                            (unsigned)own.leaf_triangles);
    }
    if (status == FACET_OK && own.threads > 1) {
        status = facet_pool_create(own.threads, &pool, err);
    }
    if (status == FACET_OK) {
        status = own.format == FACET_BVH_FORMAT_GFX12 ? build_gfx12(scene, &own, pool, out, err)
                                                      : build_rt(scene, &own, pool, out, err);
    }
    facet_pool_destroy(pool);
    return status;
}

enum facet_status
facet_bvh_open(const void *image, size_t size, facet_bvh **out, struct facet_error *err)
{
    enum facet_bvh_format format =
        facet_rtbvh_is(image, size) ? FACET_BVH_FORMAT_XPHMG : FACET_BVH_FORMAT_GFX12;
    struct facet_rtbvh_view view;
    uint8_t *bytes;
    enum facet_status status;

    *out = NULL;
    if (format == FACET_BVH_FORMAT_XPHMG &&
        (status = facet_rtbvh_open(image, size, &view, err)) != FACET_OK) {
        return status;
    }
    bytes = malloc(size + 1);
    if (bytes == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for an image");
    }
    if (size != 0) {
        memcpy(bytes, image, size);
    }
    return wrap(format, bytes, size, out, err);
}

void facet_bvh_destroy(facet_bvh *bvh)
{
    if (bvh != NULL) {
        facet_gfx12_tracer_destroy(bvh->tracer[false]);
        facet_gfx12_tracer_destroy(bvh->tracer[true]);
        facet_door_device_destroy(bvh->device);
        facet_door_rt_destroy(bvh->rt);
        free(bvh->bytes);
        free(bvh);
    }
}

enum facet_bvh_format facet_bvh_get_format(const facet_bvh *bvh)
{
    return bvh->format;
}

const uint8_t *facet_bvh_get_image(const facet_bvh *bvh, size_t *size)
{
    *size = bvh->size;
    return bvh->bytes;
}

static struct facet_gfx12_view view_of(const facet_bvh *bvh)
{
    return (struct facet_gfx12_view){
        .bytes = bvh->bytes, .size = bvh->size, .root = FACET_GFX12_ROOT};
}

static enum facet_status refit_gfx12(const facet_bvh *bvh,
                                     const struct facet_bvh_scene *scene,
                                     facet_bvh **out,
                                     struct facet_error *err)
{
    const struct facet_gfx12_view view = view_of(bvh);
    uint8_t *bytes = malloc(bvh->size);
    struct input in;
    enum facet_status status = input_make(scene, &in, err);

    if (status == FACET_OK) {
        status = bytes != NULL ? facet_gfx12_refit(&view, &in.scene, NULL, NULL, bytes, err)
                               : facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for the refit");
    }
    input_free(&in);
    if (status != FACET_OK) {
        free(bytes);
        return status;
    }
    return wrap(bvh->format, bytes, bvh->size, out, err);
}

static enum facet_status refit_rt(const facet_bvh *bvh,
                                  const struct facet_bvh_scene *scene,
                                  facet_bvh **out,
                                  struct facet_error *err)
{
    struct facet_rtbvh_image image = {0};
    struct facet_rtbvh_check check = {0};
    struct facet_bvh_triangle *triangles = NULL;
    uint32_t count = 0;
    enum facet_status status = flatten(scene, &triangles, &count, err);

    if (status == FACET_OK) {
        status = facet_rtbvh_check(bvh->bytes, bvh->size, 0, &check, err);
    }
    if (status == FACET_OK) {
        status = facet_rtbvh_refit(&check, triangles, count, 0, &image, err);
    }
    facet_rtbvh_check_free(&check);
    free(triangles);
    return status == FACET_OK ? wrap(bvh->format, image.bytes, image.size, out, err) : status;
}

enum facet_status facet_bvh_refit(const facet_bvh *bvh,
                                  const struct facet_bvh_scene *scene,
                                  facet_bvh **out,
                                  struct facet_error *err)
{
    *out = NULL;
    return bvh->format == FACET_BVH_FORMAT_GFX12 ? refit_gfx12(bvh, scene, out, err)
                                                 : refit_rt(bvh, scene, out, err);
}

/* ---- check ---- */

static enum facet_status check_gfx12(const facet_bvh *bvh,
                                     struct facet_bvh_finding *findings,
                                     uint32_t capacity,
                                     uint64_t *count,
                                     uint64_t *errors,
                                     struct facet_error *err)
{
    const struct facet_gfx12_view view = view_of(bvh);
    struct facet_gfx12_check check = {0};
    enum facet_status status = facet_gfx12_check(
        &view,
        &(struct facet_gfx12_check_options){.max_findings = capacity != 0 ? capacity : 1,
                                            .tolerance = FACET_GFX12_TOLERANCE},
        &check,
        err);

    *count = check.total[0] + check.total[1] + check.total[2];
    *errors = check.total[FACET_GFX12_ERROR];
    for (uint32_t i = 0; i < check.count && i < capacity; i++) {
        const struct facet_gfx12_finding *from = &check.findings[i];

        findings[i] =
            (struct facet_bvh_finding){.rule = facet_gfx12_rules[from->rule].id,
                                       .requirement = facet_gfx12_rules[from->rule].requirement,
                                       .offset = from->offset,
                                       .severity = (enum facet_bvh_severity)from->severity};
        memcpy(findings[i].text, from->text, sizeof findings[i].text - 1); /* may be cut short */
    }
    facet_gfx12_check_free(&check);
    return status;
}

static enum facet_status check_rt(const facet_bvh *bvh,
                                  struct facet_bvh_finding *findings,
                                  uint32_t capacity,
                                  uint64_t *count,
                                  uint64_t *errors,
                                  struct facet_error *err)
{
    struct facet_rtbvh_check check = {0};
    enum facet_status status = facet_rtbvh_check(bvh->bytes, bvh->size, capacity, &check, err);

    *count = check.errors + check.warnings;
    *errors = check.errors;
    for (uint32_t i = 0; i < check.count && i < capacity; i++) {
        const struct facet_rtbvh_finding *from = &check.findings[i];
        const struct facet_rtbvh_rule_text *rule = &facet_rtbvh_rules[from->rule];

        findings[i] = (struct facet_bvh_finding){.rule = rule->id,
                                                 .requirement = rule->requirement,
                                                 .offset = from->offset,
                                                 .severity = rule->warning ? FACET_BVH_WARNING
                                                                           : FACET_BVH_ERROR};
        memcpy(findings[i].text, from->text, sizeof findings[i].text);
    }
    facet_rtbvh_check_free(&check);
    return status;
}

enum facet_status facet_bvh_check(const facet_bvh *bvh,
                                  struct facet_bvh_finding *findings,
                                  size_t capacity,
                                  uint64_t *count,
                                  uint64_t *errors,
                                  struct facet_error *err)
{
    uint32_t most = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
    uint64_t unused;

    errors = errors != NULL ? errors : &unused;
    return bvh->format == FACET_BVH_FORMAT_GFX12
               ? check_gfx12(bvh, findings, most, count, errors, err)
               : check_rt(bvh, findings, most, count, errors, err);
}

/* ---- show ---- */

static enum facet_status
dump_gfx12(const facet_bvh *bvh, bool json, struct facet_strbuf *out, struct facet_error *err)
{
    const struct facet_gfx12_view view = view_of(bvh);
    struct facet_gfx12_walk walk;
    enum facet_status status = facet_gfx12_walk(&view, &walk, err);

    if (status != FACET_OK) {
        return status;
    }
    if (json) {
        facet_gfx12_json_head(&view, false, out);
    }
    for (uint32_t i = 0; i < walk.count; i += facet_gfx12_walk_block(&view, &walk, i)) {
        if (json) {
            facet_strbuf_puts(out, i != 0 ? ",\n" : "");
            facet_gfx12_json_node(&view, &walk, i, out);
        } else {
            facet_gfx12_listing(&view, &walk, i, out);
        }
    }
    if (json) {
        facet_gfx12_json_tail(&view, out);
    }
    facet_gfx12_walk_free(&walk);
    return FACET_OK;
}

static enum facet_status
dump_rt(const facet_bvh *bvh, bool json, struct facet_strbuf *out, struct facet_error *err)
{
    struct facet_rtbvh_check check = {0};
    enum facet_status status = facet_rtbvh_check(bvh->bytes, bvh->size, 0, &check, err);

    if (status == FACET_OK && json) {
        facet_rtbvh_json_head(&check.view, out);
    }
    for (uint64_t i = 0; i < check.place_count && status == FACET_OK; i++) {
        if (json) {
            facet_strbuf_puts(out, i != 0 ? ",\n" : "");
            facet_rtbvh_json_place(&check.view, &check.places[i], out);
        } else {
            facet_rtbvh_listing(&check.view, &check.places[i], out);
        }
    }
    if (status == FACET_OK && json && !facet_rtbvh_json_tail(&check, out)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a text");
    }
    facet_rtbvh_check_free(&check);
    return status;
}

enum facet_status
facet_bvh_dump(const facet_bvh *bvh, bool json, struct facet_blob *text, struct facet_error *err)
{
    struct facet_strbuf out;
    enum facet_status status;

    *text = (struct facet_blob){0};
    facet_strbuf_init(&out);
    status = bvh->format == FACET_BVH_FORMAT_GFX12 ? dump_gfx12(bvh, json, &out, err)
                                                   : dump_rt(bvh, json, &out, err);
    if (status == FACET_OK) {
        return facet_door_blob_of_text(&out, text, err);
    }
    facet_strbuf_free(&out);
    return status;
}

/* ---- rays ---- */

enum { CHUNK = 64 }; /* rays that one thread copies, traces and copies back at a time */

/* A trace under way; what failed first, by the number of its ray, is kept. */
struct tracing {
    const facet_gfx12_tracer *tracer;
    const struct facet_gfx12_query *query;
    const struct facet_bvh_rays *rays;
    char *hits;
    size_t hit_stride;
    pthread_mutex_t lock;
    struct facet_error err;
};

static void note_failure(struct tracing *t, size_t first, struct facet_error *err)
{
    err->where += first;
    (void)pthread_mutex_lock(&t->lock);
    if (t->err.status == FACET_OK || err->where < t->err.where) {
        t->err = *err;
    }
    (void)pthread_mutex_unlock(&t->lock);
}

static void trace_chunk(void *context, size_t begin, size_t end)
{
    struct tracing *t = context;
    struct facet_gfx12_batch_ray rays[CHUNK] = {0};
    struct facet_gfx12_hit found[CHUNK];
    struct facet_error err = {FACET_OK, 0, ""};

    for (size_t i = begin; i < end; i++) {
        facet_door_batch_ray(t->rays, i, &rays[i - begin]);
    }
    if (facet_gfx12_tracer_batch(t->tracer, t->query, rays, end - begin, found, NULL, NULL, &err) !=
        FACET_OK) {
        note_failure(t, begin, &err);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const struct facet_bvh_hit hit = facet_door_hit(&found[i - begin]);

        memcpy(t->hits + i * t->hit_stride, &hit, sizeof hit);
    }
}

static enum facet_status trace_gfx12(facet_bvh *bvh,
                                     const struct facet_bvh_trace_config *config,
                                     const struct facet_bvh_rays *rays,
                                     struct facet_bvh_hit *hits,
                                     size_t hit_stride,
                                     facet_pool *pool,
                                     struct facet_error *err)
{
    struct facet_gfx12_query query =
        facet_door_query(config, (const float[8]){[7] = __builtin_inff()});
    struct tracing t = {.query = &query,
                        .rays = rays,
                        .hits = (char *)hits,
                        .hit_stride = hit_stride,
                        .lock = PTHREAD_MUTEX_INITIALIZER};

    if (bvh->tracer[config->plain] == NULL) {
        struct facet_gfx12_tracer_options how = {.path = config->plain ? FACET_GFX12_PATH_REFERENCE
                                                                       : FACET_GFX12_PATH_AUTO};
        struct facet_gfx12_unit unit;
        enum facet_status status;

        facet_gfx12_unit_init(&unit, bvh->bytes, bvh->size);
        how.address = unit.image_address;
        status = facet_gfx12_tracer_create(&unit, &how, &bvh->tracer[config->plain], err);
        if (status != FACET_OK) {
            return status;
        }
    }
    t.tracer = bvh->tracer[config->plain];
    if (config->device != 0) {
        return facet_door_device_trace(
            bvh, config->device, t.tracer, &query, rays, t.hits, hit_stride, err);
    }
    facet_pool_for(pool, rays->count, CHUNK, trace_chunk, &t);
    if (t.err.status != FACET_OK && err != NULL) {
        *err = t.err;
    }
    return t.err.status;
}

enum facet_status facet_bvh_trace_sized(facet_bvh *bvh,
                                        const struct facet_bvh_trace_config *config,
                                        size_t config_size,
                                        const struct facet_bvh_rays *rays,
                                        struct facet_bvh_hit *hits,
                                        size_t hit_stride,
                                        struct facet_error *err)
{
    struct facet_bvh_trace_config own;
    facet_pool *pool = NULL;
    enum facet_status status = facet_sized_in(&own,
                                              offsetof(struct facet_bvh_trace_config, reserved),
                                              config,
                                              config_size,
                                              "facet_bvh_trace_config",
                                              err);

    hit_stride = hit_stride != 0 ? hit_stride : sizeof *hits;
    if (status != FACET_OK) {
        return status;
    }
    if (own.device != 0 && (own.plain || bvh->format == FACET_BVH_FORMAT_XPHMG)) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "a device traces through GFX12 images, and not the plain way");
    }
    if (bvh->format == FACET_BVH_FORMAT_XPHMG) {
        return facet_door_rt_trace(bvh, &own, rays, hits, hit_stride, err);
    }
    if (own.threads > 1) {
        status = facet_pool_create(own.threads, &pool, err);
    }
    if (status == FACET_OK) {
        status = trace_gfx12(bvh, &own, rays, hits, hit_stride, pool, err);
    }
    facet_pool_destroy(pool);
    return status;
}
