/* BVH images of XPHMG_RT: bytes where the contract puts them, boxes that never shrink (elements
 * are decoded here by formulas of their own, margins compared as exact rationals), closest hits of
 * a walk over the image against all triangles, one corruption per rule of the validator. */
#include "base/bits.h"
#include "base/failing_alloc.h"
#include "base/float.h"
#include "documents/bvh_images.h"
#include "harness.h"
#include "meshes.h"
#include "rt_image/build.h"
#include "rt_image/check.h"
#include "rt_image/diff.h"
#include "rt_image/refit.h"
#include "rt_image/round.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>

/* ---- an independent reading of elements ---- */

static double decode_fp(uint32_t code, int exponent_bits, int mantissa_bits, int bias)
{
    double sign = code >> (exponent_bits + mantissa_bits) & 1 ? -1.0 : 1.0;
    int e = (int)(code >> mantissa_bits & ((1u << exponent_bits) - 1));
    double m = (double)(code & ((1u << mantissa_bits) - 1));

    return e == 0 ? sign * ldexp(m, 1 - bias - mantissa_bits)
                  : sign * ldexp(m + ldexp(1.0, mantissa_bits), e - bias - mantissa_bits);
}

static unsigned bits_of(enum facet_format format)
{
    static const uint8_t bits[FACET_FMT_COUNT] = {[FACET_FMT_FP16] = 16,
                                                  [FACET_FMT_FP32] = 32,
                                                  [FACET_FMT_BF16] = 16,
                                                  [FACET_FMT_E4M3] = 8,
                                                  [FACET_FMT_E5M2] = 8,
                                                  [FACET_FMT_INT32] = 32,
                                                  [FACET_FMT_INT16] = 16,
                                                  [FACET_FMT_INT8] = 8,
                                                  [FACET_FMT_INT4] = 4,
                                                  [FACET_FMT_INT2] = 2};

    return bits[format];
}

/* The number of a code; finite codes only. */
static double decode(enum facet_format format, uint32_t code, int scale, int zp)
{
    switch (format) {
    case FACET_FMT_FP32:
        return decode_fp(code, 8, 23, 127);
    case FACET_FMT_FP16:
        return decode_fp(code, 5, 10, 15);
    case FACET_FMT_BF16:
        return decode_fp(code, 8, 7, 127);
    case FACET_FMT_E4M3:
        return decode_fp(code, 4, 3, 7);
    case FACET_FMT_E5M2:
        return decode_fp(code, 5, 2, 15);
    default: {
        uint32_t sign = UINT32_C(1) << (bits_of(format) - 1);
        double q = code & sign ? (double)code - 2.0 * sign : (double)code;

        return ldexp(q - zp, scale);
    }
    }
}

static bool is_finite_code(enum facet_format format, uint32_t code)
{
    switch (format) {
    case FACET_FMT_FP32:
        return (code & 0x7F800000) != 0x7F800000;
    case FACET_FMT_FP16:
        return (code & 0x7C00) != 0x7C00;
    case FACET_FMT_BF16:
        return (code & 0x7F80) != 0x7F80;
    case FACET_FMT_E4M3:
        return (code & 0x7F) != 0x7F;
    case FACET_FMT_E5M2:
        return (code & 0x7C) != 0x7C;
    default:
        return true;
    }
}

/* Element i of an array without facet_container: 4- and 2-bit elements share bytes. */
static uint32_t raw(const uint8_t *array, unsigned bits, uint64_t i)
{
    uint64_t at = i * bits;
    uint32_t value = 0;

    if (bits < 8) {
        return array[at / 8] >> at % 8 & ((1u << bits) - 1);
    }
    for (unsigned k = 0; k < bits / 8; k++) {
        value |= (uint32_t)array[at / 8 + k] << (8 * k);
    }
    return value;
}

/* ---- what is tried ---- */

struct form {
    enum facet_format element;
    bool quantized;
};
static const struct form forms[] = {{FACET_FMT_FP32, false},
                                    {FACET_FMT_FP16, false},
                                    {FACET_FMT_BF16, false},
                                    {FACET_FMT_E4M3, false},
                                    {FACET_FMT_E5M2, false},
                                    {FACET_FMT_INT32, true},
                                    {FACET_FMT_INT16, true},
                                    {FACET_FMT_INT8, true},
                                    {FACET_FMT_INT4, true},
                                    {FACET_FMT_INT8, false},
                                    {FACET_FMT_BF16_LITE, false}};
#define FORMS (sizeof forms / sizeof forms[0])

static struct facet_rtbvh_image
make(const struct mesh *mesh, struct form form, unsigned children, facet_pool *pool)
{
    struct facet_rtbvh_options options = {
        .children = children, .element = (uint8_t)form.element, .quantized = form.quantized};
    struct facet_rtbvh_image image;
    struct facet_rtbvh_report report;
    struct facet_error err = {0};
    enum facet_status status = facet_rtbvh_build(
        mesh->triangles, mesh->count, &options, pool, NULL, &image, &report, &err);

    CHECK_MSG(status == FACET_OK, "%s: %s", facet_format_name(form.element), err.message);
    return image;
}

static uint64_t errors_of(const struct facet_rtbvh_image *image)
{
    struct facet_rtbvh_check check;
    uint64_t errors;

    CHECK(facet_rtbvh_check(image->bytes, image->size, 10, &check, NULL) == FACET_OK);
    errors = check.errors + check.warnings;
    CHECK_MSG(errors == 0, "%s", check.count != 0 ? check.findings[0].text : "");
    facet_rtbvh_check_free(&check);
    return errors;
}

/* ---- layout ---- */

TEST(bytes_lie_where_the_contract_says,
     "RT-086 RT-087 RT-088 RT-089 RT-090 RT-093 RT-094 RT-096 RT-097 RT-100 RT-101 RT-102 RT-103")
{
    struct facet_bvh_triangle triangle = {
        .vertex = {{1, 2, 3}, {5, 2, 3}, {1, 6, -3}}, .geometry = 7, .primitive = 9};
    struct mesh mesh = {&triangle, 1};
    static const struct {
        enum facet_format element;
        unsigned tile, stride;
    } rows[] = {{FACET_FMT_FP32, 128, 36}, {FACET_FMT_FP16, 64, 18}, {FACET_FMT_E4M3, 64, 9}};

    for (int r = 0; r < 3; r++) {
        struct facet_rtbvh_image image =
            make(&mesh, (struct form){rows[r].element, false}, 4, NULL);
        const uint8_t *heap = image.bytes + 128, *tile = heap, *range = heap + rows[r].tile;
        const uint8_t *buffer = heap + 2 * rows[r].tile;
        unsigned bits = bits_of(rows[r].element);
        static const double lo[3] = {1, 2, -3}, hi[3] = {5, 6, 3};

        CHECK_EQ(facet_load_le64(image.bytes + 40), 128);
        CHECK_EQ(facet_load_le64(image.bytes + 48), 2 * rows[r].tile);
        CHECK_EQ(facet_load_le32(tile + rows[r].tile - 4), 2); /* child 0: leaf, others empty */
        CHECK_EQ(facet_load_le32(tile + rows[r].tile - 16), rows[r].tile / 16);
        CHECK_EQ(facet_load_le32(range), 0);
        CHECK_EQ(facet_load_le32(range + 4), 1);
        CHECK_EQ(facet_load_le64(range + 8), 0);
        for (unsigned a = 0; a < 3; a++) {
            double min = decode(rows[r].element, raw(tile, bits, a), 0, 0);
            double max = decode(rows[r].element, raw(tile, bits, 3 + a), 0, 0);

            CHECK(min < lo[a] && min > lo[a] - 0.51 && max > hi[a] && max < hi[a] + 0.51);
        }
        for (unsigned k = 0; k < 9; k++) {
            CHECK(decode(rows[r].element, raw(buffer, bits, k), 0, 0) ==
                  (double)triangle.vertex[k / 3][k % 3]);
        }
        CHECK_EQ(facet_load_le64(image.bytes + 64), rows[r].stride);
        CHECK_EQ(facet_load_le32(image.bytes + facet_load_le64(image.bytes + 72)), 7);
        CHECK_EQ(facet_load_le32(image.bytes + facet_load_le64(image.bytes + 72) + 4), 9);
        CHECK_EQ(errors_of(&image), 0);
        free(image.bytes);
    }
}

