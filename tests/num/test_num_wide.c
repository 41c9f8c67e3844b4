/* FP16, FP32 and FP64 arithmetic and conversions against MPFR: all exponent pairs and edge
 * fractions of FP16, random and edge operands of the wider formats (RISC-V F, D, Zfh; numeric.md
 * 10; tile-semantics.md 5; rt-semantics.md 4 dp2). */
#include "sampling.h"
#include "subject.h"

#include "num/decimal.h"

#include <math.h>

static const enum facet_format hart_formats[] = {FACET_FMT_FP16, FACET_FMT_FP32, FACET_FMT_FP64};

static bool check_hart(enum ref_op op, enum facet_format format, const uint64_t v[4], unsigned rm)
{
    const struct facet_num_policy policy = {.rm = (uint8_t)rm};

    return subject_agrees(op,
                          format,
                          v,
                          "hart",
                          &policy,
                          subject_hart(op, format, v, rm),
                          ref_arith(op, format, v, &policy));
}

static bool check_policy(
    enum ref_op op, enum facet_format format, const uint64_t v[4], unsigned which, unsigned rm)
{
    const struct facet_num_policy policy = sampling_policy(which, rm);

    return subject_agrees(op,
                          format,
                          v,
                          sampling_policies[which].name,
                          &policy,
                          subject_arith(op, format, v, &policy),
                          ref_arith(op, format, v, &policy));
}

static void sample(enum facet_format format, uint64_t v[4])
{
    v[0] = sampling_operand(format, 0);
    v[1] = sampling_operand(format, v[0]);
    v[2] = sampling_operand(format, v[1]);
    v[3] = sampling_operand(format, v[0]);
    if (harness_random() % 4 == 0) { /* an addend near the product: cancellation in fma */
        unsigned fraction_bits = facet_fp_formats[format].p - 1u;
        uint64_t mask = (UINT64_C(1) << fraction_bits) - 1;
        uint64_t one = (uint64_t)(1 - facet_fp_formats[format].emin);
        uint64_t exponent = (v[0] >> fraction_bits) + (v[1] >> fraction_bits) - one;

        exponent += harness_random() % 5 - 2;
        v[2] = (v[2] & mask) | exponent << fraction_bits;
        v[2] &= facet_fp_formats[format].width == 64
                    ? UINT64_MAX
                    : (UINT64_C(1) << facet_fp_formats[format].width) - 1;
    }
}

static void random_hart(enum ref_op op)
{
    for (unsigned f = 0; f < 3; f++) {
        /* a long run nearly fills the FP16 pairs: 10^7 for each binary operation and mode */
        bool dense = hart_formats[f] == FACET_FMT_FP16 && (op <= REF_DIV || op >= REF_MIN);
        uint64_t n = sampling_count(40000, dense ? 10000000 : 1000000);

        /* min, max and comparisons know no rounding mode */
        for (unsigned rm = 0; rm < (op < REF_MIN ? FACET_RM_COUNT : 1) && !harness_failed(); rm++) {
            for (uint64_t i = 0; i < n; i++) {
                uint64_t v[4];

                sample(hart_formats[f], v);
                if (!check_hart(op, hart_formats[f], v, rm)) {
                    break;
                }
            }
        }
    }
}

TEST(add_random, "")
{
    random_hart(REF_ADD);
}

TEST(sub_random, "")
{
    random_hart(REF_SUB);
}

TEST(mul_random, "")
{
    random_hart(REF_MUL);
}

TEST(div_random, "")
{
    random_hart(REF_DIV);
}

TEST(sqrt_random, "")
{
    random_hart(REF_SQRT);
}

TEST(fmadd_random, "")
{
    random_hart(REF_FMA);
}

TEST(fmsub_random, "")
{
    random_hart(REF_FMSUB);
}

TEST(fnmsub_random, "")
{
    random_hart(REF_FNMSUB);
}

TEST(fnmadd_random, "")
{
    random_hart(REF_FNMADD);
}

TEST(min_max_compare_random, "")
{
    for (enum ref_op op = REF_MIN; op <= REF_LE; op++) {
        random_hart(op);
    }
}

