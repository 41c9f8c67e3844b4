/* Area `render`: one picture of the furnished room, drawn by a program on the xphmg hart beside the
 * machine that draws the same picture at the host's speed: rays beside gfx12, the rasteriser beside
 * its own C code on the host. One thread; the scene is made ready before the clock starts, and the
 * machines of xphmg-rt and xphmg-rt-offload, with the code that they have translated, stay from one
 * picture to the next. */
#include "bench/bench.h"

#include "base/error.h"
#include "render/render.h"
#include "scene/make.h"

#include <stdlib.h>

enum { WIDTH = 160, HEIGHT = 96, GFX_SAMPLES = 4 };

enum machine { GFX12, RT, OFFLOAD, GFX, PORTABLE, MACHINES };
static const struct {
    const char *name;
    uint32_t spp;
} machines[MACHINES] = {
    [GFX12] = {"gfx12", 1},
    [RT] = {"xphmg-rt", 1},
    [OFFLOAD] = {"xphmg-rt-offload", 1},
    [GFX] = {"xphmg-gfx", GFX_SAMPLES},
    [PORTABLE] = {"xphmg-gfx-portable", GFX_SAMPLES},
};
static struct facet_render *ready[MACHINES];
static struct facet_scene scene;
static bool scene_ready;

static void let_go(void)
{
    for (int i = 0; i < MACHINES; i++) {
        facet_render_close(ready[i]);
    }
    facet_scene_free(&scene);
}

static enum facet_status prepare(enum machine which, struct facet_error *err)
{
    struct facet_render_options options;
    enum facet_status status = FACET_OK;

    if (!scene_ready) {
        facet_scene_init(&scene);
        (void)atexit(let_go);
        scene_ready = true;
        status = facet_scene_make("room", 0, &scene, err);
        if (status == FACET_OK) {
            status = facet_scene_finish(&scene, err);
        }
    }
    if (status != FACET_OK || ready[which] != NULL) {
        return status;
    }
    facet_render_options_default(&options, &scene);
    options.machine = facet_render_machine_find(machines[which].name);
    options.width = WIDTH;
    options.height = HEIGHT;
    options.spp = machines[which].spp;
    return facet_render_open(&scene, &options, NULL, NULL, &ready[which], err);
}

/* Pictures per second. */
static enum facet_status
rate(enum machine which, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(which, err);
    struct facet_render_report report;
    struct facet_image_f picture = {0};
    struct bench_meter meter;

    if (status != FACET_OK) {
        return status;
    }
    meter = bench_meter_start(seconds);
    do {
        status = facet_render_draw(ready[which], NULL, NULL, &picture, &report, err);
        facet_image_f_free(&picture);
    } while (status == FACET_OK && bench_meter_more(&meter, 1));
    *value = 1e6 * bench_meter_rate(&meter);
    return status;
}

#define MEASURE(name, which)                                                                       \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return rate(which, seconds, value, err);                                                   \
    }

MEASURE(gfx12, GFX12)
MEASURE(xphmg_rt, RT)
MEASURE(xphmg_rt_offload, OFFLOAD)
MEASURE(xphmg_gfx, GFX)
MEASURE(xphmg_gfx_portable, PORTABLE)

static const struct bench_measure measures[] = {
    {"xphmg-rt", "picture/s", xphmg_rt, "gfx12, one thread", gfx12},
    {"xphmg-rt-offload", "picture/s", xphmg_rt_offload, "gfx12, one thread", gfx12},
    {"xphmg-gfx", "picture/s", xphmg_gfx, "xphmg-gfx-portable, one thread", xphmg_gfx_portable},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_render = {
    .name = "render",
    .summary = "pictures drawn by programs on the xphmg hart",
    .measures = measures,
};
