/* The 8- and 16-bit formats against MPFR, exhaustively: every pair of FP8 operands, every 16-bit
 * operand of the unary operations and conversions, in every rounding mode and under the policies of
 * all three machines (numeric.md 3, 9, 10; tile-semantics.md 5). */
#include "sampling.h"
#include "subject.h"

static const enum facet_format fp8[] = {FACET_FMT_E4M3, FACET_FMT_E5M2};

static bool
run(enum ref_op op, enum facet_format format, const uint64_t v[4], unsigned which, unsigned rm)
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

static void all_pairs(enum ref_op op, unsigned modes)
{
    for (unsigned f = 0; f < 2; f++) {
        for (unsigned which = 0; which < SAMPLING_CAP_SAT; which++) {
            for (unsigned rm = 0; rm < modes; rm++) {
                for (unsigned pair = 0; pair < 0x10000; pair += sampling_step()) {
                    const uint64_t v[4] = {pair >> 8, pair & 0xFF, 0, 0};
                    (void)run(op, fp8[f], v, which, rm);
                }
                if (harness_failed()) {
                    return;
                }
            }
        }
    }
}

TEST(fp8_add_all_pairs, "")
{
    all_pairs(REF_ADD, FACET_RM_COUNT);
}

TEST(fp8_sub_all_pairs, "")
{
    all_pairs(REF_SUB, FACET_RM_COUNT);
}

TEST(fp8_mul_all_pairs, "")
{
    all_pairs(REF_MUL, FACET_RM_COUNT);
}

TEST(fp8_div_all_pairs, "")
{
    all_pairs(REF_DIV, FACET_RM_COUNT);
}

TEST(fp8_min_max_all_pairs, "")
{
    all_pairs(REF_MIN, 1);
    all_pairs(REF_MAX, 1);
}

TEST(fp8_compare_all_pairs, "")
{
    all_pairs(REF_EQ, 1);
    all_pairs(REF_LT, 1);
    all_pairs(REF_LE, 1);
}

/* All 2^24 triples in RNE in a long run, a sample otherwise. */
TEST(fp8_fma, "")
{
    uint64_t samples = sampling_count(60000, 1000000);

    for (unsigned f = 0; f < 2; f++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            for (uint64_t i = 0; i < samples; i++) {
                uint64_t r = harness_random();
                const uint64_t v[4] = {r & 0xFF, r >> 8 & 0xFF, r >> 16 & 0xFF, 0};
                (void)run(REF_FMA + (r >> 24) % 4, fp8[f], v, (r >> 32) % SAMPLING_CAP_SAT, rm);
            }
        }
        for (unsigned i = 0; harness_long() && i < 1u << 24 && !harness_failed(); i++) {
            const uint64_t v[4] = {i & 0xFF, i >> 8 & 0xFF, i >> 16, 0};
            (void)run(REF_FMA, fp8[f], v, SAMPLING_IEEE, FACET_RNE);
        }
    }
}

static void all_operands(enum ref_op op, enum facet_format format)
{
    uint64_t n = UINT64_C(1) << facet_format_width(format);

    for (unsigned which = 0; which < SAMPLING_CAP_SAT; which++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            for (uint64_t a = 0; a < n; a += sampling_step()) {
                const uint64_t v[4] = {a, 0, 0, 0};
                (void)run(op, format, v, which, rm);
            }
        }
    }
}

TEST(sqrt_all_operands, "")
{
    all_operands(REF_SQRT, FACET_FMT_FP16);
    all_operands(REF_SQRT, FACET_FMT_BF16);
    all_operands(REF_SQRT, FACET_FMT_E4M3);
    all_operands(REF_SQRT, FACET_FMT_E5M2);
}

TEST(rcp_all_operands, "")
{
    all_operands(REF_RCP, FACET_FMT_FP16);
    all_operands(REF_RCP, FACET_FMT_BF16);
    all_operands(REF_RCP, FACET_FMT_E4M3);
}

TEST(rsqrt_all_operands, "")
{
    all_operands(REF_RSQRT, FACET_FMT_FP16);
    all_operands(REF_RSQRT, FACET_FMT_BF16);
    all_operands(REF_RSQRT, FACET_FMT_E4M3);
}

