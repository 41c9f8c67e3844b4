/* Samples and gathers of any format in blocks against the general functions: bits and flags; and
 * both kernels against each other. */
#include "base/float.h"
#include "gfx/block.h"
#include "gfx/span.h"
#include "gfx/span_kernel.h"
#include "harness.h"

#include <math.h>

enum { MOST = 80, BYTES = 16 * 1024 };

static uint8_t texels[BYTES];

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    const struct facet_gfx_texture *t = context;

    CHECK(address - t->base <= facet_gfx_span_bytes(t) - bytes && address % bytes == 0);
    *word = (uint32_t)facet_load_le(texels + (address - t->base), bytes);
    return true;
}

static unsigned below(unsigned n)
{
    return (unsigned)((harness_random() >> 32) % n);
}

/* Codes of any kind; or few of them, so that filters are often exact and texels often alike. */
static void fill(unsigned bytes)
{
    const unsigned style = below(4);
    uint32_t few[3];

    for (unsigned k = 0; k < 3; k++) {
        /* ends, ones and halves of the formats, and floats far from each other */
        static const uint32_t exact[] = {0,
                                         255,
                                         127,
                                         0xFFFF,
                                         0x7FFF,
                                         0x3C00,
                                         0x3800,
                                         0x3F80,
                                         0x38,
                                         0x3C,
                                         0x3F800000,
                                         0x3F800000,
                                         0x3F000000,
                                         0x30800000,
                                         0x5C000000,
                                         0x3F800001,
                                         1};

        few[k] = style == 1 ? (uint32_t)harness_random() : exact[below(17)];
        few[k] |= style == 2 && below(3) == 0 ? UINT32_MAX : 0;
    }
    for (unsigned k = 0; k < BYTES; k += bytes) {
        uint32_t code = (uint32_t)harness_random();

        if (style == 0 && bytes == 4) { /* floats that are ordinary */
            code = facet_float_bits(((float)(code >> 8) - 0x1p23f) * 0x1p-20f);
        } else if (style != 0 && below(style == 3 ? 200 : 20) != 0) {
            code = few[style == 3 ? 0 : below(3)];
        }
        facet_store_le(texels + k, bytes, code);
    }
}

static struct facet_gfx_numbers numbers(void)
{
    static const enum facet_format elements[] = {FACET_FMT_FP32,
                                                 FACET_FMT_FP32,
                                                 FACET_FMT_FP32,
                                                 FACET_FMT_FP16,
                                                 FACET_FMT_FP16,
                                                 FACET_FMT_BF16,
                                                 FACET_FMT_E4M3,
                                                 FACET_FMT_E5M2,
                                                 FACET_FMT_INT8,
                                                 FACET_FMT_INT16,
                                                 FACET_FMT_INT32};
    const bool quantized = below(6) == 0;
    struct facet_gfx_numbers n;

    n.channel[0] = (struct facet_conv){.elem = elements[below(11)],
                                       .acc = FACET_FMT_FP32,
                                       .ftz = below(4) == 0,
                                       .sat = below(3) == 0,
                                       .sat_mode = below(2) != 0,
                                       .nan_pol = (uint8_t)below(3),
                                       .uns = below(3) == 0,
                                       .scale = quantized ? (int8_t)((int)below(9) - 4) : 0};
    for (unsigned c = 1; c < 4; c++) {
        n.channel[c] = n.channel[0];
        n.channel[c].zp = quantized ? (int16_t)below(20) : 0;
    }
    return n;
}

static uint32_t element_of(const struct facet_gfx_numbers *n, float value)
{
    const struct facet_conv *conv = &n->channel[0];
    const unsigned width = facet_format_width(conv->elem);
    struct facet_conv exact = {.elem = conv->elem, .acc = FACET_FMT_FP32};
    unsigned none = 0;

    if (facet_format_is_int(conv->elem)) {
        return (uint32_t)(int64_t)(value * (float)(1 << (width / 2))) &
               (UINT32_MAX >> (32 - width));
    }
    return facet_narrow(&exact, facet_float_bits(value), &none);
}

