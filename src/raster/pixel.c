/* One pixel after the other, as tile-semantics.md 16.4 to 16.8 says: what draws on surfaces that
 * overlap or leave VRAM, where there is no host SIMD, and what the wide code is compared with. */
#include "base/float.h"
#include "raster/internal.h"

#include <math.h>

/* ---- memory ---- */

/* Narrows [*x0, *x1) to the pixels whose bytes are all in VRAM: they are neighbours, since a row is
 * shorter than the space outside. */
static void cut_to_vram(
    const struct facet_raster_unit *unit, uint32_t row, uint32_t bytes, int32_t *x0, int32_t *x1)
{
    const uint64_t size = unit->vram_size, offset = row - FACET_VRAM_BASE;
    const uint64_t wrap = UINT64_C(1) << 32;
    /* Where VRAM begins and ends, counted in bytes from the row's first pixel. */
    const uint64_t begin = offset < size ? 0 : wrap - offset;
    const uint64_t end = (offset < size ? 0 : wrap) + size - offset;
    const uint64_t first = (begin + bytes - 1) / bytes, last = end / bytes;

    if (first > (uint64_t)*x0) {
        *x0 = first > (uint64_t)*x1 ? *x1 : (int32_t)first;
    }
    if (last < (uint64_t)*x1) {
        *x1 = last < (uint64_t)*x0 ? *x0 : (int32_t)last;
    }
}

/* The pixels of a row that can be addressed; the others are skipped with one BAD_MEM per draw. */
static void usable(struct raster_pipe *p, int32_t y, int32_t *x0, int32_t *x1)
{
    const int32_t wanted = *x1 - *x0;

    if (p->regular || wanted <= 0) {
        return;
    }
    cut_to_vram(p->unit, p->color_base + (uint32_t)y * p->color_stride, p->color_bytes, x0, x1);
    if (p->depth_bytes != 0) {
        cut_to_vram(p->unit, p->depth_base + (uint32_t)y * p->depth_stride, p->depth_bytes, x0, x1);
    }
    p->bad_mem |= *x1 - *x0 != wanted;
}

static uint8_t *
pixel_at(const struct raster_pipe *p, uint32_t base, uint32_t stride, uint32_t bytes, int x, int y)
{
    return p->unit->vram + (base + (uint32_t)y * stride + (uint32_t)x * bytes - FACET_VRAM_BASE);
}

/* ---- depth (16.6) ---- */

static inline float clamp_depth(float z)
{
    return !(z > 0) ? 0.0f : z > 1 ? 1.0f : z;
}

static bool compare(unsigned func, uint32_t value, uint32_t stored)
{
    return ((func & 1) != 0 && value < stored) || ((func & 2) != 0 && value == stored) ||
           ((func & 4) != 0 && value > stored);
}

/* z is clamped. Writes on pass. */
static bool depth_pass(const struct raster_pipe *p, int x, int y, float z)
{
    uint8_t *at = pixel_at(p, p->depth_base, p->depth_stride, p->depth_bytes, x, y);
    uint32_t value, stored;

    tell_touch(p->unit, FACET_RASTER_USE_DEPTH, at, p->depth_bytes);
    if (p->depth_format == FACET_TILE_RSTATE_DEPTH_FORMAT_D16) {
        value = (uint32_t)facet_raster_floor(z * 65535.0f + 0.5f);
        stored = load_u16(at);
    } else {
        value = facet_float_bits(z);
        stored = load_u32(at);
    }
    if (__builtin_expect(p->fact != NULL, 0)) {
        p->fact->depth_tested = true;
        p->fact->z = z;
        p->fact->depth_value = value;
        p->fact->depth_stored = stored;
    }
    if (!compare(p->depth_func, value, stored)) {
        return false;
    }
    if (p->depth_write && p->depth_format == FACET_TILE_RSTATE_DEPTH_FORMAT_D16) {
        store_u16(at, value);
    } else if (p->depth_write) {
        store_u32(at, value);
    }
    return true;
}

/* ---- colour (16.7) ---- */

static uint32_t blend_alpha(uint32_t s, uint32_t d)
{
    const uint32_t alpha = s >> 24;
    uint32_t out = 0;

    s |= 0xFF000000u; /* the alpha channel blends 255 */
    for (unsigned shift = 0; shift < 32; shift += 8) {
        out |= (((s >> shift & 255) * alpha + (d >> shift & 255) * (255 - alpha) + 127) / 255)
               << shift;
    }
    return out;
}

