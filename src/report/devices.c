/* See devices.h. */
#include "report/devices.h"

#include "render/render.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* What opening a device, which tests it, has shown. */
struct tested {
    bool exact;  /* it gives the bits */
    bool shades; /* pictures too */
    struct facet_error refusal, no_shading;
};

static struct tested test(size_t number)
{
    const struct facet_gfx12_device_options options = {.number = number,
                                                       .addition = &facet_render_device_addition};
    struct tested t = {0};
    facet_gfx12_device *device;

    t.exact = facet_gfx12_device_open(&options, &device, &t.refusal) == FACET_OK;
    if (t.exact) {
        const char *without = facet_gfx12_device_without(device);

        t.shades = without == NULL;
        (void)snprintf(
            t.no_shading.message, sizeof t.no_shading.message, "%s", t.shades ? "" : without);
        facet_gfx12_device_close(device);
    }
    return t;
}

static void print(size_t number, const struct facet_opencl_device *d, const struct tested *t)
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
    printf("  bits      %s\n", t->exact ? "those of GFX12, tested now" : t->refusal.message);
    if (t->exact) {
        printf("  pictures  %s%s\n",
               t->shades ? "shaded there" : "shaded by the processor: ",
               t->no_shading.message);
    }
}

static json_t *pack(size_t number, const struct facet_opencl_device *d, const struct tested *t)
{
    char name[32];

    (void)snprintf(name, sizeof name, "opencl:%zu", number);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:i, s:I, s:I, s:b, s:s?, s:b, s:s?}",
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
                     (int)t->exact,
                     "refusal",
                     t->exact ? NULL : t->refusal.message,
                     "shades",
                     (int)t->shades,
                     "no_shading",
                     t->exact && !t->shades ? t->no_shading.message : NULL);
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
        const struct tested tested = test(i);

        if (list != NULL) {
            (void)json_array_append_new(list, pack(i, &devices[i], &tested));
        } else {
            print(i, &devices[i], &tested);
        }
    }
    if (count == 0 && list == NULL) {
        printf("no devices: %s\n", why);
    }
    free(devices);
    return list != NULL ? cli_print_json(args, list) : CLI_OK;
}
