/* Scenes in memory: building, checking, sending, generating, writing; no files and no sandbox. */
#include "harness.h"

#include "scene/gltf/glb.h"
#include "scene/make.h"
#include "scene/matrix.h"
#include "scene/reader.h"
#include "scene/shapes.h"
#include "scene/validate.h"
#include "scene/weld.h"
#include "scene/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- matrices ---- */

static double random_unit(void)
{
    return (double)(int64_t)harness_random() * 0x1p-63;
}

TEST(matrix_inverse_undoes, "")
{
    for (unsigned round = 0; round < 200; round++) {
        const double t[3] = {random_unit() * 9, random_unit() * 9, random_unit() * 9};
        const double r[4] = {random_unit(), random_unit(), random_unit(), random_unit()};
        const double s[3] = {0.3 + fabs(random_unit()), -0.4, 2.0};
        struct facet_affine a = facet_affine_trs(t, r, s), inverse, product;

        CHECK(facet_affine_invert(&a, &inverse));
        product = facet_affine_multiply(&a, &inverse);
        for (unsigned i = 0; i < 12; i++) {
            CHECK(fabs(product.m[i] - (i % 5 == 0 ? 1.0 : 0.0)) < 1e-12);
        }
        /* A rotation keeps volume: the determinant is that of the scale. */
        CHECK(fabs(facet_affine_determinant(&a) - s[0] * s[1] * s[2]) < 1e-12);
    }
}

TEST(quaternion_turns_the_right_way, "")
{
    const double none[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    const double quarter_about_y[4] = {0, 1, 0, 1}; /* not of length 1 on purpose */
    const double x[3] = {1, 0, 0};
    struct facet_affine a = facet_affine_trs(none, quarter_about_y, one);
    double out[3];

    facet_affine_vector(&a, x, out);
    CHECK(fabs(out[0]) < 1e-15 && fabs(out[2] + 1.0) < 1e-15); /* +X goes to -Z */
}

TEST(singular_matrices_have_no_inverse, "")
{
    const double t[3] = {1, 2, 3}, r[4] = {0, 0, 0, 1}, flat[3] = {1, 0, 1};
    struct facet_affine a = facet_affine_trs(t, r, flat), out;

    CHECK(!facet_affine_invert(&a, &out));
}

TEST(turns_match_libm, "")
{
    for (unsigned i = 0; i < 2000; i++) {
        double turns = random_unit() * 3, s, c;

        facet_maker_sincos(turns, &s, &c);
        CHECK(fabs(s - sin(turns * 6.283185307179586)) < 4e-15);
        CHECK(fabs(c - cos(turns * 6.283185307179586)) < 4e-15);
    }
    for (int quarter = -8; quarter < 8; quarter++) {
        static const double expected[4] = {0, 1, 0, -1};
        double s, c;

        facet_maker_sincos(quarter * 0.25, &s, &c);
        CHECK(s == expected[quarter & 3] && c == expected[(quarter + 1) & 3]);
    }
}

/* ---- names, welding ---- */

TEST(names_become_printable, "")
{
    char name[FACET_SCENE_NAME_BYTES];
    char longest[300];

    facet_scene_set_name(name, "plain", 5);
    CHECK_STR(name, "plain");
    facet_scene_set_name(name, "a\x1B[31mb\x7F", 8);
    CHECK_STR(name, "a?[31mb?");
    facet_scene_set_name(name, "\xC3\xA9\xE2\x9D\xA4 \xF0\x9F\x8D\x8E", 10);
    CHECK_STR(name, "\xC3\xA9\xE2\x9D\xA4 \xF0\x9F\x8D\x8E");
    facet_scene_set_name(name, "\xC0\x80\xED\xA0\x80\xFF\xC3", 7);
    CHECK_STR(name, "???????");
    memset(longest, 'x', sizeof longest);
    longest[126] = (char)0xC3; /* two bytes that do not both fit */
    longest[127] = (char)0xA9;
    facet_scene_set_name(name, longest, sizeof longest);
    CHECK_EQ(strlen(name), 126);
}

TEST(welding_keeps_every_corner, "")
{
    struct facet_scene_mesh mesh;
    float before[300][5];

    memset(&mesh, 0, sizeof mesh);
    mesh.vertex_count = 300;
    mesh.triangle_count = 100;
    mesh.positions = malloc(300 * 3 * sizeof(float));
    mesh.uv[2] = malloc(300 * 2 * sizeof(float));
    mesh.indices = malloc(300 * sizeof(uint32_t));
    for (uint32_t i = 0; i < 300; i++) {
        mesh.indices[i] = i;
        for (unsigned k = 0; k < 3; k++) {
            mesh.positions[3 * i + k] = (float)(harness_random() % 3);
        }
        mesh.uv[2][2 * i] = (float)(harness_random() % 2) * 0.5F;
        mesh.uv[2][2 * i + 1] = 0.0F;
        memcpy(before[i], mesh.positions + 3 * i, 12);
        memcpy(before[i] + 3, mesh.uv[2] + 2 * i, 8);
    }
    CHECK(facet_scene_weld(&mesh));
    CHECK(mesh.vertex_count <= 54 && mesh.vertex_count > 40);
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t vertex = mesh.indices[i];

        CHECK(vertex < mesh.vertex_count);
        CHECK(memcmp(before[i], mesh.positions + 3 * vertex, 12) == 0);
        CHECK(memcmp(before[i] + 3, mesh.uv[2] + 2 * vertex, 8) == 0);
    }
    facet_scene_mesh_free(&mesh);
}

