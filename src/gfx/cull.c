/* See cull.h. */
#include "gfx/cull.h"

#include "base/bits.h"

/* ---- planes ------------------------------------------------------------------------------------
 */

/* d = A x + B y + C z + D w against zero; `point` are accumulators. */
static bool inside(const struct facet_conv *conv,
                   const uint32_t plane[4],
                   const uint32_t point[4],
                   enum facet_gfx_side side,
                   unsigned *flags)
{
    uint32_t wide[4], d;

    for (unsigned k = 0; k < 4; k++) {
        wide[k] = facet_num_widen(conv, plane[k], flags);
    }
    d = facet_gfx_dot(conv, wide, point, 4, flags);
    switch (side) {
    case FACET_GFX_LE_ZERO:
        return facet_acc_le(conv, d, 0, flags);
    case FACET_GFX_LT_ZERO:
        return facet_acc_lt(conv, d, 0, flags);
    case FACET_GFX_GE_ZERO:
        return facet_acc_le(conv, 0, d, flags);
    default:
        return facet_acc_lt(conv, 0, d, flags);
    }
}

/* ---- the reject of w ---------------------------------------------------------------------------
 */

/* The real value of an element, with scale and zero point. */
static struct facet_gfx_real
real_element(const struct facet_conv *conv, uint32_t bits, unsigned *flags)
{
    struct facet_gfx_real x;

    if (facet_format_is_int(conv->elem)) {
        unsigned width = facet_format_width(conv->elem);
        int64_t q = conv->uns ? (int64_t)bits : facet_bits_sign(bits, width);

        return facet_gfx_real_of(q - conv->zp, 1, conv->scale);
    }
    x = facet_gfx_real_of_fp(conv->elem, bits, conv->ftz, flags);
    x.exp += conv->scale;
    return x;
}

/* -1, 0 or 1 for magnitudes num * 2^exp. */
static int compare_magnitude(const struct facet_gfx_real *a, const struct facet_gfx_real *b)
{
    int top_a = a->exp - (int)facet_clz64(a->num), top_b = b->exp - (int)facet_clz64(b->num);
    uint64_t x = a->num << facet_clz64(a->num), y = b->num << facet_clz64(b->num);

    return top_a != top_b ? (top_a < top_b ? -1 : 1) : x != y ? (x < y ? -1 : 1) : 0;
}

/* a <= b, neither NaN; a is finite. */
static bool real_le(const struct facet_gfx_real *a, const struct facet_gfx_real *b)
{
    int sign_a = a->cls == FACET_GFX_ZERO ? 0 : a->negative ? -1 : 1;
    int sign_b = b->cls == FACET_GFX_ZERO ? 0 : b->negative ? -1 : 1;
    int order;

    if (b->cls == FACET_GFX_INF || sign_a != sign_b || sign_a == 0) {
        return b->cls == FACET_GFX_INF ? sign_b > 0 : sign_a <= sign_b;
    }
    order = compare_magnitude(a, b);
    return sign_a > 0 ? order <= 0 : order >= 0;
}

/* w is NaN, infinite, or not above eps. */
static bool
rejects(const struct facet_conv *conv, uint32_t w_bits, uint32_t eps_bits, unsigned *flags)
{
    unsigned quiet = 0;
    struct facet_gfx_real w = real_element(conv, w_bits, flags);
    struct facet_gfx_real eps = facet_gfx_real_of_fp(FACET_FMT_FP32, eps_bits, false, &quiet);

    return w.cls == FACET_GFX_NAN || w.cls == FACET_GFX_INF ||
           (eps.cls != FACET_GFX_NAN && real_le(&w, &eps));
}

