/* numeric.md 9 (widen, narrow) and the integer column of 10, written from the prose on top of the
 * MPFR conversions of oracle.c and of GMP rationals. See oracle.h. */
#include "oracle.h"

#include <gmp.h>
#include <stdlib.h>

static struct facet_num_policy rounding(const struct facet_conv *conv)
{
    return (struct facet_num_policy){.rm = conv->rm,
                                     .flush = conv->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE,
                                     .flush_operand = conv->ftz};
}

/* The DOWNCAST_TAKEN table of numeric.md 9, typed in. Rows: accumulator; columns: element. */
static bool listed(const char *list, const char *name)
{
    size_t n = 0;

    while (name[n] != '\0') {
        n++;
    }
    for (const char *p = list; *p != '\0'; p++) {
        size_t i = 0;
        while (i < n && p[i] == name[i]) {
            i++;
        }
        if (i == n && (p[n] == ' ' || p[n] == '\0') && (p == list || p[-1] == ' ')) {
            return true;
        }
    }
    return false;
}

static const char *const names[FACET_FMT_COUNT] = {[FACET_FMT_FP16] = "FP16",
                                                   [FACET_FMT_FP32] = "FP32",
                                                   [FACET_FMT_BF16] = "BF16",
                                                   [FACET_FMT_E4M3] = "E4M3",
                                                   [FACET_FMT_E5M2] = "E5M2",
                                                   [FACET_FMT_BF16_LITE] = "LITE",
                                                   [FACET_FMT_FP64] = "FP64",
                                                   [FACET_FMT_INT32] = "INT32",
                                                   [FACET_FMT_INT16] = "INT16",
                                                   [FACET_FMT_INT8] = "INT8",
                                                   [FACET_FMT_INT4] = "INT4",
                                                   [FACET_FMT_INT2] = "INT2"};

static unsigned downcast(const struct facet_conv *conv, bool widen)
{
    const char *quiet = "";

    switch (conv->acc) {
    case FACET_FMT_FP32:
        quiet = widen ? "FP16 FP32 BF16 E4M3 E5M2 LITE INT16 INT8 INT4 INT2" : "FP32";
        break;
    case FACET_FMT_FP16:
        quiet = widen ? "FP16 E4M3 E5M2 INT8 INT4 INT2" : "FP16 FP32";
        break;
    case FACET_FMT_INT32:
        quiet = widen ? "INT32 INT16 INT8 INT4 INT2" : "INT32";
        break;
    case FACET_FMT_INT16:
        quiet = widen ? "INT16 INT8 INT4 INT2" : "INT16 INT32 FP32";
        break;
    default:
        abort();
    }
    return listed(quiet, names[conv->elem]) ? 0 : FACET_DOWN;
}

static bool is_int(unsigned format)
{
    return format >= FACET_FMT_INT32;
}

static int width_of(unsigned format)
{
    switch (format) {
    case FACET_FMT_INT32:
        return 32;
    case FACET_FMT_INT16:
        return 16;
    case FACET_FMT_INT8:
        return 8;
    case FACET_FMT_INT4:
        return 4;
    default:
        return 2;
    }
}

/* NaN kind of an FP operand through ref_convert: the canonical result and NV tell it. */
static bool is_nan(unsigned format, uint32_t bits, bool *signaling)
{
    const struct facet_num_policy plain = {.rm = FACET_RNE};
    struct ref_result r = ref_convert(FACET_FMT_FP64, format, bits, 0, &plain);

    *signaling = (r.flags & FACET_NV) != 0;
    return (r.bits & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000);
}

static uint32_t wrap(int64_t x, int width)
{
    uint32_t bits = (uint32_t)x;

    return width == 16 ? (uint32_t)(int32_t)(int16_t)bits : bits;
}

struct ref_result ref_widen(const struct facet_conv *conv, uint32_t element)
{
    struct facet_num_policy policy = rounding(conv);
    unsigned flags = downcast(conv, true);
    struct ref_result r;
    bool signaling;

    if (is_int(conv->elem)) {
        int n = width_of(conv->elem);
        int64_t q = (int64_t)(element & (uint32_t)((UINT64_C(1) << n) - 1));

        if (!conv->uns && q >= INT64_C(1) << (n - 1)) {
            q -= INT64_C(1) << n;
        }
        q -= conv->zp;
        if (is_int(conv->acc)) {
            r.bits = wrap(q, width_of(conv->acc));
            r.flags = (int64_t)(int32_t)r.bits != q ? FACET_OF : 0;
        } else {
            r = ref_from_ratio(conv->acc, q, 1, conv->scale, &policy);
        }
    } else {
        if (is_nan(conv->elem, element, &signaling)) {
            flags |= signaling ? FACET_SNAN | FACET_NV : FACET_QNAN;
        }
        r = is_int(conv->acc)
                ? ref_to_int(conv->elem, element, 0, (unsigned)width_of(conv->acc), true, &policy)
                : ref_convert(conv->acc, conv->elem, element, conv->scale, &policy);
        r.bits = (uint32_t)r.bits;
    }
    r.flags |= flags;
    return r;
}