/* ---- finishing ---- */

TEST(default_camera_sees_every_corner, "")
{
    for (unsigned round = 0; round < 300; round++) {
        struct facet_bounds box;
        struct facet_scene_camera camera;
        float tangent;

        for (unsigned i = 0; i < 3; i++) {
            float a = (float)(random_unit() * 100), b = round % 4 == i ? a : (float)random_unit();

            box.lo[i] = a < b ? a : b;
            box.hi[i] = a < b ? b : a;
        }
        facet_scene_frame(&box, &camera);
        tangent = tanf(camera.y_fov / 2);
        for (unsigned corner = 0; corner < 8; corner++) {
            float view[3] = {0, 0, 0};

            for (unsigned i = 0; i < 3; i++) {
                float at = (corner >> i & 1U) != 0 ? box.hi[i] : box.lo[i];

                for (unsigned k = 0; k < 3; k++) {
                    view[k] += (at - camera.transform[4 * i + 3]) * camera.transform[4 * i + k];
                }
            }
            CHECK(-view[2] > camera.z_near && -view[2] < camera.z_far);
            CHECK(fabsf(view[0]) < -view[2] * tangent && fabsf(view[1]) < -view[2] * tangent);
        }
    }
}

static struct facet_scene made(const char *name, uint32_t size)
{
    struct facet_scene scene;
    struct facet_error err = {FACET_OK, 0, ""};

    CHECK_MSG(facet_scene_make(name, size, &scene, &err) == FACET_OK, "%s: %s", name, err.message);
    return scene;
}

TEST(finish_measures_and_completes, "")
{
    struct facet_scene scene = made("boxes", 1);
    struct facet_error err;

    scene.camera_count = scene.light_count = 0;
    scene.instances[0].transform[0] *= -1.0F;
    CHECK_EQ(facet_scene_finish(&scene, &err), FACET_OK);
    CHECK(scene.instances[0].flipped && !scene.instances[1].flipped);
    CHECK(fabsf(scene.bounds.lo[0] + 1.0F) < 1e-6F && fabsf(scene.bounds.hi[1] - 1.0F) < 1e-6F);
    CHECK(scene.camera_count == 1 && scene.cameras[0].derived);
    CHECK(scene.light_count == 1 && scene.lights[0].kind == FACET_LIGHT_DIRECTIONAL);
    scene.instances[0].transform[3] = 3e38F;
    scene.instances[0].transform[0] = 3e38F;
    CHECK_EQ(facet_scene_finish(&scene, &err), FACET_ERR_INPUT);
    scene.instance_count = 0;
    CHECK_EQ(facet_scene_finish(&scene, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "no triangles") != NULL);
    facet_scene_free(&scene);
}

