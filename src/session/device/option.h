/* --device: where the rays of a command are traced. */
#ifndef FACET_SESSION_DEVICE_OPTION_H
#define FACET_SESSION_DEVICE_OPTION_H

#include "command/command.h"
#include "gfx12/device/device.h"

#define SESSION_DEVICE_OPTIONS                                                                     \
    {"device",                                                                                     \
     0,                                                                                            \
     "DEVICE",                                                                                     \
     CLI_GROUP("Device") "who traces: cpu (default), gpu (the first one) or opencl:N as `facet "   \
                         "devices` lists them; the same bits"},                                    \
        {"fallback", 0, "cpu", "go on with the processor where the device cannot"},                \
    {                                                                                              \
        "device-memory", 0, "SIZE",                                                                \
            "what the device may use, as 64k, 512M, 4G (default: half of what it has); larger "    \
            "images and files of rays are streamed"                                                \
    }

struct session_device {
    struct facet_gfx12_device_options options;
    bool wanted;   /* not the processor */
    bool gpu;      /* the first one, whatever its number */
    bool fallback; /* --fallback cpu */
};

/* The options; the complaint is printed when they say nothing that can be. */
bool session_device_read(const struct cli_args *args, struct session_device *device);
/* With the image of the unit, if there is one. *out is NULL where none is wanted, or where it
 * failed and the processor goes on: then what was wrong is told. */
enum facet_status session_device_open(const struct cli_args *args,
                                      const struct session_device *device,
                                      const struct facet_gfx12_unit *unit,
                                      facet_gfx12_device **out,
                                      struct facet_error *err);
/* What was wrong with a device whose work the processor does. */
void session_device_tell(const struct cli_args *args, const struct facet_error *err);

#endif