static const enum facet_format small[] = {
    FACET_FMT_FP16, FACET_FMT_BF16, FACET_FMT_BF16_LITE, FACET_FMT_E4M3, FACET_FMT_E5M2};
enum { SMALL = sizeof small / sizeof small[0] };

static void convert_all(enum facet_format to, enum facet_format from, unsigned which, unsigned rm)
{
    const struct facet_num_policy policy = sampling_policy(which, rm);
    uint64_t n = UINT64_C(1) << facet_format_width(from);

    for (uint64_t a = 0; a < n; a += sampling_step()) {
        struct ref_result got = {0, 0}, want = ref_convert(to, from, a, 0, &policy);

        got.bits = facet_num_convert(to, from, a, &policy, &got.flags);
        if (!CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                       "%s(%" PRIx64 ") to %s rm %u %s: %" PRIx64 " flags %x, expected %" PRIx64
                       " flags %x",
                       facet_format_name(from),
                       a,
                       facet_format_name(to),
                       rm,
                       sampling_policies[which].name,
                       got.bits,
                       got.flags,
                       want.bits,
                       want.flags)) {
            return;
        }
    }
}

TEST(convert_all_operands_to_every_format, "")
{
    static const unsigned policies[] = {SAMPLING_IEEE, SAMPLING_CAP_FTZ, SAMPLING_CAP_SAT};

    for (unsigned f = 0; f < SMALL; f++) {
        for (unsigned to = 0; to < FACET_FMT_FP_COUNT && !harness_failed(); to++) {
            for (unsigned i = 0; i < 3; i++) {
                for (unsigned rm = 0; rm < FACET_RM_COUNT; rm++) {
                    convert_all(to, small[f], policies[i], rm);
                }
            }
        }
    }
}

static void to_int_all(enum facet_format from, unsigned width, bool is_signed, unsigned rm)
{
    const struct facet_num_policy policy =
        sampling_policy(rm == FACET_RUP ? SAMPLING_CAP_FTZ : SAMPLING_IEEE, rm);
    uint64_t n = UINT64_C(1) << facet_format_width(from);

    for (uint64_t a = 0; a < n; a += sampling_step()) {
        struct ref_result got = {0, 0}, want = ref_to_int(from, a, 0, width, is_signed, &policy);

        got.bits = facet_num_to_int(from, a, width, is_signed, &policy, &got.flags);
        if (!CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                       "%s(%" PRIx64 ") to %c%u rm %u: %" PRIx64 " flags %x, expected %" PRIx64
                       " flags %x",
                       facet_format_name(from),
                       a,
                       is_signed ? 'i' : 'u',
                       width,
                       rm,
                       got.bits,
                       got.flags,
                       want.bits,
                       want.flags)) {
            return;
        }
    }
}

TEST(to_int_all_operands, "")
{
    static const unsigned widths[] = {64, 32, 16, 8, 4, 2};

    for (unsigned f = 0; f < SMALL && !harness_failed(); f++) {
        unsigned last = facet_format_width(small[f]) == 8 ? 6 : 4;
        for (unsigned w = 0; w < last; w++) {
            for (unsigned rm = 0; rm < FACET_RM_COUNT; rm++) {
                to_int_all(small[f], widths[w], true, rm);
                to_int_all(small[f], widths[w], false, rm);
            }
        }
    }
}

