/* See reference.h. */
#include "reference.h"

#include "base/float.h"
#include "oracle.h"

enum { MISS, HIT, NANLANE };

#define INF 0x7F800000u
#define SIGN 0x80000000u

struct machine {
    const struct rt_request *q;
    struct facet_num_policy policy;
    unsigned flags;
};

static uint32_t op(struct machine *m, enum ref_op o, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint64_t v[4] = {a, b, c, d};
    struct ref_result r = ref_arith(o, FACET_FMT_FP32, v, &m->policy);

    m->flags |= r.flags;
    return (uint32_t)r.bits;
}

static bool is_nan(uint32_t bits)
{
    return (bits & ~SIGN) > INF;
}

static uint32_t widen(struct machine *m, unsigned channel, uint32_t element)
{
    struct ref_result r = ref_widen(&m->q->conv[channel], element);

    m->flags |= r.flags;
    return (uint32_t)r.bits;
}

/* RISC-V minimum and maximum of numbers. */
static uint32_t larger(uint32_t a, uint32_t b)
{
    if (facet_float_of(a) == facet_float_of(b)) {
        return (a & SIGN) != 0 ? b : a;
    }
    return facet_float_of(a) > facet_float_of(b) ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    if (facet_float_of(a) == facet_float_of(b)) {
        return (a & SIGN) != 0 ? a : b;
    }
    return facet_float_of(a) < facet_float_of(b) ? a : b;
}

static struct machine start(const struct rt_request *q)
{
    return (struct machine){
        q,
        {.rm = (uint8_t)q->rm, .flush = q->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE},
        0,
    };
}

static unsigned bits_of(unsigned format)
{
    static const unsigned bits[] = {[FACET_FMT_FP16] = 16,
                                    [FACET_FMT_FP32] = 32,
                                    [FACET_FMT_BF16] = 16,
                                    [FACET_FMT_E4M3] = 8,
                                    [FACET_FMT_E5M2] = 8,
                                    [FACET_FMT_BF16_LITE] = 16,
                                    [FACET_FMT_INT32] = 32,
                                    [FACET_FMT_INT16] = 16,
                                    [FACET_FMT_INT8] = 8,
                                    [FACET_FMT_INT4] = 4,
                                    [FACET_FMT_INT2] = 2};

    return bits[format];
}

/* The constants of section 4, spelled out. */
static uint32_t high(unsigned format, bool uns)
{
    switch (format) {
    case FACET_FMT_FP32:
        return 0x7F800000;
    case FACET_FMT_FP16:
        return 0x7C00;
    case FACET_FMT_BF16:
    case FACET_FMT_BF16_LITE:
        return 0x7F80;
    case FACET_FMT_E4M3:
        return 0x7E;
    case FACET_FMT_E5M2:
        return 0x7C;
    default:
        return (uint32_t)((1ull << (bits_of(format) - !uns)) - 1);
    }
}

static uint32_t low(unsigned format, bool uns)
{
    switch (format) {
    case FACET_FMT_FP32:
        return 0xFF800000;
    case FACET_FMT_FP16:
        return 0xFC00;
    case FACET_FMT_BF16:
    case FACET_FMT_BF16_LITE:
        return 0xFF80;
    case FACET_FMT_E4M3:
        return 0xFE;
    case FACET_FMT_E5M2:
        return 0xFC;
    default:
        return uns ? 0 : 1u << (bits_of(format) - 1);
    }
}

static void write_back(struct machine *m, struct rt_reference *r, bool triangle)
{
    struct facet_conv conv = m->q->conv[3];

    if (m->q->packed) {
        conv.elem = conv.elem == FACET_FMT_FP32    ? FACET_FMT_FP16
                    : conv.elem == FACET_FMT_INT32 ? FACET_FMT_INT16
                                                   : conv.elem;
    }
    for (unsigned i = 0; i < (triangle ? 3u : 2u) && !m->q->pred_only; i++) {
        uint32_t bits;

        if (r->outcome == MISS) {
            bits = i == 0 ? high(conv.elem, conv.uns) : triangle ? 0 : low(conv.elem, conv.uns);
        } else {
            struct ref_result e = ref_narrow(&conv, r->outcome == HIT ? r->value[i] : 0x7FC00000);

            m->flags |= e.flags;
            bits = (uint32_t)e.bits;
        }
        if (m->q->packed && conv.elem >= FACET_FMT_INT32 && !conv.uns) {
            unsigned width = bits_of(conv.elem);
            bool negative = (bits & 1u << (width - 1)) != 0;

            bits = (negative ? bits | ~(uint32_t)((1ull << width) - 1) : bits) & 0xFFFF;
        }
        r->element[i] = bits;
    }
    r->flags = m->flags;
}