static struct ref_result narrow_to_int(const struct facet_conv *conv, uint32_t acc)
{
    const struct facet_num_policy plain = {.rm = conv->rm};
    int n = width_of(conv->elem);
    int64_t high = conv->uns ? (INT64_C(1) << n) - 1 : (INT64_C(1) << (n - 1)) - 1;
    int64_t low = conv->uns ? 0 : -high - 1, k;
    int64_t clamp_low = conv->sat && conv->sat_mode && !conv->uns ? -high : low;
    struct ref_result r = {0, 0};
    unsigned inexact = 0;
    bool signaling, beyond = false, negative = false;

    if (is_int(conv->acc)) {
        k = (int64_t)(int32_t)acc + conv->zp;
        if (k > high || k < clamp_low) {
            r.flags = conv->sat ? FACET_SAT : FACET_OF;
            if (conv->sat) {
                k = k > high ? high : clamp_low;
            }
        }
        r.bits = (uint64_t)k & ((UINT64_C(1) << n) - 1);
        return r;
    }
    if (is_nan(conv->acc, acc, &signaling)) {
        r.flags = FACET_QNAN;
        k = high;
        if (conv->nan_pol == 0) {
            r.flags |= FACET_NV;
        } else if (conv->nan_pol == 1) {
            k = conv->zp > high ? high : conv->zp < clamp_low ? clamp_low : conv->zp;
        }
        r.bits = (uint64_t)k & ((UINT64_C(1) << n) - 1);
        return r;
    }
    {
        struct ref_result whole = ref_to_int(conv->acc, acc, -conv->scale, 64, true, &plain);
        beyond = (whole.flags & FACET_NV) != 0;
        inexact = whole.flags & FACET_NX;
        negative = (int64_t)whole.bits < 0;
        k = beyond ? 0 : (int64_t)whole.bits;
    }
    /* |k| < 2^63 and |zp| < 2^9: test the range before adding */
    if (!beyond && k <= high - conv->zp && k >= clamp_low - conv->zp) {
        r.bits = (uint64_t)(k + conv->zp) & ((UINT64_C(1) << n) - 1);
        r.flags = inexact;
        return r;
    }
    negative = beyond ? negative : k < clamp_low - conv->zp;
    r.flags = conv->sat ? FACET_SAT : FACET_NV;
    r.bits = (uint64_t)(negative ? clamp_low : high) & ((UINT64_C(1) << n) - 1);
    return r;
}

struct ref_result ref_narrow(const struct facet_conv *conv, uint32_t acc)
{
    static const uint32_t infinities[] = {[FACET_FMT_FP16] = 0x7C00,
                                          [FACET_FMT_FP32] = 0x7F800000,
                                          [FACET_FMT_BF16] = 0x7F80,
                                          [FACET_FMT_E4M3] = 0x7E,
                                          [FACET_FMT_E5M2] = 0x7C,
                                          [FACET_FMT_BF16_LITE] = 0x7F80};
    struct facet_num_policy policy = rounding(conv);
    unsigned flags = downcast(conv, false);
    struct ref_result r;
    bool signaling;

    policy.flush_operand = false;
    policy.saturate = conv->sat ? FACET_SATURATE_QUIET : FACET_SATURATE_NONE;
    if (is_int(conv->elem)) {
        r = narrow_to_int(conv, acc);
    } else if (is_int(conv->acc)) {
        r = ref_from_int(conv->elem, (uint64_t)(int64_t)(int32_t)acc, true, &policy);
    } else if (is_nan(conv->acc, acc, &signaling)) {
        r.flags = FACET_QNAN;
        r.bits = ref_convert(conv->elem, conv->acc, acc, 0, &policy).bits;
        if (conv->nan_pol != 0) {
            r.bits = conv->nan_pol == 1 ? 0 : infinities[conv->elem];
        }
    } else {
        uint32_t magnitude = conv->acc == FACET_FMT_FP32 ? acc & 0x7FFFFFFF : acc & 0x7FFF;
        bool infinite = magnitude == infinities[conv->acc];

        r = ref_convert(conv->elem, conv->acc, acc, -conv->scale, &policy);
        if (infinite && conv->sat && !conv->sat_mode) {
            /* the largest finite value: what an enormous number saturates to */
            bool negative = acc != magnitude;
            r = ref_from_ratio(conv->elem, negative ? -1 : 1, 1, 2000, &policy);
        }
    }
    r.flags |= flags;
    return r;
}

