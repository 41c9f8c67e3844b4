/* Dump and encode, comparison, refit, and the conversion of scenes. */
#include "base/failing_alloc.h"
#include "bvh/affine.h"
#include "documents/bvh_images.h"
#include "gfx12/build/build.h"
#include "gfx12/build/refit.h"
#include "gfx12/check/check.h"
#include "gfx12/image/diff.h"
#include "harness.h"
#include "meshes.h"
#include "render/bvh_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct facet_gfx12_view view_of(const struct facet_gfx12_image *image)
{
    return (struct facet_gfx12_view){
        .bytes = image->bytes, .size = image->size, .root = FACET_GFX12_ROOT};
}

/* ---- a scene with two meshes, boxes and instances ---- */

struct scene {
    struct mesh mesh[2];
    struct facet_bvh_aabb aabb[3];
    struct facet_bvh_blas_input blas[3];
    struct facet_bvh_instance instance[12];
    struct facet_bvh_scene_input input;
};

static void scene_make(struct scene *s)
{
    memset(s, 0, sizeof *s);
    s->mesh[0] = mesh_planet(10, 14);
    s->mesh[1] = mesh_soup(300, 4);
    for (uint32_t i = 0; i < 3; i++) {
        s->aabb[i] =
            (struct facet_bvh_aabb){{(float)i, 0, 0}, {(float)i + 2, 1, 1}, i, 10 + i, i & 1};
    }
    for (int i = 0; i < 2; i++) {
        s->blas[i].triangles = s->mesh[i].triangles;
        s->blas[i].triangle_count = s->mesh[i].count;
    }
    s->blas[2].aabbs = s->aabb;
    s->blas[2].aabb_count = 3;
    for (uint32_t i = 0; i < 12; i++) {
        struct facet_bvh_instance *in = &s->instance[i];

        for (int k = 0; k < 3; k++) {
            in->world_to_object[k][k] = 1.0f + 0.25f * (float)(i % 3);
            in->world_to_object[k][3] = (float)((int)(i * 7 % 12) - 6 * k);
        }
        in->world_to_object[0][2] = 0.125f * (float)i;
        in->blas = i % 3;
        in->user_data = i;
        in->mask = (uint8_t)(0x11 << i % 4);
    }
    s->input = (struct facet_bvh_scene_input){s->blas, 3, s->instance, 12};
}

static void scene_free(struct scene *s)
{
    mesh_free(&s->mesh[0]);
    mesh_free(&s->mesh[1]);
}

static struct facet_gfx12_image scene_build(const struct scene *s,
                                            struct facet_gfx12_build_options o)
{
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_build(&s->input, &o, NULL, NULL, &image, &report, &err) == FACET_OK,
              "%s",
              err.message);
    return image;
}

static uint64_t errors_in(const struct facet_gfx12_view *view)
{
    struct facet_gfx12_check_options options = {0};
    struct facet_gfx12_check check;
    uint64_t errors;

    CHECK(facet_gfx12_check(view, &options, &check, NULL) == FACET_OK);
    errors = check.total[FACET_GFX12_ERROR];
    if (errors != 0) {
        CHECK_MSG(false,
                  "0x%llx %s",
                  (unsigned long long)check.findings[0].offset,
                  check.findings[0].text);
    }
    facet_gfx12_check_free(&check);
    return errors;
}

/* ---- dump and encode ---- */

static void dump_json(const struct facet_gfx12_view *view, struct facet_strbuf *out)
{
    struct facet_gfx12_walk walk;

    facet_strbuf_init(out);
    CHECK(facet_gfx12_walk(view, &walk, NULL) == FACET_OK);
    facet_gfx12_json_head(view, false, out);
    for (uint32_t i = 0; i < walk.count; i += facet_gfx12_walk_block(view, &walk, i)) {
        facet_strbuf_puts(out, i != 0 ? ",\n" : "");
        facet_gfx12_json_node(view, &walk, i, out);
    }
    facet_gfx12_json_tail(view, out);
    facet_gfx12_walk_free(&walk);
}

