/* Any bytes as edits of a working scene (descriptors, vertices, indices, texture, samplers) and as
 * instructions and queue commands over it: nothing crashes or hangs, nothing outside VRAM is
 * touched, and the portable code and the wide code leave the same memory, context and reports.
 *
 * The input is a list of records of eight bytes: operation, argument, word offset (2), value (4).
 */
#include "fuzz/fuzz.h"

#include "base/float.h"
#include "raster/raster.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 0x8000, SIDE = 31 };

/* Where the scene's parts lie. */
enum {
    AT_RSTATE = 0x000,
    AT_GSTATE = 0x040,
    AT_GPARAM = 0x0C0,
    AT_RDRAW = 0x100,
    AT_RRECT = 0x110,
    AT_GDRAW = 0x120,
    AT_SETUP = 0x140,
    AT_NORMAL = 0x1A0,
    AT_PLANE = 0x1D0,
    AT_SAMPLERS = 0x200,
    AT_VERTICES = 0x600,
    AT_INDICES = 0xC00,
    AT_TEXTURE = 0x1000,
    AT_COLOR = 0x2000,
    AT_DEPTH = 0x4000,
};

struct side {
    uint8_t *vram;
    uint32_t samplers[32][8];
    struct facet_raster_unit unit;
    struct facet_raster_context context;
};

static void require(int ok)
{
    if (!ok) {
        abort();
    }
}

static uint32_t get(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put(struct side *s, uint32_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        s->vram[at + i] = (uint8_t)(value >> 8 * i);
    }
}

static void scene_states(struct side *s)
{
    static const uint32_t rstate[16] = {0x80000000u + AT_COLOR,
                                        4 * SIDE,
                                        1,
                                        SIDE | SIDE << 16,
                                        0x80000000u + AT_DEPTH,
                                        4 * SIDE,
                                        2 | 7 << 8,
                                        1,
                                        0x80FFFFFFu,
                                        3,
                                        0x00020002,
                                        0x001A001A,
                                        2 | 4 | 16};

    for (unsigned i = 0; i < 16; i++) {
        put(s, AT_RSTATE + 4 * i, rstate[i]);
    }
    put(s, AT_GSTATE, 0x80000000u + AT_VERTICES);
    put(s, AT_GSTATE + 4, 40 | 11 << 16);
    put(s, AT_GSTATE + 8, 0x80000000u + AT_INDICES);
    put(s, AT_GSTATE + 12, 8 | 16 | 32 | 64);
    for (unsigned i = 0; i < 4; i++) {
        put(s, AT_GSTATE + 16 + 20 * i, facet_float_bits(1));
        put(s, AT_PLANE + 4 * i, facet_float_bits(0.5f));
    }
    put(s, AT_GSTATE + 0x50, 0x80000000u + AT_NORMAL);
    put(s, AT_GSTATE + 0x5C, facet_float_bits(1));
    put(s, AT_GSTATE + 0x60, 0xFFFFFF);
    put(s, AT_GSTATE + 0x64, 0x202020);
    put(s, AT_GSTATE + 0x68, 0x80000000u + AT_PLANE);
    put(s, AT_GSTATE + 0x6C, facet_float_bits(2));
    for (unsigned i = 0; i < 3; i++) {
        put(s, AT_GPARAM + 20 * i, facet_float_bits(1));
        put(s, AT_NORMAL + 16 * i, facet_float_bits(1));
    }
    put(s, AT_GPARAM + 0x30, 0xFFFFC080u);
    put(s, AT_GPARAM + 0x34, 5);
    put(s, AT_GPARAM + 0x38, 0xFFFFFF);
    put(s, AT_GPARAM + 0x3C, 3);
}

static void scene_draws(struct side *s)
{
    static const float block[3][6] = {
        {1, 2, .2f, 1, 0, 0}, {28, 5, .7f, 2, 20, 3}, {6, 29, .4f, .5f, 2, 17}};

    put(s, AT_RDRAW, 0xFFFF | (2 | 4) << 16);
    put(s, AT_RDRAW + 4, 0x80000000u + AT_SETUP);
    put(s, AT_RRECT, 0xFFFF | (1 | 2 | 64) << 16);
    put(s, AT_RRECT + 4, 0x00030004);
    put(s, AT_RRECT + 8, 0x0010000C);
    put(s, AT_GDRAW + 8, 48);
    put(s, AT_GDRAW + 16, 0xFFFFFFFFu);
    put(s, AT_GDRAW + 20, 1 | 8);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 6; k++) {
            put(s, AT_SETUP + 32 * i + 4 * k, facet_float_bits(block[i][k]));
        }
        put(s, AT_SETUP + 32 * i + 24, 0xFF0000FFu << 8 * i);
    }
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t at = AT_VERTICES + 40 * i;

        for (unsigned k = 0; k < 9; k++) {
            put(s, at + 4 * k, facet_float_bits((float)((i * 7 + k * 5) % 17) / 6 - 1.2f));
        }
        put(s, at + 12, facet_float_bits(0.5f + (float)(i % 5) / 3));
        put(s, at + 36, 0x9E3779B9u * i);
        put(s, AT_INDICES + 4 * i, (i * 11 % 32) | (i * 5 % 32) << 16);
        put(s, AT_SAMPLERS + 32 * i, 0x80000000u + AT_TEXTURE);
        put(s, AT_SAMPLERS + 32 * i + 4, 64);
        put(s, AT_SAMPLERS + 32 * i + 8, 16);
        put(s, AT_SAMPLERS + 32 * i + 12, 13);
        put(s, AT_SAMPLERS + 32 * i + 16, i % 3 | i << 2);
        put(s, AT_SAMPLERS + 32 * i + 20, i);
        put(s, AT_SAMPLERS + 32 * i + 24, i % 2);
        put(s, AT_SAMPLERS + 32 * i + 28, 0x80000000u + AT_TEXTURE + 64);
    }
    for (uint32_t at = AT_TEXTURE; at < SIZE; at += 4) {
        put(s, at, at * 0x9E3779B1u);
    }
}

