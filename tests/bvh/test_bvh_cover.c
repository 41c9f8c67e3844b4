/* Triangles covered by boxes: the exact tests against polygons with rational corners (GMP), and V12
 * on images whose triangles have several paths: merged pairs, cut triangles, several boxes. */
#include "base/float.h"
#include "gfx12/check/check.h"
#include "gfx12/check/cover.h"
#include "harness.h"

#include <facet/gfx12.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- polygons with rational corners ---- */

#define MOST_CORNERS 12

struct polygon {
    mpq_t corner[MOST_CORNERS][3];
    unsigned count;
};

static void polygon_init(struct polygon *p)
{
    p->count = 0;
    for (int i = 0; i < MOST_CORNERS; i++) {
        for (int k = 0; k < 3; k++) {
            mpq_init(p->corner[i][k]);
        }
    }
}

static void polygon_clear(struct polygon *p)
{
    for (int i = 0; i < MOST_CORNERS; i++) {
        for (int k = 0; k < 3; k++) {
            mpq_clear(p->corner[i][k]);
        }
    }
}

/* The side where sign * (x - at) <= 0, the border included. */
static void polygon_keep(struct polygon *p, int axis, double at, int sign)
{
    struct polygon out;
    mpq_t dp, dq, f, d;

    polygon_init(&out);
    mpq_inits(dp, dq, f, d, NULL);
    for (unsigned i = 0; i < p->count; i++) {
        mpq_t *a = p->corner[i], *b = p->corner[(i + 1) % p->count];
        int sa, sb;

        mpq_set_d(f, at);
        mpq_sub(dp, a[axis], f);
        mpq_sub(dq, b[axis], f);
        sa = sign * mpq_sgn(dp);
        sb = sign * mpq_sgn(dq);
        if (sa <= 0) {
            for (int k = 0; k < 3; k++) {
                mpq_set(out.corner[out.count][k], a[k]);
            }
            out.count++;
        }
        if (sa * sb < 0) {
            mpq_sub(d, dp, dq);
            mpq_div(f, dp, d);
            for (int k = 0; k < 3; k++) {
                mpq_sub(d, b[k], a[k]);
                mpq_mul(d, d, f);
                mpq_add(out.corner[out.count][k], a[k], d);
            }
            out.count++;
        }
    }
    for (unsigned i = 0; i < out.count; i++) {
        for (int k = 0; k < 3; k++) {
            mpq_set(p->corner[i][k], out.corner[i][k]);
        }
    }
    p->count = out.count;
    mpq_clears(dp, dq, f, d, NULL);
    polygon_clear(&out);
}

static void
polygon_cut(struct polygon *p, const float triangle[3][3], const struct facet_gfx12_extent *box)
{
    p->count = 3;
    for (int i = 0; i < 9; i++) {
        mpq_set_d(p->corner[i / 3][i % 3], (double)triangle[i / 3][i % 3]);
    }
    for (int k = 0; k < 3; k++) {
        polygon_keep(p, k, (double)box->hi[k], 1);
        polygon_keep(p, k, (double)box->lo[k], -1);
    }
}

/* The middle of the part of a triangle inside a box: strictly inside it, unless that part lies in a
 * side. */
static bool middle_is_inside(const struct polygon *p, const struct facet_gfx12_extent *box)
{
    bool inside = p->count != 0;
    mpq_t sum, limit;

    mpq_inits(sum, limit, NULL);
    for (int k = 0; k < 3 && inside; k++) {
        mpq_set_ui(sum, 0, 1);
        for (unsigned i = 0; i < p->count; i++) {
            mpq_add(sum, sum, p->corner[i][k]);
        }
        mpq_set_ui(limit, p->count, 1);
        mpq_div(sum, sum, limit);
        mpq_set_d(limit, (double)box->lo[k]);
        inside = mpq_cmp(sum, limit) > 0 || (box->lo[k] == box->hi[k] && mpq_equal(sum, limit));
        mpq_set_d(limit, (double)box->hi[k]);
        inside = inside &&
                 (mpq_cmp(sum, limit) < 0 || (box->lo[k] == box->hi[k] && mpq_equal(sum, limit)));
    }
    mpq_clears(sum, limit, NULL);
    return inside;
}

