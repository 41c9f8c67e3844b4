/* What the GFX and MTX instructions of the rasteriser do, in plain C: FP32 elements and
 * accumulator, rounded to nearest, every operation in the instruction's order (gfx-semantics.md).
 * guest/gfx/unit.c is the other half of the pair; the pictures of both are equal to the bit. */
#include "guest/gfx/rasteriser.h"

#include "num/srgb.h"

#include <math.h>
#include <string.h>

void facet_guest_gfx_unit_open(struct facet_guest_gfx_unit *unit, const float *lut)
{
    memset(unit, 0, sizeof *unit);
    unit->lut = lut;
}

static float dot4(const float *a, float x, float y, float z, float w)
{
    return fmaf(a[3], w, fmaf(a[2], z, fmaf(a[1], y, a[0] * x)));
}

/* ---- MTX (16.4) ---- */

void facet_guest_gfx_unit_matrix(struct facet_guest_gfx_unit *unit,
                                 unsigned bank,
                                 const float rows[16])
{
    memcpy(unit->matrix[bank], rows, sizeof unit->matrix[bank]);
}

void facet_guest_gfx_unit_transform(const struct facet_guest_gfx_unit *unit,
                                    unsigned bank,
                                    const float (*in)[4],
                                    float (*out)[4],
                                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned r = 0; r < 4; r++) {
            out[i][r] =
                dot4(unit->matrix[bank] + (size_t)4 * r, in[i][0], in[i][1], in[i][2], in[i][3]);
        }
    }
}

/* ---- culling (15) ---- */

void facet_guest_gfx_unit_planes(struct facet_guest_gfx_unit *unit, const float planes[6][4])
{
    memcpy(unit->planes, planes, sizeof unit->planes);
}

static bool
box_touches(const struct facet_guest_gfx_unit *unit, const facet_guest_gfx_slot *box, uint64_t i)
{
    const float *m = unit->matrix[FACET_GUEST_GFX_TO_CLIP];
    unsigned inside = 0; /* a bit per plane: some corner is inside */

    for (unsigned q = 0; q < 8; q++) {
        float x = box[(q & 1) != 0 ? 3 : 0][i], y = box[(q & 2) != 0 ? 4 : 1][i];
        float z = box[(q & 4) != 0 ? 5 : 2][i];
        float u[4];

        for (unsigned r = 0; r < 4; r++) {
            u[r] = dot4(m + (size_t)4 * r, x, y, z, 1.0F);
        }
        for (unsigned p = 0; p < 6; p++) {
            inside |= (unsigned)(dot4(unit->planes[p], u[0], u[1], u[2], u[3]) <= 0.0F) << p;
        }
    }
    return inside == 63;
}

uint64_t facet_guest_gfx_unit_boxes(const struct facet_guest_gfx_unit *unit,
                                    const facet_guest_gfx_slot *box,
                                    uint64_t lanes)
{
    uint64_t found = 0;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        found |= (uint64_t)box_touches(unit, box, i) << i;
    }
    return found;
}

uint64_t facet_guest_gfx_unit_triangles(const struct facet_guest_gfx_unit *unit,
                                        const facet_guest_gfx_slot *corners,
                                        uint64_t lanes)
{
    uint64_t found = 0;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        unsigned outside = 0;

        for (unsigned p = 0; p < 6; p++) {
            unsigned count = 0;

            for (unsigned k = 0; k < 3; k++) {
                const facet_guest_gfx_slot *c = corners + (size_t)4 * k;

                count += !(dot4(unit->planes[p], c[0][i], c[1][i], c[2][i], c[3][i]) <= 0.0F);
            }
            outside |= (unsigned)(count == 3);
        }
        found |= (uint64_t)(outside == 0) << i;
    }
    return found;
}

uint32_t facet_guest_gfx_unit_list(const struct facet_guest_gfx_unit *unit,
                                   uint64_t lanes,
                                   uint32_t list[64])
{
    uint32_t count = 0;

    (void)unit;
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        list[count++] = (uint32_t)i;
    }
    return count;
}

/* ---- depth (12) ---- */

