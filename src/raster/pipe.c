/* Preparing a draw (tile-semantics.md 15.1, 15.4, 16.3): formats, clip rectangle, and whether the
 * memory behind it lets pixels be made side by side. */
#include "raster/internal.h"

void facet_raster_clip_cut(struct raster_choice *choice,
                           enum facet_raster_cut cut,
                           const int16_t xy[2],
                           const uint16_t wh[2])
{
    const struct raster_box by = {xy[0], xy[1], xy[0] + wh[0], xy[1] + wh[1]};
    struct raster_box *box = &choice->clip;

    choice->cuts |= 1u << cut;
    choice->cut[cut] = by;
    box->x0 = by.x0 > box->x0 ? by.x0 : box->x0;
    box->y0 = by.y0 > box->y0 ? by.y0 : box->y0;
    box->x1 = by.x1 < box->x1 ? by.x1 : box->x1;
    box->y1 = by.y1 < box->y1 ? by.y1 : box->y1;
}

void facet_raster_clip_start(struct raster_choice *choice,
                             const struct facet_tile_rstate_fields *rstate)
{
    choice->clip = (struct raster_box){0, 0, rstate->fb_wh[0], rstate->fb_wh[1]};
    choice->cut[FACET_RASTER_CUT_FRAME] = choice->clip;
    choice->cuts = 1u << FACET_RASTER_CUT_FRAME;
    if ((rstate->flags & FACET_TILE_RSTATE_FLAGS_SCISSOR) != 0) {
        facet_raster_clip_cut(
            choice, FACET_RASTER_CUT_SCISSOR, rstate->scissor_xy, rstate->scissor_wh);
    }
}

/* The bytes of `rows` rows of `row_bytes` bytes; false when one is outside VRAM or reached only by
 * wrapping around 2^32. */
static bool rows_inside(const struct facet_raster_unit *unit,
                        uint32_t base,
                        uint64_t before,
                        uint32_t stride,
                        uint32_t rows,
                        uint64_t row_bytes,
                        struct facet_raster_span *span)
{
    const uint64_t begin = (uint64_t)(base - FACET_VRAM_BASE) + before;
    const uint64_t end = begin + (uint64_t)(rows - 1) * stride + row_bytes;

    if (end > unit->vram_size) {
        return false;
    }
    *span = (struct facet_raster_span){(uint32_t)begin, (uint32_t)end};
    return true;
}

/* One surface over the clip rectangle. When it does not fit, anything may be written. */
static bool surface_regular(const struct raster_pipe *p,
                            uint32_t base,
                            uint32_t stride,
                            uint32_t bytes,
                            struct facet_raster_span *span)
{
    const uint32_t rows = (uint32_t)(p->clip.y1 - p->clip.y0);
    const uint64_t row_bytes = (uint64_t)(p->clip.x1 - p->clip.x0) * bytes;
    const uint64_t before =
        (uint64_t)p->clip.y0 * stride + (uint64_t)p->clip.x0 * bytes; /* bytes up to the corner */

    *span = (struct facet_raster_span){0, p->unit->vram_size};
    return (rows == 1 || stride >= row_bytes) &&
           rows_inside(p->unit, base, before, stride, rows, row_bytes, span);
}

static bool texels_regular(const struct raster_pipe *p)
{
    static const uint8_t texel_bytes[] = {[FACET_TILE_SAMPLER_FORMAT_RGB565] = 2,
                                          [FACET_TILE_SAMPLER_FORMAT_ARGB8888] = 4,
                                          [FACET_TILE_SAMPLER_FORMAT_PAL8] = 1};
    const struct raster_sampler *s = &p->sampler;
    struct facet_raster_span span;

    if (!rows_inside(p->unit,
                     s->base,
                     0,
                     s->stride,
                     s->height,
                     (uint64_t)s->width * texel_bytes[s->format],
                     &span) ||
        span_meets(p->color, span.begin, span.end) || span_meets(p->depth, span.begin, span.end)) {
        return false;
    }
    return s->format != FACET_TILE_SAMPLER_FORMAT_PAL8 ||
           (rows_inside(p->unit, s->palette, 0, 0, 1, FACET_TILE_PALETTE_SIZE, &span) &&
            !span_meets(p->color, span.begin, span.end) &&
            !span_meets(p->depth, span.begin, span.end));
}

static bool pipe_regular(struct raster_pipe *p)
{
    bool regular = surface_regular(p, p->color_base, p->color_stride, p->color_bytes, &p->color);

    if (p->depth_bytes != 0) {
        regular &= surface_regular(p, p->depth_base, p->depth_stride, p->depth_bytes, &p->depth);
        regular &= !span_meets(p->color, p->depth.begin, p->depth.end);
    }
    return regular && (!p->textured || texels_regular(p));
}