static bool meets_exactly(const float triangle[3][3], const struct facet_gfx12_extent *box)
{
    struct polygon p;
    bool meets;

    polygon_init(&p);
    polygon_cut(&p, triangle, box);
    meets = middle_is_inside(&p, box);
    polygon_clear(&p);
    return meets;
}

/* All cells between the planes of all boxes: none without a box may be met. */
static bool covered_exactly(const float triangle[3][3],
                            const struct facet_gfx12_extent *bounds,
                            const struct facet_gfx12_extent *boxes,
                            unsigned count)
{
    float plane[3][16];
    unsigned planes[3];

    for (int k = 0; k < 3; k++) {
        unsigned n = 0;

        plane[k][n++] = bounds->lo[k];
        plane[k][n++] = bounds->hi[k];
        for (unsigned i = 0; i < count; i++) {
            plane[k][n++] = fmaxf(bounds->lo[k], fminf(bounds->hi[k], boxes[i].lo[k]));
            plane[k][n++] = fmaxf(bounds->lo[k], fminf(bounds->hi[k], boxes[i].hi[k]));
        }
        for (unsigned i = 1; i < n; i++) {
            for (unsigned j = i; j > 0 && plane[k][j] < plane[k][j - 1]; j--) {
                float swap = plane[k][j];

                plane[k][j] = plane[k][j - 1];
                plane[k][j - 1] = swap;
            }
        }
        planes[k] = 1;
        for (unsigned i = 1; i < n; i++) {
            if (plane[k][i] != plane[k][planes[k] - 1]) {
                plane[k][planes[k]++] = plane[k][i];
            }
        }
        if (planes[k] == 1) {
            plane[k][planes[k]++] = plane[k][0]; /* flat */
        }
    }
    for (unsigned cell = 0; cell < (planes[0] - 1) * (planes[1] - 1) * (planes[2] - 1); cell++) {
        const unsigned at[3] = {cell % (planes[0] - 1),
                                cell / (planes[0] - 1) % (planes[1] - 1),
                                cell / (planes[0] - 1) / (planes[1] - 1)};
        struct facet_gfx12_extent c;
        bool held = false;

        for (int k = 0; k < 3; k++) {
            c.lo[k] = plane[k][at[k]];
            c.hi[k] = plane[k][at[k] + 1];
        }
        for (unsigned i = 0; i < count; i++) {
            held = held || facet_gfx12_extent_holds(&boxes[i], &c);
        }
        if (!held && meets_exactly(triangle, &c)) {
            return false;
        }
    }
    return true;
}

static float small_number(unsigned values)
{
    return (float)(harness_random() % values);
}

static struct facet_gfx12_extent small_box(unsigned values)
{
    struct facet_gfx12_extent box;

    for (int k = 0; k < 3; k++) {
        float a = small_number(values), b = small_number(values);

        box.lo[k] = fminf(a, b);
        box.hi[k] = fmaxf(a, b);
    }
    return box;
}

/* Steps away from a number, so that planes pass by corners and edges at the least distance. */
static float nudged(float x)
{
    const uint64_t way = harness_random() % 4;

    return way == 0 ? nextafterf(x, -INFINITY) : way == 1 ? nextafterf(x, INFINITY) : x;
}

static void random_triangle(float triangle[3][3], unsigned values)
{
    const uint64_t flat = harness_random() % 8;

    for (int i = 0; i < 9; i++) {
        triangle[i / 3][i % 3] = small_number(values);
    }
    for (int v = 1; v < 3 && flat < 3; v++) {
        triangle[v][flat] = triangle[0][flat];
    }
}

