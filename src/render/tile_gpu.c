/* The machine tile: the scene through the geometry and raster units of the tile GPU, by commands in
 * its queue (tile-semantics.md 14 to 18). This file is the driver: VRAM, descriptors, textures, the
 * frame; tile_mesh.c turns meshes into vertex buffers and draws.
 *
 * The unit knows 8-bit colours, one sun and an ambient light, no shadows. Colours are sRGB codes,
 * as on a display: the product of two codes is close to the code of the product. More samples per
 * pixel than one make the frame twice as wide and high, averaged at the end. */
#include "render/tile_gpu.h"
#include "render/pixel.h"

#include "base/bits.h"
#include "image/color.h"
#include "machine/counts.h"
#include "shade/light.h"
#include "shade/picture.h"
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

enum {
    RING_BYTES = 64 << 10,
    DESCRIPTOR_BYTES = 64 << 10,
    STAGE_BYTES = 16 << 20,
    TEXEL_BYTES = 32 << 20,
    BATCH_BYTES = 1024,  /* descriptors of one batch, at most */
    COMMAND_BYTES = 256, /* and its commands */
    SKY_COLUMNS = 32,
    SKY_ROWS = 18,
};

#define AGREE 0.6F

/* ---- queue ---- */

/* Runs all that was pushed; then the descriptors' area is free. */
static bool flush(struct gpu *g)
{
    enum facet_tile_queue_state state;
    uint32_t error = 0;

    (void)facet_tile_flush(g->machine, &state, NULL, NULL);
    g->descriptors.used = 0;
    (void)facet_tile_host_read(g->machine, FACET_TILE_REG_LAST_ERROR, &error, NULL);
    if (state == FACET_TILE_QUEUE_EMPTY &&
        (error == FACET_TILE_STATUS_OK ||
         error == FACET_TILE_STATUS_GRAPHICS + FACET_RASTER_RANGE)) { /* beyond the guard band */
        return facet_tile_host_write(g->machine, FACET_TILE_REG_LAST_ERROR, 0, g->err) == FACET_OK;
    }
    (void)facet_fail(g->err,
                     FACET_ERR_INTERNAL,
                     error,
                     "the tile machine's queue is %s after status 0x%02x, %s",
                     facet_tile_queue_state_name(state),
                     (unsigned)error,
                     facet_tile_status_name(error));
    return false;
}

static bool push(struct gpu *g, uint8_t opcode, uint32_t a, uint32_t b, uint32_t c)
{
    const struct facet_tile_command command = {.opcode = opcode, .arg = {a, b, c}};

    return (g->pixel == NULL || facet_render_pixel_command(g->pixel, opcode, g->instance)) &&
           facet_tile_push(g->machine, &command, g->err) == FACET_OK;
}

static bool write_words(struct gpu *g, uint32_t address, const uint32_t *words, uint32_t count)
{
    uint8_t bytes[256];

    for (uint32_t i = 0; i < count; i++) {
        facet_store_le32(bytes + 4 * (size_t)i, words[i]);
    }
    return facet_machine_write(g->machine, 0, address, bytes, 4 * (size_t)count, g->err) ==
           FACET_OK;
}

/* A descriptor of up to 64 words; room was made by make_room. */
static bool descriptor(struct gpu *g, const uint32_t *words, uint32_t count, uint32_t *address)
{
    *address = g->descriptors.base + g->descriptors.used;
    g->descriptors.used += (4 * count + 63) / 64 * 64;
    return write_words(g, *address, words, count);
}

static bool make_room(struct gpu *g)
{
    return (g->descriptors.used + BATCH_BYTES <= g->descriptors.size &&
            facet_tile_info_of(g->machine).ring_room >= COMMAND_BYTES) ||
           flush(g);
}

bool facet_gpu_stage(struct gpu *g, const void *bytes, uint32_t size, uint32_t *address)
{
    if (size > g->stage.size - g->stage.used) {
        if (!flush(g)) {
            return false;
        }
        g->stage.used = 0;
    }
    *address = g->stage.base + g->stage.used;
    g->stage.used += (size + 63) / 64 * 64;
    return facet_machine_write(g->machine, 0, *address, bytes, size, g->err) == FACET_OK;
}