/* The generic entry points under the CAP and tile policies, which hart.h does not use. */
TEST(policies_random, "")
{
    static const enum facet_format formats[] = {FACET_FMT_FP16, FACET_FMT_FP32, FACET_FMT_BF16};

    for (enum ref_op op = 0; op < REF_OPS; op++) {
        uint64_t n = sampling_count(8000, 200000);

        for (unsigned f = 0; f < 3; f++) {
            for (unsigned which = 0; which < SAMPLING_POLICIES && !harness_failed(); which++) {
                for (unsigned rm = 0; rm < FACET_RM_COUNT; rm++) {
                    for (uint64_t i = 0; i < n; i++) {
                        uint64_t v[4];

                        sample(formats[f], v);
                        (void)check_policy(op, formats[f], v, which, rm);
                    }
                }
            }
        }
    }
}

/* 64 x 64 signed exponents and ten fractions on either side: every alignment of the adder, every
 * exponent sum, with the fractions where rounding changes. */
TEST(fp16_every_exponent_pair, "")
{
    static const uint64_t fractions[] = {0, 1, 2, 0x155, 0x1FF, 0x200, 0x201, 0x2AA, 0x3FE, 0x3FF};
    static const enum ref_op ops[] = {REF_ADD, REF_SUB, REF_MUL, REF_DIV};
    unsigned step = sampling_divisor() > 1 ? 3 : 1;

    for (unsigned o = 0; o < 4; o++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            for (unsigned pair = 0; pair < 4096; pair += step) {
                for (unsigned i = 0; i < 100; i++) {
                    const uint64_t v[4] = {(uint64_t)(pair >> 6) << 10 | fractions[i / 10],
                                           (uint64_t)(pair & 63) << 10 | fractions[i % 10],
                                           0,
                                           0};
                    if (i % 10 % 3 == (pair + rm) % 3 || harness_long()) {
                        (void)check_hart(ops[o], FACET_FMT_FP16, v, rm);
                    }
                }
            }
        }
    }
}

TEST(convert_random, "")
{
    static const struct {
        enum facet_format to, from;
    } pairs[] = {
        {FACET_FMT_FP32, FACET_FMT_FP64},
        {FACET_FMT_FP16, FACET_FMT_FP64},
        {FACET_FMT_FP64, FACET_FMT_FP32},
        {FACET_FMT_FP16, FACET_FMT_FP32},
        {FACET_FMT_BF16, FACET_FMT_FP32},
        {FACET_FMT_E4M3, FACET_FMT_FP32},
        {FACET_FMT_E5M2, FACET_FMT_FP32},
        {FACET_FMT_BF16_LITE, FACET_FMT_FP32},
    };

    for (unsigned p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            for (uint64_t i = 0; i < sampling_count(30000, 1000000); i++) {
                unsigned which = (unsigned)(i % 4 == 0 ? SAMPLING_CAP_FTZ : SAMPLING_IEEE);
                const struct facet_num_policy policy = sampling_policy(which, rm);
                /* exponents around those of the destination */
                uint64_t near = facet_num_convert(pairs[p].from,
                                                  pairs[p].to,
                                                  sampling_operand(pairs[p].to, 0),
                                                  &policy,
                                                  &(unsigned){0});
                uint64_t a = sampling_operand(pairs[p].from, near);
                struct ref_result got = {0, 0},
                                  want = ref_convert(pairs[p].to, pairs[p].from, a, 0, &policy);

                got.bits = facet_num_convert(pairs[p].to, pairs[p].from, a, &policy, &got.flags);
                CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                          "%s(%" PRIx64 ") to %s rm %u: %" PRIx64 "/%x, expected %" PRIx64 "/%x",
                          facet_format_name(pairs[p].from),
                          a,
                          facet_format_name(pairs[p].to),
                          rm,
                          got.bits,
                          got.flags,
                          want.bits,
                          want.flags);
            }
        }
    }
}

static uint64_t random_integer(void)
{
    uint64_t r = harness_random();

    switch (r % 4) {
    case 0:
        return harness_random();
    case 1:
        return harness_random() >> (r >> 8 & 63);
    case 2: /* close to a power of two */
        return (UINT64_C(1) << (r >> 8 & 63)) + (r >> 16 & 7) - 3;
    default: /* a tie or its neighbour after rounding */
        return (harness_random() | 1) << (r >> 8 & 63) | (r >> 20 & 1);
    }
}