static uint32_t coordinate(const struct facet_gfx_numbers *n, uint32_t size, bool normalized)
{
    const float at = (float)((double)(harness_random() >> 11) * 0x1p-53);

    switch (below(24)) {
    case 0:
        return (uint32_t)harness_random() &
               (UINT32_MAX >> (32 - facet_format_width(n->channel[0].elem)));
    case 1: /* middles of texels: no filter */
        return element_of(n, ((float)below(size) + 0.5f) / (float)(normalized ? size : 1));
    case 2:
        return element_of(n, (at * 2 - 1) * 3000);
    case 3:
        return element_of(n, 0x1p-140f);
    case 4:
    case 5:
    case 6:
    case 7: /* weights of few bits */
        return element_of(n, (float)below(4 * size) / (float)(normalized ? 4 * size : 4));
    default:
        return element_of(n, (at * 3 - 1) * (float)(normalized ? 1 : size));
    }
}

static struct facet_gfx_texture texture(const struct facet_gfx_numbers *n)
{
    struct facet_gfx_texture t = {
        .width = 1 + below(9), .height = 1 + below(9), .normalized = below(2) != 0};
    const float colours[] = {0, 1, -2, 0.3f, NAN, INFINITY, 0x1p-100f};
    uint32_t fmt, step;

    do {
        fmt = below(0x44);
        fmt |= below(3) == 0 ? below(4096) << 8 : 0;
    } while (!facet_gfx_texture_set_format(&t, fmt));
    step = t.format.bytes;
    t.planar = below(4) == 0;
    t.base = below(2) != 0 ? 0x80000000 : (0 - (uint64_t)24) & ~(uint64_t)3; /* may wrap around */
    t.pitch = t.width * step * facet_gfx_texel_accesses(&t) + step * below(3);
    t.stride1 = t.pitch * t.height;
    t.border_fp32 = below(2) != 0 && !facet_format_is_int(n->channel[0].elem);
    for (unsigned c = 0; c < 4; c++) {
        const float colour = colours[below(below(2) != 0 ? 4 : 7)];

        t.border[c] = t.border_fp32   ? facet_float_bits(colour)
                      : below(3) == 0 ? 1 /* the least subnormal */
                                      : element_of(n, below(2) != 0);
    }
    return t;
}

static void one_sample(const struct facet_gfx_numbers *n,
                       const struct facet_gfx_texture *t,
                       const struct facet_gfx_sampling *s,
                       const uint32_t uv[2],
                       uint32_t out[4],
                       unsigned *flags)
{
    struct facet_gfx_sample sample;

    facet_gfx_sample_plan(n, t, s, uv, false, &sample, flags);
    CHECK(facet_gfx_sample_fetch(t, &sample, load, (void *)t));
    facet_gfx_sample_finish(n, t, s, &sample, out, NULL, flags);
}

TEST(samples_of_any_format, "")
{
    const unsigned rounds = harness_long() ? 100000 : 8000;
    uint32_t u[MOST], v[MOST], result[4][MOST];
    uint32_t *const out[4] = {result[0], result[1], result[2], result[3]};

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const struct facet_gfx_numbers n = numbers();
        const struct facet_gfx_texture t = texture(&n);
        const struct facet_gfx_sampling s = {
            .bilinear = below(4) != 0, .srgb = below(2) != 0, .wrap = (uint8_t)below(4)};
        const unsigned count = 1 + below(below(3) != 0 ? 3 : MOST);
        unsigned before = below(2) != 0 ? FACET_NX : 0, flags = before, want_flags = before;

        fill(t.format.bytes);
        CHECK(facet_gfx_span_fits(&n, &t, &s) && facet_gfx_span_bytes(&t) <= BYTES);
        for (unsigned k = 0; k < count; k++) {
            u[k] = coordinate(&n, t.width, t.normalized);
            v[k] = coordinate(&n, t.height, t.normalized);
        }
        facet_gfx_span_sample(&n, &t, &s, texels, u, v, count, out, &flags);
        for (unsigned k = 0; k < count; k++) {
            const uint32_t uv[2] = {u[k], v[k]};
            uint32_t want[4];

            one_sample(&n, &t, &s, uv, want, &want_flags);
            for (unsigned c = 0; c < 4; c++) {
                CHECK_EQ(result[c][k], want[c]);
            }
        }
        CHECK_EQ(flags, want_flags);
    }
}