uint32_t facet_gpu_stage_limit(const struct gpu *g)
{
    return g->stage.size / 2 - 64; /* vertices and indices of one batch always fit together */
}

void facet_gpu_vertex(const struct facet_tile_gvertex_fields *vertex,
                      uint8_t bytes[GPU_VERTEX_BYTES])
{
    uint32_t words[FACET_TILE_GVERTEX_WORDS];

    facet_tile_gvertex_pack(vertex, words);
    for (size_t i = 0; i < FACET_TILE_GVERTEX_WORDS; i++) {
        facet_store_le32(bytes + 4 * i, words[i]);
    }
}

/* ---- textures ---- */

/* Halved until it fits the units and the area: the mean of four texels. */
static uint32_t shrink_of(const struct gpu *g, const struct facet_scene_texture *t)
{
    uint32_t shrink = 1;

    while (t->width / shrink > 65535 || t->height / shrink > 65535 ||
           4 * (uint64_t)(t->width / shrink) * (t->height / shrink) > g->texels.size) {
        shrink *= 2;
    }
    return shrink;
}

static uint32_t texel(const struct facet_scene_texture *t,
                      uint32_t x,
                      uint32_t y,
                      uint32_t shrink,
                      const struct gpu_batch *b)
{
    const uint8_t *c =
        t->rgba + 4 * ((size_t)(y * (uint64_t)shrink) * t->width + (size_t)x * shrink);
    uint32_t alpha = c[3];

    if (b->cut) {
        alpha = (float)c[3] * (1.0F / 255.0F) >= b->cutoff ? 255 : 0;
    }
    return alpha << 24 | (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
}

static bool upload(struct gpu *g,
                   const struct facet_scene_texture *t,
                   uint32_t shrink,
                   const struct gpu_batch *b,
                   uint32_t *address)
{
    uint32_t width = t->width / shrink > 0 ? t->width / shrink : 1;
    uint32_t height = t->height / shrink > 0 ? t->height / shrink : 1;
    uint32_t size = 4 * width * height;
    uint8_t *bytes;
    bool good;

    if (size > g->texels.size - g->texels.used) { /* all out, this one in */
        if (!flush(g)) {
            return false;
        }
        g->texels.used = 0;
        memset(g->resident, 0, 2 * (size_t)g->render->scene->texture_count * sizeof *g->resident);
    }
    bytes = malloc(size);
    if (bytes == NULL) {
        (void)facet_fail(g->err, FACET_ERR_MEMORY, 0, "no memory for a texture");
        return false;
    }
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            facet_store_le32(bytes + 4 * ((size_t)y * width + x), texel(t, x, y, shrink, b));
        }
    }
    *address = g->texels.base + g->texels.used;
    g->texels.used += (size + 63) / 64 * 64;
    good = facet_machine_write(g->machine, 0, *address, bytes, size, g->err) == FACET_OK;
    free(bytes);
    return good;
}

/* Mirrored repetition does not exist here: it shows as plain repetition. */
static bool load_texture(struct gpu *g, const struct gpu_batch *b)
{
    const struct facet_scene_texture *t = &g->render->scene->textures[b->texture->texture];
    uint32_t *place = &g->resident[2 * b->texture->texture + (b->cut ? 1 : 0)];
    uint32_t shrink = shrink_of(g, t), words[FACET_TILE_SAMPLER_WORDS], address;
    struct facet_tile_sampler s = {.format = FACET_TILE_ARGB8888};

    if (*place == 0 || b->cut) { /* cut-offs may differ */
        if (!upload(g, t, shrink, b, place)) {
            return false;
        }
    }
    s.base = *place;
    s.width = t->width / shrink > 0 ? t->width / shrink : 1;
    s.height = t->height / shrink > 0 ? t->height / shrink : 1;
    s.stride = 4 * s.width;
    s.repeat_u = b->texture->wrap_u != FACET_WRAP_CLAMP;
    s.repeat_v = b->texture->wrap_v != FACET_WRAP_CLAMP;
    s.bilinear = b->texture->magnify == FACET_FILTER_LINEAR;
    facet_tile_sampler_words(&s, words);
    return descriptor(g, words, FACET_TILE_SAMPLER_WORDS, &address) &&
           push(g, FACET_TILE_CMD_LOAD_SAMPLER, 0, address, 0);
}

