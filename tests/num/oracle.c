/* See oracle.h. */
#include "oracle.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

const char *const ref_op_names[REF_OPS] = {"add",
                                           "sub",
                                           "mul",
                                           "div",
                                           "sqrt",
                                           "fmadd",
                                           "fmsub",
                                           "fnmsub",
                                           "fnmadd",
                                           "rcp",
                                           "rsqrt",
                                           "dp2",
                                           "min",
                                           "max",
                                           "eq",
                                           "lt",
                                           "le"};

/* The table of numeric.md 3.1 once more, typed in from the document. */
struct layout {
    int width, fraction_bits, bias, p, emin;
    bool infinity, subnormals, all_quiet;
    int top_sig; /* significand of the largest finite number in units of 2^(emax - p + 1) */
    int emax;
    uint64_t inf, nan;
};

/* clang-format off */
static const struct layout layouts[FACET_FMT_FP_COUNT] = {
    [FACET_FMT_FP16] = {16, 10, 15, 11, -14, true, true, false, 0x7FF, 15, 0x7C00, 0x7E00},
    [FACET_FMT_FP32] = {32, 23, 127, 24, -126, true, true, false, 0xFFFFFF, 127, 0x7F800000, 0x7FC00000},
    [FACET_FMT_BF16] = {16, 7, 127, 8, -126, true, true, false, 0xFF, 127, 0x7F80, 0x7FC0},
    [FACET_FMT_E4M3] = {8, 3, 7, 4, -6, false, true, true, 14, 8, 0, 0x7F},
    [FACET_FMT_E5M2] = {8, 2, 15, 3, -14, true, true, true, 7, 15, 0x7C, 0x7F},
    [FACET_FMT_BF16_LITE] = {16, 7, 127, 5, -62, true, false, false, 31, 63, 0x7F80, 0x7FC0},
    [FACET_FMT_FP64] = {64, 52, 1023, 53, -1022, true, true, false, 0, 1023,
                        UINT64_C(0x7FF0000000000000), UINT64_C(0x7FF8000000000000)},
};
/* clang-format on */

enum kind { ZERO, FINITE, INFINITE, QUIET, SIGNALING };

struct operand {
    enum kind kind;
    bool negative;
    bool subnormal;
    uint64_t bits;
    mpfr_t x; /* FINITE: the value; otherwise unused */
};

static struct operand in[4];
static mpfr_t value, truncated, longer, limit;
static mpz_t big;
static mpfr_exp_t wide_emin, wide_emax;

__attribute__((constructor)) static void oracle_start(void)
{
    for (int i = 0; i < 4; i++) {
        mpfr_init2(in[i].x, 64);
    }
    mpfr_init2(value, 64);
    mpfr_init2(truncated, 64);
    mpfr_init2(longer, 65);
    mpfr_init2(limit, 64);
    mpz_init(big);
    wide_emin = mpfr_get_emin();
    wide_emax = mpfr_get_emax();
}

__attribute__((destructor)) static void oracle_end(void)
{
    for (int i = 0; i < 4; i++) {
        mpfr_clear(in[i].x);
    }
    mpfr_clears(value, truncated, longer, limit, (mpfr_ptr)0);
    mpz_clear(big);
    mpfr_free_cache();
}

static uint64_t sign_bit(const struct layout *l, bool negative)
{
    return negative ? UINT64_C(1) << (l->width - 1) : 0;
}