/* ---- conservative boxes ---- */

/* edge + pad <= x (or edge - pad >= x with `up`) without any rounding. */
static bool margin(double edge, double pad, double x, bool up)
{
    mpq_t a, b, c;
    bool ok;

    mpq_inits(a, b, c, NULL);
    mpq_set_d(a, edge);
    mpq_set_d(b, pad);
    mpq_set_d(c, x);
    if (up) {
        mpq_sub(a, a, b);
        ok = mpq_cmp(a, c) >= 0;
    } else {
        mpq_add(a, a, b);
        ok = mpq_cmp(a, c) <= 0;
    }
    mpq_clears(a, b, c, NULL);
    return ok;
}

struct reading {
    const uint8_t *bytes, *heap, *triangles, *origins;
    enum facet_format element;
    unsigned bits, children;
    uint64_t tile_bytes;
    int scale, zp;
    double pad;
    const struct mesh *mesh;
    uint8_t *seen; /* triangles of the mesh */
};

static double number(const struct reading *r, const uint8_t *array, uint64_t i)
{
    uint32_t code = raw(array, r->bits, i);

    CHECK(is_finite_code(r->element, code));
    return decode(r->element, code, r->scale, r->zp);
}

static void read_leaf(struct reading *r, uint32_t index, double (*boxes)[6], unsigned depth)
{
    const uint8_t *range = r->heap + 16 * (uint64_t)index;
    uint32_t first = facet_load_le32(range), count = facet_load_le32(range + 4);

    for (uint32_t k = first; k < first + count; k++) {
        uint32_t id = facet_load_le32(r->origins + 8 * (uint64_t)k + 4);

        CHECK(id < r->mesh->count && !r->seen[id]);
        r->seen[id] = 1;
        for (unsigned i = 0; i < 9; i++) {
            double x = number(r, r->triangles, 9 * (uint64_t)k + i);
            double was = (double)r->mesh->triangles[id].vertex[i / 3][i % 3];
            uint32_t code = raw(r->triangles, r->bits, 9 * (uint64_t)k + i);

            for (int d = -1; d <= 1; d += 2) { /* no neighbour is nearer to the scene's number */
                uint32_t next = (code + (uint32_t)d) & (uint32_t)((UINT64_C(1) << r->bits) - 1);

                if (is_finite_code(r->element, next)) {
                    CHECK(fabs(decode(r->element, next, r->scale, r->zp) - was) >= fabs(x - was));
                }
            }
            for (unsigned level = 0; level < depth; level++) {
                CHECK(margin(boxes[level][i % 3], r->pad, x, false));
                CHECK(margin(boxes[level][3 + i % 3], r->pad, x, true));
            }
        }
    }
}

static void read_node(struct reading *r, uint32_t index, double (*boxes)[6], unsigned depth)
{
    for (unsigned c = 0; c < r->children && depth < 63 && !harness_failed(); c++) {
        const uint8_t *tile = r->heap + (index + c / 4) * r->tile_bytes;
        uint32_t flags = facet_load_le32(tile + r->tile_bytes - 4);
        unsigned type = flags >> (2 * (c % 4)) & 3;
        uint32_t child =
            c % 4 == 3 ? flags >> 8 : facet_load_le32(tile + r->tile_bytes - 16 + 4 * (c % 4));

        for (unsigned f = 0; f < 6 && type != 0; f++) {
            boxes[depth][f] = number(r, tile, 6 * (c % 4) + f);
        }
        if (type == 1) {
            read_node(r, child, boxes, depth + 1);
        } else if (type == 2) {
            read_leaf(r, child, boxes, depth + 1);
        }
    }
}

/* The boxes of an image, and the numbers of a mesh in it. */
static void check_image(const struct facet_rtbvh_image *image,
                        const struct mesh *mesh,
                        struct form form,
                        unsigned children)
{
    const uint8_t *b = image->bytes;
    bool alt = (facet_load_le64(b + 32) >> 30 & 1) != 0;
    uint64_t params = facet_load_le64(b + (alt ? 32 : 24));
    struct reading r = {.bytes = b,
                        .heap = b + facet_load_le64(b + 40),
                        .triangles = b + facet_load_le64(b + 56),
                        .origins = b + facet_load_le64(b + 72),
                        .element = form.element,
                        .bits = bits_of(form.element),
                        .children = children,
                        .tile_bytes = bits_of(form.element) == 32 ? 128 : 64,
                        .mesh = mesh,
                        .seen = calloc(mesh->count, 1)};
    double boxes[64][6];
    uint32_t lost = 0;
    float pad;

    if (form.quantized) {
        r.scale = (int8_t)(params >> 40);
        r.zp = (int8_t)(params >> (alt ? 14 : 6));
    }
    memcpy(&pad, b + 104, 4);
    r.pad = (double)pad;
    read_node(&r, 0, boxes, 0);
    for (uint32_t i = 0; i < mesh->count && !harness_failed(); i++) {
        lost += !r.seen[i];
    }
    CHECK_EQ(lost + facet_load_le32(b + 100), mesh->count);
    CHECK(form.element != FACET_FMT_FP32 || lost == 0);
    CHECK_EQ(errors_of(image), 0);
    free(r.seen);
}

static void check_conservative(const struct mesh *mesh, struct form form, unsigned children)
{
    struct facet_rtbvh_image image = make(mesh, form, children, NULL);

    check_image(&image, mesh, form, children);
    free(image.bytes);
}

TEST(boxes_never_shrink_in_any_format, "RT-091 RT-092 RT-095 RT-099 RT-106 RT-107 RT-108")
{
    struct mesh meshes[3] = {mesh_planet(12, 12), mesh_terrain(10), mesh_soup(300, 5)};

    for (int m = 0; m < 3; m++) {
        for (size_t f = 0; f < FORMS; f++) {
            if (forms[f].element != FACET_FMT_BF16_LITE) {
                check_conservative(&meshes[m], forms[f], 4);
                check_conservative(&meshes[m], forms[f], 8);
            }
        }
        mesh_free(&meshes[m]);
    }
}

