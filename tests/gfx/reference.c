/* See reference.h. */
#include "reference.h"

#include "oracle.h"

#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the texture state says (6.1) ---- */

struct state {
    uint64_t base;
    uint64_t pitch, stride1, stride2, w, h;
    unsigned fmt, swizzle[4], wrap, taps;
    bool norm, srgb, planar;
    uint32_t border[4];
    bool border_is_fp32;
};

struct lane {
    const struct gfx_case *c;
    struct gfx_answer *a;
    struct state s;
};

static bool is_int(enum facet_format f)
{
    return f >= FACET_FMT_INT32;
}

static unsigned nat(enum facet_format f)
{
    switch (f) {
    case FACET_FMT_FP32:
    case FACET_FMT_INT32:
        return 32;
    case FACET_FMT_FP16:
    case FACET_FMT_BF16:
    case FACET_FMT_BF16_LITE:
    case FACET_FMT_INT16:
        return 16;
    case FACET_FMT_INT4:
        return 4;
    case FACET_FMT_INT2:
        return 2;
    default:
        return 8;
    }
}

static uint64_t bytes_at(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;

    while (n-- > 0) {
        v = v * 256 + p[n];
    }
    return v;
}

static struct state read_state(const struct gfx_case *c)
{
    struct state s = {0};
    uint64_t fmt;
    unsigned width = nat(c->conv[0].elem);

    if (c->desc) {
        uint64_t flags = bytes_at(c->bytes + 44, 4);

        s.base = bytes_at(c->bytes, 8);
        s.pitch = bytes_at(c->bytes + 8, 4);
        s.w = bytes_at(c->bytes + 12, 4);
        s.h = bytes_at(c->bytes + 16, 4);
        fmt = bytes_at(c->bytes + 20, 4);
        s.wrap = c->bytes[24] & 3;
        for (unsigned k = 0; k < 4; k++) {
            s.border[k] = (uint32_t)bytes_at(c->bytes + 28 + 4 * k, 4);
        }
        s.norm = flags & 1;
        s.srgb = flags & 2;
        s.planar = flags & 4;
        s.taps = flags >> 8 & 255;
        s.stride1 = bytes_at(c->bytes + 48, 4);
        s.stride2 = bytes_at(c->bytes + 52, 4);
        s.border_is_fp32 = !is_int(c->conv[0].elem);
    } else {
        s.base = c->csrs.base;
        s.pitch = c->csrs.pitch & 0xFFFFFFFF;
        s.w = c->csrs.wh & 0xFFFFFFFF;
        s.h = c->csrs.wh >> 32;
        fmt = c->csrs.fmt;
        s.wrap = c->csrs.wrap & 3;
        for (unsigned k = 0; k < 4; k++) { /* bit by bit out of the 128-bit register */
            for (unsigned b = 0; b < width; b++) {
                unsigned at = k * width + b;
                s.border[k] |= (uint32_t)(c->csrs.border[at / 64] >> at % 64 & 1) << b;
            }
        }
        s.norm = c->csrs.cfg & 1 << 6;
        s.srgb = c->csrs.cfg & 1 << 3;
        s.planar = c->csrs.fmt & 1 << 24;
        s.taps = c->csrs.cfg >> 24 & 31;
        s.stride1 = c->csrs.stride1 & 0xFFFFFFFF;
    }
    s.fmt = fmt & 255;
    for (unsigned k = 0; k < 4; k++) {
        s.swizzle[k] = fmt >> (8 + 3 * k) & 7;
    }
    s.w = s.w > 65536 ? 65536 : s.w;
    s.h = s.h > 65536 ? 65536 : s.h;
    if (c->w && !c->gather) {
        s.wrap = c->wrap;
    }
    return s;
}

/* ---- reals ---- */

enum { REAL_NUMBER, REAL_INF, REAL_NAN };

struct real {
    mpq_t q;
    int cls;
    bool minus; /* of zero and infinity too */
};

static void real_init(struct real *r)
{
    mpq_init(r->q);
    r->cls = REAL_NUMBER;
    r->minus = false;
}

static void real_set(struct real *r, int64_t num, uint64_t den)
{
    mpz_set_si(mpq_numref(r->q), num);
    mpz_set_ui(mpq_denref(r->q), den);
    mpq_canonicalize(r->q);
    r->cls = REAL_NUMBER;
    r->minus = num < 0;
}