TEST(validation_names_the_broken_thing, "")
{
    struct facet_scene scene = made("sphere", 8);
    struct facet_error err;
    float old;

    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_OK);
    scene.meshes[0].indices[7] = scene.meshes[0].vertex_count;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "triangle 2 refers to vertex 153, but there are 153") != NULL);
    scene.meshes[0].indices[7] = 0;
    for (unsigned i = 0; i < 60; i++) {
        scene.meshes[0].positions[i] = i % 2 != 0 ? NAN : -INFINITY;
        CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
        CHECK_EQ(err.where, i / 3);
        scene.meshes[0].positions[i] = 0;
    }
    scene.meshes[0].uv[0][5] = NAN;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "texture coordinate of vertex 2") != NULL);
    scene.meshes[0].uv[0][5] = 0;
    old = scene.instances[0].transform[0];
    scene.instances[0].transform[0] = 0;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    scene.instances[0].transform[0] = old;
    scene.materials[0].emissive[1] = INFINITY;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    scene.materials[0].emissive[1] = 0;
    scene.cameras[0].y_fov = 4.0F;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    scene.cameras[0].y_fov = 1.0F;
    scene.lights[0].direction[2] = NAN;
    CHECK_EQ(facet_scene_validate(&scene, &err), FACET_ERR_INPUT);
    facet_scene_free(&scene);
}

/* ---- equality of scenes, bit for bit ---- */

static bool same_floats(const float *a, const float *b, size_t count)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, count * sizeof *a) == 0);
}

static bool same_mesh(const struct facet_scene_mesh *a, const struct facet_scene_mesh *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->vertex_count == b->vertex_count &&
                a->triangle_count == b->triangle_count && a->material == b->material &&
                memcmp(a->indices, b->indices, 12 * (size_t)a->triangle_count) == 0 &&
                same_floats(a->positions, b->positions, 3 * (size_t)a->vertex_count) &&
                same_floats(a->normals, b->normals, 3 * (size_t)a->vertex_count) &&
                same_floats(a->colors, b->colors, 4 * (size_t)a->vertex_count);

    for (unsigned i = 0; i < FACET_SCENE_UV_SETS; i++) {
        same = same && same_floats(a->uv[i], b->uv[i], 2 * (size_t)a->vertex_count);
    }
    return same;
}

static bool same_use(const struct facet_texture_use *a, const struct facet_texture_use *b)
{
    return a->texture == b->texture &&
           (a->texture == FACET_SCENE_NONE ||
            (a->uv_set == b->uv_set && a->wrap_u == b->wrap_u && a->wrap_v == b->wrap_v &&
             a->magnify == b->magnify && a->minify == b->minify && a->mip == b->mip &&
             same_floats(a->matrix, b->matrix, 6)));
}

static bool same_material(const struct facet_scene_material *a,
                          const struct facet_scene_material *b)
{
    return strcmp(a->name, b->name) == 0 && same_floats(a->base_color, b->base_color, 4) &&
           same_floats(a->emissive, b->emissive, 3) && a->metallic == b->metallic &&
           a->roughness == b->roughness && same_use(&a->base_texture, &b->base_texture) &&
           same_use(&a->emissive_texture, &b->emissive_texture) && a->alpha_mode == b->alpha_mode &&
           a->alpha_cutoff == b->alpha_cutoff && a->double_sided == b->double_sided &&
           a->unlit == b->unlit;
}

