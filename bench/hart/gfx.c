/* `gfx-guest` of `facet bench hart`: pixels with a bilinear texture, times a light, by GFX.SAMPLE
 * and GFX.SHADE, 64 at a time; with FALLBACK, for machines without them, the same in C. Both round
 * in their own order, so that their sums agree only nearly. */
#include <stdint.h>

enum { SIDE = 64, LANES = 64, BLOCKS = 32, CHANNELS = 4 };

static uint8_t texels[SIDE][SIDE][CHANNELS];
static float uv[BLOCKS][2][LANES];
static float work[2 * CHANNELS][LANES]; /* texture, then light */

static void make_picture(void)
{
    uint32_t seed = 3;

    for (int i = 0; i < SIDE * SIDE * CHANNELS; i++) {
        seed = seed * 1664525 + 1013904223;
        (&texels[0][0][0])[i] = (uint8_t)(seed >> 24);
    }
    for (int i = 0; i < BLOCKS * LANES; i++) {
        uv[i / LANES][0][i % LANES] = (float)(i * 37 % 4099) * (1.0f / 2048);
        uv[i / LANES][1][i % LANES] = (float)(i * 91 % 4093) * (1.0f / 2048);
    }
    for (int i = 0; i < CHANNELS * LANES; i++) {
        work[CHANNELS + i / LANES][i % LANES] = 0.25f + (float)(i % 7) * 0.125f;
    }
}

#ifdef FALLBACK

static float unorm[256];

static void open_unit(void)
{
    for (int i = 0; i < 256; i++) {
        unorm[i] = (float)i / 255;
    }
}

static __attribute__((noinline)) void shade(float (*at)[LANES])
{
    for (int i = 0; i < LANES; i++) {
        float x = at[0][i] * SIDE - 0.5f, y = at[1][i] * SIDE - 0.5f;
        int column = (int)(x + SIDE) - SIDE, row = (int)(y + SIDE) - SIDE; /* floor */
        float fx = x - (float)column, fy = y - (float)row;
        const uint8_t *t00 = texels[row & (SIDE - 1)][column & (SIDE - 1)];
        const uint8_t *t10 = texels[row & (SIDE - 1)][(column + 1) & (SIDE - 1)];
        const uint8_t *t01 = texels[(row + 1) & (SIDE - 1)][column & (SIDE - 1)];
        const uint8_t *t11 = texels[(row + 1) & (SIDE - 1)][(column + 1) & (SIDE - 1)];

        for (int c = 0; c < CHANNELS; c++) {
            float p = unorm[t00[c]], q = unorm[t01[c]];
            float upper = p + fx * (unorm[t10[c]] - p), lower = q + fx * (unorm[t11[c]] - q);

            work[c][i] = (upper + fy * (lower - upper)) * work[CHANNELS + c][i];
        }
    }
}

#else

#define CSRW(number, value) __asm__ volatile("csrw " #number ", %0" : : "r"((uint64_t)(value)))

static void open_unit(void)
{
    CSRW(0x7D0, 0x8000000000300000); /* CAP.PREC.MODE: FP32 */
    CSRW(0x7F8, LANES - 1);          /* SVSTATE */
    CSRW(0x800, 0x70043);            /* GFXCFG: on, converts, normalized, windows in memory */
    CSRW(0x801, 1);                  /* GFXWRAP: repeat */
    CSRW(0x802, (uint64_t)texels);   /* GFXTEXBASE */
    CSRW(0x803, SIDE * CHANNELS);    /* GFXTEXPITCH */
    CSRW(0x80A, (uint64_t)SIDE << 32 | SIDE); /* GFXTEXWH */
    CSRW(0x80B, 0x30);                        /* GFXTEXFMT: RGBA8 UNORM */
}

static __attribute__((noinline)) void shade(float (*at)[LANES])
{
    __asm__ volatile(".word 0x0010100b\n .insn i 0x2B, 2, %0, %1, -256\n" /* svon.one, m = 1 */
                     ".word 0x0010100b\n .insn i 0x2B, 4, %0, %0, -256\n" /* svon.one, OO = 2 */
                     :
                     : "r"(work), "r"(at)
                     : "memory");
}

#endif

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, and how much the order of rounding may change of it. */
enum { EXPECTED = 80236, TOLERANCE = 64 };

int main(void)
{
    make_picture();
    open_unit();
    for (long i = 0; i < rounds; i++) {
        float sum = 0;
        int distance;

        for (int b = 0; b < BLOCKS; b++) {
            shade(uv[b]);
            sum += work[b % CHANNELS][b] + work[(b + 1) % CHANNELS][LANES - 1 - b];
        }
        distance = (int)(sum * 4096) - EXPECTED;
        if (distance > TOLERANCE || distance < -TOLERANCE) {
            return 1;
        }
    }
    return 0;
}