uint64_t facet_guest_gfx_unit_depth(struct facet_guest_gfx_unit *unit,
                                    const struct facet_guest_gfx_depths *depths,
                                    uint64_t lanes,
                                    bool write)
{
    uint32_t x = depths->pixel & 0xFFFF, y = (uint32_t)(depths->pixel >> 16);
    uint64_t passed = 0;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float *at = &unit->depth[FACET_BUCKET * (y + i / FACET_GUEST_GFX_BLOCK) + x +
                                 i % FACET_GUEST_GFX_BLOCK];

        if (depths->z[i] > *at) {
            passed |= UINT64_C(1) << i;
            *at = write ? depths->z[i] : *at;
        }
    }
    return passed;
}

/* ---- interpolation (4.3, 9) ---- */

static float lerp(float p, float q, float a)
{
    return a == 0.0F ? p : a == 1.0F ? q : fmaf(a, q - p, p);
}

static float bilerp(const float t[4], float a, float b)
{
    return lerp(lerp(t[0], t[1], a), lerp(t[2], t[3], a), b);
}

void facet_guest_gfx_unit_interpolate(const struct facet_guest_gfx_unit *unit,
                                      struct facet_guest_gfx_taps *taps,
                                      unsigned channels,
                                      uint64_t lanes)
{
    (void)unit;
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float a = taps->a[2][i], b = taps->a[3][i], q[4], t[4];

        for (unsigned c = 0; c < channels; c++) {
            for (unsigned j = 0; j < 4; j++) {
                q[j] = taps->a[4 + j][i];
                t[j] = taps->r[j * channels + c][i] * q[j];
            }
            taps->r[4 * channels + c][i] = bilerp(t, a, b) / bilerp(q, a, b);
        }
    }
}

/* ---- sampling (6, 7) ---- */

void facet_guest_gfx_unit_texture(struct facet_guest_gfx_unit *unit,
                                  const struct facet_scene_texture *texture,
                                  enum facet_wrap wrap)
{
    unit->texture = texture;
    unit->wrap = wrap;
}

static int64_t position(float c, uint32_t size)
{
    double x = floor((double)c * (double)size * 65536.0);

    return x < -0x1p47        ? -(INT64_C(1) << 47)
           : x > 0x1p47 - 1.0 ? (INT64_C(1) << 47) - 1
                              : (int64_t)x;
}

static uint32_t wrap_index(enum facet_wrap wrap, int64_t i, int64_t size)
{
    int64_t m;

    switch (wrap) {
    case FACET_WRAP_CLAMP:
        return (uint32_t)(i < 0 ? 0 : i >= size ? size - 1 : i);
    case FACET_WRAP_MIRROR:
        m = i % (2 * size);
        m = m < 0 ? m + 2 * size : m;
        return (uint32_t)(m < size ? m : 2 * size - 1 - m);
    default:
        m = i % size;
        return (uint32_t)(m < 0 ? m + size : m);
    }
}

static void tap(const struct facet_guest_gfx_unit *unit, int64_t i, int64_t j, float out[4])
{
    const struct facet_scene_texture *t = unit->texture;
    uint32_t x = wrap_index(unit->wrap, i, t->width), y = wrap_index(unit->wrap, j, t->height);
    const uint8_t *rgba = t->rgba + 4 * ((size_t)y * t->width + x);

    for (unsigned c = 0; c < 4; c++) {
        out[c] = (float)((double)rgba[c] / 255.0);
    }
}

static void filter(const struct facet_guest_gfx_unit *unit, int64_t fx, int64_t fy, float out[4])
{
    int64_t tx = fx - 32768, ty = fy - 32768;
    float a = (float)(tx & 65535) / 65536.0F, b = (float)(ty & 65535) / 65536.0F;
    float taps[4][4];

    for (int k = 0; k < 4; k++) {
        tap(unit, (tx >> 16) + (k & 1), (ty >> 16) + (k >> 1), taps[k]);
    }
    for (unsigned c = 0; c < 4; c++) {
        const float t[4] = {taps[0][c], taps[1][c], taps[2][c], taps[3][c]};

        out[c] = bilerp(t, a, b);
    }
}

void facet_guest_gfx_unit_sample(const struct facet_guest_gfx_unit *unit,
                                 const facet_guest_gfx_slot *uv,
                                 facet_guest_gfx_slot *rgba,
                                 bool nearest,
                                 uint64_t lanes)
{
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float u = uv[0][i], v = uv[1][i], out[4] = {NAN, NAN, NAN, NAN};

        if (!isnan(u) && !isnan(v)) {
            int64_t fx = position(u, unit->texture->width), fy = position(v, unit->texture->height);

            if (nearest) {
                tap(unit, fx >> 16, fy >> 16, out);
            } else {
                filter(unit, fx, fy, out);
            }
        }
        for (unsigned c = 0; c < 4; c++) {
            rgba[c][i] = c < 3 ? facet_srgb_float(out[c]) : out[c];
        }
    }
}

