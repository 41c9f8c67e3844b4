/* See span.h: which kernel, and the general way for what it leaves. */
#include "gfx/span.h"

#include "base/bits.h"
#include "base/float.h"
#include "base/ways.h"
#include "gfx/block.h"
#include "gfx/span_kernel.h"

#include <math.h>
#include <string.h>

/* ---- what fits ---- */

/* Does the texture have the kernel of its own? */
static bool is_rgba8(const struct facet_gfx_numbers *n,
                     const struct facet_gfx_texture *texture,
                     const struct facet_gfx_sampling *sampling)
{
    const struct facet_gfx_format *f = &texture->format;

    if (f->packed || f->type != FACET_GFX_UNORM8 || f->channels != 4 || texture->planar ||
        !sampling->bilinear) {
        return false;
    }
    for (unsigned c = 0; c < 4; c++) {
        const struct facet_conv *conv = &n->channel[c];

        if (texture->source[c] != c || conv->elem != FACET_FMT_FP32 || conv->ftz ||
            conv->scale != 0) {
            return false;
        }
    }
    return true;
}

bool facet_gfx_span_fits(const struct facet_gfx_numbers *n,
                         const struct facet_gfx_texture *texture,
                         const struct facet_gfx_sampling *sampling)
{
    const struct facet_gfx_format *f = &texture->format;
    const uint64_t places =
        texture->base | texture->pitch | (texture->planar && !f->packed ? texture->stride1 : 0);

    if (facet_gfx_texture_is_null(texture) || sampling->raw || (places & (f->bytes - 1)) != 0 ||
        facet_gfx_span_bytes(texture) > UINT32_MAX) {
        return false;
    }
    for (unsigned c = 0; c < 4; c++) {
        const struct facet_conv *conv = &n->channel[c];

        if (conv->plain || conv->acc != FACET_FMT_FP32 || conv->rm != FACET_RNE ||
            conv->mixed_step) {
            return false;
        }
    }
    return true;
}

uint64_t facet_gfx_span_bytes(const struct facet_gfx_texture *texture)
{
    const struct facet_gfx_format *f = &texture->format;
    const uint64_t rows = (uint64_t)(texture->height - 1) * texture->pitch;

    if (texture->planar && !f->packed) {
        return rows + (uint64_t)(f->channels - 1) * texture->stride1 +
               (uint64_t)f->bytes * texture->width;
    }
    return rows + (uint64_t)f->bytes * facet_gfx_texel_accesses(texture) * texture->width;
}

/* ---- the general way ---- */

/* A call, as all of its parts need it. */
struct call {
    const struct facet_gfx_numbers *n;
    const struct facet_gfx_texture *texture;
    const struct facet_gfx_sampling *sampling;
    const uint8_t *texels;
    const uint32_t *table; /* gathers */
    unsigned taps;         /* 0: single samples */
    bool weighted, is_signed;
    const uint32_t *u, *v;
    uint32_t *const *out;
    unsigned *flags;
};

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    const struct call *call = context;

    *word = (uint32_t)facet_load_le(call->texels + (address - call->texture->base), bytes);
    return true;
}

static void general_gather(struct call *call, const uint32_t uv[2], uint32_t out[4])
{
    struct facet_gfx_gather gather;

    (void)facet_gfx_gather_begin(call->n, call->texture, uv, call->taps, &gather, call->flags);
    facet_gfx_gather_plan(call->n,
                          call->texture,
                          call->sampling,
                          call->table,
                          call->weighted,
                          call->is_signed,
                          &gather,
                          call->flags);
    (void)facet_gfx_gather_fetch(call->texture, &gather, load, call);
    facet_gfx_gather_finish(
        call->n, call->texture, call->sampling, &gather, out, NULL, call->flags);
}

static void general_sample(struct call *call, const uint32_t uv[2], uint32_t out[4])
{
    struct facet_gfx_sample sample;

    facet_gfx_sample_plan(call->n, call->texture, call->sampling, uv, false, &sample, call->flags);
    (void)facet_gfx_sample_fetch(call->texture, &sample, load, call);
    facet_gfx_sample_finish(
        call->n, call->texture, call->sampling, &sample, out, NULL, call->flags);
}

