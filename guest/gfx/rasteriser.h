/* A rasteriser in plain C around the GFX and MTX instructions: the machines xphmg-gfx (a program on
 * the hart, guest/gfx) and xphmg-gfx-portable (the same sources on the host, with every operation
 * of the instructions written in C).
 *
 * A picture is drawn bucket by bucket. What the instructions do is behind `facet_guest_gfx_unit_*`;
 * everything else - gathering corners, clipping, edges, lights - is the same code for both
 * machines, so their pictures are equal to the bit. Order inside a bucket: clusters of 64 triangles
 * are culled as boxes, their corners transformed, triangles culled against the bucket's frustum,
 * clipped, and drawn in blocks of 8 x 8 pixels, which are the 64 lanes of an instruction.
 *
 * The unit works on windows in memory: slot k of lane i is [k][i] (gfx-semantics.md 3.2). */
#ifndef FACET_GUEST_GFX_RASTERISER_H
#define FACET_GUEST_GFX_RASTERISER_H

#include "shade/picture.h"

enum {
    FACET_GUEST_GFX_LANES = 64,
    FACET_GUEST_GFX_BLOCK = 8,    /* pixels on each side: one lane each */
    FACET_GUEST_GFX_CLUSTER = 64, /* triangles that are culled together */
    FACET_GUEST_GFX_CORNERS = 3 * FACET_GUEST_GFX_CLUSTER,
    FACET_GUEST_GFX_LUT_SIDE = 17,
    FACET_GUEST_GFX_LUT_FLOATS =
        3 * FACET_GUEST_GFX_LUT_SIDE * FACET_GUEST_GFX_LUT_SIDE * FACET_GUEST_GFX_LUT_SIDE,
};

/* ---- what the host prepares (src/render/xphmg_gfx_input.c) ---- */

/* Follows the scene in guest memory, where the RT image of the ray tracers is (guest/block.h).
 * Behind the struct: for each mesh the number of its first box, and one more for the end; then the
 * boxes, {min, max} of 64 triangles each, in object space; then a box around each instance, in
 * world space. */
struct facet_guest_gfx_input {
    uint64_t bytes;     /* of all of it */
    float clip[16];     /* world to clip space, by rows; z / w is 1 at the near plane, 0 far away */
    uint64_t firsts_at; /* bytes from here */
    uint64_t boxes_at;
    uint64_t instances_at;
    bool distant_lights; /* all lights are directional: positions are not needed */
    float lut[FACET_GUEST_GFX_LUT_FLOATS]; /* the grade: GFX.LUT3D's table, red fastest */
};

static inline const uint32_t *facet_guest_gfx_firsts(const struct facet_guest_gfx_input *input)
{
    return (const uint32_t *)((const char *)input + input->firsts_at);
}

static inline const float *facet_guest_gfx_boxes(const struct facet_guest_gfx_input *input)
{
    return (const float *)((const char *)input + input->boxes_at);
}

static inline const float *facet_guest_gfx_instance_boxes(const struct facet_guest_gfx_input *input)
{
    return (const float *)((const char *)input + input->instances_at);
}

/* ---- the unit: guest/gfx/unit.c and unit_portable.c ---- */

enum {
    FACET_GUEST_GFX_TO_CLIP,
    FACET_GUEST_GFX_TO_WORLD,
    FACET_GUEST_GFX_NORMALS,
    FACET_GUEST_GFX_BANKS
};

typedef float facet_guest_gfx_slot[FACET_GUEST_GFX_LANES];

struct facet_guest_gfx_taps {
    facet_guest_gfx_slot a[8];  /* 2, 3: fractions; 4..7: 1/w of the taps */
    facet_guest_gfx_slot r[20]; /* channel c of tap j: j * channels + c; the result follows */
};

struct facet_guest_gfx_depths {
    facet_guest_gfx_slot z;
    uint64_t pixel; /* of lane 0: y << 16 | x in the bucket; the others follow in rows of 8 */
};

struct facet_guest_gfx_colors {
    facet_guest_gfx_slot sum[4];
    facet_guest_gfx_slot work[4];
    facet_guest_gfx_slot base[4];
};

