/* See srgb.h. */
#include "num/srgb.h"

#include "base/float.h"
#include "num/convert.h"

#include <stdbool.h>

/* clang-format off */
const double facet_srgb_power[80] = {
    0x1.3fd48cbe4fe0dp-10, 0x1.705727fc7dc08p-10, 0x1.a4e43f6229a0dp-10, 0x1.dd93154ab8b23p-10,
    0x1.0d3d16e4c9809p-9, 0x1.2dd7af091aef1p-9, 0x1.50a3ecf902188p-9, 0x1.75ac1fd6d955bp-9,
    0x1.9cfa5141cd735p-9, 0x1.c6984a03cbddfp-9, 0x1.f28f9641a155ep-9, 0x1.1074c49f7061ap-8,
    0x1.28d7a062116e1p-8, 0x1.4274d419e2795p-8, 0x1.5d50bdabadb4bp-8, 0x1.796fa4773c211p-8,
    0x1.a604c150dc673p-8, 0x1.e607345d4f50fp-8, 0x1.15af5520fb535p-7, 0x1.3b14e9e885b17p-7,
    0x1.6343336475dc2p-7, 0x1.8e4899142b7efp-7, 0x1.bc3317fb3e152p-7, 0x1.ed104a7570858p-7,
    0x1.1076b792d2782p-6, 0x1.2bebb7914532ep-6, 0x1.48ed71bea44e4p-6, 0x1.67820d1cb0152p-6,
    0x1.87af8d647ba72p-6, 0x1.a97bd50ecdb32p-6, 0x1.cceca72d77235p-6, 0x1.f207a91b50c20p-6,
    0x1.166dad311f388p-5, 0x1.40a8b38b35bbfp-5, 0x1.6e684c31cf34fp-5, 0x1.9fc0b6b68be4cp-5,
    0x1.d4c58d04cc395p-5, 0x1.06c4e8659a31ep-4, 0x1.250ffb9b748d0p-4, 0x1.454cf9a3e53b6p-4,
    0x1.67849f7b42235p-4, 0x1.8bbf71ad22e7bp-4, 0x1.b205bff9b6918p-4, 0x1.da5fa89ce398dp-4,
    0x1.026a8da1f029ep-3, 0x1.18b6edddebbe9p-3, 0x1.3018c2313d929p-3, 0x1.4893c430044cep-3,
    0x1.6f6375425d4bbp-3, 0x1.a71cb0d8bb4cbp-3, 0x1.e37a3c1961681p-3, 0x1.124b676372f34p-2,
    0x1.354623083eb53p-2, 0x1.5ab9db2243babp-2, 0x1.82b2bd25ad03fp-2, 0x1.ad3ca0a42b5c1p-2,
    0x1.da630d5624e80p-2, 0x1.0518a03d6255dp-1, 0x1.1e5918d3c2b28p-1, 0x1.38f84b8db6810p-1,
    0x1.54fb74d359eb2p-1, 0x1.7267b41a6633fp-1, 0x1.91420d8242654p-1, 0x1.b18f6b4c15301p-1,
    0x1.e4c5a495a91b0p-1, 0x1.17265d7d6028fp+0, 0x1.3ef9e6e5c5434p+0, 0x1.69ef0f13104d9p+0,
    0x1.9816e65f84f59p+0, 0x1.c981f89daa529p+0, 0x1.fe40574ec333ep+0, 0x1.1b30d1505edbfp+1,
    0x1.38fa88b28ae91p+1, 0x1.5884bc14472cap+1, 0x1.79d6a7c61c595p+1, 0x1.9cf75cfd3aa1ap+1,
    0x1.c1edc46700270p+1, 0x1.e8c0a07ebad0ap+1, 0x1.08bb47d6b0b84p+2, 0x1.1e0b071ce6f3cp+2,
};
/* clang-format on */

enum { LIMBS = 9 };

static void multiply(uint64_t a[LIMBS], uint64_t factor)
{
    uint64_t carry = 0;

    for (unsigned i = 0; i < LIMBS; i++) {
        facet_u128 product = (facet_u128)a[i] * factor + carry;

        a[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* (n * 2^-40)^5 < (y / (211 * 2^36))^12, with the denominators multiplied out: 2^232 is 3 limbs and
 * 40 bits. power: y^12. */
static bool below(uint64_t n, const uint64_t power[LIMBS])
{
    const uint64_t six = UINT64_C(211) * 211 * 211 * 211 * 211 * 211;
    uint64_t a[LIMBS] = {[3] = UINT64_C(1) << 40};
    unsigned i = LIMBS - 1;

    for (unsigned k = 0; k < 5; k++) {
        multiply(a, n);
    }
    multiply(a, six);
    multiply(a, six);
    while (i > 0 && a[i] == power[i]) {
        i--;
    }
    return a[i] < power[i];
}

/* x in units of 2^-36. The curve never meets a multiple of 2^-40 here: then (200 x + 11) / 211
 * would be the fifth power of some l / 2^i, i <= 3, and x in binary needs l = 2^i modulo 5, which
 * leaves x = 1 alone. So the last place, 2^-41, says "and a little more". */
static struct facet_srgb_ratio power_of(uint64_t x)
{
    uint64_t power[LIMBS] = {1}, n;

    for (unsigned k = 0; k < 12; k++) {
        multiply(power, 200 * x + (UINT64_C(11) << 36));
    }
    n = (uint64_t)(facet_srgb_estimate((double)x * 0x1p-36) * 0x1p40);
    while (!below(n, power)) {
        n--;
    }
    while (below(n + 1, power)) {
        n++;
    }
    return (struct facet_srgb_ratio){(int64_t)(2 * n + 1), 1, -41};
}

struct facet_srgb_ratio facet_srgb_linear(uint64_t num, int exponent)
{
    FACET_REQUIRE(num > 0 && num >> 32 == 0 && exponent < 0);
    FACET_REQUIRE(exponent < -63 || num >> -exponent == 0); /* below 1 */
    /* x <= 0.04045 = 809 / 20000 */
    if (exponent < -63 || (facet_u128)num * 20000 <= (facet_u128)809 << -exponent) {
        return (struct facet_srgb_ratio){(int64_t)num * 25, 323, exponent};
    }
    FACET_REQUIRE(exponent >= -36 || (num & (((uint64_t)1 << (-36 - exponent)) - 1)) == 0);
    return power_of(exponent < -36 ? num >> (-36 - exponent) : num << (36 + exponent));
}

static float exactly(float x)
{
    const struct facet_num_policy nearest = {.rm = FACET_RNE};
    struct facet_srgb_ratio r = facet_srgb_linear((uint64_t)(x * 0x1p28f), -28);
    unsigned none = 0;
    uint32_t bits =
        (uint32_t)facet_num_from_ratio(FACET_FMT_FP32, r.num, r.den, r.exponent, &nearest, &none);
    float result = facet_float_of(bits);

    return result;
}

float facet_srgb_float(float x)
{
    double z;
    float low, high;

    if (!(x < 1.0F)) {
        return x >= 1.0F ? 1.0F : x;
    }
    if (x <= 0.0F) {
        return 0.0F;
    }
    if (x <= 0.04045) { /* no quotient comes as near to a tie as binary64 may be off */
        return (float)(x * (25.0 / 323));
    }
    z = facet_srgb_estimate(x);
    low = (float)(z - z * FACET_SRGB_ERROR);
    high = (float)(z + z * FACET_SRGB_ERROR);
    return low == high ? low : exactly(x);
}
