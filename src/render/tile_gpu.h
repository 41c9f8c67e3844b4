/* Between tile_gpu.c and tile_mesh.c: a picture on its way through the tile GPU's command queue. */
#ifndef FACET_RENDER_TILE_GPU_H
#define FACET_RENDER_TILE_GPU_H

#include "render/world.h"
#include "shade/vec.h"

#include <facet/tile.h>

enum {
    GPU_VERTEX_BYTES = FACET_TILE_GVERTEX_SIZE, /* all attributes */
    GPU_MAX_LIGHTS = 64,                        /* put into vertex colours */
};

/* A piece of VRAM that is handed out and taken back as a whole. */
struct gpu_area {
    uint32_t base, size, used;
};

struct gpu {
    const struct facet_render *render;
    facet_machine *machine;
    uint32_t width, height; /* pixels drawn: a multiple of the picture's */
    uint32_t scale;
    struct gpu_area ring, descriptors, stage, texels;
    uint32_t color, depth; /* addresses */
    uint32_t *resident;    /* per texture, twice: its address in `texels` as it is, and cut */
    float view_projection[16];
    struct facet_vec3 eye;
    float exposure;
    uint32_t instance;                /* that is being drawn; FACET_SCENE_NONE: the sky */
    struct facet_render_pixel *pixel; /* NULL: nobody asks about one */
    bool baked; /* light is in the vertex colours; else the unit has the one sun */
    uint64_t triangles;
    struct facet_error *err;
};

/* What one GDRAW draws. */
struct gpu_batch {
    uint32_t vertices;       /* address */
    uint32_t indices, count; /* address, 0: none; elements */
    bool wide;               /* indices of 32 bits */
    const float *model;      /* NULL: vertices are in world space */
    float normal[9];         /* with model: what normals are multiplied with */
    uint32_t cull;           /* as in GSTATE */
    uint32_t material;       /* ARGB8888 */
    bool lit;                /* by the unit's light */
    bool clip_space;         /* positions need no matrix: CU_ASSIST */
    bool depth, keep_depth;  /* test it; do not write it */
    bool blend;
    bool glow;                               /* adds to the same triangles drawn before */
    const struct facet_texture_use *texture; /* NULL: none */
    bool cut;                                /* its alpha compared with `cutoff` */
    float cutoff;
};

/* Vertices and indices into the stage; when it starts again, all that was drawn from it is done. */
bool facet_gpu_stage(struct gpu *g, const void *bytes, uint32_t size, uint32_t *address);
/* How many bytes one facet_gpu_stage can take. */
uint32_t facet_gpu_stage_limit(const struct gpu *g);
/* A vertex with all attributes as it lies in VRAM. */
void facet_gpu_vertex(const struct facet_tile_gvertex_fields *vertex,
                      uint8_t bytes[GPU_VERTEX_BYTES]);
bool facet_gpu_draw(struct gpu *g, const struct gpu_batch *batch);

/* tile_left_out.c: facet_render_machine.note_left_out. */
enum facet_status facet_gpu_note_left_out(struct facet_scene *scene, struct facet_error *err);

/* Light (linear, at the picture's exposure) as a display colour. */
uint32_t facet_gpu_color(struct facet_vec3 light, float alpha);

/* tile_mesh.c: every instance of the scene. */
bool facet_gpu_draw_scene(struct gpu *g);

#endif
