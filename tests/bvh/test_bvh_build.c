/* The GFX12 builder: worked example 12, a second implementation of section 12, exact containment,
 * determinism, refusals, instances, oriented boxes, quality high, and rays against brute force. */
#include "base/failing_alloc.h"
#include "base/float.h"
#include "gfx12/build/build.h"
#include "gfx12/check/check.h"
#include "gfx12/image/stats.h"
#include "harness.h"
#include "meshes.h"
#include "reference.h"

#include <facet/gfx12.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct facet_gfx12_image
build(const struct mesh *mesh, struct facet_gfx12_build_options options, facet_pool *pool)
{
    struct facet_bvh_blas_input input = {.triangles = mesh->triangles,
                                         .triangle_count = mesh->count};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_build_blas(&input, &options, pool, NULL, &image, &report, &err) ==
                  FACET_OK,
              "%s",
              err.message);
    return image;
}

static struct facet_gfx12_view view_of(const struct facet_gfx12_image *image)
{
    return (struct facet_gfx12_view){
        .bytes = image->bytes, .size = image->size, .root = FACET_GFX12_ROOT};
}

/* What we build is not even suspicious. */
static void check_clean(const struct facet_gfx12_image *image, const char *what)
{
    struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;
    struct facet_error err = {0};

    if (!CHECK(facet_gfx12_check(&view, &options, &check, &err) == FACET_OK)) {
        return;
    }
    for (uint32_t i = 0; i < check.count && i < 30; i++) {
        /* The meshes of these tests number their triangles with gaps (V41). */
        CHECK_MSG(check.findings[i].rule == 41,
                  "%s: 0x%llx %s %s",
                  what,
                  (unsigned long long)check.findings[i].offset,
                  facet_gfx12_rules[check.findings[i].rule].id,
                  check.findings[i].text);
    }
    CHECK_EQ(check.reached, check.nodes);
    facet_gfx12_check_free(&check);
}

static void check_words(const uint8_t *bytes, const uint32_t *expected, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t w;

        memcpy(&w, bytes + 4 * (size_t)i, 4);
        CHECK_MSG(w == expected[i], "dword %u is %08X, expected %08X", i, w, expected[i]);
    }
}

/* clang-format off */
static const uint32_t example_12[64] = {
    0x00000000, 0x00000010, 0xFFFFFFFF, 0x00000000, 0x00000000, 0x00000000, 0x507F7F7F, 0x0000007F,
    0x05000000, 0xFFFFF000, 0x00000FFF, 0x05000000, 0xFFFFF000, 0x01FFF000, 0x05000000, 0xFF000000,
    0x02FFFFFF, 0x05000FFF, 0xFFFFF000, 0x03FFFFFF, 0x05FFF000, 0xFFFFF000, 0x08FFFFFF, 0x05000000,
    0xFFFFFFFF, 0x19FFFFFF, 0xFFFFFFFF, 0x00000FFF, 0x00000000, 0xFFFFFFFF, 0x00000FFF, 0x00000000,
    0x500B98C6, 0x000C9880, 0x1FC00000, 0xFE03FFF0, 0xF01FC000, 0x80FE0007, 0xFFFFFFFF, 0x00000003,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0x00000000, 0xEA615040, 0xCEB4C9DA, 0x89C6BA2C, 0x7239D761, 0x42160AE4, 0x184A8159, 0x2108C82A,
};
/* clang-format on */

TEST(example_12_byte_for_byte, "G12-253 G12-256 G12-186 G12-066")
{
    struct facet_bvh_triangle cube[12];
    struct mesh mesh = {cube, 12};
    struct facet_gfx12_image image;

    mesh_cube(cube);
    image = build(&mesh, (struct facet_gfx12_build_options){.prim_range = 2}, NULL);
    CHECK_EQ(image.size, 256);
    check_words(image.bytes, example_12, 64);
    check_clean(&image, "cube");
    free(image.bytes);
}

TEST(example_12_with_one_long_range, "G12-253 G12-248")
{
    static const uint32_t child[3] = {0x05000000, 0xFFFFF000, 0x10FFFFFF};
    struct facet_bvh_triangle cube[12];
    struct mesh mesh = {cube, 12};
    struct facet_gfx12_image image;
    struct facet_gfx12_prim prim;

    mesh_cube(cube);
    image = build(&mesh, (struct facet_gfx12_build_options){.prim_range = 16}, NULL);
    CHECK_EQ(image.size, 256);
    check_words(image.bytes + 32, child, 3);
    facet_gfx12_prim_decode(image.bytes + 128, &prim);
    CHECK_EQ(facet_gfx12_prim_pairs(&prim.header), 6);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(prim.pair[i].prim_range_stop, i == 5);
    }
    free(image.bytes);
}

/* ---- the second implementation ---- */

static void compare_with_reference(const char *name, const struct mesh *mesh, uint32_t range)
{
    struct facet_gfx12_build_options options = {.prim_range = range};
    struct facet_gfx12_image image = build(mesh, options, NULL);
    size_t size;
    uint8_t *expected = reference_build(mesh->triangles, mesh->count, range, &size);

    CHECK_MSG(image.size == size,
              "%s, range %u: %llu bytes, expected %zu",
              name,
              range,
              (unsigned long long)image.size,
              size);
    for (uint64_t i = 0; i < image.size && i < size; i += 4) {
        if (memcmp(image.bytes + i, expected + i, 4) != 0) {
            CHECK_MSG(false, "%s, range %u: byte 0x%llx", name, range, (unsigned long long)i);
            break;
        }
    }
    free(expected);
    free(image.bytes);
}

/* Coincident centres, zeros of both signs, far apart clusters, equal vertices, huge numbers. */
static struct mesh mesh_nasty(uint32_t count)
{
    struct mesh mesh = {calloc(count, sizeof *mesh.triangles), count};

