/* Triangles to memory, eight pixels at a time, with AVX2 and FMA. Every lane does the operations of
 * tile-semantics.md 16.4 to 16.7 in their order; tests compare it with pixel.c. Only regular pipes
 * come here: all addresses are good and nothing overlaps, so lanes need no order. The host's
 * rounding mode must be the default (nearest, subnormals kept), as everywhere in Facet.
 *
 * Edges: a narrow triangle tests its three edge functions in 32-bit lanes, over blocks of four
 * pixels in two rows. A long one has its rows cut by division and needs the edge values only as
 * FP32, from 32-bit lanes while 2A < 2^31, else from binary64, which holds every edge value (<
 * 2^50) exactly and rounds once on the way down. */
#include "raster/internal.h"

#if defined(__x86_64__)

#include "raster/lanes_avx2.h"

/* A loop is compiled for each of these, so that what most triangles share costs them no question.
 */
enum kind {
    KIND_ANY,
    KIND_OPAQUE, /* as in a textured model: nearest texels of ARGB8888 in their own colours, D32F */
    KIND_ALPHA,  /* the same, blended */
    KIND_DEPTH,  /* D32F alone: no colour can change */
};

INLINE bool is_textured(enum kind k)
{
    return k == KIND_OPAQUE || k == KIND_ALPHA;
}

INLINE uint32_t color_bytes(const struct raster_pipe *p, enum kind k)
{
    return is_textured(k) ? 4 : p->color_bytes;
}

INLINE uint32_t depth_bytes(const struct raster_pipe *p, enum kind k)
{
    return k == KIND_ANY ? p->depth_bytes : 4;
}

INLINE uint8_t blend_of(const struct raster_pipe *p, enum kind k)
{
    return k == KIND_OPAQUE  ? FACET_TILE_RSTATE_BLEND_OPAQUE
           : k == KIND_ALPHA ? FACET_TILE_RSTATE_BLEND_ALPHA
                             : p->blend;
}

/* ---- constants in all lanes ---- */

struct plane {
    __m256 a0, d1, d2;
};

/* Of a draw and of the current triangle, for the loops over its blocks. */
struct wide {
    /* The depth function as a sum modulo 2 of what holds: value <= stored, value = stored, 1. */
    __m256i sum_most, sum_equal, sum_always;
    __m256 scale[2];
    __m256i last[2], stride;
    enum wrap how[2];
    /* the triangle */
    __m256 inv_a2, q[3];
    struct plane z, u, v;
};

INLINE __m256i all_or_none(unsigned bit)
{
    return _mm256_set1_epi32(-(int)(bit & 1));
}

INLINE void widen_pipe(const struct raster_pipe *p, struct wide *w)
{
    const struct raster_sampler *s = &p->sampler;
    const unsigned f = p->depth_func; /* bits: <, =, > */

    /* Exactly one of the three holds; < is (<=) + (=), and > is (<=) + 1. */
    w->sum_most = all_or_none(f ^ f >> 2);
    w->sum_equal = all_or_none(f ^ f >> 1);
    w->sum_always = all_or_none(f >> 2);
    w->scale[0] = _mm256_set1_ps(p->tex_norm ? (float)s->width : 1);
    w->scale[1] = _mm256_set1_ps(p->tex_norm ? (float)s->height : 1);
    w->last[0] = _mm256_set1_epi32((int)s->width - 1);
    w->last[1] = _mm256_set1_epi32((int)s->height - 1);
    w->stride = _mm256_set1_epi32((int)s->stride);
    w->how[0] = wrap_of(s->width, s->repeat_u);
    w->how[1] = wrap_of(s->height, s->repeat_v);
}

INLINE struct plane widen_plane(const struct raster_plane *a)
{
    return (struct plane){_mm256_set1_ps(a->a0), _mm256_set1_ps(a->d1), _mm256_set1_ps(a->d2)};
}

INLINE void widen_triangle(const struct raster_triangle *t, enum kind k, struct wide *w)
{
    w->inv_a2 = _mm256_set1_ps(t->inv_a2);
    w->z = widen_plane(&t->z);
    if (k != KIND_DEPTH) {
        for (unsigned i = 0; i < 3; i++) {
            w->q[i] = _mm256_set1_ps(t->q[i]);
        }
        w->u = widen_plane(&t->u);
        w->v = widen_plane(&t->v);
    }
}

/* ---- pixels ---- */

INLINE __m256 interpolate(const struct plane *a, __m256 b1, __m256 b2)
{
    return _mm256_fmadd_ps(b2, a->d2, _mm256_fmadd_ps(b1, a->d1, a->a0));
}

