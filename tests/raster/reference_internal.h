/* Between reference.c, reference_raster.c and reference_geometry.c. */
#ifndef FACET_TESTS_RASTER_REFERENCE_INTERNAL_H
#define FACET_TESTS_RASTER_REFERENCE_INTERNAL_H

#include "reference.h"

#define REF_ONE UINT32_C(0x3F800000)

bool ref_is_nan(uint32_t a);
/* False for NaN. */
bool ref_less(uint32_t a, uint32_t b);
bool ref_less_equal(uint32_t a, uint32_t b);
uint32_t ref_neg(uint32_t a);
uint32_t ref_sqrt(uint32_t a);
uint32_t ref_from_half(uint32_t h);
/* floor_i and u8 of 16.1. */
int64_t ref_floor(uint32_t a);
uint32_t ref_u8(uint32_t a);
/* round(256 * a); false when it is not in range (16.2). */
bool ref_snap(uint32_t a, int64_t *out);

static inline void ref_report(struct ref_reports *r, uint32_t code)
{
    r->code = r->count == 0 ? code : r->code;
    r->count++;
}

bool ref_byte(const struct ref_card *card, uint32_t address, uint8_t *out);
bool ref_word(const struct ref_card *card, uint32_t address, unsigned bytes, uint32_t *out);

/* All FP32 bits; colours are R, G, B, A. */
struct ref_vertex {
    uint32_t x, y, z, w, u, v, c[4];
};

struct ref_draw {
    const uint32_t *rstate;
    int32_t x0, y0, x1, y1; /* clip rectangle */
    bool textured, depth, affine, solid;
    uint32_t color; /* of a solid triangle */
    unsigned blend;
    unsigned cull; /* 1 CW, 2 CCW */
    bool bad_mem;
};

void ref_cut(struct ref_draw *d, uint32_t xy, uint32_t wh);
/* Framebuffer and scissor of the state. */
void ref_state(struct ref_draw *d, const uint32_t *rstate);

enum ref_outcome { REF_NOTHING, REF_RANGE };

enum ref_outcome
ref_triangle(struct ref_card *card, struct ref_draw *d, const struct ref_vertex v[3]);

#endif