/* FP bits: exact by way of binary64. */
static void
real_fp(struct lane *l, struct real *r, enum facet_format format, uint32_t bits, bool ftz)
{
    const struct facet_num_policy policy = {.flush_operand = ftz};
    struct ref_result wide = ref_convert(FACET_FMT_FP64, format, bits, 0, &policy);
    double value;

    memcpy(&value, &wide.bits, sizeof value);
    r->minus = signbit(value) != 0;
    if (isnan(value)) {
        r->cls = REAL_NAN;
        r->minus = false;
        l->a->flags |= (wide.flags & FACET_NV) != 0 ? FACET_SNAN | FACET_NV : FACET_QNAN;
    } else if (isinf(value)) {
        r->cls = REAL_INF;
    } else {
        r->cls = REAL_NUMBER;
        l->a->flags |= wide.flags & FACET_FTZ;
        mpq_set_d(r->q, value);
    }
}

/* Coordinate class. `extension`: 0 as the policy says, 1 signed, 2 unsigned. */
static void coordinate(struct lane *l, struct real *r, uint32_t bits, int extension)
{
    const struct facet_conv *conv = &l->c->conv[0];
    unsigned width = nat(conv->elem);

    if (is_int(conv->elem)) {
        bool is_signed = extension == 0 ? !conv->uns : extension == 1;
        int64_t code = bits & (uint32_t)((UINT64_C(1) << width) - 1);

        if (is_signed && code >= INT64_C(1) << (width - 1)) {
            code -= INT64_C(1) << width;
        }
        real_set(r, code, UINT64_C(1) << (width / 2));
        return;
    }
    real_fp(l, r, conv->elem, bits, conv->ftz);
    if (extension == 2 && r->minus) {
        r->minus = false;
        mpq_abs(r->q, r->q);
    }
}

static void floor_scaled(mpz_t out, const struct real *r, unsigned long scale)
{
    mpz_mul_ui(out, mpq_numref(r->q), scale);
    mpz_fdiv_q(out, out, mpq_denref(r->q));
}

static void clamp48(mpz_t z)
{
    mpz_t end;

    mpz_init_set_ui(end, 1);
    mpz_mul_2exp(end, end, 47);
    mpz_sub_ui(end, end, 1);
    if (mpz_cmp(z, end) > 0) {
        mpz_set(z, end);
    }
    mpz_add_ui(end, end, 1);
    mpz_neg(end, end);
    if (mpz_cmp(z, end) < 0) {
        mpz_set(z, end);
    }
    mpz_clear(end);
}

/* FX with the size folded in; infinities become far more than 48 bits. */
static void fixed(mpz_t out, const struct real *r, bool norm, uint64_t size, bool clamp)
{
    if (r->cls == REAL_INF) {
        mpz_set_si(out, r->minus ? -1 : 1);
        mpz_mul_2exp(out, out, 300);
    } else {
        floor_scaled(out, r, 65536 * (norm ? size : 1));
    }
    if (clamp) {
        clamp48(out);
    }
}

/* ---- into and inside the accumulator ---- */

static struct facet_num_policy policy_of(const struct facet_conv *conv)
{
    return (struct facet_num_policy){.rm = conv->rm,
                                     .flush = conv->ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE};
}

/* q rounded to an integer by the mode; sets NX in *flags. */
static void round_rational(mpz_t out, const mpq_t q, unsigned rm, unsigned *flags)
{
    mpq_t rest, half;
    int side;

    mpz_fdiv_q(out, mpq_numref(q), mpq_denref(q));
    mpq_inits(rest, half, NULL);
    mpq_set_z(rest, out);
    mpq_sub(rest, q, rest);
    mpq_set_ui(half, 1, 2);
    side = mpq_cmp(rest, half);
    if (mpq_sgn(rest) != 0) {
        bool up = false;

        *flags |= FACET_NX;
        switch (rm) {
        case FACET_RTZ:
            up = mpq_sgn(q) < 0;
            break;
        case FACET_RDN:
            break;
        case FACET_RUP:
            up = true;
            break;
        case FACET_RMM:
            up = side > 0 || (side == 0 && mpq_sgn(q) > 0);
            break;
        default:
            up = side > 0 || (side == 0 && mpz_odd_p(out));
            break;
        }
        if (up) {
            mpz_add_ui(out, out, 1);
        }
    }
    mpq_clears(rest, half, NULL);
}

static int64_t acc_max(const struct facet_conv *conv)
{
    return conv->acc == FACET_FMT_INT16 ? INT16_MAX : INT32_MAX;
}

static uint32_t end_of(struct lane *l, const struct facet_conv *conv, bool minus)
{
    l->a->flags |= FACET_NV;
    return (uint32_t)(minus ? -acc_max(conv) - 1 : acc_max(conv));
}

static uint32_t nan_acc(struct lane *l, const struct facet_conv *conv)
{
    if (is_int(conv->acc)) {
        return end_of(l, conv, false);
    }
    return conv->acc == FACET_FMT_FP16 ? 0x7E00 : 0x7FC00000;
}

