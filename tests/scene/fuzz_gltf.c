/* The glTF reader, outside the sandbox: whatever the bytes are, it neither crashes nor leaks, and
 * what it accepts survives validation, finishing and writing without a crash. */
#include "fuzz/fuzz.h"

#include "scene/gltf/glb.h"
#include "scene/reader.h"
#include "scene/validate.h"

#include <stdlib.h>

/* `shape`: as builders of acceleration structures want it. */
static void
read_scene(const uint8_t *data, size_t size, const struct facet_scene_pose *pose, bool shape)
{
    struct facet_reader reader = {
        .data = data, .size = size, .pose = pose, .shape_only = shape, .keep_flat = shape};
    struct facet_scene scene;
    struct facet_error err;

    facet_scene_init(&scene);
    if (facet_gltf_read(&reader, &scene, &err) == FACET_OK &&
        (shape ? facet_scene_validate_shape(&scene, &err) : facet_scene_validate(&scene, &err)) ==
            FACET_OK &&
        facet_scene_finish(&scene, &err) == FACET_OK && !shape) {
        struct facet_bytes bytes;

        (void)facet_scene_write_glb(&scene, &bytes, &err);
        free(bytes.data);
    }
    facet_scene_free(&scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facet_scene_pose pose = {.time = 0.75};

    read_scene(data, size, NULL, false);
    read_scene(data, size, &pose, false);
    read_scene(data, size, &pose, true);
    return 0;
}
