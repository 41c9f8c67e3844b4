/* See devices.h. */
#include "report/devices.h"

#include "gfx12/device/device.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Opens the device, which tests it. NULL: it gives the bits. */
static const char *refusal_of(size_t number, struct facet_error *err)
{
    const struct facet_gfx12_device_options options = {.number = number};
    facet_gfx12_device *device;

    if (facet_gfx12_device_open(&options, &device, err) != FACET_OK) {
        return err->message;
    }
    facet_gfx12_device_close(device);
    return NULL;
}

static void print(size_t number, const struct facet_opencl_device *d, const char *refusal)
{
    printf("opencl:%zu  %s\n", number, d->name);
    printf("  platform  %s, %s, driver %s\n", d->platform, d->version, d->driver);
    printf("  kind      %s, %" PRIu32 " compute unit%s\n",
           d->gpu ? "GPU" : "no GPU",
           d->units,
           cli_s(d->units));
    printf("  memory    %" PRIu64 " MiB, in pieces of at most %" PRIu64 " MiB\n",
           d->memory >> 20,
           d->largest >> 20);
    printf("  bits      %s\n", refusal == NULL ? "those of GFX12, tested now" : refusal);
}

static json_t *pack(size_t number, const struct facet_opencl_device *d, const char *refusal)
{
    char name[32];

    (void)snprintf(name, sizeof name, "opencl:%zu", number);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:i, s:I, s:I, s:b, s:s?}",
                     "device",
                     name,
                     "name",
                     d->name,
                     "platform",
                     d->platform,
                     "version",
                     d->version,
                     "driver",
                     d->driver,
                     "gpu",
                     (int)d->gpu,
                     "units",
                     (int)d->units,
                     "memory",
                     (json_int_t)d->memory,
                     "largest_piece",
                     (json_int_t)d->largest,
                     "exact",
                     (int)(refusal == NULL),
                     "refusal",
                     refusal);
}

int report_devices(const struct cli_args *args)
{
    struct facet_opencl_device *devices;
    struct facet_error err = {0};
    json_t *list = cli_json_list(args);
    char why[128];
    size_t count;

    if (facet_opencl_devices(&devices, &count, why, &err) != FACET_OK) {
        json_decref(list);
        return cli_bad_error(args, &err);
    }
    for (size_t i = 0; i < count; i++) {
        const char *refusal = refusal_of(i, &err);

        if (list != NULL) {
            (void)json_array_append_new(list, pack(i, &devices[i], refusal));
        } else {
            print(i, &devices[i], refusal);
        }
    }
    if (count == 0 && list == NULL) {
        printf("no devices: %s\n", why);
    }
    free(devices);
    return list != NULL ? cli_print_json(args, list) : CLI_OK;
}