    for (uint32_t i = 0; i < count; i++) {
        struct facet_bvh_triangle *t = &mesh.triangles[i];
        uint64_t r = harness_random();
        float scale = r % 5 == 0 ? 1e30f : r % 5 == 1 ? 1e-30f : 1.0f;

        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                int v = (int)(harness_random() % 5) - 2;

                t->vertex[c][k] = v == 0 && harness_random() % 2 ? -0.0f : scale * (float)v;
            }
        }
        if (r % 17 == 0) {
            memcpy(t->vertex[2], t->vertex[0], sizeof t->vertex[0]);
        }
        if (r % 19 == 0) {
            t->vertex[0][0] = NAN;
        }
        t->geometry = (uint32_t)(r >> 8) % 3 << (r >> 20) % 29;
        t->primitive = (uint32_t)(r >> 32) & 0x7FFFFFFF;
        t->flags = (uint32_t)(r >> 5) & 3;
    }
    return mesh;
}

TEST(fast_is_section_12, "G12-253 G12-254 G12-256 G12-009 G12-041 G12-042")
{
    static const uint32_t ranges[] = {1, 2, 3, 5, 8, 16};
    struct mesh meshes[] = {mesh_soup(700, 3), mesh_planet(16, 24), mesh_terrain(20)};
    const char *names[] = {"soup", "planet", "terrain"};

    for (int m = 0; m < 3; m++) {
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            compare_with_reference(names[m], &meshes[m], ranges[r]);
        }
        mesh_free(&meshes[m]);
    }
}

TEST(fast_is_section_12_on_nasty_input, "G12-253 G12-255 G12-188")
{
    for (uint32_t round = 0; round < 60; round++) {
        struct mesh mesh = mesh_nasty(1 + (uint32_t)(harness_random() % (round < 50 ? 20 : 300)));
        bool any = false;

        for (uint32_t i = 0; i < mesh.count; i++) {
            const struct facet_bvh_triangle *t = &mesh.triangles[i];

            any = any || (!isnan(t->vertex[0][0]) && memcmp(t->vertex[0], t->vertex[1], 12) != 0 &&
                          memcmp(t->vertex[1], t->vertex[2], 12) != 0 &&
                          memcmp(t->vertex[2], t->vertex[0], 12) != 0);
        }
        if (any) {
            compare_with_reference("nasty", &mesh, 1 + round % 16);
        }
        mesh_free(&mesh);
    }
}

/* ---- containment in exact arithmetic ---- */

static void set_plane(mpq_t out, uint32_t origin, uint8_t exponent, unsigned plane)
{
    mpq_t step;
    float o = facet_float_of(origin);

    mpq_init(step);
    mpq_set_ui(step, exponent == 0 ? 0 : plane, 1);
    if (exponent >= 139) {
        mpq_mul_2exp(step, step, exponent - 139u);
    } else {
        mpq_div_2exp(step, step, 139u - exponent);
    }
    mpq_set_d(out, (double)o);
    mpq_add(out, out, step);
    mpq_clear(step);
}

static bool plane_below(uint32_t origin, uint8_t exponent, unsigned plane, float x)
{
    mpq_t p, v;
    bool below;

    mpq_inits(p, v, NULL);
    set_plane(p, origin, exponent, plane);
    mpq_set_d(v, (double)x);
    below = mpq_cmp(p, v) <= 0;
    mpq_clears(p, v, NULL);
    return below;
}

static bool plane_above(uint32_t origin, uint8_t exponent, unsigned plane, float x)
{
    mpq_t p, v;
    bool above;

    mpq_inits(p, v, NULL);
    set_plane(p, origin, exponent, plane);
    mpq_set_d(v, (double)x);
    above = mpq_cmp(p, v) >= 0;
    mpq_clears(p, v, NULL);
    return above;
}

/* Every vertex below a child lies between its planes as rational numbers; returns the number of
 * vertices seen. */
static unsigned check_below(const struct facet_gfx12_image *image,
                            const struct facet_gfx12_box *box,
                            const struct facet_gfx12_child *child,
                            uint32_t id)
{
    const uint8_t *node = image->bytes + facet_gfx12_id_offset(id);
    unsigned seen = 0;

    if ((id & 15) == 5) {
        struct facet_gfx12_box inner;
        uint32_t ids[8];
        unsigned count;

        facet_gfx12_box_decode(node, &inner);
        count = inner.child_count_minus_one + 1u;
        facet_gfx12_child_ids(
            inner.child, count, inner.internal_child_offset, inner.primitive_child_offset, ids);
        for (unsigned i = 0; i < count; i++) {
            seen += check_below(image, box, child, ids[i]);
        }
        return seen;
    }
    for (;;) {
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(node, facet_gfx12_id_pair(id), &pair);
        for (int t = 0; t < 2; t++) {
            for (int c = 0; c < 3 && !(t == 1 && facet_gfx12_tri_absent(&pair.desc.tri[1])); c++) {
                for (int k = 0; k < 3; k++) {
                    float x;

                    memcpy(&x, &pair.vertex[t][c][k], sizeof x);
                    CHECK(plane_below(box->origin[k], box->exponent[k], child->min[k], x));
                    CHECK(plane_above(box->origin[k], box->exponent[k], child->max[k] + 1u, x));
                    seen++;
                }
            }
        }
        if (pair.navigation == 3 || harness_failed()) {
            return seen;
        }
        id = pair.navigation == 1 ? (id & ~15u) + 16 : facet_gfx12_id_next_pair(id);
        node = image->bytes + facet_gfx12_id_offset(id);
    }
}

