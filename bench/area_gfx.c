/* Area `gfx`: texture sampling of XPHMG_GFX on one core.
 *
 * `bilinear` is the pure function on spans of RGBA8 samples beside the textured fill rate of Mesa's
 * llvmpipe: the same texture, the same mapping, the same 1024 x 1024 pixels, repeat. Facet computes
 * each sample to the bit in FP32 and stores four floats; llvmpipe filters in 8-bit fixed point and
 * stores RGBA8. Coordinates are interpolated on both sides. Before measuring, both pictures are
 * compared, so that a peer that drew something else would be found out. `bilinear-srgb` is the same
 * with an sRGB texture on both sides: XPHMG_GFX converts the filtered colour, OpenGL the texels.
 *
 * `bilinear-instruction` is the same through GFX.SAMPLE on the machine: 64 lanes under RSV,
 * coordinates and colours in memory windows.
 *
 * The results -general are textures that have no kernel of their own, in turn: FP16, UNORM16 and
 * SNORM8 RGBA, R5G6B5, planar UNORM8, FP32 with one channel, RGBA8 with a swizzle, and RGBA8 with
 * samples in FP16. gather5 counts gathers, of five taps each. The results -single are the plain
 * functions, one sample at a time. The peer of all of these is Facet's own span path, the first
 * result.
 *
 * Time is CPU time of the thread. */
#include "bench/bench.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/float.h"
#include "bench/gfx_machine.h"
#include "bench/osmesa_peer.h"
#include "gfx/gfx.h"
#include "num/srgb.h"

#include <stdlib.h>
#include <string.h>

#ifdef FACET_HAVE_OSMESA

#include <GL/gl.h>

#endif

enum { TEXTURE = 256, PICTURE = 1024, TEXELS = TEXTURE * TEXTURE * 4 };

/* A turned and slightly enlarged mapping that leaves the texture on all sides. */
static const float corners[4][2] = {{-0.3f, 0.1f}, {2.7f, 0.6f}, {2.2f, 3.6f}, {-0.8f, 3.1f}};

static struct {
    bool ready;
    uint8_t texels[TEXELS];
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling bilinear, srgb, nearest;
    struct facet_gfx_numbers numbers;
    uint32_t u[PICTURE], v[PICTURE], out[4][PICTURE];
    struct osmesa_peer *peer[2]; /* with texels as they are, and as sRGB */
    struct gfx_machine *machine;
    uint64_t sum; /* of results, so that they are computed */
} data;

static void prepare(void)
{
    uint64_t state = 1;

    if (data.ready) {
        return;
    }
    for (unsigned k = 0; k < TEXELS; k++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        data.texels[k] = (uint8_t)(state >> 56);
    }
    data.texture = (struct facet_gfx_texture){
        .width = TEXTURE, .height = TEXTURE, .pitch = 4 * TEXTURE, .normalized = true};
    (void)facet_gfx_texture_set_format(&data.texture, 0x30);
    data.bilinear = (struct facet_gfx_sampling){.bilinear = true, .wrap = FACET_GFX_REPEAT};
    data.srgb =
        (struct facet_gfx_sampling){.bilinear = true, .srgb = true, .wrap = FACET_GFX_REPEAT};
    data.nearest = (struct facet_gfx_sampling){.wrap = FACET_GFX_REPEAT};
    for (unsigned c = 0; c < 4; c++) {
        data.numbers.channel[c] =
            (struct facet_conv){.elem = FACET_FMT_FP32, .acc = FACET_FMT_FP32};
    }
    data.ready = true;
}

/* Coordinates of the pixel middles of a row. */
static void interpolate(unsigned y)
{
    const float step = 1.0f / PICTURE, down = ((float)y + 0.5f) * step;
    const float du = corners[1][0] - corners[0][0], dv = corners[1][1] - corners[0][1];
    const float u0 = corners[0][0] + down * (corners[3][0] - corners[0][0]);
    const float v0 = corners[0][1] + down * (corners[3][1] - corners[0][1]);

    for (unsigned x = 0; x < PICTURE; x++) {
        float across = ((float)x + 0.5f) * step;

        data.u[x] = facet_float_bits(u0 + across * du);
        data.v[x] = facet_float_bits(v0 + across * dv);
    }
}