/* numeric.md 3.1: bits to kind and value, the flush of subnormal operands included. */
static void decode(enum facet_format format, uint64_t bits, bool flush, struct operand *o)
{
    const struct layout *l = &layouts[format];
    uint64_t fraction = bits & ((UINT64_C(1) << l->fraction_bits) - 1);
    int exponent_bits = l->width - 1 - l->fraction_bits;
    int exponent = (int)(bits >> l->fraction_bits & ((1u << exponent_bits) - 1));
    int top = (1 << exponent_bits) - 1;

    o->bits = bits;
    o->negative = (bits >> (l->width - 1) & 1) != 0;
    o->subnormal = false;
    if (format == FACET_FMT_BF16_LITE) {
        o->subnormal = exponent <= 64 && (bits & 0x7FFF) != 0;
        fraction &= ~UINT64_C(7);
        if (exponent <= 64) {
            o->kind = ZERO;
            return;
        }
        if (exponent >= 191 && exponent <= 254) {
            o->kind = INFINITE;
            return;
        }
    }
    if (exponent == top && l->infinity) {
        bool quiet = l->all_quiet || (fraction >> (l->fraction_bits - 1) & 1) != 0;
        o->kind = fraction == 0 ? INFINITE : quiet ? QUIET : SIGNALING;
        return;
    }
    if (exponent == top && !l->infinity && fraction == 7) {
        o->kind = QUIET;
        return;
    }
    if (exponent == 0) {
        o->subnormal = fraction != 0;
        o->kind = fraction == 0 || flush ? ZERO : FINITE;
        mpfr_set_ui_2exp(o->x, fraction, 1 - l->bias - l->fraction_bits, MPFR_RNDN);
    } else {
        o->kind = FINITE;
        mpfr_set_ui_2exp(o->x,
                         fraction | UINT64_C(1) << l->fraction_bits,
                         exponent - l->bias - l->fraction_bits,
                         MPFR_RNDN);
    }
    if (o->negative) {
        mpfr_neg(o->x, o->x, MPFR_RNDN);
    }
}

static bool is_nan(const struct operand *o)
{
    return o->kind == QUIET || o->kind == SIGNALING;
}

/* What is rounded: an operation on in[0..3], or an integer times a power of two. */
struct exact {
    enum { BY_OP, BY_VALUE, BY_INT, BY_RATIO } how;
    enum ref_op op;
    bool negative; /* BY_INT, BY_RATIO */
    uint64_t n, den;
    long shift; /* BY_VALUE, BY_INT, BY_RATIO: times 2^shift */
};

/* The exact result rounded by MPFR to the precision of r. */
static int evaluate(mpfr_t r, const struct exact *e, mpfr_rnd_t rnd)
{
    int t;

    switch (e->how) {
    case BY_VALUE:
        t = mpfr_mul_2si(r, in[0].x, e->shift, rnd);
        return t;
    case BY_INT:
        mpz_set_ui(big, e->n);
        if (e->negative) {
            mpz_neg(big, big);
        }
        return mpfr_set_z_2exp(r, big, e->shift, rnd);
    case BY_RATIO:
        mpfr_set_prec(in[1].x, 64);
        mpfr_set_ui_2exp(in[0].x, e->n, e->shift, MPFR_RNDN);
        mpfr_set_ui(in[1].x, e->den, MPFR_RNDN);
        if (e->negative) {
            mpfr_neg(in[0].x, in[0].x, MPFR_RNDN);
        }
        return mpfr_div(r, in[0].x, in[1].x, rnd);
    default:
        break;
    }
    switch (e->op) {
    case REF_ADD:
        return mpfr_add(r, in[0].x, in[1].x, rnd);
    case REF_SUB:
        return mpfr_sub(r, in[0].x, in[1].x, rnd);
    case REF_MUL:
        return mpfr_mul(r, in[0].x, in[1].x, rnd);
    case REF_DIV:
        return mpfr_div(r, in[0].x, in[1].x, rnd);
    case REF_SQRT:
        return mpfr_sqrt(r, in[0].x, rnd);
    case REF_FMA:
        return mpfr_fma(r, in[0].x, in[1].x, in[2].x, rnd);
    case REF_DP2:
        return mpfr_fmms(r, in[0].x, in[1].x, in[2].x, in[3].x, rnd);
    case REF_RCP:
        return mpfr_ui_div(r, 1, in[0].x, rnd);
    case REF_RSQRT:
        return mpfr_rec_sqrt(r, in[0].x, rnd);
    default:
        abort();
    }
}

static mpfr_rnd_t mode_of(unsigned rm)
{
    static const mpfr_rnd_t modes[4] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};

    return modes[rm];
}

/* value = the result at precision p; returns whether inexact. */
static bool round_at(const struct exact *e, int p, unsigned rm)
{
    if (rm != FACET_RMM) {
        mpfr_set_prec(value, p);
        return evaluate(value, e, mode_of(rm)) != 0;
    }
    /* ties away: the bit after the last one decides, and truncation shows it */
    mpfr_set_prec(value, p);
    mpfr_set_prec(longer, p + 1);
    if (evaluate(value, e, MPFR_RNDZ) == 0) {
        return false;
    }
    (void)evaluate(longer, e, MPFR_RNDZ);
    if (mpfr_cmp(value, longer) != 0) {
        if (mpfr_sgn(value) > 0) {
            mpfr_nextabove(value);
        } else {
            mpfr_nextbelow(value);
        }
    }
    return true;
}