TEST(child_boxes_contain_their_triangles_exactly, "G12-045 G12-189")
{
    struct mesh meshes[] = {mesh_soup(400, 9), mesh_planet(12, 12)};

    for (int m = 0; m < 2; m++) {
        for (int quality = 0; quality < FACET_BVH_QUALITIES; quality++) {
            struct facet_gfx12_build_options options = {.quality = quality};
            struct facet_gfx12_image image;
            struct facet_gfx12_box root;
            uint32_t ids[8];
            unsigned seen = 0;

            if (quality == FACET_BVH_HIGH) {
                continue; /* cuts boxes: see below */
            }
            image = build(&meshes[m], options, NULL);

            facet_gfx12_box_decode(image.bytes, &root);
            facet_gfx12_child_ids(root.child,
                                  root.child_count_minus_one + 1u,
                                  root.internal_child_offset,
                                  root.primitive_child_offset,
                                  ids);
            for (unsigned i = 0; i <= root.child_count_minus_one && !harness_failed(); i++) {
                seen += check_below(&image, &root, &root.child[i], ids[i]);
            }
            CHECK_EQ(seen, 9 * meshes[m].count);
            free(image.bytes);
        }
        mesh_free(&meshes[m]);
    }
}

/* ---- boxes that are cut ---- */

enum { POINTS = 153 }; /* of a triangle, at barycentric coordinates in sixteenths */

struct cover {
    const struct facet_gfx12_image *image;
    uint8_t (*seen)[POINTS]; /* by primitive */
    uint64_t references;
    double lo[3], hi[3]; /* what all boxes on the path have in common */
};

static void cover_triangle(struct cover *c, const uint32_t vertex[3][3], uint32_t primitive)
{
    float v[3][3];
    unsigned point = 0;

    memcpy(v, vertex, sizeof v);
    c->references++;
    for (int a = 0; a <= 16; a++) {
        for (int b = 0; a + b <= 16; b++, point++) {
            bool inside = true;

            for (int k = 0; k < 3; k++) {
                double x =
                    (a * (double)v[0][k] + b * (double)v[1][k] + (16 - a - b) * (double)v[2][k]) /
                    16;

                inside = inside && x >= c->lo[k] && x <= c->hi[k];
            }
            c->seen[primitive][point] |= inside;
        }
    }
}

static void cover_range(struct cover *c, uint32_t id)
{
    for (;;) {
        const uint8_t *node = c->image->bytes + facet_gfx12_id_offset(id);
        struct facet_gfx12_pair pair;

        facet_gfx12_pair_decode(node, facet_gfx12_id_pair(id), &pair);
        cover_triangle(c, pair.vertex[0], pair.primitive_index[0]);
        if (!facet_gfx12_tri_absent(&pair.desc.tri[1])) {
            cover_triangle(c, pair.vertex[1], pair.primitive_index[1]);
        }
        if (pair.navigation == 3) {
            return;
        }
        id = pair.navigation == 1 ? (id & ~15u) + 16 : facet_gfx12_id_next_pair(id);
    }
}

static void cover_below(struct cover *c, uint32_t id)
{
    struct cover outer = *c;
    struct facet_gfx12_box box;
    uint32_t ids[8];
    unsigned count;

    if ((id & 15) != 5) {
        cover_range(c, id);
        return;
    }
    facet_gfx12_box_decode(c->image->bytes + facet_gfx12_id_offset(id), &box);
    count = box.child_count_minus_one + 1u;
    facet_gfx12_child_ids(
        box.child, count, box.internal_child_offset, box.primitive_child_offset, ids);
    for (unsigned i = 0; i < count; i++) {
        uint32_t lo[3], hi[3];

        facet_gfx12_child_bounds(&box.child[i], box.origin, box.exponent, lo, hi);
        for (int k = 0; k < 3; k++) {
            c->lo[k] = fmax(outer.lo[k], (double)facet_float_of(lo[k]));
            c->hi[k] = fmin(outer.hi[k], (double)facet_float_of(hi[k]));
        }
        cover_below(c, ids[i]);
        memcpy(c->lo, outer.lo, sizeof c->lo);
        memcpy(c->hi, outer.hi, sizeof c->hi);
    }
}

/* Every point of every triangle lies in the boxes of a path to it; returns how often triangles are
 * there. */
static uint64_t check_covered(const struct facet_gfx12_image *image, uint32_t count)
{
    struct cover c = {.image = image,
                      .seen = calloc(count, sizeof *c.seen),
                      .lo = {-INFINITY, -INFINITY, -INFINITY},
                      .hi = {INFINITY, INFINITY, INFINITY}};

    cover_below(&c, FACET_GFX12_ROOT);
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned p = 0; p < POINTS; p++) {
            CHECK_MSG(c.seen[i][p], "triangle %u: point %u is in no box", i, p);
        }
    }
    free(c.seen);
    return c.references;
}

/* Long thin triangles in all directions, some of them along an axis. */
static struct mesh mesh_needles(uint32_t count)
{
    struct mesh mesh = mesh_soup(count, 4);

    for (uint32_t i = 0; i < count; i++) {
        float(*v)[3] = mesh.triangles[i].vertex;

        for (int k = 0; k < 3; k++) {
            v[1][k] = v[0][k] + 8.0f * (v[1][k] - v[0][k]);
            v[2][k] = v[0][k] + (k == (int)(i % 3) ? 0.01f : i % 5 == 0 ? 0.0f : 0.02f);
        }
    }
    return mesh;
}

TEST(high_cuts_boxes_and_covers_every_triangle, "G12-045")
{
    struct mesh meshes[] = {mesh_needles(3000), mesh_soup(3000, 9), mesh_planet(40, 40)};
    struct facet_gfx12_build_options high = {.quality = FACET_BVH_HIGH};

    for (int m = 0; m < 3; m++) {
        struct facet_gfx12_image image = build(&meshes[m], high, NULL);
        uint64_t references = check_covered(&image, meshes[m].count);

        check_clean(&image, "cut");
        /* Needles are worth it, a smooth mesh is not. */
        CHECK_MSG(m == 0 ? references > meshes[m].count + meshes[m].count / 10
                         : references >= meshes[m].count,
                  "mesh %d: %llu references",
                  m,
                  (unsigned long long)references);
        CHECK_MSG(references <= meshes[m].count * (m == 2 ? 1.02 : 1.6),
                  "mesh %d: %llu references",
                  m,
                  (unsigned long long)references);
        free(image.bytes);
        mesh_free(&meshes[m]);
    }
}