static void check_round_trip(const struct facet_gfx12_view *view, const char *what)
{
    struct facet_gfx12_image back;
    struct facet_strbuf text;
    struct facet_error err = {0};

    dump_json(view, &text);
    if (CHECK_MSG(facet_doc_gfx12_json_read(
                      what, facet_strbuf_text(&text), text.length, &back, &err) == FACET_OK,
                  "%s: %s",
                  what,
                  err.message)) {
        CHECK_EQ(back.size, view->size);
        CHECK_MSG(back.size == view->size && memcmp(back.bytes, view->bytes, view->size) == 0,
                  "%s: other bytes",
                  what);
        free(back.bytes);
    }
    facet_strbuf_free(&text);
}

TEST(json_gives_back_the_same_bytes, "G12-003")
{
    struct scene s;

    scene_make(&s);
    for (int kind = 0; kind < 4; kind++) {
        struct facet_gfx12_image image =
            scene_build(&s,
                        (struct facet_gfx12_build_options){
                            .quality = (kind & 1) == 0 ? FACET_BVH_CONTRACT : FACET_BVH_HIGH,
                            .obb = kind >> 1});
        struct facet_gfx12_view view = view_of(&image);

        check_round_trip(&view, "scene");
        free(image.bytes);
    }
    scene_free(&s);
}

TEST(json_gives_back_any_bytes, "")
{
    for (int round = 0; round < 400; round++) {
        size_t size = (size_t)(harness_random() % 900);
        uint8_t *bytes = malloc(size + 1);
        struct facet_gfx12_view view = {
            .bytes = bytes, .size = size, .base = 0x1000, .root = FACET_GFX12_ROOT};

        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)harness_random();
        }
        for (size_t at = 0; at + 128 <= size; at += 128) { /* offsets that stay inside */
            memset(bytes + at, 0, 8);
            bytes[at] = (uint8_t)(16 * (harness_random() % 7));
            bytes[at + 4] = (uint8_t)(16 * (harness_random() % 7));
        }
        view.root = (uint32_t)(harness_random() % 16 == 0 ? 0 : 5);
        check_round_trip(&view, "random");
        free(bytes);
    }
}

/* Replaces the first `from` in a dump of the cube and expects a complaint with these words. */
static void check_refused(const char *from, const char *to, const char *words)
{
    struct facet_bvh_triangle cube[12];
    struct facet_bvh_blas_input blas = {.triangles = cube, .triangle_count = 12};
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image, back;
    struct facet_gfx12_view view;
    struct facet_strbuf text, bad;
    struct facet_error err = {0};
    const char *at;

    mesh_cube(cube);
    CHECK(facet_gfx12_build_blas(&blas, &options, NULL, NULL, &image, &report, NULL) == FACET_OK);
    view = view_of(&image);
    dump_json(&view, &text);
    at = strstr(facet_strbuf_text(&text), from);
    facet_strbuf_init(&bad);
    if (CHECK_MSG(at != NULL, "%s is not in the dump", from)) {
        facet_strbuf_add(&bad, text.text, (size_t)(at - text.text));
        facet_strbuf_puts(&bad, to);
        facet_strbuf_puts(&bad, at + strlen(from));
        CHECK_MSG(facet_doc_gfx12_json_read(
                      "x.json", facet_strbuf_text(&bad), bad.length, &back, &err) != FACET_OK,
                  "%s: accepted",
                  to);
        CHECK_MSG(strstr(err.message, words) != NULL, "%s: %s", to, err.message);
        CHECK(back.bytes == NULL);
        CHECK_EQ(
            facet_doc_gfx12_json_read("x.json", facet_strbuf_text(&bad), bad.length, &back, NULL),
            err.status);
    }
    facet_strbuf_free(&text);
    facet_strbuf_free(&bad);
    free(image.bytes);
}

