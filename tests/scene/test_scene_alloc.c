/* Scenes and pictures when memory runs out: the whole result or FACET_ERR_MEMORY, for every
 * allocation that can fail. */
#include "base/failing_alloc.h"
#include "harness.h"

#include "image/image.h"
#include "scene/gltf/glb.h"
#include "scene/make.h"
#include "scene/reader.h"

#include <stdlib.h>

struct writing {
    struct facet_scene scene;
    struct facet_bytes expected;
};

static bool same_bytes(const struct facet_bytes *a, const struct facet_bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void write_or_lack_memory(void *context)
{
    const struct writing *w = context;
    struct facet_bytes bytes;
    enum facet_status status = facet_scene_write_glb(&w->scene, &bytes, NULL);

    CHECK(status == FACET_OK ? same_bytes(&bytes, &w->expected)
                             : status == FACET_ERR_MEMORY && bytes.data == NULL);
    free(bytes.data);
}

TEST(a_glb_is_whole_or_not_there, "")
{
    static const struct {
        const char *recipe;
        uint32_t size;
    } rows[] = {{"knot", 16}, {"instances", 2}, {"uv", 1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writing w;

        facet_scene_init(&w.scene);
        if (CHECK(facet_scene_make(rows[i].recipe, rows[i].size, &w.scene, NULL) == FACET_OK) &&
            CHECK(facet_scene_write_glb(&w.scene, &w.expected, NULL) == FACET_OK)) {
            CHECK(failing_alloc_each(write_or_lack_memory, &w) > 50);
            free(w.expected.data);
        }
        facet_scene_free(&w.scene);
    }
}

/* Nodes 0 and 2 are nobody's children, so both triangles are shown. */
static const char without_scenes[] =
    "{\"asset\": {\"version\": \"2.0\"},"
    "\"nodes\": [{\"children\": [1]}, {\"mesh\": 0}, {\"mesh\": 0}],"
    "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}],"
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3,"
    "\"type\": \"VEC3\", \"min\": [0, 0, 0], \"max\": [1, 1, 0]}],"
    "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}],"
    "\"buffers\": [{\"byteLength\": 36, \"uri\": \"data:application/octet-stream;base64,"
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";

static void read_or_lack_memory(void *context)
{
    const struct facet_reader *reader = context;
    struct facet_scene scene;
    enum facet_status status;

    facet_scene_init(&scene);
    status = facet_gltf_read(reader, &scene, NULL);
    CHECK(status == FACET_OK ? scene.instance_count == 2 : status == FACET_ERR_MEMORY);
    facet_scene_free(&scene);
}

TEST(a_gltf_without_scenes_shows_all_its_roots, "")
{
    struct facet_reader reader = {.data = (const uint8_t *)without_scenes,
                                  .size = sizeof without_scenes - 1};

    CHECK(failing_alloc_each(read_or_lack_memory, &reader) > 50);
}

/* ---- OBJ with a library, STL, PLY ---- */

static const char obj[] =
    "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
    "usemtl a\nf 1/1/1 2/1/1 3/1/1 4/1/1\ng b\nusemtl b\nf 1 2 3\nl 1 2\n";
static const char library[] = "newmtl a\nKd 1 0 0\nKs 1 1 1\nnewmtl b\nmap_Kd a.mtl\n";
static const char stl[] =
    "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
    "vertex 0 1 0\nendloop\nendfacet\nendsolid\nsolid y\nfacet normal 0 0 1\n"
    "outer loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    "endsolid\n";
static const char ply[] =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nproperty float heat\nelement face 1\n"
    "property list uchar int vertex_index\nproperty list uchar float texcoord\n"
    "end_header\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n4 0 1 2 3 8 0 0 0 0 0 0 0 0\n";

static enum facet_status
fetch_library(void *context, const char *name, struct facet_bytes *out, struct facet_error *err)
{
    (void)context;
    out->size = sizeof library - 1;
    out->data = malloc(out->size);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "%s: out of memory", name);
    }
    memcpy(out->data, library, out->size);
    return FACET_OK;
}

struct reading {
    const char *text;
    enum facet_status (*read)(const struct facet_reader *,
                              struct facet_scene *,
                              struct facet_error *);
    uint32_t meshes, left_out;
    long allocations; /* at least */
};

static void read_text_or_lack_memory(void *context)
{
    const struct reading *r = context;
    struct facet_reader reader = {
        .data = (const uint8_t *)r->text, .size = strlen(r->text), .fetch = fetch_library};
    struct facet_scene scene;
    enum facet_status status;

    facet_scene_init(&scene);
    status = r->read(&reader, &scene, NULL);
    CHECK(status == FACET_OK ? scene.mesh_count == r->meshes && scene.instance_count == r->meshes &&
                                   scene.left_out_count == r->left_out
                             : status == FACET_ERR_MEMORY);
    facet_scene_free(&scene);
}

TEST(a_scene_of_every_format_is_whole_or_not_there, "")
{
    static struct reading rows[] = {{obj, facet_obj_read, 2, 3, 30},
                                    {stl, facet_stl_read, 2, 0, 10},
                                    {ply, facet_ply_read, 1, 1, 10}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        long made = failing_alloc_each(read_text_or_lack_memory, &rows[i]);

        CHECK_MSG(made > rows[i].allocations, "%ld allocations", made);
    }
}

struct decoding {
    struct facet_image image;
    struct facet_bytes png;
};

static void decode_or_lack_memory(void *context)
{
    const struct decoding *d = context;
    struct facet_image image;
    enum facet_status status = facet_image_png_decode(d->png.data, d->png.size, &image, NULL);

    CHECK(status == FACET_OK ? memcmp(image.rgba, d->image.rgba, 64 * 64 * 4) == 0
                             : status == FACET_ERR_MEMORY);
    facet_image_free(&image);
}

TEST(a_png_is_not_damaged_by_lack_of_memory, "")
{
    struct decoding d;

    if (!CHECK(facet_image_create(&d.image, 64, 64, NULL) == FACET_OK)) {
        return;
    }
    for (size_t i = 0; i < 64 * 64 * 4; i++) {
        d.image.rgba[i] = (uint8_t)harness_random();
    }
    if (CHECK(facet_image_png_encode(&d.image, &d.png, NULL) == FACET_OK)) {
        CHECK(failing_alloc_each(decode_or_lack_memory, &d) > 4);
        free(d.png.data);
    }
    facet_image_free(&d.image);
}