static void sample_row(const struct facet_gfx_sampling *sampling, unsigned *flags)
{
    uint32_t *const out[4] = {data.out[0], data.out[1], data.out[2], data.out[3]};

    facet_gfx_span_sample(
        &data.numbers, &data.texture, sampling, data.texels, data.u, data.v, PICTURE, out, flags);
}

static double spans(const struct facet_gfx_sampling *sampling, double seconds)
{
    struct bench_meter meter = bench_meter_start(seconds);
    unsigned flags = 0;

    do {
        for (unsigned y = 0; y < PICTURE; y++) {
            interpolate(y);
            sample_row(sampling, &flags);
        }
    } while (bench_meter_more(&meter, (uint64_t)PICTURE * PICTURE));
    return bench_meter_rate(&meter);
}

static enum facet_status bilinear(double seconds, double *value, struct facet_error *err)
{
    (void)err;
    prepare();
    *value = spans(&data.bilinear, seconds);
    return FACET_OK;
}

static enum facet_status bilinear_srgb(double seconds, double *value, struct facet_error *err)
{
    (void)err;
    prepare();
    *value = spans(&data.srgb, seconds);
    return FACET_OK;
}

/* What the peer's pixels of a row should be, from 0 to 1: the samples, or of an sRGB texture the
 * texels made linear before the filter. */
static void expected_row(bool srgb, float want[4][PICTURE])
{
    unsigned flags = 0;

    sample_row(&data.bilinear, &flags);
    memcpy(want, data.out, sizeof data.out);
    for (unsigned x = 0; srgb && x < PICTURE; x++) {
        const uint32_t uv[2] = {data.u[x], data.v[x]};
        struct facet_gfx_sample at;

        facet_gfx_sample_plan(&data.numbers, &data.texture, &data.srgb, uv, false, &at, &flags);
        for (unsigned c = 0; c < 3; c++) {
            const float a = (float)at.foot.fu / 65536, b = (float)at.foot.fv / 65536;
            float t[4];

            for (unsigned k = 0; k < 4; k++) {
                const struct facet_gfx_tap *tap = &at.foot.tap[k];

                t[k] =
                    facet_srgb_float((float)data.texels[(tap->y * TEXTURE + tap->x) * 4 + c] / 255);
            }
            want[c][x] = (t[0] * (1 - a) + t[1] * a) * (1 - b) + (t[2] * (1 - a) + t[3] * a) * b;
        }
    }
}

/* Does the peer's picture show the same? Its weights have 8 bits: codes
 * may differ by a few, not by much and not often. */
static bool same_picture(bool srgb, const uint32_t *picture)
{
    static float want[4][PICTURE];
    uint64_t far = 0;

    for (unsigned y = 0; y < PICTURE; y++) {
        interpolate(y);
        expected_row(srgb, want);
        for (unsigned x = 0; x < PICTURE; x++) {
            uint32_t argb = picture[(size_t)y * PICTURE + x];

            for (unsigned c = 0; c < 4; c++) {
                static const unsigned shift[4] = {16, 8, 0, 24};
                float f = want[c][x] * 255 - (float)(argb >> shift[c] & 255);

                far += f > 4 || f < -4;
            }
        }
    }
    return far < PICTURE * PICTURE / 100;
}

#ifdef FACET_HAVE_OSMESA

#define GL(name) ((__typeof__(&(name)))osmesa_peer_function(peer, #name))