TEST(bad_json_is_refused, "")
{
    check_refused("facet-gfx12", "facet-gfx11", "expected facet-gfx12");
    check_refused("\"nodes\"", "\"knots\"", "nodes");
    check_refused("\"kind\":\"box\"", "\"kind\":\"bix\"", "bix");
    check_refused("\"offset\":\"0x80\"", "\"offset\":\"0x0\"", "line 3");
    check_refused("\"offset\":\"0x80\"", "\"offset\":\"0x8000\"", "line 3");
    check_refused("\"offset\":\"0x80\"", "\"offset\":\"0x81\"", "line 3");
    check_refused("\"min_x\":0", "\"min_x\":4096", "min_x");
    check_refused("\"min_x\":0", "\"min_y\":0", "");
    check_refused("\"cull_mask\":255", "\"cull_mask\":true", "cull_mask");
    check_refused("\"size\":256", "\"size\":384", "0x100");
    check_refused("\"size\":256", "\"size\":128", "line 3");
    check_refused("\"tail\":\"\"", "\"tail\":\"00\"", "tail");
    check_refused("\"pairs\":[", "\"pairs\":[7,", "pairs");
    check_refused("\"prefix\":[", "\"prefix\":[1,2,", "prefix");
    check_refused("\n],", "\n", "");
    check_refused("{\"format\"", "[\"format\"", "x.json:1");
    check_refused("\"fields\":{", "\"fields\":3,\"x\":{", "nodes[0].fields: expected an object");
}

/* The member is named by its path. */
TEST(unknown_json_members_are_refused, "")
{
    check_refused("\"version\":1", "\"version\":1,\"colour\":1", "x.json: colour: unknown member");
    check_refused("\"kind\":\"box\"",
                  "\"kind\":\"box\",\"payload\":[]",
                  "line 2: nodes[0].payload: unknown member");
    check_refused("\"fields\":{", "\"fields\":{\"w\":0,", "nodes[0].fields.w: unknown member");
    check_refused(
        "{\"min_x\"", "{\"min_w\":0,\"min_x\"", "nodes[0].children[0].min_w: unknown member");
    check_refused("\"kind\":\"primitive\"",
                  "\"kind\":\"primitive\",\"data\":\"\"",
                  "nodes[1].data: unknown member");
    check_refused("\"pairs\":[{", "\"pairs\":[{\"x\":1,", "nodes[1].pairs[0].x: unknown member");
    check_refused("\"version\":1", "\"version\":1,\"a\\u001bb\":1", "a\\u001bb: unknown member");
}

/* Numbers fit the widths that the node's own header gives. */
TEST(json_numbers_out_of_range_are_refused, "")
{
    check_refused("\"min_x\":0",
                  "\"min_x\":4096",
                  "nodes[0].children[0].min_x: expected a number in "
                  "0..4095");
    check_refused("\"root\":\"0x5\"", "\"root\":\"0x100000000\"", "root: expected a number");
    check_refused("\"base\":\"0x0\"", "\"base\":\"0x1000000000000\"", "base: expected a number");
    check_refused(
        "\"geometry_base\":0", "\"geometry_base\":1", "geometry_base: expected a number in 0..0");
    check_refused("\"geometry_payload\":[\"0x0\"",
                  "\"geometry_payload\":[\"0x1\"",
                  "nodes[1].geometry_payload[0]: expected a number in 0..0");
    check_refused("\"geometry_payload\":[",
                  "\"geometry_payload\":[0,",
                  "geometry_payload: expected a list of");
    check_refused(
        "\"primitive_base\":", "\"primitive_base\":9", "primitive_base: expected a number in");
    check_refused("\"primitive_payload\":[\"0x",
                  "\"primitive_payload\":[\"0x7",
                  "primitive_payload[0]: expected");
    check_refused(
        "\"payload\":[", "\"payload\":[0,", "payload: expected a list of up to 48 elements");
    check_refused(
        "\"payload\":[\"0x", "\"payload\":[\"0x9", "nodes[1].payload[0]: expected a number in");
    check_refused(
        "\"prefix\":[\"0x", "\"prefix\":[\"0xffffff", "nodes[1].prefix[0]: expected a number");
    check_refused(
        "\"free_bits\":[", "\"free_bits\":[0,", "free_bits: expected a list of 32 elements");
    check_refused("\"free_bits\":[", "\"free_bits\":[\"0x1ffffffff\",", "free_bits");
}