struct facet_guest_gfx_unit {
    float depth[FACET_BUCKET_PIXELS]; /* greater is nearer, 0 is nothing */
    FACET_WIDE_POINTER(const struct facet_scene_texture, texture);
    enum facet_wrap wrap;
    /* What the machine has in registers and the portable unit here. */
    FACET_WIDE_POINTER(const float, lut);
    float matrix[FACET_GUEST_GFX_BANKS][16];
    float planes[6][4];
};

void facet_guest_gfx_unit_open(struct facet_guest_gfx_unit *unit, const float *lut);
void facet_guest_gfx_unit_matrix(struct facet_guest_gfx_unit *unit,
                                 unsigned bank,
                                 const float rows[16]);
/* Vectors beyond `count` up to a multiple of 8 are written too. */
void facet_guest_gfx_unit_transform(const struct facet_guest_gfx_unit *unit,
                                    unsigned bank,
                                    const float (*in)[4],
                                    float (*out)[4],
                                    uint32_t count);
/* Points inside have A x + B y + C z + D w <= 0. */
void facet_guest_gfx_unit_planes(struct facet_guest_gfx_unit *unit, const float planes[6][4]);
/* Boxes {min, max} that may have a part inside, taken through matrix FACET_GUEST_GFX_TO_CLIP. */
uint64_t facet_guest_gfx_unit_boxes(const struct facet_guest_gfx_unit *unit,
                                    const facet_guest_gfx_slot *box,
                                    uint64_t lanes);
/* Triangles whose corners are not all outside of one plane; corner c has slots 4c..4c+3. */
uint64_t facet_guest_gfx_unit_triangles(const struct facet_guest_gfx_unit *unit,
                                        const facet_guest_gfx_slot *corners,
                                        uint64_t lanes);
/* The numbers of the lanes that are set, in order; how many. */
uint32_t facet_guest_gfx_unit_list(const struct facet_guest_gfx_unit *unit,
                                   uint64_t lanes,
                                   uint32_t list[64]);
/* Lanes that are nearer than what is there; `write`: and are there now. */
uint64_t facet_guest_gfx_unit_depth(struct facet_guest_gfx_unit *unit,
                                    const struct facet_guest_gfx_depths *depths,
                                    uint64_t lanes,
                                    bool write);
/* Perspective interpolation of 2, 3 or 4 channels. */
void facet_guest_gfx_unit_interpolate(const struct facet_guest_gfx_unit *unit,
                                      struct facet_guest_gfx_taps *taps,
                                      unsigned channels,
                                      uint64_t lanes);
void facet_guest_gfx_unit_texture(struct facet_guest_gfx_unit *unit,
                                  const struct facet_scene_texture *texture,
                                  enum facet_wrap wrap);
/* Linear colour, filtered; uv has two slots, rgba four. */
void facet_guest_gfx_unit_sample(const struct facet_guest_gfx_unit *unit,
                                 const facet_guest_gfx_slot *uv,
                                 facet_guest_gfx_slot *rgba,
                                 bool nearest,
                                 uint64_t lanes);
/* normal: three slots, brought to length 1; five more slots that are zero belong to the window. */
void facet_guest_gfx_unit_normalize(const struct facet_guest_gfx_unit *unit,
                                    facet_guest_gfx_slot *normal,
                                    uint64_t lanes);
/* work = work * base, four channels. */
void facet_guest_gfx_unit_multiply(const struct facet_guest_gfx_unit *unit,
                                   struct facet_guest_gfx_colors *colors,
                                   uint64_t lanes);
/* work = work * base * max(0, normal . light), three channels. */
void facet_guest_gfx_unit_light(const struct facet_guest_gfx_unit *unit,
                                struct facet_guest_gfx_colors *colors,
                                const facet_guest_gfx_slot *normal,
                                const facet_guest_gfx_slot *light,
                                uint64_t lanes);
/* sum = sum + work, three channels. */
void facet_guest_gfx_unit_add(const struct facet_guest_gfx_unit *unit,
                              struct facet_guest_gfx_colors *colors,
                              uint64_t lanes);
/* Three slots in [0, 1] through the table of the grade. */
void facet_guest_gfx_unit_grade(const struct facet_guest_gfx_unit *unit,
                                facet_guest_gfx_slot *rgb,
                                uint64_t lanes);