static void peer_states(const struct osmesa_peer *peer, bool srgb)
{
    const GLint format = srgb ? GL_SRGB8_ALPHA8 : GL_RGBA8;

    GL(glViewport)(0, 0, PICTURE, PICTURE);
    GL(glTexImage2D)
    (GL_TEXTURE_2D, 0, format, TEXTURE, TEXTURE, 0, GL_RGBA, GL_UNSIGNED_BYTE, data.texels);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    GL(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
    GL(glTexEnvi)(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
    GL(glDisable)(GL_DITHER);
    GL(glEnable)(GL_TEXTURE_2D);
}

/* One rectangle over the whole picture; y = -1 is the row that comes first in memory. A picture is
 * finished before the next one starts, because llvmpipe drops what an opaque rectangle of the same
 * picture covers. */
static void peer_draw(const struct osmesa_peer *peer)
{
    static const float place[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};

    GL(glBegin)(GL_QUADS);
    for (unsigned k = 0; k < 4; k++) {
        GL(glTexCoord2f)(corners[k][0], corners[k][1]);
        GL(glVertex2f)(place[k][0], place[k][1]);
    }
    GL(glEnd)();
    GL(glFinish)();
}

#else

static void peer_states(const struct osmesa_peer *peer, bool srgb)
{
    (void)peer;
    (void)srgb;
}
static void peer_draw(const struct osmesa_peer *peer)
{
    (void)peer;
}

#endif

static enum facet_status
fill_rate(bool srgb, double seconds, double *value, struct facet_error *err)
{
    struct osmesa_peer **peer = &data.peer[srgb];
    struct bench_meter meter;

    prepare();
    if (*peer == NULL) {
        enum facet_status status = osmesa_peer_create(PICTURE, PICTURE, 0, peer, err);

        if (status != FACET_OK) {
            return status;
        }
        peer_states(*peer, srgb);
        peer_draw(*peer);
        if (!same_picture(srgb, osmesa_peer_pixels(*peer))) {
            return facet_fail(err, FACET_ERR_IO, 0, "OSMesa draws a different picture");
        }
    }
    osmesa_peer_use(*peer);
    meter = bench_meter_start(seconds);
    do {
        peer_draw(*peer);
    } while (bench_meter_more(&meter, (uint64_t)PICTURE * PICTURE));
    *value = bench_meter_rate(&meter);
    return FACET_OK;
}

static enum facet_status llvmpipe(double seconds, double *value, struct facet_error *err)
{
    return fill_rate(false, seconds, value, err);
}

static enum facet_status llvmpipe_srgb(double seconds, double *value, struct facet_error *err)
{
    return fill_rate(true, seconds, value, err);
}

/* ---- the instruction ---- */

/* Rows of the picture, as groups of 64 lanes; few, because the span path writes to one row again
 * and again, and not how far memory is away should make the difference. */
enum { ROWS = 4, ROW_GROUPS = PICTURE / GFX_MACHINE_LANES };

static enum facet_status fill_machine(struct gfx_machine *m, struct facet_error *err)
{
    enum facet_status status = FACET_OK;

    for (unsigned k = 0; k < ROWS * ROW_GROUPS && status == FACET_OK; k++) {
        const unsigned at = k % ROW_GROUPS * GFX_MACHINE_LANES;

        interpolate(k / ROW_GROUPS * (PICTURE / ROWS));
        status = gfx_machine_put(m, k, data.u + at, data.v + at, err);
    }
    return status;
}

/* The machine's colours of the last row are those of the pure function. */
static enum facet_status check_machine(struct gfx_machine *m, struct facet_error *err)
{
    enum facet_status status = gfx_machine_run(m, err);
    unsigned flags = 0;

    interpolate((ROWS - 1) * (PICTURE / ROWS));
    sample_row(&data.bilinear, &flags);
    for (unsigned k = 0; k < 4 * ROW_GROUPS && status == FACET_OK; k++) {
        uint32_t got[GFX_MACHINE_LANES];

        status = gfx_machine_get(m, (ROWS - 1) * ROW_GROUPS + k / 4, k % 4, got, err);
        if (status == FACET_OK &&
            memcmp(got, &data.out[k % 4][k / 4 * GFX_MACHINE_LANES], sizeof got) != 0) {
            status = facet_fail(err, FACET_ERR_FAULT, k, "GFX.SAMPLE gives different colours");
        }
    }
    return status;
}

static enum facet_status instruction(double seconds, double *value, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    struct bench_meter meter;

    prepare();
    if (data.machine == NULL) {
        status = gfx_machine_create(
            data.texels, TEXTURE, TEXTURE, ROWS * ROW_GROUPS, &data.machine, err);
        if (status == FACET_OK) {
            status = fill_machine(data.machine, err);
        }
        if (status == FACET_OK) {
            status = check_machine(data.machine, err);
        }
    }
    if (status != FACET_OK) {
        return status;
    }
    meter = bench_meter_start(seconds);
    do {
        status = gfx_machine_run(data.machine, err);
    } while (status == FACET_OK && bench_meter_more(&meter, (uint64_t)ROWS * PICTURE));
    *value = bench_meter_rate(&meter);
    return status;
}

/* ---- textures without a kernel of their own ---- */

enum { KINDS = 8, GENERAL_TEXELS = TEXTURE * TEXTURE * 8 };

static struct {
    bool ready;
    struct kind {
        struct facet_gfx_texture texture;
        struct facet_gfx_numbers numbers;
        uint8_t *texels;
    } kind[KINDS];
    uint8_t texels[KINDS][GENERAL_TEXELS];
} general;

/* Code k of a texture: floats from 0 to 1, any other code. */
static uint32_t code_of(const struct facet_gfx_format *f, unsigned k)
{
    const struct facet_conv half = {.elem = FACET_FMT_FP16, .acc = FACET_FMT_FP32};
    const uint32_t mixed = k * UINT32_C(2654435761) ^ data.texels[k % TEXELS];
    unsigned none = 0;
    const uint32_t bits = facet_float_bits((float)(mixed >> 8) * 0x1p-24f);

    return f->packed || (f->type != FACET_GFX_FP16 && f->type != FACET_GFX_FP32) ? mixed
           : f->type == FACET_GFX_FP32                                           ? bits
                                       : facet_narrow(&half, bits, &none);
}

static void prepare_general(void)
{
    static const uint32_t formats[KINDS] = {
        0x38, 0x34, 0x31, 0x40, 0x30, 0x0A, 0x30 | 3 << 14 | 5 << 8, 0x30};

    prepare();
    for (unsigned i = 0; i < KINDS && !general.ready; i++) {
        struct kind *kind = &general.kind[i];
        struct facet_gfx_texture *t = &kind->texture;
        uint32_t bytes;

        *t = data.texture;
        (void)facet_gfx_texture_set_format(t, formats[i]);
        t->planar = i == 4;
        bytes = t->format.bytes * (t->planar ? 1 : facet_gfx_texel_accesses(t));
        t->pitch = bytes * TEXTURE;
        t->stride1 = t->pitch * TEXTURE;
        kind->numbers = data.numbers;
        for (unsigned c = 0; c < 4; c++) {
            kind->numbers.channel[c].elem = i == KINDS - 1 ? FACET_FMT_FP16 : FACET_FMT_FP32;
        }
        kind->texels = general.texels[i];
        for (unsigned k = 0; k < facet_gfx_span_bytes(t) / t->format.bytes; k++) {
            facet_store_le(kind->texels + (size_t)k * t->format.bytes,
                           t->format.bytes,
                           code_of(&t->format, k));
        }
    }
    general.ready = true;
}

/* Coordinates of this picture row as elements of the texture's samples. */
static void narrow_coordinates(const struct kind *kind, uint32_t *u, uint32_t *v)
{
    unsigned none = 0;

    for (unsigned k = 0; k < PICTURE; k++) {
        u[k] = facet_narrow(&kind->numbers.channel[0], data.u[k], &none);
        v[k] = facet_narrow(&kind->numbers.channel[0], data.v[k], &none);
    }
}

/* du, dv, weight of five taps */
static const float cross[15] = {
    0, 0, 0.5f, -1, 0, 0.125f, 1, 0, 0.125f, 0, -1, 0.125f, 0, 1, 0.125f};

static double general_rows(const struct facet_gfx_sampling *sampling, unsigned taps, double seconds)
{
    static uint32_t u[KINDS][PICTURE], v[KINDS][PICTURE], table[KINDS][15];
    uint32_t *const out[4] = {data.out[0], data.out[1], data.out[2], data.out[3]};
    struct bench_meter meter;

    prepare_general();
    interpolate(PICTURE / 2);
    for (unsigned i = 0; i < KINDS; i++) {
        unsigned none = 0;

        narrow_coordinates(&general.kind[i], u[i], v[i]);
        memcpy(table[i], cross, sizeof cross);
        for (unsigned k = 0; k < 15; k++) {
            table[i][k] = facet_narrow(&general.kind[i].numbers.channel[0], table[i][k], &none);
        }
    }
    meter = bench_meter_start(seconds);
    do {
        for (unsigned i = 0; i < KINDS; i++) {
            const struct kind *kind = &general.kind[i];
            const struct facet_gfx_numbers *n = &kind->numbers;
            const struct facet_gfx_texture *t = &kind->texture;
            unsigned flags = 0;

            if (taps == 0) {
                facet_gfx_span_sample(
                    n, t, sampling, kind->texels, u[i], v[i], PICTURE, out, &flags);
            } else {
                (void)facet_gfx_span_gather(n,
                                            t,
                                            sampling,
                                            kind->texels,
                                            table[i],
                                            taps,
                                            true,
                                            true,
                                            u[i],
                                            v[i],
                                            PICTURE,
                                            out,
                                            &flags);
            }
            data.sum += out[0][0] ^ flags;
        }
    } while (bench_meter_more(&meter, (uint64_t)KINDS * PICTURE));
    return bench_meter_rate(&meter);
}

#define GENERAL(name, which, taps)                                                                 \
    static enum facet_status name(double seconds, double *value, struct facet_error *err)          \
    {                                                                                              \
        (void)err;                                                                                 \
        prepare();                                                                                 \
        *value = general_rows(&data.which, taps, seconds);                                         \
        return FACET_OK;                                                                           \
    }

GENERAL(bilinear_general, bilinear, 0)
GENERAL(nearest_general, nearest, 0)
GENERAL(gather_general, nearest, 5)

/* ---- the plain functions ---- */

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    (void)context;
    (void)bytes;
    *word = data.texels[address];
    return true;
}

static double single(const struct facet_gfx_sampling *sampling, double seconds)
{
    struct bench_meter meter = bench_meter_start(seconds);
    unsigned flags = 0;

    interpolate(PICTURE / 2);
    do {
        for (unsigned k = 0; k < PICTURE; k++) {
            const uint32_t uv[2] = {data.u[k], data.v[k]};
            struct facet_gfx_sample sample;
            uint32_t out[4];

            facet_gfx_sample_plan(
                &data.numbers, &data.texture, sampling, uv, false, &sample, &flags);
            (void)facet_gfx_sample_fetch(&data.texture, &sample, load, NULL);
            facet_gfx_sample_finish(
                &data.numbers, &data.texture, sampling, &sample, out, NULL, &flags);
            data.sum += out[0] ^ out[3];
        }
    } while (bench_meter_more(&meter, PICTURE));
    return bench_meter_rate(&meter);
}

static enum facet_status bilinear_single(double seconds, double *value, struct facet_error *err)
{
    (void)err;
    prepare();
    *value = single(&data.bilinear, seconds);
    return FACET_OK;
}

static enum facet_status nearest_single(double seconds, double *value, struct facet_error *err)
{
    (void)err;
    prepare();
    *value = single(&data.nearest, seconds);
    return FACET_OK;
}

#define SPAN_PATH "Facet's span path"

static const struct bench_measure measures[] = {
    {"bilinear", "Msample/s", bilinear, "llvmpipe textured fill, one core", llvmpipe},
    {"bilinear-srgb", "Msample/s", bilinear_srgb, "llvmpipe, sRGB texture", llvmpipe_srgb},
    {"bilinear-instruction", "Msample/s", instruction, SPAN_PATH, bilinear},
    {"bilinear-general", "Msample/s", bilinear_general, SPAN_PATH, bilinear},
    {"nearest-general", "Msample/s", nearest_general, SPAN_PATH, bilinear},
    {"gather5-general", "Msample/s", gather_general, SPAN_PATH, bilinear},
    {"bilinear-single", "Msample/s", bilinear_single, SPAN_PATH, bilinear},
    {"nearest-single", "Msample/s", nearest_single, SPAN_PATH, bilinear},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_gfx = {
    .name = "gfx",
    .summary = "texture samples of XPHMG_GFX, one core",
    .measures = measures,
};