static void one_gather(const struct facet_gfx_numbers *n,
                       const struct facet_gfx_texture *t,
                       const struct facet_gfx_sampling *s,
                       const uint32_t *table,
                       unsigned taps,
                       const bool ps[2],
                       const uint32_t uv[2],
                       uint32_t out[4],
                       unsigned *flags)
{
    struct facet_gfx_gather gather;

    (void)facet_gfx_gather_begin(n, t, uv, taps, &gather, flags);
    facet_gfx_gather_plan(n, t, s, table, ps[0], ps[1], &gather, flags);
    CHECK(facet_gfx_gather_fetch(t, &gather, load, (void *)t));
    facet_gfx_gather_finish(n, t, s, &gather, out, NULL, flags);
}

TEST(gathers_of_any_format, "")
{
    const unsigned rounds = harness_long() ? 30000 : 3000;
    uint32_t u[MOST], v[MOST], result[4][MOST], table[3 * FACET_GFX_TAPS_MAX];
    uint32_t *const out[4] = {result[0], result[1], result[2], result[3]};
    unsigned done = 0;

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const struct facet_gfx_numbers n = numbers();
        const struct facet_gfx_texture t = texture(&n);
        const struct facet_gfx_sampling s = {
            .bilinear = below(2) != 0, .srgb = below(2) != 0, .wrap = (uint8_t)below(4)};
        const unsigned count = 1 + below(below(3) != 0 ? 3 : MOST), taps = 1 + below(16);
        const bool ps[2] = {below(2) != 0, below(2) != 0};
        unsigned flags = below(2) != 0 ? FACET_NX : 0, want_flags = flags;

        fill(t.format.bytes);
        for (unsigned k = 0; k < 3 * taps; k++) {
            const float exact = (float)((int)below(9) - 4) / 4;

            table[k] = below(400) == 0 ? coordinate(&n, 4, false)
                       : below(2) == 0 ? element_of(&n, exact)
                                       : element_of(&n, exact * 1.3f);
        }
        for (unsigned k = 0; k < count; k++) {
            u[k] = coordinate(&n, t.width, t.normalized);
            v[k] = coordinate(&n, t.height, t.normalized);
        }
        if (!facet_gfx_span_gather(
                &n, &t, &s, texels, table, taps, ps[0], ps[1], u, v, count, out, &flags)) {
            CHECK_EQ(flags, want_flags);
            continue;
        }
        done++;
        for (unsigned k = 0; k < count; k++) {
            const uint32_t uv[2] = {u[k], v[k]};
            uint32_t want[4];

            one_gather(&n, &t, &s, table, taps, ps, uv, want, &want_flags);
            for (unsigned c = 0; c < 4; c++) {
                CHECK_EQ(result[c][k], want[c]);
            }
        }
        CHECK_EQ(flags, want_flags);
    }
    CHECK(done > rounds / 2);
}

