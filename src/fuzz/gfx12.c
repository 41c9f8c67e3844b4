/* Rays through GFX12 images: soups of triangles on a small grid (edges and planes are hit often),
 * built by every quality, half of them with some bits flipped afterwards. */
#include "fuzz/kinds.h"

#include "base/bits.h"
#include "base/random.h"
#include "gfx12/steps.h"
#include "gfx12/tracer.h"

#include <facet/bvh.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIANGLES = 120, MOST_STEPS = 4096 };

enum stream { SCENE, RAYS };

static uint64_t stream_of(const struct facet_fuzz_case *c, enum stream stream)
{
    return facet_random(facet_random(c->seed, c->number), stream);
}

static void draw(struct facet_fuzz_case *c, size_t length)
{
    c->count = length;
    for (size_t i = 0; i < length; i++) {
        c->item[i] = (uint32_t)i;
    }
}

/* ---- the image ---- */

/* On the grid, or anywhere. */
static float coordinate(uint64_t seed, uint64_t index)
{
    const uint64_t random = facet_random(seed, index);

    return (seed & 1) != 0 ? (float)(random % 9) - 4 : facet_random_float(seed, index) * 8 - 4;
}

static enum facet_status
build(const struct facet_fuzz_case *c, facet_bvh **out, struct facet_error *err)
{
    const uint64_t seed = stream_of(c, SCENE);
    const uint32_t triangles = 1 + (uint32_t)facet_random_below(seed, 0, MOST_TRIANGLES);
    const uint64_t choice = facet_random(seed, 1);
    float positions[MOST_TRIANGLES * 9];
    const struct facet_bvh_mesh mesh = {.positions = positions,
                                        .vertex_count = 3 * triangles,
                                        .triangle_count = triangles,
                                        .flags = (uint32_t)(choice & 3)};
    struct facet_bvh_placement placements[3];
    const struct facet_bvh_scene scene = {
        &mesh, 1, placements, 1 + (uint32_t)(choice >> 4 & 3) % 3};
    const struct facet_bvh_config config = {
        .quality = (enum facet_bvh_quality)((choice >> 8) % FACET_BVH_QUALITIES),
        .obb = (choice >> 16 & 3) == 0,
        .allow_update = (choice >> 18 & 3) == 0};

    for (uint32_t i = 0; i < 9 * triangles; i++) {
        positions[i] = coordinate(seed, 16 + i);
    }
    for (uint32_t i = 0; i < scene.placement_count; i++) {
        placements[i] = (struct facet_bvh_placement){.mask = 0xFFu >> 2 * i};
        for (uint32_t k = 0; k < 12; k++) {
            /* a diagonal that no other element of its row can outweigh: there is an inverse */
            placements[i].object_to_world[k] =
                (k % 5 == 0 ? 4.0F : 0.0F) + (i == 0 ? 0 : coordinate(seed, 4096 + 12 * i + k) / 4);
        }
    }
    return facet_bvh_build(&scene, &config, out, err);
}

