/* See primitive.h. Coordinates, weights and texel values stay exact until cv or a primitive of
 * src/num rounds them; integer accumulators keep whole nests exact in 128 bits. */
#include "gfx/primitive.h"

#include "base/ways.h"
#include "num/arith.h"
#include "num/convert.h"

struct facet_gfx_numbers facet_gfx_numbers_of(const struct facet_eff *eff, const uint8_t zptab[256])
{
    struct facet_gfx_numbers n;

    for (unsigned c = 0; c < 4; c++) {
        /* only the table of zero points tells channels apart */
        n.channel[c] =
            c == 0 || (eff->q && eff->zp_en == 2) ? facet_eff_conv(eff, zptab, c) : n.channel[0];
    }
    return n;
}

/* ---- exact reals ---- */

struct facet_gfx_real facet_gfx_real_of(int64_t num, uint32_t den, int exp)
{
    return (struct facet_gfx_real){
        .num = num < 0 ? 0 - (uint64_t)num : (uint64_t)num,
        .den = den,
        .exp = exp,
        .cls = num == 0 ? FACET_GFX_ZERO : FACET_GFX_NUMBER,
        .negative = num < 0,
    };
}

/* All formats of elements and texels are subsets of binary64 with at most 24 significant bits. */
static struct facet_gfx_real real_of_fp64(uint64_t bits)
{
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int exponent = (int)(bits >> 52 & 0x7FF);
    struct facet_gfx_real x = {.den = 1, .negative = bits >> 63 != 0};

    if (exponent == 0x7FF) {
        x.cls = fraction != 0 ? FACET_GFX_NAN : FACET_GFX_INF;
    } else if (exponent == 0) {
        x.cls = FACET_GFX_ZERO;
    } else {
        x.cls = FACET_GFX_NUMBER;
        x.num = (fraction | UINT64_C(1) << 52) >> 29;
        x.exp = exponent - 1023 - 23;
    }
    return x;
}

struct facet_gfx_real
facet_gfx_real_of_fp(enum facet_format format, uint32_t bits, bool ftz, unsigned *flags)
{
    const struct facet_num_policy policy = {.flush_operand = ftz};

    if (facet_num_is_nan(format, bits)) {
        *flags |= facet_num_is_snan(format, bits) ? FACET_SNAN | FACET_NV : FACET_QNAN;
        return (struct facet_gfx_real){.den = 1, .cls = FACET_GFX_NAN};
    }
    return real_of_fp64(facet_num_convert(FACET_FMT_FP64, format, bits, &policy, flags));
}

struct facet_gfx_real facet_gfx_real_of_acc(const struct facet_conv *conv, uint32_t acc)
{
    unsigned none = 0;

    if (facet_format_is_int(conv->acc)) {
        return facet_gfx_real_of((int32_t)acc, 1, conv->scale);
    }
    return facet_gfx_real_of_fp(conv->acc, acc, false, &none);
}

bool facet_gfx_real_is(const struct facet_gfx_real *x, unsigned n)
{
    if (x->cls != FACET_GFX_NUMBER) {
        return x->cls == FACET_GFX_ZERO && n == 0;
    }
    if (x->negative || n == 0) {
        return false;
    }
    /* num = n * den * 2^-exp; |exp| beyond 62 cannot meet num < 2^62 and n < 2^32 */
    if (x->exp >= 0) {
        return x->exp < 32 && (facet_u128)x->num << x->exp == (facet_u128)n * x->den;
    }
    return x->exp > -63 && x->num == (facet_u128)n * x->den << -x->exp;
}

/* floor(x * 2^bits), cut to [-2^limit, 2^limit - 1]; den = 1, limit <= 62. */
static int64_t floor_cut(const struct facet_gfx_real *x, unsigned bits, unsigned limit)
{
    const int64_t low = -(INT64_C(1) << limit), high = (INT64_C(1) << limit) - 1;
    const int exp = x->exp + (int)bits;
    uint64_t whole;
    bool rest = false;

    if (x->cls == FACET_GFX_ZERO || x->cls == FACET_GFX_NAN) {
        return 0;
    }
    if (x->cls == FACET_GFX_INF || exp >= (int)facet_clz64(x->num)) {
        return x->negative ? low : high;
    }
    if (exp >= 0) {
        whole = x->num << exp;
    } else {
        whole = exp < -63 ? 0 : x->num >> -exp;
        rest = exp < -63 || whole << -exp != x->num;
    }
    if (whole > (uint64_t)high) {
        return x->negative ? low : high;
    }
    return x->negative ? -(int64_t)whole - rest : (int64_t)whole;
}