/* num / den (den > 0) rounded to an integer into q; returns inexactness. */
static bool round_rational(mpz_t q, const mpz_t num, const mpz_t den, unsigned rm)
{
    mpz_t rest, twice;
    bool inexact;
    int half;

    mpz_inits(rest, twice, (mpz_ptr)0);
    mpz_fdiv_qr(q, rest, num, den);
    inexact = mpz_sgn(rest) != 0;
    mpz_mul_2exp(twice, rest, 1);
    half = mpz_cmp(twice, den);
    if (inexact) {
        bool up = false;
        switch (rm) {
        case FACET_RNE:
            up = half > 0 || (half == 0 && mpz_odd_p(q));
            break;
        case FACET_RTZ:
            up = mpz_sgn(num) < 0;
            break;
        case FACET_RUP:
            up = true;
            break;
        case FACET_RMM:
            up = half > 0 || (half == 0 && mpz_sgn(num) > 0);
            break;
        default:
            break;
        }
        if (up) {
            mpz_add_ui(q, q, 1);
        }
    }
    mpz_clears(rest, twice, (mpz_ptr)0);
    return inexact;
}

/* sqrt(num / den) rounded: the floor, then the square of the midpoint against the radicand. */
static bool round_root(mpz_t q, const mpz_t num, const mpz_t den, unsigned rm)
{
    mpz_t floor_of, square, scaled;
    bool exact, up = false;
    int half;

    mpz_inits(floor_of, square, scaled, (mpz_ptr)0);
    mpz_fdiv_q(floor_of, num, den);
    mpz_sqrt(q, floor_of);
    mpz_mul(square, q, q);
    mpz_mul(square, square, den);
    exact = mpz_cmp(square, num) == 0;
    /* (2q + 1)^2 * den against 4 * num */
    mpz_mul_2exp(square, q, 1);
    mpz_add_ui(square, square, 1);
    mpz_mul(square, square, square);
    mpz_mul(square, square, den);
    mpz_mul_2exp(scaled, num, 2);
    half = mpz_cmp(scaled, square);
    if (!exact) {
        up = rm == FACET_RUP || (rm == FACET_RNE && (half > 0 || (half == 0 && mpz_odd_p(q)))) ||
             (rm == FACET_RMM && half >= 0);
    }
    if (up) {
        mpz_add_ui(q, q, 1);
    }
    mpz_clears(floor_of, square, scaled, (mpz_ptr)0);
    return !exact;
}

struct ref_result ref_int_arith(enum ref_op op, const struct facet_conv *conv, const int32_t v[3])
{
    int width = width_of(conv->acc), s = conv->scale;
    int64_t high = (INT64_C(1) << (width - 1)) - 1;
    struct ref_result r = {0, 0};
    mpz_t num, den, q, low_bits;
    bool inexact = false;

    if (op == REF_DIV && v[1] == 0) {
        r.flags = v[0] == 0 ? FACET_NV : FACET_DZ;
        r.bits = v[0] == 0 ? 0 : (uint32_t)(v[0] > 0 ? high : -high - 1);
        return r;
    }
    if (op == REF_SQRT && v[0] < 0) {
        r.flags = FACET_NV;
        return r;
    }
    mpz_inits(num, den, q, low_bits, (mpz_ptr)0);
    mpz_set_si(num, v[0]);
    mpz_set_ui(den, 1);
    switch (op) {
    case REF_ADD:
        mpz_set_si(q, (long)v[0] + v[1]);
        break;
    case REF_SUB:
        mpz_set_si(q, (long)v[0] - v[1]);
        break;
    case REF_MUL:
    case REF_FMA:
        mpz_mul_si(num, num, v[1]);
        mpz_mul_2exp(s >= 0 ? num : den, s >= 0 ? num : den, (unsigned long)abs(s));
        if (op == REF_FMA) {
            mpz_set_si(q, v[2]);
            mpz_addmul(num, den, q);
        }
        inexact = round_rational(q, num, den, conv->rm);
        break;
    case REF_DIV:
        mpz_set_si(den, v[1]);
        if (v[1] < 0) {
            mpz_neg(den, den);
            mpz_neg(num, num);
        }
        mpz_mul_2exp(s >= 0 ? den : num, s >= 0 ? den : num, (unsigned long)abs(s));
        inexact = round_rational(q, num, den, conv->rm);
        break;
    case REF_SQRT:
        mpz_mul_2exp(s >= 0 ? den : num, s >= 0 ? den : num, (unsigned long)abs(s));
        inexact = round_root(q, num, den, conv->rm);
        break;
    default:
        abort();
    }
    r.flags = inexact ? FACET_NX : 0;
    if (mpz_cmp_si(q, high) > 0 || mpz_cmp_si(q, -high - 1) < 0) {
        r.flags |= FACET_OF;
    }
    mpz_fdiv_r_2exp(low_bits, q, 32);
    r.bits = wrap((int64_t)mpz_get_ui(low_bits), width);
    mpz_clears(num, den, q, low_bits, (mpz_ptr)0);
    return r;
}
