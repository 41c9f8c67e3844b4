/* Spans of bilinear RGBA8: both kernels against the general functions, bits and flags. */
#include "base/float.h"
#include "gfx/span.h"
#include "gfx/span_kernel.h"
#include "harness.h"
#include "num/srgb.h"

enum { MOST = 100, BYTES = 64 * 1024 };

static uint8_t texels[BYTES];

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    const struct facet_gfx_texture *t = context;

    CHECK(bytes == 1 && address - t->base < facet_gfx_span_bytes(t));
    *word = texels[address - t->base];
    return true;
}

static struct facet_gfx_numbers plain_numbers(void)
{
    struct facet_gfx_numbers n;

    for (unsigned c = 0; c < 4; c++) {
        n.channel[c] = (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    }
    return n;
}

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

static uint32_t coordinate(uint32_t size)
{
    float at = (float)((double)(harness_random() >> 11) / 9007199254740992.0);

    switch (below(24)) {
    case 0:
        return (uint32_t)harness_random();
    case 1: { /* middles and edges of texels */
        float f = (float)((int)below(4 * size + 40) - 20) * 0.5f;
        return facet_float_bits(f + (float)((int)below(5) - 2) / 1024);
    }
    case 2: {
        static const uint32_t special[] = {0x7F800000,
                                           0xFF800000,
                                           0x7FC00000,
                                           0x7F800001,
                                           0,
                                           0x80000000,
                                           1,
                                           0x80000001,
                                           0x4A000000,
                                           0xCA000000,
                                           0x49FFFFFF,
                                           0xC9FFFFFF,
                                           0x3F800000};
        return special[below(13)];
    }
    case 3:
        return facet_float_bits((at * 2 - 1) * 3000);
    default:
        return facet_float_bits((at * 3 - 1) * (float)(below(2) != 0 ? size : 1));
    }
}

static void fill(void)
{
    unsigned style = below(3); /* anything; ends only; ends with few others */

    for (unsigned k = 0; k < BYTES; k++) {
        uint64_t r = harness_random();

        texels[k] = style == 0 ? (uint8_t)r : (r & 1) != 0 ? 255 : 0;
        if (style == 2 && below(50) == 0) {
            texels[k] = (uint8_t)(r >> 8);
        }
    }
}

/* Kernels that use AVX-512 where they can, and where the host has it. */
static bool wide;

static bool has_wide(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}

static uint64_t run_kernel(facet_gfx_span_kernel *kernel,
                           const struct facet_gfx_texture *t,
                           const struct facet_gfx_sampling *s,
                           const uint32_t *u,
                           const uint32_t *v,
                           unsigned count,
                           uint32_t out[4][MOST],
                           unsigned *flags)
{
    const struct facet_gfx_span_job job = {
        .texels = texels,
        .pitch = t->pitch,
        .width = (int32_t)t->width,
        .height = (int32_t)t->height,
        .wrap = s->wrap,
        .srgb = s->srgb,
        .wide = wide,
        .scale_u = t->normalized ? 65536.0 * t->width : 65536.0,
        .scale_v = t->normalized ? 65536.0 * t->height : 65536.0,
    };
    uint32_t *const into[4] = {out[0], out[1], out[2], out[3]};

    return kernel(&job, u, v, count, into, flags);
}

TEST(spans_equal_single_samples, "")
{
    const unsigned rounds = harness_long() ? 40000 : 1500;
    const struct facet_gfx_numbers n = plain_numbers();
    uint32_t u[MOST], v[MOST], whole[4][MOST], kernel[2][4][MOST];
    uint32_t *const out[4] = {whole[0], whole[1], whole[2], whole[3]};
    uint64_t done = 0, all = 0;

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        struct facet_gfx_texture t = {
            .base = round % 2 == 0 ? 0x80000000 : UINT64_MAX - 77, /* addresses may wrap around */
            .width = 1 + below(round % 8 == 0 ? 100 : 9),
            .height = 1 + below(round % 8 == 0 ? 100 : 9),
            .normalized = below(2) != 0,
            .border = {facet_float_bits(0.25f), 0x7F800001, 0, facet_float_bits(1)},
        };
        struct facet_gfx_sampling s = {
            .bilinear = true, .srgb = below(2) != 0, .wrap = (uint8_t)below(4)};
        unsigned count = 1 + below(MOST), flags = 0, want_flags = 0;
        unsigned first = count < 64 ? count : 64, some_flags[3] = {0};
        uint64_t left[2];

        if (round % 16 == 0) {
            fill();
        }
        t.pitch = t.width * 4 + below(8);
        CHECK(facet_gfx_texture_set_format(&t, 0x30));
        CHECK(facet_gfx_span_fits(&n, &t, &s));
        for (unsigned k = 0; k < count; k++) {
            u[k] = coordinate(t.width);
            v[k] = coordinate(t.height);
        }
        facet_gfx_span_sample(&n, &t, &s, texels, u, v, count, out, &flags);
        left[0] = left[1] =
            run_kernel(facet_gfx_span_portable, &t, &s, u, v, first, kernel[0], &some_flags[0]);
        memcpy(kernel[1], kernel[0], sizeof kernel[0]);
        some_flags[1] = some_flags[0];
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            some_flags[1] = 0;
            wide = has_wide() && below(2) != 0;
            left[1] =
                run_kernel(facet_gfx_span_avx2, &t, &s, u, v, first, kernel[1], &some_flags[1]);
        }
#endif
        if (s.srgb) { /* which samples wait for the first NX is each kernel's own affair */
            left[0] = left[1] = left[0] | left[1];
        }
        CHECK_EQ(left[1], left[0]);
        CHECK_EQ(some_flags[1], some_flags[0]);
        for (unsigned k = 0; k < count; k++) {
            const uint32_t uv[2] = {u[k], v[k]};
            struct facet_gfx_sample sample;
            unsigned own = 0;
            uint32_t want[4];

            facet_gfx_sample_plan(&n, &t, &s, uv, false, &sample, &own);
            CHECK(facet_gfx_sample_fetch(&t, &sample, load, &t));
            facet_gfx_sample_finish(&n, &t, &s, &sample, want, NULL, &own);
            want_flags |= own;
            for (unsigned c = 0; c < 4; c++) {
                CHECK_EQ(whole[c][k], want[c]);
                if (k < first && (left[0] >> k & 1) == 0) {
                    CHECK_EQ(kernel[0][c][k], want[c]);
                    CHECK_EQ(kernel[1][c][k], want[c]);
                }
            }
            if (k < first && (left[0] >> k & 1) == 0) {
                some_flags[2] |= own;
                done++;
            }
            all++;
        }
        CHECK_EQ(flags, want_flags);
        if (!s.srgb) {
            CHECK_EQ(some_flags[0], some_flags[2]);
        }
    }
    CHECK(done > all / 4); /* the kernels do the work */
}

