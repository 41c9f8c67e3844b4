/* The tile's numbers (tile-semantics.md 4, 5, 20.1): worked examples, NaN and flush rules that are
 * the tile's own, VCVT against the oracle. Arithmetic under the tile policies is covered by
 * test_num_small and test_num_wide. */
#include "num/tile.h"
#include "sampling.h"
#include "subject.h"

#define FP16 FACET_FMT_FP16
#define FP32 FACET_FMT_FP32
#define FP8 FACET_FMT_E4M3
static const struct facet_num_tile_env plain = {0};
static const struct facet_num_tile_env ftz = {.ftz = true};
static const struct facet_num_tile_env fsat = {.fsat = true};

/* Runs and compares result and flags. */
#define GIVES(call, result, raised)                                                                \
    do {                                                                                           \
        unsigned fl = 0;                                                                           \
        CHECK_EQ(call, result);                                                                    \
        CHECK_EQ(fl, raised);                                                                      \
    } while (0)

TEST(examples_of_20_1, "TILE-142")
{
    GIVES(facet_num_tile_fma(FP16, 0x4200, 0x3800, 0x3C00, false, false, plain, &fl), 0x4100, 0);
    GIVES(facet_num_tile_fma(FP16, 0x3C03, 0x3C03, 0xBC00, false, false, plain, &fl),
          0x1E02,
          FACET_NX);
    GIVES(facet_num_tile_add(FP32, 0x3DCCCCCD, 0x3E4CCCCD, plain, &fl), 0x3E99999A, FACET_NX);
    GIVES(facet_num_tile_add(FP32, 0x3F800000, 0x33000000, plain, &fl), 0x3F800000, FACET_NX);
    GIVES(facet_num_tile_add(FP32, 0xC0200000, 0x40200000, plain, &fl), 0, 0);
    GIVES(facet_num_tile_add(FP32, 0x7E967699, 0x7F61B1E6, plain, &fl),
          0x7F800000,
          FACET_OF | FACET_NX);
    GIVES(facet_num_tile_sub(FP8, 0x38, 0x18, plain, &fl), 0x37, 0);
    GIVES(facet_num_tile_add(FP8, 0x7E, 0x58, plain, &fl), 0x7E, FACET_NX);
    GIVES(facet_num_tile_add(FP8, 0x7E, 0x60, plain, &fl), 0x7F, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_add(FP8, 0xFE, 0xE0, plain, &fl), 0xFF, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_add(FP8, 0x7E, 0x60, fsat, &fl), 0x7E, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_add(FP16, 0x7BFF, 0x7BFF, plain, &fl), 0x7C00, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_add(FP16, 0x7BFF, 0x7BFF, fsat, &fl), 0x7BFF, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_rcp(FP16, 0x4200, plain, &fl), 0x3555, FACET_NX);
    GIVES(facet_num_tile_rsqrt(FP16, 0x4000, plain, &fl), 0x39A8, FACET_NX);
    GIVES(facet_num_tile_mul(FP16, 0x0400, 0x3800, plain, &fl), 0x0200, 0);
    GIVES(facet_num_tile_mul(FP16, 0x0400, 0x3800, ftz, &fl), 0, FACET_UF | FACET_NX);
    for (uint8_t rm = 0; rm < 5; rm++) {
        static const int32_t up[] = {2, 2, 2, 3, 3}, down[] = {-2, -2, -3, -2, -3};
        struct facet_num_tile_env env = {.rm = rm};
        GIVES(facet_num_tile_to_int(FP16, 0x4100, 32, env, &fl), up[rm], FACET_NX);
        GIVES(facet_num_tile_to_int(FP16, 0xC100, 32, env, &fl), down[rm], FACET_NX);
    }
}

TEST(dot_and_cross_of_20_1, "")
{
    static const uint32_t a[] = {0x3DCCCCCD, 0x3E4CCCCD, 0x3E99999A, 0x3ECCCCCD};
    unsigned fl = 0;
    uint32_t acc = facet_num_tile_mul(FP32, a[0], a[3], plain, &fl), t;

    for (int i = 1; i < 4; i++) {
        acc = facet_num_tile_fma(FP32, a[i], a[3 - i], acc, false, false, plain, &fl);
    }
    CHECK_EQ(acc, 0x3E4CCCCE);
    /* (1,2,3) x (4,5,6): c0 = 2*6 - 3*5 */
    t = facet_num_tile_mul(FP32, 0x40400000, 0x40A00000, plain, &fl);
    CHECK_EQ(facet_num_tile_fma(FP32, 0x40000000, 0x40C00000, t, false, true, plain, &fl),
             0xC0400000);
}

