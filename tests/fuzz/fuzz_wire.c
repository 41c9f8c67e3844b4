/* Any bytes as what a confined importer sends: refused with a message and an empty scene, or a
 * scene that is sent on and arrives as the same bytes, and whose promises (validate.h) can be
 * checked and, if kept, relied upon.
 *
 * The input: one byte chooses a stream that is not touched ('!': the rest of the input) or a small
 * scene whose stream is edited by records of eight bytes: offset (3), operation, value (4). */
#include "fuzz/fuzz.h"

#include "base/bits.h"
#include "base/strbuf.h"
#include "scene/gltf/glb.h"
#include "scene/validate.h"
#include "scene/wire.h"

#include <string.h>

static void *copy(const void *data, size_t size)
{
    void *bytes = malloc(size);

    fuzz_require(bytes != NULL);
    memcpy(bytes, data, size);
    return bytes;
}

/* Something in every table: two instances of a textured square, a camera, two lamps, a loss. */
static void make(struct facet_scene *scene)
{
    static const uint32_t indices[] = {0, 1, 2, 0, 2, 3};
    static const float positions[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0.5F};
    static const float normals[12] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
    static const float colors[16] = {1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    static const float uv[8] = {0, 0, 1, 0, 1, 1, 0, 1};
    static const uint8_t texels[16] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 9, 9, 0};
    struct facet_scene_mesh mesh = {.name = "square", .vertex_count = 4, .triangle_count = 2};
    struct facet_scene_texture texture = {.name = "texture", .width = 2, .height = 2};
    struct facet_scene_instance instance = {.transform = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    struct facet_scene_light light = {.kind = FACET_LIGHT_SPOT,
                                      .color = {1, 1, 1},
                                      .intensity = 5,
                                      .direction = {0, 0, -1},
                                      .outer_cone = 0.5F};
    struct facet_scene_material material;
    struct facet_scene_camera camera;

    facet_scene_init(scene);
    mesh.indices = copy(indices, sizeof indices);
    mesh.positions = copy(positions, sizeof positions);
    mesh.normals = copy(normals, sizeof normals);
    mesh.colors = copy(colors, sizeof colors);
    mesh.uv[0] = copy(uv, sizeof uv);
    texture.rgba = copy(texels, sizeof texels);
    facet_scene_material_default(&material);
    material.base_texture.texture = 0;
    material.alpha_mode = FACET_ALPHA_MASK;
    fuzz_require(facet_scene_add_texture(scene, &texture, NULL, NULL) == FACET_OK);
    fuzz_require(facet_scene_add_material(scene, &material, NULL, NULL) == FACET_OK);
    fuzz_require(facet_scene_add_mesh(scene, &mesh, NULL, NULL) == FACET_OK);
    fuzz_require(facet_scene_add_instance(scene, &instance, NULL) == FACET_OK);
    instance.transform[3] = 2;
    fuzz_require(facet_scene_add_instance(scene, &instance, NULL) == FACET_OK);
    facet_scene_frame(&(struct facet_bounds){{0, 0, 0}, {3, 1, 1}}, &camera);
    fuzz_require(facet_scene_add_camera(scene, &camera, NULL) == FACET_OK);
    fuzz_require(facet_scene_add_light(scene, &light, NULL) == FACET_OK);
    light.kind = FACET_LIGHT_DIRECTIONAL;
    fuzz_require(facet_scene_add_light(scene, &light, NULL) == FACET_OK);
    fuzz_require(facet_scene_leave_out(
                     scene, FACET_LOSS_LOOK, 3, "textures", "materials[0]", "no file", NULL) ==
                 FACET_OK);
}

static bool put(void *context, const void *bytes, size_t size)
{
    struct facet_strbuf *out = context;

    facet_strbuf_add(out, bytes, size);
    return !out->failed;
}

static bool get(void *context, void *bytes, size_t size)
{
    struct fuzz_bytes *in = context;

    if (size > in->left) {
        return false;
    }
    memcpy(bytes, in->at, size);
    in->at += size;
    in->left -= size;
    return true;
}

static void write_to(const struct facet_scene *scene, struct facet_strbuf *out)
{
    const struct facet_wire_out wire = {put, out};

    facet_strbuf_clear(out);
    fuzz_require(facet_wire_write(&wire, scene));
}

static void edit(struct facet_strbuf *stream, const uint8_t *data, size_t size)
{
    for (; size >= 8; data += 8, size -= 8) {
        const size_t at = (facet_load_le32(data) & 0xFFFFFF) % stream->length;
        const size_t room = stream->length - at;

        switch (data[3] & 3) {
        case 0:
            stream->text[at] ^= (char)data[4];
            break;
        case 1:
            stream->length = at + 1; /* ends early */
            break;
        default:
            memcpy(stream->text + at, data + 4, room < 4 ? room : 4);
            break;
        }
    }
}

/* What arrived goes out again, arrives again, and is then the same bytes. */
static void there_and_back(const struct facet_scene *scene, struct facet_strbuf *first)
{
    struct facet_scene again;
    struct facet_strbuf second;
    struct fuzz_bytes in;
    struct facet_wire_in wire = {get, &in};

    write_to(scene, first);
    in = (struct fuzz_bytes){(const uint8_t *)first->text, first->length};
    fuzz_require(facet_wire_read(&wire, &again, NULL) == FACET_OK);
    facet_strbuf_init(&second);
    write_to(&again, &second);
    fuzz_require(first->length == second.length &&
                 memcmp(first->text, second.text, first->length) == 0);
    facet_strbuf_free(&second);
    facet_scene_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct facet_scene start;
    struct facet_strbuf stream;
    struct fuzz_bytes in;
    struct facet_wire_in wire = {get, &in};
    struct facet_scene scene;
    struct facet_error err = {0};

    if (start.mesh_count == 0) {
        make(&start);
    }
    facet_strbuf_init(&stream);
    if (size > 0 && data[0] == '!') {
        in = (struct fuzz_bytes){data + 1, size - 1};
    } else {
        write_to(&start, &stream);
        edit(&stream, data, size);
        in = (struct fuzz_bytes){(const uint8_t *)stream.text, stream.length};
    }
    if (facet_wire_read(&wire, &scene, &err) != FACET_OK) {
        fuzz_require(err.message[0] != '\0' && scene.meshes == NULL && scene.mesh_count == 0);
    } else {
        there_and_back(&scene, &stream);
        if (facet_scene_validate(&scene, &err) == FACET_OK &&
            facet_scene_finish(&scene, &err) == FACET_OK) {
            struct facet_bytes glb;

            (void)facet_scene_write_glb(&scene, &glb, &err);
            free(glb.data);
        } else {
            fuzz_require(err.message[0] != '\0');
        }
    }
    facet_scene_free(&scene);
    facet_strbuf_free(&stream);
    return 0;
}
