/* See span.h: which kernel, and the general way for what it leaves. */
#include "gfx/span.h"

#include "base/ways.h"
#include "gfx/span_kernel.h"

#include <string.h>

bool facet_gfx_span_fits(const struct facet_gfx_numbers *n,
                         const struct facet_gfx_texture *texture,
                         const struct facet_gfx_sampling *sampling)
{
    const struct facet_gfx_format *f = &texture->format;

    if (f->packed || f->type != FACET_GFX_UNORM8 || f->channels != 4 || texture->planar ||
        facet_gfx_texture_is_null(texture) || !sampling->bilinear || sampling->raw) {
        return false;
    }
    for (unsigned c = 0; c < 4; c++) {
        const struct facet_conv *conv = &n->channel[c];

        if (conv->plain || texture->source[c] != c || conv->elem != FACET_FMT_FP32 ||
            conv->acc != FACET_FMT_FP32 || conv->rm != FACET_RNE || conv->ftz || conv->mixed_step ||
            conv->scale != 0) {
            return false;
        }
    }
    return true;
}

uint64_t facet_gfx_span_bytes(const struct facet_gfx_texture *texture)
{
    return (uint64_t)(texture->height - 1) * texture->pitch + UINT64_C(4) * texture->width;
}

/* What the samples touch, in the form of the general path. */
struct memory {
    const uint8_t *texels;
    uint64_t base;
};

static bool load_byte(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    const struct memory *m = context;

    (void)bytes; /* channels of UNORM8 */
    *word = m->texels[address - m->base];
    return true;
}

static void general(const struct facet_gfx_numbers *n,
                    const struct facet_gfx_texture *texture,
                    const struct facet_gfx_sampling *sampling,
                    struct memory *memory,
                    const uint32_t uv[2],
                    uint32_t out[4],
                    unsigned *flags)
{
    struct facet_gfx_sample sample;

    facet_gfx_sample_plan(n, texture, sampling, uv, false, &sample, flags);
    facet_gfx_sample_fetch(texture, &sample, load_byte, memory);
    facet_gfx_sample_finish(n, texture, sampling, &sample, out, NULL, flags);
}

static facet_gfx_span_kernel *kernel_for(const struct facet_gfx_texture *texture)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        facet_gfx_span_bytes(texture) <= INT32_MAX) {
        return facet_gfx_span_avx2;
    }
#endif
    (void)texture;
    return facet_gfx_span_portable;
}

void facet_gfx_span_sample(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint8_t *texels,
                           const uint32_t *u,
                           const uint32_t *v,
                           unsigned count,
                           uint32_t *const out[4],
                           unsigned *flags)
{
    facet_gfx_span_kernel *kernel = kernel_for(texture);
    struct memory memory = {texels, texture->base};
    const struct facet_gfx_span_job job = {
        .texels = texels,
        .pitch = texture->pitch,
        .width = (int32_t)texture->width,
        .height = (int32_t)texture->height,
        .wrap = sampling->wrap,
        .srgb = sampling->srgb,
        .scale_u = texture->normalized ? 65536.0 * texture->width : 65536.0,
        .scale_v = texture->normalized ? 65536.0 * texture->height : 65536.0,
    };

    FACET_FAST_WAY(GFX_SPAN);
    for (unsigned at = 0; at < count; at += FACET_GFX_SPAN_BLOCK) {
        unsigned block = count - at < FACET_GFX_SPAN_BLOCK ? count - at : FACET_GFX_SPAN_BLOCK;
        uint32_t *const into[4] = {out[0] + at, out[1] + at, out[2] + at, out[3] + at};
        uint64_t left = kernel(&job, u + at, v + at, block, into, flags);

        for (; left != 0; left &= left - 1) {
            unsigned k = at + facet_ctz64(left);
            const uint32_t uv[2] = {u[k], v[k]};
            uint32_t result[4];

            general(n, texture, sampling, &memory, uv, result, flags);
            for (unsigned c = 0; c < 4; c++) {
                out[c][k] = result[c];
            }
        }
    }
}
