/* How much the number suites try, and operands that hit the interesting places: edges, ties,
 * neighbouring exponents, sparse and full significands. */
#ifndef FACET_TESTS_NUM_SAMPLING_H
#define FACET_TESTS_NUM_SAMPLING_H

#include "harness.h"
#include "num/format.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define SAMPLING_SLOW 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SAMPLING_SLOW 10
#endif
#endif
#ifndef SAMPLING_SLOW
#define SAMPLING_SLOW 1
#endif

/* FACET_TEST_SCALE=n divides all counts by n (default 10 under AddressSanitizer, else 1). */
static inline unsigned sampling_divisor(void)
{
    const char *text = getenv("FACET_TEST_SCALE");
    int n = text != NULL ? atoi(text) : 0;

    return n > 0 ? (unsigned)n : SAMPLING_SLOW;
}

static inline uint64_t sampling_count(uint64_t normal, uint64_t long_run)
{
    uint64_t n = (harness_long() ? long_run : normal) / sampling_divisor();

    return n != 0 ? n : 1;
}

/* Step of an exhaustive loop: 1, or an odd number (prime to every power of two) when scaled. */
static inline unsigned sampling_step(void)
{
    unsigned divisor = sampling_divisor();

    return divisor == 1 ? 1 : divisor | 1;
}

struct sampling_policy {
    const char *name;
    struct facet_num_policy policy;
};

/* The policies of the three machines, rounding mode to be filled in. */
enum {
    SAMPLING_IEEE,
    SAMPLING_CAP_FTZ,
    SAMPLING_TILE,
    SAMPLING_TILE_FTZ,
    SAMPLING_TILE_FSAT,
    SAMPLING_CAP_SAT,
    SAMPLING_POLICIES
};

static const struct sampling_policy sampling_policies[SAMPLING_POLICIES] = {
    {"ieee", {0}},
    {"cap-ftz", {.flush = FACET_FLUSH_TINY, .flush_operand = true}},
    {"tile", {.nan = FACET_NAN_FIRST}},
    {"tile-ftz", {.nan = FACET_NAN_FIRST, .flush = FACET_FLUSH_SUBNORMAL, .flush_operand = true}},
    {"tile-fsat", {.nan = FACET_NAN_FIRST, .saturate = FACET_SATURATE_FLAGGED}},
    {"cap-sat", {.saturate = FACET_SATURATE_QUIET}},
};

static inline struct facet_num_policy sampling_policy(unsigned index, unsigned rm)
{
    struct facet_num_policy policy = sampling_policies[index].policy;

    policy.rm = (uint8_t)rm;
    return policy;
}

/* One operand. `other` (any bits) gives a close exponent now and then, for cancellation. */
static inline uint64_t sampling_operand(enum facet_format format, uint64_t other)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];
    unsigned fraction_bits = f->p - 1u, width = f->width;
    uint64_t all = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t fraction_mask = (UINT64_C(1) << fraction_bits) - 1, fraction, exponent;
    uint64_t r = harness_random(), exponent_mask = (all >> 1) >> fraction_bits;

    if (r % 8 == 0) {
        return harness_random() & all;
    }
    r >>= 3;
    switch (r % 6) { /* the fraction: anything, few ones, few zeros, a run, 0, all ones */
    case 0:
    case 1:
        fraction = harness_random();
        break;
    case 2:
        fraction = (UINT64_C(1) << (harness_random() % (fraction_bits + 1))) |
                   (UINT64_C(1) << (harness_random() % (fraction_bits + 1)));
        break;
    case 3:
        fraction = ~((UINT64_C(1) << (harness_random() % (fraction_bits + 1))) |
                     (UINT64_C(1) << (harness_random() % (fraction_bits + 1))));
        break;
    case 4:
        fraction = UINT64_MAX << (harness_random() % (fraction_bits + 1));
        break;
    default:
        fraction = (harness_random() & 1) != 0 ? UINT64_MAX : 0;
        break;
    }
    r >>= 8;
    switch (r % 8) { /* the exponent: anything, near the other's, the ends, the middle */
    case 0:
    case 1:
        exponent = harness_random();
        break;
    case 2:
    case 3:
    case 4:
        exponent = (other >> fraction_bits) + harness_random() % 9 - 4;
        break;
    case 5:
        exponent = harness_random() % 3;
        break;
    case 6:
        exponent = exponent_mask - harness_random() % 3;
        break;
    default:
        exponent = exponent_mask / 2 + harness_random() % 33 - 16;
        break;
    }
    return ((harness_random() & 1) << (width - 1)) | (exponent & exponent_mask) << fraction_bits |
           (fraction & fraction_mask);
}

#endif