/* The samples of a mask, the first of which is sample `at`. */
static void general(struct call *call, unsigned at, uint64_t mask)
{
    for (; mask != 0; mask &= mask - 1) {
        const unsigned k = at + facet_ctz64(mask);
        const uint32_t uv[2] = {call->u[k], call->v[k]};
        uint32_t result[4];

        if (call->taps != 0) {
            general_gather(call, uv, result);
        } else {
            general_sample(call, uv, result);
        }
        for (unsigned c = 0; c < 4; c++) {
            call->out[c][k] = result[c];
        }
    }
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

/* ---- RGBA8 ---- */

static double scale_of(const struct facet_gfx_texture *texture, uint32_t size)
{
    return texture->normalized ? 65536.0 * size : 65536.0;
}

static void rgba8(struct call *call, unsigned count)
{
    const struct facet_gfx_texture *texture = call->texture;
    facet_gfx_span_kernel *kernel = facet_gfx_span_portable;
    uint32_t *const *out = call->out;
    struct facet_gfx_span_job job = {
        .texels = call->texels,
        .pitch = texture->pitch,
        .width = (int32_t)texture->width,
        .height = (int32_t)texture->height,
        .wrap = call->sampling->wrap,
        .srgb = call->sampling->srgb,
        .scale_u = scale_of(texture, texture->width),
        .scale_v = scale_of(texture, texture->height),
    };

#if defined(__x86_64__)
    if (has_avx2() && facet_gfx_span_bytes(texture) <= INT32_MAX) {
        kernel = facet_gfx_span_avx2;
        job.wide = has_avx512();
    }
#endif
    FACET_FAST_WAY(GFX_SPAN);
    for (unsigned at = 0; at < count; at += FACET_GFX_SPAN_BLOCK) {
        unsigned block = count - at < FACET_GFX_SPAN_BLOCK ? count - at : FACET_GFX_SPAN_BLOCK;
        uint32_t *const into[4] = {out[0] + at, out[1] + at, out[2] + at, out[3] + at};

        general(call, at, kernel(&job, call->u + at, call->v + at, block, into, call->flags));
    }
}

/* ---- any format ---- */

/* The exact coordinate by way of the general functions; NaN for what they alone should look at. */
static double coordinate(const struct facet_gfx_numbers *n, uint32_t element)
{
    unsigned raised = 0;
    struct facet_gfx_real x = facet_gfx_coordinate(n, element, &raised);

    if (raised != 0 || x.cls > FACET_GFX_NUMBER) {
        return (double)NAN;
    }
    return x.cls == FACET_GFX_ZERO ? 0 : ldexp(x.negative ? -(double)x.num : (double)x.num, x.exp);
}

/* Coordinates of a block. Floats are what they are but for subnormals, which may be flushed; halves
 * become floats by their bits, as texels do in block.inc. */
static void
coordinates(const struct facet_gfx_numbers *n, const uint32_t *element, unsigned count, double *c)
{
    const unsigned elem = n->channel[0].elem;

    for (unsigned k = 0; elem == FACET_FMT_FP32 && k < count; k++) {
        const uint32_t magnitude = element[k] & 0x7FFFFFFF;
        const bool odd = magnitude - 1 < 0x007FFFFF;

        c[k] = (double)facet_float_of(odd ? 0x7FC00000 : element[k]);
    }
    for (unsigned k = 0; elem == FACET_FMT_FP16 && k < count; k++) {
        const uint32_t magnitude = element[k] & 0x7FFF;
        const bool odd = magnitude - 1 < 0x03FF || magnitude >= 0x7C00;
        const uint32_t sign = (element[k] & 0x8000) << 16;

        c[k] = (double)facet_float_of(
            odd ? 0x7FC00000 : sign | (magnitude != 0 ? (magnitude << 13) + (112u << 23) : 0));
    }
    for (unsigned k = 0; elem != FACET_FMT_FP32 && elem != FACET_FMT_FP16 && k < count; k++) {
        c[k] = coordinate(n, element[k]);
    }
}

/* FP32 that is no NaN and not subnormal to an IEEE-like format with `dropped` fewer fraction bits,
 * nearest even, as long as the result is normal there; false otherwise. */
static bool
narrow_short(uint32_t acc, unsigned dropped, int bias, uint32_t *element, unsigned *flags)
{
    const uint32_t magnitude = acc & 0x7FFFFFFF, rest = (UINT32_C(1) << dropped) - 1;
    const int exponent = (int)(magnitude >> 23) - 127;
    uint32_t kept;

    if (exponent < 1 - bias || exponent >= bias) {
        return false;
    }
    kept = magnitude + (rest >> 1) + (magnitude >> dropped & 1);
    kept = (kept >> dropped) - ((uint32_t)(127 - bias) << (23 - dropped));
    *element = acc >> 31 << 15 | kept;
    *flags |= FACET_DOWN | ((magnitude & rest) != 0 ? FACET_NX : 0);
    return true;
}

/* Accumulators of the samples of a mask to elements. */
static void narrow(struct call *call, unsigned at, uint64_t mask)
{
    for (unsigned c = 0; c < 4; c++) {
        const struct facet_conv *conv = &call->n->channel[c];
        const bool halves = conv->scale == 0 && conv->elem == FACET_FMT_FP16;
        uint32_t *out = call->out[c] + at;

        if (conv->scale == 0 && conv->elem == FACET_FMT_FP32) {
            continue; /* zero or normal: it stays what it is */
        }
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const unsigned k = facet_ctz64(rest);

            if (!halves || !narrow_short(out[k], 13, 15, &out[k], call->flags)) {
                out[k] = facet_narrow(conv, out[k], call->flags);
            }
        }
    }
}