TEST(a_triangle_meets_a_box_as_rational_polygons_do, "G12-270")
{
    unsigned yes = 0;

    for (int round = 0; round < 20000; round++) {
        const float scale = ldexpf(1.0f, (int)(harness_random() % 80) - 40);
        float triangle[3][3];
        struct facet_gfx12_extent box = small_box(7);
        bool meets;

        random_triangle(triangle, 7);
        for (int k = 0; k < 3; k++) {
            for (int v = 0; v < 3; v++) {
                triangle[v][k] = scale * triangle[v][k];
            }
            box.lo[k] = scale * box.lo[k];
            box.hi[k] = scale * box.hi[k];
            if (round % 2 == 0 && box.lo[k] < box.hi[k]) {
                box.lo[k] = nudged(box.lo[k]);
                box.hi[k] = nudged(box.hi[k]);
            }
            /* A flat box is asked about only when the triangle lies in its plane. */
            if (box.lo[k] == box.hi[k]) {
                triangle[0][k] = triangle[1][k] = triangle[2][k] = box.lo[k];
            }
        }
        meets = facet_gfx12_triangle_meets(triangle, &box);
        CHECK_MSG(meets == meets_exactly(triangle, &box), "round %d", round);
        yes += meets;
    }
    CHECK(yes > 1000 && yes < 19000);
}

TEST(boxes_cover_a_triangle_as_all_cells_say, "G12-270")
{
    unsigned yes = 0, rounds = 3000;

    for (unsigned round = 0; round < rounds; round++) {
        float triangle[3][3];
        struct facet_gfx12_extent boxes[6], shuffled[6], bounds, hole;
        const unsigned count = 1 + (unsigned)(harness_random() % 6);
        size_t budget = 100000;
        enum facet_gfx12_cover cover;
        bool expected;

        random_triangle(triangle, 6);
        for (int k = 0; k < 3; k++) {
            bounds.lo[k] = fminf(triangle[0][k], fminf(triangle[1][k], triangle[2][k]));
            bounds.hi[k] = fmaxf(triangle[0][k], fmaxf(triangle[1][k], triangle[2][k]));
        }
        for (unsigned i = 0; i < count; i++) {
            boxes[i] = small_box(6);
            if (round % 2 == 0) { /* slabs, which cover more often */
                const int k = (int)(harness_random() % 3);

                for (int other = 0; other < 3; other++) {
                    if (other != k) {
                        boxes[i].lo[other] = -1;
                        boxes[i].hi[other] = 7;
                    }
                }
                if (harness_random() % 3 == 0) {
                    boxes[i].hi[k] = nudged(boxes[i].hi[k]);
                }
            }
            shuffled[i] = boxes[i];
        }
        expected = covered_exactly(triangle, &bounds, boxes, count);
        cover = facet_gfx12_covered(triangle, &bounds, shuffled, count, &budget, &hole);
        CHECK_MSG(cover == (expected ? FACET_GFX12_COVERED : FACET_GFX12_HOLE), "round %u", round);
        if (cover == FACET_GFX12_HOLE) {
            CHECK(meets_exactly(triangle, &hole));
        }
        yes += expected;
    }
    CHECK(yes > rounds / 20 && yes < rounds - rounds / 20);
}

/* The least hole that binary32 has is a hole, also beside numbers 2^40 times as large. */
TEST(a_gap_of_one_ulp_is_a_hole, "G12-270")
{
    const float triangle[3][3] = {{-1, 0, 0}, {1, 0.25f, 0}, {0.5f, 1, 0.125f}};
    const struct facet_gfx12_extent bounds = {{-1, 0, 0}, {1, 1, 0.125f}};

    for (int exponent = -120; exponent < 0; exponent++) {
        for (int gap = 0; gap < 2; gap++) {
            const float at = ldexpf(1.0f, exponent);
            struct facet_gfx12_extent boxes[2] = {bounds, bounds}, hole;
            size_t budget = 1000;

            boxes[0].hi[0] = at;
            boxes[1].lo[0] = gap != 0 ? nextafterf(at, 1) : at;
            CHECK_EQ(facet_gfx12_covered(triangle, &bounds, boxes, 2, &budget, &hole),
                     gap != 0 ? FACET_GFX12_HOLE : FACET_GFX12_COVERED);
        }
    }
}