/* ---- states ---- */

/* The picture's colours and depths; nothing is tested or blended yet. */
static struct facet_tile_rstate_fields frame_state(const struct gpu *g)
{
    return (struct facet_tile_rstate_fields){
        .fb_base = g->color,
        .fb_stride = 4 * g->width,
        .fb_format = FACET_TILE_RSTATE_FB_FORMAT_ARGB8888,
        .fb_wh = {(uint16_t)g->width, (uint16_t)g->height},
        .depth_base = g->depth,
        .depth_stride = 4 * g->width,
        .depth_format = FACET_TILE_RSTATE_DEPTH_FORMAT_D32F,
    };
}

static bool put_rstate(struct gpu *g, const struct facet_tile_rstate_fields *state)
{
    uint32_t words[FACET_TILE_RSTATE_WORDS], address;

    facet_tile_rstate_pack(state, words);
    return descriptor(g, words, FACET_TILE_RSTATE_WORDS, &address) &&
           push(g, FACET_TILE_CMD_LOAD_RSTATE, 0, address, 0);
}

static bool load_rstate(struct gpu *g, const struct gpu_batch *b)
{
    struct facet_tile_rstate_fields state = frame_state(g);

    state.depth_function =
        b->glow ? FACET_TILE_RSTATE_DEPTH_FUNCTION_EQUAL : FACET_TILE_RSTATE_DEPTH_FUNCTION_LESS;
    state.blend = b->glow    ? FACET_TILE_RSTATE_BLEND_ADDITIVE
                  : b->blend ? FACET_TILE_RSTATE_BLEND_ALPHA
                             : FACET_TILE_RSTATE_BLEND_OPAQUE;
    if (b->texture != NULL) {
        state.flags |= FACET_TILE_RSTATE_FLAGS_TEXTURE | FACET_TILE_RSTATE_FLAGS_TEX_NORM;
    }
    if (b->depth) {
        state.flags |= FACET_TILE_RSTATE_FLAGS_DEPTH;
    }
    if (b->keep_depth || b->glow) {
        state.flags |= FACET_TILE_RSTATE_FLAGS_ZWRITE_OFF;
    }
    return put_rstate(g, &state);
}

/* What the one sun and the sky give a white surface, as display colours. The unit's light is linear
 * in codes where real light bends: both agree for surfaces that see the sun at cosine AGREE. */
static void unit_light(const struct gpu *g, float direction[3], uint32_t *light, uint32_t *ambient)
{
    const struct facet_scene *scene = g->render->scene;
    const struct facet_scene_light *sun = &scene->lights[0];
    struct facet_vec3 to = vec3_scale(vec3_load(sun->direction), -1.0F);
    struct facet_vec3 sky = vec3_lerp(
        facet_shade_sky_light(vec3(0, -1, 0)), facet_shade_sky_light(vec3(0, 1, 0)), 0.75F);
    struct facet_incoming in;
    uint32_t full;

    vec3_store(to, direction);
    *ambient = facet_gpu_color(sky, 1.0F);
    full = *ambient;
    if (facet_shade_light_incoming(sun, vec3(0, 0, 0), to, to, &in)) {
        full = facet_gpu_color(vec3_along(sky, in.radiance, AGREE * g->exposure), 1.0F);
    }
    *light = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        uint32_t all = full >> shift & 0xFF, less = *ambient >> shift & 0xFF;

        float more = all > less ? (float)(all - less) * (1.0F / AGREE) : 0.0F;

        *light |= (more < 255.0F ? (uint32_t)more : 255U) << shift;
    }
}