static uint32_t cv(struct lane *l, const struct facet_conv *conv, const struct real *r)
{
    const uint32_t sign = conv->acc == FACET_FMT_FP16 ? 0x8000 : 0x80000000;
    uint32_t out;

    if (r->cls == REAL_NAN) {
        return nan_acc(l, conv);
    }
    if (is_int(conv->acc)) {
        unsigned flags = 0;
        mpq_t scaled;
        mpz_t z;

        if (r->cls == REAL_INF) {
            return end_of(l, conv, r->minus);
        }
        mpq_init(scaled);
        mpz_init(z);
        if (conv->scale >= 0) {
            mpq_div_2exp(scaled, r->q, (unsigned)conv->scale);
        } else {
            mpq_mul_2exp(scaled, r->q, (unsigned)-conv->scale);
        }
        round_rational(z, scaled, conv->rm, &flags);
        if (mpz_cmp_si(z, acc_max(conv)) > 0 || mpz_cmp_si(z, -acc_max(conv) - 1) < 0) {
            out = end_of(l, conv, mpz_sgn(z) < 0);
        } else {
            out = (uint32_t)mpz_get_si(z);
            l->a->flags |= flags;
        }
        mpz_clear(z);
        mpq_clear(scaled);
        return out;
    }
    if (r->cls == REAL_INF) {
        return (conv->acc == FACET_FMT_FP16 ? 0x7C00 : 0x7F800000) | (r->minus ? sign : 0);
    }
    if (mpq_sgn(r->q) == 0) {
        return r->minus ? sign : 0;
    }
    /* the rational as a ratio of 64-bit integers and a power of two */
    {
        const struct facet_num_policy policy = policy_of(conv);
        struct ref_result result;
        unsigned long up = mpz_scan1(mpq_numref(r->q), 0), down = mpz_scan1(mpq_denref(r->q), 0);
        mpz_t num, den;

        mpz_inits(num, den, NULL);
        mpz_tdiv_q_2exp(num, mpq_numref(r->q), up);
        mpz_tdiv_q_2exp(den, mpq_denref(r->q), down);
        result = ref_from_ratio(
            conv->acc, mpz_get_si(num), mpz_get_ui(den), (int)up - (int)down, &policy);
        mpz_clears(num, den, NULL);
        l->a->flags |= result.flags;
        return (uint32_t)result.bits;
    }
}

static uint32_t mixed(struct lane *l, const struct facet_conv *conv, uint32_t acc)
{
    struct ref_result r;

    if (!conv->mixed_step) {
        return acc;
    }
    r = ref_narrow(conv, acc);
    l->a->flags |= r.flags;
    r = ref_widen(conv, (uint32_t)r.bits);
    l->a->flags |= r.flags;
    return (uint32_t)r.bits;
}

static uint32_t fp_op(struct lane *l,
                      const struct facet_conv *conv,
                      enum ref_op op,
                      uint32_t a,
                      uint32_t b,
                      uint32_t c)
{
    const struct facet_num_policy policy = policy_of(conv);
    const uint64_t v[4] = {a, b, c, 0};
    struct ref_result r = ref_arith(op, conv->acc, v, &policy);

    l->a->flags |= r.flags;
    return mixed(l, conv, (uint32_t)r.bits);
}

/* The one rounding of an integer accumulator: wraps with OF. */
static uint32_t int_round(struct lane *l, const struct facet_conv *conv, const mpq_t exact)
{
    mpz_t z;
    uint32_t low;

    mpz_init(z);
    round_rational(z, exact, conv->rm, &l->a->flags);
    if (mpz_cmp_si(z, acc_max(conv)) > 0 || mpz_cmp_si(z, -acc_max(conv) - 1) < 0) {
        l->a->flags |= FACET_OF;
    }
    mpz_fdiv_r_2exp(z, z, 32);
    low = (uint32_t)mpz_get_ui(z);
    mpz_clear(z);
    return mixed(l, conv, conv->acc == FACET_FMT_INT16 ? (uint32_t)(int16_t)low : low);
}

/* ---- texels ---- */

struct channel {
    unsigned bytes, bits, shift;
    char kind; /* n UNORM, s SNORM, U UINT, S SINT, f floating */
    enum facet_format fp;
};

static const char *const type_rows[] = {
    "8n", "8s", "8U", "8S", "16n", "16s", "16U", "16S", "hf", "bf", "wf", "32U", "32S", "4f", "5f"};

