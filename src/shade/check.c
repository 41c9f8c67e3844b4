/* See check.h. Also part of the text that devices compile (scene/memory.h). */
#include "shade/check.h"

#include "base/float.h"
#include "scene/sample.h"
#include "shade/light.h"
#include "shade/path.h"

static void put_vec3(struct facet_vec3 v, uint32_t out[3])
{
    out[0] = facet_float_bits(v.x);
    out[1] = facet_float_bits(v.y);
    out[2] = facet_float_bits(v.z);
}

static void put_double(double value, uint32_t out[2])
{
    out[0] = (uint32_t)facet_double_bits(value);
    out[1] = (uint32_t)(facet_double_bits(value) >> 32);
}

/* A float near 1 in magnitude, but where one in eight is anything that is finite. */
static float operand(uint32_t bits)
{
    uint32_t exponent = (bits >> 27 & 7) != 0 ? 124 + (bits >> 23 & 7) : bits >> 23 & 0xFF;

    return facet_float_of((bits & 0x807FFFFFU) | (exponent < 255 ? exponent : 0) << 23);
}

void facet_shade_check(const uint32_t in[FACET_SHADE_CHECK_IN], uint32_t out[FACET_SHADE_CHECK_OUT])
{
    float a = operand(in[0]), b = operand(in[1]), c = operand(in[2]), random[2];
    struct facet_vec3 v = vec3(a, b, c);
    double sine, cosine;

    for (int i = 0; i < FACET_SHADE_CHECK_OUT; i++) {
        out[i] = 0;
    }
    out[0] = facet_float_bits(b != 0.0F ? a / b : 0.0F);
    out[1] = facet_float_bits(sqrtf(fabsf(a)));
    put_double((double)a * (double)b + (double)c, out + 2);
    put_double(b != 0.0F ? (double)a / (double)b : 0.0, out + 4);
    out[6] = facet_float_bits((float)((double)a * (double)b * (double)c));
    out[7] = facet_float_bits(a * b + c);
    facet_shade_sincos_double((double)(in[3] >> 8) * (1.5 / 16777216.0), &sine, &cosine);
    put_double(sine, out + 8);
    put_double(cosine, out + 10);
    facet_sample_pair(in[3], in[4] & 0xFFFFU, in[5] & 0xFFU, random);
    out[12] = facet_float_bits(random[0]);
    out[13] = facet_float_bits(random[1]);
    out[14] = facet_float_bits(facet_sample_of(in[3], in[4] & 0xFFFFU, in[5] & 0xFFU));
    if (vec3_normalize(&v)) {
        put_vec3(v, out + 15);
        put_vec3(facet_shade_cosine_direction(v, random[0], random[1]), out + 18);
        put_vec3(facet_shade_sky(v), out + 21);
        put_vec3(facet_shade_sky_light(v), out + 24);
    }
    out[27] = (uint32_t)sizeof(struct facet_path);
    out[28] = (uint32_t)sizeof(struct facet_lamp);
    out[29] = floorf(a) < 0x1p30F && floorf(a) > -0x1p30F ? (uint32_t)(int32_t)floorf(a) : 0;
}
