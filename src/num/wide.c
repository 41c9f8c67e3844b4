/* Integer square roots by halving the problem (Zimmermann's recursion): the root of the upper half
 * gives the upper half of the root, one division gives the lower half, at most one step corrects
 * it. No host floating point, no loop over bits. Used by sqrt and rsqrt (numeric.md 10). */
#include "num/wide.h"

/* floor(sqrt(256 * i)) for i = 64..255: the root of a 16-bit number from its upper byte, at most
 * one too small. */
static const uint8_t root_of_byte[192] = {
    128, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144,
    144, 145, 146, 147, 148, 149, 150, 150, 151, 152, 153, 154, 155, 155, 156, 157, 158, 159,
    160, 160, 161, 162, 163, 163, 164, 165, 166, 167, 167, 168, 169, 170, 170, 171, 172, 173,
    173, 174, 175, 176, 176, 177, 178, 178, 179, 180, 181, 181, 182, 183, 183, 184, 185, 185,
    186, 187, 187, 188, 189, 189, 190, 191, 192, 192, 193, 193, 194, 195, 195, 196, 197, 197,
    198, 199, 199, 200, 201, 201, 202, 203, 203, 204, 204, 205, 206, 206, 207, 208, 208, 209,
    209, 210, 211, 211, 212, 212, 213, 214, 214, 215, 215, 216, 217, 217, 218, 218, 219, 219,
    220, 221, 221, 222, 222, 223, 224, 224, 225, 225, 226, 226, 227, 227, 228, 229, 229, 230,
    230, 231, 231, 232, 232, 233, 234, 234, 235, 235, 236, 236, 237, 237, 238, 238, 239, 240,
    240, 241, 241, 242, 242, 243, 243, 244, 244, 245, 245, 246, 246, 247, 247, 248, 248, 249,
    249, 250, 250, 251, 251, 252, 252, 253, 253, 254, 254, 255};

/* x in [2^14, 2^16). */
static uint32_t isqrt16(uint32_t x, uint32_t *remainder)
{
    uint32_t root = root_of_byte[(x >> 8) - 64];

    root += (root + 1) * (root + 1) <= x;
    *remainder = x - root * root;
    return root;
}

/* One step of the recursion for the widths up to 64 bits: `s` and `r` are root and remainder of the
 * upper half, `next` and `low` the two digits of `bits` bits that follow. */
static uint64_t
extend_root(uint64_t s, uint64_t r, uint64_t next, uint64_t low, unsigned bits, uint64_t *remainder)
{
    uint64_t n = r << bits | next, q = n / (2 * s), u = n - q * 2 * s;
    int64_t rest = (int64_t)(u << bits | low) - (int64_t)(q * q);

    s = (s << bits) + q;
    if (rest < 0) {
        rest += 2 * (int64_t)s - 1;
        s--;
    }
    *remainder = (uint64_t)rest;
    return s;
}

/* x >= 2^62. The remainder can have 33 bits. */
static uint64_t isqrt64(uint64_t x, uint64_t *remainder)
{
    uint32_t r16, s16 = isqrt16((uint32_t)(x >> 48), &r16);
    uint64_t r, s = extend_root(s16, r16, x >> 40 & 0xFF, x >> 32 & 0xFF, 8, &r);

    return extend_root(s, r, x >> 16 & 0xFFFF, x & 0xFFFF, 16, remainder);
}

/* x >= 2^126. */
static uint64_t isqrt128(facet_u128 x)
{
    uint64_t r, s = isqrt64((uint64_t)(x >> 64), &r), low = (uint64_t)x;
    /* r * 2^32 + the next digit has up to 65 bits: halved, it is divided by s instead of 2s */
    uint64_t half = r << 31 | low >> 33, q = half / s;
    facet_u128 u = (facet_u128)(half - q * s) << 1 | (low >> 32 & 1);
    facet_i128 rest = (facet_i128)(u << 32 | (uint32_t)low) - (facet_i128)q * q;

    /* q can reach 2^32: then the correction below brings the root back into 64 bits */
    return (uint64_t)(((facet_u128)s << 32) + q - (rest < 0));
}

uint32_t facet_num_isqrt64(uint64_t x, bool *exact)
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

uint64_t facet_num_isqrt128(facet_u128 x, bool *exact)
{
    facet_u128 root;
    int shift;

    if (x == 0) {
        *exact = true;
        return 0;
    }
    shift = facet_num_clz128(x) & ~1;
    root = isqrt128(x << shift) >> (shift / 2);
    *exact = root * root == x;
    return (uint64_t)root;
}
