/* The wire format as a taken-over importer would speak it: whatever comes, the reader takes no more
 * memory than bytes have arrived, and refuses every count, flag, index and size out of range. */
#include "harness.h"

#include "base/incoming.h"
#include "image/image.h"
#include "scene/validate.h"
#include "scene/wire.h"

#include <stdlib.h>

/* A stream in memory; `largest` is the most that was ever asked for at once, which is the memory
 * that the reader had taken without a byte to show for it. */
struct stream {
    uint8_t *bytes;
    size_t size, at, room, largest;
};

static bool put(void *context, const void *bytes, size_t size)
{
    struct stream *s = context;

    if (s->size + size > s->room) {
        s->room = 2 * (s->size + size);
        s->bytes = realloc(s->bytes, s->room);
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return true;
}

static bool get(void *context, void *bytes, size_t size)
{
    struct stream *s = context;

    s->largest = size > s->largest ? size : s->largest;
    if (size > s->size - s->at) {
        return false;
    }
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return true;
}

/* One of everything that has a count. */
static void write_scene(struct stream *s)
{
    const struct facet_wire_out out = {put, s};
    struct facet_scene_material material;
    struct facet_scene_texture texture = {.name = "t", .width = 2, .height = 2};
    struct facet_scene_mesh mesh = {.name = "m", .vertex_count = 3, .triangle_count = 1};
    struct facet_scene_instance instance = {.transform = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    struct facet_scene scene;

    memset(s, 0, sizeof *s);
    facet_scene_init(&scene);
    facet_scene_material_default(&material);
    texture.rgba = calloc(4, 4);
    mesh.indices = calloc(3, sizeof *mesh.indices);
    mesh.positions = calloc(9, sizeof *mesh.positions);
    CHECK_EQ(facet_scene_add_texture(&scene, &texture, NULL, NULL), FACET_OK);
    CHECK_EQ(facet_scene_add_material(&scene, &material, NULL, NULL), FACET_OK);
    CHECK_EQ(facet_scene_add_mesh(&scene, &mesh, NULL, NULL), FACET_OK);
    CHECK_EQ(facet_scene_add_instance(&scene, &instance, NULL), FACET_OK);
    CHECK(facet_wire_write(&out, &scene));
    facet_scene_free(&scene);
}

static enum facet_status read_stream(struct stream *s, struct facet_error *err)
{
    const struct facet_wire_in in = {get, s};
    struct facet_scene scene;
    enum facet_status status;

    s->at = s->largest = 0;
    err->message[0] = '\0';
    status = facet_wire_read(&in, &scene, err);
    if (status == FACET_OK) {
        (void)facet_scene_validate(&scene, err);
    }
    facet_scene_free(&scene);
    return status;
}

TEST(an_honest_stream_is_read, "")
{
    struct facet_error err;
    struct stream s;

    write_scene(&s);
    CHECK_MSG(read_stream(&s, &err) == FACET_OK, "%s", err.message);
    CHECK_EQ(s.at, s.size);
    free(s.bytes);
}

TEST(every_cut_is_noticed, "")
{
    struct facet_error err;
    struct stream s;
    size_t whole;

    write_scene(&s);
    whole = s.size;
    for (s.size = 0; s.size < whole; s.size++) {
        CHECK_EQ(read_stream(&s, &err), FACET_ERR_INPUT);
    }
    free(s.bytes);
}

/* Every word of the stream in turn says the most, one more than the most of common types, and so
 * on. Nothing may be taken on trust: no request goes beyond what the stream could still hold, but
 * for the one piece that finds out. */
TEST(announced_sizes_cost_nothing, "")
{
    static const uint32_t values[] = {UINT32_MAX, INT32_MAX, 1U << 31, 1U << 27, 1U << 20, 0};
    struct facet_error err;
    struct stream s;

    write_scene(&s);
    for (size_t at = 0; at + 4 <= s.size; at += 4) {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            uint32_t old;

            memcpy(&old, s.bytes + at, 4);
            memcpy(s.bytes + at, &values[i], 4);
            (void)read_stream(&s, &err);
            CHECK_MSG(s.largest <= FACET_INCOMING_PIECE,
                      "word %zu = 0x%x: asked for %zu bytes",
                      at / 4,
                      values[i],
                      s.largest);
            memcpy(s.bytes + at, &old, 4);
        }
    }
    free(s.bytes);
}

/* A texture of allowed texels but a side that no picture has. */
TEST(textures_keep_the_limits_of_pictures, "")
{
    const size_t name = 128;
    struct facet_error err;
    struct stream s;
    uint32_t size[2] = {FACET_IMAGE_MAX_SIDE + 1, 1};
    size_t at = 0;

    write_scene(&s);
    for (; at + name + 8 <= s.size; at += 4) { /* the texture's name, then its size */
        uint32_t found[2];

        memcpy(found, s.bytes + at + name, 8);
        if (s.bytes[at] == 't' && found[0] == 2 && found[1] == 2) {
            break;
        }
    }
    memcpy(s.bytes + at + name, size, 8);
    CHECK_EQ(read_stream(&s, &err), FACET_ERR_LIMIT);
    CHECK_MSG(strstr(err.message, "32769 x 1") != NULL, "%s", err.message);
    free(s.bytes);
}

/* ---- arrays ---- */

TEST(arrays_arrive_whole, "")
{
    static const size_t sizes[] = {0, 1, FACET_INCOMING_PIECE, 5 * FACET_INCOMING_PIECE + 3};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct stream s = {.size = sizes[i], .bytes = malloc(sizes[i] + 1)};
        void *array;

        for (size_t k = 0; k < sizes[i]; k++) {
            s.bytes[k] = (uint8_t)(k * 7 + (k >> 8));
        }
        CHECK_EQ(facet_incoming_array(get, &s, sizes[i], &array), FACET_OK);
        CHECK(array != NULL && memcmp(array, s.bytes, sizes[i]) == 0);
        free(array);
        s.at = 0;
        CHECK_EQ(facet_incoming_array(get, &s, sizes[i] + 1, &array), FACET_ERR_INPUT);
        CHECK(array == NULL);
        free(s.bytes);
    }
}