/* u8 of 16.1. */
INLINE __m256i channel(const struct raster_plane *a, __m256 b1, __m256 b2)
{
    const struct plane wide = widen_plane(a);
    const __m256 t = _mm256_add_ps(interpolate(&wide, b1, b2), _mm256_set1_ps(0.5f));

    return _mm256_cvttps_epi32(
        _mm256_min_ps(_mm256_max_ps(t, _mm256_setzero_ps()), _mm256_set1_ps(255.0f)));
}

INLINE __m256i colors(const struct raster_triangle *t, __m256 b1, __m256 b2)
{
    if (t->solid) {
        return _mm256_set1_epi32((int)t->color);
    }
    return _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi32(channel(&t->rgba[3], b1, b2), 24),
                                           _mm256_slli_epi32(channel(&t->rgba[0], b1, b2), 16)),
                           _mm256_or_si256(_mm256_slli_epi32(channel(&t->rgba[1], b1, b2), 8),
                                           channel(&t->rgba[2], b1, b2)));
}

INLINE __m256i textured(const struct raster_pipe *p,
                        const struct raster_triangle *t,
                        const struct wide *w,
                        enum kind k,
                        __m256 b1,
                        __m256 b2)
{
    const struct raster_sampler *s = &p->sampler;
    /* Without TEX_NORM the scale is 1, which changes nothing. */
    const __m256 u = _mm256_mul_ps(interpolate(&w->u, b1, b2), w->scale[0]);
    const __m256 v = _mm256_mul_ps(interpolate(&w->v, b1, b2), w->scale[1]);
    __m256i texel, x, y;

    if (!is_textured(k) && s->bilinear) {
        texel = bilinear(p, u, v);
    } else {
        x = nearest(u, w->last[0], s->width, w->how[0]);
        y = nearest(v, w->last[1], s->height, w->how[1]);
        texel = is_textured(k) ? gather(p->unit->vram + (s->base - FACET_VRAM_BASE),
                                        _mm256_add_epi32(_mm256_mullo_epi32(y, w->stride),
                                                         _mm256_slli_epi32(x, 2)),
                                        4)
                               : texels(p, x, y);
    }
    if (is_textured(k) || (t->solid && t->color == 0xFFFFFFFFu)) {
        return texel; /* mul8(c, 255) = c */
    }
    return modulate(texel, colors(t, b1, b2));
}

/* The lanes of the mask that pass. */
INLINE __m256i depth_test(const struct raster_pipe *p,
                          const struct wide *w,
                          enum kind k,
                          uint8_t *const at[2],
                          __m256i mask,
                          __m256 z)
{
    const uint32_t bytes = depth_bytes(p, k);
    const __m256i value =
        bytes == 2 ? _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(z, _mm256_set1_ps(65535.0f)),
                                                       _mm256_set1_ps(0.5f)))
                   : _mm256_castps_si256(z);
    const __m256i stored = load_pixels(at, bytes);
    const __m256i equal = _mm256_cmpeq_epi32(value, stored);
    const __m256i most = _mm256_cmpeq_epi32(value, _mm256_min_epu32(value, stored)); /* <= */
    const __m256i pass =
        _mm256_and_si256(mask,
                         _mm256_xor_si256(_mm256_xor_si256(_mm256_and_si256(most, w->sum_most),
                                                           _mm256_and_si256(equal, w->sum_equal)),
                                          w->sum_always));

    if (k == KIND_DEPTH || p->depth_write) {
        store_pixels(at, bytes, pass, stored, value);
    }
    return pass;
}

INLINE void
write(const struct raster_pipe *p, enum kind k, uint8_t *const at[2], __m256i mask, __m256i c)
{
    const uint32_t bytes = color_bytes(p, k);
    const uint8_t blend = blend_of(p, k);
    const __m256i old = load_pixels(at, bytes);

    if (blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        const __m256i under = bytes == 2 ? expand565(old) : old;

        c = blend == FACET_TILE_RSTATE_BLEND_ALPHA ? blend_alpha(c, under)
                                                   : _mm256_adds_epu8(c, under);
    }
    store_pixels(at, bytes, mask, old, bytes == 2 ? pack565(c) : c);
}

/* Where the first pixels of two runs of four are. */
struct place {
    uint8_t *color[2], *depth[2];
};

/* Pixels that are covered, and those of them that pass. */
struct pixel_counts {
    uint64_t pixels, passed;
};

