/* numeric.md 8-10 against the oracle: widen and narrow of every format pair under random states,
 * integer accumulator primitives against exact rationals, FP accumulator primitives against MPFR,
 * the MIXED step, zero points. */
#include "num/accum.h"
#include "num/eff.h"
#include "sampling.h"
#include "subject.h"

static const uint8_t elements[] = {FACET_FMT_FP16,
                                   FACET_FMT_FP32,
                                   FACET_FMT_BF16,
                                   FACET_FMT_E4M3,
                                   FACET_FMT_E5M2,
                                   FACET_FMT_BF16_LITE,
                                   FACET_FMT_INT32,
                                   FACET_FMT_INT16,
                                   FACET_FMT_INT8,
                                   FACET_FMT_INT4,
                                   FACET_FMT_INT2};
static const uint8_t accumulators[] = {
    FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};

static int random_scale(void)
{
    uint64_t r = harness_random();

    return r % 3 == 0 ? (int8_t)(r >> 8) : (int)(r >> 8) % 16 - 8;
}

static struct facet_conv random_conv(uint8_t elem, uint8_t acc)
{
    uint64_t r = harness_random();
    struct facet_conv conv = {
        .elem = elem,
        .acc = acc,
        .rm = (uint8_t)(r % 5),
        .nan_pol = (uint8_t)((r >> 8) % 3),
        .ftz = (r >> 16 & 1) != 0,
        .sat = (r >> 17 & 1) != 0,
        .sat_mode = (r >> 18 & 1) != 0,
    };

    if ((r >> 19 & 1) != 0) {
        conv.uns = (r >> 20 & 1) != 0;
        conv.scale = (int8_t)random_scale();
        conv.zp = (int16_t)((r >> 32) % 640 - 256);
    }
    return conv;
}

/* Bits of an element or an accumulator, INT16 accumulators sign-extended. */
static uint32_t random_bits(uint8_t format, bool accumulator)
{
    uint32_t bits;

    if (format < FACET_FMT_FP_COUNT) {
        return (uint32_t)sampling_operand(format, UINT64_C(0x3F803C00));
    }
    bits = (uint32_t)(harness_random() >> (harness_random() % 60));
    if (harness_random() % 2 == 0) {
        bits = 0 - bits;
    }
    return accumulator && format == FACET_FMT_INT16 ? (uint32_t)(int32_t)(int16_t)bits : bits;
}

static void describe(const char *what,
                     const struct facet_conv *c,
                     uint32_t bits,
                     struct ref_result got,
                     struct ref_result want)
{
    CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
              "%s elem %s acc %s bits %x rm %u nan %u ftz %d sat %d/%d uns %d s %d zp %d: "
              "%" PRIx64 "/%x, expected %" PRIx64 "/%x",
              what,
              facet_format_name(c->elem),
              facet_format_name(c->acc),
              bits,
              c->rm,
              c->nan_pol,
              c->ftz,
              c->sat,
              c->sat_mode,
              c->uns,
              c->scale,
              c->zp,
              got.bits,
              got.flags,
              want.bits,
              want.flags);
}

TEST(widen_every_pair_random_states, "")
{
    for (unsigned e = 0; e < sizeof elements; e++) {
        for (unsigned a = 0; a < sizeof accumulators && !harness_failed(); a++) {
            for (uint64_t i = 0; i < sampling_count(40000, 1000000); i++) {
                struct facet_conv conv = random_conv(elements[e], accumulators[a]);
                uint32_t bits = random_bits(conv.elem, false);
                struct ref_result got = {0, 0};

                got.bits = facet_widen(&conv, bits, &got.flags);
                describe("widen", &conv, bits, got, ref_widen(&conv, bits));
            }
        }
    }
}

TEST(narrow_every_pair_random_states, "")
{
    for (unsigned e = 0; e < sizeof elements; e++) {
        for (unsigned a = 0; a < sizeof accumulators && !harness_failed(); a++) {
            for (uint64_t i = 0; i < sampling_count(60000, 1000000); i++) {
                struct facet_conv conv = random_conv(elements[e], accumulators[a]);
                uint32_t bits = random_bits(conv.acc, true);
                struct ref_result got = {0, 0};

                got.bits = facet_narrow(&conv, bits, &got.flags);
                describe("narrow", &conv, bits, got, ref_narrow(&conv, bits));
            }
        }
    }
}