/* ---- shading (10) ---- */

void facet_guest_gfx_unit_normalize(const struct facet_guest_gfx_unit *unit,
                                    facet_guest_gfx_slot *normal,
                                    uint64_t lanes)
{
    (void)unit;
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float v[3], s, k;

        for (unsigned c = 0; c < 3; c++) {
            v[c] = normal[c][i] + normal[4 + c][i];
        }
        s = fmaf(v[2], v[2], fmaf(v[1], v[1], v[0] * v[0]));
        k = 1.0F / sqrtf(s);
        for (unsigned c = 0; c < 3; c++) {
            normal[c][i] = s == 0.0F ? 0.0F : v[c] * k;
        }
    }
}

void facet_guest_gfx_unit_multiply(const struct facet_guest_gfx_unit *unit,
                                   struct facet_guest_gfx_colors *colors,
                                   uint64_t lanes)
{
    (void)unit;
    for (unsigned c = 0; c < 4; c++) {
        FACET_GUEST_GFX_EACH(i, lanes)
        {
            colors->work[c][i] *= colors->base[c][i];
        }
    }
}

void facet_guest_gfx_unit_light(const struct facet_guest_gfx_unit *unit,
                                struct facet_guest_gfx_colors *colors,
                                const facet_guest_gfx_slot *normal,
                                const facet_guest_gfx_slot *light,
                                uint64_t lanes)
{
    (void)unit;
    FACET_GUEST_GFX_EACH(i, lanes)
    {
        float d = fmaf(
            normal[2][i], light[2][i], fmaf(normal[1][i], light[1][i], normal[0][i] * light[0][i]));

        d = d <= 0.0F ? 0.0F : d;
        for (unsigned c = 0; c < 3; c++) {
            colors->work[c][i] *= colors->base[c][i] * d;
        }
    }
}

void facet_guest_gfx_unit_add(const struct facet_guest_gfx_unit *unit,
                              struct facet_guest_gfx_colors *colors,
                              uint64_t lanes)
{
    (void)unit;
    for (unsigned c = 0; c < 3; c++) {
        FACET_GUEST_GFX_EACH(i, lanes)
        {
            colors->sum[c][i] += colors->work[c][i];
        }
    }
}

/* ---- the grade (11) ---- */

static float lattice(const float *lut, uint32_t r, uint32_t g, uint32_t b, unsigned c)
{
    return lut[(size_t)3 * ((b * FACET_GUEST_GFX_LUT_SIDE + g) * FACET_GUEST_GFX_LUT_SIDE + r) + c];
}

/* Along red, then green, then blue; entries of weight zero do not exist. */
static float
between(const float *lut, const uint32_t at[3], const float f[3], unsigned axis, unsigned c)
{
    uint32_t next[3] = {at[0], at[1], at[2]};
    float lower;

    if (axis == 0) {
        lower = lattice(lut, at[0], at[1], at[2], c);
        return f[0] == 0.0F ? lower : lerp(lower, lattice(lut, at[0] + 1, at[1], at[2], c), f[0]);
    }
    lower = between(lut, at, f, axis - 1, c);
    next[axis]++;
    return f[axis] == 0.0F ? lower : lerp(lower, between(lut, next, f, axis - 1, c), f[axis]);
}

void facet_guest_gfx_unit_grade(const struct facet_guest_gfx_unit *unit,
                                facet_guest_gfx_slot *rgb,
                                uint64_t lanes)
{
    const float last = FACET_GUEST_GFX_LUT_SIDE - 1;

    FACET_GUEST_GFX_EACH(i, lanes)
    {
        uint32_t at[3];
        float f[3];

        for (unsigned c = 0; c < 3; c++) {
            float x = rgb[c][i] * last;

            x = x > 0.0F ? (x < last ? x : last) : 0.0F;
            at[c] = (uint32_t)x;
            f[c] = x - (float)at[c];
        }
        for (unsigned c = 0; c < 3; c++) {
            rgb[c][i] = between(unit->lut, at, f, 2, c);
        }
    }
}
