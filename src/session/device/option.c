/* See option.h. */
#include "session/device/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The number of the first GPU. */
static bool first_gpu(const struct cli_args *args, size_t *number)
{
    struct facet_opencl_device *devices;
    struct facet_error err;
    char why[128];
    size_t count, i = 0;

    if (facet_opencl_devices(&devices, &count, why, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    while (i < count && (!devices[i].gpu || devices[i].unsuitable != NULL)) {
        i++;
    }
    free(devices);
    if (i == count) {
        *number = count;
        return true; /* opening it says that it is not there */
    }
    *number = i;
    return true;
}

static bool read_number(const struct cli_args *args, const char *text, size_t *number)
{
    static const char prefix[] = "opencl:";
    char *end;
    unsigned long value;

    if (strcmp(text, "gpu") == 0) {
        return first_gpu(args, number);
    }
    errno = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0 && text[sizeof prefix - 1] >= '0' &&
        text[sizeof prefix - 1] <= '9') {
        value = strtoul(text + sizeof prefix - 1, &end, 10);
        if (*end == '\0' && errno == 0) {
            *number = value;
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
    return read_number(args, text, &device->options.number);
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
    enum facet_status status = FACET_OK;

    *out = NULL;
    if (device->wanted) {
        status = facet_gfx12_device_open(&device->options, out, err);
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
