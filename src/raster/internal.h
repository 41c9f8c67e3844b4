/* Between the files of this folder.
 *
 * A draw is prepared once into a pipe (pipe.c): formats, clip rectangle, sampler, and whether its
 * surfaces are `regular`. Triangles come from RDRAW or from the geometry unit as snapped vertices,
 * go through setup (setup.c), wait in a queue where many may be filled at once (bands.c), and are
 * filled either by the pixel code that follows the contract literally (pixel.c) or, on regular
 * surfaces, eight pixels at a time (span_avx2.c). With a pool the elements of a draw are shared
 * out, too (crew.c). */
#ifndef FACET_RASTER_INTERNAL_H
#define FACET_RASTER_INTERNAL_H

#include "base/ways.h"
#include "raster/probe.h"
#include "raster/raster.h"

#include <stdatomic.h>

/* ---- bits, memory ---- */

static inline uint32_t load_u16(const uint8_t *p)
{
    return (uint32_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void store_u16(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}

static inline void store_u32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

/* The `size` bytes from `address` on (mod 2^32), or NULL when one is outside VRAM. */
static inline uint8_t *
vram_at(const struct facet_raster_unit *unit, uint32_t address, uint32_t size)
{
    const uint32_t offset = address - FACET_VRAM_BASE;

    if (offset >= unit->vram_size || unit->vram_size - offset < size) {
        return NULL;
    }
    return unit->vram + offset;
}

/* Before bytes of VRAM are read or drawn. */
static inline void tell_touch(const struct facet_raster_unit *unit,
                              enum facet_raster_use use,
                              const uint8_t *at,
                              uint32_t size)
{
    if (__builtin_expect(unit->watch != NULL, 0)) {
        unit->watch->touch(unit->watch->context, use, (uint32_t)(at - unit->vram), size);
    }
}

static inline void tell_triangle(const struct facet_raster_unit *unit)
{
    if (__builtin_expect(unit->watch != NULL, 0) && unit->watch->triangle != NULL) {
        unit->watch->triangle(unit->watch->context);
    }
}

static inline bool span_meets(struct facet_raster_span s, uint32_t begin, uint32_t end)
{
    return s.begin < end && begin < s.end;
}

/* ---- memory for the time of a draw (scratch.c) ---- */

/* NULL when there is none. Only by the thread that draws. */
void *facet_raster_take(const struct facet_raster_unit *unit, size_t size);
void facet_raster_give(const struct facet_raster_unit *unit, void *bytes); /* NULL is allowed */

/* ---- leaving a draw (part.c) ---- */

/* Pixels between two questions: some milliseconds of the slowest code, or of a whole pool. */
enum { PIECE_ALONE = 1 << 17, PIECE_SHARED = 1 << 20 };

/* INT64_MAX when the draw cannot be left. */
static inline int64_t piece_pixels(const struct facet_raster_unit *unit, bool shared)
{
    return unit->stop == NULL  ? INT64_MAX
           : unit->stop->often ? 1
           : shared            ? PIECE_SHARED
                               : PIECE_ALONE;
}

/* Notes work, and asks when it makes a piece. True: leave the draw here. */
bool facet_raster_asks(const struct facet_raster_unit *unit, int64_t pixels, int64_t piece);
/* Takes the part of a draw of this kind out of the unit, if there is one. */
bool facet_raster_part_take(const struct facet_raster_unit *unit,
                            enum facet_raster_part_kind kind,
                            struct facet_raster_part *out);

/* ---- numbers of 16.1 ---- */

/* The largest integer <= x, clamped to i32; NaN gives 0. */
int32_t facet_raster_floor(float x);

static inline uint32_t mul8(uint32_t a, uint32_t b)
{
    return (a * b + 127) / 255;
}

/* u8(x) of 16.1. */
static inline uint32_t raster_u8(float x)
{
    const float t = x + 0.5f;

    /* In this order NaN ends as 0. */
    return !(t >= 0) ? 0 : t >= 255 ? 255 : (uint32_t)t;
}

/* ---- samplers (11) ---- */

struct raster_sampler {
    uint32_t base, stride;
    uint32_t width, height;
    uint32_t palette;        /* address of the palette in force */
    uint8_t format, swizzle; /* as in SAMPLER */
    bool repeat_u, repeat_v;
    bool bilinear;
};

/* False when the descriptor cannot be sampled (width or height 0, format 3). */
bool facet_raster_sampler_make(const uint32_t *descriptor, struct raster_sampler *out);
/* The texel of integer coordinates (U, V), wrapped, decoded and swizzled, as an ARGB8888 word.
 * *bad becomes true when a byte was outside VRAM. */
uint32_t facet_raster_texel(const struct raster_sampler *s,
                            int64_t u,
                            int64_t v,
                            const struct facet_texel_source *source,
                            bool *bad);
/* 11.3 for coordinates in 1/256 texel. */
uint32_t facet_raster_bilinear(const struct raster_sampler *s,
                               int64_t x,
                               int64_t y,
                               const struct facet_texel_source *source,
                               bool *bad);

static inline uint32_t rgb565_expand(uint32_t t)
{
    const uint32_t r = facet_tile_rgb565_r(&t), g = facet_tile_rgb565_g(&t);
    const uint32_t b = facet_tile_rgb565_b(&t);

    return 0xFF000000u | (r << 3 | r >> 2) << 16 | (g << 2 | g >> 4) << 8 | (b << 3 | b >> 2);
}

static inline uint32_t rgb565_pack(uint32_t argb)
{
    return (argb >> 19 & 31) << 11 | (argb >> 10 & 63) << 5 | (argb >> 3 & 31);
}

/* The units have code for these values and no others: a new one in a row needs some here. */
#define ONE(name) +1
_Static_assert(0 FACET_TILE_RSTATE_FB_FORMAT_VALUES(ONE) == 2, "pixel.c and span_avx2.c write it");
_Static_assert(0 FACET_TILE_RSTATE_DEPTH_FORMAT_VALUES(ONE) == 3,
               "pixel.c and span_avx2.c test it");
_Static_assert(0 FACET_TILE_RSTATE_DEPTH_FUNCTION_VALUES(ONE) == 8, "one bit each: <, =, >");
_Static_assert(0 FACET_TILE_RSTATE_BLEND_VALUES(ONE) == 3, "pixel.c and span_avx2.c blend");
_Static_assert(0 FACET_TILE_SAMPLER_FORMAT_VALUES(ONE) == 3, "texture.c and span_avx2.c decode");
_Static_assert(0 FACET_TILE_SAMPLER_SWIZZLE_VALUES(ONE) == 4, "texture.c and span_avx2.c order");
_Static_assert(0 FACET_TILE_GSTATE_CULL_VALUES(ONE) == 3, "setup.c culls");
_Static_assert(0 FACET_TILE_GDRAW_TOPOLOGY_VALUES(ONE) == 2, "geometry.c assembles");
#undef ONE

/* R, G, B, A of a colour word. */
static inline void rgba_floats(float out[4], uint32_t argb)
{
    out[0] = (float)facet_tile_argb8888_r(&argb);
    out[1] = (float)facet_tile_argb8888_g(&argb);
    out[2] = (float)facet_tile_argb8888_b(&argb);
    out[3] = (float)facet_tile_argb8888_a(&argb);
}

/* ---- rectangles ---- */

struct raster_box {
    int32_t x0, y0, x1, y1; /* pixels [x0, x1) x [y0, y1) */
};

/* ---- pipe ---- */

struct raster_triangle;
struct raster_pipe;

/* Fills those parts of triangles[list[0 .. count)] that lie in rows [y0, y1). */
typedef void raster_fill_fn(struct raster_pipe *pipe,
                            const struct raster_triangle *triangles,
                            const uint16_t *list,
                            uint32_t count,
                            int32_t y0,
                            int32_t y1);

/* Pixels of a draw, from all threads. */
struct raster_tally {
    _Atomic uint64_t pixels, passed;
};

struct raster_pipe {
    const struct facet_raster_unit *unit;
    struct facet_texel_source source;
    struct raster_box clip;
    uint32_t color_base, color_stride;
    uint32_t depth_base, depth_stride;
    uint32_t color_bytes, depth_bytes;       /* of one pixel; depth_bytes 0: depth is not active */
    uint8_t depth_format, depth_func, blend; /* as in RSTATE */
    bool depth_write, textured, tex_norm;
    bool nearest; /* whatever the sampler says: a rectangle */
    struct raster_sampler sampler;
    struct facet_raster_span color, depth; /* what may be written */
    /* Every pixel of the clip rectangle and every texel lies in VRAM, rows do not overlap, and
     * colour, depth and texels are apart: pixels may be made in any order and side by side. */
    bool regular;
    bool bad_mem; /* a pixel was skipped or a texel byte read as 0 */
    raster_fill_fn *fill;
    struct raster_tally *tally;       /* NULL: nothing is counted */
    struct facet_raster_probe *probe; /* NULL: the draw's surface does not have its pixel */
    struct facet_raster_fact *fact;   /* while that pixel is drawn */
};

/* What a draw adds to the state. */
struct raster_choice {
    uint8_t kind; /* enum facet_raster_part_kind */
    bool textured, depth;
    uint8_t blend;
    struct raster_box clip; /* the intersection of: */
    uint32_t cuts;          /* bit i: there is a */
    struct raster_box cut[FACET_RASTER_CUTS];
};

/* The framebuffer of an RSTATE, cut by its scissor if enabled: where the clip rectangle begins. */
void facet_raster_clip_start(struct raster_choice *choice,
                             const struct facet_tile_rstate_fields *rstate);
/* ... and is cut further by the rectangle of an xy and a wh member. */
void facet_raster_clip_cut(struct raster_choice *choice,
                           enum facet_raster_cut cut,
                           const int16_t xy[2],
                           const uint16_t wh[2]);

/* From an RSTATE; the sampler has been checked. */
void facet_raster_pipe_make(const struct facet_raster_unit *unit,
                            const struct facet_tile_rstate_fields *rstate,
                            const struct raster_choice *choice,
                            const struct raster_sampler *sampler,
                            struct raster_pipe *out);
/* Lets the pixels of the pipe be counted, when those of the unit are; then adds what they say. */
void facet_raster_pipe_count(struct raster_pipe *pipe, struct raster_tally *tally);
void facet_raster_pipe_counted(const struct raster_pipe *pipe);

static inline void tally_add(const struct raster_pipe *pipe, uint64_t pixels, uint64_t passed)
{
    if (pipe->tally != NULL) {
        atomic_fetch_add_explicit(&pipe->tally->pixels, pixels, memory_order_relaxed);
        atomic_fetch_add_explicit(&pipe->tally->passed, passed, memory_order_relaxed);
    }
}

/* ---- triangles ---- */

/* R, G, B, A in this order. */
struct raster_vertex {
    int32_t x, y;     /* snapped, 1/256 pixel */
    uint32_t outside; /* 0 or 1: not finite or out of range: RANGE */
    float z, w, u, v;
    float color[4];
};

enum { SNAPPED_MAX = 0x7FFFFF, SNAPPED_MIN = -0x800000 };

/* Snaps a position (16.2). */
void facet_raster_snap(struct raster_vertex *v, float x, float y);

struct raster_shade {
    uint8_t cull; /* as in GSTATE */
    bool affine;
    bool solid; /* no colour interpolation: FLAT, STATE_COLOR */
    uint32_t color;
};

/* The plane a0 + l1*d1 + l2*d2 of an attribute. */
struct raster_plane {
    float a0, d1, d2;
};

struct raster_triangle {
    struct raster_box box; /* bounds of the covered pixels inside the clip rectangle */
    int64_t a2;
    int64_t e[3];    /* edge values at the centre of pixel (box.x0, box.y0) */
    int64_t dx[3];   /* ... change per pixel to the right */
    int64_t dy[3];   /* ... and down */
    int64_t bias[3]; /* 0 for a top-left edge, else -1: covered iff every E + bias >= 0 */
    float inv_a2;
    float q[3];
    bool perspective;
    bool narrow; /* no longer than NARROW in x and y: edge values fit 32 bits */
    bool solid;  /* the colour is `color` everywhere */
    uint32_t color;
    struct raster_plane z, u, v, rgba[4];
};

enum { NARROW = 1 << 14 };

enum raster_setup { SETUP_DRAW, SETUP_RANGE, SETUP_DEGENERATE, SETUP_CULLED, SETUP_MISSED };

enum raster_setup facet_raster_setup(const struct raster_pipe *pipe,
                                     const struct raster_shade *shade,
                                     const struct raster_vertex *const vertex[3],
                                     struct raster_triangle *out);

/* Counts a triangle that setup has judged, once it is over. */
static inline void count_setup(struct facet_raster_counts *counts, enum raster_setup setup)
{
    uint64_t *const member[] = {[SETUP_DRAW] = &counts->rasterised,
                                [SETUP_RANGE] = &counts->out_of_range,
                                [SETUP_DEGENERATE] = &counts->degenerate,
                                [SETUP_CULLED] = &counts->culled,
                                [SETUP_MISSED] = &counts->missed};

    counts->parts++;
    ++*member[setup];
}

/* `more` is added `times` times. */
void facet_raster_counts_add(struct facet_raster_counts *counts,
                             const struct facet_raster_counts *more,
                             uint64_t times);

/* The covered pixels of row y: [*x0, *x1), empty when *x0 >= *x1. */
void facet_raster_row(const struct raster_triangle *t, int32_t y, int32_t *x0, int32_t *x1);

/* ---- the probe (probe.c) ----
 *
 * A draw tells about itself, then about each of its triangles or its rectangle: before pixels are
 * made (`triangle`, `rect`), which may settle what becomes of the pixel; around the pixel itself
 * (`enter`, `leave`); and afterwards (`done`), when it was skipped. */

void facet_raster_probe_draw(struct raster_pipe *pipe,
                             const struct facet_tile_rstate_fields *rstate,
                             const struct raster_choice *choice);
/* `clipped`: a part of a triangle that planes have cut. */
void facet_raster_probe_triangle(struct raster_pipe *pipe,
                                 const struct raster_shade *shade,
                                 const struct raster_vertex *const vertex[3],
                                 bool clipped);
void facet_raster_probe_rect(struct raster_pipe *pipe);
/* A triangle of which clipping left nothing at the pixel; bit i of `planes`: it crosses plane i. */
void facet_raster_probe_clip(struct raster_pipe *pipe,
                             const struct raster_vertex *const vertex[3],
                             uint32_t planes);
/* A triangle that comes to nothing before it has a place on the screen. */
void facet_raster_probe_lost(struct raster_pipe *pipe, enum facet_raster_fate fate);
void facet_raster_probe_meet(struct raster_pipe *pipe, int32_t x, int32_t y, const int64_t *edges);
void facet_raster_probe_leave(struct raster_pipe *pipe);
void facet_raster_probe_done(struct raster_pipe *pipe);

/* Around the code of one pixel. */
static inline void
facet_raster_probe_enter(struct raster_pipe *pipe, int32_t x, int32_t y, const int64_t *edges)
{
    if (__builtin_expect(pipe->probe != NULL, 0)) {
        facet_raster_probe_meet(pipe, x, y, edges);
    }
}

raster_fill_fn facet_raster_fill_plain;
#if defined(__x86_64__)
raster_fill_fn facet_raster_fill_avx2;
#endif

/* What an RRECT draws; its pixels are those of the pipe's clip rectangle. */
struct raster_rect {
    int32_t x, y;
    uint32_t w, h;
    uint32_t color; /* untextured */
    int32_t u0, v0;
    bool stretch;
    float z;
};

void facet_raster_rect_rows(struct raster_pipe *pipe,
                            const struct raster_rect *r,
                            int32_t y0,
                            int32_t y1);

/* ---- threads ---- */

/* One big thing from row `from` on, its rows shared out when the pipe is regular. Gives the first
 * row that is not filled, below the last one's when the draw is to be left. */
int32_t
facet_raster_fill_wide(struct raster_pipe *pipe, const struct raster_triangle *t, int32_t from);
int32_t facet_raster_rect_fill(struct raster_pipe *pipe, const struct raster_rect *r, int32_t from);

/* Takes triangles in submission order; on a regular pipe it collects them and fills many at once,
 * bands of rows in parallel when there is a pool. */
struct raster_queue;

struct raster_sink {
    struct raster_pipe *pipe;
    struct raster_queue *queue; /* NULL: triangles are filled at once */
    int64_t piece;              /* pixels between two questions */
    int64_t left;               /* ... until the next one */
    bool collects;              /* into the queue until it is full; the owner fills */
    struct raster_triangle *slot,
        *end; /* of the queue: where the next one goes, if not at the end */
};

/* `elements` is a guess of how much will come. */
void facet_raster_sink_open(struct raster_sink *sink, struct raster_pipe *pipe, uint32_t elements);
/* From row `from` on. Gives the first row that is not taken over, below the last one's when the
 * draw is to be left. */
int32_t facet_raster_sink_add_slowly(struct raster_sink *sink,
                                     const struct raster_triangle *t,
                                     int32_t from);

static inline int32_t
facet_raster_sink_add(struct raster_sink *sink, const struct raster_triangle *t, int32_t from)
{
    const int64_t pixels = (int64_t)(t->box.x1 - t->box.x0) * (t->box.y1 - t->box.y0);

    if (t != sink->slot || pixels >= sink->piece || from > t->box.y0 ||
        sink->slot + 1 == sink->end) {
        return facet_raster_sink_add_slowly(sink, t, from);
    }
    sink->left -= pixels; /* checked by the code that adds triangles */
    sink->slot++;
    return t->box.y1;
}
/* Everything added so far is in memory. */
void facet_raster_sink_flush(struct raster_sink *sink);
/* Sinks that only collect, until they have about as many pixels: opens one, false when there is no
 * memory; sorts what it has into bands; and fills what the first `good` of several have, in their
 * order, and empties all of them. */
bool facet_raster_sink_collect(struct raster_sink *sink, struct raster_pipe *pipe, int64_t pixels);
void facet_raster_sink_sort(struct raster_sink *sink);
void facet_raster_sinks_fill(struct raster_sink *const *sinks, size_t good, size_t count);
/* A piece is complete: the same, and asks. True: leave the draw here. */
bool facet_raster_sink_asks(struct raster_sink *sink);
void facet_raster_sink_close(struct raster_sink *sink);

/* ---- geometry ---- */

/* Counts reports in a part, whether it will be left or not. */
void facet_raster_report_add(struct facet_raster_part *part,
                             enum facet_raster_code code,
                             uint64_t count);

struct raster_gdraw {
    const struct facet_raster_unit *unit;
    struct facet_tile_gdraw_fields draw; /* overrides applied */
    struct facet_tile_rstate_fields rstate;
    struct facet_tile_gstate_fields gstate;
    struct facet_tile_gparam_fields gparam;
    struct facet_tile_normal_matrix_fields normal;
    struct facet_tile_plane_fields plane;
};

/* Runs a draw whose slots and sampler are good, or what is left of it. True when it is left again;
 * the geometry's members of `part` say where. */
bool facet_raster_geometry_draw(const struct raster_gdraw *draw,
                                const struct raster_sampler *sampler,
                                struct facet_raster_part *part,
                                struct facet_raster_span *color,
                                struct facet_raster_span *depth);

#endif