TEST(a_spent_budget_is_said, "G12-270")
{
    const float triangle[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const struct facet_gfx12_extent bounds = {{0, 0, 0}, {1, 1, 0}};
    struct facet_gfx12_extent boxes[2] = {bounds, bounds}, hole;
    size_t budget = 2;

    boxes[0].hi[0] = boxes[1].lo[0] = 0.5f;
    CHECK_EQ(facet_gfx12_covered(triangle, &bounds, boxes, 2, &budget, &hole),
             FACET_GFX12_UNDECIDED);
}

/* ---- images ---- */

/* A grid of steps of 1/512 from 0 to 8 on all axes. */
#define STEP (1.0f / 512)

static struct facet_gfx12_child child_of(const struct facet_gfx12_extent *box, unsigned type)
{
    struct facet_gfx12_child child = {
        .cull_mask = 0xFF, .node_type = (uint8_t)type, .node_size = 1};

    for (int k = 0; k < 3; k++) {
        child.min[k] = (uint16_t)floorf(box->lo[k] / STEP);
        child.max[k] = (uint16_t)fmaxf(ceilf(box->hi[k] / STEP) - 1, 0.0f);
    }
    return child;
}

static void box_node(uint8_t *node,
                     uint32_t internal,
                     uint32_t primitive,
                     const struct facet_gfx12_child *child,
                     unsigned count)
{
    struct facet_gfx12_box box = {.internal_child_offset = internal,
                                  .primitive_child_offset = primitive,
                                  .parent = FACET_GFX12_INVALID,
                                  .obb_matrix_index = 0x7F,
                                  .exponent = {130, 130, 130},
                                  .child_count_minus_one = (uint8_t)(count - 1)};

    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&box.child[i]);
        if (i < count) {
            box.child[i] = child[i];
        }
    }
    facet_gfx12_box_encode(&box, node);
}

/* A pair of triangles with whole numbers of 32 bits, as RADV writes it. */
static void pair_node(uint8_t *node, const float (*triangles)[3][3], unsigned count, unsigned first)
{
    struct facet_gfx12_prim p = {0};

    for (int k = 0; k < 3; k++) {
        p.header.vertex_bits_minus_one[k] = 31;
    }
    p.header.geometry_index_base_bits_div_2 = p.header.geometry_index_bits_div_2 = 14;
    p.header.primitive_index_base_bits = p.header.primitive_index_bits = 28;
    p.header.indices_midpoint = 900;
    p.primitive_base = first;
    p.primitive_payload[1] = first + 1;
    p.vertex_count = (uint8_t)(3 * count);
    for (unsigned i = 0; i < 9 * count; i++) {
        p.payload[i / 3][i % 3] = facet_float_bits(triangles[i / 9][i / 3 % 3][i % 3]);
    }
    p.pair[0].prim_range_stop = 1;
    p.pair[0].tri[0] = (struct facet_gfx12_pair_tri){{0, 1, 2}, 1, 0};
    if (count == 2) {
        p.pair[0].tri[1] = (struct facet_gfx12_pair_tri){{3, 4, 5}, 1, 0};
    }
    facet_gfx12_prim_encode(&p, node);
}

static struct facet_gfx12_check check_bytes(const uint8_t *bytes, size_t size, double steps)
{
    struct facet_gfx12_view view = {.bytes = bytes, .size = size, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_check_options options = {.tolerance = {steps == 0 ? 0 : INFINITY, steps}};
    struct facet_gfx12_check check;

    CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
    return check;
}

/* Root, two boxes, and one node that both name: a pair of two triangles far apart, each inside one
 * of the boxes. `lacking` steps are taken from the second box. */
static struct facet_gfx12_check merged_pair(unsigned lacking, double tolerance)
{
    const float triangles[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                                      {{4, 5, 6}, {5, 5, 6}, {4, 6, 7}}};
    const struct facet_gfx12_extent a = {{0, 0, 0}, {1, 1, 0}}, b = {{4, 5, 6}, {5, 6, 7}};
    const struct facet_gfx12_child inner[2] = {child_of(&a, 5), child_of(&b, 5)};
    struct facet_gfx12_child leaf[2] = {child_of(&a, 0), child_of(&b, 0)};
    uint8_t bytes[4 * 128];