/* A block: its edge values, and which of its pixels are covered. `n` counts those among the lanes
 * `real`; NULL: nothing does. */
INLINE void pixels(const struct raster_pipe *p,
                   const struct raster_triangle *t,
                   const struct wide *w,
                   enum kind k,
                   const struct place *at,
                   __m256i mask,
                   const __m256 e[3],
                   struct pixel_counts *n,
                   unsigned real)
{
    __m256 b1 = _mm256_mul_ps(e[1], w->inv_a2), b2 = _mm256_mul_ps(e[2], w->inv_a2);

    if (n != NULL) {
        n->pixels += (unsigned)__builtin_popcount((unsigned)lane_bits(mask) & real);
    }
    if (depth_bytes(p, k) != 0) {
        /* NaN, -0 and below give the second operand of max: +0. */
        const __m256 z = _mm256_min_ps(
            _mm256_max_ps(interpolate(&w->z, b1, b2), _mm256_setzero_ps()), _mm256_set1_ps(1.0f));

        mask = depth_test(p, w, k, at->depth, mask, z);
        if (k == KIND_DEPTH || lane_bits(mask) == 0) {
            return;
        }
    }
    if (n != NULL) {
        n->passed += (unsigned)__builtin_popcount((unsigned)lane_bits(mask) & real);
    }
    if (t->perspective) {
        const __m256 p0 = _mm256_mul_ps(e[0], w->q[0]);
        const __m256 p1 = _mm256_mul_ps(e[1], w->q[1]);
        const __m256 p2 = _mm256_mul_ps(e[2], w->q[2]);
        const __m256 sum = _mm256_add_ps(_mm256_add_ps(p0, p1), p2);

        b1 = _mm256_div_ps(p1, sum);
        b2 = _mm256_div_ps(p2, sum);
    }
    write(p,
          k,
          at->color,
          mask,
          is_textured(k) || p->textured ? textured(p, t, w, k, b1, b2) : colors(t, b1, b2));
}

/* ---- rows ---- */

/* Four pixels from column x of row y on, as run `n`. */
INLINE void place_run(
    const struct raster_pipe *p, enum kind k, int32_t x, int32_t y, unsigned n, struct place *to)
{
    uint8_t *vram = p->unit->vram;

    to->color[n] = vram + (p->color_base - FACET_VRAM_BASE) + (size_t)y * p->color_stride +
                   (size_t)x * color_bytes(p, k);
    to->depth[n] = depth_bytes(p, k) == 0
                       ? vram
                       : vram + (p->depth_base - FACET_VRAM_BASE) + (size_t)y * p->depth_stride +
                             (size_t)x * depth_bytes(p, k);
}

INLINE void place_next(const struct raster_pipe *p, enum kind k, struct place *at)
{
    for (unsigned n = 0; n < 2; n++) {
        at->color[n] += 4 * color_bytes(p, k);
        at->depth[n] += 4 * depth_bytes(p, k);
    }
}

/* Where runs of four begin so that the last one ends inside the clip rectangle: there the edges
 * alone tell which pixels are covered. */
INLINE int32_t first_run(const struct raster_pipe *p, const struct raster_triangle *t)
{
    const int32_t last = p->clip.x1 - (t->box.x1 - t->box.x0 + 3) / 4 * 4;

    return t->box.x0 < last ? t->box.x0 : last;
}

/* Blocks of four pixels in two rows. */
INLINE void fill_narrow(const struct raster_pipe *p,
                        const struct raster_triangle *t,
                        const struct wide *w,
                        enum kind k,
                        int32_t y0,
                        int32_t y1,
                        struct pixel_counts *n)
{
    const __m256i column = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
    const __m256i lower = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
    const int32_t x0 = first_run(p, t), x1 = t->box.x1;
    __m256i start[3], right[3], down[3], bias[3];