TEST(outward_rounding_gives_the_nearest_outer_code, "")
{
    static const float values[] = {0.0f,
                                   1e-30f,
                                   -1e-30f,
                                   1.0f,
                                   -1.0f,
                                   0.3f,
                                   -0.3f,
                                   17.3f,
                                   -17.3f,
                                   100.9f,
                                   -100.9f,
                                   2e-5f,
                                   -2e-5f};

    for (size_t f = 1; f < FORMS; f++) {
        struct facet_conv conv = {.elem = (uint8_t)forms[f].element,
                                  .acc = FACET_FMT_FP32,
                                  .scale = forms[f].quantized && forms[f].element <= FACET_FMT_INT8,
                                  .zp = 0};
        unsigned bits = bits_of(forms[f].element);

        if (bits > 16 || bits < 8) {
            continue; /* too many codes, or too few for the values */
        }
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            double below = -INFINITY, above = INFINITY, x = (double)values[v];

            for (uint32_t code = 0; code < UINT32_C(1) << bits; code++) {
                double y = decode(forms[f].element, code, conv.scale, 0);

                if (is_finite_code(forms[f].element, code)) {
                    below = y <= x && y > below ? y : below;
                    above = y >= x && y < above ? y : above;
                }
            }
            CHECK(decode(forms[f].element,
                         facet_rtbvh_outward(&conv, values[v], false),
                         conv.scale,
                         0) == below);
            CHECK(decode(forms[f].element,
                         facet_rtbvh_outward(&conv, values[v], true),
                         conv.scale,
                         0) == above);
        }
    }
}

TEST(bf16_lite_rounds_tiny_numbers_away_from_zero, "")
{
    struct facet_conv conv = {.elem = FACET_FMT_BF16_LITE, .acc = FACET_FMT_FP32};
    unsigned flags = 0;
    uint32_t down = facet_rtbvh_outward(&conv, -1e-30f, false);
    uint32_t up = facet_rtbvh_outward(&conv, 1e-30f, true);

    CHECK_EQ(facet_widen(&conv, down, &flags), 0xA0800000); /* -2^-62, its smallest number */
    CHECK_EQ(facet_widen(&conv, up, &flags), 0x20800000);
    CHECK_EQ(facet_widen(&conv, facet_rtbvh_outward(&conv, 1e-30f, false), &flags), 0);
}

/* ---- closest hits ---- */

struct hit {
    bool any;
    uint32_t t, triangle;
};

static void test_triangle(const struct facet_rtbvh_view *view,
                          struct facet_rt_ray *ray,
                          uint32_t k,
                          struct hit *best)
{
    struct facet_rt_options options = {0};
    struct facet_rt_triangle triangle;
    struct facet_rt_facet met;
    float v[3][3];
    unsigned flags = 0;

    if (facet_rtbvh_triangle(view, k, v)) {
        return;
    }
    for (int i = 0; i < 9; i++) {
        triangle.v[i / 3][i % 3] = facet_float_bits(v[i / 3][i % 3]);
    }
    met = facet_rt_test_triangle(&view->numbers, ray, &triangle, &options, &flags);
    if (met.outcome == FACET_RT_HIT &&
        (!best->any || facet_float_of(met.t) < facet_float_of(best->t) ||
         (facet_float_of(met.t) == facet_float_of(best->t) && k < best->triangle))) {
        *best = (struct hit){true, met.t, k};
        ray->tmax = met.t;
    }
}

/* trace() of rt-semantics.md 11.4; the order of equal children cannot change the result. */
static struct hit
trace(const struct facet_rtbvh_view *view, struct facet_rt_ray ray, uint64_t *visited)
{
    struct {
        bool leaf;
        uint32_t index;
    } stack[FACET_RTBVH_STACK];
    unsigned depth = 1;
    struct hit best = {0};

    stack[0].leaf = false;
    stack[0].index = 0;
    while (depth > 0) {
        uint32_t index = stack[--depth].index;

        if (stack[depth].leaf) {
            struct facet_rt_range range = facet_rtbvh_range(view, 16 * (uint64_t)index);

            for (uint32_t k = range.first; k < range.first + range.count; k++) {
                test_triangle(view, &ray, k, &best);
                ++*visited;
            }
            continue;
        }
        for (unsigned c = 0; c < view->header.children; c++) {
            struct facet_rtbvh_child child = facet_rtbvh_child(view, index * view->tile_bytes, c);
            struct facet_rt_box box;
            unsigned flags = 0;

            if (child.type == FACET_RT_EMPTY ||
                facet_rt_box_widen(&view->numbers, child.elements, &box, &flags)) {
                continue;
            }
            if (facet_rt_test_box(&view->numbers, &ray, &box, &flags).outcome == FACET_RT_HIT &&
                CHECK(depth < FACET_RTBVH_STACK)) {
                stack[depth].leaf = child.type == FACET_RT_LEAF;
                stack[depth++].index = child.index;
            }
        }
    }
    return best;
}

static double uniform(void)
{
    return ldexp((double)(harness_random() >> 11), -53);
}

/* A ray whose numbers are elements of the image, from around the scene to a point on a triangle:
 * corners and edges often, where boxes are thin. */
static struct facet_rt_ray random_ray(const struct facet_rtbvh_view *view, double size)
{
    uint32_t k = (uint32_t)(harness_random() % view->header.triangle_count);
    double u = uniform(), v = uniform() * (1 - u), o[3], d[3];
    uint32_t elements[FACET_RT_RAY_ELEMENTS];
    struct facet_rt_ray ray;
    unsigned flags = 0, kind = (unsigned)(harness_random() % 3);
    float corner[3][3];

    (void)facet_rtbvh_triangle(view, k, corner);
    u = kind == 0 ? 0 : u;
    v = kind <= 1 ? 0 : v;
    for (int a = 0; a < 3; a++) {
        double target = (1 - u - v) * (double)corner[0][a] + u * (double)corner[1][a] +
                        v * (double)corner[2][a];

        o[a] = size * (uniform() - 0.5);
        elements[a] =
            facet_narrow(&view->numbers.channel[a], facet_float_bits((float)o[a]), &flags);
        o[a] = (double)facet_float_of(facet_widen(&view->numbers.channel[a], elements[a], &flags));
        d[a] = harness_random() % 8 == 0 ? 0.0 : (target - o[a]) / 2;
        elements[3 + a] =
            facet_narrow(&view->numbers.channel[a], facet_float_bits((float)d[a]), &flags);
    }
    elements[6] = facet_narrow(&view->numbers.channel[3], 0, &flags);
    elements[7] = elements[6];
    CHECK(!facet_rt_ray_widen(&view->numbers, elements, &ray, &flags));
    ray.tmax = 0x7F800000; /* what a job keeps in FP32 anyway */
    return ray;
}

