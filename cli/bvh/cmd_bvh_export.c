/* `facet bvh export`: boxes, triangles and instances of an image for other programs. */
#include "report/export.h"
#include "session/bvh/file.h"

static const struct cli_option export_options[] = {
    {"output", 'o', "FILE", "where it goes: .glb, .obj or .json"},
    {"what", 0, "LIST", "of boxes, triangles, instances (default: all three)"},
    {"depth", 0, "A..B", "boxes at these depths only; children of the root have 1"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_export = {
    .name = "bvh export",
    .summary = "boxes and triangles of a GFX12 image as a model",
    .usage = "facet bvh export [IMAGE] -o FILE.glb|FILE.obj|FILE.json [--what LIST] [--depth A..B]",
    .details =
        "Boxes are the children of box nodes, decoded from their grids (oriented ones turned "
        "back); "
        "in .glb and .obj files they are lines. Triangles have the stored corners, bit for bit, in "
        "the order of geometry and primitive. Procedural primitives are boxes. Of an "
        "instance there is the box of what it shows, at its place. What the walk does "
        "not reach is left out; `facet bvh check` names broken links.\n\n"
        "A .glb file has a mesh for each level, a primitive of triangles for each geometry, one of "
        "lines in a colour of its own for each depth, and a node for each instance with the "
        "inverse of its matrix. An .obj file has every instance spelled out in world space. A "
        ".json file has levels, boxes (lo, hi, node, child), triangles and instances as they are "
        "stored.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh export cube.gfx12 -o cube.glb\n"
                "facet bvh export cube.gfx12 -o boxes.json --what boxes --depth 1..2",
    .options = export_options,
    .run = report_export,
    .operands = "[IMAGE]",
};
