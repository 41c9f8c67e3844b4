/* Positions, taps and the filter of one sample; see sample.h. */
#include "gfx/sample.h"

#include <string.h>

/* ---- positions (6.4) ---- */

int64_t facet_gfx_position(const struct facet_gfx_real *c, bool normalized, uint32_t size)
{
    struct facet_gfx_real x = *c;

    if (normalized) { /* 32 bits by 17 */
        x.num *= size;
    }
    return facet_gfx_real_floor(&x, 16);
}

bool facet_gfx_wrap_index(int64_t i, uint32_t size, unsigned wrap, uint32_t *out)
{
    const int64_t d = size;
    int64_t m;

    switch (wrap) {
    case FACET_GFX_CLAMP:
        *out = (uint32_t)(i < 0 ? 0 : i >= d ? d - 1 : i);
        return true;
    case FACET_GFX_REPEAT:
        m = i % d;
        *out = (uint32_t)(m < 0 ? m + d : m);
        return true;
    case FACET_GFX_MIRROR:
        m = i % (2 * d);
        m = m < 0 ? m + 2 * d : m;
        *out = (uint32_t)(m < d ? m : 2 * d - 1 - m);
        return true;
    default:
        *out = (uint32_t)i;
        return i >= 0 && i < d;
    }
}

static struct facet_gfx_tap place_tap(const struct facet_gfx_texture *texture,
                                      const struct facet_gfx_sampling *sampling,
                                      int64_t i,
                                      int64_t j)
{
    struct facet_gfx_tap tap = {.kind = FACET_GFX_TAP_BORDER};
    uint32_t x, y;

    if (facet_gfx_wrap_index(i, texture->width, sampling->wrap, &x) &&
        facet_gfx_wrap_index(j, texture->height, sampling->wrap, &y)) {
        tap.kind = FACET_GFX_TAP_TEXEL;
        tap.x = x;
        tap.y = y;
    }
    return tap;
}

/* An arithmetic shift: C leaves that of negative numbers to the compiler, gcc and clang define it.
 */
static int64_t shift_down(int64_t x, unsigned n)
{
    return x >> n;
}

struct facet_gfx_footprint facet_gfx_footprint_at(const struct facet_gfx_texture *texture,
                                                  const struct facet_gfx_sampling *sampling,
                                                  int64_t fx,
                                                  int64_t fy)
{
    struct facet_gfx_footprint foot = {.kind = FACET_GFX_TAPS, .fx = fx, .fy = fy};

    if (!sampling->bilinear || sampling->raw) {
        foot.i = shift_down(fx, 16);
        foot.j = shift_down(fy, 16);
        foot.tap[0] = place_tap(texture, sampling, foot.i, foot.j);
        return foot;
    }
    fx -= 32768; /* half a texel: centres lie at i + 1/2 */
    fy -= 32768;
    foot.i = shift_down(fx, 16);
    foot.j = shift_down(fy, 16);
    foot.fu = fx & 65535;
    foot.fv = fy & 65535;
    for (unsigned t = 0; t < 4; t++) {
        if (((t & 1) == 0 || foot.fu != 0) && ((t & 2) == 0 || foot.fv != 0)) {
            foot.tap[t] = place_tap(texture, sampling, foot.i + (t & 1), foot.j + (t >> 1));
        }
    }
    return foot;
}

static struct facet_gfx_footprint no_taps(unsigned kind)
{
    return (struct facet_gfx_footprint){.kind = (uint8_t)kind};
}

/* ---- fetch ---- */

