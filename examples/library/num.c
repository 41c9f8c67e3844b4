/* Numbers of the machines: one sum in every floating-point format and two rounding modes. */
#include <facet/num.h>
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    struct facet_num_policy nearest = {FACET_RNE}, up = {FACET_RUP};
    struct facet_conv int8 = {FACET_FMT_INT8, FACET_FMT_FP32};
    unsigned flags = 0;
    size_t length;

    for (int f = 0; f < FACET_FMT_FP_COUNT; f++) {
        enum facet_format format = (enum facet_format)f;
        uint64_t third = facet_num_from_text(format, "0.3", &length, &flags);
        uint64_t tenth = facet_num_from_text(format, "0.1", &length, &flags);
        unsigned raised = 0, raised_up = 0;
        uint64_t sum = facet_num_add(format, third, tenth, &nearest, &raised);
        uint64_t above = facet_num_add(format, third, tenth, &up, &raised_up);

        printf("%-9s %2u bits  0.3 + 0.1 = 0x%" PRIx64 " (%.17g), upwards 0x%" PRIx64 "%s\n",
               facet_format_name(format),
               (unsigned)facet_format_bits(format),
               sum,
               facet_num_to_double(format, sum),
               above,
               raised & FACET_NX ? ", inexact" : "");
    }
    flags = 0;
    int8.scale = -4; /* elements count sixteenths */
    int8.sat = true;
    printf("9.7 as INT8 with scale 2^-4: 0x%02" PRIx32,
           facet_narrow(&int8,
                        (uint32_t)facet_num_from_double(FACET_FMT_FP32, 9.7, &nearest, &flags),
                        &flags));
    printf(", flags 0x%x\n", flags);
    return 0;
}