    leaf[1].max[2] = (uint16_t)(leaf[1].max[2] - lacking);
    box_node(bytes, 16, 0, inner, 2);
    box_node(bytes + 128, 0, 48, &leaf[0], 1);
    box_node(bytes + 256, 0, 48, &leaf[1], 1);
    pair_node(bytes + 384, triangles, 2, 0);
    return check_bytes(bytes, sizeof bytes, tolerance);
}

static const struct facet_gfx12_finding *find_rule(const struct facet_gfx12_check *check,
                                                   unsigned rule)
{
    for (uint32_t i = 0; i < check->count; i++) {
        if (check->findings[i].rule == rule) {
            return &check->findings[i];
        }
    }
    return NULL;
}

TEST(merged_pairs_are_legal, "G12-270")
{
    struct facet_gfx12_check check = merged_pair(0, 0);

    CHECK_EQ(check.total[FACET_GFX12_ERROR], 0);
    CHECK_EQ(check.by_rule[12], 0);
    facet_gfx12_check_free(&check);
}

/* The finding names the box at fault, the triangle, the axis and the amount. */
TEST(a_hole_of_a_merged_pair_is_named, "G12-270 G12-271")
{
    struct facet_gfx12_check check = merged_pair(1, 0);
    const struct facet_gfx12_finding *f = find_rule(&check, 12);

    CHECK(f != NULL);
    if (f != NULL) {
        CHECK_EQ(f->severity, FACET_GFX12_ERROR);
        CHECK_EQ(f->offset, 256 + 32);
        CHECK_MSG(strstr(f->text, "child 0: z from 6 to 6.998") != NULL, "%s", f->text);
        CHECK_MSG(strstr(f->text, "triangle 1, geometry 0") != NULL, "%s", f->text);
        CHECK_MSG(strstr(f->text, "1 step, 2.05e+03 ulp") != NULL, "%s", f->text);
    }
    CHECK_EQ(check.by_rule[12], 1);
    facet_gfx12_check_free(&check);
}

TEST(what_the_tolerance_allows_is_a_warning, "G12-271")
{
    for (unsigned lacking = 1; lacking < 4; lacking++) {
        for (unsigned tolerance = 1; tolerance < 4; tolerance++) {
            struct facet_gfx12_check check = merged_pair(lacking, tolerance);
            const struct facet_gfx12_finding *f = find_rule(&check, 12);

            CHECK(f != NULL &&
                  f->severity == (lacking <= tolerance ? FACET_GFX12_WARNING : FACET_GFX12_ERROR));
            facet_gfx12_check_free(&check);
        }
    }
}

TEST(tolerances_are_read, "G12-271")
{
    static const struct {
        const char *text;
        double ulps, steps; /* negative: refused */
    } ways[] = {
        {"0", 0, INFINITY},
        {"2", 2, INFINITY},
        {"0.5ulp", 0.5, INFINITY},
        {"3steps", INFINITY, 3},
        {"1step", INFINITY, 1},
        {"1e-3steps", INFINITY, 1e-3},
        {"", -1, 0},
        {"ulp", -1, 0},
        {"-1ulp", -1, 0},
        {" 1", -1, 0},
        {"1 ulp", -1, 0},
        {"nan", -1, 0},
        {"inf", -1, 0},
        {"1stepss", -1, 0},
        {"1e999", -1, 0},
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct facet_gfx12_tolerance t = {-1, -1};
        const bool ok = facet_gfx12_tolerance_parse(ways[i].text, &t);

        CHECK_MSG(ok == (ways[i].ulps >= 0), "%s", ways[i].text);
        CHECK_MSG(!ok || (t.ulps == ways[i].ulps && t.steps == ways[i].steps), "%s", ways[i].text);
    }
}

/* One triangle in two leaves, its box cut at x = 2 (a spatial split), as one node named twice or as
 * two copies. Cutting at another place for the second leaf leaves a gap of `gap` steps. */
TEST(cut_triangles_are_legal_and_gaps_are_not, "G12-270")
{
    const float triangle[1][3][3] = {{{0, 0, 0}, {4, 1, 2}, {1, 4, 3}}};

    for (int copies = 0; copies < 2; copies++) {
        for (int gap = 0; gap < 2; gap++) {
            const struct facet_gfx12_extent a = {{0, 0, 0}, {2, 4, 3}},
                                            b = {{2 + (float)gap * STEP, 0, 0}, {4, 4, 3}};
            const struct facet_gfx12_child inner[2] = {child_of(&a, 5), child_of(&b, 5)};
            const struct facet_gfx12_child leaf[2] = {child_of(&a, 0), child_of(&b, 0)};
            const struct facet_gfx12_finding *f;
            struct facet_gfx12_check check;
            uint8_t bytes[5 * 128];

            box_node(bytes, 16, 0, inner, 2);
            box_node(bytes + 128, 0, 48, &leaf[0], 1);
            box_node(bytes + 256, 0, copies != 0 ? 64 : 48, &leaf[1], 1);
            pair_node(bytes + 384, triangle, 1, 7);
            pair_node(bytes + 512, triangle, 1, 7);
            check = check_bytes(bytes, (copies != 0 ? 5 : 4) * 128, 0);
            f = find_rule(&check, 12);
            CHECK_MSG(check.total[FACET_GFX12_ERROR] == (uint64_t)gap,
                      "copies %d, gap %d: %s",
                      copies,
                      gap,
                      f != NULL ? f->text : "nothing");
            CHECK(f == NULL || strstr(f->text, "triangle 7, geometry 0: 1 step") != NULL);
            facet_gfx12_check_free(&check);
        }
    }
}

/* Copies with other corners are other triangles: each needs boxes of its own. */
TEST(copies_must_agree_to_share_boxes, "G12-270")
{
    const float triangles[2][1][3][3] = {{{{0, 0, 0}, {4, 1, 2}, {1, 4, 3}}},
                                         {{{0, 0, 0}, {4, 1, 2}, {1, 4, 2}}}};
    const struct facet_gfx12_extent a = {{0, 0, 0}, {2, 4, 3}}, b = {{2, 0, 0}, {4, 4, 3}};
    const struct facet_gfx12_child inner[2] = {child_of(&a, 5), child_of(&b, 5)};
    const struct facet_gfx12_child leaf[2] = {child_of(&a, 0), child_of(&b, 0)};
    struct facet_gfx12_check check;
    uint8_t bytes[5 * 128];

    box_node(bytes, 16, 0, inner, 2);
    box_node(bytes + 128, 0, 48, &leaf[0], 1);
    box_node(bytes + 256, 0, 64, &leaf[1], 1);
    pair_node(bytes + 384, triangles[0], 1, 7);
    pair_node(bytes + 512, triangles[1], 1, 7);
    check = check_bytes(bytes, sizeof bytes, 0);
    CHECK_EQ(check.by_rule[12], 2);
    facet_gfx12_check_free(&check);
}

/* The four boxes of an instance whose root has a hole between them. */
TEST(boxes_of_an_instance_leave_no_hole, "G12-270")
{
    const float triangle[1][3][3] = {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};

    for (int hole = 0; hole < 2; hole++) {
        const struct facet_gfx12_extent whole = {{0, 0, 0}, {4, 4, 0}};
        struct facet_gfx12_child placed = child_of(&whole, 6), leaf = child_of(&whole, 0);
        struct facet_gfx12_instance in = {.cull_mask = 0xFF, .child_count_minus_one = 3};
        struct facet_gfx12_check check;
        uint8_t bytes[6 * 128] = {0};

        in.world_to_object[0] = in.world_to_object[5] = in.world_to_object[10] =
            facet_float_bits(1.0f);
        in.pointer = facet_gfx12_base_make(384, FACET_GFX12_SKIP_PROCEDURAL);
        for (unsigned i = 0; i < 4; i++) {
            const struct facet_gfx12_extent part = {{(float)i, 0, 0}, {(float)(i + 1), 4, 0}};

            in.child[i] = child_of(&part, 1);
            in.child[i].node_size = 0;
        }
        in.exponent[0] = in.exponent[1] = in.exponent[2] = 130;
        in.child[2].min[0] = (uint16_t)(in.child[2].min[0] + hole);
        placed.node_size = 1;
        box_node(bytes + 128, 0, 32, &placed, 1);
        facet_gfx12_instance_encode(&in, bytes + 256);
        box_node(bytes + 512, 0, 32, &leaf, 1);
        pair_node(bytes + 640, triangle, 1, 0);
        {
            struct facet_gfx12_view view = {.bytes = bytes, .size = sizeof bytes, .root = 0x15};
            struct facet_gfx12_check_options options = {0};

            CHECK(facet_gfx12_check(&view, &options, &check, NULL) == FACET_OK);
        }
        CHECK_EQ(check.by_rule[25], (uint64_t)hole);
        facet_gfx12_check_free(&check);
    }
}