/* Channel k of the format; false when it has none. *channels 0: reserved. */
static bool channel_of(unsigned fmt, unsigned k, struct channel *ch, unsigned *channels)
{
    static const struct {
        unsigned shift[4], bits[4], count;
    } words[4] = {
        {{11, 5, 0, 0}, {5, 6, 5, 0}, 3},
        {{11, 6, 1, 0}, {5, 5, 5, 1}, 4},
        {{12, 8, 4, 0}, {4, 4, 4, 4}, 4},
        {{0, 10, 20, 30}, {10, 10, 10, 2}, 4},
    };

    *channels = 0;
    if (fmt >= 0x40 && fmt <= 0x43) {
        *channels = words[fmt - 0x40].count;
        ch->bytes = fmt == 0x43 ? 4 : 2;
        ch->shift = words[fmt - 0x40].shift[k];
        ch->bits = words[fmt - 0x40].bits[k];
        ch->kind = 'n';
        return k < *channels;
    }
    if (fmt >= 0x40 || (fmt & 15) == 15) {
        return false;
    }
    {
        const char *row = type_rows[fmt & 15];

        *channels = (fmt >> 4) + 1;
        ch->kind = row[strlen(row) - 1];
        ch->shift = 0;
        switch (row[0]) {
        case 'h':
            ch->fp = FACET_FMT_FP16;
            ch->bits = 16;
            break;
        case 'b':
            ch->fp = FACET_FMT_BF16;
            ch->bits = 16;
            break;
        case 'w':
            ch->fp = FACET_FMT_FP32;
            ch->bits = 32;
            break;
        case '4':
            ch->fp = FACET_FMT_E4M3;
            ch->bits = 8;
            break;
        case '5':
            ch->fp = FACET_FMT_E5M2;
            ch->bits = 8;
            break;
        default:
            ch->bits = (unsigned)atoi(row);
            break;
        }
        ch->bytes = ch->bits / 8;
        return k < *channels;
    }
}

static uint64_t load(struct lane *l, uint64_t address, unsigned bytes)
{
    uint64_t v = 0;

    if (l->a->accesses < GFX_REF_ACCESSES) {
        l->a->address[l->a->accesses] = address;
        l->a->bytes[l->a->accesses] = (uint8_t)bytes;
    }
    l->a->accesses++;
    for (unsigned b = 0; b < bytes; b++) {
        v |= (uint64_t)l->c->memory(l->c->context, address + b) << 8 * b;
    }
    return v;
}

struct texel {
    int kind; /* 0 unused, 1 border, 2 texel */
    uint64_t code[4];
};

static void
fetch_texel(struct lane *l, struct texel *t, uint64_t x, uint64_t y, uint64_t n1, uint64_t n2)
{
    const struct state *s = &l->s;
    struct channel ch;
    unsigned count;

    t->kind = 2;
    channel_of(s->fmt, 0, &ch, &count);
    if (s->fmt >= 0x40) {
        uint64_t word = load(
            l, s->base + y * s->pitch + x * ch.bytes + n1 * s->stride1 + n2 * s->stride2, ch.bytes);

        for (unsigned k = 0; k < count; k++) {
            channel_of(s->fmt, k, &ch, &count);
            t->code[k] = word >> ch.shift & ((1u << ch.bits) - 1);
        }
        return;
    }
    for (unsigned k = 0; k < count; k++) {
        uint64_t address =
            s->planar ? s->base + k * s->stride1 + y * s->pitch + x * ch.bytes + n1 * s->stride2
                      : s->base + y * s->pitch + (x * count + k) * ch.bytes + n1 * s->stride1 +
                            n2 * s->stride2;

        t->code[k] = load(l, address, ch.bytes);
    }
}

/* Which channel feeds output o: 0..3, or 4 zero, 5 one, 6 a missing channel. */
static unsigned selected(const struct state *s, unsigned o)
{
    unsigned code = s->swizzle[o], k, count;
    struct channel ch;

    if (code == 1) {
        return 4;
    }
    if (code == 2) {
        return 5;
    }
    k = code >= 3 && code <= 6 ? code - 3 : o;
    return channel_of(s->fmt, k, &ch, &count) ? k : k == 3 ? 6 : 4;
}