static bool same_texture(const struct facet_scene_texture *a, const struct facet_scene_texture *b)
{
    return a->width == b->width && a->height == b->height &&
           memcmp(a->rgba, b->rgba, 4 * (size_t)a->width * a->height) == 0;
}

static int by_place(const void *a, const void *b)
{
    const struct facet_scene_instance *p = a, *q = b;

    return p->mesh != q->mesh ? (p->mesh < q->mesh ? -1 : 1)
                              : memcmp(p->transform, q->transform, sizeof p->transform);
}

/* Order of instances is free. */
static bool same_instances(struct facet_scene *a, struct facet_scene *b)
{
    bool same = a->instance_count == b->instance_count;

    qsort(a->instances, a->instance_count, sizeof *a->instances, by_place);
    qsort(b->instances, b->instance_count, sizeof *b->instances, by_place);
    for (uint32_t i = 0; same && i < a->instance_count; i++) {
        same = a->instances[i].mesh == b->instances[i].mesh;
        for (unsigned k = 0; k < 12; k++) { /* not memcmp: -0 and 0 are one place */
            same = same && a->instances[i].transform[k] == b->instances[i].transform[k];
        }
    }
    return same;
}

/* Meshes and materials may be numbered differently: they are found by name. */
static void check_same_scene(struct facet_scene *a, struct facet_scene *b, bool by_order)
{
    CHECK_EQ(a->mesh_count, b->mesh_count);
    CHECK_EQ(a->material_count, b->material_count);
    CHECK_EQ(a->texture_count, b->texture_count);
    CHECK_EQ(a->instance_count, b->instance_count);
    for (uint32_t i = 0; by_order && i < a->mesh_count; i++) {
        CHECK(same_mesh(&a->meshes[i], &b->meshes[i]));
    }
    for (uint32_t i = 0; by_order && i < a->material_count; i++) {
        CHECK(same_material(&a->materials[i], &b->materials[i]));
    }
    for (uint32_t i = 0; by_order && i < a->texture_count; i++) {
        CHECK(same_texture(&a->textures[i], &b->textures[i]));
    }
    CHECK(!by_order || same_instances(a, b));
}

/* ---- the wire ---- */

struct tape {
    uint8_t *data;
    size_t size, capacity, at;
};

static bool tape_put(void *context, const void *bytes, size_t size)
{
    struct tape *t = context;

    if (t->size + size > t->capacity) {
        t->capacity = 2 * (t->size + size);
        t->data = realloc(t->data, t->capacity);
    }
    memcpy(t->data + t->size, bytes, size);
    t->size += size;
    return true;
}

static bool tape_get(void *context, void *bytes, size_t size)
{
    struct tape *t = context;

    if (size > t->size - t->at) {
        return false;
    }
    memcpy(bytes, t->data + t->at, size);
    t->at += size;
    return true;
}

static enum facet_status
read_tape(struct tape *tape, struct facet_scene *scene, struct facet_error *err)
{
    struct facet_wire_in in = {tape_get, tape};

    tape->at = 0;
    return facet_wire_read(&in, scene, err);
}

static struct tape recorded(const struct facet_scene *scene)
{
    struct tape tape = {NULL, 0, 0, 0};
    struct facet_wire_out out = {tape_put, &tape};

    CHECK(facet_wire_write(&out, scene));
    return tape;
}

static enum facet_status leave_out(struct facet_scene *scene, uint32_t count, const char *what)
{
    struct facet_error err;

    return facet_scene_leave_out(scene, FACET_LOSS_LOOK, count, what, "the first", "reason", &err);
}

