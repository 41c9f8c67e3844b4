/* See refit.h. */
#include "rt_image/refit.h"

#include "rt_image/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bounds {
    float lo[3], hi[3]; /* not grown; empty: lo above hi */
};

/* A node in breadth-first order: those below it follow each other from `first` on. */
struct stop {
    uint64_t at; /* byte of the heap */
    uint32_t first;
    struct bounds bounds;
};

struct refit {
    const struct facet_rtbvh_view *view;
    const struct facet_bvh_triangle *triangles;
    uint32_t count;
    uint32_t *start; /* of each geometry, and the end */
    uint32_t geometries;
    uint8_t *used; /* triangles of the scene that are in the image */
    struct stop *stops;
    uint32_t nodes;
    struct facet_rtbvh_view moved; /* of the new bytes */
    uint8_t *bytes;
    float growth;
};

/* ---- triangles ---- */

static enum facet_status find_geometries(struct refit *r, struct facet_error *err)
{
    uint32_t next = 0;

    r->geometries = r->count != 0 ? r->triangles[r->count - 1].geometry + 1 : 0;
    r->start = calloc((size_t)r->geometries + 1, sizeof *r->start);
    r->used = calloc((size_t)r->count + 1, 1);
    if (r->start == NULL || r->used == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u triangles", r->count);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const struct facet_bvh_triangle *const t = &r->triangles[i];

        while (next <= t->geometry && next < r->geometries) {
            r->start[next++] = i;
        }
        if (t->geometry >= r->geometries || next != t->geometry + 1 ||
            t->primitive != i - r->start[t->geometry]) {
            return facet_fail(
                err, FACET_ERR_INPUT, i, "triangle %u of the scene is out of order", i);
        }
    }
    r->start[r->geometries] = r->count;
    return FACET_OK;
}

static enum facet_status move_triangle(struct refit *r, uint32_t k, struct facet_error *err)
{
    const uint32_t origin[2] = {facet_rtbvh_origin(r->view, k, 0),
                                facet_rtbvh_origin(r->view, k, 1)};
    uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS], at;
    enum facet_status status;
    struct bounds b;

    if (origin[0] >= r->geometries || origin[1] >= r->start[origin[0] + 1] - r->start[origin[0]]) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          k,
                          "triangle %u of the image is instance %u, triangle %u, which the scene "
                          "does not have: expected the same meshes and instances",
                          k,
                          origin[0],
                          origin[1]);
    }
    at = r->start[origin[0]] + origin[1];
    r->used[at] = 1;
    status = facet_rtbvh_round_triangle(
        &r->view->numbers, &r->triangles[at], r->growth, elements, b.lo, b.hi, err);
    if (status == FACET_OK) {
        facet_rtbvh_put_triangle(r->view, k, elements, origin, r->bytes);
    }
    return status;
}

/* What the builder left out must still be nothing that a ray could meet. */
static enum facet_status check_others(const struct refit *r, struct facet_error *err)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct facet_bvh_triangle *const t = &r->triangles[i];
        uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS];
        enum facet_status status;
        struct bounds b;

        if (r->used[i]) {
            continue;
        }
        status =
            facet_rtbvh_round_triangle(&r->view->numbers, t, r->growth, elements, b.lo, b.hi, err);
        if (status != FACET_OK) {
            return status;
        }
        if (!facet_rtbvh_degenerate(elements)) {
            return facet_fail(err,
                              FACET_ERR_LIMIT,
                              i,
                              "instance %u, triangle %u of the scene is not in the image: build a "
                              "new image",
                              t->geometry,
                              t->primitive);
        }
    }
    return FACET_OK;
}

static enum facet_status move_triangles(struct refit *r, struct facet_error *err)
{
    enum facet_status status = find_geometries(r, err);

    for (uint32_t k = 0; k < r->view->header.triangle_count && status == FACET_OK; k++) {
        status = move_triangle(r, k, err);
    }
    return status == FACET_OK ? check_others(r, err) : status;
}

/* ---- boxes ---- */

/* The image is sound: every node is met once. */
static enum facet_status find_nodes(struct refit *r, struct facet_error *err)
{
    uint32_t found = 1;