TEST(scalar_examples, "TILE-143 TILE-144 TILE-145 TILE-146 TILE-502 TILE-503 TILE-504")
{
    GIVES(facet_num_tile_add(FP16, 0x3E00, 0x4100, plain, &fl), 0x4400, 0);
    GIVES(facet_num_tile_sub(FP16, 0x3C00, 0x4200, plain, &fl), 0xC000, 0);
    GIVES(facet_num_tile_mul(FP16, 0x4200, 0x3800, plain, &fl), 0x3E00, 0);
    GIVES(facet_num_tile_min(FP16, 0x8000, 0x0000, plain, &fl), 0x8000, 0);
    GIVES(facet_num_tile_min(FP16, 0x7E00, 0x3C00, plain, &fl), 0x3C00, 0);
    GIVES(facet_num_tile_max(FP16, 0x8000, 0x0000, plain, &fl), 0x0000, 0);
    GIVES(facet_num_tile_max(FP16, 0x3C00, 0x7E00, plain, &fl), 0x3C00, 0);
    GIVES(facet_num_tile_min(FP16, 0x7D01, 0x4000, plain, &fl), 0x4000, FACET_NV);
    GIVES(facet_num_tile_min(FP16, 0xFD01, 0x7E02, plain, &fl), 0xFF01, FACET_NV);
    GIVES(facet_num_tile_from_int(FP16, -3, plain, &fl), 0xC200, 0);
    GIVES(facet_num_tile_from_int(FP16, 65536, plain, &fl), 0x7C00, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_from_int(FP16, 65536, fsat, &fl), 0x7BFF, FACET_OF | FACET_NX);
    GIVES(facet_num_tile_to_int(FP16, 0x7C00, 32, plain, &fl), 0x7FFFFFFF, FACET_NV);
    GIVES(facet_num_tile_to_int(FP16, 0xFE00, 32, plain, &fl), 0x7FFFFFFF, FACET_NV);
    GIVES(facet_num_tile_to_int(FP16, 0xFC00, 8, plain, &fl), -128, FACET_NV);
    GIVES(facet_num_tile_rcp(FP16, 0x4400, plain, &fl), 0x3400, 0);
    GIVES(facet_num_tile_rsqrt(FP16, 0x4400, plain, &fl), 0x3800, 0);
    GIVES(facet_num_tile_sub(FP16, 0x7C00, 0x7C00, plain, &fl), 0x7E00, FACET_NV);
    GIVES(facet_num_tile_rcp(FP16, 0x8000, plain, &fl), 0xFC00, FACET_DZ);
    GIVES(facet_num_tile_mul(FP16, 0x0401, 0x1001, plain, &fl), 0x0001, FACET_UF | FACET_NX);
    GIVES(facet_num_tile_add(FP16, 0xFE55, 0x3C00, plain, &fl), 0xFE55, 0);
    GIVES(facet_num_tile_add(FP16, 0x3C00, 0x7D01, plain, &fl), 0x7F01, FACET_NV);
}

