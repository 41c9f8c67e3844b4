/* The fixed-function units of the tile GPU: texture, raster and geometry (tile-semantics.md 11 and
 * 14 to 17), as functions over explicit inputs. There is no machine in here: the caller that
 * executes an instruction or a queue command hands in the memory, the sampler table and the
 * context, and gets back what rd receives and which errors were reported.
 *
 * Everything is immediate (section 14): a call reads its inputs from VRAM and has written all
 * pixels when it returns. The result depends neither on `pool` nor on `plain`: both only choose how
 * fast the same bits are made. A unit with a `stop` may leave a draw in the middle: the same call
 * again, with the part that it kept, does the rest. */
#ifndef FACET_RASTER_RASTER_H
#define FACET_RASTER_RASTER_H

#include "base/pool.h"

#include <facet/tile_layouts.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACET_VRAM_BASE UINT32_C(0x80000000)

/* What bytes of VRAM are to the unit that reads or draws them. */
enum facet_raster_use {
    FACET_RASTER_USE_STATE, /* descriptors, matrices, vertex blocks */
    FACET_RASTER_USE_INDEX,
    FACET_RASTER_USE_VERTEX, /* all of a vertex of GDRAW */
    FACET_RASTER_USE_TEXEL,  /* of a draw */
    FACET_RASTER_USE_SAMPLE, /* a texel of TEX2D */
    FACET_RASTER_USE_DEPTH,  /* of a pixel: compared, and written when it passes */
    FACET_RASTER_USE_COLOR,  /* of a pixel: written */
    FACET_RASTER_USE_BLEND,  /* of a pixel: read and written */
};

/* Called with the bytes of VRAM that a unit reads or draws, counted from its start. Only the plain
 * code calls it, in the calling thread: to listen, set `plain` and remove the pool. */
struct facet_raster_watch {
    void *context;
    void (*touch)(void *context, enum facet_raster_use use, uint32_t offset, uint32_t size);
    void (*triangle)(void *context); /* one comes to the setup, drawn or not; may be NULL */
};

/* ---- draws that are left in the middle ---- */

#define FACET_RASTER_DRAW_WORDS 8 /* the largest descriptor of a draw */
#define FACET_RASTER_CORNER_WORDS 16

enum facet_raster_part_kind {
    FACET_RASTER_PART_NONE,
    FACET_RASTER_PART_RDRAW,
    FACET_RASTER_PART_RRECT,
    FACET_RASTER_PART_GDRAW,
};

/* How far a draw came. Plain words without pointers: a snapshot is a copy. What the draw has read
 * is kept, since it may lie where the draw writes. */
struct facet_raster_part {
    uint8_t kind;                                  /* enum facet_raster_part_kind */
    uint8_t code;                                  /* reports so far: the first, */
    uint32_t count;                                /* and how many */
    uint8_t bad_mem;                               /* 0 or 1: a pixel or texel lay outside VRAM */
    uint32_t words[FACET_RASTER_DRAW_WORDS];       /* the descriptor, with what a command adds */
    uint32_t block[FACET_TILE_VERTEX_BLOCK_WORDS]; /* RDRAW */
    uint32_t row; /* of the current triangle or rectangle: the first that is not drawn */
    /* GDRAW */
    uint8_t bad_mem_told; /* 0 or 1: ... and is among the reports */
    uint8_t half;         /* 0 or 1: the current triangle of `element` */
    uint8_t fan;          /* ... the part of it that is, when it was clipped */
    uint32_t element;     /* the next one */
    uint64_t assembled;   /* elements since the last restart */
    /* Vertices that wait for others, and that of `element` when it is half drawn. */
    uint32_t corner[3][FACET_RASTER_CORNER_WORDS];
};

/* Whether a part read from outside (a snapshot) is safe to continue with. */
bool facet_raster_part_valid(const struct facet_raster_part *part);

/* What to ask between two pieces of a draw, and what was left. */
struct facet_raster_stop {
    /* The nanoseconds that the last piece took, roughly. True: leave the draw here. */
    bool (*asks)(void *context, uint64_t nanoseconds);
    void *context;
    bool often;      /* ask wherever a draw can be left, not after some milliseconds */
    int64_t pending; /* pixels since the last question */
    struct facet_raster_part part;
};

/* Memory that draws of a unit use again, one at a time. */
struct facet_raster_scratch;

struct facet_raster_scratch *facet_raster_scratch_create(void); /* NULL: there is no memory */
void facet_raster_scratch_destroy(struct facet_raster_scratch *scratch); /* NULL is allowed */

/* What draws did, by the contract: each number is the same on every path and for any number of
 * threads. */