/* ---- determinism ---- */

/* The triangles of a mesh in any order: neighbours are far apart. */
static struct mesh shuffled(struct mesh mesh)
{
    for (uint32_t i = mesh.count; i > 1; i--) {
        const uint32_t j = (uint32_t)(harness_random() % i);
        const struct facet_bvh_triangle t = mesh.triangles[i - 1];

        mesh.triangles[i - 1] = mesh.triangles[j];
        mesh.triangles[j] = t;
    }
    return mesh;
}

/* One triangle in three many times over, one left out, one flat along an axis. */
static struct mesh mesh_degenerate(uint32_t count)
{
    struct mesh mesh = mesh_soup(count, 8);

    for (uint32_t i = 0; i < count; i++) {
        struct facet_bvh_triangle *t = &mesh.triangles[i];

        if (i % 3 == 0) {
            memcpy(t->vertex, mesh.triangles[0].vertex, sizeof t->vertex);
        } else if (i % 3 == 1) {
            memcpy(t->vertex[1], t->vertex[2], sizeof t->vertex[1]);
        } else {
            t->vertex[0][1] = t->vertex[1][1] = t->vertex[2][1] = -0.0f;
        }
    }
    return mesh;
}

/* All in one place: no plane parts them. */
static struct mesh mesh_heap(uint32_t count)
{
    struct mesh mesh = mesh_soup(count, 2);

    for (uint32_t i = 1; i < count; i++) {
        memcpy(mesh.triangles[i].vertex, mesh.triangles[0].vertex, sizeof mesh.triangles[0].vertex);
    }
    return mesh;
}

TEST(the_bytes_do_not_depend_on_the_number_of_threads, "G12-253")
{
    static const unsigned threads[] = {1, 2, 3, 5, 16};
    struct mesh meshes[] = {mesh_planet(150, 150),
                            mesh_soup(30000, 5),
                            shuffled(mesh_planet(100, 120)),
                            mesh_degenerate(30000),
                            mesh_heap(20000),
                            mesh_needles(20000)};

    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++) {
        for (int quality = 0; quality < FACET_BVH_QUALITIES; quality++) {
            struct facet_gfx12_image first = {NULL, 0};

            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                struct facet_gfx12_image image;
                facet_pool *pool = NULL;

                CHECK(facet_pool_create(threads[t], &pool, NULL) == FACET_OK);
                image =
                    build(&meshes[m], (struct facet_gfx12_build_options){.quality = quality}, pool);
                facet_pool_destroy(pool);
                if (t == 0) {
                    first = image;
                    if (m < 2) {
                        check_clean(&image, "threads");
                    }
                    continue;
                }
                CHECK_EQ(image.size, first.size);
                CHECK_MSG(image.size == first.size &&
                              memcmp(image.bytes, first.bytes, (size_t)image.size) == 0,
                          "%u threads, quality %d: other bytes",
                          threads[t],
                          quality);
                free(image.bytes);
            }
            free(first.bytes);
        }
        mesh_free(&meshes[m]);
    }
}

/* ---- capacity ---- */

TEST(nine_pairs_need_two_nodes, "G12-254")
{
    struct mesh mesh = mesh_terrain(3); /* nine quads */
    struct facet_gfx12_image image =
        build(&mesh, (struct facet_gfx12_build_options){.prim_range = 16}, NULL);
    struct facet_gfx12_bvh_stats stats;
    struct facet_gfx12_view view = view_of(&image);
    struct facet_gfx12_walk walk;

    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    CHECK(facet_gfx12_bvh_stats(&view, &walk, &stats, NULL) == FACET_OK);
    CHECK_EQ(stats.triangles, 18);
    CHECK_EQ(stats.pairs, 9);
    CHECK(stats.primitive_nodes >= 2);
    facet_gfx12_walk_free(&walk);
    free(image.bytes);
    mesh_free(&mesh);
}

/* Pairs of the image that are the triangles 2k and 2k + 1. */
static uint32_t count_quads(const struct facet_gfx12_image *image)
{
    const struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_walk walk;
    uint32_t quads = 0;

    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.reached; i++) {
        const uint32_t node = walk.order[i];
        struct facet_gfx12_prim p;

        if (walk.nodes[node].kind != FACET_GFX12_KIND_PRIMITIVE) {
            continue;
        }
        facet_gfx12_prim_decode(facet_gfx12_node_bytes(&view, node), &p);
        for (unsigned k = 0; k < facet_gfx12_prim_pairs(&p.header); k++) {
            quads += !facet_gfx12_tri_absent(&p.pair[k].tri[1]) &&
                     (facet_gfx12_prim_primitive(&p, 2 * k) ^ 1) ==
                         facet_gfx12_prim_primitive(&p, 2 * k + 1);
        }
    }
    facet_gfx12_walk_free(&walk);
    return quads;
}

/* Slanted quads on hills: 148 of these triangles would have a smaller box with another neighbour.
 */
TEST(halves_of_a_quad_that_follow_each_other_become_a_pair, "")
{
    enum { QUADS = 10000 }; /* of more than one chunk */
    struct mesh mesh = mesh_terrain(100);
    struct facet_gfx12_image image;

    for (size_t i = 0; i < 3 * (size_t)mesh.count; i++) {
        mesh.triangles[i / 3].vertex[i % 3][0] += 0.2F * mesh.triangles[i / 3].vertex[i % 3][2];
    }
    CHECK_EQ(mesh.count, 2 * QUADS);
    image = build(&mesh, (struct facet_gfx12_build_options){.quality = FACET_BVH_FAST}, NULL);
    CHECK_EQ(count_quads(&image), QUADS);
    free(image.bytes);
    mesh_free(&mesh);
}