TEST(every_code_through_the_kernels, "")
{
    const struct facet_gfx_numbers n = plain_numbers();
    const struct facet_gfx_sampling s = {.bilinear = true};
    struct facet_gfx_texture t = {.width = 256, .height = 1, .pitch = 1024};
    uint32_t u[256], v[256], whole[4][256];
    uint32_t *const out[4] = {whole[0], whole[1], whole[2], whole[3]};
    unsigned flags = 0;

    CHECK(facet_gfx_texture_set_format(&t, 0x30));
    for (unsigned k = 0; k < 256; k++) {
        u[k] = facet_float_bits((float)k + 0.5f);
        v[k] = facet_float_bits(0.5f);
        for (unsigned c = 0; c < 4; c++) {
            texels[4 * k + c] = (uint8_t)(k + 64 * c);
        }
    }
    facet_gfx_span_sample(&n, &t, &s, texels, u, v, 256, out, &flags);
    CHECK_EQ(flags, FACET_NX);
    for (unsigned k = 0; k < 256; k++) {
        for (unsigned c = 0; c < 4; c++) {
            struct facet_gfx_real x = facet_gfx_real_of((uint8_t)(k + 64 * c), 255, 0);

            CHECK_EQ(whole[c][k], facet_gfx_cv(&n.channel[0], &x, &flags));
        }
    }
}