int64_t facet_gfx_real_floor(const struct facet_gfx_real *x, unsigned bits)
{
    return floor_cut(x, bits, 47);
}

int64_t facet_gfx_real_offset(const struct facet_gfx_real *x)
{
    return floor_cut(x, 16, 62);
}

int32_t facet_gfx_real_fixed(const struct facet_gfx_real *x)
{
    return (int32_t)floor_cut(x, 16, 31);
}

static struct facet_gfx_real fixed_point(enum facet_format format, uint32_t element, bool is_signed)
{
    unsigned width = facet_format_width(format), unused = 64 - width;
    uint64_t top = (uint64_t)element << unused;
    int64_t code = is_signed ? (int64_t)top >> unused : (int64_t)(top >> unused);

    return facet_gfx_real_of(code, 1, -(int)(width / 2));
}

struct facet_gfx_real
facet_gfx_coordinate(const struct facet_gfx_numbers *n, uint32_t element, unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[0];

    if (facet_format_is_int(conv->elem)) {
        return fixed_point(conv->elem, element, !conv->uns);
    }
    return facet_gfx_real_of_fp(conv->elem, element, conv->ftz, flags);
}

struct facet_gfx_real facet_gfx_coordinate_signed(const struct facet_gfx_numbers *n,
                                                  uint32_t element,
                                                  bool is_signed,
                                                  unsigned *flags)
{
    struct facet_gfx_real x;

    if (facet_format_is_int(n->channel[0].elem)) {
        return fixed_point(n->channel[0].elem, element, is_signed);
    }
    x = facet_gfx_coordinate(n, element, flags);
    x.negative = x.negative && is_signed;
    return x;
}

uint32_t facet_gfx_tensor_index(const struct facet_gfx_real *x)
{
    int64_t i = facet_gfx_real_floor(x, 0);

    return i < 0 ? 0 : i > 65535 ? 65535 : (uint32_t)i;
}

/* ---- into the accumulator ---- */

static uint32_t range_end(const struct facet_conv *conv, bool negative, unsigned *flags)
{
    int64_t high = (INT64_C(1) << (facet_format_width(conv->acc) - 1)) - 1;

    *flags |= FACET_NV;
    return (uint32_t)(negative ? -high - 1 : high);
}

/* num / den * 2^exp to an integer accumulator, range ends with NV. */
static uint32_t
cv_int(const struct facet_conv *conv, const struct facet_gfx_real *x, unsigned *flags)
{
    const int exp = x->exp - conv->scale;
    facet_i128 num = (facet_i128)x->num, rounded;
    facet_u128 den = x->den;
    bool outside = false;
    unsigned raised = 0;
    int64_t acc;

    if (exp > 63) { /* num / den is above 2^-32: out of range */
        return range_end(conv, x->negative, flags);
    }
    if (exp >= 0) {
        num <<= exp;
    } else { /* beyond 2^-64 only the sign and "below one half" are left */
        den <<= exp < -95 ? 95 : -exp;
    }
    rounded = facet_num_round_ratio(x->negative ? -num : num, den, conv->rm, &raised);
    acc = facet_num_int_fit(rounded, facet_format_width(conv->acc), true, &outside);
    if (outside) {
        return range_end(conv, x->negative, flags);
    }
    *flags |= raised;
    return (uint32_t)acc;
}

/* Whether x is a normal FP32 number, as coefficients that were FP32 elements are: then those bits.
 */
static bool cv_exact(const struct facet_conv *conv, const struct facet_gfx_real *x, uint32_t *acc)
{
    const int top = 63 - (int)facet_clz64(x->num), exponent = x->exp + top;

    if (conv->acc != FACET_FMT_FP32 || conv->plain || x->den != 1 || top > 23 || exponent < -126 ||
        exponent > 127) {
        return false;
    }
    FACET_FAST_WAY(NUM_SHORT);
    /* the leading one of the significand adds the last unit of the exponent */
    *acc = ((uint32_t)(exponent + 126) << 23) + ((uint32_t)x->num << (23 - top));
    *acc |= (uint32_t)x->negative << 31;
    return true;
}

