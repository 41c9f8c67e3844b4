/* Section 17 of the second formulation: all vertices first, then all triangles, then their pixels;
 * only for draws that do not write what they read. */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

/* x y z w u v r g b a */
struct corner {
    uint32_t a[10];
};

struct element {
    bool restart, bad;
    struct corner v;
    uint32_t color;
};

struct job {
    struct ref_card *card;
    const uint32_t *rstate, *gstate, *gparam, *words;
    uint32_t normal[9], plane[4];
    uint32_t viewport_xy, viewport_wh;
    struct ref_reports reports;
    struct ref_draw draw;
    bool told;
};

static uint32_t chain(const uint32_t *row, const uint32_t *p, int n)
{
    uint32_t t = ref_mul(row[0], p[0]);

    for (int i = 1; i < n; i++) {
        t = ref_fma(row[i], p[i], t);
    }
    return t;
}

static uint32_t dot(const uint32_t a[3], const uint32_t b[3])
{
    return ref_fma(a[2], b[2], ref_fma(a[1], b[1], ref_mul(a[0], b[0])));
}

static void norm(const uint32_t a[3], uint32_t out[3])
{
    const uint32_t d = dot(a, a);

    for (int i = 0; i < 3; i++) {
        out[i] = ref_is_nan(d) || (d & 0x7FFFFFFF) == 0 ? 0 : ref_div(a[i], ref_sqrt(d));
    }
}

static uint32_t positive(uint32_t a)
{
    return ref_less(0, a) ? a : 0;
}

static uint32_t channel(uint32_t argb, int k)
{
    return argb >> (k == 3 ? 24 : 16 - 8 * k) & 255;
}

static uint32_t light(const struct job *j, const uint32_t n_in[3], const uint32_t base[4], int k)
{
    const uint32_t *gs = j->gstate, *l = gs + 21, byte = ref_int(255);
    const bool has_model = (j->gparam[15] & 1) != 0;
    uint32_t turned[3], n[3], nl, t, lc, ac, power = j->gparam[13] & 255;

    for (int i = 0; i < 3; i++) {
        turned[i] = gs[20] != 0 ? chain(&j->normal[3 * i], n_in, 3)
                    : has_model ? chain(&j->gparam[4 * i], n_in, 3)
                                : n_in[i];
    }
    norm(turned, n);
    nl = positive(dot(n, l));
    lc = ref_div(ref_int(channel(gs[24], k)), byte);
    ac = ref_div(ref_int(channel(gs[25], k)), byte);
    t = ref_mul(ref_int(base[k]), ref_fma(lc, nl, ac));
    if ((gs[3] & 64) != 0 && power > 0 && ref_less(0, nl)) {
        const uint32_t towards[3] = {l[0], l[1], ref_add(l[2], REF_ONE)};
        uint32_t h[3], b, s = REF_ONE;

        norm(towards, h);
        b = positive(dot(n, h));
        while (power != 0) {
            if (power % 2 == 1) {
                s = ref_mul(s, b);
            }
            b = ref_mul(b, b);
            power /= 2;
        }
        t = ref_fma(ref_mul(s, lc), ref_int(channel(j->gparam[14], k)), t);
    }
    return ref_u8(t);
}

static bool take(const struct job *j, uint32_t *at, unsigned bytes, uint32_t *out)
{
    const bool good = ref_word(j->card, *at, bytes, out);

    *at += bytes;
    return good;
}

/* Steps 2 to 4. */
static void fetch(const struct job *j, uint32_t number, struct element *e)
{
    const uint32_t *gs = j->gstate, format = gs[1];
    const bool assist = (j->words[5] & 4) != 0;
    uint32_t at = gs[0] + number * (format & 0xFFFF), p[4], n[3] = {0, 0, 0}, base[4], word = ~0u;
    bool good = true;

    memset(&e->v, 0, sizeof e->v);
    for (int i = 0; i < 4; i++) {
        good &= take(j, &at, 4, &p[i]);
    }
    for (int i = 0; i < 3 && (format & 1 << 16) != 0; i++) {
        good &= take(j, &at, 4, &n[i]);
    }
    for (int i = 0; i < 2 && (format & 1 << 17) != 0; i++) {
        if (format & 1 << 18) {
            good &= take(j, &at, 2, &e->v.a[4 + i]);
            e->v.a[4 + i] = ref_from_half(e->v.a[4 + i]);
        } else {
            good &= take(j, &at, 4, &e->v.a[4 + i]);
        }
    }
    if (format & 1 << 19) {
        good &= take(j, &at, 4, &word);
    }
    e->bad = !good;
    if (!assist && (j->gparam[15] & 1) != 0) {
        const uint32_t before[4] = {p[0], p[1], p[2], p[3]};

        for (int i = 0; i < 3; i++) {
            p[i] = chain(&j->gparam[4 * i], before, 4);
        }
    }
    for (int i = 0; i < 4; i++) {
        e->v.a[i] = assist ? p[i] : chain(&gs[4 + 4 * i], p, 4);
    }
    for (int k = 0; k < 4; k++) {
        base[k] = channel(word, k);
        if (!assist && (j->gparam[15] & 2) != 0) {
            base[k] = (2 * base[k] * channel(j->gparam[12], k) + 255) / 510;
        }
    }
    const bool lit = !assist && (gs[3] & 32) != 0 && (format & 1 << 16) != 0;
    uint32_t final[4];

    for (int k = 0; k < 4; k++) {
        final[k] = lit && k < 3 ? light(j, n, base, k) : base[k];
        e->v.a[6 + k] = ref_int(final[k]);
    }
    e->color = final[3] << 24 | final[0] << 16 | final[1] << 8 | final[2];
}

