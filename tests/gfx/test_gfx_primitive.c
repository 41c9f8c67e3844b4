/* The primitives of gfx-semantics.md 4.3 with any coefficients, as INTERP and LUT use them: FP
 * steps by the MPFR judge, integer nests as GMP rationals. */
#include "base/float.h"
#include "gfx/lut.h"
#include "gfx/primitive.h"
#include "harness.h"
#include "oracle.h"

#include <gmp.h>
#include <math.h>

/* ---- a second evaluation ---- */

static unsigned raised;

static uint32_t note(struct ref_result r)
{
    raised |= r.flags;
    return (uint32_t)r.bits;
}

static uint32_t mixed(const struct facet_conv *c, uint32_t acc)
{
    return c->mixed_step ? note(ref_widen(c, note(ref_narrow(c, acc)))) : acc;
}

static uint32_t step(const struct facet_conv *c, enum ref_op op, uint32_t a, uint32_t b, uint32_t x)
{
    const struct facet_num_policy policy = {.rm = c->rm, .flush = c->ftz ? FACET_FLUSH_TINY : 0};
    const uint64_t v[4] = {a, b, x, 0};

    return mixed(c, note(ref_arith(op, c->acc, v, &policy)));
}

/* A binary32 coefficient in an FP accumulator. */
static uint32_t coefficient(const struct facet_conv *c, float a)
{
    const struct facet_num_policy policy = {.rm = c->rm, .flush = c->ftz ? FACET_FLUSH_TINY : 0};
    struct ref_result r;
    uint32_t bits = facet_float_bits(a);

    r = ref_convert(c->acc, FACET_FMT_FP32, bits, 0, &policy);
    return note(r);
}

static uint32_t fp_lerp(const struct facet_conv *c, uint32_t p, uint32_t q, float a)
{
    if (a == 0 || a == 1) {
        return a == 0 ? p : q;
    }
    return step(c, REF_FMA, coefficient(c, a), step(c, REF_SUB, q, p, 0), p);
}

static uint32_t fp_bilerp(const struct facet_conv *c, const uint32_t *t, float a, float b)
{
    if (b == 0 || b == 1) { /* the other row is not evaluated */
        return fp_lerp(c, t[b == 0 ? 0 : 2], t[b == 0 ? 1 : 3], a);
    }
    return fp_lerp(c, fp_lerp(c, t[0], t[1], a), fp_lerp(c, t[2], t[3], a), b);
}

static void fixed(mpq_t out, float a)
{
    double x = isnan(a) ? 0 : floor((double)a * 65536);

    x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
    mpq_set_d(out, x);
    mpq_div_2exp(out, out, 16);
}

static void exact_lerp(mpq_t out, const mpq_t p, const mpq_t q, float a)
{
    mpq_t f, d;

    mpq_inits(f, d, NULL);
    fixed(f, a);
    mpq_sub(d, q, p);
    mpq_mul(d, d, f);
    mpq_add(out, p, d);
    mpq_clears(f, d, NULL);
}

/* The integer rounding judged by the quotient of big integers. */
static uint32_t round_exact(const struct facet_conv *c, const mpq_t q)
{
    mpz_t whole, rest;
    int side, sign = mpq_sgn(q);
    bool odd, up = false;
    uint32_t low;
    int64_t most = c->acc == FACET_FMT_INT16 ? INT16_MAX : INT32_MAX;

    mpz_inits(whole, rest, NULL);
    mpz_fdiv_qr(whole, rest, mpq_numref(q), mpq_denref(q));
    mpz_mul_2exp(rest, rest, 1);
    side = mpz_cmp(rest, mpq_denref(q));
    odd = mpz_odd_p(whole);
    if (mpz_sgn(rest) != 0) {
        raised |= FACET_NX;
        up = c->rm == FACET_RUP || (c->rm == FACET_RTZ && sign < 0) ||
             ((c->rm == FACET_RNE || c->rm == FACET_RMM) &&
              (side > 0 || (side == 0 && (c->rm == FACET_RNE ? odd : sign > 0))));
    }
    if (up) {
        mpz_add_ui(whole, whole, 1);
    }
    if (mpz_cmp_si(whole, most) > 0 || mpz_cmp_si(whole, -most - 1) < 0) {
        raised |= FACET_OF;
    }
    mpz_fdiv_r_2exp(whole, whole, 32);
    low = (uint32_t)mpz_get_ui(whole);
    mpz_clears(whole, rest, NULL);
    return mixed(c, c->acc == FACET_FMT_INT16 ? (uint32_t)(int16_t)low : low);
}