static void put_border(const struct call *call, struct facet_gfx_block_job *job, unsigned *flags)
{
    job->border_fits = true;
    for (unsigned o = 0; job->wrap == FACET_GFX_BORDER && o < 4; o++) {
        const uint32_t bits = facet_gfx_border_acc(call->n, call->texture, o, flags);

        job->border_fits = job->border_fits && facet_gfx_block_ordinary(bits);
        job->border[o] = facet_float_of(bits);
    }
}

/* The table into the job; false: a number that the kernels do not take. */
static bool put_table(const struct call *call, struct facet_gfx_block_job *job, unsigned *flags)
{
    const int64_t end = (int64_t)FACET_GFX_SPAN_FAR;

    for (unsigned k = 0; k < call->taps; k++) {
        const uint32_t *row = call->table + (size_t)3 * k;
        struct facet_gfx_real du =
            facet_gfx_coordinate_signed(call->n, row[0], call->is_signed, flags);
        struct facet_gfx_real dv =
            facet_gfx_coordinate_signed(call->n, row[1], call->is_signed, flags);

        job->du[k] = facet_gfx_real_offset(&du);
        job->dv[k] = facet_gfx_real_offset(&dv);
        if (du.cls > FACET_GFX_NUMBER || dv.cls > FACET_GFX_NUMBER || job->du[k] <= -end ||
            job->du[k] >= end || job->dv[k] <= -end || job->dv[k] >= end) {
            return false;
        }
        if (call->weighted) {
            struct facet_gfx_real w = facet_gfx_coordinate_signed(call->n, row[2], true, flags);
            const uint32_t bits = facet_gfx_cv(&call->n->channel[0], &w, flags);
            const uint32_t exponent = bits >> 23 & 0xFF;

            job->weight[k] = facet_float_of(bits);
            if (job->weight[k] != 0 && (exponent < 127 - 16 || exponent > 127 + 15)) {
                return false;
            }
        }
    }
    return true;
}

static bool any_format(struct call *call, unsigned count)
{
    const struct facet_gfx_texture *texture = call->texture;
    facet_gfx_block_kernel *kernel = facet_gfx_block_portable;
    struct facet_gfx_block_job job = {
        .texture = texture,
        .texels = call->texels,
        .bilinear = call->sampling->bilinear,
        .srgb = call->sampling->srgb && texture->format.unorm,
        .ftz = call->n->channel[0].ftz,
        .wrap = call->sampling->wrap,
        .scale_u = scale_of(texture, texture->width),
        .scale_v = scale_of(texture, texture->height),
        .taps = call->taps,
        .weighted = call->weighted,
    };
    unsigned border_flags = 0, table_flags = 0;

#if defined(__x86_64__)
    kernel = has_avx2() ? facet_gfx_block_avx2 : kernel;
#endif
    if (!put_table(call, &job, &table_flags)) {
        return false;
    }
    put_border(call, &job, &border_flags);
    FACET_FAST_WAY(GFX_BLOCK);
    for (unsigned at = 0; at < count; at += FACET_GFX_BLOCK) {
        const unsigned block = count - at < FACET_GFX_BLOCK ? count - at : FACET_GFX_BLOCK;
        uint32_t *const into[4] = {
            call->out[0] + at, call->out[1] + at, call->out[2] + at, call->out[3] + at};
        double u[FACET_GFX_BLOCK], v[FACET_GFX_BLOCK];
        uint64_t left, sees, done;

        coordinates(call->n, call->u + at, block, u);
        coordinates(call->n, call->v + at, block, v);
        left = kernel(&job, u, v, block, into, &sees, call->flags);
        done = ~left & facet_bits_mask(block);
        *call->flags |= (sees != 0 ? border_flags : 0) | (done != 0 ? table_flags : 0);
        narrow(call, at, done);
        general(call, at, left);
    }
    return true;
}

/* ---- the calls ---- */

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
    struct call call = {.n = n,
                        .texture = texture,
                        .sampling = sampling,
                        .texels = texels,
                        .u = u,
                        .v = v,
                        .out = out,
                        .flags = flags};

    if (is_rgba8(n, texture, sampling)) {
        rgba8(&call, count);
    } else {
        (void)any_format(&call, count); /* only a table can be refused */
    }
}

bool facet_gfx_span_gather(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint8_t *texels,
                           const uint32_t *table,
                           unsigned taps,
                           bool weighted,
                           bool is_signed,
                           const uint32_t *u,
                           const uint32_t *v,
                           unsigned count,
                           uint32_t *const out[4],
                           unsigned *flags)
{
    struct call call = {.n = n,
                        .texture = texture,
                        .sampling = sampling,
                        .texels = texels,
                        .table = table,
                        .taps = taps,
                        .weighted = weighted,
                        .is_signed = is_signed,
                        .u = u,
                        .v = v,
                        .out = out,
                        .flags = flags};

    return any_format(&call, count);
}
