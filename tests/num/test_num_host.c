/* Results of the plain ways must not depend on the host's floating-point environment, nor disturb
 * it (the fast ones of num/host.h are for programs that left it alone): the same operations run
 * under every host rounding mode, with flush-to-zero and denormals-are-zero where the host has
 * them, and must give the same bits and flags; the environment must come back unchanged and no host
 * exception flag may be raised. */
#include "num/accum.h"
#include "num/hart.h"
#include "num/tile.h"
#include "sampling.h"

#include <fenv.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

/* A digest of results and flags over operands from a fixed sequence. */
static uint64_t digest(void)
{
    uint64_t hash = 1, x = 88172645463325252u;

    for (unsigned i = 0; i < 20000; i++) {
        uint64_t a, b, c;
        unsigned rm = i % 5, fl = 0;
        struct facet_conv conv = {.elem = FACET_FMT_E4M3,
                                  .acc = FACET_FMT_FP32,
                                  .rm = (uint8_t)rm,
                                  .ftz = i % 2 != 0,
                                  .plain = true};
        struct facet_num_tile_env env = {.rm = (uint8_t)rm, .ftz = i % 3 == 0};

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        a = x;
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        b = i % 4 == 0 ? x & UINT64_C(0x800FFFFF807FFFFF) : x; /* subnormals in both widths */
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        c = x;
        hash = mix(hash, facet_f64_add(a, b, rm, &fl));
        hash = mix(hash, facet_f64_mul(a, b, rm, &fl));
        hash = mix(hash, facet_f64_div(a, b, rm, &fl));
        hash = mix(hash, facet_f64_sqrt(a, rm, &fl));
        hash = mix(hash, facet_f64_fmadd(a, b, c, rm, &fl));
        hash = mix(hash, facet_f32_add((uint32_t)a, (uint32_t)b, rm, &fl));
        hash = mix(hash, facet_f32_mul((uint32_t)a, (uint32_t)b, rm, &fl));
        hash = mix(hash, facet_f32_div((uint32_t)a, (uint32_t)b, rm, &fl));
        hash = mix(hash, facet_f32_sqrt((uint32_t)a, rm, &fl));
        hash = mix(hash, facet_f32_fmadd((uint32_t)a, (uint32_t)b, (uint32_t)c, rm, &fl));
        hash = mix(hash, facet_f64_to_f32(a, rm, &fl));
        hash = mix(hash, (uint64_t)facet_f64_to_i64(a, rm, &fl));
        hash = mix(hash, facet_f64_from_u64(a, rm, &fl));
        hash = mix(hash, facet_narrow(&conv, (uint32_t)a, &fl));
        hash = mix(hash, facet_acc_div(&conv, (uint32_t)a, (uint32_t)b, &fl));
        hash = mix(hash, facet_num_tile_rsqrt(FACET_FMT_FP32, (uint32_t)a, env, &fl));
        hash = mix(hash, fl);
    }
    return hash;
}

TEST(host_environment_does_not_matter, "")
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fenv_t saved;
    uint64_t want;

    CHECK_EQ(fegetenv(&saved), 0);
    want = digest();
    for (unsigned i = 0; i < 4; i++) {
        uint64_t got;
        int mode_after, raised;

        CHECK_EQ(fesetround(modes[i]), 0);
        (void)feclearexcept(FE_ALL_EXCEPT);
        got = digest();
        mode_after = fegetround();
        raised = fetestexcept(FE_ALL_EXCEPT);
        (void)fesetenv(&saved);
        CHECK_EQ(got, want);
        CHECK_EQ(mode_after, modes[i]);
        CHECK_EQ(raised, 0);
    }
}

#if defined(__SSE2__)
TEST(host_flush_to_zero_does_not_matter, "")
{
    unsigned saved = _mm_getcsr();
    uint64_t want = digest();

    for (unsigned bits = 0; bits < 4; bits++) {
        /* FTZ is bit 15, DAZ bit 6 */
        unsigned set = (saved & ~0x803Fu) | (bits & 1) << 15 | (bits >> 1) << 6, after;
        uint64_t got;

        _mm_setcsr(set);
        got = digest();
        after = _mm_getcsr();
        _mm_setcsr(saved);
        CHECK_EQ(got, want);
        CHECK_EQ(after, set);
    }
}
#endif
