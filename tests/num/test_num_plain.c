/* The short ways of src/num (fast.h, and conversions that change nothing) against the full ones
 * that `plain` asks for: the same bits and flags for operands of every kind. Builds with asserts
 * also see that the one takes them and the other does not. */
#include "base/ways.h"
#include "num/accum.h"
#include "num/extreme.h"
#include "num/hart.h"
#include "num/tile.h"
#include "sampling.h"

#include <inttypes.h>

struct operands {
    uint64_t a, b, c;
    unsigned rm;
    bool ftz;
    unsigned raised; /* before the operation: with NX the host may do it */
};

static struct operands draw(enum facet_format format, uint64_t i)
{
    struct operands o = {.rm = i % 3 == 0 ? (unsigned)(i / 3 % 5) : FACET_RNE,
                         .ftz = i % 7 == 0,
                         .raised = i % 2 == 0 ? FACET_NX : 0};

    o.a = sampling_operand(format, UINT64_C(0x3F800000));
    o.b = sampling_operand(format, o.a);
    o.c = sampling_operand(format, o.b);
    return o;
}

/* Results of one door for the operands, and the flags of each. */
struct answers {
    uint64_t bits[12];
    unsigned flags[12];
    unsigned count;
};

#define ANSWER(s, call)                                                                            \
    do {                                                                                           \
        unsigned *const fl = &(s)->flags[(s)->count];                                              \
        (s)->bits[(s)->count++] = (call);                                                          \
    } while (0)

