/* Area `num`: the integer-only arithmetic of src/num beside the host's own FPU, on the same random
 * operands, a result word read from every operation. The FPU is the far end of the scale, not a
 * rival: it keeps no flags per operation and knows only its own rounding. */
#include "bench/bench.h"

#include "num/hart.h"

#include <math.h>
#include <string.h>

enum { OPERANDS = 1024 };

static struct {
    bool ready;
    uint32_t f32[OPERANDS];
    uint64_t f64[OPERANDS];
} data;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Positive normal numbers between 2^-32 and 2^32: what a shader adds and multiplies. */
static void prepare(void)
{
    uint64_t state = 1;

    if (data.ready) {
        return;
    }
    for (int i = 0; i < OPERANDS; i++) {
        uint64_t r = next_random(&state), exponent = r % 64;

        data.f32[i] = (uint32_t)((127 - 32 + exponent) << 23 | (r >> 41));
        data.f64[i] = (1023 - 32 + exponent) << 52 | next_random(&state) >> 12;
    }
    data.ready = true;
}

/* Defines one operation twice: facet_expr over bits a, b, c, host_expr over numbers x, y, z. */
#define OPERATION(name, type, real, array, facet_expr, host_expr)                                  \
    static uint64_t facet_work_##name(void *context, uint64_t count)                               \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        unsigned flags = 0;                                                                        \
        (void)context;                                                                             \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            type a = data.array[i % OPERANDS], b = data.array[(i + 1) % OPERANDS];                 \
            type c = data.array[(i + 2) % OPERANDS];                                               \
            (void)b;                                                                               \
            (void)c;                                                                               \
            sum += (facet_expr);                                                                   \
        }                                                                                          \
        return sum + flags;                                                                        \
    }                                                                                              \
    static uint64_t host_work_##name(void *context, uint64_t count)                                \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        (void)context;                                                                             \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            real x, y, z, result;                                                                  \
            type bits;                                                                             \
            memcpy(&x, &data.array[i % OPERANDS], sizeof x);                                       \
            memcpy(&y, &data.array[(i + 1) % OPERANDS], sizeof y);                                 \
            memcpy(&z, &data.array[(i + 2) % OPERANDS], sizeof z);                                 \
            (void)y;                                                                               \
            (void)z;                                                                               \
            result = (host_expr);                                                                  \
            memcpy(&bits, &result, sizeof bits);                                                   \
            sum += bits;                                                                           \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static enum facet_status measure_##name(                                                       \
        double seconds, double *value, struct facet_error *err)                                    \
    {                                                                                              \
        (void)err;                                                                                 \
        prepare();                                                                                 \
        *value = bench_rate(facet_work_##name, NULL, seconds) * 1e-6;                              \
        return FACET_OK;                                                                           \
    }                                                                                              \
    static enum facet_status measure_host_##name(                                                  \
        double seconds, double *value, struct facet_error *err)                                    \
    {                                                                                              \
        (void)err;                                                                                 \
        prepare();                                                                                 \
        *value = bench_rate(host_work_##name, NULL, seconds) * 1e-6;                               \
        return FACET_OK;                                                                           \
    }

/* clang-format off */
OPERATION(f32_add, uint32_t, float, f32, facet_f32_add(a, b, FACET_RNE, &flags), x + y)
OPERATION(f32_mul, uint32_t, float, f32, facet_f32_mul(a, b, FACET_RNE, &flags), x * y)
OPERATION(f32_fma, uint32_t, float, f32, facet_f32_fmadd(a, b, c, FACET_RNE, &flags), fmaf(x, y, z))
OPERATION(f32_div, uint32_t, float, f32, facet_f32_div(a, b, FACET_RNE, &flags), x / y)
OPERATION(f32_sqrt, uint32_t, float, f32, facet_f32_sqrt(a, FACET_RNE, &flags), sqrtf(x))
OPERATION(f64_add, uint64_t, double, f64, facet_f64_add(a, b, FACET_RNE, &flags), x + y)
OPERATION(f64_mul, uint64_t, double, f64, facet_f64_mul(a, b, FACET_RNE, &flags), x * y)
OPERATION(f64_fma, uint64_t, double, f64, facet_f64_fmadd(a, b, c, FACET_RNE, &flags), fma(x, y, z))
OPERATION(f64_div, uint64_t, double, f64, facet_f64_div(a, b, FACET_RNE, &flags), x / y)
OPERATION(f64_sqrt, uint64_t, double, f64, facet_f64_sqrt(a, FACET_RNE, &flags), sqrt(x))
/* clang-format on */

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, "Mop/s", measure_##name, "host FPU", measure_host_##name                            \
    }

static const struct bench_measure measures[] = {
    ROW(f32_add),
    ROW(f32_mul),
    ROW(f32_fma),
    ROW(f32_div),
    ROW(f32_sqrt),
    ROW(f64_add),
    ROW(f64_mul),
    ROW(f64_fma),
    ROW(f64_div),
    ROW(f64_sqrt),
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_num = {
    .name = "num",
    .summary = "software floating point, RISC-V rules, one thread",
    .measures = measures,
};
