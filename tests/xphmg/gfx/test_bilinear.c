/* The weights of GFX.SAMPLE m=1 (R-GFX-29): what they are, how they are rounded, and that the
 * instruction is nothing but nearest taps followed by GFX.INTERP. */
#include "xphmg/gfx/gfx_test.h"

#include <math.h>

enum { WIDTH = 5, HEIGHT = 4 };

static uint32_t red_at(struct guest *g, double u)
{
    g->hart->x[10] = fr(u);
    g->hart->x[11] = HALF_F;
    guest_ok(g, "GFX.SAMPLE x16, x10, m=1\n");
    return (uint32_t)g->hart->x[16];
}

static void two_texels(struct guest *g)
{
    texture(g, 0x0A, 2, 1, 8);
    put_elements(g, TEXTURE, 4, (const uint32_t[]){0, ONE_F}, 2);
}

TEST(the_fraction_is_the_weight, "GFX-130 GFX-388")
{
    struct guest *g = gfx_make();
    struct watch w;

    two_texels(g);
    for (unsigned bit = 1; bit <= 16; bit++) {
        CHECK_EQ(red_at(g, 0.5 + ldexp(1, -(int)bit)), fr(ldexp(1, -(int)bit)));
    }
    for (unsigned k = 0; k < 65536; k += 257) {
        CHECK_EQ(red_at(g, 0.5 + k / 65536.0), fr(k / 65536.0));
    }
    g->hart->x[11] = HALF_F;
    g->hart->x[10] = fr(0.5 + 0x1p-16);
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1\n").taken);
    CHECK_EQ(w.reads, 2);
    g->hart->x[10] = fr(0.5 + 0x1p-17); /* below the last bit of the position: no weight */
    CHECK(!watch_run(g, &w, "GFX.SAMPLE x16, x10, m=1\n").taken);
    CHECK_EQ(w.reads, 1);
    guest_free(g);
}

/* 0x8001 / 65536 has 16 bits; binary16 keeps 11 of them. */
TEST(weights_are_rounded_as_cap_says, "GFX-389")
{
    static const struct {
        uint64_t rm;
        uint32_t want;
    } cases[] = {{0, 0x3F000000}, {1, 0x3F000000}, {2, 0x3F000000}, {3, 0x3F002000}};
    struct guest *g = gfx_make();

    two_texels(g);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_mode(g, MODE_FP32 | ACC_FP16 | MODE_RM(cases[i].rm));
        (void)clear_flags(g);
        CHECK_EQ(red_at(g, 0.5 + 0x8001 / 65536.0), cases[i].want);
        CHECK_EQ(raised(g), FACET_NX);
        (void)clear_flags(g);
        CHECK_EQ(red_at(g, 0.5 + 0x8020 / 65536.0), fr(0x8020 / 65536.0)); /* 11 bits: exact */
        CHECK_EQ(raised(g), 0);
    }
    set_mode(g, MODE_FP32);
    (void)red_at(g, 0.5 + 0x8001 / 65536.0);
    CHECK_EQ(raised(g), 0);
    guest_free(g);
}

/* ---- nearest taps and GFX.INTERP ---- */

/* Element formats that are their own accumulator. */
static const struct shape {
    uint64_t mode;
    unsigned size; /* bytes of an element */
    int bits;      /* significant bits of a fraction; 0: fixed point with 4 * size fraction bits */
} shapes[] = {
    {MODE_FP32, 4, 24},
    {MODE_FP16 | ACC_FP16, 2, 11},
    {MODE_INT32 | ACC_INT32, 4, 0},
    {MODE_INT32 | ACC_INT32 | MODE_Q | MODE_SCALE(-12), 4, 0},
    {MODE_INT16 | ACC_INT16 | MODE_Q | MODE_SCALE(-8), 2, 0},
};

static uint32_t bits16(double x)
{
    int e;
    double m = frexp(x, &e); /* x = m * 2^e; 1/2 <= |m| < 1 */
    uint32_t sign = x < 0 ? 0x8000 : 0;

    if (x == 0) {
        return 0;
    }
    if (e < -13) {
        return sign | (uint32_t)ldexp(fabs(x), 24);
    }
    return sign + ((uint32_t)(e + 14) << 10) + (uint32_t)(ldexp(fabs(m), 11) - 1024);
}

static uint32_t coordinate(const struct shape *s, double x)
{
    if (s->bits == 0) {
        return (uint32_t)(int32_t)ldexp(x, 4 * (int)s->size) & (s->size == 2 ? 0xFFFF : UINT32_MAX);
    }
    return s->size == 2 ? bits16(x) : fr(x);
}

