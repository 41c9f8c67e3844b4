/* Elements to FP32 and results back (rt-semantics.md 4, 9). */
#include "rt/rt.h"

#include "rt/fp32.h"

enum { CHANNEL_OTHER = 3 };

struct facet_rt_numbers facet_rt_numbers_of(const struct facet_eff *eff, const uint8_t zptab[256])
{
    struct facet_rt_numbers n;

    for (unsigned c = 0; c < 4; c++) {
        n.channel[c] = facet_eff_conv(eff, zptab, c);
        n.channel[c].acc = FACET_FMT_FP32;
        n.channel[c].mixed_step = false; /* the internal format is fixed (R-RT-18) */
    }
    return n;
}

/* Three elements of the channels x, y, z. */
static bool widen3(const struct facet_rt_numbers *n,
                   const uint32_t elements[3],
                   uint32_t out[3],
                   unsigned *flags)
{
    bool nan = false;

    for (unsigned a = 0; a < 3; a++) {
        out[a] = facet_widen(&n->channel[a], elements[a], flags);
        nan |= facet_rt_is_nan(out[a]);
    }
    return nan;
}

static bool
widen1(const struct facet_rt_numbers *n, uint32_t element, uint32_t *out, unsigned *flags)
{
    *out = facet_widen(&n->channel[CHANNEL_OTHER], element, flags);
    return facet_rt_is_nan(*out);
}

bool facet_rt_ray_widen(const struct facet_rt_numbers *n,
                        const uint32_t elements[FACET_RT_RAY_ELEMENTS],
                        struct facet_rt_ray *ray,
                        unsigned *flags)
{
    bool o = widen3(n, elements, ray->o, flags), d = widen3(n, elements + 3, ray->d, flags);
    bool tmin = widen1(n, elements[6], &ray->tmin, flags);
    bool tmax = widen1(n, elements[7], &ray->tmax, flags);

    return o || d || tmin || tmax;
}

bool facet_rt_box_widen(const struct facet_rt_numbers *n,
                        const uint32_t elements[FACET_RT_BOX_ELEMENTS],
                        struct facet_rt_box *box,
                        unsigned *flags)
{
    bool min = widen3(n, elements, box->min, flags), max = widen3(n, elements + 3, box->max, flags);

    return min || max;
}

bool facet_rt_triangle_widen(const struct facet_rt_numbers *n,
                             const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                             struct facet_rt_triangle *triangle,
                             unsigned *flags)
{
    bool nan = false;

    for (unsigned j = 0; j < 3; j++) {
        nan |= widen3(n, elements + 3 * (uint64_t)j, triangle->v[j], flags);
    }
    return nan;
}

enum facet_rt_w
facet_rt_w_widen(const struct facet_rt_numbers *n, uint32_t element, unsigned *flags)
{
    uint32_t w;

    if (widen1(n, element, &w, flags)) {
        return FACET_RT_W_NAN;
    }
    return facet_rt_magnitude(w) == 0 ? FACET_RT_W_ZERO : FACET_RT_W_OTHER;
}

enum facet_format facet_rt_result_format(const struct facet_rt_numbers *n, bool packed)
{
    enum facet_format elem = n->channel[CHANNEL_OTHER].elem;

    return !packed                   ? elem
           : elem == FACET_FMT_FP32  ? FACET_FMT_FP16
           : elem == FACET_FMT_INT32 ? FACET_FMT_INT16
                                     : elem;
}

/* The constants of a miss: infinities, or the ends of a format that has none. */
static uint32_t absent_bits(enum facet_format format, bool uns, enum facet_rt_absent absent)
{
    unsigned width = facet_format_width(format);
    uint64_t sign = UINT64_C(1) << (width - 1);

    if (absent == FACET_RT_ZERO) {
        return 0;
    }
    if (facet_format_is_int(format)) {
        uint64_t high = uns ? 2 * sign - 1 : sign - 1, low = uns ? 0 : sign;

        return (uint32_t)(absent == FACET_RT_HIGH ? high : low);
    } else {
        const struct facet_fp_format *f = &facet_fp_formats[format];
        uint64_t high = f->has_inf ? f->infinity : f->max_finite;

        return (uint32_t)(absent == FACET_RT_HIGH ? high : high | sign);
    }
}

uint32_t facet_rt_encode(const struct facet_rt_numbers *n,
                         bool packed,
                         enum facet_rt_outcome outcome,
                         uint32_t value,
                         enum facet_rt_absent absent,
                         unsigned *flags)
{
    struct facet_conv conv = n->channel[CHANNEL_OTHER];
    unsigned width;
    uint32_t bits;

    conv.elem = (uint8_t)facet_rt_result_format(n, packed);
    bits = outcome == FACET_RT_MISS
               ? absent_bits(conv.elem, conv.uns, absent)
               : facet_narrow(&conv, outcome == FACET_RT_NAN ? FACET_RT_NAN_BITS : value, flags);
    width = facet_format_width(conv.elem);
    if (packed && facet_format_is_int(conv.elem) && !conv.uns && (bits >> (width - 1) & 1) != 0) {
        bits |= 0xFFFFu << width; /* a slot holds the number in 16 bits */
    }
    return packed ? bits & 0xFFFF : bits;
}
