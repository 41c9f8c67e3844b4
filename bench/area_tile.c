/* Area `tile`: triangles through the geometry and raster units of the tile GPU beside Mesa's
 * llvmpipe, the same triangles in the same run: 640 x 480, depth tested.
 *
 * `small-triangles` and `large-triangles` sample a texture of 256 x 256 (nearest) and write colour
 * and depth. `blend` mixes the texture over what is there by its alpha and leaves the depth.
 * `depth-only` writes depth and no colour: the tile GPU has no mask for that, adding black is its
 * way.
 *
 * The mesh is a jittered grid over the whole screen with a different w in every vertex, so that
 * perspective has to be right; vertices are shared through an index list, as in any model. Both
 * sides start from vertices and indices in memory and end when all pixels are written. Time is CPU
 * time of the thread; with threads (`-threads`, all processors on both sides) it is that of the
 * clock. */
#define _GNU_SOURCE
#include "bench/bench.h"
#include "bench/tile_kernel.h"

#include "base/error.h"
#include "base/random.h"
#include "bench/osmesa_peer.h"
#include "raster/raster.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#ifdef FACET_HAVE_OSMESA
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#endif

enum { WIDTH = 640, HEIGHT = 480, TEXTURE = 256, VERTEX_BYTES = 24 };

/* Offsets into VRAM. */
enum {
    AT_DESC = 0,
    AT_TEXTURE = 0x10000,
    AT_COLOR = 0x60000,
    AT_DEPTH = AT_COLOR + 4 * WIDTH * HEIGHT,
    AT_INDICES = AT_DEPTH + 4 * WIDTH * HEIGHT,
    AT_VERTICES = AT_INDICES + 0x80000,
    VRAM_BYTES = AT_VERTICES + 0x100000,
};

enum mode { MODE_OPAQUE, MODE_BLEND, MODE_DEPTH };

/* A grid of columns x rows cells, drawn `times` times in one draw. */
struct mesh {
    uint32_t columns, rows, times;
    enum mode mode;
    float (*vertex)[6]; /* x y z w u v */
    uint16_t *index;
    uint32_t vertex_count, index_count;
    /* Facet */
    uint8_t *vram;
    uint32_t samplers[32][FACET_TILE_SAMPLER_WORDS];
    struct facet_raster_unit unit;
    struct facet_raster_context context;
    /* llvmpipe, alone and with threads */
    struct osmesa_peer *peers[2], *peer;
};

/* 25, 2194 and 256 pixels per cell: two triangles of about 12, 1100 and 128 each. */
static struct mesh small_mesh = {.columns = 128, .rows = 96, .times = 1};
static struct mesh large_mesh = {.columns = 14, .rows = 10, .times = 20};
static struct mesh blend_mesh = {.columns = 40, .rows = 30, .times = 4, .mode = MODE_BLEND};
static struct mesh depth_mesh = {.columns = 40, .rows = 30, .times = 4, .mode = MODE_DEPTH};

static void make_vertices(struct mesh *m)
{
    for (uint32_t j = 0; j <= m->rows; j++) {
        for (uint32_t i = 0; i <= m->columns; i++) {
            const uint32_t n = j * (m->columns + 1) + i;
            const bool border = i == 0 || j == 0 || i == m->columns || j == m->rows;
            const float shake = border ? 0 : 0.4f;
            const float x =
                ((float)i + shake * (facet_random_float(1, 4 * n) - 0.5f)) / (float)m->columns;
            const float y =
                ((float)j + shake * (facet_random_float(1, 4 * n + 1) - 0.5f)) / (float)m->rows;
            const float w = 1 + facet_random_float(1, 4 * n + 2);
            float *v = m->vertex[n];

            v[0] = (2 * x - 1) * w;
            v[1] = (1 - 2 * y) * w;
            v[2] = (0.25f + 0.5f * facet_random_float(1, 4 * n + 3)) * w;
            v[3] = w;
            v[4] = 3 * x;
            v[5] = 2 * y;
        }
    }
}

static void make_indices(struct mesh *m)
{
    uint16_t *to = m->index;

    for (uint32_t k = 0; k < m->times; k++) {
        for (uint32_t j = 0; j < m->rows; j++) {
            for (uint32_t i = 0; i < m->columns; i++) {
                const uint16_t a = (uint16_t)(j * (m->columns + 1) + i), b = (uint16_t)(a + 1);
                const uint16_t c = (uint16_t)(a + m->columns + 1), d = (uint16_t)(c + 1);
                const uint16_t six[6] = {a, b, c, c, b, d};

                memcpy(to, six, sizeof six);
                to += 6;
            }
        }
    }
}