/* The importer's process is not trusted with the terminal, nor with the ends of texts. */
TEST(wire_cleans_notes, "")
{
    struct facet_scene scene = made("uv", 1), back;
    struct tape tape;
    struct facet_error err;

    CHECK_EQ(leave_out(&scene, 1, "x"), FACET_OK);
    memcpy(scene.left_out[0].what, "a\x1b[31m\nb", 9);
    memset(scene.left_out[0].why, 'w', sizeof scene.left_out[0].why);
    tape = recorded(&scene);
    CHECK_EQ(read_tape(&tape, &back, &err), FACET_OK);
    CHECK_STR(back.left_out[0].what, "a?[31m?b");
    CHECK_EQ(strlen(back.left_out[0].why), sizeof back.left_out[0].why - 1);
    facet_scene_free(&scene);
    facet_scene_free(&back);
    free(tape.data);
}

/* One note per kind; kinds beyond the limit are counted together. */
TEST(notes_are_merged_and_bounded, "")
{
    struct facet_scene scene;
    struct facet_left_out *last;
    char what[40];

    facet_scene_init(&scene);
    CHECK_EQ(leave_out(&scene, 0, "nothing"), FACET_OK);
    CHECK_EQ(scene.left_out_count, 0);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < FACET_SCENE_MAX_LEFT_OUT + 10; i++) {
            (void)snprintf(what, sizeof what, "kind %u", i);
            CHECK_EQ(leave_out(&scene, 3, what), FACET_OK);
        }
    }
    CHECK_EQ(scene.left_out_count, FACET_SCENE_MAX_LEFT_OUT);
    last = &scene.left_out[FACET_SCENE_MAX_LEFT_OUT - 1];
    CHECK_STR(scene.left_out[0].what, "kind 0");
    CHECK_EQ(scene.left_out[0].count, 6);
    CHECK_STR(last->what, "things of other kinds");
    CHECK_STR(last->first, "kind 47");
    CHECK_EQ(last->count, 2 * 11 * 3);
    CHECK_EQ(leave_out(&scene, UINT32_MAX, "kind 0"), FACET_OK);
    CHECK_EQ(scene.left_out[0].count, UINT32_MAX);
    facet_scene_free(&scene);
}

TEST(wire_round_trip, "")
{
    struct facet_scene scene = made("room", 2), back;
    struct tape tape;
    struct facet_error err;

    CHECK_EQ(leave_out(&scene, 7, "things"), FACET_OK);
    scene.meshes[0].colors = calloc(scene.meshes[0].vertex_count, 16);
    tape = recorded(&scene);
    CHECK_EQ(read_tape(&tape, &back, &err), FACET_OK);
    CHECK_EQ(tape.at, tape.size);
    check_same_scene(&scene, &back, true);
    CHECK_EQ(back.left_out_count, 1);
    CHECK(memcmp(back.left_out, scene.left_out, sizeof *back.left_out) == 0);
    CHECK_EQ(back.light_count, scene.light_count);
    CHECK(same_floats(back.cameras[0].transform, scene.cameras[0].transform, 12));
    facet_scene_free(&scene);
    facet_scene_free(&back);
    free(tape.data);
}

TEST(wire_refuses_every_truncation, "")
{
    struct facet_scene scene = made("uv", 1), back;
    struct tape tape = recorded(&scene);
    size_t whole = tape.size;
    struct facet_error err;

    for (size_t size = 0; size < whole; size += size < 256 || size > whole - 256 ? 1 : 61) {
        tape.size = size;
        CHECK(read_tape(&tape, &back, &err) != FACET_OK);
        CHECK(back.mesh_count == 0 && back.meshes == NULL);
    }
    facet_scene_free(&scene);
    free(tape.data);
}

/* A hostile sender: any byte may be anything, and still the result is either refused or safe. */
TEST(wire_survives_any_byte, "")
{
    struct facet_scene scene = made("uv", 1), back;
    struct tape tape = recorded(&scene);
    struct facet_error err;
    unsigned refused = 0;

    for (unsigned round = 0; round < 3000; round++) {
        size_t at = round < 64 ? round : harness_random() % tape.size;
        uint8_t old = tape.data[at];

        tape.data[at] = (uint8_t)harness_random();
        if (read_tape(&tape, &back, &err) != FACET_OK ||
            facet_scene_validate(&back, &err) != FACET_OK ||
            facet_scene_finish(&back, &err) != FACET_OK) {
            refused++;
        }
        facet_scene_free(&back);
        tape.data[at] = old;
    }
    CHECK(refused > 10);
    facet_scene_free(&scene);
    free(tape.data);
}

