/* See round.h. */
#include "rt_image/round.h"

#include "base/float.h"
#include "num/f32.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static float widen(const struct facet_conv *conv, uint32_t element)
{
    unsigned flags = 0;

    return facet_float_of(facet_widen(conv, element, &flags));
}

uint32_t facet_rtbvh_outward(const struct facet_conv *conv, float x, bool up)
{
    struct facet_conv out = *conv;
    unsigned flags = 0;
    uint32_t code;
    float got;

    out.rm = up ? FACET_RUP : FACET_RDN;
    out.sat = false;
    code = facet_narrow(&out, facet_float_bits(x), &flags);
    got = widen(conv, code);
    /* A format without subnormals flushes to zero in every mode, which is inwards for one sign. */
    if (!facet_format_is_int(conv->elem) && (up ? got < x : got > x)) {
        const struct facet_fp_format *f = &facet_fp_formats[conv->elem];
        float least = ldexpf(1.0f, f->has_subnormals ? f->emin - f->p + 1 : f->emin);

        code = facet_narrow(&out, facet_float_bits(up ? least : -least), &flags);
    }
    return code;
}

/* An edge of a box moved outwards: never rounded towards the box. */
static float grown(float x, float growth, bool up)
{
    double exact = up ? (double)x + (double)growth : (double)x - (double)growth;
    float rounded = (float)exact;

    if (up ? (double)rounded < exact : (double)rounded > exact) {
        rounded = nextafterf(rounded, up ? INFINITY : -INFINITY);
    }
    return rounded;
}

enum facet_status facet_rtbvh_measure(const struct facet_bvh_triangle *triangles,
                                      uint32_t count,
                                      double reach,
                                      struct facet_rtbvh_extent *out,
                                      struct facet_error *err)
{
    double lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0}, extent = 0.0;

    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < 9; k++) {
            double x = (double)triangles[i].vertex[k / 3][k % 3];
            int a = k % 3;

            if (!isfinite(x)) {
                return facet_fail(err,
                                  FACET_ERR_INPUT,
                                  i,
                                  "instance %u, triangle %u: a coordinate is not finite",
                                  triangles[i].geometry,
                                  triangles[i].primitive);
            }
            lo[a] = (i == 0 && k < 3) || x < lo[a] ? x : lo[a];
            hi[a] = (i == 0 && k < 3) || x > hi[a] ? x : hi[a];
        }
    }
    out->low = fmin(fmin(lo[0], lo[1]), lo[2]);
    out->high = fmax(fmax(hi[0], hi[1]), hi[2]);
    for (int a = 0; a < 3; a++) {
        double size =
            reach == 0.0 ? 3.0 * (hi[a] - lo[a]) : fmax(hi[a], reach) - fmin(lo[a], -reach);

        extent = fmax(extent, size);
    }
    out->growth = (float)ldexp(extent, -20);
    if ((double)out->growth < ldexp(extent, -20)) {
        out->growth = nextafterf(out->growth, INFINITY);
    }
    return FACET_OK;
}

/* Whether the grown box can be written with finite elements that contain it. */
static bool
box_fits(const struct facet_rt_numbers *n, const float lo[3], const float hi[3], float growth)
{
    for (int a = 0; a < 3; a++) {
        const struct facet_conv *conv = &n->channel[a];
        float x = grown(lo[a], growth, false), y = grown(hi[a], growth, true);
        float low = widen(conv, facet_rtbvh_outward(conv, x, false));
        float high = widen(conv, facet_rtbvh_outward(conv, y, true));

        if (!isfinite(low) || !isfinite(high) || low > x || high < y) {
            return false;
        }
    }
    return true;
}

static enum facet_status not_fitting(const struct facet_rt_numbers *n,
                                     const struct facet_bvh_triangle *t,
                                     const char *what,
                                     struct facet_error *err)
{
    return facet_fail(err,
                      FACET_ERR_LIMIT,
                      t->primitive,
                      "instance %u, triangle %u: %s lies outside the range of %s elements",
                      t->geometry,
                      t->primitive,
                      what,
                      facet_format_name(n->channel[0].elem));
}

enum facet_status facet_rtbvh_round_triangle(const struct facet_rt_numbers *n,
                                             const struct facet_bvh_triangle *t,
                                             float growth,
                                             uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS],
                                             float lo[3],
                                             float hi[3],
                                             struct facet_error *err)
{
    unsigned flags = 0;

    for (unsigned k = 0; k < FACET_RT_TRIANGLE_ELEMENTS; k++) {
        struct facet_conv conv = n->channel[k % 3];
        float x;

        conv.rm = FACET_RNE; /* whatever rays will be computed with */
        conv.sat = false;
        elements[k] = facet_narrow(&conv, facet_float_bits(t->vertex[k / 3][k % 3]), &flags);
        x = widen(&conv, elements[k]);
        /* Of +0 and -0 hosts' fminf takes either; here the later one stays. */
        lo[k % 3] = k >= 3 && lo[k % 3] < x ? lo[k % 3] : x;
        hi[k % 3] = k >= 3 && hi[k % 3] > x ? hi[k % 3] : x;
    }
    if ((flags & (FACET_NV | FACET_OF)) != 0) {
        return not_fitting(n, t, "a corner", err);
    }
    if (!box_fits(n, lo, hi, growth)) {
        char what[64];

        (void)snprintf(what, sizeof what, "its box grown by %g", (double)growth);
        return not_fitting(n, t, what, err);
    }
    return FACET_OK;
}

bool facet_rtbvh_degenerate(const uint32_t elements[FACET_RT_TRIANGLE_ELEMENTS])
{
    return memcmp(elements, elements + 3, 12) == 0 || memcmp(elements, elements + 6, 12) == 0 ||
           memcmp(elements + 3, elements + 6, 12) == 0;
}

void facet_rtbvh_round_box(const struct facet_rt_numbers *n,
                           const float lo[3],
                           const float hi[3],
                           float growth,
                           uint32_t elements[FACET_RT_BOX_ELEMENTS])
{
    for (unsigned a = 0; a < 3; a++) {
        const struct facet_conv *conv = &n->channel[a];

        elements[a] = facet_rtbvh_outward(conv, grown(lo[a], growth, false), false);
        elements[3 + a] = facet_rtbvh_outward(conv, grown(hi[a], growth, true), true);
    }
}