TEST(a_walk_over_the_image_finds_the_closest_hits, "RT-095 RT-096 RT-099 RT-100 RT-108")
{
    struct mesh meshes[2] = {mesh_planet(12, 12), mesh_soup(300, 11)};

    for (size_t i = 0; i < 4 * FORMS; i++) {
        const struct mesh *mesh = &meshes[i % 2];
        struct facet_rtbvh_image image = make(mesh, forms[i / 4], i / 2 % 2 != 0 ? 8 : 4, NULL);
        struct facet_rtbvh_view view;
        uint64_t hits = 0, visited = 0;

        CHECK(facet_rtbvh_open(image.bytes, image.size, &view, NULL) == FACET_OK);
        for (int n = 0; n < 60 && view.header.triangle_count != 0; n++) {
            struct facet_rt_ray ray = random_ray(&view, 8.0), all = ray;
            struct hit expected = {0}, got = trace(&view, ray, &visited);

            for (uint32_t k = 0; k < view.header.triangle_count; k++) {
                test_triangle(&view, &all, k, &expected);
            }
            hits += expected.any;
            CHECK_MSG(got.any == expected.any && got.t == expected.t &&
                          got.triangle == expected.triangle,
                      "form %zu ray %d: triangle %u, expected %u",
                      i,
                      n,
                      got.triangle,
                      expected.triangle);
        }
        if (i < 4) { /* FP32: rays do meet the scene, and most of it is never looked at */
            CHECK_MSG(hits > 10 && visited < 60 * (uint64_t)view.header.triangle_count / 2,
                      "%llu hits, %llu of %llu tests",
                      (unsigned long long)hits,
                      (unsigned long long)visited,
                      60ULL * view.header.triangle_count);
        }
        free(image.bytes);
    }
    mesh_free(&meshes[0]);
    mesh_free(&meshes[1]);
}

/* ---- the validator ---- */

static bool finds(const uint8_t *bytes, uint64_t size, enum facet_rtbvh_rule rule, uint64_t offset)
{
    struct facet_rtbvh_check check;
    bool found = false;

    CHECK(facet_rtbvh_check(bytes, size, 1000, &check, NULL) == FACET_OK);
    for (uint32_t i = 0; i < check.count; i++) {
        found |= check.findings[i].rule == rule && check.findings[i].offset == offset;
    }
    if (!found) {
        CHECK_MSG(false,
                  "%s not found at 0x%llx; first: %s",
                  facet_rtbvh_rules[rule].id,
                  (unsigned long long)offset,
                  check.count != 0 ? check.findings[0].text : "nothing");
    }
    facet_rtbvh_check_free(&check);
    return found;
}

TEST(every_rule_finds_its_corruption, "RT-086 RT-091 RT-097 RT-099 RT-100 RT-102 RT-103")
{
    struct mesh mesh = mesh_planet(8, 8);
    struct facet_rtbvh_image image = make(&mesh, (struct form){FACET_FMT_FP32, false}, 4, NULL);
    uint8_t *b = image.bytes, *saved = malloc((size_t)image.size);
    uint64_t heap = 128, word = heap + 112, range = heap + 128, node, leaf = 0;
    uint64_t triangles = facet_load_le64(b + 56);
    uint32_t count = facet_load_le32(b + 100), leaf_range;
    uint64_t first = facet_load_le32(b + range); /* triangle of the first TriRange */

    CHECK_EQ(facet_load_le32(b + word + 12) & 0xFF, 0x55); /* the root has four inner children */
    node = heap + 128 * (uint64_t)facet_load_le32(b + word);
    for (uint64_t at = node; leaf == 0 && at < triangles; at += 128) { /* two leaves first */
        leaf = (b[at + 124] & 15) == 10 ? at + 112 : 0;
    }
    CHECK(leaf != 0);
    leaf_range = facet_load_le32(b + leaf);
    CHECK_EQ(errors_of(&image), 0);
    memcpy(saved, b, (size_t)image.size);
#define DAMAGE(store, rule, offset)                                                                \
    do {                                                                                           \
        store;                                                                                     \
        finds(b, image.size, rule, offset);                                                        \
        memcpy(b, saved, (size_t)image.size);                                                      \
    } while (0)
    DAMAGE(b[0] = 'Y', FACET_RTBVH_BAD_HEADER, 0);
    DAMAGE(b[8] = 2, FACET_RTBVH_BAD_HEADER, 8);
    DAMAGE(b[16] = 6, FACET_RTBVH_BAD_HEADER, 16);
    DAMAGE(b[20] = 1, FACET_RTBVH_BAD_HEADER, 20);
    DAMAGE(b[120] = 1, FACET_RTBVH_BAD_HEADER, 120);
    DAMAGE(b[107] = 0xFF, FACET_RTBVH_BAD_HEADER, 104);
    DAMAGE(b[26] = 0xF0, FACET_RTBVH_BAD_NUMBERS, 24); /* PET 7 is reserved */
    DAMAGE(b[31] = 0x80, FACET_RTBVH_BAD_NUMBERS, 24);
    DAMAGE(b[35] = 0x40, FACET_RTBVH_BAD_NUMBERS, 24); /* ALT_EN with format 0 */
    DAMAGE(b[40] = 0x81, FACET_RTBVH_BAD_SECTION, 40);
    DAMAGE(b[55] = 1, FACET_RTBVH_BAD_SECTION, 48);
    DAMAGE(facet_store_le64(b + 56, 64), FACET_RTBVH_BAD_SECTION, 56);
    DAMAGE(b[100] ^= 1, FACET_RTBVH_BAD_SECTION, 64);
    DAMAGE(b[88] = 1, FACET_RTBVH_BAD_ROOT, 88);
    DAMAGE(facet_store_le64(b + 48, 64), FACET_RTBVH_BAD_ROOT, 88);
    DAMAGE(b[word + 12] |= 3, FACET_RTBVH_CHILD_TYPE, word + 12);
    DAMAGE(facet_store_le32(b + word + 4, 0x01000000), FACET_RTBVH_NODE_OUTSIDE, word + 4);
    DAMAGE(b[word + 15] = 0xFF, FACET_RTBVH_NODE_OUTSIDE, word + 12);
    DAMAGE((b[word + 12] = 0x56, facet_store_le32(b + word, 0x7FFFFFFF)),
           FACET_RTBVH_LEAF_OUTSIDE,
           word);
    DAMAGE(facet_store_le32(b + word + 8, 0), FACET_RTBVH_CYCLE, word + 8);
    DAMAGE(memcpy(b + word + 4, b + word, 4), FACET_RTBVH_NODE_TWICE, word + 4);
    DAMAGE(facet_store_le32(b + word + 8, 1), FACET_RTBVH_NODE_TWICE, word + 8); /* TriRanges */
    DAMAGE((facet_store_le32(b + leaf, leaf_range), facet_store_le32(b + leaf + 4, leaf_range)),
           FACET_RTBVH_LEAF_TWICE,
           leaf + 4);
    DAMAGE(facet_store_le32(b + heap, 0x7FC00000), FACET_RTBVH_BOX_NAN, heap);
    DAMAGE(facet_store_le32(b + heap + 4, 0x7F000000), FACET_RTBVH_BOX_INVERTED, heap + 4);
    DAMAGE(facet_store_le32(b + node + 12, 0x7F000000), FACET_RTBVH_BOX_CHILD, node + 12);
    DAMAGE(facet_store_le32(b + triangles, 0x7F000000), FACET_RTBVH_BOX_TRIANGLE, triangles);
    DAMAGE(facet_store_le32(b + range, 0xFFFFFFFF), FACET_RTBVH_RANGE, range);
    DAMAGE(facet_store_le32(b + range + 4, 0xFFFFFFFF), FACET_RTBVH_RANGE, range);
    DAMAGE(facet_store_le32(b + range + 4, 0), FACET_RTBVH_RANGE, range);
    DAMAGE(facet_store_le32(b + range, count), FACET_RTBVH_RANGE, range);
    DAMAGE(b[range + 8] = 1, FACET_RTBVH_RANGE_BASE, range + 8);
    DAMAGE(facet_store_le32(b + triangles + 4, 0xFF800000), FACET_RTBVH_TRIANGLE_NUMBER, triangles);
    DAMAGE(memcpy(b + range + 16, b + range, 4), FACET_RTBVH_TRIANGLE_TWICE, range + 16);
    DAMAGE(b[92]++, FACET_RTBVH_COUNTS, 92);
    DAMAGE(b[96]++, FACET_RTBVH_COUNTS, 92);
    DAMAGE(b[heap + 100] = 1, FACET_RTBVH_PADDING, heap + 100);
    DAMAGE(b[word + 12] &= 0xFC, FACET_RTBVH_PADDING, heap);
    DAMAGE(facet_store_le32(b + range, (uint32_t)first + 1),
           FACET_RTBVH_UNUSED,
           triangles + 36 * first);
#undef DAMAGE
    free(saved);
    free(image.bytes);
    mesh_free(&mesh);
}

