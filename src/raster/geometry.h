/* Between geometry.c, clip.c and vertex.c: a GDRAW made ready, and its vertices. */
#ifndef FACET_RASTER_GEOMETRY_H
#define FACET_RASTER_GEOMETRY_H

#include "raster/internal.h"

/* Planes of 17 step 6 in their order. */
enum {
    PLANE_W,
    PLANE_NEAR,
    PLANE_FAR,
    PLANE_LEFT,
    PLANE_RIGHT,
    PLANE_BOTTOM,
    PLANE_TOP,
    PLANE_USER,
    PLANE_COUNT
};

struct geo_vertex {
    struct raster_vertex screen; /* as if nothing were clipped; w is the clip-space w */
    float x, y, z;               /* clip space */
    uint32_t color;              /* ARGB8888, what FLAT takes */
    uint16_t outside;            /* bit i: not inside plane i */
    uint16_t bad;                /* 0 or 1: index or vertex bytes outside VRAM */
};

struct geo_light {
    float normal[9]; /* applied to normals when has_normal_matrix */
    bool has_normal_matrix;
    bool specular;
    float direction[3], half[3];
    float ambient[3], light[3]; /* /255, R G B */
    float spec_color[3];
    uint32_t power;
};

struct geo_draw;

typedef void
geo_vertex_fn(const struct geo_draw *draw, const uint8_t *bytes, struct geo_vertex *out);

struct geo_draw {
    /* fetch */
    uint32_t vertex_bytes;
    uint32_t at_normal, at_uv, at_color; /* 0: absent */
    bool uv_fp16;
    /* transform and colour */
    bool cu_assist, has_model, has_material, lit;
    float mvp[16], model[12];
    uint32_t material;
    struct geo_light light;
    /* clip */
    bool clip, user_plane;
    float guard, plane[4];
    /* viewport */
    float half_w, half_h, centre_x, centre_y;
    geo_vertex_fn *process;
};

/* Steps 2 to 4 and 7 of section 17 for one vertex, and on which side of the planes it lies. */
geo_vertex_fn facet_geo_vertex_plain;
#if defined(__x86_64__)
geo_vertex_fn facet_geo_vertex_fma;
#endif

/* norm() of step 4. */
void facet_raster_geo_normalize(const float a[3], float out[3]);

/* A plane adds one corner to a convex polygon, but rounding, infinities and NaNs may bend it: n
 * corners with k runs outside become at most n + k, and k <= n / 2, so eight planes make at most
 * 4, 6, 9, 13, 19, 28, 42, 63 corners of a triangle. */
enum { GEO_MAX_CORNERS = 64 };

/* What is left of a triangle; returns how many corners (0: nothing). `first` is the first plane
 * that cuts. */
unsigned facet_raster_geo_clip(const struct geo_draw *draw,
                               const struct geo_vertex *const triangle[3],
                               unsigned first,
                               struct raster_vertex out[GEO_MAX_CORNERS]);

/* ---- a running draw ---- */

enum { GEO_CACHE = 1024, GEO_SPARE = 4 };

/* Processed vertices, by number modulo `mask` + 1. */
struct geo_cache {
    uint32_t mask;
    uint32_t tag[GEO_CACHE];
    uint8_t filled[GEO_CACHE];
    struct geo_vertex vertex[GEO_CACHE];
};

struct geo_assembler {
    const struct geo_draw *draw;
    const struct raster_gdraw *in;
    struct raster_pipe *pipe;
    struct raster_sink sink;
    struct facet_raster_part *part; /* reports, and where the draw is left */
    uint8_t cull;                   /* as in GSTATE */
    bool flat, affine, strip;
    bool leaves;                        /* the draw is left here */
    uint64_t k, count;                  /* the element that comes next, and all of them */
    uint64_t n;                         /* elements since the last restart */
    uint8_t fan;                        /* the part of its triangle that comes next */
    uint8_t done;                       /* parts of a triangle that was left: drawn before */
    int32_t row;                        /* ... and rows of the next part */
    const struct geo_vertex *corner[3]; /* list: those of the unfinished triangle; strip: the last
                                           two in [0] and [1] */
    struct geo_cache *cache;            /* NULL: none */
    struct facet_raster_counts counts;  /* up to the last element that was taken */
    struct geo_vertex spare[GEO_SPARE];
};

/* Goes on where the part of the assembler says, up to the rest of a triangle that was left. */
void facet_raster_geo_restore(struct geo_assembler *a);
/* Takes the elements from k to count, or leaves the draw. */
void facet_raster_geo_walk(struct geo_assembler *a);
/* How many elements from the next one on are certain to lie outside VRAM. */
uint64_t facet_raster_geo_outside(const struct geo_assembler *a);
/* Leaves the draw before element k. */
void facet_raster_geo_leave(struct geo_assembler *a);

/* The same as a walk, with elements shared out to the threads of the pool. */
void facet_raster_geo_crew(struct geo_assembler *a);

#endif
