/* `facet scene info`: what a scene file holds, as text or JSON. */
#include "report/left_out.h"
#include "report/scene.h"

#include "scene/import.h"
#include "json/json.h"

static int run_info(const struct cli_args *args)
{
    const char *path = args->positional[0];
    struct facet_error err;
    struct facet_scene scene;
    int code = CLI_OK;

    if (report_scene_import(args, path, (struct facet_import_options){0}, &scene, &err) !=
        FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (args->json) {
        code = cli_print_json(args, report_scene_json(path, &scene));
    } else {
        report_scene_text(path, &scene);
    }
    facet_scene_free(&scene);
    return code;
}

static const struct cli_option info_options[] = {
    REPORT_POSE_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_scene_info = {
    .options = info_options,
    .name = "scene info",
    .summary = "show the contents of a scene file",
    .usage = "facet scene info FILE [--time T [--animation NAME|N]] [--json]",
    .details =
        "Reads glTF 2.0 (.gltf, .glb), OBJ with MTL, PLY or STL and prints its meshes, "
        "instances, materials, textures, cameras, lights and bounds, and everything in the file "
        "that Facet leaves out or draws in a plainer form (docs/scenes.md): what, how many, "
        "where the first one is, and why. A glTF file that requires an extension which Facet "
        "does not have is refused.\n\n"
        "The file is parsed in a confined process: no files except those in the scene's folder "
        "and below, no network, at most 8 GiB of memory, and 10 seconds of processor time plus "
        "one per MiB. Its pictures may have 2^28 texels together, 1 GiB decoded. A damaged file "
        "gives a message and exit code 2.\n\n"
        "A scene without a camera gets one that sees everything; one without lights gets a sun.",
    .examples = "facet scene info assets/room.glb\n"
                "facet scene info assets/boxes.glb --json",
    .has_json = true,
    .run = run_info,
    .operands = "FILE",
};