static uint32_t texel(const struct mesh *m, uint32_t i)
{
    return (m->mode == MODE_BLEND ? 0 : 0xFF000000u) | (uint32_t)facet_random(2, i);
}

static enum facet_status prepare(struct mesh *m, struct facet_error *err)
{
    if (m->vram != NULL) {
        return FACET_OK;
    }
    m->vertex_count = (m->columns + 1) * (m->rows + 1);
    m->index_count = 6 * m->columns * m->rows * m->times;
    m->vram = calloc(VRAM_BYTES, 1);
    if (m->vram == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    /* Both sides read the same bytes. */
    m->vertex = (float(*)[6])(void *)(m->vram + AT_VERTICES);
    m->index = (uint16_t *)(void *)(m->vram + AT_INDICES);
    make_vertices(m);
    make_indices(m);
    for (uint32_t i = 0; i < TEXTURE * TEXTURE; i++) {
        const uint32_t t = texel(m, i);

        memcpy(m->vram + AT_TEXTURE + 4 * i, &t, 4);
    }
    return FACET_OK;
}

/* ---- Facet ---- */

static void load_states(struct mesh *m)
{
    const struct facet_tile_sampler_fields sampler = {
        .base = FACET_VRAM_BASE + AT_TEXTURE,
        .stride = 4 * TEXTURE,
        .width = TEXTURE,
        .height = TEXTURE,
        .format = FACET_TILE_SAMPLER_FORMAT_ARGB8888,
        .wrap_u = FACET_TILE_SAMPLER_WRAP_U_REPEAT,
        .wrap_v = FACET_TILE_SAMPLER_WRAP_V_REPEAT,
    };
    const struct facet_tile_rstate_fields raster = {
        .fb_base = FACET_VRAM_BASE + AT_COLOR,
        .fb_stride = 4 * WIDTH,
        .fb_format = FACET_TILE_RSTATE_FB_FORMAT_ARGB8888,
        .fb_wh = {WIDTH, HEIGHT},
        .depth_base = FACET_VRAM_BASE + AT_DEPTH,
        .depth_stride = 4 * WIDTH,
        .depth_format = FACET_TILE_RSTATE_DEPTH_FORMAT_D32F,
        .depth_function = FACET_TILE_RSTATE_DEPTH_FUNCTION_LEQUAL,
        .blend = m->mode == MODE_OPAQUE  ? FACET_TILE_RSTATE_BLEND_OPAQUE
                 : m->mode == MODE_BLEND ? FACET_TILE_RSTATE_BLEND_ALPHA
                                         : FACET_TILE_RSTATE_BLEND_ADDITIVE,
        .flags = FACET_TILE_RSTATE_FLAGS_DEPTH | FACET_TILE_RSTATE_FLAGS_TEX_NORM |
                 (m->mode == MODE_DEPTH ? 0 : FACET_TILE_RSTATE_FLAGS_TEXTURE) |
                 (m->mode == MODE_BLEND ? FACET_TILE_RSTATE_FLAGS_ZWRITE_OFF : 0),
    };
    const struct facet_tile_gstate_fields geometry = {
        .vbo_base = FACET_VRAM_BASE + AT_VERTICES,
        .stride = VERTEX_BYTES,
        .attributes = FACET_TILE_GSTATE_ATTRIBUTES_UV,
        .index_base = FACET_VRAM_BASE + AT_INDICES,
        .flags = FACET_TILE_GSTATE_FLAGS_CLIP,
        .mvp = {[0] = 1, [5] = 1, [10] = 1, [15] = 1},
    };
    const struct facet_tile_gparam_fields black = {.flags = FACET_TILE_GPARAM_FLAGS_MATERIAL};
    uint32_t rstate[FACET_TILE_RSTATE_WORDS], gstate[FACET_TILE_GSTATE_WORDS];
    uint32_t gparam[FACET_TILE_GPARAM_WORDS];
    static struct facet_raster_scratch *scratch; /* as a machine has it */

    if (scratch == NULL) {
        scratch = facet_raster_scratch_create();
    }
    m->unit =
        (struct facet_raster_unit){.vram = m->vram, .vram_size = VRAM_BYTES, .scratch = scratch};
    m->unit.samplers = (const uint32_t(*)[FACET_TILE_SAMPLER_WORDS])m->samplers;
    facet_tile_sampler_pack(&sampler, m->samplers[0]);
    facet_tile_rstate_pack(&raster, rstate);
    facet_tile_gstate_pack(&geometry, gstate);
    facet_raster_reset(&m->context);
    memcpy(m->vram + AT_DESC, rstate, sizeof rstate);
    (void)facet_raster_rstate(&m->unit, &m->context, FACET_VRAM_BASE + AT_DESC);
    memcpy(m->vram + AT_DESC, gstate, sizeof gstate);
    (void)facet_raster_gstate(&m->unit, &m->context, FACET_VRAM_BASE + AT_DESC);
    if (m->mode == MODE_DEPTH) {
        facet_tile_gparam_pack(&black, gparam);
        memcpy(m->vram + AT_DESC, gparam, sizeof gparam);
        (void)facet_raster_gparam(&m->unit, &m->context, FACET_VRAM_BASE + AT_DESC);
    }
    memset(m->vram + AT_DEPTH, 0xFF, 4 * WIDTH * HEIGHT);
}

static enum facet_status facet_draw(struct mesh *m, struct facet_error *err)
{
    const struct facet_raster_result r =
        facet_raster_gdraw(&m->unit, &m->context, FACET_VRAM_BASE + AT_DESC);