    for (unsigned i = 0; i < 3; i++) {
        const int32_t dx = (int32_t)t->dx[i], dy = (int32_t)t->dy[i];
        const __m256i dxs = _mm256_set1_epi32(dx), dys = _mm256_set1_epi32(dy);
        const int32_t e = (int32_t)t->e[i] + dy * (y0 - t->box.y0) + dx * (x0 - t->box.x0);

        start[i] = _mm256_add_epi32(
            _mm256_set1_epi32(e),
            _mm256_add_epi32(_mm256_mullo_epi32(dxs, column), _mm256_and_si256(dys, lower)));
        right[i] = _mm256_slli_epi32(dxs, 2);
        down[i] = _mm256_slli_epi32(dys, 1);
        bias[i] = _mm256_set1_epi32((int32_t)t->bias[i]);
    }
    for (int32_t y = y0; y < y1; y += 2) {
        const int32_t next = y + 1 < y1 ? y + 1 : y; /* what is written there is overwritten */
        __m256i e[3] = {start[0], start[1], start[2]};
        struct place at;

        place_run(p, k, x0, y, 0, &at);
        place_run(p, k, x0, next, 1, &at);
        for (int32_t x = x0; x < x1; x += 4) {
            /* The sign of E + bias of any edge says outside. */
            const __m256i out = _mm256_or_si256(
                _mm256_or_si256(_mm256_add_epi32(e[0], bias[0]), _mm256_add_epi32(e[1], bias[1])),
                _mm256_add_epi32(e[2], bias[2]));

            if (lane_bits(out) != 0xFF) {
                const __m256 ef[3] = {
                    _mm256_cvtepi32_ps(e[0]), _mm256_cvtepi32_ps(e[1]), _mm256_cvtepi32_ps(e[2])};

                pixels(p,
                       t,
                       w,
                       k,
                       &at,
                       _mm256_cmpgt_epi32(out, _mm256_set1_epi32(-1)),
                       ef,
                       n,
                       next == y ? 0x0F : 0xFF);
            }
            for (unsigned i = 0; i < 3; i++) {
                e[i] = _mm256_add_epi32(e[i], right[i]);
            }
            place_next(p, k, &at);
        }
        for (unsigned i = 0; i < 3; i++) {
            start[i] = _mm256_add_epi32(start[i], down[i]);
        }
    }
}

INLINE __m256i lanes(void)
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* Lanes that lie before `count`. */
INLINE __m256i first_lanes(int32_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes());
}

/* FP32 of the edge value in eight neighbouring pixels: exact in binary64, rounded once. */
INLINE __m256 edge_wide(double e, double dx)
{
    const __m256d base = _mm256_set1_pd(e), step = _mm256_set1_pd(dx);
    const __m256d lo = _mm256_add_pd(base, _mm256_mul_pd(step, _mm256_setr_pd(0, 1, 2, 3)));
    const __m256d hi = _mm256_add_pd(base, _mm256_mul_pd(step, _mm256_setr_pd(4, 5, 6, 7)));

    return _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
}

/* Modulo 2^32, which is exact for covered pixels while 2A < 2^31. */
INLINE __m256 edge_short(int64_t e, int64_t dx)
{
    return _mm256_cvtepi32_ps(_mm256_add_epi32(
        _mm256_set1_epi32((int32_t)(uint32_t)(uint64_t)e),
        _mm256_mullo_epi32(_mm256_set1_epi32((int32_t)(uint32_t)(uint64_t)dx), lanes())));
}

/* Eight pixels of a row; the last eight begin earlier where they would leave the clip rectangle. */
INLINE void fill_long(const struct raster_pipe *p,
                      const struct raster_triangle *t,
                      const struct wide *w,
                      enum kind k,
                      int32_t y0,
                      int32_t y1,
                      struct pixel_counts *n)
{
    const bool is_short = t->a2 < INT64_C(1) << 31;

    for (int32_t y = y0; y < y1; y++) {
        int32_t x0, x1;

        facet_raster_row(t, y, &x0, &x1);
        for (; x0 < x1; x0 += 8) {
            const int32_t x = x0 < p->clip.x1 - 8 ? x0 : p->clip.x1 - 8;
            const int64_t dx = x - t->box.x0, dy = y - t->box.y0;
            struct place at;
            __m256 e[3];

            place_run(p, k, x, y, 0, &at);
            place_run(p, k, x + 4, y, 1, &at);
            for (unsigned i = 0; i < 3; i++) {
                const int64_t v = t->e[i] + t->dx[i] * dx + t->dy[i] * dy;

                e[i] = is_short ? edge_short(v, t->dx[i]) : edge_wide((double)v, (double)t->dx[i]);
            }
            pixels(p,
                   t,
                   w,
                   k,
                   &at,
                   _mm256_andnot_si256(first_lanes(x0 - x), first_lanes(x1 - x)),
                   e,
                   n,
                   0xFF);
        }
    }
}

/* ---- kinds ---- */

/* Whether the colour buffer keeps its bytes whatever the texels are: nothing added, or nothing of
 * the source mixed in. That is how the tile GPU draws depth alone. */