/* The significand of `value` as a left-aligned 64-bit word. */
static uint64_t top_word(void)
{
    return *(const mp_limb_t *)mpfr_custom_get_significand(value);
}

/* `value` is a member of the format: its code without sign. */
static uint64_t encode(enum facet_format format)
{
    const struct layout *l = &layouts[format];
    long e;

    if (mpfr_zero_p(value)) {
        return 0;
    }
    e = mpfr_get_exp(value) - 1;
    if (format != FACET_FMT_BF16_LITE && e < l->emin) {
        return top_word() >> (63 - l->fraction_bits + (l->emin - e));
    }
    return (uint64_t)(e + l->bias) << l->fraction_bits |
           (top_word() << 1 >> (64 - l->fraction_bits));
}

static void set_limit(const struct layout *l, enum facet_format format)
{
    uint64_t top = format == FACET_FMT_FP64 ? (UINT64_C(1) << 53) - 1 : (uint64_t)l->top_sig;

    mpfr_set_ui_2exp(limit, top, l->emax - l->p + 1, MPFR_RNDN);
}

static uint64_t max_finite(enum facet_format format)
{
    set_limit(&layouts[format], format);
    mpfr_set_prec(value, 64);
    mpfr_set(value, limit, MPFR_RNDN);
    return encode(format);
}

/* Subnormal result of `e` in modes 0..3, through the emulation that MPFR documents; for RMM the
 * truncation trick at the precision that is left. Leaves it in `value`; returns inexactness. */
static bool round_subnormal(const struct exact *e, const struct layout *l, unsigned rm)
{
    long left;
    int t;

    if (rm != FACET_RMM) {
        mpfr_set_prec(value, l->p);
        t = evaluate(value, e, mode_of(rm));
        mpfr_set_emin(l->emin - l->p + 2);
        t = mpfr_check_range(value, t, mode_of(rm));
        t = mpfr_subnormalize(value, t, mode_of(rm));
        mpfr_set_emin(wide_emin);
        mpfr_set_emax(wide_emax);
        return t != 0;
    }
    mpfr_set_prec(value, l->p);
    (void)evaluate(value, e, MPFR_RNDZ);
    left = l->p - (l->emin - (mpfr_get_exp(value) - 1));
    if (left > 0) {
        return round_at(e, (int)left, rm);
    }
    if (left == 0) { /* at least half of the smallest subnormal */
        mpfr_set_si_2exp(value, mpfr_sgn(value) > 0 ? 1 : -1, l->emin - l->p + 1, MPFR_RNDN);
    } else {
        bool negative = mpfr_sgn(value) < 0;
        mpfr_set_zero(value, negative ? -1 : 1);
    }
    return true;
}

static struct ref_result
overflow(enum facet_format format, bool negative, const struct facet_num_policy *policy)
{
    const struct layout *l = &layouts[format];
    struct ref_result r = {sign_bit(l, negative) | max_finite(format), FACET_OF | FACET_NX};
    bool to_infinity = policy->rm == FACET_RNE || policy->rm == FACET_RMM ||
                       (policy->rm == FACET_RUP && !negative) ||
                       (policy->rm == FACET_RDN && negative);

    if (policy->saturate == FACET_SATURATE_QUIET) {
        r.flags = FACET_SAT;
    } else if (policy->saturate == FACET_SATURATE_NONE && to_infinity) {
        if (l->infinity) {
            r.bits = sign_bit(l, negative) | l->inf;
        } else {
            r.bits = l->nan | (policy->nan == FACET_NAN_FIRST ? sign_bit(l, negative) : 0);
            r.flags |= FACET_QNAN;
        }
    }
    return r;
}