TEST(wire_checks_counts_before_memory, "")
{
    struct facet_scene scene = made("uv", 1), back;
    struct tape tape = recorded(&scene);
    struct facet_error err;

    for (unsigned word = 1; word < 8; word++) {
        uint32_t old, huge = UINT32_MAX;

        memcpy(&old, tape.data + 4 * word, 4);
        memcpy(tape.data + 4 * word, &huge, 4);
        CHECK_EQ(read_tape(&tape, &back, &err), FACET_ERR_LIMIT);
        memcpy(tape.data + 4 * word, &old, 4);
    }
    facet_scene_free(&scene);
    free(tape.data);
}

/* ---- recipes ---- */

static enum facet_status read_glb(const struct facet_bytes *bytes, struct facet_scene *out)
{
    struct facet_reader reader = {.data = bytes->data, .size = bytes->size};
    struct facet_error err = {FACET_OK, 0, ""};
    enum facet_status status;

    facet_scene_init(out);
    status = facet_gltf_read(&reader, out, &err);
    CHECK_MSG(status == FACET_OK, "%s", err.message);
    return status;
}

static uint32_t small_size(const struct facet_recipe *recipe)
{
    return recipe->size > 24 ? 24 : recipe->size;
}

TEST(every_recipe_survives_its_file, "")
{
    for (const struct facet_recipe *r = facet_recipes; r->name != NULL; r++) {
        struct facet_scene scene = made(r->name, small_size(r)), back;
        struct facet_bytes bytes, again;
        struct facet_error err;

        CHECK_EQ(facet_scene_validate(&scene, &err), FACET_OK);
        CHECK_EQ(facet_scene_write_glb(&scene, &bytes, &err), FACET_OK);
        CHECK_EQ(read_glb(&bytes, &back), FACET_OK);
        /* Reading numbers meshes and materials in the order of the nodes; once more gives the same
         * order, and then everything must agree. */
        check_same_scene(&scene, &back, false);
        CHECK_EQ(facet_scene_write_glb(&back, &again, &err), FACET_OK);
        facet_scene_free(&scene);
        CHECK_EQ(read_glb(&again, &scene), FACET_OK);
        check_same_scene(&scene, &back, true);
        CHECK_EQ(back.camera_count, 1);
        CHECK(back.light_count >= 1);
        facet_scene_free(&scene);
        facet_scene_free(&back);
        free(bytes.data);
        free(again.data);
    }
}

TEST(recipes_give_the_same_bytes_again, "")
{
    struct facet_scene a = made("room", 3), b = made("room", 3);
    struct facet_bytes p, q;

    CHECK_EQ(facet_scene_write_glb(&a, &p, NULL), FACET_OK);
    CHECK_EQ(facet_scene_write_glb(&b, &q, NULL), FACET_OK);
    CHECK(p.size == q.size && memcmp(p.data, q.data, p.size) == 0);
    facet_scene_free(&a);
    facet_scene_free(&b);
    free(p.data);
    free(q.data);
}

TEST(recipes_refuse_bad_sizes, "")
{
    struct facet_scene scene;
    struct facet_error err;

    CHECK_EQ(facet_scene_make("knot", 15, &scene, &err), FACET_ERR_USAGE);
    CHECK_EQ(facet_scene_make("knot", 12001, &scene, &err), FACET_ERR_USAGE);
    CHECK(strstr(err.message, "16..12000") != NULL);
    CHECK_EQ(facet_scene_make("teapot", 0, &scene, &err), FACET_ERR_USAGE);
}