#define HART(prefix, type)                                                                         \
    static void hart_##prefix(const struct operands *o, bool plain, struct answers *s)             \
    {                                                                                              \
        const type a = (type)o->a, b = (type)o->b, c = (type)o->c;                                 \
        const unsigned rm = o->rm | (plain ? FACET_RM_PLAIN : 0);                                  \
        ANSWER(s, prefix##_add(a, b, rm, fl));                                                     \
        ANSWER(s, prefix##_sub(a, b, rm, fl));                                                     \
        ANSWER(s, prefix##_mul(a, b, rm, fl));                                                     \
        ANSWER(s, prefix##_div(a, b, rm, fl));                                                     \
        ANSWER(s, prefix##_sqrt(a, rm, fl));                                                       \
        ANSWER(s, prefix##_fmadd(a, b, c, rm, fl));                                                \
        ANSWER(s, prefix##_fmsub(a, b, c, rm, fl));                                                \
        ANSWER(s, prefix##_fnmsub(a, b, c, rm, fl));                                               \
        ANSWER(s, prefix##_fnmadd(a, b, c, rm, fl));                                               \
        ANSWER(s, (uint64_t)prefix##_to_i64(a, rm, fl));                                           \
        ANSWER(s, prefix##_from_i64((int64_t)o->a, rm, fl));                                       \
    }
HART(facet_f16, uint16_t)
HART(facet_f32, uint32_t)
HART(facet_f64, uint64_t)

static void accumulator(const struct operands *o, bool plain, struct answers *s)
{
    const struct facet_conv conv = {.elem = FACET_FMT_FP32,
                                    .acc = FACET_FMT_FP32,
                                    .rm = (uint8_t)o->rm,
                                    .ftz = o->ftz,
                                    .plain = plain};
    const uint32_t a = (uint32_t)o->a, b = (uint32_t)o->b, c = (uint32_t)o->c;

    for (unsigned k = 0; k < sizeof s->flags / sizeof s->flags[0]; k++) {
        s->flags[k] = o->raised;
    }
    ANSWER(s, facet_acc_add(&conv, a, b, fl));
    ANSWER(s, facet_acc_sub(&conv, a, b, fl));
    ANSWER(s, facet_acc_mul(&conv, a, b, fl));
    ANSWER(s, facet_acc_div(&conv, a, b, fl));
    ANSWER(s, facet_acc_fma(&conv, a, b, c, fl));
    ANSWER(s, facet_widen(&conv, a, fl));
    ANSWER(s, facet_narrow(&conv, a, fl));
}

static void tile(enum facet_format format, const struct operands *o, bool plain, struct answers *s)
{
    const struct facet_num_tile_env env = {.rm = (uint8_t)o->rm, .ftz = o->ftz, .plain = plain};
    const uint32_t a = (uint32_t)o->a, b = (uint32_t)o->b, c = (uint32_t)o->c;

    ANSWER(s, facet_num_tile_add(format, a, b, env, fl));
    ANSWER(s, facet_num_tile_sub(format, a, b, env, fl));
    ANSWER(s, facet_num_tile_mul(format, a, b, env, fl));
    ANSWER(s, facet_num_tile_fma(format, a, b, c, false, false, env, fl));
    ANSWER(s, facet_num_tile_fma(format, a, b, c, true, true, env, fl));
}

static void tile_fp16(const struct operands *o, bool plain, struct answers *s)
{
    tile(FACET_FMT_FP16, o, plain, s);
}

static void tile_fp32(const struct operands *o, bool plain, struct answers *s)
{
    tile(FACET_FMT_FP32, o, plain, s);
}

static bool short_ways_taken(void)
{
#ifdef FACET_ASSERTS
    bool taken = facet_fast_way_taken[FACET_WAY_NUM_SHORT] ||
                 facet_fast_way_taken[FACET_WAY_NUM_STAYS] ||
                 facet_fast_way_taken[FACET_WAY_NUM_HOST];

    facet_fast_way_taken[FACET_WAY_NUM_SHORT] = facet_fast_way_taken[FACET_WAY_NUM_STAYS] =
        facet_fast_way_taken[FACET_WAY_NUM_HOST] = false;
    return taken;
#else
    return false;
#endif
}

static void compare(enum facet_format format,
                    void (*door)(const struct operands *, bool plain, struct answers *))
{
    uint64_t n = sampling_count(50000, 2000000);
    bool fast_taken = false;

    (void)short_ways_taken();
    for (uint64_t i = 0; i < n && !harness_failed(); i++) {
        const struct operands o = draw(format, i);
        struct answers fast = {.count = 0}, plain = {.count = 0};

        door(&o, false, &fast);
        fast_taken |= short_ways_taken();
        door(&o, true, &plain);
        CHECK(!short_ways_taken());
        for (unsigned k = 0; k < plain.count; k++) {
            CHECK_MSG(fast.bits[k] == plain.bits[k] && fast.flags[k] == plain.flags[k],
                      "operation %u of %s %" PRIx64 " %" PRIx64 " %" PRIx64 " rm %u: %" PRIx64
                      "/%x, plain %" PRIx64 "/%x",
                      k,
                      facet_format_name(format),
                      o.a,
                      o.b,
                      o.c,
                      o.rm,
                      fast.bits[k],
                      fast.flags[k],
                      plain.bits[k],
                      plain.flags[k]);
        }
    }
#ifdef FACET_ASSERTS
    CHECK(fast_taken);
#endif
    (void)fast_taken;
}

TEST(numbers_of_the_hart, "")
{
    compare(FACET_FMT_FP16, hart_facet_f16);
    compare(FACET_FMT_FP32, hart_facet_f32);
    compare(FACET_FMT_FP64, hart_facet_f64);
}

TEST(accumulators, "")
{
    compare(FACET_FMT_FP32, accumulator);
}

TEST(numbers_of_the_tile_machine, "")
{
    compare(FACET_FMT_FP16, tile_fp16);
    compare(FACET_FMT_FP32, tile_fp32);
}

/* The least or largest of nothing is the NaN of the format, and says so. */
TEST(the_extreme_of_nothing_is_nan, "")
{
    static const struct {
        enum facet_format format;
        uint32_t nan;
    } each[] = {{FACET_FMT_FP32, 0x7FC00000}, {FACET_FMT_FP16, 0x7E00}, {FACET_FMT_BF16, 0x7FC0}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        const struct facet_conv conv = {.elem = each[i].format, .acc = FACET_FMT_FP32};
        const struct facet_extreme none = {0};
        unsigned flags = 0;

        CHECK_EQ(facet_num_extreme_bits(&none, &conv, &flags), each[i].nan);
        CHECK_EQ(flags, FACET_QNAN);
    }
}
