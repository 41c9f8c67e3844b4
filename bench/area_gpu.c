/* Area `gpu`: rays through a GFX12 image on a device of OpenCL beside the processor's tracer on all
 * processors, which returns the same bits. `kernel` is the time that the device says it took,
 * `host` what is left of the clock, with rays and hits on their way there and back; the others are
 * the clock. The device is the first GPU, or the first device where there is none. */
#include "bench/bench.h"

#include "base/error.h"
#include "base/pool.h"
#include "bench/gfx12_rays.h"
#include "gfx12/device/device.h"

#include <stdlib.h>

/* 320,000 triangles. A GPU has more to do at a time than a processor. */
enum { SIZE = 400, ROWS_GPU = 2048, ROWS = 512, BLOCK_ROWS = 4, BLOCK_COLUMNS = 8 };
enum set { PRIMARY, RANDOM, SETS };
enum part { KERNEL, HOST, ALL }; /* of the time */

static struct {
    bool ready;
    struct trace_scene scene;
    struct facet_gfx12_unit unit;
    facet_gfx12_tracer *tracer;
    facet_gfx12_device *device;
    facet_pool *pool;
    struct facet_gfx12_query query;
    uint32_t rows; /* of the picture, which is twice as wide */
    size_t count;  /* rays of a set */
    struct facet_gfx12_batch_ray *rays[SETS];
    struct facet_gfx12_hit *hits;
} data;

static enum facet_status open_device(struct facet_error *err)
{
    struct facet_gfx12_device_options options = {0};
    struct facet_opencl_device *devices;
    char why[128];
    size_t count;
    enum facet_status status = facet_opencl_devices(&devices, &count, why, err);

    if (status != FACET_OK) {
        return status;
    }
    for (size_t i = count; i-- > 0;) {
        if (devices[i].gpu) {
            options.number = i;
        }
    }
    data.rows = count != 0 && devices[options.number].gpu ? ROWS_GPU : ROWS;
    data.count = (size_t)2 * data.rows * data.rows;
    free(devices);
    return count == 0 ? facet_fail(err, FACET_ERR_USAGE, 0, "no device: %s", why)
                      : facet_gfx12_device_open(&options, &data.device, err);
}

/* From a point of the scene's box anywhere. */
static void random_rays(const float lo[3], const float hi[3], struct facet_gfx12_batch_ray *rays)
{
    uint64_t state = 1;

    for (size_t i = 0; i < data.count; i++) {
        for (unsigned k = 0; k < 6; k++) {
            float *to = k < 3 ? &rays[i].origin[k] : &rays[i].direction[k - 3];
            float unit;

            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unit = (float)(state >> 40) * 0x1p-24F;
            *to = k < 3 ? lo[k] + unit * (hi[k] - lo[k]) : 2 * unit - 1;
        }
        rays[i].t_min = 0;
        rays[i].t_max = __builtin_inff();
    }
}

/* One for each pixel, in blocks of 4 rows and 8 columns, as a renderer has them. */
static enum facet_status primary_rays(struct facet_gfx12_batch_ray *out, struct facet_error *err)
{
    const uint32_t width = 2 * data.rows;
    struct facet_gfx12_batch_ray *rows = malloc(data.count * sizeof *rows);

    if (rows == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    camera_rays(&data.scene, width, data.rows, rows);
    for (size_t i = 0; i < data.count; i++) {
        const size_t in = i % (BLOCK_ROWS * BLOCK_COLUMNS),
                     block = i / (BLOCK_ROWS * BLOCK_COLUMNS);
        const size_t across = width / BLOCK_COLUMNS;
        const size_t x = block % across * BLOCK_COLUMNS + in % BLOCK_COLUMNS;
        const size_t y = block / across * BLOCK_ROWS + in / BLOCK_COLUMNS;

        out[i] = rows[y * width + x];
    }
    free(rows);
    return FACET_OK;
}

static enum facet_status prepare(struct facet_error *err)
{
    const struct facet_gfx12_tracer_options options = {0};
    const float zero[3] = {0, 0, 0};
    enum facet_status status;