static bool load_gstate(struct gpu *g, const struct gpu_batch *b)
{
    struct facet_tile_gstate_fields state = {
        .vbo_base = b->vertices,
        .stride = GPU_VERTEX_BYTES,
        .attributes = FACET_TILE_GSTATE_ATTRIBUTES_NORMAL | FACET_TILE_GSTATE_ATTRIBUTES_UV |
                      FACET_TILE_GSTATE_ATTRIBUTES_COLOR,
        .index_base = b->indices,
        .index_type = b->wide ? FACET_TILE_GSTATE_INDEX_TYPE_U32 : FACET_TILE_GSTATE_INDEX_TYPE_U16,
        .cull = (uint8_t)b->cull,
        .flags = FACET_TILE_GSTATE_FLAGS_CLIP | (b->lit ? FACET_TILE_GSTATE_FLAGS_LIGHT : 0),
        .guard = 4.0F,
    };
    struct facet_tile_normal_matrix_fields normal;
    uint32_t words[FACET_TILE_GSTATE_WORDS], matrix[FACET_TILE_NORMAL_MATRIX_WORDS], address;

    memcpy(state.mvp, g->view_projection, sizeof state.mvp);
    if (b->lit) {
        unit_light(g, state.light_dir, &state.light_color, &state.ambient);
        memcpy(normal.m, b->normal, sizeof normal.m);
        facet_tile_normal_matrix_pack(&normal, matrix);
        if (!descriptor(g, matrix, FACET_TILE_NORMAL_MATRIX_WORDS, &state.normal_ptr)) {
            return false;
        }
    }
    g->descriptors.used = (g->descriptors.used + 63) / 64 * 64;
    facet_tile_gstate_pack(&state, words);
    return descriptor(g, words, FACET_TILE_GSTATE_WORDS, &address) &&
           push(g, FACET_TILE_CMD_LOAD_GSTATE, 0, address, 0);
}

static bool load_gparam(struct gpu *g, const struct gpu_batch *b)
{
    struct facet_tile_gparam_fields param = {.material = b->material,
                                             .flags = FACET_TILE_GPARAM_FLAGS_MATERIAL};
    uint32_t words[FACET_TILE_GPARAM_WORDS], address;

    if (b->model != NULL) {
        param.flags |= FACET_TILE_GPARAM_FLAGS_MODEL;
        memcpy(param.model, b->model, sizeof param.model);
    }
    facet_tile_gparam_pack(&param, words);
    return descriptor(g, words, FACET_TILE_GPARAM_WORDS, &address) &&
           push(g, FACET_TILE_CMD_LOAD_GPARAM, 0, address, 0);
}

bool facet_gpu_draw(struct gpu *g, const struct gpu_batch *b)
{
    struct facet_tile_gdraw_fields draw = facet_tile_gdraw_default();
    uint32_t words[FACET_TILE_GDRAW_WORDS], address;

    if (b->count == 0) {
        return true;
    }
    draw.count = b->count;
    draw.flags = (b->indices != 0 ? FACET_TILE_GDRAW_FLAGS_INDEXED : 0) |
                 (b->clip_space ? FACET_TILE_GDRAW_FLAGS_CU_ASSIST : 0);
    facet_tile_gdraw_pack(&draw, words);
    g->triangles += b->count / 3;
    return make_room(g) && (b->texture == NULL || load_texture(g, b)) && load_rstate(g, b) &&
           load_gstate(g, b) && load_gparam(g, b) &&
           descriptor(g, words, FACET_TILE_GDRAW_WORDS, &address) &&
           push(g, FACET_TILE_CMD_GDRAW, address, 0, 0);
}

/* ---- colours, camera, sky ---- */

uint32_t facet_gpu_color(struct facet_vec3 light, float alpha)
{
    const float in[3] = {light.x, light.y, light.z};
    uint8_t out[4];

    facet_render_develop_pixel(in, 1.0F, false, out);
    alpha = alpha > 0.0F ? (alpha < 1.0F ? alpha : 1.0F) : 0.0F;
    return (uint32_t)(alpha * 255.0F + 0.5F) << 24 | (uint32_t)out[0] << 16 |
           (uint32_t)out[1] << 8 | out[2];
}