TEST(a_listing_names_every_node, "")
{
    struct scene s;
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    struct facet_gfx12_walk walk;
    struct facet_strbuf text;

    scene_make(&s);
    image = scene_build(&s, (struct facet_gfx12_build_options){0});
    view = view_of(&image);
    CHECK(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    for (uint32_t i = 0; i < walk.count; i += facet_gfx12_walk_block(&view, &walk, i)) {
        char offset[24];

        facet_strbuf_init(&text);
        facet_gfx12_listing(&view, &walk, i, &text);
        snprintf(offset, sizeof offset, "0x%08x  ", 64 * i);
        CHECK(strncmp(facet_strbuf_text(&text), offset, strlen(offset)) == 0);
        CHECK(strstr(facet_strbuf_text(&text), facet_gfx12_kind_name(walk.nodes[i].kind)) != NULL);
        facet_strbuf_free(&text);
    }
    facet_gfx12_walk_free(&walk);
    free(image.bytes);
    scene_free(&s);
}

/* ---- comparison ---- */

struct collected {
    unsigned count;
    struct facet_gfx12_difference last;
};

static bool collect(void *context, const struct facet_gfx12_difference *difference)
{
    struct collected *c = context;

    c->count++;
    c->last = *difference;
    return true;
}

static struct collected compare(const struct facet_gfx12_view *a, const struct facet_gfx12_view *b)
{
    struct collected c = {0};
    uint64_t count;

    CHECK(facet_gfx12_diff(a, b, collect, &c, &count, NULL) == FACET_OK);
    CHECK_EQ(count, c.count);
    return c;
}

TEST(a_changed_field_is_named, "")
{
    struct scene s;
    struct facet_gfx12_image image;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_view a, b;
    uint8_t *other;

    scene_make(&s);
    image = scene_build(&s, (struct facet_gfx12_build_options){0});
    other = malloc(image.size);
    a = b = view_of(&image);
    b.bytes = other;
    memcpy(other, image.bytes, image.size);
    CHECK_EQ(compare(&a, &b).count, 0);
    CHECK(facet_gfx12_walk(&a, &walk, NULL) == FACET_OK);
    for (uint32_t n = 0; n < walk.count; n += facet_gfx12_walk_block(&a, &walk, n)) {
        struct collected c;
        const char *field;

        if (walk.nodes[n].kind == FACET_GFX12_KIND_BOX) {
            struct facet_gfx12_box box;

            facet_gfx12_box_decode(image.bytes + facet_gfx12_node_offset(n), &box);
            box.child[0].cull_flags ^= 2;
            facet_gfx12_box_encode(&box, other + facet_gfx12_node_offset(n));
            field = "child 0 cull_flags";
        } else if (walk.nodes[n].kind == FACET_GFX12_KIND_INSTANCE) {
            other[facet_gfx12_node_offset(n) + 60] ^= 1;
            field = "user_data";
        } else {
            struct facet_gfx12_prim p;

            facet_gfx12_prim_decode(image.bytes + facet_gfx12_node_offset(n), &p);
            p.pair[0].tri[0].double_sided ^= 1;
            facet_gfx12_prim_encode(&p, other + facet_gfx12_node_offset(n));
            field = "pair 0 tri0_double_sided";
        }
        c = compare(&a, &b);
        CHECK_EQ(c.count, 1);
        CHECK_STR(c.last.field, field);
        CHECK_EQ(c.last.node_a, n);
        memcpy(other + facet_gfx12_node_offset(n), image.bytes + facet_gfx12_node_offset(n), 128);
    }
    b.size -= 128;
    CHECK(compare(&a, &b).count > 0);
    b.size = 0;
    CHECK_EQ(compare(&a, &b).count, 1);
    facet_gfx12_walk_free(&walk);
    free(other);
    free(image.bytes);
    scene_free(&s);
}

TEST(moved_nodes_differ_in_their_offsets_alone, "")
{
    struct facet_bvh_triangle cube[12];
    struct facet_bvh_blas_input blas = {.triangles = cube, .triangle_count = 12};
    struct facet_gfx12_build_options options = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_gfx12_view a, b;
    struct facet_gfx12_box box;
    uint8_t moved[384];
    struct collected c;

    mesh_cube(cube);
    CHECK(facet_gfx12_build_blas(&blas, &options, NULL, NULL, &image, &report, NULL) == FACET_OK);
    memset(moved, 0, sizeof moved);
    memcpy(moved, image.bytes, 128);
    memcpy(moved + 256, image.bytes + 128, 128);
    facet_gfx12_box_decode(moved, &box);
    box.primitive_child_offset = 32;
    facet_gfx12_box_encode(&box, moved);
    a = view_of(&image);
    b = (struct facet_gfx12_view){.bytes = moved, .size = sizeof moved, .root = FACET_GFX12_ROOT};
    c = compare(&a, &b);
    CHECK_EQ(c.count, 2);
    CHECK_STR(c.last.field, "size");
    free(image.bytes);
}

/* ---- refit ---- */

static struct facet_gfx12_image refit(const struct facet_gfx12_image *image, const struct scene *s)
{
    struct facet_gfx12_view view = view_of(image);
    struct facet_gfx12_image out = {malloc(image->size), image->size};
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_refit(&view, &s->input, NULL, NULL, out.bytes, &err) == FACET_OK,
              "%s",
              err.message);
    return out;
}