TEST(integers_to_and_from_hart_formats, "")
{
    for (unsigned f = 0; f < 3; f++) {
        enum facet_format format = hart_formats[f];

        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            const struct facet_num_policy policy = {.rm = (uint8_t)rm};

            for (uint64_t i = 0; i < sampling_count(30000, 1000000); i++) {
                bool is_signed = (i & 1) != 0;
                unsigned width = (i & 2) != 0 ? 64 : 32;
                uint64_t n = random_integer(), a, code;
                struct ref_result got = {0, 0}, want;

                got.bits = is_signed ? facet_num_from_i64(format, (int64_t)n, &policy, &got.flags)
                                     : facet_num_from_u64(format, n, &policy, &got.flags);
                want = ref_from_int(format, n, is_signed, &policy);
                CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                          "from %c64 %" PRIx64 " to %s rm %u",
                          is_signed ? 'i' : 'u',
                          n,
                          facet_format_name(format),
                          rm);
                /* back: numbers around integers and around the ends of the range */
                code = (i & 4) != 0 ? got.bits : sampling_operand(format, got.bits);
                a = code ^ (harness_random() & 3);
                got = (struct ref_result){0, 0};
                got.bits = facet_num_to_int(format, a, width, is_signed, &policy, &got.flags);
                want = ref_to_int(format, a, 0, width, is_signed, &policy);
                CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                          "%s(%" PRIx64 ") to %c%u rm %u: %" PRIx64 "/%x, expected %" PRIx64 "/%x",
                          facet_format_name(format),
                          a,
                          is_signed ? 'i' : 'u',
                          width,
                          rm,
                          got.bits,
                          got.flags,
                          want.bits,
                          want.flags);
            }
        }
    }
}

/* hart.h wraps the generic conversions: registers want both 32-bit results sign-extended. */
TEST(hart_conversions_have_register_form, "")
{
    unsigned flags = 0;

    CHECK_EQ(facet_f64_to_u32(UINT64_C(0x41EFFFFFFFE00000), FACET_RNE, &flags), -1);
    CHECK_EQ(facet_f32_to_i32(0xCF000000, FACET_RNE, &flags), INT32_MIN);
    CHECK_EQ(facet_f64_to_u64(UINT64_C(0x43F0000000000000) - 1, FACET_RNE, &flags),
             UINT64_C(0xFFFFFFFFFFFFF800));
    CHECK_EQ(flags, 0);
    CHECK_EQ(facet_f32_to_u32(0xBF800000, FACET_RTZ, &flags), 0);
    CHECK_EQ(flags, FACET_NV);
    flags = 0;
    CHECK_EQ(facet_f32_to_u64(0xBF000000, FACET_RTZ, &flags), 0);
    CHECK_EQ(flags, FACET_NX);
    flags = 0;
    CHECK_EQ(facet_f16_to_i64(0x7E00, FACET_RNE, &flags), INT64_MAX);
    CHECK_EQ(flags, FACET_NV);
    flags = 0;
    CHECK_EQ(facet_f32_from_i64(-16777217, FACET_RDN, &flags), 0xCB800001);
    CHECK_EQ(facet_f64_from_u64(UINT64_MAX, FACET_RNE, &flags), UINT64_C(0x43F0000000000000));
    CHECK_EQ(facet_f16_from_i64(65520, FACET_RNE, &flags), 0x7C00);
    CHECK_EQ(facet_f16_from_u64(3, FACET_RNE, &flags), 0x4200);
    CHECK_EQ(facet_f64_from_i64(-3, FACET_RNE, &flags), UINT64_C(0xC008000000000000));
    CHECK_EQ(facet_f32_from_u64(1, FACET_RNE, &flags), 0x3F800000);
    CHECK_EQ(flags, FACET_NX | FACET_OF);
    flags = 0;
    CHECK_EQ(facet_f16_to_f32(0x7D01, &flags), 0x7FC00000);
    CHECK_EQ(facet_f16_to_f64(0x0001, &flags), UINT64_C(0x3E70000000000000));
    CHECK_EQ(facet_f32_to_f64(0x00000001, &flags), UINT64_C(0x36A0000000000000));
    CHECK_EQ(flags, FACET_NV);
    flags = 0;
    CHECK_EQ(facet_f64_to_f32(UINT64_C(0x3FF0000010000000), FACET_RMM, &flags), 0x3F800001);
    CHECK_EQ(facet_f64_to_f16(UINT64_C(0x40EFFDFFFFFFFFFF), FACET_RNE, &flags), 0x7BFF);
    CHECK_EQ(facet_f32_to_f16(0x33000000, FACET_RNE, &flags), 0);
    CHECK_EQ(flags, FACET_NX | FACET_UF);
}

