/* A second formulation of the raster and geometry rules (tile-semantics.md 16 and 17), written for
 * clarity and independence: numbers are FP32 bit patterns, and every arithmetic step is done by
 * MPFR and rounded once; coverage walks all pixels of the clip rectangle with 128-bit edges and a
 * symbolically shifted sample point instead of edge classes; memory is touched byte by byte. */
#ifndef FACET_TESTS_RASTER_REFERENCE_H
#define FACET_TESTS_RASTER_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

struct ref_card {
    uint8_t *vram;
    uint32_t size;
    const uint32_t (*samplers)[8];
};

struct ref_reports {
    uint32_t code; /* of the first */
    uint32_t count;
};

/* Before and after use of the functions below. */
void ref_open(void);
void ref_close(void);

/* FP32 bits in, FP32 bits out, nearest even. */
uint32_t ref_add(uint32_t a, uint32_t b);
uint32_t ref_sub(uint32_t a, uint32_t b);
uint32_t ref_mul(uint32_t a, uint32_t b);
uint32_t ref_div(uint32_t a, uint32_t b);
uint32_t ref_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t ref_int(int64_t n);

/* RDRAW with the flags of its descriptor and a vertex block. */
struct ref_reports ref_rdraw(struct ref_card *card,
                             const uint32_t rstate[16],
                             uint32_t flags,
                             const uint32_t block[24]);
struct ref_reports ref_rrect(struct ref_card *card,
                             const uint32_t rstate[16],
                             uint32_t flags,
                             const uint32_t words[4]);
/* GDRAW; `words` is the descriptor, slots resolved by the caller. */
struct ref_reports ref_gdraw(struct ref_card *card,
                             const uint32_t rstate[16],
                             const uint32_t gstate[32],
                             const uint32_t gparam[16],
                             const uint32_t words[6]);

#endif