TEST(refit_to_the_same_scene_changes_nothing, "G12-253")
{
    struct scene s;

    scene_make(&s);
    for (int quality = 0; quality < FACET_BVH_QUALITIES; quality++) {
        struct facet_gfx12_image image =
            scene_build(&s, (struct facet_gfx12_build_options){.quality = quality});
        struct facet_gfx12_image same = refit(&image, &s);

        CHECK_EQ(same.size, image.size);
        CHECK(memcmp(same.bytes, image.bytes, image.size) == 0);
        free(same.bytes);
        free(image.bytes);
    }
    scene_free(&s);
}

/* In place and elsewhere; what did not move keeps its boxes, those that were cut or turned too. */
TEST(refit_in_place_leaves_unmoved_levels_alone, "G12-253")
{
    struct scene s;

    scene_make(&s);
    for (int kind = 0; kind < 4; kind++) {
        struct facet_gfx12_image image = scene_build(
            &s,
            (struct facet_gfx12_build_options){
                .quality = (kind & 1) == 0 ? FACET_BVH_FAST : FACET_BVH_HIGH, .obb = kind >> 1});
        struct facet_gfx12_image before = {malloc(image.size), image.size}, aside;
        struct facet_gfx12_view view = view_of(&image);

        memcpy(before.bytes, image.bytes, image.size);
        CHECK(facet_gfx12_refit(&view, &s.input, NULL, NULL, image.bytes, NULL) == FACET_OK);
        CHECK(memcmp(image.bytes, before.bytes, image.size) == 0);
        for (int c = 0; c < 3; c++) {
            s.mesh[1].triangles[7].vertex[c][1] *= -1.0f;
        }
        aside = refit(&before, &s);
        CHECK(facet_gfx12_refit(&view, &s.input, NULL, NULL, image.bytes, NULL) == FACET_OK);
        CHECK(memcmp(image.bytes, before.bytes, image.size) != 0);
        CHECK(memcmp(image.bytes, aside.bytes, image.size) == 0);
        CHECK_EQ(errors_in(&view), 0);
        free(aside.bytes);
        free(before.bytes);
        free(image.bytes);
    }
    scene_free(&s);
}

TEST(refit_contains_moved_geometry, "G12-045")
{
    struct scene s;

    scene_make(&s);
    for (int kind = 0; kind < 4; kind++) {
        struct facet_gfx12_image image =
            scene_build(&s,
                        (struct facet_gfx12_build_options){
                            .quality = (kind & 1) == 0 ? FACET_BVH_CONTRACT : FACET_BVH_HIGH,
                            .obb = kind >> 1});
        struct facet_gfx12_image moved;
        struct facet_gfx12_view view;

        /* Mirrored vertices need as many bits as before. */
        for (int m = 0; m < 2; m++) {
            for (uint32_t i = 0; i < s.mesh[m].count; i++) {
                for (int c = 0; c < 3; c++) {
                    s.mesh[m].triangles[i].vertex[c][kind % 3] *= -1.0f;
                }
            }
        }
        s.aabb[1].max[2] += 5;
        s.instance[3].world_to_object[1][3] += 2.5f;
        s.instance[4].mask = 0x80;
        moved = refit(&image, &s);
        view = view_of(&moved);
        CHECK_EQ(errors_in(&view), 0);
        CHECK(memcmp(moved.bytes, image.bytes, image.size) != 0);
        free(moved.bytes);
        free(image.bytes);
    }
    scene_free(&s);
}

