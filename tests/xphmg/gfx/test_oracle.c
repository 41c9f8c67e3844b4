/* INTERP, SHADE, LUT and CULL against a second evaluation that shares no code with the library: the
 * host's own binary32 arithmetic (round to nearest, fused multiply-add), and for integer
 * accumulators weighted sums in 128 bits, rounded once. */
#include "base/float.h"
#include "xphmg/gfx/gfx_test.h"

#include <math.h>
#include <stdio.h>

__extension__ typedef __int128 wide;

/* Numbers of ordinary size, some of them round. */
static float number(void)
{
    uint64_t r = harness_random();

    return r % 7 == 0 ? (float)(int)(r >> 8 & 7) - 3 : (float)((double)(r >> 20) / (1u << 30) - 8);
}

static float fraction(void)
{
    uint64_t r = harness_random();

    return r % 5 == 0   ? (float)(r >> 8 & 1)
           : r % 5 == 1 ? (float)(r >> 8 & 255) / 256
                        : (float)((double)(r >> 30) / UINT64_C(0x400000000));
}

static float lerp(float p, float q, float a)
{
    return a == 0 ? p : a == 1 ? q : fmaf(a, q - p, p);
}

static float bilerp(const float t[4], float a, float b)
{
    return lerp(lerp(t[0], t[1], a), lerp(t[2], t[3], a), b);
}

TEST(interp_on_the_host, "GFX-160 GFX-157 GFX-158 GFX-159")
{
    struct guest *g = gfx_make();

    set_cfg(g, EN | AMEM | BMEM | DMEM);
    for (unsigned round = 0; round < 4000 && !harness_failed(); round++) {
        unsigned m = round & 1, p = round >> 1 & 1, b = round >> 2 & 1, nch = 1 + (round >> 3 & 3);
        float taps[16], a[12], bias[4];

        for (unsigned k = 0; k < 16; k++) {
            taps[k] = number();
            guest_store(g, MEM_R + 4 * k, 4, facet_float_bits(taps[k]));
        }
        for (unsigned k = 0; k < 12; k++) {
            a[k] = k < 4 ? fraction() : k < 8 ? fabsf(number()) + 0.25f : fraction();
            guest_store(g, MEM_A + 4 * k, 4, facet_float_bits(a[k]));
        }
        for (unsigned k = 0; k < 4; k++) {
            bias[k] = number();
            guest_store(g, MEM_B + 4 * k, 4, facet_float_bits(bias[k]));
        }
        g->hart->x[8] = MEM_A, g->hart->x[20] = MEM_B, g->hart->x[9] = MEM_R;
        guest_ok(g, "GFX.INTERP x9, x8, M=%u, P=%u, B=%u, nc=%u\n", m, p, b, nch - 1);
        for (unsigned c = 0; c < nch; c++) {
            float t[4], result;

            for (unsigned j = 0; j < 4; j++) {
                t[j] = taps[j * nch + c];
                if (p != 0 && c < 3) {
                    t[j] = t[j] * (nch == 4 ? taps[j * 4 + 3] : a[8 + j]);
                }
                if (m != 0) {
                    t[j] = t[j] * a[4 + j];
                }
            }
            result = bilerp(t, a[2], a[3]);
            if (m != 0) {
                result = result / bilerp(a + 4, a[2], a[3]);
            }
            if (b != 0) {
                result = result + bias[c];
            }
            CHECK_MSG(guest_load(g, MEM_R + 4 * (4 * nch + c), 4) == facet_float_bits(result),
                      "M=%u P=%u B=%u NCH=%u channel %u: %08llx, expected %08x",
                      m,
                      p,
                      b,
                      nch,
                      c,
                      (unsigned long long)guest_load(g, MEM_R + 4 * (4 * nch + c), 4),
                      facet_float_bits(result));
        }
    }
    guest_free(g);
}

