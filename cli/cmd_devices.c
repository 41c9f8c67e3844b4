/* `facet devices`: the devices of OpenCL, and whether they give the bits of GFX12. */
#include "command/command.h"

#include "report/devices.h"

const struct cli_command cli_cmd_devices = {
    .name = "devices",
    .summary = "list the OpenCL devices that can trace rays",
    .usage = "facet devices [--json]",
    .details = "Each device is opened and tested: every reciprocal that its divisions are made of, "
               "and tests of boxes and triangles, transforms and divisions, which must have the "
               "bits that the processor computes. One that fails is listed with the reason, and "
               "`--device` refuses it in the same words.\n\n"
               "libOpenCL.so.1 is loaded by this command and by `--device`, by nothing else.",
    .examples = "facet devices\nfacet devices --json",
    .has_json = true,
    .run = report_devices,
    .operands = "",
};