/* Normals of vertices and the order of corners must agree: front faces look outwards. */
TEST(front_faces_agree_with_normals, "")
{
    for (const struct facet_recipe *r = facet_recipes; r->name != NULL; r++) {
        struct facet_scene scene = made(r->name, small_size(r));

        for (uint32_t n = 0; n < scene.mesh_count; n++) {
            const struct facet_scene_mesh *mesh = &scene.meshes[n];

            for (uint32_t t = 0; t < mesh->triangle_count; t++) {
                const uint32_t *corner = mesh->indices + 3 * (size_t)t;
                double edge[2][3], face[3], dot = 0;

                for (unsigned i = 0; i < 3; i++) {
                    double start = (double)mesh->positions[3 * corner[0] + i];

                    edge[0][i] = (double)mesh->positions[3 * corner[1] + i] - start;
                    edge[1][i] = (double)mesh->positions[3 * corner[2] + i] - start;
                }
                facet_scene_cross(edge[0], edge[1], face);
                for (unsigned i = 0; i < 9; i++) {
                    dot += face[i % 3] * (double)mesh->normals[3 * corner[i / 3] + i % 3];
                }
                CHECK_MSG(dot > 0, "%s: mesh %s, triangle %u", r->name, mesh->name, t);
            }
        }
        facet_scene_free(&scene);
    }
}

struct edge {
    float a[3], b[3];
};

static int by_edge(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct edge));
}

/* Closed: every edge, as a pair of positions, is used once in each direction. */
static bool is_closed(const struct facet_scene_mesh *mesh)
{
    size_t count = 3 * (size_t)mesh->triangle_count;
    struct edge *edges = malloc(count * sizeof *edges);
    struct edge *turned = malloc(count * sizeof *turned);
    bool closed;

    for (size_t i = 0; i < count; i++) {
        size_t next = i % 3 == 2 ? i - 2 : i + 1;

        for (unsigned k = 0; k < 3; k++) { /* adding 0 turns -0 into 0 */
            edges[i].a[k] = mesh->positions[3 * mesh->indices[i] + k] + 0.0F;
            edges[i].b[k] = mesh->positions[3 * mesh->indices[next] + k] + 0.0F;
        }
        memcpy(turned[i].a, edges[i].b, 12);
        memcpy(turned[i].b, edges[i].a, 12);
    }
    qsort(edges, count, sizeof *edges, by_edge);
    qsort(turned, count, sizeof *turned, by_edge);
    closed = memcmp(edges, turned, count * sizeof *edges) == 0;
    free(edges);
    free(turned);
    return closed;
}

TEST(knot_sphere_and_solids_are_closed, "")
{
    static const char *const names[] = {"knot", "sphere", "instances"};

    for (unsigned i = 0; i < 3; i++) {
        struct facet_scene scene = made(names[i], i == 0 ? 200 : 16);

        for (uint32_t n = 0; n < scene.mesh_count; n++) {
            CHECK_MSG(is_closed(&scene.meshes[n]), "%s", scene.meshes[n].name);
        }
        facet_scene_free(&scene);
    }
}

TEST(sizes_are_as_promised, "")
{
    struct facet_scene scene = made("terrain", 0);

    CHECK(facet_scene_triangles(&scene) >= 1000000);
    facet_scene_free(&scene);
    scene = made("knot", 64);
    CHECK_EQ(facet_scene_triangles(&scene), 64 * 64 / 4);
    facet_scene_free(&scene);
    scene = made("instances", 0);
    CHECK_EQ(scene.instance_count, 4096);
    facet_scene_free(&scene);
    scene = made("room", 0);
    CHECK(scene.instance_count > 100 && scene.mesh_count < 20 && scene.texture_count == 3);
    CHECK_EQ(facet_scene_finish(&scene, NULL), FACET_OK);
    {
        uint32_t mirrored = 0;

        for (uint32_t i = 0; i < scene.instance_count; i++) {
            mirrored += scene.instances[i].flipped;
        }
        CHECK_EQ(mirrored, 4 * 6);
    }
    facet_scene_free(&scene);
}

