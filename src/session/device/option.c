/* See option.h. */
#include "session/device/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_name(const struct cli_args *args, const char *text, struct session_device *device)
{
    static const char prefix[] = "opencl:";
    char *end;
    unsigned long value;

    device->gpu = strcmp(text, "gpu") == 0;
    if (device->gpu) {
        return true;
    }
    errno = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0 && text[sizeof prefix - 1] >= '0' &&
        text[sizeof prefix - 1] <= '9') {
        value = strtoul(text + sizeof prefix - 1, &end, 10);
        if (*end == '\0' && errno == 0) {
            device->options.number = value;
            return true;
        }
    }
    (void)cli_bad(args, "--device is '%s'; expected cpu, gpu or opencl:N", text);
    return false;
}

bool session_device_read(const struct cli_args *args, struct session_device *device)
{
    static const char *const for_devices[] = {"fallback", "device-memory", NULL};
    const char *text = cli_value(args, "device"), *size = cli_value(args, "device-memory"), *end;

    *device = (struct session_device){.wanted = text != NULL && strcmp(text, "cpu") != 0,
                                      .fallback = cli_given(args, "fallback")};
    if (!device->wanted) {
        return !cli_useless(args, for_devices, "needs --device gpu or opencl:N");
    }
    if (size != NULL && (!cli_size(size, &end, &device->options.max_bytes) || *end != '\0' ||
                         device->options.max_bytes < 1 << 14)) {
        (void)cli_bad(
            args, "--device-memory is '%s'; expected 16k or more, as 64k, 512M or 4G", size);
        return false;
    }
    return read_name(args, text, device);
}

void session_device_tell(const struct cli_args *args, const struct facet_error *err)
{
    (void)cli_complain(args->command->name, "%s; the processor traces instead", err->message);
}

enum facet_status session_device_open(const struct cli_args *args,
                                      const struct session_device *device,
                                      const struct facet_gfx12_unit *unit,
                                      facet_gfx12_device **out,
                                      struct facet_error *err)
{
    struct facet_gfx12_device_options options = device->options;
    enum facet_status status = FACET_OK;

    *out = NULL;
    if (device->gpu) {
        status = facet_opencl_first_gpu(&options.number, err);
    }
    if (device->wanted && status == FACET_OK) {
        status = facet_gfx12_device_open(&options, out, err);
    }
    if (status == FACET_OK && *out != NULL && unit != NULL) {
        status = facet_gfx12_device_image(*out, unit, err);
    }
    if (status != FACET_OK) {
        facet_gfx12_device_close(*out);
        *out = NULL;
    }
    if (device->fallback && (status == FACET_ERR_IO || status == FACET_ERR_USAGE)) {
        session_device_tell(args, err);
        status = FACET_OK;
    }
    return status;
}
