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

struct decoding {
    struct facet_image image;
    struct facet_bytes png;
};

static void decode_or_lack_memory(void *context)
{
    const struct decoding *d = context;
    struct facet_image image;
    enum facet_status status = facet_png_decode(d->png.data, d->png.size, &image, NULL);

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
    if (CHECK(facet_png_encode(&d.image, &d.png, NULL) == FACET_OK)) {
        CHECK(failing_alloc_each(decode_or_lack_memory, &d) > 4);
        free(d.png.data);
    }
    facet_image_free(&d.image);
}