/* The kernels leave little, and both do the same. */
TEST(both_kernels, "")
{
    const unsigned rounds = harness_long() ? 20000 : 1500;
    uint64_t all = 0, left_over = 0;

    for (unsigned round = 0; round < rounds && !harness_failed(); round++) {
        const struct facet_gfx_numbers n = {
            .channel[0] = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32}};
        const struct facet_gfx_texture t = texture(&n);
        struct facet_gfx_block_job job = {.texture = &t,
                                          .texels = texels,
                                          .bilinear = below(4) != 0,
                                          .srgb = t.format.unorm && below(2) != 0,
                                          .ftz = below(2) != 0,
                                          .wrap = (uint8_t)below(4),
                                          .border_fits = below(2) != 0,
                                          .border = {0.25f, 1, 0, -3},
                                          .scale_u = 65536,
                                          .scale_v = 65536,
                                          .taps = below(2) * below(5),
                                          .weighted = below(2) != 0};
        const unsigned count = 1 + below(64);
        unsigned flags[2] = {below(2) != 0 ? FACET_NX : 0};
        uint32_t result[2][4][64];
        uint64_t left[2], sees[2];
        double u[64], v[64];

        fill(t.format.bytes);
        for (unsigned k = 0; k < job.taps; k++) {
            job.du[k] = (int64_t)below(200000) - 100000;
            job.dv[k] = (int64_t)below(200000) - 100000;
            job.weight[k] = (float)((int)below(2000) - 1000) / 256;
        }
        for (unsigned k = 0; k < count; k++) {
            u[k] = ((double)below(1 << 20) / (1 << 19) - 0.5) * t.width;
            v[k] = ((double)below(1 << 20) / (1 << 19) - 0.5) * t.height;
        }
        u[below(count)] = below(2) != 0 ? 0.5 : (double)NAN;
        flags[1] = flags[0];
        for (unsigned which = 0; which < 2; which++) {
            uint32_t *const out[4] = {
                result[which][0], result[which][1], result[which][2], result[which][3]};
            facet_gfx_block_kernel *kernel = facet_gfx_block_portable;

#if defined(__x86_64__)
            if (which == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
                kernel = facet_gfx_block_avx2;
            }
#endif
            left[which] = kernel(&job, u, v, count, out, &sees[which], &flags[which]);
        }
        CHECK_EQ(left[1], left[0]);
        CHECK_EQ(sees[1], sees[0]);
        CHECK_EQ(flags[1], flags[0]);
        for (unsigned k = 0; k < count; k++) {
            for (unsigned c = 0; c < 4 && (left[0] >> k & 1) == 0; c++) {
                CHECK_EQ(result[1][c][k], result[0][c][k]);
            }
        }
        all += count;
        left_over += facet_popcount64(left[0]);
    }
    CHECK(left_over < all / 3);
}

/* A difference rounds by far less than its last place, and nothing else does. */
TEST(differences_of_far_numbers, "")
{
    static const uint32_t far[][2] = {
        {0x5C000000, 0x30800000}, {0x30800000, 0x5C000000}, {0x5C000000, 0x5C000000}};

    for (unsigned k = 0; k < 3; k++) {
        const struct facet_gfx_sampling s = {.bilinear = true};
        struct facet_gfx_texture t = {.width = 2, .height = 1};
        struct facet_gfx_numbers n;
        const uint32_t uv[2] = {facet_float_bits(1), facet_float_bits(0.5f)};
        uint32_t got[4], want[4], *const out[4] = {&got[0], &got[1], &got[2], &got[3]};
        unsigned flags = 0, want_flags = 0;

        for (unsigned c = 0; c < 4; c++) {
            n.channel[c] = (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
        }
        CHECK(facet_gfx_texture_set_format(&t, 0x0A));
        facet_store_le32(texels, far[k][0]);
        facet_store_le32(texels + 4, far[k][1]);
        facet_gfx_span_sample(&n, &t, &s, texels, &uv[0], &uv[1], 1, out, &flags);
        one_sample(&n, &t, &s, uv, want, &want_flags);
        CHECK_EQ(got[0], want[0]);
        CHECK_EQ(flags, want_flags);
        CHECK_EQ(flags, k < 2 ? FACET_NX : 0);
    }
}