/* numeric.md 9 *Round* and tile-semantics.md 5.4. The exact value must not be zero. */
static struct ref_result
round_exact(enum facet_format format, const struct exact *e, const struct facet_num_policy *policy)
{
    const struct layout *l = &layouts[format];
    struct ref_result r = {0, 0};
    bool inexact = round_at(e, l->p, policy->rm), tiny, negative;

    if (mpfr_zero_p(value)) { /* exact cancellation */
        r.bits = sign_bit(l, policy->rm == FACET_RDN);
        return r;
    }
    negative = mpfr_sgn(value) < 0;
    set_limit(l, format);
    if (mpfr_cmpabs(value, limit) > 0) {
        return overflow(format, negative, policy);
    }
    tiny = mpfr_get_exp(value) - 1 < l->emin;
    if (tiny && (policy->flush == FACET_FLUSH_TINY || !l->subnormals)) {
        r.bits = sign_bit(l, negative);
        r.flags = FACET_FTZ | FACET_UF | FACET_NX;
        return r;
    }
    if (l->subnormals && mpfr_get_exp(value) - 1 <= l->emin) {
        inexact = round_subnormal(e, l, policy->rm);
    }
    r.bits = encode(format);
    if (inexact) {
        r.flags |= FACET_NX | (tiny ? FACET_UF : 0);
    }
    if (policy->flush == FACET_FLUSH_SUBNORMAL && r.bits != 0 && r.bits >> l->fraction_bits == 0) {
        r.bits = 0;
        r.flags = FACET_FTZ | FACET_UF | FACET_NX;
    }
    r.bits |= sign_bit(l, negative);
    return r;
}

unsigned ref_arity(enum ref_op op)
{
    switch (op) {
    case REF_SQRT:
    case REF_RCP:
    case REF_RSQRT:
        return 1;
    case REF_FMA:
    case REF_FMSUB:
    case REF_FNMSUB:
    case REF_FNMADD:
        return 3;
    case REF_DP2:
        return 4;
    default:
        return 2;
    }
}

static void negate(struct operand *o)
{
    o->negative = !o->negative;
    if (o->kind == FINITE) {
        mpfr_neg(o->x, o->x, MPFR_RNDN);
    }
}

/* The NaN that the policy returns for the operands before any negation. */
static uint64_t
nan_result(enum facet_format format, unsigned n, const struct facet_num_policy *policy)
{
    const struct layout *l = &layouts[format];

    if (policy->nan == FACET_NAN_FIRST) {
        for (unsigned i = 0; i < n; i++) {
            if (is_nan(&in[i])) {
                return in[i].bits | (l->all_quiet ? 0 : UINT64_C(1) << (l->fraction_bits - 1));
            }
        }
    }
    return l->nan;
}

static bool zero_times_infinity(const struct operand *a, const struct operand *b)
{
    return (a->kind == ZERO && b->kind == INFINITE) || (a->kind == INFINITE && b->kind == ZERO);
}

static struct ref_result compare(enum ref_op op, enum facet_format format)
{
    struct ref_result r = {0, 0};
    double sign[2];
    int order;

    (void)format;
    if (is_nan(&in[0]) || is_nan(&in[1])) {
        bool signaling = in[0].kind == SIGNALING || in[1].kind == SIGNALING;
        r.flags = op != REF_EQ || signaling ? FACET_NV : 0;
        return r;
    }
    for (int i = 0; i < 2; i++) { /* class along the real line: -inf, number, +inf */
        sign[i] = in[i].kind != INFINITE ? 0 : in[i].negative ? -1 : 1;
        if (in[i].kind == ZERO) {
            mpfr_set_zero(in[i].x, 1);
        }
    }
    order = sign[0] != sign[1] ? (sign[0] < sign[1] ? -1 : 1)
            : sign[0] != 0     ? 0
                               : mpfr_cmp(in[0].x, in[1].x);
    r.bits = op == REF_EQ ? order == 0 : op == REF_LT ? order < 0 : order <= 0;
    return r;
}

static struct ref_result
extreme(enum ref_op op, enum facet_format format, const struct facet_num_policy *policy)
{
    struct ref_result r = {0, 0}, less;
    int pick;

    if (in[0].kind == SIGNALING || in[1].kind == SIGNALING) {
        r.flags = FACET_NV;
    }
    if (is_nan(&in[0]) && is_nan(&in[1])) {
        r.bits = nan_result(format, 2, policy);
        return r;
    }
    if (is_nan(&in[0]) || is_nan(&in[1])) {
        pick = is_nan(&in[0]);
    } else if (in[0].kind == ZERO && in[1].kind == ZERO) {
        pick = (op == REF_MIN) == in[0].negative ? 0 : 1;
    } else {
        less = compare(REF_LT, format);
        pick = (op == REF_MIN) == (less.bits != 0) ? 0 : 1;
        if (op == REF_MAX && compare(REF_EQ, format).bits != 0) {
            pick = 0;
        }
    }
    r.bits = in[pick].kind == ZERO ? sign_bit(&layouts[format], in[pick].negative) : in[pick].bits;
    return r;
}