static bool is_invisible(const struct raster_pipe *p, const struct raster_triangle *t)
{
    return t->solid && ((p->blend == FACET_TILE_RSTATE_BLEND_ADDITIVE && t->color == 0) ||
                        (p->blend == FACET_TILE_RSTATE_BLEND_ALPHA && t->color >> 24 == 0));
}

/* What a white triangle of the pipe is. */
static enum kind kind_of_pipe(const struct raster_pipe *p)
{
    const bool usual = p->color_bytes == 4 && p->depth_bytes == 4 && p->textured &&
                       !p->sampler.bilinear &&
                       p->sampler.format == FACET_TILE_SAMPLER_FORMAT_ARGB8888 &&
                       p->sampler.swizzle == FACET_TILE_SAMPLER_SWIZZLE_RGBA;

    return !usual                                       ? KIND_ANY
           : p->blend == FACET_TILE_RSTATE_BLEND_OPAQUE ? KIND_OPAQUE
           : p->blend == FACET_TILE_RSTATE_BLEND_ALPHA  ? KIND_ALPHA
                                                        : KIND_ANY;
}

struct list {
    const struct raster_triangle *triangles;
    const uint16_t *at;
    uint32_t count;
    int32_t y0, y1;
    enum kind white;
    bool counts;
};

static inline enum kind
kind_of(const struct raster_pipe *p, const struct list *l, const struct raster_triangle *t)
{
    if (!l->counts && is_invisible(p, t) && p->depth_bytes != 2) {
        return KIND_DEPTH;
    }
    return t->solid && t->color == 0xFFFFFFFFu ? l->white : KIND_ANY;
}

/* ---- lists of triangles ---- */

/* Those from number `i` on as long as they are of this kind; gives the first that is not. */
INLINE uint32_t
fill_list(const struct raster_pipe *p, const struct list *l, uint32_t i, enum kind k, bool counts)
{
    struct pixel_counts n = {0, 0};
    struct wide w;

    widen_pipe(p, &w);
    for (; i < l->count; i++) {
        const struct raster_triangle *t = &l->triangles[l->at[i]];
        const int32_t y0 = t->box.y0 > l->y0 ? t->box.y0 : l->y0;
        const int32_t y1 = t->box.y1 < l->y1 ? t->box.y1 : l->y1;

        if (kind_of(p, l, t) != k) {
            break;
        }
        if (k == KIND_DEPTH && (p->depth_bytes == 0 || !p->depth_write)) {
            continue; /* nothing can change at all */
        }
        widen_triangle(t, k, &w);
        if (t->narrow && first_run(p, t) >= p->clip.x0) {
            fill_narrow(p, t, &w, k, y0, y1, counts ? &n : NULL);
        } else {
            fill_long(p, t, &w, k, y0, y1, counts ? &n : NULL);
        }
    }
    if (counts) {
        tally_add(p, n.pixels, n.passed);
    }
    return i;
}

#define FILL(name, kind, counts)                                                                   \
    TARGET static uint32_t name(const struct raster_pipe *p, const struct list *l, uint32_t i)     \
    {                                                                                              \
        return fill_list(p, l, i, kind, counts);                                                   \
    }

FILL(fill_any, KIND_ANY, false)
FILL(fill_opaque, KIND_OPAQUE, false)
FILL(fill_alpha, KIND_ALPHA, false)
FILL(fill_depth, KIND_DEPTH, false)
FILL(count_any, KIND_ANY, true)
FILL(count_opaque, KIND_OPAQUE, true)
FILL(count_alpha, KIND_ALPHA, true)

void facet_raster_fill_avx2(struct raster_pipe *pipe,
                            const struct raster_triangle *triangles,
                            const uint16_t *list,
                            uint32_t count,
                            int32_t y0,
                            int32_t y1)
{
    static uint32_t (*const fill[2][4])(
        const struct raster_pipe *p, const struct list *l, uint32_t i) = {
        {[KIND_ANY] = fill_any,
         [KIND_OPAQUE] = fill_opaque,
         [KIND_ALPHA] = fill_alpha,
         [KIND_DEPTH] = fill_depth},
        {[KIND_ANY] = count_any, [KIND_OPAQUE] = count_opaque, [KIND_ALPHA] = count_alpha},
    };
    const bool counts = pipe->tally != NULL;
    const struct list l = {triangles, list, count, y0, y1, kind_of_pipe(pipe), counts};
    uint32_t i = 0;

    FACET_FAST_WAY(RASTER_SPAN);
    while (i < count) {
        i = fill[counts][kind_of(pipe, &l, &triangles[list[i]])](pipe, &l, i);
    }
}

#endif