/* A copy of the image; of every second case with up to eight bits flipped. */
static uint8_t *image_of(const struct facet_fuzz_case *c, size_t *size, struct facet_error *err)
{
    const uint64_t seed = stream_of(c, SCENE), flips = facet_random(seed, 2);
    facet_bvh *bvh = NULL;
    uint8_t *copy = NULL;

    if (build(c, &bvh, err) == FACET_OK) {
        const uint8_t *image = facet_bvh_get_image(bvh, size);

        copy = malloc(*size);
        if (copy == NULL) {
            (void)facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for an image");
        } else {
            memcpy(copy, image, *size);
            for (uint64_t i = 0; (flips & 1) != 0 && i < (flips >> 1 & 7) + 1; i++) {
                const uint64_t bit = facet_random_below(seed, 3 + i, 8 * *size);

                copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
    }
    facet_bvh_destroy(bvh);
    return copy;
}

static struct facet_gfx12_query query_of(const struct facet_fuzz_case *c, uint32_t item)
{
    static const uint32_t flags[] = {0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200};
    const uint64_t seed = facet_random(stream_of(c, RAYS), item);
    const uint64_t choice = facet_random(seed, 0);
    float origin[3], direction[3];
    struct facet_gfx12_query query;

    for (unsigned a = 0; a < 3; a++) {
        origin[a] = coordinate(seed | (choice & 1), 1 + a) * 2;
        direction[a] = coordinate(seed | (choice & 1), 4 + a);
    }
    facet_gfx12_query_init(&query, origin, direction);
    query.max_steps = MOST_STEPS;
    query.root = FACET_GFX12_ROOT;
    query.api_flags = (choice >> 8 & 3) == 0 ? flags[(choice >> 16) % 11] : 0;
    query.instance_mask = (choice >> 10 & 3) == 0 ? (uint32_t)(choice >> 24 & 0xFF) : 0xFF;
    if ((choice >> 12 & 3) == 0) {
        query.t_min = facet_random_float(seed, 8);
        query.t_max = facet_random_float(seed, 9) * 4;
    }
    return query;
}

/* ---- running ---- */

static enum facet_status open_runner(void **out, struct facet_error *err)
{
    (void)err;
    *out = NULL; /* every case has tracers of its own */
    return FACET_OK;
}

static void close_runner(void *runner)
{
    (void)runner;
}

static bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_hit(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b)
{
    return a->found == b->found && a->procedural == b->procedural && a->opaque == b->opaque &&
           a->backface == b->backface && same_bits(a->t, b->t) && same_bits(a->u, b->u) &&
           same_bits(a->v, b->v) && a->primitive_index == b->primitive_index &&
           a->geometry_index == b->geometry_index && a->node == b->node && a->base == b->base &&
           a->instance == b->instance && a->instance_user_data == b->instance_user_data;
}

static bool same_stats(const struct facet_gfx12_stats *a, const struct facet_gfx12_stats *b)
{
    return a->steps == b->steps && a->boxes == b->boxes && a->primitives == b->primitives &&
           a->instances == b->instances && a->pushes == b->pushes && a->max_depth == b->max_depth;
}

/* All rays on one path, against the reference loop. */
static void compare_path(const struct facet_gfx12_unit *unit,
                         const facet_gfx12_tracer *tracer,
                         const struct facet_fuzz_case *c,
                         struct facet_fuzz_verdict *verdict)
{
    const char *path = facet_gfx12_tracer_path_name(facet_gfx12_tracer_used(tracer));

    for (size_t i = 0; i < c->count && !verdict->differs; i++) {
        const struct facet_gfx12_query query = query_of(c, c->item[i]);
        struct facet_gfx12_stats want_stats = {0}, got_stats = {0};
        struct facet_gfx12_hit want = {0}, got = {0};
        const enum facet_status a = facet_gfx12_trace(unit, &query, &want, &want_stats, NULL);
        const enum facet_status b =
            facet_gfx12_tracer_trace(tracer, &query, &got, &got_stats, NULL);
        const char *what = a != b                                 ? "end differently"
                           : !same_hit(&want, &got)               ? "hit something else"
                           : !same_stats(&want_stats, &got_stats) ? "count other nodes"
                                                                  : NULL;

        if (what != NULL) {
            verdict->differs = true;
            (void)snprintf(verdict->text,
                           sizeof verdict->text,
                           "ray %" PRIu32 ": the reference loop and the path %s %s",
                           c->item[i],
                           path,
                           what);
        }
    }
}

static enum facet_status run(void *runner,
                             const struct facet_fuzz_case *c,
                             struct facet_fuzz_verdict *verdict,
                             struct facet_error *err)
{
    static const enum facet_gfx12_tracer_path paths[] = {
        FACET_GFX12_PATH_PORTABLE, FACET_GFX12_PATH_AVX2, FACET_GFX12_PATH_AVX512};
    struct facet_gfx12_unit unit;
    size_t size = 0;
    uint8_t *image = image_of(c, &size, err);

    (void)runner;
    *verdict = (struct facet_fuzz_verdict){0};
    if (image == NULL) {
        return err->status;
    }
    facet_gfx12_unit_init(&unit, image, size);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && !verdict->differs; i++) {
        const struct facet_gfx12_tracer_options options = {
            .path = paths[i],
            .wish_bytes = c->number % 4 == 0 ? size : 0}; /* triangles that stay in the image */
        facet_gfx12_tracer *tracer;

        if (facet_gfx12_tracer_create(&unit, &options, &tracer, NULL) == FACET_OK) {
            compare_path(&unit, tracer, c, verdict); /* else the host cannot go this way */
            facet_gfx12_tracer_destroy(tracer);
        }
    }
    free(image);
    return FACET_OK;
}

/* ---- the case as JSON ---- */

static enum facet_status
text(const struct facet_fuzz_case *c, struct facet_strbuf *out, struct facet_error *err)
{
    size_t size = 0;
    uint8_t *image = image_of(c, &size, err);

    if (image == NULL) {
        return err->status;
    }
    facet_strbuf_printf(out,
                        "{\n  \"kind\": \"gfx12\",\n  \"seed\": \"%" PRIu64
                        "\",\n  \"number\": \"%" PRIu64 "\",\n  \"rays\": [",
                        c->seed,
                        c->number);
    for (size_t i = 0; i < c->count; i++) {
        const struct facet_gfx12_query q = query_of(c, c->item[i]);

        facet_strbuf_printf(out,
                            "%s\n    {\"origin\": [%.9g, %.9g, %.9g], \"direction\": [%.9g, %.9g, "
                            "%.9g], \"t_min\": %.9g, \"t_max\": %s%.9g%s, \"flags\": %" PRIu32
                            ", \"mask\": %" PRIu32 "}",
                            i == 0 ? "" : ",",
                            (double)q.origin[0],
                            (double)q.origin[1],
                            (double)q.origin[2],
                            (double)q.direction[0],
                            (double)q.direction[1],
                            (double)q.direction[2],
                            (double)q.t_min,
                            q.t_max > 3e38F ? "\"" : "",
                            (double)q.t_max,
                            q.t_max > 3e38F ? "\"" : "",
                            q.api_flags,
                            q.instance_mask);
    }
    facet_strbuf_puts(out, "\n  ],\n  \"image\": \"");
    for (size_t i = 0; i < size; i++) {
        facet_strbuf_printf(out, "%02x", image[i]);
    }
    facet_strbuf_puts(out, "\"\n}\n");
    free(image);
    return out->failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for a case") : FACET_OK;
}

/* ---- for others: what the loop asked of the ray unit, one instruction by one ---- */

enum { MOST_VECTORS = 8, NODE_BYTES = 128 }; /* of a ray */

struct vectors {
    struct facet_strbuf text;
    const struct facet_gfx12_unit *unit;
    uint32_t ray;
    unsigned of_ray, all;
};

static void put_dwords(struct facet_strbuf *out, const char *name, const void *words, size_t count)
{
    facet_strbuf_printf(out, ",\n   \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        uint32_t word;

        memcpy(&word, (const uint8_t *)words + 4 * i, sizeof word);
        facet_strbuf_printf(out, "%s\"0x%08" PRIx32 "\"", i == 0 ? "" : ", ", word);
    }
    facet_strbuf_puts(out, "]");
}

/* The node alone, at the offset 0 of its structure. */
static void put_vector(struct vectors *v, const struct facet_gfx12_steps *steps)
{
    uint32_t resource[4];
    uint32_t node[NODE_BYTES / 4], extent;

    for (unsigned i = 0; i < NODE_BYTES / 4; i++) {
        node[i] = facet_load_le32(v->unit->image + steps->image_offset + (size_t)4 * i);
    }
    facet_gfx12_resource_pack(&v->unit->resource, resource);
    memcpy(&extent, &steps->ray.extent, sizeof extent);
    facet_strbuf_printf(&v->text,
                        "%s\n  {\"name\": \"ray %" PRIu32 " node %u\", \"node_pointer\": %" PRIu32
                        ", \"bvh_base\": \"0x%" PRIx64 "\",\n   \"ray_extent\": \"0x%08" PRIx32
                        "\", \"instance_mask\": %" PRIu32,
                        v->all == 0 ? "" : ",",
                        v->ray,
                        v->of_ray,
                        steps->node & 0xF,
                        steps->base,
                        extent,
                        steps->ray.instance_mask & 0xFF);
    put_dwords(&v->text, "node", node, NODE_BYTES / 4);
    put_dwords(&v->text, "origin", steps->ray.origin, 3);
    put_dwords(&v->text, "direction", steps->ray.direction, 3);
    put_dwords(&v->text, "resource", resource, 4);
    put_dwords(&v->text, "expected", steps->v, 10);
    if (steps->kind == FACET_GFX12_KIND_INSTANCE) {
        put_dwords(&v->text, "expected_origin", steps->after.origin, 3);
        put_dwords(&v->text, "expected_direction", steps->after.direction, 3);
    }
    facet_strbuf_puts(&v->text, "}");
    v->of_ray++;
    v->all++;
}

static void watch(void *context, const struct facet_gfx12_turn *turn)
{
    struct vectors *v = context;

    if (turn->steps.kind != FACET_GFX12_KIND_NONE && v->of_ray < MOST_VECTORS &&
        turn->steps.image_offset + NODE_BYTES <= v->unit->image_size) {
        put_vector(v, &turn->steps);
    }
}

static enum facet_status
files(const struct facet_fuzz_case *c, struct facet_fuzz_files *out, struct facet_error *err)
{
    struct facet_gfx12_unit unit;
    struct vectors v = {.unit = &unit};
    struct facet_strbuf rays;
    size_t size = 0;
    uint8_t *image = image_of(c, &size, err);
    enum facet_status status;

    if (image == NULL) {
        return err->status;
    }
    facet_strbuf_init(&v.text);
    facet_strbuf_init(&rays);
    facet_strbuf_puts(&v.text, "{\"cases\": [");
    facet_gfx12_unit_init(&unit, image, size);
    for (size_t i = 0; i < c->count; i++) {
        const struct facet_gfx12_query query = query_of(c, c->item[i]);
        struct facet_gfx12_hit hit;

        v.ray = c->item[i];
        v.of_ray = 0;
        (void)facet_gfx12_trace_watched(&unit, &query, watch, &v, &hit, NULL, NULL);
    }
    facet_strbuf_puts(&v.text, "\n]}\n");
    status = text(c, &rays, err);
    status = status == FACET_OK ? facet_fuzz_put_text(out, ".rays.json", &rays, err) : status;
    status = status == FACET_OK ? facet_fuzz_put_text(out, ".json", &v.text, err) : status;
    facet_strbuf_free(&rays);
    facet_strbuf_free(&v.text);
    free(image);
    return status;
}

const struct facet_fuzz_kind facet_fuzz_gfx12 = {
    .name = "gfx12",
    .items = "rays",
    .ways = "the reference loop, decoded nodes in plain C and with the vector units of the host",
    .draw = draw,
    .open = open_runner,
    .close = close_runner,
    .run = run,
    .text = text,
    .conform = CONFORM_VECTOR,
    .end = ".json",
    .files = files,
};