static uint32_t blend_add(uint32_t s, uint32_t d)
{
    uint32_t out = 0;

    for (unsigned shift = 0; shift < 32; shift += 8) {
        const uint32_t sum = (s >> shift & 255) + (d >> shift & 255);

        out |= (sum > 255 ? 255 : sum) << shift;
    }
    return out;
}

static void write_pixel(const struct raster_pipe *p, int x, int y, uint32_t argb)
{
    uint8_t *at = pixel_at(p, p->color_base, p->color_stride, p->color_bytes, x, y);

    tell_touch(p->unit,
               p->blend == FACET_TILE_RSTATE_BLEND_OPAQUE ? FACET_RASTER_USE_COLOR
                                                          : FACET_RASTER_USE_BLEND,
               at,
               p->color_bytes);
    if (__builtin_expect(p->fact != NULL, 0)) {
        p->fact->fate = FACET_RASTER_FATE_WRITTEN;
        p->fact->source = argb;
    }
    if (p->blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        const uint32_t old = p->color_bytes == 2 ? rgb565_expand(load_u16(at)) : load_u32(at);

        if (__builtin_expect(p->fact != NULL, 0)) {
            p->fact->destination = old;
        }
        argb = p->blend == FACET_TILE_RSTATE_BLEND_ALPHA ? blend_alpha(argb, old)
                                                         : blend_add(argb, old);
    }
    if (__builtin_expect(p->fact != NULL, 0)) {
        p->fact->blended = argb;
    }
    if (p->color_bytes == 2) {
        store_u16(at, rgb565_pack(argb));
    } else {
        store_u32(at, argb);
    }
}

static uint32_t modulate(uint32_t texel, uint32_t color)
{
    uint32_t out = 0;

    for (unsigned shift = 0; shift < 32; shift += 8) {
        out |= mul8(texel >> shift & 255, color >> shift & 255) << shift;
    }
    return out;
}

/* ---- triangles ---- */

static inline float interpolate(const struct raster_plane *a, float b1, float b2)
{
    return fmaf(b2, a->d2, fmaf(b1, a->d1, a->a0));
}

static uint32_t sample(struct raster_pipe *p, float u, float v)
{
    if (p->tex_norm) {
        u *= (float)p->sampler.width;
        v *= (float)p->sampler.height;
    }
    if (p->sampler.bilinear) {
        return facet_raster_bilinear(&p->sampler,
                                     facet_raster_floor(u * 256.0f),
                                     facet_raster_floor(v * 256.0f),
                                     &p->source,
                                     &p->bad_mem);
    }
    return facet_raster_texel(
        &p->sampler, facet_raster_floor(u), facet_raster_floor(v), &p->source, &p->bad_mem);
}

static uint32_t
surface_color(struct raster_pipe *p, const struct raster_triangle *t, float b1, float b2)
{
    uint32_t color = t->color;

    if (!t->solid) {
        const uint32_t r = raster_u8(interpolate(&t->rgba[0], b1, b2));
        const uint32_t g = raster_u8(interpolate(&t->rgba[1], b1, b2));
        const uint32_t b = raster_u8(interpolate(&t->rgba[2], b1, b2));
        const uint32_t a = raster_u8(interpolate(&t->rgba[3], b1, b2));

        color = a << 24 | r << 16 | g << 8 | b;
    }
    if (__builtin_expect(p->fact != NULL, 0)) {
        p->fact->weight[0] = b1;
        p->fact->weight[1] = b2;
        p->fact->surface = color;
    }
    if (p->textured) {
        const float u = interpolate(&t->u, b1, b2), v = interpolate(&t->v, b1, b2);
        const uint32_t texel = sample(p, u, v);

        if (__builtin_expect(p->fact != NULL, 0)) {
            p->fact->u = u;
            p->fact->v = v;
            p->fact->texel = texel;
        }
        color = modulate(texel, color);
    }
    return color;
}

/* Whether it was written. */
static bool triangle_pixel(
    struct raster_pipe *p, const struct raster_triangle *t, int x, int y, const float e[3])
{
    float b1 = e[1] * t->inv_a2, b2 = e[2] * t->inv_a2;

    if (p->depth_bytes != 0 && !depth_pass(p, x, y, clamp_depth(interpolate(&t->z, b1, b2)))) {
        return false;
    }
    if (t->perspective) {
        const float p0 = e[0] * t->q[0], p1 = e[1] * t->q[1], p2 = e[2] * t->q[2];
        const float sum = (p0 + p1) + p2;

        b1 = p1 / sum;
        b2 = p2 / sum;
    }
    write_pixel(p, x, y, surface_color(p, t, b1, b2));
    return true;
}

