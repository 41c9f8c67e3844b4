/* Numbers and memory of the second formulation. */
#include "base/float.h"
#include "reference_internal.h"

#include <math.h>
#include <mpfr.h>

static mpfr_t ma, mb, mc, mr;
static mpfr_exp_t saved_min, saved_max;

void ref_open(void)
{
    saved_min = mpfr_get_emin();
    saved_max = mpfr_get_emax();
    /* binary32 with subnormals: 0.1b * 2^-148 is the smallest number. */
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    mpfr_inits2(24, ma, mb, mc, mr, (mpfr_ptr)0);
}

void ref_close(void)
{
    mpfr_clears(ma, mb, mc, mr, (mpfr_ptr)0);
    mpfr_free_cache();
    mpfr_set_emin(saved_min);
    mpfr_set_emax(saved_max);
}

static void put(mpfr_t to, uint32_t bits)
{
    float f = facet_float_of(bits);

    mpfr_set_flt(to, f, MPFR_RNDN);
}

static uint32_t get(int ternary)
{
    float f;
    uint32_t bits;

    mpfr_subnormalize(mr, ternary, MPFR_RNDN);
    f = mpfr_get_flt(mr, MPFR_RNDN);
    bits = facet_float_bits(f);
    return bits;
}

#define BINARY(name, operation)                                                                    \
    uint32_t name(uint32_t a, uint32_t b)                                                          \
    {                                                                                              \
        put(ma, a);                                                                                \
        put(mb, b);                                                                                \
        return get(operation(mr, ma, mb, MPFR_RNDN));                                              \
    }

BINARY(ref_add, mpfr_add)
BINARY(ref_sub, mpfr_sub)
BINARY(ref_mul, mpfr_mul)
BINARY(ref_div, mpfr_div)

uint32_t ref_fma(uint32_t a, uint32_t b, uint32_t c)
{
    put(ma, a);
    put(mb, b);
    put(mc, c);
    return get(mpfr_fma(mr, ma, mb, mc, MPFR_RNDN));
}

uint32_t ref_sqrt(uint32_t a)
{
    put(ma, a);
    return get(mpfr_sqrt(mr, ma, MPFR_RNDN));
}

uint32_t ref_int(int64_t n)
{
    return get(mpfr_set_sj(mr, n, MPFR_RNDN));
}

bool ref_is_nan(uint32_t a)
{
    return (a & 0x7FFFFFFF) > 0x7F800000;
}

bool ref_less(uint32_t a, uint32_t b)
{
    put(ma, a);
    put(mb, b);
    return mpfr_less_p(ma, mb) != 0;
}

bool ref_less_equal(uint32_t a, uint32_t b)
{
    put(ma, a);
    put(mb, b);
    return mpfr_lessequal_p(ma, mb) != 0;
}

uint32_t ref_neg(uint32_t a)
{
    return a ^ 0x80000000u;
}

uint32_t ref_from_half(uint32_t h)
{
    const uint32_t sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;

    if (e == 31) {
        return sign | 0x7F800000 | m << 13;
    }
    put(ma, ref_int(e == 0 ? m : m + 1024));
    return sign | get(mpfr_mul_2si(mr, ma, (e == 0 ? 1 : (long)e) - 25, MPFR_RNDN));
}

int64_t ref_floor(uint32_t a)
{
    if (ref_is_nan(a)) {
        return 0;
    }
    put(ma, a);
    if (mpfr_cmp_d(ma, 0x1p31) >= 0) {
        return INT32_MAX;
    }
    if (mpfr_cmp_d(ma, -0x1p31) < 0) {
        return INT32_MIN;
    }
    return mpfr_get_sj(ma, MPFR_RNDD);
}

uint32_t ref_u8(uint32_t a)
{
    const int64_t n = ref_floor(ref_add(a, 0x3F000000));

    return n < 0 ? 0 : n > 255 ? 255 : (uint32_t)n;
}

bool ref_snap(uint32_t a, int64_t *out)
{
    mpfr_t wide;
    bool good = (a & 0x7F800000) != 0x7F800000;

    *out = 0;
    if (good) {
        mpfr_init2(wide, 53);
        put(ma, a);
        (void)mpfr_set(wide, ma, MPFR_RNDN);
        /* Far out of range is enough to know: the exponent range above is that of binary32. */
        good = mpfr_cmp_d(wide, 1e9) < 0 && mpfr_cmp_d(wide, -1e9) > 0;
        if (good) {
            (void)mpfr_mul_2si(wide, wide, 8, MPFR_RNDN);
            *out = mpfr_get_sj(wide, MPFR_RNDN);
        }
        mpfr_clear(wide);
    }
    return good && *out >= -(1 << 23) && *out < 1 << 23;
}

bool ref_byte(const struct ref_card *card, uint32_t address, uint8_t *out)
{
    const bool inside = address >= 0x80000000u && address - 0x80000000u < card->size;

    *out = inside ? card->vram[address - 0x80000000u] : 0;
    return inside;
}

bool ref_word(const struct ref_card *card, uint32_t address, unsigned bytes, uint32_t *out)
{
    bool all = true;

    *out = 0;
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t b;

        all &= ref_byte(card, address + i, &b);
        *out |= (uint32_t)b << 8 * i;
    }
    return all;
}