#define FACET_RASTER_COUNTS(N)                                                                     \
    N(elements)  /* of GDRAWs */                                                                   \
    N(vertices)  /* fetched and processed, one for each element that has one */                    \
    N(triangles) /* assembled, and those of RDRAW */                                               \
    N(bad_index) /* ... of these: with an index or vertex outside VRAM */                          \
    N(outside)   /* ... that clipping removed, or with a w too small where nothing is clipped */   \
    N(clipped)   /* ... that a plane cut */                                                        \
    N(parts)     /* what went on: uncut triangles, and the fans of the cut ones */                 \
    N(out_of_range) /* ... of these: reported as RANGE */                                          \
    N(degenerate)   /* ... without area */                                                         \
    N(culled)       /* ... that face the wrong way */                                              \
    N(missed)       /* ... with no pixel centre between their extremes in the clip rectangle */    \
    N(rasterised)   /* ... and all others */                                                       \
    N(pixels)       /* covered, in VRAM */                                                         \
    N(z_tested)                                                                                    \
    N(z_failed)                                                                                    \
    N(blended)                                                                                     \
    N(written)                                                                                     \
    N(texels)

enum facet_raster_traffic {
    FACET_RASTER_INDEX_LOAD,
    FACET_RASTER_VERTEX_LOAD,
    FACET_RASTER_DEPTH_LOAD,
    FACET_RASTER_DEPTH_STORE,
    FACET_RASTER_COLOR_LOAD,
    FACET_RASTER_COLOR_STORE,
    FACET_RASTER_TEXEL_LOAD,
    FACET_RASTER_PALETTE_LOAD,
    FACET_RASTER_TRAFFICS
};

struct facet_raster_counts {
#define FACET_RASTER_MEMBER(name) uint64_t name;
    FACET_RASTER_COUNTS(FACET_RASTER_MEMBER)
#undef FACET_RASTER_MEMBER
    uint64_t accesses[FACET_RASTER_TRAFFICS];
    uint32_t bytes_each[FACET_RASTER_TRAFFICS]; /* of an access, where there are any */
};

/* What the units work on. Nothing is owned. */
struct facet_raster_unit {
    uint8_t *vram; /* the byte at FACET_VRAM_BASE */
    uint32_t vram_size;
    const uint32_t (*samplers)[FACET_TILE_SAMPLER_WORDS]; /* 32 descriptors */
    facet_pool *pool;                                     /* NULL: the calling thread alone */
    bool plain;                                           /* portable code only, no host SIMD */
    const struct facet_raster_watch *watch;               /* NULL: none */
    struct facet_raster_stop *stop;                       /* NULL: draws are never left */
    struct facet_raster_scratch *scratch;                 /* NULL: nothing is kept */
    struct facet_raster_counts *counts;                   /* draws add to it; NULL: none */
    struct facet_raster_probe *probe; /* NULL: none; told what happens to one pixel (probe.h) */
};

/* ---- contexts (14) ---- */

enum facet_raster_kind { FACET_RASTER_RSTATE, FACET_RASTER_GSTATE, FACET_RASTER_GPARAM };

#define FACET_RASTER_KINDS 3
#define FACET_RASTER_SLOTS 16
#define FACET_RASTER_NONE UINT8_C(0xFF)

/* Plain words without pointers: a snapshot is a copy. Descriptors stand as they were read. */
struct facet_raster_context {
    uint32_t rstate[FACET_RASTER_SLOTS][FACET_TILE_RSTATE_WORDS];
    uint32_t gstate[FACET_RASTER_SLOTS][FACET_TILE_GSTATE_WORDS];
    /* What GSTATE.normal_ptr and plane_ptr pointed to, else zero. */
    uint32_t normal[FACET_RASTER_SLOTS][FACET_TILE_NORMAL_MATRIX_WORDS];
    uint32_t plane[FACET_RASTER_SLOTS][FACET_TILE_PLANE_WORDS];
    uint32_t gparam[FACET_RASTER_SLOTS][FACET_TILE_GPARAM_WORDS];
    uint32_t setup[FACET_TILE_VERTEX_BLOCK_WORDS]; /* of the last RSETUP */
    uint32_t token;                                /* gfx_token */
    uint16_t valid[FACET_RASTER_KINDS];            /* bit n: slot n was loaded */
    uint8_t current[FACET_RASTER_KINDS];           /* 0..15 or FACET_RASTER_NONE */
    uint8_t next[FACET_RASTER_KINDS];              /* where the next load by an instruction goes */
    uint8_t has_setup;                             /* 0 or 1 */
};