static uint32_t texel_acc(struct lane *l, const struct texel *t, unsigned o)
{
    const struct facet_conv *conv = &l->c->conv[o];
    unsigned k = selected(&l->s, o), count;
    struct channel ch;
    struct real r;
    uint32_t acc;

    real_init(&r);
    if (t->kind == 1) {
        if (!l->s.border_is_fp32) {
            struct ref_result w = ref_widen(conv, l->s.border[o]);

            l->a->flags |= w.flags;
            mpq_clear(r.q);
            return (uint32_t)w.bits;
        }
        real_fp(l, &r, FACET_FMT_FP32, l->s.border[o], conv->ftz);
    } else if (k >= 4) {
        real_set(&r, k == 4 ? 0 : 1, 1);
    } else {
        int64_t code = (int64_t)t->code[k], full;

        channel_of(l->s.fmt, k, &ch, &count);
        full = INT64_C(1) << ch.bits;
        switch (ch.kind) {
        case 'n':
            real_set(&r, code, (uint64_t)full - 1);
            break;
        case 's':
            code = code >= full / 2 ? code - full : code;
            if (code == -full / 2) {
                real_set(&r, -1, 1);
            } else {
                real_set(&r, code, (uint64_t)full / 2 - 1);
            }
            break;
        case 'U':
            real_set(&r, code, 1);
            break;
        case 'S':
            real_set(&r, code >= full / 2 ? code - full : code, 1);
            break;
        default:
            real_fp(l, &r, ch.fp, (uint32_t)code, conv->ftz);
            break;
        }
    }
    acc = cv(l, conv, &r);
    mpq_clear(r.q);
    return acc;
}

/* ---- footprint (6.4, 6.5) ---- */

struct foot {
    int kind; /* 0 taps, 1 null, 2 NaN */
    unsigned fu, fv;
    struct texel t[4];
};

/* One axis: index after wrap, or false for the border. */
static bool wrapped(const mpz_t i, uint64_t size, unsigned mode, uint64_t *out)
{
    mpz_t m;

    mpz_init(m);
    if (mode == 0) {
        *out = mpz_sgn(i) < 0 ? 0 : mpz_cmp_ui(i, size - 1) > 0 ? size - 1 : mpz_get_ui(i);
    } else if (mode == 1) {
        *out = mpz_fdiv_r_ui(m, i, size);
    } else if (mode == 2) {
        *out = mpz_fdiv_r_ui(m, i, 2 * size);
        if (*out >= size) {
            *out = 2 * size - 1 - *out;
        }
    } else {
        bool inside = mpz_sgn(i) >= 0 && mpz_cmp_ui(i, size) < 0;

        *out = inside ? mpz_get_ui(i) : 0;
        mpz_clear(m);
        return inside;
    }
    mpz_clear(m);
    return true;
}

static void tap(struct lane *l,
                struct foot *foot,
                unsigned at,
                const mpz_t i,
                const mpz_t j,
                uint64_t n1,
                uint64_t n2)
{
    uint64_t x, y;
    bool inside_x = wrapped(i, l->s.w, l->s.wrap, &x), inside_y = wrapped(j, l->s.h, l->s.wrap, &y);

    if (inside_x && inside_y) {
        fetch_texel(l, &foot->t[at], x, y, n1, n2);
    } else {
        foot->t[at].kind = 1;
    }
}

/* X - 1/2 as texel and fraction, the weight in 1/65536. */
static void split(mpz_t texel, unsigned *weight, const mpz_t fx)
{
    mpq_t q, k;

    mpq_inits(q, k, NULL);
    mpq_set_z(q, fx);
    mpq_div_2exp(q, q, 16);
    mpq_set_si(k, 1, 2);
    mpq_sub(q, q, k);
    mpz_fdiv_q(texel, mpq_numref(q), mpq_denref(q));
    mpq_set_z(k, texel);
    mpq_sub(q, q, k);
    mpq_mul_2exp(q, q, 16);
    *weight = (unsigned)mpz_get_ui(mpq_numref(q));
    mpq_clears(q, k, NULL);
}

static void place(struct lane *l,
                  struct foot *foot,
                  const mpz_t fx,
                  const mpz_t fy,
                  bool bilinear,
                  uint64_t n1,
                  uint64_t n2)
{
    mpz_t i, j, i1, j1;

    mpz_inits(i, j, i1, j1, NULL);
    if (bilinear) {
        split(i, &foot->fu, fx);
        split(j, &foot->fv, fy);
    } else {
        mpz_fdiv_q_2exp(i, fx, 16);
        mpz_fdiv_q_2exp(j, fy, 16);
    }
    mpz_add_ui(i1, i, 1);
    mpz_add_ui(j1, j, 1);
    tap(l, foot, 0, i, j, n1, n2);
    if (foot->fu != 0) {
        tap(l, foot, 1, i1, j, n1, n2);
    }
    if (foot->fv != 0) {
        tap(l, foot, 2, i, j1, n1, n2);
    }
    if (foot->fu != 0 && foot->fv != 0) {
        tap(l, foot, 3, i1, j1, n1, n2);
    }
    mpz_clears(i, j, i1, j1, NULL);
}

