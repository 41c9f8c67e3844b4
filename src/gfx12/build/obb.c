/* Oriented boxes (gfx12-semantics.md 12.7): for every box node the best of the 104 rotations.
 *
 * All vertices below a node are rotated 104 times, on every level: the cost is the height of the
 * tree times 104 rotations per triangle. Fused multiply-adds come from the processor when it has
 * them (looked up at run time) and from fmaf otherwise; both give the same bits. */
#include "gfx12/build/level.h"

#include <facet/gfx12.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 2048 /* nodes with more items are spread over the pool by matrix */

struct rotated {
    struct facet_child_box box[8];
    double area; /* sum over the children; +inf when unusable */
};

/* Extent of one child's vertices in the rotated frame, joined into box. */
typedef void
rotate_fn(const float m[9], const struct facet_bvh_triangle *triangle, struct facet_child_box *box);

#define ROTATE_BODY                                                                                \
    for (int c = 0; c < 3; c++) {                                                                  \
        const float *v = triangle->vertex[c];                                                      \
        for (int r = 0; r < 3; r++) {                                                              \
            float x = __builtin_fmaf(                                                              \
                v[0],                                                                              \
                m[3 * r],                                                                          \
                __builtin_fmaf(v[1], m[3 * r + 1], __builtin_fmaf(v[2], m[3 * r + 2], 0.0f)));     \
            box->lo[r] =                                                                           \
                x < box->lo[r] || (x == box->lo[r] && __builtin_signbit(x)) ? x : box->lo[r];      \
            box->hi[r] =                                                                           \
                x > box->hi[r] || (x == box->hi[r] && !__builtin_signbit(x)) ? x : box->hi[r];     \
        }                                                                                          \
    }

static void rotate_portable(const float m[9],
                            const struct facet_bvh_triangle *triangle,
                            struct facet_child_box *box)
{
    ROTATE_BODY
}

#if defined(__x86_64__)
__attribute__((target("fma"))) static void
rotate_fma(const float m[9], const struct facet_bvh_triangle *triangle, struct facet_child_box *box)
{
    ROTATE_BODY
}

static rotate_fn *pick_rotate(void)
{
    return __builtin_cpu_supports("fma") ? rotate_fma : rotate_portable;
}
#else
static rotate_fn *pick_rotate(void)
{
    return rotate_portable;
}
#endif

/* a - b (or a + b) rounded down (or up): the binary64 sum and its exact error decide. */
static float add_directed(float a, float b, bool up)
{
    double x = (double)a, y = (double)b;
    double s = x + y, t = s - x;
    double e = (x - (s - t)) + (y - t);
    float f = (float)s;
    bool above = (double)f > s || ((double)f == s && e < 0.0);
    bool below = (double)f < s || ((double)f == s && e > 0.0);

    if (up && below) {
        return nextafterf(f, INFINITY);
    }
    return !up && above ? nextafterf(f, -INFINITY) : f;
}

/* The items below a child: leaves say so, inner nodes of a fast tree are asked. */
static void child_run(const struct facet_level *level,
                      const struct facet_wide_child *child,
                      uint32_t *first,
                      uint32_t *end)
{
    const struct facet_bvh2_node *nodes = level->tree.nodes;
    uint32_t l = child->node, r = child->node;

    while (!facet_bvh2_is_leaf(&nodes[l])) {
        l = nodes[l].child0;
    }
    while (!facet_bvh2_is_leaf(&nodes[r])) {
        r = nodes[r].child1;
    }
    *first = facet_bvh2_first(&nodes[l]);
    *end = facet_bvh2_first(&nodes[r]) + nodes[r].child1;
}

static void rotate_node(const struct facet_level *level,
                        const struct facet_wide_node *wide,
                        rotate_fn *rotate,
                        unsigned matrix,
                        struct rotated *out)
{
    uint32_t bits[9];
    float m[9], largest = 0.0f, pad;

    facet_gfx12_obb_matrix(matrix, bits);
    memcpy(m, bits, sizeof m);
    for (unsigned c = 0; c < wide->count; c++) {
        struct facet_child_box *box = &out->box[c];
        uint32_t first, end;

        for (int k = 0; k < 3; k++) {
            box->lo[k] = INFINITY;
            box->hi[k] = -INFINITY;
        }
        child_run(level, &wide->child[c], &first, &end);
        for (uint32_t i = first; i < end; i++) {
            struct facet_bvh_triangle room[2];
            const struct facet_bvh_triangle *t[2];
            uint32_t n = facet_gfx12_level_triangles(level, level->ids[i], room, t);

            for (uint32_t j = 0; j < n; j++) {
                rotate(m, t[j], box);
            }
        }
        for (int k = 0; k < 3; k++) {
            largest = fmaxf(largest, fmaxf(fabsf(box->lo[k]), fabsf(box->hi[k])));
        }
    }
    pad = 0x1p-20f * largest;
    out->area = 0.0;
    for (unsigned c = 0; c < wide->count; c++) {
        for (int k = 0; k < 3; k++) {
            out->box[c].lo[k] = add_directed(out->box[c].lo[k], -pad, false);
            out->box[c].hi[k] = add_directed(out->box[c].hi[k], pad, true);
        }
        out->area += facet_bvh_box_area(out->box[c].lo, out->box[c].hi);
    }
    /* Too wide for the grid of a box node: 2^126 leaves room for the union of the children. */
    if (!(largest < 0x1p126f)) {
        out->area = (double)INFINITY;
    }
}