TEST(nan_boxing, "")
{
    CHECK_EQ(facet_num_unbox32(facet_num_box32(0x3F800000)), 0x3F800000);
    CHECK_EQ(facet_num_unbox32(UINT64_C(0xFFFFFFFE3F800000)), 0x7FC00000);
    CHECK_EQ(facet_num_unbox16(facet_num_box16(0x3C00)), 0x3C00);
    CHECK_EQ(facet_num_unbox16(facet_num_box32(0x3C003C00)), 0x7E00);
}

TEST(ratio_random, "")
{
    for (unsigned to = 0; to < FACET_FMT_FP_COUNT; to++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            const struct facet_num_policy policy = sampling_policy(SAMPLING_IEEE, rm);

            for (uint64_t i = 0; i < sampling_count(10000, 200000); i++) {
                int64_t num = (int64_t)random_integer();
                uint64_t den = i % 3 == 0 ? 255 : random_integer() | 1;
                int exponent = (int)(harness_random() % 300) - 150;
                struct ref_result got = {0, 0},
                                  want = ref_from_ratio(to, num, den, exponent, &policy);

                got.bits = facet_num_from_ratio(to, num, den, exponent, &policy, &got.flags);
                CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                          "%" PRId64 "/%" PRIu64 "*2^%d to %s rm %u: %" PRIx64
                          "/%x, expected %" PRIx64 "/%x",
                          num,
                          den,
                          exponent,
                          facet_format_name(to),
                          rm,
                          got.bits,
                          got.flags,
                          want.bits,
                          want.flags);
            }
        }
    }
}

/* A number with all its digits is rounded as the FP64 number is that has them. */
TEST(written_numbers_in_every_mode, "")
{
    char text[800];

    for (uint64_t i = 0; i < sampling_count(3000, 100000); i++) {
        uint64_t bits = sampling_operand(FACET_FMT_FP64, 0);
        double value;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        (void)snprintf(text, sizeof text, i % 2 == 0 ? "%.766e" : "%a", value);
        for (unsigned to = 0; to < FACET_FMT_FP_COUNT; to++) {
            for (unsigned rm = 0; rm < FACET_RM_COUNT; rm++) {
                const struct facet_num_policy policy = {
                    .rm = (uint8_t)rm, .saturate = (uint8_t)(i % 3), .nan = FACET_NAN_FIRST};
                unsigned flags = 0, wanted_flags = 0;
                size_t length = 0;
                uint64_t got =
                    facet_num_from_text_by((enum facet_format)to, text, &length, &policy, &flags);
                uint64_t wanted = facet_num_convert(
                    (enum facet_format)to, FACET_FMT_FP64, bits, &policy, &wanted_flags);

                CHECK_MSG(got == wanted && length == strlen(text) &&
                              ((flags ^ wanted_flags) & (FACET_FLAGS_IEEE | FACET_SAT)) == 0,
                          "%s in %s, mode %u: 0x%" PRIx64 " 0x%x, expected 0x%" PRIx64 " 0x%x",
                          text,
                          facet_format_name((enum facet_format)to),
                          rm,
                          got,
                          flags,
                          wanted,
                          wanted_flags);
            }
        }
    }
}

TEST(isqrt_is_the_floor, "")
{
    for (uint64_t i = 0; i < sampling_count(200000, 10000000); i++) {
        uint64_t x = random_integer(), high = random_integer();
        facet_u128 wide = (facet_u128)high << 64 | x;
        bool exact;
        facet_u128 root = facet_num_isqrt64(x, &exact);

        CHECK(root * root <= x && (root + 1) * (root + 1) > x && exact == (root * root == x));
        if (i % 2 == 0) { /* squares and their neighbours */
            wide = (facet_u128)high * high - i % 3;
        }
        root = facet_num_isqrt128(wide, &exact);
        CHECK(root * root <= wide && exact == (root * root == wide));
        CHECK(wide - root * root <= 2 * root);
    }
}
