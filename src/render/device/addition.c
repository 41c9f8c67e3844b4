/* The text that shades on a device: files of src/shade and what they need, and the kernels. */
#include "render/device/paths.h"

#include "base/hash.h"
#include "image/color.h"
#include "render/device/pixel.h"
#include "render/device/shared.h"
#include "render/device/text.h" /* made of the files that it names */
#include "shade/check.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKS = 4096 };

static const char *const texts[] = {shade_shared, shade_opencl,    scene_kinds,   scene_sample_h,
                                    shade_vec,    shade_surface_h, shade_light_h, shade_camera_h,
                                    shade_path_h, shade_check_h,   shade_pixel,   scene_sample,
                                    scene_uv,     shade_texture,   shade_surface, shade_light,
                                    shade_camera, shade_path,      shade_check,   shade_paths};

static void make_case(uint64_t number, uint32_t in[FACET_SHADE_CHECK_IN])
{
    for (unsigned k = 0; k < FACET_SHADE_CHECK_IN; k++) {
        in[k] = (uint32_t)facet_hash_step(facet_hash_step(2, number), k);
    }
}

static bool is_right(const uint32_t in[FACET_SHADE_CHECK_IN],
                     const uint32_t got[FACET_SHADE_CHECK_OUT])
{
    uint32_t want[FACET_SHADE_CHECK_OUT];

    facet_shade_check(in, want);
    want[FACET_SHADE_CHECK_OUT - 2] = sizeof(struct device_pixel);
    want[FACET_SHADE_CHECK_OUT - 1] = sizeof(struct device_picture);
    return memcmp(want, got, sizeof want) == 0;
}

static enum facet_status compute(facet_opencl *cl,
                                 facet_opencl_memory *from,
                                 facet_opencl_memory *to,
                                 const uint32_t *in,
                                 uint32_t *got,
                                 struct facet_error *err)
{
    const struct facet_opencl_argument arguments[] = {{from, 0}, {to, 0}, {NULL, CHECKS}};
    enum facet_status status =
        facet_opencl_write(cl, from, 0, in, CHECKS * FACET_SHADE_CHECK_IN * sizeof *in, err);

    if (status == FACET_OK) {
        status = facet_opencl_run(cl, "facet_shade_checks", arguments, 3, CHECKS, NULL, err);
    }
    return status == FACET_OK
               ? facet_opencl_read(
                     cl, to, 0, got, CHECKS * FACET_SHADE_CHECK_OUT * sizeof *got, err)
               : status;
}

static enum facet_status check(facet_opencl *cl, struct facet_error *err)
{
    uint32_t *in = calloc(CHECKS, FACET_SHADE_CHECK_IN * sizeof *in);
    uint32_t *got = calloc(CHECKS, FACET_SHADE_CHECK_OUT * sizeof *got);
    facet_opencl_memory *from = NULL, *to = NULL;
    enum facet_status status =
        in != NULL && got != NULL
            ? facet_opencl_memory_new(cl, CHECKS * FACET_SHADE_CHECK_IN * sizeof *in, &from, err)
            : facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    unsigned wrong = 0;

    for (unsigned i = 0; status == FACET_OK && i < CHECKS; i++) {
        make_case(i, in + (size_t)FACET_SHADE_CHECK_IN * i);
    }
    if (status == FACET_OK) {
        status =
            facet_opencl_memory_new(cl, CHECKS * FACET_SHADE_CHECK_OUT * sizeof *got, &to, err);
    }
    if (status == FACET_OK) {
        status = compute(cl, from, to, in, got, err);
    }
    for (unsigned i = 0; status == FACET_OK && i < CHECKS; i++) {
        wrong += !is_right(in + (size_t)FACET_SHADE_CHECK_IN * i,
                           got + (size_t)FACET_SHADE_CHECK_OUT * i);
    }
    facet_opencl_memory_free(cl, from);
    facet_opencl_memory_free(cl, to);
    free(in);
    free(got);
    return wrong != 0 ? facet_fail(err,
                                   FACET_ERR_USAGE,
                                   0,
                                   "%s shades with other bits in %u of %d cases",
                                   facet_opencl_about(cl)->name,
                                   wrong,
                                   CHECKS)
                      : status;
}

const struct facet_gfx12_device_addition facet_render_device_addition = {
    .texts = texts,
    .text_count = sizeof texts / sizeof texts[0],
    .any_hit = facet_render_any_hit,
    .check = check,
};