/* The texel that a point of the square shows, sampled by hand. */
static const uint8_t *
texel_at(const struct facet_scene *scene, const struct facet_scene_mesh *mesh, float x, float y)
{
    const struct facet_texture_use *use = &scene->materials[mesh->material].base_texture;
    const struct facet_scene_texture *texture = &scene->textures[use->texture];
    float at[2] = {0, 0};

    /* Corners of the square in order: left bottom, right bottom, right top, left top. */
    for (unsigned corner = 0; corner < 4; corner++) {
        float u[2];
        float wx = corner == 1 || corner == 2 ? x : 1 - x, wy = corner >= 2 ? y : 1 - y;

        facet_scene_uv(mesh, use, corner, u);
        at[0] += wx * wy * u[0];
        at[1] += wx * wy * u[1];
    }
    return texture->rgba + 4 * ((size_t)(at[1] * (float)texture->height) * texture->width +
                                (size_t)(at[0] * (float)texture->width));
}

TEST(uv_squares_show_the_right_corners, "")
{
    static const struct {
        float x, y;
        uint8_t rgb[3];
    } expected[4] = {{0.2F, 0.8F, {255, 0, 0}},
                     {0.8F, 0.8F, {0, 255, 0}},
                     {0.2F, 0.2F, {0, 0, 255}},
                     {0.8F, 0.2F, {255, 255, 255}}};
    struct facet_scene made_scene = made("uv", 2), scene;
    struct facet_bytes bytes;

    CHECK_EQ(facet_scene_write_glb(&made_scene, &bytes, NULL), FACET_OK);
    CHECK_EQ(read_glb(&bytes, &scene), FACET_OK);
    CHECK_EQ(scene.mesh_count, 3);
    for (unsigned i = 0; i < 12; i++) {
        const uint8_t *texel =
            texel_at(&scene, &scene.meshes[i / 4], expected[i % 4].x, expected[i % 4].y);

        CHECK_MSG(memcmp(texel, expected[i % 4].rgb, 3) == 0, "square %u corner %u", i / 4, i % 4);
    }
    facet_scene_free(&made_scene);
    facet_scene_free(&scene);
    free(bytes.data);
}

/* Five vertices, no indices; zeros are enough, since only the corners are looked at. */
static void check_corners(unsigned mode, const uint32_t *expected, uint32_t triangles)
{
    char text[600];
    struct facet_reader reader = {.data = (const uint8_t *)text};
    struct facet_scene scene;
    struct facet_error err = {FACET_OK, 0, ""};

    (void)snprintf(text,
                   sizeof text,
                   "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":0}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":%u}]}],"
                   "\"accessors\":[{\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}]}",
                   mode);
    reader.size = strlen(text);
    facet_scene_init(&scene);
    CHECK_MSG(facet_gltf_read(&reader, &scene, &err) == FACET_OK, "%s", err.message);
    if (CHECK(scene.mesh_count == 1 && scene.meshes[0].triangle_count == triangles)) {
        CHECK(memcmp(scene.meshes[0].indices, expected, 12 * (size_t)triangles) == 0);
    }
    facet_scene_free(&scene);
}

/* glTF 2.0, 3.7.2.1: every triangle keeps the winding of the first. */
TEST(strips_and_fans_keep_their_winding, "")
{
    static const uint32_t list[3] = {0, 1, 2};
    static const uint32_t strip[9] = {0, 1, 2, 1, 3, 2, 2, 3, 4};
    static const uint32_t fan[9] = {1, 2, 0, 2, 3, 0, 3, 4, 0};

    check_corners(4, list, 1);
    check_corners(5, strip, 3);
    check_corners(6, fan, 3);
}