    return r.code == 0 ? FACET_OK
                       : facet_fail(err, FACET_ERR_INTERNAL, 0, "GDRAW reports error %u", r.code);
}

static enum facet_status facet_ready(struct mesh *m, bool threads, struct facet_error *err)
{
    static facet_pool *pool;
    struct facet_tile_gdraw_fields draw = facet_tile_gdraw_default();
    uint32_t words[FACET_TILE_GDRAW_WORDS];

    if (threads && pool == NULL) {
        const enum facet_status status = facet_pool_create(0, &pool, err);

        if (status != FACET_OK) {
            return status;
        }
    }
    load_states(m);
    m->unit.pool = threads ? pool : NULL;
    draw.count = m->index_count;
    draw.flags = FACET_TILE_GDRAW_FLAGS_INDEXED;
    facet_tile_gdraw_pack(&draw, words);
    memcpy(m->vram + AT_DESC, words, sizeof words);
    return FACET_OK;
}

/* ---- llvmpipe ---- */

#ifdef FACET_HAVE_OSMESA

#define GL(name) ((__typeof__(&(name)))osmesa_peer_function(m->peer, #name))

static void peer_states(struct mesh *m)
{
    GLuint names[2], texture;

    GL(glClearDepth)(1);
    GL(glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);

    GL(glViewport)(0, 0, WIDTH, HEIGHT);
    GL(glDisable)(GL_CULL_FACE);
    GL(glDisable)(GL_DITHER);
    GL(glEnable)(GL_DEPTH_TEST);
    GL(glDepthFunc)(GL_LEQUAL);
    GL(glDepthMask)(m->mode == MODE_BLEND ? GL_FALSE : GL_TRUE);
    if (m->mode == MODE_BLEND) {
        GL(glEnable)(GL_BLEND);
        GL(glBlendFuncSeparate)
        (GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    }
    if (m->mode == MODE_DEPTH) {
        GL(glColorMask)(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    } else {
        GL(glEnable)(GL_TEXTURE_2D);
    }
    GL(glGenTextures)(1, &texture);
    GL(glBindTexture)(GL_TEXTURE_2D, texture);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    GL(glTexImage2D)
    (GL_TEXTURE_2D,
     0,
     GL_RGBA8,
     TEXTURE,
     TEXTURE,
     0,
     GL_BGRA,
     GL_UNSIGNED_BYTE,
     m->vram + AT_TEXTURE);
    GL(glTexEnvi)(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    GL(glGenBuffers)(2, names);
    GL(glBindBuffer)(GL_ARRAY_BUFFER, names[0]);
    GL(glBufferData)
    (GL_ARRAY_BUFFER, (GLsizeiptr)m->vertex_count * VERTEX_BYTES, m->vertex, GL_STATIC_DRAW);
    GL(glBindBuffer)(GL_ELEMENT_ARRAY_BUFFER, names[1]);
    GL(glBufferData)
    (GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)m->index_count * 2, m->index, GL_STATIC_DRAW);
    GL(glEnableClientState)(GL_VERTEX_ARRAY);
    GL(glEnableClientState)(GL_TEXTURE_COORD_ARRAY);
    GL(glVertexPointer)(4, GL_FLOAT, VERTEX_BYTES, NULL);
    GL(glTexCoordPointer)(2, GL_FLOAT, VERTEX_BYTES, (const void *)(uintptr_t)16);
    GL(glFinish)();
}

static void peer_draw(struct mesh *m)
{
    GL(glDrawElements)(GL_TRIANGLES, (GLsizei)m->index_count, GL_UNSIGNED_SHORT, NULL);
    GL(glFinish)();
}

#else

static void peer_states(struct mesh *m)
{
    (void)m;
}

static void peer_draw(struct mesh *m)
{
    (void)m;
}

#endif

static enum facet_status peer_ready(struct mesh *m, bool threads, struct facet_error *err)
{
    struct osmesa_peer **peer = &m->peers[threads];
    enum facet_status status;

    if (*peer == NULL) {
        status = osmesa_peer_create_threads(
            WIDTH, HEIGHT, 24, threads ? facet_pool_processors() : 0, peer, err);
        if (status != FACET_OK) {
            return status;
        }
        m->peer = *peer;
        peer_states(m);
    }
    m->peer = *peer;
    osmesa_peer_use(m->peer);
    return FACET_OK;
}

static enum facet_status peer_draw_once(struct mesh *m, struct facet_error *err)
{
    (void)err;
    peer_draw(m);
    return FACET_OK;
}

/* ---- both ---- */

struct side {
    enum facet_status (*ready)(struct mesh *m, bool threads, struct facet_error *err);
    enum facet_status (*draw)(struct mesh *m, struct facet_error *err);
};

static const struct side facet_side = {facet_ready, facet_draw};
static const struct side peer_side = {peer_ready, peer_draw_once};

/* Draws for about `seconds`; the first one warms up, and compiles the shaders of the peer. */
static enum facet_status draw_for(const struct side *side,
                                  struct mesh *m,
                                  bool threads,
                                  double seconds,
                                  double *value,
                                  struct facet_error *err)
{
    enum facet_status status = prepare(m, err);
    struct bench_meter meter;
    double start;
    bool more;

    if (status == FACET_OK) {
        status = side->ready(m, threads, err);
    }
    if (status == FACET_OK) {
        status = side->draw(m, err);
    }
    meter = bench_meter_start(seconds);
    start = bench_now();
    do {
        if (status == FACET_OK) {
            status = side->draw(m, err);
        }
        more = bench_meter_more(&meter, m->index_count / 3);
        more = threads ? bench_now() - start < seconds : more;
    } while (status == FACET_OK && more);
    *value = threads ? (double)meter.done / (bench_now() - start) * 1e-6 : bench_meter_rate(&meter);
    return status;
}

/* With threads, and where the user may, both sides and all their threads are scheduled before other
 * programs: on the clock a program that takes one processor away would be what is measured. */
static enum facet_status rate(const struct side *side,
                              struct mesh *m,
                              bool threads,
                              double seconds,
                              double *value,
                              struct facet_error *err)
{
    const struct sched_param first = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    const int policy = sched_getscheduler(0);
    struct sched_param before;
    enum facet_status status;

    (void)sched_getparam(0, &before);
    if (threads) {
        (void)sched_setscheduler(0, SCHED_RR, &first);
    }
    status = draw_for(side, m, threads, seconds, value, err);
    (void)sched_setscheduler(0, policy, &before);
    return status;
}

#define SIDE(name, data, side, threads)                                                            \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        return rate(&(side), &(data), threads, seconds, value, err);                               \
    }
#define MEASURE(name, data)                                                                        \
    SIDE(name, data, facet_side, false)                                                            \
    SIDE(name##_peer, data, peer_side, false)                                                      \
    SIDE(name##_threads, data, facet_side, true)                                                   \
    SIDE(name##_threads_peer, data, peer_side, true)

MEASURE(small_triangles, small_mesh)
MEASURE(large_triangles, large_mesh)
MEASURE(blend, blend_mesh)
MEASURE(depth_only, depth_mesh)

#define ROWS(text, name)                                                                           \
    {text, "Mtri/s", name, "llvmpipe", name##_peer},                                               \
    {                                                                                              \
        text "-threads", "Mtri/s", name##_threads, "llvmpipe, all processors", name##_threads_peer \
    }

static const struct bench_measure measures[] = {
    {"kernel", "Minsn/s", bench_tile_kernel, "interpreter", bench_tile_kernel_peer},
    {"kernel-scalar", "Minsn/s", bench_tile_scalar, "interpreter", bench_tile_scalar_peer},
    ROWS("small-triangles", small_triangles),
    ROWS("large-triangles", large_triangles),
    ROWS("blend", blend),
    ROWS("depth-only", depth_only),
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_tile = {
    .name = "tile",
    .summary =
        "kernels of both kinds; triangles through the geometry and raster units, beside llvmpipe",
    .measures = measures,
};