static raster_fill_fn *choose_fill(const struct raster_pipe *p)
{
#if defined(__x86_64__)
    if (p->regular && !p->unit->plain && p->clip.x1 - p->clip.x0 >= 8 &&
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return facet_raster_fill_avx2;
    }
#endif
    (void)p;
    return facet_raster_fill_plain;
}

void facet_raster_pipe_count(struct raster_pipe *pipe, struct raster_tally *tally)
{
    atomic_init(&tally->pixels, 0);
    atomic_init(&tally->passed, 0);
    pipe->tally = pipe->unit->counts != NULL ? tally : NULL;
}

static void count_traffic(struct facet_raster_counts *counts,
                          enum facet_raster_traffic what,
                          uint64_t n,
                          uint32_t bytes)
{
    counts->accesses[what] += n;
    counts->bytes_each[what] = bytes;
}

/* Two numbers say everything: only what passes is textured, blended and written. */
void facet_raster_pipe_counted(const struct raster_pipe *p)
{
    struct facet_raster_counts *counts = p->unit->counts;
    const bool palette = p->sampler.format == FACET_TILE_SAMPLER_FORMAT_PAL8;
    uint64_t pixels, passed, texels;

    if (p->tally == NULL) {
        return;
    }
    pixels = atomic_load(&p->tally->pixels);
    passed = atomic_load(&p->tally->passed);
    texels = !p->textured ? 0 : p->sampler.bilinear && !p->nearest ? 4 * passed : passed;
    counts->pixels += pixels;
    counts->z_tested += p->depth_bytes != 0 ? pixels : 0;
    counts->z_failed += pixels - passed;
    counts->blended += p->blend != FACET_TILE_RSTATE_BLEND_OPAQUE ? passed : 0;
    counts->written += passed;
    counts->texels += texels;
    if (p->depth_bytes != 0) {
        count_traffic(counts, FACET_RASTER_DEPTH_LOAD, pixels, p->depth_bytes);
        count_traffic(
            counts, FACET_RASTER_DEPTH_STORE, p->depth_write ? passed : 0, p->depth_bytes);
    }
    if (p->blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        count_traffic(counts, FACET_RASTER_COLOR_LOAD, passed, p->color_bytes);
    }
    count_traffic(counts, FACET_RASTER_COLOR_STORE, passed, p->color_bytes);
    if (p->textured) {
        count_traffic(counts,
                      FACET_RASTER_TEXEL_LOAD,
                      texels,
                      palette                                                 ? 1
                      : p->sampler.format == FACET_TILE_SAMPLER_FORMAT_RGB565 ? 2
                                                                              : 4);
        count_traffic(counts, FACET_RASTER_PALETTE_LOAD, palette ? texels : 0, 4);
    }
}

void facet_raster_counts_add(struct facet_raster_counts *counts,
                             const struct facet_raster_counts *more,
                             uint64_t times)
{
#define ADD(name) counts->name += times * more->name;
    FACET_RASTER_COUNTS(ADD)
#undef ADD
}

void facet_raster_pipe_make(const struct facet_raster_unit *unit,
                            const struct facet_tile_rstate_fields *rstate,
                            const struct raster_choice *choice,
                            const struct raster_sampler *sampler,
                            struct raster_pipe *out)
{
    const uint32_t flags = rstate->flags;
    const bool depth = choice->depth && (flags & FACET_TILE_RSTATE_FLAGS_DEPTH) != 0 &&
                       rstate->depth_base != 0 &&
                       rstate->depth_format != FACET_TILE_RSTATE_DEPTH_FORMAT_NONE;

    *out = (struct raster_pipe){
        .unit = unit,
        .source = {facet_raster_texel_from_vram, (void *)(uintptr_t)unit},
        .clip = choice->clip,
        .color_base = rstate->fb_base,
        .color_stride = rstate->fb_stride,
        .color_bytes = rstate->fb_format == FACET_TILE_RSTATE_FB_FORMAT_RGB565 ? 2 : 4,
        .depth_base = rstate->depth_base,
        .depth_stride = rstate->depth_stride,
        .depth_bytes = !depth                                                       ? 0
                       : rstate->depth_format == FACET_TILE_RSTATE_DEPTH_FORMAT_D16 ? 2
                                                                                    : 4,
        .depth_format = rstate->depth_format,
        .depth_func = rstate->depth_function,
        .blend = choice->blend,
        .depth_write = (flags & FACET_TILE_RSTATE_FLAGS_ZWRITE_OFF) == 0,
        .textured = choice->textured,
        .tex_norm = (flags & FACET_TILE_RSTATE_FLAGS_TEX_NORM) != 0,
        .sampler = *sampler,
    };
    if (out->clip.x0 < out->clip.x1 && out->clip.y0 < out->clip.y1) {
        out->regular = pipe_regular(out);
    } else {
        out->clip = (struct raster_box){0, 0, 0, 0};
    }
    if (__builtin_expect(unit->probe != NULL, 0)) {
        facet_raster_probe_draw(out, rstate, choice);
    }
    out->fill = choose_fill(out);
}
