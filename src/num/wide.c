/* Integer square roots by halving the problem (Zimmermann's recursion): the root of the upper half
 * gives the upper half of the root, one division gives the lower half, at most one step corrects
 * it. No host floating point, no loop over bits. Used by sqrt and rsqrt (numeric.md 10). */
#include "num/wide.h"

/* Root and remainder of a 16-bit number >= 2^14, eight steps. */
static uint32_t isqrt16(uint32_t x, uint32_t *remainder)
{
    uint32_t root = 0;

    for (uint32_t bit = 0x80; bit != 0; bit >>= 1) {
        uint32_t trial = root | bit;

        if (trial * trial <= x) {
            root = trial;
        }
    }
    *remainder = x - root * root;
    return root;
}

/* x >= 2^30. */
static uint32_t isqrt32(uint32_t x, uint32_t *remainder)
{
    uint32_t r, s = isqrt16(x >> 16, &r);
    uint32_t n = r << 8 | (x >> 8 & 0xFF), q = n / (2 * s), u = n % (2 * s);
    int64_t rest = (int64_t)(u << 8 | (x & 0xFF)) - (int64_t)q * q;

    s = (s << 8) + q;
    if (rest < 0) {
        rest += 2 * (int64_t)s - 1;
        s--;
    }
    *remainder = (uint32_t)rest;
    return s;
}

/* x >= 2^62. The remainder can have 33 bits. */
static uint64_t isqrt64(uint64_t x, uint64_t *remainder)
{
    uint32_t r32, s32 = isqrt32((uint32_t)(x >> 32), &r32);
    uint64_t s = s32, n = (uint64_t)r32 << 16 | (x >> 16 & 0xFFFF), q = n / (2 * s);
    uint64_t u = n % (2 * s);
    int64_t rest = (int64_t)(u << 16 | (x & 0xFFFF)) - (int64_t)(q * q);

    s = (s << 16) + q;
    if (rest < 0) {
        rest += 2 * (int64_t)s - 1;
        s--;
    }
    *remainder = (uint64_t)rest;
    return s;
}

/* x >= 2^126. The remainder can have 65 bits. */
static uint64_t isqrt128(facet_u128 x, facet_u128 *remainder)
{
    uint64_t r, s64 = isqrt64((uint64_t)(x >> 64), &r);
    uint64_t low = (uint64_t)x;
    facet_u128 n = (facet_u128)r << 32 | low >> 32;
    /* r <= 2 * s64, so the quotient can reach 2^32: one bit more than a digit. */
    facet_u128 q = n / (2 * s64), u = n % (2 * s64);
    facet_i128 rest = (facet_i128)(u << 32 | (low & UINT32_MAX)) - (facet_i128)(q * q);
    facet_u128 s = ((facet_u128)s64 << 32) + q;

    if (rest < 0) {
        rest += 2 * (facet_i128)s - 1;
        s--;
    }
    *remainder = (facet_u128)rest;
    return (uint64_t)s;
}

uint32_t facet_isqrt64(uint64_t x, bool *exact)
{
    uint64_t remainder, root;
    int shift;

    if (x == 0) {
        *exact = true;
        return 0;
    }
    /* Scale by an even power of two into the range of the recursion; floor survives the way back,
     * exactness does not and is checked on the original. */
    shift = facet_clz64(x) & ~1;
    root = isqrt64(x << shift, &remainder) >> (shift / 2);
    *exact = root * root == x;
    return (uint32_t)root;
}

uint64_t facet_isqrt128(facet_u128 x, bool *exact)
{
    facet_u128 remainder, root;
    int shift;

    if (x == 0) {
        *exact = true;
        return 0;
    }
    shift = facet_clz128(x) & ~1;
    root = isqrt128(x << shift, &remainder) >> (shift / 2);
    *exact = root * root == x;
    return (uint64_t)root;
}