/* A chain: every node has one leaf and one node below, so that a ray needs ever more entries. */
TEST(a_tree_too_deep_for_the_stack_is_found, "RT-128")
{
    enum { NODES = 300, TILE = 64 };
    struct facet_bvh_triangle triangle = {.vertex = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    struct mesh mesh = {&triangle, 1};
    struct facet_rtbvh_image one = make(&mesh, (struct form){FACET_FMT_FP16, false}, 4, NULL);
    uint64_t heap_size = NODES * TILE + NODES * 16, size;
    struct facet_rtbvh_view view;
    uint8_t *b;

    CHECK(facet_rtbvh_open(one.bytes, one.size, &view, NULL) == FACET_OK);
    view.header.heap.size = heap_size;
    view.header.triangles.offset = facet_align_up(128 + heap_size, 64);
    view.header.triangles.size = 18 * NODES;
    view.header.origins.offset = facet_align_up(view.header.triangles.offset + 18 * NODES, 64);
    view.header.origins.size = 8 * NODES;
    view.header.nodes = view.header.leaves = view.header.triangle_count = NODES;
    size = view.header.origins.offset + 8 * NODES;
    b = calloc(1, (size_t)size);
    facet_rtbvh_header_write(&view.header, b);
    for (uint32_t i = 0; i < NODES; i++) {
        uint8_t *tile = b + 128 + TILE * (uint64_t)i, *range = b + 128 + NODES * TILE + 16 * i;

        memcpy(tile, one.bytes + 128, 12);
        facet_store_le32(tile + 48, NODES * TILE / 16 + i);
        facet_store_le32(tile + 60, 2);
        if (i + 1 < NODES) {
            memcpy(tile + 12, one.bytes + 128, 12);
            facet_store_le32(tile + 52, i + 1);
            facet_store_le32(tile + 60, 2 | 1 << 2);
        }
        facet_store_le32(range, i);
        facet_store_le32(range + 4, 1);
        memcpy(b + view.header.triangles.offset + 18 * i,
               one.bytes + facet_load_le64(one.bytes + 56),
               18);
    }
    finds(b, size, FACET_RTBVH_STACK_NEED, 128);
    free(b);
    free(one.bytes);
}

/* Any single byte may change: the walk must end and never leave the image (the sanitizers look). */
TEST(any_damage_is_survived, "")
{
    struct mesh mesh = mesh_planet(6, 6);

    for (size_t f = 0; f < FORMS; f++) {
        struct facet_rtbvh_image image = make(&mesh, forms[f], f % 2 != 0 ? 8 : 4, NULL);

        for (int n = 0; n < 200; n++) {
            uint64_t at = harness_random() % image.size;
            uint8_t old = image.bytes[at];
            struct facet_rtbvh_check check;

            image.bytes[at] = (uint8_t)harness_random();
            CHECK(facet_rtbvh_check(image.bytes, image.size, 5, &check, NULL) == FACET_OK);
            facet_rtbvh_check_free(&check);
            image.bytes[at] = old;
        }
        for (uint64_t size = 0; size < image.size; size += 37) {
            struct facet_rtbvh_check check;
            uint8_t *part = malloc((size_t)size + 1);

            memcpy(part, image.bytes, (size_t)size);
            CHECK(facet_rtbvh_check(part, size, 5, &check, NULL) == FACET_OK);
            CHECK(check.errors != 0);
            facet_rtbvh_check_free(&check);
            free(part);
        }
        free(image.bytes);
    }
    mesh_free(&mesh);
}

/* ---- the builder's other promises ---- */

TEST(threads_do_not_show, "")
{
    static const unsigned threads[] = {2, 3, 5, 16};
    struct mesh mesh = mesh_planet(80, 80);

    for (size_t f = 0; f < FORMS; f += 4) { /* FP32, E5M2, INT4 */
        struct facet_rtbvh_image one = make(&mesh, forms[f], 8, NULL);

        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            struct facet_rtbvh_image many;
            facet_pool *pool;

            CHECK(facet_pool_create(threads[t], &pool, NULL) == FACET_OK);
            many = make(&mesh, forms[f], 8, pool);
            CHECK(one.size == many.size && memcmp(one.bytes, many.bytes, (size_t)one.size) == 0);
            facet_pool_destroy(pool);
            free(many.bytes);
        }
        free(one.bytes);
    }
    mesh_free(&mesh);
}

/* The cube from 0 to 1: boxes reach one step further on both sides, so of n bits -1 .. 2^k + 1
 * steps fit for k = n - 1 and not for k = n; the zero point brings their middle to the middle. */
TEST(quantization_takes_the_smallest_scale, "RT-092")
{
    static const struct {
        enum facet_format element;
        int scale, zp;
    } rows[] = {{FACET_FMT_INT8, -7, -65}, {FACET_FMT_INT4, -3, -5}, {FACET_FMT_INT2, 0, -1}};
    struct facet_bvh_triangle cube[12];
    struct mesh mesh = {cube, 12};

    mesh_cube(cube);
    for (int i = 0; i < 3; i++) {
        struct facet_rtbvh_image image = make(&mesh, (struct form){rows[i].element, true}, 4, NULL);
        struct facet_rtbvh_view view;

        CHECK(facet_rtbvh_open(image.bytes, image.size, &view, NULL) == FACET_OK);
        CHECK_EQ(view.numbers.channel[0].scale, rows[i].scale);
        CHECK_EQ(view.numbers.channel[3].zp, rows[i].zp);
        CHECK_EQ(errors_of(&image), 0);
        free(image.bytes);
    }
}

static enum facet_status refuse(const struct facet_bvh_triangle *triangle, struct form form)
{
    struct facet_rtbvh_options options = {
        .children = 4, .element = (uint8_t)form.element, .quantized = form.quantized};
    struct facet_rtbvh_image image;
    struct facet_rtbvh_report report;
    struct facet_error err = {0};
    enum facet_status status =
        facet_rtbvh_build(triangle, 1, &options, NULL, NULL, &image, &report, &err);

    CHECK(status == FACET_OK || (err.message[0] != 0 && image.bytes == NULL));
    free(image.bytes);
    return status;
}

