/* A small card for tests: VRAM, sampler table and one context, and short ways to write descriptors.
 * Addresses count from the start of VRAM unless they end in _at. */
#ifndef FACET_TESTS_RASTER_RIG_H
#define FACET_TESTS_RASTER_RIG_H

#include "harness.h"

#include "raster/raster.h"

enum {
    RIG_DESC = 0x0, /* descriptors */
    RIG_VERTICES = 0x1000,
    RIG_INDICES = 0x8000,
    RIG_TEXTURE = 0xC000,
    RIG_PALETTE = 0x1C000,
    RIG_COLOR = 0x20000, /* up to 256 x 128 pixels of 4 bytes */
    RIG_DEPTH = 0x60000,
    RIG_SIZE = 0xA0000,
};

struct rig {
    uint8_t *vram;
    uint32_t samplers[32][8];
    struct facet_raster_unit unit;
    struct facet_raster_context context;
};

void rig_open(struct rig *r);
void rig_close(struct rig *r);

static inline uint32_t rig_at(uint32_t offset)
{
    return FACET_VRAM_BASE + offset;
}

void rig_word(struct rig *r, uint32_t offset, uint32_t value);
uint32_t rig_read(const struct rig *r, uint32_t offset);
void rig_float(struct rig *r, uint32_t offset, float value);

/* An RSTATE in words: ARGB8888 at RIG_COLOR, width x height, no depth, opaque, flags 0. */
void rig_rstate(uint32_t words[16], uint32_t width, uint32_t height);
/* Writes and loads it; the result is the slot. */
uint32_t rig_load_rstate(struct rig *r, const uint32_t words[16]);
/* A GSTATE in words: vertices at RIG_VERTICES, u16 indices at RIG_INDICES, identity matrix. */
void rig_gstate(uint32_t words[32], uint32_t format);
uint32_t rig_load_gstate(struct rig *r, const uint32_t words[32]);
uint32_t rig_load_gparam(struct rig *r, const uint32_t words[16]);

struct rig_vertex {
    float x, y, z, w, u, v;
    uint32_t color;
};

/* Only write the descriptors, at RIG_DESC. */
void rig_put_rdraw(struct rig *r, const struct rig_vertex v[3], uint32_t flags);
void rig_put_rrect(
    struct rig *r, int x, int y, unsigned w, unsigned h, uint32_t last, uint32_t flags);
/* Writes the block at RIG_VERTICES and draws it with the current state and these flags. */
struct facet_raster_result rig_rdraw(struct rig *r, const struct rig_vertex v[3], uint32_t flags);
struct facet_raster_result
rig_rrect(struct rig *r, int x, int y, unsigned w, unsigned h, uint32_t last, uint32_t flags);
struct facet_raster_result
rig_gdraw(struct rig *r, uint32_t count, uint32_t topology, uint32_t flags);

uint32_t rig_pixel(const struct rig *r, unsigned width, unsigned x, unsigned y);

#endif