static float dot(const float *a, const float *b, unsigned n)
{
    float acc = a[0] * b[0];

    for (unsigned k = 1; k < n; k++) {
        acc = fmaf(a[k], b[k], acc);
    }
    return acc;
}

TEST(shade_on_the_host, "GFX-165 GFX-166 GFX-167 GFX-168 GFX-169 GFX-170")
{
    struct guest *g = gfx_make();

    set_cfg(g, EN | FREG);
    for (unsigned round = 0; round < 6000 && !harness_failed(); round++) {
        unsigned oo = round & 3, l = round >> 2 & 1, n = round >> 3 & 1, nch = 1 + (round >> 4 & 3);
        unsigned results = oo == 3 ? 1 : nch;
        float r[8], normal[3], light[3], v[4];

        for (unsigned k = 0; k < 8; k++) {
            r[k] = number();
            g->hart->f[16 + k] = facet_float_bits(r[k]);
        }
        for (unsigned k = 0; k < 3; k++) {
            normal[k] = number();
            light[k] = number();
            g->hart->f[8 + k] = facet_float_bits(normal[k]);
            g->hart->f[12 + k] = facet_float_bits(light[k]);
        }
        guest_ok(g, "GFX.SHADE f16, f8, OO=%u, L=%u, N=%u, nc=%u\n", oo, l, n, nch % 4);
        if (l != 0) {
            float d = dot(normal, light, 3);

            for (unsigned k = 0; k < nch && k < 3; k++) {
                r[4 + k] = r[4 + k] * (d > 0 ? d : 0);
            }
        }
        for (unsigned k = 0; k < nch; k++) {
            v[k] = oo == 0 ? r[k] + r[4 + k] : oo == 1 ? r[k] - r[4 + k] : r[k] * r[4 + k];
        }
        if (oo == 3) {
            v[0] = dot(r, r + 4, nch);
        }
        if (n != 0) {
            float s = dot(v, v, results), k = s == 0 ? 0 : 1 / sqrtf(s);

            for (unsigned i = 0; i < results; i++) {
                v[i] = s == 0 ? 0 : v[i] * k;
            }
        }
        for (unsigned k = 0; k < results; k++) {
            CHECK_MSG((uint32_t)g->hart->f[16 + k] == facet_float_bits(v[k]),
                      "OO=%u L=%u N=%u NCH=%u channel %u: %08x, expected %08x",
                      oo,
                      l,
                      n,
                      nch,
                      k,
                      (uint32_t)g->hart->f[16 + k],
                      facet_float_bits(v[k]));
        }
    }
    guest_free(g);
}

/* Index below and fraction, on the host. */
static unsigned index_of(float x, unsigned size, bool norm, bool linear, float *frac)
{
    float last = (float)(size - 1);

    x = norm ? x * last : x;
    x = x < 0 ? 0 : x > last ? last : x;
    *frac = linear ? x - floorf(x) : 0;
    return (unsigned)(linear ? floorf(x) : floor((double)x + 0.5));
}