static bool
box_decides(struct machine *m, const uint32_t e[9], const uint32_t b[6], struct rt_reference *r)
{
    uint32_t ray[9], box[6], tn[3], tf[3], cn, cf;
    bool bad = false;

    if (m->q->w_guard) {
        ray[8] = widen(m, 3, e[8]);
        if ((ray[8] & ~SIGN) == 0) {
            return false;
        }
        bad = is_nan(ray[8]);
    }
    for (unsigned i = 0; i < 8; i++) {
        ray[i] = widen(m, i < 6 ? i % 3 : 3, e[i]);
        bad |= is_nan(ray[i]);
    }
    for (unsigned i = 0; i < 6; i++) {
        box[i] = widen(m, i % 3, b[i]);
        bad |= is_nan(box[i]);
    }
    if (bad) {
        r->outcome = NANLANE;
        return false;
    }
    for (unsigned a = 0; a < 3; a++) {
        if (facet_float_of(box[a]) > facet_float_of(box[3 + a])) {
            return false;
        }
    }
    for (unsigned a = 0; a < 3; a++) {
        uint32_t o = ray[a], d = ray[3 + a], inv = op(m, REF_DIV, 0x3F800000, d, 0, 0);

        if (inv == INF || inv == (INF | SIGN)) {
            bool in = facet_float_of(box[a]) <= facet_float_of(o) &&
                      facet_float_of(o) <= facet_float_of(box[3 + a]);

            tn[a] = in ? INF | SIGN : INF;
            tf[a] = in ? INF : INF | SIGN;
        } else {
            uint32_t near = (d & SIGN) != 0 ? box[3 + a] : box[a];
            uint32_t far = (d & SIGN) != 0 ? box[a] : box[3 + a];

            tn[a] = op(m, REF_MUL, op(m, REF_SUB, near, o, 0, 0), inv, 0, 0);
            tf[a] = op(m, REF_MUL, op(m, REF_SUB, far, o, 0, 0), inv, 0, 0);
        }
        bad |= is_nan(tn[a]) || is_nan(tf[a]);
    }
    if (bad) {
        r->outcome = NANLANE;
        return false;
    }
    tn[0] = larger(larger(tn[0], tn[1]), tn[2]);
    tf[0] = smaller(smaller(tf[0], tf[1]), tf[2]);
    cn = larger(tn[0], ray[6]);
    cf = smaller(tf[0], ray[7]);
    if (facet_float_of(cn) > facet_float_of(cf)) {
        return false;
    }
    r->outcome = HIT;
    r->value[0] = m->q->t_clamp ? cn : tn[0];
    r->value[1] = m->q->t_clamp ? cf : tf[0];
    return true;
}

struct rt_reference
rt_ref_box(const struct rt_request *q, const uint32_t ray[9], const uint32_t box[6])
{
    struct machine m = start(q);
    struct rt_reference r = {.outcome = MISS};

    (void)box_decides(&m, ray, box, &r);
    write_back(&m, &r, false);
    return r;
}

static bool triangle_decides(struct machine *m,
                             const uint32_t e[8],
                             const uint32_t vertices[9],
                             struct rt_reference *r)
{
    uint32_t ray[8], v[9], x[3], y[3], q[3], s[3], det, t, eps = m->q->eps << 23;
    unsigned kx, ky, kz = 0, below = 0, above = 0;
    bool bad = false;