static uint32_t int_bilerp(const struct facet_conv *c, const uint32_t *t, float a, float b)
{
    mpq_t v[4];
    uint32_t r;

    if ((a == 0 || a == 1) && (b == 0 || b == 1)) {
        return t[(a == 1) + 2 * (b == 1)];
    }
    for (unsigned k = 0; k < 4; k++) {
        mpq_init(v[k]);
        mpq_set_si(v[k], (int32_t)t[k], 1);
    }
    exact_lerp(v[0], v[0], v[1], a);
    exact_lerp(v[2], v[2], v[3], a);
    exact_lerp(v[0], v[0], v[2], b);
    r = round_exact(c, v[0]);
    for (unsigned k = 0; k < 4; k++) {
        mpq_clear(v[k]);
    }
    return r;
}

/* ---- random operands ---- */

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

static struct facet_conv random_conv(void)
{
    static const uint8_t accs[] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};
    static const uint8_t elems[] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT16, FACET_FMT_INT8};

    return (struct facet_conv){
        .acc = accs[below(4)],
        .elem = elems[below(4)],
        .rm = (uint8_t)below(5),
        .ftz = below(4) == 0,
        .mixed_step = below(5) == 0,
        .scale = (int16_t)(below(3) == 0 ? -(int)below(9) : 0),
    };
}

static uint32_t random_acc(const struct facet_conv *c)
{
    const struct facet_num_policy nearest = {.rm = FACET_RNE};
    uint32_t bits = (uint32_t)harness_random();

    switch (c->acc) {
    case FACET_FMT_INT32:
        return below(4) == 0 ? bits : (uint32_t)((int32_t)bits >> 16);
    case FACET_FMT_INT16:
        return (uint32_t)(int16_t)bits;
    default:
        if (below(6) != 0) { /* mostly numbers of one size */
            bits = (bits & 0x803FFFFF) | 0x3F000000;
        }
        /* accumulators hold canonical NaNs */
        return (uint32_t)ref_convert(c->acc, FACET_FMT_FP32, bits, 0, &nearest).bits;
    }
}

static float random_coefficient(void)
{
    static const float special[] = {0, 1, -0.0f, 0.5f, -1, 2, 1e30f, -1e30f, 1e-30f, 40000, -40000};

    switch (below(8)) {
    case 0:
        return special[below(11)];
    case 1:
        return (float[]){(float)INFINITY, -(float)INFINITY, (float)NAN}[below(3)];
    case 2:
        return (float)((int)below(2000) - 1000) / 300;
    default:
        return (float)below(65536) / 65536;
    }
}

static struct facet_gfx_real real(float f)
{
    uint32_t bits;
    unsigned none = 0;

    bits = facet_float_bits(f);
    return facet_gfx_real_of_fp(FACET_FMT_FP32, bits, false, &none);
}

static void same(uint32_t got, unsigned flags, uint32_t want, const struct facet_conv *c)
{
    CHECK_MSG(got == want && flags == raised,
              "acc %s rm %u mixed %u: %08x flags %x, expected %08x flags %x",
              facet_format_name(c->acc),
              c->rm,
              c->mixed_step,
              got,
              flags,
              want,
              raised);
}

TEST(lerp_and_bilerp_of_any_coefficients, "")
{
    for (unsigned k = 0; k < 20000 && !harness_failed(); k++) {
        struct facet_conv c = random_conv();
        bool is_int = facet_format_is_int(c.acc);
        uint32_t t[4];
        float a = random_coefficient(), b = random_coefficient();
        struct facet_gfx_real ra = real(a), rb = real(b);
        unsigned flags = 0;
        uint32_t got;

        for (unsigned j = 0; j < 4; j++) {
            t[j] = random_acc(&c);
        }
        raised = 0;
        got = facet_gfx_bilerp(&c, t, &ra, &rb, NULL, &flags);
        same(got, flags, is_int ? int_bilerp(&c, t, a, b) : fp_bilerp(&c, t, a, b), &c);
        raised = flags = 0;
        got = facet_gfx_lerp(&c, t[0], t[1], &ra, &flags);
        same(got, flags, is_int ? int_bilerp(&c, t, a, 0) : fp_lerp(&c, t[0], t[1], a), &c);
    }
}