/* World to clip space: x and y by the window at depth 1, 0 <= z <= w between the planes. */
static void place_camera(struct gpu *g, const struct facet_shade_lens *lens)
{
    const struct facet_scene_camera *c = lens->camera;
    bool flat = c->kind == FACET_CAMERA_ORTHOGRAPHIC;
    double near = (double)c->z_near, far = (double)c->z_far, view[3][4];
    double scale[3] = {1.0 / lens->half_width, 1.0 / lens->half_height, 1.0};
    double push_z, pull_z; /* clip z = push * depth + pull */

    if (flat) {
        far = far > near ? far : near + 1e4;
        push_z = 1.0 / (far - near);
    } else {
        push_z = far > near ? far / (far - near) : 1.0;
    }
    pull_z = -push_z * near;
    for (unsigned r = 0; r < 3; r++) {
        double moved = 0.0;

        for (unsigned i = 0; i < 3; i++) {
            view[r][i] = (double)c->transform[4 * i + r]; /* the inverse of a rotation */
            moved += view[r][i] * (double)c->transform[4 * i + 3];
        }
        view[r][3] = -moved;
    }
    for (unsigned i = 0; i < 4; i++) {
        double depth = -view[2][i];

        g->view_projection[i] = (float)(view[0][i] * scale[0]);
        g->view_projection[4 + i] = (float)(view[1][i] * scale[1]);
        g->view_projection[8 + i] = (float)(push_z * depth + (i == 3 ? pull_z : 0.0));
        g->view_projection[12 + i] = (float)(flat ? (i == 3 ? 1.0 : 0.0) : depth);
    }
    g->eye = vec3(c->transform[3], c->transform[7], c->transform[11]);
}

static void
sky_vertex(const struct facet_shade_lens *lens, uint32_t column, uint32_t row, uint8_t *out)
{
    float x = (float)column / SKY_COLUMNS, y = (float)row / SKY_ROWS;
    struct facet_shade_ray ray;
    struct facet_tile_gvertex_fields v = {.position = {2.0F * x - 1.0F, 1.0F - 2.0F * y, 0, 1}};

    facet_shade_lens_ray(lens, (double)x * lens->width, (double)y * lens->height, &ray);
    v.color = facet_gpu_color(facet_shade_sky(vec3_load(ray.direction)), 1.0F);
    facet_gpu_vertex(&v, out);
}

/* A net of triangles over the whole frame, without depth: what rays that hit nothing see. */
static bool draw_sky(struct gpu *g, const struct facet_shade_lens *lens)
{
    static const uint8_t corner[6][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 0}, {0, 1}, {1, 1}};
    uint32_t count = 6 * SKY_COLUMNS * SKY_ROWS, at = 0;
    uint8_t *bytes = malloc((size_t)count * GPU_VERTEX_BYTES);
    struct gpu_batch batch = {.count = count, .material = 0xFFFFFFFF, .clip_space = true};
    bool good;

    if (bytes == NULL) {
        (void)facet_fail(g->err, FACET_ERR_MEMORY, 0, "no memory for the sky");
        return false;
    }
    for (uint32_t cell = 0; cell < SKY_COLUMNS * SKY_ROWS; cell++) {
        for (unsigned i = 0; i < 6; i++) {
            sky_vertex(lens,
                       cell % SKY_COLUMNS + corner[i][0],
                       cell / SKY_COLUMNS + corner[i][1],
                       bytes + (size_t)at++ * GPU_VERTEX_BYTES);
        }
    }
    good = facet_gpu_stage(g, bytes, count * GPU_VERTEX_BYTES, &batch.vertices) &&
           facet_gpu_draw(g, &batch);
    free(bytes);
    g->triangles = 0;
    return good;
}

