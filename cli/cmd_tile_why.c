/* `facet tile why`: what the commands of a list did to one pixel. */
#include "session/tile/why.h"

#include "command/stop.h"

static const struct cli_option why_options[] = {
    {"full", 0, NULL, "every value: corners, edges, depth, texel taps, blend, bits"},
    CLI_STOP_OPTION,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_tile_why = {
    .name = "tile why",
    .summary = "explain what the commands of a list did to one pixel",
    .usage = "facet tile why X,Y COMMANDS.json [--full] [--json]",
    .details =
        "Runs the list as `facet tile draw` does and tells, in order, of every draw whose surface "
        "has the pixel, and of every store of a kernel and command that writes it: the bits before "
        "and after, the triangle and its depth, texel and blend, or why there is none. A triangle "
        "comes to nothing because it does not cover the pixel (edge functions, or the top-left "
        "rule on an edge), fails the depth test, lies outside the scissor, viewport, framebuffer "
        "or rectangle, is culled, or has been clipped; of those that do not cover the pixel the "
        "closest is named. What is written later says so. X,Y counts from the top left of the "
        "list's frame.\n\n"
        "docs/tile-draw.md has an example.",
    .examples = "facet tile why 64,20 examples/tile/triangle.json\n"
                "facet tile why 64,20 examples/tile/triangle.json --full",
    .options = why_options,
    .has_json = true,
    .run = session_tile_why,
    .operands = "X,Y COMMANDS.json",
};