/* tile-semantics.md 5.3: order of NaNs, negations, 0 * inf, zero reciprocals, operand flushing. */
TEST(rules_of_5_3, "TILE-502 TILE-503")
{
    GIVES(facet_num_tile_add(FP32, 0x7FC00011, 0x7FC00022, plain, &fl), 0x7FC00011, 0);
    GIVES(facet_num_tile_sub(FP32, 0x3F800000, 0xFFA00033, plain, &fl), 0xFFE00033, FACET_NV);
    GIVES(facet_num_tile_fma(FP32, 1, 2, 0x7FC00044, true, true, plain, &fl), 0x7FC00044, 0);
    GIVES(facet_num_tile_fma(FP32, 0, 0x7F800000, 0xFFC00055, false, false, plain, &fl),
          0xFFC00055,
          FACET_NV);
    GIVES(facet_num_tile_fma(FP32, 0, 0x7F800000, 0x3F800000, false, false, plain, &fl),
          0x7FC00000,
          FACET_NV);
    GIVES(facet_num_tile_add(FP8, 0xFF, 0x38, plain, &fl), 0xFF, 0);
    GIVES(facet_num_tile_rcp(FP8, 0x80, plain, &fl), 0xFF, FACET_DZ);
    GIVES(facet_num_tile_rcp(FP8, 0x80, fsat, &fl), 0xFE, FACET_DZ);
    GIVES(facet_num_tile_rsqrt(FP32, 0x80000000, plain, &fl), 0xFF800000, FACET_DZ);
    GIVES(facet_num_tile_rsqrt(FP32, 0x80000000, fsat, &fl), 0xFF7FFFFF, FACET_DZ);
    GIVES(facet_num_tile_rsqrt(FP32, 0xBF800000, plain, &fl), 0x7FC00000, FACET_NV);
    GIVES(facet_num_tile_rsqrt(FP32, 0xFF800000, plain, &fl), 0x7FC00000, FACET_NV);
    GIVES(facet_num_tile_rsqrt(FP32, 0x7F800000, plain, &fl), 0, 0);
    GIVES(facet_num_tile_rcp(FP32, 0xFF800000, plain, &fl), 0x80000000, 0);
    GIVES(facet_num_tile_rcp(FP32, 0x80000001, ftz, &fl), 0xFF800000, FACET_DZ);
    /* operands are flushed before comparing; the flushed operand is what min returns */
    GIVES(facet_num_tile_eq(FP16, 0x0001, 0x8000, ftz, &fl), true, 0);
    GIVES(facet_num_tile_min(FP16, 0x03FF, 0x3C00, ftz, &fl), 0, 0);
    GIVES(facet_num_tile_lt(FP16, 0x7E00, 0x3C00, plain, &fl), false, FACET_NV);
    GIVES(facet_num_tile_gt(FP16, 0x4000, 0x3C00, plain, &fl), true, 0);
    GIVES(facet_num_tile_le(FP16, 0x8000, 0x0000, plain, &fl), true, 0);
    GIVES(facet_num_tile_eq(FP16, 0x7E00, 0x7E00, plain, &fl), false, 0);
    GIVES(facet_num_tile_eq(FP16, 0x7D00, 0x7E00, plain, &fl), false, FACET_NV);
    /* 5.4 d: rounded up to the smallest normal it is not flushed (CAP would flush: numeric.md 9) */
    GIVES(facet_num_tile_mul(FP16, 0x07FF, 0x3800, ftz, &fl), 0x0400, FACET_NX | FACET_UF);
}

TEST(every_fp16_and_fp8_conversion, "")
{
    static const enum facet_format types[] = {FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_E4M3};

    for (unsigned i = 0; i < 9 * 5 * 4 && !harness_failed(); i++) {
        enum facet_format to = types[i % 3], from = types[i / 3 % 3];
        struct facet_num_tile_env env = {
            .rm = (uint8_t)(i / 9 % 5), .ftz = i / 45 % 2 != 0, .fsat = i / 90 != 0};
        const struct facet_num_policy policy = facet_num_tile_policy(env);
        bool sampled = from == FACET_FMT_FP32;
        uint64_t n = sampled ? sampling_count(30000, 1000000) : 1u << facet_format_width(from);

        for (uint64_t k = 0; k < n; k += sampled ? 1 : sampling_step()) {
            uint64_t a = sampled ? sampling_operand(from, UINT64_C(0x3F800000)) : k;
            struct ref_result got = {0, 0}, want = ref_tile_convert(to, from, a, &policy);

            got.bits = facet_num_tile_convert(to, from, (uint32_t)a, env, &got.flags);
            CHECK_MSG(got.bits == want.bits && got.flags == want.flags,
                      "%s(%" PRIx64 ") to %s rm %u ftz %d fsat %d: %" PRIx64
                      "/%x, expected %" PRIx64 "/%x",
                      facet_format_name(from),
                      a,
                      facet_format_name(to),
                      env.rm,
                      env.ftz,
                      env.fsat,
                      got.bits,
                      got.flags,
                      want.bits,
                      want.flags);
        }
    }
}