/* Depth 1 everywhere: a rectangle whose test always passes. */
static bool clear_depth(struct gpu *g)
{
    struct facet_tile_rstate_fields state = frame_state(g);
    struct facet_tile_rrect_fields rect = facet_tile_rrect_default();
    uint32_t words[FACET_TILE_RRECT_WORDS], at = 0;

    state.depth_function = FACET_TILE_RSTATE_DEPTH_FUNCTION_ALWAYS;
    state.flags = FACET_TILE_RSTATE_FLAGS_DEPTH;
    state.rect_z = 1.0F;
    rect.flags = FACET_TILE_RRECT_FLAGS_DEPTH;
    rect.wh[0] = (uint16_t)g->width;
    rect.wh[1] = (uint16_t)g->height;
    facet_tile_rrect_pack(&rect, words);
    return make_room(g) && put_rstate(g, &state) &&
           descriptor(g, words, FACET_TILE_RRECT_WORDS, &at) &&
           push(g, FACET_TILE_CMD_RRECT, at, UINT32_MAX, 0);
}

/* ---- the picture ---- */

static void take(struct gpu_area *area, uint64_t *at, uint32_t size)
{
    *area = (struct gpu_area){.base = FACET_TILE_VRAM_BASE + (uint32_t)*at, .size = size};
    *at += size;
}

/* How VRAM is shared; gives its size, which may be too large. */
static uint64_t plan_vram(struct gpu *g)
{
    uint64_t at = 0, frame = ((uint64_t)g->width * g->height * 4 + 4095) / 4096 * 4096;

    take(&g->ring, &at, RING_BYTES);
    take(&g->descriptors, &at, DESCRIPTOR_BYTES);
    take(&g->stage, &at, STAGE_BYTES);
    take(&g->texels, &at, TEXEL_BYTES);
    g->color = FACET_TILE_VRAM_BASE + (uint32_t)at;
    g->depth = g->color + (uint32_t)frame;
    return at + 2 * frame;
}

static enum facet_status plan_frame(struct gpu *g)
{
    const struct facet_render_options *o = &g->render->options;
    uint64_t vram = 0;

    for (g->scale = o->spp > 1 ? 2 : 1; g->scale > 0; g->scale--) {
        g->width = o->width * g->scale;
        g->height = o->height * g->scale;
        vram = plan_vram(g);
        if (vram <= FACET_TILE_VRAM_MAX) {
            return facet_tile_create(
                &(struct facet_tile_config){.vram = (uint32_t)vram, .plain = o->plain},
                &g->machine,
                g->err);
        }
    }
    return facet_fail(g->err,
                      FACET_ERR_LIMIT,
                      vram,
                      "a picture of %u x %u needs more than the tile machine's 256 MiB of VRAM",
                      o->width,
                      o->height);
}

static void average(const struct gpu *g, const uint8_t *frame, uint32_t x, uint32_t y, float rgb[3])
{
    float sum[3] = {0};

    for (uint32_t i = 0; i < g->scale * g->scale; i++) {
        size_t row = (size_t)y * g->scale + i / g->scale,
               column = (size_t)x * g->scale + i % g->scale;
        uint32_t pixel = facet_load_le32(frame + 4 * (row * g->width + column));

        sum[0] += facet_image_srgb_to_linear((uint8_t)(pixel >> 16));
        sum[1] += facet_image_srgb_to_linear((uint8_t)(pixel >> 8));
        sum[2] += facet_image_srgb_to_linear((uint8_t)pixel);
    }
    for (unsigned c = 0; c < 3; c++) {
        rgb[c] = sum[c] / (float)(g->scale * g->scale);
    }
}

static void read_frame(const struct gpu *g, struct facet_image_f *out)
{
    const struct facet_render_options *o = &g->render->options;
    const uint8_t *frame = facet_tile_unit(g->machine)->vram + (g->color - FACET_TILE_VRAM_BASE);

    for (uint32_t y = 0; y < o->height; y++) {
        for (uint32_t x = 0; x < o->width; x++) {
            average(g, frame, x, y, out->rgb + 3 * ((size_t)y * o->width + x));
        }
    }
}

static enum facet_status draw_all(struct gpu *g, struct facet_image_f *out)
{
    const struct facet_render_options *o = &g->render->options;
    struct facet_shade_lens lens;

