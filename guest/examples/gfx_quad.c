/* GFX.SAMPLE: a textured quad, bilinear and from sRGB to linear light, on the framebuffer.
 *
 * 64 pixels of a row are 64 lanes of one instruction. Windows lie in memory (GFXCFG.AMEM, DMEM) as
 * arrays per slot: u of all lanes, then v; red, green, blue, alpha. Every pixel is compared with
 * the same filter in plain C, bit by bit (gfx-semantics.md 6). */
#include "check.h"
#include "gfx_unit.h"

#include <framebuffer.h>
#include <math.h>

enum { SIDE = 16, WIDTH = LANES, HEIGHT = 64, FMT_RGBA8 = 0x30, WRAP_MIRROR = 2 };

static uint8_t texels[SIDE][SIDE][4];
static float pixels[HEIGHT][WIDTH][3];

static struct {
    float u[LANES], v[LANES];
} at;
static struct {
    float channel[4][LANES];
} seen;

/* A checkerboard with a colour that runs across it. */
static void paint(void)
{
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            int light = ((x / 2 + y / 2) & 1) != 0;

            texels[y][x][0] = (uint8_t)(light ? 255 : 16 * x);
            texels[y][x][1] = (uint8_t)(light ? 240 - 8 * y : 40);
            texels[y][x][2] = (uint8_t)(light ? 8 * x : 16 * y);
            texels[y][x][3] = (uint8_t)(255 - x - y);
        }
    }
}

/* ---- plain C ---- */

/* The contract rounds the curve correctly; binary64 is near enough to it for these pixels. */
static float linear(float x)
{
    double y = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);

    return x <= 0 ? 0 : x >= 1 ? 1 : (float)y;
}

static float lerp(float p, float q, int weight)
{
    return weight == 0 ? p : fmaf((float)weight / 65536.0f, q - p, p);
}

static int mirrored(int64_t i)
{
    int m = (int)(i & (2 * SIDE - 1));

    return m < SIDE ? m : 2 * SIDE - 1 - m;
}

static float texel(int64_t x, int64_t y, int channel)
{
    return (float)(texels[mirrored(y)][mirrored(x)][channel] / 255.0);
}

/* Coordinates in 16.16, less half a texel: the fraction is the weight. */
static void place(float c, int64_t *index, int *weight)
{
    int64_t t = (int64_t)floor((double)c * SIDE * 65536.0) - 32768;

    *index = t >> 16;
    *weight = (int)(t & 65535);
}

static float plain(float u, float v, int channel)
{
    int64_t x, y;
    int a, b;
    float top, bottom, value;

    place(u, &x, &a);
    place(v, &y, &b);
    top = lerp(texel(x, y, channel), texel(x + 1, y, channel), a);
    bottom = lerp(texel(x, y + 1, channel), texel(x + 1, y + 1, channel), a);
    value = lerp(top, bottom, b);
    return channel < 3 ? linear(value) : value;
}

/* ---- the instruction ---- */

static void use_texture(void)
{
    gfx_use(XPHMG_GFXCFG_NORM | XPHMG_GFXCFG_SRGB_EN);
    xphmg_csr_write(XPHMG_CSR_GFXTEXBASE, (uint64_t)texels);
    xphmg_csr_write(XPHMG_CSR_GFXTEXPITCH, sizeof texels[0]);
    xphmg_csr_write(XPHMG_CSR_GFXTEXWH, (uint64_t)SIDE << 32 | SIDE);
    xphmg_csr_write(XPHMG_CSR_GFXTEXFMT, FMT_RGBA8);
    xphmg_csr_write(XPHMG_CSR_GFXWRAP, WRAP_MIRROR);
}

static void sample(void)
{
    __asm__ volatile("svon.one\n gfx.sample %[r], %[a], m=1, f=1"
                     :
                     : [r] "r"(&seen), [a] "r"(&at)
                     : "memory");
}

int main(void)
{
    uint32_t differing = 0;
    double mean = 0;

    paint();
    use_texture();
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) { /* turned, and more than one period of the texture */
            float px = ((float)x + 0.5f) / WIDTH - 0.5f, py = ((float)y + 0.5f) / HEIGHT - 0.5f;

            at.u[x] = 0.8f * px - 0.6f * py + 0.4f;
            at.v[x] = 0.6f * px + 0.8f * py + 0.45f;
        }
        sample();
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < 4; c++) {
                differing += seen.channel[c][x] != plain(at.u[x], at.v[x], c);
            }
            for (int c = 0; c < 3; c++) {
                pixels[y][x][c] = seen.channel[c][x];
                mean += (double)seen.channel[c][x] / (3 * WIDTH * HEIGHT);
            }
        }
    }
    framebuffer_show(pixels, WIDTH, HEIGHT, FRAMEBUFFER_RGBF32);
    printf("%d x %d pixels, mean %d/1000, %d values differ from plain C\n",
           WIDTH,
           HEIGHT,
           (int)(1000 * mean),
           (int)differing);
    CHECK(differing == 0);
    CHECK(mean > 0.1 && mean < 0.9);
    return verdict("gfx_quad");
}
