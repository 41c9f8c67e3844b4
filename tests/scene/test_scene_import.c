/* Importing files: every format, through the sandbox, against the scene they were made from;
 * files beside the scene; limits. */
#include "harness.h"

#include "base/file.h"
#include "base/side_file.h"
#include "image/image.h"
#include "scene/gltf/glb.h"
#include "scene/import.h"
#include "scene/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static char folder[] = "/tmp/facet_scene_XXXXXX";

/* The time limit of a command is for users who wait; no test depends on how busy the machine is. */
static const struct facet_import_options patient = {.cpu_seconds = 600};

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static unsigned turn;
    static bool made;

    if (!made) {
        made = mkdtemp(folder) != NULL;
    }
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_file(const char *name, const void *data, size_t size)
{
    CHECK_EQ(facet_file_write(in_folder(name), data, size, NULL), FACET_OK);
}

static void put_text(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

static bool import(const char *name, struct facet_scene *scene)
{
    struct facet_error err = {FACET_OK, 0, ""};
    enum facet_status status = facet_scene_import(in_folder(name), &patient, scene, &err);

    CHECK_MSG(status == FACET_OK, "%s", err.message);
    return status == FACET_OK;
}

static void check_refused(const char *name, const char *expected)
{
    struct facet_scene scene;
    struct facet_error err = {FACET_OK, 0, ""};
    enum facet_status status = facet_scene_import(in_folder(name), &patient, &scene, &err);

    CHECK_MSG(status != FACET_OK && strstr(err.message, expected) != NULL,
              "expected \"%s\", got %s: %s",
              expected,
              facet_status_name(status),
              err.message);
    CHECK(strstr(err.message, name) != NULL);
    facet_scene_free(&scene);
}

static void put_recipe(const char *name, const char *recipe, uint32_t size, struct facet_scene *out)
{
    struct facet_bytes bytes;

    CHECK_EQ(facet_scene_make(recipe, size, out, NULL), FACET_OK);
    CHECK_EQ(facet_scene_write_glb(out, &bytes, NULL), FACET_OK);
    put_file(name, bytes.data, bytes.size);
    free(bytes.data);
}

/* Sum over all placed triangles of corners weighted by their number in the triangle: changes with
 * any vertex, index, winding or matrix, but not with numbering. */
struct fingerprint {
    uint64_t triangles;
    double sum[3], area;
};

static void place(const float m[12], const float *p, double out[3])
{
    for (unsigned i = 0; i < 3; i++) {
        out[i] = (double)m[4 * i] * (double)p[0] + (double)m[4 * i + 1] * (double)p[1] +
                 (double)m[4 * i + 2] * (double)p[2] + (double)m[4 * i + 3];
    }
}

static struct fingerprint fingerprint(const struct facet_scene *scene)
{
    struct fingerprint f = {0, {0, 0, 0}, 0};

    for (uint32_t n = 0; n < scene->instance_count; n++) {
        const struct facet_scene_instance *instance = &scene->instances[n];
        const struct facet_scene_mesh *mesh = &scene->meshes[instance->mesh];

        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            double p[3][3], cross[3];

            for (unsigned k = 0; k < 3; k++) {
                place(instance->transform,
                      mesh->positions + 3 * (size_t)mesh->indices[3 * (size_t)t + k],
                      p[k]);
            }
            for (unsigned i = 0; i < 3; i++) {
                unsigned a = (i + 1) % 3, b = (i + 2) % 3;

                cross[i] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) -
                           (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
                f.sum[i] += (p[0][i] + p[1][i] + p[2][i]) * (1.0 + cross[i]);
            }
            f.area += sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
            f.triangles++;
        }
    }
    return f;
}

static void check_near(const struct fingerprint *a, const struct fingerprint *b, double tolerance)
{
    CHECK_EQ(a->triangles, b->triangles);
    CHECK_MSG(fabs(a->area - b->area) <= tolerance * (1 + a->area), "area %g %g", a->area, b->area);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_MSG(fabs(a->sum[i] - b->sum[i]) <= tolerance * (1 + fabs(a->area)),
                  "sum %u: %.9g and %.9g",
                  i,
                  a->sum[i],
                  b->sum[i]);
    }
}