uint32_t
facet_gfx_cv(const struct facet_conv *conv, const struct facet_gfx_real *x, unsigned *flags)
{
    const struct facet_num_policy policy = {
        .rm = conv->rm,
        .flush = conv->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE,
    };
    const bool is_int = facet_format_is_int(conv->acc);
    const struct facet_fp_format *f = &facet_fp_formats[is_int ? FACET_FMT_FP32 : conv->acc];
    const uint32_t sign = x->negative ? UINT32_C(1) << (f->width - 1) : 0;
    uint32_t exact;

    switch (x->cls) {
    case FACET_GFX_ZERO:
        return is_int ? 0 : sign;
    case FACET_GFX_INF:
        return is_int ? range_end(conv, x->negative, flags) : sign | (uint32_t)f->infinity;
    case FACET_GFX_NAN:
        return facet_gfx_nan(conv, flags);
    default:
        break;
    }
    if (is_int) {
        return cv_int(conv, x, flags);
    }
    if (cv_exact(conv, x, &exact)) {
        return exact;
    }
    return (uint32_t)facet_num_from_ratio(conv->acc,
                                          x->negative ? -(int64_t)x->num : (int64_t)x->num,
                                          x->den,
                                          x->exp,
                                          &policy,
                                          flags);
}

uint32_t facet_gfx_nan(const struct facet_conv *conv, unsigned *flags)
{
    return facet_format_is_int(conv->acc) ? range_end(conv, false, flags)
                                          : (uint32_t)facet_fp_formats[conv->acc].nan;
}

/* ---- lerp and its nests ----
 *
 * A nest of `count` coefficients, innermost first, lies over 1 << count entries; the outermost
 * coefficient joins the two halves. A coefficient of 0 or 1 takes one half and leaves the other
 * alone, entries and flags. */

static uint32_t fp_nest(const struct facet_conv *conv,
                        const uint32_t *t,
                        const struct facet_gfx_real *f,
                        unsigned count,
                        struct facet_gfx_lerp *steps,
                        unsigned *flags)
{
    struct facet_gfx_lerp s = {.computed = true}, *second;
    const struct facet_gfx_real *a;
    unsigned half;
    uint32_t p, q;

    if (count == 0) {
        return t[0];
    }
    half = 1u << (count - 1);
    a = &f[count - 1];
    second = steps == NULL ? NULL : steps + half - 1;
    if (facet_gfx_real_is(a, 0)) {
        return fp_nest(conv, t, f, count - 1, steps, flags);
    }
    if (facet_gfx_real_is(a, 1)) {
        return fp_nest(conv, t + half, f, count - 1, second, flags);
    }
    p = fp_nest(conv, t, f, count - 1, steps, flags);
    q = fp_nest(conv, t + half, f, count - 1, second, flags);
    s.weight = facet_gfx_cv(conv, a, flags);
    s.diff = facet_acc_sub(conv, q, p, flags);
    s.result = facet_acc_fma(conv, s.weight, s.diff, p, flags);
    if (steps != NULL) {
        steps[2 * (half - 1)] = s;
    }
    return s.result;
}

/* The exact value in units of 65536^-count. Two levels fit for any coefficient, three for
 * coefficients between 0 and 1. */
static facet_i128 exact_nest(const uint32_t *t, const struct facet_gfx_real *f, unsigned count)
{
    const struct facet_gfx_real *a;
    facet_i128 p, q;
    unsigned half;

    if (count == 0) {
        return (int32_t)t[0];
    }
    half = 1u << (count - 1);
    a = &f[count - 1];
    if (facet_gfx_real_is(a, 0)) {
        return exact_nest(t, f, count - 1) * 65536;
    }
    if (facet_gfx_real_is(a, 1)) {
        return exact_nest(t + half, f, count - 1) * 65536;
    }
    p = exact_nest(t, f, count - 1);
    q = exact_nest(t + half, f, count - 1);
    return p * 65536 + (q - p) * facet_gfx_real_fixed(a);
}

static bool picks_one_entry(const struct facet_gfx_real *f, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        if (!facet_gfx_real_is(&f[k], 0) && !facet_gfx_real_is(&f[k], 1)) {
            return false;
        }
    }
    return true;
}

