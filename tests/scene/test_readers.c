/* The readers of OBJ, MTL, STL and PLY on files in memory, without the sandbox: every form that
 * these formats have, and what of it reaches the scene. Refusals are in test_scene_files.py, what
 * is left out in test_left_out.py. */
#include "harness.h"

#include "image/image.h"
#include "scene/reader.h"
#include "scene/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum facet_status
read_fn(const struct facet_reader *, struct facet_scene *, struct facet_error *);

/* A folder with a few files; it counts how often one was read. */
struct file {
    const char *name, *text;
    size_t size; /* 0: that of the text */
};

struct folder {
    const struct file *files;
    unsigned reads;
};

static enum facet_status
fetch(void *context, const char *name, struct facet_bytes *out, struct facet_error *err)
{
    struct folder *folder = context;

    for (const struct file *file = folder->files; file->name != NULL; file++) {
        if (strcmp(file->name, name) == 0) {
            out->size = file->size != 0 ? file->size : strlen(file->text);
            out->data = malloc(out->size + 1);
            memcpy(out->data, file->text, out->size);
            folder->reads++;
            return FACET_OK;
        }
    }
    return facet_fail(err, FACET_ERR_INPUT, 0, "%s: No such file or directory", name);
}

static bool read_bytes(read_fn *reader,
                       const void *data,
                       size_t size,
                       struct folder *folder,
                       struct facet_scene *scene)
{
    struct facet_reader from = {.data = data, .size = size};
    struct facet_error err = {.message = ""};
    enum facet_status status;

    if (folder != NULL) {
        from.fetch = fetch;
        from.context = folder;
    }
    facet_scene_init(scene);
    status = reader(&from, scene, &err);
    if (status == FACET_OK) {
        status = facet_scene_validate(scene, &err);
    }
    CHECK_MSG(status == FACET_OK, "%s", err.message);
    return status == FACET_OK;
}

static bool read_obj(const char *text, const struct file *files, struct facet_scene *scene)
{
    struct folder folder = {.files = files};

    return read_bytes(facet_obj_read, text, strlen(text), files != NULL ? &folder : NULL, scene);
}

/* A corner's position, normal, ... as text, so that a row of a test can be read. */
static const char *numbers(const float *from, unsigned count)
{
    static char text[4][80];
    static unsigned turn;
    size_t used = 0;

    turn = (turn + 1) % 4;
    for (unsigned i = 0; i < count; i++) {
        used += (size_t)snprintf(text[turn] + used,
                                 sizeof text[turn] - used,
                                 "%s%g",
                                 i != 0 ? " " : "",
                                 (double)from[i]);
    }
    return text[turn];
}

static size_t corner(const struct facet_scene_mesh *mesh, unsigned number)
{
    return mesh->indices[number];
}