static struct element element_at(const struct job *j, uint32_t k)
{
    const uint32_t size = (j->gstate[3] & 1) != 0 ? 4 : 2;
    struct element e = {false, false, {{0}}, 0};
    uint32_t raw = k;

    if (j->words[5] & 1) {
        if (!ref_word(j->card, j->gstate[2] + (j->words[1] + k) * size, size, &raw)) {
            e.bad = true;
            return e;
        }
        if ((j->words[5] & 8) != 0 && raw == (size == 4 ? 0xFFFFFFFFu : 0xFFFFu)) {
            e.restart = true;
            return e;
        }
    }
    fetch(j, raw + j->words[0], &e);
    return e;
}

/* ---- step 6 ---- */

static uint32_t distance(const struct job *j, int plane, const struct corner *c)
{
    const uint32_t x = c->a[0], y = c->a[1], z = c->a[2], w = c->a[3];
    uint32_t g = j->gstate[27];

    if (!(ref_less_equal(REF_ONE, g) && ref_less_equal(g, 0x47800000))) {
        g = REF_ONE;
    }
    switch (plane) {
    case 0:
        return ref_sub(w, 0x35800000);
    case 1:
        return z;
    case 2:
        return ref_sub(w, z);
    case 3:
        return ref_fma(g, w, x);
    case 4:
        return ref_fma(g, w, ref_neg(x));
    case 5:
        return ref_fma(g, w, y);
    case 6:
        return ref_fma(g, w, ref_neg(y));
    default:
        return ref_fma(j->plane[3],
                       w,
                       ref_fma(j->plane[2], z, ref_fma(j->plane[1], y, ref_mul(j->plane[0], x))));
    }
}

static int clip(const struct job *j, struct corner *poly, int n)
{
    const int planes = (j->gstate[3] & 16) != 0 ? 8 : 7;
    struct corner out[128];

    for (int plane = 0; plane < planes; plane++) {
        int m = 0;

        for (int i = 0; i < n; i++) {
            const struct corner *cur = &poly[i], *next = &poly[(i + 1) % n];
            const uint32_t dc = distance(j, plane, cur), dn = distance(j, plane, next);
            const bool ci = ref_less_equal(0, dc), ni = ref_less_equal(0, dn);

            if (ci) {
                out[m++] = *cur;
            }
            if (ci != ni) {
                const struct corner *in = ci ? cur : next, *away = ci ? next : cur;
                const uint32_t di = ci ? dc : dn, dout = ci ? dn : dc;
                const uint32_t t = ref_div(di, ref_sub(di, dout));

                for (int k = 0; k < 10; k++) {
                    out[m].a[k] = ref_fma(t, ref_sub(away->a[k], in->a[k]), in->a[k]);
                }
                m++;
            }
        }
        if (m < 3) {
            return 0;
        }
        memcpy(poly, out, (size_t)m * sizeof out[0]);
        n = m;
    }
    return n;
}

/* ---- steps 7 to 9 ---- */

static void project(const struct job *j, const struct corner *c, struct ref_vertex *v)
{
    const uint32_t r = ref_div(REF_ONE, c->a[3]), half = 0x3F000000;
    const uint32_t hw = ref_mul(ref_int(j->viewport_wh & 0xFFFF), half);
    const uint32_t hh = ref_mul(ref_int(j->viewport_wh >> 16), half);
    const uint32_t vx = ref_int((int16_t)(j->viewport_xy & 0xFFFF));
    const uint32_t vy = ref_int((int16_t)(j->viewport_xy >> 16));

    v->x = ref_fma(ref_mul(c->a[0], r), hw, ref_add(vx, hw));
    v->y = ref_fma(ref_neg(ref_mul(c->a[1], r)), hh, ref_add(vy, hh));
    v->z = ref_mul(c->a[2], r);
    v->w = c->a[3];
    v->u = c->a[4];
    v->v = c->a[5];
    memcpy(v->c, &c->a[6], sizeof v->c);
}

