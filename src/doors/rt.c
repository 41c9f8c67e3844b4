/* See facet/rt.h. */
#include "rt/steps.h"

#include <string.h>

/* All four channels alike. */
static struct facet_rt_numbers numbers_of(const struct facet_conv *numbers)
{
    struct facet_conv conv =
        numbers != NULL ? *numbers : (struct facet_conv){.elem = FACET_FMT_FP32};

    conv.acc = FACET_FMT_FP32;
    conv.mixed_step = false;
    return (struct facet_rt_numbers){{conv, conv, conv, conv}};
}

void facet_rt_explain_box(const struct facet_conv *numbers,
                          const struct facet_rt_box_options *options,
                          const uint32_t *ray,
                          const uint32_t box[6],
                          struct facet_rt_box_lane_steps *steps,
                          unsigned *flags)
{
    static const struct facet_rt_box_options none;
    const struct facet_rt_numbers n = numbers_of(numbers);

    memset(steps, 0, sizeof *steps);
    facet_rt_box_lane_steps(&n, options != NULL ? options : &none, ray, box, steps, flags);
}

void facet_rt_explain_triangle(const struct facet_conv *numbers,
                               const struct facet_rt_options *options,
                               const uint32_t ray[8],
                               const uint32_t vertices[9],
                               struct facet_rt_triangle_lane_steps *steps,
                               unsigned *flags)
{
    static const struct facet_rt_options none;
    const struct facet_rt_numbers n = numbers_of(numbers);

    memset(steps, 0, sizeof *steps);
    facet_rt_triangle_lane_steps(
        &n, options != NULL ? options : &none, ray, vertices, steps, flags);
}