/* The x and y of all corners, as digits: "000110" is a triangle (0,0) (0,1) (1,0). */
static void check_triangles(const struct facet_scene_mesh *mesh, const char *expected)
{
    char text[200] = "";
    size_t used = 0;

    for (unsigned i = 0; i < 3 * mesh->triangle_count && used + 8 < sizeof text; i++) {
        const float *p = mesh->positions + 3 * corner(mesh, i);

        used += (size_t)snprintf(text + used,
                                 sizeof text - used,
                                 "%s%.0f%.0f",
                                 i != 0 && i % 3 == 0 ? " " : "",
                                 (double)p[0],
                                 (double)p[1]);
    }
    CHECK_STR(text, expected);
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

/* ---- OBJ ---- */

TEST(obj_faces_in_every_form, "")
{
    static const struct {
        const char *face, *triangles;
        bool uv, normals;
    } rows[] = {
        {"f 1 2 3", "001011", false, false},
        {"f 1/1 2/2 3/3", "001011", true, false},
        {"f 1//1 2//1 3//1", "001011", false, true},
        {"f 1/1/1 2/2/1 3/3/1", "001011", true, true},
        {"f 1/ 2// 3//", "001011", false, false},
        {"f -4 -3 -2", "001011", false, false},
        {"f -4/-3/-1 2/2/1 -2/3/-1", "001011", true, true},
        {"f 1 2 3 4", "001011 001101", false, false},
        {"f 1 2 \\\n3 4", "001011 001101", false, false},
        {"f 1 2 3\\\r\n 4", "001011 001101", false, false},
        {"f\t1  2\t 3 # and 4", "001011", false, false},
        {"f 1 2 3\rf 1 3 4", "001011 001101", false, false},
        {"f 5 1 2\nv 9 9 0", "990010", false, false}, /* a vertex that follows */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct facet_scene scene;
        char text[300];

        (void)snprintf(
            text, sizeof text, SQUARE "vt 0 0\nvt 1 0.25\nvt 1 1 9\nvn 0 0 1\n%s\n", rows[i].face);
        if (read_obj(text, NULL, &scene) && CHECK(scene.mesh_count == 1)) {
            const struct facet_scene_mesh *mesh = &scene.meshes[0];

            check_triangles(mesh, rows[i].triangles);
            CHECK_EQ(mesh->uv[0] != NULL, rows[i].uv);
            CHECK_EQ(mesh->normals != NULL, rows[i].normals);
            if (rows[i].uv) {
                CHECK_STR(numbers(mesh->uv[0] + 2 * corner(mesh, 1), 2), "1 0.75");
            }
            if (rows[i].normals) {
                CHECK_STR(numbers(mesh->normals + 3 * corner(mesh, 1), 3), "0 0 1");
            }
        }
        facet_scene_free(&scene);
    }
}

/* A byte order mark, comments, and lines that end in three ways. */
TEST(obj_text_of_every_system, "")
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};

    for (unsigned i = 0; i < 3; i++) {
        struct facet_scene scene;
        char text[200];

        (void)snprintf(text,
                       sizeof text,
                       "\xEF\xBB\xBF# c%sv 0 0 0%s%s  v 1 0 0 # c%sv 0 1 0%so part%sf 1 2 3",
                       ends[i],
                       ends[i],
                       ends[i],
                       ends[i],
                       ends[i],
                       ends[i]);
        if (read_obj(text, NULL, &scene) && CHECK(scene.mesh_count == 1)) {
            check_triangles(&scene.meshes[0], "001001");
            CHECK_STR(scene.meshes[0].name, "part");
            CHECK_EQ(scene.left_out_count, 0);
        }
        facet_scene_free(&scene);
    }
}

TEST(obj_vertex_colours, "")
{
    struct facet_scene scene;

    if (read_obj("v 0 0 0\nv 1 0 0 0.25 0.5 1\nv 0 1 0 1 0 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n",
                 NULL,
                 &scene) &&
        CHECK(scene.meshes[0].colors != NULL)) {
        const struct facet_scene_mesh *mesh = &scene.meshes[0];

        CHECK_STR(numbers(mesh->colors + 4 * corner(mesh, 0), 4), "1 1 1 1");
        CHECK_STR(numbers(mesh->colors + 4 * corner(mesh, 1), 4), "0.25 0.5 1 1");
        CHECK_STR(numbers(mesh->colors + 4 * corner(mesh, 2), 4), "1 0 0 1");
        CHECK_STR(numbers(mesh->colors + 4 * corner(mesh, 4), 4), "1 1 1 1");
    }
    facet_scene_free(&scene);
}

/* Corners without a normal beside others with one face where their polygon does. */
TEST(obj_corners_without_a_normal_are_flat, "")
{
    struct facet_scene scene;

    if (read_obj(SQUARE "vn 1 0 0\nf 1//1 2//1 3//1\nf 4 3 1\n", NULL, &scene)) {
        const struct facet_scene_mesh *mesh = &scene.meshes[0];

        CHECK_STR(numbers(mesh->normals + 3 * corner(mesh, 0), 3), "1 0 0");
        for (unsigned i = 3; i < 6; i++) {
            CHECK_STR(numbers(mesh->normals + 3 * corner(mesh, i), 3), "0 0 -1");
        }
    }
    facet_scene_free(&scene);
}