static void triangle(struct job *j,
                     const struct element *a,
                     const struct element *b,
                     const struct element *c,
                     const struct element *provoking)
{
    const uint32_t select = j->words[5] >> 6 & 3;
    const bool clips = select == 1 || (select != 2 && (j->gstate[3] & 8) != 0);
    struct corner poly[128] = {a->v, b->v, c->v};
    struct ref_vertex v[3];
    int n = 3;

    if (a->bad || b->bad || c->bad) {
        ref_report(&j->reports, 6);
        return;
    }
    if (clips) {
        n = clip(j, poly, 3);
    } else if (!ref_less_equal(0x35800000, poly[0].a[3]) ||
               !ref_less_equal(0x35800000, poly[1].a[3]) ||
               !ref_less_equal(0x35800000, poly[2].a[3])) {
        return;
    }
    j->draw.solid = (j->words[5] & 2) != 0;
    j->draw.color = provoking->color;
    for (int i = 1; i + 1 < n; i++) {
        project(j, &poly[0], &v[0]);
        project(j, &poly[i], &v[1]);
        project(j, &poly[i + 1], &v[2]);
        if (ref_triangle(j->card, &j->draw, v) == REF_RANGE) {
            ref_report(&j->reports, 7);
        }
        if (j->draw.bad_mem && !j->told) {
            ref_report(&j->reports, 2);
            j->told = true;
        }
    }
}

static void prepare(struct job *j)
{
    const uint32_t *rs = j->rstate, *gs = j->gstate;
    const uint32_t cull = j->words[5] >> 4 & 3;

    ref_state(&j->draw, rs);
    j->viewport_xy = gs[29] != 0 ? gs[28] : rs[14] != 0 ? rs[13] : 0;
    j->viewport_wh = gs[29] != 0 ? gs[29] : rs[14] != 0 ? rs[14] : rs[3];
    ref_cut(&j->draw, j->viewport_xy, j->viewport_wh);
    if (gs[3] & 128) {
        ref_cut(&j->draw, gs[30], gs[31]);
    }
    j->draw.textured = (rs[12] & 2) != 0;
    j->draw.depth = (rs[12] & 4) != 0 && rs[4] != 0 && (rs[6] & 255) != 0;
    j->draw.blend = rs[7] & 255;
    j->draw.affine = (j->words[5] & 256) != 0;
    j->draw.cull = cull == 0 ? gs[3] >> 1 & 3 : cull;
    for (int i = 0; i < 9 && gs[20] != 0; i++) {
        (void)ref_word(j->card, gs[20] + 4 * (uint32_t)i, 4, &j->normal[i]);
    }
    for (int i = 0; i < 4 && (gs[3] & 16) != 0; i++) {
        (void)ref_word(j->card, gs[26] + 4 * (uint32_t)i, 4, &j->plane[i]);
    }
}

struct ref_reports ref_gdraw(struct ref_card *card,
                             const uint32_t rstate[16],
                             const uint32_t gstate[32],
                             const uint32_t gparam[16],
                             const uint32_t words[6])
{
    struct job j = {
        .card = card, .rstate = rstate, .gstate = gstate, .gparam = gparam, .words = words};
    struct element *e = calloc(words[2] + 1u, sizeof *e);
    uint32_t first = 0; /* after the last restart */

    prepare(&j);
    for (uint32_t k = 0; k < words[2]; k++) {
        e[k] = element_at(&j, k);
    }
    for (uint32_t k = 0; k < words[2]; k++) {
        const uint32_t n = k - first + 1;

        if (e[k].restart) {
            first = k + 1;
        } else if (words[3] == 0 && n % 3 == 0) {
            triangle(&j, &e[k - 2], &e[k - 1], &e[k], &e[k - 2]);
        } else if (words[3] == 1 && n >= 3) {
            if ((n - 3) % 2 == 0) {
                triangle(&j, &e[k - 2], &e[k - 1], &e[k], &e[k - 2]);
            } else {
                triangle(&j, &e[k - 1], &e[k - 2], &e[k], &e[k - 2]);
            }
        }
    }
    free(e);
    return j.reports;
}