static uint32_t
fp_lerp(struct lane *l, const struct facet_conv *conv, uint32_t p, uint32_t q, unsigned f)
{
    struct real a;
    uint32_t weight, diff, r;

    real_init(&a);
    real_set(&a, f, 65536);
    weight = cv(l, conv, &a);
    diff = fp_op(l, conv, REF_SUB, q, p, 0);
    r = fp_op(l, conv, REF_FMA, weight, diff, p);
    mpq_clear(a.q);
    return r;
}

static uint32_t filtered(struct lane *l, const struct foot *foot, unsigned o)
{
    const struct facet_conv *conv = &l->c->conv[o];
    uint32_t t[4] = {0};

    if (foot->kind != 0) {
        return foot->kind == 1 ? 0 : nan_acc(l, conv);
    }
    for (unsigned k = 0; k < 4; k++) {
        if (foot->t[k].kind != 0) {
            t[k] = texel_acc(l, &foot->t[k], o);
        }
    }
    if (foot->fu == 0 && foot->fv == 0) {
        return t[0];
    }
    if (is_int(conv->acc)) { /* the sum of weighted taps, which is what the nest is */
        const uint64_t w[4] = {(uint64_t)(65536 - foot->fu) * (65536 - foot->fv),
                               (uint64_t)foot->fu * (65536 - foot->fv),
                               (uint64_t)(65536 - foot->fu) * foot->fv,
                               (uint64_t)foot->fu * foot->fv};
        uint32_t r;
        mpq_t q, term;

        mpq_inits(q, term, NULL);
        for (unsigned k = 0; k < 4; k++) {
            mpq_set_si(term, (int32_t)t[k], 1);
            mpz_mul_ui(mpq_numref(term), mpq_numref(term), w[k]);
            mpq_add(q, q, term);
        }
        mpq_div_2exp(q, q, 32);
        r = int_round(l, conv, q);
        mpq_clears(q, term, NULL);
        return r;
    }
    if (foot->fu != 0) {
        t[0] = fp_lerp(l, conv, t[0], t[1], foot->fu);
        if (foot->fv != 0) {
            t[2] = fp_lerp(l, conv, t[2], t[3], foot->fu);
        }
    }
    return foot->fv != 0 ? fp_lerp(l, conv, t[0], t[2], foot->fv) : t[0];
}

/* ---- colour space (6.6) ---- */

/* The curve with 400 bits, which no value comes as near to a tie; then its first 60 bits, the last
 * of them set for what follows (rounding to odd), as cv wants it. */
static void curve(mpq_t q)
{
    mpfr_t x, power;
    long last;

    if (mpq_cmp_ui(q, 4045, 100000) <= 0) {
        mpz_mul_ui(mpq_numref(q), mpq_numref(q), 100);
        mpz_mul_ui(mpq_denref(q), mpq_denref(q), 1292);
        mpq_canonicalize(q);
        return;
    }
    mpfr_inits2(400, x, power, NULL);
    mpfr_set_q(x, q, MPFR_RNDN);
    mpfr_mul_ui(x, x, 1000, MPFR_RNDN);
    mpfr_add_ui(x, x, 55, MPFR_RNDN);
    mpfr_div_ui(x, x, 1055, MPFR_RNDN);
    mpfr_set_ui(power, 24, MPFR_RNDN);
    mpfr_div_ui(power, power, 10, MPFR_RNDN);
    mpfr_pow(x, x, power, MPFR_RNDN);
    if (mpfr_prec_round(x, 60, MPFR_RNDZ) != 0) {
        last = mpfr_get_z_2exp(mpq_numref(q), x);
        mpz_setbit(mpq_numref(q), 0);
        mpz_set_ui(mpq_denref(q), 1);
        mpq_div_2exp(q, q, (unsigned long)-last);
    } else {
        mpfr_get_q(q, x);
    }
    mpfr_clears(x, power, NULL);
}

uint32_t gfx_reference_srgb(const struct facet_conv *conv, uint32_t acc, unsigned *flags)
{
    struct gfx_answer raised = {.flags = 0}, ignored = {.flags = 0};
    struct lane l = {.a = &raised}, quiet = {.a = &ignored};
    struct real r;
    uint32_t out;

    real_init(&r);
    if (is_int(conv->acc)) {
        real_set(&r, (int32_t)acc, 1);
        if (conv->scale >= 0) {
            mpq_mul_2exp(r.q, r.q, (unsigned)conv->scale);
        } else {
            mpq_div_2exp(r.q, r.q, (unsigned)-conv->scale);
        }
    } else {
        real_fp(&quiet, &r, conv->acc, acc, false);
    }
    if (r.cls != REAL_NAN) {
        if (r.minus || (r.cls == REAL_NUMBER && mpq_sgn(r.q) == 0)) {
            real_set(&r, 0, 1);
        } else if (r.cls == REAL_INF || mpq_cmp_ui(r.q, 1, 1) >= 0) {
            real_set(&r, 1, 1);
        } else {
            curve(r.q);
        }
    }
    out = cv(&l, conv, &r);
    mpq_clear(r.q);
    *flags |= raised.flags;
    return out;
}