TEST(numbers_that_do_not_fit_are_refused, "")
{
    struct facet_bvh_triangle t = {.vertex = {{0, 0, 0}, {70000, 0, 0}, {0, 1, 0}}};

    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP16, false}), FACET_ERR_LIMIT);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_E4M3, false}), FACET_ERR_LIMIT);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_INT8, false}), FACET_ERR_LIMIT);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_INT8, true}), FACET_OK);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_BF16, false}), FACET_OK);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP16, true}), FACET_ERR_INPUT);
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP64, false}), FACET_ERR_INPUT);
    t.vertex[1][0] = 65504; /* the corner fits, its grown box does not */
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP16, false}), FACET_ERR_LIMIT);
    t.vertex[1][0] = NAN;
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP32, false}), FACET_ERR_INPUT);
    t.vertex[1][0] = INFINITY;
    CHECK_EQ(refuse(&t, (struct form){FACET_FMT_FP32, false}), FACET_ERR_INPUT);
}

TEST(nothing_to_hit_is_an_empty_root, "RT-097")
{
    struct facet_bvh_triangle t = {.vertex = {{1, 1, 1}, {1, 1, 1}, {0, 1, 0}}};
    struct mesh meshes[2] = {{&t, 0}, {&t, 1}}; /* none, and one with two equal corners */

    for (int i = 0; i < 2; i++) {
        struct facet_rtbvh_image image = make(&meshes[i], forms[0], 4, NULL);

        CHECK_EQ(facet_load_le32(image.bytes + 100), 0);
        CHECK_EQ(facet_load_le32(image.bytes + 128 + 124), 0);
        CHECK_EQ(errors_of(&image), 0);
        free(image.bytes);
    }
}

TEST(memory_may_run_out_anywhere, "")
{
    struct mesh mesh = mesh_planet(6, 6);
    struct facet_rtbvh_options options = {.children = 4, .element = FACET_FMT_FP16};
    struct facet_rtbvh_report report;
    bool built = false, checked = false;

    for (long good = 0; good < 200 && !(built && checked); good++) {
        struct facet_rtbvh_image image;
        struct facet_rtbvh_check check;
        enum facet_status status;

        failing_alloc_after(built ? -1 : good);
        status = facet_rtbvh_build(
            mesh.triangles, mesh.count, &options, NULL, NULL, &image, &report, NULL);
        failing_alloc_after(-1);
        CHECK(status == FACET_OK || (status == FACET_ERR_MEMORY && image.bytes == NULL));
        if (status == FACET_OK) {
            good = built ? good : 0;
            built = true;
            failing_alloc_after(good);
            status = facet_rtbvh_check(image.bytes, image.size, 5, &check, NULL);
            failing_alloc_after(-1);
            CHECK(status == FACET_OK || status == FACET_ERR_MEMORY);
            checked = status == FACET_OK;
            facet_rtbvh_check_free(&check);
        }
        free(image.bytes);
    }
    CHECK(built && checked);
    mesh_free(&mesh);
}

/* ---- moved geometry ---- */

static enum facet_status refit(const struct facet_rtbvh_image *image,
                               const struct mesh *mesh,
                               double reach,
                               struct facet_rtbvh_image *out,
                               struct facet_error *err)
{
    struct facet_rtbvh_check check;
    enum facet_status status;

    CHECK_EQ(facet_rtbvh_check(image->bytes, image->size, 1, &check, NULL), FACET_OK);
    status = facet_rtbvh_refit(&check, mesh->triangles, mesh->count, reach, out, err);
    facet_rtbvh_check_free(&check);
    CHECK_EQ(status == FACET_OK, out->bytes != NULL);
    return status;
}

/* Turned a little inside the bounds that it has, then all of it larger. */
static struct mesh moved(const struct mesh *mesh, float size)
{
    struct mesh out = {malloc(mesh->count * sizeof *mesh->triangles), mesh->count};
    float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};

    for (uint32_t i = 0; i < 9 * mesh->count; i++) {
        const float x = mesh->triangles[i / 9].vertex[i % 9 / 3][i % 3];

        lo[i % 3] = fminf(lo[i % 3], x);
        hi[i % 3] = fmaxf(hi[i % 3], x);
    }
    memcpy(out.triangles, mesh->triangles, mesh->count * sizeof *mesh->triangles);
    for (uint32_t i = 0; i < 9 * mesh->count; i++) {
        const float *const was = mesh->triangles[i / 9].vertex[i % 9 / 3];
        const unsigned a = i % 3, b = (a + 1) % 3;
        const float x = (was[a] - lo[a]) / (hi[a] - lo[a]), y = (was[b] - lo[b]) / (hi[b] - lo[b]);

        out.triangles[i / 9].vertex[i % 9 / 3][a] =
            size * (lo[a] + (hi[a] - lo[a]) * (0.05f + 0.7f * x + 0.2f * y));
    }
    return out;
}

static float growth_of(const struct facet_rtbvh_image *image)
{
    float growth;

    memcpy(&growth, image->bytes + 104, sizeof growth);
    return growth;
}

/* Returns how often it worked. */
static unsigned compare_refit(const struct mesh *mesh, struct form form, unsigned children)
{
    unsigned good = 0;
    struct facet_rtbvh_image image = make(mesh, form, children, NULL), again;
    struct facet_error err = {0};

    CHECK_EQ(refit(&image, mesh, 0.0, &again, &err), FACET_OK);
    CHECK(again.size == image.size && memcmp(again.bytes, image.bytes, image.size) == 0);
    free(again.bytes);
    for (unsigned larger = 0; larger < 2; larger++) {
        struct mesh other = moved(mesh, larger != 0 ? 3.0f : 1.0f);
        const enum facet_status status = refit(&image, &other, 0.0, &again, &err);

        if (status == FACET_OK) {
            check_image(&again, &other, form, children);
            CHECK(growth_of(&again) >= growth_of(&image));
            CHECK(larger == 0 || growth_of(&again) > 2 * growth_of(&image));
            good++;
        } else { /* numbers of another range, or a triangle was nothing before */
            const bool lost = strstr(err.message, "is not in the image") != NULL;

            CHECK_EQ(status, FACET_ERR_LIMIT);
            CHECK_MSG(lost ? facet_load_le32(image.bytes + 100) < mesh->count
                           : larger != 0 && (form.quantized || bits_of(form.element) == 8),
                      "%s: %s",
                      facet_format_name(form.element),
                      err.message);
        }
        free(again.bytes);
        mesh_free(&other);
    }
    free(image.bytes);
    return good;
}

TEST(refitted_images_hold_what_has_moved, "RT-095 RT-106 RT-107")
{
    struct mesh meshes[3] = {mesh_planet(12, 12), mesh_terrain(10), mesh_soup(300, 5)};
    unsigned good[FORMS] = {0};

    for (int m = 0; m < 3; m++) {
        for (uint32_t i = 0; i < meshes[m].count; i++) { /* one instance, in order */
            meshes[m].triangles[i].geometry = 0;
            meshes[m].triangles[i].primitive = i;
        }
        for (size_t f = 0; f < FORMS; f++) {
            if (forms[f].element != FACET_FMT_BF16_LITE) {
                good[f] += compare_refit(&meshes[m], forms[f], 4);
                good[f] += compare_refit(&meshes[m], forms[f], 8);
            }
        }
        mesh_free(&meshes[m]);
    }
    for (size_t f = 0; f < FORMS; f++) {
        CHECK_MSG(good[f] >= (forms[f].element == FACET_FMT_FP32 ? 12
                              : bits_of(forms[f].element) >= 16  ? 2
                                                                 : 0),
                  "%s: %u times",
                  facet_format_name(forms[f].element),
                  good[f]);
    }
}