TEST(a_pair_with_the_largest_indices_fits, "G12-255 G12-082")
{
    struct facet_bvh_triangle two[2] = {
        {{{1.1f, -2.2f, 3.3f}, {-4.7f, 5.9f, -6.1f}, {7.3f, 8.1f, -9.7f}}, (1u << 30) - 1, 0, 1},
        {{{-1.3f, 2.9f, -3.1f}, {4.1f, -5.3f, 6.7f}, {-7.9f, -8.3f, 9.1f}}, 0, (1u << 31) - 1, 0}};
    struct mesh mesh = {two, 2};
    struct facet_gfx12_image image;
    struct facet_gfx12_prim p;

    two[0].primitive = (1u << 31) - 1;
    two[1].primitive = 0;
    image = build(&mesh, (struct facet_gfx12_build_options){0}, NULL);
    CHECK_EQ(image.size, 256);
    facet_gfx12_prim_decode(image.bytes + 128, &p);
    CHECK_EQ(facet_gfx12_prim_geometry(&p, 0), (1u << 30) - 1);
    CHECK_EQ(facet_gfx12_prim_geometry(&p, 1), 0);
    CHECK_EQ(facet_gfx12_prim_primitive(&p, 0), (1u << 31) - 1);
    CHECK_EQ(facet_gfx12_prim_primitive(&p, 1), 0);
    CHECK_EQ(facet_gfx12_prim_bits(&p.header, 6), 779);
    check_clean(&image, "largest indices");
    free(image.bytes);
}

/* ---- input that is dropped or refused ---- */

static enum facet_status try_build(struct facet_bvh_triangle *t,
                                   uint32_t n,
                                   struct facet_gfx12_build_report *report,
                                   char *message)
{
    struct facet_bvh_blas_input input = {.triangles = t, .triangle_count = n};
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_image image;
    struct facet_error err = {0};
    enum facet_status status =
        facet_gfx12_build_blas(&input, &options, NULL, NULL, &image, report, &err);

    snprintf(message, 480, "%s", err.message);
    CHECK((status == FACET_OK) == (image.bytes != NULL));
    free(image.bytes);
    return status;
}

TEST(bad_primitives_are_dropped_or_refused, "G12-253")
{
    struct facet_bvh_triangle cube[12];
    struct facet_gfx12_build_report report;
    char message[480];

    mesh_cube(cube);
    cube[3].vertex[0][0] = NAN;
    memcpy(cube[5].vertex[2], cube[5].vertex[1], sizeof cube[5].vertex[1]);
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_OK);
    CHECK_EQ(report.inactive, 1);
    CHECK_EQ(report.degenerate, 1);
    CHECK_EQ(report.triangles, 10);
    cube[7].vertex[1][2] = INFINITY;
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_ERR_INPUT);
    CHECK(strstr(message, "triangle 7") != NULL);
    cube[7].vertex[1][2] = NAN;
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_ERR_INPUT);
    mesh_cube(cube);
    cube[2].geometry = 1u << 30;
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_ERR_LIMIT);
    mesh_cube(cube);
    cube[2].primitive = 1u << 31;
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_ERR_LIMIT);
    mesh_cube(cube);
    cube[0].vertex[0][0] = -3e38f;
    cube[1].vertex[0][0] = 3e38f;
    CHECK_EQ(try_build(cube, 12, &report, message), FACET_ERR_INPUT);
    CHECK(strstr(message, "2^127") != NULL);
}

TEST(an_empty_set_is_a_root_without_children, "G12-253 G12-186")
{
    struct facet_bvh_blas_input input = {0};
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_gfx12_box box;

    CHECK(facet_gfx12_build_blas(&input, &options, NULL, NULL, &image, &report, NULL) == FACET_OK);
    CHECK_EQ(image.size, 128);
    facet_gfx12_box_decode(image.bytes, &box);
    CHECK_EQ(box.child_count_minus_one, 0);
    CHECK_EQ(box.parent, FACET_GFX12_INVALID);
    CHECK_EQ(box.exponent[0] | box.exponent[1] | box.exponent[2], 0);
    CHECK_EQ(box.origin[0] | box.origin[1] | box.origin[2], 0);
    for (int i = 0; i < 8; i++) {
        static const uint32_t unused[3] = {0xFFFFFFFF, 0x00000FFF, 0};

        check_words(image.bytes + 32 + 12 * i, unused, 3);
    }
    check_clean(&image, "empty");
    free(image.bytes);
}

TEST(options_are_checked, "")
{
    struct facet_bvh_blas_input input = {0};
    struct facet_gfx12_build_options range = {.prim_range = 17}, base = {.base = 32},
                                     far = {.base = UINT64_C(1) << 48};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;

    CHECK(facet_gfx12_build_blas(&input, &range, NULL, NULL, &image, &report, NULL) ==
          FACET_ERR_USAGE);
    CHECK(facet_gfx12_build_blas(&input, &base, NULL, NULL, &image, &report, NULL) ==
          FACET_ERR_USAGE);
    CHECK(facet_gfx12_build_blas(&input, &far, NULL, NULL, &image, &report, NULL) ==
          FACET_ERR_USAGE);
}

/* ---- procedural boxes and instances ---- */

