/* Section 16 of the second formulation. */
#include "reference_internal.h"

#include <string.h>

void ref_cut(struct ref_draw *d, uint32_t xy, uint32_t wh)
{
    const int32_t x = (int16_t)(xy & 0xFFFF), y = (int16_t)(xy >> 16);
    const int32_t w = (int32_t)(wh & 0xFFFF), h = (int32_t)(wh >> 16);

    d->x0 = d->x0 < x ? x : d->x0;
    d->y0 = d->y0 < y ? y : d->y0;
    d->x1 = d->x1 > x + w ? x + w : d->x1;
    d->y1 = d->y1 > y + h ? y + h : d->y1;
}

void ref_state(struct ref_draw *d, const uint32_t *rstate)
{
    memset(d, 0, sizeof *d);
    d->rstate = rstate;
    d->x1 = (int32_t)(rstate[3] & 0xFFFF);
    d->y1 = (int32_t)(rstate[3] >> 16);
    if (rstate[12] & 1) {
        ref_cut(d, rstate[10], rstate[11]);
    }
}

/* ---- texels (11.2, 11.3) ---- */

static uint32_t wrapped(int64_t i, uint32_t size, uint32_t mode)
{
    if (mode == 1) {
        return (uint32_t)(((i % size) + size) % size);
    }
    return i < 0 ? 0 : i > (int64_t)size - 1 ? size - 1 : (uint32_t)i;
}

/* R, G, B, A */
static void texel(struct ref_card *card,
                  struct ref_draw *d,
                  const uint32_t *s,
                  int64_t u,
                  int64_t v,
                  uint32_t c[4])
{
    const uint32_t x = wrapped(u, s[2] & 0xFFFF, s[5] & 3);
    const uint32_t y = wrapped(v, s[3] & 0xFFFF, s[5] >> 2 & 3);
    const uint32_t format = s[4] & 3, size = format == 0 ? 2 : format == 1 ? 4 : 1;
    uint32_t t, swap;

    if (!ref_word(card, s[0] + y * s[1] + size * x, size, &t)) {
        d->bad_mem = true;
    }
    if (format == 2 && !ref_word(card, s[7] + 1024 * (s[4] >> 2 & 3) + 4 * t, 4, &t)) {
        d->bad_mem = true;
    }
    if (format == 0) {
        c[0] = t >> 11 & 31;
        c[1] = t >> 5 & 63;
        c[2] = t & 31;
        c[0] = c[0] * 8 + c[0] / 4;
        c[1] = c[1] * 4 + c[1] / 16;
        c[2] = c[2] * 8 + c[2] / 4;
        c[3] = 255;
    } else {
        c[0] = t >> 16 & 255;
        c[1] = t >> 8 & 255;
        c[2] = t & 255;
        c[3] = t >> 24;
    }
    switch (s[4] >> 4 & 3) {
    case 1:
        swap = c[0];
        c[0] = c[2];
        c[2] = swap;
        break;
    case 2:
        c[3] = 255;
        break;
    case 3:
        c[1] = c[2] = c[0];
        c[3] = 255;
        break;
    }
}

static void sample(struct ref_card *card,
                   struct ref_draw *d,
                   const uint32_t *s,
                   uint32_t u,
                   uint32_t v,
                   uint32_t c[4])
{
    uint32_t t[2][2][4];
    int64_t x, y;

    if (d->rstate[12] & 16) {
        u = ref_mul(u, ref_int(s[2] & 0xFFFF));
        v = ref_mul(v, ref_int(s[3] & 0xFFFF));
    }
    if ((s[6] & 3) != 1) {
        texel(card, d, s, ref_floor(u), ref_floor(v), c);
        return;
    }
    x = ref_floor(ref_mul(u, 0x43800000)) - 128;
    y = ref_floor(ref_mul(v, 0x43800000)) - 128;
    const int64_t fx = (x % 256 + 256) % 256, fy = (y % 256 + 256) % 256;

    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            texel(card, d, s, (x - fx) / 256 + i, (y - fy) / 256 + j, t[j][i]);
        }
    }
    for (int k = 0; k < 4; k++) {
        const int64_t sum = t[0][0][k] * (256 - fx) * (256 - fy) + t[0][1][k] * fx * (256 - fy) +
                            t[1][0][k] * (256 - fx) * fy + t[1][1][k] * fx * fy;

        c[k] = (uint32_t)((sum + 32768) / 65536);
    }
}