TEST(refitting_wants_the_same_scene, "")
{
    struct mesh mesh = mesh_planet(6, 6), fewer = mesh, more = mesh_planet(6, 7);
    struct facet_rtbvh_image image = make(&mesh, forms[0], 4, NULL), again;
    struct facet_error err = {0};

    fewer.count--;
    CHECK_EQ(refit(&image, &fewer, 0.0, &again, &err), FACET_ERR_INPUT);
    CHECK_MSG(strstr(err.message, "which the scene does not have") != NULL, "%s", err.message);
    CHECK_EQ(refit(&image, &more, 0.0, &again, &err), FACET_ERR_LIMIT);
    CHECK_MSG(strstr(err.message, "is not in the image") != NULL, "%s", err.message);
    mesh.triangles[5].primitive = 6;
    CHECK_EQ(refit(&image, &mesh, 0.0, &again, &err), FACET_ERR_INPUT);
    mesh.triangles[5].primitive = 5;
    mesh.triangles[mesh.count - 1].geometry = UINT32_MAX;
    CHECK_EQ(refit(&image, &mesh, 0.0, &again, &err), FACET_ERR_INPUT);
    mesh.triangles[mesh.count - 1].geometry = 0;
    mesh.triangles[7].vertex[1][2] = NAN;
    CHECK_EQ(refit(&image, &mesh, 0.0, &again, &err), FACET_ERR_INPUT);
    mesh.triangles[7].vertex[1][2] = 0.0f;
    CHECK_EQ(refit(&image, &mesh, 1000.0, &again, &err), FACET_OK);
    CHECK(growth_of(&again) >= 2000.0f / (1 << 20));
    free(again.bytes);
    image.bytes[128 + 124] |= 3; /* a reserved type */
    CHECK_EQ(refit(&image, &mesh, 0.0, &again, &err), FACET_ERR_INPUT);
    CHECK_MSG(strstr(err.message, "malformed") != NULL, "%s", err.message);
    free(image.bytes);
    mesh_free(&mesh);
    mesh_free(&more);
}

TEST(memory_may_run_out_while_refitting, "")
{
    struct mesh mesh = mesh_planet(4, 4);
    struct facet_rtbvh_image image = make(&mesh, forms[1], 4, NULL), again;
    struct facet_rtbvh_check check;
    enum facet_status status = FACET_ERR_MEMORY;

    CHECK_EQ(facet_rtbvh_check(image.bytes, image.size, 1, &check, NULL), FACET_OK);
    for (long good = 0; good < 20 && status != FACET_OK; good++) {
        failing_alloc_after(good);
        status = facet_rtbvh_refit(&check, mesh.triangles, mesh.count, 0.0, &again, NULL);
        failing_alloc_after(-1);
        CHECK(status == FACET_OK || (status == FACET_ERR_MEMORY && again.bytes == NULL));
    }
    CHECK_EQ(status, FACET_OK);
    free(again.bytes);
    facet_rtbvh_check_free(&check);
    free(image.bytes);
    mesh_free(&mesh);
}

/* ---- text and back ---- */

/* The JSON form, as `facet bvh dump` writes it. */
static bool to_json(const struct facet_rtbvh_image *image, struct facet_strbuf *out)
{
    struct facet_rtbvh_check check;
    bool open;

    CHECK_EQ(facet_rtbvh_check(image->bytes, image->size, 1, &check, NULL), FACET_OK);
    open = check.open;
    facet_strbuf_init(out);
    if (open) {
        facet_rtbvh_json_head(&check.view, out);
        for (uint64_t i = 0; i < check.place_count; i++) {
            facet_strbuf_puts(out, i != 0 ? ",\n" : "");
            facet_rtbvh_json_place(&check.view, &check.places[i], out);
        }
        CHECK(facet_rtbvh_json_tail(&check, out));
        CHECK(facet_doc_rtbvh_json_is(facet_strbuf_text(out), out->length));
    }
    facet_rtbvh_check_free(&check);
    return open;
}

static enum facet_status
from_json(const char *text, size_t size, struct facet_rtbvh_image *image, struct facet_error *err)
{
    return facet_doc_rtbvh_json_read("file", text, size, image, err);
}

static void round_trip(const struct facet_rtbvh_image *image)
{
    struct facet_rtbvh_image again;
    struct facet_strbuf text;
    struct facet_error err = {0};

    if (to_json(image, &text)) {
        if (from_json(facet_strbuf_text(&text), text.length, &again, &err) != FACET_OK) {
            CHECK_MSG(false, "%s", err.message);
        } else {
            CHECK_EQ(again.size, image->size);
            CHECK(memcmp(again.bytes, image->bytes, (size_t)image->size) == 0);
        }
        free(again.bytes);
    }
    facet_strbuf_free(&text);
}

TEST(json_goes_back_to_the_same_bytes, "")
{
    struct mesh mesh = mesh_planet(5, 5);

    for (size_t f = 0; f < FORMS; f++) {
        struct facet_rtbvh_image image = make(&mesh, forms[f], f % 2 != 0 ? 8 : 4, NULL);

        round_trip(&image);
        for (int n = 0; n < 60; n++) { /* damaged, wherever it is */
            uint64_t at = harness_random() % image.size;
            uint8_t old = image.bytes[at];

            image.bytes[at] ^= (uint8_t)(1u << harness_random() % 8);
            round_trip(&image);
            image.bytes[at] = old;
        }
        free(image.bytes);
    }
    mesh_free(&mesh);
}

/* Replaces the first occurrence. */
static void edit(struct facet_strbuf *text, const char *from, const char *to)
{
    const char *at = strstr(facet_strbuf_text(text), from);
    struct facet_strbuf out;

    /* GCC with -fsanitize=undefined takes a text that strstr has seen for NULL, and warns. */
    if (!CHECK_MSG(at != NULL, "%s is not in the text", from != NULL ? from : "")) {
        return;
    }
    facet_strbuf_init(&out);
    facet_strbuf_printf(&out,
                        "%.*s%s%s",
                        (int)(at - facet_strbuf_text(text)),
                        facet_strbuf_text(text),
                        to,
                        at + strlen(from));
    facet_strbuf_free(text);
    *text = out;
}

