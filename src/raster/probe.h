/* What draws do to one pixel: each draw, triangle and rectangle says what became of the pixel
 * there, with the values on the way. The rules are those of the units themselves, which note what
 * they compute; while a unit has a probe, it draws pixel after pixel in the calling thread, with
 * the same bits. */
#ifndef FACET_RASTER_PROBE_H
#define FACET_RASTER_PROBE_H

#include "raster/raster.h"

/* What cuts a draw's pixels; the clip rectangle is what is inside all of them. */
enum facet_raster_cut {
    FACET_RASTER_CUT_FRAME,
    FACET_RASTER_CUT_SCISSOR, /* of the RSTATE */
    FACET_RASTER_CUT_VIEWPORT,
    FACET_RASTER_CUT_DRAW_SCISSOR, /* of the GSTATE */
    FACET_RASTER_CUT_RECTANGLE,    /* an RRECT */
    FACET_RASTER_CUTS
};

struct facet_raster_cut_box {
    int32_t x0, y0, x1, y1; /* pixels [x0, x1) x [y0, y1) */
};

/* A draw that begins. */
struct facet_raster_probe_draw {
    uint8_t kind;      /* enum facet_raster_part_kind */
    bool meets;        /* its colour surface has the pixel: */
    int32_t x, y;      /* there */
    uint32_t cuts;     /* bit i: `cut` has a rectangle i, */
    uint32_t excludes; /* which the pixel is outside of */
    struct facet_raster_cut_box cut[FACET_RASTER_CUTS];
    uint32_t color_base, color_stride, color_bytes;
    uint32_t depth_base, depth_stride, depth_bytes; /* depth_bytes 0: no depth */
    uint8_t depth_func, blend;                      /* as in RSTATE */
    bool depth_write, textured, bilinear;
};

enum facet_raster_fate {
    FACET_RASTER_FATE_WRITTEN,
    FACET_RASTER_FATE_DEPTH,   /* the depth test refused it */
    FACET_RASTER_FATE_MEMORY,  /* a byte of its depth lies outside VRAM */
    FACET_RASTER_FATE_OUTSIDE, /* covered, but outside the clip rectangle */
    FACET_RASTER_FATE_CULLED,  /* covered by a triangle that faces the wrong way */
    FACET_RASTER_FATE_CLIPPED, /* covered by a part that planes have cut off */
    FACET_RASTER_FATE_TIE,     /* on an edge that is neither top nor left */
    FACET_RASTER_FATE_EDGE,    /* on the other side of an edge */
    FACET_RASTER_FATE_EMPTY,   /* the triangle covers no pixel centre at all */
    FACET_RASTER_FATE_RANGE,   /* a position or w out of range */
    FACET_RASTER_FATE_BEHIND,  /* w is too small for a place on the screen */
    FACET_RASTER_FATE_INDEX,   /* an index or a vertex outside VRAM */
    FACET_RASTER_FATES
};

enum { FACET_RASTER_TAPS = 8 }; /* four texels, each with an index of a palette */

struct facet_raster_fact {
    enum facet_raster_fate fate;
    int32_t x, y;      /* the pixel on the draw's surface */
    uint32_t triangle; /* of the draw, from 0; rectangles: 0 */
    bool part;         /* ... a piece of it that clipping left */
    /* Triangles with a place on the screen; corners in the order of the edges, so that all edge
     * values are positive inside. */
    bool placed;
    int32_t corner[3][2]; /* 1/256 pixel */
    int64_t edge[3]; /* at the pixel's centre: 0 from corner 1 to 2, 1 from 2 to 0, 2 from 0 to 1 */
    int64_t bias[3]; /* 0: top or left; covered iff edge + bias >= 0 everywhere */
    int64_t area;    /* twice */
    float miss;      /* how far outside the centre is, in pixels; 0: not */
    uint32_t planes; /* CLIPPED: which ones cut, in the order of tile-semantics.md 17 step 6 */
    /* What was computed for the pixel. */
    bool depth_tested;
    float z;
    uint32_t depth_value, depth_stored; /* as compared */
    float weight[2];                    /* of corners 1 and 2, with perspective */
    float u, v;
    uint32_t tap_count;
    struct {
        uint32_t address, size, value;
    } tap[FACET_RASTER_TAPS];
    uint32_t surface, texel; /* ARGB8888: interpolated, sampled, */
    uint32_t source;         /* their product, or a rectangle's colour */
    uint32_t destination;    /* when blended */
    uint32_t blended;        /* what is stored, before packing */
    uint32_t before, after;  /* the pixel's bytes as a number */
};

struct facet_raster_probe {
    uint32_t address, size; /* the bytes of the pixel, in VRAM; 1 to 4 */
    void *context;
    void (*draw)(void *context, const struct facet_raster_probe_draw *draw);
    void (*fact)(void *context, const struct facet_raster_fact *fact);
    /* private */
    struct facet_raster_fact now;
    struct facet_texel_source texels; /* behind the one that notes taps */
    uint32_t triangle;                /* that comes next */
    int32_t x, y;
    uint32_t excludes;
    bool pending; /* the pixel will be drawn */
    bool covered; /* by the current triangle */
};

#endif