    for (unsigned i = 0; i < 8; i++) {
        ray[i] = widen(m, i < 6 ? i % 3 : 3, e[i]);
        bad |= is_nan(ray[i]);
    }
    for (unsigned i = 0; i < 9; i++) {
        v[i] = widen(m, i % 3, vertices[i]);
        bad |= is_nan(v[i]);
    }
    if (bad) {
        r->outcome = NANLANE;
        return false;
    }
    if (facet_float_of(ray[3]) == 0 && facet_float_of(ray[4]) == 0 && facet_float_of(ray[5]) == 0) {
        m->flags |= FACET_DZ;
        return false;
    }
    for (unsigned a = 1; a < 3; a++) {
        if (facet_float_of(ray[3 + a] & ~SIGN) > facet_float_of(ray[3 + kz] & ~SIGN)) {
            kz = a;
        }
    }
    kx = kz == 2 ? 0 : kz + 1;
    ky = kx == 2 ? 0 : kx + 1;
    if ((ray[3 + kz] & SIGN) != 0) {
        unsigned k = kx;

        kx = ky;
        ky = k;
    }
    s[0] = op(m, REF_DIV, ray[3 + kx], ray[3 + kz], 0, 0);
    s[1] = op(m, REF_DIV, ray[3 + ky], ray[3 + kz], 0, 0);
    s[2] = op(m, REF_DIV, 0x3F800000, ray[3 + kz], 0, 0);
    for (unsigned j = 0; j < 3; j++) {
        uint32_t p[3];

        for (unsigned a = 0; a < 3; a++) {
            p[a] = op(m, REF_SUB, v[3 * j + a], ray[a], 0, 0);
        }
        /* fma(-s, pz, px): the negation of a number is exact */
        x[j] = op(m, REF_FMA, s[0] ^ SIGN, p[kz], p[kx], 0);
        y[j] = op(m, REF_FMA, s[1] ^ SIGN, p[kz], p[ky], 0);
        q[j] = p[kz];
    }
    r->edge[0] = op(m, REF_DP2, x[2], y[1], y[2], x[1]);
    r->edge[1] = op(m, REF_DP2, x[0], y[2], y[0], x[2]);
    r->edge[2] = op(m, REF_DP2, x[1], y[0], y[1], x[0]);
    r->edges = true;
    for (unsigned i = 0; i < 3; i++) {
        bad |= is_nan(r->edge[i]);
        below += facet_float_of(r->edge[i]) < 0;
        above += facet_float_of(r->edge[i]) > 0;
    }
    if (bad) {
        r->outcome = NANLANE;
        return false;
    }
    if (m->q->cull_back ? below != 0 : below != 0 && above != 0) {
        return false;
    }
    det = op(m, REF_ADD, op(m, REF_ADD, r->edge[0], r->edge[1], 0, 0), r->edge[2], 0, 0);
    if (is_nan(det)) {
        r->outcome = NANLANE;
        return false;
    }
    if (facet_float_of(det & ~SIGN) <= facet_float_of(eps)) {
        return false;
    }
    r->front = facet_float_of(det) > 0;
    for (unsigned j = 0; j < 3; j++) {
        q[j] = op(m, REF_MUL, s[2], q[j], 0, 0);
    }
    t = op(m, REF_MUL, r->edge[2], q[2], 0, 0);
    t = op(m, REF_FMA, r->edge[1], q[1], t, 0);
    t = op(m, REF_FMA, r->edge[0], q[0], t, 0);
    t = op(m, REF_DIV, t, det, 0, 0);
    if (is_nan(t)) {
        r->outcome = NANLANE;
        return false;
    }
    t = facet_float_of(t) == 0 ? 0 : t;
    if (facet_float_of(t) < facet_float_of(ray[6]) || facet_float_of(t) > facet_float_of(ray[7])) {
        return false;
    }
    r->outcome = HIT;
    r->value[0] = t;
    if (!m->q->pred_only) {
        r->value[1] = op(m, REF_DIV, r->edge[1] & ~SIGN, det & ~SIGN, 0, 0);
        r->value[2] = op(m, REF_DIV, r->edge[2] & ~SIGN, det & ~SIGN, 0, 0);
    }
    return true;
}

struct rt_reference
rt_ref_triangle(const struct rt_request *q, const uint32_t ray[8], const uint32_t vertices[9])
{
    struct machine m = start(q);
    struct rt_reference r = {.outcome = MISS};

    (void)triangle_decides(&m, ray, vertices, &r);
    write_back(&m, &r, true);
    return r;
}