TEST(procedural_boxes_have_a_node_each, "G12-253 G12-102 G12-238")
{
    struct facet_bvh_aabb boxes[20] = {{{0}, {0}, 0, 0, 0}};
    struct facet_bvh_blas_input input = {.aabbs = boxes, .aabb_count = 20};
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_error err = {0};
    uint32_t seen = 0;

    for (uint32_t i = 0; i < 20; i++) {
        for (int k = 0; k < 3; k++) {
            boxes[i].min[k] = (float)(harness_random() % 100);
            boxes[i].max[k] = boxes[i].min[k] + (float)(harness_random() % 5);
        }
        boxes[i].primitive = i;
        boxes[i].geometry = 6;
        boxes[i].flags = i % 2;
    }
    CHECK(facet_gfx12_build_blas(&input, &options, NULL, NULL, &image, &report, &err) == FACET_OK);
    check_clean(&image, "boxes");
    for (uint64_t at = 128; at < image.size; at += 128) {
        struct facet_gfx12_prim p;

        facet_gfx12_prim_decode(image.bytes + at, &p);
        if (facet_gfx12_tri_procedural(&p.pair[0].tri[0])) {
            uint32_t i = facet_gfx12_prim_primitive(&p, 0);

            CHECK(i < 20);
            CHECK(memcmp(p.aabb, boxes[i % 20].min, 12) == 0);
            CHECK(memcmp(p.aabb + 3, boxes[i % 20].max, 12) == 0);
            CHECK_EQ(p.pair[0].tri[0].opaque, i % 2);
            CHECK_EQ(p.pair[0].prim_range_stop, 1);
            seen |= 1u << i;
        }
    }
    CHECK_EQ(seen, 0xFFFFF);
    free(image.bytes);
    boxes[4].min[1] = 3;
    boxes[4].max[1] = 2;
    CHECK(facet_gfx12_build_blas(&input, &options, NULL, NULL, &image, &report, &err) ==
          FACET_ERR_INPUT);
    CHECK(strstr(err.message, "box 4") != NULL);
}

static void identity(float m[3][4])
{
    memset(m, 0, 12 * sizeof **m);
    for (int k = 0; k < 3; k++) {
        m[k][k] = 1;
    }
}

/* Three BLASes (cube, boxes, empty) and some instances. */
struct small_scene {
    struct facet_bvh_triangle cube[12];
    struct facet_bvh_aabb box;
    struct facet_bvh_blas_input blas[3];
    struct facet_bvh_instance instance[40];
    struct facet_bvh_scene_input input;
};

static void make_scene(struct small_scene *s, uint32_t instances)
{
    memset(s, 0, sizeof *s);
    mesh_cube(s->cube);
    s->box = (struct facet_bvh_aabb){.max = {2, 1, 1}, .primitive = 3};
    s->blas[0] = (struct facet_bvh_blas_input){.triangles = s->cube, .triangle_count = 12};
    s->blas[1] = (struct facet_bvh_blas_input){.aabbs = &s->box, .aabb_count = 1};
    for (uint32_t i = 0; i < instances; i++) {
        struct facet_bvh_instance *in = &s->instance[i];

        identity(in->world_to_object);
        in->world_to_object[0][1] = 0.5f * (float)(i % 3);
        in->world_to_object[2][2] = 0.25f + (float)(i % 4);
        for (int k = 0; k < 3; k++) {
            in->world_to_object[k][3] = (float)(i * (uint32_t)(k + 3) % 11) - 5.0f;
        }
        in->blas = i % 3;
        in->mask = (uint8_t)(1u << i % 8);
        in->user_data = i;
        in->flags = i % 5 == 0 ? FACET_GFX12_FORCE_NON_OPAQUE : 0;
    }
    s->input = (struct facet_bvh_scene_input){s->blas, 3, s->instance, instances};
}

TEST(instances_point_at_their_bottom_level, "G12-253 G12-009 G12-126 G12-128 G12-242")
{
    struct small_scene s;
    struct facet_gfx12_build_options options = {.base = 0x123400000080 & ~127ull};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    struct facet_gfx12_check_options none = {0};
    struct facet_gfx12_check check;
    struct facet_gfx12_box root;
    struct facet_error err = {0};
    uint32_t found = 0;
    struct facet_gfx12_walk walk;

    make_scene(&s, 20);
    CHECK_MSG(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) == FACET_OK,
              "%s",
              err.message);
    view = (struct facet_gfx12_view){
        .bytes = image.bytes, .size = image.size, .base = options.base, .root = FACET_GFX12_ROOT};
    CHECK(facet_gfx12_check(&view, &none, &check, &err) == FACET_OK);
    CHECK_EQ(check.total[FACET_GFX12_ERROR] + check.total[FACET_GFX12_WARNING], check.by_rule[41]);
    facet_gfx12_check_free(&check);
    CHECK(facet_gfx12_walk(&view, &walk, &err) == FACET_OK);
    for (uint32_t i = 0; i < walk.count; i++) {
        struct facet_gfx12_instance node;
        const struct facet_bvh_instance *in;
        unsigned flags;

        if (walk.nodes[i].kind != FACET_GFX12_KIND_INSTANCE) {
            continue;
        }
        facet_gfx12_instance_decode(image.bytes + facet_gfx12_node_offset(i), &node);
        in = &s.instance[node.user_data % 20];
        flags = facet_gfx12_base_flags(node.pointer);
        CHECK(memcmp(node.world_to_object, in->world_to_object, 48) == 0);
        CHECK_EQ(node.cull_mask, in->mask);
        CHECK_EQ(flags & FACET_GFX12_FORCE_NON_OPAQUE, in->flags);
        CHECK_EQ((flags & FACET_GFX12_SKIP_TRIANGLES) != 0, in->blas == 1);
        CHECK_EQ((flags & FACET_GFX12_DISABLE_TRIANGLE_CULL) != 0, in->blas == 1);
        CHECK_EQ((flags & FACET_GFX12_SKIP_PROCEDURAL) != 0, in->blas != 1);
        CHECK_EQ(node.child_count_minus_one, 0);
        CHECK_EQ(node.child[0].node_type, 5);
        CHECK_EQ(node.child[0].cull_mask, 0xFF);
        CHECK(facet_gfx12_base_address(node.pointer) > options.base);
        CHECK_EQ(node.parent & 15, 5);
        found |= 1u << node.user_data;
    }
    CHECK_EQ(found, 0xFFFFF);
    facet_gfx12_box_decode(image.bytes, &root);
    CHECK_EQ(root.parent, FACET_GFX12_INVALID);
    facet_gfx12_walk_free(&walk);
    free(image.bytes);
}