    facet_shade_lens_make(&o->camera, o->width, o->height, &lens);
    place_camera(g, &lens);
    g->instance = FACET_SCENE_NONE;
    if (g->pixel != NULL) {
        facet_render_pixel_listen(g->pixel, g->machine, g->color, g->width, g->scale);
    }
    if (facet_tile_ring(g->machine, g->ring.base, g->ring.size, g->err) != FACET_OK ||
        !clear_depth(g) || !draw_sky(g, &lens) || !facet_gpu_draw_scene(g) || !flush(g)) {
        return g->err->status;
    }
    read_frame(g, out);
    return FACET_OK;
}

struct frame {
    const struct facet_render *render;
    facet_pool *pool;
};

/* Machine and picture; *again: not every pixel of the frame that is asked about has been seen. */
static enum facet_status draw_once(const struct frame *frame,
                                   struct facet_image_f *out,
                                   struct facet_render_report *took,
                                   bool *again,
                                   struct facet_error *err)
{
    const struct facet_render *render = frame->render;
    struct facet_error inner = {0};
    struct gpu g = {.render = render, .err = &inner, .pixel = render->options.pixel};
    const struct facet_scene_light *sun = &render->scene->lights[0];
    enum facet_status status;

    g.exposure = facet_shade_exposure(render->scene);
    g.baked = render->scene->light_count != 1 || sun->kind != FACET_LIGHT_DIRECTIONAL;
    g.resident = calloc(2 * (size_t)render->scene->texture_count + 1, sizeof *g.resident);
    status = g.resident != NULL
                 ? plan_frame(&g)
                 : facet_fail(&inner, FACET_ERR_MEMORY, 0, "no memory for the textures");
    if (status == FACET_OK) {
        facet_tile_use_pool(g.machine, frame->pool);
        if (render->options.counts != NULL) {
            status = facet_machine_count(g.machine, render->options.counts, &inner);
        }
    }
    if (status == FACET_OK) {
        status = draw_all(&g, out);
        if (render->options.counts != NULL) {
            (void)facet_machine_count(g.machine, NULL, NULL);
        }
        took->commands = facet_tile_info_of(g.machine).commands;
        took->triangles = g.triangles;
    }
    *again = g.pixel != NULL && g.pixel->places < g.scale * g.scale;
    if (status != FACET_OK && err != NULL) {
        *err = inner;
    }
    facet_machine_destroy(g.machine);
    free(g.resident);
    return status;
}

/* The one unit of the picture: all of its buckets. */
static enum facet_status draw_frame(void *context,
                                    uint32_t bucket,
                                    struct facet_image_f *out,
                                    struct facet_render_report *took,
                                    struct facet_error *err)
{
    enum facet_status status;
    bool again;

    (void)bucket;
    do {
        status = draw_once(context, out, took, &again, err);
    } while (status == FACET_OK && again);
    return status;
}

static enum facet_status draw_tile(const struct facet_render *render,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_image_f *out,
                                   struct facet_render_report *report,
                                   struct facet_error *err)
{
    struct frame frame = {render, pool};

    return facet_render_each_bucket(render, draw_frame, &frame, pool, progress, out, report, err);
}

static enum facet_status open_tile(struct facet_render *render,
                                   facet_pool *pool,
                                   struct facet_progress *progress,
                                   struct facet_error *err)
{
    (void)pool;
    if (render->options.view != FACET_SHADE_PICTURE) {
        return facet_fail(
            err, FACET_ERR_USAGE, 0, "machine tile traces no rays that a heat map could count");
    }
    facet_progress_add(progress, facet_scene_triangles(render->scene));
    return FACET_OK;
}

static void close_tile(struct facet_render *render)
{
    (void)render;
}

const struct facet_render_machine facet_render_tile = {
    .name = "tile",
    .summary = "triangles through the tile GPU's geometry and raster units and its command queue",
    .display = true,
    .rasterizes = true,
    .one_unit = true,
    .open = open_tile,
    .draw = draw_tile,
    .close = close_tile,
    .note_left_out = facet_gpu_note_left_out,
};