/* ---- pixels ---- */

/* x / 255 to the nearest; a tie cannot happen. */
static uint32_t over255(uint32_t x)
{
    return (2 * x + 255) / 510;
}

struct pixel {
    int32_t x, y;
    uint32_t z; /* FP32 bits before the clamp */
};

/* 16.7: are all bytes there? */
static bool
present(struct ref_card *card, struct ref_draw *d, const struct pixel *p, uint32_t at[2])
{
    const uint32_t *s = d->rstate;
    const uint32_t cb = (s[2] & 255) == 0 ? 2 : 4, db = (s[6] & 255) == 1 ? 2 : 4;
    uint32_t ignore;

    at[0] = s[0] + (uint32_t)p->y * s[1] + (uint32_t)p->x * cb;
    at[1] = s[4] + (uint32_t)p->y * s[5] + (uint32_t)p->x * db;
    return ref_word(card, at[0], cb, &ignore) && (!d->depth || ref_word(card, at[1], db, &ignore));
}

static void store(struct ref_card *card, uint32_t at, unsigned bytes, uint32_t value)
{
    for (unsigned i = 0; i < bytes; i++) {
        card->vram[at - 0x80000000u + i] = (uint8_t)(value >> 8 * i);
    }
}

static bool depth_passes(struct ref_card *card, struct ref_draw *d, uint32_t z, uint32_t at)
{
    const uint32_t format = d->rstate[6] & 255, bytes = format == 1 ? 2 : 4;
    uint32_t stored, value;
    bool pass = false;

    if (ref_is_nan(z) || ref_less_equal(z, 0)) {
        z = 0;
    } else if (ref_less(REF_ONE, z)) {
        z = REF_ONE;
    }
    value = format == 1 ? (uint32_t)ref_floor(ref_add(ref_mul(z, 0x477FFF00), 0x3F000000)) : z;
    (void)ref_word(card, at, bytes, &stored);
    switch (d->rstate[6] >> 8 & 7) {
    case 1:
        pass = value < stored;
        break;
    case 2:
        pass = value == stored;
        break;
    case 3:
        pass = value <= stored;
        break;
    case 4:
        pass = value > stored;
        break;
    case 5:
        pass = value != stored;
        break;
    case 6:
        pass = value >= stored;
        break;
    case 7:
        pass = true;
        break;
    }
    if (pass && (d->rstate[12] & 8) == 0) {
        store(card, at, bytes, value);
    }
    return pass;
}

static void write_color(struct ref_card *card, struct ref_draw *d, uint32_t at, const uint32_t c[4])
{
    const bool small = (d->rstate[2] & 255) == 0;
    uint32_t old, dst[4], out[4];

    (void)ref_word(card, at, small ? 2 : 4, &old);
    if (small) {
        dst[0] = (old >> 11) * 8 + (old >> 11) / 4;
        dst[1] = (old >> 5 & 63) * 4 + (old >> 5 & 63) / 16;
        dst[2] = (old & 31) * 8 + (old & 31) / 4;
        dst[3] = 255;
    } else {
        dst[0] = old >> 16 & 255;
        dst[1] = old >> 8 & 255;
        dst[2] = old & 255;
        dst[3] = old >> 24;
    }
    for (int k = 0; k < 4; k++) {
        switch (d->blend) {
        case 0:
            out[k] = c[k];
            break;
        case 1:
            out[k] = over255((k == 3 ? 255 : c[k]) * c[3] + dst[k] * (255 - c[3]));
            break;
        default:
            out[k] = c[k] + dst[k] > 255 ? 255 : c[k] + dst[k];
            break;
        }
    }
    if (small) {
        store(card, at, 2, out[0] / 8 * 2048 + out[1] / 4 * 32 + out[2] / 8);
    } else {
        store(card, at, 4, out[3] << 24 | out[0] << 16 | out[1] << 8 | out[2]);
    }
}

/* ---- triangles ---- */

typedef __int128 wide;

struct point {
    int64_t x, y;
};

static wide side(struct point a, struct point b, struct point p)
{
    return (wide)(b.x - a.x) * (p.y - a.y) - (wide)(b.y - a.y) * (p.x - a.x);
}