static struct ref_result quiet_invalid(enum facet_format format)
{
    return (struct ref_result){layouts[format].nan, FACET_NV};
}

static struct ref_result signed_result(enum facet_format format, bool negative, uint64_t magnitude)
{
    return (struct ref_result){sign_bit(&layouts[format], negative) | magnitude, 0};
}

/* x + y where one of them may be zero or infinite; `e` computes it when both are finite. */
static struct ref_result sum_specials(enum facet_format format,
                                      const struct operand *x,
                                      const struct operand *y,
                                      const struct exact *e,
                                      const struct facet_num_policy *policy)
{
    if (x->kind == INFINITE && y->kind == INFINITE && x->negative != y->negative) {
        return quiet_invalid(format);
    }
    if (x->kind == INFINITE || y->kind == INFINITE) {
        return signed_result(
            format, x->kind == INFINITE ? x->negative : y->negative, layouts[format].inf);
    }
    if (x->kind == ZERO && y->kind == ZERO) {
        return signed_result(
            format, x->negative == y->negative ? x->negative : policy->rm == FACET_RDN, 0);
    }
    return round_exact(format, e, policy);
}

static struct ref_result by_zero(enum facet_format format,
                                 bool negative,
                                 bool reciprocal,
                                 const struct facet_num_policy *policy)
{
    const struct layout *l = &layouts[format];
    struct ref_result r = {sign_bit(l, negative) | l->inf, FACET_DZ};

    if (reciprocal && policy->saturate == FACET_SATURATE_FLAGGED) { /* R-TILE-96 */
        r.bits = sign_bit(l, negative) | max_finite(format);
    } else if (!l->infinity) {
        bool keep = reciprocal || policy->nan == FACET_NAN_FIRST;
        r.bits = l->nan | (keep ? sign_bit(l, negative) : 0);
        r.flags |= reciprocal ? 0 : FACET_QNAN;
    }
    return r;
}

/* A zero operand enters MPFR as a zero so that x + 0 is an ordinary sum. */
static void zeros_to_mpfr(void)
{
    for (int i = 0; i < 4; i++) {
        if (in[i].kind == ZERO) {
            mpfr_set_zero(in[i].x, in[i].negative ? -1 : 1);
        }
    }
}

static struct ref_result
special_or_round(enum ref_op op, enum facet_format format, const struct facet_num_policy *policy)
{
    struct exact e = {.how = BY_OP, .op = op};
    struct operand product[2];
    bool negative;

    switch (op) {
    case REF_SUB:
        negate(&in[1]);
        e.op = REF_ADD;
        /* fall through */
    case REF_ADD:
        zeros_to_mpfr();
        return sum_specials(format, &in[0], &in[1], &e, policy);
    case REF_MUL:
        if (zero_times_infinity(&in[0], &in[1])) {
            return quiet_invalid(format);
        }
        negative = in[0].negative != in[1].negative;
        if (in[0].kind == INFINITE || in[1].kind == INFINITE) {
            return signed_result(format, negative, layouts[format].inf);
        }
        if (in[0].kind == ZERO || in[1].kind == ZERO) {
            return signed_result(format, negative, 0);
        }
        return round_exact(format, &e, policy);
    case REF_DIV:
        negative = in[0].negative != in[1].negative;
        if (in[0].kind == in[1].kind && in[0].kind != FINITE) {
            return quiet_invalid(format);
        }
        if (in[0].kind == INFINITE) {
            return signed_result(format, negative, layouts[format].inf);
        }
        if (in[0].kind == ZERO || in[1].kind == INFINITE) {
            return signed_result(format, negative, 0);
        }
        if (in[1].kind == ZERO) {
            return by_zero(format, negative, false, policy);
        }
        return round_exact(format, &e, policy);
    case REF_SQRT:
        if (in[0].kind == ZERO) {
            return signed_result(format, in[0].negative, 0);
        }
        if (in[0].negative) {
            return quiet_invalid(format);
        }
        return in[0].kind == INFINITE ? signed_result(format, false, layouts[format].inf)
                                      : round_exact(format, &e, policy);
    case REF_RCP:
        if (in[0].kind == ZERO) {
            return by_zero(format, in[0].negative, true, policy);
        }
        return in[0].kind == INFINITE ? signed_result(format, in[0].negative, 0)
                                      : round_exact(format, &e, policy);
    case REF_RSQRT:
        if (in[0].kind == ZERO) {
            return by_zero(format, in[0].negative, true, policy);
        }
        if (in[0].negative) {
            return quiet_invalid(format);
        }
        return in[0].kind == INFINITE ? signed_result(format, false, 0)
                                      : round_exact(format, &e, policy);
    case REF_FMA:
    case REF_DP2:
        zeros_to_mpfr();
        for (int i = 0; i < 2; i++) {
            const struct operand *x = &in[2 * i], *y = x + 1;
            if (i == 1 && op == REF_FMA) {
                product[1].kind = in[2].kind;
                product[1].negative = in[2].negative;
                break;
            }
            if (zero_times_infinity(x, y)) {
                return quiet_invalid(format);
            }
            product[i].kind = x->kind == INFINITE || y->kind == INFINITE ? INFINITE
                              : x->kind == ZERO || y->kind == ZERO       ? ZERO
                                                                         : FINITE;
            product[i].negative = x->negative != y->negative;
        }
        if (op == REF_DP2) {
            product[1].negative = !product[1].negative;
        }
        return sum_specials(format, &product[0], &product[1], &e, policy);
    default:
        abort();
    }
}