static void
fill_rows(struct raster_pipe *pipe, const struct raster_triangle *t, int32_t y0, int32_t y1)
{
    uint64_t pixels = 0, passed = 0;

    for (int32_t y = y0; y < y1; y++) {
        int64_t row[3];
        int32_t x0, x1;

        facet_raster_row(t, y, &x0, &x1);
        usable(pipe, y, &x0, &x1);
        for (unsigned i = 0; i < 3; i++) {
            row[i] = t->e[i] + t->dy[i] * (y - t->box.y0) + t->dx[i] * (x0 - t->box.x0);
        }
        pixels += x1 > x0 ? (uint64_t)(x1 - x0) : 0;
        for (int32_t x = x0; x < x1; x++) {
            const float e[3] = {(float)row[0], (float)row[1], (float)row[2]};

            facet_raster_probe_enter(pipe, x, y, row);
            passed += triangle_pixel(pipe, t, x, y, e);
            facet_raster_probe_leave(pipe);
            row[0] += t->dx[0];
            row[1] += t->dx[1];
            row[2] += t->dx[2];
        }
    }
    tally_add(pipe, pixels, passed);
}

void facet_raster_fill_plain(struct raster_pipe *pipe,
                             const struct raster_triangle *triangles,
                             const uint16_t *list,
                             uint32_t count,
                             int32_t y0,
                             int32_t y1)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct raster_triangle *t = &triangles[list[i]];

        fill_rows(pipe, t, t->box.y0 > y0 ? t->box.y0 : y0, t->box.y1 < y1 ? t->box.y1 : y1);
    }
}

/* ---- rectangles (16.8) ---- */

static uint32_t rect_texel(struct raster_pipe *p, const struct raster_rect *r, int32_t x, int32_t y)
{
    const int64_t i = x - r->x, j = y - r->y;

    if (r->stretch) {
        return facet_raster_texel(&p->sampler,
                                  (2 * i + 1) * p->sampler.width / (2 * (int64_t)r->w),
                                  (2 * j + 1) * p->sampler.height / (2 * (int64_t)r->h),
                                  &p->source,
                                  &p->bad_mem);
    }
    return facet_raster_texel(&p->sampler, r->u0 + i, r->v0 + j, &p->source, &p->bad_mem);
}

/* Clearing a picture: nothing is read, so the pixels of a row are one run of equal bytes or words.
 */
static void fill_row(struct raster_pipe *p, int32_t y, uint32_t argb)
{
    uint8_t *at = pixel_at(p, p->color_base, p->color_stride, p->color_bytes, p->clip.x0, y);
    const size_t bytes = (size_t)(p->clip.x1 - p->clip.x0) * p->color_bytes;

    FACET_FAST_WAY(RASTER_CLEAR);
    if (p->color_bytes == 2) {
        store_u16(at, rgb565_pack(argb));
    } else {
        store_u32(at, argb);
    }
    /* Doubles what is there until the row is full. */
    for (size_t done = p->color_bytes; done < bytes; done *= 2) {
        memcpy(at + done, at, bytes - done < done ? bytes - done : done);
    }
}

void facet_raster_rect_rows(struct raster_pipe *pipe,
                            const struct raster_rect *r,
                            int32_t y0,
                            int32_t y1)
{
    const float z = clamp_depth(r->z);
    const bool one_color = pipe->regular && !pipe->unit->plain && !pipe->textured &&
                           pipe->depth_bytes == 0 && pipe->blend == FACET_TILE_RSTATE_BLEND_OPAQUE;
    uint64_t pixels = 0, passed = 0;

    for (int32_t y = y0; y < y1; y++) {
        int32_t x0 = pipe->clip.x0, x1 = pipe->clip.x1;

        if (one_color) {
            fill_row(pipe, y, r->color);
            pixels += (uint64_t)(x1 - x0);
            passed += (uint64_t)(x1 - x0);
            continue;
        }
        usable(pipe, y, &x0, &x1);
        pixels += x1 > x0 ? (uint64_t)(x1 - x0) : 0;
        for (int32_t x = x0; x < x1; x++) {
            facet_raster_probe_enter(pipe, x, y, NULL);
            if (pipe->depth_bytes == 0 || depth_pass(pipe, x, y, z)) {
                write_pixel(pipe, x, y, pipe->textured ? rect_texel(pipe, r, x, y) : r->color);
                passed++;
            }
            facet_raster_probe_leave(pipe);
        }
    }
    tally_add(pipe, pixels, passed);
}