/* Is p, moved right by a tiny and down by a tinier amount, strictly on the inner side? Exactly the
 * points on left and top edges move inside. */
static bool inner(struct point a, struct point b, struct point p)
{
    const wide e = side(a, b, p);

    if (e != 0) {
        return e > 0;
    }
    return a.y != b.y ? a.y > b.y : b.x > a.x;
}

static uint32_t weigh(uint32_t b1, uint32_t b2, uint32_t a0, uint32_t a1, uint32_t a2)
{
    return ref_fma(b2, ref_sub(a2, a0), ref_fma(b1, ref_sub(a1, a0), a0));
}

static void shade(struct ref_card *card,
                  struct ref_draw *d,
                  const struct ref_vertex *const v[3],
                  bool perspective,
                  const int64_t e[3],
                  int64_t a2,
                  int32_t x,
                  int32_t y)
{
    struct pixel p = {x, y, 0};
    uint32_t f[3], b1, b2, at[2], c[4];
    const uint32_t inv = ref_div(REF_ONE, ref_int(a2));

    if (!present(card, d, &p, at)) {
        d->bad_mem = true;
        return;
    }
    for (int i = 0; i < 3; i++) {
        f[i] = ref_int(e[i]);
    }
    b1 = ref_mul(f[1], inv);
    b2 = ref_mul(f[2], inv);
    p.z = weigh(b1, b2, v[0]->z, v[1]->z, v[2]->z);
    if (d->depth && !depth_passes(card, d, p.z, at[1])) {
        return;
    }
    if (perspective) {
        uint32_t q[3], sum;

        for (int i = 0; i < 3; i++) {
            q[i] = ref_mul(f[i], ref_div(REF_ONE, v[i]->w));
        }
        sum = ref_add(ref_add(q[0], q[1]), q[2]);
        b1 = ref_div(q[1], sum);
        b2 = ref_div(q[2], sum);
    }
    for (int k = 0; k < 4; k++) {
        c[k] = d->solid ? d->color >> (k == 3 ? 24 : 16 - 8 * k) & 255
                        : ref_u8(weigh(b1, b2, v[0]->c[k], v[1]->c[k], v[2]->c[k]));
    }
    if (d->textured) {
        uint32_t t[4];

        sample(card,
               d,
               card->samplers[d->rstate[9] & 31],
               weigh(b1, b2, v[0]->u, v[1]->u, v[2]->u),
               weigh(b1, b2, v[0]->v, v[1]->v, v[2]->v),
               t);
        for (int k = 0; k < 4; k++) {
            c[k] = over255(t[k] * c[k]);
        }
    }
    write_color(card, d, at[0], c);
}

static bool good_w(uint32_t w)
{
    return !ref_is_nan(w) && w != 0x7F800000 && ref_less(0, w);
}

enum ref_outcome
ref_triangle(struct ref_card *card, struct ref_draw *d, const struct ref_vertex corner[3])
{
    const struct ref_vertex *v[3] = {&corner[0], &corner[1], &corner[2]};
    struct point p[3];
    bool perspective, in_range = true;
    wide area;

    for (int i = 0; i < 3; i++) {
        in_range &= ref_snap(v[i]->x, &p[i].x);
        in_range &= ref_snap(v[i]->y, &p[i].y);
    }
    if (!in_range) {
        return REF_RANGE;
    }
    area = side(p[0], p[1], p[2]);
    if (area == 0 || (area > 0 && d->cull == 1) || (area < 0 && d->cull == 2)) {
        return REF_NOTHING;
    }
    if (area < 0) {
        const struct ref_vertex *t = v[1];
        const struct point q = p[1];

        v[1] = v[2];
        v[2] = t;
        p[1] = p[2];
        p[2] = q;
        area = -area;
    }
    perspective = !d->affine && !(v[0]->w == v[1]->w && v[1]->w == v[2]->w);
    if (perspective && !(good_w(v[0]->w) && good_w(v[1]->w) && good_w(v[2]->w))) {
        return REF_RANGE;
    }
    for (int32_t y = d->y0; y < d->y1; y++) {
        for (int32_t x = d->x0; x < d->x1; x++) {
            const struct point centre = {256 * (int64_t)x + 128, 256 * (int64_t)y + 128};

            if (inner(p[1], p[2], centre) && inner(p[2], p[0], centre) &&
                inner(p[0], p[1], centre)) {
                const int64_t e[3] = {(int64_t)side(p[1], p[2], centre),
                                      (int64_t)side(p[2], p[0], centre),
                                      (int64_t)side(p[0], p[1], centre)};

                shade(card, d, v, perspective, e, (int64_t)area, x, y);
            }
        }
    }
    return REF_NOTHING;
}