/* Millions of filtered values, because about one in 8,000 lies so near to a tie that the kernel of
 * AVX2 does not trust its polynomial, and most of those would come out right all the same. */
TEST(filtered_values_meet_the_exact_curve, "")
{
    const unsigned rounds = harness_long() ? 400000 : 25000;
    const struct facet_gfx_sampling raw = {.bilinear = true, .wrap = FACET_GFX_REPEAT};
    const struct facet_gfx_sampling curved = {
        .bilinear = true, .wrap = FACET_GFX_REPEAT, .srgb = true};
    const struct facet_gfx_texture t = {.width = 64, .height = 64, .pitch = 256};
    facet_gfx_span_kernel *kernel = facet_gfx_span_portable;
    static uint32_t u[64], v[64], before[4][MOST], after[4][MOST];

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        kernel = facet_gfx_span_avx2;
    }
#endif
    for (unsigned k = 0; k < BYTES; k++) { /* dark ones often: the line and where it ends */
        const uint64_t r = harness_random();

        texels[k] = (uint8_t)(r % 4 == 0 ? (r >> 8) % 24 : r >> 8);
    }
    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        unsigned flags = FACET_NX;

        wide = has_wide() && round % 2 != 0;
        for (unsigned k = 0; k < 64; k++) {
            const uint64_t r = harness_random();

            u[k] = facet_float_bits((float)(r & 0x3FFFFF) * 0x1p-16f);
            v[k] = facet_float_bits((float)(r >> 32 & 0x3FFFFF) * 0x1p-16f);
        }
        CHECK_EQ(run_kernel(kernel, &t, &raw, u, v, 64, before, &flags), 0);
        CHECK_EQ(run_kernel(kernel, &t, &curved, u, v, 64, after, &flags), 0);
        for (unsigned k = 0; k < 256; k++) {
            const uint32_t x = before[k / 64][k % 64];

            CHECK_EQ(after[k / 64][k % 64],
                     k / 64 == 3 ? x : facet_float_bits(facet_srgb_float(facet_float_of(x))));
        }
    }
}

TEST(spans_refuse_what_they_do_not_do, "")
{
    struct facet_gfx_numbers n = plain_numbers();
    struct facet_gfx_texture t = {.width = 1, .height = 1};
    struct facet_gfx_sampling s = {.bilinear = true};

    CHECK(facet_gfx_texture_set_format(&t, 0x30));
    CHECK(facet_gfx_span_fits(&n, &t, &s));
    s.raw = true;
    CHECK(!facet_gfx_span_fits(&n, &t, &s));
    s.raw = false;
    t.width = 0;
    CHECK(!facet_gfx_span_fits(&n, &t, &s));
    t.width = 1;
    for (unsigned k = 0; k < 4; k++) { /* accesses that are not aligned */
        CHECK(facet_gfx_texture_set_format(&t, 0x34));
        t.base = k == 0;
        t.pitch = k == 1;
        t.planar = k == 2;
        t.stride1 = k >= 2;
        CHECK_EQ(facet_gfx_span_fits(&n, &t, &s), k == 3);
    }
    t = (struct facet_gfx_texture){.width = 1, .height = 65536, .pitch = 65536};
    CHECK(facet_gfx_texture_set_format(&t, 0x30));
    CHECK(facet_gfx_span_fits(&n, &t, &s)); /* one row less than 2^32 bytes */
    t.pitch += 4;
    CHECK(!facet_gfx_span_fits(&n, &t, &s));
    t.pitch = 4;
    for (unsigned k = 0; k < 4; k++) {
        struct facet_conv *c = &n.channel[3];

        n = plain_numbers();
        c->acc = k == 0 ? FACET_FMT_FP16 : c->acc;
        c->rm = k == 1 ? FACET_RTZ : c->rm;
        c->mixed_step = k == 2;
        c->plain = k == 3;
        CHECK(!facet_gfx_span_fits(&n, &t, &s));
    }
}