static uint32_t
acc_op(enum ref_op op, const struct facet_conv *c, const uint32_t v[3], unsigned *fl)
{
    switch (op) {
    case REF_ADD:
        return facet_acc_add(c, v[0], v[1], fl);
    case REF_SUB:
        return facet_acc_sub(c, v[0], v[1], fl);
    case REF_MUL:
        return facet_acc_mul(c, v[0], v[1], fl);
    case REF_DIV:
        return facet_acc_div(c, v[0], v[1], fl);
    case REF_SQRT:
        return facet_acc_sqrt(c, v[0], fl);
    case REF_FMA:
        return facet_acc_fma(c, v[0], v[1], v[2], fl);
    case REF_MIN:
        return facet_acc_min(c, v[0], v[1], fl);
    case REF_MAX:
        return facet_acc_max(c, v[0], v[1], fl);
    case REF_EQ:
        return facet_acc_eq(c, v[0], v[1], fl);
    case REF_LT:
        return facet_acc_lt(c, v[0], v[1], fl);
    default:
        return facet_acc_le(c, v[0], v[1], fl);
    }
}

/* ACCW `code` selects `acc` and shows in STAT. */
static void check_accw(unsigned code, uint8_t acc)
{
    struct facet_eff eff = facet_eff_compose(0x80000 | (uint64_t)code << 24, 0, FACET_ALT_ALL);

    CHECK_EQ(eff.acc, acc);
    CHECK_EQ(facet_eff_stat(&eff, 0) >> 24 & 3, code);
}

static void int_primitives(uint8_t acc)
{
    check_accw(acc == FACET_FMT_INT32 ? 2 : 3, acc);
    for (enum ref_op op = REF_ADD; op <= REF_FMA && !harness_failed(); op++) {
        for (uint64_t i = 0; i < sampling_count(100000, 2000000); i++) {
            struct facet_conv conv = {
                .elem = acc, .acc = acc, .rm = (uint8_t)(i % 5), .scale = (int8_t)random_scale()};
            uint32_t v[3] = {
                random_bits(acc, true), random_bits(acc, true), random_bits(acc, true)};
            const int32_t n[3] = {(int32_t)v[0], (int32_t)v[1], (int32_t)v[2]};
            struct ref_result got = {0, 0}, want = ref_int_arith(op, &conv, n);

            got.bits = acc_op(op, &conv, v, &got.flags);
            CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                      "%s %s(%d, %d, %d) s %d rm %u: %" PRIx64 "/%x, expected %" PRIx64 "/%x",
                      facet_format_name(acc),
                      ref_op_names[op],
                      n[0],
                      n[1],
                      n[2],
                      conv.scale,
                      conv.rm,
                      got.bits,
                      got.flags,
                      want.bits,
                      want.flags);
        }
    }
}

TEST(int32_accumulator_primitives, "CAP-211")
{
    int_primitives(FACET_FMT_INT32);
}

TEST(int16_accumulator_primitives, "CAP-212")
{
    int_primitives(FACET_FMT_INT16);
}

/* FP columns through facet_acc_*, with flushing as the only policy besides the mode. */
TEST(fp_accumulator_primitives, "CAP-209 CAP-210")
{
    static const enum ref_op ops[] = {REF_ADD,
                                      REF_SUB,
                                      REF_MUL,
                                      REF_DIV,
                                      REF_SQRT,
                                      REF_FMA,
                                      REF_MIN,
                                      REF_MAX,
                                      REF_EQ,
                                      REF_LT,
                                      REF_LE};

    for (unsigned a = 0; a < 2; a++) {
        check_accw(a, accumulators[a]);
        for (unsigned o = 0; o < sizeof ops / sizeof ops[0] && !harness_failed(); o++) {
            for (uint64_t i = 0; i < sampling_count(40000, 1000000); i++) {
                struct facet_conv conv = {.elem = FACET_FMT_FP32,
                                          .acc = accumulators[a],
                                          .rm = (uint8_t)(i % 5),
                                          .ftz = i % 3 == 0,
                                          .sat = i % 7 == 0,
                                          .scale = 3,
                                          .zp = 5};
                struct facet_num_policy policy = {
                    .rm = conv.rm, .flush = conv.ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE};
                uint64_t first = sampling_operand(conv.acc, 0);
                const uint64_t v[4] = {
                    first, sampling_operand(conv.acc, first), sampling_operand(conv.acc, first), 0};
                const uint32_t n[3] = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
                struct ref_result got = {0, 0};

                got.bits = acc_op(ops[o], &conv, n, &got.flags);
                (void)subject_agrees(ops[o],
                                     conv.acc,
                                     v,
                                     "accumulator",
                                     &policy,
                                     got,
                                     ref_arith(ops[o], conv.acc, v, &policy));
            }
        }
    }
}

TEST(dp2_rounds_once, "")
{
    /* (1 + 2^-23)^2 - 1 = 2^-22 + 2^-46: two roundings would lose the last term's effect in RUP */
    struct facet_conv conv = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32, .rm = FACET_RUP};
    unsigned flags = 0;

    CHECK_EQ(facet_acc_dp2(&conv, 0x3F800001, 0x3F800001, 0x3F800000, 0x3F800000, &flags),
             0x34800001);
    CHECK_EQ(flags, FACET_NX);
    flags = 0;
    /* inf*1 - inf*1 is invalid, inf*1 - (-inf)*1 is not */
    CHECK_EQ(facet_acc_dp2(&conv, 0x7F800000, 0x3F800000, 0x7F800000, 0x3F800000, &flags),
             0x7FC00000);
    CHECK_EQ(flags, FACET_NV);
    flags = 0;
    CHECK_EQ(facet_acc_dp2(&conv, 0x7F800000, 0x3F800000, 0xFF800000, 0x3F800000, &flags),
             0x7F800000);
    CHECK_EQ(flags, 0);
}