struct ref_result ref_arith(enum ref_op op,
                            enum facet_format format,
                            const uint64_t operand[4],
                            const struct facet_num_policy *policy)
{
    unsigned n = ref_arity(op), flags = 0;
    bool any_nan = false;
    struct ref_result r;

    for (unsigned i = 0; i < n; i++) {
        decode(format, operand[i], policy->flush_operand, &in[i]);
        if (in[i].subnormal && (policy->flush_operand || format == FACET_FMT_BF16_LITE)) {
            flags |= FACET_FTZ;
        }
        any_nan |= is_nan(&in[i]);
    }
    for (unsigned i = n; i < 4; i++) {
        in[i].kind = FINITE;
    }
    if (op == REF_EQ || op == REF_LT || op == REF_LE) {
        r = compare(op, format);
    } else if (op == REF_MIN || op == REF_MAX) {
        r = extreme(op, format, policy);
    } else if (any_nan) {
        bool fused = n >= 3;
        r.bits = nan_result(format, n, policy);
        r.flags = 0;
        for (unsigned i = 0; i < n; i++) {
            r.flags |= in[i].kind == SIGNALING ? FACET_NV : 0;
        }
        if (fused && (zero_times_infinity(&in[0], &in[1]) ||
                      (op == REF_DP2 && zero_times_infinity(&in[2], &in[3])))) {
            r.flags |= FACET_NV;
        }
    } else {
        if (op == REF_FMSUB || op == REF_FNMADD) {
            negate(&in[2]);
        }
        if (op == REF_FNMSUB || op == REF_FNMADD) {
            negate(&in[0]);
        }
        r = special_or_round(n == 3 ? REF_FMA : op, format, policy);
    }
    r.flags |= flags;
    return r;
}

struct ref_result ref_convert(enum facet_format to,
                              enum facet_format from,
                              uint64_t a,
                              int shift,
                              const struct facet_num_policy *policy)
{
    const struct exact e = {.how = BY_VALUE, .shift = shift};
    struct ref_result r;
    unsigned flags = 0;

    decode(from, a, policy->flush_operand, &in[0]);
    if (in[0].subnormal && (policy->flush_operand || from == FACET_FMT_BF16_LITE)) {
        flags = FACET_FTZ;
    }
    switch (in[0].kind) {
    case ZERO:
        r = signed_result(to, in[0].negative, 0);
        break;
    case FINITE:
        r = round_exact(to, &e, policy);
        break;
    case INFINITE:
        r = signed_result(to, in[0].negative, layouts[to].inf);
        if (!layouts[to].infinity) {
            r = (struct ref_result){layouts[to].nan, FACET_QNAN};
        }
        break;
    default:
        r.bits = layouts[to].nan;
        r.flags = in[0].kind == SIGNALING ? FACET_NV : 0;
        break;
    }
    r.flags |= flags;
    return r;
}