TEST(trilerp_is_a_nest_of_lerps, "")
{
    for (unsigned k = 0; k < 5000 && !harness_failed(); k++) {
        struct facet_conv c = random_conv();
        float f[3];
        struct facet_gfx_real r[3];
        uint32_t t[8], got, want;
        unsigned flags = 0;

        for (unsigned j = 0; j < 3; j++) {
            f[j] = below(4) == 0 ? 0 : (float)below(65536) / 65536;
            r[j] = real(f[j]);
        }
        for (unsigned j = 0; j < 8; j++) {
            t[j] = random_acc(&c);
        }
        raised = 0;
        got = facet_gfx_trilerp(&c, t, r, &flags);
        if (facet_format_is_int(c.acc)) {
            mpq_t v[8];

            for (unsigned j = 0; j < 8; j++) {
                mpq_init(v[j]);
                mpq_set_si(v[j], (int32_t)t[j], 1);
            }
            for (unsigned j = 0; j < 4; j++) {
                exact_lerp(v[2 * j], v[2 * j], v[2 * j + 1], f[0]);
            }
            exact_lerp(v[0], v[0], v[2], f[1]);
            exact_lerp(v[4], v[4], v[6], f[1]);
            exact_lerp(v[0], v[0], v[4], f[2]);
            want = f[0] == 0 && f[1] == 0 && f[2] == 0 ? t[0] : round_exact(&c, v[0]);
            for (unsigned j = 0; j < 8; j++) {
                mpq_clear(v[j]);
            }
        } else {
            want = fp_bilerp(&c, t, f[0], f[1]);
            if (f[2] != 0) {
                want = fp_lerp(&c, want, fp_bilerp(&c, t + 4, f[0], f[1]), f[2]);
            }
        }
        same(got, flags, want, &c);
    }
}

TEST(dot_and_rsqrt_are_their_primitives, "")
{
    for (unsigned k = 0; k < 5000 && !harness_failed(); k++) {
        struct facet_conv c = random_conv();
        uint32_t a[4], b[4], got, want;
        unsigned flags = 0, n = 1 + below(4);

        c.acc = below(2) == 0 ? FACET_FMT_FP32 : FACET_FMT_FP16;
        for (unsigned j = 0; j < 4; j++) {
            a[j] = random_acc(&c);
            b[j] = random_acc(&c);
        }
        raised = 0;
        want = step(&c, REF_MUL, a[0], b[0], 0);
        for (unsigned j = 1; j < n; j++) {
            want = step(&c, REF_FMA, a[j], b[j], want);
        }
        got = facet_gfx_dot(&c, a, b, n, &flags);
        same(got, flags, want, &c);
        raised = flags = 0;
        want = step(&c, REF_DIV, coefficient(&c, 1), step(&c, REF_SQRT, a[0], 0, 0), 0);
        got = facet_gfx_rsqrt(&c, a[0], &flags);
        same(got, flags, want, &c);
    }
}