/* Every 17-bit integer of both signs, into every format. */
TEST(from_int_small_integers, "")
{
    for (unsigned to = 0; to < FACET_FMT_FP_COUNT; to++) {
        for (unsigned rm = 0; rm < FACET_RM_COUNT && !harness_failed(); rm++) {
            const struct facet_num_policy policy =
                sampling_policy(rm == FACET_RTZ ? SAMPLING_CAP_SAT : SAMPLING_IEEE, rm);
            for (int64_t n = -70000; n <= 70000; n += sampling_step()) {
                struct ref_result got = {0, 0}, want = ref_from_int(to, (uint64_t)n, true, &policy);
                got.bits = facet_num_from_i64(to, n, &policy, &got.flags);
                CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                          "%" PRId64 " to %s rm %u: %" PRIx64 "/%x, expected %" PRIx64 "/%x",
                          n,
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

/* FCLASS against the oracle's own reading of the formats: exactly one bit, and the right one. */
TEST(fclass_fp16_all_operands, "")
{
    for (unsigned a = 0; a < 0x10000; a++) {
        unsigned exponent = a >> 10 & 31, fraction = a & 0x3FF;
        bool negative = a >> 15 != 0;
        unsigned want = exponent == 31 && fraction != 0 ? (fraction >= 0x200 ? 1u << 9 : 1u << 8)
                        : exponent == 31                ? (negative ? 1u << 0 : 1u << 7)
                        : exponent != 0                 ? (negative ? 1u << 1 : 1u << 6)
                        : fraction != 0                 ? (negative ? 1u << 2 : 1u << 5)
                                                        : (negative ? 1u << 3 : 1u << 4);
        CHECK_EQ(facet_f16_class((uint16_t)a), want);
    }
    CHECK_EQ(facet_f32_class(0x7F800001), 1u << 8);
    CHECK_EQ(facet_f32_class(0xFF7FFFFF), 1u << 1);
    CHECK_EQ(facet_f64_class(UINT64_C(0x8000000000000001)), 1u << 2);
    CHECK_EQ(facet_f64_class(UINT64_C(0x7FF8000000000000)), 1u << 9);
}

static bool exact_in(enum facet_format to, enum facet_format from, uint64_t bits)
{
    const struct facet_num_policy policy = {.rm = FACET_RNE};
    struct ref_result there, back;

    if (facet_format_is_int(from)) {
        unsigned spare = 64 - facet_format_width(from);
        int64_t n = (int64_t)(bits << spare) >> spare;

        if (facet_format_is_int(to)) {
            return n >> (facet_format_width(to) - 1) == n >> 63;
        }
        return ref_from_int(to, (uint64_t)n, true, &policy).flags == 0;
    }
    there = ref_convert(to, from, bits, 0, &policy);
    back = ref_convert(from, to, there.bits, 0, &policy);
    return (there.flags & ~(unsigned)FACET_FTZ) == 0 && (back.flags & ~(unsigned)FACET_FTZ) == 0;
}

/* DOWNCAST_TAKEN rests on facet_format_contains: true must mean that every value of the source is
 * in the destination. All values for small sources, the telling ones for wide sources. */
TEST(containment_is_what_conversion_finds, "")
{
    for (unsigned from = 0; from < FACET_FMT_COUNT; from++) {
        unsigned width = facet_format_width(from);
        bool fp = !facet_format_is_int(from);
        const uint64_t telling[4] = {fp ? facet_fp_formats[from].max_finite : INT32_MAX,
                                     fp ? 1 : (uint32_t)INT32_MIN,
                                     fp ? facet_fp_formats[from].max_finite / 2 : 1,
                                     fp ? facet_fp_formats[from].max_finite / 2 + 1 : 77777};
        uint64_t n = width <= 16 ? UINT64_C(1) << width : 4;

        for (unsigned to = 0; to < FACET_FMT_COUNT; to++) {
            bool all = true;

            if (to == FACET_FMT_BF16_LITE || (fp && facet_format_is_int(to))) {
                continue; /* by definition never, but for LITE itself and small integers */
            }
            for (uint64_t i = 0; i < n && all; i++) {
                uint64_t bits = width <= 16 ? i : telling[i];
                if (fp && (facet_num_fclass(from, bits) & 0x381) != 0) {
                    continue; /* infinities and NaNs */
                }
                all = exact_in(to, from, bits);
            }
            CHECK_MSG(all == facet_format_contains(to, from),
                      "%s in %s: %d",
                      facet_format_name(from),
                      facet_format_name(to),
                      all);
        }
    }
    CHECK(facet_format_contains(FACET_FMT_BF16_LITE, FACET_FMT_BF16_LITE));
    CHECK(!facet_format_contains(FACET_FMT_BF16_LITE, FACET_FMT_E4M3));
    CHECK(!facet_format_contains(FACET_FMT_INT32, FACET_FMT_E4M3));
}
