/* `facet scene make`: writes one of the project's own scenes. */
#include "command/command.h"

#include "scene/gltf/glb.h"
#include "scene/make.h"

#include <stdio.h>
#include <stdlib.h>

static const struct cli_option make_options[] = {
    {"output", 'o', "FILE", "the .glb file to write; - is standard output"},
    {"size", 0, "N", "how large; what it counts depends on the scene"},
    {NULL, 0, NULL, NULL},
};

static int run_make(const struct cli_args *args)
{
    const struct facet_recipe *recipe = facet_recipe_find(args->positional[0]);
    const char *output = cli_value(args, "output");
    struct facet_bytes bytes = {NULL, 0};
    struct facet_scene scene;
    struct facet_error err;
    enum facet_status status;
    uint64_t size;

    if (output == NULL) {
        return cli_bad(args, "-o FILE is required");
    }
    size = recipe->size;
    if (!cli_number(args, "size", recipe->least, recipe->most, &size)) {
        return CLI_BAD;
    }
    status = facet_scene_make(recipe->name, (uint32_t)size, &scene, &err);
    if (status == FACET_OK) {
        status = facet_scene_write_glb(&scene, &bytes, &err);
    }
    if (status == FACET_OK) {
        status = facet_file_write(output, bytes.data, bytes.size, &err);
    }
    free(bytes.data);
    facet_scene_free(&scene);
    return status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
}

const struct cli_command cli_cmd_scene_make = {
    .name = "scene make",
    .summary = "write one of the project's own scenes",
    .usage = "facet scene make NAME -o FILE.glb [--size N]",
    .details =
        "The same name and size give the same bytes on every host. Scenes, what --size counts, and "
        "its default:\n\n"
        "  room       a furnished room: textures, shared meshes, mirrored\n"
        "             and cut-out parts; rows of furniture, 4\n"
        "  knot       a torus knot, one smooth closed mesh; steps along it,\n"
        "             512; it has size * size / 4 triangles\n"
        "  terrain    a mountain range; cells on each side, 724; it has\n"
        "             2 * size * size triangles, a million and more\n"
        "  sphere     a textured sphere; rings from pole to pole, 64\n"
        "  boxes      coloured walls, blocks and a lamp; blocks stacked, 1\n"
        "  instances  many copies of three shapes; copies on each side, 64\n"
        "  uv         three squares that must look the same: texture\n"
        "             orientation, second UV set, texture transform; 2",
    .examples = "facet scene make knot -o /tmp/knot.glb --size 64\n"
                "facet scene make instances --size 8 -o /tmp/field.glb",
    .options = make_options,
    .run = run_make,
    .operands = "room|knot|terrain|sphere|boxes|instances|uv",
};