/* ---- RDRAW and RRECT ---- */

static void from_flags(struct ref_draw *d, const uint32_t *rstate, uint32_t flags)
{
    const uint32_t select = flags >> 3 & 3;

    ref_state(d, rstate);
    if (rstate[14] != 0) {
        ref_cut(d, rstate[13], rstate[14]);
    }
    d->textured = (flags & 2) != 0 && (rstate[12] & 2) != 0;
    d->depth =
        (flags & 4) != 0 && (rstate[12] & 4) != 0 && rstate[4] != 0 && (rstate[6] & 255) != 0;
    d->blend = select != 0 ? select - 1 : rstate[7] & 255;
}

struct ref_reports ref_rdraw(struct ref_card *card,
                             const uint32_t rstate[16],
                             uint32_t flags,
                             const uint32_t block[24])
{
    struct ref_reports r = {0, 0};
    struct ref_vertex v[3];
    struct ref_draw d;

    from_flags(&d, rstate, flags);
    d.affine = (flags & 64) != 0;
    d.solid = (flags & (32 | 128)) != 0;
    d.color = flags & 128 ? rstate[8] : block[6];
    for (int i = 0; i < 3; i++) {
        const uint32_t *b = block + 8 * i;

        v[i] = (struct ref_vertex){b[0],
                                   b[1],
                                   b[2],
                                   b[3],
                                   b[4],
                                   b[5],
                                   {ref_int(b[6] >> 16 & 255),
                                    ref_int(b[6] >> 8 & 255),
                                    ref_int(b[6] & 255),
                                    ref_int(b[6] >> 24)}};
    }
    if (ref_triangle(card, &d, v) == REF_RANGE) {
        ref_report(&r, 7);
    }
    if (d.bad_mem) {
        ref_report(&r, 2);
    }
    return r;
}

struct ref_reports
ref_rrect(struct ref_card *card, const uint32_t rstate[16], uint32_t flags, const uint32_t words[4])
{
    const int64_t rx = (int16_t)(words[1] & 0xFFFF), ry = (int16_t)(words[1] >> 16);
    const int64_t rw = words[2] & 0xFFFF, rh = words[2] >> 16;
    const uint32_t *s = card->samplers[rstate[9] & 31];
    const int64_t tw = s[2] & 0xFFFF, th = s[3] & 0xFFFF;
    struct ref_reports r = {0, 0};
    struct ref_draw d;

    from_flags(&d, rstate, flags);
    for (int32_t y = d.y0; y < d.y1; y++) {
        for (int32_t x = d.x0; x < d.x1; x++) {
            struct pixel p = {x, y, rstate[15]};
            const uint32_t fill = flags & 128 ? rstate[8] : words[3];
            uint32_t c[4] = {fill >> 16 & 255, fill >> 8 & 255, fill & 255, fill >> 24}, at[2];

            if (x < rx || x >= rx + rw || y < ry || y >= ry + rh) {
                continue;
            }
            if (!present(card, &d, &p, at)) {
                d.bad_mem = true;
                continue;
            }
            if (d.depth && !depth_passes(card, &d, p.z, at[1])) {
                continue;
            }
            if (d.textured && (flags & 64) != 0) {
                texel(card,
                      &d,
                      s,
                      ((2 * (x - rx) + 1) * tw) / (2 * rw),
                      ((2 * (y - ry) + 1) * th) / (2 * rh),
                      c);
            } else if (d.textured) {
                texel(card,
                      &d,
                      s,
                      (int16_t)(words[3] & 0xFFFF) + (x - rx),
                      (int16_t)(words[3] >> 16) + (y - ry),
                      c);
            }
            write_color(card, &d, at[0], c);
        }
    }
    if (d.bad_mem) {
        ref_report(&r, 2);
    }
    return r;
}