TEST(neg_and_abs, "")
{
    struct facet_conv fp = {.elem = FACET_FMT_FP16, .acc = FACET_FMT_FP16};
    struct facet_conv i16 = {.elem = FACET_FMT_INT16, .acc = FACET_FMT_INT16, .scale = 4};
    struct facet_conv i32 = {.elem = FACET_FMT_INT32, .acc = FACET_FMT_INT32};
    unsigned flags = 0;

    CHECK_EQ(facet_acc_neg(&fp, 0x0000, &flags), 0x8000);
    CHECK_EQ(facet_acc_neg(&fp, 0xFE01, &flags), 0x7E00);
    CHECK_EQ(facet_acc_abs(&fp, 0xFC00, &flags), 0x7C00);
    CHECK_EQ(facet_acc_abs(&fp, 0xFE00, &flags), 0x7E00);
    CHECK_EQ(facet_acc_neg(&i32, 5, &flags), (uint32_t)-5);
    CHECK_EQ(facet_acc_abs(&i16, (uint32_t)-7, &flags), 7);
    CHECK_EQ(flags, 0);
    CHECK_EQ(facet_acc_neg(&i16, (uint32_t)-32768, &flags), (uint32_t)-32768);
    CHECK_EQ(flags, FACET_OF);
    flags = 0;
    CHECK_EQ(facet_acc_abs(&i32, 0x80000000, &flags), 0x80000000);
    CHECK_EQ(flags, FACET_OF);
}

/* Exact rationals once more: filters and means of integer accumulators, constants of FP ones. */
TEST(ratio_into_accumulators, "")
{
    struct facet_conv conv = {.elem = FACET_FMT_INT32, .acc = FACET_FMT_INT32};
    unsigned flags = 0;

    for (int num = -40; num <= 40; num++) {
        static const int expect[5][4] = {
            {0, 0, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 0, 1, 1}};
        for (unsigned rm = 0; rm < 5; rm++) {
            /* quarters: floor, then the fraction decides */
            int whole = num >> 2, fraction = num & 3, up = expect[rm][fraction];

            if (fraction == 2) {
                up = rm == FACET_RNE   ? (whole & 1) != 0
                     : rm == FACET_RMM ? whole >= 0
                                       : rm == FACET_RUP;
            }
            if (rm == FACET_RTZ && num < 0 && fraction != 0) {
                up = 1;
            }
            conv.rm = (uint8_t)rm;
            flags = 0;
            CHECK_EQ((int32_t)facet_acc_ratio(&conv, num, 4, &flags), (int32_t)(whole + up));
            CHECK_EQ(flags, fraction != 0 ? FACET_NX : 0);
        }
    }
    flags = 0;
    CHECK_EQ(facet_acc_ratio(&conv, (facet_i128)1 << 40, 16, &flags), 0);
    CHECK_EQ(flags, FACET_OF);
    conv.acc = FACET_FMT_FP32;
    conv.rm = FACET_RNE;
    flags = 0;
    CHECK_EQ(facet_acc_ratio(&conv, 132, 255, &flags), 0x3F048485);
}

/* numeric.md 9: with ALT in effect and MIXED = 0 every primitive ends in narrow and widen. */
TEST(mixed_step_rounds_every_intermediate, "CAP-246")
{
    for (unsigned mixed = 0; mixed < 2; mixed++) {
        struct facet_eff eff =
            facet_eff_compose(0x80000, UINT64_C(0x48000000) | (uint64_t)mixed << 23, FACET_ALT_ALL);
        struct facet_conv conv = facet_eff_conv(&eff, NULL, 0);
        unsigned flags = 0;
        uint32_t one = facet_widen(&conv, 0x38, &flags), small = facet_widen(&conv, 0x18, &flags);
        uint32_t acc = facet_acc_mul(&conv, one, one, &flags);

        CHECK_EQ(eff.elem, FACET_FMT_E4M3);
        for (int i = 0; i < 16; i++) {
            acc = facet_acc_fma(&conv, small, one, acc, &flags);
        }
        /* 1 + 16 * 0.0625: kept in the accumulator, or rounded away in E4M3 each time */
        CHECK_EQ(acc, mixed != 0 ? 0x40000000 : 0x3F800000);
        CHECK_EQ(facet_narrow(&conv, acc, &flags), mixed != 0 ? 0x40 : 0x38);
        CHECK_EQ((flags & FACET_DOWN) != 0, true);
    }
}