TEST(instances_that_cannot_be_placed_are_refused, "")
{
    struct small_scene s;
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    make_scene(&s, 3);
    memset(s.instance[1].world_to_object, 0, sizeof s.instance[1].world_to_object);
    CHECK(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) ==
          FACET_ERR_INPUT);
    CHECK(strstr(err.message, "instance 1") != NULL);
    make_scene(&s, 3);
    s.instance[2].world_to_object[1][3] = NAN;
    CHECK(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) ==
          FACET_ERR_INPUT);
    make_scene(&s, 3);
    s.instance[2].blas = 3;
    CHECK(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) ==
          FACET_ERR_LIMIT);
    make_scene(&s, 3);
    s.instance[0].user_data = 1u << 24;
    CHECK(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) ==
          FACET_ERR_LIMIT);
    make_scene(&s, 0);
    CHECK(facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err) == FACET_OK);
    free(image.bytes);
}

/* ---- quality high and oriented boxes ---- */

static struct facet_gfx12_bvh_stats stats_of(const struct facet_gfx12_image *image)
{
    struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_bvh_stats stats = {0};
    struct facet_gfx12_walk walk;

    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    CHECK(facet_gfx12_bvh_stats(&view, &walk, &stats, NULL) == FACET_OK);
    facet_gfx12_walk_free(&walk);
    return stats;
}

/* Each primitive, and at most so many copies. */
static void check_all_there(const struct facet_gfx12_image *image, uint32_t count, uint32_t copies)
{
    struct facet_gfx12_view view = view_of(image);
    uint8_t *seen = calloc(count, 1);
    struct facet_gfx12_walk walk;
    uint32_t total = 0, all = 0;

    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.count; i++) {
        struct facet_gfx12_prim p;

        if (walk.nodes[i].kind != FACET_GFX12_KIND_PRIMITIVE) {
            continue;
        }
        facet_gfx12_prim_decode(image->bytes + facet_gfx12_node_offset(i), &p);
        for (unsigned t = 0; t < 2 * facet_gfx12_prim_pairs(&p.header); t++) {
            uint32_t primitive = facet_gfx12_prim_primitive(&p, t);

            if (t % 2 == 1 && facet_gfx12_tri_absent(&p.pair[t / 2].tri[1])) {
                continue;
            }
            if (CHECK(primitive < count)) {
                total += seen[primitive] == 0;
                all++;
                seen[primitive] = 1;
            }
        }
    }
    CHECK_EQ(total, count);
    CHECK_MSG(all <= count + copies, "%u copies", all - count);
    facet_gfx12_walk_free(&walk);
    free(seen);
}

TEST(fast_and_high_are_smaller_and_high_is_cheaper, "")
{
    struct mesh meshes[] = {mesh_planet(230, 230), mesh_terrain(230)};

    for (int m = 0; m < 2; m++) {
        struct facet_gfx12_build_options high = {.quality = FACET_BVH_HIGH};
        struct facet_gfx12_build_options fast = {.quality = FACET_BVH_FAST}, contract = {0};
        struct facet_gfx12_image a = build(&meshes[m], contract, NULL);
        struct facet_gfx12_image b = build(&meshes[m], high, NULL);
        struct facet_gfx12_image c = build(&meshes[m], fast, NULL);
        struct facet_gfx12_bvh_stats x = stats_of(&a), y = stats_of(&b), z = stats_of(&c);

        check_clean(&b, "high");
        check_clean(&c, "fast");
        check_all_there(&c, meshes[m].count, 0);
        CHECK_MSG((double)z.bytes / (double)z.triangles <= 30.5,
                  "fast: %.1f bytes per triangle",
                  (double)z.bytes / (double)z.triangles);
        check_all_there(&a, meshes[m].count, 0);
        check_all_there(&b, meshes[m].count, meshes[m].count / 50);
        CHECK_MSG((double)y.bytes / (double)y.triangles <= 30.0,
                  "high: %.1f bytes per triangle",
                  (double)y.bytes / (double)y.triangles);
        CHECK_MSG(y.sah < x.sah, "high costs %.2f, contract %.2f", y.sah, x.sah);
        CHECK_MSG(y.sah < z.sah, "high costs %.2f, fast %.2f", y.sah, z.sah);
        free(c.bytes);
        free(a.bytes);
        free(b.bytes);
        mesh_free(&meshes[m]);
    }
}

/* Coordinates from a small grid make many boxes equal, in trees as in ties. */
TEST(high_quality_is_sound_on_nasty_input, "G12-045")
{
    for (uint32_t round = 0; round < 300 && !harness_failed(); round++) {
        struct mesh mesh = mesh_soup(20 + round, round);
        struct facet_gfx12_image image;

        for (uint32_t i = 0; i < mesh.count; i++) {
            for (int c = 0; c < 3; c++) {
                for (int k = 0; k < 3; k++) {
                    mesh.triangles[i].vertex[c][k] = (float)(harness_random() % (2 + round % 6));
                }
            }
            mesh.triangles[i].vertex[1][round % 3] += 20; /* not degenerate */
            mesh.triangles[i].vertex[2][(round + 1) % 3] += 30;
        }
        image = build(&mesh, (struct facet_gfx12_build_options){.quality = FACET_BVH_HIGH}, NULL);
        check_clean(&image, "nasty");
        check_all_there(&image, mesh.count, mesh.count); /* slivers are cut */
        free(image.bytes);
        mesh_free(&mesh);
    }
}

/* Thin sticks along a diagonal: what oriented boxes are for. */
static struct mesh mesh_sticks(uint32_t count)
{
    struct mesh mesh = mesh_soup(count, 77);

    for (uint32_t i = 0; i < count; i++) {
        float(*v)[3] = mesh.triangles[i].vertex;

        for (int k = 0; k < 3; k++) {
            v[1][k] = v[0][k] + (k < 2 ? 3.0f : 0.0f);
            v[2][k] = v[0][k] + (k < 2 ? 3.01f : 0.02f);
        }
    }
    return mesh;
}