static void check_no_refit(const struct facet_gfx12_image *image,
                           const struct scene *s,
                           enum facet_status expected,
                           const char *words)
{
    struct facet_gfx12_view view = view_of(image);
    uint8_t *out = malloc(image->size);
    struct facet_error err = {0};

    CHECK_EQ(facet_gfx12_refit(&view, &s->input, NULL, NULL, out, &err), expected);
    CHECK_MSG(strstr(err.message, words) != NULL, "%s", err.message);
    free(out);
}

TEST(refit_refuses_another_scene, "")
{
    struct scene s;
    struct facet_gfx12_image image;

    scene_make(&s);
    image = scene_build(&s, (struct facet_gfx12_build_options){0});
    s.input.instance_count = 11;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "instance");
    s.input.instance_count = 12;
    s.input.blas_count = 2;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "BLAS");
    s.input.blas_count = 3;
    s.blas[0].triangle_count--;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "triangle");
    s.blas[0].triangle_count++;
    s.instance[0].blas = 1;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "another mesh");
    s.instance[0].blas = 0;
    s.aabb[2].primitive = 99;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "box");
    s.aabb[2].primitive = 12;
    s.mesh[1].triangles[17].vertex[1][1] = NAN;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "finite");
    image.bytes[0] ^= 0xF0;
    check_no_refit(&image, &s, FACET_ERR_INPUT, "malformed");
    free(image.bytes);
    scene_free(&s);
}

TEST(refit_says_when_vertices_no_longer_fit, "G12-254")
{
    struct mesh mesh = mesh_terrain(8);
    struct scene s = {.input = {NULL, 1, NULL, 0}};
    struct facet_bvh_blas_input blas = {.triangles = mesh.triangles, .triangle_count = mesh.count};
    struct facet_gfx12_build_options options = {.quality = FACET_BVH_HIGH};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;

    for (uint32_t i = 0; i < mesh.count; i++) { /* integers pack tightly */
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                mesh.triangles[i].vertex[c][k] = roundf(mesh.triangles[i].vertex[c][k] * 8);
            }
        }
    }
    s.input.blas = &blas;
    CHECK(facet_gfx12_build_blas(&blas, &options, NULL, NULL, &image, &report, NULL) == FACET_OK);
    for (uint32_t i = 0; i < mesh.count; i++) { /* every corner somewhere else */
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                mesh.triangles[i].vertex[c][k] += 0.37f * (float)sin(i * 9.0 + c * 3.0 + k);
            }
        }
    }
    check_no_refit(&image, &s, FACET_ERR_LIMIT, "a new image");
    free(image.bytes);
    mesh_free(&mesh);
}

/* ---- scenes ---- */