    if (data.ready) {
        return FACET_OK;
    }
    status = data.device != NULL ? FACET_OK : open_device(err);
    if (status == FACET_OK) {
        status = trace_scene_make("terrain", SIZE, FACET_BVH_HIGH, &data.scene, err);
    }
    if (status == FACET_OK) {
        trace_scene_unit(&data.scene, &data.unit);
        status = facet_gfx12_device_image(data.device, &data.unit, err);
    }
    if (status == FACET_OK) {
        status = facet_gfx12_tracer_create(&data.unit, &options, &data.tracer, err);
    }
    if (status == FACET_OK) {
        status = facet_pool_create(0, &data.pool, err);
    }
    for (unsigned s = 0; s < SETS && status == FACET_OK; s++) {
        data.rays[s] = malloc(data.count * sizeof *data.rays[s]);
        data.hits = s == 0 ? malloc(data.count * sizeof *data.hits) : data.hits;
        if (data.rays[s] == NULL || data.hits == NULL) {
            status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
        }
    }
    if (status == FACET_OK) {
        facet_gfx12_query_init(&data.query, zero, zero);
        data.query.address = data.unit.image_address;
        random_rays(data.scene.scene.bounds.lo, data.scene.scene.bounds.hi, data.rays[RANDOM]);
        status = primary_rays(data.rays[PRIMARY], err);
        data.ready = status == FACET_OK;
    }
    return status;
}

static enum facet_status
device_rate(enum set set, enum part part, double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(err);
    uint64_t nanoseconds = 0;
    double start = 0, took = 0;
    size_t rays = 0;

    if (status == FACET_OK) {
        nanoseconds = facet_gfx12_device_figures(data.device).nanoseconds;
        start = bench_now();
    }
    while (status == FACET_OK && (rays == 0 || took < seconds)) {
        status = facet_gfx12_device_trace(data.device,
                                          &(struct facet_gfx12_device_batch){.host = data.tracer,
                                                                             .common = &data.query,
                                                                             .rays = data.rays[set],
                                                                             .count = data.count,
                                                                             .hits = data.hits},
                                          err);
        rays += data.count;
        took = bench_now() - start;
    }
    if (status == FACET_OK && part != ALL) {
        const double kernels =
            1e-9 * (double)(facet_gfx12_device_figures(data.device).nanoseconds - nanoseconds);

        took = part == KERNEL ? kernels : took - kernels;
    }
    *value = status == FACET_OK ? 1e-6 * (double)rays / took : 0;
    return status;
}

static enum facet_status
processor_rate(enum set set, double seconds, double *value, struct facet_error *err)
{
    const double start = bench_now();
    enum facet_status status = FACET_OK;
    double took = 0;
    size_t rays = 0;

    while (status == FACET_OK && (rays == 0 || took < seconds)) {
        status = facet_gfx12_tracer_batch(
            data.tracer, &data.query, data.rays[set], data.count, data.hits, data.pool, NULL, err);
        rays += data.count;
        took = bench_now() - start;
    }
    *value = 1e-6 * (double)rays / took;
    return status;
}

static enum facet_status primary_kernel(double seconds, double *value, struct facet_error *err)
{
    return device_rate(PRIMARY, KERNEL, seconds, value, err);
}

static enum facet_status primary_host(double seconds, double *value, struct facet_error *err)
{
    return device_rate(PRIMARY, HOST, seconds, value, err);
}

static enum facet_status primary(double seconds, double *value, struct facet_error *err)
{
    return device_rate(PRIMARY, ALL, seconds, value, err);
}

static enum facet_status random_kernel(double seconds, double *value, struct facet_error *err)
{
    return device_rate(RANDOM, KERNEL, seconds, value, err);
}

/* Without sorting them, as a GPU does otherwise. */
static enum facet_status random_kept(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = prepare(err);

    if (status == FACET_OK) {
        facet_gfx12_device_order(data.device, FACET_GFX12_DEVICE_KEEPS);
        status = device_rate(RANDOM, KERNEL, seconds, value, err);
        facet_gfx12_device_order(data.device, FACET_GFX12_DEVICE_DECIDES);
    }
    return status;
}

static enum facet_status random_set(double seconds, double *value, struct facet_error *err)
{
    return device_rate(RANDOM, ALL, seconds, value, err);
}

static enum facet_status primary_here(double seconds, double *value, struct facet_error *err)
{
    return processor_rate(PRIMARY, seconds, value, err);
}

static enum facet_status random_here(double seconds, double *value, struct facet_error *err)
{
    return processor_rate(RANDOM, seconds, value, err);
}

#define HERE "the tracer on all processors"

static const struct bench_measure measures[] = {
    {"primary kernel", "Mray/s", primary_kernel, HERE, primary_here},
    {"primary host", "Mray/s", primary_host, HERE, primary_here},
    {"primary", "Mray/s", primary, HERE, primary_here},
    {"random kernel", "Mray/s", random_kernel, HERE, random_here},
    {"random kernel unsorted", "Mray/s", random_kept, HERE, random_here},
    {"random", "Mray/s", random_set, HERE, random_here},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_gpu = {
    .name = "gpu",
    .summary = "the same rays on a device of OpenCL; not part of `all`",
    .measures = measures,
    .by_name = true,
};