TEST(every_recipe_is_imported_as_made, "")
{
    for (const struct facet_recipe *r = facet_recipes; r->name != NULL; r++) {
        struct facet_scene made, back;
        struct fingerprint a, b;

        put_recipe("recipe.glb", r->name, r->size > 24 ? 24 : r->size, &made);
        if (import("recipe.glb", &back)) {
            a = fingerprint(&made);
            b = fingerprint(&back);
            check_near(&a, &b, 1e-9); /* only the order of the sum differs */
            CHECK_EQ(made.instance_count, back.instance_count);
            CHECK(!back.cameras[0].derived && !back.lights[0].derived);
        }
        facet_scene_free(&made);
        facet_scene_free(&back);
    }
}

/* ---- OBJ, PLY, STL written here from a generated mesh ---- */

static void write_obj(const struct facet_scene_mesh *m, FILE *out)
{
    fprintf(out, "# test\nmtllib test.mtl\nusemtl paint\n");
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        fprintf(out,
                "v %.9g %.9g %.9g\nvt %.9g %.9g\nvn %.9g %.9g %.9g\n",
                (double)m->positions[3 * i],
                (double)m->positions[3 * i + 1],
                (double)m->positions[3 * i + 2],
                (double)m->uv[0][2 * i],
                1.0 - (double)m->uv[0][2 * i + 1],
                (double)m->normals[3 * i],
                (double)m->normals[3 * i + 1],
                (double)m->normals[3 * i + 2]);
    }
    for (uint32_t t = 0; t < m->triangle_count; t++) {
        const uint32_t *c = m->indices + 3 * (size_t)t;

        fprintf(out,
                "f %u/%u/%u %u/%u/%u %u/%u/%u\n",
                c[0] + 1,
                c[0] + 1,
                c[0] + 1,
                c[1] + 1,
                c[1] + 1,
                c[1] + 1,
                c[2] + 1,
                c[2] + 1,
                c[2] + 1);
    }
}

static void write_ply(const struct facet_scene_mesh *m, bool binary, FILE *out)
{
    fprintf(out,
            "ply\nformat %s 1.0\nelement vertex %u\nproperty float x\nproperty float y\n"
            "property float z\nelement face %u\nproperty list uchar int vertex_indices\n"
            "end_header\n",
            binary ? "binary_little_endian" : "ascii",
            m->vertex_count,
            m->triangle_count);
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        const float *p = m->positions + 3 * (size_t)i;

        if (binary) {
            fwrite(p, 4, 3, out);
        } else {
            fprintf(out, "%.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
        }
    }
    for (uint32_t t = 0; t < m->triangle_count; t++) {
        const uint32_t *c = m->indices + 3 * (size_t)t;

        if (binary) {
            fputc(3, out);
            fwrite(c, 4, 3, out);
        } else {
            fprintf(out, "3 %u %u %u\n", c[0], c[1], c[2]);
        }
    }
}