TEST(obj_groups_and_materials_make_meshes, "")
{
    static const struct file files[] = {
        {"a.mtl", "newmtl red\nKd 1 0 0\nnewmtl unused\nKd 9 9 9\n", 0},
        {"my colours.MTL", "newmtl  dark blue \nKd 0 0 0.5\n", 0},
        {NULL, NULL, 0}};
    static const char *const expected[][2] = {{"mesh 0", "default"},
                                              {"thing", "red"},
                                              {"thing", "dark blue"},
                                              {"part one", "dark blue"},
                                              {"part one", "red"},
                                              {"part one", "nosuch"}};
    struct facet_scene scene;

    if (read_obj("mtllib a.mtl \\\n my colours.MTL\n" SQUARE
                 "f 1 2 3\no thing\nusemtl red\nf 1 2 3\n"
                 "usemtl red\nf 1 3 4\nusemtl dark blue\t\nf 1 2 3\ng empty\ng part one\nf 1 2 4\n"
                 "usemtl red\nf 1 3 4\nusemtl nosuch\nf 1 2 3\n",
                 files,
                 &scene) &&
        CHECK(scene.mesh_count == 6)) {
        for (unsigned i = 0; i < 6; i++) {
            const struct facet_scene_mesh *mesh = &scene.meshes[i];

            CHECK_STR(mesh->name, expected[i][0]);
            CHECK_STR(scene.materials[mesh->material].name, expected[i][1]);
            CHECK_EQ(mesh->triangle_count, i == 1 ? 2 : 1);
            CHECK_EQ(scene.instances[i].mesh, i);
            CHECK_STR(numbers(scene.instances[i].transform, 12), "1 0 0 0 0 1 0 0 0 0 1 0");
        }
        CHECK_EQ(scene.material_count, 4); /* the one that no face uses is not there */
        CHECK_STR(numbers(scene.materials[0].base_color, 4), "0.6 0.6 0.6 1");
        CHECK_STR(numbers(scene.materials[1].base_color, 4), "1 0 0 1");
        CHECK_EQ(scene.left_out_count, 1); /* nosuch */
    }
    facet_scene_free(&scene);
}

static void check_material(const char *statements, const char *expected)
{
    char library[300], text[120];
    struct file files[] = {{"a.mtl", library, 0}, {NULL, NULL, 0}};
    struct facet_scene scene;

    (void)snprintf(library, sizeof library, "newmtl x\n%s\n", statements);
    if (read_obj("mtllib a.mtl\n" SQUARE "usemtl x\nf 1 2 3\n", files, &scene)) {
        const struct facet_scene_material *m = &scene.materials[0];

        (void)snprintf(text,
                       sizeof text,
                       "%s, %s, %.3g %.3g",
                       numbers(m->base_color, 4),
                       numbers(m->emissive, 3),
                       (double)m->metallic,
                       (double)m->roughness);
        CHECK_STR(text, expected);
        CHECK_EQ(m->alpha_mode, m->base_color[3] < 1 ? FACET_ALPHA_BLEND : FACET_ALPHA_OPAQUE);
        CHECK(m->double_sided);
    }
    facet_scene_free(&scene);
}

TEST(mtl_numbers, "")
{
    check_material("# nothing", "0.6 0.6 0.6 1, 0 0 0, 0 1");
    check_material("Kd 0.25 0.5 1\nKe 1 2 3", "0.25 0.5 1 1, 1 2 3, 0 1");
    check_material("Kd 0.25 # one for all", "0.25 0.25 0.25 1, 0 0 0, 0 1");
    check_material("kd 0.25 \\\n 0.5 1", "0.25 0.5 1 1, 0 0 0, 0 1");
    check_material("d 0.25", "0.6 0.6 0.6 0.25, 0 0 0, 0 1");
    check_material("Tr 0.25", "0.6 0.6 0.6 0.75, 0 0 0, 0 1");
    check_material("Pm 1\nPr 0.125", "0.6 0.6 0.6 1, 0 0 0, 1 0.125");
    check_material("Ns 30", "0.6 0.6 0.6 1, 0 0 0, 0 0.5"); /* (2 / 32)^(1/4) */
    check_material("Ns 30\nPr 0.75", "0.6 0.6 0.6 1, 0 0 0, 0 0.75");
    check_material("illum 2\nKa 1 1 1\nNi 1.5", "0.6 0.6 0.6 1, 0 0 0, 0 1");
    check_material("Kd 1 0 0\nnewmtl x #2\nKd 0 1 0", "1 0 0 1, 0 0 0, 0 1"); /* another name */
    check_material("newmtl y\nKd 1 0 0\nnewmtl x # 2\nKd 0 1 0", "0 1 0 1, 0 0 0, 0 1");
}