static uint32_t tile_op(enum ref_op op,
                        enum facet_format format,
                        const uint64_t v[4],
                        struct facet_num_tile_env env,
                        unsigned *fl)
{
    uint32_t a = (uint32_t)v[0], b = (uint32_t)v[1], c = (uint32_t)v[2];

    switch (op) {
    case REF_ADD:
        return facet_num_tile_add(format, a, b, env, fl);
    case REF_SUB:
        return facet_num_tile_sub(format, a, b, env, fl);
    case REF_MUL:
        return facet_num_tile_mul(format, a, b, env, fl);
    case REF_RCP:
        return facet_num_tile_rcp(format, a, env, fl);
    case REF_RSQRT:
        return facet_num_tile_rsqrt(format, a, env, fl);
    case REF_MIN:
        return facet_num_tile_min(format, a, b, env, fl);
    case REF_MAX:
        return facet_num_tile_max(format, a, b, env, fl);
    case REF_EQ:
        return facet_num_tile_eq(format, a, b, env, fl);
    case REF_LT:
        return facet_num_tile_lt(format, a, b, env, fl);
    case REF_LE:
        return facet_num_tile_le(format, a, b, env, fl);
    default:
        return facet_num_tile_fma(format,
                                  a,
                                  b,
                                  c,
                                  op == REF_FNMSUB || op == REF_FNMADD,
                                  op == REF_FMSUB || op == REF_FNMADD,
                                  env,
                                  fl);
    }
}

/* The entry points themselves, short way included, in every mode with FTZ and FSAT on and off. */
TEST(every_operation_random, "TILE-149")
{
    static const enum facet_format types[] = {FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_E4M3};
    static const enum ref_op ops[] = {REF_ADD,
                                      REF_SUB,
                                      REF_MUL,
                                      REF_FMA,
                                      REF_FMSUB,
                                      REF_FNMSUB,
                                      REF_FNMADD,
                                      REF_RCP,
                                      REF_RSQRT,
                                      REF_MIN,
                                      REF_MAX,
                                      REF_EQ,
                                      REF_LT,
                                      REF_LE};

    for (unsigned o = 0; o < sizeof ops / sizeof ops[0]; o++) {
        for (unsigned i = 0; i < 3 * 5 * 4 && !harness_failed(); i++) {
            enum facet_format format = types[i % 3];
            struct facet_num_tile_env env = {
                .rm = (uint8_t)(i / 3 % 5), .ftz = i / 15 % 2 != 0, .fsat = i / 30 != 0};
            const struct facet_num_policy policy = facet_num_tile_policy(env);

            for (uint64_t k = 0; k < sampling_count(6000, 200000); k++) {
                uint64_t first = sampling_operand(format, 0);
                const uint64_t v[4] = {
                    first, sampling_operand(format, first), sampling_operand(format, first), 0};
                struct ref_result got = {0, 0}, want = ref_arith(ops[o], format, v, &policy);

                got.bits = tile_op(ops[o], format, v, env, &got.flags);
                want.flags &= FACET_FLAGS_IEEE;
                (void)subject_agrees(ops[o], format, v, "tile.h", &policy, got, want);
            }
        }
    }
}

/* satS and satV (tile-semantics.md 4). */
TEST(integer_saturation, "TILE-506 TILE-507 TILE-563")
{
    static const struct {
        int64_t x;
        unsigned width;
        int64_t wraps, clamps;
        bool outside;
    } rows[] = {
        {INT64_C(0x80000000), 32, INT32_MIN, INT32_MAX, true},
        {INT64_C(0x7FFFFFFF) + 1, 32, INT32_MIN, INT32_MAX, true},
        {-INT64_C(0x80000001), 32, INT32_MAX, INT32_MIN, true},
        {128, 8, -128, 127, true},
        {300, 8, 44, 127, true},
        {-129, 8, 127, -128, true},
        {-128, 8, -128, -128, false},
        {40000, 16, -25536, 32767, true},
        {-5, 16, -5, -5, false},
        {INT64_MIN, 64, INT64_MIN, INT64_MIN, false},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool outside = false;
        CHECK_EQ(facet_num_int_fit(rows[i].x, rows[i].width, false, &outside), rows[i].wraps);
        CHECK_EQ(outside, rows[i].outside);
        outside = false;
        CHECK_EQ(facet_num_int_fit(rows[i].x, rows[i].width, true, &outside), rows[i].clamps);
        CHECK_EQ(outside, rows[i].outside);
    }
    {
        /* VDOT.I32: four products of INT_MIN squared exceed 64 bits */
        bool outside = false;
        facet_i128 sum = (facet_i128)INT64_C(0x4000000000000000) * 4;
        CHECK_EQ(facet_num_int_fit(sum, 32, true, &outside), INT32_MAX);
        CHECK_EQ(facet_num_int_fit(sum, 32, false, &outside), 0);
        CHECK(outside);
    }
}