static void write_stl(const struct facet_scene_mesh *m, bool binary, FILE *out)
{
    char head[80] = "made by a test";

    if (binary) {
        fwrite(head, 1, 80, out);
        fwrite(&m->triangle_count, 4, 1, out);
    } else {
        fprintf(out, "solid test\n");
    }
    for (uint32_t t = 0; t < m->triangle_count; t++) {
        float zero[3] = {0, 0, 0};

        if (binary) {
            fwrite(zero, 4, 3, out);
        } else {
            fprintf(out, "facet normal 0 0 0\nouter loop\n");
        }
        for (unsigned k = 0; k < 3; k++) {
            const float *p = m->positions + 3 * (size_t)m->indices[3 * (size_t)t + k];

            if (binary) {
                fwrite(p, 4, 3, out);
            } else {
                fprintf(out, "vertex %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
            }
        }
        if (binary) {
            fwrite(zero, 1, 2, out);
        } else {
            fprintf(out, "endloop\nendfacet\n");
        }
    }
    if (!binary) {
        fprintf(out, "endsolid test\n");
    }
}

TEST(obj_ply_and_stl_give_the_same_triangles, "")
{
    static const char *const names[5] = {"m.obj", "a.ply", "b.ply", "a.stl", "b.stl"};
    struct facet_scene knot;
    struct fingerprint expected;

    put_text("test.mtl", "newmtl paint\nKd 0.25 0.5 0.75\nd 0.5\n");
    CHECK_EQ(facet_scene_make("knot", 48, &knot, NULL), FACET_OK);
    expected = fingerprint(&knot);
    for (unsigned i = 0; i < 5; i++) {
        FILE *out = fopen(in_folder(names[i]), "wb");
        struct facet_scene scene;
        struct fingerprint got;

        if (i == 0) {
            write_obj(&knot.meshes[0], out);
        } else if (i < 3) {
            write_ply(&knot.meshes[0], i == 2, out);
        } else {
            write_stl(&knot.meshes[0], i == 4, out);
        }
        fclose(out);
        if (!import(names[i], &scene)) {
            continue;
        }
        got = fingerprint(&scene);
        check_near(&expected, &got, 1e-6);
        /* Welded: no more vertices than the original has (its seams are doubled for the UVs). */
        CHECK_MSG(scene.meshes[0].vertex_count <= knot.meshes[0].vertex_count,
                  "%s: %u vertices",
                  names[i],
                  scene.meshes[0].vertex_count);
        CHECK(scene.materials[scene.meshes[0].material].double_sided);
        if (i == 0) {
            const struct facet_scene_material *m = &scene.materials[scene.meshes[0].material];

            CHECK_STR(m->name, "paint");
            CHECK(m->base_color[0] == 0.25F && m->base_color[2] == 0.75F);
            CHECK(m->base_color[3] == 0.5F && m->alpha_mode == FACET_ALPHA_BLEND);
            CHECK(scene.meshes[0].uv[0] != NULL && scene.meshes[0].normals != NULL);
        }
        facet_scene_free(&scene);
    }
    facet_scene_free(&knot);
}

static const char quad_obj[] = "mtllib quad.mtl\nusemtl skin\n"
                               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
                               "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                               "f 1/1 2/2 3/3 4/4\n";

/* In OBJ v goes up, here it goes down: the vertex at the bottom must show the last row. */
TEST(obj_texture_orientation, "")
{
    struct facet_scene corners, scene;
    struct facet_bytes png;
    struct facet_error err;

    CHECK_EQ(facet_scene_make("uv", 1, &corners, NULL), FACET_OK);
    {
        struct facet_image image = {8, 8, corners.textures[0].rgba};

        CHECK_EQ(facet_image_png_encode_plain(&image, &png, &err), FACET_OK);
    }
    put_file("skin.png", png.data, png.size);
    put_text("quad.mtl", "newmtl skin\nKd 1 1 1\nmap_Kd skin.png\n");
    put_text("quad.obj", quad_obj);
    if (import("quad.obj", &scene)) {
        CHECK_EQ(scene.texture_count, 1);
        CHECK_EQ(scene.left_out_count, 0);
        for (uint32_t i = 0; i < scene.meshes[0].vertex_count; i++) {
            float y = scene.meshes[0].positions[3 * i + 1], uv[2];

            facet_scene_uv(
                &scene.meshes[0], &scene.materials[scene.meshes[0].material].base_texture, i, uv);
            CHECK(uv[0] == scene.meshes[0].positions[3 * i]);
            CHECK(uv[1] == 1.0F - y);
        }
        facet_scene_free(&scene);
    }
    free(png.data);
    facet_scene_free(&corners);
}

/* A name that leads nowhere is the file's fault; no descriptor left is the host's, and the same
 * scene with that file missing would be a wrong answer. */
TEST(side_files_tell_missing_from_unreadable, "")
{
    struct rlimit before, none;
    struct facet_bytes bytes;
    struct facet_error err;
    const char *beside = in_folder("");

    put_text("there.mtl", "newmtl x\n");
    CHECK_EQ(facet_side_file_read(beside, "there.mtl", 100, &bytes, &err), FACET_OK);
    free(bytes.data);
    CHECK_EQ(facet_side_file_read(beside, "nowhere.mtl", 100, &bytes, &err), FACET_ERR_INPUT);
    CHECK_EQ(facet_side_file_read(beside, "there.mtl/x", 100, &bytes, &err), FACET_ERR_INPUT);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_EQ(facet_side_file_read(beside, "there.mtl", 100, &bytes, &err), FACET_ERR_IO);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(strstr(err.message, "there.mtl") != NULL);
}

/* A missing material library or picture is noted for OBJ: files are often shipped without. */
TEST(obj_without_its_files_still_loads, "")
{
    struct facet_scene scene;

    put_text("gone.obj", "mtllib gone.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    CHECK(import("gone.obj", &scene));
    CHECK_EQ(scene.left_out_count, 1);
    CHECK_STR(scene.left_out[0].what, "material library gone.mtl");
    facet_scene_free(&scene);
    put_text("gone2.mtl", "newmtl x\nmap_Kd nowhere.png\n");
    put_text("gone2.obj",
             "mtllib gone2.mtl\nusemtl x\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"
             "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n");
    CHECK(import("gone2.obj", &scene));
    CHECK_EQ(scene.left_out_count, 1);
    CHECK_STR(scene.left_out[0].what, "texture nowhere.png");
    facet_scene_free(&scene);
}

/* ---- files beside the scene ---- */

static const char gltf_head[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
    "\"buffers\":[{\"byteLength\":36,\"uri\":\"";

static void put_gltf(const char *name, const char *uri)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "%s%s\"}]}", gltf_head, uri);
    put_text(name, text);
}

TEST(gltf_side_files, "")
{
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    struct facet_scene scene;
    char long_name[300];

    put_file("tri.bin", triangle, sizeof triangle);
    put_file("tri space.bin", triangle, sizeof triangle);
    (void)mkdir(in_folder("sub"), 0700);
    put_file("sub/tri.bin", triangle, sizeof triangle);
    put_gltf("side.gltf", "tri.bin");
    CHECK(import("side.gltf", &scene));
    facet_scene_free(&scene);
    put_gltf("side.gltf", "./sub//tri.bin");
    CHECK(import("side.gltf", &scene));
    facet_scene_free(&scene);
    put_gltf("side.gltf", "tri%20space.bin");
    CHECK(import("side.gltf", &scene));
    facet_scene_free(&scene);
    put_gltf("side.gltf",
             "data:application/octet-stream;base64,"
             "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA");
    CHECK(import("side.gltf", &scene));
    CHECK(scene.meshes[0].positions[3] == 1.0F && scene.meshes[0].positions[7] == 1.0F);
    facet_scene_free(&scene);
    put_gltf("side.gltf", "missing.bin");
    check_refused("side.gltf", "missing.bin: No such file");
    put_gltf("side.gltf", "sub");
    check_refused("side.gltf", "sub: not a regular file");
    put_gltf("side.gltf", "sub/");
    check_refused("side.gltf", "sub/");
    put_gltf("side.gltf", "http://example.org/tri.bin");
    check_refused("side.gltf", "only files and data: URIs");
    memset(long_name, 'n', sizeof long_name);
    long_name[299] = '\0';
    put_gltf("side.gltf", long_name);
    check_refused("side.gltf", "name");
}

/* No name leads out of the folder. */
TEST(gltf_cannot_reach_other_folders, "")
{
    static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const char *refusal = "only plain files in the same folder";

    (void)mkdir(in_folder("jail"), 0700);
    put_file("outside.bin", triangle, sizeof triangle);
    put_gltf("jail/escape.gltf", "../outside.bin");
    check_refused("jail/escape.gltf", refusal);
    put_gltf("jail/escape.gltf", "x/../../outside.bin");
    check_refused("jail/escape.gltf", "x/../../outside.bin");
    put_gltf("jail/escape.gltf", "%2e%2e/outside.bin");
    check_refused("jail/escape.gltf", refusal);
    put_gltf("jail/escape.gltf", "/etc/passwd");
    check_refused("jail/escape.gltf", refusal);
    CHECK_EQ(symlink("../outside.bin", in_folder("jail/link.bin")), 0);
    put_gltf("jail/escape.gltf", "link.bin");
    check_refused("jail/escape.gltf", refusal);
    CHECK_EQ(symlink("..", in_folder("jail/up")), 0);
    put_gltf("jail/escape.gltf", "up/outside.bin");
    check_refused("jail/escape.gltf", "up/outside.bin");
    CHECK_EQ(mkfifo(in_folder("jail/pipe.bin"), 0600), 0);
    put_gltf("jail/escape.gltf", "pipe.bin");
    check_refused("jail/escape.gltf", "not a regular file");
}

/* ---- limits of the child ---- */

TEST(little_memory_is_a_clean_error, "")
{
    struct facet_import_options tight = {.cpu_seconds = 600, .memory_bytes = 1 << 20};
    struct facet_scene made, scene;
    struct facet_error err = {FACET_OK, 0, ""};

    if (SANITIZED) {
        harness_skip("sanitizers need more address space than any limit leaves");
        return;
    }
    put_recipe("large.glb", "sphere", 1000, &made);
    CHECK(facet_scene_import(in_folder("large.glb"), &tight, &scene, &err) != FACET_OK);
    CHECK_MSG(strstr(err.message, "memory") != NULL, "%s", err.message);
    CHECK(scene.meshes == NULL);
    facet_scene_free(&made);
}

TEST(file_errors_name_the_path, "")
{
    struct facet_scene scene;
    struct facet_error err;

    CHECK_EQ(facet_scene_import(in_folder("nothing.glb"), NULL, &scene, &err), FACET_ERR_IO);
    CHECK(strstr(err.message, "nothing.glb") != NULL);
    CHECK_EQ(facet_scene_import(folder, NULL, &scene, &err), FACET_ERR_IO);
    put_text("empty.glb", "");
    check_refused("empty.glb", "the file is empty");
    put_text("what.xyz", "hello");
    check_refused("what.xyz", "unknown kind of scene");
}

/* The kind is found from the contents where the name says nothing. */
TEST(formats_are_recognised, "")
{
    static const struct {
        const char *path, *data;
        enum facet_scene_format format;
    } cases[] = {{"a", "glTF\2\0\0\0", FACET_FORMAT_GLTF},
                 {"a.stl", "ply\nformat ascii 1.0", FACET_FORMAT_PLY},
                 {"a.OBJ", "v 0 0 0", FACET_FORMAT_OBJ},
                 {"-", " \n{\"asset\":1}", FACET_FORMAT_GLTF},
                 {"-", "solid x\nfacet", FACET_FORMAT_STL},
                 {"b.gltf", "nonsense", FACET_FORMAT_GLTF}};

    for (unsigned i = 0; i < 6; i++) {
        enum facet_scene_format format = FACET_FORMAT_COUNT;

        CHECK_EQ(facet_scene_detect(cases[i].path,
                                    (const uint8_t *)cases[i].data,
                                    strlen(cases[i].data),
                                    &format,
                                    NULL),
                 FACET_OK);
        CHECK_EQ(format, cases[i].format);
    }
}

__attribute__((destructor)) static void remove_folder(void)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (strchr(folder, 'X') == NULL && system(command) != 0) {
        puts("cannot remove the test folder");
    }
}