/* ---- a bucket ---- */

/* A corner of a triangle; everything after `clip` is linear over the triangle in space. */
struct facet_guest_gfx_vertex {
    float clip[4];
    float position[3], normal[3], uv[2], emissive_uv[2], color[4];
};

/* An instance that may be in the bucket, and how far away its middle is. */
struct facet_guest_gfx_place {
    float depth;
    uint32_t instance;
};

enum { FACET_GUEST_GFX_PLACES = 1024 };

struct facet_guest_gfx_bucket {
    FACET_WIDE_POINTER(const struct facet_picture, picture);
    FACET_WIDE_POINTER(const struct facet_guest_gfx_input, input);
    struct facet_shade_lens lens;
    uint32_t x, y, width, height; /* pixels of the picture */
    uint32_t sample;
    float shift_x, shift_y; /* of this sample, in pixels */
    /* What is being drawn. */
    FACET_WIDE_POINTER(const struct facet_scene_instance, instance);
    FACET_WIDE_POINTER(const struct facet_scene_mesh, mesh);
    FACET_WIDE_POINTER(const struct facet_scene_material, material);
    uint32_t triangle; /* number in the mesh */
    struct facet_guest_gfx_unit unit;
    float color[FACET_BUCKET_PIXELS][3]; /* of this sample */
    float sum[FACET_BUCKET_PIXELS][3];
    struct facet_guest_gfx_place places[FACET_GUEST_GFX_PLACES];
    /* Windows and arrays for the unit. */
    facet_guest_gfx_slot box[6], corners[12];
    float object[FACET_GUEST_GFX_CORNERS][4], clip[FACET_GUEST_GFX_CORNERS][4],
        world[FACET_GUEST_GFX_CORNERS][4];
    float normal[FACET_GUEST_GFX_CORNERS][4];
    struct facet_guest_gfx_depths depths;
    struct facet_guest_gfx_taps taps;
    struct facet_guest_gfx_colors colors;
    facet_guest_gfx_slot normals[8], lights[3], uv[2], positions[3], emitted[4];
};

/* Draws bucket `number`; the result is in bucket->sum, linear light. */
void facet_guest_gfx_bucket_draw(struct facet_guest_gfx_bucket *bucket,
                                 const struct facet_picture *picture,
                                 const struct facet_guest_gfx_input *input,
                                 uint32_t number);
/* The pixels, to a place whose rows are `stride` pixels long. */
void facet_guest_gfx_bucket_store(const struct facet_guest_gfx_bucket *bucket,
                                  float *rgb,
                                  size_t stride);

/* mesh.c: up to 64 boxes one after the other, through matrix FACET_GUEST_GFX_TO_CLIP. */
uint64_t facet_guest_gfx_cull_boxes(struct facet_guest_gfx_bucket *bucket,
                                    const float (*boxes)[6],
                                    uint32_t count);
/* The current instance of the bucket. */
void facet_guest_gfx_draw_instance(struct facet_guest_gfx_bucket *bucket);
/* raster.c */
void facet_guest_gfx_draw_triangle(struct facet_guest_gfx_bucket *bucket,
                                   const struct facet_guest_gfx_vertex corner[3]);

/* A triangle on the screen, ready for its pixels. */
struct facet_guest_gfx_patch {
    const struct facet_guest_gfx_vertex *corner[3];
    float q[3]; /* 1/w */
    bool back;
};

/* shade.c: the pixels of a block whose lanes passed the depth test; bucket->taps.a and
 * bucket->depths are set. */
void facet_guest_gfx_shade_block(struct facet_guest_gfx_bucket *bucket,
                                 const struct facet_guest_gfx_patch *patch,
                                 uint32_t x,
                                 uint32_t y,
                                 uint64_t lanes);

/* For each lane i that is set. */
#define FACET_GUEST_GFX_EACH(i, lanes)                                                             \
    for (uint64_t left_ = (lanes), i = 0;                                                          \
         left_ != 0 && (i = (uint64_t)__builtin_ctzll(left_), true);                               \
         left_ &= left_ - 1)

#endif