TEST(lut_on_the_host, "GFX-208 GFX-209 GFX-088 GFX-213 GFX-090 GFX-091")
{
    struct guest *g = gfx_make();
    static float table[40000];

    set_cfg(g, EN);
    guest_csrw(g, FACET_CSR_GFXLUTBASE, GUEST_DATA + 0x40000);
    for (unsigned k = 0; k < 40000; k++) {
        table[k] = number();
        guest_store(g, GUEST_DATA + 0x40000 + 4 * k, 4, facet_float_bits(table[k]));
    }
    for (unsigned round = 0; round < 4000 && !harness_failed(); round++) {
        unsigned three = round & 1, linear = round >> 1 & 1, c = round >> 2 & 1;
        unsigned norm = round >> 3 & 1, plus = round >> 4 & 1, outputs = 3 + c;
        unsigned log2[3], size[3], at[4], start = 0;
        float in[4], frac[4];

        for (unsigned k = 0; k < 3; k++) {
            log2[k] = (unsigned)(harness_random() % (three != 0 ? 5 : 9));
            size[k] = (1u << log2[k]) + plus;
        }
        guest_csrw(g,
                   FACET_CSR_GFXLUTFMT,
                   log2[2] << 12 | log2[1] << 8 | log2[0] << 4 | plus << 3 | norm << 2 | three);
        for (unsigned k = 0; k < 4; k++) {
            in[k] = norm != 0 ? fraction() * 1.2f - 0.1f
                              : (float)size[k % 3] * (fraction() * 1.2f - 0.1f);
            g->hart->x[10 + k] = facet_float_bits(in[k]);
            at[k] = index_of(in[k], size[k % 3], norm != 0, linear != 0, &frac[k]);
        }
        guest_ok(g, "GFX.LUT%uD x16, x10, i=%u, c=%u\n", three != 0 ? 3 : 1, linear, c);
        for (unsigned o = 0; o < outputs; o++) {
            float want;

            if (three == 0) {
                const float *curve = table + start;

                want = frac[o] == 0 ? curve[at[o]] : lerp(curve[at[o]], curve[at[o] + 1], frac[o]);
                start += size[o % 3];
            } else {
                float t[8];

                for (unsigned k = 0; k < 8; k++) {
                    unsigned r = at[0] + ((k & 1) != 0 && frac[0] != 0),
                             gr = at[1] + ((k & 2) != 0 && frac[1] != 0),
                             b = at[2] + ((k & 4) != 0 && frac[2] != 0);

                    t[k] = table[((b * size[1] + gr) * size[0] + r) * outputs + o];
                }
                want = lerp(bilerp(t, frac[0], frac[1]), bilerp(t + 4, frac[0], frac[1]), frac[2]);
            }
            CHECK_MSG(g->hart->x[16 + o] == facet_float_bits(want),
                      "%uD i=%u norm=%u output %u: %08llx, expected %08x",
                      three != 0 ? 3u : 1u,
                      linear,
                      norm,
                      o,
                      (unsigned long long)g->hart->x[16 + o],
                      facet_float_bits(want));
        }
    }
    guest_free(g);
}

/* ---- integer accumulators --------------------------------------------------------------------
 */

static wide floor_shift(wide x, unsigned n)
{
    return x >> n;
}

static wide rounded(wide x, unsigned n, unsigned rm)
{
    wide low = floor_shift(x, n), rest = x - low * ((wide)1 << n), half = (wide)1 << (n - 1);

    switch (rm) {
    case 0: /* nearest even */
        return low + (rest > half || (rest == half && (low & 1) != 0));
    case 1: /* toward zero */
        return low + (x < 0 && rest != 0);
    case 3:
        return low + (rest != 0);
    case 4: /* ties away */
        return low + (rest > half || (rest == half && x >= 0));
    default:
        return low;
    }
}

