#include "rig.h"
#include "base/float.h"

#include <stdlib.h>

void rig_open(struct rig *r)
{
    memset(r, 0, sizeof *r);
    r->vram = calloc(RIG_SIZE, 1);
    r->unit = (struct facet_raster_unit){.vram = r->vram, .vram_size = RIG_SIZE};
    r->unit.samplers = (const uint32_t(*)[8])r->samplers;
    facet_raster_reset(&r->context);
}

void rig_close(struct rig *r)
{
    free(r->vram);
}

void rig_word(struct rig *r, uint32_t offset, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        r->vram[offset + i] = (uint8_t)(value >> 8 * i);
    }
}

uint32_t rig_read(const struct rig *r, uint32_t offset)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < 4; i++) {
        value |= (uint32_t)r->vram[offset + i] << 8 * i;
    }
    return value;
}

void rig_float(struct rig *r, uint32_t offset, float value)
{
    rig_word(r, offset, facet_float_bits(value));
}

static void words_at(struct rig *r, uint32_t offset, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_word(r, offset + 4 * i, words[i]);
    }
}

void rig_rstate(uint32_t words[16], uint32_t width, uint32_t height)
{
    memset(words, 0, 64);
    words[0] = rig_at(RIG_COLOR);
    words[1] = 4 * width;
    words[2] = 1;
    words[3] = width | height << 16;
}

uint32_t rig_load_rstate(struct rig *r, const uint32_t words[16])
{
    words_at(r, RIG_DESC, words, 16);
    return facet_raster_rstate(&r->unit, &r->context, rig_at(RIG_DESC)).rd;
}

void rig_gstate(uint32_t words[32], uint32_t format)
{
    memset(words, 0, 128);
    words[0] = rig_at(RIG_VERTICES);
    words[1] = format;
    words[2] = rig_at(RIG_INDICES);
    for (unsigned i = 0; i < 4; i++) {
        words[4 + 5 * i] = facet_float_bits(1);
    }
}

uint32_t rig_load_gstate(struct rig *r, const uint32_t words[32])
{
    words_at(r, RIG_DESC, words, 32);
    return facet_raster_gstate(&r->unit, &r->context, rig_at(RIG_DESC)).rd;
}

uint32_t rig_load_gparam(struct rig *r, const uint32_t words[16])
{
    words_at(r, RIG_DESC, words, 16);
    return facet_raster_gparam(&r->unit, &r->context, rig_at(RIG_DESC)).rd;
}

void rig_put_rdraw(struct rig *r, const struct rig_vertex v[3], uint32_t flags)
{
    const uint32_t draw[4] = {0xFFFF | flags << 16, rig_at(RIG_VERTICES), 0, 0};

    for (unsigned i = 0; i < 3; i++) {
        const uint32_t at = RIG_VERTICES + 32 * i;

        rig_float(r, at, v[i].x);
        rig_float(r, at + 4, v[i].y);
        rig_float(r, at + 8, v[i].z);
        rig_float(r, at + 12, v[i].w);
        rig_float(r, at + 16, v[i].u);
        rig_float(r, at + 20, v[i].v);
        rig_word(r, at + 24, v[i].color);
        rig_word(r, at + 28, 0xDEADBEEF); /* reserved */
    }
    words_at(r, RIG_DESC, draw, 4);
}

struct facet_raster_result rig_rdraw(struct rig *r, const struct rig_vertex v[3], uint32_t flags)
{
    rig_put_rdraw(r, v, flags);
    return facet_raster_rdraw(&r->unit, &r->context, rig_at(RIG_DESC));
}

void rig_put_rrect(
    struct rig *r, int x, int y, unsigned w, unsigned h, uint32_t last, uint32_t flags)
{
    const uint32_t draw[4] = {
        0xFFFF | (flags | 1) << 16, ((uint32_t)x & 0xFFFF) | (uint32_t)y << 16, w | h << 16, last};

    words_at(r, RIG_DESC, draw, 4);
}

struct facet_raster_result
rig_rrect(struct rig *r, int x, int y, unsigned w, unsigned h, uint32_t last, uint32_t flags)
{
    rig_put_rrect(r, x, y, w, h, last, flags);
    return facet_raster_rrect(&r->unit, &r->context, rig_at(RIG_DESC));
}

struct facet_raster_result
rig_gdraw(struct rig *r, uint32_t count, uint32_t topology, uint32_t flags)
{
    const uint32_t draw[6] = {0, 0, count, topology, 0xFFFFFFFF, flags};

    words_at(r, RIG_DESC, draw, 6);
    return facet_raster_gdraw(&r->unit, &r->context, rig_at(RIG_DESC));
}

uint32_t rig_pixel(const struct rig *r, unsigned width, unsigned x, unsigned y)
{
    return rig_read(r, RIG_COLOR + 4 * (y * width + x));
}