struct ref_result ref_tile_convert(enum facet_format to,
                                   enum facet_format from,
                                   uint64_t a,
                                   const struct facet_num_policy *policy)
{
    const struct layout *t = &layouts[to], *f = &layouts[from];
    struct ref_result r = ref_convert(to, from, a, 0, policy);

    if (is_nan(&in[0])) {
        uint64_t fraction = a & ((UINT64_C(1) << f->fraction_bits) - 1);
        int grow = t->fraction_bits - f->fraction_bits;

        r.bits = t->nan;
        if (!t->all_quiet && !f->all_quiet) {
            r.bits = t->inf | UINT64_C(1) << (t->fraction_bits - 1) |
                     (grow >= 0 ? fraction << grow : fraction >> -grow);
        }
        r.bits |= sign_bit(t, in[0].negative);
    } else if (in[0].kind == INFINITE && !t->infinity) {
        bool saturate = policy->saturate == FACET_SATURATE_FLAGGED;
        r.bits = sign_bit(t, in[0].negative) | (saturate ? max_finite(to) : t->nan);
        r.flags = FACET_OF | FACET_NX;
    }
    r.flags &= FACET_FLAGS_IEEE;
    return r;
}

/* in[0].x rounded to an integer in `big`; returns inexactness. */
static bool to_integer(unsigned rm)
{
    int t;

    mpfr_set_prec(value, 64 + 1100);
    switch (rm) {
    case FACET_RTZ:
        t = mpfr_rint_trunc(value, in[0].x, MPFR_RNDN);
        break;
    case FACET_RDN:
        t = mpfr_rint_floor(value, in[0].x, MPFR_RNDN);
        break;
    case FACET_RUP:
        t = mpfr_rint_ceil(value, in[0].x, MPFR_RNDN);
        break;
    case FACET_RMM:
        t = mpfr_rint_round(value, in[0].x, MPFR_RNDN);
        break;
    default:
        t = mpfr_rint_roundeven(value, in[0].x, MPFR_RNDN);
        break;
    }
    (void)t;
    mpfr_get_z(big, value, MPFR_RNDN);
    return mpfr_cmp(value, in[0].x) != 0;
}

struct ref_result ref_to_int(enum facet_format from,
                             uint64_t a,
                             int shift,
                             unsigned width,
                             bool is_signed,
                             const struct facet_num_policy *policy)
{
    struct ref_result r = {0, 0};
    mpz_t low, high;
    bool inexact = false, above, below;

    decode(from, a, policy->flush_operand, &in[0]);
    if (in[0].subnormal && (policy->flush_operand || from == FACET_FMT_BF16_LITE)) {
        r.flags = FACET_FTZ;
    }
    if (in[0].kind == ZERO) {
        return r;
    }
    mpz_inits(low, high, (mpz_ptr)0);
    mpz_ui_pow_ui(high, 2, is_signed ? width - 1 : width);
    if (is_signed) {
        mpz_neg(low, high);
    }
    mpz_sub_ui(high, high, 1);
    above = is_nan(&in[0]) || (in[0].kind == INFINITE && !in[0].negative);
    below = in[0].kind == INFINITE && in[0].negative;
    if (in[0].kind == FINITE) {
        mpfr_mul_2si(in[0].x, in[0].x, shift, MPFR_RNDN);
        inexact = to_integer(policy->rm);
        above = mpz_cmp(big, high) > 0;
        below = mpz_cmp(big, low) < 0;
    }
    if (above || below) {
        r.flags |= FACET_NV;
        mpz_set(big, above ? high : low);
    } else if (inexact) {
        r.flags |= FACET_NX;
    }
    r.bits = mpz_get_ui(big);
    if (mpz_sgn(big) < 0) {
        r.bits = 0 - r.bits;
    }
    mpz_clears(low, high, (mpz_ptr)0);
    return r;
}

struct ref_result ref_from_int(enum facet_format to,
                               uint64_t n,
                               bool is_signed,
                               const struct facet_num_policy *policy)
{
    struct exact e = {.how = BY_INT, .n = n};

    if (n == 0) {
        return (struct ref_result){0, 0};
    }
    if (is_signed && (int64_t)n < 0) {
        e.negative = true;
        e.n = 0 - n;
    }
    return round_exact(to, &e, policy);
}

struct ref_result ref_from_ratio(enum facet_format to,
                                 int64_t num,
                                 uint64_t den,
                                 int exponent,
                                 const struct facet_num_policy *policy)
{
    struct exact e = {.how = BY_RATIO,
                      .negative = num < 0,
                      .n = num < 0 ? 0 - (uint64_t)num : (uint64_t)num,
                      .den = den,
                      .shift = exponent};

    if (num == 0) {
        return (struct ref_result){0, 0};
    }
    return round_exact(to, &e, policy);
}