TEST(oriented_boxes_are_tighter_and_contain_everything, "G12-192 G12-193")
{
    struct mesh mesh = mesh_sticks(500);

    for (int quality = 0; quality < FACET_BVH_QUALITIES; quality++) {
        struct facet_gfx12_build_options plain = {.quality = quality};
        struct facet_gfx12_build_options obb = {.quality = quality, .obb = true};
        struct facet_gfx12_image a = build(&mesh, plain, NULL), b = build(&mesh, obb, NULL);
        struct facet_gfx12_bvh_stats x = stats_of(&a), y = stats_of(&b);

        check_clean(&b, "oriented");
        check_all_there(&b, mesh.count, quality == FACET_BVH_HIGH ? mesh.count / 2 : 0);
        CHECK_EQ(x.oriented, 0);
        CHECK(y.oriented > y.box_nodes / 2);
        CHECK_EQ(x.bytes, y.bytes);
        CHECK(y.sah < x.sah);
        free(a.bytes);
        free(b.bytes);
    }
    mesh_free(&mesh);
}

/* ---- rays ---- */

static float random_float(void)
{
    return (float)((double)(harness_random() >> 11) * 0x1p-53 * 2 - 1);
}

/* The closest hit of the loop is that of the pair tests of all primitive nodes, one by one. */
static void check_rays(const struct facet_gfx12_image *image,
                       const struct mesh *mesh,
                       unsigned rays,
                       unsigned *hits)
{
    struct facet_gfx12_unit unit;
    struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_walk walk;

    facet_gfx12_unit_init(&unit, image->bytes, image->size);
    unit.resource.box_grow_value = 6;
    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (unsigned r = 0; r < rays && !harness_failed(); r++) {
        struct facet_gfx12_query query;
        struct facet_gfx12_hit hit;
        float best = INFINITY, origin[3], direction[3];

        /* At the neighbourhood of a triangle, some of them axis aligned. */
        const struct facet_bvh_triangle *aim = &mesh->triangles[harness_random() % mesh->count];

        for (int k = 0; k < 3; k++) {
            float target = (aim->vertex[0][k] + aim->vertex[1][k] + aim->vertex[2][k]) / 3;

            origin[k] = 12.0f * random_float();
            direction[k] = target - origin[k] + 1e-5f * random_float();
            if (r % 8 == 0) {
                origin[k] = target - (float)(k == 1) * 9;
                direction[k] = (float)(k == 1);
            }
        }
        facet_gfx12_query_init(&query, origin, direction);
        CHECK(facet_gfx12_trace(&unit, &query, &hit, NULL, NULL) == FACET_OK);
        for (uint32_t i = 0; i < walk.count; i++) {
            if (walk.nodes[i].kind != FACET_GFX12_KIND_PRIMITIVE) {
                continue;
            }
            for (unsigned p = 0; p < 8; p++) {
                struct facet_gfx12_ray ray = {.extent = INFINITY, .instance_mask = 0xFF};
                uint32_t v[10];

                memcpy(ray.origin, origin, sizeof origin);
                memcpy(ray.direction, direction, sizeof direction);
                facet_gfx12_intersect8(
                    &unit,
                    0,
                    facet_gfx12_id_make(facet_gfx12_node_offset(i), facet_gfx12_pair_type(p)),
                    &ray,
                    v);
                for (int t = 0; t < 2; t++) {
                    float dist;

                    memcpy(&dist, &v[4 * t], sizeof dist);
                    best = dist > 0 && dist < best ? dist : best;
                }
                if ((v[8] & 3) == 1 ||
                    p + 1 == (image->bytes[facet_gfx12_node_offset(i) + 3] >> 4 & 7) + 1u) {
                    break;
                }
            }
        }
        CHECK_MSG(hit.found == isfinite(best) && (!hit.found || hit.t == best),
                  "ray %u: t %g, one by one %g",
                  r,
                  hit.found ? (double)hit.t : INFINITY,
                  (double)best);
        *hits += hit.found;
    }
    facet_gfx12_walk_free(&walk);
}

TEST(rays_find_what_testing_every_triangle_finds, "G12-252")
{
    struct mesh meshes[] = {mesh_planet(24, 24), mesh_soup(1500, 12), mesh_sticks(300)};

    for (int m = 0; m < 3; m++) {
        for (int kind = 0; kind < 4; kind++) {
            struct facet_gfx12_build_options options = {
                .quality = kind % 2 == 0 ? FACET_BVH_CONTRACT : FACET_BVH_HIGH, .obb = kind >= 2};
            struct facet_gfx12_image image = build(&meshes[m], options, NULL);
            unsigned hits = 0;

            /* Non-opaque triangles need a callback to count; make all of them opaque. */
            for (uint32_t i = 0; i < meshes[m].count; i++) {
                meshes[m].triangles[i].flags |= FACET_BVH_OPAQUE;
            }
            free(image.bytes);
            image = build(&meshes[m], options, NULL);
            check_rays(&image, &meshes[m], 60, &hits);
            CHECK(hits > 20);
            free(image.bytes);
        }
        mesh_free(&meshes[m]);
    }
}

/* ---- memory ---- */

TEST(no_memory_is_an_error, "")
{
    struct small_scene s;
    unsigned refused = 0;

    make_scene(&s, 10);
    for (int kind = 0; kind < 4; kind++) {
        for (long good = 0;; good++) {
            struct facet_gfx12_build_options options = {
                .quality = kind % 2 == 0 ? FACET_BVH_CONTRACT : FACET_BVH_HIGH, .obb = kind >= 2};
            struct facet_gfx12_build_report report;
            struct facet_gfx12_image image;
            struct facet_error err = {0};
            enum facet_status status;

            failing_alloc_after(good);
            status = facet_gfx12_build(&s.input, &options, NULL, NULL, &image, &report, &err);
            failing_alloc_after(-1);
            if (status == FACET_OK) {
                free(image.bytes);
                break;
            }
            CHECK_EQ(status, FACET_ERR_MEMORY);
            CHECK(image.bytes == NULL);
            refused++;
        }
    }
    CHECK(refused > 50);
}