TEST(mtl_says_where_it_is_wrong, "")
{
    static const char *const rows[][2] = {
        {"Kd red", "a.mtl, line 2: Kd: expected one number or three, found red"},
        {"Kd 1 2", "a.mtl, line 2: Kd: expected one number or three"},
        {"\nd", "a.mtl, line 3: d: expected a number, found \"\""},
        {"Ns 1x", "a.mtl, line 2: Ns: expected a number, found \"1x\""},
        {"map_Kd a\\\n.png", "a.mtl, line 3: map_Kd: expected a name on one line, found \"a\""},
        {"newmtl a \\\nb", "a.mtl, line 3: newmtl: expected a name on one line, found \"a\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static const char obj[] = "mtllib a.mtl\n" SQUARE "usemtl x\nf 1 2 3\n";
        char library[100];
        struct file files[] = {{"a.mtl", library, 0}, {NULL, NULL, 0}};
        struct folder folder = {.files = files};
        struct facet_reader reader = {.data = (const uint8_t *)obj,
                                      .size = sizeof obj - 1,
                                      .fetch = fetch,
                                      .context = &folder};
        struct facet_scene scene;
        struct facet_error err;

        (void)snprintf(library, sizeof library, "newmtl x\n%s\n", rows[i][0]);
        facet_scene_init(&scene);
        CHECK_EQ(facet_obj_read(&reader, &scene, &err), FACET_ERR_INPUT);
        CHECK_STR(err.message, rows[i][1]);
        facet_scene_free(&scene);
    }
}

/* Pictures are read once, by their name after the options; libraries too, however often named. */
TEST(mtl_pictures, "")
{
    struct facet_image image;
    struct facet_bytes png;
    struct facet_scene scene;

    if (!CHECK(facet_image_create(&image, 2, 1, NULL) == FACET_OK) ||
        !CHECK(facet_image_png_encode_plain(&image, &png, NULL) == FACET_OK)) {
        return;
    }
    {
        const struct file files[] = {
            {"a.mtl",
             "newmtl a\nmap_Kd sub\\my skin.png\nnewmtl b\nmap_Kd -clamp on -type sphere sub/my "
             "skin.png\n"
             "newmtl c\nmap_Kd -s 2 2 -mm 0 1 -o 1 -clamp off -bm 3 other.png\n"
             "newmtl d\nmap_Kd unused.png\nnewmtl e\nmap_Kd \n",
             0},
            {"sub/my skin.png", (const char *)png.data, png.size},
            {"other.png", (const char *)png.data, png.size},
            {NULL, NULL, 0}};
        struct folder folder = {.files = files};
        static const char obj[] =
            "mtllib a.mtl\n" SQUARE "usemtl a\nf 1 2 3\nmtllib a.mtl\nusemtl b\nf 1 2 3\n"
            "usemtl c\nf 1 2 3\nusemtl e\nf 1 2 3\n";

        if (read_bytes(facet_obj_read, obj, sizeof obj - 1, &folder, &scene) &&
            CHECK(scene.mesh_count == 4)) {
            const struct facet_scene_material *m = scene.materials;

            CHECK_EQ(folder.reads, 3);
            CHECK_EQ(scene.texture_count, 2);
            CHECK_STR(scene.textures[0].name, "sub/my skin.png");
            CHECK_EQ(scene.textures[0].width, 2);
            CHECK_EQ(m[0].base_texture.texture, 0);
            CHECK_EQ(m[1].base_texture.texture, 0);
            CHECK_EQ(m[2].base_texture.texture, 1);
            CHECK_EQ(m[3].base_texture.texture, FACET_SCENE_NONE);
            CHECK_EQ(m[0].base_texture.wrap_u, FACET_WRAP_REPEAT);
            CHECK_EQ(m[1].base_texture.wrap_v, FACET_WRAP_CLAMP);
            CHECK_EQ(m[2].base_texture.wrap_u, FACET_WRAP_REPEAT);
            CHECK_EQ(scene.left_out_count, 4); /* -s, -mm, -o, -bm */
        }
        facet_scene_free(&scene);
    }
    free(png.data);
    facet_image_free(&image);
}

/* ---- STL ---- */

#define STL_FACET(z)                                                                               \
    "facet normal 0 0 1\nouter loop\nvertex 0 0 " z "\nvertex 1 0 " z "\nvertex 0 1 " z            \
    "\nendloop\nendfacet\n"

TEST(stl_text, "")
{
    static const char text[] = "  solid first one\n" STL_FACET("0")
        STL_FACET("1") "endsolid first one\nSOLID\n"
                       "FACET NORMAL -nan NaN inf OUTER LOOP VERTEX 0 0 2 VERTEX 1 0 2 VERTEX 1 1 "
                       "2 ENDLOOP ENDFACET\n"
                       "ENDSOLID\r\nsolid empty\nendsolid empty";
    struct facet_scene scene;

    if (read_bytes(facet_stl_read, text, sizeof text - 1, NULL, &scene) &&
        CHECK(scene.mesh_count == 2)) {
        CHECK_STR(scene.meshes[0].name, "first one");
        CHECK_EQ(scene.meshes[0].triangle_count, 2);
        CHECK_STR(scene.meshes[1].name, "mesh 1");
        check_triangles(&scene.meshes[1], "001011");
        CHECK(scene.meshes[0].normals == NULL);
        CHECK_EQ(scene.material_count, 1);
        CHECK_STR(numbers(scene.materials[0].base_color, 4), "1 1 1 1");
        CHECK(scene.materials[0].double_sided && scene.materials[0].metallic == 0);
        CHECK_EQ(scene.left_out_count, 0);
    }
    facet_scene_free(&scene);
}

/* Binary files whose header begins as text does, also with bytes left over. */
TEST(stl_binary_with_the_header_of_text, "")
{
    static const float values[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0};
    uint8_t data[140];

    memset(data, ' ', sizeof data);
    memcpy(data, "solid of a program that likes blanks", 36);
    memcpy(data + 80, "\1\0\0\0", 4);
    memcpy(data + 84, values, sizeof values);
    memcpy(data + 132, "\0\0", 2);
    for (size_t size = 134; size <= sizeof data; size += 3) {
        struct facet_scene scene;

        CHECK_EQ(facet_stl_is_binary(data, size), size == 134);
        if (read_bytes(facet_stl_read, data, size, NULL, &scene) && CHECK(scene.mesh_count == 1)) {
            check_triangles(&scene.meshes[0], "001011");
            CHECK_STR(scene.meshes[0].name, "mesh 0");
            CHECK_EQ(scene.left_out_count, size == 134 ? 0 : 1);
        }
        facet_scene_free(&scene);
    }
}

/* ---- PLY ---- */

static bool read_ply(const char *text, const struct file *files, struct facet_scene *scene)
{
    struct folder folder = {.files = files};

    return read_bytes(facet_ply_read, text, strlen(text), files != NULL ? &folder : NULL, scene);
}

#define PLY_XYZ "property float x\nproperty float y\nproperty double z\n"
#define PLY_FACES(count) "element face " count "\nproperty list uchar uint vertex_indices\n"

TEST(ply_vertices_with_everything, "")
{
    struct facet_scene scene;

    if (read_ply("ply\nformat ascii 1.0\nobj_info x\nelement vertex 4\n" PLY_XYZ
                 "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
                 "property ushort green\nproperty float blue\nproperty uchar alpha\n"
                 "property float s\nproperty float t\n" PLY_FACES(
                     "1") "end_header\n"
                          "0 0 0 1 0 0 255 65535 0.5 51 0.5 0.25\n1 0 0 1 0 0 0 0 0 0 0 0\n"
                          "1 1 0 1 0 0 0 0 0 0 0 0\n0 1 0 1 0 0 0 0 0 0 0 0\n4 0 1 2 3\n",
                 NULL,
                 &scene) &&
        CHECK(scene.mesh_count == 1)) {
        const struct facet_scene_mesh *mesh = &scene.meshes[0];

        check_triangles(mesh, "001011 001101");
        CHECK_STR(numbers(mesh->normals, 3), "1 0 0");
        CHECK_STR(numbers(mesh->colors, 4), "1 1 0.5 0.2");
        CHECK_STR(numbers(mesh->uv[0], 2), "0.5 0.75");
        CHECK_EQ(scene.left_out_count, 0);
    }
    facet_scene_free(&scene);
}

/* Numbers of every type and order of bytes, faces before vertices, and a body that begins with the
 * byte of a line feed. */
TEST(ply_binary_of_every_order, "")
{
    for (unsigned big = 0; big < 2; big++) {
        static const uint16_t faces[5] = {10, 0, 1, 2, 0};
        static const double points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
        uint8_t data[1000];
        size_t size =
            (size_t)snprintf((char *)data,
                             sizeof data,
                             "ply\rformat binary_%s_endian 1.0\relement face 1\r"
                             "property ushort mark\rproperty list uchar short vertex_index\r"
                             "element vertex 3\rproperty double x\rproperty double y\r"
                             "property double z\rproperty char red\rproperty int green\r"
                             "property uint blue\rend_header\r",
                             big ? "big" : "little");
        struct facet_scene scene;

        data[size++] = big ? 0 : 10;
        data[size++] = big ? 10 : 0;
        data[size++] = 3;
        for (unsigned i = 1; i < 4; i++) {
            data[size++] = (uint8_t)(big ? 0 : faces[i]);
            data[size++] = (uint8_t)(big ? faces[i] : 0);
        }
        for (unsigned i = 0; i < 9; i++) {
            uint64_t bits;

            memcpy(&bits, &points[i], 8);
            for (unsigned k = 0; k < 8; k++) {
                data[size++] = (uint8_t)(bits >> 8 * (big ? 7 - k : k));
            }
            if (i % 3 == 2) {
                data[size++] = 127;
                memset(data + size, 0xFF, 8); /* -1 and the largest */
                size += 8;
            }
        }
        if (read_bytes(facet_ply_read, data, size, NULL, &scene) && CHECK(scene.mesh_count == 1)) {
            check_triangles(&scene.meshes[0], "001001");
            CHECK_STR(numbers(scene.meshes[0].colors, 4), "1 -4.65661e-10 1 1");
        }
        facet_scene_free(&scene);
    }
}

TEST(ply_corners_with_coordinates_and_a_picture, "")
{
    struct facet_image image;
    struct facet_bytes png;
    struct facet_scene scene;

    if (!CHECK(facet_image_create(&image, 2, 1, NULL) == FACET_OK) ||
        !CHECK(facet_image_png_encode_plain(&image, &png, NULL) == FACET_OK)) {
        return;
    }
    {
        const struct file files[] = {{"a b.png", (const char *)png.data, png.size},
                                     {NULL, NULL, 0}};

        if (read_ply(
                "ply\nformat ascii 1.0\ncomment TextureFile a b.png\nelement vertex 4\n" PLY_XYZ
                    PLY_FACES(
                        "3") "property list uchar float texcoord\nproperty int texnumber\n"
                             "end_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 0.5 0 1 1 0\n"
                             "3 0 2 3 6 0 0 1 1 0 0.5 0\n3 0 1 2 0 0\n",
                files,
                &scene)) {
            const struct facet_scene_mesh *mesh = &scene.meshes[0];

            check_triangles(mesh, "001011 001101 001011");
            CHECK_STR(numbers(mesh->uv[0] + 2 * corner(mesh, 1), 2), "0.5 1");
            CHECK_STR(numbers(mesh->uv[0] + 2 * corner(mesh, 5), 2), "0 0.5");
            CHECK_STR(numbers(mesh->uv[0] + 2 * corner(mesh, 7), 2), "0 1");
            CHECK_EQ(mesh->vertex_count,
                     6); /* (0,0) and (1,1) are shared, (1,0) and (1,1) are not */
            CHECK_EQ(scene.texture_count, 1);
            CHECK_EQ(scene.materials[0].base_texture.texture, 0);
            CHECK_EQ(scene.left_out_count, 0);
        }
        facet_scene_free(&scene);
    }
    free(png.data);
    facet_image_free(&image);
}

TEST(ply_strips, "")
{
    struct facet_scene scene;

    if (read_ply("ply\nformat ascii 1.0\nelement vertex 5\n" PLY_XYZ
                 "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
                 "0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 0\n9 0 1 2 3 4 -1 2 1 3\n",
                 NULL,
                 &scene)) {
        check_triangles(&scene.meshes[0], "001001 011011 011122 011011");
    }
    facet_scene_free(&scene);
}
