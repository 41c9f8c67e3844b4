/* How fast the number library is: millions of operations per second of CPU time, best of many short
 * runs, on normal random operands of both signs. Build target bench_num; not a test. */
#include "num/accum.h"
#include "num/hart.h"
#include "num/tile.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { OPERANDS = 2048, RUNS = 200 };

static uint32_t a32[OPERANDS], b32[OPERANDS], c32[OPERANDS];
static uint64_t a64[OPERANDS], b64[OPERANDS], c64[OPERANDS];
static uint64_t sink;

static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static void fill(uint32_t *narrow, uint64_t *wide)
{
    for (unsigned i = 0; i < OPERANDS; i++) {
        uint64_t r = next_random();
        narrow[i] = (uint32_t)(r & 0x807FFFFF) | (uint32_t)(119 + (r >> 40) % 16) << 23;
        r = next_random();
        wide[i] = (r & UINT64_C(0x800FFFFFFFFFFFFF)) | (1015 + next_random() % 16) << 52;
    }
}

static double cpu_seconds(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define BENCH(name, expression)                                                                    \
    do {                                                                                           \
        double best = 1e9;                                                                         \
        unsigned fl = 0;                                                                           \
        for (unsigned run = 0; run < RUNS; run++) {                                                \
            double start = cpu_seconds(), time;                                                    \
            for (unsigned i = 0; i < OPERANDS; i++) {                                              \
                sink += (uint64_t)(expression);                                                    \
            }                                                                                      \
            time = cpu_seconds() - start;                                                          \
            best = time < best ? time : best;                                                      \
        }                                                                                          \
        sink += fl;                                                                                \
        printf("%-22s %7.1f Mops/s\n", name, OPERANDS / best * 1e-6);                              \
    } while (0)

int main(void)
{
    const struct facet_conv fp16 = {.elem = FACET_FMT_FP16, .acc = FACET_FMT_FP32};
    const struct facet_num_tile_env env = {0};

    fill(a32, a64);
    fill(b32, b64);
    fill(c32, c64);
    BENCH("f32 add", facet_f32_add(a32[i], b32[i], 0, &fl));
    BENCH("f32 mul", facet_f32_mul(a32[i], b32[i], 0, &fl));
    BENCH("f32 fma", facet_f32_fmadd(a32[i], b32[i], c32[i], 0, &fl));
    BENCH("f32 div", facet_f32_div(a32[i], b32[i], 0, &fl));
    BENCH("f32 sqrt", facet_f32_sqrt(a32[i] & 0x7FFFFFFF, 0, &fl));
    BENCH("f32 less", facet_f32_lt(a32[i], b32[i], &fl));
    BENCH("f64 add", facet_f64_add(a64[i], b64[i], 0, &fl));
    BENCH("f64 mul", facet_f64_mul(a64[i], b64[i], 0, &fl));
    BENCH("f64 fma", facet_f64_fmadd(a64[i], b64[i], c64[i], 0, &fl));
    BENCH("f64 div", facet_f64_div(a64[i], b64[i], 0, &fl));
    BENCH("f64 sqrt", facet_f64_sqrt(a64[i] & INT64_MAX, 0, &fl));
    BENCH("f64 to i64", facet_f64_to_i64(a64[i], 1, &fl));
    BENCH("f64 to f32", facet_f64_to_f32(a64[i], 0, &fl));
    BENCH("f32 add, toward zero", facet_f32_add(a32[i], b32[i], 1, &fl));
    BENCH("accumulator fma FP32", facet_acc_fma(&fp16, a32[i], b32[i], c32[i], &fl));
    BENCH("narrow FP32 to FP16", facet_narrow(&fp16, a32[i], &fl));
    BENCH("widen FP16 to FP32", facet_widen(&fp16, a32[i] >> 16, &fl));
    BENCH("tile fma FP32",
          facet_num_tile_fma(FACET_FMT_FP32, a32[i], b32[i], c32[i], 0, 0, env, &fl));
    printf("(checksum %" PRIx64 ")\n", sink);
    return 0;
}
