/* `facet bvh render`: a look at an image, as `facet render IMAGE`. */
#include "cli/bvh/bvh.h"

#include "report/camera.h"
#include "report/picture.h"
#include "session/device/option.h"

static const struct cli_option render_options[] = {
    {"output", 'o', "FILE", CLI_GROUP("Picture") "the picture: .png, or .pfm and .exr for floats"},
    {"size", 0, "WxH", "pixels (default 1280x720)"},
    {"aov", 0, "normal|depth|ids|heat", "another picture of what the rays hit"},
    {"heatmap", 0, "nodes|triangles", "show what each ray cost instead"},
    {"heat-max", 0, "N", "count at the end of the colour scale (default: by the picture)"},
    REPORT_CAMERA_OPTIONS,
    {"flags",
     0,
     "N",
     CLI_GROUP("Ray") "ray flags (default 0); 0x10: backs of one-sided triangles are not there"},
    {"mask", 0, "N", "instance mask (default 0xff)"},
    {"procedural",
     0,
     "box|candidates",
     "the boxes of procedural primitives are seen (default: none is), or how many of them each ray "
     "comes to"},
    {"profile", 0, "silicon|gpurt", "of the intersect instructions (default silicon)"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    CLI_PLAIN_OPTION,
    SESSION_DEVICE_OPTIONS,
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_render = {
    .name = "bvh render",
    .summary = "draw a GFX12 BVH image as it is",
    .usage = "facet bvh render [IMAGE] -o FILE [--aov normal|depth|ids|heat] [--eye X,Y,Z]",
    .details =
        "What `facet render` does with a file that is no scene: one ray through the middle of each "
        "pixel, no light but that of the eye, backs of triangles reddish. --aov shows normals, "
        "depths (near is bright; .pfm and .exr have the t of the hit, inf for none), a colour for "
        "each triangle, or the nodes that rays visit. The camera sees everything unless the "
        "options move it; `facet bvh why --pixel` takes the same ones.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh render cube.gfx12 --size 160x90 --aov depth -o depth.png",
    .options = render_options,
    .has_json = true,
    .run = report_picture,
    .operands = "[IMAGE]",
};