/* ---- the instructions ---- */

static void write_out(struct lane *l, unsigned o, uint32_t acc, bool enable, int kind)
{
    const struct facet_conv *conv = &l->c->conv[o];
    unsigned type = l->s.fmt & 15;
    bool unorm = l->s.fmt >= 0x40 || type == 0 || type == 4;
    struct ref_result r;

    if (enable && unorm && o < 3 && kind != 2) {
        acc = gfx_reference_srgb(conv, acc, &l->a->flags);
    }
    r = ref_narrow(conv, acc);
    l->a->flags |= r.flags;
    l->a->out[o] = (uint32_t)r.bits;
}

static uint64_t tensor(struct lane *l, uint32_t bits)
{
    struct real r;
    uint64_t n = 0;
    mpz_t z;

    real_init(&r);
    mpz_init(z);
    coordinate(l, &r, bits, 0);
    if (r.cls == REAL_INF) {
        n = r.minus ? 0 : 65535;
    } else if (r.cls == REAL_NUMBER) {
        floor_scaled(z, &r, 1);
        n = mpz_sgn(z) < 0 ? 0 : mpz_cmp_ui(z, 65535) > 0 ? 65535 : mpz_get_ui(z);
    }
    mpz_clear(z);
    mpq_clear(r.q);
    return n;
}

static void raw_output(struct lane *l, const struct foot *foot, unsigned o)
{
    const struct facet_conv *conv = &l->c->conv[o];
    const uint32_t mask = (uint32_t)((UINT64_C(1) << nat(conv->elem)) - 1);
    unsigned k = selected(&l->s, o);

    if (foot->kind != 0) {
        l->a->out[o] = 0;
    } else if (foot->t[0].kind == 1) {
        struct gfx_answer ignored = {.flags = 0};
        struct lane quiet = {l->c, &ignored, l->s};

        l->a->out[o] = l->s.border_is_fp32
                           ? (uint32_t)ref_narrow(conv, texel_acc(&quiet, &foot->t[0], o)).bits
                           : l->s.border[o] & mask;
    } else {
        l->a->out[o] = k < 4 ? (uint32_t)foot->t[0].code[k] & mask : k == 5;
    }
}

static void sample(struct lane *l)
{
    const struct gfx_case *c = l->c;
    struct foot foot = {0};
    struct real u, v;
    uint64_t n1 = 0, n2 = 0;
    mpz_t fx, fy;

    real_init(&u);
    real_init(&v);
    mpz_inits(fx, fy, NULL);
    coordinate(l, &u, c->slot[0], 0);
    coordinate(l, &v, c->slot[1], 0);
    if (c->t) {
        n1 = tensor(l, c->slot[2]);
        n2 = tensor(l, c->slot[3]);
    }
    if (!c->convert) { /* NaN counts as 0 */
        if (u.cls == REAL_NAN) {
            real_set(&u, 0, 1);
        }
        if (v.cls == REAL_NAN) {
            real_set(&v, 0, 1);
        }
    }
    if (u.cls == REAL_NAN || v.cls == REAL_NAN) {
        foot.kind = 2;
    } else if (l->s.w == 0 || l->s.h == 0) {
        foot.kind = 1;
    } else {
        fixed(fx, &u, l->s.norm, l->s.w, true);
        fixed(fy, &v, l->s.norm, l->s.h, true);
        place(l, &foot, fx, fy, c->m && c->convert, n1, n2);
    }
    for (unsigned o = 0; o < 4; o++) {
        if (!c->convert) {
            raw_output(l, &foot, o);
        } else {
            write_out(l, o, filtered(l, &foot, o), c->f && l->s.srgb, foot.kind);
        }
    }
    mpz_clears(fx, fy, NULL);
    mpq_clear(u.q);
    mpq_clear(v.q);
}

/* a' of an integer accumulator as a rational. */
static void weight_fixed(mpq_t out, const struct real *w)
{
    mpz_t z;

    mpz_init(z);
    if (w->cls == REAL_INF) {
        mpz_set_si(z, w->minus ? INT32_MIN : INT32_MAX);
    } else if (w->cls == REAL_NUMBER) {
        floor_scaled(z, w, 65536);
        if (mpz_cmp_si(z, INT32_MAX) > 0) {
            mpz_set_si(z, INT32_MAX);
        } else if (mpz_cmp_si(z, INT32_MIN) < 0) {
            mpz_set_si(z, INT32_MIN);
        }
    }
    mpq_set_z(out, z);
    mpq_div_2exp(out, out, 16);
    mpz_clear(z);
}