/* A nest of lerps is a weighted sum of its corners, exact until one rounding. */
TEST(integer_interpolation_in_128_bits, "GFX-160 GFX-209 GFX-357")
{
    struct guest *g = gfx_make();

    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    set_cfg(g, EN | AMEM | DMEM);
    for (unsigned round = 0; round < 4000 && !harness_failed(); round++) {
        unsigned rm = round % 5, wide_elements = round >> 1 & 1, size = wide_elements != 0 ? 4 : 2;
        bool lut = (round & 1) != 0;
        int64_t t[8], f[3];
        wide sum = 0;
        int64_t want, got;

        set_mode(g, (wide_elements != 0 ? MODE_INT32 : MODE_INT16) | ACC_INT32 | MODE_RM(rm));
        for (unsigned k = 0; k < 8; k++) {
            t[k] = (int16_t)harness_random();
        }
        for (unsigned k = 0; k < 3; k++) { /* fractions in 8.8 or 16.16, here below 1 */
            f[k] = (int64_t)(harness_random() & (wide_elements != 0 ? 0xFFFF : 0xFF));
        }
        g->hart->x[8] = MEM_A;
        g->hart->x[9] = MEM_R;
        if (lut) { /* indices are integers: all weight on one entry, whatever the others hold */
            for (unsigned k = 0; k < 8; k++) {
                for (unsigned o = 0; o < 3; o++) {
                    guest_store(g, TABLE + (3 * k + o) * size, size, (uint64_t)t[k] + o);
                }
            }
            guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x1111);
            for (unsigned k = 0; k < 3; k++) {
                f[k] &= 1;
                guest_store(g, MEM_A + k * size, size, (uint64_t)f[k]);
            }
            guest_ok(g, "GFX.LUT3D x9, x8, i=1\n");
            want = t[f[0] + 2 * f[1] + 4 * f[2]];
        } else {
            unsigned frac_bits = wide_elements != 0 ? 16 : 8;

            for (unsigned k = 0; k < 4; k++) {
                guest_store(g, MEM_R + k * size, size, (uint64_t)t[k]);
                sum += (wide)((k & 1) != 0 ? f[0] : (1 << frac_bits) - f[0]) *
                       ((k & 2) != 0 ? f[1] : (1 << frac_bits) - f[1]) * t[k];
            }
            guest_store(g, MEM_A + 2 * size, size, (uint64_t)f[0]);
            guest_store(g, MEM_A + 3 * size, size, (uint64_t)f[1]);
            guest_ok(g, "GFX.INTERP x9, x8\n");
            want = (int64_t)rounded(sum, 2 * frac_bits, rm);
        }
        got = (int64_t)guest_load(g, MEM_R + (lut ? 0 : 4 * size), size);
        got = size == 2 ? (int16_t)got : (int32_t)got;
        CHECK_MSG(got == (size == 2 ? (int16_t)want : (int32_t)want),
                  "%s rm %u: %lld, expected %lld",
                  lut ? "LUT3D" : "INTERP",
                  rm,
                  (long long)got,
                  (long long)want);
    }
    guest_free(g);
}

/* LUT with fractions: units of 1/256, so an index has eight fraction bits. */
TEST(integer_tables_in_128_bits, "GFX-209")
{
    struct guest *g = gfx_make();

    guest_csrw(g, FACET_CSR_GFXLUTBASE, TABLE);
    for (unsigned round = 0; round < 3000 && !harness_failed(); round++) {
        unsigned rm = round % 5;
        int64_t t[8], x[3];
        wide sum = 0;

        set_mode(g, MODE_INT16 | ACC_INT32 | MODE_Q | MODE_SCALE(-8) | MODE_RM(rm));
        guest_csrw(g, FACET_CSR_GFXLUTFMT, 0x1111);
        for (unsigned k = 0; k < 8; k++) {
            t[k] = (int16_t)harness_random();
            for (unsigned o = 0; o < 3; o++) {
                guest_store(g, TABLE + (3 * k + o) * 2, 2, (uint64_t)t[k]);
            }
        }
        for (unsigned k = 0; k < 3; k++) { /* 0 .. 1 in 1/256 */
            x[k] = (int64_t)(harness_random() % 257);
            g->hart->x[10 + k] = (uint64_t)x[k];
        }
        for (unsigned k = 0; k < 8; k++) {
            sum += (wide)((k & 1) != 0 ? x[0] : 256 - x[0]) * ((k & 2) != 0 ? x[1] : 256 - x[1]) *
                   ((k & 4) != 0 ? x[2] : 256 - x[2]) * t[k];
        }
        guest_ok(g, "GFX.LUT3D x16, x10, i=1\n");
        CHECK_EQ((int16_t)g->hart->x[16], (int16_t)rounded(sum, 24, rm));
        CHECK_EQ((int16_t)g->hart->x[18], (int16_t)rounded(sum, 24, rm));
    }
    guest_free(g);
}