bool facet_gfx_cull_point(const struct facet_gfx_numbers *n,
                          const struct facet_gfx_cull *cull,
                          const uint32_t point[4],
                          unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[0];
    uint32_t wide[4];
    bool in = true;

    if (cull->reject && rejects(conv, point[3], cull->eps, flags)) {
        return false;
    }
    for (unsigned k = 0; k < 4; k++) {
        wide[k] = facet_num_widen(conv, point[k], flags);
    }
    for (unsigned p = 0; p < cull->planes; p++) { /* all are evaluated, flags included */
        in &= inside(conv, cull->plane[p], wide, cull->side, flags);
    }
    return in != cull->keep;
}

/* ---- boxes -------------------------------------------------------------------------------------
 */

/* Elements of the lower and upper bound. */
static void bounds_of(const struct facet_gfx_numbers *n,
                      unsigned encoding,
                      const uint32_t box[6],
                      uint32_t bound[2][3],
                      unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[0];

    for (unsigned k = 0; k < 3; k++) {
        uint32_t p, q;

        bound[0][k] = box[k];
        bound[1][k] = box[3 + k];
        if (encoding == FACET_GFX_MIN_MAX) {
            continue;
        }
        p = facet_num_widen(conv, box[k], flags);
        q = facet_num_widen(conv, box[3 + k], flags);
        if (encoding == FACET_GFX_CENTRE_HALF) {
            bound[0][k] = facet_num_narrow(conv, facet_acc_sub(conv, p, q, flags), flags);
        }
        bound[1][k] = facet_num_narrow(conv, facet_acc_add(conv, p, q, flags), flags);
    }
}

/* The corner (x,y,z,1) through the matrix as MTX.MUL does it, results as elements. */
static void transform(const struct facet_gfx_numbers *n,
                      const struct facet_gfx_cull_box *cull,
                      const uint32_t corner[3],
                      uint32_t one,
                      uint32_t out[4],
                      unsigned *flags)
{
    uint32_t v[4] = {0, 0, 0, one};

    for (unsigned j = 0; j < 3; j++) {
        v[j] = facet_num_widen(&n->channel[j], corner[j], flags);
    }
    for (unsigned i = 0; i < 4; i++) {
        uint32_t row[4];

        for (unsigned j = 0; j < 4; j++) {
            unsigned r = cull->transpose ? j : i, c = cull->transpose ? i : j;

            row[j] = facet_num_widen(&n->channel[r], cull->matrix[4 * r + c], flags);
        }
        out[i] = facet_num_narrow(
            &n->channel[i], facet_gfx_dot(&n->channel[i], row, v, 4, flags), flags);
    }
}

bool facet_gfx_cull_box(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_cull_box *cull,
                        const uint32_t box[6],
                        unsigned *flags)
{
    const struct facet_conv *conv = &n->channel[0];
    const struct facet_gfx_real unit = facet_gfx_real_of(1, 1, 0);
    uint32_t one = facet_gfx_cv(conv, &unit, flags), bound[2][3];
    unsigned some = 0, every = ~0u; /* bit p: a corner, every corner is inside plane p */
    const unsigned all = (1u << FACET_GFX_PLANES) - 1;

    bounds_of(n, cull->encoding, box, bound, flags);
    for (unsigned q = 0; q < 8; q++) {
        uint32_t corner[4] = {bound[q & 1][0], bound[q >> 1 & 1][1], bound[q >> 2][2], 0};
        uint32_t point[4];
        unsigned in = 0;

        if (cull->transform) {
            uint32_t moved[4];

            transform(n, cull, corner, one, moved, flags);
            for (unsigned k = 0; k < 4; k++) {
                corner[k] = moved[k];
            }
        }
        for (unsigned k = 0; k < 4; k++) {
            point[k] = k == 3 && !cull->transform ? one : facet_num_widen(conv, corner[k], flags);
        }
        for (unsigned p = 0; p < FACET_GFX_PLANES; p++) {
            in |= (unsigned)inside(conv, cull->plane[p], point, FACET_GFX_LE_ZERO, flags) << p;
        }
        some |= in;
        every &= in;
    }
    return (((cull->contain ? every : some) & all) == all) != cull->keep;
}
