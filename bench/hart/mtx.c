/* `mtx-guest` of `facet bench hart`: vectors of four by 4 x 4 matrices, by MTX.MUL, eight at a
 * time; with FALLBACK, for machines without it, the same sums in C, to the same bits. */
#include <stdint.h>

enum { VECTORS = 512, MATRICES = 8, SIDE = 4 };

static float matrices[MATRICES][SIDE][SIDE], in[VECTORS][SIDE], out[VECTORS][SIDE];

static void make_numbers(void)
{
    uint32_t seed = 7;
    float *all[2] = {&matrices[0][0][0], &in[0][0]};
    const int counts[2] = {MATRICES * SIDE * SIDE, VECTORS * SIDE};

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < counts[k]; i++) {
            seed = seed * 1664525 + 1013904223;
            all[k][i] = (float)((int)(seed >> 12) - (1 << 19)) * (1.0f / (1 << 16)) + 0.0001f;
        }
    }
}

static __attribute__((noinline)) void transform(const float m[SIDE][SIDE])
{
#ifdef FALLBACK
    for (int n = 0; n < VECTORS; n++) {
        for (int i = 0; i < SIDE; i++) {
            float sum = m[i][0] * in[n][0];

            for (int j = 1; j < SIDE; j++) {
                sum = __builtin_fmaf(m[i][j], in[n][j], sum);
            }
            out[n][i] = sum;
        }
    }
#else
    __asm__ volatile(".insn i 0x5B, 0, x0, %0, 0x02F" : : "r"(m) : "memory"); /* mtx.ld, rows */
    for (int n = 0; n < VECTORS; n += 8) {
        __asm__ volatile(".insn i 0x5B, 1, %0, %1, 0x1CF" /* mtx.mul, 4 x 4, 8 vectors */
                         :
                         : "r"(out[n]), "r"(in[n])
                         : "memory");
    }
#endif
}

static __attribute__((noinline)) uint64_t sum_up(void)
{
    uint64_t sum = 0;

    for (int n = 0; n < VECTORS; n++) {
        uint32_t words[SIDE];

        __builtin_memcpy(words, out[n], sizeof words);
        sum = sum * 3 + words[n % SIDE];
    }
    return sum;
}

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED UINT64_C(0xE0962DE0848A3EB1)

int main(void)
{
#ifndef FALLBACK
    __asm__ volatile("csrw 0x7D0, %0" : : "r"(UINT64_C(0x8000000000300000))); /* FP32 */
#endif
    make_numbers();
    for (long i = 0; i < rounds; i++) {
        uint64_t sum = 0;

        for (int k = 0; k < MATRICES; k++) {
            transform(matrices[k]);
            sum = sum * 31 + sum_up();
        }
        if (sum != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