/* As at a tile start (cores) or at machine reset (queue). */
void facet_raster_reset(struct facet_raster_context *context);
/* Makes a context read from outside (a snapshot) safe to use; false when it could not have come
 * from any sequence of instructions. Changes nothing. */
bool facet_raster_context_valid(const struct facet_raster_context *context);

/* ---- results ---- */

enum facet_raster_code {
    FACET_RASTER_OK,
    FACET_RASTER_BAD_ALIGN,
    FACET_RASTER_BAD_MEM,
    FACET_RASTER_BAD_STATE,
    FACET_RASTER_BAD_FORMAT,
    FACET_RASTER_BAD_DESC,
    FACET_RASTER_BAD_INDEX,
    FACET_RASTER_RANGE,
    FACET_RASTER_BAD_SAMPLER,
};

#define FACET_RASTER_FAILED UINT32_C(0xFFFFFFFF)
#define FACET_RASTER_MAX_REPORTS 0xFFFFFF

/* Bytes [begin, end) counted from the start of VRAM; empty when begin == end. */
struct facet_raster_span {
    uint32_t begin, end;
};

struct facet_raster_result {
    uint32_t rd;  /* slot number, token, or FACET_RASTER_FAILED */
    uint8_t code; /* enum facet_raster_code: the first report, what gerror.CODE takes if it is 0 */
    uint32_t count; /* reports, at most 0xFFFFFF: add to gerror.COUNT, saturating */
    struct facet_raster_span color, depth; /* no byte outside was written */
    bool left; /* in the middle: nothing but `color` and `depth` counts yet */
};

/* ---- instructions: `address` is s[rs1] + uimm ---- */

struct facet_raster_result facet_raster_rstate(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address);
struct facet_raster_result facet_raster_gstate(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address);
struct facet_raster_result facet_raster_gparam(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address);
struct facet_raster_result facet_raster_rsetup(const struct facet_raster_unit *unit,
                                               struct facet_raster_context *context,
                                               uint32_t address);
struct facet_raster_result facet_raster_rdraw(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address);
struct facet_raster_result facet_raster_rrect(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address);
struct facet_raster_result facet_raster_gdraw(const struct facet_raster_unit *unit,
                                              struct facet_raster_context *context,
                                              uint32_t address);

/* ---- queue commands (18): the same with what arg1 and arg2 say ---- */

/* LOAD_RSTATE, LOAD_GSTATE, LOAD_GPARAM. `slot` is 0..15 (the queue has refused others as BAD_ARG);
 * it becomes valid and current, `next` stays. */
struct facet_raster_result facet_raster_load(const struct facet_raster_unit *unit,
                                             struct facet_raster_context *context,
                                             enum facet_raster_kind kind,
                                             unsigned slot,
                                             uint32_t address);
/* arg1: vertex block, 0 as in the descriptor; arg2: [15:0] is OR-ed into the flags. */
struct facet_raster_result facet_raster_rdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg1,
                                                      uint32_t arg2);
/* arg1: 0..15 replaces state_id; arg2: [15:0] is OR-ed into the flags. */
struct facet_raster_result facet_raster_rrect_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg1,
                                                      uint32_t arg2);
/* One descriptor; the queue walks arrays (arg1). arg2: bit 0 CU_ASSIST, bit 1 strip. */
struct facet_raster_result facet_raster_gdraw_command(const struct facet_raster_unit *unit,
                                                      struct facet_raster_context *context,
                                                      uint32_t address,
                                                      uint32_t arg2);

/* ---- texture unit (11) ---- */

/* Reads `size` (1, 2 or 4) bytes; bytes outside VRAM read 0. False when there were any. */
typedef bool facet_texel_fn(void *context, uint32_t address, unsigned size, uint8_t *bytes);

struct facet_texel_source {
    facet_texel_fn *fetch;
    void *context;
};

/* Reads VRAM directly; its context is a const struct facet_raster_unit *. */
facet_texel_fn facet_raster_texel_from_vram;

/* TEX2D.N (bilinear = false) and TEX2D.B: `u` and `v` are lanes 0 and 1, `type` is a code of 10.1
 * (0..5), `normalised` is config.TEX_NORM. False sets status.TEXERR; a bad descriptor or type also
 * gives a result of zeros. Finding the descriptor (index or pointer mode) is the caller's. */
bool facet_raster_tex2d(const uint32_t *descriptor,
                        uint32_t u,
                        uint32_t v,
                        bool normalised,
                        bool bilinear,
                        unsigned type,
                        const struct facet_texel_source *source,
                        uint32_t result[4]);

#endif
