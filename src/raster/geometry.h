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

#endif
