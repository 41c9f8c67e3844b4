/* See facet/gfx.h. */
#include "gfx/sample.h"

#include "base/sized.h"

struct texels {
    const uint8_t *memory;
    uint64_t size;
    uint64_t missing; /* the address that was asked for in vain */
};

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    struct texels *t = context;

    if (address > t->size || bytes > t->size - address) {
        t->missing = address;
        return false;
    }
    *word = 0;
    for (unsigned i = 0; i < bytes; i++) {
        *word |= (uint32_t)t->memory[address + i] << 8 * i;
    }
    return true;
}

static enum facet_status
texture_of(const struct facet_gfx_sampler *s, struct facet_gfx_texture *t, struct facet_error *err)
{
    uint64_t texel;

    *t = (struct facet_gfx_texture){.base = s->base,
                                    .width = s->width,
                                    .height = s->height,
                                    .wrap = (uint8_t)s->wrap,
                                    .normalized = s->normalized,
                                    .srgb = s->srgb,
                                    .planar = s->plane_stride != 0,
                                    .stride1 = s->plane_stride,
                                    .border_fp32 = true};
    if (s->format < 0 || s->format > 255 || !facet_gfx_texture_set_format(t, (uint32_t)s->format) ||
        (unsigned)s->wrap > FACET_GFX_BORDER || s->width > FACET_GFX_SIZE_MAX ||
        s->height > FACET_GFX_SIZE_MAX) {
        return facet_fail(
            err,
            FACET_ERR_USAGE,
            0,
            "a texture of %u x %u texels, format %d, wrap %d; expected at most 65536, "
            "a code of facet_gfx_format_find and an enumerator",
            (unsigned)s->width,
            (unsigned)s->height,
            (int)s->format,
            (int)s->wrap);
    }
    texel = t->format.bytes * (t->planar ? 1u : facet_gfx_texel_accesses(t));
    t->pitch = s->pitch != 0 ? s->pitch : (uint32_t)(s->width * texel);
    memcpy(t->border, s->border, sizeof t->border);
    return FACET_OK;
}

enum facet_status facet_gfx_explain_sample_sized(const struct facet_gfx_sampler *sampler,
                                                 size_t sampler_size,
                                                 const uint32_t uv[2],
                                                 struct facet_gfx_sample_record *record,
                                                 unsigned *flags,
                                                 struct facet_error *err)
{
    const struct facet_conv fp32 = {.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    struct facet_gfx_sampler own;
    struct facet_gfx_texture texture;
    struct facet_gfx_sample sample = {0};
    struct facet_conv conv;
    unsigned raised = 0;
    enum facet_status status = facet_sized_in(&own,
                                              offsetof(struct facet_gfx_sampler, reserved),
                                              sampler,
                                              sampler_size,
                                              "facet_gfx_sampler",
                                              err);

    memset(record, 0, sizeof *record);
    if (status != FACET_OK || (status = texture_of(&own, &texture, err)) != FACET_OK) {
        return status;
    }
    conv = own.numbers != NULL ? *own.numbers : fp32;
    {
        const struct facet_gfx_numbers numbers = {{conv, conv, conv, conv}};
        const struct facet_gfx_sampling sampling = {
            .bilinear = own.bilinear, .srgb = own.srgb, .raw = own.raw, .wrap = (uint8_t)own.wrap};
        struct texels texels = {own.memory, own.memory_size, 0};

        facet_gfx_sample_plan(&numbers, &texture, &sampling, uv, false, &sample, &raised);
        if (!facet_gfx_sample_fetch(&texture, &sample, load, &texels)) {
            return facet_fail(err,
                              FACET_ERR_FAULT,
                              texels.missing,
                              "a texel at 0x%llx, outside the %llu bytes of memory",
                              (unsigned long long)texels.missing,
                              (unsigned long long)own.memory_size);
        }
        facet_gfx_sample_finish(
            &numbers, &texture, &sampling, &sample, record->result, &record->steps, &raised);
    }
    record->footprint = sample.foot;
    *flags |= raised;
    return FACET_OK;
}