/* A number of -2 .. size + 2 that the element holds. */
static double place(const struct shape *s, unsigned size)
{
    double x = (double)(harness_random() >> 11) / 9007199254740992.0 * (size + 4.0) - 2;
    int e;

    if (s->bits == 0) {
        return floor(ldexp(x, 4 * (int)s->size)) / ldexp(1, 4 * (int)s->size);
    }
    (void)frexp(x, &e);
    return e < -12 ? 0 : ldexp(trunc(ldexp(x, s->bits - e)), e - s->bits);
}

static bool holds(const struct shape *s, unsigned w)
{
    for (; w != 0 && (w & 1) == 0; w >>= 1) {
    }
    return s->bits == 0 || w < 1u << s->bits;
}

/* Texels in the middle of their formats' ranges: numbers everywhere. */
static void random_texture(struct guest *g)
{
    static const struct {
        unsigned fmt, bytes;
        uint32_t mask, set;
    } formats[] = {{0x30, 4, UINT32_MAX, 0},
                   {0x31, 4, UINT32_MAX, 0},
                   {0x33, 4, UINT32_MAX, 0},
                   {0x36, 8, 0x00FF00FF, 0},
                   {0x38, 8, 0xBFFFBFFF, 0x20002000},
                   {0x3A, 16, 0x87FFFFFF, 0x38000000},
                   {0x40, 2, UINT32_MAX, 0},
                   {0x43, 4, UINT32_MAX, 0}};
    unsigned k = (unsigned)(harness_random() % (sizeof formats / sizeof formats[0]));

    texture(g, formats[k].fmt, WIDTH, HEIGHT, WIDTH * formats[k].bytes + 16);
    for (unsigned at = 0; at < HEIGHT * (WIDTH * 16 + 16); at += 4) {
        guest_store(
            g, TEXTURE + at, 4, ((uint32_t)harness_random() & formats[k].mask) | formats[k].set);
    }
    guest_csrw(g, FACET_CSR_GFXWRAP, harness_random() % 3);
}

static void put(struct guest *g, const struct shape *s, unsigned slot, double x)
{
    guest_store(g, MEM_A + (uint64_t)slot * s->size, s->size, coordinate(s, x));
}

static void run_at(struct guest *g, uint64_t to, const char *text)
{
    g->hart->x[10] = MEM_A;
    g->hart->x[16] = to;
    guest_ok(g, "%s\n", text);
}

TEST(a_sample_is_nearest_taps_and_interp, "GFX-390 GFX-286")
{
    const unsigned rounds = harness_long() ? 40000 : 2000;
    struct guest *g = gfx_make();
    unsigned inexact = 0, compared = 0;

    set_cfg(g, EN | CONVERT | AMEM | DMEM);
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const struct shape *s = &shapes[round % (sizeof shapes / sizeof shapes[0])];
        const uint64_t row = 4 * s->size, rm = harness_random() % 5;
        double x = place(s, WIDTH), y = place(s, HEIGHT);
        double u = floor(ldexp(x, 16)) - 32768, v = floor(ldexp(y, 16)) - 32768;
        double i = floor(u / 65536), j = floor(v / 65536);
        unsigned wu = (unsigned)(u - 65536 * i), wv = (unsigned)(v - 65536 * j), flags;

        if (!holds(s, wu) || !holds(s, wv)) {
            continue;
        }
        random_texture(g);
        set_mode(g, s->mode | MODE_RM(rm));
        (void)clear_flags(g);
        for (unsigned k = 0; k < 4; k++) {
            bool counts = ((k & 1) == 0 || wu != 0) && ((k & 2) == 0 || wv != 0);

            put(g, s, 0, i + (k & 1) + 0.5);
            put(g, s, 1, j + (k >> 1) + 0.5);
            guest_store(g, MEM_R + k * row, 8, 0);
            guest_store(g, MEM_R + k * row + 8, 8, 0);
            if (counts) {
                run_at(g, MEM_R + k * row, "GFX.SAMPLE x16, x10");
            }
        }
        put(g, s, 2, wu / 65536.0);
        put(g, s, 3, wv / 65536.0);
        run_at(g, MEM_R, "GFX.INTERP x16, x10, nc=3");
        flags = clear_flags(g);
        put(g, s, 0, x);
        put(g, s, 1, y);
        run_at(g, MEM_R + 8 * row, "GFX.SAMPLE x16, x10, m=1");
        for (unsigned c = 0; c < 4; c++) {
            uint64_t want = guest_load(g, MEM_R + 4 * row + c * s->size, s->size);

            CHECK_EQ(guest_load(g, MEM_R + 8 * row + c * s->size, s->size), want);
        }
        CHECK_EQ(raised(g), flags);
        inexact += (flags & FACET_NX) != 0;
        compared++;
    }
    CHECK(inexact > rounds / 4 && compared > rounds / 2);
    guest_free(g);
}
