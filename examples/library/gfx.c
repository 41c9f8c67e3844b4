/* One bilinear sample of a 2 x 2 texture, with the texels and weights that made it. */
#include <facet/gfx.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const uint8_t texels[2][2][4] = {{{255, 0, 0, 255}, {0, 255, 0, 255}},
                                            {{0, 0, 255, 255}, {255, 255, 255, 255}}};
    const float uv[2] = {0.5F, 0.375F};
    struct facet_gfx_sample_record record;
    struct facet_gfx_sampler sampler;
    struct facet_error err;
    uint32_t elements[2];
    unsigned flags = 0;

    memset(&sampler, 0, sizeof sampler);
    sampler.memory = texels[0][0];
    sampler.memory_size = sizeof texels;
    sampler.width = sampler.height = 2;
    sampler.format = facet_gfx_format_find("UNORM8_RGBA");
    sampler.normalized = sampler.bilinear = true;
    memcpy(elements, uv, sizeof elements);
    if (facet_gfx_explain_sample(&sampler, elements, &record, &flags, &err) != FACET_OK) {
        puts(err.message);
        return 2;
    }
    printf("weights %g and %g\n", record.footprint.fu / 65536.0, record.footprint.fv / 65536.0);
    for (int i = 0; i < 4; i++) {
        printf("tap %d: texel (%" PRIu32 ", %" PRIu32 "), red %g\n",
               i,
               record.footprint.tap[i].x,
               record.footprint.tap[i].y,
               facet_num_to_double(FACET_FMT_FP32, record.steps.channel[0].tap[i]));
    }
    for (int c = 0; c < 4; c++) {
        printf("%c = %g\n", "RGBA"[c], facet_num_to_double(FACET_FMT_FP32, record.result[c]));
    }
    return 0;
}