/* steps: room for (1 << count) - 1 lerps, the rows in order and the last one at the end. */
static uint32_t nest(const struct facet_conv *conv,
                     const uint32_t *t,
                     const struct facet_gfx_real *f,
                     unsigned count,
                     struct facet_gfx_lerp *steps,
                     unsigned *flags)
{
    uint32_t r;

    if (!facet_format_is_int(conv->acc) || picks_one_entry(f, count)) {
        return fp_nest(conv, t, f, count, steps, flags);
    }
    r = facet_acc_ratio(conv, exact_nest(t, f, count), (facet_u128)1 << (16 * count), flags);
    r = facet_num_mixed(conv, r, flags);
    if (steps != NULL) {
        steps[(1u << count) - 2] = (struct facet_gfx_lerp){.computed = true, .result = r};
    }
    return r;
}

uint32_t facet_gfx_lerp(const struct facet_conv *conv,
                        uint32_t p,
                        uint32_t q,
                        const struct facet_gfx_real *a,
                        unsigned *flags)
{
    const uint32_t t[2] = {p, q};

    return nest(conv, t, a, 1, NULL, flags);
}

uint32_t facet_gfx_bilerp(const struct facet_conv *conv,
                          const uint32_t t[4],
                          const struct facet_gfx_real *a,
                          const struct facet_gfx_real *b,
                          struct facet_gfx_lerp steps[3],
                          unsigned *flags)
{
    const struct facet_gfx_real f[2] = {*a, *b};

    return nest(conv, t, f, 2, steps, flags);
}

uint32_t facet_gfx_trilerp(const struct facet_conv *conv,
                           const uint32_t t[8],
                           const struct facet_gfx_real f[3],
                           unsigned *flags)
{
    return nest(conv, t, f, 3, NULL, flags);
}

/* ---- sums ---- */

uint32_t facet_gfx_wsum(const struct facet_conv *conv,
                        const struct facet_gfx_real *w,
                        const uint32_t *t,
                        unsigned n,
                        uint32_t *steps,
                        unsigned *flags)
{
    facet_i128 exact = 0;
    uint32_t acc = 0;

    for (unsigned k = 0; k < n; k++) {
        uint32_t weight;

        if (facet_format_is_int(conv->acc)) {
            exact += (facet_i128)facet_gfx_real_fixed(&w[k]) * (int32_t)t[k];
            continue;
        }
        weight = facet_gfx_cv(conv, &w[k], flags);

        acc = k == 0 ? facet_acc_mul(conv, weight, t[k], flags)
                     : facet_acc_fma(conv, weight, t[k], acc, flags);
        if (steps != NULL) {
            steps[k] = acc;
        }
    }
    if (facet_format_is_int(conv->acc)) {
        acc = facet_num_mixed(conv, facet_acc_ratio(conv, exact, 65536, flags), flags);
        if (steps != NULL) {
            steps[n - 1] = acc;
        }
    }
    return acc;
}

uint32_t facet_gfx_mean(
    const struct facet_conv *conv, const uint32_t *t, unsigned n, uint32_t *steps, unsigned *flags)
{
    const struct facet_gfx_real count = facet_gfx_real_of(n, 1, 0);
    facet_i128 exact = (int32_t)t[0];
    uint32_t acc = t[0];

    for (unsigned k = 1; k < n; k++) {
        if (facet_format_is_int(conv->acc)) {
            exact += (int32_t)t[k];
        } else {
            acc = facet_acc_add(conv, acc, t[k], flags);
        }
        if (steps != NULL) {
            steps[k - 1] = acc;
        }
    }
    if (facet_format_is_int(conv->acc)) {
        acc = facet_num_mixed(conv, facet_acc_ratio(conv, exact, n, flags), flags);
    } else {
        acc = facet_acc_div(conv, acc, facet_gfx_cv(conv, &count, flags), flags);
    }
    if (steps != NULL) {
        steps[n - 1] = acc;
    }
    return acc;
}

uint32_t facet_gfx_dot(const struct facet_conv *conv,
                       const uint32_t *a,
                       const uint32_t *b,
                       unsigned n,
                       unsigned *flags)
{
    uint32_t acc = facet_acc_mul(conv, a[0], b[0], flags);

    for (unsigned k = 1; k < n; k++) {
        acc = facet_acc_fma(conv, a[k], b[k], acc, flags);
    }
    return acc;
}

uint32_t facet_gfx_rsqrt(const struct facet_conv *conv, uint32_t s, unsigned *flags)
{
    const struct facet_gfx_real one = facet_gfx_real_of(1, 1, 0);
    uint32_t root = facet_acc_sqrt(conv, s, flags);

    return facet_acc_div(conv, facet_gfx_cv(conv, &one, flags), root, flags);
}