static bool fetch_taps(const struct facet_gfx_texture *texture,
                       struct facet_gfx_footprint *foot,
                       uint32_t n1,
                       uint32_t n2,
                       facet_gfx_load *load,
                       void *context)
{
    const unsigned accesses = facet_gfx_texel_accesses(texture);

    for (unsigned t = 0; foot->kind == FACET_GFX_TAPS && t < 4; t++) {
        struct facet_gfx_tap *tap = &foot->tap[t];

        for (unsigned c = 0; tap->kind == FACET_GFX_TAP_TEXEL && c < accesses; c++) {
            uint64_t address = facet_gfx_texel_address(texture, tap->x, tap->y, n1, n2, c);

            if (!load(context, address, texture->format.bytes, &tap->word[c])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- filter (6.5) ---- */

static uint32_t tap_acc(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_texture *texture,
                        const struct facet_gfx_tap *tap,
                        unsigned o,
                        unsigned *flags)
{
    switch (tap->kind) {
    case FACET_GFX_TAP_TEXEL:
        return facet_gfx_texel_acc(n, texture, tap->word, o, flags);
    case FACET_GFX_TAP_BORDER:
        return facet_gfx_border_acc(n, texture, o, flags);
    default:
        return 0;
    }
}

/* Output o of a footprint; a nearest footprint has tap 0 alone and weights 0. */
static uint32_t filter(const struct facet_gfx_numbers *n,
                       const struct facet_gfx_texture *texture,
                       const struct facet_gfx_footprint *foot,
                       unsigned o,
                       struct facet_gfx_channel_steps *steps,
                       unsigned *flags)
{
    const struct facet_gfx_real a = facet_gfx_real_of(foot->fu, 1, -16);
    const struct facet_gfx_real b = facet_gfx_real_of(foot->fv, 1, -16);
    unsigned tap_flags = 0, filter_flags = 0;
    uint32_t t[4], r;

    if (foot->kind == FACET_GFX_NULL) {
        return 0;
    }
    if (foot->kind == FACET_GFX_NO_PLACE) {
        return facet_gfx_nan(&n->channel[o], flags);
    }
    for (unsigned k = 0; k < 4; k++) {
        t[k] = tap_acc(n, texture, &foot->tap[k], o, &tap_flags);
    }
    r = facet_gfx_bilerp(
        &n->channel[o], t, &a, &b, steps == NULL ? NULL : steps->lerp, &filter_flags);
    if (steps != NULL) {
        memcpy(steps->tap, t, sizeof t);
        steps->filtered = r;
        steps->tap_flags = tap_flags;
        steps->filter_flags = filter_flags;
    }
    *flags |= tap_flags | filter_flags;
    return r;
}

/* Colour space and narrow: what follows the filter or the gather of output o. */
static uint32_t store(const struct facet_gfx_numbers *n,
                      bool srgb,
                      uint32_t acc,
                      unsigned o,
                      struct facet_gfx_channel_steps *steps,
                      unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[o];
    unsigned srgb_flags = 0, narrow_flags = 0;
    uint32_t result = acc, element;

    if (srgb && o < 3) {
        result = facet_gfx_srgb(conv, acc, steps == NULL ? NULL : &steps->srgb, &srgb_flags);
    }
    element = facet_narrow(conv, result, &narrow_flags);
    if (steps != NULL) {
        steps->filtered = acc;
        steps->result = result;
        steps->srgb_flags = srgb_flags;
        steps->narrow_flags = narrow_flags;
    }
    *flags |= srgb_flags | narrow_flags;
    return element;
}

static bool converts(const struct facet_gfx_texture *texture,
                     const struct facet_gfx_sampling *sampling,
                     unsigned kind)
{
    return sampling->srgb && texture->format.unorm && kind != FACET_GFX_NO_PLACE;
}

/* ---- GFX.SAMPLE (7) ---- */

void facet_gfx_sample_plan(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint32_t *uv,
                           bool tensor,
                           struct facet_gfx_sample *sample,
                           unsigned *flags)
{
    struct facet_gfx_real u = facet_gfx_coordinate(n, uv[0], flags);
    struct facet_gfx_real v = facet_gfx_coordinate(n, uv[1], flags);

    *sample = (struct facet_gfx_sample){.n1 = 0};
    if (tensor) {
        struct facet_gfx_real n1 = facet_gfx_coordinate(n, uv[2], flags);
        struct facet_gfx_real n2 = facet_gfx_coordinate(n, uv[3], flags);

        sample->n1 = facet_gfx_tensor_index(&n1);
        sample->n2 = facet_gfx_tensor_index(&n2);
    }
    if ((u.cls == FACET_GFX_NAN || v.cls == FACET_GFX_NAN) && !sampling->raw) {
        sample->foot = no_taps(FACET_GFX_NO_PLACE);
    } else if (facet_gfx_texture_is_null(texture)) {
        sample->foot = no_taps(FACET_GFX_NULL);
    } else { /* raw: the position of NaN is 0 */
        sample->foot =
            facet_gfx_footprint_at(texture,
                                   sampling,
                                   facet_gfx_position(&u, texture->normalized, texture->width),
                                   facet_gfx_position(&v, texture->normalized, texture->height));
    }
}

bool facet_gfx_sample_fetch(const struct facet_gfx_texture *texture,
                            struct facet_gfx_sample *sample,
                            facet_gfx_load *load,
                            void *context)
{
    return fetch_taps(texture, &sample->foot, sample->n1, sample->n2, load, context);
}

/* CONVERT_EN = 0: codes instead of values. */
static uint32_t raw_output(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_footprint *foot,
                           unsigned o)
{
    const struct facet_conv *conv = &n->channel[o];
    const uint32_t mask = UINT32_MAX >> (32 - facet_format_width(conv->elem));
    const unsigned from = texture->source[o];
    unsigned none = 0;

    if (foot->kind != FACET_GFX_TAPS) {
        return 0;
    }
    if (foot->tap[0].kind == FACET_GFX_TAP_BORDER) {
        return texture->border_fp32
                   ? facet_narrow(conv, facet_gfx_border_acc(n, texture, o, &none), &none)
                   : texture->border[o] & mask;
    }
    if (from >= FACET_GFX_FROM_ZERO) {
        return from == FACET_GFX_FROM_ONE;
    }
    return facet_gfx_texel_code(&texture->format, foot->tap[0].word, from) & mask;
}

void facet_gfx_sample_finish(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *texture,
                             const struct facet_gfx_sampling *sampling,
                             const struct facet_gfx_sample *sample,
                             uint32_t out[4],
                             struct facet_gfx_sample_steps *steps,
                             unsigned *flags)
{
    const struct facet_gfx_footprint *foot = &sample->foot;
    const bool srgb = converts(texture, sampling, foot->kind);

    if (steps != NULL) {
        *steps = (struct facet_gfx_sample_steps){.channel[0].filtered = 0};
    }
    for (unsigned o = 0; o < 4; o++) {
        struct facet_gfx_channel_steps *each = steps == NULL ? NULL : &steps->channel[o];

        if (sampling->raw) {
            out[o] = raw_output(n, texture, foot, o);
        } else {
            uint32_t acc = filter(n, texture, foot, o, each, flags);

            out[o] = store(n, srgb, acc, o, each, flags);
        }
    }
}

/* ---- GFX.SAMPLE.GATH (8) ---- */

unsigned
facet_gfx_gather_count(unsigned n_field, const struct facet_gfx_texture *texture, unsigned *flags)
{
    unsigned count = n_field != 0 ? n_field : texture->taps;

    if (count > FACET_GFX_TAPS_MAX) {
        *flags |= FACET_UNSUP;
        count = FACET_GFX_TAPS_MAX;
    }
    return count;
}

unsigned facet_gfx_gather_begin(const struct facet_gfx_numbers *n,
                                const struct facet_gfx_texture *texture,
                                const uint32_t uv[2],
                                unsigned count,
                                struct facet_gfx_gather *gather,
                                unsigned *flags)
{
    struct facet_gfx_real u = facet_gfx_coordinate(n, uv[0], flags);
    struct facet_gfx_real v = facet_gfx_coordinate(n, uv[1], flags);

    gather->count = (uint8_t)count;
    gather->kind = FACET_GFX_TAPS;
    if (u.cls == FACET_GFX_NAN || v.cls == FACET_GFX_NAN) {
        gather->kind = FACET_GFX_NO_PLACE;
    } else if (facet_gfx_texture_is_null(texture)) {
        gather->kind = FACET_GFX_NULL;
    }
    gather->fx = facet_gfx_position(&u, texture->normalized, texture->width);
    gather->fy = facet_gfx_position(&v, texture->normalized, texture->height);
    return gather->kind == FACET_GFX_TAPS ? 3 * count : 0;
}

static int64_t clamp48(int64_t x)
{
    const int64_t end = INT64_C(1) << 47;

    return x < -end ? -end : x > end - 1 ? end - 1 : x;
}

void facet_gfx_gather_plan(const struct facet_gfx_numbers *n,
                           const struct facet_gfx_texture *texture,
                           const struct facet_gfx_sampling *sampling,
                           const uint32_t *table,
                           bool p,
                           bool s,
                           struct facet_gfx_gather *gather,
                           unsigned *flags)
{
    gather->weighted = p;
    for (unsigned k = 0; gather->kind == FACET_GFX_TAPS && k < gather->count; k++) {
        struct facet_gfx_real du = facet_gfx_coordinate_signed(n, table[3 * k], s, flags);
        struct facet_gfx_real dv = facet_gfx_coordinate_signed(n, table[3 * k + 1], s, flags);

        if (p) {
            gather->weight[k] = facet_gfx_coordinate_signed(n, table[3 * k + 2], true, flags);
        }
        if (du.cls == FACET_GFX_NAN || dv.cls == FACET_GFX_NAN) {
            gather->tap[k] = no_taps(FACET_GFX_NO_PLACE);
        } else {
            gather->tap[k] =
                facet_gfx_footprint_at(texture,
                                       sampling,
                                       clamp48(gather->fx + facet_gfx_real_offset(&du)),
                                       clamp48(gather->fy + facet_gfx_real_offset(&dv)));
        }
    }
}

bool facet_gfx_gather_fetch(const struct facet_gfx_texture *texture,
                            struct facet_gfx_gather *gather,
                            facet_gfx_load *load,
                            void *context)
{
    for (unsigned k = 0; gather->kind == FACET_GFX_TAPS && k < gather->count; k++) {
        if (!fetch_taps(texture, &gather->tap[k], 0, 0, load, context)) {
            return false;
        }
    }
    return true;
}

/* The taps of output o and what they add up to. */
static uint32_t gathered(const struct facet_gfx_numbers *n,
                         const struct facet_gfx_texture *texture,
                         const struct facet_gfx_gather *gather,
                         unsigned o,
                         struct facet_gfx_gather_channel_steps *steps,
                         unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[o];
    uint32_t t[FACET_GFX_TAPS_MAX], *sum = steps == NULL ? NULL : steps->sum;
    unsigned raised = 0;
    uint32_t acc;

    if (gather->kind == FACET_GFX_NO_PLACE) {
        return facet_gfx_nan(conv, flags);
    }
    if (gather->kind == FACET_GFX_NULL || gather->count == 0) {
        return 0;
    }
    for (unsigned k = 0; k < gather->count; k++) {
        t[k] = filter(n, texture, &gather->tap[k], o, steps == NULL ? NULL : &steps->tap[k], flags);
    }
    acc = gather->weighted ? facet_gfx_wsum(conv, gather->weight, t, gather->count, sum, &raised)
                           : facet_gfx_mean(conv, t, gather->count, sum, &raised);
    if (steps != NULL) {
        steps->whole.filter_flags = raised;
    }
    *flags |= raised;
    return acc;
}

void facet_gfx_gather_finish(const struct facet_gfx_numbers *n,
                             const struct facet_gfx_texture *texture,
                             const struct facet_gfx_sampling *sampling,
                             const struct facet_gfx_gather *gather,
                             uint32_t out[4],
                             struct facet_gfx_gather_steps *steps,
                             unsigned *flags)
{
    const bool srgb = converts(texture, sampling, gather->kind);

    if (steps != NULL) {
        memset(steps, 0, sizeof *steps);
    }
    for (unsigned o = 0; o < 4; o++) {
        struct facet_gfx_gather_channel_steps *each = steps == NULL ? NULL : &steps->channel[o];
        uint32_t acc = gathered(n, texture, gather, o, each, flags);

        out[o] = store(n, srgb, acc, o, each == NULL ? NULL : &each->whole, flags);
    }
}