    r->stops = calloc((size_t)r->nodes + 1, sizeof *r->stops);
    if (r->stops == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for %u nodes", r->nodes);
    }
    for (uint32_t i = 0; i < found; i++) {
        r->stops[i].first = found;
        for (unsigned c = 0; c < r->view->header.children; c++) {
            const struct facet_rtbvh_child child = facet_rtbvh_child(r->view, r->stops[i].at, c);

            if (child.type == FACET_RT_NODE && found < r->nodes) {
                r->stops[found++].at = child.index * r->view->tile_bytes;
            }
        }
    }
    return FACET_OK;
}

static void include(struct bounds *b, const float lo[3], const float hi[3])
{
    for (unsigned a = 0; a < 3; a++) {
        /* As in facet_rtbvh_round_triangle; nothing here is NaN. */
        b->lo[a] = b->lo[a] < lo[a] ? b->lo[a] : lo[a];
        b->hi[a] = b->hi[a] > hi[a] ? b->hi[a] : hi[a];
    }
}

static struct bounds nothing(void)
{
    return (struct bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static struct bounds leaf_bounds(const struct refit *r, uint32_t index)
{
    const struct facet_rt_range range =
        facet_rtbvh_range(r->view, (uint64_t)index * FACET_RT_RANGE_BYTES);
    struct bounds b = nothing();

    for (uint32_t k = 0; k < range.count; k++) {
        float corner[3][3];

        (void)facet_rtbvh_triangle(&r->moved, range.first + k, corner);
        for (unsigned j = 0; j < 3; j++) {
            include(&b, corner[j], corner[j]);
        }
    }
    return b;
}

/* The boxes of a node, after those of all nodes below it. */
static void move_boxes(struct refit *r, struct stop *stop)
{
    uint32_t below = stop->first;

    stop->bounds = nothing();
    for (unsigned c = 0; c < r->view->header.children; c++) {
        struct facet_rtbvh_child child = facet_rtbvh_child(r->view, stop->at, c);
        struct bounds b;

        if (child.type == FACET_RT_EMPTY) {
            continue;
        }
        b = child.type == FACET_RT_NODE ? r->stops[below++].bounds : leaf_bounds(r, child.index);
        if (b.lo[0] > b.hi[0]) { /* a node without children: any box will do */
            continue;
        }
        facet_rtbvh_round_box(&r->view->numbers, b.lo, b.hi, r->growth, child.elements);
        facet_rtbvh_put_child(r->view, stop->at, c, &child, r->bytes);
        include(&stop->bounds, b.lo, b.hi);
    }
}

/* ---- the whole ---- */

static enum facet_status refit(struct refit *r, struct facet_error *err)
{
    struct facet_rtbvh_header header = r->view->header;
    enum facet_status status = move_triangles(r, err);

    if (status == FACET_OK) {
        status = find_nodes(r, err);
    }
    if (status != FACET_OK) {
        return status;
    }
    for (uint32_t i = r->nodes; i-- > 0;) {
        move_boxes(r, &r->stops[i]);
    }
    header.pad = r->growth;
    facet_rtbvh_header_write(&header, r->bytes);
    return FACET_OK;
}

enum facet_status facet_rtbvh_refit(const struct facet_rtbvh_check *image,
                                    const struct facet_bvh_triangle *triangles,
                                    uint32_t count,
                                    double reach,
                                    struct facet_rtbvh_image *out,
                                    struct facet_error *err)
{
    const struct facet_rtbvh_view *const view = &image->view;
    struct refit r = {.view = view, .triangles = triangles, .count = count, .nodes = image->nodes};
    struct facet_rtbvh_extent extent;
    enum facet_status status;

    *out = (struct facet_rtbvh_image){NULL, 0};
    if (!image->open || image->errors != 0) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "the image is malformed (%llu errors); `facet bvh check` lists them",
                          (unsigned long long)image->errors);
    }
    status = facet_rtbvh_measure(triangles, count, reach, &extent, err);
    if (status != FACET_OK) {
        return status;
    }
    r.growth = fmaxf(view->header.pad, extent.growth);
    r.bytes = malloc((size_t)view->size);
    if (r.bytes == NULL) {
        return facet_fail(err,
                          FACET_ERR_MEMORY,
                          0,
                          "no memory for an image of %llu bytes",
                          (unsigned long long)view->size);
    }
    memcpy(r.bytes, view->bytes, (size_t)view->size);
    r.moved = *view;
    r.moved.bytes = r.bytes;
    status = refit(&r, err);
    free(r.start);
    free(r.used);
    free(r.stops);
    if (status != FACET_OK) {
        free(r.bytes);
        return status;
    }
    *out = (struct facet_rtbvh_image){r.bytes, view->size};
    return FACET_OK;
}