TEST(a_scene_becomes_builder_input, "")
{
    struct facet_scene scene;
    struct facet_scene_mesh mesh = {0}, hidden;
    struct facet_scene_material material;
    struct facet_scene_instance instance = {.transform = {2, 0, 0, 5, 0, 2, 0, 6, 0, 0, -2, 7}};
    struct facet_bvh_aabb box = {{0, 0, 0}, {1, 1, 1}, 0, 0, 0};
    struct facet_render_bvh_input input;
    struct facet_error err = {0};

    facet_scene_init(&scene);
    facet_scene_material_default(&material);
    material.double_sided = true;
    material.alpha_mode = FACET_ALPHA_MASK;
    CHECK(facet_scene_add_material(&scene, &material, NULL, &err) == FACET_OK);
    for (int i = 0; i < 2; i++) {
        static const float positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
        static const uint32_t indices[6] = {0, 1, 2, 2, 1, 3};

        mesh = (struct facet_scene_mesh){.vertex_count = 4, .triangle_count = 2};
        mesh.positions = malloc(sizeof positions);
        mesh.indices = malloc(sizeof indices);
        memcpy(mesh.positions, positions, sizeof positions);
        memcpy(mesh.indices, indices, sizeof indices);
        hidden = mesh;
        CHECK(facet_scene_add_mesh(&scene, &hidden, NULL, &err) == FACET_OK);
    }
    instance.mesh = 1; /* mesh 0 is not shown */
    CHECK(facet_scene_add_instance(&scene, &instance, &err) == FACET_OK);
    memset(instance.transform, 0, sizeof instance.transform); /* flattened to a point */
    CHECK(facet_scene_add_instance(&scene, &instance, &err) == FACET_OK);
    CHECK(facet_scene_finish(&scene, &err) == FACET_OK);
    CHECK(facet_render_bvh_input_make(&scene, &box, 1, NULL, true, &input, &err) == FACET_OK);
    CHECK_EQ(input.scene.blas_count, 2);
    CHECK_EQ(input.scene.instance_count, 2);
    CHECK_EQ(input.flat_instances, 1);
    CHECK_EQ(input.blas_mesh[0], 1);
    CHECK_EQ(input.blas_mesh[1], FACET_SCENE_NONE);
    CHECK_EQ(input.blas[0].triangle_count, 2);
    CHECK_EQ(input.blas[0].triangles[1].primitive, 1);
    CHECK_EQ(input.blas[0].triangles[1].flags, FACET_BVH_DOUBLE_SIDED);
    CHECK(input.blas[0].triangles[1].vertex[2][0] == 1 &&
          input.blas[0].triangles[1].vertex[0][1] == 1);
    CHECK(input.instances[0].world_to_object[0][0] == 0.5f);
    CHECK(input.instances[0].world_to_object[0][3] == -2.5f);
    CHECK(input.instances[0].world_to_object[2][3] == 3.5f);
    CHECK_EQ(input.instances[0].flags, 0); /* mirrored: front stays front in object space */
    CHECK_EQ(input.instances[1].blas, 1);
    CHECK_EQ(input.instances[1].user_data, 2);
    facet_render_bvh_input_free(&input);
    facet_scene_free(&scene);
}

/* ---- memory ---- */

TEST(no_memory_is_an_error, "")
{
    struct scene s;
    struct facet_gfx12_image image;
    struct facet_gfx12_view view;
    struct facet_strbuf text;
    unsigned refused = 0;

    scene_make(&s);
    image = scene_build(&s, (struct facet_gfx12_build_options){0});
    view = view_of(&image);
    dump_json(&view, &text);
    for (int job = 0; job < 2; job++) {
        for (long good = 0;; good++) {
            struct collected c = {0};
            uint64_t count;
            enum facet_status status;

            failing_alloc_after(good);
            status = job == 0 ? facet_gfx12_refit(&view, &s.input, NULL, NULL, image.bytes, NULL)
                              : facet_gfx12_diff(&view, &view, collect, &c, &count, NULL);
            failing_alloc_after(-1);
            if (status == FACET_OK) {
                break;
            }
            CHECK_EQ(status, FACET_ERR_MEMORY);
            refused++;
        }
    }
    CHECK(refused > 10);
    facet_strbuf_free(&text);
    free(image.bytes);
    scene_free(&s);
}

/* Exchanged axes: one product of the determinant is not 0, another for each of the six. */
TEST(exchanged_axes_have_an_inverse, "")
{
    static const uint8_t axes[6][3] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (int i = 0; i < 6; i++) {
        float m[12] = {0}, out[3][4];

        for (size_t r = 0; r < 3; r++) {
            m[4 * r + axes[i][r]] = 2;
        }
        if (CHECK(facet_bvh_affine_invert(m, out))) {
            for (size_t r = 0; r < 3; r++) {
                for (size_t c = 0; c < 3; c++) {
                    CHECK(out[r][c] == (axes[i][c] == r ? 0.5f : 0.0f));
                }
                CHECK(out[r][3] == 0);
            }
        }
    }
}