static void open(struct side *s, bool plain)
{
    s->vram = calloc(SIZE, 1); /* of its own, so that the sanitizer sees its ends */
    require(s->vram != NULL);
    s->unit = (struct facet_raster_unit){.vram = s->vram, .vram_size = SIZE, .plain = plain};
    s->unit.samplers = (const uint32_t(*)[8])s->samplers;
    facet_raster_reset(&s->context);
    scene_states(s);
    scene_draws(s);
}

/* Keeps the work of one input small: the sizes of pictures and of draws only, and only here. */
static void limit(struct side *s)
{
    for (unsigned i = 0; i < FACET_RASTER_SLOTS; i++) {
        s->context.rstate[i][3] &= SIDE | SIDE << 16;
    }
    put(s, AT_GDRAW + 8, get(s->vram + AT_GDRAW + 8) & 63);
    for (unsigned i = 0; i < 32 * 8; i++) {
        s->samplers[i / 8][i % 8] = get(s->vram + AT_SAMPLERS + 4 * i);
    }
}

static struct facet_raster_result
run(struct side *s, unsigned operation, unsigned slot, uint32_t address, uint32_t value)
{
    const struct facet_raster_unit *u = &s->unit;
    struct facet_raster_context *c = &s->context;

    switch (operation) {
    case 0:
        return facet_raster_rstate(u, c, address == 0 ? 0x80000000u + AT_RSTATE : address);
    case 1:
        return facet_raster_gstate(u, c, address == 0 ? 0x80000000u + AT_GSTATE : address);
    case 2:
        return facet_raster_gparam(u, c, address == 0 ? 0x80000000u + AT_GPARAM : address);
    case 3:
        return facet_raster_rsetup(u, c, address == 0 ? 0x80000000u + AT_SETUP : address);
    case 4:
        return facet_raster_rdraw(u, c, 0x80000000u + AT_RDRAW);
    case 5:
        return facet_raster_rrect(u, c, 0x80000000u + AT_RRECT);
    case 6:
        return facet_raster_gdraw(u, c, 0x80000000u + AT_GDRAW);
    case 7:
        return facet_raster_rdraw_command(u, c, 0x80000000u + AT_RDRAW, address, value);
    case 8:
        return facet_raster_rrect_command(u, c, 0x80000000u + AT_RRECT, slot, value);
    case 9:
        return facet_raster_gdraw_command(u, c, 0x80000000u + AT_GDRAW, value);
    default:
        return facet_raster_load(u, c, (enum facet_raster_kind)(operation % 3), slot % 16, address);
    }
}

static void both(struct side s[2], unsigned operation, unsigned slot, uint32_t at, uint32_t value)
{
    struct facet_raster_result r[2];

    for (unsigned i = 0; i < 2; i++) {
        limit(&s[i]);
        r[i] = run(&s[i], operation, slot, at, value);
        require(facet_raster_context_valid(&s[i].context));
    }
    require(r[0].rd == r[1].rd && r[0].code == r[1].code && r[0].count == r[1].count);
    require((r[0].code == 0) == (r[0].count == 0));
    require(memcmp(&s[0].context, &s[1].context, sizeof s[0].context) == 0);
    require(memcmp(s[0].vram, s[1].vram, SIZE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct side s[2];
    size_t records = size / 8;

    open(&s[0], true);
    open(&s[1], false);
    records = records > 64 ? 64 : records;
    for (unsigned i = 0; i < 4; i++) {
        both(s, i, 0, 0, 0);
    }
    for (size_t i = 0; i < records; i++) {
        const uint8_t *r = data + 8 * i;
        const uint32_t offset = (uint32_t)(r[2] | r[3] << 8) % (SIZE / 4) * 4, value = get(r + 4);

        if (r[0] % 16 < 11) {
            put(&s[0], offset, value);
            put(&s[1], offset, value);
        } else {
            both(s, r[1] % 13, r[1] >> 4, (r[0] & 16) != 0 ? value : 0x80000000u + offset, value);
        }
    }
    for (unsigned i = 0; i < 10; i++) {
        both(s, i, 0, 0, 0);
    }
    free(s[0].vram);
    free(s[1].vram);
    return 0;
}