static uint32_t combine(struct lane *l,
                        const struct facet_conv *conv,
                        const uint32_t *t,
                        const struct real *w,
                        unsigned count)
{
    uint32_t acc = 0;

    if (is_int(conv->acc)) {
        mpq_t sum, term, factor;

        mpq_inits(sum, term, factor, NULL);
        for (unsigned k = 0; k < count; k++) {
            mpq_set_si(term, (int32_t)t[k], 1);
            if (l->c->p) {
                weight_fixed(factor, &w[k]);
            } else {
                mpq_set_ui(factor, 1, count);
            }
            mpq_mul(term, term, factor);
            mpq_add(sum, sum, term);
        }
        acc = int_round(l, conv, sum);
        mpq_clears(sum, term, factor, NULL);
        return acc;
    }
    for (unsigned k = 0; k < count; k++) {
        if (l->c->p) {
            uint32_t weight = cv(l, conv, &w[k]);

            acc = k == 0 ? fp_op(l, conv, REF_MUL, weight, t[0], 0)
                         : fp_op(l, conv, REF_FMA, weight, t[k], acc);
        } else {
            acc = k == 0 ? t[0] : fp_op(l, conv, REF_ADD, acc, t[k], 0);
        }
    }
    if (!l->c->p) {
        const struct facet_num_policy policy = policy_of(conv);

        acc = fp_op(l,
                    conv,
                    REF_DIV,
                    acc,
                    (uint32_t)ref_from_int(conv->acc, count, false, &policy).bits,
                    0);
    }
    return acc;
}

static void gather(struct lane *l)
{
    const struct gfx_case *c = l->c;
    unsigned count = c->n != 0 ? c->n : l->s.taps;
    struct real u, v, d, w[16];
    struct foot foot[16] = {0};
    int kind = 0;
    mpz_t fx, fy, x, y;

    if (count > 16) {
        l->a->flags |= FACET_UNSUP;
        count = 16;
    }
    real_init(&u);
    real_init(&v);
    real_init(&d);
    for (unsigned k = 0; k < 16; k++) {
        real_init(&w[k]);
    }
    mpz_inits(fx, fy, x, y, NULL);
    coordinate(l, &u, c->slot[0], 0);
    coordinate(l, &v, c->slot[1], 0);
    kind = u.cls == REAL_NAN || v.cls == REAL_NAN ? 2 : l->s.w == 0 || l->s.h == 0 ? 1 : 0;
    if (kind == 0) {
        fixed(fx, &u, l->s.norm, l->s.w, true);
        fixed(fy, &v, l->s.norm, l->s.h, true);
    }
    for (unsigned k = 0; kind == 0 && k < count; k++) {
        coordinate(l, &d, c->table[3 * k], c->s ? 1 : 2);
        foot[k].kind = d.cls == REAL_NAN ? 2 : 0;
        fixed(x, &d, false, 0, false);
        coordinate(l, &d, c->table[3 * k + 1], c->s ? 1 : 2);
        foot[k].kind = d.cls == REAL_NAN ? 2 : foot[k].kind;
        fixed(y, &d, false, 0, false);
        if (c->p) {
            coordinate(l, &w[k], c->table[3 * k + 2], 1);
        }
        if (foot[k].kind == 0) {
            mpz_add(x, x, fx);
            mpz_add(y, y, fy);
            clamp48(x);
            clamp48(y);
            place(l, &foot[k], x, y, c->filter, 0, 0);
        }
    }
    for (unsigned o = 0; o < 4; o++) {
        uint32_t t[16], acc = 0;

        if (kind == 2) {
            acc = nan_acc(l, &c->conv[o]);
        } else if (kind == 0 && count != 0) {
            for (unsigned k = 0; k < count; k++) {
                t[k] = filtered(l, &foot[k], o);
            }
            acc = combine(l, &c->conv[o], t, w, count);
        }
        write_out(l, o, acc, l->s.srgb, kind);
    }
    mpz_clears(fx, fy, x, y, NULL);
    mpq_clear(u.q);
    mpq_clear(v.q);
    mpq_clear(d.q);
    for (unsigned k = 0; k < 16; k++) {
        mpq_clear(w[k].q);
    }
}

void gfx_reference(const struct gfx_case *c, struct gfx_answer *answer)
{
    struct lane l = {c, answer, read_state(c)};
    struct channel ch;
    unsigned count;

    *answer = (struct gfx_answer){.flags = 0};
    channel_of(l.s.fmt, 0, &ch, &count);
    if (count == 0) {
        answer->reserved = true;
    } else if (c->gather) {
        gather(&l);
    } else {
        sample(&l);
    }
}