TEST(bad_json_is_refused_with_its_place, "")
{
    static const struct {
        const char *from, *to, *wanted;
    } rows[] = {
        {"\"xphmg4\"", "\"xphmg5\"", "file: format: expected xphmg4 or xphmg8"},
        {"\"version\": 1", "\"version\": 2", "file: version: expected 1"},
        {"\"mode\": ", "\"mood\": ", "file: mode: missing"},
        {"\"mode\": \"0x300000\"", "\"mode\": \"0xf00000\"", "file: offset 0x18: MODE is"},
        {"\"heap\": {\"offset\": \"0x80\"", "\"heap\": {\"offset\": \"0x81\"", "offset 0x28"},
        {"\"size\": ", "\"size\": -", "size: expected a number"},
        {"\"places\": [", "\"place\": [", "expected an object with a list \"places\""},
        {"\"kind\": \"node\"",
         "\"kind\": \"tree\"",
         "line 4: places[0].kind: expected node or leaf"},
        {"{\"offset\": \"0x80\", \"kind\"", "{\"offset\": \"0x90\", \"kind\"", "places[0].offset"},
        {"\"type\": \"node\"", "\"type\": \"root\"", "children[0].type: expected empty"},
        {"\"elements\": [\"", "\"elements\": [\"0x1ffffffff\", \"", "elements"},
        {"\"elements\": [", "\"elements\": [7, ", "elements: expected a list of 6"},
        {"\"instance\": 0", "\"instance\": -1", "triangles[0].instance"},
        {"\"index\": 0, \"instance\"", "\"index\": 99999, \"instance\"", "triangles[0].index"},
        {"\"other\": [", "\"other\": [{\"offset\": 0, \"bytes\": \"0g\"}", "other[0].bytes"},
        {"\"other\": [",
         "\"other\": [{\"offset\": 99999999, \"bytes\": \"00\"}",
         "other[0].offset"},
        {"\"first\"", "\"frist\"", "first: missing"},
    };
    struct mesh mesh = mesh_planet(4, 4);
    struct facet_rtbvh_image image = make(&mesh, (struct form){FACET_FMT_FP32, false}, 4, NULL);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_rtbvh_image again;
        struct facet_error err = {0};
        struct facet_strbuf text;

        CHECK(to_json(&image, &text));
        edit(&text, rows[i].from, rows[i].to);
        CHECK_EQ(from_json(facet_strbuf_text(&text), text.length, &again, &err), FACET_ERR_INPUT);
        CHECK(again.bytes == NULL);
        CHECK_MSG(strstr(err.message, rows[i].wanted) != NULL &&
                      strncmp(err.message, "file", 4) == 0,
                  "%s: %s",
                  rows[i].to,
                  err.message);
        facet_strbuf_free(&text);
    }
    for (size_t cut = 0;; cut += 97) { /* any beginning of a text */
        struct facet_rtbvh_image again;
        struct facet_strbuf text;
        bool more;

        CHECK(to_json(&image, &text));
        more = cut < text.length - 2;
        if (more) {
            CHECK_EQ(from_json(facet_strbuf_text(&text), cut, &again, NULL), FACET_ERR_INPUT);
        }
        facet_strbuf_free(&text);
        if (!more) {
            break;
        }
    }
    free(image.bytes);
    mesh_free(&mesh);
}

/* ---- differences ---- */

struct seen {
    struct facet_rtbvh_difference last;
    uint64_t count;
};

static void see(void *context, const struct facet_rtbvh_difference *difference)
{
    struct seen *seen = context;

    seen->last = *difference;
    seen->count++;
}

static struct seen diff(const struct facet_rtbvh_image *a, const struct facet_rtbvh_image *b)
{
    struct facet_rtbvh_view va, vb;
    struct seen seen = {.count = 0};
    uint64_t count = 0;

    CHECK_EQ(facet_rtbvh_open(a->bytes, a->size, &va, NULL), FACET_OK);
    CHECK_EQ(facet_rtbvh_open(b->bytes, b->size, &vb, NULL), FACET_OK);
    CHECK_EQ(facet_rtbvh_diff(&va, &vb, see, &seen, &count, NULL), FACET_OK);
    CHECK_EQ(count, seen.count);
    return seen;
}

TEST(every_field_that_differs_is_named, "")
{
    struct mesh mesh = mesh_planet(6, 6);
    struct facet_rtbvh_image a = make(&mesh, (struct form){FACET_FMT_FP32, false}, 4, NULL);
    struct facet_rtbvh_image b = make(&mesh, (struct form){FACET_FMT_FP32, false}, 4, NULL);
    uint64_t triangles = facet_load_le64(a.bytes + 56), origins = facet_load_le64(a.bytes + 72);
    const struct {
        uint64_t at;
        const char *field;
    } rows[] = {
        {92, "nodes"},
        {96, "leaves"},
        {104, "growth"},
        {128, "child 0 min.x"},
        {128 + 20, "child 0 max.z"},
        {128 + 24 * 3 + 12, "child 3 max.x"},
        {256 + 4, "count"},
        {256 + 8, "base"},
        {triangles, "triangle 0 v0.x"},
        {triangles + 32, "triangle 0 v2.z"},
        {origins, "triangle 0 instance"},
        {origins + 4, "triangle 0 primitive"},
    };

    CHECK_EQ(diff(&a, &b).count, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct seen seen;

        b.bytes[rows[i].at] ^= 1;
        seen = diff(&a, &b);
        CHECK_EQ(seen.count, 1);
        CHECK_STR(seen.last.field, rows[i].field);
        CHECK_EQ(seen.last.a ^ seen.last.b, 1);
        b.bytes[rows[i].at] ^= 1;
    }
    b.bytes[128 + 124] &= 0xFC; /* a child is gone: nothing below it is compared */
    CHECK_STR(diff(&a, &b).last.field, "child 0 type");
    CHECK_EQ(diff(&a, &b).count, 1);
    for (int n = 0; n < 300; n++) { /* damaged as it likes: it ends (the sanitizers look) */
        uint64_t at = 128 + harness_random() % (triangles - 128);

        b.bytes[at] = (uint8_t)harness_random();
        (void)diff(&a, &b);
        (void)diff(&b, &a);
    }
    free(a.bytes);
    free(b.bytes);
    mesh_free(&mesh);
}

TEST(different_formats_are_told_apart, "")
{
    struct mesh mesh = mesh_planet(4, 4);
    struct facet_rtbvh_image a = make(&mesh, (struct form){FACET_FMT_FP32, false}, 4, NULL);
    struct facet_rtbvh_image b = make(&mesh, (struct form){FACET_FMT_FP16, false}, 4, NULL);
    struct facet_rtbvh_image c = make(&mesh, (struct form){FACET_FMT_FP32, false}, 8, NULL);

    CHECK(diff(&a, &b).count >= 1);
    CHECK(diff(&a, &c).count >= 1);
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
    mesh_free(&mesh);
}

TEST(memory_may_run_out_while_reading_json, "")
{
    struct mesh mesh = mesh_planet(2, 3);
    struct facet_rtbvh_image image = make(&mesh, (struct form){FACET_FMT_FP16, false}, 4, NULL);
    struct facet_rtbvh_view view;
    struct facet_strbuf text;
    bool done = false;

    CHECK(to_json(&image, &text));
    for (long good = 0; good < 100000 && !done; good++) {
        struct facet_rtbvh_image again;
        enum facet_status status;

        failing_alloc_after(good);
        status = from_json(facet_strbuf_text(&text), text.length, &again, NULL);
        failing_alloc_after(-1);
        done = status == FACET_OK;
        CHECK(done == (again.bytes != NULL));
        free(again.bytes);
    }
    CHECK(done);
    CHECK_EQ(facet_rtbvh_open(image.bytes, image.size, &view, NULL), FACET_OK);
    for (long good = 0; good < 3; good++) {
        struct seen seen;
        uint64_t count;

        failing_alloc_after(good);
        CHECK_EQ(facet_rtbvh_diff(&view, &view, see, &seen, &count, NULL), FACET_ERR_MEMORY);
        failing_alloc_after(-1);
    }
    facet_strbuf_free(&text);
    free(image.bytes);
    mesh_free(&mesh);
}
