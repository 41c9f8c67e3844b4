/* From any bytes of a glTF file to a picture: what the reader accepts and validation lets pass
 * becomes a GFX12 image that its own checker finds nothing wrong with, and a tiny picture on each
 * machine.
 *
 * The first byte chooses the machine, the quality of the image, samples and bounces. */
#include "fuzz/fuzz.h"

#include "gfx12/check/check.h"
#include "render/render.h"
#include "scene/reader.h"
#include "scene/validate.h"

#include <string.h>

enum { MOST_TRIANGLES = 2000, MOST_TEXELS = 1 << 16 };

static bool is_small(const struct facet_scene *scene)
{
    uint64_t texels = 0;

    for (uint32_t i = 0; i < scene->texture_count; i++) {
        texels += (uint64_t)scene->textures[i].width * scene->textures[i].height;
    }
    return texels <= MOST_TEXELS && scene->instance_count <= MOST_TRIANGLES &&
           facet_scene_instanced_triangles(scene) <= MOST_TRIANGLES;
}

static void check(const struct facet_gfx12_image *image)
{
    const struct facet_gfx12_view view = {
        .bytes = image->bytes, .size = image->size, .root = FACET_GFX12_ROOT};
    struct facet_gfx12_check found;

    fuzz_require(facet_gfx12_check(&view, &(struct facet_gfx12_check_options){0}, &found, NULL) ==
                 FACET_OK);
    fuzz_require(found.total[FACET_GFX12_ERROR] == 0);
    facet_gfx12_check_free(&found);
}

static void render(const struct facet_scene *scene, unsigned choice)
{
    static const char *const machines[] = {"gfx12", "tile", "xphmg-gfx-portable", "gfx12"};
    struct facet_render_options options;
    struct facet_render *render = NULL;
    struct facet_render_report report = {0};
    struct facet_image_f picture;
    struct facet_error err = {0};

    facet_render_options_default(&options, scene);
    options.machine = facet_render_machine_find(machines[choice & 3]);
    options.width = 6;
    options.height = 5;
    options.spp = 1 + (choice >> 2 & 1);
    options.bounces = choice >> 3 & 1;
    options.quality = (choice >> 4) % FACET_BVH_QUALITIES;
    fuzz_require(options.machine != NULL);
    if (facet_render_open(scene, &options, NULL, NULL, &render, &err) == FACET_OK) {
        if (facet_render_bvh(render) != NULL) {
            check(facet_render_bvh(render));
        }
        if (facet_render_draw(render, NULL, NULL, &picture, &report, &err) == FACET_OK) {
            facet_image_f_free(&picture);
        } else {
            fuzz_require(err.message[0] != '\0');
        }
    } else {
        fuzz_require(err.message[0] != '\0');
    }
    facet_render_close(render);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facet_reader reader = {.data = data + 1, .size = size - 1};
    struct facet_scene scene;
    struct facet_error err = {0};

    if (size < 1) {
        return 0;
    }
    facet_scene_init(&scene);
    if (facet_gltf_read(&reader, &scene, &err) == FACET_OK &&
        facet_scene_validate(&scene, &err) == FACET_OK &&
        facet_scene_finish(&scene, &err) == FACET_OK && is_small(&scene)) {
        render(&scene, data[0]);
    }
    facet_scene_free(&scene);
    return 0;
}