TEST(reals_floor_and_compare_exactly, "")
{
    struct facet_gfx_real x = facet_gfx_real_of(-1, 1, -200);

    CHECK(facet_gfx_real_floor(&x, 16) == -1);
    x = facet_gfx_real_of(1, 1, -200);
    CHECK(facet_gfx_real_floor(&x, 16) == 0);
    x = facet_gfx_real_of(3, 1, 45);
    CHECK(facet_gfx_real_floor(&x, 0) == (INT64_C(3) << 45));
    CHECK(facet_gfx_real_floor(&x, 1) == (INT64_C(1) << 47) - 1);
    x.negative = true;
    CHECK(facet_gfx_real_floor(&x, 1) == -(INT64_C(1) << 47));
    CHECK(facet_gfx_real_fixed(&x) == INT32_MIN);
    x = real((float)INFINITY);
    CHECK(facet_gfx_real_fixed(&x) == INT32_MAX);
    CHECK_EQ(facet_gfx_tensor_index(&x), 65535);
    x = real((float)NAN);
    CHECK_EQ(facet_gfx_tensor_index(&x), 0);
    x = facet_gfx_real_of(255, 255, 0);
    CHECK(facet_gfx_real_is(&x, 1) && !facet_gfx_real_is(&x, 0) && !facet_gfx_real_is(&x, 2));
    x = facet_gfx_real_of(512, 1, -8);
    CHECK(facet_gfx_real_is(&x, 2));
    x = facet_gfx_real_of(1, 1, 1);
    CHECK(facet_gfx_real_is(&x, 2));
    x = facet_gfx_real_of(-1, 1, 0);
    CHECK(!facet_gfx_real_is(&x, 1));
    x = real(-0.0f);
    CHECK(facet_gfx_real_is(&x, 0));
    x = facet_gfx_real_of(1, 1, 4000);
    CHECK(!facet_gfx_real_is(&x, 1));
    x = facet_gfx_real_of(1, 1, -4000);
    CHECK(!facet_gfx_real_is(&x, 1));
}

/* What an explanation shows of a mean: each sum, then the quotient. */
TEST(steps_of_a_mean, "")
{
    const struct facet_conv fp32 = {.acc = FACET_FMT_FP32, .elem = FACET_FMT_FP32};
    const float values[4] = {1, 2.5f, -8, 0.5f}, sums[4] = {3.5f, -4.5f, -4, -1};
    uint32_t t[4], steps[4] = {0};
    unsigned flags = 0;

    for (unsigned i = 0; i < 4; i++) {
        t[i] = facet_float_bits(values[i]);
    }
    CHECK_EQ(facet_gfx_mean(&fp32, t, 4, steps, &flags), facet_float_bits(-1));
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(steps[i], facet_float_bits(sums[i]));
    }
}

/* Where integers of any scale lie in a table: 3 1/2 entries in units of 2^scale. */
TEST(places_in_a_table_by_scale, "")
{
    const struct facet_gfx_lut lut = {.linear = true, .size = {8, 8, 8}};

    for (int scale = -28; scale <= -1; scale++) {
        struct facet_gfx_numbers n = {0};
        struct facet_gfx_lut_plan plan;
        uint32_t in[4];
        unsigned flags = 0;

        for (unsigned i = 0; i < 4; i++) {
            n.channel[i].elem = n.channel[i].acc = FACET_FMT_INT32;
            n.channel[i].scale = (int8_t)scale;
            in[i] = UINT32_C(7) << (-scale - 1);
        }
        facet_gfx_lut_plan(&n, &lut, in, &plan, &flags);
        CHECK_MSG(plan.axis[0].index == 3 && facet_gfx_real_floor(&plan.axis[0].frac, 4) == 8,
                  "scale %d: index %u",
                  scale,
                  plan.axis[0].index);
    }
}

/* A table of zero points has one for each channel, from ZP on; a single zero point is that of all,
 * and without quantization there is none. */
TEST(zero_points_of_channels, "")
{
    uint8_t table[256];

    for (unsigned i = 0; i < 256; i++) {
        table[i] = (uint8_t)(7 + 3 * i);
    }
    for (unsigned q = 0; q < 2; q++) {
        for (unsigned zp_en = 0; zp_en < 3; zp_en++) {
            const struct facet_eff eff = {.elem = FACET_FMT_INT8,
                                          .acc = FACET_FMT_INT32,
                                          .q = q != 0,
                                          .uns = true,
                                          .zp_en = (uint8_t)zp_en,
                                          .zp = 5};
            const struct facet_gfx_numbers n = facet_gfx_numbers_of(&eff, table);

            for (unsigned c = 0; c < 4; c++) {
                CHECK_EQ(n.channel[c].zp,
                         q == 0 || zp_en == 0 ? 0
                         : zp_en == 1         ? 5
                                              : 7 + 3 * (5 + c));
            }
        }
    }
}