static double aligned_area(const struct facet_level *level, const struct facet_wide_node *wide)
{
    double area = 0.0;

    for (unsigned c = 0; c < wide->count; c++) {
        const struct facet_bvh2_node *node = &level->tree.nodes[wide->child[c].node];

        area += facet_bvh_box_area(node->lo, node->hi);
    }
    return area;
}

struct job {
    const struct facet_level *level;
    rotate_fn *rotate;
    uint8_t *index;
    struct facet_child_box *boxes;
    uint32_t wide;             /* the large node at hand */
    struct rotated *by_matrix; /* its 104 results */
};

static void
choose(struct job *job, uint32_t w, const struct rotated *r, unsigned matrix, double *best)
{
    if (r->area < *best) {
        *best = r->area;
        job->index[w] = (uint8_t)matrix;
        memcpy(&job->boxes[8 * (size_t)w], r->box, sizeof r->box);
    }
}

static bool is_large(const struct facet_level *level, uint32_t w)
{
    const struct facet_wide_node *wide = &level->wide.nodes[w];
    uint32_t items = 0;

    for (unsigned c = 0; c < wide->count; c++) {
        uint32_t first, end;

        child_run(level, &wide->child[c], &first, &end);
        items += end - first;
    }
    return items > LARGE;
}

/* Counts the triangles that hang directly below the node. */
static void count_progress(const struct facet_level *level, uint32_t w)
{
    const struct facet_wide_node *wide = &level->wide.nodes[w];
    uint32_t triangles = 0;

    for (unsigned c = wide->inner; c < wide->count; c++) {
        for (uint32_t i = 0; i < wide->child[c].count; i++) {
            uint32_t number[2];

            triangles +=
                facet_gfx12_level_numbers(level, level->ids[wide->child[c].first + i], number);
        }
    }
    facet_progress_add(level->progress, triangles);
}

static void small_nodes(void *context, size_t begin, size_t end)
{
    struct job *job = context;

    for (size_t w = begin; w < end; w++) {
        const struct facet_wide_node *wide = &job->level->wide.nodes[w];
        double best = aligned_area(job->level, wide);

        if (is_large(job->level, (uint32_t)w)) {
            continue;
        }
        job->index[w] = FACET_GFX12_OBB_NONE;
        for (unsigned m = 0; m < FACET_GFX12_OBB_COUNT; m++) {
            struct rotated r;

            rotate_node(job->level, wide, job->rotate, m, &r);
            choose(job, (uint32_t)w, &r, m, &best);
        }
        count_progress(job->level, (uint32_t)w);
    }
}

static void one_matrix(void *context, size_t begin, size_t end)
{
    struct job *job = context;

    for (size_t m = begin; m < end; m++) {
        rotate_node(job->level,
                    &job->level->wide.nodes[job->wide],
                    job->rotate,
                    (unsigned)m,
                    &job->by_matrix[m]);
    }
}

enum facet_status facet_gfx12_level_obb(const struct facet_level *level,
                                        facet_pool *pool,
                                        uint8_t *index,
                                        struct facet_child_box *boxes,
                                        struct facet_error *err)
{
    struct job job = {.level = level, .rotate = pick_rotate(), .index = index, .boxes = boxes};

    job.by_matrix = malloc(FACET_GFX12_OBB_COUNT * sizeof *job.by_matrix);
    if (job.by_matrix == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "no memory for oriented boxes");
    }
    for (uint32_t w = 0; w < level->wide.count; w++) {
        double best = aligned_area(level, &level->wide.nodes[w]);

        if (!is_large(level, w)) {
            continue;
        }
        index[w] = FACET_GFX12_OBB_NONE;
        job.wide = w;
        facet_pool_for(pool, FACET_GFX12_OBB_COUNT, 1, one_matrix, &job);
        for (unsigned m = 0; m < FACET_GFX12_OBB_COUNT; m++) {
            choose(&job, w, &job.by_matrix[m], m, &best);
        }
        count_progress(level, w);
    }
    facet_pool_for(pool, level->wide.count, 16, small_nodes, &job);
    free(job.by_matrix);
    return FACET_OK;
}
